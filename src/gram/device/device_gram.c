/* device_gram.c: points and vectors of a packed operator on a device, and its products.

   A block of threads takes some rows against a range of columns; ranges, of which there are enough to fill the device
   when rows are few, are added up in order by a second kernel. How the work is cut depends on the sizes alone, so that
   a product has the same bits every time. */
#include "gram/device/device_stream.h"
#include "gram/device/right_sides.h"
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
    RANGE_MOST = 1 << 16, /* a window that is streamed has the columns of one range at least, */
    WINDOW_ROWS = 256,    /* and so many rows: whole panels and tiles */
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
    bool matrix_units;              /* are there, for halves */
    bool halves;                    /* the points lie as halves in the order of the matrix units */
    bool multiplies;                /* the points lie row by row for a library of matrix products */
    bool wide_halves;               /* and that as halves */
    const mc_device_window *window; /* part of an operator that is streamed; NULL: it is all here */
    int64_t right_most;             /* right-hand sides that there is room for */
    bool counts;                    /* nothing is allocated nor done: bytes counts what would be */
    size_t bytes;
    bool streamed; /* it does not fit: nothing is here */
};

/* ---- Points ---- */

static mercer_status allocate_buffer(mercer_ctx *ctx, mc_device_gram *op, size_t bytes, mc_address *out) {
    op->bytes += bytes;
    *out = 0;
    if (op->counts)
        return MERCER_OK;
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
    return op->counts ? MERCER_OK : mc_device_upload(ctx, op->device, *out, from, bytes);
}

static size_t real_bytes(const mc_gram *g) {
    return g->precision == MERCER_F32 ? sizeof(float) : sizeof(double);
}

static size_t padded_bytes(const mc_gram *g, int64_t n) {
    return (size_t)(mc_chunk_count(n, g->ops->columns) * g->ops->columns) * real_bytes(g);
}

static mercer_status copy_side(mercer_ctx *ctx, mc_device_gram *op, const mc_tile_part *p, bool right,
                               mc_address *points, mc_address *half) {
    const mc_packed_points *pack = right ? &p->right : &p->left;
    const int64_t rows = right ? op->argument.m : op->argument.n;
    const size_t padded = padded_bytes(op->gram, rows);
    if (p->sparse) {
        MC_TRY(allocate_buffer(ctx, op, padded * (size_t)p->d, points));
        if (!op->counts)
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
        MC_TRY(copy_side(ctx, op, p, false, &a->x[i], &a->half_x[i]));
    }
    if (!p->shared)
        return copy_side(ctx, op, p, true, &a->z[i], &a->half_z[i]);
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
    return line->col == line->row && !op->window
               ? MERCER_OK
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
    const int64_t n = op->window ? op->window->n : a->n, m = op->window ? op->window->m : a->m;
    const int64_t blocks = mc_chunk_count(n, op->rows_each), wanted = mc_chunk_count(BLOCKS_WANTED, blocks);
    const int64_t each = mc_chunk_count(m, wanted), fair = each > RANGE_LEAST ? each : RANGE_LEAST;
    a->range = mc_chunk_count(fair < RANGE_MOST ? fair : RANGE_MOST, MC_DEVICE_TILE) * MC_DEVICE_TILE;
    a->ranges = mc_chunk_count(a->m, a->range);
}

void mc_device_gram_deepen(const mc_device_gram *op, int64_t *tile, int64_t *wide) {
    const int64_t sums = op->argument.m / MC_DEVICE_TILE + BLOCKS_WANTED + 32;
    *tile = *tile > MC_DEVICE_TILE ? *tile : MC_DEVICE_TILE;
    *wide = *wide > sums ? *wide : sums;
}

/* Sums of the rows of a window go on in those of its lead. */
static mercer_status take_sums(mercer_ctx *ctx, mc_device_gram *op) {
    mc_device_argument *a = &op->argument;
    size_t most = 0;
    if (op->window && op->left) {
        a->partial = op->left->argument.partial;
        a->y = op->left->argument.y;
        return MERCER_OK;
    }
    for (int64_t t = op->window ? op->right_most : 1; t <= op->right_most; t *= 2) {
        set_ranges(op, t);
        const size_t bytes = (size_t)(a->ranges * t * a->n) * sizeof(double);
        most = bytes > most ? bytes : most;
    }
    if (!op->multiplies)
        MC_TRY(allocate_buffer(ctx, op, most, &a->partial));
    return allocate_buffer(ctx, op, (size_t)(op->right_most * a->n) * sizeof(double), &a->y);
}

