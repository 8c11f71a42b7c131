/* moments.c: per column the mean m_j and a_j = sum_i (x_ij - m_j)^2, in two passes over the data. The variance of
   several columns taken together follows from them: with m the mean of the m_j over k columns, sum_j (a_j + n (m_j -
   m)^2) / (n k).

   Rows are cut into chunks by their number alone; each chunk has its own sums, added in order. */
#include "kernel/language/moments.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/columns.h"
#include <math.h>

enum { CHUNKS_MAX = 64 };

typedef struct moment_pass {
    const mercer_data *data;
    const double *mean; /* NULL in the first pass */
    double *part;       /* chunks x d */
} moment_pass;

/* What an entry adds to the sum of its column. A zero that is not stored adds m^2 in the second pass: taken off here,
   added for all rows at the end. */
static double column_sum_term(const moment_pass *p, int64_t j, double x) {
    if (!p->mean)
        return x;
    const double m = p->mean[j], square = (x - m) * (x - m);
    return p->data->row_start ? square - m * m : square;
}

static void fold_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const moment_pass *p = arg;
    const mercer_data *data = p->data;
    double *sum = p->part + chunk * data->d;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = data->row_start ? data->row_start[i] : i * data->d;
        const int64_t last = data->row_start ? data->row_start[i + 1] : first + data->d;
        for (int64_t k = first; k < last; k++) {
            const int64_t j = data->row_start ? data->column[k] : k - first;
            sum[j] += column_sum_term(p, j, mc_stored_value(data, k));
        }
    }
}

/* As many chunks as are worth their own sums. */
static int64_t rows_per_chunk(const mercer_data *data) {
    const int64_t entries = data->row_start ? data->row_start[data->n] : data->n * data->d;
    const int64_t worth = entries / (16 * data->d + 1), most = worth < CHUNKS_MAX ? worth : CHUNKS_MAX;
    const int64_t chunks = most > 1 ? most : 1;
    return (data->n + chunks - 1) / chunks;
}

static mercer_status sum_columns(mercer_ctx *ctx, const mercer_data *data, const double *mean, double *out) {
    const int64_t grain = rows_per_chunk(data), chunks = mc_chunk_count(data->n, grain);
    moment_pass p = {.data = data, .mean = mean};
    MC_TRY(MC_ALLOC(ctx, p.part, chunks * data->d));
    const mercer_status status = mc_for(ctx, data->n, grain, fold_rows, &p);
    for (int64_t c = 0; c < chunks; c++)
        for (int64_t j = 0; j < data->d; j++)
            out[j] += p.part[c * data->d + j];
    mc_free(p.part);
    return status;
}

static mercer_status compute_moments(mercer_ctx *ctx, const mercer_data *data, mc_moments *out) {
    MC_TRY(MC_ALLOC(ctx, out->mean, data->d));
    MC_TRY(MC_ALLOC(ctx, out->about, data->d));
    MC_TRY(sum_columns(ctx, data, NULL, out->mean));
    for (int64_t j = 0; j < data->d; j++)
        out->mean[j] /= (double)data->n;
    MC_TRY(sum_columns(ctx, data, out->mean, out->about));
    for (int64_t j = 0; j < data->d && data->row_start; j++)
        out->about[j] += (double)data->n * out->mean[j] * out->mean[j];
    return MERCER_OK;
}

mercer_status mc_moments_find(mercer_ctx *ctx, const mercer_data *data, mc_moments *out) {
    *out = (mc_moments){.data = data, .n = data->n, .d = data->d};
    const mercer_status status = data->n > 0 ? compute_moments(ctx, data, out) : MERCER_OK;
    if (status)
        mc_moments_free(out);
    return status;
}

void mc_moments_free(mc_moments *moments) {
    mc_free(moments->mean);
    mc_free(moments->about);
    *moments = (mc_moments){0};
}

/* The columns that the data keep stand for a view of all: those that are not kept are 0. */
static bool sees_kept(const mc_moments *moments, const mc_view *view) {
    return moments->data->used && !view->column && !view->parent;
}

static int64_t place_of(const mc_moments *moments, const mc_view *view, int64_t j) {
    return sees_kept(moments, view) ? j : mc_data_place(moments->data, mc_view_place(view, j));
}

double mc_moments_variance(const mc_moments *moments, const mc_view *view) {
    double mean = 0, about = 0;
    if (moments->n == 0)
        return 0;
    const int64_t kept = sees_kept(moments, view) ? moments->d : view->d;
    for (int64_t j = 0; j < kept; j++)
        mean += moments->mean[place_of(moments, view, j)];
    mean /= (double)view->d;
    for (int64_t j = 0; j < kept; j++) {
        const int64_t k = place_of(moments, view, j);
        const double off = moments->mean[k] - mean;
        about += moments->about[k] + (double)moments->n * off * off;
    }
    about += (double)(view->d - kept) * ((double)moments->n * mean * mean);
    return about / ((double)moments->n * (double)view->d);
}

static bool is_in_view(const mc_view *view, int64_t column) {
    if (!view->column && !view->parent)
        return true;
    for (int64_t j = 0; j < view->d; j++)
        if (mc_view_place(view, j) == column)
            return true;
    return false;
}

mc_column_extremes mc_moments_extremes(const mc_moments *moments, const mc_view *view) {
    const mercer_data *data = moments->data;
    const int64_t stored_values = mercer_data_stored(data);
    const bool zeros = stored_values < data->n * data->d;
    mc_column_extremes e = {.least = zeros ? 0 : INFINITY, .greatest = zeros ? 0 : -INFINITY};
    for (int64_t k = 0; k < stored_values; k++) {
        const double x = mc_stored_value(data, k);
        const int64_t place = data->row_start ? data->column[k] : k % data->d, column = mc_data_column(data, place);
        if ((x >= e.least && x <= e.greatest) || !is_in_view(view, column))
            continue;
        if (fabs(x) > fmax(fabs(e.least), fabs(e.greatest)) || isinf(e.least))
            e.column = column;
        e.least = fmin(e.least, x);
        e.greatest = fmax(e.greatest, x);
    }
    return e;
}
