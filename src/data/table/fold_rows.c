/* fold_rows.c: folds for the rows of data, by groups named in text, by classes, or plainly. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "data/encode/dict.h"
#include "data/table/folds.h"
#include <string.h>

/* Groups as numbers in the order they are met. */
static mercer_status number_groups(mercer_ctx *ctx, int64_t n, const char *const *groups, int32_t *key,
                                   int64_t *count) {
    mc_dict dict = mc_dict_open(ctx);
    mercer_status status = MERCER_OK;
    for (int64_t i = 0; i < n && !status; i++) {
        int64_t id = 0;
        status = mc_dict_add(&dict, groups[i], (int64_t)strlen(groups[i]), &id);
        key[i] = (int32_t)id;
    }
    *count = dict.count;
    mc_dict_close(&dict);
    return status;
}

static mercer_status fold_groups(mercer_ctx *ctx, int64_t n, int64_t k, const char *const *groups, uint64_t seed,
                                 int32_t *key, int32_t *fold) {
    int64_t count = 0;
    MC_TRY(number_groups(ctx, n, groups, key, &count));
    if (count < 2)
        return mc_fail(ctx, MERCER_INVALID, "folds: all %lld rows are of one group, '%s'; at least two are needed",
                       (long long)n, n ? groups[0] : "");
    if (k > 0)
        return mc_folds_make(ctx, MC_FOLDS_GROUPED, n, k, key, seed, fold);
    memcpy(fold, key, (size_t)n * sizeof *fold);
    return MERCER_OK;
}

static mercer_status fold_rows(mercer_ctx *ctx, const mercer_data *data, int64_t k, uint64_t seed, int32_t *fold) {
    if (k > 0)
        return mc_folds_make(ctx, data->class_of ? MC_FOLDS_STRATIFIED : MC_FOLDS_PLAIN, data->n, k, data->class_of,
                             seed, fold);
    for (int64_t i = 0; i < data->n; i++)
        fold[i] = (int32_t)i;
    return MERCER_OK;
}

mercer_status mc_data_folds(mercer_ctx *ctx, const mercer_data *data, int64_t k, const char *const *groups,
                            uint64_t seed, int64_t *fold) {
    if (k < 0 || k > data->n || k == 1)
        return mc_fail(ctx, MERCER_INVALID, "folds must be in [2, %lld], the number of rows, or 0, got %lld",
                       (long long)data->n, (long long)k);
    mc_work w;
    int32_t *key = NULL, *small = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &w, MC_SLICE(key, data->n), MC_SLICE(small, data->n)));
    const mercer_status status =
        groups ? fold_groups(ctx, data->n, k, groups, seed, key, small) : fold_rows(ctx, data, k, seed, small);
    for (int64_t i = 0; i < data->n && !status; i++)
        fold[i] = small[i];
    mc_work_close(&w);
    return status;
}

mercer_status mercer_data_folds(mercer_ctx *ctx, const mercer_data *data, int64_t k, const char *const *groups,
                                uint64_t seed, int64_t *fold) {
    MC_NEED(ctx, data, fold);
    mc_begin_call(ctx);
    return mc_data_folds(ctx, data, k, groups, seed, fold);
}
