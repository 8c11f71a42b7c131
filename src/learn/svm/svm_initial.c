/* svm_initial.c: multipliers to start from, taken from a model fitted to the same rows with another kernel or C. Those
   of the model, times C/C', are brought inside their bounds; then the sums that a quadratic program keeps are restored,
   by free variables first. f = K beta costs the columns of the model's support vectors and no others.

   Any feasible start leads to the same optimum: what the rows of the model hold is not looked at, only their places. */
#include "base/memory.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/svm/svm.h"
#include <math.h>
#include <string.h>

static mercer_status refuse_initial_model(mercer_ctx *ctx, const mc_svm *s, const char *why) {
    return mc_fail(ctx, MERCER_INVALID,
                   "%s: the model to start from %s; start from nothing or from a model of the same rows",
                   s->variant->name, why);
}

static mercer_status check_initial_model(mercer_ctx *ctx, const mc_svm *s, const mercer_model *start) {
    if (strcmp(mercer_model_report(start)->machine, s->variant->name) != 0)
        return refuse_initial_model(ctx, s, "is of another machine");
    if (isinf(s->C))
        return refuse_initial_model(ctx, s, "has multipliers within bounds, and a hard margin has none");
    if (isnan(mercer_model_box(start, 0).C))
        return refuse_initial_model(ctx, s, "does not say which rows it keeps and what bounds them");
    bool same = mercer_model_decisions(start) == s->tasks
                && (!s->variant->classes || mercer_model_classes(start) == s->classes);
    for (int64_t k = 0; same && k < s->classes; k++)
        same = strcmp(mercer_model_label(start, k), s->p.x->label[k]) == 0;
    for (int64_t c = 0; same && c < mercer_model_centres(start); c++)
        same = mercer_model_row(start, c) < s->solver->rows;
    return same ? MERCER_OK : refuse_initial_model(ctx, s, "has other classes, targets or more rows");
}

static void take_initial_multipliers(const mc_svm *s, mc_svm_program *t, int64_t k, const int64_t *place) {
    const mercer_model *start = s->set->start;
    const double C = mercer_model_box(start, k).C, unit = isinf(C) ? 1 : (s->variant->has_C ? s->C : 1) / C;
    for (int64_t c = 0; c < mercer_model_centres(start); c++) {
        const int64_t r = place[mercer_model_row(start, c)], i = r < 0 ? -1 : mc_svm_program_place(s, t, r);
        const double beta = unit * mercer_model_coefficient(start, c, k);
        if (i < 0 || beta == 0)
            continue;
        const int64_t v = s->variant->doubled && beta < 0 ? t->n + i : i;
        if (mc_svm_program_sign(s, t, v) * beta > 0)
            t->beta[v] = copysign(fmin(fabs(beta), mc_svm_program_bound(s, t, i)), beta);
    }
}

/* ---- Sums ---- */

static double sum_of(const mc_svm *s, const mc_svm_program *t, double sign) {
    double sum = 0;
    for (int64_t v = 0; v < t->m; v++)
        sum += mc_svm_program_sign(s, t, v) == sign ? fabs(t->beta[v]) : 0;
    return sum;
}

/* The multipliers of one sign brought to a sum: those free give or take first, then all. */
static void bring_to_sum(const mc_svm *s, mc_svm_program *t, double sign, double sum) {
    double excess = sum_of(s, t, sign) - sum;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t v = 0; v < t->m && excess != 0; v++) {
            const double size = fabs(t->beta[v]), bound = mc_svm_program_bound(s, t, v % t->n);
            if (mc_svm_program_sign(s, t, v) != sign || (!pass && !(size > 0 && size < bound)))
                continue;
            const double part = excess > 0 ? fmin(size, excess) : fmax(size - bound, excess);
            t->beta[v] = sign * (size - part);
            excess -= part;
        }
}

/* Sums of each sign as mc_svm_program_start makes them; svc and svr only need them equal. */
static void balance_multipliers(const mc_svm *s, mc_svm_program *t, const double sums[2]) {
    const double above = sum_of(s, t, 1), below = sum_of(s, t, -1), less = fmin(above, below);
    const bool fixed = s->kind != MC_SVC && s->kind != MC_SVR;
    bring_to_sum(s, t, 1, fixed ? sums[0] : less);
    if (s->kind != MC_ONE_CLASS)
        bring_to_sum(s, t, -1, fixed ? sums[1] : less);
}

