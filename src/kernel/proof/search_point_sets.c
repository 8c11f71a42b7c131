/* search_point_sets.c: point sets of a given shape at many scales; see search_witness.c. */
#include "kernel/proof/witness_search.h"
#include <math.h>
#include <string.h>

static const double sizes[] = {1,  2,   0.5,  3,    5,     10,  0.2,  0.1, 20,  0.05,
                               50, 100, 0.01, 1000, 0.001, 1e4, 1e-4, 1e6, 1e-6};
enum { SIZES = sizeof sizes / sizeof sizes[0], LINE_POINTS = 12, FINE_COST = 100 };

/* x_i = t * direction */
static void place_on_ray(mc_witness_search *s, int64_t i, double t, const double *direction) {
    for (int64_t j = 0; j < s->d; j++)
        mc_search_point(s, i)[j] = t * direction[j] + 0.0; /* + 0: people will read this, without minus zeros */
}

/* ---- one and two points ---- */

/* 0, and so many sizes with both signs in every direction. */
static bool points_of(mc_witness_search *s, const double *size, int count) {
    static const double one[] = {1};
    mc_reset_best_set(s);
    place_on_ray(s, 0, 0, s->direction);
    mc_consider_points(s, 1, one, NULL);
    for (int u = 0; u < s->directions && s->score == 0; u++)
        for (int i = 0; i < 2 * count && s->score == 0 && s->left > 0; i++) {
            place_on_ray(s, 0, i < count ? size[i] : -size[i - count], s->direction + u * s->d);
            mc_consider_points(s, 1, one, NULL);
        }
    return mc_certify_best_set(s, false);
}

bool mc_search_one_point(mc_witness_search *s) {
    s->fine = true;
    const bool found = points_of(s, sizes, 1);
    s->fine = false;
    return found || points_of(s, sizes, SIZES);
}

/* 1 - k(x,x) k(z,z) / k(x,z)^2 where that is positive. */
static double cauchy_schwarz_excess(mc_witness_search *s) {
    double K[4];
    if (!mc_fill_gram_of_set(s, 2, K) || K[1] == 0)
        return 0;
    return fmax(1 - K[0] / K[1] * (K[3] / K[1]), 0);
}

static double size_of(int i) { /* 0, then the sizes, then minus the sizes */
    return i == 0 ? 0 : i <= SIZES ? sizes[i - 1] : -sizes[i - 1 - SIZES];
}

/* The first pair, in order of simplicity, that reaches the excess; *most gets the largest seen. */
static bool find_pair(mc_witness_search *s, double wanted, double *most) {
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

bool mc_search_two_points(mc_witness_search *s) {
    double most = 0, again = 0;
    find_pair(s, INFINITY, &most);
    if (most < 1e-9 || !find_pair(s, fmin(most / 2, 0.2), &again))
        return false;
    mc_keep_best_set(s, 2, -1, NULL);
    return mc_certify_best_set(s, false);
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
static void on_a_line(mc_witness_search *s, int64_t m, double spacing, const double *direction, bool centred) {
    for (int64_t i = 0; i < m; i++)
        place_on_ray(s, i, mc_round_to_digits(spacing * ((double)i - (centred ? (double)(m - 1) / 2 : 0)), 12),
                     direction);
}

static bool lines_of(mc_witness_search *s, int64_t m) {
    double differences[MC_WITNESS_POINTS], ones[MC_WITNESS_POINTS];
    binomial_weights(differences, m);
    equal_weights(ones, m);
    mc_reset_best_set(s);
    for (int u = 0; u < s->directions; u++)
        for (int i = 0; i < SIZES; i++)
            for (int centred = 0; centred < 2 && s->left > 0; centred++) {
                on_a_line(s, m, sizes[i], s->direction + u * s->d, centred);
                mc_consider_points(s, m, differences, ones);
            }
    return mc_certify_best_set(s, false);
}

/* ---- plane and space ---- */

/* side^dims points with this spacing in the first dims columns. */
static int64_t lay_grid(mc_witness_search *s, int side, int dims, double spacing) {
    int64_t m = 1;
    for (int k = 0; k < dims; k++)
        m *= side;
    memset(s->points, 0, (size_t)(m * s->d) * sizeof(double));
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0, rest = i; k < dims; k++, rest /= side)
            mc_search_point(s, i)[k] = mc_round_to_digits(spacing * (double)(rest % side), 12);
    return m;
}

bool mc_search_grids(mc_witness_search *s) {
    static const int shapes[][2] = {{2, 2}, {2, 3}, {3, 2}, {4, 2}, {2, 4}, {5, 2}, {3, 3}};
    double ones[MC_WITNESS_POINTS];
    equal_weights(ones, MC_WITNESS_POINTS);
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        mc_reset_best_set(s);
        if (shapes[k][1] > s->d)
            continue;
        for (double spacing = 0.1; spacing < 20 && s->left > 0; spacing *= 1.25)
            mc_consider_points(s, lay_grid(s, shapes[k][0], shapes[k][1], nearbyint(100 * spacing) / 100), ones, NULL);
        if (mc_certify_best_set(s, false))
            return true;
    }
    return false;
}

