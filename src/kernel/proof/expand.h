/* expand.h: an expression multiplied out.

   Every term is a sum of monomials

       factor * g_1^p_1 ... g_m^p_m * exp(r_1 g_1 + ... + r_m g_m) * exp(-w |x-z|^2 - sum_j w_j (x_j-z_j)^2)

   over generators g: the parts that are not multiplied out any further. With MC_GAUSSIANS, Gaussians of fixed width are
   kept as exponents w, so that rbf(gamma=1)^2 and rbf(gamma=2) are the same monomial; with MC_GENERATORS they are
   generators like any other. With MC_UNFOLDED a Gaussian is exp(2 gamma <x,z>) times the weight exp(-gamma |x|^2)
   exp(-gamma |z|^2); the exponent of such weights is a generator of its own, whose rate may have any sign. With
   MC_COLUMN_POWERS inner products are written column by column, and a monomial carries a product of powers of x_j and
   z_j. All numbers are intervals that hold the exact ones; like monomials are merged only when
   their exponents are single points and equal. The tests at the end are the side conditions of the rules that
   argue about sums with negative terms. They never say yes wrongly. */
#ifndef MC_KERNEL_PROOF_EXPAND_H
#define MC_KERNEL_PROOF_EXPAND_H

#include "kernel/proof/term.h"

enum { MC_GENERATORS_MAX = 8, MC_MONOMIALS_MAX = 256, MC_WIDTHS_MAX = 16, MC_COLUMN_POWER_MAX = 100 };
/* comparisons of monomials that one proof, and one check, may spend: some tenths of a second */
enum { MC_EXPAND_WORK = 5000000 };

typedef struct mc_monomial {
    mc_interval factor;
    int power[MC_GENERATORS_MAX];
    mc_interval rate[MC_GENERATORS_MAX];
    mc_interval width;                          /* of the Gaussian over all columns */
    mc_interval widths[MC_WIDTHS_MAX];          /* of those over single columns, on top of it */
    uint8_t x[MC_WIDTHS_MAX], z[MC_WIDTHS_MAX]; /* powers of the columns of x and z */
} mc_monomial;

typedef struct mc_expansion {
    int generators, count;
    const mc_term *generator[MC_GENERATORS_MAX];
    bool weight[MC_GENERATORS_MAX]; /* its exponential is f(x) f(z), whatever the rate */
    int64_t listed;                 /* MC_COLUMN_POWERS: columns that are apart */
    /* MC_COLUMN_POWERS: functions of the row that are no polynomials stand for further columns, the last one first */
    int functions;
    const mc_function *function[MC_WIDTHS_MAX];
    const mc_node *function_view[MC_WIDTHS_MAX];
    mc_monomial *monomial; /* count of them */
    bool whole;            /* false: too large to multiply out; nothing may be concluded */
} mc_expansion;

/* The last three write functions of a kernel as the first terms of their power series and a remainder, which is a
   generator: MC_TAYLOR over generators, with the columns apart that the expression singles out, MC_TAYLOR_GAUSSIANS
   over Gaussians, MC_POLAR over norms and cosines. */
typedef enum mc_expand_mode {
    MC_GENERATORS,
    MC_GAUSSIANS,
    MC_UNFOLDED,
    MC_COLUMN_POWERS,
    MC_TAYLOR,
    MC_TAYLOR_GAUSSIANS,
    MC_POLAR
} mc_expand_mode;

/* For rows of d columns, 0: of any number that the term allows. *work is what may be spent, lowered by what was; when
   it ends the expansion is not whole. Terms that must be made (a generator seen through columns) go to the pool. Free
   with mc_expansion_close, also after a failure. */
mercer_status mc_expand_term(mc_pool *pool, const mc_term *term, mc_expand_mode mode, int64_t d, int64_t *work,
                             mc_expansion *out);
/* The same in one of the last three modes, with terms up to the power `order`. */
mercer_status mc_expand_taylor_term(mc_pool *pool, const mc_term *term, mc_expand_mode mode, int order, int64_t d,
                                    int64_t *work, mc_expansion *out);
/* The forms in which a sum is tried: with the terms up to so many powers. Those of two generators may grow large. */
typedef struct mc_taylor_form {
    mc_expand_mode mode;
    int order;
} mc_taylor_form;
enum { MC_TAYLOR_FORMS = 15 };
extern const mc_taylor_form mc_taylor_forms[MC_TAYLOR_FORMS];
/* It is a kernel when the generators that are left are: by one of the tests below. */
bool mc_taylor_settles(const mc_expansion *e, mc_expand_mode mode, int64_t d);
void mc_expansion_close(mc_expansion *e);
/* The generator occurs in some monomial, and must be a kernel: the exponent of a weight need not be. */
bool mc_expansion_uses(const mc_expansion *e, int generator);
bool mc_monomial_is_constant(const mc_monomial *m);
bool mc_has_column_powers(const mc_monomial *m);
bool mc_same_column_powers(const mc_monomial *a, const mc_monomial *b);
void mc_expansion_print(const mc_expansion *e, mc_text *out);

/* No monomial has a negative factor, rate or width. sign 1: of the expression; -1: of minus the expression. The
   constant monomial is left out of account when any_constant is set. */
bool mc_expansion_nonnegative(const mc_expansion *e, int sign, bool any_constant);
/* As a power series in one of the generators, with what multiplies it apart, it has no negative coefficient. *generator
   says in which. */
bool mc_expansion_series(const mc_expansion *e, int *generator);
/* Every subtracted Gaussian is outweighed in the Fourier domain, at every frequency, on R^d; d 0: on every R^d. */
bool mc_expansion_gaussians(const mc_expansion *e, int64_t d);
/* spectra.c: the same for Gaussians, exponential, matern, rq, laplacian and periodic of fixed numbers. */
bool mc_expansion_spectra(const mc_expansion *e, int64_t d);
/* As a power series in cosine, with what multiplies it apart, it has no negative Gegenbauer coefficient on the sphere
   of R^d. */
bool mc_expansion_sphere(const mc_expansion *e, int64_t d);
/* v <- t v for a sum of v_k P_k, k <= degree, of Gegenbauer's polynomials of R^d divided by their values at 1. */
void mc_multiply_by_cosine(mc_interval *v, int degree, int64_t d);
/* Of t^n in arccos of this order on unit vectors. */
mc_interval mc_arccos_coefficient(int order, int n);
/* f = a |x|^p, p whole. */
bool mc_power_of_norm(const mc_function *f, mc_interval *a, int *p);
/* MC_COLUMN_POWERS: apart from powers of columns every group of monomials has a matrix over these powers that is
   positive semidefinite, by exact elimination. */
mercer_status mc_expansion_forms(mercer_ctx *ctx, const mc_expansion *e, bool *holds);

#endif
