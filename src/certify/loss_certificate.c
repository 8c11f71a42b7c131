/* loss_certificate.c: the duality gap from the rows and the coefficients alone. f = K alpha is computed anew in double
   precision; with F = f + b and v = -lambda alpha / c,

       primal  sum c l(y, F) + lambda/2 alpha'f        dual  -sum c l*(y, v) - lambda/2 alpha'f,

   and since alpha is feasible, dual <= optimum <= primal. Both sides are lambda-strongly convex in f: lambda |f - f*|^2
   <= primal - dual. rounding bounds what the evaluation itself can be wrong by: every f is right to within what the
   operator says of its products (mc_product_doubt), or long doubles where that is little, the terms have slope at
   most lambda |alpha| / 2 in it, those of the primal |g| more (piecewise linear ones their steepest, smooth ones a
   curvature of at most the cost beside), and each is itself right to a few units, more for many classes and for shares
   next to 0. The report raises the primal and lowers the dual by that.

   The intercept is bounded by the slopes of the losses around f (certify/intercept.c), those of many classes by the
   shares that the classes must have (certify/softmax_intercepts.c).

   With an intercept alpha is feasible where sum alpha = 0, which doubles reach to a rounding: the dual value is then
   wrong by lambda |b*| |sum alpha|. Of the optimal b* it is known that it lies among the y - f* of the rows where y is
   a number, and that no class is lost by more than the primal where it is one, with |f*(x)| <= sqrt(2 k(x,x) primal /
   lambda). */
#include "certify/loss_certificate.h"
#include "backend/loss_body.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "certify/certificate.h"
#include "certify/extended_product.h"
#include "certify/intercept.h"
#include "certify/ridge_certificate.h"
#include "data/table/data.h"
#include "gram/features/feature_products.h"
#include "gram/operator/gram.h"
#include <float.h>
#include <math.h>
#include <string.h>

static const double FLAT = 0.14;  /* of a share, above which an entropy is no steeper than 1: exp(-2) */
static const double VAGUE = 1e-6; /* an error of entries, beside the largest, that hides what the gap could say */

static void gather_coefficients(const mc_loss_task *tasks, int64_t count, int64_t n, int64_t width, double *A) {
    for (int64_t j = 0, column = 0; j < count; column += tasks[j++].k)
        for (int64_t i = 0; i < n; i++)
            for (int64_t l = 0; l < tasks[j].k; l++)
                A[i * width + column + l] = tasks[j].alpha[i * tasks[j].k + l];
}

static void scatter_products(mc_loss_task *tasks, int64_t count, int64_t n, int64_t width, const double *A) {
    for (int64_t j = 0, column = 0; j < count; column += tasks[j++].k)
        for (int64_t i = 0; i < n; i++)
            for (int64_t l = 0; l < tasks[j].k; l++)
                tasks[j].f[i * tasks[j].k + l] = A[i * width + column + l];
}

/* A bound on |b*|, f being one on |f*|. */
static double intercept_bound(const mc_loss_task *t, double primal, double f) {
    double largest = 0, least = INFINITY;
    for (int64_t i = 0; i < t->n; i++) {
        largest = fmax(largest, t->k > 1 ? 1 : fabs(t->y[i]));
        least = fmin(least, t->cost[i]);
    }
    return largest + f + (t->loss->classes ? (double)t->k * (1 + primal / least) : 0) + (t->own ? fabs(t->b[0]) : 0);
}

static double size_of_sum(int64_t count, int64_t step, const double *v) {
    long double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += v[i * step];
    return fabs((double)sum);
}

/* How far the columns are from summing to 0 once every row of many classes does, its own class taking up the rounding.
 */
static double column_imbalance(const mc_loss_task *t) {
    double off = 0;
    for (int64_t j = 0; j < t->k; j++)
        off += size_of_sum(t->n, t->k, t->alpha + j);
    for (int64_t i = 0; i < t->n && t->k > 1; i++)
        off += size_of_sum(t->k, 1, t->alpha + i * t->k);
    return off;
}

