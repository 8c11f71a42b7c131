/* approximate.h: ridge regression in a space of m functions instead of all of H: what the two ways to choose them
   share.

   nystrom: k(z_j, .) at m landmarks; fourier: cosines and sines of m/2 random frequencies. Both fit the same data with
   the same lambda, and both are measured against the exact problem (certify/sampled_residual.c). */
#ifndef MC_LEARN_RIDGE_APPROXIMATE_H
#define MC_LEARN_RIDGE_APPROXIMATE_H

#include "problem/problem.h"

typedef struct mc_approximate {
    const mc_problem *p;
    double lambda, tolerance;
    bool intercept;
    int64_t rank;          /* landmarks, or frequencies; 0: chosen */
    const char *landmarks; /* pivots, uniform, or row numbers from 1 */
    int64_t t;             /* right-hand sides: outputs, and one more with an intercept */
    double *mean;          /* outputs: taken off Y first */
    /* The answer: f = sum_j alpha_j (k(z_j, .), or a cosine or sine), and f on the training rows, without the
       intercept. */
    mercer_data *centres;  /* landmarks, or the frequencies twice over: for the cosines and for the sines */
    double *alpha, *b, *F; /* centres x outputs; outputs; n x outputs */
    int64_t *rows;         /* the landmarks' places among the training rows; NULL for frequencies */
    double square_norm;    /* of f in the space, summed over outputs */
    int64_t iterations;
    const char *stopped; /* as in mercer_report */
} mc_approximate;

/* Functions when nobody says how many. */
int64_t mc_nystrom_count(int64_t n, int64_t asked);
int64_t mc_fourier_count(int64_t n, int64_t asked);
/* Bytes each takes at most, the check included. */
size_t mc_nystrom_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t asked, int64_t t);
size_t mc_fourier_fit_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t asked, int64_t t);

/* Fit p by one or the other, measure it, and hand everything over to f: in p the rows give way to the centres. */
struct mc_fitted;
mercer_status mc_ridge_approximate(mercer_ctx *ctx, const mercer_ridge *set, mc_problem *p, bool fourier,
                                   struct mc_fitted *f);

mercer_status mc_approximate_nystrom(mercer_ctx *ctx, mc_approximate *a);
mercer_status mc_approximate_fourier(mercer_ctx *ctx, mc_approximate *a);
void mc_approximate_close(mc_approximate *a);

/* S (Y - mean), s for rows begin .. end - 1: rows x t. */
void mc_approximate_right_hand_sides(const mc_approximate *a, int64_t begin, int64_t end, double *out);
/* b from X = (G + lambda I)^-1 C and C, both m x t: then the first outputs columns of X become those of f. mean goes
   back into b. */
void mc_approximate_intercept(mc_approximate *a, int64_t m, const double *C, double *X);

#endif
