/* path_row.h: a row of mercer_fit_path before anything is known of it, and what every certified fit knows. */
#ifndef MC_LEARN_COMMON_PATH_ROW_H
#define MC_LEARN_COMMON_PATH_ROW_H

#include <math.h>
#include <mercer.h>

static inline mercer_path_row mc_path_row(double value) {
    return (mercer_path_row){.value = value,
                             .norm = NAN,
                             .objective = NAN,
                             .loo_rmse = NAN,
                             .gcv = NAN,
                             .dof = NAN,
                             .primal = NAN,
                             .dual = NAN,
                             .gap_relative = NAN,
                             .kkt_violation = NAN,
                             .distance = NAN,
                             .test = NAN,
                             .test_log_loss = NAN,
                             .fold = NAN,
                             .fold_log_loss = NAN};
}

static inline void mc_path_row_certify(mercer_path_row *row, const mercer_report *r) {
    row->primal = r->certificate.primal;
    row->dual = r->certificate.dual;
    row->gap_relative = r->certificate.gap_relative;
    row->support_vectors = r->support_vectors;
    row->steps = r->iterations;
    row->norm = r->norm;
    row->seconds = r->seconds;
}

#endif
