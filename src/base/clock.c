#include "base/clock.h"
#include <time.h>

static double read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double mc_clock_seconds(void) {
    return read_clock(CLOCK_MONOTONIC);
}

mc_stopwatch mc_stopwatch_start(void) {
    return (mc_stopwatch){mc_clock_seconds(), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

double mc_stopwatch_read(const mc_stopwatch *watch) {
    const double clock = mc_clock_seconds() - watch->clock,
                 processor = read_clock(CLOCK_PROCESS_CPUTIME_ID) - watch->processor;
    return processor < clock ? processor : clock;
}
