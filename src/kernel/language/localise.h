/* localise.h: a kernel and a table that does not keep all of its columns. */
#ifndef MC_KERNEL_LANGUAGE_LOCALISE_H
#define MC_KERNEL_LANGUAGE_LOCALISE_H

#include "kernel/language/kernel.h"

/* Whether it says something of every column by itself: numbers for each, a matrix, a function of whole rows. Such a
   kernel is used on tables that keep all columns: */
bool mc_kernel_sees_all(const mercer_kernel *kernel);
/* One or two tables that keep the same columns, all of them where the kernel needs that. */
typedef struct mc_aligned {
    const mercer_data *x, *z; /* what was given where it will do; z NULL: there is one table */
    mercer_data *own[2];
} mc_aligned;
mercer_status mc_align_tables(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                              mc_aligned *out);
void mc_aligned_free(mc_aligned *aligned);

/* The tree that computes in the numbers of the columns that data keep; that of before stays as the one that is shown.
   For a kernel that nobody else has seen yet, which does not see all. */
mercer_status mc_kernel_localise(mercer_ctx *ctx, const mercer_data *data, mercer_kernel *kernel);

#endif
