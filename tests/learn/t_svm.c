#include "certify/svm_certificate.h"
#include "learn/svm/svm.h"
#include "svm_of_test.h"

/* ---- The certificate, by the definitions and the reference evaluator ---- */

typedef struct sums {
    long double primal, dual;
} sums;

static double coefficient_of_row(const mercer_model *model, int64_t row, int64_t decision) {
    for (int64_t c = 0; c < mercer_model_centres(model); c++)
        if (mercer_model_row(model, c) == row)
            return mercer_model_coefficient(model, c, decision);
    return 0;
}

/* Primal and dual of one decision; C of nu-svc is its largest coefficient over the row's weight. */
static sums values_of(mercer_ctx *ctx, const mercer_model *model, const table *t, int64_t decision, const char *machine,
                      const mercer_svm *set, double C, double epsilon) {
    sums s = {0, 0};
    long double norm2 = 0, total = 0;
    const double b = mercer_model_intercept(model, decision);
    int64_t first = 0, second = 0;
    mercer_model_decision(model, decision, &first, &second);
    for (int64_t i = 0; i < t->n; i++) {
        if (needs_classes(machine) && second >= 0 && t->class_of[i] != first && t->class_of[i] != second)
            continue;
        const double w = t->weighted ? t->w[i] : 1, c = coefficient_of_row(model, i, decision);
        const long double f = expansion(ctx, model, t, decision, t->x + i * D);
        norm2 += c * f;
        total += w;
        if (needs_classes(machine)) {
            s.primal += C * w * fmaxl(0, 1 - (t->class_of[i] == first ? 1 : -1) * (f + b));
            s.dual += fabs(c);
        } else if (strstr(machine, "svr")) {
            s.primal += C * w * fmaxl(0, fabsl(t->y[i] - f - b) - epsilon);
            s.dual += t->y[i] * c - epsilon * fabs(c);
        } else {
            s.primal += w * fmaxl(0, -f - b);
        }
    }
    if (strcmp(machine, "one-class") == 0)
        s.primal += b * set->nu * total;
    s.primal += norm2 / 2;
    s.dual -= norm2 / 2;
    return s;
}

static double largest_ratio(const mercer_model *model, const table *t) {
    double most = 0;
    for (int64_t c = 0; c < mercer_model_centres(model); c++)
        most = fmax(most,
                    fabs(mercer_model_coefficient(model, c, 0)) / (t->weighted ? t->w[mercer_model_row(model, c)] : 1));
    return most;
}

static void check_certificate(mercer_ctx *ctx, const char *machine, const mercer_svm *set, const char *kernel,
                              const table *t) {
    mercer_model *model = fit(ctx, machine, set, kernel, t);
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    const double C = strcmp(machine, "nu-svc") == 0 ? largest_ratio(model, t) : set->C;
    sums s = {0, 0};
    for (int64_t k = 0; k < mercer_model_decisions(model); k++) {
        const sums one = values_of(ctx, model, t, k, machine, set, C, set->epsilon);
        s.primal += one.primal;
        s.dual += one.dual;
    }
    assert_string_equal(c->kind, "gap");
    assert_true(c->kkt_violation <= set->tolerance);
    if (strcmp(machine, "nu-svr") != 0) { /* its epsilon is found and not told */
        assert_close(r->objective, (double)s.primal, 1e-9);
        assert_true(fabs(c->dual - (double)s.dual) <= c->rounding + 1e-9 * fabs(c->dual));
    }
    assert_true(c->gap >= c->primal - c->dual - 1e-14 * fabs(c->primal) && c->primal >= c->dual);
    assert_true(c->gap <= set->tolerance * (fabs(c->primal) + fmax(C, 1) * (double)t->n));
    assert_true(r->support_vectors == mercer_model_centres(model)
                && r->free_vectors + r->bounded_vectors >= r->support_vectors);
    mercer_model_free(model);
}

