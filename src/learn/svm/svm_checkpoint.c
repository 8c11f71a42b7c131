/* svm_checkpoint.c: the state of the quadratic programs in a file, so that a fit that was killed goes on to the same
   bits.

   Kept are the multipliers and functions of all quadratic programs, which one is being solved, and the choice that
   depended on the memory at hand. A quadratic program is left only where nothing else decides what comes next: before
   its first set, or at a rest of qp/active_set.h. Rests are counted in sets, not in seconds, and taken whether or not
   the file is written there; so every run goes the same way. Rows of K are not kept in memory meanwhile: what is
   computed must not depend on what was.

   The hash of a file finds damage; anyone can compute it. So what was read is looked at before it is believed: places
   and flags inside their ranges, multipliers inside their bounds with the sums that the quadratic program keeps, all
   numbers finite. Then the certificate, which takes nothing but the multipliers, is as good as without a checkpoint,
   whoever wrote the file. */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/common/checkpoint.h"
#include "learn/svm/svm.h"
#include <float.h>
#include <math.h>
#include <string.h>

static const double DRIFT = 1e-9; /* of the sum of all multipliers: what rounding leaves in sums that steps keep */
enum { CALM = 50 };               /* between two checkpoints pass so many times the seconds one takes to write */

enum { STEPS_MOST = 1 << 30 }; /* rounds, and a factor on the steps that one run may take, that no fit reaches */

typedef struct scalars {
    double tolerance, unit, intercept, epsilon;
    double violation, intercepts[2], objective; /* and the rest: of the result */
    int64_t steps, rounds, converged;
} scalars;

typedef struct svm_checkpoint_head {
    int64_t task, begun, most;
    double noise2;
} svm_checkpoint_head;

struct mc_svm_checkpoint {
    const char *path;
    uint64_t key;
    double written, writing; /* when the last one was written and how long that took */
    int64_t betas, functions;
    scalars *scalar;  /* of each task */
    double *beta, *f; /* of all tasks, one after the other */
};

static uint64_t key_of(const mercer_ctx *ctx, const mc_svm *s) {
    const mercer_svm *set = s->set;
    const double numbers[] = {set->C, set->nu, set->epsilon, set->tolerance};
    const int64_t counts[] = {set->iterations, s->kind, s->tasks, s->solver->dtype};
    uint64_t key = mc_hash(mc_checkpoint_key(ctx, &s->p, "svm 2"), numbers, sizeof numbers);
    key = mc_hash(key, counts, sizeof counts);
    key = mc_hash(key, s->cost, (size_t)s->p.n * sizeof *s->cost);
    for (int64_t k = 0; k < s->tasks; k++) /* where it starts, and with that the pairs */
        key = mc_hash(key, s->task[k].beta, (size_t)s->task[k].m * sizeof(double));
    return mc_hash_text(key, set->multiclass);
}

static scalars scalars_of(const mc_svm_program *t) {
    const mc_smo_result *r = &t->result;
    return (scalars){
        t->tolerance, t->unit,  t->intercept, t->epsilon,  r->violation, {r->intercept[0], r->intercept[1]},
        r->objective, r->steps, r->rounds,    r->converged};
}

static void take_scalars(const scalars *from, mc_svm_program *t) {
    t->tolerance = from->tolerance;
    t->unit = from->unit;
    t->intercept = from->intercept;
    t->epsilon = from->epsilon;
    t->result = (mc_smo_result){.violation = from->violation,
                                .intercept = {from->intercepts[0], from->intercepts[1]},
                                .objective = from->objective,
                                .steps = from->steps,
                                .rounds = from->rounds,
                                .converged = from->converged != 0};
}

/* The arrays of the tasks there (out) or back. */
static void copy_program_state(const mc_svm *s, mc_svm_checkpoint *checkpoint, bool out) {
    double *beta = checkpoint->beta, *f = checkpoint->f;
    for (int64_t k = 0; k < s->tasks; k++) {
        mc_svm_program *t = &s->task[k];
        memcpy(out ? beta : t->beta, out ? t->beta : beta, (size_t)t->m * sizeof *beta);
        memcpy(out ? f : t->f, out ? t->f : f, (size_t)t->n * sizeof *f);
        beta += t->m;
        f += t->n;
        if (out)
            checkpoint->scalar[k] = scalars_of(t);
        else
            take_scalars(&checkpoint->scalar[k], t);
    }
}

