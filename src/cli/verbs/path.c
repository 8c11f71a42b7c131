/* path.c: mercer path DATA: what every lambda would give: leave-one-out error, GCV, degrees of freedom and norm,
   without fitting each. */
#include "cli/cli.h"
#include "cli/verbs/path.h"
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

/* Which way a machine goes. */
typedef enum family { RIDGE, SVM, LOSS, NO_FAMILY } family;
static const struct {
    const char *machine;
    family family;
} families[] = {{"ridge", RIDGE},        {"svc", SVM},    {"svr", SVM},       {"logistic", LOSS},
                {"squared-hinge", LOSS}, {"huber", LOSS}, {"quantile", LOSS}, {"absolute", LOSS}};
static const path_range usual[] = {{1e-8, 1e3, 50, NULL}, {1e-2, 1e2, 9, NULL}, {1e-2, 1e2, 9, NULL}};
static const char *const variable[] = {"lambdas", "C", "lambdas"};

static family family_of(const char *machine) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].machine, machine) == 0)
            return families[i].family;
    return NO_FAMILY;
}

typedef struct path {
    job job;
    folding by;
    path_range range;
    int64_t count;
    double *lambda;
    mercer_path_row *row;
} path;

/* How many numbers the list has; a message where one of them is none. */
static int read_list(session *s, const char *name, path_range *r) {
    static const char *const instead[] = {"from", "to", "count"};
    for (int i = 0; i < 3; i++)
        if (args_text(&s->args, instead[i]))
            return complain("--%s lists the values and --%s makes them up; give one of the two", name, instead[i]);
    r->count = 0;
    for (const char *p = r->list;; p++) {
        char *end = NULL;
        const double value = strtod(p, &end);
        if (end == p || (*end && *end != ',') || !(value > 0 && isfinite(value)))
            return complain("--%s must be positive numbers with commas between, got '%s'", name, r->list);
        r->count++;
        if (!*end)
            return EXIT_DONE;
        p = end;
    }
}

static int read_range(session *s, family of, path_range *r) {
    *r = usual[of];
    r->list = args_text(&s->args, variable[of]);
    if (args_text(&s->args, of == SVM ? "lambdas" : "C"))
        return complain(of == SVM ? "--lambdas is for machines with a lambda; svc and svr have --C"
                                  : "--C is for -m svc and -m svr; this machine has --lambdas, --from and --to");
    if (r->list)
        return read_list(s, variable[of], r);
    TRY(args_real(&s->args, "from", 1e-100, 1e100, &r->from));
    TRY(args_real(&s->args, "to", 1e-100, 1e100, &r->to));
    TRY(args_whole(&s->args, "count", 1, 1000000, &r->count));
    if (r->from > r->to)
        return complain("--from %g is above --to %g", r->from, r->to);
    return EXIT_DONE;
}

void path_values(const path_range *r, double *out) {
    char *at = (char *)(uintptr_t)r->list;
    for (int64_t l = 0; at && l < r->count; l++)
        out[l] = strtod(l ? at + 1 : at, &at);
    if (r->list)
        return;
    const double low = log(r->from), step = r->count > 1 ? (log(r->to) - low) / (double)(r->count - 1) : 0;
    for (int64_t l = 0; l < r->count; l++)
        out[l] = l == 0 ? r->from : l == r->count - 1 ? r->to : exp(low + step * (double)l);
}

static int compute(session *s, path *p) {
    static const char *const known[] = {"intercept", "scale", "allow-indefinite", NULL};
    TRY(job_check_ridge(s, &p->job, known));
    if (p->by.asked)
        TRY(folding_make(s, p->job.data, &p->by));
    p->lambda = session_take(s, p->count, 1, sizeof *p->lambda);
    p->row = p->lambda ? session_take(s, p->count, 1, sizeof *p->row) : NULL;
    if (!p->row)
        return EXIT_MEMORY;
    path_values(&p->range, p->lambda);
    mercer_path set = mercer_path_defaults();
    set.values = p->lambda;
    set.count = p->count;
    set.fold = p->by.asked ? p->by.fold : NULL;
    const mercer_status status =
        mercer_fit_path(s->ctx, "ridge", p->job.settings, p->job.kernel, p->job.data, &set, p->row);
    return status ? session_fail_at(s, status, p->job.expression) : session_alive(s);
}

