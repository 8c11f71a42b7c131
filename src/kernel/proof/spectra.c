/* spectra.c: sums of stationary kernels with some subtracted. Each subtracted one takes what it needs from those added;
   how much of it one unit of another outweighs is the least quotient of their Fourier transforms on R^d (Bochner), or
   of the measures that mix them from Gaussians, which serves every d (Schoenberg).

   As mixtures of exp(-g r^2) over g > 0: matern has the density (l/4)^nu/Gamma(nu) g^(-nu-1) exp(-l/(4g)), rq with
   b = 2 alpha length_scale^2 the density b^alpha/Gamma(alpha) g^(alpha-1) exp(-b g).
   The transforms are in spectrum.c. */
#include "kernel/proof/spectrum.h"
#include <math.h>

enum { SPECTRAL_COLUMNS_MAX = 64 };

/* ---- how much of one is outweighed by another ---- */

static mc_interval not_below_zero(mc_interval a) {
    return mc_iv_max(a, mc_iv(0));
}

/* nu + d/2 */
static mc_interval decay_of(const mc_stationary *p, int64_t d) {
    return mc_iv_add(mc_iv(p->order), mc_iv(0.5 * (double)d));
}

static mc_interval amplitude_quotient(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    if (p->family == MC_MATERN_FAMILY && q->family == MC_MATERN_FAMILY && p->order == q->order)
        return mc_iv_power(mc_iv_div(p->scale, q->scale), p->order);
    return mc_iv_div(mc_spectrum_amplitude(p, d), mc_spectrum_amplitude(q, d));
}

/* (l_j + s)^m_j / (l_i + s)^m_i falls to its least value and then rises; for equal exponents it is monotone. */
static mc_interval matern_over_matern(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    const mc_interval mi = decay_of(p, d), mj = decay_of(q, d), front = amplitude_quotient(p, q, d);
    if (p->order > q->order)
        return mc_iv(0);
    if (p->order == q->order)
        return mc_iv_mul(front, mc_iv_min(mc_iv(1), mc_power_of_order(mc_iv_div(q->scale, p->scale), p->order, d)));
    const mc_interval top = mc_iv_sub(mc_iv_mul(mi, q->scale), mc_iv_mul(mj, p->scale));
    const mc_interval s = not_below_zero(mc_iv_div(top, mc_iv_sub(mc_iv(q->order), mc_iv(p->order))));
    return mc_iv_mul(front, mc_iv_div(mc_power_of_order(mc_iv_add(q->scale, s), q->order, d),
                                      mc_power_of_order(mc_iv_add(p->scale, s), p->order, d)));
}

/* exp(s/(4g)) / (l + s)^m is least where 1/(4g) = m/(l + s), or at 0. */
static mc_interval matern_over_gaussian(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    const mc_interval four = mc_iv_mul(mc_iv(4), q->scale);
    const mc_interval s = not_below_zero(mc_iv_sub(mc_iv_mul(four, decay_of(p, d)), p->scale));
    return mc_iv_mul(amplitude_quotient(p, q, d),
                     mc_iv_div(mc_iv_exp(mc_iv_div(s, four)), mc_power_of_order(mc_iv_add(p->scale, s), p->order, d)));
}

static mc_interval gaussian_over_gaussian(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    return mc_iv_at_least(p->scale, q->scale) ? mc_iv_div(mc_spectrum_amplitude(p, d), mc_spectrum_amplitude(q, d))
                                              : mc_iv(0);
}

/* In every column (a/b) (b^2 + w^2)/(a^2 + w^2), between a/b and b/a. */
static mc_interval laplace_over_laplace(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    const mc_interval ratio = mc_iv_div(p->scale, q->scale);
    return mc_iv_power(mc_iv_min(ratio, mc_iv_div(mc_iv(1), ratio)), (double)d);
}

