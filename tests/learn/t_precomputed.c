/* Kernels on other sets: a matrix that the rows carry, a function of the calling program, strings. The oracle is the
   same kernel written as an expression over the rows it was computed from. */
#include "machines_of_test.h"
#include <stdatomic.h>
#include <unistd.h>

enum { N = 40, NEW = 12, D = 3 };

/* exp(-|x - z|^2 / 2), and what it counts and does when told to. */
typedef struct gauss {
    atomic_int inside, most;
    bool fails;
    double bad; /* NaN where both points begin with this */
} gauss;

static double value(const double *x, const double *z, int64_t d) {
    double s = 0;
    for (int64_t k = 0; k < d; k++)
        s += (x[k] - z[k]) * (x[k] - z[k]);
    return exp(-s / 2);
}

static int fill(void *user, int64_t d, int64_t n, const double *x, int64_t m, const double *z, double *out) {
    gauss *g = user;
    const int inside = atomic_fetch_add(&g->inside, 1) + 1;
    if (inside > atomic_load(&g->most))
        atomic_store(&g->most, inside);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            out[i * m + j] = g->bad != 0 && x[i * d] == g->bad ? NAN : value(x + i * d, z + j * d, d);
    atomic_fetch_sub(&g->inside, 1);
    return g->fails;
}

static mercer_user_kernel user_of(gauss *g) {
    return (mercer_user_kernel){
        .size = sizeof(mercer_user_kernel), .name = "gauss", .fill = fill, .user = g, .positive = true};
}

/* Rows, new rows, and both as rows of a Gram matrix. */
typedef struct world {
    double x[N * D], z[NEW * D], K[N * (N + 1)], Kz[NEW * (N + 1)], y[N];
    const char *label[N];
    mercer_data *rows, *fresh, *matrix, *block, *classes, *matrix_classes;
} world;

static mercer_data *table(mercer_ctx *ctx, int64_t n, int64_t d, const double *values, const double *y,
                          const char *const *labels) {
    mercer_data *data = NULL;
    const mercer_table t = {.size = sizeof t,
                            .n = n,
                            .d = d,
                            .dtype = MERCER_F64,
                            .values = values,
                            .target = y,
                            .outputs = y ? 1 : 0,
                            .labels = labels};
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    return data;
}

static void fill_gram(const double *x, int64_t n, const world *w, double *K) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < N; j++)
            K[i * (N + 1) + 1 + j] = value(x + i * D, w->x + j * D, D);
}

static world *open_world(mercer_ctx *ctx) {
    static world w;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 77);
    for (int i = 0; i < N * D; i++)
        w.x[i] = mc_rng_normal(&rng);
    for (int i = 0; i < NEW * D; i++)
        w.z[i] = mc_rng_normal(&rng);
    for (int i = 0; i < N; i++) {
        w.y[i] = sin(2 * w.x[i * D]) + 0.3 * w.x[i * D + 1];
        w.label[i] = w.x[i * D] + 0.2 * w.x[i * D + 2] > 0 ? "up" : "down";
        w.K[i * (N + 1)] = i + 1;
    }
    for (int i = 0; i < NEW; i++)
        w.Kz[i * (N + 1)] = i % 2 ? -1 : 0; /* k(x,x) = 1 is known for every other row */
    fill_gram(w.x, N, &w, w.K);
    fill_gram(w.z, NEW, &w, w.Kz);
    w.rows = table(ctx, N, D, w.x, w.y, NULL);
    w.fresh = table(ctx, NEW, D, w.z, NULL, NULL);
    w.matrix = table(ctx, N, N + 1, w.K, w.y, NULL);
    w.block = table(ctx, NEW, N + 1, w.Kz, NULL, NULL);
    w.classes = table(ctx, N, D, w.x, NULL, w.label);
    w.matrix_classes = table(ctx, N, N + 1, w.K, NULL, w.label);
    return &w;
}

static void close_world(world *w) {
    mercer_data *const all[] = {w->rows, w->fresh, w->matrix, w->block, w->classes, w->matrix_classes};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mercer_data_free(all[i]);
}

static mercer_model *fit(mercer_ctx *ctx, const mercer_machine *m, const char *kernel, gauss *g,
                         const mercer_data *data) {
    static const char *const wishes[][2] = {
        {"scale", "none"}, {"learn", "no"}, {"noise", "0.1"}, {"tolerance", "1e-9"}, {0}};
    mercer_kernel *k = NULL;
    mercer_model *model = NULL;
    const mercer_user_kernel user = user_of(g);
    assert_ok(ctx, mercer_kernel_parse_with(ctx, kernel, &user, 1, &k));
    assert_ok(ctx, mercer_fit(ctx, m->name, settings_with(ctx, m, wishes), k, data, &model));
    mercer_kernel_free(k);
    return model;
}

