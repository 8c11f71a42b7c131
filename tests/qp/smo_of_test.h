/* smo_of_test.h: quadratic programs over a Gram matrix, and what is true of their answers by the raw numbers; shared by
   the tests of SMO, of the interior-point method and of quadratic programs solved together. */
#ifndef TEST_SMO_H
#define TEST_SMO_H

#include "base/rng.h"
#include "qp/smo.h"
#include "qp/batch_smo.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A problem of n points in the plane with its Gaussian Gram matrix, and room for 2n variables. */
typedef struct sample {
    int64_t n;
    double *K, *diagonal, *q, *low, *high, *beta, *f, *y;
    float *single;
    int64_t *row;
    uint8_t *group;
} sample;

static inline sample sample_new(int64_t n) {
    const size_t square = (size_t)(n * n), two = (size_t)(2 * n);
    return (sample){.n = n,
                    .K = calloc(square, sizeof(double)),
                    .single = calloc(square + MC_BATCH_SMO_PADDING, sizeof(float)),
                    .diagonal = calloc(two, sizeof(double)),
                    .q = calloc(two, sizeof(double)),
                    .low = calloc(two, sizeof(double)),
                    .high = calloc(two, sizeof(double)),
                    .beta = calloc(two, sizeof(double)),
                    .f = calloc(two, sizeof(double)),
                    .y = calloc(two, sizeof(double)),
                    .row = calloc(two, sizeof(int64_t)),
                    .group = calloc(two, 1)};
}

static inline void sample_free(sample *s) {
    void *blocks[] = {s->K, s->single, s->diagonal, s->q, s->low, s->high, s->beta, s->f, s->y, s->row, s->group};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

static inline void round_K(sample *s) {
    for (int64_t i = 0; i < s->n * s->n; i++)
        s->single[i] = (float)s->K[i];
    for (int64_t i = 0; i < s->n; i++)
        s->diagonal[i] = s->K[i * s->n + i];
}

/* y = sign of a curve through noisy points; targets of a regression are the height above it. */
static inline sample random_sample(int64_t n, uint64_t item, double gamma) {
    sample s = sample_new(n);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    double *x = calloc((size_t)(2 * n), sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        x[2 * i] = mc_rng_normal(&rng);
        x[2 * i + 1] = mc_rng_normal(&rng);
        s.y[i] = x[2 * i + 1] - sin(2 * x[2 * i]) + 0.3 * mc_rng_normal(&rng);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            s.K[i * n + j] = exp(-gamma * (pow(x[2 * i] - x[2 * j], 2) + pow(x[2 * i + 1] - x[2 * j + 1], 2)));
    round_K(&s);
    free(x);
    return s;
}

static inline void as_classifier(sample *s, double C) {
    for (int64_t i = 0; i < s->n; i++) {
        s->y[i] = s->y[i] > 0 ? 1 : -1;
        s->q[i] = -s->y[i];
        s->low[i] = s->y[i] > 0 ? 0 : -C;
        s->high[i] = s->y[i] > 0 ? C : 0;
    }
}

static inline mc_smo_problem problem_of(const sample *s, mercer_dtype dtype, double tolerance) {
    return (mc_smo_problem){.dual = {.m = s->n, .q = s->q, .low = s->low, .high = s->high},
                            .rows = mc_matrix_square(
                                s->n, dtype, dtype == MERCER_F64 ? (void *)s->K : (void *)s->single, s->n, s->diagonal),
                            .tolerance = tolerance,
                            .steps_max = 100000000};
}

/* f = K beta from the raw numbers. */
static inline long double value_at(const sample *s, const mc_dual *d, int64_t i) {
    long double f = 0;
    for (int64_t t = 0; t < d->m; t++)
        f += (long double)s->K[i * s->n + (d->row ? d->row[t] : t)] * s->beta[t];
    return f;
}

/* The largest violation of max over U of v <= min over D of v, group by group, from the raw numbers. */
static inline double true_violation(const sample *s, const mc_dual *d) {
    double top[2] = {-INFINITY, -INFINITY}, bottom[2] = {INFINITY, INFINITY};
    for (int64_t t = 0; t < d->m; t++) {
        const int g = d->group ? d->group[t] : 0;
        const double v = (double)-(value_at(s, d, d->row ? d->row[t] : t) + d->q[t]);
        assert_true(s->beta[t] >= d->low[t] && s->beta[t] <= d->high[t]);
        if (s->beta[t] < d->high[t])
            top[g] = fmax(top[g], v);
        if (s->beta[t] > d->low[t])
            bottom[g] = fmin(bottom[g], v);
    }
    return fmax(top[0] - bottom[0], top[1] - bottom[1]);
}

/* f <- K beta. */
static inline void write_f(sample *s, const mc_dual *d) {
    for (int64_t i = 0; i < s->n; i++)
        s->f[i] = (double)value_at(s, d, i);
}

static inline double group_sum(const sample *s, const mc_dual *d, int g) {
    long double sum = 0;
    for (int64_t t = 0; t < d->m; t++)
        if ((d->group ? d->group[t] : 0) == g)
            sum += s->beta[t];
    return (double)sum;
}

/* epsilon regression: beta = alpha - alpha*, both halves over the same rows. */
static inline void as_regression(sample *s, double C, double epsilon) {
    for (int64_t t = 0; t < 2 * s->n; t++) {
        const int64_t i = t % s->n;
        const bool up = t < s->n;
        s->row[t] = i;
        s->q[t] = -s->y[i] + (up ? epsilon : -epsilon);
        s->low[t] = up ? 0 : -C;
        s->high[t] = up ? C : 0;
        s->group[t] = !up;
    }
}

/* Claims of t_interior.c and t_batch_smo.c, which t_smo.c runs. */
void test_an_interior_point_finds_the_optimum_at_any_C(void **state);
void test_an_interior_point_keeps_two_sums(void **state);
void test_an_interior_point_needs_no_upper_bound(void **state);
void test_programs_over_one_matrix_are_solved_in_a_batch(void **state);
void test_newton_steps_in_between_lead_to_the_optimum(void **state);

#endif
