/* loss_precondition.c: the preconditioner of a Newton system lambda I + L'K L. With K ~ F F' of rank r, and L'KL taken
   class by class as S_k K S_k, S_k^2 = root^2 (1 - p_k) the diagonal of W (one column: W itself),

       P_k^-1 v = (v - S F (F'S^2 F + lambda I)^-1 F'S v) / lambda.

   F is found once for all steps; making the r x r matrices anew costs n r^2 operations for each class. Where K is F F'
   itself, with one column, this is no approximation but the solution. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "learn/loss/loss_workspace.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum { ROWS = 256, PANEL = 128, THIN = 32, PANELS = 8, SEGMENT = 1024, GRAIN = 512, SQUARE = 16, FEW = 2 };
/* trace over lambda, up to which the formula itself is a solution: it loses that many digits */
static const double SOLVABLE = 0x1p24;

struct mc_loss_precondition {
    int64_t n, r, columns, k;
    int64_t all, ld; /* rows of F; from one that is looked at to the next */
    double lambda;   /* what stands for it: not below what double precision can tell from zero */
    double trace;    /* of F'S^2 F, the largest */
    double *F;       /* n x r, row-major */
    double *S;       /* n x k */
    double *M;       /* k of r x r, factored */
    double *scratch; /* per thread: two blocks of ROWS x PANEL */
    double *V;       /* n x sides: S V */
    double *part;    /* per segment, sides x r */
    double *C;       /* sides x r */
    mc_work work;
};

static int64_t segment_count(int64_t n) {
    return mc_chunk_count(n, SEGMENT);
}

/* Columns of a right-hand side. */
static int64_t right_hand_columns(int64_t k) {
    return k > MC_LOSS_RHS ? k : MC_LOSS_RHS;
}

static void lay_out_preconditioner(mercer_ctx *ctx, mc_work *work, int64_t n, int64_t r, int64_t k,
                                   mc_loss_precondition *s) {
    s->F = mc_work_take(work, n * r, 8);
    s->S = mc_work_take(work, n * k, 8);
    s->V = mc_work_take(work, n * right_hand_columns(k), 8);
    s->M = mc_work_take(work, k * r * r, 8);
    s->scratch = mc_work_take(work, 2 * (int64_t)mercer_threads(ctx) * ROWS * PANEL, 8);
    s->part = mc_work_take(work, segment_count(n) * right_hand_columns(k) * r, 8);
    s->C = mc_work_take(work, right_hand_columns(k) * r, 8);
}

static size_t bytes_of(mercer_ctx *ctx, int64_t n, int64_t r, int64_t k) {
    mc_work counted = {0};
    lay_out_preconditioner(ctx, &counted, n, r, k, &(mc_loss_precondition){0});
    return counted.used;
}

size_t mc_loss_precondition_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t columns) {
    return bytes_of(ctx, n, rank, columns) + sizeof(mc_loss_precondition) + 2 * MC_ALIGN;
}

typedef struct factor_copy {
    const mc_lowrank *from;
    double *F;
} factor_copy;

/* Rows begin .. end - 1 of F, from columns to rows a few columns at a time. */
static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const factor_copy *c = arg;
    const int64_t r = c->from->rank;
    for (int64_t l = 0; l < r; l += SQUARE)
        for (int64_t i = begin; i < end; i++)
            for (int64_t j = l; j < r && j < l + SQUARE; j++)
                c->F[i * r + j] = (double)mc_lowrank_column(c->from, j)[i];
}

mercer_status mc_loss_precondition_open(mercer_ctx *ctx, const mc_lowrank *f, int64_t columns,
                                        mc_loss_precondition **out) {
    mc_loss_precondition *s = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    *s = (mc_loss_precondition){.n = f->n, .all = f->n, .r = f->rank, .ld = f->rank, .columns = columns};
    mercer_status status = mc_work_open(ctx, &s->work, bytes_of(ctx, s->n, s->r, columns));
    if (status) {
        mc_free(s);
        return status;
    }
    lay_out_preconditioner(ctx, &s->work, s->n, s->r, s->columns, s);
    factor_copy c = {f, s->F};
    if (s->r && (status = mc_for(ctx, s->n, GRAIN, copy_rows, &c)))
        mc_loss_precondition_close(s);
    else
        *out = s;
    return status;
}

void mc_loss_precondition_close(mc_loss_precondition *s) {
    if (s)
        mc_work_close(&s->work);
    mc_free(s);
}

void mc_loss_precondition_subsample(mc_loss_precondition *s, int64_t every) {
    s->n = (s->all + every - 1) / every;
    s->ld = every * s->r;
}

/* ---- The small matrices ---- */

/* Columns of a panel: as many panels as keep several threads busy, but none that is too thin for BLAS. */
static int64_t panel_width(const mc_loss_precondition *s) {
    const int64_t share = (s->r / PANELS + THIN - 1) / THIN * THIN;
    return share < THIN ? THIN : share < PANEL ? share : PANEL;
}

