/* search_witness.c: where could an expression fail to be a kernel? Point sets are tried from the smallest on:

     one point      k(x, x) < 0
     two points     k(x, z)^2 > k(x, x) k(z, z) (Cauchy-Schwarz), on a grid of sizes and directions
     a line         m = 3, 4, ... equispaced points at many scales. With binomial weights (1, -3, 3, -1) the form is the
     n-th difference
                    in x and z, a Taylor coefficient of a function of <x, z>; with equal weights, the Fourier transform
                    at frequency 0 of one of x - z
     the plane      grids, polygons, crosses; the same in space
     far apart      32 points that see nothing of each other, with equal weights: against what is subtracted everywhere
     a lattice      against polynomials, see search_lattice.c
     anywhere       random points, moved downhill: d lambda_min = 2 v_i sum_j v_j dk(x_i, x_j) for the eigenvector v

   Where numbers of the expression cancel to less than their rounding, the evaluator's values tell nothing of its sign.
   So the plainest points are looked at with values from enclosures, and at the end all that are cheap are once more,
   as many as the time for one such value allows.

   Among sets of one size the most negative is kept, so that the certificate is not about rounding. The number of values
   of k computed is limited, so the search always ends, and depends on nothing but the expression, d and the seed. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include "kernel/proof/refute.h"
#include <math.h>
#include <string.h>

enum { LINE_POINTS = 12, DIRECTIONS = 6, STARTS = 60, STEPS = 25, EVALUATIONS = 500000, FINE_COST = 100 };

typedef struct witness_search {
    mercer_ctx *ctx;
    const mc_node *node;
    int64_t d;
    bool nonnegative;     /* points may not have negative entries */
    bool fine;            /* values come from enclosures, not from the evaluator */
    int64_t budget, left; /* values of k that a stage may compute, and those it still may */
    double *direction;    /* DIRECTIONS x d */
    int directions;
    double *points, *other, *slopes; /* MC_WITNESS_POINTS x d each */
    double score;                    /* of the best set of this size; 0: none is negative */
    int64_t best_count;
    double *best;                           /* its points */
    double best_weights[MC_WITNESS_POINTS]; /* and weights, when best_weighted */
    bool best_weighted;
    mercer_status status;
    mc_refutation *out;
} witness_search;

/* Below this, relative to the largest eigenvalue, a negative one may be rounding. */
static const double NOISE = -3e-14;

static const double sizes[] = {1,  2,   0.5,  3,    5,     10,  0.2,  0.1, 20,  0.05,
                               50, 100, 0.01, 1000, 0.001, 1e4, 1e-4, 1e6, 1e-6};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static double *point_at(witness_search *s, int64_t i) {
    return s->points + i * s->d;
}

/* x_i = t * direction */
static void place_on_ray(witness_search *s, int64_t i, double t, const double *direction) {
    for (int64_t j = 0; j < s->d; j++)
        point_at(s, i)[j] = t * direction[j] + 0.0; /* + 0: people will read this, without minus zeros */
}

static bool in_domain(const witness_search *s, int64_t m) {
    for (int64_t i = 0; s->nonnegative && i < m * s->d; i++)
        if (s->points[i] < 0)
            return false;
    return true;
}

static bool spend_evaluations(witness_search *s, int64_t values) {
    s->left -= values;
    s->out->sets++;
    return s->left > 0;
}

static bool fill_gram_of_set(const witness_search *s, int64_t m, double *K) {
    return (s->fine ? mc_witness_gram_enclosed : mc_witness_gram)(s->node, m, s->d, s->points, K);
}

/* ---- keeping the best ---- */

static void reset_best_set(witness_search *s) {
    s->score = 0;
}

static void keep_best_set(witness_search *s, int64_t m, double score, const double *weights) {
    s->score = score;
    s->best_count = m;
    memcpy(s->best, s->points, (size_t)(m * s->d) * sizeof(double));
    s->best_weighted = weights != NULL;
    if (weights)
        memcpy(s->best_weights, weights, (size_t)m * sizeof(double));
}

