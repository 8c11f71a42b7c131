/* svm_certificate.c: how good a solution is, from the rows and the coefficients alone. The decisions of training rows
   are computed anew in double precision through the support vectors, as a prediction would; nothing is taken from the
   solver but the multipliers themselves, and, where it has bounds on the error of its f, the proof that a row does not
   matter (svm_screen.c).

   With f + b those decisions, |f|^2 = sum of coefficients times f, and C_i the bound of row i:

       svc, nu-svc (C_i times its unit)   primal 1/2 |f|^2 + sum C_i max(0, 1 - y (f + b))            dual sum alpha -
       1/2 |f|^2
       svr, nu-svr                        primal 1/2 |f|^2 + sum C_i max(0, |y - f - b| - epsilon)    dual sum y c -
       epsilon |c| - 1/2 |f|^2
       one-class                          primal 1/2 |f|^2 + sum C_i max(0, -f - b) + b nu W           dual -1/2 |f|^2

   A hard margin has no loss: f is feasible once it is divided by the smallest margin m = min y (f + b), and the primal
   is |f|^2 / (2 m^2).

   The multipliers are feasible, so dual <= optimum <= primal in exact arithmetic. rounding bounds what the evaluation
   itself can be wrong by: every f is right to within what the operator says of its products (mc_product_doubt), where
   no |k| of a kernel is above the largest k(x, x), and the terms have slopes of at most |c_i| / 2 in it, those of the
   primal C_i more, of the rows whose true loss may be above 0; what the terms are made of is right to a few units. The
   report raises the primal and lowers the dual by that: they hold as they stand. The sum of the coefficients, which is
   to be the same for all b, is off by a rounding: that times a bound on |b*| comes on top. Some b* makes a row's loss
   bend, so it is no larger than 1, |y| + epsilon or 0 and the largest |f*| <= sqrt(2 k(x,x) P), P the primal or, of
   one-class, less the dual. */
#include "certify/svm_certificate.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "certify/certificate.h"
#include "certify/ridge_certificate.h"
#include "data/table/data.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 4096, VALUES = 1 << 23 }; /* rows decided at once, and decisions: pairs of many classes are very many */

/* The decisions of rows begin .. end-1, each to the tasks that contain the row. */
static void scatter_decisions(mc_svm *s, int64_t begin, int64_t end, const double *values) {
    for (int64_t k = 0; k < s->tasks; k++) {
        mc_svm_program *t = &s->task[k];
        const int64_t parts = t->b < 0 ? 1 : 2;
        for (int64_t part = 0; part < parts; part++) {
            const int64_t c = part ? t->b : t->a, from = t->b < 0 ? 0 : s->start[c],
                          to = t->b < 0 ? s->p.n : s->start[c + 1];
            const int64_t shift = part ? t->split : 0;
            for (int64_t i = begin > from ? begin : from; i < (end < to ? end : to); i++)
                t->f[shift + i - from] = values[(i - begin) * s->tasks + k] / t->unit;
        }
    }
}

static mercer_status decide_block(mercer_ctx *ctx, mc_svm *s, const mc_fitted *f, int64_t begin, int64_t end,
                                  double *values, mc_product_error *error) {
    mercer_data *block = NULL;
    MC_TRY(mc_data_range(ctx, s->p.x, begin, end, &block));
    const mercer_status status = mc_fitted_decide(ctx, f, block, values, error);
    mercer_data_free(block);
    if (!status)
        scatter_decisions(s, begin, end, values);
    return status;
}

/* Without intercepts: a large one, added and taken off again, would leave nothing of f, and those of a checkpoint are
   not believed. */
static mercer_status decide_all(mercer_ctx *ctx, mc_svm *s, mc_fitted *f, mc_product_error *error) {
    const int64_t n = s->p.n;
    memset(f->intercept, 0, (size_t)s->tasks * sizeof *f->intercept);
    int64_t most = n < BLOCK ? n : BLOCK;
    while (most > 1 && most * s->tasks > VALUES)
        most /= 2;
    double *values = NULL;
    MC_TRY(MC_ALLOC(ctx, values, most * s->tasks));
    mercer_status status = MERCER_OK;
    for (int64_t begin = 0; begin < n && !status; begin += most)
        status = decide_block(ctx, s, f, begin, begin + most < n ? begin + most : n, values, error);
    mc_free(values);
    return status;
}

