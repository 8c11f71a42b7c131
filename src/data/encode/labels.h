/* labels.h: turning a target into classes. Labels are sorted, numbers by value and then text by bytes; a class is a
 * place there. */
#ifndef MC_DATA_ENCODE_LABELS_H
#define MC_DATA_ENCODE_LABELS_H

#include <mercer.h>

/* Classes of n label strings: fills classes, label and class_of of data. */
mercer_status mc_classes_of_strings(mercer_ctx *ctx, const char *const *labels, mercer_data *data);
/* The target of data from n x outputs numbers, which are taken over: one output becomes classes when the kind says so
 * or looks so. */
mercer_status mc_target_of_numbers(mercer_ctx *ctx, mercer_target kind, double *values, int64_t outputs,
                                   mercer_data *data);
/* Replace n numbers, stride apart, by their places among known labels, a missing one left as it is; *bad: the first
   that is no label, or -1; NULL: such a number becomes classes. A label matches a number by value: "1.0" is 1. */
mercer_status mc_classes_known(mercer_ctx *ctx, char *const *labels, int64_t classes, double *values, int64_t n,
                               int64_t stride, int64_t *bad);
/* The rule of MERCER_TARGET_AUTO: whole numbers, at most 20 distinct and at most n/5 distinct. */
bool mc_numbers_look_like_classes(const double *values, int64_t n);

#endif
