/* report_fields.c: a report for people, made from the object that --json prints: a table of rows, each a label and a
   sentence with the names of fields in it. What stands in the text stands in the object, because it comes from nowhere
   else.

       {path}        the field: a text, a whole number, a number in four digits; a.b is field b of the object a
       {path:.2g}    a number in this format of printf
       {path:%.2g}   a share, in per cent
       {path:row}    a count with its noun: 1 row, 2 rows
       {path:size}   bytes; {path:time}: seconds, which may be unknown
       {path:8size}  any of these at the right of so many columns; {path:-8}: at the left
       [ ... ]       left out where a field in it is not known

   A row is printed where all fields of its sentence are known, and what stands under when holds: conditions with spaces
   between them, path (known, and not false or an empty list), !path, path=text, path!=text, path<path (a number
   may stand for either), !path<path. */
#include "cli/cli.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 80 };

/* NULL where it is not known. */
static const json_t *find_field(const json_t *object, const char *path) {
    char name[NAME];
    for (const char *dot; (dot = strchr(path, '.')) && object; path = dot + 1) {
        snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
        object = json_object_get(object, name);
    }
    const json_t *value = json_object_get(object, path);
    return json_is_null(value) ? NULL : value;
}

static bool is_set(const json_t *value) {
    return value && !json_is_false(value) && !(json_is_array(value) && json_array_size(value) == 0);
}

/* A field, or a number as it is written. */
static double number_of(const json_t *object, const char *path) {
    return isdigit((unsigned char)*path) ? strtod(path, NULL) : json_number_value(find_field(object, path));
}

/* A word of a condition has no spaces; _ stands for them. */
static bool is_text(const json_t *value, const char *word) {
    const char *seen = json_is_string(value) ? json_string_value(value) : "";
    while (*seen && (*seen == *word || (*seen == ' ' && *word == '_'))) {
        seen++;
        word++;
    }
    return !*seen && !*word;
}

static bool less_than(const json_t *object, char *left, char *mark) {
    const bool unless = *left == '!';
    *mark = '\0';
    return (number_of(object, left + unless) < number_of(object, mark + 1)) != unless;
}

static bool holds_one(const json_t *object, char *condition) {
    char *mark = strpbrk(condition, "=<");
    if (mark && *mark == '<')
        return less_than(object, condition, mark);
    if (!mark)
        return condition[0] == '!' ? !is_set(find_field(object, condition + 1)) : is_set(find_field(object, condition));
    const bool unlike = mark > condition && mark[-1] == '!';
    *(mark - unlike) = '\0';
    return is_text(find_field(object, condition), mark + 1) != unlike;
}

static bool all_conditions_hold(const json_t *object, const char *when) {
    while (when && *when) {
        char condition[2 * NAME];
        const size_t length = strcspn(when, " ");
        snprintf(condition, sizeof condition, "%.*s", (int)length, when);
        if (!holds_one(object, condition))
            return false;
        when += length + (when[length] == ' ');
    }
    return true;
}

/* ---- One field ---- */

static void put_number(FILE *out, double value, const char *format) {
    char whole[NAME];
    snprintf(whole, sizeof whole, "%%%s", format);
    fprintf(out, whole, value); /* the formats are those of the tables of this command */
}

