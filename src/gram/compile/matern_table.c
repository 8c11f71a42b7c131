/* matern_table.c: f = 2^(1-nu)/Gamma(nu) s^nu K_nu(s) in pieces, sixteen to an octave of s, each a Taylor polynomial
   about its middle c in the variable r = (s - c)/h from -1/2 to 1/2, h the length of the piece.

   f solves s f'' = (2 nu - 1) f' + s f, so that with f = sum of a_k r^k

     a_(k+2) = ((k + 1) (2 nu - 1 - k) h a_(k+1) + c h^2 a_k + h^3 a_(k-1)) / (c (k + 1)(k + 2)).

   The singularity at 0 lies 33 half lengths from the middle at least: what twelve terms of doubles (six of floats)
   leave out is below a rounding of 1. The first piece of an octave, from above, begins with the function itself; the
   others with the series of their neighbour: on the way down the other solution of the equation dies out. Below the
   first piece f is 1 to less than a rounding, above the last 0. */
#include "gram/compile/matern_table.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "kernel/evaluate/matern_bessel.h"
#include <math.h>

enum { STEPS = MC_TABLE_STEPS, TERMS = 20, BIAS_F32 = 127, BIAS_F64 = 1023 };

/* 1 - f is about s^(2 nu), or s^2 log s. */
static int lowest_octave(double nu, mercer_dtype precision) {
    const double bits = precision == MERCER_F32 ? 28 : 57;
    return -(int)ceil(bits / (2 * fmin(nu, 1))) - 6;
}

static int highest_octave(double nu, mercer_dtype precision) {
    const double least = precision == MERCER_F32 ? 1e-10 : 1e-18;
    int octave = 0;
    while (mc_matern_value(nu, ldexp(1, octave)) > least)
        octave++;
    return octave;
}

mc_matern_range mc_matern_table_range(double nu, mercer_dtype precision) {
    const int low = lowest_octave(nu, precision), high = highest_octave(nu, precision);
    const int bias = precision == MERCER_F32 ? BIAS_F32 : BIAS_F64;
    return (mc_matern_range){.first = (int64_t)(low + bias) * STEPS - 1, .pieces = (int64_t)(high - low) * STEPS + 2};
}

size_t mc_matern_table_bytes(double nu) {
    const mc_matern_range range = mc_matern_table_range(nu, MERCER_F64);
    return mc_work_need(range.pieces * MC_TABLE_TERMS_F64, sizeof(double));
}

double mc_matern_table_error(double nu, double unit) {
    return 24 * unit + 64 * (4 + nu) * 0x1p-53;
}

/* The other coefficients from the first two. */
static void fill_series(double nu, double c, double h, double *a) {
    for (int k = 0; k + 2 < TERMS; k++)
        a[k + 2] = ((k + 1) * (2 * nu - 1 - k) * h * a[k + 1] + c * h * h * a[k] + (k > 0 ? h * h * h * a[k - 1] : 0))
                   / (c * (k + 1) * (k + 2));
}

/* Value and slope one length below the middle. */
static void step_down(const double *a, double *value, double *slope) {
    *value = *slope = 0;
    for (int k = TERMS - 1; k >= 0; k--) {
        *slope = *value - *slope;
        *value = a[k] - *value;
    }
}

static void store_piece(mercer_dtype precision, int64_t piece, const double *a, void *out) {
    const int64_t terms = precision == MERCER_F32 ? MC_TABLE_TERMS_F32 : MC_TABLE_TERMS_F64;
    for (int64_t k = 0; k < terms; k++)
        if (precision == MERCER_F32)
            ((float *)out)[piece * terms + k] = (float)a[k];
        else
            ((double *)out)[piece * terms + k] = a[k];
}

/* last: the place of the piece that ends where the octave does. */
static void fill_octave(double nu, int octave, mercer_dtype precision, int64_t last, void *out) {
    const double h = ldexp(1.0 / STEPS, octave);
    double a[TERMS], value = 0, slope = 0;
    for (int i = STEPS - 1; i >= 0; i--) {
        const double c = ldexp(1 + (i + 0.5) / STEPS, octave);
        if (i == STEPS - 1) {
            value = mc_matern_value(nu, c);
            slope = -c * h * mc_matern_slope(nu, c);
        }
        a[0] = value;
        a[1] = slope;
        fill_series(nu, c, h, a);
        store_piece(precision, last - (STEPS - 1 - i), a, out);
        step_down(a, &value, &slope);
    }
}

mercer_status mc_matern_table_make(mercer_ctx *ctx, double nu, mercer_dtype precision, void **out) {
    const mc_matern_range range = mc_matern_table_range(nu, precision);
    const int low = lowest_octave(nu, precision), octaves = (int)((range.pieces - 2) / STEPS);
    const double one[TERMS] = {1}, none[TERMS] = {0};
    *out = precision == MERCER_F32 ? mc_alloc(ctx, range.pieces * MC_TABLE_TERMS_F32, sizeof(float))
                                   : mc_alloc(ctx, range.pieces * MC_TABLE_TERMS_F64, sizeof(double));
    MC_TRY(*out ? MERCER_OK : MERCER_MEMORY);
    store_piece(precision, 0, one, *out);
    store_piece(precision, range.pieces - 1, none, *out);
    for (int k = 0; k < octaves; k++)
        fill_octave(nu, low + k, precision, (int64_t)(k + 1) * STEPS, *out);
    return MERCER_OK;
}
