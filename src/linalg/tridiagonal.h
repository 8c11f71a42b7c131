/* tridiagonal.h: Q' A Q = T for a symmetric A, on all threads with the same bits whatever their number. */
#ifndef MC_LINALG_TRIDIAGONAL_H
#define MC_LINALG_TRIDIAGONAL_H

#include <mercer.h>

/* Numbers that both calls need beside. */
int64_t mc_tridiagonal_room(int64_t n);
/* A: n x n, column-major, its lower half is read; the vectors of the reflections take its place below the subdiagonal,
   as LAPACK's dsytrd leaves them. diagonal: n; below, tau: n - 1. */
mercer_status mc_tridiagonal(mercer_ctx *ctx, int64_t n, double *A, double *diagonal, double *below, double *tau,
                             double *room);
/* Z <- Q Z for the n columns of Z. */
mercer_status mc_tridiagonal_back(mercer_ctx *ctx, int64_t n, const double *A, const double *tau, double *Z,
                                  double *room);

#endif
