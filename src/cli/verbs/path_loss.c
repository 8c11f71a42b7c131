/* path_loss.c: mercer path DATA -m logistic: one fit after the other for falling lambda, each from the last; shown with
   lambda as it was asked for. */
#include "cli/cli.h"
#include "cli/verbs/path.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct loss_path {
    fits fits;
    folding *by;
    mercer_path_row *row;
} loss_path;

static int compute(session *s, loss_path *p) {
    const fits *f = &p->fits;
    TRY(fits_open(s, &p->fits));
    if (p->by->asked)
        TRY(folding_make(s, f->job->data, p->by));
    p->row = session_take(s, f->range->count, 1, sizeof *p->row);
    if (!p->row)
        return EXIT_MEMORY;
    mercer_path path = mercer_path_defaults();
    path.values = f->value;
    path.count = f->range->count;
    path.test = f->test;
    path.fold = p->by->asked ? p->by->fold : NULL;
    const mercer_status status =
        mercer_fit_path(s->ctx, f->job->machine->name, f->job->settings, f->job->kernel, f->job->data, &path, p->row);
    return status ? session_fail_at(s, status, f->job->expression) : session_alive(s);
}

/* ---- Scores ---- */

/* What each machine is measured by: the name in JSON and the title of the column. */
static const struct measure {
    const char *machine, *name, *title;
} measures[] = {
    {"logistic", "accuracy", "correct"}, {"squared-hinge", "accuracy", "correct"},
    {"quantile", "pinball", "pinball"},  {"absolute", "mae", "MAE"},
    {"huber", "rmse", "RMSE"},
};

static const struct measure *measure_of(const loss_path *p) {
    const struct measure *m = measures;
    while (strcmp(m->machine, p->fits.job->machine->name) != 0)
        m++; /* path.c lets no other machine come here */
    return m;
}

/* What the best is chosen by, less being better: folds where there are some, and the log loss of what gives
   probabilities. */
static double criterion(const loss_path *p, const mercer_path_row *r) {
    const double score = p->by->asked ? r->fold : r->test,
                 log_loss = p->by->asked ? r->fold_log_loss : r->test_log_loss;
    return !isnan(log_loss) ? log_loss : p->fits.classes ? -score : score;
}

static int64_t best(const loss_path *p) {
    int64_t place = -1;
    for (int64_t k = 0; k < p->fits.range->count && (p->fits.test || p->by->asked); k++)
        if (place < 0 || criterion(p, &p->row[k]) < criterion(p, &p->row[place]))
            place = k;
    return place;
}

/* ---- Reports ---- */

static void put_score(json_t *object, const loss_path *p, const char *where, double score, double log_loss) {
    char key[40];
    snprintf(key, sizeof key, "%s_%s", where, measure_of(p)->name);
    json_put(object, key, json_value(score));
    snprintf(key, sizeof key, "%s_log_loss", where);
    if (!isnan(log_loss))
        json_put(object, key, json_value(log_loss));
}

static json_t *json_row(const loss_path *p, const mercer_path_row *r) {
    json_t *object = json_object();
    json_put(object, "lambda", json_value(r->value));
    json_put(object, "primal", json_value(r->primal));
    json_put(object, "dual", json_value(r->dual));
    json_put(object, "gap_relative", json_value(r->gap_relative));
    json_put(object, "distance", json_value(r->distance));
    json_put(object, "support_vectors", json_integer(r->support_vectors));
    json_put(object, "steps", json_integer(r->steps));
    json_put(object, "norm", json_value(r->norm));
    if (p->fits.test)
        put_score(object, p, "test", r->test, r->test_log_loss);
    if (p->by->asked)
        put_score(object, p, "fold", r->fold, r->fold_log_loss);
    json_put(object, "seconds", json_value(r->seconds));
    return object;
}

static int report_json(session *s, const loss_path *p) {
    json_t *rows = json_array();
    for (int64_t k = 0; k < p->fits.range->count; k++)
        json_array_append_new(rows, json_row(p, &p->row[k]));
    return fits_json(s, &p->fits, best(p), rows);
}

static void say_titles(session *s, const loss_path *p, const char *where, double log_loss) {
    char title[32];
    snprintf(title, sizeof title, "%s %s", where, measure_of(p)->title);
    say_text(s, " %13s%s", title, isnan(log_loss) ? "" : "   log loss");
}

static void say_score(session *s, const loss_path *p, double score, double log_loss) {
    say_text(s, p->fits.classes ? " %12.2f%%" : " %13.6g", p->fits.classes ? 100 * score : score);
    if (!isnan(log_loss))
        say_text(s, " %10.5f", log_loss);
}

static int report_people(session *s, const loss_path *p) {
    const int64_t place = best(p);
    if (!says(s))
        return EXIT_DONE;
    say_kernel(s, p->fits.job->kernel, "");
    say_data(s, p->fits.job->path, p->fits.job->data);
    say_text(s, "\n%12s %12s %9s %10s %10s", "lambda", "objective", "gap", "norm", "vectors");
    if (p->fits.test)
        say_titles(s, p, "test", p->row[0].test_log_loss);
    if (p->by->asked)
        say_titles(s, p, "fold", p->row[0].fold_log_loss);
    say_text(s, "\n");
    for (int64_t k = 0; k < p->fits.range->count; k++) {
        const mercer_path_row *r = &p->row[k];
        say_text(s, "%12.4g %12.6g %9.1e %10.5g %10lld", r->value, r->primal, r->gap_relative, r->norm,
                 (long long)r->support_vectors);
        if (p->fits.test)
            say_score(s, p, r->test, r->test_log_loss);
        if (p->by->asked)
            say_score(s, p, r->fold, r->fold_log_loss);
        say_text(s, "%s\n", k == place ? "  < best" : "");
    }
    fits_next(s, &p->fits, place);
    return EXIT_DONE;
}

int run_loss_path(session *s, const path_range *range, const job *j, folding *by) {
    loss_path p = {.fits = {.range = range, .job = j, .variable = "lambda"}, .by = by};
    int code = compute(s, &p);
    if (code == EXIT_DONE)
        code = s->json ? report_json(s, &p) : report_people(s, &p);
    fits_close(&p.fits);
    free(p.row);
    return code;
}
