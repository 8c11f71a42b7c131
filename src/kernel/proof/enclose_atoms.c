/* enclose_atoms.c: see enclose_atoms.h. */
#include "data/table/data.h"
#include "kernel/proof/enclose_atoms.h"
#include "kernel/evaluate/eval_conditional.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/atoms.h"
#include "kernel/language/node.h"
#include "kernel/proof/enclose.h"
#include <math.h>

static mc_interval x_at(const mc_row_pair *p, int64_t j) {
    return mc_iv(mc_view_at(p->view, p->x, j));
}

static mc_interval z_at(const mc_row_pair *p, int64_t j) {
    return mc_iv(mc_view_at(p->view, p->z, j));
}

static mc_interval enclosed_difference(const mc_row_pair *p, int64_t j) {
    return mc_iv_sub(x_at(p, j), z_at(p, j));
}

static mc_interval enclosed_parameter(const mc_node *node, int i, int64_t j) {
    return mc_iv(mc_value_at(&node->parameter[i], j));
}

static mc_interval dot(const mc_row_pair *p) {
    mc_interval sum = mc_iv(0);
    for (int64_t j = 0; j < p->view->d; j++)
        sum = mc_iv_add(sum, mc_iv_mul(x_at(p, j), z_at(p, j)));
    return sum;
}

mc_interval mc_enclose_squared_norm(const mc_view *view, const double *x) {
    const mc_row_pair p = {view, x, x};
    mc_interval sum = mc_iv(0);
    for (int64_t j = 0; j < view->d; j++)
        sum = mc_iv_add(sum, mc_iv_square(x_at(&p, j)));
    return sum;
}

typedef mc_interval column_term(const mc_node *node, const mc_row_pair *p, int64_t j);

static mc_interval over_columns(const mc_node *node, const mc_row_pair *p, column_term *term) {
    mc_interval sum = mc_iv(0);
    for (int64_t j = 0; j < p->view->d; j++)
        sum = mc_iv_add(sum, term(node, p, j));
    return sum;
}

static mc_interval exp_minus(mc_interval a) {
    return mc_iv_exp(mc_iv_neg(a));
}

static mc_interval gamma_square(const mc_node *node, const mc_row_pair *p, int64_t j) {
    return mc_iv_mul(enclosed_parameter(node, 0, j), mc_iv_square(enclosed_difference(p, j)));
}

static mc_interval gamma_distance(const mc_node *node, const mc_row_pair *p, int64_t j) {
    return mc_iv_mul(enclosed_parameter(node, 0, j), mc_iv_abs(enclosed_difference(p, j)));
}

static mc_interval square_of_gamma_distance(const mc_node *node, const mc_row_pair *p, int64_t j) {
    return mc_iv_square(mc_iv_mul(enclosed_parameter(node, 0, j), enclosed_difference(p, j)));
}

static mc_interval square_of_scaled(const mc_node *node, const mc_row_pair *p, int64_t j) {
    return mc_iv_square(mc_iv_div(enclosed_difference(p, j), enclosed_parameter(node, 1, j)));
}

static mc_interval square_of_sine(const mc_node *node, const mc_row_pair *p, int64_t j) {
    const mc_interval turn =
        mc_iv_mul(mc_iv_pi(), mc_iv_div(enclosed_difference(p, j), enclosed_parameter(node, 0, j)));
    return mc_iv_square(mc_iv_div(mc_iv_sin(turn), enclosed_parameter(node, 1, j)));
}

static mc_interval chi2_term(const mc_node *node, const mc_row_pair *p, int64_t j) {
    (void)node;
    const mc_interval total = mc_iv_add(x_at(p, j), z_at(p, j));
    if (mc_iv_is_zero(&total))
        return mc_iv(0);
    return mc_iv_div(mc_iv_square(enclosed_difference(p, j)), total);
}

static mc_interval column_minimum(const mc_node *node, const mc_row_pair *p, int64_t j) {
    (void)node;
    return mc_iv_min(x_at(p, j), z_at(p, j));
}

static mc_interval enclose_linear(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    return dot(p);
}

