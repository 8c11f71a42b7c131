/* plan.c: which way a fit would go, with bytes and seconds. The ways, their bytes and their operations are the
   learner's own numbers (learn/ridge/ridge_cost.c), the same that decide a fit; the speed of this machine is measured
   on the spot (learn/ridge/machine_speed.c). */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/sized.h"
#include "base/status.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include "learn/common/machines.h"
#include "learn/ridge/machine_speed.h"
#include "select/plan/plan.h"
#include "linalg/cholesky.h"
#include <string.h>

static void write_plan(const mc_options *options, size_t held, mercer_plan *out) {
    for (int i = 0; i < options->count; i++) {
        const mc_option *o = &options->option[i];
        const mercer_choice choice = {o->solver, o->reason, o->bytes ? o->bytes + held : 0, o->seconds, o->possible};
        if (i == options->chosen)
            out->chosen = choice;
        else
            out->alternatives[out->alternative_count++] = choice;
    }
}

static mercer_status price(mercer_ctx *ctx, const mc_learner *learner, const void *settings, const mc_problem *problem,
                           mc_options *options) {
    if (learner->price)
        return learner->price(ctx, settings, problem, options);
    mc_speed speed;
    MC_TRY(mc_speed_measure(ctx, problem, &speed));
    mc_speed_price(&speed, options);
    return MERCER_OK;
}

/* A precomputed matrix is factored before anything else, to see that it is positive semidefinite. */
static size_t check_bytes(mercer_ctx *ctx, const mc_problem *p) {
    if (!mc_kernel_precomputed(p->kernel))
        return 0;
    return (size_t)mc_packed_count(p->n) * sizeof(double) + mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, 0);
}

/* What a fit does first was done just now, that check included: its seconds are known. */
static void count_start(mc_options *options, size_t bytes, double seconds) {
    for (int i = 0; i < options->count; i++) {
        mc_option *o = &options->option[i];
        o->seconds += o->seconds > 0 ? seconds : 0;
        o->bytes = o->bytes > 0 && o->bytes < bytes ? bytes : o->bytes;
    }
}

static mercer_status plan(mercer_ctx *ctx, const mc_learner *learner, const void *settings, const mercer_kernel *kernel,
                          const mercer_data *data, mercer_plan *out) {
    const size_t before = mercer_memory_used(ctx);
    const double began = mc_clock();
    mc_problem problem;
    MC_TRY(learner->prepare(ctx, settings, kernel, data, &problem));
    const double spent = mc_clock() - began;
    const size_t held = mercer_memory_used(ctx) - before;
    mc_options options;
    learner->weigh(ctx, settings, &problem, &options);
    const mercer_status status = price(ctx, learner, settings, &problem, &options);
    count_start(&options, check_bytes(ctx, &problem), spent);
    if (!status)
        write_plan(&options, held, out);
    mc_problem_close(&problem);
    return status;
}

mercer_status mc_plan_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                          const mercer_kernel *kernel, const mercer_data *data, mercer_plan *out) {
    if (!mc_learner_of(machine)->prepare)
        return mc_fail(ctx, MERCER_INVALID, "plan: %s cannot be planned", machine->name);
    MC_TRY(mc_settings_check(ctx, machine->name, machine->settings, machine->count, settings));
    return plan(ctx, mc_learner_of(machine), settings, kernel, data, out);
}

mercer_status mercer_plan_fit(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_kernel *kernel,
                              const mercer_data *data, mercer_plan *out) {
    MC_NEED(ctx, machine, kernel, data, out);
    mc_begin(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_plan", out));
    mc_settings set;
    mercer_plan made = {0};
    MC_TRY(mc_settings_read(ctx, machine, settings, &set));
    mc_shield(ctx, true); /* the time limit is that of the fit */
    const mercer_status status = mc_plan_fit(ctx, set.machine, set.values, kernel, data, &made);
    mc_shield(ctx, false);
    mc_sized_write(&made, sizeof made, out);
    return status;
}
