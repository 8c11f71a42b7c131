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
   itself can be wrong by: with e the error of one kernel value, every f is right to within e sum |c| + gamma sum |c|
   |k|, where no |k| of a kernel is above the largest k(x, x), and every term of the gap has slope at most |c_i| + C_i
   in it. The sum of the coefficients, which is to be the same for all b, is off by a rounding: that times a bound on
   |b*| comes on top. Some b* makes a row's loss bend, so it is no larger than 1, |y| + epsilon or 0 and the largest
   |f*| <= sqrt(2 k(x,x) P), P the primal or, of one-class, less the dual. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/ridge/certificate.h"
#include "learn/svm/svm.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 4096, VALUES = 1 << 23 }; /* rows decided at once, and decisions: pairs of many classes are very many */

/* The decisions of rows begin .. end-1, each to the tasks that contain the row. */
static void scatter(mc_svm *s, int64_t begin, int64_t end, const double *values) {
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
                                  double *values, double *entry) {
    mercer_data *block = NULL;
    MC_TRY(mc_data_range(ctx, s->p.x, begin, end, &block));
    const mercer_status status = mc_fitted_decide(ctx, f, block, values, entry);
    mercer_data_free(block);
    if (!status)
        scatter(s, begin, end, values);
    return status;
}

/* Without intercepts: a large one, added and taken off again, would leave nothing of f, and those of a checkpoint are
   not believed. */
static mercer_status decide_all(mercer_ctx *ctx, mc_svm *s, mc_fitted *f, double *entry) {
    const int64_t n = s->p.n;
    memset(f->intercept, 0, (size_t)s->tasks * sizeof *f->intercept);
    int64_t most = n < BLOCK ? n : BLOCK;
    while (most > 1 && most * s->tasks > VALUES)
        most /= 2;
    double *values = NULL;
    MC_TRY(MC_ALLOC(ctx, values, most * s->tasks));
    mercer_status status = MERCER_OK;
    for (int64_t begin = 0; begin < n && !status; begin += most)
        status = decide_block(ctx, s, f, begin, begin + most < n ? begin + most : n, values, entry);
    mc_free(values);
    return status;
}

/* What one row adds to the loss, without its C. */
static double loss_of(const mc_svm *s, const mc_svm_program *t, int64_t i, double value) {
    if (s->row->classes)
        return fmax(0, 1 - mc_svm_program_sign(s, t, i) * value);
    if (s->row->doubled)
        return fmax(0, fabs(s->p.Y[i * s->p.outputs + t->output] - value) - t->epsilon);
    return fmax(0, -value);
}

/* What one coefficient adds to the dual, linearly. */
static double gain_of(const mc_svm *s, const mc_svm_program *t, int64_t i, double c) {
    if (s->row->classes)
        return fabs(c);
    return s->row->doubled ? s->p.Y[i * s->p.outputs + t->output] * c - t->epsilon * fabs(c) : 0;
}

static void count_vectors(const mc_svm *s, mc_svm_program *t) {
    t->free = t->bounded = 0;
    for (int64_t v = 0; v < t->m; v++) {
        const double size = fabs(t->beta[v]), bound = mc_svm_program_bound(s, t, v % t->n);
        t->bounded += size > 0 && size >= bound;
        t->free += size > 0 && size < bound;
    }
}

/* The loss bends where y (f + b) = 1, |y - f - b| = epsilon or f + b = 0: the largest |f + b| there. */
static double bend_of(const mc_svm *s, const mc_svm_program *t, int64_t i) {
    return s->row->classes ? 1 : s->row->doubled ? fabs(s->p.Y[i * s->p.outputs + t->output]) + t->epsilon : 0;
}

/* What the sum of the coefficients, 0 or nu W but for a rounding, can have moved the dual by. */
static double off_balance(const mc_svm *s, const mc_svm_program *t, double sum, double weight, double bend) {
    const double off = fabs(s->kind == MC_ONE_CLASS ? sum - s->set->nu * weight : sum);
    return off > 0 ? off * (bend + sqrt(2 * fmax(t->primal, -t->dual) * mc_svm_program_top(s, t))) : 0;
}

