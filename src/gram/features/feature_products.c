/* feature_products.c: see feature_products.h. Rows go through in chunks whose size depends on the shape alone; sums
   over rows are made segment by segment and added in order. */
#include "gram/features/feature_products.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "linalg/narrow_product.h"
#include <string.h>

enum { LANES = 8, SEGMENTS = 16, BLOCK = 128 };
static const double CHUNK = 1 << 17, SEGMENT = 1 << 18; /* products worth a thread */

static bool is_plain(const mercer_kernel *kernel, const mercer_data *x) {
    return mc_kernel_linear(kernel) && !x->row_start && x->dtype == MERCER_F64;
}

/* ---- Rows of Z ---- */

static int64_t scratch_of(const mc_feature_products *z) {
    return z->Z ? 0 : z->x->d + (z->map ? mc_features_scratch(z->map) : 0);
}

static void write_row(const mc_feature_products *z, int64_t i, double *scratch, double *out) {
    if (!z->map) {
        mc_data_values(z->x, i, out);
        return;
    }
    mc_data_values(z->x, i, scratch);
    mc_features_row(z->map, scratch, scratch + z->x->d, out);
}

static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_feature_products *z = arg;
    for (int64_t i = begin; i < end; i++)
        mc_data_values(z->x, i, z->own + i * z->D);
}

static mercer_status keep_features(mercer_ctx *ctx, mc_feature_products *z) {
    MC_TRY(MC_ALLOC(ctx, z->own, z->n * z->D));
    z->Z = z->own;
    return z->map ? mc_features_of_rows(ctx, z->map, z->x, z->own) : mc_for(ctx, z->n, BLOCK, copy_rows, z);
}

mercer_status mc_feature_products_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, bool keep,
                                       mc_feature_products *out) {
    *out = (mc_feature_products){.x = x, .n = x->n, .D = x->d};
    if (!mc_kernel_linear(kernel)) {
        MC_TRY(mc_features_open(ctx, kernel->root, x->d, &out->map));
        out->D = mc_features_dimension(out->map);
    }
    if (is_plain(kernel, x))
        out->Z = x->values;
    const mercer_status status = keep && !out->Z ? keep_features(ctx, out) : MERCER_OK;
    if (status)
        mc_feature_products_close(out);
    return status;
}

void mc_feature_products_close(mc_feature_products *z) {
    mc_features_close(z->map);
    mc_free(z->own);
    *z = (mc_feature_products){0};
}

/* ---- Products ---- */

static bool is_sparse(const mc_feature_products *z) {
    return !z->Z && !z->map && z->x->row_start;
}

typedef struct feature_product {
    const mc_feature_products *z;
    mc_isa isa;
    int64_t t;
    const double *from; /* V, or W */
    double *to;         /* segments x t x D, or Y */
    double *block;      /* per thread: block_rows of Z and scratch; NULL: Z lies in memory */
    int64_t block_each;
    double *sums; /* per thread: t x D */
    int64_t threads, segments;
    mc_work work; /* of block and sums, and of to where there are segments to add up */
} feature_product;

static void lay_out_product(mc_work *work, void *self) {
    feature_product *p = self;
    const int64_t size = p->t * p->z->D;
    if (p->block_each)
        p->block = mc_work_take(work, p->block_each * p->threads, sizeof *p->block);
    if (p->segments)
        p->sums = mc_work_take(work, size * p->threads, sizeof *p->sums);
    if (p->segments > 1)
        p->to = mc_work_take(work, size * p->segments, sizeof *p->to);
}

/* Rows of Z that a thread writes at once. */
static int64_t block_rows(int64_t n) {
    return n < BLOCK ? n : BLOCK;
}

static int64_t rows_worth(const mc_feature_products *z, int64_t t, double work) {
    const double rows = work / (double)(z->D * t + 1);
    return rows > (double)z->n ? z->n + 1 : rows < BLOCK ? BLOCK : (int64_t)rows;
}

