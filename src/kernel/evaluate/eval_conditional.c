/* eval_conditional.c: see eval_conditional.h. With psi(0) = 0, k(x, z) = k(x, x) - psi(|x - z|^2) and, centred at the
   origin, psi(|x|^2) + psi(|z|^2) - psi(|x - z|^2): nothing is lost where c is large, since psi is what is left of c.
   k(x, z) and k(z, x) are the same bits. */
#include "kernel/evaluate/eval_conditional.h"
#include "kernel/language/atoms.h"
#include <math.h>

static double power_psi(const mc_value *p, double s) {
    return pow(s, p[0].number / 2);
}

static double log_psi(const mc_value *p, double s) {
    return log1p(pow(sqrt(s) / p[1].number, p[0].number));
}

static double multiquadric_psi(const mc_value *p, double s) {
    const double c = p[0].number;
    return s / (c + sqrt(c * c + s));
}

static double thin_plate_psi(const mc_value *p, double s) {
    (void)p;
    return s > 0 ? -0.5 * s * log(s) : 0;
}

double mc_conditional_psi(const mc_node *node, double s) {
    static double (*const psi[MC_ATOM_COUNT])(const mc_value *, double) = {[MC_POWER_DISTANCE] = power_psi,
                                                                           [MC_LOG] = log_psi,
                                                                           [MC_MULTIQUADRIC] = multiquadric_psi,
                                                                           [MC_THIN_PLATE] = thin_plate_psi};
    return psi[node->atom](node->parameter, s);
}

double mc_conditional_slope(const mc_node *node, int parameter, double s) {
    const mc_value *p = node->parameter;
    if (node->atom == MC_POWER_DISTANCE)
        return s > 0 ? 0.5 * log(s) * power_psi(p, s) : 0;
    if (node->atom == MC_LOG) {
        const double q = sqrt(s) / p[1].number, t = pow(q, p[0].number);
        if (parameter == 0)
            return t > 0 ? log(q) * (isinf(t) ? 1 : t / (1 + t)) : 0;
        return -p[0].number / p[1].number * (isinf(t) ? 1 : t / (1 + t));
    }
    if (node->atom == MC_MULTIQUADRIC)
        return -multiquadric_psi(p, s) / sqrt(p[0].number * p[0].number + s);
    return 0;
}

double mc_conditional_peak(const mc_node *node) {
    return node->atom == MC_MULTIQUADRIC ? -node->parameter[0].number : 0;
}

/* |x - z|^2 <= 2 |x|^2 + 2 |z|^2. A Bernstein function of a sum is at most the sum of its values; s log s is at most
   g(s) = s max(log s, 0) + 1/e, which is convex, so that g(2a + 2b) <= (g(4a) + g(4b))/2. */
double mc_conditional_reach(const mc_node *node, double norm2) {
    const double s = 4 * norm2;
    if (node->atom == MC_THIN_PLATE)
        return 0.25 * (s > 1 ? s * log(s) : 0) + 0.1;
    return fabs(mc_conditional_peak(node)) / 2 + 2 * mc_conditional_psi(node, norm2);
}

void mc_squares_of(const mc_view *view, const double *x, const double *z, double *out) {
    out[0] = out[1] = out[2] = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const double a = mc_view_at(view, x, j), b = mc_view_at(view, z, j);
        out[0] += a * a;
        out[1] += b * b;
        out[2] += (a - b) * (a - b);
    }
}

static double difference_at(const mc_view *view, const double *x, const double *z, int64_t j) {
    return mc_view_at(view, x, j) - (z ? mc_view_at(view, z, j) : 0);
}

double mc_distance_power(const mc_view *view, const double *x, const double *z, double p) {
    double square = 0, most = 0, sum = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const double u = difference_at(view, x, z, j);
        square += u * u;
        most = fmax(most, fabs(u));
    }
    if ((square > 1e-280 && square < INFINITY) || !(most > 0 && most < INFINITY))
        return pow(square, p / 2);
    for (int64_t j = 0; j < view->d; j++) {
        const double u = difference_at(view, x, z, j) / most;
        sum += u * u;
    }
    return pow(most, p) * pow(sum, p / 2);
}

/* What is left of the three where the rows are centred at the origin. */
static double evaluate_power(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const double p = node->parameter[0].number, apart = mc_distance_power(view, x, z, p);
    return mc_atom_is_centred(node) ? mc_distance_power(view, x, NULL, p) + mc_distance_power(view, z, NULL, p) - apart
                                    : 0 - apart;
}

double mc_eval_conditional(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    double s[3];
    if (node->atom == MC_POWER_DISTANCE)
        return evaluate_power(node, view, x, z);
    mc_squares_of(view, x, z, s);
    if (!mc_atom_is_centred(node))
        return mc_conditional_peak(node) - mc_conditional_psi(node, s[2]);
    return mc_conditional_psi(node, s[0]) + mc_conditional_psi(node, s[1]) - mc_conditional_psi(node, s[2]);
}
