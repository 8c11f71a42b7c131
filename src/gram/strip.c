/* strip.c: from packed points to strips of K.

   For every run of panels: sparse parts unpack the panel, long rows are accumulated block by block of coordinates over all groups (so that
   a block of the panel stays in the cache), then each group has its statistics, its lines and its exact diagonal. */
#include "gram/strip.h"
#include "base/ctx.h"
#include "base/status.h"
#include <string.h>

enum {
    PANELS = 4,         /* of one strip: all strips of a simple program stay in the first cache */
    BLOCK = 1024,       /* coordinates summed up at a time */
    BLOCKED_GROUPS = 8, /* groups that share a block */
    GROUPS = 60
};

static bool is_long(const mc_part *p) {
    return !p->sparse && p->d > BLOCK;
}

static bool any_part(const mc_gram *g, bool (*yes)(const mc_part *)) {
    for (int i = 0; i < g->plan.parts; i++)
        if (yes(&g->plan.part[i]))
            return true;
    return false;
}

static bool is_sparse(const mc_part *p) {
    return p->sparse;
}

static int64_t panels_at_once(const mc_gram *g) {
    return any_part(g, is_sparse) ? 1 : PANELS;
}

int64_t mc_space_groups(const mc_gram *g) {
    return any_part(g, is_long) ? BLOCKED_GROUPS : GROUPS;
}

/* ---- The space of one thread ---- */

static int64_t strip_reals(const mc_gram *g) {
    return panels_at_once(g) * g->ops->rows * g->ops->columns;
}

/* Groups that keep their strips at the same time. */
static int64_t slots(const mc_gram *g, int64_t groups) {
    return any_part(g, is_long) ? groups : 1;
}

static int64_t unpacked_reals(const mc_gram *g, const mc_part *p) {
    return (p->widest < p->d ? p->widest : p->d) * g->ops->columns;
}

typedef void *taker(void *state, int64_t count, size_t size);

static void *count_bytes(void *state, int64_t count, size_t size) {
    *(size_t *)state += mc_work_need(count, size);
    return NULL;
}

static void *take_bytes(void *state, int64_t count, size_t size) {
    return mc_work_take(state, count, size);
}

static void lay_part(const mc_gram *g, const mc_part *p, int64_t groups, taker *take, void *state, mc_space *s, int i) {
    const size_t real = (size_t)mc_real_size(g);
    char *a = take(state, p->sparse ? 0 : groups * g->ops->rows * p->d, real), *half = take(state, groups * g->ops->rows, real);
    int32_t *place = take(state, p->sparse ? p->d : 0, sizeof *place), *occupied = take(state, p->sparse ? p->d : 0, sizeof *occupied);
    char *b = take(state, p->sparse ? unpacked_reals(g, p) : 0, real);
    if (!s->a)
        return;
    s->a[i] = a, s->half[i] = half, s->place[i] = place, s->occupied[i] = occupied, s->b[i] = b;
    for (int64_t k = 0; p->sparse && k < p->d; k++)
        place[k] = -1;
}

/* One walk over the layout counts its bytes or hands them out. */
static void lay_out(const mc_gram *g, int64_t groups, taker *take, void *state, mc_space *s) {
    const int parts = g->plan.parts, lines = g->plan.lines;
    const size_t real = (size_t)mc_real_size(g);
    *s = (mc_space){.groups_max = groups};
    s->row = take(state, groups * g->ops->rows, sizeof *s->row);
    s->a = take(state, parts, sizeof *s->a);
    s->half = take(state, parts, sizeof *s->half);
    s->place = take(state, parts, sizeof *s->place);
    s->occupied = take(state, parts, sizeof *s->occupied);
    s->places = take(state, parts, sizeof *s->places);
    s->b = take(state, parts, sizeof *s->b);
    s->vector = take(state, lines, sizeof *s->vector);
    s->strips = take(state, slots(g, groups) * g->plan.strips * strip_reals(g), real);
    for (int i = 0; i < parts; i++)
        lay_part(g, &g->plan.part[i], groups, take, state, s, i);
    for (int i = 0; i < lines; i++) {
        char *vector = take(state, groups * g->ops->rows, real);
        if (s->vector)
            s->vector[i] = vector;
    }
}

size_t mc_space_bytes(const mc_gram *g, int64_t groups) {
    size_t bytes = 0;
    mc_space s;
    lay_out(g, groups, count_bytes, &bytes, &s);
    return bytes;
}

void mc_space_cut(const mc_gram *g, int64_t groups, mc_work *work, mc_space *space) {
    lay_out(g, groups, take_bytes, work, space);
}

