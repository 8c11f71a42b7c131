/* positive.c: when does a multiplied-out expression with subtractions still give a kernel? Four sufficient tests.

   Nonnegative: a sum of products of kernels, of exp of kernels and of Gaussians, with factors >= 0.

   Series: F(g) M with F(g) = sum_k c_k g^m_k exp(a_k g). n! times the n-th Taylor coefficient of F is
       s_n = sum_k c_k n(n-1)...(n-m_k+1) a_k^(n-m_k)        (terms with n < m_k are absent, 0^0 = 1)
   and F(g) is a kernel for every kernel g when no s_n is negative. The first ones are computed. From some n = N on the
   terms with c, a > 0 outweigh those that may be negative: each of the latter takes what it needs at N from terms
   against which it does not grow. The quotient of (c, m, a) and (c_k, m_k, a_k) changes from n to n + 1 by the factor
   (a/|a_k|) (n+1-m_k)/(n+1-m), which is at least 1 for |a_k| <= a and m_k <= m, and for m_k > m from the first n on
   where it is: it grows with n. So what is outweighed at N is so at every n >= N.

   Sphere: with F as above and g = cosine, F(t) - F(0) in the polynomials P_k of R^d with P_k(1) = 1 and
   t P_k = ((k+d-2) P_(k+1) + k P_(k-1))/(2k+d-2), t P_0 = P_1: the first terms are computed by Horner's rule, and from
   N on, where no s_n is negative, each power t^n is a sum of P_k with factors that are not.

   Gaussians: the Fourier transform of exp(-sum_j w_j u_j^2) is a Gaussian density times prod_j (pi/w_j)^(1/2), wider
   where w is larger; a column with w_j = 0 gives a point mass at frequency 0. So a exp(-w.u^2) - b exp(-v.u^2) has a
   transform that is nowhere negative exactly when w and v vanish in the same columns, w_j >= v_j in the others, and a
   prod (v_j/w_j)^(1/2) >= b (Bochner). Several subtracted Gaussians each take what they need from those added. */
#include "kernel/proof/expand_list.h"
#include <math.h>

/* ---- nonnegative ---- */

static bool nonnegative_exponents(const mc_expansion *e, const mc_monomial *m) {
    for (int g = 0; g < MC_GENERATORS_MAX; g++)
        if ((!e->weight[g] && !(m->rate[g].lo >= 0)) || m->power[g] < 0 || (e->weight[g] && m->power[g] > 0))
            return false;
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!(m->widths[j].lo >= 0))
            return false;
    return m->width.lo >= 0 && !mc_has_column_powers(m);
}

bool mc_expansion_nonnegative(const mc_expansion *e, int sign, bool any_constant) {
    for (int i = 0; i < e->count; i++) {
        const mc_monomial *m = &e->monomial[i];
        if (any_constant && mc_monomial_is_constant(m))
            continue;
        const mc_interval factor = sign < 0 ? mc_iv_neg(m->factor) : m->factor;
        if (!(factor.lo >= 0) || !nonnegative_exponents(e, m))
            return false;
    }
    return e->whole;
}

/* ---- groups ---- */

/* Which parts two monomials share. */
typedef enum part { APART_FROM_GENERATOR, APART_FROM_WIDTHS } part;

static bool same_widths(const mc_monomial *a, const mc_monomial *b) {
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!mc_iv_equal(&a->widths[j], &b->widths[j]))
            return false;
    return mc_iv_equal(&a->width, &b->width);
}

static bool are_in_same_group(const mc_monomial *a, const mc_monomial *b, part shared, int skip) {
    for (int g = 0; g < MC_GENERATORS_MAX; g++)
        if (!(shared == APART_FROM_GENERATOR && g == skip)
            && (a->power[g] != b->power[g] || !mc_iv_equal(&a->rate[g], &b->rate[g])))
            return false;
    return shared == APART_FROM_WIDTHS || same_widths(a, b);
}

typedef struct group {
    int count;
    const mc_monomial *member[MC_MONOMIALS_MAX];
} group;

static group group_of(const mc_expansion *e, int first, part shared, int skip) {
    group s = {0};
    for (int i = 0; i < e->count; i++)
        if (are_in_same_group(&e->monomial[first], &e->monomial[i], shared, skip))
            s.member[s.count++] = &e->monomial[i];
    return s;
}

/* ---- series ---- */

enum { SERIES_TERMS = 150 };

