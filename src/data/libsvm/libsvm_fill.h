/* libsvm_fill.h: lines of LIBSVM text into stretches of values, one for each piece of the text, and what is wrong in
   them. */
#ifndef MC_DATA_LIBSVM_LIBSVM_FILL_H
#define MC_DATA_LIBSVM_LIBSVM_FILL_H

#include "data/read/raw.h"

typedef enum mc_libsvm_fault {
    MC_LIBSVM_NO_FAULT,
    MC_LIBSVM_NO_LABEL,
    MC_LIBSVM_MANY_LABELS,
    MC_LIBSVM_BAD_LABEL,
    MC_LIBSVM_BAD_INDEX,
    MC_LIBSVM_ZERO_INDEX,
    MC_LIBSVM_BIG_INDEX,
    MC_LIBSVM_BEYOND,
    MC_LIBSVM_NOT_INCREASING,
    MC_LIBSVM_NO_VALUE,
    MC_LIBSVM_BAD_VALUE,
    MC_LIBSVM_NOT_FINITE,
    MC_LIBSVM_NOT_FLOAT,
} mc_libsvm_fault;

typedef struct mc_libsvm_piece {
    mc_libsvm_fault fault;
    const char *place;   /* of the fault */
    const char *rounded; /* the first label that its double does not tell from others; NULL: none */
    int64_t index, before;
    int64_t stored;  /* values written */
    int64_t columns; /* the largest index */
} mc_libsvm_piece;

typedef struct mc_libsvm_filling {
    const mc_lines *lines;
    mercer_dtype dtype;
    int64_t limit;  /* columns of a model that can have no others; 0: any */
    int64_t least;  /* columns there are at least */
    int64_t serial; /* 1: index 0 is the first column, the number of a row of a Gram matrix */
    bool over; /* index 0 is read over: the model is one of LIBSVM's with a precomputed kernel, which needs it not */
    int64_t *first; /* per piece: where its stretch of values begins */
    mc_libsvm_piece *piece;
    double *value;
    int32_t *column;
    double *label;  /* per row */
    int64_t *count; /* per row: values stored */
} mc_libsvm_filling;

static inline bool mc_libsvm_is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool mc_libsvm_is_end(char c) {
    return c == '\n' || c == '#';
}

mc_lines mc_libsvm_lines_of(const mc_input *input);
/* As the settings of the reading have it. */
mc_libsvm_filling mc_libsvm_filling_of(const mc_reading *reading, const mc_lines *lines);
/* Room for all that lines have, then what they say; faults are in the pieces. */
mercer_status mc_libsvm_fill(mercer_ctx *ctx, mc_libsvm_filling *f);
void mc_libsvm_close(mc_libsvm_filling *f);
/* Data of what was filled without fault. */
mercer_status mc_libsvm_data(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mc_libsvm_filling *f,
                             mercer_data **out);

#endif
