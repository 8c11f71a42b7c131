/* smo.c: sequential minimal optimisation over working sets of some hundreds of variables.

       repeat   choose a working set W                         smo_select.c; or all variables
                fetch the rows of W, gather K_WW               smo_working_set.c; or K where it lies
                minimise over W, two variables at a time       the second-order choice (backend/cpu/smo_body.inc.c)
                f <- f + K_W' (change of beta on W)            rows in float32, sums in float64
       until the violation is at most the tolerance

   A row fetched once serves many steps, and the steps run in fast memory. The inner problem is solved only a little
   beyond the accuracy of the outer one: the rest of the world is about to move. Every sum is over variables in the
   order of the set, whatever thread adds it, so the answer has the same bits on any number of threads. Fan, Chen and
   Lin (2005); blocks as in Joachims (1999). */
#include "qp/smo.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "qp/smo_select.h"
#include "qp/smo_working_set.h"
#include "qp/smo_shrink.h"
#include <math.h>
#include <string.h>

enum { LARGEST_SET = 2048, STEPS_PER_VARIABLE = 20, SHRINK_EVERY = 5, STALL = 64 };
static const double INNER = 0.05; /* of the violation at the start of the round */
static const double DRIFT = 0.5;  /* of the tolerance of a set: slopes in floats that were further off are given up */

/* Variables that a set has at most: K of more would not stay in the caches. */
static int64_t set_size(int64_t m, int64_t most) {
    const int64_t q = m < LARGEST_SET ? m : LARGEST_SET;
    return q < most ? q : most;
}

static int64_t count_free(const mc_dual *dual, const double *beta) {
    int64_t free = 0;
    for (int64_t t = 0; t < dual->m; t++)
        free += beta[t] > dual->low[t] && beta[t] < dual->high[t];
    return free;
}

typedef struct smo_run {
    const mc_smo_problem *p;
    mc_selection selection;
    int64_t most; /* variables that there is room for in a set */
    mc_working_set set;
    int64_t *variable; /* of the working set, rising: rows of K are then read from front to back */
    double *beta, *f;
    double *last_beta, *last_f; /* as they were when it was last asked whether the objective stands still */
    bool exact;                 /* sets have slopes in double from now on */
    mc_smo_result *result;
} smo_run;

/* Of n rows and sets of q of m variables. */
static void lay_out_run(mc_work *work, int64_t n, int64_t m, int64_t q, smo_run *r) {
    mc_selection_open(work, m, q, &r->selection);
    r->variable = mc_work_take(work, m, sizeof *r->variable);
    r->last_beta = mc_work_take(work, m, sizeof *r->last_beta);
    r->last_f = mc_work_take(work, n, sizeof *r->last_f);
}

static size_t run_bytes(int64_t n, int64_t m, int64_t q) {
    mc_work counted = {0};
    lay_out_run(&counted, n, m, q, &(smo_run){0});
    return counted.used;
}

size_t mc_smo_bytes(int64_t n, int64_t m, mercer_dtype dtype) {
    return run_bytes(n, m, set_size(m, m)) + mc_working_set_bytes(n, m, set_size(m, m), dtype);
}

static void remember_state(smo_run *r) {
    memcpy(r->last_beta, r->beta, (size_t)r->p->dual.m * sizeof *r->beta);
    memcpy(r->last_f, r->f, (size_t)r->p->rows.n * sizeof *r->f);
}

/* Whether the next set is of all variables. Steps then cost as much as K is wide and are few, for every one sees all
   slopes; where a set holds all that are free with room to spare its own steps are cheaper. How many these are shows
   after the first set. */
static bool takes_all(const smo_run *r) {
    const mc_dual *dual = &r->p->dual;
    return r->set.may_hold_all
           && (dual->m <= MC_WORKING_SET || r->result->rounds == 0 || count_free(dual, r->beta) > MC_WORKING_SET / 2);
}

/* Half of those that are free: the others undo less of what a set has done. */
static int64_t places_now(const smo_run *r) {
    const int64_t half = count_free(&r->p->dual, r->beta) / 2;
    const int64_t places = half < MC_WORKING_SET ? MC_WORKING_SET : half;
    return places < r->most ? places : r->most;
}

/* The variables of the next set; returns how many. */
static int64_t choose_working_set(smo_run *r, bool all, const mc_extremes *e) {
    int64_t count = 0;
    if (!all)
        mc_selection_next(&r->selection, &r->p->dual, r->beta, r->f, e);
    for (int64_t t = 0; t < r->p->dual.m; t++)
        if (all || r->selection.chosen[t])
            r->variable[count++] = t;
    return count;
}

/* Steps after which a set is put back: the rest of the world, the clock and whoever watches have waited long enough. */
static int64_t enough_steps(const smo_run *r, int64_t count) {
    return !r->set.holds_all || count <= MC_WORKING_SET ? STEPS_PER_VARIABLE * count
           : r->result->rounds                          ? count
                                                        : count / 4;
}

/* One working set. *stuck: no variable could move, although the violation is above the tolerance: the precision is used
   up. */
