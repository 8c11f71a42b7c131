/* ridge_pcg.c: the exact problem of ridge regression when its matrix is too large to factor, by conjugate gradients.

       A = S K S + lambda I,   A Z = S Y (and A z = s for the intercept),   all columns at once, BATCH at most

   Order of work: operators (K in float tiles for the steps, in double tiles for the residuals that count; or, where its
   entries are dear and memory allows, K made once in double and kept, as floats for the steps and with what these round
   off for the residuals), columns of K by random pivots as far as they pay (iterative/preconditioner_rank.c), the
   inverse of F F' + lambda I as the preconditioner, then steps until every column has a residual, measured in double,
   below the tolerance. S K S - F F' is positive semidefinite, so the condition number is at most 1 + tr(S K S - F
   F')/lambda: known, and said, before the first step.

   Where a step finds A not to be positive definite, the direction it took starts a search for the smallest eigenvalue,
   so that the error can name it and a lambda that would do.

   A run can be stopped (the clock, the caller) and returns its best iterate; with a checkpoint it can be resumed
   to the same bits: the file holds the state of conjugate gradients and the two choices that depend on the memory at
   hand. F is made anew, it is the same. */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include "gram/store/stored.h"
#include "learn/common/checkpoint.h"
#include "iterative/preconditioner_rank.h"
#include "learn/ridge/ridge_cost.h"
#include "learn/ridge/ridge_pcg.h"
#include "learn/ridge/ridge_system.h"
#include "iterative/pcg.h"
#include "iterative/precondition.h"
#include <math.h>
#include <string.h>

enum {
    BATCH = 32,          /* columns solved for at once */
    STEPS_MOST = 100000, /* that none should ever take */
    PAIRS = 512,         /* rows of the largest block of proposals */
    /* steps without progress, and a quarter of those expected, before precision is said to be exhausted */
    PATIENCE = 100,
    SEARCH = 120, /* steps for the smallest eigenvalue, at most */
    CALM = 50     /* between two checkpoints pass so many times the seconds one takes to write */
};
/* reading a stored entry counts for so many operations: dearer entries are worth storing */
static const double STORED_ENTRY = 90;
/* a stored K is one matrix, multiplied in double: only its entries are rounded */
static const double STORED_FLOOR = 3e-7;
/* of the work of a factorisation, at most, for a doubling of the columns while it is open whether steps follow */
static const double TRIAL = 0.2;
/* a product in double takes as long as so many in float, until one has been seen */
static const double EXACT_STEPS = 5;

/* What a checkpoint must bring back before anything is built. */
typedef struct pcg_choice {
    int64_t most; /* columns of F there is memory for */
    int64_t done; /* columns of X solved for */
    int64_t stored;
    int64_t iterations, refinements; /* of the batches done */
} pcg_choice;

/* S K S. */
typedef struct scaled_kernel {
    mc_matrix K;
    const double *root; /* NULL: K itself */
    double *V;
} scaled_kernel;

typedef struct solver {
    mc_ridge_system *r;
    int64_t n, t;
    pcg_choice choice;
    mc_gram *fast, *exact;
    mc_stored *stored;
    mc_matrix_errors errors; /* of what the residuals that count multiply by */
    mc_lowrank *f;
    mc_precondition *inverse;
    double expected; /* steps */
    bool declined;   /* they promise to take longer than a factorisation */
    scaled_kernel fast_scaled, reduced_scaled, exact_scaled;
    double *diagonal, *B, *X, *V;
    double *negative_direction; /* a direction of negative curvature; NULL: none was met */
    uint64_t key;
    bool resumed;            /* a checkpoint was found and its state is still to be read */
    double written, writing; /* when the last checkpoint was written and how long that took */
    double step, product;    /* seconds of the last step, of the last exact product */
    mercer_status stop;
    mc_work work; /* of the vectors */
} solver;

/* ---- Bytes ---- */

static int64_t batch_of(int64_t columns) {
    return columns < BATCH ? columns : BATCH;
}

