/* svm_dual.c: a machine as quadratic programs and back. Variable t of sign s has multiplier beta in [0, bound] (s = 1)
   or [-bound, 0] (s = -1) and adds beta q to the objective 1/2 beta' K beta:

                   variables        q                bound  sums kept    from the multipliers b0, b1 of the sums
       svc         y_i alpha_i      -y_i             C_i    0            b = b0
       nu-svc      y_i alpha_i      0                w_i    +- nu W/2    r = (b1 - b0)/2, b = (b0 + b1)/2, both over r
       svr         alpha, -alpha*   -y_i +- epsilon  C_i    0            b = b0
       nu-svr      alpha, -alpha*   -y_i             C_i    +- C nu W/2  b = (b0 + b1)/2, epsilon = (b0 - b1)/2
       one-class   alpha_i          0                w_i    nu W         b = b0

   w_i is the row's weight times that of its class, C_i = C w_i, W the sum of w over the quadratic program. The function
   of nu-svc is f / r: then its margin is 1 and it solves svc with C = 1/r. Schoelkopf, Smola, Williamson and Bartlett
   (2000); Chang and Lin (2011). */
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "problem/svm_problem.h"
#include <float.h>
#include <math.h>

const mc_svm_variant mc_svm_variants[MC_SVM_KINDS] = {
    [MC_SVC] = {.name = "svc", .classes = true, .has_C = true},
    [MC_NU_SVC] = {.name = "nu-svc", .classes = true, .grouped = true},
    [MC_SVR] = {.name = "svr", .doubled = true, .has_C = true},
    [MC_NU_SVR] = {.name = "nu-svr", .doubled = true, .grouped = true, .has_C = true},
    [MC_ONE_CLASS] = {.name = "one-class"},
};

const char *mc_svm_program_second(const mc_svm *s, const mc_svm_program *t) {
    return t->b < 0 ? "the rest" : s->p.x->label[t->b];
}

/* ---- The list ---- */

static mercer_status open_task(mercer_ctx *ctx, const mc_svm *s, int64_t a, int64_t b, int64_t output,
                               mc_svm_program *t) {
    const int64_t first = b < 0 ? s->p.n : s->start[a + 1] - s->start[a];
    *t = (mc_svm_program){.a = a, .b = b, .output = output, .split = first, .tolerance = s->set->tolerance, .unit = 1};
    t->n = b < 0 ? s->p.n : first + s->start[b + 1] - s->start[b];
    t->m = s->variant->doubled ? 2 * t->n : t->n;
    t->epsilon = s->kind == MC_SVR ? s->set->epsilon : 0;
    MC_TRY(MC_ALLOC(ctx, t->beta, t->m));
    return MC_ALLOC(ctx, t->f, t->n);
}

static bool by_pairs(const mc_svm *s) {
    return s->variant->classes && (s->classes == 2 || s->set->multiclass[2] == 'o');
}

size_t mc_svm_programs_bytes(const mercer_svm *set, const mc_problem *p) {
    const double c = (double)p->x->classes, n = (double)p->n;
    if (c <= 2)
        return 0;
    const bool pairs = set->multiclass && set->multiclass[2] == 'o';
    const double tasks = pairs ? c * (c - 1) / 2 : c, rows = (pairs ? c - 1 : c) * n, block = 2 * MC_ALIGN + 64;
    const double bytes = tasks * (sizeof(mc_svm_program) + 3 * block + 3 * sizeof(double)) + 3 * rows * sizeof(double);
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX / 2;
}

mercer_status mc_svm_programs_open(mercer_ctx *ctx, mc_svm *s) {
    const int64_t pairs = s->classes * (s->classes - 1) / 2;
    const int64_t count = by_pairs(s) ? pairs : s->variant->classes ? s->classes : s->p.outputs;
    MC_TRY(MC_ALLOC(ctx, s->task, count));
    if (!by_pairs(s)) {
        for (int64_t k = 0; k < count; k++)
            MC_TRY(
                open_task(ctx, s, s->variant->classes ? k : -1, -1, s->variant->classes ? 0 : k, &s->task[s->tasks++]));
        return MERCER_OK;
    }
    for (int64_t a = 0; a < s->classes; a++) {
        for (int64_t b = a + 1; b < s->classes; b++)
            MC_TRY(open_task(ctx, s, a, b, 0, &s->task[s->tasks++]));
        MC_TRY(mc_report_progress(ctx, -1));
    }
    return MERCER_OK;
}

