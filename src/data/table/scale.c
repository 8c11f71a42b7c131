/* scale.c: x_j -> (x_j - shift_j) * factor_j.

   standard: shift = mean, factor = 1 / standard deviation (divisor n). minmax: shift = least, factor = 1 / (greatest -
   least). Sparse data are not shifted, or their zeros would fill in: standard keeps the factor, minmax uses 1 / max
   |x_j|. A column whose values are all equal gets factor 1.

   Three passes over the rows: range, then mean and variance of u = (x - least) / (greatest - least), which lies in [0,
   1], so that no spread of finite values over- or underflows. Dense rows are summed in fixed chunks, each into its own
   d slots, added in order. */
#include "data/table/scale.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/columns.h"
#include <float.h>
#include <math.h>

enum { ROW_GRAIN = 4096 };
static const double auto_ratio = 10;

const char *const mc_scaling_names[] = {"auto", "none", "standard", "minmax"};

typedef struct stats stats;
struct stats {
    const mercer_data *data;
    int64_t chunks;
    double *low, *high, *mean, *square; /* d each: least, greatest, mean of u, mean of (u - mean)^2 */
    int64_t *count;                     /* d: values stored */
    double *part, *part2;               /* chunks x d */
    double *scratch;                    /* threads x d: a float32 row as doubles */
    /* How a row joins the sums, and what one value adds (for the zeros that are not stored). */
    void (*fold)(const stats *s, double *restrict part, double *restrict part2, const int32_t *column,
                 const double *restrict x, int64_t count);
    double (*term)(const stats *s, int64_t j, double x);
};

/* The loops over a dense row, whose value k is of column k, stand alone: so they are loops over vectors. */
static void widen_range(double *low, double *high, double x) {
    *low = x < *low ? x : *low;
    *high = x > *high ? x : *high;
}

static void fold_range(const stats *s, double *restrict low, double *restrict high, const int32_t *column,
                       const double *restrict x, int64_t count) {
    (void)s;
    for (int64_t k = 0; k < count && column; k++)
        widen_range(&low[column[k]], &high[column[k]], x[k]);
    for (int64_t j = 0; j < count && !column; j++)
        widen_range(&low[j], &high[j], x[j]);
}

/* u; a constant column has u = 0. */
static double scaled_to_unit(const stats *s, int64_t j, double x) {
    const double range = s->high[j] - s->low[j];
    return range > 0 ? (x - s->low[j]) / range : 0.0;
}

static double squared_deviation(const stats *s, int64_t j, double x) {
    const double e = scaled_to_unit(s, j, x) - s->mean[j];
    return e * e;
}

static void fold_unit(const stats *s, double *restrict sum, double *restrict unused, const int32_t *column,
                      const double *restrict x, int64_t count) {
    (void)unused;
    const stats t = *s;
    for (int64_t k = 0; k < count && column; k++)
        sum[column[k]] += scaled_to_unit(&t, column[k], x[k]);
    for (int64_t j = 0; j < count && !column; j++)
        sum[j] += scaled_to_unit(&t, j, x[j]);
}

static void fold_square(const stats *s, double *restrict sum, double *restrict unused, const int32_t *column,
                        const double *restrict x, int64_t count) {
    (void)unused;
    const stats t = *s;
    for (int64_t k = 0; k < count && column; k++)
        sum[column[k]] += squared_deviation(&t, column[k], x[k]);
    for (int64_t j = 0; j < count && !column; j++)
        sum[j] += squared_deviation(&t, j, x[j]);
}

/* Stored values from, from+1, ... as doubles. */
static const double *as_double(const mercer_data *data, int64_t from, int64_t count, double *scratch) {
    if (data->dtype == MERCER_F64)
        return (const double *)data->values + from;
    for (int64_t k = 0; k < count; k++)
        scratch[k] = (double)((const float *)data->values)[from + k];
    return scratch;
}

static void fold_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const stats *s = arg;
    const mercer_data *data = s->data;
    const int64_t d = data->d;
    double *part = s->part + chunk * d, *part2 = s->part2 + chunk * d, *scratch = s->scratch + thread * d;
    for (int64_t i = begin; i < end; i++) {
        const int64_t from = data->row_start ? data->row_start[i] : i * d;
        const int64_t count = data->row_start ? data->row_start[i + 1] - from : d;
        s->fold(s, part, part2, data->row_start ? data->column + from : NULL, as_double(data, from, count, scratch),
                count);
    }
}

/* Sparse data go in one chunk: d slots per chunk could pass the size of the data themselves. */
static int64_t rows_of_chunk(const mercer_data *data) {
    return data->row_start ? data->n : ROW_GRAIN;
}

