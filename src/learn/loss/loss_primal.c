/* loss_primal.c: the linear systems of Newton's method in the weights of explicit features (loss_primal_newton.c).
   With Z the n x D matrix of the features, W the second derivatives and (w, b) the weights and intercepts,

       H = (Z, 1)' W (Z, 1) + lambda (I, 0):

   (D + 1) k unknowns, whatever the number of rows. A small system is written out and factored; a large one is solved by
   conjugate gradients, each a pass over Z, preconditioned class by class with

       (Z, 1)' S_a (Z, 1) + lambda I,   S_a the diagonal of the W_i for class a,

   from as many rows as cost about what a pass does; where there are not many rows for a feature, so that a factor for
   each class costs many passes, with that of the mean of the S_a until it takes as many steps. What a class has on
   average over all classes is taken off, for steps that are the same in every class change nothing but the penalty.
   Softmax: W_i = diag(w_i) - w_i w_i' / c_i, w_i = c_i p_i, so that H is the matrices of the w_a on its diagonal less
   the square of the rows w_i (x) z_i / sqrt(c_i). It has one null vector, the same step in every intercept, which is
   filled in: a right-hand side has nothing along it. */
#include "learn/loss/loss_primal_state.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum { SEGMENTS = 8, MOST_FEATURES = 1024 };
/* unknowns up to which H is written out, or its squares over all rows: beyond, passes over Z cost less */
enum { SMALL = 48, SMALL_SQUARES = 1 << 22 };
enum { KEEP = 48 };                    /* features from which on a factor serves several steps */
static const double SEGMENT = 1 << 18; /* products worth a thread */
static const double SEGMENT_ROWS = 64; /* that are worth a sum of their own, which is to be added up */
static const double DEAR = 8;          /* factors of all classes, in products with H */

/* ---- Room ---- */

int64_t mc_loss_primal_features(const mc_problem *p) {
    const int64_t D = mc_problem_features(p, p->n < MOST_FEATURES ? p->n : MOST_FEATURES);
    return D > 0 && !p->x->texts ? D : 0;
}

static bool is_dense(int64_t n, int64_t k, int64_t M) {
    return k == 1 || M <= SMALL || (double)n * (double)M * (double)M <= SMALL_SQUARES;
}

static int64_t square_of(int64_t n, int64_t k, int64_t P) {
    const int64_t side = is_dense(n, k, k * P) ? k * P : P;
    return side * side;
}

/* As many as are worth threads, and no more numbers than a few megabytes. */
int64_t mc_loss_primal_segments(int64_t n, double each, int64_t numbers) {
    const double most = fmin(fmin(SEGMENTS, (double)n * each / SEGMENT),
                             fmin((double)(1 << 20) / (double)numbers, (double)n / SEGMENT_ROWS));
    return most < 1 ? 1 : (int64_t)most;
}

static void lay_out_primal(mercer_ctx *ctx, mc_work *work, int64_t n, int64_t D, int64_t k, mc_loss_primal *s) {
    const int64_t P = D + 1, M = k * P, square = square_of(n, k, P);
    s->scratch_each = MC_LOSS_PRIMAL_ROWS * (P * (is_dense(n, k, M) ? k : 1) + 2 * k);
    s->segments = mc_loss_primal_segments(n, (double)square, square);
    s->H = mc_work_take(work, s->segments * square, 8);
    s->factors = is_dense(n, k, M) ? NULL : mc_work_take(work, k * P * P, 8);
    s->row = is_dense(n, k, M) ? NULL : mc_work_take(work, n, 8);
    s->factor = is_dense(n, k, M) ? NULL : mc_work_take(work, n, 8);
    s->part = mc_work_take(work, SEGMENTS * M, 8);
    double **const vectors[] = {&s->x, &s->r, &s->q, &s->p, &s->y};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = mc_work_take(work, M, 8);
    s->scratch = mc_work_take(work, s->scratch_each * ctx->threads, 8);
}

static size_t own_bytes(mercer_ctx *ctx, int64_t n, int64_t D, int64_t k) {
    mc_work counted = {0};
    lay_out_primal(ctx, &counted, n, D, k, &(mc_loss_primal){0});
    return counted.used;
}

