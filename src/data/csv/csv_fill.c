/* csv_fill.c: records of CSV text into rows of cells.

   Almost every cell is a number that mc_number_fast settles, with a delimiter behind it; anything else goes the general
   way. Where a cell ends is known only once it is read, so a record is one chain of steps that wait for each other. Two
   records read in turn are two chains, and the processor works on one while the other waits: a quarter less time for
   numbers of six digits. */
#include "base/memory.h"
#include "base/number.h"
#include "base/number_fast.h"
#include "base/status.h"
#include "data/csv/csv.h"
#include <math.h>

mercer_status mc_csv_slots(mercer_ctx *ctx, const mc_raw *raw, mc_csv_slot **out) {
    MC_TRY(MC_ALLOC(ctx, *out, raw->columns));
    for (int64_t j = 0; j < raw->columns; j++) {
        const mc_file_column *c = &raw->column[j];
        (*out)[j] = (mc_csv_slot){.cell = c->cell, .stride = c->stride, .number = c->cell && !c->text && !c->names};
    }
    return MERCER_OK;
}

/* A target that may turn out to be names of classes, and a number that would lose its name as a double. */
static bool is_long(const mc_file_column *c, const mc_cell *cell, double value) {
    return c->names && (c->classes || value == floor(value)) && !mc_number_survives(cell->begin, cell->end);
}

/* The general cell: spaces, quotes, words. Returns what follows it; NULL: it stands in no table. */
static const char *general_cell(const mc_csv_fill *f, int64_t j, mc_csv_cursor *at, const char *p) {
    const mc_raw *raw = f->raw;
    const mc_file_column *c = &raw->column[j];
    mc_cell cell;
    const char *after = mc_cell_scan(p, f->end, raw->delimiter, &cell);
    if (cell.fault) {
        at->halt = (mc_csv_halt){.why = MC_CSV_BAD_CELL, .cell = cell};
        return NULL;
    }
    if (!c->cell)
        return after;
    double value = 0;
    mc_cell_kind kind = mc_cell_read(&cell, &value);
    if (c->kind == MC_COLUMN_TEXT || (c->text && kind != MC_CELL_MISSING))
        kind = MC_CELL_TEXT;
    if (kind == MC_CELL_NUMBER && is_long(c, &cell, value))
        kind = MC_CELL_LONG;
    f->special[j] |= kind != MC_CELL_NUMBER;
    const char *place = c->kind == MC_COLUMN_TEXT ? p : cell.begin - cell.quoted;
    c->cell[at->row * c->stride] = kind == MC_CELL_NUMBER ? value : mc_cell_box(kind, place - raw->input->bytes);
    return after;
}

/* The next cell, after one that is not a plain number; NULL on a fault. */
__attribute__((noinline)) static const char *other_cell(const mc_csv_fill *f, int64_t j, mc_csv_cursor *at,
                                                        const char *p) {
    const char *after = general_cell(f, j, at, p);
    if (!after)
        return NULL;
    const bool more = *after == f->raw->delimiter && after < f->end;
    if (more == (j < f->raw->columns - 1))
        return after + 1;
    at->halt.why = MC_CSV_RAGGED;
    return NULL;
}

/* The cell of column j at p, which this byte should follow; the next one, or NULL on a fault. */
static inline const char *next_cell(const mc_csv_fill *f, int64_t j, char follows, mc_csv_cursor *at, const char *p) {
    const mc_csv_slot *slot = &f->slot[j];
    double value;
    const char *after = slot->number ? mc_number_fast(p, f->end, &value) : NULL;
    if (after && *after == '\r')
        after++;
    if (!after || *after != follows)
        return other_cell(f, j, at, p);
    slot->cell[at->row * slot->stride] = value;
    return after + 1;
}

static bool finish_record(mc_csv_cursor *at, const char *p) {
    at->p = p;
    at->row++;
    return true;
}

bool mc_csv_fill_record(const mc_csv_fill *f, mc_csv_cursor *at) {
    const int64_t last = f->raw->columns - 1;
    const char delimiter = f->raw->delimiter, *p = at->p;
    for (int64_t j = 0; j <= last; j++)
        if (!(p = next_cell(f, j, j < last ? delimiter : '\n', at, p)))
            return false;
    return finish_record(at, p);
}

bool mc_csv_fill_pair(const mc_csv_fill *f, mc_csv_cursor *one, mc_csv_cursor *two) {
    const int64_t last = f->raw->columns - 1;
    const char delimiter = f->raw->delimiter, *p = one->p, *q = two->p;
    for (int64_t j = 0; j <= last; j++) {
        const char follows = j < last ? delimiter : '\n';
        p = next_cell(f, j, follows, one, p);
        q = p ? next_cell(f, j, follows, two, q) : NULL;
        if (!q)
            return false;
    }
    return finish_record(one, p) && finish_record(two, q);
}