/* c n(n-1)...(n-m+1) a^(n-m) */
static mc_interval taylor_coefficient(const mc_monomial *t, int g, int n, bool absolute) {
    const int m = t->power[g];
    const mc_interval a = absolute ? mc_iv_abs(t->rate[g]) : t->rate[g];
    if (n < m)
        return mc_iv(0);
    mc_interval r = mc_iv_mul(absolute ? mc_iv_abs(t->factor) : t->factor, mc_iv_power(a, n - m));
    for (int i = 0; i < m; i++)
        r = mc_iv_mul(r, mc_iv(n - i));
    return r;
}

static bool coefficient_nonnegative(const group *s, int g, int n) {
    mc_interval sum = mc_iv(0);
    for (int i = 0; i < s->count; i++)
        sum = mc_iv_add(sum, taylor_coefficient(s->member[i], g, n, false));
    return sum.lo >= 0;
}

static bool may_be_negative_late(const mc_monomial *t, int g) {
    return (t->factor.lo < 0 || t->rate[g].lo < 0) && !mc_iv_is_zero(&t->rate[g]);
}

/* From n on the quotient of t and other grows: a (n+1-m_k) >= |a_k| (n+1-m), and where that holds with m_k > m it
   holds for every larger n, since (n+1-m_k)/(n+1-m) grows with n. */
static bool grows_no_faster(const mc_monomial *other, const mc_monomial *t, int g, int n) {
    const mc_interval rate = mc_iv_abs(other->rate[g]);
    if (!mc_iv_at_least(t->rate[g], rate))
        return false;
    return other->power[g] <= t->power[g]
           || mc_iv_at_least(mc_iv_mul(t->rate[g], mc_iv(n + 1 - other->power[g])),
                             mc_iv_mul(rate, mc_iv(n + 1 - t->power[g])));
}

/* Take what a term that may be negative needs at n from those that never are; left[] is what remains of them. */
static bool cover_negative_term(const group *s, int g, const mc_monomial *other, int n, mc_interval *left) {
    mc_interval need = taylor_coefficient(other, g, n, true);
    for (int i = 0; i < s->count; i++) {
        if (!(left[i].lo > 0) || !grows_no_faster(other, s->member[i], g, n))
            continue;
        const mc_interval rest = mc_iv_sub(left[i], need);
        if (rest.lo >= 0) {
            left[i] = rest;
            return true;
        }
        need = mc_iv_sub(need, mc_iv_of(left[i].lo, left[i].lo));
        left[i] = mc_iv(0);
    }
    return false;
}

static bool tail_nonnegative(const group *s, int g, int n) {
    mc_interval left[MC_MONOMIALS_MAX];
    for (int i = 0; i < s->count; i++) {
        const bool never = s->member[i]->factor.lo > 0 && s->member[i]->rate[g].lo > 0;
        left[i] = never ? taylor_coefficient(s->member[i], g, n, false) : mc_iv(0);
    }
    for (int i = 0; i < s->count; i++)
        if (may_be_negative_late(s->member[i], g) && !cover_negative_term(s, g, s->member[i], n, left))
            return false;
    return true;
}

static bool series_nonnegative(const group *s, int g) {
    int degree = 0;
    for (int i = 0; i < s->count; i++)
        degree = s->member[i]->power[g] > degree ? s->member[i]->power[g] : degree;
    for (int n = 0; n < SERIES_TERMS; n++) {
        if (n > degree && tail_nonnegative(s, g, n))
            return true;
        if (!coefficient_nonnegative(s, g, n))
            return false;
    }
    return false;
}

static bool rest_nonnegative(const mc_expansion *e, const mc_monomial *m, int skip) {
    mc_monomial rest = *m;
    rest.power[skip] = 0;
    rest.rate[skip] = mc_iv(0);
    return nonnegative_exponents(e, &rest);
}

static bool series_in(const mc_expansion *e, int g) {
    for (int i = 0; i < e->count; i++) {
        const group s = group_of(e, i, APART_FROM_GENERATOR, g);
        if (s.count == 0
            || (s.member[0] == &e->monomial[i] && !(rest_nonnegative(e, s.member[0], g) && series_nonnegative(&s, g))))
            return false;
    }
    return true;
}

bool mc_expansion_series(const mc_expansion *e, int *generator) {
    for (int g = 0; e->whole && g < e->generators; g++)
        if (mc_expansion_uses(e, g) && series_in(e, g)) {
            *generator = g;
            return true;
        }
    return false;
}

/* ---- the sphere ---- */

enum { SPHERE_TERMS = 60 };

/* The rows of how many columns a cosine sees; 0: it is none, or any number. */
static int64_t columns_of_cosine(const mc_term *term, int64_t d) {
    const mc_term *inner = term->kind == MC_T_COLUMNS ? term->child[0] : term;
    if (inner->kind != MC_T_ATOM || inner->node->atom != MC_COSINE)
        return 0;
    return term->kind == MC_T_COLUMNS ? term->node->columns : d;
}

