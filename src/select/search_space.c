/* search_space.c: the candidates of a search. A grid takes every combination: the parameters of a kernel change
   slowest, the setting along which an engine follows a path fastest, so that candidates that share work stand together.
   A random search takes points of a scrambled Sobol sequence, dealt out evenly among the kernels. A search by gradients
   starts in the middle of the ranges and from points of such a sequence, for every kernel and every combination of what
   has no slope: sets, choices, whole numbers. */
#include "select/tune.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/print.h"
#include "base/status.h"
#include "kernel/language/parameters.h"
#include <math.h>
#include <string.h>

enum { CANDIDATES_MOST = 1000000, POINTS = 8, POINTS_OF_LAMBDA = 50, RANDOM = 50, STARTS = 4 };

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

/* ---- Candidates ---- */

static mercer_status count_grid(mercer_ctx *ctx, mc_search_space *s) {
    double count = 0;
    for (int64_t k = 0; k < s->kernels; k++) {
        double product = 1;
        for (int64_t i = 0; i < s->settings; i++)
            product *= (double)s->dimension[i].count;
        for (int64_t i = s->begin[k]; i < s->begin[k + 1]; i++)
            product *= (double)s->dimension[i].count;
        count += product;
    }
    if (count > CANDIDATES_MOST)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: the grid has %.3g candidates, more than %d; take fewer points, or a random search", count,
                       CANDIDATES_MOST);
    s->count = (int64_t)count;
    return MERCER_OK;
}

/* Mixed-radix digits of place, the last setting first. */
static void write_grid_point(mc_search_space *s, int64_t k, int64_t place, double *number) {
    for (int64_t i = s->settings - 1; i >= 0; i--) {
        number[i] = s->dimension[i].value[place % s->dimension[i].count];
        place /= s->dimension[i].count;
    }
    for (int64_t i = s->begin[k + 1] - 1; i >= s->begin[k]; i--) {
        number[s->settings + i - s->begin[k]] = s->dimension[i].value[place % s->dimension[i].count];
        place /= s->dimension[i].count;
    }
}

static void fill_grid(mc_search_space *s) {
    int64_t at = 0;
    for (int64_t k = 0; k < s->kernels; k++) {
        int64_t size = 1;
        for (int64_t i = 0; i < s->settings; i++)
            size *= s->dimension[i].count;
        for (int64_t i = s->begin[k]; i < s->begin[k + 1]; i++)
            size *= s->dimension[i].count;
        for (int64_t place = 0; place < size; place++, at++) {
            s->of[at] = k;
            write_grid_point(s, k, place, s->number + at * s->width);
        }
    }
}

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

static void fill_random(mc_search_space *s, uint64_t seed) {
    double u[MC_SOBOL_MOST];
    for (int64_t c = 0; c < s->count; c++) {
        const int64_t k = s->of[c] = c % s->kernels, own = s->begin[k + 1] - s->begin[k];
        double *number = s->number + c * s->width;
        mc_sobol_point(seed + (uint64_t)k, c / s->kernels, s->settings + own, u);
        for (int64_t i = 0; i < s->settings; i++)
            number[i] = mc_dimension_at(&s->dimension[i], u[i]);
        for (int64_t i = 0; i < own; i++)
            number[s->settings + i] = mc_dimension_at(&s->dimension[s->begin[k] + i], u[s->settings + i]);
    }
}

static mercer_status check_sobol(mercer_ctx *ctx, const mercer_tune *set, int64_t ranges) {
    if (set->candidates < 0 || set->candidates > CANDIDATES_MOST)
        return mc_fail(ctx, MERCER_INVALID, "tune: candidates must be in [1, %d], or 0 for the usual number, got %lld",
                       CANDIDATES_MOST, (long long)set->candidates);
    if (ranges > MC_SOBOL_MOST)
        return mc_fail(ctx, MERCER_INVALID, "tune: a %s search has at most %d ranges at once, this one has %lld",
                       set->search, MC_SOBOL_MOST, (long long)ranges);
    return MERCER_OK;
}

static mercer_status count_random(mercer_ctx *ctx, const mercer_tune *set, mc_search_space *s) {
    s->count = set->candidates ? set->candidates : RANDOM;
    return check_sobol(ctx, set, s->width);
}

/* ---- The winner of an earlier search ---- */

/* Its value of a setting; NaN: it had none. */
static double winner_value(const mercer_search *from, const char *name) {
    for (int64_t i = 0; i < from->space.settings; i++)
        if (strcmp(from->space.dimension[i].name, name) == 0)
            return from->space.number[from->report.best * from->space.width + i];
    return NAN;
}

