/* loss_user.c: a loss of the caller's own. Its functions are called as they are, from the calling thread; what they
   answer is looked at once for a whole step, and an answer that is no number is an error that names the row.

   Without a conjugate of the caller's, l*(v) = sup over F of h(F), h(F) = v F - l(F), is found by search: h' = v - l'
   falls, so a bracket a <= F* <= b with h'(a) >= 0 >= h'(b) is widened by doubling and narrowed by Newton's method,
   with bisection where that leaves it. h is concave and lies below its tangents: where those at a and b meet is an
   upper bound on l*, and with it the dual value stays a lower bound. Where the slope only tends to v (logistic at v =
   -1) the supremum is a limit, taken once h' cannot be told from zero. */
#include "base/status.h"
#include "problem/loss.h"
#include <float.h>
#include <math.h>

enum { DOUBLINGS = 60, NARROWINGS = 200 };

static double own_value(const mc_loss_task *t, double y, double F) {
    return t->own->value(t->own->user, y, F);
}

static double own_slope(const mc_loss_task *t, double y, double F) {
    return t->own->slope(t->own->user, y, F);
}

static double own_curvature(const mc_loss_task *t, double y, double F) {
    return t->own->curvature(t->own->user, y, F);
}

static void own_domain(const mc_loss_task *t, double y, double *low, double *high) {
    *low = -INFINITY;
    *high = INFINITY;
    if (t->own->range)
        t->own->range(t->own->user, y, low, high);
}

/* ---- The conjugate ---- */

typedef struct hill {
    const mc_loss_task *t;
    double y, v;
} hill;

static double conjugate_objective(const hill *h, double F) {
    return h->v * F - own_value(h->t, h->y, F);
}

static double conjugate_slope(const hill *h, double F) {
    return h->v - own_slope(h->t, h->y, F);
}

/* From 0 in a direction until h falls there: *end. False: it does not. */
static bool bracket_maximum(const hill *h, double direction, double *end) {
    double step = 1;
    *end = 0;
    for (int i = 0; i < DOUBLINGS && direction * conjugate_slope(h, *end) > 0; i++, step *= 2)
        *end = direction * step;
    return !(direction * conjugate_slope(h, *end) > 0);
}

/* Where h' cannot be told from zero, h is at its limit. */
static double limit_at(const hill *h, double F) {
    return fabs(conjugate_slope(h, F)) <= 4 * DBL_EPSILON * fmax(1, fabs(h->v)) ? conjugate_objective(h, F) : INFINITY;
}

static void narrow_bracket(const hill *h, double *a, double *b) {
    double F = *a + (*b - *a) / 2;
    for (int i = 0; i<NARROWINGS && * b - *a> 2 * DBL_EPSILON * fmax(fabs(*a), fabs(*b)); i++) {
        const double slope = conjugate_slope(h, F), curvature = own_curvature(h->t, h->y, F), width = *b - *a;
        *a = slope >= 0 ? F : *a;
        *b = slope <= 0 ? F : *b;
        const double next = F + slope / curvature, most = 0.75 * width;
        const bool good = next > *a && next < *b && *b - *a <= most;
        F = good ? next : *a + (*b - *a) / 2;
    }
}

/* Where the tangents meet. */
static double tangent_upper_bound(const hill *h, double a, double b) {
    const double ha = conjugate_objective(h, a), hb = conjugate_objective(h, b), up = conjugate_slope(h, a),
                 down = conjugate_slope(h, b);
    if (!(up - down > 0) || !isfinite(hb) || !isfinite(down))
        return fmax(ha, hb);
    const double F = fmin(b, fmax(a, (hb - ha + up * a - down * b) / (up - down)));
    return fmax(fmax(ha, hb), ha + up * (F - a));
}

static double maximise_conjugate(const mc_loss_task *t, double y, double v) {
    const hill h = {t, y, v};
    double a = 0, b = 0;
    if (!bracket_maximum(&h, 1, &b))
        return limit_at(&h, b);
    if (!bracket_maximum(&h, -1, &a))
        return limit_at(&h, a);
    narrow_bracket(&h, &a, &b);
    return tangent_upper_bound(&h, a, b);
}

static double own_conjugate(const mc_loss_task *t, double y, double v) {
    return t->own->conjugate ? t->own->conjugate(t->own->user, y, v) : maximise_conjugate(t, y, v);
}

/* A parabola above the loss is not known: its curvature must do, and the line search. */
const mc_loss mc_loss_of_numbers = {"own-loss", false,         true,          false,         own_value,
                                    own_slope,  own_curvature, own_curvature, own_conjugate, own_domain};
const mc_loss mc_loss_of_classes = {"own-loss", true,          true,          false,         own_value,
                                    own_slope,  own_curvature, own_curvature, own_conjugate, own_domain};

/* ---- What the caller's functions answered ---- */

static mercer_status fail_user_loss(mercer_ctx *ctx, const mc_loss_task *t, int64_t i, const char *what, double value,
                                    double F, const char *must) {
    return mc_fail(ctx, MERCER_INVALID, "loss '%s': its %s is %g in row %lld, at y = %g and F = %g; it must be %s",
                   t->own->name, what, value, (long long)t->place[i] + 1, t->y[i], F, must);
}

mercer_status mc_loss_check_slopes(mercer_ctx *ctx, const mc_loss_task *t, const double *g, const double *root) {
    for (int64_t i = 0; i < t->n && t->own; i++) {
        if (isfinite(g[i]) && isfinite(root[i]))
            continue;
        const double F = t->f[i] + t->b[0] + (t->shift ? t->shift[i] : 0), slope = own_slope(t, t->y[i], F);
        if (!isfinite(slope))
            return fail_user_loss(ctx, t, i, "slope", slope, F, "a number");
        return fail_user_loss(ctx, t, i, "curvature", own_curvature(t, t->y[i], F), F, "a number, 0 or above");
    }
    return MERCER_OK;
}

