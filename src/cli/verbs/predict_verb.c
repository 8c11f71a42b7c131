/* predict_verb.c: mercer predict MODEL DATA: predictions as CSV that reads back to the same doubles. */
#include "cli/cli.h"
#include "data/helpers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option options[] = {
    {"output", 'o', "FILE", "the CSV file (default: standard output)"},
    {"decision", 0, NULL, "one more column per decision value: of each class, or of each pair of classes"},
    {"proba", 0, NULL, "one more column per class with its probability (machines that give probabilities)"},
    {"samples", 0, "N", "N more columns, each one function drawn from the posterior at the rows (gp); --seed decides"},
    {"std", 0, NULL, "one more column with the standard deviation of the prediction (gp)"},
    {0},
};

typedef struct prediction {
    mercer_ctx *ctx;
    mercer_model *model;
    mercer_data *data;
    int64_t *class_of; /* n; NULL: numbers */
    double *values;    /* n x outputs; NULL: classes */
    double *std;       /* n; NULL: not asked for */
    double *drawn;     /* outputs blocks of n x samples; NULL: not asked for */
    int64_t samples;
    double *proba;    /* n x classes; NULL: not asked for */
    double *decision; /* n x decisions; NULL: not asked for */
    double *bound;    /* n: how far the values can be from the exact optimum's; NULL: nobody is told */
    int64_t n, outputs, classes, decisions;
} prediction;

/* Calls of the library that give so many numbers for each row. */
typedef mercer_status row_call(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out);

static int compute_predictions(session *s, const prediction *p, row_call *call, int64_t width, double **out) {
    *out = session_take(s, p->n, width, sizeof **out);
    if (!*out)
        return EXIT_MEMORY;
    TRY_CTX(s, call(s->ctx, p->model, p->data, *out));
    return session_alive(s);
}

static int compute_classes(session *s, prediction *p) {
    p->class_of = session_take(s, p->n, 1, sizeof *p->class_of);
    if (!p->class_of)
        return EXIT_MEMORY;
    TRY_CTX(s, mercer_classify(s->ctx, p->model, p->data, p->class_of));
    return session_alive(s);
}

static int compute_std(session *s, const mercer_posterior *posterior, prediction *p) {
    p->std = session_take(s, p->n, 1, sizeof *p->std);
    if (!p->std)
        return EXIT_MEMORY;
    TRY_CTX(s, mercer_posterior_std(s->ctx, posterior, p->data, p->std));
    return session_alive(s);
}

static int draw_posterior_samples(session *s, const mercer_posterior *posterior, prediction *p) {
    int64_t seed = 0;
    TRY(args_whole(&s->args, "seed", 0, (int64_t)1 << 53, &seed));
    p->drawn = session_take(s, p->n * p->outputs, p->samples, sizeof *p->drawn);
    if (!p->drawn)
        return EXIT_MEMORY;
    for (int64_t k = 0; k < p->outputs; k++)
        TRY_CTX(s, mercer_posterior_sample(s->ctx, posterior, p->data, k, p->samples, (uint64_t)seed + (uint64_t)k,
                                           p->drawn + k * p->n * p->samples));
    return session_alive(s);
}

static int compute_uncertainty(session *s, prediction *p) {
    mercer_posterior *posterior = NULL;
    TRY_CTX(s, mercer_posterior_open(s->ctx, p->model, &posterior));
    int code = args_flag(&s->args, "std") ? compute_std(s, posterior, p) : EXIT_DONE;
    if (code == EXIT_DONE && p->samples)
        code = draw_posterior_samples(s, posterior, p);
    mercer_posterior_free(posterior);
    return code;
}

/* ---- CSV ---- */

/* sample_1, sample_2, ... of the first target; sample_2_1, ... of the second. */
static void write_sample_names(FILE *out, const prediction *p) {
    for (int64_t k = 0; k < p->outputs; k++)
        for (int64_t i = 0; i < p->samples; i++) {
            fputs(",sample_", out);
            if (k)
                fprintf(out, "%lld_", (long long)k + 1);
            fprintf(out, "%lld", (long long)i + 1);
        }
}

