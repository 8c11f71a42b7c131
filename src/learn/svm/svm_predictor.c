/* svm_predictor.c: the next C of a path, first among the rows that are likely to change. A row far from the margin,
   with a multiplier at its bound or with none, seldom changes when C rises: so the quadratic program is solved on those
   next to it on either side, the others held where they are, and f of all rows follows by one product with what has
   changed in the end. Where a product takes a third of all rows, the three to five of one solution cost half of what
   they cost on all.

   From the third C on the two last solutions tell where f + b is going: it is nearly linear in log C, and a row whose
   value will be beyond the margin is about to leave its bound. Those rows, and the nearest of the others, are the first
   set that is solved for: with it nine of ten rows that change have done so.

   It is a start and nothing more: the quadratic program on all rows goes on from it, and what was left out wrongly is
   found there. */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "learn/common/kernel_matrix.h"
#include "learn/svm/svm.h"
#include "qp/smo_select.h"
#include <math.h>

static const double SHARE = 0.14; /* of all rows, on either side of the margin */
enum { BINS = 4096 };             /* of distances */
/* variables below which there is no part to solve; rows of the first set beside those in question */
enum { FEW = 4, NEXT = 500 };

/* The part of a quadratic program, by its rows and its variables. */
typedef struct program_part {
    int64_t rows, m;
    int64_t *row, *variable, *place; /* of the task; place: the row of each variable in the part */
    double *q, *low, *high, *beta, *f, *diagonal;
    uint8_t *group, *first;
    bool named; /* first says which */
    mc_dual dual;
} program_part;

static void lay_out_predictor(mc_work *work, int64_t n, int64_t m, program_part *p) {
    p->row = mc_work_take(work, n, sizeof *p->row);
    p->variable = mc_work_take(work, m, sizeof *p->variable);
    p->place = mc_work_take(work, m, sizeof *p->place);
    double **reals[] = {&p->q, &p->low, &p->high, &p->beta, &p->f, &p->diagonal};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        *reals[i] = mc_work_take(work, m, sizeof(double));
    p->group = mc_work_take(work, m, 1);
    p->first = mc_work_take(work, m, 1);
}

static size_t bytes_of_predictor(int64_t n, int64_t m) {
    mc_work counted = {0};
    lay_out_predictor(&counted, n, m, &(program_part){0});
    return counted.used;
}

/* ---- Which rows ---- */

/* f + b of row i at the last C, and what it will be at this one: along a path it is nearly linear in log C. */
static double value_now(const mc_svm_program *t, int64_t i) {
    return t->intercept + t->f[i] / t->rise;
}

static double extrapolated_value(const mc_svm_program *t, int64_t i) {
    const double now = value_now(t, i);
    return t->previous_decision ? now + fmin(1, log(t->rise) / log(t->previous_rise)) * (now - t->previous_decision[i])
                                : now;
}

/* How far a variable at a bound will be from leaving it. */
static double distance_from_leaving_bound(const mc_dual *dual, int64_t v, double beta, double value) {
    const double slope = -(value + dual->q[v]);
    if (beta > dual->low[v] && beta < dual->high[v])
        return 0;
    return dual->low[v] == dual->high[v] ? INFINITY : fmax(0, beta >= dual->high[v] ? slope : -slope);
}

/* Of row i, below zero where it has a multiplier; 0: it is in question. */
static double signed_row_distance(const mc_svm_program *t, const mc_dual *dual, int64_t i) {
    const double value = extrapolated_value(t, i);
    double least = INFINITY;
    bool used = false;
    for (int64_t v = i; v < t->m; v += t->n) {
        used |= t->beta[v] != 0;
        least = fmin(least, distance_from_leaving_bound(dual, v, t->beta[v], value));
    }
    return used ? -least : least;
}

static double on_side(double distance, double sign) {
    return sign == 0 ? fabs(distance) : sign * distance;
}

/* The distance within which `most` of those with this sign are, or of all where that is 0, to a bin. */
static double distance_of_nearest(const double *distance, int64_t n, double sign, int64_t most) {
    int64_t bin[BINS] = {0}, within = 0;
    double far = 0;
    for (int64_t i = 0; i < n; i++)
        far = fmax(far, isfinite(distance[i]) ? on_side(distance[i], sign) : 0);
    for (int64_t i = 0; i < n; i++)
        if (on_side(distance[i], sign) > 0)
            bin[(int64_t)fmin(on_side(distance[i], sign) / far * BINS, BINS - 1)]++;
    int64_t k = 0;
    while (k < BINS && within + bin[k] <= most)
        within += bin[k++];
    return far * (double)k / BINS;
}

/* Variables solved for at a time, of m. */
static int64_t set_most(int64_t m, int64_t most) {
    return mc_min_count(m / 2, most);
}

/* How far from the margin the rows of the first set are, where those in question leave room in it for others; a set cut
   short would hold the first classes alone, which cannot move. */
static double reach_of_first(const double *distance, int64_t n, int64_t places, program_part *p) {
    int64_t in_question = 0;
    for (int64_t i = 0; i < n; i++)
        in_question += distance[i] == 0;
    p->named = in_question < places;
    return p->named ? distance_of_nearest(distance, n, 0, mc_min_count(NEXT, places - in_question)) : 0;
}

