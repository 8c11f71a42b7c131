/* Conjugate gradients against the factorisation, stopped, killed and resumed. */
#include "base/ctx.h"
#include "base/rng.h"
#include "learn/ridge/ridge_system.h"
#include "model/model.h"
#include "linalg/eigen.h"
#include "support.h"
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 400, WIDE = 3, MOST_OUTPUTS = 40 };

/* Data of MANY rows; classes: a third of the rows each. */
static mercer_data *table_of(mercer_ctx *ctx, int64_t n, int64_t outputs, bool weighted, bool classes) {
    static double x[MANY * WIDE], y[MANY * MOST_OUTPUTS], w[MANY];
    static const char *label[MANY];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 70);
    for (int64_t i = 0; i < n * WIDE; i++)
        x[i] = mc_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++) {
        w[i] = i % 11 ? 0.2 + 3 * mc_rng_uniform(&rng) : 0;
        label[i] = x[i * WIDE] > 0.4 ? "high" : x[i * WIDE] < -0.4 ? "low" : "middle";
        for (int64_t k = 0; k < outputs; k++)
            y[i * outputs + k] = sin(2 * x[i * WIDE] + (double)k) + 0.1 * mc_rng_normal(&rng) + 5;
    }
    mercer_table table = {.size = sizeof table, .n = n, .d = WIDE, .dtype = MERCER_F64, .values = x};
    if (classes) {
        table.labels = label;
    } else {
        table.target = y;
        table.outputs = outputs;
    }
    table.weights = weighted ? w : NULL;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_ridge settings_of(const char *solver, double lambda) {
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = lambda;
    set.scale = "none";
    set.solver = solver;
    return set;
}

static mercer_model *fit_table(mercer_ctx *ctx, const mercer_data *data, const char *text, const mercer_ridge *set) {
    return fit_model(ctx, "ridge", set, text, data);
}

