/* Rows in segments: ranks have all of them, each once; sums over segments have the same bits on any number of ranks. */
#include "support.h"
#include "base/checking_ranks.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/segments.h"
#include "base/status.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 37 };

typedef struct sum_case {
    int64_t n;
    uint64_t seed;
    double wanted[NUMBERS]; /* of one rank */
    double *rows;           /* n: what is gathered */
} sum_case;

static void number_of(const sum_case *c, int64_t segment, double *out) {
    mc_rng rng = mc_rng_at(c->seed, MC_STREAM_TEST, (uint64_t)segment);
    for (int i = 0; i < NUMBERS; i++)
        out[i] = mc_rng_normal(&rng) * exp2((double)mc_rng_below(&rng, 40));
}

/* The tree as segments.h tells it. */
static void plain_sum(const sum_case *c, int64_t from, int64_t to, double *out) {
    double right[NUMBERS];
    int64_t half = 1;
    number_of(c, from, out);
    if (to - from == 1)
        return;
    while (2 * half < to - from)
        half *= 2;
    plain_sum(c, from, from + half, out);
    plain_sum(c, from + half, to, right);
    for (int i = 0; i < NUMBERS; i++)
        out[i] += right[i];
}

static mercer_status gather_rows(mercer_ctx *ctx, const mc_segments *s, const sum_case *c) {
    double *mine = mc_alloc(ctx, s->rows + 1, sizeof *mine), *all = mc_alloc(ctx, s->n, sizeof *all);
    mercer_status status = mine && all ? MERCER_OK : MERCER_MEMORY;
    if (!status)
        memcpy(mine, c->rows + s->begin, (size_t)s->rows * sizeof *mine);
    status = mc_segments_gather(ctx, s, 1, status, mine, 1, all);
    if (!status && memcmp(all, c->rows, (size_t)s->n * sizeof *all) != 0)
        status = MERCER_NUMERIC;
    mc_free(all);
    mc_free(mine);
    return status;
}

static mercer_status run_case(mercer_ctx *ctx, int rank, void *arg) {
    (void)rank;
    const sum_case *c = arg;
    const mc_segments s = mc_segments_shared(ctx, c->n);
    double sum[NUMBERS];
    double *sums = mc_alloc(ctx, (s.end - s.first + 1) * NUMBERS, sizeof *sums),
           *work = mc_alloc(ctx, mc_segments_work(&s, NUMBERS) + 1, sizeof *work);
    mercer_status status = sums && work ? MERCER_OK : MERCER_MEMORY;
    for (int64_t k = s.first; k < s.end && !status; k++)
        number_of(c, k, sums + (k - s.first) * NUMBERS);
    if (!status)
        mc_segments_fold(&s, NUMBERS, sums);
    status = mc_segments_sum(ctx, &s, 0, status, sums, NUMBERS, work, sum);
    if (!status && memcmp(sum, c->wanted, sizeof sum) != 0)
        status = MERCER_NUMERIC;
    MC_THEN(status, gather_rows(ctx, &s, c));
    mc_free(work);
    mc_free(sums);
    return status;
}

static void check_case(sum_case *c) {
    const mc_segments whole = mc_segments_whole(c->n);
    assert_int_equal(whole.rows, c->n);
    assert_in_range(whole.count, 1, MC_SEGMENTS);
    plain_sum(c, 0, whole.count, c->wanted);
    for (int count = 1; count <= CHECKING_RANKS; count++) {
        checking_run run = checking_run_of(count, run_case, c);
        checking_run_all(&run);
        for (int k = 0; k < count; k++)
            if (run.status[k])
                fail_msg("%lld rows on %d ranks, rank %d: %s %s", (long long)c->n, count, k,
                         mercer_status_name(run.status[k]), run.message[k]);
        assert_int_equal(run.left, 0);
    }
}

static void sums_do_not_depend_on_ranks(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, 0);
    static const int64_t sizes[] = {1, 2048, 2049, 8191, 8192, 131072, 131073};
    for (int64_t k = 0; k < 12; k++) {
        sum_case c = {.n = k < 7 ? sizes[k] : 1 + mc_rng_below(&rng, 400000), .seed = seed + (uint64_t)k};
        if (!test_takes(k))
            continue;
        c.rows = calloc((size_t)c.n, sizeof *c.rows);
        for (int64_t i = 0; i < c.n; i++)
            c.rows[i] = mc_rng_uniform(&rng);
        check_case(&c);
        free(c.rows);
    }
}

/* For other numbers of ranks than threads can be had. */
static void every_row_has_one_owner(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 99);
    for (int k = 0; k < 300; k++) {
        struct mercer_ctx *ctx = open_ctx(1);
        mc_ranks ranks = {.count = 1 + (int)mc_rng_below(&rng, 100)};
        const int64_t n = 8192 + mc_rng_below(&rng, 1000000), row = mc_rng_below(&rng, n);
        int64_t rows = 0;
        int owners = 0;
        ctx->ranks = &ranks;
        for (ranks.rank = 0; ranks.rank < ranks.count; ranks.rank++) {
            const mc_segments s = mc_segments_shared(ctx, n);
            mc_segment_node node[MC_SEGMENT_NODES];
            int64_t at = s.first;
            for (int i = 0, nodes = mc_segments_nodes(&s, s.rank, node); i < nodes; at = node[i++].to)
                assert_int_equal(node[i].from, at);
            assert_int_equal(at, s.end);
            assert_int_equal(s.begin % MC_SEGMENT_UNIT, s.rows ? 0 : s.begin % MC_SEGMENT_UNIT);
            rows += s.rows;
            owners += row >= s.begin && row < s.begin + s.rows;
            if (row >= s.begin && row < s.begin + s.rows)
                assert_int_equal(mc_segments_owner(&s, row), s.rank);
        }
        ctx->ranks = NULL;
        assert_int_equal(rows, n);
        assert_int_equal(owners, 1);
        close_clean(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_do_not_depend_on_ranks),
                                       cmocka_unit_test(every_row_has_one_owner)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
