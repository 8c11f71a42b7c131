/* newton_free.c: see newton_free.h. With F the free variables and v their slopes, the optimum among the free variables
   is where slopes agree and the sum is kept. A variable that would pass a bound is held there instead, and the others
   are asked again: with B those held, E_B their unit columns, and gap_B their way to the bound

       K_FF d + E_B lambda + 1 nu = v,      d_B = gap_B,      1'd = 0

   that is d = X - Y lambda - Z nu with X, Y, Z = K_FF^-1 (v, E_B, 1), where the columns of E = (E_B, 1) fix lambda and
   nu:

       (E' K_FF^-1 E) (lambda, nu) = E'X - (gap_B, 0)

   so that holding more variables takes solutions with the one factor, not another factor. The diagonal of K_FF is
   raised by what its entries' precision makes it unsure of. */
#include "qp/newton_free.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "linalg/cholesky.h"
#include <math.h>
#include <string.h>

enum { TIMES = 8, HELD_MOST = 512 };

typedef struct kkt {
    const mc_newton_free *p;
    int64_t count, *id; /* of F */
    const void **row;
    double *A;          /* the factor of K_FF */
    double *X;          /* count */
    double *Y;          /* count x most: K_FF^-1 E, the column of ones first */
    int64_t held, most; /* columns of E: 1 and those held */
    int64_t *which;     /* of E's columns after the first: the place in F */
    uint8_t *is_held;   /* count */
    double *fresh;      /* count x most: columns on their way into Y */
    double *S, *lambda; /* of order held */
    double *d;
} kkt;

static bool is_free(const mc_newton_free *p, int64_t t) {
    return p->beta[t] > p->dual->low[t] && p->beta[t] < p->dual->high[t];
}

static int64_t count_free(const mc_newton_free *p) {
    int64_t count = 0;
    for (int64_t t = 0; t < p->dual->m; t++)
        count += is_free(p, t);
    return count;
}

/* ---- Room ---- */

static int64_t most_held(int64_t count) {
    return count / 4 + 1 < HELD_MOST ? count / 4 + 1 : HELD_MOST;
}

static void lay_out_kkt_workspace(mc_work *work, int64_t count, kkt *s) {
    s->count = count;
    s->most = most_held(count);
    s->id = mc_work_take(work, count, sizeof(int64_t));
    s->row = mc_work_take(work, count, sizeof(void *));
    s->X = mc_work_take(work, count, sizeof(double));
    s->d = mc_work_take(work, count, sizeof(double));
    s->which = mc_work_take(work, s->most, sizeof(int64_t));
    s->is_held = mc_work_take(work, count, 1);
    s->S = mc_work_take(work, mc_packed_count(s->most), sizeof(double));
    s->lambda = mc_work_take(work, s->most, sizeof(double));
}

static size_t kkt_workspace_bytes(int64_t count) {
    mc_work counted = {0};
    lay_out_kkt_workspace(&counted, count, &(kkt){0});
    return counted.used;
}

/* What is large is left to the next step. */
static void lay_out_factor(mc_work *work, kkt *s) {
    s->A = mc_work_take(work, mc_packed_count(s->count), sizeof *s->A);
    s->Y = mc_work_take(work, s->count * s->most, sizeof *s->Y);
    s->fresh = mc_work_take(work, s->count * s->most, sizeof *s->fresh);
}

static size_t factor_bytes(int64_t count) {
    mc_work counted = {0};
    lay_out_factor(&counted, &(kkt){.count = count, .most = most_held(count)});
    return counted.used;
}

size_t mc_newton_free_bytes(int64_t count) {
    return kkt_workspace_bytes(count) + factor_bytes(count);
}

/* ---- The factor ---- */

static mercer_status list_free_variables(mercer_ctx *ctx, kkt *s) {
    const mc_newton_free *p = s->p;
    int64_t count = 0;
    for (int64_t t = 0; t < p->dual->m; t++)
        if (is_free(p, t)) {
            s->id[count] = t;
            s->X[count++] = -(p->f[t] + p->dual->q[t]);
        }
    return mc_matrix_view(ctx, p->K, s->id, count, s->row);
}

static double diagonal_of(const kkt *s, int64_t a) {
    return s->p->K->dtype == MERCER_F64 ? ((const double *)s->row[a])[s->id[a]]
                                        : (double)((const float *)s->row[a])[s->id[a]];
}

static mercer_status factor_free_block(mercer_ctx *ctx, kkt *s, bool *done) {
    double trace = 0;
    for (int64_t a = 0; a < s->count; a++)
        trace += diagonal_of(s, a);
    const double unsure = s->p->K->dtype == MERCER_F64 ? 1e-14 : 6e-8;
    double raise = unsure * sqrt((double)s->count) * trace / (double)s->count;
    *done = false;
    for (int attempt = 0; attempt < 3 && !*done; attempt++, raise *= 30) {
        int64_t bad = 0;
        MC_TRY(mc_packed_take(ctx, s->count, s->p->K->dtype, s->row, s->id, raise, s->A));
        MC_TRY(mc_potrf(ctx, mc_packed(s->count, s->A), &bad));
        *done = bad == 0;
    }
    return MERCER_OK;
}

/* ---- Those held ---- */

