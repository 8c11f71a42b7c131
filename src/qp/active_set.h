/* active_set.h: the quadratic program of smo.h where K is too large to be stored: it is solved on active sets of some
   thousand variables, whose part of K is stored, and the function of all rows is brought up to date by products with
   what has changed.

   Of a row of K that is used once, as most are, nothing is written to memory: a product with many rows costs less than
   keeping them. */
#ifndef MC_QP_ACTIVE_SET_H
#define MC_QP_ACTIVE_SET_H

#include "qp/smo.h"

/* A checkpoint: called after every few sets, when beta and f are all that matters of what was done, so that a
   solution resumed from them goes the same way to the last bit. noise2: the square of the error that products have
   left in f. */
typedef struct mc_active_checkpoint {
    mercer_status (*call)(mercer_ctx *ctx, void *arg, const mc_smo_result *so_far, double noise2);
    void *arg;
} mc_active_checkpoint;

/* Memory for the part of K that belongs to an active set, which one solution may leave to the next. Free K when all is
   done. */
typedef struct mc_active_buffer {
    void *K;
    int64_t rows; /* that fit in it */
} mc_active_buffer;

typedef struct mc_active_problem {
    mc_dual dual;
    mc_matrix matrix; /* block, add and add_at are asked for, and diag; whole is used where it is at hand */
    double tolerance; /* of the violation */
    int64_t steps_max;
    double spent;                    /* slopes brought up to date, and entries of K made, for this program before */
    int64_t most;                    /* variables in an active set; at least 2 */
    int64_t part;                    /* and in one that is not of all; 0: as many */
    mc_active_checkpoint checkpoint; /* call NULL: none */
    double noise2;                   /* of f at the start */
    mc_active_buffer *buffer;        /* NULL: taken and given back */
    /* n: |f_i - (K beta)_i| at most, kept up to date; infinite where nothing is known; NULL: nobody asks */
    double *bound;
    const uint8_t *first; /* m: 1: of the first active set; NULL: that is chosen as the others are */
    /* the start is close to the solution: each set is solved further than where others are about to move it */
    bool close_start;
    /* f is K beta and what other rows add: it cannot be made anew, and where it should be, that is the end */
    bool f_of_other_rows;
    /* the tolerance is enough: no Newton steps at the end, which would bring the gap far below it */
    bool without_newton;
} mc_active_problem;

/* As mc_smo_solve, but that updates are what has been spent, before as well. After a stop by the caller or the clock
   beta is feasible and f is no longer K beta. */
mercer_status mc_active_solve(mercer_ctx *ctx, const mc_active_problem *problem, double *beta, double *f,
                              mc_smo_result *result);
/* f <- f + K c, in single precision where what that leaves in it is far below the violation aimed at; that is added to
   *noise2. top: the largest entry of K. */
mercer_status mc_active_add(mercer_ctx *ctx, const mc_active_problem *problem, double aim, double top,
                            const int64_t *ids, const double *c, int64_t count, double *f, double *noise2);
/* Bytes it takes beside what block and add take. */
size_t mc_active_bytes(int64_t n, int64_t m, int64_t most, mercer_dtype dtype);
/* More, for Newton steps and interior points, which are done without where it is above half of what is left. */
size_t mc_active_spare_bytes(int64_t n, int64_t m, int64_t most, mercer_dtype dtype);
/* f <- K beta in double, from nothing, and the bound on its error unless it is NULL. */
mercer_status mc_active_product(mercer_ctx *ctx, const mc_matrix *matrix, const mc_dual *dual, const double *beta,
                                double *f, double *bound);

#endif
