/* segments.c: see segments.h. */
#include "base/segments.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include <string.h>

enum {
    LEAST = 2048,       /* rows of a segment */
    LEAST_SHARED = 8192 /* rows that are worth messages */
};

static int64_t rows_each(int64_t n) {
    const int64_t each = mc_chunk_count(mc_chunk_count(n, MC_SEGMENTS), MC_SEGMENT_UNIT) * MC_SEGMENT_UNIT;
    return each > LEAST ? each : LEAST;
}

static int64_t first_of(const mc_segments *s, int rank) {
    return rank * s->count / s->ranks;
}

int64_t mc_segment_begin(const mc_segments *s, int64_t segment) {
    const int64_t row = segment * s->each;
    return row < s->n ? row : s->n;
}

static mc_segments complete_segments(mc_segments s) {
    s.each = rows_each(s.n);
    s.count = mc_chunk_count(s.n, s.each);
    s.first = first_of(&s, s.rank);
    s.end = first_of(&s, s.rank + 1);
    s.begin = mc_segment_begin(&s, s.first);
    s.rows = mc_segment_begin(&s, s.end) - s.begin;
    return s;
}

mc_segments mc_segments_whole(int64_t n) {
    return complete_segments((mc_segments){.n = n, .ranks = 1});
}

mc_segments mc_segments_shared(const mercer_ctx *ctx, int64_t n) {
    if (!mc_ranks_share(ctx) || n < LEAST_SHARED)
        return mc_segments_whole(n);
    return complete_segments((mc_segments){.n = n, .rank = ctx->ranks->rank, .ranks = ctx->ranks->count});
}

static int owner_of(const mc_segments *s, int64_t segment) {
    return (int)(((segment + 1) * s->ranks - 1) / s->count);
}

int mc_segments_owner(const mc_segments *s, int64_t row) {
    return owner_of(s, row / s->each);
}

/* ---- The tree ---- */

mc_segment_node mc_segment_left(mc_segment_node node) {
    int64_t half = 1;
    while (2 * half < node.to - node.from)
        half *= 2;
    return (mc_segment_node){node.from, node.from + half};
}

static int nodes_below(mc_segment_node node, int64_t first, int64_t end, mc_segment_node *out) {
    if (node.to <= first || node.from >= end)
        return 0;
    if (node.from >= first && node.to <= end) {
        *out = node;
        return 1;
    }
    const mc_segment_node left = mc_segment_left(node);
    const int before = nodes_below(left, first, end, out);
    return before + nodes_below((mc_segment_node){left.to, node.to}, first, end, out + before);
}

int mc_segments_nodes(const mc_segments *s, int rank, mc_segment_node *out) {
    return nodes_below((mc_segment_node){0, s->count}, first_of(s, rank), first_of(s, rank + 1), out);
}

static void add_numbers(int64_t numbers, const double *from, double *to) {
    for (int64_t i = 0; i < numbers; i++)
        to[i] += from[i];
}

/* The sum of a node at the place of its first segment. */
static void fold_node(const mc_segments *s, mc_segment_node node, int64_t numbers, double *sums) {
    if (node.to - node.from == 1)
        return;
    const mc_segment_node left = mc_segment_left(node), right = {left.to, node.to};
    fold_node(s, left, numbers, sums);
    fold_node(s, right, numbers, sums);
    add_numbers(numbers, sums + (right.from - s->first) * numbers, sums + (node.from - s->first) * numbers);
}

void mc_segments_fold(const mc_segments *s, int64_t numbers, double *sums) {
    mc_segment_node node[MC_SEGMENT_NODES];
    const int nodes = mc_segments_nodes(s, s->rank, node);
    for (int k = 0; k < nodes; k++) {
        fold_node(s, node[k], numbers, sums);
        memmove(sums + k * numbers, sums + (node[k].from - s->first) * numbers, (size_t)numbers * sizeof *sums);
    }
}

/* ---- Sums over ranks: each adds up a slice of the numbers ---- */

