/* triangle.c: factor, solve and invert by halves. See triangle.h for the matrices.

   factor    L11 = chol(A11);  L21 = A21 L11^-T;  A22 <- A22 - L21 L21';  L22 = chol(A22)
   solve     x1 = L11^-1 x1;   x2 <- x2 - L21 x1;  x2 = L22^-1 x2          (transposed: from the bottom up)
   invert    L21 <- -L22^-1 L21 L11^-1;  then both halves

   The square part is cut into blocks whose size depends on nothing but the constants below, each block is one call of
   BLAS on one thread, and no two blocks write to the same place: so the bits do not depend on the number of threads.
   Recursion in place of a row of panels makes the products long and leaves LAPACK only triangles that fit the cache. */
#include "solve/triangle.h"
#include "backend/blas.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"

enum {
    LEAF = 256,  /* triangles up to this order go to LAPACK */
    BLOCK = 128, /* and up to this to BLAS */
    STRIP = 256, /* rows of a panel that one call solves for */
    TILE = 384   /* side of a block of the symmetric update */
};

mc_halves mc_triangle_split(mc_triangle t) {
    mc_halves h = {.ld = t.ld};
    if (t.layout == MC_PACKED) {
        const int64_t odd = t.n % 2, n2 = t.n / 2, n1 = t.n - n2, ld = t.n + 1 - odd;
        h.ld = ld;
        h.first = (mc_triangle){.a = t.a + 1 - odd, .n = n1, .ld = ld, .layout = MC_LOWER};
        h.second = (mc_triangle){.a = t.a + odd * ld, .n = n2, .ld = ld, .layout = MC_UPPER};
        h.below = h.first.a + n1;
        return h;
    }
    const int64_t n1 = (t.n / 2 + LEAF - 1) / LEAF * LEAF;
    h.transposed = t.layout == MC_UPPER;
    h.first = (mc_triangle){.a = t.a, .n = n1, .ld = t.ld, .layout = t.layout};
    h.second = (mc_triangle){.a = t.a + n1 + n1 * t.ld, .n = t.n - n1, .ld = t.ld, .layout = t.layout};
    h.below = t.a + (h.transposed ? n1 * t.ld : n1);
    return h;
}

static bool is_leaf(mc_triangle t) {
    return t.layout != MC_PACKED && t.n <= LEAF;
}

/* B <- scale * op(T)^-1 B or scale * B op(T)^-1; B is m x n as stored, column-major, and cut along the side T does not touch. */
typedef struct panel {
    mc_triangle t;
    bool left, upper, trans; /* T from the left; stored in the upper half; op(T) = T' */
    double scale, *b;
    int64_t m, n, ld;
} panel;

/* Block j of the unknowns: what the blocks solved before it ([from, to)) take off it, then the triangle on the diagonal. op(T)(r, c)
   is T at (r, c), or at (c, r) when transposed. */
static void solve_block(const panel *p, double *b, int64_t strip, int64_t j, int64_t width, int64_t from, int64_t to) {
    const double minus = -1, one = 1, *T = p->t.a;
    const int64_t ld = p->t.ld, row = p->left ? j : from, column = p->left ? from : j;
    const double *block = T + (p->trans ? column + row * ld : row + column * ld);
    double *own = b + (p->left ? j : j * p->ld), *solved = b + (p->left ? from : from * p->ld);
    const int m = (int)(p->left ? width : strip), n = (int)(p->left ? strip : width), k = (int)(to - from);
    const int lda = (int)ld, ldb = (int)p->ld;
    const char *op = p->trans ? "T" : "N";
    if (k > 0 && p->left)
        dgemm_(op, "N", &m, &n, &k, &minus, block, &lda, solved, &ldb, &p->scale, own, &ldb, 1, 1);
    else if (k > 0)
        dgemm_("N", op, &m, &n, &k, &minus, solved, &ldb, block, &lda, &p->scale, own, &ldb, 1, 1);
    dtrsm_(p->left ? "L" : "R", p->upper ? "U" : "L", op, "N", &m, &n, k > 0 ? &one : &p->scale, T + j + j * ld, &lda,
           own, &ldb, 1, 1, 1, 1);
}

/* Block by block, so that nearly all of it is products, which BLAS does faster than triangles. The first block is the one that depends
   on no other: the top for L from the left or U from the right, else the bottom. */