static void predict(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out) {
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
}

static void same(const double *a, const double *b, int64_t count, double tolerance) {
    for (int64_t i = 0; i < count; i++)
        assert_close(a[i], b[i], tolerance);
}

static void test_a_matrix_and_a_function_give_every_machine_what_the_expression_gives(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    world *w = open_world(ctx);
    gauss g = {0};
    for (int i = 0; mercer_machine_at(i); i++) {
        const bool classes = mercer_machine_at(i)->target == MERCER_TARGET_CLASS;
        double a[4 * NEW], b[4 * NEW], c[4 * NEW];
        mercer_model *plain = fit(ctx, mercer_machine_at(i), "rbf(gamma=0.5)", &g, classes ? w->classes : w->rows);
        mercer_model *matrix =
            fit(ctx, mercer_machine_at(i), "precomputed", &g, classes ? w->matrix_classes : w->matrix);
        mercer_model *function = fit(ctx, mercer_machine_at(i), "user(\"gauss\")", &g, classes ? w->classes : w->rows);
        const int64_t values = NEW * mercer_model_outputs(plain);
        assert_true(values <= 4 * NEW);
        predict(ctx, plain, w->fresh, a);
        predict(ctx, matrix, w->block, b);
        predict(ctx, function, w->fresh, c);
        same(a, b, values, 1e-5);
        same(a, c, values, 1e-5);
        mercer_model_free(plain);
        mercer_model_free(matrix);
        mercer_model_free(function);
    }
    close_world(w);
    close_clean(ctx);
}

static void test_both_are_parts_of_larger_expressions(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(3);
    world *w = open_world(ctx);
    gauss g = {0};
    const mercer_user_kernel user = user_of(&g);
    static const char *const pairs[][2] = {
        {"0.5*user(\"gauss\")[1, 3] + linear[2]", "0.5*rbf(gamma=0.5)[1, 3] + linear[2]"},
        {"normalize(user(\"gauss\") + linear)^2", "normalize(rbf(gamma=0.5) + linear)^2"},
        {"user(\"gauss\")*user(\"gauss\")", "rbf(gamma=1)"}};
    for (size_t p = 0; p < 3; p++)
        for (int other = 0; other < 2; other++) {
            static double K[2][N * N];
            for (int side = 0; side < 2; side++) {
                mercer_kernel *k = NULL, *bound = NULL;
                assert_ok(ctx, mercer_kernel_parse_with(ctx, pairs[p][side], &user, 1, &k));
                assert_ok(ctx, mercer_kernel_bind(ctx, k, w->rows, &bound));
                assert_ok(ctx, mercer_gram(ctx, bound, w->rows, other ? w->fresh : NULL, K[side]));
                mercer_kernel_free(k);
                mercer_kernel_free(bound);
            }
            same(K[0], K[1], other ? N * NEW : N * N, 1e-13);
        }
    close_world(w);
    close_clean(ctx);
}

static void test_a_function_that_gives_no_number_is_an_error_that_names_the_rows(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        mercer_ctx *ctx = open_ctx(threads);
        world *w = open_world(ctx);
        static double K[N * N];
        gauss g = {.bad = w->x[7 * D]};
        const mercer_user_kernel user = user_of(&g);
        mercer_kernel *k = NULL, *b = NULL;
        assert_ok(ctx, mercer_kernel_parse_with(ctx, "2*user(\"gauss\")", &user, 1, &k));
        assert_ok(ctx, mercer_kernel_bind(ctx, k, w->rows, &b));
        assert_fails(ctx, mercer_gram(ctx, b, w->rows, w->fresh, K), MERCER_NUMERIC, "no number for row 8 and row 1");
        mercer_model *model = NULL;
        assert_fails(ctx, mercer_fit(ctx, "ridge", NULL, k, w->rows, &model), MERCER_NUMERIC, "row 8");
        g = (gauss){.fails = true};
        assert_fails(ctx, mercer_gram(ctx, b, w->rows, NULL, K), MERCER_NUMERIC, "row 1 and row 1");
        mercer_kernel_free(k);
        mercer_kernel_free(b);
        close_world(w);
        close_clean(ctx);
    }
}

