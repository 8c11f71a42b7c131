/* plan_verb.c: mercer plan DATA: which solver a fit would take, what it would cost, and why. */
#include "cli/verbs/tune_verb.h"
#include <string.h>

static json_t *json_choice(const mercer_choice *c) {
    json_t *object = json_object();
    json_put(object, "solver", json_text(c->solver));
    json_put(object, "reason", json_text(c->reason));
    json_put(object, "memory_bytes", json_integer((json_int_t)c->memory_bytes));
    json_put(object, "seconds_estimate", json_value(c->seconds));
    json_put(object, "possible", json_boolean(c->possible));
    return object;
}

static json_t *json_search(const mercer_tune_plan *p) {
    json_t *object = json_object();
    json_put(object, "engine", json_text(p->engine));
    json_put(object, "rows", json_integer(p->rows));
    json_put(object, "candidates", json_integer(p->candidates));
    json_put(object, "splits", json_integer(p->splits));
    json_put(object, "fits", json_integer(p->fits));
    json_put(object, "memory_bytes", json_integer((json_int_t)p->memory_bytes));
    json_put(object, "seconds_estimate", json_value(p->seconds));
    json_put(object, "possible", json_boolean(p->possible));
    return object;
}

static void report_json(session *s, const job *j, const mercer_plan *plan, const mercer_tune_plan *search) {
    json_t *object = json_choice(&plan->chosen), *others = json_array();
    for (int i = 0; i < plan->alternative_count; i++)
        json_array_append_new(others, json_choice(&plan->alternatives[i]));
    json_put(object, "alternatives", others);
    json_put(object, "search", search->candidates ? json_search(search) : json_null());
    json_put(object, "machine", json_text(j->machine->name));
    json_put(object, "kernel", json_text(mercer_kernel_text(j->kernel)));
    json_put(object, "n", json_integer(mercer_data_rows(j->data)));
    json_put(object, "d", json_integer(mercer_data_columns(j->data)));
    json_put(object, "data_bytes", json_integer((json_int_t)mercer_memory_used(s->ctx)));
    json_put(object, "memory_limit_bytes", json_integer((json_int_t)mercer_memory_limit(s->ctx)));
    json_finish(s, object);
}

static void say_choice(session *s, const char *label, const mercer_choice *c) {
    const bool costs = c->memory_bytes > 0; /* nothing where it cannot be done at any price */
    say(s, label, "%-8s  %8s  %7s  %s%s", c->solver, costs ? text_size(c->memory_bytes).bytes : "-",
        costs ? text_seconds(c->seconds).bytes : "-", c->possible ? "" : "not possible: ", c->reason);
}

/* When the way taken cannot end in time: what becomes of it, and what would. */
static void say_late(session *s, const mercer_plan *plan) {
    if (s->time_limit <= 0 || plan->chosen.seconds <= s->time_limit)
        return;
    say(s, "late", "%s is not done within %g s%s", plan->chosen.solver, s->time_limit,
        strcmp(plan->chosen.solver, "pcg") ? "" : "; it hands over its best answer then");
    for (int i = 0; i < plan->alternative_count; i++) {
        const mercer_choice *c = &plan->alternatives[i];
        if (c->possible && c->seconds <= s->time_limit)
            say(s, "", "%s would be: %s", c->solver, c->reason);
    }
}

/* Before the fit of a machine for which nothing is given. */
static void say_search(session *s, const mercer_tune_plan *p) {
    if (p->candidates)
        say(s, "search",
            "%-8s  %8s  %7s  since no parameter is given: %lld candidates on %lld rows; fit says what it chose",
            "before", text_size(p->memory_bytes).bytes, text_seconds(p->seconds).bytes, (long long)p->candidates,
            (long long)p->rows);
}

static void report_people(session *s, const job *j, const mercer_plan *plan, const mercer_tune_plan *search) {
    say(s, "machine", "%s%s%s%s", j->machine->name, j->chosen ? " (" : "", j->chosen ? j->chosen : "",
        j->chosen ? ")" : "");
    say_kernel(s, j->kernel, "");
    say_data(s, j->path, j->data);
    char seconds[48] = "";
    if (s->time_limit > 0)
        snprintf(seconds, sizeof seconds, ", %g s", s->time_limit);
    say(s, "limit", "%s of memory, %d threads%s", text_size(mercer_memory_limit(s->ctx)).bytes, mercer_threads(s->ctx),
        seconds);
    say_search(s, search);
    say_choice(s, "solver", &plan->chosen);
    for (int i = 0; i < plan->alternative_count; i++)
        say_choice(s, i ? "" : "instead", &plan->alternatives[i]);
    say_late(s, plan);
}

/* Where fit would find nothing to choose by, it goes without; so does the plan. */
static int plan_default(session *s, job *j, mercer_tune_plan *out) {
    *out = (mercer_tune_plan){.size = sizeof *out};
    if (!job_is_open(s))
        return EXIT_DONE;
    TRY(job_put_intercept(s, j, true));
    const mercer_status status = mercer_plan_default(s->ctx, j->machine->name, j->settings, j->data, out);
    if (status == MERCER_OK)
        return EXIT_DONE;
    *out = (mercer_tune_plan){.size = sizeof *out};
    return job_put_intercept(s, j, false);
}

