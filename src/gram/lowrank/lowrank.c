/* lowrank.c: accelerated randomly pivoted Cholesky. mc_lowrank_open, mc_lowrank_grow as often as wanted,
   mc_lowrank_close.

   Plain randomly pivoted Cholesky draws one row i with probability E_ii / tr E, E = K - F F', adds the column E(:, i) /
   sqrt(E_ii) to F, and starts again. Here a block of proposals is drawn at once from the same diagonal, and each is
   kept with the probability that makes up for those kept before it in the block:

       H  <- E(I, I);  u <- diag H
       for j = 0, 1, ...: keep j when U_j u_j < H_jj, U_j uniform;  then H <- H - H(:, j) H(j, :) / H_jj
       F  <- [F, (K(:, J) - F F(J, :)') L^-T],  J the rows kept, L their Cholesky factor

   which has the law of the plain method and the speed of matrix products. Chen, Epperly, Tropp and Webber (2023);
   Epperly, Tropp and Webber (2024).

   A proposal whose H_jj is within rounding of zero is never kept: so that a row drawn twice, or equal to one already
   used, adds nothing. The size of a block follows from counted operations, not from a clock: the pivots are the same on
   every machine. */
#include "gram/lowrank/lowrank.h"
#include "backend/device.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/workspace.h"
#include "gram/lowrank/lowrank_device.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum {
    ROWS = 512,       /* rows of F that one call of BLAS updates */
    BLOCK_LEAST = 10, /* proposals in a block */
    BLOCK_MOST = 512,
    ENTRY = 60,  /* operations that one entry of K counts for */
    PATIENCE = 3 /* blocks in a row without a pivot before nothing is said to be left */
};
/* 32 units of float rounding: below this share of K_ii a remainder means nothing */
static const double NOISE = 0x1p-19;

/* What one call of grow works with. kept counts the proposals that became pivots. */
typedef struct pivot_draw {
    mc_lowrank *f;
    int64_t b, accepted;
    int64_t *proposal, *pivot; /* b proposals, and those kept */
    int64_t *place;            /* of the kept ones among the proposals */
    double *sums, *H, *rows, *least, *chance;
    double *mine, *heard; /* rows of F, and what is left of the diagonal, as ranks hand them around */
    float *L, *accepted_rows, *scratch;
} pivot_draw;

static int64_t block_most(int64_t rank) {
    const int64_t third = rank / 3;
    return third < BLOCK_LEAST ? BLOCK_LEAST : third < BLOCK_MOST ? third : BLOCK_MOST;
}

static void draw_cut(mercer_ctx *ctx, pivot_draw *r, mc_work *work, const mc_segments *part, int64_t rank) {
    const int64_t b = block_most(rank), n = part->n, passed = part->ranks > 1 ? b * rank : 0;
    r->proposal = mc_work_take(work, b, sizeof(int64_t));
    r->pivot = mc_work_take(work, b, sizeof(int64_t));
    r->place = mc_work_take(work, b, sizeof(int64_t));
    r->sums = mc_work_take(work, n, sizeof(double));
    r->H = mc_work_take(work, b * b, sizeof(double));
    r->rows = mc_work_take(work, b * rank, sizeof(double));
    r->least = mc_work_take(work, b, sizeof(double));
    r->chance = mc_work_take(work, b, sizeof(double));
    r->mine = mc_work_take(work, passed ? mc_max_count(passed, part->rows) : 0, sizeof(double));
    r->heard = mc_work_take(work, passed, sizeof(double));
    r->L = mc_work_take(work, b * b, sizeof(float));
    r->accepted_rows = mc_work_take(work, b * rank, sizeof(float));
    r->scratch = mc_work_take(work, b * ROWS * mercer_threads(ctx), sizeof(float));
}

static size_t draw_bytes(mercer_ctx *ctx, const mc_segments *part, int64_t rank) {
    mc_work counted = {0};
    draw_cut(ctx, &(pivot_draw){0}, &counted, part, rank);
    return counted.used;
}

/* Of a factor that is not shared: no rank takes more of one that is, as what it hands around is less than the rows it
   does not hold. */
size_t mc_lowrank_bytes(mercer_ctx *ctx, int64_t n, int64_t rank) {
    rank = rank < n ? rank : n;
    const mc_segments whole = mc_segments_whole(n);
    const int64_t panels = mc_chunk_count(rank, MC_PANEL);
    const size_t block = 2 * MC_ALIGN, panel = mc_work_need(n * MC_PANEL, sizeof(float)) + block;
    return sizeof(mc_lowrank) + mc_work_need(n, sizeof(double)) + 2 * mc_work_need(rank + MC_PANEL, sizeof(int64_t))
           + 6 * block + (size_t)panels * (panel + 2 * sizeof(float *)) + draw_bytes(ctx, &whole, rank);
}

