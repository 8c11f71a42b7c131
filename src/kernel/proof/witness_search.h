/* witness_search.h: the state of a search for points on which an expression is no kernel, and what its stages call; see
   search_witness.c. */
#ifndef MC_KERNEL_PROOF_WITNESS_SEARCH_H
#define MC_KERNEL_PROOF_WITNESS_SEARCH_H

#include "kernel/proof/refute.h"

typedef struct mc_witness_search {
    mercer_ctx *ctx;
    const mc_node *node;
    int64_t d;
    bool nonnegative;     /* points may not have negative entries */
    bool fine;            /* values come from enclosures, not from the evaluator */
    int64_t budget, left; /* values of k that a stage may compute, and those it still may */
    double *direction;    /* directions x d */
    int directions;
    double *points, *other, *slopes; /* MC_WITNESS_POINTS x d each */
    double score;                    /* of the best set of this size; 0: none is negative */
    int64_t best_count;
    double *best;                           /* its points */
    double best_weights[MC_WITNESS_POINTS]; /* and weights, when best_weighted */
    bool best_weighted;
    mercer_status status;
    mc_refutation *out;
} mc_witness_search;

double *mc_search_point(mc_witness_search *s, int64_t i);
void mc_reset_best_set(mc_witness_search *s);
void mc_keep_best_set(mc_witness_search *s, int64_t m, double score, const double *weights);
/* The first m points as they stand, with each of the given weights (NULL: none) and with the eigenvector's: the most
   negative set is kept. */
void mc_consider_points(mc_witness_search *s, int64_t m, const double *weights, const double *others);
/* Turn the best set of this size into a certified witness. */
bool mc_certify_best_set(mc_witness_search *s, bool simplify);
/* K of the first m points; false: a point is outside the domain, a value is not finite, or too many were computed. */
bool mc_fill_gram_of_set(mc_witness_search *s, int64_t m, double *K);

/* The stages: true when a witness was found. search_point_sets.c: */
bool mc_search_one_point(mc_witness_search *s);
bool mc_search_two_points(mc_witness_search *s);
bool mc_search_lines(mc_witness_search *s);
bool mc_search_grids(mc_witness_search *s);
bool mc_search_far_points(mc_witness_search *s);
bool mc_search_lattice(mc_witness_search *s);
bool mc_search_crosses(mc_witness_search *s);
bool mc_search_polygons(mc_witness_search *s);
bool mc_search_with_enclosures(mc_witness_search *s);
/* search_descent.c */
bool mc_search_random_starts(mc_witness_search *s);

#endif