/* The row with the least value in a column given by its offset; -1 when none has one. */
static int64_t best(const path *p, size_t offset) {
    int64_t place = -1;
    double least = INFINITY;
    for (int64_t l = 0; l < p->count; l++) {
        const double value = *(const double *)(const void *)((const char *)&p->row[l] + offset);
        if (value < least) {
            least = value;
            place = l;
        }
    }
    return place;
}

/* Which rows are best by which criterion: -1 where there is none. */
typedef struct choices {
    int64_t loo, folds, gcv;
} choices;

static choices choose(const path *p) {
    return (choices){.loo = best(p, offsetof(mercer_path_row, loo_rmse)),
                     .folds = best(p, offsetof(mercer_path_row, fold)),
                     .gcv = best(p, offsetof(mercer_path_row, gcv))};
}

static json_t *json_row(const path *p, const mercer_path_row *r) {
    json_t *object = json_object();
    json_put(object, "lambda", json_value(r->value));
    json_put(object, "loo_rmse", json_value(r->loo_rmse));
    if (p->by.asked)
        json_put(object, "fold_rmse", json_value(r->fold));
    json_put(object, "gcv", json_value(r->gcv));
    json_put(object, "dof", json_value(r->dof));
    json_put(object, "norm", json_value(r->norm));
    json_put(object, "objective", json_value(r->objective));
    return object;
}

static void put_best(json_t *object, const char *key, const path *p, int64_t place) {
    json_put(object, key, place < 0 ? json_null() : json_value(p->lambda[place]));
}

static int report_json(session *s, const path *p, choices c) {
    json_t *object = json_object(), *rows = json_array();
    for (int64_t l = 0; l < p->count; l++)
        json_array_append_new(rows, json_row(p, &p->row[l]));
    json_put(object, "kernel", json_text(mercer_kernel_text(p->job.kernel)));
    json_put(object, "n", json_integer(mercer_data_rows(p->job.data)));
    put_best(object, "best_lambda", p, c.loo);
    if (p->by.asked)
        put_best(object, "best_lambda_folds", p, c.folds);
    put_best(object, "best_lambda_gcv", p, c.gcv);
    json_put(object, "rows", rows);
    return json_finish(s, object);
}

/* "  < least LOO RMSE and GCV" */
static void mark(int64_t l, choices c, char *bytes, size_t size) {
    const int64_t at[] = {c.loo, c.folds, c.gcv};
    static const char *const names[] = {"LOO RMSE", "fold RMSE", "GCV"};
    bytes[0] = '\0';
    for (int i = 0; i < 3; i++)
        if (at[i] == l)
            snprintf(bytes + strlen(bytes), size - strlen(bytes), "%s%s", *bytes ? " and " : "  < least ", names[i]);
}

static void say_rows(session *s, const path *p, choices c) {
    char remark_text[64];
    say_text(s, "\n%12s %12s%s %12s %12s %12s\n", "lambda", "LOO RMSE", p->by.asked ? "    fold RMSE" : "", "GCV",
             "dof", "norm");
    for (int64_t l = 0; l < p->count; l++) {
        const mercer_path_row *r = &p->row[l];
        say_text(s, "%12.4g %12.6g", r->value, r->loo_rmse);
        if (p->by.asked)
            say_text(s, " %12.6g", r->fold);
        mark(l, c, remark_text, sizeof remark_text);
        say_text(s, " %12.6g %12.6g %12.6g%s\n", r->gcv, r->dof, r->norm, remark_text);
    }
}

/* The fit at this value, with everything else as it was here. */
static void say_fit(session *s, const job *j, const char *setting, double value) {
    static const char *const except[] = {"lambda", "C", NULL};
    char name[32], number[32];
    advice a = advise(s, &verb_fit, j->machine, except);
    snprintf(name, sizeof name, "--%s", setting);
    snprintf(number, sizeof number, "%.4g", value);
    advice_add(&a, name);
    advice_add(&a, number);
    say(s, "next", "%s", a.bytes);
}

