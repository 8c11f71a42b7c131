/* loss_primal.c: the linear systems of Newton's method in the weights of explicit features (loss_primal_newton.c).
   With Z the n x D matrix of the features, W the second derivatives and (w, b) the weights and intercepts,

       H = (Z, 1)' W (Z, 1) + lambda (I, 0):

   (D + 1) k unknowns, whatever the number of rows. A small system is written out and factored; a large one is solved by
   conjugate gradients, each a pass over Z, preconditioned class by class with

       (Z, 1)' S_a (Z, 1) + lambda I,   S_a the diagonal of the W_i for class a,

   from as many rows as cost about what a pass does. What a class has on average over all classes is taken off, for
   steps that are the same in every class change nothing but the penalty. Softmax: W_i = diag(w_i) - w_i w_i' / c_i,
   w_i = c_i p_i, so that H is the matrices of the w_a on its diagonal less the square of the rows w_i (x) z_i /
   sqrt(c_i). It has one null vector, the same step in every intercept, which is filled in: a right-hand side has
   nothing along it. */
#include "learn/loss/loss_primal.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/features/feature_products.h"
#include "linalg/dense.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 256, TILE = 256, SEGMENTS = 8, STEPS_MOST = 2000, MOST_FEATURES = 1024, RAISES = 8 };
/* unknowns up to which H is written out, or its squares over all rows: beyond, passes over Z cost less */
enum { SMALL = 48, SMALL_SQUARES = 1 << 22 };
/* rows for a feature that a preconditioner is made from at least, and the features at which all of them cost a pass */
enum { ROWS_EACH = 16, AS_A_PASS = 12, KEEP = 48 }; /* KEEP: features from which on a factor serves several steps */
static const double SEGMENT = 1 << 20;              /* products worth a thread */
static const double NEGLIGIBLE = 1e-9;              /* of the weight that a row must have to count by itself */
enum { CLASS = 1 << 14 };                           /* entries of factors worth one */

struct mc_loss_primal {
    mc_feature_products z;
    int64_t n, D, columns, segments; /* segments: of sums of matrices */
    int64_t k, P, M;                 /* of the task now: classes, features of a class with the intercept, unknowns */
    bool dense;                      /* H is factored, not the preconditioner */
    bool kept;                       /* the factor is that of an earlier H */
    const mc_loss_task *of;          /* of this task */
    int64_t first, extra; /* steps of conjugate gradients with a new factor, and what they are more with it kept */
    double lambda;
    const double *root;        /* n x k: of W; borrowed */
    double *H;                 /* segments x M x M, or segments x P x P; the first becomes the factor, or k of P x P */
    double *factors;           /* k x P x P, by conjugate gradients */
    int64_t *row;              /* n, of which some count for a preconditioner, */
    double *factor;            /* n: with these */
    double *part;              /* segments x M */
    double *x, *r, *q, *p, *y; /* M each: class by class the weights, then the intercept */
    double *scratch;           /* per thread: ROWS x (P + k) */
    int64_t scratch_each;
    mc_work work;
};

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
static int64_t segment_count(int64_t n, double each, int64_t numbers) {
    const double most = fmin(fmin(SEGMENTS, (double)n * each / SEGMENT), (double)(1 << 20) / (double)numbers);
    return most < 1 ? 1 : (int64_t)most;
}

static void lay_out_primal(mercer_ctx *ctx, mc_work *work, int64_t n, int64_t D, int64_t k, mc_loss_primal *s) {
    const int64_t P = D + 1, M = k * P, square = square_of(n, k, P);
    s->scratch_each = ROWS * (P * (is_dense(n, k, M) ? k : 1) + 2 * k);
    s->segments = segment_count(n, (double)square, square);
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
           + mc_work_need(m * (D + 2 * k + 2) + k, 8) + 8 * MC_ALIGN;
}

