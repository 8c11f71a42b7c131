/* c_atoms.c: an atom as the body of a C function of x and z: the formula of kernel/evaluate/eval.c for d columns. */
#include "base/print.h"
#include "base/status.h"
#include "kernel/evaluate/eval_conditional.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/atoms.h"
#include "kernel/language/kernel.h"
#include "model/export/c_writer.h"
#include <math.h>

/* ---- Parameters ---- */

static const double *numbers_of(const mc_value *p) {
    return p->kind == MC_VALUE_NUMBER ? &p->number : p->numbers;
}

/* A parameter that may differ by column is a table p1 or p2; inside the loop over j it is P1 or P2. */
static void write_parameter(mc_c_writer *w, const mc_value *p, int place) {
    char declaration[64];
    const int64_t count = p->kind == MC_VALUE_VECTOR ? p->columns : 1;
    mc_print(declaration, sizeof declaration, "    static const double p%d[%lld]", place, (long long)count);
    mc_c_table(w->text, declaration, numbers_of(p), 1, count, false);
}

static const char *element_suffix(const mc_value *p) {
    return p->kind == MC_VALUE_VECTOR ? "[j]" : "[0]";
}

/* ---- Sums over columns ---- */

/* s <- sum over the columns of a term in x[j], z[j] and u = x[j] - z[j]. */
static void write_sum(mc_c_writer *w, int64_t d, const char *name, const char *term) {
    mc_text_add(w->text,
                "    double %s = 0;\n    for (int j = 0; j < %lld; j++) {\n        const double u = x[j] - z[j];\n     "
                "   (void)u;\n"
                "        %s += %s;\n    }\n",
                name, (long long)d, name, term);
}

static void write_dot(mc_c_writer *w, int64_t d) {
    write_sum(w, d, "s", "x[j] * z[j]");
}

/* Relative to the largest of their numbers, so that no square leaves the range of a double. */
static void write_lengths(mc_c_writer *w, int64_t d) {
    mc_text_add(w->text, "    const double a = largest(x, %lld), b = largest(z, %lld);\n", (long long)d, (long long)d);
    write_sum(w, d, "xx", "(x[j] / a) * (x[j] / a)");
    write_sum(w, d, "zz", "(z[j] / b) * (z[j] / b)");
}

static void write_rbf_like(mc_c_writer *w, const mc_value *p, int64_t d, const char *term, const char *result) {
    char filled[96];
    write_parameter(w, p, 1);
    mc_print(filled, sizeof filled, term, element_suffix(p), element_suffix(p));
    write_sum(w, d, "s", filled);
    mc_text_add(w->text, "    return %s;\n", result);
}

/* s <- sum (u / length)^2 */
static void write_scaled_square(mc_c_writer *w, const mc_value *length, int64_t d) {
    char term[64];
    write_parameter(w, length, 1);
    mc_print(term, sizeof term, "(u / p1%s) * (u / p1%s)", element_suffix(length), element_suffix(length));
    write_sum(w, d, "s", term);
}

static void write_wendland(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    const double k = p[0].number, l = floor(p[1].number / 2) + k + 1;
    write_scaled_square(w, &p[2], d);
    mc_text_add(w->text,
                "    const double q = sqrt(s), t = q < 1 ? 1 - q : 0;\n"
                "    return pow(t, %.17g) * (1 + q * (%.17g + %.17g * q));\n",
                l + k,
                k == 0   ? 0
                : k == 1 ? l + 1
                         : l + 2,
                k == 2 ? ((l + 4) * l + 3) / 3 : 0);
}

static void write_sinc(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    write_parameter(w, &p[0], 1);
    mc_text_add(w->text,
                "    double s = 1;\n    for (int j = 0; j < %lld; j++) {\n"
                "        const double t = (x[j] - z[j]) / p1%s;\n"
                "        s *= t == 0 ? 1 : sin(3.14159265358979323846 * fmod(t, 2)) / (3.14159265358979323846 * t);\n"
                "    }\n    return s;\n",
                (long long)d, element_suffix(&p[0]));
}

static void write_spline(mc_c_writer *w, const mc_node *node, int64_t d) {
    (void)node;
    mc_text_add(w->text,
                "    double s = 1;\n    for (int j = 0; j < %lld; j++) {\n"
                "        const double a = fmin(x[j], z[j]), b = fmax(x[j], z[j]);\n"
                "        s *= 1 + a * b + a * a * (3 * b - a) / 6;\n    }\n    return s;\n",
                (long long)d);
}

static void write_brownian(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    write_sum(w, d, "s", "u * u");
    mc_text_add(w->text, "    return (pow(norm2(x, %lld), %.17g) + pow(norm2(z, %lld), %.17g) - pow(s, %.17g)) / 2;\n",
                (long long)d, p[0].number, (long long)d, p[0].number, p[0].number);
}

