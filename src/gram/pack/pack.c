/* pack.c: the points of both sides as the tiles read them.

   Each part is measured first, in double: how long the points are decides the precision and the method for |x - z|^2
   (bound.c). Then its coordinates are rounded to the tile's precision and laid out in panels; norms.c takes their norms
   as the tiles sum them up. */
#include "base/ctx.h"
#include "backend/dispatch.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "gram/operator/entry_fault.h"
#include "gram/operator/factored.h"
#include "gram/operator/precomputed.h"
#include "gram/compile/line_vectors.h"
#include "gram/pack/string_features.h"
#include "data/table/columns.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define MC_SPARSE_SHARE 0.25 /* below this density compressed rows are faster: bench/b_gram.c */
enum { LEAST_GRAIN = 16 };   /* rows of a chunk in any loop of this file, at least */
enum { LANES = 4 };          /* sums at a time: one waits for each of its additions */
#define MC_DIRECT_COLUMNS 16 /* up to here direct differences cost less than a second look */
/* of what the rows of a pair make of the kernel: what tiles of doubles may be wrong by */
static const double WORST_SHARE = 1e-5;

/* One side of one part, worked on in chunks of rows. */
typedef struct side {
    const mc_gram *gram;
    mc_tile_part *part;
    mc_packed_points *pack;
    const mercer_data *data;
    bool right;
    const int32_t *place; /* sparse: of a data column in the view; -1: not in it */
    double *scratch;      /* per thread */
    int32_t *coordinates; /* per thread */
    int64_t scratch_each, coordinates_each;
} side;

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

static double *scratch_of(const side *s, int thread) {
    return s->scratch + thread * s->scratch_each;
}

static int64_t row_counts(const mc_packed_points *pack, int64_t i, double *values, int32_t **coordinate) {
    const int64_t begin = pack->start[i], count = pack->start[i + 1] - begin;
    for (int64_t k = 0; k < count; k++)
        values[k] = pack->count[begin + k];
    *coordinate = count > 0 ? pack->coordinate + begin : NULL; /* of texts that are all too short there are none */
    return count;
}

