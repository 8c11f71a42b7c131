/* loss_certificate.h: the duality gap of a convex loss with a penalty, from the rows and the coefficients alone. */
#ifndef MC_CERTIFY_LOSS_CERTIFICATE_H
#define MC_CERTIFY_LOSS_CERTIFICATE_H

#include "problem/loss.h"
#include "problem/problem.h"

typedef struct mc_loss_findings {
    double primal, dual, rounding;
    double primal_rounding;           /* the part of rounding that is of primal */
    double square_norm, square_error; /* and what it can be wrong by */
    double zero;                      /* the objective of f = 0 */
    double reach;                     /* largest k(x, x) */
    double each;                      /* what a computed f can be wrong by */
    double distance;                  /* |f - f*| in H is no more */
    double intercept;                 /* nor is |b - b*| */
} mc_loss_findings;
/* t->f <- K alpha in double precision from the rows, for all columns of the tasks, and what follows from it. */
mercer_status mc_loss_certify(mercer_ctx *ctx, const mc_problem *p, mc_loss_task *tasks, int64_t count,
                              mc_loss_findings *out);

/* The certificate of all tasks together, with the objective and the norm. */
void mc_loss_report(const mc_loss_task *tasks, int64_t count, const mc_loss_findings *all, mercer_report *r);

#endif
