/* tune_report.c: what a search found. One object, printed as it is for programs; for people its sentences and the best
   candidates. */
#include "cli/verbs/tune_verb.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The object ---- */

static json_t *json_chosen(const mercer_candidate *c) {
    json_t *chosen = json_object();
    json_put(chosen, "kernel", json_text(c->kernel));
    json_put(chosen, "settings", json_text(c->settings));
    json_put(chosen, "score", json_value(c->score));
    json_put(chosen, "standard_error", json_value(c->error));
    json_put(chosen, "rows", json_integer(c->rows));
    return chosen;
}

static json_t *json_seconds(const session *s, const tuning *t) {
    json_t *seconds = json_object();
    json_put(seconds, "read", json_value(t->job.read_seconds));
    json_put(seconds, "search", json_value(t->seconds));
    json_put(seconds, "fit", json_value(mercer_model_report(t->model)->seconds));
    json_put(seconds, "total", json_value(clock_now() - s->began));
    return seconds;
}

static json_t *json_tuning(session *s, const tuning *t) {
    const mercer_tune_report *r = mercer_search_report(t->search);
    const mercer_candidate chosen = mercer_search_candidate(t->search, r->best);
    json_t *object = json_loads(mercer_search_json(t->search), 0, NULL);
    if (!object)
        return NULL;
    if (strcmp(r->stopped, "no") != 0 && s->time_limit > 0) /* the command watches the clock of the whole run itself */
        json_put(object, "stopped", json_text("time"));
    json_put(object, "machine_reason", json_text(t->job.chosen));
    json_put(object, "n", json_integer(mercer_data_rows(t->job.data)));
    json_put(object, "chosen", json_chosen(&chosen));
    json_put(object, "seconds", json_seconds(s, t));
    json_put(object, "resumed", json_integer(r->resumed));
    json_put(object, "journal", json_text(t->set.journal));
    json_put(object, "memory_peak_bytes", json_integer((json_int_t)mercer_memory_peak(s->ctx)));
    json_put(object, "fit", json_report(t->model));
    json_put(object, "model", json_text(t->path));
    return object;
}

/* ---- Candidates by score ---- */

typedef struct ranked {
    size_t i;
    double loss; /* infinite: not measured */
    double rows;
} ranked;

static int by_loss(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    return x->loss < y->loss ? -1 : x->loss > y->loss ? 1 : x->i < y->i ? -1 : 1;
}

static ranked *rank_candidates(session *s, const json_t *object) {
    const json_t *candidates = json_object_get(object, "candidates");
    const size_t count = json_array_size(candidates);
    const double sign = json_is_true(json_object_get(object, "larger_is_better")) ? -1 : 1;
    ranked *list = session_take(s, (int64_t)count, 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        const json_t *c = json_array_get(candidates, i);
        const double score = json_number_in(c, "score");
        list[i] = (ranked){i, isnan(score) ? INFINITY : sign * score, json_number_in(c, "rows")};
    }
    if (list)
        qsort(list, count, sizeof *list, by_loss);
    return list;
}

/* ---- For people ---- */

static text text_score(const json_t *candidate) {
    const double score = json_number_in(candidate, "score"), error = json_number_in(candidate, "standard_error");
    text t;
    if (isnan(error))
        snprintf(t.bytes, sizeof t.bytes, "%.5g", score);
    else
        snprintf(t.bytes, sizeof t.bytes, "%.5g +- %.2g", score, error);
    return t;
}

static void say_candidate(session *s, const json_t *object, const json_t *c, double place) {
    const char *settings = json_string_value(json_object_get(c, "settings"));
    const double rows = json_number_in(c, "rows");
    say_text(s, "%22s  %s%s%s", text_score(c).bytes, json_string_value(json_object_get(c, "kernel")),
             *settings ? ", " : "", settings);
    if (rows < json_number_in(object, "n"))
        say_text(s, "  (%.0f rows)", rows);
    say_text(s, "%s\n",
             place == json_number_in(object, "best")    ? "  < chosen"
             : place == json_number_in(object, "first") ? "  < best"
                                                        : "");
}

static void say_candidates(session *s, const json_t *object, const ranked *list, size_t top) {
    const json_t *candidates = json_object_get(object, "candidates");
    const size_t count = json_array_size(candidates);
    say_text(s, "\n%22s  %s\n", json_string_value(json_object_get(object, "score")), "candidate");
    for (size_t k = 0; k < count && k < top && isfinite(list[k].loss); k++)
        say_candidate(s, object, json_array_get(candidates, list[k].i), (double)list[k].i);
    if (count > top)
        say_text(s, "%22s  %zu more\n", "...", count - top);
    say_text(s, "\n");
}

static const report_row machine_rows[] = {
    {"machine", NULL, "{machine}[ ({machine_reason})]"},
    {0},
};

static const report_row measured_rows[] = {
    {"measured", "halved measured<count",
     "{measured} of {count} candidates by {score} on {splits}, the others on fewer rows"},
    {"measured", "!halved", "{measured} of {count} candidates by {score} on {splits}"},
    {"measured", "halved !measured<count", "{measured} of {count} candidates by {score} on {splits}"},
    {"rows", "chosen.rows<n", "{chosen.rows} of the {n}: the time was short"},
    {"resumed", "0<resumed", "{resumed} measurements are from {journal}"},
    {0},
};

static const report_row chosen_rows[] = {
    {"chosen", "chosen.settings!=",
     "{chosen.kernel}, {chosen.settings}: {score} {chosen.score:.5g}[ +- {chosen.standard_error:.2g}]"},
    {"chosen", "chosen.settings=", "{chosen.kernel}: {score} {chosen.score:.5g}[ +- {chosen.standard_error:.2g}]"},
    {"certainty", "chosen.standard_error",
     "{within_one_error} of {measured} measured are within one standard error of the best; it stays first in "
     "{share_of_draws:%.0f} of bootstrap resamples of the folds"},
    {0},
};

static const report_row last_rows[] = {
    {"stopped", "stopped=time", "early by the time limit: this is the best so far"},
    {"stopped", "stopped!=no stopped!=time", "early by the user: this is the best so far"},
    {"time", NULL,
     "{seconds.search:time} for the search, {seconds.fit:time} for the fit to all rows; {memory_peak_bytes:size} of "
     "memory"},
    {0},
};

static int say_tuning(session *s, const tuning *t, const json_t *object) {
    int64_t top = 10;
    TRY(args_whole(&s->args, "top", 0, 1000000, &top));
    if (!prints_report(s))
        return EXIT_DONE;
    ranked *list = rank_candidates(s, object);
    if (!list)
        return EXIT_MEMORY;
    say_fields(s, object, machine_rows);
    say_data(s, t->job.path, t->job.data);
    say_fields(s, object, measured_rows);
    say_candidates(s, object, list, (size_t)top);
    free(list);
    say_fields(s, object, chosen_rows);
    say_report(s, json_object_get(object, "fit"));
    say_fields(s, object, last_rows);
    if (strcmp(t->path, "-") == 0)
        return EXIT_DONE;
    say_fact(s, "model", "%s", t->path);
    say_fact(s, "next", "%s", advise_file("predict", t->path, "NEW_DATA").bytes);
    return EXIT_DONE;
}

int report_tuning(session *s, const tuning *t) {
    json_t *object = json_tuning(s, t);
    const int code = !object ? session_fail(s, MERCER_MEMORY) : say_tuning(s, t, object);
    if (!code)
        return json_finish(s, object);
    json_decref(object);
    return code;
}
