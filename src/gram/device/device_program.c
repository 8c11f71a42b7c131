/* device_program.c: the source that a device compiles: a prologue that is always the same, what the program has of its
   own, then one of two kernels. Rows of few coordinates stay in the registers of a thread, which walks along columns in
   shared memory; wide rows go through shared memory a few coordinates at a time, sixteen pairs to a thread.

   The source is C with the few words that CUDA adds, so that a test can run it on the processor. */
#include "gram/device/device_program.h"
#include "base/ctx.h"
#include "base/text.h"
#include <device_sources.h>

/* ---- What a device can do ---- */

/* Compressed rows are full ones there, as long as they are not much longer; lines of plain sums count on compressed
   ones. */
enum { SPARSE_COORDINATES = 4096 };

static bool part_fits(const mc_tile_part *p) {
    return !mc_statistic_is_product(p->kind) && !p->precomputed && !p->strings && !(p->uint8_unit > 0) && p->d >= 1
           && p->d < (p->sparse ? SPARSE_COORDINATES : 1 << 20)
           && (!p->sparse || p->kind == MC_DOT || p->kind == MC_MINIMUM);
}

bool mc_device_can(const mc_gram *g) {
    const mc_tile_program *plan = &g->plan;
    bool can = !g->by_reference && !g->factored.terms && plan->parts <= MC_DEVICE_PARTS
               && plan->lines <= MC_DEVICE_LINES && !g->both_triangles;
    for (int i = 0; i < plan->parts && can; i++)
        can = part_fits(&plan->part[i]);
    for (int i = 0; i < plan->lines && can; i++)
        can = plan->line[i].step.function != MC_MEAN_LENGTH && plan->line[i].step.function != MC_DISTANCE_POWER
              && plan->line[i].step.function != MC_LOOKED_UP;
    return can;
}

static int64_t coordinates_of(const mc_gram *g) {
    int64_t d = 0;
    for (int i = 0; i < g->plan.parts; i++)
        d += g->plan.part[i].d;
    return d;
}

static bool has_distance(const mc_tile_part *p) {
    return p->kind == MC_DOT && p->uses[MC_USE_DISTANCE];
}

static bool goes_direct(const mc_tile_part *p) {
    return has_distance(p) && p->distance_method == MC_DISTANCE_DIRECT;
}

/* As many as there are registers for: every column that is read from shared memory serves them all. */
int mc_device_rows(const mc_gram *g, int64_t t) {
    enum { REGISTERS = 200, REGISTERS_OF_DOUBLES = 164, MOST = 8 };
    const bool wide = g->precision == MERCER_F64;
    const int64_t word = wide ? 2 : 1, sums = t * (word + 2);
    const int64_t rows =
        (wide ? REGISTERS_OF_DOUBLES : REGISTERS) / (word * (coordinates_of(g) + g->plan.lines + 1) + sums);
    return rows < 2 ? 0 : rows < MOST ? (int)rows : MOST;
}

enum { GEMM_COORDINATES = 48 }; /* from here on matrix units are faster than sums in registers */

bool mc_device_multiplies(const mc_gram *g) {
    const mc_tile_part *p = &g->plan.part[0];
    return g->plan.parts == 1 && p->kind == MC_DOT && !goes_direct(p) && p->d >= GEMM_COORDINATES;
}

/* A whole number of 16 bytes, without which the library is slower by half. */
int64_t mc_device_row_length(const mc_gram *g, bool halves) {
    const int64_t copies = g->precision == MERCER_F64 ? 1 : 3, unit = g->precision == MERCER_F64 ? 2 : halves ? 8 : 4;
    return (copies * g->plan.part[0].d + unit - 1) / unit * unit;
}

/* ---- On the matrix units ---- */

/* Of 16 numbers, each coordinate being three halves; of four doubles. */
static int64_t steps_of_fragments(const mc_gram *g) {
    const int64_t d = g->plan.part[0].d;
    return g->precision == MERCER_F64 ? (d + 3) / 4 : (3 * d + 15) / 16;
}

