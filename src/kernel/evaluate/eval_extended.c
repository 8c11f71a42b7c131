/* eval_extended.c: see eval_extended.h. The formulas of eval.c, each with what rounding can make of it.

   Every operation of long double adds at most half a UNIT of its result, and so does reading a number that is none of
   long double (pi). The functions of the C library are taken to be right to FUNCTION units, several times what those in
   use document. A sum of d terms that are not negative is right to a share of itself; one of either sign to that share
   of the sum of sizes. Atoms whose values come from elsewhere, arccos and weigh have no bound here. */
#include "kernel/evaluate/eval_extended.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/node.h"
#include <float.h>
#include <math.h>

typedef mc_extended extended;
static const long double UNIT = LDBL_EPSILON, FUNCTION = 16, pi = 3.14159265358979323846264338327950288L;
static const extended unknown = {0, INFINITY};

static long double x_at(const mc_row_pair *p, int64_t j) {
    return mc_view_at(p->view, p->x, j);
}

static long double z_at(const mc_row_pair *p, int64_t j) {
    return mc_view_at(p->view, p->z, j);
}

/* ---- Arithmetic ---- */

static extended exact_value(long double v) {
    return (extended){v, 0};
}

static extended add_extended(extended a, extended b) {
    const long double v = a.value + b.value;
    return (extended){v, a.error + b.error + UNIT * fabsl(v)};
}

static extended multiply_extended(extended a, extended b) {
    const long double v = a.value * b.value;
    return (extended){v, fabsl(a.value) * b.error + fabsl(b.value) * a.error + a.error * b.error + UNIT * fabsl(v)
                             + LDBL_MIN};
}

static extended scale_extended(extended a, long double by) {
    return multiply_extended(a, exact_value(by));
}

/* exp(e) - 1 is below this. */
static long double growth_of_error(long double e) {
    return e < 0.5L ? e * (1 + e) : expm1l(e) * 1.001L;
}

static extended exponential_of(extended a) {
    const long double v = expl(a.value);
    if (!(a.error < 1)) /* neither is above the exponential of the largest that a can be, and both may be 0 */
        return (extended){v, 1.001L * expl(a.value + a.error) + LDBL_MIN};
    return (extended){v, 1.001L * v * (growth_of_error(a.error) + FUNCTION * UNIT) + LDBL_MIN};
}

/* The root of an error near 0, its share of the root away from it. */
static extended root_of(extended a) {
    const long double v = a.value > 0 ? sqrtl(a.value) : 0;
    return (extended){v, (a.error < a.value ? a.error / v : sqrtl(a.error)) + UNIT * v};
}

/* log(1 + a) of a >= 0. */
static extended log1p_of(extended a) {
    const long double v = log1pl(a.value);
    return (extended){v, a.error / (1 + fmaxl(a.value - a.error, 0)) + FUNCTION * UNIT * v};
}

static extended whole_power(extended a, int64_t p) {
    extended all = exact_value(1);
    for (; p > 0; p /= 2) {
        all = p % 2 ? multiply_extended(all, a) : all;
        a = p > 1 ? multiply_extended(a, a) : a;
    }
    return all;
}

/* Of a number that is positive for certain; a share r of it becomes exp(2 |p| r) - 1 at most where r < 1/2. */
static extended power_of(extended a, double p) {
    if (p >= 0 && p <= 64 && p == floor(p))
        return whole_power(a, (int64_t)p);
    const long double share = a.error / a.value, v = powl(a.value, p);
    if (!(a.value > 0 && share < 0.5L))
        return unknown;
    return (extended){v, 1.001L * v * (growth_of_error(2 * fabs(p) * share) + FUNCTION * UNIT) + LDBL_MIN};
}

/* v / sqrt(a b) */
static extended normalise_value(extended v, extended a, extended b) {
    return multiply_extended(v, multiply_extended(power_of(a, -0.5), power_of(b, -0.5)));
}

/* ---- Sums over the columns ---- */

static extended dot_rows(const mc_view *view, const double *x, const double *z) {
    long double sum = 0, size = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const long double t = (long double)mc_view_at(view, x, j) * mc_view_at(view, z, j);
        sum += t;
        size += fabsl(t);
    }
    return (extended){sum, (long double)(view->d + 2) * UNIT * size};
}

