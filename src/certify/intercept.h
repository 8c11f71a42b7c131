/* intercept.h: how far an intercept can be from every optimal one. */
#ifndef MC_CERTIFY_INTERCEPT_H
#define MC_CERTIFY_INTERCEPT_H

#include <stdint.h>

/* min over f and b of sum_i l_i(f(x_i) + b) + slope b + a penalty on f, each l_i convex. */
typedef struct mc_intercept {
    int64_t n;
    double b;     /* the intercept in question */
    double slope; /* of the objective in b, beside that of the losses */
    /* f of row i, and what the optimal f can differ from it by there */
    double (*value)(const void *self, int64_t i, double *doubt);
    /* the least and the largest slope of l_i at F; the same where it has one */
    void (*slopes)(const void *self, int64_t i, double F, double *low, double *high);
    const void *self;
} mc_intercept;

/* |b - b*| is no more, whichever b* is optimal; infinite where nothing holds b* back. */
double mc_intercept_bound(const mc_intercept *p);

#endif
