/* gram.c: opening and closing the operator: compile the expression, pack the points, have the reference evaluator give
   the diagonal. */
#include "gram/operator/gram.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "gram/device/device_block.h"
#include "gram/operator/entry_fault.h"
#include "gram/operator/precomputed.h"
#include "gram/tile/multiply.h"
#include "kernel/evaluate/evaluate_rows.h"
#include "kernel/language/fits.h"
#include "kernel/language/localise.h"
#include "linalg/cholesky.h"
#include <float.h>
#include <math.h>

static double diagonal_entry(const void *arg, const mc_view *row, const double *x) {
    const mc_node *root = arg;
    const unsigned before = mc_keep_subnormals(); /* as a strip of values from elsewhere has them */
    const double value = mc_eval_in_view(root, row, x, x);
    mc_restore_subnormals(before);
    return value;
}

/* A stationary kernel sees differences, all of them 0: every row has the value of the first. */
mercer_status mc_kernel_diagonal(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, double *out) {
    const bool level = mc_shape_of_node(kernel->root, x->d).stationary;
    const int64_t count = level && x->n > 1 ? 1 : x->n;
    MC_TRY(mc_evaluate_rows(ctx, kernel->root, x, count, diagonal_entry, kernel->root, out));
    for (int64_t i = 1; i < x->n && level; i++)
        out[i] = out[0];
    return MERCER_OK;
}

static mercer_status fill_diagonal(mercer_ctx *ctx, mc_gram *g) {
    MC_TRY(MC_ALLOC(ctx, g->diagonal, g->x->n));
    return mc_kernel_diagonal(ctx, g->kernel, g->x, g->diagonal);
}

static mercer_status check_pair(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                const mercer_data *z) {
    MC_TRY(mc_kernel_check_data(ctx, kernel, x));
    MC_TRY(z ? mc_kernel_check_data(ctx, kernel, z) : MERCER_OK);
    if (z && !mc_kept_same(x, z))
        return mc_fail(ctx, MERCER_INTERNAL, "the two tables keep %lld and %lld columns: give both the same ones",
                       (long long)x->d, (long long)z->d);
    return MERCER_OK;
}

static mercer_status prepare_operator(mercer_ctx *ctx, mc_gram *g, mercer_dtype precision) {
    MC_TRY(mc_gram_choose(ctx, g, precision));
    MC_TRY(mc_gram_pack(ctx, g));
    if (!g->symmetric)
        return MERCER_OK;
    MC_TRY(g->both_triangles ? MERCER_OK : mc_precomputed_symmetry(ctx, g));
    return fill_diagonal(ctx, g);
}

static mc_pairs_work work_of_products(const mc_gram *g) {
    mc_pairs_work work = {.pairs = (double)g->x->n * (double)g->z->n, .precision = g->precision};
    for (int i = 0; i < g->plan.parts; i++) {
        const mc_tile_part *p = &g->plan.part[i];
        work.width += (double)p->d;
        work.stored += p->sparse && p->left.n > 0 ? (double)p->left.start[p->left.n] / (double)p->left.n : (double)p->d;
    }
    work.bytes = (double)mc_real_size(g) * work.width * (double)(g->x->n + g->z->n);
    return work;
}

/* What does not fit there stays here. */
static mercer_status place_on(mercer_ctx *ctx, mc_gram *g, mc_device *device, const struct mc_device_gram *left) {
    const mercer_status status = mc_device_gram_open(ctx, g, device, left, &g->there);
    return !status || mc_device_leaves_it(ctx, device, status) ? MERCER_OK : status;
}

/* Products that cost less there are made on the device of the context, if it has one. */
mercer_status mc_gram_place(mercer_ctx *ctx, mc_gram *g, const struct mc_device_gram *left) {
    mc_device *device = NULL;
    if (!mc_device_can(g))
        return MERCER_OK;
    const mc_pairs_work work = work_of_products(g);
    MC_TRY(mc_device_for_pairs(ctx, &work, &device));
    return device ? place_on(ctx, g, device, left) : MERCER_OK;
}

mercer_status mc_gram_place_algebra(mercer_ctx *ctx, mc_gram *g, double operations, double bytes, mc_device **out) {
    MC_TRY(mc_device_for_algebra(ctx, operations, bytes, out));
    if (*out && !g->there && mc_device_can(g))
        MC_TRY(place_on(ctx, g, *out, NULL));
    if (!g->there || mc_device_gram_is_streamed(g->there))
        *out = NULL;
    return MERCER_OK;
}

mercer_status mc_gram_place_square(mercer_ctx *ctx, mc_gram *g, mc_device *device, bool *there) {
    if (!g->there && !g->fault && mc_device_can(g))
        MC_TRY(place_on(ctx, g, device, NULL));
    *there = g->there && !g->fault && !mc_device_gram_is_streamed(g->there);
    return MERCER_OK;
}

mercer_status mc_gram_write_lower(mercer_ctx *ctx, const mc_gram *gram, mc_dense A) {
    return mc_device_gram_write_lower(ctx, gram->there, A);
}

