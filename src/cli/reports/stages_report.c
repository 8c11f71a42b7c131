/* stages_report.c: how a model came about in stages: what each came to on the rows held out, and what more time would
   bring. */
#include "cli/cli.h"
#include <math.h>
#include <string.h>

json_t *json_stages(const mercer_model *model, const char *command) {
    json_t *stages = json_loads(mercer_model_stages(model), 0, NULL);
    if (stages && command && !json_is_true(json_object_get(stages, "exact")))
        json_put(stages, "exact_command", json_text(command));
    return stages;
}

/* "; 620 landmarks of 95936 rows: 0.9955" */
static void add_stage(const json_t *stage, bool first, const char *measure, char *bytes, size_t size) {
    const int64_t landmarks = (int64_t)json_number_in(stage, "landmarks"),
                  rows = (int64_t)json_number_in(stage, "rows");
    const double error = json_number_in(stage, "error");
    char marks[48] = "", found[64] = "";
    if (landmarks > 0)
        snprintf(marks, sizeof marks, "%lld landmarks of ", (long long)landmarks);
    if (!isnan(error))
        snprintf(found, sizeof found, ": %s%s%.4g", first ? measure : "", first ? " " : "", error);
    snprintf(bytes, size, "%s%s%lld rows%s%s", first ? "" : "; ", marks, (long long)rows, found,
             json_is_true(json_object_get(stage, "kept")) ? "" : " (not taken)");
}

static void say_held_out(session *s, const json_t *stages, const char *measure) {
    const double constant = json_number_in(stages, "constant");
    char beside[96] = "";
    if (!isnan(constant))
        snprintf(beside, sizeof beside, "; %s would have %.4g",
                 strcmp(measure, "error") == 0 ? "the commonest class" : "the mean", constant);
    say_fact(s, "held out", "%lld rows, on which the stages were measured%s",
             (long long)json_number_in(stages, "held_out"), beside);
}

/* From what was measured and forecast; nothing where the model is the machine itself. */
static void say_more(session *s, const json_t *stages) {
    const double more = json_number_in(stages, "error_with_more"), seconds = json_number_in(stages, "exact_seconds");
    const char *command = json_string_value(json_object_get(stages, "exact_command"));
    char gain[128] = "", takes[64] = "";
    if (json_is_true(json_object_get(stages, "exact")))
        return;
    if (!isnan(more))
        snprintf(gain, sizeof gain, "going by the last one, more stages would come to %.4g at best; ", more);
    if (!isnan(seconds))
        snprintf(takes, sizeof takes, ", about %s", text_seconds(seconds).bytes);
    say_fact(s, "not exact", "%sthe machine itself on all %lld rows%s%s%s", gain,
             (long long)json_number_in(stages, "rows"), takes, command ? ": " : "", command ? command : "");
}

void say_stages(session *s, const json_t *stages) {
    const char *measure = json_string_value(json_object_get(stages, "measure"));
    const json_t *list = json_object_get(stages, "stages");
    char bytes[4096] = "";
    if (!stages)
        return;
    for (size_t i = 0; i < json_array_size(list); i++)
        add_stage(json_array_get(list, i), i == 0, measure ? measure : "", bytes + strlen(bytes),
                  sizeof bytes - strlen(bytes));
    say_fact(s, "stages", "%s%s", bytes, measure ? "" : "; there is nothing to measure them by");
    if (measure)
        say_held_out(s, stages, measure);
    say_more(s, stages);
}
