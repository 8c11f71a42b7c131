/* negative_coefficient.c: a power series with a negative coefficient is no kernel.

   An expression that is F(<x,z>) with F(t) = c_0 + c_1 t + c_2 t^2 + ... near 0 is none on any R^d when some c_n < 0:
   points e y_i of the first axis with weights for which sum w_i y_i^j is 0 for j < n and 1 for j = n have the sum
   c_n e^2n + O(e^(2n+2)).

   On the unit sphere <x,z> is the cosine, norms are 1, and so also arccos and rbf are power series in it. Of a kernel
   for every number of columns all coefficients are >= 0 (Schoenberg 1942); of one on R^d those of Gegenbauer's
   polynomials, which a polynomial has exactly. */
#include "base/status.h"
#include "kernel/proof/expand.h"
#include "kernel/proof/refute.h"
#include <math.h>

enum { TERMS = 24, POWER_MAX = 64 };

typedef struct power_series {
    mc_interval c[TERMS];
    bool polynomial; /* nothing is left out */
} power_series;

static bool read_series(const mc_term *term, bool sphere, power_series *out);

static void clear_series(power_series *s) {
    for (int n = 0; n < TERMS; n++)
        s->c[n] = mc_iv(0);
    s->polynomial = true;
}

/* ---- arithmetic ---- */

static int degree_of(const power_series *s) {
    int n = TERMS - 1;
    while (n > 0 && mc_iv_is_zero(&s->c[n]))
        n--;
    return n;
}

static void multiply_series(power_series *a, const power_series *b) {
    power_series out;
    clear_series(&out);
    out.polynomial = a->polynomial && b->polynomial && degree_of(a) + degree_of(b) < TERMS;
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; i + j < TERMS && !mc_iv_is_zero(&a->c[i]); j++)
            out.c[i + j] = mc_iv_add(out.c[i + j], mc_iv_mul(a->c[i], b->c[j]));
    *a = out;
}

static void whole_power(power_series *a, int p) {
    power_series out;
    clear_series(&out);
    out.c[0] = mc_iv(1);
    for (int i = 0; i < p; i++)
        multiply_series(&out, a);
    *a = out;
}

/* g = f^p with f_0 > 0: n f_0 g_n = sum_k (k p - (n - k)) f_k g_(n-k), from f g' = p f' g. */
static bool real_power(power_series *f, double p) {
    power_series g = {.polynomial = false};
    if (!(f->c[0].lo > 0))
        return false;
    g.c[0] = mc_iv_power(f->c[0], p);
    for (int n = 1; n < TERMS; n++) {
        mc_interval sum = mc_iv(0);
        for (int k = 1; k <= n; k++) {
            const mc_interval factor = mc_iv_sub(mc_iv_mul(mc_iv(k), mc_iv(p)), mc_iv(n - k));
            sum = mc_iv_add(sum, mc_iv_mul(factor, mc_iv_mul(f->c[k], g.c[n - k])));
        }
        g.c[n] = mc_iv_div(sum, mc_iv_mul(mc_iv(n), f->c[0]));
    }
    *f = g;
    return true;
}

static bool raise_series(power_series *f, double p) {
    if (p != floor(p) || p < 0 || p > POWER_MAX)
        return real_power(f, p);
    whole_power(f, (int)p);
    return true;
}

/* g = exp(f): n g_n = sum_k k f_k g_(n-k). */
static void exp_series(power_series *f) {
    power_series g = {.polynomial = false};
    g.c[0] = mc_iv_exp(f->c[0]);
    for (int n = 1; n < TERMS; n++) {
        g.c[n] = mc_iv(0);
        for (int k = 1; k <= n; k++)
            g.c[n] = mc_iv_add(g.c[n], mc_iv_mul(mc_iv(k), mc_iv_mul(f->c[k], g.c[n - k])));
        g.c[n] = mc_iv_div(g.c[n], mc_iv(n));
    }
    *f = g;
}

