/* colour.c: the palette of classes and curves, and the scale of heat maps. */
#include "draw/colour.h"
#include <math.h>

const colour colour_ink = {0.13, 0.13, 0.15}, colour_grey = {0.45, 0.45, 0.47}, colour_faint = {0.88, 0.88, 0.89},
             colour_paper = {1, 1, 1};

/* Blue, vermilion, green, purple, sky, orange, yellow, black: a set known to be told apart with any common colour
   blindness; then brown and grey. */
static const unsigned char palette[COLOURS][3] = {
    {0, 114, 178}, {213, 94, 0},   {0, 158, 115}, {204, 121, 167}, {86, 180, 233},
    {230, 159, 0}, {240, 228, 66}, {40, 40, 40},  {140, 86, 60},   {150, 150, 150},
};

colour colour_of(int64_t k) {
    const unsigned char *c = palette[((k % COLOURS) + COLOURS) % COLOURS];
    return (colour){c[0] / 255.0, c[1] / 255.0, c[2] / 255.0};
}

static double interpolate_channel(double a, double b, double share) {
    return a + (b - a) * share;
}

static colour blend_colours(colour a, colour b, double share) {
    return (colour){interpolate_channel(a.r, b.r, share), interpolate_channel(a.g, b.g, share),
                    interpolate_channel(a.b, b.b, share)};
}

colour colour_tint(colour c, double share) {
    return blend_colours(colour_paper, c, share);
}

/* Lightness rises evenly from stop to stop, so the map reads the same in grey. */
colour colour_heat(double share) {
    static const colour stop[] = {
        {0.09, 0.10, 0.30}, {0.10, 0.34, 0.52}, {0.16, 0.56, 0.55}, {0.55, 0.76, 0.42}, {0.99, 0.96, 0.72}};
    enum { LAST = sizeof stop / sizeof *stop - 1 };
    const double at = fmin(fmax(isnan(share) ? 0 : share, 0), 1) * LAST;
    const int k = at >= LAST ? LAST - 1 : (int)at;
    return blend_colours(stop[k], stop[k + 1], at - k);
}