void mc_svm_programs_close(mc_svm *s) {
    for (int64_t k = 0; s->task && k < s->tasks; k++) {
        mc_free(s->task[k].beta);
        mc_free(s->task[k].f);
        mc_free(s->task[k].error);
        mc_free(s->task[k].previous_decision);
        mc_free(s->task[k].certified.c);
        mc_free(s->task[k].certified.f);
        mc_free(s->task[k].whole_K);
    }
    mc_free(s->task);
    s->task = NULL;
    s->tasks = 0;
}

/* ---- The quadratic program ---- */

static double linear_term(const mc_svm *s, const mc_svm_program *t, int64_t variable) {
    const double sign = mc_svm_program_sign(s, t, variable);
    if (!s->variant->doubled)
        return s->kind == MC_SVC ? -sign : 0;
    return -s->p.Y[(variable % t->n) * s->p.outputs + t->output] + (s->kind == MC_SVR ? sign * s->set->epsilon : 0);
}

static void write_variables(const mc_svm *s, const mc_svm_program *t, mc_quadratic_program *p) {
    for (int64_t v = 0; v < t->m; v++) {
        const double sign = mc_svm_program_sign(s, t, v), bound = mc_svm_program_bound(s, t, v % t->n);
        p->q[v] = linear_term(s, t, v);
        p->low[v] = sign > 0 ? 0 : -bound;
        p->high[v] = sign > 0 ? bound : 0;
        p->row[v] = v % t->n;
        p->group[v] = s->variant->grouped && sign < 0;
    }
}

void mc_quadratic_program_lay_out(mc_work *work, int64_t m, mc_quadratic_program *out) {
    double **reals[] = {&out->q, &out->low, &out->high};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        *reals[i] = mc_work_take(work, m, sizeof(double));
    out->row = mc_work_take(work, m, sizeof *out->row);
    out->group = mc_work_take(work, m, sizeof *out->group);
}

size_t mc_quadratic_program_bytes(int64_t m) {
    mc_work counted = {0};
    mc_quadratic_program_lay_out(&counted, m, &(mc_quadratic_program){0});
    return counted.used;
}

void mc_quadratic_program_write(const mc_svm *s, const mc_svm_program *t, mc_quadratic_program *out) {
    write_variables(s, t, out);
    out->dual = (mc_dual){.m = t->m,
                          .row = s->variant->doubled ? out->row : NULL,
                          .q = out->q,
                          .low = out->low,
                          .high = out->high,
                          .group = s->variant->grouped ? out->group : NULL};
}

mercer_status mc_quadratic_program_open(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t,
                                        mc_quadratic_program *out) {
    *out = (mc_quadratic_program){0};
    MC_TRY(mc_work_open(ctx, &out->work, mc_quadratic_program_bytes(t->m)));
    mc_quadratic_program_lay_out(&out->work, t->m, out);
    mc_quadratic_program_write(s, t, out);
    return MERCER_OK;
}

void mc_quadratic_program_close(mc_quadratic_program *p) {
    mc_work_close(&p->work);
    *p = (mc_quadratic_program){0};
}

mc_kernel_runs mc_svm_program_runs(const mc_svm *s, const mc_svm_program *t, mc_isa isa) {
    mc_kernel_runs K = {.runs = 1, .K = s->kept.K, .ld = s->kept.ld, .diagonal = s->diagonal, .isa = isa};
    K.count[0] = t->n;
    K.demand = s->kept.demand;
    if (s->variant->doubled) {
        K.runs = 2;
        K.count[1] = t->n;
    } else if (t->b >= 0) {
        K.runs = 2;
        K.first[0] = s->start[t->a];
        K.first[1] = s->start[t->b];
        K.count[0] = t->split;
        K.count[1] = t->n - t->split;
    }
    return K;
}

/* ---- There and back ---- */

/* Multipliers of one sign at their bounds from the first on, until their sum is reached. */
static void fill_bounds_to_sum(const mc_svm *s, mc_svm_program *t, double sign, double sum) {
    for (int64_t v = 0; v < t->m && sum > 0; v++) {
        if (mc_svm_program_sign(s, t, v) != sign)
            continue;
        const double part = fmin(sum, mc_svm_program_bound(s, t, v % t->n));
        t->beta[v] = sign * part;
        sum -= part;
    }
}

static double total_bound(const mc_svm *s, const mc_svm_program *t, double sign) {
    double sum = 0;
    for (int64_t v = 0; v < t->m; v++)
        if (mc_svm_program_sign(s, t, v) == sign)
            sum += mc_svm_program_bound(s, t, v % t->n);
    return sum;
}

double mc_svm_program_nu(const mc_svm *s, const mc_svm_program *t) {
    return t->nu > 0 ? t->nu : s->set->nu;
}

