/* dense.h: matrices written out: what the tests of methods that read a few columns work on. */
#ifndef TEST_DENSE_H
#define TEST_DENSE_H

#include "base/rng.h"
#include "gram/lowrank/lowrank.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>

typedef struct dense {
    int64_t n;
    double *K;
} dense;

static inline mc_matrix matrix_of(const dense *m) {
    return mc_matrix_square(m->n, MERCER_F64, m->K, m->n, NULL);
}

/* exp(-gamma |x - z|^2) of n points in the plane, the last `copies` of them equal to the first one. */
static inline dense gaussian(int64_t n, double gamma, int64_t copies) {
    double *x = calloc((size_t)(2 * n), sizeof *x);
    dense m = {.n = n, .K = calloc((size_t)(n * n), sizeof(double))};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int64_t i = 0; i < 2 * n; i++)
        x[i] = i < 2 * (n - copies) ? mc_rng_normal(&rng) : x[i % 2];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            m.K[i * n + j] = exp(-gamma * (pow(x[2 * i] - x[2 * j], 2) + pow(x[2 * i + 1] - x[2 * j + 1], 2)));
    free(x);
    return m;
}

/* G G' of a random n x k matrix G. */
static inline dense of_rank(int64_t n, int64_t k) {
    double *G = calloc((size_t)(n * k), sizeof *G);
    dense m = {.n = n, .K = calloc((size_t)(n * n), sizeof(double))};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    for (int64_t i = 0; i < n * k; i++)
        G[i] = mc_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t c = 0; c < k; c++)
                m.K[i * n + j] += G[i * k + c] * G[j * k + c];
    free(G);
    return m;
}

/* (F F')_ij. */
static inline double factor_at(const mc_lowrank *f, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < f->rank; k++)
        sum += (double)mc_lowrank_column(f, k)[i] * (double)mc_lowrank_column(f, k)[j];
    return sum;
}

#endif
