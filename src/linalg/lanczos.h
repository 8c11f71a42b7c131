/* lanczos.h: the ends of the spectrum of a symmetric operator from a few dozen products with it. */
#ifndef MC_LINALG_LANCZOS_H
#define MC_LINALG_LANCZOS_H

#include "linalg/matrix.h"

typedef struct mc_spectrum {
    /* Ritz values: low is never below the smallest eigenvalue, high never above the largest, rounding apart */
    double low, high;
    double error; /* some eigenvalue lies within this distance of low */
    int64_t steps;
} mc_spectrum;

/* At most steps products; stops early once the low end has settled or the space is exhausted. */
mercer_status mc_lanczos_spectrum(mercer_ctx *ctx, const mc_matrix *A, int64_t steps, mc_spectrum *out);
/* The same from a vector that is not 0: low is then at most its Rayleigh quotient. */
mercer_status mc_lanczos_from(mercer_ctx *ctx, const mc_matrix *A, const double *from, int64_t steps, mc_spectrum *out);

#endif
