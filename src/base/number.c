/* number.c: decimal text to double and back. */
#include "base/number.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits, one optional point, an optional exponent; the span of the number, or NULL. */
static const char *span(const char *p, const char *end) {
    bool digits = false;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        digits = true;
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9'; p++)
            digits = true;
    if (!digits)
        return NULL;
    if (p < end && (*p | 0x20) == 'e') {
        const char *q = p + 1;
        if (q < end && (*q == '-' || *q == '+'))
            q++;
        if (q < end && *q >= '0' && *q <= '9') {
            while (q < end && *q >= '0' && *q <= '9')
                q++;
            p = q;
        }
    }
    return p;
}

const char *mc_number_read(const char *text, const char *end, double *out) {
    const char *stop = span(text, end);
    if (!stop)
        return NULL;
    char copy[64];
    const size_t length = (size_t)(stop - text);
    if (length >= sizeof copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = strtod(copy, NULL);
    return stop;
}

const char *mercer_number_text(double value, char text[32]) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}
