/* canonical_text.c: the canonical text of a tree. Parentheses only where the grammar needs them, every parameter by
   its own name, numbers in the shortest form that reads back to the same double: the text parses back to the same
   tree.

   A part is put in parentheses when it binds more loosely than its place asks for. From loose to tight: */
#include "kernel/evaluate/power_series.h"
#include "kernel/language/canonical_text.h"
#include "kernel/language/function.h"
#include "kernel/language/node.h"
#include <math.h>
#include <string.h>

typedef enum print_level { SUM, PRODUCT, SIGN, POWER, VIEW, PRIMARY } print_level;

static void print_node(mc_text *out, const mc_node *node, print_level place);
static bool has_text(const mc_node *node);
static bool is_inverse(const mc_node *node);

/* A negative number, or a product that begins with one: the sign is printed first, or turns " + " into " - ". */
static bool leads_with_minus(const mc_node *node) {
    const mc_node *lead = node->kind == MC_PRODUCT && node->children > 0 ? node->child[0] : node;
    return lead->kind == MC_NUMBER && signbit(lead->number);
}

static print_level level_of(const mc_node *node) {
    switch (node->kind) {
    case MC_NUMBER: return signbit(node->number) ? SIGN : PRIMARY;
    case MC_SUM: return SUM;
    case MC_PRODUCT: return PRODUCT;
    case MC_POWER: return is_inverse(node) ? PRODUCT : POWER;
    case MC_COLUMNS: return VIEW;
    case MC_ATOM: return has_text(node) ? VIEW : PRIMARY;
    default: return PRIMARY;
    }
}

static void print_numbers(mc_text *out, const double *numbers, int64_t count, const char *open, const char *close) {
    mc_text_string(out, open);
    for (int64_t i = 0; i < count; i++) {
        mc_text_string(out, i ? ", " : "");
        mc_text_number(out, numbers[i]);
    }
    mc_text_string(out, close);
}

static void print_quoted(mc_text *out, const char *text) {
    mc_text_string(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            mc_text_string(out, "\\");
        mc_text_bytes(out, text, 1);
    }
    mc_text_string(out, "\"");
}

static void print_matrix(mc_text *out, const mc_value *A) {
    mc_text_string(out, "[");
    for (int64_t i = 0; i < A->rows; i++)
        print_numbers(out, A->numbers + i * A->columns, A->columns, i ? ", [" : "[", "]");
    mc_text_string(out, "]");
}

static void print_value(mc_text *out, const mc_value *value) {
    switch (value->kind) {
    case MC_VALUE_AUTO: break;
    case MC_VALUE_NUMBER: mc_text_number(out, value->number); break;
    case MC_VALUE_VECTOR: print_numbers(out, value->numbers, value->columns, "[", "]"); break;
    case MC_VALUE_SET: print_numbers(out, value->numbers, value->columns, "{", "}"); break;
    case MC_VALUE_MATRIX: print_matrix(out, value); break;
    case MC_VALUE_USER:
    case MC_VALUE_TEXT:
    case MC_VALUE_WORDS:
    case MC_VALUE_FILE: print_quoted(out, value->file); break;
    case MC_VALUE_RANGE:
        mc_text_number(out, value->low);
        mc_text_string(out, "..");
        mc_text_number(out, value->high);
        break;
    }
}

static bool has_text(const mc_node *node) {
    return node->kind == MC_ATOM && mc_atoms[node->atom].text && node->parameter[MC_TEXT_COLUMN].kind == MC_VALUE_TEXT;
}

