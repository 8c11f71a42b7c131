/* stored.c: the lower half of K as floats, and Y <- K V from it; with what the floats round off beside them, K to
   twelve digits.

   Rows are cut into stripes of BAND. Stripe s holds K(i, j) for its rows i and all j up to its own last row, row-major:
   n(n + BAND)/2 numbers in all, in one block, which the system can give in huge pages. A product reads each of them
   once and uses it twice, for Y_I += K_IJ V_J and for Y_J += K_IJ' V_I, in double.

   A split matrix holds a second number for every entry, what the float rounds off in units of 2^-39 of a bound on |K|:
   made once from the rows in double, it gives products for steps and products for residuals, and a column of K costs
   the reading of it.

   Groups of neighbouring stripes with about the same number of entries are the unit of parallel work. A group adds to a
   Y of its own, and the Ys are added in the order of the groups: the bits do not depend on the number of threads. */
#include "gram/store/stored.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "backend/dispatch.h"
#include <math.h>
#include <string.h>

enum {
    BAND = 256, /* rows of a stripe */
    ALIGNED = 16,
    GROUPS = 64, /* at most; each holds a Y, which costs a product its clearing and adding: */
    LEAST = 16,  /* many rows have one for SHARE of them, few have LEAST */
    SHARE = 256,
    GRAIN = 1024 /* rows of Y added up at a time */
};
static const double UNIT = 1.001 * 0x1p-39; /* of a bound on |K|: 2^-24 of an entry is less than 2^15 of them */

struct mc_stored {
    int64_t n, t, stripes, groups;
    const mc_symv_f32_body *body;
    float *values; /* of all stripes */
    float **stripe;
    int16_t *low;              /* laid out as values are; NULL: floats alone */
    double unit;               /* of low */
    mc_matrix_errors made;     /* of the entries as gram gave them */
    int64_t first[GROUPS + 1]; /* stripes of group g: first[g] .. first[g + 1] - 1 */
    double *V;                 /* t planes of n */
    float *V_f32;              /* the same as floats */
    double *part[GROUPS];      /* t planes of the rows up to the group's last */
    mc_work work;              /* of all but values and low, which are written before they are read */
};

static int64_t rows_of(const mc_stored *k, int64_t stripe) {
    return k->n - stripe * BAND < BAND ? k->n - stripe * BAND : BAND;
}

static int64_t width_of(const mc_stored *k, int64_t stripe) {
    return stripe * BAND + rows_of(k, stripe);
}