static mc_interval affine_of_dot(const mc_row_pair *p, mc_interval a, mc_interval c) {
    return mc_iv_add(mc_iv_mul(a, dot(p)), c);
}

static mc_interval enclose_poly(const mc_node *node, const mc_row_pair *p) {
    return mc_iv_power(affine_of_dot(p, enclosed_parameter(node, 2, 0), enclosed_parameter(node, 1, 0)),
                       node->parameter[0].number);
}

static mc_interval enclose_rbf(const mc_node *node, const mc_row_pair *p) {
    return exp_minus(over_columns(node, p, gamma_square));
}

static mc_interval enclose_laplacian(const mc_node *node, const mc_row_pair *p) {
    return exp_minus(over_columns(node, p, gamma_distance));
}

static mc_interval enclose_exponential(const mc_node *node, const mc_row_pair *p) {
    return exp_minus(mc_iv_sqrt(over_columns(node, p, square_of_gamma_distance)));
}

/* A Matern function of any smoothness: 1 on equal points, between 0 and 1 elsewhere. */
static mc_interval enclose_bessel(const mc_row_pair *p) {
    for (int64_t j = 0; j < p->view->d; j++)
        if (mc_view_at(p->view, p->x, j) != mc_view_at(p->view, p->z, j))
            return mc_iv_of(0, 1);
    return mc_iv(1);
}

static mc_interval enclose_matern(const mc_node *node, const mc_row_pair *p) {
    const double nu = node->parameter[0].number;
    if (!mc_matern_is_elementary(nu))
        return enclose_bessel(p);
    const mc_interval s2 = mc_iv_mul(mc_iv(2 * nu), over_columns(node, p, square_of_scaled)), s = mc_iv_sqrt(s2);
    mc_interval front = mc_iv(1);
    if (nu > 1)
        front = mc_iv_add(front, s);
    if (nu > 2)
        front = mc_iv_add(front, mc_iv_div(s2, mc_iv(3)));
    return mc_iv_min(mc_iv_mul(front, exp_minus(s)), mc_iv(1));
}

static mc_interval enclose_rq(const mc_node *node, const mc_row_pair *p) {
    const double alpha = node->parameter[0].number;
    const mc_interval t = mc_iv_div(over_columns(node, p, square_of_scaled), mc_iv_mul(mc_iv(2), mc_iv(alpha)));
    return mc_iv_power(mc_iv_add(mc_iv(1), t), -alpha);
}

static mc_interval enclose_periodic(const mc_node *node, const mc_row_pair *p) {
    return exp_minus(mc_iv_mul(mc_iv(2), over_columns(node, p, square_of_sine)));
}

mc_interval mc_enclose_quotient(mc_interval v, mc_interval a, mc_interval b) {
    const mc_interval product = mc_iv_mul(a, b);
    if (product.hi <= 0)
        return mc_iv(0);
    if (product.lo <= 0)
        return mc_iv_everything();
    return mc_iv_div(v, mc_iv_sqrt(product));
}

static mc_interval enclose_cosine(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    return mc_enclose_quotient(dot(p), mc_enclose_squared_norm(p->view, p->x), mc_enclose_squared_norm(p->view, p->z));
}

static mc_interval enclose_chi2(const mc_node *node, const mc_row_pair *p) {
    return exp_minus(mc_iv_mul(enclosed_parameter(node, 0, 0), over_columns(node, p, chi2_term)));
}

static mc_interval enclose_intersection(const mc_node *node, const mc_row_pair *p) {
    return over_columns(node, p, column_minimum);
}

static mc_interval enclosed_angle(const mc_row_pair *p, mc_interval x2, mc_interval z2) {
    if (mc_iv_is_zero(&x2) || mc_iv_is_zero(&z2))
        return mc_iv_div(mc_iv_pi(), mc_iv(2));
    if (p->x == p->z)
        return mc_iv(0);
    return mc_iv_acos(mc_iv_div(dot(p), mc_iv_sqrt(mc_iv_mul(x2, z2))));
}

