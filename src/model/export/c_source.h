/* c_source.h: a model as one file of C99 that needs nothing but the C library. */
#ifndef MC_MODEL_EXPORT_C_SOURCE_H
#define MC_MODEL_EXPORT_C_SOURCE_H

#include "base/text.h"
#include "model/model.h"

/* Functions k1, k2, ... of (const double *x, const double *z), one per node of the expression, a child before its
   parent; *last is the number of the root's. A kernel whose values only the calling program knows is refused. */
mercer_status mc_c_kernel(mercer_ctx *ctx, mc_text *text, const mercer_kernel *kernel, int64_t d, int *last);
/* Bytes as a string literal, and as words of a comment, which they cannot end: all that a file or a caller has named
   goes through these. */
void mc_c_string(mc_text *text, const char *bytes);
void mc_c_comment(mc_text *text, const char *bytes);
/* A table of numbers as an initialiser, 17 digits, or 9 where single. */
void mc_c_table(mc_text *text, const char *declaration, const double *values, int64_t rows, int64_t columns,
                bool single);
/* Nearest rows that the code keeps, at most. */
enum { MC_C_NEIGHBOURS = 4096 };
/* static void decide(const double *row, double *out), and the kernel's functions where it needs them. Tables are there
   already. */
mercer_status mc_c_decide(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, bool single);
/* single: tables of float, half the size; sums are in double all the same. */
mercer_status mc_c_source_write(mercer_ctx *ctx, const mercer_model *model, bool single, const char *path);

#endif
