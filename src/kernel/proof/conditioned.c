/* conditioned.c: k(x, z) - k(x, 0) k(0, z)/k(0, 0), what is left of a kernel once its value at 0 is known.

   A sum with one subtracted c f(x) f(z) is of that form, and something more, where f(x) is a multiple of k(x, 0), k
   being the rest of the sum or one summand. Both are written as sums of

       factor |x|^p |x_1|^p1 ... exp(r |x| + q |x|^2 + r1 |x_1| + q1 x_1^2 + ...) (1 + b |x|^2)^a

   and compared term by term; what cannot be written so is not said to be equal. */
#include "kernel/proof/conditioned.h"
#include "kernel/language/atoms.h"
#include "kernel/proof/interval.h"
#include <math.h>

/* |x| and then |x_1|, |x_2|, ..., on one column |x| alone. */
enum { SYMBOLS = 9, SUMMANDS = 6, WHOLE_MOST = 8, DEPTH = 10 };

typedef struct summand {
    mc_interval factor, rate[SYMBOLS][2];
    double power[SYMBOLS];
    mc_interval base; /* b; a = 0: there is none */
    double exponent;
} summand;

typedef struct section {
    int count;
    bool known;
    summand item[SUMMANDS];
} section;

/* The columns that an expression sees: all d of them (0: any number), or one; and how deep it may still be nested. */
typedef struct sight {
    int64_t d, column; /* column -1: all */
    int left;
} sight;

static section section_of(const mc_term *term, sight s);

/* ---- arithmetic ---- */

static section unknown_section(void) {
    return (section){.known = false};
}

static section constant_section(mc_interval c) {
    section out = {.count = !mc_iv_is_zero(&c), .known = true};
    out.item[0] = (summand){.factor = c, .base = mc_iv(0)};
    for (int i = 0; i < SYMBOLS; i++)
        out.item[0].rate[i][0] = out.item[0].rate[i][1] = mc_iv(0);
    return out;
}

static bool same_shape(const summand *a, const summand *b) {
    bool same = a->exponent == b->exponent && (a->exponent == 0 || mc_iv_equal(&a->base, &b->base));
    for (int i = 0; i < SYMBOLS && same; i++)
        same = a->power[i] == b->power[i] && mc_iv_equal(&a->rate[i][0], &b->rate[i][0])
               && mc_iv_equal(&a->rate[i][1], &b->rate[i][1]);
    return same;
}

static void add_summand(section *to, const summand *one) {
    for (int i = 0; i < to->count; i++)
        if (same_shape(&to->item[i], one)) {
            to->item[i].factor = mc_iv_add(to->item[i].factor, one->factor);
            if (mc_iv_is_zero(&to->item[i].factor))
                to->item[i] = to->item[--to->count];
            return;
        }
    to->known = to->known && to->count < SUMMANDS;
    if (to->known)
        to->item[to->count++] = *one;
}

static section add_sections(section a, const section *b) {
    a.known = a.known && b->known;
    for (int i = 0; a.known && i < b->count; i++)
        add_summand(&a, &b->item[i]);
    return a;
}

/* False where both have a base of their own. */
static bool multiply_summand(summand *a, const summand *b) {
    if (a->exponent != 0 && b->exponent != 0 && !mc_iv_equal(&a->base, &b->base))
        return false;
    a->factor = mc_iv_mul(a->factor, b->factor);
    a->base = a->exponent != 0 ? a->base : b->base;
    a->exponent += b->exponent;
    for (int i = 0; i < SYMBOLS; i++) {
        a->power[i] += b->power[i];
        for (int q = 0; q < 2; q++)
            a->rate[i][q] = mc_iv_add(a->rate[i][q], b->rate[i][q]);
    }
    return true;
}

static section multiply_sections(const section *a, const section *b) {
    section out = {.known = a->known && b->known};
    for (int i = 0; i < a->count && out.known; i++)
        for (int j = 0; j < b->count && out.known; j++) {
            summand one = a->item[i];
            out.known = multiply_summand(&one, &b->item[j]);
            if (out.known)
                add_summand(&out, &one);
        }
    return out;
}

/* A number and a multiple of |x|^2, to any power. */
static section power_of_base(const section *a, double p) {
    const int constant = a->count == 2 && a->item[0].power[0] == 0 ? 0 : 1;
    section out = constant_section(mc_iv(1));
    if (a->count != 2 || !(a->item[constant].factor.lo > 0))
        return unknown_section();
    summand square = out.item[0], number = out.item[0];
    square.power[0] = 2;
    if (!same_shape(&a->item[constant], &number) || !same_shape(&a->item[1 - constant], &square))
        return unknown_section();
    out.item[0].factor = mc_iv_power(a->item[constant].factor, p);
    out.item[0].base = mc_iv_div(a->item[1 - constant].factor, a->item[constant].factor);
    out.item[0].exponent = p;
    return out;
}