static bool is_plain_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return *name && strchr(letters, *name)
           && name[strspn(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '\0';
}

static void print_column_name(mc_text *out, const char *name) {
    if (is_plain_name(name) || (*name && name[strspn(name, "0123456789")] == '\0'))
        mc_text_string(out, name);
    else
        print_quoted(out, name);
}

/* What is left to the data is left out, and what is seldom anything else; form's matrix and user's function have no
   name. */
void mc_atom_print(mc_text *out, const mc_node *node) {
    const mc_atom_row *row = &mc_atoms[node->atom];
    const char *before = "(";
    mc_text_string(out, row->name);
    if (node->function) {
        mc_text_string(out, "(");
        mc_function_print(out, node->function);
        mc_text_string(out, ")");
    }
    if (node->children) { /* mean_map's kernel */
        mc_text_string(out, "(");
        print_node(out, node->child[0], SUM);
        before = ", ";
    }
    for (int i = 0; i < row->parameters; i++) {
        const mc_value *value = &node->parameter[i];
        const bool usual = value->kind == MC_VALUE_NUMBER && value->number == row->parameter[i].initial;
        if (value->kind == MC_VALUE_AUTO || (row->parameter[i].quiet && usual))
            continue;
        mc_text_string(out, before);
        if (node->atom != MC_FORM && node->atom != MC_USER) {
            mc_text_string(out, row->parameter[i].name);
            mc_text_string(out, "=");
        }
        print_value(out, value);
        before = ", ";
    }
    mc_text_string(out, *before == ',' ? ")" : "");
    if (has_text(node)) {
        mc_text_string(out, "[");
        print_column_name(out, node->parameter[MC_TEXT_COLUMN].file);
        mc_text_string(out, "]");
    }
}

/* 3^-1, which k/3 stands for. */
static bool is_inverse(const mc_node *node) {
    return node->kind == MC_POWER && node->number == -1 && node->child[0]->kind == MC_NUMBER
           && node->child[0]->number > 0;
}

static bool is_constant(const mc_node *node) {
    return node->kind == MC_NUMBER || (node->kind == MC_POWER && is_constant(node->child[0]));
}

/* A product as it is printed: constants up to divisors, inverses of numbers up to factors, then all others. */
typedef struct product_parts {
    int first, divisors, factors; /* children before the first: a sign that is printed already */
} product_parts;

/* Text that has its divisors elsewhere parses back to the same order only when no constant follows them. */
static product_parts parts_of(const mc_node *node, int first) {
    product_parts p = {.first = first, .divisors = first};
    while (p.divisors < node->children && is_constant(node->child[p.divisors]) && !is_inverse(node->child[p.divisors]))
        p.divisors++;
    for (p.factors = p.divisors; p.factors < node->children && is_inverse(node->child[p.factors]);)
        p.factors++;
    for (int i = p.factors; i < node->children; i++)
        if (is_constant(node->child[i]))
            p.factors = p.divisors;
    return p;
}

static void print_power(mc_text *out, const mc_node *node) {
    print_node(out, node->child[0], VIEW);
    mc_text_string(out, "^");
    mc_text_number(out, node->number);
}

static void print_factors(mc_text *out, const mc_node *node, int from, int to, bool follows) {
    for (int i = from; i < to; i++) {
        mc_text_string(out, i > from || follows ? "*" : "");
        if (is_inverse(node->child[i]))
            print_power(out, node->child[i]);
        else
            print_node(out, node->child[i], SIGN);
    }
}

static void print_divisors(mc_text *out, const mc_node *node, product_parts p) {
    for (int i = p.divisors; i < p.factors; i++) {
        mc_text_string(out, "/");
        mc_text_number(out, node->child[i]->child[0]->number);
    }
}

/* The factors without the sign of the first; -1 is its sign alone. Divisors stand behind the numbers, where there are
   some: 2/3*linear, and linear/3. */
static void print_product(mc_text *out, const mc_node *node) {
    const bool minus = leads_with_minus(node), bare = minus && node->child[0]->number == -1 && node->children > 1;
    const product_parts p = parts_of(node, minus ? 1 : 0);
    const bool numbers = p.divisors > p.first || (minus && !bare), others = p.factors < node->children;
    if (minus && !bare)
        mc_text_number(out, -node->child[0]->number);
    print_factors(out, node, p.first, p.divisors, minus && !bare);
    mc_text_string(out, numbers || others ? "" : "1");
    if (numbers || !others)
        print_divisors(out, node, p);
    print_factors(out, node, p.factors, node->children, numbers);
    if (!numbers && others)
        print_divisors(out, node, p);
}

static void print_inverse(mc_text *out, const mc_node *node) {
    mc_text_string(out, "1/");
    mc_text_number(out, node->child[0]->number);
}

/* A term whose sign is already printed. */
static void print_unsigned(mc_text *out, const mc_node *node) {
    if (node->kind == MC_NUMBER)
        mc_text_number(out, fabs(node->number));
    else if (node->kind == MC_PRODUCT)
        print_product(out, node);
    else
        print_node(out, node, PRODUCT);
}

static void print_sum(mc_text *out, const mc_node *node) {
    for (int i = 0; i < node->children; i++) {
        const bool minus = leads_with_minus(node->child[i]);
        mc_text_string(out, i == 0 ? (minus ? "-" : "") : (minus ? " - " : " + "));
        print_unsigned(out, node->child[i]);
    }
}

/* The end of the run of neighbouring numbers that begins at i. */
static int64_t run_end(const mc_node *node, int64_t i) {
    int64_t end = i + 1;
    while (end < node->columns && node->column[end] == node->column[end - 1] + 1
           && !(node->column_name && node->column_name[end]))
        end++;
    return end;
}

void mc_columns_print(mc_text *out, const mc_node *node) {
    mc_text_string(out, "[");
    for (int64_t i = 0, end; i < node->columns; i = end) {
        mc_text_string(out, i ? ", " : "");
        end = i + 1;
        if (node->column_name && node->column_name[i]) {
            print_column_name(out, node->column_name[i]);
            continue;
        }
        end = run_end(node, i);
        mc_text_add(out, "%lld", (long long)node->column[i] + 1);
        if (end > i + 1)
            mc_text_add(out, ":%lld", (long long)node->column[end - 1] + 1);
    }
    mc_text_string(out, "]");
}

static void print_call(mc_text *out, const char *name, const mc_node *node) {
    mc_text_add(out, "%s(", name);
    if (node->function) {
        mc_function_print(out, node->function);
        mc_text_string(out, ", ");
    }
    print_node(out, node->child[0], SUM);
    mc_text_string(out, ")");
}

static void print_bare(mc_text *out, const mc_node *node) {
    switch (node->kind) {
    case MC_NUMBER: mc_text_number(out, node->number); break;
    case MC_ATOM: mc_atom_print(out, node); break;
    case MC_SUM: print_sum(out, node); break;
    case MC_PRODUCT:
        mc_text_string(out, leads_with_minus(node) ? "-" : "");
        print_product(out, node);
        break;
    case MC_POWER: (is_inverse(node) ? print_inverse : print_power)(out, node); break;
    case MC_EXP: print_call(out, "exp", node); break;
    case MC_SERIES: print_call(out, mc_series_rows[node->series].name, node); break;
    case MC_NORMALIZE: print_call(out, "normalize", node); break;
    case MC_WEIGH: print_call(out, "weigh", node); break;
    case MC_COLUMNS:
        print_node(out, node->child[0], PRIMARY);
        mc_columns_print(out, node);
        break;
    }
}

static void print_node(mc_text *out, const mc_node *node, print_level place) {
    const bool inside = level_of(node) < place;
    mc_text_string(out, inside ? "(" : "");
    print_bare(out, node);
    mc_text_string(out, inside ? ")" : "");
}

mercer_status mc_node_print(mercer_ctx *ctx, const mc_node *node, char **out) {
    mc_text text = mc_text_open(ctx);
    print_node(&text, node, SUM);
    return mc_text_take(&text, out);
}