/* Nine tenths of the most that the classes allow: a small one leaves no margin between classes that overlap. */
static double large_nu(const table *t) {
    double sum[2] = {0, 0};
    for (int64_t i = 0; i < t->n; i++)
        sum[t->class_of[i]] += t->weighted ? t->w[i] : 1;
    return 0.9 * 2 * fmin(sum[0], sum[1]) / (sum[0] + sum[1]);
}

static void test_certificates_are_those_of_the_definitions(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int weighted = 0; weighted < 2; weighted++)
        for (int m = 0; m < 5; m++) {
            table t = random_table(60, 2, 1);
            t.weighted = weighted;
            mercer_svm set = plain(MACHINES[m], 1e-5);
            set.nu = m == 1 ? large_nu(&t) : set.nu > 0 ? 0.3 : 0;
            set.C = m == 1 || m == 4 ? set.C : 2;
            check_certificate(ctx, MACHINES[m], &set, "rbf(gamma=0.7)", &t);
            check_certificate(ctx, MACHINES[m], &set, "poly(degree=2, c=1)", &t);
        }
    table three = random_table(70, 3, 2);
    mercer_svm set = plain("svc", 1e-5);
    check_certificate(ctx, "svc", &set, "rbf(gamma=0.7)", &three);
    set.multiclass = "ovr";
    check_certificate(ctx, "svc", &set, "rbf(gamma=0.7)", &three);
    close_clean(ctx);
}

/* A loose fit is as near the optimum as it says; so is a tight one, so the two are no further apart than both together.
   Conditions violated by t cost no more than t C_i in each row, and half the square of the distance is below the gap.
 */
static void test_the_optimal_function_is_within_the_distance_certified(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int m = 0; m < 5; m++) {
        const table t = random_table(120, 2, 77);
        mercer_model *fit[2] = {NULL};
        double apart, bound = 0, most = 0;
        for (int tight = 0; tight < 2; tight++) {
            mercer_svm set = plain(MACHINES[m], tight ? 1e-9 : 1e-3);
            set.nu = m == 1 ? large_nu(&t) : set.nu > 0 ? 0.3 : 0;
            assert_ok(ctx, try_fit(ctx, MACHINES[m], &set, "rbf(gamma=0.7)", &t, &fit[tight]));
            bound += mercer_model_report(fit[tight])->certificate.distance;
            most += sqrt(2 * set.tolerance * mercer_model_box(fit[tight], 0).C * (double)t.n);
        }
        assert_ok(ctx, mercer_model_distance(ctx, fit[0], 0, fit[1], 0, &apart));
        assert_true(apart <= bound && bound <= most);
        mercer_model_free(fit[0]);
        mercer_model_free(fit[1]);
    }
    close_clean(ctx);
}

/* ---- The primal view ---- */

/* The loss summed from the slacks is that of the certificate, the states are counted as in the report, and each means
   what it says. */
static void check_view(mercer_ctx *ctx, const char *machine, const mercer_svm *set, const table *t) {
    mercer_model *model = fit(ctx, machine, set, "rbf(gamma=0.7)", t);
    const mercer_report *r = mercer_model_report(model);
    const int64_t decisions = mercer_model_decisions(model);
    mercer_data *data = data_of(ctx, t, needs_classes(machine));
    mercer_svm_view *view = calloc((size_t)(t->n * decisions), sizeof *view);
    assert_ok(ctx, mercer_svm_rows(ctx, model, data, view));
    int64_t seen[4] = {0};
    double primal = r->norm * r->norm / 2;
    for (int64_t k = 0; k < decisions; k++) {
        const mercer_svm_box box = mercer_model_box(model, k);
        double total = 0;
        for (int64_t i = 0; i < t->n; i++) {
            const mercer_svm_view v = view[i * decisions + k];
            const double w = t->weighted ? t->w[i] : 1;
            const double edge = needs_classes(machine)   ? v.margin - 1
                                : strstr(machine, "svr") ? box.epsilon - fabs(v.margin)
                                                         : v.margin;
            seen[v.state]++;
            if (v.state == MERCER_VECTOR_ABSENT)
                continue;
            primal += box.C * w * v.slack;
            total += w;
            assert_close(v.slack, fmax(0, -edge), 1e-12);
            assert_true(v.state != MERCER_VECTOR_FREE || fabs(edge) < 1e-4);
            assert_true(v.state != MERCER_VECTOR_UNUSED || (edge > -1e-4 && v.alpha == 0));
            assert_true(v.state != MERCER_VECTOR_BOUNDED
                        || (edge < 1e-4 && fabs(fabs(v.alpha) - box.C * w) <= 1e-12 * box.C * w));
        }
        primal += strcmp(machine, "one-class") == 0 ? mercer_model_intercept(model, k) * set->nu * total : 0;
    }
    assert_close(primal, r->certificate.primal, 1e-9);
    assert_true(seen[MERCER_VECTOR_FREE] == r->free_vectors && seen[MERCER_VECTOR_BOUNDED] == r->bounded_vectors);
    free(view);
    mercer_data_free(data);
    mercer_model_free(model);
}

