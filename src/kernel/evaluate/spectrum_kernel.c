/* spectrum_kernel.c: the spectrum kernel: strings compared by the parts of p bytes they have in common (Leslie, Eskin
   and Noble, 2002).

       spectrum(p=3)[name]      <count(x), count(z)>, one coordinate for every string of p bytes

   Bytes are what is counted: in UTF-8 text a letter beyond ASCII is two to four of them. A text shorter than p has no
   part of p bytes, and the value 0 with every text. The reference evaluator counts the parts of the shorter text and
   adds up the counts that those of the other meet; the tile engine numbers parts (gram/pack/string_features.c). */
#include "kernel/evaluate/spectrum_kernel.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "base/text.h"
#include "data/table/data.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/evaluate/word_weights.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include <math.h>
#include <string.h>

/* ---- Parts ---- */

/* Up to eight bytes the key is the part itself. */
mc_part_walk mc_parts_of(const char *text, size_t p) {
    const size_t length = strlen(text);
    mc_part_walk w = {.at = text, .left = length >= p ? (int64_t)(length - p + 1) : 0, .p = p, .first_weight = 1};
    w.base = p <= MC_PART_EXACT ? 256 : MC_LONG_BASE;
    for (size_t i = 1; i < p && w.left; i++)
        w.first_weight *= w.base;
    for (size_t i = 0; i < p && w.left; i++)
        w.key = w.key * w.base + (unsigned char)text[i];
    return w;
}

/* ---- The value ---- */

enum { LOT = 1024, LOT_SLOTS = 2 * LOT };

/* The slot that knows the part, or the free one where it belongs. */
static uint32_t *slot_of(const mc_part_tally *t, const mc_part_walk *w) {
    uint64_t s = mc_part_hash(w->key) & (uint64_t)(t->slots - 1);
    for (; t->slot[s]; s = (s + 1) & (uint64_t)(t->slots - 1)) {
        const mc_counted_part *known = &t->part[t->slot[s] - 1];
        if (known->key == w->key && mc_part_equal(w, known->at))
            break;
    }
    return &t->slot[s];
}

void mc_parts_count(mc_part_tally *t, mc_part_walk *w, int64_t most) {
    int64_t slots = 2;
    while (slots < 2 * (w->left < most ? w->left : most))
        slots *= 2;
    t->slots = slots;
    t->count = 0;
    memset(t->slot, 0, (size_t)slots * sizeof *t->slot);
    for (; most > 0 && w->left > 0; most--, mc_part_next(w)) {
        uint32_t *s = slot_of(t, w);
        if (!*s) {
            t->part[t->count] = (mc_counted_part){.key = w->key, .at = w->at};
            *s = (uint32_t)++t->count;
        }
        t->part[*s - 1].count++;
    }
}

double mc_parts_self(const mc_part_tally *t) {
    uint64_t sum = 0;
    for (int64_t k = 0; k < t->count; k++)
        sum += t->part[k].count * t->part[k].count;
    return (double)sum;
}

/* The parts of the shorter text are counted, as many at a time as a stack can hold, so that texts of any length need no
   other memory; for each such lot there is one pass over the other text. */
double mc_spectrum_value(const char *x, const char *z, size_t p) {
    uint32_t slot[LOT_SLOTS];
    mc_counted_part part[LOT];
    mc_part_tally t = {.slot = slot, .part = part};
    const mc_part_walk of_x = mc_parts_of(x, p), of_z = mc_parts_of(z, p);
    const bool shorter = of_x.left <= of_z.left;
    mc_part_walk counted = shorter ? of_x : of_z;
    uint64_t shared = 0;
    if (x == z && of_x.left <= LOT) {
        mc_parts_count(&t, &counted, LOT);
        return mc_parts_self(&t);
    }
    while (counted.left > 0) {
        mc_parts_count(&t, &counted, LOT);
        for (mc_part_walk w = shorter ? of_z : of_x; w.left > 0; mc_part_next(&w)) {
            const uint32_t known = *slot_of(&t, &w);
            shared += known ? t.part[known - 1].count : 0;
        }
    }
    return (double)shared;
}

