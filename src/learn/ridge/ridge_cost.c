/* ridge_cost.c: bytes and operations of the ways to solve ridge. One row per way; the sums follow the allocations of
   ridge_solve.c.

   Held throughout: alpha (n x c), the right-hand sides (n x (c + 1)). Then, one after the other:
       cholesky   the operator and the packed triangle; then the triangle and a diagonal
       eigen      the operator and a square; then the square and LAPACK's two squares; then the square and coordinates
       pcg        what ridge_pcg.c says
       check      the operator and what certify/ridge_certificate.c takes */
#include "learn/ridge/ridge_cost.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "certify/ridge_certificate.h"
#include "learn/ridge/ridge_primal.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include <math.h>
#include <string.h>

enum {
    small = 8192, /* the model itself, its names aside */
    DOUBLES = 2   /* an operation on doubles counts for two on floats */
};
/* steps are estimated, a factorisation is certain: the steps must promise to be so much shorter */
static const double MARGIN = 1.25;

static size_t bytes_of_doubles(int64_t count) {
    return mc_work_need(count, sizeof(double)) + 2 * MC_ALIGN;
}

size_t mc_ridge_always_bytes(int64_t n, int64_t outputs) {
    return bytes_of_doubles(n * outputs) + bytes_of_doubles(n * (outputs + 1)) + 2 * bytes_of_doubles(outputs) + small;
}

static size_t bytes_always_held(const mc_ridge_size *s) {
    return mc_ridge_always_bytes(s->n, s->outputs);
}

static size_t check_bytes(const mc_ridge_size *s) {
    return s->product_bytes + mc_certify_bytes(s->n, s->outputs) + 2 * MC_ALIGN;
}

static size_t cholesky_bytes(const mc_ridge_size *s) {
    const size_t triangle = s->factored_there ? 0 : bytes_of_doubles(mc_packed_count(s->n)),
                 solving = triangle + bytes_of_doubles(2 * s->n);
    return bytes_always_held(s) + mc_max_size(solving + s->matrix_bytes, check_bytes(s));
}

static size_t eigen_bytes(const mc_ridge_size *s) {
    const size_t square = bytes_of_doubles(s->n * s->n) + bytes_of_doubles(3 * s->n),
                 coordinates = bytes_of_doubles(s->n * (s->outputs + 1));
    const size_t beside = mc_max_size(s->matrix_bytes + mc_eigen_bytes(s->n) + 2 * MC_ALIGN, coordinates);
    return bytes_always_held(s) + mc_max_size(square + beside, check_bytes(s));
}

/* Where the check follows a product in double of the answer itself. */
static size_t check_bytes_with_product(const mc_ridge_size *s) {
    return check_bytes(s) + mc_cached_product_bytes(s->n, s->outputs);
}

/* On trial a factorisation may follow. */
static size_t pcg_bytes(const mc_ridge_size *s) {
    const size_t steps = s->on_trial ? s->pcg.trial : s->pcg.bytes,
                 bytes = bytes_always_held(s) + mc_max_size(steps, check_bytes_with_product(s));
    return s->on_trial ? mc_max_size(bytes, cholesky_bytes(s)) : bytes;
}

/* A map needs no more than four times its dimension beside it, and the row extended by one. */
static size_t primal_bytes(const mc_ridge_size *s) {
    const int64_t D = s->features, scratch = 4 * D + s->d + 1;
    const mc_ridge_primal_size size = {.n = s->n,
                                       .d = s->d,
                                       .D = D,
                                       .outputs = s->outputs,
                                       .threads = s->threads,
                                       .scratch = scratch,
                                       .loo = s->loo,
                                       .spectral = s->lambda <= 0};
    if (D < 0)
        return bytes_always_held(s);
    return bytes_of_doubles(s->n * (s->outputs + 1)) + bytes_of_doubles(D * s->outputs)
           + 2 * bytes_of_doubles(s->outputs) + small
           + mc_max_size(mc_ridge_primal_bytes(&size),
                         mc_certify_weights_bytes(s->d, D, s->outputs, s->threads, scratch))
           + 4 * MC_ALIGN;
}