size_t mc_loss_primal_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns) {
    const int64_t D = mc_loss_primal_features(p);
    return sizeof(mc_loss_primal) + 2 * MC_ALIGN + own_bytes(ctx, p->n, D, columns)
           + mc_loss_primal_newton_bytes(p->n, D, columns) + sample_bytes(ctx, p->n, D, columns)
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

/* What class a has on the diagonal of W_i. */
static double diagonal_of_row(int64_t k, const double *root, int64_t a) {
    double mass = 0;
    for (int64_t j = 0; j < k; j++)
        mass += root[j] * root[j];
    return k == 1 ? mass : mass > 0 ? root[a] * root[a] * (1 - root[a] * root[a] / mass) : 0;
}

/* ---- Square matrices of weighed rows ---- */

/* How the rows of a square matrix come about: out <- rows begin .. begin + count - 1, side numbers each. */
typedef struct squares {
    const mc_loss_primal *s;
    int64_t side, rows_each, tiles;
    int64_t class;        /* whose weights; -1: the rows w (x) z / sqrt(c) */
    int64_t count;        /* of rows */
    const int64_t *row;   /* which they are; NULL: all */
    const double *factor; /* of each of these, in place of the root */
    double sign;
    double *to;     /* segments x matrix */
    int64_t matrix; /* numbers of one */
    int64_t at, ld; /* where it stands in it */
} squares;

static void write_features(const mc_loss_primal *s, int64_t i, double factor, double *out) {
    const double *z = s->z.Z + i * s->D;
    for (int64_t j = 0; j < s->D; j++)
        out[j] = factor * z[j];
    if (s->P > s->D)
        out[s->D] = factor;
}

static void write_square_row(const squares *q, int64_t i, double *out) {
    const mc_loss_primal *s = q->s;
    const double *root = s->root + i * s->k;
    if (q->row)
        write_features(s, q->row[i], q->factor[i], out);
    else if (q->class >= 0)
        write_features(s, i, root[q->class], out);
    else {
        double mass = 0;
        for (int64_t a = 0; a < s->k; a++)
            mass += root[a] * root[a];
        for (int64_t a = 0; a < s->k; a++)
            write_features(s, i, mass > 0 ? root[a] * root[a] / sqrt(mass) : 0, out + a * s->P);
    }
}

static void add_square(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const squares *q = arg;
    const mc_loss_primal *s = q->s;
    const int64_t pairs = q->tiles * (q->tiles + 1) / 2, first = chunk / pairs * q->rows_each;
    const int64_t last = first + q->rows_each < q->count ? first + q->rows_each : q->count;
    int64_t a = 0, b = chunk % pairs;
    for (; b > a; a++)
        b -= a + 1;
    const int64_t i = a * TILE, j = b * TILE, m = q->side - i < TILE ? q->side - i : TILE;
    double *rows = s->scratch + thread * s->scratch_each;
    const mc_dense all = mc_column_major(q->to + chunk / pairs * q->matrix + q->at, q->side, q->side, q->ld);
    for (int64_t from = first; from < last; from += ROWS) {
        const int64_t count = last - from < ROWS ? last - from : ROWS;
        for (int64_t r = 0; r < count; r++)
            write_square_row(q, from + r, rows + r * q->side);
        const mc_dense X = mc_column_major(rows + i, m, count, q->side);
        if (a == b)
            mc_syrk(q->sign, X, 1, mc_submatrix(all, i, i, m, m));
        else
            mc_gemm(q->sign, X, mc_row_major(rows + j, count, TILE, q->side), 1, mc_submatrix(all, i, j, m, TILE));
    }
}

/* Adds to s->H, of which there are `segments`, what q says of the rows, their class, and the place. */
static mercer_status add_squares(mercer_ctx *ctx, mc_loss_primal *s, squares q) {
    q.s = s;
    q.rows_each = q.count > s->segments ? mc_chunk_count(q.count, s->segments) : 1;
    q.tiles = mc_chunk_count(q.side, TILE);
    q.to = s->H;
    q.matrix = q.ld * q.ld;
    return mc_for(ctx, s->segments * (q.tiles * (q.tiles + 1) / 2), 1, add_square, &q);
}

static void add_up_segments(const mc_loss_primal *s, int64_t matrix) {
    for (int64_t g = 1; g < s->segments; g++)
        for (int64_t j = 0; j < matrix; j++)
            s->H[j] += s->H[g * matrix + j];
}

/* ---- H written out ---- */

/* lambda on the weights; on the intercepts of softmax, which see H but for a common step, that step. */
static void add_penalty(const mc_loss_primal *s, double shift) {
    const int64_t M = s->M, P = s->P, D = s->D;
    double most = 0;
    for (int64_t a = 0; a < s->k; a++)
        for (int64_t j = 0; j < D; j++)
            s->H[(a * P + j) * (M + 1)] += shift;
    for (int64_t a = 0; a < s->k && P > D; a++)
        most = fmax(most, s->H[(a * P + D) * (M + 1)]);
    for (int64_t a = 0; a < s->k && P > D; a++)
        for (int64_t b = 0; b <= a; b++)
            s->H[(b * P + D) * M + a * P + D] += s->k > 1 ? most / (double)s->k : a == b ? 0x1p-48 * most + DBL_MIN : 0;
}

static double trace_of(const mc_loss_primal *s, int64_t side) {
    double trace = 0;
    for (int64_t j = 0; j < side; j++)
        trace += s->H[j * (side + 1)];
    return trace;
}

static mercer_status write_dense(mercer_ctx *ctx, mc_loss_primal *s) {
    const int64_t M = s->M;
    memset(s->H, 0, (size_t)(s->segments * M * M) * sizeof *s->H);
    for (int64_t a = 0; a < s->k; a++)
        MC_TRY(add_squares(
            ctx, s, (squares){.class = a, .count = s->n, .sign = 1, .side = s->P, .at = a * s->P * (M + 1), .ld = M}));
    if (s->k > 1)
        MC_TRY(add_squares(ctx, s, (squares){.class = -1, .count = s->n, .sign = -1, .side = M, .ld = M}));
    add_up_segments(s, M * M);
    return MERCER_OK;
}

/* The least shift from lambda on with which there is a factor. */
static mercer_status factor_dense(mercer_ctx *ctx, mc_loss_primal *s) {
    double shift = s->lambda;
    for (int raise = 0; raise < RAISES; raise++) {
        int64_t bad = 0;
        MC_TRY(write_dense(ctx, s));
        const double trace = trace_of(s, s->M);
        add_penalty(s, shift);
        MC_TRY(mc_potrf(ctx, mc_column_major(s->H, s->M, s->M, s->M), &bad));
        if (!bad)
            return MERCER_OK;
        shift = fmax(100 * shift, 1e-15 * trace);
    }
    return mc_fail(ctx, MERCER_NUMERIC, "lambda = %g is lost in the rounding of the features; take a larger one",
                   s->lambda);
}

/* ---- The preconditioner ---- */

static int64_t stride_of(const mc_loss_primal *s) {
    const int64_t cheap = s->P / AS_A_PASS, enough = s->n / (ROWS_EACH * s->P),
                  stride = cheap < enough ? cheap : enough;
    return stride > 1 ? stride : 1;
}

/* The rows of class a with their roots of what it has on the diagonal of W: those that have much, and of the others
   every so many-th, counted as often. Where classes are well apart a few rows are nearly all of it. */
static int64_t choose_rows(const mc_loss_primal *s, int64_t a) {
    const int64_t stride = stride_of(s);
    double all = 0, *weight = s->factor;
    for (int64_t i = 0; i < s->n; i++)
        all += weight[i] = diagonal_of_row(s->k, s->root + i * s->k, a);
    const double heavy = all * (double)stride / (double)s->n, nothing = NEGLIGIBLE * heavy;
    int64_t count = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const bool much = stride == 1 || weight[i] > heavy;
        if (weight[i] <= nothing || (!much && i % stride != 0))
            continue;
        s->row[count] = i;
        s->factor[count++] = sqrt(weight[i] * (much ? 1 : (double)stride));
    }
    return count;
}