mercer_status mc_spaces_open(mercer_ctx *ctx, const mc_gram *g, int64_t groups, mc_work *work, mc_space **out) {
    const size_t each = mc_space_bytes(g, groups);
    MC_TRY(mc_work_open(ctx, work, mc_work_need(ctx->threads, sizeof **out) + (size_t)ctx->threads * each));
    *out = mc_work_take(work, ctx->threads, sizeof **out);
    for (int i = 0; i < ctx->threads; i++)
        mc_space_cut(g, groups, work, &(*out)[i]);
    return MERCER_OK;
}

/* ---- Loading rows ---- */

/* out[k * rows + r] <- coordinate k of the r-th listed row, out of the panels. */
static void gather(const mc_gram *g, const mc_part *p, const int64_t *row, void *out) {
    const int64_t width = g->ops->columns, rows = g->ops->rows;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t from = row[r] / width * width * p->d + row[r] % width;
        if (g->precision == MERCER_F32)
            for (int64_t k = 0; k < p->d; k++)
                ((float *)out)[k * rows + r] = ((const float *)p->left.values)[from + k * width];
        else
            for (int64_t k = 0; k < p->d; k++)
                ((double *)out)[k * rows + r] = ((const double *)p->left.values)[from + k * width];
    }
}

/* The same for rows that follow each other within a panel: short copies. */
static void gather_run(const mc_gram *g, const mc_part *p, int64_t first, void *out) {
    const int64_t width = g->ops->columns, real = mc_real_size(g), bytes = g->ops->rows * real;
    const char *from = (const char *)p->left.values + (first / width * width * p->d + first % width) * real;
    for (int64_t k = 0; k < p->d; k++)
        memcpy((char *)out + k * bytes, from + k * width * real, (size_t)bytes);
}

static bool is_run(const int64_t *row, int64_t rows, int64_t width) {
    for (int64_t r = 1; r < rows; r++)
        if (row[r] != row[0] + r)
            return false;
    return row[0] % width + rows <= width;
}

static void gather_vector(const mc_gram *g, const void *from, const int64_t *row, void *out) {
    for (int64_t r = 0; r < g->ops->rows; r++)
        if (g->precision == MERCER_F32)
            ((float *)out)[r] = ((const float *)from)[row[r]];
        else
            ((double *)out)[r] = ((const double *)from)[row[r]];
}

static void load_group(const mc_gram *g, mc_space *s, int64_t group) {
    const int64_t rows = g->ops->rows, real = mc_real_size(g), *row = s->row + group * rows;
    for (int i = 0; i < g->plan.parts; i++) {
        const mc_part *p = &g->plan.part[i];
        char *a = p->sparse ? NULL : s->a[i] + group * rows * p->d * real;
        if (!p->sparse && is_run(row, rows, g->ops->columns))
            gather_run(g, p, row[0], a);
        else if (!p->sparse)
            gather(g, p, row, a);
        gather_vector(g, p->left.half, row, s->half[i] + group * rows * real);
    }
    for (int i = 0; i < g->plan.lines; i++)
        gather_vector(g, g->plan.line[i].step.row, row, s->vector[i] + group * rows * real);
}

void mc_space_rows(const mc_gram *g, mc_space *s, const int64_t *rows, int64_t first, int64_t count) {
    const int64_t each = g->ops->rows;
    s->count = count;
    s->groups = (count + each - 1) / each;
    for (int64_t r = 0; r < s->groups * each; r++) {
        const int64_t at = r < count ? r : count - 1;
        s->row[r] = rows ? rows[at] : first + at;
    }
    for (int64_t group = 0; group < s->groups; group++)
        load_group(g, s, group);
}

/* ---- Statistics ---- */

/* What one strip reads and writes. */
typedef struct task {
    const mc_gram *gram;
    const mc_space *space;
    int64_t group, panel, panels, slot;
} task;

static void *strip_of(const task *t, int number) {
    const mc_gram *g = t->gram;
    return t->space->strips + (t->slot * g->plan.strips + number) * strip_reals(g) * mc_real_size(g);
}

static mc_operands operands(const task *t, int part, int64_t begin, int64_t end) {
    const mc_gram *g = t->gram;
    const mc_part *p = &g->plan.part[part];
    const int64_t real = mc_real_size(g), rows = g->ops->rows, width = g->ops->columns;
    return (mc_operands){.d = end - begin,
                         .panels = t->panels,
                         .a = t->space->a[part] + (t->group * rows * p->d + begin * rows) * real,
                         .b = (const char *)p->right.values + (t->panel * width * p->d + begin * width) * real,
                         .stride = width * p->d};
}

static bool needs_dot(const mc_part *p) {
    return p->kind == MC_DOT && (p->way != MC_WAY_DIRECT || p->uses[MC_USE_DOT] || p->uses[MC_USE_ANGLE]);
}

static bool needs_square(const mc_part *p) {
    return p->kind == MC_DOT && p->way == MC_WAY_DIRECT && p->uses[MC_USE_DISTANCE];
}

