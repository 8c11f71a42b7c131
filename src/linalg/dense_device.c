/* dense_device.c: whole matrices on a device. Triangles go by halves, as in triangle.c, down to the order that one call
   of the library does well: nearly all of the work is in the square parts, the packed format needs no more than that,
   and between two calls the caller can stop. */
#include "backend/device_dense.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "linalg/dense_ops.h"
#include "linalg/triangle.h"
#include <dense_sources.h>

enum {
    FACTOR_LEAF = 8192,  /* the order up to which the library's own potrf, */
    INVERT_LEAF = 512,   /* trtri */
    SQUARE_LEAF = 512,   /* and lauum are taken; */
    PRODUCT_LEAF = 1024, /* its products of a triangle and a square, */
    VECTOR_LEAF = 512,   /* or of a triangle and fewer columns than */
    FEW_COLUMNS = 64
};

static bool by_rows(mc_dense A) {
    return A.layout == MC_ROW_MAJOR;
}

static mc_device_matrix device_matrix_of(mc_dense A) {
    return (mc_device_matrix){A.dtype, (mc_address)(uintptr_t)A.a, A.ld};
}

static bool is_leaf(mc_dense A, int64_t order) {
    return A.layout != MC_PACKED && A.rows <= order;
}

/* ---- BLAS, by handles ---- */

/* C <- alpha A B + beta C. */
static mercer_status add_product(mercer_ctx *ctx, double alpha, mc_dense A, mc_dense B, double beta, mc_dense C) {
    if (by_rows(C))
        return add_product(ctx, alpha, mc_transposed(B), mc_transposed(A), beta, mc_transposed(C));
    if (C.rows == 0 || C.columns == 0)
        return MERCER_OK;
    return mc_device_gemm(ctx, C.device, by_rows(A), by_rows(B), C.rows, C.columns, A.columns, alpha,
                          device_matrix_of(A), device_matrix_of(B), beta, device_matrix_of(C));
}

static mercer_status gemm(mercer_ctx *ctx, mc_dense A, mc_dense B, mc_dense C) {
    return add_product(ctx, 1, A, B, 0, C);
}

/* ---- Triangles against squares, by halves: the library's products are twice as fast as its triangles ---- */

static mc_dense rows_of(mc_dense A, int64_t first, int64_t count) {
    return mc_submatrix(A, first, 0, count, A.columns);
}

/* The lower half of C <- C + alpha P P'. */
static mercer_status syrk(mercer_ctx *ctx, double alpha, mc_dense P, mc_dense C) {
    if (C.rows == 0 || P.columns == 0)
        return MERCER_OK;
    if (is_leaf(C, PRODUCT_LEAF))
        return mc_device_syrk(ctx, C.device, by_rows(C), by_rows(P), C.rows, P.columns, alpha, device_matrix_of(P), 1,
                              device_matrix_of(C));
    const mc_halves h = mc_triangle_split(C);
    const mc_dense P1 = rows_of(P, 0, h.first.rows), P2 = rows_of(P, h.first.rows, h.second.rows);
    MC_TRY(syrk(ctx, alpha, P1, h.first));
    MC_TRY(add_product(ctx, alpha, P2, mc_transposed(P1), 1, h.below));
    return syrk(ctx, alpha, P2, h.second);
}

typedef mercer_status triangular(mercer_ctx *ctx, mc_device *device, bool right, bool upper, bool trans, int64_t m,
                                 int64_t n, double alpha, mc_device_matrix T, mc_device_matrix B);

/* As mc_trsm and mc_trmm of dense.c. */
static mercer_status call_triangular(mercer_ctx *ctx, triangular *call, double alpha, mc_dense L, bool transposed,
                                     mc_dense B) {
    const mc_dense lying = by_rows(B) ? mc_transposed(B) : B;
    const bool trans = (transposed != by_rows(L)) != by_rows(B);
    if (B.rows == 0 || B.columns == 0)
        return MERCER_OK;
    return call(ctx, B.device, by_rows(B), by_rows(L), trans, lying.rows, lying.columns, alpha, device_matrix_of(L),
                device_matrix_of(B));
}

/* X <- sign L^-1 X or sign L^-T X; of few columns the triangles are small ones, since nothing but reading them takes
   time. */
