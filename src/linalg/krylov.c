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

   Blocks are row-major n x b; the basis is row-major too, its blocks side by side, so that one product with all of them
   is one call. Sums over rows run in chunks of a fixed size, added in order. */
#include "linalg/krylov.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/eigen.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 256, NUMBERS = 512 }; /* of a chunk: rows, and numbers of a sum over them */

typedef struct krylov_run {
    int64_t n, b, most; /* most: blocks in the basis */
    double *basis;      /* n x (most b): the blocks side by side */
    double *Q, *W;      /* n x b: the last block of the basis, what is left of its product */
    double *parts;      /* of sums over rows: (most b) x b each */
    double *S;          /* (most b) x b */
    double *G, *T;      /* b x b */
    double *H;          /* the projected matrix, lower block triangle mirrored: (most b)^2 */
    double *Y;          /* its eigenvectors, one after the other */
    double *w, *d;
    double *rows;         /* per thread: ROWS x b */
    int64_t looked, look; /* blocks in the basis when its Ritz values were looked at last, and when they will be */
} krylov_run;

static void lay_out_krylov_workspace(mercer_ctx *ctx, krylov_run *r, mc_work *work) {
    const int64_t order = r->most * r->b;
    r->basis = mc_work_take(work, r->n * order, 8);
    r->Q = mc_work_take(work, r->n * r->b, 8);
    r->W = mc_work_take(work, r->n * r->b, 8);
    r->parts = mc_work_take(work, mc_chunk_count(r->n, ROWS) * order * r->b, 8);
    r->S = mc_work_take(work, order * r->b, 8);
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
    lay_out_krylov_workspace(ctx, &(krylov_run){.n = n, .b = b, .most = most}, &counted);
    return counted.used;
}

size_t mc_krylov_bytes(mercer_ctx *ctx, int64_t n, int64_t block, int64_t steps) {
    return work_bytes(ctx, n, block, steps) + mc_eigen_bytes(steps * block) + 8 * MC_ALIGN;
}

/* ---- Products of blocks ---- */

/* What a loop over rows works on: left is n x a, right n x b, C a x b; ld is that of left. */
typedef struct rows_task {
    const krylov_run *r;
    int64_t a, ld;
    const double *left, *right, *C;
    double factor, beta, *out;
} rows_task;

static mc_dense rows_of(const double *X, int64_t begin, int64_t end, int64_t columns, int64_t ld) {
    return mc_row_major(X + begin * ld, end - begin, columns, ld);
}

static void inner_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const rows_task *t = arg;
    const int64_t b = t->r->b;
    mc_gemm(1, mc_transposed(rows_of(t->left, begin, end, t->a, t->ld)), rows_of(t->right, begin, end, b, b), 0,
            mc_row_major(t->r->parts + chunk * t->a * b, t->a, b, b));
}

/* Each number of the sum over chunks of rows, in their order. */
static void sum_parts(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const rows_task *t = arg;
    const int64_t each = t->a * t->r->b;
    memset(t->out + begin, 0, (size_t)(end - begin) * sizeof *t->out);
    for (int64_t part = 0; part < mc_chunk_count(t->r->n, ROWS); part++)
        for (int64_t i = begin; i < end; i++)
            t->out[i] += t->r->parts[part * each + i];
}

/* out <- left' right, a x b, row-major. */
static mercer_status block_inner_product(mercer_ctx *ctx, const krylov_run *r, int64_t a, const double *left,
                                         int64_t ld, const double *right, double *out) {
    rows_task t = {.r = r, .a = a, .ld = ld, .left = left, .right = right, .out = out};
    MC_TRY(mc_for(ctx, r->n, ROWS, inner_rows, &t));
    return mc_for(ctx, a * r->b, NUMBERS, sum_parts, &t);
}

static void add_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const rows_task *t = arg;
    const int64_t b = t->r->b;
    mc_gemm(t->factor, rows_of(t->left, begin, end, t->a, t->ld), mc_row_major(t->C, t->a, b, b), t->beta,
            rows_of(t->out, begin, end, b, b));
}

/* out <- beta out + factor left C. */
static mercer_status add_block_product(mercer_ctx *ctx, const krylov_run *r, double factor, int64_t a,
                                       const double *left, int64_t ld, const double *C, double beta, double *out) {
    rows_task t = {.r = r, .a = a, .ld = ld, .left = left, .C = C, .factor = factor, .beta = beta, .out = out};
    return mc_for(ctx, r->n, ROWS, add_rows, &t);
}

