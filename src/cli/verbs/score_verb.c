/* score_verb.c: mercer score MODEL DATA: how good a model is on data with a known target. */
#include "cli/cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option options[] = {
    {"confusion", 0, NULL, "print which classes are predicted for which, one line per true class (--json: always)"},
    {"bins", 0, "N",
     "print the calibration curve in so many bins; for machines that give probabilities (with --json: default 15)"},
    {0},
};

/* The calibration curve; bins 0: none. */
typedef struct calibration_curve {
    int64_t bins;
    mercer_calibration_bin *bin;
} calibration_curve;

static json_t *json_curve(const calibration_curve *c) {
    json_t *list = json_array();
    for (int64_t b = 0; b < c->bins; b++) {
        json_t *row = json_object();
        json_put(row, "low", json_value(c->bin[b].low));
        json_put(row, "high", json_value(c->bin[b].high));
        json_put(row, "weight", json_value(c->bin[b].weight));
        json_put(row, "confidence", json_value(c->bin[b].confidence));
        json_put(row, "accuracy", json_value(c->bin[b].accuracy));
        json_array_append_new(list, row);
    }
    return list;
}

static const report_row score_rows[] = {
    {"inside", NULL, "{inside:%.4g} ({rows_inside} of {n} rows)"},
    {"target", "0<accuracy", "'{target}': rows where it is positive belong inside, the others outside"},
    {"accuracy", NULL, "{accuracy:%.4g} ({rows_right} of {n} rows)"},
    {"balanced", NULL, "{balanced_accuracy:%.4g}, the mean over classes"},
    {"F1", NULL, "{f1:.4g}"},
    {"AUC", NULL, "{auc:.4g}"},
    {"log loss", NULL, "{log_loss:.4g}"},
    {"calibration", NULL, "expected calibration error {ece:%.3g}, in {ece_bins} bins"},
    {"RMSE", NULL, "{rmse:.4g} ({n:row})"},
    {"MAE", NULL, "{mae:.4g}"},
    {"R2", NULL, "{r2:.4g}"},
    {"R2", "!r2", "{r2_undefined}"},
    {"pinball", NULL, "{pinball:.4g}, the loss of its quantile"},
    {0},
};

static void put_classes(json_t *object, const mercer_scores *r) {
    json_put(object, "accuracy", json_value(r->accuracy));
    json_put(object, "rows_right", json_integer((json_int_t)llround(r->accuracy * (double)r->n)));
    json_put(object, "balanced_accuracy", json_value(r->balanced_accuracy));
    json_put(object, "log_loss", json_value(r->log_loss));
    json_put(object, "auc", json_value(r->auc));
    json_put(object, "f1", json_value(r->f1));
    if (isnan(r->ece))
        return;
    json_put(object, "ece", json_value(r->ece));
    json_put(object, "ece_bins", json_integer(MERCER_CALIBRATION_BINS));
}

static void put_numbers(json_t *object, const mercer_scores *r) {
    json_put(object, "rmse", json_value(r->rmse));
    json_put(object, "mae", json_value(r->mae));
    json_put(object, "r2", json_value(r->r2));
    if (!isfinite(r->r2))
        json_put(object, "r2_undefined",
                 json_text(isnan(r->r2) ? "undefined, because the target does not vary"
                                        : "below -1.8e+308, the least number of a double"));
    if (!isnan(r->pinball))
        json_put(object, "pinball", json_value(r->pinball));
}

static json_t *json_scores(const mercer_model *model, const mercer_scores *r) {
    json_t *object = json_object();
    json_put(object, "n", json_integer(r->n));
    if (mercer_model_classes(model))
        put_classes(object, r);
    else
        put_numbers(object, r);
    return object;
}

static void say_curve(session *s, const json_t *list) {
    if (prints_report(s) && json_array_size(list))
        say_text(s, "\n%12s %12s %12s %12s\n", "from", "to", "confidence", "right");
    for (size_t b = 0; b < json_array_size(list); b++) {
        const json_t *bin = json_array_get(list, b);
        const double weight = json_number_value(json_object_get(bin, "weight"));
        if (weight > 0)
            say_text(
                s, "%12.4g %12.4g %12.4g %12.4g  %s\n", json_number_value(json_object_get(bin, "low")),
                json_number_value(json_object_get(bin, "high")), json_number_value(json_object_get(bin, "confidence")),
                json_number_value(json_object_get(bin, "accuracy")), text_count((int64_t)llround(weight), "row").bytes);
    }
}

void say_scores(session *s, const mercer_model *model, const mercer_scores *scores) {
    json_t *object = json_scores(model, scores);
    say_fields(s, object, score_rows);
    json_decref(object);
}

/* ---- One class: which rows are inside ---- */

static int count_inside(session *s, const mercer_model *model, const mercer_data *data, int64_t *inside) {
    const int64_t n = mercer_data_rows(data);
    int64_t *side = session_take(s, n, 1, sizeof *side);
    if (!side)
        return EXIT_MEMORY;
    const mercer_status status = mercer_classify(s->ctx, model, data, side);
    for (int64_t i = 0; i < n && !status; i++)
        *inside += strcmp(mercer_model_label(model, side[i]), "1") == 0;
    free(side);
    return status ? session_fail(s, status) : EXIT_DONE;
}

/* Whether the target tells rows that belong inside (positive) from others: otherwise there is nothing to be right
   about. */
