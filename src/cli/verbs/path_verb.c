/* path_verb.c: mercer path DATA: what every value of lambda, or of C, would give. Of ridge the errors of rows left out,
   degrees of freedom and norm, without fitting each; of other machines one fit after the other, each from the last. */
#include "cli/cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option options[] = {
    {"from", 0, "VALUE", "the smallest lambda (default 1e-8, of convex losses 0.01), or C (default 0.01)"},
    {"to", 0, "VALUE", "the largest (default 1e3, of convex losses 100), or C (default 100)"},
    {"count", 0, "N", "how many, equally spaced on a logarithmic scale (default 50 for ridge, 9 for others)"},
    {"lambdas", 0, "LIST", "these values, as in 0.1,1,10, in place of --from, --to and --count"},
    {"C", 0, "LIST", "svc, svr: the same for C"},
    {"test", 0, "FILE", "rows to measure the function of every value on; not for ridge"},
    {0},
};

/* Which way a machine goes, and what it is measured by: the name in JSON and the title of the column. */
typedef enum path_family { RIDGE = 1, SVM = 2, LOSS = 4 } path_family;
typedef struct path_machine {
    const char *machine;
    path_family family;
    const char *measure, *title;
} path_machine;
static const path_machine path_machines[] = {
    {"ridge", RIDGE, "rmse", "RMSE"},
    {"svc", SVM, "accuracy", "correct"},
    {"svr", SVM, "rmse", "RMSE"},
    {"logistic", LOSS, "accuracy", "correct"},
    {"squared-hinge", LOSS, "accuracy", "correct"},
    {"huber", LOSS, "rmse", "RMSE"},
    {"quantile", LOSS, "pinball", "pinball"},
    {"absolute", LOSS, "mae", "MAE"},
};

static const path_machine *path_machine_of(const char *machine) {
    for (size_t i = 0; i < sizeof path_machines / sizeof *path_machines; i++)
        if (strcmp(path_machines[i].machine, machine) == 0)
            return &path_machines[i];
    return NULL;
}

typedef struct path_range {
    double from, to;
    int64_t count;
    const char *list; /* the values themselves, with commas between; NULL: from, to and count say */
} path_range;

typedef struct path_job {
    const path_machine *path_machine;
    job job;
    folding by;
    path_range range;
    mercer_data *test; /* rows of --test; NULL: none */
    double *value;
    mercer_path_row *row;
} path_job;

static const char *variable_of(const path_job *p) {
    return p->path_machine->family == SVM ? "C" : "lambda";
}

/* ---- Values ---- */

/* How many numbers the list has; a message where one of them is none. */
static int read_list(session *s, const char *name, path_range *r) {
    static const char *const instead[] = {"from", "to", "count"};
    for (int i = 0; i < 3; i++)
        if (args_text(&s->args, instead[i]))
            return print_error("--%s lists the values and --%s makes them up; give one of the two", name, instead[i]);
    r->count = 0;
    for (const char *p = r->list;; p++) {
        char *end = NULL;
        const double value = strtod(p, &end);
        if (end == p || (*end && *end != ',') || !(value > 0 && isfinite(value)))
            return print_error("--%s must be positive numbers with commas between, got '%s'", name, r->list);
        r->count++;
        if (!*end)
            return EXIT_DONE;
        p = end;
    }
}

static int read_range(session *s, const path_job *p, path_range *r) {
    const bool svm = p->path_machine->family == SVM;
    const char *list = svm ? "C" : "lambdas";
    *r = p->path_machine->family == RIDGE ? (path_range){1e-8, 1e3, 50, NULL} : (path_range){1e-2, 1e2, 9, NULL};
    r->list = args_text(&s->args, list);
    if (args_text(&s->args, svm ? "lambdas" : "C"))
        return print_error(svm ? "--lambdas is for machines with a lambda; svc and svr have --C"
                               : "--C is for -m svc and -m svr; this machine has --lambdas, --from and --to");
    if (r->list)
        return read_list(s, list, r);
    TRY(args_real(&s->args, "from", 1e-100, 1e100, &r->from));
    TRY(args_real(&s->args, "to", 1e-100, 1e100, &r->to));
    TRY(args_whole(&s->args, "count", 1, 1000000, &r->count));
    if (r->from > r->to)
        return print_error("--from %g is above --to %g", r->from, r->to);
    return EXIT_DONE;
}