static bool needs_radial(const mc_part *p) {
    return p->kind == MC_DOT && p->uses[MC_USE_DISTANCE] && !needs_square(p) && !p->bare;
}

/* Coordinates begin .. end - 1 into the strips that sums go to. */
static void accumulate(const task *t, int part, int64_t begin, int64_t end) {
    const mc_part *p = &t->gram->plan.part[part];
    const mc_operands o = operands(t, part, begin, end);
    if (p->kind != MC_DOT)
        t->gram->ops->statistic(p->kind, &o, begin > 0, strip_of(t, p->strip[MC_USE_SUM]));
    if (needs_dot(p))
        t->gram->ops->statistic(MC_DOT, &o, begin > 0, strip_of(t, p->strip[MC_USE_DOT]));
    if (needs_square(p))
        t->gram->ops->statistic(MC_SQUARE, &o, begin > 0, strip_of(t, p->strip[MC_USE_DISTANCE]));
}

static void accumulate_sparse(const task *t, int part) {
    const mc_gram *g = t->gram;
    const mc_part *p = &g->plan.part[part];
    const int64_t rows = g->ops->rows, *row = t->space->row + t->group * rows;
    const int64_t *start[MC_TILE_ROWS_MAX];
    for (int64_t r = 0; r < rows; r++)
        start[r] = p->left.start + row[r];
    const mc_sparse_operands o = {.start = start,
                                  .coordinate = p->left.coordinate,
                                  .value = p->left.values,
                                  .place = t->space->place[part],
                                  .b = t->space->b[part]};
    g->ops->sparse(p->kind, &o, strip_of(t, p->strip[MC_USE_DOT]));
}

static const void *column_vector(const task *t, const void *vector) {
    return (const char *)vector + t->panel * t->gram->ops->columns * mc_real_size(t->gram);
}

/* The distance and the angle out of the dot product. */
static void refine(const task *t, int part) {
    const mc_gram *g = t->gram;
    const mc_part *p = &g->plan.part[part];
    mc_guard guard = {.share = MC_GUARD_SHARE};
    if (!p->sparse)
        guard.direct = operands(t, part, 0, p->d);
    const mc_guard *look = p->way == MC_WAY_GUARDED ? &guard : NULL;
    const void *dot = strip_of(t, p->strip[MC_USE_DOT]);
    if (needs_radial(p))
        g->ops->radial(look, t->panels, t->space->half[part] + t->group * g->ops->rows * mc_real_size(g),
                       column_vector(t, p->right.half), dot, strip_of(t, p->strip[MC_USE_DISTANCE]));
    if (p->uses[MC_USE_ANGLE])
        g->ops->angle(look, t->panels, dot, strip_of(t, p->strip[MC_USE_ANGLE]));
}

static void run_lines(const task *t) {
    const mc_gram *g = t->gram;
    for (int i = 0; i < g->plan.lines; i++) {
        const mc_step *step = &g->plan.line[i].step;
        g->ops->step(step, t->panels, t->space->vector[i] + t->group * g->ops->rows * mc_real_size(g),
                     column_vector(t, step->column), strip_of(t, step->source), strip_of(t, step->target));
    }
}