/* ---- In the language ---- */

/* Every atom below reads a text and has no column yet. */
static bool takes_text(const mc_node *node) {
    if (node->kind == MC_ATOM)
        return mc_node_reads_text(node) && node->parameter[MC_TEXT_COLUMN].kind != MC_VALUE_TEXT;
    for (int i = 0; i < node->children; i++)
        if (!takes_text(node->child[i]))
            return false;
    return node->kind != MC_COLUMNS && node->kind != MC_WEIGH;
}

static mercer_status give_text(mercer_ctx *ctx, mc_node *node, const char *name, int64_t offset) {
    for (int i = 0; i < node->children; i++)
        MC_TRY(give_text(ctx, node->child[i], name, offset));
    if (!mc_node_reads_text(node))
        return MERCER_OK;
    node->parameter[MC_TEXT_COLUMN] = (mc_value){.kind = MC_VALUE_TEXT, .number = 0, .offset = offset};
    node->parameter[MC_TEXT_COLUMN].file = mc_copy_text(ctx, name, strlen(name));
    return node->parameter[MC_TEXT_COLUMN].file ? MERCER_OK : MERCER_MEMORY;
}

static const mc_node *first_reader(const mc_node *node) {
    const mc_node *found = mc_node_reads_text(node) ? node : NULL;
    for (int i = 0; i < node->children && !found; i++)
        found = first_reader(node->child[i]);
    return found;
}

mercer_status mc_parse_text(mc_parser *p, mc_node **columns) {
    mc_node *node = *columns;
    const mc_node *reader = first_reader(node->child[0]);
    const char *column = node->column_name ? node->column_name[0] : NULL; /* none: [6, name] has both */
    char number[32];
    if (!reader)
        return MERCER_OK;
    const char *name = mc_atoms[reader->atom].name;
    if (!takes_text(node->child[0]))
        return mc_lex_fail(&p->lexer, node->offset,
                           "%s reads a column of text and other kernels columns of numbers: give each its own, as in "
                           "rbf[1:8] + %s[name]",
                           name, name);
    if (node->columns != 1)
        return mc_lex_fail(&p->lexer, node->offset, "%s reads one column of text, not %lld", name,
                           (long long)node->columns);
    mc_print(number, sizeof number, "%lld", (long long)node->column[0] + 1);
    MC_TRY(give_text(p->lexer.ctx, node->child[0], column ? column : number, node->offset));
    mc_node_unwrap(columns, 0);
    return MERCER_OK;
}

static bool is_listed(const mc_text *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *p = list->bytes; p && *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
        if (strcspn(p, ",") == length && memcmp(p, name, length) == 0)
            return true;
    return false;
}

static void list_text_columns(const mc_node *node, mc_text *out) {
    if (mc_node_reads_text(node) && node->parameter[MC_TEXT_COLUMN].kind == MC_VALUE_TEXT
        && !is_listed(out, node->parameter[MC_TEXT_COLUMN].file))
        mc_text_add(out, "%s%s", out->length ? "," : "", node->parameter[MC_TEXT_COLUMN].file);
    for (int i = 0; i < node->children; i++)
        list_text_columns(node->child[i], out);
}

mercer_status mc_texts_list(mercer_ctx *ctx, const mc_node *root, char **out) {
    *out = NULL;
    if (!mc_node_any(root, mc_node_reads_text))
        return MERCER_OK;
    mc_text text = mc_text_open(ctx);
    list_text_columns(root, &text);
    return mc_text_take(&text, out);
}

/* ---- On data ---- */

