/* text_features.c: the features of each kernel of texts.

     spectrum          the strings of p bytes; with m mismatches, for each choice of m of the p places, the bytes at the
                       others (gapped k-mers: Ghandi, Lee, Mohammad-Noori and Beer, 2014)
     subsequence       the strings of p bytes that stand in a text in this order within `span` bytes, with
                       decay^(bytes from the first to the last)  (Lodhi et al., 2002)
     weighted_degree   the strings of 1 to p bytes and where they stand, with sqrt(2 (p - l + 1) / (p (p + 1)))
                       (Raetsch and Sonnenburg, 2004)
     words             words: runs of letters, digits, '_' and bytes beyond ASCII
     tfidf             the same, each with its weight (word_weights.h) */
#include "kernel/evaluate/text_features.h"
#include "base/status.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include "kernel/evaluate/word_weights.h"
#include <math.h>
#include <string.h>

static int64_t whole_parameter(const mc_node *atom, int i) {
    return (int64_t)atom->parameter[i].number;
}

/* The next number with as many bits set. */
static uint64_t next_choice(uint64_t choice) {
    const uint64_t lowest = choice & (~choice + 1), carried = choice + lowest;
    return carried | ((choice ^ carried) / lowest >> 2);
}

static int64_t binomial_coefficient(int64_t n, int64_t k) {
    int64_t ways = k >= 0 && k <= n ? 1 : 0;
    for (int64_t i = 1; ways && i <= k; i++)
        ways = ways * (n - k + i) / i;
    return ways;
}

/* The bytes at the chosen places, one after the other. */
static uint64_t gather_bytes(const char *at, uint64_t choice, uint64_t key) {
    for (; choice; choice >>= 1, at++)
        if (choice & 1)
            key = key << 8 | (unsigned char)*at;
    return key;
}

/* ---- spectrum ---- */

static bool has_mismatches(const mc_node *atom) {
    return atom->atom == MC_SPECTRUM && whole_parameter(atom, 1) > 0;
}

static mercer_status visit_parts(const mc_node *atom, const char *text, mc_feature_visitor *visit, void *arg) {
    mc_part_walk w = mc_parts_of(text, (size_t)whole_parameter(atom, 0));
    mc_text_feature f = {.length = w.p > MC_PART_EXACT ? w.p : 0, .value = 1};
    for (; w.left > 0; mc_part_next(&w)) {
        f.key = w.key;
        f.at = w.at;
        MC_TRY(visit(arg, &f));
    }
    return MERCER_OK;
}

/* A choice of places is a group: features of different choices are different. */
static mercer_status visit_gapped(const mc_node *atom, const char *text, mc_feature_visitor *visit, void *arg) {
    const int64_t p = whole_parameter(atom, 0), kept = p - whole_parameter(atom, 1);
    const uint64_t first = ((uint64_t)1 << kept) - 1, end = (uint64_t)1 << p;
    mc_text_feature f = {.value = 1};
    for (int64_t left = (int64_t)strlen(text) - p; left >= 0; left--, text++)
        for (f.group = first; f.group < end; f.group = next_choice(f.group)) {
            f.key = gather_bytes(text, f.group, 0);
            MC_TRY(visit(arg, &f));
        }
    return MERCER_OK;
}

static mercer_status visit_spectrum(const mc_node *atom, const char *text, mc_feature_visitor *visit, void *arg) {
    return has_mismatches(atom) ? visit_gapped(atom, text, visit, arg) : visit_parts(atom, text, visit, arg);
}

static int64_t count_spectrum(const mc_node *atom, const char *text) {
    const int64_t p = whole_parameter(atom, 0), length = (int64_t)strlen(text);
    return length < p
               ? 0
               : (length - p + 1) * (has_mismatches(atom) ? binomial_coefficient(p, whole_parameter(atom, 1)) : 1);
}

/* ---- subsequence ---- */

enum { P, DECAY, SPAN };

/* Bytes that a subsequence beginning here may reach over. */
static int64_t reach_of(const mc_node *atom, int64_t left) {
    const int64_t span = whole_parameter(atom, SPAN);
    return left < span ? left : span;
}

/* The first byte and a choice among those after it. */
static mercer_status visit_subsequences(const mc_node *atom, const char *text, mc_feature_visitor *visit, void *arg) {
    const int64_t further = whole_parameter(atom, P) - 1;
    double power[MC_SPAN_MAX + 1] = {1};
    mc_text_feature f = {0};
    for (int64_t l = 1; l <= MC_SPAN_MAX; l++)
        power[l] = power[l - 1] * atom->parameter[DECAY].number;
    for (int64_t left = (int64_t)strlen(text); left > further; left--, text++) {
        const uint64_t end = (uint64_t)1 << (reach_of(atom, left) - 1);
        uint64_t choice = ((uint64_t)1 << further) - 1;
        int64_t bytes = further + 1; /* from the first to the last, which never comes back: choices grow */
        for (; choice < end; choice = choice ? next_choice(choice) : end) {
            bytes += choice >> (bytes - 1) ? 1 : 0;
            f.key = gather_bytes(text + 1, choice, (unsigned char)*text);
            f.value = power[bytes];
            MC_TRY(visit(arg, &f));
        }
    }
    return MERCER_OK;
}

static int64_t count_subsequences(const mc_node *atom, const char *text) {
    int64_t count = 0;
    for (int64_t left = (int64_t)strlen(text); left > 0; left--)
        count += binomial_coefficient(reach_of(atom, left) - 1, whole_parameter(atom, P) - 1);
    return count;
}