static void lay_out_vectors(mc_work *work, void *self) {
    solver *s = self;
    s->diagonal = mc_work_take(work, s->n, sizeof *s->diagonal);
    double **const vectors[] = {&s->B, &s->X, &s->V};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = mc_work_take(work, s->n * s->t, sizeof(double));
}

/* Everything but the operators, the stored matrix and the factor. */
static size_t vectors_bytes(int64_t n, int64_t t) {
    return mc_slices_bytes(lay_out_vectors, &(solver){.n = n, .t = t}) + mc_cached_product_bytes(n, t)
           + mc_cached_product_check_bytes(n) + mc_pcg_bytes(n, t) + 6 * MC_ALIGN;
}

static size_t factor_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t t) {
    return mc_lowrank_bytes(ctx, n, rank) + mc_precondition_bytes(ctx, n, rank, t);
}

static size_t exact_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t t) {
    return mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, t) + 2 * MC_ALIGN;
}

/* What products in float, and the columns of F, come from. */
static size_t fast_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t t, bool stored) {
    if (stored)
        return mc_stored_bytes(p->n, t, true);
    return mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F32, t)
           + mc_gram_part_bytes(ctx, p->kernel, p->x, MERCER_F64, PAIRS) + 2 * MC_ALIGN;
}

static double values_of_row(const mercer_data *x) {
    return (double)mercer_data_stored(x) / (double)x->n;
}

/* Whether K is better read from memory than made: where entries are dear. */
static bool worth_storing(const mc_problem *p) {
    return mc_rank_entry(values_of_row(p->x)) > STORED_ENTRY;
}

/* The largest rank up to cap whose factor takes at most so many bytes. */
static int64_t rank_within(mercer_ctx *ctx, int64_t n, int64_t t, int64_t cap, size_t bytes) {
    int64_t low = 0, high = cap + 1; /* low fits, or nothing does */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (factor_bytes(ctx, n, middle, t) <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void mc_ridge_pcg_size(mercer_ctx *ctx, const mc_problem *p, int64_t columns, int64_t asked, size_t left,
                       mc_ridge_pcg_plan *out) {
    const int64_t t = batch_of(columns), cap = asked && asked < p->n ? asked : mc_rank_cap(p->n);
    const size_t always = exact_bytes(ctx, p, t) + vectors_bytes(p->n, t), made = fast_bytes(ctx, p, t, false);
    *out = (mc_ridge_pcg_plan){.least = always + made + factor_bytes(ctx, p->n, 0, t)};
    out->stored = worth_storing(p) && always + fast_bytes(ctx, p, t, true) + factor_bytes(ctx, p->n, cap, t) <= left;
    const size_t fixed = always + (out->stored ? fast_bytes(ctx, p, t, true) : made);
    out->rank = rank_within(ctx, p->n, t, cap, left > fixed ? left - fixed : 0);
    out->bytes = fixed + factor_bytes(ctx, p->n, out->rank, t);
    out->trial = out->bytes + (out->stored ? made : 0);
}

mc_rank_rule mc_ridge_pcg_rule(const mc_problem *p, const mc_ridge_pcg_plan *plan, double lambda, double tolerance,
                               int64_t columns, int64_t asked) {
    const double entry = mc_rank_entry(values_of_row(p->x));
    return (mc_rank_rule){.lambda = lambda,
                          .tolerance = tolerance,
                          .entry = plan->stored ? 0 : entry, /* columns of a kept K are read */
                          .step = mc_rank_step(p->n, plan->stored ? STORED_ENTRY : entry, batch_of(columns)),
                          .most = plan->rank,
                          .asked = asked,
                          .most_work = INFINITY};
}

/* ---- Operators ---- */

static mercer_status apply_scaled(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const scaled_kernel *s = self;
    for (int64_t i = 0; i < s->K.n; i++)
        for (int64_t k = 0; k < t; k++)
            s->V[i * t + k] = s->root[i] * V[i * t + k];
    MC_TRY(s->K.apply(ctx, s->K.self, t, s->V, Y));
    for (int64_t i = 0; i < s->K.n; i++)
        for (int64_t k = 0; k < t; k++)
            Y[i * t + k] *= s->root[i];
    return MERCER_OK;
}

static mc_matrix view_scaled(const scaled_kernel *s) {
    return s->root ? (mc_matrix){.n = s->K.n, .apply = apply_scaled, .self = s} : s->K;
}

static mercer_status open_operators(mercer_ctx *ctx, solver *s) {
    const mc_problem *p = s->r->p;
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F64, &s->exact));
    MC_TRY(mc_work_lay(ctx, &s->work, lay_out_vectors, s));
    for (int64_t i = 0; i < s->n; i++)
        s->diagonal[i] = s->r->lambda;
    if (s->choice.stored ? p->outputs <= s->t : !s->r->intercept && s->t == p->outputs)
        MC_TRY(mc_cached_product_open(ctx, s->exact, p->outputs, &s->r->cached_product));
    return MERCER_OK;
}

