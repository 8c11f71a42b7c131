/* negative_frequency.c: an expression in x - z whose Fourier transform is negative somewhere is no kernel.

   By Bochner's theorem a continuous function of x - z is a kernel exactly when it is the transform of a measure >= 0,
   and the measure is unique. For sums of Gaussians, exponential, laplacian, matern, rq and sinc the measure has a
   density that is known, and beside it constants and periodic put masses on single frequencies. So it is enough that
   the density is negative at one frequency near which it is continuous, or that the mass at 0, the mean over all of
   R^d, is negative. The latter needs no continuity: N points drawn at random from a large cube have the sum
   N k(x,x) + N (N-1) mean on average, so some N of them have one as negative.

   Where points would do they are better, since anybody can add them up; but in R^7 it may take thousands. */
#include "base/status.h"
#include "kernel/proof/refute.h"
#include "kernel/proof/spectrum.h"
#include <math.h>

enum { PARTS_MAX = 16, LEAST_EVERY = 12, TURNS = 480 };
/* The first frequency that is so negative, relative to its terms, will do. */
static const double PLAIN = -0.1;

typedef struct signed_sum {
    int64_t d;
    int count;
    mc_interval factor[PARTS_MAX];
    mc_stationary part[PARTS_MAX];
    bool radial;
} signed_sum;

/* ---- the density ---- */

static bool is_bare(const mc_expansion *e, const mc_monomial *m) {
    for (int g = 0; g < e->generators; g++)
        if (!mc_is_stationary_generator(e->generator[g]) && (m->power[g] || !mc_iv_is_zero(&m->rate[g])))
            return false;
    return true;
}

/* Every monomial is one stationary function and nothing else. */
static bool read_sum(const mc_expansion *e, int64_t d, signed_sum *s) {
    *s = (signed_sum){.d = d, .count = e->count, .radial = true};
    if (!e->whole || e->count > PARTS_MAX)
        return false;
    for (int i = 0; i < e->count; i++) {
        s->factor[i] = e->monomial[i].factor;
        const bool wendland = mc_wendland_of(e, &e->monomial[i], &s->part[i]);
        if (!wendland)
            s->part[i] = mc_spectrum_of(e, &e->monomial[i], d);
        const mc_family family = s->part[i].family;
        s->radial = s->radial && family != MC_LAPLACE_FAMILY && family != MC_SINC_FAMILY;
        if (family == MC_NO_FAMILY || !(wendland || is_bare(e, &e->monomial[i]))
            || !(s->part[i].scale.lo > 0 || family == MC_FLAT))
            return false;
    }
    return true;
}

/* *size gets the sum of the sizes of the terms. */
static mc_interval density_at(const signed_sum *s, mc_frequency w, double *size) {
    mc_interval sum = mc_iv(0);
    *size = 0;
    for (int i = 0; i < s->count; i++) {
        const mc_interval term = mc_iv_mul(s->factor[i], mc_spectrum_density(&s->part[i], s->d, w));
        *size += fabs(term.lo + (term.hi - term.lo) / 2);
        sum = mc_iv_add(sum, term);
    }
    return sum;
}

/* How negative it surely is, relative to its terms; 1: not known to be. */
static double relative_density(const signed_sum *s, mc_frequency w) {
    double size;
    const double upper = density_at(s, w, &size).hi;
    return size > 0 && isfinite(size) && isfinite(upper) ? upper / size : 1;
}

static void consider_frequency(const signed_sum *s, mc_frequency w, double *least, mc_frequency *best) {
    const double value = relative_density(s, w);
    if (value<*least && * least> PLAIN) {
        *least = value;
        *best = w;
    }
}

/* The transform of what ends at a radius goes up and down about once in a turn over it. */
static void walk_frequencies(const signed_sum *s, double step, double *least, mc_frequency *best) {
    for (int i = 1; i < TURNS && *least >= 0; i++)
        consider_frequency(s, (mc_frequency){.size = mc_round_to_digits(i * step, 4)}, least, best);
}

/* The most negative of a coarse list, 0 first; then around it, in steps of a few digits. */
static double search_frequency(const signed_sum *s, mc_frequency *best) {
    static const double near[] = {0.7, 0.8, 0.85, 0.9, 0.95, 1.05, 1.1, 1.15, 1.2, 1.3};
    static const double digits[] = {1, 1.5, 2, 3, 4, 5, 7};
    double least = 1;
    consider_frequency(s, (mc_frequency){.size = 0}, &least, best);
    for (int all = 0; all < (s->radial || s->d == 1 ? 1 : 2); all++)
        for (double unit = 0.01; unit < 2e4; unit *= 10)
            for (size_t i = 0; i < sizeof digits / sizeof *digits; i++)
                consider_frequency(s, (mc_frequency){digits[i] * unit, all}, &least, best);
    for (int i = 0; i < s->count && least >= 0; i++)
        if (s->part[i].family == MC_WENDLAND_FAMILY)
            walk_frequencies(s, 0.5 / s->part[i].scale.lo, &least, best);
    const mc_frequency middle = *best;
    for (size_t i = 0; least >= 0 && i < sizeof near / sizeof *near; i++)
        consider_frequency(s, (mc_frequency){near[i] * middle.size, middle.in_all}, &least, best);
    return least;
}