/* Of mc_loss_primal_sample and its task, every fourth row at most. */
static size_t sample_bytes(mercer_ctx *ctx, int64_t n, int64_t D, int64_t k) {
    const int64_t m = n / 4 + 1;
    return sizeof(mc_loss_primal) + own_bytes(ctx, m, D, k) + mc_loss_primal_newton_bytes(m, D, k)
           + mc_loss_primal_part_bytes(m, k) + mc_work_need(m * D, 8) + 8 * MC_ALIGN;
}

size_t mc_loss_primal_system_bytes(mercer_ctx *ctx, int64_t n, int64_t D, int64_t columns) {
    return sizeof(mc_loss_primal) + 2 * MC_ALIGN + own_bytes(ctx, n, D, columns)
           + mc_loss_primal_newton_bytes(n, D, columns) + sample_bytes(ctx, n, D, columns);
}

size_t mc_loss_primal_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns) {
    const int64_t D = mc_loss_primal_features(p);
    return mc_loss_primal_system_bytes(ctx, p->n, D, columns)
           + mc_feature_products_bytes(ctx, p->kernel, p->x, true, D, columns);
}

mercer_status mc_loss_primal_open(mercer_ctx *ctx, const mc_problem *p, int64_t columns, mc_loss_primal **out) {
    mc_loss_primal *s = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    mercer_status status = mc_feature_products_open(ctx, p->kernel, p->x, true, &s->z);
    s->n = p->n;
    s->D = s->z.D;
    s->columns = columns;
    MC_THEN(status, mc_work_open(ctx, &s->work, own_bytes(ctx, s->n, s->D, columns)));
    if (status) {
        mc_loss_primal_close(s);
        return status;
    }
    lay_out_primal(ctx, &s->work, s->n, s->D, columns, s);
    *out = s;
    return MERCER_OK;
}

static mercer_status copy_sample(mercer_ctx *ctx, const mc_loss_primal *all, int64_t stride, mc_loss_primal *s) {
    MC_TRY(MC_ALLOC(ctx, s->z.own, s->n * s->D));
    for (int64_t i = 0; i < s->n; i++)
        memcpy(s->z.own + i * s->D, all->z.Z + i * stride * s->D, (size_t)s->D * sizeof(double));
    s->z.Z = s->z.own;
    MC_TRY(mc_work_open(ctx, &s->work, own_bytes(ctx, s->n, s->D, s->columns)));
    lay_out_primal(ctx, &s->work, s->n, s->D, s->columns, s);
    return MERCER_OK;
}

mercer_status mc_loss_primal_sample(mercer_ctx *ctx, const mc_loss_primal *all, int64_t stride, mc_loss_primal **out) {
    mc_loss_primal *s = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    s->n = mc_chunk_count(all->n, stride);
    s->D = all->D;
    s->columns = all->columns;
    s->z = (mc_feature_products){.x = all->z.x, .n = s->n, .D = s->D};
    const mercer_status status = copy_sample(ctx, all, stride, s);
    if (status)
        mc_loss_primal_close(s);
    else
        *out = s;
    return status;
}

void mc_loss_primal_close(mc_loss_primal *s) {
    if (!s)
        return;
    mc_feature_products_close(&s->z);
    mc_work_close(&s->work);
    mc_free(s);
}

int64_t mc_loss_primal_unknowns(const mc_loss_primal *s, const mc_loss_task *t) {
    return t->k * (s->D + t->intercept);
}

/* ---- W ---- */

void mc_loss_primal_curve(int64_t k, const double *root, double *e) {
    if (k == 1) {
        e[0] *= root[0] * root[0];
        return;
    }
    double mass = 0, along = 0;
    for (int64_t j = 0; j < k; j++) {
        mass += root[j] * root[j];
        along += root[j] * root[j] * e[j];
    }
    const double mean = mass > 0 ? along / mass : 0;
    for (int64_t j = 0; j < k; j++)
        e[j] = root[j] * root[j] * (e[j] - mean);
}