/* K once in double, and products of it from memory; the cached product is then the last of them. */
static mercer_status store_kernel_matrix(mercer_ctx *ctx, solver *s) {
    mc_begin_phase(ctx, "gram");
    MC_TRY(mc_stored_open(ctx, s->exact, s->t, true, &s->stored));
    mc_log_message(ctx, "pcg: half of K is kept in memory%s", mc_stored_is_split(s->stored) ? "" : " as floats");
    s->fast_scaled.K = mc_stored_matrix(s->stored);
    s->reduced_scaled = (scaled_kernel){mc_stored_reduced_matrix(s->stored), s->r->p->root, s->V};
    if (!mc_stored_is_split(s->stored))
        return MERCER_OK;
    s->exact_scaled.K = mc_stored_split_matrix(s->stored);
    s->errors = s->exact_scaled.K.errors(s->stored, s->t);
    if (s->r->cached_product.V)
        mc_cached_product_use_matrix(&s->r->cached_product, &s->exact_scaled.K);
    return MERCER_OK;
}

/* What steps and residuals multiply by. */
static mercer_status open_products(mercer_ctx *ctx, solver *s) {
    const mc_problem *p = s->r->p;
    const bool remembers = s->r->cached_product.V && !s->r->intercept && s->t == p->outputs;
    s->fast_scaled = (scaled_kernel){.root = p->root, .V = s->V};
    const mc_matrix exact = mc_gram_matrix(s->exact);
    s->exact_scaled =
        (scaled_kernel){remembers ? mc_cached_product_matrix(&s->r->cached_product) : exact, p->root, s->V};
    s->errors = exact.errors(exact.self, s->t);
    if (s->choice.stored && !s->r->trial)
        return store_kernel_matrix(ctx, s);
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F32, &s->fast));
    s->fast_scaled.K = mc_gram_matrix(s->fast);
    return MERCER_OK;
}

/* ---- The preconditioner ---- */

static mercer_status grow_low_rank_factor(mercer_ctx *ctx, solver *s) {
    const mc_problem *p = s->r->p;
    const mc_ridge_pcg_plan plan = {.rank = s->choice.most, .stored = s->stored != NULL};
    mc_rank_rule rule = mc_ridge_pcg_rule(p, &plan, s->r->lambda, s->r->tolerance, s->t, s->r->rank_asked);
    rule.most_work = s->r->trial ? TRIAL * mc_ridge_direct_work(s->r->trial) : INFINITY;
    mc_begin_phase(ctx, "pivots");
    MC_TRY(mc_lowrank_open(ctx, &s->fast_scaled.K, p->root, ctx->options.seed, &s->f));
    mc_lowrank_share(ctx, s->f);
    return mc_rank_grow(ctx, &rule, s->f);
}