/* Two tiles of columns: 32 bytes of a step, then vectors, halves of norms and right-hand sides. */
static bool fits_in_shared_memory(const mc_gram *g) {
    enum { SHARED_BYTES = 48 << 10 };
    const int64_t sides = g->plan.lines + 1 + MC_DEVICE_RIGHT_MOST, real = (int64_t)mc_dtype_size(g->precision);
    return 2 * MC_DEVICE_TILE * (32 * steps_of_fragments(g) + real * sides) <= SHARED_BYTES;
}

/* Distances by norms alone: their bound has room for what halves leave out, and for sums in another order; that of dot
   products, relative to each pair of rows, has not. */
static bool has_distances_by_norms(const mc_gram *g) {
    const mc_tile_part *p = &g->plan.part[0];
    return g->plan.parts == 1 && has_distance(p) && p->distance_method == MC_DISTANCE_NORMS && !p->uses[MC_USE_DOT]
           && !p->uses[MC_USE_ANGLE];
}

static bool has_room_for_halves(const mc_gram *g) {
    return g->precision == MERCER_F32 && has_distances_by_norms(g)
           && g->plan.part[0].left.norm2_max + g->plan.part[0].right.norm2_max < 1e30;
}

bool mc_device_has_fragments(const mc_gram *g) {
    return (g->precision == MERCER_F64 ? has_distances_by_norms(g) : has_room_for_halves(g))
           && fits_in_shared_memory(g);
}

bool mc_device_multiplies_halves(const mc_gram *g) {
    return has_room_for_halves(g) && mc_device_multiplies(g);
}

int mc_device_row_tiles(const mc_gram *g, int64_t t) {
    enum { REGISTERS = 24, REGISTERS_OF_DOUBLES = 16 }; /* of four words, for the rows themselves */
    const bool wide = g->precision == MERCER_F64;
    const int64_t most = (t == 1   ? 4
                          : t == 2 ? 2
                                   : 1)
                         / (wide && t <= 2 ? 2 : 1),
                  tiles = (wide ? REGISTERS_OF_DOUBLES : REGISTERS) / steps_of_fragments(g);
    return (int)(tiles < most ? tiles : most);
}

int64_t mc_device_fragment_words(const mc_gram *g, int64_t n, bool right) {
    const int64_t steps = steps_of_fragments(g);
    return right ? (n + MC_DEVICE_TILE - 1) / MC_DEVICE_TILE * (MC_DEVICE_TILE / 8) * steps * 64
                 : (n + 15) / 16 * steps * 128;
}

/* ---- What the program has of its own ---- */

static bool needs_dot(const mc_tile_part *p) {
    return p->kind == MC_DOT && (!goes_direct(p) || p->uses[MC_USE_DOT] || p->uses[MC_USE_ANGLE]);
}

/* -|x|^2/2 of both points are added to the dot product before any line. */
static bool needs_half(const mc_tile_part *p) {
    return has_distance(p) && !goes_direct(p) && !p->norms_in_line;
}

static bool is_guarded(const mc_tile_part *p) {
    return p->kind == MC_DOT && p->distance_method == MC_DISTANCE_GUARDED && (needs_half(p) || p->uses[MC_USE_ANGLE]);
}

/* The Gaussian of one statistic: 2^(<x, z> - |z|^2/2), with 2^(-|x|^2/2) taken out of the sum. */
static bool is_lifted(const mc_gram *g) {
    const mc_tile_line *line = &g->plan.line[0];
    return g->plan.lines == 1 && g->plan.parts == 1 && line->part == 0 && line->step.function == MC_EXP2
           && line->step.degree == 1 && line->step.alpha == 1 && line->row && g->plan.part[0].norms_in_line
           && line->use == MC_USE_DISTANCE;
}

/* The term of coordinate k of a statistic. */
static const char *term_of(mc_statistic kind) {
    static const char *const term[MC_STATISTICS] = {
        [MC_DOT] = "FMA(x, z, s)",        [MC_SQUARE] = "FMA(x - z, x - z, s)",
        [MC_ABSOLUTE] = "s + ABS(x - z)", [MC_CHI] = "s + (x - z) * (x - z) / (x + z + TINY)",
        [MC_MINIMUM] = "s + MIN(x, z)",   [MC_HARMONIC] = "s + MIN(x, z) * (MAX(x, z) / (x + z + TINY))",
    };
    return term[kind];
}

