/* Every public call that takes a context, one scenario each, with its 1st, 2nd, 3rd, ... allocation failing: it says so
   and leaves nothing behind. tools/calls.py checks that no call is missing here. */
#include "support.h"
#include "base/file.h"
#include "data/npy/npy_write.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 36, D = 10, MOST = 4 * N * N };

/* What the calls work on, made once in a context of its own. */
static struct {
    mercer_ctx *ctx;
    mercer_data *data, *classes, *few, *many; /* many: more than are decided in double at once */
    mercer_kernel *kernel, *quadratic;
    mercer_model *ridge, *gp, *lms, *svc, *logistic;
    mercer_posterior *posterior;
    mercer_search *search;
    char folder[64];
    char bytes[1 << 16]; /* of the ridge model */
    size_t size;
} world;

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", world.folder, name);
    return path;
}

/* Few steps where a machine has steps: a search that allocates in each would be tried with each failing. */
static void *short_settings(mercer_ctx *ctx, const mercer_machine *machine) {
    static const char *const wishes[][2] = {{"restarts", "0"}, {"epochs", "2"}, {"learn", "no"}, {"noise", "0.1"}, {0}};
    return settings_with(ctx, machine, wishes);
}

static mercer_model *fitted(const char *machine, const mercer_kernel *kernel, const mercer_data *data) {
    mercer_model *model = NULL;
    const mercer_machine *row = mercer_machine_find(machine);
    assert_ok(world.ctx, mercer_fit(world.ctx, row->name, short_settings(world.ctx, row), kernel, data, &model));
    return model;
}

static int make_world(void **state) {
    (void)state;
    mercer_ctx *ctx = world.ctx = open_ctx(2);
    snprintf(world.folder, sizeof world.folder, "/tmp/mercer-calls-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", N, 0.1, 1, &world.data));
    assert_ok(ctx, mercer_data_generate(ctx, "moons", N, 0.1, 1, &world.classes));
    assert_ok(ctx, mercer_data_take(ctx, world.data, NULL, 20, &world.few));
    assert_ok(ctx, mercer_data_generate(ctx, "moons", 2 * N, 0.1, 2, &world.many));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &world.kernel));
    assert_ok(ctx, mercer_kernel_parse(ctx, "(1 + linear)^2", &world.quadratic));
    world.ridge = fitted("ridge", world.kernel, world.data);
    world.gp = fitted("gp", world.kernel, world.data);
    world.lms = fitted("lms", world.kernel, world.data);
    world.svc = fitted("svc", world.kernel, world.classes);
    world.logistic = fitted("logistic", world.kernel, world.classes);
    mercer_model *const models[] = {world.ridge, world.gp, world.lms, world.svc, world.logistic};
    /* what a first prediction packs stays with the model: here, not in the contexts that fail */
    for (int i = 0; i < 5; i++) {
        double out[MOST];
        assert_ok(ctx, mercer_decide(ctx, models[i], i < 3 ? world.data : world.classes, out));
    }
    assert_ok(ctx, mercer_tune_run(ctx, "ridge", NULL, NULL, world.data, &world.search));
    assert_ok(ctx, mercer_posterior_open(ctx, world.gp, &world.posterior));
    assert_ok(ctx, mercer_data_write(ctx, world.data, path_of("table.csv")));
    assert_ok(ctx, mercer_model_save(ctx, world.ridge, path_of("ridge.mercer")));
    return 0;
}

