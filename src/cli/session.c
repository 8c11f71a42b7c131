/* session.c: one run of the command: the context, Ctrl-C, the time limit, the progress bar, how a failure is said.

   Ctrl-C (and SIGTERM) sets a flag that the library's progress callback reads; the call ends with MERCER_CANCELLED,
   nothing is written and the exit status is 4. A second one ends the process at once. */
#include "cli/reports/trace.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const option common_options[] = {
    {"json", 0, NULL, "print the result as one JSON object"},
    {"quiet", 'q', NULL, "print no report and no notes"},
    {"memory", 0, "SIZE",
     "limit on memory for data and work, such as 500M or 4G (default: 80% of what is free); see mercer info"},
    {"threads", 0, "N", "threads to compute with (default: the cores that affinity, quota and OMP_NUM_THREADS leave)"},
    {"device", 0, "NAME", "auto, cpu, cuda or cuda:1: what computes products with K (default: auto); see mercer info"},
    {"device-memory", 0, "SIZE", "limit on memory of the card, such as 8G (default: 90% of what is free there)"},
    {"ranks", 0, "NAME",
     "auto, none or mpi: whether processes that mpirun or srun started share the work (default: auto)"},
    {"time-limit", 0, "SECONDS", "stop after this long, with exit status 4; fit plans its work to meet it"},
    {"help", 'h', NULL, "print this text"},
    {0},
};

const option seed_options[] = {
    {"seed", 0, "N", "seed of random numbers (default 0)"},
    {0},
};

#define LEAST_TIME 0.01 /* seconds that a call of the library has, however late it is */

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    (void)number;
    interrupted = 1;
}

/* SA_RESETHAND: the next one has its usual effect, for work that cannot be asked to stop. A signal that whoever started
   us had ignored (nohup, a job in the background of a script) stays ignored. */
static void watch_signal(int number) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART}, before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

double clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Progress ---- */

void session_wipe(session *s) {
    if (s->drawn)
        fputs("\r\033[K", stderr);
    s->drawn = false;
}

/* Of the phase, from how long the share done of it has taken. */
static double time_left(session *s, const mercer_progress *p) {
    const double now = clock_now();
    if (!s->phase || strcmp(s->phase, p->phase) != 0 || p->done < s->phase_done) {
        s->phase = p->phase;
        s->phase_began = now;
        s->phase_from = p->done;
    }
    s->phase_done = p->done;
    const double advanced = p->done - s->phase_from;
    return advanced > 0 ? (now - s->phase_began) * (1 - p->done) / advanced : p->seconds * (1 - p->done) / p->done;
}

static void draw_bar(session *s, const mercer_progress *p) {
    enum { WIDTH = 30 };
    const double elapsed = clock_now() - s->began;
    if (elapsed < 2 || elapsed < s->bar_next) /* short runs stay silent */
        return;
    s->bar_next = elapsed + 0.1;
    const int full = p->done > 0 ? (int)(WIDTH * fmin(p->done, 1)) : 0;
    fprintf(stderr, "\r%-10s [%.*s%*s] ", p->phase, full, "##############################", WIDTH - full, "");
    if (p->done >= 0)
        fprintf(stderr, "%3.0f%%  ", 100 * fmin(p->done, 1));
    fprintf(stderr, "%.0f s", elapsed);
    if (p->done > 0.01 && p->done < 1 && p->seconds > 0) /* the share done is of this phase, and so is the time left */
        fprintf(stderr, ", about %s left", text_seconds(time_left(s, p)).bytes);
    if (!isnan(p->gap))
        fprintf(stderr, ", violation %.1e, gap %.1e, %lld vectors", p->measure, p->gap, (long long)p->vectors);
    else if (!isnan(p->measure))
        fprintf(stderr, ", %s %.1e", p->watches, p->measure);
    fputs("\033[K", stderr);
    s->drawn = true;
}

static int on_progress(void *user, const mercer_progress *p) {
    session *s = user;
    if (s->trace)
        trace_take(s->trace, p);
    if (s->bar)
        draw_bar(s, p);
    if (s->time_limit > 0 && !s->plans && clock_now() - s->began > s->time_limit)
        s->expired = true;
    if (s->ends > 0 && clock_now() > s->ends)
        s->expired = true;
    return interrupted || s->expired;
}

/* ---- Opening ---- */

static int read_options(session *s, mercer_options *options) {
    const args *a = &s->args;
    int64_t threads = 0, seed = 0;
    TRY(args_whole(a, "threads", 1, 4096, &threads));
    TRY(args_whole(a, "seed", 0, (int64_t)1 << 53, &seed));
    TRY(args_bytes(a, "memory", &options->memory_limit));
    TRY(args_real(a, "time-limit", 1e-3, 1e9, &s->time_limit));
    TRY(args_bytes(a, "device-memory", &options->device_memory_limit));
    TRY(ranks_options(s, options));
    options->device = args_text(a, "device");
    options->threads = (int)threads;
    options->seed = (uint64_t)seed;
    options->time_limit = s->time_limit; /* of one call; on_progress watches the whole run */
    options->progress = on_progress;
    options->progress_user = s;
    options->every_step = args_text(a, "trace") != NULL;
    return EXIT_DONE;
}

