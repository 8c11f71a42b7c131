/* tridiagonal.c: Householder's reduction of a symmetric matrix to a tridiagonal one, a panel of columns at a time
   (Dongarra, Sorensen and Hammarling 1989).

   Reflection c maps column c to a multiple of the first unit vector below the diagonal: H = I - tau v v'. The rest of A
   changes by -v w' - w v' with w = tau (A v) - (tau^2 v'A v / 2) v. Within a panel the changes are put off: column c is
   brought up to date from the v and w before it, and A v is taken from A as it was less what they take off. After the
   panel the whole rest changes at once.

   Half of the work is A v, at the speed of memory. The lower half is cut into strips of columns, as many as its order
   alone says, and a strip into blocks that stay in the cache while they serve twice: for the rows below, and for the
   columns from the rows below. Every strip has a sum of its own; they are added in order. The other half is products in
   tiles of a fixed size. So no bit depends on how many threads there are. */
#include "linalg/tridiagonal.h"
#include "backend/blas.h"
#include "base/parallel.h"
#include "base/status.h"
#include <string.h>

enum {
    PANEL = 32,
    STRIPS = 32,  /* at most */
    NARROW = 128, /* columns of a strip, at least */
    ALONE = 768,  /* a rest of smaller order is multiplied before other threads have woken up */
    BLOCK = 512,  /* rows of a block of a strip */
    TILE = 256,
    COLUMNS = 256,                   /* of Z, reflected at a time */
    SCRATCH = COLUMNS * 64 + 65 * 64 /* numbers that dormtr needs for them, its block size included */
};

typedef struct tridiagonal_reduction {
    int64_t n, ld; /* of A */
    /* W: n x PANEL, then room for V and W again: [W V W] holds [W V] and [V W], and V W' + W V' is one product */
    double *A, *W;
    double *sums;  /* STRIPS x n */
    int64_t first; /* of the panel: its column 0 is column first of A */
    int64_t at;    /* A v: the rows and columns from here on */
    int64_t width; /* of a strip */
    const double *v;
    int64_t rest; /* the update: from here on */
} tridiagonal_reduction;

static double *entry_at(const tridiagonal_reduction *r, int64_t i, int64_t j) {
    return r->A + i + j * r->ld;
}

/* ---- A v ---- */

/* The strip of columns [begin, end) of the rest of order m, from the diagonal down. */
static void multiply_strip(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const tridiagonal_reduction *r = arg;
    const int64_t m = r->n - r->at;
    double *y = r->sums + chunk * r->n;
    const int ld = (int)r->ld, step = 1, columns = (int)(end - begin);
    const double one = 1;
    memset(y + begin, 0, (size_t)(m - begin) * sizeof *y);
    dsymv_("L", &columns, &one, entry_at(r, r->at + begin, r->at + begin), &ld, r->v + begin, &step, &one, y + begin,
           &step, 1);
    for (int64_t i = end; i < m; i += BLOCK) {
        const int rows = (int)(m - i < BLOCK ? m - i : BLOCK);
        const double *block = entry_at(r, r->at + i, r->at + begin);
        dgemv_("N", &rows, &columns, &one, block, &ld, r->v + begin, &step, &one, y + i, &step, 1);
        dgemv_("T", &rows, &columns, &one, block, &ld, r->v + i, &step, &one, y + begin, &step, 1);
    }
}

/* w <- A v over rows and columns from at on. */
static mercer_status multiply_trailing_matrix(mercer_ctx *ctx, tridiagonal_reduction *r, double *w) {
    const int64_t m = r->n - r->at, even = (m + STRIPS - 1) / STRIPS;
    r->width = even > NARROW ? even : NARROW;
    if (m < ALONE) {
        const int order = (int)m, ld = (int)r->ld, step = 1;
        const double one = 1, zero = 0;
        dsymv_("L", &order, &one, entry_at(r, r->at, r->at), &ld, r->v, &step, &zero, w, &step, 1);
        return MERCER_OK;
    }
    MC_TRY(mc_for(ctx, m, r->width, multiply_strip, r));
    memcpy(w, r->sums, (size_t)m * sizeof *w);
    for (int64_t strip = 1; strip < mc_chunk_count(m, r->width); strip++)
        for (int64_t i = strip * r->width; i < m; i++)
            w[i] += r->sums[strip * r->n + i];
    return MERCER_OK;
}

/* ---- A panel ---- */

/* y <- beta y + alpha M x or M' x, M of so many rows and columns. */
static void add_product(const char *op, double alpha, int64_t rows, int64_t columns, const double *M, int64_t ld,
                        const double *x, int64_t step, double beta, double *y) {
    const int m = (int)rows, k = (int)columns, lda = (int)ld, one = 1, stride = (int)step;
    if (m > 0 && k > 0)
        dgemv_(op, &m, &k, &alpha, M, &lda, x, &stride, &beta, y, &one, 1);
}

/* Column c as the reflections of the panel before it leave it. */
static void bring_up(const tridiagonal_reduction *r, int64_t c) {
    const int64_t done = c - r->first, rows = r->n - c;
    add_product("N", -1, rows, done, entry_at(r, c, r->first), r->ld, r->W + c, r->n, 1, entry_at(r, c, c));
    add_product("N", -1, rows, done, r->W + c, r->n, entry_at(r, c, r->first), r->ld, 1, entry_at(r, c, c));
}

