/* row_sets.c: see row_sets.h. Numbers of a row stand between blanks or commas, rows between semicolons. */
#include "kernel/evaluate/row_sets.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "base/workspace.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include "kernel/language/fits.h"
#include "kernel/language/node.h"
#include <math.h>
#include <string.h>

/* ---- Reading ---- */

static const char *past_blanks(const char *p) {
    return p + strspn(p, " \t\r\n");
}

/* The number at p and what follows it and a comma; NULL: there is none. */
static const char *read_number(const char *p, double *out) {
    const char *after = mc_number_read(p, p + strlen(p), out);
    if (!after || !isfinite(*out) || !strchr(" \t\r\n,;", *after))
        return NULL;
    p = past_blanks(after);
    if (*p != ',')
        return p;
    p = past_blanks(p + 1);
    return *p == ';' || *p == '\0' ? NULL : p;
}

/* The numbers up to the semicolon or the end, at most so many; how many, -1: something else stands there. */
static int64_t read_row(const char **at, int64_t most, double *row) {
    const char *p = past_blanks(*at);
    int64_t count = 0;
    for (double v; *p && *p != ';'; count++) {
        if (count == most || !(p = read_number(p, &v)))
            return -1;
        row[count] = v;
    }
    *at = p;
    return count > 0 ? count : -1;
}

mc_set_walk mc_set_begin(const char *text, int64_t columns) {
    return (mc_set_walk){.at = text, .columns = columns, .more = *past_blanks(text) != '\0'};
}

bool mc_set_next(mc_set_walk *w, double *row) {
    if (!w->at || !w->more)
        return false;
    if (read_row(&w->at, w->columns, row) != w->columns) {
        w->at = NULL;
        return false;
    }
    w->more = *w->at == ';';
    w->at += w->more;
    return true;
}

/* ---- All texts of a column ---- */

static const char *text_of(const mc_node *mean_map, const mercer_data *data, int64_t i) {
    return data->text[i * data->texts + (int64_t)mean_map->parameter[MC_TEXT_COLUMN].number];
}

int64_t mc_set_count(const char *text) {
    int64_t count = *past_blanks(text) != '\0';
    for (; *text; text++)
        count += *text == ';';
    return count;
}

static int64_t columns_of_first(const mc_node *mean_map, const mercer_data *data) {
    double row[MC_SET_COLUMNS_MAX];
    for (int64_t i = 0; i < data->n; i++) {
        const char *text = text_of(mean_map, data, i);
        const int64_t count = mc_set_count(text) > 0 ? read_row(&text, MC_SET_COLUMNS_MAX, row) : -1;
        if (count > 0)
            return count;
    }
    return 1;
}

static mercer_status fail_set(mercer_ctx *ctx, const mc_node *mean_map, const mercer_data *data, int64_t i,
                              int64_t columns) {
    return mc_fail_at(
        ctx, MERCER_DATA, mean_map->offset,
        "mean_map: row %lld of '%.80s' is no set of rows of %lld numbers, as \"1 2; 3 4\" is of 2: \"%.60s\"",
        (long long)mc_data_row_number(data, i),
        mean_map->parameter[MC_TEXT_COLUMN].file ? mean_map->parameter[MC_TEXT_COLUMN].file : "", (long long)columns,
        text_of(mean_map, data, i));
}

static mercer_status read_sets(mercer_ctx *ctx, const mc_node *mean_map, const mercer_data *data, mc_row_sets *sets) {
    for (int64_t i = 0; i < data->n; i++) {
        mc_set_walk w = mc_set_begin(text_of(mean_map, data, i), sets->columns);
        int64_t k = sets->begin[i];
        while (mc_set_next(&w, sets->values + k * sets->columns))
            k++;
        if (!w.at)
            return fail_set(ctx, mean_map, data, i, sets->columns);
        sets->begin[i + 1] = k;
    }
    return MERCER_OK;
}

mercer_status mc_row_sets_read(mercer_ctx *ctx, const mc_node *mean_map, const mercer_data *data, int64_t columns,
                               mc_row_sets *out) {
    int64_t most = 1; /* a row that is no set may be written before that is seen */
    *out = (mc_row_sets){.n = data->n, .columns = columns > 0 ? columns : columns_of_first(mean_map, data)};
    for (int64_t i = 0; i < data->n; i++)
        most += mc_set_count(text_of(mean_map, data, i));
    mercer_status status = MC_ALLOC(ctx, out->begin, data->n + 1);
    MC_THEN(status, MC_ALLOC(ctx, out->values, most * out->columns));
    MC_THEN(status, read_sets(ctx, mean_map, data, out));
    if (status)
        mc_row_sets_free(out);
    return status;
}

void mc_row_sets_free(mc_row_sets *sets) {
    mc_free(sets->begin);
    mc_free(sets->values);
    *sets = (mc_row_sets){0};
}

mercer_status mc_row_sets_table(mercer_ctx *ctx, const mc_row_sets *sets, mercer_data **out) {
    const int64_t rows = sets->begin[sets->n];
    MC_TRY(mc_data_new(ctx, rows, sets->columns, MERCER_F64, -1, out));
    if (rows > 0)
        memcpy((*out)->values, sets->values, (size_t)(rows * sets->columns) * sizeof *sets->values);
    return MERCER_OK;
}

size_t mc_row_sets_bytes(const mc_node *mean_map, const mercer_data *data) {
    const mc_value *columns = &mean_map->parameter[MC_SET_COLUMNS];
    int64_t most = 1;
    for (int64_t i = 0; i < data->n; i++)
        most += mc_set_count(text_of(mean_map, data, i));
    return mc_work_need(most * (int64_t)columns->number, sizeof(double)) + mc_work_need(data->n + 1, sizeof(int64_t));
}

