/* kernel_matrix.c: see kernel_matrix.h.

       block     K(ids, ids): entries with one side kept are read there, the others are one smaller block of their own
       add       f + K c: rows not yet kept are computed whole while there is room, the kept ones are added up in
       double; what finds no
                 room is a product of tiles, of which nothing is stored
   Only products in single precision look at kept rows. They say nothing of their error: mc_kernel_matrix_product_error
   does, of the whole sum. */
#include "learn/common/kernel_matrix.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include <float.h>
#include <math.h>
#include <string.h>

mercer_status mc_kernel_matrix_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                    mc_row_store *store, bool products, mc_kernel_matrix *out) {
    *out = (mc_kernel_matrix){.kernel = kernel, .x = x, .store = store};
    MC_TRY(MC_ALLOC(ctx, out->product, x->n));
    return store || products ? mc_gram_open(ctx, kernel, x, NULL, MERCER_F32, &out->gram) : MERCER_OK;
}

void mc_kernel_matrix_close(mc_kernel_matrix *m) {
    mc_gram_close(m->gram);
    mc_free(m->product);
    *m = (mc_kernel_matrix){0};
}

/* ---- Blocks ---- */

static mercer_status compute_block(mercer_ctx *ctx, const mc_kernel_matrix *m, mercer_dtype dtype, const int64_t *ids,
                                   int64_t count, void *out) {
    mercer_data *part = NULL;
    mc_gram *gram = NULL;
    MC_TRY(mc_data_take(ctx, m->x, ids, count, &part));
    mercer_status status = mc_gram_open(ctx, m->kernel, part, NULL, dtype, &gram);
    MC_THEN(status, mc_gram_block(ctx, gram, 0, count, 0, count, dtype, out, count));
    mc_gram_close(gram);
    mercer_data_free(part);
    return status;
}

enum { GRAIN = 16 }; /* rows of a block written together: what they read of one kept row is one line of cache */

typedef struct gathered_block {
    const mc_row_store *store;
    const int64_t *ids, *place; /* place: of each among those not kept; -1: kept */
    int64_t count, rest;
    const float *small; /* rest x rest */
    float *out;
} gathered_block;

static void gather_stored(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const gathered_block *g = arg;
    for (int64_t a = begin; a < end; a++) {
        const float *row = g->place[a] < 0 ? mc_row_store_row(g->store, g->ids[a]) : NULL;
        for (int64_t b = 0; row && b < g->count; b++)
            g->out[a * g->count + b] = row[g->ids[b]];
    }
}

/* After the kept ones: their columns in the other rows are their rows. */
static void gather_rest(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const gathered_block *g = arg;
    for (int64_t b = 0; b < g->count; b++)
        for (int64_t a = begin; a < end; a++)
            if (g->place[a] >= 0)
                g->out[a * g->count + b] =
                    g->place[b] < 0 ? g->out[b * g->count + a] : g->small[g->place[a] * g->rest + g->place[b]];
}

static mercer_status gather_block(mercer_ctx *ctx, const mc_kernel_matrix *m, const int64_t *ids, int64_t count,
                                  int64_t *place, int64_t *few, float *out) {
    int64_t rest = 0;
    for (int64_t k = 0; k < count; k++) {
        place[k] = mc_row_store_row(m->store, ids[k]) ? -1 : rest;
        if (place[k] >= 0)
            few[rest++] = ids[k];
    }
    float *small = NULL;
    MC_TRY((small = mc_alloc_unset(ctx, rest * rest, sizeof *small)) ? MERCER_OK : MERCER_MEMORY);
    mercer_status status = rest ? compute_block(ctx, m, MERCER_F32, few, rest, small) : MERCER_OK;
    gathered_block g = {m->store, ids, place, count, rest, small, out};
    MC_THEN(status, mc_for(ctx, count, GRAIN, gather_stored, &g));
    MC_THEN(status, mc_for(ctx, count, GRAIN, gather_rest, &g));
    mc_free(small);
    return status;
}

static mercer_status kernel_block(mercer_ctx *ctx, const void *self, mercer_dtype dtype, const int64_t *ids,
                                  int64_t count, void *out) {
    const mc_kernel_matrix *m = self;
    if (!m->store || dtype == MERCER_F64)
        return compute_block(ctx, m, dtype, ids, count, out);
    mc_work work;
    int64_t *place = NULL, *few = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(place, count), MC_SLICE(few, count)));
    const mercer_status status = gather_block(ctx, m, ids, count, place, few, out);
    mc_work_close(&work);
    return status;
}

