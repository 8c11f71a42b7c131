/* Every number of every certificate, on random small problems at the extremes: tiny and huge lambda, C, columns and
   targets, equal rows, constant columns, one or two rows, weights of 0. What a machine claims is held against K in long
   double, made by formulas of the test's own:

       ridge, gp       the optimum by elimination in long double: objective, residual, gap, predictions at rows and
       between them
       gap             primal and dual at the model's coefficients, made feasible exactly: their difference proves or
       disproves the claim
       pca             eigenvalues by Jacobi rotations

   MERCER_CLAIMS sets how many problems are drawn. */
#include "../kernel/eval_long.h"
#include "base/rng.h"
#include "kernel/language/kernel.h"
#include "support.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 16, D = 2, NEW = 4 };
typedef long double truth;

typedef struct problem {
    const char *machine, *kernel;
    int64_t n;
    double x[(MOST + NEW) * D], y[MOST], w[MOST];
    const char *label[MOST];
    bool weighted, intercept;
    double strength; /* lambda, or C */
    double parameter;
    char words[400];
    truth K[(MOST + NEW) * (MOST + NEW)];
} problem;

/* ---- Problems ---- */

static double pick(mc_rng *rng, double low, double high) {
    return pow(10, low + (high - low) * mc_rng_uniform(rng));
}

static void draw_rows(problem *p, mc_rng *rng) {
    const double size = pick(rng, -3, 1.5), height = pick(rng, -5, 5);
    const bool constant = mc_rng_below(rng, 4) == 0, equal = mc_rng_below(rng, 4) == 0,
               flat = mc_rng_below(rng, 8) == 0;
    for (int64_t i = 0; i < MOST + NEW; i++) {
        for (int j = 0; j < D; j++)
            p->x[i * D + j] = constant && j ? 3 * size : size * mc_rng_normal(rng);
        if (i && i < p->n && equal && mc_rng_below(rng, 2))
            memcpy(p->x + i * D, p->x, D * sizeof *p->x);
        if (i >= p->n && i < p->n + NEW / 2) /* between rows of the data: k(x,x) is no larger there for these kernels */
            memcpy(p->x + i * D, p->x + mc_rng_below(rng, p->n) * D, D * sizeof *p->x);
    }
    for (int64_t i = 0; i < p->n; i++) {
        p->y[i] = flat ? height : height * (mc_rng_normal(rng) + sin(p->x[i * D] / size));
        p->label[i] = mc_rng_below(rng, 3) ? (p->x[i * D] > 0 ? "b" : "a") : (i % 2 ? "a" : "b");
        p->w[i] = mc_rng_below(rng, 5) ? pick(rng, -2, 2) : 0;
    }
    p->w[0] = p->w[p->n - 1] = 1;
    p->label[0] = "a", p->label[p->n - 1] = "b";
}

static void draw(problem *p, const char *machine, uint64_t seed, uint64_t item) {
    static const char *const kernels[] = {"rbf(gamma=0.7)",
                                          "linear",
                                          "poly(degree=2)",
                                          "laplacian(gamma=0.3)",
                                          "1 + 0.1*linear + rbf(gamma=3)",
                                          "1e4*matern(nu=1.5,length_scale=2)",
                                          "1e-6*rbf(gamma=0.01)"};
    mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, item);
    *p = (problem){.machine = machine};
    p->kernel = kernels[mc_rng_below(&rng, 7)];
    p->n = mc_rng_below(&rng, 3) ? 2 + mc_rng_below(&rng, MOST - 1) : 1 + mc_rng_below(&rng, 3);
    p->weighted = mc_rng_below(&rng, 3) == 0;
    p->intercept = mc_rng_below(&rng, 2);
    p->strength = pick(&rng, -7, 5);
    p->parameter = pick(&rng, -2, -0.1);
    draw_rows(p, &rng);
    snprintf(p->words, sizeof p->words, "%s, %s, n %lld, strength %.6g, parameter %.6g%s%s, seed %llu, item %llu",
             machine, p->kernel, (long long)p->n, p->strength, p->parameter, p->weighted ? ", weighted" : "",
             p->intercept ? ", intercept" : "", (unsigned long long)seed, (unsigned long long)item);
}

static bool has_classes(const problem *p) {
    return mercer_machine_find(p->machine)->target == MERCER_TARGET_CLASS;
}

