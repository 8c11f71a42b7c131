/* c_decide.c: the function of the exported C code that turns a row into decisions, in one of three ways: a sum over
   rows, a sum of random Fourier features, or what the nearest rows say. Each is the arithmetic of predict/decision.c
   and predict/neighbours.c, in their order. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "predict/neighbours.h"
#include "model/export/c_source.h"
#include <math.h>

/* decide(), up to the loop over the centres: the row scaled, the decisions zero. */
static void open_decide(mc_text *text, const mc_fitted *f, const char *more) {
    const bool scaled = f->scale.shift || f->scale.factor;
    mc_text_add(text,
                "static void decide(const double *row, double *out) {\n    double x[COLUMNS]%s;\n    for (int j = 0; j "
                "< COLUMNS; j++)\n"
                "        x[j] = %s;\n    for (int k = 0; k < DECISIONS; k++)\n        out[k] = 0;\n",
                more, scaled ? "(row[j] - shift[j]) * factor[j]" : "row[j]");
}

static void close_decide(mc_text *text) {
    mc_text_add(text, "    for (int k = 0; k < DECISIONS; k++)\n        out[k] += intercept[k];\n}\n\n");
}

/* The loop over the centres; z is the one at hand, in double. */
static void open_loop(mc_text *text, bool single) {
    mc_text_add(text, "    for (int i = 0; i < CENTRES; i++) {\n%s",
                single
                    ? "        for (int j = 0; j < COLUMNS; j++)\n            z[j] = (double)centre[i * COLUMNS + j];\n"
                    : "        const double *z = centre + i * COLUMNS;\n");
}

static mercer_status add_rows(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, bool single) {
    int kernel = 0;
    MC_TRY(mc_c_kernel(ctx, text, f->kernel, f->centres->d, &kernel));
    open_decide(text, f, single ? ", z[COLUMNS]" : "");
    open_loop(text, single);
    mc_text_add(text,
                "        const double value = k%d(x, z);\n        for (int k = 0; k < DECISIONS; k++)\n"
                "            out[k] += (double)coefficient[i * DECISIONS + k] * value;\n    }\n",
                kernel);
    close_decide(text);
    return MERCER_OK;
}

/* The first half of the coefficients goes with cosines, the second with sines. */
static mercer_status add_fourier_features(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, bool single) {
    (void)ctx;
    open_decide(text, f, single ? ", z[COLUMNS]" : "");
    open_loop(text, single);
    mc_text_add(
        text,
        "        double angle = 0;\n        for (int j = 0; j < COLUMNS; j++)\n            angle += x[j] * z[j];\n"
        "        const double c = cos(angle), s = sin(angle);\n        for (int k = 0; k < DECISIONS; k++)\n"
        "            out[k] += (double)coefficient[i * DECISIONS + k] * c\n"
        "                      + (double)coefficient[(CENTRES + i) * DECISIONS + k] * s;\n    }\n");
    close_decide(text);
    return MERCER_OK;
}

/* ---- Neighbours ---- */

/* k(z, z) of the rows as the file holds them. Those held as float stand beside themselves: *noise is raised to twice
   the largest square of that distance, so that a row of the fit is at distance zero from its own. */
static void own_values(const mc_fitted *f, bool single, double *own, double *row, double *noise) {
    const int64_t d = f->centres->d;
    const mc_node *k = f->kernel->root;
    double *rounded = row + d;
    for (int64_t i = 0; i < f->centres->n; i++) {
        mc_data_values(f->centres, i, row);
        for (int64_t j = 0; j < d; j++)
            rounded[j] = single ? (double)(float)row[j] : row[j];
        own[i] = mc_eval_kernel(k, rounded, rounded, d);
        if (single)
            *noise =
                fmax(*noise, 2 * (own[i] + mc_eval_kernel(k, row, row, d) - 2 * mc_eval_kernel(k, row, rounded, d)));
    }
}

static mercer_status add_constants(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, bool single) {
    const int64_t n = f->centres->n;
    double noise = 0, *values = NULL;
    MC_TRY(mc_neighbours_noise(ctx, f, &noise));
    MC_TRY(MC_ALLOC(ctx, values, n + 2 * f->centres->d));
    own_values(f, single, values, values + n, &noise);
    mc_text_add(
        text,
        "enum { NEAREST = %lld, BY_DISTANCE = %d };\n/* A square that rounding alone can make counts as zero. */\n"
        "#define NOISE %.17g\n",
        (long long)f->report.neighbors, f->by_distance, noise);
    mc_c_table(text, "static const double own[CENTRES]", values, 1, n, false);
    mc_free(values);
    return MERCER_OK;
}

/* The nearest so far, rising; of equal squares the earlier row stays first. */
static const char keep_nearest[] = "        const double s = square > NOISE + 4 * DBL_EPSILON * sum ? square : 0;\n"
                                   "        if (held == NEAREST && s >= near[held - 1])\n            continue;\n"
                                   "        int p = held < NEAREST ? held++ : held - 1;\n"
                                   "        for (; p > 0 && near[p - 1] > s; p--) {\n            near[p] = near[p - "
                                   "1];\n            at[p] = at[p - 1];\n        }\n"
                                   "        near[p] = s;\n        at[p] = i;\n    }\n";

static const char let_them_speak[] =
    "    double weight = 0;\n    for (int p = 0; p < NEAREST; p++) {\n"
    "        const double q = BY_DISTANCE ? (near[0] == 0 ? near[p] == 0 : 1 / sqrt(near[p])) : 1;\n"
    "        weight += q * (double)coefficient[at[p] * (OUTPUTS + 1) + OUTPUTS];\n        for (int k = 0; k < OUTPUTS; "
    "k++)\n"
    "            out[k] += q * (double)coefficient[at[p] * (OUTPUTS + 1) + k];\n    }\n"
    "    for (int k = 0; k < OUTPUTS; k++)\n        out[k] /= weight;\n";

static mercer_status add_neighbours(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, bool single) {
    int kernel = 0;
    MC_TRY(mc_c_kernel(ctx, text, f->kernel, f->centres->d, &kernel));
    MC_TRY(add_constants(ctx, text, f, single));
    open_decide(text, f, single ? ", z[COLUMNS], near[NEAREST]" : ", near[NEAREST]");
    mc_text_add(text, "    int at[NEAREST], held = 0;\n    const double mine = k%d(x, x);\n", kernel);
    open_loop(text, single);
    mc_text_add(text, "        const double sum = mine + own[i], square = sum - 2 * k%d(x, z);\n%s%s", kernel,
                keep_nearest, let_them_speak);
    close_decide(text);
    return MERCER_OK;
}

mercer_status mc_c_decide(mercer_ctx *ctx, mc_text *text, const mc_fitted *f, bool single) {
    return (f->fourier                 ? add_fourier_features
            : f->form == MC_NEIGHBOURS ? add_neighbours
                                       : add_rows)(ctx, text, f, single);
}
