/* folds.c: rows in random order are dealt out like cards, or the first of them set aside. Stratified: the order is
   first sorted by class, so that every class is dealt out evenly. Grouped: groups, the largest first, each go to the
   fold that is smallest so far. */
#include "data/table/folds.h"
#include "data/table/data.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/workspace.h"

static int by_key(const void *arg, int64_t a, int64_t b) {
    const int32_t *key = arg;
    return (key[a] > key[b]) - (key[a] < key[b]);
}

static int by_size(const void *arg, int64_t a, int64_t b) {
    const int64_t *size = arg;
    return (size[a] < size[b]) - (size[a] > size[b]);
}

static void deal_folds(const int64_t *order, int64_t n, int64_t k, int32_t *fold) {
    for (int64_t i = 0; i < n; i++)
        fold[order[i]] = (int32_t)(i % k);
}

static int64_t smallest_fold(const int64_t *load, int64_t k) {
    int64_t best = 0;
    for (int64_t f = 1; f < k; f++)
        best = load[f] < load[best] ? f : best;
    return best;
}

static int64_t count_keys(const int32_t *key, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count = key[i] >= count ? key[i] + 1 : count;
    return count;
}

static mercer_status deal_groups(mercer_ctx *ctx, mc_rng *rng, int64_t n, int64_t k, const int32_t *key,
                                 int32_t *fold) {
    const int64_t groups = count_keys(key, n);
    mc_work w;
    int64_t *size = NULL, *home = NULL, *order = NULL, *scratch = NULL, *load = NULL, present = 0;
    MC_TRY(MC_WORK_SLICES(ctx, &w, MC_SLICE(size, groups), MC_SLICE(home, groups), MC_SLICE(order, groups),
                          MC_SLICE(scratch, groups), MC_SLICE(load, k)));
    for (int64_t i = 0; i < n; i++)
        present += size[key[i]]++ == 0;
    mc_rng_shuffle(rng, order, groups);
    mc_sort(order, scratch, groups, by_size, size);
    for (int64_t g = 0; g < groups; g++) {
        home[order[g]] = smallest_fold(load, k);
        load[home[order[g]]] += size[order[g]];
    }
    for (int64_t i = 0; i < n; i++)
        fold[i] = (int32_t)home[key[i]];
    mc_work_close(&w);
    return present >= k ? MERCER_OK
                        : mc_fail(ctx, MERCER_INVALID, "%lld groups cannot fill %lld folds; take at most %lld",
                                  (long long)present, (long long)k, (long long)present);
}

static mercer_status deal_rows(mercer_ctx *ctx, mc_rng *rng, int64_t n, int64_t k, const int32_t *key, int32_t *fold) {
    mc_work w;
    int64_t *order = NULL, *scratch = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &w, MC_SLICE(order, n), MC_SLICE(scratch, n)));
    mc_rng_shuffle(rng, order, n);
    if (key)
        mc_sort(order, scratch, n, by_key, key);
    deal_folds(order, n, k, fold);
    mc_work_close(&w);
    return MERCER_OK;
}

mercer_status mc_folds_make(mercer_ctx *ctx, mc_folding kind, int64_t n, int64_t k, const int32_t *key, uint64_t seed,
                            int32_t *fold) {
    if (k < 2 || k > n)
        return mc_fail(ctx, MERCER_INVALID, "folds must be in [2, %lld], the number of rows, got %lld", (long long)n,
                       (long long)k);
    mc_rng rng = mc_rng_at(seed, MC_STREAM_FOLDS, 0);
    if (kind == MC_FOLDS_GROUPED)
        return deal_groups(ctx, &rng, n, k, key, fold);
    return deal_rows(ctx, &rng, n, k, kind == MC_FOLDS_STRATIFIED ? key : NULL, fold);
}

mercer_status mc_hold_out(mercer_ctx *ctx, int64_t n, int64_t held, uint64_t seed, int64_t *place) {
    mc_rng rng = mc_rng_at(seed, MC_STREAM_FOLDS, 0);
    mc_work w;
    int64_t *order = NULL, kept = 0, aside = n - held;
    bool *out = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &w, MC_SLICE(order, n), MC_SLICE(out, n)));
    mc_rng_shuffle(&rng, order, n);
    for (int64_t i = 0; i < held; i++)
        out[order[i]] = true;
    for (int64_t i = 0; i < n; i++)
        place[out[i] ? aside++ : kept++] = i;
    mc_work_close(&w);
    return MERCER_OK;
}

/* ---- Every class ---- */

static bool row_counts(const mercer_data *data, int64_t row) {
    return !data->weight || data->weight[row] > 0;
}

static void find_examples(const mercer_data *data, const int64_t *fold, int64_t least, int64_t *example) {
    for (int32_t c = 0; c < data->classes; c++)
        example[c] = -1;
    for (int64_t i = data->n; i-- > 0;) {
        int64_t *found = &example[data->class_of[i]];
        if (row_counts(data, i) && (*found < 0 || fold[i] >= least || fold[*found] < least))
            *found = i;
    }
}

int64_t mc_rows_of_every_class(const mercer_data *data, const int64_t *fold, int64_t least, int64_t *example,
                               int64_t *rows, int64_t count) {
    find_examples(data, fold, least, example);
    for (int64_t k = 0; k < count; k++)
        if (row_counts(data, rows[k]))
            example[data->class_of[rows[k]]] = -1;
    for (int32_t c = 0; c < data->classes; c++)
        if (example[c] >= 0)
            rows[count++] = example[c];
    return count;
}
