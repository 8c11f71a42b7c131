/* print.c: see print.h. The locale of this thread is changed for the call and put back; "C" itself takes no memory to
   name. Should it not be had, the text is what the program's own locale makes of it. */
#include "base/print.h"
#include <locale.h>
#include <stdio.h>

int mc_vprint(char *out, size_t capacity, const char *format, va_list args) {
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
    const int length = vsnprintf(out, capacity, format, args);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return length;
}

int mc_print(char *out, size_t capacity, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = mc_vprint(out, capacity, format, args);
    va_end(args);
    return length;
}
