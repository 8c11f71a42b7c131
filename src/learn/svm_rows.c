/* svm_rows.c: rows of K for the programmes: computed by the tile engine when a programme first needs them, kept while the memory limit
   allows, shared by all programmes. Where all of K fits it is stored, row by row as it is asked for. */
#include "base/memory.h"
#include "base/status.h"
#include "data/data.h"
#include "learn/svm.h"
#include <string.h>

enum { DOUBLE_ROWS = 3000 }; /* up to so many rows double precision costs nothing worth saving */

static mercer_status fill_rows(mercer_ctx *ctx, const void *self, const int64_t *ids, int64_t count, int64_t j0, int64_t j1,
                               void *const *out) {
    const mc_svm *s = self;
    return mc_gram_scatter(ctx, s->gram, ids, count, j0, j1, s->dtype, out);
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* What the fit takes beside the rows: the solver on its largest programme, or later the check. */
static size_t beside(mercer_ctx *ctx, const mc_svm *s) {
    int64_t n = 0, m = 0;
    for (int64_t k = 0; k < s->tasks; k++) {
        n = s->task[k].n > n ? s->task[k].n : n;
        m = s->task[k].m > m ? s->task[k].m : m;
    }
    const size_t solving = mc_smo_bytes(n, m, s->dtype) + (size_t)m * 5 * sizeof(double);
    return larger(solving, mc_gram_bytes(ctx, s->p.kernel, s->p.x, NULL, MERCER_F64, s->tasks)) + (4 << 20);
}

size_t mc_svm_rows_budget(mercer_ctx *ctx, const mc_svm *s) {
    const size_t left = mc_memory_left(ctx), need = beside(ctx, s);
    const size_t entry = s->dtype == MERCER_F64 ? sizeof(double) : sizeof(float);
    const size_t all = ((size_t)s->p.n * entry + MC_ALIGN) * (size_t)s->p.n;
    const size_t room = left > need ? (left - need) / 4 * 3 : 0; /* the last quarter is for shrunk programmes */
    return all < room ? all : room;
}

mercer_status mc_svm_rows_open(mercer_ctx *ctx, mc_svm *s) {
    const char *asked = s->set->precision;
    s->dtype = asked[0] == 'd' || (asked[0] == 'a' && s->p.n <= DOUBLE_ROWS) ? MERCER_F64 : MERCER_F32;
    MC_TRY(MC_ALLOC(ctx, s->diagonal, s->p.n));
    MC_TRY(mc_gram_open(ctx, s->p.kernel, s->p.x, NULL, s->dtype, &s->gram));
    MC_TRY(mc_gram_diagonal(ctx, s->gram, s->diagonal));
    const mc_row_source source = {.n = s->p.n, .dtype = s->dtype, .diagonal = s->diagonal, .fill = fill_rows, .self = s};
    const size_t bytes = mc_svm_rows_budget(ctx, s);
    MC_TRY(mc_row_cache_open(ctx, &source, s->classes ? s->classes : 1, s->start, bytes, &s->cache));
    mc_log(ctx, "%s: %lld rows, %s; rows of K in %s precision, at most %.3g MiB of them", s->row->name, (long long)s->p.n,
           s->p.x->row_start ? "sparse" : "dense", s->dtype == MERCER_F64 ? "double" : "single", (double)bytes / 1048576);
    return MERCER_OK;
}

void mc_svm_rows_close(mc_svm *s) {
    mc_row_cache_close(s->cache);
    mc_gram_close(s->gram);
    mc_free(s->diagonal);
    s->cache = NULL;
    s->gram = NULL;
    s->diagonal = NULL;
}

static mercer_status solve_with(mercer_ctx *ctx, mc_svm *s, mc_task *t, const mc_rows *rows) {
    mc_programme programme;
    MC_TRY(mc_programme_open(ctx, s, t, &programme));
    const mc_smo_problem problem = {programme.dual, *rows, t->tolerance, s->set->iterations - t->result.steps};
    const mc_smo_result before = t->result;
    const mercer_status status = mc_smo_solve(ctx, &problem, t->beta, t->f, &t->result);
    t->result.steps += before.steps;
    t->result.rounds += before.rounds;
    mc_programme_close(&programme);
    return status;
}

static mercer_status product_with(mercer_ctx *ctx, mc_svm *s, mc_task *t, const mc_rows *rows) {
    mc_programme programme;
    MC_TRY(mc_programme_open(ctx, s, t, &programme));
    const mercer_status status = mc_smo_product(ctx, rows, &programme.dual, t->beta, t->f);
    mc_programme_close(&programme);
    return status;
}

static mercer_status with_rows(mercer_ctx *ctx, mc_svm *s, mc_task *t,
                               mercer_status (*work)(mercer_ctx *, mc_svm *, mc_task *, const mc_rows *)) {
    mc_row_view view;
    mc_rows rows;
    MC_TRY(mc_row_view_open(ctx, s->cache, t->a, t->b, &view, &rows));
    const mercer_status status = work(ctx, s, t, &rows);
    mc_row_view_close(&view);
    return status;
}

mercer_status mc_task_solve(mercer_ctx *ctx, mc_svm *s, mc_task *t) {
    return with_rows(ctx, s, t, solve_with);
}

mercer_status mc_task_product(mercer_ctx *ctx, mc_svm *s, mc_task *t) {
    for (int64_t v = 0; v < t->m; v++)
        if (t->beta[v] != 0)
            return with_rows(ctx, s, t, product_with);
    return MERCER_OK;
}
