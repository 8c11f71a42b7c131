/* loss_body.h: the logistic loss of many rows, of two classes and of more (softmax), eight rows or so at a time.

   Rows are judged at F = f + b + shift. A row has the same values, bit for bit, whatever rows stand beside it; sums run
   over MC_LOSS_BLOCK rows in doubles, and over blocks in long doubles. */
#ifndef MC_BACKEND_LOSS_BODY_H
#define MC_BACKEND_LOSS_BODY_H

#include "base/cpu.h"

enum { MC_LOSS_CLASSES = 256, MC_LOSS_BLOCK = 32 }; /* the most classes */

typedef struct mc_loss_rows {
    int64_t n, k;        /* k: 1 for two classes */
    const double *f, *b; /* n x k; k */
    const double *shift; /* n x k; NULL: none */
    const double *y;     /* n: +1 or -1; the number of the class */
    const double *cost;  /* n */
} mc_loss_rows;

/* The dual side: q = -lambda alpha / c, of the own class 1 + q. */
typedef struct mc_loss_dual {
    int64_t n, k;
    const double *alpha; /* n x k */
    const double *y, *cost;
    double lambda;
} mc_loss_dual;

/* sum: of cost times loss. slopes: g and root as mc_loss_derivatives of problem/loss.h has them; root NULL: not asked
   for. conjugate: sum of cost times conjugate. */
typedef struct mc_loss_body {
    double (*logistic_sum)(const mc_loss_rows *r);
    void (*logistic_slopes)(const mc_loss_rows *r, double *g, double *root);
    double (*logistic_conjugate)(const mc_loss_dual *d);
    double (*softmax_sum)(const mc_loss_rows *r);
    void (*softmax_slopes)(const mc_loss_rows *r, double *g, double *root);
    double (*softmax_conjugate)(const mc_loss_dual *d);
} mc_loss_body;

extern const mc_loss_body mc_loss_portable, mc_loss_avx2, mc_loss_avx512;

#endif
