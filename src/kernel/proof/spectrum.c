/* spectrum.c: the Fourier transforms of stationary kernels.

   With s = |omega|^2, apart from pi^(d/2) and, where d is odd, pi^(-1/2):
     exp(-g r^2)              g^(-d/2) exp(-s/(4g))                        (times pi^(1/2) where d is odd)
     matern, exp(-a r)        C(nu, d) l^nu (l + s)^-(nu + d/2), l = 2 nu/length_scale^2, nu = 1/2 and l = a^2 for the
                              latter; C = 2^d Gamma(nu + d/2)/Gamma(nu)
   and in full
     rq                       pi^(d/2) b^alpha/Gamma(alpha) 2 (s/(4b))^(m/2) K_m(sqrt(b s)), m = alpha - d/2 and
                              b = 2 alpha length_scale^2, from rq as the mean of exp(-g r^2) over the density
                              b^alpha/Gamma(alpha) g^(alpha-1) exp(-b g); for 2m odd K_m is elementary
     exp(-a sum_j |x_j-z_j|)  prod_j 2a/(a^2 + omega_j^2)
     sinc, sinc^2             prod_j l for |omega_j| < pi/l; prod_j l (1 - |omega_j| l/(2 pi)) for |omega_j| < 2 pi/l
   On one column periodic is e^-k (I0(k) + 2 sum_n In(k) cos(2 pi n (x-z)/period)), k = 1/length_scale^2. */
#include "kernel/proof/spectrum.h"
#include <math.h>

enum { BESSEL_TERMS = 60 };

/* ---- what a monomial is ---- */

static bool fixed_parameters(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (atom->parameter[i].kind != MC_VALUE_NUMBER)
            return false;
    return true;
}

bool mc_is_stationary_generator(const mc_term *term) {
    if (term->kind != MC_T_ATOM || !fixed_parameters(term->node))
        return false;
    switch (term->node->atom) {
    case MC_LAPLACIAN:
    case MC_EXPONENTIAL:
    case MC_MATERN:
    case MC_RQ:
    case MC_PERIODIC:
    case MC_SINC: return true;
    default: return false;
    }
}

static const mc_stationary none = {.family = MC_NO_FAMILY};

static mc_interval square_of_quotient(double power, double divisor) {
    return mc_iv_square(mc_iv_div(mc_iv(power), mc_iv(divisor)));
}

static mc_stationary spectrum_of_matern(const mc_node *atom, int power) {
    const double nu = atom->parameter[0].number, scale = atom->parameter[1].number;
    if (nu == 0.5)
        return (mc_stationary){.family = MC_MATERN_FAMILY, .order = nu, .scale = square_of_quotient(power, scale)};
    if (power != 1)
        return none;
    const mc_interval l = mc_iv_div(mc_iv_mul(mc_iv(2), mc_iv(nu)), mc_iv_square(mc_iv(scale)));
    return (mc_stationary){.family = MC_MATERN_FAMILY, .order = nu, .scale = l};
}

static mc_stationary spectrum_of_rq(const mc_node *atom, int power) {
    const double alpha = atom->parameter[0].number;
    if (power > 1 && (2 * alpha != floor(2 * alpha) || power * alpha > 100))
        return none;
    const mc_interval square = mc_iv_square(mc_iv(atom->parameter[1].number));
    return (mc_stationary){
        .family = MC_RQ_FAMILY, .order = power * alpha, .scale = mc_iv_mul(mc_iv_mul(mc_iv(2), mc_iv(alpha)), square)};
}

/* The atom to this power. */
static mc_stationary spectrum_of_atom(const mc_node *atom, int power, int64_t d) {
    const double first = atom->parameter[0].number, second = atom->parameter[1].number;
    const mc_interval rate = mc_iv_mul(mc_iv(power), mc_iv(first));
    switch (atom->atom) {
    case MC_MATERN: return spectrum_of_matern(atom, power);
    case MC_EXPONENTIAL: return (mc_stationary){.family = MC_MATERN_FAMILY, .order = 0.5, .scale = mc_iv_square(rate)};
    case MC_LAPLACIAN:
        return d == 1 ? (mc_stationary){.family = MC_MATERN_FAMILY, .order = 0.5, .scale = mc_iv_square(rate)}
                      : (mc_stationary){.family = MC_LAPLACE_FAMILY, .scale = rate};
    case MC_RQ: return spectrum_of_rq(atom, power);
    case MC_SINC:
        return power <= 2 ? (mc_stationary){.family = MC_SINC_FAMILY, .order = power, .scale = mc_iv(first)} : none;
    default:
        return (mc_stationary){.family = MC_PERIODIC_FAMILY,
                               .order = first,
                               .scale = mc_iv_div(mc_iv(power), mc_iv_square(mc_iv(second)))};
    }
}

