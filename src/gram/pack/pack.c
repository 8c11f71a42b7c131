/* pack.c: the points of both sides as the tiles read them.

   Each part is measured first, in double: how long the points are decides the precision and the method for |x - z|^2
   (choose_precision.c). Then its coordinates are rounded to the tile's precision and laid out in panels; norms.c takes
   their norms as the tiles sum them up. */
#include "gram/pack/pack.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "gram/compile/line_vectors.h"
#include "gram/operator/factored.h"
#include "gram/operator/precomputed.h"
#include "gram/pack/aligned_texts.h"
#include "gram/pack/string_features.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { LEAST_GRAIN = 16 }; /* rows of a chunk in any loop of this file, at least */
enum { LANES = 4 };        /* sums at a time: one waits for each of its additions */

/* One side of one part, worked on in chunks of rows. */
typedef struct packed_side {
    const mc_gram *gram;
    mc_tile_part *part;
    mc_packed_points *pack;
    const mercer_data *data;
    bool right;
    const int32_t *place; /* sparse: of a data column in the view; -1: not in it */
    double *scratch;      /* per thread */
    int32_t *coordinates; /* per thread */
    int64_t scratch_each, coordinates_each;
} packed_side;

static size_t real_size(const mc_gram *g) {
    return g->precision == MERCER_F32 ? sizeof(float) : sizeof(double);
}

/* A row at values[at], [at + stride], ..., as far apart as the lanes of a panel; x becomes what was stored. */
static void store_row(const mc_gram *g, void *values, int64_t at, int64_t stride, double *x, int64_t count) {
    if (g->precision == MERCER_F32) {
        float *out = (float *)values + at;
        for (int64_t k = 0; k < count; k++)
            x[k] = (double)(out[k * stride] = (float)x[k]);
    } else {
        double *out = (double *)values + at;
        for (int64_t k = 0; k < count; k++)
            out[k * stride] = x[k];
    }
}

static double *scratch_of(const packed_side *s, int thread) {
    return s->scratch + thread * s->scratch_each;
}

/* The coordinates of row i; dense ones in the order of k, sparse ones with *coordinate. */
static int64_t row_coordinates(const packed_side *s, int64_t i, int thread, double **values, int32_t **coordinate) {
    double *scratch = scratch_of(s, thread);
    *values = scratch;
    *coordinate = s->coordinates + thread * s->coordinates_each;
    if (s->part->strings)
        return mc_string_features_row(s->pack, s->data, i, *values, coordinate);
    if (s->part->sparse)
        return mc_feature_sparse(s->part, s->place, s->data, i, *coordinate, *values);
    mc_feature_row(s->part, s->data, i, s->right, scratch + s->part->d, *values);
    return s->part->d;
}