static size_t mixed_bytes(const mc_ridge_size *s) {
    return bytes_always_held(s) + mc_max_size(s->mixed, check_bytes_with_product(s));
}

static size_t nystrom_bytes(const mc_ridge_size *s) {
    return small + s->nystrom;
}

static size_t fourier_bytes(const mc_ridge_size *s) {
    return small + s->fourier;
}

/* ---- Operations ---- */

/* Operations, counted as the code does them, in the units of plan/cost.h.

   The constants beside the powers were found by timing fits of a thousand to sixteen thousand rows on one thread. */

enum {
    SAMPLED_ROWS = 1024, /* rows on which an approximation is measured: certify/sampled_residual.c */
    /* rows that pivots, and the preconditioner of many landmarks, are taken from: landmarks.c, ridge_nystrom.c */
    OVERSAMPLE = 8,
    STORED = 14,    /* operations in the time of reading an entry of a stored K */
    MONOMIAL = 800, /* operations in the time of writing a feature, in all passes together */
    CHEAP = 2500    /* landmarks up to which the preconditioner is of all rows: ridge_nystrom.c */
};
static double rows_squared(const mc_ridge_size *s) {
    return (double)s->n * (double)s->n;
}

/* The triangle of K and the check. */
static void work_cholesky(const mc_ridge_size *s, mc_solver_option *o) {
    o->pairs = 2 * rows_squared(s);
    o->factor = mc_factor_work((double)s->n) * (s->loo ? 2 : 1) + 2 * rows_squared(s) * (double)s->outputs;
}

/* The triangle and some steps in float; residuals in double, the last of which is the check. */
static void work_mixed(const mc_ridge_size *s, mc_solver_option *o) {
    o->fast = 7 * rows_squared(s);
    o->pairs = (s->intercept ? 5 : 4) * rows_squared(s);
    o->factor = mc_factor_work((double)s->n) / 2 + 12 * rows_squared(s) * (1 + (double)s->outputs / 8);
}

static void work_eigen(const mc_ridge_size *s, mc_solver_option *o) {
    o->pairs = 2.5 * rows_squared(s);
    o->eigen = mc_eigen_work((double)s->n);
}

/* Columns of K, F from them, F'F and its factor; then steps, each a product and two readings of F. K is made once where
   it is kept; elsewhere a close answer takes a second residual, and with an intercept the check is one more product. */
static void work_pcg(const mc_ridge_size *s, mc_solver_option *o) {
    const double n = (double)s->n, r = (double)s->rank, t = (double)s->outputs + s->intercept;
    const bool close = s->tolerance < 1e-5;
    o->fast = s->pcg.stored ? 0 : 2 * n * r + s->steps * rows_squared(s);
    o->pairs = s->pcg.stored ? rows_squared(s) : (1 + close + s->intercept) * rows_squared(s);
    o->factor = 1.5 * n * r * r + mc_factor_work(r) + s->steps * n * r * (8 + 4 * t);
    if (s->pcg.stored)
        o->factor += s->steps * rows_squared(s) / 2 * (STORED + 4 * t);
}

/* Two passes over the features, the products, and the check; the factor and its inverse, or eigenvalues. */
static void work_primal(const mc_ridge_size *s, mc_solver_option *o) {
    const double n = (double)s->n, D = s->features > 0 ? (double)s->features : 0;
    o->factor = n * D * D * (s->loo ? 2 : 1) + 2 * mc_factor_work(D) + n * D * (MONOMIAL + 4 * (double)s->outputs);
    o->eigen = s->lambda > 0 ? 0 : mc_eigen_work(D);
}

/* Pivots from a pool, the square of the landmarks and its factor, features of the rows and their products; then two
   products with K_xz for the right-hand sides, three times two for a step and two residuals, one for the values. */
static void work_nystrom(const mc_ridge_size *s, mc_solver_option *o) {
    const double n = (double)s->n, m = (double)s->landmarks, pool = fmin(n, OVERSAMPLE * m),
                 rows = m <= CHEAP ? n : pool;
    o->fast = 2 * pool * m;
    o->pairs = 2 * (m * m + rows * m + 8 * n * m + SAMPLED_ROWS * n);
    o->factor = 0.6 * pool * m * m + 2.8 * rows * m * m + 5 * mc_factor_work(m);
}

