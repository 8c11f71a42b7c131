/* text_rows.c: one pass over the texts numbers the features, exactly, and adds them up; the numbering is then
   forgotten. Features are looked up some at a time, since the table is larger than the caches. */
#include "kernel/evaluate/text_rows.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "kernel/evaluate/feature_numbering.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include <string.h>

enum { BATCH = 64, SORT_GRAIN = 64, SORT_FEW = 32, DIGITS = 256 };

static const char *text_of(const mc_node *atom, const mercer_data *data, int64_t i) {
    return data->text[i * data->texts + (int64_t)atom->parameter[MC_TEXT_COLUMN].number];
}

static bool has_texts(const mc_node *atom, const mercer_data *data) {
    return (int64_t)atom->parameter[MC_TEXT_COLUMN].number < data->texts;
}

int64_t mc_text_rows_different(const mc_node *atom, const mercer_data *data) {
    bool seen[256] = {false};
    int64_t letters = 0;
    for (int64_t i = 0; has_texts(atom, data) && i < data->n; i++)
        for (const char *c = text_of(atom, data, i); *c; c++)
            seen[(unsigned char)*c] = true;
    for (int c = 0; c < 256; c++)
        letters += seen[c];
    return mc_text_features_different(atom, letters);
}

int64_t mc_text_rows_total(const mc_node *atom, const mercer_data *data) {
    return mc_text_rows_widest(atom, data, data->n > 0 ? data->n : 1);
}

int64_t mc_text_rows_widest(const mc_node *atom, const mercer_data *data, int64_t width) {
    int64_t widest = 0, panel = 0;
    const int64_t different = mc_text_rows_different(atom, data);
    for (int64_t i = 0; has_texts(atom, data) && i < data->n; i++) {
        panel = (i % width ? panel : 0) + mc_min_count(mc_text_feature_count(atom, text_of(atom, data, i)), different);
        widest = panel > widest ? panel : widest;
    }
    return widest;
}

/* ---- Numbering ---- */

/* A row while it is made, and the features that wait for their numbers. */
typedef struct row_making {
    mc_feature_numbering *numbering;
    mc_text_rows *rows;
    int64_t begin, count; /* of the values: where the row begins, so far */
    int64_t waiting;
    mc_text_feature feature[BATCH];
} row_making;

static void add_value(row_making *m, int32_t id, double value) {
    int64_t *seen = &m->numbering->entry[id].last_seen;
    mc_text_rows *rows = m->rows;
    if (*seen < m->begin) {
        *seen = m->count++;
        rows->coordinate[*seen] = id;
        if (rows->whole)
            rows->whole[*seen] = 0;
        else
            rows->value[*seen] = 0;
    }
    if (rows->whole)
        rows->whole[*seen] += (float)value;
    else
        rows->value[*seen] += value;
}

static mercer_status number_waiting(row_making *m) {
    int32_t id[BATCH];
    MC_TRY(mc_number_features(m->numbering, m->feature, m->waiting, id));
    for (int64_t k = 0; k < m->waiting; k++)
        add_value(m, id[k], m->feature[k].value);
    m->waiting = 0;
    return MERCER_OK;
}

static mercer_status add_feature(void *arg, const mc_text_feature *feature) {
    row_making *m = arg;
    m->feature[m->waiting++] = *feature;
    return m->waiting < BATCH ? MERCER_OK : number_waiting(m);
}

static double square_sum(const mc_text_rows *rows, int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t k = begin; k < end; k++)
        sum += mc_text_row_value(rows, k) * mc_text_row_value(rows, k);
    return sum;
}

