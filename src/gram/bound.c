/* bound.c: how large entries can be, and how wrong. u is the unit roundoff of the tiles.

   Sums of d products carry an error of at most c_d u times the sum of absolute terms, c_d = min(d, 6 sqrt(d)) + 3: the worst case for
   short rows, and for long ones what random roundings pass with a probability below 1e-7 (Higham and Mary, 2019). Coordinates were rounded
   once. With N = max(|x|^2 + |z|^2)/2 the exponent s = -|x - z|^2/2 is then wrong by at most

     norms     e0                            e0 = (c_d + 4) u N
     guarded   e0 |s| / (share N) where |s| >= share N, else as direct
     direct    2 sqrt(2N) u sqrt(2|s|) + (c_d + 2) u |s|

   that is by e0 + e1 sqrt|s| + e2 |s|. A function of s passes on at most sup |f'(s)| (e0 + e1 sqrt|s| + e2 |s|), which is finite for every
   radial kernel however far apart the points are; the root of matern 1/2 alone turns e0 into its square root. Values of other lines are
   followed by size and error, rule by rule. */
#include "gram/plan.h"
#include <float.h>
#include <math.h>

static const double ln2 = 0.693147180559945309417;

/* Size and error of an argument; for distances the three-term form. */
typedef struct argument {
    double size, e0, e1, e2;
} argument;

static double rounding(mercer_dtype precision) {
    return precision == MERCER_F32 ? 0x1p-24 : 0x1p-53;
}

static double sum_factor(int64_t d) {
    return fmin((double)d, 6 * sqrt((double)d)) + 3;
}

/* The exponent -|x - z|^2/2 of a part, times alpha. */
static argument distance(const mc_part *p, double alpha, double u) {
    const double N = 0.5 * (p->left.norm2_max + p->right.norm2_max), c = sum_factor(p->d), e0 = (c + 4) * u * N;
    const double input = 4 * u * sqrt(2 * N) + 2 * p->phase; /* of |x - z|, by the rounding of the coordinates */
    argument s = {.size = fabs(alpha) * 4 * N, .e0 = fabs(alpha) * input * input, .e1 = sqrt(2 * fabs(alpha)) * input};
    if (p->way == MC_WAY_NORMS)
        s.e0 += fabs(alpha) * e0;
    else
        s.e2 = (c + 4) * u * (p->way == MC_WAY_GUARDED ? 1 / MC_GUARD_SHARE : 1);
    return s;
}

static argument dot(const mc_part *p, double a, double c, double u) {
    const double reach = sqrt(p->left.norm2_max * p->right.norm2_max), f = sum_factor(p->d);
    const double shifts = p->left.shift_max + p->right.shift_max + p->centre2;
    const double size = fabs(a) * (reach + shifts) + fabs(c);
    const double double_u = rounding(MERCER_F64); /* the shifts are summed up in double */
    return (argument){.size = size, .e0 = u * (fabs(a) * (f + 2) * reach + 3 * size) + double_u * (f + 3) * fabs(a) * shifts};
}

static argument plain_sum(const mc_part *p, double a, double c, double u) {
    const double reach = p->left.norm2_max + p->right.norm2_max;
    const double again = p->sparse ? 2 : 1; /* cancelling terms */
    const double size = fabs(a) * reach + fabs(c);
    return (argument){.size = size, .e0 = u * (fabs(a) * (sum_factor(p->d) + 4) * again * reach + 3 * size)};
}

/* The angle: the cosine is wrong by (c_d + 4) u, its arc by that over the sine, which the guard keeps from 0. */
static argument angle(const mc_part *p, double u) {
    const double e = (sum_factor(p->d) + 4) * u;
    return (argument){.size = 2, .e0 = p->way == MC_WAY_NORMS ? sqrt(2 * e) + e : 2 * e / sqrt(MC_GUARD_SHARE) + 8 * u};
}

static argument argument_of(const mc_plan *plan, const mc_line *line, double u) {
    const mc_part *p = &plan->part[line->part];
    const double a = line->a / mc_part_unit(p);
    switch (line->use) {
    case MC_USE_DOT: return dot(p, a, line->c, u);
    case MC_USE_DISTANCE: return distance(p, 2 * a, u);
    case MC_USE_SUM: return plain_sum(p, a, line->c, u);
    default: return angle(p, u);
    }
}

/* sup |f'| against 1, sqrt|s| and |s|, and the error of f itself in units of u, for the radial functions (values in [0, 1]). */
typedef struct slopes {
    double by0, by1, by2, own;
} slopes;

