/* proba.c: probabilities of classes, from the decisions of machines whose loss is a likelihood.

       two classes   p_1 = 1 / (1 + exp(-d)), p_2 = 1 / (1 + exp(d))
       more          p_k = exp(f_k) / sum exp(f)

   Decisions closer than rounding can give equal probabilities; the losers are then moved one unit below the winner, so
   that the largest probability is always that of the predicted class. */
#include "base/ctx.h"
#include "base/status.h"
#include "data/table/data.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

bool mercer_model_has_proba(const mercer_model *model) {
    if (!model)
        return false;
    return strcmp(model->f.report.machine, "logistic") == 0;
}

/* In place: values of classes to probabilities. Two classes have values d and -d, of which each is taken on its own. */
static void convert(int64_t k, double *row) {
    double sum = 0;
    int64_t best = 0;
    for (int64_t j = 1; j < k; j++)
        best = row[j] > row[best] ? j : best;
    const double most = row[best];
    for (int64_t j = 0; j < k; j++)
        sum += row[j] = k == 2 ? (j == best ? 1 : exp(-most)) : exp(row[j] - most);
    for (int64_t j = 0; j < k; j++)
        row[j] /= sum;
    for (int64_t j = 0; j < k; j++)
        if (j != best && row[j] >= row[best])
            row[j] = nextafter(row[best], 0);
}

mercer_status mercer_predict_proba(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out) {
    MC_NEED(ctx, model, data, out);
    mc_begin(ctx);
    if (!mercer_model_has_proba(model))
        return mc_fail(ctx, MERCER_INVALID, "predict: %s gives no probabilities; logistic does",
                       model->f.report.machine);
    MC_TRY(mc_model_predict(ctx, model, data, out));
    for (int64_t i = 0; i < data->n; i++)
        convert(model->f.outputs, out + i * model->f.outputs);
    return MERCER_OK;
}
