/* shape.c: what can be said about a kernel from its expression alone.

   The diagonal k(x, x) is followed as an interval over all x of the domain: atoms give theirs, sums add, products
   multiply, and so on. Its upper end is the bound; [1, 1] is what normalised means. Ends are rounded outwards
   (interval.h), so 1 + 1e-17 is not taken for 1.

   The dimension is that of an explicit feature map: sums put maps beside each other, products multiply them, k^p takes
   the monomials of degree p. It is an upper bound on the rank of a Gram matrix, not always the least one. */
#include "base/sized.h"
#include "kernel/language/atoms.h"
#include "kernel/language/fold_numbers.h"
#include "kernel/language/node.h"
#include "kernel/proof/term.h"
#include "kernel/language/user_function.h"
#include <math.h>

typedef struct facts {
    bool stationary, isotropic, dot_product;
    mc_interval diagonal;
    double dimension; /* infinity: infinite or unknown; a double, so that products cannot overflow */
} facts;

static facts facts_of(const mc_node *node, int64_t d);

/* n over k, infinity beyond what a double holds exactly. */
static double binomial_coefficient(double n, double k) {
    double value = 1;
    k = fmin(k, n - k);
    for (double i = 1; i <= k && isfinite(value); i++) {
        value = value * (n - k + i) / i; /* whole at every step */
        if (value > 0x1p53)
            value = INFINITY;
    }
    return value;
}

/* Monomials of degree p in D variables. */
static double monomial_dimension(double D, double p) {
    if (!mc_is_whole(p) || D == 0)
        return D == 0 && p > 0 ? 0 : INFINITY;
    return isfinite(D) ? binomial_coefficient(D + p - 1, p) : INFINITY;
}

static double multiply_dimensions(double D, double E) {
    return D == 0 || E == 0 ? 0 : D * E;
}

static facts stationary_atom(const mc_node *node, int64_t d) {
    bool one_width =
        node->atom != MC_LAPLACIAN && node->atom != MC_PERIODIC && node->atom != MC_SINC && node->atom != MC_RBF_FORM;
    for (int i = 0; i < mc_atoms[node->atom].parameters; i++)
        for (int64_t j = 1; node->parameter[i].kind == MC_VALUE_VECTOR && j < node->parameter[i].columns; j++)
            one_width &= node->parameter[i].numbers[j] == node->parameter[i].numbers[0];
    return (facts){
        .stationary = true, .isotropic = one_width || d == 1, .diagonal = mc_iv_of(1, 1), .dimension = INFINITY};
}

static double columns_known(int64_t d) {
    return d > 0 ? (double)d : INFINITY;
}

static facts linear_facts(const mc_node *node, int64_t d) {
    (void)node;
    return (facts){.dot_product = true, .diagonal = mc_iv_of(0, INFINITY), .dimension = columns_known(d)};
}

static facts poly_facts(const mc_node *node, int64_t d) {
    const double p = node->parameter[0].number, c = node->parameter[1].number;
    const bool known = node->parameter[0].kind == MC_VALUE_NUMBER && node->parameter[1].kind == MC_VALUE_NUMBER;
    facts f = {.dot_product = true, .diagonal = mc_iv_of(-INFINITY, INFINITY), .dimension = INFINITY};
    if (known)
        f.diagonal = mc_iv_power(mc_iv_of(c, INFINITY), p);
    if (known && c >= 0)
        f.dimension =
            monomial_dimension(columns_known(d) + (c > 0), p); /* c > 0 adds the constant as one more variable */
    return f;
}

static facts cosine_facts(const mc_node *node, int64_t d) {
    (void)node;
    return (facts){.diagonal = mc_iv_of(0, 1), .dimension = columns_known(d)};
}

static facts intersection_facts(const mc_node *node, int64_t d) {
    (void)node, (void)d;
    return (facts){.diagonal = mc_iv_of(0, INFINITY), .dimension = INFINITY};
}

static facts chi2_facts(const mc_node *node, int64_t d) {
    (void)node, (void)d;
    return (facts){.diagonal = mc_iv_of(1, 1), .dimension = INFINITY};
}

/* Order 0 is 1 on the diagonal, but 1/2 at the zero vector. */
static facts arccos_facts(const mc_node *node, int64_t d) {
    (void)d;
    const bool zero = node->parameter[0].number == 0;
    return (facts){.diagonal = mc_iv_of(zero ? 0.5 : 0, zero ? 1 : INFINITY), .dimension = INFINITY};
}