/* Turn the best set of this size into a certified witness. */
static bool certify_best_set(witness_search *s, bool simplify) {
    mc_witness *w = &s->out->witness;
    if (s->score == 0)
        return false;
    w->count = s->best_count;
    w->d = s->d;
    memcpy(w->points, s->best, (size_t)(w->count * s->d) * sizeof(double));
    if (s->best_weighted) {
        memcpy(w->weights, s->best_weights, (size_t)w->count * sizeof(double));
        s->out->found = mc_witness_certify(s->node, w);
    }
    if (!s->out->found)
        s->out->found = simplify ? mc_witness_simplify(s->node, w, s->other) : mc_witness_from_points(s->node, w);
    return s->out->found;
}

/* The form with these weights, relative to the sum of sizes of its terms. */
static double relative_form(const double *K, int64_t m, const double *w) {
    double form = 0, size = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) {
            form += w[i] * w[j] * K[i * m + j];
            size += fabs(w[i] * w[j] * K[i * m + j]);
        }
    return size > 0 ? form / size : 0;
}

/* The points as they stand, with each of the given weights (NULL: none) and with the eigenvector's. Whole weights beat
   fractions: an eigenvector must be ten times as negative to replace them. */
static void consider_points(witness_search *s, int64_t m, const double *weights, const double *others) {
    double K[MC_WITNESS_POINTS * MC_WITNESS_POINTS], vector[MC_WITNESS_POINTS];
    if (!in_domain(s, m) || !spend_evaluations(s, m * (m + 1) / 2) || !fill_gram_of_set(s, m, K)
        || mc_surely_definite(K, m))
        return;
    s->left -= m * m * m / 8; /* about what the eigenvalue costs */
    for (const double *w = weights; w; w = w == weights ? others : NULL) {
        const double form = relative_form(K, m, w);
        if (form < NOISE && (form < s->score || !s->best_weighted))
            keep_best_set(s, m, form, w);
    }
    const double eigenvalue = mc_smallest_eigenvalue(K, m, vector);
    const bool have_whole = s->score < 0 && s->best_weighted;
    if (eigenvalue < NOISE && eigenvalue < (have_whole ? 10 * s->score : s->score))
        keep_best_set(s, m, eigenvalue, NULL);
}

/* ---- one and two points ---- */

/* 0, and so many sizes with both signs in every direction. */
static bool points_of(witness_search *s, const double *size, int count) {
    static const double one[] = {1};
    reset_best_set(s);
    place_on_ray(s, 0, 0, s->direction);
    consider_points(s, 1, one, NULL);
    for (int u = 0; u < s->directions && s->score == 0; u++)
        for (int i = 0; i < 2 * count && s->score == 0 && s->left > 0; i++) {
            place_on_ray(s, 0, i < count ? size[i] : -size[i - count], s->direction + u * s->d);
            consider_points(s, 1, one, NULL);
        }
    return certify_best_set(s, false);
}

static bool search_one_point(witness_search *s) {
    s->fine = true;
    const bool found = points_of(s, sizes, 1);
    s->fine = false;
    return found || points_of(s, sizes, SIZES);
}

/* 1 - k(x,x) k(z,z) / k(x,z)^2 where that is positive. */
static double cauchy_schwarz_excess(witness_search *s) {
    double K[4];
    if (!in_domain(s, 2) || !spend_evaluations(s, 3) || !fill_gram_of_set(s, 2, K) || K[1] == 0)
        return 0;
    return fmax(1 - K[0] / K[1] * (K[3] / K[1]), 0);
}

static double size_of(int i) { /* 0, then the sizes, then minus the sizes */
    return i == 0 ? 0 : i <= SIZES ? sizes[i - 1] : -sizes[i - 1 - SIZES];
}

/* The first pair, in order of simplicity, that reaches the excess; *most gets the largest seen. */
static bool find_pair(witness_search *s, double wanted, double *most) {
    for (int u = 0; u < s->directions; u++)
        for (int v = 0; v < s->directions; v++)
            for (int i = 0; i <= SIZES; i++)
                for (int j = 0; j <= 2 * SIZES && s->left > 0; j++) {
                    place_on_ray(s, 0, size_of(i), s->direction + u * s->d);
                    place_on_ray(s, 1, size_of(j), s->direction + v * s->d);
                    const double e = cauchy_schwarz_excess(s);
                    *most = fmax(*most, e);
                    if (e > 0 && e >= wanted)
                        return true;
                }
    return false;
}

