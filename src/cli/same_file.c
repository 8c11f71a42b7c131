/* same_file.c: what the files named on a command line are to each other: an output that is also an input would be lost,
   and what can be read only once is kept where a verb looks first and reads then. */
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Outputs that are inputs ---- */

static bool is_output(const char *name) {
    return strcmp(name, "output") == 0 || strcmp(name, "trace") == 0 || strcmp(name, "repair") == 0
           || strcmp(name, "factor") == 0;
}

/* By device and number, so that links and other spellings of a name count. A device or a pipe holds nothing that could
   be lost. */
static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int fail_same(const char *name, const char *output, const char *input) {
    return print_error("--%s %s would replace '%s', which is read here; name another file", name, output, input);
}

static int check_one(const args *a, const given *output) {
    for (int i = a->verb->renews ? 1 : 0; i < a->operands; i++)
        if (same_file(output->text, a->operand[i]))
            return fail_same(output->name, output->text, a->operand[i]);
    for (int i = 0; i < a->count; i++)
        if (&a->given[i] != output && strcmp(a->given[i].name, output->name) != 0
            && same_file(output->text, a->given[i].text))
            return fail_same(output->name, output->text, a->given[i].text);
    return EXIT_DONE;
}

int files_check(const args *a) {
    for (int i = 0; i < a->count; i++)
        if (!a->given[i].setting && is_output(a->given[i].name))
            TRY(check_one(a, &a->given[i]));
    return EXIT_DONE;
}

/* ---- What can be read only once ---- */

bool is_plain_file(const char *path) {
    struct stat info;
    return strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Bytes as they come, in short waits between which the run may be told to stop. */
static int copy_all(session *s, int from, FILE *to, const char *name) {
    char piece[1 << 16];
    struct pollfd one = {.fd = from, .events = POLLIN};
    for (ssize_t got = 1; got != 0;) {
        TRY(session_alive(s));
        if (poll(&one, 1, 50) <= 0)
            continue;
        got = read(from, piece, sizeof piece);
        if ((got < 0 && errno != EINTR && errno != EAGAIN)
            || (got > 0 && fwrite(piece, 1, (size_t)got, to) != (size_t)got))
            return print_error("cannot read '%s': %s", name, strerror(errno));
    }
    return fflush(to) ? print_error("cannot read '%s': %s", name, strerror(errno)) : EXIT_DONE;
}

int files_keep(session *s, int operand) {
    const char *path = s->args.operand[operand];
    const bool standard = strcmp(path, "-") == 0;
    if (is_plain_file(path) || (!standard && access(path, F_OK) != 0))
        return EXIT_DONE;
    const int from = standard ? STDIN_FILENO : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *to = from >= 0 ? tmpfile() : NULL; /* closed by the end of the run */
    if (!to)
        return print_error("cannot read '%s': %s", path, strerror(errno));
    TRY(copy_all(s, from, to, path));
    if (!standard)
        close(from);
    snprintf(s->kept[operand].bytes, sizeof s->kept[operand].bytes, "/dev/fd/%d", fileno(to));
    s->args.operand[operand] = s->kept[operand].bytes;
    return EXIT_DONE;
}