static void test_it_agrees_with_the_factorisation(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 8; variant++) {
        const bool weighted = variant & 1, intercept = variant & 2, classes = variant & 4;
        mercer_data *data = table_of(ctx, 200, 3, weighted, classes);
        mercer_ridge direct = settings_of("cholesky", 0.05), steps = settings_of("pcg", 0.05);
        direct.intercept = steps.intercept = intercept;
        steps.tolerance = 1e-10;
        mercer_model *a = fit_table(ctx, data, "rbf(gamma=0.7)", &direct),
                     *b = fit_table(ctx, data, "rbf(gamma=0.7)", &steps);
        const mercer_report *report = mercer_model_report(b);
        assert_string_equal(report->solver, "pcg");
        assert_string_equal(report->stopped, "no");
        assert_true(report->certificate.residual_relative <= 2e-10);
        assert_true(report->iterations > 0 && report->iterations <= report->iteration_bound);
        assert_true(report->rank > 10 && report->rank <= 142);
        for (int64_t i = 0; i < mercer_model_centres(a) * 3; i++)
            assert_close(a->f.alpha[i], b->f.alpha[i], 2e-6);
        for (int k = 0; k < 3; k++)
            assert_close(a->f.intercept[k], b->f.intercept[k], 1e-7);
        assert_close(report->objective, mercer_model_report(a)->objective, 1e-8);
        mercer_model_free(a);
        mercer_model_free(b);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_more_outputs_than_a_batch_and_columns_worth_storing(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static double wide[150 * 60];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 71);
    for (int i = 0; i < 150 * 60; i++)
        wide[i] = mc_rng_normal(&rng);
    static double y[150 * MOST_OUTPUTS];
    for (int i = 0; i < 150 * MOST_OUTPUTS; i++)
        y[i] = mc_rng_normal(&rng);
    /* few: the check reads the K that was kept */
    for (int64_t outputs = 3; outputs <= MOST_OUTPUTS; outputs += MOST_OUTPUTS - 3) {
        const mercer_table table = {.size = sizeof table,
                                    .n = 150,
                                    .d = 60,
                                    .dtype = MERCER_F64,
                                    .values = wide,
                                    .target = y,
                                    .outputs = outputs};
        mercer_data *data = NULL;
        assert_ok(ctx, mercer_data_make(ctx, &table, &data));
        mercer_ridge direct = settings_of("cholesky", 0.5), steps = settings_of("pcg", 0.5);
        direct.intercept = steps.intercept = true;
        steps.tolerance = 1e-11;
        mercer_model *a = fit_table(ctx, data, "rbf(gamma=0.01)", &direct),
                     *b = fit_table(ctx, data, "rbf(gamma=0.01)", &steps);
        for (int64_t i = 0; i < 150 * outputs; i++)
            assert_close(a->f.alpha[i], b->f.alpha[i], 1e-8);
        const mercer_report *report = mercer_model_report(b);
        assert_true(report->certificate.residual_relative < 2e-9 && report->certificate.residual_relative > 0);
        assert_close(report->objective, mercer_model_report(a)->objective, 1e-9);
        mercer_model_free(a);
        mercer_model_free(b);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    mercer_model *models[2];
    mercer_ctx *ctxs[2];
    for (int i = 0; i < 2; i++) {
        ctxs[i] = open_ctx(i ? 5 : 1);
        mercer_data *data = table_of(ctxs[i], 300, 2, true, false);
        const mercer_ridge set = settings_of("pcg", 1e-3);
        models[i] = fit_table(ctxs[i], data, "rbf(gamma=2)", &set);
        mercer_data_free(data);
    }
    assert_int_equal(mercer_model_report(models[0])->rank, mercer_model_report(models[1])->rank);
    assert_memory_equal(models[0]->f.alpha, models[1]->f.alpha,
                        (size_t)mercer_model_centres(models[0]) * 2 * sizeof(double));
    for (int i = 0; i < 2; i++) {
        mercer_model_free(models[i]);
        close_clean(ctxs[i]);
    }
}

static void test_what_it_cannot_do_is_said(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table_of(ctx, 50, 1, false, false);
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &kernel));
    mercer_ridge set = settings_of("pcg", 0);
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "lambda > 0");
    set = settings_of("pcg", 1);
    set.loo = true;
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "leave-one-out");
    set.loo = false;
    set.tolerance = NAN;
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "tolerance");
    assert_null(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* A tolerance below rounding ends with what double precision gives, and says so. */
static void test_a_tolerance_below_rounding_is_admitted(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_of(ctx, 100, 1, false, false);
    mercer_ridge set = settings_of("pcg", 1e-7);
    set.tolerance = 1e-14;
    mercer_model *model = fit_table(ctx, data, "rbf(gamma=0.05)", &set);
    assert_string_equal(mercer_model_report(model)->stopped, "precision");
    assert_true(mercer_model_report(model)->certificate.residual_relative > 1e-14);
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

/* The lambda that the message of a refusal names. */
static double lambda_named(const mercer_ctx *ctx) {
    const char *at = strstr(mercer_message(ctx), "lambda >= ");
    assert_non_null(at);
    return strtod(at + strlen("lambda >= "), NULL);
}

/* Differences of kernels whose negative eigenvalues are far below the entries, so that steps find them late: refused as
   indefinite, with a lambda that then works; where lambda lifts the spectrum, solved. */
static void test_an_indefinite_matrix_is_named_however_late_it_shows(void **state) {
    (void)state;
    static const char *const texts[] = {"rbf(gamma=1) - 0.001*rbf(gamma=20)", "rbf(gamma=0.05) - 0.00002*rbf(gamma=20)",
                                        "rbf(gamma=0.05) - 0.000002*rbf(gamma=2)"};
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 6; variant++) {
        mercer_data *data = table_of(ctx, 200, 1, false, false);
        mercer_kernel *kernel = NULL;
        mercer_model *model = NULL;
        static double K[200 * 200], w[200];
        assert_ok(ctx, mercer_kernel_parse(ctx, texts[variant / 2], &kernel));
        assert_ok(ctx, mercer_gram(ctx, kernel, data, NULL, K));
        assert_ok(ctx, mc_syevd(ctx, mc_column_major(K, 200, 200, 200), w));
        const double low = w[0];
        mercer_ridge set = settings_of("pcg", variant % 2 ? -0.5 * low : -1e-3 * low);
        assert_true(low < 0);
        set.allow_indefinite = true;
        assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_NUMERIC,
                     "K + lambda I is not positive definite");
        set.lambda = lambda_named(ctx);
        assert_true(set.lambda > -low && set.lambda < -8 * low);
        assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* A proved kernel with lambda below the rounding of floats is solved in double, never called indefinite. */
static void test_lambda_below_the_rounding_of_floats(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_of(ctx, 200, 1, false, false);
    mercer_ridge set = settings_of("pcg", 3e-7);
    set.tolerance = 1e-5;
    mercer_model *model = fit_table(ctx, data, "rbf(gamma=0.2)", &set);
    assert_string_equal(mercer_model_report(model)->stopped, "no");
    assert_true(mercer_model_report(model)->certificate.residual_relative <= 1.1e-5);
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Stopping ---- */

static int stop_in_phase(void *user, const mercer_progress *p) {
    return strcmp(p->phase, user) == 0;
}

/* So that stops and kills find a fit at work, however fast the machine. */
static void log_slowly(void *user, const char *line) {
    const struct timespec wait = {.tv_nsec = *(const long *)user * 1000000};
    if (strncmp(line, "pcg ", 4) == 0)
        nanosleep(&wait, NULL);
}

static void fit_stopped(mercer_options options, const char *stopped) {
    mercer_ctx *owner = open_ctx(1), *ctx = NULL;
    options.threads = 2;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_data *data = table_of(owner, 300, 1, false, false);
    mercer_ridge set = settings_of("pcg", 1e-4);
    set.tolerance = 1e-13;
    set.rank = 4; /* hundreds of steps */
    set.intercept = true;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_status status;
    assert_ok(owner, mercer_kernel_parse(owner, "rbf(gamma=4)", &kernel));
    while ((status = mercer_fit(ctx, "ridge", &set, kernel, data, &model)) == MERCER_TIME)
        ctx->options.time_limit *= 2; /* a busy machine may not come to the first step */
    assert_ok(ctx, status);
    mercer_kernel_free(kernel);
    const mercer_report *report = mercer_model_report(model);
    assert_string_equal(report->stopped, stopped);
    assert_true(report->certificate.residual_relative > 1e-13 && isfinite(report->certificate.residual_relative));
    double out[300];
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
    for (int i = 0; i < 300; i++)
        assert_true(isfinite(out[i]));
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
    close_clean(owner);
}

static void test_a_stop_returns_the_best_iterate_with_its_certificate(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    long milliseconds = 20;
    options.log = log_slowly;
    options.log_user = &milliseconds;
    options.time_limit = 0.4;
    fit_stopped(options, "time");
    options.time_limit = 0;
    options.progress = stop_in_phase;
    options.progress_user = (void *)(uintptr_t) "solve";
    fit_stopped(options, "caller");
}

/* ---- Checkpoints ---- */

/* Names in a folder of the test's own, which goes away with it, pieces left by the killed included. */
static char folder[256];

static const char *scratch(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%s/mercer-pcg-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        if (*entry->d_name != '.')
            unlink(scratch(entry->d_name));
    closedir(open);
    return rmdir(folder);
}

static void write_bytes(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static size_t read_bytes(const char *path, char *bytes, size_t capacity) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    return size;
}

static void test_a_checkpoint_of_another_fit_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table_of(ctx, 200, 1, false, false), *other = table_of(ctx, 199, 1, false, false);
    mercer_ridge set = settings_of("pcg", 0.1);
    const char *path = set.checkpoint = scratch("other");
    mercer_model *first = fit_table(ctx, data, "rbf(gamma=1)", &set),
                 *again = fit_table(ctx, data, "rbf(gamma=1)", &set), *none = NULL;
    assert_memory_equal(first->f.alpha, again->f.alpha, 200 * sizeof(double)); /* a finished one is finished again */
    assert_int_equal(mercer_model_report(first)->iterations, mercer_model_report(again)->iterations);
    mercer_kernel *same = NULL, *changed = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1)", &same));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1.5)", &changed));
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, changed, data, &none), MERCER_INVALID, "another fit");
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, same, other, &none), MERCER_INVALID, "another fit");
    set.lambda = 0.2;
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, same, data, &none), MERCER_INVALID, "another fit");
    set.lambda = 0.1;
    static char bytes[1 << 20];
    const size_t size = read_bytes(path, bytes, sizeof bytes);
    for (size_t k = 8; k < size; k += size / 7) { /* any byte changed, any length cut */
        bytes[k] ^= 4;
        write_bytes(path, bytes, size);
        bytes[k] ^= 4;
        const mercer_status status = mercer_fit(ctx, "ridge", &set, same, data, &none);
        assert_true(status == MERCER_FORMAT || status == MERCER_INVALID);
        write_bytes(path, bytes, k);
        assert_fails(ctx, mercer_fit(ctx, "ridge", &set, same, data, &none), MERCER_FORMAT, path);
    }
    write_bytes(path, "a letter to my aunt, and a long one at that, with news of everybody in town", 75);
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, same, data, &none), MERCER_FORMAT, "not a checkpoint");
    set.checkpoint = "/nowhere/at/all";
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, same, data, &none), MERCER_IO, "/nowhere/at/all");
    mercer_model_free(first);
    mercer_model_free(again);
    mercer_kernel_free(same);
    mercer_kernel_free(changed);
    mercer_data_free(data);
    mercer_data_free(other);
    close_clean(ctx);
}

