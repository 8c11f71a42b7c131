/* path_svm.c: mercer path DATA -m svc: one fit after the other for rising C, each from the last. */
#include "cli.h"
#include "path.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct svm_path {
    const path_range *range;
    const job *job;
    double *C;
    mercer_svm_path_row *row;
    mercer_data *test;
    bool classes;
} svm_path;

static int compute(session *s, svm_path *p) {
    const char *file = args_text(&s->args, "test");
    if (file)
        TRY(input_data(s, NULL, file, NULL, p->classes ? MERCER_TARGET_CLASS : MERCER_TARGET_NUMBER, &p->test));
    p->C = session_take(s, p->range->count, 1, sizeof *p->C);
    p->row = p->C ? session_take(s, p->range->count, 1, sizeof *p->row) : NULL;
    if (!p->row)
        return EXIT_MEMORY;
    path_values(p->range, p->C);
    const mercer_status status = mercer_svm_path(s->ctx, p->job->machine->name, p->job->kernel, p->job->data, p->job->settings, p->C,
                                                 p->range->count, p->test, p->row);
    return status ? session_fail_at(s, status, p->job->expression) : session_alive(s);
}

/* The best on the test rows; -1 without any. */
static int64_t best(const svm_path *p) {
    int64_t place = -1;
    for (int64_t k = 0; k < p->range->count && p->test; k++)
        if (place < 0 || (p->classes ? p->row[k].test > p->row[place].test : p->row[k].test < p->row[place].test))
            place = k;
    return place;
}

static json_t *json_row(const svm_path *p, const mercer_svm_path_row *r) {
    json_t *object = json_object();
    json_put(object, "C", json_value(r->C));
    json_put(object, "primal", json_value(r->primal));
    json_put(object, "dual", json_value(r->dual));
    json_put(object, "gap_relative", json_value(r->gap_relative));
    json_put(object, "kkt_violation", json_value(r->kkt_violation));
    json_put(object, "support_vectors", json_integer(r->support_vectors));
    json_put(object, "free_vectors", json_integer(r->free_vectors));
    json_put(object, "bounded_vectors", json_integer(r->bounded_vectors));
    json_put(object, "steps", json_integer(r->steps));
    json_put(object, "norm", json_value(r->norm));
    if (p->test)
        json_put(object, p->classes ? "test_accuracy" : "test_rmse", json_value(r->test));
    json_put(object, "seconds", json_value(r->seconds));
    return object;
}

static int report_json(session *s, const svm_path *p) {
    json_t *object = json_object(), *rows = json_array();
    for (int64_t k = 0; k < p->range->count; k++)
        json_array_append_new(rows, json_row(p, &p->row[k]));
    json_put(object, "machine", json_text(p->job->machine->name));
    json_put(object, "kernel", json_text(mercer_kernel_text(p->job->kernel)));
    json_put(object, "n", json_integer(mercer_data_rows(p->job->data)));
    json_put(object, "best_C", best(p) < 0 ? json_null() : json_value(p->C[best(p)]));
    json_put(object, "rows", rows);
    return json_finish(s, object);
}

static int report_people(session *s, const svm_path *p) {
    const int64_t place = best(p);
    if (!says(s))
        return EXIT_DONE;
    say_kernel(s, p->job->kernel, "");
    say_data(s, p->job->path, p->job->data);
    say_text(s, "\n%12s %12s %12s %10s %10s %10s%s\n", "C", "objective", "gap", "vectors", "free", "bounded",
             !p->test ? "" : p->classes ? "     correct" : "   test RMSE");
    for (int64_t k = 0; k < p->range->count; k++) {
        const mercer_svm_path_row *r = &p->row[k];
        say_text(s, "%12.4g %12.6g %12.1e %10lld %10lld %10lld", r->C, r->primal, r->gap_relative, (long long)r->support_vectors,
                 (long long)r->free_vectors, (long long)r->bounded_vectors);
        if (p->test)
            say_text(s, p->classes ? " %10.2f%%" : " %11.6g", p->classes ? 100 * r->test : r->test);
        say_text(s, "%s\n", k == place ? "  < best" : "");
    }
    if (place >= 0)
        path_next(s, p->job, "C", p->C[place]);
    return EXIT_DONE;
}

int run_svm_path(session *s, const path_range *range, const job *j) {
    svm_path p = {.range = range, .job = j, .classes = strcmp(j->machine->name, "svc") == 0};
    int code = compute(s, &p);
    if (code == EXIT_DONE)
        code = s->json ? report_json(s, &p) : report_people(s, &p);
    mercer_data_free(p.test);
    free(p.C);
    free(p.row);
    return code;
}