/* The coordinates of row i; dense ones in the order of k, sparse ones with *coordinate. */
static int64_t row_coordinates(const side *s, int64_t i, int thread, double **values, int32_t **coordinate) {
    double *scratch = scratch_of(s, thread);
    *values = scratch;
    *coordinate = s->coordinates + thread * s->coordinates_each;
    if (s->part->strings)
        return row_counts(s->pack, i, *values, coordinate);
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

static double size_of(const mc_tile_part *p, const double *x, int64_t count) {
    double sum = 0;
    if (p->kind == MC_DOT)
        return square_sum(x, count);
    for (int64_t k = 0; k < count; k++)
        sum += fabs(x[k]);
    return sum;
}

static void measure_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const side *s = arg;
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
    const side *s = arg;
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

static mercer_status count_sparse(mercer_ctx *ctx, side *s) {
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
static void pad_last_panel(const side *s) {
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

static mercer_status lay_out(mercer_ctx *ctx, side *s) {
    mc_packed_points *pack = s->pack;
    if (s->part->precomputed)
        return mc_precomputed_lay_out(ctx, s->gram, s->part, pack, s->data);
    const mc_gram *g = s->gram;
    pack->panels = mc_chunk_count(pack->n, g->ops->columns);
    if (s->part->strings)
        mc_pack_widest(pack, g->ops->columns);
    else if (s->part->sparse)
        MC_TRY(count_sparse(ctx, s));
    const int64_t padded = pack->panels * g->ops->columns;
    pack->values = mc_alloc_unset(ctx, s->part->sparse ? pack->start[pack->n] : padded * mc_part_elements(s->part),
                                  (size_t)mc_part_element(s->part, g->precision));
    pack->half = mc_alloc(ctx, padded, real_size(g));
    if (!pack->values || !pack->half)
        return MERCER_MEMORY;
    MC_TRY(mc_for(ctx, pack->n, 4 * g->ops->columns, pack_rows, s));
    pad_last_panel(s);
    mc_free(pack->count);
    pack->count = NULL;
    return MERCER_OK;
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

static mercer_status measure_side(mercer_ctx *ctx, side *s) {
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
static mercer_status with_scratch(mercer_ctx *ctx, side *s, mercer_status (*work)(mercer_ctx *, side *)) {
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

static mercer_status each_side(mercer_ctx *ctx, mc_gram *g, mercer_status (*work)(mercer_ctx *, side *)) {
    for (int i = 0; i < g->plan.parts; i++) {
        mc_tile_part *p = &g->plan.part[i];
        side left = {.gram = g, .part = p, .pack = &p->left, .data = g->x};
        MC_TRY(with_scratch(ctx, &left, work));
        side right = {.gram = g, .part = p, .pack = &p->right, .data = g->z, .right = true};
        if (g->packed_from)
            p->right = g->packed_from->plan.part[i].right;
        else if (p->shared)
            p->right = p->left;
        else
            MC_TRY(with_scratch(ctx, &right, work));
    }
    return MERCER_OK;
}

/* ---- Choices ---- */

static bool is_sparse(const mercer_data *data) {
    return data->row_start
           && (double)data->row_start[data->n] < MC_SPARSE_SHARE * (double)data->n * (double)mc_data_width(data);
}

static int64_t longest_row(const mercer_data *data) {
    int64_t longest = 0;
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t count = data->row_start[i + 1] - data->row_start[i];
        longest = count > longest ? count : longest;
    }
    return longest;
}

/* Coordinates that one row can have. */
static int64_t longest_of(const mc_gram *g, const mc_tile_part *p) {
    if (!p->sparse)
        return p->d;
    const int64_t left = longest_row(g->x), right = longest_row(g->z), longest = left > right ? left : right;
    const int64_t each = p->feature == MC_COS_SIN ? 2 : 1;
    return each * longest < p->d ? each * longest : p->d;
}

static bool column_is_zero(const mercer_data *data, int64_t column) {
    for (int64_t i = 0; i < data->n; i++)
        if (data->dtype == MERCER_F64 ? ((const double *)data->values)[i * data->d + column] != 0
                                      : ((const float *)data->values)[i * data->d + column] != 0)
            return false;
    return true;
}

static mercer_status find_zero_columns(mercer_ctx *ctx, const mc_gram *g, mc_tile_part *p, const mc_tile_part *reused) {
    MC_TRY(MC_ALLOC(ctx, p->is_zero_column, p->columns));
    if (reused)
        memcpy(p->is_zero_column, reused->is_zero_column, (size_t)p->columns * sizeof *p->is_zero_column);
    for (int64_t k = 0; k < p->columns && !reused; k++)
        p->is_zero_column[k] = column_is_zero(g->z, p->column[k]);
    return MERCER_OK;
}

/* A column of zeros on both sides adds nothing to any sum: pictures have many. One is kept, so that there is a sum. */
static mercer_status drop_zeros(mercer_ctx *ctx, const mc_gram *g, mc_tile_part *p, const mc_tile_part *reused) {
    if (p->feature != MC_PLAIN || g->x->row_start || g->z->row_start)
        return MERCER_OK;
    MC_TRY(find_zero_columns(ctx, g, p, reused));
    int64_t nonzero = 0;
    for (int64_t k = 0; k < p->columns; k++) {
        const bool last = k + 1 == p->columns && nonzero == 0;
        if (!last && p->is_zero_column[k] && (g->symmetric || column_is_zero(g->x, p->column[k])))
            continue;
        p->column[nonzero] = p->column[k];
        p->weight[nonzero++] = p->weight[k];
    }
    p->columns = nonzero;
    return MERCER_OK;
}

static mercer_status take_centre(mercer_ctx *ctx, mc_tile_part *p, const mc_tile_part *reused) {
    if (!reused->centre || p->columns != reused->columns)
        return MERCER_OK; /* no centre, or another layout: reuse_packed.c sees it */
    MC_TRY(MC_ALLOC(ctx, p->centre, p->columns));
    memcpy(p->centre, reused->centre, (size_t)p->columns * sizeof *p->centre);
    return MERCER_OK;
}

static bool row_is_bits(const mc_tile_part *p, const double *row) {
    for (int64_t k = 0; k < p->columns; k++)
        if (row[p->column[k]] != 0 && row[p->column[k]] != 1)
            return false;
    return true;
}

/* Of zeros and ones the smaller is the product, and products are what machines are fast at. */
static mercer_status take_products_of_bits(mercer_ctx *ctx, const mc_gram *g, mc_tile_part *p) {
    double *row = NULL;
    if (p->kind != MC_MINIMUM || !g->symmetric)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, row, g->x->d));
    bool bits = g->x->n > 0;
    for (int64_t i = 0; i < g->x->n && bits; i++) {
        mc_data_values(g->x, i, row);
        bits = row_is_bits(p, row);
    }
    mc_free(row);
    p->kind = bits ? MC_DOT : p->kind;
    return MERCER_OK;
}

/* The first line that reads the part finds its argument in the tile as it stands: coordinates carry the factor. */
static mercer_status settle_part(mercer_ctx *ctx, mc_gram *g, mc_tile_part *p, const mc_tile_part *reused,
                                 mercer_dtype wanted) {
    const bool distances = p->uses[MC_USE_DISTANCE] || p->kind == MC_ABSOLUTE;
    if (p->precomputed || p->strings) {
        p->shared = g->symmetric;
        p->sparse = p->strings != NULL;
        return p->strings ? mc_string_features_open(ctx, p, g->x, g->z) : MERCER_OK;
    }
    p->sparse = is_sparse(g->x) && is_sparse(g->z) && p->feature != MC_IMAGE;
    p->shared = g->symmetric && p->feature != MC_IMAGE;
    MC_TRY(take_products_of_bits(ctx, g, p));
    MC_TRY(drop_zeros(ctx, g, p, reused));
    p->d = p->feature == MC_COS_SIN ? 2 * p->columns : p->columns;
    p->longest = longest_of(g, p);
    if (g->symmetric && wanted == MERCER_F64)
        MC_TRY(mc_part_uint8_unit(ctx, p, g->x));
    if (distances && !p->sparse && g->z->n > 0 && !(p->uint8_unit > 0))
        MC_TRY(reused ? take_centre(ctx, p, reused) : mc_part_centre(ctx, p, g->z));
    const double unit = mc_part_unit(p), scale = p->kind == MC_DOT ? sqrt(unit) : unit;
    for (int64_t k = 0; k < p->columns; k++) {
        p->weight[k] = scale * (p->kind == MC_DOT ? sqrt(p->weight[k]) : p->weight[k]);
        const double m = p->centre && p->feature == MC_PLAIN ? p->weight[k] * p->centre[k] : 0;
        p->centre2 += m * m;
    }
    if (p->feature == MC_COS_SIN) {
        MC_TRY(mc_part_phase(ctx, p, g->x));
        MC_TRY(mc_part_phase(ctx, p, g->z));
    }
    return MERCER_OK;
}

/* Short rows go by differences, long ones take a second look where it matters; compressed rows have the norms only. */
static void set_distance_methods(mc_tile_program *plan, bool careful) {
    for (int i = 0; i < plan->parts; i++) {
        mc_tile_part *p = &plan->part[i];
        const bool uncertain =
            !p->sparse && !(p->uint8_unit > 0) && (p->uses[MC_USE_DISTANCE] || p->uses[MC_USE_ANGLE]);
        const bool doubtful = careful && uncertain && p->kind == MC_DOT;
        p->distance_method = !doubtful                                             ? MC_DISTANCE_NORMS
                             : p->d <= MC_DIRECT_COLUMNS && !p->uses[MC_USE_ANGLE] ? MC_DISTANCE_DIRECT
                                                                                   : MC_DISTANCE_GUARDED;
    }
}

/* Floats hold every value on the way, and every number that the lines have of their own. */
static bool fits_floats(const mc_tile_program *plan, const mc_bound *all, double reach) {
    bool fits = reach < 1e30 && all->size > 1e-25;
    for (int i = 0; i < plan->lines; i++) {
        const mc_tile_line *line = &plan->line[i];
        const double alpha = line->part >= 0 ? fabs(line->a / mc_part_unit(&plan->part[line->part])) : 1;
        fits &= alpha < 1e20 && (alpha > 1e-20 || alpha == 0) && fabs(line->step.p) < 1e30
                && fabs(line->step.coefficient) < 1e30;
    }
    return fits;
}

/* A quotient of sums is as large as ever where the sums are too small for the numbers of a precision. */
static bool ratios_fit(const mc_tile_program *plan, mercer_dtype precision) {
    const double least = precision == MERCER_F32 ? 1e-25 : 1e-290;
    for (int i = 0; i < plan->lines; i++) {
        const mc_tile_part *p = plan->line[i].part >= 0 ? &plan->part[plan->line[i].part] : NULL;
        if (plan->line[i].step.function == MC_RATIO && fmin(p->left.least2, p->right.least2) < least)
            return false;
    }
    return true;
}

/* In this precision, by these distance methods, every entry is as near as the tolerance wants, relative to what its own
   rows make of it, and nothing on the way can leave the range of numbers. */
static bool try_precision(mc_gram *g, const mc_tile_ops *tile, mercer_dtype precision, bool careful, double tolerance,
                          mc_bound *temporary) {
    set_distance_methods(&g->plan, careful);
    g->precision = precision;
    double reach;
    const mc_bound likely = mc_tile_program_bound(&g->plan, &tile[precision], false, temporary, &reach);
    const bool fits =
        ratios_fit(&g->plan, precision) && (precision == MERCER_F64 || fits_floats(&g->plan, &likely, reach));
    return fits && reach < 1e300 && likely.share <= tolerance;
}

/* One line only takes the distance, and takes it as it stands. */
static bool reads_bare(const mc_tile_program *plan, int part) {
    int count = 0;
    bool as_it_is = true;
    for (int i = 0; i < plan->lines; i++) {
        const mc_tile_line *line = &plan->line[i];
        if (line->part == part && line->use == MC_USE_DISTANCE) {
            count++;
            as_it_is &= -2 * line->a == mc_part_unit(&plan->part[part]);
        }
    }
    return count == 1 && as_it_is;
}

/* Strips: the temporaries, then what each part gives its lines. The guarded distance may take the place of the dot
   product. */
static void number_strips(mc_tile_program *plan) {
    plan->strips = plan->temporaries;
    for (int i = 0; i < plan->parts; i++) {
        mc_tile_part *p = &plan->part[i];
        const bool from_dot = p->kind == MC_DOT && !(p->distance_method == MC_DISTANCE_DIRECT && !p->uses[MC_USE_DOT]);
        p->strip[MC_USE_DOT] = p->strip[MC_USE_SUM] = plan->strips++;
        p->norms_in_line = p->distance_method == MC_DISTANCE_NORMS && reads_bare(plan, i);
        const bool own = !p->norms_in_line && p->uses[MC_USE_DOT] && from_dot;
        p->strip[MC_USE_DISTANCE] = p->uses[MC_USE_DISTANCE] && own ? plan->strips++ : p->strip[MC_USE_DOT];
        p->strip[MC_USE_ANGLE] = p->uses[MC_USE_ANGLE] ? plan->strips++ : p->strip[MC_USE_DOT];
    }
    for (int i = 0; i < plan->lines; i++)
        if (plan->line[i].part >= 0)
            plan->line[i].step.source = plan->part[plan->line[i].part].strip[plan->line[i].use];
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

/* A root of a value that may be below 0 may have no value. */
static bool takes_roots(const mc_tile_program *plan) {
    for (int i = 0; i < plan->lines; i++)
        if (plan->line[i].step.function == MC_REAL_POWER && plan->line[i].step.degree == 0)
            return true;
    return false;
}

/* The cheapest distance method whose error bound is in keeping with the precision; where float cannot keep it, double;
   where no method of the tiles can, *found is false. */
static mercer_status choose_precision(mercer_ctx *ctx, mc_gram *g, mercer_dtype wanted, bool *found) {
    mc_bound *temporary = NULL;
    double reach;
    MC_TRY(MC_ALLOC(ctx, temporary, g->plan.temporaries));
    const mc_tile_ops *tile = mc_bodies_of(ctx->isa)->tile;
    *found = (wanted == MERCER_F32 && try_precision(g, tile, MERCER_F32, false, 1e-4, temporary))
             || (wanted == MERCER_F32 && try_precision(g, tile, MERCER_F32, true, 1e-3, temporary))
             || try_precision(g, tile, MERCER_F64, false, 1e-12, temporary)
             || try_precision(g, tile, MERCER_F64, true, WORST_SHARE, temporary);
    g->ops = &tile[g->precision];
    g->bound = mc_tile_program_bound(&g->plan, g->ops, true, temporary, &reach);
    mc_free(temporary);
    number_strips(&g->plan);
    return mc_fault_open(ctx, g, takes_roots(&g->plan) ? INFINITY : reach);
}

/* The bounds stay those of the tiles: the reference evaluator takes fewer roundings than they. */
static mercer_status leave_to_reference(mercer_ctx *ctx, mc_gram *g) {
    g->by_reference = true;
    if (g->packed_from)
        return MERCER_OK; /* another layout: reuse_packed.c sees it */
    mc_tile_program_free(&g->plan);
    mc_free(g->fault);
    g->fault = NULL;
    g->precision = MERCER_F64;
    g->ops = &mc_bodies_of(ctx->isa)->tile[g->precision];
    MC_TRY(mc_tile_program_by_reference(ctx, g->kernel->root, g->x->d, &g->plan));
    g->plan.part[0].shared = g->symmetric;
    MC_TRY(each_side(ctx, g, measure_side));
    number_strips(&g->plan);
    return mc_fault_open(ctx, g, INFINITY);
}

mercer_status mc_gram_choose(mercer_ctx *ctx, mc_gram *g, mercer_dtype precision) {
    bool found = false;
    MC_TRY(mc_tile_program_compile(ctx, g->kernel->root, g->x->d, &g->plan));
    for (int i = 0; i < g->plan.parts; i++)
        MC_TRY(settle_part(ctx, g, &g->plan.part[i], mc_packed_cache_part(g, i), precision));
    MC_TRY(each_side(ctx, g, measure_side));
    MC_TRY(mc_vectors_measure(ctx, g));
    MC_TRY(choose_precision(ctx, g, precision, &found));
    return found || !g->plan.allows_reference ? MERCER_OK : leave_to_reference(ctx, g);
}

mercer_status mc_gram_pack(mercer_ctx *ctx, mc_gram *g) {
    MC_TRY(each_side(ctx, g, lay_out));
    MC_TRY(mc_norms_fill(ctx, g));
    MC_TRY(mc_vectors_fill(ctx, g));
    drop_measures(&g->plan);
    mc_factored_find(g);
    return MERCER_OK;
}
