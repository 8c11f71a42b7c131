/* fold_order.c: rows of positive weight, sorted by fold; rows of one fold keep their order. */
#include "learn/common/fold_order.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"

static int by_fold(const void *arg, int64_t a, int64_t b) {
    const mc_fold_order *f = arg;
    const int64_t x = f->fold[f->place[a]], y = f->fold[f->place[b]];
    return (x > y) - (x < y);
}

int64_t mc_fold_end(const mc_fold_order *f, int64_t begin) {
    int64_t end = begin + 1;
    while (end < f->n && by_fold(f, f->order[begin], f->order[end]) == 0)
        end++;
    return end;
}

mercer_status mc_fold_order_open(mercer_ctx *ctx, const mercer_data *data, const int64_t *fold, int64_t n,
                                 mc_fold_order *out) {
    *out = (mc_fold_order){.fold = fold, .n = n};
    MC_TRY(MC_ALLOC(ctx, out->place, n));
    MC_TRY(MC_ALLOC(ctx, out->order, 2 * n));
    for (int64_t i = 0, row = 0; row < data->n; row++)
        if (!data->weight || data->weight[row] > 0)
            out->place[i++] = row;
    for (int64_t i = 0; i < n; i++)
        out->order[i] = i;
    mc_sort(out->order, out->order + n, n, by_fold, out);
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = mc_fold_end(out, begin);
        out->largest = end - begin > out->largest ? end - begin : out->largest;
    }
    if (out->largest < n)
        return MERCER_OK;
    if (n == 1)
        return mc_fail(ctx, MERCER_DATA,
                       "ridge folds: one row counts, and a row is predicted from others; give more rows");
    return mc_fail(ctx, MERCER_INVALID,
                   "ridge folds: all %lld rows that count are in fold %lld; at least two folds are needed",
                   (long long)n, (long long)fold[out->place[0]]);
}

void mc_fold_order_close(mc_fold_order *order) {
    mc_free(order->place);
    mc_free(order->order);
}