static void sum_up(mc_lowrank *f) {
    f->trace_left = 0;
    for (int64_t i = 0; i < f->n; i++)
        f->trace_left += f->left[i];
}

static double scale_at(const mc_lowrank *f, int64_t i) {
    return f->scale ? f->scale[i] : 1;
}

mercer_status mc_lowrank_open(mercer_ctx *ctx, const mc_matrix *K, const double *scale, uint64_t seed,
                              mc_lowrank **out) {
    *out = NULL;
    mc_lowrank *f = NULL;
    MC_TRY(MC_ALLOC(ctx, f, 1));
    *f = (mc_lowrank){.n = K->n, .part = mc_segments_whole(K->n), .K = *K, .scale = scale, .seed = seed};
    mercer_status status = MC_ALLOC(ctx, f->left, f->n);
    MC_THEN(status, mc_matrix_diagonal(ctx, K, f->left));
    if (status) {
        mc_lowrank_close(f);
        return status;
    }
    for (int64_t i = 0; i < f->n; i++)
        f->left[i] = fmax(0, scale_at(f, i) * f->left[i] * scale_at(f, i));
    sum_up(f);
    f->trace = f->trace_left;
    *out = f;
    return MERCER_OK;
}

void mc_lowrank_share(mercer_ctx *ctx, mc_lowrank *f) {
    f->part = mc_segments_shared(ctx, f->n);
}

void mc_lowrank_close(mc_lowrank *f) {
    if (!f)
        return;
    mc_lowrank_settle(f);
    for (int64_t p = 0; p < f->capacity; p++)
        mc_free(f->panel[p]);
    mc_free(f->panel);
    mc_free(f->pivot);
    mc_free(f->left);
    mc_free(f);
}

/* Room for columns up to rank. */
static mercer_status reserve_panels(mercer_ctx *ctx, mc_lowrank *f, int64_t rank) {
    const int64_t panels = mc_chunk_count(rank, MC_PANEL);
    if (panels > f->capacity) {
        float **panel = mc_grow_block(ctx, f->panel, panels, sizeof *panel);
        MC_TRY(panel ? MERCER_OK : MERCER_MEMORY);
        f->panel = panel;
        f->capacity = panels;
        int64_t *pivot = mc_grow_block(ctx, f->pivot, panels * MC_PANEL, sizeof *pivot);
        MC_TRY(pivot ? MERCER_OK : MERCER_MEMORY);
        f->pivot = pivot;
    }
    for (int64_t p = 0; p < panels; p++)
        if (!f->panel[p]
            && !(f->panel[p] = mc_alloc_unset(ctx, mc_max_count(f->part.rows, 1) * MC_PANEL, sizeof(float))))
            return MERCER_MEMORY;
    return MERCER_OK;
}

/* The place of x among running sums: the first i with x < sums[i]. */
static int64_t place_of(const double *sums, int64_t n, double x) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (x < sums[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void draw_proposals(pivot_draw *r, mc_rng *rng) {
    const mc_lowrank *f = r->f;
    double sum = 0;
    for (int64_t i = 0; i < f->n; i++)
        r->sums[i] = sum += f->left[i];
    for (int64_t a = 0; a < r->b; a++)
        r->proposal[a] = place_of(r->sums, f->n, mc_rng_uniform(rng) * sum);
}

static bool is_own(const mc_segments *part, int64_t row) {
    return row >= part->begin && row < part->begin + part->rows;
}

/* out[a + k * count] <- F(proposal a, k), of own rows; how many there are. */
static int64_t own_factor_rows(const pivot_draw *r, int64_t count, double *out) {
    const mc_lowrank *f = r->f;
    int64_t own = 0;
    for (int64_t a = 0; a < r->b; a++) {
        if (!is_own(&f->part, r->proposal[a]))
            continue;
        for (int64_t k = 0; k < f->rank; k++)
            out[own + k * count] = (double)mc_lowrank_column(f, k)[r->proposal[a] - f->part.begin];
        own++;
    }
    return own;
}

/* rows <- from what every rank has of them. */
static void put_factor_rows(pivot_draw *r, int owner, int64_t count, const double *from) {
    const mc_lowrank *f = r->f;
    for (int64_t a = 0, at = 0; a < r->b; a++) {
        if (mc_segments_owner(&f->part, r->proposal[a]) != owner)
            continue;
        for (int64_t k = 0; k < f->rank; k++)
            r->rows[a + k * r->b] = from[at + k * count];
        at++;
    }
}

static int64_t proposals_of(const pivot_draw *r, int owner) {
    int64_t count = 0;
    for (int64_t a = 0; a < r->b; a++)
        count += mc_segments_owner(&r->f->part, r->proposal[a]) == owner;
    return count;
}

/* rows[a + k * b] <- F(proposal a, k); status: of what came before. */
static mercer_status gather_factor_rows(mercer_ctx *ctx, pivot_draw *r, mercer_status status) {
    const mc_segments *part = &r->f->part;
    if (part->ranks == 1) {
        own_factor_rows(r, r->b, r->rows);
        return status;
    }
    int64_t *counts = ctx->ranks->counts;
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_SEGMENTS, (uint64_t)r->f->rank, status));
    own_factor_rows(r, proposals_of(r, part->rank), r->mine);
    for (int k = 0; k < part->ranks; k++)
        counts[k] = proposals_of(r, k) * r->f->rank;
    MC_TRY(mc_ranks_gather_parts(ctx, r->mine, counts, r->heard));
    const double *from = r->heard;
    for (int k = 0; k < part->ranks; from += counts[k++])
        put_factor_rows(r, k, proposals_of(r, k), from);
    return MERCER_OK;
}

