/* gram_bytes.c: the memory of an operator before it is made, for planners: an upper bound from the expression and the
   shape of the data alone. Whether floats will do is known only when the points have been measured: where they are
   asked for, the dearer of both counts. */
#include "base/ctx.h"
#include "backend/dispatch.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "gram/compile/matern_table.h"
#include "gram/operator/factored.h"
#include "gram/operator/precomputed.h"
#include "gram/operator/share_product.h"
#include "gram/tile/multiply.h"
#include "gram/pack/aligned_texts.h"
#include "gram/pack/string_features.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/evaluate/text_rows.h"
#include "kernel/language/atoms.h"

enum { HEADER = 2 * MC_ALIGN };

/* What an expression needs: coordinates of all its parts, parts, lines and temporaries, each at most. */
typedef struct need {
    int64_t coordinates, parts, lines, temporaries;
    int64_t counted;   /* parts of texts: values of compressed rows */
    int64_t different; /* coordinates of these */
    int64_t widest;    /* values in one panel */
    size_t opening;    /* bytes until they are laid out */
    size_t sets;       /* bytes of sets of rows */
    size_t aligned;    /* bytes of texts that are compared place by place */
    const mercer_data *x, *z;
    int64_t width;               /* points of a panel, of floats */
    int64_t precomputed_columns; /* columns of parts whose values come from elsewhere */
    bool shared;                 /* the plain coordinates of all columns have been counted */
} need;

/* Atoms that read plain coordinates with one weight for all columns share them where they see all columns. */
static bool is_plain(const mc_node *node) {
    static const bool special[MC_ATOM_COUNT] = {
        [MC_LAPLACIAN] = true,    [MC_PERIODIC] = true, [MC_COSINE] = true,   [MC_CHI2] = true,
        [MC_INTERSECTION] = true, [MC_ARCCOS] = true,   [MC_SINC] = true,     [MC_SPLINE] = true,
        [MC_RBF_FORM] = true,     [MC_FORM] = true,     [MC_TANIMOTO] = true, [MC_ADDITIVE_CHI2] = true};
    for (int i = 0; i < MC_PARAMETERS_MAX; i++)
        if (node->parameter[i].kind == MC_VALUE_VECTOR)
            return false;
    return !special[node->atom];
}

/* A panel is as wide as a float's tile. */
static void count_strings(const mc_node *node, need *n) {
    const mc_string_need strings = mc_string_features_need(node, n->x, n->z);
    const int64_t of_x = mc_text_rows_widest(node, n->x, n->width),
                  of_z = n->z != n->x ? mc_text_rows_widest(node, n->z, n->width) : 0;
    n->parts++;
    n->counted += strings.values;
    n->different += strings.coordinates;
    n->widest += of_x > of_z ? of_x : of_z;
    n->opening += strings.opening;
    n->aligned += mc_aligned_texts_bytes(node, n->x) + (n->z != n->x ? mc_aligned_texts_bytes(node, n->z) : 0);
}

static void count_atom(const mc_node *node, int64_t columns, bool all, need *n) {
    if (mc_node_reads_sets(node)) {
        const size_t of_x = mc_row_sets_bytes(node, n->x), of_z = n->z != n->x ? mc_row_sets_bytes(node, n->z) : 0;
        n->parts++;
        n->sets += of_x + of_z;
        return;
    }
    if (mc_atoms[node->atom].text) {
        count_strings(node, n);
        return;
    }
    if (mc_atom_is_pairwise(node)) {
        n->parts++;
        n->precomputed_columns += columns;
        return;
    }
    if (mc_atoms[node->atom].opaque) {
        n->parts++;
        n->precomputed_columns += node->atom == MC_USER ? columns : 1;
        return;
    }
    if (node->atom == MC_WHITE || (all && is_plain(node) && n->shared))
        return;
    n->shared |= all && is_plain(node);
    n->parts++;
    if (node->atom == MC_MATERN && !mc_matern_is_elementary(node->parameter[0].number))
        n->sets += mc_matern_table_bytes(node->parameter[0].number) + HEADER;
    n->coordinates += node->atom == MC_PERIODIC ? 2 * columns : columns;
    if (node->atom
        == MC_RBF_FORM) { /* a factor of the matrix while it is found, or the rows for the reference evaluator */
        n->precomputed_columns += columns;
        n->sets += mc_work_need(2 * columns * columns, sizeof(double)) + 4 * HEADER;
    }
}

