/* eval.c: the reference evaluator. k(x, z) straight from its definition, one pair at a time, in double precision. Slow
   and obvious on purpose: every fast path is tested against it. k(x, z) and k(z, x) are the same bits. Distances are
   sums of direct differences, never |x|^2 - 2<x,z> + |z|^2.

   atoms.c gives the formulas. Conventions where those leave a choice: - normalize and cosine are 0 where the
   denominator is 0 or has no real value, and exactly 1 on equal points elsewhere; - arccos takes the angle of a zero
   vector with anything as a right angle, which is what its integral gives when the step function is
     1/2 at 0: 1/2 for order 0, 0 for orders 1 and 2;
   - the angle is 2 atan2(|u - v|, |u + v|) of the unit vectors u and v: the arc cosine loses half of the digits near 0
   and pi. */
#include "data/table/data.h"
#include "kernel/language/node.h"
#include "kernel/evaluate/power_series.h"
#include "kernel/evaluate/eval_conditional.h"
#include "kernel/evaluate/eval_special.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/evaluate/self_values.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/language/user_function.h"
#include "kernel/evaluate/view.h"
#include <math.h>

static const double pi = 3.14159265358979323846;

static double x_at(const mc_row_pair *p, int64_t j) {
    return mc_view_at(p->view, p->x, j);
}

static double z_at(const mc_row_pair *p, int64_t j) {
    return mc_view_at(p->view, p->z, j);
}

/* The power of two that brings the largest entry below 1 and not below 1/2; 0 of a row of zeros. Exact, so that it
   changes no bit of what is in range without it. */
static int exponent_of(const mc_view *view, const double *x) {
    double most = 0;
    int exponent = 0;
    for (int64_t j = 0; j < view->d; j++)
        most = fmax(most, fabs(mc_view_at(view, x, j)));
    frexp(most, &exponent);
    return exponent;
}

/* <x, z> / 2^(of_x + of_z). */
static double scaled_dot(const mc_view *view, const double *x, int of_x, const double *z, int of_z) {
    double sum = 0;
    for (int64_t j = 0; j < view->d; j++)
        sum += ldexp(mc_view_at(view, x, j), -of_x) * ldexp(mc_view_at(view, z, j), -of_z);
    return sum;
}

/* |x|, of a row whose square may leave the range of numbers. */
static double norm_of(const mc_view *view, const double *x) {
    const int exponent = exponent_of(view, x);
    return ldexp(sqrt(scaled_dot(view, x, exponent, x, exponent)), exponent);
}

/* factor <x, z>, of rows whose product may leave it. */
static double dot_times(const mc_row_pair *p, double factor) {
    const double s = mc_pair_dot(p);
    if (isnormal(s))
        return factor * s;
    const int of_x = exponent_of(p->view, p->x), of_z = exponent_of(p->view, p->z);
    return ldexp(factor * scaled_dot(p->view, p->x, of_x, p->z, of_z), of_x + of_z);
}

/* sum_j (u_j / scale_j)^2 */
static double scaled_square(const mc_row_pair *p, const mc_value *scale) {
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double u = mc_pair_difference(p, j) / mc_value_at(scale, j);
        sum += u * u;
    }
    return sum;
}

/* Its root, where that of a sum that is too small has lost its digits as well. */
static double scaled_length(const mc_row_pair *p, const mc_value *scale) {
    const double square = scaled_square(p, scale);
    double most = 0, sum = 0;
    if (!(square < 1e-280))
        return sqrt(square);
    for (int64_t j = 0; j < p->view->d; j++)
        most = fmax(most, fabs(mc_pair_difference(p, j) / mc_value_at(scale, j)));
    for (int64_t j = 0; j < p->view->d && most > 0; j++) {
        const double u = mc_pair_difference(p, j) / mc_value_at(scale, j) / most;
        sum += u * u;
    }
    return most * sqrt(sum);
}

static double evaluate_linear(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    return mc_pair_dot(p);
}

static double evaluate_poly(const mc_node *node, const mc_row_pair *p) {
    return pow(dot_times(p, node->parameter[2].number) + node->parameter[1].number, node->parameter[0].number);
}

static double evaluate_rbf(const mc_node *node, const mc_row_pair *p) {
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double u = mc_pair_difference(p, j);
        sum += mc_value_at(&node->parameter[0], j) * (u * u);
    }
    return exp(-sum);
}

static double evaluate_laplacian(const mc_node *node, const mc_row_pair *p) {
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++)
        sum += mc_value_at(&node->parameter[0], j) * fabs(mc_pair_difference(p, j));
    return exp(-sum);
}

static double evaluate_exponential(const mc_node *node, const mc_row_pair *p) {
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double u = mc_value_at(&node->parameter[0], j) * mc_pair_difference(p, j);
        sum += u * u;
    }
    return exp(-sqrt(sum));
}

