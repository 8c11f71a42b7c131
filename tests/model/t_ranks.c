/* Predictions of many rows, whose blocks ranks share out: the bits of one rank alone, whatever is asked, on any number
   of them; and every failure is that of all. */
#include "support.h"
#include "base/checking_ranks.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "data/table/data.h"
#include "model/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRAINED = 60, D = 20, CLASSES = 3, NEW = 60000 }; /* NEW: blocks enough for three ranks */

/* The first rank keeps what it was given, and others compare theirs with it. */
typedef struct question {
    const char *asked;
    uint64_t seed;
    double *wanted; /* NULL: it is made now */
    double *made;   /* NEW x CLASSES */
} question;

static mercer_status make_rows(mercer_ctx *ctx, uint64_t seed, int64_t n, bool labelled, mercer_data **out) {
    mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, (uint64_t)n);
    double *x = mc_alloc(ctx, n * D, sizeof *x);
    const char **label = mc_alloc(ctx, n, sizeof *label);
    static const char *const names[CLASSES] = {"a", "b", "c"};
    mercer_status status = x && label ? MERCER_OK : MERCER_MEMORY;
    for (int64_t i = 0; i < n * D && !status; i++)
        x[i] = mc_rng_normal(&rng);
    for (int64_t i = 0; i < n && !status; i++)
        label[i] = names[x[i * D] > 0.3 ? 0 : x[i * D + 1] > 0 ? 1 : 2];
    const mercer_table table = {
        .size = sizeof table, .n = n, .d = D, .dtype = MERCER_F64, .values = x, .labels = labelled ? label : NULL};
    MC_THEN(status, mercer_data_make(ctx, &table, out));
    mc_free(label);
    mc_free(x);
    return status;
}

static mercer_status ask(mercer_ctx *ctx, const question *q, const mercer_model *model, const mercer_data *rows,
                         double *out) {
    if (strcmp(q->asked, "decisions") == 0)
        return mercer_decide(ctx, model, rows, out);
    if (strcmp(q->asked, "votes") == 0)
        return mercer_predict(ctx, model, rows, out);
    if (strcmp(q->asked, "classes") == 0)
        return mercer_classify(ctx, model, rows, (int64_t *)(void *)out);
    return mercer_prediction_bound(ctx, model, rows, out);
}

static mercer_status compare(const question *q, int rank, const double *out) {
    const size_t bytes = NEW * CLASSES * sizeof *out;
    if (!q->wanted && rank == 0)
        memcpy(q->made, out, bytes);
    return !q->wanted || memcmp(q->wanted, out, bytes) == 0 ? MERCER_OK : MERCER_NUMERIC;
}

static mercer_status answer(mercer_ctx *ctx, int rank, void *arg) {
    const question *q = arg;
    mercer_data *rows = NULL, *new = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    double *out = NULL;
    mercer_status status = make_rows(ctx, q->seed, TRAINED, true, &rows);
    MC_THEN(status, make_rows(ctx, q->seed, NEW, false, &new));
    MC_THEN(status, mercer_kernel_parse(ctx, "rbf(gamma=0.05)", &kernel));
    MC_THEN(status, mercer_fit(ctx, "svc", NULL, kernel, rows, &model));
    MC_THEN(status, MC_ALLOC(ctx, out, NEW * CLASSES));
    MC_THEN(status, ask(ctx, q, model, new, out));
    MC_THEN(status, compare(q, rank, out));
    mc_free(out);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(new);
    mercer_data_free(rows);
    return status;
}

static const char *const questions[] = {"decisions", "votes", "classes", "bounds"};

static question question_of(size_t k, uint64_t seed) {
    question q = {.asked = questions[k], .seed = seed};
    q.made = calloc(NEW * CLASSES, sizeof *q.made);
    assert_non_null(q.made);
    return q;
}

static void bits_do_not_depend_on_ranks(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    for (size_t k = 0; k < sizeof questions / sizeof *questions; k++) {
        if (!test_takes((int64_t)k))
            continue;
        question q = question_of(k, seed);
        for (int count = 1; count <= 3; count++) {
            checking_run run = checking_run_of(count, answer, &q);
            checking_run_all(&run);
            for (int r = 0; r < count; r++)
                if (run.status[r])
                    fail_msg("%s on %d ranks, rank %d: %s %s", q.asked, count, r, mercer_status_name(run.status[r]),
                             run.message[r]);
            assert_int_equal(run.left, 0);
            if (count > 1) /* joining is three calls, leaving one: the blocks were dealt */
                assert_in_range(run.calls, 6, 1000);
            q.wanted = q.made;
        }
        free(q.made);
    }
}

/* The memory of one rank, or what it says to others, fails at some place. */
static void a_failure_is_that_of_all(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 7);
    for (int round = 0; round < 6; round++) {
        question q = question_of((size_t)round % 4, test_seed());
        checking_run run = checking_run_of(3, answer, &q);
        run.memory_rank = (int)mc_rng_below(&rng, 3);
        run.memory_after = 1 + (long)mc_rng_below(&rng, 300);
        checking_run_all(&run);
        for (int r = 1; r < 3; r++)
            if ((run.status[r] == MERCER_OK) != (run.status[0] == MERCER_OK))
                fail_msg("%s: rank %d: %s, rank 0: %s", q.asked, r, run.message[r], run.message[0]);
        assert_int_equal(run.left, 0);
        free(q.made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_ranks),
        cmocka_unit_test(a_failure_is_that_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