/* ---- Systems ---- */

/* What a factor costs in passes over Z. */
static int64_t passes_of_factor(const mc_loss_primal *s) {
    return s->P / (MC_LOSS_PRIMAL_PASS * (s->dense ? 1 : mc_loss_primal_stride(s) * (s->shared ? s->k : 1)));
}

/* Where a factor costs many passes, that of the step before serves as a preconditioner until it costs as many; but not
   where curvatures jump. */
static bool is_worth_keeping(const mc_loss_primal *s, const mc_loss_task *t) {
    return t->loss->probabilities && s->of == t && s->lambda == t->lambda && s->n > MC_LOSS_FEW && s->P >= KEEP
           && (s->k == 1 || !s->dense) && s->extra <= passes_of_factor(s);
}

mercer_status mc_loss_primal_set(mercer_ctx *ctx, mc_loss_primal *s, const mc_loss_task *t, const double *root) {
    s->root = root;
    s->kept = is_worth_keeping(s, t);
    if (s->kept)
        return MERCER_OK;
    s->k = t->k;
    s->P = s->D + t->intercept;
    s->M = s->k * s->P;
    s->lambda = t->lambda;
    s->of = t;
    s->first = s->extra = 0;
    s->dense = is_dense(s->n, s->columns, s->columns * (s->D + 1));
    s->shared = false;
    s->shared = s->k > 1 && !s->apart && mc_loss_primal_factors_in_products(s) > DEAR;
    return s->dense ? mc_loss_primal_factor_dense(ctx, s) : mc_loss_primal_factor_classes(ctx, s);
}

/* Where the steps taken to a rough answer say that those to a better one will cost more than factors of their own. */
static mercer_status part_classes(mercer_ctx *ctx, mc_loss_primal *s, double accuracy) {
    const double steps = (double)s->first * fmax(log10(1 / accuracy), 1);
    if (!s->shared || s->kept || steps <= MC_LOSS_PRIMAL_PATIENCE + mc_loss_primal_factors_in_products(s))
        return MERCER_OK;
    s->shared = false;
    s->apart = true;
    return mc_loss_primal_factor_classes(ctx, s);
}

mercer_status mc_loss_primal_solve(mercer_ctx *ctx, mc_loss_primal *s, const double *G, double accuracy, double least,
                                   double *U) {
    const size_t bytes = (size_t)s->M * sizeof *U;
    if (s->dense && !s->kept) {
        memcpy(U, G, bytes);
        return mc_potrs(ctx, mc_column_major(s->H, s->M, s->M, s->M), mc_column_major(U, s->M, 1, s->M));
    }
    MC_TRY(part_classes(ctx, s, accuracy));
    memcpy(s->r, G, bytes);
    MC_TRY(mc_loss_primal_solve_cg(ctx, s, accuracy, least));
    memcpy(U, s->x, bytes);
    return MERCER_OK;
}

/* ---- Products ---- */

mercer_status mc_loss_primal_project(mercer_ctx *ctx, const mc_loss_primal *s, const mc_loss_task *t, const double *V,
                                     double *w) {
    const int64_t k = t->k, D = s->D, P = D + t->intercept;
    MC_TRY(mc_feature_project(ctx, &s->z, k, V, s->y));
    for (int64_t a = 0; a < k; a++) {
        memcpy(w + a * P, s->y + a * D, (size_t)D * sizeof *w);
        if (P == D)
            continue;
        w[a * P + D] = 0;
        for (int64_t i = a; i < s->n * k; i += k)
            w[a * P + D] += V[i];
    }
    return MERCER_OK;
}

mercer_status mc_loss_primal_expand(mercer_ctx *ctx, const mc_loss_primal *s, const mc_loss_task *t, const double *w,
                                    double *F) {
    const int64_t k = t->k, D = s->D, P = D + t->intercept;
    for (int64_t a = 0; a < k; a++)
        memcpy(s->y + a * D, w + a * P, (size_t)D * sizeof *w);
    return mc_feature_expand(ctx, &s->z, k, s->y, F);
}
