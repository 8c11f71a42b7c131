/* loss_newton_step.c: one Newton step as a linear system that is symmetric and never singular. With W = L L'
   (problem/loss_terms.c) and rho = rho0 + L tau, rho0 on the rows whose curvature is too small to divide by, D =
   rho0/lambda + L u turns

       lambda D + W (K D + db) = rho    into    (lambda I + L'K L) u + L'db = tau - L'K rho0/lambda.

   The sums of the columns of D fix B'u = r, B = L'(1, ..., 1): u = B C^+ r + v with B'v = 0 and v the solution of the
   system projected on those. Conjugate gradients do that in the space itself; a factorisation (one column), of the
   matrix or of the small one that a factor standing in for K leads to, takes B as a second right-hand side. At the end
   db = C^+ B'(tau - L'K D - lambda u). The products that conjugate gradients make add up to K D, and the factor gives
   it with the solution: it then costs nothing. */
#include "base/parallel.h"
#include "linalg/block_vectors.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "learn/loss/loss_workspace.h"
#include "linalg/cholesky.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS_MOST = 5000, RAISES = 8, GRAIN = 16 };
static const double FLAT = 1e-7; /* of sqrt(c): a root below is not divided by */

/* ---- Operators ---- */

/* Kp <- K L P p and q <- P L'K L P p + lambda p: P the projection that keeps the sums. */
static mercer_status apply_system(mercer_ctx *ctx, const mc_loss_workspace *s, const double *p, double *Kp, double *q) {
    const mc_loss_task *t = s->task;
    const int64_t count = s->n * t->k;
    memcpy(s->V, p, (size_t)count * sizeof *p);
    if (t->intercept)
        mc_loss_mean_project(&s->mean, s->V);
    mc_loss_raise(t, s->root, s->V);
    MC_TRY(s->K.apply(ctx, s->K.self, t->k, s->V, Kp));
    memcpy(q, Kp, (size_t)count * sizeof *q);
    mc_loss_lower(t, s->root, q);
    if (t->intercept)
        mc_loss_mean_project(&s->mean, q);
    for (int64_t i = 0; i < count; i++)
        q[i] += t->lambda * p[i];
    return MERCER_OK;
}

static mercer_status apply_inverse(mercer_ctx *ctx, const mc_loss_workspace *s, const double *r, double *z) {
    MC_TRY(mc_loss_precondition_apply(ctx, s->inverse, r, z));
    mc_loss_deflate(s->task, s->root, z);
    if (s->task->intercept)
        mc_loss_mean_project(&s->mean, z);
    return MERCER_OK;
}

/* ---- The right-hand side ---- */

/* tau into s->tau, rho0 into s->rest; false: rho0 is zero. */
static bool split_residual(mc_loss_workspace *s, const double *rho) {
    const mc_loss_task *t = s->task;
    const int64_t k = t->k;
    double most = 0, left = 0;
    for (int64_t i = 0; i < s->n * k; i++)
        s->tau[i] = s->root[i] > FLAT * sqrt(t->cost[i / k]) ? rho[i] / s->root[i] : 0;
    mc_loss_deflate(t, s->root, s->tau);
    memcpy(s->rest, s->tau, (size_t)(s->n * k) * sizeof *s->rest);
    mc_loss_raise(t, s->root, s->rest);
    for (int64_t i = 0; i < s->n * k; i++) {
        s->rest[i] = rho[i] - s->rest[i];
        most = fmax(most, fabs(rho[i]));
        left = fmax(left, fabs(s->rest[i]));
    }
    return left > 4 * DBL_EPSILON * most;
}

