/* means.c: the mean of every column of numbers stands in for its missing cells in files that come later. Reading a file
   finds means only where cells are missing now; the rest is left to whoever makes a model, since it is one more pass
   over the table. */
#include "data/table/means.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include <math.h>

enum { ROW_GRAIN = 4096 };

typedef struct averaging {
    const mc_row_block *rows;
    const double *share;
    double *part;    /* chunks x d */
    double *scratch; /* threads x d */
} averaging;

static void add_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const averaging *a = arg;
    const int64_t d = a->rows->d;
    const double *restrict share = a->share;
    double *restrict part = a->part + chunk * d;
    for (int64_t i = begin; i < end; i++) {
        const double *restrict x = a->rows->row(a->rows->self, i, a->scratch + thread * d);
        for (int64_t j = 0; j < d; j++) {
            const double term = x[j] * share[j];
            part[j] += x[j] == x[j] ? term : 0;
        }
    }
}

mercer_status mc_column_means(mercer_ctx *ctx, const mc_row_block *rows, const double *share, double *out) {
    const int64_t chunks = mc_chunk_count(rows->n, ROW_GRAIN), d = rows->d;
    averaging a = {.rows = rows, .share = share};
    mercer_status status =
        MC_ALLOC(ctx, a.part, chunks * d) || MC_ALLOC(ctx, a.scratch, ctx->threads * d) ? MERCER_MEMORY : MERCER_OK;
    if (!status)
        status = mc_for(ctx, rows->n, ROW_GRAIN, add_rows, &a);
    for (int64_t j = 0; j < d && !status; j++) {
        out[j] = 0;
        for (int64_t k = 0; k < chunks; k++)
            out[j] += a.part[k * d + j];
    }
    mc_free(a.part);
    mc_free(a.scratch);
    return status;
}

static const double *row_of_data(const void *self, int64_t i, double *scratch) {
    const mercer_data *data = self;
    if (data->dtype == MERCER_F64 && !data->row_start)
        return (const double *)data->values + i * data->d;
    mc_data_values(data, i, scratch);
    return scratch;
}

static bool knows_all(const mc_schema *schema) {
    for (int64_t i = 0; i < schema->count; i++)
        if (schema->column[i].kind == MC_COLUMN_NUMBER && isnan(schema->column[i].mean))
            return false;
    return true;
}

/* Columns of the file in order make columns of the data in order: a number one, levels as many as there are. */
static void fill_in(mc_schema *schema, const double *mean) {
    for (int64_t i = 0, j = schema->serial; i < schema->count; i++) {
        mc_column *c = &schema->column[i];
        if (c->kind == MC_COLUMN_NUMBER && isnan(c->mean))
            c->mean = mean[j];
        j += c->kind == MC_COLUMN_NUMBER ? 1 : c->kind == MC_COLUMN_LEVELS ? c->levels : 0;
    }
}

mercer_status mc_schema_means(mercer_ctx *ctx, const mercer_data *data, mc_schema *schema) {
    if (knows_all(schema) || !data->n)
        return MERCER_OK;
    const mc_row_block rows = {.n = data->n, .d = data->d, .row = row_of_data, .self = data};
    double *share = NULL;
    MC_TRY(MC_ALLOC(ctx, share, 2 * data->d));
    for (int64_t j = 0; j < data->d; j++)
        share[j] = 1 / (double)data->n;
    const mercer_status status = mc_column_means(ctx, &rows, share, share + data->d);
    if (!status)
        fill_in(schema, share + data->d);
    mc_free(share);
    return status;
}