/* What the columns promise is weighed before anything else is made. */
static void price_steps(mercer_ctx *ctx, solver *s) {
    const double gain = fmin(s->f->gain, s->f->trace_left); /* no eigenvalue is above the trace */
    s->expected = mc_rank_likely_steps(gain, s->r->lambda, s->r->tolerance);
    if (!s->r->trial)
        return;
    mc_ridge_size size = *s->r->trial;
    size.rank = s->f->rank;
    size.steps = s->expected;
    s->r->steps_worth = mc_ridge_steps_worth(&size);
    s->declined = !mc_ridge_steps_promise(&size);
    if (s->declined)
        mc_log_message(ctx, "pcg: %lld columns promise %.0f steps, which take longer than a factorisation",
                       (long long)s->f->rank, s->expected);
}

/* A trial that goes on: K is kept now, where it is to be. */
static mercer_status end_trial(mercer_ctx *ctx, solver *s) {
    if (!s->r->trial || !s->choice.stored)
        return MERCER_OK;
    mc_gram_close(s->fast);
    s->fast = NULL;
    return store_kernel_matrix(ctx, s);
}

static mercer_status open_preconditioner(mercer_ctx *ctx, solver *s) {
    MC_TRY(grow_low_rank_factor(ctx, s));
    price_steps(ctx, s);
    if (s->declined)
        return MERCER_OK;
    MC_TRY(end_trial(ctx, s));
    mc_begin_phase(ctx, "factor");
    MC_TRY(mc_precondition_open(ctx, s->f, s->r->lambda, s->t, &s->inverse));
    const double kappa = 1 + s->f->trace_left / s->r->lambda;
    s->r->rank = s->f->rank;
    s->r->iteration_bound = mc_pcg_iteration_bound(kappa, s->r->tolerance);
    mc_log_message(
        ctx,
        "pcg: %lld columns leave %.3g of the trace %.4g: condition number at most %.3g, at most %lld steps (about "
        "%.0f expected)",
        (long long)s->f->rank, s->f->trace_left, s->f->trace, kappa, (long long)s->r->iteration_bound, s->expected);
    return MERCER_OK;
}

/* ---- Checkpoints ---- */

/* Everything that decides the bits of the answer. */
static uint64_t key_of(const mercer_ctx *ctx, const mc_ridge_system *r) {
    const int64_t wishes[] = {r->intercept, r->rank_asked};
    const double numbers_[] = {r->lambda, r->tolerance};
    const uint64_t key = mc_hash(mc_checkpoint_key(ctx, r->p, "ridge pcg 6"), wishes, sizeof wishes);
    return mc_hash(key, numbers_, sizeof numbers_);
}

static int parts_of(const solver *s, mc_pcg *pcg, mc_checkpoint_part parts[MC_CHECKPOINT_PARTS]) {
    parts[0] = (mc_checkpoint_part){(void *)(uintptr_t)&s->choice, sizeof s->choice};
    parts[1] = (mc_checkpoint_part){s->r->X, (size_t)(s->n * s->r->columns) * sizeof(double)};
    parts[2] = (mc_checkpoint_part){s->X, (size_t)(s->n * s->t) * sizeof(double)};
    parts[3].bytes = mc_pcg_state(pcg, &parts[3].size);
    return 4;
}

static bool is_count(int64_t value, int64_t most) {
    return value >= 0 && value <= most;
}

/* Batches are whole, and there is one to solve. */
static bool choice_holds(const solver *s, const pcg_choice *c) {
    const int64_t columns = s->r->columns, steps = (columns + 1) * 2 * STEPS_MOST;
    return is_count(c->most, s->n) && is_count(c->done, columns - 1) && c->done % s->t == 0 && is_count(c->stored, 1)
           && is_count(c->iterations, steps) && is_count(c->refinements, steps);
}

/* The choices, from the file or from the memory at hand. */
static mercer_status choose_pcg_plan(mercer_ctx *ctx, solver *s) {
    mc_ridge_pcg_plan plan;
    mc_ridge_pcg_size(ctx, s->r->p, s->r->columns, s->r->rank_asked, mc_memory_left(ctx), &plan);
    s->choice = (pcg_choice){.most = plan.rank, .stored = plan.stored};
    const char *path = s->r->checkpoint;
    if (!path || !*path)
        return MERCER_OK;
    s->key = key_of(ctx, s->r);
    MC_TRY(mc_checkpoint_check(ctx, path, s->key, &s->resumed));
    pcg_choice loaded = s->choice;
    const mc_checkpoint_part part = {&loaded, sizeof loaded};
    if (s->resumed)
        MC_TRY(mc_checkpoint_load(ctx, path, &part, 1));
    if (!choice_holds(s, &loaded))
        return mc_checkpoint_refuse(ctx, path);
    s->choice = loaded;
    return MERCER_OK;
}

