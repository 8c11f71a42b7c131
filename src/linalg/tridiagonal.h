/* tridiagonal.h: Q' A Q = T for a symmetric A, on all threads with the same bits whatever their number. */
#ifndef MC_LINALG_TRIDIAGONAL_H
#define MC_LINALG_TRIDIAGONAL_H

#include "linalg/dense.h"

/* Numbers that both calls need beside. */
int64_t mc_tridiagonal_workspace(int64_t n);
/* A: n x n, column-major, of doubles, its lower half is read; the vectors of the reflections take its place below the
   subdiagonal, as LAPACK's dsytrd leaves them. diagonal: n; below, tau: n - 1. */
mercer_status mc_sytrd(mercer_ctx *ctx, mc_dense A, double *diagonal, double *below, double *tau, double *scratch);
/* Z <- Q Z; Z lies by columns too, n of them at most. */
mercer_status mc_ormtr(mercer_ctx *ctx, mc_dense A, const double *tau, mc_dense Z, double *scratch);

#endif