static const slopes radial[MC_TILE_FUNCTIONS] = {
    [MC_EXP2] = {0.694, 0.358, 0.368, 6},   /* 2^s */
    [MC_ROOT] = {0, 0.347, 0.184, 8},       /* by0 is a square root, below */
    [MC_MATERN3] = {0.241, 0.128, 0.271, 12},
    [MC_MATERN5] = {0.081, 0.060, 0.310, 16},
    [MC_RATIONAL] = {1, 1, 0.368, 8},       /* by0 and by1 times p, below */
};

static mc_bound radial_bound(const mc_line *line, argument s, double u) {
    const slopes *f = &radial[line->step.function];
    double error = f->by0 * s.e0 + f->by1 * s.e1 + f->by2 * s.e2 + f->own * u;
    if (line->step.function == MC_ROOT)
        error += ln2 * sqrt(s.e0);
    if (line->step.function == MC_RATIONAL) {
        const double p = line->step.p;
        error += (p - 1) * (f->by0 * s.e0 + f->by1 * s.e1) + (line->step.degree ? 2 * p : 6 + 2 * p) * u;
    }
    return (mc_bound){1, fmin(error, 1)};
}

/* f of a value of size M with error E. */
static mc_bound function_bound(const mc_line *line, double M, double E, double u) {
    const double p = line->step.p, n = (double)line->step.degree;
    switch (line->step.function) {
    case MC_SAME: return (mc_bound){M, E};
    case MC_WHOLE_POWER:
        if (n < 0)
            return (mc_bound){INFINITY, INFINITY};
        return (mc_bound){pow(M, n), n == 0 ? 0 : n * pow(M + E, n - 1) * E + n * u * pow(M, n)};
    case MC_REAL_POWER:
        if (p < 0)
            return (mc_bound){INFINITY, INFINITY};
        return (mc_bound){pow(M, p), (p < 1 ? pow(E, p) : p * pow(M + E, p - 1) * E) + u * (8 + 40 * p) * pow(M, p)};
    case MC_EXP2: return (mc_bound){exp2(M), exp2(M) * (expm1(ln2 * E) + (6 + M) * u)};
    case MC_HYPERBOLIC: return (mc_bound){1, fmin(E + 8 * u, 2)};
    case MC_ARC0: return (mc_bound){1, E / 3 + 8 * u};
    case MC_ARC1: return (mc_bound){1, E + 16 * u};
    case MC_ARC2: return (mc_bound){3, 4 * E + 32 * u};
    case MC_SCALE:
    case MC_SCALE_SIGN: {
        const double by = line->row_max * line->col_max;
        return (mc_bound){M * by, by * (E + 4 * u * M)};
    }
    default: return (mc_bound){1, 0};
    }
}

static mc_bound line_bound(const mc_plan *plan, const mc_line *line, const mc_bound *temporary, double u) {
    const bool node = line->vector != MC_VECTOR_NONE, constant = line->step.function == MC_CONSTANT;
    const mc_bound in = temporary[line->step.source];
    if (constant || node)
        return function_bound(line, in.size, in.error, u);
    if (line->part < 0)
        return function_bound(line, fabs(line->step.alpha) * in.size, fabs(line->step.alpha) * (in.error + u * in.size), u);
    const argument s = argument_of(plan, line, u);
    const bool falls = line->a < 0 && line->use != MC_USE_DOT; /* a radial function of an argument that is never positive */
    if (falls && radial[line->step.function].own > 0)
        return radial_bound(line, s, u);
    return function_bound(line, s.size, s.e0 + s.e1 * sqrt(s.size) + s.e2 * s.size, u);
}

static mc_bound combined(mc_combine combine, mc_bound old, mc_bound v, double u) {
    switch (combine) {
    case MC_SET: return v;
    case MC_ADD: return (mc_bound){old.size + v.size, old.error + v.error + u * (old.size + v.size)};
    case MC_MULTIPLY: break;
    }
    return (mc_bound){old.size * v.size,
                      old.size * v.error + v.size * old.error + old.error * v.error + u * old.size * v.size};
}

mc_bound mc_plan_bound(const mc_plan *plan, mercer_dtype precision, mc_bound *temporary) {
    const double u = rounding(precision);
    for (int i = 0; i < plan->temporaries; i++)
        temporary[i] = (mc_bound){0, 0};
    for (int i = 0; i < plan->lines; i++) {
        const mc_line *line = &plan->line[i];
        mc_bound v = line_bound(plan, line, temporary, u);
        const double factor = fabs(line->step.coefficient);
        v = (mc_bound){factor * v.size, factor * (v.error + u * v.size)};
        mc_bound *target = &temporary[line->step.target];
        *target = combined(line->step.combine, *target, v, u);
    }
    mc_bound all = temporary[0];
    if (!(all.error <= DBL_MAX)) /* infinity times 0 on the way */
        all.error = INFINITY;
    return all;
}
