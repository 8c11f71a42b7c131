/* device_points.c: what products read, on a device: the points of an operator as its program wants them. In panels as
   packed, in the order of the matrix units, or row by row for a library of matrix products. */
#include "gram/device/device_gram_state.h"
#include "gram/device/spread_points.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include <math.h>

/* ---- Points ---- */

mercer_status mc_device_allocate_buffer(mercer_ctx *ctx, mc_device_gram *op, size_t bytes, mc_address *out) {
    op->bytes += bytes;
    *out = 0;
    if (op->counts)
        return MERCER_OK;
    MC_TRY(mc_device_allocate(ctx, op->device, bytes, out));
    op->held[op->count++] = (mc_device_buffer){*out, bytes};
    return MERCER_OK;
}

static mercer_status copy_to_device(mercer_ctx *ctx, mc_device_gram *op, const void *from, size_t bytes,
                                    mc_address *out) {
    *out = 0;
    if (!from)
        return MERCER_OK;
    MC_TRY(mc_device_allocate_buffer(ctx, op, bytes, out));
    return op->counts ? MERCER_OK : mc_device_upload(ctx, op->device, *out, from, bytes);
}

static size_t padded_bytes(const mc_gram *g, int64_t n) {
    return (size_t)(mc_chunk_count(n, g->ops->columns) * g->ops->columns) * mc_device_number_bytes(g);
}

static mercer_status copy_side(mercer_ctx *ctx, mc_device_gram *op, const mc_tile_part *p, bool right,
                               mc_address *points, mc_address *half) {
    const mc_packed_points *pack = right ? &p->right : &p->left;
    const int64_t rows = right ? op->argument.m : op->argument.n;
    const size_t padded = padded_bytes(op->gram, rows);
    if (p->sparse) {
        MC_TRY(mc_device_allocate_buffer(ctx, op, padded * (size_t)p->d, points));
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

/* ---- Programs ---- */

mercer_status mc_device_build_width(mercer_ctx *ctx, mc_device_gram *op, int64_t t, void **program) {
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

/* ---- Rows for a library ---- */

static mercer_status spread_side(mercer_ctx *ctx, mc_device_gram *op, void *program, bool right) {
    mc_device_argument a = op->argument;
    a.right = right;
    const int64_t numbers = (right ? a.m : a.n) * mc_device_row_length(op->gram, op->wide_halves);
    const mc_launch shape = {.grid = {mc_chunk_count(numbers, 256), 1}, .threads = 256};
    return mc_device_launch(ctx, op->device, program, "spread", &shape, &a, sizeof a);
}

static mercer_status spread_rows(mercer_ctx *ctx, mc_device_gram *op) {
    mc_device_argument *a = &op->argument;
    const size_t row = mc_device_row_bytes(op);
    const int64_t rows = mc_min_count(a->n, MC_DEVICE_DOT_ROWS);
    void *program = NULL;
    a->ld = (mc_min_count(a->m, MC_DEVICE_DOT_COLUMNS) + 3) / 4 * 4;
    if (op->wide_halves)
        set_scale_of_halves(op);
    if (op->left)
        a->rows_left = op->left->argument.rows_left;
    else
        MC_TRY(mc_device_allocate_buffer(ctx, op, (size_t)a->n * row, &a->rows_left));
    MC_TRY(mc_device_allocate_buffer(ctx, op, (size_t)a->m * row, &a->rows_right));
    MC_TRY(mc_device_allocate_buffer(ctx, op, (size_t)(rows * a->ld) * mc_device_number_bytes(op->gram), &a->dots));
    if (op->counts)
        return MERCER_OK;
    MC_TRY(mc_device_build_width(ctx, op, 1, &program));
    MC_TRY(op->left ? MERCER_OK : spread_side(ctx, op, program, false));
    return spread_side(ctx, op, program, true);
}

/* ---- Fragments ---- */

static mercer_status lay_side(mercer_ctx *ctx, mc_device_gram *op, void *program, bool right) {
    mc_device_argument a = op->argument;
    a.right = right;
    const int64_t words = mc_device_fragment_words(op->gram, right ? a.m : a.n, right);
    const mc_launch shape = {.grid = {mc_chunk_count(words, 256), 1}, .threads = 256};
    return mc_device_launch(ctx, op->device, program, "lay", &shape, &a, sizeof a);
}

static mercer_status lay_points(mercer_ctx *ctx, mc_device_gram *op) {
    mc_device_argument *a = &op->argument;
    void *program = NULL;
    set_scale_of_halves(op);
    if (op->left)
        a->rows_left = op->left->argument.rows_left;
    else
        MC_TRY(mc_device_allocate_buffer(ctx, op, (size_t)mc_device_fragment_words(op->gram, a->n, false) * 4,
                                         &a->rows_left));
    MC_TRY(
        mc_device_allocate_buffer(ctx, op, (size_t)mc_device_fragment_words(op->gram, a->m, true) * 4, &a->rows_right));
    if (op->counts)
        return MERCER_OK;
    MC_TRY(mc_device_build_width(ctx, op, 1, &program));
    MC_TRY(op->left ? MERCER_OK : lay_side(ctx, op, program, false));
    return lay_side(ctx, op, program, true);
}

/* ---- All of them ---- */

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
    op->matrix_units = op->device->calls->has_matrix_units(
        op->device->self, g->precision == MERCER_F32 ? MC_DEVICE_HALVES : MC_DEVICE_DOUBLES);
    op->fragments = op->matrix_units && mc_device_has_fragments(g);
    op->multiplies = !op->fragments && mc_device_multiplies(g) && op->device->calls->can_multiply(op->device->self);
    op->wide_halves = op->multiplies && op->matrix_units && mc_device_multiplies_halves(g);
}

mercer_status mc_device_place_points(mercer_ctx *ctx, mc_device_gram *op) {
    const mc_gram *g = op->gram;
    choose_engine(op);
    for (int i = 0; i < g->plan.parts; i++)
        MC_TRY(copy_part(ctx, op, i));
    for (int i = 0; i < g->plan.lines; i++)
        MC_TRY(copy_line(ctx, op, i));
    MC_TRY(copy_diagonal(ctx, op));
    MC_TRY(op->fragments ? lay_points(ctx, op) : MERCER_OK);
    return op->multiplies ? spread_rows(ctx, op) : MERCER_OK;
}

void mc_device_release_buffers(mc_device_gram *op) {
    for (int i = 0; i < op->count; i++)
        mc_device_release(op->device, op->held[i].at, op->held[i].bytes);
    op->count = 0;
}