static section power_of_section(const section *a, double p) {
    section out = constant_section(mc_iv(1));
    if (!a->known)
        return *a;
    if (p == floor(p) && p >= 0 && p <= WHOLE_MOST) {
        for (int i = 0; i < (int)p; i++)
            out = multiply_sections(&out, a);
        return out;
    }
    if (a->count != 1 || !(a->item[0].factor.lo > 0))
        return power_of_base(a, p);
    out = *a;
    summand *one = &out.item[0];
    one->factor = mc_iv_power(one->factor, p);
    one->exponent *= p;
    for (int i = 0; i < SYMBOLS; i++) {
        one->power[i] *= p;
        for (int q = 0; q < 2; q++)
            one->rate[i][q] = mc_iv_mul(one->rate[i][q], mc_iv(p));
    }
    return out;
}

/* Of multiples of |x|, |x|^2, |x_j|, x_j^2 and a number. */
static section exp_of_section(const section *a) {
    section out = constant_section(mc_iv(1));
    out.known = a->known;
    for (int k = 0; k < a->count && out.known; k++) {
        const summand *one = &a->item[k];
        summand plain = constant_section(mc_iv(1)).item[0];
        int place = -1;
        for (int i = 0; i < SYMBOLS; i++)
            place = one->power[i] != 0 ? i : place;
        if (place >= 0)
            plain.power[place] = one->power[place];
        out.known = same_shape(one, &plain) && (place < 0 || one->power[place] == 1 || one->power[place] == 2);
        if (place < 0)
            out.item[0].factor = mc_iv_mul(out.item[0].factor, mc_iv_exp(one->factor));
        else if (out.known)
            out.item[0].rate[place][(int)one->power[place] - 1] = one->factor;
    }
    return out;
}

static section symbol_section(int64_t symbol, double power, double factor) {
    section out = constant_section(mc_iv(factor));
    if (symbol >= SYMBOLS)
        return unknown_section();
    out.item[0].power[symbol] = power;
    return out;
}

/* ---- functions of the row ---- */

static int64_t symbol_of_norm(sight s) {
    return s.column < 0 || s.d == 1 ? 0 : s.column + 1;
}

static int64_t symbol_of_column(sight s, int64_t j) {
    return s.column >= 0 || s.d == 1 ? symbol_of_norm(s) : j + 1;
}

static section section_of_function(const mc_function *f, sight s) {
    const mc_function *first = f->child[0], *second = f->child[1];
    const bool column = first && first->kind == MC_F_COLUMN;
    section a, b;
    if (s.left-- == 0)
        return unknown_section();
    switch (f->kind) {
    case MC_F_NUMBER: return constant_section(mc_iv(f->number));
    case MC_F_NORM2: return symbol_section(symbol_of_norm(s), 2, 1);
    case MC_F_NORM: return symbol_section(symbol_of_norm(s), 1, 1);
    case MC_F_ABS: return column ? symbol_section(symbol_of_column(s, first->column), 1, 1) : unknown_section();
    case MC_F_COLUMN: return unknown_section();
    default: break;
    }
    if (f->kind == MC_F_POWER && column && second->kind == MC_F_NUMBER && fmod(second->number, 2) == 0)
        return symbol_section(symbol_of_column(s, first->column), second->number, 1);
    a = section_of_function(first, s);
    b = second ? section_of_function(second, s) : constant_section(mc_iv(-1));
    switch (f->kind) {
    case MC_F_ADD: return add_sections(a, &b);
    case MC_F_SUBTRACT: {
        const section minus = constant_section(mc_iv(-1));
        b = multiply_sections(&minus, &b);
        return add_sections(a, &b);
    }
    case MC_F_NEGATE:
    case MC_F_MULTIPLY: return multiply_sections(&a, &b);
    case MC_F_DIVIDE: b = power_of_section(&b, -1); return multiply_sections(&a, &b);
    case MC_F_POWER: return second->kind == MC_F_NUMBER ? power_of_section(&a, second->number) : unknown_section();
    case MC_F_SQRT: return power_of_section(&a, 0.5);
    case MC_F_EXP: return exp_of_section(&a);
    default: return unknown_section();
    }
}