static void test_the_primal_view_adds_up_to_the_certificate(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int m = 0; m < 5; m++) {
        table t = random_table(80, needs_classes(MACHINES[m]) ? 3 : 2, 24);
        t.weighted = m != 1; /* every pair must have room for nu */
        mercer_svm set = plain(MACHINES[m], 1e-6);
        set.nu = set.nu > 0 ? 0.2 : 0;
        check_view(ctx, MACHINES[m], &set, &t);
        set.multiclass = "ovr";
        if (m == 0)
            check_view(ctx, MACHINES[m], &set, &t);
    }
    close_clean(ctx);
}

static void test_the_primal_view_wants_the_rows_of_the_fit(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(60, 2, 25);
    const mercer_svm set = plain("svc", 1e-3);
    mercer_model *model = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t), *ridge = NULL;
    mercer_svm_view view[MOST];
    t.x[mercer_model_row(model, 0) * D] += 1e-9;
    mercer_data *data = data_of(ctx, &t, true);
    mercer_kernel *kernel = NULL;
    assert_fails(ctx, mercer_svm_rows(ctx, model, data, view), MERCER_DATA, "not those of the fit");
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &kernel));
    assert_ok(ctx, mercer_fit(ctx, "ridge", NULL, kernel, data, &ridge));
    assert_fails(ctx, mercer_svm_rows(ctx, ridge, data, view), MERCER_INVALID, "only a support vector machine");
    assert_true(isnan(mercer_model_box(ridge, 0).C));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_model_free(ridge);
    mercer_model_free(model);
    close_clean(ctx);
}

/* ---- Several classes ---- */

static table two_of(const table *t, int a, int b) {
    table pair = {.classes = t->classes};
    for (int64_t i = 0; i < t->n; i++)
        if (t->class_of[i] == a || t->class_of[i] == b) {
            memcpy(pair.x + pair.n * D, t->x + i * D, D * sizeof(double));
            pair.class_of[pair.n++] = t->class_of[i];
        }
    return pair;
}

static void test_pairs_are_the_machines_of_two_classes(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(160, 4, 3);
    const mercer_svm set = plain("svc", 1e-7);
    mercer_model *all = fit(ctx, "svc", &set, "rbf(gamma=0.5)", &t);
    assert_int_equal(mercer_model_decisions(all), 6);
    double *decisions = decide(ctx, all, &t), *outputs = calloc((size_t)(4 * t.n), sizeof *outputs);
    mercer_data *data = data_of(ctx, &t, true);
    assert_ok(ctx, mercer_predict(ctx, all, data, outputs));
    for (int a = 0, k = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++, k++) {
            int64_t first, second;
            mercer_model_decision(all, k, &first, &second);
            assert_true(first == a && second == b);
            const table pair = two_of(&t, a, b);
            mercer_model *one = fit(ctx, "svc", &set, "rbf(gamma=0.5)", &pair);
            double *alone = decide(ctx, one, &t);
            for (int64_t i = 0; i < t.n; i++)
                assert_close(decisions[i * 6 + k], alone[i], 1e-5);
            free(alone);
            mercer_model_free(one);
        }
    for (int64_t i = 0; i < t.n; i++) { /* votes */
        double votes[4] = {0};
        for (int a = 0, k = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++, k++)
                votes[decisions[i * 6 + k] > 0 ? a : b]++;
        assert_memory_equal(votes, outputs + 4 * i, sizeof votes);
    }
    mercer_data_free(data);
    free(decisions);
    free(outputs);
    mercer_model_free(all);
    close_clean(ctx);
}