/* Of intercepts, which no penalty holds, a tenth of what they have. */
static void add_shift(const mc_loss_primal *s, double *F) {
    const int64_t P = s->P;
    double trace = 0;
    for (int64_t j = 0; j < P; j++)
        trace += F[j * (P + 1)];
    const double least = 0x1p-44 * trace, last = F[P * P - 1];
    for (int64_t j = 0; j < P; j++)
        F[j * (P + 1)] += fmax(s->lambda, least);
    if (P > s->D)
        F[P * P - 1] = last + fmin(fmax(s->lambda, least), 0.1 * last) + least + DBL_MIN;
}

static mercer_status factor_classes(mercer_ctx *ctx, mc_loss_primal *s) {
    const int64_t P = s->P;
    for (int64_t a = 0; a < s->k; a++) {
        double *F = s->factors + a * P * P;
        int64_t bad = 0;
        memset(s->H, 0, (size_t)(s->segments * P * P) * sizeof *s->H);
        const int64_t count = choose_rows(s, a);
        MC_TRY(add_squares(
            ctx, s,
            (squares){.class = a, .count = count, .row = s->row, .factor = s->factor, .sign = 1, .side = P, .ld = P}));
        add_up_segments(s, P * P);
        memcpy(F, s->H, (size_t)(P * P) * sizeof *F);
        add_shift(s, F);
        MC_TRY(mc_potrf(ctx, mc_column_major(F, P, P, P), &bad));
        if (bad)
            return mc_fail(ctx, MERCER_NUMERIC,
                           "lambda = %g is lost in the rounding of the features; take a larger one", s->lambda);
    }
    return MERCER_OK;
}

