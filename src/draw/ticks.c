/* ticks.c: round numbers along an axis, written with just the digits that tell them apart. */
#include "draw/ticks.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* 1, 2 or 5 times a power of ten, at least size. */
static double round_step(double size) {
    const double power = pow(10, floor(log10(size))), mantissa = size / power;
    return power * (mantissa <= 1.0000001 ? 1 : mantissa <= 2.0000001 ? 2 : mantissa <= 5.0000001 ? 5 : 10);
}

static void add_tick(ticks *t, double value, int decimals) {
    if (t->count == TICKS_MAX)
        return;
    const double size = fabs(value);
    t->at[t->count] = value;
    if (value == 0)
        snprintf(t->text[t->count], sizeof t->text[0], "0");
    else if (size >= 1e5 || size < 1e-3)
        snprintf(t->text[t->count], sizeof t->text[0], "%.4g", value);
    else
        snprintf(t->text[t->count], sizeof t->text[0], "%.*f", decimals, value);
    t->count++;
}

static void make_linear_ticks(ticks *t, double low, double high) {
    const double step = round_step((high - low) / 6);
    const int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && t->count < TICKS_MAX; k++)
        add_tick(t, k * step, decimals);
}

/* 1, 2, 5, 10, 20, ...: for a range of few powers of ten. */
static void logarithmic_few(ticks *t, double low, double high) {
    static const double mantissa[] = {1, 2, 5};
    for (double k = floor(log10(low)); k <= log10(high); k++)
        for (int m = 0; m < 3; m++) {
            const double value = mantissa[m] * pow(10, k);
            if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9))
                add_tick(t, value, (int)fmax(0, -k));
        }
}

static void logarithmic_ones(ticks *t, double low, double high) {
    const double first = ceil(log10(low) - 1e-9), last = floor(log10(high) + 1e-9),
                 every = fmax(1, ceil((last - first + 1) / 7));
    for (double k = first; k <= last && t->count < TICKS_MAX; k += every) {
        t->at[t->count] = pow(10, k);
        if (fabs(k) <= 3)
            snprintf(t->text[t->count], sizeof t->text[0], "%g", pow(10, k));
        else
            snprintf(t->text[t->count], sizeof t->text[0], "1e%d", (int)k);
        t->count++;
    }
}

void ticks_make(ticks *t, double low, double high, bool logarithmic) {
    t->count = 0;
    if (logarithmic)
        (high < 300 * low ? logarithmic_few : logarithmic_ones)(t, low, high);
    if (t->count >= 2)
        return;
    t->count = 0;
    make_linear_ticks(t, low, high);
}