static mercer_status solve_triangle(mercer_ctx *ctx, double sign, mc_dense L, bool transposed, mc_dense X) {
    if (is_leaf(L, X.columns < FEW_COLUMNS ? VECTOR_LEAF : PRODUCT_LEAF))
        return call_triangular(ctx, mc_device_trsm, sign, L, transposed, X);
    const mc_halves h = mc_triangle_split(L);
    const mc_dense X1 = rows_of(X, 0, h.first.rows), X2 = rows_of(X, h.first.rows, h.second.rows);
    MC_TRY(solve_triangle(ctx, sign, transposed ? h.second : h.first, transposed, transposed ? X2 : X1));
    MC_TRY(transposed ? add_product(ctx, -sign, mc_transposed(h.below), X2, 1, X1)
                      : add_product(ctx, -sign, h.below, X1, 1, X2));
    return solve_triangle(ctx, sign, transposed ? h.first : h.second, transposed, transposed ? X1 : X2);
}

static mercer_status trtrs(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X) {
    return solve_triangle(ctx, 1, L, transposed, X);
}

/* B <- T'B. */
static mercer_status multiply_transposed(mercer_ctx *ctx, mc_dense T, mc_dense B) {
    if (is_leaf(T, PRODUCT_LEAF))
        return call_triangular(ctx, mc_device_trmm, 1, T, true, B);
    const mc_halves h = mc_triangle_split(T);
    const mc_dense B1 = rows_of(B, 0, h.first.rows), B2 = rows_of(B, h.first.rows, h.second.rows);
    MC_TRY(multiply_transposed(ctx, h.first, B1));
    MC_TRY(add_product(ctx, 1, mc_transposed(h.below), B2, 1, B1));
    return multiply_transposed(ctx, h.second, B2);
}

static mercer_status run_routine(mercer_ctx *ctx, mc_device_routine routine, mc_dense A, int64_t *info) {
    const mc_device_square square = {.routine = routine, .upper = by_rows(A), .n = A.rows, .A = device_matrix_of(A)};
    return A.rows ? mc_device_run(ctx, A.device, &square, info) : MERCER_OK;
}

/* ---- Triangles ---- */

/* The share of the whole that is done with the first so many rows of so many. */
typedef struct row_meter {
    int64_t rows, all;
} row_meter;

static mercer_status add_progress(mercer_ctx *ctx, row_meter *work, int64_t rows) {
    work->rows += rows;
    const double share = (double)work->rows / (double)work->all;
    return mc_report_progress(ctx, share * share * share);
}

static mercer_status factor_by_halves(mercer_ctx *ctx, mc_dense A, row_meter *work, int64_t *bad) {
    if (is_leaf(A, FACTOR_LEAF)) {
        MC_TRY(run_routine(ctx, MC_ROUTINE_POTRF, A, bad));
        return add_progress(ctx, work, A.rows);
    }
    const mc_halves h = mc_triangle_split(A);
    MC_TRY(factor_by_halves(ctx, h.first, work, bad));
    if (*bad)
        return MERCER_OK;
    MC_TRY(trtrs(ctx, h.first, false, mc_transposed(h.below)));
    MC_TRY(syrk(ctx, -1, h.below, h.second));
    MC_TRY(factor_by_halves(ctx, h.second, work, bad));
    *bad += *bad ? h.first.rows : 0;
    return MERCER_OK;
}

static mercer_status potrf(mercer_ctx *ctx, mc_dense A, int64_t *bad) {
    row_meter work = {0, A.rows};
    *bad = 0;
    return factor_by_halves(ctx, A, &work, bad);
}

static mercer_status trtri(mercer_ctx *ctx, mc_dense L) {
    if (is_leaf(L, INVERT_LEAF))
        return run_routine(ctx, MC_ROUTINE_TRTRI, L, NULL);
    const mc_halves h = mc_triangle_split(L);
    MC_TRY(solve_triangle(ctx, -1, h.second, false, h.below));
    MC_TRY(solve_triangle(ctx, 1, h.first, true, mc_transposed(h.below)));
    MC_TRY(mc_report_progress(ctx, -1));
    MC_TRY(trtri(ctx, h.first));
    return trtri(ctx, h.second);
}

