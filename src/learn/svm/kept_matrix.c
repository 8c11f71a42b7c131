/* kept_matrix.c: K of all rows in double, kept while the programs over it are solved and certified. A single program
   has it made as far as its steps ask for rows (qp/stored_smo.h), which for most are those of its support vectors and
   few others; memory that no row has reached is never touched. Several programs share one that is made at once. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "gram/operator/gram.h"
#include "learn/svm/svm.h"
#include <string.h>

enum {
    LEAST = 1000, /* rows below which all of K costs nothing worth saving */
    TOGETHER = MC_ROWS_TOGETHER
};

typedef struct asked_rows {
    mc_rows_on_demand demand; /* first: rows are asked for by it */
    mercer_ctx *ctx;
    const mc_svm *s;
    bool whole; /* all rows are there, each in its own place */
    mercer_status status;
} asked_rows;

size_t mc_svm_kept_bytes(int64_t n) {
    return mc_work_need(n * mc_kernel_runs_ld(n), sizeof(double));
}

/* Lanes beyond the last column are read. */
static void close_rows(const mc_kept_kernel *kept, int64_t n, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        memset(kept->K + i * kept->ld + n, 0, (size_t)(kept->ld - n) * sizeof *kept->K);
}

static mercer_status make_all(mercer_ctx *ctx, const mc_svm *s) {
    const int64_t n = s->p.n;
    close_rows(&s->kept, n, 0, n);
    return mc_gram_block(ctx, s->kept.gram, 0, n, 0, n, MERCER_F64, s->kept.K, s->kept.ld);
}

static mercer_status make_listed(const asked_rows *a, const int64_t *rows, int64_t count, int64_t to) {
    const mc_kept_kernel *kept = &a->s->kept;
    close_rows(kept, a->s->p.n, to, to + count);
    return mc_gram_take(a->ctx, kept->gram, rows, count, MERCER_F64, kept->K + to * kept->ld, kept->ld);
}

/* After a failure nothing is there, and nobody goes on. */
static void make_rows(const mc_rows_on_demand *self, const int64_t *rows, int64_t count, int64_t to) {
    asked_rows *a = (asked_rows *)self;
    if (!a->status)
        a->status = rows ? make_listed(a, rows, count, to) : make_all(a->ctx, a->s);
    a->whole = a->whole || !rows;
    a->demand.over = a->status != MERCER_OK;
}

/* All rows cost as much as two fifths of them, for symmetry. */
static mercer_status open_demand(mercer_ctx *ctx, mc_svm *s) {
    const int64_t n = s->p.n;
    int32_t *line = NULL;
    asked_rows *a = NULL;
    MC_TRY(MC_ALLOC(ctx, a, 1));
    *a = (asked_rows){.ctx = ctx, .s = s};
    s->kept.demand = &a->demand;
    MC_TRY(MC_ALLOC(ctx, line, n));
    for (int64_t i = 0; i < n; i++)
        line[i] = -1;
    a->demand = (mc_rows_on_demand){.line = line, .all = true, .together = TOGETHER, .make = make_rows};
    a->demand.most = a->demand.many = 2 * n / 5;
    a->demand.look = n / 8;
    return MERCER_OK;
}

static mercer_status open_kept(mercer_ctx *ctx, mc_svm *s) {
    const int64_t n = s->p.n;
    s->kept.ld = mc_kernel_runs_ld(n);
    MC_TRY(mc_gram_open(ctx, s->p.kernel, s->p.x, NULL, MERCER_F64, &s->kept.gram));
    s->kept.K = mc_alloc_unset(ctx, n * s->kept.ld, sizeof *s->kept.K);
    if (!s->kept.K)
        return MERCER_MEMORY;
    return s->tasks == 1 && n >= LEAST ? open_demand(ctx, s) : make_all(ctx, s);
}

mercer_status mc_svm_kept_open(mercer_ctx *ctx, mc_svm *s) {
    const mercer_status status = open_kept(ctx, s);
    if (status)
        mc_svm_kept_close(s);
    return status;
}

mercer_status mc_svm_kept_status(const mc_svm *s) {
    return s->kept.demand ? ((const asked_rows *)s->kept.demand)->status : MERCER_OK;
}

static void close_demand(mc_svm *s) {
    if (s->kept.demand)
        mc_free(s->kept.demand->line);
    mc_free(s->kept.demand);
    s->kept.demand = NULL;
}

mercer_status mc_svm_kept_complete(mercer_ctx *ctx, mc_svm *s) {
    asked_rows *a = (asked_rows *)s->kept.demand;
    if (!a)
        return MERCER_OK;
    a->ctx = ctx;
    if (!a->whole)
        make_rows(&a->demand, NULL, 0, 0);
    MC_TRY(a->status);
    close_demand(s);
    return MERCER_OK;
}

void mc_svm_kept_close(mc_svm *s) {
    close_demand(s);
    mc_gram_close(s->kept.gram);
    mc_free(s->kept.K);
    s->kept = (mc_kept_kernel){0};
}
