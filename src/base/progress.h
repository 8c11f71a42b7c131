/* progress.h: long work can be watched and stopped. */
#ifndef MC_BASE_PROGRESS_H
#define MC_BASE_PROGRESS_H

#include <mercer.h>

/* Name what is being done from here on; NULL: nothing worth showing. */
void mc_begin_phase(mercer_ctx *ctx, const char *phase);
/* What is reported from here on, up to the next span or phase, is the part [low, high] of the phase: for a phase of
   many loops. */
void mc_set_phase_span(mercer_ctx *ctx, double low, double high);
/* While a phase is held the phases of the work inside are not shown: the piece [low, high] of the phase follows, low
   negative when that is unknown. NULL lets go. */
void mc_hold_phase(mercer_ctx *ctx, const char *phase, double low, double high);
/* So much of the piece that is held, in [0, 1], is done: what is shown goes up only. Nothing where nothing is held. */
void mc_progress_held(mercer_ctx *ctx, double done);
/* done in [0, 1], negative when unknown. Calls the callback at most ten times a second; MERCER_CANCELLED or
   MERCER_TIME, with its message, once the caller or the clock says stop. Call it from the calling thread only. */
mercer_status mc_report_progress(mercer_ctx *ctx, double done);
/* The same at the end of a step, with what the solver watches and where that is to come; a goal of NaN: it ends by
   other signs. Steps are counted from mc_progress_start (or the phase) on. */
typedef struct mc_watch {
    const char *name;
    double value, goal;
} mc_watch;
mercer_status mc_progress_step(mercer_ctx *ctx, double done, mc_watch seen);
void mc_progress_start(mercer_ctx *ctx);
/* Whether the next report reaches the callback: what is worth computing for it. Then: the duality gap, and the
   number of nonzero multipliers. */
bool mc_progress_watched(const mercer_ctx *ctx);
void mc_progress_dual(mercer_ctx *ctx, double gap, int64_t vectors);

/* Between mc_shield_from_stop(ctx, true) and mc_shield_from_stop(ctx, false) nothing is stopped: for steps that must be
   done whole. Pairs may nest. What was asked for meanwhile takes effect at the first report afterwards. */
void mc_shield_from_stop(mercer_ctx *ctx, bool on);
/* The reason why the call was told to stop, which is then forgotten, so that the best answer so far can still be
   finished; OK: none. */
mercer_status mc_stop_taken(mercer_ctx *ctx);
/* Whether this call was told to stop at any time, whoever has taken the reason since. */
mercer_status mc_stop_requested(mercer_ctx *ctx);
/* Seconds until the time limit; infinite without one. */
double mc_time_left(const mercer_ctx *ctx);

/* A part of the call with a limit of its own: so many seconds from now, and no later than that of the call. Closed, a
   stop that the shorter limit asked for is forgotten; the caller's is not. Pairs may nest. */
typedef struct mc_limit {
    double before;
} mc_limit;
mc_limit mc_limit_open(mercer_ctx *ctx, double seconds);
/* A part without a limit, for what must be there however late it is; the caller can stop it. */
mc_limit mc_limit_lift(mercer_ctx *ctx);
void mc_limit_close(mercer_ctx *ctx, mc_limit limit);

#endif
