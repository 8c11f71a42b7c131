/* missing.c: rows with missing cells dropped, and the mean of every column of numbers, which stands in for its missing
   cells. Where none is missing the means are left to whoever makes a model (means.c). */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/means.h"
#include "data/read/raw.h"
#include <math.h>

static bool row_lacks(const mc_raw *raw, int64_t i) {
    for (int64_t j = 0; j < raw->columns; j++) {
        const mc_file_column *c = &raw->column[j];
        if (c->missing > 0 && mc_cell_kind_of(c->cell[i * c->stride]) == MC_CELL_MISSING)
            return true;
    }
    return false;
}

/* Move the rows that are whole to the front. */
static mercer_status drop_rows(mercer_ctx *ctx, mc_raw *raw) {
    int64_t kept = 0;
    MC_TRY(MC_ALLOC(ctx, raw->origin, raw->n));
    for (int64_t i = 0; i < raw->n; i++) {
        if (row_lacks(raw, i))
            continue;
        raw->origin[kept] = i;
        memmove(raw->x + kept * raw->dx, raw->x + i * raw->dx, (size_t)raw->dx * sizeof *raw->x);
        memmove(raw->y + kept * raw->dy, raw->y + i * raw->dy, (size_t)raw->dy * sizeof *raw->y);
        kept++;
    }
    if (kept == 0)
        return mc_fail(ctx, MERCER_DATA, "%s: each of its %lld rows has a missing value, so none is left",
                       raw->input->name, (long long)raw->n);
    raw->n = kept;
    return MERCER_OK;
}

static const double *row_of_raw(const void *self, int64_t i, double *scratch) {
    (void)scratch;
    const mc_raw *raw = self;
    return raw->x + i * raw->dx; /* what is not a number is a NaN: see cell.h */
}

static mercer_status find_means(mercer_ctx *ctx, mc_raw *raw) {
    const mc_row_block rows = {.n = raw->n, .d = raw->dx, .row = row_of_raw, .self = raw};
    double *share = NULL;
    MC_TRY(MC_ALLOC(ctx, share, 2 * raw->dx));
    for (int64_t j = 0; j < raw->columns; j++) {
        const mc_file_column *c = &raw->column[j];
        if (c->kind == MC_COLUMN_NUMBER)
            share[c->cell - raw->x] = c->numbers ? 1 / (double)c->numbers : 0;
    }
    const mercer_status status = mc_column_means(ctx, &rows, share, share + raw->dx);
    for (int64_t j = 0; j < raw->columns && !status; j++)
        if (raw->column[j].kind == MC_COLUMN_NUMBER)
            raw->column[j].mean = share[raw->dx + (raw->column[j].cell - raw->x)];
    mc_free(share);
    return status;
}

static void recount_after_dropping(mc_raw *raw) {
    for (int64_t j = 0; j < raw->columns; j++) {
        raw->column[j].missing = 0;
        if (raw->column[j].kind == MC_COLUMN_NUMBER)
            raw->column[j].numbers = raw->n;
    }
}

mercer_status mc_raw_missing(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw) {
    int64_t missing = 0;
    for (int64_t j = 0; j < raw->columns; j++)
        missing += raw->column[j].missing;
    raw->missing = missing;
    if (missing > 0 && reading->set->missing == MERCER_MISSING_DROP) {
        MC_TRY(drop_rows(ctx, raw));
        recount_after_dropping(raw);
    }
    if (reading->schema) {
        for (int64_t j = 0; j < raw->columns; j++)
            raw->column[j].mean = raw->column[j].like ? raw->column[j].like->mean : 0;
        return MERCER_OK;
    }
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].kind == MC_COLUMN_NUMBER && raw->column[j].numbers == 0)
            return mc_fail(ctx, MERCER_DATA,
                           "%s: every value of %s is missing, so it has no mean; leave the column out",
                           raw->input->name, mc_column_title(raw, j).text);
    for (int64_t j = 0; j < raw->columns; j++)
        raw->column[j].mean = raw->column[j].kind == MC_COLUMN_NUMBER ? NAN : 0;
    return missing > 0 ? find_means(ctx, raw) : MERCER_OK;
}