static bool search_two_points(witness_search *s) {
    double most = 0, again = 0;
    find_pair(s, INFINITY, &most);
    if (most < 1e-9 || !find_pair(s, fmin(most / 2, 0.2), &again))
        return false;
    keep_best_set(s, 2, -1, NULL);
    return certify_best_set(s, false);
}

/* ---- lines ---- */

static void binomial_weights(double *w, int64_t m) {
    w[0] = 1;
    for (int64_t i = 1; i < m; i++)
        w[i] = -w[i - 1] * (double)(m - i) / (double)i;
}

static void equal_weights(double *w, int64_t m) {
    for (int64_t i = 0; i < m; i++)
        w[i] = 1;
}

/* m points with this spacing, from 0 on or around 0. */
static void on_a_line(witness_search *s, int64_t m, double spacing, const double *direction, bool centred) {
    for (int64_t i = 0; i < m; i++)
        place_on_ray(s, i, mc_round_to_digits(spacing * ((double)i - (centred ? (double)(m - 1) / 2 : 0)), 12),
                     direction);
}

static bool lines_of(witness_search *s, int64_t m) {
    double differences[MC_WITNESS_POINTS], ones[MC_WITNESS_POINTS];
    binomial_weights(differences, m);
    equal_weights(ones, m);
    reset_best_set(s);
    for (int u = 0; u < s->directions; u++)
        for (int i = 0; i < SIZES; i++)
            for (int centred = 0; centred < 2 && s->left > 0; centred++) {
                on_a_line(s, m, sizes[i], s->direction + u * s->d, centred);
                consider_points(s, m, differences, ones);
            }
    return certify_best_set(s, false);
}

/* ---- plane and space ---- */

/* side^dims points with this spacing in the first dims columns. */
static int64_t lay_grid(witness_search *s, int side, int dims, double spacing) {
    int64_t m = 1;
    for (int k = 0; k < dims; k++)
        m *= side;
    memset(s->points, 0, (size_t)(m * s->d) * sizeof(double));
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0, rest = i; k < dims; k++, rest /= side)
            point_at(s, i)[k] = mc_round_to_digits(spacing * (double)(rest % side), 12);
    return m;
}

static bool search_grids(witness_search *s) {
    static const int shapes[][2] = {{2, 2}, {2, 3}, {3, 2}, {4, 2}, {2, 4}, {5, 2}, {3, 3}};
    double ones[MC_WITNESS_POINTS];
    equal_weights(ones, MC_WITNESS_POINTS);
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        reset_best_set(s);
        if (shapes[k][1] > s->d)
            continue;
        for (double spacing = 0.1; spacing < 20 && s->left > 0; spacing *= 1.25)
            consider_points(s, lay_grid(s, shapes[k][0], shapes[k][1], nearbyint(100 * spacing) / 100), ones, NULL);
        if (certify_best_set(s, false))
            return true;
    }
    return false;
}

/* As many points as there may be, so far apart that a kernel that falls off is the identity on them. */
static bool search_far_points(witness_search *s) {
    static const double spacings[] = {20, 1000, 1e5};
    double ones[MC_WITNESS_POINTS];
    equal_weights(ones, MC_WITNESS_POINTS);
    reset_best_set(s);
    for (int64_t m = 16; m <= MC_WITNESS_POINTS && s->score == 0; m += 8)
        for (int i = 0; i < 3 && s->left > 0 && s->score == 0; i++) {
            on_a_line(s, m, spacings[i], s->direction, false);
            consider_points(s, m, ones, NULL);
        }
    return certify_best_set(s, false);
}

static bool search_lattice(witness_search *s) {
    int64_t m = 0;
    s->status = mc_lattice_points(s->ctx, s->node, s->d, s->slopes, &m);
    reset_best_set(s);
    for (int i = 0; i < 10 && m > 1 && !s->status; i++) {
        for (int64_t k = 0; k < m * s->d; k++)
            s->points[k] = sizes[i] * s->slopes[k];
        consider_points(s, m, NULL, NULL);
    }
    return certify_best_set(s, true);
}

