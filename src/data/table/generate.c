/* generate.c: made-up data. A generator is one row of a table: how many columns, numbers or classes, and a function
   that makes row i from a random stream of its own, so rows are the same whatever thread makes them, and the same bits
   on every machine (base/portable_math.h).

   noise is the standard deviation of what is added: to the coordinates where the target is a class, to the target
   otherwise. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/portable_math.h"
#include "base/suggest.h"
#include "data/table/data.h"
#include "data/encode/labels.h"
#include "data/table/strings.h"
#include <math.h>
#include <string.h>

enum { ROW_GRAIN = 1024 };
static const double pi = 3.14159265358979323846;

/* The coordinates of row i go to x; its class or its value is returned. */
typedef double row_maker(mc_rng *rng, int64_t i, double *x);

static double uniform_between(mc_rng *rng, double low, double high) {
    return low + (high - low) * mc_rng_uniform(rng);
}

/* Two half circles, one upside down and shifted into the other. */
static double generate_moons(mc_rng *rng, int64_t i, double *x) {
    const double t = mc_rng_uniform(rng) / 2, c = mc_portable_math_cos_turns(t), s = mc_portable_math_sin_turns(t);
    x[0] = i % 2 ? 1 - c : c;
    x[1] = i % 2 ? 0.5 - s : s;
    return (double)(i % 2);
}

/* A circle of radius 1/2 in a circle of radius 1. */
static double generate_circles(mc_rng *rng, int64_t i, double *x) {
    const double t = mc_rng_uniform(rng), radius = i % 2 ? 0.5 : 1;
    x[0] = radius * mc_portable_math_cos_turns(t);
    x[1] = radius * mc_portable_math_sin_turns(t);
    return (double)(i % 2);
}

/* Two arms of one and a half turns. */
static double generate_spirals(mc_rng *rng, int64_t i, double *x) {
    const double t = 1.5 * sqrt(mc_rng_uniform(rng)), radius = 2 * t + 0.1, side = i % 2 ? -1 : 1;
    x[0] = side * radius * mc_portable_math_cos_turns(t);
    x[1] = side * radius * mc_portable_math_sin_turns(t);
    return (double)(i % 2);
}

/* Three centres on the unit circle; all spread comes from the noise. */
static double generate_blobs(mc_rng *rng, int64_t i, double *x) {
    (void)rng;
    x[0] = mc_portable_math_cos_turns((double)(i % 3) / 3);
    x[1] = mc_portable_math_sin_turns((double)(i % 3) / 3);
    return (double)(i % 3);
}

/* The class is the sign of the product. */
static double xor_quadrants(mc_rng *rng, int64_t i, double *x) {
    (void)i;
    x[0] = uniform_between(rng, -1, 1);
    x[1] = uniform_between(rng, -1, 1);
    return (x[0] > 0) == (x[1] > 0) ? 0 : 1;
}

/* Four by four fields of two colours. */
static double generate_checkerboard(mc_rng *rng, int64_t i, double *x) {
    (void)i;
    x[0] = uniform_between(rng, 0, 4);
    x[1] = uniform_between(rng, 0, 4);
    return (double)(((int)x[0] + (int)x[1]) % 2);
}

/* sin(x) / x on [-10, 10] */
static double generate_sinc(mc_rng *rng, int64_t i, double *x) {
    (void)i;
    x[0] = uniform_between(rng, -10, 10);
    return x[0] == 0 ? 1 : mc_portable_math_sin(x[0]) / x[0];
}

/* A slow wave and a fast one on [0, 10]. */
static double generate_waves(mc_rng *rng, int64_t i, double *x) {
    (void)i;
    x[0] = uniform_between(rng, 0, 10);
    return mc_portable_math_sin(x[0]) + 0.5 * mc_portable_math_sin(4 * x[0]);
}

/* Friedman (1991), as are the next two: five of ten columns matter. */
static double generate_friedman1(mc_rng *rng, int64_t i, double *x) {
    (void)i;
    for (int j = 0; j < 10; j++)
        x[j] = mc_rng_uniform(rng);
    return 10 * mc_portable_math_sin_turns(x[0] * x[1] / 2) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4];
}

/* Resistance, frequency, inductance and capacity of a circuit; returns its reactance. */
static double draw_circuit(mc_rng *rng, double *x) {
    x[0] = uniform_between(rng, 0, 100);
    x[1] = uniform_between(rng, 40 * pi, 560 * pi);
    x[2] = mc_rng_uniform(rng);
    x[3] = uniform_between(rng, 1, 11);
    return x[1] * x[2] - 1 / (x[1] * x[3]);
}

/* The impedance. */
static double generate_friedman2(mc_rng *rng, int64_t i, double *x) {
    (void)i;
    const double reactance = draw_circuit(rng, x);
    return sqrt(x[0] * x[0] + reactance * reactance);
}

