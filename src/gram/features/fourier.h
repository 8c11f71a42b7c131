/* fourier.h: random Fourier features: k(x, z) ~ mass/count sum_j cos(<omega_j, x - z>) = mass/count <psi(x), psi(z)>,
   with psi(x) = (cos <omega_1, x>, ..., cos <omega_count, x>, sin <omega_1, x>, ..., sin <omega_count, x>). */
#ifndef MC_GRAM_FEATURES_FOURIER_H
#define MC_GRAM_FEATURES_FOURIER_H

#include "kernel/language/kernel.h"

typedef struct mc_fourier {
    int64_t d, count;
    double mass;
    double *omega; /* d x count: the frequencies of one column of the data side by side */
} mc_fourier;

size_t mc_fourier_bytes(int64_t d, int64_t count);
/* count frequencies of a stationary kernel bound to d columns; an error names the part that is not stationary. */
mercer_status mc_fourier_open(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, uint64_t seed, int64_t count,
                              mc_fourier **out);
/* Frequencies that were kept: the first half of the rows of dense data. */
mercer_status mc_fourier_from_rows(mercer_ctx *ctx, const mercer_data *rows, mc_fourier **out);
void mc_fourier_close(mc_fourier *f);
/* psi of rows begin .. end - 1 of x: (end - begin) x 2 count doubles, row-major. */
mercer_status mc_fourier_rows(mercer_ctx *ctx, const mc_fourier *f, const mercer_data *x, int64_t begin, int64_t end,
                              double *out);

#endif
