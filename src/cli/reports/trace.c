/* trace.c: the way of an iterative solver as a file, mercer fit --trace FILE. One line for each step and each thing it
   watches:

       seconds,run,step,measure,value,goal
       0.001204,1,1,violation,2,0.0005
       0.001204,1,1,gap,93.4,

   A run is one problem solved from its start: svc of three classes has three, and one solved again to a tighter goal
   has two. A long way is thinned: once MOST steps are held every second one is dropped, and from there on every second
   one is kept. */
#include "cli/reports/trace.h"
#include "data/helpers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 15 };
const char trace_heading[] = "seconds,run,step,measure,value,goal\n";

typedef struct stop {
    double seconds, value, goal, gap;
    const char *watches;
    int64_t run, step;
} stop;

struct trace {
    const char *path;
    stop *at; /* MOST of them */
    int64_t count, steps, runs, every;
    bool open; /* steps are being taken down */
};

bool is_trace(const char *path) {
    char head[sizeof trace_heading] = "";
    FILE *file = is_plain_file(path) ? fopen(path, "rb") : NULL;
    const size_t seen = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file)
        fclose(file);
    return seen == sizeof head - 1 && strcmp(head, trace_heading) == 0;
}

int trace_open(session *s, trace **out) {
    const char *path = args_text(&s->args, "trace");
    if (!path)
        return EXIT_DONE;
    TRY(check_output(path, "a trace", is_trace, "--trace"));
    trace *t = session_take(s, 1, 1, sizeof *t);
    stop *at = t ? session_take(s, MOST, 1, sizeof *at) : NULL;
    if (!at) {
        free(t);
        return EXIT_MEMORY;
    }
    *t = (trace){.path = path, .at = at, .every = 1};
    s->trace = *out = t;
    return EXIT_DONE;
}

void trace_close(session *s, trace *t) {
    s->trace = NULL;
    if (t)
        free(t->at);
    free(t);
}

void trace_listen(trace *t, bool on) {
    if (t)
        t->open = on;
}

static void drop_every_second_step(trace *t) {
    for (int64_t i = 0; 2 * i < t->count; i++)
        t->at[i] = t->at[2 * i];
    t->count = (t->count + 1) / 2;
    t->every *= 2;
}

void trace_take(trace *t, const mercer_progress *p) {
    if (!t->open || p->step < 1)
        return;
    t->runs += p->step == 1;
    if (t->steps++ % t->every)
        return;
    if (t->count == MOST)
        drop_every_second_step(t);
    t->at[t->count++] = (stop){p->seconds, p->measure, p->goal, p->gap, p->watches, t->runs, p->step};
}

static void write_line(FILE *file, const stop *at, const char *name, double value, double goal) {
    if (isnan(value))
        return;
    fprintf(file, "%.6f,%lld,%lld,%s,%.10g,", at->seconds, (long long)at->run, (long long)at->step, name, value);
    if (!isnan(goal))
        fprintf(file, "%.10g", goal);
    fputc('\n', file);
}

int trace_write(session *s, const trace *t, const char *solver) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = t ? open_memstream(&bytes, &size) : NULL;
    if (!t)
        return EXIT_DONE;
    if (!file)
        return session_fail(s, MERCER_MEMORY);
    fputs(trace_heading, file);
    for (int64_t i = 0; i < t->count; i++) {
        write_line(file, &t->at[i], t->at[i].watches, t->at[i].value, t->at[i].goal);
        write_line(file, &t->at[i], "gap", t->at[i].gap, NAN);
    }
    const bool whole = fclose(file) == 0;
    const mercer_status status = whole ? mc_file_write(s->ctx, t->path, bytes, size) : MERCER_MEMORY;
    free(bytes);
    if (status)
        return session_fail(s, status);
    if (!t->count)
        print_note(s, "%s solves the problem at once, without steps: '%s' holds its heading alone", solver, t->path);
    return EXIT_DONE;
}

void trace_say(session *s, const trace *t) {
    if (t && t->count)
        say_fact(s, "trace", "%s: %s; %s", t->path, text_count(t->steps, "step").bytes,
                 advise_file("plot", t->path, "-o convergence.svg").bytes);
}

json_t *trace_json(const trace *t) {
    json_t *object = json_object();
    json_put(object, "file", json_text(t->path));
    json_put(object, "steps", json_integer((json_int_t)t->steps));
    json_put(object, "runs", json_integer((json_int_t)t->runs));
    return object;
}
