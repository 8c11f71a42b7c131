/* Tables of a few rows through every machine: whatever is asked of them is answered, or refused by a sentence that
   names cause and cure; what nobody asked for, such as five folds, is never the reason. */
#include "tune_of_test.h"

enum { MOST_ROWS = 12, MOST_CLASSES = 5 };

/* A table with so many classes, dealt out evenly or one row each but for the last; of numbers with 0 classes. */
typedef struct table_of_test {
    int64_t n, classes;
    bool singles;
} table_of_test;

static int64_t class_at(const table_of_test *t, int64_t i) {
    return t->singles ? (i < t->classes ? i : t->classes - 1) : i % t->classes;
}

static mercer_data *make_table(mercer_ctx *ctx, const table_of_test *t) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    double x[2 * MOST_ROWS], y[MOST_ROWS];
    const char *labels[MOST_ROWS];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, (uint64_t)(t->n * 10 + t->classes));
    for (int64_t i = 0; i < t->n; i++) {
        x[2 * i] = mc_rng_normal(&rng);
        x[2 * i + 1] = mc_rng_normal(&rng);
        y[i] = x[2 * i] + mc_rng_normal(&rng);
        labels[i] = t->classes ? names[class_at(t, i)] : NULL;
    }
    mercer_table table = {.size = sizeof table, .n = t->n, .d = 2, .dtype = MERCER_F64, .values = x};
    table.labels = t->classes ? labels : NULL;
    table.target = t->classes ? NULL : y;
    table.outputs = t->classes ? 0 : 1;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* Every refusal has its cure behind a semicolon or a colon, and names no number that nobody gave. */
static void check_sentence(mercer_ctx *ctx, mercer_status status, const char *what, const mercer_machine *machine,
                           const table_of_test *t) {
    const char *message = mercer_message(ctx);
    if (!status)
        return;
    const bool refused = status == MERCER_DATA || status == MERCER_INVALID || status == MERCER_NUMERIC;
    if (!refused || !strpbrk(message, ";,") || strstr(message, "5 folds") || strstr(message, "candidates could"))
        fail_msg("%s %s of %lld rows, %lld classes%s: %s: %s", what, machine->name, (long long)t->n,
                 (long long)t->classes, t->singles ? ", most of one row" : "", mercer_status_name(status), message);
}

static void walk_machine(mercer_ctx *ctx, const mercer_machine *machine, const mercer_data *data,
                         const table_of_test *t) {
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=0.5)");
    mercer_model *model = NULL;
    mercer_search *search = NULL;
    mercer_tune set = mercer_tune_defaults();
    mercer_plan plan = {.size = sizeof plan};
    set.points = 2;
    check_sentence(ctx, mercer_fit(ctx, machine->name, NULL, kernel, data, &model), "fit", machine, t);
    check_sentence(ctx, mercer_plan_fit(ctx, machine->name, NULL, kernel, data, &plan), "plan", machine, t);
    const mercer_status status = mercer_tune_run(ctx, machine->name, NULL, &set, data, &search);
    check_sentence(ctx, status, "tune", machine, t);
    mercer_model_free(model);
    model = NULL;
    if (!status)
        check_sentence(ctx, mercer_search_fit(ctx, search, data, &model), "fit of tune", machine, t);
    mercer_model_free(model);
    mercer_search_free(search);
    mercer_kernel_free(kernel);
}

static void walk_table(mercer_ctx *ctx, const table_of_test *t) {
    mercer_data *data = make_table(ctx, t);
    const mercer_machine *machine = NULL;
    for (int i = 0; (machine = mercer_machine_at(i)); i++)
        walk_machine(ctx, machine, data, t);
    mercer_data_free(data);
}

static void test_every_table_is_answered_or_refused_with_its_cure(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t n = 1; n <= MOST_ROWS; n += n < 6 ? 1 : 3)
        for (int64_t classes = 0; classes <= MOST_CLASSES && classes <= n; classes++)
            for (int singles = 0; singles < 2; singles++)
                walk_table(ctx, &(table_of_test){n, classes, singles});
    close_clean(ctx);
}