/* ---- Whether what was read can be ---- */

static bool head_holds(const mc_svm *s, const svm_checkpoint_head *h) {
    const bool begun = h->begun == 1 && h->task < s->tasks;
    return h->task >= 0 && h->task <= s->tasks && (h->begun == 0 || begun) && mc_svm_may_take(s, h->most)
           && h->noise2 >= 0 && isfinite(h->noise2);
}

static bool is_count(int64_t value, int64_t most) {
    return value >= 0 && value <= most;
}

/* What a quadratic program is given stays as it is: the unit but of nu-svc, epsilon but of nu-svr. */
static bool settings_hold(const mc_svm *s, const mc_svm_program *t, const scalars *one) {
    const bool unit = s->kind == MC_NU_SVC ? one->unit > 0 && isfinite(one->unit) : one->unit == t->unit;
    const bool epsilon = s->kind == MC_NU_SVR ? isfinite(one->epsilon) : one->epsilon == t->epsilon;
    return unit && epsilon && one->tolerance > 0 && isfinite(one->tolerance);
}

/* Violations and objectives are infinite before the first step. */
static bool scalars_hold(const mc_svm *s, const scalars *one) {
    const double steps = 2 * (double)s->set->iterations + STEPS_MOST;
    return isfinite(one->intercept) && isfinite(one->intercepts[0]) && isfinite(one->intercepts[1])
           && !isnan(one->violation) && !isnan(one->objective) && one->steps >= 0 && (double)one->steps <= steps
           && is_count(one->rounds, STEPS_MOST) && is_count(one->converged, 1);
}

static double sum_of(const mc_svm *s, const mc_svm_program *t, const double *beta, double sign) {
    double sum = 0;
    for (int64_t v = 0; v < t->m; v++)
        sum += mc_svm_program_sign(s, t, v) == sign ? beta[v] : 0;
    return sum;
}

/* Inside their bounds, with the sums of the feasible start that the task holds now: of each sign where the quadratic
   program keeps both. */
static bool multipliers_hold(const mc_svm *s, const mc_svm_program *t, const double *beta) {
    double mass = 0;
    for (int64_t v = 0; v < t->m; v++) {
        const double size = mc_svm_program_sign(s, t, v) * beta[v];
        if (!(size >= 0 && size <= mc_svm_program_bound(s, t, v % t->n) * (1 + 8 * DBL_EPSILON)) || !isfinite(size))
            return false;
        mass += size;
    }
    const double above = sum_of(s, t, beta, 1) - sum_of(s, t, t->beta, 1),
                 below = sum_of(s, t, beta, -1) - sum_of(s, t, t->beta, -1);
    const bool both = s->kind != MC_SVC && s->kind != MC_SVR;
    return fabs(above + below) <= DRIFT * mass && (!both || fabs(above) <= DRIFT * mass);
}

static bool state_holds(const mc_svm *s, const mc_svm_checkpoint *checkpoint, const svm_checkpoint_head *h) {
    const double *beta = checkpoint->beta;
    bool holds = head_holds(s, h) && mc_first_not_finite(MERCER_F64, checkpoint->f, checkpoint->functions) < 0;
    for (int64_t k = 0; k < s->tasks && holds; beta += s->task[k++].m)
        holds = settings_hold(s, &s->task[k], &checkpoint->scalar[k]) && scalars_hold(s, &checkpoint->scalar[k])
                && multipliers_hold(s, &s->task[k], beta);
    return holds;
}

static int parts_of(const mc_svm *s, const mc_svm_checkpoint *checkpoint, svm_checkpoint_head *h,
                    mc_checkpoint_part parts[MC_CHECKPOINT_PARTS]) {
    parts[0] = (mc_checkpoint_part){h, sizeof *h};
    parts[1] = (mc_checkpoint_part){checkpoint->scalar, (size_t)s->tasks * sizeof *checkpoint->scalar};
    parts[2] = (mc_checkpoint_part){checkpoint->beta, (size_t)checkpoint->betas * sizeof(double)};
    parts[3] = (mc_checkpoint_part){checkpoint->f, (size_t)checkpoint->functions * sizeof(double)};
    return 4;
}