/* y = -log(1 - u): y' (1 - u) = u'. */
static bool logarithmic_series(power_series *u) {
    power_series y = {.polynomial = false};
    const mc_interval rest = mc_iv_sub(mc_iv(1), u->c[0]);
    if (!(rest.lo > 0))
        return false;
    y.c[0] = mc_iv_series(MC_LOGARITHMIC, u->c[0]);
    for (int n = 1; n < TERMS; n++) {
        mc_interval sum = mc_iv_mul(mc_iv(n), u->c[n]);
        for (int k = 1; k < n; k++)
            sum = mc_iv_add(sum, mc_iv_mul(mc_iv(n - k), mc_iv_mul(u->c[k], y.c[n - k])));
        y.c[n] = mc_iv_div(sum, mc_iv_mul(mc_iv(n), rest));
    }
    *u = y;
    return true;
}

/* y = arcsin(u): y' = u' (1 - u^2)^(-1/2). */
static bool arcsine_series(power_series *u) {
    power_series g = *u, y = {.polynomial = false};
    multiply_series(&g, u);
    for (int n = 0; n < TERMS; n++)
        g.c[n] = n ? mc_iv_neg(g.c[n]) : mc_iv_sub(mc_iv(1), g.c[0]);
    if (!real_power(&g, -0.5))
        return false;
    y.c[0] = mc_iv_series(MC_ARCSIN, u->c[0]);
    for (int n = 1; n < TERMS; n++) {
        y.c[n] = mc_iv(0);
        for (int k = 1; k <= n; k++)
            y.c[n] = mc_iv_add(y.c[n], mc_iv_mul(mc_iv(k), mc_iv_mul(u->c[k], g.c[n - k])));
        y.c[n] = mc_iv_div(y.c[n], mc_iv(n));
    }
    *u = y;
    return true;
}

/* Of u without a constant: then the n-th power of u begins with that of t. */
static bool bessel_series(power_series *u) {
    power_series y;
    clear_series(&y);
    if (!mc_iv_is_zero(&u->c[0]))
        return false;
    for (int n = TERMS - 1; n >= 0; n--) {
        multiply_series(&y, u);
        y.c[0] = mc_iv_add(y.c[0], mc_series_coefficient(MC_BESSEL_I0, n));
    }
    *u = y;
    u->polynomial = false;
    return true;
}

static bool (*const composed[MC_SERIES_COUNT])(power_series *) = {
    [MC_LOGARITHMIC] = logarithmic_series, [MC_ARCSIN] = arcsine_series, [MC_BESSEL_I0] = bessel_series};

/* ---- atoms ---- */

/* a t + b */
static void affine_series(mc_interval a, mc_interval b, power_series *out) {
    clear_series(out);
    out->c[0] = b;
    out->c[1] = a;
}

static bool are_numbers(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (atom->parameter[i].kind != MC_VALUE_NUMBER)
            return false;
    return true;
}

/* tanh(a t + c): y' = a (1 - y^2). */
static void tanh_series(double a, double c, power_series *y) {
    clear_series(y);
    y->polynomial = false;
    y->c[0] = mc_iv_tanh(mc_iv(c));
    for (int n = 0; n + 1 < TERMS; n++) {
        mc_interval sum = mc_iv(n == 0);
        for (int k = 0; k <= n; k++)
            sum = mc_iv_sub(sum, mc_iv_mul(y->c[k], y->c[n - k]));
        y->c[n + 1] = mc_iv_div(mc_iv_mul(mc_iv(a), sum), mc_iv(n + 1));
    }
}

static bool sphere_atom(const mc_node *atom, power_series *out) {
    const double first = atom->parameter[0].number;
    const mc_interval twice = mc_iv_mul(mc_iv(2), mc_iv(first));
    switch (atom->atom) {
    case MC_COSINE: affine_series(mc_iv(1), mc_iv(0), out); return true;
    case MC_RBF:
        affine_series(twice, mc_iv_neg(twice), out);
        exp_series(out);
        return true;
    case MC_ARCCOS:
        clear_series(out);
        out->polynomial = false;
        for (int n = 0; n < TERMS; n++)
            out->c[n] = mc_arccos_coefficient((int)first, n);
        return true;
    default: return false;
    }
}

