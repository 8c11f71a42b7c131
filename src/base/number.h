/* number.h: numbers as text, both ways, exact and fast. Independent of the locale. */
#ifndef MC_BASE_NUMBER_H
#define MC_BASE_NUMBER_H

#include <mercer.h>

/* Read a decimal number (sign, digits, point, exponent) at the start of [text, end) as the nearest double. Returns the
   first byte after it, or NULL when no number starts there. Words (nan, inf, hex) are not numbers here. Overflow gives
   an infinity. */
const char *mc_number_read(const char *text, const char *end, double *out);

/* Whether the number at [text, end), all of which mc_number_read has read, is what its double is: the very same where
   that is whole, the same to as many digits otherwise. Two whole numbers of which this holds have different doubles;
   9007199254740993 is none. */
bool mc_number_survives(const char *text, const char *end);

/* A double as the shortest text that reads back to the same double; at most 31 characters and the closing zero. */
const char *mc_number_text(double value, char text[32]);

#endif