static void work_fourier(const mc_ridge_size *s, mc_solver_option *o) {
    const double n = (double)s->n, m = 2 * (double)s->frequencies;
    o->pairs = 2 * SAMPLED_ROWS * n;
    o->fourier = n * m;
    o->factor = 1.7 * n * m * m + mc_factor_work(m) + 2 * n * m * ((double)s->d + 2 * (double)s->outputs);
}

/* ---- The table ---- */

typedef struct solver_row {
    const char *name, *reason;
    size_t (*bytes)(const mc_ridge_size *size);
    void (*work)(const mc_ridge_size *size, mc_solver_option *out);
    int64_t largest; /* n */
} solver_row;

enum { CHOLESKY, MIXED, EIGEN, PCG, PRIMAL, NYSTROM, FOURIER, SOLVERS };
static const solver_row solvers[SOLVERS] = {
    {"cholesky", "exact: one factorisation in half a square of memory", cholesky_bytes, work_cholesky, INT32_MAX - 1},
    {"mixed", "exact: the factor in float, the answer refined to double; no leave-one-out", mixed_bytes, work_mixed,
     INT32_MAX - 1},
    {"eigen", "exact for every lambda: the eigenvalues show the rank and, with lambda = 0, the least norm", eigen_bytes,
     work_eigen, MC_EIGEN_LARGEST},
    {"pcg",
     "exact to the tolerance: conjugate gradients with a preconditioner of low rank; K is kept only where that is "
     "quicker",
     pcg_bytes, work_pcg, INT32_MAX - 1},
    {"primal", "exact: in the features of the kernel, which are fewer than the rows", primal_bytes, work_primal,
     INT32_MAX - 1},
    {"nystrom", "approximate: functions at landmarks only, its residual measured on a sample of rows", nystrom_bytes,
     work_nystrom, INT32_MAX - 1},
    {"fourier", "approximate: random cosines and sines, its residual measured on a sample of rows", fourier_bytes,
     work_fourier, INT32_MAX - 1},
};

static bool is_direct(const solver_row *w) {
    return w == &solvers[CHOLESKY] || w == &solvers[MIXED] || w == &solvers[EIGEN] || w == &solvers[PRIMAL];
}

/* What a way cannot do, whatever the memory; NULL: nothing. asked: by name, so that every other wish must be met too.
   */
static const char *why_not(const mc_ridge_size *size, const solver_row *w, bool asked) {
    if (w == &solvers[PRIMAL] && size->features < 0)
        return "needs a kernel with at most as many explicit features as there are rows";
    if (w == &solvers[PRIMAL] && size->lambda <= 0 && size->features > MC_EIGEN_LARGEST)
        return "needs lambda > 0 for so many features";
    if ((!is_direct(w) || w == &solvers[MIXED]) && size->lambda <= 0)
        return "needs lambda > 0";
    if ((!is_direct(w) || w == &solvers[MIXED]) && size->loo && asked)
        return "gives no leave-one-out error";
    if (w != &solvers[PCG] && size->has_checkpoint && asked)
        return "writes no checkpoint";
    return w == &solvers[FOURIER] && !size->stationary ? "needs a stationary kernel" : NULL;
}

static mc_solver_option cost_of_solver(const mercer_ctx *ctx, const mc_ridge_size *size, const solver_row *w,
                                       bool asked) {
    mc_solver_option o = {.solver = w->name, .reason = w->reason};
    const char *against = why_not(size, w, asked);
    o.possible = !against;
    if (against) {
        o.reason = against;
        return o;
    }
    o.bytes = w->bytes(size);
    w->work(size, &o);
    if (size->n > w->largest) {
        o.possible = false;
        o.reason = "LAPACK counts the workspace of an eigendecomposition in 32 bits: at most 32766 rows";
    } else if (o.bytes > mc_memory_left(ctx)) {
        o.possible = false;
        o.reason = "needs more memory than the limit leaves";
    }
    return o;
}

