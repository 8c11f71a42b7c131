/* Whatever runs long ends soon after it was told to: every machine, by every solver, with kernels that make it hard
   (badly conditioned, of values that overflow), and every other call, stopped at a random moment by the caller or by
   the time limit. What it returns then is whole or nothing. The processor's time after that moment is measured, not the
   clock: other work on the machine does not count.

   MERCER_STOP_ROUNDS: how often each is stopped (default 1), with what each took; MERCER_STOP_SECONDS: the latest
   moment (default 0.2). */
#include "base/rng.h"
#include "support.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 2500, FEW = 600, PATIENCE = 2 }; /* PATIENCE: seconds that a call may go on, on each of two threads */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SLOWER = 8 };
#else
enum { SLOWER = 1 };
#endif
#else
enum { SLOWER = 1 };
#endif

static struct {
    mercer_ctx *ctx; /* what made the rest */
    mercer_data *numbers, *classes, *few;
    mercer_kernel *kernel;
    mercer_model *gp, *lms;
    void *knn; /* the bytes of a model */
    size_t knn_bytes;
    mercer_posterior *posterior;
    mercer_search *search;
    double *K, *room;
} world;

/* ---- Being told ---- */

typedef struct alarm_clock {
    double after;
    atomic_bool rang, over;
    double spent; /* of the processor, when it rang */
} alarm_clock;

static double spent_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *ring(void *arg) {
    alarm_clock *a = arg;
    const struct timespec nap = {.tv_nsec = 1000000};
    for (double waited = 0; waited < a->after && !atomic_load(&a->over); waited += 1e-3)
        nanosleep(&nap, NULL);
    a->spent = spent_now();
    atomic_store(&a->rang, true);
    return NULL;
}

static int ask(void *user, const mercer_progress *progress) {
    (void)progress;
    return atomic_load(&((alarm_clock *)user)->rang);
}

/* ---- What is stopped ---- */

typedef struct job {
    const char *name, *kernel;
    mercer_status (*run)(mercer_ctx *ctx, const struct job *job, const mercer_kernel *kernel);
    const char *settings[8]; /* name, value, ...: of a fit */
} job;

static mercer_status fit(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    static _Alignas(max_align_t) char settings[512];
    const mercer_machine *machine = mercer_machine_find(j->name);
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_settings_init(ctx, machine->name, settings, machine->size));
    for (int i = 0; j->settings[i]; i += 2)
        assert_ok(ctx, mercer_settings_put(ctx, settings, j->settings[i], j->settings[i + 1]));
    const mercer_data *data = machine->target == MERCER_TARGET_CLASS ? world.classes : world.numbers;
    const mercer_status status = mercer_fit(ctx, machine->name, settings, kernel, data, &model);
    assert_true(!status == (model != NULL));
    mercer_model_free(model);
    return status;
}

static mercer_status tune(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)kernel;
    const mercer_machine *machine = mercer_machine_find(j->settings[0]);
    const mercer_data *data = machine->target == MERCER_TARGET_CLASS ? world.classes : world.numbers;
    mercer_search *search = NULL;
    mercer_tune set = mercer_tune_defaults();
    set.search = j->settings[1] ? j->settings[1] : set.search;
    const mercer_status status = mercer_tune_run(ctx, machine->name, NULL, &set, data, &search);
    assert_true(!status == (search != NULL));
    mercer_search_free(search);
    return status;
}

static mercer_status tune_default(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)kernel;
    const mercer_machine *machine = mercer_machine_find(j->settings[0]);
    mercer_search *search = NULL;
    const mercer_status status = mercer_tune_default(
        ctx, machine->name, NULL, machine->target == MERCER_TARGET_CLASS ? world.classes : world.numbers, &search);
    mercer_search_free(search);
    return status;
}

static mercer_status search_fit(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j, (void)kernel;
    mercer_model *model = NULL;
    const mercer_status status = mercer_search_fit(ctx, world.search, world.numbers, &model);
    mercer_model_free(model);
    return status;
}

static mercer_status plan(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    mercer_plan fit = {.size = sizeof fit};
    mercer_tune_plan search = {.size = sizeof search};
    const mercer_machine *machine = mercer_machine_find(j->settings[0]);
    const mercer_data *data = machine->target == MERCER_TARGET_CLASS ? world.classes : world.numbers;
    const mercer_status status = mercer_plan_fit(ctx, machine->name, NULL, kernel, data, &fit);
    return status ? status : mercer_plan_tune(ctx, machine->name, NULL, NULL, data, &search);
}