/* In every column an exponential over a Gaussian. */
static mc_interval laplace_over_gaussian(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    const mc_stationary column = {.family = MC_MATERN_FAMILY, .order = 0.5, .scale = mc_iv_square(p->scale)};
    return mc_iv_power(matern_over_gaussian(&column, q, 1), (double)d);
}

static mc_interval lower_end(mc_interval a) {
    return mc_iv_between(&a.low, &a.low);
}

/* The mean over one period is e^-k I0(k) in every column. */
static mc_interval periodic_over_constant(const mc_stationary *p, int64_t d) {
    return mc_iv_power(lower_end(mc_periodic_mean(p->scale)), (double)d);
}

/* I_(n+1)(k)/I_n(k) grows with k, so the quotient of two series is least at n = 0. */
static mc_interval periodic_over_periodic(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    if (p->order != q->order || !mc_iv_at_least(p->scale, q->scale))
        return mc_iv(0);
    return mc_iv_power(mc_iv_div(mc_periodic_mean(p->scale), mc_periodic_mean(q->scale)), (double)d);
}

/* In every column l_i (1 - w l_i/(2 pi) if squared) over the same of j, least at one of the ends of the band of j,
   which that of i must hold. */
static mc_interval sinc_over_sinc(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    const mc_interval ratio = mc_iv_div(p->scale, q->scale), half = mc_iv_div(ratio, mc_iv(2));
    const mc_interval at_edge = mc_iv_mul(ratio, mc_iv_sub(mc_iv(1), half));
    if (q->order > p->order)
        return mc_iv(0);
    if (p->order == 2 && q->order == 1)
        return mc_iv_at_least(mc_iv(2), ratio) ? mc_iv_power(not_below_zero(at_edge), (double)d) : mc_iv(0);
    return mc_iv_at_least(mc_iv(1), ratio) ? mc_iv_power(ratio, (double)d) : mc_iv(0);
}

/* A transform that falls with the frequency, over the band of sinc: least at its corner; that of sinc is at most
   length_scale^d. */
static mc_interval falling_over_sinc(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    const mc_interval edge = mc_iv_div(mc_iv_mul(mc_iv(q->order), mc_iv_pi()), q->scale);
    const mc_interval corner = mc_spectrum_density(p, d, (mc_frequency){.size = edge.hi, .in_all = true});
    return corner.lo > 0 && isfinite(corner.hi) ? mc_iv_div(corner, mc_iv_power(q->scale, (double)d)) : mc_iv(0);
}

static mc_interval share_on_columns(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    if (d < 1 || d > SPECTRAL_COLUMNS_MAX)
        return mc_iv(0);
    if (p->family == MC_MATERN_FAMILY && q->family == MC_MATERN_FAMILY)
        return matern_over_matern(p, q, d);
    if (p->family == MC_MATERN_FAMILY && q->family == MC_GAUSSIAN_FAMILY)
        return matern_over_gaussian(p, q, d);
    if (p->family == MC_RQ_FAMILY && q->family == MC_GAUSSIAN_FAMILY)
        return mc_rq_over_gaussian(p, q, d);
    if (p->family == MC_GAUSSIAN_FAMILY && q->family == MC_GAUSSIAN_FAMILY)
        return gaussian_over_gaussian(p, q, d);
    if (p->family == MC_LAPLACE_FAMILY && q->family == MC_LAPLACE_FAMILY)
        return laplace_over_laplace(p, q, d);
    if (p->family == MC_LAPLACE_FAMILY && q->family == MC_GAUSSIAN_FAMILY)
        return laplace_over_gaussian(p, q, d);
    if (p->family == MC_PERIODIC_FAMILY && q->family == MC_PERIODIC_FAMILY)
        return periodic_over_periodic(p, q, d);
    if (q->family == MC_SINC_FAMILY
        && (p->family == MC_MATERN_FAMILY || p->family == MC_GAUSSIAN_FAMILY || p->family == MC_LAPLACE_FAMILY))
        return falling_over_sinc(p, q, d);
    if (p->family == MC_SINC_FAMILY && q->family == MC_SINC_FAMILY)
        return sinc_over_sinc(p, q, d);
    return p->family == MC_PERIODIC_FAMILY && q->family == MC_FLAT ? periodic_over_constant(p, d) : mc_iv(0);
}

