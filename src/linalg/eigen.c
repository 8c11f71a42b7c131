/* eigen.c: all eigenvalues and eigenvectors, or the largest. Large matrices become tridiagonal on all threads
   (tridiagonal.c), LAPACK solves that on one, all of it by divide and conquer (dstedc; Cuppen 1981), the largest by
   relatively robust representations (dstemr; Dhillon and Parlett 2004), and the way back is on all threads again; small
   ones go to LAPACK whole. All of them take about 9 n^3 operations, a few of the largest 4/3 n^3. */
#include "linalg/eigen.h"
#include "backend/blas.h"
#include "backend/device_dense.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/tridiagonal.h"
#include <math.h>
#include <string.h>

enum { LARGE = 256 }; /* the order from which on threads pay */

static int64_t real_workspace_size(int64_t n) {
    return 1 + 6 * n + 2 * n * n;
}

static int64_t integer_workspace_size(int64_t n) {
    return 3 + 5 * n;
}

typedef struct eigen_scratch {
    int64_t n;
    double *reals;
    int *integers;
} eigen_scratch;

static void lay_out_scratch(mc_work *work, void *self) {
    eigen_scratch *s = self;
    s->reals = mc_work_take(work, real_workspace_size(s->n), sizeof *s->reals);
    s->integers = mc_work_take(work, integer_workspace_size(s->n), sizeof *s->integers);
}

size_t mc_eigen_bytes(int64_t n) {
    return mc_slices_bytes(lay_out_scratch, &(eigen_scratch){.n = n});
}

static mercer_status not_converged(mercer_ctx *ctx, int64_t n, int info) {
    return mc_fail(ctx, MERCER_NUMERIC, "eigen: LAPACK did not converge on a matrix of order %lld (info %d)",
                   (long long)n, info);
}

static mercer_status decompose_small(mercer_ctx *ctx, mc_dense A, double *w, double *scratch, int *counts) {
    const int64_t n = A.rows;
    const int order = (int)n, ld = (int)A.ld, scratch_size = (int)real_workspace_size(n),
              counts_size = (int)integer_workspace_size(n);
    int info = 0;
    const mc_region region = mc_blas_begin();
    dsyevd_("V", "L", &order, A.a, &ld, w, scratch, &scratch_size, counts, &counts_size, &info, 1, 1);
    mc_blas_end(region);
    return info ? not_converged(ctx, n, info) : MERCER_OK;
}

/* The power of two that brings the largest entry near 1, where products of entries could leave the range; 1 otherwise.
   */
static double scale_into_range(mc_dense A) {
    const int64_t n = A.rows;
    double most = 0, *a = A.a;
    int power;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            most = fabs(a[j * A.ld + i]) > most ? fabs(a[j * A.ld + i]) : most;
    if (most == 0 || (most < 0x1p400 && most > 0x1p-400))
        return 1;
    frexp(most, &power);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            a[j * A.ld + i] = ldexp(a[j * A.ld + i], -power);
    return ldexp(1, power);
}

/* scratch: Z, then what dstedc needs, which serves the other two first and last; then the subdiagonal and the
   reflections. */
static mercer_status decompose_large(mercer_ctx *ctx, mc_dense A, double *w, double *Z, int *counts) {
    const int64_t n = A.rows;
    double *beside = Z + n * n, *below = beside + 1 + 4 * n + n * n, *tau = below + n;
    const int order = (int)n, size = (int)(1 + 4 * n + n * n), counts_size = (int)integer_workspace_size(n);
    const double scale = scale_into_range(A);
    int info = 0;
    MC_TRY(mc_sytrd(ctx, A, w, below, tau, beside));
    const mc_region region = mc_blas_begin();
    dstedc_("I", &order, w, below, Z, &order, beside, &size, counts, &counts_size, &info, 1);
    mc_blas_end(region);
    if (info)
        return not_converged(ctx, n, info);
    MC_TRY(mc_ormtr(ctx, A, tau, mc_column_major(Z, n, n, n), beside));
    for (int64_t j = 0; j < n; j++)
        memcpy((double *)A.a + j * A.ld, Z + j * n, (size_t)n * sizeof *Z);
    for (int64_t i = 0; i < n; i++)
        w[i] *= scale;
    return MERCER_OK;
}

static mercer_status decompose_here(mercer_ctx *ctx, mc_dense A, double *w) {
    const int64_t n = A.rows;
    const bool large = n >= LARGE && mc_tridiagonal_workspace(n) <= 1 + 4 * n + n * n;
    eigen_scratch s = {.n = n};
    mc_work work;
    MC_TRY(mc_work_lay(ctx, &work, lay_out_scratch, &s));
    const mercer_status status =
        large ? decompose_large(ctx, A, w, s.reals, s.integers) : decompose_small(ctx, A, w, s.reals, s.integers);
    mc_work_close(&work);
    return status;
}