/* psi of the squared distance q[i], as kernel/evaluate/eval_conditional.c has it. */
static void write_psi(mc_c_writer *w, const mc_node *node) {
    const mc_value *p = node->parameter;
    mc_text_add(w->text, "    for (int i = 0; i < 3; i++)\n        psi[i] = ");
    if (node->atom == MC_POWER_DISTANCE)
        mc_text_add(w->text, "pow(q[i], %.17g);\n", p[0].number / 2);
    else if (node->atom == MC_LOG)
        mc_text_add(w->text, "log1p(pow(sqrt(q[i]) / %.17g, %.17g));\n", p[1].number, p[0].number);
    else if (node->atom == MC_MULTIQUADRIC)
        mc_text_add(w->text, "q[i] / (%.17g + sqrt(%.17g * %.17g + q[i]));\n", p[0].number, p[0].number, p[0].number);
    else
        mc_text_add(w->text, "q[i] > 0 ? -0.5 * q[i] * log(q[i]) : 0;\n");
}

static void write_conditional(mc_c_writer *w, const mc_node *node, int64_t d) {
    write_sum(w, d, "s", "u * u");
    mc_text_add(w->text, "    const double q[] = {norm2(x, %lld), norm2(z, %lld), s};\n    double psi[3];\n",
                (long long)d, (long long)d);
    write_psi(w, node);
    if (mc_atom_is_centred(node))
        mc_text_add(w->text, "    return psi[0] + psi[1] - psi[2];\n");
    else
        mc_text_add(w->text, "    return %.17g - psi[2];\n", mc_conditional_peak(node));
}

static void write_tanimoto(mc_c_writer *w, const mc_node *node, int64_t d) {
    (void)node;
    write_sum(w, d, "s", "fmin(x[j], z[j])");
    write_sum(w, d, "most", "fmax(x[j], z[j])");
    mc_text_add(w->text, "    return most == 0 ? 1 : s / most;\n");
}

static void write_rbf_form(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *A = &node->parameter[0];
    char declaration[64];
    mc_print(declaration, sizeof declaration, "    static const double A[%lld]", (long long)(d * d));
    mc_c_table(w->text, declaration, A->numbers, 1, d * d, false);
    mc_text_add(w->text,
                "    double s = 0;\n    for (int i = 0; i < %lld; i++)\n        for (int j = 0; j < %lld; j++)\n"
                "            s += A[i * %lld + j] * ((x[i] - z[i]) * (x[j] - z[j]));\n    return exp(-s);\n",
                (long long)d, (long long)d, (long long)d);
}

static void write_matern(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    static const char *const front[] = {"1", "1 + q", "1 + q + q * q / 3"};
    write_scaled_square(w, &p[1], d);
    mc_text_add(w->text, "    const double q = sqrt(%.17g * s);\n    return q > 800 ? 0 : (%s) * exp(-q);\n",
                2 * p[0].number,
                front[p[0].number == 0.5   ? 0
                      : p[0].number == 1.5 ? 1
                                           : 2]);
}

static void write_periodic(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    char term[160];
    write_parameter(w, &p[0], 1);
    write_parameter(w, &p[1], 2);
    mc_print(term, sizeof term, "pow(sin(3.14159265358979323846 * (u / p1%s)) / p2%s, 2)", element_suffix(&p[0]),
             element_suffix(&p[1]));
    write_sum(w, d, "s", term);
    mc_text_add(w->text, "    return exp(-2 * s);\n");
}

static void write_arccos(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    static const char *const value[] = {
        "(pi - t) / pi", "norms * (sin(t) + (pi - t) * cos(t)) / pi",
        "norms * norms * (3 * sin(t) * cos(t) + (pi - t) * (1 + 2 * cos(t) * cos(t))) / pi"};
    write_lengths(w, d);
    mc_text_add(
        w->text,
        "    const double pi = 3.14159265358979323846, nx = a * sqrt(xx), nz = b * sqrt(zz), norms = nx * nz;\n"
        "    double minus = 0, plus = 0;\n    for (int j = 0; norms > 0 && j < %lld; j++) {\n"
        "        const double p = x[j] / nx, q = z[j] / nz;\n        minus += (p - q) * (p - q);\n        plus += (p + "
        "q) * (p + q);\n"
        "    }\n    const double t = norms > 0 ? 2 * atan2(sqrt(minus), sqrt(plus)) : pi / 2;\n    return %s;\n",
        (long long)d, value[(int)p[0].number]);
}

static void write_form(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *A = &node->parameter[0];
    char declaration[64];
    mc_print(declaration, sizeof declaration, "    static const double A[%lld]", (long long)(d * d));
    mc_c_table(w->text, declaration, A->numbers, 1, d * d, false);
    mc_text_add(
        w->text,
        "    double s = 0;\n    for (int i = 0; i < %lld; i++) {\n        s += A[i * %lld + i] * (x[i] * z[i]);\n"
        "        for (int j = 0; j < i; j++)\n            s += A[i * %lld + j] * (x[i] * z[j] + x[j] * z[i]);\n    }\n "
        "   return s;\n",
        (long long)d, (long long)d, (long long)d);
}

static void write_linear(mc_c_writer *w, const mc_node *node, int64_t d) {
    (void)node;
    write_dot(w, d);
    mc_text_add(w->text, "    return s;\n");
}

