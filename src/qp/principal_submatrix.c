/* principal_submatrix.c: see principal_submatrix.h. */
#include "qp/principal_submatrix.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "backend/dispatch_qp.h"

enum { GRAIN = 32 }; /* rows copied by a thread at a time */

size_t mc_principal_bytes(const mc_matrix *whole, int64_t n) {
    return mc_work_need(n * n, mc_dtype_size(whole->dtype)) + mc_work_need(n, sizeof(double))
           + mc_work_need(n, sizeof(void *));
}

typedef struct copied_submatrix {
    const mc_principal *part;
    const mc_smo_body *body;
    const void *const *row;
    const int64_t *id;
} copied_submatrix;

static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const copied_submatrix *c = arg;
    const size_t bytes = (size_t)c->part->n * mc_dtype_size(c->part->dtype);
    for (int64_t k = begin; k < end; k++)
        c->body->gather(c->row[k], c->id, c->part->n, c->part->K + (size_t)k * bytes);
}

static mercer_status copy_submatrix(mercer_ctx *ctx, const mc_matrix *whole, const int64_t *id, mc_principal *part) {
    const void **row = NULL;
    MC_TRY(MC_ALLOC(ctx, row, part->n));
    copied_submatrix c = {part, &mc_qp_bodies_of(ctx->isa)->smo[part->dtype], row, id};
    mercer_status status = mc_matrix_view(ctx, whole, id, part->n, row);
    MC_THEN(status, mc_for(ctx, part->n, GRAIN, copy_rows, &c));
    mc_free(row);
    return status;
}

mercer_status mc_principal_open(mercer_ctx *ctx, const mc_matrix *whole, const int64_t *id, int64_t n,
                                mc_principal *out) {
    *out = (mc_principal){.n = n, .dtype = whole->dtype, .K = mc_alloc_unset(ctx, n * n, mc_dtype_size(whole->dtype))};
    mercer_status status = out->K ? MC_ALLOC(ctx, out->diagonal, n) : MERCER_MEMORY;
    for (int64_t k = 0; k < n && !status; k++)
        out->diagonal[k] = whole->diag[id[k]];
    MC_THEN(status, copy_submatrix(ctx, whole, id, out));
    if (status)
        mc_principal_close(out);
    return status;
}

void mc_principal_close(mc_principal *part) {
    mc_free(part->K);
    mc_free(part->diagonal);
    *part = (mc_principal){0};
}

mc_matrix mc_principal_rows(const mc_principal *part) {
    return mc_matrix_square(part->n, part->dtype, part->K, part->n, part->diagonal);
}
