/* c_source.c: a model as one C99 file: tables, the kernel's functions, and predictions as Mercer makes them.

   The file offers, NAME being that of the file:

       double NAME_predict(const double *x)              the number, or the place of the class from 0
       void NAME_values(const double *x, double *out)    all outputs, as mercer_predict gives them
       const char *NAME_column(int place)                the name of x[place]
       const char *NAME_label(int place)                 classes: their text
       void NAME_proba(const double *x, double *out)     where the machine gives probabilities */
#include "model/export/c_source.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "model/export/centre_rows.h"
#include "base/file.h"
#include <string.h>

/* ---- Words ---- */

/* By the letters of ASCII, whatever the locale calls one. */
static bool is_plain(char c, const char *more) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || strchr(more, c);
}

typedef struct c_name {
    char bytes[64];
} c_name;

/* The file's name without folder and ending, as C takes it. */
static c_name name_of(const char *path) {
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
    c_name n = {.bytes = "model"};
    size_t used = 0;
    for (; *from && *from != '.' && used + 1 < sizeof n.bytes; from++)
        n.bytes[used++] = is_plain(*from, "") ? *from : '_';
    if (used && strcmp(path, "-") != 0) {
        n.bytes[used] = '\0';
        if (n.bytes[0] >= '0' && n.bytes[0] <= '9')
            n.bytes[0] = '_';
    }
    return n;
}

/* A constant of type float has an F, which needs a point or an exponent before it. */
static void add_number(mc_text *text, double value, bool single) {
    if (single && value != 0)
        mc_text_add(text, "%.8eF", (double)(float)value); /* rounded once, not twice */
    else
        mc_text_add(text, "%.17g", value);
}

void mc_c_table(mc_text *text, const char *declaration, const double *values, int64_t rows, int64_t columns,
                bool single) {
    mc_text_add(text, "%s = {", declaration);
    for (int64_t i = 0; i < rows * columns; i++) {
        mc_text_add(text, "%s", !i ? "" : i % 8 ? ", " : ",\n    ");
        add_number(text, values[i], single);
    }
    mc_text_add(text, "};\n");
}

void mc_c_string(mc_text *text, const char *bytes) {
    mc_text_add(text, "\"");
    for (const char *p = bytes; *p; p++) {
        if (is_plain(*p, " .,:;+-_()[]<>=*/%!#&|@~^{}"))
            mc_text_add(text, "%c", *p);
        else
            mc_text_add(text, "\\%03o", (unsigned)(unsigned char)*p);
    }
    mc_text_add(text, "\"");
}

/* Without the signs that open, close or continue: other bytes become question marks. */
void mc_c_comment(mc_text *text, const char *bytes) {
    for (const char *p = bytes; *p; p++)
        mc_text_add(text, "%c", is_plain(*p, " .,:;+-_()[]<>=%!#&|@~^{}") ? *p : '?');
}

/* ---- Tables ---- */

/* Numbers of the model side by side, rows x columns, written by a function. */
static mercer_status add_table(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, const char *called, int64_t rows,
                               int64_t columns, mc_fill_row *fill, bool single) {
    double *values = NULL;
    MC_TRY(MC_ALLOC(ctx, values, rows * columns));
    for (int64_t i = 0; i < rows; i++)
        fill(f, i, columns, values + i * columns);
    char declaration[96];
    mc_print(declaration, sizeof declaration, "static const %s %s[%lld]", single ? "float" : "double", called,
             (long long)(rows * columns));
    mc_c_table(text, declaration, values, rows, columns, single);
    mc_free(values);
    return MERCER_OK;
}

