/* part_layout.c: how the coordinates of a part are laid out: dense or compressed, which columns, centred where, as
   bytes or reals, with which factor. */
#include "gram/pack/pack.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "gram/features/form_factor.h"
#include "gram/pack/string_features.h"
#include <math.h>
#include <string.h>

#define MC_SPARSE_SHARE 0.25 /* below this density compressed rows are faster: bench/b_gram.c */

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

static int64_t coordinates_of(const mc_tile_part *p) {
    return p->feature == MC_COS_SIN ? 2 * p->columns : p->feature == MC_FACTOR ? p->factor.rank : p->columns;
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

/* How far rounding moves the points of both sides. */
static mercer_status bound_phase(mercer_ctx *ctx, const mc_gram *g, mc_tile_part *p) {
    mercer_status (*const bound)(mercer_ctx *, mc_tile_part *, const mercer_data *) =
        p->feature == MC_COS_SIN  ? mc_part_phase
        : p->feature == MC_FACTOR ? mc_part_factor_phase
                                  : NULL;
    if (!bound)
        return MERCER_OK;
    MC_TRY(bound(ctx, p, g->x));
    return g->symmetric ? MERCER_OK : bound(ctx, p, g->z);
}

/* A function as steep at 0 as a root wants distances of near rows that norms do not give. */
static bool is_read_steeply(const mc_gram *g, const mc_tile_part *p) {
    for (int i = 0; i < g->plan.lines; i++) {
        const mc_tile_step *step = &g->plan.line[i].step;
        if (g->plan.line[i].part >= 0 && p == &g->plan.part[g->plan.line[i].part] && step->function == MC_LOOKED_UP
            && step->p < 0.5)
            return true;
    }
    return false;
}

/* Compressed rows have the coordinates of the data, and sums over those that both rows have. */
static bool may_be_sparse(const mc_gram *g, const mc_tile_part *p) {
    return p->feature != MC_IMAGE && p->feature != MC_FACTOR && !mc_statistic_is_product(p->kind) && !p->exact
           && !is_read_steeply(g, p);
}

static mercer_status find_least(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *data) {
    double *row = NULL;
    MC_TRY(MC_ALLOC(ctx, row, data->d));
    for (int64_t i = 0; i < data->n; i++) {
        mc_data_values(data, i, row);
        for (int64_t k = 0; k < p->columns; k++)
            p->least = row[p->column[k]] != 0 ? fmin(p->least, fabs(row[p->column[k]])) : p->least;
    }
    mc_free(row);
    return MERCER_OK;
}

static mercer_status find_least_coordinate(mercer_ctx *ctx, const mc_gram *g, mc_tile_part *p,
                                           const mc_tile_part *reused) {
    p->least = reused ? reused->right_least : INFINITY;
    if (!reused && !g->symmetric)
        MC_TRY(find_least(ctx, p, g->z));
    p->right_least = p->least;
    return find_least(ctx, p, g->x);
}

/* The first line that reads the part finds its argument in the tile as it stands: coordinates carry the factor. */
mercer_status mc_part_settle(mercer_ctx *ctx, mc_gram *g, mc_tile_part *p, const mc_tile_part *reused,
                             mercer_dtype wanted) {
    const bool distances = p->uses[MC_USE_DISTANCE] || p->kind == MC_ABSOLUTE || p->kind == MC_SINC_PRODUCT;
    if (p->precomputed || p->strings) {
        p->shared = g->symmetric;
        p->sparse = p->strings != NULL;
        return p->strings ? mc_string_features_open(ctx, p, g->x, g->z) : MERCER_OK;
    }
    p->sparse = is_sparse(g->x) && is_sparse(g->z) && may_be_sparse(g, p);
    p->shared = g->symmetric && p->feature != MC_IMAGE;
    MC_TRY(take_products_of_bits(ctx, g, p));
    MC_TRY(drop_zeros(ctx, g, p, reused));
    p->d = coordinates_of(p);
    p->longest = longest_of(g, p);
    if (p->exact)
        MC_TRY(find_least_coordinate(ctx, g, p, reused));
    if (g->symmetric && wanted == MERCER_F64 && !p->exact)
        MC_TRY(mc_part_uint8_unit(ctx, p, g->x));
    if (distances && !p->exact && !p->sparse && g->z->n > 0 && !(p->uint8_unit > 0))
        MC_TRY(reused ? take_centre(ctx, p, reused) : mc_part_centre(ctx, p, g->z));
    const double unit = mc_part_unit(p), scale = p->kind == MC_DOT ? sqrt(unit) : unit;
    for (int64_t k = 0; k < p->columns; k++) {
        p->weight[k] = scale * (p->kind == MC_DOT ? sqrt(p->weight[k]) : p->weight[k]);
        const double m = p->centre && p->feature == MC_PLAIN ? p->weight[k] * p->centre[k] : 0;
        p->centre2 += m * m;
    }
    return bound_phase(ctx, g, p);
}