/* (l/4)^nu/Gamma(nu), b^alpha/Gamma(alpha): what stands before the densities over widths, p's over q's. */
static mc_interval mixture_front(const mc_stationary *p, const mc_stationary *q) {
    const double unit = p->family == MC_MATERN_FAMILY ? 4 : 1;
    if (p->order == q->order)
        return mc_iv_power(mc_iv_div(p->scale, q->scale), p->order);
    const mc_interval a = mc_iv_power(mc_iv_div(p->scale, mc_iv(unit)), p->order),
                      b = mc_iv_power(mc_iv_div(q->scale, mc_iv(unit)), q->order);
    return mc_iv_mul(mc_iv_div(a, b), mc_gamma_quotient(mc_iv(q->order), mc_iv(p->order)));
}

/* Densities over widths: their quotient is this front times t^-c exp(k t), with t = 1/g and k = (l_j - l_i)/4 for
   matern, t = g and k = b_j - b_i for rq, and c the difference of orders. It is least at t = c/k. */
static mc_interval share_of_mixture(const mc_stationary *p, const mc_stationary *q) {
    const bool known = p->family == q->family && (p->family == MC_MATERN_FAMILY || p->family == MC_RQ_FAMILY);
    if (!known || p->order > q->order || !mc_iv_at_least(q->scale, p->scale))
        return mc_iv(0);
    const mc_interval c = mc_iv_sub(mc_iv(q->order), mc_iv(p->order)), gap = mc_iv_sub(q->scale, p->scale);
    if (mc_iv_is_zero(&c))
        return mixture_front(p, q);
    if (!(gap.lo > 0))
        return mc_iv(0);
    const mc_interval k = p->family == MC_MATERN_FAMILY ? mc_iv_div(gap, mc_iv(4)) : gap;
    return mc_iv_mul(mixture_front(p, q), mc_iv_exp(mc_iv_mul(c, mc_iv_add(mc_iv(1), mc_iv_log(mc_iv_div(k, c))))));
}

