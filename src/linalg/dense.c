/* dense.c: handles, and the operations that are one call of the library. BLAS knows column-major matrices alone: one
   that lies by rows is the transpose of one that lies by columns, and C = A B is C' = B'A'. */
#include "linalg/dense.h"
#include "backend/blas.h"
#include "backend/device.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "linalg/cholesky.h"
#include "linalg/dense_ops.h"
#include <string.h>

enum { ROWS = 128 }; /* of a product, to a chunk */

static const mc_dense_ops *const PLACE[MC_PLACES] = {[MC_HOST] = mc_dense_host};

const mc_dense_ops *mc_dense_ops_of(mc_dense A) {
    return &PLACE[A.place][A.dtype];
}

static mc_dense make_handle(mc_layout layout, mercer_dtype dtype, const void *a, int64_t rows, int64_t columns,
                            int64_t ld) {
    return (mc_dense){MC_HOST, layout, dtype, rows, columns, ld, (void *)a, NULL};
}

mc_dense mc_column_major(const double *a, int64_t rows, int64_t columns, int64_t ld) {
    return make_handle(MC_COLUMN_MAJOR, MERCER_F64, a, rows, columns, ld);
}

mc_dense mc_row_major(const double *a, int64_t rows, int64_t columns, int64_t ld) {
    return make_handle(MC_ROW_MAJOR, MERCER_F64, a, rows, columns, ld);
}

mc_dense mc_packed(int64_t n, const double *a) {
    return make_handle(MC_PACKED, MERCER_F64, a, n, n, 0);
}

mc_dense mc_column_major_f32(const float *a, int64_t rows, int64_t columns, int64_t ld) {
    return make_handle(MC_COLUMN_MAJOR, MERCER_F32, a, rows, columns, ld);
}

mc_dense mc_row_major_f32(const float *a, int64_t rows, int64_t columns, int64_t ld) {
    return make_handle(MC_ROW_MAJOR, MERCER_F32, a, rows, columns, ld);
}

mc_dense mc_packed_f32(int64_t n, const float *a) {
    return make_handle(MC_PACKED, MERCER_F32, a, n, n, 0);
}

static bool by_rows(mc_dense A) {
    return A.layout == MC_ROW_MAJOR;
}

mc_dense mc_transposed(mc_dense A) {
    mc_dense t = A;
    t.layout = by_rows(A) ? MC_COLUMN_MAJOR : MC_ROW_MAJOR;
    t.rows = A.columns;
    t.columns = A.rows;
    return t;
}

mc_dense mc_submatrix(mc_dense A, int64_t i, int64_t j, int64_t rows, int64_t columns) {
    const int64_t at = by_rows(A) ? i * A.ld + j : i + j * A.ld;
    mc_dense part = A;
    part.rows = rows;
    part.columns = columns;
    part.a = (void *)((uintptr_t)A.a + (uintptr_t)at * mc_dtype_size(A.dtype));
    return part;
}

void mc_gemm(double alpha, mc_dense A, mc_dense B, double beta, mc_dense C) {
    if (by_rows(C))
        mc_gemm(alpha, mc_transposed(B), mc_transposed(A), beta, mc_transposed(C));
    else if (C.rows > 0 && C.columns > 0)
        mc_dense_ops_of(C)->gemm(by_rows(A), by_rows(B), C.rows, C.columns, A.columns, alpha, A.a, A.ld, B.a, B.ld,
                                 beta, C.a, C.ld);
}

static int64_t blas_increment(mc_dense x) {
    return by_rows(x) ? x.ld : 1;
}

void mc_gemv(double alpha, mc_dense A, mc_dense x, double beta, mc_dense y) {
    const mc_dense stored = by_rows(A) ? mc_transposed(A) : A;
    mc_dense_ops_of(y)->gemv(by_rows(A), stored.rows, stored.columns, alpha, A.a, A.ld, x.a, blas_increment(x), beta,
                             y.a, blas_increment(y));
}

void mc_syrk(double alpha, mc_dense A, double beta, mc_dense C) {
    mc_dense_ops_of(C)->syrk(by_rows(C), by_rows(A), C.rows, A.columns, alpha, A.a, A.ld, beta, C.a, C.ld);
}

/* op(L) B is (B' op(L)')': for a B that lies by rows L stands on the right. An L that lies by rows is the upper L'. */
void mc_trmm(double alpha, mc_dense L, bool transposed, mc_dense B) {
    const mc_dense stored = by_rows(B) ? mc_transposed(B) : B;
    const bool trans = (transposed != by_rows(L)) != by_rows(B);
    mc_dense_ops_of(B)->trmm(by_rows(B), by_rows(L), trans, stored.rows, stored.columns, alpha, L.a, L.ld, B.a, B.ld);
}

