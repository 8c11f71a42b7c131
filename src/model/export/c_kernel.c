/* c_kernel.c: a kernel expression as C functions, one per node, each the formula of kernel/evaluate/eval.c for the
   columns it sees. */
#include "base/status.h"
#include "kernel/evaluate/power_series.h"
#include "model/export/c_writer.h"

static mercer_status write_node(mc_c_writer *w, const mc_node *node, int64_t d, int *out);

static void open_function(mc_c_writer *w) {
    mc_text_add(w->text, "static double k%d(const double *x, const double *z) {\n", ++w->count);
}

/* ---- The function of weigh ---- */

static void write_function(mc_c_writer *w, const mc_function *f, int64_t d) {
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

static mercer_status write_weigh(mc_c_writer *w, const mc_node *node, int64_t d) {
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

static mercer_status write_many(mc_c_writer *w, const mc_node *node, int64_t d) {
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
static mercer_status write_one(mc_c_writer *w, const mc_node *node, int64_t d) {
    int child = 0;
    const bool exponent = node->kind == MC_NORMALIZE && node->child[0]->kind == MC_EXP;
    MC_TRY(write_node(w, exponent ? node->child[0]->child[0] : node->child[0], d, &child));
    open_function(w);
    if (node->kind == MC_POWER)
        mc_text_add(w->text, "    return pow(k%d(x, z), %.17g);\n", child, node->number);
    else if (node->kind == MC_EXP)
        mc_text_add(w->text, "    return exp(k%d(x, z));\n", child);
    else if (node->kind == MC_SERIES)
        mc_text_add(w->text, "    return %s(k%d(x, z));\n", mc_series_rows[node->series].code, child);
    else if (exponent)
        mc_text_add(w->text, "    return exp(k%d(x, z) - (k%d(x, x) / 2 + k%d(z, z) / 2));\n", child, child, child);
    else
        mc_text_add(w->text, "    return normalised(k%d(x, z), k%d(x, x), k%d(z, z));\n", child, child, child);
    return MERCER_OK;
}

static mercer_status write_columns(mc_c_writer *w, const mc_node *node) {
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

static mercer_status write_body(mc_c_writer *w, const mc_node *node, int64_t d) {
    switch (node->kind) {
    case MC_SUM:
    case MC_PRODUCT: return write_many(w, node, d);
    case MC_POWER:
    case MC_EXP:
    case MC_SERIES:
    case MC_NORMALIZE: return write_one(w, node, d);
    case MC_WEIGH: return write_weigh(w, node, d);
    case MC_COLUMNS: return write_columns(w, node);
    case MC_NUMBER:
        open_function(w);
        mc_text_add(w->text, "    (void)x;\n    (void)z;\n    return %.17g;\n", node->number);
        return MERCER_OK;
    case MC_ATOM: open_function(w); return mc_c_atom(w, node, d);
    }
    return MERCER_OK;
}

static mercer_status write_node(mc_c_writer *w, const mc_node *node, int64_t d, int *out) {
    MC_TRY(write_body(w, node, d));
    mc_text_add(w->text, "}\n\n");
    *out = w->count;
    return MERCER_OK;
}

mercer_status mc_c_kernel(mercer_ctx *ctx, mc_text *text, const mercer_kernel *kernel, int64_t d, int *last) {
    mc_c_writer w = {.ctx = ctx, .text = text};
    return write_node(&w, kernel->root, d, last);
}