/* Frequencies stand twice among the rows; the rows of neighbours have a weight beside their outputs. */
static mercer_status add_tables(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, int64_t decisions, bool single) {
    const int64_t n = f->centres->n, d = f->centres->d, centres = f->fourier ? n / 2 : n;
    mc_text_add(text, "enum { COLUMNS = %lld, CENTRES = %lld, DECISIONS = %lld, OUTPUTS = %lld };\n", (long long)d,
                (long long)centres, (long long)decisions, (long long)f->outputs);
    MC_TRY(add_table(ctx, text, f, "centre", centres, d, mc_row_of_centre, single));
    MC_TRY(add_table(ctx, text, f, "coefficient", n, decisions + (f->form == MC_NEIGHBOURS), mc_row_of_coefficients,
                     single));
    mc_c_table(text, "static const double intercept[DECISIONS]", f->intercept, 1, decisions, false);
    if (f->scale.shift || f->scale.factor) {
        mc_c_table(text, "static const double shift[COLUMNS]", f->scale.shift, 1, d, false);
        mc_c_table(text, "static const double factor[COLUMNS]", f->scale.factor, 1, d, false);
    }
    mc_text_add(text, "\n");
    return MERCER_OK;
}

/* ---- Functions ---- */

/* Small parts that some kernels call: those that are called are written, since a function that is not is a warning. */
static const struct {
    const char *call, *source;
} helpers[] = {
    {"norm2(", "static double norm2(const double *x, int d) {\n    double s = 0;\n    for (int j = 0; j < d; j++)\n    "
               "    s += x[j] * x[j];\n"
               "    return s;\n}\n\n"},
    {"largest(", "static double largest(const double *x, int d) {\n    double s = 0;\n    for (int j = 0; j < d; j++)\n"
                 "        s = fabs(x[j]) > s ? fabs(x[j]) : s;\n    return s > 0 ? s : 1;\n}\n\n"},
    {"logarithmic(", "static double logarithmic(double t) {\n    return -log1p(-t);\n}\n\n"},
    {"arcsine(",
     "static double arcsine(double t) {\n    return asin(fabs(t) <= 1 || fabs(t) > 1 + 1e-12 ? t : t > 0 ? 1 : "
     "-1);\n}\n\n"},
    {"bessel_i0(", "static double bessel_i0(double t) {\n    double s = 0, a = 1;\n"
                   "    for (int n = 1; a > 1e-17 * s && a < 1e308; n++) {\n        s += a;\n"
                   "        a *= t / 2 * (t / 2) / n / n;\n    }\n    return s + a;\n}\n\n"},
    {"normalised(",
     "static double normalised(double v, double a, double b) {\n    if (a == 0 || b == 0 || (a < 0) != (b < 0))\n"
     "        return 0;\n    return a == b ? v / fabs(a) : v / (sqrt(fabs(a)) * sqrt(fabs(b)));\n}\n\n"},
};

/* The kernel and the decisions, behind what they call. */
static mercer_status add_decisions(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, bool single) {
    char *bytes = NULL;
    mc_text body = mc_text_open(ctx);
    const mercer_status status = mc_c_decide(ctx, &body, f, single);
    if (status) {
        mc_text_close(&body);
        return status;
    }
    const int64_t length = body.length;
    MC_TRY(mc_text_take(&body, &bytes));
    for (size_t k = 0; k < sizeof helpers / sizeof helpers[0]; k++)
        if (strstr(bytes, helpers[k].call))
            mc_text_add(text, "%s", helpers[k].source);
    mc_text_bytes(text, bytes, length);
    mc_free(bytes);
    return MERCER_OK;
}

/* What the decisions conclude to, as predict/decision.c does. */
static const char *conclusion_code(const mc_fitted *f) {
    if (f->form == MC_VALUES || f->form == MC_NEIGHBOURS)
        return "    for (int k = 0; k < OUTPUTS; k++)\n        out[k] = d[k];\n";
    if (f->form == MC_REGION)
        return "    out[1] = d[0] == 0 ? -DBL_MIN : d[0];\n    out[0] = -out[1];\n";
    if (f->outputs == 2)
        return "    out[0] = d[0] == 0 ? -DBL_MIN : d[0];\n    out[1] = -out[0];\n";
    return "    int pair = 0;\n    for (int k = 0; k < OUTPUTS; k++)\n        out[k] = 0;\n    for (int a = 0; a < "
           "OUTPUTS; a++)\n"
           "        for (int b = a + 1; b < OUTPUTS; b++)\n            out[d[pair++] > 0 ? a : b]++;\n";
}

