/* b_gram.c: products K V against the ceilings of the machine, in one process: what OpenBLAS's gemm reaches at its best
   shape and how many exponentials a second the instruction set gives. All cases are run in turn, round after round, and
   the best time of each counts, so that a machine that drifts drifts for both sides. Beside each rate stands its error:
   the largest difference of a few entries of K V from those added up in double from mercer_kernel_value, which shares
   nothing with the tiles, relative to the largest of them.

       b_gram [--rounds N] [--csv FILE]
       b_gram --product N D THREADS [R]    "seconds error" of one product K v of N normal rows with D columns, in float,
       not symmetric:
                                           the best of R, five unless told; the error over 200 entries */
#include "backend/blas.h"
#include "backend/dispatch.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "gram/operator/gram.h"
#include "base/cpu.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void openblas_set_num_threads(int threads) __attribute__((weak));

enum { CASES_MAX = 96, EXPONENTS = 4096, JUDGED = 8 };

static void check(mercer_ctx *ctx, mercer_status status) {
    if (status) {
        fprintf(stderr, "%s\n", mercer_message(ctx));
        exit(1);
    }
}

/* ---- Something timed ---- */

typedef struct timed timed;
struct timed {
    char name[160];
    double work; /* per run: flops, exponentials or pairs */
    double best; /* seconds */
    int threads;
    void (*run)(timed *);
    void *state;
};

static timed cases[CASES_MAX];
static int count;

static int add(const char *name, double work, int threads, void (*run)(timed *), void *state) {
    timed *t = &cases[count++];
    *t = (timed){.work = work, .best = INFINITY, .threads = threads, .run = run, .state = state};
    snprintf(t->name, sizeof t->name, "%s", name);
    return count - 1;
}

static double rate(const timed *t) {
    return t->work / t->best;
}

static void run_rounds(int rounds) {
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < count; i++) {
            const double began = mc_clock_seconds();
            cases[i].run(&cases[i]);
            cases[i].best = fmin(cases[i].best, mc_clock_seconds() - began);
        }
}

/* ---- Ceilings ---- */

typedef struct gemm {
    int m, n, k;
    bool single;
    void *a, *b, *c;
} gemm;

static void run_gemm(timed *t) {
    const gemm *g = t->state;
    const float one = 1, zero = 0;
    const double done = 1, dzero = 0;
    if (openblas_set_num_threads)
        openblas_set_num_threads(t->threads);
    if (g->single)
        sgemm_("N", "N", &g->m, &g->n, &g->k, &one, g->a, &g->m, g->b, &g->k, &zero, g->c, &g->m, 1, 1);
    else
        dgemm_("N", "N", &g->m, &g->n, &g->k, &done, g->a, &g->m, g->b, &g->k, &dzero, g->c, &g->m, 1, 1);
}

static void *ones(size_t values, bool single) {
    void *block = malloc(values * 8);
    for (size_t i = 0; i < values; i++)
        if (single)
            ((float *)block)[i] = 1;
        else
            ((double *)block)[i] = 1;
    return block;
}

/* The first of several shapes that are run; best_gemm picks among them. */
static const int shapes[][3] = {{1024, 1024, 1024}, {2048, 1024, 784}, {2048, 2048, 256}, {4096, 512, 512}};

static int add_gemms(bool single, int threads) {
    const int first = count;
    for (int i = 0; i < 4; i++) {
        gemm *g = malloc(sizeof *g);
        *g = (gemm){.m = shapes[i][0], .n = shapes[i][1], .k = shapes[i][2], .single = single};
        g->a = ones((size_t)g->m * (size_t)g->k, single);
        g->b = ones((size_t)g->k * (size_t)g->n, single);
        g->c = ones((size_t)g->m * (size_t)g->n, single);
        add(single ? "sgemm" : "dgemm", 2.0 * g->m * g->n * g->k, threads, run_gemm, g);
    }
    return first;
}

static double best_gemm(int first) {
    double best = 0;
    for (int i = first; i < first + 4; i++)
        best = fmax(best, rate(&cases[i]));
    return best;
}

typedef struct exponentials {
    mercer_ctx *ctx;
    const mc_tile_ops *ops;
    float *x, *y; /* one stretch of the first cache per thread */
} exponentials;

static void exp2_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    exponentials *e = arg;
    for (int64_t i = begin; i < end; i++)
        e->ops->exp2(EXPONENTS, e->x, e->y + thread * EXPONENTS);
}

static void run_exp2(timed *t) {
    exponentials *e = t->state;
    mc_for(e->ctx, 1024, 128, exp2_chunk, e);
}

