/* parse_expanded.c: names for sums that would be long to write; the tree has the sums themselves, so that everything
   that reads trees knows them already.

     anova(k, order=p)[columns]       sum over j_1 < ... < j_p of the columns of k[j_1] * ... * k[j_p]
     additive(k, order=p)[columns]    the sum of anova of order 1, 2, ..., p
     blended(p=3, decay=0.5)[name]    sum over l = 1, ..., p of decay^l * spectrum(p=l)[name]

   Each k[j] has parameters of its own from then on. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include <math.h>
#include <string.h>

/* ---- Sums over columns ---- */

enum { ORDER_MAX = 64, NODES_MAX = 1 << 18 }; /* nodes of all expansions of one text: they nest */

typedef struct expansion {
    mc_parser *parser;
    mc_node *base;    /* COLUMNS above the kernel of one column, over all columns */
    const char *name; /* for messages */
    bool additive;    /* lower orders too */
    int64_t order;
    int64_t nodes; /* of base */
} expansion;

/* The sum that is written out has numbers in it. */
static mercer_status fail_choice(mc_parser *p, const char *name) {
    return mc_lex_fail(&p->lexer, p->lexer.token.offset,
                       "%s takes one number, no range and no set; give tune a kernel (-k) for each value", name);
}

static mercer_status parse_named_number(mc_parser *p, const char *name, double *out) {
    if (!mc_lex_name_is(&p->lexer, name))
        return mc_lex_unexpected(&p->lexer, name);
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '=', "'='"));
    if (p->lexer.token.kind == '{')
        return fail_choice(p, name);
    MC_TRY(mc_parse_number(p, out));
    return p->lexer.token.kind == MC_TOKEN_RANGE ? fail_choice(p, name) : MERCER_OK;
}

static mercer_status parse_order(mc_parser *p, expansion *e) {
    double order = e->additive ? 1 : 2;
    const int64_t offset = p->lexer.token.offset;
    if (mc_lex_take(&p->lexer, ','))
        MC_TRY(parse_named_number(p, "order", &order));
    if (!(order >= 1 && order <= ORDER_MAX && order == floor(order)))
        return mc_lex_fail(&p->lexer, offset, "%s's order must be a whole number from 1 to %d, got %g", e->name,
                           ORDER_MAX, order);
    e->order = (int64_t)order;
    return mc_lex_expect(&p->lexer, ')', "an operator, ',' or ')'");
}

static int64_t nodes_of(const mc_node *node) {
    int64_t count = 1;
    for (int i = 0; i < node->children; i++)
        count += nodes_of(node->child[i]);
    return count;
}

/* The kernel of one of the columns. */
static mercer_status add_column_kernel(expansion *e, mc_node *product, int64_t j) {
    mercer_ctx *ctx = e->parser->lexer.ctx;
    mc_node *one = NULL;
    if ((e->parser->expanded += e->nodes) > NODES_MAX)
        return mc_lex_fail(&e->parser->lexer, e->base->offset,
                           "%s makes more than %d parts; take a lower order, fewer columns or a shorter kernel",
                           e->name, NODES_MAX);
    MC_TRY(mc_node_copy(ctx, e->base, &one));
    MC_TRY(mc_node_add(ctx, product, one));
    one->column[0] = e->base->column[j];
    for (int64_t i = 0; one->column_name && i < one->columns; i++) {
        char *name = one->column_name[i];
        one->column_name[i] = NULL;
        if (i == j)
            one->column_name[0] = name;
        else
            mc_free(name);
    }
    one->columns = 1;
    return mc_parse_text(e->parser, &product->child[product->children - 1]);
}

static mercer_status add_product(expansion *e, mc_node *sum, const int64_t *choice, int64_t order) {
    mercer_ctx *ctx = e->parser->lexer.ctx;
    mc_node *product = NULL;
    if (sum->children == MC_CHILDREN_MAX)
        return mc_lex_fail(
            &e->parser->lexer, e->base->offset,
            "%s of order %lld of %lld columns has more than %d terms; take a lower order or fewer columns", e->name,
            (long long)e->order, (long long)e->base->columns, MC_CHILDREN_MAX);
    MC_TRY(mc_node_make(ctx, MC_PRODUCT, sum->offset, &product));
    MC_TRY(mc_node_add(ctx, sum, product));
    for (int64_t i = 0; i < order; i++)
        MC_TRY(add_column_kernel(e, product, choice[i]));
    if (order == 1)
        mc_node_unwrap(&sum->child[sum->children - 1], 0);
    return MERCER_OK;
}

/* The next combination in order of the alphabet; false: that was the last. */
static bool next_combination(int64_t *choice, int64_t order, int64_t columns) {
    int64_t i = order - 1;
    while (i >= 0 && choice[i] == columns - order + i)
        i--;
    if (i < 0)
        return false;
    choice[i]++;
    for (i++; i < order; i++)
        choice[i] = choice[i - 1] + 1;
    return true;
}

