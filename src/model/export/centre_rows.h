/* centre_rows.h: what a fitted function keeps of every centre, a row at a time, for the programs that write it out. */
#ifndef MC_MODEL_EXPORT_CENTRE_ROWS_H
#define MC_MODEL_EXPORT_CENTRE_ROWS_H

#include "data/table/data.h"
#include "predict/fitted.h"

/* Writes the numbers of row i, as many as there are columns. */
typedef void mc_fill_row(const mc_fitted *f, int64_t i, int64_t columns, double *out);

static inline void mc_row_of_centre(const mc_fitted *f, int64_t i, int64_t columns, double *out) {
    (void)columns;
    mc_data_values(f->centres, i, out);
}

/* Neighbours keep their targets and, in the last column, their weights. */
static inline void mc_row_of_coefficients(const mc_fitted *f, int64_t i, int64_t columns, double *out) {
    for (int64_t k = 0; k < columns; k++)
        out[k] = f->form == MC_NEIGHBOURS ? f->alpha[i * columns + k] : mc_fitted_coefficient(f, i, k);
}

#endif