static int add_exp2(mercer_ctx *ctx) {
    exponentials *e = calloc(1, sizeof *e);
    e->ctx = ctx;
    e->ops = &mc_bodies_of(ctx->isa)->tile[MERCER_F32];
    e->x = malloc(EXPONENTS * sizeof(float));
    e->y = malloc((size_t)mercer_threads(ctx) * EXPONENTS * sizeof(float));
    for (int i = 0; i < EXPONENTS; i++)
        e->x[i] = -20.0f * (float)i / EXPONENTS;
    return add("exp2", 1024.0 * EXPONENTS, mercer_threads(ctx), run_exp2, e);
}

/* ---- Products ---- */

typedef struct product {
    mercer_ctx *ctx;
    mc_gram *gram;
    const mercer_kernel *kernel;
    const mercer_data *x, *z;
    int64_t t;
    double *V, *Y;
} product;

static void run_product(timed *t) {
    product *p = t->state;
    check(p->ctx, mc_gram_apply(p->ctx, p->gram, p->t, p->V, p->Y));
}

/* One entry of K V in double, pair by pair; row and other hold a row each. */
static double reference_value(const product *p, int64_t i, double *row, double *other) {
    const int64_t d = mercer_data_columns(p->x);
    double sum = 0;
    mercer_data_row(p->x, i, row);
    for (int64_t j = 0; j < mercer_data_rows(p->z); j++) {
        double k = 0;
        mercer_data_row(p->z, j, other);
        check(p->ctx, mercer_kernel_value(p->ctx, p->kernel, row, other, d, &k));
        sum += k * p->V[j * p->t];
    }
    return sum;
}

/* Over some of the entries, evenly spread. */
static double error_of(const product *p, int64_t entries) {
    const size_t bytes = (size_t)mercer_data_columns(p->x) * sizeof(double);
    double *row = malloc(bytes), *other = malloc(bytes), apart = 0, largest = 0;
    const int64_t step = mercer_data_rows(p->x) / entries;
    for (int64_t i = 0; i < entries * step; i += step) {
        const double exact = reference_value(p, i, row, other);
        apart = fmax(apart, fabs(p->Y[i * p->t] - exact));
        largest = fmax(largest, fabs(exact));
    }
    free(row), free(other);
    return apart / largest;
}

/* n normal rows; nonzero > 0: only about that many values a row, as compressed rows. */
static mercer_data *rows_of(mercer_ctx *ctx, int64_t n, int64_t d, int64_t nonzero, uint64_t item) {
    mc_rng rng = mc_rng_at(1, MC_STREAM_TEST, item);
    const int64_t each = nonzero ? nonzero : d;
    double *values = malloc((size_t)(n * each) * 8);
    int64_t *start = malloc((size_t)(n + 1) * 8);
    int32_t *column = malloc((size_t)(n * each) * 4);
    for (int64_t i = 0; i < n * each; i++) {
        const int64_t k = i % each;
        values[i] = mc_rng_normal(&rng);
        start[i / each] = i - k;
        column[i] = (int32_t)(k * d / each + mc_rng_below(&rng, d / each));
    }
    start[n] = n * each;
    mercer_table table = {.size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = values};
    if (nonzero)
        table.row_start = start, table.column = column;
    mercer_data *data = NULL;
    check(ctx, mercer_data_make(ctx, &table, &data));
    free(values), free(start), free(column);
    return data;
}

/* K V for n x n rows of this expression, in which G stands for 1/(2d). */
typedef struct spec {
    const char *text;
    int64_t n, d, nonzero, t;
    mercer_dtype precision;
    bool symmetric;
} spec;

static mercer_kernel *kernel_of(mercer_ctx *ctx, const spec *s) {
    char text[256] = "";
    for (const char *c = s->text; *c; c++)
        snprintf(text + strlen(text), sizeof text - strlen(text), *c == 'G' ? "%.1s%.6g" : "%.1s", *c == 'G' ? "" : c,
                 0.5 / (double)s->d);
    mercer_kernel *kernel = NULL;
    check(ctx, mercer_kernel_parse(ctx, text, &kernel));
    return kernel;
}

static int add_product(mercer_ctx *ctx, spec s) {
    product *p = calloc(1, sizeof *p);
    char name[160];
    mercer_data *x = rows_of(ctx, s.n, s.d, s.nonzero, 1),
                *z = s.symmetric ? NULL : rows_of(ctx, s.n, s.d, s.nonzero, 2);
    *p = (product){.ctx = ctx, .t = s.t ? s.t : 1, .kernel = kernel_of(ctx, &s), .x = x, .z = z ? z : x};
    check(ctx, mc_gram_open(ctx, p->kernel, x, z, s.precision, &p->gram));
    p->V = malloc((size_t)(s.n * p->t) * 8);
    p->Y = malloc((size_t)(s.n * p->t) * 8);
    for (int64_t i = 0; i < s.n * p->t; i++)
        p->V[i] = sin((double)i);
    snprintf(name, sizeof name, "%s, d %lld, %s%s", s.text, (long long)s.d, s.precision == MERCER_F32 ? "f32" : "f64",
             s.symmetric ? ", symmetric" : "");
    const double n = (double)s.n;
    return add(name, s.symmetric ? 0.5 * n * (n + 1) : n * n, mercer_threads(ctx), run_product, p);
}

