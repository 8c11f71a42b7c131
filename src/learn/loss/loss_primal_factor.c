/* loss_primal_factor.c: the factors of loss_primal.c: of H written out, or of the preconditioner, class by class, from
   some of the rows. */
#include "learn/loss/loss_primal_state.h"
#include "base/parallel.h"
#include "base/status.h"
#include "linalg/dense.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { TILE = 256, RAISES = 8, ALL = -1 };
enum { ROWS_EACH = 16 };               /* rows for a feature that a preconditioner is made from at least */
static const double NEGLIGIBLE = 1e-9; /* of the weight that a row must have to count by itself */

/* What class a has on the diagonal of W_i; ALL: what they have on average. */
static double diagonal_of_row(int64_t k, const double *root, int64_t a) {
    double mass = 0;
    for (int64_t j = 0; j < k; j++)
        mass += root[j] * root[j];
    if (k == 1 || !(mass > 0))
        return mass;
    if (a != ALL)
        return root[a] * root[a] * (1 - root[a] * root[a] / mass);
    double sum = 0;
    for (int64_t j = 0; j < k; j++)
        sum += root[j] * root[j] * (1 - root[j] * root[j] / mass);
    return sum / (double)k;
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
    for (int64_t from = first; from < last; from += MC_LOSS_PRIMAL_ROWS) {
        const int64_t count = last - from < MC_LOSS_PRIMAL_ROWS ? last - from : MC_LOSS_PRIMAL_ROWS;
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
mercer_status mc_loss_primal_factor_dense(mercer_ctx *ctx, mc_loss_primal *s) {
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

int64_t mc_loss_primal_stride(const mc_loss_primal *s) {
    const int64_t cheap = s->P / MC_LOSS_PRIMAL_PASS / (s->shared ? s->k : 1), enough = s->n / (ROWS_EACH * s->P),
                  stride = cheap < enough ? cheap : enough;
    return stride > 1 ? stride : 1;
}

double mc_loss_primal_factors_in_products(const mc_loss_primal *s) {
    const double n = (double)s->n, P = (double)s->P, rows = n / (double)mc_loss_primal_stride(s);
    return (rows * P + P * P / 3) / (4 * n + 2 * P);
}

/* The rows of class a with their roots of what it has on the diagonal of W: those that have much, and of the others
   every so many-th, counted as often. Where classes are well apart a few rows are nearly all of it. */
static int64_t choose_rows(const mc_loss_primal *s, int64_t a) {
    const int64_t stride = mc_loss_primal_stride(s);
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

mercer_status mc_loss_primal_factor_classes(mercer_ctx *ctx, mc_loss_primal *s) {
    const int64_t P = s->P;
    for (int64_t a = 0; a < (s->shared ? 1 : s->k); a++) {
        double *F = s->factors + a * P * P;
        int64_t bad = 0;
        memset(s->H, 0, (size_t)(s->segments * P * P) * sizeof *s->H);
        const int64_t count = choose_rows(s, s->shared ? ALL : a);
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
