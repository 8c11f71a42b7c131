/* measure_scores.c: scores by name. A part of the rows is measured by giving the others weight zero: one set of values,
   many scores. */
#include "base/memory.h"
#include "base/status.h"
#include "base/suggest.h"
#include "data/table/data.h"
#include "select/tune.h"
#include <math.h>
#include <string.h>

#define FIELD(name) offsetof(mercer_scores, name)

static const mc_measure_row rows[] = {
    {"accuracy", FIELD(accuracy), true, true, false, false},
    {"balanced-accuracy", FIELD(balanced_accuracy), true, true, false, false},
    {"log-loss", FIELD(log_loss), false, true, false, false},
    {"auc", FIELD(auc), true, true, true, false},
    {"f1", FIELD(f1), true, true, false, false},
    {"rmse", FIELD(rmse), false, false, false, false},
    {"mae", FIELD(mae), false, false, false, false},
    {"r2", FIELD(r2), true, false, false, false},
    {"pinball", FIELD(pinball), false, false, false, false},
};
enum { ROWS = sizeof rows / sizeof rows[0] };
const mc_measure_row mc_evidence = {"evidence", 0, true, false, false, true},
                     mc_gcv = {"gcv", 0, false, false, false, true};

static const struct {
    const mc_measure_row *row;
    const char *machine;
} totals[] = {{&mc_evidence, "gp"}, {&mc_gcv, "ridge"}};
enum { TOTALS = sizeof totals / sizeof totals[0] };

/* What a machine is best judged by where nobody says. */
static const struct {
    const char *machine, *score;
} own[] = {{"gp", "evidence"}, {"logistic", "log-loss"}, {"quantile", "pinball"}, {"absolute", "mae"}};

static const char *default_score(const mercer_machine *machine, const mercer_data *data) {
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(machine->name, own[i].machine) == 0)
            return own[i].score;
    return data->classes ? "accuracy" : "rmse";
}

static mercer_status fail_unknown_score(mercer_ctx *ctx, const char *name) {
    const char *names[ROWS + TOTALS];
    for (int i = 0; i < ROWS; i++)
        names[i] = rows[i].name;
    for (int i = 0; i < TOTALS; i++)
        names[ROWS + i] = totals[i].row->name;
    const char *near = mc_suggest_name(name, strlen(name), names, ROWS + TOTALS);
    if (near)
        return mc_fail(ctx, MERCER_INVALID, "tune: there is no score '%.40s'; did you mean '%s'?", name, near);
    return mc_fail(ctx, MERCER_INVALID,
                   "tune: there is no score '%.40s'; there is accuracy, balanced-accuracy, log-loss, auc, f1, rmse, "
                   "mae, r2, pinball, gcv and evidence",
                   name);
}

static mercer_status check_score_applies(mercer_ctx *ctx, const mercer_machine *machine, const mercer_data *data,
                                         const mc_measure_row *row) {
    if (row->classes && !data->classes)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: %s is a score of classes, and the target is numbers; use rmse, mae or r2", row->name);
    if (!row->classes && data->classes)
        return mc_fail(
            ctx, MERCER_INVALID,
            "tune: %s is a score of numbers, and the target is classes; use accuracy, balanced-accuracy or f1",
            row->name);
    if (row->sorted && data->classes != 2)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: auc is a score of two classes, and there are %lld; use balanced-accuracy",
                       (long long)data->classes);
    if (row->offset == FIELD(log_loss) && strcmp(machine->name, "logistic") != 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: log-loss wants probabilities, which logistic gives and %s does not; use accuracy",
                       machine->name);
    if (row->offset == FIELD(pinball) && strcmp(machine->name, "quantile") != 0)
        return mc_fail(ctx, MERCER_INVALID, "tune: pinball is the score of quantile, not of %s; use mae",
                       machine->name);
    return MERCER_OK;
}

mercer_status mc_measure_find(mercer_ctx *ctx, const mercer_machine *machine, const char *name, const mercer_data *data,
                              const mc_measure_row **out) {
    if (machine->target == MERCER_TARGET_NONE)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: %s learns from the rows alone: there is nothing to measure it by; fit it for each value",
                       machine->name);
    if (!data->classes && !data->target)
        return mc_fail(ctx, MERCER_DATA, "tune: the data have no target to measure by");
    if (strcmp(name, "auto") == 0)
        name = default_score(machine, data);
    *out = NULL;
    for (int i = 0; i < TOTALS; i++)
        if (strcmp(name, totals[i].row->name) == 0) {
            *out = totals[i].row;
            return strcmp(machine->name, totals[i].machine) == 0
                       ? MERCER_OK
                       : mc_fail(ctx, MERCER_INVALID, "tune: %s is a score of %s, not of %s", name, totals[i].machine,
                                 machine->name);
        }
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            *out = &rows[i];
    return *out ? check_score_applies(ctx, machine, data, *out) : fail_unknown_score(ctx, name);
}

mercer_status mc_measure_values(mercer_ctx *ctx, const mc_measure_row *row, mc_scored_values scored, double *out) {
    mercer_scores scores;
    scored.plain = !row->sorted;
    MC_TRY(mc_score_values(ctx, &scored, &scores));
    *out = *(const double *)(const void *)((const char *)&scores + row->offset);
    return MERCER_OK;
}

/* inside: of the rows of each part; otherwise of all rows but those. */
static mercer_status measure_masked(mercer_ctx *ctx, const mc_measure_row *row, mc_scored_values scored,
                                    const int64_t *part, int64_t parts, bool inside, double *out) {
    const int64_t n = scored.data->n;
    const double *weight = scored.data->weight;
    mercer_data masked = *scored.data; /* borrows all but the weights */
    MC_TRY(mc_measure_values(ctx, row, scored, out));
    MC_TRY(MC_ALLOC(ctx, masked.weight, n));
    scored.data = &masked;
    mercer_status status = MERCER_OK;
    for (int64_t p = 0; p < parts && !status; p++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += masked.weight[i] = (part[i] == p) == inside ? weight ? weight[i] : 1 : 0;
        out[1 + p] = NAN;
        if (sum > 0)
            status = mc_measure_values(ctx, row, scored, &out[1 + p]);
    }
    mc_free(masked.weight);
    return status;
}

mercer_status mc_measure_parts(mercer_ctx *ctx, const mc_measure_row *row, mc_scored_values scored, const int64_t *part,
                               int64_t parts, double *out) {
    return measure_masked(ctx, row, scored, part, parts, true, out);
}

mercer_status mc_measure_blocks(mercer_ctx *ctx, const mc_measure_row *row, mc_scored_values scored, double *out) {
    int64_t *part = NULL;
    MC_TRY(MC_ALLOC(ctx, part, scored.data->n));
    for (int64_t i = 0; i < scored.data->n; i++)
        part[i] = i % MC_BLOCKS;
    const mercer_status status = measure_masked(ctx, row, scored, part, MC_BLOCKS, false, out);
    for (int p = 0; p < MC_BLOCKS && !status; p++)
        out[1 + p] = MC_BLOCKS * out[0] - (MC_BLOCKS - 1) * out[1 + p];
    mc_free(part);
    return status;
}
