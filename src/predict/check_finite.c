/* check_finite.c: entries of K are watched where they are made (gram/operator/entry_fault.h); this is for what sums and
   products of them can still become. */
#include "predict/check_finite.h"
#include "base/status.h"
#include "data/table/data.h"
#include <math.h>
#include <string.h>

static const char *const CURE =
    "scale the columns or the target down, take a kernel with a smaller factor or exponent, or regularise more";

/* The number of a centre for a message: its place in the training data. */
static long long number_of(const mc_fitted *f, int64_t centre) {
    return (long long)(f->row ? f->row[centre] + 1 : mc_data_row_number(f->centres, centre));
}

static mercer_status check_coefficients(mercer_ctx *ctx, const mc_fitted *f) {
    const int64_t width = mc_form_width(f->form, f->outputs);
    const int64_t at = f->alpha ? mc_first_not_finite(MERCER_F64, f->alpha, f->centres->n * width) : -1;
    return at < 0 ? MERCER_OK
                  : mc_fail(ctx, MERCER_NUMERIC, "%s: the coefficient of row %lld is %g, which no double holds; %s",
                            f->report.machine, number_of(f, at / width), f->alpha[at], CURE);
}

/* One value for each decision. */
static mercer_status check_list(mercer_ctx *ctx, const mc_fitted *f, const char *what, const double *values,
                                int64_t count) {
    const int64_t at = values ? mc_first_not_finite(MERCER_F64, values, count) : -1;
    return at < 0 ? MERCER_OK
                  : mc_fail(ctx, MERCER_NUMERIC, "%s: %s %lld is %g, which no double holds; %s", f->report.machine,
                            what, (long long)at + 1, values[at], CURE);
}

/* Nothing is optimised by knn, and an updated model has left what was. */
static bool has_objective(const mercer_report *r) {
    return strcmp(r->certificate.kind, "exact") != 0 && strcmp(r->certificate.kind, "none") != 0;
}

mercer_status mc_finite_fitted(mercer_ctx *ctx, const mc_fitted *f) {
    const int64_t decisions = mc_form_decisions(f->form, f->outputs);
    MC_TRY(check_coefficients(ctx, f));
    MC_TRY(check_list(ctx, f, "intercept", f->intercept, decisions));
    MC_TRY(check_list(ctx, f, "weight", f->primal, decisions * f->features));
    MC_TRY(check_list(ctx, f, "number of the spectrum", f->spectrum, 2 * f->outputs));
    if (has_objective(&f->report) && !isfinite(f->report.objective))
        return mc_fail(ctx, MERCER_NUMERIC, "%s: the objective is %g, which no double holds; %s", f->report.machine,
                       f->report.objective, CURE);
    return MERCER_OK;
}

mercer_status mc_finite_values(mercer_ctx *ctx, const mercer_data *rows, int64_t width, const double *values) {
    const int64_t at = mc_first_not_finite(MERCER_F64, values, rows->n * width);
    return at < 0 ? MERCER_OK
                  : mc_fail(ctx, MERCER_NUMERIC,
                            "the value of row %lld is %g, which no double holds; look at the row, or fit with a kernel "
                            "that grows less",
                            (long long)mc_data_row_number(rows, at / width), values[at]);
}
