/* settings.c: one row per setting; everything else reads the row. */
#include "base/settings.h"
#include "base/number.h"
#include "base/print.h"
#include "base/status.h"
#include "base/suggest.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { SETTINGS_MOST = 64 }; /* among which a name is looked for */

static const double *real_at(const mercer_setting *row, const void *settings) {
    return (const double *)(const void *)((const char *)settings + row->offset);
}

static void *setting_field(const mercer_setting *row, void *settings) {
    return (char *)settings + row->offset;
}

int mc_choice_index(const char *choices, const char *text) {
    const size_t length = strlen(text);
    int place = 0;
    if (strchr(text, '|'))
        return -1; /* two choices are not one */
    for (const char *p = choices; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL, place++)
        if (strncmp(p, text, length) == 0 && (p[length] == '|' || p[length] == '\0'))
            return place;
    return -1;
}

static void fill_one(const mercer_setting *row, void *settings) {
    void *f = setting_field(row, settings);
    switch (row->type) {
    case MERCER_REAL: *(double *)f = row->initial; break;
    case MERCER_INTEGER: *(int64_t *)f = (int64_t)row->initial; break;
    case MERCER_FLAG: *(bool *)f = row->initial != 0; break;
    case MERCER_TEXT: *(const char **)f = row->initial_text; break;
    }
}

void mc_settings_fill(const mercer_setting *rows, int count, void *settings) {
    for (int i = 0; i < count; i++)
        fill_one(&rows[i], settings);
}

const char *mc_seen_text(double seen, double low, double high, char text[32]) {
    char bound[32];
    if (seen != 0 && fabs(seen) < DBL_MIN)
        return mc_number_text(seen, text);
    mc_print(text, 32, "%g", seen);
    const double ends[] = {low, high};
    for (int i = 0; i < 2; i++) {
        mc_print(bound, sizeof bound, "%g", ends[i]);
        if (strcmp(text, bound) == 0)
            return mc_number_text(seen, text);
    }
    return text;
}

static mercer_status fail_range(mercer_ctx *ctx, const char *owner, const mercer_setting *row, double seen) {
    char text[32];
    return mc_fail(ctx, MERCER_INVALID, "%s: %s must be in [%g, %g], got %s", owner, row->name, row->low, row->high,
                   mc_seen_text(seen, row->low, row->high, text));
}

static mercer_status fail_choice(mercer_ctx *ctx, const char *owner, const mercer_setting *row, const char *seen) {
    const char *choices = row->choices ? row->choices : "any text";
    return mc_fail(ctx, MERCER_INVALID, "%s: %s must be one of %s, got '%s'", owner, row->name, choices, seen);
}

static mercer_status check_one(mercer_ctx *ctx, const char *owner, const mercer_setting *row, const void *settings) {
    const char *f = (const char *)settings + row->offset;
    if (row->type == MERCER_TEXT) {
        const char *text = *(const char *const *)(const void *)f;
        const bool fine = text && (!row->choices || mc_choice_index(row->choices, text) >= 0);
        return fine ? MERCER_OK : fail_choice(ctx, owner, row, text ? text : "NULL");
    }
    if (row->type == MERCER_FLAG)
        return MERCER_OK;
    const double v = row->type == MERCER_REAL ? *real_at(row, settings) : (double)*(const int64_t *)(const void *)f;
    return v >= row->low && v <= row->high ? MERCER_OK : fail_range(ctx, owner, row, v); /* NaN fails */
}

mercer_status mc_settings_check(mercer_ctx *ctx, const char *owner, const mercer_setting *rows, int count,
                                const void *settings) {
    for (int i = 0; i < count; i++)
        MC_TRY(check_one(ctx, owner, &rows[i], settings));
    return MERCER_OK;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool mc_setting_same(const mercer_setting *row, const void *a, const void *b) {
    const char *f = (const char *)a + row->offset, *g = (const char *)b + row->offset;
    switch (row->type) {
    case MERCER_REAL: return memcmp(f, g, sizeof(double)) == 0;
    case MERCER_INTEGER: return memcmp(f, g, sizeof(int64_t)) == 0;
    case MERCER_FLAG: return *(const bool *)f == *(const bool *)g;
    case MERCER_TEXT: return same_text(*(const char *const *)(const void *)f, *(const char *const *)(const void *)g);
    }
    return true;
}

static mercer_status put_number(mercer_ctx *ctx, const char *owner, const mercer_setting *row, void *settings,
                                const char *text) {
    const char *end = text + strlen(text);
    double v;
    if (strcmp(text, "inf") == 0)
        v = INFINITY;
    else if (mc_number_read(text, end, &v) != end)
        return mc_fail(ctx, MERCER_INVALID, "%s: %s must be a number, got '%s'", owner, row->name, text);
    if (row->type == MERCER_INTEGER && v != floor(v))
        return mc_fail(ctx, MERCER_INVALID, "%s: %s must be a whole number, got '%s'", owner, row->name, text);
    if (!(v >= row->low && v <= row->high))
        return fail_range(ctx, owner, row, v);
    if (row->type == MERCER_INTEGER)
        *(int64_t *)setting_field(row, settings) = (int64_t)v;
    else
        *(double *)setting_field(row, settings) = v;
    return MERCER_OK;
}

static mercer_status put_flag(mercer_ctx *ctx, const char *owner, const mercer_setting *row, void *settings,
                              const char *text) {
    const bool yes = mc_choice_index("yes|true|1|on", text) >= 0, no = mc_choice_index("no|false|0|off", text) >= 0;
    if (!yes && !no)
        return mc_fail(ctx, MERCER_INVALID, "%s: %s must be yes or no, got '%s'", owner, row->name, text);
    *(bool *)setting_field(row, settings) = yes;
    return MERCER_OK;
}

static mercer_status fail_unknown(mercer_ctx *ctx, const char *owner, const mercer_setting *rows, int count,
                                  const char *name) {
    const char *names[SETTINGS_MOST];
    const int known = count < SETTINGS_MOST ? count : SETTINGS_MOST;
    for (int i = 0; i < known; i++)
        names[i] = rows[i].name;
    const char *near = mc_suggest_name(name, strlen(name), names, known);
    return mc_fail(ctx, MERCER_INVALID, "%s has no setting '%s'%s%s%s", owner, name, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

mercer_status mc_settings_write(mercer_ctx *ctx, const char *owner, const mercer_setting *rows, int count,
                                void *settings, const char *name, const char *text) {
    for (int i = 0; i < count; i++) {
        const mercer_setting *row = &rows[i];
        if (strcmp(row->name, name) != 0)
            continue;
        if (row->type == MERCER_FLAG)
            return put_flag(ctx, owner, row, settings, text);
        if (row->type != MERCER_TEXT)
            return put_number(ctx, owner, row, settings, text);
        if (row->choices && mc_choice_index(row->choices, text) < 0)
            return fail_choice(ctx, owner, row, text);
        *(const char **)setting_field(row, settings) = text;
        return MERCER_OK;
    }
    return fail_unknown(ctx, owner, rows, count, name);
}