static double evaluate_matern(const mc_node *node, const mc_row_pair *p) {
    const double nu = node->parameter[0].number;
    return mc_matern_value(nu, sqrt(2 * nu) * scaled_length(p, &node->parameter[1]));
}

static double evaluate_rq(const mc_node *node, const mc_row_pair *p) {
    const double alpha = node->parameter[0].number;
    return exp(-alpha * log1p(scaled_square(p, &node->parameter[1]) / (2 * alpha)));
}

static double evaluate_periodic(const mc_node *node, const mc_row_pair *p) {
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double s = sin(pi * (mc_pair_difference(p, j) / mc_value_at(&node->parameter[0], j)));
        const double t = s / mc_value_at(&node->parameter[1], j);
        sum += t * t;
    }
    return exp(-2 * sum);
}

/* v / sqrt(a b) with the square roots taken apart, so that the product cannot overflow. */
static double normalised_value(double v, double a, double b) {
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == 0 || b == 0 || (a < 0) != (b < 0))
        return 0;
    return a == b ? v / fabs(a) : v / (sqrt(fabs(a)) * sqrt(fabs(b)));
}

static double evaluate_cosine(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    const int of_x = exponent_of(p->view, p->x), of_z = exponent_of(p->view, p->z);
    return normalised_value(scaled_dot(p->view, p->x, of_x, p->z, of_z), scaled_dot(p->view, p->x, of_x, p->x, of_x),
                            scaled_dot(p->view, p->z, of_z, p->z, of_z));
}

static double evaluate_chi2(const mc_node *node, const mc_row_pair *p) {
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double u = mc_pair_difference(p, j), total = x_at(p, j) + z_at(p, j);
        if (total != 0)
            sum += isfinite(u * u) ? u * u / total : u / total * u;
    }
    return exp(-node->parameter[0].number * sum);
}

static double evaluate_intersection(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++)
        sum += fmin(x_at(p, j), z_at(p, j));
    return sum;
}

static double angle_between(const mc_row_pair *p, double x_norm, double z_norm) {
    double minus = 0, plus = 0;
    if (x_norm == 0 || z_norm == 0)
        return pi / 2;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double u = x_at(p, j) / x_norm, v = z_at(p, j) / z_norm;
        minus += (u - v) * (u - v);
        plus += (u + v) * (u + v);
    }
    return 2 * atan2(sqrt(minus), sqrt(plus));
}

static double evaluate_arccos(const mc_node *node, const mc_row_pair *p) {
    const double x_norm = norm_of(p->view, p->x), z_norm = norm_of(p->view, p->z);
    const double t = angle_between(p, x_norm, z_norm), s = sin(t), c = cos(t), norms = x_norm * z_norm;
    const double order = node->parameter[0].number;
    if (order == 0)
        return (pi - t) / pi;
    if (order == 1)
        return norms * (s + (pi - t) * c) / pi;
    return norms * norms * (3 * s * c + (pi - t) * (1 + 2 * c * c)) / pi;
}

static double evaluate_tanh(const mc_node *node, const mc_row_pair *p) {
    return tanh(dot_times(p, node->parameter[0].number) + node->parameter[1].number);
}

static double evaluate_white(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    for (int64_t j = 0; j < p->view->d; j++)
        if (x_at(p, j) != z_at(p, j))
            return 0;
    return 1;
}

/* The entries (i, j) and (j, i) together: x and z may be exchanged without a bit changing. */
static double evaluate_form(const mc_node *node, const mc_row_pair *p) {
    const mc_value *A = &node->parameter[0];
    double sum = 0;
    for (int64_t i = 0; i < p->view->d; i++) {
        sum += A->numbers[i * A->columns + i] * (x_at(p, i) * z_at(p, i));
        for (int64_t j = 0; j < i; j++)
            sum += A->numbers[i * A->columns + j] * (x_at(p, i) * z_at(p, j) + x_at(p, j) * z_at(p, i));
    }
    return sum;
}

/* The column that the serial number of z names. A row against itself may say -k(x, x) instead of a number. */
static double evaluate_precomputed(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    const double serial = z_at(p, 0);
    if (serial < 0 && p->x == p->z)
        return -serial;
    return serial >= 1 && serial < (double)p->view->d && serial == floor(serial) ? x_at(p, (int64_t)serial) : NAN;
}

static double evaluate_text(const mc_node *node, const mc_row_pair *p) {
    const mc_view *row = p->view;
    while (row->parent)
        row = row->parent;
    double known;
    if (p->x == p->z && mc_self_value(row->self, node, row->row, &known))
        return known;
    const int64_t at = row->d + (int64_t)node->parameter[MC_TEXT_COLUMN].number;
    return mc_text_value(node, mc_row_text(p->x, at), mc_row_text(p->z, at));
}

static double evaluate_user(const mc_node *node, const mc_row_pair *p) {
    return mc_user_value(node->parameter[0].user, p->view, p->x, p->z);
}