mercer_status mc_loss_check_sum(mercer_ctx *ctx, const mc_loss_task *t, const double *f, const double *b, double sum) {
    for (int64_t i = 0; i < t->n && t->own && isnan(sum); i++) {
        const double F = f[i] + b[0] + (t->shift ? t->shift[i] : 0), value = own_value(t, t->y[i], F);
        if (isnan(value))
            return fail_user_loss(ctx, t, i, "value", value, F, "a number");
    }
    return MERCER_OK;
}

/* ---- Whether its functions fit each other ---- */

/* Whether the functions of a loss of the caller's own fit each other; a certificate would believe
   them otherwise.

   For a convex value l with slope s, and any F and h,

       s(F) h <= l(F + h) - l(F) <= s(F + h) h,

   which a slope that is not that of the value, or a value that is not convex, fails for some of them. A conjugate l*
   satisfies l(F) + l*(v) >= v F for every F, with equality where v = s(F). They are tried around each of some rows'
   targets and fitted values, at steps from small to large. What a billionth of the values, or of the mean loss of the
   function 0, explains is let pass: it is no more in the gap. */

enum { ROWS = 48 }; /* of the task that are tried, spread over it */

typedef struct user_loss_trial {
    const mc_loss_task *t;
    int64_t i;
    double y;
    double typical; /* the loss of a row where F = 0 */
} user_loss_trial;

static double step_unit(const user_loss_trial *a, double F) {
    return fmax(1, fmax(fabs(F), fabs(a->y)) / 4);
}

static double user_value(const user_loss_trial *a, double F) {
    return a->t->own->value(a->t->own->user, a->y, F);
}

static double user_slope(const user_loss_trial *a, double F) {
    return a->t->own->slope(a->t->own->user, a->y, F);
}

static double rounding_allowance(const user_loss_trial *a, double size) {
    return 1e-9 * (size + a->typical) + DBL_MIN;
}

static mercer_status try_slope(mercer_ctx *ctx, const user_loss_trial *a, double F, double h) {
    const double from = user_value(a, F), to = user_value(a, F + h), first = user_slope(a, F),
                 last = user_slope(a, F + h), rise = to - from;
    const double slack = rounding_allowance(a, fabs(from) + fabs(to) + fabs(first * h) + fabs(last * h));
    /* the steps themselves complain, where they meet it */
    if (!isfinite(from) || !isfinite(to) || !isfinite(first) || !isfinite(last))
        return MERCER_OK;
    if (first * h <= rise + slack && rise <= last * h + slack)
        return MERCER_OK;
    return mc_fail(
        ctx, MERCER_INVALID,
        "loss '%s': its slope is %g at F = %g and %g at F = %g (row %lld, y = %g), and between them its value rises by "
        "%g, not by %g to %g; the slope must be the derivative of the value, and the value convex",
        a->t->own->name, first, F, last, F + h, (long long)a->t->place[a->i] + 1, a->y, rise, fmin(first * h, last * h),
        fmax(first * h, last * h));
}

static mercer_status try_conjugate(mercer_ctx *ctx, const user_loss_trial *a, double F, double h) {
    const mercer_own_loss *own = a->t->own;
    if (!own->conjugate)
        return MERCER_OK;
    const double v = user_slope(a, F), l = user_value(a, F), away = user_value(a, F + h),
                 c = own->conjugate(own->user, a->y, v);
    const double touch = l + c - v * F, above = away + c - v * (F + h);
    if (!isfinite(v) || !isfinite(l) || !isfinite(away) || !isfinite(c))
        return MERCER_OK;
    const double slack = rounding_allowance(a, fabs(l) + fabs(away) + fabs(c) + fabs(v * F) + fabs(v * h));
    if (fabs(touch) <= slack && above >= -slack)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_INVALID,
                   "loss '%s': its conjugate is %g at v = %g (row %lld, y = %g), where the largest v F - value is at "
                   "least %g; it must be the largest over all F",
                   own->name, c, v, (long long)a->t->place[a->i] + 1, a->y, fmax(v * F - l, v * (F + h) - away));
}

/* Around F, near and far in both directions. */
static mercer_status try_around(mercer_ctx *ctx, const user_loss_trial *a, double F) {
    static const double steps[] = {0x1p-10, 0.3, 2};
    const double unit = step_unit(a, F);
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++)
        for (int sign = -1; sign < 2; sign += 2) {
            MC_TRY(try_slope(ctx, a, F, sign * steps[k] * unit));
            MC_TRY(try_conjugate(ctx, a, F, sign * steps[k] * unit));
        }
    return MERCER_OK;
}

static double typical_loss(const mc_loss_task *t) {
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const double at = fabs(t->own->value(t->own->user, t->y[i], 0));
        sum += isfinite(at) ? at / (double)t->n : 0;
    }
    return sum;
}

mercer_status mc_loss_check_own(mercer_ctx *ctx, const mc_loss_task *t) {
    const int64_t count = t->n < ROWS ? t->n : ROWS;
    const double typical = t->own ? typical_loss(t) : 0;
    for (int64_t k = 0; k < count && t->own; k++) {
        const int64_t i = count > 1 ? k * (t->n - 1) / (count - 1) : 0;
        const user_loss_trial a = {t, i, t->y[i], typical};
        MC_TRY(try_around(ctx, &a, t->f[i] + t->b[0]));
        MC_TRY(try_around(ctx, &a, t->y[i] + 0.1));
    }
    return MERCER_OK;
}
