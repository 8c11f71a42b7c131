/* gp_search.c: maximise the evidence over the logarithms of the parameters by bounded L-BFGS, from where the kernel
   stands and from random starts around it.

   All learnable parameters are positive (bandwidths, factors, periods), so their logarithms are free. The rows and the
   target bound them: a length scale lies between a thousandth of the narrowest column and a hundred thousand times the
   widest, where its column no longer counts; a factor within 1e8 of the target's variance either way. What is neither
   may move by a factor of 1e10. The start is always inside. Parameters that are 0 (the c of a polynomial) stay. A point
   where the factorisation fails has evidence -infinity and is stepped back from. */
#include "learn/gp/gp_search.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "iterative/lbfgs.h"
#include <math.h>
#include <string.h>

static const double RANGE = 23;   /* log 1e10: a length scale that stands squared in gamma can still grow 1e5-fold */
static const double SPREAD = 2.3; /* random starts: within a factor of 10 */
/* from fewer rows: length scales beyond so many times the widest column, and a noise below this share of the target's
   variance, have no slope left to come back by */
static const double SEEN = 10, HEARD = 1e-3;
static const double NOISE_LOW = 1e-6, NOISE_HIGH = 10, FACTOR = 1e8, SHORTEST = 1e-3, LONGEST = 1e5;

/* Parameters that are a power of a length. */
static const struct {
    mc_atom atom;
    int parameter;
    double power;
} lengths[] = {{MC_RBF, 0, -2},   {MC_LAPLACIAN, 0, -1}, {MC_EXPONENTIAL, 0, -1},
               {MC_MATERN, 1, 1}, {MC_RQ, 1, 1},         {MC_PERIODIC, 0, 1}};

typedef struct evidence_search {
    mc_evidence *evidence;
    const mercer_kernel *kernel;
    int64_t slots;
    double *value, *gradient, *low, *high, *start, *z; /* slots + 1 each: parameters, then the noise */
    double *best;                                      /* the best point evaluated, with its evidence */
    double best_value;
} evidence_search;

/* -L and its gradient in the logarithms. */
static mercer_status negative_evidence(mercer_ctx *ctx, void *self, const double *z, double *f, double *g) {
    evidence_search *s = self;
    for (int64_t i = 0; i <= s->slots; i++)
        s->value[i] = s->low[i] < s->high[i] ? exp(z[i]) : s->value[i];
    mercer_kernel *kernel = NULL;
    MC_TRY(mc_kernel_with(ctx, s->kernel, s->value, &kernel));
    double value;
    const mercer_status status = mc_evidence_value(ctx, s->evidence, kernel, s->value[s->slots], &value, s->gradient);
    mercer_kernel_free(kernel);
    MC_TRY(status);
    *f = -value;
    for (int64_t i = 0; i <= s->slots; i++)
        g[i] = s->low[i] < s->high[i] && isfinite(value) ? -s->value[i] * s->gradient[i] : 0;
    if (value > s->best_value) {
        s->best_value = value;
        memcpy(s->best, s->value, (size_t)(s->slots + 1) * sizeof *s->best);
    }
    return MERCER_OK;
}

/* The narrowest and the widest range of a column that varies; 0 when none does. */
static void column_ranges(const mercer_data *x, double *least, double *most) {
    *least = *most = 0;
    for (int64_t j = 0; x && j < x->d; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < x->n; i++) {
            const double value = mc_data_value(x, i, j);
            low = fmin(low, value);
            high = fmax(high, value);
        }
        const double range = high - low;
        *least = range > 0 && (*least == 0 || range < *least) ? range : *least;
        *most = fmax(*most, range);
    }
}

/* The data's bounds on the logarithm of a parameter, where they have any; the start stays inside. */
static void bound_log_parameter(evidence_search *s, int64_t i, double least, double most, double variance,
                                bool from_sample) {
    const mc_slot *slot = &s->kernel->slot[i];
    double power = slot->parameter < 0 ? 1 : 0, low = log(variance / FACTOR), high = log(variance * FACTOR);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0] && slot->parameter >= 0; k++)
        if (slot->node->atom == lengths[k].atom && slot->parameter == lengths[k].parameter && least > 0) {
            power = lengths[k].power;
            low = power * log(power > 0 ? SHORTEST * least : LONGEST * most);
            high = power * log(power > 0 ? LONGEST * most : SHORTEST * least);
        }
    if (power == 0)
        return;
    s->low[i] = fmin(low, s->start[i]);
    s->high[i] = fmax(high, s->start[i]);
    if (slot->parameter >= 0 && from_sample)
        s->start[i] =
            power > 0 ? fmin(s->start[i], power * log(SEEN * most)) : fmax(s->start[i], power * log(SEEN * most));
}