/* The angular parts J of orders 1 and 2: sin t + (pi - t) cos t and 3 sin t cos t + (pi - t)(1 + 2 cos^2 t). */
static mc_interval arccos_angular_part(mc_interval t, double order) {
    const mc_interval s = mc_iv_sin(t), c = mc_iv_cos(t), rest = mc_iv_sub(mc_iv_pi(), t);
    if (order == 1)
        return mc_iv_add(s, mc_iv_mul(rest, c));
    const mc_interval twice = mc_iv_add(mc_iv(1), mc_iv_mul(mc_iv(2), mc_iv_square(c)));
    return mc_iv_add(mc_iv_mul(mc_iv(3), mc_iv_mul(s, c)), mc_iv_mul(rest, twice));
}

static mc_interval enclose_arccos(const mc_node *node, const mc_row_pair *p) {
    const mc_interval x2 = mc_enclose_squared_norm(p->view, p->x), z2 = mc_enclose_squared_norm(p->view, p->z),
                      t = enclosed_angle(p, x2, z2);
    const double order = node->parameter[0].number;
    if (order == 0)
        return mc_iv_sub(mc_iv(1), mc_iv_div(t, mc_iv_pi()));
    const mc_interval norms = order == 1 ? mc_iv_sqrt(mc_iv_mul(x2, z2)) : mc_iv_mul(x2, z2);
    return mc_iv_mul(norms, mc_iv_div(arccos_angular_part(t, order), mc_iv_pi()));
}

static mc_interval enclose_tanh(const mc_node *node, const mc_row_pair *p) {
    return mc_iv_tanh(affine_of_dot(p, enclosed_parameter(node, 0, 0), enclosed_parameter(node, 1, 0)));
}

static mc_interval enclose_white(const mc_node *node, const mc_row_pair *p) {
    (void)node;
    for (int64_t j = 0; j < p->view->d; j++)
        if (mc_view_at(p->view, p->x, j) != mc_view_at(p->view, p->z, j))
            return mc_iv(0);
    return mc_iv(1);
}

static mc_interval enclose_form(const mc_node *node, const mc_row_pair *p) {
    const mc_value *A = &node->parameter[0];
    mc_interval sum = mc_iv(0);
    for (int64_t i = 0; i < p->view->d; i++)
        for (int64_t j = 0; j < p->view->d; j++)
            sum = mc_iv_add(sum, mc_iv_mul(mc_iv(A->numbers[i * A->columns + j]), mc_iv_mul(x_at(p, i), z_at(p, j))));
    return sum;
}

/* Values from elsewhere: nothing is known of them. */
static mc_interval enclose_external(const mc_node *node, const mc_row_pair *p) {
    (void)node, (void)p;
    return mc_iv_everything();
}

static mc_interval column_maximum(const mc_node *node, const mc_row_pair *p, int64_t j) {
    (void)node;
    return mc_iv_max(x_at(p, j), z_at(p, j));
}

static mc_interval enclose_tanimoto(const mc_node *node, const mc_row_pair *p) {
    const mc_interval most = over_columns(node, p, column_maximum);
    return mc_iv_is_zero(&most) ? mc_iv(1) : mc_iv_div(over_columns(node, p, column_minimum), most);
}

static mc_interval twice_harmonic(const mc_node *node, const mc_row_pair *p, int64_t j) {
    (void)node;
    const mc_interval total = mc_iv_add(x_at(p, j), z_at(p, j));
    if (mc_iv_is_zero(&total))
        return mc_iv(0);
    return mc_iv_div(mc_iv_mul(mc_iv(2), mc_iv_mul(x_at(p, j), z_at(p, j))), total);
}

static mc_interval enclose_additive_chi2(const mc_node *node, const mc_row_pair *p) {
    return over_columns(node, p, twice_harmonic);
}

static mc_interval square_of_radius(const mc_node *node, const mc_row_pair *p, int64_t j) {
    return mc_iv_square(mc_iv_div(enclosed_difference(p, j), enclosed_parameter(node, 2, j)));
}