/* ---- The table ---- */

typedef enum kind { FLOPS, EXPONENTS_OF, COST, SPEEDUP, PLAIN } kind;

/* case against another (a ceiling, a plain product, one thread), and the bar. */
typedef struct line {
    kind kind;
    int of, against;
    double d, bar;
} line;

static line lines[CASES_MAX];
static int line_count;

static void hold(kind what, int of, int against, double d, double bar) {
    lines[line_count++] = (line){what, of, against, d, bar};
}

static double ratio_of(const line *l, double *value, double *ceiling, const char **unit) {
    const double pairs = rate(&cases[l->of]);
    switch (l->kind) {
    case FLOPS:
        *value = 2 * l->d * pairs / 1e9, *ceiling = best_gemm(l->against) / 1e9, *unit = "GFLOP/s";
        return *value / *ceiling;
    case EXPONENTS_OF:
        *value = pairs / 1e9, *ceiling = rate(&cases[l->against]) / 1e9, *unit = "Gpairs/s";
        return *value / *ceiling;
    case COST:
        *value = pairs / 1e9, *ceiling = rate(&cases[l->against]) / 1e9, *unit = "Gpairs/s";
        return *ceiling / *value;
    case SPEEDUP:
        *value = pairs / 1e9, *ceiling = rate(&cases[l->against]) / 1e9, *unit = "Gpairs/s";
        return *value / *ceiling;
    case PLAIN: break;
    }
    *value = pairs / 1e9, *ceiling = NAN, *unit = "Gpairs/s";
    return NAN;
}

static void print_line(const line *l, FILE *csv) {
    static const char *const against[] = {"gemm", "exp2", "the fused rbf", "one thread", ""};
    double value, ceiling;
    const char *unit;
    const double ratio = ratio_of(l, &value, &ceiling, &unit);
    const bool pass = l->kind == COST ? ratio <= l->bar : ratio >= l->bar;
    char bar[48] = "", share[32] = "";
    if (l->bar > 0)
        snprintf(bar, sizeof bar, "%s %g: %s", l->kind == COST ? "<=" : ">=", l->bar, pass ? "met" : "**missed**");
    if (l->kind != PLAIN)
        snprintf(share, sizeof share, "%.2f%s", ratio, l->kind == COST ? " times its time" : "");
    char ceiling_text[48] = "";
    if (l->kind != PLAIN)
        snprintf(ceiling_text, sizeof ceiling_text, "%.4g %s", ceiling, against[l->kind]);
    const timed *of = &cases[l->of];
    const double error = error_of(of->state, JUDGED);
    printf("| %s | %d | %.4g %s | %s | %s | %.1e | %s |\n", of->name, of->threads, value, unit, ceiling_text, share,
           error, bar);
    if (csv)
        fprintf(csv, "\"%s\",%d,%g,%s,%g,%g,%g,%g,%s\n", of->name, of->threads, value, unit, ceiling, ratio, error,
                l->bar, l->bar > 0 ? (pass ? "met" : "missed") : "");
}

