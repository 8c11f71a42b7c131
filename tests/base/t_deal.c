/* Pieces dealt out to ranks: each is done once, and all hear what has come of it; a failure is that of all. */
#include "support.h"
#include "base/checking_ranks.h"
#include "base/deal.h"
#include "base/memory.h"
#include "base/status.h"
#include <string.h>

enum { PIECES = 23 };

typedef struct pieces {
    int64_t count;
    int failing; /* piece whose rank fails; -1: none */
} pieces;

/* Of one rank. */
typedef struct own_pieces {
    double sum[PIECES];
    int heard[PIECES];
} own_pieces;

static int64_t numbers_of(const void *arg, int64_t piece) {
    (void)arg;
    return piece % 4; /* none at all, too */
}

static void give(const void *arg, int64_t piece, double *out) {
    const own_pieces *own = arg;
    for (int64_t i = 0; i < piece % 4; i++)
        out[i] = own->sum[piece] + (double)i;
}

static void take(void *arg, int64_t piece, const double *in) {
    own_pieces *own = arg;
    own->sum[piece] = piece % 4 ? in[piece % 4 - 1] - (double)(piece % 4 - 1) : 100 + (double)piece;
    own->heard[piece]++;
}

static mercer_status run_pieces(mercer_ctx *ctx, int rank, void *arg) {
    const pieces *p = arg;
    own_pieces own = {0};
    const mc_deal deal = mc_deal_out(ctx, p->count);
    const mc_deal_news news = {numbers_of, give, take, &own};
    mercer_status status = MERCER_OK;
    for (int64_t k = 0; k < mc_deal_own(&deal, rank); k++) {
        const int64_t piece = mc_deal_piece(&deal, k);
        own.sum[piece] = 100 + (double)piece;
        own.heard[piece]++;
        if (piece == p->failing)
            status = mc_fail(ctx, MERCER_NUMERIC, "piece %d fails", p->failing);
    }
    status = mc_deal_tell(ctx, &deal, 7, status, &news);
    for (int64_t k = 0; k < p->count && !status; k++)
        if (own.heard[k] != 1 || own.sum[k] != 100 + (double)k)
            status = mc_fail(ctx, MERCER_INTERNAL, "piece %d was heard of %d times, as %g", (int)k, own.heard[k],
                             own.sum[k]);
    return status;
}

static void all_hear_of_all(void **state) {
    (void)state;
    for (int ranks = 1; ranks <= CHECKING_RANKS; ranks++)
        for (int64_t count = 0; count <= PIECES; count++) {
            pieces p = {count, -1};
            checking_run run = checking_run_of(ranks, run_pieces, &p);
            checking_run_all(&run);
            for (int k = 0; k < ranks; k++)
                if (run.status[k])
                    fail_msg("%lld pieces on %d ranks, rank %d: %s", (long long)count, ranks, k, run.message[k]);
            assert_int_equal(run.left, 0);
        }
}

static void a_failure_is_that_of_all(void **state) {
    (void)state;
    for (int failing = 0; failing < PIECES; failing++) {
        pieces p = {PIECES, failing};
        checking_run run = checking_run_of(5, run_pieces, &p);
        checking_run_all(&run);
        for (int k = 0; k < 5; k++) {
            assert_int_equal(run.status[k], MERCER_NUMERIC);
            assert_non_null(strstr(run.message[k], "fails"));
        }
        assert_int_equal(run.left, 0);
    }
}

static void any_call_or_allocation_may_fail(void **state) {
    (void)state;
    pieces p = {PIECES, -1};
    checking_run_failing_calls(3, 1, run_pieces, &p, 100);
    checking_run_failing_memory(3, 2, run_pieces, &p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_hear_of_all), cmocka_unit_test(a_failure_is_that_of_all),
                                       cmocka_unit_test(any_call_or_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
