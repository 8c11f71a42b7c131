/* speed.c: the speed of this machine, measured in some ten milliseconds on small pieces of what a fit does:

       a factorisation, an eigendecomposition, the Gram matrix of the first rows times the right-hand sides in double
       and in float, and cosines and sines.

   Speeds rise with size. The counts of operations allow for that (mc_factor_work, mc_eigen_work), so that a small piece
   speaks for a large one. */
#include "plan/speed.h"
#include "backend/device_price.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "iterative/preconditioner_rank.h"
#include "kernel/evaluate/row_sets.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    FACTOR_ORDER = 640,
    EIGEN_ORDER = 128,
    PAIR_ROWS_LEAST = 512,
    SET_ROWS_LEAST = 32,
    PAIR_ROWS = 2048,
    FEATURES = 4096,
    TAKES = 5
};
static const double PAIRS_WORK = 2e8; /* operations of a product of the rows that pairs are timed on, in float */
/* seconds that a fit takes before it computes anything: threads wake, memory is touched */
static const double START = 0.004;

/* A well conditioned matrix without structure that LAPACK could use: 1 / (1 + |i - j|), and more on the diagonal. */
static double test_matrix_entry(int64_t i, int64_t j) {
    return 1 / (1 + fabs((double)(i - j))) + (i == j ? 2 : 0);
}

/* The order of a piece: no larger than the problem, and its square of doubles no more than a quarter of what is left.
   */
static int64_t order_within(const mercer_ctx *ctx, int64_t n, int64_t most) {
    const int64_t largest = (int64_t)sqrt((double)mc_memory_left(ctx) / 4 / sizeof(double)),
                  order = largest < n ? largest : n;
    return order < 32 ? 32 : order < most ? order : most;
}

static mercer_status time_factor(mercer_ctx *ctx, const mc_problem *p, double *out) {
    const int64_t n = order_within(ctx, p->n, FACTOR_ORDER);
    double *A = NULL;
    MC_TRY(MC_ALLOC(ctx, A, mc_packed_count(n)));
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            A[mc_packed_place(n, i, j)] = test_matrix_entry(i, j);
    int64_t bad;
    const double began = mc_clock_seconds();
    const mercer_status status = mc_potrf(ctx, mc_packed(n, A), &bad);
    *out = (mc_clock_seconds() - began) / mc_factor_work((double)n);
    mc_free(A);
    return status;
}

static mercer_status time_eigen(mercer_ctx *ctx, const mc_problem *p, double *out) {
    const int64_t n = order_within(ctx, p->n, EIGEN_ORDER);
    double *A = NULL;
    MC_TRY(MC_ALLOC(ctx, A, n * n + n));
    for (int64_t i = 0; i < n * n; i++)
        A[i] = test_matrix_entry(i / n, i % n);
    const double began = mc_clock_seconds();
    const mercer_status status = mc_syevd(ctx, mc_column_major(A, n, n, n), A + n * n);
    *out = (mc_clock_seconds() - began) / mc_eigen_work((double)n);
    mc_free(A);
    return status;
}

/* V: two blocks of rows x outputs. */
static mercer_status time_rows(mercer_ctx *ctx, const mc_problem *p, const mercer_data *rows, mercer_dtype precision,
                               double *V, double *out) {
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, p->kernel, rows, NULL, precision, &gram));
    const double began = mc_clock_seconds();
    const mercer_status status = mc_gram_apply(ctx, gram, p->outputs, V, V + rows->n * p->outputs);
    *out = (mc_clock_seconds() - began) / ((double)rows->n * (double)rows->n);
    mc_gram_close(gram);
    return status;
}

/* The more rows, the less weighs what every product takes beside its pairs; the wider they are, the fewer suffice. */
static int64_t rows_to_pair(const mercer_ctx *ctx, const mc_problem *p) {
    const double entry = mc_rank_entry((double)mercer_data_stored(p->x) / (double)p->n) + 4 * (double)p->outputs;
    const double set = p->x->texts ? mc_row_sets_work(p->kernel->root, p->x) : 0;
    const double wanted =
        fmax(set > 0 ? SET_ROWS_LEAST : PAIR_ROWS_LEAST, fmin(PAIR_ROWS, sqrt(2 * PAIRS_WORK / (entry + set))));
    const int64_t largest = order_within(ctx, p->n, (int64_t)wanted);
    return p->n < largest ? p->n : largest;
}

static mercer_status time_product(mercer_ctx *ctx, const mc_problem *p, mercer_dtype precision, double *out) {
    const int64_t n = rows_to_pair(ctx, p);
    mercer_data *rows = NULL;
    double *V = NULL;
    MC_TRY(mc_data_take(ctx, p->x, NULL, n, &rows));
    mercer_status status = MC_ALLOC(ctx, V, 2 * n * p->outputs);
    MC_THEN(status, time_rows(ctx, p, rows, precision, V, out));
    mc_free(V);
    mercer_data_free(rows);
    return status;
}

