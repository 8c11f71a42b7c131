/* plot_trace.c: how a fit came to its answer, from the file that mercer fit --trace wrote: what the solver watched, on
   a logarithmic axis, against seconds or steps, and the goal at which it might end. Runs that follow each other are
   lines of their own. */
#include "cli/verbs/plot.h"
#include "cli/reports/trace.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 4, NAME = 32, LINE = 256 };

typedef struct point {
    double at, value;
    int64_t run;
    int name;
} point;

typedef struct trace_file {
    point *point;
    int64_t count, capacity;
    char name[NAMES][NAME];
    int names;
    double goal;               /* the last one said; NaN: none */
    int goal_of;               /* whose it is */
    bool steps;                /* along the axis, not seconds */
    int64_t before, run, step; /* of the run being read: steps of the ones before it, its number, its last step */
} trace_file;

static int name_of(trace_file *w, const char *name) {
    int k = 0;
    while (k < w->names && strcmp(w->name[k], name) != 0)
        k++;
    if (k == w->names && k < NAMES)
        snprintf(w->name[w->names++], NAME, "%s", name);
    return k < NAMES ? k : -1;
}

static bool grow_points(trace_file *w) {
    if (w->count < w->capacity)
        return true;
    w->capacity = w->capacity ? 2 * w->capacity : 256;
    point *more = realloc(w->point, (size_t)w->capacity * sizeof *more);
    if (more)
        w->point = more;
    return more != NULL;
}

/* "0.0012,1,1,violation,2,0.0005\n"; the goal may be empty. A value that a logarithm cannot show (a gap of nothing, by
   rounding) is left out. */
static bool read_line(trace_file *w, const char *line) {
    double seconds, value, goal = NAN;
    long long run, step;
    char name[NAME];
    if (sscanf(line, "%lf,%lld,%lld,%31[^,\n],%lf,%lf", &seconds, &run, &step, name, &value, &goal) < 5 || run < 1
        || step < 1)
        return false;
    const int k = name_of(w, name);
    if (run != w->run) {
        w->before += w->step;
        w->run = run;
    }
    w->step = step;
    if (k < 0 || !(value > 0) || !isfinite(value))
        return true;
    w->point[w->count++] = (point){w->steps ? (double)(w->before + step) : seconds, value, run, k};
    if (goal > 0) {
        w->goal = goal;
        w->goal_of = k;
    }
    return true;
}

static int read_trace(const char *path, trace_file *w) {
    char line[LINE];
    FILE *file = fopen(path, "rb");
    if (!file)
        return print_error("cannot read '%s': %s", path, strerror(errno));
    bool good = fgets(line, sizeof line, file) != NULL, has_memory = true;
    int64_t at = 1;
    while (good && has_memory && fgets(line, sizeof line, file)) {
        at++;
        has_memory = grow_points(w);
        good = has_memory && read_line(w, line);
    }
    fclose(file);
    if (!has_memory)
        return print_error("convergence: there is no memory for '%s'", path);
    if (!good)
        return print_error("%s:%lld: this is not a line of a trace: six fields, %.*s", path, (long long)at,
                           (int)strlen(trace_heading) - 1, trace_heading);
    return EXIT_DONE;
}

/* ---- Drawing ---- */

static void set_axis_ranges(const trace_file *w, const double *at, const double *value, double x[2], double y[2]) {
    range_take(&x[0], &x[1], at, w->count);
    range_take(&y[0], &y[1], value, w->count);
    x[0] = fmin(x[0], 0);
    x[1] += 0.03 * (x[1] - x[0]);
    if (w->goal > 0) { /* what lies far below the goal is rounding, and would leave no room for the way there */
        y[0] = fmin(fmax(y[0], 1e-4 * w->goal), w->goal);
        y[1] = fmax(y[1], w->goal);
    }
    y[0] /= 2;
    y[1] *= 2;
}

/* Marks where they can be told apart; without them lines differ by their dashes. */
static bool has_marks(const trace_file *w) {
    return w->count <= 120;
}

/* The parts of a measure that belong to one run, each a line. */
static void draw_measure(chart *g, const trace_file *w, int k, double *at, double *value) {
    const pen line = {.ink = colour_of(k), .width = 1.8, .dash = k};
    int64_t count = 0, run = 0;
    for (int64_t i = 0; i <= w->count; i++) {
        const point *p = &w->point[i];
        if (i < w->count && p->name != k)
            continue;
        if (count && (i == w->count || p->run != run)) {
            chart_line(g, line, at, value, count);
            if (has_marks(w) || count == 1)
                chart_marks(g, at, value, count, k, 5, colour_of(k));
            count = 0;
        }
        if (i == w->count)
            break;
        run = p->run;
        at[count] = p->at;
        value[count++] = p->value;
    }
}

static void draw_trace(picture *p, const trace_file *w, double *at, double *value) {
    key keys[NAMES + 1];
    char goal[80];
    double x[2], y[2];
    chart g;
    for (int64_t i = 0; i < w->count; i++) {
        at[i] = w->point[i].at;
        value[i] = w->point[i].value;
    }
    set_axis_ranges(w, at, value, x, y);
    chart_open(&g, p->on, "convergence of the fit",
               (axis){.label = w->steps ? "steps" : "seconds", .low = x[0], .high = x[1]},
               (axis){.label = w->names == 1 ? w->name[0] : "", .low = y[0], .high = y[1], .logarithmic = true}, false);
    for (int k = 0; k < w->names; k++)
        keys[k] = (key){w->name[k], colour_of(k), has_marks(w) ? k : -1, k};
    if (w->goal > 0) {
        snprintf(goal, sizeof goal, "goal for the %s: %s", w->name[w->goal_of], text_value(w->goal).bytes);
        chart_line(&g, (pen){.ink = colour_ink, .width = 1, .dash = 2}, x, (double[]){w->goal, w->goal}, 2);
        keys[w->names] = (key){goal, colour_ink, -1, 2};
    }
    double *spot_x = at + w->count, *spot_y = value + w->count;
    memcpy(spot_x, at, (size_t)w->count * sizeof *at);
    memcpy(spot_y, value, (size_t)w->count * sizeof *value);
    for (int k = 0; k < w->names; k++)
        draw_measure(&g, w, k, at, value);
    chart_keys(&g, keys, w->names + (w->goal > 0), spot_x, spot_y, w->count);
    chart_close(&g);
}

int draw_convergence(session *s, picture *p) {
    trace_file w = {.goal = NAN};
    int along = 0;
    TRY(args_choice(&s->args, "against", "seconds|steps", &along));
    w.steps = along == 1;
    int code = read_trace(p->trace_path, &w);
    if (code == EXIT_DONE && !w.count)
        code = print_error("'%s' holds no step: the solver came to its answer at once", p->trace_path);
    double *work = code == EXIT_DONE ? session_take(s, w.count, 4, sizeof *work) : NULL;
    if (code == EXIT_DONE && !work)
        code = EXIT_MEMORY;
    if (code == EXIT_DONE)
        draw_trace(p, &w, work, work + 2 * w.count);
    free(work);
    free(w.point);
    return code;
}