static void count_expression(const mc_node *node, int64_t columns, bool all, need *n) {
    n->lines += 2;
    n->temporaries++;
    if (node->kind == MC_ATOM)
        count_atom(node, columns, all, n);
    for (int i = 0; i < node->children && node->kind != MC_ATOM; i++)
        count_expression(node->child[i], node->kind == MC_COLUMNS ? node->columns : columns,
                         all && node->kind != MC_COLUMNS, n);
}

static size_t block_bytes(int64_t count, size_t size) {
    return mc_work_need(count, size) + HEADER;
}

/* One operator in one precision. */
typedef struct wanted {
    need need;
    const mc_tile_ops *ops;
    int64_t real, right_hand_sides;
    const mercer_data *x, *z;
    bool symmetric;
} wanted;

static int64_t stored_of(const mercer_data *data) {
    return data->row_start ? data->row_start[data->n] : 0;
}

/* Points, -|x|^2/2 and, while opening, two vectors of doubles, for every part. */
static size_t side_bytes(const wanted *w, const mercer_data *data) {
    const need *n = &w->need;
    const int64_t padded = data->n + w->ops->columns, values = stored_of(data);
    const size_t real = (size_t)w->real, dense = mc_work_need(padded * n->coordinates, real);
    const size_t sparse =
        mc_work_need(2 * values * n->parts, real + sizeof(int32_t)) + mc_work_need(data->n * n->parts, 8);
    return mc_max_size(dense, sparse) + mc_work_need(padded * n->precomputed_columns, sizeof(double))
           + mc_work_need(3 * padded * n->parts, sizeof(double)) + mc_work_need(2 * padded * n->lines, sizeof(double))
           + (size_t)(8 * n->parts + 2 * n->lines) * HEADER;
}

/* One thread's space for rows and strips; panels of either side are unpacked, those of x for its norms. */
static size_t space_bytes(const wanted *w, int64_t rows) {
    const need *n = &w->need;
    const mercer_data *z = w->z;
    const int64_t slots = n->coordinates > MC_COORDINATES ? 8 : 1, strips = 3 * n->parts + n->temporaries;
    const int64_t most = stored_of(w->x) > stored_of(z) ? stored_of(w->x) : stored_of(z),
                  sparse = z->row_start ? most : 0;
    const int64_t unpacked = sparse < z->d * n->parts ? sparse : z->d * n->parts;
    return mc_work_need(w->ops->rows * (n->precomputed_columns + 4 * n->parts * w->ops->columns), sizeof(double))
           + mc_work_need(rows * (n->coordinates + n->parts + n->lines), (size_t)w->real)
           + mc_work_need(rows, sizeof(int64_t))
           + mc_work_need(slots * strips * 4 * w->ops->rows * w->ops->columns, (size_t)w->real)
           + (sparse ? mc_work_need(2 * z->d * n->parts, 2 * sizeof(int32_t))
                           + mc_work_need(2 * unpacked * w->ops->columns, 8)
                     : 0)
           + (size_t)(8 * n->parts + 2 * n->lines + 16) * MC_ALIGN;
}

static size_t product_bytes(const wanted *w, int threads, const mc_product_split *shape) {
    const int64_t most = MC_RHS_VECTORS * w->ops->lanes, t = w->right_hand_sides < most ? w->right_hand_sides : most;
    const int64_t partial = shape->ranges > 1 ? shape->ranges * w->x->n * t : 0;
    const size_t factored = mc_factored_bytes(w->need.counted, w->need.different, w->right_hand_sides)
                            + mc_factored_bytes(stored_of(w->z), w->z->d, w->right_hand_sides);
    return (w->need.counted || w->z->row_start ? factored : 0)
           + mc_work_need((w->z->n + w->ops->columns) * mc_rhs_stride(w->ops, t), (size_t)w->real)
           + mc_work_need(t, sizeof(double)) + mc_work_need(partial, sizeof(double))
           + mc_work_need(shape->blocks, sizeof(double))
           + mc_work_need(threads, (size_t)mc_product_sums_bytes(w->ops, w->real, shape->rows_each, t)) + 8 * MC_ALIGN;
}

