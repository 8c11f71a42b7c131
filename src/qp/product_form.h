/* product_form.h: D + F F' factored as L_1 ... L_r D~ L_r' ... L_1', one L for each column of F, in n r^2 operations
   where n^3/3 are otherwise needed.

   The Sherman-Morrison-Woodbury formula would do the same in as many, and lose every digit where D is small beside F
   F', as it is at the free variables of an interior-point method. Each L here is the Cholesky factor of a positive
   definite matrix. Goldfarb and Scheinberg (2004); the update of one column: Gill, Golub, Murray and Saunders (1974).
   */
#ifndef MC_QP_PRODUCT_FORM_H
#define MC_QP_PRODUCT_FORM_H

#include "base/workspace.h"
#include "qp/pivoted_cholesky.h"

typedef struct mc_product_form {
    const mc_pivoted_cholesky *low_rank;
    double *P, *B;     /* L_k has p_i b_j below its diagonal; laid out as F */
    double *d, *p, *b; /* n: D~; the column at hand */
} mc_product_form;

/* low_rank is set apart. */
void mc_product_form_lay_out(mc_work *work, int64_t n, int64_t panels, mc_product_form *out);
/* form->d holds D, all of it positive, before. */
mercer_status mc_product_form_factor(mercer_ctx *ctx, mc_product_form *form);
/* x <- (D + F F')^-1 x */
void mc_product_form_solve(const mc_product_form *form, double *x);

#endif
