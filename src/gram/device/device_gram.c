/* device_gram.c: points and vectors of a packed operator on a device, and its products.

   A block of threads takes some rows against a range of columns; ranges, of which there are enough to fill the device
   when rows are few, are added up in order by a second kernel. How the work is cut depends on the sizes alone, so that
   a product has the same bits every time. */
#include "gram/device/device_gram.h"
#include "gram/device/spread_points.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include <math.h>
#include <string.h>

enum {
    BLOCKS_WANTED = 4096, /* of threads, so that the last ones to end leave little of a large device idle */
    RANGE_LEAST = 1024,   /* columns of a range, a whole number of tiles */
    WIDTHS = 4            /* programs: 1, 2, 4, 8 right-hand sides at a time */
};

typedef struct held {
    mc_address at;
    size_t bytes;
} held;

enum { HELD_MOST = 4 * MC_DEVICE_PARTS + 2 * MC_DEVICE_LINES + 8 };

struct mc_device_gram {
    const mc_gram *gram;
    const mc_device_gram *left; /* whose left side serves here too; NULL: its own */
    mc_device *device;
    void *program[WIDTHS];
    mc_device_argument argument;
    held held[HELD_MOST];
    int count;
    int64_t rows_each; /* of a block of threads */
    int threads;
    bool matrix_units; /* are there, for halves */
    bool halves;       /* the points lie as halves in the order of the matrix units */
    bool multiplies;   /* the points lie row by row for a library of matrix products */
    bool wide_halves;  /* and that as halves */
};

/* ---- Points ---- */

static mercer_status allocate_buffer(mercer_ctx *ctx, mc_device_gram *op, size_t bytes, mc_address *out) {
    MC_TRY(mc_device_allocate(ctx, op->device, bytes, out));
    op->held[op->count++] = (held){*out, bytes};
    return MERCER_OK;
}

static mercer_status copy_to_device(mercer_ctx *ctx, mc_device_gram *op, const void *from, size_t bytes,
                                    mc_address *out) {
    *out = 0;
    if (!from)
        return MERCER_OK;
    MC_TRY(allocate_buffer(ctx, op, bytes, out));
    return mc_device_upload(ctx, op->device, *out, from, bytes);
}

static size_t real_bytes(const mc_gram *g) {
    return g->precision == MERCER_F32 ? sizeof(float) : sizeof(double);
}

static size_t padded_bytes(const mc_gram *g, int64_t n) {
    return (size_t)(mc_chunk_count(n, g->ops->columns) * g->ops->columns) * real_bytes(g);
}

static mercer_status copy_side(mercer_ctx *ctx, mc_device_gram *op, const mc_tile_part *p, const mc_packed_points *pack,
                               mc_address *points, mc_address *half) {
    const size_t padded = padded_bytes(op->gram, pack->n);
    if (p->sparse) {
        MC_TRY(allocate_buffer(ctx, op, padded * (size_t)p->d, points));
        MC_TRY(mc_device_spread_points(ctx, op->device, op->gram, p, pack, *points));
    } else {
        MC_TRY(copy_to_device(ctx, op, pack->values, padded * (size_t)p->d, points));
    }
    return copy_to_device(ctx, op, pack->half, padded, half);
}

static mercer_status copy_part(mercer_ctx *ctx, mc_device_gram *op, int i) {
    mc_device_argument *a = &op->argument;
    const mc_tile_part *p = &op->gram->plan.part[i];
    if (op->left) {
        a->x[i] = op->left->argument.x[i];
        a->half_x[i] = op->left->argument.half_x[i];
    } else {
        MC_TRY(copy_side(ctx, op, p, &p->left, &a->x[i], &a->half_x[i]));
    }
    if (!p->shared)
        return copy_side(ctx, op, p, &p->right, &a->z[i], &a->half_z[i]);
    a->z[i] = a->x[i];
    a->half_z[i] = a->half_x[i];
    return MERCER_OK;
}

