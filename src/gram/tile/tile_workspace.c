/* tile_workspace.c: the scratch of one thread: rows loaded for a task, strips, unpacked panels; cut out of a workspace.
   */
#include "base/ctx.h"
#include "base/status.h"
#include "gram/operator/precomputed.h"
#include "gram/pack/aligned_texts.h"
#include <string.h>

enum {
    PANELS = 4,        /* of one strip: all strips of a simple program stay in the first cache */
    BLOCKED_GROUPS = 8 /* groups of long rows that share a block of coordinates */
};

static bool any_part(const mc_gram *g, bool (*yes)(const mc_tile_part *)) {
    for (int i = 0; i < g->plan.parts; i++)
        if (yes(&g->plan.part[i]))
            return true;
    return false;
}

static bool is_sparse(const mc_tile_part *p) {
    return p->sparse;
}

bool mc_gram_sparse(const mc_gram *g) {
    return any_part(g, is_sparse);
}

bool mc_part_long(const mc_tile_part *p) {
    return !p->sparse && !(p->uint8_unit > 0) && p->d > MC_COORDINATES;
}

bool mc_gram_long(const mc_gram *g) {
    return any_part(g, mc_part_long);
}

int64_t mc_strip_panels(const mc_gram *g) {
    return mc_gram_sparse(g) ? 1 : PANELS;
}

int64_t mc_strip_reals(const mc_gram *g) {
    return mc_strip_panels(g) * g->ops->rows * g->ops->columns;
}

int64_t mc_tile_workspace_groups(const mc_gram *g) {
    return mc_gram_long(g) ? BLOCKED_GROUPS : MC_GROUPS;
}

/* Groups that keep their strips at the same time. */
static int64_t strip_slots(const mc_gram *g, int64_t groups) {
    return mc_gram_long(g) ? groups : 1;
}

int64_t mc_panel_element(const mc_gram *g, const mc_tile_part *p) {
    return p->narrow ? 1 : mc_real_size(g);
}

bool mc_part_in_full(const mc_gram *g, const mc_tile_part *p) {
    return p->d * g->ops->columns * mc_panel_element(g, p) <= MC_FULL_PANEL;
}

static int64_t unpacked_bytes(const mc_gram *g, const mc_tile_part *p) {
    const int64_t places = p->right.widest < p->d && !mc_part_in_full(g, p) ? p->right.widest : p->d;
    return places * g->ops->columns * mc_panel_element(g, p);
}

/* The panel that a part unpacks, or the values that it asks for. */
static int64_t panel_bytes(const mc_gram *g, const mc_tile_part *p) {
    if (mc_part_aligned(p))
        return 0;
    return p->sparse ? unpacked_bytes(g, p) : p->precomputed ? mc_precomputed_reals(g, p) * mc_real_size(g) : 0;
}

typedef void *taker(void *state, int64_t count, size_t size);

static void *count_bytes(void *state, int64_t count, size_t size) {
    *(size_t *)state += mc_work_need(count, size);
    return NULL;
}

static void *take_bytes(void *state, int64_t count, size_t size) {
    return mc_work_take(state, count, size);
}

static void lay_part(const mc_gram *g, const mc_tile_part *p, int64_t groups, taker *take, void *state,
                     mc_tile_workspace *s, int i) {
    const size_t real = (size_t)mc_real_size(g);
    char *a = take(state, p->sparse ? 0 : groups * g->ops->rows * p->d, real),
         *half = take(state, groups * g->ops->rows, real);
    const bool unpacks = p->sparse && !mc_part_aligned(p);
    int32_t *place = take(state, unpacks ? p->d : 0, sizeof *place),
            *occupied = take(state, unpacks ? p->d : 0, sizeof *occupied);
    char *b = take(state, panel_bytes(g, p), 1);
    if (!s->a)
        return;
    s->a[i] = a, s->half[i] = half, s->place[i] = place, s->occupied[i] = occupied, s->b[i] = b;
    s->unpacked[i] = -1;
    s->places[i] = 0; /* the memory may have been another's */
    for (int64_t k = 0; unpacks && k < p->d; k++)
        place[k] = -1;
}

