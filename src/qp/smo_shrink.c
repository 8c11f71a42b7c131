/* smo_shrink.c: see smo_shrink.h. */
#include "qp/smo_shrink.h"
#include "base/status.h"
#include <string.h>

enum { BATCH = 512 };

static bool in_question(const mc_dual *dual, const double *beta, const double *f, const mc_extremes *e, int64_t t) {
    const bool up = beta[t]<dual->high[t], down = beta[t]> dual->low[t];
    const double v = mc_slope(dual, f, t);
    const int g = mc_group(dual, t);
    return up && down ? true : up ? v >= e->bottom[g] : down && v <= e->top[g];
}

int64_t mc_shrink_count(const mc_dual *dual, const double *beta, const double *f, const mc_extremes *e) {
    int64_t count = 0;
    for (int64_t t = 0; t < dual->m; t++)
        count += in_question(dual, beta, f, e, t);
    return count;
}

static size_t need(const mc_matrix *rows, int64_t m, int64_t batch) {
    return 5 * mc_work_need(m, sizeof(double)) + 3 * mc_work_need(m, sizeof(int64_t)) + mc_work_need(m, 1)
           + mc_work_need(rows->n, sizeof(int64_t)) + 2 * mc_work_need(batch, sizeof(double))
           + mc_work_need(batch, sizeof(void *));
}

static void fill(mc_shrunk *s, const mc_dual *dual, const double *beta, const double *f, double *q, double *low,
                 double *high, uint8_t *group) {
    for (int64_t t = 0; t < s->dual.m; t++) {
        const int64_t from = s->variable[t];
        s->beta[t] = beta[from];
        q[t] = dual->q[from];
        low[t] = dual->low[from];
        high[t] = dual->high[from];
        group[t] = (uint8_t)mc_group(dual, from);
    }
    for (int64_t i = 0; i < s->part.n; i++)
        s->f[i] = f[s->row_id[i]];
    s->dual.q = q;
    s->dual.low = low;
    s->dual.high = high;
    s->dual.group = dual->group ? group : NULL;
}

static mercer_status open_part(mercer_ctx *ctx, const mc_matrix *rows, const mc_dual *dual, const double *beta,
                               const double *f, const mc_extremes *e, int64_t count, mc_shrunk *s) {
    const int64_t batch = rows->n < BATCH ? rows->n : BATCH;
    MC_TRY(mc_work_open(ctx, &s->work, need(rows, count, batch)));
    s->variable = mc_work_take(&s->work, count, sizeof(int64_t));
    for (int64_t t = 0, at = 0; t < dual->m; t++)
        if (in_question(dual, beta, f, e, t))
            s->variable[at++] = t;
    double *real[5];
    for (int i = 0; i < 5; i++)
        real[i] = mc_work_take(&s->work, count, sizeof(double));
    int64_t *row = mc_work_take(&s->work, count, sizeof(int64_t)),
            *place = mc_work_take(&s->work, rows->n, sizeof(int64_t));
    s->row_id = mc_work_take(&s->work, count, sizeof(int64_t));
    const int64_t n = mc_number_rows(dual, s->variable, count, rows->n, place, s->row_id, row);
    MC_TRY(mc_principal_open(ctx, rows, s->row_id, n, &s->part));
    s->rows = mc_principal_rows(&s->part);
    s->beta = real[0];
    s->f = real[1];
    s->dual = (mc_dual){.m = count, .row = row};
    fill(s, dual, beta, f, real[2], real[3], real[4], mc_work_take(&s->work, count, 1));
    return MERCER_OK;
}

mercer_status mc_shrunk_open(mercer_ctx *ctx, const mc_matrix *rows, const mc_dual *dual, const double *beta,
                             const double *f, const mc_extremes *e, int64_t count, mc_shrunk *out) {
    *out = (mc_shrunk){0};
    const int64_t most = count < rows->n ? count : rows->n;
    if (mc_principal_bytes(rows, most) + need(rows, count, BATCH) > mc_memory_left(ctx) / 2)
        return MERCER_OK;
    const mercer_status status = open_part(ctx, rows, dual, beta, f, e, count, out);
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
    const int64_t batch = rows->n < BATCH ? rows->n : BATCH;
    int64_t *ids = mc_work_take(&s->work, batch, sizeof *ids);
    double *c = mc_work_take(&s->work, batch, sizeof *c);
    const void **scratch = mc_work_take(&s->work, batch, sizeof *scratch);
    int64_t count = 0;
    for (int64_t i = 0; i < s->part.n; i++) {
        if (change[i] != 0) {
            ids[count] = s->row_id[i];
            c[count++] = change[i];
        }
        if (count == batch || (count && i == s->part.n - 1)) {
            MC_TRY(mc_matrix_add_rows(ctx, rows, ids, c, count, scratch, f));
            count = 0;
        }
    }
    return MERCER_OK;
}