void mc_multiply_by_cosine(mc_interval *v, int degree, int64_t d) {
    mc_interval product[SPHERE_TERMS + 1];
    for (int k = 0; k <= degree + 1; k++)
        product[k] = mc_iv(0);
    for (int k = 0; k <= degree; k++) {
        const double all = k == 0 ? 1 : (double)(2 * k + d - 2), up = k == 0 ? 1 : (double)(k + d - 2);
        product[k + 1] = mc_iv_add(product[k + 1], mc_iv_div(mc_iv_mul(mc_iv(up), v[k]), mc_iv(all)));
        if (k > 0)
            product[k - 1] = mc_iv_add(product[k - 1], mc_iv_div(mc_iv_mul(mc_iv(k), v[k]), mc_iv(all)));
    }
    for (int k = 0; k <= degree + 1; k++)
        v[k] = product[k];
}

/* s_n/n! */
static mc_interval power_coefficient(const group *s, int g, int n) {
    mc_interval sum = mc_iv(0);
    for (int i = 0; i < s->count; i++)
        sum = mc_iv_add(sum, taylor_coefficient(s->member[i], g, n, false));
    for (int i = 2; i <= n; i++)
        sum = mc_iv_div(sum, mc_iv(i));
    return sum;
}

/* The sum of the coefficients up to last, F(0) apart where a row may be 0. */
static bool sphere_nonnegative(const group *s, int g, int last, int64_t d, bool apart) {
    mc_interval v[SPHERE_TERMS + 1];
    for (int k = 0; k <= SPHERE_TERMS; k++)
        v[k] = mc_iv(0);
    for (int n = last; n >= 0; n--) {
        if (n < last)
            mc_multiply_by_cosine(v, last - n - 1, d);
        if (n > 0 || !apart)
            v[0] = mc_iv_add(v[0], power_coefficient(s, g, n));
    }
    for (int k = 0; k <= last; k++)
        if (!(v[k].lo >= 0))
            return false;
    return !apart || power_coefficient(s, g, 0).lo >= 0;
}

/* Some norm of the same columns is a factor, so that rows of 0 give 0. */
static bool has_norm_factor(const mc_expansion *e, const mc_monomial *m, int cosine) {
    const mc_term *seen = e->generator[cosine];
    for (int g = 0; g < e->generators; g++) {
        const mc_term *term = e->generator[g];
        const bool viewed = term->kind == MC_T_COLUMNS;
        if (m->power[g] > 0 && mc_is_norm_weight(viewed ? term->child[0] : term)
            && viewed == (seen->kind == MC_T_COLUMNS) && (!viewed || term->node == seen->node))
            return true;
    }
    return false;
}

static bool sphere_group(const mc_expansion *e, const group *s, int g, int64_t d) {
    const bool apart = !has_norm_factor(e, s->member[0], g);
    int n = 1;
    for (int i = 0; i < s->count; i++)
        n = s->member[i]->power[g] >= n ? s->member[i]->power[g] + 1 : n;
    while (n < SPHERE_TERMS && !tail_nonnegative(s, g, n))
        n++;
    return n < SPHERE_TERMS
           && (sphere_nonnegative(s, g, n - 1, d, apart) || sphere_nonnegative(s, g, SPHERE_TERMS - 1, d, apart));
}

static bool sphere_in(const mc_expansion *e, int g, int64_t d) {
    for (int i = 0; i < e->count; i++) {
        const group s = group_of(e, i, APART_FROM_GENERATOR, g);
        if (s.count == 0 /* an exponent that is no point equals none */
            || (s.member[0] == &e->monomial[i] && !(rest_nonnegative(e, s.member[0], g) && sphere_group(e, &s, g, d))))
            return false;
    }
    return e->count > 0;
}

bool mc_expansion_sphere(const mc_expansion *e, int64_t d) {
    for (int g = 0; e->whole && g < e->generators; g++) {
        const int64_t columns = columns_of_cosine(e->generator[g], d);
        if (columns > 0 && mc_expansion_uses(e, g) && sphere_in(e, g, columns))
            return true;
    }
    return false;
}

/* ---- with remainders ---- */