static mc_interval larger_share(const mc_stationary *p, const mc_stationary *q, int64_t d) {
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
    const mc_stationary q = mc_spectrum_of(e, &e->monomial[minus], d);
    mc_interval need = mc_iv_neg(e->monomial[minus].factor);
    for (int i = 0; i < e->count; i++) {
        if (!(left[i].lo > 0) || q.family == MC_NO_FAMILY || !mc_same_rest(e, &e->monomial[i], &e->monomial[minus]))
            continue;
        const mc_stationary p = mc_spectrum_of(e, &e->monomial[i], d);
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

/* ---- all terms at once ---- */

enum { RADIAL_PARTS = 16, PIECES = 800 };

/* Gaussians and matern, whose densities fall with the frequency. */
typedef struct radial_sum {
    int64_t d;
    int count;
    mc_interval factor[RADIAL_PARTS];
    mc_stationary part[RADIAL_PARTS];
} radial_sum;

static bool read_radial_sum(const mc_expansion *e, int64_t d, radial_sum *r) {
    *r = (radial_sum){.d = d, .count = e->count};
    if (d < 1 || d > SPECTRAL_COLUMNS_MAX || e->count > RADIAL_PARTS)
        return false;
    for (int i = 0; i < e->count; i++) {
        r->factor[i] = e->monomial[i].factor;
        r->part[i] = mc_spectrum_of(e, &e->monomial[i], d);
        const mc_family family = r->part[i].family;
        if ((family != MC_GAUSSIAN_FAMILY && family != MC_MATERN_FAMILY) || !(r->part[i].scale.lo > 0)
            || !mc_same_rest(e, &e->monomial[0], &e->monomial[i]))
            return false;
    }
    return true;
}

static mc_interval term_at(const radial_sum *r, int i, double w) {
    return mc_iv_mul(r->factor[i], mc_spectrum_density(&r->part[i], r->d, (mc_frequency){.size = w}));
}

/* Between the frequencies a and b the sum is at least this: what is added is least at b, what is subtracted at a. */
static mc_interval least_between(const radial_sum *r, double a, double b) {
    mc_interval sum = mc_iv(0);
    for (int i = 0; i < r->count; i++)
        sum = mc_iv_add(sum, term_at(r, i, r->factor[i].lo >= 0 ? b : a));
    return sum;
}

static bool positive_between(const radial_sum *r, double a, double b, int *pieces) {
    const double middle = a + (b - a) / 2;
    if (--*pieces < 0 || !(a < middle && middle < b))
        return false;
    if (least_between(r, a, b).lo > 0)
        return true;
    return least_between(r, middle, middle).lo > 0 && positive_between(r, a, middle, pieces)
           && positive_between(r, middle, b, pieces);
}

/* q/p falls from the squared frequency s on. */
static bool falls_against(const mc_stationary *q, const mc_stationary *p, int64_t d, mc_interval s) {
    if (p->family == MC_GAUSSIAN_FAMILY)
        return q->family == MC_GAUSSIAN_FAMILY && mc_iv_at_least(p->scale, q->scale);
    if (q->family == MC_GAUSSIAN_FAMILY)
        return mc_iv_at_least(mc_iv_add(s, p->scale), mc_iv_mul(mc_iv_mul(mc_iv(4), q->scale), decay_of(p, d)));
    if (p->order == q->order)
        return mc_iv_at_least(p->scale, q->scale);
    /* m_q/(l_q + s) >= m_p/(l_p + s) */
    return p->order < q->order
           && mc_iv_at_least(mc_iv_mul(decay_of(q, d), mc_iv_add(p->scale, s)),
                             mc_iv_mul(decay_of(p, d), mc_iv_add(q->scale, s)));
}

/* From w on one added term outweighs all that is subtracted: it does at w, and the quotients fall. */
static bool outweighs_beyond(const radial_sum *r, int plus, double w) {
    mc_interval rest = term_at(r, plus, w);
    for (int i = 0; i < r->count; i++)
        if (!(r->factor[i].lo >= 0)) {
            rest = mc_iv_add(rest, term_at(r, i, w));
            if (!falls_against(&r->part[i], &r->part[plus], r->d, mc_iv_square(mc_iv(w))))
                return false;
        }
    return r->factor[plus].lo > 0 && rest.lo >= 0;
}

static bool tail_positive(const radial_sum *r, double w) {
    for (int i = 0; i < r->count; i++)
        if (outweighs_beyond(r, i, w))
            return true;
    return false;
}

static bool whole_transform_positive(const mc_expansion *e, int64_t d) {
    radial_sum r;
    int pieces = PIECES;
    if (e->count < 3 || !read_radial_sum(e, d, &r))
        return false; /* of two terms the largest share is known */
    for (double w = 0.5; w < 1e4; w *= 2)
        if (tail_positive(&r, w))
            return positive_between(&r, 0, w, &pieces);
    return false;
}

static bool every_subtracted_is_covered(const mc_expansion *e, int64_t d) {
    mc_interval left[MC_MONOMIALS_MAX];
    for (int i = 0; i < e->count; i++)
        left[i] = e->monomial[i].factor.lo >= 0 ? e->monomial[i].factor : mc_iv(0);
    for (int i = 0; i < e->count; i++)
        if (e->monomial[i].factor.lo < 0 && !cover_subtracted(e, i, d, left))
            return false;
    return true;
}

bool mc_expansion_spectra(const mc_expansion *e, int64_t d) {
    for (int i = 0; i < e->count; i++)
        if (!is_product_of_kernels(&e->monomial[i]))
            return false;
    return e->whole && (every_subtracted_is_covered(e, d) || whole_transform_positive(e, d));
}
