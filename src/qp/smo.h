/* smo.h: the quadratic program behind every support vector machine,

       min over beta of  1/2 beta' K beta + q' beta,   low <= beta <= high,   sum of beta over each group as it is at
       the start.

   beta_t is the signed multiplier of variable t (y alpha of a classifier), f = K beta the function without its
   intercept and v_t = -(f_t + q_t) the slope of the objective against variable t. With U the variables below their
   upper bound and D those above their lower one, beta is optimal when in each group max over U of v <= min over D of v;
   the difference, where positive, is the violation. Any number between the two is the multiplier of the group's sum:
   the intercept. */
#ifndef MC_QP_SMO_H
#define MC_QP_SMO_H

#include "base/progress.h"
#include "linalg/matrix.h"

typedef struct mc_dual {
    int64_t m;          /* variables */
    const int64_t *row; /* the row of K of each; NULL: variable t has row t. Several may share one */
    const double *q;
    const double *low, *high; /* infinite ones allowed */
    const uint8_t *group;     /* 0 or 1; NULL: one group */
} mc_dual;

typedef struct mc_smo_problem {
    mc_dual dual;
    mc_matrix rows;
    double tolerance; /* of the violation */
    int64_t steps_max;
    bool watched; /* this is all there is to solve: progress tells its gap */
} mc_smo_problem;

typedef struct mc_smo_result {
    double violation;      /* by the f returned */
    double intercept[2];   /* per group: mean of v over free variables, or the middle of where it may lie */
    double objective;      /* beta'(f/2 + q): that of f = K beta; of what others add to f it has half */
    int64_t steps, rounds; /* pairs moved; working sets solved */
    int64_t updates;       /* slopes brought up to date by them, about a nanosecond each */
    bool converged;
} mc_smo_result;

/* beta: a feasible start, then the answer; f (n numbers): K beta at the start, then at the end. beta is feasible and f
   belongs to it also when the caller or the clock stops the work. Running out of steps is not an error: converged says.
   */
mercer_status mc_smo_solve(mercer_ctx *ctx, const mc_smo_problem *problem, double *beta, double *f,
                           mc_smo_result *result);
/* Bytes it takes. */
size_t mc_smo_bytes(int64_t n, int64_t m, mercer_dtype dtype);

/* A step for whoever watches the progress, with the duality gap at beta, the intercepts in the middle of where they may
   lie. */
mercer_status mc_dual_report_progress(mercer_ctx *ctx, const mc_dual *dual, const double *beta, const double *f,
                                      mc_watch seen);

/* The state of optimality at beta with f = K beta, from these numbers alone: violation, intercepts, objective. */
void mc_dual_optimality(const mc_dual *dual, const double *beta, const double *f, mc_smo_result *result);
/* What the objective gains from beta to x, with f and g for K beta. f may have a part of variables held elsewhere, of
   which beta' f / 2 would count a half: the slopes at either end have all of it. */
long double mc_dual_objective_change(const mc_dual *dual, const double *beta, const double *f, const double *x,
                                     const double *g);

#endif