static int plan_job(session *s, job *j) {
    mercer_plan plan = {.size = sizeof plan};
    mercer_tune_plan search = {.size = sizeof search};
    TRY(plan_default(s, j, &search));
    TRY_CTX(s, mercer_plan_fit(s->ctx, j->machine->name, j->settings, j->kernel, j->data, &plan));
    if (s->json)
        report_json(s, j, &plan, &search);
    else
        report_people(s, j, &plan, &search);
    return plan.chosen.possible ? EXIT_DONE : EXIT_NEGATIVE;
}

/* ---- A search ---- */

static const option search_options[] = {
    {"tune", 0, NULL, "forecast a search by tune, with its options, instead of a fit"},
    {0},
};

static int search_json(session *s, const tuning *t, const mercer_tune_plan *p) {
    json_t *object = json_search(p);
    json_put(object, "machine", json_text(t->job.machine->name));
    json_put(object, "n", json_integer(mercer_data_rows(t->job.data)));
    json_put(object, "d", json_integer(mercer_data_columns(t->job.data)));
    json_put(object, "data_bytes", json_integer((json_int_t)mercer_memory_used(s->ctx)));
    json_put(object, "memory_limit_bytes", json_integer((json_int_t)mercer_memory_limit(s->ctx)));
    return json_finish(s, object);
}

/* What fit would choose is found first, as tune does. */
static void add_first(session *s, const tuning *t, mercer_tune_plan *p) {
    mercer_tune_plan first = {.size = sizeof first};
    if (!job_is_open(s) || strcmp(t->set.search, "gradient") == 0
        || mercer_plan_default(s->ctx, t->job.machine->name, t->job.settings, t->job.data, &first))
        return;
    p->candidates++;
    p->seconds += first.seconds;
    p->memory_bytes = first.memory_bytes > p->memory_bytes ? first.memory_bytes : p->memory_bytes;
}

static int plan_search(session *s, const tuning *t) {
    mercer_tune_plan p = {.size = sizeof p};
    TRY_CTX(s, mercer_plan_tune(s->ctx, t->job.machine->name, t->job.settings, &t->set, t->job.data, &p));
    add_first(s, t, &p);
    if (s->json) {
        search_json(s, t, &p);
        return p.possible ? EXIT_DONE : EXIT_NEGATIVE;
    }
    say(s, "machine", "%s", t->job.machine->name);
    say_data(s, t->job.path, t->job.data);
    say(s, "candidates", "%lld on %lld split%s", (long long)p.candidates, (long long)p.splits,
        p.splits == 1 ? "" : "s");
    say(s, "measured by", "%s", p.engine);
    say(s, "fits", "%lld that cannot be had from another", (long long)p.fits);
    say(s, "in all", "%s with the fit of the best, %s%s", text_seconds(p.seconds).bytes,
        text_size(p.memory_bytes).bytes, p.possible ? "" : "; not possible under the memory limit");
    if (s->time_limit > 0 && p.seconds > s->time_limit)
        say(s, "late", "not done within %g s: the search would be halved and hand over its best then", s->time_limit);
    return p.possible ? EXIT_DONE : EXIT_NEGATIVE;
}

static int run_search_plan(session *s) {
    tuning t = {0};
    int code = tuning_open(s, &t);
    if (code == EXIT_DONE)
        code = plan_search(s, &t);
    tuning_close(&t);
    return code;
}

static int refuse_search_options(const session *s) {
    for (const option *o = tune_options; o->name; o++)
        if (args_text(&s->args, o->name))
            return complain("--%s belongs to a search; --tune plans one", o->name);
    return EXIT_DONE;
}

static int run_plan(session *s) {
    job j = {0};
    s->plans = true;
    if (args_flag(&s->args, "tune"))
        return run_search_plan(s);
    TRY(refuse_search_options(s));
    int code = job_open(s, &j);
    if (code == EXIT_DONE)
        code = plan_job(s, &j);
    job_close(&j);
    return code;
}

const verb verb_plan = {
    .name = "plan",
    .summary = "say which solver a fit, or what a search, would take in memory and time; fits nothing",
    .usage = "DATA [--tune] [-m MACHINE] [-k KERNEL] [options of fit, or of tune]",
    .notes = "Reads the data, asks which solver fit would take under the memory limit, and prints it with the bytes "
             "and seconds to expect and\n"
             "the alternatives. Exit status 1: no solver fits under the limit.\n\n"
             "  mercer plan houses.csv --memory 4G\n"
             "  mercer plan houses.csv --lambda 0.1 --threads 4 --json\n"
             "  mercer plan moons.csv --tune -m svc --C 0.1..1000",
    .least = 1,
    .most = 1,
    .tables = {search_options, job_options, tune_options, fold_options, data_options, seed_options, common_options},
    .machine = true,
    .computes = true,
    .run = run_plan,
};
