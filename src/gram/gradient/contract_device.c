/* contract_device.c: see contract_device.h. */
#include "gram/gradient/contract_device.h"
#include "backend/device.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/gradient/contract_source.h"
#include "linalg/triangle.h"
#include <string.h>

enum {
    ROWS = 128,   /* of a block of threads: contract_kernel.cu */
    RANGE = 1024, /* columns of one, a whole number of tiles */
    COLUMNS_MOST = 64,
    SLOTS_MOST = 96, /* sums that a thread keeps */
    REGIONS = 3
};

/* The argument of the kernel; contract.cu declares the same. */
typedef struct contract_argument {
    mc_address x, A, left, right, numbers, weights, partial;
    int64_t n, ld, i0, i1, j0, j1, half, terms, range, first;
    double factor;
} contract_argument;

typedef struct contraction {
    mc_device *device;
    const mercer_data *x;
    const mc_contract_matrix *M;
    mc_contract_steps steps;
    contract_argument a;
    mc_dense held[8];
    int count;
    double *room; /* n x the widest of what is copied */
    void *program;
} contraction;

bool mc_device_contracts(const mercer_kernel *kernel, const mercer_data *x) {
    return mc_contract_covers(kernel->root) && mc_contract_has_source(kernel->root) && !x->texts && x->d >= 1
           && x->d <= COLUMNS_MOST && kernel->slots >= 1 && kernel->slots <= SLOTS_MOST;
}

/* ---- What lies there ---- */

static mercer_status allocate_dense(mercer_ctx *ctx, contraction *c, int64_t rows, int64_t columns, mc_dense *out) {
    MC_TRY(mc_dense_allocate(ctx, c->device, MC_COLUMN_MAJOR, MERCER_F64, rows, columns, out));
    c->held[c->count++] = *out;
    return MERCER_OK;
}

static mercer_status copy_columns(mercer_ctx *ctx, contraction *c, const double *from, int64_t rows, int64_t columns,
                                  mc_address *out) {
    mc_dense there;
    *out = 0;
    if (rows * columns == 0)
        return MERCER_OK;
    MC_TRY(allocate_dense(ctx, c, rows, columns, &there));
    *out = (mc_address)(uintptr_t)there.a;
    return mc_dense_copy(ctx, mc_column_major(from, rows, columns, rows), there);
}

/* n x columns by rows, to columns. */
static mercer_status copy_rows(mercer_ctx *ctx, contraction *c, const double *from, int64_t columns, mc_address *out) {
    const int64_t n = c->x->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < columns; k++)
            c->room[k * n + i] = from[i * columns + k];
    return copy_columns(ctx, c, c->room, n, columns, out);
}

static mercer_status copy_weights(mercer_ctx *ctx, contraction *c, const double *rows, int64_t width) {
    const int64_t n = c->x->n;
    MC_TRY(mc_contract_weights(ctx, &c->steps, n, c->x->d, rows, width));
    double *all = NULL;
    bool any = false;
    MC_TRY(MC_ALLOC(ctx, all, n * c->steps.count));
    for (int k = 0; k < c->steps.count; k++)
        if (c->steps.step[k].weight) {
            any = true;
            memcpy(all + k * n, c->steps.step[k].weight, (size_t)n * sizeof *all);
        }
    const mercer_status status = any ? copy_columns(ctx, c, all, n, c->steps.count, &c->a.weights) : MERCER_OK;
    mc_free(all);
    return status;
}

static mercer_status copy_points(mercer_ctx *ctx, contraction *c) {
    const int64_t n = c->x->n, width = mc_data_row_width(c->x);
    double *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, n * width));
    for (int64_t i = 0; i < n; i++)
        mc_data_row(c->x, i, rows + i * width);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < c->x->d; k++)
            c->room[k * n + i] = rows[i * width + k];
    mercer_status status = copy_columns(ctx, c, c->room, n, c->x->d, &c->a.x);
    MC_THEN(status, copy_weights(ctx, c, rows, width));
    mc_free(rows);
    return status;
}

/* The program, and its numbers. */
static mercer_status build_program(mercer_ctx *ctx, contraction *c) {
    double *numbers = NULL;
    char *source = NULL;
    const int64_t count = mc_contract_numbers(&c->steps);
    MC_TRY(MC_ALLOC(ctx, numbers, count));
    mercer_status status = mc_contract_source(ctx, &c->steps, c->x->d, numbers, &source);
    MC_THEN(status, copy_columns(ctx, c, numbers, count, 1, &c->a.numbers));
    MC_THEN(status, mc_device_build(ctx, c->device, source, &c->program));
    mc_free(source);
    mc_free(numbers);
    return status;
}