/* ---- weighted degree ---- */

static mercer_status visit_placed(const mc_node *atom, const char *text, mc_feature_visitor *visit, void *arg) {
    const int64_t p = whole_parameter(atom, P), n = (int64_t)strlen(text);
    double weight[MC_PART_EXACT + 1];
    for (int64_t l = 1; l <= p; l++)
        weight[l] = sqrt(mc_degree_weight(p, l));
    for (int64_t i = 0; i < n; i++) {
        mc_text_feature f = {0};
        for (int64_t l = 1; l <= p && i + l <= n; l++) {
            f.key = f.key << 8 | (unsigned char)text[i + l - 1];
            f.group = (uint64_t)(i * MC_PART_EXACT + l - 1);
            f.value = weight[l];
            MC_TRY(visit(arg, &f));
        }
    }
    return MERCER_OK;
}

static int64_t count_placed(const mc_node *atom, const char *text) {
    const int64_t p = whole_parameter(atom, P), n = (int64_t)strlen(text), most = p < n ? p : n;
    return most * n - most * (most - 1) / 2;
}

/* ---- words ---- */

static mercer_status visit_words(const mc_node *atom, const char *text, mc_feature_visitor *visit, void *arg) {
    const bool weighed = atom->atom == MC_TFIDF && atom->parameter[MC_TFIDF_WORDS].kind == MC_VALUE_WORDS;
    for (mc_word w = mc_word_next(text); w.length > 0; w = mc_word_next(w.at + w.length)) {
        mc_text_feature f = {.at = w.at, .length = w.length, .value = 1};
        if (weighed && (f.value = mc_word_weight(atom, w.at, w.length)) == 0)
            continue;
        for (size_t i = 0; i < w.length; i++)
            f.key = f.key * MC_LONG_BASE + (unsigned char)w.at[i];
        MC_TRY(visit(arg, &f));
    }
    return MERCER_OK;
}

static int64_t count_words(const mc_node *atom, const char *text) {
    const bool weighed = atom->atom == MC_TFIDF && atom->parameter[MC_TFIDF_WORDS].kind == MC_VALUE_WORDS;
    int64_t count = 0;
    for (mc_word w = mc_word_next(text); w.length > 0; w = mc_word_next(w.at + w.length))
        count += !weighed || mc_word_weight(atom, w.at, w.length) > 0;
    return count;
}

/* ---- All of them ---- */

static const struct {
    mercer_status (*visit)(const mc_node *, const char *, mc_feature_visitor *, void *);
    int64_t (*count)(const mc_node *, const char *);
} kinds[MC_ATOM_COUNT] = {
    [MC_SPECTRUM] = {visit_spectrum, count_spectrum},
    [MC_SUBSEQUENCE] = {visit_subsequences, count_subsequences},
    [MC_WEIGHTED_DEGREE] = {visit_placed, count_placed},
    [MC_WORDS] = {visit_words, count_words},
    [MC_TFIDF] = {visit_words, count_words},
};

mercer_status mc_text_features(const mc_node *atom, const char *text, mc_feature_visitor *visit, void *arg) {
    return kinds[atom->atom].visit(atom, text, visit, arg);
}

int64_t mc_text_feature_count(const mc_node *atom, const char *text) {
    return kinds[atom->atom].count(atom, text);
}

int64_t mc_text_features_different(const mc_node *atom, int64_t letters) {
    if (atom->atom != MC_SPECTRUM && atom->atom != MC_SUBSEQUENCE)
        return INT32_MAX;
    const int64_t p = whole_parameter(atom, P), m = atom->atom == MC_SPECTRUM ? whole_parameter(atom, 1) : 0;
    double different = m > 0 ? (double)binomial_coefficient(p, m) : 1;
    for (int64_t i = 0; i < p - m && different < INT32_MAX; i++)
        different *= (double)letters;
    return different < INT32_MAX ? (int64_t)different : INT32_MAX;
}

bool mc_text_features_exact(const mc_node *atom) {
    return atom->atom != MC_WORDS && atom->atom != MC_TFIDF
           && (atom->atom != MC_SPECTRUM || has_mismatches(atom) || whole_parameter(atom, 0) <= MC_PART_EXACT);
}

bool mc_text_features_whole(const mc_node *atom) {
    return atom->atom == MC_SPECTRUM || atom->atom == MC_WORDS;
}

static bool has_numbers(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (atom->parameter[i].kind != MC_VALUE_NUMBER)
            return false;
    return true;
}

static bool has_fraction(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (mc_atoms[atom->atom].parameter[i].integer && atom->parameter[i].number != floor(atom->parameter[i].number))
            return true;
    return false;
}

const char *mc_text_parameters_fault(const mc_node *atom) {
    const mc_value *v = atom->parameter;
    if (!mc_atoms[atom->atom].text || !has_numbers(atom))
        return NULL;
    if (has_fraction(atom))
        return atom->atom == MC_SUBSEQUENCE ? "p and span must be whole numbers of bytes"
               : atom->atom == MC_SPECTRUM  ? "p and mismatches must be whole numbers of bytes"
                                            : "p must be a whole number of bytes";
    if (atom->atom == MC_SUBSEQUENCE && v[SPAN].number < v[P].number)
        return "span must be at least p: so many bytes hold a subsequence";
    if (atom->atom != MC_SPECTRUM || v[1].number == 0)
        return NULL;
    if (v[1].number >= v[0].number)
        return "mismatches must be fewer than p";
    return v[0].number - v[1].number > MC_PART_EXACT ? "p less the mismatches must be at most 8" : NULL;
}