static void fill_constant(double *x, int64_t n, double value) {
    for (int64_t i = 0; i < n; i++)
        x[i] = value;
}

static void count_stored(const stats *s) {
    const mercer_data *data = s->data;
    for (int64_t j = 0; j < data->d; j++)
        s->count[j] = data->row_start ? 0 : data->n;
    for (int64_t k = 0; data->row_start && k < data->row_start[data->n]; k++)
        s->count[data->column[k]]++;
}

static mercer_status find_range(mercer_ctx *ctx, stats *s) {
    const int64_t d = s->data->d;
    fill_constant(s->part, s->chunks * d, INFINITY);
    fill_constant(s->part2, s->chunks * d, -INFINITY);
    s->fold = fold_range;
    MC_TRY(mc_for(ctx, s->data->n, rows_of_chunk(s->data), fold_rows, s));
    for (int64_t j = 0; j < d; j++) {
        const bool zeros = s->count[j] < s->data->n;
        s->low[j] = zeros ? 0 : INFINITY;
        s->high[j] = zeros ? 0 : -INFINITY;
        for (int64_t c = 0; c < s->chunks; c++) {
            s->low[j] = fmin(s->low[j], s->part[c * d + j]);
            s->high[j] = fmax(s->high[j], s->part2[c * d + j]);
        }
        if (isinf(s->high[j] - s->low[j]))
            return mc_fail(ctx, MERCER_NUMERIC,
                           "scale: column '%s' spans %g to %g, more than a double can hold; rescale it first",
                           mercer_data_column_name(s->data, mc_data_column(s->data, j)), s->low[j], s->high[j]);
    }
    return MERCER_OK;
}

/* out[j] = (sum of the terms of the stored values + those of the zeros between them) / n. */
static mercer_status average_columns(mercer_ctx *ctx, stats *s, double *out) {
    const int64_t n = s->data->n, d = s->data->d;
    fill_constant(s->part, s->chunks * d, 0);
    MC_TRY(mc_for(ctx, n, rows_of_chunk(s->data), fold_rows, s));
    for (int64_t j = 0; j < d; j++) {
        double sum = 0;
        for (int64_t c = 0; c < s->chunks; c++)
            sum += s->part[c * d + j];
        const int64_t zeros = n - s->count[j];
        out[j] = (sum + (zeros ? (double)zeros * s->term(s, j, 0.0) : 0.0)) / (double)n;
    }
    return MERCER_OK;
}

static mercer_status measure_column_stats(mercer_ctx *ctx, stats *s) {
    count_stored(s);
    MC_TRY(find_range(ctx, s));
    s->fold = fold_unit;
    s->term = scaled_to_unit;
    MC_TRY(average_columns(ctx, s, s->mean));
    s->fold = fold_square;
    s->term = squared_deviation;
    return average_columns(ctx, s, s->square);
}

static double standard_deviation(const stats *s, int64_t j) {
    return (s->high[j] - s->low[j]) * sqrt(s->square[j]);
}

/* Spreads more than auto_ratio apart; constant columns have none. */
static bool spreads_differ(const stats *s) {
    double least = INFINITY, greatest = 0;
    for (int64_t j = 0; j < s->data->d; j++) {
        const double spread = standard_deviation(s, j);
        least = spread > 0 ? fmin(least, spread) : least;
        greatest = fmax(greatest, spread);
    }
    return greatest > auto_ratio * least;
}

/* 1 / spread; 1 where the column is constant or its spread has no reciprocal. */
static double safe_reciprocal(double spread) {
    return spread >= DBL_MIN ? 1 / spread : 1;
}

static void choose_shift_and_factor(const stats *s, mc_scale *out) {
    const bool sparse = s->data->row_start != NULL;
    for (int64_t j = 0; j < out->d; j++) {
        const double range = s->high[j] - s->low[j];
        if (out->kind == MC_SCALE_STANDARD) {
            out->shift[j] = sparse ? 0 : s->low[j] + range * s->mean[j];
            out->factor[j] = safe_reciprocal(standard_deviation(s, j));
        } else {
            out->shift[j] = sparse ? 0 : s->low[j];
            out->factor[j] = safe_reciprocal(sparse ? fmax(fabs(s->low[j]), fabs(s->high[j])) : range);
        }
    }
}

