/* parse.h: the parser's parts. Each writes into a place of a tree that its caller owns; on failure the tree is left
   half made and the one caller at the top frees it. */
#ifndef MC_KERNEL_LANGUAGE_PARSE_H
#define MC_KERNEL_LANGUAGE_PARSE_H

#include "kernel/language/kernel.h"
#include "kernel/language/lex.h"
#include "kernel/language/user_function.h"

typedef struct mc_parser {
    mc_lexer lexer;
    int depth;            /* nesting so far */
    int parts;            /* of the function being read */
    int64_t columns;      /* listed so far in the whole text */
    int64_t expanded;     /* nodes that anova and additive have made so far */
    int64_t copied;       /* parts of the kernels that a series repeats, so far */
    mc_users users;       /* functions that user("name") may name */
    struct mc_user *made; /* of these, so far */
} mc_parser;

enum { MC_COLUMNS_MAX = 1 << 20, MC_PARTS_MAX = 1000 };

/* The tree as written: nothing is simplified. *out is NULL on failure. */
mercer_status mc_parse_expression(mercer_ctx *ctx, const char *text, mc_users users, mc_node **out);

/* mercer_kernel_parse_with for callers inside the library. */
/* default_kernel.c: with this p, or a range of it, for every spectrum. */
mercer_status mc_kernel_default(mercer_ctx *ctx, const mercer_data *data, const char *p, mercer_kernel **out);
mercer_status mc_kernel_parse(mercer_ctx *ctx, const char *text, mc_users users, mercer_kernel **out);

mercer_status mc_parse_deeper(mc_parser *parser); /* enter one level of nesting; leave it with parser->depth-- */
mercer_status mc_parse_number(mc_parser *parser, double *out); /* with its sign */
mercer_status mc_parse_sum(mc_parser *parser, mc_node **out);  /* a whole expression */
/* parse_expanded.c: sums that have a name */
mercer_status mc_parse_anova(mc_parser *parser, mc_node **out);
mercer_status mc_parse_additive(mc_parser *parser, mc_node **out);
mercer_status mc_parse_blended(mc_parser *parser, mc_node **out);
/* parse_series.c: what stands behind '/', as the factor it is: c^-1; and series(...), as the sum it is */
mercer_status mc_parse_divisor(mc_parser *parser, mc_node **out);
mercer_status mc_parse_geometric(mc_parser *p, mc_node **out);
mercer_status mc_parse_binomial(mc_parser *p, mc_node **out);
mercer_status mc_parse_series(mc_parser *parser, mc_node **out);

/* parse_value.c: "(gamma=1, ...)" or nothing; given: parameters that the name of the atom has set */
mercer_status mc_parse_arguments(mc_parser *parser, mc_node *atom, bool *given);
mercer_status mc_parse_matrix(mc_parser *parser, mc_node *form);     /* form.c: "[[..],[..]]" or a file */
mercer_status mc_parse_columns(mc_parser *parser, mc_node *columns); /* parse_columns.c: "[1:3, age]" */
/* spectrum_kernel.c: the column of spectrum, where there is one */
mercer_status mc_parse_text(mc_parser *parser, mc_node **columns);
mercer_status mc_parse_function(mc_parser *parser, mc_function **out); /* parse_function.c */

#endif
