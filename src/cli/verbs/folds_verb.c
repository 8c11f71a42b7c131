/* folds_verb.c: mercer folds DATA: every row predicted from the rows of other folds, by closed forms instead of refits.
   */
#include "cli/cli.h"
#include "data/helpers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 40 }; /* folds that are worth a line each */

static const option options[] = {
    {"output", 'o', "FILE",
     "write the fold, the prediction, the residual and the standard deviation of every row as CSV"},
    {0},
};

typedef struct held_out {
    job job;
    folding by;
    int64_t n, outputs, classes;
    double *residual, *std; /* n x outputs, n */
    double rmse, accuracy;  /* accuracy: NaN for numbers */
} held_out;

/* ---- Computing ---- */

/* A class is fitted as +1 on its rows and -1 on the others. */
static double target_of(const held_out *x, int64_t i, int64_t k) {
    if (!x->classes)
        return mercer_data_target(x->job.data, i, k);
    return mercer_data_class(x->job.data, i) == k ? 1 : -1;
}

static double value_of(const held_out *x, int64_t i, int64_t k) {
    return target_of(x, i, k) - x->residual[i * x->outputs + k];
}

static int64_t predicted_class(const held_out *x, int64_t i) {
    int64_t best = 0;
    for (int64_t k = 1; k < x->classes; k++)
        if (value_of(x, i, k) > value_of(x, i, best))
            best = k;
    return best;
}

static bool has_residual(const held_out *x, int64_t i) {
    return !isnan(x->residual[i * x->outputs]);
}

static double accuracy_of(const held_out *x) {
    int64_t right = 0, all = 0;
    for (int64_t i = 0; i < x->n; i++) {
        all += has_residual(x, i);
        right += has_residual(x, i) && predicted_class(x, i) == mercer_data_class(x->job.data, i);
    }
    return x->classes ? (double)right / (double)all : NAN;
}

static int compute_fold_residuals(session *s, held_out *x) {
    x->n = mercer_data_rows(x->job.data);
    x->classes = mercer_data_classes(x->job.data);
    x->outputs = x->classes ? x->classes : mercer_data_outputs(x->job.data);
    x->residual = session_take(s, x->n, x->outputs ? x->outputs : 1, sizeof *x->residual);
    x->std = x->residual ? session_take(s, x->n, 1, sizeof *x->std) : NULL;
    if (!x->std)
        return EXIT_MEMORY;
    const mercer_status status = mercer_fit_folds(s->ctx, "ridge", x->job.settings, x->job.kernel, x->job.data,
                                                  x->by.fold, x->residual, x->std, &x->rmse);
    if (status)
        return session_fail_at(s, status, x->job.expression);
    for (int64_t i = 0; i < x->n; i++)
        x->std[i] = sqrt(x->std[i]);
    x->accuracy = accuracy_of(x);
    return session_alive(s);
}

/* ---- One fold ---- */

typedef struct fold_part {
    int64_t rows;
    double rmse;
} fold_part;

/* Unweighted: the rows of a fold as they stand. */
static fold_part part_of(const held_out *x, int64_t fold) {
    fold_part p = {0};
    double sum = 0;
    for (int64_t i = 0; i < x->n; i++) {
        if (x->by.fold[i] != fold || !has_residual(x, i))
            continue;
        p.rows++;
        for (int64_t k = 0; k < x->outputs; k++)
            sum += x->residual[i * x->outputs + k] * x->residual[i * x->outputs + k];
    }
    p.rmse = p.rows ? sqrt(sum / (double)(p.rows * x->outputs)) : NAN;
    return p;
}

/* The name of a fold: its number from 1, or its group where each group is one. */
static text name_of(const held_out *x, int64_t fold) {
    text t;
    snprintf(t.bytes, sizeof t.bytes, "%lld", (long long)fold + 1);
    for (int64_t i = 0; i < x->n && x->by.groups && !x->by.k; i++)
        if (x->by.fold[i] == fold) {
            snprintf(t.bytes, sizeof t.bytes, "%s",
                     mercer_data_text(x->job.data, i, groups_text(x->job.data, x->by.groups)));
            break;
        }
    return t;
}

/* ---- CSV ---- */

static void write_header(FILE *out, const held_out *x) {
    fputs("fold,prediction", out);
    for (int64_t k = 1; !x->classes && k < x->outputs; k++)
        fprintf(out, ",prediction_%lld", (long long)k + 1);
    for (int64_t k = 0; k < x->outputs; k++) {
        fputs(x->classes ? ",decision_" : ",residual", out);
        if (x->classes)
            csv_field(out, "", mercer_data_label(x->job.data, k));
        else if (k)
            fprintf(out, "_%lld", (long long)k + 1);
    }
    fputs(",std\n", out);
}

static void put_number(FILE *out, double value) {
    char number[32];
    fprintf(out, ",%s", isnan(value) ? "" : mc_number_text(value, number));
}

static void write_row(FILE *out, const held_out *x, int64_t i) {
    fprintf(out, "%lld", (long long)x->by.fold[i] + 1);
    if (x->classes) {
        fputc(',', out);
        csv_field(out, "", has_residual(x, i) ? mercer_data_label(x->job.data, predicted_class(x, i)) : "");
    }
    for (int64_t k = 0; k < x->outputs; k++)
        put_number(out, value_of(x, i, k));
    for (int64_t k = 0; k < x->outputs && !x->classes; k++)
        put_number(out, x->residual[i * x->outputs + k]);
    put_number(out, x->std[i]);
    fputc('\n', out);
}

