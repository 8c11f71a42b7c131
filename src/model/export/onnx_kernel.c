/* onnx_kernel.c: a kernel expression as nodes of an ONNX graph, in double: k(x, z) of all rows x against all centres z
   at once, or k(x, x); atoms over the sums of onnx_sums.c, and what is put together from them. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/kernel.h"
#include "model/export/onnx_sums.h"
#include <math.h>

static const double pi = 3.14159265358979323846;

static const mc_node linear = {.kind = MC_ATOM, .atom = MC_LINEAR};

static mercer_status onnx_kernel_node(const mc_onnx_view *v, const mc_node *node, int *out);

/* ---- Functions of parameters, shares of columns ---- */

static double identity_value(double v) {
    return v;
}

static double inverse_value(double v) {
    return 1 / v;
}

static int onnx_absolute_term(mc_onnx *g, int x, int z, int p) {
    return mc_onnx_binary(g, "Mul", mc_onnx_unary(g, "Abs", mc_onnx_binary(g, "Sub", x, z)), p);
}

static int onnx_squared_term(mc_onnx *g, int x, int z, int p) {
    const int u = mc_onnx_binary(g, "Mul", mc_onnx_binary(g, "Sub", x, z), p);
    return mc_onnx_binary(g, "Mul", u, u);
}

/* x and z in periods. */
static int onnx_sine_term(mc_onnx *g, int x, int z, int p) {
    const int turns = mc_onnx_binary(g, "Mul", mc_onnx_binary(g, "Sub", x, z), mc_onnx_number(g, pi));
    const int s = mc_onnx_binary(g, "Mul", mc_onnx_unary(g, "Sin", turns), p);
    return mc_onnx_binary(g, "Mul", s, s);
}

static int onnx_minimum_term(mc_onnx *g, int x, int z, int p) {
    (void)p;
    return mc_onnx_binary(g, "Min", x, z);
}

static int onnx_chi2_term(mc_onnx *g, int x, int z, int p) {
    const int zero = mc_onnx_number(g, 0), u = mc_onnx_binary(g, "Sub", x, z), total = mc_onnx_binary(g, "Add", x, z);
    const int share = mc_onnx_binary(g, "Div", mc_onnx_binary(g, "Mul", u, u), total);
    return mc_onnx_binary(g, "Mul", mc_onnx_choose(g, mc_onnx_binary(g, "Equal", total, zero), zero, share), p);
}

static int onnx_unequal_term(mc_onnx *g, int x, int z, int p) {
    (void)p;
    return mc_onnx_cast(g, mc_onnx_unary(g, "Not", mc_onnx_binary(g, "Equal", x, z)), MC_ONNX_DOUBLE);
}

/* ---- Atoms ---- */

static int minus_exp(const mc_onnx_view *v, int s) {
    return onnx_unary(v, "Exp", onnx_unary(v, "Neg", s));
}

static int onnx_matern(const mc_onnx_view *v, const mc_value *p) {
    const double nu = p[0].number;
    const int s = nu == 0.5 ? mc_onnx_by_columns(v, onnx_squared_term, &p[1], inverse_value)
                            : mc_onnx_scaled_distance(v, &p[1], inverse_value);
    const int q = onnx_unary(v, "Sqrt", onnx_scaled(v, 2 * nu, s)), fall = minus_exp(v, q);
    if (nu == 0.5)
        return fall;
    const int front = onnx_shifted(v, 1, q);
    return onnx_binary(
        v, "Mul", nu == 1.5 ? front : onnx_binary(v, "Add", front, onnx_scaled(v, 1.0 / 3, onnx_square(v, q))), fall);
}

static int onnx_rq(const mc_onnx_view *v, const mc_value *p) {
    const double alpha = p[0].number;
    return onnx_binary(
        v, "Pow", onnx_shifted(v, 1, onnx_scaled(v, 1 / (2 * alpha), mc_onnx_scaled_distance(v, &p[1], inverse_value))),
        onnx_number(v, -alpha));
}

static int onnx_periodic(const mc_onnx_view *v, const mc_value *p) {
    if (!v->Z)
        return onnx_number(v, 1);
    double *rate = mc_onnx_alloc_constants(v, 2 * v->d), *width = rate ? rate + v->d : NULL;
    if (!rate)
        return 0;
    mc_onnx_spread_parameter(&p[0], v->d, inverse_value, rate);
    mc_onnx_spread_parameter(&p[1], v->d, inverse_value, width);
    const int x = onnx_binary(v, "Mul", v->x, mc_onnx_row(v->g, rate, v->d));
    const int s = mc_onnx_over_columns(v, onnx_sine_term, x, mc_onnx_centres(v, NULL, rate, 1), width);
    mc_free(rate);
    return onnx_unary(v, "Exp", onnx_scaled(v, -2, s));
}