/* f(0); everything where it is not known. */
static mc_interval value_at_zero(const section *f) {
    mc_interval sum = f->known ? mc_iv(0) : mc_iv_everything();
    for (int i = 0; i < f->count; i++) {
        bool constant = true;
        for (int j = 0; j < SYMBOLS; j++) {
            constant = constant && f->item[i].power[j] == 0;
            if (f->item[i].power[j] < 0)
                return mc_iv_everything();
        }
        sum = constant ? mc_iv_add(sum, f->item[i].factor) : sum;
    }
    return sum;
}

/* ---- k(x, 0) ---- */

static bool has_numbers(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (atom->parameter[i].kind != MC_VALUE_NUMBER)
            return false;
    return true;
}

/* exp(-gamma |x|^power) in these columns */
static section falling_section(double gamma, double power, int64_t first, int64_t count) {
    section exponent = {.known = true};
    for (int64_t i = first; i < first + count && exponent.known; i++) {
        const section one = symbol_section(i, power, -gamma);
        exponent = add_sections(exponent, &one);
    }
    return exp_of_section(&exponent);
}

static section laplacian_section(double gamma, sight s) {
    if (s.column >= 0 || s.d == 1)
        return falling_section(gamma, 1, symbol_of_norm(s), 1);
    return s.d > 0 ? falling_section(gamma, 1, 1, s.d) : unknown_section();
}

/* (1 + t + t^2/3) exp(-t), t = sqrt(2 nu) |x|/length_scale, up to the power nu - 1/2 */
static section matern_section(double nu, double length, int64_t symbol) {
    if (nu != 0.5 && nu != 1.5 && nu != 2.5)
        return unknown_section();
    const mc_interval t = mc_iv_div(mc_iv_sqrt(mc_iv(2 * nu)), mc_iv(length));
    section front = constant_section(mc_iv(1)), fall = symbol_section(symbol, 1, 1);
    fall.item[0].factor = mc_iv_neg(t);
    fall = exp_of_section(&fall);
    section one = symbol_section(symbol, 1, 1);
    one.item[0].factor = t;
    front = nu > 1 ? add_sections(front, &one) : front;
    one = symbol_section(symbol, 2, 1);
    one.item[0].factor = mc_iv_div(mc_iv_square(t), mc_iv(3));
    front = nu > 2 ? add_sections(front, &one) : front;
    return multiply_sections(&front, &fall);
}

/* (1 + |x|^2/(2 alpha length_scale^2))^-alpha */
static section rq_section(double alpha, double length, sight s) {
    section base = constant_section(mc_iv(1)), square = symbol_section(symbol_of_norm(s), 2, 1);
    square.item[0].factor = mc_iv_div(mc_iv(1), mc_iv_mul(mc_iv(2 * alpha), mc_iv_square(mc_iv(length))));
    base = add_sections(base, &square);
    return symbol_of_norm(s) == 0 ? power_of_base(&base, -alpha) : unknown_section();
}

static section section_of_atom(const mc_node *atom, sight s) {
    const double first = atom->parameter[0].number, second = atom->parameter[1].number;
    if (!has_numbers(atom))
        return unknown_section();
    switch (atom->atom) {
    case MC_LINEAR:
    case MC_COSINE:
    case MC_BROWNIAN: return constant_section(mc_iv(0));
    case MC_POLY: return constant_section(mc_iv_power(mc_iv(second), first));
    case MC_RBF: return falling_section(first, 2, symbol_of_norm(s), 1);
    case MC_EXPONENTIAL: return falling_section(first, 1, symbol_of_norm(s), 1);
    case MC_LAPLACIAN: return laplacian_section(first, s);
    case MC_MATERN: return matern_section(first, second, symbol_of_norm(s));
    case MC_RQ: return rq_section(first, second, s);
    default: return unknown_section();
    }
}

static section combined_section(const mc_term *term, sight s) {
    const bool sum = term->kind == MC_T_SUM;
    section out = constant_section(mc_iv(sum ? 0 : 1));
    for (int i = 0; i < term->children && out.known; i++) {
        const section child = section_of(term->child[i], s);
        out = sum ? add_sections(out, &child) : multiply_sections(&out, &child);
    }
    return out;
}

/* f(x) f(0) k(x, 0) */
static section weighed_section(const mc_term *term, sight s) {
    section k = section_of(term->child[0], s);
    if (!term->node)
        return unknown_section();
    const section f = section_of_function(term->node->function, s), at_zero = constant_section(value_at_zero(&f));
    k = multiply_sections(&k, &f);
    return multiply_sections(&k, &at_zero);
}