/* most: variables that may be solved for at a time. */
static void choose_rows_in_question(const mc_svm_program *t, const mc_dual *dual, int64_t most, double *scratch,
                                    program_part *p) {
    const int64_t share = (int64_t)(SHARE * (double)t->n), per_row = t->m / t->n;
    for (int64_t i = 0; i < t->n; i++)
        scratch[i] = signed_row_distance(t, dual, i);
    const double inside = distance_of_nearest(scratch, t->n, -1, share),
                 outside = distance_of_nearest(scratch, t->n, 1, share);
    p->rows = p->m = 0;
    for (int64_t i = 0; i < t->n; i++)
        if (scratch[i] >= -inside && scratch[i] <= outside)
            p->row[p->rows++] = i;
    const double near = reach_of_first(scratch, t->n, set_most(p->rows * per_row, most) / per_row, p);
    for (int64_t begin = 0; begin < t->m; begin += t->n)
        for (int64_t k = 0; k < p->rows; k++) {
            p->place[p->m] = k;
            p->first[p->m] = fabs(scratch[p->row[k]]) <= near;
            p->variable[p->m++] = begin + p->row[k];
        }
}

/* ---- Its quadratic program ---- */

static void write_part(const mc_svm_program *t, const mc_dual *dual, const double *diagonal, program_part *p) {
    for (int64_t k = 0; k < p->m; k++) {
        const int64_t v = p->variable[k];
        p->q[k] = dual->q[v];
        p->low[k] = dual->low[v];
        p->high[k] = dual->high[v];
        p->beta[k] = t->beta[v];
        p->group[k] = (uint8_t)mc_dual_group(dual, v);
    }
    for (int64_t k = 0; k < p->rows; k++) {
        p->f[k] = t->f[p->row[k]];
        p->diagonal[k] = diagonal[p->row[k]];
    }
    p->dual = (mc_dual){.m = p->m,
                        .row = dual->row ? p->place : NULL,
                        .q = p->q,
                        .low = p->low,
                        .high = p->high,
                        .group = dual->group ? p->group : NULL};
}

static mercer_status solve_part(mercer_ctx *ctx, const mc_svm_program *t, const mc_active_problem *whole,
                                const mc_kernel_matrix *rows, program_part *p, mc_smo_result *result) {
    mercer_data *taken = NULL;
    mc_kernel_matrix matrix = {0};
    mercer_status status = mc_data_take(ctx, rows->x, p->row, p->rows, &taken);
    MC_THEN(status, mc_kernel_matrix_open(ctx, rows->kernel, taken, NULL, true, &matrix));
    if (!status) {
        mc_active_problem problem = *whole;
        problem.dual = p->dual;
        problem.matrix = mc_kernel_matrix_view(&matrix, whole->matrix.dtype, p->diagonal);
        problem.most = set_most(p->m, whole->most);
        problem.bound = NULL;
        problem.f_of_other_rows = problem.close_start = true;
        problem.first = t->previous_decision && p->named ? p->first : NULL;
        status = mc_active_solve(ctx, &problem, p->beta, p->f, result);
    }
    mc_kernel_matrix_close(&matrix);
    mercer_data_free(taken);
    return status;
}

/* Multipliers and f of all rows. */
static mercer_status take_up(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, mc_active_problem *whole,
                             program_part *p) {
    int64_t count = 0;
    double *c = p->f; /* which has served, as row will */
    for (int64_t k = 0; k < p->rows; k++)
        c[k] = 0;
    for (int64_t k = 0; k < p->m; k++) {
        c[p->place[k]] += p->beta[k] - t->beta[p->variable[k]];
        t->beta[p->variable[k]] = p->beta[k];
    }
    for (int64_t k = 0; k < p->rows; k++)
        if (c[k] != 0) {
            p->row[count] = p->row[k];
            c[count++] = c[k];
        }
    return count ? mc_active_add(ctx, whole, whole->tolerance, mc_svm_program_top(s, t), p->row, c, count, t->f,
                                 &whole->noise2)
                 : MERCER_OK;
}

/* For the next C, before f becomes that of this one. */
static mercer_status remember_values(mercer_ctx *ctx, mc_svm_program *t) {
    if (!t->previous_decision)
        MC_TRY(MC_ALLOC(ctx, t->previous_decision, t->n));
    for (int64_t i = 0; i < t->n; i++)
        t->previous_decision[i] = value_now(t, i);
    t->previous_rise = t->rise;
    return MERCER_OK;
}

mercer_status mc_svm_program_predict(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, const mc_kernel_matrix *rows,
                                     mc_active_problem *whole, mc_smo_result *result) {
    program_part p = {0};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, bytes_of_predictor(t->n, t->m)));
    lay_out_predictor(&work, t->n, t->m, &p);
    choose_rows_in_question(t, &whole->dual, whole->most, p.q, &p);
    write_part(t, &whole->dual, whole->matrix.diag, &p);
    mercer_status status = p.m >= FEW ? solve_part(ctx, t, whole, rows, &p, result) : MERCER_OK;
    MC_THEN(status, remember_values(ctx, t));
    MC_THEN(status, take_up(ctx, s, t, whole, &p));
    mc_work_close(&work);
    return status;
}
