/* The promises of mercer.h to programs that are built with another version of it, and to those who mistype: structs
   that say how large they are, numbers that stay, settings that belong to one machine. */
#include "support.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static mercer_data *sinc(mercer_ctx *ctx) {
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "sinc", 40, 0.1, 1, &data));
    return data;
}

static mercer_kernel *rbf(mercer_ctx *ctx) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &kernel));
    return kernel;
}

static void test_numbers_of_statuses_and_versions_stay(void **state) {
    (void)state;
    char text[32];
    const int number = mercer_version_number();
    assert_int_equal(number, MERCER_VERSION_NUMBER);
    snprintf(text, sizeof text, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    assert_string_equal(text, mercer_version());
    static const char *const names[] = {"OK",     "INVALID", "SYNTAX",       "DATA",      "IO",   "FORMAT",
                                        "MEMORY", "NUMERIC", "NOT_A_KERNEL", "CANCELLED", "TIME", "INTERNAL"};
    for (int i = 0; i < 12; i++)
        assert_string_equal(mercer_status_name((mercer_status)i), names[i]);
    assert_string_equal(mercer_status_name((mercer_status)12), "?");
}

/* ---- Structs that grow ---- */

/* A program built when mercer_ridge ended after lambda; it has other bytes where the fields are now. */
static void test_fields_an_older_program_does_not_know_are_defaults(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_ridge set = mercer_ridge_defaults();
    assert_int_equal(set.size, sizeof set);
    mercer_data *data = sinc(ctx);
    mercer_kernel *kernel = rbf(ctx);
    mercer_model *model = NULL;
    memset((char *)&set + offsetof(mercer_ridge, norm_bound), 0xee, sizeof set - offsetof(mercer_ridge, norm_bound));
    set.size = offsetof(mercer_ridge, norm_bound);
    set.lambda = 0.125;
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
    assert_true(mercer_model_report(model)->lambda == 0.125);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* The struct of a header to come, with two fields more. */
typedef struct longer {
    mercer_ridge known;
    double more[2];
} longer;

static void test_fields_the_library_does_not_know_must_be_zero(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    longer set = {.known = mercer_ridge_defaults()};
    mercer_data *data = sinc(ctx);
    mercer_kernel *kernel = rbf(ctx);
    mercer_model *model = NULL;
    set.known.size = sizeof set;
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
    mercer_model_free(model);
    set.more[1] = 3;
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "link a newer one");
    assert_null(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_results_fit_the_room_there_is(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    struct {
        mercer_gram_facts facts;
        double more;
    } room;
    const double K[] = {2, 1, 1, 2};
    memset(&room, 0xee, sizeof room);
    room.facts.size = offsetof(mercer_gram_facts, rank);
    assert_ok(ctx, mercer_gram_check(ctx, K, 2, &room.facts));
    assert_close(room.facts.eigenvalue_max, 3, 1e-12);
    assert_true(room.facts.rank == (int64_t)0xeeeeeeeeeeeeeeee);
    room.facts.size = sizeof room;
    assert_ok(ctx, mercer_gram_check(ctx, K, 2, &room.facts));
    assert_true(room.facts.rank == 2 && room.more == 0 && room.facts.size == sizeof room);
    close_clean(ctx);
}

static void test_rows_of_a_path_have_the_length_of_the_caller(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = sinc(ctx);
    mercer_kernel *kernel = rbf(ctx);
    const double lambda[] = {0.1, 1};
    double two[4];
    mercer_path_row whole[2];
    mercer_path path = mercer_path_defaults();
    path.values = lambda;
    path.count = 2;
    assert_ok(ctx, mercer_fit_path(ctx, "ridge", NULL, kernel, data, &path, whole));
    path.row_size = 2 * sizeof(double);
    assert_ok(ctx, mercer_fit_path(ctx, "ridge", NULL, kernel, data, &path, (mercer_path_row *)(void *)two));
    for (int k = 0; k < 2; k++)
        assert_true(two[2 * k] == lambda[k] && two[2 * k + 1] == whole[k].norm && isnan(whole[k].primal));
    path.row_size = 0;
    assert_fails(ctx, mercer_fit_path(ctx, "ridge", NULL, kernel, data, &path, whole), MERCER_INVALID, "row_size is 0");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_a_struct_without_its_size_is_refused_by_name(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1), *other = NULL;
    mercer_data *data = sinc(ctx), *made = NULL;
    mercer_kernel *kernel = rbf(ctx), *again = NULL;
    mercer_model *model = NULL;
    const mercer_options options = {.threads = 1};
    assert_int_equal(mercer_open(&options, &other), MERCER_INVALID);
    assert_non_null(strstr(mercer_message(other), "mercer_options.size is 0"));
    mercer_close(other);
    const mercer_table table = {.n = 1, .d = 1};
    assert_fails(ctx, mercer_data_make(ctx, &table, &made), MERCER_INVALID, "mercer_table.size is 0");
    const mercer_user_kernel user = {.size = 12, .name = "mine"};
    assert_fails(ctx, mercer_kernel_parse_with(ctx, "user(\"mine\")", &user, 1, &again), MERCER_INVALID,
                 "mercer_user_kernel.size is 12");
    mercer_shape shape = {.size = 1 << 20};
    assert_false(mercer_kernel_shape(kernel, 1, &shape));
    const mercer_lms lms = {.machine = "lms"};
    assert_fails(ctx, mercer_fit(ctx, "lms", &lms, kernel, data, &model), MERCER_INVALID, "mercer_lms.size is 0");
    assert_null(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Machines and their settings ---- */

static void test_settings_belong_to_their_machine(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = sinc(ctx);
    mercer_kernel *kernel = rbf(ctx);
    mercer_model *model = NULL;
    const mercer_ridge ridge = mercer_ridge_defaults();
    assert_fails(ctx, mercer_fit(ctx, "svr", &ridge, kernel, data, &model), MERCER_INVALID,
                 "svr: the settings are those of ridge");
    mercer_svm svm = mercer_svm_defaults("svr");
    assert_fails(ctx, mercer_fit(ctx, "nu-svr", &svm, kernel, data, &model), MERCER_INVALID, "those of svr");
    svm.nu = 0.3;
    assert_fails(ctx, mercer_fit(ctx, "svr", &svm, kernel, data, &model), MERCER_INVALID,
                 "svr has no setting 'nu'; nu-svc, nu-svr and one-class have it");
    const mercer_svm none = mercer_svm_defaults("ridge");
    assert_fails(ctx, mercer_fit(ctx, "ridge", &none, kernel, data, &model), MERCER_INVALID, "of no machine");
    mercer_loss loss = mercer_loss_defaults("huber");
    const mercer_own_loss own = {.size = sizeof own, .name = "mine"};
    loss.own = &own;
    assert_fails(ctx, mercer_fit(ctx, "huber", &loss, kernel, data, &model), MERCER_INVALID, "own-loss has it");
    assert_fails(ctx, mercer_fit(ctx, "own-loss", NULL, kernel, data, &model), MERCER_INVALID, "own is NULL");
    assert_null(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_a_setting_put_into_the_wrong_machine_names_those_that_have_it(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_svm set = mercer_svm_defaults("svc");
    assert_ok(ctx, mercer_settings_put(ctx, &set, "C", "3"));
    assert_true(set.C == 3);
    assert_fails(ctx, mercer_settings_put(ctx, &set, "delta", "3"), MERCER_INVALID,
                 "svc has no setting 'delta'; huber has it");
    assert_fails(ctx, mercer_settings_put(ctx, &set, "tolerence", "3"), MERCER_INVALID, "did you mean 'tolerance'?");
    assert_fails(ctx, mercer_settings_init(ctx, "ridge", &set, sizeof set), MERCER_INVALID, "mercer_ridge, have");
    close_clean(ctx);
}

/* Every call that takes the name of a machine says what was probably meant. */
static void test_an_unknown_machine_is_an_error_with_a_suggestion(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = sinc(ctx);
    mercer_kernel *kernel = rbf(ctx);
    mercer_model *model = NULL;
    mercer_search *search = NULL;
    mercer_plan plan = {.size = sizeof plan};
    mercer_tune_plan tune = {.size = sizeof tune};
    mercer_ridge set;
    const char *meant = "there is no machine 'rigde'; did you mean 'ridge'?";
    assert_fails(ctx, mercer_fit(ctx, "rigde", NULL, kernel, data, &model), MERCER_INVALID, meant);
    assert_fails(ctx, mercer_plan_fit(ctx, "rigde", NULL, kernel, data, &plan), MERCER_INVALID, meant);
    assert_fails(ctx, mercer_tune_run(ctx, "rigde", NULL, NULL, data, &search), MERCER_INVALID, meant);
    assert_fails(ctx, mercer_tune_default(ctx, "rigde", NULL, data, &search), MERCER_INVALID, meant);
    assert_fails(ctx, mercer_plan_tune(ctx, "rigde", NULL, NULL, data, &tune), MERCER_INVALID, meant);
    assert_fails(ctx, mercer_plan_default(ctx, "rigde", NULL, data, &tune), MERCER_INVALID, meant);
    assert_fails(ctx, mercer_settings_init(ctx, "rigde", &set, sizeof set), MERCER_INVALID, meant);
    assert_fails(ctx, mercer_fit_folds(ctx, "svr", NULL, kernel, data, (int64_t[40]){0}, (double[40]){0}, NULL, NULL),
                 MERCER_INVALID, "ridge alone");
    assert_fails(ctx, mercer_plan_fit(ctx, "own-loss", NULL, kernel, data, &plan), MERCER_INVALID, "cannot be planned");
    assert_fails(ctx, mercer_tune_run(ctx, "own-loss", NULL, NULL, data, &search), MERCER_INVALID, "be searched");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Indices ---- */

/* Places before the first and behind the last of whatever a model has. */
static void test_an_index_that_a_model_does_not_have_is_no_number(void **state) {
    (void)state;
    static const int64_t beyond[] = {-1, 40, INT64_MAX, INT64_MIN};
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = rbf(ctx);
    mercer_data *data = sinc(ctx);
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_fit(ctx, "ridge", NULL, kernel, data, &model));
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_int_equal(mercer_model_row(model, beyond[i]), -1);
        assert_true(isnan(mercer_model_coefficient(model, beyond[i], 0)));
        assert_true(isnan(mercer_model_coefficient(model, 0, beyond[i])));
        assert_true(isnan(mercer_model_intercept(model, beyond[i])));
        assert_true(isnan(mercer_model_weight(model, 0, 0)) && isnan(mercer_model_weight(model, beyond[i], 0)));
        assert_true(isnan(mercer_model_component(model, beyond[i]).eigenvalue));
    }
    assert_true(isnan(mercer_model_component(NULL, 0).eigenvalue));
    mercer_model_free(model);
    mercer_data_free(data);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

/* ---- Callbacks ---- */

typedef struct watched {
    pthread_t caller;
    atomic_int calls, elsewhere; /* on another thread than the caller's */
} watched;

static void note_thread(watched *w) {
    atomic_fetch_add(&w->calls, 1);
    atomic_fetch_add(&w->elsewhere, !pthread_equal(pthread_self(), w->caller));
}

static void *watched_memory(void *user, void *block, size_t old_size, size_t new_size) {
    (void)old_size;
    note_thread(user);
    if (new_size)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

static void watched_log(void *user, const char *line) {
    (void)line;
    note_thread(user);
}

/* Five classes, whose pairs would be solved side by side. */
static mercer_data *five_classes(mercer_ctx *ctx) {
    enum { N = 600 };
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    double x[N * 2];
    const char *labels[N];
    for (int i = 0; i < N; i++) {
        labels[i] = names[i % 5];
        x[2 * i] = i % 5 + sin(i * 1.7);
        x[2 * i + 1] = i % 3 + cos(i * 2.3);
    }
    const mercer_table table = {
        .size = sizeof table, .n = N, .d = 2, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static void test_the_memory_hook_and_the_log_are_called_by_the_calling_thread_alone(void **state) {
    (void)state;
    static const char *const machines[] = {"svc", "ridge", "logistic", "knn", "pca", "lms"};
    watched memory = {.caller = pthread_self()}, log = {.caller = pthread_self()};
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    options.threads = 4;
    options.memory = watched_memory;
    options.memory_user = &memory;
    options.log = watched_log;
    options.log_user = &log;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_data *data = five_classes(ctx);
    mercer_kernel *kernel = rbf(ctx);
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++) {
        double out[600 * 10];
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_fit(ctx, machines[k], NULL, kernel, data, &model));
        assert_ok(ctx, mercer_predict(ctx, model, data, out));
        mercer_model_free(model);
    }
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    assert_true(memory.calls > 100 && log.calls > 0);
    assert_int_equal(memory.elsewhere, 0);
    assert_int_equal(log.elsewhere, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_statuses_and_versions_stay),
        cmocka_unit_test(test_fields_an_older_program_does_not_know_are_defaults),
        cmocka_unit_test(test_fields_the_library_does_not_know_must_be_zero),
        cmocka_unit_test(test_results_fit_the_room_there_is),
        cmocka_unit_test(test_rows_of_a_path_have_the_length_of_the_caller),
        cmocka_unit_test(test_a_struct_without_its_size_is_refused_by_name),
        cmocka_unit_test(test_settings_belong_to_their_machine),
        cmocka_unit_test(test_a_setting_put_into_the_wrong_machine_names_those_that_have_it),
        cmocka_unit_test(test_an_unknown_machine_is_an_error_with_a_suggestion),
        cmocka_unit_test(test_the_memory_hook_and_the_log_are_called_by_the_calling_thread_alone),
        cmocka_unit_test(test_an_index_that_a_model_does_not_have_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
