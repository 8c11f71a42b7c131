/* pca_certificate.h: scores, eigenvalues, residuals and the variance of principal components, from the rows and the
   vectors alone. */
#ifndef MC_CERTIFY_PCA_CERTIFICATE_H
#define MC_CERTIFY_PCA_CERTIFICATE_H

#include "predict/fitted.h"
#include "problem/pca_matrix.h"

/* From V (n x k, changed in sign): out->alpha, intercept, spectrum, and of the report what follows from them. */
mercer_status mc_pca_finish(mercer_ctx *ctx, const mc_problem *p, bool center, int64_t k, double *V, mc_fitted *out);
size_t mc_pca_finish_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t k);

#endif
