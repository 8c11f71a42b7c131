/* splits.c: which rows are learned from and which are measured on.

       folds     every row is measured once; classes spread evenly, or groups kept together; repeated with other seeds
       ordered   k blocks of n / (k + 1) rows at the end, each measured on what was learned from all rows before it
       hold-out  rows of their own */
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/folds.h"
#include "select/tune.h"
#include <string.h>

/* The rows of fold k stand last. */
static int64_t write_fold(const int64_t *fold, int64_t n, int64_t k, int64_t *rows) {
    int64_t learned = 0, at = 0;
    for (int64_t i = 0; i < n; i++)
        if (fold[i] != k)
            rows[learned++] = i;
    at = learned;
    for (int64_t i = 0; i < n; i++)
        if (fold[i] == k)
            rows[at++] = i;
    return learned;
}

/* A class that some fold does not have cannot be measured there, and one that stands in one fold alone cannot be
   learned without it. */
static mercer_status check_classes(mercer_ctx *ctx, const mercer_data *data, int64_t folds) {
    for (int64_t c = 0; c < data->classes; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < data->n; i++)
            count += data->class_of[i] == c;
        if (count < folds)
            return mc_fail(ctx, MERCER_DATA, "tune: class '%s' has %lld row%s, fewer than the %lld folds; %s",
                           data->label[c], (long long)count, count == 1 ? "" : "s", (long long)folds,
                           count == 1 ? "give more rows of it, or leave it out"
                                      : "take as many folds as that, or fewer");
    }
    return MERCER_OK;
}

static bool holds_two_classes(const mercer_data *data, const int64_t *rows, int64_t count) {
    for (int64_t i = 1; i < count; i++)
        if (data->class_of[rows[i]] != data->class_of[rows[0]])
            return true;
    return false;
}

/* Where groups or the order of time decide, what is learned from may be of one class. */
static mercer_status check_learned(mercer_ctx *ctx, const mercer_data *data, const mc_splits *s, const char *cause) {
    for (int64_t k = 0; k < s->count && data->classes > 1; k++) {
        const int64_t *rows = s->rows + s->begin[2 * k], learned = s->begin[2 * k + 1] - s->begin[2 * k];
        if (!holds_two_classes(data, rows, learned))
            return mc_fail(ctx, MERCER_DATA,
                           "tune: for split %lld of %lld only rows of class '%s' are left to learn from; take other "
                           "folds, or leave out %s",
                           (long long)k + 1, (long long)s->count, data->label[data->class_of[rows[0]]], cause);
    }
    return MERCER_OK;
}

static int64_t count_folds(const int64_t *fold, int64_t n) {
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fold[i] >= most ? fold[i] + 1 : most;
    return most;
}

static mercer_status deal(mercer_ctx *ctx, const mercer_tune *set, int64_t folds, const mercer_data *data,
                          const char *const *groups, mc_splits *s) {
    const int64_t n = data->n, repeats = set->repeats;
    int64_t *fold = s->fold, count = folds;
    for (int64_t r = 0; r < repeats; r++) {
        MC_TRY(mc_data_folds(ctx, data, folds, groups, set->seed + (uint64_t)r, fold));
        count = count_folds(fold, n); /* fewer where groups fill no more */
        for (int64_t k = 0; k < count; k++) {
            int64_t *rows = s->rows + s->count * n;
            const int64_t learned = write_fold(fold, n, k, rows), at = s->count * n;
            s->begin[2 * s->count] = at;
            s->begin[2 * s->count + 1] = at + learned;
            s->begin[2 * ++s->count] = at + n;
        }
    }
    s->independent = count;
    return MERCER_OK;
}

