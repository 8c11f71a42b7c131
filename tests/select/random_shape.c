#include "random_shape.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From 1 to most, small numbers as likely as large ones. */
static int64_t log_uniform(mc_rng *rng, int64_t most) {
    const double v = floor(exp(mc_rng_uniform(rng) * log((double)most + 1)));
    return v < 1 ? 1 : v > (double)most ? most : (int64_t)v;
}

static bool chance(mc_rng *rng, double p) {
    return mc_rng_uniform(rng) < p;
}

/* What one shape draws its values from. */
typedef struct law {
    double density, empty_rows, repeated;
    int64_t every;        /* only columns that are a multiple of this have values */
    bool whole, positive; /* whole numbers 0 .. 9; nothing below 0 */
} law;

/* Numbers that a float holds. */
static double draw_value(mc_rng *rng, const law *l) {
    const double v = mc_rng_normal(rng);
    return l->whole ? floor(10 * mc_rng_uniform(rng)) : (double)(float)(l->positive ? fabs(v) : v);
}

static int64_t draw_row(mc_rng *rng, const law *l, int64_t d, int64_t at, shape *s) {
    const double p = l->density;
    for (int64_t j = -1; !chance(rng, l->empty_rows);) {
        j += 1 + (p >= 1 ? 0 : (int64_t)fmin(floor(log(1 - mc_rng_uniform(rng)) / log1p(-p)), (double)d));
        if (j >= d)
            return at;
        if (j % l->every)
            continue;
        s->value[at] = draw_value(rng, l);
        s->column[at++] = (int32_t)j;
    }
    return at;
}

static int64_t copy_row(int64_t from, int64_t at, shape *s) {
    const int64_t count = s->start[from + 1] - s->start[from];
    memmove(s->value + at, s->value + s->start[from], (size_t)count * sizeof *s->value);
    memmove(s->column + at, s->column + s->start[from], (size_t)count * sizeof *s->column);
    return at + count;
}

static void draw_rows(mc_rng *rng, const law *l, shape *s) {
    for (int64_t i = 0, at = 0; i < s->n; i++) {
        s->start[i] = at;
        at = i > 0 && chance(rng, l->repeated) ? copy_row((int64_t)(mc_rng_u64(rng) % (uint64_t)i), at, s)
                                               : draw_row(rng, l, s->d, at, s);
        s->start[i + 1] = at;
    }
}

static void draw_targets(mc_rng *rng, shape *s) {
    static const char *const names[] = {"1", "2", "3"};
    const uint64_t classes = 2 + mc_rng_u64(rng) % 2;
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
            sum += s->value[e] * (e % 3 ? 0.3 : -0.5);
        s->target[i] = sum + 0.1 * mc_rng_normal(rng);
        s->label[i] = names[chance(rng, 0.1) ? mc_rng_u64(rng) % classes : sum > 0];
    }
}

static void write_full(shape *s) {
    s->full = calloc((size_t)(s->n * s->d), sizeof *s->full);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t e = s->start[i]; e < s->start[i + 1]; e++)
            s->full[i * s->d + s->column[e]] = s->value[e];
}

static law draw_law(mc_rng *rng, int64_t n, int64_t d) {
    const double least = fmax(1e-4, 0.5 / (double)d);
    law l = {.density = fmin(pow(least, mc_rng_uniform(rng)), 0.5 * SHAPE_STORED / ((double)n * (double)d)),
             .empty_rows = chance(rng, 0.3) ? 0.3 : 0,
             .repeated = chance(rng, 0.3) ? 0.2 : 0,
             .every = chance(rng, 0.2) ? 3 : 1,
             .whole = chance(rng, 0.2)};
    if (chance(rng, 0.2))
        l.density = fmin(1, 0.5 * SHAPE_STORED / ((double)n * (double)d));
    l.positive = l.whole || chance(rng, 0.3);
    return l;
}

