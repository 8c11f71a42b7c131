/* scale.h: x_j -> (x_j - shift_j) * factor_j, found on the training rows, kept in the model, applied at prediction. */
#ifndef MC_DATA_TABLE_SCALE_H
#define MC_DATA_TABLE_SCALE_H

#include <mercer.h>

typedef enum mc_scaling { MC_SCALE_AUTO, MC_SCALE_NONE, MC_SCALE_STANDARD, MC_SCALE_MINMAX } mc_scaling;

typedef struct mc_scale {
    mc_scaling kind; /* never AUTO once fitted */
    int64_t d;
    double *shift,
        *factor; /* NULL for NONE. Sparse data are never shifted: zeros stay zeros. A constant column gets factor 1 */
} mc_scale;

extern const char *const mc_scaling_names[]; /* "auto", "none", "standard", "minmax" */

/* AUTO standardises dense data whose columns differ in spread by more than 10x, otherwise leaves them; the choice is in
 * out->kind. */
mercer_status mc_scale_fit(mercer_ctx *ctx, mc_scaling kind, const mercer_data *data, mc_scale *out);
/* New data with scaled values and everything else the same. Sparse data under a scaling of dense data become dense. */
mercer_status mc_scale_apply(mercer_ctx *ctx, const mc_scale *scale, const mercer_data *data, mercer_data **out);
void mc_scale_free(mc_scale *scale);

#endif
