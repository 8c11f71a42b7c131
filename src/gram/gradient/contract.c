/* contract.c: sum_ij M_ij dk(x_i, x_j)/dtheta by running the expression forwards and backwards over tiles of pairs.

   Forwards, every node of the tree gets a tile of values. Backwards, every node gets the tile of its adjoint, the
   derivative of sum M_ij k_ij with respect to its value: a sum hands its own down, a product hands down its own times
   the other factors, and so on; an atom contracts its adjoint with the derivatives of its parameters
   (contract_atoms.c). One pass yields all parameters, so a length scale per column costs no more than a single one, up
   to one multiply-add per pair and column.

   Expressions with a part that is not covered there (normalize, arccos, ...) go through the reference evaluator, pair
   by pair. Each pair is visited once; the tile rows are the chunks, their sums are added in order. */
#include "gram/gradient/contract.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/gradient/contract_atoms.h"
#include "gram/gradient/contract_steps.h"
#include "kernel/evaluate/power_series.h"
#include <math.h>
#include <string.h>

enum { SIDE = MC_CONTRACT_SIDE, TILE = SIDE * SIDE, NODES_MAX = MC_CONTRACT_NODES };

typedef mc_contract_step step;

typedef struct plan {
    const mercer_kernel *kernel;
    const mercer_data *x;
    mc_block_source *block;
    const void *self;
    mc_contract_steps steps;
    int64_t n, d, width, slots;
    double *rows;    /* n x width: whole rows as the reference evaluator reads them */
    double *part;    /* slots per chunk */
    double *scratch; /* per thread */
    int64_t scratch_size, threads;
    mc_work work;
} plan;

/* ---- one tile ---- */

typedef struct tile {
    const plan *p;
    int64_t i0, j0, rows, columns;
    double *value, *adjoint, *statistic; /* TILE per step */
    double *x, *z;                       /* d x SIDE: the columns of the rows in this tile */
    double *sums;                        /* slots */
} tile;

/* The columns an atom sees, as panels. */
static mc_pairs gather_atom_columns(const tile *t, const step *s) {
    const plan *p = t->p;
    for (int64_t c = 0; c < s->d; c++)
        for (int64_t i = 0; i < SIDE; i++) {
            t->x[c * SIDE + i] = i < t->rows ? p->rows[(t->i0 + i) * p->width + s->column[c]] : 0;
            t->z[c * SIDE + i] = i < t->columns ? p->rows[(t->j0 + i) * p->width + s->column[c]] : 0;
        }
    return (mc_pairs){.rows = t->rows, .columns = t->columns, .d = s->d, .x = t->x, .z = t->z};
}

static void forward_step(const tile *t, int k) {
    const step *s = &t->p->steps.step[k];
    double *v = t->value + (int64_t)k * TILE;
    const double *first = s->children ? t->value + (int64_t)s->child[0] * TILE : NULL;
    if (s->node->kind == MC_ATOM) {
        const mc_pairs pairs = gather_atom_columns(t, s);
        mc_contract_atoms[s->node->atom].forward(s->node, &pairs, t->statistic + (int64_t)k * TILE, v);
        return;
    }
    for (int64_t i = 0; i < t->rows * SIDE; i++)
        switch (s->node->kind) {
        case MC_NUMBER: v[i] = s->node->number; break;
        case MC_EXP: v[i] = exp(first[i]); break;
        case MC_SERIES: v[i] = mc_series_rows[s->node->series].value(first[i]); break;
        case MC_POWER: v[i] = pow(first[i], s->node->number); break;
        default: v[i] = first[i]; break;
        }
    for (int c = 1; c < s->children; c++) {
        const double *other = t->value + (int64_t)s->child[c] * TILE;
        for (int64_t i = 0; i < t->rows * SIDE; i++)
            v[i] = s->node->kind == MC_SUM ? v[i] + other[i] : v[i] * other[i];
    }
    for (int64_t i = 0; s->weight && i < t->rows; i++)
        for (int64_t j = 0; j < t->columns; j++)
            v[i * SIDE + j] *= s->weight[t->i0 + i] * s->weight[t->j0 + j];
}