shape random_shape(mc_rng *rng) {
    shape s = {.n = log_uniform(rng, SHAPE_ROWS), .d = chance(rng, 0.1) ? 1 : log_uniform(rng, SHAPE_COLUMNS)};
    const law l = draw_law(rng, s.n, s.d);
    const size_t most =
        (size_t)(s.n * (s.d < SHAPE_STORED ? s.d : SHAPE_STORED)) + 1; /* a row that repeats a full one, and so on */
    s.positive = l.positive;
    s.value = malloc(most * sizeof *s.value);
    s.column = malloc(most * sizeof *s.column);
    s.start = malloc((size_t)(s.n + 1) * sizeof *s.start);
    s.target = malloc((size_t)s.n * sizeof *s.target);
    s.label = malloc((size_t)s.n * sizeof *s.label);
    draw_rows(rng, &l, &s);
    draw_targets(rng, &s);
    if (s.n * s.d <= SHAPE_FULL)
        write_full(&s);
    snprintf(s.words, sizeof s.words, "%lld rows of %lld columns, %lld values%s%s%s%s%s", (long long)s.n,
             (long long)s.d, (long long)s.start[s.n], l.empty_rows > 0 ? ", empty rows" : "",
             l.repeated > 0 ? ", repeated rows" : "", l.every > 1 ? ", empty columns" : "", l.whole ? ", whole" : "",
             l.positive ? ", positive" : "");
    return s;
}

void shape_free(shape *s) {
    free(s->full), free(s->value), free(s->start), free(s->column), free(s->target), free(s->label);
    *s = (shape){0};
}

static float *as_floats(const double *v, int64_t count) {
    float *out = malloc((size_t)(count + 1) * sizeof *out);
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)v[i];
    return out;
}

mercer_data *shape_data(mercer_ctx *ctx, const shape *s, int layout, bool classes) {
    const bool full = layout >= 2, floats = layout % 2;
    mercer_data *data = NULL;
    if (full && !s->full)
        return NULL;
    const double *values = full ? s->full : s->value;
    float *rounded = floats ? as_floats(values, full ? s->n * s->d : s->start[s->n]) : NULL;
    const mercer_table table = {.size = sizeof table,
                                .n = s->n,
                                .d = s->d,
                                .dtype = floats ? MERCER_F32 : MERCER_F64,
                                .values = floats ? (const void *)rounded : values,
                                .row_start = full ? NULL : s->start,
                                .column = full ? NULL : s->column,
                                .target = classes ? NULL : s->target,
                                .outputs = classes ? 0 : 1,
                                .labels = classes ? s->label : NULL};
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    free(rounded);
    return data;
}

int64_t shape_width(mc_rng *rng) {
    const int64_t most = INT32_MAX / SHAPE_COLUMNS;
    return chance(rng, 0.2) ? INT32_MAX : 2 * SHAPE_COLUMNS * log_uniform(rng, most / 2);
}

mercer_data *shape_spread(mercer_ctx *ctx, const shape *s, int64_t width, bool classes) {
    shape wide = *s;
    mercer_data *data = NULL;
    const int64_t apart = width / s->d;
    wide.d = width;
    wide.column = malloc((size_t)(s->start[s->n] + 1) * sizeof *wide.column);
    for (int64_t e = 0; e < s->start[s->n]; e++)
        wide.column[e] = (int32_t)(s->column[e] * apart);
    data = shape_data(ctx, &wide, 0, classes);
    free(wide.column);
    return data;
}

/* G is 1 over squares of the rows' length, L that length. */
static void write_kernel(const char *format, double length, char text[256]) {
    size_t at = 0;
    for (const char *c = format; *c && at < 240; c++)
        if (*c == 'G' || *c == 'L')
            at += (size_t)snprintf(text + at, 256 - at, "%g",
                                   (double)(float)(*c == 'G' ? 0.5 / (length * length) : length));
        else
            text[at++] = *c;
    text[at] = '\0';
}

void shape_kernel(mc_rng *rng, const shape *s, char text[256]) {
    static const char *const formats[] = {"linear",
                                          "rbf(gamma=G)",
                                          "poly(degree=3, gamma=G)",
                                          "laplacian(gamma=G)",
                                          "exponential(gamma=G)",
                                          "matern(nu=1.5, length_scale=L)",
                                          "matern(nu=2.5, length_scale=L)",
                                          "rq(alpha=2.5, length_scale=L)",
                                          "cosine",
                                          "periodic(period=L, length_scale=2)",
                                          "rbf(gamma=G) + G*linear",
                                          "arccos(order=1)",
                                          "normalize(1 + linear)",
                                          "rbf(gamma=G)[1] + cosine",
                                          "0.5*laplacian(gamma=G)*(1 + G*linear)^2",
                                          "chi2(gamma=G)",
                                          "G*intersection + rbf(gamma=G)"};
    const size_t count =
        sizeof formats / sizeof *formats - (s->positive ? 0 : 2); /* the last two want no value below 0 */
    double square = 0;
    for (int64_t e = 0; e < s->start[s->n]; e++)
        square += s->value[e] * s->value[e] / (double)s->n;
    write_kernel(formats[mc_rng_u64(rng) % count], sqrt(1 + square), text);
}
