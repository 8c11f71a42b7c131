/* job.c: what fit and plan share: the kernel, the machine with its settings, and the data, from the options.

   Cheap mistakes first: the kernel is parsed and a named machine looked up before a file is opened. */
#include "cli.h"
#include "data/helpers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const option job_options[] = {
    {"machine", 'm', "NAME", "machine to fit (default: chosen by the kind of the target, and reported)"},
    {"kernel", 'k', "KERNEL", "an expression of the kernel language (default rbf); tune takes several"},
    {"weights", 0, "FILE|COLUMN", "row weights: a file with one number per row, else a column of the data"},
    {"noise-column", 0, "COLUMN",
     "gp: column with the noise variance of every row, multiplied by --noise where that is given"},
    {0},
};

static int unknown_machine(const char *name) {
    mc_suggestion best = {.text = name};
    char list[400] = "";
    const mercer_machine *machine;
    for (int i = 0; (machine = mercer_machine_at(i)); i++) {
        mc_suggestion_try(&best, machine->name);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", machine->name);
    }
    if (best.name)
        return print_error("there is no machine '%s'; did you mean '%s'?", name, best.name);
    return print_error("there is no machine '%s'; there is: %s", name, list);
}

static int named_machine(const args *a, job *j) {
    const char *name = args_text(a, "machine");
    j->machine = name ? mercer_machine_find(name) : j->machine;
    return name && !j->machine ? unknown_machine(name) : EXIT_DONE;
}

static bool labels_are_numbers(const mercer_data *data) {
    for (int64_t k = 0; k < mercer_data_classes(data); k++) {
        const char *label = mercer_data_label(data, k);
        char *end = NULL;
        strtod(label, &end);
        if (end == label || *end)
            return false;
    }
    return true;
}

/* A setting that only ridge has says that ridge is meant. */
static bool asks_for_ridge(const args *a) {
    const mercer_machine *ridge = mercer_machine_find("ridge"), *svc = mercer_machine_find("svc");
    for (int i = 0; i < a->count; i++)
        if (a->given[i].setting && setting_find(ridge, a->given[i].name) && !setting_find(svc, a->given[i].name))
            return true;
    return false;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many different whole numbers the one target has, where each comes twice in the mean: perhaps they are labels. 0:
   it is not so. */
static int64_t count_labels(const mercer_data *data) {
    const int64_t n = mercer_data_rows(data);
    double *y = mercer_data_outputs(data) == 1 ? calloc((size_t)n + 1, sizeof *y) : NULL;
    bool whole = y != NULL;
    int64_t count = n > 0;
    for (int64_t i = 0; i < n && whole; i++) {
        y[i] = mercer_data_target(data, i, 0);
        whole = y[i] == floor(y[i]);
    }
    if (whole)
        qsort(y, (size_t)n, sizeof *y, by_value);
    for (int64_t i = 1; i < n && whole; i++)
        count += y[i] != y[i - 1];
    free(y);
    return whole && count > 1 && 2 * count <= n ? count : 0;
}

static void choose_machine(const args *a, job *j) {
    const bool classes = mercer_data_classes(j->data) > 0, ridge = !classes || asks_for_ridge(a);
    j->machine = mercer_machine_find(ridge ? "ridge" : "svc");
    const int64_t labels = classes || args_text(a, "target-kind") ? 0 : count_labels(j->data);
    if (labels)
        snprintf(j->why, sizeof j->why,
                 "chosen: the target is numeric; --target-kind class takes its %lld whole numbers as labels",
                 (long long)labels);
    if (!classes)
        j->chosen = labels ? j->why : "chosen: the target is numeric";
    else if (labels_are_numbers(j->data))
        j->chosen = ridge ? "chosen: ridge on class indicators; --target-kind number takes the target as numbers"
                          : "chosen: the target is classes; --target-kind number takes it as numbers";
    else
        j->chosen = ridge ? "chosen: ridge on class indicators" : "chosen: the target is classes";
}

static int lacks_setting(const mercer_machine *machine, const char *name) {
    char list[400] = "";
    for (int i = 0; i < machine->count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s--%s", i ? ", " : "",
                 option_text(machine->settings[i].name).bytes);
    return print_error("%s has no --%s; it has %s", machine->name, option_text(name).bytes, list);
}

/* Nobody asked: where it costs little, the error on rows left out is worth having. An interpolant (lambda 0) may have
   none. */
static int choose_loo(session *s, job *j) {
    enum { CHEAP = 2000 };
    const mercer_setting *loo = setting_find(j->machine, "loo"), *lambda = setting_find(j->machine, "lambda");
    if (!loo || args_text(&s->args, loo->name) || mercer_data_rows(j->data) > CHEAP || mercer_data_rows(j->data) < 2)
        return EXIT_DONE;
    const char *solver = args_text(&s->args, "solver"); /* iterative ones have no such error */
    if (solver && strcmp(solver, "auto") && strcmp(solver, "cholesky") && strcmp(solver, "eigen")
        && strcmp(solver, "primal"))
        return EXIT_DONE;
    /* by eigen, which has it where it is defined */
    if (args_text(&s->args, "norm-bound") || args_text(&s->args, "dof"))
        return EXIT_DONE;
    if (lambda && *(const double *)(const void *)((const char *)j->settings + lambda->offset) == 0)
        return EXIT_DONE;
    TRY_CTX(s, mercer_settings_put(s->ctx, j->settings, loo->name, "yes"));
    return EXIT_DONE;
}

/* The numbers of a file with one column as a list, "7,1,300". */
static int list_of(session *s, const char *path, const mercer_data *file, char **out) {
    enum { DIGITS = 24 };
    const int64_t n = mercer_data_rows(file);
    if (mercer_data_columns(file) != 1)
        return print_error("landmarks: '%s' must have one column, it has %lld", path,
                           (long long)mercer_data_columns(file));
    *out = session_take(s, n + 1, DIGITS, 1);
    if (!*out)
        return EXIT_MEMORY;
    size_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        double value;
        mercer_data_row(file, i, &value);
        used += (size_t)snprintf(*out + used, DIGITS, "%s%.15g", i ? "," : "", value);
    }
    if (n == 1)
        snprintf(*out + used, DIGITS, ","); /* a number alone would be a count */
    return EXIT_DONE;
}

