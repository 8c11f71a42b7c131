/* say.c: results for people: rows of a label and a fact on standard output, sentences on standard error. */
#include "cli/cli.h"
#include "data/helpers.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text of a format, shown. It may begin and end with a newline of its own; those among the arguments are not ours.
   */
static void print_shown(FILE *out, const char *keep, const char *format, va_list list) {
    char *said = NULL;
    const int length = vasprintf(&said, format, list);
    if (length < 0)
        return;
    const size_t last = strlen(format), first = *format == '\n', end = first < last && format[last - 1] == '\n',
                 size = (size_t)length;
    fputs(first ? "\n" : "", out);
    if (size > first + end)
        show_bytes(out, said + first, size - first - end, keep);
    fputs(end ? "\n" : "", out);
    free(said);
}

int print_error(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fputs("mercer: ", stderr);
    print_shown(stderr, "", format, list);
    fputc('\n', stderr);
    va_end(list);
    return EXIT_BAD;
}

void print_note(const session *s, const char *format, ...) {
    if (s->quiet)
        return;
    va_list list;
    va_start(list, format);
    fputs("note: ", stderr);
    print_shown(stderr, "", format, list);
    fputc('\n', stderr);
    va_end(list);
}

bool prints_report(const session *s) {
    return !s->json && !s->quiet;
}

void say_fact(session *s, const char *label, const char *format, ...) {
    if (!prints_report(s))
        return;
    session_wipe(s);
    va_list list;
    va_start(list, format);
    fprintf(s->out, "%-12s ", label);
    print_shown(s->out, "", format, list);
    fputc('\n', s->out);
    va_end(list);
}

void say_text(session *s, const char *format, ...) {
    if (!prints_report(s))
        return;
    session_wipe(s);
    va_list list;
    va_start(list, format);
    print_shown(s->out, "", format, list);
    va_end(list);
}

void say_lines(session *s, const char *lines) {
    if (!prints_report(s))
        return;
    session_wipe(s);
    show_bytes(s->out, lines, strlen(lines), "\n");
}

int write_text(session *s, const char *path, const char *bytes, size_t size) {
    if (strcmp(path, "-") != 0 || !isatty(STDOUT_FILENO)) {
        TRY_CTX(s, mc_file_write(s->ctx, path, bytes, size));
        return EXIT_DONE;
    }
    show_bytes(stdout, bytes, size, "\n\t");
    return EXIT_DONE;
}

int write_stream(session *s, const char *path, text_writer *write, const void *arg) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (out)
        write(out, arg);
    const bool failed = !out || ferror(out) || fclose(out);
    const int code = failed ? session_fail(s, MERCER_MEMORY) : write_text(s, path, bytes, size);
    free(bytes);
    return code;
}

text text_size(size_t bytes) {
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double v = (double)bytes;
    int k = 0;
    for (; v >= 1024 && k < 5; k++)
        v /= 1024;
    text t;
    snprintf(t.bytes, sizeof t.bytes, k && v < 99.95 ? "%.1f %s" : "%.0f %s", v, unit[k]);
    return t;
}

text text_seconds(double s) {
    text t;
    if (!isfinite(s))
        snprintf(t.bytes, sizeof t.bytes, "unknown");
    else if (s < 0.0995)
        snprintf(t.bytes, sizeof t.bytes, s < 0.00995 ? "%.1f ms" : "%.0f ms", 1000 * s);
    else if (s < 99.5)
        snprintf(t.bytes, sizeof t.bytes, s < 9.95 ? "%.2f s" : "%.1f s", s);
    else if (s < 7200)
        snprintf(t.bytes, sizeof t.bytes, "%.0f min %02.0f s", floor(s / 60), floor(fmod(s, 60)));
    else
        snprintf(t.bytes, sizeof t.bytes, "%.3g h", s / 3600);
    return t;
}

text text_count(int64_t count, const char *thing) {
    text t;
    snprintf(t.bytes, sizeof t.bytes, "%lld %s%s", (long long)count, thing, count == 1 ? "" : "s");
    return t;
}

text text_value(double value) {
    text t;
    snprintf(t.bytes, sizeof t.bytes, "%.4g", value);
    return t;
}

int64_t index_of_largest(const double *values, int64_t count) {
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (values[k] > values[best])
            best = k;
    return best;
}
