/* run_stage.h: a fit in stages, between run_stage.c, staged_fit.c and fit_in_time.c. */
#ifndef MC_MODEL_RUN_STAGE_H
#define MC_MODEL_RUN_STAGE_H

#include "learn/common/machines.h"
#include "model/stage_plan.h"
#include "model/stage_rows.h"
#include "model/staged_fit.h"

enum {
    MC_FIRST_ROWS = 256,       /* of the first stage under a limit */
    MC_GP_ROWS_TO_LEARN = 2048 /* beyond them parameters are taken over */
};

typedef struct mc_staged {
    const mercer_machine *machine;
    const mercer_data *data;
    const mercer_kernel *kernel; /* that of the next stage: as given, or that of the best process so far */
    mc_settings set;             /* of the next stage */
    const mercer_kernel *given;  /* as asked for, and so the settings: what the machine itself is fitted with */
    mc_settings given_set;
    bool open;  /* lambda may be changed */
    bool tried; /* the machine itself on all rows took longer than forecast: not again */
    mc_stage_rows rows;
    mercer_model *model;
    mercer_kernel *learned; /* of the best process */
    double budget, spent;   /* nominal seconds; the clock keeps its own */
    double ratio;           /* seconds over those forecast, at the last stage */
    mc_fit_stages record;
} mc_staged;

/* ---- One stage (run_stage.c) ---- */

/* A setting of the next stage by its name; NULL: the machine has none of it. */
void *mc_staged_field(mc_staged *s, const char *name);
bool mc_staged_is_machine(const mc_staged *s, const char *name);
/* As many as the machine takes at most, where its solver is left to us; 0: it has none. */
int64_t mc_staged_landmarks(mc_staged *s);
/* What must be done whole, in one go: a fit that goes on from a file or from the multipliers of other rows. */
bool mc_staged_is_bound(mc_staged *s);
/* Into rows to learn from and rows held out. */
mercer_status mc_staged_split_rows(mercer_ctx *ctx, mc_staged *s);

/* Of the clock, or of the nominal seconds. */
double mc_staged_time_left(const mercer_ctx *ctx, const mc_staged *s);
/* Seconds of a fit of these rows with the settings as they stand; infinite where that cannot be said or done. */
double mc_staged_forecast(mercer_ctx *ctx, const mc_staged *s, const mercer_data *rows);
/* The settings of a stage. */
void mc_staged_put_stage(mc_staged *s, const mc_stage_plan *plan);

/* Whether a limit or the caller ended a fit; whether the best so far is worse than a constant. */
bool mc_was_cut_short(const mercer_report *r);
bool mc_staged_is_worse_than_constant(const mc_staged *s);
/* Into the record; model NULL: none came out. */
void mc_staged_note(mc_staged *s, const mc_stage_plan *plan, const mercer_model *model, double error, double seconds,
                    bool kept);
/* A stage that a clock, the memory or the numbers did not allow leaves what there was; the caller's stop is one. */
mercer_status mc_staged_forgive(mercer_ctx *ctx, const mc_staged *s, mercer_status status);
/* Within so many seconds of the clock; infinite: however late it is. *done: a model came out, better or not. */
mercer_status mc_stage_run(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *plan, const mercer_data *rows,
                           double forecast, double most, bool *done);
/* Whether another stage may begin. */
bool mc_staged_has_room(const mercer_ctx *ctx, const mc_staged *s);

/* ---- The order of work (staged_fit.c) ---- */

mercer_status mc_staged_open(mercer_ctx *ctx, mc_staged *s, const mercer_machine *machine, const void *settings,
                             const mercer_kernel *kernel, const mercer_data *data);
void mc_staged_close(mc_staged *s);
mc_stage_plan mc_staged_first(mc_staged *s);
/* The stage after this one, made small enough for the time left; rows 0: there is none. */
mercer_status mc_staged_plan_next(mercer_ctx *ctx, mc_staged *s, mc_stage_plan last, mc_stage_plan *next,
                                  double *seconds);
/* From a stage whose rows and settings are there. */
mercer_status mc_staged_climb(mercer_ctx *ctx, mc_staged *s, mc_stage_plan plan, double seconds);
/* Seconds of the machine itself on all rows; it, once, where it is forecast to end in time; whether one that the clock
   cut short is near enough to the optimum, by its certificate. */
double mc_staged_forecast_exact(mercer_ctx *ctx, mc_staged *s);
mercer_status mc_staged_try_exact(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *last);
bool mc_staged_is_close(const mc_staged *s, const mercer_report *r);
/* The best model, with the record of its stages. */
mercer_status mc_staged_hand_over(mercer_ctx *ctx, mc_staged *s, mercer_model **out);

#endif