static int read_column(session *s, const char *path, mercer_data **out) {
    mercer_read set = mercer_read_defaults();
    set.target = "";
    set.kind = MERCER_TARGET_NONE;
    TRY_CTX(s, mercer_data_read(s->ctx, path, &set, out));
    return EXIT_DONE;
}

/* Where the landmarks name a file, its numbers. */
static int landmarks_from_file(session *s, job *j, const char **value) {
    mercer_data *file = NULL;
    if (access(*value, F_OK) != 0)
        return EXIT_DONE;
    TRY(read_column(s, *value, &file));
    const int code = list_of(s, *value, file, &j->landmarks);
    mercer_data_free(file);
    *value = j->landmarks;
    return code;
}

/* "C=0.1..1000" for the search; its form is checked there. */
static int put_range(session *s, job *j, const char *name, const char *value) {
    const size_t size = strlen(name) + strlen(value) + 2;
    if (!j->range)
        j->range = calloc((size_t)s->args.count + 1, sizeof *j->range);
    char *bytes = j->range ? malloc(size) : NULL;
    if (!bytes)
        return session_fail(s, MERCER_MEMORY);
    snprintf(bytes, size, "%s=%s", name, value);
    j->range[j->ranges++] = bytes;
    return EXIT_DONE;
}

static int put_setting(session *s, job *j, const char *name, const char *value) {
    const mercer_setting *row = setting_find(j->machine, name);
    if (!row)
        return lacks_setting(j->machine, name);
    const bool number = row->type == MERCER_REAL || row->type == MERCER_INTEGER,
               range = strstr(value, "..") || value[0] == '{';
    if (number && range && j->searches)
        return put_range(s, j, row->name, value);
    if (number && range)
        return print_error("--%s %s leaves the choice open; to search it: %s", option_text(name).bytes, value,
                           advise_command(s, &verb_tune, NULL, NULL).bytes);
    if (strcmp(name, "landmarks") == 0)
        TRY(landmarks_from_file(s, j, &value));
    TRY_CTX(s, mercer_settings_put(s->ctx, j->settings, name, value));
    return EXIT_DONE;
}

/* A default that asks for more than there are rows asks for as many as there are. */
static int fit_default(session *s, const job *j, const char *name, int64_t most) {
    const mercer_setting *row = setting_find(j->machine, name);
    if (!row || j->searches || args_text(&s->args, name) || (double)most >= row->initial || most < 1)
        return EXIT_DONE;
    *(int64_t *)(void *)((char *)j->settings + row->offset) = most;
    const int64_t rows = mercer_data_rows(j->data);
    print_note(s, "%s %lld, not %g: there %s %lld row%s", name, (long long)most, row->initial, rows == 1 ? "is" : "are",
               (long long)rows, rows == 1 ? "" : "s");
    return EXIT_DONE;
}