/* What one row adds to the loss, without its C; below 0 it adds nothing. */
static double loss_of(const mc_svm *s, const mc_svm_program *t, int64_t i, double value) {
    if (s->variant->classes)
        return 1 - mc_svm_program_sign(s, t, i) * value;
    if (s->variant->doubled)
        return fabs(s->p.Y[i * s->p.outputs + t->output] - value) - t->epsilon;
    return -value;
}

/* What one coefficient adds to the dual, linearly. */
static double gain_of(const mc_svm *s, const mc_svm_program *t, int64_t i, double c) {
    if (s->variant->classes)
        return fabs(c);
    return s->variant->doubled ? s->p.Y[i * s->p.outputs + t->output] * c - t->epsilon * fabs(c) : 0;
}

static void count_vectors(const mc_svm *s, mc_svm_program *t) {
    t->free = t->bounded = 0;
    for (int64_t v = 0; v < t->m; v++) {
        const double size = fabs(t->beta[v]), bound = mc_svm_program_bound(s, t, v % t->n);
        t->bounded += size > 0 && size >= bound;
        t->free += size > 0 && size < bound;
    }
}

/* What the sum of the coefficients, 0 or nu W but for a rounding, can have moved the dual by. */
static double off_balance(const mc_svm *s, const mc_svm_program *t, double sum, double weight, double bend) {
    const double off = fabs(s->kind == MC_ONE_CLASS ? sum - s->set->nu * weight : sum);
    return off > 0 ? off * (bend + sqrt(2 * fmax(t->primal, -t->dual) * mc_svm_program_top(s, t))) : 0;
}

/* What the certificate adds up over the rows of a task. */
typedef struct svm_totals {
    long double norm2, loss, gain, weight, sum, zero; /* zero: the loss of f = 0 */
    long double mass, steep;        /* slopes in f: of the norm, and of the losses of the rows that count */
    long double gains, sizes, lost; /* what the terms of the gain, of the norm and of these losses are made of */
    double margin, doubt, bend;     /* doubt: of the margin */
} svm_totals;

static void add_row(const mc_svm *s, const mc_svm_program *t, int64_t i, svm_totals *all) {
    const double scale = s->kind == MC_NU_SVC ? t->unit : 1, c = mc_svm_program_coefficient(t, i),
                 bound = mc_svm_program_bound(s, t, i) * scale, f = t->unit * t->f[i],
                 bend = mc_svm_program_bend(s, t, i);
    const double lost = loss_of(s, t, i, f + t->intercept), terms = bend + fabs(f) + fabs(t->intercept);
    const double error = t->unit * fmax(t->certified.error, t->error ? t->error[i] : 0),
                 steep = isfinite(bound) ? bound : 0;
    const bool counts = lost > -error - 8 * DBL_EPSILON * terms; /* the true loss may be above 0 */
    all->norm2 += (long double)c * f;
    all->loss += (long double)steep * fmax(lost, 0);
    if (!isfinite(bound)) {
        all->margin = fmin(all->margin, mc_svm_program_sign(s, t, i) * (f + t->intercept));
        all->doubt = fmax(all->doubt, error + 8 * DBL_EPSILON * terms);
    }
    all->gain += gain_of(s, t, i, c);
    all->sum += c;
    all->weight += bound;
    all->mass += fabs(c);
    all->gains += fabs(c) * bend;
    all->sizes += fabs(c * f);
    all->steep += counts ? steep : 0;
    all->lost += counts ? steep * terms : 0;
    all->bend = fmax(all->bend, bend);
    all->zero += (long double)steep * fmax(loss_of(s, t, i, 0), 0);
}

/* What a computed f can be wrong by, in the unit of the multipliers. */
static double error_of(const mc_svm *s, const mc_svm_program *t, mc_product_error error) {
    long double mass = 0, reach = 0;
    for (int64_t i = 0; i < t->n; i++) {
        mass += fabs(mc_svm_program_coefficient(t, i));
        reach = fmaxl(reach, fabs(t->unit * t->f[i]));
    }
    error.sum += DBL_EPSILON; /* the two classes of a pair are added */
    const double made = mc_product_doubt(error, (double)mass, mc_svm_program_top(s, t));
    return (1.01 * made + 8 * DBL_EPSILON * (double)reach) / t->unit;
}