/* Whether it can be a candidate of this search, which knows the same settings. */
static bool takes_winner(const mc_search_space *s, const mercer_search *from) {
    bool knows = from && s->method != MC_GRADIENT && s->machine == from->machine;
    for (int64_t i = 0; knows && i < s->settings; i++)
        knows = !isnan(winner_value(from, s->dimension[i].name));
    return knows;
}

/* The last candidate, of a kernel after the others in which nothing is open. */
static void write_winner(mc_search_space *s, const mercer_search *from) {
    s->of[s->count - 1] = s->kernels;
    for (int64_t i = 0; i < s->settings; i++)
        s->number[(s->count - 1) * s->width + i] = winner_value(from, s->dimension[i].name);
}

/* ---- Starts ---- */

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

/* Combinations of what is not free, and how much is. */
static double count_combinations(const mc_search_space *s, int64_t kernel, int64_t *free_ones) {
    double product = 1;
    *free_ones = 0;
    for (int64_t i = 0; i < mc_search_space_numbers(s, kernel); i++) {
        const mc_dimension *d = mc_search_space_dimension(s, kernel, i);
        *free_ones += mc_dimension_free(d);
        product *= mc_dimension_free(d) ? 1 : (double)d->count;
    }
    return product;
}

static mercer_status count_starts(mercer_ctx *ctx, const mercer_tune *set, mc_search_space *s) {
    const double each = (double)(set->candidates ? set->candidates : STARTS);
    double count = 0;
    int64_t free_ones, most = 0;
    for (int64_t k = 0; k < s->kernels; k++) {
        const double own = count_combinations(s, k, &free_ones);
        count += own * (free_ones ? each : 1);
        most = free_ones > most ? free_ones : most;
    }
    MC_TRY(check_sobol(ctx, set, most));
    if (count > CANDIDATES_MOST)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: the search has %.3g starts, more than %d; take fewer, or smaller sets", count,
                       CANDIDATES_MOST);
    s->count = (int64_t)count;
    return MERCER_OK;
}

/* The first start is in the middle of the ranges, but not of two in the same place: parts that are alike would stay
   alike. */
static void write_start(const mc_search_space *s, uint64_t seed, int64_t k, int64_t place, int64_t start,
                        double *number) {
    static const double ASIDE = 0.01;
    double u[MC_SOBOL_MOST];
    int64_t free_ones, next = 0;
    count_combinations(s, k, &free_ones);
    if (start)
        mc_sobol_point(seed + (uint64_t)k, start - 1, free_ones, u);
    for (int64_t j = 0; j < free_ones && !start; j++)
        u[j] = 0.5 + ASIDE * (double)j;
    for (int64_t i = 0; i < mc_search_space_numbers(s, k); i++) {
        const mc_dimension *d = mc_search_space_dimension(s, k, i);
        if (mc_dimension_free(d)) {
            number[i] = mc_dimension_at(d, u[next++]);
            continue;
        }
        number[i] = d->value[place % d->count];
        place /= d->count;
    }
}

/* The first start of everything comes first: what the time allows is spread. */
static void fill_starts(mc_search_space *s, const mercer_tune *set) {
    const int64_t each = set->candidates ? set->candidates : STARTS;
    int64_t at = 0, free_ones;
    for (int64_t start = 0; start < each; start++)
        for (int64_t k = 0; k < s->kernels; k++) {
            const int64_t own = (int64_t)count_combinations(s, k, &free_ones);
            for (int64_t place = 0; place < own && (free_ones || !start); place++, at++) {
                s->of[at] = k;
                write_start(s, set->seed, k, place, start, s->number + at * s->width);
            }
        }
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
    MC_TRY(out->method == MC_GRID     ? count_grid(ctx, out)
           : out->method == MC_RANDOM ? count_random(ctx, set, out)
                                      : count_starts(ctx, set, out));
    const bool winner = takes_winner(out, set->start);
    MC_TRY(MC_ALLOC(ctx, out->of, out->count + winner));
    MC_TRY(MC_ALLOC(ctx, out->number, (out->count + winner) * (out->width ? out->width : 1)));
    if (out->method == MC_GRID)
        fill_grid(out);
    else if (out->method == MC_RANDOM)
        fill_random(out, set->seed);
    else
        fill_starts(out, set);
    out->count += winner;
    if (winner)
        write_winner(out, set->start);
    return MERCER_OK;
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
