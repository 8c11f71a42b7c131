/* svm_certificate.h: violation, gap and intercept of support vector machines, from the rows and the multipliers
   alone. */
#ifndef MC_CERTIFY_SVM_CERTIFICATE_H
#define MC_CERTIFY_SVM_CERTIFICATE_H

#include "predict/fitted.h"
#include "problem/svm_problem.h"
#include <math.h>

/* svm_certificate.c: every task certified; intercepts of tasks and of f set anew. */
mercer_status mc_svm_certify(mercer_ctx *ctx, mc_svm *s, mc_fitted *f);
void mc_svm_report(const mc_svm *s, mercer_report *out);

/* Where the loss of row i bends: y (f + b) = 1, |y - f - b| = epsilon or f + b = 0; the largest |f + b| there. */
static inline double mc_svm_program_bend(const mc_svm *s, const mc_svm_program *t, int64_t i) {
    return s->variant->classes ? 1 : s->variant->doubled ? fabs(s->p.Y[i * s->p.outputs + t->output]) + t->epsilon : 0;
}

/* svm_decision_bound.c: t->distance and t->intercept_error, from the gap. */
void mc_svm_program_bound_decision(const mc_svm *s, mc_svm_program *t);

/* svm_kept.c: f of every task from the K that is kept, and how wrong such a product can be. */
mercer_status mc_svm_decide_kept(mercer_ctx *ctx, mc_svm *s, mc_product_error *error);
/* f of a task as that function would have it, from a K of its rows as the operator of kept made it, by whoever has that
   K and for a moment only; scratch for t->n doubles. */
void mc_svm_program_decide(mc_svm_program *t, const mc_kernel_runs *K, mc_work scratch);

/* svm_screen.c: f of a task in double precision, from the rows and the multipliers, where it matters: rows with a
   multiplier, and those that may violate the margin or be nearest to it. Of the others the solver's f is within
   t->error, which proves that they add nothing. *error is raised to that of the products made. */
bool mc_svm_screens(const mc_svm *s);
mercer_status mc_svm_program_screen(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, const mc_dual *dual,
                                    mc_product_error *error, bool *sure);
/* What was computed, for the next C of a path. */
mercer_status mc_svm_program_remember(mercer_ctx *ctx, mc_svm_program *t);
/* Whether the proof stands with the multipliers of the sums now found. */
bool mc_svm_program_screened(const mc_svm *s, const mc_svm_program *t, const mc_dual *dual, const double intercept[2]);

#endif
