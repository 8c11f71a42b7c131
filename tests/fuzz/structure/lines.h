/* lines.h: model files of LIBSVM whose lines lie: repeated, missing, in another order, of another file, with other
   numbers. */
#ifndef FUZZ_LINES_H
#define FUZZ_LINES_H

#include "base/rng.h"
#include <stddef.h>

enum { LIBSVM_TEXTS = 5 };
extern const char *const libsvm_texts[LIBSVM_TEXTS];

/* A text made of them, in out, which has that capacity. */
size_t mutate_lines(mc_rng *rng, char *out, size_t capacity);

#endif
