/* krylov.c: block Lanczos with full orthogonalisation (Golub and Underwood 1977) and a Rayleigh-Ritz step after every
   product.

       Q_0 <- orthonormal columns of X;  for j = 0, 1, ...
           W <- A Q_j,  H_ij <- Q_i' W,  W <- W - sum_i Q_i H_ij (twice),  G <- W' W
           H = Y diag(theta) Y';  |A Q y - theta Q y|^2 = y_j' G y_j, y_j the last block of y: stop when small
           Q_(j+1) <- orthonormal columns of W

   Every block is made orthonormal by the eigenvectors of its Gram matrix, scaled to a unit diagonal (Stathopoulos and
   Wu 2002), which columns that depend on each other do not upset; the result is orthogonalised against the basis once
   more. H is what the basis gives, not what theory says it should be, so that rounding in the products does not matter
   to the Ritz values.

   Blocks are row-major n x b, which BLAS sees as b x n by columns. Sums over rows run in chunks of a fixed size, added
   in order. */
#include "linalg/krylov.h"
#include "backend/blas.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/eigen.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 2048 };

typedef struct run {
    int64_t n, b, most; /* most: blocks in the basis */
    double *basis;      /* most + 1 blocks */
    double *parts;      /* of sums over rows: b x b each */
    double *C, *G, *T;  /* b x b */
    double *H;          /* the projected matrix, lower block triangle mirrored: (most b)^2 */
    double *Y;          /* its eigenvectors, one after the other */
    double *w, *d;
    double *rows; /* per thread: ROWS x b */
    /* what a loop over rows works on */
    const double *left, *right;
    double *out;
    double factor;
} run;

static double *block_of(const run *r, int64_t j) {
    return r->basis + j * r->n * r->b;
}

static void lay_out_krylov_workspace(mercer_ctx *ctx, run *r, mc_work *work) {
    const int64_t order = r->most * r->b;
    r->basis = mc_work_take(work, (r->most + 1) * r->n * r->b, 8);
    r->parts = mc_work_take(work, mc_chunk_count(r->n, ROWS) * r->b * r->b, 8);
    r->C = mc_work_take(work, r->b * r->b, 8);
    r->G = mc_work_take(work, r->b * r->b, 8);
    r->T = mc_work_take(work, r->b * r->b, 8);
    r->H = mc_work_take(work, order * order, 8);
    r->Y = mc_work_take(work, order * order, 8);
    r->w = mc_work_take(work, order, 8);
    r->d = mc_work_take(work, r->b, 8);
    r->rows = mc_work_take(work, mercer_threads(ctx) * ROWS * r->b, 8);
}

static size_t work_bytes(mercer_ctx *ctx, int64_t n, int64_t b, int64_t most) {
    mc_work counted = {0};
    lay_out_krylov_workspace(ctx, &(run){.n = n, .b = b, .most = most}, &counted);
    return counted.used;
}

size_t mc_krylov_bytes(mercer_ctx *ctx, int64_t n, int64_t block, int64_t steps) {
    return work_bytes(ctx, n, block, steps) + mc_eigen_bytes(steps * block) + 8 * MC_ALIGN;
}

/* ---- Products of blocks ---- */

static void inner_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const run *r = arg;
    const int b = (int)r->b, rows = (int)(end - begin);
    const double one = 1, zero = 0;
    dgemm_("N", "T", &b, &b, &rows, &one, r->right + begin * r->b, &b, r->left + begin * r->b, &b, &zero,
           r->parts + chunk * r->b * r->b, &b, 1, 1);
}

/* out <- A' B, b x b, row-major. */
static mercer_status block_inner_product(mercer_ctx *ctx, run *r, const double *A, const double *B, double *out) {
    r->left = A;
    r->right = B;
    const mc_region region = mc_blas_begin();
    const mercer_status status = mc_for(ctx, r->n, ROWS, inner_rows, r);
    mc_blas_end(region);
    memset(out, 0, (size_t)(r->b * r->b) * sizeof *out);
    for (int64_t chunk = 0; chunk < mc_chunk_count(r->n, ROWS); chunk++)
        for (int64_t i = 0; i < r->b * r->b; i++)
            out[i] += r->parts[chunk * r->b * r->b + i];
    return status;
}

static void add_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const run *r = arg;
    const int b = (int)r->b, rows = (int)(end - begin);
    const double one = 1;
    dgemm_("N", "N", &b, &rows, &b, &r->factor, r->right, &b, r->left + begin * r->b, &b, &one, r->out + begin * r->b,
           &b, 1, 1);
}