/* A row begins on a boundary of ALIGNED numbers. */
static int64_t run_of(const mc_stored *k, int64_t stripe) {
    return (width_of(k, stripe) + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Numbers of all stripes before this one. */
static int64_t values_before(const mc_stored *k, int64_t stripe) {
    int64_t sum = 0;
    for (int64_t s = 0; s < stripe; s++)
        sum += rows_of(k, s) * run_of(k, s);
    return sum;
}

/* Cut the stripes into groups of about equal area, none empty: the stripes before the s-th hold about s^2 / 2 blocks.
   */
static void group_stripes(mc_stored *k) {
    const int64_t wanted = k->n / SHARE < LEAST ? LEAST : k->n / SHARE < GROUPS ? k->n / SHARE : GROUPS;
    for (int64_t g = 1; g < wanted; g++) {
        const int64_t at = (int64_t)((double)k->stripes * sqrt((double)g / (double)wanted));
        if (at > k->first[k->groups])
            k->first[++k->groups] = at;
    }
    k->first[++k->groups] = k->stripes;
}

static int64_t height_of(const mc_stored *k, int64_t g) {
    return width_of(k, k->first[g + 1] - 1);
}

static void lay_out_stored(mc_work *work, void *self) {
    mc_stored *k = self;
    k->V = mc_work_take(work, k->n * k->t, sizeof *k->V);
    k->V_f32 = mc_work_take(work, k->n * k->t, sizeof *k->V_f32);
    k->stripe = mc_work_take(work, k->stripes, sizeof *k->stripe);
    for (int64_t g = 0; g < k->groups; g++)
        k->part[g] = mc_work_take(work, height_of(k, g) * k->t, sizeof *k->part[g]);
}

size_t mc_stored_bytes(int64_t n, int64_t t, bool split) {
    mc_stored k = {.n = n, .t = t, .stripes = mc_chunk_count(n, BAND)};
    group_stripes(&k);
    return sizeof k + mc_slices_bytes(lay_out_stored, &k) + 8 * MC_ALIGN
           + (size_t)values_before(&k, k.stripes) * (sizeof(float) + (split ? sizeof(int16_t) : 0));
}

static mercer_status allocate_stripes(mercer_ctx *ctx, mc_stored *k, bool split) {
    MC_TRY(mc_work_lay(ctx, &k->work, lay_out_stored, k));
    k->values = mc_alloc_unset(ctx, values_before(k, k->stripes), sizeof(float));
    for (int64_t s = 0; k->values && s < k->stripes; s++)
        k->stripe[s] = k->values + values_before(k, s);
    if (k->values && split)
        k->low = mc_alloc_unset(ctx, values_before(k, k->stripes), sizeof(int16_t));
    return k->values && (k->low || !split) ? MERCER_OK : MERCER_MEMORY;
}

static const int16_t *low_stripe(const mc_stored *k, int64_t stripe) {
    return k->low + (k->stripe[stripe] - k->values);
}

static mercer_status fill_stripe(mercer_ctx *ctx, mc_stored *k, const mc_gram *gram, int64_t s) {
    const int64_t begin = s * BAND, end = begin + rows_of(k, s), run = run_of(k, s);
    if (k->low)
        return mc_gram_split(ctx, gram, begin, end, 0, width_of(k, s), k->unit, k->stripe[s],
                             k->low + (k->stripe[s] - k->values), run);
    return mc_gram_block(ctx, gram, begin, end, 0, width_of(k, s), MERCER_F32, k->stripe[s], run);
}

static mercer_status fill_stripes(mercer_ctx *ctx, mc_stored *k, const mc_gram *gram) {
    for (int64_t s = 0; s < k->stripes; s++) {
        const double before = (double)s / (double)k->stripes, after = (double)(s + 1) / (double)k->stripes;
        mc_set_phase_span(ctx, before * before, after * after);
        MC_TRY(fill_stripe(ctx, k, gram, s));
    }
    return MERCER_OK;
}

mercer_status mc_stored_open(mercer_ctx *ctx, const mc_gram *gram, int64_t t, bool split, mc_stored **out) {
    *out = NULL;
    mc_stored *k = NULL;
    MC_TRY(MC_ALLOC(ctx, k, 1));
    *k = (mc_stored){.n = mc_gram_rows(gram),
                     .t = t,
                     .stripes = mc_chunk_count(mc_gram_rows(gram), BAND),
                     .body = mc_bodies_of(ctx->isa)->symv_f32,
                     .unit = UNIT * mc_gram_entry_size(gram),
                     .made = {.size = mc_gram_entry_size(gram), .entry = mc_gram_entry_error(gram)}};
    group_stripes(k);
    mercer_status status = allocate_stripes(ctx, k, split && k->unit > 0 && isfinite(k->unit));
    MC_THEN(status, fill_stripes(ctx, k, gram));
    if (status) {
        mc_stored_close(k);
        return status;
    }
    *out = k;
    return MERCER_OK;
}

void mc_stored_close(mc_stored *k) {
    if (!k)
        return;
    mc_free(k->values);
    mc_free(k->low);
    mc_work_close(&k->work);
    mc_free(k);
}

typedef struct stored_product {
    const mc_stored *k;
    int64_t t;
    bool split, reduced;
    const double *V;
    double *Y;
} stored_product;

/* Left of the diagonal the same in float. */
static void reduced_product(const stored_product *p, int64_t stripe, int64_t j, int64_t columns, int64_t height,
                            double *Y) {
    const mc_stored *k = p->k;
    const int64_t i = stripe * BAND;
    k->body->reduced_both(&(mc_symv_fast){.A = k->stripe[stripe] + j,
                                          .ld = run_of(k, stripe),
                                          .m = rows_of(k, stripe),
                                          .n = columns,
                                          .t = p->t,
                                          .V = k->V_f32 + j,
                                          .vs = k->n,
                                          .Y = Y + i,
                                          .ys = height,
                                          .U = k->V_f32 + i,
                                          .us = k->n,
                                          .Z = Y + j,
                                          .zs = height});
}

/* Columns of a block: long runs of A for the memory, with the planes beside it still in the first cache. */
static int64_t block_columns(int64_t t) {
    return t == 1 ? 1024 : t == 2 ? 512 : 256;
}

/* Y(rows of the stripe) += K_IJ V_J and, left of the diagonal, Y(J) += K_IJ' V_I. */
static void block_product(const stored_product *p, int64_t stripe, int64_t j, int64_t columns, int64_t height,
                          double *Y) {
    const mc_stored *k = p->k;
    const int64_t i = stripe * BAND;
    const mc_symv_f32 s = {.A = k->stripe[stripe] + j,
                           .low = p->split ? low_stripe(k, stripe) + j : NULL,
                           .unit = k->unit,
                           .ld = run_of(k, stripe),
                           .m = rows_of(k, stripe),
                           .n = columns,
                           .t = p->t,
                           .V = k->V + j,
                           .vs = k->n,
                           .Y = Y + i,
                           .ys = height,
                           .U = k->V + i,
                           .us = k->n,
                           .Z = Y + j,
                           .zs = height};
    if (j == i)
        (p->split ? k->body->split_rows : k->body->rows)(&s);
    else
        (p->split ? k->body->split_both : k->body->both)(&s);
}

static void group_product(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const stored_product *p = arg;
    const mc_stored *k = p->k;
    const int64_t height = height_of(k, chunk), wide = p->reduced ? MC_SYMV_FAST_WIDTH : block_columns(p->t);
    double *Y = k->part[chunk];
    memset(Y, 0, (size_t)(height * p->t) * sizeof *Y);
    for (int64_t s = k->first[chunk]; s < k->first[chunk + 1]; s++) {
        for (int64_t j = 0; j < s * BAND; j += wide)
            (p->reduced ? reduced_product : block_product)(p, s, j, s * BAND - j < wide ? s * BAND - j : wide, height,
                                                           Y);
        block_product(p, s, s * BAND, rows_of(k, s), height, Y);
    }
}

/* V, row-major, to planes. */
static void copy_to_planes(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const stored_product *p = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t c = 0; c < p->t; c++)
            p->k->V_f32[c * p->k->n + i] = (float)(p->k->V[c * p->k->n + i] = p->V[i * p->t + c]);
}

static void add_groups(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const stored_product *p = arg;
    memset(p->Y + begin * p->t, 0, (size_t)((end - begin) * p->t) * sizeof *p->Y);
    for (int64_t g = 0; g < p->k->groups; g++) {
        const int64_t height = height_of(p->k, g);
        for (int64_t i = begin; i < end && i < height; i++)
            for (int64_t c = 0; c < p->t; c++)
                p->Y[i * p->t + c] += p->k->part[g][c * height + i];
    }
}

static mercer_status multiply_stored(mercer_ctx *ctx, stored_product p) {
    const mc_stored *k = p.k;
    MC_TRY(mc_for(ctx, k->n, GRAIN, copy_to_planes, &p));
    MC_TRY(mc_for(ctx, k->groups, 1, group_product, &p));
    return mc_for(ctx, k->n, GRAIN, add_groups, &p);
}

static mercer_status apply_stored(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    return multiply_stored(ctx, (stored_product){.k = self, .t = t, .V = V, .Y = Y});
}

static mercer_status apply_split(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    return multiply_stored(ctx, (stored_product){.k = self, .t = t, .split = true, .V = V, .Y = Y});
}

static mercer_status apply_reduced(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    return multiply_stored(ctx, (stored_product){.k = self, .t = t, .reduced = true, .V = V, .Y = Y});
}

/* ---- Entries ---- */

/* Where K(i, j), j at most in the stripe of i, stands. */
static int64_t place_of(const mc_stored *k, int64_t i, int64_t j) {
    return k->stripe[i / BAND] - k->values + i % BAND * run_of(k, i / BAND) + j;
}

static double stored_entry(const mc_stored *k, int64_t i, int64_t j) {
    const int64_t at = i > j ? place_of(k, i, j) : place_of(k, j, i);
    return (double)k->values[at] + (k->low ? k->unit * (double)k->low[at] : 0);
}

static mercer_status stored_diagonal(mercer_ctx *ctx, const void *self, double *out) {
    (void)ctx;
    const mc_stored *k = self;
    for (int64_t i = 0; i < k->n; i++)
        out[i] = stored_entry(k, i, i);
    return MERCER_OK;
}

typedef struct stored_taking {
    const mc_stored *k;
    const int64_t *rows;
    int64_t count, begin, end, ld; /* columns begin .. end - 1 */
    float *out;
} stored_taking;

/* Columns of one stripe: K(rows[r], j) lies along a row of it where rows[r] is beyond, down a column where it is not.
   */
static void take_stripe(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const stored_taking *t = arg;
    const mc_stored *k = t->k;
    const int64_t first = chunk * BAND, past = first + rows_of(k, chunk), width = width_of(k, chunk),
                  run = run_of(k, chunk), low = first > t->begin ? first : t->begin,
                  high = past < t->end ? past : t->end;
    float *out = t->out + low - t->begin;
    for (int64_t r = 0; r < t->count && low < high; r++)
        if (t->rows[r] >= width)
            memcpy(out + r * t->ld, k->values + place_of(k, t->rows[r], low), (size_t)(high - low) * sizeof(float));
    for (int64_t j = low; j < high; j++)
        for (int64_t r = 0; r < t->count; r++)
            if (t->rows[r] < width)
                out[r * t->ld + j - low] = k->stripe[chunk][(j - first) * run + t->rows[r]];
}

static mercer_status take_rows(mercer_ctx *ctx, const void *self, mercer_dtype dtype, const int64_t *ids, int64_t count,
                               int64_t begin, int64_t end, void *out, int64_t ld) {
    const mc_stored *k = self;
    stored_taking t = {.k = k, .rows = ids, .count = count, .begin = begin, .end = end, .ld = ld, .out = out};
    if (dtype != MERCER_F32)
        return mc_fail(ctx, MERCER_INVALID, "stored: rows of a matrix kept as floats are floats");
    return mc_for(ctx, k->stripes, 1, take_stripe, &t);
}

static mercer_status stored_pairs(mercer_ctx *ctx, const void *self, const int64_t *rows, int64_t count, double *out) {
    (void)ctx;
    for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b < count; b++)
            out[a * count + b] = stored_entry(self, rows[a], rows[b]);
    return MERCER_OK;
}

