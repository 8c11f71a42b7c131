/* device_gram_state.h: an operator on a device, for device_gram.c and device_points.c. */
#ifndef MC_GRAM_DEVICE_DEVICE_GRAM_STATE_H
#define MC_GRAM_DEVICE_DEVICE_GRAM_STATE_H

#include "gram/device/device_stream.h"
#include "base/extremes.h"

enum { MC_DEVICE_WIDTHS = 4 }; /* programs: for 1, 2, 4, 8 right-hand sides at a time */

/* Blocks of dot products that stay in the second cache of a large card. */
enum { MC_DEVICE_DOT_ROWS = 4096, MC_DEVICE_DOT_COLUMNS = 4096 };

typedef struct mc_device_buffer {
    mc_address at;
    size_t bytes;
} mc_device_buffer;

enum { MC_DEVICE_HELD_MOST = 4 * MC_DEVICE_PARTS + 2 * MC_DEVICE_LINES + 8 };

struct mc_device_gram {
    const mc_gram *gram;
    const mc_device_gram *left; /* whose left side serves here too; NULL: its own */
    mc_device *device;
    void *program[MC_DEVICE_WIDTHS];
    mc_device_argument argument;
    mc_device_buffer held[MC_DEVICE_HELD_MOST];
    int count;
    int64_t rows_each; /* of a block of threads */
    int threads;
    bool matrix_units;              /* are there, for halves or doubles as the tiles are */
    bool fragments;                 /* the points lie in the order of the matrix units */
    bool multiplies;                /* the points lie row by row for a library of matrix products */
    bool wide_halves;               /* and that as halves */
    const mc_device_window *window; /* part of an operator that is streamed; NULL: it is all here */
    int64_t right_most;             /* right-hand sides that there is room for */
    bool counts;                    /* nothing is allocated nor done: bytes counts what would be */
    size_t bytes;
    bool streamed; /* it does not fit: nothing is here */
};

static inline size_t mc_device_number_bytes(const mc_gram *g) {
    return g->precision == MERCER_F32 ? sizeof(float) : sizeof(double);
}

static inline size_t mc_device_row_bytes(const mc_device_gram *op) {
    const size_t number = op->wide_halves ? 2 : mc_device_number_bytes(op->gram);
    return (size_t)mc_device_row_length(op->gram, op->wide_halves) * number;
}

/* ---- device_points.c ---- */

/* Released with all others by mc_device_release_buffers. */
mercer_status mc_device_allocate_buffer(mercer_ctx *ctx, mc_device_gram *op, size_t bytes, mc_address *out);
void mc_device_release_buffers(mc_device_gram *op);
/* How products are made, and what they read. */
mercer_status mc_device_place_points(mercer_ctx *ctx, mc_device_gram *op);
/* The program for t right-hand sides. */
mercer_status mc_device_build_width(mercer_ctx *ctx, mc_device_gram *op, int64_t t, void **program);

#endif
