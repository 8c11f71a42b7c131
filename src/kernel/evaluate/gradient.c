/* gradient.c: derivatives of k(x, z) with respect to every slot, exact, from the top down: a node that is handed the
   derivative w of the whole with respect to itself hands w times its own derivatives to its children. Nothing is stored
   on the way, so a value is evaluated again where it is needed; the cost is at most that of an evaluation times the
   depth.

   Where a derivative does not exist it is taken as 0: at x = z for the kernels that have a corner there, at 0 for
   powers below 1, where a normalisation has no finite denominator other than 0. */
#include "kernel/evaluate/power_series.h"
#include "kernel/evaluate/eval_conditional.h"
#include "kernel/evaluate/eval_special.h"
#include "kernel/language/atoms.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/language/node.h"
#include "kernel/language/parameters.h"
#include "kernel/evaluate/view.h"
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Where the sums go: the slots are met in order, so one pointer is enough. */
typedef struct sink {
    double *next;
} sink;

static void differentiate_node(const mc_node *node, const mc_row_pair *p, double w, sink *s);

static void skip_subtree_slots(const mc_node *node, sink *s) {
    s->next += mc_list_slots(node, NULL, 0);
}

/* The derivative with respect to the j-th number of a value, or to the one number that stands for all. */
static void add_derivative(const sink *s, const mc_value *value, int64_t j, double derivative) {
    s->next[value->kind == MC_VALUE_VECTOR ? j : 0] += derivative;
}

static void advance_past_parameter(sink *s, const mc_node *node, int parameter) {
    s->next += mc_slots_of_value(node, parameter);
}

static void differentiate_poly(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double degree = node->parameter[0].number, c = node->parameter[1].number, gamma = node->parameter[2].number;
    const double t = mc_pair_dot(p), slope = w * degree * pow(gamma * t + c, degree - 1);
    add_derivative(s, &node->parameter[1], 0, slope);
    advance_past_parameter(s, node, 1);
    add_derivative(s, &node->parameter[2], 0, slope * t);
    advance_past_parameter(s, node, 2);
}

static void differentiate_rbf(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double k = mc_eval_in_view(node, p->view, p->x, p->z);
    for (int64_t j = 0; j < p->view->d; j++) {
        const double u = mc_pair_difference(p, j);
        add_derivative(s, &node->parameter[0], j, -w * k * u * u);
    }
    advance_past_parameter(s, node, 0);
}

static void differentiate_laplacian(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double k = mc_eval_in_view(node, p->view, p->x, p->z);
    for (int64_t j = 0; j < p->view->d; j++)
        add_derivative(s, &node->parameter[0], j, -w * k * fabs(mc_pair_difference(p, j)));
    advance_past_parameter(s, node, 0);
}

/* k = e^-q, q^2 = sum (gamma_j u_j)^2, so dq / dgamma_j = gamma_j u_j^2 / q. */
static void differentiate_exponential(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double k = mc_eval_in_view(node, p->view, p->x, p->z);
    double q2 = 0;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double t = mc_value_at(&node->parameter[0], j) * mc_pair_difference(p, j);
        q2 += t * t;
    }
    for (int64_t j = 0; j < p->view->d && q2 > 0; j++) {
        const double u = mc_pair_difference(p, j);
        add_derivative(s, &node->parameter[0], j, -w * k * mc_value_at(&node->parameter[0], j) * u * u / sqrt(q2));
    }
    advance_past_parameter(s, node, 0);
}

/* u_j^2 / l_j^3 for every column, times w. */
static void put_scales(const mc_node *node, int parameter, const mc_row_pair *p, double w, sink *s) {
    const mc_value *scale = &node->parameter[parameter];
    for (int64_t j = 0; j < p->view->d; j++) {
        const double l = mc_value_at(scale, j), t = mc_pair_difference(p, j) / l;
        add_derivative(s, scale, j, w * t * t / l);
    }
    advance_past_parameter(s, node, parameter);
}

static double scaled_square(const mc_row_pair *p, const mc_value *scale) {
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double t = mc_pair_difference(p, j) / mc_value_at(scale, j);
        sum += t * t;
    }
    return sum;
}