/* Each sign has nu W / 2. */
void mc_svm_program_measure_nu(const mc_svm *s, mc_svm_program *t) {
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += fabs(t->beta[i]);
    t->nu = sum / (total_bound(s, t, 1) + total_bound(s, t, -1));
}

double mc_svm_program_highest_nu(const mc_svm *s, const mc_svm_program *t) {
    const double above = total_bound(s, t, 1), below = total_bound(s, t, -1);
    return 2 * fmin(above, below) / (above + below);
}

/* Each class gives nu W / 2 of multipliers, which a small one cannot; one whose rows all weigh nothing can give none.
   */
static mercer_status refuse_nu(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t) {
    const char *first = s->p.x->label[t->a], *second = mc_svm_program_second(s, t);
    const double highest = mc_svm_program_highest_nu(s, t);
    if (highest == 0)
        return mc_fail(ctx, MERCER_DATA,
                       "nu-svc: no row of class '%s' has a weight; give one a weight above 0 or leave the class out",
                       total_bound(s, t, 1) > 0 ? second : first);
    return mc_fail(ctx, MERCER_INVALID,
                   "nu-svc: nu = %g is infeasible for classes '%s' and '%s', of which the smaller has %.3g%% of the "
                   "weight; nu must be at most %.6g",
                   s->set->nu, first, second, 50 * highest, highest);
}

mercer_status mc_svm_program_start(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t) {
    if (s->kind == MC_SVC || s->kind == MC_SVR)
        return MERCER_OK;
    const double above = total_bound(s, t, 1), below = total_bound(s, t, -1), least = fmin(above, below);
    if ((s->set->nearest_nu || s->set->nu_fallback) && least > 0
        && mc_svm_program_nu(s, t) > mc_svm_program_highest_nu(s, t))
        t->nu = mc_svm_program_highest_nu(s, t);
    const double nu = mc_svm_program_nu(s, t);
    const double all = s->variant->doubled ? above : above + below, sum = s->variant->grouped ? nu * all / 2 : nu * all;
    const double rounding = 1e-12 * all;
    if (s->kind == MC_NU_SVC && sum > least + rounding)
        return refuse_nu(ctx, s, t);
    fill_bounds_to_sum(s, t, 1, sum);
    if (s->variant->grouped)
        fill_bounds_to_sum(s, t, -1, sum);
    return MERCER_OK;
}

double mc_svm_program_top(const mc_svm *s, const mc_svm_program *t) {
    double top = 0;
    for (int64_t i = 0; i < t->n; i++)
        top = fmax(top, fabs(s->diagonal[mc_svm_program_row(s, t, i)]));
    return top;
}

static void scale_vector(double *x, int64_t n, double factor) {
    for (int64_t i = 0; x && i < n; i++)
        x[i] *= factor;
}

void mc_svm_program_scale(const mc_svm *s, mc_svm_program *t, double factor) {
    double mass = 0;
    for (int64_t v = 0; v < t->m; v++) {
        const double bound = mc_svm_program_bound(s, t, v % t->n), beta = factor * t->beta[v];
        const bool at = fabs(beta) >= bound * (1 - 4 * DBL_EPSILON); /* was at its bound, and is again, to the bit */
        t->beta[v] = at ? copysign(bound, beta) : beta;
        mass += fabs(t->beta[v]);
    }
    double *with[] = {t->f, t->error, t->certified.c, t->certified.f};
    for (size_t k = 0; k < sizeof with / sizeof *with; k++)
        scale_vector(with[k], t->n, factor);
    const double bits = 8 * DBL_EPSILON * mass * mc_svm_program_top(s, t); /* the last of those at a bound */
    t->rise = factor;
    t->decided = false;
    t->certified_error = factor * t->certified_error + bits;
    t->certified.error = factor * t->certified.error + bits;
}

double mc_svm_program_mean_diagonal(const mc_svm *s, const mc_svm_program *t) {
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += s->diagonal[mc_svm_program_row(s, t, i)];
    return sum > 0 ? sum / (double)t->n : 1;
}

void mc_svm_program_finish(const mc_svm *s, mc_svm_program *t, const double b[2]) {
    t->intercept = s->variant->grouped ? (b[0] + b[1]) / 2 : b[0];
    if (s->kind == MC_NU_SVR)
        t->epsilon = fmax((b[0] - b[1]) / 2, 0); /* what is below 0 is rounding */
    const double r = (b[1] - b[0]) / 2;
    /* stopped before there was a margin: the function as it stands */
    if (s->kind == MC_NU_SVC && r > 0 && isfinite(1 / r)) {
        t->unit = 1 / r;
        t->intercept /= r;
    }
}
