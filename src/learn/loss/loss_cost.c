/* loss_cost.c: what a machine with a convex loss will take. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/common/estimate_cg_steps.h"
#include "learn/loss/loss_landmarks.h"
#include "learn/loss/loss_primal.h"
#include "plan/cost.h"
#include "plan/speed.h"
#include <math.h>
#include <string.h>

static const char *reason_of(const mc_loss *loss, mc_loss_method method) {
    static const char *const reasons[MC_LOSS_METHODS] = {
        [MC_LOSS_PCG] = "exact; Newton steps by conjugate gradients, K in memory as floats where it fits",
        [MC_LOSS_CHOLESKY] = "exact; each Newton step is a factorisation, cheap for so few rows",
        [MC_LOSS_PRIMAL] = "exact; Newton steps in the features of the kernel, which are fewer than the rows",
        [MC_LOSS_NYSTROM] = "approximate; among functions of some landmarks, in proportion to the rows"};
    return loss->smooth ? reasons[method]
                        : "exact; the quadratic program of the dual, K stored for some thousand rows at a time";
}

enum {
    MANY = 4096, /* rows, from which on the steps of conjugate gradients are looked for */
    SYSTEMS = 7, /* of Newton's method */
    PASSES = 50, /* over the features of landmarks, in all */
    FACTORS = 3  /* of their squares, where one serves several steps */
};
static const double PASS = 60;        /* multiplications in the time of reading a number twice from memory */
static const double READ_ENTRY = 0.3; /* of a product of floats made anew: of one with K read from memory */

/* Some ten steps: of a factorisation each, or of products with all columns, whose seconds grew as the power 1.5 of 500
   to 2000 rows; in explicit features, of their matrix or of passes over them. */
static double work_of(const mc_problem *p, mc_loss_method method, int64_t k) {
    const double n = (double)p->n, D = (double)mc_loss_primal_features(p);
    return method == MC_LOSS_CHOLESKY ? 10 * mc_factor_work(n)
           : method == MC_LOSS_PCG    ? 4000 * n * sqrt(n) * (double)k
                                      : 10 * n * D * (D + 80 * (double)(k - 1));
}

static int64_t columns_of(const mc_loss *loss, const mc_problem *p) {
    return loss->probabilities && p->outputs > 2 ? p->outputs : 1;
}

/* Functions to be found one after the other. */
static double tasks_of(const mc_loss *loss, const mc_problem *p, int64_t k) {
    return k > 1 || (loss->classes && p->outputs == 2) ? 1 : (double)p->outputs;
}

/* Entries of the landmarks twice, of a sample of rows once, and their squares. Losses with few curvatures that are not
   zero are factored at every step. */
static void count_landmarks(const mc_loss *loss, const mercer_loss *set, const mc_problem *p, mc_solver_option *o) {
    const double n = (double)p->n, m = (double)mc_loss_landmarks_count(p->n, set->rank);
    const int64_t k = columns_of(loss, p);
    const double squares = n * m * m * (loss->probabilities ? FACTORS : 4 * FACTORS);
    o->pairs = 4 * n * m + 2 * fmin(n, 1024) * n;
    o->factor = n * m * m + tasks_of(loss, p, k) * (squares + PASSES * PASS * n * m * (double)k);
}

void mc_loss_rank_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *p, mc_solver_options *out) {
    const mercer_loss *set = settings;
    const mc_loss *loss = mc_loss_named(set->machine);
    const int64_t k = columns_of(loss, p);
    const mc_loss_method method = loss->smooth ? mc_loss_method_of(ctx, loss, set, p) : MC_LOSS_PCG;
    *out = (mc_solver_options){.count = 1};
    mc_solver_option *o = &out->option[0];
    *o = (mc_solver_option){.solver = loss->smooth ? mc_loss_methods[method] : "smo",
                            .pairs = (double)p->n * (double)p->n};
    const size_t least = loss->smooth ? mc_loss_method_bytes(ctx, set, p, k, method) : mc_loss_piecewise_bytes(ctx, p);
    o->bytes = loss->smooth && method == MC_LOSS_PCG ? mc_loss_workspace_most(ctx, p, k) : least;
    o->factor = !loss->smooth ? mc_loss_piecewise_work(ctx, p) : work_of(p, method, k);
    o->pairs = method == MC_LOSS_PRIMAL ? 0 : o->pairs;
    o->possible = least <= mc_memory_left(ctx);
    o->reason = o->possible ? reason_of(loss, method) : "needs more memory than the limit leaves";
    if (method == MC_LOSS_NYSTROM)
        count_landmarks(loss, set, p, o);
}

/* Products with K, as many as the spectrum of some rows says: with K anew, or made once and read. */
static mercer_status count_products(mercer_ctx *ctx, const mc_loss *loss, const mercer_loss *set, const mc_problem *p,
                                    mc_solver_option *o) {
    const int64_t k = columns_of(loss, p);
    const double n = (double)p->n, tasks = tasks_of(loss, p, k);
    bool kept = false;
    const mc_rank_rule rule = mc_loss_workspace_rule(ctx, p, k, set->lambda / (loss->probabilities ? 0.25 : 1), &kept);
    int64_t rank = 0;
    double steps = 1;
    MC_TRY(mc_estimate_cg_steps(ctx, p, &rule, &rank, &steps));
    const double products = tasks * SYSTEMS * fmax(steps, 1), columns = (double)(k > 2 ? k : 1);
    o->fast = n * n * (kept ? 1 + READ_ENTRY * columns * products : products);
    o->factor =
        mc_rank_growth(p->n, rule.entry, 0, rank) + tasks * SYSTEMS * (double)k * n * (double)rank * (double)rank / 2;
    return MERCER_OK;
}

mercer_status mc_loss_price(mercer_ctx *ctx, const void *settings, const mc_problem *p, mc_solver_options *options) {
    const mercer_loss *set = settings;
    const mc_loss *loss = mc_loss_named(set->machine);
    mc_solver_option *o = &options->option[0];
    mc_speed speed;
    if (strcmp(o->solver, mc_loss_methods[MC_LOSS_PCG]) == 0 && p->n >= MANY)
        MC_TRY(count_products(ctx, loss, set, p, o));
    MC_TRY(mc_speed_measure(ctx, p, &speed));
    mc_speed_price(&speed, options);
    return MERCER_OK;
}