/* A parameter that is learned only where a range was given. */
static void put_fixed(const mc_node *node, int parameter, double w, double (*slope)(double, double), double v, double t,
                      sink *s) {
    if (mc_slots_of_value(node, parameter) > 0)
        add_derivative(s, &node->parameter[parameter], 0, w * slope(v, t));
    advance_past_parameter(s, node, parameter);
}

/* d(t^h)/dh of a square t. */
static double slope_of_power(double h, double t) {
    return t > 0 ? pow(t, h) * log(t) : 0;
}

/* k = (|x|^2h + |z|^2h - |x - z|^2h) / 2. */
static void differentiate_brownian(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double h = node->parameter[0].number;
    double square[3];
    sink again = *s, third = *s;
    mc_squares_of(p->view, p->x, p->z, square);
    put_fixed(node, 0, 0.5 * w, slope_of_power, h, square[0], &again);
    put_fixed(node, 0, 0.5 * w, slope_of_power, h, square[1], &third);
    put_fixed(node, 0, -0.5 * w, slope_of_power, h, square[2], s);
}

/* k = f(s), s^2 = 2 nu q^2, so dk / dl_j = -(f'(s) / s) 2 nu u_j^2 / l_j^3. */
static void differentiate_matern(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double nu = node->parameter[0].number, r = sqrt(2 * nu * scaled_square(p, &node->parameter[1]));
    put_fixed(node, 0, w, mc_matern_nu_slope, nu, r, s);
    put_scales(node, 1, p, w * 2 * nu * mc_matern_slope(nu, r), s);
}

static void differentiate_wendland(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double q = sqrt(scaled_square(p, &node->parameter[2]));
    put_scales(node, 2, p, w * mc_wendland_slope(node->parameter[0].number, node->parameter[1].number, q), s);
}

/* One factor gives way to its derivative, which has a zero where the factor has none to divide by. */
static void differentiate_sinc(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const mc_value *scale = &node->parameter[0];
    for (int64_t j = 0; j < p->view->d; j++) {
        double others = 1;
        for (int64_t i = 0; i < p->view->d; i++)
            others *= i == j ? 1 : mc_sinc_value(mc_pair_difference(p, i) / mc_value_at(scale, i));
        const double l = mc_value_at(scale, j), t = mc_pair_difference(p, j) / l;
        add_derivative(s, scale, j, -w * others * mc_sinc_slope(t) * t / l);
    }
    advance_past_parameter(s, node, 0);
}

/* k = b^-alpha, b = 1 + t, t = q^2 / (2 alpha): dk/dalpha = k (t/b - log b), dk/dl_j = (k/b) u_j^2 / l_j^3. */
static void differentiate_rq(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double k = mc_eval_in_view(node, p->view, p->x, p->z), alpha = node->parameter[0].number;
    const double t = scaled_square(p, &node->parameter[1]) / (2 * alpha);
    add_derivative(s, &node->parameter[0], 0, w * k * (isinf(t) ? -INFINITY : t / (1 + t) - log1p(t)));
    advance_past_parameter(s, node, 0);
    put_scales(node, 1, p, w * k / (1 + t), s);
}

static void differentiate_periodic(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double k = mc_eval_in_view(node, p->view, p->x, p->z);
    const mc_value *period = &node->parameter[0], *scale = &node->parameter[1];
    sink widths = *s;
    advance_past_parameter(&widths, node, 0);
    for (int64_t j = 0; j < p->view->d; j++) {
        const double turns = mc_pair_difference(p, j) / mc_value_at(period, j), l = mc_value_at(scale, j);
        const double sine = sin(pi * turns), cosine = cos(pi * turns);
        add_derivative(s, period, j, w * k * 4 * pi * turns * sine * cosine / (l * l * mc_value_at(period, j)));
        add_derivative(&widths, scale, j, w * k * 4 * sine * sine / (l * l * l));
    }
    advance_past_parameter(s, node, 0);
    advance_past_parameter(s, node, 1);
}