static void solve_strip(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const panel *p = arg;
    const int64_t order = p->t.n;
    double *b = p->b + (p->left ? begin * p->ld : begin);
    const bool lower = p->upper == p->trans, forward = lower == p->left;
    if (forward)
        for (int64_t j = 0; j < order; j += BLOCK)
            solve_block(p, b, end - begin, j, order - j < BLOCK ? order - j : BLOCK, 0, j);
    else
        for (int64_t j = (order - 1) / BLOCK * BLOCK; j >= 0; j -= BLOCK) {
            const int64_t stop = order - j < BLOCK ? order : j + BLOCK;
            solve_block(p, b, end - begin, j, stop - j, stop, order);
        }
}

/* op(L)^-1 times B from the left or B times op(L)^-1 from the right, where B (rows x columns) is stored as itself or
   transposed: (L^-1 B)' = B' L^-T swaps the side and the op. */
static mercer_status solve_panel(mercer_ctx *ctx, mc_triangle t, bool left, bool trans, double scale, double *b,
                                 int64_t rows, int64_t columns, int64_t ld, bool transposed) {
    left = left != transposed;
    trans = trans != transposed;
    panel p = {.t = t, .left = left, .upper = t.layout == MC_UPPER, .scale = scale, .b = b, .ld = ld};
    p.trans = trans != p.upper; /* what is stored above the diagonal is L' */
    p.m = transposed ? columns : rows;
    p.n = transposed ? rows : columns;
    return t.n ? mc_for(ctx, left ? p.n : p.m, STRIP, solve_strip, &p) : MERCER_OK;
}

/* The update of one block of A22 <- A22 - L21 L21'. */
typedef struct update {
    mc_halves h;
    int64_t tiles;
} update;

static void update_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin;
    (void)end;
    (void)thread;
    const update *u = arg;
    const mc_triangle c = u->h.second;
    int64_t column = 0, row = chunk; /* the tiles of the lower half, column by column */
    for (int64_t height = u->tiles; row >= height; height--, column++)
        row -= height;
    row += column;
    const bool flip = c.layout == MC_UPPER; /* block (row, column) of the transposed triangle lies at (column, row) */
    const int64_t i = TILE * (flip ? column : row), j = TILE * (flip ? row : column),
                  step = u->h.transposed ? u->h.ld : 1;
    const int m = (int)(c.n - i < TILE ? c.n - i : TILE), n = (int)(c.n - j < TILE ? c.n - j : TILE);
    const int k = (int)u->h.first.n, ld = (int)u->h.ld, ldc = (int)c.ld;
    const double minus = -1, one = 1, *P = u->h.below;
    const char *first = u->h.transposed ? "T" : "N", *second = u->h.transposed ? "N" : "T";
    if (i == j)
        dsyrk_(flip ? "U" : "L", first, &m, &k, &minus, P + i * step, &ld, &one, c.a + i + i * c.ld, &ldc, 1, 1);
    else
        dgemm_(first, second, &m, &n, &k, &minus, P + i * step, &ld, P + j * step, &ld, &one, c.a + i + j * c.ld, &ldc,
               1, 1);
}

static mercer_status update_second(mercer_ctx *ctx, mc_halves h) {
    update u = {.h = h, .tiles = mc_chunks(h.second.n, TILE)};
    return mc_for(ctx, u.tiles * (u.tiles + 1) / 2, 1, update_tile, &u);
}

/* Where the recursion stands in the work of the whole, so that progress rises with the operations done. */
typedef struct meter {
    double done, total;
} meter;

static void advance(mercer_ctx *ctx, meter *work, double operations) {
    const double low = work->done / work->total;
    work->done += operations;
    mc_span(ctx, low, work->done / work->total);
}

static mercer_status factor_leaf(mercer_ctx *ctx, mc_triangle t, int64_t *bad) {
    const int n = (int)t.n, ld = (int)t.ld;
    int info = 0;
    dpotrf_(t.layout == MC_UPPER ? "U" : "L", &n, t.a, &ld, &info, 1);
    *bad = info;
    return ctx->stop;
}

static mercer_status factor(mercer_ctx *ctx, mc_triangle t, meter *work, int64_t *bad) {
    if (is_leaf(t))
        return factor_leaf(ctx, t, bad);
    const mc_halves h = mc_triangle_split(t);
    const double n1 = (double)h.first.n, n2 = (double)h.second.n;
    MC_TRY(factor(ctx, h.first, work, bad));
    if (*bad)
        return MERCER_OK;
    advance(ctx, work, n1 * n1 * n2);
    MC_TRY(solve_panel(ctx, h.first, false, true, 1, h.below, h.second.n, h.first.n, h.ld, h.transposed));
    advance(ctx, work, n1 * n2 * n2);
    MC_TRY(update_second(ctx, h));
    MC_TRY(factor(ctx, h.second, work, bad));
    *bad += *bad ? h.first.n : 0;
    return MERCER_OK;
}

