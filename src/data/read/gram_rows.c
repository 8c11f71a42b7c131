/* gram_rows.c: the first column of rows that come from a Gram matrix: which row, and so which column, of the matrix
   each of them is.

   Read afresh, a file without numbers is a whole matrix: it must be square and its rows are numbered in order. LIBSVM
   text has its numbers under index 0, other files may have them in a first column called serial. Read like earlier
   data, rows are new ones: they are none of the matrix's, whatever number stands there (LIBSVM says that any may),
   unless it is negative and so gives k(x,x). */
#include "data/read/gram_rows.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/strings.h"
#include <string.h>

bool mc_reads_serial(const mc_reading *reading) {
    return reading->schema ? reading->schema->serial : reading->set->gram;
}

static mercer_status name_serial(mercer_ctx *ctx, mercer_data *data) {
    const char **names = NULL;
    if (!data->name) {
        mc_free(data->numbered);
        data->numbered = NULL;
        return mc_data_finish(ctx, data);
    }
    MC_TRY(MC_ALLOC(ctx, names, data->d));
    names[0] = "serial";
    for (int64_t j = 1; j < data->d; j++)
        names[j] = data->name[j - 1];
    char **list = mc_strings_copy(ctx, names, data->d);
    mc_free(names);
    if (!list)
        return MERCER_MEMORY;
    mc_free(data->name);
    data->name = list;
    return MERCER_OK;
}

/* A column of zeros before the others. */
static mercer_status prepend_zero_column(mercer_ctx *ctx, mercer_data *data) {
    const size_t size = mc_dtype_size(data->dtype), row = (size_t)data->d * size;
    char *wide = mc_alloc(ctx, data->n, row + size);
    if (!wide)
        return MERCER_MEMORY;
    for (int64_t i = 0; i < data->n; i++)
        memcpy(wide + (size_t)i * (row + size) + size, (const char *)data->values + (size_t)i * row, row);
    mc_free(data->values);
    data->values = wide;
    data->d++;
    return name_serial(ctx, data);
}

static bool has_numbers(const mercer_data *data) {
    for (int64_t i = 0; i < data->n; i++)
        if (mc_data_value(data, i, 0) != 0)
            return true;
    return false;
}

static mercer_status number_rows(mercer_ctx *ctx, const char *name, mercer_data *data) {
    if (data->d - 1 != data->n)
        return mc_fail(ctx, MERCER_DATA, "%s: a Gram matrix is square, but this one has %lld rows and %lld columns",
                       name, (long long)data->n, (long long)data->d - 1);
    for (int64_t i = 0; i < data->n; i++)
        mc_store_value(data, i * data->d, (double)i + 1);
    return MERCER_OK;
}

mercer_status mc_data_serial(mercer_ctx *ctx, const mc_reading *reading, const char *name, mercer_data *data) {
    const bool libsvm = data->schema.count == 0, afresh = !reading->schema;
    if (!mc_reads_serial(reading) || (afresh && data->name && data->d > 0 && strcmp(data->name[0], "serial") == 0))
        return MERCER_OK;
    MC_TRY(mc_data_densify(ctx, data));
    if (!libsvm && (afresh || data->d < mc_schema_columns(&data->schema)))
        MC_TRY(prepend_zero_column(ctx, data));
    data->schema.serial = true;
    if (afresh)
        return has_numbers(data) ? MERCER_OK : number_rows(ctx, name, data);
    for (int64_t i = 0; i < data->n; i++)
        if (mc_data_value(data, i, 0) > 0)
            mc_store_value(data, i * data->d, 0);
    return MERCER_OK;
}
