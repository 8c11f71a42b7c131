/* contract_device.h: the sums of contract.h on a device, for an M that lies there or is of low rank. */
#ifndef MC_GRAM_GRADIENT_CONTRACT_DEVICE_H
#define MC_GRAM_GRADIENT_CONTRACT_DEVICE_H

#include "gram/gradient/contract.h"
#include "linalg/dense.h"

/* M = factor A + left right', symmetric: A packed on the device, a NULL: none; left and right n x terms, row-major,
   here. */
typedef struct mc_contract_matrix {
    mc_dense A;
    double factor;
    int64_t terms;
    const double *left, *right;
} mc_contract_matrix;

/* Whether there is a source for the kernel over these columns. */
bool mc_device_contracts(const mercer_kernel *kernel, const mercer_data *x);
mercer_status mc_device_contract(mercer_ctx *ctx, struct mc_device *device, const mercer_kernel *kernel,
                                 const mercer_data *x, const mc_contract_matrix *M, double *gradient);

#endif
