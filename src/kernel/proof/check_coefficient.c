/* check_coefficient.c: is a refutation by a negative coefficient true? The coefficient is computed once more from the
   tree of the expression, and by other formulas than the recurrences of negative_coefficient.c: functions are expanded
   around f_0 in the powers of what is left, h = f - f_0, which begins with t,

     f^p          f_0^p sum_m C(p, m) (h/f_0)^m, whole powers by squaring
     exp(f)       e^f_0 sum_m h^m/m!
     tanh(f)      (e^2f - 1)/(e^2f + 1), a long division
     -log(1-f)    -log(1 - f_0) + sum_m (h/(1 - f_0))^m/m
     arcsin(f)    the integral of f' (1 - f^2)^-1/2, the power as above
     I0(f)        sum_m (f^2/4)^m/m!^2, where f_0 = 0
     arccos       from arcsin(t) and (1 - t^2)^1/2 by its formula

   and a polynomial is written in Gegenbauer's by taking away, from the highest power down, what its first coefficient
   asks for. What cannot be read so is not believed. */
#include "kernel/proof/enclose.h"
#include "kernel/proof/refute.h"
#include <math.h>

enum { TERMS = 24, POWER_MOST = 64, DEPTH = 24 };

typedef struct taylor {
    mc_interval c[TERMS];
    int degree; /* nothing is left out up to it; -1: there is more */
    bool known;
} taylor;

/* sphere: on unit vectors; left: how much deeper it may be nested, since a series takes some kilobytes of the stack. */
typedef struct reading {
    bool sphere;
    int left;
} reading;

static taylor taylor_of(const mc_node *node, reading r);

static taylor constant_taylor(mc_interval v) {
    taylor out = {.known = true};
    for (int n = 0; n < TERMS; n++)
        out.c[n] = n ? mc_iv(0) : v;
    return out;
}

static taylor unknown_taylor(void) {
    taylor out = constant_taylor(mc_iv(0));
    out.known = false;
    return out;
}

/* a + b t */
static taylor affine_taylor(mc_interval a, mc_interval b) {
    taylor out = constant_taylor(a);
    out.c[1] = b;
    out.degree = 1;
    return out;
}

static taylor add_taylors(taylor a, const taylor *b) {
    for (int n = 0; n < TERMS; n++)
        a.c[n] = mc_iv_add(a.c[n], b->c[n]);
    a.degree = a.degree < 0 || b->degree < 0 ? -1 : a.degree > b->degree ? a.degree : b->degree;
    a.known = a.known && b->known;
    return a;
}

static taylor multiply_taylors(const taylor *a, const taylor *b) {
    taylor out = constant_taylor(mc_iv(0));
    for (int n = 0; n < TERMS; n++)
        for (int k = 0; k <= n; k++)
            out.c[n] = mc_iv_add(out.c[n], mc_iv_mul(b->c[k], a->c[n - k]));
    out.degree = a->degree < 0 || b->degree < 0 || a->degree + b->degree >= TERMS ? -1 : a->degree + b->degree;
    out.known = a->known && b->known;
    return out;
}

static taylor scale_taylor(taylor a, mc_interval by) {
    for (int n = 0; n < TERMS; n++)
        a.c[n] = mc_iv_mul(a.c[n], by);
    return a;
}

static taylor power_by_squaring(const taylor *a, int p) {
    taylor out = constant_taylor(mc_iv(1)), square = *a;
    for (; p > 0; p /= 2) {
        if (p % 2)
            out = multiply_taylors(&out, &square);
        if (p > 1)
            square = multiply_taylors(&square, &square);
    }
    out.known = a->known;
    return out;
}

/* The coefficient of h^m from that of h^(m-1). */
typedef mc_interval next_factor(mc_interval last, int m, double p, mc_interval at);