static mercer_status resume_checkpoint(mercer_ctx *ctx, solver *s, mc_pcg *pcg) {
    if (!s->resumed)
        return MERCER_OK;
    mc_checkpoint_part parts[MC_CHECKPOINT_PARTS];
    const int count = parts_of(s, pcg, parts);
    pcg_choice loaded = s->choice; /* read and checked already */
    parts[0].bytes = &loaded;
    MC_TRY(mc_checkpoint_load(ctx, s->r->checkpoint, parts, count));
    s->resumed = false;
    const int64_t all = s->n * s->r->columns;
    if (memcmp(&loaded, &s->choice, sizeof loaded) != 0 || mc_first_not_finite(MERCER_F64, s->r->X, all) >= 0
        || mc_first_not_finite(MERCER_F64, s->X, s->n * s->t) >= 0 || !mc_pcg_state_holds(pcg))
        return mc_checkpoint_refuse(ctx, s->r->checkpoint);
    mc_log_message(ctx, "pcg: resumed from '%s' after %lld steps", s->r->checkpoint,
                   (long long)mc_pcg_progress(pcg)->iterations);
    return MERCER_OK;
}

static mercer_status save_checkpoint(mercer_ctx *ctx, solver *s, mc_pcg *pcg, bool now) {
    const double began = mc_clock_seconds();
    if (!s->r->checkpoint || !*s->r->checkpoint || (!now && began - s->written < CALM * s->writing))
        return MERCER_OK;
    mc_checkpoint_part parts[MC_CHECKPOINT_PARTS];
    const int count = parts_of(s, pcg, parts);
    MC_TRY(mc_checkpoint_save(ctx, s->r->checkpoint, s->key, parts, count));
    s->written = mc_clock_seconds();
    s->writing = s->written - began;
    return MERCER_OK;
}

/* ---- When A is not positive definite ---- */

/* |v'(S K S v as computed in double) - v' S K S v| <= this times v'v: an entry of K is wrong by `entry`, sums and
   scales by gamma of its size, and sum_ij |v_i| s_i s_j |v_j| <= (sum s_i^2) v'v. */
static double product_error(const solver *s) {
    const double gamma = (double)(s->n + 8) * 0x1p-53;
    double weight = 0;
    for (int64_t i = 0; i < s->n; i++)
        weight += s->r->p->root ? s->r->p->root[i] * s->r->p->root[i] : 1;
    return 1.01 * weight * (s->errors.entry + gamma * s->errors.size);
}

static mercer_status keep_direction(mercer_ctx *ctx, solver *s, const mc_pcg *pcg) {
    MC_TRY(MC_ALLOC(ctx, s->negative_direction, s->n));
    mc_pcg_direction(pcg, s->negative_direction);
    return MERCER_NUMERIC;
}

/* The ends of the spectrum from the direction met, in memory that the factor held; the error names them. Where that
   cannot be (memory, the clock), the error that stands says what is known. */
static mercer_status refuse_indefinite_system(mercer_ctx *ctx, solver *s) {
    char known[MC_MESSAGE_SIZE];
    memcpy(known, ctx->message, sizeof known);
    mc_precondition_close(s->inverse);
    mc_lowrank_close(s->f);
    s->inverse = NULL;
    s->f = NULL;
    mc_begin_phase(ctx, "spectrum");
    const mc_matrix M = view_scaled(&s->exact_scaled);
    mc_spectrum ends;
    if (!mc_lanczos_from(ctx, &M, s->negative_direction, SEARCH, &ends))
        return mc_ridge_explain(ctx, s->r, &ends);
    mc_stop_taken(ctx);
    return mc_fail(ctx, MERCER_NUMERIC, "ridge: %s", known);
}