/* A function from a place to its text, "" where there is none. */
static void add_texts(mc_text *text, const char *called, const char *what, const char *count, int64_t n,
                      const char *at(const void *, int64_t), const void *from) {
    mc_text_add(text, "const char *%s_%s(int place) {\n    static const char *const %s[%s] = {", called, what, what,
                count);
    for (int64_t k = 0; k < n; k++) {
        mc_text_add(text, "%s", !k ? "" : k % 8 ? ", " : ",\n        ");
        mc_c_string(text, at(from, k));
    }
    mc_text_add(text, "};\n    return place >= 0 && place < %s ? %s[place] : \"\";\n}\n\n", count, what);
}

static const char *label_at(const void *data, int64_t k) {
    return mercer_data_label(data, k);
}

static const char *column_at(const void *data, int64_t k) {
    return mercer_data_column_name(data, k);
}

/* Each value against the largest; of two classes the values are d and -d, of which one is enough. */
static void add_proba(mc_text *text, const char *called) {
    mc_text_add(text,
                "void %s_proba(const double *x, double *out) {\n    double sum = 0;\n    %s_values(x, out);\n    int "
                "best = 0;\n"
                "    for (int k = 1; k < OUTPUTS; k++)\n        best = out[k] > out[best] ? k : best;\n    const "
                "double most = out[best];\n"
                "    for (int k = 0; k < OUTPUTS; k++)\n        sum += out[k] = OUTPUTS == 2 ? (k == best ? 1 : "
                "exp(-most)) : exp(out[k] - most);\n"
                "    for (int k = 0; k < OUTPUTS; k++)\n        out[k] /= sum;\n}\n",
                called, called);
}

static void add_predictions(mc_text *text, const mercer_model *model, const char *called) {
    const mc_fitted *f = &model->f;
    mc_text_add(text,
                "void %s_values(const double *x, double *out) {\n    double d[DECISIONS];\n    decide(x, d);\n%s}\n\n",
                called, conclusion_code(f));
    mc_text_add(text, "double %s_predict(const double *x) {\n    double out[OUTPUTS];\n    %s_values(x, out);\n",
                called, called);
    if (f->centres->classes)
        mc_text_add(text, "    int best = 0;\n    for (int k = 1; k < OUTPUTS; k++)\n        best = out[k] > out[best] "
                          "? k : best;\n    return best;\n}\n\n");
    else
        mc_text_add(text, "    return out[0];\n}\n\n");
    add_texts(text, called, "column", "COLUMNS", f->centres->d, column_at, f->centres);
    if (f->centres->classes)
        add_texts(text, called, "label", "OUTPUTS", f->outputs, label_at, f->centres);
    if (mercer_model_has_proba(model))
        add_proba(text, called);
}

/* The names of the inputs as a comment can have them; NAME_column has them whole. */
static void add_column_names(mc_text *text, const mercer_data *data) {
    enum { SHOWN = 64 };
    for (int64_t j = 0; j < data->d && j < SHOWN; j++) {
        mc_text_add(text, "     x[%lld]  ", (long long)j);
        mc_c_comment(text, mercer_data_column_name(data, j));
        mc_text_add(text, "\n");
    }
    if (data->d > SHOWN)
        mc_text_add(text, "     and so on\n");
}

/* The opening comment: what a reader of the file needs. */
static void add_head(mc_text *text, const mercer_model *model, const char *called) {
    const mc_fitted *f = &model->f;
    mc_text_add(text, "/* %s: ", called);
    mc_c_comment(text, f->report.machine);
    mc_text_add(text,
                " by Mercer %s, %lld rows of %lld columns%s.\n\n   double %s_predict(const double *x): %s.\n"
                "   void %s_values(const double *x, double *out): %lld numbers.\n"
                "   const char *%s_column(int place): the name of x[place].\n",
                MERCER_VERSION, (long long)f->centres->n, (long long)f->centres->d,
                f->scale.kind == MC_SCALE_NONE ? "" : ", which it scales itself", called,
                f->centres->classes ? "the place of the class, from 0" : "the prediction", called,
                (long long)f->outputs, called);
    if (f->centres->classes)
        mc_text_add(text, "   const char *%s_label(int place): the text of a class.\n", called);
    if (mercer_model_has_proba(model))
        mc_text_add(text, "   void %s_proba(const double *x, double *out): probabilities of the classes.\n", called);
    mc_text_add(text, "   The inputs, in this order:\n");
    add_column_names(text, f->centres);
    mc_text_add(text, "   C99, no library but the C library's mathematics; no allocation, no state: safe from any "
                      "thread. */\n#include <float.h>\n#include <math.h>\n\n");
}