static void turn_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const rows_task *t = arg;
    const int64_t b = t->r->b;
    double *scratch = t->r->rows + thread * ROWS * b;
    mc_gemm(1, rows_of(t->out, begin, end, b, b), mc_row_major(t->C, b, b, b), 0,
            mc_row_major(scratch, end - begin, b, b));
    memcpy(t->out + begin * b, scratch, (size_t)((end - begin) * b) * sizeof *scratch);
}

/* W <- W C. */
static mercer_status multiply_in_place(mercer_ctx *ctx, const krylov_run *r, const double *C, double *W) {
    rows_task t = {.r = r, .C = C, .out = W};
    return mc_for(ctx, r->n, ROWS, turn_rows, &t);
}

/* ---- Orthonormal columns ---- */

/* T with W T orthonormal, from G = W' W; G is lost. */
static mercer_status find_whitening(mercer_ctx *ctx, krylov_run *r) {
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

static mercer_status orthonormalise_block(mercer_ctx *ctx, krylov_run *r, double *W) {
    MC_TRY(block_inner_product(ctx, r, r->b, W, r->b, W, r->G));
    MC_TRY(find_whitening(ctx, r));
    return multiply_in_place(ctx, r, r->T, W);
}

/* W <- W - Q Q' W over the first count blocks; what is taken off is column block j of H where asked for. */
static mercer_status project_out_basis(mercer_ctx *ctx, const krylov_run *r, int64_t count, double *W, double *H,
                                       int64_t j) {
    const int64_t order = r->most * r->b, b = r->b, s = count * b;
    MC_TRY(block_inner_product(ctx, r, s, r->basis, order, W, r->S));
    for (int64_t k = 0; H && k < s * b; k++)
        H[k / b * order + j * b + k % b] = r->S[k];
    return add_block_product(ctx, r, -1, s, r->basis, order, r->S, 1, W);
}

static void put_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const rows_task *t = arg;
    const int64_t b = t->r->b;
    for (int64_t i = begin; i < end; i++)
        memcpy(t->out + i * t->ld, t->r->Q + i * b, (size_t)b * sizeof *t->out);
}

/* Q becomes column block j of the basis, whose pages are touched here for the first time: on all threads. */
static mercer_status put_block(mercer_ctx *ctx, const krylov_run *r, int64_t j) {
    rows_task t = {.r = r, .ld = r->most * r->b, .out = r->basis + j * r->b};
    return mc_for(ctx, r->n, ROWS, put_rows, &t);
}

/* ---- Rayleigh and Ritz ---- */

/* Eigenvectors of the leading part of H, of order s, into Y. */
static mercer_status solve_rayleigh_ritz(mercer_ctx *ctx, krylov_run *r, int64_t s) {
    const int64_t order = r->most * r->b;
    for (int64_t i = 0; i < s; i++)
        for (int64_t k = 0; k <= i; k++)
            r->Y[i * s + k] = r->Y[k * s + i] = r->H[k * order + i];
    return mc_syevd(ctx, mc_column_major(r->Y, s, s, s), r->w);
}

