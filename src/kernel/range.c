/* range.c: arithmetic of ranges, for the diagonal of a kernel and the function of weigh. */
#include "kernel/range.h"

static const mc_range everything = {-INFINITY, INFINITY};

mc_range mc_range_add(mc_range a, mc_range b) {
    return (mc_range){a.low + b.low, a.high + b.high};
}

static mc_range negative(mc_range a) {
    return (mc_range){-a.high, -a.low};
}

/* 0 times anything is 0: an end at infinity is only ever approached. */
static double times(double a, double b) {
    return a == 0 || b == 0 ? 0 : a * b;
}

mc_range mc_range_multiply(mc_range a, mc_range b) {
    const double p = times(a.low, b.low), q = times(a.low, b.high), r = times(a.high, b.low), s = times(a.high, b.high);
    return (mc_range){fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))};
}

mc_range mc_range_power(mc_range a, double p) {
    if (p == 0)
        return (mc_range){1, 1};
    if (a.low >= 0 && p > 0)
        return (mc_range){pow(a.low, p), pow(a.high, p)};
    if (a.low > 0 && p < 0)
        return (mc_range){pow(a.high, p), pow(a.low, p)};
    if (!mc_is_whole(p))
        return everything;
    const double low = pow(a.low, p), high = pow(a.high, p);
    if (fmod(p, 2) == 1)
        return (mc_range){low, high};
    return (mc_range){a.high <= 0 ? high : 0, fmax(low, high)};
}

static mc_range absolute(mc_range a) {
    return a.low >= 0 ? a : a.high <= 0 ? negative(a) : (mc_range){0, fmax(-a.low, a.high)};
}

static mc_range quotient(mc_range a, mc_range b) {
    return b.low > 0 || b.high < 0 ? mc_range_multiply(a, (mc_range){1 / b.high, 1 / b.low}) : everything;
}

static mc_range of_power(const mc_function *f) {
    return f->child[1]->kind == MC_F_NUMBER ? mc_range_power(mc_range_of_function(f->child[0]), f->child[1]->number)
                                            : everything;
}

mc_range mc_range_of_function(const mc_function *f) {
    const mc_range a = f->child[0] ? mc_range_of_function(f->child[0]) : everything;
    const mc_range b = f->child[1] ? mc_range_of_function(f->child[1]) : everything;
    switch (f->kind) {
    case MC_F_NUMBER: return (mc_range){f->number, f->number};
    case MC_F_NORM2:
    case MC_F_NORM: return (mc_range){0, INFINITY};
    case MC_F_COLUMN: return everything;
    case MC_F_NEGATE: return negative(a);
    case MC_F_ADD: return mc_range_add(a, b);
    case MC_F_SUBTRACT: return mc_range_add(a, negative(b));
    case MC_F_MULTIPLY: return mc_range_multiply(a, b);
    case MC_F_DIVIDE: return quotient(a, b);
    case MC_F_POWER: return of_power(f);
    case MC_F_EXP: return (mc_range){exp(a.low), exp(a.high)};
    case MC_F_LOG: return a.low > 0 ? (mc_range){log(a.low), log(a.high)} : everything;
    case MC_F_SQRT: return a.low >= 0 ? (mc_range){sqrt(a.low), sqrt(a.high)} : everything;
    case MC_F_SIN:
    case MC_F_COS: return (mc_range){-1, 1};
    case MC_F_TANH: return (mc_range){tanh(a.low), tanh(a.high)};
    case MC_F_ABS: return absolute(a);
    }
    return everything;
}
