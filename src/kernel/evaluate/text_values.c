/* text_values.c: kernels of texts by their definition, for the reference evaluator: no memory, no features. */
#include "kernel/evaluate/spectrum_kernel.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/evaluate/word_weights.h"
#include <math.h>
#include <string.h>

/* ---- spectrum with mismatches ---- */

/* Choices of m of p places that have all of the h where two parts differ: C(p - h, m - h). */
static double choices_with(int64_t p, int64_t m, int64_t h) {
    double ways = 1;
    for (int64_t i = 1; i <= m - h; i++)
        ways = ways * (double)(p - m + i) / (double)i;
    return round(ways);
}

static int64_t count_differences(const char *x, const char *z, int64_t p) {
    int64_t count = 0;
    for (int64_t i = 0; i < p; i++)
        count += x[i] != z[i];
    return count;
}

static double gapped_value(const mc_node *atom, const char *x, const char *z) {
    const int64_t p = (int64_t)atom->parameter[0].number, m = (int64_t)atom->parameter[1].number;
    const int64_t nx = (int64_t)strlen(x), nz = (int64_t)strlen(z);
    double sum = 0;
    for (int64_t i = 0; i + p <= nx; i++)
        for (int64_t j = 0; j + p <= nz; j++) {
            const int64_t h = count_differences(x + i, z + j, p);
            sum += h <= m ? choices_with(p, m, h) : 0;
        }
    return sum;
}

static double spectrum_value(const mc_node *atom, const char *x, const char *z) {
    return atom->parameter[1].number > 0 ? gapped_value(atom, x, z)
                                         : mc_spectrum_value(x, z, (size_t)atom->parameter[0].number);
}

/* ---- subsequence ---- */

typedef double windows[MC_SPAN_MAX][MC_SPAN_MAX];

static double sum_before(windows before, int64_t a, int64_t b) {
    double sum = 0;
    for (int64_t c = 0; c < a; c++)
        for (int64_t d = 0; d < b; d++)
            sum += before[c][d];
    return sum;
}

/* Pairs of subsequences that begin at x and z and end a and b bytes on, one byte longer than those of `before`. */
static void lengthen_subsequences(const char *x, int64_t nx, const char *z, int64_t nz, windows before, windows after) {
    for (int64_t a = 0; a < nx; a++)
        for (int64_t b = 0; b < nz; b++)
            after[a][b] = x[a] == z[b] ? sum_before(before, a, b) : 0;
}

/* What a pair of so many bytes counts: decay^bytes, and its derivative. */
static double decay_power(double decay, int64_t bytes) {
    return pow(decay, (double)bytes);
}

static double decay_power_slope(double decay, int64_t bytes) {
    return (double)bytes * pow(decay, (double)(bytes - 1));
}

/* Those that begin at both: sum of `counts` of decay and their bytes in x and in z. */
static double begun_here(const mc_node *atom, double (*counts)(double, int64_t), const char *x, int64_t nx,
                         const char *z, int64_t nz) {
    windows held[2] = {{{1}}};
    const int64_t p = (int64_t)atom->parameter[0].number;
    double sum = 0;
    for (int64_t l = 1; l < p; l++)
        lengthen_subsequences(x, nx, z, nz, held[(l - 1) % 2], held[l % 2]);
    for (int64_t a = 0; a < nx; a++)
        for (int64_t b = 0; b < nz; b++)
            if (held[(p - 1) % 2][a][b] > 0)
                sum += held[(p - 1) % 2][a][b] * counts(atom->parameter[1].number, a + b + 2);
    return sum;
}

static double sum_subsequences(const mc_node *atom, double (*counts)(double, int64_t), const char *x, const char *z) {
    const int64_t span = (int64_t)atom->parameter[2].number, nx = (int64_t)strlen(x), nz = (int64_t)strlen(z);
    double sum = 0;
    for (int64_t i = 0; i < nx; i++)
        for (int64_t j = 0; j < nz; j++)
            if (x[i] == z[j])
                sum += begun_here(atom, counts, x + i, nx - i < span ? nx - i : span, z + j,
                                  nz - j < span ? nz - j : span);
    return sum;
}

static double subsequence_value(const mc_node *atom, const char *x, const char *z) {
    return sum_subsequences(atom, decay_power, x, z);
}

double mc_text_decay_slope(const mc_node *atom, const char *x, const char *z) {
    return sum_subsequences(atom, decay_power_slope, x, z);
}

/* ---- weighted degree ---- */

double mc_degree_weight(int64_t p, int64_t l) {
    return 2 * (double)(p - l + 1) / (double)(p * (p + 1));
}

static double degree_value(const mc_node *atom, const char *x, const char *z) {
    const int64_t p = (int64_t)atom->parameter[0].number;
    double sum = 0;
    for (; *x && *z; x++, z++)
        for (int64_t l = 1; l <= p && x[l - 1] && x[l - 1] == z[l - 1]; l++)
            sum += mc_degree_weight(p, l);
    return sum;
}

/* ---- words ---- */

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
           || (unsigned char)c >= 0x80;
}

mc_word mc_word_next(const char *text) {
    mc_word w = {0};
    while (*text && !is_word_byte(*text))
        text++;
    for (w.at = text; is_word_byte(*text); text++)
        w.length++;
    return w;
}

static double words_value(const mc_node *atom, const char *x, const char *z) {
    double sum = 0;
    for (mc_word u = mc_word_next(x); u.length > 0; u = mc_word_next(u.at + u.length)) {
        const double weight = atom->atom == MC_TFIDF ? mc_word_weight(atom, u.at, u.length) : 1;
        for (mc_word v = mc_word_next(z); v.length > 0; v = mc_word_next(v.at + v.length))
            sum += u.length == v.length && memcmp(u.at, v.at, u.length) == 0 ? weight * weight : 0;
    }
    return sum;
}

double mc_text_value(const mc_node *atom, const char *x, const char *z) {
    static double (*const value[MC_ATOM_COUNT])(const mc_node *, const char *, const char *) = {
        [MC_SPECTRUM] = spectrum_value,
        [MC_SUBSEQUENCE] = subsequence_value,
        [MC_WEIGHTED_DEGREE] = degree_value,
        [MC_WORDS] = words_value,
        [MC_TFIDF] = words_value,
        [MC_MEAN_MAP] = mc_mean_map_of_texts,
    };
    return value[atom->atom](atom, x, z);
}
