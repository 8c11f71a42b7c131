/* loss_step.c: one Newton step as a linear system that is symmetric and never singular. With W = L L' (loss_terms.c) and
   rho = rho0 + L tau, rho0 on the rows whose curvature is too small to divide by, D = rho0/lambda + L u turns

       lambda D + W (K D + db) = rho    into    (lambda I + L'K L) u + L'db = tau - L'K rho0/lambda.

   The sums of the columns of D fix B'u = r, B = L'(1, ..., 1): u = B C^+ r + v with B'v = 0 and v the solution of the system projected on
   those. Conjugate gradients do that in the space itself; a factorisation (one column) takes B as a second right-hand side. At the end
   db = C^+ B'(tau - L'K D - lambda u).

   K is read from memory as floats where it fits, made of float tiles where not, of double tiles where lambda is so small that floats
   would hide it. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/work.h"
#include "data/data.h"
#include "gram/entries.h"
#include "gram/stored.h"
#include "learn/loss_space.h"
#include "learn/rank.h"
#include "solve/cholesky.h"
#include "solve/pcg.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS_MOST = 5000, PATIENCE = 200, RAISES = 8 };
static const double FLAT = 1e-7;        /* of sqrt(c): a root below is not divided by */
static const double STORED_ENTRY = 90;  /* operations that reading a stored entry counts for */
static const double NEWTON_STEPS = 5;   /* over which the making of the preconditioner is spread */

/* ---- Operators ---- */

/* V -> P L'K L P V: P the projection that keeps the sums. */
static mercer_status apply_system(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    (void)t;
    const mc_loss_space *s = self;
    const mc_loss_task *task = s->task;
    memcpy(s->V, V, (size_t)(s->n * task->k) * sizeof *V);
    if (task->intercept)
        mc_loss_mean_project(&s->mean, s->V);
    mc_loss_raise(task, s->root, s->V);
    MC_TRY(s->K.apply(ctx, s->K.self, task->k, s->V, Y));
    mc_loss_lower(task, s->root, Y);
    if (task->intercept)
        mc_loss_mean_project(&s->mean, Y);
    return MERCER_OK;
}

static mercer_status apply_inverse(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    (void)t;
    const mc_loss_space *s = self;
    MC_TRY(mc_loss_precondition_apply(ctx, s->inverse, V, Y));
    mc_loss_deflate(s->task, s->root, Y);
    if (s->task->intercept)
        mc_loss_mean_project(&s->mean, Y);
    return MERCER_OK;
}

/* ---- The right-hand side ---- */