static mercer_status check_layout(mercer_ctx *ctx, mc_dense A) {
    return A.layout == MC_COLUMN_MAJOR && A.dtype == MERCER_F64
               ? MERCER_OK
               : mc_fail(ctx, MERCER_INVALID, "eigen: the matrix must lie by columns, in double precision");
}

/* ---- On a device ---- */

/* The k largest, as many as U has columns. */
static mercer_status fetch_largest(mercer_ctx *ctx, mc_dense there, mc_dense values, double scale, double *w,
                                   mc_dense U) {
    const int64_t n = there.rows, k = U.columns;
    MC_TRY(mc_dense_copy(ctx, mc_submatrix(values, n - k, 0, k, 1), mc_column_major(w, k, 1, k)));
    for (int64_t i = 0; i < k; i++)
        w[i] *= scale;
    return mc_dense_copy(ctx, mc_submatrix(there, 0, n - k, n, k), U);
}

static mercer_status run_on_device(mercer_ctx *ctx, mc_device *device, mc_dense A, double scale, double *w,
                                   mc_dense U) {
    const int64_t n = A.rows;
    mc_dense there = {0}, values = {0};
    int64_t info = 0;
    mercer_status status = mc_dense_allocate(ctx, device, MC_COLUMN_MAJOR, MERCER_F64, n, n, &there);
    MC_THEN(status, mc_dense_allocate(ctx, device, MC_COLUMN_MAJOR, MERCER_F64, n, 1, &values));
    MC_THEN(status, mc_dense_copy(ctx, A, there));
    const mc_device_square square = {.routine = MC_ROUTINE_SYEVD,
                                     .n = n,
                                     .A = {MERCER_F64, (mc_address)(uintptr_t)there.a, n},
                                     .values = (mc_address)(uintptr_t)values.a};
    MC_THEN(status, mc_device_run(ctx, device, &square, &info));
    MC_THEN(status, info ? not_converged(ctx, n, (int)info) : MERCER_OK);
    MC_THEN(status, fetch_largest(ctx, there, values, scale, w, U));
    mc_dense_free(&values);
    mc_dense_free(&there);
    return status;
}

static void undo_scaling(mc_dense A, double scale) {
    for (int64_t i = 0; i < A.columns * A.ld && scale != 1; i++)
        ((double *)A.a)[i] *= scale;
}

/* Where the context has a device that is worth the way, and room on it; else A and *done stay as they are. */
static mercer_status decompose_on_device(mercer_ctx *ctx, mc_dense A, double *w, mc_dense U, bool *done) {
    mc_device *device = NULL;
    const double n = (double)A.rows;
    MC_TRY(mc_device_for_algebra(ctx, n * n * n, 4 * n * n * sizeof(double), &device));
    if (!device)
        return MERCER_OK;
    const double scale = scale_into_range(A);
    const mercer_status status = run_on_device(ctx, device, A, scale, w, U);
    *done = !status;
    if (!status)
        return MERCER_OK;
    undo_scaling(A, scale);
    return mc_device_leaves_it(ctx, device, status) ? MERCER_OK : status;
}

/* ---- All of them ---- */

mercer_status mc_syevd(mercer_ctx *ctx, mc_dense A, double *w) {
    const int64_t n = A.rows;
    MC_TRY(check_layout(ctx, A));
    if (n > MC_EIGEN_LARGEST)
        return mc_fail(ctx, MERCER_INVALID, "eigen: at most %d rows can be decomposed, got %lld", (int)MC_EIGEN_LARGEST,
                       (long long)n);
    bool done = false;
    MC_TRY(decompose_on_device(ctx, A, w, A, &done));
    return done ? MERCER_OK : decompose_here(ctx, A, w);
}

/* ---- The largest ---- */

typedef struct largest {
    int64_t n, k;
    double *diagonal, *below, *tau, *all; /* n each; all: what dstemr finds, which may touch n places */
    double *scratch;
    int *counts; /* 2k, then 10n */
} largest;

static bool is_large(int64_t n) {
    return n >= LARGE;
}

/* Of the reduction, of dstemr and of the way back, one after the other. */
static int64_t largest_scratch(int64_t n, int64_t k) {
    const int64_t small = 64 * (n + k) + 65 * 64, threads = mc_tridiagonal_workspace(n);
    return is_large(n) && threads > small ? threads : small;
}

