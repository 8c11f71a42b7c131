/* eigen.c: LAPACK's divide-and-conquer (dsyevd; Cuppen 1981) and the products with the eigenvectors. About 9 n^3
   operations, of which LAPACK does half at the speed of memory. */
#include "solve/eigen.h"
#include "backend/blas.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/work.h"
#include <math.h>

enum { COLUMNS = 128 }; /* of the result, to a chunk */

static int64_t reals(int64_t n) {
    return 1 + 6 * n + 2 * n * n;
}

static int64_t integers(int64_t n) {
    return 3 + 5 * n;
}

size_t mc_eigen_bytes(int64_t n) {
    return mc_work_need(reals(n), sizeof(double)) + mc_work_need(integers(n), sizeof(int));
}

static mercer_status decompose(mercer_ctx *ctx, int64_t n, double *A, double *w, mc_work *work) {
    double *room = mc_work_take(work, reals(n), sizeof *room);
    int *counts = mc_work_take(work, integers(n), sizeof *counts);
    const int order = (int)n, room_size = (int)reals(n), counts_size = (int)integers(n);
    int info = 0;
    const mc_region region = mc_blas_begin();
    dsyevd_("V", "L", &order, A, &order, w, room, &room_size, counts, &counts_size, &info, 1, 1);
    mc_blas_end(region);
    if (info)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "eigen: LAPACK's dsyevd did not converge on a matrix of order %lld (info %d)", (long long)n,
                       info);
    return MERCER_OK;
}

mercer_status mc_eigen(mercer_ctx *ctx, int64_t n, double *A, double *w) {
    if (n > MC_EIGEN_LARGEST)
        return mc_fail(ctx, MERCER_INVALID, "eigen: at most %d rows can be decomposed, got %lld", (int)MC_EIGEN_LARGEST,
                       (long long)n);
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, mc_eigen_bytes(n)));
    const mercer_status status = decompose(ctx, n, A, w, &work);
    mc_work_close(&work);
    return status;
}

/* A row-major n x t matrix is the column-major t x n one that BLAS sees: G' = X' U, X' = G' U'. */
typedef struct product {
    int64_t n, t;
    const double *U, *from;
    double *to;
    bool back;
} product;

static void multiply_columns(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const product *p = arg;
    const int t = (int)p->t, n = (int)p->n, columns = (int)(end - begin);
    const double one = 1, zero = 0, *block = p->U + (p->back ? begin : begin * p->n);
    dgemm_("N", p->back ? "T" : "N", &t, &columns, &n, &one, p->from, &t, block, &n, &zero, p->to + begin * p->t, &t, 1,
           1);
}

static mercer_status multiply(mercer_ctx *ctx, product p) {
    if (p.t == 0)
        return MERCER_OK;
    const mc_region region = mc_blas_begin();
    const mercer_status status = mc_for(ctx, p.n, COLUMNS, multiply_columns, &p);
    mc_blas_end(region);
    return status;
}

mercer_status mc_eigen_forward(mercer_ctx *ctx, int64_t n, const double *U, int64_t t, const double *X, double *G) {
    return multiply(ctx, (product){.n = n, .t = t, .U = U, .from = X, .to = G});
}

mercer_status mc_eigen_back(mercer_ctx *ctx, int64_t n, const double *U, int64_t t, const double *G, double *X) {
    return multiply(ctx, (product){.n = n, .t = t, .U = U, .from = G, .to = X, .back = true});
}

double mc_eigen_cutoff(int64_t n, const double *w) {
    return (double)n * 0x1p-52 * fmax(fabs(w[0]), fabs(w[n - 1]));
}
