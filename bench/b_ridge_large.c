/* b_ridge_large.c: ridge on more rows than a factorisation takes, under a limit of 2 GiB, to a certified relative
   residual of 1e-4; a step of conjugate gradients beside one product of the tile engine on the same rows; and how
   seconds and bytes grow with n for each solver.

       build/bench/b_ridge_large [FOLDER OF DATA]        Markdown to standard output; data sets that are absent are said
       to be skipped */
#include "base/clock.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include "model/model.h"
#include <math.h>
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 10000, SIZES = 5, TAKES = 9, FEW = 20 };

typedef struct steps {
    int count;
    double seconds[STEPS];
} steps;

/* "pcg 12: residual 3.1e-05, 0.42 s". */
static void note(void *user, const char *line) {
    steps *s = user;
    long long step;
    double residual, seconds;
    if (sscanf(line, "pcg %lld: residual %lg, %lg s", &step, &residual, &seconds) == 3 && s->count < STEPS)
        s->seconds[s->count++] = seconds;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(steps *s) {
    qsort(s->seconds, (size_t)s->count, sizeof *s->seconds, by_size);
    return s->count ? s->seconds[s->count / 2] : NAN;
}

static mercer_ctx *open_within(size_t limit, steps *log) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    options.memory_limit = limit;
    options.log = note;
    options.log_user = log;
    return mercer_open(&options, &ctx) == MERCER_OK ? ctx : NULL;
}

/* Seconds of K V in float tiles, t columns, the median of nine, on the rows that a model keeps (scaled as they were
   fitted). V is made of ordinary numbers: the processor multiplies by zeros in less time. */
static double engine(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data, int64_t t) {
    mercer_kernel *bound = NULL;
    mc_gram *gram = NULL;
    steps takes = {0};
    double *V = calloc((size_t)(2 * data->n * t), sizeof *V);
    for (int64_t i = 0; V && i < data->n * t; i++)
        V[i] = sin((double)i);
    if (V && mercer_kernel_bind(ctx, kernel, data, &bound) == MERCER_OK
        && mc_gram_open(ctx, bound, data, NULL, MERCER_F32, &gram) == MERCER_OK)
        while (takes.count < TAKES) {
            const double began = mc_clock_seconds();
            if (mc_gram_apply(ctx, gram, t, V, V + data->n * t) != MERCER_OK)
                break;
            takes.seconds[takes.count++] = mc_clock_seconds() - began;
        }
    mc_gram_close(gram);
    mercer_kernel_free(bound);
    free(V);
    return median(&takes);
}

/* The median step. A fit that took few of them is done again with the same preconditioner, to a residual far below:
   more of the same steps, so that one that something else on the machine delayed does not count. */
static double step_of(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data, mercer_ridge set,
                      int64_t rank, steps *log) {
    mercer_model *again = NULL;
    set.tolerance = 1e-12;
    set.rank = rank;
    if (log->count < FEW && median(log) < 1)                  /* long steps are not delayed by much */
        mercer_fit(ctx, "ridge", &set, kernel, data, &again); /* short of the tolerance it has still taken the steps */
    mercer_model_free(again);
    return median(log);
}

static void real(const char *folder, const char *name, const char *target, const char *text, const char *scale,
                 double lambda) {
    char path[1024];
    snprintf(path, sizeof path, "%s/large/%s.csv.gz", folder, name);
    steps *log = calloc(1, sizeof *log);
    mercer_ctx *ctx = log ? open_within((size_t)2 << 30, log) : NULL;
    mercer_read read = mercer_read_defaults();
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = lambda;
    set.scale = scale;
    set.solver = "pcg";
    set.tolerance = 1e-4;
    read.target = target;
    if (!ctx || mercer_data_read(ctx, path, &read, &data)) {
        printf("| %s | skipped: %s |\n", name, ctx ? mercer_message(ctx) : "no memory");
    } else if (mercer_kernel_parse(ctx, text, &kernel) || mercer_fit(ctx, "ridge", &set, kernel, data, &model)) {
        printf("| %s | failed: %s |\n", name, mercer_message(ctx));
    } else {
        const mercer_report *r = mercer_model_report(model);
        const double peak = (double)mercer_memory_peak(ctx) / 0x1p30;
        const double step = step_of(ctx, kernel, data, set, r->rank, log);
        const double product = engine(ctx, kernel, model->f.centres, r->outputs + set.intercept);
        const bool good = r->certificate.residual_relative <= 1e-4 && peak <= 2 && step <= 1.5 * product;
        printf("| %s | %lld | %lld | %lld | %g | %lld | %lld | %lld | %.2g | %.1f | %.2f | %.3f | %.3f | %.2f | %s |\n",
               name, (long long)r->n, (long long)r->d, (long long)r->outputs, lambda, (long long)r->rank,
               (long long)r->iterations, (long long)r->iteration_bound, r->certificate.residual_relative, r->seconds,
               peak, step, product, step / product, good ? "met" : "**missed**");
    }
    fflush(stdout);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    free(log);
}