/* Terms that are not negative, each of at most six roundings. */
static inline extended sum_positive_terms(const mc_row_pair *p, const mc_value *by,
                                          long double (*term)(const mc_row_pair *, int64_t, double)) {
    long double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++)
        sum += term(p, j, by ? mc_value_at(by, j) : 1);
    return (extended){sum, (long double)(p->view->d + 8) * UNIT * sum};
}

static long double weighed_square(const mc_row_pair *p, int64_t j, double by) {
    const long double u = x_at(p, j) - z_at(p, j);
    return by * (u * u);
}

static long double square_of_weighed(const mc_row_pair *p, int64_t j, double by) {
    const long double u = by * (x_at(p, j) - z_at(p, j));
    return u * u;
}

static long double square_of_scaled(const mc_row_pair *p, int64_t j, double by) {
    const long double u = (x_at(p, j) - z_at(p, j)) / by;
    return u * u;
}

static long double weighed_size(const mc_row_pair *p, int64_t j, double by) {
    return by * fabsl(x_at(p, j) - z_at(p, j));
}

static long double chi_term(const mc_row_pair *p, int64_t j, double by) {
    const long double u = x_at(p, j) - z_at(p, j), total = x_at(p, j) + z_at(p, j);
    return total > 0 ? by * (u / total * u) : 0;
}

static long double least_term(const mc_row_pair *p, int64_t j, double by) {
    return by * fminl(x_at(p, j), z_at(p, j));
}

/* ---- Atoms ---- */

static extended extended_linear(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    return dot_rows(p->view, p->x, p->z);
}

static extended extended_poly(const mc_node *node, const mc_row_pair *p) {
    const extended t = scale_extended(dot_rows(p->view, p->x, p->z), node->parameter[2].number);
    return power_of(add_extended(t, exact_value(node->parameter[1].number)), node->parameter[0].number);
}

static extended extended_rbf(const mc_node *node, const mc_row_pair *p) {
    return exponential_of(scale_extended(sum_positive_terms(p, &node->parameter[0], weighed_square), -1));
}

static extended extended_laplacian(const mc_node *node, const mc_row_pair *p) {
    return exponential_of(scale_extended(sum_positive_terms(p, &node->parameter[0], weighed_size), -1));
}

static extended extended_exponential(const mc_node *node, const mc_row_pair *p) {
    return exponential_of(scale_extended(root_of(sum_positive_terms(p, &node->parameter[0], square_of_weighed)), -1));
}

/* The integral of matern_bessel.c with a step h whose error is beyond long double: from t = k h on, in steps of by h.
   The exponent of a term is right to a rounding of each of its parts. What is left out below is a geometric sum. */
static extended matern_terms(long double nu, long double q, long double h, long double k, int by) {
    const long double rest = by < 0 ? 1 / -expm1l(-nu * h) : 1;
    extended sum = {0};
    for (long double w = 1, most = 0; w > 1e-25L * most || most == 0; k += by) {
        const long double t = k * h, up = expl(t), down = q / up;
        w = expl(nu * t - up - down);
        most = fmaxl(most, w);
        sum.value += h * w;
        sum.error += h * w * (nu * fabsl(t) + (FUNCTION + 2) * (up + down) + FUNCTION) * UNIT + UNIT * sum.value;
        if (w <= 1e-25L * most)
            sum.error += h * w * rest;
    }
    return sum;
}

/* Of any nu; s |f'(s)| is below 0.74, as that of any mixture of Gaussians. */
static extended extended_bessel(long double nu, extended s) {
    const long double q = s.value / 2 * (s.value / 2), peak = (nu + sqrtl(nu * nu + 4 * q)) / 2;
    if (s.value == 0 && s.error < 1e-2000L) /* one point: for nu >= 0.01 no root of this is seen beside 1 */
        return (extended){1, UNIT};
    if (!(s.error <= s.value / 2))
        return unknown;
    if (s.value > 5000)
        return (extended){0, 1e-300L};
    const long double h = nu > 20 ? 0.03125L : 0.0625L, k = roundl(logl(peak) / h), gamma = tgammal(nu);
    const extended above = matern_terms(nu, q, h, k, 1), below = matern_terms(nu, q, h, k - 1, -1);
    const long double v = (above.value + below.value) / gamma;
    return (extended){v, (above.error + below.error) / gamma + (2 * FUNCTION * UNIT) * v + 1.5L * s.error / s.value};
}