static mercer_status copy_line(mercer_ctx *ctx, mc_device_gram *op, int i) {
    mc_device_argument *a = &op->argument;
    const mc_gram *g = op->gram;
    const mc_tile_line *line = &g->plan.line[i];
    a->alpha[i] = line->step.alpha;
    a->coefficient[i] = line->step.coefficient;
    a->p[i] = line->step.p;
    if (op->left)
        a->row[i] = op->left->argument.row[i];
    else
        MC_TRY(copy_to_device(ctx, op, line->row, padded_bytes(g, g->x->n), &a->row[i]));
    a->column[i] = a->row[i];
    return line->col == line->row ? MERCER_OK
                                  : copy_to_device(ctx, op, line->col, padded_bytes(g, g->z->n), &a->column[i]);
}

/* ---- How the work is cut ---- */

static void set_ranges(mc_device_gram *op, int64_t t) {
    mc_device_argument *a = &op->argument;
    const int rows = mc_device_rows(op->gram, t);
    op->rows_each = op->halves ? mc_device_row_tiles(op->gram, t) * MC_DEVICE_THREADS / 2
                    : rows     ? rows * MC_DEVICE_THREADS
                               : MC_DEVICE_WIDE_ROWS;
    op->threads = op->halves || rows ? MC_DEVICE_THREADS : MC_DEVICE_WIDE_THREADS;
    const int64_t blocks = mc_chunk_count(a->n, op->rows_each), wanted = mc_chunk_count(BLOCKS_WANTED, blocks);
    const int64_t each = mc_chunk_count(a->m, wanted);
    a->range = mc_chunk_count(each > RANGE_LEAST ? each : RANGE_LEAST, MC_DEVICE_TILE) * MC_DEVICE_TILE;
    a->ranges = mc_chunk_count(a->m, a->range);
}

void mc_device_gram_deepen(const mc_device_gram *op, int64_t *tile, int64_t *wide) {
    const int64_t sums = op->argument.m / MC_DEVICE_TILE + BLOCKS_WANTED + 32;
    *tile = *tile > MC_DEVICE_TILE ? *tile : MC_DEVICE_TILE;
    *wide = *wide > sums ? *wide : sums;
}

static mercer_status take_workspace(mercer_ctx *ctx, mc_device_gram *op) {
    mc_device_argument *a = &op->argument;
    size_t most = 0;
    for (int64_t t = 1; t <= MC_DEVICE_RIGHT_MOST; t *= 2) {
        set_ranges(op, t);
        const size_t bytes = (size_t)(a->ranges * t * a->n) * sizeof(double);
        most = bytes > most ? bytes : most;
    }
    if (!op->multiplies)
        MC_TRY(allocate_buffer(ctx, op, most, &a->partial));
    MC_TRY(allocate_buffer(ctx, op, (size_t)(MC_DEVICE_RIGHT_MOST * a->n) * sizeof(double), &a->y));
    return allocate_buffer(ctx, op, (size_t)(MC_DEVICE_RIGHT_MOST * a->m) * real_bytes(op->gram), &a->w);
}

/* ---- Programs ---- */

static mercer_status build_program(mercer_ctx *ctx, mc_device_gram *op, int64_t t, void **program) {
    const int at = t == 1 ? 0 : t == 2 ? 1 : t == 4 ? 2 : 3;
    char *source = NULL;
    if (!op->program[at]) {
        MC_TRY(mc_device_source(ctx, op->gram, t, op->matrix_units, &source));
        const mercer_status status = mc_device_build(ctx, op->device, source, &op->program[at]);
        mc_free(source);
        MC_TRY(status);
    }
    *program = op->program[at];
    return MERCER_OK;
}

/* ---- Numbers of the matrix units ---- */

/* A power of two that brings the longest row of either side near 2^13. */
static double scale_of_halves(const mc_tile_part *p) {
    const double longest = sqrt(fmax(p->left.norm2_max, p->right.norm2_max));
    return longest > 0 ? exp2(fmin(13 - ilogb(longest), 100)) : 1;
}

