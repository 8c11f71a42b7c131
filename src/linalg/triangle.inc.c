/* triangle.inc.c: the body of triangle.c and triangle_f32.c: factor and solve, in the precision that real, TRIANGLE,
   HALVES, SPLIT, FACTOR, SOLVE and the names of BLAS say. */

enum {
    LEAF = 256,  /* triangles up to this order go to LAPACK */
    BLOCK = 128, /* and up to this to BLAS */
    STRIP = 256, /* rows of a panel that one call solves for, at most */
    TILE = 384   /* side of a block of the symmetric update, at most */
};

HALVES SPLIT(TRIANGLE t) {
    HALVES h = {.ld = t.ld};
    if (t.layout == MC_PACKED) {
        const int64_t odd = t.n % 2, n2 = t.n / 2, n1 = t.n - n2, ld = t.n + 1 - odd;
        h.ld = ld;
        h.first = (TRIANGLE){.a = t.a + 1 - odd, .n = n1, .ld = ld, .layout = MC_LOWER};
        h.second = (TRIANGLE){.a = t.a + odd * ld, .n = n2, .ld = ld, .layout = MC_UPPER};
        h.below = h.first.a + n1;
        return h;
    }
    const int64_t n1 = (t.n / 2 + LEAF - 1) / LEAF * LEAF;
    h.transposed = t.layout == MC_UPPER;
    h.first = (TRIANGLE){.a = t.a, .n = n1, .ld = t.ld, .layout = t.layout};
    h.second = (TRIANGLE){.a = t.a + n1 + n1 * t.ld, .n = t.n - n1, .ld = t.ld, .layout = t.layout};
    h.below = t.a + (h.transposed ? n1 * t.ld : n1);
    return h;
}

static bool is_leaf(TRIANGLE t) {
    return t.layout != MC_PACKED && t.n <= LEAF;
}

/* B <- scale * op(T)^-1 B or scale * B op(T)^-1; B is m x n as stored, column-major, and cut along the side T does not
   touch. */
typedef struct panel {
    TRIANGLE t;
    bool left, upper, trans; /* T from the left; stored in the upper half; op(T) = T' */
    real scale, *b;
    int64_t m, n, ld;
} panel;

/* Block j of the unknowns: what the blocks solved before it ([from, to)) take off it, then the triangle on the
   diagonal. op(T)(r, c) is T at (r, c), or at (c, r) when transposed. */
static void solve_block(const panel *p, real *b, int64_t strip, int64_t j, int64_t width, int64_t from, int64_t to) {
    const real minus = -1, one = 1, *T = p->t.a;
    const int64_t ld = p->t.ld, row = p->left ? j : from, column = p->left ? from : j;
    const real *block = T + (p->trans ? column + row * ld : row + column * ld);
    real *own = b + (p->left ? j : j * p->ld), *solved = b + (p->left ? from : from * p->ld);
    const int m = (int)(p->left ? width : strip), n = (int)(p->left ? strip : width), k = (int)(to - from);
    const int lda = (int)ld, ldb = (int)p->ld;
    const char *op = p->trans ? "T" : "N";
    if (k > 0 && p->left)
        GEMM(op, "N", &m, &n, &k, &minus, block, &lda, solved, &ldb, &p->scale, own, &ldb, 1, 1);
    else if (k > 0)
        GEMM("N", op, &m, &n, &k, &minus, solved, &ldb, block, &lda, &p->scale, own, &ldb, 1, 1);
    TRSM(p->left ? "L" : "R", p->upper ? "U" : "L", op, "N", &m, &n, k > 0 ? &one : &p->scale, T + j + j * ld, &lda,
         own, &ldb, 1, 1, 1, 1);
}

/* Block by block, so that nearly all of it is products, which BLAS does faster than triangles. The first block is the
   one that depends on no other: the top for L from the left or U from the right, else the bottom. */