static mercer_status optimise_working_set(mercer_ctx *ctx, smo_run *r, const mc_extremes *e, bool *stuck) {
    const bool all = takes_all(r);
    r->selection.q = places_now(r);
    const int64_t count = choose_working_set(r, all, e);
    MC_TRY(mc_working_set_load(ctx, &r->set, r->variable, count, all, r->beta, r->f));
    mc_smo_block *b = &r->set.block;
    const int64_t left = r->p->steps_max - r->result->steps, enough = enough_steps(r, count);
    b->steps_max = left < enough ? left : enough;
    b->tolerance = all ? 0.9 * r->p->tolerance : fmax(0.3 * r->p->tolerance, INNER * e->violation);
    const bool rough = mc_working_set_step(ctx, &r->set, (e->top[0] + e->bottom[0]) / 2, !r->exact);
    r->result->steps += b->steps;
    r->result->updates += b->steps * count;
    r->result->rounds++;
    bool moved;
    MC_TRY(mc_working_set_store(ctx, &r->set, r->beta, r->f, &moved));
    *stuck = !moved && !rough;
    r->exact |= rough && (!moved || mc_working_set_drift(&r->set, r->f) > DRIFT * b->tolerance);
    return MERCER_OK;
}

static mercer_status solve_by_smo(mercer_ctx *ctx, const mc_smo_problem *problem, double *beta, double *f,
                                  mc_smo_result *result);

/* Solve for the variables still in question, to a tenth of the violation: that much is worth more than the risk that
   one of the others must move after all. *done: whether it was tried. */
static mercer_status solve_shrunk(mercer_ctx *ctx, smo_run *r, const mc_extremes *e, bool *done) {
    const mc_smo_problem *p = r->p;
    mc_shrunk s = {0};
    const int64_t count = mc_shrink_count(&p->dual, r->beta, r->f, e);
    if (count <= p->dual.m / 2)
        MC_TRY(mc_shrunk_open(ctx, &p->rows, &p->dual, r->beta, r->f, e, count, &s));
    *done = s.variable != NULL;
    if (!*done)
        return MERCER_OK;
    const mc_smo_problem small = {s.dual, s.rows, fmax(0.5 * p->tolerance, 0.1 * e->violation),
                                  p->steps_max - r->result->steps, false};
    mc_smo_result result = {0};
    mercer_status status = solve_by_smo(ctx, &small, s.beta, s.f, &result);
    r->result->steps += result.steps;
    r->result->updates += result.updates;
    r->result->rounds += result.rounds;
    const mercer_status back = mc_shrunk_put_back(ctx, &s, &p->rows, r->beta, r->f);
    mc_shrunk_close(&s);
    return status ? status : back;
}

static double dual_objective(const mc_dual *dual, const double *beta, const double *f) {
    double sum = 0;
    for (int64_t t = 0; t < dual->m; t++)
        sum += beta[t] * (0.5 * f[mc_dual_row(dual, t)] + dual->q[t]);
    return sum;
}

long double mc_dual_objective_change(const mc_dual *dual, const double *beta, const double *f, const double *x,
                                     const double *g) {
    long double sum = 0;
    for (int64_t t = 0; t < dual->m; t++) {
        const int64_t i = mc_dual_row(dual, t);
        sum += ((long double)x[t] - beta[t]) * (((long double)f[i] + g[i]) / 2 + dual->q[t]);
    }
    return sum;
}

/* Every STALL rounds: whether the objective has stood still in all its digits since the last time. */
static bool has_stalled(smo_run *r, int64_t waited) {
    if (waited % STALL)
        return false;
    const mc_dual *dual = &r->p->dual;
    const long double gain = -mc_dual_objective_change(dual, r->last_beta, r->last_f, r->beta, r->f);
    remember_state(r);
    return !(gain > 1e-15 * fabs(dual_objective(dual, r->beta, r->f)));
}

static mercer_status iterate_smo(mercer_ctx *ctx, smo_run *r) {
    int64_t waited = 0;
    remember_state(r);
    for (bool stuck = false;;) {
        const mc_extremes e = mc_extremes_of(&r->p->dual, r->beta, r->f);
        const mc_watch seen = {"violation", e.violation, r->p->tolerance};
        const mercer_status told = r->p->watched ? mc_dual_report_progress(ctx, &r->p->dual, r->beta, r->f, seen)
                                                 : mc_report_progress(ctx, -1);
        if (!(e.violation > r->p->tolerance) || stuck || r->result->steps >= r->p->steps_max)
            return MERCER_OK;
        MC_TRY(told);
        bool done = false;
        if (++waited % SHRINK_EVERY == 0 && r->p->dual.m > 2 * r->selection.q)
            MC_TRY(solve_shrunk(ctx, r, &e, &done));
        if (!done)
            MC_TRY(optimise_working_set(ctx, r, &e, &stuck));
        stuck = stuck || has_stalled(r, waited);
    }
}

