/* lms_update_steps.c: the passes over the new rows, and which centres go. */
#include "base/clock.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/lms/lms_update.h"
#include <math.h>
#include <string.h>

static double centre_importance(const mc_updating *u, int64_t j) {
    double square = 0;
    for (int64_t k = 0; k < u->t; k++)
        square += u->alpha[j * u->t + k] * u->alpha[j * u->t + k];
    return sqrt(square) * u->root[j];
}

void mc_update_drop_least(mc_updating *u) {
    int64_t least = -1;
    double low = INFINITY;
    for (int64_t j = 0; j < u->old + u->fresh; j++) {
        const double value = u->alive[j] ? centre_importance(u, j) : INFINITY;
        if (value < low || (least < 0 && u->alive[j])) {
            low = value;
            least = j;
        }
    }
    u->alive[least] = false;
    memset(u->alpha + least * u->t, 0, (size_t)u->t * sizeof *u->alpha);
    u->centres--;
}

static mercer_status refuse_divergence(mercer_ctx *ctx, const mc_updating *u, int64_t i) {
    return mc_fail(ctx, MERCER_NUMERIC, "update: the steps diverge at new row %lld; give a step below %g",
                   (long long)i + 1, u->step);
}

static mercer_status step_weights(mercer_ctx *ctx, mc_updating *u, int64_t i) {
    const int64_t D = u->from->features;
    mc_data_values(u->all, u->old + i, u->scratch);
    mc_features_row(u->map, u->scratch, u->scratch + u->all->d, u->phi);
    for (int64_t k = 0; k < u->t; k++) {
        double *w = u->weights + k * D, f = 0;
        for (int64_t j = 0; j < D; j++)
            f += w[j] * u->phi[j];
        const double move = u->step * mc_update_weight(u, i) * (u->Y[i * u->t + k] - f);
        for (int64_t j = 0; j < D; j++)
            w[j] += move * u->phi[j];
        if (!isfinite(move))
            return refuse_divergence(ctx, u, i);
    }
    return MERCER_OK;
}

/* row: K of the i-th new row against all. */
static mercer_status step_on(mercer_ctx *ctx, mc_updating *u, int64_t i, const double *row) {
    const int64_t at = u->old + i;
    mc_lms_row_times(u->old + u->fresh, u->t, row, u->alpha, u->f);
    u->centres += !u->alive[at];
    u->alive[at] = true;
    for (int64_t k = 0; k < u->t; k++)
        u->alpha[at * u->t + k] += u->step * mc_update_weight(u, i) * (u->Y[i * u->t + k] - u->f[k]);
    if (mc_first_not_finite(MERCER_F64, u->alpha + at * u->t, u->t) >= 0)
        return refuse_divergence(ctx, u, i);
    while (u->set->budget > 0 && u->centres > u->set->budget)
        mc_update_drop_least(u);
    return MERCER_OK;
}

static mercer_status learn_block_of_rows(mercer_ctx *ctx, mc_updating *u, bool first, int64_t begin, int64_t end) {
    const int64_t n = u->old + u->fresh;
    int64_t ids[MC_LMS_BLOCK] = {0};
    for (int64_t i = begin; i < end; i++)
        ids[i - begin] = u->old + i;
    if (!u->weights)
        MC_TRY(mc_gram_take(ctx, u->gram, ids, end - begin, MERCER_F64, u->rows, n));
    for (int64_t i = begin; i < end; i++) {
        if (mc_update_weight(u, i) == 0)
            continue;
        MC_TRY(u->weights ? step_weights(ctx, u, i) : step_on(ctx, u, i, u->rows + (i - begin) * n));
        u->learned += first;
    }
    return mc_report_progress(ctx, -1);
}

static mercer_status all_steps(mercer_ctx *ctx, mc_updating *u) {
    const double blocks = (double)u->set->passes * (double)u->fresh;
    for (int64_t pass = 0; pass < u->set->passes; u->passes = ++pass)
        for (int64_t begin = 0; begin < u->fresh; begin += MC_LMS_BLOCK) {
            const int64_t end = begin + MC_LMS_BLOCK < u->fresh ? begin + MC_LMS_BLOCK : u->fresh;
            const double before = (double)pass * (double)u->fresh;
            mc_set_phase_span(ctx, (before + (double)begin) / blocks, (before + (double)end) / blocks);
            MC_TRY(learn_block_of_rows(ctx, u, pass == 0, begin, end));
        }
    return MERCER_OK;
}

/* Stopped on the way: what has been learned so far is kept. */
mercer_status mc_update_learn_once(mercer_ctx *ctx, mc_updating *u) {
    mc_begin_phase(ctx, "update");
    const mercer_status status = all_steps(ctx, u);
    if (u->learned == 0 || (status != MERCER_TIME && status != MERCER_CANCELLED))
        return status;
    u->stopped = mc_stop_taken(ctx);
    return MERCER_OK;
}
