/* svm_folds.h: support vector machines of many splits and many values of C over one K of all rows.

   A search asks for the values of rows left out, not for certified functions: K is made once, a row that is left out has the bound 0, and
   what the machine says of it stands in f = K beta when the solver is done. */
#ifndef MC_LEARN_SVM_FOLDS_H
#define MC_LEARN_SVM_FOLDS_H

#include "learn/svm.h"

typedef struct mc_svm_folds mc_svm_folds;

/* *out NULL without an error: K does not fit in the memory left, or there are rows of weight zero. Columns are scaled, and a bandwidth that
   the kernel leaves open is taken, from all rows. kind: MC_SVC or MC_SVR. Borrows set and data. */
mercer_status mc_svm_folds_open(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                                const mercer_data *data, mc_svm_folds **out);
void mc_svm_folds_close(mercer_ctx *ctx, mc_svm_folds *folds);
int64_t mc_svm_folds_outputs(const mc_svm_folds *folds);
/* A split: learned from rows[0 .. learned), asked about those after them; out <- for every C their outputs, count x (all - learned) x
   outputs. */
typedef struct mc_svm_split {
    const int64_t *rows;
    int64_t learned, all;
    double *out;
} mc_svm_split;
/* C rises. */
mercer_status mc_svm_folds_walk(mercer_ctx *ctx, mc_svm_folds *folds, const mc_svm_split *split, int64_t splits, const double *C,
                                int64_t count);

#endif