static void write_poly(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    write_dot(w, d);
    mc_text_add(w->text, "    return pow(%.17g * s + %.17g, %.17g);\n", p[2].number, p[1].number, p[0].number);
}

static void write_rbf(mc_c_writer *w, const mc_node *node, int64_t d) {
    write_rbf_like(w, node->parameter, d, "p1%s * (u * u)", "exp(-s)");
}

static void write_laplacian(mc_c_writer *w, const mc_node *node, int64_t d) {
    write_rbf_like(w, node->parameter, d, "p1%s * fabs(u)", "exp(-s)");
}

static void write_exponential(mc_c_writer *w, const mc_node *node, int64_t d) {
    write_rbf_like(w, node->parameter, d, "(p1%s * u) * (p1%s * u)", "exp(-sqrt(s))");
}

static void write_rq(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    write_scaled_square(w, &p[1], d);
    mc_text_add(w->text, "    return exp(-%.17g * log1p(s / %.17g));\n", p[0].number, 2 * p[0].number);
}

static void write_cosine(mc_c_writer *w, const mc_node *node, int64_t d) {
    (void)node;
    write_lengths(w, d);
    write_sum(w, d, "s", "(x[j] / a) * (z[j] / b)");
    mc_text_add(w->text, "    return normalised(s, xx, zz);\n");
}

static void write_chi2(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    write_sum(w, d, "s", "x[j] + z[j] != 0 ? u * u / (x[j] + z[j]) : 0");
    mc_text_add(w->text, "    return exp(-%.17g * s);\n", p[0].number);
}

static void write_intersection(mc_c_writer *w, const mc_node *node, int64_t d) {
    (void)node;
    write_sum(w, d, "s", "fmin(x[j], z[j])");
    mc_text_add(w->text, "    return s;\n");
}

static void write_additive_chi2(mc_c_writer *w, const mc_node *node, int64_t d) {
    (void)node;
    write_sum(w, d, "s", "x[j] + z[j] != 0 ? 2 * (x[j] * z[j]) / (x[j] + z[j]) : 0");
    mc_text_add(w->text, "    return s;\n");
}

static void write_tanh(mc_c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    write_dot(w, d);
    mc_text_add(w->text, "    return tanh(%.17g * s + %.17g);\n", p[0].number, p[1].number);
}

static void write_white(mc_c_writer *w, const mc_node *node, int64_t d) {
    (void)node;
    write_sum(w, d, "s", "u != 0");
    mc_text_add(w->text, "    return s == 0;\n");
}

/* ---- The table ---- */

typedef void atom_writer(mc_c_writer *w, const mc_node *node, int64_t d);

/* From the name of an atom to what writes its sums and its value; none: it is no C code. */
static atom_writer *const writers[MC_ATOM_COUNT] = {
    [MC_LINEAR] = write_linear,
    [MC_POLY] = write_poly,
    [MC_RBF] = write_rbf,
    [MC_LAPLACIAN] = write_laplacian,
    [MC_EXPONENTIAL] = write_exponential,
    [MC_MATERN] = write_matern,
    [MC_RQ] = write_rq,
    [MC_PERIODIC] = write_periodic,
    [MC_COSINE] = write_cosine,
    [MC_CHI2] = write_chi2,
    [MC_INTERSECTION] = write_intersection,
    [MC_TANIMOTO] = write_tanimoto,
    [MC_ADDITIVE_CHI2] = write_additive_chi2,
    [MC_WENDLAND] = write_wendland,
    [MC_SINC] = write_sinc,
    [MC_BROWNIAN] = write_brownian,
    [MC_SPLINE] = write_spline,
    [MC_RBF_FORM] = write_rbf_form,
    [MC_POWER_DISTANCE] = write_conditional,
    [MC_LOG] = write_conditional,
    [MC_MULTIQUADRIC] = write_conditional,
    [MC_THIN_PLATE] = write_conditional,
    [MC_ARCCOS] = write_arccos,
    [MC_TANH] = write_tanh,
    [MC_WHITE] = write_white,
    [MC_FORM] = write_form,
};

static mercer_status refuse_atom(mercer_ctx *ctx, const mc_node *node) {
    if (node->atom == MC_GIBBS)
        return mc_fail(ctx, MERCER_INVALID,
                       "export: gibbs, whose length scale is a function of the row, is not among "
                       "the kernels that are written as C code");
    return mc_fail(ctx, MERCER_INVALID,
                   "export: values of %s do not follow from the columns alone, so C code cannot compute them",
                   mc_atoms[node->atom].name);
}

mercer_status mc_c_atom(mc_c_writer *w, const mc_node *node, int64_t d) {
    const double nu = node->parameter[0].number;
    if (!writers[node->atom])
        return refuse_atom(w->ctx, node);
    if (node->atom == MC_MATERN && !mc_matern_is_elementary(nu))
        return mc_fail(w->ctx, MERCER_INVALID,
                       "export: matern(nu=%g) needs Bessel functions, which C has not; take nu 0.5, 1.5 or 2.5", nu);
    writers[node->atom](w, node, d);
    return MERCER_OK;
}