/* Pairs are read where they lie. */
static size_t no_bytes(mercer_ctx *ctx, const void *self, mercer_dtype dtype, int64_t count) {
    (void)ctx, (void)self, (void)dtype, (void)count;
    return 0;
}

/* ---- As solvers see it ---- */

/* Less than a unit is lost; an entry is read with two roundings, of unit low and of the sum. A product adds n terms in
   double. */
static mc_matrix_errors split_errors(const void *self, int64_t t) {
    (void)t;
    const mc_stored *k = self;
    mc_matrix_errors e = {.size = k->made.size, .entry = k->made.entry + 1.01 * k->unit * (1 + 0x1p-52 / UNIT)};
    e.rest = e.entry;
    e.product_rest = 1.01 * (e.entry + (double)(k->n + 8) * 0x1p-53 * e.size);
    return e;
}

static mc_matrix matrix_of(const mc_stored *k) {
    return (mc_matrix){.n = k->n,
                       .self = k,
                       .rows = take_rows,
                       .pairs = stored_pairs,
                       .diagonal = stored_diagonal,
                       .bytes = no_bytes,
                       .dtype = MERCER_F32};
}

mc_matrix mc_stored_matrix(const mc_stored *k) {
    mc_matrix K = matrix_of(k);
    K.apply = apply_stored;
    return K;
}

mc_matrix mc_stored_reduced_matrix(const mc_stored *k) {
    mc_matrix K = matrix_of(k);
    K.apply = apply_reduced;
    return K;
}

bool mc_stored_is_split(const mc_stored *k) {
    return k->low;
}

mc_matrix mc_stored_split_matrix(const mc_stored *k) {
    mc_matrix K = matrix_of(k);
    K.apply = apply_split;
    K.errors = split_errors;
    return K;
}