static int report_people(session *s, const path *p, choices c) {
    if (!says(s))
        return EXIT_DONE;
    const int64_t place = p->by.asked ? c.folds : c.loo;
    say_kernel(s, p->job.kernel, "");
    say_data(s, p->job.path, p->job.data);
    if (p->by.asked)
        say(s, "folds", "%lld%s%s", (long long)p->by.count, p->by.groups ? ", groups kept together by " : "",
            p->by.groups ? p->by.groups : "");
    say_rows(s, p, c);
    if (place >= 0) {
        const bool edge = p->count > 1 && (place == 0 || place == p->count - 1);
        say_text(s, "\n");
        if (edge)
            say(s, "next", "the least error is at the end of the range: widen it with %s",
                p->range.list ? "--lambdas"
                : place == 0  ? "--from"
                              : "--to");
        else
            say_fit(s, &p->job, "lambda", p->lambda[place]);
    }
    return EXIT_DONE;
}

static int run_ridge_path(session *s, path *p) {
    if (args_text(&s->args, "test"))
        return complain("--test is not for ridge, which has the leave-one-out error");
    const int code = compute(s, p);
    return code != EXIT_DONE ? code : s->json ? report_json(s, p, choose(p)) : report_people(s, p, choose(p));
}

/* ---- What paths of fits share ---- */

int fits_open(session *s, fits *f) {
    const char *file = args_text(&s->args, "test");
    f->classes = f->job->machine->target == MERCER_TARGET_CLASS;
    if (file)
        TRY(input_data(s, NULL, file, NULL, f->job->machine->target, &f->test));
    f->value = session_take(s, f->range->count, 1, sizeof *f->value);
    if (!f->value)
        return EXIT_MEMORY;
    path_values(f->range, f->value);
    return EXIT_DONE;
}

void fits_close(fits *f) {
    mercer_data_free(f->test);
    free(f->value);
}

int fits_json(session *s, const fits *f, int64_t best, json_t *rows) {
    char key[40];
    json_t *object = json_object();
    snprintf(key, sizeof key, "best_%s", f->variable);
    json_put(object, "machine", json_text(f->job->machine->name));
    json_put(object, "kernel", json_text(mercer_kernel_text(f->job->kernel)));
    json_put(object, "n", json_integer(mercer_data_rows(f->job->data)));
    json_put(object, key, best < 0 ? json_null() : json_value(f->value[best]));
    json_put(object, "rows", rows);
    return json_finish(s, object);
}

void fits_next(session *s, const fits *f, int64_t best) {
    if (best < 0)
        return;
    say_text(s, "\n");
    say_fit(s, f->job, f->variable, f->value[best]);
}

static int run_path(session *s) {
    const char *asked = args_text(&s->args, "machine"), *machine = asked ? asked : "ridge";
    const family of = family_of(machine);
    if (of == NO_FAMILY)
        return complain(
            "path: ridge, svc, svr, logistic, squared-hinge, huber, quantile and absolute have a path, '%s' has none",
            machine);
    path p = {.job.machine = mercer_machine_find(machine)};
    int code = read_range(s, of, &p.range);
    p.count = p.range.count;
    if (code == EXIT_DONE)
        code = folding_read(s, &p.by);
    if (code == EXIT_DONE && of == SVM && p.by.asked)
        code = complain("--folds and --groups are for machines with a lambda; give %s rows to measure on with --test",
                        machine);
    if (code == EXIT_DONE)
        code = job_open(s, &p.job);
    if (code == EXIT_DONE)
        code = of == SVM    ? run_svm_path(s, &p.range, &p.job)
               : of == LOSS ? run_loss_path(s, &p.range, &p.job, &p.by)
                            : run_ridge_path(s, &p);
    free(p.lambda);
    free(p.row);
    folding_close(&p.by);
    job_close(&p.job);
    return code;
}

const verb verb_path = {
    .name = "path",
    .summary = "compare values of lambda by the leave-one-out error, or of C of svc and svr",
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
             "values, each with "
             "its\n"
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