static bool no_widths(const mc_monomial *m) {
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!mc_iv_is_zero(&m->widths[j]))
            return false;
    return true;
}

mc_stationary mc_spectrum_of(const mc_expansion *e, const mc_monomial *m, int64_t d) {
    int found = -1, count = 0;
    for (int g = 0; g < e->generators; g++)
        if (mc_is_stationary_generator(e->generator[g]) && (m->power[g] || !mc_iv_is_zero(&m->rate[g]))) {
            count += mc_iv_is_zero(&m->rate[g]) ? 1 : 2;
            found = g;
        }
    const bool gaussian = !mc_iv_is_zero(&m->width);
    mc_stationary s = {.family = MC_NO_FAMILY, .generator = found};
    if (count + gaussian > 1 || !no_widths(m))
        return s;
    if (gaussian)
        return (mc_stationary){.family = MC_GAUSSIAN_FAMILY, .scale = m->width, .generator = -1};
    if (count == 0)
        return (mc_stationary){.family = MC_FLAT, .generator = -1};
    s = spectrum_of_atom(e->generator[found]->node, m->power[found], d);
    s.generator = found;
    return s;
}

bool mc_same_rest(const mc_expansion *e, const mc_monomial *a, const mc_monomial *b) {
    for (int g = 0; g < e->generators; g++)
        if (!mc_is_stationary_generator(e->generator[g])
            && (a->power[g] != b->power[g] || !mc_iv_equal(&a->rate[g], &b->rate[g])))
            return false;
    return true;
}

/* ---- what stands before them ---- */

mc_interval mc_gamma_quotient(mc_interval a, mc_interval b) {
    return mc_iv_equal(&a, &b) ? mc_iv(1) : mc_iv_exp(mc_iv_sub(mc_iv_log_gamma(a), mc_iv_log_gamma(b)));
}

mc_interval mc_power_of_order(mc_interval base, double order, int64_t d) {
    return mc_iv_mul(mc_iv_power(base, order), mc_iv_power(base, 0.5 * (double)d));
}

static mc_interval sum_enclosed(double a, double b) {
    return mc_iv_add(mc_iv(a), mc_iv(b));
}

/* Gamma(nu + d/2)/Gamma(nu) 2^d, times pi^(1/2) where d is odd. For nu = 1/2, 3/2, 5/2 and for even d it is rational.
 */
static mc_interval matern_constant(double nu, int64_t d) {
    mc_interval c = mc_iv_power(mc_iv(2), (double)d);
    if (d % 2 == 0) {
        for (int64_t k = 0; k < d / 2; k++)
            c = mc_iv_mul(c, sum_enclosed(nu, (double)k));
        return c;
    }
    if (nu != 0.5 && nu != 1.5 && nu != 2.5) {
        c = mc_iv_mul(c, mc_iv_mul(mc_gamma_quotient(sum_enclosed(nu, 0.5), mc_iv(nu)), mc_iv_sqrt(mc_iv_pi())));
        for (int64_t k = 0; k < d / 2; k++)
            c = mc_iv_mul(c, sum_enclosed(nu, (double)k + 0.5));
        return c;
    }
    for (int64_t k = 2; k < (int64_t)(nu + 0.5) + d / 2; k++)
        c = mc_iv_mul(c, mc_iv((double)k));
    return mc_iv_div(c, mc_iv(nu == 0.5 ? 1 : nu == 1.5 ? 0.5 : 0.75));
}

mc_interval mc_spectrum_amplitude(const mc_stationary *p, int64_t d) {
    if (p->family == MC_MATERN_FAMILY)
        return mc_iv_mul(matern_constant(p->order, d), mc_iv_power(p->scale, p->order));
    const mc_interval a = mc_iv_power(p->scale, -0.5 * (double)d);
    return d % 2 ? mc_iv_mul(a, mc_iv_sqrt(mc_iv_pi())) : a;
}

/* The terms of I0 are positive; from the last one on each is less than half of the one before it. */
mc_interval mc_periodic_mean(mc_interval k) {
    mc_interval sum = mc_iv(1), term = mc_iv(1);
    const mc_interval quarter = mc_iv_div(mc_iv_square(k), mc_iv(4));
    for (int n = 1; n < BESSEL_TERMS; n++) {
        term = mc_iv_div(mc_iv_mul(term, quarter), mc_iv((double)n * n));
        sum = mc_iv_add(sum, term);
    }
    if (!(quarter.hi < BESSEL_TERMS * BESSEL_TERMS / 2))
        return mc_iv_of(0, 1);
    return mc_iv_mul(mc_iv_exp(mc_iv_neg(k)), mc_iv_add(sum, mc_iv_mul(term, mc_iv_of(0, 1))));
}

/* ---- at one frequency ---- */