/* Stopped by the clock again and again, taken up each time. */
static void test_a_fit_in_pieces_has_the_bits_of_a_whole_one(void **state) {
    (void)state;
    mercer_ctx *owner = open_ctx(2);
    mercer_data *data = table_of(owner, 250, 2, true, false);
    mercer_ridge set = settings_of("pcg", 0.02);
    set.tolerance = 1e-10;
    set.rank = 20;
    set.intercept = true;
    mercer_model *whole = fit_table(owner, data, "rbf(gamma=1)", &set), *part = NULL;
    mercer_kernel *kernel = NULL;
    assert_ok(owner, mercer_kernel_parse(owner, "rbf(gamma=1)", &kernel));
    set.checkpoint = scratch("pieces");
    int pieces = 0;
    for (bool done = false; !done; pieces++) {
        mercer_options options = mercer_options_defaults();
        long milliseconds = 10;
        options.log = log_slowly;
        options.log_user = &milliseconds;
        options.time_limit = pieces < 5 ? 0.15 : 0;
        options.threads = 1 + pieces % 3;
        mercer_ctx *ctx = NULL;
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        mercer_model_free(part);
        part = NULL;
        const mercer_status status = mercer_fit(ctx, "ridge", &set, kernel, data, &part);
        /* the second: before the first step */
        assert_true(status == MERCER_OK || (status == MERCER_TIME && pieces < 5));
        done = !status && strcmp(mercer_model_report(part)->stopped, "no") == 0;
        mercer_close(ctx);
    }
    mercer_kernel_free(kernel);
    assert_true(pieces > 1);
    assert_memory_equal(whole->f.alpha, part->f.alpha, (size_t)mercer_model_centres(whole) * 2 * sizeof(double));
    assert_int_equal(mercer_model_report(whole)->iterations, mercer_model_report(part)->iterations);
    mercer_model_free(whole);
    mercer_model_free(part);
    mercer_data_free(data);
    close_clean(owner);
}

