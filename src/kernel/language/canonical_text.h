/* canonical_text.h: parts of the canonical text that other printers use too. */
#ifndef MC_KERNEL_LANGUAGE_CANONICAL_TEXT_H
#define MC_KERNEL_LANGUAGE_CANONICAL_TEXT_H

#include "base/text.h"
#include "kernel/language/kernel.h"

void mc_atom_print(mc_text *out, const mc_node *atom);
void mc_columns_print(mc_text *out, const mc_node *columns); /* "[1:3]" */

#endif
