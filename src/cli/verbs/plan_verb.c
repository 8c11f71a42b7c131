/* plan_verb.c: mercer plan DATA: which solver a fit would take, what it would cost, and why. */
#include "cli/verbs/plan_verb.h"
#include "cli/verbs/tune_verb.h"
#include <string.h>

json_t *plan_json_choice(const mercer_choice *c) {
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

/* What is planned for, and under which limits. */
static void put_frame(session *s, const job *j, json_t *object) {
    json_put(object, "machine", json_text(j->machine->name));
    json_put(object, "machine_reason", json_text(j->chosen));
    json_put(object, "n", json_integer(mercer_data_rows(j->data)));
    json_put(object, "d", json_integer(mercer_data_columns(j->data)));
    json_put(object, "data_bytes", json_integer((json_int_t)mercer_memory_used(s->ctx)));
    json_put(object, "memory_limit_bytes", json_integer((json_int_t)mercer_memory_limit(s->ctx)));
    json_put(object, "threads", json_integer(mercer_threads(s->ctx)));
    json_put(object, "time_limit", s->time_limit > 0 ? json_value(s->time_limit) : json_null());
}

static json_t *json_plan(session *s, const job *j, const mercer_plan *plan, const mercer_tune_plan *search) {
    json_t *object = plan_json_choice(&plan->chosen), *others = json_array();
    for (int i = 0; i < plan->alternative_count; i++)
        json_array_append_new(others, plan_json_choice(&plan->alternatives[i]));
    json_put(object, "alternatives", others);
    json_put(object, "device", json_text(plan->device));
    json_put(object, "device_reason", json_text(plan->device_reason));
    json_put(object, "cpu_seconds_estimate", json_value(plan->cpu_seconds));
    json_put(object, "card_seconds_estimate", json_value(plan->card_seconds));
    json_put(object, "card_memory_bytes", plan->card_bytes ? json_integer((json_int_t)plan->card_bytes) : json_null());
    json_put(object, "search", search->candidates ? json_search(search) : json_null());
    json_put(object, "kernel", json_text(mercer_kernel_text(j->kernel)));
    put_frame(s, j, object);
    return object;
}

#define COSTS "{solver:-8}  {memory_bytes:8size}  {seconds_estimate:7time}  "
#define NO_COSTS "{solver:-8}         -        -  " /* where it cannot be done at any price */

static const report_row machine_rows[] = {{"machine", NULL, "{machine}[ ({machine_reason})]"}, {0}};
static const report_row limit_rows[] = {
    {"limit", NULL, "{memory_limit_bytes:size} of memory, {threads} threads[, {time_limit:.6g} s]"},
    {"search", "search",
     "before    {search.memory_bytes:8size}  {search.seconds_estimate:7time}  since no parameter is given: "
     "{search.candidates} candidates on {search.rows} rows; fit says what it chose"},
    {0},
};
/* What products with K would be made by; a card that could is priced. */
static const report_row device_rows[] = {
    {"device", "!card_seconds_estimate", "{device}: {device_reason}"},
    {"device", "card_seconds_estimate",
     "{device}: {device_reason} ({cpu_seconds_estimate:time} here, {card_seconds_estimate:time} on a card[, "
     "{card_memory_bytes:size} of its memory])"},
    {0},
};
/* When the way taken cannot end in time: what becomes of it, and what would. */
static const report_row late_rows[] = {
    {"late", "time_limit time_limit<seconds_estimate solver!=pcg",
     "{solver} does not finish within {time_limit:.6g} s"},
    {"late", "time_limit time_limit<seconds_estimate solver=pcg",
     "{solver} does not finish within {time_limit:.6g} s; it then returns its best answer so far"},
    {0},
};
static const report_row in_time_rows[] = {{"", NULL, "{solver} would be: {reason}"}, {0}};

void plan_say_choice(session *s, const char *label, const json_t *choice) {
    const report_row rows[] = {
        {label, "possible 0<memory_bytes", COSTS "{reason}"},
        {label, "possible !0<memory_bytes", NO_COSTS "{reason}"},
        {label, "!possible 0<memory_bytes", COSTS "not possible: {reason}"},
        {label, "!possible !0<memory_bytes", NO_COSTS "not possible: {reason}"},
        {0},
    };
    say_fields(s, choice, rows);
}

static bool is_late(const session *s, const mercer_choice *c) {
    return s->time_limit > 0 && c->seconds > s->time_limit;
}

static int report_plan(session *s, const job *j, const mercer_plan *plan, json_t *object) {
    const json_t *others = json_object_get(object, "alternatives");
    say_fields(s, object, machine_rows);
    say_kernel(s, j->kernel, "");
    say_data(s, j->path, j->data);
    say_fields(s, object, limit_rows);
    plan_say_choice(s, "solver", object);
    for (size_t i = 0; i < json_array_size(others); i++)
        plan_say_choice(s, i ? "" : "instead", json_array_get(others, i));
    say_fields(s, object, device_rows);
    say_fields(s, object, late_rows);
    for (size_t i = 0; is_late(s, &plan->chosen) && i < json_array_size(others); i++)
        if (plan->alternatives[i].possible && !is_late(s, &plan->alternatives[i]))
            say_fields(s, json_array_get(others, i), in_time_rows);
    return json_finish(s, object);
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
    TRY(report_plan(s, j, &plan, json_plan(s, j, &plan, &search)));
    return plan.chosen.possible ? EXIT_DONE : EXIT_NEGATIVE;
}

/* ---- A search ---- */

static const option search_options[] = {
    {"tune", 0, NULL, "forecast a search by tune, with its options, instead of a fit"},
    {0},
};

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

static const report_row search_rows[] = {
    {"candidates", NULL, "{candidates} on {splits:split}"},
    {"measured by", NULL, "{engine}"},
    {"fits", NULL, "{fits} from scratch; the other results follow from these"},
    {"total", "possible", "{seconds_estimate:time} including the final fit, {memory_bytes:size}"},
    {"total", "!possible",
     "{seconds_estimate:time} including the final fit, {memory_bytes:size}; not possible under the memory limit"},
    {"late", "time_limit time_limit<seconds_estimate",
     "not finished within {time_limit:.6g} s: the search would use successive halving and end with its best so far"},
    {0},
};

static int plan_search(session *s, const tuning *t) {
    mercer_tune_plan p = {.size = sizeof p};
    TRY_CTX(s, mercer_plan_tune(s->ctx, t->job.machine->name, t->job.settings, &t->set, t->job.data, &p));
    add_first(s, t, &p);
    json_t *object = json_search(&p);
    put_frame(s, &t->job, object);
    say_fields(s, object, machine_rows);
    say_data(s, t->job.path, t->job.data);
    say_fields(s, object, search_rows);
    TRY(json_finish(s, object));
    return p.possible ? EXIT_DONE : EXIT_NEGATIVE;
}

static int run_search_plan(session *s) {
    tuning t = {0};
    int code = tuning_open(s, &t);
    THEN(code, plan_search(s, &t));
    tuning_close(&t);
    return code;
}

static int refuse_search_options(const session *s) {
    for (const option *o = tune_options; o->name; o++)
        if (args_text(&s->args, o->name))
            return print_error("--%s belongs to a search; --tune plans one", o->name);
    return EXIT_DONE;
}

static int run_plan(session *s) {
    job j = {0};
    s->plans = true;
    if (args_text(&s->args, "rows"))
        return plan_ranks(s);
    if (s->args.operands == 0)
        return print_error("plan needs a data file, or --rows and --columns of one that is not there");
    if (args_flag(&s->args, "tune"))
        return run_search_plan(s);
    TRY(refuse_search_options(s));
    int code = job_open(s, &j);
    THEN(code, plan_job(s, &j));
    job_close(&j);
    return code;
}

const verb verb_plan = {
    .name = "plan",
    .summary = "forecast the solver, memory and time of a fit or a search; fits nothing",
    .usage = "[DATA] [--tune] [-m MACHINE] [-k KERNEL] [options of fit, or of tune]",
    .notes = "Reads the data, asks which solver fit would take under the memory limit, and prints it with the bytes "
             "and seconds to expect and\n"
             "the alternatives. Exit status 1: no solver fits under the limit.\n\n"
             "  mercer plan houses.csv --memory 4G\n"
             "  mercer plan houses.csv --lambda 0.1 --threads 4 --json\n"
             "  mercer plan moons.csv --tune -m svc --C 0.1..1000\n"
             "  mercer plan --rows 1e7 --columns 28 --ranks 64 --threads 16 --memory 100G",
    .least = 0,
    .most = 1,
    .tables = {search_options, plan_ranks_options, job_options, tune_options, fold_options, data_options, seed_options,
               common_options},
    .machine = true,
    .computes = true,
    .run = run_plan,
};