/* The largest sets where their part of K takes a quarter of what is left at most. */
static int64_t size_with_room(mercer_ctx *ctx, const mc_smo_problem *problem) {
    const int64_t q = set_size(problem->dual.m, problem->rows.n);
    const size_t bytes = (size_t)(q * q) * mc_dtype_size(problem->rows.dtype);
    return q <= MC_WORKING_SET || bytes <= mc_memory_left(ctx) / 4 ? q : MC_WORKING_SET;
}

static mercer_status solve_by_smo(mercer_ctx *ctx, const mc_smo_problem *problem, double *beta, double *f,
                                  mc_smo_result *result) {
    const int64_t m = problem->dual.m, q = size_with_room(ctx, problem);
    smo_run r = {.p = problem, .most = q, .beta = beta, .f = f, .result = result};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, run_bytes(problem->rows.n, m, q)));
    lay_out_run(&work, problem->rows.n, m, q, &r);
    mercer_status status = mc_working_set_open(ctx, &problem->dual, &problem->rows, q, &r.set);
    MC_THEN(status, iterate_smo(ctx, &r));
    mc_working_set_close(&r.set);
    mc_work_close(&work);
    return status;
}

mercer_status mc_smo_solve(mercer_ctx *ctx, const mc_smo_problem *problem, double *beta, double *f,
                           mc_smo_result *result) {
    *result = (mc_smo_result){0};
    const mercer_status status = solve_by_smo(ctx, problem, beta, f, result);
    mc_dual_optimality(&problem->dual, beta, f, result);
    result->converged = status == MERCER_OK && result->violation <= problem->tolerance;
    return status;
}

/* How far from a bound a variable of size `largest` or less has to be to be more than what rounding left there: a pair
   that should have ended at its bounds ends some units in the last place beside them. */
static double rounding_at_bound(const mc_dual *dual, int64_t t, double largest) {
    return fmin(1e-13 * largest, (dual->high[t] - dual->low[t]) / 4);
}

static double largest_variable(const mc_dual *dual, const double *beta) {
    double largest = 0;
    for (int64_t t = 0; t < dual->m; t++)
        largest = fmax(largest, fabs(beta[t]));
    return largest;
}

typedef struct group_slopes {
    double sum;         /* of the free variables */
    int64_t count;      /* of them */
    double top, bottom; /* the largest slope of those that can rise, the least of those that can fall */
} group_slopes;

static void add_slope(group_slopes *s, double slope, bool rises, bool falls) {
    s->sum += rises && falls ? slope : 0;
    s->count += rises && falls;
    s->top = rises ? fmax(s->top, slope) : s->top;
    s->bottom = falls ? fmin(s->bottom, slope) : s->bottom;
}

/* The multiplier of a group's sum: the mean slope of the free variables; without any, the middle of the interval that
   the others leave, or its one finite end. */
static double group_intercept(const mc_dual *dual, const double *beta, const double *f, double largest, int g) {
    group_slopes s = {.top = -INFINITY, .bottom = INFINITY};
    for (int64_t t = 0; t < dual->m; t++)
        if (mc_dual_group(dual, t) == g) {
            const double slack = rounding_at_bound(dual, t, largest);
            add_slope(&s, mc_dual_slope(dual, f, t), dual->high[t] - beta[t] > slack, beta[t] - dual->low[t] > slack);
        }
    if (s.count)
        return s.sum / (double)s.count;
    if (isfinite(s.top) && isfinite(s.bottom))
        return (s.top + s.bottom) / 2;
    return isfinite(s.top) ? s.top : isfinite(s.bottom) ? s.bottom : 0;
}

void mc_dual_optimality(const mc_dual *dual, const double *beta, const double *f, mc_smo_result *result) {
    const mc_extremes e = mc_extremes_of(dual, beta, f);
    result->violation = fmax(0, e.violation);
    result->objective = dual_objective(dual, beta, f);
    const double largest = largest_variable(dual, beta);
    for (int g = 0; g < 2; g++)
        result->intercept[g] = group_intercept(dual, beta, f, largest, g);
}

/* With b the multiplier of the sum, the dual function is attained where every variable stands at the bound its slope v
   - b points to. */
static void tell_gap(mercer_ctx *ctx, const mc_dual *dual, const double *beta, const double *f) {
    mc_smo_result now;
    double gap = 0;
    int64_t vectors = 0;
    mc_dual_optimality(dual, beta, f, &now);
    for (int64_t t = 0; t < dual->m; t++) {
        const double slope = mc_dual_slope(dual, f, t) - now.intercept[mc_dual_group(dual, t)];
        const double distance = slope > 0 ? dual->high[t] - beta[t] : dual->low[t] - beta[t];
        gap += distance == 0 ? 0 : slope * distance;
        vectors += beta[t] != 0;
    }
    mc_progress_dual(ctx, gap, vectors);
}

mercer_status mc_dual_report_progress(mercer_ctx *ctx, const mc_dual *dual, const double *beta, const double *f,
                                      mc_watch seen) {
    if (mc_progress_watched(ctx))
        tell_gap(ctx, dual, beta, f);
    seen.value = fmax(0, seen.value);
    return mc_progress_step(ctx, -1, seen);
}