static void test_calls_wait_for_each_other_where_asked_to(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(4);
    world *w = open_world(ctx);
    static double one[N * N], many[N * N];
    gauss g = {0};
    mercer_user_kernel user = user_of(&g);
    for (int serial = 0; serial < 2; serial++) {
        mercer_kernel *k = NULL;
        user.serial = serial;
        g.most = 0;
        assert_ok(ctx, mercer_kernel_parse_with(ctx, "user(\"gauss\") + user(\"gauss\")^2", &user, 1, &k));
        assert_ok(ctx, mercer_gram(ctx, k, w->rows, NULL, serial ? one : many));
        assert_true(!serial || g.most == 1);
        mercer_kernel_free(k);
    }
    assert_memory_equal(one, many, sizeof one);
    close_world(w);
    close_clean(ctx);
}

static void test_a_function_that_nobody_vouches_for_needs_consent(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    world *w = open_world(ctx);
    gauss g = {0};
    mercer_user_kernel user = user_of(&g);
    mercer_ridge set = mercer_ridge_defaults();
    mercer_kernel *k = NULL;
    mercer_model *model = NULL;
    user.positive = false;
    assert_ok(ctx, mercer_kernel_parse_with(ctx, "user(\"gauss\")", &user, 1, &k));
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, k, w->rows, &model), MERCER_NOT_A_KERNEL,
                 "neither proved nor refuted");
    set.allow_indefinite = true;
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, k, w->rows, &model));
    assert_true(isinf(mercer_model_report(model)->certificate.prediction_error_bound));
    mercer_model_free(model);
    mercer_kernel_free(k);
    assert_fails(ctx, mercer_kernel_parse(ctx, "user(\"gauss\")", &k), MERCER_SYNTAX, "no function 'gauss'");
    close_world(w);
    close_clean(ctx);
}

static void test_models_are_saved_and_loaded_with_the_function_at_hand(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    world *w = open_world(ctx);
    gauss g = {0};
    const mercer_user_kernel user = user_of(&g);
    double a[NEW], b[NEW];
    char path[] = "/tmp/mercer-given-XXXXXX";
    close(mkstemp(path));
    static const char *const kernels[] = {"user(\"gauss\")[1:3]", "precomputed"};
    for (int i = 0; i < 2; i++) {
        mercer_model *model = fit(ctx, mercer_machine_find("ridge"), kernels[i], &g, i ? w->matrix : w->rows),
                     *again = NULL;
        predict(ctx, model, i ? w->block : w->fresh, a);
        assert_ok(ctx, mercer_model_save(ctx, model, path));
        if (i == 0)
            assert_fails(ctx, mercer_model_load(ctx, path, &again), MERCER_INVALID, "mercer_model_load_with");
        assert_ok(ctx, mercer_model_load_with(ctx, path, &user, 1, &again));
        predict(ctx, again, i ? w->block : w->fresh, b);
        assert_memory_equal(a, b, sizeof a);
        mercer_model_free(model);
        mercer_model_free(again);
    }
    unlink(path);
    close_world(w);
    close_clean(ctx);
}

static void refused(mercer_ctx *ctx, const mercer_machine *machine, const double *K, mercer_status status,
                    const char *words) {
    static const double y[N] = {1, 2, 3};
    mercer_data *data = table(ctx, N, N + 1, K, y, NULL);
    mercer_kernel *k = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "precomputed", &k));
    assert_fails(ctx, mercer_fit(ctx, machine->name, NULL, k, data, &model), status, words);
    mercer_kernel_free(k);
    mercer_data_free(data);
}

static void test_a_matrix_that_is_no_gram_matrix_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    world *w = open_world(ctx);
    const mercer_machine *ridge = mercer_machine_find("ridge"), *gp = mercer_machine_find("gp");
    double *K = w->K;
    K[2 * (N + 1) + 5] += 1;
    refused(ctx, ridge, K, MERCER_DATA, "not symmetric: K(5, 3)");
    K[4 * (N + 1) + 3] += 1;
    refused(ctx, ridge, K, MERCER_NOT_A_KERNEL, "smallest eigenvalue is -");
    refused(ctx, gp, K, MERCER_NOT_A_KERNEL, "*white to the kernel");
    K[3 * (N + 1)] = N + 1;
    refused(ctx, ridge, K, MERCER_DATA, "row 4 has the serial number 41");
    K[3 * (N + 1)] = 1.5;
    refused(ctx, ridge, K, MERCER_DATA, "row 4 has the serial number 1.5");
    close_world(w);
    close_clean(ctx);
}