/* s->tau <- tau - L'K rho0/lambda; s->sums <- what B'u must be; KD <- K rho0/lambda. */
static mercer_status form_right_hand_side(mercer_ctx *ctx, mc_loss_workspace *s, const double *rho, double *KD) {
    const mc_loss_task *t = s->task;
    const int64_t k = t->k;
    const bool rest = split_residual(s, rho);
    for (int64_t j = 0; j < k; j++)
        s->sums[j] = 0;
    for (int64_t i = 0; i < s->n * k; i++) {
        s->rest[i] = rest ? s->rest[i] / t->lambda : 0;
        s->sums[i % k] -= s->rest[i] + t->alpha[i];
    }
    memset(KD, 0, (size_t)(s->n * k) * sizeof *KD);
    if (!rest)
        return MERCER_OK;
    MC_TRY(s->K.apply(ctx, s->K.self, k, s->rest, KD));
    memcpy(s->V, KD, (size_t)(s->n * k) * sizeof *KD);
    mc_loss_lower(t, s->root, s->V);
    for (int64_t i = 0; i < s->n * k; i++)
        s->tau[i] -= s->V[i];
    return MERCER_OK;
}

/* ---- By a factorisation: one column ---- */

/* X: the solutions for tau and for B, in turn, of the rows listed (NULL: all). How much of the second is to be taken
   from the first for the sums to be right. */
static double intercept_of_border(const mc_loss_workspace *s, int64_t count, const int64_t *rows) {
    double above = -s->sums[0], below = 0;
    for (int64_t a = 0; a < count; a++) {
        const double root = s->root[rows ? rows[a] : a];
        above += root * s->X[2 * a];
        below += root * s->X[2 * a + 1];
    }
    return s->task->intercept && below > 0 ? above / below : 0;
}

/* Only rows with curvature enter the system: of the others, which squared hinge and huber have many of, u is 0. */
static void list_active(mc_loss_workspace *s) {
    s->actives = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->root[i] > 0)
            s->active[s->actives++] = i;
}

/* Columns begin .. end - 1 of L'KL on the active rows. */
static void write_active(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_loss_workspace *s = arg;
    const int64_t m = s->actives;
    for (int64_t b = begin; b < end; b++)
        for (int64_t a = b; a < m; a++) {
            const int64_t i = s->active[a], j = s->active[b];
            s->A[mc_packed_place(m, a, b)] = s->root[i] * s->packed[mc_packed_place(s->n, i, j)] * s->root[j];
        }
}

static mercer_status write_system(mercer_ctx *ctx, mc_loss_workspace *s, double shift) {
    const int64_t m = s->actives;
    if (m == s->n) {
        memcpy(s->A, s->packed, (size_t)mc_packed_count(m) * sizeof *s->A);
        return mc_packed_scale(ctx, m, s->A, s->root, shift);
    }
    MC_TRY(mc_for(ctx, m, GRAIN, write_active, s));
    for (int64_t a = 0; a < m; a++)
        s->A[mc_packed_place(m, a, a)] += shift;
    return MERCER_OK;
}

/* A factor of L'KL + shift I with the least shift from lambda on that has one. */
static mercer_status factor_with_least_shift(mercer_ctx *ctx, mc_loss_workspace *s) {
    double trace = 0, shift = s->task->lambda;
    for (int64_t i = 0; i < s->n; i++)
        trace += s->root[i] * s->root[i] * s->packed[mc_packed_place(s->n, i, i)];
    for (int raise = 0; raise < RAISES; raise++, shift = fmax(100 * shift, 1e-15 * trace)) {
        int64_t bad = 0;
        MC_TRY(write_system(ctx, s, shift));
        MC_TRY(mc_potrf(ctx, mc_packed(s->actives, s->A), &bad));
        if (!bad)
            return MERCER_OK;
    }
    return mc_fail(ctx, MERCER_NUMERIC, "%s: lambda = %g is lost in the rounding of K; take a larger one",
                   s->task->loss->name, s->task->lambda);
}

