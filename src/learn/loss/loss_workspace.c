/* loss_workspace.c: what the Newton steps of one fit share: K as an operator, a factor F F' ~ K, and scratch.

   K is made of float tiles, of double tiles for few rows and where lambda is so small that floats would hide it. The
   factor serves twice: as the preconditioner (loss_precondition.c), and, where it is close enough to K, as a surrogate
   for it (loss_surrogate.c), with which a fit needs a handful of products. Where it is not, there will be many, and K
   is read from memory as floats if it fits. */
#include "learn/loss/loss_workspace.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include "iterative/preconditioner_rank.h"
#include "linalg/cholesky.h"
#include <math.h>

/* operations that reading a stored entry counts for, and getting memory for it */
static const double STORED_ENTRY = 30, KEPT_ENTRY = 300;
/* solved with K, over which the making of the factor is spread */
static const double SYSTEMS = 5;
static const double NEAR = 5; /* of K - F F' beside lambda, for F F' to show where to begin */

const char *const mc_loss_methods[MC_LOSS_METHODS] = {
    [MC_LOSS_PCG] = "pcg", [MC_LOSS_CHOLESKY] = "cholesky", [MC_LOSS_PRIMAL] = "primal", [MC_LOSS_NYSTROM] = "nystrom"};

static int64_t rank_most(int64_t n, int64_t columns) {
    const int64_t cap = mc_rank_cap(n), spread = (int64_t)((double)cap / sqrt((double)columns));
    return spread > 32 ? spread : cap < 32 ? cap : 32;
}

static size_t bytes_of_doubles(int64_t count) {
    return mc_work_need(count, sizeof(double)) + MC_ALIGN;
}

static void lay_out_vectors(mc_work *work, void *self) {
    mc_loss_workspace *s = self;
    const int64_t count = s->n * s->columns, k = s->columns;
    double **const vectors[] = {&s->tau, &s->rest, &s->u, &s->V};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = mc_work_take(work, count, sizeof(double));
    s->X = mc_work_take(work, 4 * count, sizeof *s->X);
    s->mean.C = mc_work_take(work, k * k, sizeof *s->mean.C);
    s->mean.scratch = mc_work_take(work, 2 * k, sizeof *s->mean.scratch);
    s->sums = mc_work_take(work, k, sizeof *s->sums);
}

static void lay_out_triangles(mc_work *work, void *self) {
    mc_loss_workspace *s = self;
    s->packed = mc_work_take(work, mc_packed_count(s->n), sizeof *s->packed);
    s->A = mc_work_take(work, mc_packed_count(s->n), sizeof *s->A);
    s->active = mc_work_take(work, s->n, sizeof *s->active);
}

static size_t vectors_bytes(int64_t n, int64_t k) {
    return mc_slices_bytes(lay_out_vectors, &(mc_loss_workspace){.n = n, .columns = k}) + 2 * MC_ALIGN
           + mc_loss_newton_bytes(n, k) + mc_loss_correct_bytes(n, k);
}

static size_t triangles_bytes(int64_t n) {
    return mc_slices_bytes(lay_out_triangles, &(mc_loss_workspace){.n = n}) + 2 * MC_ALIGN;
}

static size_t operators_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t k) {
    return mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F32, k)
           + mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, k);
}

static size_t factor_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t k) {
    return mc_lowrank_bytes(ctx, n, rank) + mc_loss_precondition_bytes(ctx, n, rank, k);
}

/* Of few rows all of K is kept, in double. */
static size_t whole_bytes(int64_t n) {
    return n <= MC_LOSS_FEW ? bytes_of_doubles(n * n) : 0;
}

/* The largest rank whose factor leaves room. */
static int64_t rank_within(mercer_ctx *ctx, int64_t n, int64_t k, size_t bytes) {
    int64_t rank = rank_most(n, k);
    while (rank > 0 && factor_bytes(ctx, n, rank, k) > bytes)
        rank /= 2;
    return rank;
}

size_t mc_loss_workspace_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns, mc_loss_method method) {
    if (method == MC_LOSS_PRIMAL)
        return mc_loss_primal_bytes(ctx, p, columns);
    const size_t always = vectors_bytes(p->n, columns) + operators_bytes(ctx, p, columns);
    return always
           + (method == MC_LOSS_CHOLESKY ? triangles_bytes(p->n)
                                         : factor_bytes(ctx, p->n, 0, columns) + whole_bytes(p->n));
}

size_t mc_loss_workspace_most(mercer_ctx *ctx, const mc_problem *p, int64_t columns) {
    const size_t least = mc_loss_workspace_bytes(ctx, p, columns, MC_LOSS_PCG), left = mc_memory_left(ctx);
    const size_t spare = left > least ? left - least : 0, stored = mc_stored_bytes(p->n, columns, false);
    const size_t kept = stored < spare / 3 * 2 ? stored : 0;
    return least + kept + factor_bytes(ctx, p->n, rank_within(ctx, p->n, columns, (spare - kept) / 2), columns);
}

