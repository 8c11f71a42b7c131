/* lbfgs.c: limited-memory BFGS in a box.

   Each step: variables that sit on a bound with the slope pushing outward are held; the two-loop recursion (Nocedal
   1980) gives a direction in the free ones from the last PAIRS changes of x and of the gradient; a backtracking search
   along the path projected into the box accepts the first point with a sufficient decrease (Armijo, 1e-4), shortening
   by a safeguarded parabola. A pair enters the memory only when its curvature y's is positive, so the implied Hessian
   stays positive definite. */
#include "iterative/lbfgs.h"
#include "linalg/block_vectors.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include <math.h>
#include <string.h>

enum { PAIRS = 10, TRIES = 30 };

typedef struct memory {
    int64_t n;
    const mc_lbfgs *p;
    double *x, *g;         /* where we are */
    double *trial, *slope; /* where we look */
    double *direction;
    double *s[PAIRS], *y[PAIRS], rho[PAIRS];
    int pairs, newest;
    double f;
} memory;

static double into_box(const mc_lbfgs *p, int64_t i, double v) {
    return fmin(fmax(v, p->low[i]), p->high[i]);
}

/* Held: on a bound, and going downhill would leave the box. */
static bool is_held(const memory *m, int64_t i) {
    return (m->x[i] <= m->p->low[i] && m->g[i] > 0) || (m->x[i] >= m->p->high[i] && m->g[i] < 0);
}

static double projected_slope(const memory *m) {
    double worst = 0;
    for (int64_t i = 0; i < m->n; i++)
        if (!is_held(m, i))
            worst = fmax(worst, fabs(m->g[i]));
    return worst;
}

/* direction <- -H g over the free variables, H the inverse Hessian of the remembered pairs. */
static void choose_direction(memory *m) {
    double a[PAIRS];
    for (int64_t i = 0; i < m->n; i++)
        m->direction[i] = is_held(m, i) ? 0 : -m->g[i];
    for (int c = 0, k = m->newest; c < m->pairs; c++, k = (k + PAIRS - 1) % PAIRS) {
        a[k] = m->rho[k] * mc_dot(m->n, m->s[k], m->direction);
        for (int64_t i = 0; i < m->n; i++)
            m->direction[i] -= a[k] * m->y[k][i];
    }
    if (m->pairs) {
        const double scale = 1 / (m->rho[m->newest] * mc_dot(m->n, m->y[m->newest], m->y[m->newest]));
        for (int64_t i = 0; i < m->n; i++)
            m->direction[i] *= scale;
    }
    for (int c = m->pairs - 1; c >= 0; c--) {
        const int k = (m->newest - c + PAIRS) % PAIRS;
        const double b = m->rho[k] * mc_dot(m->n, m->y[k], m->direction);
        for (int64_t i = 0; i < m->n; i++)
            m->direction[i] += (a[k] - b) * m->s[k][i];
    }
    for (int64_t i = 0; i < m->n; i++)
        if (is_held(m, i))
            m->direction[i] = 0;
}

/* Downhill, or the memory has become useless here and plain descent takes over. */
static double safeguard_direction(memory *m) {
    const double along = mc_dot(m->n, m->direction, m->g);
    if (along < 0 && isfinite(along))
        return along;
    m->pairs = 0;
    choose_direction(m);
    return mc_dot(m->n, m->direction, m->g);
}

static void remember_pair(memory *m) {
    const int k = m->pairs ? (m->newest + 1) % PAIRS : 0;
    for (int64_t i = 0; i < m->n; i++) {
        m->s[k][i] = m->trial[i] - m->x[i];
        m->y[k][i] = m->slope[i] - m->g[i];
    }
    const double curvature = mc_dot(m->n, m->s[k], m->y[k]);
    if (curvature <= 1e-10 * mc_dot(m->n, m->y[k], m->y[k]))
        return;
    m->rho[k] = 1 / curvature;
    m->newest = k;
    m->pairs = m->pairs < PAIRS ? m->pairs + 1 : PAIRS;
}