static facts tanh_facts(const mc_node *node, int64_t d) {
    (void)d;
    const double a = node->parameter[0].number;
    const mc_interval c = mc_iv_tanh(mc_value_range(&node->parameter[1]));
    facts f = {.dot_product = true, .diagonal = mc_iv_of(-1, 1), .dimension = INFINITY};
    if (a >= 0) /* neither holds for a range */
        f.diagonal = mc_iv_max(f.diagonal, c);
    if (a <= 0)
        f.diagonal = mc_iv_min(f.diagonal, c);
    return f;
}

static facts form_facts(const mc_node *node, int64_t d) {
    (void)d;
    const mc_value *A = &node->parameter[0];
    const bool matrix = A->kind == MC_VALUE_MATRIX;
    return (facts){.diagonal = mc_iv_of(matrix ? A->low : -INFINITY, matrix && A->number == 0 ? 0 : INFINITY),
                   .dimension = matrix && A->number >= 0 ? A->number : INFINITY};
}

/* Of a matrix that is given nothing is known before it is read, and of a function only what the program vouches for. */
static facts external_facts(const mc_node *node, int64_t d) {
    (void)d;
    const bool positive = node->atom == MC_USER && mc_user_positive(node->parameter[0].user);
    return (facts){.diagonal = mc_iv_of(positive ? 0 : -INFINITY, INFINITY), .dimension = INFINITY};
}

/* A string has one part at least. */
static facts spectrum_facts(const mc_node *node, int64_t d) {
    (void)node, (void)d;
    return (facts){.diagonal = mc_iv_of(1, INFINITY), .dimension = INFINITY};
}

/* Centred k(x, x) is twice psi(|x|^2); otherwise the same everywhere. */
static facts conditional_facts(const mc_node *node, int64_t d) {
    (void)d;
    const bool centred = !mc_atom_is_conditional(node);
    const mc_interval peak = node->atom == MC_MULTIQUADRIC ? mc_iv_neg(mc_value_range(&node->parameter[0])) : mc_iv(0);
    return (facts){.stationary = !centred,
                   .isotropic = !centred,
                   .diagonal = centred ? mc_iv_of(peak.lo, INFINITY) : peak,
                   .dimension = INFINITY};
}

static facts (*const atom_facts[MC_ATOM_COUNT])(const mc_node *, int64_t) = {
    [MC_LINEAR] = linear_facts,
    [MC_POLY] = poly_facts,
    [MC_RBF] = stationary_atom,
    [MC_LAPLACIAN] = stationary_atom,
    [MC_EXPONENTIAL] = stationary_atom,
    [MC_MATERN] = stationary_atom,
    [MC_RQ] = stationary_atom,
    [MC_PERIODIC] = stationary_atom,
    [MC_COSINE] = cosine_facts,
    [MC_CHI2] = chi2_facts,
    [MC_INTERSECTION] = intersection_facts,
    [MC_ARCCOS] = arccos_facts,
    [MC_TANH] = tanh_facts,
    [MC_WHITE] = stationary_atom,
    [MC_FORM] = form_facts,
    [MC_PRECOMPUTED] = external_facts,
    [MC_USER] = external_facts,
    [MC_SPECTRUM] = spectrum_facts,
    [MC_TANIMOTO] = chi2_facts,
    [MC_ADDITIVE_CHI2] = intersection_facts,
    [MC_WENDLAND] = stationary_atom,
    [MC_SINC] = stationary_atom,
    [MC_BROWNIAN] = intersection_facts,
    [MC_SPLINE] = spectrum_facts,
    [MC_GIBBS] = chi2_facts,
    [MC_RBF_FORM] = stationary_atom,
    [MC_POWER_DISTANCE] = conditional_facts,
    [MC_LOG] = conditional_facts,
    [MC_MULTIQUADRIC] = conditional_facts,
    [MC_THIN_PLATE] = conditional_facts,
    [MC_SUBSEQUENCE] = intersection_facts,
    [MC_WEIGHTED_DEGREE] = intersection_facts,
    [MC_WORDS] = intersection_facts,
    [MC_TFIDF] = intersection_facts,
    [MC_MEAN_MAP] = external_facts,
};

