/* print.h: formatted text that is the same whatever locale the calling program has set: a decimal comma in a model, an
   export or a kernel expression would be another number, or none. */
#ifndef MC_BASE_PRINT_H
#define MC_BASE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* snprintf and vsnprintf, in the locale "C". */
int mc_print(char *out, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
int mc_vprint(char *out, size_t capacity, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

#endif
