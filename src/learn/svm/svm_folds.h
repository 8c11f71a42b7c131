/* svm_folds.h: support vector machines of many splits and many values of C over one K of all rows.

   A search asks for the values of rows left out, not for certified functions: K is made once, a row that is left out
   has the bound 0, and what the machine says of it stands in f = K beta when the solver is done. */
#ifndef MC_LEARN_SVM_SVM_FOLDS_H
#define MC_LEARN_SVM_SVM_FOLDS_H

#include "base/memory.h"
#include "learn/svm/svm.h"
#include "qp/batch_smo.h"

typedef struct mc_svm_folds mc_svm_folds;

/* Memory that one K leaves to the next: what is used is touched for the first time once in a search. */
typedef struct mc_svm_buffers {
    mc_buffer K, pair, sets[MC_BATCH_SMO_BUFFERS]; /* of all rows, of a pair among more classes, of working sets */
} mc_svm_buffers;
void mc_svm_buffers_close(mc_svm_buffers *buffers);

/* Bytes that a path over so many rows, equal ones counted once, takes beside what is to be returned: K, K of the two
   largest of several classes (pair rows; 0: there are two at most), working sets, and what each split has of its own.
   */
size_t mc_svm_folds_bytes(const mercer_svm *set, int64_t n, int64_t pair, int64_t splits);
/* And how many more where there is memory for them. */
size_t mc_svm_folds_spare(const mercer_ctx *ctx, const mercer_svm *set, int64_t n, int64_t pair, int64_t splits);

/* Whether it can be done, were no two rows equal. */
bool mc_svm_folds_fit(const mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_data *data,
                      int64_t splits);

/* *out NULL without an error: K does not fit in the memory left, or there are rows of weight zero. Columns are scaled,
   and a bandwidth that the kernel leaves open is taken, from all rows. kind: MC_SVC or MC_SVR. Borrows set, data and
   buffers. */
mercer_status mc_svm_folds_open(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                                const mercer_data *data, int64_t splits, mc_svm_buffers *buffers, mc_svm_folds **out);
void mc_svm_folds_close(mc_svm_folds *folds);
int64_t mc_svm_folds_outputs(const mc_svm_folds *folds);
/* A split: learned from rows[0 .. learned), asked about those after them; out <- for every C their outputs, count x
   (all - learned) x outputs. */
typedef struct mc_svm_split {
    const int64_t *rows;
    int64_t learned, all;
    double *out;
} mc_svm_split;
/* C rises. */
mercer_status mc_svm_folds_solve_path(mercer_ctx *ctx, mc_svm_folds *folds, const mc_svm_split *split, int64_t splits,
                                      const double *C, int64_t count);

#endif