/* Equally spaced on a logarithmic scale, both ends exact; or those of the list. */
static void make_values(const path_range *r, double *out) {
    char *at = (char *)(uintptr_t)r->list;
    for (int64_t l = 0; at && l < r->count; l++)
        out[l] = strtod(l ? at + 1 : at, &at);
    if (r->list)
        return;
    const double low = log(r->from), step = r->count > 1 ? (log(r->to) - low) / (double)(r->count - 1) : 0;
    for (int64_t l = 0; l < r->count; l++)
        out[l] = l == 0 ? r->from : l == r->count - 1 ? r->to : exp(low + step * (double)l);
}

/* ---- Computing ---- */

static int read_test(session *s, path_job *p) {
    const char *file = args_text(&s->args, "test");
    static const char *const known[] = {"intercept", "scale", "allow-indefinite", NULL};
    if (p->path_machine->family == RIDGE && file)
        return print_error("--test is not for ridge, which has the leave-one-out error");
    if (p->path_machine->family == RIDGE)
        return job_check_ridge(s, &p->job, known);
    return file ? input_data(s, NULL, file, NULL, p->job.machine->target, &p->test) : EXIT_DONE;
}

static int compute_ridge_path(session *s, path_job *p) {
    TRY(read_test(s, p));
    if (p->by.asked)
        TRY(folding_make(s, p->job.data, &p->by));
    p->value = session_take(s, p->range.count, 1, sizeof *p->value);
    p->row = p->value ? session_take(s, p->range.count, 1, sizeof *p->row) : NULL;
    if (!p->row)
        return EXIT_MEMORY;
    make_values(&p->range, p->value);
    mercer_path set = mercer_path_defaults();
    set.values = p->value;
    set.count = p->range.count;
    set.test = p->test;
    set.fold = p->by.asked ? p->by.fold : NULL;
    const mercer_status status =
        mercer_fit_path(s->ctx, p->path_machine->machine, p->job.settings, p->job.kernel, p->job.data, &set, p->row);
    return status ? session_fail_at(s, status, p->job.expression) : session_alive(s);
}

/* ---- The table ---- */

