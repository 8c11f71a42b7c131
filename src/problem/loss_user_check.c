/* loss_user_check.c: whether the functions of a loss of the caller's own fit each other; a certificate would believe
   them otherwise.

   For a convex value l with slope s, and any F and h,

       s(F) h <= l(F + h) - l(F) <= s(F + h) h,

   which a slope that is not that of the value, or a value that is not convex, fails for some of them. A conjugate l*
   satisfies l(F) + l*(v) >= v F for every F, with equality where v = s(F). They are tried around each of some rows'
   targets and fitted values, at steps from small to large. What a billionth of the values, or of the mean loss of the
   function 0, explains is let pass: it is no more in the gap. */
#include "base/status.h"
#include "problem/loss.h"
#include <float.h>
#include <math.h>

enum { ROWS = 48 }; /* of the task that are tried, spread over it */

typedef struct trial {
    const mc_loss_task *t;
    int64_t i;
    double y;
    double typical; /* the loss of a row where F = 0 */
} trial;

static double step_unit(const trial *a, double F) {
    return fmax(1, fmax(fabs(F), fabs(a->y)) / 4);
}

static double value(const trial *a, double F) {
    return a->t->own->value(a->t->own->user, a->y, F);
}

static double slope(const trial *a, double F) {
    return a->t->own->slope(a->t->own->user, a->y, F);
}

static double allowance(const trial *a, double size) {
    return 1e-9 * (size + a->typical) + DBL_MIN;
}

static mercer_status try_slope(mercer_ctx *ctx, const trial *a, double F, double h) {
    const double from = value(a, F), to = value(a, F + h), first = slope(a, F), last = slope(a, F + h),
                 rise = to - from;
    const double room = allowance(a, fabs(from) + fabs(to) + fabs(first * h) + fabs(last * h));
    /* the steps themselves complain, where they meet it */
    if (!isfinite(from) || !isfinite(to) || !isfinite(first) || !isfinite(last))
        return MERCER_OK;
    if (first * h <= rise + room && rise <= last * h + room)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_INVALID,
                   "loss '%s': its slope is %g at F = %g and %g at F = %g (row %lld, y = %g), and between them its "
                   "value rises by %g, not "
                   "by %g to %g; the slope must be the derivative of the value, and the value convex",
                   a->t->own->name, first, F, last, F + h, (long long)a->t->place[a->i] + 1, a->y, rise,
                   fmin(first * h, last * h), fmax(first * h, last * h));
}

static mercer_status try_conjugate(mercer_ctx *ctx, const trial *a, double F, double h) {
    const mercer_own_loss *own = a->t->own;
    if (!own->conjugate)
        return MERCER_OK;
    const double v = slope(a, F), l = value(a, F), away = value(a, F + h), c = own->conjugate(own->user, a->y, v);
    const double touch = l + c - v * F, above = away + c - v * (F + h);
    if (!isfinite(v) || !isfinite(l) || !isfinite(away) || !isfinite(c))
        return MERCER_OK;
    const double room = allowance(a, fabs(l) + fabs(away) + fabs(c) + fabs(v * F) + fabs(v * h));
    if (fabs(touch) <= room && above >= -room)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_INVALID,
                   "loss '%s': its conjugate is %g at v = %g (row %lld, y = %g), where the largest v F - value is at "
                   "least %g; it must be "
                   "the largest over all F",
                   own->name, c, v, (long long)a->t->place[a->i] + 1, a->y, fmax(v * F - l, v * (F + h) - away));
}

/* Around F, near and far in both directions. */
static mercer_status try_around(mercer_ctx *ctx, const trial *a, double F) {
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

mercer_status mc_loss_try_own(mercer_ctx *ctx, const mc_loss_task *t) {
    const int64_t count = t->n < ROWS ? t->n : ROWS;
    const double typical = t->own ? typical_loss(t) : 0;
    for (int64_t k = 0; k < count && t->own; k++) {
        const int64_t i = count > 1 ? k * (t->n - 1) / (count - 1) : 0;
        const trial a = {t, i, t->y[i], typical};
        MC_TRY(try_around(ctx, &a, t->f[i] + t->b[0]));
        MC_TRY(try_around(ctx, &a, t->y[i] + 0.1));
    }
    return MERCER_OK;
}