static void solve_strip(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const panel *p = arg;
    const int64_t order = p->t.n;
    real *b = p->b + (p->left ? begin * p->ld : begin);
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
static mercer_status solve_panel(mercer_ctx *ctx, TRIANGLE t, bool left, bool trans, real scale, real *b, int64_t rows,
                                 int64_t columns, int64_t ld, bool transposed) {
    left = left != transposed;
    trans = trans != transposed;
    panel p = {.t = t, .left = left, .upper = t.layout == MC_UPPER, .scale = scale, .b = b, .ld = ld};
    p.trans = trans != p.upper; /* what is stored above the diagonal is L' */
    p.m = transposed ? columns : rows;
    p.n = transposed ? rows : columns;
    const int64_t free = left ? p.n : p.m;
    return t.n ? mc_for(ctx, free, mc_triangle_side(free, STRIP), solve_strip, &p) : MERCER_OK;
}

/* The update of one block of A22 <- A22 - L21 L21'. */
typedef struct update {
    HALVES h;
    int64_t side, tiles;
} update;

static void update_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin;
    (void)end;
    (void)thread;
    const update *u = arg;
    const TRIANGLE c = u->h.second;
    int64_t column = 0, row = chunk; /* the tiles of the lower half, column by column */
    for (int64_t height = u->tiles; row >= height; height--, column++)
        row -= height;
    row += column;
    const bool flip = c.layout == MC_UPPER; /* block (row, column) of the transposed triangle lies at (column, row) */
    const int64_t i = u->side * (flip ? column : row), j = u->side * (flip ? row : column),
                  step = u->h.transposed ? u->h.ld : 1;
    const int m = (int)(c.n - i < u->side ? c.n - i : u->side), n = (int)(c.n - j < u->side ? c.n - j : u->side);
    const int k = (int)u->h.first.n, ld = (int)u->h.ld, ldc = (int)c.ld;
    const real minus = -1, one = 1, *P = u->h.below;
    const char *first = u->h.transposed ? "T" : "N", *second = u->h.transposed ? "N" : "T";
    if (i == j)
        SYRK(flip ? "U" : "L", first, &m, &k, &minus, P + i * step, &ld, &one, c.a + i + i * c.ld, &ldc, 1, 1);
    else
        GEMM(first, second, &m, &n, &k, &minus, P + i * step, &ld, P + j * step, &ld, &one, c.a + i + j * c.ld, &ldc, 1,
             1);
}

static mercer_status update_second(mercer_ctx *ctx, HALVES h) {
    const int64_t side = mc_triangle_side(h.second.n, TILE);
    update u = {.h = h, .side = side, .tiles = mc_chunks(h.second.n, side)};
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

static mercer_status factor_leaf(mercer_ctx *ctx, TRIANGLE t, int64_t *bad) {
    const int n = (int)t.n, ld = (int)t.ld;
    int info = 0;
    POTRF(t.layout == MC_UPPER ? "U" : "L", &n, t.a, &ld, &info, 1);
    *bad = info;
    return ctx->stop;
}

static mercer_status factor(mercer_ctx *ctx, TRIANGLE t, meter *work, int64_t *bad) {
    if (is_leaf(t))
        return factor_leaf(ctx, t, bad);
    const HALVES h = SPLIT(t);
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

mercer_status FACTOR(mercer_ctx *ctx, TRIANGLE t, int64_t *bad) {
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
    HALVES h;
    bool up;
    int64_t columns;
    const real *from;
    real *to;
} sweep;

static void sweep_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const sweep *s = arg;
    const bool down = !s->up,
               by_column = down == s->h.transposed; /* the rows asked for are columns of what is stored */
    const int m = (int)s->columns, n = (int)(end - begin), k = (int)(down ? s->h.first.n : s->h.second.n),
              ld = (int)s->h.ld;
    const real minus = -1, one = 1, *block = s->h.below + (by_column ? begin * s->h.ld : begin);
    GEMM("N", by_column ? "N" : "T", &m, &n, &k, &minus, s->from, &m, block, &ld, &one, s->to + begin * m, &m, 1, 1);
}

static mercer_status solve_leaf(mercer_ctx *ctx, TRIANGLE t, bool transposed, int64_t columns, real *X) {
    return solve_panel(ctx, t, true, transposed, 1, X, t.n, columns, columns, true);
}

static mercer_status solve(mercer_ctx *ctx, TRIANGLE t, bool transposed, int64_t columns, real *X) {
    if (is_leaf(t))
        return solve_leaf(ctx, t, transposed, columns, X);
    const HALVES h = SPLIT(t);
    real *X1 = X, *X2 = X + h.first.n * columns;
    sweep s = {.h = h, .up = transposed, .columns = columns, .from = transposed ? X2 : X1, .to = transposed ? X1 : X2};
    MC_TRY(solve(ctx, transposed ? h.second : h.first, transposed, columns, s.up ? X2 : X1));
    MC_TRY(mc_for(ctx, transposed ? h.first.n : h.second.n, STRIP, sweep_rows, &s));
    return solve(ctx, transposed ? h.first : h.second, transposed, columns, s.up ? X1 : X2);
}

mercer_status SOLVE(mercer_ctx *ctx, TRIANGLE t, bool transposed, int64_t columns, real *X) {
    if (columns == 0)
        return MERCER_OK;
    const mc_region region = mc_blas_begin();
    const mercer_status status = solve(ctx, t, transposed, columns, X);
    mc_blas_end(region);
    return status;
}
