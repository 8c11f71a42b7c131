/* show_data.c: what mercer show tells of a table: its columns with their ranges, its target. */
#include "cli/cli.h"
#include <math.h>
#include <stdlib.h>

enum { SHOWN = 20 }; /* columns listed for people; --json lists all */

typedef struct range {
    int64_t column;
    double low, mean, high;
} range;

/* The columns of a table that are shown: all, or of very many those in which some row has a value. */
typedef struct ranges {
    int64_t count;
    range *of;
} ranges;

static void take_in(range *r, double value, double n) {
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
    r->mean += value / n;
}

static int find_dense_ranges(session *s, const mercer_data *data, ranges *out) {
    const int64_t n = mercer_data_rows(data), d = mercer_data_columns(data);
    out->of = session_take(s, d, 1, sizeof *out->of);
    double *row = out->of ? session_take(s, d, 1, sizeof *row) : NULL;
    if (!row)
        return EXIT_MEMORY;
    out->count = d;
    for (int64_t j = 0; j < d; j++)
        out->of[j] = (range){.column = j, .low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        mercer_data_row(data, i, row);
        for (int64_t j = 0; j < d; j++)
            take_in(&out->of[j], row[j], (double)n);
    }
    free(row);
    return EXIT_DONE;
}

static int by_column(const void *a, const void *b) {
    const range *x = a, *z = b;
    return (x->column > z->column) - (x->column < z->column);
}

/* Every value as a range of its own; those of one column then become one, with the zeros of the other rows. */
static void join_ranges(ranges *all, int64_t n) {
    int64_t count = 0;
    for (int64_t k = 0, next; k < all->count; k = next) {
        range r = {.column = all->of[k].column, .low = INFINITY, .high = -INFINITY};
        for (next = k; next < all->count && all->of[next].column == r.column; next++)
            take_in(&r, all->of[next].low, (double)n);
        if (next - k < n)
            take_in(&r, 0, (double)n);
        all->of[count++] = r;
    }
    all->count = count;
}

static int find_sparse_ranges(session *s, const mercer_data *data, ranges *out) {
    const int64_t n = mercer_data_rows(data), stored = mercer_data_stored(data);
    out->of = session_take(s, stored, 1, sizeof *out->of);
    int64_t *column = out->of ? session_take(s, stored, 1, sizeof *column) : NULL;
    double *value = column ? session_take(s, stored, 1, sizeof *value) : NULL;
    for (int64_t i = 0; value && i < n; i++) {
        const int64_t count = mercer_data_row_stored(data, i, column, value);
        for (int64_t k = 0; k < count; k++)
            out->of[out->count++] = (range){.column = column[k], .low = value[k]};
    }
    free(column);
    if (!value)
        return EXIT_MEMORY;
    free(value);
    qsort(out->of, (size_t)out->count, sizeof *out->of, by_column);
    join_ranges(out, n);
    return EXIT_DONE;
}

static int find_ranges(session *s, const mercer_data *data, ranges *out) {
    *out = (ranges){0};
    return mercer_data_is_sparse(data) && mercer_data_columns(data) > NAMED_COLUMNS_MOST
               ? find_sparse_ranges(s, data, out)
               : find_dense_ranges(s, data, out);
}

static const char *range_text(const mercer_data *data, const range *r, text *buffer) {
    return show_column_text(mercer_data_column_name(data, r->column), r->column, mercer_data_columns(data), buffer);
}

static range target_range(const mercer_data *data, int64_t output) {
    const int64_t n = mercer_data_rows(data);
    range r = {.low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        const double y = mercer_data_target(data, i, output);
        r.low = fmin(r.low, y);
        r.high = fmax(r.high, y);
        r.mean += y / (double)n;
    }
    return r;
}

static int64_t class_count(const mercer_data *data, int64_t k) {
    int64_t count = 0;
    for (int64_t i = 0; i < mercer_data_rows(data); i++)
        count += mercer_data_class(data, i) == k;
    return count;
}

