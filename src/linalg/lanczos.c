/* lanczos.c: Lanczos with full reorthogonalisation (Paige 1970; Parlett, The Symmetric Eigenvalue Problem, chapter 13).

   From a unit q_1, random or given:  v = A q_k;  a_k = q_k'v;  v <- v - Q(Q'v), twice;  b_k = |v|;  q_k+1 = v / b_k.
   T = tridiag(b, a, b) = Q'AQ. Its extreme eigenvalues close in on those of A from inside; for a Ritz pair (theta, s)
   of T the residual |A Q s - theta Q s| is b_k |s_k|, and some eigenvalue of A is that near to theta. */
#include "linalg/lanczos.h"
#include "linalg/block_vectors.h"
#include "backend/blas.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/workspace.h"
#include <math.h>
#include <string.h>

typedef struct lanczos {
    int64_t n, k, capacity;
    double *Q, *v; /* Q: capacity vectors of n, one after the other */
    double *a, *b, *T, *w;
} lanczos;

static void subtract_scaled(int64_t n, double c, const double *x, double *y) {
    for (int64_t i = 0; i < n; i++)
        y[i] -= c * x[i];
}

static void set_start_vector(mercer_ctx *ctx, lanczos *z, const double *from) {
    mc_rng rng = mc_rng_at(ctx->options.seed, MC_STREAM_LANCZOS, 0);
    for (int64_t i = 0; i < z->n; i++)
        z->Q[i] = from ? from[i] : mc_rng_normal(&rng);
    const double length = sqrt(mc_dot(z->n, z->Q, z->Q));
    for (int64_t i = 0; i < z->n; i++)
        z->Q[i] /= length;
}

/* The k-th column of T, and the next direction in v. */
static mercer_status take_lanczos_step(mercer_ctx *ctx, const mc_matrix *A, lanczos *z) {
    const int64_t n = z->n, k = z->k++;
    const double *q = z->Q + k * n;
    MC_TRY(A->apply(ctx, A->self, 1, q, z->v));
    z->a[k] = mc_dot(n, q, z->v);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j <= k; j++)
            subtract_scaled(n, mc_dot(n, z->Q + j * n, z->v), z->Q + j * n, z->v);
    z->b[k] = sqrt(mc_dot(n, z->v, z->v));
    return MERCER_OK;
}

/* The ends of T's spectrum and the residual of the low one. */
static mercer_status extreme_ritz_values(mercer_ctx *ctx, lanczos *z, mc_spectrum *out) {
    const int k = (int)z->k, work_size = (int)(1 + 6 * z->capacity + 2 * z->capacity * z->capacity),
              counts_size = (int)(3 + 5 * z->capacity);
    double *U = z->T, *rest = U + z->capacity * z->capacity;
    int *counts = (int *)(void *)(rest + work_size), info = 0;
    memset(U, 0, (size_t)(k * k) * sizeof *U);
    for (int j = 0; j < k; j++) {
        U[j + j * k] = z->a[j];
        if (j + 1 < k)
            U[j + 1 + j * k] = z->b[j];
    }
    const mc_region region = mc_blas_begin();
    dsyevd_("V", "L", &k, U, &k, z->w, rest, &work_size, counts, &counts_size, &info, 1, 1);
    mc_blas_end(region);
    if (info)
        return mc_fail(ctx, MERCER_NUMERIC, "lanczos: LAPACK's dsyevd did not converge (info %d)", info);
    *out = (mc_spectrum){.low = z->w[0], .high = z->w[k - 1], .error = z->b[k - 1] * fabs(U[k - 1]), .steps = k};
    return MERCER_OK;
}

static bool has_converged(const lanczos *z, const mc_spectrum *s) {
    const double scale = fmax(fabs(s->low), fabs(s->high));
    return s->error <= 1e-4 * fabs(s->low) || s->error <= 0x1p-52 * (double)z->n * scale
           || z->b[z->k - 1] <= 0x1p-50 * scale;
}

static mercer_status iterate_lanczos(mercer_ctx *ctx, const mc_matrix *A, const double *from, lanczos *z,
                                     mc_spectrum *out) {
    for (set_start_vector(ctx, z, from);;) {
        MC_TRY(take_lanczos_step(ctx, A, z));
        if (z->k % 8 == 0 || z->k == z->capacity || z->b[z->k - 1] == 0) {
            MC_TRY(extreme_ritz_values(ctx, z, out));
            if (z->k == z->capacity || has_converged(z, out))
                return MERCER_OK;
        }
        double *next = z->Q + z->k * z->n;
        for (int64_t i = 0; i < z->n; i++)
            next[i] = z->v[i] / z->b[z->k - 1];
    }
}

mercer_status mc_lanczos_from(mercer_ctx *ctx, const mc_matrix *A, const double *from, int64_t steps,
                              mc_spectrum *out) {
    lanczos z = {.n = A->n, .capacity = steps < A->n ? steps : A->n};
    const int64_t m = z.capacity, small = m * m + 1 + 6 * m + 2 * m * m + 3 + 5 * m;
    mc_work work;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(z.Q, (m + 1) * z.n), MC_SLICE(z.a, m), MC_SLICE(z.b, m),
                          MC_SLICE(z.w, m), MC_SLICE(z.T, small)));
    z.v = z.Q + m * z.n;
    const mercer_status status = iterate_lanczos(ctx, A, from, &z, out);
    mc_work_close(&work);
    return status;
}

mercer_status mc_lanczos_spectrum(mercer_ctx *ctx, const mc_matrix *A, int64_t steps, mc_spectrum *out) {
    return mc_lanczos_from(ctx, A, NULL, steps, out);
}
