/* onnx_sums.c: see onnx_sums.h. */
#include "model/export/onnx_sums.h"
#include "base/memory.h"
#include <math.h>

/* ---- Constants ---- */

double *mc_onnx_alloc_constants(const mc_onnx_view *v, int64_t count) {
    double *values = mc_alloc(v->g->ctx, count, sizeof *values);
    if (!values)
        v->g->status = MERCER_MEMORY;
    return values;
}

int mc_onnx_centres(const mc_onnx_view *v, const double *shift, const double *factor, double all) {
    double *table = mc_onnx_alloc_constants(v, v->d * v->m);
    for (int64_t i = 0; table && i < v->m; i++)
        for (int64_t j = 0; j < v->d; j++)
            table[j * v->m + i] = all * ((v->Z[i * v->d + j] - (shift ? shift[j] : 0)) * (factor ? factor[j] : 1));
    const int value = table ? mc_onnx_table(v->g, table, v->d, v->m) : 0;
    mc_free(table);
    return value;
}

void mc_onnx_spread_parameter(const mc_value *p, int64_t d, double (*through)(double), double *out) {
    for (int64_t j = 0; j < d; j++)
        out[j] = through(mc_value_at(p, j));
}

/* ---- Sums by products ---- */

int mc_onnx_dot(const mc_onnx_view *v) {
    return v->Z ? mc_onnx_product(v->g, v->x, mc_onnx_centres(v, NULL, NULL, 1)) : row_sum(v, onnx_square(v, v->x));
}

static void mean_of_centres(const mc_onnx_view *v, double *out) {
    for (int64_t i = 0; i < v->m; i++)
        for (int64_t j = 0; j < v->d; j++)
            out[j] += v->Z[i * v->d + j] / (double)v->m;
}

/* |factor (z - shift)|^2 of every centre: 1 x m. */
static int onnx_centre_norms(const mc_onnx_view *v, const double *shift, const double *factor) {
    double *sum = mc_onnx_alloc_constants(v, v->m);
    for (int64_t i = 0; sum && i < v->m; i++)
        for (int64_t j = 0; j < v->d; j++)
            sum[i] += pow((v->Z[i * v->d + j] - shift[j]) * factor[j], 2);
    const int value = sum ? mc_onnx_row(v->g, sum, v->m) : 0;
    mc_free(sum);
    return value;
}

/* sum_j (factor_j (x_j - z_j))^2. factor has room for d numbers more. */
static int onnx_squared_distances(const mc_onnx_view *v, double *factor) {
    double *shift = factor + v->d;
    mean_of_centres(v, shift);
    const int x = onnx_binary(v, "Mul", onnx_binary(v, "Sub", v->x, mc_onnx_row(v->g, shift, v->d)),
                              mc_onnx_row(v->g, factor, v->d));
    const int ends = onnx_binary(v, "Add", row_sum(v, onnx_square(v, x)), onnx_centre_norms(v, shift, factor));
    return onnx_unary(v, "Relu",
                      onnx_binary(v, "Add", ends, mc_onnx_product(v->g, x, mc_onnx_centres(v, shift, factor, -2))));
}

int mc_onnx_scaled_distance(const mc_onnx_view *v, const mc_value *p, double (*through)(double)) {
    if (!v->Z)
        return onnx_number(v, 0);
    double *factor = mc_onnx_alloc_constants(v, 2 * v->d);
    if (!factor)
        return 0;
    mc_onnx_spread_parameter(p, v->d, through, factor);
    const int value = onnx_squared_distances(v, factor);
    mc_free(factor);
    return value;
}

/* ---- Sums by columns ---- */

int mc_onnx_zeros(const mc_onnx_view *v) {
    const int rows =
        mc_onnx_gather(v->g, onnx_unary(v, "Shape", v->x), mc_onnx_integers(v->g, (const int64_t[]){0}, 1), 0);
    return onnx_binary(v, "Expand", onnx_number(v, 0), mc_onnx_concat(v->g, rows, mc_onnx_integers(v->g, &v->m, 1), 0));
}

/* The body of the loop: from the sum so far, a column of x, one of z and its parameter to the next sum. */
static mc_text body_of(const mc_onnx_view *v, mc_onnx_term *of) {
    mc_onnx *g = v->g;
    const int in[] = {mc_onnx_argument(g), mc_onnx_argument(g), mc_onnx_argument(g), mc_onnx_argument(g)};
    mc_text outer = mc_onnx_begin_body(g);
    const int x = mc_onnx_binary(g, "Unsqueeze", in[1], mc_onnx_integers(g, (const int64_t[]){1}, 1));
    const int sum = mc_onnx_binary(g, "Add", in[0], of(g, x, in[2], in[3]));
    return mc_onnx_end_body(g, &outer, 4, in, sum);
}

int mc_onnx_over_columns(const mc_onnx_view *v, mc_onnx_term *of, int x, int z, const double *p) {
    mc_text body = body_of(v, of), attributes = mc_text_open(v->g->ctx);
    mc_onnx_put_graph(&attributes, "body", &body);
    mc_onnx_put_integer(&attributes, "num_scan_inputs", 3);
    mc_onnx_put_integers(&attributes, "scan_input_axes", (const int64_t[]){1, 0, 0}, 3);
    const int inputs[] = {mc_onnx_zeros(v), x, z, mc_onnx_list(v->g, p, v->d)};
    return mc_onnx_node(v->g, NULL, "Scan", 4, inputs, 1, &attributes);
}

int mc_onnx_by_columns(const mc_onnx_view *v, mc_onnx_term *of, const mc_value *p, double (*through)(double)) {
    const mc_value one = {.kind = MC_VALUE_NUMBER, .number = 1};
    if (!v->Z)
        return onnx_number(v, 0);
    double *factor = mc_onnx_alloc_constants(v, v->d);
    if (!factor)
        return 0;
    mc_onnx_spread_parameter(p ? p : &one, v->d, through, factor);
    const int value = mc_onnx_over_columns(v, of, v->x, mc_onnx_centres(v, NULL, NULL, 1), factor);
    mc_free(factor);
    return value;
}
