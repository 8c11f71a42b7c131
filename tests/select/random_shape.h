/* random_shape.h: rows of random shapes: few or many, of one column or a hundred thousand, full or nearly empty, with
   empty and repeated rows and empty columns; each in full and compressed, in doubles and floats, one and the same
   numbers. */
#ifndef TEST_RANDOM_SHAPE_H
#define TEST_RANDOM_SHAPE_H

#include "base/rng.h"
#include "support.h"

enum { SHAPE_ROWS = 300, SHAPE_COLUMNS = 100000, SHAPE_STORED = 20000, SHAPE_FULL = 200000 };
enum { SHAPE_LAYOUTS = 4 }; /* compressed and in full, each in doubles and floats */

typedef struct shape {
    int64_t n, d;
    bool positive; /* no value is below 0 */
    double *full;  /* n x d; NULL where that is more than SHAPE_FULL */
    double *value; /* compressed */
    int64_t *start;
    int32_t *column;
    double *target; /* one number a row */
    const char **label;
    char words[160]; /* what it is, for messages */
} shape;

shape random_shape(mc_rng *rng);
void shape_free(shape *s);
/* Its rows in a layout; NULL where they are not kept in full. classes: labels, otherwise numbers. */
mercer_data *shape_data(mercer_ctx *ctx, const shape *s, int layout, bool classes);
/* The same rows, compressed, with their columns far apart: the first stays the first, and there are `width` of them. */
mercer_data *shape_spread(mercer_ctx *ctx, const shape *s, int64_t width, bool classes);
/* From the widest of this shape to the widest of all, small numbers as likely as large ones. */
int64_t shape_width(mc_rng *rng);
/* A kernel for such rows, of some size that suits them. */
void shape_kernel(mc_rng *rng, const shape *s, char text[256]);

#endif