static mercer_status open_cholesky(mercer_ctx *ctx, mc_loss_workspace *s) {
    MC_TRY(mc_work_lay(ctx, &s->triangles, lay_out_triangles, s));
    mc_begin_phase(ctx, "gram");
    s->K = mc_gram_matrix(s->exact);
    return s->K.packed(ctx, s->K.self, NULL, s->packed);
}

/* Whether float entries are good enough beside lambda, their rounding behaving like a random matrix, and worth it. */
static mercer_status floats_are_enough(mercer_ctx *ctx, mc_loss_workspace *s, double lambda, bool *enough) {
    double most = 0;
    MC_TRY(mc_gram_diagonal(ctx, s->exact, s->tau));
    for (int64_t i = 0; i < s->n; i++)
        most = fmax(most, s->tau[i]);
    *enough = s->n > MC_LOSS_FEW && 2 * sqrt((double)s->n) * 0x1p-24 * most <= 0.1 * lambda;
    return MERCER_OK;
}

/* Bytes for the factor or for K, beside what is always held. */
static size_t spare_bytes(mercer_ctx *ctx, const mc_loss_workspace *s) {
    const size_t held = vectors_bytes(s->n, s->columns), left = mc_memory_left(ctx);
    return left > held ? left - held : 0;
}

static bool fits_in_memory(mercer_ctx *ctx, const mc_loss_workspace *s) {
    return s->fast && mc_stored_bytes(s->n, s->columns, false) < spare_bytes(ctx, s) / 3 * 2;
}

/* bytes: for the factor, and for K where it is kept. */
static mc_rank_rule rule_within(mercer_ctx *ctx, const mc_problem *p, int64_t columns, double lambda, bool kept,
                                size_t bytes) {
    const double entry = mc_rank_entry((double)mercer_data_stored(p->x) / (double)p->x->n);
    const double step = mc_rank_step(p->n, kept ? STORED_ENTRY : entry, columns) / (double)columns;
    const size_t left = kept ? bytes - mc_stored_bytes(p->n, columns, false) : bytes;
    return (mc_rank_rule){.lambda = lambda,
                          .tolerance = 0.01,
                          .entry = entry,
                          .step = SYSTEMS * step,
                          .most = rank_within(ctx, p->n, columns, left / 2),
                          .most_work = INFINITY};
}

mc_rank_rule mc_loss_workspace_rule(mercer_ctx *ctx, const mc_problem *p, int64_t columns, double lambda, bool *kept) {
    const size_t least = mc_loss_workspace_bytes(ctx, p, columns, MC_LOSS_PCG), left = mc_memory_left(ctx);
    const size_t spare = left > least ? left - least : 0;
    *kept = mc_stored_bytes(p->n, columns, false) < spare / 3 * 2;
    return rule_within(ctx, p, columns, lambda, *kept, spare);
}

static mercer_status grow_factor(mercer_ctx *ctx, mc_loss_workspace *s, double lambda) {
    const mc_matrix K = mc_gram_matrix(s->fast ? s->fast : s->exact);
    const mc_rank_rule rule = rule_within(ctx, s->p, s->columns, lambda, fits_in_memory(ctx, s), spare_bytes(ctx, s));
    mc_lowrank *f = NULL;
    mc_begin_phase(ctx, "pivots");
    MC_TRY(mc_lowrank_open(ctx, &K, NULL, ctx->options.seed, &f));
    mercer_status status = rule.most > 0 ? mc_rank_grow(ctx, &rule, f) : MERCER_OK;
    MC_THEN(status, mc_loss_precondition_open(ctx, f, s->columns, &s->inverse));
    s->rank = f->rank;
    s->missed_least = f->rank == 0 ? INFINITY : f->exhausted ? 0 : f->gain / lambda;
    mc_loss_workspace_set_lambda(s, s->least);
    mc_log_message(
        ctx, "factor of rank %lld leaves %.3g of the trace %.4g, a column %.3g of it; lambda over the curvature %.3g",
        (long long)f->rank, f->trace_left, f->trace, f->gain, lambda);
    mc_lowrank_close(f);
    return status;
}

static mercer_status apply_whole(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    (void)ctx;
    const mc_loss_workspace *s = self;
    mc_gemm(1, mc_row_major(s->whole, s->n, s->n, s->n), mc_row_major((double *)V, s->n, t, t), 0,
            mc_row_major(Y, s->n, t, t));
    return MERCER_OK;
}