typedef struct classes {
    const mc_loss_primal *s;
    double *y;
} classes;

static void solve_class(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const classes *c = arg;
    const int64_t P = c->s->P;
    for (int64_t a = begin; a < end; a++) {
        const mc_dense L = mc_column_major(c->s->factors + a * P * P, P, P, P),
                       y = mc_column_major(c->y + a * P, P, 1, P);
        mc_trsm(1, L, false, y);
        mc_trsm(1, L, true, y);
    }
}

static mercer_status precondition(mercer_ctx *ctx, const mc_loss_primal *s, const double *r, double *y) {
    const int64_t P = s->P;
    memcpy(y, r, (size_t)s->M * sizeof *y);
    if (s->dense)
        return mc_potrs(ctx, mc_column_major(s->H, s->M, s->M, s->M), mc_column_major(y, s->M, 1, s->M));
    MC_TRY(mc_for(ctx, s->k, mc_chunk_count(CLASS, P * P), solve_class, &(classes){s, y}));
    for (int64_t j = 0; j < P; j++) {
        double mean = 0;
        for (int64_t a = 0; a < s->k; a++)
            mean += y[a * P + j] / (double)s->k;
        for (int64_t a = 0; a < s->k; a++)
            y[a * P + j] -= mean;
    }
    return MERCER_OK;
}

/* ---- Conjugate gradients ---- */

typedef struct pass {
    const mc_loss_primal *s;
    const double *x;
    int64_t rows_each;
} pass;

/* part <- (Z, 1)' W (Z, 1) x over the rows of a segment. */
static void curve_segment(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const pass *p = arg;
    const mc_loss_primal *s = p->s;
    const int64_t D = s->D, P = s->P, k = s->k;
    double *out = s->part + chunk * s->M, *E = s->scratch + thread * s->scratch_each;
    memset(out, 0, (size_t)s->M * sizeof *out);
    for (int64_t i = begin; i < end; i += ROWS) {
        const int64_t m = end - i < ROWS ? end - i : ROWS;
        const mc_dense Z = mc_row_major(s->z.Z + i * D, m, D, D), e = mc_row_major(E, m, k, k);
        mc_gemm(1, Z, mc_column_major(p->x, D, k, P), 0, e);
        for (int64_t r = 0; r < m; r++) {
            for (int64_t a = 0; a < k && P > D; a++)
                E[r * k + a] += p->x[a * P + D];
            mc_loss_primal_curve(k, s->root + (i + r) * k, E + r * k);
            for (int64_t a = 0; a < k && P > D; a++)
                out[a * P + D] += E[r * k + a];
        }
        mc_gemm(1, mc_transposed(Z), e, 1, mc_column_major(out, D, k, P));
    }
}

