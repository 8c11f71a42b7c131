/* feature_map.c: explicit feature maps, built the way kernels are built.

     number c >= 0    sqrt(c)                          k1 + k2      (phi1, phi2)
     linear           x                                k1 * k2      all products phi1_i phi2_j
     form A           <s_k, x>, A = sum_k s_k s_k'     poly         (sqrt(gamma) x, sqrt(c))^degree
     cosine           x / |x|                          normalize    phi / |phi|
     k[columns]       phi of those columns             weigh        f(x) phi
     k^p              all monomials of degree p in phi, times sqrt(p! / (m1! m2! ...))

   Everything else has no finite map. A map of dimension D costs D numbers a row and no more than that in scratch. */
#include "kernel/evaluate/feature_map.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "kernel/evaluate/view.h"
#include "kernel/language/node.h"
#include <math.h>
#include <string.h>

/* A matrix of form, factored once: rank rows of d numbers. */
typedef struct factor {
    const mc_node *node;
    double *rows;
    int64_t rank, d;
    struct factor *next;
} factor;

struct mc_features {
    const mc_node *root;
    int64_t d, dimension, scratch;
    factor *factors;
};

/* ---- Rows ---- */

/* Doubles that the row needs beside its output. */
static int64_t scratch_of(const mc_node *node, int64_t d) {
    if (node->kind == MC_COLUMNS)
        return scratch_of(node->child[0], node->columns);
    if (node->kind == MC_ATOM)
        return node->atom == MC_POLY ? d + 1 : 0;
    int64_t own = 0, deepest = 0;
    for (int i = 0; i < node->children; i++) {
        const int64_t below = scratch_of(node->child[i], d);
        deepest = below > deepest ? below : deepest;
        own += node->kind == MC_POWER ? mc_features_count(node->child[i], d, MC_FEATURES_MOST) : 0;
    }
    if (node->kind == MC_PRODUCT) /* the product so far, and the next child */
        own = 2 * mc_features_count(node, d, MC_FEATURES_MOST);
    return own + deepest;
}

/* All monomials of degree p in u, in the order of nondecreasing index lists, each times the root of its multinomial
 * coefficient. */
static double *write_monomials(const double *u, int64_t D, int64_t from, int64_t p, double product, double *out) {
    if (p == 0) {
        *out = product;
        return out + 1;
    }
    if (p == 1) { /* no deeper: a linear map of many columns would take a call for each */
        for (int64_t j = from; j < D; j++)
            out[D - 1 - j] = product * u[j];
        return out + (D - from);
    }
    if (from == D - 1) { /* the last variable takes all that is left; 1/p! under the root */
        for (int64_t k = 1; k <= p; k++)
            product *= u[from] / sqrt((double)k);
        *out = product;
        return out + 1;
    }
    for (int64_t k = 0; k <= p; k++) {
        out = write_monomials(u, D, from + 1, p - k, product, out);
        product *= u[from] / sqrt((double)(k + 1));
    }
    return out;
}

static void write_power_features(const double *u, int64_t D, int64_t p, double *out) {
    if (D > 0)
        write_monomials(u, D, 0, p, sqrt(tgamma((double)p + 1)), out);
}

static double *write_node(const mc_features *map, const mc_node *node, const mc_view *view, const double *x,
                          double *scratch, double *out);

static double *write_poly(const mc_node *node, const mc_view *view, const double *x, double *scratch, double *out) {
    const double root = sqrt(node->parameter[2].number), c = node->parameter[1].number;
    const int64_t D = view->d + (c > 0), p = (int64_t)node->parameter[0].number;
    for (int64_t j = 0; j < view->d; j++)
        scratch[j] = root * mc_view_at(view, x, j);
    if (c > 0)
        scratch[view->d] = sqrt(c);
    write_power_features(scratch, D, p, out);
    return out + mc_count_monomials(D, p, MC_FEATURES_MOST);
}

static double *write_form(const mc_features *map, const mc_node *node, const mc_view *view, const double *x,
                          double *out) {
    const factor *f = map->factors;
    while (f->node != node)
        f = f->next;
    for (int64_t k = 0; k < f->rank; k++) {
        out[k] = 0;
        for (int64_t j = 0; j < f->d; j++)
            out[k] += f->rows[k * f->d + j] * mc_view_at(view, x, j);
    }
    return out + f->rank;
}

