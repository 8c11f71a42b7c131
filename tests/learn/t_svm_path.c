#include "data/table/data.h"
#include "certify/svm_certificate.h"
#include "learn/svm/svm.h"
#include "loss_of_test.h"

enum { VALUES = 5 };
static const double COSTS[VALUES] = {0.01, 0.3, 1, 20, 1000};

static mercer_status path_of(mercer_ctx *ctx, const char *machine, const table *t, const double *C, bool tested,
                             mercer_path_row *out) {
    mercer_data *data = data_of(ctx, t, needs_classes(machine));
    mercer_kernel *kernel = NULL;
    const mercer_svm set = plain(machine, 1e-7);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4)", &kernel));
    const mercer_status status = fit_path(ctx, machine, kernel, data, &set, C, VALUES, tested ? data : NULL, NULL, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

/* ---- What certificates allow ---- */

/* Both objectives lie above the optimum by no more than their gaps, both duals below it. */
static void assert_one_optimum(double primal, double dual, double other_primal, double other_dual) {
    const double rounding = 1e-13 * (1 + fabs(primal));
    assert_true(primal >= other_dual - rounding && other_primal >= dual - rounding);
}

/* Rows whose class two functions that differ by no more than apart may see in two ways: two of its values are that
   close, or one to 0. */
static int64_t rows_in_question(mercer_ctx *ctx, const mercer_model *model, const table *t, double apart) {
    int64_t count = 0;
    const int64_t outputs = mercer_model_outputs(model);
    double *values = values_of(ctx, model, t, mercer_predict);
    for (int64_t i = 0; i < t->n; i++) {
        bool close = false;
        for (int64_t a = 0; a < outputs; a++)
            for (int64_t b = 0; b < outputs; b++)
                close |= a != b && fabs(values[i * outputs + a] - values[i * outputs + b]) <= 2 * apart;
        count += close;
    }
    free(values);
    return count;
}

/* Scores of one value per row are no further apart than the functions: k(x, x) = 1, so a distance in H is one of
   values, and the intercept, which the rows on the margin tell, adds as much again. Of classes some rows may change
   sides. */
static void assert_one_score(mercer_ctx *ctx, double score, double other, const mercer_model *model, const table *t,
                             double apart) {
    if (mercer_model_classes(model) > 0)
        assert_true(fabs(score - other) * (double)t->n <= (double)rows_in_question(ctx, model, t, apart) + 1e-9);
    else
        assert_true(fabs(score - other) <= apart);
}

/* A path is the fits one by one: the optimum is one, whatever the start. */
static void check(const char *machine, int64_t classes, bool weighted) {
    mercer_ctx *ctx = open_ctx(2);
    table t = random_table(150, classes, 77);
    t.weighted = weighted;
    mercer_path_row row[VALUES];
    assert_ok(ctx, path_of(ctx, machine, &t, COSTS, true, row));
    for (int k = 0; k < VALUES; k++) {
        mercer_svm set = plain(machine, 1e-7);
        set.C = COSTS[k];
        mercer_model *model = fit(ctx, machine, &set, "rbf(gamma=0.4)", &t);
        const mercer_report *r = mercer_model_report(model);
        mercer_data *data = data_of(ctx, &t, needs_classes(machine));
        mercer_scores scores = {.size = sizeof scores};
        assert_ok(ctx, mercer_score(ctx, model, data, &scores));
        const double gap = row[k].primal - row[k].dual, apart = r->certificate.distance + sqrt(2 * fmax(gap, 0));
        assert_true(row[k].value == COSTS[k] && row[k].kkt_violation <= 1e-7);
        /* the violation times the sum of all bounds */
        assert_true(gap <= 1e-7 * 2.5 * COSTS[k] * (double)(t.n * classes));
        assert_one_optimum(row[k].primal, row[k].dual, r->certificate.primal, r->certificate.dual);
        assert_one_score(ctx, row[k].test, needs_classes(machine) ? scores.accuracy : scores.rmse, model, &t,
                         2 * apart + 1e-7);
        mercer_data_free(data);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_a_path_is_its_fits(void **state) {
    (void)state;
    check("svc", 2, false);
    check("svc", 3, true);
    check("svr", 2, true);
}

static void test_what_has_no_path_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(30, 2, 78);
    mercer_path_row row[VALUES];
    const double falls[VALUES] = {1, 2, 2, 3, 4}, endless[VALUES] = {1, 2, 3, 4, INFINITY},
                 none[VALUES] = {0, 1, 2, 3, 4};
    assert_fails(ctx, path_of(ctx, "nu-svc", &t, COSTS, false, row), MERCER_INVALID, "nu-svc");
    assert_fails(ctx, path_of(ctx, "svc", &t, falls, false, row), MERCER_INVALID, "number 3");
    assert_fails(ctx, path_of(ctx, "svc", &t, endless, false, row), MERCER_INVALID, "number 5");
    assert_fails(ctx, path_of(ctx, "svc", &t, none, false, row), MERCER_INVALID, "number 1");
    assert_ok(ctx, path_of(ctx, "svc", &t, COSTS, false, row));
    assert_true(isnan(row[0].test));
    close_clean(ctx);
}

/* Quadratic programs too large for one set: the rows next to the margin first, and certificates that compute what has
   changed since the last. */
typedef struct walked {
    const mercer_kernel *kernel;
    const mercer_data *data;
    mc_svm_kind kind;
    int values;      /* of C */
    int64_t skipped; /* rows that certificates of a larger C did not compute */
    double dual[VALUES];
} walked;

/* The numbers of the certificate once more, all from nothing. */
static mercer_status assert_certified(mercer_ctx *ctx, mc_svm *s, mc_fitted *f) {
    const mercer_certificate was = f->report.certificate;
    const double objective = f->report.objective;
    s->task[0].error_is_known = false;
    f->kernel = s->p.kernel;
    const mercer_status status = mc_svm_certify(ctx, s, f);
    f->kernel = NULL;
    mc_svm_report(s, &f->report);
    if (!status) {
        assert_close(f->report.objective, objective, 1e-11);
        assert_true(fabs(f->report.certificate.kkt_violation - was.kkt_violation) <= 1e-9);
        assert_true(f->report.certificate.dual <= was.primal && was.dual <= f->report.certificate.primal);
        assert_true(fabs(f->report.objective - objective) <= was.rounding + f->report.certificate.rounding);
    }
    return status;
}

static mercer_status walk(mercer_ctx *ctx, void *arg) {
    static const double C[VALUES] = {0.1, 0.3, 0.7, 2, 3};
    walked *w = arg;
    mercer_svm set = plain(mc_svm_variants[w->kind].name, 1e-4);
    set.precision = "single";
    mc_svm s;
    mc_driver driver = mc_svm_driver(&s);
    mercer_status status = mc_svm_open(ctx, w->kind, &set, w->kernel, w->data, &s);
    s.path = true;
    if (!status)
        s.solver->most = w->data->n / 5;
    s.C = C[0];
    w->skipped = 0;
    for (int k = 0; k < w->values && !status; k++) {
        mc_fitted f = {0};
        if (k)
            mc_svm_raise_C(&s, C[k]);
        status = mc_drive_once(ctx, &driver, &f);
        for (int64_t i = 0; k && !status && i < s.task[0].n; i++)
            w->skipped += s.task[0].error[i] > 0;
        w->dual[k] = f.report.certificate.dual;
        if (!status && k % 2) /* the others leave their own account to the next */
            status = assert_certified(ctx, &s, &f);
        mc_fitted_free(&f);
    }
    mc_svm_close(&s);
    return status;
}

static void test_a_path_over_active_sets_is_certified_as_from_nothing(void **state) {
    (void)state;
    const table t = random_table(MOST, 2, 79);
    const mc_svm_kind kinds[] = {MC_SVC, MC_SVR};
    for (int kind = 0; kind < 2; kind++) {
        double dual[VALUES];
        for (int threads = 1; threads <= 2; threads++) {
            mercer_ctx *ctx = open_ctx(threads);
            mercer_data *data = data_of(ctx, &t, kind == 0);
            mercer_kernel *kernel = NULL;
            assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4)", &kernel));
            walked w = {.kernel = kernel, .data = data, .kind = kinds[kind], .values = VALUES};
            assert_ok(ctx, walk(ctx, &w));
            assert_true(w.skipped > VALUES);
            assert_true(threads == 1 || memcmp(dual, w.dual, sizeof dual) == 0);
            memcpy(dual, w.dual, sizeof dual);
            mercer_kernel_free(kernel);
            mercer_data_free(data);
            close_clean(ctx);
        }
    }
}

static mercer_status attempt(mercer_ctx *ctx, void *arg) {
    (void)arg;
    static const double x[] = {0, 0, 1, 0, 0, 1, 1, 1, 2, 2, 3, 1}, C[] = {0.5, 5};
    static const char *const labels[] = {"a", "b", "a", "b", "a", "b"};
    const mercer_table given = {
        .size = sizeof given, .n = 6, .d = 2, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_path_row row[2];
    mercer_status status = mercer_data_make(ctx, &given, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf(gamma=1)", &kernel);
    if (!status)
        status = fit_path(ctx, "svc", kernel, data, NULL, C, 2, data, NULL, row);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(attempt, NULL);
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(24, 2, 80);
    mercer_data *data = data_of(ctx, &t, true);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4)", &kernel));
    walked w = {.kernel = kernel, .data = data, .kind = MC_SVC, .values = 2};
    assert_survives_failing_memory(walk, &w);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Along lambda ---- */

enum { LAMBDAS = 4 };
static const double PATH[LAMBDAS] = {0.3, 5, 0.02, 0.3}; /* in any order */

static mercer_status loss_path_of(mercer_ctx *ctx, const char *machine, const mercer_loss *set, const table *t,
                                  const int64_t *fold, mercer_path_row *out) {
    mercer_data *data = data_of(ctx, t, takes_classes(machine));
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.6)", &kernel));
    const mercer_status status = fit_path(ctx, machine, kernel, data, set, PATH, LAMBDAS, data, fold, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static double score_of(const char *machine, const mercer_scores *s) {
    return takes_classes(machine)         ? s->accuracy
           : !strcmp(machine, "huber")    ? s->rmse
           : !strcmp(machine, "absolute") ? s->mae
                                          : s->pinball;
}

static void check_path(mercer_ctx *ctx, const char *machine, const mercer_loss *set, const table *t) {
    mercer_path_row row[LAMBDAS];
    assert_ok(ctx, loss_path_of(ctx, machine, set, t, NULL, row));
    for (int k = 0; k < LAMBDAS; k++) {
        mercer_loss one = *set;
        one.lambda = PATH[k];
        mercer_model *model = fit_loss(ctx, machine, &one, "rbf(gamma=0.6)", t);
        const mercer_report *r = mercer_model_report(model);
        mercer_data *data = data_of(ctx, t, takes_classes(machine));
        mercer_scores scores = {.size = sizeof scores};
        assert_ok(ctx, mercer_score(ctx, model, data, &scores));
        assert_true(row[k].value == PATH[k] && row[k].gap_relative <= set->tolerance && isnan(row[k].fold));
        const double apart = row[k].distance + r->certificate.distance;
        /* lambda/2 distance^2 is at most the gap, and that the tolerance times the objective */
        assert_true(apart <= 2.01 * sqrt(2 * set->tolerance * r->certificate.primal / PATH[k]));
        assert_one_optimum(row[k].primal, row[k].dual, r->certificate.primal, r->certificate.dual);
        assert_true(fabs(row[k].norm - r->norm) <= apart);
        assert_one_score(ctx, row[k].test, score_of(machine, &scores), model, t, 2 * apart);
        assert_true(isnan(row[k].test_log_loss) ? isnan(scores.log_loss)
                                                : fabs(row[k].test_log_loss - scores.log_loss) <= 4 * apart);
        mercer_data_free(data);
        mercer_model_free(model);
    }
}

static void test_a_path_along_lambda_is_its_fits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int i = 0; i < COUNT; i++)
        for (int variant = 0; variant < (i < SMOOTH ? 2 : 1); variant++) {
            table t = random_table(80, variant ? 3 : 2, (uint64_t)(900 + 10 * i + variant));
            t.weighted = variant;
            mercer_loss set = settings(LOSSES[i], 1, 1e-8);
            set.solver = i < SMOOTH && variant ? "pcg" : set.solver;
            check_path(ctx, LOSSES[i], &set, &t);
        }
    close_clean(ctx);
}

static table part_of(const table *t, int64_t begin, int64_t end) {
    table part = {.n = end - begin, .classes = t->classes};
    for (int64_t i = begin; i < end; i++) {
        memcpy(part.x + (i - begin) * D, t->x + i * D, D * sizeof *part.x);
        part.class_of[i - begin] = t->class_of[i];
    }
    return part;
}

/* Two folds: the rows outside each, fitted on their own. */
static void test_folds_of_a_path_are_fits_to_the_rest(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(60, 2, 970);
    int64_t fold[60];
    for (int64_t i = 0; i < t.n; i++)
        fold[i] = i >= 30;
    mercer_loss set = settings("logistic", PATH[0], 1e-9);
    mercer_path_row row[LAMBDAS];
    assert_ok(ctx, loss_path_of(ctx, "logistic", &set, &t, fold, row));
    double mean = 0, log_loss = 0;
    for (int g = 0; g < 2; g++) {
        const table parts[2] = {part_of(&t, 0, 30), part_of(&t, 30, 60)};
        mercer_model *model = fit_loss(ctx, "logistic", &set, "rbf(gamma=0.6)", &parts[!g]);
        mercer_data *data = data_of(ctx, &parts[g], true);
        mercer_scores scores = {.size = sizeof scores};
        assert_ok(ctx, mercer_score(ctx, model, data, &scores));
        mean += scores.accuracy / 2;
        log_loss += scores.log_loss / 2;
        mercer_data_free(data);
        mercer_model_free(model);
    }
    assert_close(row[0].fold, mean, 1e-12);
    assert_close(row[0].fold_log_loss, log_loss, 1e-5); /* sqrt(2 gap / lambda), the gap 1e-9 of the objective */
    fold[3] = 2;
    fold[4] = -1;
    assert_fails(ctx, loss_path_of(ctx, "logistic", &set, &t, fold, row), MERCER_INVALID, "row 5");
    assert_fails(ctx, loss_path_of(ctx, "svc", NULL, &t, fold, row), MERCER_INVALID, "not on folds");
    assert_fails(ctx, loss_path_of(ctx, "nu-svc", NULL, &t, NULL, row), MERCER_INVALID, "nu-svc has none");
    close_clean(ctx);
}

/* ---- Starts ---- */

/* On the whole: of one machine on one table the steps may be a few more. */
static void test_a_start_from_another_kernel_reaches_the_optimum_sooner(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    int64_t steps = 0, from_nothing = 0;
    for (int m = 0; m < 5; m++) {
        table t = random_table(200, needs_classes(MACHINES[m]) ? 3 : 2, 31);
        t.weighted = m != 1;
        mercer_svm set = plain(MACHINES[m], 1e-6);
        set.nu = set.nu > 0 ? 0.2 : 0;
        mercer_model *first = fit(ctx, MACHINES[m], &set, "rbf(gamma=0.7)", &t);
        mercer_model *cold = fit(ctx, MACHINES[m], &set, "rbf(gamma=0.8)", &t);
        set.start = first;
        mercer_model *warm = fit(ctx, MACHINES[m], &set, "rbf(gamma=0.8)", &t);
        assert_close(mercer_model_report(warm)->objective, mercer_model_report(cold)->objective, 1e-6);
        assert_true(mercer_model_report(warm)->certificate.kkt_violation <= 1e-6);
        steps += mercer_model_report(warm)->iterations;
        from_nothing += mercer_model_report(cold)->iterations;
        set.start = cold; /* at its own optimum there is next to nothing to do */
        mercer_model *again = fit(ctx, MACHINES[m], &set, "rbf(gamma=0.8)", &t);
        assert_true(mercer_model_report(again)->iterations * 20 <= mercer_model_report(cold)->iterations);
        mercer_model_free(first);
        mercer_model_free(cold);
        mercer_model_free(warm);
        mercer_model_free(again);
    }
    if (!(20 * steps < 19 * from_nothing))
        fail_msg("%lld steps, %lld from nothing", (long long)steps, (long long)from_nothing);
    close_clean(ctx);
}

static void test_a_start_that_does_not_fit_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(60, 2, 32), few = random_table(20, 2, 32), three = random_table(60, 3, 33);
    mercer_svm set = plain("svc", 1e-3);
    mercer_model *svc = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t), *none = NULL;
    set.start = svc;
    mercer_svm other = plain("svr", 1e-3);
    other.start = svc;
    assert_fails(ctx, try_fit(ctx, "svr", &other, "rbf", &t, &none), MERCER_INVALID, "another machine");
    assert_fails(ctx, try_fit(ctx, "svc", &set, "rbf", &few, &none), MERCER_INVALID, "more rows");
    assert_fails(ctx, try_fit(ctx, "svc", &set, "rbf", &three, &none), MERCER_INVALID, "other classes");
    set.C = INFINITY;
    assert_fails(ctx, try_fit(ctx, "svc", &set, "rbf", &t, &none), MERCER_INVALID, "hard margin");
    mercer_model_free(svc);
    close_clean(ctx);
}

