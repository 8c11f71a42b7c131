/* text_rows.h: texts as compressed rows of the features found in them, added up: made once for the rows of a problem
   and shared by all tables taken from them. */
#ifndef MC_KERNEL_EVALUATE_TEXT_ROWS_H
#define MC_KERNEL_EVALUATE_TEXT_ROWS_H

#include "data/table/data.h"
#include "kernel/language/kernel.h"

/* The rows of one atom. Values that are whole numbers are kept as floats, which hold them, and in the order in which
   their features are met; others are sorted by coordinate: k(x, z) and k(z, x) then add the same products in the same
   order. */
typedef struct mc_text_rows {
    int64_t n, d;    /* coordinates of all the rows that were numbered together */
    int64_t longest; /* values of one row */
    double rounding; /* units in the last place that a value may be off by; 0: none */
    int64_t *start;  /* n + 1 */
    int32_t *coordinate;
    double top;    /* the largest of whole values */
    float *whole;  /* values; NULL: they are in value */
    double *value; /* likewise */
    double *self;  /* k(x, x) */
    size_t making; /* bytes that were taken until they were made, at most */
} mc_text_rows;

static inline double mc_text_row_value(const mc_text_rows *rows, int64_t k) {
    return rows->whole ? (double)rows->whole[k] : rows->value[k];
}

/* One of several tables numbered together: equal features have equal coordinates in all of them. */
typedef struct mc_text_side {
    const mercer_data *data;
    mc_text_rows rows;
} mc_text_side;

mercer_status mc_text_rows_make(mercer_ctx *ctx, const mc_node *atom, mc_text_side *side, int sides);
/* k(x, x) of every row by itself, in the memory of the longest. */
mercer_status mc_text_rows_self(mercer_ctx *ctx, const mc_node *atom, const mercer_data *data, double *out);
void mc_text_rows_free(mc_text_rows *rows);
/* What the rows of the data can have at most: values of all rows, different features, values of one panel of so many
   rows. */
int64_t mc_text_rows_total(const mc_node *atom, const mercer_data *data);
int64_t mc_text_rows_different(const mc_node *atom, const mercer_data *data);
int64_t mc_text_rows_widest(const mc_node *atom, const mercer_data *data, int64_t width);
/* Bytes that so many values of so many features take at most while they are made rows. */
size_t mc_text_rows_bytes(const mc_node *atom, int64_t values, int64_t different);

/* ---- Of a problem ---- */

/* The rows of every atom of texts in the tree, known from now on to the data and all tables taken from them; one that
   would take more than a quarter of the memory that is left is not made, and made anew by whoever needs it. */
mercer_status mc_text_rows_attach(mercer_ctx *ctx, const mc_node *root, mercer_data *data);
/* Bytes that were taken meanwhile, at most. */
size_t mc_text_rows_attached_bytes(const mercer_data *data);
/* Nobody needs them any more. */
void mc_text_rows_detach(mercer_data *data);
/* The rows of the atom that both were taken from; NULL: they are not there. Row i of x is number x->attached_row[i]. */
const mc_text_rows *mc_text_rows_of(const mc_node *atom, const mercer_data *x, const mercer_data *z);

static inline int64_t mc_text_row_place(const mercer_data *data, int64_t i) {
    return data->attached_row ? data->attached_row[i] : i;
}

#endif