/* Half a factorisation is saved, some products with K in double are spent: worth it for many rows that are not wide. */
static bool floats_win(const mc_ridge_size *size) {
    enum { LEAST = 3000, PRODUCTS = 26 };
    return size->n >= LEAST && (double)size->n > PRODUCTS * mc_rank_entry(size->row);
}

/* Operations on floats, counted alike on every machine: the choice, and with it the bits of the answer, depends on the
   problem alone. */
static double operation_count(const mc_ridge_size *size, const mc_solver_option *o) {
    const double entry = mc_rank_entry(size->row) + 4 * (double)size->outputs; /* of n^2 pairs half are made */
    return (o->fast / 2 + DOUBLES * o->pairs / 2) * entry + DOUBLES * o->factor;
}

static int direct_solver(const mc_ridge_size *size, const mc_solver_options *options) {
    const bool floats = options->option[MIXED].possible && !size->loo && !size->factored_there && floats_win(size);
    return floats ? MIXED : CHOLESKY;
}

/* Whether conjugate gradients are the shorter way to an answer as good. */
static bool steps_win(const mc_ridge_size *size, const mc_solver_options *options) {
    const mc_solver_option *direct = &options->option[direct_solver(size, options)], *steps = &options->option[PCG];
    return size->steps_estimated && size->proved && !size->loo
           && MARGIN * operation_count(size, steps) < operation_count(size, direct);
}

/* The features where they are few; conjugate gradients where they are shorter, or nothing else fits; else the
   factorisation. */
static int choose_exact_solver(const mc_ridge_size *size, const mc_solver_options *options) {
    if (options->option[PRIMAL].possible && (double)size->features < 0.7 * (double)size->n)
        return PRIMAL;
    if (size->lambda <= 0)
        return EIGEN;
    const int direct = direct_solver(size, options);
    const bool steps = options->option[PCG].possible, fits = options->option[direct].possible;
    const bool tried = size->on_trial && !size->steps_estimated && size->proved && !size->loo;
    return steps && (!fits || size->has_checkpoint || tried || steps_win(size, options)) ? PCG : direct;
}

bool mc_ridge_direct_fits(const mercer_ctx *ctx, const mc_ridge_size *size) {
    return size->lambda > 0 && cost_of_solver(ctx, size, &solvers[CHOLESKY], false).possible;
}

bool mc_ridge_trial_fits(const mercer_ctx *ctx, const mc_ridge_size *size) {
    return pcg_bytes(size) <= mc_memory_left(ctx);
}

double mc_ridge_direct_work(const mc_ridge_size *size) {
    mc_solver_option direct = {0};
    work_cholesky(size, &direct);
    return operation_count(size, &direct);
}

/* Steps in the time of a factorisation. */
static double steps_in_its_time(const mc_ridge_size *size) {
    mc_solver_option one = {0}, none = {0};
    mc_ridge_size still = *size;
    still.steps = 0;
    work_pcg(&still, &none);
    still.steps = 1;
    work_pcg(&still, &one);
    return mc_ridge_direct_work(size) / (operation_count(size, &one) - operation_count(size, &none));
}

int64_t mc_ridge_steps_worth(const mc_ridge_size *size) {
    return (int64_t)fmin(1e9, fmax(2 * size->steps, steps_in_its_time(size)));
}

bool mc_ridge_steps_promise(const mc_ridge_size *size) {
    return MARGIN * size->steps < steps_in_its_time(size);
}

void mc_ridge_rank_solvers(const mercer_ctx *ctx, const mc_ridge_size *size, const char *asked,
                           mc_solver_options *out) {
    *out = (mc_solver_options){.count = SOLVERS, .chosen = -1};
    for (int i = 0; i < SOLVERS; i++) {
        const bool by_name = strcmp(asked, solvers[i].name) == 0;
        out->option[i] = cost_of_solver(ctx, size, &solvers[i], by_name);
        if (by_name)
            out->chosen = i;
    }
    out->automatic = out->chosen < 0;
    if (out->automatic)
        out->chosen = choose_exact_solver(size, out);
}