static extended extended_matern(const mc_node *node, const mc_row_pair *p) {
    const double nu = node->parameter[0].number;
    const extended s = root_of(scale_extended(sum_positive_terms(p, &node->parameter[1], square_of_scaled), 2 * nu));
    if (!mc_matern_is_elementary(nu))
        return extended_bessel(nu, s);
    extended front = exact_value(1);
    if (nu > 1)
        front = add_extended(front, s);
    if (nu > 2)
        front = add_extended(front, scale_extended(multiply_extended(s, s), 1 / 3.0L));
    front.error += UNIT * front.value; /* of the third */
    return multiply_extended(front, exponential_of(scale_extended(s, -1)));
}

static extended extended_rq(const mc_node *node, const mc_row_pair *p) {
    const long double alpha = node->parameter[0].number;
    extended t = sum_positive_terms(p, &node->parameter[1], square_of_scaled);
    t.value /= 2 * alpha;
    t.error = t.error / (2 * alpha) + UNIT * t.value;
    return exponential_of(scale_extended(log1p_of(t), -alpha));
}

/* sin(pi q) is wrong by pi times the error of q, which whole periods, taken off exactly, leave as it is. That of the
   sine is a share of it: 0 where the points are one. */
static extended extended_periodic(const mc_node *node, const mc_row_pair *p) {
    extended sum = exact_value(0);
    for (int64_t j = 0; j < p->view->d; j++) {
        const long double q = (x_at(p, j) - z_at(p, j)) / mc_value_at(&node->parameter[0], j);
        const long double s = sinl(pi * fmodl(q, 2)), by = mc_value_at(&node->parameter[1], j);
        const extended t = {s / by, (4 * UNIT * fabsl(q) * pi + FUNCTION * UNIT * fabsl(s)) / by};
        sum = add_extended(sum, multiply_extended(t, t));
    }
    return exponential_of(scale_extended(sum, -2));
}

static extended extended_cosine(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    const extended xx = dot_rows(p->view, p->x, p->x), zz = dot_rows(p->view, p->z, p->z);
    if (xx.value == 0 || zz.value == 0)
        return exact_value(0);
    return normalise_value(dot_rows(p->view, p->x, p->z), xx, zz);
}

static extended extended_chi2(const mc_node *node, const mc_row_pair *p) {
    return exponential_of(scale_extended(sum_positive_terms(p, NULL, chi_term), -node->parameter[0].number));
}

static extended extended_intersection(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    return sum_positive_terms(p, NULL, least_term);
}

/* Two sums of terms that are not negative, each right to a share of itself. */
static extended extended_tanimoto(const mc_node *node, const mc_row_pair *p) {
    const extended least = extended_intersection(node, p);
    long double most = 0;
    for (int64_t j = 0; j < p->view->d; j++)
        most += fmaxl(x_at(p, j), z_at(p, j));
    if (most == 0)
        return exact_value(1);
    const long double v = least.value / most;
    return (extended){v, least.error / most * 2 + (long double)(p->view->d + 4) * UNIT * v};
}

static extended extended_hyperbolic(const mc_node *node, const mc_row_pair *p) {
    const extended t = scale_extended(dot_rows(p->view, p->x, p->z), node->parameter[0].number),
                   a = add_extended(t, exact_value(node->parameter[1].number));
    return (extended){tanhl(a.value), a.error + FUNCTION * UNIT};
}

static extended extended_white(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    for (int64_t j = 0; j < p->view->d; j++)
        if (x_at(p, j) != z_at(p, j))
            return exact_value(0);
    return exact_value(1);
}

static extended extended_form(const mc_node *node, const mc_row_pair *p) {
    const mc_value *A = &node->parameter[0];
    const int64_t d = p->view->d;
    long double sum = 0, size = 0;
    for (int64_t i = 0; i < d * d; i++) {
        const long double t = A->numbers[i / d * A->columns + i % d] * (x_at(p, i / d) * z_at(p, i % d));
        sum += t;
        size += fabsl(t);
    }
    return (extended){sum, (long double)(d * d + 4) * UNIT * size};
}

