/* json_output.c: results for programs. Values are built with jansson; the printing is ours because numbers are to be
   the shortest text that reads back to the same double, and a row of numbers is to stand on one line. */
#include "cli/cli.h"
#include "data/helpers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_value(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_values(const double *values, int64_t count) {
    json_t *array = json_array();
    for (int64_t i = 0; i < count; i++)
        json_array_append_new(array, json_value(values[i]));
    return array;
}

void json_put(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

double json_number_in(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Column names and labels are whatever bytes the file had: each byte that is no part of UTF-8 becomes U+FFFD. */
json_t *json_text(const char *utf8) {
    if (!utf8)
        return json_null();
    json_t *value = json_string(utf8);
    if (value)
        return value;
    const size_t length = strlen(utf8);
    char *mended = malloc(3 * length + 1), *p = mended;
    for (size_t i = 0; mended && i < length;) {
        size_t step = 4; /* the longest piece from here that is UTF-8 */
        for (; step > 0; step--) {
            json_t *piece = i + step <= length ? json_stringn(utf8 + i, step) : NULL;
            json_decref(piece);
            if (piece)
                break;
        }
        memcpy(p, step ? utf8 + i : "\xEF\xBF\xBD", step ? step : 3);
        p += step ? step : 3;
        i += step ? step : 1;
    }
    value = mended ? json_stringn(mended, (size_t)(p - mended)) : json_null();
    free(mended);
    return value;
}

static void print_string(FILE *out, const json_t *value) {
    char *quoted = json_dumps(value, JSON_ENCODE_ANY);
    fputs(quoted ? quoted : "null", out);
    free(quoted);
}

static void print_number(FILE *out, const json_t *value) {
    char number[32];
    if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else
        fputs(mc_number_text(json_real_value(value), number), out);
}

static bool is_flat(const json_t *array) {
    for (size_t i = 0; i < json_array_size(array); i++)
        if (json_is_object(json_array_get(array, i)) || json_is_array(json_array_get(array, i)))
            return false;
    return true;
}

static void print_value(FILE *out, const json_t *value, int depth);

static void new_line(FILE *out, int depth) {
    fprintf(out, "\n%*s", 2 * depth, "");
}

static void print_array(FILE *out, const json_t *array, int depth) {
    const bool flat = is_flat(array);
    fputc('[', out);
    for (size_t i = 0; i < json_array_size(array); i++) {
        fputs(!i ? "" : flat ? ", " : ",", out);
        if (!flat)
            new_line(out, depth + 1);
        print_value(out, json_array_get(array, i), depth + 1);
    }
    if (!flat)
        new_line(out, depth);
    fputc(']', out);
}

static void print_object(FILE *out, const json_t *object, int depth) {
    const char *before = "{";
    for (void *at = json_object_iter((json_t *)object); at; at = json_object_iter_next((json_t *)object, at)) {
        fputs(before, out);
        new_line(out, depth + 1);
        json_t *key = json_string(json_object_iter_key(at));
        print_string(out, key);
        json_decref(key);
        fputs(": ", out);
        print_value(out, json_object_iter_value(at), depth + 1);
        before = ",";
    }
    if (*before == '{')
        fputs("{", out);
    else
        new_line(out, depth);
    fputc('}', out);
}

static void print_value(FILE *out, const json_t *value, int depth) {
    if (json_is_object(value))
        print_object(out, value, depth);
    else if (json_is_array(value))
        print_array(out, value, depth);
    else if (json_is_string(value))
        print_string(out, value);
    else if (json_is_number(value))
        print_number(out, value);
    else
        fputs(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null", out);
}

void json_print(FILE *out, const json_t *value) {
    print_value(out, value, 0);
    fputc('\n', out);
}

/* By the library, which watches the clock where nobody reads. */
static int finish_text(session *s, char *bytes, size_t size) {
    int code = EXIT_DONE;
    if (s->out != stdout)
        fwrite(bytes, 1, size, s->out);
    else if (fflush(stdout) == 0)
        code = write_text(s, "-", bytes, size);
    free(bytes);
    return s->undelivered = code;
}

int json_finish(session *s, json_t *object) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = s->json ? open_memstream(&bytes, &size) : NULL;
    session_wipe(s);
    if (stream)
        json_print(stream, object);
    json_decref(object);
    if (!s->json)
        return EXIT_DONE;
    if (!stream || fclose(stream) != 0) {
        free(bytes);
        print_error("there is no memory for the result as JSON");
        return EXIT_MEMORY;
    }
    return finish_text(s, bytes, size);
}
