/* clock.h: seconds on a clock that never goes back. */
#ifndef MC_BASE_CLOCK_H
#define MC_BASE_CLOCK_H

double mc_clock(void);

#endif
