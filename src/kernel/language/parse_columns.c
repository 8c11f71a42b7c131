/* parse_columns.c: the columns of k[1:3, age, "sepal width"]: numbers from 1, ranges with both ends in, names; each at
   most once. */
#include "base/memory.h"
#include "base/sort.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include <math.h>

/* Both lists have room for a power of two of columns. */
static int64_t power_of_two_from(int64_t n) {
    int64_t capacity = 1;
    while (capacity < n)
        capacity *= 2;
    return capacity;
}

static mercer_status grow_columns(mercer_ctx *ctx, mc_node *node, int64_t n) {
    int64_t *columns = mc_grow_block(ctx, node->column, power_of_two_from(n), sizeof *columns);
    if (!columns)
        return MERCER_MEMORY;
    node->column = columns;
    if (!node->column_name)
        return MERCER_OK;
    char **names = mc_grow_block(ctx, node->column_name, power_of_two_from(n), sizeof *names);
    if (!names)
        return MERCER_MEMORY;
    node->column_name = names;
    return MERCER_OK;
}

static mercer_status add_column(mc_parser *p, mc_node *node, int64_t column) {
    if (++p->columns > MC_COLUMNS_MAX)
        return mc_lex_fail(&p->lexer, p->lexer.token.offset,
                           "an expression may list at most 1048576 columns; without a list a kernel sees all of them");
    if (node->columns == 0 || power_of_two_from(node->columns) < node->columns + 1)
        MC_TRY(grow_columns(p->lexer.ctx, node, node->columns + 1));
    node->column[node->columns++] = column;
    return MERCER_OK;
}

static mercer_status column_number(mc_parser *p, int64_t *out) {
    const mc_token t = p->lexer.token;
    MC_TRY(mc_lex_expect(&p->lexer, MC_TOKEN_NUMBER, "a column number"));
    if (!(t.number >= 1 && t.number <= INT32_MAX && t.number == floor(t.number)))
        return mc_lex_fail(&p->lexer, t.offset, "columns are numbered 1, 2, 3, ... to 2147483647");
    *out = (int64_t)t.number - 1;
    return MERCER_OK;
}

static mercer_status add_numbers(mc_parser *p, mc_node *node) {
    const int64_t offset = p->lexer.token.offset;
    int64_t first = 0, last;
    MC_TRY(column_number(p, &first));
    last = first;
    if (mc_lex_take(&p->lexer, ':'))
        MC_TRY(column_number(p, &last));
    if (last < first)
        return mc_lex_fail(&p->lexer, offset, "this range of columns runs backwards; write the smaller number first");
    for (int64_t j = first; j <= last; j++)
        MC_TRY(add_column(p, node, j));
    return MERCER_OK;
}

static mercer_status add_name(mc_parser *p, mc_node *node) {
    const mc_token t = p->lexer.token;
    MC_TRY(add_column(p, node, -1));
    if (!node->column_name)
        MC_TRY(MC_ALLOC(p->lexer.ctx, node->column_name, power_of_two_from(node->columns)));
    char **name = &node->column_name[node->columns - 1];
    if (t.kind == MC_TOKEN_STRING)
        return mc_lex_string(&p->lexer, name);
    *name = mc_copy_text(p->lexer.ctx, p->lexer.text + t.offset, (size_t)t.length);
    mc_lex_next(&p->lexer);
    return *name ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status add_columns(mc_parser *p, mc_node *node) {
    const int kind = p->lexer.token.kind;
    if (kind == MC_TOKEN_NUMBER)
        return add_numbers(p, node);
    if (kind == MC_TOKEN_NAME || kind == MC_TOKEN_STRING)
        return add_name(p, node);
    return mc_lex_unexpected(&p->lexer, "a column number or name");
}

static int compare_columns(const void *columns, int64_t a, int64_t b) {
    const int64_t *column = columns;
    return (column[a] > column[b]) - (column[a] < column[b]);
}

/* The column of the first pair of neighbours that are equal once sorted; -1: none. items holds 2n numbers. */
static int64_t find_twice(const int64_t *column, int64_t n, int64_t *items) {
    for (int64_t i = 0; i < n; i++)
        items[i] = i;
    mc_sort(items, items + n, n, compare_columns, column);
    for (int64_t i = 1; i < n; i++)
        if (column[items[i]] >= 0 && column[items[i]] == column[items[i - 1]])
            return column[items[i]];
    return -1;
}

mercer_status mc_columns_distinct(mercer_ctx *ctx, const mc_node *node) {
    int64_t *items = NULL;
    MC_TRY(MC_ALLOC(ctx, items, 2 * node->columns));
    const int64_t twice = find_twice(node->column, node->columns, items);
    mc_free(items);
    if (twice < 0)
        return MERCER_OK;
    return mc_fail_at(ctx, MERCER_SYNTAX, node->offset, "column %lld: column %lld is listed twice",
                      (long long)node->offset + 1, (long long)twice + 1);
}

mercer_status mc_parse_columns(mc_parser *p, mc_node *node) {
    do
        MC_TRY(add_columns(p, node));
    while (mc_lex_take(&p->lexer, ','));
    MC_TRY(mc_lex_expect(&p->lexer, ']', "',' or ']'"));
    return mc_columns_distinct(p->lexer.ctx, node);
}
