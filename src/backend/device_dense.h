/* device_dense.h: dense algebra on a device: what its library does by cuBLAS and cuSOLVER, or the like. Matrices lie
   by columns, with BLAS's arguments; a bool stands for a transposed factor, for the right side, for the upper half. */
#ifndef MC_BACKEND_DEVICE_DENSE_H
#define MC_BACKEND_DEVICE_DENSE_H

#include "backend/device.h"

typedef struct mc_device_matrix {
    mercer_dtype dtype;
    mc_address at;
    int64_t ld;
} mc_device_matrix;

/* What takes the place of a square of numbers: the factor of its half, the inverse of a triangle T, the half of T'T (T
   T' of an upper one), eigenvectors. */
typedef enum mc_device_routine {
    MC_ROUTINE_POTRF,
    MC_ROUTINE_TRTRI,
    MC_ROUTINE_LAUUM,
    MC_ROUTINE_SYEVD
} mc_device_routine;

typedef struct mc_device_square {
    mc_device_routine routine;
    bool upper;
    int64_t n;
    mc_device_matrix A;
    mc_address values; /* syevd: n eigenvalues */
} mc_device_square;

typedef struct mc_device_dense_calls {
    /* Whether the libraries are here that the rest needs; why: MC_DEVICE_TEXT bytes. */
    bool (*can)(void *self, char *why);
    mc_device_fault (*gemm)(void *self, bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha,
                            mc_device_matrix A, mc_device_matrix B, double beta, mc_device_matrix C);
    mc_device_fault (*syrk)(void *self, bool upper, bool trans, int64_t n, int64_t k, double alpha, mc_device_matrix A,
                            double beta, mc_device_matrix C);
    mc_device_fault (*trmm)(void *self, bool right, bool upper, bool trans, int64_t m, int64_t n, double alpha,
                            mc_device_matrix T, mc_device_matrix B);
    mc_device_fault (*trsm)(void *self, bool right, bool upper, bool trans, int64_t m, int64_t n, double alpha,
                            mc_device_matrix T, mc_device_matrix B);
    /* Bytes that a routine works in beside its square; then the routine. info: LAPACK's; NULL: nobody asks, and nothing
       waits for it. */
    mc_device_fault (*work_bytes)(void *self, const mc_device_square *square, size_t *bytes);
    mc_device_fault (*run)(void *self, const mc_device_square *square, mc_address work, size_t bytes, int64_t *info);
} mc_device_dense_calls;

/* Whether dense algebra can be done there; where not, the context's log says why, once. */
bool mc_device_has_dense(mercer_ctx *ctx, mc_device *device);
mercer_status mc_device_gemm(mercer_ctx *ctx, mc_device *device, bool ta, bool tb, int64_t m, int64_t n, int64_t k,
                             double alpha, mc_device_matrix A, mc_device_matrix B, double beta, mc_device_matrix C);
mercer_status mc_device_syrk(mercer_ctx *ctx, mc_device *device, bool upper, bool trans, int64_t n, int64_t k,
                             double alpha, mc_device_matrix A, double beta, mc_device_matrix C);
mercer_status mc_device_trmm(mercer_ctx *ctx, mc_device *device, bool right, bool upper, bool trans, int64_t m,
                             int64_t n, double alpha, mc_device_matrix T, mc_device_matrix B);
mercer_status mc_device_trsm(mercer_ctx *ctx, mc_device *device, bool right, bool upper, bool trans, int64_t m,
                             int64_t n, double alpha, mc_device_matrix T, mc_device_matrix B);
/* With memory to work in, which counts towards the limit of the device. */
mercer_status mc_device_run(mercer_ctx *ctx, mc_device *device, const mc_device_square *square, int64_t *info);

#endif
