/* search_texts.c: an expression with kernels of texts is evaluated on texts that are listed here: each by itself, short
   ones and long ones all together, then some of them drawn at random with small numbers in the other columns. The
   smallest eigenvalue of a set is at most that of any part of it, so that parts need not be tried. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include "kernel/language/node.h"
#include "kernel/proof/refute.h"
#include <string.h>

/* Counts of parts and words, places, texts with the same parts of one length and others of the next. */
static const char *const texts[] = {
    "",         "a",        "b",         "aa",       "ab",       "ba",        "bb",           "abc",
    "aab",      "aba",      "abb",       "bab",      "aaa",      "abab",      "aabb",         "a b",
    "a a",      "a b c",    "a b a",     "b a",      "aabab",    "abaab",     "abcabc",       "cba",
    "aaaaaaaa", "abababab", "aabbaabb",  "abcdefgh", "bcdefghi", "aaaabbbb",  "aaaaaaaaaaaa", "aaaaaaab",
    "abcdabcd", "hgfedcba", "abcdefghi", "aaaaaa",   "abbabbab", "aaaa aaaa", "ab ab ab",     "abcd abcd efgh",
};
enum { TEXTS = sizeof texts / sizeof texts[0], SHORT = 24, ROUNDS = 60, SOME = 20 };
static const double NOISE = -3e-14;

typedef struct text_search {
    mercer_ctx *ctx;
    const mc_node *node;
    int64_t d, count;
    bool numbers; /* something but texts is read */
    bool nonnegative;
    double *scratch;
    mc_refutation *out;
} text_search;

/* ---- columns of texts ---- */

static const char *name_of(const mc_node *atom) {
    const mc_value *text = &atom->parameter[MC_TEXT_COLUMN];
    return text->kind == MC_VALUE_TEXT && text->file ? text->file : "";
}

/* Every atom gets the place of its column; false: there are more than a witness has room for. */
static bool number_texts(mc_node *node, mc_refutation *out) {
    for (int i = 0; i < node->children; i++)
        if (!number_texts(node->child[i], out))
            return false;
    if (!mc_node_reads_text(node))
        return true;
    int64_t at = 0;
    while (at < out->witness.texts && strcmp(out->text_column[at], name_of(node)) != 0)
        at++;
    if (at == MC_WITNESS_TEXTS)
        return false;
    if (at == out->witness.texts) {
        out->text_column[at] = name_of(node);
        out->witness.texts++;
    }
    node->parameter[MC_TEXT_COLUMN].number = (double)at;
    return true;
}

/* ---- sets ---- */

static double *row_at(const text_search *s, int64_t i) {
    return s->out->witness.points + i * (s->d + s->out->witness.texts);
}

/* Numbers 0, the same text in every column. */
static void set_row(const text_search *s, int64_t i, const char *text) {
    double *row = row_at(s, i);
    for (int64_t j = 0; j < s->d; j++)
        row[j] = 0;
    for (int64_t t = 0; t < s->out->witness.texts; t++)
        memcpy(row + s->d + t, &text, sizeof text);
}

static void draw_row(const text_search *s, int64_t i, mc_rng *rng) {
    double *row = row_at(s, i);
    set_row(s, i, "");
    for (int64_t j = 0; s->numbers && j < s->d; j++)
        row[j] = (double)mc_rng_below(rng, 5) - (s->nonnegative ? 0 : 2);
    for (int64_t t = 0; t < s->out->witness.texts; t++)
        memcpy(row + s->d + t, &texts[mc_rng_below(rng, TEXTS)], sizeof texts[0]);
}

/* The rows as they stand: are they a witness? */
static void consider_rows(text_search *s, int64_t count) {
    double K[MC_WITNESS_POINTS * MC_WITNESS_POINTS], vector[MC_WITNESS_POINTS];
    mc_witness *w = &s->out->witness;
    w->count = count;
    w->d = s->d;
    s->out->sets++;
    if (mc_witness_gram(s->node, count, s->d, w->texts, w->points, K)
        && mc_smallest_eigenvalue(K, count, vector) < NOISE)
        s->out->found = mc_witness_simplify(s->node, w, s->scratch);
}

static void try_listed(text_search *s, int64_t from, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        set_row(s, i, texts[from + i]);
    consider_rows(s, count);
}

static mercer_status run_search(text_search *s) {
    mc_rng rng = mc_rng_at(s->ctx->options.seed, MC_STREAM_REFUTE, 0);
    for (int64_t i = 0; i < TEXTS && !s->out->found; i++)
        try_listed(s, i, 1);
    if (!s->out->found)
        try_listed(s, 0, SHORT);
    if (!s->out->found)
        try_listed(s, SHORT, TEXTS - SHORT);
    for (int round = 0; round < ROUNDS && !s->out->found; round++) {
        for (int64_t i = 0; i < SOME; i++)
            draw_row(s, i, &rng);
        consider_rows(s, SOME);
        MC_TRY(mc_report_progress(s->ctx, -1));
    }
    return MERCER_OK;
}

static bool wants_nonnegative(const mc_node *node) {
    return node->kind == MC_ATOM && mc_atoms[node->atom].nonnegative;
}

static bool reads_numbers(const mc_node *node) {
    return node->function || (node->kind == MC_ATOM && !mc_node_reads_text(node));
}

mercer_status mc_search_texts(mercer_ctx *ctx, mc_node *instance, int64_t d, mc_refutation *out) {
    text_search s = {.ctx = ctx, .node = instance, .d = d, .out = out};
    out->witness.texts = 0;
    if (!number_texts(instance, out))
        return MERCER_OK;
    const int64_t capacity = MC_WITNESS_POINTS * (d + out->witness.texts);
    s.numbers = mc_node_any(instance, reads_numbers);
    s.nonnegative = mc_node_any(instance, wants_nonnegative);
    mc_free(out->witness.points);
    MC_TRY(MC_ALLOC(ctx, out->witness.points, capacity));
    MC_TRY(MC_ALLOC(ctx, s.scratch, capacity));
    const mercer_status status = run_search(&s);
    mc_free(s.scratch);
    return status;
}