mercer_status mc_triangle_factor(mercer_ctx *ctx, mc_triangle t, int64_t *bad) {
    const double n = (double)t.n;
    meter work = {.total = n * n * n / 3 + 1};
    *bad = 0;
    const mc_region region = mc_blas_begin();
    const mercer_status status = factor(ctx, t, &work, bad);
    mc_blas_end(region);
    return status;
}

/* X2 <- X2 - L21 X1, or X1 <- X1 - L21' X2, on rows of a row-major X: blocks of rows of the result. */
typedef struct sweep {
    mc_halves h;
    bool up;
    int64_t columns;
    const double *from;
    double *to;
} sweep;

static void sweep_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const sweep *s = arg;
    const bool down = !s->up,
               by_column = down == s->h.transposed; /* the rows asked for are columns of what is stored */
    const int m = (int)s->columns, n = (int)(end - begin), k = (int)(down ? s->h.first.n : s->h.second.n),
              ld = (int)s->h.ld;
    const double minus = -1, one = 1, *block = s->h.below + (by_column ? begin * s->h.ld : begin);
    dgemm_("N", by_column ? "N" : "T", &m, &n, &k, &minus, s->from, &m, block, &ld, &one, s->to + begin * m, &m, 1, 1);
}

static mercer_status solve_leaf(mercer_ctx *ctx, mc_triangle t, bool transposed, int64_t columns, double *X) {
    return solve_panel(ctx, t, true, transposed, 1, X, t.n, columns, columns, true);
}

static mercer_status solve(mercer_ctx *ctx, mc_triangle t, bool transposed, int64_t columns, double *X) {
    if (is_leaf(t))
        return solve_leaf(ctx, t, transposed, columns, X);
    const mc_halves h = mc_triangle_split(t);
    double *X1 = X, *X2 = X + h.first.n * columns;
    sweep s = {.h = h, .up = transposed, .columns = columns, .from = transposed ? X2 : X1, .to = transposed ? X1 : X2};
    MC_TRY(solve(ctx, transposed ? h.second : h.first, transposed, columns, s.up ? X2 : X1));
    MC_TRY(mc_for(ctx, transposed ? h.first.n : h.second.n, STRIP, sweep_rows, &s));
    return solve(ctx, transposed ? h.first : h.second, transposed, columns, s.up ? X1 : X2);
}

mercer_status mc_triangle_solve(mercer_ctx *ctx, mc_triangle t, bool transposed, int64_t columns, double *X) {
    if (columns == 0)
        return MERCER_OK;
    const mc_region region = mc_blas_begin();
    const mercer_status status = solve(ctx, t, transposed, columns, X);
    mc_blas_end(region);
    return status;
}

static mercer_status invert(mercer_ctx *ctx, mc_triangle t, meter *work) {
    if (is_leaf(t)) {
        const int n = (int)t.n, ld = (int)t.ld;
        int info = 0; /* a zero on the diagonal, which a factor does not have */
        dtrtri_(t.layout == MC_UPPER ? "U" : "L", "N", &n, t.a, &ld, &info, 1, 1);
        return ctx->stop;
    }
    const mc_halves h = mc_triangle_split(t);
    const double n1 = (double)h.first.n, n2 = (double)h.second.n;
    advance(ctx, work, n1 * n2 * n2);
    MC_TRY(solve_panel(ctx, h.second, true, false, -1, h.below, h.second.n, h.first.n, h.ld, h.transposed));
    advance(ctx, work, n1 * n1 * n2);
    MC_TRY(solve_panel(ctx, h.first, false, false, 1, h.below, h.second.n, h.first.n, h.ld, h.transposed));
    MC_TRY(invert(ctx, h.first, work));
    return invert(ctx, h.second, work);
}

mercer_status mc_triangle_invert(mercer_ctx *ctx, mc_triangle t) {
    const double n = (double)t.n;
    meter work = {.total = n * n * n / 3 + 1};
    const mc_region region = mc_blas_begin();
    const mercer_status status = invert(ctx, t, &work);
    mc_blas_end(region);
    return status;
}