/* Each so many times as far out as the one before: what depends on the quotient of two rows falls off here. */
static void consider_powers(mc_witness_search *s, int64_t m, const double *ones) {
    static const double bases[] = {10, 100, 1000};
    for (int i = 0; i < 3 && s->left > 0 && s->score == 0; i++) {
        double at = 1;
        for (int64_t k = 0; k < m; k++, at *= bases[i])
            place_on_ray(s, k, at, s->direction);
        mc_consider_points(s, m, ones, NULL);
    }
}

/* As many points as there may be, so far apart that a kernel that falls off is the identity on them. */
bool mc_search_far_points(mc_witness_search *s) {
    static const double spacings[] = {20, 1000, 1e5};
    double ones[MC_WITNESS_POINTS];
    equal_weights(ones, MC_WITNESS_POINTS);
    mc_reset_best_set(s);
    for (int64_t m = 16; m <= MC_WITNESS_POINTS && s->score == 0; m += 8)
        for (int i = 0; i < 3 && s->left > 0 && s->score == 0; i++) {
            on_a_line(s, m, spacings[i], s->direction, false);
            mc_consider_points(s, m, ones, NULL);
        }
    consider_powers(s, 16, ones);
    return mc_certify_best_set(s, false);
}

bool mc_search_lattice(mc_witness_search *s) {
    int64_t m = 0;
    s->status = mc_lattice_points(s->ctx, s->node, s->d, s->slopes, &m);
    mc_reset_best_set(s);
    for (int i = 0; i < 10 && m > 1 && !s->status; i++) {
        for (int64_t k = 0; k < m * s->d; k++)
            s->points[k] = sizes[i] * s->slopes[k];
        mc_consider_points(s, m, NULL, NULL);
    }
    return mc_certify_best_set(s, true);
}

/* The origin and a step both ways along each of the first dims columns. */
bool mc_search_crosses(mc_witness_search *s) {
    const int64_t dims = s->d < 8 ? s->d : 8;
    mc_reset_best_set(s);
    for (int i = 0; i < SIZES; i++) {
        memset(s->points, 0, (size_t)((2 * dims + 1) * s->d) * sizeof(double));
        for (int64_t k = 0; k < dims; k++) {
            mc_search_point(s, 2 * k + 1)[k] = sizes[i];
            mc_search_point(s, 2 * k + 2)[k] = s->nonnegative ? 2 * sizes[i] : -sizes[i];
        }
        mc_consider_points(s, 2 * dims + 1, NULL, NULL);
    }
    return mc_certify_best_set(s, true);
}

bool mc_search_polygons(mc_witness_search *s) {
    for (int64_t m = 3; m <= LINE_POINTS && s->d >= 2; m++) {
        mc_reset_best_set(s);
        for (int i = 0; i < SIZES; i++) {
            memset(s->points, 0, (size_t)(m * s->d) * sizeof(double));
            for (int64_t k = 0; k < m; k++) {
                const double t = 6.283185307179586 * (double)k / (double)m;
                mc_search_point(s, k)[0] = sizes[i] * (cos(t) + s->nonnegative);
                mc_search_point(s, k)[1] = sizes[i] * (sin(t) + s->nonnegative);
            }
            mc_consider_points(s, m, NULL, NULL);
        }
        if (mc_certify_best_set(s, true))
            return true;
    }
    return false;
}

bool mc_search_lines(mc_witness_search *s) {
    for (int64_t m = 3; m <= LINE_POINTS; m++)
        if (lines_of(s, m))
            return true;
    return false;
}

/* Coefficients of small powers show themselves only where the higher ones are smaller still. */
bool mc_search_with_enclosures(mc_witness_search *s) {
    static const double tiny[] = {1e-9, 1e-12, 1e-18};
    s->left = s->budget / FINE_COST;
    s->fine = true;
    const bool found = points_of(s, tiny, sizeof tiny / sizeof tiny[0]) || points_of(s, sizes, SIZES)
                       || mc_search_two_points(s) || mc_search_lines(s);
    s->fine = false;
    return found;
}
