/* spectra.c: sums of stationary kernels with some subtracted. Each subtracted one takes what it needs from those added;
   how much of it one unit of another outweighs is the least quotient of their Fourier transforms on R^d (Bochner), or
   of the measures that mix them from Gaussians, which serves every d (Schoenberg).

   With s = |omega|^2, apart from pi^(d/2) and, where d is odd, pi^(-1/2):
     exp(-g r^2)              g^(-d/2) exp(-s/(4g))                        (times pi^(1/2) where d is odd)
     matern, exp(-a r)        C(nu, d) l^nu (l + s)^-(nu + d/2), l = 2 nu/length_scale^2, nu = 1/2 and l = a^2 for the
                              latter; C = 2^d Gamma(nu + d/2)/Gamma(nu)
     exp(-a sum_j |x_j-z_j|)  prod_j 2a/(a^2 + omega_j^2)
   As mixtures of exp(-g r^2) over g > 0: matern has the density (l/4)^nu/Gamma(nu) g^(-nu-1) exp(-l/(4g)), rq with
   b = 2 alpha length_scale^2 the density b^alpha/Gamma(alpha) g^(alpha-1) exp(-b g).
   On one column periodic is e^-k (I0(k) + 2 sum_n In(k) cos(2 pi n (x-z)/period)), k = 1/length_scale^2. */
#include "kernel/proof/expand.h"
#include <math.h>

typedef enum family { OTHER, CONSTANT, GAUSSIAN, MATERN, RQ, LAPLACE, PERIODIC } family;

typedef struct spectrum {
    family family;
    double order;      /* nu, alpha */
    mc_interval scale; /* g, l, b, a, k */
    int generator;     /* -1: none */
} spectrum;

enum { SPECTRAL_COLUMNS_MAX = 64, BESSEL_TERMS = 60 };

/* ---- what a monomial is ---- */

static bool fixed_parameters(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (atom->parameter[i].kind != MC_VALUE_NUMBER)
            return false;
    return true;
}

static bool is_stationary_generator(const mc_term *term) {
    if (term->kind != MC_T_ATOM || !fixed_parameters(term->node))
        return false;
    switch (term->node->atom) {
    case MC_LAPLACIAN:
    case MC_EXPONENTIAL:
    case MC_MATERN:
    case MC_RQ:
    case MC_PERIODIC: return true;
    default: return false;
    }
}

static mc_interval whole_over(double power, double divisor) {
    return mc_iv_div(mc_iv(power), mc_iv(divisor));
}

static spectrum spectrum_of_matern(const mc_node *atom, int power) {
    const double nu = atom->parameter[0].number, scale = atom->parameter[1].number;
    if (nu == 0.5)
        return (spectrum){.family = MATERN, .order = nu, .scale = mc_iv_square(whole_over(power, scale))};
    if (power != 1 || (nu != 1.5 && nu != 2.5))
        return (spectrum){.family = OTHER};
    return (spectrum){.family = MATERN, .order = nu, .scale = mc_iv_div(mc_iv(2 * nu), mc_iv_square(mc_iv(scale)))};
}

/* The atom to this power. */
static spectrum spectrum_of_atom(const mc_node *atom, int power, int64_t d) {
    const double first = atom->parameter[0].number, second = atom->parameter[1].number;
    const mc_interval rate = mc_iv_mul(mc_iv(power), mc_iv(first));
    switch (atom->atom) {
    case MC_MATERN: return spectrum_of_matern(atom, power);
    case MC_EXPONENTIAL: return (spectrum){.family = MATERN, .order = 0.5, .scale = mc_iv_square(rate)};
    case MC_LAPLACIAN:
        return d == 1 ? (spectrum){.family = MATERN, .order = 0.5, .scale = mc_iv_square(rate)}
                      : (spectrum){.family = LAPLACE, .scale = rate};
    case MC_RQ:
        return power == 1
                   ? (spectrum){.family = RQ,
                                .order = first,
                                .scale = mc_iv_mul(mc_iv_mul(mc_iv(2), mc_iv(first)), mc_iv_square(mc_iv(second)))}
                   : (spectrum){.family = OTHER};
    default: return (spectrum){.family = PERIODIC, .scale = mc_iv_div(mc_iv(power), mc_iv_square(mc_iv(second)))};
    }
}

static bool no_widths(const mc_monomial *m) {
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!mc_iv_is_zero(&m->widths[j]))
            return false;
    return true;
}