/* ---- Checkpoints ---- */

static void test_a_checkpoint_is_taken_up_and_belongs_to_one_fit(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(150, 4, 34);
    mercer_svm set = plain("svc", 1e-3);
    mercer_model *none = NULL, *plain_one = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t);
    set.checkpoint = "t_svm.check";
    remove(set.checkpoint);
    mercer_model *first = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t),
                 *second = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t);
    double *x = decide(ctx, plain_one, &t), *y = decide(ctx, first, &t), *z = decide(ctx, second, &t);
    for (int64_t i = 0; i < 6 * t.n; i++)
        assert_close(x[i], y[i], 4e-3); /* either is within the tolerance: checkpoints have a way of their own */
    assert_memory_equal(y, z, (size_t)(6 * t.n) * sizeof *x);
    assert_int_equal(mercer_model_report(first)->iterations, mercer_model_report(second)->iterations);
    set.C = 2;
    assert_fails(ctx, try_fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t, &none), MERCER_INVALID, "of another fit");
    set.C = 1;
    set.start = first;
    assert_fails(ctx, try_fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t, &none), MERCER_INVALID, "of another fit");
    remove(set.checkpoint);
    free(x);
    free(y);
    free(z);
    mercer_model_free(plain_one);
    mercer_model_free(first);
    mercer_model_free(second);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_path_is_its_fits),
        cmocka_unit_test(test_what_has_no_path_is_refused),
        cmocka_unit_test(test_a_path_over_active_sets_is_certified_as_from_nothing),
        cmocka_unit_test(test_survives_failing_memory),
        cmocka_unit_test(test_a_path_along_lambda_is_its_fits),
        cmocka_unit_test(test_folds_of_a_path_are_fits_to_the_rest),
        cmocka_unit_test(test_a_start_from_another_kernel_reaches_the_optimum_sooner),
        cmocka_unit_test(test_a_start_that_does_not_fit_is_refused),
        cmocka_unit_test(test_a_checkpoint_is_taken_up_and_belongs_to_one_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