/* ---- Products ---- */

/* K of all rows against some, in this precision. */
static mercer_status open_part(mercer_ctx *ctx, const mc_kernel_matrix *m, mercer_dtype precision, const int64_t *ids,
                               int64_t count, mercer_data **part, mc_gram **gram) {
    if (m->gram && precision == MERCER_F32)
        return mc_gram_open_columns(ctx, m->gram, ids, count, gram);
    MC_TRY(mc_data_take(ctx, m->x, ids, count, part));
    return mc_gram_open(ctx, m->kernel, m->x, *part, precision, gram);
}

/* f + the product with coefficients of one sign, whose size is then the sum of absolute values, unless entries are
   negative. */
static void take_product(const mc_kernel_matrix *m, const mc_gram *gram, double mass, double *f,
                         mc_sum_error *sum_error) {
    double relative, rest, most = 0;
    mc_gram_product_terms(gram, 1, &relative, &rest);
    for (int64_t i = 0; i < m->x->n; i++) {
        f[i] += m->product[i];
        most = fmax(most, fabs(m->product[i]));
    }
    for (int64_t i = 0; sum_error->bound && i < m->x->n; i++)
        sum_error->bound[i] += relative * fabs(m->product[i]) + rest * mass + DBL_EPSILON * fabs(f[i]);
    sum_error->reach += relative > 0 ? most : INFINITY;
}

static mercer_status multiply_part(mercer_ctx *ctx, const mc_kernel_matrix *m, mercer_dtype precision,
                                   const int64_t *ids, const double *c, int64_t count, double *f,
                                   mc_sum_error *sum_error) {
    mercer_data *part = NULL;
    mc_gram *gram = NULL;
    double mass = 0;
    for (int64_t k = 0; k < count; k++)
        mass += fabs(c[k]);
    mercer_status status = open_part(ctx, m, precision, ids, count, &part, &gram);
    MC_THEN(status, mc_gram_apply(ctx, gram, 1, c, m->product));
    if (!status)
        take_product(m, gram, mass, f, sum_error);
    mc_gram_close(gram);
    mercer_data_free(part);
    return status;
}

/* Positive coefficients, then negative ones: as many entries as all at once. */
static mercer_status multiply_by_sign(mercer_ctx *ctx, const mc_kernel_matrix *m, mercer_dtype precision,
                                      const int64_t *ids, const double *c, int64_t count, double *f,
                                      mc_sum_error *sum_error) {
    const int64_t most = count < MC_KERNEL_BATCH ? count : MC_KERNEL_BATCH;
    mc_work work;
    int64_t *id = NULL;
    double *part = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(id, most), MC_SLICE(part, most)));
    mercer_status status = MERCER_OK;
    sum_error->reach = 0;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int64_t k = 0, at = 0; k < count && !status; k++) {
            if (sign * c[k] > 0) {
                id[at] = ids[k];
                part[at++] = c[k];
            }
            if (at == most || (at && k == count - 1)) {
                status = multiply_part(ctx, m, precision, id, part, at, f, sum_error);
                at = 0;
            }
        }
    mc_work_close(&work);
    return status;
}

static mercer_status view_stored(mercer_ctx *ctx, const void *self, const int64_t *ids, int64_t count,
                                 const void **out) {
    (void)ctx;
    for (int64_t k = 0; k < count; k++)
        out[k] = mc_row_store_row(self, ids[k]);
    return MERCER_OK;
}

static mercer_status add_stored(mercer_ctx *ctx, const mc_kernel_matrix *m, const int64_t *ids, const double *c,
                                int64_t count, double *f) {
    const mc_matrix rows = {.n = m->x->n, .self = m->store, .view = view_stored, .dtype = MERCER_F32};
    const void **scratch = NULL;
    MC_TRY(MC_ALLOC(ctx, scratch, count));
    const mercer_status status = mc_matrix_add_rows(ctx, &rows, ids, c, count, scratch, f);
    mc_free(scratch);
    return status;
}

/* Rows among ids that are not kept, into the store while it has room. */
static mercer_status keep_kernel_rows(mercer_ctx *ctx, const mc_kernel_matrix *m, const int64_t *ids, int64_t count,
                                      int64_t *fresh, void **to) {
    mercer_status status = MERCER_OK;
    int64_t found = 0;
    for (int64_t k = 0; k < count && !status; k++) {
        float *row = NULL;
        if (!mc_row_store_row(m->store, ids[k]))
            status = mc_row_store_add(ctx, m->store, ids[k], &row);
        if (row) {
            fresh[found] = ids[k];
            to[found++] = row;
        }
    }
    if (found && !status)
        status = mc_gram_scatter(ctx, m->gram, fresh, found, 0, m->x->n, MERCER_F32, to);
    if (status)
        mc_row_store_clear(m->store); /* some have a place and are not written */
    return status;
}