static mercer_status solve_cholesky(mercer_ctx *ctx, mc_loss_workspace *s) {
    list_active(s);
    memset(s->u, 0, (size_t)s->n * sizeof *s->u);
    if (!s->actives)
        return MERCER_OK;
    MC_TRY(factor_with_least_shift(ctx, s));
    for (int64_t a = 0; a < s->actives; a++) {
        s->X[2 * a] = s->tau[s->active[a]];
        s->X[2 * a + 1] = s->root[s->active[a]];
    }
    MC_TRY(mc_potrs(ctx, mc_packed(s->actives, s->A), mc_row_major(s->X, s->actives, 2, 2)));
    const double shift = intercept_of_border(s, s->actives, s->active);
    for (int64_t a = 0; a < s->actives; a++)
        s->u[s->active[a]] = s->X[2 * a] - shift * s->X[2 * a + 1];
    return MERCER_OK;
}

/* K is F F'. */
static mercer_status solve_stand_in(mercer_ctx *ctx, mc_loss_workspace *s, double *KD) {
    double *KX = s->X + MC_LOSS_RHS * s->n;
    for (int64_t i = 0; i < s->n; i++) {
        s->X[2 * i] = s->tau[i];
        s->X[2 * i + 1] = s->root[i];
    }
    MC_TRY(mc_loss_precondition_solve(ctx, s->inverse, s->X, KX));
    const double shift = intercept_of_border(s, s->n, NULL);
    for (int64_t i = 0; i < s->n; i++) {
        s->u[i] = s->X[2 * i] - shift * s->X[2 * i + 1];
        KD[i] += KX[2 * i] - shift * KX[2 * i + 1];
    }
    return MERCER_OK;
}

/* ---- By conjugate gradients ---- */

/* u <- B C^+ sums, and what it leaves of the right-hand side. */
static mercer_status meet_sums(mercer_ctx *ctx, mc_loss_workspace *s, double *KD) {
    const mc_loss_task *t = s->task;
    const int64_t k = t->k;
    double most = 0;
    memset(s->u, 0, (size_t)(s->n * k) * sizeof *s->u);
    for (int64_t j = 0; j < k && t->intercept && !s->mean.flat; j++)
        most = fmax(most, fabs(s->sums[j]));
    if (most > 0) {
        mc_loss_mean_solve(&s->mean, s->sums);
        for (int64_t i = 0; i < s->n * k; i++)
            s->u[i] = s->sums[i % k];
        mc_loss_lower(t, s->root, s->u);
        memcpy(s->V, s->u, (size_t)(s->n * k) * sizeof *s->V);
        mc_loss_raise(t, s->root, s->V);
        MC_TRY(s->K.apply(ctx, s->K.self, k, s->V, s->X));
        for (int64_t i = 0; i < s->n * k; i++)
            KD[i] += s->X[i];
        mc_loss_lower(t, s->root, s->X);
        for (int64_t i = 0; i < s->n * k; i++)
            s->tau[i] -= s->X[i] + t->lambda * s->u[i];
    }
    if (t->intercept)
        mc_loss_mean_project(&s->mean, s->tau);
    return MERCER_OK;
}

/* x and Kx, and the residual r, one step along p. */
static void move_along_direction(int64_t count, double step, const double *p, const double *Kp, const double *q,
                                 double *x, double *Kx, double *r) {
    for (int64_t i = 0; i < count; i++) {
        x[i] += step * p[i];
        Kx[i] += step * Kp[i];
        r[i] -= step * q[i];
    }
}

/* The residual may fall short by rounding: the next Newton step sees what is left. */
static mercer_status solve_pcg(mercer_ctx *ctx, mc_loss_workspace *s, double accuracy, double *KD) {
    const int64_t count = s->n * s->task->k;
    double *p = s->X, *q = p + count, *z = q + count, *Kp = z + count, *r = s->tau, before = 1;
    MC_TRY(meet_sums(ctx, s, KD));
    const double most = mc_dot_extended(count, r, r) * accuracy * accuracy;
    double left = mc_dot_extended(count, r, r);
    int64_t steps = 0;
    memset(p, 0, (size_t)count * sizeof *p);
    for (; steps < STEPS_MOST && left > most; steps++) {
        MC_TRY(apply_inverse(ctx, s, r, z));
        const double now = mc_dot_extended(count, r, z), turn = steps ? now / before : 0;
        for (int64_t i = 0; i < count; i++)
            p[i] = z[i] + turn * p[i];
        MC_TRY(apply_system(ctx, s, p, Kp, q));
        const double curvature = mc_dot_extended(count, p, q);
        if (!(curvature > 0) || !(now > 0))
            break;
        move_along_direction(count, now / curvature, p, Kp, q, s->u, KD, r);
        before = now;
        left = mc_dot_extended(count, r, r);
        MC_TRY(mc_report_progress(ctx, -1));
    }
    mc_log_message(ctx, "pcg: %lld products to %.2g", (long long)steps, accuracy * sqrt(left / fmax(most, DBL_MIN)));
    return MERCER_OK;
}

