/* bound.c: how large entries can be, and how wrong. u is the unit roundoff of the tiles, which say themselves how wrong
   their functions are (mc_tile_accuracy).

   Two answers. The worst case holds whatever the roundings are; certificates take it. The likely one chooses precision
   and distance methods: long sums are then given what random roundings pass with a probability below 1e-7 (Higham and
   Mary, 2019), which for 784 coordinates is a fourth of the worst case.

   Covered, in the worst case, of an entry, alone or inside a product: the coordinates (centred and weighted in double,
   then rounded), the sums of the tile bodies, the argument, the elementary function (its polynomial and the roundings
   around it: 2 units in the last place for 2^x, log2, roots and reciprocals, tests/backend/t_tile.c), coefficients,
   sums and products of lines. Not covered: what the reference evaluator itself loses in double where its values are
   taken as they are: k(x, x) under normalize, the functions of weigh, norms of rows.

   A sum of d terms runs in one chain of d additions on every instruction set, lanes being different pairs: its error is
   at most gamma_d+2 = (d + 2) u / (1 - (d + 2) u) times the sum of absolute terms, the rounding of the products and of
   a start value included; d is the longest row for compressed ones. With N = max(|x|^2 + |z|^2)/2 the exponent s = -|x
   - z|^2/2 is wrong by at most

     norms     e0 = (3 gamma + 7 u) N       the sums |x|^2/2 + |z|^2/2, <x, z>, and the start value |z|^2/2 of the fused
     Gaussian
     guarded   the same times |s| / (share N) where |s| >= share N, else as direct
     direct    input sqrt(2|s|) + (gamma + 7 u) |s|

   that is by e0 + e1 sqrt|s| + e2 |s|, input = 4 u sqrt(2N) being what the rounding of the coordinates can change |x -
   z| by. A function of s passes on at most sup |f'(t)| (e0 + e1 sqrt t + e2 t) times 1/(1 - 1/64 - e2), t between s and
   its computed value, with 16 e1^2 more in e0: |s| <= t + error, and e1 sqrt(error) <= 16 e1^2 + error/64. That is
   finite for every radial kernel however far apart the points are; the root of matern 1/2 alone turns e0 into its
   square root. Values of other lines are followed by size, error and what they cannot fall below, which roots and
   negative powers need to know, rule by rule. One per cent on top covers what is of second order. */
#include "gram/compile/matern_table.h"
#include "gram/compile/tile_program.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/evaluate/power_series.h"
#include <float.h>
#include <math.h>

static const double ln2 = 0.693147180559945309417;

/* Size and error of an argument; for distances the three-term form. */
typedef struct argument_error {
    double size, e0, e1, e2;
    double share; /* of a dot product or a plain sum: its error over what the rows of the pair make of it */
} argument_error;

/* Of a function whose error is told by the largest value it can have. */
static mc_bound make_bound(double size, double error, double low) {
    return (mc_bound){.size = size, .error = error, .low = low, .share = error / size};
}

static mc_bound symmetric_bound(double size, double error) {
    return make_bound(size, error, -size);
}

static const mc_bound unknown = {.size = INFINITY, .error = INFINITY, .low = -INFINITY, .share = INFINITY};

/* What is counted with: the unit roundoff, whether the worst is to be met, and what the bodies say of themselves. */
typedef struct arithmetic {
    double u;
    bool worst;
    bool reference; /* what the tiles cannot hold the reference evaluator has */
    const mc_tile_accuracy *bodies;
} arithmetic;

/* The error of `sums` sums along a row that meet in one value, in units of u, and a few roundings around them. */
static double sum_factor(const mc_tile_part *p, double sums, arithmetic a) {
    const double d = (double)p->longest;
    if (!a.worst)
        return fmin(d, 6 * sqrt(d)) + 3;
    const double chains = (double)a.bodies->chains, adds = d / chains + chains + 1;
    const double gamma = adds / fmax(1 - adds * a.u, 0x1p-10);
    return sums * gamma + 8;
}

/* A distance that the tiles cannot hold, and the reference evaluator has then: its differences are those of the data,
   right to u each, so that only the phase of a circle is wrong by more than a share. */
