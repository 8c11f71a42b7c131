/* svm_screen.c: which rows the certificate need not compute in double precision. With the error of every f_i at most
   e_i (products of the solver keep account of it, or the rows kept tell at the end: learn/common/kernel_matrix.c) and b
   the multiplier of the sum of its group, a row all of whose multipliers are 0 and whose slopes v are at least e_i on
   the right side of b adds no loss, has no part in the norm, and is not the worst violator, for those free have slopes
   on either side of b or at it. So its f enters no number of the certificate.

       screen     rows not proved to be like that against the rows with a multiplier, in double; where they are known
       twice, both must agree
                  within e_i. Along a path, where the last certificate has computed a row: against the rows whose
                  multipliers have changed
       screened   the proof once more, with the b that has come out

   Where one of them fails all rows are computed. This is the gap-safe test with rounding in the place of the gap: it
   leaves out work of the certificate, never variables of the quadratic program, which the active sets leave out and
   take in again by themselves. */
#include "certify/svm_certificate.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "qp/smo_select.h"
#include <float.h>
#include <math.h>
#include <string.h>

bool mc_svm_screens(const mc_svm *s) {
    for (int64_t k = 0; k < s->tasks; k++)
        /* those that share all rows also share their kernel values */
        if (!s->task[k].error_is_known || (s->tasks > 1 && s->task[k].b < 0))
            return false;
    return true;
}

/* Variable v is at 0 and stays there, b being right to within slack. */
static bool stays_at_zero(const mc_svm_program *t, const mc_dual *dual, int64_t v, double error, const double b[2],
                          double slack) {
    const double slope = mc_dual_slope(dual, t->f, v), middle = b[mc_dual_group(dual, v)];
    return t->beta[v] == 0 && (dual->high[v] <= 0 || slope + error + slack <= middle)
           && (dual->low[v] >= 0 || slope - error - slack >= middle);
}

static bool row_is_inactive(const mc_svm_program *t, const mc_dual *dual, int64_t i, const double b[2], double slack) {
    for (int64_t v = i; v < t->m; v += t->n)
        if (!stays_at_zero(t, dual, v, t->error[i], b, slack))
            return false;
    return true;
}

/* ---- Lists ---- */

typedef struct listed {
    int64_t *rows, *places, count; /* of p.x, and of the task */
    double *c;                     /* their coefficients, of those multiplied by */
} listed;

/* Rows with a multiplier, the others that are not proved inactive; of both those that the last certificate has computed
   and the others; and the rows whose multipliers have changed since. */
typedef struct screen {
    const mc_svm *s;
    mc_svm_program *t;
    listed vectors, near, known, fresh, changed;
    double *values;         /* n */
    double mass, moved;     /* sums of |c| over the vectors and over what has changed */
    mc_product_error error; /* the worst of the products */
} screen;

enum { LISTS = 5 };

static void lay_out_screen(mc_work *work, int64_t n, screen *x) {
    listed *lists[LISTS] = {&x->vectors, &x->near, &x->known, &x->fresh, &x->changed};
    for (int k = 0; k < LISTS; k++)
        *lists[k] = (listed){.rows = mc_work_take(work, n, sizeof(int64_t)),
                             .places = mc_work_take(work, n, sizeof(int64_t)),
                             .c = mc_work_take(work, n, sizeof(double))};
    x->values = mc_work_take(work, n, sizeof *x->values);
}

static size_t bytes_of_screen(int64_t n) {
    mc_work counted = {0};
    lay_out_screen(&counted, n, &(screen){0});
    return counted.used;
}

/* Returns |c|. */
static double list_row(const screen *x, int64_t i, double c, listed *l) {
    l->rows[l->count] = mc_svm_program_row(x->s, x->t, i);
    l->c[l->count] = c;
    l->places[l->count++] = i;
    return fabs(c);
}

/* A multiplier that was at its bound and is again may differ in its last bits: mc_svm_program_scale has counted them.
   */
static bool has_changed(double c, double seen) {
    return fabs(c - seen) > 8 * DBL_EPSILON * fabs(c);
}

static void list_rows_to_compute(screen *x, const mc_dual *dual) {
    const mc_svm_program *t = x->t;
    for (int64_t i = 0; i < t->n; i++) {
        const double c = mc_svm_program_multiplier(t, i), seen = t->certified.c ? t->certified.c[i] : 0;
        if (has_changed(c, seen))
            x->moved += list_row(x, i, c - seen, &x->changed);
        if (c == 0 && row_is_inactive(t, dual, i, t->result.intercept, t->tolerance))
            continue;
        x->mass += list_row(x, i, c, c != 0 ? &x->vectors : &x->near);
        list_row(x, i, c, t->certified.f && !isnan(t->certified.f[i]) ? &x->known : &x->fresh);
    }
}

/* ---- Values ---- */