/* One Gaussian over all columns, one stationary generator, or neither. */
static spectrum spectrum_of(const mc_expansion *e, const mc_monomial *m, int64_t d) {
    int found = -1, count = 0;
    for (int g = 0; g < e->generators; g++)
        if (is_stationary_generator(e->generator[g]) && (m->power[g] || !mc_iv_is_zero(&m->rate[g]))) {
            count += mc_iv_is_zero(&m->rate[g]) ? 1 : 2;
            found = g;
        }
    const bool gaussian = !mc_iv_is_zero(&m->width);
    spectrum s = {.family = OTHER, .generator = found};
    if (count + gaussian > 1 || !no_widths(m))
        return s;
    if (gaussian)
        return (spectrum){.family = GAUSSIAN, .scale = m->width, .generator = -1};
    if (count == 0)
        return (spectrum){.family = CONSTANT, .generator = -1};
    s = spectrum_of_atom(e->generator[found]->node, m->power[found], d);
    s.generator = found;
    return s;
}

/* What multiplies the stationary parts is the same. */
static bool same_rest(const mc_expansion *e, const mc_monomial *a, const mc_monomial *b) {
    for (int g = 0; g < e->generators; g++)
        if (!is_stationary_generator(e->generator[g])
            && (a->power[g] != b->power[g] || !mc_iv_equal(&a->rate[g], &b->rate[g])))
            return false;
    return true;
}

/* ---- how much of one is outweighed by another ---- */

/* Gamma(nu + d/2)/Gamma(nu) 2^d, times pi^(1/2) where d is odd; nu = 1/2, 3/2, 5/2. */
static mc_interval matern_constant(double nu, int64_t d) {
    mc_interval c = mc_iv_power(mc_iv(2), (double)d);
    if (d % 2 == 0) {
        for (int64_t k = 0; k < d / 2; k++)
            c = mc_iv_mul(c, mc_iv(nu + (double)k));
        return c;
    }
    for (int64_t k = 2; k < (int64_t)(nu + 0.5) + d / 2; k++)
        c = mc_iv_mul(c, mc_iv((double)k));
    return mc_iv_div(c, mc_iv(nu == 0.5 ? 1 : nu == 1.5 ? 0.5 : 0.75));
}

static mc_interval density_amplitude(const spectrum *p, int64_t d) {
    if (p->family == MATERN)
        return mc_iv_mul(matern_constant(p->order, d), mc_iv_power(p->scale, p->order));
    const mc_interval a = mc_iv_power(p->scale, -0.5 * (double)d);
    return d % 2 ? mc_iv_mul(a, mc_iv_sqrt(mc_iv_pi())) : a;
}

static mc_interval not_below_zero(mc_interval a) {
    return mc_iv_max(a, mc_iv(0));
}

/* (l_j + s)^m_j / (l_i + s)^m_i falls to its least value and then rises; for equal exponents it is monotone. */
static mc_interval matern_over_matern(const spectrum *p, const spectrum *q, int64_t d) {
    const double mi = p->order + 0.5 * (double)d, mj = q->order + 0.5 * (double)d;
    const mc_interval front = mc_iv_div(density_amplitude(p, d), density_amplitude(q, d));
    if (mi > mj)
        return mc_iv(0);
    if (mi == mj)
        return mc_iv_mul(front, mc_iv_min(mc_iv(1), mc_iv_power(mc_iv_div(q->scale, p->scale), mi)));
    const mc_interval top = mc_iv_sub(mc_iv_mul(mc_iv(mi), q->scale), mc_iv_mul(mc_iv(mj), p->scale));
    const mc_interval s = not_below_zero(mc_iv_div(top, mc_iv(mj - mi)));
    return mc_iv_mul(front,
                     mc_iv_div(mc_iv_power(mc_iv_add(q->scale, s), mj), mc_iv_power(mc_iv_add(p->scale, s), mi)));
}

/* exp(s/(4g)) / (l + s)^m is least where 1/(4g) = m/(l + s), or at 0. */
static mc_interval matern_over_gaussian(const spectrum *p, const spectrum *q, int64_t d) {
    const double m = p->order + 0.5 * (double)d;
    const mc_interval four = mc_iv_mul(mc_iv(4), q->scale);
    const mc_interval s = not_below_zero(mc_iv_sub(mc_iv_mul(four, mc_iv(m)), p->scale));
    const mc_interval front = mc_iv_div(density_amplitude(p, d), density_amplitude(q, d));
    return mc_iv_mul(front, mc_iv_div(mc_iv_exp(mc_iv_div(s, four)), mc_iv_power(mc_iv_add(p->scale, s), m)));
}

static mc_interval gaussian_over_gaussian(const spectrum *p, const spectrum *q, int64_t d) {
    return mc_iv_at_least(p->scale, q->scale) ? mc_iv_div(density_amplitude(p, d), density_amplitude(q, d)) : mc_iv(0);
}

/* In every column (a/b) (b^2 + w^2)/(a^2 + w^2), between a/b and b/a. */
static mc_interval laplace_over_laplace(const spectrum *p, const spectrum *q, int64_t d) {
    const mc_interval ratio = mc_iv_div(p->scale, q->scale);
    return mc_iv_power(mc_iv_min(ratio, mc_iv_div(mc_iv(1), ratio)), (double)d);
}