/* ---- Folds that nobody gave ---- */

static void check_splits(mercer_ctx *ctx, const char *machine, table_of_test t, const char *splits) {
    mercer_data *data = make_table(ctx, &t);
    mercer_tune set = mercer_tune_defaults();
    mercer_search *search = NULL;
    set.points = 2;
    assert_ok(ctx, mercer_tune_run(ctx, machine, NULL, &set, data, &search));
    assert_string_equal(mercer_search_report(search)->splits, splits);
    mercer_search_free(search);
    mercer_data_free(data);
}

static void test_fewer_folds_are_taken_where_five_cannot_be_filled(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    check_splits(ctx, "huber", (table_of_test){4, 0, false}, "4 folds, as many as there are rows");
    check_splits(ctx, "svc", (table_of_test){6, 2, false}, "3 folds, as many as class 'a' has rows, stratified");
    check_splits(ctx, "logistic", (table_of_test){6, 3, true},
                 "4 folds, as many as class 'c' has rows, stratified; classes of one row are learned and not "
                 "measured");
    check_splits(ctx, "svc", (table_of_test){12, 2, false}, "5 folds, stratified");
    close_clean(ctx);
}

static void test_groups_fill_as_many_folds_as_there_are(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table_of_test t = {9, 0, false};
    mercer_data *data = make_table(ctx, &t);
    const char *group[] = {"x", "y", "z", "x", "y", "z", "x", "y", "z"};
    mercer_tune set = mercer_tune_defaults();
    mercer_search *search = NULL;
    set.points = 2;
    set.groups = group;
    assert_ok(ctx, mercer_tune_run(ctx, "svr", NULL, &set, data, &search));
    assert_string_equal(mercer_search_report(search)->splits,
                        "3 folds, as many as there are groups, groups kept together");
    mercer_search_free(search);
    mercer_data_free(data);
    close_clean(ctx);
}

static void check_refusal(mercer_ctx *ctx, const char *machine, table_of_test t, int64_t folds, const char *message) {
    mercer_data *data = make_table(ctx, &t);
    mercer_tune set = mercer_tune_defaults();
    mercer_search *search = NULL;
    set.folds = folds;
    const mercer_status status = mercer_tune_run(ctx, machine, NULL, &set, data, &search);
    assert_true(status == MERCER_DATA || status == MERCER_INVALID);
    assert_non_null(strstr(mercer_message(ctx), message));
    assert_null(search);
    mercer_data_free(data);
}

static void test_a_number_that_was_given_stays_an_error(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    check_refusal(ctx, "svc", (table_of_test){6, 2, false}, 5, "class 'a' has 3 rows, fewer than the 5 folds");
    check_refusal(ctx, "svc", (table_of_test){6, 3, true}, 2, "then it is learned and not measured");
    check_refusal(ctx, "huber", (table_of_test){4, 0, false}, 5, "folds must be in [2, 4]");
    check_refusal(ctx, "ridge", (table_of_test){1, 0, false}, 0, "there is one row");
    check_refusal(ctx, "svc", (table_of_test){3, 3, false}, 0, "each of the 3 classes has one row");
    close_clean(ctx);
}

/* All candidates fail for one reason, which is then told. */
static void test_a_search_without_a_score_says_why(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = make_table(ctx, &(table_of_test){6, 0, false});
    wish w = wish_of("ridge", "exp(1e6*linear)", "lambda=0.1..1");
    assert_fails(ctx, refused(ctx, w, data), MERCER_NUMERIC, "could be measured; of the first: ");
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_table_is_answered_or_refused_with_its_cure),
        cmocka_unit_test(test_fewer_folds_are_taken_where_five_cannot_be_filled),
        cmocka_unit_test(test_groups_fill_as_many_folds_as_there_are),
        cmocka_unit_test(test_a_number_that_was_given_stays_an_error),
        cmocka_unit_test(test_a_search_without_a_score_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