/* Those kept first, then the others; returns how many are kept. */
static int64_t partition_stored(const mc_row_store *store, const int64_t *ids, const double *c, int64_t count,
                                int64_t *id, double *part) {
    int64_t at = 0, stored = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < count; k++)
            if ((mc_row_store_row(store, ids[k]) == NULL) == pass) {
                id[at] = ids[k];
                part[at++] = c[k];
            }
        stored = pass ? stored : at;
    }
    return stored;
}

static mercer_status add_with_store(mercer_ctx *ctx, const mc_kernel_matrix *m, const int64_t *ids, const double *c,
                                    int64_t count, int64_t *id, double *part, void **to, double *f) {
    MC_TRY(keep_kernel_rows(ctx, m, ids, count, id, to));
    const int64_t stored = partition_stored(m->store, ids, c, count, id, part);
    if (stored)
        MC_TRY(add_stored(ctx, m, id, part, stored, f));
    mc_sum_error unasked = {0};
    return stored < count
               ? multiply_by_sign(ctx, m, MERCER_F32, id + stored, part + stored, count - stored, f, &unasked)
               : MERCER_OK;
}

static mercer_status add_kernel_rows(mercer_ctx *ctx, const void *self, mercer_dtype precision, const int64_t *ids,
                                     const double *c, int64_t count, double *f, mc_sum_error *sum_error) {
    const mc_kernel_matrix *m = self;
    if (!m->store || precision == MERCER_F64)
        return multiply_by_sign(ctx, m, precision, ids, c, count, f, sum_error);
    mc_work work;
    int64_t *id = NULL;
    double *part = NULL;
    void **to = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(id, count), MC_SLICE(part, count), MC_SLICE(to, count)));
    const mercer_status status = add_with_store(ctx, m, ids, c, count, id, part, to, f);
    mc_work_close(&work);
    return status;
}

/* f at rows, which are in some, + K(rows, ids) c in double. */
static mercer_status add_part_at(mercer_ctx *ctx, const mc_kernel_matrix *m, const mercer_data *some,
                                 const int64_t *rows, const int64_t *ids, const double *c, int64_t count, double *f,
                                 mc_sum_error *sum_error) {
    mercer_data *part = NULL;
    mc_gram *gram = NULL;
    double relative = 0, rest = 0, mass = 0;
    for (int64_t k = 0; k < count; k++)
        mass += fabs(c[k]);
    mercer_status status = mc_data_take(ctx, m->x, ids, count, &part);
    MC_THEN(status, mc_gram_open(ctx, m->kernel, some, part, MERCER_F64, &gram));
    MC_THEN(status, mc_gram_apply(ctx, gram, 1, c, m->product));
    if (!status)
        mc_gram_product_terms(gram, 1, &relative, &rest);
    for (int64_t k = 0; k < some->n && !status; k++) {
        f[rows[k]] += m->product[k];
        if (sum_error->bound)
            sum_error->bound[rows[k]] += (relative * mc_gram_entry_size(gram) + rest) * mass;
    }
    mc_gram_close(gram);
    mercer_data_free(part);
    return status;
}

static mercer_status add_at(mercer_ctx *ctx, const void *self, const int64_t *ids, const double *c, int64_t count,
                            const int64_t *rows, int64_t rows_count, double *f, mc_sum_error *sum_error) {
    const mc_kernel_matrix *m = self;
    mercer_data *some = NULL;
    if (rows_count == 0)
        return MERCER_OK;
    mercer_status status = mc_data_take(ctx, m->x, rows, rows_count, &some);
    for (int64_t k = 0; k < rows_count && !status; k++) {
        f[rows[k]] = 0;
        if (sum_error->bound)
            sum_error->bound[rows[k]] = 0;
    }
    for (int64_t k = 0; k < count && !status; k += MC_KERNEL_BATCH)
        status = add_part_at(ctx, m, some, rows, ids + k, c + k,
                             count - k < MC_KERNEL_BATCH ? count - k : MC_KERNEL_BATCH, f, sum_error);
    mercer_data_free(some);
    return status;
}