/* out <- out + factor A C. */
static mercer_status add_block_product(mercer_ctx *ctx, run *r, double factor, const double *A, const double *C,
                                       double *out) {
    r->factor = factor;
    r->left = A;
    r->right = C;
    r->out = out;
    const mc_region region = mc_blas_begin();
    const mercer_status status = mc_for(ctx, r->n, ROWS, add_rows, r);
    mc_blas_end(region);
    return status;
}

static void turn_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const run *r = arg;
    const int b = (int)r->b, rows = (int)(end - begin);
    const double one = 1, zero = 0;
    double *scratch = r->rows + thread * ROWS * r->b, *at = r->out + begin * r->b;
    dgemm_("N", "N", &b, &rows, &b, &one, r->right, &b, at, &b, &zero, scratch, &b, 1, 1);
    memcpy(at, scratch, (size_t)(rows * b) * sizeof *at);
}

/* W <- W C. */
static mercer_status multiply_in_place(mercer_ctx *ctx, run *r, const double *C, double *W) {
    r->right = C;
    r->out = W;
    const mc_region region = mc_blas_begin();
    const mercer_status status = mc_for(ctx, r->n, ROWS, turn_rows, r);
    mc_blas_end(region);
    return status;
}

/* ---- Orthonormal columns ---- */

/* T with W T orthonormal, from G = W' W; G is lost. */
static mercer_status find_whitening(mercer_ctx *ctx, run *r) {
    const int64_t b = r->b;
    for (int64_t k = 0; k < b; k++)
        r->d[k] = r->G[k * (b + 1)] > 0 ? 1 / sqrt(r->G[k * (b + 1)]) : 0;
    for (int64_t i = 0; i < b * b; i++)
        r->G[i] *= r->d[i / b] * r->d[i % b];
    MC_TRY(mc_syevd(ctx, mc_column_major(r->G, b, b, b), r->w));
    const double least = (double)b * DBL_EPSILON * fmax(r->w[b - 1], 0);
    for (int64_t i = 0; i < b; i++)
        for (int64_t k = 0; k < b; k++) {
            const double value = fmax(r->w[k], least);
            r->T[i * b + k] = value > 0 ? r->d[i] * r->G[k * b + i] / sqrt(value) : 0;
        }
    return MERCER_OK;
}

static mercer_status orthonormalise_block(mercer_ctx *ctx, run *r, double *W) {
    MC_TRY(block_inner_product(ctx, r, W, W, r->G));
    MC_TRY(find_whitening(ctx, r));
    return multiply_in_place(ctx, r, r->T, W);
}

/* W <- W - Q Q' W over the first count blocks; what is taken off is added to column block j of H where asked for. */
static mercer_status project_out_basis(mercer_ctx *ctx, run *r, int64_t count, double *W, double *H, int64_t j) {
    const int64_t order = r->most * r->b;
    for (int64_t i = 0; i < count; i++) {
        MC_TRY(block_inner_product(ctx, r, block_of(r, i), W, r->C));
        MC_TRY(add_block_product(ctx, r, -1, block_of(r, i), r->C, W));
        for (int64_t k = 0; H && k < r->b * r->b; k++)
            H[(i * r->b + k / r->b) * order + j * r->b + k % r->b] += r->C[k];
    }
    return MERCER_OK;
}

/* ---- Rayleigh and Ritz ---- */

/* Eigenvectors of the leading part of H, of order s, into Y. */
static mercer_status solve_rayleigh_ritz(mercer_ctx *ctx, run *r, int64_t s) {
    const int64_t order = r->most * r->b;
    for (int64_t i = 0; i < s; i++)
        for (int64_t k = 0; k <= i; k++)
            r->Y[i * s + k] = r->Y[k * s + i] = r->H[k * order + i];
    return mc_syevd(ctx, mc_column_major(r->Y, s, s, s), r->w);
}

/* The largest |A v - theta v| over the wanted, from the part of each in the last block. */
static double largest_ritz_residual(const run *r, int64_t s, int64_t wanted) {
    double worst = 0;
    for (int64_t k = 0; k < wanted; k++) {
        const double *y = r->Y + (s - 1 - k) * s + s - r->b;
        double sum = 0;
        for (int64_t i = 0; i < r->b * r->b; i++)
            sum += y[i / r->b] * r->G[i] * y[i % r->b];
        worst = fmax(worst, sum);
    }
    return sqrt(worst);
}