static void measure(const mc_svm *s, mc_svm_program *t, double entry) {
    const double scale = s->kind == MC_NU_SVC ? t->unit : 1;
    long double norm2 = 0, loss = 0, gain = 0, mass = 0, slopes = 0, weight = 0, reach = 0, sum = 0, zero = 0;
    double margin = INFINITY, bend = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const double c = mc_svm_program_coefficient(t, i), bound = mc_svm_program_bound(s, t, i) * scale,
                     f = t->unit * t->f[i];
        const double lost = loss_of(s, t, i, f + t->intercept);
        norm2 += (long double)c * f;
        loss += isfinite(bound) ? (long double)bound * lost : 0;
        margin = isfinite(bound) ? margin : fmin(margin, mc_svm_program_sign(s, t, i) * (f + t->intercept));
        gain += gain_of(s, t, i, c);
        mass += fabs(c);
        sum += c;
        weight += bound;
        slopes += fabs(c) + (lost > 0 && isfinite(bound) ? bound : 0);
        reach = fmaxl(reach, fabs(f));
        bend = fmax(bend, bend_of(s, t, i));
        zero += isfinite(bound) ? (long double)bound * loss_of(s, t, i, 0) : 0;
    }
    t->norm2 = (double)norm2;
    t->primal = (double)(norm2 / 2 + loss);
    if (isfinite(margin))
        t->primal = margin > 0 ? t->norm2 / (2 * margin * margin) : INFINITY;
    if (s->kind == MC_ONE_CLASS)
        t->primal += (double)(t->intercept * s->set->nu * weight);
    t->dual = (double)(gain - norm2 / 2);
    const long double gamma = (long double)t->n * DBL_EPSILON,
                      each = entry * mass + gamma * (mass * mc_svm_program_top(s, t) + reach);
    t->seen.error = fmax(t->seen.error, (double)(each / t->unit));
    t->zero = (double)zero;
    t->rounding = (double)(slopes * t->unit * t->seen.error) + off_balance(s, t, (double)sum, (double)weight, bend);
    t->own = 2 * t->seen.error;
}

/* The numbers of a task from its f. */
static void conclude(const mc_svm *s, mc_svm_program *t, const mc_smo_result *found, double entry) {
    const double unit = t->unit; /* the coefficients of nu-svc are written in it */
    mc_svm_program_finish(s, t, found->intercept);
    t->intercept *= unit / t->unit;
    t->unit = unit;
    t->violation = found->violation * t->unit;
    count_vectors(s, t);
    measure(s, t, entry);
}

/* *screened: f is that of the solver, and computed here where that is not enough. It becomes false where it would have
   to be computed everywhere. */
static mercer_status judge(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, double entry, bool *screened) {
    mc_quadratic_program programme;
    MC_TRY(mc_quadratic_program_open(ctx, s, t, &programme));
    mc_smo_result found = {0};
    const bool screening = *screened;
    const mercer_status status =
        screening ? mc_svm_program_screen(ctx, s, t, &programme.dual, &entry, screened) : MERCER_OK;
    if (!status) {
        mc_dual_judge(&programme.dual, t->beta, t->f, &found);
        *screened = *screened && mc_svm_program_screened(s, t, &programme.dual, found.intercept);
    }
    mc_quadratic_program_close(&programme);
    if (status || *screened != screening)
        return status;
    conclude(s, t, &found, entry);
    return s->path && t->error ? mc_svm_program_remember(ctx, t) : MERCER_OK;
}

static mercer_status judge_all(mercer_ctx *ctx, mc_svm *s, mc_fitted *f, double entry, bool *screened) {
    const bool screening = *screened;
    for (int64_t k = 0; k < s->tasks && *screened == screening; k++) {
        MC_TRY(judge(ctx, s, &s->task[k], entry, screened));
        f->intercept[k] = s->task[k].intercept;
        f->box[2 * k + 1] = s->task[k].epsilon;
    }
    return MERCER_OK;
}

mercer_status mc_svm_certify(mercer_ctx *ctx, mc_svm *s, mc_fitted *f) {
    double entry = 0;
    bool screened = mc_svm_screens(s);
    if (screened)
        MC_TRY(judge_all(ctx, s, f, entry, &screened));
    if (screened)
        return MERCER_OK;
    MC_TRY(decide_all(ctx, s, f, &entry));
    for (int64_t k = 0; k < s->tasks; k++) {
        s->task[k].seen.error = 0;
        if (s->task[k].error)
            memset(s->task[k].error, 0, (size_t)s->task[k].n * sizeof(double));
    }
    return judge_all(ctx, s, f, entry, &screened);
}

void mc_svm_report(const mc_svm *s, mercer_report *out) {
    mercer_certificate *c = &out->certificate;
    double norm2 = 0, zero = 0;
    *c = (mercer_certificate){.kind = "gap", .residual_relative = NAN, .residual = NAN, .prediction_error_bound = NAN};
    for (int64_t k = 0; k < s->tasks; k++) {
        const mc_svm_program *t = &s->task[k];
        c->primal += t->primal;
        c->dual += t->dual;
        c->rounding += t->rounding;
        c->kkt_violation = fmax(c->kkt_violation, t->violation);
        norm2 += t->norm2;
        zero += t->zero;
        out->iterations += t->result.steps;
        out->free_vectors += t->free;
        out->bounded_vectors += t->bounded;
    }
    mc_certify_gap(c, zero);
    c->objective_gap = s->p.proved ? c->gap : INFINITY;
    /* Primal and dual each lie at least |f - f*|^2/2 from the optimum. The forms with nu are rescaled after they are
       solved. */
    c->distance = s->p.proved && (s->kind == MC_SVC || s->kind == MC_SVR) ? sqrt(c->objective_gap) : NAN;
    out->objective = c->primal;
    out->norm = sqrt(fmax(norm2, 0));
}
