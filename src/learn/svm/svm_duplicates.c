/* svm_duplicates.c: rows that say the same to every kernel.

   Of equal rows of one class the multipliers count by their sum alone: they become one row, whose bound is the sum of
   theirs. Of equal rows of two classes f can please only one, and the multipliers of both grow with C for ever while
   their difference stays: `same` tells a start for another C which they are. */
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/svm/svm.h"
#include <string.h>

typedef struct row_bytes {
    const void *values, *columns;
    size_t size, places;
} row_bytes;

static row_bytes bytes_of(const mercer_data *x, int64_t i) {
    const size_t entry = mc_dtype_size(x->dtype);
    const int64_t begin = x->row_start ? x->row_start[i] : i * x->d,
                  count = x->row_start ? x->row_start[i + 1] - begin : x->d;
    return (row_bytes){(const char *)x->values + (size_t)begin * entry, x->row_start ? x->column + begin : NULL,
                       (size_t)count * entry, x->row_start ? (size_t)count * sizeof *x->column : 0};
}

static bool rows_equal(const mercer_data *x, int64_t i, int64_t j) {
    const row_bytes a = bytes_of(x, i), b = bytes_of(x, j);
    return a.size == b.size && memcmp(a.values, b.values, a.size) == 0
           && (!a.places || memcmp(a.columns, b.columns, a.places) == 0);
}

static int by_hash(const void *arg, int64_t a, int64_t b) {
    const uint64_t *hash = arg;
    return (hash[a] > hash[b]) - (hash[a] < hash[b]);
}

/* Rows of one hash, in rising order: each is compared with the first of every kind before it. */
static void sort_out(const mercer_data *x, const int64_t *row, int64_t count, int64_t *same) {
    for (int64_t a = 0; a < count; a++) {
        same[row[a]] = row[a];
        for (int64_t b = 0; b < a && same[row[a]] == row[a]; b++)
            if (same[row[b]] == row[b] && rows_equal(x, row[a], row[b]))
                same[row[a]] = row[b];
    }
}

mercer_status mc_rows_same(mercer_ctx *ctx, const mercer_data *x, int64_t *same) {
    uint64_t *hash = NULL;
    int64_t *order = NULL;
    mercer_status status = MC_ALLOC(ctx, hash, x->n);
    MC_THEN(status, MC_ALLOC(ctx, order, 2 * x->n));
    for (int64_t i = 0; i < x->n && !status; i++) {
        const row_bytes r = bytes_of(x, i);
        hash[i] = x->texts ? (uint64_t)i : mc_hash(r.places ? mc_hash(0, r.columns, r.places) : 0, r.values, r.size);
        order[i] = same[i] = i;
    }
    if (!status && !x->texts) {
        mc_sort(order, order + x->n, x->n, by_hash, hash);
        for (int64_t begin = 0, end; begin < x->n; begin = end) {
            for (end = begin + 1; end < x->n && hash[order[end]] == hash[order[begin]]; end++)
                ;
            sort_out(x, order + begin, end - begin, same);
        }
    }
    mc_free(hash);
    mc_free(order);
    return status;
}

/* The rows that stay, in order, the class starts among them, and where every row is now. last: scratch, the latest row
   of each kind. */
static int64_t list_distinct(mc_svm *s, const int64_t *same, int64_t *last, int64_t *distinct, int64_t *to) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->p.n; i++)
        last[i] = -1;
    for (int64_t c = 0; c < s->classes; c++) {
        const int64_t first = count;
        for (int64_t i = s->start[c]; i < s->start[c + 1]; i++) {
            if (last[same[i]] < first) {
                last[same[i]] = count;
                distinct[count++] = i;
            }
            to[i] = last[same[i]];
        }
        s->start[c] = first;
    }
    s->start[s->classes] = count;
    return count;
}

static mercer_status take_distinct(mercer_ctx *ctx, mc_svm *s, const int64_t *distinct, int64_t count) {
    mercer_data *taken = NULL;
    MC_TRY(mc_data_take(ctx, s->p.x, distinct, count, &taken));
    mercer_data_free(s->p.x);
    s->p.x = taken;
    s->p.n = count;
    for (int64_t i = 0; i < count; i++)
        s->diagonal[i] = s->diagonal[distinct[i]];
    mc_svm_programs_close(s);
    s->solver->most = mc_svm_active(ctx, &s->p, count, s->solver->dtype);
    return mc_svm_programs_open(ctx, s);
}

mercer_status mc_svm_merge_duplicates(mercer_ctx *ctx, mc_svm *s, int64_t *to, int64_t *same) {
    const int64_t n = s->p.n;
    int64_t *scratch = NULL;
    MC_TRY(mc_rows_same(ctx, s->p.x, same));
    MC_TRY(MC_ALLOC(ctx, scratch, 2 * n));
    const int64_t count = list_distinct(s, same, scratch, scratch + n, to);
    const mercer_status status = count < n ? take_distinct(ctx, s, scratch + n, count) : MERCER_OK;
    for (int64_t k = 0; k < count; k++) /* rises: what is written has been read */
        same[k] = to[same[scratch[n + k]]];
    mc_free(scratch);
    return status;
}
