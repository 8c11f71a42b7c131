/* fits.h: does an expression fit d columns, and do values fit the expression? */
#ifndef MC_KERNEL_LANGUAGE_FITS_H
#define MC_KERNEL_LANGUAGE_FITS_H

#include "kernel/language/kernel.h"

/* Every column it names exists among d, every vector has one number per column in view, every matrix is of that size.
   */
mercer_status mc_node_fits(mercer_ctx *ctx, const mc_node *root, int64_t d);
mercer_status mc_columns_fit(mercer_ctx *ctx, const mc_node *columns, int64_t d); /* this list alone */
/* Nothing open, no ranges, and it fits d columns. */
mercer_status mc_kernel_check_ready(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d);
/* No negative entry where chi2 or intersection looks; name is what the message calls the point. */
mercer_status mc_kernel_check_point(mercer_ctx *ctx, const mercer_kernel *kernel, const double *x, int64_t d,
                                    const char *name);

/* The first column of the row x, from 0, that the kernel wants not to be negative and that is; -1: none. */
int64_t mc_node_negative_column(const mc_node *node, const double *x, int64_t d);

#endif