mercer_status mc_gram_forecast_algebra(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                       double operations, double bytes, bool *there) {
    mc_device *device = NULL;
    mc_gram g = {.kernel = kernel, .x = x, .z = x, .symmetric = true};
    MC_TRY(mc_device_for_algebra(ctx, operations, bytes, &device));
    *there = false;
    if (!device || x->n == 0)
        return MERCER_OK;
    const mercer_status status = mc_gram_choose(ctx, &g, MERCER_F64);
    *there = !status && mc_device_can(&g);
    mc_tile_program_free(&g.plan);
    return status;
}

mercer_status mc_gram_write(mercer_ctx *ctx, const mc_gram *gram, const double *root, const double *shift, mc_dense A) {
    if (A.place == MC_DEVICE)
        return mc_device_gram_write(ctx, gram->there, root, shift, A);
    MC_TRY(mc_gram_packed(ctx, gram, root ? NULL : shift, A.a));
    if (!root)
        return MERCER_OK;
    MC_TRY(mc_packed_scale(ctx, A.rows, A.a, root, 0));
    for (int64_t i = 0; shift && i < A.rows; i++)
        ((double *)A.a)[mc_packed_place(A.rows, i, i)] += shift[i];
    return MERCER_OK;
}

static mercer_status open_operator(mercer_ctx *ctx, mc_gram from, mercer_dtype precision, mc_gram **out) {
    *out = NULL;
    MC_TRY(check_pair(ctx, from.kernel, from.x, from.symmetric ? NULL : from.z));
    mc_gram *g = NULL;
    MC_TRY(MC_ALLOC(ctx, g, 1));
    *g = from;
    mercer_status status = prepare_operator(ctx, g, precision);
    MC_THEN(status, mc_gram_place(ctx, g, NULL));
    if (status) {
        mc_gram_close(g);
        return status;
    }
    *out = g;
    return MERCER_OK;
}

mercer_status mc_gram_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                           mercer_dtype precision, mc_gram **out) {
    return open_operator(ctx, (mc_gram){.kernel = kernel, .x = x, .z = z ? z : x, .symmetric = !z}, precision, out);
}

mercer_status mc_gram_open_both_triangles(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                          mc_gram **out) {
    return open_operator(ctx, (mc_gram){.kernel = kernel, .x = x, .z = x, .symmetric = true, .both_triangles = true},
                         MERCER_F64, out);
}

void mc_gram_close(mc_gram *gram) {
    if (!gram)
        return;
    mc_device_gram_close(gram->there);
    if (gram->packed_from)
        mc_gram_release_packed(gram);
    if (gram->is_view)
        mc_gram_close_view(gram);
    else
        mc_tile_program_free(&gram->plan);
    mercer_data_free(gram->own_z);
    mc_free(gram->diagonal);
    mc_free(gram->fault);
    mc_free(gram);
}

int64_t mc_gram_rows(const mc_gram *gram) {
    return gram->x->n;
}

int64_t mc_gram_columns(const mc_gram *gram) {
    return gram->z->n;
}

mercer_dtype mc_gram_precision(const mc_gram *gram) {
    return gram->precision;
}

double mc_gram_entry_error(const mc_gram *gram) {
    return gram->bound.error;
}

void mc_gram_entry_terms(const mc_gram *gram, double *relative, double *rest) {
    mc_tile_program_terms(&gram->plan, gram->ops, gram->bound.error, relative, rest);
}

/* gamma of the additions, and of products, right-hand sides and coefficients, which are rounded once each. */
double mc_gram_sum_error(const mc_gram *gram, int64_t t) {
    const double u = gram->ops->unit;
    const mc_product_depths depth = mc_product_depth(gram, t);
    const double sum = (depth.tile ? (double)(depth.tile + 8) * u : 0) + (double)(depth.wide + 8) * DBL_EPSILON / 2;
    return sum < 0.5 ? sum / (1 - sum) : INFINITY;
}

void mc_gram_raise_error(const mc_gram *gram, int64_t t, mc_product_error *error) {
    error->entry = fmax(error->entry, mc_gram_entry_error(gram));
    error->sum = fmax(error->sum, mc_gram_sum_error(gram, t));
}

/* What floats lose near 0 is far below a rounding of the largest. */
void mc_gram_product_terms(const mc_gram *gram, int64_t t, double *relative, double *rest) {
    const double sum = mc_gram_sum_error(gram, t);
    double entry;
    mc_tile_program_terms(&gram->plan, gram->ops, gram->bound.error, &entry, rest);
    const bool positive = entry > 0 || gram->bound.low >= 0;
    const double all = entry + sum + entry * sum;
    *relative = all >= 0.5 ? INFINITY : positive ? 1.01 * all / (1 - all) : 0;
    *rest = 1.01 * (*rest * (2 + sum) + FLT_MIN + (positive ? 0 : sum * gram->bound.size));
}

double mc_gram_entry_size(const mc_gram *gram) {
    return gram->bound.size;
}

/* ---- Pairs ---- */