static void write_csv(FILE *out, const void *arg) {
    const held_out *x = arg;
    write_header(out, x);
    for (int64_t i = 0; i < x->n; i++)
        write_row(out, x, i);
}

/* ---- Reports ---- */

static json_t *json_part(const held_out *x, int64_t fold) {
    const fold_part p = part_of(x, fold);
    json_t *object = json_object();
    json_put(object, "fold", json_text(name_of(x, fold).bytes));
    json_put(object, "rows", json_integer(p.rows));
    json_put(object, "rmse", json_value(p.rmse));
    return object;
}

static const report_row folds_rows[] = {
    {"folds", "!groups k", "{folds}"},
    {"folds", "!groups !k", "{folds}: leave-one-out"},
    {"folds", "groups !k", "{folds}, one for each group of '{groups}'"},
    {"folds", "groups k", "{folds}, groups of '{groups}' kept together"},
    {"CV error", NULL, "accuracy {accuracy:%.4g}; RMSE {rmse:.4g} on class indicators +1 and -1"},
    {"CV error", "!accuracy", "RMSE {rmse:.6g}"},
    {"written", NULL, "{output}"},
    {0},
};

static json_t *json_folds(const held_out *x, const char *path) {
    json_t *object = json_object(), *parts = json_array();
    const mercer_ridge *set = x->job.settings;
    json_put(object, "kernel", json_text(mercer_kernel_text(x->job.kernel)));
    json_put(object, "n", json_integer(x->n));
    json_put(object, "lambda", json_value(set->lambda));
    json_put(object, "intercept", json_boolean(set->intercept));
    json_put(object, "folds", json_integer(x->by.count));
    if (x->by.k)
        json_put(object, "k", json_integer(x->by.k));
    json_put(object, "groups", json_text(x->by.groups));
    json_put(object, "rmse", json_value(x->rmse));
    if (x->classes)
        json_put(object, "accuracy", json_value(x->accuracy));
    for (int64_t f = 0; f < x->by.count && x->by.count < x->n; f++)
        json_array_append_new(parts, json_part(x, f));
    json_put(object, "by_fold", parts);
    if (path)
        json_put(object, "output", json_text(path));
    return object;
}

static void say_parts(session *s, const json_t *parts) {
    static const report_column columns[] = {
        {"fold", "fold", 12, ""}, {"rows", "rows", 12, ""}, {"rmse", "RMSE", 12, ".6g"}, {0}};
    const size_t count = json_array_size(parts);
    if (count == 0 || count > FEW)
        return;
    say_titles(s, columns);
    for (size_t f = 0; f < count; f++)
        say_row(s, json_array_get(parts, f), columns, "");
}

static int report_folds(session *s, const held_out *x, const char *path) {
    const mercer_ridge *set = x->job.settings;
    json_t *object = json_folds(x, path);
    say_fact(s, "machine", "ridge, lambda %g, %s intercept", set->lambda, set->intercept ? "with" : "no");
    say_kernel(s, x->job.kernel, "");
    say_data(s, x->job.path, x->job.data);
    say_fields(s, object, folds_rows);
    say_parts(s, json_object_get(object, "by_fold"));
    if (s->json && !path) {
        json_put(object, "residual", json_values(x->residual, x->n * x->outputs));
        json_put(object, "std", json_values(x->std, x->n));
    }
    return json_finish(s, object);
}

/* ---- The verb ---- */

static int cross_validate_ridge(session *s, held_out *x) {
    const char *path = args_text(&s->args, "output");
    static const char *const known[] = {"lambda", "intercept", "scale", "allow-indefinite", NULL};
    TRY(folding_read(s, &x->by));
    TRY(job_open(s, &x->job));
    TRY(job_check_ridge(s, &x->job, known));
    TRY(folding_make(s, x->job.data, &x->by));
    TRY(compute_fold_residuals(s, x));
    if (path && strcmp(path, "-") == 0)
        s->out = stderr;
    if (path)
        TRY(write_stream(s, path, write_csv, x));
    return report_folds(s, x, path);
}

static int run_folds(session *s) {
    held_out x = {.job.machine = mercer_machine_find("ridge")};
    const int code = cross_validate_ridge(s, &x);
    free(x.residual);
    free(x.std);
    folding_close(&x.by);
    job_close(&x.job);
    return code;
}

const verb verb_folds = {
    .name = "folds",
    .summary = "cross-validated predictions of ridge in closed form, without refitting",
    .usage = "DATA [-k KERNEL] [--lambda LAMBDA] [--folds K] [--groups COLUMN] [-o FILE] [options]",
    .notes =
        "Cross-validation of ridge by closed forms: one inverse gives the prediction of every row by the machine "
        "fitted to the other folds.\n"
        "Without --folds and --groups every row is a fold: leave-one-out. --groups alone makes every group a fold; "
        "with --folds whole groups\n"
        "are dealt out. Of the settings of ridge it takes --lambda, --intercept, --scale and --allow-indefinite.\n\n"
        "  mercer folds houses.csv --lambda 0.1 --intercept\n"
        "  mercer folds houses.csv --folds 10 --lambda 0.1 -o left_out.csv\n"
        "  mercer folds houses.csv --groups town --target price",
    .least = 1,
    .most = 1,
    .tables = {options, fold_options, job_options, data_options, seed_options, common_options},
    .machine = true,
    .computes = true,
    .run = run_folds,
};
