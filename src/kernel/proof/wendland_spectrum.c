/* wendland_spectrum.c: the Fourier transform of wendland, which is 0 beyond its radius, on any R^d.

   With phi(q) of q = r/length_scale and t = length_scale |omega| it is length_scale^d times

       2 pi^(d/2)/Gamma(d/2) sum_n (-t^2/4)^n/(n! (d/2)(d/2+1)...(d/2+n-1)) M_(2n+d-1),

   M_m the integral of phi(q) q^m over [0, 1], since the mean of exp(-i omega.x) over the sphere |x| = r is the sum of
   (-(r |omega|)^2/4)^n/(n! (d/2)_n). phi is (1-q)^a times a polynomial, so that M_m is a sum of Beta functions of whole
   numbers. M_m falls with m, hence from some n on each term is at most half of the one before, and what is left out is
   between 0 and the first term left out. */
#include "kernel/language/atoms.h"
#include "kernel/proof/spectrum.h"
#include <math.h>

enum { TERMS = 500, REACH = 16000 }; /* a length_scale times frequency of 250, where terms reach 1e108 */

bool mc_wendland_of(const mc_expansion *e, const mc_monomial *m, mc_stationary *out) {
    int found = -1;
    for (int g = 0; g < e->generators; g++) {
        const mc_term *term = e->generator[g];
        if (!mc_iv_is_zero(&m->rate[g]) || (m->power[g] && (found >= 0 || m->power[g] != 1 || term->kind != MC_T_ATOM)))
            return false;
        found = m->power[g] ? g : found;
    }
    const mc_node *atom = found >= 0 ? e->generator[found]->node : NULL;
    if (!atom || atom->atom != MC_WENDLAND || !mc_iv_is_zero(&m->width))
        return false;
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!mc_iv_is_zero(&m->widths[j]))
            return false;
    for (int i = 0; i < 3; i++)
        if (atom->parameter[i].kind != MC_VALUE_NUMBER)
            return false;
    *out = (mc_stationary){.family = MC_WENDLAND_FAMILY,
                           .order = atom->parameter[0].number,
                           .degree = (int)floor(atom->parameter[1].number / 2) + (int)atom->parameter[0].number + 1,
                           .scale = mc_iv(atom->parameter[2].number),
                           .generator = found};
    return true;
}

/* The integral of (1-q)^a q^m: a! m!/(a + m + 1)! */
static mc_interval beta(int a, int64_t m) {
    mc_interval out = mc_iv_div(mc_iv(1), mc_iv((double)(m + 1)));
    for (int k = 1; k <= a; k++)
        out = mc_iv_mul(out, mc_iv_div(mc_iv(k), mc_iv((double)(m + 1 + k))));
    return out;
}

static mc_interval moment(const mc_stationary *p, int64_t m) {
    const double l = p->degree;
    const int k = (int)p->order, a = p->degree + k;
    const double first[] = {0, l + 1, l + 2}, thrice_second[] = {0, 0, l * l + 4 * l + 3};
    mc_interval sum = beta(a, m);
    sum = mc_iv_add(sum, mc_iv_mul(mc_iv(first[k]), beta(a, m + 1)));
    return mc_iv_add(sum, mc_iv_mul(mc_iv_div(mc_iv(thrice_second[k]), mc_iv(3)), beta(a, m + 2)));
}

/* 2 pi^(d/2)/Gamma(d/2) */
static mc_interval sphere(int64_t d) {
    mc_interval out = mc_iv_mul(mc_iv(2), mc_iv_power(mc_iv_pi(), (double)(d / 2)));
    for (int64_t k = 1; k < (d + 1) / 2; k++)
        out = mc_iv_div(out, mc_iv(d % 2 ? (double)k - 0.5 : (double)k));
    return out;
}

mc_interval mc_wendland_density(const mc_stationary *p, int64_t d, mc_interval s) {
    const mc_interval x = mc_iv_div(mc_iv_mul(s, mc_iv_square(p->scale)), mc_iv(4));
    const double half = 0.5 * (double)d;
    mc_interval power = mc_iv(1), sum = mc_iv(0);
    for (int n = 0; n < TERMS && x.hi < REACH; n++) {
        if (n > 0)
            power = mc_iv_div(mc_iv_mul(power, x), mc_iv(n * (half + n - 1)));
        mc_interval term = mc_iv_mul(power, moment(p, 2 * n + d - 1));
        const bool last = x.hi <= 0.5 * (n + 1) * (half + n) && term.hi < 1e-60;
        term = n % 2 ? mc_iv_neg(term) : term;
        sum = mc_iv_add(sum, last ? mc_iv_hull(mc_iv(0), term) : term);
        if (last)
            return mc_iv_mul(mc_iv_mul(sphere(d), mc_iv_power(p->scale, (double)d)), sum);
    }
    return mc_iv_everything();
}