static mercer_data *data_of(mercer_ctx *ctx, const problem *p) {
    mercer_table table = {.n = p->n, .d = D, .dtype = MERCER_F64, .values = p->x, .weights = p->weighted ? p->w : NULL};
    if (has_classes(p))
        table.labels = (const char *const *)p->label;
    else
        table.target = p->y, table.outputs = 1;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* Settings that the machine does not have are passed over. */
static void put(mercer_ctx *ctx, const mercer_machine *machine, void *set, const char *name, double value) {
    char text[40];
    for (int i = 0; i < machine->count; i++)
        if (strcmp(machine->settings[i].name, name) == 0) {
            snprintf(text, sizeof text, machine->settings[i].type == MERCER_FLAG ? (value > 0 ? "yes" : "no") : "%.17g",
                     value);
            assert_ok(ctx, mercer_settings_put(ctx, machine, set, name, text));
        }
}

static mercer_status fit(mercer_ctx *ctx, problem *p, mercer_model **out) {
    const mercer_machine *machine = mercer_machine_find(p->machine);
    void *set = calloc(1, machine->size);
    mercer_kernel *kernel = NULL;
    mercer_data *data = data_of(ctx, p);
    assert_ok(ctx, mercer_kernel_parse(ctx, p->kernel, &kernel));
    mercer_settings_defaults(machine, set);
    assert_ok(ctx, mercer_settings_put(ctx, machine, set, "scale", "none"));
    put(ctx, machine, set, "lambda", p->strength);
    put(ctx, machine, set, "noise", p->strength);
    put(ctx, machine, set, "C", p->strength);
    put(ctx, machine, set, "intercept", p->intercept);
    put(ctx, machine, set, "nu", p->parameter);
    put(ctx, machine, set, "tau", p->parameter);
    put(ctx, machine, set, "delta", p->parameter);
    put(ctx, machine, set, "epsilon", p->parameter);
    put(ctx, machine, set, "learn", 0);
    const mercer_status status = mercer_fit(ctx, machine, set, kernel, data, out);
    if (!status) {
        const int64_t all = p->n + NEW;
        for (int64_t i = 0; i < all * all; i++)
            p->K[i] = (truth)eval_long(mercer_model_kernel(*out)->root, p->x + i / all * D, p->x + i % all * D, D);
    }
    mercer_data_free(data);
    mercer_kernel_free(kernel);
    free(set);
    return status;
}

static void claim(const problem *p, bool holds, const char *what, truth found, truth said) {
    if (!holds)
        fail_msg("%s: %s is %.8Lg and %.8Lg was claimed", p->words, what, found, said);
}

/* ---- The model in long double ---- */

static truth weight_of(const problem *p, int64_t i) {
    return p->weighted ? p->w[i] : 1;
}

/* Coefficient of every row of the problem. */
static void coefficients(const problem *p, const mercer_model *model, truth *alpha) {
    memset(alpha, 0, MOST * sizeof *alpha);
    for (int64_t c = 0; c < mercer_model_centres(model); c++)
        alpha[mercer_model_row(model, c)] = mercer_model_coefficient(model, c, 0);
    (void)p;
}

/* f at row i of all. */
static truth value_at(const problem *p, const truth *alpha, int64_t i) {
    truth f = 0;
    for (int64_t j = 0; j < p->n; j++)
        f += alpha[j] * p->K[i * (p->n + NEW) + j];
    return f;
}

static truth square_norm(const problem *p, const truth *alpha) {
    truth sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        sum += alpha[i] * value_at(p, alpha, i);
    return sum;
}

/* ---- Ridge: the optimum ---- */

/* A x = r by elimination with full pivots; rank deficits leave zeros. */
static void solve(int64_t m, truth *A, truth *r) {
    int64_t order[MOST + 1];
    for (int64_t k = 0; k < m; k++)
        order[k] = k;
    for (int64_t k = 0; k < m; k++) {
        int64_t row = k, column = k;
        for (int64_t i = k; i < m; i++)
            for (int64_t j = k; j < m; j++)
                if (fabsl(A[i * m + j]) > fabsl(A[row * m + column]))
                    row = i, column = j;
        for (int64_t j = 0; j < m; j++) {
            const truth t = A[k * m + j];
            A[k * m + j] = A[row * m + j], A[row * m + j] = t;
        }
        for (int64_t i = 0; i < m; i++) {
            const truth t = A[i * m + k];
            A[i * m + k] = A[i * m + column], A[i * m + column] = t;
        }
        const truth t = r[k];
        r[k] = r[row], r[row] = t;
        const int64_t o = order[k];
        order[k] = order[column], order[column] = o;
        for (int64_t i = k + 1; i < m && A[k * m + k] != 0; i++) {
            const truth by = A[i * m + k] / A[k * m + k];
            for (int64_t j = k; j < m; j++)
                A[i * m + j] -= by * A[k * m + j];
            r[i] -= by * r[k];
        }
    }
    truth x[MOST + 1];
    for (int64_t k = m - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < m; j++)
            r[k] -= A[k * m + j] * r[j];
        r[k] = A[k * m + k] != 0 ? r[k] / A[k * m + k] : 0;
    }
    for (int64_t k = 0; k < m; k++)
        x[order[k]] = r[k];
    memcpy(r, x, (size_t)m * sizeof *x);
}

