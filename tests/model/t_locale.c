/* A program with a decimal comma in its locale gets the same files, expressions and messages as any other. */
#include "base/rng.h"
#include "support.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 30, ROOM = 1 << 20 };

typedef struct record {
    char *bytes;
    size_t size;
} record;

static void note(record *r, const void *bytes, size_t size) {
    assert_true(r->size + size < ROOM);
    memcpy(r->bytes + r->size, bytes, size);
    r->size += size;
}

static void note_text(record *r, const char *text) {
    note(r, text, strlen(text) + 1);
}

static void note_file(record *r, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    r->size += fread(r->bytes + r->size, 1, ROOM - r->size, file);
    assert_true(r->size < ROOM);
    fclose(file);
}

static mercer_data *rows(mercer_ctx *ctx, bool classes) {
    double x[2 * N], y[N];
    const char *label[N];
    mercer_data *data = NULL;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    for (int i = 0; i < N; i++) {
        x[2 * i] = 1 + mc_rng_uniform(&rng);
        x[2 * i + 1] = mc_rng_normal(&rng);
        y[i] = x[2 * i] * 0.3 + sin(x[2 * i + 1]);
        label[i] = y[i] > 0.5 ? "1" : "-1";
    }
    const mercer_table t = {.size = sizeof t,
                            .n = N,
                            .d = 2,
                            .dtype = MERCER_F64,
                            .values = x,
                            .target = classes ? NULL : y,
                            .outputs = classes ? 0 : 1,
                            .labels = classes ? label : NULL};
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    return data;
}

static void note_exports(mercer_ctx *ctx, record *r, const mercer_model *model, const char *path) {
    static const char *const formats[] = {"c", "c-float", "libsvm", "onnx", "onnx-double"};
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++)
        if (mercer_model_export(ctx, model, formats[k], path))
            note_text(r, mercer_message(ctx));
        else
            note_file(r, path);
    if (mercer_model_export(ctx, model, "libsvm", path))
        return;
    mercer_model *again = NULL; /* LIBSVM's text becomes an expression of ours */
    assert_ok(ctx, mercer_model_load(ctx, path, &again));
    note_text(r, mercer_kernel_text(mercer_model_kernel(again)));
    mercer_model_free(again);
}

static void note_machine(mercer_ctx *ctx, record *r, const char *machine, const char *kernel_text,
                         const mercer_data *data, const char *path) {
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL, *again = NULL;
    const mercer_machine *m = mercer_machine_find(machine);
    void *settings = settings_with(ctx, m, (const char *const[][2]){{"scale", "none"}, {0}});
    assert_ok(ctx, mercer_kernel_parse(ctx, kernel_text, &kernel));
    assert_ok(ctx, mercer_fit(ctx, m->name, settings, kernel, data, &model));
    note_text(r, mercer_kernel_text(mercer_model_kernel(model)));
    assert_ok(ctx, mercer_model_save(ctx, model, path));
    note_file(r, path);
    assert_ok(ctx, mercer_model_load(ctx, path, &again));
    mercer_model_free(again);
    note_exports(ctx, r, model, path);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
}

static void note_failures(mercer_ctx *ctx, record *r, const mercer_data *data) {
    mercer_kernel *kernel = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    mercer_model *model = NULL;
    set.lambda = -0.25;
    assert_int_equal(mercer_kernel_parse(ctx, "rbf(gamma=-1.5)", &kernel), MERCER_SYNTAX);
    note_text(r, mercer_message(ctx));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1.5)", &kernel));
    assert_true(mercer_fit(ctx, "ridge", &set, kernel, data, &model) != MERCER_OK);
    note_text(r, mercer_message(ctx));
    mercer_kernel_free(kernel);
}

static void note_search(mercer_ctx *ctx, record *r, const mercer_data *data, const char *path) {
    mercer_tune set = mercer_tune_defaults();
    mercer_search *search = NULL;
    set.journal = path;
    set.points = 3;
    unlink(path);
    assert_ok(ctx, mercer_tune_run(ctx, "ridge", NULL, &set, data, &search));
    for (int64_t i = 0; i < mercer_search_count(search); i++) {
        note_text(r, mercer_search_candidate(search, i).kernel);
        note_text(r, mercer_search_candidate(search, i).settings);
    }
    note_file(r, path);
    mercer_search_free(search);
}

static void note_all(record *r, const char *path) {
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *numbers = rows(ctx, false), *classes = rows(ctx, true);
    note_machine(ctx, r, "svc", "rbf(gamma=0.25)", classes, path);
    note_machine(ctx, r, "svr", "poly(degree=3, c=0.5, gamma=0.125)", numbers, path);
    note_machine(ctx, r, "ridge",
                 "0.5*rbf(gamma=[0.25, 1.5]) + weigh(log(x[1] + 0.5), matern(nu=1.5)) + 0.125*rq(alpha=1.5)", numbers,
                 path);
    note_machine(ctx, r, "gp", "rbf(sigma=0.75) + exp(0.25*linear) + periodic(period=1.5, length_scale=0.5)", numbers,
                 path);
    note_failures(ctx, r, numbers);
    note_search(ctx, r, numbers, path);
    mercer_data_free(numbers);
    mercer_data_free(classes);
    close_clean(ctx);
}

static void test_nothing_written_depends_on_the_locale(void **state) {
    (void)state;
    record plain = {.bytes = malloc(ROOM)}, comma = {.bytes = malloc(ROOM)};
    char path[] = "/tmp/mercer-locale-XXXXXX"; /* one for both: functions of an export are named after it */
    close(mkstemp(path));
    note_all(&plain, path);
    if (set_decimal_comma()) {
        char here[32];
        snprintf(here, sizeof here, "%.1f", 0.5);
        assert_string_equal(here, "0,5"); /* so that this test can fail */
        note_all(&comma, path);
        assert_string_equal(localeconv()->decimal_point, ","); /* the program's own is as it was */
        setlocale(LC_ALL, "C");
        size_t k = 0;
        while (k < plain.size && k < comma.size && plain.bytes[k] == comma.bytes[k])
            k++;
        if (plain.size != comma.size || k < plain.size)
            fail_msg("with a decimal comma byte %zu differs: '%.60s' became '%.60s'", k,
                     plain.bytes + (k > 30 ? k - 30 : 0), comma.bytes + (k > 30 ? k - 30 : 0));
    }
    unlink(path);
    free(plain.bytes);
    free(comma.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_written_depends_on_the_locale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
