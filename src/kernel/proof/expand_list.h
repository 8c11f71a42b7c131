/* expand_list.h: lists of monomials while an expression is being multiplied out, for expand.c and its neighbours. */
#ifndef MC_KERNEL_PROOF_EXPAND_LIST_H
#define MC_KERNEL_PROOF_EXPAND_LIST_H

#include "kernel/proof/expand.h"

typedef struct mc_monomials {
    mc_monomial *item;
    int count, capacity;
} mc_monomials;

typedef struct mc_expander {
    mc_pool *pool;
    mc_expansion *e;
    mc_expand_mode mode;
    int order;      /* of the powers in the last three modes */
    int64_t d;      /* columns of the row; 0: any number */
    int64_t listed; /* MC_COLUMN_POWERS: columns 0 .. listed - 1 are apart, all others stand together */
    int64_t *work;
    mercer_status status;
} mc_expander;

/* All of them add to out, and return false when the expansion is given up or memory ends. scope: the columns in view;
   NULL: all. */
bool mc_expand_into(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out);
bool mc_expand_as_generator(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out);
bool mc_add_monomial(mc_expander *x, mc_monomials *l, const mc_monomial *m);
bool mc_add_constant(mc_expander *x, mc_monomials *l, mc_interval c);
bool mc_multiply_monomials(mc_expander *x, mc_monomials *l, const mc_monomials *r); /* l <- l * r */
bool mc_raise_monomials(mc_expander *x, const mc_monomials *base, int n, mc_monomials *out);
bool mc_give_up_expansion(mc_expander *x);
/* The index of the generator term as seen through scope; -1: given up. */
int mc_generator_of(mc_expander *x, const mc_term *term, const mc_node *scope);
mc_monomial mc_constant_monomial(mc_interval c);

/* exp(c + r_1 g_1 + ...), where the exponent is linear in the generators. */
bool mc_linear_exponent(const mc_monomials *l, mc_monomial *out);

/* expand_taylor.c: MC_TAYLOR, MC_TAYLOR_GAUSSIANS, MC_POLAR. */
bool mc_expand_taylor(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken);
/* expand_exp.c: of exp of a sum. *taken: some parts are multiples of generators, some not. */
bool mc_expand_exp_apart(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken);
bool mc_is_norm_weight(const mc_term *term);
/* expand_names.c: the same function under a plainer name; NULL: it has none. */
const mc_term *mc_term_renamed(mc_pool *pool, const mc_term *term);
/* Products of laplacian, exponential and chi2 that differ in gamma alone are one of them. */
bool mc_merge_exponentials(mc_expander *x, mc_monomial *m);
/* expand_columns.c: MC_COLUMN_POWERS. These say with *taken whether they know the term. */
bool mc_expand_in_columns(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken);
const mc_term *mc_rest_of_linear(mc_pool *pool, int64_t listed);
int64_t mc_mentioned_columns(const mc_term *term);
/* sin(f)^2 of the row is 1 - cos(f)^2, where both occur. */
bool mc_replace_sines(mc_expander *x, mc_monomials *l);
int64_t mc_listed_columns(const mc_term *term, int64_t d);
/* expand_unfolded.c: MC_UNFOLDED. */
bool mc_expand_unfolded(mc_expander *x, const mc_term *term, const mc_node *scope, mc_monomials *out, bool *taken);
/* white times what is 1 on equal points is white. */
void mc_absorb_into_white(const mc_expansion *e, mc_monomial *m);

#endif
