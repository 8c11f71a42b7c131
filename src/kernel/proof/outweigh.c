/* outweigh.c: the coefficients of c t^p f(r t^q) at n = p + q j, for f(u) = sum of f_j u^j:

     exp            1/j!                                      f_(j+1)/f_j = 1/(j + 1)
     (1 - u)^-a     a (a + 1) ... (a + j - 1)/j!              (a + j)/(j + 1)
     logarithmic    1/j, j >= 1                               j/(j + 1)
     arcsin         ((j - 2)!!)^2/j!, j odd                   f_(j+2)/f_j = j^2/((j + 1)(j + 2))
     bessel_i0      C(j, j/2)/2^j/j!, j even                  1/(j + 2)^2

   The first coefficients are added up, times n!, which makes whole numbers of all that is rational. From some n on,
   apart for each remainder of n by the least common multiple S of the steps, each negative one takes what it needs at n
   from positive ones whose quotient of the coefficients at n + S and n is at least its own, for this n and all that
   follow: as polynomials in i at n + S i the difference of the cross products has no negative coefficient. */
#include "kernel/proof/outweigh.h"
#include <math.h>

/* C(j, j/2) is a double up to here, and the polynomials have at most so many coefficients. */
enum { TERMS = 52, STEP_MAX = 12, DEGREE_MAX = 4 * STEP_MAX };

static const struct {
    int first, step; /* the j that occur */
} places[] = {[MC_SEQUENCE_EXP] = {0, 1},    [MC_SEQUENCE_BINOMIAL] = {0, 1},  [MC_SEQUENCE_LOGARITHMIC] = {1, 1},
              [MC_SEQUENCE_ARCSIN] = {1, 2}, [MC_SEQUENCE_BESSEL_I0] = {0, 2}, [MC_SEQUENCE_ONE] = {0, 1}};

/* The j of n; -1: the sequence has nothing there. */
static int place_of(const mc_sequence *s, int n) {
    const int j = (n - s->p) / (s->kind == MC_SEQUENCE_ONE ? 1 : s->q);
    if (s->kind == MC_SEQUENCE_ONE)
        return n == s->p ? 0 : -1;
    const bool there = n >= s->p && (n - s->p) % s->q == 0 && j >= places[s->kind].first;
    return there && (j - places[s->kind].first) % places[s->kind].step == 0 ? j : -1;
}

/* ---- coefficients ---- */

/* from (from + step) ... up to `to` */
static mc_interval product_of_steps(double from, int step, double to) {
    mc_interval out = mc_iv(1);
    for (double i = from; i <= to; i += step)
        out = mc_iv_mul(out, mc_iv(i));
    return out;
}

static double middle_binomial(int j) {
    double c = 1;
    for (int i = 1; i <= j / 2; i++)
        c = c * (2 * (2 * i - 1)) / i;
    return c;
}

/* j! f_j */
static mc_interval scaled_coefficient(const mc_sequence *s, int j) {
    mc_interval out = mc_iv(1);
    switch (s->kind) {
    case MC_SEQUENCE_BINOMIAL:
        for (int i = 0; i < j; i++)
            out = mc_iv_mul(out, mc_iv_add(mc_iv(s->a), mc_iv(i)));
        return out;
    case MC_SEQUENCE_LOGARITHMIC: return product_of_steps(1, 1, j - 1);
    case MC_SEQUENCE_ARCSIN: return mc_iv_square(product_of_steps(1, 2, j - 2));
    case MC_SEQUENCE_BESSEL_I0: return mc_iv(ldexp(middle_binomial(j), -j));
    default: return out;
    }
}

/* n! times the coefficient of t^n. */
static mc_interval value_at(const mc_sequence *s, int n) {
    const int j = place_of(s, n);
    if (j < 0)
        return mc_iv(0);
    mc_interval out = mc_iv_mul(s->c, mc_iv_mul(scaled_coefficient(s, j), product_of_steps(j + 1, 1, n)));
    for (int i = 0; i < j; i++)
        out = mc_iv_mul(out, s->r);
    return out;
}

static bool sum_nonnegative(const mc_sequence *s, int count, int n) {
    mc_interval sum = mc_iv(0);
    for (int i = 0; i < count; i++)
        sum = mc_iv_add(sum, value_at(&s[i], n));
    return sum.lo >= 0;
}

/* ---- quotients ---- */

typedef struct polynomial {
    int degree;
    mc_interval c[DEGREE_MAX + 1];
} polynomial;