/* A function without a declaration is a warning of many compilers. */
static void add_declarations(mc_text *text, const mercer_model *model, const char *called) {
    mc_text_add(text, "double %s_predict(const double *x);\nvoid %s_values(const double *x, double *out);\n", called,
                called);
    mc_text_add(text, "const char *%s_column(int place);\n", called);
    if (model->f.centres->classes)
        mc_text_add(text, "const char *%s_label(int place);\n", called);
    if (mercer_model_has_proba(model))
        mc_text_add(text, "void %s_proba(const double *x, double *out);\n", called);
    mc_text_add(text, "\n");
}

/* ---- The whole ---- */

/* Weights of a linear kernel alone, without rows: f_k(x) = <w_k, x>. */
static bool is_weights(const mc_fitted *f) {
    return f->primal && f->centres->n == 0 && f->form == MC_VALUES && f->features == f->centres->d
           && strcmp(mercer_kernel_text(f->kernel), "linear") == 0;
}

static mercer_status check_c_export(mercer_ctx *ctx, const mercer_model *model) {
    const mc_fitted *f = &model->f;
    if (f->form == MC_NEIGHBOURS && f->report.neighbors > MC_C_NEIGHBOURS)
        return mc_fail(ctx, MERCER_INVALID,
                       "export: C code keeps the nearest rows on the stack, at most %d; the model asks for %lld",
                       MC_C_NEIGHBOURS, (long long)f->report.neighbors);
    if (!is_weights(f) && (!f->alpha || f->centres->n == 0))
        return mc_fail(ctx, MERCER_INVALID, "export: the model has no rows to sum over (%s)",
                       !f->primal                              ? "it is constant"
                       : strcmp(f->report.machine, "lms") == 0 ? "fit with --solver stored"
                                                               : "fit with --solver cholesky");
    return MERCER_OK;
}

static mercer_status compose_c_source(mercer_ctx *ctx, mc_text *text, const mercer_model *model, bool single,
                                      const char *called) {
    const mc_fitted *f = &model->f;
    add_head(text, model, called);
    add_declarations(text, model, called);
    MC_TRY(add_tables(ctx, text, f, mc_form_decisions(f->form, f->outputs), single));
    MC_TRY(add_decisions(ctx, text, f, single));
    add_predictions(text, model, called);
    return MERCER_OK;
}

/* The weights as the one row of each decision, with coefficient 1: k(w, x) = <w, x>. */
static mercer_status compose_weights(mercer_ctx *ctx, mc_text *text, const mercer_model *model, bool single,
                                     const char *called) {
    mercer_data centres = *model->f.centres;
    mercer_model rows = *model; /* borrows all but these */
    const int64_t decisions = model->f.outputs;
    double *identity = NULL;
    MC_TRY(MC_ALLOC(ctx, identity, decisions * decisions));
    for (int64_t k = 0; k < decisions; k++)
        identity[k * decisions + k] = 1;
    centres.n = decisions;
    centres.dtype = MERCER_F64;
    centres.row_start = NULL;
    centres.values = model->f.primal;
    rows.f.centres = &centres;
    rows.f.alpha = identity;
    const mercer_status status = compose_c_source(ctx, text, &rows, single, called);
    mc_free(identity);
    return status;
}

mercer_status mc_c_source_write(mercer_ctx *ctx, const mercer_model *model, bool single, const char *path) {
    MC_TRY(check_c_export(ctx, model));
    mc_text text = mc_text_open(ctx);
    const mercer_status status =
        (is_weights(&model->f) ? compose_weights : compose_c_source)(ctx, &text, model, single, name_of(path).bytes);
    if (!status)
        return mc_text_write(&text, path);
    mc_text_close(&text);
    return status;
}