/* value / sqrt(a b), 0 where that has no real value; b: k(z, z) of the centres. On the diagonal a / |a|. */
static int onnx_normalised_quotient(const mc_onnx_view *v, int value, int a, double *b) {
    if (!v->Z)
        return onnx_unary(v, "Sign", a);
    double *root = mc_onnx_alloc_constants(v, v->m);
    for (int64_t i = 0; root && i < v->m; i++) {
        root[i] = sqrt(fabs(b[i]));
        b[i] = b[i] > 0 ? 1 : b[i] < 0 ? -1 : 0;
    }
    const int below = root ? mc_onnx_row(v->g, root, v->m) : 0;
    mc_free(root);
    const int share =
        onnx_binary(v, "Div", value, onnx_binary(v, "Mul", onnx_unary(v, "Sqrt", onnx_unary(v, "Abs", a)), below));
    const int alike = onnx_binary(v, "Mul", onnx_unary(v, "Sign", a), mc_onnx_row(v->g, b, v->m)),
              zero = onnx_number(v, 0);
    return mc_onnx_choose(v->g, onnx_binary(v, "Greater", alike, zero), share, zero);
}

static mc_onnx_view diagonal_of(const mc_onnx_view *v) {
    return (mc_onnx_view){.g = v->g, .x = v->x, .d = v->d};
}

/* k(z, z) of the centres by the reference evaluator. */
static double *own_values(const mc_onnx_view *v, const mc_node *node) {
    double *out = mc_onnx_alloc_constants(v, v->m);
    for (int64_t i = 0; out && v->Z && i < v->m; i++)
        out[i] = mc_eval_kernel(node, v->Z + i * v->d, v->Z + i * v->d, v->d);
    return out;
}

static mercer_status onnx_normalize(const mc_onnx_view *v, const mc_node *child, int *out) {
    const mc_onnx_view own = diagonal_of(v);
    int value = 0, a = 0;
    MC_TRY(onnx_kernel_node(&own, child, &a));
    if (v->Z)
        MC_TRY(onnx_kernel_node(v, child, &value));
    double *b = own_values(v, child);
    *out = b ? onnx_normalised_quotient(v, value, a, b) : 0;
    mc_free(b);
    return v->g->status;
}

/* The centres of length one (zero stays zero), d x m, all times sign. */
static int onnx_unit_centres(const mc_onnx_view *v, double sign, const double *length) {
    double *table = mc_onnx_alloc_constants(v, v->d * v->m);
    for (int64_t i = 0; table && i < v->m; i++)
        for (int64_t j = 0; j < v->d; j++)
            table[j * v->m + i] = length[i] > 0 ? sign * v->Z[i * v->d + j] / length[i] : 0;
    const int value = table ? mc_onnx_table(v->g, table, v->d, v->m) : 0;
    mc_free(table);
    return value;
}

/* The angle t = 2 h between unit vectors with |u - w| = 2 sin h, |u + w| = 2 cos h. Runtimes have the arc tangent in
   float only: h0 from it is right to 1e-7, and sin(h - h0) = sin h cos h0 - cos h sin h0 is then h - h0 to 1e-21. A
   zero vector stands at a right angle. */
static int onnx_angle(const mc_onnx_view *v, int x_norm, int norms, const double *length) {
    const int zero = onnx_number(v, 0);
    double *one = mc_onnx_alloc_constants(v, v->d);
    if (!one)
        return 0;
    for (int64_t j = 0; j < v->d; j++)
        one[j] = 1;
    const int u =
        mc_onnx_choose(v->g, onnx_binary(v, "Greater", x_norm, zero), onnx_binary(v, "Div", v->x, x_norm), zero);
    const int s = onnx_scaled(
        v, 0.5,
        onnx_unary(v, "Sqrt", mc_onnx_over_columns(v, onnx_squared_term, u, onnx_unit_centres(v, 1, length), one)));
    const int c = onnx_scaled(
        v, 0.5,
        onnx_unary(v, "Sqrt", mc_onnx_over_columns(v, onnx_squared_term, u, onnx_unit_centres(v, -1, length), one)));
    mc_free(one);
    const int rough = onnx_unary(v, "Atan", mc_onnx_cast(v->g, onnx_binary(v, "Div", s, c), MC_ONNX_FLOAT));
    const int h = mc_onnx_cast(v->g, rough, MC_ONNX_DOUBLE);
    const int step = onnx_binary(v, "Sub", onnx_binary(v, "Mul", s, onnx_unary(v, "Cos", h)),
                                 onnx_binary(v, "Mul", c, onnx_unary(v, "Sin", h)));
    return mc_onnx_choose(v->g, onnx_binary(v, "Greater", norms, zero),
                          onnx_scaled(v, 2, onnx_binary(v, "Add", h, step)), onnx_number(v, pi / 2));
}