/* tau into s->tau, rho0 into s->rest; false: rho0 is zero. */
static bool split(mc_loss_space *s, const double *rho) {
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

/* s->tau <- tau - L'K rho0/lambda; s->sums <- what B'u must be. */
static mercer_status right_side(mercer_ctx *ctx, mc_loss_space *s, const double *rho) {
    const mc_loss_task *t = s->task;
    const int64_t k = t->k;
    const bool rest = split(s, rho);
    for (int64_t j = 0; j < k; j++)
        s->sums[j] = 0;
    for (int64_t i = 0; i < s->n * k; i++) {
        s->rest[i] = rest ? s->rest[i] / t->lambda : 0;
        s->sums[i % k] -= s->rest[i] + t->alpha[i];
    }
    if (!rest)
        return MERCER_OK;
    MC_TRY(s->K.apply(ctx, s->K.self, k, s->rest, s->V));
    mc_loss_lower(t, s->root, s->V);
    for (int64_t i = 0; i < s->n * k; i++)
        s->tau[i] -= s->V[i];
    return MERCER_OK;
}

/* ---- By Cholesky ---- */

/* A factor of L'KL + shift I with the least shift from lambda on that has one. */
static mercer_status factor(mercer_ctx *ctx, mc_loss_space *s) {
    const size_t bytes = (size_t)mc_packed_count(s->n) * sizeof(double);
    double trace = 0, shift = s->task->lambda;
    for (int64_t i = 0; i < s->n; i++)
        trace += s->root[i] * s->root[i] * s->packed[mc_packed_place(s->n, i, i)];
    for (int raise = 0; raise < RAISES; raise++, shift = fmax(100 * shift, 1e-15 * trace)) {
        int64_t bad = 0;
        memcpy(s->A, s->packed, bytes);
        MC_TRY(mc_packed_scale(ctx, s->n, s->A, s->root, shift));
        MC_TRY(mc_cholesky_factor(ctx, s->n, s->A, &bad));
        if (!bad)
            return MERCER_OK;
    }
    return mc_fail(ctx, MERCER_NUMERIC, "%s: lambda = %g is lost in the rounding of K; take a larger one", s->task->loss->name,
                   s->task->lambda);
}

static mercer_status solve_cholesky(mercer_ctx *ctx, mc_loss_space *s) {
    double above = -s->sums[0], below = 0;
    MC_TRY(factor(ctx, s));
    for (int64_t i = 0; i < s->n; i++) {
        s->X[2 * i] = s->tau[i];
        s->X[2 * i + 1] = s->root[i];
    }
    MC_TRY(mc_cholesky_solve(ctx, s->n, s->A, 2, s->X));
    for (int64_t i = 0; i < s->n; i++) {
        above += s->root[i] * s->X[2 * i];
        below += s->root[i] * s->X[2 * i + 1];
    }
    const double shift = s->task->intercept && below > 0 ? above / below : 0;
    for (int64_t i = 0; i < s->n; i++)
        s->u[i] = s->X[2 * i] - shift * s->X[2 * i + 1];
    return MERCER_OK;
}

/* ---- By conjugate gradients ---- */

/* u <- B C^+ sums, and what it leaves of the right-hand side. */
static mercer_status meet_sums(mercer_ctx *ctx, mc_loss_space *s) {
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
        mc_loss_lower(t, s->root, s->X);
        for (int64_t i = 0; i < s->n * k; i++)
            s->tau[i] -= s->X[i] + t->lambda * s->u[i];
    }
    if (t->intercept)
        mc_loss_mean_project(&s->mean, s->tau);
    return MERCER_OK;
}

static mercer_status solve_pcg(mercer_ctx *ctx, mc_loss_space *s, double accuracy) {
    const mc_loss_task *t = s->task;
    const mc_operator A = {.n = s->n * t->k, .apply = apply_system, .self = s};
    const mc_operator inverse = {.n = s->n * t->k, .apply = apply_inverse, .self = s};
    MC_TRY(meet_sums(ctx, s));
    MC_TRY(mc_loss_precondition_set(ctx, s->inverse, t, s->root));
    for (int64_t i = 0; i < s->n * t->k; i++)
        s->diagonal[i] = t->lambda;
    memset(s->X, 0, (size_t)(s->n * t->k) * sizeof *s->X);
    const mc_pcg_problem problem = {.n = s->n * t->k, .t = 1, .fast = A, .exact = A, .exact_error = INFINITY, .diagonal = s->diagonal,
                                    .preconditioner = inverse, .B = s->tau, .tolerance = accuracy, .iterations_max = STEPS_MOST,
                                    .patience = PATIENCE};
    mc_pcg_result result;
    MC_TRY(mc_pcg_solve(ctx, &problem, s->X, &result));
    mc_log(ctx, "pcg: %lld products to %.2g", (long long)result.iterations, result.residual_relative);
    for (int64_t i = 0; i < s->n * t->k; i++)
        s->u[i] += s->X[i];
    return MERCER_OK;
}

/* ---- The step ---- */

