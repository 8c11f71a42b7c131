/* ridge_pcg_checkpoint.c: conjugate gradients that are stopped and go on: the state, and the choices that depend on the
   memory at hand. */
#include "learn/ridge/ridge_pcg_state.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/common/checkpoint.h"
#include <string.h>

enum { CALM = 50 }; /* between two checkpoints pass so many times the seconds one takes to write */

/* Everything that decides the bits of the answer. */
static uint64_t key_of(const mercer_ctx *ctx, const mc_ridge_system *r) {
    const int64_t wishes[] = {r->intercept, r->rank_asked};
    const double numbers_[] = {r->lambda, r->tolerance};
    const uint64_t key = mc_hash(mc_checkpoint_key(ctx, r->p, "ridge pcg 6"), wishes, sizeof wishes);
    return mc_hash(key, numbers_, sizeof numbers_);
}

static int parts_of(const mc_ridge_pcg_solver *s, mc_pcg *pcg, mc_checkpoint_part parts[MC_CHECKPOINT_PARTS]) {
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
static bool choice_holds(const mc_ridge_pcg_solver *s, const mc_ridge_pcg_choice *c) {
    const int64_t columns = s->r->columns, steps = (columns + 1) * 2 * MC_RIDGE_PCG_STEPS_MOST;
    return is_count(c->most, s->n) && is_count(c->done, columns - 1) && c->done % s->t == 0 && is_count(c->stored, 1)
           && is_count(c->iterations, steps) && is_count(c->refinements, steps);
}

/* The choices, from the file or from the memory at hand. */
mercer_status mc_ridge_pcg_choose_plan(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    mc_ridge_pcg_plan plan;
    mc_ridge_pcg_size(ctx, s->r->p, s->r->columns, s->r->rank_asked, mc_memory_left(ctx), &plan);
    s->choice = (mc_ridge_pcg_choice){.most = plan.rank, .stored = plan.stored};
    const char *path = s->r->checkpoint;
    if (!path || !*path)
        return MERCER_OK;
    s->key = key_of(ctx, s->r);
    MC_TRY(mc_checkpoint_check(ctx, path, s->key, &s->resumed));
    mc_ridge_pcg_choice loaded = s->choice;
    const mc_checkpoint_part part = {&loaded, sizeof loaded};
    if (s->resumed)
        MC_TRY(mc_checkpoint_load(ctx, path, &part, 1));
    if (!choice_holds(s, &loaded))
        return mc_checkpoint_refuse(ctx, path);
    s->choice = loaded;
    return MERCER_OK;
}

mercer_status mc_ridge_pcg_resume(mercer_ctx *ctx, mc_ridge_pcg_solver *s, mc_pcg *pcg) {
    if (!s->resumed)
        return MERCER_OK;
    mc_checkpoint_part parts[MC_CHECKPOINT_PARTS];
    const int count = parts_of(s, pcg, parts);
    mc_ridge_pcg_choice loaded = s->choice; /* read and checked already */
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

mercer_status mc_ridge_pcg_save(mercer_ctx *ctx, mc_ridge_pcg_solver *s, mc_pcg *pcg, bool now) {
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
