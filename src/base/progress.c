/* progress.c: the callback's rate limit, cancel and the time limit, in one place. */
#include "base/progress.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/ranks.h"
#include "base/status.h"
#include <math.h>

static const double interval = 0.1; /* seconds between two calls of the callback */

static void clear_watched_values(mercer_ctx *ctx) {
    ctx->measure = ctx->goal = ctx->gap = NAN;
    ctx->watches = NULL;
    ctx->steps = ctx->vectors = 0;
}

void mc_hold_phase(mercer_ctx *ctx, const char *phase, double low, double high) {
    ctx->held_done = ctx->held && phase ? fmax(ctx->held_done, low) : low;
    ctx->held = phase != NULL;
    ctx->phase = phase;
    ctx->held_low = low;
    ctx->held_high = high;
    clear_watched_values(ctx);
}

void mc_progress_held(mercer_ctx *ctx, double done) {
    if (ctx->job.whole && ctx->job.on_calling_thread)
        mc_progress_held(ctx->job.whole, ctx->job.done + ctx->job.share * done);
    else if (ctx->held && ctx->held_low >= 0)
        ctx->held_done = fmax(ctx->held_done, ctx->held_low + (ctx->held_high - ctx->held_low) * done);
}

void mc_begin_phase(mercer_ctx *ctx, const char *phase) {
    if (!ctx->held)
        ctx->phase = phase;
    clear_watched_values(ctx);
    mc_set_phase_span(ctx, 0, 1);
}

void mc_set_phase_span(mercer_ctx *ctx, double low, double high) {
    ctx->span_low = low;
    ctx->span_high = high;
}

bool mc_progress_watched(const mercer_ctx *ctx) {
    return ctx->options.progress && (ctx->options.every_step || mc_clock_seconds() >= ctx->next_progress);
}

void mc_progress_dual(mercer_ctx *ctx, double gap, int64_t vectors) {
    ctx->gap = gap;
    ctx->vectors = vectors;
}

static mercer_status call_progress_callback(mercer_ctx *ctx, double done, double seconds, int64_t step) {
    const double share = done < 0 ? done : ctx->span_low + (ctx->span_high - ctx->span_low) * done;
    mercer_progress p = {.phase = ctx->phase ? ctx->phase : "",
                         .done = share,
                         .seconds = seconds,
                         .measure = ctx->measure,
                         .watches = ctx->watches,
                         .goal = ctx->goal,
                         .step = step,
                         .gap = ctx->gap,
                         .vectors = ctx->vectors};
    /* one of many pieces of work, whose own phases follow each other: only that it is under way is said */
    if (ctx->held)
        p = (mercer_progress){
            .phase = p.phase, .done = ctx->held_done, .seconds = seconds, .measure = NAN, .goal = NAN, .gap = NAN};
    const bool stop = ctx->options.progress(ctx->options.progress_user, &p);
    if (stop && mc_ranks_share(ctx)) {
        ctx->ranks->asked = MERCER_CANCELLED; /* all stop at once, when they next agree */
        return MERCER_OK;
    }
    if (stop && !ctx->shield)
        return ctx->told = ctx->stop = mc_fail(ctx, MERCER_CANCELLED, "stopped by the caller");
    return MERCER_OK;
}

static mercer_status check_limits_and_report(mercer_ctx *ctx, double done, int64_t step);

/* A piece of work beside others: what all of them have been told, by the caller or by the clock. */
static mercer_status check_limits_of_whole(mercer_ctx *ctx, int64_t step) {
    const mc_job_link *job = &ctx->job;
    if (!ctx->stop && job->on_calling_thread)
        ctx->stop = check_limits_and_report(job->whole, job->done, step);
    if (!ctx->stop)
        ctx->stop = (mercer_status)atomic_load_explicit(job->stop, memory_order_relaxed);
    if (!ctx->stop && mc_time_left(ctx) < 0)
        ctx->stop = mc_fail(ctx, MERCER_TIME, "the time limit of %g s was reached", ctx->options.time_limit);
    if (ctx->stop && !ctx->shield)
        atomic_store_explicit(job->stop, (int)ctx->stop, memory_order_relaxed);
    ctx->told = ctx->stop;
    return ctx->shield ? MERCER_OK : ctx->stop;
}

/* step 0: from within a step */
static mercer_status check_limits_and_report(mercer_ctx *ctx, double done, int64_t step) {
    if (ctx->job.whole)
        return check_limits_of_whole(ctx, step);
    if (ctx->stop || (!ctx->options.progress && ctx->options.time_limit <= 0))
        return ctx->shield ? MERCER_OK : ctx->stop;
    const double now = mc_clock_seconds(), seconds = now - ctx->call_began;
    if (!ctx->shield && ctx->options.time_limit > 0 && seconds > ctx->options.time_limit)
        return ctx->told = ctx->stop =
                   mc_fail(ctx, MERCER_TIME, "the time limit of %g s was reached", ctx->options.time_limit);
    if (!ctx->options.progress || (now < ctx->next_progress && !(step && ctx->options.every_step)))
        return MERCER_OK;
    ctx->next_progress = now + interval;
    return call_progress_callback(ctx, done, seconds, step);
}

mercer_status mc_report_progress(mercer_ctx *ctx, double done) {
    return check_limits_and_report(ctx, done, 0);
}

void mc_progress_start(mercer_ctx *ctx) {
    ctx->steps = 0;
}

mercer_status mc_progress_step(mercer_ctx *ctx, double done, mc_watch seen) {
    ctx->watches = seen.name;
    ctx->measure = seen.value;
    ctx->goal = seen.goal;
    return check_limits_and_report(ctx, done, ++ctx->steps);
}

void mc_shield_from_stop(mercer_ctx *ctx, bool on) {
    ctx->shield += on ? 1 : -1;
}

mercer_status mc_stop_taken(mercer_ctx *ctx) {
    const mercer_status reason = ctx->stop;
    ctx->stop = MERCER_OK;
    if (reason)
        ctx->message[0] = '\0';
    return reason;
}

mercer_status mc_stop_requested(mercer_ctx *ctx) {
    return ctx->told && !ctx->shield ? mc_fail(ctx, ctx->told, "told to stop") : MERCER_OK;
}

double mc_time_left(const mercer_ctx *ctx) {
    const double limit = ctx->options.time_limit;
    return limit > 0 ? limit - (mc_clock_seconds() - ctx->call_began) : INFINITY;
}

mc_limit mc_limit_open(mercer_ctx *ctx, double seconds) {
    const mc_limit limit = {ctx->options.time_limit};
    const double ends = fmax(1e-9, mc_clock_seconds() - ctx->call_began + seconds);
    ctx->options.time_limit = limit.before > 0 ? fmin(limit.before, ends) : ends;
    return limit;
}

/* What the clock has said; the caller's word stays. */
static void forget_clock(mercer_ctx *ctx) {
    if (ctx->stop == MERCER_TIME)
        mc_clear_failure(ctx);
    ctx->stop = ctx->stop == MERCER_TIME ? MERCER_OK : ctx->stop;
    ctx->told = ctx->told == MERCER_TIME ? MERCER_OK : ctx->told;
}

mc_limit mc_limit_lift(mercer_ctx *ctx) {
    const mc_limit limit = {ctx->options.time_limit};
    ctx->options.time_limit = 0;
    forget_clock(ctx);
    return limit;
}

void mc_limit_close(mercer_ctx *ctx, mc_limit limit) {
    ctx->options.time_limit = limit.before;
    forget_clock(ctx);
}
