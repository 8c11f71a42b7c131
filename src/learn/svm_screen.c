/* svm_screen.c: which rows the certificate need not compute in double precision. With the error of every f_i at most e_i (products of the
   solver keep account of it, or the rows kept tell at the end: kernel_matrix.c) and b the multiplier of the sum of its group, a row all of
   whose multipliers are 0 and whose slopes v are at least e_i on the right side of b adds no loss, has no part in the norm, and is not the
   worst violator, for those off their bounds have slopes on either side of b or at it. So its f enters no number of the certificate.

       screen     rows not proved to be like that against the rows with a multiplier, in double; where they are known twice, both must agree
                  within e_i
       screened   the proof once more, with the b that has come out

   Where one of them fails all rows are computed. This is the gap-safe test with rounding in the place of the gap: it leaves out work of the
   certificate, never variables of the programme, which the active sets leave out and take in again by themselves. */
#include "base/memory.h"
#include "base/status.h"
#include "base/work.h"
#include "data/data.h"
#include "learn/svm.h"
#include "solve/smo_select.h"
#include <math.h>
#include <string.h>

bool mc_svm_screens(const mc_svm *s) {
    for (int64_t k = 0; k < s->tasks; k++)
        if (!s->task[k].known || (s->tasks > 1 && s->task[k].b < 0)) /* those that share all rows also share their kernel values */
            return false;
    return true;
}

/* Variable v is at 0 and stays there, b being right to within slack. */
static bool rests(const mc_task *t, const mc_dual *dual, int64_t v, double error, const double b[2], double slack) {
    const double slope = mc_slope(dual, t->f, v), middle = b[mc_group(dual, v)];
    return t->beta[v] == 0 && (dual->high[v] <= 0 || slope + error + slack <= middle)
           && (dual->low[v] >= 0 || slope - error - slack >= middle);
}

static bool row_rests(const mc_task *t, const mc_dual *dual, int64_t i, const double b[2], double slack) {
    for (int64_t v = i; v < t->m; v += t->n)
        if (!rests(t, dual, v, t->error[i], b, slack))
            return false;
    return true;
}

typedef struct listed {
    int64_t *rows, *places, count; /* of p.x, and of the task */
} listed;

static void cut(mc_work *work, const mc_task *t, listed *l) {
    *l = (listed){.rows = mc_work_take(work, t->n, sizeof(int64_t)), .places = mc_work_take(work, t->n, sizeof(int64_t))};
}

static void put(const mc_svm *s, const mc_task *t, int64_t i, listed *l) {
    l->rows[l->count] = mc_task_row(s, t, i);
    l->places[l->count++] = i;
}

/* out <- K(rows, vectors) c in double; rows NULL: the vectors themselves, each pair once. */
static mercer_status multiply(mercer_ctx *ctx, const mc_svm *s, const listed *rows, const listed *vectors, const double *c, double *out,
                              double *entry) {
    mercer_data *x = NULL, *z = NULL;
    mc_gram *gram = NULL;
    mercer_status status = mc_data_take(ctx, s->p.x, vectors->rows, vectors->count, &z);
    if (!status && rows)
        status = mc_data_take(ctx, s->p.x, rows->rows, rows->count, &x);
    if (!status)
        status = mc_gram_open(ctx, s->p.kernel, rows ? x : z, rows ? z : NULL, MERCER_F64, &gram);
    if (!status) {
        *entry = fmax(*entry, mc_gram_entry_error(gram));
        status = mc_gram_apply(ctx, gram, 1, c, out);
    }
    mc_gram_close(gram);
    mercer_data_free(x);
    mercer_data_free(z);
    return status;
}

/* f of the rows listed is what was computed; from now on its error is that of the certificate. */
static bool take_values(mc_task *t, const listed *rows, const double *values, double own) {
    bool agree = true;
    for (int64_t k = 0; k < rows->count; k++) {
        const int64_t i = rows->places[k];
        agree &= fabs(t->f[i] - values[k]) <= t->error[i] + own;
        t->f[i] = values[k];
        t->error[i] = 0;
    }
    return agree;
}

/* The rows with a multiplier, and the others that are not proved to rest; c <- the multipliers. Returns their sum. */
static double list(const mc_svm *s, const mc_task *t, const mc_dual *dual, listed *vectors, listed *near, double *c) {
    double mass = 0;
    for (int64_t i = 0; i < t->n; i++) {
        c[vectors->count] = mc_task_multiplier(t, i);
        mass += fabs(c[vectors->count]);
        if (c[vectors->count] != 0)
            put(s, t, i, vectors);
        else if (!row_rests(t, dual, i, t->result.intercept, t->tolerance))
            put(s, t, i, near);
    }
    return mass;
}

mercer_status mc_task_screen(mercer_ctx *ctx, const mc_svm *s, mc_task *t, const mc_dual *dual, double *entry, bool *sure) {
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, 4 * mc_work_need(t->n, sizeof(int64_t)) + 2 * mc_work_need(t->n, sizeof(double))));
    listed near, vectors;
    cut(&work, t, &near);
    cut(&work, t, &vectors);
    double *c = mc_work_take(&work, t->n, sizeof *c), *values = mc_work_take(&work, t->n, sizeof *values);
    const double mass = list(s, t, dual, &vectors, &near, c);
    mercer_status status = vectors.count ? multiply(ctx, s, NULL, &vectors, c, values, entry) : MERCER_OK;
    if (!status)
        *sure = take_values(t, &vectors, values, 2 * *entry * mass);
    if (!status && near.count) {
        memset(values, 0, (size_t)near.count * sizeof *values);
        status = vectors.count ? multiply(ctx, s, &near, &vectors, c, values, entry) : MERCER_OK;
        *sure = !status && take_values(t, &near, values, 2 * *entry * mass) && *sure;
    }
    mc_work_close(&work);
    return status;
}

bool mc_task_screened(const mc_svm *s, const mc_task *t, const mc_dual *dual, const double intercept[2]) {
    bool free[2] = {false, !s->row->grouped};
    for (int64_t v = 0; v < t->m; v++)
        if (t->beta[v] > dual->low[v] && t->beta[v] < dual->high[v])
            free[mc_group(dual, v)] = true;
    bool all = free[0] && free[1];
    for (int64_t i = 0; i < t->n && all; i++)
        all = t->error[i] == 0 || row_rests(t, dual, i, intercept, 0);
    return all;
}