/* (K + lambda / w) alpha + b = y on rows of weight, sum alpha = 0; rows of no weight have alpha = 0. */
static void optimum(const problem *p, truth lambda, bool intercept, truth *alpha, truth *b) {
    const int64_t m = p->n + 1;
    truth A[(MOST + 1) * (MOST + 1)] = {0}, r[MOST + 1] = {0};
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->n && weight_of(p, i) > 0; j++)
            A[i * m + j] = weight_of(p, j) > 0 ? p->K[i * (p->n + NEW) + j] : 0;
        A[i * m + i] = weight_of(p, i) > 0 ? A[i * m + i] + lambda / weight_of(p, i) : 1;
        A[i * m + p->n] = A[p->n * m + i] = weight_of(p, i) > 0 && intercept ? 1 : 0;
        r[i] = weight_of(p, i) > 0 ? p->y[i] : 0;
    }
    A[p->n * m + p->n] = intercept ? 0 : 1;
    solve(m, A, r);
    memcpy(alpha, r, (size_t)p->n * sizeof *r);
    *b = r[p->n];
}

static truth ridge_objective(const problem *p, truth lambda, const truth *alpha, truth b) {
    truth sum = lambda * square_norm(p, alpha);
    for (int64_t i = 0; i < p->n; i++)
        sum += weight_of(p, i) * powl(p->y[i] - b - value_at(p, alpha, i), 2);
    return sum;
}

/* How far the test's own optimum is off: by its equations. */
static truth doubt(const problem *p, truth lambda, const truth *alpha, truth b) {
    truth most = 0, size = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (weight_of(p, i) == 0)
            continue;
        most = fmaxl(most, fabsl(p->y[i] - b - value_at(p, alpha, i) - lambda * alpha[i] / weight_of(p, i))
                               * sqrtl(weight_of(p, i)));
        size = fmaxl(size, p->K[i * (p->n + NEW) + i]);
    }
    return most * sqrtl((truth)p->n) * (1 + sqrtl(size / lambda));
}

/* |r| and the norm, from the coefficients. */
static void check_residual(const problem *p, const mercer_model *model, const truth *alpha) {
    const mercer_report *r = mercer_model_report(model);
    const truth b = mercer_model_intercept(model, 0);
    truth square = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const truth w = weight_of(p, i);
        square += w > 0 ? w * powl(p->y[i] - b - value_at(p, alpha, i) - r->lambda * alpha[i] / w, 2) : 0;
    }
    claim(p, sqrtl(square) <= r->certificate.residual * (1 + 1e-9L), "the residual", sqrtl(square),
          r->certificate.residual);
}

static truth mass_of(const problem *p, const truth *alpha) {
    truth sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        sum += fabsl(alpha[i]);
    return sum;
}

static truth heaviest(const problem *p) {
    truth most = 0;
    for (int64_t i = 0; i < p->n; i++)
        most = fmaxl(most, weight_of(p, i));
    return most;
}

