/* A preconditioner whose rows ranks share: its columns, its small matrix and its products have the bits of one rank
   alone, and every failure is that of all. */
#include "support.h"
#include "base/checking_ranks.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "gram/operator/gram_matrix.h"
#include "iterative/precondition.h"
#include <stdlib.h>
#include <string.h>

typedef struct shared_case {
    int64_t n, rank, t;
    bool scaled;
    const char *kernel;
    uint64_t seed;
    double *wanted; /* NULL: it is made now */
    double *made;   /* (n + 1) x t: the product, and what the factor left */
    bool alone;     /* no rank shares it, however many there are */
} shared_case;

static int64_t numbers_of(const shared_case *c) {
    return (c->n + 1) * c->t;
}

static mercer_status multiply(mercer_ctx *ctx, const shared_case *c, mc_rng *rng, const mc_matrix *K, double *out) {
    mc_lowrank *f = NULL;
    mc_precondition *p = NULL;
    double *V = mc_alloc(ctx, c->n * c->t, sizeof *V), *scale = mc_alloc(ctx, c->n, sizeof *scale);
    mercer_status status = V && scale ? MERCER_OK : MERCER_MEMORY;
    for (int64_t i = 0; i < c->n * c->t && !status; i++)
        V[i] = mc_rng_normal(rng);
    for (int64_t i = 0; i < c->n && !status; i++)
        scale[i] = 0.5 + mc_rng_uniform(rng);
    MC_THEN(status, mc_lowrank_open(ctx, K, c->scaled ? scale : NULL, c->seed, &f));
    if (!status && !c->alone)
        mc_lowrank_share(ctx, f);
    MC_THEN(status, mc_lowrank_grow(ctx, f, c->rank / 2, 0));
    MC_THEN(status, mc_lowrank_grow(ctx, f, c->rank, 0));
    MC_THEN(status, mc_precondition_open(ctx, f, 0.01, c->t, &p));
    if (!status) {
        const mc_matrix inverse = mc_precondition_inverse(p);
        status = inverse.apply(ctx, inverse.self, c->t, V, out);
        for (int64_t k = 0; k < c->t; k++)
            out[c->n * c->t + k] = f->trace_left;
    }
    mc_precondition_close(p);
    mc_lowrank_close(f);
    mc_free(scale);
    mc_free(V);
    return status;
}

static mercer_status compare(const shared_case *c, int rank, const double *Y) {
    const size_t bytes = (size_t)numbers_of(c) * sizeof *Y;
    if (!c->wanted && rank == 0)
        memcpy(c->made, Y, bytes);
    return !c->wanted || memcmp(c->wanted, Y, bytes) == 0 ? MERCER_OK : MERCER_NUMERIC;
}

static mercer_status run_case(mercer_ctx *ctx, int rank, void *arg) {
    const shared_case *c = arg;
    mc_rng rng = mc_rng_at(c->seed, MC_STREAM_TEST, 1);
    mercer_data *x = NULL;
    mercer_kernel *kernel = NULL, *bound = NULL;
    mc_gram *gram = NULL;
    double *Y = NULL;
    mercer_status status = mercer_data_generate(ctx, "friedman1", c->n, 0.1, c->seed, &x);
    MC_THEN(status, mercer_kernel_parse(ctx, c->kernel, &kernel));
    MC_THEN(status, mercer_kernel_bind(ctx, kernel, x, &bound));
    MC_THEN(status, MC_ALLOC(ctx, Y, numbers_of(c)));
    MC_THEN(status, mc_gram_open(ctx, bound, x, NULL, MERCER_F32, &gram));
    if (!status) {
        const mc_matrix K = mc_gram_matrix(gram);
        status = multiply(ctx, c, &rng, &K, Y);
    }
    MC_THEN(status, compare(c, rank, Y));
    mc_gram_close(gram);
    mc_free(Y);
    mercer_kernel_free(bound);
    mercer_kernel_free(kernel);
    mercer_data_free(x);
    return status;
}

static void run_on(shared_case *c, int count, bool meets) {
    checking_run run = checking_run_of(count, run_case, c);
    checking_run_all(&run);
    for (int k = 0; k < count; k++)
        if (run.status[k])
            fail_msg("n %lld, rank %lld, t %lld on %d ranks, rank %d: %s %s", (long long)c->n, (long long)c->rank,
                     (long long)c->t, count, k, mercer_status_name(run.status[k]), run.message[k]);
    assert_int_equal(run.left, 0);
    if (meets) /* joining is three calls, leaving one */
        assert_in_range(run.calls, 8, 100000);
}

/* As many as segments, fewer, and more than there are. */
static void bits_do_not_depend_on_ranks(void **state) {
    (void)state;
    static const int counts[] = {2, 3, 7};
    static const char *const kernels[] = {"rbf(sigma=0.7)", "matern(nu=0.5, length_scale=1)"};
    const uint64_t seed = test_seed();
    for (uint64_t number = 0; number < 4; number++) {
        if (!test_takes((int64_t)number))
            continue;
        mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, number);
        shared_case c = {.n = 8192 + mc_rng_below(&rng, number % 2 ? 9000 : 20),
                         .rank = number < 2 ? 20 + mc_rng_below(&rng, 100) : 130 + mc_rng_below(&rng, 200),
                         .t = 1 + mc_rng_below(&rng, 3),
                         .scaled = number % 2,
                         .kernel = kernels[number / 2],
                         .seed = seed + number};
        c.made = calloc((size_t)numbers_of(&c), sizeof *c.made);
        run_on(&c, 1, false);
        c.wanted = c.made;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            run_on(&c, counts[i], true);
        c.alone = true;
        run_on(&c, 2, false);
        free(c.made);
    }
}

static shared_case small_case(void) {
    return (shared_case){.n = 8192, .rank = 20, .t = 1, .kernel = "rbf(sigma=1)", .seed = 5};
}

static void any_call_may_fail(void **state) {
    (void)state;
    shared_case c = small_case();
    c.made = calloc((size_t)numbers_of(&c), sizeof *c.made);
    for (int odd = 0; odd < 2; odd++)
        checking_run_failing_calls(2, odd, run_case, &c, 1000);
    free(c.made);
}

/* On one rank alone. */
static void any_allocation_may_fail(void **state) {
    (void)state;
    shared_case c = small_case();
    c.made = calloc((size_t)numbers_of(&c), sizeof *c.made);
    checking_run_failing_memory(2, 1, run_case, &c);
    free(c.made);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_do_not_depend_on_ranks),
                                       cmocka_unit_test(any_call_may_fail), cmocka_unit_test(any_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