static mercer_status add_order(expansion *e, mc_node *sum, int64_t order) {
    int64_t choice[ORDER_MAX];
    for (int64_t i = 0; i < order; i++)
        choice[i] = i;
    do
        MC_TRY(add_product(e, sum, choice, order));
    while (next_combination(choice, order, e->base->columns));
    return MERCER_OK;
}

static mercer_status expand_columns(expansion *e, mc_node *sum) {
    if (e->order > e->base->columns)
        return mc_lex_fail(&e->parser->lexer, e->base->offset, "%s of order %lld needs as many columns, got %lld",
                           e->name, (long long)e->order, (long long)e->base->columns);
    e->nodes = nodes_of(e->base);
    for (int64_t order = e->additive ? 1 : e->order; order <= e->order; order++)
        MC_TRY(add_order(e, sum, order));
    return MERCER_OK;
}

static mercer_status parse_base(expansion *e, mc_node **kernel) {
    mc_parser *p = e->parser;
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'(' and a kernel of one column"));
    MC_TRY(mc_parse_sum(p, kernel));
    MC_TRY(parse_order(p, e));
    const int64_t offset = p->lexer.token.offset;
    MC_TRY(mc_lex_expect(&p->lexer, '[', "'[' and the columns, as in additive(rbf)[1:3]"));
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_COLUMNS, offset, kernel));
    return mc_parse_columns(p, *kernel);
}

static mercer_status parse_expansion(expansion e, mc_node **out) {
    mercer_ctx *ctx = e.parser->lexer.ctx;
    MC_TRY(mc_node_make(ctx, MC_SUM, e.parser->lexer.token.offset, out));
    mercer_status status = parse_base(&e, &e.base);
    MC_THEN(status, expand_columns(&e, *out));
    mc_node_free(e.base);
    if (!status && (*out)->children == 1)
        mc_node_unwrap(out, 0);
    return status;
}

mercer_status mc_parse_anova(mc_parser *p, mc_node **out) {
    return parse_expansion((expansion){.parser = p, .name = "anova"}, out);
}

mercer_status mc_parse_additive(mc_parser *p, mc_node **out) {
    return parse_expansion((expansion){.parser = p, .name = "additive", .additive = true}, out);
}

/* ---- Strings of several lengths ---- */

static mercer_status parse_blend(mc_parser *p, double *longest, double *decay) {
    mc_lex_next(&p->lexer);
    if (!mc_lex_take(&p->lexer, '(') || mc_lex_take(&p->lexer, ')'))
        return MERCER_OK;
    do
        MC_TRY(mc_lex_name_is(&p->lexer, "decay") ? parse_named_number(p, "decay", decay)
                                                  : parse_named_number(p, "p", longest));
    while (mc_lex_take(&p->lexer, ','));
    return mc_lex_expect(&p->lexer, ')', "',' or ')'");
}

static mercer_status add_length(mc_parser *p, mc_node *sum, int64_t length, double weight) {
    mercer_ctx *ctx = p->lexer.ctx;
    mc_node *product = NULL, *part = NULL;
    MC_TRY(mc_node_make(ctx, MC_PRODUCT, sum->offset, &product));
    MC_TRY(mc_node_add(ctx, sum, product));
    MC_TRY(mc_node_make_number(ctx, weight, sum->offset, &part));
    MC_TRY(mc_node_add(ctx, product, part));
    part = NULL;
    MC_TRY(mc_node_make_atom(ctx, MC_SPECTRUM, sum->offset, &part));
    part->parameter[0].number = (double)length;
    return mc_node_add(ctx, product, part);
}

mercer_status mc_parse_blended(mc_parser *p, mc_node **out) {
    double longest = 3, decay = 0.5;
    const int64_t offset = p->lexer.token.offset;
    MC_TRY(mc_node_make(p->lexer.ctx, MC_SUM, offset, out));
    MC_TRY(parse_blend(p, &longest, &decay));
    if (!(longest >= 1 && longest <= ORDER_MAX && longest == floor(longest)))
        return mc_lex_fail(&p->lexer, offset, "blended's p must be a whole number of bytes from 1 to %d, got %g",
                           ORDER_MAX, longest);
    if (!(decay > 0 && decay <= 1e4 && pow(decay, longest) > 0))
        return mc_lex_fail(&p->lexer, offset, "blended's decay must be above 0, with decay^p above 0 too, got %g",
                           decay);
    double weight = 1;
    for (int64_t length = 1; length <= (int64_t)longest; length++)
        MC_TRY(add_length(p, *out, length, weight *= decay));
    return MERCER_OK;
}
