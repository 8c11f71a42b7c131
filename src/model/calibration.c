/* calibration.c: whether probabilities mean what they say. Rows are put into bins by their confidence, the probability
   of the class that is predicted; among the rows of a bin the share that is right should be their mean confidence. The
   expected calibration error is the mean over rows of the difference, bin by bin. Row weights count where the data have
   them. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "model/model.h"
#include <math.h>

/* From the values of a row, as predict.c has it: the winner's place, and its probability. */
static int64_t winner_of(const double *row, int64_t k, double *confidence) {
    int64_t best = 0;
    double sum = 0;
    for (int64_t j = 1; j < k; j++)
        best = row[j] > row[best] ? j : best;
    for (int64_t j = 0; j < k; j++)
        sum += j == best ? 1 : exp(k == 2 ? -row[best] : row[j] - row[best]);
    *confidence = 1 / sum;
    return best;
}

void mc_fill_calibration_bins(const mercer_data *data, const int64_t *number, int64_t outputs, const double *values,
                              int64_t bins, mercer_calibration_bin *out) {
    for (int64_t b = 0; b < bins; b++)
        out[b] = (mercer_calibration_bin){.low = (double)b / (double)bins, .high = (double)(b + 1) / (double)bins};
    for (int64_t i = 0; i < data->n; i++) {
        double confidence;
        const int64_t best = winner_of(values + i * outputs, outputs, &confidence);
        const double place = confidence * (double)bins; /* not a number where the values left the range of a double */
        mercer_calibration_bin *bin = &out[place < (double)bins ? (int64_t)place : bins - 1];
        const double weight = data->weight ? data->weight[i] : 1;
        bin->weight += weight;
        bin->confidence += weight * confidence;
        bin->accuracy += best == number[data->class_of[i]] ? weight : 0;
    }
    for (int64_t b = 0; b < bins; b++) {
        out[b].confidence /= out[b].weight; /* NaN: no row */
        out[b].accuracy /= out[b].weight;
    }
}

double mc_calibration_error(int64_t bins, const mercer_calibration_bin *bin) {
    double sum = 0, weight = 0;
    for (int64_t b = 0; b < bins; b++) {
        sum += bin[b].weight > 0 ? bin[b].weight * fabs(bin[b].accuracy - bin[b].confidence) : 0;
        weight += bin[b].weight;
    }
    return sum / weight;
}

static mercer_status calibrate_model(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, int64_t bins,
                                     double *values, mercer_calibration_bin *out) {
    int64_t *number = NULL;
    MC_TRY(mc_model_predict(ctx, model, data, values));
    MC_TRY(MC_ALLOC(ctx, number, data->classes));
    mc_match_classes(model->f.centres, data, number);
    mc_fill_calibration_bins(data, number, model->f.outputs, values, bins, out);
    mc_free(number);
    return MERCER_OK;
}

mercer_status mercer_calibration(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, int64_t bins,
                                 mercer_calibration_bin *out) {
    MC_NEED(ctx, model, data, out);
    double *values = NULL;
    mc_begin_call(ctx);
    if (!mercer_model_has_proba(model))
        return mc_fail(ctx, MERCER_INVALID, "calibration: %s gives no probabilities; logistic does",
                       model->f.report.machine);
    if (!data->class_of)
        return mc_fail(ctx, MERCER_DATA, "calibration: the data have no classes to compare with");
    if (bins < 1)
        return mc_fail(ctx, MERCER_INVALID, "calibration: %lld bins; one is the least", (long long)bins);
    MC_TRY(MC_ALLOC(ctx, values, data->n * model->f.outputs));
    const mercer_status status = calibrate_model(ctx, model, data, bins, values, out);
    mc_free(values);
    return status;
}