/* H <- E(I, I), its lower half by columns; least_a: what H_aa must pass to count. */
static mercer_status remainder_at(mercer_ctx *ctx, pivot_draw *r) {
    const mc_lowrank *f = r->f;
    const int64_t b = r->b, rank = f->rank;
    mercer_status status = mc_matrix_pairs(ctx, &f->K, r->proposal, r->b, r->H);
    if (rank)
        status = gather_factor_rows(ctx, r, status);
    MC_TRY(status);
    for (int64_t a = 0; a < b; a++)
        for (int64_t c = 0; c < b; c++)
            r->H[a + c * b] *= scale_at(f, r->proposal[a]) * scale_at(f, r->proposal[c]);
    for (int64_t a = 0; a < b; a++)
        r->least[a] = NOISE * r->H[a + a * b];
    return rank ? mc_parallel_syrk(ctx, -1, mc_column_major(r->rows, b, rank, b), mc_column_major(r->H, b, b, b))
                : MERCER_OK;
}

/* H(j+1.., j+1..) <- H - h h', h the j-th column over sqrt(H_jj), which takes that column's place. */
static void eliminate_pivot(double *H, int64_t b, int64_t j) {
    double *h = H + j * b;
    const double root = sqrt(h[j]);
    for (int64_t i = j; i < b; i++)
        h[i] /= root;
    for (int64_t k = j + 1; k < b; k++) {
        const double factor = h[k];
        for (int64_t i = k; i < b; i++)
            H[i + k * b] -= factor * h[i];
    }
}

/* Keep proposals by the rule at the top, at most as many as there is need for. */
static void select_pivots(pivot_draw *r, mc_rng *rng, int64_t need) {
    const int64_t b = r->b;
    double *u = r->chance;
    for (int64_t j = 0; j < b; j++)
        u[j] = r->H[j + j * b] * mc_rng_uniform(rng);
    r->accepted = 0;
    for (int64_t j = 0; j < b && r->accepted < need; j++) {
        const double h = r->H[j + j * b];
        if (!(h > u[j] && h > r->least[j]))
            continue;
        eliminate_pivot(r->H, b, j);
        r->place[r->accepted] = j;
        r->pivot[r->accepted++] = r->proposal[j];
    }
    for (int64_t a = 0; a < r->accepted; a++)
        for (int64_t c = 0; c <= a; c++)
            r->L[a + c * r->accepted] = (float)r->H[r->place[a] + r->place[c] * b];
    for (int64_t k = 0; k < r->f->rank; k++)
        for (int64_t a = 0; a < r->accepted; a++)
            r->accepted_rows[a + k * r->accepted] = (float)r->rows[r->place[a] + k * b];
}

/* Own rows of the columns of K at the pivots, where the new columns of F will stand. */
static mercer_status fetch_pivot_columns(mercer_ctx *ctx, const pivot_draw *r) {
    const mc_lowrank *f = r->f;
    const mc_segments *part = &f->part;
    for (int64_t a = 0, run; a < r->accepted; a += run) {
        const int64_t to_end = MC_PANEL - (f->rank + a) % MC_PANEL;
        run = to_end < r->accepted - a ? to_end : r->accepted - a;
        MC_TRY(mc_matrix_rows(ctx, &f->K, MERCER_F32, r->pivot + a, run, part->begin, part->begin + part->rows,
                              mc_lowrank_column(f, f->rank + a), part->rows));
    }
    return MERCER_OK;
}

