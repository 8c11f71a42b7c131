/* node_rows.h: rows of LIBSVM's nodes as data of Mercer. Of a precomputed kernel the data are the number of each
   row and its values of K, from the places in the rows that the serial numbers name. */
#ifndef MC_LIBSVM_NODE_ROWS_H
#define MC_LIBSVM_NODE_ROWS_H

#include "libsvm/svm_abi.h"

/* What all rows of a problem have in common, so that parts of it fit each other. */
typedef struct mc_node_shape {
    bool precomputed;
    int64_t first;  /* the index that is column 0: 0 where some row has it, otherwise 1 */
    int64_t d;      /* columns */
    int64_t stored; /* values of all rows */
} mc_node_shape;
mc_node_shape mc_node_shape_of(const struct svm_problem *problem, bool precomputed);

/* What the rows are to be learned with: classes by their place, numbers, or neither. */
typedef struct mc_node_target {
    const int *place;     /* of each row; NULL: no classes */
    const double *number; /* NULL: no numbers */
    const double *weight; /* NULL: all 1 */
} mc_node_target;

/* Rows to learn from, and rows to ask a model of the rows `learned` about. */
mercer_status mc_node_data(mercer_ctx *ctx, const mc_node_shape *shape, const struct svm_problem *problem,
                           const mc_node_target *target, mercer_data **out);
mercer_status mc_node_questions(mercer_ctx *ctx, const mc_node_shape *shape, const struct svm_problem *learned,
                                const struct svm_problem *asked, mercer_data **out);

/* The listed rows as a problem of their own, whose arrays are freed with mc_node_part_free. */
mercer_status mc_node_part(mercer_ctx *ctx, const struct svm_problem *problem, const int *rows, int count,
                           struct svm_problem *out);
void mc_node_part_free(struct svm_problem *part);

/* The nodes of a row with rising indices: the row as it is, or sorted in memory that *own holds (NULL at first; freed
   with mc_free). */
mercer_status mc_node_rising(mercer_ctx *ctx, const struct svm_node *row, struct svm_node **own,
                             const struct svm_node **out, int64_t *count);
/* How many nodes a row has before the one that ends it. */
int64_t mc_node_count(const struct svm_node *row);

#endif