static int end_world(void **state) {
    (void)state;
    static const char *const files[] = {"table.csv",  "ridge.mercer", "out.csv", "out.npy",
                                        "out.mercer", "out.svm",      "out.bin", "out.c"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(path_of(files[i]));
    assert_int_equal(rmdir(world.folder), 0); /* no temporary file was left */
    mercer_posterior_free(world.posterior);
    mercer_search_free(world.search);
    mercer_model *const models[] = {world.ridge, world.gp, world.lms, world.svc, world.logistic};
    for (int i = 0; i < 5; i++)
        mercer_model_free(models[i]);
    mercer_kernel_free(world.kernel);
    mercer_kernel_free(world.quadratic);
    mercer_data_free(world.data);
    mercer_data_free(world.classes);
    mercer_data_free(world.few);
    mercer_data_free(world.many);
    close_clean(world.ctx);
    return 0;
}

/* SCENARIO(name, T, call): call makes a T in `made`, which is freed; SCENARIO_PLAIN: it makes nothing. `out` is room
   for results. */
#define SCENARIO(name, kind, call)                                                                                     \
    static mercer_status name(mercer_ctx *ctx, void *out) {                                                            \
        (void)out;                                                                                                     \
        mercer_##kind *made = NULL;                                                                                    \
        const mercer_status status = call;                                                                             \
        assert_true(!status == (made != NULL));                                                                        \
        mercer_##kind##_free(made);                                                                                    \
        return status;                                                                                                 \
    }
#define SCENARIO_PLAIN(name, call)                                                                                     \
    static mercer_status name(mercer_ctx *ctx, void *out) {                                                            \
        (void)out;                                                                                                     \
        return call;                                                                                                   \
    }

static const double ones[N * D] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const int64_t few[] = {3, 1, 3}, fold[N] = {0, 1, 2, 0, 1, 2};
static const double lambdas[] = {0.1, 1};
static const mercer_pca few_of_many = {.size = sizeof few_of_many,
                                       .machine = "pca",
                                       .components = 1,
                                       .center = true,
                                       .tolerance = 1e-3,
                                       .scale = "none",
                                       .solver = "krylov"};
static const mercer_table table = {
    .size = sizeof table, .n = 2, .d = D, .dtype = MERCER_F64, .values = ones, .target = ones, .outputs = 1};

static int fill_ones(void *user, int64_t d, int64_t n, const double *x, int64_t m, const double *z, double *out) {
    (void)user, (void)d, (void)x, (void)z;
    for (int64_t i = 0; i < n * m; i++)
        out[i] = 1;
    return 0;
}
static const mercer_user_kernel all_ones = {
    .size = sizeof all_ones, .name = "ones", .fill = fill_ones, .positive = true};

SCENARIO_PLAIN(file_write, mc_file_write(ctx, path_of("out.bin"), "abc", 3))
SCENARIO(data_read, data, mercer_data_read(ctx, path_of("table.csv"), NULL, &made))
SCENARIO(data_make, data, mercer_data_make(ctx, &table, &made))
SCENARIO(data_weigh, data, mercer_data_weigh(ctx, world.data, ones, &made))
SCENARIO(data_take, data, mercer_data_take(ctx, world.data, few, 3, &made))
SCENARIO(data_generate, data, mercer_data_generate(ctx, "spirals", N, 0.1, 2, &made))
SCENARIO_PLAIN(data_write, mercer_data_write(ctx, world.data, path_of("out.csv")))
SCENARIO(kernel_parse, kernel, mercer_kernel_parse(ctx, "0.5*rbf(sigma=1) + linear^2", &made))
SCENARIO(kernel_parse_with, kernel, mercer_kernel_parse_with(ctx, "user(\"ones\")*linear", &all_ones, 1, &made))
SCENARIO(kernel_default, kernel, mercer_kernel_default(ctx, world.data, &made))
SCENARIO(kernel_bind, kernel, mercer_kernel_bind(ctx, world.kernel, world.data, &made))
SCENARIO_PLAIN(kernel_value, mercer_kernel_value(ctx, world.kernel, ones, ones + 1, D, out))
SCENARIO(kernel_with, kernel, mercer_kernel_with(ctx, world.kernel, ones, &made))
SCENARIO_PLAIN(kernel_gradient, mercer_kernel_gradient(ctx, world.kernel, ones, ones + 1, D, out, (double *)out + 1))
SCENARIO_PLAIN(gram, mercer_gram(ctx, world.kernel, world.data, NULL, out))
SCENARIO_PLAIN(gram_apply, mercer_gram_apply(ctx, world.kernel, world.data, NULL, MERCER_F32, ones, 1, out))
SCENARIO_PLAIN(features, mercer_features(ctx, world.quadratic, world.data, out))
SCENARIO_PLAIN(npy_write, mc_npy_write(ctx, path_of("out.npy"), ones, N, 1))
SCENARIO(prove, proof, mercer_prove(ctx, world.quadratic, 0, &made))
SCENARIO(ridge_fit, model, mercer_fit(ctx, "ridge", NULL, world.kernel, world.data, &made))
SCENARIO(gp_fit, model,
         mercer_fit(ctx, "gp", short_settings(world.ctx, mercer_machine_find("gp")), world.kernel, world.data, &made))
SCENARIO(lms_fit, model,
         mercer_fit(ctx, "lms", short_settings(world.ctx, mercer_machine_find("lms")), world.kernel, world.data, &made))
SCENARIO_PLAIN(model_inner, mercer_model_inner(ctx, world.ridge, 0, world.ridge, 0, out))
SCENARIO_PLAIN(model_distance, mercer_model_distance(ctx, world.ridge, 0, world.ridge, 0, out))
SCENARIO(pca_fit, model, mercer_fit(ctx, "pca", NULL, world.kernel, world.data, &made))
SCENARIO(pca_krylov, model, mercer_fit(ctx, "pca", &few_of_many, world.kernel, world.data, &made))
SCENARIO(knn_fit, model, mercer_fit(ctx, "knn", NULL, world.kernel, world.data, &made))
SCENARIO(posterior_open, posterior, mercer_posterior_open(ctx, world.gp, &made))
SCENARIO_PLAIN(posterior_std, mercer_posterior_std(ctx, world.posterior, world.data, out))
SCENARIO_PLAIN(posterior_sample, mercer_posterior_sample(ctx, world.posterior, world.data, 0, 2, 1, out))
SCENARIO(model_read, data, mercer_model_read(ctx, world.ridge, path_of("table.csv"), NULL, &made))
SCENARIO_PLAIN(predict, mercer_predict(ctx, world.ridge, world.data, out))
SCENARIO_PLAIN(decide, mercer_decide(ctx, world.svc, world.classes, out))
SCENARIO_PLAIN(prediction_bound, mercer_prediction_bound(ctx, world.svc, world.classes, out))
SCENARIO_PLAIN(classify, mercer_classify(ctx, world.svc, world.many, out))
SCENARIO_PLAIN(svm_rows, mercer_svm_rows(ctx, world.svc, world.classes, out))
static double square_value(void *user, double y, double F) {
    (void)user;
    return (F - y) * (F - y) / 2;
}

static double square_slope(void *user, double y, double F) {
    (void)user;
    return F - y;
}

static double square_curvature(void *user, double y, double F) {
    (void)user, (void)y, (void)F;
    return 1;
}

static const mercer_own_loss square = {.size = sizeof square,
                                       .name = "square",
                                       .value = square_value,
                                       .slope = square_slope,
                                       .curvature = square_curvature};
SCENARIO(own_loss_fit, model, fit_own_loss(ctx, world.kernel, world.data, &square, NULL, &made))
SCENARIO_PLAIN(calibration, mercer_calibration(ctx, world.logistic, world.classes, 2, out))
SCENARIO_PLAIN(predict_proba, mercer_predict_proba(ctx, world.logistic, world.classes, out))
SCENARIO(model_update, model, mercer_model_update(ctx, world.lms, world.data, NULL, &made))
SCENARIO_PLAIN(model_save, mercer_model_save(ctx, world.ridge, path_of("out.mercer")))
SCENARIO_PLAIN(model_to_memory, mercer_model_to_memory(ctx, world.ridge, world.bytes, sizeof world.bytes, &world.size))
SCENARIO(model_from_memory, model, mercer_model_from_memory(ctx, world.bytes, world.size, &made))
SCENARIO(model_load_with, model, mercer_model_load_with(ctx, path_of("ridge.mercer"), &all_ones, 1, &made))
SCENARIO(model_load, model, mercer_model_load(ctx, path_of("ridge.mercer"), &made))
SCENARIO_PLAIN(model_export, mercer_model_export(ctx, world.svc, "libsvm", path_of("out.svm")))
SCENARIO_PLAIN(export_onnx, mercer_model_export(ctx, world.svc, "onnx", path_of("out.bin")))
SCENARIO_PLAIN(export_onnx_double, mercer_model_export(ctx, world.ridge, "onnx-double", path_of("out.bin")))
SCENARIO_PLAIN(ridge_folds,
               mercer_fit_folds(ctx, "ridge", NULL, world.kernel, world.data, fold, out, (double *)out + N, NULL))

static mercer_status test_mmd(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_test result = {.size = sizeof result};
    return mercer_test_mmd(ctx, world.kernel, world.data, world.data, 3, 1, &result);
}

static mercer_status test_hsic(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_test result = {.size = sizeof result};
    return mercer_test_hsic(ctx, world.kernel, world.quadratic, world.data, 3, 1, &result);
}

static mercer_status cluster(mercer_ctx *ctx, void *out) {
    mercer_clusters result = {.size = sizeof result};
    const mercer_clustering set = {.size = sizeof set, .clusters = 2, .restarts = 1, .iterations = 2};
    return mercer_cluster(ctx, world.kernel, world.data, &set, out, &result);
}

static mercer_status cluster_spectral(mercer_ctx *ctx, void *out) {
    mercer_clusters result = {.size = sizeof result};
    double eigenvalues[2];
    const mercer_clustering set = {.size = sizeof set, .clusters = 2, .restarts = 1, .iterations = 2};
    return mercer_cluster_spectral(ctx, world.kernel, world.data, &set, out, eigenvalues, &result);
}

static mercer_status settings_put(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_ridge set;
    const mercer_status status = mercer_settings_init(ctx, "ridge", &set, sizeof set);
    return status ? status : mercer_settings_put(ctx, &set, "lambda", "0.5");
}

/* There may be a card or none: either way nothing is left behind. */
static mercer_status describe_cards(mercer_ctx *ctx, void *made) {
    (void)made;
    mercer_card card = {.size = sizeof card};
    return mercer_card_at(ctx, 0, &card) == MERCER_MEMORY ? MERCER_MEMORY : MERCER_OK;
}

static mercer_status set_time_limit(mercer_ctx *ctx, void *out) {
    (void)out;
    return mercer_set_time_limit(ctx, 1e6);
}

static mercer_status agree(mercer_ctx *ctx, void *out) {
    (void)out;
    return mercer_agree(ctx, MERCER_OK);
}

static mercer_status gram_prove(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_gram_proof proof = {.size = sizeof proof};
    const double K[] = {1, 2, 2, 1};
    return mercer_gram_prove(ctx, K, 2, NULL, &proof);
}

static mercer_status gram_repair(mercer_ctx *ctx, void *out) {
    mercer_gram_repaired facts = {.size = sizeof facts};
    const double K[] = {1, 2, 2, 1};
    return mercer_gram_repair(ctx, K, 2, true, out, &facts);
}

static mercer_status gram_factor(mercer_ctx *ctx, void *out) {
    mercer_gram_factored facts = {.size = sizeof facts};
    const double K[] = {2, 1, 1, 2};
    return mercer_gram_factor(ctx, K, 2, 0, out, &facts);
}

static mercer_status gram_check(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_gram_facts facts = {.size = sizeof facts};
    const double K[] = {2, 1, 1, 2};
    return mercer_gram_check(ctx, K, 2, &facts);
}

static mercer_status ridge_path(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_path_row rows[2];
    mercer_path path = mercer_path_defaults();
    path.values = lambdas;
    path.count = 2;
    return mercer_fit_path(ctx, "ridge", NULL, world.kernel, world.data, &path, rows);
}

static mercer_status ridge_path_folds(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_path_row rows[2];
    return fit_path(ctx, "ridge", world.kernel, world.data, NULL, lambdas, 2, NULL, fold, rows);
}

static mercer_status svm_path(mercer_ctx *ctx, void *out) {
    (void)out;
    const double C[] = {0.5, 5};
    mercer_path_row rows[2];
    return fit_path(ctx, "svr", world.kernel, world.data, NULL, C, 2, world.data, NULL, rows);
}

static mercer_status loss_path(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_path_row rows[2];
    return fit_path(ctx, "huber", world.kernel, world.data, NULL, lambdas, 2, world.data, fold, rows);
}

static mercer_status data_folds(mercer_ctx *ctx, void *out) {
    const char *groups[N];
    for (int i = 0; i < N; i++)
        groups[i] = i % 3 ? "a" : "b";
    return mercer_data_folds(ctx, world.data, 2, groups, 1, out);
}

static mercer_status score(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_scores scores = {.size = sizeof scores};
    return mercer_score(ctx, world.svc, world.classes, &scores);
}

static mercer_status score_classes(mercer_ctx *ctx, void *out) {
    mercer_scores scores = {.size = sizeof scores};
    return mercer_score_classes(ctx, world.svc, world.classes, &scores, out);
}

static mercer_status plan_fit(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_plan plan = {.size = sizeof plan};
    return mercer_plan_fit(ctx, "ridge", NULL, world.kernel, world.data, &plan);
}

static mercer_status plan_ranks(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_plan plan = {.size = sizeof plan};
    mercer_scale_of_fit set = mercer_scale_of_fit_defaults();
    set.rows = 20000;
    set.columns = 3;
    set.ranks = 2;
    return mercer_plan_ranks(ctx, world.kernel, &set, &plan);
}

static mercer_status tune_run(mercer_ctx *ctx, void *out) {
    (void)out;
    static const char *const ranges[] = {"C=1..10", NULL};
    mercer_tune set = mercer_tune_defaults();
    mercer_search *search = NULL;
    set.kernels = (const mercer_kernel *const *)&world.kernel;
    set.kernel_count = 1;
    set.ranges = ranges;
    set.points = set.folds = 2;
    const mercer_status status = mercer_tune_run(ctx, "svc", NULL, &set, world.classes, &search);
    assert_true(!status == (search != NULL));
    mercer_search_free(search);
    return status;
}

static mercer_status tune_default(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_search *search = NULL;
    const mercer_status status = mercer_tune_default(ctx, "ridge", NULL, world.few, &search);
    mercer_search_free(search);
    return status;
}

static mercer_status plan_tune(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_tune_plan plan = {.size = sizeof plan};
    mercer_tune set = mercer_tune_defaults();
    set.kernels = (const mercer_kernel *const *)&world.kernel;
    set.kernel_count = 1;
    set.points = set.folds = 2;
    return mercer_plan_tune(ctx, "svc", NULL, &set, world.classes, &plan);
}

static mercer_status plan_default(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_tune_plan plan = {.size = sizeof plan};
    return mercer_plan_default(ctx, "ridge", NULL, world.few, &plan);
}

static mercer_status search_fit(mercer_ctx *ctx, void *out) {
    (void)out;
    mercer_model *model = NULL;
    const mercer_status status = mercer_search_fit(ctx, world.search, world.data, &model);
    assert_true(!status == (model != NULL));
    mercer_model_free(model);
    return status;
}

/* mercer_fit: every machine there is. */
static mercer_status fit_named(mercer_ctx *ctx, void *arg) {
    const mercer_machine *machine = arg;
    mercer_model *model = NULL;
    const mercer_data *data = machine->target == MERCER_TARGET_CLASS ? world.classes : world.data;
    const mercer_status status =
        mercer_fit(ctx, machine->name, short_settings(world.ctx, machine), world.kernel, data, &model);
    assert_true(!status == (model != NULL));
    mercer_model_free(model);
    return status;
}

static void test_every_machine_survives_failing_memory(void **state) {
    (void)state;
    for (int i = 0; mercer_machine_at(i); i++)
        assert_survives_failing_memory(fit_named, (void *)(uintptr_t)mercer_machine_at(i));
}

static void test_every_call_survives_failing_memory(void **state) {
    (void)state;
    static scenario *const calls[] = {
        describe_cards,    file_write,
        data_read,         data_make,
        data_weigh,        data_take,
        data_generate,     data_write,
        kernel_parse,      kernel_parse_with,
        test_mmd,          test_hsic,
        cluster,           cluster_spectral,
        kernel_bind,       kernel_default,
        kernel_value,      kernel_with,
        kernel_gradient,   gram,
        gram_apply,        features,
        npy_write,         prove,
        ridge_fit,         gp_fit,
        lms_fit,           knn_fit,
        posterior_open,    model_read,
        predict,           decide,
        prediction_bound,  classify,
        model_save,        model_load,
        model_load_with,   model_to_memory,
        model_from_memory, model_update,
        pca_fit,           pca_krylov,
        model_inner,       model_distance,
        posterior_std,     model_export,
        export_onnx,       export_onnx_double,
        posterior_sample,  score,
        ridge_folds,       ridge_path,
        plan_fit,          gram_check,
        gram_prove,        gram_repair,
        gram_factor,       settings_put,
        set_time_limit,    agree,
        ridge_path_folds,  data_folds,
        predict_proba,     own_loss_fit,
        calibration,       svm_path,
        loss_path,         svm_rows,
        tune_run,          tune_default,
        search_fit,        plan_tune,
        plan_default,      score_classes,
        plan_ranks,
    };
    static double out[MOST];
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        assert_survives_failing_memory(calls[i], out);
}

typedef struct exported {
    const mercer_model *model;
    const char *format;
} exported;

static mercer_status export_to(mercer_ctx *ctx, void *arg) {
    const exported *e = arg;
    return mercer_model_export(ctx, e->model, e->format, path_of("out.c"));
}

/* Every format that takes the model; the others refuse it by name. */
static void check_exports(const mercer_model *model, int least) {
    static const char *const formats[] = {"libsvm", "c", "c-float", "onnx", "onnx-double"};
    int count = 0;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        exported e = {model, formats[k]};
        const mercer_status status = export_to(world.ctx, &e);
        assert_true(status == MERCER_OK || status == MERCER_INVALID);
        if (status)
            continue;
        assert_survives_failing_memory(export_to, &e);
        count++;
    }
    assert_true(count >= least);
}

static void test_every_export_survives_failing_memory(void **state) {
    (void)state;
    static const struct {
        const char *machine, *kernel;
        bool classes;
    } rows[] = {{"ridge", "rbf(gamma=0.5)*matern(nu=1.5, length_scale=2) + 0.3*(1 + linear)^2", false},
                {"gp", "rbf(gamma=0.5)", false},
                {"svc", "poly(degree=3)", true},
                {"knn", "linear", true},
                {"pca", "rbf(gamma=0.5)", false},
                {"logistic", "laplacian(gamma=0.5)", true}};
    mercer_data *dozen = NULL;
    assert_ok(world.ctx, mercer_data_take(world.ctx, world.classes, NULL, 12, &dozen));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        mercer_kernel *kernel = NULL;
        assert_ok(world.ctx, mercer_kernel_parse(world.ctx, rows[k].kernel, &kernel));
        mercer_model *model = fitted(rows[k].machine, kernel, rows[k].classes ? dozen : world.few);
        check_exports(model, 2);
        mercer_model_free(model);
        mercer_kernel_free(kernel);
    }
    mercer_data_free(dozen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_export_survives_failing_memory),
        cmocka_unit_test(test_every_call_survives_failing_memory),
        cmocka_unit_test(test_every_machine_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}