/* Rows taken from a matrix keep their numbers: the others are predicted from the same columns. */
static void test_rows_of_a_matrix_can_be_split(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    world *w = open_world(ctx);
    gauss g = {0};
    int64_t some[N / 2], others[N / 2];
    double a[N / 2], b[N / 2];
    for (int64_t i = 0; i < N / 2; i++) {
        some[i] = N - 1 - 2 * i;
        others[i] = 2 * i;
    }
    for (int side = 0; side < 2; side++) {
        mercer_data *train = NULL, *test = NULL;
        const mercer_data *from = side ? w->matrix : w->rows;
        assert_ok(ctx, mercer_data_take(ctx, from, some, N / 2, &train));
        assert_ok(ctx, mercer_data_take(ctx, from, others, N / 2, &test));
        mercer_model *model = fit(ctx, mercer_machine_find("svr"), side ? "precomputed" : "rbf(gamma=0.5)", &g, train);
        predict(ctx, model, test, side ? b : a);
        mercer_model_free(model);
        mercer_data_free(train);
        mercer_data_free(test);
    }
    same(a, b, N / 2, 1e-7);
    close_world(w);
    close_clean(ctx);
}

/* Deviations need k(x,x), which a row of a test block may carry. */
static void test_deviations_need_the_value_of_a_row_with_itself(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    world *w = open_world(ctx);
    gauss g = {0};
    double a[NEW], b[NEW];
    for (int side = 0; side < 2; side++) {
        mercer_model *model = fit(ctx, mercer_machine_find("gp"), side ? "precomputed" : "rbf(gamma=0.5)", &g,
                                  side ? w->matrix : w->rows);
        mercer_posterior *posterior = NULL;
        assert_ok(ctx, mercer_posterior_open(ctx, model, &posterior));
        if (side)
            assert_fails(ctx, mercer_posterior_std(ctx, posterior, w->block, b), MERCER_DATA,
                         "k(x,x) of row 1 is not known");
        for (int i = 0; i < NEW; i++)
            w->Kz[i * (N + 1)] = -1;
        mercer_data *known = table(ctx, NEW, N + 1, w->Kz, NULL, NULL);
        assert_ok(ctx, mercer_posterior_std(ctx, posterior, side ? known : w->fresh, side ? b : a));
        mercer_data_free(known);
        mercer_posterior_free(posterior);
        mercer_model_free(model);
    }
    same(a, b, NEW, 1e-9);
    close_world(w);
    close_clean(ctx);
}

/* ---- Strings ---- */

enum { LONGEST = 24 };

/* Random strings of 9 to LONGEST bytes over few letters, one of them not ASCII, and tables around them. */
typedef struct strings {
    char bytes[N + NEW][LONGEST + 3];
    const char *text[N + NEW], *name[1];
    double y[N], x[(N + NEW) * 2];
    mercer_data *train, *test;
} strings;

static mercer_data *words(mercer_ctx *ctx, const strings *s, int64_t from, int64_t n, bool target) {
    mercer_data *data = NULL;
    const mercer_table t = {.size = sizeof t,
                            .n = n,
                            .d = 2,
                            .dtype = MERCER_F64,
                            .values = s->x + 2 * from,
                            .target = target ? s->y : NULL,
                            .outputs = target,
                            .text = s->text + from,
                            .texts = 1,
                            .text_names = s->name};
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    return data;
}

static strings *open_strings(mercer_ctx *ctx) {
    static strings s;
    static const char *const letters[] = {"A", "C", "G", "\xc3\xa9"};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 99);
    for (int i = 0; i < N + NEW; i++) {
        s.bytes[i][0] = '\0';
        for (int64_t length = 9 + mc_rng_below(&rng, LONGEST - 9); (int64_t)strlen(s.bytes[i]) < length;)
            strcat(s.bytes[i], letters[mc_rng_below(&rng, 4)]);
        s.text[i] = s.bytes[i];
        s.x[2 * i] = mc_rng_normal(&rng);
        s.x[2 * i + 1] = mc_rng_normal(&rng);
    }
    for (int i = 0; i < N; i++)
        s.y[i] = s.x[2 * i] + (double)strlen(s.bytes[i]) / 10;
    s.name[0] = "word";
    s.train = words(ctx, &s, 0, N, true);
    s.test = words(ctx, &s, N, NEW, false);
    return &s;
}

static void close_strings(strings *s) {
    mercer_data_free(s->train);
    mercer_data_free(s->test);
}

