/* Products whose tasks ranks share: the bits of one rank alone, on any number of them, and every failure is that of
   all. */
#include "support.h"
#include "base/checking_ranks.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "gram/operator/gram.h"
#include <stdlib.h>
#include <string.h>

/* One product; the first rank keeps its result, and others compare theirs with it. */
typedef struct product_case {
    int64_t n, m, d, t; /* m 0: symmetric */
    mercer_dtype dtype;
    const char *kernel;
    uint64_t seed;
    double *wanted; /* NULL: it is made now */
    double *made;
} product_case;

static mercer_status make_points(mercer_ctx *ctx, mc_rng *rng, int64_t n, int64_t d, mercer_data **out) {
    double *values = mc_alloc(ctx, n * d, sizeof *values);
    if (!values)
        return MERCER_MEMORY;
    for (int64_t i = 0; i < n * d; i++)
        values[i] = mc_rng_normal(rng);
    const mercer_table table = {.size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = values};
    const mercer_status status = mercer_data_make(ctx, &table, out);
    mc_free(values);
    return status;
}

static mercer_status multiply(mercer_ctx *ctx, const product_case *c, mc_rng *rng, const mercer_kernel *kernel,
                              const mercer_data *x, const mercer_data *z, double *Y) {
    mc_gram *gram = NULL;
    const int64_t m = z ? c->m : c->n;
    double *V = mc_alloc(ctx, m * c->t, sizeof *V);
    if (!V)
        return MERCER_MEMORY;
    for (int64_t i = 0; i < m * c->t; i++)
        V[i] = mc_rng_normal(rng);
    mercer_status status = mc_gram_open(ctx, kernel, x, z, c->dtype, &gram);
    MC_THEN(status, mc_gram_apply(ctx, gram, c->t, V, Y));
    mc_gram_close(gram);
    mc_free(V);
    return status;
}

static mercer_status compare(const product_case *c, int rank, const double *Y) {
    const size_t bytes = (size_t)(c->n * c->t) * sizeof *Y;
    if (!c->wanted && rank == 0)
        memcpy(c->made, Y, bytes);
    return !c->wanted || memcmp(c->wanted, Y, bytes) == 0 ? MERCER_OK : MERCER_NUMERIC;
}

static mercer_status run_case(mercer_ctx *ctx, int rank, void *arg) {
    const product_case *c = arg;
    mc_rng rng = mc_rng_at(c->seed, MC_STREAM_TEST, 1);
    mercer_data *x = NULL, *z = NULL;
    mercer_kernel *kernel = NULL, *bound = NULL;
    double *Y = NULL;
    mercer_status status = make_points(ctx, &rng, c->n, c->d, &x);
    if (c->m)
        MC_THEN(status, make_points(ctx, &rng, c->m, c->d, &z));
    MC_THEN(status, mercer_kernel_parse(ctx, c->kernel, &kernel));
    MC_THEN(status, mercer_kernel_bind(ctx, kernel, x, &bound));
    MC_THEN(status, MC_ALLOC(ctx, Y, c->n * c->t));
    MC_THEN(status, multiply(ctx, c, &rng, bound, x, z, Y));
    MC_THEN(status, compare(c, rank, Y));
    mc_free(Y);
    mercer_kernel_free(bound);
    mercer_kernel_free(kernel);
    mercer_data_free(z);
    mercer_data_free(x);
    return status;
}

/* Of a case of this number. */
static product_case draw_case(uint64_t seed, uint64_t number) {
    static const char *const kernels[] = {"rbf(sigma=2)", "matern(nu=1.5, length_scale=2)",
                                          "rbf(gamma=0.1) + 0.1 * laplacian(gamma=0.2)"};
    mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, number);
    product_case c = {.seed = seed + number};
    c.n = 1300 + mc_rng_below(&rng, 500);
    c.d = 1 + mc_rng_below(&rng, 30);
    c.m = number % 3 == 0 ? 0 : number % 3 == 1 ? 1300 + mc_rng_below(&rng, 500) : -1;
    if (c.m < 0) { /* few rows, and ranges of columns */
        c.n = 100 + mc_rng_below(&rng, 300);
        c.m = 32000000 / (c.n * (c.d + 16)) + 500;
    }
    c.t = number % 2 ? 1 + mc_rng_below(&rng, 3) : 1 + mc_rng_below(&rng, 8);
    c.t = number == 3 ? 120 : c.t; /* more than are taken at a time */
    c.dtype = number % 4 < 2 ? MERCER_F32 : MERCER_F64;
    c.kernel = kernels[number % 3];
    return c;
}

static void run_on(product_case *c, int count, bool meets) {
    checking_run run = checking_run_of(count, run_case, c);
    checking_run_all(&run);
    for (int k = 0; k < count; k++)
        if (run.status[k])
            fail_msg("n %lld, m %lld, d %lld, t %lld on %d ranks, rank %d: %s %s", (long long)c->n, (long long)c->m,
                     (long long)c->d, (long long)c->t, count, k, mercer_status_name(run.status[k]), run.message[k]);
    assert_int_equal(run.left, 0);
    if (meets) /* joining is three calls, leaving one: the product was shared */
        assert_in_range(run.calls, 6, 1000);
}

static void bits_do_not_depend_on_ranks(void **state) {
    (void)state;
    static const int counts[] = {2, 3, 7};
    const uint64_t seed = test_seed();
    for (uint64_t number = 0; number < 7; number++) {
        if (!test_takes((int64_t)number))
            continue;
        product_case c = draw_case(seed, number);
        c.made = calloc((size_t)(c.n * c.t), sizeof *c.made);
        run_on(&c, 1, false);
        c.wanted = c.made;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            run_on(&c, counts[i], true);
        free(c.made);
    }
}

static product_case small_case(void) {
    return (product_case){.n = 1100, .d = 9, .t = 1, .dtype = MERCER_F32, .kernel = "rbf", .seed = 5};
}

static void any_call_may_fail(void **state) {
    (void)state;
    product_case c = small_case();
    c.made = calloc((size_t)c.n, sizeof *c.made);
    for (int odd = 0; odd < 2; odd++)
        checking_run_failing_calls(2, odd, run_case, &c, 100);
    free(c.made);
}

/* On one rank alone. */
static void any_allocation_may_fail(void **state) {
    (void)state;
    product_case c = small_case();
    c.made = calloc((size_t)c.n, sizeof *c.made);
    checking_run_failing_memory(2, 1, run_case, &c);
    free(c.made);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_do_not_depend_on_ranks),
                                       cmocka_unit_test(any_call_may_fail), cmocka_unit_test(any_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
