/* intercept.h: how far an intercept can be from every optimal one. */
#ifndef MC_CERTIFY_INTERCEPT_H
#define MC_CERTIFY_INTERCEPT_H

#include <stdint.h>

/* min over f and b of sum_i l_i(f(x_i) + b) + slope b + a penalty on f, each l_i convex. */
typedef struct mc_intercept {
    int64_t n;
    double b;     /* the intercept in question */
    double slope; /* of the objective in b, beside that of the losses */
    /* f of the rows from begin on, and what the optimal f can differ from it by there */
    void (*values)(const void *self, int64_t begin, int64_t count, double *f, double *doubt);
    /* the largest slopes (side 1), or the least (-1), of their l_i at F; the same where l_i has but one there */
    void (*slopes)(const void *self, int64_t begin, int64_t count, const double *F, int side, double *slope);
    const void *self;
} mc_intercept;

/* |b - b*| is no more, whichever b* is optimal; infinite where nothing holds b* back. */
double mc_intercept_bound(const mc_intercept *p);

/* min over f_k and b_k of sum_i cost_i (log sum_k exp(f_k(x_i) + b_k) - f_y(x_i) - b_y) + a penalty on the f_k. */
typedef struct mc_softmax {
    int64_t n, classes;
    const double *f, *b; /* n x classes; the intercepts in question */
    const double *y;     /* n: the number of the class */
    const double *cost;  /* n */
    double doubt;        /* what an optimal f_k can differ from f by, at any row */
    double *shares;      /* room for n x classes */
} mc_softmax;

/* No |b_k - b*_k| is more, for the optimal b* with the sum of b; infinite where nothing holds them back. room: for
   classes x (classes + 2). */
double mc_softmax_intercepts_bound(const mc_softmax *p, double *room);

#endif