static mercer_ridge long_settings(void) {
    mercer_ridge set = settings_of("pcg", 0.02);
    set.tolerance = 1e-11;
    set.rank = 8;
    return set;
}

/* The whole program of a process that will be killed: fit with the checkpoint, save the model. */
static int child(const char *checkpoint, const char *path) {
    mercer_options options = mercer_options_defaults();
    long milliseconds = 5;
    options.threads = 2;
    options.log = log_slowly;
    options.log_user = &milliseconds;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_data *data = table_of(ctx, 150, 1, false, false);
    mercer_ridge set = long_settings();
    set.checkpoint = checkpoint;
    mercer_model *model = fit_table(ctx, data, "rbf(gamma=1)", &set);
    assert_ok(ctx, mercer_model_save(ctx, model, path));
    mercer_model_free(model);
    mercer_data_free(data);
    close_clean(ctx);
    return 0;
}

/* True when the child ended by itself. */
static bool run_child(const char *checkpoint, const char *path, long milliseconds) {
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        execl("/proc/self/exe", "t_ridge_pcg", "child", checkpoint, path, (char *)NULL);
        _exit(9);
    }
    const struct timespec wait = {.tv_nsec = 1000000};
    int how = 0;
    pid_t gone = 0;
    for (; !gone && milliseconds > 0; milliseconds--) {
        nanosleep(&wait, NULL);
        gone = waitpid(pid, &how, WNOHANG);
    }
    if (!gone) {
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &how, 0), pid);
    }
    if (WIFEXITED(how))
        assert_int_equal(WEXITSTATUS(how), 0);
    return WIFEXITED(how);
}