static extended (*const atom_value[MC_ATOM_COUNT])(const mc_node *, const mc_row_pair *) = {
    [MC_LINEAR] = extended_linear,
    [MC_POLY] = extended_poly,
    [MC_RBF] = extended_rbf,
    [MC_LAPLACIAN] = extended_laplacian,
    [MC_EXPONENTIAL] = extended_exponential,
    [MC_MATERN] = extended_matern,
    [MC_RQ] = extended_rq,
    [MC_PERIODIC] = extended_periodic,
    [MC_COSINE] = extended_cosine,
    [MC_CHI2] = extended_chi2,
    [MC_INTERSECTION] = extended_intersection,
    [MC_TANIMOTO] = extended_tanimoto,
    [MC_TANH] = extended_hyperbolic,
    [MC_WHITE] = extended_white,
    [MC_FORM] = extended_form,
};

/* ---- Expressions ---- */

static extended combine_children(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const bool product = node->kind == MC_PRODUCT;
    extended all = exact_value(product);
    for (int i = 0; i < node->children; i++) {
        const extended v = mc_eval_extended(node->child[i], view, x, z);
        all = product ? multiply_extended(all, v) : add_extended(all, v);
    }
    return all;
}

/* ---- Functions by power series ---- */

static extended logarithmic_of(extended a) {
    const long double away = 1 - a.value - a.error, v = -log1pl(-a.value);
    return away > 0 ? (extended){v, a.error / away + FUNCTION * UNIT * fabsl(v)} : unknown;
}

/* Steepest at the end that is nearer to 1. */
static extended arcsine_of(extended a) {
    const long double v = fmaxl(-1, fminl(a.value, 1)), top = fminl(fabsl(v) + a.error, 1);
    if (!(fabsl(a.value) - a.error <= 1))
        return unknown;
    return (extended){asinl(v), asinl(top) - asinl(fmaxl(top - 2 * a.error, -1)) + FUNCTION * UNIT * fabsl(v)};
}

static long double bessel_i0(long double t) {
    const long double q = t / 2 * (t / 2);
    long double sum = 0, term = 1;
    for (int n = 1; term > UNIT * sum && isfinite(term); n++) {
        sum += term;
        term *= q / n / n;
    }
    return sum + term;
}

/* I0' = I1 < I0 */
static extended bessel_of(extended a) {
    const long double v = bessel_i0(a.value), most = bessel_i0(fabsl(a.value) + a.error);
    return (extended){v, a.error * most + (16 + 4 * fabsl(a.value)) * UNIT * v};
}

static extended (*const series_value[MC_SERIES_COUNT])(extended) = {
    [MC_LOGARITHMIC] = logarithmic_of, [MC_ARCSIN] = arcsine_of, [MC_BESSEL_I0] = bessel_of};

mc_extended mc_eval_extended(const mc_node *node, const mc_view *view, const double *x, const double *z) {
    const mc_node *child = node->children ? node->child[0] : NULL;
    switch (node->kind) {
    case MC_NUMBER: return exact_value(node->number);
    case MC_ATOM: return atom_value[node->atom] ? atom_value[node->atom](node, &(mc_row_pair){view, x, z}) : unknown;
    case MC_SUM:
    case MC_PRODUCT: return combine_children(node, view, x, z);
    case MC_POWER: return power_of(mc_eval_extended(child, view, x, z), node->number);
    case MC_EXP: return exponential_of(mc_eval_extended(child, view, x, z));
    case MC_NORMALIZE:
        return normalise_value(mc_eval_extended(child, view, x, z), mc_eval_extended(child, view, x, x),
                               mc_eval_extended(child, view, z, z));
    case MC_SERIES: return series_value[node->series](mc_eval_extended(child, view, x, z));
    case MC_WEIGH: return unknown;
    case MC_COLUMNS:
        return mc_eval_extended(child, &(mc_view){.d = node->columns, .column = node->column, .parent = view}, x, z);
    }
    return unknown;
}
