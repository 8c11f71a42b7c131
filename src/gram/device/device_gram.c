/* device_gram.c: products of a packed operator on a device.

   A block of threads takes some rows against a range of columns; ranges, of which there are enough to fill the device
   when rows are few, are added up in order by a second kernel. How the work is cut depends on the sizes alone, so that
   a product has the same bits every time. */
#include "gram/device/device_gram_state.h"
#include "gram/device/right_sides.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"

enum {
    BLOCKS_WANTED = 4096, /* of threads, so that the last ones to end leave little of a large device idle */
    RANGE_LEAST = 1024,   /* columns of a range, a whole number of tiles */
    RANGE_MOST = 1 << 16, /* a window that is streamed has the columns of one range at least, */
    WINDOW_ROWS = 256     /* and so many rows: whole panels and tiles */
};

/* ---- How the work is cut ---- */

static void set_ranges(mc_device_gram *op, int64_t t) {
    mc_device_argument *a = &op->argument;
    const int rows = mc_device_rows(op->gram, t);
    op->rows_each = op->fragments ? mc_device_row_tiles(op->gram, t) * MC_DEVICE_THREADS / 2
                    : rows        ? rows * MC_DEVICE_THREADS
                                  : MC_DEVICE_WIDE_ROWS;
    op->threads = op->fragments || rows ? MC_DEVICE_THREADS : MC_DEVICE_WIDE_THREADS;
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
        MC_TRY(mc_device_allocate_buffer(ctx, op, most, &a->partial));
    return mc_device_allocate_buffer(ctx, op, (size_t)(op->right_most * a->n) * sizeof(double), &a->y);
}

static mercer_status take_workspace(mercer_ctx *ctx, mc_device_gram *op) {
    MC_TRY(take_sums(ctx, op));
    return mc_device_allocate_buffer(
        ctx, op, (size_t)(op->right_most * op->argument.m) * mc_device_number_bytes(op->gram), &op->argument.w);
}

static mc_device_number number_of(const mc_device_gram *op) {
    return op->wide_halves                     ? MC_DEVICE_HALVES
           : op->gram->precision == MERCER_F32 ? MC_DEVICE_FLOATS
                                               : MC_DEVICE_DOUBLES;
}

static mercer_status multiply_block(mercer_ctx *ctx, mc_device_gram *op, void *program, int64_t i0, int64_t j0) {
    mc_device_argument a = op->argument;
    const int64_t k = mc_device_row_length(op->gram, op->wide_halves);
    const size_t row = mc_device_row_bytes(op);
    a.i0 = i0, a.i1 = mc_min_count(i0 + MC_DEVICE_DOT_ROWS, a.n);
    a.j0 = j0, a.j1 = mc_min_count(j0 + MC_DEVICE_DOT_COLUMNS, a.m);
    MC_TRY(mc_device_multiply(ctx, op->device, number_of(op), a.i1 - i0, a.j1 - j0, k, a.rows_left + (size_t)i0 * row,
                              k, a.rows_right + (size_t)j0 * row, k, a.dots, a.ld));
    const mc_launch shape = {.grid = {mc_chunk_count(a.i1 - i0, 8), 1}, .threads = 256};
    return mc_device_launch(ctx, op->device, program, "product_of_dots", &shape, &a, sizeof a);
}

static mercer_status multiply_blocks(mercer_ctx *ctx, mc_device_gram *op, void *program) {
    const mc_device_argument *a = &op->argument;
    for (int64_t i = 0; i < a->n; i += MC_DEVICE_DOT_ROWS)
        for (int64_t j = 0; j < a->m; j += MC_DEVICE_DOT_COLUMNS)
            MC_TRY(multiply_block(ctx, op, program, i, j));
    return MERCER_OK;
}

static mercer_status upload_operands(mercer_ctx *ctx, mc_device_gram *op) {
    MC_TRY(mc_device_place_points(ctx, op));
    return take_workspace(ctx, op);
}

static void start_operator(mc_device_gram *op, const mc_gram *gram, mc_device *device, const mc_device_gram *left) {
    *op = (mc_device_gram){.gram = gram, .device = device, .left = left, .right_most = MC_DEVICE_RIGHT_MOST};
    op->argument.n = gram->x->n;
    op->argument.m = gram->z->n;
}

/* What does not fit is streamed, where a window of it fits: nothing of it is held. */
static mercer_status stream_instead(mercer_ctx *ctx, mc_device_gram *op) {
    mc_device_release_buffers(op);
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
    return whole_panels(op, op->multiplies ? MC_DEVICE_DOT_COLUMNS : copy.argument.range);
}

int64_t mc_device_window_rows(const mc_device_gram *op) {
    return whole_panels(op, op->multiplies ? MC_DEVICE_DOT_ROWS : WINDOW_ROWS);
}

bool mc_device_gram_is_streamed(const mc_device_gram *op) {
    return op->streamed;
}

void mc_device_gram_close(mc_device_gram *op) {
    if (!op)
        return;
    mc_device_release_buffers(op);
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
    MC_TRY(mc_device_build_width(ctx, op, t, &program));
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
    MC_TRY(mc_device_upload(ctx, op->device, a->w, room, (size_t)(r->t * a->m) * mc_device_number_bytes(op->gram)));
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