/* ---- Solving ---- */

static int64_t steps_most(const solver *s) {
    return s->r->steps_worth ? s->r->steps_worth : STEPS_MOST;
}

/* One step, timed; its time tells whether there is enough left to measure the answer afterwards. */
static mercer_status timed_pcg_step(mercer_ctx *ctx, solver *s, mc_pcg *pcg, bool *done) {
    const mc_pcg_result before = *mc_pcg_progress(pcg);
    const double began = mc_clock_seconds();
    MC_TRY(mc_pcg_step(ctx, pcg, done));
    const mc_pcg_result *now = mc_pcg_progress(pcg);
    const double seconds = mc_clock_seconds() - began;
    if (now->iterations > before.iterations) {
        s->step = seconds;
        mc_log_message(ctx, "pcg %lld: residual %.2g, %.3g s", (long long)now->iterations, ctx->measure, seconds);
    } else if (now->refinements > before.refinements) {
        s->product = seconds;
        mc_log_message(ctx, "pcg %lld: residual %.2g in double precision, %.3g s", (long long)now->iterations,
                       now->residual_relative, seconds);
    }
    const double check = s->product > 0 ? s->product : EXACT_STEPS * s->step;
    return !*done && mc_time_left(ctx) < 1.2 * (check + s->step) ? MERCER_TIME : MERCER_OK;
}

static mercer_status iterate_pcg(mercer_ctx *ctx, solver *s, mc_pcg *pcg) {
    bool done = false;
    mercer_status status = resume_checkpoint(ctx, s, pcg);
    while (!status && !done) {
        status = timed_pcg_step(ctx, s, pcg, &done);
        MC_THEN(status, save_checkpoint(ctx, s, pcg, false));
    }
    if (status != MERCER_TIME && status != MERCER_CANCELLED) {
        if (!status && !mc_pcg_progress(pcg)->converged) /* of several batches, the worst is said */
            s->r->stopped = mc_pcg_progress(pcg)->iterations < steps_most(s) ? "precision" : "steps";
        return status ? status : save_checkpoint(ctx, s, pcg, true);
    }
    s->stop = status;
    mc_stop_taken(ctx);
    mc_shield_from_stop(ctx, true); /* what follows is short and makes the stop worth something */
    status = save_checkpoint(ctx, s, pcg, true);
    MC_THEN(status, mc_pcg_settle(ctx, pcg));
    mc_shield_from_stop(ctx, false);
    return status;
}

/* Columns from choice.done on, t of them, in place of the right-hand sides. */
static mercer_status solve_batch(mercer_ctx *ctx, solver *s) {
    mc_ridge_system *r = s->r;
    const int64_t first = s->choice.done, t = r->columns - first < s->t ? r->columns - first : s->t;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < t; k++)
            s->B[i * t + k] = r->X[i * r->columns + first + k];
    memset(s->X, 0, (size_t)(s->n * t) * sizeof *s->X);
    const mc_pcg_problem problem = {.n = s->n,
                                    .t = t,
                                    .fast = view_scaled(&s->fast_scaled),
                                    .reduced = s->stored ? view_scaled(&s->reduced_scaled) : (mc_matrix){0},
                                    .exact = view_scaled(&s->exact_scaled),
                                    .floor = s->stored ? STORED_FLOOR : 0,
                                    .exact_error = product_error(s),
                                    .diagonal = s->diagonal,
                                    .preconditioner = mc_precondition_inverse(s->inverse),
                                    .B = s->B,
                                    .tolerance = r->tolerance,
                                    .iterations_max = steps_most(s),
                                    .patience =
                                        PATIENCE + (int64_t)fmin(s->expected / 4, fmin(2 * (double)s->n, STEPS_MOST))};
    mc_pcg *pcg = NULL;
    MC_TRY(mc_pcg_open(ctx, &problem, s->X, &pcg));
    mercer_status status = iterate_pcg(ctx, s, pcg);
    if (status == MERCER_NUMERIC && mc_pcg_progress(pcg)->curvature < 0)
        status = keep_direction(ctx, s, pcg);
    const mc_pcg_result result = *mc_pcg_progress(pcg);
    mc_pcg_close(pcg);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < t; k++)
            r->X[i * r->columns + first + k] = s->X[i * t + k];
    s->choice.iterations += result.iterations;
    s->choice.refinements += result.refinements;
    s->choice.done += t;
    return status;
}