/* out <- K(rows, vectors) c in double; rows NULL: the vectors themselves, each pair once. */
static mercer_status multiply_listed_rows(mercer_ctx *ctx, screen *x, const listed *rows, const listed *vectors) {
    mercer_data *left = NULL, *right = NULL;
    mc_gram *gram = NULL;
    memset(x->values, 0, (size_t)x->t->n * sizeof *x->values);
    if (!vectors->count || (rows && !rows->count))
        return MERCER_OK;
    mercer_status status = mc_data_take(ctx, x->s->p.x, vectors->rows, vectors->count, &right);
    if (!status && rows)
        status = mc_data_take(ctx, x->s->p.x, rows->rows, rows->count, &left);
    MC_THEN(status, mc_gram_open(ctx, x->s->p.kernel, rows ? left : right, rows ? right : NULL, MERCER_F64, &gram));
    if (!status) {
        mc_gram_raise_error(gram, 1, &x->error);
        status = mc_gram_apply(ctx, gram, 1, vectors->c, x->values);
    }
    mc_gram_close(gram);
    mercer_data_free(left);
    mercer_data_free(right);
    return status;
}

/* f of the rows listed is what was computed; from now on its error is that of the certificate. Whether both agree. */
static bool take_values(const screen *x, const listed *rows, bool onwards) {
    mc_svm_program *t = x->t;
    const double own =
        2 * mc_product_doubt(x->error, x->mass, mc_svm_program_top(x->s, t)) + (onwards ? t->certified.error : 0);
    bool agree = true;
    for (int64_t k = 0; k < rows->count; k++) {
        const int64_t i = rows->places[k];
        const double value = x->values[k] + (onwards ? t->certified.f[i] : 0);
        agree &= fabs(t->f[i] - value) <= t->error[i] + own;
        t->f[i] = value;
        t->error[i] = 0;
    }
    return agree;
}

static mercer_status compute_vectors_and_near(mercer_ctx *ctx, screen *x, bool *sure) {
    MC_TRY(multiply_listed_rows(ctx, x, NULL, &x->vectors));
    *sure = take_values(x, &x->vectors, false);
    MC_TRY(multiply_listed_rows(ctx, x, &x->near, &x->vectors));
    *sure &= take_values(x, &x->near, false);
    x->t->certified.error = 0;
    return MERCER_OK;
}

/* From what the last certificate computed: K c = K seen + K (c - seen). */
static mercer_status go_on(mercer_ctx *ctx, screen *x, bool *sure) {
    MC_TRY(multiply_listed_rows(ctx, x, &x->known, &x->changed));
    x->t->certified.error += mc_product_doubt(x->error, x->moved, mc_svm_program_top(x->s, x->t));
    *sure = take_values(x, &x->known, true);
    MC_TRY(multiply_listed_rows(ctx, x, &x->fresh, &x->vectors));
    *sure &= take_values(x, &x->fresh, false);
    return MERCER_OK;
}

/* Kernel values that either takes. */
static bool goes_on(const screen *x) {
    const double vectors = (double)x->vectors.count;
    return x->t->certified.c
           && (double)x->known.count * (double)x->changed.count + (double)x->fresh.count * vectors
                  < (vectors / 2 + (double)x->near.count) * vectors;
}

mercer_status mc_svm_program_screen(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, const mc_dual *dual,
                                    mc_product_error *error, bool *sure) {
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, bytes_of_screen(t->n)));
    screen x = {.s = s, .t = t, .error = *error};
    lay_out_screen(&work, t->n, &x);
    list_rows_to_compute(&x, dual);
    const mercer_status status = goes_on(&x) ? go_on(ctx, &x, sure) : compute_vectors_and_near(ctx, &x, sure);
    *error = x.error;
    mc_work_close(&work);
    return status;
}

mercer_status mc_svm_program_remember(mercer_ctx *ctx, mc_svm_program *t) {
    if (!t->certified.c)
        MC_TRY(MC_ALLOC(ctx, t->certified.c, t->n));
    if (!t->certified.f)
        MC_TRY(MC_ALLOC(ctx, t->certified.f, t->n));
    for (int64_t i = 0; i < t->n; i++) {
        t->certified.c[i] = mc_svm_program_multiplier(t, i);
        t->certified.f[i] = t->error[i] == 0 ? t->f[i] : NAN;
    }
    return MERCER_OK;
}

bool mc_svm_program_screened(const mc_svm *s, const mc_svm_program *t, const mc_dual *dual, const double intercept[2]) {
    bool free[2] = {false, !s->variant->grouped};
    for (int64_t v = 0; v < t->m; v++)
        if (t->beta[v] > dual->low[v] && t->beta[v] < dual->high[v])
            free[mc_dual_group(dual, v)] = true;
    bool all = free[0] && free[1];
    for (int64_t i = 0; i < t->n && all; i++)
        all = t->error[i] == 0 || row_is_inactive(t, dual, i, intercept, 0);
    return all;
}