static section section_of(const mc_term *term, sight s) {
    section inside;
    if (s.left-- == 0)
        return unknown_section();
    switch (term->kind) {
    case MC_T_NUMBER: return term->amount.value ? unknown_section() : constant_section(mc_iv(term->amount.factor));
    case MC_T_ATOM: return section_of_atom(term->node, s);
    case MC_T_SUM:
    case MC_T_PRODUCT: return combined_section(term, s);
    case MC_T_POWER: inside = section_of(term->child[0], s); return power_of_section(&inside, term->amount.factor);
    case MC_T_EXP: inside = section_of(term->child[0], s); return exp_of_section(&inside);
    case MC_T_WEIGH: return weighed_section(term, s);
    case MC_T_COLUMNS:
        return s.column < 0 && term->node->columns == 1 && term->node->column[0] >= 0
                   ? section_of(term->child[0], (sight){s.d, term->node->column[0], s.left})
                   : unknown_section();
    default: return unknown_section();
    }
}

/* ---- the rule ---- */

static bool is_numeric(const mc_term *term, mc_interval *value) {
    *value = term->kind == MC_T_NUMBER ? mc_iv(term->amount.factor) : mc_iv_everything();
    if (term->kind == MC_T_NUMBER)
        return !term->amount.value;
    if (term->kind != MC_T_POWER || !is_numeric(term->child[0], value))
        return false;
    *value = mc_iv_power(*value, term->amount.factor);
    return true;
}

/* c f(x) f(z), f = 1 for a number. */
static bool read_outer_product(const mc_term *term, mc_interval *c, section *f, sight s) {
    const bool product = term->kind == MC_T_PRODUCT;
    mc_interval value;
    *c = mc_iv(1);
    *f = constant_section(mc_iv(1));
    for (int i = 0; i < (product ? term->children : 1); i++) {
        const mc_term *part = product ? term->child[i] : term;
        const bool weigh = part->kind == MC_T_WEIGH && part->node;
        if (!is_numeric(weigh ? part->child[0] : part, &value))
            return false;
        *c = mc_iv_mul(*c, value);
        if (weigh) {
            const section g = section_of_function(part->node->function, s);
            *f = multiply_sections(f, &g);
        }
    }
    return f->known;
}

/* f = s k(x, 0) */
static bool is_multiple_of(const section *f, const section *k, mc_interval *s) {
    if (!f->known || !k->known || f->count != k->count || f->count == 0)
        return false;
    for (int i = 0; i < f->count; i++) {
        int like = 0;
        while (like < k->count && !same_shape(&f->item[i], &k->item[like]))
            like++;
        if (like == k->count)
            return false;
        const mc_interval quotient = mc_iv_div(f->item[i].factor, k->item[like].factor);
        if (i > 0 && !mc_iv_equal(s, &quotient))
            return false;
        *s = quotient;
    }
    return true;
}

/* The outer product takes no more of k than what its value at 0 says. */
static bool is_conditioned_by(const mc_term *k, const mc_interval *c, const section *f, sight s) {
    mc_interval scale;
    const section at_zero = k ? section_of(k, s) : unknown_section();
    return is_multiple_of(f, &at_zero, &scale)
           && mc_iv_at_least(mc_iv(1),
                             mc_iv_mul(mc_iv_mul(mc_iv_neg(*c), mc_iv_square(scale)), value_at_zero(&at_zero)));
}

/* k among the summands but the one that is subtracted: all of them, or one. */
static bool find_conditioned(mc_pool *pool, const mc_term *rest, const mc_interval *c, const section *f, sight s,
                             const mc_term **k, const mc_term **others) {
    *k = rest;
    *others = NULL;
    if (is_conditioned_by(rest, c, f, s))
        return true;
    for (int i = 0; rest && rest->kind == MC_T_SUM && i < rest->children; i++)
        if (is_conditioned_by(rest->child[i], c, f, s)) {
            *k = rest->child[i];
            *others = mc_term_without(pool, rest, i);
            return *others != NULL;
        }
    return false;
}

bool mc_conditioned_parts(mc_pool *pool, const mc_term *term, int64_t d, const mc_term **k, const mc_term **others) {
    const sight s = {d, -1, DEPTH};
    for (int i = 0; term->kind == MC_T_SUM && i < term->children; i++) {
        mc_interval c;
        section f;
        if (read_outer_product(term->child[i], &c, &f, s) && c.hi < 0
            && find_conditioned(pool, mc_term_without(pool, term, i), &c, &f, s, k, others))
            return true;
    }
    return false;
}