/* The way that ends soonest, of those that give the exact answer; -1: none can be taken. */
static int fastest_exact_solver(const mc_solver_options *options) {
    int best = -1;
    for (int i = 0; i < SOLVERS; i++)
        if (options->option[i].possible && i != NYSTROM && i != FOURIER
            && (best < 0 || options->option[i].seconds < options->option[best].seconds))
            best = i;
    return best;
}

void mc_ridge_in_time(const mercer_ctx *ctx, mc_solver_options *options) {
    const double left = mc_time_left(ctx);
    const int soon = fastest_exact_solver(options);
    if (!options->automatic || soon < 0 || options->option[options->chosen].seconds <= left)
        return;
    const bool steps = options->option[PCG].possible; /* which hand over what they have when the time is up */
    options->chosen = options->option[soon].seconds <= left || !steps ? soon : PCG;
}

/* The most rows that fit, by halving: for the message only. The operator is counted in full: a part of it does not
   depend on n. */
static int64_t largest_fit(const mercer_ctx *ctx, const mc_ridge_size *size, const solver_row *w) {
    int64_t low = 0, high = size->n;
    while (high - low > 1) {
        mc_ridge_size less = *size;
        less.n = low + (high - low) / 2;
        if (w->bytes(&less) <= mc_memory_left(ctx))
            low = less.n;
        else
            high = less.n;
    }
    return low;
}

/* The exact way that takes the least memory, and how much. */
static const char *smallest_exact_solver(const mc_ridge_size *size, const mc_solver_options *options, size_t *bytes) {
    const char *name = "pcg";
    *bytes = bytes_always_held(size) + mc_max_size(size->pcg.least, check_bytes_with_product(size));
    for (int i = 0; i < SOLVERS; i++)
        if (is_direct(&solvers[i]) && !why_not(size, &solvers[i], false) && options->option[i].bytes < *bytes) {
            name = solvers[i].name;
            *bytes = options->option[i].bytes;
        }
    return name;
}

/* No way to the exact answer fits. */
static mercer_status fail_memory(mercer_ctx *ctx, const mc_ridge_size *size, const mc_solver_options *options) {
    char direct[32], left[32], enough[32], other[96] = "";
    size_t least;
    const char *modest = smallest_exact_solver(size, options, &least);
    if (size->nystrom_rank)
        mc_print(other, sizeof other, "; solver nystrom with rank %lld, approximate, fits as it is",
                 (long long)size->nystrom_rank);
    return mc_fail(ctx, MERCER_MEMORY,
                   "ridge: no exact way for %lld rows fits into the %s that the memory limit leaves: cholesky takes "
                   "%s; %s would work with a limit of %s%s",
                   (long long)size->n, mc_bytes_text((double)mc_memory_left(ctx), left),
                   mc_bytes_text((double)options->option[CHOLESKY].bytes, direct), modest,
                   mc_bytes_text(1.001 * (double)(least + mercer_memory_used(ctx)), enough), other);
}

mercer_status mc_ridge_allow(mercer_ctx *ctx, const mc_ridge_size *size, const mc_solver_options *options) {
    const mc_solver_option *o = &options->option[options->chosen];
    const solver_row *w = &solvers[options->chosen];
    if (o->possible)
        return MERCER_OK;
    if (why_not(size, w, true))
        return mc_fail(ctx, MERCER_INVALID, "ridge: solver %s %s; %s", w->name, why_not(size, w, true),
                       size->lambda <= 0       ? "use solver eigen for lambda = 0"
                       : w == &solvers[PRIMAL] ? "use solver cholesky"
                       : size->loo             ? "use solver cholesky or fit without it"
                       : size->has_checkpoint  ? "use solver pcg"
                                               : "use solver nystrom");
    if (size->n > w->largest)
        return mc_fail(ctx, MERCER_INVALID,
                       "ridge: %s takes at most %lld rows, got %lld; use lambda > 0 and solver cholesky", w->name,
                       (long long)w->largest, (long long)size->n);
    if (options->automatic && size->lambda > 0)
        return fail_memory(ctx, size, options);
    char what[128];
    mc_print(what, sizeof what, "ridge: %s on %lld rows (%lld rows would fit)", w->name, (long long)size->n,
             (long long)largest_fit(ctx, size, w));
    return mc_memory_check(ctx, o->bytes, what);
}