/* ---- Identities ---- */

static void assert_same_decisions(mercer_ctx *ctx, const mercer_model *a, const mercer_model *b, const table *t,
                                  double sign, double tolerance) {
    double *x = decide(ctx, a, t), *y = decide(ctx, b, t);
    for (int64_t i = 0; i < t->n * mercer_model_decisions(a); i++)
        assert_close(x[i], sign * y[i], tolerance);
    free(x);
    free(y);
}

static void test_a_weight_of_two_is_a_row_twice(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int m = 0; m < 5; m++) {
        table heavy = random_table(60, 2, 4), twice = heavy;
        heavy.weighted = true;
        for (int64_t i = 0; i < heavy.n; i++) {
            heavy.w[i] = i < 20 ? 2 : 1;
            if (i >= 20)
                continue;
            memcpy(twice.x + twice.n * D, twice.x + i * D, D * sizeof(double));
            twice.class_of[twice.n] = twice.class_of[i];
            twice.y[twice.n++] = twice.y[i];
        }
        mercer_svm set = plain(MACHINES[m], 1e-8);
        set.nu = set.nu > 0 ? 0.3 : 0;
        mercer_model *a = fit(ctx, MACHINES[m], &set, "rbf(gamma=0.7)", &heavy);
        mercer_model *b = fit(ctx, MACHINES[m], &set, "rbf(gamma=0.7)", &twice);
        assert_same_decisions(ctx, a, b, &heavy, 1, 1e-5);
        mercer_model_free(a);
        mercer_model_free(b);
    }
    close_clean(ctx);
}

/* The rows in another order; classes swapped, or targets negated; rows that would change everything, of weight zero;
   all weights halved and C doubled. one-class has no C: its function is in proportion to the weights. */
static void test_order_labels_and_weights_change_nothing(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(90, 2, 5);
    table turned = t, swapped = t, padded = t, halved = t;
    for (int64_t i = 0; i < t.n; i++) {
        memcpy(turned.x + i * D, t.x + (t.n - 1 - i) * D, D * sizeof(double));
        turned.class_of[i] = t.class_of[t.n - 1 - i];
        turned.y[i] = t.y[t.n - 1 - i];
        swapped.class_of[i] = 1 - t.class_of[i];
        swapped.y[i] = -t.y[i];
        padded.w[i] = 1;
        halved.w[i] = 0.5;
    }
    padded.weighted = halved.weighted = true;
    for (int k = 0; k < 30; k++) {
        memset(padded.x + padded.n * D, 0, D * sizeof(double));
        padded.w[padded.n] = padded.y[padded.n] = 0;
        padded.class_of[padded.n++] = k % 2;
    }
    const table *const others[] = {&turned, &padded, &swapped, &halved};
    for (int m = 0; m < 5; m++) {
        mercer_svm set = plain(MACHINES[m], 1e-8);
        set.nu = set.nu > 0 ? 0.3 : 0;
        mercer_model *first = fit(ctx, MACHINES[m], &set, "rbf(gamma=0.7)", &t);
        const double signs[] = {1, 1, m == 4 ? 1 : -1, m == 4 ? 2 : 1};
        for (int k = 0; k < 4; k++) {
            set.C = set.C > 0 && k == 3 ? 2 : set.C;
            mercer_model *other = fit(ctx, MACHINES[m], &set, "rbf(gamma=0.7)", others[k]);
            assert_same_decisions(ctx, first, other, &t, signs[k], 1e-6);
            mercer_model_free(other);
        }
        mercer_model_free(first);
    }
    close_clean(ctx);
}