/* T <- S(rows) K(rows, J) S(J): own rows begin to end of the columns fetched, m x kept. */
static void load_scaled_rows(const pivot_draw *r, int64_t begin, int64_t m, float *T) {
    const mc_lowrank *f = r->f;
    for (int64_t a = 0; a < r->accepted; a++) {
        const float *column = mc_lowrank_column(f, f->rank + a) + begin;
        const double s = scale_at(f, r->pivot[a]);
        for (int64_t i = 0; i < m; i++)
            T[i + a * m] = f->scale ? (float)(s * f->scale[f->part.begin + begin + i] * (double)column[i]) : column[i];
    }
}

static void store_new_columns(const pivot_draw *r, int64_t begin, int64_t m, const float *T) {
    mc_lowrank *f = r->f;
    double *left = f->left + f->part.begin + begin;
    for (int64_t a = 0; a < r->accepted; a++) {
        float *column = mc_lowrank_column(f, f->rank + a) + begin;
        for (int64_t i = 0; i < m; i++) {
            column[i] = T[i + a * m];
            left[i] -= (double)column[i] * (double)column[i];
        }
    }
    for (int64_t i = 0; i < m; i++)
        left[i] = fmax(0, left[i]);
}

/* The new columns (K(:, J) - F F(J, :)') L^-T, and what is left of the diagonal, on one chunk of rows. */
static void extend_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const pivot_draw *r = arg;
    const mc_lowrank *f = r->f;
    const int64_t m = end - begin, accepted = r->accepted;
    float *T = r->scratch + (int64_t)thread * ROWS * r->b;
    const mc_dense fresh = mc_column_major_f32(T, m, accepted, m);
    load_scaled_rows(r, begin, m, T);
    for (int64_t k = 0; k < f->rank; k += MC_PANEL) {
        const int64_t width = f->rank - k < MC_PANEL ? f->rank - k : MC_PANEL;
        mc_gemm(-1, mc_column_major_f32(mc_lowrank_column(f, k) + begin, m, width, f->part.rows),
                mc_row_major_f32(r->accepted_rows + k * accepted, width, accepted, accepted), 1, fresh);
    }
    mc_trsm(1, mc_column_major_f32(r->L, accepted, accepted, accepted), false, mc_transposed(fresh));
    store_new_columns(r, begin, m, T);
}

/* What is left of the diagonal after the new columns. */
static void lower_left(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const pivot_draw *r = arg;
    const mc_lowrank *f = r->f;
    for (int64_t a = 0; a < r->accepted; a++) {
        const float *column = mc_lowrank_column(f, f->rank + a);
        for (int64_t i = begin; i < end; i++)
            f->left[i] -= (double)column[i] * (double)column[i];
    }
    for (int64_t i = begin; i < end; i++)
        f->left[i] = fmax(0, f->left[i]);
}

/* The same as extend_rows, there; *done: it was. Where a device fails and is done without, the columns of K are fetched
   once more. */
static mercer_status extend_there(mercer_ctx *ctx, pivot_draw *r, bool *done) {
    mc_lowrank *f = r->f;
    *done = false;
    if (!f->there)
        return MERCER_OK;
    const mercer_status status = mc_device_columns_extend(ctx, f->there, f, r->accepted, r->accepted_rows, r->L);
    *done = !status;
    if (!status)
        return mc_for(ctx, f->n, ROWS, lower_left, r);
    if (!mc_device_columns_leaves_it(ctx, f->there, status))
        return status;
    mc_lowrank_settle(f);
    f->stays_here = true;
    return fetch_pivot_columns(ctx, r);
}

/* The columns on own rows; every rank hears what is left of the diagonal. */
static mercer_status make_columns(mercer_ctx *ctx, pivot_draw *r) {
    mc_lowrank *f = r->f;
    MC_TRY(reserve_panels(ctx, f, f->rank + r->accepted));
    MC_TRY(fetch_pivot_columns(ctx, r));
    bool done;
    MC_TRY(extend_there(ctx, r, &done));
    MC_TRY(done ? MERCER_OK : mc_for(ctx, f->part.rows, ROWS, extend_rows, r));
    if (f->part.ranks > 1)
        memcpy(r->mine, f->left + f->part.begin, (size_t)f->part.rows * sizeof *r->mine);
    return MERCER_OK;
}

