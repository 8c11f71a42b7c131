/* strip.c: from packed points to strips of K.

   For every run of panels: sparse parts unpack the panel, long rows are accumulated block by block of coordinates over
   all groups (so that a block of the panel stays in the cache), then each group has its statistics, its lines and its
   exact diagonal. */
#include "base/parallel.h"
#include "gram/operator/entry_fault.h"
#include "gram/operator/precomputed.h"
#include "gram/pack/aligned_texts.h"
#include <string.h>

/* ---- Statistics ---- */

/* What one strip reads and writes. */
typedef struct strip_task {
    const mc_gram *gram;
    const mc_tile_workspace *space;
    int64_t group, panel, panels, slot;
} strip_task;

static void *strip_of(const strip_task *t, int number) {
    const mc_gram *g = t->gram;
    return t->space->strips + (t->slot * g->plan.strips + number) * mc_strip_reals(g) * mc_real_size(g);
}

static mc_operands tile_operands(const strip_task *t, int part, int64_t begin, int64_t end) {
    const mc_gram *g = t->gram;
    const mc_tile_part *p = &g->plan.part[part];
    const int64_t size = mc_part_element(p, g->precision), rows = g->ops->rows,
                  stride = g->ops->columns * mc_part_elements(p);
    return (mc_operands){.d = end - begin,
                         .panels = t->panels,
                         .a = t->space->a[part] + t->group * rows * p->d * mc_real_size(g) + begin * rows * size,
                         .b = (const char *)p->right.values + (t->panel * stride + begin * g->ops->columns) * size,
                         .stride = stride};
}

static bool needs_dot(const mc_tile_part *p) {
    return p->kind == MC_DOT
           && (p->distance_method != MC_DISTANCE_DIRECT || p->uses[MC_USE_DOT] || p->uses[MC_USE_ANGLE]);
}

static bool needs_square(const mc_tile_part *p) {
    return p->kind == MC_DOT && p->distance_method == MC_DISTANCE_DIRECT && p->uses[MC_USE_DISTANCE];
}

static bool needs_radial(const mc_tile_part *p) {
    return p->kind == MC_DOT && p->uses[MC_USE_DISTANCE] && !needs_square(p) && !p->norms_in_line;
}

/* Coordinates begin .. end - 1 into the strips that sums go to. */
static void accumulate_part(const strip_task *t, int part, int64_t begin, int64_t end) {
    const mc_tile_part *p = &t->gram->plan.part[part];
    if (p->precomputed) {
        mc_precomputed_strip(t->gram, t->space, part, t->group, t->panel, t->panels, strip_of(t, p->strip[MC_USE_SUM]));
        return;
    }
    if (p->uint8_unit > 0) {
        const mc_operands words = tile_operands(t, part, 0, mc_part_elements(p));
        t->gram->ops->bytes(&words, strip_of(t, p->strip[MC_USE_DOT]));
        return;
    }
    const mc_operands o = tile_operands(t, part, begin, end);
    if (p->kind != MC_DOT)
        t->gram->ops->statistic(p->kind, &o, begin > 0, strip_of(t, p->strip[MC_USE_SUM]));
    if (needs_dot(p))
        t->gram->ops->statistic(MC_DOT, &o, begin > 0, strip_of(t, p->strip[MC_USE_DOT]));
    if (needs_square(p))
        t->gram->ops->statistic(MC_SQUARE, &o, begin > 0, strip_of(t, p->strip[MC_USE_DISTANCE]));
}