static void differentiate_chi2(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double k = mc_eval_in_view(node, p->view, p->x, p->z);
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++) {
        const double u = mc_pair_difference(p, j), total = mc_view_at(p->view, p->x, j) + mc_view_at(p->view, p->z, j);
        if (total != 0)
            sum += u * u / total;
    }
    add_derivative(s, &node->parameter[0], 0, -w * k * sum);
    advance_past_parameter(s, node, 0);
}

static void differentiate_tanh(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double k = mc_eval_in_view(node, p->view, p->x, p->z), slope = w * (1 - k) * (1 + k);
    add_derivative(s, &node->parameter[0], 0, slope * mc_pair_dot(p));
    advance_past_parameter(s, node, 0);
    add_derivative(s, &node->parameter[1], 0, slope);
    advance_past_parameter(s, node, 1);
}

/* Of every psi: the exponent of power and log, the length_scale of log or c of multiquadric. */
static void differentiate_conditional(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    double square[3];
    mc_squares_of(p->view, p->x, p->z, square);
    for (int i = 0; i < mc_atoms[node->atom].parameters; i++) {
        if (mc_slots_of_value(node, i) == 0)
            continue;
        double slope = -mc_conditional_slope(node, i, square[2]);
        if (mc_atom_is_centred(node))
            slope += mc_conditional_slope(node, i, square[0]) + mc_conditional_slope(node, i, square[1]);
        else if (node->atom == MC_MULTIQUADRIC)
            slope -= 1;
        add_derivative(s, &node->parameter[i], 0, w * slope);
        advance_past_parameter(s, node, i);
    }
}

/* subsequence: the decay. */
static void differentiate_subsequence(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    enum { DECAY = 1 };
    const mc_view *row = p->view;
    while (row->parent)
        row = row->parent;
    const int64_t at = row->d + (int64_t)node->parameter[MC_TEXT_COLUMN].number;
    if (mc_slots_of_value(node, DECAY) > 0)
        add_derivative(s, &node->parameter[DECAY], 0,
                       w * mc_text_decay_slope(node, mc_row_text(p->x, at), mc_row_text(p->z, at)));
    advance_past_parameter(s, node, DECAY);
}

/* mean_map: the mean of the derivatives over the pairs of rows of two sets. */
static void differentiate_mean_map(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const mc_view *row = p->view;
    while (row->parent)
        row = row->parent;
    const int64_t at = row->d + (int64_t)node->parameter[MC_TEXT_COLUMN].number;
    const int64_t d = (int64_t)node->parameter[MC_SET_COLUMNS].number;
    const char *x = mc_row_text(p->x, at), *z = mc_row_text(p->z, at);
    const double pairs = (double)mc_set_count(x) * (double)mc_set_count(z);
    double a[MC_SET_COLUMNS_MAX], b[MC_SET_COLUMNS_MAX];
    const mc_view view = {.d = d};
    mc_set_walk of_x = mc_set_begin(x, d), of_z;
    while (mc_set_next(&of_x, a))
        for (of_z = mc_set_begin(z, d); mc_set_next(&of_z, b);) {
            sink again = *s;
            differentiate_node(node->child[0], &(mc_row_pair){&view, a, b}, w / pairs, &again);
        }
    skip_subtree_slots(node->child[0], s);
}

static void (*const atom_gradient[MC_ATOM_COUNT])(const mc_node *, const mc_row_pair *, double, sink *) = {
    [MC_POLY] = differentiate_poly,
    [MC_RBF] = differentiate_rbf,
    [MC_LAPLACIAN] = differentiate_laplacian,
    [MC_EXPONENTIAL] = differentiate_exponential,
    [MC_MATERN] = differentiate_matern,
    [MC_RQ] = differentiate_rq,
    [MC_PERIODIC] = differentiate_periodic,
    [MC_CHI2] = differentiate_chi2,
    [MC_TANH] = differentiate_tanh,
    [MC_WENDLAND] = differentiate_wendland,
    [MC_SINC] = differentiate_sinc,
    [MC_BROWNIAN] = differentiate_brownian,
    [MC_SUBSEQUENCE] = differentiate_subsequence,
    [MC_POWER_DISTANCE] = differentiate_conditional,
    [MC_LOG] = differentiate_conditional,
    [MC_MULTIQUADRIC] = differentiate_conditional,
    [MC_MEAN_MAP] = differentiate_mean_map,
};