static double length_of(const double *v, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

static double *scale_features(double *begin, double *end, double by) {
    for (double *v = begin; v < end; v++)
        *v *= by;
    return end;
}

/* By scaled squares: no row is too long or too short for it. */
static double *normalise_features(double *begin, double *end) {
    double largest = 0;
    for (const double *v = begin; v < end; v++)
        largest = fmax(largest, fabs(*v));
    for (double *v = begin; v < end && largest > 0; v++)
        *v /= largest;
    const double length = length_of(begin, end - begin);
    return scale_features(begin, end, length > 0 ? 1 / length : 0);
}

static double *write_atom(const mc_features *map, const mc_node *node, const mc_view *view, const double *x,
                          double *scratch, double *out) {
    if (node->atom == MC_POLY)
        return write_poly(node, view, x, scratch, out);
    if (node->atom == MC_FORM)
        return write_form(map, node, view, x, out);
    for (int64_t j = 0; j < view->d; j++)
        out[j] = mc_view_at(view, x, j);
    return node->atom == MC_COSINE ? normalise_features(out, out + view->d) : out + view->d;
}

/* out <- all products: the first child's features, then times each further child's. */
static double *write_product(const mc_features *map, const mc_node *node, const mc_view *view, const double *x,
                             double *scratch, double *out) {
    const int64_t capacity = mc_features_count(node, view->d, MC_FEATURES_MOST);
    double *so_far = scratch, *next = scratch + capacity, *deeper = scratch + 2 * capacity;
    int64_t count = 1;
    out[0] = 1;
    for (int i = 0; i < node->children; i++) {
        const int64_t more = write_node(map, node->child[i], view, x, deeper, next) - next;
        memcpy(so_far, out, (size_t)count * sizeof *out);
        for (int64_t a = 0; a < count; a++)
            for (int64_t b = 0; b < more; b++)
                out[a * more + b] = so_far[a] * next[b];
        count *= more;
    }
    return out + count;
}

static double *write_power(const mc_features *map, const mc_node *node, const mc_view *view, const double *x,
                           double *scratch, double *out) {
    const int64_t D = mc_features_count(node->child[0], view->d, MC_FEATURES_MOST), p = (int64_t)node->number;
    write_node(map, node->child[0], view, x, scratch + D, scratch);
    write_power_features(scratch, D, p, out);
    return out + mc_count_monomials(D, p, MC_FEATURES_MOST);
}

static double *write_node(const mc_features *map, const mc_node *node, const mc_view *view, const double *x,
                          double *scratch, double *out) {
    switch (node->kind) {
    case MC_NUMBER: *out = sqrt(node->number); return out + 1;
    case MC_ATOM: return write_atom(map, node, view, x, scratch, out);
    case MC_SUM:
        for (int i = 0; i < node->children; i++)
            out = write_node(map, node->child[i], view, x, scratch, out);
        return out;
    case MC_PRODUCT: return write_product(map, node, view, x, scratch, out);
    case MC_POWER: return write_power(map, node, view, x, scratch, out);
    case MC_NORMALIZE: return normalise_features(out, write_node(map, node->child[0], view, x, scratch, out));
    case MC_WEIGH:
        return scale_features(out, write_node(map, node->child[0], view, x, scratch, out),
                              mc_function_in_view(node->function, view, x));
    case MC_COLUMNS: {
        const mc_view inner = mc_view_columns(view, node);
        return write_node(map, node->child[0], &inner, x, scratch, out);
    }
    case MC_EXP:
    case MC_SERIES: break; /* has no finite map: refused at the door */
    }
    return out;
}

/* A = sum_k s_k s_k' by the Cholesky factorisation that takes the largest diagonal entry left. */
static void factor_form(factor *f, double *S) {
    const int64_t d = f->d;
    for (int64_t k = 0; k < f->rank; k++) {
        int64_t top = 0;
        for (int64_t i = 1; i < d; i++)
            top = S[i * d + i] > S[top * d + top] ? i : top;
        const double root = sqrt(S[top * d + top]);
        double *s = f->rows + k * d;
        for (int64_t i = 0; i < d; i++)
            s[i] = S[i * d + top] / root;
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < d; j++)
                S[i * d + j] = i == top || j == top ? 0 : S[i * d + j] - s[i] * s[j];
    }
}

