/* cholesky.c: the packed triangle seen whole: layout, scaling, squared lengths of columns. The factor is triangle.c's.
   */
#include "linalg/cholesky.h"
#include "base/parallel.h"
#include "base/status.h"
#include "linalg/dense_ops.h"
#include "linalg/triangle.h"

enum { COLUMNS = 64 }; /* columns of a chunk */

int64_t mc_packed_count(int64_t n) {
    return n % 2 ? (n + 1) / 2 * n : n / 2 * (n + 1);
}

int64_t mc_packed_place(int64_t n, int64_t i, int64_t j) {
    const int64_t odd = n % 2, n1 = n - n / 2, ld = n + 1 - odd;
    return j < n1 ? 1 - odd + i + j * ld : (odd + i - n1) * ld + j - n1;
}

typedef struct scaling {
    int64_t n;
    double *A;
    const double *s;
    double shift;
} scaling;

static void scale_columns(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const scaling *c = arg;
    for (int64_t j = begin; j < end; j++) {
        for (int64_t i = j; i < c->n && c->s; i++)
            c->A[mc_packed_place(c->n, i, j)] *= c->s[i] * c->s[j];
        c->A[mc_packed_place(c->n, j, j)] += c->shift;
    }
}

mercer_status mc_packed_scale(mercer_ctx *ctx, int64_t n, double *A, const double *s, double shift) {
    scaling c = {.n = n, .A = A, .s = s, .shift = shift};
    return mc_for(ctx, n, COLUMNS, scale_columns, &c);
}

typedef struct factor_taking {
    int64_t n;
    bool wide;
    const void *const *row;
    const int64_t *id;
    double raise, *A;
} factor_taking;

/* What lies together in the packed triangle is a part of one row of K: from the diagonal on, or, in the second half, up
   to it. */
static void take_lines(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const factor_taking *t = arg;
    const int64_t half = t->n - t->n / 2;
    for (int64_t k = begin; k < end; k++) {
        const int64_t from = k < half ? k : half, to = k < half ? t->n : k + 1;
        double *out = t->A + mc_packed_place(t->n, k, from);
        for (int64_t a = from; a < to; a++) {
            const int64_t column = t->id ? t->id[a] : a;
            out[a - from] = t->wide ? ((const double *)t->row[k])[column] : (double)((const float *)t->row[k])[column];
        }
        out[k - from] += t->raise;
    }
}

mercer_status mc_packed_take(mercer_ctx *ctx, int64_t n, mercer_dtype dtype, const void *const *row, const int64_t *id,
                             double raise, double *A) {
    factor_taking t = {n, dtype == MERCER_F64, row, id, raise, A};
    return mc_for(ctx, n, COLUMNS, take_lines, &t);
}

typedef struct lengths {
    mc_halves h;
    double *out;
} lengths;

static double square_sum(const double *v, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += v[i] * v[i];
    return sum;
}

/* Columns that begin in the first triangle: its part, then the square below; both lie along the column. */
static void first_lengths(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const lengths *l = arg;
    const mc_dense t = l->h.first, R = l->h.below;
    for (int64_t j = begin; j < end; j++)
        l->out[j] = square_sum((const double *)t.a + j + j * t.ld, t.rows - j)
                    + square_sum((const double *)R.a + j * R.ld, R.rows);
}

/* Columns of the second triangle, which lies by rows: a chunk of columns is a strip of every row. */
static void second_lengths(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const lengths *l = arg;
    const mc_dense t = l->h.second;
    const double *row = t.a;
    double *out = l->out + l->h.first.rows;
    for (int64_t j = begin; j < end; j++)
        out[j] = 0;
    for (int64_t i = begin; i < t.rows; i++)
        for (int64_t j = begin; j < end && j <= i; j++)
            out[j] += row[j + i * t.ld] * row[j + i * t.ld];
}

mercer_status mc_host_column_squares(mercer_ctx *ctx, mc_dense L, double *out) {
    lengths l = {.h = mc_triangle_split(L), .out = out};
    MC_TRY(mc_for(ctx, l.h.first.rows, COLUMNS, first_lengths, &l));
    return mc_for(ctx, l.h.second.rows, COLUMNS, second_lengths, &l);
}
