/* function.c: the function f of weigh(f, k), with f(x) written over norm2 = |x|^2, norm = |x|, the columns x[i] in view
   and numbers. */
#include "kernel/language/function.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/evaluate/view.h"
#include <math.h>

const char *const mc_function_names[MC_F_KINDS] = {
    [MC_F_NORM2] = "norm2", [MC_F_NORM] = "norm", [MC_F_COLUMN] = "x", [MC_F_EXP] = "exp",   [MC_F_LOG] = "log",
    [MC_F_SQRT] = "sqrt",   [MC_F_SIN] = "sin",   [MC_F_COS] = "cos",  [MC_F_TANH] = "tanh", [MC_F_ABS] = "abs",
};

mercer_status mc_function_make(mercer_ctx *ctx, mc_function_kind kind, mc_function **out) {
    MC_TRY(MC_ALLOC(ctx, *out, 1));
    (*out)->kind = kind;
    return MERCER_OK;
}

void mc_function_free(mc_function *f) {
    if (!f)
        return;
    mc_function_free(f->child[0]);
    mc_function_free(f->child[1]);
    mc_free(f);
}

/* Fills *out as it goes: what was copied when memory ends is freed with the node that holds it. */
mercer_status mc_function_copy(mercer_ctx *ctx, const mc_function *f, mc_function **out) {
    MC_TRY(mc_function_make(ctx, f->kind, out));
    (*out)->number = f->number;
    (*out)->column = f->column;
    for (int i = 0; i < 2; i++)
        if (f->child[i])
            MC_TRY(mc_function_copy(ctx, f->child[i], &(*out)->child[i]));
    return MERCER_OK;
}

bool mc_function_equal(const mc_function *a, const mc_function *b) {
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && a->number == b->number && a->column == b->column
           && mc_function_equal(a->child[0], b->child[0]) && mc_function_equal(a->child[1], b->child[1]);
}

static double squared_norm(const mc_view *view, const double *x) {
    double sum = 0;
    for (int64_t j = 0; j < view->d; j++) {
        const double v = mc_view_at(view, x, j);
        sum += v * v;
    }
    return sum;
}

double mc_function_in_view(const mc_function *f, const mc_view *view, const double *x) {
    const double a = f->child[0] ? mc_function_in_view(f->child[0], view, x) : 0;
    const double b = f->child[1] ? mc_function_in_view(f->child[1], view, x) : 0;
    switch (f->kind) {
    case MC_F_NUMBER: return f->number;
    case MC_F_NORM2: return squared_norm(view, x);
    case MC_F_NORM: return sqrt(squared_norm(view, x));
    case MC_F_COLUMN: return mc_view_at(view, x, f->column);
    case MC_F_NEGATE: return -a;
    case MC_F_ADD: return a + b;
    case MC_F_SUBTRACT: return a - b;
    case MC_F_MULTIPLY: return a * b;
    case MC_F_DIVIDE: return a / b;
    case MC_F_POWER: return pow(a, b);
    case MC_F_EXP: return exp(a);
    case MC_F_LOG: return log(a);
    case MC_F_SQRT: return sqrt(a);
    case MC_F_SIN: return sin(a);
    case MC_F_COS: return cos(a);
    case MC_F_TANH: return tanh(a);
    case MC_F_ABS: return fabs(a);
    }
    return NAN;
}

double mc_function_eval(const mc_function *f, const double *x, int64_t d) {
    const mc_view all = {.d = d};
    return mc_function_in_view(f, &all, x);
}

/* ---- Its text ---- */

/* The text of a function of weigh, with parentheses only where its grammar (parse_function.c) needs
   them. */

typedef enum function_level { SUM, PRODUCT, SIGN, POWER, PRIMARY } function_level;

/* How tightly a kind binds, its mark, and what its two sides must bind like. The right side of - and / asks for more
   than the left: a - (b - c). */
static const struct {
    function_level self, left, right;
    const char *mark;
} operators[MC_F_KINDS] = {
    [MC_F_ADD] = {SUM, SUM, PRODUCT, " + "},         [MC_F_SUBTRACT] = {SUM, SUM, PRODUCT, " - "},
    [MC_F_MULTIPLY] = {PRODUCT, PRODUCT, SIGN, "*"}, [MC_F_DIVIDE] = {PRODUCT, PRODUCT, SIGN, "/"},
    [MC_F_POWER] = {POWER, PRIMARY, SIGN, "^"},
};

static function_level level_of(const mc_function *f) {
    if (operators[f->kind].mark)
        return operators[f->kind].self;
    const bool sign = f->kind == MC_F_NEGATE || (f->kind == MC_F_NUMBER && signbit(f->number));
    return sign ? SIGN : PRIMARY;
}

static void print_function_node(mc_text *out, const mc_function *f, function_level place);

static void print_bare(mc_text *out, const mc_function *f) {
    if (operators[f->kind].mark) {
        print_function_node(out, f->child[0], operators[f->kind].left);
        mc_text_add(out, "%s", operators[f->kind].mark);
        print_function_node(out, f->child[1], operators[f->kind].right);
    } else if (f->kind == MC_F_NUMBER)
        mc_text_number(out, f->number);
    else if (f->kind == MC_F_NEGATE) {
        mc_text_add(out, "-");
        print_function_node(out, f->child[0], SIGN);
    } else if (f->kind == MC_F_COLUMN)
        mc_text_add(out, "x[%lld]", (long long)f->column + 1);
    else if (!f->child[0])
        mc_text_add(out, "%s", mc_function_names[f->kind]);
    else {
        mc_text_add(out, "%s(", mc_function_names[f->kind]);
        print_function_node(out, f->child[0], SUM);
        mc_text_add(out, ")");
    }
}

static void print_function_node(mc_text *out, const mc_function *f, function_level place) {
    const bool inside = level_of(f) < place;
    mc_text_add(out, "%s", inside ? "(" : "");
    print_bare(out, f);
    mc_text_add(out, "%s", inside ? ")" : "");
}

void mc_function_print(mc_text *text, const mc_function *f) {
    print_function_node(text, f, SUM);
}
