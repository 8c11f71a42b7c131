/* ridge_flops.h: the operations of each way to solve ridge, for forecasts of time. Each fills the counts of an option.
   */
#ifndef MC_LEARN_RIDGE_RIDGE_FLOPS_H
#define MC_LEARN_RIDGE_RIDGE_FLOPS_H

#include "learn/ridge/ridge_cost.h"

void mc_ridge_work_cholesky(const mc_ridge_size *size, mc_option *out);
void mc_ridge_work_mixed(const mc_ridge_size *size, mc_option *out);
void mc_ridge_work_eigen(const mc_ridge_size *size, mc_option *out);
void mc_ridge_work_pcg(const mc_ridge_size *size, mc_option *out);
void mc_ridge_work_primal(const mc_ridge_size *size, mc_option *out);
void mc_ridge_work_nystrom(const mc_ridge_size *size, mc_option *out);
void mc_ridge_work_fourier(const mc_ridge_size *size, mc_option *out);

#endif
