/* Ranks that agree, fail, part and stop. */
#include "support.h"
#include "base/checking_ranks.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/status.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct plan {
    int odd; /* the rank that does otherwise */
    bool all_same;
} plan;

static void assert_all(const checking_run *run, mercer_status status, const char *words) {
    for (int k = 0; k < run->count; k++) {
        assert_int_equal(run->status[k], status);
        if (!strstr(run->message[k], words))
            fail_msg("rank %d says '%s', not '%s'", k, run->message[k], words);
    }
    assert_int_equal(run->left, 0);
}

static mercer_status agree_twice(mercer_ctx *ctx, int rank, void *arg) {
    (void)arg;
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_PRODUCT, 1, MERCER_OK));
    if (mercer_rank(ctx) != rank)
        return MERCER_INTERNAL;
    return mercer_agree(ctx, MERCER_OK);
}

static void agreeing_is_fine_on_any_number(void **state) {
    (void)state;
    for (int count = 1; count <= CHECKING_RANKS; count++) {
        checking_run run = checking_run_of(count, agree_twice, NULL);
        checking_run_all(&run);
        assert_all(&run, MERCER_OK, "");
    }
}

/* The rank that takes its time is said to have taken it, whoever else was held up by the machine; the answer is that of
   all. */
static mercer_status one_is_slow(mercer_ctx *ctx, int rank, void *arg) {
    const plan *p = arg;
    double waited = -1, most = 0, sum = 0, busy[CHECKING_RANKS];
    for (uint64_t k = 0; k < 2; k++) {
        if (rank == p->odd)
            usleep(100000);
        MC_TRY(mc_ranks_agree(ctx, MC_RANKS_PRODUCT, k, MERCER_OK));
    }
    const int slowest = mercer_slowest_rank(ctx, &waited), count = mercer_ranks(ctx);
    if (!ctx->ranks->calls->gather(ctx->ranks->self, &ctx->ranks->busy, sizeof *busy, busy))
        return MERCER_INTERNAL;
    for (int k = 0; k < count; k++) {
        most = fmax(most, busy[k]);
        sum += busy[k];
    }
    const bool right = busy[p->odd] >= 0.2 && busy[slowest] >= most && waited == (count * most - sum) / (count - 1)
                       && mercer_slowest_rank(ctx, NULL) == slowest;
    return right ? MERCER_OK
                 : mc_fail(ctx, MERCER_INTERNAL, "rank %d is said to be the slowest, by %g s", slowest, waited);
}

static void the_slowest_is_known_to_all(void **state) {
    (void)state;
    double waited = -1;
    for (int odd = 0; odd < 3; odd++) {
        plan p = {.odd = odd};
        checking_run run = checking_run_of(3, one_is_slow, &p);
        checking_run_all(&run);
        assert_all(&run, MERCER_OK, "");
    }
    mercer_ctx *ctx = open_ctx(1);
    assert_int_equal(mercer_slowest_rank(ctx, &waited), 0);
    assert_true(waited == 0);
    assert_int_equal(mercer_slowest_rank(NULL, &waited), 0);
    close_clean(ctx);
}

static mercer_status fail_on_one(mercer_ctx *ctx, int rank, void *arg) {
    const plan *p = arg;
    mercer_status status = MERCER_OK;
    if (rank == p->odd || p->all_same)
        status = mc_fail(ctx, MERCER_DATA, "line 7 is not a number");
    status = mc_ranks_agree(ctx, MC_RANKS_PRODUCT, 1, status);
    if (!status)
        return MERCER_INTERNAL;
    const mercer_status again = mc_ranks_agree(ctx, MC_RANKS_PRODUCT, 2, MERCER_OK); /* they are still together */
    return again ? again : status;
}

static void a_failure_is_that_of_all(void **state) {
    (void)state;
    for (int odd = 0; odd < 4; odd++) {
        char words[64];
        plan p = {.odd = odd};
        checking_run run = checking_run_of(4, fail_on_one, &p);
        checking_run_all(&run);
        snprintf(words, sizeof words, "rank %d: line 7", odd);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(run.status[k], MERCER_DATA);
            assert_non_null(strstr(run.message[k], k == odd ? "line 7" : words));
        }
        assert_int_equal(run.left, 0);
    }
}

static void a_failure_of_all_is_told_in_own_words(void **state) {
    (void)state;
    plan p = {.all_same = true};
    checking_run run = checking_run_of(3, fail_on_one, &p);
    checking_run_all(&run);
    for (int k = 0; k < 3; k++)
        assert_string_equal(run.message[k], "line 7 is not a number");
}

static mercer_status go_elsewhere(mercer_ctx *ctx, int rank, void *arg) {
    const plan *p = arg;
    const mercer_status status = mc_ranks_agree(ctx, MC_RANKS_PRODUCT, rank == p->odd ? 5 : 4, MERCER_OK);
    const mercer_status after = mc_ranks_agree(ctx, MC_RANKS_PRODUCT, 6, MERCER_OK); /* nobody waits */
    return status && after ? status : MERCER_OK;
}