/* A hard margin is as wide as the nearest row is far, to within what its f can be wrong by. */
static double hard_primal(const mc_svm_program *t, double margin, double error) {
    return margin > 0 ? (t->norm2 + error) / (2 * margin * margin) : INFINITY;
}

/* What the values of a task can be wrong by; those of all tasks are added up. */
static void bound_rounding(const mc_svm *s, mc_svm_program *t, const svm_totals *all, double extra) {
    const double error = t->unit * t->certified.error, u = DBL_EPSILON * (double)s->tasks;
    const double half = (double)(all->mass * error / 2 + 4 * DBL_EPSILON * all->sizes);
    const double dual = half + 8 * DBL_EPSILON * (double)all->gains + u * fabs(t->dual)
                        + off_balance(s, t, (double)all->sum, (double)all->weight, all->bend);
    t->norm2_rounding = 2 * half;
    t->primal_rounding =
        half + (double)(all->steep * error + 8 * DBL_EPSILON * all->lost) + u * (fabs(t->primal) + fabs(extra));
    if (isfinite(all->margin) && isfinite(t->primal))
        t->primal_rounding = hard_primal(t, all->margin - all->doubt, 2 * half) * (1 + 8 * u) - t->primal * (1 - u);
    t->rounding = t->primal_rounding + dual;
}

static void measure_svm_gap(const mc_svm *s, mc_svm_program *t, mc_product_error error) {
    svm_totals all = {.margin = INFINITY};
    t->certified.error = fmax(t->certified.error, error_of(s, t, error));
    for (int64_t i = 0; i < t->n; i++)
        add_row(s, t, i, &all);
    const double extra = s->kind == MC_ONE_CLASS ? (double)(t->intercept * s->set->nu * all.weight) : 0;
    t->norm2 = (double)all.norm2;
    t->primal = (double)(all.norm2 / 2 + all.loss) + extra;
    if (isfinite(all.margin))
        t->primal = hard_primal(t, all.margin, 0);
    t->dual = (double)(all.gain - all.norm2 / 2);
    t->zero = (double)all.zero;
    bound_rounding(s, t, &all, extra);
    t->certified_error = 2 * t->certified.error;
}

/* The numbers of a task from its f. */
static void conclude_program(const mc_svm *s, mc_svm_program *t, const mc_smo_result *found, mc_product_error error) {
    const double unit = t->unit; /* the coefficients of nu-svc are written in it */
    mc_svm_program_finish(s, t, found->intercept);
    t->intercept *= unit / t->unit;
    t->unit = unit;
    t->violation = found->violation * t->unit;
    count_vectors(s, t);
    measure_svm_gap(s, t, error);
    mc_svm_program_bound_decision(s, t);
}

/* *screened: f is that of the solver, and computed here where that is not enough. It becomes false where it would have
   to be computed everywhere. */
static mercer_status certify_program(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, mc_product_error error,
                                     bool *screened) {
    mc_quadratic_program program;
    MC_TRY(mc_quadratic_program_open(ctx, s, t, &program));
    mc_smo_result found = {0};
    const bool screening = *screened;
    const mercer_status status =
        screening ? mc_svm_program_screen(ctx, s, t, &program.dual, &error, screened) : MERCER_OK;
    if (!status) {
        mc_dual_optimality(&program.dual, t->beta, t->f, &found);
        *screened = *screened && mc_svm_program_screened(s, t, &program.dual, found.intercept);
    }
    mc_quadratic_program_close(&program);
    if (status || *screened != screening)
        return status;
    conclude_program(s, t, &found, error);
    return s->path && t->error ? mc_svm_program_remember(ctx, t) : MERCER_OK;
}

static mercer_status certify_all(mercer_ctx *ctx, mc_svm *s, mc_fitted *f, mc_product_error error, bool *screened) {
    const bool screening = *screened;
    for (int64_t k = 0; k < s->tasks && *screened == screening; k++) {
        MC_TRY(certify_program(ctx, s, &s->task[k], error, screened));
        f->intercept[k] = s->task[k].intercept;
        f->box[2 * k + 1] = s->task[k].epsilon;
    }
    return MERCER_OK;
}

