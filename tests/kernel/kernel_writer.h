/* kernel_writer.h: the text of a random expression as it grows, with the numbers that it is drawn by. */
#ifndef TEST_KERNEL_WRITER_H
#define TEST_KERNEL_WRITER_H

#include "base/rng.h"
#include <stddef.h>

enum { RANDOM_KERNEL_SIZE = 4096 };

typedef struct kernel_writer {
    mc_rng *rng;
    char *text; /* RANDOM_KERNEL_SIZE characters; what does not fit is cut off */
    size_t length;
    int64_t d; /* columns of the rows that the expression is for */
} kernel_writer;

__attribute__((format(printf, 2, 3))) void put_text(kernel_writer *w, const char *format, ...);
/* 0 <= draw < n. */
int64_t draw_below(kernel_writer *w, int64_t n);

#endif