static mercer_status path(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    static const double values[] = {1e-6, 1e-4, 1e-2, 1, 1e2, 1e4};
    int64_t fold[N];
    for (int i = 0; i < N; i++)
        fold[i] = i % 5;
    if (j->settings[0] && strcmp(j->settings[0], "svr") == 0) {
        mercer_path_row rows[6];
        return fit_path(ctx, "svr", kernel, world.numbers, NULL, values, 6, NULL, NULL, rows);
    }
    if (j->settings[0]) {
        mercer_path_row rows[6];
        return fit_path(ctx, j->settings[0], kernel, world.numbers, NULL, values, 6, NULL, fold, rows);
    }
    mercer_path_row rows[6];
    const mercer_status status = fit_path(ctx, "ridge", kernel, world.numbers, NULL, values, 6, NULL, NULL, rows);
    return status ? status : fit_path(ctx, "ridge", kernel, world.numbers, NULL, values, 6, NULL, fold, rows);
}

static mercer_status folds(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j;
    int64_t fold[N];
    for (int i = 0; i < N; i++)
        fold[i] = i % 10;
    return mercer_fit_folds(ctx, "ridge", NULL, kernel, world.numbers, fold, world.room, world.room + N, NULL);
}

static mercer_status mmd(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j;
    mercer_test result = {.size = sizeof result};
    return mercer_test_mmd(ctx, kernel, world.numbers, world.few, 1000000, 1, &result);
}

static mercer_status hsic(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j;
    mercer_test result = {.size = sizeof result};
    return mercer_test_hsic(ctx, kernel, kernel, world.numbers, 1000000, 1, &result);
}

static mercer_status cluster(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    mercer_clusters result = {.size = sizeof result};
    mercer_clustering set = mercer_clustering_defaults();
    set.clusters = 30;
    set.restarts = 10000;
    return j->settings[0] ? mercer_cluster_spectral(ctx, kernel, world.numbers, &set, (int64_t *)(void *)world.room,
                                                    world.room + N, &result)
                          : mercer_cluster(ctx, kernel, world.numbers, &set, (int64_t *)(void *)world.room, &result);
}

static mercer_status gram(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j;
    return mercer_gram(ctx, kernel, world.numbers, NULL, world.room);
}

static mercer_status gram_check(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j, (void)kernel;
    mercer_gram_facts facts = {.size = sizeof facts};
    return mercer_gram_check(ctx, world.K, N, &facts);
}

static mercer_status prove(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j;
    mercer_proof *proof = NULL;
    const mercer_status status = mercer_prove(ctx, kernel, 0, &proof);
    mercer_proof_free(proof);
    return status;
}

static mercer_status posterior(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)kernel;
    return j->settings[0] ? mercer_posterior_sample(ctx, world.posterior, world.numbers, 0, 1000, 1, world.room)
                          : mercer_posterior_std(ctx, world.posterior, world.numbers, world.room);
}

/* A model of its own, which takes what it keeps for the next prediction with it. */
static mercer_status predict(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j, (void)kernel;
    mercer_model *knn = NULL;
    mercer_status status = mercer_model_from_memory(ctx, world.knn, world.knn_bytes, &knn);
    if (!status)
        status = mercer_predict(ctx, knn, world.numbers, world.room);
    mercer_model_free(knn);
    return status;
}

static mercer_status update(mercer_ctx *ctx, const job *j, const mercer_kernel *kernel) {
    (void)j, (void)kernel;
    mercer_model *model = NULL;
    mercer_update set = mercer_update_defaults();
    set.passes = 100000;
    const mercer_status status = mercer_model_update(ctx, world.lms, world.numbers, &set, &model);
    mercer_model_free(model);
    return status;
}

