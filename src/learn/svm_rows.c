/* svm_rows.c: K as the programmes see it (solve/active.h): blocks and products by the tile engine from the rows of the programme. A pair of
   classes has its rows copied together first, so that all it asks for is of its own size. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/data.h"
#include "kernel/kernel.h"
#include "learn/svm.h"
#include <math.h>
#include <string.h>

enum {
    DOUBLE_ROWS = 3000, /* up to so many rows double precision costs nothing worth saving */
    MOST = 8192,        /* variables in an active set */
    LEAST = 16
};

/* ---- A matrix ---- */

typedef struct rows_of_task {
    const mc_svm *s;
    const mercer_data *x;
    mercer_data *taken; /* x, where the programme has a part of the rows only */
    double *diagonal;   /* likewise */
    double *product;    /* n */
} rows_of_task;

static mercer_status block(mercer_ctx *ctx, const mc_matrix *matrix, const int64_t *ids, int64_t count, void *out) {
    const rows_of_task *r = matrix->self;
    mercer_data *part = NULL;
    mc_gram *gram = NULL;
    MC_TRY(mc_data_take(ctx, r->x, ids, count, &part));
    mercer_status status = mc_gram_open(ctx, r->s->p.kernel, part, NULL, matrix->dtype, &gram);
    if (!status)
        status = mc_gram_block(ctx, gram, 0, count, 0, count, matrix->dtype, out, count);
    mc_gram_close(gram);
    mercer_data_free(part);
    return status;
}

static mercer_status add(mercer_ctx *ctx, const mc_matrix *matrix, mercer_dtype precision, const int64_t *ids, const double *c,
                         int64_t count, double *f) {
    const rows_of_task *r = matrix->self;
    mercer_data *part = NULL;
    mc_gram *gram = NULL;
    MC_TRY(mc_data_take(ctx, r->x, ids, count, &part));
    mercer_status status = mc_gram_open(ctx, r->s->p.kernel, r->x, part, precision, &gram);
    if (!status)
        status = mc_gram_apply(ctx, gram, 1, c, r->product);
    for (int64_t i = 0; i < matrix->n && !status; i++)
        f[i] += r->product[i];
    mc_gram_close(gram);
    mercer_data_free(part);
    return status;
}

static mercer_status take_rows(mercer_ctx *ctx, const mc_svm *s, const mc_task *t, rows_of_task *r) {
    int64_t *rows = NULL;
    if (MC_ALLOC(ctx, rows, t->n) || MC_ALLOC(ctx, r->diagonal, t->n)) {
        mc_free(rows);
        return MERCER_MEMORY;
    }
    for (int64_t i = 0; i < t->n; i++) {
        rows[i] = mc_task_row(s, t, i);
        r->diagonal[i] = s->diagonal[rows[i]];
    }
    const mercer_status status = mc_data_take(ctx, s->p.x, rows, t->n, &r->taken);
    r->x = r->taken;
    mc_free(rows);
    return status;
}

static void close_rows(rows_of_task *r) {
    mercer_data_free(r->taken);
    mc_free(r->diagonal);
    mc_free(r->product);
}

static mercer_status open_rows(mercer_ctx *ctx, const mc_svm *s, const mc_task *t, rows_of_task *r) {
    *r = (rows_of_task){.s = s, .x = s->p.x};
    mercer_status status = MC_ALLOC(ctx, r->product, t->n);
    if (!status && t->n < s->p.n)
        status = take_rows(ctx, s, t, r);
    if (status)
        close_rows(r);
    return status;
}

static mc_matrix matrix_of(const mc_svm *s, const mc_task *t, const rows_of_task *r) {
    return (mc_matrix){.n = t->n, .dtype = s->dtype, .diagonal = r->diagonal ? r->diagonal : s->diagonal, .block = block, .add = add,
                       .self = r};
}

/* ---- Bytes ---- */