/* One walk over the layout counts its bytes or hands them out. */
static void lay_out(const mc_gram *g, int64_t groups, taker *take, void *state, mc_tile_workspace *s) {
    const int parts = g->plan.parts, lines = g->plan.lines;
    const size_t real = (size_t)mc_real_size(g);
    *s = (mc_tile_workspace){.groups_max = groups};
    s->row = take(state, groups * g->ops->rows, sizeof *s->row);
    s->a = take(state, parts, sizeof *s->a);
    s->half = take(state, parts, sizeof *s->half);
    s->place = take(state, parts, sizeof *s->place);
    s->occupied = take(state, parts, sizeof *s->occupied);
    s->places = take(state, parts, sizeof *s->places);
    s->b = take(state, parts, sizeof *s->b);
    s->unpacked = take(state, parts, sizeof *s->unpacked);
    s->vector = take(state, lines, sizeof *s->vector);
    s->strips = take(state, strip_slots(g, groups) * g->plan.strips * mc_strip_reals(g), real);
    for (int i = 0; i < parts; i++)
        lay_part(g, &g->plan.part[i], groups, take, state, s, i);
    for (int i = 0; i < lines; i++) {
        char *vector = take(state, groups * g->ops->rows, real);
        if (s->vector)
            s->vector[i] = vector;
    }
}

size_t mc_tile_workspace_bytes(const mc_gram *g, int64_t groups) {
    size_t bytes = 0;
    mc_tile_workspace s;
    lay_out(g, groups, count_bytes, &bytes, &s);
    return bytes;
}

void mc_tile_workspace_lay_out(const mc_gram *g, int64_t groups, mc_work *work, mc_tile_workspace *space) {
    lay_out(g, groups, take_bytes, work, space);
}

mercer_status mc_tile_workspaces_open(mercer_ctx *ctx, const mc_gram *g, int threads, int64_t groups, mc_work *work,
                                      mc_tile_workspace **out) {
    const size_t each = mc_tile_workspace_bytes(g, groups);
    MC_TRY(mc_work_open(ctx, work, mc_work_need(threads, sizeof **out) + (size_t)threads * each));
    *out = mc_work_take(work, threads, sizeof **out);
    for (int i = 0; i < threads; i++)
        mc_tile_workspace_lay_out(g, groups, work, &(*out)[i]);
    return MERCER_OK;
}

/* ---- Loading rows ---- */

/* out[k * rows + r] <- coordinate k of the r-th listed row, out of the panels. */
static void gather_listed_rows(const mc_gram *g, const mc_tile_part *p, const int64_t *row, void *out) {
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

/* The same for rows that follow each other within a panel: copies whose size the compiler knows. */
static void gather_run(const mc_gram *g, const mc_tile_part *p, int64_t first, char *out) {
    const int64_t width = g->ops->columns, real = mc_real_size(g), bytes = g->ops->rows * real, step = width * real;
    const char *from = (const char *)p->left.values + (first / width * width * p->d + first % width) * real;
    for (int64_t k = 0; k < p->d; k++, out += bytes, from += step)
        switch (bytes) {
        case 16: memcpy(out, from, 16); break;
        case 32: memcpy(out, from, 32); break;
        case 64: memcpy(out, from, 64); break;
        default: memcpy(out, from, (size_t)bytes); break;
        }
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

static void load_group(const mc_gram *g, mc_tile_workspace *s, int64_t group) {
    const int64_t rows = g->ops->rows, real = mc_real_size(g), *row = s->row + group * rows;
    for (int i = 0; i < g->plan.parts; i++) {
        const mc_tile_part *p = &g->plan.part[i];
        const bool full = !p->sparse && !p->precomputed;
        char *a = !full ? NULL : s->a[i] + group * rows * p->d * real;
        if (full && p->uint8_unit > 0)
            mc_pack_uint8_gather(p, g->ops->columns, rows, row, a);
        else if (full && is_run(row, rows, g->ops->columns))
            gather_run(g, p, row[0], a);
        else if (full)
            gather_listed_rows(g, p, row, a);
        gather_vector(g, p->left.half, row, s->half[i] + group * rows * real);
    }
    for (int i = 0; i < g->plan.lines; i++)
        if (g->plan.line[i].step.row)
            gather_vector(g, g->plan.line[i].step.row, row, s->vector[i] + group * rows * real);
}

void mc_tile_workspace_rows(const mc_gram *g, mc_tile_workspace *s, const int64_t *rows, int64_t first, int64_t count) {
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