/* The origin and a step both ways along each of the first dims columns. */
static bool search_crosses(witness_search *s) {
    const int64_t dims = s->d < 8 ? s->d : 8;
    reset_best_set(s);
    for (int i = 0; i < SIZES; i++) {
        memset(s->points, 0, (size_t)((2 * dims + 1) * s->d) * sizeof(double));
        for (int64_t k = 0; k < dims; k++) {
            point_at(s, 2 * k + 1)[k] = sizes[i];
            point_at(s, 2 * k + 2)[k] = s->nonnegative ? 2 * sizes[i] : -sizes[i];
        }
        consider_points(s, 2 * dims + 1, NULL, NULL);
    }
    return certify_best_set(s, true);
}

static bool search_polygons(witness_search *s) {
    for (int64_t m = 3; m <= LINE_POINTS && s->d >= 2; m++) {
        reset_best_set(s);
        for (int i = 0; i < SIZES; i++) {
            memset(s->points, 0, (size_t)(m * s->d) * sizeof(double));
            for (int64_t k = 0; k < m; k++) {
                const double t = 6.283185307179586 * (double)k / (double)m;
                point_at(s, k)[0] = sizes[i] * (cos(t) + s->nonnegative);
                point_at(s, k)[1] = sizes[i] * (sin(t) + s->nonnegative);
            }
            consider_points(s, m, NULL, NULL);
        }
        if (certify_best_set(s, true))
            return true;
    }
    return false;
}

/* ---- downhill ---- */

static void random_points(witness_search *s, int64_t m, mc_rng *rng) {
    const double scale = exp(2 * mc_rng_normal(rng));
    for (int64_t i = 0; i < m * s->d; i++) {
        const double v = scale * mc_rng_normal(rng);
        s->points[i] = s->nonnegative ? fabs(v) : v;
    }
}

static double eigenvalue_of(witness_search *s, int64_t m, const double *points, double *vector) {
    double K[MC_WITNESS_POINTS * MC_WITNESS_POINTS];
    s->left -= m * (m + 1) / 2 + m * m * m / 8;
    return mc_witness_gram(s->node, m, s->d, points, K) ? mc_smallest_eigenvalue(K, m, vector) : INFINITY;
}

/* d(v' K v) / d x_i along column j, by central differences of the row i. */
static double slope_at_coordinate(witness_search *s, int64_t m, const double *v, int64_t i, int64_t j, double h) {
    double *x = point_at(s, i), at = x[j], sum = 0;
    for (int side = -1; side <= 1; side += 2) {
        x[j] = s->nonnegative ? fabs(at + side * h) : at + side * h;
        for (int64_t k = 0; k < m; k++)
            sum += side * (k == i ? 1 : 2) * v[i] * v[k] * mc_eval_kernel(s->node, x, point_at(s, k), s->d);
    }
    x[j] = at;
    s->left -= 2 * m;
    return sum / (2 * h);
}

static double root_mean_square(const witness_search *s, int64_t m) {
    double sum = 0;
    for (int64_t i = 0; i < m * s->d; i++)
        sum += s->points[i] * s->points[i];
    return sqrt(sum / (double)(m * s->d));
}

