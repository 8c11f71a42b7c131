/* claims_of_test.h: random small problems at the extremes, and a model in long double, for the tests of what
   certificates claim. */
#ifndef TEST_CLAIMS_H
#define TEST_CLAIMS_H

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
    double strength;  /* lambda, or C */
    double tolerance; /* of the machines that have one */
    double parameter;
    char words[400];
    truth K[(MOST + NEW) * (MOST + NEW)];
} problem;

/* ---- Problems ---- */

static inline double pick(mc_rng *rng, double low, double high) {
    return pow(10, low + (high - low) * mc_rng_uniform(rng));
}

static inline void draw_rows(problem *p, mc_rng *rng) {
    const double size = pick(rng, -3, 1.5), height = pick(rng, -5, 5);
    const bool constant = mc_rng_below(rng, 4) == 0, equal = mc_rng_below(rng, 4) == 0,
               flat = mc_rng_below(rng, 8) == 0;
    for (int64_t i = 0; i < MOST + NEW; i++) {
        for (int j = 0; j < D; j++)
            p->x[i * D + j] = constant && j ? 3 * size : size * mc_rng_normal(rng);
        if (i && i < p->n && equal && mc_rng_below(rng, 2))
            memcpy(p->x + i * D, p->x, D * sizeof *p->x);
        if (i >= p->n && i < p->n + NEW / 2) /* rows of the data again: k(x,x) is no larger there */
            memcpy(p->x + i * D, p->x + mc_rng_below(rng, p->n) * D, D * sizeof *p->x);
        for (int j = 0; j < D && i == p->n + NEW - 1; j++) /* far out: k(x,x) is larger for kernels that grow */
            p->x[i * D + j] *= 30;
    }
    for (int64_t i = 0; i < p->n; i++) {
        p->y[i] = flat ? height : height * (mc_rng_normal(rng) + sin(p->x[i * D] / size));
        p->label[i] = mc_rng_below(rng, 3) ? (p->x[i * D] > 0 ? "b" : "a") : (i % 2 ? "a" : "b");
        p->w[i] = mc_rng_below(rng, 5) ? pick(rng, -2, 2) : 0;
    }
    p->w[0] = p->w[p->n - 1] = 1;
    p->label[0] = "a", p->label[p->n - 1] = "b";
}

static inline void draw(problem *p, const char *machine, uint64_t seed, uint64_t item) {
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
    p->tolerance = pick(&rng, -9, -0.5);
    draw_rows(p, &rng);
    snprintf(p->words, sizeof p->words, "%s, %s, n %lld, strength %.6g, parameter %.6g%s%s, seed %llu, item %llu",
             machine, p->kernel, (long long)p->n, p->strength, p->parameter, p->weighted ? ", weighted" : "",
             p->intercept ? ", intercept" : "", (unsigned long long)seed, (unsigned long long)item);
}

static inline bool has_classes(const problem *p) {
    return mercer_machine_find(p->machine)->target == MERCER_TARGET_CLASS;
}

static inline mercer_data *data_of(mercer_ctx *ctx, const problem *p) {
    mercer_table table = {.size = sizeof table,
                          .n = p->n,
                          .d = D,
                          .dtype = MERCER_F64,
                          .values = p->x,
                          .weights = p->weighted ? p->w : NULL};
    if (has_classes(p))
        table.labels = (const char *const *)p->label;
    else
        table.target = p->y, table.outputs = 1;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* Settings that the machine does not have are passed over. */
static inline void put(mercer_ctx *ctx, const mercer_machine *machine, void *set, const char *name, double value) {
    char text[40];
    for (int i = 0; i < machine->count; i++)
        if (strcmp(machine->settings[i].name, name) == 0) {
            snprintf(text, sizeof text, machine->settings[i].type == MERCER_FLAG ? (value > 0 ? "yes" : "no") : "%.17g",
                     value);
            assert_ok(ctx, mercer_settings_put(ctx, set, name, text));
        }
}

static inline mercer_status fit(mercer_ctx *ctx, problem *p, double tolerance, mercer_model **out) {
    const mercer_machine *machine = mercer_machine_find(p->machine);
    void *set = calloc(1, machine->size);
    mercer_kernel *kernel = NULL;
    mercer_data *data = data_of(ctx, p);
    assert_ok(ctx, mercer_kernel_parse(ctx, p->kernel, &kernel));
    assert_ok(ctx, mercer_settings_init(ctx, machine->name, set, machine->size));
    assert_ok(ctx, mercer_settings_put(ctx, set, "scale", "none"));
    put(ctx, machine, set, "lambda", p->strength);
    put(ctx, machine, set, "noise", p->strength);
    put(ctx, machine, set, "C", p->strength);
    put(ctx, machine, set, "intercept", p->intercept);
    put(ctx, machine, set, "nu", p->parameter);
    put(ctx, machine, set, "tau", p->parameter);
    put(ctx, machine, set, "delta", p->parameter);
    put(ctx, machine, set, "epsilon", p->parameter);
    put(ctx, machine, set, "learn", 0);
    put(ctx, machine, set, "tolerance", tolerance);
    put(ctx, machine, set, "iterations", 5000);
    put(ctx, machine, set, "components", (double)((p->n + 1) / 2));
    const mercer_status status = mercer_fit(ctx, machine->name, set, kernel, data, out);
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

static inline void claim(const problem *p, bool holds, const char *what, truth found, truth said) {
    if (!holds)
        fail_msg("%s: %s is %.8Lg and %.8Lg was claimed", p->words, what, found, said);
}

/* ---- The model in long double ---- */

static inline truth weight_of(const problem *p, int64_t i) {
    return p->weighted ? p->w[i] : 1;
}

/* Coefficient of every row of the problem. */
static inline void coefficients(const problem *p, const mercer_model *model, truth *alpha) {
    memset(alpha, 0, MOST * sizeof *alpha);
    for (int64_t c = 0; c < mercer_model_centres(model); c++)
        alpha[mercer_model_row(model, c)] = mercer_model_coefficient(model, c, 0);
    (void)p;
}

/* f at row i of all. */
static inline truth value_at(const problem *p, const truth *alpha, int64_t i) {
    truth f = 0;
    for (int64_t j = 0; j < p->n; j++)
        f += alpha[j] * p->K[i * (p->n + NEW) + j];
    return f;
}

static inline truth square_norm(const problem *p, const truth *alpha) {
    truth sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        sum += alpha[i] * value_at(p, alpha, i);
    return sum;
}

/* ---- Predictions ---- */

/* Decisions and their bounds at all rows. */
static inline void decide(mercer_ctx *ctx, const problem *p, const mercer_model *model, double *out, double *bound) {
    const mercer_table table = {.size = sizeof table, .n = p->n + NEW, .d = D, .dtype = MERCER_F64, .values = p->x};
    mercer_data *all = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &all));
    assert_ok(ctx, mercer_decide(ctx, model, all, out));
    assert_ok(ctx, mercer_prediction_bound(ctx, model, all, bound));
    mercer_data_free(all);
}

