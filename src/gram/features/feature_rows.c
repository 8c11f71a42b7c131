/* feature_rows.c: the coordinates that a part reads from a row of data, in double. Pair statistics of the coordinates
   are the statistics of the expression: weights sit in the coordinates, and a periodic kernel is a Gaussian of points
   on circles. */
#include "base/memory.h"
#include "base/status.h"
#include "gram/features/form_factor.h"
#include <math.h>

static const double two_pi = 6.28318530717958647692, root_log2e = 1.20112240878644980;

int64_t mc_feature_scratch(const mercer_data *data, const mc_tile_part *part) {
    return data->d + part->columns;
}

static double centred_value(const mc_tile_part *p, const double *row, int64_t k) {
    return row[p->column[k]] - (p->centre ? p->centre[k] : 0);
}

static void map_plain_features(const mc_tile_part *p, const double *row, double *out) {
    const int64_t *column = p->column;
    const double *weight = p->weight, *centre = p->centre;
    if (centre)
        for (int64_t k = 0; k < p->columns; k++)
            out[k] = weight[k] * (row[column[k]] - centre[k]);
    else
        for (int64_t k = 0; k < p->columns; k++)
            out[k] = weight[k] * row[column[k]];
}

/* The norm by scaled squares: no row is too long or too short for it. */
static double norm_of(const double *x, int64_t n) {
    double largest = 0, sum = 0;
    for (int64_t k = 0; k < n; k++)
        largest = fmax(largest, fabs(x[k]));
    if (largest == 0)
        return 0;
    for (int64_t k = 0; k < n; k++)
        sum += (x[k] / largest) * (x[k] / largest);
    return largest * sqrt(sum);
}

static void map_unit_features(const mc_tile_part *p, const double *row, double *out) {
    map_plain_features(p, row, out);
    const double norm = norm_of(out, p->columns);
    for (int64_t k = 0; k < p->columns && norm > 0; k++)
        out[k] /= norm;
}

/* cos t - 1 and sin t of a whole turn; whole turns are taken off first, so that large x lose no more digits than they
   must. */
static void on_circle(double x, double period, double weight, double *out) {
    const double turns = x / period, t = two_pi * (turns - round(turns)), s = sin(t / 2);
    out[0] = weight * (-2 * s * s);
    out[1] = weight * sin(t);
}

static void map_cos_sin_features(const mc_tile_part *p, const double *row, double *out) {
    for (int64_t k = 0; k < p->columns; k++)
        on_circle(centred_value(p, row, k), p->period[k], p->weight[k], out + 2 * k);
}

/* A x with A given by its lower triangle, as the reference evaluator reads it. */
static void map_image_features(const mc_tile_part *p, const double *x, double *out) {
    const mc_value *A = p->matrix;
    for (int64_t i = 0; i < p->columns; i++)
        out[i] = 0;
    for (int64_t i = 0; i < p->columns; i++)
        for (int64_t j = 0; j <= i; j++) {
            out[i] += A->numbers[i * A->columns + j] * x[j];
            if (j < i)
                out[j] += A->numbers[i * A->columns + j] * x[i];
        }
}

void mc_feature_row(const mc_tile_part *p, const mercer_data *data, int64_t i, bool right, double *scratch,
                    double *out) {
    mc_data_values(data, i, scratch);
    switch (p->feature) {
    case MC_PLAIN: map_plain_features(p, scratch, out); break;
    case MC_UNIT: map_unit_features(p, scratch, out); break;
    case MC_COS_SIN: map_cos_sin_features(p, scratch, out); break;
    case MC_IMAGE:
        map_plain_features(p, scratch, right ? scratch + data->d : out);
        if (right)
            map_image_features(p, scratch + data->d, out);
        break;
    case MC_FACTOR: mc_factor_row(p, scratch, scratch + data->d, out); break;
    }
}

int64_t mc_feature_sparse(const mc_tile_part *p, const int32_t *place, const mercer_data *data, int64_t i,
                          int32_t *coordinate, double *out) {
    int64_t count = 0;
    for (int64_t e = data->row_start[i]; e < data->row_start[i + 1]; e++) {
        const int32_t k = place[data->column[e]];
        const double x = mc_stored_value(data, e);
        if (k < 0 || x == 0)
            continue;
        if (p->feature == MC_COS_SIN) {
            on_circle(x, p->period[k], p->weight[k], out + count);
            coordinate[count] = 2 * k;
            coordinate[count + 1] = 2 * k + 1;
            count += 2;
        } else {
            out[count] = p->weight[k] * x;
            coordinate[count++] = k;
        }
    }
    const double norm = p->feature == MC_UNIT ? norm_of(out, count) : 0;
    for (int64_t c = 0; c < count && norm > 0; c++)
        out[c] /= norm;
    return count;
}

/* |x|^2 of a row of data, or of one number per column in view. */
static double square_of(const mc_tile_part *p, const double *x, const int64_t *column) {
    double sum = 0;
    for (int64_t k = 0; k < p->columns; k++) {
        const double v = x[column ? column[k] : k];
        sum += p->weight[k] * v * v;
    }
    return sum;
}

/* <x, z> of centred rows is put together again from terms as large as |m|^2: that hurts rows that are much shorter, as
   the others are where a few far ones pull the mean. */
static bool suits_dots(const mc_tile_part *p, const mercer_data *data, double *row) {
    const double centre2 = square_of(p, p->centre, NULL);
    for (int64_t i = 0; i < data->n; i++) {
        mc_data_values(data, i, row);
        if (!(4 * square_of(p, row, p->column) >= centre2))
            return false;
    }
    return true;
}

/* Means of the columns over some of the rows. Any point inside the cloud will do, so a few rows are enough. A part that
   dot products read as well has none where it would hurt them. */
mercer_status mc_part_centre(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *data) {
    const int64_t count = data->n < 1024 ? data->n : 1024;
    const double share = 1 / (double)count;
    double *row = NULL;
    MC_TRY(MC_ALLOC(ctx, p->centre, p->columns));
    MC_TRY(MC_ALLOC(ctx, row, data->d));
    for (int64_t s = 0; s < count; s++) {
        mc_data_values(data, s * data->n / count, row);
        for (int64_t k = 0; k < p->columns; k++)
            p->centre[k] += row[p->column[k]] * share; /* not the sum, which may overflow */
    }
    if (p->uses[MC_USE_DOT] && !suits_dots(p, data, row)) {
        mc_free(p->centre);
        p->centre = NULL;
    }
    mc_free(row);
    return MERCER_OK;
}

/* The angle of x on its circle is wrong by a few units in the last place of its turns. */
static double phase_of(const mc_tile_part *p, const double *row) {
    double sum = 0;
    for (int64_t k = 0; k < p->columns; k++) {
        const double e = root_log2e / p->length[k] * two_pi * 0x1p-51 * (fabs(row[p->column[k]]) / p->period[k] + 1);
        sum += e * e;
    }
    return sqrt(sum);
}

mercer_status mc_part_phase(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *data) {
    double *row = NULL;
    MC_TRY(MC_ALLOC(ctx, row, data->d));
    for (int64_t i = 0; i < data->n; i++) {
        mc_data_values(data, i, row);
        p->phase = fmax(p->phase, phase_of(p, row)); /* infinite where the square of one is */
    }
    mc_free(row);
    return MERCER_OK;
}