static mc_interval enclose_wendland(const mc_node *node, const mc_row_pair *p) {
    const double k = node->parameter[0].number, l = floor(node->parameter[1].number / 2) + k + 1;
    const mc_interval q = mc_iv_sqrt(over_columns(node, p, square_of_radius));
    const mc_interval t = mc_iv_max(mc_iv_sub(mc_iv(1), q), mc_iv(0)), tail = mc_iv_power(t, l + k);
    if (k == 0)
        return tail;
    if (k == 1)
        return mc_iv_mul(tail, mc_iv_add(mc_iv(1), mc_iv_mul(mc_iv(l + 1), q)));
    const mc_interval second = mc_iv_div(mc_iv_mul(mc_iv((l + 4) * l + 3), mc_iv_square(q)), mc_iv(3));
    return mc_iv_mul(tail, mc_iv_add(mc_iv_add(mc_iv(1), mc_iv_mul(mc_iv(l + 2), q)), second));
}

static mc_interval enclose_sinc(const mc_node *node, const mc_row_pair *p) {
    mc_interval product = mc_iv(1);
    for (int64_t j = 0; j < p->view->d; j++) {
        const mc_interval u = enclosed_difference(p, j),
                          t = mc_iv_mul(mc_iv_pi(), mc_iv_div(u, enclosed_parameter(node, 0, j)));
        if (!mc_iv_is_zero(&u))
            product = mc_iv_mul(product, mc_iv_div(mc_iv_sin(t), t));
    }
    return product;
}

/* |x|^(2 hurst); 0 of 0. */
static mc_interval power_of_square(mc_interval square, double hurst) {
    return mc_iv_is_zero(&square) ? square : mc_iv_power(square, hurst);
}

static mc_interval square_of_difference(const mc_node *node, const mc_row_pair *p, int64_t j) {
    (void)node;
    return mc_iv_square(enclosed_difference(p, j));
}

static mc_interval enclose_brownian(const mc_node *node, const mc_row_pair *p) {
    const double h = node->parameter[0].number;
    const mc_interval a = power_of_square(mc_enclose_squared_norm(p->view, p->x), h),
                      b = power_of_square(mc_enclose_squared_norm(p->view, p->z), h),
                      c = power_of_square(over_columns(node, p, square_of_difference), h);
    return mc_iv_div(mc_iv_sub(mc_iv_add(a, b), c), mc_iv(2));
}

static mc_interval enclose_spline(const mc_node *node, const mc_row_pair *p) {
    mc_interval product = mc_iv(1);
    for (int64_t j = 0; j < p->view->d; j++) {
        const mc_interval least = column_minimum(node, p, j), most = column_maximum(node, p, j);
        const mc_interval rest = mc_iv_sub(mc_iv_mul(mc_iv(3), most), least),
                          bend = mc_iv_div(mc_iv_mul(mc_iv_square(least), rest), mc_iv(6));
        const mc_interval line = mc_iv_add(mc_iv(1), mc_iv_mul(x_at(p, j), z_at(p, j)));
        product = mc_iv_mul(product, mc_iv_add(line, bend));
    }
    return product;
}

static mc_interval enclose_gibbs(const mc_node *node, const mc_row_pair *p) {
    const mc_interval f = mc_enclose_function(node->function, p->view, p->x),
                      g = mc_enclose_function(node->function, p->view, p->z);
    if (!(f.lo > 0 && g.lo > 0 && f.hi < INFINITY && g.hi < INFINITY))
        return mc_iv_everything();
    const mc_interval sum = mc_iv_add(mc_iv_square(f), mc_iv_square(g));
    const mc_interval front = mc_iv_div(mc_iv_mul(mc_iv(2), mc_iv_mul(f, g)), sum);
    return mc_iv_mul(mc_iv_power(front, 0.5 * (double)p->view->d),
                     exp_minus(mc_iv_div(over_columns(node, p, square_of_difference), sum)));
}

static mc_interval enclose_rbf_form(const mc_node *node, const mc_row_pair *p) {
    const mc_value *A = &node->parameter[0];
    mc_interval sum = mc_iv(0);
    for (int64_t i = 0; i < p->view->d; i++)
        for (int64_t j = 0; j < p->view->d; j++)
            sum = mc_iv_add(sum, mc_iv_mul(mc_iv(A->numbers[i * A->columns + j]),
                                           mc_iv_mul(enclosed_difference(p, i), enclosed_difference(p, j))));
    return exp_minus(sum);
}

