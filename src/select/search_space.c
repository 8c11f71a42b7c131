/* search_space.c: what is searched: the ranges and sets of kernels and of settings as dimensions, and a candidate as
   a point in them. The parameters of a kernel change slowest, the setting along which an engine follows a path fastest,
   so that candidates that share work stand together. */
#include "select/tune.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/print.h"
#include "base/status.h"
#include "kernel/language/parameters.h"
#include <math.h>
#include <string.h>

enum { POINTS = 8, POINTS_OF_LAMBDA = 50 };

/* ---- Dimensions ---- */

static int64_t points_of(const mercer_tune *set, const char *path, const mercer_machine *machine, const char *range) {
    if (set->points)
        return set->points;
    const bool free_of_cost =
        strncmp(range, "lambda=", 7) == 0 && strcmp(path, "lambda") == 0 && strcmp(machine->name, "ridge") == 0;
    return free_of_cost ? POINTS_OF_LAMBDA : POINTS;
}

static mercer_status open_settings(mercer_ctx *ctx, const mercer_tune *set, const char *path, mc_search_space *s) {
    for (int64_t i = 0; set->ranges && set->ranges[i]; i++) {
        mc_dimension *d = &s->dimension[s->dimensions++];
        s->settings++;
        MC_TRY(mc_range_read(ctx, s->machine, set->ranges[i], points_of(set, path, s->machine, set->ranges[i]), d));
        for (int64_t k = 0; k + 1 < s->dimensions; k++)
            if (s->dimension[k].setting == d->setting)
                return mc_fail(ctx, MERCER_INVALID, "tune: two ranges are given for %s; give one", d->name);
    }
    for (int64_t k = 0; k < s->settings; k++)
        if (strcmp(s->dimension[k].name, path) == 0) {
            const mc_dimension last = s->dimension[s->settings - 1];
            s->dimension[s->settings - 1] = s->dimension[k];
            s->dimension[k] = last;
            s->has_path = true;
            break;
        }
    return MERCER_OK;
}

static mercer_status take_set(mercer_ctx *ctx, const mc_value *value, mc_dimension *d) {
    MC_TRY(MC_ALLOC(ctx, d->value, value->columns));
    d->set = true;
    d->count = value->columns;
    memcpy(d->value, value->numbers, (size_t)d->count * sizeof(double));
    return MERCER_OK;
}

/* A parameter that has a few choices takes those in the range. */
static mercer_status take_choices(mercer_ctx *ctx, const mc_open_value *open, mc_dimension *d) {
    MC_TRY(MC_ALLOC(ctx, d->value, open->parameter->choices));
    d->set = true;
    for (int i = 0; i < open->parameter->choices; i++)
        if (open->parameter->choice[i] >= open->value->low && open->parameter->choice[i] <= open->value->high)
            d->value[d->count++] = open->parameter->choice[i];
    return MERCER_OK;
}

static mercer_status open_value(mercer_ctx *ctx, const mc_open_value *open, int64_t points, mc_dimension *d) {
    d->whole = open->parameter->integer;
    d->place = open->value->offset;
    d->low = open->value->low;
    d->high = open->value->high;
    d->log = d->low > 0 && !d->whole;
    if (open->value->kind == MC_VALUE_SET)
        return take_set(ctx, open->value, d);
    if (open->parameter->choices)
        return take_choices(ctx, open, d);
    return mc_dimension_grid(ctx, d, points);
}

/* "rbf.gamma", and "2.rbf.gamma" for the second of that name. */
static void name_value(const mc_search_space *s, int64_t first, const mc_open_value *open, mc_dimension *d) {
    char bare[48];
    int seen = 1;
    mc_print(bare, sizeof bare, "%s.%s", open->atom->name, open->parameter->name);
    for (int64_t k = first; &s->dimension[k] < d; k++) {
        const char *dot = strchr(s->dimension[k].name, '.'), *rest = dot ? dot + 1 : "";
        seen += strcmp(s->dimension[k].name, bare) == 0 || strcmp(rest, bare) == 0;
    }
    if (seen > 1)
        mc_print(d->name, sizeof d->name, "%d.%s", seen, bare);
    else
        mc_print(d->name, sizeof d->name, "%s", bare);
}

static mercer_status open_kernel(mercer_ctx *ctx, const mercer_tune *set, int64_t k, mc_search_space *s) {
    const int64_t first = s->dimensions, count = mc_kernel_open_values(s->kernel[k], NULL, 0);
    mc_open_value *open = NULL;
    MC_TRY(MC_ALLOC(ctx, open, count));
    mc_kernel_open_values(s->kernel[k], open, count);
    mercer_status status = MERCER_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        mc_dimension *d = &s->dimension[s->dimensions++];
        name_value(s, first, &open[i], d);
        status = open_value(ctx, &open[i], set->points ? set->points : POINTS, d);
    }
    mc_free(open);
    s->begin[k + 1] = s->dimensions;
    const int64_t width = s->settings + count;
    s->width = width > s->width ? width : s->width;
    return status;
}

