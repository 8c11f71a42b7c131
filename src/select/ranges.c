/* ranges.c: what a dimension takes its values from. A range of positive numbers is cut on a logarithmic scale, both
   ends exact and the rest of few digits; a range of whole numbers gives those that are nearest to the cuts, each once.
   */
#include "base/memory.h"
#include "base/number.h"
#include "base/print.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/suggest.h"
#include "select/tune.h"
#include <math.h>
#include <string.h>

enum { POINTS_MOST = 100000 };

/* Three digits where the cuts lie far enough apart: candidates are to be read. */
static double round_to_readable(double v, double step) {
    char text[32];
    if (!(fabs(step) > 0.02 * fabs(v)))
        return v;
    mc_print(text, sizeof text, "%.3g", v);
    mc_number_read(text, text + strlen(text), &v);
    return v;
}

static double cut_at(const mc_dimension *d, int64_t k, int64_t points) {
    const double share = (double)k / (double)(points - 1),
                 span = d->log ? log(d->high) - log(d->low) : d->high - d->low;
    const double v = d->log ? exp(log(d->low) + share * span) : d->low + share * span;
    const double step = (d->log ? v : 1) * span / (double)(points - 1);
    const double cut = k == 0 ? d->low : k == points - 1 ? d->high : round_to_readable(v, step);
    return d->whole ? round(cut) : cut;
}

mercer_status mc_dimension_grid(mercer_ctx *ctx, mc_dimension *d, int64_t points) {
    MC_TRY(MC_ALLOC(ctx, d->value, points));
    for (int64_t k = 0; k < points; k++) {
        const double v = cut_at(d, k, points);
        if (d->count == 0 || v > d->value[d->count - 1])
            d->value[d->count++] = v;
    }
    return MERCER_OK;
}

/* ---- From text ---- */

static const mercer_setting *setting_of(const mercer_machine *machine, const char *name, size_t length) {
    for (int i = 0; i < machine->count; i++)
        if (strlen(machine->settings[i].name) == length && strncmp(machine->settings[i].name, name, length) == 0)
            return &machine->settings[i];
    return NULL;
}

static mercer_status no_setting(mercer_ctx *ctx, const mercer_machine *machine, const char *name, int length) {
    const char *names[64];
    int count = 0;
    for (int i = 0; i < machine->count && count < 64; i++)
        if (machine->settings[i].type == MERCER_REAL || machine->settings[i].type == MERCER_INTEGER)
            names[count++] = machine->settings[i].name;
    const char *near = mc_suggest_name(name, (size_t)length, names, count);
    return mc_fail(ctx, MERCER_INVALID, "tune: %s has no setting '%.*s' to search%s%s%s", machine->name, length, name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static const char *skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* One number of the setting's kind within its range. */
static mercer_status read_range_number(mercer_ctx *ctx, const mercer_machine *machine, const mc_dimension *d,
                                       const char **p, double *out) {
    const char *begin = skip_blanks(*p), *end = mc_number_read(begin, begin + strlen(begin), out);
    if (!end)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: --%s: a number was expected at '%.20s'; write a range, 0.1..10, or a set, {1, 2, 3}",
                       d->name, begin);
    if (end[-1] == '.' && *end == '.')
        end--; /* the point of 1..10 is not of the number */
    if (d->whole && *out != floor(*out))
        return mc_fail(ctx, MERCER_INVALID, "tune: %s's %s must be a whole number, got %g", machine->name, d->name,
                       *out);
    char text[32];
    if (isinf(*out))
        return mc_fail(ctx, MERCER_INVALID, "tune: values of %s's %s that are searched must be finite, got %g",
                       machine->name, d->name, *out);
    if (!(*out >= d->setting->low && *out <= d->setting->high))
        return mc_fail(ctx, MERCER_INVALID, "tune: %s's %s must be in [%g, %g], got %s", machine->name, d->name,
                       d->setting->low, d->setting->high, mc_seen_text(*out, d->setting->low, d->setting->high, text));
    *p = skip_blanks(end);
    return MERCER_OK;
}

static mercer_status read_set(mercer_ctx *ctx, const mercer_machine *machine, const char *p, mc_dimension *d) {
    const char *comma = p;
    int64_t capacity = 1;
    for (; *comma; comma++)
        capacity += *comma == ',';
    MC_TRY(MC_ALLOC(ctx, d->value, capacity));
    d->set = true;
    if (*skip_blanks(p) == '}')
        return mc_fail(ctx, MERCER_INVALID, "tune: --%s: the set is empty; write {1, 2, 3}", d->name);
    do {
        MC_TRY(read_range_number(ctx, machine, d, &p, &d->value[d->count]));
        d->count++;
    } while (*p == ',' && p++);
    if (*p != '}' || *skip_blanks(p + 1))
        return mc_fail(ctx, MERCER_INVALID, "tune: --%s: ',' or a closing '}' was expected at '%.20s'", d->name, p);
    return MERCER_OK;
}

static mercer_status read_range(mercer_ctx *ctx, const mercer_machine *machine, const char *p, int64_t points,
                                mc_dimension *d) {
    MC_TRY(read_range_number(ctx, machine, d, &p, &d->low));
    if (strncmp(p, "..", 2) != 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: --%s: a range such as 0.1..10 was expected, '..' is missing at '%.20s'", d->name, p);
    p = skip_blanks(p + 2);
    if (!*p)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: --%s: the range %g.. has no end; write the largest value behind the dots", d->name,
                       d->low);
    MC_TRY(read_range_number(ctx, machine, d, &p, &d->high));
    if (*p)
        return mc_fail(ctx, MERCER_INVALID, "tune: --%s: nothing was expected after the range, got '%.20s'", d->name,
                       p);
    if (d->low > d->high)
        return mc_fail(ctx, MERCER_INVALID, "tune: --%s: the range %g..%g is reversed; write %g..%g", d->name, d->low,
                       d->high, d->high, d->low);
    if (d->low == d->high)
        return mc_fail(ctx, MERCER_INVALID, "tune: --%s: the range %g..%g is empty; write one number", d->name, d->low,
                       d->high);
    d->log = d->low > 0;
    return mc_dimension_grid(ctx, d, points);
}

mercer_status mc_range_read(mercer_ctx *ctx, const mercer_machine *machine, const char *text, int64_t points,
                            mc_dimension *out) {
    const char *equals = strchr(text, '=');
    if (!equals)
        return mc_fail(ctx, MERCER_INVALID, "tune: a range is written name=low..high, got '%.40s'", text);
    out->setting = setting_of(machine, text, (size_t)(equals - text));
    if (!out->setting || (out->setting->type != MERCER_REAL && out->setting->type != MERCER_INTEGER))
        return no_setting(ctx, machine, text, (int)(equals - text));
    if (points < 2 || points > POINTS_MOST)
        return mc_fail(ctx, MERCER_INVALID, "tune: points of a range must be in [2, %d], got %lld", POINTS_MOST,
                       (long long)points);
    mc_print(out->name, sizeof out->name, "%s", out->setting->name);
    out->whole = out->setting->type == MERCER_INTEGER;
    const char *p = skip_blanks(equals + 1);
    return *p == '{' ? read_set(ctx, machine, p + 1, out) : read_range(ctx, machine, p, points, out);
}
