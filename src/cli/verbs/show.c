/* show.c: mercer show FILE: a model or a data file, told apart by content. */
#include "cli/cli.h"
#include <math.h>
#include <string.h>

static const option options[] = {
    {"rows", 0, "DATA",
     "of a support vector machine: margin, slack, multiplier and state of every row it was fitted to, as CSV"},
    {"output", 'o', "FILE", "with --rows: the CSV file (default: standard output)"},
    {0},
};

const char *show_column_text(const char *name, int64_t column, int64_t columns, text *buffer) {
    if (columns <= NAMED_COLUMNS_MOST || strcmp(name, "x") != 0)
        return name;
    snprintf(buffer->bytes, sizeof buffer->bytes, "x%lld", (long long)column + 1);
    return buffer->bytes;
}

/* ---- A model ---- */

static void say_labels(session *s, const mercer_model *model) {
    const int64_t classes = mercer_model_classes(model);
    char list[400] = "";
    for (int64_t k = 0; k < classes && strlen(list) < 300; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "", mercer_model_label(model, k));
    if (classes)
        say_fact(s, "classes", "%lld: %s", (long long)classes, list);
}

static void say_columns(session *s, const mercer_model *model) {
    const int64_t d = mercer_model_columns(model);
    char list[400] = "";
    text buffer;
    int64_t j = 0;
    for (; j < d && strlen(list) < 80; j++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", j ? ", " : "",
                 show_column_text(mercer_model_column_name(model, j), j, d, &buffer));
    say_fact(s, "columns", "%lld: %s%s", (long long)d, list, j < d ? ", ..." : "");
}

/* Where a search chose it: among how many, and by what. */
static void say_search(session *s, const mercer_model *model) {
    json_t *search = json_loads(mercer_model_search(model), 0, NULL);
    const json_t *best = json_array_get(json_object_get(search, "candidates"),
                                        (size_t)json_integer_value(json_object_get(search, "best")));
    if (best)
        say_fact(s, "chosen", "among %lld candidates by %s on %s: %.5g",
                 (long long)json_integer_value(json_object_get(search, "count")),
                 json_string_value(json_object_get(search, "score")),
                 json_string_value(json_object_get(search, "splits")),
                 json_number_value(json_object_get(best, "score")));
    json_decref(search);
}

/* ", C 2, tolerance 1e-6": what shapes the machine, and what was not left at its default. */
static void add_setting(const mercer_setting *row, const char *value, char *bytes, size_t size) {
    static const char *const shaping[] = {"C", "nu", "epsilon", "neighbors", "components"};
    bool shapes = false;
    for (int k = 0; k < 5; k++)
        shapes = shapes || strcmp(row->name, shaping[k]) == 0;
    const bool flag = row->type == MERCER_FLAG;
    if (shapes || !setting_is_default(row, value))
        snprintf(bytes + strlen(bytes), size - strlen(bytes), ", %s%s%s%s", flag && strcmp(value, "yes") ? "no " : "",
                 option_text(row->name).bytes, flag ? "" : " ", flag ? "" : value);
}

static void settings_text(const mercer_model *model, char *bytes, size_t size) {
    const mercer_machine *machine = mercer_machine_find(mercer_model_report(model)->machine);
    char value[256];
    bytes[0] = '\0';
    for (int k = 0; machine && k < machine->count; k++)
        if (setting_value(mercer_model_settings(model), machine->settings[k].name, value, sizeof value))
            add_setting(&machine->settings[k], value, bytes, size);
}

void say_model(session *s, const char *path, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const char *target = mercer_model_target_name(model, 0);
    char settings[512];
    settings_text(model, settings, sizeof settings);
    if (strcmp(r->solver, "libsvm") == 0)
        say_fact(s, "model", "%s: %s, written by LIBSVM", path, r->machine);
    else if (isnan(r->lambda))
        say_fact(s, "model", "%s: %s%s, by %s", path, r->machine, settings, r->solver);
    else
        say_fact(s, "model", "%s: %s, %s, by %s", path, r->machine, text_penalty(r).bytes, r->solver);
    say_kernel(s, mercer_model_kernel(model), "");
    if (mercer_model_features(model) > 0 && mercer_model_centres(model) == 0)
        say_fact(s, "fitted on", "%s; none kept: it is %s of the features of the kernel", text_count(r->n, "row").bytes,
                 text_count(mercer_model_features(model) * mercer_model_decisions(model), "weight").bytes);
    else
        say_fact(s, "fitted on", "%s; %lld kept for prediction", text_count(r->n, "row").bytes,
                 (long long)mercer_model_centres(model));
    say_columns(s, model);
    say_fact(s, "scaling", "%s", r->scale);
    if (target)
        say_fact(s, "target", "%s", target);
    say_labels(s, model);
    if (!isnan(r->loo_rmse))
        say_fact(s, "LOO error", "leave-one-out RMSE %.4g", r->loo_rmse);
    if (!isfinite(r->objective) && isfinite(r->norm))
        say_fact(s, "norm", "%.4g", r->norm);
    else if (isfinite(r->norm))
        say_fact(s, "norm", "%.4g, objective %.6g", r->norm, r->objective);
    say_search(s, model);
    json_t *stages = json_stages(model, NULL);
    say_stages(s, stages);
    json_decref(stages);
    json_t *report = json_report(model);
    say_report(s, report);
    json_decref(report);
}

