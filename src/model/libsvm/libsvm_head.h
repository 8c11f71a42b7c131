/* libsvm_head.h: a model file of LIBSVM as it is read: its words and its head. */
#ifndef MC_MODEL_LIBSVM_LIBSVM_HEAD_H
#define MC_MODEL_LIBSVM_LIBSVM_HEAD_H

#include "model/libsvm/libsvm_model.h"

/* Places among mc_libsvm_kernels and mc_libsvm_types. */
enum { MC_LIBSVM_LINEAR, MC_LIBSVM_POLYNOMIAL, MC_LIBSVM_RBF, MC_LIBSVM_SIGMOID, MC_LIBSVM_PRECOMPUTED };
enum { MC_LIBSVM_C_SVC, MC_LIBSVM_NU_SVC, MC_LIBSVM_ONE_CLASS, MC_LIBSVM_EPSILON_SVR, MC_LIBSVM_NU_SVR };

typedef struct mc_libsvm_reader {
    const mc_input *input;
    const char *p, *end;
    mc_libsvm_head head;
    int64_t decisions;
    int64_t first;           /* the index of the first column */
    int64_t columns, stored; /* of the vectors */
    unsigned seen;           /* bits of the keys */
} mc_libsvm_reader;

bool mc_libsvm_blank(char c);
/* Past blanks: whether the line is over. */
bool mc_libsvm_line_end(mc_libsvm_reader *r);
mercer_status mc_libsvm_skip_line(mc_libsvm_reader *r);
/* The next word as a finite number, or as a whole one from low to high. */
mercer_status mc_libsvm_real(mercer_ctx *ctx, mc_libsvm_reader *r, double *out);
mercer_status mc_libsvm_whole(mercer_ctx *ctx, mc_libsvm_reader *r, int64_t low, int64_t high, int64_t *out);
/* What is wrong at this place of the file. */
mercer_status mc_libsvm_damaged(mercer_ctx *ctx, const mc_libsvm_reader *r, const char *what);
/* All lines up to the vectors. */
mercer_status mc_libsvm_read_head(mercer_ctx *ctx, mc_libsvm_reader *r);

#endif
