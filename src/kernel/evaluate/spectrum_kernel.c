/* spectrum_kernel.c: the spectrum kernel: strings compared by the parts of p bytes they have in common (Leslie, Eskin
   and Noble, 2002).

       spectrum(p=3)[name]      <count(x), count(z)>, one coordinate for every string of p bytes

   Bytes are what is counted: in UTF-8 text a letter beyond ASCII is two to four of them. The reference evaluator
   compares every part of x with every part of z; the tile engine counts (gram/pack/string_features.c). */
#include "kernel/evaluate/spectrum_kernel.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "base/text.h"
#include "data/table/data.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include <string.h>

/* The first bytes of a part, at most eight, as a number; one more byte pushes the first out. */
static uint64_t code_of(const char *s, size_t bytes) {
    uint64_t code = 0;
    for (size_t i = 0; i < bytes; i++)
        code = code << 8 | (unsigned char)s[i];
    return code;
}

static uint64_t next_code(uint64_t code, char byte, uint64_t mask) {
    return (code << 8 | (unsigned char)byte) & mask;
}

double mc_spectrum_value(const char *x, const char *z, size_t p) {
    const size_t nx = strlen(x), nz = strlen(z), head = p < 8 ? p : 8;
    const uint64_t mask = head < 8 ? ((uint64_t)1 << 8 * head) - 1 : UINT64_MAX;
    uint64_t shared = 0, a = nx >= p ? code_of(x, head) : 0;
    for (size_t i = 0; i + p <= nx; a = next_code(a, x[i + head], mask), i++) {
        uint64_t b = nz >= p ? code_of(z, head) : 0;
        for (size_t j = 0; j + p <= nz; b = next_code(b, z[j + head], mask), j++)
            shared += a == b && (p <= 8 || memcmp(x + i + 8, z + j + 8, p - 8) == 0);
    }
    return (double)shared;
}

static bool is_spectrum(const mc_node *node) {
    return node->kind == MC_ATOM && node->atom == MC_SPECTRUM;
}

/* ---- In the language ---- */

/* Every atom below is a spectrum that has no column yet. */
static bool takes_text(const mc_node *node) {
    if (node->kind == MC_ATOM)
        return is_spectrum(node) && node->parameter[1].kind != MC_VALUE_TEXT;
    for (int i = 0; i < node->children; i++)
        if (!takes_text(node->child[i]))
            return false;
    return node->kind != MC_COLUMNS && node->kind != MC_WEIGH;
}

static mercer_status give_text(mercer_ctx *ctx, mc_node *node, const char *name, int64_t offset) {
    for (int i = 0; i < node->children; i++)
        MC_TRY(give_text(ctx, node->child[i], name, offset));
    if (!is_spectrum(node))
        return MERCER_OK;
    node->parameter[1] = (mc_value){.kind = MC_VALUE_TEXT, .number = 0, .offset = offset};
    node->parameter[1].file = mc_copy_text(ctx, name, strlen(name));
    return node->parameter[1].file ? MERCER_OK : MERCER_MEMORY;
}

mercer_status mc_parse_text(mc_parser *p, mc_node **columns) {
    mc_node *node = *columns;
    char number[32];
    if (!mc_node_any(node->child[0], is_spectrum))
        return MERCER_OK;
    if (!takes_text(node->child[0]))
        return mc_lex_fail(&p->lexer, node->offset,
                           "spectrum reads a column of text and other kernels columns of numbers: give each its own, "
                           "as in rbf[1:8] + spectrum(p=3)[name]");
    if (node->columns != 1)
        return mc_lex_fail(&p->lexer, node->offset, "spectrum reads one column of text, not %lld",
                           (long long)node->columns);
    mc_print(number, sizeof number, "%lld", (long long)node->column[0] + 1);
    MC_TRY(give_text(p->lexer.ctx, node->child[0], node->column_name ? node->column_name[0] : number, node->offset));
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
    if (is_spectrum(node) && node->parameter[1].kind == MC_VALUE_TEXT && !is_listed(out, node->parameter[1].file))
        mc_text_add(out, "%s%s", out->length ? "," : "", node->parameter[1].file);
    for (int i = 0; i < node->children; i++)
        list_text_columns(node->child[i], out);
}

mercer_status mc_texts_list(mercer_ctx *ctx, const mc_node *root, char **out) {
    *out = NULL;
    if (!mc_node_any(root, is_spectrum))
        return MERCER_OK;
    mc_text text = mc_text_open(ctx);
    list_text_columns(root, &text);
    return mc_text_take(&text, out);
}

/* ---- On data ---- */

static mercer_status bind_atom(mercer_ctx *ctx, mc_node *node, const mercer_data *data) {
    mc_value *text = &node->parameter[1];
    const int64_t at = text->kind == MC_VALUE_TEXT ? mc_data_text_find(data, text->file) : data->texts == 1 ? 0 : -1;
    if (at < 0 && text->kind == MC_VALUE_TEXT)
        return mc_fail_at(
            ctx, MERCER_DATA, node->offset, "the data have no text column '%.80s' for spectrum; %s", text->file,
            data->texts ? "it is not among those kept as text" : "none was kept as text (mercer_read.text)");
    if (at < 0)
        return mc_fail_at(ctx, MERCER_DATA, node->offset,
                          "spectrum needs a text column, spectrum(p=%.0f)[name]: the data have %lld",
                          node->parameter[0].number, (long long)data->texts);
    if (text->kind != MC_VALUE_TEXT) {
        const char *name = mc_data_text_name(data, at);
        MC_TRY(give_text(ctx, node, name ? name : "1", node->offset));
    }
    text->number = (double)at;
    return MERCER_OK;
}

mercer_status mc_texts_bind(mercer_ctx *ctx, mc_node *root, const mercer_data *data) {
    for (int i = 0; i < root->children; i++)
        MC_TRY(mc_texts_bind(ctx, root->child[i], data));
    return is_spectrum(root) ? bind_atom(ctx, root, data) : MERCER_OK;
}

static mercer_status check_atom(mercer_ctx *ctx, const mc_node *node, const mercer_data *data) {
    const int64_t at = (int64_t)node->parameter[1].number;
    const double p = node->parameter[0].number;
    if (at >= data->texts || !data->text)
        return mc_fail(ctx, MERCER_DATA, "spectrum reads text column %lld (%.80s) and the data have %lld",
                       (long long)at + 1, node->parameter[1].file ? node->parameter[1].file : "",
                       (long long)data->texts);
    for (int64_t i = 0; i < data->n; i++) {
        const size_t length = strlen(data->text[i * data->texts + at]);
        if ((double)length < p)
            return mc_fail(
                ctx, MERCER_DATA,
                "spectrum(p=%.0f): the text in row %lld of '%.80s' has a length of %zu, and %.0f bytes are needed", p,
                (long long)i + 1, node->parameter[1].file ? node->parameter[1].file : "", length, p);
    }
    return MERCER_OK;
}

mercer_status mc_texts_check(mercer_ctx *ctx, const mc_node *root, const mercer_data *data) {
    for (int i = 0; i < root->children; i++)
        MC_TRY(mc_texts_check(ctx, root->child[i], data));
    return is_spectrum(root) ? check_atom(ctx, root, data) : MERCER_OK;
}