static bool names_columns(const mercer_model *model) {
    return mercer_model_columns(model) <= NAMED_COLUMNS_MOST || strcmp(mercer_model_column_name(model, 0), "x") != 0;
}

static int show_model(session *s) {
    mercer_model *model = NULL;
    TRY(input_model(s, s->args.operand[0], &model));
    if (!s->json)
        say_model(s, s->args.operand[0], model);
    json_t *object = json_report(model), *columns = json_array();
    for (int64_t j = 0; j < mercer_model_columns(model) && names_columns(model); j++)
        json_array_append_new(columns, json_text(mercer_model_column_name(model, j)));
    json_put(object, "type", json_text("model"));
    if (*mercer_model_search(model))
        json_put(object, "search", json_loads(mercer_model_search(model), 0, NULL));
    if (*mercer_model_stages(model))
        json_put(object, "stages", json_stages(model, NULL));
    json_put(object, "centres", json_integer(mercer_model_centres(model)));
    json_put(object, "features", json_integer(mercer_model_features(model)));
    json_put(object, "columns", columns);
    json_put(object, "target", json_text(mercer_model_target_name(model, 0)));
    mercer_model_free(model);
    return json_finish(s, object);
}

/* ---- Two models ---- */

typedef struct model_pair {
    double f, g, inner, distance; /* norms first */
} model_pair;

static int compare_in_rkhs(session *s, const mercer_model *f, const mercer_model *g, int64_t k, model_pair *out) {
    TRY_CTX(s, mercer_model_inner(s->ctx, f, k, f, k, &out->f));
    TRY_CTX(s, mercer_model_inner(s->ctx, g, k, g, k, &out->g));
    TRY_CTX(s, mercer_model_inner(s->ctx, f, k, g, k, &out->inner));
    TRY_CTX(s, mercer_model_distance(s->ctx, f, k, g, k, &out->distance));
    out->f = sqrt(fmax(out->f, 0));
    out->g = sqrt(fmax(out->g, 0));
    return EXIT_DONE;
}

static void report_pair(session *s, const mercer_model *f, int64_t k, const model_pair *p, json_t *array) {
    char name[64];
    snprintf(name, sizeof name, mercer_model_decisions(f) > 1 ? "function %lld" : "functions", (long long)k + 1);
    say_fact(s, name, "|f| %.6g, |g| %.6g, <f, g> %.6g, |f - g| %.6g", p->f, p->g, p->inner, p->distance);
    json_t *one = json_object();
    json_put(one, "norm_f", json_value(p->f));
    json_put(one, "norm_g", json_value(p->g));
    json_put(one, "inner", json_value(p->inner));
    json_put(one, "distance", json_value(p->distance));
    json_array_append_new(array, one);
}

static int compare_all(session *s, const mercer_model *f, const mercer_model *g) {
    const int64_t count = mercer_model_decisions(f);
    if (mercer_model_decisions(g) != count)
        return print_error("one model has %lld functions and the other %lld", (long long)count,
                           (long long)mercer_model_decisions(g));
    json_t *object = json_object(), *array = json_array();
    int code = EXIT_DONE;
    for (int64_t k = 0; k < count && code == EXIT_DONE; k++) {
        model_pair p;
        code = compare_in_rkhs(s, f, g, k, &p);
        if (code == EXIT_DONE)
            report_pair(s, f, k, &p, array);
    }
    json_put(object, "type", json_text("functions"));
    json_put(object, "functions", array);
    if (code == EXIT_DONE)
        return json_finish(s, object);
    json_decref(object);
    return code;
}

/* Their functions in the space of the kernel: norms, inner products, distances. */
static int show_two(session *s) {
    mercer_model *f = NULL, *g = NULL;
    int code = input_model(s, s->args.operand[0], &f);
    if (code == EXIT_DONE)
        code = input_model(s, s->args.operand[1], &g);
    if (code == EXIT_DONE)
        code = compare_all(s, f, g);
    mercer_model_free(f);
    mercer_model_free(g);
    return code;
}

static int run_show(session *s) {
    if (args_text(&s->args, "rows"))
        return s->args.operands == 1 ? show_rows(s) : print_error("--rows is for one model; two are given");
    if (args_text(&s->args, "output"))
        return print_error("-o names the file for --rows DATA, which is not given");
    if (s->args.operands == 2)
        return show_two(s);
    if (strcmp(s->args.operand[0], "-") != 0)
        TRY(files_keep(s, 0));
    return is_model(s->args.operand[0]) ? show_model(s) : show_data(s);
}

const verb verb_show = {
    .name = "show",
    .summary = "describe a model or a data file",
    .usage = "FILE | MODEL MODEL | MODEL --rows DATA [options]",
    .notes = "A model: its kernel, machine, columns, classes and certificate. A data file: its columns with their "
             "ranges, its target.\n"
             "Two models: norms, inner product and distance of their functions in the space of the kernel.\n"
             "A support vector machine with --rows and the data it was fitted to: margins, slacks, and which rows "
             "support it.\n"
             "Options about the target and missing values apply to data files; missing values are counted, and taken "
             "for the mean.\n\n"
             "  mercer show houses.mercer\n"
             "  mercer show houses.csv --target price\n"
             "  mercer show flowers.mercer --json",
    .least = 1,
    .most = 2,
    .tables = {options, data_options, common_options},
    .computes = true,
    .run = run_show,
};