/* ---- The step ---- */

/* db = C^+ sum over rows of (rho - lambda D - W K D). */
static void solve_intercept_steps(mc_loss_workspace *s, const double *rho, const double *D, const double *KD,
                                  double *db) {
    const mc_loss_task *t = s->task;
    const int64_t k = t->k;
    for (int64_t j = 0; j < k; j++)
        db[j] = 0;
    if (!t->intercept || s->mean.flat)
        return;
    memcpy(s->V, KD, (size_t)(s->n * k) * sizeof *s->V);
    mc_loss_lower(t, s->root, s->V);
    mc_loss_raise(t, s->root, s->V);
    for (int64_t i = 0; i < s->n * k; i++)
        db[i % k] += rho[i] - t->lambda * D[i] - s->V[i];
    mc_loss_mean_solve(&s->mean, db);
}

mercer_status mc_loss_product(mercer_ctx *ctx, const mc_loss_workspace *s, int64_t k, bool exact, const double *V,
                              double *KV) {
    return exact ? mc_gram_apply(ctx, s->exact, k, V, KV) : s->K.apply(ctx, s->K.self, k, V, KV);
}

static bool is_stand_in(const mc_loss_workspace *s) {
    return s->inverse && s->K.self == s->inverse && s->task->k == 1;
}

/* s->root, and the inverse that belongs to it. */
static mercer_status choose_roots(mercer_ctx *ctx, mc_loss_workspace *s, const double *root, bool anew) {
    const bool kept = !anew && s->set && is_stand_in(s) && mc_loss_precondition_solves(s->inverse);
    s->root = kept ? mc_loss_precondition_roots(s->inverse) : root;
    if (kept || s->packed)
        return MERCER_OK;
    s->set = true;
    return mc_loss_precondition_set(ctx, s->inverse, s->task, root);
}

static mercer_status solve_newton_system(mercer_ctx *ctx, mc_loss_workspace *s, double accuracy, double *KD) {
    if (s->packed)
        return solve_cholesky(ctx, s);
    return is_stand_in(s) && mc_loss_precondition_solves(s->inverse) ? solve_stand_in(ctx, s, KD)
                                                                     : solve_pcg(ctx, s, accuracy, KD);
}

mercer_status mc_loss_step(mercer_ctx *ctx, mc_loss_workspace *s, mc_loss_task *t, const double *root, bool anew,
                           const double *rho, double accuracy, bool exact, double *D, double *KD, double *db) {
    const int64_t count = t->n * t->k;
    s->task = t;
    MC_TRY(choose_roots(ctx, s, root, anew));
    mc_loss_mean_set(t, s->root, &s->mean);
    MC_TRY(form_right_hand_side(ctx, s, rho, KD));
    MC_TRY(solve_newton_system(ctx, s, accuracy, KD));
    memcpy(D, s->u, (size_t)count * sizeof *D);
    mc_loss_raise(t, s->root, D);
    for (int64_t i = 0; i < count; i++)
        D[i] += s->rest[i];
    if (exact || s->packed)
        MC_TRY(mc_loss_product(ctx, s, t->k, exact, D, KD));
    solve_intercept_steps(s, rho, D, KD, db);
    return MERCER_OK;
}