static int apply_settings(session *s, job *j) {
    const args *a = &s->args;
    const char *wish = args_text(a, "norm-bound") ? "norm-bound" : args_text(a, "dof") ? "dof" : NULL;
    if (wish && args_text(a, "lambda"))
        return print_error("--lambda and --%s are both given, and the second determines the first; give one of them",
                           wish);
    j->settings = calloc(1, j->machine->size);
    if (!j->settings)
        return session_fail(s, MERCER_MEMORY);
    TRY_CTX(s, mercer_settings_init(s->ctx, j->machine->name, j->settings, j->machine->size));
    if (args_text(a, "noise-column")) /* known variances are taken as they stand */
        TRY_CTX(s, mercer_settings_put(s->ctx, j->settings, "noise", "1"));
    for (int i = 0; i < a->count; i++)
        if (a->given[i].setting)
            TRY(put_setting(s, j, a->given[i].name, a->given[i].text));
    TRY(fit_default(s, j, "neighbors", mercer_data_rows(j->data)));
    return fit_default(s, j, "components", mercer_data_rows(j->data) - 1);
}

/* The single column of a file, one number per row of the data. */
static int take_weights(session *s, const char *path, const mercer_data *file, double **out) {
    const int64_t n = mercer_data_rows(file), d = mercer_data_columns(file);
    if (d != 1)
        return print_error("weights: '%s' must have one column, it has %lld", path, (long long)d);
    *out = session_take(s, n, 1, sizeof **out);
    for (int64_t i = 0; *out && i < n; i++)
        mercer_data_row(file, i, *out + i);
    return *out ? EXIT_DONE : EXIT_MEMORY;
}

/* The data with these weights in place of the data; frees the weights. */
static int take_over_weights(session *s, job *j, double *weights) {
    mercer_data *weighted = NULL;
    const mercer_status status = mercer_data_weigh(s->ctx, j->data, weights, &weighted);
    free(weights);
    if (status)
        return session_fail(s, status);
    mercer_data_free(j->data);
    j->data = weighted;
    return EXIT_DONE;
}

static int apply_row_weights(session *s, job *j, const char *path, const mercer_data *file) {
    if (mercer_data_rows(file) != mercer_data_rows(j->data))
        return print_error("weights: '%s' has %lld rows, the data have %lld", path, (long long)mercer_data_rows(file),
                           (long long)mercer_data_rows(j->data));
    double *weights = NULL;
    TRY(take_weights(s, path, file, &weights));
    return take_over_weights(s, j, weights);
}

static int weights_from_file(session *s, job *j, const char *path) {
    mercer_data *file = NULL;
    TRY(read_column(s, path, &file));
    const int code = apply_row_weights(s, j, path, file);
    mercer_data_free(file);
    return code;
}

/* A weight says how precise a row is: its noise variance is noise / weight. */
static int weigh_by_noise(session *s, job *j, const char *column) {
    const int64_t n = mercer_data_rows(j->data);
    double *weights = session_take(s, n, 1, sizeof *weights);
    if (!weights)
        return EXIT_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        weights[i] = 1 / mercer_data_weight(j->data, i);
        if (isfinite(weights[i]))
            continue;
        free(weights);
        return print_error(
            "--noise-column %s: the noise variance of row %lld is %g; it must be positive (--noise 0 fits "
            "without noise)",
            column, (long long)i + 1, mercer_data_weight(j->data, i));
    }
    return take_over_weights(s, j, weights);
}

static int read_noise(session *s, job *j, const char *column) {
    if (!j->machine || strcmp(j->machine->name, "gp") != 0)
        return print_error("--noise-column belongs to the machine gp, which -m gp asks for");
    if (args_text(&s->args, "weights"))
        return print_error("--weights and --noise-column both say how precise the rows are; give one of them");
    TRY(input_data_for_fit(s, j->kernel, j->path, column, MERCER_TARGET_NUMBER, &j->data));
    return weigh_by_noise(s, j, column);
}