/* times a + b i */
static void multiply_linear(polynomial *f, mc_interval a, double b) {
    f->c[f->degree + 1] = mc_iv(0);
    for (int k = ++f->degree; k > 0; k--)
        f->c[k] = mc_iv_add(mc_iv_mul(f->c[k], a), mc_iv_mul(f->c[k - 1], mc_iv(b)));
    f->c[0] = mc_iv_mul(f->c[0], a);
}

/* The coefficient at p + q (j + b) over that at p + q j, as quotient of polynomials in i at j + b i. */
static void quotient_of(const mc_sequence *s, int j, int b, polynomial *top, polynomial *bottom) {
    const mc_interval r = mc_iv_abs(s->r);
    *top = *bottom = (polynomial){.c = {mc_iv(1)}};
    for (int k = 0; k < b; k++)
        top->c[0] = mc_iv_mul(top->c[0], r);
    for (int at = j; at < j + b; at += places[s->kind].step) {
        const bool bessel = s->kind == MC_SEQUENCE_BESSEL_I0, arcsin = s->kind == MC_SEQUENCE_ARCSIN;
        if (s->kind == MC_SEQUENCE_BINOMIAL)
            multiply_linear(top, mc_iv_add(mc_iv(s->a), mc_iv(at)), b);
        if (arcsin || s->kind == MC_SEQUENCE_LOGARITHMIC)
            multiply_linear(top, mc_iv(at), b);
        if (arcsin)
            multiply_linear(top, mc_iv(at), b);
        multiply_linear(bottom, mc_iv(bessel ? at + 2 : at + 1), b);
        if (arcsin || bessel)
            multiply_linear(bottom, mc_iv(at + 2), b);
    }
}

static mc_interval product_coefficient(const polynomial *f, const polynomial *g, int n) {
    mc_interval out = mc_iv(0);
    for (int k = n > g->degree ? n - g->degree : 0; k <= n && k <= f->degree; k++)
        out = mc_iv_add(out, mc_iv_mul(f->c[k], g->c[n - k]));
    return out;
}

/* From n on, in steps of S, `more` grows at least as `less` does. */
static bool grows_as_fast(const mc_sequence *more, const mc_sequence *less, int n, int step) {
    polynomial f, F, g, G;
    quotient_of(more, place_of(more, n), step / more->q, &f, &F);
    quotient_of(less, place_of(less, n), step / less->q, &g, &G);
    for (int k = 0; k <= f.degree + G.degree || k <= g.degree + F.degree; k++)
        if (!mc_iv_at_least(product_coefficient(&f, &G, k), product_coefficient(&g, &F, k)))
            return false;
    return true;
}

/* ---- the tail ---- */

static bool cover_negative(const mc_sequence *s, int count, int which, int n, int step, mc_interval *left) {
    mc_interval need = mc_iv_neg(left[which]);
    for (int i = 0; i < count; i++) {
        if (!(left[i].lo > 0) || !grows_as_fast(&s[i], &s[which], n, step))
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

/* At n, n + S, n + 2 S, ... */
static bool tail_holds(const mc_sequence *s, int count, int n, int step) {
    mc_interval left[MC_SEQUENCES_MAX];
    for (int i = 0; i < count; i++)
        left[i] = value_at(&s[i], n);
    for (int i = 0; i < count; i++)
        if (!(left[i].lo >= 0) && !cover_negative(s, count, i, n, step, left))
            return false;
    return true;
}

static int greatest_common_divisor(int a, int b) {
    return b ? greatest_common_divisor(b, a % b) : a;
}

/* S: even where a sign may change. */
static int common_step(const mc_sequence *s, int count) {
    int all = 1;
    for (int i = 0; i < count; i++) {
        const int own = s[i].kind == MC_SEQUENCE_ONE ? 1 : s[i].q * places[s[i].kind].step * (s[i].r.lo < 0 ? 2 : 1);
        all = all / greatest_common_divisor(all, own) * own;
        if (all > STEP_MAX)
            return 0;
    }
    return all;
}

bool mc_sequences_nonnegative(const mc_sequence *s, int count) {
    const int step = common_step(s, count);
    int first = 1;
    for (int i = 0; i < count; i++) {
        const int begins = s[i].p + (s[i].kind == MC_SEQUENCE_ONE ? 0 : s[i].q * places[s[i].kind].first) + 1;
        first = begins > first ? begins : first;
    }
    for (int n = 0, held = 0; step > 0 && n + 1 < TERMS; n++) {
        held = n >= first && tail_holds(s, count, n, step) ? held + 1 : 0;
        if (held == step)
            return true;
        if (!held && !sum_nonnegative(s, count, n))
            return false;
    }
    return false;
}