/* X <- Q Y for the largest of s Ritz values. */
static mercer_status assemble_ritz_vectors(mercer_ctx *ctx, run *r, int64_t s, double *X, double *theta) {
    memset(X, 0, (size_t)(r->n * r->b) * sizeof *X);
    for (int64_t j = 0; j < s / r->b; j++) {
        for (int64_t i = 0; i < r->b * r->b; i++)
            r->C[i] = r->Y[(s - 1 - i % r->b) * s + j * r->b + i / r->b];
        MC_TRY(add_block_product(ctx, r, 1, block_of(r, j), r->C, X));
    }
    for (int64_t k = 0; k < r->b; k++)
        theta[k] = r->w[s - 1 - k];
    return MERCER_OK;
}

/* ---- The run ---- */

/* One product: the basis has count blocks, the last of which has not been multiplied. */
static mercer_status block_lanczos_step(mercer_ctx *ctx, run *r, const mc_krylov_problem *problem, int64_t count,
                                        mc_krylov_result *result) {
    double *W = block_of(r, count);
    MC_TRY(problem->A.apply(ctx, problem->A.self, r->b, block_of(r, count - 1), W));
    for (int pass = 0; pass < 2; pass++)
        MC_TRY(project_out_basis(ctx, r, count, W, r->H, count - 1));
    MC_TRY(solve_rayleigh_ritz(ctx, r, count * r->b));
    const double largest = r->w[count * r->b - 1];
    MC_TRY(block_inner_product(ctx, r, W, W, r->G));
    result->products++;
    result->residual = largest_ritz_residual(r, count * r->b, problem->wanted);
    result->settled = result->residual <= problem->tolerance * largest;
    return mc_progress_step(ctx, -1,
                            (mc_watch){"residual", largest > 0 ? result->residual / largest : 0, problem->tolerance});
}

/* W, the remainder of the last product with G = W' W, becomes the next block. */
static mercer_status extend_basis(mercer_ctx *ctx, run *r, int64_t count) {
    double *W = block_of(r, count);
    MC_TRY(find_whitening(ctx, r));
    MC_TRY(multiply_in_place(ctx, r, r->T, W));
    MC_TRY(project_out_basis(ctx, r, count, W, NULL, 0));
    return orthonormalise_block(ctx, r, W);
}

/* Products until the wanted settle; *count: blocks that have been multiplied. */
static mercer_status build_basis(mercer_ctx *ctx, run *r, const mc_krylov_problem *problem, int64_t *count,
                                 mc_krylov_result *result) {
    for (*count = 0;;) {
        MC_TRY(block_lanczos_step(ctx, r, problem, *count + 1, result));
        ++*count;
        if (result->settled || *count == r->most)
            return MERCER_OK;
        MC_TRY(extend_basis(ctx, r, *count));
    }
}

static mercer_status iterate_block_lanczos(mercer_ctx *ctx, run *r, const mc_krylov_problem *problem, double *X,
                                           double *theta, mc_krylov_result *result) {
    int64_t count;
    mc_progress_start(ctx);
    memcpy(r->basis, X, (size_t)(r->n * r->b) * sizeof *X);
    for (int pass = 0; pass < 2; pass++)
        MC_TRY(orthonormalise_block(ctx, r, r->basis));
    const mercer_status status = build_basis(ctx, r, problem, &count, result);
    if ((status && status != MERCER_TIME && status != MERCER_CANCELLED) || count == 0)
        return status;
    mc_shield_from_stop(ctx, true); /* what there is, is finished whatever the clock says */
    mercer_status finished = solve_rayleigh_ritz(ctx, r, count * r->b);
    if (!finished)
        finished = assemble_ritz_vectors(ctx, r, count * r->b, X, theta);
    mc_shield_from_stop(ctx, false);
    return finished ? finished : status;
}

mercer_status mc_krylov_solve(mercer_ctx *ctx, const mc_krylov_problem *problem, double *X, double *theta,
                              mc_krylov_result *result) {
    run r = {.n = problem->A.n, .b = problem->block, .most = problem->steps};
    *result = (mc_krylov_result){0};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, work_bytes(ctx, r.n, r.b, r.most)));
    lay_out_krylov_workspace(ctx, &r, &work);
    const mercer_status status = iterate_block_lanczos(ctx, &r, problem, X, theta, result);
    mc_work_close(&work);
    return status;
}
