/* term_print.h: what the printers of terms and of expansions share. */
#ifndef MC_KERNEL_PROOF_TERM_PRINT_H
#define MC_KERNEL_PROOF_TERM_PRINT_H

#include "kernel/proof/term.h"

/* How tightly what stands around a term binds. */
typedef enum mc_term_level {
    MC_LEVEL_SUM,
    MC_LEVEL_PRODUCT,
    MC_LEVEL_SIGN,
    MC_LEVEL_POWER,
    MC_LEVEL_VIEW,
    MC_LEVEL_PRIMARY
} mc_term_level;

/* In parentheses where the place needs them. */
void mc_term_print_in(const mc_term *term, mc_term_level place, mc_text *out);

#endif