/* The adjoint of a product's child: its own times all the other factors. */
static void product_back(const tile *t, const step *s, const double *a) {
    for (int c = 0; c < s->children; c++) {
        double *down = t->adjoint + (int64_t)s->child[c] * TILE;
        memcpy(down, a, TILE * sizeof *down);
        for (int o = 0; o < s->children; o++)
            for (int64_t i = 0; o != c && i < t->rows * SIDE; i++)
                down[i] *= t->value[(int64_t)s->child[o] * TILE + i];
    }
}

static void single_back(const tile *t, const step *s, const double *a, const double *v) {
    double *down = t->adjoint + (int64_t)s->child[0] * TILE;
    const double *below = t->value + (int64_t)s->child[0] * TILE;
    for (int64_t i = 0; i < t->rows * SIDE; i++)
        switch (s->node->kind) {
        case MC_EXP: down[i] = a[i] * v[i]; break;
        case MC_SERIES: down[i] = a[i] * mc_series_rows[s->node->series].slope(below[i]); break;
        case MC_POWER: down[i] = a[i] == 0 ? 0 : a[i] * s->node->number * pow(below[i], s->node->number - 1); break;
        default: down[i] = a[i]; break;
        }
    for (int64_t i = 0; s->weight && i < t->rows; i++)
        for (int64_t j = 0; j < t->columns; j++)
            down[i * SIDE + j] *= s->weight[t->i0 + i] * s->weight[t->j0 + j];
}

static void atom_back(const tile *t, int k, double *a) {
    const step *s = &t->p->steps.step[k];
    double *sums[MC_PARAMETERS_MAX];
    for (int q = 0; q < MC_PARAMETERS_MAX; q++)
        sums[q] = s->slot[q] < 0 ? NULL : t->sums + s->slot[q];
    const mc_pairs pairs = gather_atom_columns(t, s);
    mc_contract_atoms[s->node->atom].backward(s->node, &pairs, t->statistic + (int64_t)k * TILE,
                                              t->value + (int64_t)k * TILE, a, sums);
}

static void backward_step(const tile *t, int k) {
    const step *s = &t->p->steps.step[k];
    double *a = t->adjoint + (int64_t)k * TILE;
    if (s->node->kind == MC_ATOM)
        atom_back(t, k, a);
    else if (s->node->kind == MC_PRODUCT)
        product_back(t, s, a);
    else if (s->node->kind == MC_SUM)
        for (int c = 0; c < s->children; c++)
            memcpy(t->adjoint + (int64_t)s->child[c] * TILE, a, TILE * sizeof *a);
    else if (s->node->kind != MC_NUMBER)
        single_back(t, s, a, t->value + (int64_t)k * TILE);
    else if (s->number_slot >= 0)
        for (int64_t i = 0; i < t->rows * SIDE; i++)
            t->sums[s->number_slot] += a[i];
}

/* The adjoint of the root: M, twice below the diagonal, nothing above it. */
static void root_adjoint(const tile *t) {
    double *a = t->adjoint + (int64_t)(t->p->steps.count - 1) * TILE;
    memset(a, 0, TILE * sizeof *a);
    t->p->block(t->p->self, t->i0, t->i0 + t->rows, t->j0, t->j0 + t->columns, a, SIDE);
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t j = 0; j < t->columns; j++)
            a[i * SIDE + j] *= t->i0 + i > t->j0 + j ? 2 : t->i0 + i == t->j0 + j ? 1 : 0;
}

static void contract_tile(const tile *t) {
    for (int k = 0; k < t->p->steps.count; k++)
        forward_step(t, k);
    root_adjoint(t);
    for (int k = t->p->steps.count - 1; k >= 0; k--)
        backward_step(t, k);
}

static void tile_row(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const plan *p = arg;
    double *s = p->scratch + thread * p->scratch_size;
    tile t = {.p = p, .i0 = begin, .rows = end - begin, .sums = p->part + chunk * p->slots};
    t.value = s;
    t.adjoint = t.value + (int64_t)p->steps.count * TILE;
    t.statistic = t.adjoint + (int64_t)p->steps.count * TILE;
    t.x = t.statistic + (int64_t)p->steps.count * TILE;
    t.z = t.x + p->d * SIDE;
    for (t.j0 = 0; t.j0 < end; t.j0 += SIDE) {
        t.columns = p->n - t.j0 < SIDE ? p->n - t.j0 : SIDE;
        contract_tile(&t);
    }
}

/* ---- pair by pair, for what the tiles do not cover ---- */