static mercer_status allocate_checkpoint(mercer_ctx *ctx, mc_svm *s) {
    MC_TRY(MC_ALLOC(ctx, s->solver->checkpoint, 1));
    mc_svm_checkpoint *checkpoint = s->solver->checkpoint;
    for (int64_t k = 0; k < s->tasks; k++) {
        checkpoint->betas += s->task[k].m;
        checkpoint->functions += s->task[k].n;
    }
    MC_TRY(MC_ALLOC(ctx, checkpoint->scalar, s->tasks));
    MC_TRY(MC_ALLOC(ctx, checkpoint->beta, checkpoint->betas));
    return MC_ALLOC(ctx, checkpoint->f, checkpoint->functions);
}

mercer_status mc_svm_checkpoint_resume(mercer_ctx *ctx, mc_svm *s) {
    if (!*s->set->checkpoint)
        return MERCER_OK;
    bool found = false;
    MC_TRY(allocate_checkpoint(ctx, s));
    s->solver->checkpoint->path = s->set->checkpoint;
    s->solver->checkpoint->key = key_of(ctx, s);
    MC_TRY(mc_checkpoint_check(ctx, s->solver->checkpoint->path, s->solver->checkpoint->key, &found));
    if (!found)
        return MERCER_OK;
    svm_checkpoint_head h = {0};
    mc_checkpoint_part parts[MC_CHECKPOINT_PARTS];
    MC_TRY(mc_checkpoint_load(ctx, s->solver->checkpoint->path, parts, parts_of(s, s->solver->checkpoint, &h, parts)));
    if (!state_holds(s, s->solver->checkpoint, &h))
        return mc_checkpoint_refuse(ctx, s->solver->checkpoint->path);
    copy_program_state(s, s->solver->checkpoint, false);
    s->solver->next = h.task;
    s->solver->resumed = h.begun != 0;
    s->solver->most = h.most;
    s->solver->noise2 = h.noise2;
    mc_log_message(ctx, "%s: resumed from '%s' at quadratic program %lld of %lld", s->variant->name,
                   s->solver->checkpoint->path, (long long)s->solver->next + 1, (long long)s->tasks);
    return MERCER_OK;
}

mercer_status mc_svm_checkpoint_save(mercer_ctx *ctx, mc_svm *s, bool now) {
    mc_svm_checkpoint *checkpoint = s->solver->checkpoint;
    const double began = mc_clock_seconds();
    if (!checkpoint || (!now && began - checkpoint->written < CALM * checkpoint->writing))
        return MERCER_OK;
    svm_checkpoint_head h = {
        .task = s->solver->next, .begun = s->solver->resumed, .most = s->solver->most, .noise2 = s->solver->noise2};
    mc_checkpoint_part parts[MC_CHECKPOINT_PARTS];
    copy_program_state(s, checkpoint, true);
    MC_TRY(mc_checkpoint_save(ctx, checkpoint->path, checkpoint->key, parts, parts_of(s, checkpoint, &h, parts)));
    checkpoint->written = mc_clock_seconds();
    checkpoint->writing = checkpoint->written - began;
    return MERCER_OK;
}

/* The steps of this solution so far are added to those before it, for the file alone. */
mercer_status mc_svm_checkpoint_callback(mercer_ctx *ctx, void *arg, const mc_smo_result *so_far, double noise2) {
    const mc_svm_checkpoint_task *r = arg;
    mc_svm_program *t = &r->s->task[r->s->solver->next];
    const mc_smo_result running = *so_far;
    t->result.steps += r->before.steps;
    t->result.rounds += r->before.rounds;
    r->s->solver->resumed = true;
    r->s->solver->noise2 = noise2;
    const mercer_status status = mc_svm_checkpoint_save(ctx, r->s, false);
    t->result = running;
    return status;
}

void mc_svm_checkpoint_close(mc_svm *s) {
    if (!s->solver->checkpoint)
        return;
    mc_free(s->solver->checkpoint->scalar);
    mc_free(s->solver->checkpoint->beta);
    mc_free(s->solver->checkpoint->f);
    mc_free(s->solver->checkpoint);
    s->solver->checkpoint = NULL;
}
