/* eval_special.c: see eval_special.h. k(x, z) and k(z, x) are the same bits. */
#include "kernel/evaluate/eval_special.h"
#include "kernel/evaluate/eval_conditional.h"
#include <math.h>

static const double pi = 3.14159265358979323846;

double mc_eval_tanimoto(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    (void)node;
    double least = 0, most = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const double a = mc_view_at(view, x, j), b = mc_view_at(view, z, j);
        least += fmin(a, b);
        most += fmax(a, b);
    }
    return most == 0 ? 1 : least / most;
}

double mc_eval_additive_chi2(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    (void)node;
    double sum = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const double a = mc_view_at(view, x, j), b = mc_view_at(view, z, j), most = fmax(a, b);
        if (most > 0)
            sum += 2 * fmin(a, b) / (1 + fmin(a, b) / most);
    }
    return sum;
}

/* ---- Wendland ---- */

double mc_wendland_value(double k, double dimension, double q) {
    const double l = floor(dimension / 2) + k + 1, t = fmax(0, 1 - q);
    const double front = k == 0 ? 1 : k == 1 ? (l + 1) * q + 1 : (((l + 4) * l + 3) * q * q + (3 * l + 6) * q + 3) / 3;
    return t > 0 ? front * pow(t, l + k) : 0;
}

/* f' is -l t^(l-1), -(l+1)(l+2) q t^l, -(l+3)(l+4)/3 q (1 + (l+1) q) t^(l+1). */
double mc_wendland_slope(double k, double dimension, double q) {
    const double l = floor(dimension / 2) + k + 1, t = fmax(0, 1 - q);
    if (t == 0 || (k == 0 && q == 0))
        return 0;
    if (k == 0)
        return l * pow(t, l - 1) / q;
    return k == 1 ? (l + 1) * (l + 2) * pow(t, l) : (l + 3) * (l + 4) / 3 * (1 + (l + 1) * q) * pow(t, l + 1);
}

double mc_eval_wendland(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    double sum = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const double u = (mc_view_at(view, x, j) - mc_view_at(view, z, j)) / mc_value_at(&node->parameter[2], j);
        sum += u * u;
    }
    return mc_wendland_value(node->parameter[0].number, node->parameter[1].number, sqrt(sum));
}

/* ---- Sinc ---- */

/* Whole turns are taken off exactly before the sine. */
double mc_sinc_value(double t) {
    return t == 0 ? 1 : sin(pi * fmod(t, 2)) / (pi * t);
}

double mc_sinc_slope(double t) {
    if (fabs(t) < 1e-4) /* the series: what is left out is below 1e-16 of it */
        return -pi * pi * t / 3 * (1 - pi * pi * t * t / 10);
    return (cos(pi * fmod(t, 2)) - mc_sinc_value(t)) / t;
}

double mc_eval_sinc(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    double product = 1;
    for (int64_t j = 0; j < view->d; j++)
        product *=
            mc_sinc_value((mc_view_at(view, x, j) - mc_view_at(view, z, j)) / mc_value_at(&node->parameter[0], j));
    return product;
}

/* ---- Brownian motion ---- */

double mc_eval_brownian(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const double p = 2 * node->parameter[0].number;
    return (mc_distance_power(view, x, NULL, p) + mc_distance_power(view, z, NULL, p)
            - mc_distance_power(view, x, z, p))
           / 2;
}

/* ---- Others ---- */

double mc_eval_spline(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    (void)node;
    double product = 1;
    for (int64_t j = 0; j < view->d; j++) {
        const double a = mc_view_at(view, x, j), b = mc_view_at(view, z, j), least = fmin(a, b), most = fmax(a, b);
        product *= 1 + a * b + least * least * (3 * most - least) / 6;
    }
    return product;
}

double mc_eval_gibbs(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const double f = mc_function_in_view(node->function, view, x), g = mc_function_in_view(node->function, view, z);
    if (!(f > 0 && g > 0))
        return NAN;
    const double share = fmin(f, g) / fmax(f, g), common = fmax(f, g) * sqrt(1 + share * share);
    double sum = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const double u = (mc_view_at(view, x, j) - mc_view_at(view, z, j)) / common;
        sum += u * u;
    }
    return pow(2 * share / (1 + share * share), 0.5 * (double)view->d) * exp(-sum);
}

/* The entries (i, j) and (j, i) together, as form has them. */
double mc_eval_rbf_form(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const mc_value *A = &node->parameter[0];
    double sum = 0;
    for (int64_t i = 0; i < view->d; i++) {
        const double u = mc_view_at(view, x, i) - mc_view_at(view, z, i);
        double row = A->numbers[i * A->columns + i] * u;
        for (int64_t j = 0; j < i; j++)
            row += 2 * A->numbers[i * A->columns + j] * (mc_view_at(view, x, j) - mc_view_at(view, z, j));
        sum += u * row;
    }
    return exp(-sum);
}