static void put_plain(FILE *out, const json_t *value, const char *format) {
    const double number = value ? json_number_value(value) : NAN;
    if (json_is_string(value))
        fputs(json_string_value(value), out);
    else if (!*format && json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    else if (!*format || *format == '.')
        put_number(out, number, *format ? format : ".4g");
    else if (*format == '%') {
        put_number(out, 100 * number, format + 1);
        fputc('%', out);
    } else if (strcmp(format, "size") == 0)
        fputs(text_size((size_t)number).bytes, out);
    else if (strcmp(format, "time") == 0)
        fputs(text_seconds(number).bytes, out);
    else
        fputs(text_count((int64_t)number, format).bytes, out);
}

static void put_field(FILE *out, const json_t *value, const char *format) {
    char *kind, cell[4 * NAME] = "";
    const int width = (int)strtol(format, &kind, 10);
    FILE *inner = width ? fmemopen(cell, sizeof cell, "w") : NULL;
    put_plain(inner ? inner : out, value, kind);
    if (inner && fclose(inner) == 0)
        fprintf(out, "%*s", width, cell);
}

static bool is_time(const char *format) {
    return strcmp(format + strspn(format, "-0123456789"), "time") == 0;
}

/* ---- One sentence ---- */

/* Where the field that begins at {, or the part that begins at [, ends. */
static const char *end_of(const char *p) {
    return strchr(p, *p == '{' ? '}' : ']');
}

/* Up to end; false where a field outside of brackets is not known, and then what was written is worth nothing. */
static bool put_sentence(FILE *out, const json_t *object, const char *p, const char *end) {
    bool known = true;
    for (; p < end; p++) {
        if (*p != '{' && *p != '[') {
            fputc(*p, out);
            continue;
        }
        const char *close = end_of(p);
        char part[4 * NAME] = "";
        if (*p == '[') {
            FILE *inner = fmemopen(part, sizeof part, "w");
            const bool all = inner && put_sentence(inner, object, p + 1, close);
            if (inner)
                fclose(inner);
            fputs(all ? part : "", out);
        } else {
            snprintf(part, sizeof part, "%.*s", (int)(close - p - 1), p + 1);
            char *format = strchr(part, ':');
            if (format)
                *format++ = '\0';
            const json_t *value = find_field(object, part);
            const bool known_one = value || (format && is_time(format));
            known &= known_one;
            if (known_one)
                put_field(out, value, format ? format : "");
        }
        p = close;
    }
    return known;
}

/* The sentence of a row; NULL where it is not to be said. free() it. */
static char *sentence_of(const json_t *object, const report_row *row) {
    char *said = NULL;
    size_t size = 0;
    FILE *out = all_conditions_hold(object, row->when) ? open_memstream(&said, &size) : NULL;
    const bool known = out && put_sentence(out, object, row->format, row->format + strlen(row->format));
    if (out && fclose(out) == 0 && known)
        return said;
    free(said);
    return NULL;
}

void say_fields(session *s, const json_t *object, const report_row *rows) {
    for (; prints_report(s) && rows->format; rows++) {
        char *said = sentence_of(object, rows);
        if (said)
            say_fact(s, rows->label, "%s", said);
        free(said);
    }
}

void say_list(session *s, const char *label, const json_t *object, const report_row *rows) {
    bool any = false;
    for (; prints_report(s) && rows->format; rows++) {
        char *said = sentence_of(object, rows);
        if (said && !any)
            say_text(s, "\n%s: ", label);
        if (said)
            say_text(s, any ? ", %s" : "%s", said);
        any = any || said;
        free(said);
    }
    if (any)
        say_text(s, "\n");
}

void say_titles(session *s, const report_column *columns) {
    for (const report_column *c = columns; c->key; c++)
        say_text(s, c == columns ? "\n%*s" : " %*s", c->width, c->title);
    say_text(s, "\n");
}

void say_row(session *s, const json_t *row, const report_column *columns, const char *note) {
    for (const report_column *c = columns; c->key && prints_report(s); c++) {
        char cell[4 * NAME] = "-"; /* not known, or no number */
        const json_t *value = find_field(row, c->key);
        FILE *out = value ? fmemopen(cell, sizeof cell, "w") : NULL;
        if (out) {
            put_field(out, value, c->format);
            fclose(out);
        }
        say_text(s, c == columns ? "%*s" : " %*s", c->width, cell);
    }
    say_text(s, "%s\n", note);
}

int report_fields(session *s, json_t *object, const report_row *rows) {
    say_fields(s, object, rows);
    return json_finish(s, object);
}