static int64_t width_of(const mc_loss_precondition *s, int64_t panel) {
    const int64_t wide = panel_width(s), rest = s->r - panel * wide;
    return rest < wide ? rest : wide;
}

/* One block of the lower half of one class's matrix: panel a against panel b <= a, over all rows. */
static void small_block(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const mc_loss_precondition *s = arg;
    const int64_t wide = panel_width(s), panels = mc_chunk_count(s->r, wide), pairs = panels * (panels + 1) / 2,
                  class = chunk / pairs;
    int64_t a = 0, b = chunk % pairs;
    for (; b > a; a++)
        b -= a + 1;
    const int64_t wa = width_of(s, a), wb = width_of(s, b), r = s->r, ld = s->ld;
    double *left = s->scratch + (int64_t)thread * 2 * ROWS * PANEL;
    const mc_dense out = mc_column_major(s->M + class * r * r + a * wide + b * wide * r, wa, wb, r);
    for (int64_t i = 0; i < s->n; i += ROWS) {
        const int64_t m = s->n - i < ROWS ? s->n - i : ROWS;
        for (int64_t l = 0; l < m; l++) {
            const double weight = s->S[(i + l) * s->k + class] * s->S[(i + l) * s->k + class];
            for (int64_t j = 0; j < wa; j++)
                left[l * wa + j] = weight * s->F[(i + l) * ld + a * wide + j];
        }
        mc_gemm(1, mc_column_major(left, wa, m, wa), mc_row_major(s->F + i * ld + b * wide, m, wb, ld), 1, out);
    }
}

static mercer_status factor_small(mercer_ctx *ctx, mc_loss_precondition *s) {
    const int64_t r = s->r;
    s->trace = 0;
    for (int64_t c = 0; c < s->k; c++) {
        double trace = 0;
        for (int64_t l = 0; l < r; l++)
            trace += s->M[c * r * r + l * (r + 1)];
        s->trace = fmax(s->trace, trace);
    }
    s->lambda = fmax(s->lambda, 0x1p-44 * s->trace);
    for (int64_t c = 0; c < s->k; c++) {
        double *M = s->M + c * r * r;
        int64_t bad = 0;
        for (int64_t l = 0; l < r; l++)
            M[l * (r + 1)] += s->lambda;
        MC_TRY(mc_potrf(ctx, mc_column_major(M, r, r, r), &bad));
        if (bad)
            return mc_fail(ctx, MERCER_NUMERIC, "the preconditioner broke down at column %lld of %lld; raise lambda",
                           (long long)bad, (long long)r);
    }
    return MERCER_OK;
}

mercer_status mc_loss_precondition_set(mercer_ctx *ctx, mc_loss_precondition *s, const mc_loss_task *t,
                                       const double *root) {
    s->k = t->k;
    s->lambda = t->lambda;
    for (int64_t i = 0; i < s->n * s->k; i++) {
        const double w = root[i] * root[i];
        s->S[i] = s->k > 1 ? sqrt(fmax(0, w * (1 - w / t->cost[i / s->k]))) : root[i];
    }
    if (!s->r)
        return MERCER_OK;
    const int64_t panels = mc_chunk_count(s->r, panel_width(s));
    memset(s->M, 0, (size_t)(s->k * s->r * s->r) * sizeof *s->M);
    MC_TRY(mc_for(ctx, s->k * (panels * (panels + 1) / 2), 1, small_block, s));
    return factor_small(ctx, s);
}

/* ---- The product ---- */

typedef struct loss_product {
    const mc_loss_precondition *s;
    const double *V;
    double *Y;
    int64_t k;
} loss_product;

/* part <- F'V over one segment of rows: k columns of length r. A few columns read F row by row: as a matrix it would be
   packed first. */
static void project_on_factor(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const loss_product *p = arg;
    const mc_loss_precondition *s = p->s;
    const int64_t r = s->r, ld = s->ld, k = p->k;
    double *part = s->part + chunk * k * r;
    memset(part, 0, (size_t)(k * r) * sizeof *part);
    for (int64_t i = begin; i < end; i += ROWS) {
        const int64_t m = end - i < ROWS ? end - i : ROWS;
        const mc_dense F = mc_column_major(s->F + i * ld, r, m, ld), V = mc_row_major(p->V + i * k, m, k, k);
        if (k > FEW)
            mc_gemm(1, F, V, 1, mc_column_major(part, r, k, r));
        for (int64_t c = 0; k <= FEW && c < k; c++)
            mc_gemv(1, F, mc_submatrix(V, 0, c, m, 1), 1, mc_column_major(part + c * r, r, 1, r));
    }
}