void mc_trsm(double alpha, mc_dense L, bool transposed, mc_dense B) {
    const mc_dense stored = by_rows(B) ? mc_transposed(B) : B;
    const bool trans = (transposed != by_rows(L)) != by_rows(B);
    mc_dense_ops_of(B)->trsm(by_rows(B), by_rows(L), trans, stored.rows, stored.columns, alpha, L.a, L.ld, B.a, B.ld);
}

void mc_trsv(mc_dense L, bool transposed, mc_dense x) {
    mc_dense_ops_of(x)->trsv(by_rows(L), transposed != by_rows(L), L.rows, L.a, L.ld, x.a, blas_increment(x));
}

typedef struct dense_product {
    mc_dense A, B, C;
} dense_product;

static void multiply_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const dense_product *p = arg;
    const int64_t rows = end - begin;
    mc_gemm(1, mc_submatrix(p->A, begin, 0, rows, p->A.columns), p->B, 0,
            mc_submatrix(p->C, begin, 0, rows, p->C.columns));
}

static mercer_status host_gemm(mercer_ctx *ctx, mc_dense A, mc_dense B, mc_dense C) {
    dense_product p = {A, B, C};
    return C.columns ? mc_for(ctx, C.rows, ROWS, multiply_rows, &p) : MERCER_OK;
}

/* ---- By place ---- */

static mercer_status host_diagonal(mercer_ctx *ctx, mc_dense A, double *out) {
    (void)ctx;
    const double *wide = A.a;
    const float *narrow = A.a;
    for (int64_t i = 0; i < A.rows; i++) {
        const int64_t at = A.layout == MC_PACKED ? mc_packed_place(A.rows, i, i) : i * (A.ld + 1);
        out[i] = A.dtype == MERCER_F64 ? wide[at] : (double)narrow[at];
    }
    return MERCER_OK;
}

static const mc_dense_algebra host_algebra = {host_gemm,     mc_host_potrf, mc_host_trtrs,         mc_host_trtri,
                                              mc_host_potri, host_diagonal, mc_host_column_squares};

const mc_dense_algebra *mc_dense_algebra_of(mc_dense A) {
    static const mc_dense_algebra *const algebra[MC_PLACES] = {
        [MC_HOST] = &host_algebra, [MC_DEVICE] = &mc_dense_device};
    return algebra[A.place];
}

mercer_status mc_parallel_gemm(mercer_ctx *ctx, mc_dense A, mc_dense B, mc_dense C) {
    return mc_dense_algebra_of(C)->gemm(ctx, A, B, C);
}

mercer_status mc_potrf(mercer_ctx *ctx, mc_dense A, int64_t *bad) {
    return mc_dense_algebra_of(A)->potrf(ctx, A, bad);
}

mercer_status mc_trtri(mercer_ctx *ctx, mc_dense L) {
    return mc_dense_algebra_of(L)->trtri(ctx, L);
}

mercer_status mc_potri(mercer_ctx *ctx, mc_dense L) {
    return mc_dense_algebra_of(L)->potri(ctx, L);
}

mercer_status mc_dense_diagonal(mercer_ctx *ctx, mc_dense A, double *out) {
    return mc_dense_algebra_of(A)->diagonal(ctx, A, out);
}

static mercer_status solve_lower(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X) {
    return mc_dense_algebra_of(L)->trtrs(ctx, L, transposed, X);
}

static mercer_status solve_both(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X) {
    (void)transposed;
    MC_TRY(solve_lower(ctx, L, false, X));
    return solve_lower(ctx, L, true, X);
}

typedef mercer_status triangular_solver(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X);

/* Where L lies. */
static mercer_status solve_on_device(mercer_ctx *ctx, triangular_solver *solve, mc_dense L, bool transposed,
                                     mc_dense X) {
    mc_dense there;
    if (X.place == L.place)
        return solve(ctx, L, transposed, X);
    MC_TRY(mc_dense_allocate(ctx, L.device, X.layout, X.dtype, X.rows, X.columns, &there));
    mercer_status status = mc_dense_copy(ctx, X, there);
    MC_THEN(status, solve(ctx, L, transposed, there));
    MC_THEN(status, mc_dense_copy(ctx, there, X));
    mc_dense_free(&there);
    return status;
}

mercer_status mc_trtrs(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X) {
    return X.columns ? solve_on_device(ctx, solve_lower, L, transposed, X) : MERCER_OK;
}

mercer_status mc_potrs(mercer_ctx *ctx, mc_dense L, mc_dense X) {
    return X.columns ? solve_on_device(ctx, solve_both, L, false, X) : MERCER_OK;
}