/* lambda |b*| |sum alpha|, over the columns: from the crude bound on |f*|, then from how near it is to f. */
static double infeasibility_bound(const mc_loss_task *t, const mc_loss_findings *found, double reach) {
    const double worst = t->intercept ? column_imbalance(t) : 0;
    double largest = 0;
    for (int64_t i = 0; i < t->n * t->k; i++)
        largest = fmax(largest, fabs(t->f[i]));
    if (worst == 0)
        return 0;
    const double far = sqrt(2 * fmax(found->primal, 0) * reach / t->lambda);
    const double gap = fmax(found->primal - found->dual, 0) + found->rounding
                       + t->lambda * worst * intercept_bound(t, found->primal, far);
    return t->lambda * worst * intercept_bound(t, found->primal, fmin(far, largest + sqrt(reach * gap / t->lambda)));
}

/* The objective of the function that is 0 everywhere, without an intercept. */
static double objective_of_zero(const mc_loss_task *t, double *zeros) {
    if (t->loss->probabilities) {
        long double costs = 0;
        for (int64_t i = 0; i < t->n; i++)
            costs += t->cost[i];
        return (double)(costs * log(t->k > 1 ? (double)t->k : 2));
    }
    memset(zeros, 0, (size_t)(t->n * t->k) * sizeof *zeros);
    return mc_loss_sum(t, zeros, zeros);
}

/* The largest slope of a piecewise linear loss: at its bend an error may go either way. */
static double steepest_slope(const mc_loss_task *t, int64_t i) {
    double low, high;
    t->loss->domain(t, t->y[i], &low, &high);
    return fmax(fabs(low), fabs(high));
}

/* How much more than itself a rounding of alpha moves the conjugate by: an entropy is steep where the share that alpha
   leaves is near 0. */
static double steepness_of_conjugate(const mc_loss_task *t, int64_t row, double size) {
    double low, high;
    const double left = 1 - t->lambda * size / t->cost[row];
    if (left > FLAT)
        return 1;
    if (t->k == 1)
        t->loss->domain(t, t->y[row], &low, &high);
    const bool entropy = t->k > 1 || (t->loss->smooth && t->loss->classes && isfinite(high - low));
    return entropy ? fmax(1, -log(fmax(left, DBL_EPSILON)) / 2) : 1;
}

/* ---- The intercept ---- */

typedef struct doubtful {
    const mc_loss_task *t;
    double doubt; /* of f at any row */
} doubtful;

static void values_of(const void *self, int64_t begin, int64_t count, double *f, double *doubt) {
    const doubtful *d = self;
    for (int64_t i = 0; i < count; i++) {
        doubt[i] = d->doubt + DBL_EPSILON * fabs(d->t->y[begin + i]);
        f[i] = d->t->f[begin + i];
    }
}

static double slope_of(const mc_loss_task *t, int64_t i, double F, int side) {
    const double y = t->y[i];
    double low = t->loss->slope(t, y, F), high = low;
    if (!t->loss->smooth && F == y)
        t->loss->domain(t, y, &low, &high);
    return (side > 0 ? high : low) * t->cost[i];
}

