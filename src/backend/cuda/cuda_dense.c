/* cuda_dense.c: dense algebra on a card, by cuBLAS and cuSOLVER, each opened when it is first wanted. */
#include "backend/cuda/cuda_device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { INFO_BYTES = 256 }; /* at the head of the workspace: LAPACK's info */

/* ---- The libraries ---- */

static bool find_triangles(device *d) {
    void *library = d->blas.library;
    return cuda_find(library, "cublasDsyrk_v2_64", &d->blas.dsyrk)
           && cuda_find(library, "cublasSsyrk_v2_64", &d->blas.ssyrk)
           && cuda_find(library, "cublasDtrmm_v2_64", &d->blas.dtrmm)
           && cuda_find(library, "cublasStrmm_v2_64", &d->blas.strmm)
           && cuda_find(library, "cublasDtrsm_v2_64", &d->blas.dtrsm)
           && cuda_find(library, "cublasStrsm_v2_64", &d->blas.strsm);
}

static bool find_routines(device *d) {
    void *library = d->solver.library;
    return cuda_find(library, "cusolverDnCreate", &d->solver.create)
           && cuda_find(library, "cusolverDnDestroy", &d->solver.destroy)
           && cuda_find(library, "cusolverDnCreateParams", &d->solver.create_params)
           && cuda_find(library, "cusolverDnDestroyParams", &d->solver.destroy_params)
           && cuda_find(library, "cusolverDnXpotrf_bufferSize", &d->solver.potrf_bytes)
           && cuda_find(library, "cusolverDnXpotrf", &d->solver.potrf)
           && cuda_find(library, "cusolverDnXtrtri_bufferSize", &d->solver.trtri_bytes)
           && cuda_find(library, "cusolverDnXtrtri", &d->solver.trtri)
           && cuda_find(library, "cusolverDnDlauum_bufferSize", &d->solver.dlauum_bytes)
           && cuda_find(library, "cusolverDnDlauum", &d->solver.dlauum)
           && cuda_find(library, "cusolverDnSlauum_bufferSize", &d->solver.slauum_bytes)
           && cuda_find(library, "cusolverDnSlauum", &d->solver.slauum)
           && cuda_find(library, "cusolverDnXsyevd_bufferSize", &d->solver.syevd_bytes)
           && cuda_find(library, "cusolverDnXsyevd", &d->solver.syevd);
}

/* why stays empty where all is well. */
static void open_solver(device *d, char *why) {
    char name[40];
    snprintf(name, sizeof name, "libcusolver.so.%d", CUSOLVER_VER_MAJOR);
    d->solver.tried = true;
    d->solver.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!d->solver.library) {
        snprintf(why, MC_DEVICE_TEXT, "%s", dlerror());
        return;
    }
    const bool found = find_routines(d) && d->solver.create(&d->solver.handle) == CUSOLVER_STATUS_SUCCESS
                       && d->solver.create_params(&d->solver.params) == CUSOLVER_STATUS_SUCCESS;
    if (!found)
        snprintf(why, MC_DEVICE_TEXT, "%s does not start", name);
}

static bool has_libraries(void *self, char *why) {
    device *d = self;
    why[0] = '\0';
    if (!cuda_open_blas(d) || !find_triangles(d)) {
        snprintf(why, MC_DEVICE_TEXT, "libcublas.so.%d is not here", CUBLAS_VER_MAJOR);
        return false;
    }
    if (!d->solver.tried)
        open_solver(d, why);
    if (!d->solver.params && !why[0])
        snprintf(why, MC_DEVICE_TEXT, "libcusolver.so.%d is not here", CUSOLVER_VER_MAJOR);
    return d->solver.params != NULL;
}

void cuda_close_solver(device *d) {
    if (cuda_enter(d) != MC_DEVICE_FINE)
        return;
    if (d->solver.params)
        d->solver.destroy_params(d->solver.params);
    if (d->solver.handle)
        d->solver.destroy(d->solver.handle);
}

/* ---- BLAS ---- */

static void *pointer_of(mc_address at) {
    return (void *)(uintptr_t)at;
}

static bool is_wide(mc_device_matrix A) {
    return A.dtype == MERCER_F64;
}

static cudaDataType type_of(mc_device_matrix A) {
    return is_wide(A) ? CUDA_R_64F : CUDA_R_32F;
}