static void ranks_that_part_are_found_out(void **state) {
    (void)state;
    for (int odd = 0; odd < 3; odd++) {
        plan p = {.odd = odd};
        checking_run run = checking_run_of(3, go_elsewhere, &p);
        checking_run_all(&run);
        for (int k = 0; k < 3; k++)
            assert_int_equal(run.status[k], MERCER_INTERNAL);
    }
}

static mercer_status end_early(mercer_ctx *ctx, int rank, void *arg) {
    const plan *p = arg;
    if (rank == p->odd)
        return p->all_same ? mc_fail(ctx, MERCER_IO, "the disk is full") : MERCER_OK;
    return mc_ranks_agree(ctx, MC_RANKS_PRODUCT, 1, MERCER_OK);
}

/* A context that is closed tells the others. */
static void nobody_waits_for_one_that_has_ended(void **state) {
    (void)state;
    for (int odd = 0; odd < 3; odd++)
        for (int failing = 0; failing < 2; failing++) {
            char words[64];
            plan p = {.odd = odd, .all_same = failing};
            checking_run run = checking_run_of(3, end_early, &p);
            checking_run_all(&run);
            snprintf(words, sizeof words, failing ? "rank %d: the disk is full" : "rank %d has ended", odd);
            for (int k = 0; k < 3; k++)
                if (k != odd && !strstr(run.message[k], words))
                    fail_msg("rank %d says '%s', not '%s'", k, run.message[k], words);
            assert_int_equal(run.left, 0);
        }
}

static mercer_status many_calls(mercer_ctx *ctx, int rank, void *arg) {
    const int64_t counts[] = {1, 2, 3}, each[] = {1, 1, 1};
    const double mine[] = {rank, rank, rank};
    double all[6], in[3];
    (void)arg;
    for (int i = 0; i < 3; i++) {
        MC_TRY(mc_ranks_agree(ctx, MC_RANKS_PRODUCT, (uint64_t)i, MERCER_OK));
        MC_TRY(mc_ranks_gather_parts(ctx, mine, counts, all));
        MC_TRY(mc_ranks_exchange(ctx, mine, each, in, each));
    }
    return all[0] == 0 && all[2] == 1 && all[5] == 2 && in[2] == 2 ? MERCER_OK : MERCER_INTERNAL;
}

static void any_call_may_fail(void **state) {
    (void)state;
    for (int odd = 0; odd < 3; odd++)
        checking_run_failing_calls(3, odd, many_calls, NULL, 20);
}

static mercer_status report_and_agree(mercer_ctx *ctx, int rank, void *arg) {
    (void)rank, (void)arg;
    mc_begin_phase(ctx, "gram");
    MC_TRY(mc_progress_step(ctx, 0.5, (mc_watch){"residual", 1, 0})); /* which stops nobody alone */
    return mc_ranks_agree(ctx, MC_RANKS_PRODUCT, 1, MERCER_OK);
}

static void a_stop_is_that_of_all(void **state) {
    (void)state;
    for (int odd = 0; odd < 3; odd++) {
        checking_run run = checking_run_of(3, report_and_agree, NULL);
        run.stop_rank = odd;
        checking_run_all(&run);
        assert_all(&run, MERCER_CANCELLED, "stopped by the caller");
    }
}

static mercer_status limit_time(mercer_ctx *ctx, int rank, void *arg) {
    (void)rank, (void)arg;
    return mercer_set_time_limit(ctx, 5);
}

static void a_time_limit_is_refused(void **state) {
    (void)state;
    checking_run run = checking_run_of(2, limit_time, NULL);
    checking_run_all(&run);
    assert_all(&run, MERCER_INVALID, "clocks");
}

static void what_cannot_be_is_said(void **state) {
    (void)state;
    mercer_ctx *ctx = NULL;
    mercer_options options = mercer_options_defaults();
    options.ranks = "many";
    assert_fails(ctx, mercer_open(&options, &ctx), MERCER_INVALID, "none or mpi, got 'many'");
    mercer_close(ctx);
    int nobody = 0;
    options = mercer_options_defaults();
    options.communicator = &nobody;
    assert_fails(ctx, mercer_open(&options, &ctx), MERCER_INVALID, "ranks is none");
    mercer_close(ctx);
    ctx = open_ctx(1);
    assert_int_equal(mercer_rank(ctx), 0);
    assert_int_equal(mercer_ranks(ctx), 1);
    assert_int_equal(mercer_agree(ctx, MERCER_DATA), MERCER_DATA);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agreeing_is_fine_on_any_number),
        cmocka_unit_test(the_slowest_is_known_to_all),
        cmocka_unit_test(a_failure_is_that_of_all),
        cmocka_unit_test(a_failure_of_all_is_told_in_own_words),
        cmocka_unit_test(ranks_that_part_are_found_out),
        cmocka_unit_test(nobody_waits_for_one_that_has_ended),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(a_stop_is_that_of_all),
        cmocka_unit_test(a_time_limit_is_refused),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