static int read_data(session *s, job *j) {
    const char *weights = args_text(&s->args, "weights"), *noise = args_text(&s->args, "noise-column");
    if (noise)
        return read_noise(s, j, noise);
    const bool from_file = weights && access(weights, F_OK) == 0;
    const double began = clock_now();
    const mercer_target wanted = j->machine ? j->machine->target : MERCER_TARGET_AUTO;
    TRY(input_data_for_fit(s, j->kernel ? j->kernel : j->reads, j->path, from_file ? NULL : weights, wanted, &j->data));
    if (from_file)
        TRY(weights_from_file(s, j, weights));
    j->read_seconds = clock_now() - began;
    return EXIT_DONE;
}

int job_open(session *s, job *j) {
    const args *a = &s->args;
    j->path = a->operand[0];
    j->expression = args_text(a, "kernel");
    int from = 0;
    TRY(named_machine(a, j));
    args_next(a, "kernel", &from);
    if (!j->searches && args_next(a, "kernel", &from))
        return print_error("--kernel is given twice");
    if (!j->searches && j->expression)
        TRY(input_kernel(s, j->expression, &j->kernel));
    TRY(read_data(s, j));
    if (!j->searches && !j->expression)
        TRY_CTX(s, mercer_kernel_default(s->ctx, j->data, &j->kernel));
    if (!j->expression)
        j->expression = j->kernel ? mercer_kernel_text(j->kernel) : "rbf";
    if (2 * mercer_data_classes(j->data) > mercer_data_rows(j->data) && mercer_data_classes(j->data) > 20)
        print_note(
            s,
            "the target '%s' has %lld classes in %lld rows, so that most have one row alone; --target names another "
            "column",
            mercer_data_target_name(j->data, 0), (long long)mercer_data_classes(j->data),
            (long long)mercer_data_rows(j->data));
    if (!j->machine)
        choose_machine(a, j);
    TRY(apply_settings(s, j));
    return j->searches ? EXIT_DONE : choose_loo(s, j);
}

void job_close(job *j) {
    mercer_data_free(j->data);
    mercer_kernel_free(j->kernel);
    free(j->settings);
    free(j->landmarks);
    for (int i = 0; i < j->ranges; i++)
        free(j->range[i]);
    free(j->range);
}

int job_check_ridge(const session *s, const job *j, const char *const *known) {
    if (strcmp(j->machine->name, "ridge") != 0)
        return print_error(
            "%s is made for ridge, not for %s; 'mercer tune --folds K' measures others that have a target",
            s->args.verb->name, j->machine->name);
    for (int i = 0; i < s->args.count; i++) {
        bool fine = !s->args.given[i].setting;
        for (int k = 0; known[k]; k++)
            fine = fine || strcmp(option_text(s->args.given[i].name).bytes, known[k]) == 0;
        if (!fine)
            return print_error(
                "--%s has no meaning for %s; of the settings of ridge it takes those that 'mercer help %s' names",
                option_text(s->args.given[i].name).bytes, s->args.verb->name, s->args.verb->name);
    }
    return EXIT_DONE;
}

bool job_is_open(const session *s) {
    static const char *const words[] = {"kernel", "lambda",    "C",     "norm-bound", "dof",
                                        "solver", "landmarks", "start", "checkpoint"};
    bool nothing = true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        nothing = nothing && !args_text(&s->args, words[i]);
    return nothing;
}

/* Asked before a search, not after: of few rows not at all. */
bool job_has_memory(session *s, const job *j) {
    enum { FEW = 2000 };
    mercer_kernel *plain = NULL;
    mercer_plan plan = {.size = sizeof plan};
    if (mercer_data_rows(j->data) < FEW && mercer_data_stored(j->data) < 1000000 && mercer_data_classes(j->data) < 100)
        return true;
    mercer_status status = mercer_kernel_default(s->ctx, j->data, &plain);
    if (!status)
        status = mercer_plan_fit(s->ctx, j->machine->name, j->settings, plain, j->data, &plan);
    mercer_kernel_free(plain);
    return status || plan.chosen.possible;
}

int job_put_intercept(session *s, job *j, bool search) {
    const mercer_setting *row = setting_find(j->machine, "intercept");
    if (row && !args_text(&s->args, "intercept"))
        TRY_CTX(s, mercer_settings_put(s->ctx, j->settings, "intercept", search || row->initial != 0 ? "yes" : "no"));
    return EXIT_DONE;
}

bool job_flag(const job *j, const char *name) {
    const mercer_setting *row = setting_find(j->machine, name);
    return row && row->type == MERCER_FLAG && *((const bool *)j->settings + row->offset);
}
