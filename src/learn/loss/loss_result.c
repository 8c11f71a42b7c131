/* loss_result.c: what stays of a machine with a convex loss: the rows with a coefficient, the values, the report. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "learn/loss/loss_machine.h"
#include <math.h>
#include <string.h>

static bool has_coefficient(const mc_loss_machine *m, int64_t i) {
    for (int64_t j = 0; j < m->count; j++)
        for (int64_t l = 0; l < m->task[j].k; l++)
            if (m->task[j].alpha[i * m->task[j].k + l] != 0)
                return true;
    return false;
}

/* Rows to keep, of two classes those of the first before those of the second. */
static int64_t choose_rows(const mc_loss_machine *m, int64_t *rows, int64_t *first) {
    int64_t count = 0;
    *first = 0;
    for (int64_t pass = 0; pass < (m->classes == 2 ? 2 : 1); pass++) {
        for (int64_t i = 0; i < m->p.n; i++)
            if ((m->classes != 2 || m->p.class_of[i] == pass) && has_coefficient(m, i))
                rows[count++] = i;
        *first = pass ? *first : count;
    }
    return count;
}

static mercer_status keep_values(mercer_ctx *ctx, const mc_loss_machine *m, const int64_t *rows, int64_t count,
                                 mc_fitted *f) {
    const int64_t width = mc_form_width(f->form, f->outputs);
    MC_TRY(MC_ALLOC(ctx, f->alpha, count * width));
    MC_TRY(MC_ALLOC(ctx, f->intercept, width));
    for (int64_t j = 0, column = 0; j < m->count; column += m->task[j++].k)
        for (int64_t l = 0; l < m->task[j].k; l++) {
            f->intercept[column + l] = m->task[j].b[l];
            for (int64_t i = 0; i < count; i++)
                f->alpha[i * width + column + l] = m->task[j].alpha[rows[i] * m->task[j].k + l];
        }
    return MERCER_OK;
}

static mercer_status keep_rows(mercer_ctx *ctx, const mc_loss_machine *m, int64_t *rows, mc_fitted *f) {
    int64_t first;
    const int64_t count = choose_rows(m, rows, &first);
    f->form = m->classes == 2 ? MC_PAIRS : MC_VALUES;
    f->outputs = m->p.outputs;
    MC_TRY(mc_data_take(ctx, m->p.x, rows, count, &f->centres));
    MC_TRY(MC_ALLOC(ctx, f->row, count));
    for (int64_t i = 0; i < count; i++)
        f->row[i] = m->place[rows[i]];
    if (f->form == MC_PAIRS) {
        MC_TRY(MC_ALLOC(ctx, f->class_start, 3));
        f->class_start[1] = first;
        f->class_start[2] = count;
    }
    return keep_values(ctx, m, rows, count, f);
}

mercer_status mc_loss_keep_expansion(mercer_ctx *ctx, const mc_loss_machine *m, mc_fitted *f) {
    int64_t *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, m->p.n));
    const mercer_status status = keep_rows(ctx, m, rows, f);
    mc_free(rows);
    return status;
}

/* ---- The report ---- */

static void count_bounded(const mc_loss_machine *m, mercer_report *r) {
    for (int64_t j = 0; j < m->count && !m->loss->smooth; j++)
        for (int64_t i = 0; i < m->p.n; i++) {
            double low, high;
            const mc_loss_task *t = &m->task[j];
            const double v = -t->lambda * t->alpha[i] / t->cost[i];
            m->loss->domain(t, t->y[i], &low, &high);
            const bool bound = v <= low * (1 - 1e-12) || v >= high * (1 - 1e-12);
            r->bounded_vectors += t->alpha[i] != 0 && bound;
            r->free_vectors += t->alpha[i] != 0 && !bound;
        }
}

void mc_loss_write_report(const mc_loss_machine *m, mercer_status stopped, const mc_fitted *f, mercer_report *r) {
    const char *solver = m->loss->smooth ? mc_loss_methods[m->method] : "smo";
    *r = (mercer_report){.machine = m->loss->name, .solver = solver, .scale = mc_scaling_names[m->p.scale.kind]};
    r->n = m->p.n;
    r->d = mc_data_width(m->p.x);
    r->outputs = f->outputs;
    r->lambda = m->lambda;
    r->loo_rmse = r->dof = r->gcv = r->log_evidence = r->loo_log_density = NAN;
    r->rank = m->workspace ? mc_loss_workspace_rank(m->workspace) : 0;
    r->stopped = "no";
    for (int64_t j = 0; j < m->count; j++) {
        r->iterations += m->task[j].iterations;
        r->stopped = strcmp(m->task[j].stopped, "no") ? m->task[j].stopped : r->stopped;
    }
    if (!mc_loss_is_good(m) && strcmp(r->stopped, "no") == 0)
        r->stopped = "precision";
    if (stopped)
        r->stopped = stopped == MERCER_TIME ? "time" : "caller";
    r->support_vectors = f->centres->n;
    count_bounded(m, r);
    mc_loss_report(m->task, m->count, m->found, r);
}
