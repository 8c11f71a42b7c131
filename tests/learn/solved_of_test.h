/* solved_of_test.h: one quadratic program of a support vector machine, solved, against K written out with the reference
   evaluator. */
#ifndef TEST_SOLVED_H
#define TEST_SOLVED_H

#include "svm_of_test.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/svm/svm.h"

/* A machine opened on a table and solved for its C, with K of its rows in their order. */
typedef struct solved {
    mc_svm s;
    mercer_svm set;
    mercer_kernel *kernel;
    mercer_data *data;
    mc_quadratic_program program;
    int64_t n;
    double *K;
} solved;

static inline void write_K(solved *a) {
    const double *x = a->s.p.x->values;
    a->n = a->s.p.n;
    a->K = calloc((size_t)(a->n * a->n), sizeof *a->K);
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t j = 0; j < a->n; j++)
            a->K[i * a->n + j] = mc_eval_kernel(a->s.p.kernel->root, x + i * D, x + j * D, D);
}

static inline void open_solved(mercer_ctx *ctx, solved *a, mc_svm_kind kind, int64_t n, double C, uint64_t item) {
    const table t = random_table(n, 2, item);
    *a = (solved){.set = plain(mc_svm_variants[kind].name, 1e-5)};
    a->set.C = C;
    a->data = data_of(ctx, &t, kind == MC_SVC);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &a->kernel));
    assert_ok(ctx, mc_svm_open(ctx, kind, &a->set, a->kernel, a->data, &a->s));
    write_K(a);
    assert_ok(ctx, mc_svm_start_programs(ctx, &a->s));
    a->s.task[0].tolerance = 1e-5;
    assert_ok(ctx, mc_svm_program_improve(ctx, &a->s, &a->s.task[0]));
    assert_ok(ctx, mc_quadratic_program_open(ctx, &a->s, &a->s.task[0], &a->program));
}

static inline void close_solved(solved *a) {
    mc_quadratic_program_close(&a->program);
    mc_svm_close(&a->s);
    mercer_kernel_free(a->kernel);
    mercer_data_free(a->data);
    free(a->K);
}

/* (K beta)_i by the raw numbers. */
static inline double raw_value(const solved *a, int64_t i) {
    const mc_svm_program *t = &a->s.task[0];
    long double sum = 0;
    for (int64_t v = 0; v < t->m; v++)
        sum += (long double)a->K[i * a->n + v % t->n] * t->beta[v];
    return (double)sum;
}

/* max over variables below their upper bound of v less min over those above their lower one. */
static inline double raw_violation(const solved *a, const mc_dual *d) {
    const mc_svm_program *t = &a->s.task[0];
    double top = -INFINITY, bottom = INFINITY;
    for (int64_t v = 0; v < d->m; v++) {
        const double slope = -(raw_value(a, v % t->n) + d->q[v]);
        assert_true(t->beta[v] >= d->low[v] && t->beta[v] <= d->high[v]);
        top = t->beta[v] < d->high[v] ? fmax(top, slope) : top;
        bottom = t->beta[v] > d->low[v] ? fmin(bottom, slope) : bottom;
    }
    return top - bottom;
}

static inline long double raw_objective(const solved *a, const mc_dual *d) {
    const mc_svm_program *t = &a->s.task[0];
    long double sum = 0;
    for (int64_t v = 0; v < d->m; v++)
        sum += t->beta[v] * ((long double)raw_value(a, v % t->n) / 2 + d->q[v]);
    return sum;
}

#endif
