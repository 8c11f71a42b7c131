/* landmark_space.h: the span of k(z_j, .) at m landmarks, with an orthonormal basis.

   K_zz = T T' (landmarks that depend on others in rounded arithmetic are dropped), phi(x) = T^-1 k_z(x): then
   <phi(x), phi(x')> is the part of k(x, x') that the landmarks see, and |f|^2 = |theta|^2 for f = <theta, phi>. */
#ifndef MC_LEARN_COMMON_LANDMARK_SPACE_H
#define MC_LEARN_COMMON_LANDMARK_SPACE_H

#include "problem/problem.h"

typedef struct mc_landmark_space {
    int64_t m;
    mercer_data *z; /* the landmarks, in the order of the pivots */
    int64_t *rows;  /* their places among the rows of the problem */
    double *T;      /* m x m, lower, by columns */
} mc_landmark_space;

/* how: as in mc_landmarks_choose; wanted: so many, at most. who: for messages. */
mercer_status mc_landmark_space_open(mercer_ctx *ctx, const char *who, const mc_problem *p, const char *how,
                                     int64_t wanted, mc_landmark_space *out);
void mc_landmark_space_close(mc_landmark_space *s);
/* What opening takes at most, T and what stays included. */
size_t mc_landmark_space_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m);
/* X (m x columns, row-major) <- T^-1 X, or T'^-1 X. */
mercer_status mc_landmark_space_solve(mercer_ctx *ctx, const mc_landmark_space *s, bool transposed, int64_t columns,
                                      double *X);
/* count rows of k_z(x), one after the other, become those of phi(x). */
void mc_landmark_space_features(const mc_landmark_space *s, int64_t count, double *Z);

#endif
