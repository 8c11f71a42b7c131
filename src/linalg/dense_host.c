/* dense_host.c: matrices in the memory of this process: BLAS and LAPACK, one call on the thread that calls, with
   subnormals flushed. */
#include "backend/blas.h"
#include "base/parallel.h"
#include "linalg/dense_ops.h"

#define OP(trans) ((trans) ? "T" : "N")
#define HALF(upper) ((upper) ? "U" : "L")

#define real double
#define F(name) name##_f64
#define GEMM dgemm_
#define GEMV dgemv_
#define SYRK dsyrk_
#define TRMM dtrmm_
#define TRSM dtrsm_
#define TRSV dtrsv_
#define POTRF dpotrf_
#define TRTRI dtrtri_
#define LAUUM dlauum_
#include "linalg/dense_host.inc.c"
#undef real
#undef F
#undef GEMM
#undef GEMV
#undef SYRK
#undef TRMM
#undef TRSM
#undef TRSV
#undef POTRF
#undef TRTRI
#undef LAUUM
#define real float
#define F(name) name##_f32
#define GEMM sgemm_
#define GEMV sgemv_
#define SYRK ssyrk_
#define TRMM strmm_
#define TRSM strsm_
#define TRSV strsv_
#define POTRF spotrf_
#define TRTRI strtri_
#define LAUUM slauum_
#include "linalg/dense_host.inc.c"

const mc_dense_ops mc_dense_host[2] = {
    [MERCER_F32] = {gemm_f32, gemv_f32, syrk_f32, trmm_f32, trsm_f32, trsv_f32, potrf_f32, trtri_f32, lauum_f32},
    [MERCER_F64] = {gemm_f64, gemv_f64, syrk_f64, trmm_f64, trsm_f64, trsv_f64, potrf_f64, trtri_f64, lauum_f64},
};