static void test_class_weights_are_row_weights(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(80, 2, 6);
    table weighted = t;
    weighted.weighted = true;
    for (int64_t i = 0; i < t.n; i++)
        weighted.w[i] = t.class_of[i] ? 3 : 0.5;
    mercer_svm set = plain("svc", 1e-8);
    mercer_model *a = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &weighted);
    set.class_weight = "bee=3,ant=0.5";
    mercer_model *b = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t);
    assert_same_decisions(ctx, a, b, &t, 1, 1e-6);
    mercer_model_free(a);
    mercer_model_free(b);
    const char *const wrong[] = {"fox=2", "ant", "ant=", "ant=-1", "ant=2 bee=1", "ant=nan"};
    for (int k = 0; k < 6; k++) {
        mercer_model *none = NULL;
        set.class_weight = wrong[k];
        assert_fails(ctx, try_fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t, &none), MERCER_INVALID, "weight");
        assert_null(none);
    }
    close_clean(ctx);
}

/* ---- Rows of K that are kept, and the certificate that uses what is known of them ---- */

typedef struct kept {
    const mercer_kernel *kernel;
    const mercer_data *data;
    mc_svm_kind kind;
    int64_t store_rows,
        most;        /* rows kept, 0: products keep account of their error instead; variables in an active set */
    int64_t skipped; /* rows that the certificate did not compute */
    double primal, dual, violation, first; /* first: of the multipliers */
} kept;

static mercer_status solve_kept(mercer_ctx *ctx, void *arg) {
    kept *k = arg;
    mercer_svm set = plain(mc_svm_variants[k->kind].name, 1e-3);
    set.precision = "single";
    mc_svm s;
    mc_driver driver = mc_svm_driver(&s);
    mc_fitted f = {0};
    mercer_status status = mc_svm_open(ctx, k->kind, &set, k->kernel, k->data, &s);
    if (!status)
        s.solver->most = k->most;
    if (!status && k->store_rows)
        status = mc_row_store_open(ctx, MOST, k->store_rows, &s.solver->store);
    if (!status)
        status = mc_drive_once(ctx, &driver, &f);
    k->skipped = 0;
    for (int64_t i = 0; !status && s.task[0].error_is_known && i < s.task[0].n; i++)
        k->skipped += s.task[0].error[i] > 0;
    if (!status) {
        k->primal = f.report.objective;
        k->dual = f.report.certificate.dual;
        k->violation = f.report.certificate.kkt_violation;
        k->first = s.task[0].beta[0] + 3 * s.task[0].beta[1] + 7 * s.task[0].beta[2];
        s.task[0].error_is_known = false; /* and now without screening */
        f.kernel = s.p.kernel;
        status = mc_svm_certify(ctx, &s, &f);
        f.kernel = NULL;
        mc_svm_report(&s, &f.report);
    }
    if (!status) {
        assert_close(f.report.objective, k->primal, 1e-11);
        assert_true(fabs(f.report.certificate.dual - k->dual) <= 2 * f.report.certificate.rounding);
        assert_close(f.report.certificate.kkt_violation, k->violation, 1e-9);
    }
    mc_fitted_free(&f);
    mc_svm_close(&s);
    return status;
}

static void test_kept_rows_and_screening_change_no_number(void **state) {
    (void)state;
    const table t = random_table(MOST, 3, 11);
    for (int kind = 0; kind < MC_SVM_KINDS; kind++) {
        double dual = 0, first = 0;
        for (int way = 0; way < 5; way++) {
            mercer_ctx *ctx = open_ctx(1 + way % 2);
            mercer_data *data = data_of(ctx, &t, needs_classes(MACHINES[kind]));
            mercer_kernel *kernel = NULL;
            assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4)", &kernel));
            kept k = {.kernel = kernel,
                      .data = data,
                      .kind = (mc_svm_kind)kind,
                      .store_rows = way < 2    ? MOST
                                    : way == 2 ? 8
                                               : 0,
                      .most = 64};
            assert_ok(ctx, solve_kept(ctx, &k));
            assert_true(way != 2 ? k.skipped > 0 : k.skipped == 0);
            /* two threads, the same bits */
            assert_true((way != 1 && way != 4) || (k.dual == dual && k.first == first));
            assert_true(!way || fabs(k.dual - dual) <= 1e-3 * fabs(dual));
            dual = k.dual;
            first = k.first;
            mercer_kernel_free(kernel);
            mercer_data_free(data);
            close_clean(ctx);
        }
    }
}