/* ---- The sums ---- */

typedef struct contract_region {
    int64_t i, j, rows, columns, half;
    mc_dense A;
} contract_region;

/* Of a packed A as its halves lie, a half by rows as the upper one by columns; without A all below the diagonal. */
static int list_regions(const contraction *c, contract_region out[REGIONS]) {
    const int64_t n = c->x->n;
    out[0] = (contract_region){0, 0, n, n, 1, c->M->A};
    if (!c->M->A.a)
        return 1;
    const mc_halves h = mc_triangle_split(c->M->A);
    const int64_t n1 = h.first.rows, n2 = h.second.rows;
    out[0] = (contract_region){0, 0, n1, n1, 1, h.first};
    out[1] = (contract_region){n1, 0, n2, n1, 0, h.below};
    out[2] = (contract_region){n1, n1, n2, n2, -1, h.second};
    return n2 ? 3 : 1;
}

static int64_t blocks_of(const contract_region *r) {
    return mc_chunk_count(r->rows, ROWS) * mc_chunk_count(r->columns, RANGE);
}

static mercer_status launch_region(mercer_ctx *ctx, contraction *c, const contract_region *r, int64_t first) {
    contract_argument a = c->a;
    a.i0 = r->i, a.i1 = r->i + r->rows;
    a.j0 = r->j, a.j1 = r->j + r->columns;
    a.half = r->half;
    a.A = (mc_address)(uintptr_t)r->A.a;
    a.ld = r->A.ld;
    a.first = first;
    const mc_launch shape = {.grid = {mc_chunk_count(r->rows, ROWS), mc_chunk_count(r->columns, RANGE)},
                             .threads = ROWS};
    return mc_device_launch(ctx, c->device, c->program, "contract", &shape, &a, sizeof a);
}

static mercer_status add_up(mercer_ctx *ctx, mc_dense partial, double *gradient) {
    const int64_t slots = partial.rows, blocks = partial.columns;
    double *sums = NULL;
    MC_TRY(MC_ALLOC(ctx, sums, slots * blocks));
    const mercer_status status = mc_dense_copy(ctx, partial, mc_column_major(sums, slots, blocks, slots));
    for (int64_t i = 0; i < slots * blocks && !status; i++)
        gradient[i % slots] += sums[i];
    mc_free(sums);
    return status;
}

static mercer_status contract_regions(mercer_ctx *ctx, contraction *c, double *gradient) {
    contract_region regions[REGIONS];
    const int count = list_regions(c, regions);
    int64_t blocks = 0, first = 0;
    mc_dense partial;
    for (int i = 0; i < count; i++)
        blocks += blocks_of(&regions[i]);
    MC_TRY(allocate_dense(ctx, c, c->steps.kernel->slots, blocks, &partial));
    c->a.partial = (mc_address)(uintptr_t)partial.a;
    for (int i = 0; i < count; first += blocks_of(&regions[i++]))
        MC_TRY(launch_region(ctx, c, &regions[i], first));
    return add_up(ctx, partial, gradient);
}

static mercer_status contract_on_device(mercer_ctx *ctx, contraction *c, const mercer_kernel *kernel,
                                        double *gradient) {
    const int64_t n = c->x->n, terms = c->M->terms, widest = c->x->d > terms ? c->x->d : terms;
    MC_TRY(MC_ALLOC(ctx, c->room, n * widest));
    MC_TRY(mc_contract_steps_open(ctx, kernel, c->x->d, &c->steps));
    c->a = (contract_argument){.n = n, .range = RANGE, .terms = terms, .factor = c->M->factor};
    MC_TRY(copy_points(ctx, c));
    MC_TRY(copy_rows(ctx, c, c->M->left, terms, &c->a.left));
    MC_TRY(copy_rows(ctx, c, c->M->right, terms, &c->a.right));
    MC_TRY(build_program(ctx, c));
    return contract_regions(ctx, c, gradient);
}

mercer_status mc_device_contract(mercer_ctx *ctx, mc_device *device, const mercer_kernel *kernel, const mercer_data *x,
                                 const mc_contract_matrix *M, double *gradient) {
    contraction *c = NULL;
    MC_TRY(MC_ALLOC(ctx, c, 1));
    *c = (contraction){.device = device, .x = x, .M = M};
    memset(gradient, 0, (size_t)kernel->slots * sizeof *gradient);
    const mercer_status status = contract_on_device(ctx, c, kernel, gradient);
    for (int i = 0; i < c->count; i++)
        mc_dense_free(&c->held[i]);
    mc_contract_steps_close(&c->steps);
    mc_free(c->room);
    mc_free(c);
    return status;
}