static mercer_status fit_columns(mercer_ctx *ctx, const mercer_data *data, mc_scale *out) {
    const int64_t d = data->d, chunks = mc_chunk_count(data->n, rows_of_chunk(data));
    stats s = {.data = data, .chunks = chunks};
    mc_work w;
    MC_TRY(MC_WORK_SLICES(ctx, &w, MC_SLICE(s.low, d), MC_SLICE(s.high, d), MC_SLICE(s.mean, d), MC_SLICE(s.square, d),
                          MC_SLICE(s.count, d), MC_SLICE(s.part, chunks * d), MC_SLICE(s.part2, chunks * d),
                          MC_SLICE(s.scratch, mercer_threads(ctx) * d)));
    mercer_status status = measure_column_stats(ctx, &s);
    if (!status && out->kind == MC_SCALE_AUTO)
        out->kind = spreads_differ(&s) ? MC_SCALE_STANDARD : MC_SCALE_NONE;
    if (!status && out->kind != MC_SCALE_NONE)
        status = MC_ALLOC(ctx, out->shift, d) || MC_ALLOC(ctx, out->factor, d) ? MERCER_MEMORY : MERCER_OK;
    if (!status && out->kind != MC_SCALE_NONE)
        choose_shift_and_factor(&s, out);
    mc_work_close(&w);
    return status;
}

mercer_status mc_scale_fit(mercer_ctx *ctx, mc_scaling kind, const mercer_data *data, mc_scale *out) {
    *out = (mc_scale){.kind = kind, .d = data->d};
    if (kind == MC_SCALE_AUTO && (data->row_start || data->d < 2))
        out->kind = MC_SCALE_NONE;
    if (out->kind == MC_SCALE_NONE)
        return MERCER_OK;
    const mercer_status status = fit_columns(ctx, data, out);
    if (status)
        mc_scale_free(out);
    return status;
}

typedef struct applying {
    const mc_scale *scale;
    mercer_data *data;
    int64_t *bad; /* per chunk: the first row with a value that left the range; -1: none */
} applying;

static void apply_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const applying *a = arg;
    mercer_data *data = a->data;
    a->bad[chunk] = -1;
    for (int64_t i = begin; i < end; i++) {
        const int64_t from = data->row_start ? data->row_start[i] : i * data->d;
        const int64_t count = data->row_start ? data->row_start[i + 1] - from : data->d;
        bool finite = true;
        for (int64_t k = from; k < from + count; k++) {
            const int64_t j = data->row_start ? data->column[k] : k - from;
            const double x =
                data->dtype == MERCER_F32 ? (double)((float *)data->values)[k] : ((double *)data->values)[k];
            const double y = (x - a->scale->shift[j]) * a->scale->factor[j];
            finite &= fabs(y) <= (data->dtype == MERCER_F32 ? (double)FLT_MAX : DBL_MAX);
            if (data->dtype == MERCER_F32)
                ((float *)data->values)[k] = (float)y;
            else
                ((double *)data->values)[k] = y;
        }
        if (!finite && a->bad[chunk] < 0)
            a->bad[chunk] = i;
    }
}

static mercer_status apply_all(mercer_ctx *ctx, const mc_scale *scale, mercer_data *data) {
    const int64_t chunks = mc_chunk_count(data->n, ROW_GRAIN);
    applying a = {.scale = scale, .data = data};
    MC_TRY(MC_ALLOC(ctx, a.bad, chunks));
    mercer_status status = mc_for(ctx, data->n, ROW_GRAIN, apply_rows, &a);
    for (int64_t c = 0; c < chunks && !status; c++)
        if (a.bad[c] >= 0)
            status = mc_fail(ctx, MERCER_NUMERIC,
                             "scale: row %lld lies so far from the training data that scaling it overflows",
                             (long long)a.bad[c] + 1);
    mc_free(a.bad);
    return status;
}

/* A scaling found on dense data moves the zeros of a sparse file too. */
static bool moves_zeros(const mc_scale *scale) {
    for (int64_t j = 0; j < scale->d && scale->kind != MC_SCALE_NONE; j++)
        if (scale->shift[j] != 0)
            return true;
    return false;
}

mercer_status mc_scale_apply(mercer_ctx *ctx, const mc_scale *scale, const mercer_data *data, mercer_data **out) {
    *out = NULL;
    if (scale->d != data->d)
        return mc_fail(ctx, MERCER_DATA, "scale: the data have %lld columns, the scaling was found on %lld",
                       (long long)data->d, (long long)scale->d);
    mercer_data *copy = NULL;
    MC_TRY(mc_data_take(ctx, data, NULL, data->n, &copy));
    mercer_status status = moves_zeros(scale) ? mc_data_densify(ctx, copy) : MERCER_OK;
    if (!status && scale->kind != MC_SCALE_NONE)
        status = apply_all(ctx, scale, copy);
    if (status)
        mercer_data_free(copy);
    else
        *out = copy;
    return status;
}

void mc_scale_free(mc_scale *scale) {
    mc_free(scale->shift);
    mc_free(scale->factor);
    *scale = (mc_scale){0};
}