/* The phase. */
static double generate_friedman3(mc_rng *rng, int64_t i, double *x) {
    (void)i;
    const double reactance = draw_circuit(rng, x);
    return x[0] == 0 ? (reactance < 0 ? -pi / 2 : pi / 2) : mc_portable_math_atan(reactance / x[0]);
}

/* A rolled-up rectangle in space; the target is the place along the roll. */
static double generate_swissroll(mc_rng *rng, int64_t i, double *x) {
    (void)i;
    const double t = 1.5 * pi * (1 + 2 * mc_rng_uniform(rng));
    x[0] = t * mc_portable_math_cos(t);
    x[1] = uniform_between(rng, 0, 21);
    x[2] = t * mc_portable_math_sin(t);
    return t;
}

typedef struct generator {
    int d;
    bool classes;
    row_maker *make;
} generator;

/* One list makes the names and the rows. */
#define GENERATORS(X)                                                                                                  \
    X("moons", 2, true, generate_moons)                                                                                \
    X("circles", 2, true, generate_circles)                                                                            \
    X("spirals", 2, true, generate_spirals)                                                                            \
    X("blobs", 2, true, generate_blobs)                                                                                \
    X("xor", 2, true, xor_quadrants)                                                                                   \
    X("checkerboard", 2, true, generate_checkerboard)                                                                  \
    X("sinc", 1, false, generate_sinc)                                                                                 \
    X("waves", 1, false, generate_waves)                                                                               \
    X("friedman1", 10, false, generate_friedman1)                                                                      \
    X("friedman2", 4, false, generate_friedman2)                                                                       \
    X("friedman3", 4, false, generate_friedman3)                                                                       \
    X("swissroll", 3, false, generate_swissroll)

static const generator table[] = {
#define X(name, d, classes, make) {d, classes, make},
    GENERATORS(X)
#undef X
};

static const char *const names[] = {
#define X(name, d, classes, make) name,
    GENERATORS(X)
#undef X
};
enum { COUNT = sizeof names / sizeof names[0] };

const char *const *mercer_generators(int *count) {
    if (count)
        *count = COUNT;
    return names;
}

typedef struct table_generation {
    const generator *g;
    mercer_data *data;
    double *target;
    double noise;
    uint64_t seed;
} table_generation;

static void make_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const table_generation *m = arg;
    for (int64_t i = begin; i < end; i++) {
        mc_rng rng = mc_rng_at(m->seed, MC_STREAM_GENERATE, (uint64_t)i);
        double *x = (double *)m->data->values + i * m->g->d;
        m->target[i] = m->g->make(&rng, i, x);
        for (int j = 0; j < m->g->d && m->g->classes; j++)
            x[j] += m->noise * mc_rng_normal(&rng);
        if (!m->g->classes)
            m->target[i] += m->noise * mc_rng_normal(&rng);
    }
}

static mercer_status generate_table(mercer_ctx *ctx, table_generation *m) {
    MC_TRY(MC_ALLOC(ctx, m->target, m->data->n));
    mc_begin_phase(ctx, "generate");
    MC_TRY(mc_for(ctx, m->data->n, ROW_GRAIN, make_rows, m));
    double *target = m->target;
    m->target = NULL; /* taken over */
    MC_TRY(mc_target_of_numbers(ctx, m->g->classes ? MERCER_TARGET_CLASS : MERCER_TARGET_NUMBER, target, 1, m->data));
    m->data->name = mc_strings_numbered(ctx, "x", m->data->d);
    MC_TRY(m->data->name ? MERCER_OK : MERCER_MEMORY);
    MC_TRY(mc_data_finish(ctx, m->data));
    return mc_schema_of_names(ctx, m->data, NULL);
}

static mercer_status find_generator(mercer_ctx *ctx, const char *name, const generator **out) {
    for (int k = 0; k < COUNT; k++)
        if (strcmp(names[k], name) == 0) {
            *out = &table[k];
            return MERCER_OK;
        }
    const char *near = mc_suggest_name(name, strlen(name), names, COUNT);
    return mc_fail(ctx, MERCER_INVALID, "there is no generator '%s'; did you mean '%s'?", name, near ? near : names[0]);
}

mercer_status mercer_data_generate(mercer_ctx *ctx, const char *name, int64_t n, double noise, uint64_t seed,
                                   mercer_data **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, name, out);
    mc_begin_call(ctx);
    table_generation m = {.noise = noise, .seed = seed};
    MC_TRY(find_generator(ctx, name, &m.g));
    if (n < 1 || !(noise >= 0 && noise <= 1e100))
        return mc_fail(ctx, MERCER_INVALID,
                       "generate: n must be at least 1 and noise in [0, 1e100], got n = %lld, noise = %g", (long long)n,
                       noise);
    MC_TRY(mc_data_new(ctx, n, m.g->d, MERCER_F64, -1, &m.data));
    const mercer_status status = generate_table(ctx, &m);
    mc_free(m.target);
    if (status)
        mercer_data_free(m.data);
    else
        *out = m.data;
    return status;
}