static void test_killed_at_any_moment_it_resumes_to_the_same_bits(void **state) {
    (void)state;
    char checkpoint[512], path[512], clean[512];
    snprintf(checkpoint, sizeof checkpoint, "%s", scratch("killed"));
    snprintf(path, sizeof path, "%s", scratch("killed.mercer"));
    snprintf(clean, sizeof clean, "%s", scratch("clean.mercer"));
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_of(ctx, 150, 1, false, false);
    const mercer_ridge set = long_settings();
    mercer_model *whole = fit_table(ctx, data, "rbf(gamma=1)", &set);
    assert_ok(ctx, mercer_model_save(ctx, whole, clean));
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 72);
    int kills = 0, kept = 0;
    while (kills < 25 && !run_child(checkpoint, path, 20 + (long)mc_rng_below(&rng, 300))) {
        kills++;
        kept += access(checkpoint, R_OK) == 0;
    }
    while (!run_child(checkpoint, path, 20000))
        ;
    print_message("# killed %d times, %d of them with a checkpoint\n", kills, kept);
    assert_true(kills > 0 && kept > 0);
    static char a[1 << 18], b[1 << 18];
    const size_t size = read_bytes(clean, a, sizeof a);
    assert_int_equal(size, read_bytes(path, b, sizeof b));
    assert_memory_equal(a, b, size);
    mercer_model_free(whole);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Memory ---- */

static mercer_status fit_small(mercer_ctx *ctx, void *arg) {
    const mercer_ridge *set = arg;
    const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {1, 0, 2, 1, 3, 1, 0, 1};
    const mercer_table table = {
        .size = sizeof table, .n = 8, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    return try_table(ctx, "ridge", set, "rbf(gamma=1)", &table);
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    mercer_ridge set = settings_of("pcg", 0.1);
    set.checkpoint = scratch("memory");
    assert_survives_failing_memory(fit_small, &set);
}

/* Many rows of a smooth function: a few steps are shorter than any factorisation, and as good. */
static void test_auto_takes_the_steps_where_they_are_shorter(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1), *two = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 3000, 0.1, 1, &data));
    const mercer_ridge free_choice = settings_of("auto", 0.1), direct = settings_of("cholesky", 0.1);
    mercer_ridge rough = settings_of("auto", 1e-4);
    mercer_model *a = fit_table(ctx, data, "rbf(gamma=0.5)", &free_choice),
                 *b = fit_table(two, data, "rbf(gamma=0.5)", &free_choice);
    mercer_model *c = fit_table(ctx, data, "rbf(gamma=0.5)", &direct),
                 *d = fit_table(ctx, data, "rbf(gamma=50)", &rough);
    assert_string_equal(mercer_model_report(a)->solver, "pcg");
    assert_string_equal(mercer_model_report(d)->solver, "mixed"); /* hardly a spectrum to speak of: too many steps */
    assert_true(mercer_model_report(a)->certificate.residual_relative <= 5e-7);
    double *near = calloc(3000, sizeof *near), *exact = calloc(3000, sizeof *exact);
    assert_ok(ctx, mercer_predict(ctx, a, data, near));
    assert_ok(ctx, mercer_predict(ctx, c, data, exact));
    for (int i = 0; i < 3000; i++) {
        assert_close(near[i], exact[i], 1e-6 * 20);
        assert_true(a->f.alpha[i] == b->f.alpha[i]);
    }
    free(near);
    free(exact);
    mercer_model *const all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        mercer_model_free(all[i]);
    mercer_data_free(data);
    close_clean(ctx);
    close_clean(two);
}

/* Of some hundred rows too, where the columns of the preconditioner promise few steps; where they do not, the
   factorisation follows. K is kept for wide rows, and made as it is needed for narrow ones. */
