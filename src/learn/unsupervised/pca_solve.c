/* pca_solve.c: the largest eigenvalues of M = P S K S P.

   dense: K written out, centred and made tridiagonal, whose largest eigenvalues, or all, LAPACK finds.

   krylov: a start from randomly pivoted Cholesky, S K S ~ F F', whose largest eigenvectors are those of the small F'P
   F; then rounds of block Lanczos (linalg/krylov.c) on products of K, which is made once and kept as floats where there
   is room, and never stored where there is not. Products are in float
   until the residual is as small as floats allow, then in double where the tolerance asks for more (pca.c decides by
   the certificate). */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/workspace.h"
#include "gram/operator/gram_matrix.h"
#include "gram/lowrank/lowrank.h"
#include "learn/unsupervised/pca.h"
#include "linalg/eigen.h"
#include "linalg/krylov.h"
#include <math.h>

enum {
    STEPS = 8,
    STEPS_LEAST = 2,
    ROUNDS = 60,
    RANK_LEAST = 64,
    EXTRA = 10,
    SEGMENTS = 16,
    ROWS = 256,
    MANY = 4,          /* a share of the components from which on all are found as soon */
    STORED_MOST = 6000 /* rows: K in 144 MB */
};

/* ---- All eigenvalues ---- */

/* Of a kernel that is not proved the variance is the sum of all that are positive. */
static bool takes_all(const mc_problem *p, int64_t k) {
    return !p->proved || MANY * k > p->n;
}

typedef struct dense_work {
    int64_t n, k; /* k: eigenvectors that are not written over M; 0: all are */
    double *M, *w, *U;
} dense_work;

static void lay_out_dense(mc_work *work, void *self) {
    dense_work *s = self;
    s->M = mc_work_take(work, s->n * s->n, sizeof *s->M);
    s->w = mc_work_take(work, s->n, sizeof *s->w);
    s->U = mc_work_take(work, s->n * s->k, sizeof *s->U);
}

static dense_work dense_work_for(const mc_problem *p, int64_t k) {
    return (dense_work){.n = p->n, .k = takes_all(p, k) ? 0 : k};
}

size_t mc_pca_dense_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t k) {
    dense_work s = dense_work_for(p, k);
    return mc_slices_bytes(lay_out_dense, &s) + mc_work_need(p->n, 8)
           + mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, 0)
           + (s.k ? mc_eigen_largest_bytes(p->n, k) : mc_eigen_bytes(p->n)) + mc_pca_matrix_bytes(p->n, 1);
}

static mercer_status write_matrix(mercer_ctx *ctx, const mc_problem *p, bool center, double *M) {
    mc_gram *gram = NULL;
    mc_pca_matrix m;
    MC_TRY(mc_problem_gram_open(ctx, p, &gram));
    mercer_status status = mc_gram_block(ctx, gram, 0, p->n, 0, p->n, MERCER_F64, M, p->n);
    mc_problem_gram_close(p, gram);
    MC_THEN(status, mc_pca_matrix_open(ctx, p, center, 1, &m));
    if (status)
        return status;
    mc_pca_write(&m, M);
    mc_pca_matrix_close(&m);
    return MERCER_OK;
}

/* From eigenvectors one after the other, the largest last, to rows, the largest first. */
static void turn_vectors(int64_t n, int64_t k, const double *U, double *V) {
    for (int64_t i = 0; i < n * k; i++)
        V[i] = U[(k - 1 - i % k) * n + i / k];
}

static mercer_status find_all(mercer_ctx *ctx, int64_t n, int64_t k, double *M, double *w, double *V,
                              mc_pca_result *out) {
    MC_TRY(mc_syevd(ctx, mc_column_major(M, n, n, n), w));
    turn_vectors(n, k, M + (n - k) * n, V);
    for (int64_t i = n - 1; i >= 0 && w[i] > 0; i--)
        out->positive += w[i];
    return MERCER_OK;
}

static mercer_status find_largest(mercer_ctx *ctx, const dense_work *s, double *V) {
    const int64_t n = s->n, k = s->k;
    const mercer_status status =
        mc_syevr_largest(ctx, mc_column_major(s->M, n, n, n), s->w, mc_column_major(s->U, n, k, n));
    turn_vectors(n, k, s->U, V);
    return status;
}

