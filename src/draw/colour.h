/* colour.h: colours that stay apart for people who see few of them and on paper without any: ten for classes and
   curves, told apart by marks and dashes too, and one scale from dark to light for heat maps, lighter always meaning
   more. */
#ifndef MC_DRAW_COLOUR_H
#define MC_DRAW_COLOUR_H

#include <stdint.h>

typedef struct colour {
    double r, g, b;
} colour;

enum { COLOURS = 10 };
colour colour_of(int64_t k);                /* of the k-th class or curve; they repeat after COLOURS */
colour colour_tint(colour c, double share); /* mixed with white: 0 white, 1 the colour */
colour colour_heat(double share);           /* 0 dark to 1 light; outside it is clamped */
extern const colour colour_ink, colour_grey, colour_faint, colour_paper;

#endif