static mercer_status time_pairs(mercer_ctx *ctx, const mc_problem *p, double *out) {
    return time_product(ctx, p, MERCER_F64, out);
}

static mercer_status time_fast(mercer_ctx *ctx, const mc_problem *p, double *out) {
    return time_product(ctx, p, MERCER_F32, out);
}

/* On one thread; the rows of a fit are shared out among all. */
static mercer_status time_fourier_features(mercer_ctx *ctx, const mc_problem *p, double *out) {
    (void)p;
    double sum = 0;
    const double began = mc_clock_seconds();
    for (int i = 0; i < FEATURES; i++) {
        double a, b;
        sincos(0.37 * i, &a, &b);
        sum += a - b;
    }
    const double seconds = mc_clock_seconds() - began;
    /* the sum must be wanted, or nothing would be timed */
    *out = (sum > -INFINITY ? seconds : 0) / FEATURES / ctx->threads;
    return MERCER_OK;
}

/* ---- The table ---- */

/* A unit of work: where its count stands in an option, and what one of it takes here. */
typedef struct unit {
    size_t count, seconds; /* in mc_solver_option, in mc_speed */
    mercer_status (*time)(mercer_ctx *ctx, const mc_problem *p, double *seconds);
} unit;

enum { UNITS = 5 };
static const unit units[UNITS] = {
    {offsetof(mc_solver_option, pairs), offsetof(mc_speed, pair), time_pairs},
    {offsetof(mc_solver_option, fast), offsetof(mc_speed, fast), time_fast},
    {offsetof(mc_solver_option, factor), offsetof(mc_speed, factor), time_factor},
    {offsetof(mc_solver_option, eigen), offsetof(mc_speed, eigen), time_eigen},
    {offsetof(mc_solver_option, fourier), offsetof(mc_speed, fourier), time_fourier_features},
};

static_assert(sizeof(mc_speed) == UNITS * sizeof(double), "what a context keeps");

static double *seconds_of(mc_speed *s, const unit *u) {
    return (double *)(void *)((char *)s + u->seconds);
}

/* About two threads of a processor of 2020. */
static mc_speed nominal_speed(const mc_problem *p) {
    const double entry = mc_rank_entry((double)mercer_data_stored(p->x) / (double)p->n) + 4 * (double)p->outputs;
    return (mc_speed){.pair = 2e-11 * entry, .fast = 1e-11 * entry, .factor = 1.5e-11, .eigen = 6e-11, .fourier = 5e-9};
}

/* More right-hand sides add a multiplication each to a pair. */
mc_speed mc_speed_with_card(const mc_problem *p, const mc_speed *here) {
    const double width = (double)mercer_data_stored(p->x) / (double)p->n + (double)p->outputs - 1;
    mc_speed there = *here;
    there.pair = mc_price_card_pair(width, MERCER_F64);
    there.fast = mc_price_card_pair(width, MERCER_F32);
    return there;
}

/* The best of five takes: the first wakes threads and fills caches. */
mercer_status mc_speed_measure(mercer_ctx *ctx, const mc_problem *problem, mc_speed *out) {
    if (ctx->nominal || ctx->speed.known) {
        *out = ctx->nominal ? nominal_speed(problem) : *(const mc_speed *)(const void *)ctx->speed.seconds;
        return MERCER_OK;
    }
    *out = (mc_speed){INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    for (int take = 0; take < TAKES; take++)
        for (const unit *u = units; u < units + UNITS; u++) {
            double seconds;
            MC_TRY(u->time(ctx, problem, &seconds));
            *seconds_of(out, u) = fmin(*seconds_of(out, u), seconds);
        }
    ctx->speed.known = ctx->speed.kept && problem->n >= PAIR_ROWS;
    memcpy(ctx->speed.seconds, out, sizeof *out);
    return MERCER_OK;
}

void mc_speed_keep(mercer_ctx *ctx, bool on) {
    ctx->speed.kept = on;
    ctx->speed.known = false;
}

double mc_speed_seconds(const mc_speed *s, const mc_solver_option *o) {
    double sum = 0;
    for (const unit *u = units; u < units + UNITS; u++)
        sum += *(const double *)(const void *)((const char *)o + u->count)
               * *(const double *)(const void *)((const char *)s + u->seconds);
    return sum;
}

void mc_speed_price(const mc_speed *s, mc_solver_options *options) {
    for (int i = 0; i < options->count; i++) {
        mc_solver_option *o = &options->option[i];
        o->seconds = mc_speed_seconds(s, o);
        o->seconds += o->seconds > 0 ? START : 0;
    }
}
