/* contract_atoms.c: the atoms a Gaussian process learns, tile by tile: value and derivatives.

   With u = x - z, everything below is g(s) for a sum s over the columns, so the derivative with respect to a parameter
   of the sum is g'(s) times a weighted sum of the terms; the tile of A g'(s) is formed once and contracted with each
   column's terms.

     rbf           s = sum gamma u^2             k = e^-s               dk/dgamma = -k u^2
     laplacian     s = sum gamma |u|             k = e^-s               dk/dgamma = -k |u|
     exponential   s = sum (gamma u)^2           k = e^-sqrt(s)         dk/ds = -k / (2 sqrt(s)),  ds/dgamma = 2 gamma
   u^2 matern        s = sum (u / l)^2             any nu                 ds/dl = -2 u^2 / l^3 rq            s = sum (u
   / l)^2             k = b^-alpha           b = 1 + s / (2 alpha) periodic      s = sum 2 sin^2(pi u / p)/l^2 k = e^-s
     linear, poly  s = <x, z>                    (gamma s + c)^degree */
#include "gram/gradient/contract_atoms.h"
#include "kernel/evaluate/eval_special.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/node.h"
#include <math.h>
#include <string.h>

enum { SIDE = MC_CONTRACT_SIDE };

static const double pi = 3.14159265358979323846;

typedef double term(double x, double z);

static double square_difference(double x, double z) {
    return (x - z) * (x - z);
}

static double absolute_difference(double x, double z) {
    return fabs(x - z);
}

static double product_term(double x, double z) {
    return x * z;
}

/* statistic_ij <- statistic_ij + weight * t(x_ip, z_jp); inlined per term, so the inner loop is plain arithmetic. */
static inline void accumulate_terms(const mc_pairs *p, int64_t column, double weight, term *t, double *statistic) {
    for (int64_t i = 0; i < p->rows; i++) {
        const double x = p->x[column * SIDE + i], *z = p->z + column * SIDE;
        double *row = statistic + i * SIDE;
        for (int64_t j = 0; j < SIDE; j++)
            row[j] += weight * t(x, z[j]);
    }
}

/* sum_ij A_ij t(x_ip, z_jp); A is zero beyond the tile's own columns. */
static inline double contract_column(const mc_pairs *p, int64_t column, term *t, const double *A) {
    double sum = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        const double x = p->x[column * SIDE + i], *z = p->z + column * SIDE, *row = A + i * SIDE;
        double part[8] = {0}; /* eight running sums, so that the loop is not one long chain of additions */
        for (int64_t j = 0; j < SIDE; j += 8)
            for (int64_t l = 0; l < 8; l++)
                part[l] += row[j + l] * t(x, z[j + l]);
        sum += ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    return sum;
}

static void clear_tile(double *tile) {
    memset(tile, 0, SIDE * SIDE * sizeof *tile);
}

/* Element j of a parameter's sums: all columns share a number, a vector has one each. */
static double *sum_at(const mc_node *node, int parameter, int64_t j, double *sums) {
    return sums + (node->parameter[parameter].kind == MC_VALUE_VECTOR ? j : 0);
}

static void exp_minus(const mc_pairs *p, const double *statistic, double *value) {
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        value[i] = exp(-statistic[i]);
}

static void rbf_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    clear_tile(s);
    for (int64_t j = 0; j < p->d; j++)
        accumulate_terms(p, j, mc_value_at(&node->parameter[0], j), square_difference, s);
    exp_minus(p, s, k);
}

static void laplacian_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    clear_tile(s);
    for (int64_t j = 0; j < p->d; j++)
        accumulate_terms(p, j, mc_value_at(&node->parameter[0], j), absolute_difference, s);
    exp_minus(p, s, k);
}

/* A <- A times a tile. */
static void scale_by(const mc_pairs *p, double *A, const double *tile, double factor) {
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        A[i] *= factor * tile[i];
}

static void rbf_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                     double *const *sums) {
    (void)s;
    scale_by(p, A, k, -1);
    for (int64_t j = 0; sums[0] && j < p->d; j++)
        *sum_at(node, 0, j, sums[0]) += contract_column(p, j, square_difference, A);
}

static void laplacian_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                           double *const *sums) {
    (void)s;
    scale_by(p, A, k, -1);
    for (int64_t j = 0; sums[0] && j < p->d; j++)
        *sum_at(node, 0, j, sums[0]) += contract_column(p, j, absolute_difference, A);
}

