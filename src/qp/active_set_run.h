/* active_set_run.h: between the files of the active set method: its state, and the program on one set. */
#ifndef MC_QP_ACTIVE_SET_RUN_H
#define MC_QP_ACTIVE_SET_RUN_H

#include "qp/active_set.h"
#include "qp/smo_select.h"

typedef struct mc_active_run {
    const mc_active_problem *p;
    double *beta, *f; /* of all */
    mc_smo_result *result;
    mc_selection selection;
    int64_t count, rows; /* of the active set: variables and rows of K */
    int64_t *variable, *row, *row_id, *place;
    mc_dual dual;
    double *q, *low, *high, *own, *own_f, *diagonal;
    uint8_t *group;
    mc_active_buffer *buffer; /* for K of the set */
    bool holds_all;           /* it has that of all rows */
    double aim;               /* the violation that the round is to reach */
    double noise2;            /* the square of the error that products in single precision have left in f */
    double work;              /* slopes brought up to date and entries of K made so far */
} mc_active_run;

/* active_subproblem.c: the quadratic program on the set, from own and own_f, which become the answer; found: what that
   took. */
mercer_status mc_active_subproblem_solve(mercer_ctx *ctx, mc_active_run *r, const mc_smo_problem *small,
                                         mc_smo_result *found);
/* The largest entry of K on its rows. */
double mc_active_run_top(const mc_active_run *r);

#endif