static void slopes_of(const void *self, int64_t begin, int64_t count, const double *F, int side, double *slope) {
    const mc_loss_task *t = ((const doubtful *)self)->t;
    if (t->loss == &mc_losses[MC_LOGISTIC] && t->body) {
        t->body->logistic_slopes(&(mc_loss_rows){count, 1, F, &(double){0}, NULL, t->y + begin, t->cost + begin}, slope,
                                 NULL);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        slope[i] = slope_of(t, begin + i, F[i], side);
}

/* scratch: n x k; room: k x (k + 2). */
static double bound_intercept(const mc_loss_task *t, const mc_loss_findings *found, double *scratch, double *room) {
    const doubtful d = {t, found->distance * sqrt(found->reach) + found->each};
    const mc_intercept p = {.n = t->n, .b = t->b[0], .values = values_of, .slopes = slopes_of, .self = &d};
    const mc_softmax many = {t->n, t->k, t->f, t->b, t->y, t->cost, d.doubt, scratch};
    if (!t->intercept)
        return 0;
    return t->k > 1 ? mc_softmax_intercepts_bound(&many, room) : mc_intercept_bound(&p);
}

/* How the values of f were had: by an operator with these errors, or each to within `doubt`. */
typedef struct evaluation {
    mc_product_error error;
    bool extended; /* of the latter kind */
    double doubt;
} evaluation;

/* ---- Sums over the rows ---- */

enum { CHUNKS = 64, LEAST = 512, RUN = 16 }; /* of rows; entries of a chunk at least; entries summed up in double */

typedef struct loss_totals {
    long double energy, slopes, bends, mass, sizes, lost, gains, loss, conjugate;
} loss_totals;

typedef struct adding {
    const mc_loss_task *t;
    double *g, *root; /* n x k: scratch */
    loss_totals *part;
} adding;

/* The task on some of its rows. */
static mc_loss_task rows_of_task(const mc_loss_task *t, int64_t begin, int64_t end) {
    mc_loss_task part = *t;
    part.n = end - begin;
    part.y += begin;
    part.cost += begin;
    part.place = t->place ? t->place + begin : NULL;
    part.alpha += begin * t->k;
    part.f += begin * t->k;
    return part;
}

/* Entries begin .. end - 1, RUN at most. */
static void add_run(const mc_loss_task *t, int64_t begin, int64_t end, const double *g, loss_totals *sums) {
    double energy = 0, slopes = 0, bends = 0, mass = 0, sizes = 0, lost = 0, gains = 0;
    int64_t row = begin / t->k, column = begin % t->k;
    for (int64_t i = begin; i < end; i++) {
        const double slope = t->loss->smooth ? g[i] : t->cost[row] * steepest_slope(t, row), a = fabs(t->alpha[i]);
        energy += t->alpha[i] * t->f[i];
        slopes += fabs(slope);
        bends += t->loss->smooth ? t->cost[row] : 0;
        mass += a;
        sizes += a * fabs(t->f[i]);
        lost += fabs(slope * (t->f[i] + t->b[column]));
        gains += t->lambda * a * (t->k > 1 ? 1 : fabs(t->y[row])) * steepness_of_conjugate(t, row, a);
        row += ++column == t->k;
        column = column == t->k ? 0 : column;
    }
    sums->energy += energy;
    sums->slopes += slopes;
    sums->bends += bends;
    sums->mass += mass;
    sums->sizes += sizes;
    sums->lost += lost;
    sums->gains += gains;
}

static void add_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const adding *a = arg;
    const mc_loss_task part = rows_of_task(a->t, begin, end);
    double *g = a->g + begin * part.k;
    loss_totals sums = {.loss = mc_loss_sum(&part, part.f, part.b), .conjugate = mc_loss_conjugate(&part, part.alpha)};
    if (part.loss->smooth)
        mc_loss_derivatives(&part, false, g, a->root + begin * part.k);
    for (int64_t i = 0; i < part.n * part.k; i += RUN)
        add_run(&part, i, i + RUN < part.n * part.k ? i + RUN : part.n * part.k, g, &sums);
    a->part[chunk] = sums;
}

static mercer_status add_all_rows(mercer_ctx *ctx, const mc_loss_task *t, double *g, double *root, loss_totals *all) {
    loss_totals part[CHUNKS + 1];
    adding a = {t, g, root, part};
    const int64_t least = LEAST / t->k + 1, even = t->n / CHUNKS + 1,
                  rows = t->own         ? t->n
                         : least > even ? least
                                        : even;
    MC_TRY(mc_for(ctx, t->n, rows, add_rows, &a));
    *all = part[0];
    for (int64_t c = 1; c < mc_chunk_count(t->n, rows); c++) {
        all->energy += part[c].energy;
        all->slopes += part[c].slopes;
        all->bends += part[c].bends;
        all->mass += part[c].mass;
        all->sizes += part[c].sizes;
        all->lost += part[c].lost;
        all->gains += part[c].gains;
        all->loss += part[c].loss;
        all->conjugate += part[c].conjugate;
    }
    return MERCER_OK;
}