static mercer_status take_workspace(mercer_ctx *ctx, mc_device_gram *op) {
    MC_TRY(take_sums(ctx, op));
    return allocate_buffer(ctx, op, (size_t)(op->right_most * op->argument.m) * real_bytes(op->gram), &op->argument.w);
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
    return op->wide_halves                     ? MC_DEVICE_HALVES
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
    if (op->counts)
        return MERCER_OK;
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
    MC_TRY(mc_device_multiply(ctx, op->device, number_of(op), a.i1 - i0, a.j1 - j0, k, a.rows_left + (size_t)i0 * row,
                              k, a.rows_right + (size_t)j0 * row, k, a.dots, a.ld));
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
    if (op->counts)
        return MERCER_OK;
    MC_TRY(build_program(ctx, op, 1, &program));
    MC_TRY(op->left ? MERCER_OK : halve_side(ctx, op, program, false));
    return halve_side(ctx, op, program, true);
}

/* ---- Opening ---- */

static mercer_status copy_diagonal(mercer_ctx *ctx, mc_device_gram *op) {
    const mc_gram *g = op->gram;
    if (op->window && op->left)
        op->argument.diagonal = op->left->argument.diagonal;
    if (!g->symmetric || (op->window && op->left))
        return MERCER_OK;
    return copy_to_device(ctx, op, g->diagonal, (size_t)g->x->n * sizeof(double), &op->argument.diagonal);
}

static void choose_engine(mc_device_gram *op) {
    const mc_gram *g = op->gram;
    op->matrix_units = op->device->calls->has_matrix_units(op->device->self);
    op->halves = op->matrix_units && mc_device_halves(g);
    op->multiplies = !op->halves && mc_device_multiplies(g) && op->device->calls->can_multiply(op->device->self);
    op->wide_halves = op->multiplies && op->matrix_units && mc_device_multiplies_halves(g);
}

static mercer_status upload_operands(mercer_ctx *ctx, mc_device_gram *op) {
    const mc_gram *g = op->gram;
    choose_engine(op);
    for (int i = 0; i < g->plan.parts; i++)
        MC_TRY(copy_part(ctx, op, i));
    for (int i = 0; i < g->plan.lines; i++)
        MC_TRY(copy_line(ctx, op, i));
    MC_TRY(copy_diagonal(ctx, op));
    MC_TRY(op->halves ? halve_points(ctx, op) : MERCER_OK);
    MC_TRY(op->multiplies ? spread_rows(ctx, op) : MERCER_OK);
    return take_workspace(ctx, op);
}

static void release_buffers(mc_device_gram *op) {
    for (int i = 0; i < op->count; i++)
        mc_device_release(op->device, op->held[i].at, op->held[i].bytes);
    op->count = 0;
}

static void start_operator(mc_device_gram *op, const mc_gram *gram, mc_device *device, const mc_device_gram *left) {
    *op = (mc_device_gram){.gram = gram, .device = device, .left = left, .right_most = MC_DEVICE_RIGHT_MOST};
    op->argument.n = gram->x->n;
    op->argument.m = gram->z->n;
}

/* What does not fit is streamed, where a window of it fits: nothing of it is held. */
static mercer_status stream_instead(mercer_ctx *ctx, mc_device_gram *op) {
    release_buffers(op);
    op->streamed = true;
    return mc_device_stream_check(ctx, op);
}

mercer_status mc_device_gram_open(mercer_ctx *ctx, const mc_gram *gram, mc_device *device, const mc_device_gram *left,
                                  mc_device_gram **out) {
    mc_device_gram *op = mc_alloc(ctx, 1, sizeof *op);
    *out = NULL;
    if (!op)
        return MERCER_MEMORY;
    start_operator(op, gram, device, left && left->streamed ? NULL : left);
    mercer_status status = upload_operands(ctx, op);
    if (status == MERCER_MEMORY)
        status = stream_instead(ctx, op);
    if (status)
        mc_device_gram_close(op);
    else
        *out = op;
    return status;
}

/* ---- Windows ---- */

static void start_window(mc_device_gram *op, mc_device *device, const mc_device_window *w) {
    start_operator(op, w->part, device, w->lead);
    op->window = w;
    op->right_most = w->t;
    op->argument.ahead = w->j0 - w->i0;
}