static void set_scale_of_halves(mc_device_gram *op) {
    mc_device_argument *a = &op->argument;
    a->half_scale = op->left ? op->left->argument.half_scale : scale_of_halves(&op->gram->plan.part[0]);
    a->half_unscale = 1 / (a->half_scale * a->half_scale);
}

static mc_device_number number_of(const mc_device_gram *op) {
    return op->wide_halves                       ? MC_DEVICE_HALVES
           : op->gram->precision == MERCER_F32 ? MC_DEVICE_FLOATS
                                               : MC_DEVICE_DOUBLES;
}

static size_t row_bytes(const mc_device_gram *op) {
    const size_t number = op->wide_halves ? 2 : real_bytes(op->gram);
    return (size_t)mc_device_row_length(op->gram, op->wide_halves) * number;
}

/* ---- Rows for a library ---- */

/* Blocks of dot products that stay in the second cache of a large card. */
enum { DOT_ROWS = 4096, DOT_COLUMNS = 4096 };

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static mercer_status spread_side(mercer_ctx *ctx, mc_device_gram *op, void *program, bool right) {
    mc_device_argument a = op->argument;
    a.right = right;
    const int64_t numbers = (right ? a.m : a.n) * mc_device_row_length(op->gram, op->wide_halves);
    const mc_launch shape = {.grid = {mc_chunk_count(numbers, 256), 1}, .threads = 256};
    return mc_device_launch(ctx, op->device, program, "spread", &shape, &a, sizeof a);
}

static mercer_status spread_rows(mercer_ctx *ctx, mc_device_gram *op) {
    mc_device_argument *a = &op->argument;
    const size_t row = row_bytes(op);
    const int64_t rows = least_of(a->n, DOT_ROWS);
    void *program = NULL;
    a->ld = (least_of(a->m, DOT_COLUMNS) + 3) / 4 * 4;
    if (op->wide_halves)
        set_scale_of_halves(op);
    if (op->left)
        a->rows_left = op->left->argument.rows_left;
    else
        MC_TRY(allocate_buffer(ctx, op, (size_t)a->n * row, &a->rows_left));
    MC_TRY(allocate_buffer(ctx, op, (size_t)a->m * row, &a->rows_right));
    MC_TRY(allocate_buffer(ctx, op, (size_t)(rows * a->ld) * real_bytes(op->gram), &a->dots));
    MC_TRY(build_program(ctx, op, 1, &program));
    MC_TRY(op->left ? MERCER_OK : spread_side(ctx, op, program, false));
    return spread_side(ctx, op, program, true);
}

static mercer_status multiply_block(mercer_ctx *ctx, mc_device_gram *op, void *program, int64_t i0, int64_t j0) {
    mc_device_argument a = op->argument;
    const int64_t k = mc_device_row_length(op->gram, op->wide_halves);
    const size_t row = row_bytes(op);
    a.i0 = i0, a.i1 = least_of(i0 + DOT_ROWS, a.n);
    a.j0 = j0, a.j1 = least_of(j0 + DOT_COLUMNS, a.m);
    MC_TRY(mc_device_multiply(ctx, op->device, number_of(op), a.i1 - i0, a.j1 - j0, k,
                              a.rows_left + (size_t)i0 * row, k, a.rows_right + (size_t)j0 * row, k, a.dots, a.ld));
    const mc_launch shape = {.grid = {mc_chunk_count(a.i1 - i0, 8), 1}, .threads = 256};
    return mc_device_launch(ctx, op->device, program, "product_of_dots", &shape, &a, sizeof a);
}

static mercer_status multiply_blocks(mercer_ctx *ctx, mc_device_gram *op, void *program) {
    const mc_device_argument *a = &op->argument;
    for (int64_t i = 0; i < a->n; i += DOT_ROWS)
        for (int64_t j = 0; j < a->m; j += DOT_COLUMNS)
            MC_TRY(multiply_block(ctx, op, program, i, j));
    return MERCER_OK;
}