static int64_t slice_begin(const mc_segments *s, int64_t numbers, int rank) {
    return rank * numbers / s->ranks;
}

static int64_t slice_length(const mc_segments *s, int64_t numbers, int rank) {
    return slice_begin(s, numbers, rank + 1) - slice_begin(s, numbers, rank);
}

static int64_t count_nodes(const mc_segments *s, int rank) {
    mc_segment_node node[MC_SEGMENT_NODES];
    return mc_segments_nodes(s, rank, node);
}

int64_t mc_segments_work(const mc_segments *s, int64_t numbers) {
    int64_t nodes = 0;
    if (s->ranks == 1)
        return 0;
    for (int k = 0; k < s->ranks; k++)
        nodes += count_nodes(s, k);
    return count_nodes(s, s->rank) * numbers + nodes * slice_length(s, numbers, s->rank);
}

/* out <- for each rank its slice of every own node. */
static void lay_out_slices(const mc_segments *s, const double *mine, int64_t numbers, double *out, int64_t *counts) {
    const int64_t nodes = count_nodes(s, s->rank);
    for (int k = 0; k < s->ranks; k++) {
        const int64_t length = slice_length(s, numbers, k);
        for (int64_t node = 0; node < nodes; node++, out += length)
            memcpy(out, mine + node * numbers + slice_begin(s, numbers, k), (size_t)length * sizeof *out);
        counts[k] = nodes * length;
    }
}

/* What was heard, from left to right: parts of nodes that one rank has. */
static double *add_up_node(const mc_segments *s, mc_segment_node node, int64_t length, double **next) {
    if (owner_of(s, node.from) == owner_of(s, node.to - 1)) {
        double *at = *next;
        *next += length;
        return at;
    }
    const mc_segment_node left = mc_segment_left(node);
    double *sum = add_up_node(s, left, length, next);
    add_numbers(length, add_up_node(s, (mc_segment_node){left.to, node.to}, length, next), sum);
    return sum;
}

static mercer_status sum_over_ranks(mercer_ctx *ctx, const mc_segments *s, const double *mine, int64_t numbers,
                                    double *work, double *sum) {
    int64_t *out_counts = ctx->ranks->counts, *in_counts = out_counts + s->ranks;
    const int64_t length = slice_length(s, numbers, s->rank);
    double *in = work + count_nodes(s, s->rank) * numbers, *next = in;
    lay_out_slices(s, mine, numbers, work, out_counts);
    for (int k = 0; k < s->ranks; k++)
        in_counts[k] = count_nodes(s, k) * length;
    MC_TRY(mc_ranks_exchange(ctx, work, out_counts, in, in_counts));
    const double *added = add_up_node(s, (mc_segment_node){0, s->count}, length, &next);
    for (int k = 0; k < s->ranks; k++)
        out_counts[k] = slice_length(s, numbers, k);
    return mc_ranks_gather_parts(ctx, added, out_counts, sum);
}

mercer_status mc_segments_sum(mercer_ctx *ctx, const mc_segments *s, uint64_t what, mercer_status status,
                              const double *mine, int64_t numbers, double *work, double *sum) {
    if (s->ranks == 1) {
        if (!status && mine != sum)
            memcpy(sum, mine, (size_t)numbers * sizeof *sum);
        return status;
    }
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_SEGMENTS, what, status));
    return sum_over_ranks(ctx, s, mine, numbers, work, sum);
}

mercer_status mc_segments_gather(mercer_ctx *ctx, const mc_segments *s, uint64_t what, mercer_status status,
                                 const double *mine, int64_t width, double *all) {
    if (s->ranks == 1) {
        if (!status)
            memcpy(all, mine, (size_t)(s->n * width) * sizeof *all);
        return status;
    }
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_SEGMENTS, what, status));
    int64_t *counts = ctx->ranks->counts;
    for (int k = 0; k < s->ranks; k++)
        counts[k] = (mc_segment_begin(s, first_of(s, k + 1)) - mc_segment_begin(s, first_of(s, k))) * width;
    return mc_ranks_gather_parts(ctx, mine, counts, all);
}