/* g and root are scratch of n x k each, room of k x (k + 2). */
static mercer_status measure_loss_gap(mercer_ctx *ctx, const mc_loss_task *t, const evaluation *by, double reach,
                                      double *g, double *root, double *room, mc_loss_findings *out) {
    const double unit = (double)(24 + t->k) * DBL_EPSILON; /* sums over the classes of a row round k times, runs RUN */
    loss_totals s;
    MC_TRY(add_all_rows(ctx, t, g, root, &s));
    const double loss = (double)s.loss, conjugate = (double)s.conjugate;
    const double each = by->extended ? by->doubt : 1.01 * mc_product_doubt(by->error, (double)s.mass, reach);
    const double half = (double)(s.mass * each / 2 + unit / 2 * s.sizes);
    out->square_norm = (double)s.energy;
    out->square_error = 2 * half;
    out->primal = (double)(loss + t->lambda / 2 * s.energy);
    out->dual = mc_loss_is_feasible(t, t->alpha) ? (double)(-conjugate - t->lambda / 2 * s.energy) : -INFINITY;
    out->primal_rounding = (double)(t->lambda * half + s.slopes * each + s.bends * each * each
                                    + unit * (fabs(loss) + fabs(out->primal) + s.lost));
    out->rounding =
        out->primal_rounding
        + (double)(t->lambda * half + unit * (fabs(conjugate) + t->lambda * fabsl(s.energy) + s.gains + s.lost));
    out->rounding += infeasibility_bound(t, out, reach);
    out->zero = objective_of_zero(t, g);
    out->reach = reach;
    out->each = each;
    out->distance = sqrt((fmax(0, out->primal - out->dual) + out->rounding) / t->lambda);
    out->intercept = bound_intercept(t, out, root, room);
    return MERCER_OK;
}

/* The products again from long doubles, where these know the kernel. */
static mercer_status look_twice(mercer_ctx *ctx, const mc_problem *p, int64_t width, const double *A, double *KA,
                                evaluation *by) {
    mc_extended_product again;
    MC_TRY(mc_extended_product_open(ctx, p->kernel, p->x, width, A, &again));
    by->extended = again.known;
    for (int64_t i = 0; i < p->n * width && again.known; i++) {
        KA[i] = (double)again.value[i];
        by->doubt = fmax(by->doubt, again.error[i] + DBL_EPSILON * fabs(KA[i]));
    }
    mc_extended_product_close(&again);
    return MERCER_OK;
}

/* ---- The products ---- */

/* KA <- K A from the tiles, the largest k(x, x), and how wrong the former can be. */
static mercer_status multiply_tiles(mercer_ctx *ctx, const mc_problem *p, int64_t width, const double *A, double *KA,
                                    double *reach, evaluation *by) {
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F64, &gram));
    mc_gram_raise_error(gram, width, &by->error);
    mercer_status status = mc_gram_diagonal(ctx, gram, KA);
    for (int64_t i = 0; i < p->n && !status; i++)
        *reach = fmax(*reach, KA[i]);
    MC_THEN(status, mc_gram_apply(ctx, gram, width, A, KA));
    mc_gram_close(gram);
    if (!status && !(by->error.entry <= VAGUE * *reach) && mc_extended_pays(ctx, p->kernel, p->x, width))
        status = look_twice(ctx, p, width, A, KA, by);
    return status;
}

/* What a value of <w, phi(x)> is wrong by over |phi(x)|, w summed up from the coefficients of a column: the rounding of
   w, gamma of its sums times the sum of |a_j| |phi_j|, and that of the product, gamma_D |w|. diagonal: k(x, x) of the
   rows. */
static double doubt_of_weights(const mc_feature_products *z, int64_t width, const double *A, const double *W,
                               const double *diagonal) {
    const double u = 1.01 * DBL_EPSILON / 2, mapped = z->map ? u * mc_features_rounding(z->map) : 0;
    double most = 0;
    for (int64_t k = 0; k < width; k++) {
        long double mass = 0, square = 0;
        for (int64_t i = 0; i < z->n; i++)
            mass += fabs(A[i * width + k]) * sqrt(fmax(diagonal[i], 0));
        for (int64_t j = 0; j < z->D; j++)
            square += (long double)W[k * z->D + j] * W[k * z->D + j];
        const double sums = (double)(mc_feature_project_depth(z, width) + 4) * u + mapped;
        most = fmax(most, sums * (double)mass + ((double)(z->D + 4) * u + mapped) * (double)sqrtl(square));
    }
    return most;
}