mercer_status mc_device_window_open(mercer_ctx *ctx, mc_device *device, const mc_device_window *w,
                                    mc_device_gram **out) {
    mc_device_gram *op = mc_alloc(ctx, 1, sizeof *op);
    *out = NULL;
    if (!op)
        return MERCER_MEMORY;
    start_window(op, device, w);
    const mercer_status status = upload_operands(ctx, op);
    if (status)
        mc_device_gram_close(op);
    else
        *out = op;
    return status;
}

size_t mc_device_window_bytes(mercer_ctx *ctx, mc_device *device, const mc_device_window *w, bool follows) {
    mc_device_gram op, next;
    mc_device_window second = *w;
    second.lead = &op;
    start_window(&op, device, w);
    start_window(&next, device, &second);
    op.counts = next.counts = true;
    const bool counted = !upload_operands(ctx, &op) && !upload_operands(ctx, &next);
    return !counted ? SIZE_MAX : op.bytes + (follows ? next.bytes : 0);
}

/* So many at least, in whole panels. */
static int64_t whole_panels(const mc_device_gram *op, int64_t count) {
    int64_t all = count;
    while (all % op->gram->ops->columns)
        all += count;
    return all;
}

int64_t mc_device_window_columns(const mc_device_gram *op, int64_t t) {
    mc_device_gram copy = *op;
    set_ranges(&copy, t);
    return whole_panels(op, op->multiplies ? DOT_COLUMNS : copy.argument.range);
}

int64_t mc_device_window_rows(const mc_device_gram *op) {
    return whole_panels(op, op->multiplies ? DOT_ROWS : WINDOW_ROWS);
}

bool mc_device_gram_is_streamed(const mc_device_gram *op) {
    return op->streamed;
}

void mc_device_gram_close(mc_device_gram *op) {
    if (!op)
        return;
    release_buffers(op);
    mc_free(op);
}

bool mc_device_gram_leaves_it(mercer_ctx *ctx, const mc_device_gram *op, mercer_status status) {
    return mc_device_leaves_it(ctx, op->device, status);
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

mercer_status mc_device_window_multiply(mercer_ctx *ctx, mc_device_gram *op, const mc_right_sides *r, void *room) {
    const mc_device_argument *a = &op->argument;
    const int64_t j0 = op->window ? op->window->j0 : 0;
    op->argument.added = j0 > 0;
    MC_TRY(mc_right_sides_load(ctx, r, j0, a->m, room));
    MC_TRY(mc_device_upload(ctx, op->device, a->w, room, (size_t)(r->t * a->m) * real_bytes(op->gram)));
    return launch_product(ctx, op, r->t);
}

mercer_status mc_device_window_take(mercer_ctx *ctx, const mc_device_gram *op, const mc_right_sides *r, double *room,
                                    double *Y) {
    const mc_device_argument *a = &op->argument;
    MC_TRY(mc_device_download(ctx, op->device, room, a->y, (size_t)(r->t * a->n) * sizeof(double)));
    return mc_right_sides_unload(ctx, r, a->n, room, Y);
}

static mercer_status apply_some(mercer_ctx *ctx, mc_device_gram *op, mc_right_sides *r, double *room, double *Y) {
    MC_TRY(mc_right_sides_measure(ctx, op->argument.m, r));
    if (op->streamed)
        return mc_device_stream_apply(ctx, op, r, room, Y);
    MC_TRY(mc_device_window_multiply(ctx, op, r, room));
    return mc_device_window_take(ctx, op, r, room, Y);
}

mercer_status mc_device_gram_apply(mercer_ctx *ctx, mc_device_gram *op, int64_t t, const double *V, double *Y) {
    const mc_device_argument *a = &op->argument;
    const int64_t most = mc_right_sides_at_once(t), longer = a->n > a->m ? a->n : a->m;
    double *room = mc_alloc_unset(ctx, most * longer, sizeof *room);
    mercer_status status = room ? MERCER_OK : MERCER_MEMORY;
    for (int64_t c = 0, given; c < t && !status; c += given) {
        const int64_t padded = mc_right_sides_at_once(t - c);
        given = t - c < padded ? t - c : padded;
        mc_right_sides r = {.t = padded, .given = given, .ld = t, .V = V + c, .precision = op->gram->precision};
        status = apply_some(ctx, op, &r, room, Y + c);
        MC_THEN(status, mc_report_progress(ctx, (double)(c + given) / (double)t));
    }
    mc_free(room);
    return status;
}
