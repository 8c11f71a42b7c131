/* pair_matrix.h: K of the rows of a pair of classes, for svm_pairs.c: made in the memory of a thread when steps need
   its rows (qp/stored_smo.h), beside K of each class alone, which is made once and read by all pairs of that class. */
#ifndef MC_LEARN_SVM_PAIR_MATRIX_H
#define MC_LEARN_SVM_PAIR_MATRIX_H

#include "gram/operator/gram.h"
#include "learn/svm/svm.h"

/* What all pairs have in common. */
typedef struct mc_class_matrices {
    const mc_svm *s;
    bool shared;    /* K of each class alone is kept; otherwise every pair makes all of its own */
    double *K;      /* one class behind the other */
    int64_t *begin; /* of each */
} mc_class_matrices;

/* What a thread has for the pair at hand. */
typedef struct mc_pair_matrix {
    mc_rows_on_demand demand; /* first: rows are asked for by it */
    const mc_class_matrices *classes;
    const mc_svm_program *t;
    double *K, *diagonal;
    int64_t ld;
    mc_gram_writer writer;
} mc_pair_matrix;

/* The operator of s is open and says what fits. What the classes take, with pairs or without: none where they are not
   shared. */
size_t mc_class_matrices_bytes(const mercer_ctx *ctx, const mercer_data *x, const int64_t *rows, int64_t classes);
mercer_status mc_class_matrices_open(mercer_ctx *ctx, const mc_svm *s, mc_class_matrices *out);
void mc_class_matrices_close(mc_class_matrices *m);

/* Of a pair of classes of so many rows, without the writer. */
size_t mc_pair_matrix_bytes(bool shared, int64_t rows_a, int64_t rows_b);
/* Whether there are as many rows of K as are worth beginning with; one that may not have all of K starts at zero. */
bool mc_pair_matrix_worth(int64_t n, bool at_zero);
/* From work, whose rest is the caller's; nothing is there yet. */
mc_kernel_runs mc_pair_matrix_open(const mc_class_matrices *classes, const mc_svm_program *t, mc_isa isa, mc_work *work,
                                   mc_pair_matrix *out);

#endif