/* sum_m factor_m h^m, h = f - f_0 */
static taylor expand_around(const taylor *f, mc_interval first, next_factor *next, double p) {
    taylor h = *f, power = constant_taylor(mc_iv(1)), out = constant_taylor(first);
    mc_interval factor = first;
    h.c[0] = mc_iv(0);
    for (int m = 1; m < TERMS; m++) {
        power = multiply_taylors(&power, &h);
        factor = next(factor, m, p, f->c[0]);
        const taylor term = scale_taylor(power, factor);
        out = add_taylors(out, &term);
    }
    out.known = f->known;
    out.degree = -1;
    return out;
}

/* C(p, m) f_0^(p-m) */
static mc_interval next_binomial(mc_interval last, int m, double p, mc_interval at) {
    const mc_interval top = mc_iv_sub(mc_iv(p), mc_iv(m - 1));
    return mc_iv_div(mc_iv_mul(last, top), mc_iv_mul(mc_iv(m), at));
}

static mc_interval next_factorial(mc_interval last, int m, double p, mc_interval at) {
    (void)p, (void)at;
    return mc_iv_div(last, mc_iv(m));
}

/* (1 - f_0)^-m/m; the first is not of this form. */
static mc_interval next_logarithm(mc_interval last, int m, double p, mc_interval at) {
    (void)p;
    const mc_interval rest = mc_iv_sub(mc_iv(1), at);
    return m == 1 ? mc_iv_div(mc_iv(1), rest) : mc_iv_div(mc_iv_mul(last, mc_iv(m - 1)), mc_iv_mul(mc_iv(m), rest));
}

static taylor power_of_taylor(const taylor *f, double p) {
    if (p == floor(p) && p >= 0 && p <= POWER_MOST)
        return power_by_squaring(f, (int)p);
    return f->c[0].lo > 0 ? expand_around(f, mc_iv_power(f->c[0], p), next_binomial, p) : unknown_taylor();
}

static taylor exp_of_taylor(const taylor *f) {
    return expand_around(f, mc_iv_exp(f->c[0]), next_factorial, 0);
}

/* a/b */
static taylor divide_taylors(const taylor *a, const taylor *b) {
    taylor out = constant_taylor(mc_iv(0)), left = *a;
    for (int n = 0; n < TERMS; n++) {
        out.c[n] = mc_iv_div(left.c[n], b->c[0]);
        for (int k = n; k < TERMS; k++)
            left.c[k] = mc_iv_sub(left.c[k], mc_iv_mul(out.c[n], b->c[k - n]));
    }
    out.degree = -1;
    return out;
}

static taylor tanh_of_taylor(const taylor *f) {
    const taylor twice = scale_taylor(*f, mc_iv(2));
    taylor above = exp_of_taylor(&twice), below = above;
    above.c[0] = mc_iv_sub(above.c[0], mc_iv(1));
    below.c[0] = mc_iv_add(below.c[0], mc_iv(1));
    return divide_taylors(&above, &below);
}

/* (1 - f^2)^p */
static taylor power_of_one_minus_square(const taylor *f, double p) {
    taylor below = multiply_taylors(f, f);
    below = scale_taylor(below, mc_iv(-1));
    below.c[0] = mc_iv_add(below.c[0], mc_iv(1));
    return power_of_taylor(&below, p);
}

static taylor arcsine_of_taylor(const taylor *f) {
    taylor slope = constant_taylor(mc_iv(0)), out = constant_taylor(mc_iv_series(MC_ARCSIN, f->c[0]));
    const taylor root = power_of_one_minus_square(f, -0.5);
    for (int n = 0; n + 1 < TERMS; n++)
        slope.c[n] = mc_iv_mul(mc_iv(n + 1), f->c[n + 1]);
    slope = multiply_taylors(&slope, &root);
    for (int n = 1; n < TERMS; n++)
        out.c[n] = mc_iv_div(slope.c[n - 1], mc_iv(n));
    out.known = f->known && root.known;
    out.degree = -1;
    return out;
}

