/* parse_series.c: quotients by numbers, and power series by their coefficients.

     divisor  = signed number                  k/3 is k*3^-1: a third has no double, its inverse has
     series   = 'series' '(' (sum ',')? quotient (',' quotient)* ')'
     quotient = signed number ('/' number)?

   series("arcsin", k, terms=8) is the same with the first coefficients of that function; geometric(k) and
   binomial(k, a) are (1 - k)^-1 and (1 - k)^-a.

   series(c0, c1, c2) is c0 + c1*linear + c2*linear^2, series(k, c0, c1, c2) the same in k. Both become the sums and
   products they stand for, so everything that knows these knows a series, and a coefficient is judged as written. */
#include "base/status.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include "base/memory.h"
#include <math.h>
#include <string.h>

enum { COEFFICIENTS_MAX = 65 }; /* powers up to 64: as far as expressions are multiplied out */
enum { COPIED_MAX = 1 << 16 };  /* a series of series of series would fill any memory */

/* -1 times what *io is. */
static mercer_status negate_node(mc_parser *p, int64_t offset, mc_node **io) {
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
    return c < 0 ? negate_node(p, offset, out) : MERCER_OK;
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

/* ---- named series ---- */

/* The coefficient of t^n is numerator/divisor, both doubles without rounding. */
typedef struct quotient {
    double numerator, divisor;
} quotient;

/* C(2n, n)/4^n, a double for n <= 28. */
static double central_binomial(int n) {
    double c = 1;
    for (int k = 1; k <= n; k++)
        c = c * (2 * k) * (2 * k - 1) / k / k;
    return ldexp(nearbyint(c), -2 * n);
}

static quotient geometric_coefficient(int n) {
    (void)n;
    return (quotient){1, 1};
}

static quotient log_coefficient(int n) {
    return n ? (quotient){1, n} : (quotient){0, 1};
}

static quotient root_coefficient(int n) {
    return (quotient){central_binomial(n), 1};
}

static quotient arcsin_coefficient(int n) {
    return n % 2 ? (quotient){central_binomial(n / 2), n} : (quotient){0, 1};
}

/* 1/(4^m m!^2) of t^2m */
static quotient bessel_coefficient(int n) {
    double square = 1;
    for (int k = 2; k <= n / 2; k++)
        square *= (double)k * k;
    return n % 2 ? (quotient){0, 1} : (quotient){ldexp(1, -n), square};
}

static const struct {
    const char *name;
    int most; /* terms whose coefficients are such quotients */
    quotient (*coefficient)(int n);
} named_series[] = {{"geometric", COEFFICIENTS_MAX, geometric_coefficient},
                    {"inverse_root", 29, root_coefficient},
                    {"log", COEFFICIENTS_MAX, log_coefficient},
                    {"arcsin", 57, arcsin_coefficient},
                    {"bessel_i0", 23, bessel_coefficient}};
enum { NAMED_SERIES = sizeof named_series / sizeof named_series[0] };

static mercer_status find_series(mc_parser *p, int64_t offset, const char *name, int *which) {
    for (*which = 0; *which < NAMED_SERIES; ++*which)
        if (strcmp(named_series[*which].name, name) == 0)
            return MERCER_OK;
    return mc_lex_fail(&p->lexer, offset,
                       "there is no series '%.40s'; known are geometric, inverse_root, log, arcsin and bessel_i0",
                       name);
}

static mercer_status parse_series_name(mc_parser *p, int *which) {
    const int64_t offset = p->lexer.token.offset;
    char *name = NULL;
    mercer_status status = mc_lex_string(&p->lexer, &name);
    MC_THEN(status, find_series(p, offset, name, which));
    mc_free(name);
    return status;
}

static mercer_status parse_term_count(mc_parser *p, int most, int *count) {
    const int64_t offset = p->lexer.token.offset;
    double terms;
    if (!mc_lex_name_is(&p->lexer, "terms"))
        return mc_lex_unexpected(&p->lexer, "terms=, how many coefficients");
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '=', "'='"));
    MC_TRY(mc_parse_number(p, &terms));
    if (!(terms >= 1 && terms <= most && terms == floor(terms)))
        return mc_lex_fail(&p->lexer, offset, "terms is a whole number from 1 to %d here", most);
    *count = (int)terms;
    return mc_lex_expect(&p->lexer, ')', "')'");
}