/* The most is where no row is kept. */
static size_t kernel_bytes(mercer_ctx *ctx, const void *self, mercer_dtype dtype, int64_t count) {
    const mc_kernel_matrix *m = self;
    const size_t part = mc_gram_part_bytes(ctx, m->kernel, m->x, dtype, count);
    if (!m->store || dtype == MERCER_F64)
        return part;
    return part + 2 * mc_work_need(count, sizeof(int64_t)) + mc_work_need(count * count, sizeof(float)) + 4 * MC_ALIGN;
}

mc_matrix mc_kernel_matrix_view(const mc_kernel_matrix *m, mercer_dtype dtype, const double *diagonal) {
    return (mc_matrix){.n = m->x->n,
                       .self = m,
                       .add = add_kernel_rows,
                       .add_at = add_at,
                       .block = kernel_block,
                       .bytes = kernel_bytes,
                       .dtype = dtype,
                       .diag = diagonal};
}

/* ---- What is known of f ---- */

/* error_i, the sum of |c| times computed entries, becomes a bound on the error of f_i. Entries are wrong by relative
   |K| + rest, with |K| <= (|computed| + rest) / (1 - relative), and by one rounding where they came in double; they are
   added up in double. relative is 0 unless no entry is negative. */
static void bound_errors(const mc_kernel_matrix *m, int64_t count, double mass, double *error) {
    double relative, rest;
    mc_gram_entry_terms(m->gram, &relative, &rest);
    const double summed = (FLT_EPSILON + (double)(count + 8) * DBL_EPSILON) * mc_gram_entry_size(m->gram);
    for (int64_t i = 0; i < m->x->n; i++)
        error[i] = relative < 0.5 ? 1.01 * (relative / (1 - relative) * fabs(error[i]) + (2 * rest + summed) * mass)
                                  : INFINITY;
}

/* Have all these rows kept; those that never moved may not be. */
static mercer_status keep_all(mercer_ctx *ctx, const mc_kernel_matrix *m, const int64_t *ids, int64_t count) {
    mc_work work;
    int64_t *fresh = NULL;
    void **to = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(fresh, count), MC_SLICE(to, count)));
    const mercer_status status = keep_kernel_rows(ctx, m, ids, count, fresh, to);
    mc_work_close(&work);
    return status;
}

static mercer_status sum_known(mercer_ctx *ctx, const mc_kernel_matrix *m, const int64_t *ids, const double *c,
                               int64_t count, double *f, double *error) {
    double *size = NULL, mass = 0;
    MC_TRY(MC_ALLOC(ctx, size, count));
    for (int64_t k = 0; k < count; k++)
        mass += size[k] = fabs(c[k]);
    memset(f, 0, (size_t)m->x->n * sizeof *f);
    memset(error, 0, (size_t)m->x->n * sizeof *error);
    mercer_status status = add_stored(ctx, m, ids, c, count, f);
    MC_THEN(status, add_stored(ctx, m, ids, size, count, error));
    mc_free(size);
    bound_errors(m, count, mass, error);
    return status;
}

mercer_status mc_kernel_matrix_product_error(mercer_ctx *ctx, const mc_kernel_matrix *m, const int64_t *ids,
                                             const double *c, int64_t count, double *f, double *error, bool *known) {
    *known = false;
    if (!m->store)
        return MERCER_OK;
    MC_TRY(keep_all(ctx, m, ids, count));
    for (int64_t k = 0; k < count; k++)
        if (!mc_row_store_row(m->store, ids[k]))
            return MERCER_OK;
    MC_TRY(sum_known(ctx, m, ids, c, count, f, error));
    *known = true;
    return MERCER_OK;
}

mercer_status mc_kernel_matrix_store(mercer_ctx *ctx, const mc_matrix *matrix, void **out) {
    const int64_t n = matrix->n;
    const size_t entry = mc_dtype_size(matrix->dtype), bytes = (size_t)(n * n) * entry;
    *out = NULL;
    if (bytes + mc_matrix_bytes(ctx, matrix, matrix->dtype, n) > mc_memory_left(ctx) / 2)
        return MERCER_OK;
    int64_t *ids = NULL;
    MC_TRY(MC_ALLOC(ctx, ids, n));
    for (int64_t i = 0; i < n; i++)
        ids[i] = i;
    void *whole = mc_alloc_unset(ctx, n * n, entry);
    const mercer_status status = whole ? mc_matrix_block(ctx, matrix, matrix->dtype, ids, n, whole) : MERCER_MEMORY;
    mc_free(ids);
    if (status)
        mc_free(whole);
    else
        *out = whole;
    return status;
}
