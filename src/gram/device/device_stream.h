/* device_stream.h: products with a Gram matrix whose points do not fit on a device: window by window, some rows against
   some columns, whose points are copied there and given up again. Every window is cut as the whole would be, and the
   sums of a row go on from one to the next: a product has the bits it would have had in one piece, whatever the limit.

   Copies and work take turns. A column of 28 floats takes 14 ns to the device at the price of backend/device_price.c,
   and 1 ns for every thousand rows of its window: with the hundreds of thousands of rows that a card holds, copies
   beside the work would save next to nothing. */
#ifndef MC_GRAM_DEVICE_DEVICE_STREAM_H
#define MC_GRAM_DEVICE_DEVICE_STREAM_H

#include "gram/device/device_gram.h"
#include "gram/device/right_sides.h"

/* Rows from i0 on against columns from j0 on. */
typedef struct mc_device_window {
    const mc_gram *part; /* their points, and nothing else */
    int64_t i0, j0;
    int64_t n, m;               /* of the whole, by which the work is cut */
    int64_t t;                  /* right-hand sides at a time */
    const mc_device_gram *lead; /* the first window of these rows: their points and sums lie there; NULL: this is it */
} mc_device_window;

/* ---- device_gram.c ---- */

/* w and its part outlive it. */
mercer_status mc_device_window_open(mercer_ctx *ctx, mc_device *device, const mc_device_window *w,
                                    mc_device_gram **out);
/* Bytes that a first window takes there, with another as large that follows it; SIZE_MAX: they cannot be told. */
size_t mc_device_window_bytes(mercer_ctx *ctx, mc_device *device, const mc_device_window *w, bool follows);
/* A window begins at a whole number of these. */
int64_t mc_device_window_columns(const mc_device_gram *op, int64_t t);
int64_t mc_device_window_rows(const mc_device_gram *op);
/* Adds the products with the right-hand sides of its columns to the sums of its rows; room: for these. Of the lead:
   takes the sums. */
mercer_status mc_device_window_multiply(mercer_ctx *ctx, mc_device_gram *op, const mc_right_sides *r, void *room);
mercer_status mc_device_window_take(mercer_ctx *ctx, const mc_device_gram *op, const mc_right_sides *r, double *room,
                                    double *Y);

/* ---- device_stream.c ---- */

/* Whether the least window fits. Where it would not under the whole limit that is an error, but under auto. */
mercer_status mc_device_stream_check(mercer_ctx *ctx, const mc_device_gram *op);
/* Bytes that products of n rows with each other take in one piece, by a gram of some of these rows; whether that is
   under the limit of the device, else they are streamed under it. */
mercer_status mc_device_stream_forecast(mercer_ctx *ctx, mc_device *device, const mc_gram *gram, int64_t n,
                                        size_t *bytes, bool *fits);
/* Y <- K V by windows; room: for the right-hand sides or the sums. */
mercer_status mc_device_stream_apply(mercer_ctx *ctx, const mc_device_gram *op, const mc_right_sides *r, void *room,
                                     double *Y);

#endif
