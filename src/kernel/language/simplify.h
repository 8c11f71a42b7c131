/* simplify.h: the canonical tree of an expression. */
#ifndef MC_KERNEL_LANGUAGE_SIMPLIFY_H
#define MC_KERNEL_LANGUAGE_SIMPLIFY_H

#include "kernel/language/kernel.h"

/* Rewrite *io, which the caller owns and frees, failed or not. The function it stands for stays exactly the same, for
   numbers are computed only where nothing is rounded (fold_numbers.h); doing it twice changes nothing more. */
mercer_status mc_simplify_expression(mercer_ctx *ctx, mc_node **io);

/* collect.c: one node whose children are simple already. */
mercer_status mc_collect_sum(mercer_ctx *ctx, mc_node **io);
mercer_status mc_collect_product(mercer_ctx *ctx, mc_node **io);
/* Give *io, a product or anything else, the numeric factor c in front; 1 leaves none. */
mercer_status mc_set_factor(mercer_ctx *ctx, mc_node **io, double c);
bool mc_has_factor(const mc_node *node);   /* a product that begins with a number, 1 too */
double mc_get_factor(const mc_node *node); /* the number in front of a product; 1 when there is none */

#endif
