/* spectral_density.h: frequencies drawn from the spectral measure of a stationary kernel. */
#ifndef MC_GRAM_FEATURES_SPECTRAL_DENSITY_H
#define MC_GRAM_FEATURES_SPECTRAL_DENSITY_H

#include "kernel/language/kernel.h"

/* k(x, z) = mass E cos(<omega, x - z>): the mass is k(x, x). MERCER_INVALID, with the part that stands in the way, when
   the expression is not made of rbf, laplacian, exponential, matern, rq, periodic and positive constants by sums,
   products, whole powers, exp, normalize and columns. */
mercer_status mc_spectrum_mass(mercer_ctx *ctx, const mercer_kernel *kernel, double *mass);
/* omega: count x d, row by row. The same frequencies for the same seed; those of an isotropic part are orthogonal
   within blocks of as many as it has columns, which lowers the error of the mean. Ask mc_spectrum_mass first. */
mercer_status mc_spectrum_draw(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, uint64_t seed, int64_t count,
                               double *omega);

#endif