static void accumulate_sparse(const strip_task *t, int part) {
    const mc_gram *g = t->gram;
    const mc_tile_part *p = &g->plan.part[part];
    const int64_t rows = g->ops->rows, *row = t->space->row + t->group * rows;
    if (mc_part_aligned(p)) {
        void *out = strip_of(t, p->strip[MC_USE_DOT]);
        mc_aligned_texts_tile(p, g->ops, row, t->panel * g->ops->columns, p->right.n, out);
        return;
    }
    const int64_t *start[MC_TILE_ROWS_MAX];
    for (int64_t r = 0; r < rows; r++)
        start[r] = p->left.start + row[r];
    const mc_sparse_operands o = {.start = start,
                                  .coordinate = p->left.coordinate,
                                  .value = p->left.values,
                                  .place = mc_part_in_full(g, p) ? NULL : t->space->place[part],
                                  .b = t->space->b[part],
                                  .narrow = p->narrow};
    g->ops->sparse(p->kind, &o, strip_of(t, p->strip[MC_USE_DOT]));
}

static const void *column_vector(const strip_task *t, const void *vector) {
    return vector ? (const char *)vector + t->panel * t->gram->ops->columns * mc_real_size(t->gram) : NULL;
}

/* What line i adds to the rows of the group; NULL: nothing. */
static const void *row_vector(const strip_task *t, int i) {
    return t->gram->plan.line[i].step.row ? t->space->vector[i] + t->group * t->gram->ops->rows * mc_real_size(t->gram)
                                          : NULL;
}

/* The distance and the angle out of the dot product. */
static void derive_distances_angles(const strip_task *t, int part) {
    const mc_gram *g = t->gram;
    const mc_tile_part *p = &g->plan.part[part];
    if (p->precomputed)
        return;
    mc_guard guard = {.share = MC_GUARD_SHARE};
    if (!p->sparse)
        guard.direct = tile_operands(t, part, 0, p->d);
    const mc_guard *look = p->distance_method == MC_DISTANCE_GUARDED ? &guard : NULL;
    const void *dot = strip_of(t, p->strip[MC_USE_DOT]);
    if (needs_radial(p))
        g->ops->radial(look, t->panels, t->space->half[part] + t->group * g->ops->rows * mc_real_size(g),
                       column_vector(t, p->right.half), dot, strip_of(t, p->strip[MC_USE_DISTANCE]));
    if (p->uses[MC_USE_ANGLE])
        g->ops->angle(look, t->panels, dot, strip_of(t, p->strip[MC_USE_ANGLE]));
}

static void run_lines(const strip_task *t) {
    const mc_gram *g = t->gram;
    for (int i = 0; i < g->plan.lines; i++) {
        const mc_tile_step *step = &g->plan.line[i].step;
        g->ops->step(step, t->panels, row_vector(t, i), column_vector(t, step->column), strip_of(t, step->source),
                     strip_of(t, step->target));
    }
}

/* K_ii as the reference evaluator has it. */
static void set_diagonal(const strip_task *t, void *values) {
    const mc_gram *g = t->gram;
    const int64_t rows = g->ops->rows, width = g->ops->columns;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t i = t->space->row[t->group * rows + r], p = i / width - t->panel;
        if (p < 0 || p >= t->panels)
            continue;
        const int64_t at = (p * rows + r) * width + i % width;
        if (g->precision == MERCER_F32)
            ((float *)values)[at] = (float)g->diagonal[i];
        else
            ((double *)values)[at] = g->diagonal[i];
    }
}

/* All statistics but those of long rows, which are there already; norms need no values from elsewhere. */
static void accumulate_short(const strip_task *t, bool given) {
    const mc_tile_program *plan = &t->gram->plan;
    for (int i = 0; i < plan->parts; i++)
        if (plan->part[i].sparse)
            accumulate_sparse(t, i);
        else if (!mc_part_long(&plan->part[i]) && (given || !plan->part[i].precomputed))
            accumulate_part(t, i, 0, plan->part[i].d);
}

static void compute_strip(const strip_task *t) {
    accumulate_short(t, true);
    for (int i = 0; i < t->gram->plan.parts; i++)
        derive_distances_angles(t, i);
    run_lines(t);
}

/* Values from elsewhere are given on as they are, subnormals too. */
static void compute_unflushed(const strip_task *t) {
    const unsigned before = mc_keep_subnormals();
    compute_strip(t);
    mc_restore_subnormals(before);
}