/* A column: the field of a row under its name in JSON and, with a title, among what people see. %s: the measure. */
typedef enum needs { ALWAYS, TEST, FOLDS } needs;
typedef struct path_column {
    unsigned families;
    needs needs;
    const char *key;
    size_t offset;
    bool whole; /* an int64_t */
    const char *title;
    int width;
    const char *format;
} path_column;
#define FIELD(name) offsetof(mercer_path_row, name)
static const path_column columns[] = {
    {RIDGE | LOSS, ALWAYS, "lambda", FIELD(value), false, "lambda", 12, ".4g"},
    {SVM, ALWAYS, "C", FIELD(value), false, "C", 12, ".4g"},
    {RIDGE, ALWAYS, "loo_rmse", FIELD(loo_rmse), false, "LOO RMSE", 12, ".6g"},
    {RIDGE, FOLDS, "fold_rmse", FIELD(fold), false, "fold RMSE", 12, ".6g"},
    {RIDGE, ALWAYS, "gcv", FIELD(gcv), false, "GCV", 12, ".6g"},
    {RIDGE, ALWAYS, "dof", FIELD(dof), false, "dof", 12, ".6g"},
    {RIDGE, ALWAYS, "norm", FIELD(norm), false, "norm", 12, ".6g"},
    {RIDGE, ALWAYS, "objective", FIELD(objective), false, NULL, 0, NULL},
    {SVM | LOSS, ALWAYS, "primal", FIELD(primal), false, "objective", 12, ".6g"},
    {SVM | LOSS, ALWAYS, "dual", FIELD(dual), false, NULL, 0, NULL},
    {SVM | LOSS, ALWAYS, "gap_relative", FIELD(gap_relative), false, "gap", 9, ".1e"},
    {SVM, ALWAYS, "kkt_violation", FIELD(kkt_violation), false, NULL, 0, NULL},
    {LOSS, ALWAYS, "distance", FIELD(distance), false, NULL, 0, NULL},
    {SVM | LOSS, ALWAYS, "norm", FIELD(norm), false, "norm", 10, ".5g"},
    {SVM | LOSS, ALWAYS, "support_vectors", FIELD(support_vectors), true, "vectors", 10, ""},
    {SVM, ALWAYS, "free_vectors", FIELD(free_vectors), true, "free", 10, ""},
    {SVM, ALWAYS, "bounded_vectors", FIELD(bounded_vectors), true, "bounded", 10, ""},
    {SVM | LOSS, ALWAYS, "steps", FIELD(steps), true, NULL, 0, NULL},
    {SVM | LOSS, TEST, "test_%s", FIELD(test), false, "test %s", 13, ".6g"},
    {LOSS, TEST, "test_log_loss", FIELD(test_log_loss), false, "log loss", 10, ".5f"},
    {LOSS, FOLDS, "fold_%s", FIELD(fold), false, "fold %s", 13, ".6g"},
    {LOSS, FOLDS, "fold_log_loss", FIELD(fold_log_loss), false, "log loss", 10, ".5f"},
    {SVM | LOSS, ALWAYS, "seconds", FIELD(seconds), false, NULL, 0, NULL},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], NAME = 40 };

static double number_at(const mercer_path_row *row, size_t offset) {
    return *(const double *)(const void *)((const char *)row + offset);
}

/* Probabilities have a log loss, and other machines not a number in its place. */
static bool has_column(const path_job *p, const path_column *c) {
    const bool log_loss = c->offset == FIELD(test_log_loss) || c->offset == FIELD(fold_log_loss);
    return c->families & p->path_machine->family && (c->needs != TEST || p->test) && (c->needs != FOLDS || p->by.asked)
           && !(log_loss && isnan(number_at(&p->row[0], c->offset)));
}

static json_t *json_row(const path_job *p, const mercer_path_row *row) {
    json_t *object = json_object();
    for (const path_column *c = columns; c < columns + COLUMNS; c++) {
        char key[NAME];
        snprintf(key, sizeof key, c->key, p->path_machine->measure); /* the keys are those of this table */
        if (has_column(p, c))
            json_put(object, key,
                     c->whole ? json_integer(*(const int64_t *)(const void *)((const char *)row + c->offset))
                              : json_value(number_at(row, c->offset)));
    }
    return object;
}

/* ---- The best rows ---- */

/* Less is better. Folds where there are some, and the log loss of what gives probabilities. */
static double score_of_path_row(const path_job *p, const mercer_path_row *r) {
    const double score = p->by.asked ? r->fold : p->test ? r->test : NAN;
    const double log_loss = p->by.asked ? r->fold_log_loss : r->test_log_loss;
    return !isnan(log_loss) ? log_loss : p->job.machine->target == MERCER_TARGET_CLASS ? -score : score;
}
static double loo_rmse_of(const path_job *p, const mercer_path_row *r) {
    (void)p;
    return r->loo_rmse;
}
static double gcv_of_path_row(const path_job *p, const mercer_path_row *r) {
    (void)p;
    return r->gcv;
}

/* By what a row is best, its name in JSON after best_ and the variable, and what stands beside the row. */
static const struct criterion {
    unsigned families;
    needs needs;
    double (*of)(const path_job *p, const mercer_path_row *r);
    const char *key, *name;
} criteria[] = {{RIDGE, ALWAYS, loo_rmse_of, "", "LOO RMSE"},
                {RIDGE, FOLDS, score_of_path_row, "_folds", "fold RMSE"},
                {RIDGE, ALWAYS, gcv_of_path_row, "_gcv", "GCV"},
                {SVM | LOSS, ALWAYS, score_of_path_row, "", "best"}};
