/* clock.h: seconds on a clock that never goes back, and a watch that does not count what other programs took. */
#ifndef MC_BASE_CLOCK_H
#define MC_BASE_CLOCK_H

double mc_clock_seconds(void);

/* Seconds that some work needs: on a machine that others use too, no more than the processor time of this process, all
   its threads together. */
typedef struct mc_stopwatch {
    double clock, processor;
} mc_stopwatch;
mc_stopwatch mc_stopwatch_start(void);
double mc_stopwatch_read(const mc_stopwatch *watch);

#endif