static void finish_strip(const strip_task *t, mc_sink *sink, void *arg) {
    const mc_gram *g = t->gram;
    (mc_gram_has_precomputed(g) ? compute_unflushed : compute_strip)(t);
    void *values = strip_of(t, 0);
    if (g->symmetric)
        set_diagonal(t, values);
    const mc_strip strip = {
        .space = t->space, .group = t->group, .panel = t->panel, .panels = t->panels, .values = values};
    mc_fault_watch(g, &strip);
    sink(arg, &strip);
}

/* ---- Sparse panels ---- */

static void clear_panel(mc_tile_workspace *s, int part) {
    for (int64_t k = 0; k < s->places[part]; k++)
        s->place[part][s->occupied[part][k]] = -1;
    s->places[part] = 0;
}

/* Where coordinate k stands in the unpacked panel; a new one is given a row of zeros. */
static int64_t place_of(const mc_gram *g, mc_tile_workspace *s, int part, int32_t k) {
    const int64_t bytes = g->ops->columns * mc_panel_element(g, &g->plan.part[part]);
    if (s->place[part][k] < 0) {
        memset(s->b[part] + s->places[part] * bytes, 0, (size_t)bytes);
        s->occupied[part][s->places[part]] = k;
        s->place[part][k] = (int32_t)s->places[part]++;
    }
    return s->place[part][k];
}

/* Value e of the right side to place `at` of the panel. */
static void unpack_value(const mc_gram *g, const mc_tile_part *p, int64_t e, char *b, int64_t at) {
    const bool floats = g->precision == MERCER_F32;
    if (p->narrow)
        ((uint8_t *)b)[at] =
            (uint8_t)(floats ? (double)((const float *)p->right.values)[e] : ((const double *)p->right.values)[e]);
    else if (floats)
        memcpy(b + at * (int64_t)sizeof(float), (const float *)p->right.values + e, sizeof(float));
    else
        memcpy(b + at * (int64_t)sizeof(double), (const double *)p->right.values + e, sizeof(double));
}

/* Write the panel's rows out in full. */
static void unpack_panel(const mc_gram *g, mc_tile_workspace *s, int part, int64_t panel) {
    const mc_tile_part *p = &g->plan.part[part];
    const int64_t width = g->ops->columns;
    const bool full = mc_part_in_full(g, p);
    if (s->unpacked[part] == panel)
        return;
    s->unpacked[part] = panel;
    clear_panel(s, part);
    if (full)
        memset(s->b[part], 0, (size_t)(p->d * width * mc_panel_element(g, p)));
    for (int64_t j = 0; j < width; j++) {
        const int64_t i = panel * width + j < p->right.n ? panel * width + j : p->right.n - 1;
        for (int64_t e = p->right.start[i]; e < p->right.start[i + 1]; e++) {
            const int32_t k = p->right.coordinate[e];
            unpack_value(g, p, e, s->b[part], (full ? k : place_of(g, s, part, k)) * width + j);
        }
    }
}

/* ---- The walk ---- */

static void prepare_panels(const strip_task *t, mc_tile_workspace *s, int64_t g0, int64_t g1) {
    const mc_gram *g = t->gram;
    for (int i = 0; i < g->plan.parts; i++) {
        const mc_tile_part *p = &g->plan.part[i];
        if (p->sparse && !mc_part_aligned(p))
            unpack_panel(g, s, i, t->panel);
        for (int64_t begin = 0; mc_part_long(p) && begin < p->d; begin += MC_COORDINATES)
            for (int64_t group = g0; group < g1; group++) {
                strip_task one = *t;
                one.group = group;
                one.slot = group - g0;
                accumulate_part(&one, i, begin, begin + MC_COORDINATES < p->d ? begin + MC_COORDINATES : p->d);
            }
    }
}