int session_open(session *s) {
    s->out = stdout;
    s->began = clock_now();
    s->json = args_flag(&s->args, "json");
    s->quiet = args_flag(&s->args, "quiet");
    s->bar = !s->quiet && isatty(STDERR_FILENO);
    mercer_options options = mercer_options_defaults();
    TRY(read_options(s, &options));
    watch_signal(SIGINT);
    watch_signal(SIGTERM);
    const mercer_status status = mercer_open(&options, &s->ctx);
    return status ? session_fail(s, status) : ranks_check(s);
}

void session_close(session *s) {
    session_wipe(s);
    if (!s->quiet && *mercer_device_note(s->ctx))
        fprintf(stderr, "mercer: %s\n", mercer_device_note(s->ctx));
    mercer_close(s->ctx);
    args_close(&s->args);
}

/* ---- Failing ---- */

static int exit_status(mercer_status status) {
    static const int table[] = {
        [MERCER_OK] = EXIT_DONE,           [MERCER_INVALID] = EXIT_BAD,   [MERCER_SYNTAX] = EXIT_BAD,
        [MERCER_DATA] = EXIT_BAD,          [MERCER_IO] = EXIT_BAD,        [MERCER_FORMAT] = EXIT_BAD,
        [MERCER_NOT_A_KERNEL] = EXIT_BAD,  [MERCER_MEMORY] = EXIT_MEMORY, [MERCER_NUMERIC] = EXIT_NUMERIC,
        [MERCER_CANCELLED] = EXIT_STOPPED, [MERCER_TIME] = EXIT_STOPPED,  [MERCER_INTERNAL] = EXIT_NUMERIC,
    };
    return table[status];
}

static int report_interruption(session *s) {
    if (s->expired)
        print_error("the time limit of %g s was reached; no file was written", s->time_limit);
    else
        print_error("stopped by a signal; no file was written");
    return EXIT_STOPPED;
}

int session_fail(session *s, mercer_status status) {
    session_wipe(s);
    if (status == MERCER_TIME)
        s->expired = true;
    if (status == MERCER_CANCELLED || status == MERCER_TIME)
        return report_interruption(s);
    const char *message = mercer_message(s->ctx);
    print_error("%s", *message ? message : mercer_status_text(status));
    return exit_status(status);
}

/* Bytes that continue a UTF-8 character take no column. */
static int columns_before(const char *bytes, int64_t offset) {
    int columns = 0;
    for (int64_t i = 0; i < offset && bytes[i]; i++)
        columns += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return columns;
}

int session_fail_at(session *s, mercer_status status, const char *expression) {
    const int code = session_fail(s, status);
    const int64_t offset = mercer_message_offset(s->ctx);
    if (offset < 0 || strpbrk(expression, "\t\r\n"))
        return code;
    fputs("  ", stderr);
    show_bytes(stderr, expression, strlen(expression), "");
    fprintf(stderr, "\n  %*s^\n", columns_before(expression, offset), "");
    return code;
}

static void limit_next_call(session *s, double share, double grace) {
    if (s->time_limit <= 0)
        return;
    const double left = fmax(LEAST_TIME, s->time_limit - (clock_now() - s->began));
    mercer_set_time_limit(s->ctx, share * left + grace);
    s->plans = true;
}

void session_share(session *s, double share) {
    limit_next_call(s, share, 0);
}

void session_finish(session *s) {
    limit_next_call(s, 1, 1);
}

void session_resume(session *s) {
    interrupted = 0;
    s->expired = false;
    s->plans = true;
    s->ends = clock_now() + SESSION_GRACE + 1;
    mercer_set_time_limit(s->ctx, SESSION_GRACE);
}

int session_alive(session *s) {
    session_wipe(s);
    if (s->time_limit > 0 && !s->plans && clock_now() - s->began > s->time_limit)
        s->expired = true;
    if (!interrupted && !s->expired)
        return EXIT_DONE;
    return report_interruption(s);
}

void *session_take(session *s, int64_t rows, int64_t columns, size_t size) {
    const double wanted = (double)rows * (double)columns * (double)size;
    const double left = (double)mercer_memory_limit(s->ctx) - (double)mercer_memory_used(s->ctx);
    void *block = wanted <= left ? calloc((size_t)(rows * columns) + 1, size) : NULL;
    if (!block)
        print_error("%lld x %lld numbers take %s, but %s are left of the memory limit of %s", (long long)rows,
                    (long long)columns, text_size((size_t)wanted).bytes, text_size((size_t)fmax(left, 0)).bytes,
                    text_size(mercer_memory_limit(s->ctx)).bytes);
    return block;
}