static void say_range(session *s, const char *name, range r) {
    say_text(s, "  %-24s %12s %12s %12s\n", name, text_value(r.low).bytes, text_value(r.mean).bytes,
             text_value(r.high).bytes);
}

static void say_target(session *s, const mercer_data *data) {
    const int64_t classes = mercer_data_classes(data);
    for (int64_t k = 0; k < mercer_data_outputs(data) && k < SHOWN; k++)
        say_range(s, mercer_data_target_name(data, k), target_range(data, k));
    for (int64_t k = 0; k < classes && k < SHOWN; k++)
        say_fact(s, k ? "" : "classes", "%s: %s", mercer_data_label(data, k),
                 text_count(class_count(data, k), "row").bytes);
    if (classes > SHOWN)
        say_fact(s, "", "and %lld more", (long long)classes - SHOWN);
}

static void say_ranges(session *s, const mercer_data *data, const ranges *r) {
    const int64_t zero = mercer_data_columns(data) - r->count;
    text buffer;
    say_text(s, "  %-24s %12s %12s %12s\n", "column", "min", "mean", "max");
    for (int64_t j = 0; j < r->count && j < SHOWN; j++)
        say_range(s, range_text(data, &r->of[j], &buffer), r->of[j]);
    if (r->count > SHOWN)
        say_text(s, "  and %lld more%s\n", (long long)r->count - SHOWN, zero ? " with values" : "");
    if (zero)
        say_text(s, "  %s 0 in every row\n", text_count(zero, "column").bytes);
    say_target(s, data);
}

int say_table(session *s, const mercer_data *data) {
    ranges found;
    const int code = find_ranges(s, data, &found);
    if (code == EXIT_DONE)
        say_ranges(s, data, &found);
    free(found.of);
    return code;
}

static json_t *json_range(const char *name, range r) {
    json_t *object = json_object();
    json_put(object, "name", json_text(name));
    json_put(object, "least", json_value(r.low));
    json_put(object, "mean", json_value(r.mean));
    json_put(object, "greatest", json_value(r.high));
    return object;
}

static json_t *json_target(const mercer_data *data) {
    json_t *array = json_array();
    for (int64_t k = 0; k < mercer_data_outputs(data); k++)
        json_array_append_new(array, json_range(mercer_data_target_name(data, k), target_range(data, k)));
    return array;
}

static json_t *json_classes(const mercer_data *data) {
    json_t *object = json_object();
    for (int64_t k = 0; k < mercer_data_classes(data); k++) {
        json_t *label = json_text(mercer_data_label(data, k));
        json_put(object, json_string_value(label), json_integer(class_count(data, k)));
        json_decref(label);
    }
    return object;
}

static int report_data(session *s, const mercer_data *data, const ranges *r) {
    say_data(s, s->args.operand[0], data);
    say_ranges(s, data, r);
    text buffer;
    json_t *object = json_object(), *columns = json_array();
    for (int64_t j = 0; j < r->count; j++)
        json_array_append_new(columns, json_range(range_text(data, &r->of[j], &buffer), r->of[j]));
    json_put(object, "type", json_text("data"));
    json_put(object, "n", json_integer(mercer_data_rows(data)));
    json_put(object, "d", json_integer(mercer_data_columns(data)));
    json_put(object, "sparse", json_boolean(mercer_data_is_sparse(data)));
    json_put(object, "stored", json_integer(mercer_data_stored(data)));
    json_put(object, "missing", json_integer(mercer_data_missing(data)));
    json_put(object, "columns", columns);
    json_put(object, "target", json_target(data));
    json_put(object, "classes", json_classes(data));
    return json_finish(s, object);
}

int show_data(session *s) {
    mercer_data *data = NULL;
    ranges found = {0};
    s->describes = true;
    int code = input_data(s, NULL, s->args.operand[0], NULL, MERCER_TARGET_AUTO, &data);
    if (code == EXIT_DONE)
        code = find_ranges(s, data, &found);
    if (code == EXIT_DONE)
        code = report_data(s, data, &found);
    free(found.of);
    mercer_data_free(data);
    return code;
}