/* A parameter chosen from a range stays in it. */
static void keep_to_range(evidence_search *s, int64_t i) {
    const mc_slot *slot = &s->kernel->slot[i];
    const mc_value *value = slot->parameter < 0 ? NULL : &slot->node->parameter[slot->parameter];
    if (!value || value->kind != MC_VALUE_NUMBER || !(0 < value->low && value->low < value->high))
        return;
    s->low[i] = log(value->low);
    s->high[i] = log(value->high);
    s->start[i] = fmin(s->high[i], fmax(s->low[i], s->start[i]));
}

/* Where the search begins and how far it may go; what stays has low = high. */
static void set_box(evidence_search *s, double noise, const mc_gp_search *set) {
    double least, most;
    column_ranges(set->x, &least, &most);
    for (int64_t i = 0; i <= s->slots; i++) {
        const bool is_noise = i == s->slots;
        s->value[i] = is_noise ? noise : mercer_kernel_parameter(s->kernel, i);
        const bool free = s->value[i] > 0 && (is_noise ? set->learn_noise : set->learn_kernel);
        s->start[i] = free ? log(s->value[i]) : 0;
        s->low[i] = free ? s->start[i] - RANGE : 0;
        s->high[i] = free ? s->start[i] + RANGE : 0;
        if (free && !is_noise && set->x)
            bound_log_parameter(s, i, least, most, set->scale, set->from_sample);
        if (free && !is_noise)
            keep_to_range(s, i);
        if (free && is_noise) {
            s->low[i] = log(NOISE_LOW * set->scale);
            s->high[i] = log(NOISE_HIGH * set->scale);
            if (set->from_sample && noise < HEARD * set->scale)
                s->start[i] = 0.5 * (s->start[i] + log(0.1 * set->scale));
        }
    }
}

static void choose_start(evidence_search *s, uint64_t seed, int64_t restart) {
    mc_rng rng = mc_rng_at(seed, MC_STREAM_RESTARTS, (uint64_t)restart);
    for (int64_t i = 0; i <= s->slots; i++) {
        const double step = restart ? SPREAD * (2 * mc_rng_uniform(&rng) - 1) : 0;
        s->z[i] = s->low[i] < s->high[i] ? s->start[i] + step : 0;
    }
}

static mercer_status all_searches(mercer_ctx *ctx, evidence_search *s, const mc_gp_search *set, mc_gp_found *out) {
    const mc_lbfgs problem = {.n = s->slots + 1,
                              .low = s->low,
                              .high = s->high,
                              .objective = negative_evidence,
                              .self = s,
                              .iterations_max = set->iterations_max,
                              .gradient_tolerance = 1e-4,
                              .decrease_tolerance = 1e-9,
                              .decrease = set->gain};
    for (int64_t restart = 0; restart <= set->restarts; restart++) {
        mc_lbfgs_result result;
        const double before = s->best_value;
        choose_start(s, set->seed, restart);
        const mercer_status status = mc_lbfgs_minimise(ctx, &problem, s->z, &result);
        out->evaluations += result.evaluations;
        out->iterations += result.iterations;
        out->converged = s->best_value > before ? result.converged : out->converged;
        mc_log_message(ctx, "gp: search %lld of %lld: evidence %.6g after %lld evaluations", (long long)restart + 1,
                       (long long)set->restarts + 1, -result.f, (long long)result.evaluations);
        MC_TRY(status);
    }
    return MERCER_OK;
}

mercer_status mc_gp_maximise(mercer_ctx *ctx, mc_evidence *evidence, const mercer_kernel *kernel, double noise,
                             const mc_gp_search *set, mc_gp_found *out) {
    *out = (mc_gp_found){.noise = noise};
    evidence_search s = {.evidence = evidence, .kernel = kernel, .slots = kernel->slots, .best_value = -INFINITY};
    mc_work w;
    const int64_t m = s.slots + 1;
    MC_TRY(MC_WORK_SLICES(ctx, &w, MC_SLICE(s.value, m), MC_SLICE(s.gradient, m), MC_SLICE(s.low, m),
                          MC_SLICE(s.high, m), MC_SLICE(s.start, m), MC_SLICE(s.z, m), MC_SLICE(s.best, m)));
    set_box(&s, noise, set);
    memcpy(s.best, s.value, (size_t)m * sizeof *s.best);
    mercer_status status = all_searches(ctx, &s, set, out);
    const bool usable = !status || status == MERCER_TIME || status == MERCER_CANCELLED;
    out->noise = s.best[s.slots];
    out->value = s.best_value;
    if (usable && mc_kernel_with(ctx, kernel, s.best, &out->kernel))
        status = MERCER_MEMORY;
    mc_work_close(&w);
    return status;
}