static int64_t segment_rows(const mc_feature_products *z, int64_t t) {
    const int64_t least = rows_worth(z, t, SEGMENT), even = mc_chunk_count(z->n, SEGMENTS);
    return least > even ? least : even > 0 ? even : 1;
}

int64_t mc_feature_project_depth(const mc_feature_products *z, int64_t t) {
    const int64_t each = segment_rows(z, t), rows = each < z->n ? each : z->n;
    return (is_sparse(z) ? rows : BLOCK + rows / BLOCK + 1) + SEGMENTS;
}

/* Rows i .. i + *count - 1 of Z, as many as lie together. */
static const double *rows_of(const feature_product *p, int64_t i, int64_t end, int thread, int64_t *count) {
    const mc_feature_products *z = p->z;
    *count = end - i;
    if (z->Z)
        return z->Z + i * z->D;
    double *rows = p->block + thread * p->block_each;
    *count = *count < BLOCK ? *count : BLOCK;
    for (int64_t r = 0; r < *count; r++)
        write_row(z, i + r, rows + block_rows(z->n) * z->D, rows + r * z->D);
    return rows;
}

/* Lanes, so that the sum does not wait for itself, in an order of its own whatever the machine. */
static double dot_in_lanes(const double *a, const double *b, int64_t count) {
    double lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (int q = 0; q < LANES; q++)
            lane[q] += a[j + q] * b[j + q];
    for (int q = 0; j < count; j++, q++)
        lane[q] += a[j] * b[j];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* ---- Sparse rows that are their own features ---- */

static double dot_sparse(const mercer_data *x, int64_t i, const double *w) {
    double sum = 0;
    for (int64_t k = x->row_start[i]; k < x->row_start[i + 1]; k++)
        sum += w[x->column[k]] * mc_stored_value(x, k);
    return sum;
}

static void add_sparse(const mercer_data *x, int64_t i, double c, double *w) {
    for (int64_t k = x->row_start[i]; k < x->row_start[i + 1]; k++)
        w[x->column[k]] += c * mc_stored_value(x, k);
}

static void expand_sparse(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const feature_product *p = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < p->t; k++)
            p->to[i * p->t + k] = dot_sparse(p->z->x, i, p->from + k * p->z->D);
}

static void project_sparse(const feature_product *p, int64_t begin, int64_t end, double *out) {
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < p->t; k++)
            if (p->from[i * p->t + k] != 0)
                add_sparse(p->z->x, i, p->from[i * p->t + k], out + k * p->z->D);
}

/* ---- Squares ---- */

static void square_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const feature_product *p = arg;
    const mercer_data *x = p->z->x;
    (void)chunk;
    for (int64_t i = begin, count; i < end && !is_sparse(p->z); i += count) {
        const double *rows = rows_of(p, i, end, thread, &count);
        for (int64_t r = 0; r < count; r++)
            p->to[i + r] = dot_in_lanes(rows + r * p->z->D, rows + r * p->z->D, p->z->D);
    }
    for (int64_t i = begin; i < end && is_sparse(p->z); i++) {
        p->to[i] = 0;
        for (int64_t k = x->row_start[i]; k < x->row_start[i + 1]; k++)
            p->to[i] += mc_stored_value(x, k) * mc_stored_value(x, k);
    }
}

/* ---- All rows ---- */

static void expand_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const feature_product *p = arg;
    const int64_t D = p->z->D, t = p->t;
    for (int64_t i = begin, count; i < end; i += count) {
        const double *rows = rows_of(p, i, end, thread, &count);
        mc_narrow_product(
            p->isa,
            &(mc_few_columns){
                .A = rows, .ld = D, .m = count, .n = D, .t = t, .V = p->from, .vs = D, .Y = p->to + i * t, .ys = t});
    }
}

/* out <- out + V'Z over some rows. A product of its own for every block of rows: sums stay short, and with them their
   rounding. */
