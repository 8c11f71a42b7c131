/* update_verb.c: mercer update MODEL DATA: a saved model learns new rows, one after the other, under a budget of
   centres. */
#include "cli/cli.h"
#include <math.h>
#include <string.h>

static const option options[] = {
    {"output", 'o', "MODEL", "the new model file (default: MODEL itself, replaced in one piece)"},
    {"budget", 0, "N", "maximum number of centres; the least important are dropped (default 0: no limit)"},
    {"step", 0, "S", "step size, or learning rate (default 0: 1 over the largest eigenvalue of K over the new rows)"},
    {"passes", 0, "N", "passes over the new rows, in their order (default 1)"},
    {0},
};

typedef struct updating {
    const char *path; /* of the new model */
    mercer_model *from, *to;
    mercer_data *data;
    mercer_update set;
    double seconds;
    mercer_scores before, after; /* on the new rows */
} updating;

static int read_settings(session *s, updating *u) {
    const args *a = &s->args;
    u->set = mercer_update_defaults();
    u->path = args_text(a, "output") ? args_text(a, "output") : a->operand[0];
    TRY(args_whole(a, "budget", 0, (int64_t)1e15, &u->set.budget));
    TRY(args_real(a, "step", 0, 1e300, &u->set.step));
    return args_whole(a, "passes", 1, (int64_t)1e12, &u->set.passes);
}

static int check_path(const updating *u) {
    return strcmp(u->path, "-") == 0 ? print_error("a model is updated into a file; name one with -o")
                                     : check_model_path(u->path);
}

static bool was_stopped(const updating *u) {
    return strcmp(mercer_model_report(u->to)->stopped, "no") != 0;
}

static int update_and_score(session *s, updating *u) {
    const double began = clock_now();
    TRY_CTX(s, mercer_model_update(s->ctx, u->from, u->data, &u->set, &u->to));
    u->seconds = clock_now() - began;
    if (was_stopped(u))
        session_resume(s);
    else
        TRY(session_alive(s));
    TRY_CTX(s, mercer_score(s->ctx, u->from, u->data, &u->before));
    TRY_CTX(s, mercer_score(s->ctx, u->to, u->data, &u->after));
    TRY_CTX(s, mercer_model_save(s->ctx, u->to, u->path));
    return EXIT_DONE;
}

/* ---- The report ---- */

/* New rows met; fewer than there are when it was stopped or some have no weight. */
static int64_t count_learned_rows(const updating *u) {
    return mercer_model_report(u->to)->n - mercer_model_report(u->from)->n;
}

/* A model does not keep the targets of its rows: what it said of them before is what it is compared with. */
static const report_row update_rows[] = {
    {"update", NULL, "{new_rows:new row} learned with step {step:.4g}"},
    {"weights", "0<features", "{features} of the features of the kernel, as many as before"},
    {"centres", "features<1", "{centres}[; {dropped} dropped, the least important]"},
    {"machine", "machine_before=ridge", "lms now: the ridge solution was where it started"},
    {"new rows", NULL, "accuracy {accuracy_before:%.4g} before, {accuracy_now:%.4g} now"},
    {"new rows", NULL, "RMSE {rmse_before:.4g} before, {rmse_now:.4g} now"},
    {"old rows", NULL, "{old_rows_changed_class:%.4g} of {old_centres:old centre} are of another class now"},
    {"old rows", "!old_rows_changed_class",
     "predictions at {old_centres:old centre} moved by {old_rows_moved:.4g} (root mean square)"},
    {0},
};

static const report_row end_rows[] = {
    {"time", NULL, "{seconds:time}"},
    {"stopped", "stopped=time", "early by the time limit: {iterations} of {passes} passes are finished"},
    {"stopped", "stopped!=time stopped!=no", "early by the user: {iterations} of {passes} passes are finished"},
    {"model", NULL, "{model}"},
    {0},
};

static json_t *json_update(const session *s, const updating *u) {
    const mercer_report *r = mercer_model_report(u->to), *from = mercer_model_report(u->from);
    const bool classes = mercer_model_classes(u->to) > 0;
    const int64_t dropped = mercer_model_centres(u->from) + count_learned_rows(u) - mercer_model_centres(u->to);
    json_t *object = json_report(u->to);
    if (s->expired && was_stopped(u))
        json_put(object, "stopped", json_text("time"));
    json_put(object, "new_rows", json_integer(count_learned_rows(u)));
    json_put(object, classes ? "accuracy_before" : "rmse_before",
             json_value(classes ? u->before.accuracy : u->before.rmse));
    json_put(object, classes ? "accuracy_now" : "rmse_now", json_value(classes ? u->after.accuracy : u->after.rmse));
    json_put(object, "old_centres", json_integer(mercer_model_centres(u->from)));
    json_put(object, "old_rows_moved", json_value(r->moved));
    json_put(object, "old_rows_changed_class", json_value(r->changed));
    json_put(object, "centres", json_integer(mercer_model_centres(u->to)));
    if (dropped > 0 && !mercer_model_features(u->to))
        json_put(object, "dropped", json_integer(dropped));
    json_put(object, "features", json_integer(mercer_model_features(u->to)));
    json_put(object, "machine_before", json_text(from->machine));
    json_put(object, "passes", json_integer(u->set.passes));
    json_put(object, "seconds", json_value(u->seconds));
    json_put(object, "model", json_text(u->path));
    return object;
}

static int report_update(session *s, const updating *u) {
    json_t *object = json_update(s, u);
    say_fields(s, object, update_rows);
    say_certificate(s, object);
    return report_fields(s, object, end_rows);
}

static int update_and_report(session *s, updating *u) {
    TRY(read_settings(s, u));
    TRY(input_model(s, s->args.operand[0], &u->from));
    TRY(check_path(u));
    TRY(input_data_for(s, u->from, s->args.operand[1], MERCER_TARGET_AUTO, &u->data));
    TRY(update_and_score(s, u));
    TRY(report_update(s, u));
    return was_stopped(u) ? EXIT_STOPPED : EXIT_DONE;
}

static int run_update(session *s) {
    updating u = {.before.size = sizeof(mercer_scores), .after.size = sizeof(mercer_scores)};
    const int code = update_and_report(s, &u);
    mercer_data_free(u.data);
    mercer_model_free(u.to);
    mercer_model_free(u.from);
    return code;
}

const verb verb_update = {
    .name = "update",
    .summary = "update a saved model with new rows",
    .usage = "MODEL DATA [-o MODEL] [--budget N] [--step S] [options]",
    .notes = "Every row of DATA becomes a centre of the model and takes a step against the model's error on it (least "
             "mean squares), in the order\n"
             "of the file. Beyond the budget the centres with the smallest |coefficients| sqrt(k(x,x)) are dropped. "
             "The kernel, the scaling and the\n"
             "intercept stay. For lms models, and for ridge models, whose function is then the start: the result is an "
             "lms model.\n"
             "An update that meets the new rows worse than the model did says so, exit status 6, and MODEL stays as it "
             "was.\n\n"
             "  mercer update houses.mercer monday.csv\n"
             "  mercer update houses.mercer tuesday.csv --budget 500 -o small.mercer\n"
             "  mercer update houses.mercer monday.csv --passes 3 --json",
    .renews = true,
    .least = 2,
    .most = 2,
    .tables = {options, missing_options, common_options},
    .computes = true,
    .run = run_update,
};