static argument_error reference_distance(const mc_tile_part *p, double alpha, arithmetic a) {
    const double by = isnan(alpha) ? 1 : fabs(alpha), input = 2 * p->phase;
    return (argument_error){
        .size = INFINITY, .e0 = by * input * input, .e1 = sqrt(2 * by) * input, .e2 = (sum_factor(p, 1, a) + 12) * a.u};
}

/* Doubles have the differences of the coordinates to the last digits, and their squares too: two numbers that differ do
   so by a unit in the last place of the smaller. */
static bool has_exact_differences(const mc_tile_part *p, arithmetic a) {
    return p->exact && a.u < 0x1p-50 && p->least > 1e-130;
}

/* The exponent -|x - z|^2/2 of a part, times alpha. */
static argument_error distance_argument(const mc_tile_part *p, double alpha, arithmetic a) {
    const double N = 0.5 * (p->left.norm2_max + p->right.norm2_max), u = a.u;
    if (a.reference && !(fabs(alpha) * N <= DBL_MAX))
        return reference_distance(p, alpha, a);
    const double c = sum_factor(p, p->distance_method == MC_DISTANCE_DIRECT ? 1 : 3, a), e0 = (c + 4) * u * N;
    const bool exact = has_exact_differences(p, a);
    const double flushed = exact ? 0 : (double)p->longest * (u > 0x1p-50 ? FLT_MIN : DBL_MIN);
    /* of |x - z|, by the rounding of the coordinates */
    const double input = p->exact && u < 0x1p-50 ? 0 : 4 * u * sqrt(2 * N) + 2 * p->phase;
    argument_error s = {.size = fabs(alpha) * 4 * N,
                        .e0 = fabs(alpha) * (input * input + flushed),
                        .e1 = sqrt(2 * fabs(alpha)) * input};
    if (p->uint8_unit > 0)
        s.e2 = 4 * u; /* sums of whole numbers are exact; pack_uint8.c keeps the coordinates within what input says */
    else if (p->distance_method == MC_DISTANCE_NORMS)
        s.e0 += fabs(alpha) * e0;
    else
        s.e2 = (c + 4) * u * (p->distance_method == MC_DISTANCE_GUARDED ? 1 / MC_GUARD_SHARE : 1);
    s.e0 += 0.5 * fabs(alpha) * p->form_error;
    if (a.worst)
        s.e2 += 8 * u; /* the weights, a common factor of the coordinates, and alpha */
    return s;
}

static argument_error dot_argument(const mc_tile_part *p, double a, double c, arithmetic by) {
    const double reach = sqrt(p->left.norm2_max * p->right.norm2_max), f = sum_factor(p, 1, by), u = by.u;
    const double shifts = p->left.shift_max + p->right.shift_max + p->centre2;
    const double size = fabs(a) * (reach + shifts) + fabs(c);
    const double double_u = 0x1p-53; /* the shifts are summed up in double */
    const double e0 = (u * (f + 2) + 2 * double_u * p->rounding) * fabs(a) * reach + 3 * u * size
                      + double_u * (f + 3) * fabs(a) * shifts;
    /* what a centre rounds off hurts the shortest rows */
    const double least = fabs(a) * sqrt(p->left.least2 * p->right.least2) + fabs(c);
    return (argument_error){
        .size = size, .e0 = e0, .share = shifts > 0 ? e0 / least : u * (f + 5) + 2 * double_u * p->rounding};
}

/* Arguments of sinc that have lost their digits in the tiles. */
static bool is_beyond_sinc(const mc_tile_part *p, arithmetic a) {
    const double most = a.u > 0x1p-50 ? 1e-4 : 1e-6;
    return a.reference && !(9 * a.u * (p->left.norm2_max + p->right.norm2_max) < most);
}

/* Products over the columns, of values that are wrong by some u each: those of sinc are at most 1, and fall by 1.4 at
   most where an argument moves by 1; the reference evaluator has the differences right to u. */
static mc_bound product_bound(const mc_tile_part *p, arithmetic a) {
    const double d = (double)p->d, left = p->left.norm2_max, right = p->right.norm2_max;
    if (p->kind == MC_SINC_PRODUCT)
        return make_bound(1, a.u * ((is_beyond_sinc(p, a) ? 0 : 9 * (left + right)) + 14 * d), -1);
    const double size = sqrt(left) * sqrt(right);
    mc_bound out = make_bound(size, 14 * d * a.u * size, -size);
    out.share = 14 * d * a.u;
    return out;
}