mercer_status mc_pca_dense(mercer_ctx *ctx, const mc_problem *p, bool center, int64_t k, double *V,
                           mc_pca_result *out) {
    dense_work s = dense_work_for(p, k);
    mc_work work;
    MC_TRY(mc_work_lay(ctx, &work, lay_out_dense, &s));
    mc_begin_phase(ctx, "gram");
    mercer_status status = write_matrix(ctx, p, center, s.M);
    mc_begin_phase(ctx, "factor");
    *out = (mc_pca_result){.converged = true};
    MC_THEN(status, s.k ? find_largest(ctx, &s, V) : find_all(ctx, s.n, k, s.M, s.w, V, out));
    mc_work_close(&work);
    return status;
}

/* ---- The start ---- */

typedef struct start {
    const mc_lowrank *f;
    const double *q;
    int64_t n, r, b; /* columns of F, of the start taken from it */
    double *along;   /* r: q' F */
    double *parts;   /* SEGMENTS x r x r */
    double *rows;    /* per thread: ROWS x r */
    double *T;       /* r x b, row-major */
    double *X;       /* n x width */
    int64_t width;
} start;

/* Rows begin .. end of P F, row-major. */
static void take_rows(const start *s, int64_t begin, int64_t end, double *out) {
    for (int64_t k = 0; k < s->r; k++) {
        const float *column = mc_lowrank_column(s->f, k);
        for (int64_t i = begin; i < end; i++)
            out[(i - begin) * s->r + k] = (double)column[i] - (s->q ? s->q[i] * s->along[k] : 0);
    }
}

static int64_t segment_rows(int64_t n) {
    return (n + SEGMENTS - 1) / SEGMENTS;
}

static void gram_segment(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const start *s = arg;
    const int64_t r = s->r;
    double *rows = s->rows + thread * ROWS * s->r;
    for (int64_t i = begin; i < end; i += ROWS) {
        const int64_t count = end - i < ROWS ? end - i : ROWS;
        take_rows(s, i, i + count, rows);
        mc_syrk(1, mc_column_major(rows, r, count, r), 1, mc_column_major(s->parts + chunk * r * r, r, r, r));
    }
}

static void start_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const start *s = arg;
    const int64_t r = s->r, b = s->b, count = end - begin;
    double *rows = s->rows + thread * ROWS * s->r;
    take_rows(s, begin, end, rows);
    mc_gemm(1, mc_row_major(rows, count, r, r), mc_row_major(s->T, r, b, b), 0,
            mc_row_major(s->X + begin * s->width, count, b, s->width));
}

static void sum_columns(const start *s) {
    for (int64_t k = 0; s->q && k < s->r; k++) {
        const float *column = mc_lowrank_column(s->f, k);
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++)
            sum += s->q[i] * (double)column[i];
        s->along[k] = sum;
    }
}

/* The eigenvectors of F'P F, largest first, as the columns of T; w: r numbers. */
static mercer_status small_problem(mercer_ctx *ctx, start *s, double *w) {
    const int64_t r = s->r;
    sum_columns(s);
    MC_TRY(mc_for(ctx, s->n, segment_rows(s->n), gram_segment, s));
    for (int64_t chunk = 1; chunk < mc_chunk_count(s->n, segment_rows(s->n)); chunk++)
        for (int64_t i = 0; i < r * r; i++)
            s->parts[i] += s->parts[chunk * r * r + i];
    MC_TRY(mc_syevd(ctx, mc_column_major(s->parts, r, r, r), w));
    for (int64_t i = 0; i < r * s->b; i++)
        s->T[i] = s->parts[(r - 1 - i % s->b) * r + i / s->b];
    return MERCER_OK;
}

/* Columns beyond those that F gives are random. */
static void fill_random(mercer_ctx *ctx, const start *s) {
    for (int64_t i = 0; s->b < s->width && i < s->n; i++) {
        mc_rng rng = mc_rng_at(ctx->options.seed, MC_STREAM_LANCZOS, (uint64_t)i);
        for (int64_t k = s->b; k < s->width; k++)
            s->X[i * s->width + k] = mc_rng_normal(&rng);
    }
}