static mercer_status open_dimensions(mercer_ctx *ctx, const mercer_tune *set, const char *path, mc_search_space *s) {
    int64_t most = 0;
    while (set->ranges && set->ranges[most])
        most++;
    for (int64_t k = 0; k < s->kernels; k++)
        most += mc_kernel_open_values(s->kernel[k], NULL, 0);
    MC_TRY(MC_ALLOC(ctx, s->dimension, most));
    MC_TRY(MC_ALLOC(ctx, s->begin, s->kernels + 2)); /* that of a winner has none of its own */
    MC_TRY(open_settings(ctx, set, path, s));
    s->begin[0] = s->width = s->settings;
    for (int64_t k = 0; k < s->kernels; k++)
        MC_TRY(open_kernel(ctx, set, k, s));
    s->begin[s->kernels + 1] = s->begin[s->kernels];
    return MERCER_OK;
}

/* ---- A dimension ---- */

double mc_six_digits(double v) {
    char text[32];
    mc_print(text, sizeof text, "%.6g", v);
    mc_number_read(text, text + strlen(text), &v);
    return v;
}

double mc_dimension_at(const mc_dimension *d, double u) {
    if (d->set)
        return d->value[(int64_t)(u * (double)d->count)];
    if (d->whole)
        return floor(d->low + u * (d->high - d->low + 1));
    const double v = d->log ? exp(log(d->low) + u * (log(d->high) - log(d->low))) : d->low + u * (d->high - d->low);
    return fmin(fmax(mc_six_digits(v), d->low), d->high);
}

const mc_dimension *mc_search_space_dimension(const mc_search_space *s, int64_t kernel, int64_t k) {
    return k < s->settings ? &s->dimension[k] : &s->dimension[s->begin[kernel] + k - s->settings];
}

int64_t mc_search_space_numbers(const mc_search_space *s, int64_t kernel) {
    return s->settings + s->begin[kernel + 1] - s->begin[kernel];
}

bool mc_dimension_free(const mc_dimension *d) {
    return !d->set && !d->whole;
}

double mc_dimension_share(const mc_dimension *d, double value) {
    return d->log ? log(value / d->low) / log(d->high / d->low) : (value - d->low) / (d->high - d->low);
}

bool mc_search_space_near(const mc_search_space *s, int64_t kernel_a, const double *a, int64_t kernel_b,
                          const double *b, double share) {
    for (int64_t i = 0; kernel_a == kernel_b && i < mc_search_space_numbers(s, kernel_a); i++) {
        const mc_dimension *d = mc_search_space_dimension(s, kernel_a, i);
        if (mc_dimension_free(d) ? fabs(mc_dimension_share(d, a[i]) - mc_dimension_share(d, b[i])) > share
                                 : a[i] != b[i])
            return false;
    }
    return kernel_a == kernel_b;
}

/* ---- All together ---- */

mercer_status mc_search_method_find(mercer_ctx *ctx, const char *name, mc_search_method *out) {
    static const char *const names[] = {"grid", "random", "gradient"};
    for (*out = MC_GRID; *out <= MC_GRADIENT; (*out)++)
        if (strcmp(name, names[*out]) == 0)
            return MERCER_OK;
    return mc_fail(ctx, MERCER_INVALID, "tune: search must be grid, random or gradient, got '%s'", name);
}

mercer_status mc_search_space_open(mercer_ctx *ctx, const mercer_machine *machine, const mercer_tune *set,
                                   const char *path, mc_search_space *out) {
    *out = (mc_search_space){.machine = machine, .kernel = set->kernels, .kernels = set->kernel_count};
    MC_TRY(mc_search_method_find(ctx, set->search, &out->method));
    MC_TRY(open_dimensions(ctx, set, path, out));
    return mc_search_space_fill(ctx, set, out);
}

void mc_search_space_close(mc_search_space *s) {
    for (int64_t i = 0; i < s->dimensions; i++)
        mc_free(s->dimension[i].value);
    mc_free(s->dimension);
    mc_free(s->begin);
    mc_free(s->of);
    mc_free(s->number);
    *s = (mc_search_space){0};
}

/* ---- One candidate ---- */

int64_t mc_search_space_run(const mc_search_space *s, int64_t i) {
    int64_t end = i + 1;
    for (; s->has_path && end < s->count && s->of[end] == s->of[i]; end++) {
        const double *a = s->number + i * s->width, *b = s->number + end * s->width;
        const int64_t own = s->begin[s->of[i] + 1] - s->begin[s->of[i]], last = s->settings - 1;
        if (memcmp(a, b, (size_t)last * sizeof *a) != 0
            || memcmp(a + s->settings, b + s->settings, (size_t)own * sizeof *a) != 0)
            break;
        if (b[last] <= b[last - s->width])
            break; /* a path goes up */
    }
    return end;
}

mercer_status mc_search_space_kernel(mercer_ctx *ctx, const mc_search_space *s, int64_t i, mercer_kernel **out) {
    return mc_kernel_choose(ctx, s->kernel[s->of[i]], s->number + i * s->width + s->settings, out);
}

void mc_search_space_settings(const mc_search_space *s, int64_t i, void *settings) {
    for (int64_t k = 0; k < s->settings; k++) {
        const mercer_setting *row = s->dimension[k].setting;
        void *field = (char *)settings + row->offset;
        if (row->type == MERCER_INTEGER)
            *(int64_t *)field = (int64_t)s->number[i * s->width + k];
        else
            *(double *)field = s->number[i * s->width + k];
    }
}

void mc_search_space_write(const mc_search_space *s, int64_t i, mc_text *text) {
    for (int64_t k = 0; k < s->settings; k++) {
        mc_text_add(text, "%s%s=", k ? " " : "", s->dimension[k].name);
        mc_text_number(text, s->number[i * s->width + k]);
    }
}
