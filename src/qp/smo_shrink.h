/* smo_shrink.h: the quadratic program on the variables that are still in question, the others held where they are.

   A variable at its lower bound whose slope is below every slope in D, or at its upper bound with a slope above every
   one in U, takes part in no violating pair. While most are like that, the rest is a small quadratic program of the
   same form. What comes out of it is a point of the whole quadratic program: it is always put back and checked there.
   */
#ifndef MC_QP_SMO_SHRINK_H
#define MC_QP_SMO_SHRINK_H

#include "base/workspace.h"
#include "qp/principal_submatrix.h"
#include "qp/smo_select.h"

typedef struct mc_shrunk {
    mc_work work;
    mc_principal part;
    mc_matrix rows;
    mc_dual dual;
    int64_t *variable; /* of the whole, for each of its own */
    int64_t *row_id;   /* row of the whole, for each of its own */
    double *beta, *f;
    int64_t batch, *ids; /* rows at a time, when f of the whole is brought up to date, and what that takes */
    double *change;
    const void **scratch;
} mc_shrunk;

/* How many variables are still in question. */
int64_t mc_shrink_count(const mc_dual *dual, const double *beta, const double *f, const mc_extremes *e);
/* *out stays empty (variable NULL) when the small matrix does not fit in memory. */
mercer_status mc_shrunk_open(mercer_ctx *ctx, const mc_matrix *rows, const mc_dual *dual, const double *beta,
                             const double *f, const mc_extremes *e, int64_t count, mc_shrunk *out);
/* Write its beta back and bring the whole f up to date. */
mercer_status mc_shrunk_put_back(mercer_ctx *ctx, mc_shrunk *s, const mc_matrix *rows, double *beta, double *f);
void mc_shrunk_close(mc_shrunk *s);

#endif
