/* plan_ranks.c: mercer plan --rows N --columns D --ranks R: a fit of data that nobody has read yet, on processes that
   share its work. */
#include "cli/verbs/plan_verb.h"
#include <string.h>

const option plan_ranks_options[] = {
    {"rows", 0, "N",
     "forecast without data: ridge on so many rows, by --ranks processes, each with --threads and --memory"},
    {"columns", 0, "D", "with --rows: columns"},
    {"steps", 0, "N", "with --rows: steps of pcg, which the data would tell (default 30)"},
    {"bandwidth", 0, "BITS", "with --rows: bits a second between two processes (default 1e10)"},
    {"latency", 0, "SECONDS", "with --rows: of a message (default 3e-5)"},
    {0},
};

static int read_count(const session *s, const char *name, double low, int64_t *out) {
    double value = (double)*out;
    TRY(args_real(&s->args, name, low, 1e15, &value));
    *out = (int64_t)value;
    return EXIT_DONE;
}

static int read_scale(const session *s, mercer_scale_of_fit *set) {
    if (!args_text(&s->args, "columns"))
        return print_error("--rows is the size of data that are not there; give --columns too");
    TRY(read_count(s, "rows", 1, &set->rows));
    TRY(read_count(s, "columns", 1, &set->columns));
    TRY(read_count(s, "ranks", 1, &set->ranks));
    TRY(read_count(s, "steps", 1, &set->steps));
    TRY(read_count(s, "rank", 1, &set->rank));
    TRY(read_count(s, "landmarks", 1, &set->landmarks));
    TRY(args_real(&s->args, "bandwidth", 1, 1e18, &set->bandwidth));
    return args_real(&s->args, "latency", 0, 1e6, &set->latency);
}

static json_t *json_scale(const session *s, const mercer_scale_of_fit *set, const mercer_plan *plan) {
    json_t *object = plan_json_choice(&plan->chosen), *others = json_array();
    for (int i = 0; i < plan->alternative_count; i++)
        json_array_append_new(others, plan_json_choice(&plan->alternatives[i]));
    json_put(object, "alternatives", others);
    json_put(object, "n", json_integer((json_int_t)set->rows));
    json_put(object, "d", json_integer((json_int_t)set->columns));
    json_put(object, "ranks", json_integer((json_int_t)set->ranks));
    json_put(object, "steps", json_integer((json_int_t)set->steps));
    json_put(object, "rank", json_integer((json_int_t)set->rank));
    json_put(object, "landmarks", json_integer((json_int_t)set->landmarks));
    json_put(object, "bandwidth", json_value(set->bandwidth));
    json_put(object, "latency", json_value(set->latency));
    json_put(object, "memory_limit_bytes", json_integer((json_int_t)mercer_memory_limit(s->ctx)));
    json_put(object, "threads", json_integer(mercer_threads(s->ctx)));
    return object;
}

static const report_row scale_rows[] = {
    {"rows", NULL, "{n} x {d}, not read"},
    {"ranks", NULL, "{ranks} processes, each of {threads} threads and {memory_limit_bytes:size}"},
    {"assumed", NULL,
     "{steps} steps of pcg over {rank} columns, {landmarks} landmarks; {bandwidth:.3g} bit/s, {latency:.2g} s a "
     "message"},
    {0},
};

static int report_scale(session *s, const mercer_plan *plan, json_t *object) {
    const json_t *others = json_object_get(object, "alternatives");
    say_fields(s, object, scale_rows);
    plan_say_choice(s, "solver", object);
    for (size_t i = 0; i < json_array_size(others); i++)
        plan_say_choice(s, i ? "" : "instead", json_array_get(others, i));
    TRY(json_finish(s, object));
    return plan->chosen.possible ? EXIT_DONE : EXIT_NEGATIVE;
}

int plan_ranks(session *s) {
    mercer_scale_of_fit set = mercer_scale_of_fit_defaults();
    mercer_plan plan = {.size = sizeof plan};
    mercer_kernel *kernel = NULL;
    const char *machine = args_text(&s->args, "machine"), *expression = args_text(&s->args, "kernel");
    if (machine && strcmp(machine, "ridge") != 0)
        return print_error("--rows: what %s would take is known from its data alone; ridge can be forecast without",
                           machine);
    TRY(read_scale(s, &set));
    TRY(input_kernel(s, expression ? expression : "rbf(sigma=2)", &kernel));
    const mercer_status status = mercer_plan_ranks(s->ctx, kernel, &set, &plan);
    mercer_kernel_free(kernel);
    return status ? session_fail(s, status) : report_scale(s, &plan, json_scale(s, &set, &plan));
}
