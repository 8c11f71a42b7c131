/* watch.h: what the programs of this folder have in common: the wishes of the command line, the seed, and the number of
   the mutant, which is said on the way down so that it can be made again. */
#ifndef FUZZ_WATCH_H
#define FUZZ_WATCH_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t seed;
static volatile int64_t mutant;
static unsigned patience; /* seconds for one mutant */

typedef struct wishes {
    int64_t first, last; /* mutants */
    double seconds;
    time_t began;
    const char *folder;
} wishes;

static inline uint64_t fresh_seed(void) {
    struct timespec t;
    const char *text = getenv("MERCER_TEST_SEED");
    clock_gettime(CLOCK_REALTIME, &t);
    return text ? strtoull(text, NULL, 10) : (uint64_t)t.tv_sec * 1000003u + (uint64_t)t.tv_nsec;
}

/* -n MUTANTS, -t SECONDS, -s SEED, -o MUTANT: that one alone, -w FOLDER. Prints the seed. */
static inline wishes read_wishes(int argc, char **argv, int64_t usual) {
    const char *count = getenv("MERCER_FUZZ_MUTANTS");
    wishes w = {.last = count ? atoll(count) : usual, .seconds = 1e9, .began = time(NULL)};
    seed = fresh_seed();
    for (int i = 1; i + 1 < argc; i += 2)
        switch (argv[i][1]) {
        case 's': seed = strtoull(argv[i + 1], NULL, 10); break;
        case 'w': w.folder = argv[i + 1]; break;
        case 'o': w.last = (w.first = atoll(argv[i + 1])) + 1; break;
        case 't':
            w.seconds = atof(argv[i + 1]);
            w.last = INT64_MAX;
            break;
        default: w.last = atoll(argv[i + 1]);
        }
    printf("seed %llu (set MERCER_TEST_SEED to repeat another)\n", (unsigned long long)seed);
    return w;
}

static inline bool go_on(const wishes *w) {
    alarm(patience);
    return difftime(time(NULL), w->began) < w->seconds;
}

static inline void say_which(int signal_number) {
    char text[160];
    const int length = snprintf(text, sizeof text, "%s mutant %lld: again with -s %llu -o %lld\n",
                                signal_number == SIGALRM ? "too long:" : "fell over", (long long)mutant,
                                (unsigned long long)seed, (long long)mutant);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(3);
    if (!signal_number)
        return;
    signal(signal_number, SIG_DFL);
    raise(signal_number == SIGALRM ? SIGABRT : signal_number);
}

/* A sanitizer ends the program without a signal. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
static inline void on_death(void) {
    say_which(0);
}

static inline void watch_for(unsigned seconds) {
    const int fatal[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    patience = seconds;
    for (size_t k = 0; k < sizeof fatal / sizeof *fatal; k++)
        signal(fatal[k], say_which);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(on_death);
}

#endif