void mc_tile_workspace_walk(const mc_gram *g, mc_tile_workspace *s, int64_t g0, int64_t g1, int64_t p0, int64_t p1,
                            mc_sink *sink, void *arg) {
    const int64_t step = mc_strip_panels(g);
    const bool keeps = mc_gram_long(g);
    for (int64_t p = p0; p < p1; p += step) {
        strip_task t = {.gram = g, .space = s, .panel = p, .panels = p + step < p1 ? step : p1 - p};
        prepare_panels(&t, s, g0, g1);
        for (t.group = g0; t.group < g1; t.group++) {
            t.slot = keeps ? t.group - g0 : 0;
            finish_strip(&t, sink, arg);
        }
    }
}

/* <x, x> of the points of one panel as the tiles sum it up, for every part that needs norms. */
void mc_tile_workspace_self_products(const mc_gram *g, mc_tile_workspace *s, int64_t panel, int64_t n,
                                     double *const *out) {
    const int64_t rows = g->ops->rows, width = g->ops->columns, first = panel * width;
    mc_tile_workspace_rows(g, s, NULL, first, first + width < n ? width : n - first);
    strip_task t = {.gram = g, .space = s, .panel = panel, .panels = 1};
    prepare_panels(&t, s, 0, s->groups);
    for (t.group = 0; t.group < s->groups; t.group++) {
        t.slot = mc_gram_long(g) ? t.group : 0;
        accumulate_short(&t, false);
        for (int i = 0; i < g->plan.parts; i++)
            for (int64_t r = 0; r < rows && !g->plan.part[i].precomputed && t.group * rows + r < s->count; r++) {
                const void *values = strip_of(&t, g->plan.part[i].strip[MC_USE_DOT]);
                const int64_t j = t.group * rows + r, at = r * width + j;
                out[i][first + j] =
                    g->precision == MERCER_F32 ? (double)((const float *)values)[at] : ((const double *)values)[at];
            }
    }
}

/* ---- Fused ---- */

bool mc_gram_fuses(const mc_gram *g) {
    static const bool fused[MC_TILE_FUNCTIONS] = {
        [MC_SAME] = true,    [MC_WHOLE_POWER] = true, [MC_EXP2] = true,    [MC_ROOT] = true, [MC_MATERN3] = true,
        [MC_MATERN5] = true, [MC_RATIONAL] = true,    [MC_COMPACT] = true, [MC_RATIO] = true};
    if (g->plan.lines != 1 || g->plan.parts != 1 || g->plan.line[0].part != 0 || !fused[g->plan.line[0].step.function])
        return false;
    const mc_tile_part *p = &g->plan.part[0];
    const bool one_sum = g->precision == MERCER_F64 || p->d <= MC_TILE_RUN;
    return !p->sparse && !p->precomputed && !(p->uint8_unit > 0) && !mc_part_long(p) && one_sum
           && g->plan.line[0].use != MC_USE_ANGLE && !g->fault; /* a fused body shows no values to look at */
}

void mc_tile_workspace_fused(const mc_gram *g, const mc_tile_workspace *s, int64_t group, int64_t p0, int64_t p1,
                             const mc_rhs *right) {
    const strip_task t = {.gram = g, .space = s, .group = group, .panel = p0, .panels = p1 - p0};
    const mc_tile_part *p = &g->plan.part[0];
    const mc_tile_step *step = &g->plan.line[0].step;
    const mc_operands o = tile_operands(&t, 0, 0, p->d);
    const mc_guard guard = {.share = MC_GUARD_SHARE, .direct = o};
    const bool guarded = p->distance_method == MC_DISTANCE_GUARDED && g->plan.line[0].use == MC_USE_DISTANCE;
    const mc_statistic kind = needs_square(p) && g->plan.line[0].use == MC_USE_DISTANCE ? MC_SQUARE : p->kind;
    const void *row = guarded ? s->half[0] + group * g->ops->rows * mc_real_size(g) : row_vector(&t, 0);
    g->ops->fused(kind, &o, guarded ? &guard : NULL, step, row,
                  column_vector(&t, guarded ? p->right.half : step->column), right);
}
