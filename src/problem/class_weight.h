/* class_weight.h: weights of classes from text, for every machine that takes them. */
#ifndef MC_PROBLEM_CLASS_WEIGHT_H
#define MC_PROBLEM_CLASS_WEIGHT_H

#include <mercer.h>

/* out: one weight per class of labels; class_of: n. machine names the owner in messages. */
mercer_status mc_class_weights(mercer_ctx *ctx, const char *machine, const char *text, const mercer_data *labels,
                               const int32_t *class_of, int64_t n, double *out);

#endif
