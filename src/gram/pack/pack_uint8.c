/* pack_uint8.c: rows that are whole numbers 0 .. 255 of one unit: grey levels, whether divided by 255 or not, counts,
   codes, zeros and ones.

   Distances and dot products of such rows are the unit squared times a whole number, and processors multiply bytes four
   times as fast as doubles, without rounding. The unit is guessed from a few rows, as the greatest common divisor of
   their values up to rounding, then every value is held against it:

       |x - k unit| <= 5/2 u |x|,   u = 2^-53,

   so that x / 255 in double passes for x = 0 .. 255, and |x - z| moves by less than 4 u sqrt(|x|^2 + |z|^2), what
   bound.c allows the coordinates anyway. */
#include "base/cpu.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/compile/tile_program.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    LEAST = 32,     /* coordinates, at least: for fewer the bodies of reals are as fast */
    MOST = 1 << 14, /* 2^14 255^2 < 2^31 */
    SAMPLE = 32,    /* rows that the unit is guessed from */
    LEVELS = 255,
    GRAIN = 256 /* rows looked at at a time */
};
static const double NEAR = 1e-9;      /* in the guess: of the unit */
static const double SHIFT = 0x1.8p52; /* x + SHIFT - SHIFT is x to the nearest whole number */
static const double SAME = 0x1.4p-52; /* 5/2 u */

/* ---- The unit ---- */

/* The greatest common divisor of a and b >= 0 up to rounding; 0 once it is below least. */
static double common_divisor(double a, double b, double least) {
    while (b > NEAR * a) {
        const double rest = fabs(remainder(a, b));
        a = b;
        b = rest;
    }
    return a >= least ? a : 0;
}

static double value_at(const mc_tile_part *p, const mercer_data *data, int64_t i, int64_t k) {
    return ((const double *)data->values)[i * data->d + p->column[k]];
}

/* A unit is 1 over a whole number where it can be, else what the largest value says. */
static double refine_unit(double unit, double largest) {
    const double parts = nearbyint(1 / unit);
    return fabs(parts * unit - 1) <= NEAR ? 1 / parts : largest / nearbyint(largest / unit);
}

static double guess_unit(const mc_tile_part *p, const mercer_data *data) {
    double unit = 0, largest = 0;
    for (int64_t s = 0; s < SAMPLE; s++)
        for (int64_t k = 0; k < p->columns; k++) {
            const double x = value_at(p, data, s * data->n / SAMPLE, k);
            if (x == 0)
                continue;
            if (!(x > 0 && x < 0x1p100))
                return 0;
            largest = fmax(largest, x);
            unit = unit == 0 ? x : common_divisor(fmax(unit, x), fmin(unit, x), largest / (LEVELS + 0.5));
            if (unit == 0)
                return 0;
            unit = largest / nearbyint(largest / unit); /* what rounding left in it would grow with every divisor */
        }
    return unit > 0x1p-100 ? refine_unit(unit, largest) : 0;
}

typedef struct packing_trial {
    const mc_tile_part *part;
    const mercer_data *data;
    double unit, high, low; /* unit = high + low, high times a byte being exact */
    atomic_bool failed;
} packing_trial;

static void hold_against(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    packing_trial *t = arg;
    const double per_unit = 1 / t->unit;
    for (int64_t i = begin; i < end; i++) {
        if (atomic_load_explicit(&t->failed, memory_order_relaxed))
            return;
        bool fits = true;
        for (int64_t k = 0; k < t->part->columns; k++) {
            const double x = value_at(t->part, t->data, i, k), whole = (x * per_unit + SHIFT) - SHIFT;
            fits &= whole >= 0 && whole <= LEVELS && fabs((x - whole * t->high) - whole * t->low) <= SAME * x;
        }
        if (!fits)
            atomic_store_explicit(&t->failed, true, memory_order_relaxed);
    }
}

static bool may_have(const mercer_ctx *ctx, const mc_tile_part *p, const mercer_data *data) {
    bool alike = true;
    for (int64_t k = 0; k < p->columns; k++)
        alike &= p->weight[k] == 1;
    return alike && mc_isa_bytes(ctx->isa) && p->kind == MC_DOT && p->feature == MC_PLAIN && !p->sparse
           && !data->row_start && data->dtype == MERCER_F64 && p->columns >= LEAST && p->columns <= MOST && data->n > 0;
}

mercer_status mc_part_uint8_unit(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *data) {
    packing_trial t = {.part = p, .data = data};
    atomic_init(&t.failed, false);
    if (!may_have(ctx, p, data) || (t.unit = guess_unit(p, data)) == 0)
        return MERCER_OK;
    t.high = (double)(float)t.unit;
    t.low = t.unit - t.high;
    MC_TRY(mc_for(ctx, data->n, GRAIN, hold_against, &t));
    p->uint8_unit = atomic_load(&t.failed) ? 0 : t.unit;
    return MERCER_OK;
}

/* ---- Bytes ---- */

void mc_pack_uint8_pack(const mc_tile_part *p, int64_t width, int64_t i, const double *x, void *values) {
    const int64_t words = mc_part_elements(p);
    uint8_t *out = (uint8_t *)values + 4 * (i / width * width * words + i % width);
    for (int64_t k = 0; k < 4 * words; k++)
        out[k / 4 * 4 * width + k % 4] = (uint8_t)((k < p->d ? (unsigned)(x[k] + 0.5) : 0) ^ 0x80);
}

/* 128 times the sum of each row, then its words; unsigned bytes again. */
void mc_pack_uint8_gather(const mc_tile_part *p, int64_t width, int64_t rows, const int64_t *row, void *out) {
    const int64_t words = mc_part_elements(p);
    uint32_t *to = out;
    for (int64_t r = 0; r < rows; r++) {
        const uint32_t *from = (const uint32_t *)p->left.values + row[r] / width * width * words + row[r] % width;
        uint32_t sum = 0;
        for (int64_t k = 0; k < words; k++) {
            const uint32_t word = from[k * width] ^ 0x80808080U,
                           pairs = (word & 0x00ff00ffU) + (word >> 8 & 0x00ff00ffU);
            to[(1 + k) * rows + r] = word;
            sum += (pairs & 0xffffU) + (pairs >> 16);
        }
        to[r] = 128 * sum;
    }
}
