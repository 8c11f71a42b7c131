/* loss.c: the losses.

                        l(y, F)                              conjugate l*(y, v)                            v in
       logistic         log(1 + exp(-y F))                   q log q + (1 - q) log(1 - q), q = -y v        -y v in [0,
       1]
       squared hinge    max(0, 1 - y F)^2 / 2                v^2/2 + y v                                   y v <= 0
       huber(delta)     r^2/2, |r| <= delta, else            v^2/2 + y v                                   [-delta,
       delta]
                        delta |r| - delta^2/2;  r = F - y
       quantile(tau)    max(tau (y - F), (tau - 1) (y - F))  y v                                           [-tau, 1 -
       tau]
       absolute         |y - F|                              y v                                           [-1, 1]

   The slope of the loss in F lies in the domain of the conjugate, and l(F) + l*(v) - v F >= 0 with equality at v =
   slope. Where v stands for -lambda alpha / c, the sum of these terms over the rows is the duality gap. */
#include "problem/loss.h"
#include <math.h>
#include <string.h>

/* ---- Logistic ---- */

/* 1 / (1 + exp(z)), without overflow. */
static double falling_sigmoid(double z) {
    return z > 0 ? exp(-z) / (1 + exp(-z)) : 1 / (1 + exp(z));
}

static double logistic_value(const mc_loss_task *t, double y, double F) {
    (void)t;
    const double z = y * F;
    return z > 0 ? log1p(exp(-z)) : log1p(exp(z)) - z;
}

static double logistic_slope(const mc_loss_task *t, double y, double F) {
    (void)t;
    return -y * falling_sigmoid(y * F);
}

static double logistic_curvature(const mc_loss_task *t, double y, double F) {
    (void)t, (void)y;
    return falling_sigmoid(F) * falling_sigmoid(-F);
}

/* Jaakkola and Jordan (2000): tanh(F/2) / (2 F). */
static double logistic_chord(const mc_loss_task *t, double y, double F) {
    (void)t, (void)y;
    return fabs(F) < 1e-4 ? 0.25 - F * F / 48 : tanh(F / 2) / (2 * F);
}

static double entropy_term(double q) {
    return q > 0 ? q * log(q) : 0;
}

static double logistic_conjugate(const mc_loss_task *t, double y, double v) {
    (void)t;
    const double q = -y * v;
    return entropy_term(q) + (q < 1 ? (1 - q) * log1p(-q) : 0);
}

static void logistic_domain(const mc_loss_task *t, double y, double *low, double *high) {
    (void)t;
    *low = y > 0 ? -1 : 0;
    *high = y > 0 ? 0 : 1;
}

/* ---- Squared hinge ---- */

static double hinge_value(const mc_loss_task *t, double y, double F) {
    (void)t;
    const double lack = fmax(0, 1 - y * F);
    return lack * lack / 2;
}

static double hinge_slope(const mc_loss_task *t, double y, double F) {
    (void)t;
    return -y * fmax(0, 1 - y * F);
}

static double hinge_curvature(const mc_loss_task *t, double y, double F) {
    (void)t;
    return y * F < 1 ? 1 : 0;
}

static double hinge_chord(const mc_loss_task *t, double y, double F) {
    (void)t, (void)y, (void)F;
    return 1;
}

static double square_conjugate(const mc_loss_task *t, double y, double v) {
    (void)t;
    return v * v / 2 + y * v;
}

static void hinge_domain(const mc_loss_task *t, double y, double *low, double *high) {
    (void)t;
    *low = y > 0 ? -INFINITY : 0;
    *high = y > 0 ? 0 : INFINITY;
}

/* ---- Huber ---- */

static double huber_value(const mc_loss_task *t, double y, double F) {
    const double delta = t->parameter;
    const double r = fabs(F - y);
    return r <= delta ? r * r / 2 : delta * (r - delta / 2);
}

static double huber_slope(const mc_loss_task *t, double y, double F) {
    const double delta = t->parameter;
    return fmax(-delta, fmin(delta, F - y));
}

static double huber_curvature(const mc_loss_task *t, double y, double F) {
    const double delta = t->parameter;
    return fabs(F - y) < delta ? 1 : 0;
}

static double huber_chord(const mc_loss_task *t, double y, double F) {
    const double delta = t->parameter;
    const double r = fabs(F - y);
    return r <= delta ? 1 : delta / r;
}

static void huber_domain(const mc_loss_task *t, double y, double *low, double *high) {
    const double delta = t->parameter;
    (void)y;
    *low = -delta;
    *high = delta;
}

/* ---- Piecewise linear ---- */

static double quantile_value(const mc_loss_task *t, double y, double F) {
    const double tau = t->parameter;
    return fmax(tau * (y - F), (tau - 1) * (y - F));
}

static double quantile_slope(const mc_loss_task *t, double y, double F) {
    const double tau = t->parameter;
    return F < y ? -tau : F > y ? 1 - tau : 0;
}

static double linear_conjugate(const mc_loss_task *t, double y, double v) {
    (void)t;
    return y * v;
}

static void quantile_domain(const mc_loss_task *t, double y, double *low, double *high) {
    const double tau = t->parameter;
    (void)y;
    *low = -tau;
    *high = 1 - tau;
}

static double absolute_value(const mc_loss_task *t, double y, double F) {
    (void)t;
    return fabs(y - F);
}

static double absolute_slope(const mc_loss_task *t, double y, double F) {
    (void)t;
    return F < y ? -1 : F > y ? 1 : 0;
}

static void absolute_domain(const mc_loss_task *t, double y, double *low, double *high) {
    (void)t, (void)y;
    *low = -1;
    *high = 1;
}

const mc_loss mc_losses[MC_LOSS_KINDS] = {
    [MC_LOGISTIC] = {"logistic", true, true, true, logistic_value, logistic_slope, logistic_curvature, logistic_chord,
                     logistic_conjugate, logistic_domain},
    [MC_SQUARED_HINGE] = {"squared-hinge", true, true, false, hinge_value, hinge_slope, hinge_curvature, hinge_chord,
                          square_conjugate, hinge_domain},
    [MC_HUBER] = {"huber", false, true, false, huber_value, huber_slope, huber_curvature, huber_chord, square_conjugate,
                  huber_domain},
    [MC_QUANTILE] = {"quantile", false, false, false, quantile_value, quantile_slope, NULL, NULL, linear_conjugate,
                     quantile_domain},
    [MC_ABSOLUTE] = {"absolute", false, false, false, absolute_value, absolute_slope, NULL, NULL, linear_conjugate,
                     absolute_domain},
};

const mc_loss *mc_loss_named(const char *machine) {
    for (int k = 0; k < MC_LOSS_KINDS; k++)
        if (strcmp(mc_losses[k].name, machine) == 0)
            return &mc_losses[k];
    return NULL;
}