/* ---- Growth ---- */

typedef struct growth {
    const char *solver, *kernel, *theory;
    int64_t most;
} growth;

/* The slope of log y over log n. */
static double exponent(const double *n, const double *y, int count) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        const double a = log(n[i]), b = log(y[i]);
        sx += a, sy += b, sxx += a * a, sxy += a * b;
    }
    return count > 1 ? (count * sxy - sx * sy) / (count * sxx - sx * sx) : NAN;
}

static bool one(const growth *g, int64_t n, double *seconds, double *bytes) {
    steps *log = calloc(1, sizeof *log);
    mercer_ctx *owner = open_within((size_t)4 << 30, log), *ctx = open_within((size_t)4 << 30, log);
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = 0.1;
    set.scale = "none";
    set.solver = g->solver;
    set.tolerance = 1e-4;
    const bool done = log && owner && ctx && !mercer_data_generate(owner, "friedman1", n, 0.1, 1, &data)
                      && !mercer_kernel_parse(owner, g->kernel, &kernel)
                      && !mercer_fit(ctx, "ridge", &set, kernel, data, &model);
    if (done) {
        *seconds = mercer_model_report(model)->seconds;
        *bytes = (double)mercer_memory_peak(ctx);
    }
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    mercer_close(owner);
    free(log);
    return done;
}

static void grow(const growth *g) {
    double n[SIZES], seconds[SIZES], bytes[SIZES];
    int count = 0;
    printf("| %s |", g->solver);
    for (int64_t rows = 2000; rows <= 32000; rows *= 2) {
        if (rows > g->most || !one(g, rows, &seconds[count], &bytes[count])) {
            printf(" - |");
            continue;
        }
        printf(" %.2f s, %.0f MiB |", seconds[count], bytes[count] / 0x1p20);
        n[count++] = (double)rows;
        fflush(stdout);
    }
    printf(" %.2f, %.2f | %s |\n", exponent(n, seconds, count), exponent(n, bytes, count), g->theory);
}

int main(int argc, char **argv) {
    const char *named = getenv("MERCER_DATA"), *folder = argc > 1 ? argv[1] : named ? named : "../shared/data";
    printf("The exact problem within 2 GiB, tolerance 1e-4. step: the median step of conjugate gradients; product: "
           "n^2/2 entries at the "
           "tile engine's own rate, on the same rows and for as many right-hand sides (the outputs and the intercept). "
           "Bars: residual at most 1e-4, at most 2 GiB, step/product at most 1.5.\n\n"
           "| rows | n | d | outputs | lambda | rank | steps | bound | residual | fit s | GiB | step s | product s | "
           "step/product | bar |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    real(folder, "kin40k", "y", "rbf[1:8]", "none", 0.01); /* its last column numbers the folds */
    real(folder, "protein_casp", "y", "rbf", "standard", 0.1);
    real(folder, "covtype_93k", NULL, "rbf", "none", 1);
    printf("\nGrowth with n (friedman1, ten columns, lambda 0.1; primal with a polynomial of degree 2, the others with "
           "a Gaussian): "
           "seconds and bytes, the exponents fitted, and what theory says for "
           "seconds and bytes.\n\n| solver | 2000 | 4000 | 8000 | 16000 | 32000 | fitted | theory "
           "|\n|---|---|---|---|---|---|---|---|\n");
    static const char gauss[] = "rbf(gamma=0.5)";
    static const growth table[] = {
        {"cholesky", gauss, "3, 2", 8000},
        {"mixed", gauss, "3, 2", 8000},
        {"eigen", gauss, "3, 2", 4000},
        {"primal", "poly(degree=2, c=1, gamma=0.1)", "1, 1 (n D^2, D = 66 features)", 32000},
        {"pcg", gauss, "2, 1.5 (rank up to 10 sqrt n)", 32000},
        {"nystrom", gauss, "2, 1 (n m^2, m = 10 sqrt n)", 32000},
        {"fourier", gauss, "2, 1 (n m^2, m = 10 sqrt n)", 32000},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        grow(&table[i]);
    return 0;
}