static mercer_status make_row(row_making *m, const mc_node *atom, const char *text, int64_t i) {
    mc_text_rows *rows = m->rows;
    m->begin = m->count;
    MC_TRY(mc_text_features(atom, text, add_feature, m));
    MC_TRY(number_waiting(m));
    rows->start[i + 1] = m->count;
    rows->self[i] = square_sum(rows, m->begin, m->count);
    rows->longest = m->count - m->begin > rows->longest ? m->count - m->begin : rows->longest;
    for (int64_t k = m->begin; rows->whole && k < m->count; k++)
        rows->top = (double)rows->whole[k] > rows->top ? (double)rows->whole[k] : rows->top;
    if (rows->whole)
        return MERCER_OK;
    /* a value is a power by products, or a root; they are then summed up */
    const double rounding = (double)mc_text_feature_count(atom, text) + 20;
    rows->rounding = rounding > rows->rounding ? rounding : rows->rounding;
    return MERCER_OK;
}

/* ---- In order of the coordinates ---- */

static void sort_few(int32_t *coordinate, double *value, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const int32_t c = coordinate[i];
        const double v = value[i];
        int64_t to = i;
        for (; to > 0 && coordinate[to - 1] > c; to--) {
            coordinate[to] = coordinate[to - 1];
            value[to] = value[to - 1];
        }
        coordinate[to] = c;
        value[to] = v;
    }
}

/* By one digit of the coordinate, from one place to the other. */
static void sort_digit(int shift, int64_t count, const int32_t *from, const double *from_value, int32_t *to,
                       double *to_value) {
    int64_t place[DIGITS + 1] = {0};
    for (int64_t k = 0; k < count; k++)
        place[(from[k] >> shift & (DIGITS - 1)) + 1]++;
    for (int digit = 1; digit < DIGITS; digit++)
        place[digit] += place[digit - 1];
    for (int64_t k = 0; k < count; k++) {
        const int64_t at = place[from[k] >> shift & (DIGITS - 1)]++;
        to[at] = from[k];
        to_value[at] = from_value[k];
    }
}

typedef struct row_sorting {
    mc_text_rows *rows;
    int32_t *coordinate; /* longest per thread */
    double *value;       /* likewise */
} row_sorting;

static void sort_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const row_sorting *s = arg;
    const mc_text_rows *rows = s->rows;
    int32_t *other = s->coordinate + thread * rows->longest;
    double *other_value = s->value + thread * rows->longest;
    for (int64_t i = begin; i < end; i++) {
        const int64_t count = rows->start[i + 1] - rows->start[i];
        int32_t *coordinate = rows->coordinate + rows->start[i];
        double *value = rows->value + rows->start[i];
        if (count <= SORT_FEW) {
            sort_few(coordinate, value, count);
            continue;
        }
        for (int shift = 0; shift < 32 && (rows->d - 1) >> shift > 0; shift += 16) { /* there and back */
            sort_digit(shift, count, coordinate, value, other, other_value);
            sort_digit(shift + 8, count, other, other_value, coordinate, value);
        }
    }
}

static mercer_status sort_all(mercer_ctx *ctx, mc_text_rows *rows) {
    row_sorting s = {.rows = rows};
    const int threads = mc_for_threads(ctx, mc_chunk_count(rows->n, SORT_GRAIN));
    mercer_status status = MC_ALLOC(ctx, s.coordinate, threads * rows->longest);
    MC_THEN(status, MC_ALLOC(ctx, s.value, threads * rows->longest));
    MC_THEN(status, mc_for(ctx, rows->n, SORT_GRAIN, sort_rows, &s));
    mc_free(s.coordinate);
    mc_free(s.value);
    return status;
}

/* ---- All rows ---- */

static mercer_status reserve_rows(mercer_ctx *ctx, const mc_node *atom, int64_t n, int64_t most, mc_text_rows *rows) {
    *rows = (mc_text_rows){.n = n};
    MC_TRY(MC_ALLOC(ctx, rows->start, rows->n + 1));
    MC_TRY(MC_ALLOC(ctx, rows->self, rows->n));
    MC_TRY((rows->coordinate = mc_alloc_unset(ctx, most, sizeof *rows->coordinate)) ? MERCER_OK : MERCER_MEMORY);
    if (mc_text_features_whole(atom))
        rows->whole = mc_alloc_unset(ctx, most, sizeof *rows->whole);
    else
        rows->value = mc_alloc_unset(ctx, most, sizeof *rows->value);
    return rows->whole || rows->value ? MERCER_OK : MERCER_MEMORY;
}