static argument_error sum_argument(const mc_tile_part *p, double a, double c, arithmetic by) {
    const double reach = p->left.norm2_max + p->right.norm2_max, u = by.u;
    const double again = p->sparse ? 2 : 1; /* cancelling terms */
    const double size = fabs(a) * reach + fabs(c);
    const double f = sum_factor(p, 1, by) + 4;
    if (by.reference && p->kind != MC_MINIMUM && !(size <= DBL_MAX))
        return (argument_error){.size = INFINITY, .e2 = u * (f + 8)}; /* terms of one sign, as in reference_distance */
    return (argument_error){.size = size, .e0 = u * (fabs(a) * f * again * reach + 3 * size), .share = u * (f + 3)};
}

/* The angle: the cosine is wrong by (c_d + 4) u, the norms that made the vectors unit included; its arc by that over
   the sine, which the guard keeps from 0. */
static argument_error angle_argument(const mc_tile_part *p, arithmetic a) {
    const double e = (sum_factor(p, 2, a) + 4) * a.u;
    return (argument_error){.size = 2,
                            .e0 = p->distance_method == MC_DISTANCE_NORMS ? sqrt(2 * e) + e
                                                                          : 2 * e / sqrt(MC_GUARD_SHARE) + 8 * a.u};
}

static argument_error argument_of(const mc_tile_program *plan, const mc_tile_line *line, arithmetic by) {
    const mc_tile_part *p = &plan->part[line->part];
    const double a = line->a / mc_part_unit(p);
    switch (line->use) {
    case MC_USE_DOT: return dot_argument(p, a, line->c, by);
    case MC_USE_DISTANCE: return distance_argument(p, 2 * a, by);
    case MC_USE_SUM: return sum_argument(p, a, line->c, by);
    default: return angle_argument(p, by);
    }
}

/* sup |f'| against 1, sqrt|s| and |s| for the radial functions (values in [0, 1]). */
typedef struct function_slopes {
    double by0, by1, by2;
} function_slopes;

static const function_slopes radial[MC_TILE_FUNCTIONS] = {
    [MC_EXP2] = {0.694, 0.358, 0.368}, /* 2^s, the square of 2^(s/2) at worst */
    [MC_ROOT] = {0, 0.694, 0.368},     /* by0 is a square root, below */
    [MC_MATERN3] = {0.241, 0.128, 0.271}, [MC_MATERN5] = {0.081, 0.098, 0.310},
    [MC_RATIONAL] = {1, 1, 0.368}, /* by0 and by1 times p, below */
};

/* The functions of Wendland: what -f'(q)/(2q) is at most; of k = 0, where it is infinite at 0, of -f'(q)/2. */
static double compact_slope(const mc_tile_step *step) {
    const double l = (double)step->degree;
    return step->p == 0 ? l / 2 : step->p == 1 ? (l + 1) * (l + 2) / 2 : (l + 3) * (l + 4) / 6;
}

static mc_bound compact_bound(const mc_tile_step *step, argument_error s, arithmetic a) {
    const double slope = compact_slope(step), e0 = s.e0 + 16 * s.e1 * s.e1, n = (double)step->degree + step->p;
    double error = slope * ((step->p == 0 ? 0 : e0) + s.e1 + s.e2) / fmax(1 - 0x1p-6 - s.e2, 0x1p-10);
    error += (a.bodies->function[MC_COMPACT] + 4 * n) * a.u + (step->p == 0 ? 2 * slope * sqrt(s.e0) : 0);
    return make_bound(1, fmin(error, 1), 0);
}

/* max(0, t)^h of a distance t that is wrong by e0 + e1 sqrt t + e2 t: the h-th power of e0 and, where t > 4 e1^2, so
   that the slope is at most twice that of t itself, 2 h (e1 t^(h - 1/2) + e2 t^h); below, (2 e1^2)^h. Of exact
   differences the error is a share of the value itself, whose logarithm is at most 710. */
