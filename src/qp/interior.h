/* interior.h: the quadratic program of smo.h by an interior-point method, where SMO converges slowly and Newton steps
   from where it stands do not settle: a very large C on noisy data, columns of very different size, nu machines of
   which half the rows are free.

   It takes some thirty factors of an n x n matrix whatever C is, and more memory than SMO: another half of K in double.
   Where K = F F' with few columns (pivoted_cholesky.h) they are factors in product form, which cost n rank^2 and as
   much memory as three F. */
#ifndef MC_QP_INTERIOR_H
#define MC_QP_INTERIOR_H

#include "qp/pivoted_cholesky.h"
#include "qp/smo.h"

/* beta is feasible and f belongs to it (f - K beta, the part of variables held elsewhere, is kept) before and after;
   the objective does not rise. View is asked for, of all rows at once. Nothing is done where a row has no
   variable or more than two, or a variable no bound. *moved: whether beta has changed. low_rank: K, which is then
   not asked for anything but its diagonal; NULL: its rank is not low. */
mercer_status mc_interior_solve(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix *rows,
                                const mc_pivoted_cholesky *low_rank, double *beta, double *f, bool *moved);

/* What it takes, K in double included where it is stored in single precision. */
size_t mc_interior_bytes(int64_t n, int64_t m, mercer_dtype dtype);
/* Slopes that SMO could bring up to date in the time it takes for n rows and m variables; INT64_MAX where memory is
   short for it and, where K is stored in single precision, for K in double. */
int64_t mc_interior_equal_updates(mercer_ctx *ctx, int64_t n, int64_t m, mercer_dtype dtype);
/* The rank of K up to which it takes no longer than so many updates, and memory allows; 0: none. */
int64_t mc_interior_rank(mercer_ctx *ctx, int64_t n, int64_t m, int64_t updates);

#endif
