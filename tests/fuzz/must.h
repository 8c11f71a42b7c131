/* must.h: what a fuzz target holds to be true: a line that says what did not, then the crash that a fuzzer keeps. */
#ifndef FUZZ_MUST_H
#define FUZZ_MUST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

#endif
