/* Oracles: the spectral filter by LAPACK's eigendecomposition, a direct loop over the samples, ridge without a penalty.
   */
#include "backend/blas.h"
#include "base/ctx.h"
#include "data/table/data.h"
#include "learn/lms/lms.h"
#include "machines_of_test.h"
#include "model/model.h"

static double rbf(const sheet *s, int64_t i, int64_t j, double gamma) {
    double r = 0;
    for (int64_t c = 0; c < s->d; c++)
        r += pow(s->x[i * s->d + c] - s->x[j * s->d + c], 2);
    return exp(-gamma * r);
}

static mercer_lms plain_lms(const char *mode, const char *solver, int64_t epochs) {
    mercer_lms set = mercer_lms_defaults();
    set.scale = "none";
    set.mode = mode;
    set.solver = solver;
    set.epochs = epochs;
    set.tolerance = 0;
    return set;
}

static mercer_status try_lms(mercer_ctx *ctx, const char *kernel_text, const sheet *s, const mercer_lms *set,
                             mercer_model **out) {
    mercer_data *data = data_of(ctx, s);
    mercer_kernel *kernel = kernel_of(ctx, kernel_text);
    const mercer_status status = mercer_fit(ctx, "lms", set, kernel, data, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static mercer_model *fit_lms(mercer_ctx *ctx, const char *kernel_text, const sheet *s, const mercer_lms *set) {
    mercer_model *model = NULL;
    assert_ok(ctx, try_lms(ctx, kernel_text, s, set, &model));
    return model;
}

static void assert_refused(mercer_ctx *ctx, const char *kernel_text, const mercer_lms *set, const char *message) {
    const sheet s = random_sheet(ROWS, 1, 1);
    mercer_data *data = data_of(ctx, &s);
    mercer_kernel *kernel = kernel_of(ctx, kernel_text);
    mercer_model *model = NULL;
    assert_fails(ctx, mercer_fit(ctx, "lms", set, kernel, data, &model), MERCER_INVALID, message);
    assert_null(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
}

static double weight(const sheet *s, int64_t i) {
    return s->weighted ? s->w[i] : 1;
}

static double mean_of(const sheet *s, const int64_t *rows, int64_t n, int64_t k) {
    double sum = 0, total = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += weight(s, rows[i]) * s->y[rows[i] * s->outputs + k];
        total += weight(s, rows[i]);
    }
    return sum / total;
}

/* M = S K S of the listed rows, decomposed: U column by column, m its eigenvalues. */
typedef struct spectrum {
    int n;
    double U[ROWS * ROWS], m[ROWS];
} spectrum;

static void decompose(const sheet *s, const int64_t *rows, int n, double gamma, spectrum *out) {
    static double work[1 + 6 * ROWS + 2 * ROWS * ROWS];
    int integers[3 + 5 * ROWS], info, room = 1 + 6 * ROWS + 2 * ROWS * ROWS, integer_room = 3 + 5 * ROWS;
    out->n = n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out->U[i + j * n] = sqrt(weight(s, rows[i]) * weight(s, rows[j])) * rbf(s, rows[i], rows[j], gamma);
    dsyevd_("V", "L", &n, out->U, &n, out->m, work, &room, integers, &integer_room, &info, 1, 1);
    assert_int_equal(info, 0);
}

/* 1 - (1 - s)^t, with all its digits where s is small. */
static double decay(double s, int64_t t) {
    return s < 0.5 ? -expm1((double)t * log1p(-s)) : 1 - pow(1 - s, (double)t);
}

/* alpha = S sum_k (1 - (1 - step m_k)^t) / m_k u_k u_k' S (y - b). */
static void filter(const sheet *s, const int64_t *rows, const spectrum *e, double step, int64_t t, double b, int64_t k,
                   double *alpha) {
    for (int i = 0; i < e->n; i++)
        alpha[i] = 0;
    for (int c = 0; c < e->n; c++) {
        double along = 0;
        for (int i = 0; i < e->n; i++)
            along += e->U[i + c * e->n] * sqrt(weight(s, rows[i])) * (s->y[rows[i] * s->outputs + k] - b);
        const double m = e->m[c], gain = m > 1e-13 ? decay(step * m, t) / m : step * (double)t;
        for (int i = 0; i < e->n; i++)
            alpha[i] += sqrt(weight(s, rows[i])) * gain * along * e->U[i + c * e->n];
    }
}

static void count_up(int64_t *rows) {
    for (int64_t i = 0; i < ROWS; i++)
        rows[i] = i;
}

static void test_batch_steps_are_the_spectral_filter(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static spectrum e;
    int64_t rows[ROWS];
    count_up(rows);
    for (int variant = 0; variant < 8; variant++) {
        sheet s = random_sheet(ROWS, OUTPUTS, 1);
        s.weighted = variant & 1;
        decompose(&s, rows, ROWS, 0.4, &e);
        mercer_lms set = plain_lms("batch", variant & 2 ? "stored" : "streamed", variant & 4 ? 1 : 37);
        set.step = 1.9 / e.m[ROWS - 1];
        set.intercept = variant & 4;
        mercer_model *model = fit_lms(ctx, "rbf(gamma=0.4)", &s, &set);
        for (int64_t k = 0; k < OUTPUTS; k++) {
            double alpha[ROWS];
            const double b = set.intercept ? mean_of(&s, rows, ROWS, k) : 0;
            filter(&s, rows, &e, set.step, set.epochs, b, k, alpha);
            assert_close(model->f.intercept[k], b, 1e-13);
            for (int64_t i = 0; i < ROWS; i++)
                assert_close(model->f.alpha[i * OUTPUTS + k], alpha[i], 1e-10);
        }
        assert_int_equal(mercer_model_report(model)->iterations, set.epochs);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_the_step_chosen_is_one_over_the_largest_eigenvalue(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static spectrum e;
    int64_t rows[ROWS];
    count_up(rows);
    for (int weighted = 0; weighted < 2; weighted++) {
        sheet s = random_sheet(ROWS, 1, 2);
        s.weighted = weighted;
        decompose(&s, rows, ROWS, 0.4, &e);
        mercer_lms set = plain_lms("batch", "auto", 1);
        mercer_model *model = fit_lms(ctx, "rbf(gamma=0.4)", &s, &set);
        assert_close(mercer_model_report(model)->step * e.m[ROWS - 1], 1, 1e-6);
        assert_string_equal(mercer_model_report(model)->solver, "batch stored");
        mercer_model_free(model);
        set.mode = "sample";
        model = fit_lms(ctx, "2*rbf(gamma=0.4)", &s, &set);
        double largest = 0;
        for (int64_t i = 0; i < ROWS; i++)
            largest = fmax(largest, 2 * weight(&s, i));
        assert_close(mercer_model_report(model)->step * largest, 1, 1e-13);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_one_sample_at_a_time_is_the_plain_loop(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(ROWS, OUTPUTS, 3);
        s.weighted = variant & 1;
        double beta[ROWS * OUTPUTS] = {0};
        mercer_lms set = plain_lms("sample", variant & 2 ? "stored" : "streamed", 3);
        set.shuffle = set.intercept = false;
        set.step = 0.3;
        for (int64_t visit = 0; visit < 3 * ROWS; visit++)
            for (int64_t k = 0; k < OUTPUTS; k++) {
                const int64_t i = visit % ROWS;
                double f = 0;
                for (int64_t j = 0; j < ROWS; j++)
                    f += beta[j * OUTPUTS + k] * rbf(&s, i, j, 0.4);
                beta[i * OUTPUTS + k] += 0.3 * weight(&s, i) * (s.y[i * OUTPUTS + k] - f);
            }
        mercer_model *model = fit_lms(ctx, "rbf(gamma=0.4)", &s, &set);
        for (int64_t i = 0; i < ROWS * OUTPUTS; i++)
            assert_close(model->f.alpha[i], beta[i], 1e-12);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_explicit_and_kernel_form_are_one_function(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const char *const kernels[] = {"linear", "poly(degree=2, c=1)", "linear[1,2] + 0.5*poly(degree=3, c=0)", "cosine"};
    for (int variant = 0; variant < 8; variant++) {
        sheet s = random_sheet(ROWS, OUTPUTS, 4);
        s.weighted = variant & 1;
        mercer_lms set = plain_lms(variant & 4 ? "sample" : "batch", "auto", 20);
        mercer_model *a = fit_lms(ctx, kernels[variant % 4], &s, &set);
        set.solver = "streamed";
        mercer_model *b = fit_lms(ctx, kernels[variant % 4], &s, &set);
        assert_non_null(strstr(mercer_model_report(a)->solver, "features"));
        assert_int_equal(mercer_model_centres(a), 0); /* weights, and no row */
        assert_non_null(a->f.primal);
        double scale = 0, fa[ROWS * OUTPUTS], fb[ROWS * OUTPUTS];
        predict_sheet(ctx, a, &s, fa);
        predict_sheet(ctx, b, &s, fb);
        for (int64_t i = 0; i < ROWS * OUTPUTS; i++)
            scale = fmax(scale, fabs(fb[i]));
        for (int64_t i = 0; i < ROWS * OUTPUTS; i++)
            assert_close(fa[i] / scale, fb[i] / scale, 1e-10);
        const mercer_report *ra = mercer_model_report(a), *rb = mercer_model_report(b);
        assert_close(ra->objective, rb->objective, 1e-9);
        assert_close(ra->norm, rb->norm, 1e-9);
        mercer_model_free(a);
        mercer_model_free(b);
    }
    close_clean(ctx);
}

static void test_the_limit_is_least_squares_and_certified(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const sheet s = random_sheet(ROWS, 1, 5);
    for (int mode = 0; mode < 2; mode++) {
        mercer_lms set = plain_lms("batch", mode ? "stored" : "auto", 100000);
        set.intercept = false;
        set.tolerance = 1e-9;
        mercer_model *model = fit_lms(ctx, "linear", &s, &set);
        const mercer_report *r = mercer_model_report(model);
        assert_string_equal(r->certificate.kind, "gradient");
        assert_true(r->certificate.residual_relative <= 1.1e-9);
        assert_true(r->iterations < 100000);
        assert_string_equal(r->stopped, "no");
        mercer_ridge ridge = plain(0);
        mercer_model *exact = fit_sheet(ctx, "linear", &s, &ridge);
        double a[ROWS], b[ROWS];
        predict_sheet(ctx, model, &s, a);
        predict_sheet(ctx, exact, &s, b);
        for (int64_t i = 0; i < ROWS; i++)
            assert_close(a[i], b[i], 1e-7);
        mercer_model_free(exact);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_an_early_fit_says_how_far_it_is(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const sheet s = random_sheet(ROWS, 1, 5);
    mercer_lms set = plain_lms("batch", "auto", 2);
    mercer_model *early = fit_lms(ctx, "rbf(gamma=0.4)", &s, &set);
    set.epochs = 200;
    mercer_model *late = fit_lms(ctx, "rbf(gamma=0.4)", &s, &set);
    assert_true(mercer_model_report(early)->certificate.residual_relative
                > 2 * mercer_model_report(late)->certificate.residual_relative);
    assert_true(mercer_model_report(early)->objective > mercer_model_report(late)->objective);
    mercer_model_free(early);
    mercer_model_free(late);
    close_clean(ctx);
}

static void test_divergence_is_refused_with_the_bound(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static spectrum e;
    int64_t rows[ROWS];
    count_up(rows);
    const sheet s = random_sheet(ROWS, 1, 1);
    decompose(&s, rows, ROWS, 0.4, &e);
    char bound[64];
    snprintf(bound, sizeof bound, "must be below %.5g", 2 / e.m[ROWS - 1]);
    mercer_lms set = plain_lms("batch", "auto", 1000);
    set.step = 2.001 / e.m[ROWS - 1];
    bound[strlen(bound) - 2] = '\0'; /* the last digits may round the other way */
    assert_refused(ctx, "rbf(gamma=0.4)", &set, bound);
    set.step = 1.999 / e.m[ROWS - 1];
    mercer_model_free(fit_lms(ctx, "rbf(gamma=0.4)", &s, &set));
    set.mode = "sample";
    set.step = 2;
    assert_refused(ctx, "rbf(gamma=0.4)", &set, "must be below 2, 2 over the largest k(x, x) (1)");
    set.step = 1.99;
    set.epochs = 50;
    mercer_model *model = fit_lms(ctx, "rbf(gamma=0.4)", &s, &set);
    for (int64_t i = 0; i < ROWS; i++)
        assert_true(isfinite(model->f.alpha[i]));
    mercer_model_free(model);
    close_clean(ctx);
}

/* A matrix that is not symmetric has no spectrum to choose a step by: what the watch on the residual is for. */
static void test_steps_that_blow_up_are_an_error(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const sheet s = random_sheet(ROWS, 1, 1);
    for (int mode = 0; mode < 2; mode++) {
        mercer_data *data = data_of(ctx, &s);
        mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=0.4)");
        const mercer_lms set = plain_lms(mode ? "sample" : "batch", "stored", 100000);
        mc_problem p;
        mc_lms_values values;
        double alpha[ROWS] = {0};
        assert_ok(ctx, mc_problem_open(ctx, "none", mc_admit_proved, kernel, data, &p));
        assert_ok(ctx, mc_lms_values_open(ctx, &p, NULL, MC_LMS_STORED, &values));
        for (int64_t i = 0; i < ROWS * ROWS; i++)
            values.left[i] += i / ROWS < i % ROWS ? 10 : i / ROWS > i % ROWS ? -10 : 0;
        mc_lms_run run = {.set = &set, .p = &p, .alpha = alpha};
        assert_fails(ctx, mc_lms_steps(ctx, &values, &run), MERCER_NUMERIC, "the steps diverge");
        mc_lms_values_close(&values);
        mc_problem_close(&p);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_bad_settings_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_lms set = plain_lms("batch", "auto", 10), bad = set;
    bad.step = NAN;
    assert_refused(ctx, "rbf(gamma=1)", &bad, "step");
    bad = set;
    bad.step = -1;
    assert_refused(ctx, "rbf(gamma=1)", &bad, "step");
    bad = set;
    bad.epochs = 0;
    assert_refused(ctx, "rbf(gamma=1)", &bad, "epochs");
    bad = set;
    bad.held_out = 0.95;
    assert_refused(ctx, "rbf(gamma=1)", &bad, "held-out");
    bad = set;
    bad.mode = "some";
    assert_refused(ctx, "rbf(gamma=1)", &bad, "mode");
    bad = set;
    bad.solver = "features";
    assert_refused(ctx, "rbf(gamma=1)", &bad, "finite map");
    close_clean(ctx);
}

/* Held-out error after t steps, in closed form. */
static double held_error(const sheet *s, const int64_t *train, int n, const bool *held, const spectrum *e, double step,
                         int64_t t, double gamma) {
    double alpha[ROWS], sum = 0, count = 0;
    const double b = mean_of(s, train, n, 0);
    filter(s, train, e, step, t, b, 0, alpha);
    for (int64_t i = 0; i < ROWS; i++) {
        double f = b;
        for (int j = 0; j < n; j++)
            f += alpha[j] * rbf(s, i, train[j], gamma);
        sum += held[i] ? weight(s, i) * pow(s->y[i] - f, 2) : 0;
        count += held[i] ? weight(s, i) : 0;
    }
    return sqrt(sum / count);
}

static void test_early_stopping_finds_the_least_held_out_error(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static spectrum e;
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(ROWS, 1, 6);
        s.weighted = variant & 1;
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 7);
        for (int64_t i = 0; i < ROWS; i++)
            s.y[i] += 0.7 * mc_rng_normal(&rng);
        mercer_lms set = plain_lms("batch", variant & 2 ? "streamed" : "stored", 400);
        set.held_out = 0.3;
        set.patience = 400;
        mercer_model *model = fit_lms(ctx, "rbf(gamma=1)", &s, &set);
        const mercer_report *r = mercer_model_report(model);
        int64_t train[ROWS], best = 0;
        bool held[ROWS];
        memset(held, 1, sizeof held);
        assert_int_equal(mercer_model_centres(model), ROWS - 18);
        assert_int_equal(r->held_out, 18);
        for (int64_t i = 0; i < ROWS - 18; i++) {
            train[i] = mercer_model_row(model, i);
            held[train[i]] = false;
        }
        decompose(&s, train, ROWS - 18, 1, &e);
        double low = INFINITY;
        for (int64_t t = 0; t <= 400; t++) {
            const double error = held_error(&s, train, ROWS - 18, held, &e, r->step, t, 1);
            best = error < low ? t : best;
            low = fmin(low, error);
        }
        assert_close(r->held_out_rmse, low, 1e-9);
        assert_int_equal(r->iterations, best);
        assert_string_equal(r->stopped, best < 400 ? "held-out" : "no");
        mercer_model_free(model);
        set.patience = 1; /* ends at the first epoch that is no better */
        model = fit_lms(ctx, "rbf(gamma=1)", &s, &set);
        assert_true(mercer_model_report(model)->iterations <= best);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_held_out_rows_teach_nothing(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(ROWS, 1, 8);
    mercer_lms set = plain_lms("batch", "auto", 5);
    set.held_out = 0.5;
    set.scale = "standard";
    mercer_model *a = fit_lms(ctx, "rbf", &s, &set);
    bool train[ROWS] = {false};
    for (int64_t i = 0; i < mercer_model_centres(a); i++)
        train[mercer_model_row(a, i)] = true;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < s.d && !train[i]; j++)
            s.x[i * s.d + j] *= 100;
    mercer_model *b = fit_lms(ctx, "rbf", &s, &set);
    assert_string_equal(mercer_kernel_text(mercer_model_kernel(a)), mercer_kernel_text(mercer_model_kernel(b)));
    assert_memory_equal(a->f.centres->values, b->f.centres->values, (size_t)(a->f.centres->n * s.d) * sizeof(double));
    mercer_model_free(a);
    mercer_model_free(b);
    close_clean(ctx);
}

static void test_a_weight_is_a_repeated_row_in_batch_mode(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet few = random_sheet(20, 1, 9), many = {.d = few.d, .outputs = 1};
    few.weighted = true;
    for (int64_t i = 0; i < few.n; i++) {
        few.w[i] = (double)(i % 4);
        for (int64_t r = 0; r < i % 4; r++, many.n++) {
            memcpy(many.x + many.n * few.d, few.x + i * few.d, (size_t)few.d * 8);
            many.y[many.n] = few.y[i];
        }
    }
    mercer_lms set = plain_lms("batch", "stored", 30);
    set.step = 0.02;
    mercer_model *a = fit_lms(ctx, "rbf(gamma=0.4)", &few, &set), *b = fit_lms(ctx, "rbf(gamma=0.4)", &many, &set);
    const sheet probe = random_sheet(ROWS, 1, 10);
    double fa[ROWS], fb[ROWS];
    predict_sheet(ctx, a, &probe, fa);
    predict_sheet(ctx, b, &probe, fb);
    for (int i = 0; i < ROWS; i++)
        assert_close(fa[i], fb[i], 1e-12);
    mercer_model_free(a);
    mercer_model_free(b);
    close_clean(ctx);
}

static void test_any_number_of_threads_gives_the_same_bits(void **state) {
    (void)state;
    const char *const solvers[] = {"features", "stored", "streamed"};
    const sheet s = random_sheet(ROWS, OUTPUTS, 11);
    for (int variant = 0; variant < 6; variant++) {
        double first[ROWS * OUTPUTS];
        for (int threads = 1; threads <= 3; threads++) {
            mercer_ctx *ctx = open_ctx(threads);
            mercer_lms set = plain_lms(variant & 1 ? "sample" : "batch", solvers[variant / 2], 10);
            set.held_out = 0.2;
            mercer_model *model = fit_lms(ctx, "poly(degree=2, c=1, gamma=0.1)", &s, &set);
            const double *answer = model->f.primal ? model->f.primal : model->f.alpha;
            const int64_t rows = model->f.primal ? model->f.features : model->f.centres->n;
            const size_t size = (size_t)(rows * OUTPUTS) * sizeof(double);
            if (threads == 1)
                memcpy(first, answer, size);
            assert_memory_equal(first, answer, size);
            mercer_model_free(model);
            close_clean(ctx);
        }
    }
}

static int stop_at_once(void *user, const mercer_progress *progress) {
    (void)user;
    return progress->phase && strcmp(progress->phase, "epochs") == 0 && progress->done > 0;
}

static void check_stopped(const mercer_options *options, const char *why) {
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(options, &ctx), MERCER_OK);
    const sheet s = random_sheet(ROWS, 1, 12);
    for (int variant = 0; variant < 2; variant++) {
        mercer_lms set = plain_lms(variant ? "sample" : "batch", "streamed", (int64_t)1e9);
        mercer_model *model = NULL;
        mercer_status status;
        while ((status = try_lms(ctx, "rbf(gamma=0.4)", &s, &set, &model)) == MERCER_TIME)
            ctx->options.time_limit *= 2; /* a busy machine may not come to the first step */
        assert_ok(ctx, status);
        const mercer_report *r = mercer_model_report(model);
        assert_string_equal(r->stopped, why);
        assert_true(r->iterations > 0);
        assert_true(isfinite(r->certificate.residual_relative));
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_a_stopped_fit_is_the_best_so_far_with_its_certificate(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.time_limit = 0.1;
    check_stopped(&options, "time");
    options.time_limit = 0;
    options.progress = stop_at_once;
    check_stopped(&options, "caller");
}

static void test_classes_are_learned(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "moons", 200, 0.1, 1, &data));
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=2)");
    mercer_lms set = mercer_lms_defaults();
    set.held_out = 0.25;
    mercer_model *model = NULL;
    mercer_scores scores = {.size = sizeof scores};
    assert_ok(ctx, mercer_fit(ctx, "lms", &set, kernel, data, &model));
    assert_ok(ctx, mercer_score(ctx, model, data, &scores));
    assert_true(scores.accuracy > 0.97);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_degenerate_problems_end_well(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(10, 1, 13);
    mercer_lms set = plain_lms("batch", "auto", 10);
    for (int64_t i = 0; i < s.n; i++)
        s.y[i] = 5; /* nothing is left once the mean is off */
    mercer_model *model = fit_lms(ctx, "rbf(gamma=1)", &s, &set);
    assert_int_equal(mercer_model_report(model)->iterations, 0);
    assert_close(model->f.intercept[0], 5, 1e-15);
    mercer_model_free(model);
    memset(s.x, 0, sizeof s.x); /* K = 0 */
    for (int64_t i = 0; i < s.n; i++)
        s.y[i] = (double)i;
    for (int mode = 0; mode < 2; mode++) {
        set.mode = mode ? "sample" : "batch";
        model = fit_lms(ctx, "linear", &s, &set);
        assert_true(isfinite(model->f.alpha[0]));
        mercer_model_free(model);
    }
    s = random_sheet(1, 1, 14);
    set.intercept = false;
    model = fit_lms(ctx, "rbf(gamma=1)", &s, &set);
    assert_close(model->f.alpha[0], s.y[0], 1e-12);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_the_plan_keeps_its_bytes(void **state) {
    (void)state;
    const char *const solvers[] = {"features", "stored", "streamed"};
    for (int variant = 0; variant < 12; variant++) {
        mercer_ctx *ctx = open_ctx(2);
        const sheet s = random_sheet(ROWS, OUTPUTS, 15);
        mercer_data *data = data_of(ctx, &s);
        mercer_kernel *kernel = kernel_of(ctx, "poly(degree=2, c=1)");
        mercer_lms set = plain_lms(variant & 1 ? "sample" : "batch", solvers[variant / 4], 3);
        set.held_out = variant & 2 ? 0.5 : 0;
        set.scale = "standard";
        mercer_plan plan = {.size = sizeof plan};
        assert_ok(ctx, mercer_plan_fit(ctx, "lms", &set, kernel, data, &plan));
        assert_string_equal(plan.chosen.solver, solvers[variant / 4]);
        mercer_close(ctx);
        mercer_ctx *fresh = open_ctx(2);
        const size_t before = mercer_memory_used(fresh);
        mercer_model *model = NULL;
        assert_ok(fresh, mercer_fit(fresh, "lms", &set, kernel, data, &model));
        if (mercer_memory_peak(fresh) - before > plan.chosen.memory_bytes)
            fail_msg("variant %d: %zu bytes planned, %zu used", variant, plan.chosen.memory_bytes,
                     mercer_memory_peak(fresh) - before);
        mercer_model_free(model);
        close_clean(fresh);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
}

static mercer_status fit_once(mercer_ctx *ctx, void *arg) {
    const mercer_lms *set = arg;
    const sheet s = random_sheet(12, 1, 16);
    const mercer_table table = {
        .size = sizeof table, .n = s.n, .d = s.d, .dtype = MERCER_F64, .values = s.x, .target = s.y, .outputs = 1};
    return try_table(ctx, "lms", set, "poly(degree=2, c=1)", &table);
}

static void test_failing_memory_is_survived(void **state) {
    (void)state;
    const char *const solvers[] = {"features", "stored", "streamed"};
    for (int i = 0; i < 3; i++) {
        mercer_lms set = plain_lms(i == 1 ? "sample" : "batch", solvers[i], 2);
        set.held_out = 0.3;
        set.scale = "standard";
        assert_survives_failing_memory(fit_once, &set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_steps_are_the_spectral_filter),
        cmocka_unit_test(test_the_step_chosen_is_one_over_the_largest_eigenvalue),
        cmocka_unit_test(test_one_sample_at_a_time_is_the_plain_loop),
        cmocka_unit_test(test_explicit_and_kernel_form_are_one_function),
        cmocka_unit_test(test_the_limit_is_least_squares_and_certified),
        cmocka_unit_test(test_an_early_fit_says_how_far_it_is),
        cmocka_unit_test(test_divergence_is_refused_with_the_bound),
        cmocka_unit_test(test_steps_that_blow_up_are_an_error),
        cmocka_unit_test(test_bad_settings_are_refused),
        cmocka_unit_test(test_early_stopping_finds_the_least_held_out_error),
        cmocka_unit_test(test_held_out_rows_teach_nothing),
        cmocka_unit_test(test_a_weight_is_a_repeated_row_in_batch_mode),
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_a_stopped_fit_is_the_best_so_far_with_its_certificate),
        cmocka_unit_test(test_classes_are_learned),
        cmocka_unit_test(test_degenerate_problems_end_well),
        cmocka_unit_test(test_the_plan_keeps_its_bytes),
        cmocka_unit_test(test_failing_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