static facts number_facts(double c) {
    return (facts){true, true, true, mc_iv(c), c < 0 ? INFINITY : c > 0};
}

static facts sum_or_product_facts(const mc_node *node, int64_t d) {
    const bool sum = node->kind == MC_SUM;
    facts all = number_facts(sum ? 0 : 1);
    for (int i = 0; i < node->children; i++) {
        const facts f = facts_of(node->child[i], d);
        all.stationary &= f.stationary;
        all.isotropic &= f.isotropic;
        all.dot_product &= f.dot_product;
        all.diagonal = sum ? mc_iv_add(all.diagonal, f.diagonal) : mc_iv_mul(all.diagonal, f.diagonal);
        all.dimension = sum ? all.dimension + f.dimension : multiply_dimensions(all.dimension, f.dimension);
    }
    return all;
}

static facts power_facts(const mc_node *node, int64_t d) {
    facts f = facts_of(node->child[0], d);
    f.diagonal = mc_iv_power(f.diagonal, node->number);
    f.dimension = monomial_dimension(f.dimension, node->number);
    return f;
}

static facts exp_facts(const mc_node *node, int64_t d) {
    facts f = facts_of(node->child[0], d);
    f.diagonal = mc_iv_exp(f.diagonal);
    f.dimension = INFINITY;
    return f;
}

static facts series_facts(const mc_node *node, int64_t d) {
    facts f = facts_of(node->child[0], d);
    f.diagonal = mc_iv_series(node->series, f.diagonal);
    f.dimension = INFINITY;
    return f;
}

static facts normalize_facts(const mc_node *node, int64_t d) {
    facts f = facts_of(node->child[0], d);
    const mc_interval r = f.diagonal;
    f.dot_product = false;
    f.diagonal = mc_iv_of(r.lo > 0 ? 1 : r.lo >= 0 ? 0 : -1, r.hi < 0 ? -1 : r.hi <= 0 ? 0 : 1);
    return f;
}

static facts facts_of_weigh(const mc_node *node, int64_t d) {
    const facts inside = facts_of(node->child[0], d);
    const mc_interval f2 = mc_iv_square(mc_function_range(node->function));
    return (facts){.diagonal = mc_iv_mul(f2, inside.diagonal), .dimension = inside.dimension};
}

/* Some of the columns: what holds for |x - z| or <x, z> of those does not hold for the whole. */
static facts columns_facts(const mc_node *node, int64_t d) {
    facts f = facts_of(node->child[0], node->columns);
    f.isotropic &= node->columns == d;
    f.dot_product &= node->columns == d;
    return f;
}

static facts facts_of(const mc_node *node, int64_t d) {
    switch (node->kind) {
    case MC_NUMBER: return number_facts(node->number);
    case MC_ATOM: return atom_facts[node->atom](node, d);
    case MC_SUM:
    case MC_PRODUCT: return sum_or_product_facts(node, d);
    case MC_POWER: return power_facts(node, d);
    case MC_EXP: return exp_facts(node, d);
    case MC_SERIES: return series_facts(node, d);
    case MC_NORMALIZE: return normalize_facts(node, d);
    case MC_WEIGH: return facts_of_weigh(node, d);
    case MC_COLUMNS: return columns_facts(node, d);
    }
    return (facts){.diagonal = mc_iv_of(-INFINITY, INFINITY), .dimension = INFINITY};
}

mercer_shape mc_shape_of_node(const mc_node *node, int64_t d) {
    const facts f = facts_of(node, d);
    const bool bounded = f.diagonal.hi < INFINITY;
    return (mercer_shape){
        .stationary = f.stationary,
        .isotropic = f.isotropic,
        .dot_product = f.dot_product,
        .normalised = f.diagonal.lo == 1 && f.diagonal.hi == 1,
        .bounded = bounded,
        .bound = bounded ? f.diagonal.hi : INFINITY,
        .dimension = f.dimension <= 0x1p53 ? (int64_t)f.dimension : -1,
    };
}

bool mercer_kernel_shape(const mercer_kernel *kernel, int64_t d, mercer_shape *out) {
    if (!kernel || !out || mc_sized_check(NULL, "mercer_shape", out))
        return false;
    const mercer_shape shape = mc_shape_of_node(mc_kernel_shown(kernel), d > 0 ? d : kernel->d);
    mc_sized_write(&shape, sizeof shape, out);
    return true;
}