static taylor bessel_of_taylor(const taylor *f) {
    const taylor quarter = scale_taylor(multiply_taylors(f, f), mc_iv(0.25));
    taylor term = constant_taylor(mc_iv(1)), out = term;
    for (int m = 1; 2 * m < TERMS; m++) {
        term = scale_taylor(multiply_taylors(&term, &quarter), mc_iv_div(mc_iv(1), mc_iv((double)m * m)));
        out = add_taylors(out, &term);
    }
    out.known = f->known && mc_iv_is_zero(&f->c[0]);
    out.degree = -1;
    return out;
}

static taylor series_of_taylor(mc_series series, const taylor *f) {
    if (series == MC_ARCSIN)
        return arcsine_of_taylor(f);
    if (series == MC_BESSEL_I0)
        return bessel_of_taylor(f);
    taylor out = expand_around(f, mc_iv_series(MC_LOGARITHMIC, f->c[0]), next_logarithm, 0);
    out.known = out.known && mc_iv_sub(mc_iv(1), f->c[0]).lo > 0;
    return out;
}

/* ---- expressions ---- */

/* pi/2 + arcsin t, times what the formula of Cho and Saul says, and the roots */
static taylor arccos_taylor(int order) {
    const taylor t = affine_taylor(mc_iv(0), mc_iv(1)), root = power_of_one_minus_square(&t, 0.5);
    taylor angle = arcsine_of_taylor(&t), front = constant_taylor(mc_iv(1)), rest = constant_taylor(mc_iv(0));
    angle.c[0] = mc_iv_div(mc_iv_pi(), mc_iv(2));
    if (order == 1) {
        front = t;
        rest = root;
    }
    if (order == 2) {
        front.c[2] = mc_iv(2);
        front.degree = 2;
        const taylor thrice = scale_taylor(t, mc_iv(3));
        rest = multiply_taylors(&thrice, &root);
    }
    taylor out = multiply_taylors(&front, &angle);
    out = add_taylors(out, &rest);
    return scale_taylor(out, mc_iv_div(mc_iv(1), mc_iv_pi()));
}

static taylor taylor_on_sphere(const mc_node *atom) {
    const mc_interval twice = mc_iv_mul(mc_iv(2), mc_iv(atom->parameter[0].number));
    taylor exponent = affine_taylor(mc_iv_neg(twice), twice);
    switch (atom->atom) {
    case MC_COSINE: return affine_taylor(mc_iv(0), mc_iv(1));
    case MC_RBF: return exp_of_taylor(&exponent);
    case MC_ARCCOS: return arccos_taylor((int)atom->parameter[0].number);
    default: return unknown_taylor();
    }
}

static taylor taylor_of_atom(const mc_node *atom, bool sphere) {
    const mc_value *v = atom->parameter;
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (v[i].kind != MC_VALUE_NUMBER)
            return unknown_taylor();
    taylor inside;
    switch (atom->atom) {
    case MC_LINEAR: return affine_taylor(mc_iv(0), mc_iv(1));
    case MC_POLY:
        inside = affine_taylor(mc_iv(v[1].number), mc_iv(v[2].number));
        return power_of_taylor(&inside, v[0].number);
    case MC_TANH: inside = affine_taylor(mc_iv(v[1].number), mc_iv(v[0].number)); return tanh_of_taylor(&inside);
    default: return sphere ? taylor_on_sphere(atom) : unknown_taylor();
    }
}

static bool names_column(const mc_function *f) {
    return f && (f->kind == MC_F_COLUMN || names_column(f->child[0]) || names_column(f->child[1]));
}

static bool names_norm(const mc_function *f) {
    return f && (f->kind == MC_F_NORM || f->kind == MC_F_NORM2 || names_norm(f->child[0]) || names_norm(f->child[1]));
}

/* f(x) f(z) is a number where f is one, and on the sphere where it is a function of the norm. */
static taylor taylor_of_weigh(const mc_node *node, reading r) {
    const double one = 1;
    const mc_view view = {.d = 1};
    const mc_interval f = mc_enclose_function(node->function, &view, &one);
    taylor out = taylor_of(node->child[0], r);
    out.known = out.known && !names_column(node->function) && (r.sphere || !names_norm(node->function));
    return scale_taylor(out, mc_iv_mul(f, f));
}