static void write_header(FILE *out, const prediction *p) {
    const bool components = mercer_model_report(p->model)->variance > 0; /* scores of pca: pc1, pc2, ... */
    fputs(components ? "pc1" : "prediction", out);
    for (int64_t k = 1; !p->classes && k < p->outputs; k++)
        fprintf(out, ",%s%lld", components ? "pc" : "prediction_", (long long)k + 1);
    for (int64_t k = 0; p->proba && k < p->classes; k++) {
        fputc(',', out);
        csv_field(out, "", mercer_model_label(p->model, k));
    }
    for (int64_t k = 0; p->decision && k < p->decisions; k++) {
        fputc(',', out);
        csv_field(out, "decision_", name_decision(p->model, k).bytes);
    }
    fputs(p->std ? ",std" : "", out);
    write_sample_names(out, p);
    fputc('\n', out);
}

/* One call for each number and what stands before it: those of the standard library take a lock. */
static void write_numbers(FILE *out, const double *values, int64_t count, bool first) {
    char piece[33] = ",";
    for (int64_t k = 0; k < count; k++) {
        const bool bare = first && k == 0;
        mc_number_text(values[k], piece + 1);
        fputs(piece + bare, out);
    }
}

static void write_row(FILE *out, const prediction *p, int64_t i) {
    if (p->classes)
        csv_field(out, "", mercer_model_label(p->model, p->class_of[i]));
    else
        write_numbers(out, p->values + i * p->outputs, p->outputs, true);
    if (p->proba)
        write_numbers(out, p->proba + i * p->classes, p->classes, false);
    if (p->decision)
        write_numbers(out, p->decision + i * p->decisions, p->decisions, false);
    if (p->std)
        write_numbers(out, &p->std[i], 1, false);
    for (int64_t k = 0; k < p->outputs && p->drawn; k++)
        write_numbers(out, p->drawn + (k * p->n + i) * p->samples, p->samples, false);
    putc_unlocked('\n', out);
}

/* Rows of numbers alone: all threads make them. False: there is no memory for that. */
static bool write_number_rows(FILE *out, const prediction *p) {
    mc_csv_block *block = calloc((size_t)p->outputs + 2, sizeof *block);
    int64_t blocks = 0;
    if (!block)
        return false;
    block[blocks++] = (mc_csv_block){p->values, p->outputs, p->outputs};
    if (p->std)
        block[blocks++] = (mc_csv_block){p->std, 1, 1};
    for (int64_t k = 0; k < p->outputs && p->drawn; k++)
        block[blocks++] = (mc_csv_block){p->drawn + k * p->n * p->samples, p->samples, p->samples};
    const bool done = mc_csv_numbers(p->ctx, p->n, block, blocks, out) == MERCER_OK;
    free(block);
    return done;
}

static void write_csv(FILE *out, const void *arg) {
    const prediction *p = arg;
    write_header(out, p);
    if (!p->classes && write_number_rows(out, p))
        return;
    for (int64_t i = 0; i < p->n; i++)
        write_row(out, p, i);
}

/* ---- JSON ---- */

static double largest_bound(const prediction *p) {
    double most = 0;
    for (int64_t i = 0; i < p->n; i++)
        most = fmax(most, p->bound[i]);
    return most;
}

static json_t *json_predictions(const prediction *p) {
    json_t *array = json_array();
    for (int64_t i = 0; i < p->n; i++)
        json_array_append_new(array, p->classes        ? json_text(mercer_model_label(p->model, p->class_of[i]))
                                     : p->outputs == 1 ? json_value(p->values[i])
                                                       : json_values(p->values + i * p->outputs, p->outputs));
    return array;
}

static json_t *json_rows(const double *values, int64_t n, int64_t width) {
    json_t *rows = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(rows, json_values(values + i * width, width));
    return rows;
}

