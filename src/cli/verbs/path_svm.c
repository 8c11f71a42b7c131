/* path_svm.c: mercer path DATA -m svc: one fit after the other for rising C, each from the last. */
#include "cli/cli.h"
#include "cli/verbs/path.h"
#include <math.h>
#include <stdlib.h>

typedef struct svm_path {
    fits fits;
    mercer_path_row *row;
} svm_path;

static int compute(session *s, svm_path *p) {
    const fits *f = &p->fits;
    TRY(fits_open(s, &p->fits));
    p->row = session_take(s, f->range->count, 1, sizeof *p->row);
    if (!p->row)
        return EXIT_MEMORY;
    mercer_path path = mercer_path_defaults();
    path.values = f->value;
    path.count = f->range->count;
    path.test = f->test;
    const mercer_status status =
        mercer_fit_path(s->ctx, f->job->machine->name, f->job->settings, f->job->kernel, f->job->data, &path, p->row);
    return status ? session_fail_at(s, status, f->job->expression) : session_alive(s);
}

/* The best on the test rows; -1 without any. */
static int64_t best(const svm_path *p) {
    int64_t place = -1;
    for (int64_t k = 0; k < p->fits.range->count && p->fits.test; k++)
        if (place < 0 || (p->fits.classes ? p->row[k].test > p->row[place].test : p->row[k].test < p->row[place].test))
            place = k;
    return place;
}

static json_t *json_row(const svm_path *p, const mercer_path_row *r) {
    json_t *object = json_object();
    json_put(object, "C", json_value(r->value));
    json_put(object, "primal", json_value(r->primal));
    json_put(object, "dual", json_value(r->dual));
    json_put(object, "gap_relative", json_value(r->gap_relative));
    json_put(object, "kkt_violation", json_value(r->kkt_violation));
    json_put(object, "support_vectors", json_integer(r->support_vectors));
    json_put(object, "free_vectors", json_integer(r->free_vectors));
    json_put(object, "bounded_vectors", json_integer(r->bounded_vectors));
    json_put(object, "steps", json_integer(r->steps));
    json_put(object, "norm", json_value(r->norm));
    if (p->fits.test)
        json_put(object, p->fits.classes ? "test_accuracy" : "test_rmse", json_value(r->test));
    json_put(object, "seconds", json_value(r->seconds));
    return object;
}

static int report_json(session *s, const svm_path *p) {
    json_t *rows = json_array();
    for (int64_t k = 0; k < p->fits.range->count; k++)
        json_array_append_new(rows, json_row(p, &p->row[k]));
    return fits_json(s, &p->fits, best(p), rows);
}

static int report_people(session *s, const svm_path *p) {
    const int64_t place = best(p);
    if (!says(s))
        return EXIT_DONE;
    say_kernel(s, p->fits.job->kernel, "");
    say_data(s, p->fits.job->path, p->fits.job->data);
    say_text(s, "\n%12s %12s %12s %10s %10s %10s%s\n", "C", "objective", "gap", "vectors", "free", "bounded",
             !p->fits.test     ? ""
             : p->fits.classes ? "     correct"
                               : "   test RMSE");
    for (int64_t k = 0; k < p->fits.range->count; k++) {
        const mercer_path_row *r = &p->row[k];
        say_text(s, "%12.4g %12.6g %12.1e %10lld %10lld %10lld", r->value, r->primal, r->gap_relative,
                 (long long)r->support_vectors, (long long)r->free_vectors, (long long)r->bounded_vectors);
        if (p->fits.test)
            say_text(s, p->fits.classes ? " %10.2f%%" : " %11.6g", p->fits.classes ? 100 * r->test : r->test);
        say_text(s, "%s\n", k == place ? "  < best" : "");
    }
    fits_next(s, &p->fits, place);
    return EXIT_DONE;
}

int run_svm_path(session *s, const path_range *range, const job *j) {
    svm_path p = {.fits = {.range = range, .job = j, .variable = "C"}};
    int code = compute(s, &p);
    if (code == EXIT_DONE)
        code = s->json ? report_json(s, &p) : report_people(s, &p);
    fits_close(&p.fits);
    free(p.row);
    return code;
}
