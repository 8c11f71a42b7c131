/* schema.c: copying and freeing what is remembered about the columns of a file. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/strings.h"
#include <math.h>
#include <string.h>

static mercer_status copy_column(mercer_ctx *ctx, const mc_column *from, mc_column *to) {
    *to = (mc_column){.kind = from->kind, .mean = from->mean};
    if (from->name && !(to->name = mc_copy_text(ctx, from->name, strlen(from->name))))
        return MERCER_MEMORY;
    if (from->level) {
        to->level = mc_strings_copy(ctx, (const char *const *)from->level, from->levels);
        if (!to->level)
            return MERCER_MEMORY;
        to->levels = from->levels;
    }
    return MERCER_OK;
}

mercer_status mc_schema_copy(mercer_ctx *ctx, const mc_schema *schema, mc_schema *out) {
    *out = (mc_schema){.header = schema->header, .serial = schema->serial};
    if (!schema->count)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, out->column, schema->count));
    mercer_status status = MERCER_OK;
    for (out->count = 0; out->count < schema->count && !status; out->count++)
        status = copy_column(ctx, &schema->column[out->count], &out->column[out->count]);
    if (status)
        mc_schema_free(out);
    return status;
}

void mc_schema_free(mc_schema *schema) {
    for (int64_t i = 0; i < schema->count; i++) {
        mc_free(schema->column[i].name);
        mc_free(schema->column[i].level);
    }
    mc_free(schema->column);
    *schema = (mc_schema){0};
}

int64_t mc_schema_columns(const mc_schema *schema) {
    int64_t d = schema->serial;
    for (int64_t i = 0; i < schema->count; i++) {
        const mc_column *c = &schema->column[i];
        d += c->kind == MC_COLUMN_NUMBER ? 1 : c->kind == MC_COLUMN_LEVELS ? c->levels : 0;
    }
    return d;
}

/* A header of the data's own column names, then its texts, then its targets. */
mercer_status mc_schema_of_names(mercer_ctx *ctx, mercer_data *data, const char *const *texts) {
    const int64_t targets = data->target_name ? (data->classes ? 1 : data->outputs) : 0,
                  words = texts ? data->texts : 0;
    mc_schema *schema = &data->schema;
    MC_TRY(MC_ALLOC(ctx, schema->column, data->d + words + targets));
    schema->header = true;
    for (; schema->count < data->d + words + targets; schema->count++) {
        const int64_t k = schema->count - data->d, t = k - words;
        const char *name = k < 0   ? mercer_data_column_name(data, schema->count)
                           : t < 0 ? texts[k]
                                   : data->target_name[t];
        mc_column *column = &schema->column[schema->count];
        column->kind = k < 0 ? MC_COLUMN_NUMBER : t < 0 ? MC_COLUMN_TEXT : MC_COLUMN_TARGET;
        column->mean = k < 0 ? NAN : 0;
        column->name = mc_copy_text(ctx, name, strlen(name));
        if (!column->name)
            return MERCER_MEMORY;
    }
    return MERCER_OK;
}
