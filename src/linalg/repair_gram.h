/* repair_gram.h: what the two ways to the nearest positive semidefinite matrix share.

   S, the symmetric part of K by a power of two, is moved by the eigenvalues of M = S + diag(y) that are below a floor:
   X = M + sum over w_a < floor of (floor - w_a) u_a u_a'. Freely y = 0; repair_diagonal.c finds the y that keeps the
   diagonal. */
#ifndef MC_LINALG_REPAIR_GRAM_H
#define MC_LINALG_REPAIR_GRAM_H

#include <mercer.h>

typedef struct mc_repair {
    const double *K;
    int64_t n;
    int exponent;
    bool keeps;       /* the diagonal */
    double *S;        /* n x n, the caller's: S, then X */
    double *U;        /* n x n: eigenvectors of M by columns, column-major */
    double *T, *B;    /* n x n: products */
    double *w, *y;    /* n: eigenvalues of M; the diagonal that is added */
    double *kept;     /* n: y when it was found */
    double *diagonal; /* n: of S */
    double *vectors;  /* 7 n: of the search for y, where the diagonal is kept */
    int steps;        /* of that search */
} mc_repair;

/* U and w from S and y. */
mercer_status mc_repair_spectrum(mercer_ctx *ctx, mc_repair *r);
/* out_i <- (sum over w_a < floor of (floor - w_a) u_a u_a')_ii. */
void mc_repair_moved_diagonal(const mc_repair *r, double floor, double *out);
/* y with diag((S + diag(y))_+) = diag(S) to rounding: Newton's method on the dual (Qi and Sun 2006). */
mercer_status mc_repair_find_diagonal(mercer_ctx *ctx, mc_repair *r);

#endif