/* T -> the lower half of T'T. */
static mercer_status square_by_halves(mercer_ctx *ctx, mc_dense T) {
    if (is_leaf(T, SQUARE_LEAF))
        return run_routine(ctx, MC_ROUTINE_LAUUM, T, NULL);
    const mc_halves h = mc_triangle_split(T);
    MC_TRY(square_by_halves(ctx, h.first));
    if (h.second.rows == 0)
        return MERCER_OK;
    MC_TRY(syrk(ctx, 1, mc_transposed(h.below), h.first));
    MC_TRY(multiply_transposed(ctx, h.second, h.below));
    return square_by_halves(ctx, h.second);
}

static mercer_status potri(mercer_ctx *ctx, mc_dense L) {
    MC_TRY(trtri(ctx, L));
    return square_by_halves(ctx, L);
}

/* ---- What no library does ---- */

typedef struct dense_argument {
    mc_address a, out;
    int64_t rows, columns, ld, triangle, add;
} dense_argument;

enum { THREADS = 256 };

static mercer_status launch_kernel(mercer_ctx *ctx, mc_device *device, const char *kernel, int64_t blocks,
                                   const dense_argument *a) {
    const mc_launch shape = {.grid = {blocks, 1}, .threads = THREADS};
    void *program = NULL;
    MC_TRY(mc_device_build(ctx, device, mc_source_dense, &program));
    return blocks ? mc_device_launch(ctx, device, program, kernel, &shape, a, sizeof *a) : MERCER_OK;
}

static mercer_status launch_diagonal(mercer_ctx *ctx, mc_dense A, mc_address out) {
    const dense_argument a = {.a = device_matrix_of(A).at, .out = out, .rows = A.rows, .ld = A.ld};
    return launch_kernel(ctx, A.device, "diagonal", mc_chunk_count(A.rows, THREADS), &a);
}

static mercer_status launch_squares(mercer_ctx *ctx, mc_dense A, bool triangle, bool add, mc_address out) {
    const dense_argument a = {device_matrix_of(A).at, out, A.rows, A.columns, A.ld, triangle, add};
    return by_rows(A) ? launch_kernel(ctx, A.device, "squares_across", mc_chunk_count(A.columns, THREADS), &a)
                      : launch_kernel(ctx, A.device, "squares_along", A.rows ? A.columns : 0, &a);
}

static mercer_status write_diagonal(mercer_ctx *ctx, mc_dense A, mc_address out) {
    if (A.layout != MC_PACKED)
        return launch_diagonal(ctx, A, out);
    const mc_halves h = mc_triangle_split(A);
    MC_TRY(launch_diagonal(ctx, h.first, out));
    return launch_diagonal(ctx, h.second, out + (mc_address)h.first.rows * sizeof(double));
}

static mercer_status write_squares(mercer_ctx *ctx, mc_dense L, mc_address out) {
    if (L.layout != MC_PACKED)
        return launch_squares(ctx, L, true, false, out);
    const mc_halves h = mc_triangle_split(L);
    MC_TRY(launch_squares(ctx, h.first, true, false, out));
    MC_TRY(launch_squares(ctx, h.below, false, true, out));
    return launch_squares(ctx, h.second, true, false, out + (mc_address)h.first.rows * sizeof(double));
}

/* A vector that a kernel writes there, here. */
static mercer_status fetch_vector(mercer_ctx *ctx, mc_dense A, double *out,
                                  mercer_status (*write)(mercer_ctx *ctx, mc_dense A, mc_address out)) {
    mc_address there = 0;
    const size_t bytes = (size_t)A.rows * sizeof(double);
    if (A.dtype != MERCER_F64)
        return mc_fail(ctx, MERCER_INTERNAL, "a vector of a matrix of floats on a device");
    MC_TRY(mc_device_allocate(ctx, A.device, bytes, &there));
    mercer_status status = write(ctx, A, there);
    MC_THEN(status, mc_device_download(ctx, A.device, out, there, bytes));
    mc_device_release(A.device, there, bytes);
    return status;
}

static mercer_status copy_diagonal(mercer_ctx *ctx, mc_dense A, double *out) {
    return fetch_vector(ctx, A, out, write_diagonal);
}

static mercer_status column_squares(mercer_ctx *ctx, mc_dense L, double *out) {
    return fetch_vector(ctx, L, out, write_squares);
}

const mc_dense_algebra mc_dense_device = {gemm, potrf, trtrs, trtri, potri, copy_diagonal, column_squares};