const mc_taylor_form mc_taylor_forms[MC_TAYLOR_FORMS] = {{MC_TAYLOR, 0},
                                                         {MC_TAYLOR, 1},
                                                         {MC_TAYLOR, 2},
                                                         {MC_TAYLOR, 4},
                                                         {MC_TAYLOR, 8},
                                                         {MC_TAYLOR_GAUSSIANS, 1},
                                                         {MC_TAYLOR_GAUSSIANS, 2},
                                                         {MC_TAYLOR_GAUSSIANS, 3},
                                                         {MC_POLAR, 0},
                                                         {MC_POLAR, 1},
                                                         {MC_POLAR, 2},
                                                         {MC_POLAR, 4},
                                                         {MC_POLAR, 8},
                                                         {MC_POLAR, 12},
                                                         {MC_POLAR, 20}};

bool mc_taylor_settles(const mc_expansion *e, mc_expand_mode mode, int64_t d) {
    int generator;
    if (!e->whole)
        return false;
    if (mc_expansion_nonnegative(e, 1, false))
        return true;
    if (mode == MC_TAYLOR_GAUSSIANS)
        return mc_expansion_gaussians(e, d) || mc_expansion_spectra(e, d);
    return mode == MC_POLAR ? mc_expansion_sphere(e, d) : mc_expansion_series(e, &generator);
}

/* ---- Gaussians ---- */

static int last_column(const mc_monomial *m) {
    int last = 0;
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!mc_iv_is_zero(&m->widths[j]))
            last = j + 1;
    return last;
}

/* v / w for one column, 1 where both vanish; -1 when a Gaussian of width v is not outweighed by one of width w. */
static mc_interval width_quotient(mc_interval w, mc_interval v) {
    if (mc_iv_is_zero(&w) && mc_iv_is_zero(&v))
        return mc_iv(1);
    return v.lo > 0 && mc_iv_at_least(w, v) ? mc_iv_div(v, w) : mc_iv(-1);
}

/* The largest share of the Gaussian `minus` that one unit of `plus` outweighs; 0: none. */
static mc_interval outweighed_share(const mc_monomial *plus, const mc_monomial *minus, int64_t d) {
    const int a = last_column(plus), b = last_column(minus), listed = a > b ? a : b;
    mc_interval r = mc_iv(1);
    for (int j = 0; j < listed; j++) {
        const mc_interval q =
            width_quotient(mc_iv_add(plus->width, plus->widths[j]), mc_iv_add(minus->width, minus->widths[j]));
        if (q.lo < 0)
            return mc_iv(0);
        r = mc_iv_mul(r, q);
    }
    const mc_interval rest = width_quotient(plus->width, minus->width);
    const bool cancels = mc_iv_equal(&plus->width, &minus->width);
    if ((d == 0 && !cancels) || (d > listed && rest.lo < 0) || (d > 0 && d < listed))
        return mc_iv(0);
    if (d > listed && !cancels)
        r = mc_iv_mul(r, mc_iv_power(rest, (double)(d - listed)));
    return mc_iv_sqrt(r);
}

/* Take what the subtracted Gaussian needs from those added, left to right; left[] is what remains of them. */
static bool cover_subtracted_gaussian(const group *s, mc_interval *left, const mc_monomial *minus, int64_t d) {
    mc_interval need = mc_iv_neg(minus->factor);
    for (int i = 0; i < s->count; i++) {
        const mc_interval unit = left[i].lo > 0 ? outweighed_share(s->member[i], minus, d) : mc_iv(0);
        if (!(unit.lo > 0))
            continue;
        const mc_interval covered = mc_iv_mul(left[i], unit);
        if (mc_iv_sub(covered, need).lo >= 0) {
            left[i] = mc_iv_max(mc_iv_sub(left[i], mc_iv_div(need, unit)), mc_iv(0));
            return true;
        }
        need = mc_iv_sub(need, covered);
        left[i] = mc_iv(0);
    }
    return false;
}

static bool gaussian_group(const mc_expansion *e, const group *s, int64_t d) {
    mc_interval left[MC_MONOMIALS_MAX];
    for (int i = 0; i < s->count; i++)
        left[i] = s->member[i]->factor.lo >= 0 ? s->member[i]->factor : mc_iv(0);
    for (int i = 0; i < s->count; i++) {
        const mc_monomial *m = s->member[i];
        if (!nonnegative_exponents(e, m) || (m->factor.lo < 0 && !cover_subtracted_gaussian(s, left, m, d)))
            return false;
    }
    return true;
}

bool mc_expansion_gaussians(const mc_expansion *e, int64_t d) {
    for (int i = 0; i < e->count; i++) {
        const group s = group_of(e, i, APART_FROM_WIDTHS, 0);
        if (s.count == 0 || (s.member[0] == &e->monomial[i] && !gaussian_group(e, &s, d)))
            return false;
    }
    return e->whole;
}
