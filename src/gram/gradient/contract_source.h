/* contract_source.h: the derivatives of a kernel as source for a device. The source depends on the structure of the
   kernel alone; its numbers are a list that the source reads, so that a search compiles nothing twice. */
#ifndef MC_GRAM_GRADIENT_CONTRACT_SOURCE_H
#define MC_GRAM_GRADIENT_CONTRACT_SOURCE_H

#include "gram/gradient/contract_steps.h"

/* Whether every node has one: not every atom that contract_atoms.c knows does. */
bool mc_contract_has_source(const mc_node *node);
/* At most as many numbers as this are written to numbers. */
int64_t mc_contract_numbers(const mc_contract_steps *steps);
/* To be freed. */
mercer_status mc_contract_source(mercer_ctx *ctx, const mc_contract_steps *steps, int64_t d, double *numbers,
                                 char **out);

#endif