/* What the certificate says without rounding is part of what holds at a row. */
static inline void check_bounds(const problem *p, const mercer_model *model, const double *bound) {
    const mercer_certificate *c = &mercer_model_report(model)->certificate;
    const bool known = isfinite(c->prediction_error_constant) && isfinite(c->prediction_error_slope);
    for (int64_t i = 0; i < p->n + NEW; i++) {
        const truth root = sqrtl(p->K[i * (p->n + NEW) + i]),
                    least = c->prediction_error_constant + c->prediction_error_slope * root;
        claim(p, known ? bound[i] >= (1 - 1e-12L) * least : isinf(bound[i]), "a bound of a prediction", least,
              bound[i]);
    }
}

/* The same problem solved as well as can be: two functions are no further apart than their bounds together. */
static inline void check_against_a_tight_fit(mercer_ctx *ctx, problem *p, const mercer_model *model) {
    double loose[MOST + NEW], tight[MOST + NEW], bound[MOST + NEW], small[MOST + NEW];
    mercer_model *best = NULL;
    if (fit(ctx, p, 1e-10, &best) != MERCER_OK)
        return;
    decide(ctx, p, model, loose, bound);
    decide(ctx, p, best, tight, small);
    check_bounds(p, model, bound);
    for (int64_t i = 0; i < p->n + NEW; i++)
        claim(p, !(fabs(loose[i] - tight[i]) > bound[i] + small[i]), "a decision's error",
              fabsl((truth)loose[i] - tight[i]), (truth)bound[i] + small[i]);
    mercer_model_free(best);
}

/* ---- What gaps need ---- */

/* The numbers of a certificate by a gap that stand for themselves, against primal and |f|^2 in long double. */
static inline void check_sides(const problem *p, const mercer_report *r, truth primal, truth norm2) {
    const mercer_certificate *c = &r->certificate;
    claim(p, fabsl(primal - r->objective) <= c->rounding + 1e-15L * fabsl(primal), "the error of the objective",
          primal - r->objective, c->rounding);
    claim(p, primal <= c->primal + 1e-18L * fabsl(primal), "primal as an upper bound", primal, c->primal);
    claim(p, c->dual <= primal + 1e-18L * fabsl(primal), "dual as a lower bound", primal, c->dual);
    claim(p, norm2 <= 2 * powl(r->norm, 2), "half the square of the norm", norm2,
          powl(r->norm, 2)); /* never 0 because terms cancelled */
    claim(p, c->objective_gap == c->gap, "objective_gap", c->objective_gap, c->gap);
}

static inline truth target_of(const problem *p, int64_t i) {
    return has_classes(p) ? (p->label[i][0] == 'a' ? 1 : -1) : p->y[i];
}

/* v in its box, sum c v = 0 where asked for: the sum is taken off where there is room for it. */
static inline void make_feasible(int64_t n, const truth *low, const truth *high, bool balanced, truth total, truth *v) {
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

/* ---- The problems, one after the other ---- */

static inline void check_claims(const char *const *machines, int count, int problems,
                                void (*check)(mercer_ctx *ctx, problem *p)) {
    const int many = getenv("MERCER_CLAIMS") ? atoi(getenv("MERCER_CLAIMS")) : problems;
    const uint64_t seed = getenv("MERCER_TEST_SEED") ? test_seed() : (uint64_t)time(NULL);
    print_message("# claims: seed %llu (MERCER_TEST_SEED repeats it)\n", (unsigned long long)seed);
    mercer_ctx *ctx = open_ctx(1);
    problem *p = calloc(1, sizeof *p);
    const char *only = getenv("MERCER_CLAIMS_MACHINE");
    for (int item = 0; item < many; item++) {
        const char *machine = machines[item % count];
        if (only && strcmp(only, machine))
            continue;
        draw(p, machine, seed, (uint64_t)item);
        check(ctx, p);
    }
    free(p);
    close_clean(ctx);
}

#endif