static double value_of_node(const mc_node *node, const mc_row_pair *p) {
    return mc_eval_in_view(node, p->view, p->x, p->z);
}

static void differentiate_product(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    for (int i = 0; i < node->children; i++) {
        double others = w;
        if (mc_list_slots(node->child[i], NULL, 0) == 0 || (i > 0 && node->child[i]->kind == MC_NUMBER))
            continue; /* of the numbers of a product the first is a slot */
        for (int j = 0; j < node->children; j++)
            others *= j == i ? 1 : value_of_node(node->child[j], p);
        differentiate_node(node->child[i], p, others, s);
    }
}

static void differentiate_power(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double v = value_of_node(node->child[0], p),
                 slope = v == 0 && node->number < 1 ? 0 : node->number * pow(v, node->number - 1);
    differentiate_node(node->child[0], p, w * slope, s);
}

/* n = v / sqrt(a b) with v = k(x, z), a = k(x, x), b = k(z, z): dn = dv / sqrt(a b) - n/2 (da / a + db / b). On one
   point against itself n does not change. */
static void differentiate_normalize(const mc_node *child, const mc_row_pair *p, double w, sink *s) {
    const mc_row_pair xx = {p->view, p->x, p->x}, zz = {p->view, p->z, p->z};
    const double a = value_of_node(child, &xx), b = value_of_node(child, &zz), root = sqrt(fabs(a)) * sqrt(fabs(b));
    const bool denominator = ((a > 0 && b > 0) || (a < 0 && b < 0)) && isfinite(root);
    if (p->x == p->z || !denominator) {
        skip_subtree_slots(child, s);
        return;
    }
    const double n = value_of_node(child, p) / root;
    sink again = *s, third = *s;
    differentiate_node(child, p, w / root, s);
    differentiate_node(child, &xx, -w * n / (2 * a), &again);
    differentiate_node(child, &zz, -w * n / (2 * b), &third);
}

static void differentiate_weigh(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const double fx = mc_function_in_view(node->function, p->view, p->x),
                 fz = mc_function_in_view(node->function, p->view, p->z);
    differentiate_node(node->child[0], p, w * (fx * fz), s);
}

static void differentiate_columns(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    const mc_view inner = mc_view_columns(p->view, node);
    differentiate_node(node->child[0], &(mc_row_pair){&inner, p->x, p->z}, w, s);
}

static void differentiate_node(const mc_node *node, const mc_row_pair *p, double w, sink *s) {
    switch (node->kind) {
    case MC_NUMBER:
        if (node->number > 0)
            *s->next++ += w;
        break;
    case MC_ATOM:
        if (atom_gradient[node->atom])
            atom_gradient[node->atom](node, p, w, s);
        break;
    case MC_SUM:
        for (int i = 0; i < node->children; i++)
            differentiate_node(node->child[i], p, w, s);
        break;
    case MC_PRODUCT: differentiate_product(node, p, w, s); break;
    case MC_POWER: differentiate_power(node, p, w, s); break;
    case MC_EXP: differentiate_node(node->child[0], p, w * value_of_node(node, p), s); break;
    case MC_SERIES:
        differentiate_node(node->child[0], p, w * mc_series_rows[node->series].slope(value_of_node(node->child[0], p)),
                           s);
        break;
    case MC_NORMALIZE: differentiate_normalize(node->child[0], p, w, s); break;
    case MC_WEIGH: differentiate_weigh(node, p, w, s); break;
    case MC_COLUMNS: differentiate_columns(node, p, w, s); break;
    }
}

double mc_eval_gradient(const mc_node *root, const double *x, const double *z, int64_t d, double *gradient) {
    const mc_view all = {.d = d};
    sink s = {gradient};
    memset(gradient, 0, (size_t)mc_list_slots(root, NULL, 0) * sizeof *gradient);
    differentiate_node(root, &(mc_row_pair){&all, x, z}, 1, &s);
    return mc_eval_kernel(root, x, z, d);
}