static double compute_form_gradient(witness_search *s, int64_t m, const double *v, double *g) {
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
static bool step_downhill(witness_search *s, int64_t m, const double *g, double most, double *value, double *vector,
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

static void descend_eigenvalue(witness_search *s, int64_t m) {
    double vector[MC_WITNESS_POINTS], value = eigenvalue_of(s, m, s->points, vector);
    for (int k = 0; k < STEPS && s->left > 0 && isfinite(value) && value > -0.05; k++) {
        const double most = compute_form_gradient(s, m, vector, s->slopes);
        if (!(most > 0) || !isfinite(most) || !step_downhill(s, m, s->slopes, most, &value, vector, s->other))
            return;
    }
}

static bool search_random_starts(witness_search *s) {
    static const int64_t counts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20};
    enum { COUNTS = sizeof counts / sizeof counts[0] };
    for (int start = 0; start < STARTS && s->left > 0; start++) {
        mc_rng rng = mc_rng_at(s->ctx->options.seed, MC_STREAM_REFUTE, (uint64_t)start);
        const int64_t m = counts[start % COUNTS];
        reset_best_set(s);
        random_points(s, m, &rng);
        descend_eigenvalue(s, m);
        consider_points(s, m, NULL, NULL);
        if (certify_best_set(s, true))
            return true;
    }
    return false;
}

/* ---- the search ---- */

static bool wants_nonnegative(const mc_node *node) {
    return node->kind == MC_ATOM && mc_atoms[node->atom].nonnegative;
}

static int64_t nodes_of(const mc_node *node) {
    int64_t count = 1 + (node->kind == MC_ATOM && node->atom == MC_FORM ? node->parameter[0].columns : 0);
    for (int i = 0; i < node->children; i++)
        count += nodes_of(node->child[i]) * (node->kind == MC_NORMALIZE ? 3 : 1);
    return count;
}

/* The first columns one by one, all together, and the first against the second. */
static void make_directions(witness_search *s) {
    const int64_t axes = s->d < DIRECTIONS - 2 ? s->d : DIRECTIONS - 2;
    for (int64_t k = 0; k < axes; k++)
        s->direction[k * s->d + k] = 1;
    s->directions = (int)axes;
    if (s->d < 2)
        return;
    for (int64_t j = 0; j < s->d; j++)
        s->direction[s->directions * s->d + j] = 1;
    s->directions++;
    s->direction[s->directions * s->d] = 1;
    s->direction[s->directions * s->d + 1] = -1;
    s->directions++;
}

static bool search_lines(witness_search *s) {
    for (int64_t m = 3; m <= LINE_POINTS; m++)
        if (lines_of(s, m))
            return true;
    return false;
}

/* Coefficients of small powers show themselves only where the higher ones are smaller still. */
static bool search_with_enclosures(witness_search *s) {
    static const double tiny[] = {1e-9, 1e-12, 1e-18};
    s->left = s->budget / FINE_COST;
    s->fine = true;
    const bool found = points_of(s, tiny, sizeof tiny / sizeof tiny[0]) || points_of(s, sizes, SIZES)
                       || search_two_points(s) || search_lines(s);
    s->fine = false;
    return found;
}

static mercer_status run_search_stages(witness_search *s, mc_search_part part) {
    static bool (*const stages[MC_SEARCH_PARTS][7])(witness_search *) = {
        {search_one_point, search_two_points, search_lines},
        {search_lattice, search_far_points, search_grids, search_crosses, search_polygons, search_random_starts,
         search_with_enclosures}};
    for (int i = 0; i < 7 && stages[part][i] && !s->out->found; i++) {
        MC_TRY(mc_report_progress(s->ctx, -1));
        s->left = s->budget;
        stages[part][i](s);
        MC_TRY(s->status);
    }
    return mc_report_progress(s->ctx, -1);
}

mercer_status mc_search_witness(mercer_ctx *ctx, const mc_node *instance, int64_t d, mc_search_part part, double share,
                                mc_refutation *out) {
    const int64_t capacity = MC_WITNESS_POINTS * d;
    witness_search s = {.ctx = ctx, .node = instance, .d = d, .out = out};
    s.nonnegative = mc_node_any(instance, wants_nonnegative);
    s.budget = (int64_t)(share * EVALUATIONS / (double)(nodes_of(instance) * (1 + d / 16)));
    mc_free(out->witness.points);
    MC_TRY(MC_ALLOC(ctx, out->witness.points, capacity));
    double *block = mc_alloc(ctx, 4 * capacity + DIRECTIONS * d, sizeof *block);
    if (!block)
        return MERCER_MEMORY;
    s.points = block;
    s.other = block + capacity;
    s.best = block + 2 * capacity;
    s.slopes = block + 3 * capacity;
    s.direction = block + 4 * capacity;
    make_directions(&s);
    const mercer_status status = run_search_stages(&s, part);
    mc_free(block);
    return status;
}
