/* plan.c: mercer plan DATA: which solver a fit would take, what it would cost, and why. */
#include "cli.h"
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

static void report_json(session *s, const job *j, const mercer_plan *plan) {
    json_t *object = json_choice(&plan->chosen), *others = json_array();
    for (int i = 0; i < plan->alternative_count; i++)
        json_array_append_new(others, json_choice(&plan->alternatives[i]));
    json_put(object, "alternatives", others);
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

static void report_people(session *s, const job *j, const mercer_plan *plan) {
    say(s, "machine", "%s%s%s%s", j->machine->name, j->chosen ? " (" : "", j->chosen ? j->chosen : "",
        j->chosen ? ")" : "");
    say_kernel(s, j->kernel, "");
    say_data(s, j->path, j->data);
    char seconds[48] = "";
    if (s->time_limit > 0)
        snprintf(seconds, sizeof seconds, ", %g s", s->time_limit);
    say(s, "limit", "%s of memory, %d threads%s", text_size(mercer_memory_limit(s->ctx)).bytes, mercer_threads(s->ctx), seconds);
    say_choice(s, "solver", &plan->chosen);
    for (int i = 0; i < plan->alternative_count; i++)
        say_choice(s, i ? "" : "instead", &plan->alternatives[i]);
    say_late(s, plan);
}

static int plan_job(session *s, const job *j) {
    mercer_plan plan;
    TRY_CTX(s, mercer_plan_fit(s->ctx, j->machine, j->settings, j->kernel, j->data, &plan));
    if (s->json)
        report_json(s, j, &plan);
    else
        report_people(s, j, &plan);
    return plan.chosen.possible ? EXIT_DONE : EXIT_NEGATIVE;
}

static int run_plan(session *s) {
    job j = {0};
    s->plans = true;
    int code = job_open(s, &j);
    if (code == EXIT_DONE)
        code = plan_job(s, &j);
    job_close(&j);
    return code;
}

const verb verb_plan = {
    .name = "plan",
    .summary = "say which solver a fit would take, its memory and time; fits nothing",
    .usage = "DATA [-m MACHINE] [-k KERNEL] [options of fit]",
    .notes = "Reads the data, asks which solver fit would take under the memory limit, and prints it with the bytes "
             "and seconds to expect and\n"
             "the alternatives. Exit status 1: no solver fits under the limit.\n\n"
             "  mercer plan large.csv --memory 4G",
    .least = 1,
    .most = 1,
    .tables = {job_options, data_options, common_options},
    .machine = true,
    .computes = true,
    .run = run_plan,
};