/* Single entries of K by the tiles, to the same bits as blocks of it have: an entry is summed up in its own
   lane, whatever stands beside it. Entries of one panel of columns are made together, as many rows at a time as a tile
   has. */

enum { GRAIN = 256 };

typedef struct pairs {
    const mc_gram *gram;
    const int64_t *row, *column;
    double *out;
    mc_tile_workspace *space; /* per thread */
} pairs;

typedef struct pair_run {
    const pairs *p;
    int64_t begin;
} pair_run;

static void copy_strip_entries(void *arg, const mc_strip *strip) {
    const pair_run *r = arg;
    const mc_gram *g = r->p->gram;
    const int64_t width = g->ops->columns;
    for (int64_t k = 0; k < strip->space->count; k++) {
        const int64_t at = k * width + r->p->column[r->begin + k] - strip->panel * width;
        r->p->out[r->begin + k] = g->precision == MERCER_F32 ? (double)((const float *)strip->values)[at]
                                                             : ((const double *)strip->values)[at];
    }
}

static void fill_pairs(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const pairs *p = arg;
    const mc_gram *g = p->gram;
    mc_tile_workspace *space = &p->space[thread];
    for (int64_t from = begin, to; from < end; from = to) {
        const int64_t panel = p->column[from] / g->ops->columns;
        for (to = from + 1; to < end && to - from < g->ops->rows && p->column[to] / g->ops->columns == panel;)
            to++;
        mc_tile_workspace_rows(g, space, p->row + from, 0, to - from);
        pair_run r = {p, from};
        mc_tile_workspace_walk(g, space, 0, 1, panel, panel + 1, copy_strip_entries, &r);
    }
}

mercer_status mc_gram_pairs(mercer_ctx *ctx, const mc_gram *gram, const int64_t *row, const int64_t *column,
                            int64_t count, double *out) {
    pairs p = {.gram = gram, .row = row, .column = column, .out = out};
    mc_work work;
    MC_TRY(mc_tile_workspaces_open(ctx, gram, mc_for_threads(ctx, mc_chunk_count(count, GRAIN)), 1, &work, &p.space));
    const mercer_status status = mc_for(ctx, count, GRAIN, fill_pairs, &p);
    mc_work_close(&work);
    return status ? status : mc_fault_report(ctx, gram);
}

/* ---- The public calls ---- */

/* The Gram matrix and its products, as mercer.h offers them: an operator opened for one call. */

/* The operator of two tables that keep the same columns, with a kernel in the numbers of these. */
typedef struct opened {
    mc_aligned rows;
    mercer_kernel *bound; /* NULL: the kernel that was given will do */
    mc_gram *gram;
} opened;

static mercer_status bind_rows(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                               const mercer_data *other, opened *o) {
    const bool all = !data->used && !(other && other->used);
    o->rows = (mc_aligned){.x = data, .z = other};
    if (all && !kernel->shown)
        return MERCER_OK;
    MC_TRY(mc_kernel_check_ready(ctx, kernel, mc_data_width(data)));
    MC_TRY(mc_align_tables(ctx, kernel, data, other, &o->rows));
    return mc_kernel_bind(ctx, kernel, o->rows.x, &o->bound);
}

static void close_opened(opened *o) {
    mc_gram_close(o->gram);
    mercer_kernel_free(o->bound);
    mc_aligned_free(&o->rows);
}

mercer_status mercer_gram(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                          const mercer_data *other, double *out) {
    MC_NEED(ctx, kernel, data, out);
    mc_begin_call(ctx);
    opened o = {0};
    mercer_status status = bind_rows(ctx, kernel, data, other, &o);
    const mercer_kernel *k = o.bound ? o.bound : kernel;
    if (!status)
        status = other ? mc_gram_open(ctx, k, o.rows.x, o.rows.z, MERCER_F64, &o.gram)
                       : mc_gram_open_both_triangles(ctx, k, o.rows.x, &o.gram);
    if (!status) {
        const int64_t n = mc_gram_rows(o.gram), m = mc_gram_columns(o.gram);
        mc_begin_phase(ctx, "gram");
        status = mc_gram_block(ctx, o.gram, 0, n, 0, m, MERCER_F64, out, m);
    }
    close_opened(&o);
    return status;
}

mercer_status mercer_gram_apply(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                const mercer_data *other, mercer_dtype precision, const double *v, int64_t t,
                                double *out) {
    MC_NEED(ctx, kernel, data, v, out);
    mc_begin_call(ctx);
    if (t < 1)
        return mc_fail(ctx, MERCER_INVALID, "gram_apply: t must be at least 1 column, got %lld", (long long)t);
    opened o = {0};
    mercer_status status = bind_rows(ctx, kernel, data, other, &o);
    if (!status)
        status = mc_gram_open(ctx, o.bound ? o.bound : kernel, o.rows.x, o.rows.z, precision, &o.gram);
    if (!status) {
        mc_begin_phase(ctx, "product");
        status = mc_gram_apply(ctx, o.gram, t, v, out);
    }
    close_opened(&o);
    return status;
}
