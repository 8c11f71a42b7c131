/* svm_decision_bound.c: how far a decision of a support vector machine can be from the optimal one, from the gap. */
#include "certify/svm_certificate.h"
#include "certify/intercept.h"
#include "data/table/data.h"
#include <float.h>
#include <math.h>

typedef struct intercept_source {
    const mc_svm *s;
    const mc_svm_program *t;
    int side; /* of nu: the edge in question */
} intercept_source;

/* Rows begin .. begin + count - 1 of a task as at most two runs of rows of the data: of run r, places from[r] .. from[r
   + 1] - 1, the first of which is row[r]. Bounds are looked for over all rows again and again. */
typedef struct row_runs {
    int64_t from[3], row[2];
} row_runs;

static row_runs runs_of_rows(const mc_svm *s, const mc_svm_program *t, int64_t begin, int64_t count) {
    const int64_t end = begin + count, cut = t->b < 0 || t->split > end ? end : t->split > begin ? t->split : begin;
    row_runs r = {.from = {begin, cut, end}};
    r.row[0] = cut > begin ? mc_svm_program_row(s, t, begin) : 0;
    r.row[1] = end > cut ? mc_svm_program_row(s, t, cut) : 0;
    return r;
}

/* f, and what f* can differ from it by: |f - f*| sqrt(k(x, x)), and the rounding of f. */
static void values_of(const void *self, int64_t begin, int64_t count, double *f, double *doubt) {
    const mc_svm *s = ((const intercept_source *)self)->s;
    const mc_svm_program *t = ((const intercept_source *)self)->t;
    const row_runs runs = runs_of_rows(s, t, begin, count);
    for (int r = 0; r < 2; r++)
        for (int64_t i = runs.from[r]; i < runs.from[r + 1]; i++)
            doubt[i - begin] = t->distance * sqrt(fabs(s->diagonal[runs.row[r] + i - runs.from[r]]));
    for (int64_t i = 0; i < count; i++) {
        const double own = t->error ? t->error[begin + i] : 0,
                     error = (own > t->certified.error ? own : t->certified.error) * t->unit;
        doubt[i] = doubt[i] + error + DBL_EPSILON * mc_svm_program_bend(s, t, begin + i);
        f[i] = t->unit * t->f[begin + i];
    }
}

/* The slope of cost max(0, z) in F at z, from above or from below, where z falls with F or rises with it. */
static inline double hinge_slope(double z, double cost, bool falls, int side) {
    const bool bent = falls == (side > 0) ? z > 0 : z >= 0;
    return bent ? (falls ? -cost : cost) : 0;
}

static inline double slope_of(const mc_svm *s, const mc_svm_program *t, int64_t i, double F, int side) {
    const double cost = mc_svm_program_bound(s, t, i),
                 y = s->variant->doubled ? s->p.Y[i * s->p.outputs + t->output] : 0;
    const double sign = s->variant->classes   ? mc_svm_program_sign(s, t, i)
                        : s->variant->doubled ? copysign(1, y - F)
                                              : 1;
    const double bend = s->variant->classes ? sign : s->variant->doubled ? y - sign * t->epsilon : 0;
    if (s->variant->doubled && t->epsilon == 0 && F == y && side > 0)
        return cost;
    return hinge_slope(sign * (bend - F), cost, sign > 0, side);
}

/* The same for rows of one class of a pair, in a loop without branches. */
static void slopes_of_class(double C, const double *cost, double sign, int64_t count, const double *F, int side,
                            double *slope) {
    const bool open = (sign > 0) == (side > 0);
    for (int64_t i = 0; i < count; i++) {
        const double z = sign * (sign - F[i]), fall = -sign * (C * cost[i]);
        slope[i] = (open ? z > 0 : z >= 0) ? fall : 0;
    }
}

static void slopes_of(const void *self, int64_t begin, int64_t count, const double *F, int side, double *slope) {
    const intercept_source *j = self;
    if (!j->s->variant->classes || j->t->b < 0) {
        for (int64_t i = 0; i < count; i++)
            slope[i] = slope_of(j->s, j->t, begin + i, F[i], side);
        return;
    }
    const row_runs runs = runs_of_rows(j->s, j->t, begin, count);
    for (int r = 0; r < 2; r++) {
        const int64_t at = runs.from[r] - begin, own = runs.from[r + 1] - runs.from[r];
        if (own > 0)
            slopes_of_class(j->s->variant->has_C ? j->s->C : 1, j->s->cost + runs.row[r],
                            mc_svm_program_sign(j->s, j->t, runs.from[r]), own, F + at, side, slope + at);
    }
}

static double weight_of(const mc_svm *s, const mc_svm_program *t) {
    long double weight = 0;
    for (int64_t i = 0; i < t->n; i++)
        weight += mc_svm_program_bound(s, t, i);
    return (double)weight;
}

/* Primal and dual each lie at least |f - f*|^2/2 from the optimum, at the same f but for a hard margin, whose primal is
   that of a scaled one: there the dual alone says it. */
static void bound_plain(const mc_svm *s, mc_svm_program *t, double gap) {
    const bool hard = isinf(s->C) && s->variant->has_C;
    t->distance = sqrt(hard ? 2 * gap : gap);
    const intercept_source self = {s, t, 0};
    const mc_intercept p = {.n = t->n,
                            .b = t->intercept,
                            .slope = s->kind == MC_ONE_CLASS ? s->set->nu * weight_of(s, t) : 0,
                            .values = values_of,
                            .slopes = slopes_of,
                            .self = &self};
    t->intercept_error = mc_intercept_bound(&p);
}

