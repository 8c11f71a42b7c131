/* triangle_f32.c: factor and solve in float, for preconditioners: half the memory and twice the speed. See triangle.c.
   */
#include "backend/blas.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "linalg/triangle.h"

#define real float
#define TRIANGLE mc_triangle_f32
#define HALVES mc_halves_f32
#define SPLIT mc_triangle_f32_split
#define FACTOR mc_triangle_f32_factor
#define SOLVE mc_triangle_f32_solve
#define GEMM sgemm_
#define TRSM strsm_
#define SYRK ssyrk_
#define POTRF spotrf_
#include "linalg/triangle.inc.c"