/* <scaled centre, x>; a part that is centred has one coordinate per column. */
static double shift_of(const mc_tile_part *p, const double *x) {
    double sum[LANES] = {0};
    const int64_t count = p->centre && p->feature == MC_PLAIN ? p->columns : 0, whole = count - count % LANES;
    const double *weight = p->weight, *centre = p->centre;
    for (int64_t k = 0; k < whole; k += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            sum[lane] += weight[k + lane] * centre[k + lane] * x[k + lane];
    for (int64_t k = whole; k < count; k++)
        sum[k - whole] += weight[k] * centre[k] * x[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double square_sum(const double *x, int64_t count) {
    double sum[LANES] = {0};
    const int64_t whole = count - count % LANES;
    for (int64_t k = 0; k < whole; k += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            sum[lane] += x[k + lane] * x[k + lane];
    for (int64_t k = whole; k < count; k++)
        sum[k - whole] += x[k] * x[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* k(x, x) of spline; of rows with values below 0, whose terms may be larger, the square of a larger product. */
static double spline_size(const double *x, int64_t count) {
    double product = 1, larger = 1;
    bool negative = false;
    for (int64_t k = 0; k < count; k++) {
        const double a = fabs(x[k]);
        product *= 1 + a * a * (1 + a / 3);
        larger *= 1 + a * a * (1 + a);
        negative |= x[k] < 0;
    }
    return negative ? larger * larger : product;
}

static double size_of(const mc_tile_part *p, const double *x, int64_t count) {
    double sum = 0;
    if (p->kind == MC_DOT)
        return square_sum(x, count);
    if (p->kind == MC_SPLINE_PRODUCT)
        return spline_size(x, count);
    for (int64_t k = 0; k < count; k++)
        sum += fabs(x[k]);
    return sum;
}

static void measure_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const packed_side *s = arg;
    for (int64_t i = begin; i < end; i++) {
        double *x;
        int32_t *coordinate;
        const int64_t count = row_coordinates(s, i, thread, &x, &coordinate);
        s->pack->norm2[i] = size_of(s->part, x, count);
        s->pack->shift[i] = shift_of(s->part, x);
    }
}

/* Round, lay out, measure what was laid out: of doubles that is what was measured before. */
static void pack_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const packed_side *s = arg;
    const mc_gram *g = s->gram;
    const int64_t width = g->ops->columns;
    for (int64_t i = begin; i < end; i++) {
        double *x;
        int32_t *coordinate;
        const int64_t count = row_coordinates(s, i, thread, &x, &coordinate);
        const int64_t base = s->part->sparse ? s->pack->start[i] : i / width * width * s->part->d + i % width;
        const int64_t stride = s->part->sparse ? 1 : width;
        if (s->part->uint8_unit > 0)
            mc_pack_uint8_pack(s->part, width, i, x, s->pack->values);
        else
            store_row(g, s->pack->values, base, stride, x, count);
        if (s->part->sparse && count > 0)
            memcpy(s->pack->coordinate + base, coordinate, (size_t)count * sizeof *coordinate);
        if (g->precision == MERCER_F64)
            continue;
        s->pack->norm2[i] = size_of(s->part, x, count);
        s->pack->shift[i] = shift_of(s->part, x);
    }
}

void mc_pack_widest(mc_packed_points *pack, int64_t width) {
    pack->widest = 0;
    for (int64_t i = 0; i < pack->n; i += width) {
        const int64_t count = pack->start[i + width < pack->n ? i + width : pack->n] - pack->start[i];
        pack->widest = count > pack->widest ? count : pack->widest;
    }
}

static mercer_status count_sparse(mercer_ctx *ctx, packed_side *s) {
    mc_packed_points *pack = s->pack;
    MC_TRY(MC_ALLOC(ctx, pack->start, pack->n + 1));
    for (int64_t i = 0; i < pack->n; i++) {
        double *x;
        int32_t *coordinate;
        pack->start[i + 1] = pack->start[i] + row_coordinates(s, i, 0, &x, &coordinate);
    }
    mc_pack_widest(pack, s->gram->ops->columns);
    return MC_ALLOC(ctx, pack->coordinate, pack->start[pack->n]);
}

/* Points past the end repeat the last one: what they give is thrown away, but it is a number like the others. */
static void pad_last_panel(const packed_side *s) {
    const mc_packed_points *pack = s->pack;
    const int64_t width = s->gram->ops->columns, end = pack->panels * width;
    const int64_t size = mc_part_element(s->part, s->gram->precision), elements = mc_part_elements(s->part);
    char *values = pack->values;
    for (int64_t i = pack->n; i < end; i++)
        for (int64_t k = 0; k < elements && !s->part->sparse; k++) {
            char *panel = values + ((pack->panels - 1) * width * elements + k * width) * size;
            memcpy(panel + i % width * size, panel + (pack->n - 1) % width * size, (size_t)size);
        }
}

static mercer_status lay_out(mercer_ctx *ctx, packed_side *s) {
    mc_packed_points *pack = s->pack;
    if (s->part->precomputed)
        return mc_precomputed_lay_out(ctx, s->gram, s->part, pack, s->data);
    const mc_gram *g = s->gram;
    pack->panels = mc_chunk_count(pack->n, g->ops->columns);
    if (s->part->strings) {
        mc_pack_widest(pack, g->ops->columns);
        MC_TRY(MC_ALLOC(ctx, pack->coordinate, pack->start[pack->n]));
    } else if (s->part->sparse)
        MC_TRY(count_sparse(ctx, s));
    const int64_t padded = pack->panels * g->ops->columns;
    pack->values = mc_alloc_unset(ctx, s->part->sparse ? pack->start[pack->n] : padded * mc_part_elements(s->part),
                                  (size_t)mc_part_element(s->part, g->precision));
    pack->half = mc_alloc(ctx, padded, real_size(g));
    if (!pack->values || !pack->half)
        return MERCER_MEMORY;
    MC_TRY(mc_for(ctx, pack->n, 4 * g->ops->columns, pack_rows, s));
    pad_last_panel(s);
    mc_string_features_release(pack);
    return mc_part_aligned(s->part) ? mc_aligned_texts_make(ctx, s->part->strings, s->data, &pack->aligned) : MERCER_OK;
}

/* The least |x|^2 = |x - m|^2 + 2 <m, x - m> + |m|^2 that is not 0. */
static double least_squared_norm(const mc_tile_part *p, const mc_packed_points *pack) {
    double least = INFINITY;
    for (int64_t i = 0; i < pack->n; i++) {
        const double square = pack->norm2[i] + 2 * pack->shift[i] + p->centre2;
        if (square > 4 * DBL_EPSILON * p->centre2)
            least = fmin(least, square);
    }
    return least;
}

static mercer_status measure_side(mercer_ctx *ctx, packed_side *s) {
    mc_packed_points *pack = s->pack;
    if (s->part->precomputed)
        return mc_precomputed_measure(ctx, s->gram, s->part, pack, s->data);
    pack->n = s->data->n;
    MC_TRY(MC_ALLOC(ctx, pack->norm2, pack->n));
    MC_TRY(MC_ALLOC(ctx, pack->shift, pack->n));
    MC_TRY(mc_for(ctx, pack->n, 256, measure_rows, s));
    pack->norm2_max = mc_largest_magnitude(pack->norm2, pack->n);
    pack->shift_max = mc_largest_magnitude(pack->shift, pack->n);
    pack->least2 = least_squared_norm(s->part, pack);
    return MERCER_OK;
}

static mercer_status fill_place(mercer_ctx *ctx, const mc_tile_part *p, int64_t d, int32_t **out) {
    MC_TRY(MC_ALLOC(ctx, *out, d));
    for (int64_t j = 0; j < d; j++)
        (*out)[j] = -1;
    for (int64_t k = 0; k < p->columns; k++)
        (*out)[p->column[k]] = (int32_t)k;
    return MERCER_OK;
}

/* Run work over one side with what its chunks need. */
static mercer_status with_scratch(mercer_ctx *ctx, packed_side *s, mercer_status (*work)(mercer_ctx *, packed_side *)) {
    const bool counted = s->part->strings != NULL;
    s->scratch_each = counted ? s->part->longest : s->part->d + mc_feature_scratch(s->data, s->part);
    s->coordinates_each = s->part->sparse && !counted ? s->part->d : 0;
    int32_t *place = NULL;
    const int threads = mc_for_threads(ctx, mc_chunk_count(s->data->n, LEAST_GRAIN));
    mercer_status status = MC_ALLOC(ctx, s->scratch, threads * s->scratch_each);
    if (!status)
        status = MC_ALLOC(ctx, s->coordinates, threads * s->coordinates_each);
    if (!status && s->part->sparse && !counted)
        status = fill_place(ctx, s->part, s->data->d, &place);
    s->place = place;
    if (!status)
        status = work(ctx, s);
    mc_free(s->scratch);
    mc_free(s->coordinates);
    mc_free(place);
    return status;
}

static mercer_status each_side(mercer_ctx *ctx, mc_gram *g, mercer_status (*work)(mercer_ctx *, packed_side *)) {
    for (int i = 0; i < g->plan.parts; i++) {
        mc_tile_part *p = &g->plan.part[i];
        packed_side left = {.gram = g, .part = p, .pack = &p->left, .data = g->x};
        MC_TRY(with_scratch(ctx, &left, work));
        packed_side right = {.gram = g, .part = p, .pack = &p->right, .data = g->z, .right = true};
        if (g->packed_from)
            p->right = g->packed_from->plan.part[i].right;
        else if (p->shared)
            p->right = p->left;
        else
            MC_TRY(with_scratch(ctx, &right, work));
    }
    return MERCER_OK;
}

mercer_status mc_gram_measure(mercer_ctx *ctx, mc_gram *g) {
    return each_side(ctx, g, measure_side);
}

static void drop_measures(mc_tile_program *plan) {
    for (int i = 0; i < plan->parts; i++) {
        mc_tile_part *p = &plan->part[i];
        mc_packed_points *const sides[] = {&p->left, &p->right};
        for (int s = 0; s < (p->shared ? 1 : 2); s++) {
            mc_free(sides[s]->norm2);
            mc_free(sides[s]->shift);
        }
        p->left.norm2 = p->left.shift = p->right.norm2 = p->right.shift = NULL;
    }
}

mercer_status mc_gram_pack(mercer_ctx *ctx, mc_gram *g) {
    MC_TRY(each_side(ctx, g, lay_out));
    MC_TRY(mc_norms_fill(ctx, g));
    MC_TRY(mc_vectors_fill(ctx, g));
    drop_measures(&g->plan);
    mc_factored_find(g);
    return MERCER_OK;
}