/* A block of compressed rows has as many groups as there may be; their coordinates are not copied. */
static size_t sparse_block_bytes(const wanted *w) {
    return w->x->row_start
               ? mc_work_need(MC_GROUPS * w->ops->rows * (w->need.parts + w->need.lines + 1), sizeof(double))
               : 0;
}

/* Spaces and sums of a product whose dense parts have d coordinates; without right-hand sides, spaces of a block. */
static size_t working_bytes(const mercer_ctx *ctx, const wanted *w, int64_t d) {
    const int threads = ctx->threads;
    if (!w->right_hand_sides) {
        const int64_t groups = mc_block_groups(w->ops, MC_GROUPS, w->x->n, mc_block_column_tasks(w->ops, 0, w->z->n));
        return (size_t)threads * (space_bytes(w, groups * w->ops->rows) + sparse_block_bytes(w));
    }
    const mc_product_size size = {.ops = w->ops,
                                  .real = w->real,
                                  .n = w->x->n,
                                  .m = w->z->n,
                                  .d = d,
                                  .groups = MC_GROUPS,
                                  .symmetric = w->symmetric};
    const mc_product_split shape = mc_product_shape(&size);
    const int64_t most = MC_RHS_VECTORS * w->ops->lanes, t = w->right_hand_sides < most ? w->right_hand_sides : most;
    return (size_t)threads * space_bytes(w, shape.rows_each) + product_bytes(w, threads, &shape)
           + mc_product_share_bytes(ctx, &size, t);
}

static size_t bytes_in(mercer_ctx *ctx, const wanted *w) {
    const need *n = &w->need;
    const int64_t rows = w->x->n, d = w->x->d;
    /* Texts: their numbering, values and coordinates; a thread has places of coordinates and an unpacked panel. */
    const size_t texts = n->opening + n->aligned + n->sets + mc_work_need(n->counted, (size_t)w->real + sizeof(int32_t))
                         + mc_work_need(ctx->threads * n->different, 2 * sizeof(int32_t))
                         + mc_work_need(ctx->threads * n->widest * w->ops->columns, (size_t)w->real)
                         + (n->different ? mc_work_need((rows + w->z->n + 2) * n->parts, sizeof(int64_t))
                                               + (size_t)ctx->threads * (size_t)n->parts * MC_FULL_PANEL
                                         : 0);
    const size_t opening =
        texts + mc_work_need(ctx->threads * (2 * d + 4 * n->coordinates) + 4 * (rows + w->z->n), sizeof(double))
        + (n->precomputed_columns
               ? mc_work_need(MC_SYMMETRY_ROWS * (MC_SYMMETRY_ROWS + n->precomputed_columns), sizeof(double))
               : 0);
    const size_t working = working_bytes(ctx, w, n->coordinates);
    return side_bytes(w, w->x) + (w->symmetric ? 0 : side_bytes(w, w->z)) + mc_work_need(rows, sizeof(double)) + opening
           + (w->x->row_start ? mc_max_size(working, working_bytes(ctx, w, 0)) : working)
           + (size_t)n->parts * (sizeof(mc_tile_part) + 7 * block_bytes(d, 8))
           + (size_t)n->lines * (sizeof(mc_tile_line) + block_bytes(d, 8)) + sizeof(mc_gram);
}

size_t mc_gram_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                     mercer_dtype precision, int64_t right_hand_sides) {
    wanted w = {.ops = &mc_bodies_of(ctx->isa)->tile[MERCER_F64],
                .real = sizeof(double),
                .right_hand_sides = right_hand_sides,
                .x = x,
                .z = z ? z : x,
                .symmetric = !z};
    w.need.x = w.x;
    w.need.z = w.z;
    w.need.width = mc_bodies_of(ctx->isa)->tile[MERCER_F32].columns;
    count_expression(kernel->root, x->d, true, &w.need);
    const size_t doubles = bytes_in(ctx, &w);
    w.ops = &mc_bodies_of(ctx->isa)->tile[MERCER_F32];
    w.real = sizeof(float);
    return precision == MERCER_F64 ? doubles : mc_max_size(doubles, bytes_in(ctx, &w));
}
