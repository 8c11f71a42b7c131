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

static void lay_out_principal(mc_work *work, void *self) {
    mc_principal *p = self;
    p->K = mc_work_take(work, p->n * p->n, mc_dtype_size(p->dtype));
    p->diagonal = mc_work_take(work, p->n, sizeof *p->diagonal);
    p->row = mc_work_take(work, p->n, sizeof *p->row);
}

size_t mc_principal_bytes(const mc_matrix *whole, int64_t n) {
    return mc_slices_bytes(lay_out_principal, &(mc_principal){.n = n, .dtype = whole->dtype});
}

typedef struct copied_submatrix {
    const mc_principal *part;
    const mc_smo_body *body;
    const int64_t *id;
} copied_submatrix;

static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const copied_submatrix *c = arg;
    const size_t bytes = (size_t)c->part->n * mc_dtype_size(c->part->dtype);
    for (int64_t k = begin; k < end; k++)
        c->body->gather(c->part->row[k], c->id, c->part->n, c->part->K + (size_t)k * bytes);
}

static mercer_status copy_submatrix(mercer_ctx *ctx, const mc_matrix *whole, const int64_t *id, mc_principal *part) {
    copied_submatrix c = {part, &mc_qp_bodies_of(ctx->isa)->smo[part->dtype], id};
    MC_TRY(mc_matrix_view(ctx, whole, id, part->n, part->row));
    return mc_for(ctx, part->n, GRAIN, copy_rows, &c);
}

mercer_status mc_principal_open(mercer_ctx *ctx, const mc_matrix *whole, const int64_t *id, int64_t n,
                                mc_principal *out) {
    *out = (mc_principal){.n = n, .dtype = whole->dtype};
    MC_TRY(mc_work_lay(ctx, &out->work, lay_out_principal, out));
    for (int64_t k = 0; k < n; k++)
        out->diagonal[k] = whole->diag[id[k]];
    const mercer_status status = copy_submatrix(ctx, whole, id, out);
    if (status)
        mc_principal_close(out);
    return status;
}

void mc_principal_close(mc_principal *part) {
    mc_work_close(&part->work);
    *part = (mc_principal){0};
}

mc_matrix mc_principal_rows(const mc_principal *part) {
    return mc_matrix_square(part->n, part->dtype, part->K, part->n, part->diagonal);
}