static mc_bound power_bound(const mc_tile_part *p, const mc_tile_step *step, argument_error s, arithmetic a) {
    const double h = step->p, size = pow(s.size, h), *by = a.bodies->power;
    const double steep = h >= 0.5 ? 2 * h * s.e1 * pow(s.size, h - 0.5) : h * pow(2 * s.e1, 2 * h);
    const double passed = pow(s.e0, h) + fmax(pow(2 * s.e1 * s.e1, h), steep) + 2 * h * s.e2 * size;
    const double own = by[0] + h * (by[1] + by[2] * fabs(log(fmax(s.size, 2))));
    /* a square that is flushed must not cost what WORST_SHARE of choose_precision.c allows, but what doubles keep */
    const double flushed = p->exact && a.u < 0x1p-50 && !has_exact_differences(p, a) ? 1e7 * pow(s.e0, h) : 0;
    mc_bound out = make_bound(size, passed + flushed + a.u * own * size, 0);
    const double share = 2 * h * s.e2 + a.u * (by[0] + h * (by[1] + by[2] * 710));
    out.share = has_exact_differences(p, a) ? share : INFINITY;
    return out;
}

/* The Matern function falls the faster the nearer to 0: t + e0 has it at 1 - f(e0) less than t at most. Where t is
   wrong by e1 sqrt t, f' is at most 1 for nu >= 1/2; below, f is convex in s, and the same argument holds with 3 e1.
   t f'(t) is at most that of a Gaussian, which f is a mixture of. */
static mc_bound matern_bound(const mc_tile_step *step, argument_error s, arithmetic a) {
    const double nu = step->p, e0 = s.e0 + 16 * s.e1 * s.e1;
    const double moved = nu >= 0.5 ? 0.5 * s.e1 : 2 * (1 - mc_matern_value(nu, 3 * s.e1));
    const double passed = 1 - mc_matern_value(nu, sqrt(e0)) + moved + radial[MC_EXP2].by2 * s.e2;
    return make_bound(1, fmin(passed / fmax(1 - 0x1p-6 - s.e2, 0x1p-10) + mc_matern_table_error(nu, a.u), 1), 0);
}

/* -|x|^p and -|z|^p beside |x - z|^p, of rows that make |x|^(p/2) |z|^(p/2) of it; |x - z|^p is at most four times the
   larger of |x|^p and |z|^p. */
static mc_bound centred_bound(const mc_tile_line *line, mc_bound v, arithmetic a) {
    const double size = v.size + line->row_max + line->col_max;
    mc_bound out = symmetric_bound(size, v.error + 4 * a.u * size);
    const double most = fmax(line->row_max, line->col_max), least = fmin(line->row_least, line->col_least);
    out.share = v.share < INFINITY ? (4 * v.share + 12 * a.u) * sqrt(most / least)
                                   : out.error / sqrt(line->row_least) / sqrt(line->col_least);
    return out;
}

/* The Gaussian of Gibbs: the distance over t, which is at least the sum of the least squares of lengths, and a power
   of the share 4 f^2 g^2 / t^2. Floats have room for squares from 1e-14 to 1e14, doubles from 1e-140 to 1e140. */
static bool is_beyond_lengths(const mc_tile_line *line, arithmetic a) {
    const double limit = a.u > 0x1p-50 ? 1e14 : 1e140;
    return !(line->row_least + line->col_least > 1 / limit && line->row_max + line->col_max < limit);
}

static mc_bound mean_length_bound(const mc_tile_line *line, argument_error s, arithmetic a) {
    const double least = line->row_least + line->col_least, most = line->row_max + line->col_max;
    if (is_beyond_lengths(line, a) && a.reference)
        return make_bound(1, (64 + 40 * line->step.p) * a.u, 0);
    const double e0 = s.e0 / least + 16 * s.e1 * s.e1 / least, e2 = s.e2 + 8 * a.u;
    const function_slopes *f = &radial[MC_EXP2];
    const double passed = (f->by0 * e0 + f->by1 * s.e1 / sqrt(least) + f->by2 * e2) / fmax(1 - 0x1p-6 - e2, 0x1p-10);
    const double own = 3 * a.bodies->function[MC_EXP2] + line->step.p * (16 + 8 * log2(most / least));
    return make_bound(1, fmin(passed + own * a.u, 1), 0);
}

/* s / (a + b - s) with s <= min(a, b): the denominator is at least half of a + b, so that errors of a share e of each
   sum make one of 8 e at most. */
static mc_bound ratio_bound(argument_error s, arithmetic a) {
    return make_bound(1, fmin(8 * s.share + a.bodies->function[MC_RATIO] * a.u, 1), 0);
}

