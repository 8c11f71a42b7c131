/* contract_steps.h: a kernel laid flat for the passes of contract.c, and for the source of contract_device.c. */
#ifndef MC_GRAM_GRADIENT_CONTRACT_STEPS_H
#define MC_GRAM_GRADIENT_CONTRACT_STEPS_H

#include "kernel/language/kernel.h"

enum { MC_CONTRACT_NODES = 64 };

/* A node of the tree in postfix order, with what the passes need to know. */
typedef struct mc_contract_step {
    const mc_node *node;
    int children, child[MC_CONTRACT_NODES];
    int64_t d, *column;              /* columns of the whole row that an atom or weigh sees */
    int64_t slot[MC_PARAMETERS_MAX]; /* first slot of each parameter; -1: none */
    int64_t number_slot;
    double *weight; /* weigh: f of every row */
} mc_contract_step;

typedef struct mc_contract_steps {
    const mercer_kernel *kernel;
    int count;
    mc_contract_step step[MC_CONTRACT_NODES];
} mc_contract_steps;

/* Whether every part has a row in mc_contract_atoms and there are not too many. */
bool mc_contract_covers(const mc_node *root);
int mc_contract_count(const mc_node *node);
/* steps: zeros before. Closing is right after an opening that failed. */
mercer_status mc_contract_steps_open(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, mc_contract_steps *steps);
void mc_contract_steps_close(mc_contract_steps *steps);
/* f of every row for weigh; rows: n x width. */
mercer_status mc_contract_weights(mercer_ctx *ctx, mc_contract_steps *steps, int64_t n, int64_t d, const double *rows,
                                  int64_t width);

#endif