static mercer_status prepare_pcg(mercer_ctx *ctx, solver *s) {
    MC_TRY(choose_pcg_plan(ctx, s));
    MC_TRY(open_operators(ctx, s));
    MC_TRY(open_products(ctx, s));
    return open_preconditioner(ctx, s);
}

/* Columns that no batch reached are zero: the best that is known of them. */
static void clear_rest(solver *s) {
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = s->choice.done; k < s->r->columns; k++)
            s->r->X[i * s->r->columns + k] = 0;
}

static mercer_status solve_by_pcg(mercer_ctx *ctx, solver *s) {
    mercer_status status = prepare_pcg(ctx, s);
    if (status == MERCER_TIME || status == MERCER_CANCELLED)
        s->stop = mc_stop_taken(ctx);
    if (s->stop)
        status = MERCER_OK;
    mc_begin_phase(ctx, "solve");
    while (!status && !s->stop && !s->declined && s->choice.done < s->r->columns)
        status = solve_batch(ctx, s);
    if (s->negative_direction)
        return refuse_indefinite_system(ctx, s);
    if (s->stop)
        s->r->stopped = s->stop == MERCER_TIME ? "time" : "caller";
    clear_rest(s);
    s->r->iterations = s->choice.iterations;
    if (!status && s->stop && s->choice.iterations == 0) /* there is no iterate to hand over */
        return mc_fail(ctx, s->stop, "ridge: stopped before the first step of conjugate gradients");
    return status;
}

static void put_away(solver *s) {
    mc_precondition_close(s->inverse);
    mc_lowrank_close(s->f);
    mc_stored_close(s->stored);
    mc_gram_close(s->fast);
    mc_gram_close(s->exact);
    mc_work_close(&s->work);
    mc_free(s->negative_direction);
}

/* Conjugate gradients took more steps than estimated, and a factorisation fits. */
static mercer_status factor_instead(mercer_ctx *ctx, mc_ridge_system *r) {
    if (r->iterations)
        mc_log_message(ctx, "pcg: stopped short of the tolerance (%s) after %lld steps; factoring", r->stopped,
                       (long long)r->iterations);
    r->solver = "cholesky";
    r->stopped = "no";
    r->iterations = r->iteration_bound = 0;
    mc_cached_product_close(&r->cached_product);
    mc_ridge_right_hand_sides(r);
    return mc_ridge_cholesky(ctx, r);
}

/* The product that the check would make, while K is at hand. */
static mercer_status cache_final_product(mercer_ctx *ctx, solver *s) {
    if (!s->stored || !mc_stored_is_split(s->stored) || !s->r->cached_product.V)
        return MERCER_OK;
    mc_begin_phase(ctx, "check");
    mc_shield_from_stop(ctx, s->stop != MERCER_OK); /* it is short */
    const mercer_status status = mc_cached_product_compute(ctx, &s->r->cached_product, s->r->alpha);
    mc_shield_from_stop(ctx, false);
    return status;
}

mercer_status mc_ridge_pcg(mercer_ctx *ctx, mc_ridge_system *r) {
    solver s = {.r = r, .n = r->p->n, .t = batch_of(r->columns)};
    mercer_status status = solve_by_pcg(ctx, &s);
    const bool short_of_it = strcmp(r->stopped, "precision") == 0 || strcmp(r->stopped, "steps") == 0;
    const bool give_up = (short_of_it && r->steps_worth) || (s.declined && !s.stop);
    if (!status && !give_up) {
        mc_ridge_finish(r);
        status = cache_final_product(ctx, &s);
    }
    put_away(&s);
    return status || !give_up ? status : factor_instead(ctx, r);
}
