/* bytes.c: the memory of an operator before it is made, for planners: an upper bound from the expression and the shape of the data alone.
   It is that of double tiles: whether floats will do is known only when the points have been measured. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/work.h"
#include "gram/strip.h"

enum {
    HEADER = 2 * MC_ALIGN,
    RIGHTS = 4,         /* right-hand sides foreseen */
    BLOCK_ROWS = 1920,  /* of a product, at most; see apply.c */
    TASK_ROWS = 512,    /* of one that is not small, at least */
    SMALL_ROWS = 1536   /* rows x ranges of a rectangular product with few rows */
};

/* What an expression needs: coordinates of all its parts, parts, lines and temporaries, each at most. */
typedef struct need {
    int64_t coordinates, parts, lines, temporaries;
    bool shared;        /* the plain coordinates of all columns have been counted */
} need;

/* Atoms that read plain coordinates with one weight for all columns share them where they see all columns. */
static bool is_plain(const mc_node *node) {
    static const bool special[MC_ATOM_COUNT] = {[MC_LAPLACIAN] = true, [MC_PERIODIC] = true, [MC_COSINE] = true, [MC_CHI2] = true,
                                                [MC_INTERSECTION] = true, [MC_ARCCOS] = true, [MC_FORM] = true};
    for (int i = 0; i < MC_PARAMETERS_MAX; i++)
        if (node->parameter[i].kind == MC_VALUE_VECTOR)
            return false;
    return !special[node->atom];
}

static void count_atom(const mc_node *node, int64_t columns, bool all, need *n) {
    if (node->atom == MC_WHITE || (all && is_plain(node) && n->shared))
        return;
    n->shared |= all && is_plain(node);
    n->parts++;
    n->coordinates += node->atom == MC_PERIODIC ? 2 * columns : columns;
}

static void count(const mc_node *node, int64_t columns, bool all, need *n) {
    n->lines += 2;
    n->temporaries++;
    if (node->kind == MC_ATOM)
        count_atom(node, columns, all, n);
    for (int i = 0; i < node->children; i++)
        count(node->child[i], node->kind == MC_COLUMNS ? node->columns : columns, all && node->kind != MC_COLUMNS, n);
}

static size_t block(int64_t count, size_t size) {
    return mc_work_need(count, size) + HEADER;
}

/* Points, -|x|^2/2 and, while opening, two vectors of doubles, for every part. */
static size_t side_bytes(const need *n, const mercer_data *data, int64_t width) {
    const int64_t padded = data->n + width, values = data->row_start ? data->row_start[data->n] : 0;
    const size_t dense = mc_work_need(padded * n->coordinates, sizeof(double));
    const size_t sparse = mc_work_need(2 * values * n->parts, sizeof(double) + sizeof(int32_t)) + mc_work_need(data->n * n->parts, 8);
    return (dense > sparse ? dense : sparse) + mc_work_need(3 * padded * n->parts, sizeof(double))
           + mc_work_need(2 * padded * n->lines, sizeof(double)) + (size_t)(8 * n->parts + 2 * n->lines) * HEADER;
}

/* One thread's space for rows and strips. */
static size_t space_bytes(const need *n, const mercer_data *z, const mc_tile_ops *ops, int64_t rows) {
    const int64_t slots = n->coordinates > 1024 ? 8 : 1, strips = 3 * n->parts + n->temporaries;
    const int64_t sparse = z->row_start ? z->row_start[z->n] : 0, unpacked = sparse < z->d * n->parts ? sparse : z->d * n->parts;
    return mc_work_need(rows * (n->coordinates + n->parts + n->lines + 1), sizeof(double))
           + mc_work_need(slots * strips * 4 * ops->rows * ops->columns, sizeof(double))
           + (sparse ? mc_work_need(2 * z->d * n->parts, 2 * sizeof(int32_t)) + mc_work_need(2 * unpacked * ops->columns, 8) : 0)
           + (size_t)(8 * n->parts + 2 * n->lines + 16) * MC_ALIGN;
}

static size_t product_bytes(const mc_tile_ops *ops, int threads, int64_t n, int64_t m, int64_t rows, bool symmetric) {
    const int64_t partial = symmetric ? 0 : 2 * (n > SMALL_ROWS ? n : SMALL_ROWS) * RIGHTS;
    return mc_work_need((m + ops->columns) * RIGHTS + partial + n / ops->columns + 1, sizeof(double))
           + mc_work_need(threads * (3 + ops->lanes) * rows * RIGHTS, sizeof(double)) + 8 * MC_ALIGN;
}

size_t mc_gram_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                     mercer_dtype precision) {
    (void)precision;
    const mc_tile_ops *ops = mc_tile(ctx->isa, MERCER_F64);
    const mercer_data *right = z ? z : x;
    need n = {0};
    count(kernel->root, x->d, true, &n);
    const int64_t wide = x->n / 8 < TASK_ROWS ? TASK_ROWS : x->n / 8, most = wide < BLOCK_ROWS ? wide : BLOCK_ROWS;
    const int64_t rows = most < x->n + ops->columns ? most : x->n + ops->columns;
    const size_t opening = mc_work_need(ctx->threads * (2 * x->d + 4 * n.coordinates) + 4 * (x->n + right->n), sizeof(double));
    const size_t spaces = (size_t)ctx->threads * space_bytes(&n, right, ops, rows);
    return side_bytes(&n, x, ops->columns) + side_bytes(&n, right, ops->columns) * (z ? 1 : 0) + mc_work_need(x->n, sizeof(double))
           + opening + spaces + product_bytes(ops, ctx->threads, x->n, right->n, rows, !z)
           + (size_t)n.parts * (sizeof(mc_part) + 6 * block(x->d, 8)) + (size_t)n.lines * (sizeof(mc_line) + block(x->d, 8))
           + sizeof(mc_gram);
}