static void add_pair(const plan *p, int64_t i, int64_t j, double m, double *g, double *sums) {
    mc_eval_gradient(p->kernel->root, p->rows + i * p->width, p->rows + j * p->width, p->d, g);
    const double weight = m * (i > j ? 2 : 1);
    for (int64_t k = 0; k < p->slots; k++)
        sums[k] += weight * g[k];
}

static void contract_reference_row(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const plan *p = arg;
    double *m = p->scratch + thread * p->scratch_size, *g = m + TILE, *sums = p->part + chunk * p->slots;
    for (int64_t j0 = 0; j0 < end; j0 += SIDE) {
        const int64_t j1 = j0 + SIDE < p->n ? j0 + SIDE : p->n;
        p->block(p->self, begin, end, j0, j1, m, SIDE);
        for (int64_t i = begin; i < end; i++)
            for (int64_t j = j0; j < j1 && j <= i; j++)
                add_pair(p, i, j, m[(i - begin) * SIDE + j - j0], g, sums);
    }
}

/* ---- the whole ---- */

static void lay_out_plan(mc_work *work, void *self) {
    plan *p = self;
    p->rows = mc_work_take(work, p->n * p->width, sizeof *p->rows);
    p->part = mc_work_take(work, mc_chunk_count(p->n, SIDE) * p->slots, sizeof *p->part);
    p->scratch = mc_work_take(work, p->scratch_size * p->threads, sizeof *p->scratch);
}

static plan plan_for(const mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x) {
    return (plan){.kernel = kernel,
                  .x = x,
                  .n = x->n,
                  .d = x->d,
                  .width = mc_data_row_width(x),
                  .slots = kernel->slots,
                  .threads = mercer_threads(ctx)};
}

static int64_t tiles_scratch(int64_t steps, int64_t d) {
    return 3 * steps * TILE + 2 * d * SIDE;
}

static mercer_status add_chunks(mercer_ctx *ctx, plan *p, mc_body *body, double *gradient) {
    MC_TRY(mc_for(ctx, p->n, SIDE, body, p));
    for (int64_t c = 0; c < mc_chunk_count(p->n, SIDE); c++)
        for (int64_t k = 0; k < p->slots; k++)
            gradient[k] += p->part[c * p->slots + k];
    return MERCER_OK;
}

static mercer_status compute_gradient(mercer_ctx *ctx, plan *p, double *gradient) {
    const bool tiles = mc_contract_covers(p->kernel->root);
    if (tiles)
        MC_TRY(mc_contract_steps_open(ctx, p->kernel, p->d, &p->steps));
    p->scratch_size = tiles ? tiles_scratch(p->steps.count, p->d) : TILE + p->slots;
    MC_TRY(mc_work_lay(ctx, &p->work, lay_out_plan, p));
    for (int64_t i = 0; i < p->n; i++)
        mc_data_row(p->x, i, p->rows + i * p->width);
    if (tiles)
        MC_TRY(mc_contract_weights(ctx, &p->steps, p->n, p->d, p->rows, p->width));
    return add_chunks(ctx, p, tiles ? tile_row : contract_reference_row, gradient);
}

/* The steps and the weights of rows that they keep are counted by nodes. */
size_t mc_gram_contract_bytes(const mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x) {
    const int64_t nodes = mc_contract_count(kernel->root) + 2; /* a search may put an amplitude before it */
    plan p = plan_for(ctx, kernel, x);
    p.scratch_size = mc_max_count(tiles_scratch(nodes, x->d), TILE + kernel->slots + 1);
    return sizeof(plan) + mc_slices_bytes(lay_out_plan, &p) + (size_t)(nodes * (x->d + x->n)) * sizeof(double)
           + (size_t)(3 + 2 * nodes) * 2 * MC_ALIGN;
}

mercer_status mc_gram_contract(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                               mc_block_source *block, const void *self, double *gradient) {
    plan *p = NULL;
    MC_TRY(MC_ALLOC(ctx, p, 1));
    *p = plan_for(ctx, kernel, x);
    p->block = block;
    p->self = self;
    memset(gradient, 0, (size_t)kernel->slots * sizeof *gradient);
    const mercer_status status = compute_gradient(ctx, p, gradient);
    mc_contract_steps_close(&p->steps);
    mc_work_close(&p->work);
    mc_free(p);
    return status;
}
