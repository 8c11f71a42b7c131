/* smo_shrink.c: see smo_shrink.h. */
#include "qp/smo_shrink.h"
#include "base/status.h"
#include <string.h>

enum { BATCH = 512 };

static bool in_question(const mc_dual *dual, const double *beta, const double *f, const mc_extremes *e, int64_t t) {
    const bool up = beta[t]<dual->high[t], down = beta[t]> dual->low[t];
    const double v = mc_dual_slope(dual, f, t);
    const int g = mc_dual_group(dual, t);
    return up && down ? true : up ? v >= e->bottom[g] : down && v <= e->top[g];
}

int64_t mc_shrink_count(const mc_dual *dual, const double *beta, const double *f, const mc_extremes *e) {
    int64_t count = 0;
    for (int64_t t = 0; t < dual->m; t++)
        count += in_question(dual, beta, f, e, t);
    return count;
}

/* variables of rows of the whole; batch: of rows whose f is brought up to date at a time. */
typedef struct shrink_layout {
    int64_t rows, variables, batch;
    mc_shrunk *s;
    double *q, *low, *high;
    int64_t *row, *place;
    uint8_t *group;
} shrink_layout;

static void lay_out_subproblem(mc_work *work, void *self) {
    shrink_layout *r = self;
    const int64_t m = r->variables;
    r->s->variable = mc_work_take(work, m, sizeof(int64_t));
    double **real[] = {&r->s->beta, &r->s->f, &r->q, &r->low, &r->high};
    for (int i = 0; i < 5; i++)
        *real[i] = mc_work_take(work, m, sizeof(double));
    r->row = mc_work_take(work, m, sizeof(int64_t));
    r->place = mc_work_take(work, r->rows, sizeof(int64_t));
    r->s->row_id = mc_work_take(work, m, sizeof(int64_t));
    r->group = mc_work_take(work, m, 1);
    r->s->batch = r->batch;
    r->s->ids = mc_work_take(work, r->batch, sizeof(int64_t));
    r->s->change = mc_work_take(work, r->batch, sizeof(double));
    r->s->scratch = mc_work_take(work, r->batch, sizeof(void *));
}

static void fill_subproblem(const shrink_layout *r, const mc_dual *dual, const double *beta, const double *f) {
    mc_shrunk *s = r->s;
    for (int64_t t = 0; t < r->variables; t++) {
        const int64_t from = s->variable[t];
        s->beta[t] = beta[from];
        r->q[t] = dual->q[from];
        r->low[t] = dual->low[from];
        r->high[t] = dual->high[from];
        r->group[t] = (uint8_t)mc_dual_group(dual, from);
    }
    for (int64_t i = 0; i < s->part.n; i++)
        s->f[i] = f[s->row_id[i]];
    s->dual = (mc_dual){.m = r->variables, .row = r->row, .q = r->q, .low = r->low, .high = r->high};
    s->dual.group = dual->group ? r->group : NULL;
}

static mercer_status open_part(mercer_ctx *ctx, const mc_matrix *rows, const mc_dual *dual, const double *beta,
                               const double *f, const mc_extremes *e, shrink_layout *r) {
    mc_shrunk *s = r->s;
    MC_TRY(mc_work_lay(ctx, &s->work, lay_out_subproblem, r));
    for (int64_t t = 0, at = 0; t < dual->m; t++)
        if (in_question(dual, beta, f, e, t))
            s->variable[at++] = t;
    const int64_t n = mc_number_rows(dual, s->variable, r->variables, rows->n, r->place, s->row_id, r->row);
    MC_TRY(mc_principal_open(ctx, rows, s->row_id, n, &s->part));
    s->rows = mc_principal_rows(&s->part);
    fill_subproblem(r, dual, beta, f);
    return MERCER_OK;
}

mercer_status mc_shrunk_open(mercer_ctx *ctx, const mc_matrix *rows, const mc_dual *dual, const double *beta,
                             const double *f, const mc_extremes *e, int64_t count, mc_shrunk *out) {
    *out = (mc_shrunk){0};
    const int64_t most = count < rows->n ? count : rows->n;
    shrink_layout r = {.rows = rows->n, .variables = count, .batch = rows->n < BATCH ? rows->n : BATCH, .s = out};
    if (mc_principal_bytes(rows, most) + mc_slices_bytes(lay_out_subproblem, &r) > mc_memory_left(ctx) / 2)
        return MERCER_OK;
    const mercer_status status = open_part(ctx, rows, dual, beta, f, e, &r);
    if (status)
        mc_shrunk_close(out);
    return status;
}

void mc_shrunk_close(mc_shrunk *s) {
    mc_principal_close(&s->part);
    mc_work_close(&s->work);
    *s = (mc_shrunk){0};
}

mercer_status mc_shrunk_put_back(mercer_ctx *ctx, mc_shrunk *s, const mc_matrix *rows, double *beta, double *f) {
    double *change = s->f; /* of beta, per row: its own f has served */
    memset(change, 0, (size_t)s->part.n * sizeof *change);
    for (int64_t t = 0; t < s->dual.m; t++) {
        change[s->dual.row[t]] += s->beta[t] - beta[s->variable[t]];
        beta[s->variable[t]] = s->beta[t];
    }
    int64_t count = 0;
    for (int64_t i = 0; i < s->part.n; i++) {
        if (change[i] != 0) {
            s->ids[count] = s->row_id[i];
            s->change[count++] = change[i];
        }
        if (count == s->batch || (count && i == s->part.n - 1)) {
            MC_TRY(mc_matrix_add_rows(ctx, rows, s->ids, s->change, count, s->scratch, f));
            count = 0;
        }
    }
    return MERCER_OK;
}