static int arccos_of(const mc_onnx_view *v, double order, int t, int norms) {
    const int s = onnx_unary(v, "Sin", t), c = onnx_unary(v, "Cos", t),
              rest = onnx_shifted(v, pi, onnx_unary(v, "Neg", t));
    if (order == 0)
        return onnx_scaled(v, 1 / pi, rest);
    if (order == 1)
        return onnx_scaled(v, 1 / pi,
                           onnx_binary(v, "Mul", norms, onnx_binary(v, "Add", s, onnx_binary(v, "Mul", rest, c))));
    const int left = onnx_scaled(v, 3, onnx_binary(v, "Mul", s, c)),
              right = onnx_binary(v, "Mul", rest, onnx_shifted(v, 1, onnx_scaled(v, 2, onnx_square(v, c))));
    return onnx_scaled(v, 1 / pi, onnx_binary(v, "Mul", onnx_square(v, norms), onnx_binary(v, "Add", left, right)));
}

static int onnx_arccos(const mc_onnx_view *v, double order) {
    const int own = row_sum(v, onnx_square(v, v->x)), x_norm = onnx_unary(v, "Sqrt", own);
    if (!v->Z)
        return order == 0   ? onnx_shifted(v, 0.5, onnx_scaled(v, 0.5, onnx_unary(v, "Sign", own)))
               : order == 1 ? own
                            : onnx_scaled(v, 3, onnx_square(v, own));
    double *length = own_values(v, &linear);
    if (!length)
        return 0;
    for (int64_t i = 0; i < v->m; i++)
        length[i] = sqrt(length[i]);
    const int norms = onnx_binary(v, "Mul", x_norm, mc_onnx_row(v->g, length, v->m));
    const int value = arccos_of(v, order, onnx_angle(v, x_norm, norms, length), norms);
    mc_free(length);
    return value;
}

/* <x, A z>, A read from its lower triangle as the reference evaluator does. */
static int onnx_form(const mc_onnx_view *v, const mc_value *A) {
    double *whole = mc_onnx_alloc_constants(v, v->d * v->d);
    if (!whole)
        return 0;
    for (int64_t i = 0; i < v->d; i++)
        for (int64_t j = 0; j < v->d; j++)
            whole[i * v->d + j] = A->numbers[(i > j ? i : j) * A->columns + (i > j ? j : i)];
    const int image = mc_onnx_product(v->g, v->x, mc_onnx_table(v->g, whole, v->d, v->d));
    mc_free(whole);
    return v->Z ? mc_onnx_product(v->g, image, mc_onnx_centres(v, NULL, NULL, 1))
                : row_sum(v, onnx_binary(v, "Mul", image, v->x));
}

static mercer_status refuse_onnx_atom(mercer_ctx *ctx, const mc_node *node) {
    switch (node->atom) {
    case MC_TANIMOTO:
    case MC_ADDITIVE_CHI2:
    case MC_WENDLAND:
    case MC_SINC:
    case MC_BROWNIAN:
    case MC_SPLINE:
    case MC_GIBBS:
    case MC_RBF_FORM:
    case MC_POWER_DISTANCE:
    case MC_LOG:
    case MC_MULTIQUADRIC:
    case MC_THIN_PLATE:
        return mc_fail(ctx, MERCER_INVALID, "export: %s is not among the kernels that are written as ONNX graphs",
                       mc_atoms[node->atom].name);
    default:
        return mc_fail(
            ctx, MERCER_INVALID,
            "export: values of %s do not follow from the columns alone, so an ONNX graph cannot compute them",
            mc_atoms[node->atom].name);
    }
}