static void test_few_rows_are_tried(void **state) {
    (void)state;
    enum { ROWS = 700 };
    static const struct {
        const char *table, *kernel, *solver;
        double lambda;
    } cases[] = {{"friedman1", "rbf(gamma=0.3)", "pcg", 1},
                 {"friedman1", "rbf(gamma=20)", "cholesky", 1e-4},
                 {"sinc", "rbf(gamma=1)", "pcg", 0.01},
                 {"friedman1", "rbf(gamma=30)", "pcg", 1}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double *first = calloc(ROWS, sizeof *first), *answer = calloc(ROWS, sizeof *answer);
        for (int threads = 1; threads <= 7; threads += threads < 3 ? 1 : 4) {
            mercer_ctx *ctx = open_ctx(threads);
            mercer_data *data = NULL;
            assert_ok(ctx, mercer_data_generate(ctx, cases[k].table, ROWS, 0.1, 1, &data));
            const mercer_ridge set = settings_of("auto", cases[k].lambda),
                               direct = settings_of("cholesky", cases[k].lambda);
            mercer_model *a = fit_table(ctx, data, cases[k].kernel, &set),
                         *b = threads == 1 ? fit_table(ctx, data, cases[k].kernel, &direct) : NULL;
            assert_string_equal(mercer_model_report(a)->solver, cases[k].solver);
            assert_true(mercer_model_report(a)->certificate.residual_relative <= 5e-7);
            assert_ok(ctx, mercer_predict(ctx, a, data, answer));
            if (b)
                assert_ok(ctx, mercer_predict(ctx, b, data, first));
            for (int i = 0; i < ROWS; i++)
                assert_close(answer[i], first[i], 2e-5);
            if (b)
                memcpy(first, answer, ROWS * sizeof *first);
            else
                assert_memory_equal(first, answer, ROWS * sizeof *first);
            mercer_model_free(a);
            mercer_model_free(b);
            mercer_data_free(data);
            close_clean(ctx);
        }
        free(first);
        free(answer);
    }
}

/* Steps that turn out not to be worth it end in a factorisation, and the report says so. */
static void test_steps_that_are_not_worth_it_end_in_a_factorisation(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_of(ctx, 200, 1, false, false);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.7)", &kernel));
    mc_problem p;
    assert_ok(ctx, mc_problem_open(ctx, "none", mc_admit_proved, kernel, data, &p));
    double X[200], alpha[200], b = 0, mean = 0;
    mc_ridge_system r = {.p = &p,
                         .lambda = 1e-3,
                         .columns = 1,
                         .X = X,
                         .mean = &mean,
                         .alpha = alpha,
                         .b = &b,
                         .tolerance = 1e-12,
                         .checkpoint = "",
                         .stopped = "no",
                         .solver = "pcg",
                         .steps_worth = 2};
    mc_ridge_right_hand_sides(&r);
    assert_ok(ctx, mc_ridge_pcg(ctx, &r));
    assert_string_equal(r.solver, "cholesky");
    assert_string_equal(r.stopped, "no");
    mc_residual_findings found;
    assert_ok(ctx, mc_certify_squared_loss(ctx, &p, 1e-3, false, alpha, &b, &found));
    assert_true(found.certificate.residual_relative < 1e-9);
    mc_cached_product_close(&r.cached_product);
    mc_problem_close(&p);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return child(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_agrees_with_the_factorisation),
        cmocka_unit_test(test_more_outputs_than_a_batch_and_columns_worth_storing),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_what_it_cannot_do_is_said),
        cmocka_unit_test(test_a_tolerance_below_rounding_is_admitted),
        cmocka_unit_test(test_an_indefinite_matrix_is_named_however_late_it_shows),
        cmocka_unit_test(test_lambda_below_the_rounding_of_floats),
        cmocka_unit_test(test_a_stop_returns_the_best_iterate_with_its_certificate),
        cmocka_unit_test(test_a_checkpoint_of_another_fit_is_refused),
        cmocka_unit_test(test_a_fit_in_pieces_has_the_bits_of_a_whole_one),
        cmocka_unit_test(test_killed_at_any_moment_it_resumes_to_the_same_bits),
        cmocka_unit_test(test_auto_takes_the_steps_where_they_are_shorter),
        cmocka_unit_test(test_few_rows_are_tried),
        cmocka_unit_test(test_steps_that_are_not_worth_it_end_in_a_factorisation),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
