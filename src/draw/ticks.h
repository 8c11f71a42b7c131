/* ticks.h: round numbers along an axis. */
#ifndef MC_DRAW_TICKS_H
#define MC_DRAW_TICKS_H

#include <stdbool.h>
#include <stddef.h>

enum { TICKS_MAX = 16 };
typedef struct ticks {
    int count;
    double at[TICKS_MAX];
    char text[TICKS_MAX][24];
} ticks;
/* About five: multiples of 1, 2 or 5 times a power of ten; on a logarithmic axis powers of ten, over few of them 1, 2
   and 5 times those, and where fewer than two fit the linear ones. low < high. */
void ticks_make(ticks *t, double low, double high, bool logarithmic);

#endif
