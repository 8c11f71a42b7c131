/* check_cells.c: the first cell of a file, in the order of its rows, that cannot be used, named with what was expected.
   */
#include "base/status.h"
#include "data/read/raw.h"
#include <float.h>
#include <math.h>

static bool is_input_column(const mc_file_column *c) {
    return c->kind == MC_COLUMN_NUMBER || c->kind == MC_COLUMN_LEVELS;
}

/* A missing cell is an error unless its row is dropped or something can stand in for it. */
static bool missing_is_bad(const mc_reading *reading, const mc_file_column *c) {
    const mercer_missing way = reading->set->missing;
    return way == MERCER_MISSING_ERROR || (way == MERCER_MISSING_MEAN && !is_input_column(c));
}

static bool number_is_bad(const mc_reading *reading, const mc_file_column *c, double value) {
    if (c->kind == MC_COLUMN_WEIGHT)
        return value < 0;
    return c->kind == MC_COLUMN_NUMBER && reading->set->dtype == MERCER_F32 && fabs(value) > (double)FLT_MAX;
}

static bool is_bad(const mc_reading *reading, const mc_file_column *c, double cell) {
    switch (mc_cell_kind_of(cell)) {
    case MC_CELL_NUMBER: return number_is_bad(reading, c, cell);
    case MC_CELL_MISSING: return missing_is_bad(reading, c);
    case MC_CELL_INFINITE: return true;
    case MC_CELL_TEXT: return !c->text;
    case MC_CELL_LONG: break; /* settled by mc_raw_classify */
    }
    return false;
}

static bool may_be_bad(const mc_reading *reading, const mc_file_column *c) {
    if (!c->cell)
        return false;
    return c->special || c->kind == MC_COLUMN_WEIGHT
           || (c->kind == MC_COLUMN_NUMBER && reading->set->dtype == MERCER_F32);
}

/* The first line has text over numbers, and numbers too: nobody can tell whether these are names. */
static const char *header_hint(const mc_reading *reading, const mc_raw *raw, int64_t i) {
    bool text = false;
    for (int64_t j = 0; j < raw->columns; j++) {
        const mc_file_column *c = &raw->column[j];
        text |= c->cell && !c->text && mc_cell_kind_of(c->cell[0]) == MC_CELL_TEXT;
    }
    const bool open = i == 0 && raw->lines && !raw->header && reading->set->header == MERCER_HEADER_AUTO;
    return open && text ? "; where the first line names the columns, say --header yes" : "";
}

static mercer_status fail_missing(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw, int64_t i, int64_t j) {
    const mc_file_column *c = &raw->column[j];
    if (!is_input_column(c))
        return mc_raw_fail(
            ctx, raw, i, j,
            "the value of a %s is missing and cannot be filled in; give it, or drop such rows (--missing drop)",
            c->kind == MC_COLUMN_TARGET   ? "target"
            : c->kind == MC_COLUMN_WEIGHT ? "weight"
                                          : "text");
    return mc_raw_fail(
        ctx, raw, i, j,
        "the value is missing; give it, fill in means (--missing mean) or drop such rows (--missing drop)%s",
        header_hint(reading, raw, i));
}

static mercer_status fail_text(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw, int64_t i, int64_t j) {
    const mc_file_column *c = &raw->column[j];
    const mc_cell cell = mc_raw_cell(raw, c, i);
    const mc_quote seen = mc_quote_of(cell.begin, cell.end - cell.begin);
    if (mc_cell_has_commas(&cell))
        return mc_raw_fail(ctx, raw, i, j,
                           "expected a number, found '%s'; write a decimal comma as a point, and thousands without one",
                           seen.text);
    if (c->numbers > 0)
        return mc_raw_fail(ctx, raw, i, j, "expected a number, found '%s' (%lld cells of this column are numbers)%s",
                           seen.text, (long long)c->numbers, header_hint(reading, raw, i));
    return mc_raw_fail(ctx, raw, i, j, "expected a number, found '%s'", seen.text);
}

static mercer_status fail_cell(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw, int64_t i, int64_t j) {
    const mc_file_column *c = &raw->column[j];
    const double cell = c->cell[i * c->stride];
    switch (mc_cell_kind_of(cell)) {
    case MC_CELL_MISSING: return fail_missing(ctx, reading, raw, i, j);
    case MC_CELL_INFINITE: return mc_raw_fail(ctx, raw, i, j, "the value is infinite; expected a finite number");
    case MC_CELL_TEXT: return fail_text(ctx, reading, raw, i, j);
    case MC_CELL_NUMBER:
    case MC_CELL_LONG: break;
    }
    if (c->kind == MC_COLUMN_WEIGHT)
        return mc_raw_fail(ctx, raw, i, j, "a weight must not be negative, got %g", cell);
    return mc_raw_fail(ctx, raw, i, j, "%g is out of the range of float32; read it as float64", cell);
}

mercer_status mc_raw_check(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw) {
    int64_t row = raw->n, column = -1;
    for (int64_t j = 0; j < raw->columns; j++) {
        const mc_file_column *c = &raw->column[j];
        if (!may_be_bad(reading, c))
            continue;
        int64_t i = 0;
        while (i < row && !is_bad(reading, c, c->cell[i * c->stride]))
            i++;
        if (i < row) {
            row = i;
            column = j;
        }
    }
    return column < 0 ? MERCER_OK : fail_cell(ctx, reading, raw, row, column);
}