static mc_bound radial_bound(const mc_tile_line *line, argument_error s, arithmetic a) {
    const double u = a.u, own = a.bodies->function[line->step.function];
    const function_slopes *f = &radial[line->step.function];
    const double by = line->step.function == MC_RATIONAL ? line->step.p : 1, e0 = s.e0 + 16 * s.e1 * s.e1;
    double error = (f->by0 * by * e0 + f->by1 * by * s.e1 + f->by2 * s.e2) / fmax(1 - 0x1p-6 - s.e2, 0x1p-10) + own * u;
    if (line->step.function == MC_ROOT)
        error += ln2 * sqrt(s.e0);
    if (line->step.function == MC_RATIONAL)
        error += (line->step.degree ? a.bodies->inverse[0] * by : a.bodies->inverse[1]) * u;
    return make_bound(1, fmin(error, 1), 0);
}

/* v^n; a negative n wants v away from 0, as far as its error. */
static mc_bound whole_power(mc_bound v, double n, double u) {
    const double away = v.low - v.error;
    if (n < 0)
        return away > 0 ? make_bound(pow(v.low, n), -n * pow(away, n - 1) * v.error + (1 - n) * u * pow(away, n),
                                     pow(v.size, n))
                        : unknown;
    const double size = pow(v.size, n);
    return (mc_bound){.size = size,
                      .error =
                          n == 0 ? 0 : n * pow(v.size + v.error, n - 1) * v.error + n * u * pow(v.size + v.error, n),
                      .low = v.low >= 0        ? pow(v.low, n)
                             : fmod(n, 2) == 0 ? 0
                                               : -size,
                      .share = expm1(n * (v.share + u))};
}

/* v^p of v >= 0, or of any v where p is a number that is large and whole. Near 0 a root turns an error into its root;
   away from it the slope is bounded. */
static mc_bound real_power(mc_bound v, double p, arithmetic a) {
    const double u = a.u, *by = a.bodies->power;
    const double away = v.low - v.error, M = v.size, E = v.error;
    if (p < 0 && !(away > 0))
        return unknown;
    const double most = pow(p < 0 ? away : M + E, p),
                 largest_log = fmax(fabs(log(fmax(M, 1))), away > 0 ? fabs(log(fmin(away, 1))) : 0);
    const double steep = away > 0 ? fabs(p) * pow(p < 1 ? away : M + E, p - 1) * E : INFINITY;
    const double passed = p < 0 ? steep : p < 1 ? fmin(pow(E, p), steep) : p * pow(M + E, p - 1) * E;
    mc_bound out = make_bound(p < 0 ? pow(v.low, p) : pow(M, p),
                              passed + u * (by[0] + fabs(p) * (by[1] + by[2] * largest_log)) * most,
                              p < 0                          ? pow(M, p)
                              : v.low < 0 && fmod(p, 2) == 1 ? -pow(M, p)
                                                             : pow(fmax(v.low, 0), p));
    out.share = p >= 1 ? expm1(p * v.share) + u * (by[0] + p * (by[1] + by[2] * largest_log)) : out.share;
    return out;
}

static mc_bound scaled_bound(const mc_tile_line *line, mc_bound v, double own) {
    const double by = line->row_max * line->col_max;
    mc_bound out = symmetric_bound(v.size * by, by * (v.error + own * v.size));
    out.share = v.share + own;
    return out;
}

/* -log(1 - v), which is no smaller than v. */
static mc_bound log_series_bound(mc_bound v, double own) {
    const double top = v.size + v.error, size = -log1p(-v.size);
    if (!(top < 1))
        return unknown;
    return (mc_bound){.size = size,
                      .error = v.error / (1 - top) + own * size,
                      .low = -log1p(-v.low),
                      .share = v.share / (1 - top) + own};
}

/* Steepest next to 1; up to 1/2 the slope is below 1.2, and beyond it asin is above 1/2. */
static mc_bound arc_sine_bound(mc_bound v, double own) {
    const double top = fmin(v.size + v.error, 1), size = asin(fmin(v.size, 1));
    if (!(v.size <= MC_ARCSIN_MOST && v.error < 1))
        return unknown;
    const double error = asin(top) - asin(fmax(top - 2 * v.error, -1)) + own * size;
    return (mc_bound){
        .size = size, .error = error, .low = asin(fmax(v.low, -1)), .share = fmax(1.2 * v.share, 2 * error) + own};
}

