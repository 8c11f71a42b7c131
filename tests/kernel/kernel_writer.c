#include "kernel_writer.h"
#include <stdarg.h>
#include <stdio.h>

void put_text(kernel_writer *w, const char *format, ...) {
    const size_t room = RANDOM_KERNEL_SIZE - w->length;
    va_list args;
    va_start(args, format);
    const size_t written = (size_t)vsnprintf(w->text + w->length, room, format, args);
    va_end(args);
    w->length += written < room ? written : room - 1;
}

int64_t draw_below(kernel_writer *w, int64_t n) {
    return mc_rng_below(w->rng, n);
}
