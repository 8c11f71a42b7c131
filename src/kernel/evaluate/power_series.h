/* power_series.h: functions of a kernel that the language has by name, each given by a power series without a negative
   coefficient. */
#ifndef MC_KERNEL_EVALUATE_POWER_SERIES_H
#define MC_KERNEL_EVALUATE_POWER_SERIES_H

#include "kernel/language/kernel.h"

typedef struct mc_series_row {
    const char *name, *alias;
    const char *holds;         /* what k(x, x) must be for the series to converge; NULL: it does everywhere */
    double (*value)(double t); /* NaN where it does not */
    double (*slope)(double t);
    const char *code; /* as a C function of a double: of the C library, or one that exported code brings along */
} mc_series_row;
extern const mc_series_row mc_series_rows[MC_SERIES_COUNT];

/* Beyond 1 by a rounding counts as 1, as cosine of a row with itself is. */
static const double MC_ARCSIN_MOST = 1 + 0x1p-40;

#endif