/* Of the largest programme: its arrays, its rows, and what products with them take in double precision. */
static size_t beside(mercer_ctx *ctx, const mc_problem *p, int64_t m) {
    const size_t rows = (size_t)mercer_data_stored(p->x) * 12 + (size_t)p->n * 40;
    return mc_gram_bytes(ctx, p->kernel, p->x, p->x, MERCER_F64, 1) + 2 * rows + (size_t)m * 6 * sizeof(double) + (2 << 20);
}

int64_t mc_svm_active(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype) {
    const size_t left = mc_memory_left(ctx), need = beside(ctx, p, m);
    int64_t most = m < MOST ? m : MOST;
    while (most > LEAST && need + mc_active_bytes(p->n, m, most, dtype) > left)
        most = most / 4 * 3;
    return most < LEAST ? LEAST : most;
}

size_t mc_svm_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype) {
    return beside(ctx, p, m) + mc_active_bytes(p->n, m, mc_svm_active(ctx, p, m, dtype), dtype);
}

mercer_dtype mc_svm_dtype(const mercer_svm *set, int64_t n) {
    return set->precision[0] == 'd' || (set->precision[0] == 'a' && n <= DOUBLE_ROWS) ? MERCER_F64 : MERCER_F32;
}

/* ---- The diagonal ---- */

typedef struct judged {
    const mc_svm *s;
    double *scratch; /* d per thread */
} judged;

static void judge_diagonal(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const judged *j = arg;
    const mercer_data *x = j->s->p.x;
    double *row = j->scratch + thread * x->d;
    for (int64_t i = begin; i < end; i++) {
        mercer_data_row(x, i, row);
        j->s->diagonal[i] = mc_eval(j->s->p.kernel->root, row, row, x->d);
    }
}

mercer_status mc_svm_rows_open(mercer_ctx *ctx, mc_svm *s) {
    judged j = {.s = s};
    s->dtype = mc_svm_dtype(s->set, s->p.n);
    s->most = mc_svm_active(ctx, &s->p, s->row->doubled ? 2 * s->p.n : s->p.n, s->dtype);
    MC_TRY(MC_ALLOC(ctx, s->diagonal, s->p.n));
    MC_TRY(MC_ALLOC(ctx, j.scratch, ctx->threads * s->p.x->d));
    const mercer_status status = mc_for(ctx, s->p.n, 64, judge_diagonal, &j);
    mc_free(j.scratch);
    mc_log(ctx, "%s: %lld rows, %s; up to %lld variables at a time, their part of K in %s precision", s->row->name, (long long)s->p.n,
           s->p.x->row_start ? "sparse" : "dense", (long long)s->most, s->dtype == MERCER_F64 ? "double" : "single");
    return status;
}

/* ---- Solving ---- */

static mercer_status solve_with(mercer_ctx *ctx, mc_svm *s, mc_task *t, const mc_matrix *matrix) {
    mc_programme programme;
    MC_TRY(mc_programme_open(ctx, s, t, &programme));
    const mc_active_problem problem = {programme.dual, *matrix, t->tolerance, s->set->iterations - t->result.steps, s->most};
    const mc_smo_result before = t->result;
    const mercer_status status = mc_active_solve(ctx, &problem, t->beta, t->f, &t->result);
    t->result.steps += before.steps;
    t->result.rounds += before.rounds;
    mc_programme_close(&programme);
    return status;
}

static mercer_status product_with(mercer_ctx *ctx, mc_svm *s, mc_task *t, const mc_matrix *matrix) {
    mc_programme programme;
    MC_TRY(mc_programme_open(ctx, s, t, &programme));
    const mercer_status status = mc_active_product(ctx, matrix, MERCER_F64, &programme.dual, t->beta, t->f);
    mc_programme_close(&programme);
    return status;
}

static mercer_status with_rows(mercer_ctx *ctx, mc_svm *s, mc_task *t,
                               mercer_status (*work)(mercer_ctx *, mc_svm *, mc_task *, const mc_matrix *)) {
    rows_of_task rows;
    MC_TRY(open_rows(ctx, s, t, &rows));
    const mc_matrix matrix = matrix_of(s, t, &rows);
    const mercer_status status = work(ctx, s, t, &matrix);
    close_rows(&rows);
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