/* w: r numbers. */
static void lay_out_pca_start(mercer_ctx *ctx, mc_work *work, int64_t r, int64_t b, start *s, double **w) {
    s->along = mc_work_take(work, r, 8);
    *w = mc_work_take(work, r, 8);
    s->parts = mc_work_take(work, SEGMENTS * r * r, 8);
    s->rows = mc_work_take(work, mercer_threads(ctx) * ROWS * r, 8);
    s->T = mc_work_take(work, r * b, 8);
}

static size_t start_bytes(mercer_ctx *ctx, int64_t r, int64_t b) {
    mc_work counted = {0};
    double *w;
    lay_out_pca_start(ctx, &counted, r, b, &(start){0}, &w);
    return counted.used;
}

static mercer_status start_from(mercer_ctx *ctx, start *s) {
    mc_work work;
    fill_random(ctx, s);
    if (s->r == 0)
        return MERCER_OK;
    MC_TRY(mc_work_open(ctx, &work, start_bytes(ctx, s->r, s->b)));
    double *w;
    lay_out_pca_start(ctx, &work, s->r, s->b, s, &w);
    mercer_status status = small_problem(ctx, s, w);
    MC_THEN(status, mc_for(ctx, s->n, ROWS, start_rows, s));
    mc_work_close(&work);
    return status;
}

static mercer_status find_start(mercer_ctx *ctx, const mc_pca_search *search, const mc_matrix *K, const double *q) {
    const mc_problem *p = search->p;
    mc_lowrank *f = NULL;
    MC_TRY(mc_lowrank_open(ctx, K, p->root, ctx->options.seed, &f));
    mercer_status status = mc_lowrank_grow(ctx, f, search->shape.rank, 0);
    if (!status) {
        start s = {.f = f, .q = q, .n = p->n, .r = f->rank, .X = search->X, .width = search->shape.block};
        s.b = f->rank < s.width ? f->rank : s.width;
        status = start_from(ctx, &s);
    }
    mc_lowrank_close(f);
    return status;
}

/* ---- K kept ---- */

typedef struct float_square {
    int64_t n, t;
    float *K, *V, *Y; /* n x n; n x t each */
    double *out;      /* of the product at hand */
    int64_t columns;
    mc_work work;
} float_square;

static void lay_out_square(mc_work *work, void *self) {
    float_square *s = self;
    s->K = mc_work_take(work, s->n * s->n, sizeof *s->K);
    s->V = mc_work_take(work, s->n * s->t, sizeof *s->V);
    s->Y = mc_work_take(work, s->n * s->t, sizeof *s->Y);
}

static size_t square_bytes(int64_t n, int64_t t) {
    return mc_slices_bytes(lay_out_square, &(float_square){.n = n, .t = t}) + 2 * MC_ALIGN;
}

static mercer_status open_square(mercer_ctx *ctx, const mc_gram *gram, float_square *s) {
    MC_TRY(mc_work_lay(ctx, &s->work, lay_out_square, s));
    return mc_gram_block(ctx, gram, 0, s->n, 0, s->n, MERCER_F32, s->K, s->n);
}

static void multiply_square_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const float_square *s = arg;
    const int64_t t = s->columns;
    mc_gemm(1, mc_row_major_f32(s->K + begin * s->n, end - begin, s->n, s->n), mc_row_major_f32(s->V, s->n, t, t), 0,
            mc_row_major_f32(s->Y + begin * t, end - begin, t, t));
    for (int64_t i = begin * t; i < end * t; i++)
        s->out[i] = (double)s->Y[i];
}

/* In float: V comes to the range of floats by the search, whose blocks are orthonormal. */
static mercer_status apply_square(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    float_square s = *(const float_square *)self;
    s.columns = t;
    s.out = Y;
    for (int64_t i = 0; i < s.n * t; i++)
        s.V[i] = (float)V[i];
    return mc_for(ctx, s.n, ROWS, multiply_square_rows, &s);
}

/* ---- Krylov spaces ---- */