static void project_block(const feature_product *p, const double *rows, int64_t i, int64_t count, double *sum,
                          double *out) {
    const int64_t D = p->z->D, t = p->t;
    memset(sum, 0, (size_t)(t * D) * sizeof *sum);
    mc_narrow_transposed_product(
        p->isa, &(mc_few_columns){
                    .A = rows, .ld = D, .m = count, .n = D, .t = t, .U = p->from + i * t, .us = t, .Z = sum, .zs = D});
    for (int64_t j = 0; j < t * D; j++)
        out[j] += sum[j];
}

static void project_segment(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const feature_product *p = arg;
    const int64_t size = p->t * p->z->D;
    double *out = p->to + chunk * size, *sum = p->sums + thread * size;
    memset(out, 0, (size_t)size * sizeof *out);
    if (is_sparse(p->z))
        project_sparse(p, begin, end, out);
    for (int64_t i = begin, count; !is_sparse(p->z) && i < end; i += count) {
        const double *rows = rows_of(p, i, end, thread, &count);
        count = count < BLOCK ? count : BLOCK;
        project_block(p, rows, i, count, sum, out);
    }
}

static mercer_status open_product(mercer_ctx *ctx, feature_product *p, int64_t chunks) {
    p->threads = mc_for_threads(ctx, chunks);
    if (!p->z->Z && !is_sparse(p->z))
        p->block_each = block_rows(p->z->n) * p->z->D + scratch_of(p->z);
    return mc_work_lay(ctx, &p->work, lay_out_product, p);
}

mercer_status mc_feature_expand(mercer_ctx *ctx, const mc_feature_products *z, int64_t t, const double *W, double *Y) {
    const int64_t grain = rows_worth(z, t, CHUNK);
    feature_product p = {.z = z, .isa = ctx->isa, .t = t, .from = W, .to = Y};
    MC_TRY(open_product(ctx, &p, mc_chunk_count(z->n, grain)));
    const mercer_status status = mc_for(ctx, z->n, grain, is_sparse(z) ? expand_sparse : expand_rows, &p);
    mc_work_close(&p.work);
    return status;
}

mercer_status mc_feature_squares(mercer_ctx *ctx, const mc_feature_products *z, double *out) {
    const int64_t grain = rows_worth(z, 1, CHUNK);
    feature_product p = {.z = z, .isa = ctx->isa, .t = 1, .to = out};
    MC_TRY(open_product(ctx, &p, mc_chunk_count(z->n, grain)));
    const mercer_status status = mc_for(ctx, z->n, grain, square_rows, &p);
    mc_work_close(&p.work);
    return status;
}

static void add_segments(int64_t segments, int64_t count, const double *part, double *W) {
    memcpy(W, part, (size_t)count * sizeof *W);
    for (int64_t s = 1; s < segments; s++)
        for (int64_t j = 0; j < count; j++)
            W[j] += part[s * count + j];
}

mercer_status mc_feature_project(mercer_ctx *ctx, const mc_feature_products *z, int64_t t, const double *V, double *W) {
    const int64_t grain = segment_rows(z, t), segments = mc_chunk_count(z->n, grain);
    feature_product p = {.z = z, .isa = ctx->isa, .t = t, .from = V, .to = W, .segments = segments};
    if (segments == 0) {
        memset(W, 0, (size_t)(t * z->D) * sizeof *W);
        return MERCER_OK;
    }
    MC_TRY(open_product(ctx, &p, segments));
    const mercer_status status = mc_for(ctx, z->n, grain, project_segment, &p);
    if (!status && segments > 1)
        add_segments(segments, t * z->D, p.to, W);
    mc_work_close(&p.work);
    return status;
}

size_t mc_feature_products_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, bool keep,
                                 int64_t D, int64_t t) {
    const mc_feature_products z = {.x = x, .n = x->n, .D = D};
    feature_product p = {.z = &z, .t = t, .threads = ctx->threads, .segments = SEGMENTS};
    if (!is_plain(kernel, x))
        p.block_each = (block_rows(x->n) + 4) * (D + x->d); /* a map takes no more scratch */
    const size_t own = keep && p.block_each ? mc_work_need(x->n * D, sizeof *z.own) + MC_ALIGN : 0;
    return mc_slices_bytes(lay_out_product, &p) + own + 3 * MC_ALIGN;
}