/* The columns of E from first on into Y. */
static mercer_status solve_columns(mercer_ctx *ctx, kkt *s, int64_t first) {
    const int64_t t = s->held - first;
    memset(s->fresh, 0, (size_t)(s->count * t) * sizeof *s->fresh);
    for (int64_t c = first; c < s->held; c++)
        if (c)
            s->fresh[s->which[c] * t + c - first] = 1;
    for (int64_t a = 0; a < s->count && !first; a++)
        s->fresh[a * t] = 1;
    MC_TRY(mc_potrs(ctx, mc_packed(s->count, s->A), mc_row_major(s->fresh, s->count, t, t)));
    for (int64_t a = 0; a < s->count; a++)
        memcpy(s->Y + a * s->most + first, s->fresh + a * t, (size_t)t * sizeof *s->Y);
    return MERCER_OK;
}

static double gap_of(const kkt *s, int64_t a, double d) {
    const int64_t t = s->id[a];
    return (d < 0 ? s->p->dual->low[t] : s->p->dual->high[t]) - s->p->beta[t];
}

/* lambda, nu first, and d. S is symmetric: its column of ones is the sum of Y's rows. */
static mercer_status direction_with_held(mercer_ctx *ctx, kkt *s, bool *done) {
    const int64_t n = s->held;
    memset(s->lambda, 0, (size_t)n * sizeof *s->lambda);
    for (int64_t c = 0; c < n; c++)
        s->S[mc_packed_place(n, c, 0)] = 0;
    for (int64_t a = 0; a < s->count; a++) {
        s->lambda[0] += s->X[a];
        for (int64_t c = 0; c < n; c++)
            s->S[mc_packed_place(n, c, 0)] += s->Y[a * s->most + c];
    }
    for (int64_t c = 1; c < n; c++) {
        s->lambda[c] = s->X[s->which[c]] - s->d[s->which[c]];
        for (int64_t b = 1; b <= c; b++)
            s->S[mc_packed_place(n, c, b)] = s->Y[s->which[c] * s->most + b];
    }
    int64_t bad = 0;
    MC_TRY(mc_potrf(ctx, mc_packed(n, s->S), &bad));
    *done = bad == 0;
    if (!*done)
        return MERCER_OK;
    MC_TRY(mc_potrs(ctx, mc_packed(n, s->S), mc_row_major(s->lambda, n, 1, 1)));
    for (int64_t a = 0; a < s->count; a++) {
        double d = s->X[a];
        for (int64_t c = 0; c < n; c++)
            d -= s->Y[a * s->most + c] * s->lambda[c];
        s->d[a] = s->is_held[a] ? s->d[a] : d;
    }
    return MERCER_OK;
}

/* Those that would pass a bound are held there. False: there are too many. */
static bool hold_at_bounds(kkt *s) {
    for (int64_t a = 0; a < s->count; a++) {
        const double gap = gap_of(s, a, s->d[a]);
        if (s->is_held[a] || fabs(s->d[a]) < fabs(gap))
            continue;
        if (s->held == s->most)
            return false;
        s->is_held[a] = 1;
        s->d[a] = gap;
        s->which[s->held++] = a;
    }
    return true;
}

/* *done: all of beta + d is within its bounds. */
static mercer_status iterate_held_set(mercer_ctx *ctx, kkt *s, bool *done) {
    int64_t before = 0;
    s->held = 1;
    MC_TRY(mc_potrs(ctx, mc_packed(s->count, s->A), mc_row_major(s->X, s->count, 1, 1)));
    for (int k = 0; k < TIMES; k++) {
        MC_TRY(solve_columns(ctx, s, before));
        MC_TRY(direction_with_held(ctx, s, done));
        before = s->held;
        if (!*done || !(*done = hold_at_bounds(s)) || s->held == before)
            return MERCER_OK;
    }
    *done = false;
    return MERCER_OK;
}

static mercer_status find_newton_step(mercer_ctx *ctx, kkt *s, double *step, bool *found) {
    MC_TRY(list_free_variables(ctx, s));
    MC_TRY(factor_free_block(ctx, s, found));
    if (*found)
        MC_TRY(iterate_held_set(ctx, s, found));
    for (int64_t a = 0; a < s->count && *found; a++)
        step[s->id[a]] = s->d[a];
    return MERCER_OK;
}

mercer_status mc_newton_free_step(mercer_ctx *ctx, const mc_newton_free *p, double *step, bool *found) {
    const int64_t count = count_free(p);
    kkt s = {.p = p};
    mc_work work;
    *found = false;
    memset(step, 0, (size_t)p->dual->m * sizeof *step);
    if (count < 2 || mc_newton_free_bytes(count) > (mc_memory_left(ctx) + p->buffer->size) / 2)
        return MERCER_OK;
    char *block = mc_buffer_reserve(ctx, p->buffer, factor_bytes(count));
    if (!block)
        return MERCER_MEMORY;
    MC_TRY(mc_work_open(ctx, &work, kkt_workspace_bytes(count)));
    lay_out_kkt_workspace(&work, count, &s);
    lay_out_factor(&(mc_work){.block = block, .size = factor_bytes(count)}, &s);
    const mercer_status status = find_newton_step(ctx, &s, step, found);
    mc_work_close(&work);
    return status;
}