mc_pca_shape mc_pca_shape_of(int64_t n, int64_t k) {
    mc_pca_shape s = {.k = k, .block = k + (k / 2 > EXTRA ? k / 2 : EXTRA)};
    s.rank = 4 * s.block > RANK_LEAST ? 4 * s.block : RANK_LEAST;
    s.rank = s.rank < n ? s.rank : n;
    s.steps = n / s.block - 1 < STEPS ? n / s.block - 1 : STEPS;
    s.steps = s.steps > 1 ? s.steps : 1; /* too few to be of use: pca.c refuses */
    s.stored = n <= STORED_MOST;
    return s;
}

size_t mc_pca_krylov_bytes(mercer_ctx *ctx, const mc_problem *p, const mc_pca_shape *s) {
    const size_t begin = mc_lowrank_bytes(ctx, p->n, s->rank) + start_bytes(ctx, s->rank, s->block)
                         + mc_eigen_bytes(s->rank) + mc_gram_part_bytes(ctx, p->kernel, p->x, MERCER_F64, s->rank);
    const size_t run = mc_krylov_bytes(ctx, p->n, s->block, s->steps);
    return (s->stored ? square_bytes(p->n, s->block) : 0)
           + mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F32, s->block) + mc_pca_matrix_bytes(p->n, s->block)
           + mc_work_need(p->n * s->block, 8) + mc_work_need(s->block, 8) + (begin > run ? begin : run) + 8 * MC_ALIGN;
}

mc_pca_shape mc_pca_shape_within(mercer_ctx *ctx, const mc_problem *p, int64_t k, size_t kept) {
    mc_pca_shape s = mc_pca_shape_of(p->n, k);
    s.stored = s.stored && kept + mc_pca_krylov_bytes(ctx, p, &s) <= mc_memory_left(ctx);
    while (s.steps > STEPS_LEAST && kept + mc_pca_krylov_bytes(ctx, p, &s) > mc_memory_left(ctx))
        s.steps--;
    return s;
}

static mercer_status search_with(mercer_ctx *ctx, mc_pca_search *search, const mc_gram *gram, mc_pca_matrix *m,
                                 mc_pca_result *out) {
    mc_krylov_result result = {0};
    const mc_matrix K = mc_gram_matrix(gram);
    const mc_krylov_problem problem = {.A = mc_pca_products(m),
                                       .wanted = search->shape.k,
                                       .block = search->shape.block,
                                       .steps = search->shape.steps,
                                       .tolerance = search->tolerance};
    if (!search->started)
        MC_TRY(find_start(ctx, search, &K, m->q));
    search->started = true;
    mc_begin_phase(ctx, "eigen");
    mercer_status status = MERCER_OK;
    double before = INFINITY;
    for (int round = 0; round < ROUNDS && !result.settled && !status; round++) {
        status = mc_krylov_solve(ctx, &problem, search->X, search->theta, &result);
        out->products += result.products;
        if (!search->precise && !(result.residual < before / 2))
            break; /* as far as floats see; doubles go on from here */
        before = result.residual;
    }
    out->converged = result.settled;
    return status;
}

mercer_status mc_pca_krylov(mercer_ctx *ctx, mc_pca_search *search, mc_pca_result *out) {
    const mc_problem *p = search->p;
    mc_gram *gram = NULL;
    float_square stored = {.n = p->n, .t = search->shape.block};
    mc_pca_matrix m;
    MC_TRY(mc_pca_matrix_open(ctx, p, search->center, search->shape.block, &m));
    mercer_status status = mc_gram_open(ctx, p->kernel, p->x, NULL, search->precise ? MERCER_F64 : MERCER_F32, &gram);
    mc_begin_phase(ctx, "gram");
    if (search->shape.stored && !search->precise)
        MC_THEN(status, open_square(ctx, gram, &stored));
    if (!status)
        m.K = stored.K ? (mc_matrix){.n = p->n, .apply = apply_square, .self = &stored} : mc_gram_matrix(gram);
    MC_THEN(status, search_with(ctx, search, gram, &m, out));
    mc_work_close(&stored.work);
    mc_gram_close(gram);
    mc_pca_matrix_close(&m);
    return status;
}