#define HARD "rbf(gamma=1e-7)", fit
static const job jobs[] = {
    {"ridge", HARD, {"solver", "cholesky", "loo", "yes"}},
    {"ridge", HARD, {"solver", "mixed", "lambda", "1e-9"}},
    {"ridge", HARD, {"solver", "eigen"}},
    {"ridge", HARD, {"norm-bound", "3"}},
    {"ridge", HARD, {"solver", "pcg", "lambda", "1e-12", "tolerance", "1e-14"}},
    {"ridge", "poly(degree=4)", fit, {"solver", "primal"}},
    {"ridge", HARD, {"solver", "nystrom", "rank", "1500"}},
    {"ridge", "rbf(gamma=0.1)^9", fit, {"solver", "fourier", "rank", "3000"}},
    {"ridge", "rbf(gamma=0.1)^1000000000", fit, {"solver", "fourier", "rank", "10"}},
    {"ridge", "normalize(exp(100000000*rbf(gamma=0.1)))", fit, {"solver", "fourier", "rank", "10"}},
    {"gp", HARD, {"restarts", "1000"}},
    {"gp", "matern(nu=2.5) + rbf + linear", fit, {"restarts", "100", "ard", "yes"}},
    {"svc", HARD, {"C", "1e12", "tolerance", "1e-10"}},
    {"svc", HARD, {"C", "inf"}},
    {"svc", "rbf(gamma=30)", fit, {"C", "1e6", "precision", "single"}},
    {"svc", "poly(degree=15)", fit, {"C", "1e9", "scale", "none"}},
    {"nu-svc", HARD, {"nu", "0.05", "tolerance", "1e-9"}},
    {"svr", HARD, {"C", "1e12", "epsilon", "0", "tolerance", "1e-10"}},
    {"nu-svr", HARD, {"C", "1e9", "tolerance", "1e-9"}},
    {"one-class", HARD, {"nu", "0.9", "tolerance", "1e-11"}},
    {"logistic", HARD, {"lambda", "1e-12"}},
    {"squared-hinge", HARD, {"lambda", "1e-12"}},
    {"huber", HARD, {"lambda", "1e-12"}},
    {"absolute", HARD, {"lambda", "1e-12"}},
    {"quantile", HARD, {"lambda", "1e-12"}},
    {"lms", HARD, {"epochs", "1000000"}},
    {"pca", HARD, {"components", "500"}},
    {"pca", HARD, {"components", "300", "solver", "krylov", "tolerance", "1e-12"}},
    {"knn", HARD, {NULL}},
    {"svc", "exp(100*linear)", fit, {"scale", "none"}},
    {"svr", "poly(degree=1000)", fit, {"scale", "none"}},
    {"logistic", "exp(100*linear)", fit, {"scale", "none"}},
    {"huber", "exp(100*linear)", fit, {"scale", "none"}},
    {"one-class", "poly(degree=1000)", fit, {"scale", "none"}},
    {"tune", NULL, tune, {"ridge"}},
    {"tune", NULL, tune, {"ridge", "gradient"}},
    {"tune", NULL, tune, {"gp", "gradient"}},
    {"tune", NULL, tune, {"svc"}},
    {"tune", NULL, tune, {"nu-svr"}},
    {"tune", NULL, tune, {"logistic"}},
    {"tune", NULL, tune, {"knn"}},
    {"tune", NULL, tune, {"lms"}},
    {"tune of fit", NULL, tune_default, {"ridge"}},
    {"tune of fit", NULL, tune_default, {"svc"}},
    {"tune of fit", NULL, tune_default, {"logistic"}},
    {"fit of the winner", NULL, search_fit, {NULL}},
    {"plan", "rbf", plan, {"ridge"}},
    {"plan", "rbf", plan, {"svc"}},
    {"path", "rbf", path, {NULL}},
    {"path", "rbf", path, {"svr"}},
    {"path", "rbf", path, {"huber"}},
    {"folds", "rbf", folds, {NULL}},
    {"mmd", "rbf", mmd, {NULL}},
    {"hsic", "rbf", hsic, {NULL}},
    {"cluster", "rbf", cluster, {NULL}},
    {"cluster", "rbf", cluster, {"spectral"}},
    {"gram", "periodic(period=1, length_scale=1)*rq(alpha=0.3)*matern(nu=2.5)", gram, {NULL}},
    {"gram check", NULL, gram_check, {NULL}},
    {"prove", "rbf - 0.9*laplacian*periodic + 0.1*tanh(a=1, c=2)*matern - 0.05*rq", prove, {NULL}},
    {"standard deviations", NULL, posterior, {NULL}},
    {"samples", NULL, posterior, {"samples"}},
    {"predict", NULL, predict, {NULL}},
    {"update", NULL, update, {NULL}},
};

/* ---- The test ---- */

