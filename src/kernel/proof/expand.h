/* expand.h: an expression multiplied out.

   Every term is a sum of monomials

       factor * g_1^p_1 ... g_m^p_m * exp(r_1 g_1 + ... + r_m g_m) * exp(-w |x-z|^2 - sum_j w_j (x_j-z_j)^2)

   over generators g: the parts that are not multiplied out any further. With MC_GAUSSIANS, Gaussians of fixed width are
   kept as exponents w, so that rbf(gamma=1)^2 and rbf(gamma=2) are the same monomial; with MC_GENERATORS they are
   generators like any other. All numbers are intervals that hold the exact ones; like monomials are merged only when
   their exponents are single points and equal. The three tests at the end are the side conditions of the rules that
   argue about sums with negative terms. They never say yes wrongly. */
#ifndef MC_KERNEL_PROOF_EXPAND_H
#define MC_KERNEL_PROOF_EXPAND_H

#include "kernel/proof/term.h"

enum { MC_GENERATORS_MAX = 8, MC_MONOMIALS_MAX = 256, MC_WIDTHS_MAX = 16 };
/* comparisons of monomials that one proof, and one check, may spend: some tenths of a second */
enum { MC_EXPAND_WORK = 5000000 };

typedef struct mc_monomial {
    mc_interval factor;
    int power[MC_GENERATORS_MAX];
    mc_interval rate[MC_GENERATORS_MAX];
    mc_interval width;                 /* of the Gaussian over all columns */
    mc_interval widths[MC_WIDTHS_MAX]; /* of those over single columns, on top of it */
} mc_monomial;

typedef struct mc_expansion {
    int generators, count;
    const mc_term *generator[MC_GENERATORS_MAX];
    mc_monomial *monomial; /* count of them */
    bool whole;            /* false: too large to multiply out; nothing may be concluded */
} mc_expansion;

typedef enum mc_expand_mode { MC_GENERATORS, MC_GAUSSIANS } mc_expand_mode;

/* *work is what may be spent, lowered by what was; when it ends the expansion is not whole. Terms that must be made (a
   generator seen through columns) go to the pool. Free with mc_expansion_close, also after a failure. */
mercer_status mc_expand_term(mc_pool *pool, const mc_term *term, mc_expand_mode mode, int64_t *work, mc_expansion *out);
void mc_expansion_close(mc_expansion *e);
/* The generator occurs in some monomial. */
bool mc_expansion_uses(const mc_expansion *e, int generator);
bool mc_monomial_is_constant(const mc_monomial *m);
void mc_expansion_print(const mc_expansion *e, mc_text *out);

/* No monomial has a negative factor, rate or width. sign 1: of the expression; -1: of minus the expression. The
   constant monomial is left out of account when any_constant is set. */
bool mc_expansion_nonnegative(const mc_expansion *e, int sign, bool any_constant);
/* As a power series in one of the generators, with what multiplies it apart, it has no negative coefficient. *generator
   says in which. */
bool mc_expansion_series(const mc_expansion *e, int *generator);
/* Every subtracted Gaussian is outweighed in the Fourier domain, at every frequency, on R^d; d 0: on every R^d. */
bool mc_expansion_gaussians(const mc_expansion *e, int64_t d);

#endif
