/* eigen.c: all eigenvalues and eigenvectors, and the products with them. Large matrices become tridiagonal on all
   threads (tridiagonal.c), LAPACK's divide and conquer (dstedc; Cuppen 1981) solves that on one, and the way back is on
   all threads again; small ones go to LAPACK whole. About 9 n^3 operations. */
#include "linalg/eigen.h"
#include "backend/blas.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/tridiagonal.h"
#include <math.h>
#include <string.h>

enum {
    COLUMNS = 128, /* of the result, to a chunk */
    LARGE = 256    /* the order from which on threads pay */
};

static int64_t reals(int64_t n) {
    return 1 + 6 * n + 2 * n * n;
}

static int64_t integers(int64_t n) {
    return 3 + 5 * n;
}

size_t mc_eigen_bytes(int64_t n) {
    return mc_work_need(reals(n), sizeof(double)) + mc_work_need(integers(n), sizeof(int));
}

static mercer_status not_converged(mercer_ctx *ctx, int64_t n, int info) {
    return mc_fail(ctx, MERCER_NUMERIC,
                   "eigen: LAPACK's divide and conquer did not converge on a matrix of order %lld (info %d)",
                   (long long)n, info);
}

static mercer_status decompose_small(mercer_ctx *ctx, int64_t n, double *A, double *w, double *room, int *counts) {
    const int order = (int)n, room_size = (int)reals(n), counts_size = (int)integers(n);
    int info = 0;
    const mc_region region = mc_blas_begin();
    dsyevd_("V", "L", &order, A, &order, w, room, &room_size, counts, &counts_size, &info, 1, 1);
    mc_blas_end(region);
    return info ? not_converged(ctx, n, info) : MERCER_OK;
}

/* The power of two that brings the largest entry near 1, where products of entries could leave the range; 1 otherwise.
   */
static double tame(int64_t n, double *A) {
    double most = 0;
    int power;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            most = fmax(most, fabs(A[j * n + i]));
    if (most == 0 || (most < 0x1p400 && most > 0x1p-400))
        return 1;
    frexp(most, &power);
    for (int64_t j = 0; j < n * n; j++)
        A[j] = ldexp(A[j], -power);
    return ldexp(1, power);
}

/* room: Z, then what dstedc needs, which serves the other two first and last; then the subdiagonal and the reflections.
   */
static mercer_status decompose_large(mercer_ctx *ctx, int64_t n, double *A, double *w, double *Z, int *counts) {
    double *beside = Z + n * n, *below = beside + 1 + 4 * n + n * n, *tau = below + n;
    const int order = (int)n, size = (int)(1 + 4 * n + n * n), counts_size = (int)integers(n);
    const double scale = tame(n, A);
    int info = 0;
    MC_TRY(mc_tridiagonal(ctx, n, A, w, below, tau, beside));
    const mc_region region = mc_blas_begin();
    dstedc_("I", &order, w, below, Z, &order, beside, &size, counts, &counts_size, &info, 1);
    mc_blas_end(region);
    if (info)
        return not_converged(ctx, n, info);
    MC_TRY(mc_tridiagonal_back(ctx, n, A, tau, Z, beside));
    memcpy(A, Z, (size_t)(n * n) * sizeof *A);
    for (int64_t i = 0; i < n; i++)
        w[i] *= scale;
    return MERCER_OK;
}

static mercer_status decompose(mercer_ctx *ctx, int64_t n, double *A, double *w, mc_work *work) {
    double *room = mc_work_take(work, reals(n), sizeof *room);
    int *counts = mc_work_take(work, integers(n), sizeof *counts);
    const bool large = n >= LARGE && mc_tridiagonal_room(n) <= 1 + 4 * n + n * n;
    return large ? decompose_large(ctx, n, A, w, room, counts) : decompose_small(ctx, n, A, w, room, counts);
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

mercer_status mc_eigenvalues(mercer_ctx *ctx, int64_t n, double *A, double *w) {
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work,
                        2 * mc_work_need(n, sizeof(double)) + mc_work_need(mc_tridiagonal_room(n), sizeof(double))));
    double *below = mc_work_take(&work, n, sizeof *below), *tau = mc_work_take(&work, n, sizeof *tau);
    double *room = mc_work_take(&work, mc_tridiagonal_room(n), sizeof *room);
    const double scale = tame(n, A);
    const int order = (int)n;
    int info = 0;
    mercer_status status = mc_tridiagonal(ctx, n, A, w, below, tau, room);
    if (!status)
        dsterf_(&order, w, below, &info);
    if (info)
        status =
            mc_fail(ctx, MERCER_NUMERIC, "eigen: LAPACK's dsterf did not converge on a matrix of order %lld (info %d)",
                    (long long)n, info);
    for (int64_t i = 0; i < n; i++)
        w[i] *= scale;
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
