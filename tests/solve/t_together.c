/* t_together.c: programmes over one matrix solved together; run with the tests of SMO. */
#include "smo_of_test.h"

enum { TOGETHER = 3 };

/* Every third row is left out of each; rows that nobody asked for have no room. beta and f of all of them behind each other. */
static mercer_status solve_together(mercer_ctx *ctx, const sample *s, mercer_dtype dtype, double *beta, double *f, double *bound) {
    mc_dual dual[TOGETHER];
    double *betas[TOGETHER], *fs[TOGETHER];
    int64_t steps[TOGETHER] = {0};
    mc_room room[2] = {0};
    for (int64_t k = 0; k < TOGETHER; k++) {
        double *low = bound + 2 * k * s->n, *high = low + s->n;
        for (int64_t i = 0; i < s->n; i++) {
            low[i] = i % TOGETHER == k ? 0 : s->low[i];
            high[i] = i % TOGETHER == k ? 0 : s->high[i];
        }
        dual[k] = (mc_dual){.m = s->n, .q = s->q, .low = low, .high = high};
        betas[k] = memset(beta + k * s->n, 0, (size_t)s->n * sizeof *beta);
        fs[k] = memset(f + k * s->n, 0, (size_t)s->n * sizeof *f);
    }
    const void *K = dtype == MERCER_F64 ? (const void *)s->K : (const void *)s->single;
    const mc_together problem = {.n = s->n, .dtype = dtype, .K = K, .diagonal = s->diagonal, .tolerance = 1e-3, .steps_max = 10000000,
                                 .count = TOGETHER, .dual = dual, .beta = betas, .f = fs, .steps = steps, .room = room};
    const mercer_status status = mc_together_solve(ctx, &problem);
    mc_room_close(&room[0]);
    mc_room_close(&room[1]);
    return status;
}

void test_programmes_over_one_matrix_are_solved_together(void **state) {
    (void)state;
    sample s = random_sample(900, 16, 3);
    as_classifier(&s, 20);
    double *own = calloc((size_t)(4 * TOGETHER * s.n), sizeof *own), *first = calloc((size_t)(TOGETHER * s.n), sizeof *first);
    for (int run = 0; run < 3; run++) {
        mercer_ctx *ctx = open_ctx(run == 1 ? 1 : 3);
        assert_ok(ctx, solve_together(ctx, &s, run == 2 ? MERCER_F64 : MERCER_F32, own, own + TOGETHER * s.n, own + 2 * TOGETHER * s.n));
        for (int64_t k = 0; k < TOGETHER && run != 1; k++) {
            const double *low = own + (2 * TOGETHER + 2 * k) * s.n;
            const mc_dual dual = {.m = s.n, .q = s.q, .low = low, .high = low + s.n};
            memcpy(s.beta, own + k * s.n, (size_t)s.n * sizeof *s.beta);
            assert_true(true_violation(&s, &dual) <= 1.2e-3);
            assert_close(group_sum(&s, &dual, 0), 0, 1e-9);
        }
        if (run == 1)
            assert_memory_equal(first, own, (size_t)(TOGETHER * s.n) * sizeof *own);
        memcpy(first, own, (size_t)(TOGETHER * s.n) * sizeof *own);
        close_clean(ctx);
    }
    free(own);
    free(first);
    sample_free(&s);
}