/* I0' = I1 < I0; terms are rounded as often as they are many. */
static mc_bound bessel_bound(mc_bound v, double own, double u) {
    const double size = mc_series_rows[MC_BESSEL_I0].value(v.size),
                 most = mc_series_rows[MC_BESSEL_I0].value(v.size + v.error);
    return make_bound(size, v.error * most + (own + 4 * v.size * u) * most, 1);
}

/* f of a value. */
static mc_bound function_bound(const mc_tile_line *line, mc_bound v, arithmetic a) {
    const double M = v.size, E = v.error, u = a.u, units = a.bodies->function[line->step.function], own = units * u;
    switch (line->step.function) {
    case MC_SAME: return v;
    case MC_WHOLE_POWER: return whole_power(v, (double)line->step.degree, u);
    case MC_REAL_POWER: return real_power(v, line->step.p, a);
    case MC_EXP2: return make_bound(exp2(M), exp2(M) * (expm1(ln2 * E) + (units + M) * u), exp2(v.low));
    case MC_LOG_SERIES: return log_series_bound(v, own);
    case MC_ARC_SINE: return arc_sine_bound(v, own);
    case MC_BESSEL: return bessel_bound(v, own, u);
    case MC_HYPERBOLIC: return symmetric_bound(1, fmin(E + own, 2));
    case MC_ARC0: return make_bound(1, E / 3 + own, 0);
    case MC_ARC1: return make_bound(1, E + own, 0);
    case MC_ARC2: return make_bound(3, 4 * E + own, 0);
    case MC_SCALE:
    case MC_SCALE_SIGN: return scaled_bound(line, v, own);
    case MC_EQUAL: return make_bound(1, 0, 0);
    default: return make_bound(1, 0, 1);
    }
}

/* factor v; a negative factor puts what was above below. */
static mc_bound bound_times_factor(mc_bound v, double factor, double u) {
    const double size = fabs(factor) * v.size;
    return (mc_bound){.size = size,
                      .error = fabs(factor) * (v.error + u * v.size),
                      .low = factor >= 0 ? factor * v.low : -size,
                      .share = v.share + u};
}

static mc_bound line_bound(const mc_tile_program *plan, const mc_tile_line *line, const mc_bound *temporary,
                           arithmetic by) {
    const double u = by.u;
    const bool node = line->vector != MC_VECTOR_NONE, constant = line->step.function == MC_CONSTANT;
    const mc_bound in = temporary[line->step.source];
    if (line->vector == MC_VECTOR_LENGTH)
        return mean_length_bound(line, argument_of(plan, line, by), by);
    if (line->vector == MC_VECTOR_POWER)
        return centred_bound(line, in, by);
    if (constant || node)
        return function_bound(line, in, by);
    if (line->part < 0)
        return function_bound(line, bound_times_factor(in, line->step.alpha, u), by);
    if (mc_statistic_is_product(plan->part[line->part].kind))
        return product_bound(&plan->part[line->part], by);
    const argument_error s = argument_of(plan, line, by);
    /* a radial function of an argument that is never positive; a weight that no double holds makes it no number */
    const bool falls = !(line->a > 0) && line->use != MC_USE_DOT;
    if (line->step.function == MC_RATIO)
        return ratio_bound(s, by);
    if (line->step.function == MC_LOOKED_UP)
        return matern_bound(&line->step, s, by);
    if (line->step.function == MC_DISTANCE_POWER)
        return power_bound(&plan->part[line->part], &line->step, s, by);
    if (falls && line->step.function == MC_COMPACT)
        return compact_bound(&line->step, s, by);
    if (falls && radial[line->step.function].by2 > 0)
        return radial_bound(line, s, by);
    mc_bound v = symmetric_bound(s.size, s.e0 + s.e1 * sqrt(s.size) + s.e2 * s.size);
    v.share = s.share > 0 ? s.share : v.share;
    return function_bound(line, v, by);
}

