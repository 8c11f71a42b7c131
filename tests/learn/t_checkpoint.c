/* Checkpoints with a right hash and wrong contents: what a hash that anyone can compute does not find. */
#include "base/hash.h"
#include "machines_of_test.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { HEAD = 56, SIZES = 24, PARTS = 4, ROOM = 1 << 16 };
static const char path[] = "t_checkpoint.state";

typedef struct kept_state {
    unsigned char bytes[ROOM];
    size_t size;
} kept_state;

static kept_state read_state(void) {
    kept_state s;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    s.size = fread(s.bytes, 1, ROOM, file);
    fclose(file);
    return s;
}

/* The state with eight bytes replaced and its hash made right. */
static void write_changed(const kept_state *from, size_t at, const void *eight) {
    kept_state s = *from;
    uint64_t hash, size[PARTS];
    memcpy(s.bytes + at, eight, 8);
    memcpy(size, s.bytes + SIZES, sizeof size);
    hash = mc_hash(0, s.bytes, HEAD);
    for (size_t k = 0, begin = HEAD; k < PARTS; begin += size[k++])
        hash = size[k] ? mc_hash(hash, s.bytes + begin, size[k]) : hash;
    memcpy(s.bytes + s.size - 8, &hash, 8);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(s.bytes, 1, s.size, file), s.size);
    fclose(file);
}

typedef struct lie {
    size_t at;
    bool real;
    double value;
} lie;

/* A fit that begins at the file. */
typedef mercer_status resume(mercer_ctx *ctx, mercer_model **out);

static void assert_all_refused(mercer_ctx *ctx, resume *fit, const lie *lies, size_t count) {
    mercer_model *model = NULL;
    assert_ok(ctx, fit(ctx, &model));
    mercer_model_free(model);
    const kept_state honest = read_state();
    for (size_t k = 0; k < count; k++) {
        const int64_t whole = lies[k].real ? 0 : (int64_t)lies[k].value;
        write_changed(&honest, lies[k].at, lies[k].real ? (const void *)&lies[k].value : (const void *)&whole);
        const mercer_status status = fit(ctx, &model);
        if (status != MERCER_FORMAT || !strstr(mercer_message(ctx), "cannot have reached"))
            fail_msg("%g at byte %zu: %s: %s", lies[k].value, lies[k].at, mercer_status_name(status),
                     mercer_message(ctx));
    }
    int64_t same;
    memcpy(&same, honest.bytes + HEAD, 8);
    write_changed(&honest, HEAD, &same);
    assert_ok(ctx, fit(ctx, &model));
    mercer_model_free(model);
    remove(path);
}

static mercer_status fit_svc(mercer_ctx *ctx, mercer_model **out) {
    static const char *const labels[] = {"a", "b", "c", "a", "b", "c", "a", "b", "c", "a"};
    static const double x[] = {0, 1, 2, 3, 4, 0.5, 1.5, 2.5, 3.5, 4.5};
    const mercer_table table = {
        .size = sizeof table, .n = 10, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_svm set = mercer_svm_defaults("svc");
    mercer_data *data = NULL;
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=1)");
    set.checkpoint = path;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    const mercer_status status = mercer_fit(ctx, "svc", &set, kernel, data, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

/* The head, then eleven numbers of each of three tasks, the multipliers, the functions. */
static void test_a_state_that_no_svc_reaches_is_refused(void **state) {
    (void)state;
    enum { TASKS = HEAD + 32, BETA = TASKS + 3 * 88 };
    static const lie lies[] = {
        /* the quadratic program, begun */
        {HEAD, false, 4},
        {HEAD, false, -1},
        {HEAD + 8, false, 2},
        {HEAD + 8, false, 1},
        /* variables, noise */
        {HEAD + 16, false, 1},
        {HEAD + 16, false, 1e15},
        {HEAD + 24, true, -1},
        {HEAD + 24, true, NAN},
        {TASKS, true, 0},
        {TASKS + 8, true, 0.5},
        {TASKS + 16, true, NAN},
        {TASKS + 24, true, 1},
        {TASKS + 64, false, -1},
        {TASKS + 72, false, 1e15},
        {TASKS + 80, false, 2}, /* steps, rounds, a flag */
        {BETA, true, 100},
        {BETA, true, -1},
        {BETA, true, NAN},
        {BETA, true, 0.123},
    };
    mercer_ctx *ctx = open_ctx(1);
    assert_all_refused(ctx, fit_svc, lies, sizeof lies / sizeof *lies);
    close_clean(ctx);
}

/* The certificate makes its own: one that swallows f would leave a gap of nothing. */
static void test_an_intercept_of_the_file_changes_no_certificate(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *honest = NULL, *swayed = NULL;
    const double huge = 1e300;
    assert_ok(ctx, fit_svc(ctx, &honest));
    const kept_state file = read_state();
    write_changed(&file, HEAD + 32 + 16, &huge);
    assert_ok(ctx, fit_svc(ctx, &swayed));
    const mercer_certificate a = mercer_model_report(honest)->certificate, b = mercer_model_report(swayed)->certificate;
    assert_true(a.primal == b.primal && a.dual == b.dual && a.primal > 0);
    mercer_model_free(honest);
    mercer_model_free(swayed);
    remove(path);
    close_clean(ctx);
}

static mercer_status fit_ridge(mercer_ctx *ctx, mercer_model **out) {
    mercer_ridge set = plain(0.1);
    set.solver = "pcg";
    set.checkpoint = path;
    const sheet s = random_sheet(20, 2, 5);
    mercer_data *data = data_of(ctx, &s);
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=1)");
    const mercer_status status = mercer_fit(ctx, "ridge", &set, kernel, data, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

/* The choices, X twice, then what conjugate gradients hold: iterations, refinements, residual, flag, curvature, column,
   three flags. */
static void test_a_state_that_no_conjugate_gradients_reach_is_refused(void **state) {
    (void)state;
    enum { X = HEAD + 40 };
    const sheet s = random_sheet(20, 2, 5);
    const size_t solution = (size_t)s.n * (size_t)(s.outputs ? s.outputs : 1) * 8, run = X + 2 * solution;
    const lie lies[] = {
        {HEAD, false, -1},     {HEAD, false, 21},      {HEAD + 8, false, 1},     {HEAD + 8, false, -1},
        {HEAD + 16, false, 2}, {HEAD + 24, false, -1}, {HEAD + 32, false, 1e15}, {X, true, INFINITY},
        {run, false, -1},      {run, false, 1e15},     {run + 8, false, -1},     {run + 16, true, NAN},
        {run + 24, false, 7},  {run + 40, false, 5},   {run + 40, false, -1},    {run + 48, false, 2},
        {run + 56, false, -1}, {run + 64, true, NAN},  {run + 88, true, NAN},
    };
    mercer_ctx *ctx = open_ctx(1);
    assert_all_refused(ctx, fit_ridge, lies, sizeof lies / sizeof *lies);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_state_that_no_svc_reaches_is_refused),
        cmocka_unit_test(test_an_intercept_of_the_file_changes_no_certificate),
        cmocka_unit_test(test_a_state_that_no_conjugate_gradients_reach_is_refused),
    };
    remove(path);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