static mercer_status apply_hessian(mercer_ctx *ctx, const mc_loss_primal *s, const double *x, double *y) {
    const int64_t segments = segment_count(s->n, 2.0 * (double)s->M, s->M);
    pass p = {s, x, mc_chunk_count(s->n, segments)};
    MC_TRY(mc_for(ctx, s->n, p.rows_each, curve_segment, &p));
    for (int64_t j = 0; j < s->M; j++)
        y[j] = s->P > s->D && j % s->P == s->D ? 0 : s->lambda * x[j];
    for (int64_t g = 0; g < mc_chunk_count(s->n, p.rows_each); g++)
        for (int64_t j = 0; j < s->M; j++)
            y[j] += s->part[g * s->M + j];
    return MERCER_OK;
}

static double dot(int64_t count, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* x <- H^-1 r, r the right-hand side and then what is left of it. */
static mercer_status solve_by_gradients(mercer_ctx *ctx, mc_loss_primal *s, double accuracy, double least) {
    const int64_t M = s->M;
    double before = 1, first = 0, top = 0;
    int64_t steps = 0;
    memset(s->x, 0, (size_t)M * sizeof *s->x);
    memset(s->p, 0, (size_t)M * sizeof *s->p);
    for (; steps < STEPS_MOST; steps++) {
        MC_TRY(precondition(ctx, s, s->r, s->y));
        const double now = dot(M, s->r, s->y);
        first = steps ? first : now;
        if (!(now > accuracy * accuracy * first) && (least == 0 || dot(M, s->r, s->r) * top <= least))
            break;
        for (int64_t j = 0; j < M; j++)
            s->p[j] = s->y[j] + (steps ? now / before * s->p[j] : 0);
        MC_TRY(apply_hessian(ctx, s, s->p, s->q));
        const double curvature = dot(M, s->p, s->q);
        if (!(curvature > 0))
            break;
        top = fmax(top, curvature / dot(M, s->p, s->p));
        for (int64_t j = 0; j < M; j++) {
            s->x[j] += now / curvature * s->p[j];
            s->r[j] -= now / curvature * s->q[j];
        }
        before = now;
        MC_TRY(mc_report_progress(ctx, -1));
    }
    s->first = s->kept || s->dense ? s->first : steps;
    s->extra = steps - s->first;
    mc_log_message(ctx, "primal: %lld products of %lld features to %.2g", (long long)steps, (long long)s->D, accuracy);
    return MERCER_OK;
}

/* Where a factor costs many passes, that of the step before serves as a preconditioner until it costs as many; but not
   where curvatures jump. */
static bool is_worth_keeping(const mc_loss_primal *s, const mc_loss_task *t) {
    return t->loss->probabilities && s->of == t && s->lambda == t->lambda && s->n > MC_LOSS_FEW && s->P >= KEEP
           && (s->k == 1 || !s->dense) && s->extra <= s->P / (AS_A_PASS * (s->dense ? 1 : stride_of(s)));
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
    return s->dense ? factor_dense(ctx, s) : factor_classes(ctx, s);
}

mercer_status mc_loss_primal_solve(mercer_ctx *ctx, mc_loss_primal *s, const double *G, double accuracy, double least,
                                   double *U) {
    const size_t bytes = (size_t)s->M * sizeof *U;
    if (s->dense && !s->kept) {
        memcpy(U, G, bytes);
        return mc_potrs(ctx, mc_column_major(s->H, s->M, s->M, s->M), mc_column_major(U, s->M, 1, s->M));
    }
    memcpy(s->r, G, bytes);
    MC_TRY(solve_by_gradients(ctx, s, accuracy, least));
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
