/* parse_series.c: quotients by numbers, and power series by their coefficients.

     divisor  = signed number                  k/3 is k*3^-1: a third has no double, its inverse has
     series   = 'series' '(' (sum ',')? quotient (',' quotient)* ')'
     quotient = signed number ('/' number)?

   series(c0, c1, c2) is c0 + c1*linear + c2*linear^2, series(k, c0, c1, c2) the same in k. Both become the sums and
   products they stand for, so everything that knows these knows a series, and a coefficient is judged as written. */
#include "base/status.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include <math.h>

enum { COEFFICIENTS_MAX = 65 }; /* powers up to 64: as far as expressions are multiplied out */
enum { COPIED_MAX = 1 << 16 };  /* a series of series of series would fill any memory */

/* -1 times what *io is. */
static mercer_status negate(mc_parser *p, int64_t offset, mc_node **io) {
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_PRODUCT, offset, io));
    MC_TRY(mc_node_add(p->lexer.ctx, *io, NULL));
    return mc_node_make_number(p->lexer.ctx, -1, offset, &(*io)->child[1]);
}

/* c^-1, a number where its inverse is a double; the sign stands before the power. */
static mercer_status make_inverse(mc_parser *p, double c, int64_t offset, mc_node **out) {
    int exponent;
    const bool exact = fabs(frexp(c, &exponent)) == 0.5 && isfinite(1 / c);
    MC_TRY(mc_node_make_number(p->lexer.ctx, exact ? 1 / c : fabs(c), offset, out));
    if (exact)
        return MERCER_OK;
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_POWER, offset, out));
    (*out)->number = -1;
    return c < 0 ? negate(p, offset, out) : MERCER_OK;
}

mercer_status mc_parse_divisor(mc_parser *p, mc_node **out) {
    const int64_t offset = p->lexer.token.offset;
    const int kind = p->lexer.token.kind;
    double c;
    if (kind == MC_TOKEN_NAME || kind == '(')
        return mc_lex_fail(&p->lexer, offset,
                           "only a number may divide; 1/k of a kernel k that is above 0 everywhere is k^-1");
    MC_TRY(mc_parse_number(p, &c));
    return c == 0 ? mc_lex_fail(&p->lexer, offset, "division by 0; divide by another number")
                  : make_inverse(p, c, offset, out);
}

static mercer_status add_number(mc_parser *p, mc_node *product, double c) {
    MC_TRY(mc_node_add(p->lexer.ctx, product, NULL));
    return mc_node_make_number(p->lexer.ctx, c, product->offset, &product->child[product->children - 1]);
}

/* The factor c, or c times 1/divisor, as further children of a product; a 1 before something else is no factor. */
static mercer_status parse_coefficient(mc_parser *p, mc_node *product, int n) {
    double c;
    MC_TRY(mc_parse_number(p, &c));
    const bool quotient = mc_lex_take(&p->lexer, '/');
    if (c != 1 || (!quotient && n == 0))
        MC_TRY(add_number(p, product, c));
    if (!quotient)
        return MERCER_OK;
    MC_TRY(mc_node_add(p->lexer.ctx, product, NULL));
    return mc_parse_divisor(p, &product->child[product->children - 1]);
}

static int64_t count_parts(const mc_node *node) {
    int64_t count = 1;
    for (int i = 0; i < node->children; i++)
        count += count_parts(node->child[i]);
    return count;
}

/* base^n as the last factor; nothing for n = 0. */
static mercer_status add_power(mc_parser *p, mc_node *product, const mc_node *base, int n) {
    if (n == 0)
        return MERCER_OK;
    if ((p->copied += count_parts(base)) > COPIED_MAX)
        return mc_lex_fail(&p->lexer, product->offset, "a series within a series has more than %d parts", COPIED_MAX);
    MC_TRY(mc_node_add(p->lexer.ctx, product, NULL));
    mc_node **power = &product->child[product->children - 1];
    MC_TRY(mc_node_copy(p->lexer.ctx, base, power));
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_POWER, product->offset, power));
    (*power)->number = n;
    return MERCER_OK;
}

static mercer_status parse_term(mc_parser *p, mc_node *sum, const mc_node *base) {
    const int64_t offset = p->lexer.token.offset;
    const int n = sum->children;
    if (n == COEFFICIENTS_MAX)
        return mc_lex_fail(&p->lexer, offset, "series takes at most %d coefficients", COEFFICIENTS_MAX);
    MC_TRY(mc_node_add(p->lexer.ctx, sum, NULL));
    MC_TRY(mc_node_make(p->lexer.ctx, MC_PRODUCT, offset, &sum->child[n]));
    MC_TRY(parse_coefficient(p, sum->child[n], n));
    return add_power(p, sum->child[n], base, n);
}

static mercer_status parse_terms(mc_parser *p, mc_node *sum, const mc_node *base) {
    do
        MC_TRY(parse_term(p, sum, base));
    while (mc_lex_take(&p->lexer, ','));
    return mc_lex_expect(&p->lexer, ')', "',', '/' or ')'");
}

/* The kernel before the coefficients, <x,z> where none is named. */
static mercer_status parse_base(mc_parser *p, mc_node **base) {
    const int kind = p->lexer.token.kind;
    if (kind != MC_TOKEN_NAME && kind != '(')
        return mc_node_make_atom(p->lexer.ctx, MC_LINEAR, p->lexer.token.offset, base);
    MC_TRY(mc_parse_sum(p, base));
    return mc_lex_expect(&p->lexer, ',', "an operator, or ',' and the coefficients");
}

mercer_status mc_parse_series(mc_parser *p, mc_node **out) {
    mc_node *base = NULL;
    MC_TRY(mc_node_make(p->lexer.ctx, MC_SUM, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'(' and the coefficients, of <x,z>^0 first"));
    mercer_status status = parse_base(p, &base);
    MC_THEN(status, parse_terms(p, *out, base));
    mc_node_free(base);
    return status;
}