static mercer_status add_factor(mercer_ctx *ctx, mc_features *map, const mc_node *node) {
    factor *f = NULL;
    double *S = NULL;
    MC_TRY(MC_ALLOC(ctx, f, 1));
    f->next = map->factors;
    map->factors = f;
    f->node = node;
    f->d = node->parameter[0].rows;
    f->rank = (int64_t)node->parameter[0].number;
    MC_TRY(MC_ALLOC(ctx, f->rows, f->rank * f->d));
    MC_TRY(MC_ALLOC(ctx, S, f->d * f->d));
    memcpy(S, node->parameter[0].numbers, (size_t)(f->d * f->d) * sizeof *S);
    factor_form(f, S);
    mc_free(S);
    return MERCER_OK;
}

static mercer_status add_factors(mercer_ctx *ctx, mc_features *map, const mc_node *node) {
    if (node->kind == MC_ATOM && node->atom == MC_FORM)
        return add_factor(ctx, map, node);
    for (int i = 0; i < node->children; i++)
        MC_TRY(add_factors(ctx, map, node->child[i]));
    return MERCER_OK;
}

mercer_status mc_features_open(mercer_ctx *ctx, const mc_node *root, int64_t d, mc_features **out) {
    *out = NULL;
    const int64_t dimension = mc_features_count(root, d, MC_FEATURES_MOST);
    if (dimension < 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "this kernel has no feature map of at most %d dimensions; linear, poly, form, cosine and their "
                       "sums, products, powers, weighings and normalisations have one",
                       MC_FEATURES_MOST);
    mc_features *map = NULL;
    MC_TRY(MC_ALLOC(ctx, map, 1));
    *map = (mc_features){.root = root, .d = d, .dimension = dimension, .scratch = scratch_of(root, d)};
    const mercer_status status = add_factors(ctx, map, root);
    if (status) {
        mc_features_close(map);
        return status;
    }
    *out = map;
    return MERCER_OK;
}

void mc_features_close(mc_features *map) {
    for (factor *f = map ? map->factors : NULL, *next; f; f = next) {
        next = f->next;
        mc_free(f->rows);
        mc_free(f);
    }
    mc_free(map);
}

int64_t mc_features_dimension(const mc_features *map) {
    return map->dimension;
}

double mc_features_rounding(const mc_features *map) {
    return mc_rounding_of_features(map->root, map->d);
}

int64_t mc_features_scratch(const mc_features *map) {
    return map->scratch;
}

void mc_features_row(const mc_features *map, const double *x, double *scratch, double *phi) {
    const mc_view all = {.d = map->d};
    write_node(map, map->root, &all, x, scratch, phi);
}

/* ---- Over the rows of data ---- */

enum { ROWS = 64 };

typedef struct feature_mapping {
    const mc_features *map;
    const mercer_data *data;
    double *scratch, *out;
    int64_t scratch_each; /* numbers of scratch a thread has */
} feature_mapping;

static void map_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const feature_mapping *m = arg;
    double *row = m->scratch + thread * m->scratch_each;
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(m->data, i, row);
        mc_features_row(m->map, row, row + m->data->d, m->out + i * mc_features_dimension(m->map));
    }
}

mercer_status mc_features_of_rows(mercer_ctx *ctx, const mc_features *map, const mercer_data *data, double *out) {
    feature_mapping m = {.map = map, .data = data, .out = out, .scratch_each = data->d + mc_features_scratch(map)};
    MC_TRY(MC_ALLOC(ctx, m.scratch, m.scratch_each * ctx->threads));
    const mercer_status status = mc_for(ctx, data->n, ROWS, map_rows, &m);
    mc_free(m.scratch);
    return status;
}

static mercer_status write_features(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                    double *out) {
    mercer_kernel *bound = NULL;
    mc_features *map = NULL;
    MC_TRY(mc_kernel_bind(ctx, kernel, data, &bound));
    mercer_status status = mc_features_open(ctx, bound->root, data->d, &map);
    mc_begin_phase(ctx, "features");
    MC_THEN(status, mc_features_of_rows(ctx, map, data, out));
    mc_features_close(map);
    mercer_kernel_free(bound);
    return status;
}

mercer_status mercer_features(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data, double *out) {
    MC_NEED(ctx, kernel, data, out);
    mc_begin_call(ctx);
    if (!data->used)
        return write_features(ctx, kernel, data, out);
    mercer_data *all = NULL; /* features are numbered by all columns */
    MC_TRY(mc_data_spread(ctx, data, &all));
    const mercer_status status = write_features(ctx, kernel, all, out);
    mercer_data_free(all);
    return status;
}