/* By the definition: over the parts of x, how often each occurs in z. */
static double shared_parts(const char *x, const char *z, size_t p) {
    double sum = 0;
    for (size_t i = 0; i + p <= strlen(x); i++)
        for (size_t j = 0; j + p <= strlen(z); j++)
            sum += strncmp(x + i, z + j, p) == 0;
    return sum;
}

static void test_spectrum_counts_the_parts_that_two_strings_share(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(3);
    strings *s = open_strings(ctx);
    static double K[N * N];
    for (int p = 1; p <= 9; p += 2) {
        char text[64];
        mercer_kernel *k = NULL, *bound = NULL;
        snprintf(text, sizeof text, "spectrum(p=%d)[word]", p);
        assert_ok(ctx, mercer_kernel_parse(ctx, text, &k));
        assert_string_equal(mercer_kernel_text(k), text);
        assert_ok(ctx, mercer_kernel_bind(ctx, k, s->train, &bound));
        assert_ok(ctx, mercer_gram(ctx, bound, s->train, NULL, K));
        for (int i = 0; i < N * N; i++)
            assert_true(K[i] == shared_parts(s->text[i / N], s->text[i % N], (size_t)p));
        assert_ok(ctx, mercer_gram(ctx, bound, s->test, s->train, K));
        for (int i = 0; i < NEW * N; i++)
            assert_true(K[i] == shared_parts(s->text[N + i / N], s->text[i % N], (size_t)p));
        mercer_kernel_free(k);
        mercer_kernel_free(bound);
    }
    close_strings(s);
    close_clean(ctx);
}

/* Normalised, mixed with numbers, saved and loaded: each machine gives what the same values as a matrix give. */
static void test_strings_serve_every_machine(void **state) {
    (void)state;
    static const char mixed[] = "rbf(gamma=0.5)[1:2] + 0.3*normalize(spectrum(p=3)[word])";
    mercer_ctx *ctx = open_ctx(2);
    strings *s = open_strings(ctx);
    static double K[N * N], Z[NEW * N], rows[N * (N + 1)], block[NEW * (N + 1)];
    gauss g = {0};
    mercer_kernel *k = NULL, *bound = NULL;
    char path[] = "/tmp/mercer-words-XXXXXX";
    close(mkstemp(path));
    assert_ok(ctx, mercer_kernel_parse(ctx, mixed, &k));
    assert_ok(ctx, mercer_kernel_bind(ctx, k, s->train, &bound));
    assert_ok(ctx, mercer_gram(ctx, bound, s->train, NULL, K));
    assert_ok(ctx, mercer_gram(ctx, bound, s->test, s->train, Z));
    for (int i = 0; i < N; i++) {
        rows[i * (N + 1)] = i + 1;
        memcpy(rows + i * (N + 1) + 1, K + i * N, N * sizeof *K);
    }
    for (int i = 0; i < NEW; i++)
        memcpy(block + i * (N + 1) + 1, Z + i * N, N * sizeof *Z);
    mercer_data *matrix = table(ctx, N, N + 1, rows, s->y, NULL), *rest = table(ctx, NEW, N + 1, block, NULL, NULL);
    static const char *const machines[] = {"ridge", "lms", "svr", "huber", "pca", "knn", "gp"};
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
        const mercer_machine *machine = mercer_machine_find(machines[m]);
        mercer_model *model = fit(ctx, machine, mixed, &g, s->train),
                     *other = fit(ctx, machine, "precomputed", &g, matrix), *again = NULL;
        double a[2 * NEW], b[2 * NEW], c[2 * NEW];
        const int64_t values = NEW * mercer_model_outputs(model);
        assert_ok(ctx, mercer_model_save(ctx, model, path));
        assert_ok(ctx, mercer_model_load(ctx, path, &again));
        predict(ctx, model, s->test, a);
        predict(ctx, other, rest, b);
        predict(ctx, again, s->test, c);
        same(a, b, values, 1e-6);
        assert_memory_equal(a, c, (size_t)values * sizeof *a);
        mercer_model *const models[] = {model, other, again};
        for (int i = 0; i < 3; i++)
            mercer_model_free(models[i]);
    }
    unlink(path);
    mercer_data_free(matrix);
    mercer_data_free(rest);
    mercer_kernel_free(k);
    mercer_kernel_free(bound);
    close_strings(s);
    close_clean(ctx);
}

