/* missing.c: rows with missing cells dropped, and the mean of every column of numbers, which stands in for its missing
   cells now or when a later file is read. Means are found in every case: a model does not know what the next file
   lacks. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/raw.h"

enum { ROW_GRAIN = 4096 };

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

typedef struct averaging {
    const mc_raw *raw;
    const double *share; /* dx: 1 / numbers in the column */
    double *part;        /* chunks x dx */
} averaging;

/* Shares are summed rather than values divided by the count at the end: no finite column overflows. */
static void add_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const averaging *a = arg;
    const int64_t d = a->raw->dx;
    const double *restrict share = a->share;
    double *restrict part = a->part + chunk * d;
    for (int64_t i = begin; i < end; i++) {
        const double *restrict x = a->raw->x + i * d;
        for (int64_t j = 0; j < d; j++) {
            const double term = x[j] * share[j];
            part[j] += x[j] == x[j] ? term : 0; /* a NaN is no number: see cell.h */
        }
    }
}

static mercer_status find_means(mercer_ctx *ctx, mc_raw *raw) {
    const int64_t d = raw->dx, chunks = mc_chunks(raw->n, ROW_GRAIN);
    double *share = NULL, *part = NULL;
    mercer_status status = MC_ALLOC(ctx, share, d) || MC_ALLOC(ctx, part, chunks * d) ? MERCER_MEMORY : MERCER_OK;
    for (int64_t j = 0; j < raw->columns && !status; j++) {
        const mc_file_column *c = &raw->column[j];
        if (c->kind == MC_COLUMN_NUMBER)
            share[c->cell - raw->x] = c->numbers ? 1 / (double)c->numbers : 0;
    }
    averaging a = {.raw = raw, .share = share, .part = part};
    if (!status)
        status = mc_for(ctx, raw->n, ROW_GRAIN, add_rows, &a);
    for (int64_t j = 0; j < raw->columns && !status; j++) {
        mc_file_column *c = &raw->column[j];
        for (int64_t k = 0; k < chunks && c->kind == MC_COLUMN_NUMBER; k++)
            c->mean += part[k * d + (c->cell - raw->x)];
    }
    mc_free(share);
    mc_free(part);
    return status;
}

static void recount(mc_raw *raw) {
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
        recount(raw);
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
    return find_means(ctx, raw);
}
