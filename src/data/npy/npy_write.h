/* npy_write.h: a matrix as a NumPy file. */
#ifndef MC_DATA_NPY_NPY_WRITE_H
#define MC_DATA_NPY_NPY_WRITE_H

#include <mercer.h>

/* float64 in C order. */
mercer_status mc_npy_write(mercer_ctx *ctx, const char *path, const double *values, int64_t n, int64_t m);

#endif
