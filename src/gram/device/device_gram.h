/* device_gram.h: products with a Gram matrix whose points lie on a device.

       MC_TRY(mc_device_gram_open(ctx, gram, device, &op));         points and vectors are copied there once
       s = mc_device_gram_apply(ctx, op, t, V, Y);                  Y <- K V; V and Y are the caller's
       mc_device_gram_close(op); */
#ifndef MC_GRAM_DEVICE_DEVICE_GRAM_H
#define MC_GRAM_DEVICE_DEVICE_GRAM_H

#include "gram/device/device_program.h"

typedef struct mc_device_gram mc_device_gram;

/* gram is packed, and outlives it; mc_device_can says yes. left: an operator on the device with the same left side,
   which serves again and outlives it too; NULL: there is none. What does not fit under the limit of the device is
   streamed: nothing of it is held there between products (device_stream.h). */
mercer_status mc_device_gram_open(mercer_ctx *ctx, const mc_gram *gram, mc_device *device, const mc_device_gram *left,
                                  mc_device_gram **out);
void mc_device_gram_close(mc_device_gram *op);
mercer_status mc_device_gram_apply(mercer_ctx *ctx, mc_device_gram *op, int64_t t, const double *V, double *Y);
bool mc_device_gram_is_streamed(const mc_device_gram *op);
/* After a fault: mc_device_leaves_it. */
bool mc_device_gram_leaves_it(mercer_ctx *ctx, const mc_device_gram *op, mercer_status status);
/* What kernels of other files need: the operator, where it lies, and the argument with all that lies there. */
const mc_gram *mc_device_gram_of(const mc_device_gram *op);
mc_device *mc_device_gram_device(const mc_device_gram *op);
const mc_device_argument *mc_device_gram_argument(const mc_device_gram *op);
/* Additions that one term of a product passes through, in the tiles' precision and in double, raised to those made
   there. */
void mc_device_gram_deepen(const mc_device_gram *op, int64_t *tile, int64_t *wide);

#endif