static void check_ridge(mercer_ctx *ctx, const problem *p, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    const truth lambda = r->lambda;
    truth best[MOST], alpha[MOST], b = 0, top = 0;
    const bool intercept = p->intercept && strcmp(p->machine, "ridge") == 0;
    optimum(p, lambda, intercept, best, &b);
    truth size = 0;
    for (int64_t i = 0; i < p->n; i++)
        size += weight_of(p, i) * p->y[i] * p->y[i];
    const truth off = doubt(p, lambda, best, b), least = ridge_objective(p, lambda, best, b);
    const bool rows = mercer_model_centres(model) > 0;
    coefficients(p, model, alpha);
    const truth here = rows ? ridge_objective(p, lambda, alpha, mercer_model_intercept(model, 0)) : (truth)r->objective;
    for (int64_t i = 0; i < p->n; i++)
        top = weight_of(p, i) > 0 ? fmaxl(top, p->K[i * (p->n + NEW) + i]) : top;
    /* of f here */
    const truth blur =
        4 * (truth)p->n * LDBL_EPSILON * top * (mass_of(p, alpha) + mass_of(p, best)) * sqrtl(heaviest(p));
    const truth noise = off * off + blur * (2 * sqrtl(here) + blur) + (rows ? 1e-17L : 1e-13L) * size;
    const truth slip = c->rounding * (2 * sqrtl(here) + c->rounding);
    claim(p, here - least <= c->objective_gap * (1 + 1e-12) + noise, "the gap", here - least, c->objective_gap);
    claim(p, fabsl(here - r->objective) <= 2 * slip + 1e-12L * size, "the objective", here, r->objective);
    double out[MOST + NEW];
    const mercer_table table = {.n = p->n + NEW, .d = D, .dtype = MERCER_F64, .values = p->x};
    mercer_data *all = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &all));
    assert_ok(ctx, mercer_predict(ctx, model, all, out));
    mercer_data_free(all);
    for (int64_t i = 0; i < p->n + NEW; i++) {
        const truth exact = value_at(p, best, i) + b, wrong = fabsl(out[i] - exact);
        if (p->K[i * (p->n + NEW) + i] <= top)
            claim(p, wrong <= c->prediction_error_bound * (1 + 1e-9L) + off + 1e-15L * fabsl(exact),
                  "a prediction's error", wrong, c->prediction_error_bound);
    }
    if (rows && strcmp(c->kind, "residual") == 0)
        check_residual(p, model, alpha);
}

/* ---- Gaps ---- */

typedef struct sides {
    truth primal, dual, rounding;
} sides;

static truth log1pexp(truth z) {
    return z > 0 ? z + log1pl(expl(-z)) : log1pl(expl(z));
}

static truth entropy(truth q) {
    return q > 0 ? q * logl(q) : 0;
}

/* Loss of row i and its conjugate at v, in the box of the loss. */
static truth loss_at(const problem *p, int64_t i, truth y, truth F) {
    const truth delta = p->parameter, r = fabsl(F - y);
    (void)i;
    if (!strcmp(p->machine, "logistic"))
        return log1pexp(-y * F);
    if (!strcmp(p->machine, "squared-hinge"))
        return powl(fmaxl(0, 1 - y * F), 2) / 2;
    if (!strcmp(p->machine, "huber"))
        return r <= delta ? r * r / 2 : delta * (r - delta / 2);
    if (!strcmp(p->machine, "quantile"))
        return fmaxl(delta * (y - F), (delta - 1) * (y - F));
    return r;
}

static truth conjugate_at(const problem *p, truth y, truth v) {
    if (!strcmp(p->machine, "logistic"))
        return entropy(-y * v) + (-y * v < 1 ? (1 + y * v) * log1pl(y * v) : 0);
    if (!strcmp(p->machine, "squared-hinge") || !strcmp(p->machine, "huber"))
        return v * v / 2 + y * v;
    return y * v;
}

static void box_of(const problem *p, truth y, truth *low, truth *high) {
    const truth t = p->parameter, sided = strcmp(p->machine, "logistic") ? INFINITY : 1;
    *low = y > 0 ? -sided : 0, *high = y > 0 ? 0 : sided;
    if (!strcmp(p->machine, "huber"))
        *low = -t, *high = t;
    if (!strcmp(p->machine, "quantile"))
        *low = -t, *high = 1 - t;
    if (!strcmp(p->machine, "absolute"))
        *low = -1, *high = 1;
}

static truth target_of(const problem *p, int64_t i) {
    return has_classes(p) ? (p->label[i][0] == 'a' ? 1 : -1) : p->y[i];
}

/* v in its box, sum c v = 0 where asked for: the sum is taken off where there is room for it. */
static void make_feasible(int64_t n, const truth *low, const truth *high, bool balanced, truth total, truth *v) {
    truth sum = -total;
    for (int64_t i = 0; i < n; i++) {
        v[i] = fminl(high[i], fmaxl(low[i], v[i]));
        sum += v[i];
    }
    for (int round = 0; round < 3; round++)
        for (int64_t i = 0; i < n && balanced && sum != 0; i++) {
            const truth to = fminl(high[i], fmaxl(low[i], v[i] - sum));
            sum += to - v[i];
            v[i] = to;
        }
}