/* The largest |A v - theta v| over the wanted, from the part of each in the last block. */
static double largest_ritz_residual(const krylov_run *r, int64_t s, int64_t wanted) {
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
static mercer_status assemble_ritz_vectors(mercer_ctx *ctx, const krylov_run *r, int64_t s, double *X, double *theta) {
    for (int64_t i = 0; i < s * r->b; i++)
        r->S[i] = r->Y[(s - 1 - i % r->b) * s + i / r->b];
    for (int64_t k = 0; k < r->b; k++)
        theta[k] = r->w[s - 1 - k];
    return add_block_product(ctx, r, 1, s, r->basis, r->most * r->b, r->S, 0, X);
}

/* Eigenvalues of H cost as much as several products once it is large: they are looked at next when the residual, which
   has fallen from `before` to what it is since the last look, should have come down to its goal, and at the end. */
static int64_t next_look(const krylov_run *r, double before, double residual, double goal, int64_t since) {
    enum { FIRST = 2 };
    const double rate = log(residual / before) / (double)since,
                 left = rate < 0 ? log(goal / residual) / rate : INFINITY;
    const int64_t most = r->most - r->looked;
    if (r->looked < FIRST)
        return r->looked + 1;
    return r->looked + (left < (double)most ? (int64_t)fmax(1, 0.8 * left) : most);
}

/* ---- The run ---- */

static mercer_status look_at_residuals(mercer_ctx *ctx, krylov_run *r, const mc_krylov_problem *problem, int64_t count,
                                       mc_krylov_result *result) {
    MC_TRY(solve_rayleigh_ritz(ctx, r, count * r->b));
    const double largest = r->w[count * r->b - 1], before = result->residual;
    const int64_t since = count - r->looked;
    result->residual = largest_ritz_residual(r, count * r->b, problem->wanted);
    result->settled = result->residual <= problem->tolerance * largest;
    r->looked = count;
    r->look = next_look(r, before, result->residual, problem->tolerance * largest, since);
    return mc_progress_step(ctx, -1,
                            (mc_watch){"residual", largest > 0 ? result->residual / largest : 0, problem->tolerance});
}

/* One product: the basis has count blocks, the last of which, Q, has not been multiplied. */
static mercer_status block_lanczos_step(mercer_ctx *ctx, krylov_run *r, const mc_krylov_problem *problem, int64_t count,
                                        mc_krylov_result *result) {
    MC_TRY(problem->A.apply(ctx, problem->A.self, r->b, r->Q, r->W));
    MC_TRY(project_out_basis(ctx, r, count, r->W, r->H, count - 1));
    MC_TRY(block_inner_product(ctx, r, r->b, r->W, r->b, r->W, r->G));
    result->products++;
    return count >= r->look || count == r->most ? look_at_residuals(ctx, r, problem, count, result)
                                                : mc_report_progress(ctx, -1);
}

/* W, the remainder of the last product with G = W' W, becomes the next block. */
static mercer_status extend_basis(mercer_ctx *ctx, krylov_run *r, int64_t count) {
    MC_TRY(find_whitening(ctx, r));
    MC_TRY(multiply_in_place(ctx, r, r->T, r->W));
    MC_TRY(project_out_basis(ctx, r, count, r->W, NULL, 0));
    MC_TRY(orthonormalise_block(ctx, r, r->W));
    double *const next = r->W;
    r->W = r->Q;
    r->Q = next;
    return put_block(ctx, r, count);
}

/* Products until the wanted settle; *count: blocks that have been multiplied. */
static mercer_status build_basis(mercer_ctx *ctx, krylov_run *r, const mc_krylov_problem *problem, int64_t *count,
                                 mc_krylov_result *result) {
    for (*count = 0;;) {
        MC_TRY(block_lanczos_step(ctx, r, problem, *count + 1, result));
        ++*count;
        if (result->settled || *count == r->most)
            return MERCER_OK;
        MC_TRY(extend_basis(ctx, r, *count));
    }
}

static mercer_status iterate_block_lanczos(mercer_ctx *ctx, krylov_run *r, const mc_krylov_problem *problem, double *X,
                                           double *theta, mc_krylov_result *result) {
    int64_t count;
    mc_progress_start(ctx);
    memcpy(r->Q, X, (size_t)(r->n * r->b) * sizeof *X);
    for (int pass = 0; pass < 2; pass++)
        MC_TRY(orthonormalise_block(ctx, r, r->Q));
    MC_TRY(put_block(ctx, r, 0));
    const mercer_status status = build_basis(ctx, r, problem, &count, result);
    if ((status && status != MERCER_TIME && status != MERCER_CANCELLED) || count == 0)
        return status;
    mc_shield_from_stop(ctx, true); /* what there is, is finished whatever the clock says */
    mercer_status finished = result->settled ? MERCER_OK : solve_rayleigh_ritz(ctx, r, count * r->b);
    if (!finished)
        finished = assemble_ritz_vectors(ctx, r, count * r->b, X, theta);
    mc_shield_from_stop(ctx, false);
    return finished ? finished : status;
}

mercer_status mc_krylov_solve(mercer_ctx *ctx, const mc_krylov_problem *problem, double *X, double *theta,
                              mc_krylov_result *result) {
    krylov_run r = {.n = problem->A.n, .b = problem->block, .most = problem->steps};
    *result = (mc_krylov_result){0};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, work_bytes(ctx, r.n, r.b, r.most)));
    lay_out_krylov_workspace(ctx, &r, &work);
    const mercer_status status = iterate_block_lanczos(ctx, &r, problem, X, theta, result);
    mc_work_close(&work);
    return status;
}
