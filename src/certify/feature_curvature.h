/* feature_curvature.h: how strongly the squared loss bends in the weights of explicit features, beside lambda. */
#ifndef MC_CERTIFY_FEATURE_CURVATURE_H
#define MC_CERTIFY_FEATURE_CURVATURE_H

#include "problem/feature_panels.h"

/* More features, or more operations than this, are not worth it: the check would take longer than the fit. */
enum { MC_CURVATURE_FEATURES = 1024 };
bool mc_curvature_pays(int64_t n, int64_t D);
/* Bytes beside those of the panels of the check; 0 where it does not pay. */
size_t mc_curvature_bytes(int64_t D);
/* constant: D flags, features that are the same at every x. */
mercer_status mc_constant_features(mercer_ctx *ctx, const mc_panels *panels, bool *constant);
/* *least: a number that the smallest eigenvalue of Z'Z is certain to reach, 0 where none is; Z the rows sqrt(w) phi(x).
   skip (NULL: none): features left out; phi is then taken less its mean, as a free intercept takes it. */
mercer_status mc_feature_curvature(mercer_ctx *ctx, mc_panels *panels, const bool *skip, double *least);

#endif
