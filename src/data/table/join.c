/* join.c: the rows of two tables as one table, which keeps the names, labels and schema of the first. Two sparse tables
   make a sparse one; two of single precision make one of single precision; otherwise the rows are dense, the numbers
   double. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/strings.h"
#include <string.h>

static void add_sparse(mercer_data *to, int64_t first, const mercer_data *from) {
    for (int64_t i = 0; i < from->n; i++) {
        int64_t place = to->row_start[first + i];
        for (int64_t k = from->row_start[i]; k < from->row_start[i + 1]; k++, place++) {
            mc_store_value(to, place, mc_stored_value(from, k));
            to->column[place] = from->column[k];
        }
        to->row_start[first + i + 1] = place;
    }
}

/* line: d numbers of scratch. */
static void add_dense(mercer_data *to, int64_t first, const mercer_data *from, double *line) {
    for (int64_t i = 0; i < from->n; i++) {
        mc_data_values(from, i, line);
        for (int64_t j = 0; j < to->d; j++)
            mc_store_value(to, (first + i) * to->d + j, line[j]);
    }
}

static mercer_status append_both_tables(mercer_ctx *ctx, const mercer_data *a, const mercer_data *b, mercer_data *to) {
    if (to->row_start) {
        add_sparse(to, 0, a);
        add_sparse(to, a->n, b);
        return MERCER_OK;
    }
    double *line = NULL;
    MC_TRY(MC_ALLOC(ctx, line, to->d));
    add_dense(to, 0, a, line);
    add_dense(to, a->n, b, line);
    mc_free(line);
    return MERCER_OK;
}

/* The texts of both where they have as many, none otherwise. */
static mercer_status join_texts(mercer_ctx *ctx, const mercer_data *a, const mercer_data *b, mercer_data *to) {
    const char **both = NULL;
    const int64_t first = a->n * a->texts, second = b->n * b->texts;
    mc_data_drop_texts(to);
    if (a->texts != b->texts || !a->texts)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, both, first + second));
    for (int64_t i = 0; i < first + second; i++)
        both[i] = i < first ? a->text[i] : b->text[i - first];
    to->text = mc_strings_copy(ctx, both, first + second);
    to->texts = to->text ? a->texts : 0;
    to->reads_texts = a->reads_texts;
    mc_free(both);
    return to->text ? MERCER_OK : MERCER_MEMORY;
}

mercer_status mc_data_join(mercer_ctx *ctx, const mercer_data *a, const mercer_data *b, mercer_data **out) {
    const bool sparse = a->row_start && b->row_start;
    const mercer_dtype dtype = a->dtype == MERCER_F32 && b->dtype == MERCER_F32 ? MERCER_F32 : MERCER_F64;
    mercer_data *values = NULL;
    *out = NULL;
    MC_TRY(mc_data_new(ctx, a->n + b->n, a->d, dtype, sparse ? a->row_start[a->n] + b->row_start[b->n] : -1, &values));
    mercer_status status = append_both_tables(ctx, a, b, values);
    if (!status)
        status = mc_data_take(ctx, a, NULL, a->n, out);
    if (!status) {
        mc_data_strip(*out);
        mc_data_move_values(values, *out);
        status = join_texts(ctx, a, b, *out);
    }
    mercer_data_free(values);
    if (status) {
        mercer_data_free(*out);
        *out = NULL;
    }
    return status;
}
