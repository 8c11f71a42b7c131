/* checking_dense.c: dense algebra of the checking device, by BLAS and LAPACK on its own addresses. */
#include "checking_device.h"
#include "linalg/dense_ops.h"
#include "backend/blas.h"
#include <stdlib.h>
#include <string.h>

static size_t real_bytes(mercer_dtype dtype) {
    return dtype == MERCER_F64 ? sizeof(double) : sizeof(float);
}

/* rows x columns of a matrix there, all of which must lie in one block. */
static void *pointer_of(mc_device_matrix A, int64_t rows, int64_t columns) {
    const int64_t numbers = rows && columns ? (columns - 1) * A.ld + rows : 0;
    if (A.ld < rows)
        abort();
    return checking_device_pointer(A.at, (size_t)numbers * real_bytes(A.dtype));
}

static bool has_algebra(void *self, char *why) {
    (void)self, (void)why;
    return true;
}

static mc_device_fault gemm(void *self, bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha,
                            mc_device_matrix A, mc_device_matrix B, double beta, mc_device_matrix C) {
    (void)self;
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    mc_dense_host[C.dtype].gemm(ta, tb, m, n, k, alpha, pointer_of(A, ta ? k : m, ta ? m : k), A.ld,
                                pointer_of(B, tb ? n : k, tb ? k : n), B.ld, beta, pointer_of(C, m, n), C.ld);
    return MC_DEVICE_FINE;
}

static mc_device_fault syrk(void *self, bool upper, bool trans, int64_t n, int64_t k, double alpha, mc_device_matrix A,
                            double beta, mc_device_matrix C) {
    (void)self;
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    mc_dense_host[C.dtype].syrk(upper, trans, n, k, alpha, pointer_of(A, trans ? k : n, trans ? n : k), A.ld, beta,
                                pointer_of(C, n, n), C.ld);
    return MC_DEVICE_FINE;
}

static mc_device_fault trmm(void *self, bool right, bool upper, bool trans, int64_t m, int64_t n, double alpha,
                            mc_device_matrix T, mc_device_matrix B) {
    (void)self;
    const int64_t order = right ? n : m;
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    mc_dense_host[B.dtype].trmm(right, upper, trans, m, n, alpha, pointer_of(T, order, order), T.ld,
                                pointer_of(B, m, n), B.ld);
    return MC_DEVICE_FINE;
}

static mc_device_fault trsm(void *self, bool right, bool upper, bool trans, int64_t m, int64_t n, double alpha,
                            mc_device_matrix T, mc_device_matrix B) {
    (void)self;
    const int64_t order = right ? n : m;
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    mc_dense_host[B.dtype].trsm(right, upper, trans, m, n, alpha, pointer_of(T, order, order), T.ld,
                                pointer_of(B, m, n), B.ld);
    return MC_DEVICE_FINE;
}

/* A routine must get the bytes that it has asked for. */
static mc_device_fault work_bytes(void *self, const mc_device_square *square, size_t *bytes) {
    (void)self;
    *bytes = 64 + (size_t)square->n * 8;
    return checking_device_fails() ? MC_DEVICE_LOST : MC_DEVICE_FINE;
}

static int solve_eigen(int n, double *A, int ld, double *w) {
    int info = 0, lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
    double *work = malloc((size_t)lwork * sizeof *work);
    int *iwork = malloc((size_t)liwork * sizeof *iwork);
    dsyevd_("V", "L", &n, A, &ld, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    free(work);
    free(iwork);
    return info;
}

static mc_device_fault run_routine(void *self, const mc_device_square *s, mc_address work, size_t bytes,
                                   int64_t *info) {
    (void)self;
    const mc_dense_ops *ops = &mc_dense_host[s->A.dtype];
    int64_t found = 0;
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    memset(checking_device_pointer(work, bytes), 0xff, bytes);
    void *A = pointer_of(s->A, s->n, s->n);
    if (s->routine == MC_ROUTINE_POTRF)
        found = ops->potrf(s->upper, s->n, A, s->A.ld);
    else if (s->routine == MC_ROUTINE_TRTRI)
        ops->trtri(s->upper, s->n, A, s->A.ld);
    else if (s->routine == MC_ROUTINE_LAUUM)
        ops->lauum(s->upper, s->n, A, s->A.ld);
    else
        found = solve_eigen((int)s->n, A, (int)s->A.ld,
                            (double *)(void *)checking_device_pointer(s->values, (size_t)s->n * sizeof(double)));
    if (info)
        *info = found;
    return MC_DEVICE_FINE;
}

const mc_device_dense_calls checking_device_dense = {has_algebra, gemm, syrk, trmm, trsm, work_bytes, run_routine};