static mercer_status onnx_atom(const mc_onnx_view *v, const mc_node *node, int *out) {
    const mc_value *p = node->parameter;
    switch (node->atom) {
    case MC_LINEAR: *out = mc_onnx_dot(v); break;
    case MC_POLY:
        *out = onnx_binary(v, "Pow", onnx_shifted(v, p[1].number, onnx_scaled(v, p[2].number, mc_onnx_dot(v))),
                           onnx_number(v, p[0].number));
        break;
    case MC_RBF: *out = minus_exp(v, mc_onnx_scaled_distance(v, &p[0], sqrt)); break;
    case MC_LAPLACIAN: *out = minus_exp(v, mc_onnx_by_columns(v, onnx_absolute_term, &p[0], identity_value)); break;
    case MC_EXPONENTIAL:
        *out = minus_exp(v, onnx_unary(v, "Sqrt", mc_onnx_by_columns(v, onnx_squared_term, &p[0], identity_value)));
        break;
    case MC_MATERN:
        if (!mc_matern_is_elementary(p[0].number))
            return mc_fail(v->g->ctx, MERCER_INVALID,
                           "export: matern(nu=%g) needs Bessel functions, which ONNX has not; take nu 0.5, 1.5 or 2.5",
                           p[0].number);
        *out = onnx_matern(v, p);
        break;
    case MC_RQ: *out = onnx_rq(v, p); break;
    case MC_PERIODIC: *out = onnx_periodic(v, p); break;
    case MC_COSINE: return onnx_normalize(v, &linear, out);
    case MC_CHI2: *out = minus_exp(v, mc_onnx_by_columns(v, onnx_chi2_term, &p[0], identity_value)); break;
    case MC_INTERSECTION:
        *out = v->Z ? mc_onnx_by_columns(v, onnx_minimum_term, NULL, identity_value) : row_sum(v, v->x);
        break;
    case MC_ARCCOS: *out = onnx_arccos(v, p[0].number); break;
    case MC_TANH:
        *out = onnx_unary(v, "Tanh", onnx_shifted(v, p[1].number, onnx_scaled(v, p[0].number, mc_onnx_dot(v))));
        break;
    case MC_WHITE:
        *out = mc_onnx_cast(
            v->g,
            onnx_binary(v, "Equal", mc_onnx_by_columns(v, onnx_unequal_term, NULL, identity_value), onnx_number(v, 0)),
            MC_ONNX_DOUBLE);
        break;
    case MC_FORM: *out = onnx_form(v, &p[0]); break;
    default: return refuse_onnx_atom(v->g->ctx, node);
    }
    return v->g->status;
}

/* ---- The function of weigh ---- */

static const char *const operator_of[] = {
    [MC_F_NEGATE] = "Neg", [MC_F_ADD] = "Add",   [MC_F_SUBTRACT] = "Sub", [MC_F_MULTIPLY] = "Mul",
    [MC_F_DIVIDE] = "Div", [MC_F_POWER] = "Pow", [MC_F_EXP] = "Exp",      [MC_F_LOG] = "Log",
    [MC_F_SQRT] = "Sqrt",  [MC_F_SIN] = "Sin",   [MC_F_COS] = "Cos",      [MC_F_TANH] = "Tanh",
    [MC_F_ABS] = "Abs"};

/* f(x): rows x 1, or a number. */
static int onnx_function(const mc_onnx_view *v, const mc_function *f) {
    const int norm2 = f->kind == MC_F_NORM || f->kind == MC_F_NORM2 ? row_sum(v, onnx_square(v, v->x)) : 0;
    switch (f->kind) {
    case MC_F_NUMBER: return onnx_number(v, f->number);
    case MC_F_NORM2: return norm2;
    case MC_F_NORM: return onnx_unary(v, "Sqrt", norm2);
    case MC_F_COLUMN: return mc_onnx_gather(v->g, v->x, mc_onnx_integers(v->g, &f->column, 1), 1);
    default: break;
    }
    const int a = onnx_function(v, f->child[0]);
    return f->child[1] ? onnx_binary(v, operator_of[f->kind], a, onnx_function(v, f->child[1]))
                       : onnx_unary(v, operator_of[f->kind], a);
}

static mercer_status onnx_weigh(const mc_onnx_view *v, const mc_node *node, int *out) {
    int child = 0;
    MC_TRY(onnx_kernel_node(v, node->child[0], &child));
    const int f = onnx_function(v, node->function);
    if (!v->Z) {
        *out = onnx_binary(v, "Mul", onnx_square(v, f), child);
        return v->g->status;
    }
    double *of_centres = mc_onnx_alloc_constants(v, v->m);
    for (int64_t i = 0; of_centres && i < v->m; i++)
        of_centres[i] = mc_function_eval(node->function, v->Z + i * v->d, v->d);
    *out = of_centres ? onnx_binary(v, "Mul", onnx_binary(v, "Mul", f, mc_onnx_row(v->g, of_centres, v->m)), child) : 0;
    mc_free(of_centres);
    return v->g->status;
}