/* Stopped halfway, the columns up to rank stand; of left only the sum, which is then that of before, may still be used.
   */
static mercer_status extend_factor(mercer_ctx *ctx, pivot_draw *r) {
    mc_lowrank *f = r->f;
    mercer_status status = make_columns(ctx, r);
    if (f->part.ranks > 1)
        status = mc_segments_gather(ctx, &f->part, (uint64_t)f->rank, status, r->mine, 1, f->left);
    MC_TRY(status);
    for (int64_t a = 0; a < r->accepted; a++) {
        f->pivot[f->rank + a] = r->pivot[a];
        f->left[r->pivot[a]] = 0;
    }
    f->rank += r->accepted;
    return MERCER_OK;
}

/* Proposals for the next block: drawing and rejecting them should cost a quarter of what their columns cost. */
static void choose_block_size(pivot_draw *r, int64_t most) {
    mc_lowrank *f = r->f;
    const double b = (double)r->b, each = (double)(f->rank + ENTRY);
    const double rejecting = b * b * each + b * b * (double)r->accepted,
                 extending = (double)(r->accepted * f->n) * each;
    const double wanted = fmax(b / 3, fmin(1.5 * b, b * extending / (4 * rejecting)));
    f->block = (int64_t)fmax(BLOCK_LEAST, fmin((double)most, ceil(wanted)));
}

/* A block may be a single column, drawn at random: the gain is the mean over the last columns, about a quarter of all.
   */
static void learn_gain(mc_lowrank *f, double each, double accepted, double before) {
    const double weight = accepted / (accepted + before / 4);
    f->gain = weight * each + (1 - weight) * f->gain;
}

static mercer_status one_block(mercer_ctx *ctx, pivot_draw *r, int64_t rank) {
    mc_lowrank *f = r->f;
    mc_rng rng = mc_rng_at(f->seed, MC_STREAM_PIVOTS, (uint64_t)f->rounds);
    r->b = f->block;
    draw_proposals(r, &rng);
    MC_TRY(remainder_at(ctx, r));
    select_pivots(r, &rng, rank - f->rank);
    if (r->accepted) {
        const double before = f->trace_left;
        mc_set_phase_span(ctx, (double)f->rank / (double)rank, (double)(f->rank + r->accepted) / (double)rank);
        MC_TRY(extend_factor(ctx, r));
        sum_up(f);
        learn_gain(f, (before - f->trace_left) / (double)r->accepted, (double)r->accepted,
                   (double)(f->rank - r->accepted));
    }
    f->rounds++;
    choose_block_size(r, block_most(rank));
    return mc_report_progress(ctx, (double)f->rank / (double)rank);
}

/* To a device, where growing there costs less. */
static mercer_status move_there(mercer_ctx *ctx, mc_lowrank *f, int64_t rank) {
    mc_device *device = NULL;
    if (f->there || f->stays_here)
        return MERCER_OK;
    MC_TRY(mc_device_columns_place(ctx, f, rank, &device));
    if (!device)
        return MERCER_OK;
    const mercer_status status = mc_device_columns_open(ctx, device, f, &f->there);
    f->stays_here = status != MERCER_OK;
    return !status || mc_device_leaves_it(ctx, device, status) ? MERCER_OK : status;
}

void mc_lowrank_settle(mc_lowrank *f) {
    mc_device_columns_close(f->there);
    f->there = NULL;
}

mercer_status mc_lowrank_grow(mercer_ctx *ctx, mc_lowrank *f, int64_t rank, double trace) {
    rank = rank < f->n ? rank : f->n;
    if (rank <= f->rank || f->exhausted)
        return MERCER_OK;
    MC_TRY(move_there(ctx, f, rank));
    pivot_draw r = {.f = f};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, draw_bytes(ctx, &f->part, rank)));
    draw_cut(ctx, &r, &work, &f->part, rank);
    const int64_t most = block_most(rank), wanted = f->block ? f->block : rank / 10;
    f->block = wanted < BLOCK_LEAST ? BLOCK_LEAST : wanted < most ? wanted : most;
    mercer_status status = MERCER_OK;
    for (int empty = 0; !status && f->rank < rank && f->trace_left > trace && !f->exhausted;) {
        status = one_block(ctx, &r, rank);
        empty = r.accepted ? 0 : empty + 1;
        f->exhausted = empty >= PATIENCE || f->trace_left <= 0;
    }
    mc_work_close(&work);
    return status;
}