/* db = C^+ sum over rows of (rho - lambda D - W K D). */
static void intercepts(mc_loss_space *s, const double *rho, const double *D, const double *KD, double *db) {
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

mercer_status mc_loss_product(mercer_ctx *ctx, const mc_loss_space *s, int64_t k, bool exact, const double *V, double *KV) {
    return exact ? mc_gram_apply(ctx, s->exact, k, V, KV) : s->K.apply(ctx, s->K.self, k, V, KV);
}

mercer_status mc_loss_step(mercer_ctx *ctx, mc_loss_space *s, mc_loss_task *t, const double *root, const double *rho, double accuracy,
                           bool exact, double *D, double *KD, double *db) {
    const int64_t count = t->n * t->k;
    s->task = t;
    s->root = root;
    mc_loss_mean_set(t, root, &s->mean);
    MC_TRY(right_side(ctx, s, rho));
    MC_TRY(s->packed ? solve_cholesky(ctx, s) : solve_pcg(ctx, s, accuracy));
    memcpy(D, s->u, (size_t)count * sizeof *D);
    mc_loss_raise(t, root, D);
    for (int64_t i = 0; i < count; i++)
        D[i] += s->rest[i];
    MC_TRY(mc_loss_product(ctx, s, t->k, exact, D, KD));
    intercepts(s, rho, D, KD, db);
    return MERCER_OK;
}

/* ---- The space ---- */

static int64_t rank_most(int64_t n, int64_t columns) {
    const int64_t cap = mc_rank_cap(n), spread = (int64_t)((double)cap / sqrt((double)columns));
    return spread > 32 ? spread : cap < 32 ? cap : 32;
}

static size_t numbers(int64_t count) {
    return mc_work_need(count, sizeof(double)) + MC_ALIGN;
}

static size_t vectors_bytes(int64_t n, int64_t k) {
    return 7 * numbers(2 * n * k) + numbers(k * (k + 4)) + mc_pcg_bytes(n * k, 1) + mc_loss_newton_bytes(n, k);
}

static size_t operators_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t k) {
    return mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F32, k) + mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, k);
}

static size_t factor_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t k) {
    return mc_lowrank_bytes(ctx, n, rank) + mc_loss_precondition_bytes(ctx, n, rank, k);
}

/* The largest rank whose factor leaves room. */
static int64_t rank_within(mercer_ctx *ctx, int64_t n, int64_t k, size_t bytes) {
    int64_t rank = rank_most(n, k);
    while (rank > 0 && factor_bytes(ctx, n, rank, k) > bytes)
        rank /= 2;
    return rank;
}

size_t mc_loss_space_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns, bool cholesky) {
    const size_t always = vectors_bytes(p->n, columns) + operators_bytes(ctx, p, columns);
    return always + (cholesky ? 2 * numbers(mc_packed_count(p->n)) : factor_bytes(ctx, p->n, 0, columns));
}

static mercer_status open_cholesky(mercer_ctx *ctx, mc_loss_space *s) {
    MC_TRY(MC_ALLOC(ctx, s->packed, mc_packed_count(s->n)));
    MC_TRY(MC_ALLOC(ctx, s->A, mc_packed_count(s->n)));
    mc_phase(ctx, "gram");
    s->K = mc_gram_operator(s->exact);
    return mc_gram_packed(ctx, s->exact, NULL, s->packed);
}

/* The largest k(x, x), and whether float entries are good enough beside lambda: their rounding behaves like a random matrix. */
static mercer_status weigh_floats(mercer_ctx *ctx, mc_loss_space *s, double lambda, double curvature, bool *enough) {
    double most = 0;
    MC_TRY(mc_gram_diagonal(ctx, s->exact, s->diagonal));
    for (int64_t i = 0; i < s->n; i++)
        most = fmax(most, s->diagonal[i]);
    *enough = 2 * sqrt((double)s->n) * 0x1p-24 * most * curvature <= 0.1 * lambda;
    return MERCER_OK;
}

