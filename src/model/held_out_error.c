/* held_out_error.c: how good the stages of a fit are, on rows held out, and what the mean or the commonest class would
   come to there. */
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "model/staged_fit.h"
#include <math.h>
#include <string.h>

const char *mc_stage_measure(const mercer_machine *machine, const mercer_data *data) {
    const bool none = machine->target == MERCER_TARGET_NONE || (!data->target && !data->class_of);
    return none                                     ? NULL
           : strcmp(machine->name, "quantile") == 0 ? "pinball"
           : strcmp(machine->name, "absolute") == 0 ? "mae"
           : data->class_of                         ? "error"
                                                    : "rmse";
}

double mc_held_out_error(mercer_ctx *ctx, const char *measure, const mercer_model *model, const mercer_data *held) {
    mercer_scores scores = {.size = sizeof scores};
    if (!measure)
        return NAN;
    mc_shield_from_stop(ctx, true); /* they are few */
    const mercer_status status = mc_model_score(ctx, model, held, &scores);
    mc_shield_from_stop(ctx, false);
    if (status) {
        mc_clear_failure(ctx);
        return INFINITY;
    }
    return measure[0] == 'p'   ? scores.pinball
           : measure[0] == 'm' ? scores.mae
           : measure[0] == 'e' ? 1 - scores.accuracy
                               : scores.rmse;
}

static double weight_of(const mercer_data *data, int64_t i) {
    return data->weight ? data->weight[i] : 1;
}

static double error_of_mean(const mercer_data *data) {
    const int64_t outputs = data->outputs;
    double squares = 0, total = 0;
    for (int64_t k = 0; k < outputs; k++) {
        double mean = 0, sum = 0;
        for (int64_t i = 0; i < data->n; i++) {
            mean += weight_of(data, i) * data->target[i * outputs + k];
            sum += weight_of(data, i);
        }
        for (int64_t i = 0; i < data->n && sum > 0; i++)
            squares += weight_of(data, i) * pow(data->target[i * outputs + k] - mean / sum, 2);
        total += sum;
    }
    return sqrt(squares / total);
}

static double error_of_commonest(const mercer_data *data) {
    double most = 0, total = 0;
    for (int32_t k = 0; k < data->classes; k++) {
        double sum = 0;
        for (int64_t i = 0; i < data->n; i++)
            sum += data->class_of[i] == k ? weight_of(data, i) : 0;
        most = fmax(most, sum);
        total += sum;
    }
    return 1 - most / total;
}

double mc_constant_error(const char *measure, const mercer_data *held) {
    return !measure            ? NAN
           : measure[0] == 'e' ? error_of_commonest(held)
           : measure[0] == 'r' ? error_of_mean(held)
                               : NAN;
}
