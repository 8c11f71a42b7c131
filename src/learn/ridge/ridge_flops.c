/* ridge_flops.c: operations, counted as the code does them, in the units of plan/cost.h.

   The constants beside the powers were found by timing fits of a thousand to sixteen thousand rows on one thread. */
#include "learn/ridge/ridge_flops.h"
#include <math.h>

enum {
    SPOT = 1024, /* rows on which an approximation is measured: sampled_residual.c */
    /* rows that pivots, and the preconditioner of many landmarks, are taken from: landmarks.c, ridge_nystrom.c */
    OVERSAMPLE = 8,
    STORED = 14,    /* operations in the time of reading an entry of a stored K */
    MONOMIAL = 800, /* operations in the time of writing a feature, in all passes together */
    CHEAP = 2500    /* landmarks up to which the preconditioner is of all rows: ridge_nystrom.c */
};
static double square(const mc_ridge_size *s) {
    return (double)s->n * (double)s->n;
}

/* The triangle of K and the check. */
void mc_ridge_work_cholesky(const mc_ridge_size *s, mc_option *o) {
    o->pairs = 2 * square(s);
    o->factor = mc_factor_work((double)s->n) * (s->loo ? 2 : 1) + 2 * square(s) * (double)s->outputs;
}

/* The triangle and some steps in float; residuals in double, the last of which is the check. */
void mc_ridge_work_mixed(const mc_ridge_size *s, mc_option *o) {
    o->fast = 7 * square(s);
    o->pairs = (s->intercept ? 5 : 4) * square(s);
    o->factor = mc_factor_work((double)s->n) / 2 + 12 * square(s) * (1 + (double)s->outputs / 8);
}

void mc_ridge_work_eigen(const mc_ridge_size *s, mc_option *o) {
    o->pairs = 2.5 * square(s);
    o->eigen = mc_eigen_work((double)s->n);
}

/* Columns of K, F from them, F'F and its factor; then steps, each a product and two readings of F. K is made once where
   it is kept; elsewhere a close answer takes a second residual, and with an intercept the check is one more product. */
void mc_ridge_work_pcg(const mc_ridge_size *s, mc_option *o) {
    const double n = (double)s->n, r = (double)s->rank, t = (double)s->outputs + s->intercept;
    const bool close = s->tolerance < 1e-5;
    o->fast = s->pcg.stored ? 0 : 2 * n * r + s->steps * square(s);
    o->pairs = s->pcg.stored ? square(s) : (1 + close + s->intercept) * square(s);
    o->factor = 1.5 * n * r * r + mc_factor_work(r) + s->steps * n * r * (8 + 4 * t);
    if (s->pcg.stored)
        o->factor += s->steps * square(s) / 2 * (STORED + 4 * t);
}

/* Two passes over the features, the products, and the check; the factor and its inverse, or eigenvalues. */
void mc_ridge_work_primal(const mc_ridge_size *s, mc_option *o) {
    const double n = (double)s->n, D = s->features > 0 ? (double)s->features : 0;
    o->factor = n * D * D * (s->loo ? 2 : 1) + 2 * mc_factor_work(D) + n * D * (MONOMIAL + 4 * (double)s->outputs);
    o->eigen = s->lambda > 0 ? 0 : mc_eigen_work(D);
}

/* Pivots from a pool, the square of the landmarks and its factor, features of the rows and their products; then two
   products with K_xz for the right-hand sides, three times two for a step and two residuals, one for the values. */
void mc_ridge_work_nystrom(const mc_ridge_size *s, mc_option *o) {
    const double n = (double)s->n, m = (double)s->marks, pool = fmin(n, OVERSAMPLE * m), rows = m <= CHEAP ? n : pool;
    o->fast = 2 * pool * m;
    o->pairs = 2 * (m * m + rows * m + 8 * n * m + SPOT * n);
    o->factor = 0.6 * pool * m * m + 2.8 * rows * m * m + 5 * mc_factor_work(m);
}

void mc_ridge_work_fourier(const mc_ridge_size *s, mc_option *o) {
    const double n = (double)s->n, m = 2 * (double)s->frequencies;
    o->pairs = 2 * SPOT * n;
    o->waves = n * m;
    o->factor = 1.7 * n * m * m + mc_factor_work(m) + 2 * n * m * ((double)s->d + 2 * (double)s->outputs);
}