static bool atom_series(const mc_node *atom, bool sphere, power_series *out) {
    const mc_value *v = atom->parameter;
    if (!are_numbers(atom))
        return false;
    switch (atom->atom) {
    case MC_LINEAR: affine_series(mc_iv(1), mc_iv(0), out); return true;
    case MC_POLY: affine_series(mc_iv(v[2].number), mc_iv(v[1].number), out); return raise_series(out, v[0].number);
    case MC_TANH: tanh_series(v[0].number, v[1].number, out); return true;
    default: return sphere && sphere_atom(atom, out);
    }
}

/* ---- terms ---- */

static bool combined_series(const mc_term *term, bool sphere, power_series *out) {
    const bool sum = term->kind == MC_T_SUM;
    clear_series(out);
    out->c[0] = mc_iv(sum ? 0 : 1);
    for (int i = 0; i < term->children; i++) {
        power_series child;
        if (!read_series(term->child[i], sphere, &child))
            return false;
        if (!sum)
            multiply_series(out, &child);
        for (int n = 0; sum && n < TERMS; n++)
            out->c[n] = mc_iv_add(out->c[n], child.c[n]);
        out->polynomial = out->polynomial && child.polynomial;
    }
    return true;
}

/* f(x) f(z), a number where f is one, and on the sphere where it is a power of the norm. */
static bool weighed_series(const mc_term *term, bool sphere, power_series *out) {
    mc_interval a;
    int p;
    if (!term->node || !mc_power_of_norm(term->node->function, &a, &p) || (p && !sphere)
        || !read_series(term->child[0], sphere, out))
        return false;
    for (int n = 0; n < TERMS; n++)
        out->c[n] = mc_iv_mul(out->c[n], mc_iv_square(a));
    return true;
}

static bool read_series(const mc_term *term, bool sphere, power_series *out) {
    switch (term->kind) {
    case MC_T_NUMBER: affine_series(mc_iv(0), mc_amount_range(term->amount), out); return !term->amount.value;
    case MC_T_ATOM: return atom_series(term->node, sphere, out);
    case MC_T_SUM:
    case MC_T_PRODUCT: return combined_series(term, sphere, out);
    case MC_T_POWER: return read_series(term->child[0], sphere, out) && raise_series(out, term->amount.factor);
    case MC_T_EXP:
        if (!read_series(term->child[0], sphere, out))
            return false;
        exp_series(out);
        return true;
    case MC_T_SERIES: return read_series(term->child[0], sphere, out) && composed[term->node->series](out);
    case MC_T_WEIGH: return weighed_series(term, sphere, out);
    default: return false;
    }
}

/* ---- the sphere of R^d ---- */

/* A polynomial in Gegenbauer's, divided by their values at 1. */
static void change_to_gegenbauer(power_series *s, int64_t d) {
    power_series v;
    clear_series(&v);
    const int degree = degree_of(s);
    for (int n = degree; n >= 0; n--) {
        if (n < degree)
            mc_multiply_by_cosine(v.c, degree - n - 1, d);
        v.c[0] = mc_iv_add(v.c[0], s->c[n]);
    }
    *s = v;
}

/* ---- the search ---- */

static bool find_negative(const power_series *s, mc_negative_frequency *out) {
    for (int n = 0; n < TERMS; n++)
        if (s->c[n].hi < 0 && isfinite(s->c[n].lo)) {
            out->order = n;
            mc_set_negative_value(s->c[n], out);
            return out->found;
        }
    return false;
}

static void look_at_term(const mc_term *term, int64_t d, bool any, mc_negative_frequency *out) {
    power_series s;
    *out = (mc_negative_frequency){.d = d, .series = MC_SERIES_INNER};
    if (read_series(term, false, &s) && find_negative(&s, out))
        return;
    out->series = any ? MC_SERIES_SPHERES : MC_SERIES_GEGENBAUER;
    if (!read_series(term, true, &s) || (!any && !s.polynomial))
        return;
    if (!any)
        change_to_gegenbauer(&s, d);
    find_negative(&s, out);
}

mercer_status mc_find_negative_coefficient(mercer_ctx *ctx, const mc_node *instance, int64_t d, bool any,
                                           mc_negative_frequency *out) {
    mc_pool pool = mc_pool_open(ctx);
    const mc_term *term = mc_term_from(&pool, instance);
    if (term)
        look_at_term(term, d, any, out);
    mc_pool_close(&pool);
    return term ? MERCER_OK : MERCER_MEMORY;
}