/* In every column an exponential over a Gaussian. */
static mc_interval laplace_over_gaussian(const spectrum *p, const spectrum *q, int64_t d) {
    const spectrum column = {.family = MATERN, .order = 0.5, .scale = mc_iv_square(p->scale)};
    return mc_iv_power(matern_over_gaussian(&column, q, 1), (double)d);
}

/* The mean over one period is e^-k I0(k) in every column; the series of I0 has positive terms. */
static mc_interval periodic_over_constant(const spectrum *p, int64_t d) {
    mc_interval sum = mc_iv(1), term = mc_iv(1);
    const mc_interval quarter = mc_iv_div(mc_iv_square(p->scale), mc_iv(4));
    for (int k = 1; k < BESSEL_TERMS; k++) {
        term = mc_iv_div(mc_iv_mul(term, quarter), mc_iv((double)k * k));
        sum = mc_iv_add(sum, term);
    }
    const mc_interval least = mc_iv_mul(mc_iv_exp(mc_iv_neg(p->scale)), mc_iv_of(sum.lo, sum.lo));
    return mc_iv_power(least, (double)d);
}

static mc_interval share_on_columns(const spectrum *p, const spectrum *q, int64_t d) {
    if (d < 1 || d > SPECTRAL_COLUMNS_MAX)
        return mc_iv(0);
    if (p->family == MATERN && q->family == MATERN)
        return matern_over_matern(p, q, d);
    if (p->family == MATERN && q->family == GAUSSIAN)
        return matern_over_gaussian(p, q, d);
    if (p->family == GAUSSIAN && q->family == GAUSSIAN)
        return gaussian_over_gaussian(p, q, d);
    if (p->family == LAPLACE && q->family == LAPLACE)
        return laplace_over_laplace(p, q, d);
    if (p->family == LAPLACE && q->family == GAUSSIAN)
        return laplace_over_gaussian(p, q, d);
    return p->family == PERIODIC && q->family == CONSTANT ? periodic_over_constant(p, d) : mc_iv(0);
}

/* Densities over widths: for matern (l_i/l_j)^nu exp((l_j - l_i)/(4g)), for rq (b_i/b_j)^alpha exp((b_j - b_i) g). */
static mc_interval share_of_mixture(const spectrum *p, const spectrum *q) {
    const bool same = p->family == q->family && (p->family == MATERN || p->family == RQ) && p->order == q->order;
    return same && mc_iv_at_least(q->scale, p->scale) ? mc_iv_power(mc_iv_div(p->scale, q->scale), p->order) : mc_iv(0);
}

static mc_interval larger_share(const spectrum *p, const spectrum *q, int64_t d) {
    const mc_interval a = share_on_columns(p, q, d), b = share_of_mixture(p, q);
    return a.lo >= b.lo ? a : b;
}

/* ---- the whole sum ---- */

static bool is_product_of_kernels(const mc_monomial *m) {
    for (int g = 0; g < MC_GENERATORS_MAX; g++)
        if (!(m->rate[g].lo >= 0) || m->power[g] < 0)
            return false;
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!(m->widths[j].lo >= 0))
            return false;
    return m->width.lo >= 0 && !mc_has_column_powers(m);
}

/* Take what the subtracted one needs from those added, left to right; left[] is what remains of them. */
static bool cover_subtracted(const mc_expansion *e, int minus, int64_t d, mc_interval *left) {
    const spectrum q = spectrum_of(e, &e->monomial[minus], d);
    mc_interval need = mc_iv_neg(e->monomial[minus].factor);
    for (int i = 0; i < e->count; i++) {
        if (!(left[i].lo > 0) || q.family == OTHER || !same_rest(e, &e->monomial[i], &e->monomial[minus]))
            continue;
        const spectrum p = spectrum_of(e, &e->monomial[i], d);
        const mc_interval unit = larger_share(&p, &q, d);
        if (!(unit.lo > 0))
            continue;
        const mc_interval covered = mc_iv_mul(left[i], unit);
        if (mc_iv_sub(covered, need).lo >= 0) {
            left[i] = not_below_zero(mc_iv_sub(left[i], mc_iv_div(need, unit)));
            return true;
        }
        need = mc_iv_sub(need, covered);
        left[i] = mc_iv(0);
    }
    return false;
}

bool mc_expansion_spectra(const mc_expansion *e, int64_t d) {
    mc_interval left[MC_MONOMIALS_MAX];
    for (int i = 0; i < e->count; i++) {
        left[i] = e->monomial[i].factor.lo >= 0 ? e->monomial[i].factor : mc_iv(0);
        if (!is_product_of_kernels(&e->monomial[i]))
            return false;
    }
    for (int i = 0; i < e->count; i++)
        if (e->monomial[i].factor.lo < 0 && !cover_subtracted(e, i, d, left))
            return false;
    return e->whole;
}
