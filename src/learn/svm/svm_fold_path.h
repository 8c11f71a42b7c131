/* svm_fold_path.h: the quadratic programs of svm_folds.c along a rising C, all splits of each together; between its
   files. */
#ifndef MC_LEARN_SVM_SVM_FOLD_PATH_H
#define MC_LEARN_SVM_SVM_FOLD_PATH_H

#include "data/table/data.h"
#include "learn/svm/svm_folds.h"

struct mc_svm_folds {
    mc_svm s;
    void *K; /* n x n of s.solver->dtype, rows in the order of s.p; in the buffers */
    mc_svm_buffers *buffers;
    const mercer_data *data;
    int64_t *place;  /* of each row of the data among those of s.p */
    int64_t *same;   /* the first row of s.p equal to each of them; NULL: nobody has looked */
    mc_fitted shape; /* form and outputs alone */
};

static inline size_t mc_svm_folds_entry(const mc_svm_folds *m) {
    return mc_dtype_size(m->s.solver->dtype);
}

static inline bool mc_svm_folds_many_pairs(const mc_svm_folds *m) {
    return m->shape.form == MC_PAIRS && m->s.classes > 2;
}

/* Rows of the largest pair of several classes, 0 where there are two at most; splits that go together. */
int64_t mc_svm_folds_largest_pair(const mc_svm_folds *m);
int64_t mc_svm_folds_at_once(int64_t splits);

/* What belongs to one split. */
typedef struct mc_fold_part {
    const mc_svm_split *split;
    const int64_t *held; /* rows of the data */
    int64_t few;
    double *cost;        /* of each row of s.p; 0: not learned from */
    double *decision;    /* count x few x tasks */
    double *alpha;       /* many pairs: of each row of s.p, (classes - 1) x count: its coefficients, C by C */
    mc_svm_program task; /* its own multipliers of the quadratic program at hand */
    mc_quadratic_program program;
} mc_fold_part;

typedef struct mc_fold_path {
    mc_svm_folds *m;
    mc_fold_part *part;
    int64_t parts, count;
    const double *C;
    int64_t tasks, solved; /* to be solved, and quadratic programs solved: for the progress */
} mc_fold_path;

/* decision of every part, and alpha where it has one, of all programs and every C; pairs of several classes side by
   side. */
mercer_status mc_fold_path_solve(mercer_ctx *ctx, mc_fold_path *w);

#endif
