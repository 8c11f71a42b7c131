/* fold_matrix.h: K of the quadratic programs of svm_folds.c: all of it for two classes or numbers; of a pair among more
   classes two runs of rows and columns of the whole, copied once for all splits. */
#ifndef MC_LEARN_SVM_FOLD_MATRIX_H
#define MC_LEARN_SVM_FOLD_MATRIX_H

#include "base/memory.h"
#include "learn/svm/svm.h"

/* Room for n x n entries, and zeros where rows may be read beyond them; NULL when memory ends. */
size_t mc_fold_square_bytes(int64_t n, size_t entry);
void *mc_fold_square_take(mercer_ctx *ctx, mc_buffer *buffer, int64_t n, size_t entry);

typedef struct mc_fold_matrix {
    const mc_svm *s;
    const mc_svm_program *t;
    const void *K;    /* of the program's rows: the whole, or a copy in the buffer */
    double *diagonal; /* of the copy; NULL: of the whole */
} mc_fold_matrix;

/* whole: n x n of s->dtype, rows in the order of s->p. Close after a failure too. */
mercer_status mc_fold_matrix_open(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t, const void *whole,
                                  mc_buffer *buffer, mc_fold_matrix *out);
void mc_fold_matrix_close(mc_fold_matrix *m);
mc_matrix mc_fold_matrix_view(const mc_fold_matrix *m);

#endif
