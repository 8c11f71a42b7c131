/* matrix.c: see matrix.h. What an implementation leaves out is answered from rows that lie in memory. */
#include "linalg/matrix.h"
#include "backend/dispatch_qp.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"

enum {
    COLUMNS = 512, /* a stretch of f that stays in the first-level cache while the rows pass */
    GRAIN = 16     /* rows copied by a thread at a time */
};

mc_dense mc_matrix_whole(int64_t n, mercer_dtype dtype, const void *K, int64_t ld) {
    return (mc_dense){.layout = MC_ROW_MAJOR, .dtype = dtype, .rows = n, .columns = n, .ld = ld, .a = (void *)K};
}

mc_matrix mc_matrix_square(int64_t n, mercer_dtype dtype, const void *K, int64_t ld, const double *diag) {
    return (mc_matrix){.n = n, .dtype = dtype, .whole = mc_matrix_whole(n, dtype, K, ld), .diag = diag};
}

mercer_status mc_matrix_view(mercer_ctx *ctx, const mc_matrix *K, const int64_t *ids, int64_t count, const void **out) {
    if (!K->whole.a)
        return K->view(ctx, K->self, ids, count, out);
    for (int64_t k = 0; k < count; k++)
        out[k] = mc_submatrix(K->whole, ids[k], 0, 1, K->n).a;
    return MERCER_OK;
}

/* ---- Sums of rows ---- */

typedef struct sum {
    const mc_smo_body *body;
    const void *const *row;
    const double *c;
    int64_t count;
    double *f;
} sum;

static void add_columns(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const sum *s = arg;
    s->body->accumulate(s->row, s->c, s->count, begin, end, s->f);
}

mercer_status mc_matrix_add_rows(mercer_ctx *ctx, const mc_matrix *K, const int64_t *ids, const double *c,
                                 int64_t count, const void **scratch, double *f) {
    MC_TRY(mc_matrix_view(ctx, K, ids, count, scratch));
    sum s = {&mc_qp_bodies_of(ctx->isa)->smo[K->dtype], scratch, c, count, f};
    return mc_for(ctx, K->n, COLUMNS, add_columns, &s);
}

mercer_status mc_matrix_add(mercer_ctx *ctx, const mc_matrix *K, mercer_dtype precision, const int64_t *ids,
                            const double *c, int64_t count, double *f, mc_sum_error *sum_error) {
    if (K->add)
        return K->add(ctx, K->self, precision, ids, c, count, f, sum_error);
    const void **scratch = NULL;
    MC_TRY(MC_ALLOC(ctx, scratch, count));
    const mercer_status status = mc_matrix_add_rows(ctx, K, ids, c, count, scratch, f);
    mc_free(scratch);
    return status;
}

/* ---- Copies of entries ---- */

typedef struct copied_rows {
    mercer_dtype from, to;
    const void *const *row;
    const int64_t *column; /* NULL: from the first on, in order */
    int64_t first, count, ld;
    void *out;
} copied_rows;

static double entry_of(const copied_rows *c, int64_t r, int64_t column) {
    return c->from == MERCER_F64 ? ((const double *)c->row[r])[column] : (double)((const float *)c->row[r])[column];
}

static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const copied_rows *c = arg;
    for (int64_t r = begin; r < end; r++)
        for (int64_t j = 0; j < c->count; j++) {
            const double value = entry_of(c, r, c->column ? c->column[j] : c->first + j);
            if (c->to == MERCER_F64)
                ((double *)c->out)[r * c->ld + j] = value;
            else
                ((float *)c->out)[r * c->ld + j] = (float)value;
        }
}

/* out <- these rows of K at these columns. */
static mercer_status copy_entries(mercer_ctx *ctx, const mc_matrix *K, const int64_t *ids, int64_t rows,
                                  copied_rows c) {
    const void **row = NULL;
    MC_TRY(MC_ALLOC(ctx, row, rows));
    c.from = K->dtype;
    c.row = row;
    mercer_status status = mc_matrix_view(ctx, K, ids, rows, row);
    MC_THEN(status, mc_for(ctx, rows, GRAIN, copy_rows, &c));
    mc_free(row);
    return status;
}

mercer_status mc_matrix_block(mercer_ctx *ctx, const mc_matrix *K, mercer_dtype dtype, const int64_t *ids,
                              int64_t count, void *out) {
    if (K->block)
        return K->block(ctx, K->self, dtype, ids, count, out);
    return copy_entries(ctx, K, ids, count,
                        (copied_rows){.to = dtype, .column = ids, .count = count, .ld = count, .out = out});
}

mercer_status mc_matrix_rows(mercer_ctx *ctx, const mc_matrix *K, mercer_dtype dtype, const int64_t *ids, int64_t count,
                             int64_t begin, int64_t end, void *out, int64_t ld) {
    if (K->rows)
        return K->rows(ctx, K->self, dtype, ids, count, begin, end, out, ld);
    return copy_entries(ctx, K, ids, count,
                        (copied_rows){.to = dtype, .first = begin, .count = end - begin, .ld = ld, .out = out});
}

mercer_status mc_matrix_pairs(mercer_ctx *ctx, const mc_matrix *K, const int64_t *ids, int64_t count, double *out) {
    if (K->pairs)
        return K->pairs(ctx, K->self, ids, count, out);
    return copy_entries(ctx, K, ids, count,
                        (copied_rows){.to = MERCER_F64, .column = ids, .count = count, .ld = count, .out = out});
}

mercer_status mc_matrix_diagonal(mercer_ctx *ctx, const mc_matrix *K, double *out) {
    if (K->diagonal)
        return K->diagonal(ctx, K->self, out);
    for (int64_t i = 0; i < K->n; i++) {
        const void *row = NULL;
        if (!K->diag)
            MC_TRY(mc_matrix_view(ctx, K, &i, 1, &row));
        out[i] = K->diag ? K->diag[i] : entry_of(&(copied_rows){.from = K->dtype, .row = &row}, 0, i);
    }
    return MERCER_OK;
}

size_t mc_matrix_bytes(mercer_ctx *ctx, const mc_matrix *K, mercer_dtype dtype, int64_t count) {
    return K->bytes ? K->bytes(ctx, K->self, dtype, count) : mc_work_need(count, sizeof(void *)) + 2 * MC_ALIGN;
}