/* Statistics of part i: STAT_i for its lines, SQUARE_i where distances are summed beside or in place of it. */
static void write_statistics(mc_text *t, const mc_gram *g) {
    for (int i = 0; i < g->plan.parts; i++) {
        const mc_tile_part *p = &g->plan.part[i];
        mc_text_add(t, "#define D%d %lld\n#define HAS_SUM%d %d\n#define HAS_SQUARE%d %d\n#define GUARDED%d %d\n", i,
                    (long long)p->d, i, p->kind != MC_DOT || needs_dot(p), i, goes_direct(p), i, is_guarded(p));
        mc_text_add(t, "FUNCTION real sum%d(real s, real x, real z) {\n    return %s;\n}\n", i, term_of(p->kind));
    }
}

/* What a line finds in its source: a temporary, or a part used one way or another. */
static void write_source(mc_text *t, const mc_gram *g, const mc_tile_line *line) {
    const mc_tile_part *p = line->part >= 0 ? &g->plan.part[line->part] : NULL;
    if (!p)
        mc_text_add(t, "t%d", line->step.source);
    else if (line->use == MC_USE_ANGLE)
        mc_text_add(t, "angle(s[%d], s[%d], s[%d])", 3 * line->part, 3 * line->part + 1, 3 * line->part + 2);
    else if (line->use == MC_USE_DISTANCE && goes_direct(p))
        mc_text_add(t, "s[%d]", 3 * line->part + 1);
    else if (line->use == MC_USE_DISTANCE && !p->norms_in_line)
        mc_text_add(t, "(s[%d] >= 0 ? R(-0.5) * s[%d] : MIN(R(0), s[%d] + (half_x[%d] + half_z[%d])))",
                    3 * line->part + 1, 3 * line->part + 1, 3 * line->part, line->part, line->part);
    else
        mc_text_add(t, "s[%d]", 3 * line->part);
}

static void write_function(mc_text *t, const mc_tile_step *step, int i) {
    switch (step->function) {
    case MC_WHOLE_POWER: mc_text_add(t, "power(v, %lld)", (long long)step->degree); break;
    case MC_REAL_POWER: mc_text_add(t, "POW(v, R(a->p[%d]))", i); break;
    case MC_EXP2: mc_text_add(t, "EXP2(v)"); break;
    case MC_ROOT: mc_text_add(t, "EXP2(-SQRT(MAX(R(0), v)))"); break;
    case MC_MATERN3: mc_text_add(t, "matern3(v)"); break;
    case MC_MATERN5: mc_text_add(t, "matern5(v)"); break;
    case MC_RATIONAL:
        if (step->degree)
            mc_text_add(t, "rational_whole(v, %lld)", (long long)-step->degree);
        else
            mc_text_add(t, "rational(v, R(a->p[%d]))", i);
        break;
    case MC_COMPACT: mc_text_add(t, "compact(v, %lld, %d)", (long long)step->degree, (int)step->p); break;
    case MC_LOG_SERIES: mc_text_add(t, "log_series(v)"); break;
    case MC_ARC_SINE: mc_text_add(t, "arc_sine(v)"); break;
    case MC_BESSEL: mc_text_add(t, "bessel_i0(v)"); break;
    case MC_HYPERBOLIC: mc_text_add(t, "TANH(v)"); break;
    case MC_ARC0: mc_text_add(t, "arc(v, 0)"); break;
    case MC_ARC1: mc_text_add(t, "arc(v, 1)"); break;
    case MC_ARC2: mc_text_add(t, "arc(v, 2)"); break;
    case MC_CONSTANT: mc_text_add(t, "R(1)"); break;
    default: mc_text_add(t, "v"); break;
    }
}

