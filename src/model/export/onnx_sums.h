/* onnx_sums.h: sums over the columns as nodes of an ONNX graph, of all rows x against all centres z at once, and the
   words that atoms are put together from.

   They are made in one of two ways. Inner products, and squared distances where the kernel is smooth at zero, are
   matrix products: |x - z|^2 = |x - c|^2 + |z - c|^2 - 2 <x - c, z - c> with c the mean of the centres, which keeps the
   terms small. All else runs over the columns one by one (Scan), so that differences are taken directly and no more
   than rows x centres numbers are held:

       s <- 0;  for each column j:  s <- s + term(x_j - z_j)

   On the diagonal z is x, and a distance is the number 0. */
#ifndef MC_MODEL_EXPORT_ONNX_SUMS_H
#define MC_MODEL_EXPORT_ONNX_SUMS_H

#include "kernel/language/node.h"
#include "model/export/onnx.h"

/* What a part of the expression sees. */
typedef struct mc_onnx_view {
    mc_onnx *g;
    int x;           /* value: rows x d */
    const double *Z; /* m x d; NULL: the diagonal */
    int64_t m, d;
} mc_onnx_view;

/* ---- Words ---- */

static inline int onnx_number(const mc_onnx_view *v, double value) {
    return mc_onnx_number(v->g, value);
}

static inline int onnx_unary(const mc_onnx_view *v, const char *op, int a) {
    return mc_onnx_unary(v->g, op, a);
}

static inline int onnx_binary(const mc_onnx_view *v, const char *op, int a, int b) {
    return mc_onnx_binary(v->g, op, a, b);
}

static inline int onnx_scaled(const mc_onnx_view *v, double factor, int a) {
    return factor == 1 ? a : onnx_binary(v, "Mul", a, onnx_number(v, factor));
}

static inline int onnx_shifted(const mc_onnx_view *v, double term, int a) {
    return term == 0 ? a : onnx_binary(v, "Add", a, onnx_number(v, term));
}

static inline int onnx_square(const mc_onnx_view *v, int a) {
    return onnx_binary(v, "Mul", a, a);
}

static inline int row_sum(const mc_onnx_view *v, int a) {
    return mc_onnx_sum(v->g, a, 1, true);
}

/* ---- Constants: 0 or NULL, with the graph's status set, where there is no memory ---- */

/* Room for numbers that become a constant; NULL, with the graph's status set, where there is none. */
double *mc_onnx_alloc_constants(const mc_onnx_view *v, int64_t count);
/* A number per centre and column, all factor_j (z_j - shift_j), laid out d x m as products take it. */
int mc_onnx_centres(const mc_onnx_view *v, const double *shift, const double *factor, double all);
/* A parameter as one number per column, through a function. */
void mc_onnx_spread_parameter(const mc_value *p, int64_t d, double (*through)(double), double *out);

/* ---- Sums ---- */

/* <x, z>. */
int mc_onnx_dot(const mc_onnx_view *v);
/* sum_j (factor_j (x_j - z_j))^2 with factors from a parameter; on the diagonal 0. */
int mc_onnx_scaled_distance(const mc_onnx_view *v, const mc_value *p, double (*through)(double));
/* rows x m zeros. */
int mc_onnx_zeros(const mc_onnx_view *v);
/* The share of one column: x is rows x 1, z has m numbers, p one. */
typedef int mc_onnx_term(mc_onnx *g, int x, int z, int p);
/* sum_j of(x_j, z_j, p_j), with x and the centres z as they are given: d x m. */
int mc_onnx_over_columns(const mc_onnx_view *v, mc_onnx_term *of, int x, int z, const double *p);
/* The same with p from a parameter; p NULL: 1. On the diagonal 0. */
int mc_onnx_by_columns(const mc_onnx_view *v, mc_onnx_term *of, const mc_value *p, double (*through)(double));

#endif