static mercer_model *fitted(const char *machine, const mercer_data *data) {
    mercer_model *model = NULL;
    assert_ok(world.ctx, mercer_fit(world.ctx, machine, NULL, world.kernel, data, &model));
    return model;
}

static int make_world(void **state) {
    (void)state;
    mercer_ctx *ctx = world.ctx = open_ctx(2);
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", N, 1, 1, &world.numbers));
    assert_ok(ctx, mercer_data_generate(ctx, "checkerboard", N, 0.1, 1, &world.classes));
    assert_ok(ctx, mercer_data_take(ctx, world.numbers, NULL, FEW, &world.few));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &world.kernel));
    mercer_gp still = mercer_gp_defaults();
    still.learn = false;
    still.noise = 0.1;
    assert_ok(ctx, mercer_fit(ctx, "gp", &still, world.kernel, world.few, &world.gp));
    mercer_model *knn = fitted("knn", world.numbers);
    assert_ok(ctx, mercer_model_to_memory(ctx, knn, NULL, 0, &world.knn_bytes));
    world.knn = malloc(world.knn_bytes);
    assert_ok(ctx, mercer_model_to_memory(ctx, knn, world.knn, world.knn_bytes, &world.knn_bytes));
    mercer_model_free(knn);
    world.lms = fitted("lms", world.few);
    assert_ok(ctx, mercer_posterior_open(ctx, world.gp, &world.posterior));
    assert_ok(ctx, mercer_tune_default(ctx, "ridge", NULL, world.few, &world.search));
    world.K = calloc(N * N, sizeof *world.K);
    world.room = calloc(N * N, sizeof *world.room);
    assert_ok(ctx, mercer_gram(ctx, world.kernel, world.numbers, NULL, world.K));
    return 0;
}

static int end_world(void **state) {
    (void)state;
    mercer_posterior_free(world.posterior);
    mercer_search_free(world.search);
    mercer_model_free(world.gp);
    free(world.knn);
    mercer_model_free(world.lms);
    mercer_kernel_free(world.kernel);
    mercer_data_free(world.numbers);
    mercer_data_free(world.classes);
    mercer_data_free(world.few);
    free(world.K);
    free(world.room);
    close_clean(world.ctx);
    return 0;
}

static void describe(const job *j, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s %s", j->name, j->kernel ? j->kernel : "");
    for (int i = 0; i < 8 && j->settings[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %s", j->settings[i]);
}

static void stop(const job *j, bool by_clock, double after) {
    alarm_clock a = {.after = after};
    mercer_options options = mercer_options_defaults();
    options.threads = 2;
    options.time_limit = by_clock ? after : 0;
    options.progress = by_clock ? NULL : ask;
    options.progress_user = &a;
    mercer_ctx *ctx = NULL;
    mercer_kernel *kernel = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    assert_ok(ctx, mercer_kernel_parse(ctx, j->kernel ? j->kernel : "rbf", &kernel));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ring, &a), 0);
    j->run(ctx, j, kernel);
    const double spent = atomic_load(&a.rang) ? spent_now() - a.spent : 0;
    atomic_store(&a.over, true);
    pthread_join(thread, NULL);
    mercer_kernel_free(kernel);
    char text[256];
    describe(j, text, sizeof text);
    if (spent > 2 * PATIENCE * SLOWER)
        fail_msg("%s: told to stop by the %s after %.3f s it went on for %.2f s", text, by_clock ? "clock" : "caller",
                 after, spent);
    if (getenv("MERCER_STOP_ROUNDS"))
        print_message("%6.2f %s (%s at %.3f)\n", spent, text, by_clock ? "clock" : "caller", after);
    close_clean(ctx);
}

static void test_whatever_runs_long_ends_soon_after_it_was_told_to(void **state) {
    (void)state;
    const char *rounds = getenv("MERCER_STOP_ROUNDS"), *latest = getenv("MERCER_STOP_SECONDS");
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 77);
    for (int r = 0; r < (rounds ? atoi(rounds) : 1); r++)
        for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
            const bool by_clock = mc_rng_uniform(&rng) < 0.5;
            stop(&jobs[i], by_clock, 0.001 + (latest ? atof(latest) : 0.2) * mc_rng_uniform(&rng));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whatever_runs_long_ends_soon_after_it_was_told_to)};
    return cmocka_run_group_tests(tests, make_world, end_world);
}