/* A step that lowers f by no more is as good as none. */
static double least_decrease(const memory *m) {
    return fmax(m->p->decrease, m->p->decrease_tolerance * fmax(1, fabs(m->f)));
}

/* One accepted step along the projected path; *moved false when none lowers f, or none that is worth it: steps too
   short for the slope to promise more than that are not tried, where rounding decides which of two values is the
   smaller. */
static mercer_status line_search(mercer_ctx *ctx, memory *m, double along, mc_lbfgs_result *r, bool *moved) {
    double step = m->pairs ? 1 : fmin(1, 1 / fmax(1e-300, projected_slope(m)));
    *moved = false;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        double f = INFINITY, reach = 0;
        for (int64_t i = 0; i < m->n; i++) {
            m->trial[i] = into_box(m->p, i, m->x[i] + step * m->direction[i]);
            reach += m->g[i] * (m->trial[i] - m->x[i]);
        }
        MC_TRY(m->p->objective(ctx, m->p->self, m->trial, &f, m->slope));
        r->evaluations++;
        if (f <= m->f + 1e-4 * reach && reach < 0) {
            remember_pair(m);
            memcpy(m->x, m->trial, (size_t)m->n * sizeof *m->x);
            memcpy(m->g, m->slope, (size_t)m->n * sizeof *m->g);
            m->f = f;
            *moved = true;
            return MERCER_OK;
        }
        if (-reach <= least_decrease(m))
            return MERCER_OK;
        const double parabola = isfinite(f) ? -along * step / (2 * ((f - m->f) / step - along)) : 0;
        step = fmin(fmax(parabola, 0.1 * step), 0.5 * step);
    }
    return MERCER_OK;
}

static mercer_status iterate_lbfgs(mercer_ctx *ctx, memory *m, mc_lbfgs_result *r) {
    int flat = 0;
    mc_progress_start(ctx);
    for (; r->iterations < m->p->iterations_max; r->iterations++) {
        r->slope = projected_slope(m);
        MC_TRY(mc_progress_step(ctx, (double)r->iterations / (double)m->p->iterations_max,
                                (mc_watch){"slope", r->slope, m->p->gradient_tolerance}));
        r->converged = r->slope <= m->p->gradient_tolerance || flat >= 2;
        if (r->converged)
            return MERCER_OK;
        choose_direction(m);
        const double before = m->f, along = safeguard_direction(m);
        bool moved;
        MC_TRY(line_search(ctx, m, along, r, &moved));
        flat = before - m->f <= least_decrease(m) ? flat + 1 : 0;
        if (!moved && m->pairs == 0)
            flat = 2; /* plain descent cannot improve: rounding level */
        if (!moved)
            m->pairs = 0;
    }
    r->slope = projected_slope(m);
    return MERCER_OK;
}

mercer_status mc_lbfgs_minimise(mercer_ctx *ctx, const mc_lbfgs *problem, double *x, mc_lbfgs_result *result) {
    const int64_t n = problem->n;
    memory m = {.n = n, .p = problem, .x = x};
    *result = (mc_lbfgs_result){.f = INFINITY};
    mc_work w;
    MC_TRY(mc_work_open(ctx, &w, (4 + 2 * PAIRS) * mc_work_need(n, sizeof(double))));
    double **all[] = {&m.g, &m.trial, &m.slope, &m.direction};
    for (int i = 0; i < 4; i++)
        *all[i] = mc_work_take(&w, n, sizeof(double));
    for (int k = 0; k < PAIRS; k++) {
        m.s[k] = mc_work_take(&w, n, sizeof(double));
        m.y[k] = mc_work_take(&w, n, sizeof(double));
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = into_box(problem, i, x[i]);
    mercer_status status = problem->objective(ctx, problem->self, x, &m.f, m.g);
    result->evaluations = 1;
    if (!status && isfinite(m.f))
        status = iterate_lbfgs(ctx, &m, result);
    result->f = m.f;
    mc_work_close(&w);
    return status;
}