/* ---- the mean ---- */

/* An atom that falls to 0 far away, or 0 almost everywhere; *bounded: it is a function of x - z between -1 and 1. */
static bool falls_off(const mc_term *term, bool *bounded) {
    const mc_term *inner = term->kind == MC_T_COLUMNS ? term->child[0] : term;
    *bounded = false;
    if (inner->kind != MC_T_ATOM)
        return false;
    switch (inner->node->atom) {
    case MC_RBF:
    case MC_LAPLACIAN:
    case MC_EXPONENTIAL:
    case MC_MATERN:
    case MC_RQ:
    case MC_SINC:
    case MC_WENDLAND:
    case MC_WHITE: *bounded = true; return true;
    case MC_PERIODIC: *bounded = true; return false;
    default: return false;
    }
}

static bool has_widths(const mc_monomial *m) {
    bool positive = m->width.lo > 0;
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        positive = positive || m->widths[j].lo > 0;
    return positive;
}

static bool widths_are_known(const mc_monomial *m) {
    for (int j = 0; j < MC_WIDTHS_MAX; j++)
        if (!(m->widths[j].lo >= 0))
            return false;
    return m->width.lo >= 0;
}

/* The mean of a monomial without its factor. Exponentials of what falls off tend to 1. */
static bool mean_of_monomial(const mc_expansion *e, const mc_monomial *m, int64_t d, mc_interval *mean) {
    bool gone = has_widths(m), bounded;
    int others = 0;
    for (int g = 0; g < e->generators; g++) {
        if (!m->power[g] && mc_iv_is_zero(&m->rate[g]))
            continue;
        const bool falls = falls_off(e->generator[g], &bounded);
        if (!bounded || m->power[g] < 0 || !isfinite(m->rate[g].lo) || !isfinite(m->rate[g].hi))
            return false;
        gone = gone || (falls && m->power[g]);
        others += !falls;
    }
    *mean = mc_iv(gone ? 0 : 1);
    if (gone || others == 0)
        return widths_are_known(m);
    const mc_stationary s = mc_spectrum_of(e, m, d);
    if (s.family == MC_PERIODIC_FAMILY)
        *mean = mc_iv_power(mc_periodic_mean(s.scale), (double)d);
    return s.family == MC_PERIODIC_FAMILY;
}

static mc_interval mean_of_sum(const mc_expansion *e, int64_t d) {
    mc_interval sum = mc_iv(0), mean;
    for (int i = 0; i < e->count; i++) {
        if (!mean_of_monomial(e, &e->monomial[i], d, &mean))
            return mc_iv_everything();
        sum = mc_iv_add(sum, mc_iv_mul(e->monomial[i].factor, mean));
    }
    return e->whole ? sum : mc_iv_everything();
}

/* ---- the search ---- */

void mc_set_negative_value(mc_interval value, mc_negative_frequency *out) {
    out->value = value.lo + (value.hi - value.lo) / 2;
    out->bound = mc_iv_is_point(value) ? 0 : nextafter(fmax(value.hi - out->value, out->value - value.lo), INFINITY);
    out->found = out->value + out->bound < 0;
}

static void look_at_expansion(const mc_expansion *e, int64_t d, mc_negative_frequency *out) {
    signed_sum s;
    double size;
    const mc_interval mean = mean_of_sum(e, d);
    mc_frequency w = {0};
    *out = (mc_negative_frequency){.d = d};
    if (mean.hi < 0 && isfinite(mean.lo)) {
        out->mean = true;
        mc_set_negative_value(mean, out);
    } else if (read_sum(e, d, &s) && search_frequency(&s, &w) < -1e-9) {
        out->size = w.size;
        out->in_all = w.in_all;
        mc_set_negative_value(density_at(&s, w, &size), out);
    }
}

static mercer_status look_at_columns(mercer_ctx *ctx, const mc_node *node, int64_t d, mc_negative_frequency *out) {
    mc_pool pool = mc_pool_open(ctx);
    mc_expansion e = {0};
    int64_t work = MC_EXPAND_WORK;
    const mc_term *term = mc_term_from(&pool, node);
    const mercer_status status = term ? mc_expand_term(&pool, term, MC_GAUSSIANS, d, &work, &e) : MERCER_MEMORY;
    *out = (mc_negative_frequency){.d = d};
    if (!status)
        look_at_expansion(&e, d, out);
    mc_expansion_close(&e);
    mc_pool_close(&pool);
    return status;
}

mercer_status mc_find_negative_frequency(mercer_ctx *ctx, const mc_node *instance, int64_t d, int64_t most,
                                         mc_negative_frequency *out) {
    int64_t last = d;
    MC_TRY(look_at_columns(ctx, instance, d, out));
    for (int64_t next = d + 1; !out->found && next <= most; next += next < LEAST_EVERY ? 1 : next / 3) {
        last = next;
        MC_TRY(look_at_columns(ctx, instance, next, out));
    }
    for (int64_t fewer = last - 1; out->found && fewer > LEAST_EVERY; fewer--) {
        mc_negative_frequency before;
        MC_TRY(look_at_columns(ctx, instance, fewer, &before));
        if (!before.found)
            break;
        *out = before;
    }
    return MERCER_OK;
}
