/* forecast.c: which solver a fit would take, with bytes and seconds. The solvers, their bytes and their operations are
   the machine's own numbers, the same that decide a fit; the speed of this machine is measured at run time (speed.c).
   */
#include "plan/forecast.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "gram/operator/gram.h"
#include "kernel/evaluate/text_rows.h"
#include "kernel/language/kernel.h"
#include "linalg/cholesky.h"
#include "plan/device_choice.h"
#include "plan/speed.h"
#include <string.h>

static void write_plan(const mc_solver_options *options, size_t held, mercer_plan *out) {
    for (int i = 0; i < options->count; i++) {
        const mc_solver_option *o = &options->option[i];
        const mercer_choice choice = {o->solver, o->reason, o->bytes ? o->bytes + held : 0, o->seconds, o->possible};
        if (i == options->chosen) {
            out->chosen = choice;
            out->chosen.seconds = strcmp(out->device, "cpu") == 0 ? choice.seconds : out->card_seconds;
        } else {
            out->alternatives[out->alternative_count++] = choice;
        }
    }
}

static mercer_status price_solvers(mercer_ctx *ctx, const mc_planner *machine, const void *settings,
                                   const mc_problem *problem, mc_solver_options *options) {
    if (machine->price)
        return machine->price(ctx, settings, problem, options);
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
static void count_start(mc_solver_options *options, size_t bytes, double seconds) {
    for (int i = 0; i < options->count; i++) {
        mc_solver_option *o = &options->option[i];
        o->seconds += o->seconds > 0 ? seconds : 0;
        o->bytes = o->bytes > 0 && o->bytes < bytes ? bytes : o->bytes;
    }
}

mercer_status mc_forecast_fit(mercer_ctx *ctx, const mc_planner *machine, const void *settings,
                              const mercer_kernel *kernel, const mercer_data *data, mercer_plan *out) {
    const size_t before = mercer_memory_used(ctx);
    const double began = mc_clock_seconds();
    mc_problem problem;
    MC_TRY(machine->prepare(ctx, settings, kernel, data, &problem));
    const double spent = ctx->nominal ? 0 : mc_clock_seconds() - began;
    const size_t held = mercer_memory_used(ctx) - before;
    mc_solver_options options;
    machine->rank_solvers(ctx, settings, &problem, &options);
    mercer_status status = price_solvers(ctx, machine, settings, &problem, &options);
    const size_t check = check_bytes(ctx, &problem), texts = mc_text_rows_attached_bytes(problem.x);
    count_start(&options, check > texts ? check : texts, spent);
    MC_THEN(status, mc_plan_device(ctx, &problem, &options.option[options.chosen], out));
    if (!status)
        write_plan(&options, held, out);
    mc_problem_close(&problem);
    return status;
}