static void lay_out_largest(mc_work *work, void *self) {
    largest *l = self;
    l->diagonal = mc_work_take(work, l->n, sizeof(double));
    l->below = mc_work_take(work, l->n, sizeof(double));
    l->tau = mc_work_take(work, l->n, sizeof(double));
    l->all = mc_work_take(work, l->n, sizeof(double));
    l->scratch = mc_work_take(work, largest_scratch(l->n, l->k), sizeof(double));
    l->counts = mc_work_take(work, 2 * l->k + 10 * l->n, sizeof(int));
}

size_t mc_eigen_largest_bytes(int64_t n, int64_t k) {
    return mc_slices_bytes(lay_out_largest, &(largest){.n = n, .k = k});
}

static mercer_status reduce_to_tridiagonal(mercer_ctx *ctx, const largest *l, mc_dense A) {
    const int order = (int)l->n, ld = (int)A.ld, size = (int)(64 * l->n);
    int info = 0; /* only a wrong argument sets it */
    if (is_large(l->n))
        return mc_sytrd(ctx, A, l->diagonal, l->below, l->tau, l->scratch);
    const mc_region region = mc_blas_begin();
    dsytrd_("L", &order, A.a, &ld, l->diagonal, l->below, l->tau, l->scratch, &size, &info, 1);
    mc_blas_end(region);
    return MERCER_OK;
}

static mercer_status solve_tridiagonal(mercer_ctx *ctx, const largest *l, mc_dense U) {
    const int order = (int)l->n, first = (int)(l->n - l->k + 1), ld = (int)U.ld, wanted = (int)l->k;
    const int size = (int)(18 * l->n), counts_size = (int)(10 * l->n);
    const double none = 0;
    int found = 0, careful = 1, info = 0;
    const mc_region region = mc_blas_begin();
    dstemr_("V", "I", &order, l->diagonal, l->below, &none, &none, &first, &order, &found, l->all, U.a, &ld, &wanted,
            l->counts, &careful, l->scratch, &size, l->counts + 2 * l->k, &counts_size, &info, 1, 1);
    mc_blas_end(region);
    return info == 0 && found == wanted ? MERCER_OK : not_converged(ctx, l->n, info);
}

static mercer_status turn_back(mercer_ctx *ctx, const largest *l, mc_dense A, mc_dense U) {
    const int order = (int)l->n, columns = (int)l->k, lda = (int)A.ld, ldu = (int)U.ld,
              size = (int)largest_scratch(l->n, l->k);
    int info = 0;
    if (is_large(l->n))
        return mc_ormtr(ctx, A, l->tau, U, l->scratch);
    const mc_region region = mc_blas_begin();
    dormtr_("L", "L", "N", &order, &columns, A.a, &lda, l->tau, U.a, &ldu, l->scratch, &size, &info, 1, 1, 1);
    mc_blas_end(region);
    return MERCER_OK;
}

mercer_status mc_syevr_largest(mercer_ctx *ctx, mc_dense A, double *w, mc_dense U) {
    largest l = {.n = A.rows, .k = U.columns};
    mc_work work;
    bool done = false;
    MC_TRY(check_layout(ctx, A));
    MC_TRY(decompose_on_device(ctx, A, w, U, &done));
    if (done)
        return MERCER_OK;
    MC_TRY(mc_work_lay(ctx, &work, lay_out_largest, &l));
    const double scale = scale_into_range(A);
    mercer_status status = reduce_to_tridiagonal(ctx, &l, A);
    MC_THEN(status, solve_tridiagonal(ctx, &l, U));
    MC_THEN(status, turn_back(ctx, &l, A, U));
    for (int64_t i = 0; i < l.k && !status; i++)
        w[i] = l.all[i] * scale;
    mc_work_close(&work);
    return status;
}

mercer_status mc_symmetric_eigenvalues(mercer_ctx *ctx, mc_dense A, double *w) {
    const int64_t n = A.rows;
    MC_TRY(check_layout(ctx, A));
    mc_work work;
    double *below = NULL, *tau = NULL, *scratch = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(below, n), MC_SLICE(tau, n),
                          MC_SLICE(scratch, mc_tridiagonal_workspace(n))));
    const double scale = scale_into_range(A);
    const int order = (int)n;
    int info = 0;
    mercer_status status = mc_sytrd(ctx, A, w, below, tau, scratch);
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

double mc_eigen_cutoff(int64_t n, const double *w) {
    return (double)n * 0x1p-52 * fmax(fabs(w[0]), fabs(w[n - 1]));
}
