/* c_kernel.c: a kernel expression as C functions, one per node, each the formula of kernel/evaluate/eval.c for the
   columns it sees. */
#include "base/status.h"
#include "base/print.h"
#include "kernel/evaluate/eval_conditional.h"
#include "kernel/language/atoms.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/kernel.h"
#include "model/export/c_source.h"
#include <math.h>

typedef struct c_writer {
    mercer_ctx *ctx;
    mc_text *text;
    int count; /* functions written */
} c_writer;

static mercer_status write_node(c_writer *w, const mc_node *node, int64_t d, int *out);

/* ---- Parameters ---- */

static const double *numbers_of(const mc_value *p) {
    return p->kind == MC_VALUE_NUMBER ? &p->number : p->numbers;
}

/* A parameter that may differ by column is a table p1 or p2; inside the loop over j it is P1 or P2. */
static void write_parameter(c_writer *w, const mc_value *p, int place) {
    char declaration[64];
    const int64_t count = p->kind == MC_VALUE_VECTOR ? p->columns : 1;
    mc_print(declaration, sizeof declaration, "    static const double p%d[%lld]", place, (long long)count);
    mc_c_table(w->text, declaration, numbers_of(p), 1, count, false);
}

static const char *element_suffix(const mc_value *p) {
    return p->kind == MC_VALUE_VECTOR ? "[j]" : "[0]";
}

/* ---- Atoms ---- */

static void open_function(c_writer *w) {
    mc_text_add(w->text, "static double k%d(const double *x, const double *z) {\n", ++w->count);
}

/* s <- sum over the columns of a term in x[j], z[j] and u = x[j] - z[j]. */
static void write_sum(c_writer *w, int64_t d, const char *name, const char *term) {
    mc_text_add(w->text,
                "    double %s = 0;\n    for (int j = 0; j < %lld; j++) {\n        const double u = x[j] - z[j];\n     "
                "   (void)u;\n"
                "        %s += %s;\n    }\n",
                name, (long long)d, name, term);
}

static void write_dot(c_writer *w, int64_t d) {
    write_sum(w, d, "s", "x[j] * z[j]");
}

/* Relative to the largest of their numbers, so that no square leaves the range of a double. */
static void write_lengths(c_writer *w, int64_t d) {
    mc_text_add(w->text, "    const double a = largest(x, %lld), b = largest(z, %lld);\n", (long long)d, (long long)d);
    write_sum(w, d, "xx", "(x[j] / a) * (x[j] / a)");
    write_sum(w, d, "zz", "(z[j] / b) * (z[j] / b)");
}

static void write_rbf_like(c_writer *w, const mc_value *p, int64_t d, const char *term, const char *result) {
    char filled[96];
    write_parameter(w, p, 1);
    mc_print(filled, sizeof filled, term, element_suffix(p), element_suffix(p));
    write_sum(w, d, "s", filled);
    mc_text_add(w->text, "    return %s;\n", result);
}

/* s <- sum (u / length)^2 */
static void write_scaled_square(c_writer *w, const mc_value *length, int64_t d) {
    char term[64];
    write_parameter(w, length, 1);
    mc_print(term, sizeof term, "(u / p1%s) * (u / p1%s)", element_suffix(length), element_suffix(length));
    write_sum(w, d, "s", term);
}

