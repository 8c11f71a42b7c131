/* certificate.c: from what was measured to what is claimed. */
#include "certify/certificate.h"
#include "certify/ridge_certificate.h"
#include <float.h>
#include <math.h>

void mc_certify_conclude(const char *kind, int64_t outputs, const mc_certify_column *columns,
                         mc_residual_findings *out) {
    mc_certify_column all = {0};
    for (int64_t k = 0; k < outputs; k++) {
        all.residual = hypot(all.residual, columns[k].residual + columns[k].rounding);
        all.rounding = hypot(all.rounding, columns[k].rounding);
        all.target = hypot(all.target, columns[k].target);
        all.loss += columns[k].loss;
        all.objective += columns[k].objective;
        all.square_norm += columns[k].square_norm;
        all.square_error += columns[k].square_error;
        all.gap += columns[k].gap;
        all.prediction = fmax(all.prediction, columns[k].prediction);
        all.constant = fmax(all.constant, columns[k].constant);
        all.slope = fmax(all.slope, columns[k].slope);
    }
    *out = (mc_residual_findings){
        .objective = all.objective, .loss = all.loss, .norm = mc_certified_norm(all.square_norm, all.square_error)};
    mercer_certificate *c = &out->certificate;
    *c = mc_certificate_blank(kind);
    c->residual_relative = all.residual > 0 ? all.residual / all.target : 0;
    c->residual = all.residual;
    c->rounding = all.rounding;
    c->prediction_error_bound = all.prediction;
    c->prediction_error_constant = all.constant;
    c->prediction_error_slope = all.slope;
    c->objective_gap = all.gap;
}

double mc_gap_scale(double primal, double dual, double rounding, double zero) {
    const double size = isfinite(dual) ? fmax(fabs(primal), fabs(dual)) : fabs(primal);
    return size > rounding && size > 16 * DBL_EPSILON * zero ? size : fmax(zero, size);
}

void mc_certify_gap(mercer_certificate *c, double raised, double zero) {
    const double scale = mc_gap_scale(c->primal, c->dual, c->rounding, zero);
    c->gap = fmax(c->primal - c->dual, 0) + c->rounding;
    c->gap_relative = c->gap > 0 ? c->gap / fmax(scale, DBL_MIN) : 0;
    c->primal += raised;
    c->dual -= c->rounding - raised;
}