enum { CRITERIA = sizeof criteria / sizeof criteria[0] };

static bool has_criterion(const path_job *p, int i) {
    return criteria[i].families & p->path_machine->family && (criteria[i].needs != FOLDS || p->by.asked);
}

/* -1 where none has a value. */
static int64_t row_of_least(const path_job *p, const struct criterion *c) {
    int64_t place = -1;
    for (int64_t l = 0; l < p->range.count; l++)
        if (c->of(p, &p->row[l]) < (place < 0 ? INFINITY : c->of(p, &p->row[place])))
            place = l;
    return place;
}

/* ---- Reports ---- */

static json_t *json_path(const path_job *p, const int64_t *at) {
    json_t *object = json_object(), *rows = json_array();
    for (int64_t l = 0; l < p->range.count; l++)
        json_array_append_new(rows, json_row(p, &p->row[l]));
    json_put(object, "machine", json_text(p->path_machine->machine));
    json_put(object, "kernel", json_text(mercer_kernel_text(p->job.kernel)));
    json_put(object, "n", json_integer(mercer_data_rows(p->job.data)));
    for (int i = 0; i < CRITERIA; i++) {
        char key[NAME];
        snprintf(key, sizeof key, "best_%s%s", variable_of(p), criteria[i].key);
        if (has_criterion(p, i))
            json_put(object, key, at[i] < 0 ? json_null() : json_value(p->value[at[i]]));
    }
    json_put(object, "rows", rows);
    return object;
}

/* "  < least LOO RMSE and GCV" */
static void least_criteria_text(const path_job *p, int64_t l, const int64_t *at, char *bytes, size_t size) {
    bytes[0] = '\0';
    for (int i = 0; i < CRITERIA; i++)
        if (at[i] == l)
            snprintf(bytes + strlen(bytes), size - strlen(bytes), "%s%s",
                     *bytes                             ? " and "
                     : p->path_machine->family == RIDGE ? "  < least "
                                                        : "  < ",
                     criteria[i].name);
}

static void say_rows(session *s, const path_job *p, const json_t *rows, const int64_t *at) {
    char names[COLUMNS][2][NAME], remark_text[64];
    report_column shown[COLUMNS + 1] = {0};
    int count = 0;
    for (const path_column *c = columns; c < columns + COLUMNS; c++) {
        if (!c->title || !has_column(p, c))
            continue;
        char(*name)[NAME] = names[count];
        snprintf(name[0], NAME, c->key, p->path_machine->measure);
        snprintf(name[1], NAME, c->title, p->path_machine->title);
        const bool share = strstr(c->key, "%s") && strcmp(p->path_machine->measure, "accuracy") == 0;
        shown[count++] = (report_column){name[0], name[1], c->width, share ? "%.2f" : c->format};
    }
    say_titles(s, shown);
    for (int64_t l = 0; l < p->range.count; l++) {
        least_criteria_text(p, l, at, remark_text, sizeof remark_text);
        say_row(s, json_array_get(rows, (size_t)l), shown, remark_text);
    }
}

/* The fit at this value, with everything else as it was here. */
static void say_fit(session *s, const path_job *p, int64_t place) {
    static const char *const except[] = {"lambda", "C", NULL};
    char name[32], number[32];
    advice a = advise_command(s, &verb_fit, p->job.machine, except);
    snprintf(name, sizeof name, "--%s", variable_of(p));
    snprintf(number, sizeof number, "%.4g", p->value[place]);
    advice_add(&a, name);
    advice_add(&a, number);
    say_fact(s, "next", "%s", a.bytes);
}