static double (*const atom_value[MC_ATOM_COUNT])(const mc_node *, const mc_row_pair *) = {
    [MC_LINEAR] = evaluate_linear,
    [MC_POLY] = evaluate_poly,
    [MC_RBF] = evaluate_rbf,
    [MC_LAPLACIAN] = evaluate_laplacian,
    [MC_EXPONENTIAL] = evaluate_exponential,
    [MC_MATERN] = evaluate_matern,
    [MC_RQ] = evaluate_rq,
    [MC_PERIODIC] = evaluate_periodic,
    [MC_COSINE] = evaluate_cosine,
    [MC_CHI2] = evaluate_chi2,
    [MC_INTERSECTION] = evaluate_intersection,
    [MC_ARCCOS] = evaluate_arccos,
    [MC_TANH] = evaluate_tanh,
    [MC_WHITE] = evaluate_white,
    [MC_FORM] = evaluate_form,
    [MC_PRECOMPUTED] = evaluate_precomputed,
    [MC_USER] = evaluate_user,
    [MC_SPECTRUM] = evaluate_text,
    [MC_SUBSEQUENCE] = evaluate_text,
    [MC_WEIGHTED_DEGREE] = evaluate_text,
    [MC_WORDS] = evaluate_text,
    [MC_TFIDF] = evaluate_text,
    [MC_MEAN_MAP] = evaluate_text,
};

static double (*const special_value[MC_ATOM_COUNT])(const mc_node *, const mc_view *, const double *,
                                                    const double *) = {
    [MC_TANIMOTO] = mc_eval_tanimoto,
    [MC_ADDITIVE_CHI2] = mc_eval_additive_chi2,
    [MC_WENDLAND] = mc_eval_wendland,
    [MC_SINC] = mc_eval_sinc,
    [MC_BROWNIAN] = mc_eval_brownian,
    [MC_SPLINE] = mc_eval_spline,
    [MC_GIBBS] = mc_eval_gibbs,
    [MC_RBF_FORM] = mc_eval_rbf_form,
    [MC_POWER_DISTANCE] = mc_eval_conditional,
    [MC_LOG] = mc_eval_conditional,
    [MC_MULTIQUADRIC] = mc_eval_conditional,
    [MC_THIN_PLATE] = mc_eval_conditional,
};

static double evaluate_atom(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    if (special_value[node->atom])
        return special_value[node->atom](node, view, x, z);
    return atom_value[node->atom](node, &(mc_row_pair){view, x, z});
}

static double sum_of(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    double sum = 0;
    for (int i = 0; i < node->children; i++)
        sum += mc_eval_in_view(node->child[i], view, x, z);
    return sum;
}

static double product_of(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    double product = 1;
    for (int i = 0; i < node->children; i++)
        product *= mc_eval_in_view(node->child[i], view, x, z);
    return product;
}

/* exp(f) normalised is exp(f(x, z) - f(x, x)/2 - f(z, z)/2), which is a number where exp(f) is none. */
static double normalize_exp(const mc_node *f, const mc_view *view, const double *x, const double *z) {
    const double a = mc_eval_in_view(f, view, x, x);
    return exp(x == z ? a - a : mc_eval_in_view(f, view, x, z) - (a / 2 + mc_eval_in_view(f, view, z, z) / 2));
}

/* On one row against itself one value is enough; without that, nested normalisations would cost 3^depth. */
static double evaluate_normalize(const mc_node *child, const mc_view *view, const double *x, const double *z) {
    if (child->kind == MC_EXP)
        return normalize_exp(child->child[0], view, x, z);
    const double a = mc_eval_in_view(child, view, x, x);
    if (x == z)
        return normalised_value(a, a, a);
    return normalised_value(mc_eval_in_view(child, view, x, z), a, mc_eval_in_view(child, view, z, z));
}

double mc_eval_in_view(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const mc_node *child = node->children ? node->child[0] : NULL;
    switch (node->kind) {
    case MC_NUMBER: return node->number;
    case MC_ATOM: return evaluate_atom(node, view, x, z);
    case MC_SUM: return sum_of(node, view, x, z);
    case MC_PRODUCT: return product_of(node, view, x, z);
    case MC_POWER: return pow(mc_eval_in_view(child, view, x, z), node->number);
    case MC_EXP: return exp(mc_eval_in_view(child, view, x, z));
    case MC_SERIES: return mc_series_rows[node->series].value(mc_eval_in_view(child, view, x, z));
    case MC_NORMALIZE: return evaluate_normalize(child, view, x, z);
    case MC_WEIGH:
        return mc_function_in_view(node->function, view, x) * mc_function_in_view(node->function, view, z)
               * mc_eval_in_view(child, view, x, z);
    case MC_COLUMNS:
        return mc_eval_in_view(child, &(mc_view){.d = node->columns, .column = node->column, .parent = view}, x, z);
    }
    return NAN;
}

double mc_eval_kernel(const mc_node *node, const double *x, const double *z, int64_t d) {
    const mc_view all = {.d = d};
    return mc_eval_in_view(node, &all, x, z);
}
