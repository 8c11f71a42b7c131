/* interior_subset.h: the quadratic program of smo.h from the inside, where SMO crawls and Newton steps from where it
   stands do not settle.

   An interior-point method takes some thirty factors whatever C is, and each costs the cube of the rows. Most variables
   are far from leaving their bound when SMO crawls: the leap is made with those in question alone, and the others are
   judged after it. */
#ifndef MC_QP_INTERIOR_SUBSET_H
#define MC_QP_INTERIOR_SUBSET_H

#include "qp/smo.h"

/* beta is feasible and f = K beta + the part of variables held elsewhere, before and after; the objective does not
   rise. rows are stored. whole: where the variables in question do not lead to the tolerance, all of them. *moved:
   whether beta has changed. */
mercer_status mc_interior_subset(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix_rows *rows, double tolerance,
                                 bool whole, double *beta, double *f, bool *moved);

/* Pairs that SMO could move in the time of a leap with the variables in question; INT64_MAX where these are most of
   all. */
int64_t mc_interior_subset_worth(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix_rows *rows, const double *beta,
                                 const double *f);

#endif