/* The same from explicit features: Z'A and Z times that. */
static mercer_status multiply_features(mercer_ctx *ctx, const mc_problem *p, int64_t width, const double *A, double *KA,
                                       double *reach, evaluation *by) {
    mc_feature_products z;
    double *W = NULL;
    MC_TRY(mc_feature_products_open(ctx, p->kernel, p->x, false, &z));
    mercer_status status = MC_ALLOC(ctx, W, width * z.D);
    MC_THEN(status, z.map ? mc_kernel_diagonal(ctx, p->kernel, p->x, KA) : mc_feature_squares(ctx, &z, KA));
    MC_THEN(status, mc_feature_project(ctx, &z, width, A, W));
    for (int64_t i = 0; i < p->n && !status; i++)
        *reach = fmax(*reach, KA[i]);
    by->extended = true;
    by->doubt = status ? 0 : sqrt(*reach) * doubt_of_weights(&z, width, A, W, KA);
    MC_THEN(status, mc_feature_expand(ctx, &z, width, W, KA));
    mc_free(W);
    mc_feature_products_close(&z);
    return status;
}

static mercer_status certify_tasks(mercer_ctx *ctx, const mc_problem *p, mc_loss_task *tasks, int64_t count,
                                   int64_t width, double *A, double *KA, double *room, mc_loss_findings *out) {
    double reach = 0;
    evaluation by = {0};
    gather_coefficients(tasks, count, p->n, width, A);
    MC_TRY((mc_problem_features(p, p->n) > 0 ? multiply_features : multiply_tiles)(ctx, p, width, A, KA, &reach, &by));
    scatter_products(tasks, count, p->n, width, KA);
    for (int64_t j = 0; j < count; j++)
        MC_TRY(measure_loss_gap(ctx, &tasks[j], &by, reach, A, KA, room, &out[j]));
    return MERCER_OK;
}

mercer_status mc_loss_certify(mercer_ctx *ctx, const mc_problem *p, mc_loss_task *tasks, int64_t count,
                              mc_loss_findings *out) {
    const int64_t k = tasks[0].k, width = k * count;
    mc_work work;
    mc_begin_phase(ctx, "check");
    double *A = NULL, *KA = NULL, *room = NULL;
    MC_TRY(
        MC_WORK_SLICES(ctx, &work, MC_SLICE(A, p->n * width), MC_SLICE(KA, p->n * width), MC_SLICE(room, k * (k + 2))));
    const mercer_status status = certify_tasks(ctx, p, tasks, count, width, A, KA, room, out);
    mc_work_close(&work);
    return status;
}

/* Without a conjugate of the caller's own the dual side is found by search, and the gap no proof. */
static const char *kind_of(const mercer_own_loss *own) {
    return own && !own->conjugate ? "numerical gap" : "gap";
}

void mc_loss_report(const mc_loss_task *tasks, int64_t count, const mc_loss_findings *all, mercer_report *r) {
    mercer_certificate *c = &r->certificate;
    double norm2 = 0, error = 0, zero = 0, raised = 0;
    *c = mc_certificate_blank(kind_of(tasks[0].own));
    c->primal = c->dual = c->rounding = c->prediction_error_bound = c->prediction_error_constant =
        c->prediction_error_slope = 0;
    for (const mc_loss_findings *found = all; found < all + count; found++) {
        c->primal += found->primal;
        c->dual += found->dual;
        c->rounding += found->rounding;
        raised += found->primal_rounding;
        norm2 += found->square_norm;
        error += found->square_error;
        zero += found->zero;
        c->prediction_error_slope = fmax(c->prediction_error_slope, found->distance);
        c->prediction_error_constant = fmax(c->prediction_error_constant, found->intercept);
        c->prediction_error_bound =
            fmax(c->prediction_error_bound, found->intercept + found->distance * sqrt(found->reach) + found->each);
    }
    r->objective = c->primal;
    r->norm = mc_certified_norm(norm2, error);
    mc_certify_gap(c, raised, zero);
    c->objective_gap = c->gap;
    c->distance = sqrt(c->objective_gap / tasks[0].lambda);
}
