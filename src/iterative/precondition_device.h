/* precondition_device.h: the inverse of F F' + shift I on a device, as iterative/precondition.c has it here: F lies
   there as floats, all that is computed with it is double. */
#ifndef MC_ITERATIVE_PRECONDITION_DEVICE_H
#define MC_ITERATIVE_PRECONDITION_DEVICE_H

#include "gram/lowrank/lowrank.h"

typedef struct mc_device_woodbury mc_device_woodbury;

/* The device of the context for an F of so many rows and columns; NULL: the processor has it. */
mercer_status mc_device_woodbury_place(mercer_ctx *ctx, const mc_lowrank *f, int64_t t, struct mc_device **out);
/* F goes there, and G = F'F is made there. *shift: lambda, or the least that is safe: safe times the trace of G. */
mercer_status mc_device_woodbury_open(mercer_ctx *ctx, struct mc_device *device, const mc_lowrank *f, double safe,
                                      int64_t t, double *shift, mc_device_woodbury **out);
void mc_device_woodbury_close(mc_device_woodbury *w);
/* Y <- (F F' + shift I)^-1 V, n x t by rows, t as it was opened with or fewer. */
mercer_status mc_device_woodbury_apply(mercer_ctx *ctx, const mc_device_woodbury *w, int64_t t, const double *V,
                                       double *Y);
/* The sum of the logarithms of the diagonal of the factor of F'F + shift I. */
double mc_device_woodbury_log_sum(const mc_device_woodbury *w);
/* After a fault: mc_device_leaves_it. */
bool mc_device_woodbury_leaves_it(mercer_ctx *ctx, const mc_device_woodbury *w, mercer_status status);

#endif