static void test_what_spectrum_cannot_read_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    strings *s = open_strings(ctx);
    mercer_kernel *k = NULL, *bound = NULL;
    double out = 0;
    assert_fails(ctx, mercer_kernel_parse(ctx, "spectrum(p=1.5)[word]", &k), MERCER_SYNTAX, "whole number");
    assert_fails(ctx, mercer_kernel_parse(ctx, "spectrum(p=2)[word, other]", &k), MERCER_SYNTAX, "one column of text");
    assert_fails(ctx, mercer_kernel_parse(ctx, "(spectrum(p=2) + linear)[word]", &k), MERCER_SYNTAX,
                 "give each its own");
    assert_ok(ctx, mercer_kernel_parse(ctx, "spectrum(p=2)[words]", &k));
    assert_fails(ctx, mercer_kernel_bind(ctx, k, s->train, &bound), MERCER_DATA, "no text column 'words'");
    mercer_kernel_free(k);
    assert_ok(ctx, mercer_kernel_parse(ctx, "spectrum(p=12)", &k)); /* the only text there is */
    assert_ok(ctx, mercer_kernel_bind(ctx, k, s->train, &bound));
    assert_string_equal(mercer_kernel_text(bound), "spectrum(p=12)[word]");
    assert_fails(ctx, mercer_kernel_value(ctx, bound, s->x, s->x, 2, &out), MERCER_INVALID, "mercer_gram");
    mercer_kernel_free(k);
    mercer_kernel_free(bound);
    close_strings(s);
    close_clean(ctx);
}

static mercer_status fit_strings(mercer_ctx *ctx, void *arg) {
    const strings *s = arg;
    double out[NEW];
    mercer_kernel *k = NULL;
    mercer_model *model = NULL, *next = NULL;
    mercer_status status = mercer_kernel_parse(ctx, "rbf[1:2] + spectrum(p=3)[word]", &k);
    if (!status)
        status = mercer_fit(ctx, "ridge", NULL, k, s->train, &model);
    if (!status)
        status = mercer_predict(ctx, model, s->test, out);
    if (!status)
        status = mercer_model_update(ctx, model, s->train, NULL, &next);
    mercer_model_free(model);
    mercer_model_free(next);
    mercer_kernel_free(k);
    return status;
}

static mercer_status fit_and_predict(mercer_ctx *ctx, void *arg) {
    world *w = arg;
    gauss g = {0};
    double out[NEW];
    const mercer_user_kernel user = user_of(&g);
    mercer_kernel *k = NULL, *p = NULL;
    mercer_model *model = NULL, *other = NULL;
    mercer_status status = mercer_kernel_parse_with(ctx, "user(\"gauss\")", &user, 1, &k);
    if (!status)
        status = mercer_kernel_parse(ctx, "precomputed", &p);
    if (!status)
        status = mercer_fit(ctx, "ridge", NULL, k, w->rows, &model);
    if (!status)
        status = mercer_fit(ctx, "ridge", NULL, p, w->matrix, &other);
    if (!status)
        status = mercer_predict(ctx, model, w->fresh, out);
    mercer_model_free(model);
    mercer_model_free(other);
    mercer_kernel_free(k);
    mercer_kernel_free(p);
    return status;
}

static void test_nothing_is_left_when_memory_ends(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    world *w = open_world(ctx);
    strings *s = open_strings(ctx);
    assert_survives_failing_memory(fit_and_predict, w);
    assert_survives_failing_memory(fit_strings, s);
    close_strings(s);
    close_world(w);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_matrix_and_a_function_give_every_machine_what_the_expression_gives),
        cmocka_unit_test(test_both_are_parts_of_larger_expressions),
        cmocka_unit_test(test_a_function_that_gives_no_number_is_an_error_that_names_the_rows),
        cmocka_unit_test(test_calls_wait_for_each_other_where_asked_to),
        cmocka_unit_test(test_a_function_that_nobody_vouches_for_needs_consent),
        cmocka_unit_test(test_models_are_saved_and_loaded_with_the_function_at_hand),
        cmocka_unit_test(test_a_matrix_that_is_no_gram_matrix_is_refused),
        cmocka_unit_test(test_rows_of_a_matrix_can_be_split),
        cmocka_unit_test(test_deviations_need_the_value_of_a_row_with_itself),
        cmocka_unit_test(test_spectrum_counts_the_parts_that_two_strings_share),
        cmocka_unit_test(test_strings_serve_every_machine),
        cmocka_unit_test(test_what_spectrum_cannot_read_is_refused),
        cmocka_unit_test(test_nothing_is_left_when_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