static void write_wendland(c_writer *w, const mc_value *p, int64_t d) {
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

static void write_sinc(c_writer *w, const mc_value *p, int64_t d) {
    write_parameter(w, &p[0], 1);
    mc_text_add(w->text,
                "    double s = 1;\n    for (int j = 0; j < %lld; j++) {\n"
                "        const double t = (x[j] - z[j]) / p1%s;\n"
                "        s *= t == 0 ? 1 : sin(3.14159265358979323846 * fmod(t, 2)) / (3.14159265358979323846 * t);\n"
                "    }\n    return s;\n",
                (long long)d, element_suffix(&p[0]));
}

static void write_spline(c_writer *w, int64_t d) {
    mc_text_add(w->text,
                "    double s = 1;\n    for (int j = 0; j < %lld; j++) {\n"
                "        const double a = fmin(x[j], z[j]), b = fmax(x[j], z[j]);\n"
                "        s *= 1 + a * b + a * a * (3 * b - a) / 6;\n    }\n    return s;\n",
                (long long)d);
}

static void write_brownian(c_writer *w, const mc_value *p, int64_t d) {
    write_sum(w, d, "s", "u * u");
    mc_text_add(w->text, "    return (pow(norm2(x, %lld), %.17g) + pow(norm2(z, %lld), %.17g) - pow(s, %.17g)) / 2;\n",
                (long long)d, p[0].number, (long long)d, p[0].number, p[0].number);
}

/* psi of the squared distance q[i], as kernel/evaluate/eval_conditional.c has it. */
static void write_psi(c_writer *w, const mc_node *node) {
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

static void write_conditional(c_writer *w, const mc_node *node, int64_t d) {
    write_sum(w, d, "s", "u * u");
    mc_text_add(w->text, "    const double q[] = {norm2(x, %lld), norm2(z, %lld), s};\n    double psi[3];\n",
                (long long)d, (long long)d);
    write_psi(w, node);
    if (mc_atom_is_centred(node))
        mc_text_add(w->text, "    return psi[0] + psi[1] - psi[2];\n");
    else
        mc_text_add(w->text, "    return %.17g - psi[2];\n", mc_conditional_peak(node));
}

static void write_tanimoto(c_writer *w, int64_t d) {
    write_sum(w, d, "s", "fmin(x[j], z[j])");
    write_sum(w, d, "most", "fmax(x[j], z[j])");
    mc_text_add(w->text, "    return most == 0 ? 1 : s / most;\n");
}

static void write_rbf_form(c_writer *w, const mc_value *A, int64_t d) {
    char declaration[64];
    mc_print(declaration, sizeof declaration, "    static const double A[%lld]", (long long)(d * d));
    mc_c_table(w->text, declaration, A->numbers, 1, d * d, false);
    mc_text_add(w->text,
                "    double s = 0;\n    for (int i = 0; i < %lld; i++)\n        for (int j = 0; j < %lld; j++)\n"
                "            s += A[i * %lld + j] * ((x[i] - z[i]) * (x[j] - z[j]));\n    return exp(-s);\n",
                (long long)d, (long long)d, (long long)d);
}

static void write_matern(c_writer *w, const mc_value *p, int64_t d) {
    static const char *const front[] = {"1", "1 + q", "1 + q + q * q / 3"};
    write_scaled_square(w, &p[1], d);
    mc_text_add(w->text, "    const double q = sqrt(%.17g * s);\n    return q > 800 ? 0 : (%s) * exp(-q);\n",
                2 * p[0].number,
                front[p[0].number == 0.5   ? 0
                      : p[0].number == 1.5 ? 1
                                           : 2]);
}

static void write_periodic(c_writer *w, const mc_value *p, int64_t d) {
    char term[160];
    write_parameter(w, &p[0], 1);
    write_parameter(w, &p[1], 2);
    mc_print(term, sizeof term, "pow(sin(3.14159265358979323846 * (u / p1%s)) / p2%s, 2)", element_suffix(&p[0]),
             element_suffix(&p[1]));
    write_sum(w, d, "s", term);
    mc_text_add(w->text, "    return exp(-2 * s);\n");
}

static void write_arccos(c_writer *w, const mc_value *p, int64_t d) {
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

static void write_form(c_writer *w, const mc_value *A, int64_t d) {
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

static mercer_status write_atom(c_writer *w, const mc_node *node, int64_t d) {
    const mc_value *p = node->parameter;
    switch (node->atom) {
    case MC_LINEAR:
        write_dot(w, d);
        mc_text_add(w->text, "    return s;\n");
        break;
    case MC_POLY:
        write_dot(w, d);
        mc_text_add(w->text, "    return pow(%.17g * s + %.17g, %.17g);\n", p[2].number, p[1].number, p[0].number);
        break;
    case MC_RBF: write_rbf_like(w, p, d, "p1%s * (u * u)", "exp(-s)"); break;
    case MC_LAPLACIAN: write_rbf_like(w, p, d, "p1%s * fabs(u)", "exp(-s)"); break;
    case MC_EXPONENTIAL: write_rbf_like(w, p, d, "(p1%s * u) * (p1%s * u)", "exp(-sqrt(s))"); break;
    case MC_MATERN:
        if (!mc_matern_is_elementary(p[0].number))
            return mc_fail(w->ctx, MERCER_INVALID,
                           "export: matern(nu=%g) needs Bessel functions, which C has not; take nu 0.5, 1.5 or 2.5",
                           p[0].number);
        write_matern(w, p, d);
        break;
    case MC_RQ:
        write_scaled_square(w, &p[1], d);
        mc_text_add(w->text, "    return exp(-%.17g * log1p(s / %.17g));\n", p[0].number, 2 * p[0].number);
        break;
    case MC_PERIODIC: write_periodic(w, p, d); break;
    case MC_COSINE:
        write_lengths(w, d);
        write_sum(w, d, "s", "(x[j] / a) * (z[j] / b)");
        mc_text_add(w->text, "    return normalised(s, xx, zz);\n");
        break;
    case MC_CHI2:
        write_sum(w, d, "s", "x[j] + z[j] != 0 ? u * u / (x[j] + z[j]) : 0");
        mc_text_add(w->text, "    return exp(-%.17g * s);\n", p[0].number);
        break;
    case MC_INTERSECTION:
        write_sum(w, d, "s", "fmin(x[j], z[j])");
        mc_text_add(w->text, "    return s;\n");
        break;
    case MC_TANIMOTO: write_tanimoto(w, d); break;
    case MC_ADDITIVE_CHI2:
        write_sum(w, d, "s", "x[j] + z[j] != 0 ? 2 * (x[j] * z[j]) / (x[j] + z[j]) : 0");
        mc_text_add(w->text, "    return s;\n");
        break;
    case MC_WENDLAND: write_wendland(w, p, d); break;
    case MC_SINC: write_sinc(w, p, d); break;
    case MC_BROWNIAN: write_brownian(w, p, d); break;
    case MC_SPLINE: write_spline(w, d); break;
    case MC_RBF_FORM: write_rbf_form(w, &p[0], d); break;
    case MC_POWER_DISTANCE:
    case MC_LOG:
    case MC_MULTIQUADRIC:
    case MC_THIN_PLATE: write_conditional(w, node, d); break;
    case MC_GIBBS:
        return mc_fail(w->ctx, MERCER_INVALID,
                       "export: gibbs, whose length scale is a function of the row, is not among "
                       "the kernels that are written as C code");
    case MC_ARCCOS: write_arccos(w, p, d); break;
    case MC_TANH:
        write_dot(w, d);
        mc_text_add(w->text, "    return tanh(%.17g * s + %.17g);\n", p[0].number, p[1].number);
        break;
    case MC_WHITE:
        write_sum(w, d, "s", "u != 0");
        mc_text_add(w->text, "    return s == 0;\n");
        break;
    case MC_FORM: write_form(w, &p[0], d); break;
    default:
        return mc_fail(w->ctx, MERCER_INVALID,
                       "export: values of %s do not follow from the columns alone, so C code cannot compute them",
                       mc_atoms[node->atom].name);
    }
    return MERCER_OK;
}

/* ---- The function of weigh ---- */

static void write_function(c_writer *w, const mc_function *f, int64_t d) {
    static const char *const word[] = {
        [MC_F_EXP] = "exp", [MC_F_LOG] = "log",   [MC_F_SQRT] = "sqrt", [MC_F_SIN] = "sin",
        [MC_F_COS] = "cos", [MC_F_TANH] = "tanh", [MC_F_ABS] = "fabs"};
    static const char *const sign[] = {[MC_F_ADD] = " + ",
                                       [MC_F_SUBTRACT] = " - ",
                                       [MC_F_MULTIPLY] = " * ",
                                       [MC_F_DIVIDE] = " / ",
                                       [MC_F_POWER] = ", "};
    switch (f->kind) {
    case MC_F_NUMBER: mc_text_add(w->text, "(%.17g)", f->number); return;
    case MC_F_NORM2: mc_text_add(w->text, "norm2(x, %lld)", (long long)d); return;
    case MC_F_NORM: mc_text_add(w->text, "sqrt(norm2(x, %lld))", (long long)d); return;
    case MC_F_COLUMN: mc_text_add(w->text, "x[%lld]", (long long)f->column); return;
    case MC_F_NEGATE: mc_text_add(w->text, "(-"); break;
    case MC_F_ADD:
    case MC_F_SUBTRACT:
    case MC_F_MULTIPLY:
    case MC_F_DIVIDE: mc_text_add(w->text, "("); break;
    case MC_F_POWER: mc_text_add(w->text, "pow("); break;
    default: mc_text_add(w->text, "%s(", word[f->kind]);
    }
    write_function(w, f->child[0], d);
    if (f->child[1]) {
        mc_text_add(w->text, "%s", sign[f->kind]);
        write_function(w, f->child[1], d);
    }
    mc_text_add(w->text, ")");
}

static mercer_status write_weigh(c_writer *w, const mc_node *node, int64_t d) {
    int child = 0;
    MC_TRY(write_node(w, node->child[0], d, &child));
    const int number = w->count + 1;
    mc_text_add(w->text, "static double f%d(const double *x) {\n    return ", number);
    write_function(w, node->function, d);
    mc_text_add(w->text, ";\n}\n\n");
    open_function(w);
    mc_text_add(w->text, "    return f%d(x) * f%d(z) * k%d(x, z);\n", number, number, child);
    return MERCER_OK;
}

/* ---- Nodes ---- */

static mercer_status write_many(c_writer *w, const mc_node *node, int64_t d) {
    enum { MOST = 64 };
    int child[MOST];
    if (node->children > MOST)
        return mc_fail(w->ctx, MERCER_INVALID, "export: a sum or product of %d parts; C code is written for at most %d",
                       node->children, MOST);
    for (int i = 0; i < node->children; i++)
        MC_TRY(write_node(w, node->child[i], d, &child[i]));
    open_function(w);
    mc_text_add(w->text, "    return ");
    for (int i = 0; i < node->children; i++)
        mc_text_add(w->text, "%sk%d(x, z)", !i ? "" : node->kind == MC_SUM ? " + " : " * ", child[i]);
    mc_text_add(w->text, ";\n");
    return MERCER_OK;
}

/* exp(f) normalised is exp(f(x, z) - f(x, x)/2 - f(z, z)/2), which is a number where exp(f) is none. */
static mercer_status write_one(c_writer *w, const mc_node *node, int64_t d) {
    int child = 0;
    const bool exponent = node->kind == MC_NORMALIZE && node->child[0]->kind == MC_EXP;
    MC_TRY(write_node(w, exponent ? node->child[0]->child[0] : node->child[0], d, &child));
    open_function(w);
    if (node->kind == MC_POWER)
        mc_text_add(w->text, "    return pow(k%d(x, z), %.17g);\n", child, node->number);
    else if (node->kind == MC_EXP)
        mc_text_add(w->text, "    return exp(k%d(x, z));\n", child);
    else if (exponent)
        mc_text_add(w->text, "    return exp(k%d(x, z) - (k%d(x, x) / 2 + k%d(z, z) / 2));\n", child, child, child);
    else
        mc_text_add(w->text, "    return normalised(k%d(x, z), k%d(x, x), k%d(z, z));\n", child, child, child);
    return MERCER_OK;
}

static mercer_status write_columns(c_writer *w, const mc_node *node) {
    int child = 0;
    MC_TRY(write_node(w, node->child[0], node->columns, &child));
    open_function(w);
    mc_text_add(w->text, "    static const int at[%lld] = {", (long long)node->columns);
    for (int64_t j = 0; j < node->columns; j++)
        mc_text_add(w->text, "%s%lld", j ? ", " : "", (long long)node->column[j]);
    mc_text_add(w->text,
                "};\n    double a[%lld], b[%lld];\n    for (int j = 0; j < %lld; j++) {\n        a[j] = x[at[j]];\n    "
                "    b[j] = z[at[j]];\n"
                "    }\n    return k%d(a, b);\n",
                (long long)node->columns, (long long)node->columns, (long long)node->columns, child);
    return MERCER_OK;
}

static mercer_status write_body(c_writer *w, const mc_node *node, int64_t d) {
    switch (node->kind) {
    case MC_SUM:
    case MC_PRODUCT: return write_many(w, node, d);
    case MC_POWER:
    case MC_EXP:
    case MC_NORMALIZE: return write_one(w, node, d);
    case MC_WEIGH: return write_weigh(w, node, d);
    case MC_COLUMNS: return write_columns(w, node);
    case MC_NUMBER:
        open_function(w);
        mc_text_add(w->text, "    (void)x;\n    (void)z;\n    return %.17g;\n", node->number);
        return MERCER_OK;
    case MC_ATOM: open_function(w); return write_atom(w, node, d);
    }
    return MERCER_OK;
}

static mercer_status write_node(c_writer *w, const mc_node *node, int64_t d, int *out) {
    MC_TRY(write_body(w, node, d));
    mc_text_add(w->text, "}\n\n");
    *out = w->count;
    return MERCER_OK;
}

mercer_status mc_c_kernel(mercer_ctx *ctx, mc_text *text, const mercer_kernel *kernel, int64_t d, int *last) {
    c_writer w = {.ctx = ctx, .text = text};
    return write_node(&w, kernel->root, d, last);
}
