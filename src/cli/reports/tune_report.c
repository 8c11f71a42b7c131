/* tune_report.c: what a search found, for people and for programs. */
#include "cli/verbs/tune_verb.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Candidates by score ---- */

typedef struct ranked {
    int64_t i;
    double loss; /* infinite: not measured */
    int64_t rows;
} ranked;

static int by_loss(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    return x->loss < y->loss ? -1 : x->loss > y->loss ? 1 : x->i < y->i ? -1 : 1;
}

static ranked *rank_candidates(session *s, const mercer_search *search) {
    const int64_t count = mercer_search_count(search);
    const bool larger = mercer_search_result(search)->larger_is_better;
    ranked *list = session_take(s, count, 1, sizeof *list);
    for (int64_t i = 0; list && i < count; i++) {
        const mercer_candidate c = mercer_search_candidate(search, i);
        list[i] = (ranked){i, isnan(c.score) ? INFINITY : larger ? -c.score : c.score, c.rows};
    }
    if (list)
        qsort(list, (size_t)count, sizeof *list, by_loss);
    return list;
}

/* ---- For people ---- */

static text text_score(double score, double error) {
    text t;
    if (isnan(error))
        snprintf(t.bytes, sizeof t.bytes, "%.5g", score);
    else
        snprintf(t.bytes, sizeof t.bytes, "%.5g +- %.2g", score, error);
    return t;
}

static const char *settings_separator(const mercer_candidate *c) {
    return *c->settings ? ", " : "";
}

static void say_candidates(session *s, const tuning *t, const ranked *list, int64_t top) {
    const mercer_search_report *r = mercer_search_result(t->search);
    const int64_t count = mercer_search_count(t->search), n = mercer_data_rows(t->job.data);
    say_text(s, "\n%22s  %s\n", r->score, "candidate");
    for (int64_t k = 0; k < count && k < top; k++) {
        const mercer_candidate c = mercer_search_candidate(t->search, list[k].i);
        if (isnan(c.score))
            break;
        say_text(s, "%22s  %s%s%s", text_score(c.score, c.error).bytes, c.kernel, settings_separator(&c), c.settings);
        if (c.rows < n)
            say_text(s, "  (%lld rows)", (long long)c.rows);
        say_text(s, "%s\n", list[k].i == r->best ? "  < chosen" : list[k].i == r->first ? "  < best" : "");
    }
    if (count > top)
        say_text(s, "%22s  %lld more\n", "...", (long long)(count - top));
    say_text(s, "\n");
}

static void say_chosen(session *s, const tuning *t) {
    const mercer_search_report *r = mercer_search_result(t->search);
    const mercer_candidate c = mercer_search_candidate(t->search, r->best);
    say_fact(s, "chosen", "%s%s%s: %s %s", c.kernel, settings_separator(&c), c.settings, r->score,
             text_score(c.score, c.error).bytes);
    if (isnan(c.error))
        return;
    say_fact(s, "certainty",
             "%lld of %lld measured are within one standard error of the best; it stays first in %.0f%% of folds drawn "
             "again",
             (long long)r->within, (long long)r->measured, 100 * r->share);
}

static void say_splits(session *s, const tuning *t) {
    const mercer_search_report *r = mercer_search_result(t->search);
    const int64_t count = mercer_search_count(t->search), rows = mercer_search_candidate(t->search, r->best).rows;
    char part[64] = "";
    if (rows < mercer_data_rows(t->job.data)) /* the time was short */
        snprintf(part, sizeof part, " of %lld of the rows", (long long)rows);
    say_fact(s, "measured", "%lld of %lld candidates by %s on %s%s%s", (long long)r->measured, (long long)count,
             r->score, r->splits, part, r->halved && r->measured < count ? ", the others on fewer rows" : "");
    if (r->resumed)
        say_fact(s, "resumed", "%lld measurements are from %s", (long long)r->resumed, t->set.journal);
}

static int report_people(session *s, const tuning *t) {
    int64_t top = 10;
    TRY(args_whole(&s->args, "top", 0, 1000000, &top));
    if (!prints_report(s))
        return EXIT_DONE;
    ranked *list = rank_candidates(s, t->search);
    if (!list)
        return EXIT_MEMORY;
    const mercer_report *fit = mercer_model_report(t->model);
    const char *chosen = t->job.chosen, *stopped = mercer_search_result(t->search)->stopped;
    say_fact(s, "machine", "%s%s%s%s", t->job.machine->name, chosen ? " (" : "", chosen ? chosen : "",
             chosen ? ")" : "");
    say_data(s, t->job.path, t->job.data);
    say_splits(s, t);
    say_candidates(s, t, list, top);
    free(list);
    say_chosen(s, t);
    json_t *report = json_report(t->model);
    say_report(s, report);
    json_decref(report);
    if (strcmp(stopped, "no") != 0)
        say_fact(s, "stopped", "early by the %s: this is the best so far",
                 strcmp(stopped, "time") == 0 || s->time_limit > 0 ? "time limit" : "user");
    say_fact(s, "time", "%s for the search, %s for the fit to all rows; %s of memory", text_seconds(t->seconds).bytes,
             text_seconds(fit->seconds).bytes, text_size(mercer_memory_peak(s->ctx)).bytes);
    if (strcmp(t->path, "-") == 0)
        return EXIT_DONE;
    say_fact(s, "model", "%s", t->path);
    say_fact(s, "next", "%s", advise_file("predict", t->path, "NEW_DATA").bytes);
    return EXIT_DONE;
}

/* ---- For programs ---- */

static int report_json(session *s, const tuning *t) {
    const mercer_search_report *r = mercer_search_result(t->search);
    const mercer_candidate c = mercer_search_candidate(t->search, r->best);
    json_t *object = json_loads(mercer_search_json(t->search), 0, NULL);
    if (!object)
        return session_fail(s, MERCER_MEMORY);
    json_t *chosen = json_object(), *seconds = json_object();
    json_put(chosen, "kernel", json_text(c.kernel));
    json_put(chosen, "settings", json_text(c.settings));
    json_put(chosen, "score", json_value(c.score));
    json_put(chosen, "standard_error", json_value(c.error));
    json_put(object, "chosen", chosen);
    json_put(seconds, "read", json_value(t->job.read_seconds));
    json_put(seconds, "search", json_value(t->seconds));
    json_put(seconds, "fit", json_value(mercer_model_report(t->model)->seconds));
    json_put(seconds, "total", json_value(clock_now() - s->began));
    json_put(object, "seconds", seconds);
    json_put(object, "resumed", json_integer(r->resumed));
    json_put(object, "memory_peak_bytes", json_integer((json_int_t)mercer_memory_peak(s->ctx)));
    json_put(object, "fit", json_report(t->model));
    json_put(object, "model", json_text(t->path));
    return json_finish(s, object);
}

int report_tuning(session *s, const tuning *t) {
    return s->json ? report_json(s, t) : report_people(s, t);
}