static void write_argument(mc_text *t, const mc_gram *g, int i) {
    const mc_tile_line *line = &g->plan.line[i];
    mc_text_add(t, "    v = ");
    if (line->step.function == MC_EQUAL) {
        mc_text_add(t, "BITS(row[%d]) == BITS(column[%d]) ? R(1) : R(0);\n", i, i);
        return;
    }
    if (line->step.function == MC_CONSTANT) {
        mc_text_add(t, "0;\n");
        return;
    }
    if (line->step.function == MC_RATIO)
        mc_text_add(t, "ratio(");
    write_source(t, g, line);
    if (line->step.function == MC_RATIO)
        mc_text_add(t, " * R(a->alpha[%d]), row[%d] + column[%d])", i, i, i);
    else if (line->step.function == MC_SCALE)
        mc_text_add(t, " * (row[%d] * column[%d])", i, i);
    else if (line->step.function == MC_SCALE_SIGN)
        mc_text_add(t, " * MAX(R(0), row[%d] * column[%d])", i, i);
    else if (line->row)
        mc_text_add(t, " * R(a->alpha[%d]) + (row[%d] + column[%d])", i, i, i);
    else
        mc_text_add(t, " * R(a->alpha[%d])", i);
    mc_text_add(t, ";\n");
}

/* k(x, z) from statistics and vectors: s has sum, |x - z|^2 and |x + z|^2 of each part, a square below 0 being one that
   nobody summed. */
static void write_value(mc_text *t, const mc_gram *g) {
    static const char *const combine[] = {[MC_SET] = "=", [MC_ADD] = "+=", [MC_MULTIPLY] = "*="};
    mc_text_add(t, "FUNCTION real value(const argument *a, const real *s, const real *half_x, const real *half_z,\n"
                   "                    const real *row, const real *column) {\n    real v");
    for (int i = 0; i < g->plan.temporaries; i++)
        mc_text_add(t, ", t%d = 0", i);
    mc_text_add(t, ";\n    (void)s, (void)half_x, (void)half_z, (void)row, (void)column, (void)a;\n");
    for (int i = 0; i < g->plan.lines; i++) {
        const mc_tile_step *step = &g->plan.line[i].step;
        write_argument(t, g, i);
        mc_text_add(t, "    t%d %s R(a->coefficient[%d]) * ", step->target, combine[step->combine], i);
        write_function(t, step, i);
        mc_text_add(t, ";\n");
    }
    mc_text_add(t, "    return t0;\n}\n");
}

/* Lists that kernels go through: X(part), or X(line) of lines that add vectors. */
static void write_lists(mc_text *t, const mc_gram *g) {
    mc_text_add(t, "#define EACH_PART(X)");
    for (int i = 0; i < g->plan.parts; i++)
        mc_text_add(t, " X(%d)", i);
    mc_text_add(t, "\n#define EACH_HALF(X)");
    for (int i = 0; i < g->plan.parts; i++)
        if (needs_half(&g->plan.part[i]))
            mc_text_add(t, " X(%d)", i);
    mc_text_add(t, "\n#define EACH_VECTOR(X)");
    for (int i = 0; i < g->plan.lines; i++)
        if (g->plan.line[i].row)
            mc_text_add(t, " X(%d)", i);
    mc_text_add(t, "\n");
}

/* The record of a column: coordinates of the parts, vectors, halves of norms, right-hand sides. */
static void write_record(mc_text *t, const mc_gram *g, int64_t right) {
    int64_t at = 0;
    const int64_t four = g->precision == MERCER_F64 ? 2 : 4;
    for (int i = 0; i < g->plan.parts; at += g->plan.part[i++].d)
        mc_text_add(t, "#define COORDINATES%d %lld\n", i, (long long)at);
    for (int i = 0; i < g->plan.lines; i++)
        if (g->plan.line[i].row)
            mc_text_add(t, "#define VECTOR%d %lld\n", i, (long long)at++);
    for (int i = 0; i < g->plan.parts; i++)
        if (needs_half(&g->plan.part[i]))
            mc_text_add(t, "#define HALF%d %lld\n", i, (long long)at++);
    mc_text_add(t, "#define WEIGHT %lld\n#define RECORD %lld\n", (long long)at,
                (long long)((at + right + four - 1) / four * four));
}

/* ---- The whole ---- */

