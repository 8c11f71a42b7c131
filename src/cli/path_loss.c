/* path_loss.c: mercer path DATA -m logistic: one fit after the other for falling lambda, each from the last; shown with lambda as it was
   asked for. */
#include "cli.h"
#include "path.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct loss_path {
    const path_range *range;
    const job *job;
    folding *by;
    double *lambda;
    mercer_loss_path_row *row;
    mercer_data *test;
    bool classes;
} loss_path;

static int compute(session *s, loss_path *p) {
    const char *file = args_text(&s->args, "test");
    if (file)
        TRY(input_data(s, NULL, file, NULL, p->classes ? MERCER_TARGET_CLASS : MERCER_TARGET_NUMBER, &p->test));
    if (p->by->asked)
        TRY(folding_make(s, p->job->data, p->by));
    p->lambda = session_take(s, p->range->count, 1, sizeof *p->lambda);
    p->row = p->lambda ? session_take(s, p->range->count, 1, sizeof *p->row) : NULL;
    if (!p->row)
        return EXIT_MEMORY;
    path_values(p->range, p->lambda);
    const mercer_status status = mercer_loss_path(s->ctx, p->job->machine->name, p->job->kernel, p->job->data, p->job->settings, p->lambda,
                                                  p->range->count, p->test, p->by->asked ? p->by->fold : NULL, p->row);
    return status ? session_fail_at(s, status, p->job->expression) : session_alive(s);
}

/* ---- Scores ---- */

static const char *score_name(const loss_path *p) {
    const char *name = p->job->machine->name;
    return p->classes ? "accuracy" : strcmp(name, "quantile") == 0 ? "pinball" : strcmp(name, "absolute") == 0 ? "mae" : "rmse";
}

static const char *score_title(const loss_path *p) {
    const char *name = p->job->machine->name;
    return p->classes ? "correct" : strcmp(name, "quantile") == 0 ? "pinball" : strcmp(name, "absolute") == 0 ? "MAE" : "RMSE";
}

/* What the best is chosen by, less being better: folds where there are some, and the log loss of what gives probabilities. */
static double criterion(const loss_path *p, const mercer_loss_path_row *r) {
    const double score = p->by->asked ? r->fold : r->test, log_loss = p->by->asked ? r->fold_log_loss : r->test_log_loss;
    return !isnan(log_loss) ? log_loss : p->classes ? -score : score;
}

static int64_t best(const loss_path *p) {
    int64_t place = -1;
    for (int64_t k = 0; k < p->range->count && (p->test || p->by->asked); k++)
        if (place < 0 || criterion(p, &p->row[k]) < criterion(p, &p->row[place]))
            place = k;
    return place;
}

/* ---- Reports ---- */

static void put_score(json_t *object, const loss_path *p, const char *where, double score, double log_loss) {
    char key[40];
    snprintf(key, sizeof key, "%s_%s", where, score_name(p));
    json_put(object, key, json_value(score));
    snprintf(key, sizeof key, "%s_log_loss", where);
    if (!isnan(log_loss))
        json_put(object, key, json_value(log_loss));
}

static json_t *json_row(const loss_path *p, const mercer_loss_path_row *r) {
    json_t *object = json_object();
    json_put(object, "lambda", json_value(r->lambda));
    json_put(object, "primal", json_value(r->primal));
    json_put(object, "dual", json_value(r->dual));
    json_put(object, "gap_relative", json_value(r->gap_relative));
    json_put(object, "distance", json_value(r->distance));
    json_put(object, "support_vectors", json_integer(r->support_vectors));
    json_put(object, "steps", json_integer(r->steps));
    json_put(object, "norm", json_value(r->norm));
    if (p->test)
        put_score(object, p, "test", r->test, r->test_log_loss);
    if (p->by->asked)
        put_score(object, p, "fold", r->fold, r->fold_log_loss);
    json_put(object, "seconds", json_value(r->seconds));
    return object;
}

static int report_json(session *s, const loss_path *p) {
    json_t *object = json_object(), *rows = json_array();
    for (int64_t k = 0; k < p->range->count; k++)
        json_array_append_new(rows, json_row(p, &p->row[k]));
    json_put(object, "machine", json_text(p->job->machine->name));
    json_put(object, "kernel", json_text(mercer_kernel_text(p->job->kernel)));
    json_put(object, "n", json_integer(mercer_data_rows(p->job->data)));
    json_put(object, "best_lambda", best(p) < 0 ? json_null() : json_value(p->lambda[best(p)]));
    json_put(object, "rows", rows);
    return json_finish(s, object);
}

static void say_titles(session *s, const loss_path *p, const char *where, double log_loss) {
    char title[32];
    snprintf(title, sizeof title, "%s %s", where, score_title(p));
    say_text(s, " %13s%s", title, isnan(log_loss) ? "" : "   log loss");
}

static void say_score(session *s, const loss_path *p, double score, double log_loss) {
    say_text(s, p->classes ? " %12.2f%%" : " %13.6g", p->classes ? 100 * score : score);
    if (!isnan(log_loss))
        say_text(s, " %10.5f", log_loss);
}

static int report_people(session *s, const loss_path *p) {
    const int64_t place = best(p);
    if (!says(s))
        return EXIT_DONE;
    say_kernel(s, p->job->kernel, "");
    say_data(s, p->job->path, p->job->data);
    say_text(s, "\n%12s %12s %9s %10s %10s", "lambda", "objective", "gap", "norm", "vectors");
    if (p->test)
        say_titles(s, p, "test", p->row[0].test_log_loss);
    if (p->by->asked)
        say_titles(s, p, "fold", p->row[0].fold_log_loss);
    say_text(s, "\n");
    for (int64_t k = 0; k < p->range->count; k++) {
        const mercer_loss_path_row *r = &p->row[k];
        say_text(s, "%12.4g %12.6g %9.1e %10.5g %10lld", r->lambda, r->primal, r->gap_relative, r->norm, (long long)r->support_vectors);
        if (p->test)
            say_score(s, p, r->test, r->test_log_loss);
        if (p->by->asked)
            say_score(s, p, r->fold, r->fold_log_loss);
        say_text(s, "%s\n", k == place ? "  < best" : "");
    }
    if (place >= 0)
        path_next(s, p->job, "lambda", p->lambda[place]);
    return EXIT_DONE;
}

int run_loss_path(session *s, const path_range *range, const job *j, folding *by) {
    loss_path p = {.range = range, .job = j, .by = by};
    p.classes = strcmp(j->machine->name, "logistic") == 0 || strcmp(j->machine->name, "squared-hinge") == 0;
    int code = compute(s, &p);
    if (code == EXIT_DONE)
        code = s->json ? report_json(s, &p) : report_people(s, &p);
    mercer_data_free(p.test);
    free(p.lambda);
    free(p.row);
    return code;
}