static void test_kept_rows_survive_failing_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(30, 2, 12);
    mercer_data *data = data_of(ctx, &t, true);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4)", &kernel));
    for (int64_t room = 0; room <= MOST; room += MOST) {
        kept k = {.kernel = kernel, .data = data, .kind = MC_SVC, .store_rows = room, .most = 24};
        assert_survives_failing_memory(solve_kept, &k);
    }
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Rows far from the other class are neither stepped over nor kept: a square of all would be 64 MB of floats. */
static void test_an_easy_problem_of_many_rows_stores_no_square(void **state) {
    (void)state;
    enum { N = 4000 };
    mercer_ctx *ctx = open_ctx(2);
    double *x = calloc(2 * N, sizeof *x);
    const char **labels = calloc(N, sizeof *labels);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 29);
    for (int64_t i = 0; i < N; i++) {
        x[2 * i] = mc_rng_normal(&rng) + (i % 2 ? 5 : 0);
        x[2 * i + 1] = mc_rng_normal(&rng);
        labels[i] = NAMES[i % 2];
    }
    const mercer_table rows = {.size = sizeof rows, .n = N, .d = 2, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &rows, &data));
    const mercer_svm set = plain("svc", 1e-3);
    mercer_model *model = fit_model(ctx, "svc", &set, "rbf(gamma=0.1)", data);
    assert_true(mercer_model_report(model)->certificate.kkt_violation <= 1e-3);
    assert_true(mercer_model_report(model)->support_vectors < N / 4);
    assert_true(mercer_memory_peak(ctx) < (size_t)N * N * sizeof(float) / 2);
    mercer_model_free(model);
    mercer_data_free(data);
    free(labels);
    free(x);
    close_clean(ctx);
}

/* Neither sum of multipliers is lost where many free variables share a K of low rank: of poly(degree=3) in three
   columns twenty, less on rows with zeros. */
static void test_the_multipliers_of_nu_svr_keep_their_sum(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (uint64_t item = 0; item < 40; item++) {
        table t = random_table(150, 2, 100 + item);
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1000 + item);
        for (int64_t k = 0; k < t.n * D; k++)
            t.x[k] = mc_rng_below(&rng, 2) ? t.x[k] : 0;
        mercer_svm set = plain("nu-svr", 1e-6);
        set.C = 24;
        set.nu = 0.6;
        mercer_model *model = fit(ctx, "nu-svr", &set, "poly(degree=3, c=1, gamma=0.33)", &t);
        double sum = 0;
        for (int64_t i = 0; i < mercer_model_centres(model); i++)
            sum += fabs(mercer_model_coefficient(model, i, 0));
        assert_true(mercer_model_box(model, 0).epsilon > 0);
        assert_close(sum, set.C * set.nu * (double)t.n, 1e-8 * sum);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_multipliers_of_nu_svr_keep_their_sum),
        cmocka_unit_test(test_certificates_are_those_of_the_definitions),
        cmocka_unit_test(test_the_optimal_function_is_within_the_distance_certified),
        cmocka_unit_test(test_the_primal_view_adds_up_to_the_certificate),
        cmocka_unit_test(test_the_primal_view_wants_the_rows_of_the_fit),
        cmocka_unit_test(test_pairs_are_the_machines_of_two_classes),
        cmocka_unit_test(test_a_weight_of_two_is_a_row_twice),
        cmocka_unit_test(test_order_labels_and_weights_change_nothing),
        cmocka_unit_test(test_class_weights_are_row_weights),
        cmocka_unit_test(test_kept_rows_and_screening_change_no_number),
        cmocka_unit_test(test_kept_rows_survive_failing_memory),
        cmocka_unit_test(test_an_easy_problem_of_many_rows_stores_no_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