static mercer_status grow_factor(mercer_ctx *ctx, mc_loss_space *s, double lambda, size_t bytes) {
    const mercer_data *x = s->p->x;
    const double entry = mc_rank_entry((double)mercer_data_stored(x) / (double)x->n);
    const mc_gram_source source = {.kernel = s->p->kernel, .x = x, .gram = s->fast ? s->fast : s->exact};
    const mc_entries entries = mc_gram_entries(&source);
    const mc_rank_rule rule = {.lambda = lambda, .tolerance = 0.01, .entry = entry,
                               .step = NEWTON_STEPS * mc_rank_step(s->n, s->stored ? STORED_ENTRY : entry, s->columns)
                                       / (double)s->columns,
                               .most = rank_within(ctx, s->n, s->columns, bytes)};
    mc_lowrank *f = NULL;
    mc_phase(ctx, "pivots");
    MC_TRY(mc_lowrank_open(ctx, &entries, NULL, ctx->options.seed, &f));
    mercer_status status = rule.most > 0 ? mc_rank_grow(ctx, &rule, f) : MERCER_OK;
    if (!status)
        status = mc_loss_precondition_open(ctx, f, s->columns, &s->inverse);
    mc_log(ctx, "pcg: preconditioner of rank %lld leaves %.3g of the trace %.4g", (long long)f->rank, f->trace_left, f->trace);
    s->rank = f->rank;
    mc_lowrank_close(f);
    return status;
}

static mercer_status open_pcg(mercer_ctx *ctx, mc_loss_space *s, double lambda, double curvature) {
    bool floats = false;
    MC_TRY(weigh_floats(ctx, s, lambda, curvature, &floats));
    s->K = mc_gram_operator(s->exact);
    const size_t held = vectors_bytes(s->n, s->columns), left = mc_memory_left(ctx), free = left > held ? left - held : 0;
    if (floats) {
        MC_TRY(mc_gram_open(ctx, s->p->kernel, s->p->x, NULL, MERCER_F32, &s->fast));
        s->K = mc_gram_operator(s->fast);
    }
    if (floats && mc_stored_bytes(s->n, s->columns) < free / 3 * 2) {
        mc_phase(ctx, "gram");
        MC_TRY(mc_stored_open(ctx, s->fast, s->columns, &s->stored));
        s->K = mc_stored_operator(s->stored);
    }
    const size_t now = mc_memory_left(ctx);
    mc_log(ctx, "pcg: K %s", s->stored ? "stored as floats" : floats ? "in float tiles" : "in double tiles: lambda is small beside it");
    return grow_factor(ctx, s, lambda / curvature, now > held ? (now - held) / 2 : 0);
}

static mercer_status open_vectors(mercer_ctx *ctx, mc_loss_space *s) {
    const int64_t n = s->n, k = s->columns;
    double **const vectors[] = {&s->tau, &s->rest, &s->u, &s->V, &s->diagonal};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        MC_TRY(MC_ALLOC(ctx, *vectors[i], n * k));
    MC_TRY(MC_ALLOC(ctx, s->X, 2 * n * k));
    MC_TRY(MC_ALLOC(ctx, s->mean.C, k * (k + 3)));
    s->mean.scratch = s->mean.C + k * k;
    s->sums = s->mean.scratch + 2 * k;
    return mc_gram_open(ctx, s->p->kernel, s->p->x, NULL, MERCER_F64, &s->exact);
}

mercer_status mc_loss_space_open(mercer_ctx *ctx, const mc_problem *p, double lambda, int64_t columns, bool cholesky, double curvature,
                                 mc_loss_space **out) {
    mc_loss_space *s = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    *s = (mc_loss_space){.p = p, .n = p->n, .columns = columns};
    mercer_status status = open_vectors(ctx, s);
    if (!status)
        status = cholesky ? open_cholesky(ctx, s) : open_pcg(ctx, s, lambda, curvature);
    if (status)
        mc_loss_space_close(s);
    else
        *out = s;
    return status;
}

void mc_loss_space_close(mc_loss_space *s) {
    if (!s)
        return;
    mc_loss_precondition_close(s->inverse);
    mc_stored_close(s->stored);
    mc_gram_close(s->fast);
    mc_gram_close(s->exact);
    void *const blocks[] = {s->packed, s->A, s->tau, s->rest, s->u, s->V, s->diagonal, s->X, s->mean.C, s};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mc_free(blocks[i]);
}

int64_t mc_loss_space_rank(const mc_loss_space *s) {
    return s->rank;
}
