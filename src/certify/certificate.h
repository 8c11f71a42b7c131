/* certificate.h: a certificate that claims nothing yet, and what certificates of different machines share. */
#ifndef MC_CERTIFY_CERTIFICATE_H
#define MC_CERTIFY_CERTIFICATE_H

#include <math.h>
#include <mercer.h>

/* No number is known and nothing is bounded: whoever knows better writes it in. */
static inline mercer_certificate mc_certificate_blank(const char *kind) {
    return (mercer_certificate){.kind = kind,
                                .residual_relative = NAN,
                                .residual = NAN,
                                .rounding = NAN,
                                .prediction_error_bound = INFINITY,
                                .prediction_error_constant = INFINITY,
                                .prediction_error_slope = INFINITY,
                                .objective_gap = INFINITY,
                                .primal = NAN,
                                .dual = NAN,
                                .gap = NAN,
                                .gap_relative = NAN,
                                .kkt_violation = NAN,
                                .distance = NAN};
}

/* A norm from its square as computed, which is no more wrong than error; where that is all there is of it, from the
   most that it can be: never 0 because terms cancelled. */
static inline double mc_certified_norm(double square, double error) {
    return sqrt(square > error ? square : fmax(square, 0) + error);
}

/* What a gap is compared with: the objective, or, where rounding is all there is of it, what the function 0 costs. */
double mc_gap_scale(double primal, double dual, double rounding, double zero);
/* gap and gap_relative from primal, dual and rounding as computed; then primal is raised by its part of the rounding
   and dual lowered by the rest, so that the optimum lies between them. */
void mc_certify_gap(mercer_certificate *c, double raised, double zero);

#endif