/* Features that are met again and again leave room. */
static mercer_status give_room_back(mercer_ctx *ctx, mc_text_rows *rows, int64_t reserved) {
    const int64_t count = rows->start[rows->n];
    if (count > reserved / 4 * 3)
        return MERCER_OK;
    int32_t *coordinate = mc_grow_block(ctx, rows->coordinate, count, sizeof *coordinate);
    MC_TRY(coordinate ? MERCER_OK : MERCER_MEMORY);
    rows->coordinate = coordinate;
    void *values = rows->whole ? mc_grow_block(ctx, rows->whole, count, sizeof *rows->whole)
                               : mc_grow_block(ctx, rows->value, count, sizeof *rows->value);
    MC_TRY(values ? MERCER_OK : MERCER_MEMORY);
    if (rows->whole)
        rows->whole = values;
    else
        rows->value = values;
    return MERCER_OK;
}

static mercer_status make_side(mc_feature_numbering *numbering, const mc_node *atom, mc_text_side *side) {
    const int64_t most = mc_text_rows_total(atom, side->data);
    MC_TRY(reserve_rows(numbering->ctx, atom, side->data->n, most, &side->rows));
    row_making m = {.numbering = numbering, .rows = &side->rows};
    for (int64_t i = 0; i < side->data->n; i++)
        MC_TRY(make_row(&m, atom, text_of(atom, side->data, i), i));
    for (int64_t id = 0; id < numbering->count; id++)
        numbering->entry[id].last_seen = -1; /* places of another side are others */
    return give_room_back(numbering->ctx, &side->rows, most);
}

mercer_status mc_text_rows_make(mercer_ctx *ctx, const mc_node *atom, mc_text_side *side, int sides) {
    mc_feature_numbering numbering = {.ctx = ctx, .exact = mc_text_features_exact(atom)};
    mercer_status status = MERCER_OK;
    for (int s = 0; s < sides && !status; s++)
        status = make_side(&numbering, atom, &side[s]);
    for (int s = 0; s < sides && !status; s++) {
        side[s].rows.d = numbering.count > 0 ? numbering.count : 1; /* texts that are all too short have a coordinate */
        status = side[s].rows.value ? sort_all(ctx, &side[s].rows) : MERCER_OK;
    }
    side[0].rows.making = mc_work_need(2 * mc_text_rows_total(atom, side[0].data), sizeof(int32_t) + sizeof(double))
                          + mc_numbering_bytes(numbering.exact, numbering.capacity);
    mc_close_numbering(&numbering);
    return status;
}

mercer_status mc_text_rows_self(mercer_ctx *ctx, const mc_node *atom, const mercer_data *data, double *out) {
    mc_feature_numbering numbering = {.ctx = ctx, .exact = mc_text_features_exact(atom)};
    mc_text_rows row = {0};
    row_making m = {.numbering = &numbering, .rows = &row};
    mercer_status status = reserve_rows(ctx, atom, 1, mc_text_rows_widest(atom, data, 1), &row);
    for (int64_t i = 0; i < data->n && !status; i++) {
        mc_forget_features(&numbering);
        m.count = 0;
        status = make_row(&m, atom, text_of(atom, data, i), 0);
        out[i] = row.self[0];
    }
    mc_close_numbering(&numbering);
    mc_text_rows_free(&row);
    return status;
}

void mc_text_rows_free(mc_text_rows *rows) {
    mc_free(rows->start);
    mc_free(rows->coordinate);
    mc_free(rows->whole);
    mc_free(rows->value);
    mc_free(rows->self);
    *rows = (mc_text_rows){0};
}

size_t mc_text_rows_bytes(const mc_node *atom, int64_t values, int64_t different) {
    return mc_numbering_bytes(mc_text_features_exact(atom), mc_min_count(values, different))
           + mc_work_need(2 * values, sizeof(int32_t) + sizeof(double)) + 8 * MC_ALIGN;
}
