/* default.c: the short search behind a fit for which nothing is given. rbf with seven values of gamma around its default, and a few values
   of the setting that decides most, are measured on part of the rows: so few that all of it costs no more than about two fits of all
   rows, and no fewer than a number that any machine fits in no time. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/data.h"
#include "data/folds.h"
#include "select/tune.h"
#include <string.h>

enum { POINTS = 7, FOLDS = 3, ROWS_FOR_A_CHOICE = 20 };

/* share: of the rows, where few and many do not say otherwise. */
static const struct {
    const char *machine, *range;
    int64_t folds, few, many;
    double share;
} rules[] = {
    {"ridge", "lambda={1e-6,3e-6,1e-5,3e-5,1e-4,3e-4,1e-3,3e-3,0.01,0.03,0.1,0.3,1,3,10,30,100}", 0, 600, 3000, 0.24},
    {"svc", "C={0.1,1,10,100,1000}", FOLDS, 600, 2500, 0.4},
    {"svr", "C={0.1,1,10,100,1000}", FOLDS, 600, 2500, 0.4},
    {"logistic", "lambda={1e-3,0.01,0.1,1,10}", FOLDS, 300, 1500, 0.3},
};

/* One of as many equal parts as bring the rows down to the number wanted; classes spread evenly. */
static mercer_status take_part(mercer_ctx *ctx, const mercer_data *data, int64_t wanted, mercer_data **out) {
    int64_t *fold = NULL, *rows = NULL, n = 0;
    const int64_t parts = (data->n + wanted - 1) / wanted;
    mercer_status status = MC_ALLOC(ctx, fold, data->n);
    if (!status)
        status = MC_ALLOC(ctx, rows, data->n);
    if (!status && parts > 1)
        status = mc_data_folds(ctx, data, parts, NULL, ctx->options.seed, fold);
    for (int64_t i = 0; i < data->n && !status; i++)
        if (fold[i] == 0)
            rows[n++] = i;
    if (!status)
        status = mc_data_take(ctx, data, rows, n, out);
    mc_free(fold);
    mc_free(rows);
    return status;
}

mercer_status mercer_tune_default(mercer_ctx *ctx, const mercer_machine *machine, const void *settings, const mercer_data *data,
                                  mercer_search **out) {
    mc_begin(ctx);
    *out = NULL;
    size_t k = 0;
    while (k < sizeof rules / sizeof rules[0] && strcmp(rules[k].machine, machine->name) != 0)
        k++;
    if (k == sizeof rules / sizeof rules[0] || data->n < ROWS_FOR_A_CHOICE)
        return mc_fail(ctx, MERCER_INVALID, "there is no rule that chooses the parameters of %s on %lld rows", machine->name,
                       (long long)data->n);
    int64_t wanted = (int64_t)(rules[k].share * (double)data->n);
    wanted = wanted > rules[k].many ? rules[k].many : wanted < rules[k].few ? rules[k].few : wanted;
    const char *const ranges[] = {rules[k].range, NULL};
    mercer_tune set = mercer_tune_defaults();
    set.ranges = ranges;
    set.points = POINTS;
    set.folds = rules[k].folds;
    set.seed = ctx->options.seed;
    mercer_data *part = NULL;
    MC_TRY(take_part(ctx, data, wanted, &part));
    const mercer_status status = mc_tune_run(ctx, machine, settings, &set, part, out);
    mercer_data_free(part);
    return status;
}