/* A list for each row; of several targets one after the other. */
static json_t *json_samples(const prediction *p) {
    json_t *rows = json_array();
    for (int64_t i = 0; i < p->n; i++) {
        json_t *row = json_array();
        for (int64_t k = 0; k < p->outputs; k++)
            for (int64_t j = 0; j < p->samples; j++)
                json_array_append_new(row, json_value(p->drawn[(k * p->n + i) * p->samples + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static const report_row written_rows[] = {
    {"predictions", NULL, "{output}: {n:row}"},
    {0},
};

static int report_predictions(session *s, const prediction *p, const char *path) {
    json_t *object = json_object();
    json_put(object, "n", json_integer(p->n));
    if (path)
        json_put(object, "output", json_text(path));
    else
        json_put(object, "prediction", json_predictions(p));
    if (!path && p->decision)
        json_put(object, "decision", json_rows(p->decision, p->n, p->decisions));
    if (!path && p->proba)
        json_put(object, "proba", json_rows(p->proba, p->n, p->classes));
    if (!path && p->std)
        json_put(object, "std", json_values(p->std, p->n));
    if (!path && p->drawn)
        json_put(object, "samples", json_samples(p));
    json_put(object, "prediction_error_bound", json_value(largest_bound(p)));
    if (!path)
        json_put(object, "prediction_error_bounds", json_values(p->bound, p->n));
    say_fields(s, object, written_rows);
    say_fact(s, "certificate", "%s", text_prediction_bound(p->model, largest_bound(p)).bytes);
    return json_finish(s, object);
}

/* ---- The verb ---- */

/* Where the predictions themselves are the output: on standard error, before them. */
static void note_bound(const session *s, const prediction *p) {
    const double bound = p->bound ? largest_bound(p) : INFINITY;
    if (isfinite(bound))
        print_note(s, "%s", text_prediction_bound(p->model, bound).bytes);
}

static int write_predictions(session *s, const prediction *p) {
    const char *path = args_text(&s->args, "output");
    const bool apart = !path || strcmp(path, "-") == 0;
    if (apart && !s->json)
        note_bound(s, p);
    if (path || !s->json)
        TRY(write_stream(s, path ? path : "-", write_csv, p));
    return s->json || (!apart && p->bound) ? report_predictions(s, p, path) : EXIT_DONE;
}

/* What is asked for must exist in the model. */
static int check_columns(const args *a, const prediction *p) {
    const char *machine = mercer_model_report(p->model)->machine;
    if (args_flag(a, "proba") && !mercer_model_has_proba(p->model))
        return print_error(
            "--proba: %s gives no probabilities, logistic does; --decision prints the values its classes are chosen by",
            machine);
    if ((args_flag(a, "std") || p->samples) && isnan(mercer_model_report(p->model)->log_evidence))
        return print_error("--%s: %s gives predictions without standard deviations; gp gives them",
                           p->samples ? "samples" : "std", machine);
    if (args_flag(a, "decision") && !p->classes)
        return print_error("--decision: this model predicts numbers, which have no decision values beside them");
    return EXIT_DONE;
}

static int predict_and_write(session *s, prediction *p) {
    const args *a = &s->args;
    TRY(input_model(s, a->operand[0], &p->model));
    p->classes = mercer_model_classes(p->model);
    p->decisions = mercer_model_decisions(p->model);
    TRY(args_whole(a, "samples", 1, 1000000, &p->samples));
    TRY(check_columns(a, p));
    TRY(input_data_for(s, p->model, a->operand[1], MERCER_TARGET_NONE, &p->data));
    p->n = mercer_data_rows(p->data);
    p->outputs = mercer_model_outputs(p->model);
    TRY(p->classes ? compute_classes(s, p) : compute_predictions(s, p, mercer_predict, p->outputs, &p->values));
    if (args_flag(a, "proba"))
        TRY(compute_predictions(s, p, mercer_predict_proba, p->classes, &p->proba));
    if (args_flag(a, "decision"))
        TRY(compute_predictions(s, p, mercer_decide, p->decisions, &p->decision));
    if (args_flag(a, "std") || p->samples)
        TRY(compute_uncertainty(s, p));
    if (s->json || !s->quiet) /* for the report, for JSON, or for a note on standard error */
        TRY(compute_predictions(s, p, mercer_prediction_bound, 1, &p->bound));
    return write_predictions(s, p);
}

static int run_predict(session *s) {
    prediction p = {.ctx = s->ctx};
    const int code = predict_and_write(s, &p);
    free(p.std);
    free(p.drawn);
    free(p.proba);
    free(p.decision);
    free(p.values);
    free(p.bound);
    free(p.class_of);
    mercer_data_free(p.data);
    mercer_model_free(p.model);
    return code;
}

const verb verb_predict = {
    .name = "predict",
    .summary = "predict new rows with a saved model",
    .usage = "MODEL DATA [-o FILE] [--proba | --decision | --std | --samples N] [options]",
    .notes = "Writes CSV with the header 'prediction': a number or a class label per row of DATA. Columns are found by "
             "name where the files have\n"
             "headers; the target may be absent. Numbers read back to the same double.\n\n"
             "  mercer predict houses.mercer new.csv -o prices.csv\n"
             "  mercer predict flowers.mercer flowers.csv --decision\n"
             "  mercer predict flowers.mercer flowers.csv --proba | head",
    .least = 2,
    .most = 2,
    .tables = {options, missing_options, seed_options, common_options},
    .computes = true,
    .run = run_predict,
};