/* ---- The same where nu finds a number besides ----

   nu-svc with the margin r: min 1/2 |f|^2 - nu W r + sum w max(0, r - y (f + b)). In the edges of the classes, r+ =
   r - b and r- = r + b, that is 1/2 |f|^2 and for each class -T r' + sum w max(0, r' - y f), T = nu W / 2. nu-svr
   with epsilon: in the edges b + epsilon and b - epsilon 1/2 |f|^2, T r' + sum C max(0, y - f - r') and -T r' + sum
   C max(0, f + r' - y), T = C nu W / 2. So the gap of svc with C = 1/r times r^2, and that of svr with epsilon (T's
   share of it made up), are gaps of these problems; they bound |f - f*|^2; and each edge is an intercept by itself.
   With e the mean of what the two can be off by, neither b nor r, nor b nor epsilon, is off by more. In units of r
   the decisions of nu-svc are then off by

       |(f + b) - (f* + b*) / r*| <= (|f - f*| + |f| e) / (1 - e) sqrt(k(x, x)) + (1 + |b|) e / (1 - e),   e < 1;

   and epsilon >= 0 is no constraint where it is more than e. Multipliers whose sums miss T by a rounding move the
   dual by that times the optimal edges, which lie among the y - f* (0 for y in classes). */

static void edge_values(const void *self, int64_t begin, int64_t count, double *f, double *doubt) {
    const intercept_source *j = self;
    values_of(self, begin, count, f, doubt);
    for (int64_t i = 0; j->s->variant->classes && i < count; i++)
        f[i] *= j->side;
}

static inline double edge_slope(const intercept_source *j, int64_t i, double F, int side) {
    const mc_svm *s = j->s;
    if (s->variant->classes && mc_svm_program_sign(s, j->t, i) != j->side)
        return 0;
    const double y = s->variant->classes ? 0 : s->p.Y[i * s->p.outputs + j->t->output];
    const bool falls = s->variant->classes || j->side > 0;
    return hinge_slope(falls ? y - F : F - y, mc_svm_program_bound(s, j->t, i), falls, side);
}

static void edge_slopes(const void *self, int64_t begin, int64_t count, const double *F, int side, double *slope) {
    for (int64_t i = 0; i < count; i++)
        slope[i] = edge_slope(self, begin + i, F[i], side);
}

static double edge_bound(const mc_svm *s, const mc_svm_program *t, int side, double edge, double slope) {
    const intercept_source self = {s, t, side};
    const mc_intercept p = {t->n, edge, slope, edge_values, edge_slopes, &self};
    return mc_intercept_bound(&p);
}

/* What the gap of the problem with nu has beside that of the one with a fixed margin or epsilon. */
static double nu_rest(const mc_svm *s, const mc_svm_program *t, double T, double gap) {
    const bool classes = s->variant->classes;
    const double norm = sqrt(fmax(t->norm2, 0));
    long double up = 0, down = 0, mass = 0;
    double bend = 0;
    for (int64_t v = 0; v < t->m; v++)
        *(t->beta[v] > 0 ? &up : &down) += fabs(t->beta[v]);
    for (int64_t i = 0; i < t->n; i++) {
        mass += fabs(mc_svm_program_coefficient(t, i));
        bend = fmax(bend, classes ? 0 : mc_svm_program_bend(s, t, i));
    }
    const double off = fabs((double)up - T) + fabs((double)down - T) + 16 * DBL_EPSILON * T;
    const double edge = bend + 2 * sqrt(mc_svm_program_top(s, t)) * (norm + sqrt(gap)) + 1 + fabs(t->intercept);
    const double netted = classes ? 0 : t->epsilon * fmax(2 * T - (double)mass, 0); /* rows with two multipliers */
    return 2 * off * t->unit * edge + netted;
}

static void bound_nu(const mc_svm *s, mc_svm_program *t, double gap) {
    const double T = mc_svm_program_nu(s, t) * weight_of(s, t) / 2, b = t->intercept, slack = 1.01;
    const bool classes = s->variant->classes;
    t->distance = sqrt(gap + nu_rest(s, t, T, gap));
    const double up = classes ? edge_bound(s, t, 1, b - 1, T) : edge_bound(s, t, 1, b + t->epsilon, T);
    const double down = classes ? edge_bound(s, t, -1, -b - 1, T) : edge_bound(s, t, -1, b - t->epsilon, -T);
    const double e = slack * (up + down) / 2;
    if (!classes) {
        t->intercept_error = e < t->epsilon ? e : INFINITY;
        return;
    }
    t->intercept_error = e < 1 ? slack * (1 + fabs(b)) * e / (1 - e) : INFINITY;
    t->distance = e < 1 ? slack * (t->distance + sqrt(fmax(t->norm2, 0)) * e) / (1 - e) : INFINITY;
}

void mc_svm_program_bound_decision(const mc_svm *s, mc_svm_program *t) {
    const double gap = fmax(t->primal - t->dual, 0) + t->rounding;
    t->distance = t->intercept_error = INFINITY;
    if (!s->p.proved || !isfinite(gap))
        return;
    if (s->kind == MC_NU_SVC || s->kind == MC_NU_SVR)
        bound_nu(s, t, gap);
    else
        bound_plain(s, t, gap);
}