/* w of column c from v, which stands below the diagonal of A. */
static mercer_status find_w(mercer_ctx *ctx, tridiagonal_reduction *r, int64_t c, double tau) {
    const int64_t done = c - r->first, m = r->n - c - 1;
    double *w = r->W + (c + 1) + done * r->n, *v = entry_at(r, c + 1, c), inner[PANEL], dot = 0;
    r->at = c + 1;
    r->v = v;
    MC_TRY(multiply_trailing_matrix(ctx, r, w));
    const double *V = entry_at(r, c + 1, r->first), *W = r->W + c + 1;
    add_product("T", 1, m, done, W, r->n, v, 1, 0, inner);
    add_product("N", -1, m, done, V, r->ld, inner, 1, 1, w);
    add_product("T", 1, m, done, V, r->ld, v, 1, 0, inner);
    add_product("N", -1, m, done, W, r->n, inner, 1, 1, w);
    for (int64_t i = 0; i < m; i++) {
        w[i] *= tau;
        dot += w[i] * v[i];
    }
    for (int64_t i = 0; i < m; i++)
        w[i] -= tau / 2 * dot * v[i];
    return MERCER_OK;
}

static mercer_status reduce_column(mercer_ctx *ctx, tridiagonal_reduction *r, int64_t c, double *diagonal,
                                   double *below, double *tau) {
    bring_up(r, c);
    diagonal[c] = *entry_at(r, c, c);
    if (c == r->n - 1)
        return MERCER_OK;
    const int m = (int)(r->n - c - 1), step = 1;
    double *v = entry_at(r, c + 1, c);
    dlarfg_(&m, v, v + (m > 1), &step, &tau[c]);
    below[c] = *v;
    *v = 1;
    return find_w(ctx, r, c, tau[c]);
}

/* One tile of the rest, less V W' + W V'. */
static void update_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const tridiagonal_reduction *r = arg;
    const int64_t m = r->n - r->rest;
    int64_t column = 0, row = chunk;
    for (int64_t height = mc_chunk_count(m, TILE); row >= height; height--, column++)
        row -= height;
    const int64_t i = r->rest + TILE * (row + column), j = r->rest + TILE * column;
    const int rows = (int)(r->n - i < TILE ? r->n - i : TILE), columns = (int)(r->n - j < TILE ? r->n - j : TILE);
    const int k = 2 * PANEL, n = (int)r->n, ld = (int)r->ld;
    const double minus = -1, one = 1, *WV = r->W, *VW = r->W + PANEL * r->n;
    dgemm_("N", "T", &rows, &columns, &k, &minus, VW + i, &n, WV + j, &n, &one, entry_at(r, i, j), &ld, 1, 1);
}

static mercer_status reduce_panel(mercer_ctx *ctx, tridiagonal_reduction *r, double *diagonal, double *below,
                                  double *tau) {
    const int64_t end = r->first + PANEL < r->n ? r->first + PANEL : r->n;
    for (int64_t c = r->first; c < end; c++)
        MC_TRY(reduce_column(ctx, r, c, diagonal, below, tau));
    if (end == r->n)
        return MERCER_OK;
    r->rest = end;
    for (int64_t k = 0; k < PANEL; k++)
        memcpy(r->W + (PANEL + k) * r->n, entry_at(r, 0, r->first + k), (size_t)r->n * sizeof *r->W);
    memcpy(r->W + 2 * PANEL * r->n, r->W, (size_t)(PANEL * r->n) * sizeof *r->W);
    const int64_t tiles = mc_chunk_count(r->n - end, TILE);
    return mc_for(ctx, tiles * (tiles + 1) / 2, 1, update_tile, r);
}

int64_t mc_tridiagonal_workspace(int64_t n) {
    const int64_t there = n * (3 * PANEL + STRIPS), back = mc_chunk_count(n, COLUMNS) * SCRATCH;
    return there > back ? there : back;
}

mercer_status mc_sytrd(mercer_ctx *ctx, mc_dense A, double *diagonal, double *below, double *tau, double *scratch) {
    const int64_t n = A.rows;
    tridiagonal_reduction r = {.n = n, .ld = A.ld, .A = A.a, .W = scratch, .sums = scratch + 3 * n * PANEL};
    mercer_status status = MERCER_OK;
    const mc_region region = mc_blas_begin();
    for (; r.first < n && !status; r.first += PANEL)
        status = reduce_panel(ctx, &r, diagonal, below, tau);
    mc_blas_end(region);
    return status;
}

/* ---- Back ---- */

typedef struct reflecting {
    mc_dense A, Z;
    const double *tau;
    double *scratch;
} reflecting;

static void reflect_columns(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const reflecting *f = arg;
    const mc_dense Z = mc_submatrix(f->Z, 0, begin, f->Z.rows, end - begin);
    const int n = (int)Z.rows, columns = (int)Z.columns, scratch = SCRATCH, lda = (int)f->A.ld, ldz = (int)Z.ld;
    int info = 0; /* only a wrong argument sets it */
    double *own = f->scratch + (int64_t)thread * SCRATCH;
    dormtr_("L", "L", "N", &n, &columns, f->A.a, &lda, f->tau, Z.a, &ldz, own, &scratch, &info, 1, 1, 1);
}

/* No more threads run than there are chunks. */
mercer_status mc_ormtr(mercer_ctx *ctx, mc_dense A, const double *tau, mc_dense Z, double *scratch) {
    reflecting f = {.A = A, .tau = tau, .Z = Z, .scratch = scratch};
    const mc_region region = mc_blas_begin();
    const mercer_status status = mc_for(ctx, Z.columns, COLUMNS, reflect_columns, &f);
    mc_blas_end(region);
    return status;
}
