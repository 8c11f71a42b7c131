/* path.c: mercer path DATA: what every lambda would give: leave-one-out error, GCV, degrees of freedom and norm, without fitting
   each. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option options[] = {
    {"from", 0, "LAMBDA", "the smallest lambda (default 1e-8)"},
    {"to", 0, "LAMBDA", "the largest (default 1e3)"},
    {"count", 0, "N", "how many, equally spaced on a logarithmic scale (default 50)"},
    {0},
};

typedef struct path {
    job job;
    double from, to;
    int64_t count;
    double *lambda;
    mercer_ridge_path_row *row;
} path;

static int read_range(session *s, path *p) {
    p->from = 1e-8;
    p->to = 1e3;
    p->count = 50;
    TRY(args_real(&s->args, "from", 1e-100, 1e100, &p->from));
    TRY(args_real(&s->args, "to", 1e-100, 1e100, &p->to));
    TRY(args_whole(&s->args, "count", 1, 1000000, &p->count));
    if (p->from > p->to)
        return complain("--from %g is above --to %g", p->from, p->to);
    return EXIT_DONE;
}

/* Of the settings of ridge only these mean something here. */
static int check_settings(const session *s, const path *p) {
    static const char *const known[] = {"intercept", "scale", "allow_indefinite", "allow-indefinite"};
    if (strcmp(p->job.machine->name, "ridge") != 0)
        return complain("path is made for ridge, not for %s", p->job.machine->name);
    for (int i = 0; i < s->args.count; i++) {
        bool fine = !s->args.given[i].setting;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            fine = fine || strcmp(known[k], s->args.given[i].name) == 0;
        if (!fine)
            return complain("--%s has no meaning for path, which compares values of lambda by one method",
                            option_text(s->args.given[i].name).bytes);
    }
    return EXIT_DONE;
}

static int compute(session *s, path *p) {
    TRY(check_settings(s, p));
    p->lambda = session_take(s, p->count, 1, sizeof *p->lambda);
    p->row = p->lambda ? session_take(s, p->count, 1, sizeof *p->row) : NULL;
    if (!p->row)
        return EXIT_MEMORY;
    const double low = log(p->from), step = p->count > 1 ? (log(p->to) - low) / (double)(p->count - 1) : 0;
    for (int64_t l = 0; l < p->count; l++)
        p->lambda[l] = l == 0 ? p->from : l == p->count - 1 ? p->to : exp(low + step * (double)l);
    const mercer_status status =
        mercer_ridge_path(s->ctx, p->job.kernel, p->job.data, p->job.settings, p->lambda, p->count, p->row);
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

static json_t *json_row(const mercer_ridge_path_row *r) {
    json_t *object = json_object();
    json_put(object, "lambda", json_value(r->lambda));
    json_put(object, "loo_rmse", json_value(r->loo_rmse));
    json_put(object, "gcv", json_value(r->gcv));
    json_put(object, "dof", json_value(r->dof));
    json_put(object, "norm", json_value(r->norm));
    json_put(object, "objective", json_value(r->objective));
    return object;
}

static void put_best(json_t *object, const char *key, const path *p, int64_t place) {
    json_put(object, key, place < 0 ? json_null() : json_value(p->lambda[place]));
}

static int report_json(session *s, const path *p, int64_t loo, int64_t gcv) {
    json_t *object = json_object(), *rows = json_array();
    for (int64_t l = 0; l < p->count; l++)
        json_array_append_new(rows, json_row(&p->row[l]));
    json_put(object, "kernel", json_text(mercer_kernel_text(p->job.kernel)));
    json_put(object, "n", json_integer(mercer_data_rows(p->job.data)));
    put_best(object, "best_lambda", p, loo);
    put_best(object, "best_lambda_gcv", p, gcv);
    json_put(object, "rows", rows);
    return json_finish(s, object);
}

static const char *mark(int64_t l, int64_t loo, int64_t gcv) {
    return l == loo && l == gcv ? "  < least LOO RMSE and GCV"
           : l == loo           ? "  < least LOO RMSE"
           : l == gcv           ? "  < least GCV"
                                : "";
}

static int report_people(session *s, const path *p, int64_t loo, int64_t gcv) {
    if (!says(s))
        return EXIT_DONE;
    say_kernel(s, p->job.kernel, "");
    say_data(s, p->job.path, p->job.data);
    say_text(s, "\n%12s %12s %12s %12s %12s\n", "lambda", "LOO RMSE", "GCV", "dof", "norm");
    for (int64_t l = 0; l < p->count; l++) {
        const mercer_ridge_path_row *r = &p->row[l];
        say_text(s, "%12.4g %12.6g %12.6g %12.6g %12.6g%s\n", r->lambda, r->loo_rmse, r->gcv, r->dof, r->norm,
                 mark(l, loo, gcv));
    }
    if (loo >= 0) {
        const bool edge = p->count > 1 && (loo == 0 || loo == p->count - 1);
        say_text(s, "\n");
        say(s, "next",
            edge ? "the least error is at the end of the range: widen it with %s" : "mercer fit %s --lambda %.4g",
            edge ? loo == 0 ? "--from" : "--to" : p->job.path, p->lambda[loo]);
    }
    return EXIT_DONE;
}

static int run_path(session *s) {
    path p = {0};
    int code = read_range(s, &p);
    if (code == EXIT_DONE)
        code = job_open(s, &p.job);
    if (code == EXIT_DONE)
        code = compute(s, &p);
    if (code == EXIT_DONE) {
        const int64_t loo = best(&p, offsetof(mercer_ridge_path_row, loo_rmse)),
                      gcv = best(&p, offsetof(mercer_ridge_path_row, gcv));
        code = s->json ? report_json(s, &p, loo, gcv) : report_people(s, &p, loo, gcv);
    }
    free(p.lambda);
    free(p.row);
    job_close(&p.job);
    return code;
}

const verb verb_path = {
    .name = "path",
    .summary = "compare values of lambda by the exact error on rows left out; fits none of them",
    .usage = "DATA [-k KERNEL] [--from LAMBDA] [--to LAMBDA] [--count N] [options]",
    .notes = "One eigendecomposition gives, for every lambda of a range: the root mean square error on rows left out "
             "one by one, generalised\n"
             "cross-validation, the effective degrees of freedom and the norm of the function. Of the settings of "
             "ridge it takes --intercept,\n"
             "--scale and --allow-indefinite.\n\n"
             "  mercer path houses.csv -k 'rbf(sigma=2)' --intercept\n"
             "  mercer path houses.csv --from 1e-4 --to 10 --count 200 --json",
    .least = 1,
    .most = 1,
    .tables = {options, job_options, data_options, common_options},
    .machine = true,
    .computes = true,
    .run = run_path,
};
