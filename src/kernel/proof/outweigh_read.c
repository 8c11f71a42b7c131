/* outweigh_read.c: an expression as a sum of c g^p f(r g^q) over one kernel g. See outweigh.h. */
#include "kernel/proof/expand.h"
#include "kernel/proof/outweigh.h"
#include <math.h>

enum { POWER_MAX = 12 };

typedef struct reader {
    mc_pool *pool;
    int64_t d, *work;
    const mc_term *kernel; /* NULL: none has been met */
    mercer_status status;
} reader;

static bool is_the_kernel(reader *r, const mc_term *term) {
    r->kernel = r->kernel ? r->kernel : term;
    return mc_term_equal(r->kernel, term);
}

static bool has_a_sign(mc_interval v) {
    return v.lo > 0 || v.hi < 0;
}

/* One generator with a power alone: its number, or -1. */
static int bare_generator(const mc_expansion *e, const mc_monomial *m) {
    mc_monomial rest = *m;
    int found = -1;
    for (int g = 0; g < e->generators; g++) {
        if (m->power[g] > 0)
            found = found < 0 ? g : -2;
        rest.power[g] = 0;
    }
    return mc_monomial_is_constant(&rest) ? found : -1;
}

/* u = constant + r g^q */
static bool read_inside(reader *r, const mc_term *u, mc_interval *constant, mc_sequence *s) {
    mc_expansion e;
    int others = 0;
    r->status = mc_expand_term(r->pool, u, MC_GENERATORS, r->d, r->work, &e);
    bool ok = !r->status && e.whole && e.count <= 2;
    *constant = mc_iv(0);
    for (int i = 0; ok && i < e.count; i++) {
        const mc_monomial *m = &e.monomial[i];
        const int g = bare_generator(&e, m);
        if (mc_monomial_is_constant(m)) {
            *constant = m->factor;
            continue;
        }
        ok = g >= 0 && ++others == 1 && is_the_kernel(r, e.generator[g]) && has_a_sign(m->factor)
             && m->power[g] <= POWER_MAX;
        if (ok) {
            s->r = m->factor;
            s->q = m->power[g];
        }
    }
    mc_expansion_close(&e);
    return ok && others == 1;
}

static bool is_function(const mc_term *term) {
    return term->kind == MC_T_SERIES || term->kind == MC_T_EXP || (term->kind == MC_T_POWER && term->amount.factor < 0);
}

/* (b + r g^q)^-a = b^-a (1 + (r/b) g^q)^-a; for r < 0 it has a value on equal points only where |r| g^q < b there, if
   that is what its base says. */
static bool read_binomial(const mc_term *f, mc_interval b, mc_sequence *s) {
    s->kind = MC_SEQUENCE_BINOMIAL;
    s->a = -f->amount.factor;
    s->inside = s->r.hi < 0 && mc_term_diagonal_range(f->child[0]).lo > 0;
    s->r = mc_iv_neg(mc_iv_div(s->r, b));
    s->c = mc_iv_mul(s->c, mc_iv_power(b, f->amount.factor));
    return b.lo > 0;
}

static bool read_series(const mc_term *f, mc_interval b, mc_sequence *s) {
    static const mc_sequence_kind kinds[MC_SERIES_COUNT] = {[MC_LOGARITHMIC] = MC_SEQUENCE_LOGARITHMIC,
                                                            [MC_ARCSIN] = MC_SEQUENCE_ARCSIN,
                                                            [MC_BESSEL_I0] = MC_SEQUENCE_BESSEL_I0};
    s->kind = kinds[f->node->series];
    s->inside = s->kind == MC_SEQUENCE_BESSEL_I0 || s->r.lo > 0;
    return mc_iv_is_zero(&b);
}

static bool read_function(reader *r, const mc_term *f, mc_sequence *s) {
    mc_interval b;
    if (!read_inside(r, f->child[0], &b, s))
        return false;
    if (f->kind == MC_T_POWER)
        return read_binomial(f, b, s);
    if (f->kind == MC_T_SERIES)
        return read_series(f, b, s);
    s->kind = MC_SEQUENCE_EXP;
    s->inside = true;
    s->c = mc_iv_mul(s->c, mc_iv_exp(b));
    return true;
}

/* factor g^p exp(rate g), or factor g^p f(r g^q) */
static bool read_monomial(reader *r, const mc_expansion *e, const mc_monomial *m, mc_sequence *s) {
    mc_monomial rest = *m;
    *s = (mc_sequence){.c = m->factor, .r = mc_iv(1), .q = 1, .inside = true};
    for (int g = 0; g < e->generators; g++) {
        const bool function = is_function(e->generator[g]), rate = !mc_iv_is_zero(&m->rate[g]);
        if (function && m->power[g] == 1 && !rate && s->kind == MC_SEQUENCE_ONE) {
            if (!read_function(r, e->generator[g], s))
                return false;
        } else if (m->power[g] || rate) {
            if (m->power[g] > POWER_MAX || !is_the_kernel(r, e->generator[g]) || (rate && s->kind != MC_SEQUENCE_ONE))
                return false;
            s->p = m->power[g];
            s->kind = rate ? MC_SEQUENCE_EXP : s->kind;
            s->r = rate ? m->rate[g] : s->r;
        }
        rest.power[g] = 0;
        rest.rate[g] = mc_iv(0);
    }
    return mc_monomial_is_constant(&rest) && has_a_sign(s->r);
}

/* |s.r|^(1/s.q) <= |limit.r|^(1/limit.q), so that where limit.r g^limit.q < 1 the series s converges. */
static bool lies_inside(const mc_sequence *s, const mc_sequence *limit) {
    return limit->kind == MC_SEQUENCE_LOGARITHMIC && limit->r.lo > 0
           && mc_iv_at_least(mc_iv_power(limit->r, s->q), mc_iv_power(mc_iv_abs(s->r), limit->q));
}

/* g is a kernel, so |g(x,z)| is at most the larger of g(x,x) and g(z,z): what converges on equal points, and has
   coefficients of one sign there, converges everywhere. */
static bool series_converges(const mc_sequence *s, int count, int which) {
    bool found = s[which].inside;
    for (int i = 0; i < count && !found; i++)
        found = lies_inside(&s[which], &s[i]);
    return found;
}

/* Some series that does not end: sums of powers have rules of their own. */
static bool has_a_series(const mc_sequence *s, int count) {
    for (int i = 0; i < count; i++)
        if (s[i].kind != MC_SEQUENCE_ONE)
            return true;
    return false;
}

static bool read_sum(reader *r, const mc_expansion *e, mc_sequence *s) {
    if (!e->whole || e->count < 1 || e->count > MC_SEQUENCES_MAX)
        return false;
    for (int i = 0; i < e->count; i++)
        if (!read_monomial(r, e, &e->monomial[i], &s[i]))
            return false;
    for (int i = 0; i < e->count; i++)
        if (!series_converges(s, e->count, i))
            return false;
    return r->kernel && has_a_series(s, e->count);
}

mercer_status mc_term_outweighed(mc_pool *pool, const mc_term *term, int64_t d, int64_t *work, bool *holds,
                                 const mc_term **kernel) {
    reader r = {.pool = pool, .d = d, .work = work};
    mc_sequence s[MC_SEQUENCES_MAX];
    mc_expansion e;
    r.status = mc_expand_term(pool, term, MC_GENERATORS, d, work, &e);
    *holds = !r.status && read_sum(&r, &e, s) && mc_sequences_nonnegative(s, e.count);
    *kernel = r.kernel;
    mc_expansion_close(&e);
    return r.status;
}