/* q^2 = sum (u w)^2 with w the parameter itself (exponential) or its inverse (a length scale). */
static void squared_distance(const mc_node *node, int parameter, bool inverse, const mc_pairs *p, double *s) {
    clear_tile(s);
    for (int64_t j = 0; j < p->d; j++) {
        const double v = mc_value_at(&node->parameter[parameter], j), w = inverse ? 1 / v : v;
        accumulate_terms(p, j, w * w, square_difference, s);
    }
}

/* A holds A dk/ds; ds/dparameter = u^2 d(w^2)/dparameter. */
static void distance_back(const mc_node *node, int parameter, bool inverse, const mc_pairs *p, const double *A,
                          double *const *sums) {
    for (int64_t j = 0; sums[parameter] && j < p->d; j++) {
        const double v = mc_value_at(&node->parameter[parameter], j), slope = inverse ? -2 / (v * v * v) : 2 * v;
        *sum_at(node, parameter, j, sums[parameter]) += slope * contract_column(p, j, square_difference, A);
    }
}

static void exponential_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    squared_distance(node, 0, false, p, s);
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        k[i] = exp(-sqrt(s[i]));
}

/* At s = 0 the slope in s is infinite but u^2 is 0: the product's limit is 0. */
static void root_slope(const mc_pairs *p, const double *s, const double *k, double *A) {
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        A[i] = s[i] > 0 ? -A[i] * k[i] / (2 * sqrt(s[i])) : 0;
}

static void exponential_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                             double *const *sums) {
    root_slope(p, s, k, A);
    distance_back(node, 0, false, p, A, sums);
}

static void matern_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    const double nu = node->parameter[0].number;
    squared_distance(node, 1, true, p, s);
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        k[i] = i % SIDE < p->columns ? mc_matern_value(nu, sqrt(2 * nu * s[i])) : 0;
}

/* With t^2 = 2 nu s: dk/ds = f'(t)/t nu. */
static void matern_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                        double *const *sums) {
    const double nu = node->parameter[0].number;
    (void)k;
    for (int64_t i = 0; sums[0] && i < p->rows * SIDE; i++)
        sums[0][0] += i % SIDE < p->columns ? A[i] * mc_matern_nu_slope(nu, sqrt(2 * nu * s[i])) : 0;
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        A[i] *= i % SIDE < p->columns ? -nu * mc_matern_slope(nu, sqrt(2 * nu * s[i])) : 0;
    distance_back(node, 1, true, p, A, sums);
}

static void wendland_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    squared_distance(node, 2, true, p, s);
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        k[i] = mc_wendland_value(node->parameter[0].number, node->parameter[1].number, sqrt(s[i]));
}

static void wendland_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                          double *const *sums) {
    (void)k;
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        A[i] *= -0.5 * mc_wendland_slope(node->parameter[0].number, node->parameter[1].number, sqrt(s[i]));
    distance_back(node, 2, true, p, A, sums);
}

static void rq_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    const double alpha = node->parameter[0].number;
    squared_distance(node, 1, true, p, s);
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        k[i] = pow(1 + s[i] / (2 * alpha), -alpha);
}

static void rq_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                    double *const *sums) {
    const double alpha = node->parameter[0].number;
    double shape = 0;
    for (int64_t i = 0; i < p->rows * SIDE; i++) {
        const double b = 1 + s[i] / (2 * alpha);
        shape += A[i] * k[i] * (s[i] / (2 * alpha * b) - log(b));
        A[i] *= -0.5 * k[i] / b;
    }
    if (sums[0])
        sums[0][0] += shape;
    distance_back(node, 1, true, p, A, sums);
}

/* Sines and cosines of pi (x - z_0)/period and pi (z - z_0)/period: sin and cos of pi (x - z)/period follow by the
   theorem of addition, so that a pair costs products alone. */
typedef struct sine_tables {
    double sin_x[SIDE], cos_x[SIDE], sin_z[SIDE], cos_z[SIDE];
} sine_tables;

static void make_sine_tables(const mc_pairs *p, int64_t column, double period, sine_tables *out) {
    const double *x = p->x + column * SIDE, *z = p->z + column * SIDE;
    for (int64_t i = 0; i < p->rows; i++)
        sincos(pi * (x[i] - z[0]) / period, &out->sin_x[i], &out->cos_x[i]);
    for (int64_t j = 0; j < SIDE; j++)
        sincos(j < p->columns ? pi * (z[j] - z[0]) / period : 0, &out->sin_z[j], &out->cos_z[j]);
}

