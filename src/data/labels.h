/* labels.h: turning a target into classes. Labels are sorted, numbers by value and then text by bytes; a class is a place there. */
#ifndef MC_DATA_LABELS_H
#define MC_DATA_LABELS_H

#include <mercer.h>

/* Classes of n label strings, n integers of id of a dictionary, or n numbers: fills classes, label and class_of of data. */
mercer_status mc_classes_of_strings(mercer_ctx *ctx, const char *const *labels, mercer_data *data);
mercer_status mc_classes_of_numbers(mercer_ctx *ctx, const double *values, mercer_data *data);
/* The rule of MERCER_TARGET_AUTO: whole numbers, at most 20 distinct and at most n/5 distinct. */
bool mc_numbers_look_like_classes(const double *values, int64_t n);

#endif
