/* search_descent.c: random points, moved downhill: d lambda_min = 2 v_i sum_j v_j dk(x_i, x_j) for the eigenvector v.
   See search_witness.c. */
#include "kernel/proof/witness_search.h"
#include "base/ctx.h"
#include "base/rng.h"
#include <math.h>
#include <string.h>

enum { STARTS = 60, STEPS = 25 };

static void random_points(mc_witness_search *s, int64_t m, mc_rng *rng) {
    const double scale = exp(2 * mc_rng_normal(rng));
    for (int64_t i = 0; i < m * s->d; i++) {
        const double v = scale * mc_rng_normal(rng);
        s->points[i] = s->nonnegative ? fabs(v) : v;
    }
}

static double eigenvalue_of(mc_witness_search *s, int64_t m, const double *points, double *vector) {
    double K[MC_WITNESS_POINTS * MC_WITNESS_POINTS];
    s->left -= m * (m + 1) / 2 + m * m * m / 8;
    return mc_witness_gram(s->node, m, s->d, 0, points, K) ? mc_smallest_eigenvalue(K, m, vector) : INFINITY;
}

/* d(v' K v) / d x_i along column j, by central differences of the row i. */
static double slope_at_coordinate(mc_witness_search *s, int64_t m, const double *v, int64_t i, int64_t j, double h) {
    double *x = mc_search_point(s, i), at = x[j], sum = 0;
    for (int side = -1; side <= 1; side += 2) {
        x[j] = s->nonnegative ? fabs(at + side * h) : at + side * h;
        for (int64_t k = 0; k < m; k++)
            sum += side * (k == i ? 1 : 2) * v[i] * v[k] * mc_eval_kernel(s->node, x, mc_search_point(s, k), s->d);
    }
    x[j] = at;
    s->left -= 2 * m;
    return sum / (2 * h);
}

static double root_mean_square(const mc_witness_search *s, int64_t m) {
    double sum = 0;
    for (int64_t i = 0; i < m * s->d; i++)
        sum += s->points[i] * s->points[i];
    return sqrt(sum / (double)(m * s->d));
}

static double compute_form_gradient(mc_witness_search *s, int64_t m, const double *v, double *g) {
    const double h = 1e-5 * root_mean_square(s, m) + 1e-9;
    double most = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < s->d; j++) {
            g[i * s->d + j] = slope_at_coordinate(s, m, v, i, j, h);
            most = fmax(most, fabs(g[i * s->d + j]));
        }
    return most;
}

/* One step against the gradient g, halved until the eigenvalue falls. False: it does not. */
static bool step_downhill(mc_witness_search *s, int64_t m, const double *g, double most, double *value, double *vector,
                          double *trial) {
    double length = 0.5 * root_mean_square(s, m) / most;
    for (int half = 0; half < 12; half++, length /= 2) {
        for (int64_t i = 0; i < m * s->d; i++) {
            const double x = s->points[i] - length * g[i];
            trial[i] = s->nonnegative ? fmax(x, 0) : x;
        }
        const double next = eigenvalue_of(s, m, trial, vector);
        if (next < *value) {
            memcpy(s->points, trial, (size_t)(m * s->d) * sizeof(double));
            *value = next;
            return true;
        }
    }
    return false;
}

static void descend_eigenvalue(mc_witness_search *s, int64_t m) {
    double vector[MC_WITNESS_POINTS], value = eigenvalue_of(s, m, s->points, vector);
    for (int k = 0; k < STEPS && s->left > 0 && isfinite(value) && value > -0.05; k++) {
        const double most = compute_form_gradient(s, m, vector, s->slopes);
        if (!(most > 0) || !isfinite(most) || !step_downhill(s, m, s->slopes, most, &value, vector, s->other))
            return;
    }
}

bool mc_search_random_starts(mc_witness_search *s) {
    static const int64_t counts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20};
    enum { COUNTS = sizeof counts / sizeof counts[0] };
    for (int start = 0; start < STARTS && s->left > 0; start++) {
        mc_rng rng = mc_rng_at(s->ctx->options.seed, MC_STREAM_REFUTE, (uint64_t)start);
        const int64_t m = counts[start % COUNTS];
        mc_reset_best_set(s);
        random_points(s, m, &rng);
        descend_eigenvalue(s, m);
        mc_consider_points(s, m, NULL, NULL);
        if (mc_certify_best_set(s, true))
            return true;
    }
    return false;
}
