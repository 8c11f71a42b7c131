/* ridge_fourier.c: ridge regression in random Fourier features.

   k ~ (mass/count) <psi(x), psi(z)>, so f = <c, psi> with the norm |f|^2 = (count/mass) |c|^2, and the coefficients
   solve

       (Psi'W Psi + lambda count/mass I) c = Psi'W (y - b):

   one pass over the rows, 2 count x 2 count numbers in memory. A second pass gives the fitted values for the check. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/features/fourier.h"
#include "learn/ridge/approximate.h"
#include "learn/common/normal_equations.h"
#include "certify/sampled_residual.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum { ROWS = 1024 }; /* taken in at a time */

int64_t mc_fourier_count(int64_t n, int64_t asked) {
    return asked ? asked : ((int64_t)(5 * sqrt((double)n)) + 63) / 64 * 64;
}

typedef struct fourier_pass {
    const mc_fourier *f;
    int64_t m, t;
    double *Z, *R;   /* of ROWS rows: features, targets */
    double *C;       /* m x t */
    const double *X; /* m x outputs */
} fourier_pass;

static void lay_out_pass(mc_work *work, void *self) {
    fourier_pass *w = self;
    w->Z = mc_work_take(work, ROWS * w->m, sizeof *w->Z);
    w->R = mc_work_take(work, ROWS * w->t, sizeof *w->R);
    w->C = mc_work_take(work, w->m * w->t, sizeof *w->C);
}

size_t mc_fourier_fit_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t asked, int64_t t) {
    const int64_t count = mc_fourier_count(p->n, asked), m = 2 * count, outputs = p->outputs;
    const size_t fit = mc_fourier_bytes(p->x->d, count) + mc_normal_bytes(m, t)
                       + mc_slices_bytes(lay_out_pass, &(fourier_pass){.m = m, .t = t});
    const size_t kept =
        mc_work_need(m * outputs, 8) + mc_work_need(p->n * outputs, 8) + 2 * mc_work_need(m * p->x->d, 8);
    return fit + kept + mc_sampled_residual_bytes(ctx, p) + (size_t)(p->x->d * 64) + 32 * MC_ALIGN;
}

static void scale_rows(const mc_problem *p, int64_t begin, int64_t rows, int64_t m, double *Z) {
    for (int64_t i = 0; p->root && i < rows; i++)
        for (int64_t j = 0; j < m; j++)
            Z[i * m + j] *= p->root[begin + i];
}

static mercer_status take_in(mercer_ctx *ctx, const mc_approximate *a, const fourier_pass *w,
                             mc_normal_equations *normal) {
    const mc_problem *p = a->p;
    mc_begin_phase(ctx, "features");
    for (int64_t begin = 0; begin < p->n; begin += ROWS) {
        const int64_t end = begin + ROWS < p->n ? begin + ROWS : p->n;
        mc_set_phase_span(ctx, (double)begin / (double)p->n, (double)end / (double)p->n);
        MC_TRY(mc_fourier_rows(ctx, w->f, p->x, begin, end, w->Z));
        scale_rows(p, begin, end - begin, w->m, w->Z);
        mc_approximate_right_hand_sides(a, begin, end, w->R);
        MC_TRY(mc_normal_add(ctx, normal, end - begin, w->Z, w->R));
    }
    return MERCER_OK;
}

/* F <- Psi X, both row-major. */
static mercer_status fitted_values(mercer_ctx *ctx, const mc_approximate *a, const fourier_pass *w, double *F) {
    const mc_problem *p = a->p;
    const int64_t outputs = p->outputs, m = w->m;
    mc_begin_phase(ctx, "values");
    for (int64_t begin = 0; begin < p->n; begin += ROWS) {
        const int64_t end = begin + ROWS < p->n ? begin + ROWS : p->n;
        mc_set_phase_span(ctx, (double)begin / (double)p->n, (double)end / (double)p->n);
        MC_TRY(mc_fourier_rows(ctx, w->f, p->x, begin, end, w->Z));
        mc_gemm(1, mc_row_major(w->Z, end - begin, m, m), mc_row_major(w->X, m, outputs, outputs), 0,
                mc_row_major(F + begin * outputs, end - begin, outputs, outputs));
    }
    return MERCER_OK;
}

/* The frequencies as rows of data with the names of the training rows, once for the cosines and once for the sines. */
static mercer_status keep_frequencies(mercer_ctx *ctx, const mc_approximate *a, const mc_fourier *f,
                                      mercer_data **out) {
    const mercer_data *x = a->p->x;
    const int64_t count = f->count, d = f->d;
    double *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, 2 * count * d));
    for (int64_t i = 0; i < 2 * count * d; i++)
        rows[i] = f->omega[i % d * count + i / d % count];
    mercer_data shell = *x; /* everything of the training rows but the rows */
    shell.n = 2 * count;
    shell.dtype = MERCER_F64;
    shell.values = rows;
    shell.row_start = NULL;
    shell.column = NULL;
    shell.text = NULL;
    shell.texts = 0;
    const mercer_status status = mc_data_take(ctx, &shell, NULL, 2 * count, out);
    mc_free(rows);
    return status;
}

static mercer_status solve_fourier_features(mercer_ctx *ctx, mc_approximate *a, fourier_pass *w,
                                            mc_normal_equations *normal, double *X) {
    const int64_t m = w->m, outputs = a->p->outputs;
    const double scale = (double)w->f->count / w->f->mass;
    MC_TRY(take_in(ctx, a, w, normal));
    mc_begin_phase(ctx, "factor");
    MC_TRY(mc_normal_factor(ctx, normal, a->lambda * scale));
    memcpy(X, normal->C, (size_t)(m * a->t) * sizeof *X);
    MC_TRY(mc_normal_solve(ctx, normal, a->t, X));
    mc_approximate_intercept(a, m, normal->C, X);
    MC_TRY(MC_ALLOC(ctx, a->alpha, m * outputs));
    for (int64_t j = 0; j < m * outputs; j++) {
        a->alpha[j] = X[j / outputs * a->t + j % outputs];
        a->square_norm += scale * a->alpha[j] * a->alpha[j];
    }
    w->X = a->alpha;
    MC_TRY(MC_ALLOC(ctx, a->F, a->p->n * outputs));
    return fitted_values(ctx, a, w, a->F);
}

static mercer_status fit_fourier_features(mercer_ctx *ctx, mc_approximate *a, const mc_fourier *f) {
    fourier_pass w = {.f = f, .m = 2 * f->count, .t = a->t};
    mc_normal_equations normal;
    mc_work work;
    MC_TRY(mc_normal_open(ctx, w.m, a->t, &normal));
    mercer_status status = mc_work_lay(ctx, &work, lay_out_pass, &w);
    MC_THEN(status, solve_fourier_features(ctx, a, &w, &normal, w.C));
    mc_work_close(&work);
    mc_normal_close(&normal);
    return status ? status : keep_frequencies(ctx, a, f, &a->centres);
}

mercer_status mc_approximate_fourier(mercer_ctx *ctx, mc_approximate *a) {
    mc_fourier *f = NULL;
    MC_TRY(mc_fourier_open(ctx, a->p->kernel, a->p->x->d, ctx->options.seed, mc_fourier_count(a->p->n, a->rank), &f));
    mc_log_message(ctx, "fourier: %lld frequencies, %lld features", (long long)f->count, (long long)(2 * f->count));
    const mercer_status status = fit_fourier_features(ctx, a, f);
    mc_fourier_close(f);
    return status;
}