/* Near pairs are looked at again by direct differences, from the points themselves. */
static void write_doubts(mc_text *t, const mc_gram *g, const char *name, const char *s, const char *i, const char *j,
                         const char *half_x) {
    mc_text_add(t, "#define %s", name);
    for (int p = 0; p < g->plan.parts; p++) {
        const mc_tile_part *part = &g->plan.part[p];
        if (!is_guarded(part))
            continue;
        if (needs_half(part))
            mc_text_add(t, " if (%s[%d] + (%s[%d] + half_z[%d]) > R(%a) * (%s[%d] + half_z[%d]))", s, 3 * p, half_x, p,
                        p, MC_GUARD_SHARE, half_x, p, p);
        else
            mc_text_add(t, " if (R(%a) > MIN(2 - 2 * %s[%d], 2 + 2 * %s[%d]))", MC_GUARD_SHARE, s, 3 * p, s, 3 * p);
        mc_text_add(t,
                    " { %s[%d] = difference2((const real *)a.x[%d], %s, (const real *)a.z[%d], %s, D%d, R(1));"
                    " %s[%d] = difference2((const real *)a.x[%d], %s, (const real *)a.z[%d], %s, D%d, R(-1)); }",
                    s, 3 * p + 1, p, i, p, j, p, s, 3 * p + 2, p, i, p, j, p);
    }
    mc_text_add(t, "\n");
}

static void write_head(mc_text *t, const mc_gram *g, int64_t right, int rows) {
    const bool wide = g->precision == MERCER_F64;
    if (wide)
        mc_text_add(t, "#define DOUBLE\n");
    mc_text_add(
        t, "#define WIDTH %d\n#define T %lld\n#define ROWS %d\n#define THREADS %d\n#define TILE %d\n#define CHUNK 16\n",
        g->ops->columns, (long long)right, rows, MC_DEVICE_THREADS, MC_DEVICE_TILE);
    mc_text_add(t, "#define PARTS %d\n#define LINES %d\n#define RUN %d\n#define VECTOR_LENGTH %d\n",
                g->plan.parts > 0 ? g->plan.parts : 1, g->plan.lines > 0 ? g->plan.lines : 1,
                wide ? 1 << 30 : MC_TILE_RUN, wide ? 2 : 4);
}

mercer_status mc_device_source(mercer_ctx *ctx, const mc_gram *g, int64_t right, bool matrix_units, char **out) {
    mc_text t = mc_text_open(ctx);
    const bool fragments = matrix_units && mc_device_has_fragments(g), wide = !fragments && mc_device_multiplies(g);
    const bool wide_halves = wide && matrix_units && mc_device_multiplies_halves(g);
    const int rows = mc_device_rows(g, right);
    write_head(&t, g, right, rows);
    if (fragments)
        mc_text_add(&t, "#define MT %d\n", mc_device_row_tiles(g, right));
    if (is_lifted(g) && (fragments || rows))
        mc_text_add(&t, "#define LIFTED\n");
    mc_text_add(&t, "%s", mc_source_prologue);
    write_statistics(&t, g);
    write_value(&t, g);
    write_lists(&t, g);
    write_record(&t, g, right);
    write_doubts(&t, g, "DOUBTS", "s", "(i0 + r * THREADS < last ? i0 + r * THREADS : last)",
                 "(j0 + c < a.m ? j0 + c : a.m - 1)", "half_x[r]");
    write_doubts(&t, g, "WIDE_DOUBTS", "s[r][c]", "i", "j", "half_x");
    write_doubts(&t, g, "GEMM_DOUBTS", "s", "i", "j", "half_x");
    if (fragments || wide_halves)
        mc_text_add(&t, "%s", mc_source_halves);
    mc_text_add(&t, "%s%s",
                fragments ? mc_source_product_matrix
                : rows    ? mc_source_product_narrow
                          : mc_source_product_wide,
                mc_source_gather);
    if (wide)
        mc_text_add(&t, "%s#define ROW_LENGTH %lld\n%s", wide_halves ? "#define HALVES\n" : "",
                    (long long)mc_device_row_length(g, wide_halves), mc_source_product_gemm);
    return mc_text_take(&t, out);
}

mercer_status mc_device_block_source(mercer_ctx *ctx, const mc_gram *g, char **out) {
    mc_text t = mc_text_open(ctx);
    write_head(&t, g, 1, 0);
    mc_text_add(&t, "%s", mc_source_prologue);
    write_statistics(&t, g);
    write_value(&t, g);
    write_lists(&t, g);
    write_doubts(&t, g, "BLOCK_DOUBTS", "s[c]", "i", "j", "half_x");
    mc_text_add(&t, "%s", mc_source_block);
    return mc_text_take(&t, out);
}
