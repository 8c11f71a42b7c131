/* npy.h: NumPy's array files. */
#ifndef MC_DATA_NPY_H
#define MC_DATA_NPY_H

#include "data/raw.h"

bool mc_npy_looks(const mc_input *input);
mercer_status mc_npy_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out);

/* What the header says, checked against the bytes that follow it. One dimension: m = 1. */
typedef struct mc_npy_header {
    char kind; /* f, i, u or b */
    int size;  /* bytes of an element, little-endian */
    bool fortran;
    int64_t n, m;
    int64_t offset; /* where the elements begin */
} mc_npy_header;
mercer_status mc_npy_parse(mercer_ctx *ctx, const mc_input *input, mc_npy_header *out);

#endif