static void periodic_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    sine_tables w;
    clear_tile(s);
    for (int64_t c = 0; c < p->d; c++) {
        const double l = mc_value_at(&node->parameter[1], c), scale = 2 / (l * l);
        make_sine_tables(p, c, mc_value_at(&node->parameter[0], c), &w);
        for (int64_t i = 0; i < p->rows; i++)
            for (int64_t j = 0; j < SIDE; j++) {
                const double sine = w.sin_x[i] * w.cos_z[j] - w.cos_x[i] * w.sin_z[j];
                s[i * SIDE + j] += scale * sine * sine;
            }
    }
    exp_minus(p, s, k);
}

/* sum_ij A_ij sin(2w) (x - z) and sum_ij A_ij sin^2(w), w = pi (x - z)/period, in eight running sums each. */
static void contract_sines(const mc_pairs *p, int64_t column, const sine_tables *w, const double *A, double *turned,
                           double *squared) {
    const double *x = p->x + column * SIDE, *z = p->z + column * SIDE;
    double by_turn[8] = {0}, by_square[8] = {0};
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < SIDE; j += 8)
            for (int64_t e = 0; e < 8; e++) {
                const double a = A[i * SIDE + j + e], u = x[i] - z[j + e];
                const double sine = w->sin_x[i] * w->cos_z[j + e] - w->cos_x[i] * w->sin_z[j + e];
                const double cosine = w->cos_x[i] * w->cos_z[j + e] + w->sin_x[i] * w->sin_z[j + e];
                by_turn[e] += a * 2 * sine * cosine * u;
                by_square[e] += a * sine * sine;
            }
    *turned = *squared = 0;
    for (int e = 0; e < 8; e++) {
        *turned += by_turn[e];
        *squared += by_square[e];
    }
}

/* With w = pi u / period: ds/dperiod = -2 sin(2w) w / (period l^2), ds/dl = -4 sin^2(w) / l^3; dk/ds = -k. */
static void periodic_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                          double *const *sums) {
    sine_tables w;
    (void)s;
    scale_by(p, A, k, -1);
    for (int64_t c = 0; c < p->d; c++) {
        const double period = mc_value_at(&node->parameter[0], c), l = mc_value_at(&node->parameter[1], c);
        double turned, squared;
        make_sine_tables(p, c, period, &w);
        contract_sines(p, c, &w, A, &turned, &squared);
        if (sums[0])
            *sum_at(node, 0, c, sums[0]) -= 2 * pi / (period * period * l * l) * turned;
        if (sums[1])
            *sum_at(node, 1, c, sums[1]) -= 4 / (l * l * l) * squared;
    }
}

static void linear_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    (void)node;
    clear_tile(s);
    for (int64_t j = 0; j < p->d; j++)
        accumulate_terms(p, j, 1, product_term, s);
    memcpy(k, s, SIDE * SIDE * sizeof *k);
}

static void linear_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                        double *const *sums) {
    (void)node, (void)p, (void)s, (void)k, (void)A, (void)sums;
}

static void poly_forward(const mc_node *node, const mc_pairs *p, double *s, double *k) {
    linear_forward(node, p, s, k);
    for (int64_t i = 0; i < p->rows * SIDE; i++)
        k[i] = pow(node->parameter[2].number * s[i] + node->parameter[1].number, node->parameter[0].number);
}

static void poly_back(const mc_node *node, const mc_pairs *p, const double *s, const double *k, double *A,
                      double *const *sums) {
    const double degree = node->parameter[0].number, c = node->parameter[1].number, gamma = node->parameter[2].number;
    double by_c = 0, by_gamma = 0;
    (void)k;
    for (int64_t i = 0; i < p->rows * SIDE; i++) {
        const double slope = A[i] * degree * pow(gamma * s[i] + c, degree - 1);
        by_c += slope;
        by_gamma += slope * s[i];
    }
    if (sums[1])
        sums[1][0] += by_c;
    if (sums[2])
        sums[2][0] += by_gamma;
}

const mc_contract_atom mc_contract_atoms[MC_ATOM_COUNT] = {
    [MC_LINEAR] = {linear_forward, linear_back},
    [MC_POLY] = {poly_forward, poly_back},
    [MC_RBF] = {rbf_forward, rbf_back},
    [MC_LAPLACIAN] = {laplacian_forward, laplacian_back},
    [MC_EXPONENTIAL] = {exponential_forward, exponential_back},
    [MC_MATERN] = {matern_forward, matern_back},
    [MC_RQ] = {rq_forward, rq_back},
    [MC_WENDLAND] = {wendland_forward, wendland_back},
    [MC_PERIODIC] = {periodic_forward, periodic_back},
};
