/* splits.c: which rows are learned from and which are measured on.

       folds     every row is measured once; stratified by class, or groups kept together; repeated with other seeds.
                 Five of them where nobody says, fewer where rows, classes or groups do not fill five; then a class of
                 one row is learned from in every fold and measured in none
       ordered   k blocks of n / (k + 1) rows at the end, each measured on what was learned from all rows before it
       hold-out  rows of their own */
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "data/table/folds.h"
#include "select/tune.h"
#include <string.h>

enum { FOLDS = 5, ALWAYS_LEARNED = -1 };

static int64_t count_class(const mercer_data *data, int64_t c) {
    int64_t count = 0;
    for (int64_t i = 0; i < data->n; i++)
        count += data->class_of[i] == c;
    return count;
}

/* ---- How many folds, where nobody says ---- */

/* The class with the fewest rows that can be both learned from and measured: two at least; -1: there is none. */
static int64_t smallest_class(const mercer_data *data, int64_t *rows) {
    int64_t smallest = -1;
    for (int64_t c = 0; c < data->classes; c++) {
        const int64_t count = count_class(data, c);
        if (count < 2 || (smallest >= 0 && count >= *rows))
            continue;
        smallest = c;
        *rows = count;
    }
    return smallest;
}

static mercer_status count_groups(mercer_ctx *ctx, const mercer_data *data, const char *const *groups, int64_t *out) {
    int64_t *group = NULL;
    MC_TRY(MC_ALLOC(ctx, group, data->n));
    const mercer_status status = mc_data_folds(ctx, data, 0, groups, 0, group);
    for (int64_t i = 0; i < data->n && !status; i++)
        *out = group[i] >= *out ? group[i] + 1 : *out;
    mc_free(group);
    return status;
}

static int64_t at_most(int64_t folds, int64_t most) {
    return folds < most ? folds : most;
}

/* A score that compares rows with each other wants two of them in a fold. */
mercer_status mc_splits_default(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, bool compares,
                                int64_t *folds) {
    int64_t rows = 0, groups = 0;
    *folds = at_most(FOLDS, set->ordered ? data->n - 1 : compares ? data->n / 2 : data->n);
    if (set->groups) {
        MC_TRY(count_groups(ctx, data, set->groups, &groups));
        *folds = at_most(*folds, groups);
    } else if (data->classes && !set->ordered) {
        if (data->n > 1 && smallest_class(data, &rows) < 0)
            return mc_fail(ctx, MERCER_DATA,
                           "tune: each of the %lld classes has one row, and a class is measured on other rows than it "
                           "is learned from; give more rows, or say that the target is a number if it is one",
                           (long long)data->classes);
        *folds = at_most(*folds, rows);
    }
    return MERCER_OK;
}

/* Why there are fewer than five. */
static void write_reason(const mercer_data *data, const char *const *groups, int64_t folds, char *out, size_t size) {
    int64_t rows = 0;
    const int64_t class = groups ? -1 : smallest_class(data, &rows);
    *out = 0;
    if (groups)
        mc_print(out, size, ", as many as there are groups");
    else if (class >= 0 && rows == folds)
        mc_print(out, size, ", as many as class '%.40s' has rows", data->label[class]);
    else if (folds == data->n)
        mc_print(out, size, ", as many as there are rows");
}

/* ---- Folds ---- */

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
        const int64_t count = count_class(data, c);
        if (count < folds)
            return mc_fail(ctx, MERCER_DATA, "tune: class '%s' has %lld row%s, fewer than the %lld folds; %s",
                           data->label[c], (long long)count, count == 1 ? "" : "s", (long long)folds,
                           count == 1 ? "give more rows of it, or no number of folds: then it is learned and not "
                                        "measured"
                                      : "take as many folds as that, or fewer");
    }
    return MERCER_OK;
}

/* A class of one row could not be learned where it is measured. */
static bool hold_single_classes(const mercer_data *data, int64_t *fold) {
    bool any = false;
    for (int64_t c = 0; c < data->classes; c++) {
        if (count_class(data, c) != 1)
            continue;
        any = true;
        for (int64_t i = 0; i < data->n; i++)
            fold[i] = data->class_of[i] == c ? ALWAYS_LEARNED : fold[i];
    }
    return any;
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

static mercer_status deal_splits(mercer_ctx *ctx, const mercer_tune *set, int64_t folds, const mercer_data *data,
                                 const char *const *groups, mc_splits *s) {
    const int64_t n = data->n, repeats = set->repeats;
    int64_t *fold = s->fold, count = folds;
    for (int64_t r = 0; r < repeats; r++) {
        MC_TRY(mc_data_folds(ctx, data, folds, groups, set->seed + (uint64_t)r, fold));
        s->singles = !set->folds && !groups && hold_single_classes(data, fold);
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

static void write_folds(const mercer_tune *set, const mercer_data *data, const char *const *groups, mc_splits *s) {
    const char *how = groups ? ", groups kept together" : data->classes ? ", stratified" : "";
    char why[96] = "", times[32] = "";
    if (!set->folds && s->independent < FOLDS)
        write_reason(data, groups, s->independent, why, sizeof why);
    if (set->repeats > 1)
        mc_print(times, sizeof times, ", %lld times", (long long)set->repeats);
    mc_print(s->text, sizeof s->text, "%lld folds%s%s%s%s", (long long)s->independent, why, how, times,
             s->singles ? "; classes of one row are learned and not measured" : "");
}

static mercer_status open_folds(mercer_ctx *ctx, const mercer_tune *set, int64_t folds, const mercer_data *data,
                                const char *const *groups, mc_splits *s) {
    if (folds < 2 || folds > data->n)
        return mc_fail(ctx, MERCER_INVALID, "tune: folds must be in [2, %lld], the number of rows, got %lld",
                       (long long)data->n, (long long)folds);
    if (!groups && set->folds)
        MC_TRY(check_classes(ctx, data, folds));
    MC_TRY(MC_ALLOC(ctx, s->fold, data->n));
    MC_TRY(MC_ALLOC(ctx, s->rows, data->n * folds * set->repeats));
    MC_TRY(MC_ALLOC(ctx, s->begin, 2 * folds * set->repeats + 1));
    MC_TRY(deal_splits(ctx, set, folds, data, groups, s));
    MC_TRY(check_learned(ctx, data, s, groups ? "the groups" : "the classes of few rows"));
    write_folds(set, data, groups, s);
    if (set->repeats == 1 && !s->singles)
        return MERCER_OK;
    mc_free(s->fold);
    s->fold = NULL;
    return MERCER_OK;
}

static mercer_status open_ordered(mercer_ctx *ctx, int64_t folds, const mercer_data *data, mc_splits *s) {
    const int64_t n = data->n, block = n / (folds + 1);
    if (n < 3)
        return mc_fail(ctx, MERCER_DATA,
                       "tune: rows in order of time are measured in two blocks at least, each on what was learned from "
                       "rows before it, and there are %lld rows; give three or more",
                       (long long)n);
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
    if (mc_data_width(set->hold_out) != mc_data_width(data) && !(set->hold_out->row_start && data->row_start))
        return mc_fail(ctx, MERCER_DATA, "tune: the rows to measure on have %lld columns, the data %lld",
                       (long long)mc_data_width(set->hold_out), (long long)mc_data_width(data));
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