static mercer_status add_named_term(mc_parser *p, mc_node *sum, const mc_node *base, quotient c, int n) {
    const int k = sum->children;
    MC_TRY(mc_node_add(p->lexer.ctx, sum, NULL));
    MC_TRY(mc_node_make(p->lexer.ctx, MC_PRODUCT, sum->offset, &sum->child[k]));
    if (c.numerator != 1 || n == 0)
        MC_TRY(add_number(p, sum->child[k], c.numerator));
    if (c.divisor != 1) {
        MC_TRY(mc_node_add(p->lexer.ctx, sum->child[k], NULL));
        MC_TRY(make_inverse(p, c.divisor, sum->offset, &sum->child[k]->child[sum->child[k]->children - 1]));
    }
    return add_power(p, sum->child[k], base, n);
}

/* A kernel and a comma, or <x,z>. */
static mercer_status parse_named_base(mc_parser *p, mc_node **base) {
    if (mc_lex_name_is(&p->lexer, "terms"))
        return mc_node_make_atom(p->lexer.ctx, MC_LINEAR, p->lexer.token.offset, base);
    MC_TRY(mc_parse_sum(p, base));
    return mc_lex_expect(&p->lexer, ',', "an operator, or ',' and terms=");
}

/* ("name", kernel, terms=n): its first n terms. */
static mercer_status parse_named_series(mc_parser *p, mc_node *sum) {
    mc_node *base = NULL;
    int which = 0, count = 0;
    MC_TRY(parse_series_name(p, &which));
    MC_TRY(mc_lex_expect(&p->lexer, ',', "','"));
    mercer_status status = parse_named_base(p, &base);
    MC_THEN(status, parse_term_count(p, named_series[which].most, &count));
    for (int n = 0; n < count && !status; n++) {
        const quotient c = named_series[which].coefficient(n);
        if (c.numerator != 0)
            status = add_named_term(p, sum, base, c, n);
    }
    if (!status && sum->children == 0)
        status = add_number(p, sum, 0);
    mc_node_free(base);
    return status;
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

/* ---- closed forms ---- */

/* (1 - k)^-a for what stands in *io. */
static mercer_status one_minus_to(mc_parser *p, int64_t offset, double a, mc_node **io) {
    MC_TRY(negate_node(p, offset, io));
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_SUM, offset, io));
    MC_TRY(mc_node_add(p->lexer.ctx, *io, NULL));
    (*io)->child[1] = (*io)->child[0];
    (*io)->child[0] = NULL;
    MC_TRY(mc_node_make_number(p->lexer.ctx, 1, offset, &(*io)->child[0]));
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_POWER, offset, io));
    (*io)->number = -a;
    return MERCER_OK;
}

/* geometric(k) = 1/(1 - k) */
mercer_status mc_parse_geometric(mc_parser *p, mc_node **out) {
    const int64_t offset = p->lexer.token.offset;
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'(' and a kernel"));
    MC_TRY(mc_parse_sum(p, out));
    MC_TRY(mc_lex_expect(&p->lexer, ')', "an operator or ')'"));
    return one_minus_to(p, offset, 1, out);
}

/* binomial(k, a) = (1 - k)^-a */
mercer_status mc_parse_binomial(mc_parser *p, mc_node **out) {
    const int64_t offset = p->lexer.token.offset;
    double a;
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'(' and a kernel"));
    MC_TRY(mc_parse_sum(p, out));
    MC_TRY(mc_lex_expect(&p->lexer, ',', "an operator, or ',' and the exponent a of (1 - k)^-a"));
    MC_TRY(mc_parse_number(p, &a));
    MC_TRY(mc_lex_expect(&p->lexer, ')', "')'"));
    return one_minus_to(p, offset, a, out);
}

mercer_status mc_parse_series(mc_parser *p, mc_node **out) {
    mc_node *base = NULL;
    MC_TRY(mc_node_make(p->lexer.ctx, MC_SUM, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'(' and the coefficients, of <x,z>^0 first"));
    if (p->lexer.token.kind == MC_TOKEN_STRING)
        return parse_named_series(p, *out);
    mercer_status status = parse_base(p, &base);
    MC_THEN(status, parse_terms(p, *out, base));
    mc_node_free(base);
    return status;
}