/* ---- Rows that are likely to have multipliers ---- */

enum { SAMPLE = 32 }; /* rows */

typedef struct likely_rows {
    const mc_svm *s;
    const mc_svm_program *t;
} likely_rows;

/* Those deepest on the wrong side first: of one-class, the farthest from the others. */
static int compare_depth(const void *arg, int64_t a, int64_t b) {
    const likely_rows *l = arg;
    const double depth_a = mc_svm_program_sign(l->s, l->t, a) * l->t->f[a],
                 depth_b = mc_svm_program_sign(l->s, l->t, b) * l->t->f[b];
    return depth_a < depth_b ? -1 : depth_a > depth_b ? 1 : a < b ? -1 : 1;
}

/* f <- the function of some rows with equal multipliers, those of either sign as much. False: its rows are not there.
   */
static bool sample_function(const mc_svm *s, mc_svm_program *t, const mc_kernel_runs *K, double *c) {
    const int64_t step = t->n / SAMPLE + 1;
    double count[2] = {0};
    for (int64_t i = 0; i < t->n; i += step)
        count[mc_svm_program_sign(s, t, i) < 0]++;
    for (int64_t i = 0; i < t->n; i++) {
        const double sign = mc_svm_program_sign(s, t, i);
        c[i] = i % step ? 0 : sign / count[sign < 0];
    }
    mc_kernel_runs_ask(K, c);
    if (K->demand->over)
        return false;
    mc_kernel_runs_multiply(K, c, 0, t->n, t->f);
    return true;
}

static void fill_in_order(const mc_svm *s, mc_svm_program *t, const int64_t *order) {
    double left[2] = {sum_of(s, t, 1), sum_of(s, t, -1)};
    memset(t->beta, 0, (size_t)t->n * sizeof *t->beta);
    for (int64_t k = 0; k < t->n; k++) {
        const int64_t i = order[k];
        const double sign = mc_svm_program_sign(s, t, i), bound = mc_svm_program_bound(s, t, i);
        const double part = fmin(left[sign < 0], bound);
        t->beta[i] = sign * part;
        left[sign < 0] -= part;
    }
}

void mc_svm_program_choose_start(const mc_svm *s, mc_svm_program *t, const mc_kernel_runs *K, mc_work work) {
    const bool able = s->kind == MC_ONE_CLASS || s->kind == MC_NU_SVC;
    double *c = mc_work_take(&work, t->n, sizeof *c);
    int64_t *order = mc_work_take(&work, t->n, sizeof *order), *scratch = mc_work_take(&work, t->n, sizeof *scratch);
    if (!able || !K->demand || s->set->start || !sample_function(s, t, K, c))
        return;
    for (int64_t i = 0; i < t->n; i++)
        order[i] = i;
    mc_sort(order, scratch, t->n, compare_depth, &(likely_rows){s, t});
    fill_in_order(s, t, order);
}

/* The sums are those of the start from nothing, which the multipliers then replace. */
static mercer_status begin_from_model(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, int64_t k,
                                      const int64_t *place) {
    MC_TRY(mc_svm_program_start(ctx, s, t));
    if (!place)
        return MERCER_OK;
    const double sums[2] = {sum_of(s, t, 1), sum_of(s, t, -1)};
    memset(t->beta, 0, (size_t)t->m * sizeof *t->beta);
    take_initial_multipliers(s, t, k, place);
    balance_multipliers(s, t, sums);
    return MERCER_OK;
}

mercer_status mc_svm_start_programs(mercer_ctx *ctx, mc_svm *s) {
    int64_t *place = NULL;
    if (s->set->start) {
        MC_TRY(check_initial_model(ctx, s, s->set->start));
        MC_TRY(MC_ALLOC(ctx, place, s->solver->rows));
        for (int64_t i = 0; i < s->solver->rows; i++)
            place[i] = -1;
        for (int64_t i = 0; i < s->p.n; i++)
            place[s->order[i]] = i;
    }
    mercer_status status = MERCER_OK;
    for (int64_t k = 0; k < s->tasks && !status; k++)
        status = begin_from_model(ctx, s, &s->task[k], k, place);
    mc_free(place);
    return status;
}