/* A text that is too short is 0 for the kernel; a column of them would be 0 for every machine. */
static mercer_status check_long_enough(mercer_ctx *ctx, const mc_node *node, const mercer_data *data, int64_t at) {
    int64_t longest = 0;
    bool found = data->n == 0;
    for (int64_t i = 0; i < data->n && !found; i++) {
        const char *text = data->text[i * data->texts + at];
        found = mc_text_feature_count(node, text) > 0;
        longest = (int64_t)strlen(text) > longest ? (int64_t)strlen(text) : longest;
    }
    if (found)
        return MERCER_OK;
    if (node->atom == MC_WORDS || node->atom == MC_TFIDF)
        return mc_fail_at(ctx, MERCER_DATA, node->offset, "%s: no text of '%.80s' has a word%s",
                          mc_atoms[node->atom].name, node->parameter[MC_TEXT_COLUMN].file,
                          node->atom == MC_TFIDF ? " that has a weight" : "");
    const double p = node->parameter[0].number;
    return mc_fail_at(ctx, MERCER_DATA, node->offset,
                      "%s(p=%.0f): no text of '%.80s' has %.0f bytes, the longest has %lld; use a smaller p",
                      mc_atoms[node->atom].name, p, node->parameter[MC_TEXT_COLUMN].file, p, (long long)longest);
}

static mercer_status bind_atom(mercer_ctx *ctx, mc_node *node, const mercer_data *data) {
    mc_value *text = &node->parameter[MC_TEXT_COLUMN];
    const int64_t at = text->kind == MC_VALUE_TEXT ? mc_data_text_find(data, text->file) : data->texts == 1 ? 0 : -1;
    if (at < 0 && text->kind == MC_VALUE_TEXT)
        return mc_fail_at(ctx, MERCER_DATA, node->offset, "the data have no text column '%.80s' for %s; %s", text->file,
                          mc_atoms[node->atom].name,
                          data->texts ? "it is not among those kept as text"
                                      : "none was kept as text (mercer_read.text)");
    if (at < 0)
        return mc_fail_at(ctx, MERCER_DATA, node->offset, "%s needs a text column, %s[name]: the data have %lld",
                          mc_atoms[node->atom].name, mc_atoms[node->atom].name, (long long)data->texts);
    if (text->kind != MC_VALUE_TEXT) {
        const char *name = mc_data_text_name(data, at);
        MC_TRY(give_text(ctx, node, name ? name : "1", node->offset));
    }
    text->number = (double)at;
    const char *fault = mc_text_parameters_fault(node);
    if (fault)
        return mc_fail_at(ctx, MERCER_DATA, node->offset, "%s: %s", mc_atoms[node->atom].name, fault);
    if (node->atom == MC_MEAN_MAP)
        return MERCER_OK; /* bind.c looks into the sets */
    if (node->atom == MC_TFIDF)
        MC_TRY(mc_word_weights_bind(ctx, node, data, at));
    return check_long_enough(ctx, node, data, at);
}

mercer_status mc_texts_bind(mercer_ctx *ctx, mc_node *root, const mercer_data *data) {
    for (int i = 0; i < root->children; i++)
        MC_TRY(mc_texts_bind(ctx, root->child[i], data));
    return mc_node_reads_text(root) ? bind_atom(ctx, root, data) : MERCER_OK;
}

static mercer_status check_atom(mercer_ctx *ctx, const mc_node *node, const mercer_data *data) {
    const int64_t at = (int64_t)node->parameter[MC_TEXT_COLUMN].number;
    if (at < data->texts && data->text)
        return node->atom == MC_MEAN_MAP ? mc_row_sets_check(ctx, node, data) : MERCER_OK;
    return mc_fail(ctx, MERCER_DATA, "%s reads text column %lld (%.80s) and the data have %lld",
                   mc_atoms[node->atom].name, (long long)at + 1,
                   node->parameter[MC_TEXT_COLUMN].file ? node->parameter[MC_TEXT_COLUMN].file : "",
                   (long long)data->texts);
}

mercer_status mc_texts_check(mercer_ctx *ctx, const mc_node *root, const mercer_data *data) {
    for (int i = 0; i < root->children && root->kind != MC_ATOM; i++)
        MC_TRY(mc_texts_check(ctx, root->child[i], data));
    return mc_node_reads_text(root) ? check_atom(ctx, root, data) : MERCER_OK;
}