/* ---- Many of them at once, from an f that is known everywhere ---- */

typedef struct many {
    const mc_svm *s;
    mc_fitted *f;
    mc_product_error error;
    char *space; /* of each thread */
    size_t share;
} many;

static void certify_one(void *arg, int64_t k, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const many *a = arg;
    mc_svm_program *t = &a->s->task[k];
    mc_work work = {.block = a->space + (size_t)thread * a->share, .size = a->share};
    mc_quadratic_program program;
    mc_smo_result found = {0};
    mc_quadratic_program_lay_out(&work, t->m, &program);
    mc_quadratic_program_write(a->s, t, &program);
    mc_dual_optimality(&program.dual, t->beta, t->f, &found);
    conclude_program(a->s, t, &found, a->error);
    a->f->intercept[k] = t->intercept;
    a->f->box[2 * k + 1] = t->epsilon;
}

static mercer_status certify_at_once(mercer_ctx *ctx, mc_svm *s, mc_fitted *f, mc_product_error error) {
    many all = {.s = s, .f = f, .error = error};
    int64_t m = 0;
    for (int64_t k = 0; k < s->tasks; k++)
        m = s->task[k].m > m ? s->task[k].m : m;
    all.share = mc_quadratic_program_bytes(m);
    all.space = mc_alloc_unset(ctx, mc_for_threads(ctx, s->tasks), all.share);
    const mercer_status status = all.space ? mc_for(ctx, s->tasks, 1, certify_one, &all) : MERCER_MEMORY;
    mc_free(all.space);
    return status;
}

mercer_status mc_svm_certify(mercer_ctx *ctx, mc_svm *s, mc_fitted *f) {
    mc_product_error error = {0};
    bool screened = mc_svm_screens(s);
    if (screened)
        MC_TRY(certify_all(ctx, s, f, error, &screened));
    if (screened)
        return MERCER_OK;
    MC_TRY(s->kept.gram ? mc_svm_decide_kept(ctx, s, &error) : decide_all(ctx, s, f, &error));
    for (int64_t k = 0; k < s->tasks; k++) {
        s->task[k].certified.error = 0;
        if (s->task[k].error)
            memset(s->task[k].error, 0, (size_t)s->task[k].n * sizeof(double));
    }
    return s->path ? certify_all(ctx, s, f, error, &screened) : certify_at_once(ctx, s, f, error);
}

void mc_svm_report(const mc_svm *s, mercer_report *out) {
    mercer_certificate *c = &out->certificate;
    double norm2 = 0, error = 0, zero = 0, apart = 0, raised = 0;
    *c = mc_certificate_blank("gap");
    c->primal = c->dual = c->rounding = c->kkt_violation = 0;
    c->prediction_error_bound = c->prediction_error_constant = c->prediction_error_slope = 0;
    for (int64_t k = 0; k < s->tasks; k++) {
        const mc_svm_program *t = &s->task[k];
        c->primal += t->primal;
        c->dual += t->dual;
        c->rounding += t->rounding;
        c->kkt_violation = fmax(c->kkt_violation, t->violation);
        c->prediction_error_slope = fmax(c->prediction_error_slope, t->distance);
        c->prediction_error_constant = fmax(c->prediction_error_constant, t->intercept_error);
        c->prediction_error_bound =
            fmax(c->prediction_error_bound,
                 t->intercept_error + t->distance * sqrt(mc_svm_program_top(s, t)) + t->unit * t->certified.error);
        raised += t->primal_rounding;
        norm2 += t->norm2;
        error += t->norm2_rounding;
        zero += t->zero;
        apart += t->distance * t->distance;
        out->iterations += t->result.steps;
        out->free_vectors += t->free;
        out->bounded_vectors += t->bounded;
        out->nearest_nu += t->nu > 0;
    }
    out->objective = c->primal;
    out->norm = mc_certified_norm(norm2, error);
    mc_certify_gap(c, raised, zero);
    c->objective_gap = s->p.proved ? c->gap : INFINITY;
    c->distance = isfinite(apart) ? sqrt(apart) : NAN;
}
