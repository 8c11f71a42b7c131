/* t_batch_smo.c: quadratic programs over one matrix solved together; run with the tests of SMO. */
#include "smo_of_test.h"

enum { BATCH = 3 };

/* Every third row is left out of each; rows that nobody asked for have no room. beta and f of all of them behind each
   other. */
static mercer_status solve_batch(mercer_ctx *ctx, const sample *s, mercer_dtype dtype, int64_t most, double *beta,
                                 double *f, double *bound) {
    mc_dual dual[BATCH];
    double *betas[BATCH], *fs[BATCH];
    int64_t steps[BATCH] = {0};
    mc_buffer buffer[MC_BATCH_SMO_BUFFERS] = {0};
    for (int64_t k = 0; k < BATCH; k++) {
        double *low = bound + 2 * k * s->n, *high = low + s->n;
        for (int64_t i = 0; i < s->n; i++) {
            low[i] = i % BATCH == k ? 0 : s->low[i];
            high[i] = i % BATCH == k ? 0 : s->high[i];
        }
        dual[k] = (mc_dual){.m = s->n, .q = s->q, .low = low, .high = high};
        betas[k] = memset(beta + k * s->n, 0, (size_t)s->n * sizeof *beta);
        fs[k] = memset(f + k * s->n, 0, (size_t)s->n * sizeof *f);
    }
    const void *K = dtype == MERCER_F64 ? (const void *)s->K : (const void *)s->single;
    const mc_batch_smo problem = {.K = mc_matrix_square(s->n, dtype, K, s->n, s->diagonal),
                                  .tolerance = 1e-3,
                                  .steps_max = most,
                                  .count = BATCH,
                                  .dual = dual,
                                  .beta = betas,
                                  .f = fs,
                                  .steps = steps,
                                  .buffers = buffer};
    const mercer_status status = mc_batch_smo_solve(ctx, &problem);
    for (int k = 0; k < MC_BATCH_SMO_BUFFERS; k++)
        mc_buffer_close(&buffer[k]);
    return status;
}

/* beta of all of them, and their bounds behind f, from solve_together. */
static void assert_optimal(sample *s, const double *own) {
    for (int64_t k = 0; k < BATCH; k++) {
        const double *low = own + (2 * BATCH + 2 * k) * s->n;
        const mc_dual dual = {.m = s->n, .q = s->q, .low = low, .high = low + s->n};
        memcpy(s->beta, own + k * s->n, (size_t)s->n * sizeof *s->beta);
        assert_true(true_violation(s, &dual) <= 1.2e-3);
        assert_close(group_sum(s, &dual, 0), 0, 1e-9);
    }
}

void test_programs_over_one_matrix_are_solved_in_a_batch(void **state) {
    (void)state;
    sample s = random_sample(900, 16, 3);
    as_classifier(&s, 20);
    double *own = calloc((size_t)(4 * BATCH * s.n), sizeof *own), *first = calloc((size_t)(BATCH * s.n), sizeof *first);
    for (int run = 0; run < 3; run++) {
        mercer_ctx *ctx = open_ctx(run == 1 ? 1 : 3);
        assert_ok(ctx, solve_batch(ctx, &s, run == 2 ? MERCER_F64 : MERCER_F32, 10000000, own, own + BATCH * s.n,
                                   own + 2 * BATCH * s.n));
        if (run != 1)
            assert_optimal(&s, own);
        if (run == 1)
            assert_memory_equal(first, own, (size_t)(BATCH * s.n) * sizeof *own);
        memcpy(first, own, (size_t)(BATCH * s.n) * sizeof *own);
        close_clean(ctx);
    }
    free(own);
    free(first);
    sample_free(&s);
}

/* A smooth kernel and a large C: steps in pairs alone take two to three times as many, and run out of those allowed in
   a round. */
void test_newton_steps_in_between_lead_to_the_optimum(void **state) {
    (void)state;
    sample s = random_sample(700, 18, 4);
    as_classifier(&s, 300);
    double *own = calloc((size_t)(4 * BATCH * s.n), sizeof *own);
    mercer_ctx *ctx = open_ctx(2);
    assert_ok(ctx, solve_batch(ctx, &s, MERCER_F64, 10000000, own, own + BATCH * s.n, own + 2 * BATCH * s.n));
    assert_optimal(&s, own);
    close_clean(ctx);
    free(own);
    sample_free(&s);
}