/* ---- Halves ---- */

static mercer_status halve_side(mercer_ctx *ctx, mc_device_gram *op, void *program, bool right) {
    mc_device_argument a = op->argument;
    a.right = right;
    const int64_t words = mc_device_half_words(op->gram, right ? a.m : a.n, right);
    const mc_launch shape = {.grid = {mc_chunk_count(words, 256), 1}, .threads = 256};
    return mc_device_launch(ctx, op->device, program, "halve", &shape, &a, sizeof a);
}

static mercer_status halve_points(mercer_ctx *ctx, mc_device_gram *op) {
    mc_device_argument *a = &op->argument;
    void *program = NULL;
    set_scale_of_halves(op);
    if (op->left)
        a->rows_left = op->left->argument.rows_left;
    else
        MC_TRY(allocate_buffer(ctx, op, (size_t)mc_device_half_words(op->gram, a->n, false) * 4, &a->rows_left));
    MC_TRY(allocate_buffer(ctx, op, (size_t)mc_device_half_words(op->gram, a->m, true) * 4, &a->rows_right));
    MC_TRY(build_program(ctx, op, 1, &program));
    MC_TRY(op->left ? MERCER_OK : halve_side(ctx, op, program, false));
    return halve_side(ctx, op, program, true);
}

/* ---- Opening ---- */

static mercer_status upload_operands(mercer_ctx *ctx, mc_device_gram *op) {
    const mc_gram *g = op->gram;
    for (int i = 0; i < g->plan.parts; i++)
        MC_TRY(copy_part(ctx, op, i));
    for (int i = 0; i < g->plan.lines; i++)
        MC_TRY(copy_line(ctx, op, i));
    if (g->symmetric)
        MC_TRY(copy_to_device(ctx, op, g->diagonal, (size_t)g->x->n * sizeof(double), &op->argument.diagonal));
    op->matrix_units = op->device->calls->has_matrix_units(op->device->self);
    op->halves = op->matrix_units && mc_device_halves(g);
    op->multiplies = !op->halves && mc_device_multiplies(g) && op->device->calls->can_multiply(op->device->self);
    op->wide_halves = op->multiplies && op->matrix_units && mc_device_multiplies_halves(g);
    MC_TRY(op->halves ? halve_points(ctx, op) : MERCER_OK);
    MC_TRY(op->multiplies ? spread_rows(ctx, op) : MERCER_OK);
    return take_workspace(ctx, op);
}

mercer_status mc_device_gram_open(mercer_ctx *ctx, const mc_gram *gram, mc_device *device, const mc_device_gram *left,
                                  mc_device_gram **out) {
    mc_device_gram *op = mc_alloc(ctx, 1, sizeof *op);
    *out = NULL;
    if (!op)
        return MERCER_MEMORY;
    op->gram = gram;
    op->device = device;
    op->left = left;
    op->argument.n = gram->x->n;
    op->argument.m = gram->z->n;
    const mercer_status status = upload_operands(ctx, op);
    if (status)
        mc_device_gram_close(op);
    else
        *out = op;
    return status;
}

void mc_device_gram_close(mc_device_gram *op) {
    if (!op)
        return;
    for (int i = 0; i < op->count; i++)
        mc_device_release(op->device, op->held[i].at, op->held[i].bytes);
    mc_free(op);
}

bool mc_device_gram_do_without(mercer_ctx *ctx, const mc_device_gram *op) {
    return mc_device_do_without(ctx, op->device);
}

const mc_gram *mc_device_gram_of(const mc_device_gram *op) {
    return op->gram;
}

mc_device *mc_device_gram_device(const mc_device_gram *op) {
    return op->device;
}

const mc_device_argument *mc_device_gram_argument(const mc_device_gram *op) {
    return &op->argument;
}

