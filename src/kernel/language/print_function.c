/* print_function.c: the text of a function of weigh, with parentheses only where its grammar (parse_function.c) needs
   them. */
#include "kernel/language/function.h"
#include <math.h>

typedef enum level { SUM, PRODUCT, SIGN, POWER, PRIMARY } level;

/* How tightly a kind binds, its mark, and what its two sides must bind like. The right side of - and / asks for more
   than the left: a - (b - c). */
static const struct {
    level self, left, right;
    const char *mark;
} operators[MC_F_KINDS] = {
    [MC_F_ADD] = {SUM, SUM, PRODUCT, " + "},         [MC_F_SUBTRACT] = {SUM, SUM, PRODUCT, " - "},
    [MC_F_MULTIPLY] = {PRODUCT, PRODUCT, SIGN, "*"}, [MC_F_DIVIDE] = {PRODUCT, PRODUCT, SIGN, "/"},
    [MC_F_POWER] = {POWER, PRIMARY, SIGN, "^"},
};

static level level_of(const mc_function *f) {
    if (operators[f->kind].mark)
        return operators[f->kind].self;
    const bool sign = f->kind == MC_F_NEGATE || (f->kind == MC_F_NUMBER && signbit(f->number));
    return sign ? SIGN : PRIMARY;
}

static void print(mc_text *out, const mc_function *f, level place);

static void print_bare(mc_text *out, const mc_function *f) {
    if (operators[f->kind].mark) {
        print(out, f->child[0], operators[f->kind].left);
        mc_text_add(out, "%s", operators[f->kind].mark);
        print(out, f->child[1], operators[f->kind].right);
    } else if (f->kind == MC_F_NUMBER)
        mc_text_number(out, f->number);
    else if (f->kind == MC_F_NEGATE) {
        mc_text_add(out, "-");
        print(out, f->child[0], SIGN);
    } else if (f->kind == MC_F_COLUMN)
        mc_text_add(out, "x[%lld]", (long long)f->column + 1);
    else if (!f->child[0])
        mc_text_add(out, "%s", mc_function_names[f->kind]);
    else {
        mc_text_add(out, "%s(", mc_function_names[f->kind]);
        print(out, f->child[0], SUM);
        mc_text_add(out, ")");
    }
}

static void print(mc_text *out, const mc_function *f, level place) {
    const bool inside = level_of(f) < place;
    mc_text_add(out, "%s", inside ? "(" : "");
    print_bare(out, f);
    mc_text_add(out, "%s", inside ? ")" : "");
}

void mc_function_print(mc_text *text, const mc_function *f) {
    print(text, f, SUM);
}