static bool has_sides(const mercer_data *data) {
    const bool numbers = mercer_data_outputs(data) == 1;
    int64_t positive = 0;
    for (int64_t i = 0; numbers && i < mercer_data_rows(data); i++)
        positive += mercer_data_target(data, i, 0) > 0;
    return positive > 0 && positive < mercer_data_rows(data);
}

static int report_region(session *s, const mercer_model *model, const mercer_data *data) {
    const int64_t n = mercer_data_rows(data);
    const char *target = mercer_data_target_name(data, 0);
    int64_t inside = 0;
    mercer_scores scores = {.size = sizeof scores,
                            .accuracy = NAN,
                            .balanced_accuracy = NAN,
                            .auc = NAN,
                            .f1 = NAN,
                            .log_loss = NAN,
                            .ece = NAN};
    TRY(count_inside(s, model, data, &inside));
    if (has_sides(data))
        TRY_CTX(s, mercer_score(s->ctx, model, data, &scores));
    json_t *object = json_object();
    json_put(object, "n", json_integer(n));
    json_put(object, "inside", json_value(n ? (double)inside / (double)n : 0));
    json_put(object, "rows_inside", json_integer(inside));
    json_put(object, "target", json_text(target ? target : "y"));
    if (has_sides(data))
        put_classes(object, &scores);
    else
        for (const char *const *key = (const char *const[]){"accuracy", "balanced_accuracy", "auc", "f1", NULL}; *key;
             key++)
            json_put(object, *key, json_null());
    return report_fields(s, object, score_rows);
}

/* ---- Everything else ---- */

enum { MOST_CLASSES = 1000 }; /* that are told one by one: their table has as many entries as this squared */

static bool tells_classes(const mercer_model *model) {
    return mercer_model_classes(model) > 0 && mercer_model_classes(model) <= MOST_CLASSES;
}

static int report_model_scores(session *s, const mercer_model *model, const mercer_data *data,
                               const calibration_curve *c, double *confusion) {
    mercer_scores scores = {.size = sizeof scores};
    TRY_CTX(s, mercer_score_classes(s->ctx, model, data, &scores, confusion));
    if (c->bins)
        TRY_CTX(s, mercer_calibration(s->ctx, model, data, c->bins, c->bin));
    json_t *object = json_scores(model, &scores);
    if (confusion)
        json_put_class_scores(object, model, confusion);
    if (c->bins)
        json_put(object, "calibration", json_curve(c));
    say_fields(s, object, score_rows);
    const int code = say_class_scores(s, object);
    if (args_flag(&s->args, "confusion"))
        say_confusion(s, object);
    say_curve(s, json_object_get(object, "calibration"));
    const int end = json_finish(s, object);
    return code ? code : end;
}

static int score_by_class(session *s, const mercer_model *model, const mercer_data *data, const calibration_curve *c) {
    const int64_t classes = mercer_model_classes(model);
    if (strcmp(mercer_model_report(model)->machine, "one-class") == 0)
        return report_region(s, model, data);
    if (args_flag(&s->args, "confusion") && !tells_classes(model))
        return print_error("--confusion: the model %s",
                           classes ? "has more than 1000 classes, too many for a table" : "predicts numbers");
    double *confusion = tells_classes(model) ? session_take(s, classes, classes + 1, sizeof *confusion) : NULL;
    if (tells_classes(model) && !confusion)
        return EXIT_MEMORY;
    const int code = report_model_scores(s, model, data, c, confusion);
    free(confusion);
    return code;
}

static int score_with_calibration(session *s, const mercer_model *model, const mercer_data *data) {
    const bool has = mercer_model_has_proba(model), asked = args_text(&s->args, "bins") != NULL;
    calibration_curve c = {.bins = has && s->json ? MERCER_CALIBRATION_BINS : 0};
    if (asked && !has)
        return print_error("--bins: %s gives no probabilities, logistic does", mercer_model_report(model)->machine);
    TRY(args_whole(&s->args, "bins", 1, 100000, &c.bins));
    c.bin = session_take(s, c.bins, 1, sizeof *c.bin);
    if (!c.bin)
        return EXIT_MEMORY;
    const int code = score_by_class(s, model, data, &c);
    free(c.bin);
    return code;
}

static int run_score(session *s) {
    mercer_model *model = NULL;
    mercer_data *data = NULL;
    int code = input_model(s, s->args.operand[0], &model);
    THEN(code, input_data_for(s, model, s->args.operand[1], MERCER_TARGET_NUMBER, &data));
    THEN(code, score_with_calibration(s, model, data));
    mercer_data_free(data);
    mercer_model_free(model);
    return code;
}

const verb verb_score = {
    .name = "score",
    .summary = "evaluate a saved model on data with a known target",
    .usage = "MODEL DATA [options]",
    .notes = "Numbers: root mean square error, mean absolute error, R2. Classes: accuracy, balanced accuracy, F1 and, "
             "for two classes, the area\n"
             "under the ROC curve; of each class its precision, recall and F1; of probabilities the log loss and the "
             "calibration error.\n\n"
             "  mercer score houses.mercer new.csv\n"
             "  mercer score flowers.mercer flowers.csv --bins 10\n"
             "  mercer score flowers.mercer flowers.csv --confusion\n"
             "  mercer score houses.mercer new.csv --json",
    .least = 2,
    .most = 2,
    .tables = {options, missing_options, common_options},
    .computes = true,
    .run = run_score,
};