static cublasOperation_t operation_of(bool trans) {
    return trans ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static cublasFillMode_t fill_mode(bool upper) {
    return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

static mc_device_fault after_blas(device *d, const char *what, cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return MC_DEVICE_FINE;
    return cuda_fault(d, status == CUBLAS_STATUS_ALLOC_FAILED ? MC_DEVICE_FULL : MC_DEVICE_LOST, what, "cuBLAS failed");
}

static mc_device_fault gemm(void *self, bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha,
                            mc_device_matrix A, mc_device_matrix B, double beta, mc_device_matrix C) {
    device *d = self;
    const float alpha_float = (float)alpha, beta_float = (float)beta;
    const bool wide = is_wide(C);
    const mc_device_fault fault = cuda_enter(d);
    if (fault)
        return fault;
    return after_blas(d, "gemm",
                      d->blas.gemm(d->blas.handle, operation_of(ta), operation_of(tb), m, n, k,
                                   wide ? (const void *)&alpha : &alpha_float, pointer_of(A.at), type_of(A), A.ld,
                                   pointer_of(B.at), type_of(B), B.ld, wide ? (const void *)&beta : &beta_float,
                                   pointer_of(C.at), type_of(C), C.ld, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                   CUBLAS_GEMM_DEFAULT));
}

static mc_device_fault syrk(void *self, bool upper, bool trans, int64_t n, int64_t k, double alpha, mc_device_matrix A,
                            double beta, mc_device_matrix C) {
    device *d = self;
    const float alpha_float = (float)alpha, beta_float = (float)beta;
    const mc_device_fault fault = cuda_enter(d);
    if (fault)
        return fault;
    const cublasStatus_t status =
        is_wide(C) ? d->blas.dsyrk(d->blas.handle, fill_mode(upper), operation_of(trans), n, k, &alpha,
                                   pointer_of(A.at), A.ld, &beta, pointer_of(C.at), C.ld)
                   : d->blas.ssyrk(d->blas.handle, fill_mode(upper), operation_of(trans), n, k, &alpha_float,
                                   pointer_of(A.at), A.ld, &beta_float, pointer_of(C.at), C.ld);
    return after_blas(d, "syrk", status);
}

static cublasSideMode_t side_mode(bool right) {
    return right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
}

static mc_device_fault trmm(void *self, bool right, bool upper, bool trans, int64_t m, int64_t n, double alpha,
                            mc_device_matrix T, mc_device_matrix B) {
    device *d = self;
    const float alpha_float = (float)alpha;
    const mc_device_fault fault = cuda_enter(d);
    if (fault)
        return fault;
    const cublasStatus_t status =
        is_wide(B) ? d->blas.dtrmm(d->blas.handle, side_mode(right), fill_mode(upper), operation_of(trans),
                                   CUBLAS_DIAG_NON_UNIT, m, n, &alpha, pointer_of(T.at), T.ld, pointer_of(B.at), B.ld,
                                   pointer_of(B.at), B.ld)
                   : d->blas.strmm(d->blas.handle, side_mode(right), fill_mode(upper), operation_of(trans),
                                   CUBLAS_DIAG_NON_UNIT, m, n, &alpha_float, pointer_of(T.at), T.ld, pointer_of(B.at),
                                   B.ld, pointer_of(B.at), B.ld);
    return after_blas(d, "trmm", status);
}

static mc_device_fault trsm(void *self, bool right, bool upper, bool trans, int64_t m, int64_t n, double alpha,
                            mc_device_matrix T, mc_device_matrix B) {
    device *d = self;
    const float alpha_float = (float)alpha;
    const mc_device_fault fault = cuda_enter(d);
    if (fault)
        return fault;
    const cublasStatus_t status =
        is_wide(B)
            ? d->blas.dtrsm(d->blas.handle, side_mode(right), fill_mode(upper), operation_of(trans),
                            CUBLAS_DIAG_NON_UNIT, m, n, &alpha, pointer_of(T.at), T.ld, pointer_of(B.at), B.ld)
            : d->blas.strsm(d->blas.handle, side_mode(right), fill_mode(upper), operation_of(trans),
                            CUBLAS_DIAG_NON_UNIT, m, n, &alpha_float, pointer_of(T.at), T.ld, pointer_of(B.at), B.ld);
    return after_blas(d, "trsm", status);
}

/* ---- Routines ---- */

typedef struct room {
    size_t there, here;
} room;

static cusolverStatus_t bytes_of(device *d, const mc_device_square *s, room *out) {
    void *A = pointer_of(s->A.at);
    const cudaDataType type = type_of(s->A);
    int count = 0;
    cusolverStatus_t status;
    switch (s->routine) {
    case MC_ROUTINE_POTRF:
        return d->solver.potrf_bytes(d->solver.handle, d->solver.params, fill_mode(s->upper), s->n, type, A, s->A.ld,
                                     type, &out->there, &out->here);
    case MC_ROUTINE_TRTRI:
        return d->solver.trtri_bytes(d->solver.handle, fill_mode(s->upper), CUBLAS_DIAG_NON_UNIT, s->n, type, A,
                                     s->A.ld, &out->there, &out->here);
    case MC_ROUTINE_SYEVD:
        return d->solver.syevd_bytes(d->solver.handle, d->solver.params, CUSOLVER_EIG_MODE_VECTOR, fill_mode(s->upper),
                                     s->n, type, A, s->A.ld, type, pointer_of(s->values), type, &out->there,
                                     &out->here);
    default:
        status =
            is_wide(s->A)
                ? d->solver.dlauum_bytes(d->solver.handle, fill_mode(s->upper), (int)s->n, A, (int)s->A.ld, &count)
                : d->solver.slauum_bytes(d->solver.handle, fill_mode(s->upper), (int)s->n, A, (int)s->A.ld, &count);
        *out = (room){(size_t)count * (is_wide(s->A) ? sizeof(double) : sizeof(float)), 0};
        return status;
    }
}

static cusolverStatus_t run_routine(device *d, const mc_device_square *s, mc_address work, room size, void *here) {
    void *A = pointer_of(s->A.at), *buffer = pointer_of(work + INFO_BYTES);
    int *info = pointer_of(work);
    const cudaDataType type = type_of(s->A);
    switch (s->routine) {
    case MC_ROUTINE_POTRF:
        return d->solver.potrf(d->solver.handle, d->solver.params, fill_mode(s->upper), s->n, type, A, s->A.ld, type,
                               buffer, size.there, here, size.here, info);
    case MC_ROUTINE_TRTRI:
        return d->solver.trtri(d->solver.handle, fill_mode(s->upper), CUBLAS_DIAG_NON_UNIT, s->n, type, A, s->A.ld,
                               buffer, size.there, here, size.here, info);
    case MC_ROUTINE_SYEVD:
        return d->solver.syevd(d->solver.handle, d->solver.params, CUSOLVER_EIG_MODE_VECTOR, fill_mode(s->upper), s->n,
                               type, A, s->A.ld, type, pointer_of(s->values), type, buffer, size.there, here, size.here,
                               info);
    default:
        return is_wide(s->A) ? d->solver.dlauum(d->solver.handle, fill_mode(s->upper), (int)s->n, A, (int)s->A.ld,
                                                buffer, (int)(size.there / sizeof(double)), info)
                             : d->solver.slauum(d->solver.handle, fill_mode(s->upper), (int)s->n, A, (int)s->A.ld,
                                                buffer, (int)(size.there / sizeof(float)), info);
    }
}

static mc_device_fault after_solver(device *d, const mc_device_square *s, cusolverStatus_t status) {
    static const char *const names[] = {"potrf", "trtri", "lauum", "syevd"};
    char why[64];
    if (status == CUSOLVER_STATUS_SUCCESS)
        return MC_DEVICE_FINE;
    snprintf(why, sizeof why, "cuSOLVER failed with status %d", (int)status);
    return cuda_fault(d, status == CUSOLVER_STATUS_ALLOC_FAILED ? MC_DEVICE_FULL : MC_DEVICE_LOST, names[s->routine],
                      why);
}

static mc_device_fault work_bytes(void *self, const mc_device_square *s, size_t *bytes) {
    device *d = self;
    room size = {0};
    mc_device_fault fault = cuda_enter(d);
    if (!fault)
        fault = after_solver(d, s, bytes_of(d, s, &size));
    *bytes = size.there + INFO_BYTES;
    return fault;
}

static mc_device_fault read_info(device *d, mc_address work, int64_t *info) {
    int found = 0;
    const mc_device_fault fault =
        cuda_check(d, "computing on the card", cuMemcpyDtoH(&found, (CUdeviceptr)work, sizeof found));
    *info = found;
    return fault;
}

/* What works in memory of the processor's is waited for, since that is freed here. */
static mc_device_fault run_solver(void *self, const mc_device_square *s, mc_address work, size_t bytes, int64_t *info) {
    device *d = self;
    room size = {0};
    int64_t unread;
    (void)bytes;
    mc_device_fault fault = cuda_enter(d);
    if (!fault)
        fault = after_solver(d, s, bytes_of(d, s, &size));
    void *here = fault || !size.here ? NULL : malloc(size.here);
    if (!fault && size.here && !here)
        fault = cuda_fault(d, MC_DEVICE_FULL, "cuSOLVER", "no memory for its workspace here");
    if (!fault)
        fault = after_solver(d, s, run_routine(d, s, work, size, here));
    if (!fault && (info || here))
        fault = read_info(d, work, info ? info : &unread);
    free(here);
    return fault;
}

const mc_device_dense_calls cuda_dense = {has_libraries, gemm, syrk, trmm, trsm, work_bytes, run_solver};
