/* spectrum_kernel.h: kernels on text columns. */
#ifndef MC_KERNEL_EVALUATE_SPECTRUM_KERNEL_H
#define MC_KERNEL_EVALUATE_SPECTRUM_KERNEL_H

#include "kernel/language/kernel.h"

/* Sum over all strings s of p bytes of how often s occurs in x times how often in z. */
double mc_spectrum_value(const char *x, const char *z, size_t p);

/* The names of the text columns that the tree reads, each once, separated by commas; NULL: none. */
mercer_status mc_texts_list(mercer_ctx *ctx, const mc_node *root, char **out);
/* Fill in which texts of the data are meant. */
mercer_status mc_texts_bind(mercer_ctx *ctx, mc_node *root, const mercer_data *data);
/* The data have the texts, and each is as long as its kernel needs. */
mercer_status mc_texts_check(mercer_ctx *ctx, const mc_node *root, const mercer_data *data);

#endif
