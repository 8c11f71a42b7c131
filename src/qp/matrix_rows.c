/* matrix_rows.c: sums of rows, and rows of a square matrix that lies in memory. */
#include "qp/matrix_rows.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include "backend/dispatch_qp.h"

enum { COLUMNS = 2048 }; /* a stretch of f that stays in the first-level cache while the rows pass */

typedef struct sum {
    const mc_smo_body *body;
    const void *const *row;
    const double *c;
    int64_t count;
    double *f;
} sum;

static void add_columns(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const sum *s = arg;
    s->body->accumulate(s->row, s->c, s->count, begin, end, s->f);
}

mercer_status mc_rows_add(mercer_ctx *ctx, const mc_matrix_rows *rows, const int64_t *ids, const double *c,
                          int64_t count, const void **scratch, double *f) {
    MC_TRY(rows->take(ctx, rows, ids, count, scratch));
    sum s = {&mc_qp_bodies_of(ctx->isa)->smo[rows->dtype], scratch, c, count, f};
    return mc_for(ctx, rows->n, COLUMNS, add_columns, &s);
}

static mercer_status take_stored(mercer_ctx *ctx, const mc_matrix_rows *rows, const int64_t *ids, int64_t count,
                                 const void **out) {
    (void)ctx;
    const int64_t bytes = rows->ld * (rows->dtype == MERCER_F64 ? 8 : 4);
    for (int64_t k = 0; k < count; k++)
        out[k] = (const char *)rows->stored + ids[k] * bytes;
    return MERCER_OK;
}

mc_matrix_rows mc_rows_stored(int64_t n, mercer_dtype dtype, const void *K, int64_t ld, const double *diagonal) {
    return (mc_matrix_rows){
        .n = n, .dtype = dtype, .most = n, .diagonal = diagonal, .take = take_stored, .stored = K, .ld = ld};
}