static taylor combined_taylor(const mc_node *node, reading r) {
    const bool sum = node->kind == MC_SUM;
    taylor out = constant_taylor(mc_iv(sum ? 0 : 1));
    for (int i = 0; i < node->children && out.known; i++) {
        const taylor child = taylor_of(node->child[i], r);
        out = sum ? add_taylors(out, &child) : multiply_taylors(&out, &child);
    }
    return out;
}

static taylor taylor_of(const mc_node *node, reading r) {
    taylor inside = {.known = false};
    if (r.left-- == 0)
        return inside;
    if (node->kind == MC_POWER || node->kind == MC_EXP || node->kind == MC_SERIES) {
        inside = taylor_of(node->child[0], r);
        if (!inside.known)
            return inside;
    }
    switch (node->kind) {
    case MC_NUMBER: return constant_taylor(mc_iv(node->number));
    case MC_ATOM: return taylor_of_atom(node, r.sphere);
    case MC_SUM:
    case MC_PRODUCT: return combined_taylor(node, r);
    case MC_POWER: return power_of_taylor(&inside, node->number);
    case MC_EXP: return exp_of_taylor(&inside);
    case MC_SERIES: return series_of_taylor(node->series, &inside);
    case MC_WEIGH: return taylor_of_weigh(node, r);
    default: return unknown_taylor();
    }
}

/* ---- the sphere of R^d ---- */

/* P_n of R^d, which is 1 at 1, as a polynomial in t: (n + d - 3) P_n = (2n + d - 4) t P_(n-1) - (n - 1) P_(n-2). */
static taylor gegenbauer_taylor(int n, int64_t d) {
    const taylor t = affine_taylor(mc_iv(0), mc_iv(1));
    taylor before = constant_taylor(mc_iv(1)), last = t;
    for (int k = 2; k <= n; k++) {
        const taylor up = scale_taylor(multiply_taylors(&t, &last), mc_iv(2.0 * k + (double)d - 4)),
                     down = scale_taylor(before, mc_iv(1 - k));
        before = last;
        last = scale_taylor(add_taylors(up, &down), mc_iv_div(mc_iv(1), mc_iv((double)(k + d - 3))));
    }
    return n == 0 ? before : last;
}

/* On R^1 the sphere is 1 and -1, where t^2 = 1. */
static mc_interval coefficient_on_line(const taylor *f, int order) {
    mc_interval sum = mc_iv(0);
    for (int n = order; n <= f->degree; n += 2)
        sum = mc_iv_add(sum, f->c[n]);
    return order < 2 ? sum : mc_iv(0);
}

static mc_interval gegenbauer_coefficient(taylor f, int order, int64_t d) {
    mc_interval found = mc_iv(0);
    if (d == 1)
        return coefficient_on_line(&f, order);
    for (int n = f.degree; n >= order; n--) {
        const taylor p = gegenbauer_taylor(n, d);
        found = mc_iv_div(f.c[n], p.c[n]);
        const taylor taken = scale_taylor(p, mc_iv_neg(found));
        f = add_taylors(f, &taken);
    }
    return found;
}

bool mc_verify_coefficient(const mc_node *instance, const mc_negative_frequency *claim) {
    const taylor f = taylor_of(instance, (reading){claim->series != MC_SERIES_INNER, DEPTH});
    const bool sphere = claim->series == MC_SERIES_GEGENBAUER;
    if (!f.known || claim->order < 0 || claim->order >= TERMS || (sphere && (f.degree < claim->order || claim->d < 1)))
        return false;
    const mc_interval v = sphere ? gegenbauer_coefficient(f, claim->order, claim->d) : f.c[claim->order];
    return v.hi < 0 && v.lo <= claim->value + claim->bound && v.hi >= claim->value - claim->bound;
}