/* Y <- F C on a chunk of rows. */
static void expand_from_factor(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const loss_product *p = arg;
    const mc_loss_precondition *s = p->s;
    const int64_t r = s->r, k = p->k, m = end - begin;
    const mc_dense F = mc_row_major(s->F + begin * s->ld, m, r, s->ld), C = mc_column_major(s->C, r, k, r);
    const mc_dense Y = mc_row_major(p->Y + begin * k, m, k, k);
    if (k > FEW)
        mc_gemm(1, F, C, 0, Y);
    for (int64_t c = 0; k <= FEW && c < k; c++)
        mc_gemv(1, F, mc_submatrix(C, 0, c, r, 1), 0, mc_submatrix(Y, 0, c, m, 1));
}

static void sum_parts(const mc_loss_precondition *s, int64_t k) {
    memset(s->C, 0, (size_t)(k * s->r) * sizeof *s->C);
    for (int64_t g = 0; g < segment_count(s->n); g++)
        for (int64_t i = 0; i < k * s->r; i++)
            s->C[i] += s->part[g * k * s->r + i];
}

/* C <- M^-1 C, each column by the matrix of its class. */
static mercer_status solve_small(mercer_ctx *ctx, const mc_loss_precondition *s, int64_t columns) {
    const int64_t r = s->r;
    sum_parts(s, columns);
    for (int64_t c = 0; c < columns; c++) {
        const mc_dense L = mc_column_major(s->M + (s->k > 1 ? c : 0) * r * r, r, r, r);
        MC_TRY(mc_potrs(ctx, L, mc_row_major(s->C + c * r, r, 1, 1)));
    }
    return MERCER_OK;
}

/* Y <- F M^-1 F'V. */
static mercer_status apply_low_rank_inverse(mercer_ctx *ctx, const mc_loss_precondition *s, int64_t k, const double *V,
                                            double *Y) {
    loss_product p = {.s = s, .V = V, .Y = Y, .k = k};
    MC_TRY(mc_for(ctx, s->n, SEGMENT, project_on_factor, &p));
    MC_TRY(solve_small(ctx, s, k));
    return mc_for(ctx, s->n, GRAIN, expand_from_factor, &p);
}

/* Sides to a row of S, in each of which V <- S X, or Y <- (X - S Y) / lambda. */
typedef struct scaled_sides {
    const mc_loss_precondition *s;
    const double *X;
    double *Y;
    int64_t sides; /* to a number of S */
} scaled_sides;

static void scale_sides(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const scaled_sides *p = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t c = i * p->sides; c < (i + 1) * p->sides; c++)
            p->s->V[c] = p->s->S[i] * p->X[c];
}

static void conclude_sides(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const scaled_sides *p = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t c = i * p->sides; c < (i + 1) * p->sides; c++)
            p->Y[c] = (p->X[c] - p->s->S[i] * (p->s->r ? p->Y[c] : 0)) / p->s->lambda;
}

mercer_status mc_loss_precondition_apply(mercer_ctx *ctx, const mc_loss_precondition *s, const double *V, double *Y) {
    scaled_sides p = {s, V, Y, 1};
    MC_TRY(mc_for(ctx, s->n * s->k, SEGMENT, scale_sides, &p));
    if (s->r)
        MC_TRY(apply_low_rank_inverse(ctx, s, s->k, s->V, Y));
    return mc_for(ctx, s->n * s->k, SEGMENT, conclude_sides, &p);
}

/* ---- The solution where K is F F' ---- */

bool mc_loss_precondition_solves(const mc_loss_precondition *s) {
    return s->k == 1 && s->r > 0 && s->trace <= SOLVABLE * s->lambda;
}

const double *mc_loss_precondition_roots(const mc_loss_precondition *s) {
    return s->S;
}

mercer_status mc_loss_precondition_solve(mercer_ctx *ctx, const mc_loss_precondition *s, double *X, double *KSX) {
    for (int64_t i = 0; i < MC_LOSS_RHS * s->n; i++)
        s->V[i] = s->S[i / MC_LOSS_RHS] * X[i];
    /* F C with (F'S^2 F + lambda) C = F'S X: C is F'S of the solution */
    MC_TRY(apply_low_rank_inverse(ctx, s, MC_LOSS_RHS, s->V, KSX));
    for (int64_t i = 0; i < MC_LOSS_RHS * s->n; i++)
        X[i] = (X[i] - s->S[i / MC_LOSS_RHS] * KSX[i]) / s->lambda;
    return MERCER_OK;
}

/* ---- F F' ---- */

static mercer_status apply_factor(mercer_ctx *ctx, const void *self, int64_t k, const double *V, double *Y) {
    const mc_loss_precondition *s = self;
    loss_product p = {.s = s, .V = V, .Y = Y, .k = k};
    MC_TRY(mc_for(ctx, s->n, SEGMENT, project_on_factor, &p));
    sum_parts(s, k);
    return mc_for(ctx, s->n, GRAIN, expand_from_factor, &p);
}

mc_matrix mc_loss_precondition_matrix(const mc_loss_precondition *s) {
    return (mc_matrix){.n = s->n, .apply = apply_factor, .self = s};
}
