/* block_vectors.c: block dot products and updates; see block_vectors.h. */
#include "linalg/block_vectors.h"
#include "base/parallel.h"

enum { GRAIN = 4096 };

typedef struct vector_block {
    int64_t t;
    const double *a, *X, *Z;
    double *Y; /* what is written; the partial sums of a dot product, t per chunk */
} vector_block;

static void dot_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const vector_block *b = arg;
    double *part = b->Y + chunk * b->t;
    for (int64_t k = 0; k < b->t; k++)
        part[k] = 0;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < b->t; k++)
            part[k] += b->X[i * b->t + k] * b->Z[i * b->t + k];
}

int64_t mc_dot_columns_scratch(int64_t n, int64_t t) {
    return mc_chunk_count(n, GRAIN) * t;
}

mercer_status mc_dot_columns(mercer_ctx *ctx, int64_t n, int64_t t, const double *A, const double *B, double *scratch,
                             double *out) {
    vector_block b = {.t = t, .X = A, .Z = B, .Y = scratch};
    const mercer_status status = mc_for(ctx, n, GRAIN, dot_chunk, &b);
    for (int64_t k = 0; k < t; k++)
        out[k] = 0;
    for (int64_t c = 0; c < mc_chunk_count(n, GRAIN); c++)
        for (int64_t k = 0; k < t; k++)
            out[k] += scratch[c * t + k];
    return status;
}

static void axpy_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const vector_block *b = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < b->t; k++)
            b->Y[i * b->t + k] += b->a[k] * b->X[i * b->t + k];
}

mercer_status mc_axpy_columns(mercer_ctx *ctx, int64_t n, int64_t t, const double *a, const double *X, double *Y) {
    vector_block b = {.t = t, .a = a, .X = X, .Y = Y};
    return mc_for(ctx, n, GRAIN, axpy_chunk, &b);
}

static void xpay_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const vector_block *b = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < b->t; k++)
            b->Y[i * b->t + k] = b->X[i * b->t + k] + b->a[k] * b->Y[i * b->t + k];
}

mercer_status mc_xpay_columns(mercer_ctx *ctx, int64_t n, int64_t t, const double *b, const double *X, double *Y) {
    vector_block all = {.t = t, .a = b, .X = X, .Y = Y};
    return mc_for(ctx, n, GRAIN, xpay_chunk, &all);
}