static void say_next(session *s, const path_job *p, const int64_t *at) {
    const int64_t last = p->range.count - 1,
                  place = p->path_machine->family == RIDGE ? at[p->by.asked] : at[CRITERIA - 1];
    if (place < 0)
        return;
    say_text(s, "\n");
    if (p->path_machine->family == RIDGE && last > 0 && (place == 0 || place == last))
        say_fact(s, "next", "the least error is at the end of the range: widen it with %s",
                 p->range.list ? "--lambdas"
                 : place == 0  ? "--from"
                               : "--to");
    else
        say_fit(s, p, place);
}

static int report_path(session *s, const path_job *p) {
    int64_t at[CRITERIA];
    for (int i = 0; i < CRITERIA; i++)
        at[i] = has_criterion(p, i) ? row_of_least(p, &criteria[i]) : -1;
    json_t *object = json_path(p, at);
    say_kernel(s, p->job.kernel, "");
    say_data(s, p->job.path, p->job.data);
    if (p->by.asked && p->path_machine->family == RIDGE)
        say_fact(s, "folds", "%lld%s%s", (long long)p->by.count, p->by.groups ? ", groups kept together by " : "",
                 p->by.groups ? p->by.groups : "");
    say_rows(s, p, json_object_get(object, "rows"), at);
    say_next(s, p, at);
    return json_finish(s, object);
}

/* ---- The verb ---- */

static int compute_path(session *s, path_job *p) {
    TRY(read_range(s, p, &p->range));
    TRY(folding_read(s, &p->by));
    if (p->path_machine->family == SVM && p->by.asked)
        return print_error(
            "--folds and --groups are for machines with a lambda; give %s rows to measure on with --test",
            p->path_machine->machine);
    TRY(job_open(s, &p->job));
    TRY(compute_ridge_path(s, p));
    return report_path(s, p);
}

static int run_path(session *s) {
    const char *asked = args_text(&s->args, "machine"), *machine = asked ? asked : "ridge";
    path_job p = {.path_machine = path_machine_of(machine), .job.machine = mercer_machine_find(machine)};
    if (!p.path_machine)
        return print_error(
            "path: ridge, svc, svr, logistic, squared-hinge, huber, quantile and absolute have a path, '%s' has none",
            machine);
    const int code = compute_path(s, &p);
    free(p.value);
    free(p.row);
    mercer_data_free(p.test);
    folding_close(&p.by);
    job_close(&p.job);
    return code;
}

const verb verb_path = {
    .name = "path",
    .summary = "regularization path: values of lambda by leave-one-out error, or of C of svc and svr",
    .usage =
        "DATA [-m MACHINE] [-k KERNEL] [--from VALUE] [--to VALUE] [--count N] [--folds K] [--test FILE] [options]",
    .notes = "One eigendecomposition gives, for every lambda of a range: the root mean square error on rows left out "
             "one by one, generalised\n"
             "cross-validation, the effective degrees of freedom and the norm of the function. With --folds or "
             "--groups also the exact "
             "error\n"
             "of folds left out (see 'mercer help folds'). Of the settings of ridge it takes --intercept, --scale and "
             "--allow-indefinite.\n"
             "With -m svc or -m svr: one fit after the other for rising C, each from the last one at no cost in kernel "
             "values, each with its\n"
             "certificate, and measured on the rows of --test. With -m logistic, squared-hinge, huber, quantile or "
             "absolute the same\n"
             "along lambda, from the largest down, measured on --test and on --folds.\n\n"
             "  mercer path houses.csv -k 'rbf(sigma=2)' --intercept\n"
             "  mercer path houses.csv --from 1e-4 --to 10 --count 200 --json\n"
             "  mercer path moons.csv -m svc -k 'rbf(gamma=0.5)' --C 0.1,1,10 --test moons.csv\n"
             "  mercer path moons.csv -m logistic --lambdas 0.01,0.1,1 --folds 5",
    .least = 1,
    .most = 1,
    .tables = {options, fold_options, job_options, data_options, seed_options, common_options},
    .machine = true,
    .computes = true,
    .run = run_path,
};