/* ---- Nodes ---- */

static mercer_status onnx_sum_or_product(const mc_onnx_view *v, const mc_node *node, int *out) {
    MC_TRY(onnx_kernel_node(v, node->child[0], out));
    for (int i = 1; i < node->children; i++) {
        int next = 0;
        MC_TRY(onnx_kernel_node(v, node->child[i], &next));
        *out = onnx_binary(v, node->kind == MC_SUM ? "Add" : "Mul", *out, next);
    }
    return v->g->status;
}

static mercer_status onnx_columns(const mc_onnx_view *v, const mc_node *node, int *out) {
    const int64_t d = node->columns;
    double *Z = v->Z ? mc_onnx_alloc_constants(v, v->m * d) : NULL;
    MC_TRY(v->g->status);
    for (int64_t i = 0; Z && i < v->m; i++)
        for (int64_t j = 0; j < d; j++)
            Z[i * d + j] = v->Z[i * v->d + node->column[j]];
    const int x = mc_onnx_gather(v->g, v->x, mc_onnx_integers(v->g, node->column, d), 1);
    const mercer_status status =
        onnx_kernel_node(&(mc_onnx_view){.g = v->g, .x = x, .Z = Z, .m = v->m, .d = d}, node->child[0], out);
    mc_free(Z);
    return status;
}

/* ONNX has no Bessel function. */
static mercer_status onnx_series(const mc_onnx_view *v, const mc_node *node, int *out) {
    int child = 0;
    if (node->series == MC_BESSEL_I0)
        return mc_fail(v->g->ctx, MERCER_INVALID,
                       "export: ONNX has no operator for bessel_i0; write C code instead, or the first terms, "
                       "series(\"bessel_i0\", ..., terms=12)");
    MC_TRY(onnx_kernel_node(v, node->child[0], &child));
    if (node->series == MC_ARCSIN) {
        child = onnx_binary(v, "Max", onnx_number(v, -1), onnx_binary(v, "Min", onnx_number(v, 1), child));
        *out = onnx_unary(v, "Asin", child);
    } else
        *out = onnx_unary(v, "Neg", onnx_unary(v, "Log", onnx_binary(v, "Sub", onnx_number(v, 1), child)));
    return MERCER_OK;
}

static mercer_status onnx_kernel_node(const mc_onnx_view *v, const mc_node *node, int *out) {
    switch (node->kind) {
    case MC_NUMBER: *out = onnx_number(v, node->number); return MERCER_OK;
    case MC_ATOM: return onnx_atom(v, node, out);
    case MC_SUM:
    case MC_PRODUCT: return onnx_sum_or_product(v, node, out);
    case MC_NORMALIZE: return onnx_normalize(v, node->child[0], out);
    case MC_WEIGH: return onnx_weigh(v, node, out);
    case MC_COLUMNS: return onnx_columns(v, node, out);
    case MC_SERIES: return onnx_series(v, node, out);
    case MC_POWER:
    case MC_EXP: break;
    }
    int child = 0;
    MC_TRY(onnx_kernel_node(v, node->child[0], &child));
    *out =
        node->kind == MC_EXP ? onnx_unary(v, "Exp", child) : onnx_binary(v, "Pow", child, onnx_number(v, node->number));
    return MERCER_OK;
}

static bool is_atom(const mc_node *node) {
    return node->kind == MC_ATOM;
}

mercer_status mc_onnx_kernel(mc_onnx *g, const mc_node *root, int x, const double *Z, int64_t m, int64_t d, int *out) {
    const mc_onnx_view v = {.g = g, .x = x, .Z = Z, .m = m, .d = d};
    MC_TRY(onnx_kernel_node(&v, root, out));
    if (!mc_node_any(root, is_atom))
        *out =
            onnx_binary(&v, "Add", *out, mc_onnx_zeros(&v)); /* a constant kernel: as many of it as there are pairs */
    return g->status;
}

mercer_status mc_onnx_diagonal(mc_onnx *g, const mc_node *root, int x, int64_t d, int *out) {
    const mc_onnx_view v = {.g = g, .x = x, .d = d};
    return onnx_kernel_node(&v, root, out);
}
