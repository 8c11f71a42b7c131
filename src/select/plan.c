/* plan.c: which way a fit would go, with bytes and seconds. The ways, their bytes and their operations are the learner's own numbers
   (learn/cost.c), the same that decide a fit; the speed of this machine is measured on the spot in some ten milliseconds:

       a factorisation of order 512, an eigendecomposition of order 128, the Gram matrix of the first rows against themselves.

   Speeds rise with size, so the forecast errs on the long side for large problems. */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/data.h"
#include "gram/gram.h"
#include "learn/machines.h"
#include "solve/cholesky.h"
#include "solve/eigen.h"
#include <math.h>
#include <string.h>

enum { FACTOR_ORDER = 512, EIGEN_ORDER = 128, PAIR_ROWS = 512, TAKES = 2 };

/* Seconds for one operation of each kind. */
typedef struct speed {
    double factor, eigen, pair;
} speed;

/* A well conditioned matrix without structure that LAPACK could use: 1 / (1 + |i - j|), and more on the diagonal. */
static double entry(int64_t i, int64_t j) {
    return 1 / (1 + fabs((double)(i - j))) + (i == j ? 2 : 0);
}

static mercer_status time_factor(mercer_ctx *ctx, double *out) {
    const int64_t n = FACTOR_ORDER;
    double *A = NULL;
    MC_TRY(MC_ALLOC(ctx, A, mc_packed_count(n)));
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            A[mc_packed_place(n, i, j)] = entry(i, j);
    int64_t bad;
    const double began = mc_clock();
    const mercer_status status = mc_cholesky_factor(ctx, n, A, &bad);
    *out = (mc_clock() - began) / (pow((double)n, 3) / 3);
    mc_free(A);
    return status;
}

static mercer_status time_eigen(mercer_ctx *ctx, double *out) {
    const int64_t n = EIGEN_ORDER;
    double *A = NULL;
    MC_TRY(MC_ALLOC(ctx, A, n * n + n));
    for (int64_t i = 0; i < n * n; i++)
        A[i] = entry(i / n, i % n);
    const double began = mc_clock();
    const mercer_status status = mc_eigen(ctx, n, A, A + n * n);
    *out = (mc_clock() - began) / pow((double)n, 3);
    mc_free(A);
    return status;
}

static mercer_status time_rows(mercer_ctx *ctx, const mc_problem *p, const mercer_data *rows, double *V, double *out) {
    mc_gram *gram = NULL;
    const double began = mc_clock();
    MC_TRY(mc_gram_open(ctx, p->kernel, rows, NULL, MERCER_F64, &gram));
    const mercer_status status = mc_gram_apply(ctx, gram, p->outputs, V, V + rows->n * p->outputs);
    mc_gram_close(gram);
    *out = (mc_clock() - began) / pow((double)rows->n, 2);
    return status;
}

static mercer_status time_pairs(mercer_ctx *ctx, const mc_problem *p, double *out) {
    const int64_t n = p->n < PAIR_ROWS ? p->n : PAIR_ROWS;
    mercer_data *rows = NULL;
    double *V = NULL;
    MC_TRY(mc_data_take(ctx, p->x, NULL, n, &rows));
    mercer_status status = MC_ALLOC(ctx, V, 2 * n * p->outputs);
    if (!status)
        status = time_rows(ctx, p, rows, V, out);
    mc_free(V);
    mercer_data_free(rows);
    return status;
}

/* The best of two takes: the first wakes threads and fills caches. */
static mercer_status measure(mercer_ctx *ctx, const mc_problem *p, speed *out) {
    *out = (speed){INFINITY, INFINITY, INFINITY};
    for (int take = 0; take < TAKES; take++) {
        speed s;
        MC_TRY(time_factor(ctx, &s.factor));
        MC_TRY(time_eigen(ctx, &s.eigen));
        MC_TRY(time_pairs(ctx, p, &s.pair));
        out->factor = fmin(out->factor, s.factor);
        out->eigen = fmin(out->eigen, s.eigen);
        out->pair = fmin(out->pair, s.pair);
    }
    return MERCER_OK;
}

static mercer_choice choice_of(const mc_option *o, const speed *s, size_t held) {
    return (mercer_choice){.solver = o->solver,
                           .reason = o->reason,
                           .memory_bytes = o->bytes + held,
                           .seconds = o->pairs * s->pair + o->factor * s->factor + o->eigen * s->eigen,
                           .possible = o->possible};
}

static void write_plan(const mc_options *options, const speed *s, size_t held, mercer_plan *out) {
    for (int i = 0; i < options->count; i++) {
        const mercer_choice choice = choice_of(&options->option[i], s, held);
        if (i == options->chosen)
            out->chosen = choice;
        else
            out->alternatives[out->alternative_count++] = choice;
    }
}

static mercer_status plan(mercer_ctx *ctx, const mc_learner *learner, const void *settings, const mercer_kernel *kernel,
                          const mercer_data *data, mercer_plan *out) {
    const size_t before = mercer_memory_used(ctx);
    mc_problem problem;
    MC_TRY(learner->prepare(ctx, settings, kernel, data, &problem));
    const size_t held = mercer_memory_used(ctx) - before;
    mc_options options;
    speed s;
    learner->weigh(ctx, settings, &problem, &options);
    const mercer_status status = measure(ctx, &problem, &s);
    if (!status)
        write_plan(&options, &s, held, out);
    mc_problem_close(&problem);
    return status;
}

mercer_status mercer_plan_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                              const mercer_kernel *kernel, const mercer_data *data, mercer_plan *out) {
    mc_begin(ctx);
    *out = (mercer_plan){0};
    const mc_learner *learner = mc_learner_of(machine);
    if (!learner)
        return mc_fail(ctx, MERCER_INVALID, "plan: the machine is none of mercer_machines()");
    void *chosen = mc_alloc(ctx, 1, machine->size);
    if (!chosen)
        return MERCER_MEMORY;
    mercer_settings_defaults(machine, chosen);
    if (settings)
        memcpy(chosen, settings, machine->size);
    mercer_status status = mc_settings_check(ctx, machine->name, machine->settings, machine->count, chosen);
    if (!status)
        status = plan(ctx, learner, chosen, kernel, data, out);
    mc_free(chosen);
    return status;
}