static mc_bound combine_bounds(mc_combine combine, mc_bound old, mc_bound v, double u) {
    switch (combine) {
    case MC_SET: return v;
    case MC_ADD:
        return (mc_bound){.size = old.size + v.size,
                          .error = old.error + v.error + u * (old.size + v.size),
                          .low = old.low + v.low,
                          .share = fmax(old.share, v.share) + u};
    case MC_MULTIPLY: break;
    }
    const double size = old.size * v.size;
    return (mc_bound){.size = size,
                      .error = old.size * v.error + v.size * old.error + old.error * v.error + u * size,
                      .low = old.low >= 0 && v.low >= 0 ? old.low * v.low : -size,
                      .share = old.share + v.share + old.share * v.share + u};
}

/* The larger of the two; what is no number is as large as can be. */
static double larger_or_infinity(double reach, double size) {
    return size <= reach ? reach : isnan(size) ? INFINITY : size;
}

double mc_largest_magnitude(const double *v, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = larger_or_infinity(most, fabs(v[i]));
    return most;
}

double mc_least_magnitude(const double *v, int64_t n) {
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++)
        least = v[i] != 0 ? fmin(least, fabs(v[i])) : least;
    return least;
}

/* The argument of a line, where it is one of a part; infinite where the tiles cannot hold it. */
static double argument_size(const mc_tile_program *plan, const mc_tile_line *line, arithmetic by) {
    const bool part = line->part >= 0 && line->step.function != MC_CONSTANT;
    const mc_tile_part *p = part ? &plan->part[line->part] : NULL;
    if (part && p->kind == MC_SINC_PRODUCT)
        return is_beyond_sinc(p, by) ? INFINITY : 0;
    if (!part || p->kind == MC_SPLINE_PRODUCT)
        return 0;
    if (line->vector == MC_VECTOR_LENGTH && is_beyond_lengths(line, by))
        return INFINITY;
    const double size = argument_of(plan, line, by).size;
    return line->vector == MC_VECTOR_LENGTH ? fmax(size, size / (line->row_least + line->col_least)) : size;
}

mc_bound mc_tile_program_bound(const mc_tile_program *plan, const mc_tile_ops *bodies, bool worst, mc_bound *temporary,
                               double *reach) {
    const double u = bodies->unit;
    const arithmetic by = {u, worst, plan->allows_reference, bodies->accuracy};
    *reach = 0;
    for (int i = 0; i < plan->temporaries; i++)
        temporary[i] = (mc_bound){0};
    for (int i = 0; i < plan->lines; i++) {
        const mc_tile_line *line = &plan->line[i];
        const mc_bound raw = line_bound(plan, line, temporary, by),
                       v = bound_times_factor(raw, line->step.coefficient, u);
        mc_bound *target = &temporary[line->step.target];
        *target = combine_bounds(line->step.combine, *target, v, u);
        *reach =
            larger_or_infinity(larger_or_infinity(larger_or_infinity(*reach, argument_size(plan, line, by)), raw.size),
                               larger_or_infinity(v.size, target->size));
    }
    mc_bound all = temporary[0];
    if (worst) /* what a line flushes to 0 on its way to the entry, its function, factor and sum, is below this */
        all.error = 1.01 * all.error + 4 * plan->lines * (u > 0x1p-50 ? FLT_MIN : DBL_MIN);
    if (!(all.error <= DBL_MAX)) /* infinity times 0 on the way */
        all.error = INFINITY;
    return all;
}

/* 2^s of a distance s = -t: with e0 + e1 sqrt t + e2 t the error of s, that of 2^s is at most (2^e0 - 1) 2^s and 2^e0
   times what it would be without e0, which is bounded whatever t is. */
void mc_tile_program_terms(const mc_tile_program *plan, const mc_tile_ops *bodies, double all, double *relative,
                           double *rest) {
    const mc_tile_line *line = &plan->line[0];
    const double u = bodies->unit;
    const arithmetic by = {u, true, plan->allows_reference, bodies->accuracy};
    *relative = 0;
    *rest = all;
    if (plan->lines != 1 || line->part < 0 || line->vector != MC_VECTOR_NONE || line->use != MC_USE_DISTANCE
        || line->a >= 0 || line->step.function != MC_EXP2 || line->step.combine != MC_SET)
        return;
    argument_error s = argument_of(plan, line, by);
    const double e0 = s.e0;
    s.e0 = 0;
    *relative = 1.01 * (expm1(ln2 * e0) + 2 * u);
    *rest = 1.01 * exp2(e0) * fabs(line->step.coefficient) * (radial_bound(line, s, by).error + u);
}
