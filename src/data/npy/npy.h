/* npy.h: NumPy's array files. */
#ifndef MC_DATA_NPY_NPY_H
#define MC_DATA_NPY_NPY_H

#include "data/read/raw.h"

/* Whether the first bytes are those of such a file. */
bool mc_npy_looks(const char *bytes, int64_t size);
/* A plain file may be open only: it is then read in pieces. */
mercer_status mc_npy_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out);

/* What the header says, checked against the bytes that follow it. One dimension: m = 1. */
typedef struct mc_npy_header {
    char kind; /* f, i, u or b */
    int size;  /* bytes of an element, little-endian */
    bool fortran;
    int64_t n, m;
    int64_t offset; /* where the elements begin */
} mc_npy_header;
/* head: the beginning of the file, or all of it; total: bytes of all of it. */
mercer_status mc_npy_parse(mercer_ctx *ctx, const mc_input *head, int64_t total, mc_npy_header *out);
/* Fill the cells of a table that has room for them. */
mercer_status mc_npy_load(mercer_ctx *ctx, const mc_npy_header *header, mc_raw *raw);

#endif