static void print_table(const char *path) {
    FILE *csv = path ? fopen(path, "w") : NULL;
    if (csv)
        fprintf(csv, "case,threads,value,unit,ceiling,ratio,error,bar,verdict\n");
    printf("| product | threads | rate | against | ratio | error | bar |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < line_count; i++)
        print_line(&lines[i], csv);
    printf("\nPairs are entries of K evaluated, n(n+1)/2 of a symmetric one. Best of all rounds of each.\n");
    if (csv)
        fclose(csv);
}

/* ---- What is measured ---- */

static const char rbf[] = "rbf(gamma=G)";
static const char *const four[] = {
    "rbf(gamma=G) + 0.5*linear*matern(nu=1.5, length_scale=3) + rq(alpha=1, length_scale=2)",
    "rbf(gamma=G)*matern(nu=2.5, length_scale=3)*poly(degree=2)*exp(0.1*linear)",
    "0.1*rbf(gamma=G) + 0.2*rbf(gamma=0.5) + 0.3*rbf(gamma=0.25) + 0.4*linear",
};

/* Bars of float32 and float64, on one context. Returns the rbf of d = 64, to compare thread counts by. */
static int add_bars(mercer_ctx *ctx) {
    static const struct {
        int64_t d, n;
        double bar;
    } sizes[] = {{32, 9600, 0.7}, {64, 7200, 0.9}, {256, 3840, 0.9}, {784, 2400, 0.9}};
    const int threads = mercer_threads(ctx), sgemm = add_gemms(true, threads), dgemm = add_gemms(false, threads),
              exps = add_exp2(ctx);
    int shown = 0;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        const int low = add_product(ctx, (spec){rbf, 19200, 3, .precision = MERCER_F32, .symmetric = symmetric});
        hold(EXPONENTS_OF, low, exps, 3, symmetric ? 0 : 0.7);
        for (int i = 0; i < 4; i++) {
            const int64_t n = sizes[i].n;
            const int one =
                add_product(ctx, (spec){rbf, n, sizes[i].d, .precision = MERCER_F32, .symmetric = symmetric});
            hold(FLOPS, one, sgemm, (double)sizes[i].d, symmetric ? 0 : sizes[i].bar);
            shown = sizes[i].d == 64 && symmetric == 0 ? one : shown;
        }
        const int twice = add_product(ctx, (spec){rbf, 5760, 64, .precision = MERCER_F64, .symmetric = symmetric});
        hold(FLOPS, twice, dgemm, 64, symmetric ? 0 : 0.75);
    }
    return shown;
}

static void add_expressions(mercer_ctx *ctx) {
    static const char *const atoms[] = {"linear",
                                        "poly(degree=3)",
                                        "matern(nu=0.5, length_scale=3)",
                                        "matern(nu=2.5, length_scale=3)",
                                        "rq(alpha=0.7, length_scale=3)",
                                        "laplacian(gamma=G)"};
    for (int64_t d = 32; d <= 64; d += 32) {
        const int plain = add_product(ctx, (spec){rbf, 4800, d, .precision = MERCER_F32});
        for (int e = 0; e < 3; e++)
            hold(COST, add_product(ctx, (spec){four[e], 4800, d, .precision = MERCER_F32}), plain, (double)d, 2.5);
        for (int e = 0; e < 6; e++)
            hold(COST, add_product(ctx, (spec){atoms[e], 4800, d, .precision = MERCER_F32}), plain, (double)d, 0);
    }
    const int t1 = add_product(ctx, (spec){rbf, 4800, 64, .precision = MERCER_F32, .symmetric = true});
    hold(COST, add_product(ctx, (spec){rbf, 4800, 64, .t = 16, .precision = MERCER_F32, .symmetric = true}), t1, 64, 0);
    hold(PLAIN, add_product(ctx, (spec){rbf, 9600, 123, .nonzero = 14, .precision = MERCER_F32, .symmetric = true}), 0,
         0, 0);
    hold(PLAIN, add_product(ctx, (spec){rbf, 4800, 38558, .nonzero = 100, .precision = MERCER_F32, .symmetric = true}),
         0, 0, 0);
}

/* OpenBLAS reads its core type when it is loaded: start again with the right one. */
static void restart_with_core(char **argv) {
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : mc_blas_better_core();
    if (core && setenv("OPENBLAS_CORETYPE", core, 0) == 0)
        execv("/proc/self/exe", argv);
}

static mercer_ctx *open_ctx(int threads) {
    mercer_options options = mercer_options_defaults();
    options.threads = threads;
    mercer_ctx *ctx = NULL;
    check(ctx, mercer_open(&options, &ctx));
    return ctx;
}

static int one_product(int64_t n, int64_t d, int threads, int rounds) {
    mercer_ctx *ctx = open_ctx(threads);
    add_product(ctx, (spec){rbf, n, d, .precision = MERCER_F32});
    run_rounds(rounds);
    printf("%.6g %.2g\n", cases[0].best, error_of(cases[0].state, n < 200 ? n : 200));
    return 0;
}

int main(int argc, char **argv) {
    restart_with_core(argv);
    if (argc >= 5 && strcmp(argv[1], "--product") == 0)
        return one_product(atoll(argv[2]), atoll(argv[3]), atoi(argv[4]), argc > 5 ? atoi(argv[5]) : 5);
    int rounds = 12;
    const char *csv = NULL;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--rounds") == 0)
            rounds = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--csv") == 0)
            csv = argv[i + 1];
    mercer_ctx *one = open_ctx(1), *two = open_ctx(2);
    const int single = add_bars(one);
    add_expressions(one);
    const int both = add_bars(two);
    hold(SPEEDUP, both, single, 64, 1.8);
    printf("Instruction set %s. %s.\n\n", mercer_isa(one), mercer_blas());
    run_rounds(rounds);
    print_table(csv);
    return 0;
}
