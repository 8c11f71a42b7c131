/* witness.h: points and weights that show an expression is not a kernel: sum_ij w_i w_j k(x_i, x_j) < 0, certified. */
#ifndef MC_KERNEL_PROOF_WITNESS_H
#define MC_KERNEL_PROOF_WITNESS_H

#include "kernel/language/kernel.h"

enum { MC_WITNESS_POINTS = 32 };

typedef struct mc_witness {
    int64_t count, d, texts;
    double *points; /* room for MC_WITNESS_POINTS rows of d numbers and texts texts, as mc_row_text reads them */
    double weights[MC_WITNESS_POINTS];
    double value, bound;
    int64_t pair[2];
} mc_witness;

/* K(i, j) = k(x_i, x_j) in double for m points of d numbers and so many texts; false when some value does not exist. */
bool mc_witness_gram(const mc_node *node, int64_t m, int64_t d, int64_t texts, const double *points, double *K);
/* The same from enclosures, so that every value is right to its last digit: a hundred times slower. */
bool mc_witness_gram_enclosed(const mc_node *node, int64_t m, int64_t d, int64_t texts, const double *points,
                              double *K);
/* A factorisation of K meets only pivots well above rounding: no need to look for a negative eigenvalue. */
bool mc_surely_definite(const double *K, int64_t m);
/* The smallest eigenvalue of symmetric K (destroyed) with a unit eigenvector, relative to the largest in size. */
double mc_smallest_eigenvalue(double *K, int64_t m, double *vector);

/* Fill in value, bound and pair of w, whose points and weights are set. True when the form is surely negative. */
bool mc_witness_certify(const mc_node *node, mc_witness *w);
/* The same for points alone: the weights are the eigenvector's, rounded to as few decimals as will do. */
bool mc_witness_from_points(const mc_node *node, mc_witness *w);
/* The same with the points of numbers, too, rounded to as few digits as will do, and those dropped that are not needed.
   scratch:
   room for as many points. */
bool mc_witness_simplify(const mc_node *node, mc_witness *w, double *scratch);
/* v with this many significant decimal digits. */
double mc_round_to_digits(double v, int digits);

#endif