/* K_ii as the judge has it. */
static void set_diagonal(const task *t, void *values) {
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

/* All statistics but those of long rows, which are there already. */
static void accumulate_short(const task *t) {
    const mc_plan *plan = &t->gram->plan;
    for (int i = 0; i < plan->parts; i++)
        if (plan->part[i].sparse)
            accumulate_sparse(t, i);
        else if (!is_long(&plan->part[i]))
            accumulate(t, i, 0, plan->part[i].d);
}

static void finish(const task *t, mc_sink *sink, void *arg) {
    const mc_gram *g = t->gram;
    accumulate_short(t);
    for (int i = 0; i < g->plan.parts; i++)
        refine(t, i);
    run_lines(t);
    void *values = strip_of(t, 0);
    if (g->symmetric)
        set_diagonal(t, values);
    sink(arg, &(mc_strip){.space = t->space, .group = t->group, .panel = t->panel, .panels = t->panels, .values = values});
}

/* ---- Sparse panels ---- */

static void clear_panel(mc_space *s, int part) {
    for (int64_t k = 0; k < s->places[part]; k++)
        s->place[part][s->occupied[part][k]] = -1;
    s->places[part] = 0;
}

/* Number the coordinates that occur in the panel's rows and write those rows out in full. */
static void unpack_panel(const mc_gram *g, mc_space *s, int part, int64_t panel) {
    const mc_part *p = &g->plan.part[part];
    const int64_t width = g->ops->columns, real = mc_real_size(g);
    clear_panel(s, part);
    for (int64_t j = 0; j < width; j++) {
        const int64_t i = panel * width + j < p->right.n ? panel * width + j : p->right.n - 1;
        for (int64_t e = p->right.start[i]; e < p->right.start[i + 1]; e++) {
            const int32_t k = p->right.coordinate[e];
            if (s->place[part][k] < 0) {
                memset(s->b[part] + s->places[part] * width * real, 0, (size_t)(width * real));
                s->occupied[part][s->places[part]] = k;
                s->place[part][k] = (int32_t)s->places[part]++;
            }
            memcpy(s->b[part] + (s->place[part][k] * width + j) * real, (const char *)p->right.values + e * real, (size_t)real);
        }
    }
}

/* ---- The walk ---- */

static void prepare(const task *t, mc_space *s, int64_t g0, int64_t g1) {
    const mc_gram *g = t->gram;
    for (int i = 0; i < g->plan.parts; i++) {
        const mc_part *p = &g->plan.part[i];
        if (p->sparse)
            unpack_panel(g, s, i, t->panel);
        for (int64_t begin = 0; is_long(p) && begin < p->d; begin += BLOCK)
            for (int64_t group = g0; group < g1; group++) {
                task one = *t;
                one.group = group;
                one.slot = group - g0;
                accumulate(&one, i, begin, begin + BLOCK < p->d ? begin + BLOCK : p->d);
            }
    }
}

void mc_space_walk(const mc_gram *g, mc_space *s, int64_t g0, int64_t g1, int64_t p0, int64_t p1, mc_sink *sink, void *arg) {
    const int64_t step = panels_at_once(g);
    const bool keeps = any_part(g, is_long);
    for (int64_t p = p0; p < p1; p += step) {
        task t = {.gram = g, .space = s, .panel = p, .panels = p + step < p1 ? step : p1 - p};
        prepare(&t, s, g0, g1);
        for (t.group = g0; t.group < g1; t.group++) {
            t.slot = keeps ? t.group - g0 : 0;
            finish(&t, sink, arg);
        }
    }
}

/* <x, x> of the points of one panel as the tiles sum it up, for every part that needs norms. */
void mc_space_selves(const mc_gram *g, mc_space *s, int64_t panel, int64_t n, double *const *out) {
    const int64_t rows = g->ops->rows, width = g->ops->columns, first = panel * width;
    mc_space_rows(g, s, NULL, first, first + width < n ? width : n - first);
    task t = {.gram = g, .space = s, .panel = panel, .panels = 1};
    prepare(&t, s, 0, s->groups);
    for (t.group = 0; t.group < s->groups; t.group++) {
        t.slot = any_part(g, is_long) ? t.group : 0;
        accumulate_short(&t);
        for (int i = 0; i < g->plan.parts; i++)
            for (int64_t r = 0; r < rows && t.group * rows + r < s->count; r++) {
                const void *values = strip_of(&t, g->plan.part[i].strip[MC_USE_DOT]);
                const int64_t j = t.group * rows + r, at = r * width + j;
                out[i][first + j] = g->precision == MERCER_F32 ? (double)((const float *)values)[at] : ((const double *)values)[at];
            }
    }
}

/* ---- Fused ---- */

bool mc_gram_fuses(const mc_gram *g) {
    static const bool fused[MC_TILE_FUNCTIONS] = {[MC_SAME] = true,    [MC_WHOLE_POWER] = true, [MC_EXP2] = true,    [MC_ROOT] = true,
                                                  [MC_MATERN3] = true, [MC_MATERN5] = true,     [MC_RATIONAL] = true};
    if (g->plan.lines != 1 || g->plan.parts != 1 || g->plan.line[0].part != 0 || !fused[g->plan.line[0].step.function])
        return false;
    const mc_part *p = &g->plan.part[0];
    return !p->sparse && !is_long(p) && g->plan.line[0].use != MC_USE_ANGLE;
}

void mc_space_fused(const mc_gram *g, const mc_space *s, int64_t group, int64_t p0, int64_t p1, const mc_right *right) {
    const task t = {.gram = g, .space = s, .group = group, .panel = p0, .panels = p1 - p0};
    const mc_part *p = &g->plan.part[0];
    const mc_step *step = &g->plan.line[0].step;
    const mc_operands o = operands(&t, 0, 0, p->d);
    const mc_guard guard = {.share = MC_GUARD_SHARE, .direct = o};
    const bool guarded = p->way == MC_WAY_GUARDED && g->plan.line[0].use == MC_USE_DISTANCE;
    const int64_t at = group * g->ops->rows * mc_real_size(g);
    const mc_statistic kind = needs_square(p) && g->plan.line[0].use == MC_USE_DISTANCE ? MC_SQUARE : p->kind;
    g->ops->fused(kind, &o, guarded ? &guard : NULL, step, guarded ? s->half[0] + at : s->vector[0] + at,
                  column_vector(&t, guarded ? p->right.half : step->column), right);
}