/* A product of few rows is over before threads are awake, and most of it would be the making of entries. */
static mercer_status keep_whole(mercer_ctx *ctx, mc_loss_workspace *s) {
    int64_t ids[MC_LOSS_FEW];
    for (int64_t i = 0; i < s->n; i++)
        ids[i] = i;
    MC_TRY(MC_ALLOC(ctx, s->whole, s->n * s->n));
    MC_TRY(s->K.rows(ctx, s->K.self, MERCER_F64, ids, s->n, 0, s->n, s->whole, s->n));
    s->K = (mc_matrix){.n = s->n, .self = s, .apply = apply_whole};
    return MERCER_OK;
}

static mercer_status open_pcg(mercer_ctx *ctx, mc_loss_workspace *s, double lambda) {
    bool floats = false;
    MC_TRY(floats_are_enough(ctx, s, lambda, &floats));
    s->K = mc_gram_matrix(s->exact);
    if (floats) {
        MC_TRY(mc_gram_open(ctx, s->p->kernel, s->p->x, NULL, MERCER_F32, &s->fast));
        s->K = mc_gram_matrix(s->fast);
    }
    MC_TRY(grow_factor(ctx, s, lambda));
    if (s->n <= MC_LOSS_FEW)
        return keep_whole(ctx, s);
    return mc_loss_workspace_is_near(s) ? MERCER_OK : mc_loss_workspace_store(ctx, s);
}

/* Whether the products to come save more than they cost to store. */
static bool is_worth_storing(const mc_loss_workspace *s) {
    const mercer_data *x = s->p->x;
    const double entry = mc_rank_entry((double)mercer_data_stored(x) / (double)x->n);
    const double products =
        s->fits * (mc_loss_workspace_is_near(s) ? SYSTEMS / 2 : SYSTEMS) * mc_rank_steps(s->missed, 1, 0.01);
    return products * (entry - STORED_ENTRY) > entry + KEPT_ENTRY;
}

mercer_status mc_loss_workspace_store(mercer_ctx *ctx, mc_loss_workspace *s) {
    if (s->packed || s->stored || !fits_in_memory(ctx, s) || !is_worth_storing(s))
        return MERCER_OK;
    mc_begin_phase(ctx, "gram");
    MC_TRY(mc_stored_open(ctx, s->fast, s->columns, false, &s->stored));
    s->K = mc_stored_matrix(s->stored);
    mc_begin_phase(ctx, "solve");
    mc_log_message(ctx, "K stored as floats");
    return MERCER_OK;
}

static mercer_status open_vectors(mercer_ctx *ctx, mc_loss_workspace *s) {
    MC_TRY(mc_work_lay(ctx, &s->vectors, lay_out_vectors, s));
    return mc_gram_open(ctx, s->p->kernel, s->p->x, NULL, MERCER_F64, &s->exact);
}

static mercer_status open_primal(mercer_ctx *ctx, mc_loss_workspace *s) {
    mc_begin_phase(ctx, "features");
    s->rank = mc_loss_primal_features(s->p);
    return mc_loss_primal_open(ctx, s->p, s->columns, &s->primal);
}

void mc_loss_workspace_set_lambda(mc_loss_workspace *s, double lambda) {
    s->missed = s->missed_least * (s->least / lambda);
}

mercer_status mc_loss_workspace_open(mercer_ctx *ctx, const mc_problem *p, const mc_loss_demand *ahead, int64_t columns,
                                     mc_loss_method method, mc_loss_workspace **out) {
    mc_loss_workspace *s = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    *s = (mc_loss_workspace){.p = p,
                             .n = p->n,
                             .columns = columns,
                             .least = ahead->lambda,
                             .fits = ahead->fits,
                             .missed_least = INFINITY,
                             .missed = INFINITY};
    mercer_status status = method == MC_LOSS_PRIMAL ? open_primal(ctx, s) : open_vectors(ctx, s);
    if (method == MC_LOSS_CHOLESKY)
        MC_THEN(status, open_cholesky(ctx, s));
    if (method == MC_LOSS_PCG)
        MC_THEN(status, open_pcg(ctx, s, ahead->lambda / ahead->curvature));
    if (status)
        mc_loss_workspace_close(s);
    else
        *out = s;
    return status;
}

void mc_loss_workspace_close(mc_loss_workspace *s) {
    if (!s)
        return;
    mc_loss_primal_close(s->primal);
    mc_loss_precondition_close(s->inverse);
    mc_stored_close(s->stored);
    mc_gram_close(s->fast);
    mc_gram_close(s->exact);
    mc_work_close(&s->vectors);
    mc_work_close(&s->triangles);
    mc_free(s->whole);
    mc_free(s);
}

mc_loss_primal *mc_loss_workspace_primal(const mc_loss_workspace *s) {
    return s->primal;
}

int64_t mc_loss_workspace_rank(const mc_loss_workspace *s) {
    return s->rank;
}

bool mc_loss_workspace_is_near(const mc_loss_workspace *s) {
    return s->n > MC_LOSS_FEW && s->missed <= NEAR;
}