static mercer_status open_folds(mercer_ctx *ctx, const mercer_tune *set, int64_t folds, const mercer_data *data,
                                const char *const *groups, mc_splits *s) {
    if (data->n < 2)
        return mc_fail(ctx, MERCER_DATA,
                       "tune: there is one row, and what is learned is measured on others; give more rows");
    if (folds < 2 || folds > data->n)
        return mc_fail(ctx, MERCER_INVALID, "tune: folds must be in [2, %lld], the number of rows, got %lld",
                       (long long)data->n, (long long)folds);
    if (!groups)
        MC_TRY(check_classes(ctx, data, folds));
    MC_TRY(MC_ALLOC(ctx, s->fold, data->n));
    MC_TRY(MC_ALLOC(ctx, s->rows, data->n * folds * set->repeats));
    MC_TRY(MC_ALLOC(ctx, s->begin, 2 * folds * set->repeats + 1));
    MC_TRY(deal(ctx, set, folds, data, groups, s));
    if (groups)
        MC_TRY(check_learned(ctx, data, s, "the groups"));
    const char *how = groups ? ", groups kept together" : data->classes ? ", classes spread evenly" : "";
    mc_print(s->text, sizeof s->text, "%lld folds%s", (long long)s->independent, how);
    if (set->repeats == 1)
        return MERCER_OK;
    mc_print(s->text, sizeof s->text, "%lld folds%s, %lld times", (long long)s->independent, how,
             (long long)set->repeats);
    mc_free(s->fold);
    s->fold = NULL;
    return MERCER_OK;
}

static mercer_status open_ordered(mercer_ctx *ctx, int64_t folds, const mercer_data *data, mc_splits *s) {
    const int64_t n = data->n, block = n / (folds + 1);
    if (folds < 2 || block < 1)
        return mc_fail(ctx, MERCER_INVALID, "tune: rows in order of time need folds in [2, %lld], got %lld",
                       (long long)(n - 1), (long long)folds);
    MC_TRY(MC_ALLOC(ctx, s->rows, n * folds));
    MC_TRY(MC_ALLOC(ctx, s->begin, 2 * folds + 1));
    for (int64_t k = 0; k < folds; k++) {
        const int64_t learned = n - (folds - k) * block, at = k ? s->begin[2 * k] : 0;
        for (int64_t i = 0; i < learned + block; i++)
            s->rows[at + i] = i;
        s->begin[2 * k] = at;
        s->begin[2 * k + 1] = at + learned;
        s->begin[2 * k + 2] = at + learned + block;
    }
    s->count = s->independent = folds;
    mc_print(s->text, sizeof s->text, "%lld blocks in order of time, each from the rows before it", (long long)folds);
    return check_learned(ctx, data, s, "the order of time");
}

static mercer_status open_hold_out(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, mc_splits *s) {
    if (set->hold_out->d != data->d && !(set->hold_out->row_start && data->row_start))
        return mc_fail(ctx, MERCER_DATA, "tune: the rows to measure on have %lld columns, the data %lld",
                       (long long)set->hold_out->d, (long long)data->d);
    s->test = set->hold_out;
    s->count = s->independent = 1;
    mc_print(s->text, sizeof s->text, "%lld rows of their own", (long long)s->test->n);
    return MERCER_OK;
}

mercer_status mc_splits_open(mercer_ctx *ctx, const mercer_tune *set, int64_t folds, const mercer_data *data,
                             const char *const *groups, mc_splits *out) {
    *out = (mc_splits){0};
    if (set->hold_out)
        return open_hold_out(ctx, set, data, out);
    return set->ordered ? open_ordered(ctx, folds, data, out) : open_folds(ctx, set, folds, data, groups, out);
}

void mc_splits_close(mc_splits *s) {
    mc_free(s->rows);
    mc_free(s->begin);
    mc_free(s->fold);
    *s = (mc_splits){0};
}

mercer_status mc_split_take(mercer_ctx *ctx, const mc_splits *s, const mercer_data *data, int64_t k,
                            mercer_data **train, mercer_data **test) {
    *train = *test = NULL;
    if (s->test) {
        *train = (mercer_data *)data;
        *test = (mercer_data *)s->test;
        return MERCER_OK;
    }
    const int64_t *begin = s->begin + 2 * k;
    mercer_status status = mc_data_take(ctx, data, s->rows + begin[0], begin[1] - begin[0], train);
    if (!status)
        status = mc_data_take(ctx, data, s->rows + begin[1], begin[2] - begin[1], test);
    if (status)
        mercer_data_free(*train);
    return status;
}

void mc_split_free(const mc_splits *s, mercer_data *train, mercer_data *test) {
    if (s->test)
        return;
    mercer_data_free(train);
    mercer_data_free(test);
}