/* The reference evaluator takes some hundred operations a pair of rows, and more where they are long. */
double mc_row_sets_work(const mc_node *root, const mercer_data *data) {
    double rows = 0, sum = 0;
    if (!mc_node_reads_sets(root)) {
        for (int i = 0; i < root->children; i++)
            sum += mc_row_sets_work(root->child[i], data);
        return sum;
    }
    for (int64_t i = 0; i < data->n; i++)
        rows += (double)mc_set_count(text_of(root, data, i)) / (double)data->n;
    return (100 + 10 * root->parameter[MC_SET_COLUMNS].number) * rows * rows;
}

/* The first row of a set with a value below 0 in a column that the kernel wants without. */
static mercer_status check_signs(mercer_ctx *ctx, const mc_node *mean_map, const mercer_data *data,
                                 const mc_row_sets *sets) {
    for (int64_t i = 0; i < sets->n; i++)
        for (int64_t k = sets->begin[i]; k < sets->begin[i + 1]; k++) {
            const int64_t j =
                mc_node_negative_column(mean_map->child[0], sets->values + k * sets->columns, sets->columns);
            if (j >= 0)
                return mc_fail_at(ctx, MERCER_DATA, mean_map->offset,
                                  "mean_map: the kernel takes no negative values, but the set of row %lld has one in "
                                  "column %lld of its row %lld",
                                  (long long)mc_data_row_number(data, i), (long long)j + 1,
                                  (long long)(k - sets->begin[i]) + 1);
        }
    return MERCER_OK;
}

mercer_status mc_row_sets_check(mercer_ctx *ctx, const mc_node *mean_map, const mercer_data *data) {
    mc_row_sets sets;
    MC_TRY(mc_row_sets_read(ctx, mean_map, data, (int64_t)mean_map->parameter[MC_SET_COLUMNS].number, &sets));
    const mercer_status status = check_signs(ctx, mean_map, data, &sets);
    mc_row_sets_free(&sets);
    return status;
}

/* ---- Values ---- */

/* Rows of the one that comes first, whichever side it is on. */
double mc_mean_map_value(const mc_node *mean_map, int64_t n, const double *x, int64_t m, const double *z) {
    const int64_t d = (int64_t)mean_map->parameter[MC_SET_COLUMNS].number;
    const mc_view view = {.d = d};
    const bool turned = n != m ? n > m : memcmp(x, z, (size_t)(n * d) * sizeof *x) > 0;
    const double *a = turned ? z : x, *b = turned ? x : z;
    const int64_t na = turned ? m : n, nb = turned ? n : m;
    double sum = 0;
    for (int64_t i = 0; i < na; i++)
        for (int64_t j = 0; j < nb; j++)
            sum += mc_eval_in_view(mean_map->child[0], &view, a + i * d, b + j * d);
    return n > 0 && m > 0 ? sum / ((double)n * (double)m) : 0;
}

double mc_mean_map_of_texts(const mc_node *mean_map, const char *x, const char *z) {
    const int64_t d = (int64_t)mean_map->parameter[MC_SET_COLUMNS].number;
    const mc_view view = {.d = d};
    double a[MC_SET_COLUMNS_MAX], b[MC_SET_COLUMNS_MAX], sum = 0;
    const bool turned = strcmp(x, z) > 0;
    mc_set_walk of_x = mc_set_begin(turned ? z : x, d), of_z;
    int64_t pairs = 0;
    while (mc_set_next(&of_x, a))
        for (of_z = mc_set_begin(turned ? x : z, d); mc_set_next(&of_z, b); pairs++)
            sum += mc_eval_in_view(mean_map->child[0], &view, a, b);
    return pairs > 0 ? sum / (double)pairs : 0;
}

/* ---- In the language ---- */

static bool is_other(const mc_node *node) {
    const bool named = node->kind == MC_COLUMNS && node->column_name;
    return named || (node->kind == MC_ATOM && mc_atoms[node->atom].opaque);
}

static mercer_status parse_columns_of_rows(mc_parser *p, mc_value *columns) {
    const int64_t offset = p->lexer.token.offset;
    if (!mc_lex_name_is(&p->lexer, "columns"))
        return mc_lex_unexpected(&p->lexer, "columns=, how many numbers a row has");
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '=', "'='"));
    MC_TRY(mc_parse_number(p, &columns->number));
    columns->kind = MC_VALUE_NUMBER;
    if (!(columns->number >= 1 && columns->number <= MC_SET_COLUMNS_MAX && columns->number == floor(columns->number)))
        return mc_lex_fail(&p->lexer, offset, "mean_map's columns must be a whole number from 1 to %d, got %g",
                           MC_SET_COLUMNS_MAX, columns->number);
    return MERCER_OK;
}

mercer_status mc_parse_mean_map(mc_parser *p, mc_node **out) {
    MC_TRY(mc_node_make_atom(p->lexer.ctx, MC_MEAN_MAP, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    MC_TRY(mc_node_add(p->lexer.ctx, *out, NULL));
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'(' and a kernel of the rows of a set"));
    const int64_t offset = p->lexer.token.offset;
    MC_TRY(mc_parse_sum(p, &(*out)->child[0]));
    if (mc_node_any((*out)->child[0], is_other))
        return mc_lex_fail(&p->lexer, offset,
                           "mean_map takes a kernel of numbers, whose columns have no names: mean_map(rbf[1:2])[name]");
    if (mc_lex_take(&p->lexer, ','))
        MC_TRY(parse_columns_of_rows(p, &(*out)->parameter[MC_SET_COLUMNS]));
    return mc_lex_expect(&p->lexer, ')', "an operator, ',' or ')'");
}
