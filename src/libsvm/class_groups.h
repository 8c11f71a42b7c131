/* class_groups.h: the rows of a problem by class, in LIBSVM's order of classes: that of their first rows; of the two
   classes 1 and -1 the class 1 is first wherever it stands. */
#ifndef MC_LIBSVM_CLASS_GROUPS_H
#define MC_LIBSVM_CLASS_GROUPS_H

#include "libsvm/svm_abi.h"

typedef struct mc_class_groups {
    int classes;
    int *label;         /* of each class: its whole part, as LIBSVM takes it */
    int *start, *count; /* of each class among the rows by class */
    int *row;           /* rows by class, in their order */
    int *place;         /* of each row of the problem its class */
} mc_class_groups;

mercer_status mc_class_groups_open(mercer_ctx *ctx, const struct svm_problem *problem, mc_class_groups *out);
void mc_class_groups_close(mc_class_groups *groups);

/* The factor of C of each row: those of the classes named by the parameters. *out NULL: all are 1. */
mercer_status mc_group_weights(mercer_ctx *ctx, const struct svm_parameter *param, const mc_class_groups *groups,
                               int rows, double **out);

#endif