static void check_loss(const problem *p, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    const bool balanced = p->intercept || !strcmp(p->machine, "quantile") || !strcmp(p->machine, "absolute");
    truth alpha[MOST], a[MOST], low[MOST] = {0}, high[MOST] = {0}, primal = 0, dual = 0;
    const truth b = mercer_model_intercept(model, 0), lambda = r->lambda;
    coefficients(p, model, alpha);
    for (int64_t i = 0; i < p->n; i++) {
        truth lo, hi;
        box_of(p, target_of(p, i), &lo, &hi);
        low[i] = weight_of(p, i) > 0 ? -hi * weight_of(p, i) / lambda : 0;
        high[i] = weight_of(p, i) > 0 ? -lo * weight_of(p, i) / lambda : 0;
        primal += weight_of(p, i) > 0 ? weight_of(p, i) * loss_at(p, i, target_of(p, i), value_at(p, alpha, i) + b) : 0;
    }
    memcpy(a, alpha, sizeof a);
    make_feasible(p->n, low, high, balanced, 0, a);
    primal += lambda / 2 * square_norm(p, alpha);
    dual = -lambda / 2 * square_norm(p, a);
    for (int64_t i = 0; i < p->n; i++)
        dual -= weight_of(p, i) > 0
                    ? weight_of(p, i) * conjugate_at(p, target_of(p, i), -lambda * a[i] / weight_of(p, i))
                    : 0;
    claim(p, fabsl(primal - c->primal) <= c->rounding + 1e-15L * fabsl(primal), "the error of primal",
          primal - c->primal, c->rounding);
    claim(p, isfinite(c->gap), "the gap", primal - dual, c->gap);
    claim(p, c->objective_gap == c->gap && r->objective == c->primal, "objective_gap", c->objective_gap, c->gap);
    claim(p, primal - dual <= c->gap * (1 + 1e-9L) + 1e-18L * fabsl(primal), "the gap", primal - dual, c->gap);
    claim(p, c->gap_relative >= 0 && (c->gap_relative <= 1 || c->gap > 1e-9 * fabs(c->primal)), "gap_relative",
          c->gap_relative, c->gap);
}

/* ---- Everything ---- */

static void check(mercer_ctx *ctx, problem *p) {
    mercer_model *model = NULL;
    const mercer_status status = fit(ctx, p, &model);
    if (status != MERCER_OK) {
        claim(p, status == MERCER_DATA || status == MERCER_NUMERIC || status == MERCER_INVALID, "the status", status,
              0);
        if (getenv("MERCER_CLAIMS_SAY"))
            print_message("# %s: %s\n", p->words, mercer_message(ctx));
        return;
    }
    const mercer_report *r = mercer_model_report(model);
    if (!strcmp(p->machine, "ridge"))
        check_ridge(ctx, p, model);
    else
        check_loss(p, model);
    claim(p, isfinite(r->objective) && isfinite(r->norm), "objective or norm", r->objective, r->norm);
    mercer_model_free(model);
}

static void test_claims_of_certificates_hold_at_the_extremes(void **state) {
    (void)state;
    static const char *const machines[] = {"ridge", "logistic", "squared-hinge", "huber", "quantile", "absolute"};
    const int count = getenv("MERCER_CLAIMS") ? atoi(getenv("MERCER_CLAIMS")) : 1500;
    const uint64_t seed = getenv("MERCER_TEST_SEED") ? test_seed() : (uint64_t)time(NULL);
    print_message("# claims: seed %llu (MERCER_TEST_SEED repeats it)\n", (unsigned long long)seed);
    mercer_ctx *ctx = open_ctx(1);
    problem *p = calloc(1, sizeof *p);
    const char *only = getenv("MERCER_CLAIMS_MACHINE");
    for (int item = 0; item < count; item++) {
        const char *machine = machines[item % (int)(sizeof machines / sizeof machines[0])];
        if (only && strcmp(only, machine))
            continue;
        draw(p, machine, seed, (uint64_t)item);
        check(ctx, p);
    }
    free(p);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims_of_certificates_hold_at_the_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