/* psi of eval_conditional.c, of a squared distance. */
static mc_interval enclose_psi(const mc_node *node, mc_interval s) {
    const mc_value *v = node->parameter;
    if (mc_iv_is_zero(&s))
        return s;
    if (node->atom == MC_POWER_DISTANCE)
        return mc_iv_power(s, 0.5 * v[0].number);
    if (node->atom == MC_LOG)
        return mc_iv_log(
            mc_iv_add(mc_iv(1), mc_iv_power(mc_iv_div(s, mc_iv_square(mc_iv(v[1].number))), 0.5 * v[0].number)));
    if (node->atom == MC_THIN_PLATE)
        return mc_iv_div(mc_iv_mul(s, mc_iv_log(s)), mc_iv(-2));
    return mc_iv_sub(mc_iv_sqrt(mc_iv_add(mc_iv_square(mc_iv(v[0].number)), s)), mc_iv(v[0].number));
}

static mc_interval enclose_conditional(const mc_node *node, const mc_row_pair *p) {
    const mc_interval far = enclose_psi(node, over_columns(node, p, square_of_difference));
    if (!mc_atom_is_centred(node))
        return mc_iv_sub(mc_iv(mc_conditional_peak(node)), far);
    return mc_iv_sub(mc_iv_add(enclose_psi(node, mc_enclose_squared_norm(p->view, p->x)),
                               enclose_psi(node, mc_enclose_squared_norm(p->view, p->z))),
                     far);
}

static mc_interval enclose_text(const mc_node *node, const mc_row_pair *p) {
    const mc_view *row = p->view;
    while (row->parent)
        row = row->parent;
    const int64_t at = row->d + (int64_t)node->parameter[MC_TEXT_COLUMN].number;
    return mc_enclose_texts(node, mc_row_text(p->x, at), mc_row_text(p->z, at));
}

static mc_interval (*const atom_value[MC_ATOM_COUNT])(const mc_node *, const mc_row_pair *) = {
    [MC_LINEAR] = enclose_linear,
    [MC_POLY] = enclose_poly,
    [MC_RBF] = enclose_rbf,
    [MC_LAPLACIAN] = enclose_laplacian,
    [MC_EXPONENTIAL] = enclose_exponential,
    [MC_MATERN] = enclose_matern,
    [MC_RQ] = enclose_rq,
    [MC_PERIODIC] = enclose_periodic,
    [MC_COSINE] = enclose_cosine,
    [MC_CHI2] = enclose_chi2,
    [MC_INTERSECTION] = enclose_intersection,
    [MC_ARCCOS] = enclose_arccos,
    [MC_TANH] = enclose_tanh,
    [MC_WHITE] = enclose_white,
    [MC_FORM] = enclose_form,
    [MC_PRECOMPUTED] = enclose_external,
    [MC_USER] = enclose_external,
    [MC_SPECTRUM] = enclose_text,
    [MC_SUBSEQUENCE] = enclose_text,
    [MC_WEIGHTED_DEGREE] = enclose_text,
    [MC_WORDS] = enclose_text,
    [MC_TFIDF] = enclose_external,
    [MC_MEAN_MAP] = enclose_external,
    [MC_TANIMOTO] = enclose_tanimoto,
    [MC_ADDITIVE_CHI2] = enclose_additive_chi2,
    [MC_WENDLAND] = enclose_wendland,
    [MC_SINC] = enclose_sinc,
    [MC_BROWNIAN] = enclose_brownian,
    [MC_SPLINE] = enclose_spline,
    [MC_GIBBS] = enclose_gibbs,
    [MC_RBF_FORM] = enclose_rbf_form,
    [MC_POWER_DISTANCE] = enclose_conditional,
    [MC_LOG] = enclose_conditional,
    [MC_MULTIQUADRIC] = enclose_conditional,
    [MC_THIN_PLATE] = enclose_conditional,
};

mc_interval mc_enclose_atom(const mc_node *node, const mc_row_pair *p) {
    return atom_value[node->atom](node, p);
}
