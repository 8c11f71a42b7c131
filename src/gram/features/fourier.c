/* fourier.c: psi(x) for many rows. The angles are a product of the rows with the frequencies, in double, so that cos
   and sin of large angles keep their digits. */
#include "gram/features/fourier.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/features/spectral_density.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 8 }; /* rows */

size_t mc_fourier_bytes(int64_t d, int64_t count) {
    return sizeof(mc_fourier) + 2 * mc_work_need(d * count, sizeof(double)) + 6 * MC_ALIGN;
}

/* omega given row by row, as the frequencies are drawn and kept, to columns. */
static mercer_status allocate_fourier(mercer_ctx *ctx, int64_t d, int64_t count, double mass, mc_fourier **out) {
    mc_fourier *f = NULL;
    MC_TRY(MC_ALLOC(ctx, f, 1));
    *f = (mc_fourier){.d = d, .count = count, .mass = mass};
    if (MC_ALLOC(ctx, f->omega, d * count) != MERCER_OK) {
        mc_free(f);
        return MERCER_MEMORY;
    }
    *out = f;
    return MERCER_OK;
}

mercer_status mc_fourier_open(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, uint64_t seed, int64_t count,
                              mc_fourier **out) {
    *out = NULL;
    double mass, *drawn = NULL;
    mc_fourier *f = NULL;
    MC_TRY(mc_spectrum_mass(ctx, kernel, &mass));
    MC_TRY(MC_ALLOC(ctx, drawn, d * count));
    mercer_status status = mc_spectrum_draw(ctx, kernel, d, seed, count, drawn);
    MC_THEN(status, allocate_fourier(ctx, d, count, mass, &f));
    for (int64_t i = 0; !status && i < d * count; i++)
        f->omega[i % d * count + i / d] = drawn[i];
    mc_free(drawn);
    *out = f;
    return status;
}

mercer_status mc_fourier_from_rows(mercer_ctx *ctx, const mercer_data *rows, mc_fourier **out) {
    *out = NULL;
    const int64_t count = rows->n / 2;
    MC_TRY(allocate_fourier(ctx, rows->d, count, 0, out));
    for (int64_t j = 0; j < count; j++)
        for (int64_t c = 0; c < rows->d; c++)
            (*out)->omega[c * count + j] = mc_data_value(rows, j, c);
    return MERCER_OK;
}

void mc_fourier_close(mc_fourier *f) {
    if (f)
        mc_free(f->omega);
    mc_free(f);
}

typedef struct fourier_task {
    const mc_fourier *f;
    const mercer_data *x;
    int64_t begin;
    double *out;
} fourier_task;

static void add_angles(const mc_fourier *f, int64_t c, double value, double *angle) {
    const double *omega = f->omega + c * f->count;
    for (int64_t j = 0; j < f->count; j++)
        angle[j] += value * omega[j];
}

static void compute_angles(const mc_fourier *f, const mercer_data *x, int64_t i, double *angle) {
    memset(angle, 0, (size_t)f->count * sizeof *angle);
    const int64_t first = x->row_start ? x->row_start[i] : i * x->d,
                  last = x->row_start ? x->row_start[i + 1] : first + x->d;
    for (int64_t k = first; k < last; k++)
        add_angles(f, x->row_start ? x->column[k] : k - first, mc_stored_value(x, k), angle);
}

static void rows_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const fourier_task *t = arg;
    const int64_t count = t->f->count;
    for (int64_t i = begin; i < end; i++) {
        double *cosines = t->out + 2 * i * count, *sines = cosines + count;
        compute_angles(t->f, t->x, t->begin + i, cosines);
        for (int64_t j = 0; j < count; j++)
            sincos(cosines[j], &sines[j], &cosines[j]);
    }
}

mercer_status mc_fourier_rows(mercer_ctx *ctx, const mc_fourier *f, const mercer_data *x, int64_t begin, int64_t end,
                              double *out) {
    fourier_task t = {.f = f, .x = x, .begin = begin, .out = out};
    return mc_for(ctx, end - begin, GRAIN, rows_chunk, &t);
}
