/* score.c: mercer score MODEL DATA: how good a model is on data with a known target. */
#include "cli.h"
#include <math.h>

static void report_json(session *s, const mercer_model *model, const mercer_scores *r) {
    json_t *object = json_object();
    json_put(object, "n", json_integer(r->n));
    if (mercer_model_classes(model)) {
        json_put(object, "accuracy", json_value(r->accuracy));
        json_put(object, "balanced_accuracy", json_value(r->balanced_accuracy));
        json_put(object, "log_loss", json_value(r->log_loss));
        json_put(object, "auc", json_value(r->auc));
    } else {
        json_put(object, "rmse", json_value(r->rmse));
        json_put(object, "mae", json_value(r->mae));
        json_put(object, "r2", json_value(r->r2));
    }
    json_finish(s, object);
}

static void say_classes(session *s, const mercer_scores *r) {
    say(s, "accuracy", "%.4g%% (%lld of %lld rows)", 100 * r->accuracy, (long long)llround(r->accuracy * (double)r->n),
        (long long)r->n);
    say(s, "balanced", "%.4g%%, the mean over classes", 100 * r->balanced_accuracy);
    if (!isnan(r->auc))
        say(s, "AUC", "%.4g", r->auc);
    if (!isnan(r->log_loss))
        say(s, "log loss", "%.4g", r->log_loss);
}

static void say_numbers(session *s, const mercer_scores *r) {
    say(s, "RMSE", "%.4g (%lld rows)", r->rmse, (long long)r->n);
    say(s, "MAE", "%.4g", r->mae);
    if (isnan(r->r2))
        say(s, "R2", "undefined, for want of variance in the target");
    else
        say(s, "R2", "%.4g", r->r2);
}

static int score(session *s, const mercer_model *model, const mercer_data *data) {
    mercer_scores scores;
    TRY_CTX(s, mercer_score(s->ctx, model, data, &scores));
    if (s->json)
        report_json(s, model, &scores);
    else if (mercer_model_classes(model))
        say_classes(s, &scores);
    else
        say_numbers(s, &scores);
    return EXIT_DONE;
}

static int run_score(session *s) {
    mercer_model *model = NULL;
    mercer_data *data = NULL;
    int code = input_model(s, s->args.operand[0], &model);
    if (code == EXIT_DONE)
        code = input_data_for(s, model, s->args.operand[1], &data);
    if (code == EXIT_DONE)
        code = score(s, model, data);
    mercer_data_free(data);
    mercer_model_free(model);
    return code;
}

const verb verb_score = {
    .name = "score",
    .summary = "measure a saved model on data with a known target",
    .usage = "MODEL DATA [options]",
    .notes = "Numbers: root mean square error, mean absolute error, R2. Classes: accuracy, balanced accuracy and, for "
             "two classes, the area\n"
             "under the ROC curve.\n\n"
             "  mercer score houses.mercer test.csv",
    .least = 2,
    .most = 2,
    .tables = {missing_options, common_options},
    .computes = true,
    .run = run_score,
};
