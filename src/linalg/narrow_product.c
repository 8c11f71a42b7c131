/* narrow_product.c: see narrow_product.h. */
#include "linalg/narrow_product.h"
#include "backend/dispatch.h"
#include "linalg/dense.h"

enum { SHORT = 16, FEW = 5 }; /* sums along rows of fewer numbers than SHORT end too soon for more columns than FEW */

void mc_narrow_product(mc_isa isa, const mc_few_columns *p) {
    const mc_few_columns_body *body = mc_bodies_of(isa)->few_columns;
    if (p->t <= FEW || (p->t <= body->most && p->n >= SHORT))
        body->rows(p);
    else
        mc_gemm(1, mc_row_major(p->A, p->m, p->n, p->ld), mc_column_major(p->V, p->n, p->t, p->vs), 0,
                mc_row_major(p->Y, p->m, p->t, p->ys));
}

void mc_narrow_transposed_product(mc_isa isa, const mc_few_columns *p) {
    const mc_few_columns_body *body = mc_bodies_of(isa)->few_columns;
    if (p->t <= body->most)
        body->columns(p);
    else
        mc_gemm(1, mc_column_major(p->A, p->n, p->m, p->ld), mc_row_major(p->U, p->m, p->t, p->us), 1,
                mc_column_major(p->Z, p->n, p->t, p->zs));
}