/* ---- Products ---- */

/* A power of two that brings the column near 1; 1 for zeros and for what is not finite. */
static double scale_of(int64_t m, const double *v, int64_t ld) {
    double largest = 0;
    for (int64_t j = 0; j < m; j++)
        largest = fmax(largest, fabs(v[j * ld]));
    return largest > 0 && isfinite(largest) ? exp2(-fmin(fmax(ilogb(largest), -1000), 1000)) : 1;
}

/* Column c of the right-hand sides, scaled, in the tiles' precision; past the last one zeros. */
static double load_right(const mc_device_gram *op, const double *v, int64_t ld, char *w) {
    const int64_t m = op->argument.m;
    const double scale = v ? scale_of(m, v, ld) : 1;
    for (int64_t j = 0; j < m; j++)
        if (op->gram->precision == MERCER_F32)
            ((float *)(void *)w)[j] = v ? (float)(v[j * ld] * scale) : 0;
        else
            ((double *)(void *)w)[j] = v ? v[j * ld] * scale : 0;
    return 1 / scale;
}

static mercer_status launch_product(mercer_ctx *ctx, mc_device_gram *op, int64_t t) {
    void *program = NULL;
    MC_TRY(build_program(ctx, op, t, &program));
    if (op->multiplies)
        return multiply_blocks(ctx, op, program);
    set_ranges(op, t);
    const mc_device_argument *a = &op->argument;
    const mc_launch product = {.grid = {mc_chunk_count(a->n, op->rows_each), a->ranges}, .threads = op->threads};
    const mc_launch gather = {.grid = {mc_chunk_count(a->n * t, 256), 1}, .threads = 256};
    MC_TRY(mc_device_launch(ctx, op->device, program, "product", &product, a, sizeof *a));
    return mc_device_launch(ctx, op->device, program, "gather", &gather, a, sizeof *a);
}

/* Up to MC_DEVICE_RIGHT_MOST columns, `given` of them the caller's. buffer holds as many of either side. */
static mercer_status apply_some(mercer_ctx *ctx, mc_device_gram *op, int64_t t, int64_t given, int64_t ld,
                                const double *V, double *Y, double *buffer) {
    const mc_device_argument *a = &op->argument;
    const size_t real = real_bytes(op->gram);
    double unscale[MC_DEVICE_RIGHT_MOST];
    for (int64_t c = 0; c < t; c++)
        unscale[c] = load_right(op, c < given ? V + c : NULL, ld, (char *)buffer + (size_t)(c * a->m) * real);
    MC_TRY(mc_device_upload(ctx, op->device, a->w, buffer, (size_t)(t * a->m) * real));
    MC_TRY(launch_product(ctx, op, t));
    MC_TRY(mc_device_download(ctx, op->device, buffer, a->y, (size_t)(t * a->n) * sizeof(double)));
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t c = 0; c < given; c++)
            Y[i * ld + c] = buffer[c * a->n + i] * unscale[c];
    return MERCER_OK;
}

mercer_status mc_device_gram_apply(mercer_ctx *ctx, mc_device_gram *op, int64_t t, const double *V, double *Y) {
    const mc_device_argument *a = &op->argument;
    const int64_t most = t < MC_DEVICE_RIGHT_MOST ? t : MC_DEVICE_RIGHT_MOST, longer = a->n > a->m ? a->n : a->m;
    double *buffer = NULL;
    MC_TRY(MC_ALLOC(ctx, buffer, 2 * most * longer));
    mercer_status status = MERCER_OK;
    for (int64_t c = 0; c < t && !status; c += most) {
        const int64_t given = t - c < most ? t - c : most, padded = given > 4 ? 8 : given > 2 ? 4 : given;
        status = apply_some(ctx, op, padded, given, t, V + c, Y + c, buffer);
        MC_THEN(status, mc_report_progress(ctx, (double)(c + given) / (double)t));
    }
    mc_free(buffer);
    return status;
}