static mc_interval squared_frequency(mc_frequency w, int64_t d) {
    const mc_interval s = mc_iv_square(mc_iv(w.size));
    return w.in_all ? mc_iv_mul(mc_iv((double)d), s) : s;
}

/* pi^(d/2), times pi^(-1/2) where d is odd */
static mc_interval common_factor(int64_t d) {
    return mc_iv_power(mc_iv_pi(), (double)(d / 2));
}

/* K_m(z) for m + 1/2 whole and z > 0: (pi/(2z))^(1/2) e^-z sum_k (n+k)!/(k! (n-k)!) (2z)^-k, n = |m| - 1/2. */
static mc_interval elementary_bessel(double m, mc_interval z) {
    const int n = (int)(fabs(m) - 0.5);
    const mc_interval twice = mc_iv_mul(mc_iv(2), z);
    mc_interval term = mc_iv(1), sum = mc_iv(1);
    for (int k = 1; k <= n; k++) {
        term = mc_iv_div(mc_iv_mul(term, mc_iv((double)(n + k) * (n - k + 1))), mc_iv_mul(mc_iv(k), twice));
        sum = mc_iv_add(sum, term);
    }
    return mc_iv_mul(mc_iv_mul(mc_iv_sqrt(mc_iv_div(mc_iv_pi(), twice)), mc_iv_exp(mc_iv_neg(z))), sum);
}

static mc_interval density_of_rq(const mc_stationary *p, int64_t d, mc_interval s) {
    const double m = p->order - 0.5 * (double)d;
    if (2 * p->order != floor(2 * p->order) || fabs(m) == floor(fabs(m)) || fabs(m) > 100 || !(s.lo > 0))
        return mc_iv_everything();
    const mc_interval front =
        mc_iv_mul(mc_iv_power(mc_iv_pi(), 0.5 * (double)d),
                  mc_iv_div(mc_iv_power(p->scale, p->order), mc_iv_exp(mc_iv_log_gamma(mc_iv(p->order)))));
    const mc_interval power = mc_iv_power(mc_iv_div(s, mc_iv_mul(mc_iv(4), p->scale)), m / 2);
    const mc_interval bessel = elementary_bessel(m, mc_iv_sqrt(mc_iv_mul(p->scale, s)));
    return mc_iv_mul(mc_iv_mul(mc_iv_mul(mc_iv(2), front), power), bessel);
}

/* In one column. */
static mc_interval laplace_factor(const mc_stationary *p, mc_interval w) {
    return mc_iv_div(mc_iv_mul(mc_iv(2), p->scale), mc_iv_add(mc_iv_square(p->scale), mc_iv_square(w)));
}

/* Within its band, or beyond it; at the edge between what it is on both sides. */
static mc_interval sinc_factor(const mc_stationary *p, mc_interval w) {
    const mc_interval share = mc_iv_div(mc_iv_mul(mc_iv_abs(w), p->scale), mc_iv_mul(mc_iv(p->order), mc_iv_pi()));
    if (share.lo > 1)
        return mc_iv(0);
    const mc_interval in = p->order == 1 ? p->scale : mc_iv_mul(p->scale, mc_iv_sub(mc_iv(1), share));
    return share.hi < 1 ? in : mc_iv_hull(mc_iv(0), in);
}

static mc_interval product_over_columns(const mc_stationary *p, int64_t d, mc_frequency w,
                                        mc_interval factor(const mc_stationary *, mc_interval)) {
    const mc_interval first = factor(p, mc_iv(w.size)), rest = w.in_all ? first : factor(p, mc_iv(0));
    return mc_iv_mul(first, mc_iv_power(rest, (double)(d - 1)));
}

mc_interval mc_spectrum_density(const mc_stationary *p, int64_t d, mc_frequency w) {
    const mc_interval s = squared_frequency(w, d);
    const mc_interval front = mc_iv_mul(common_factor(d), mc_spectrum_amplitude(p, d));
    switch (p->family) {
    case MC_FLAT:
    case MC_PERIODIC_FAMILY: return mc_iv(0);
    case MC_GAUSSIAN_FAMILY: return mc_iv_mul(front, mc_iv_exp(mc_iv_neg(mc_iv_div(s, mc_iv_mul(mc_iv(4), p->scale)))));
    case MC_MATERN_FAMILY:
        return mc_iv_mul(front, mc_iv_div(mc_iv(1), mc_power_of_order(mc_iv_add(p->scale, s), p->order, d)));
    case MC_RQ_FAMILY: return density_of_rq(p, d, s);
    case MC_LAPLACE_FAMILY: return product_over_columns(p, d, w, laplace_factor);
    case MC_WENDLAND_FAMILY: return mc_wendland_density(p, d, s);
    case MC_SINC_FAMILY: return product_over_columns(p, d, w, sinc_factor);
    default: return mc_iv_everything();
    }
}
