/* probability.h: LIBSVM's probabilities: a logistic function of every decision (Platt), fitted to decisions of rows
   left out in five folds, and the classes' probabilities from those of all pairs. */
#ifndef MC_LIBSVM_PROBABILITY_H
#define MC_LIBSVM_PROBABILITY_H

#include "libsvm/class_groups.h"
#include "libsvm/solve_problem.h"

enum { MC_PLATT_FOLDS = 5 };

typedef struct mc_logistic_line {
    double A, B; /* P(first class) = 1 / (1 + exp(A decision + B)) */
} mc_logistic_line;

/* By most regularized likelihood: Lin, Lin and Weng, "A note on Platt's probabilistic outputs for support vector
   machines" (2007). */
mc_logistic_line mc_platt_fit(int64_t n, const double *decision, const bool *first);
double mc_platt_value(mc_logistic_line line, double decision);

/* p (classes, summing to 1) from r[i * classes + j] = P(i | i or j): the second method of Wu, Lin and Weng,
   "Probability estimates for multi-class classification by pairwise coupling" (2004). Q: room for classes x classes,
   Qp: classes. */
void mc_pairwise_coupling(int classes, const double *r, double *Q, double *Qp, double *p);

/* The probabilities of the classes for one row, from its decisions between all pairs, and the most probable class. */
int64_t mc_probability_room(int classes); /* doubles that it works in */
int mc_probable_class(int classes, const double *A, const double *B, const double *values, double *room,
                      double *estimates);

/* The lines of all pairs. Folds are drawn by rand(), in LIBSVM's order, so that they are LIBSVM's. */
mercer_status mc_platt_pairs(mercer_ctx *ctx, const mc_svm_task *task, const mc_class_groups *groups, double *A,
                             double *B);
/* The scale of a Laplace distribution from residuals: their mean size, those beyond five deviations left out. */
double mc_laplace_scale(int64_t n, const double *residual);

/* The numbers 0 .. n - 1 in a random order. */
void mc_shuffle_by_rand(int n, int *out);

/* Work on parts of a problem, as many at once as there are processors: jobs of at most so many rows. */
mercer_status mc_svm_run_parts(mercer_ctx *ctx, const mc_svm_task *task, int64_t rows, int64_t count, void *arg,
                               mercer_status (*job)(mercer_ctx *ctx, void *arg, int64_t k));

#endif
