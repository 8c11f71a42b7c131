/* data.h: what a table is inside the library. Made by the readers, mercer_data_make and the generators; never changed after. */
#ifndef MC_DATA_DATA_H
#define MC_DATA_DATA_H

#include <mercer.h>

/* How the columns of a file became the columns of the data: kept in models, so that a new file is read the same way. */
typedef enum mc_column_kind {
    MC_COLUMN_NUMBER, /* one data column */
    MC_COLUMN_LEVELS, /* text, one-hot: one data column per level */
    MC_COLUMN_TEXT,   /* kept as strings, no data column */
    MC_COLUMN_TARGET,
    MC_COLUMN_WEIGHT
} mc_column_kind;

typedef struct mc_column {
    char *name; /* NULL when the file has no header */
    mc_column_kind kind;
    int64_t levels;
    char **level;     /* sorted */
    double mean;      /* what stands in for a missing number under MERCER_MISSING_MEAN */
} mc_column;

typedef struct mc_schema {
    int64_t count; /* columns of the file, in file order; 0 for LIBSVM text, where only d matters */
    mc_column *column;
    bool header;
} mc_schema;

struct mercer_data {
    int64_t n, d;
    mercer_dtype dtype;
    void *values;        /* dense: n x d row-major; CSR: the stored values */
    int64_t *row_start;  /* CSR: n + 1; NULL: dense */
    int32_t *column;     /* CSR: from 0, increasing within a row */
    int64_t outputs;
    double *target;      /* n x outputs; NULL: none or classes */
    int64_t classes;
    char **label;        /* classes strings, sorted: numbers by value, then text by bytes */
    int32_t *class_of;   /* n; NULL: no classes */
    double *weight;      /* n; NULL: all 1 */
    char **name;         /* d data column names; NULL: none */
    char **target_name;  /* outputs names (1 for classes); NULL: none */
    int64_t texts;
    char **text;         /* n x texts strings, row-major */
    mc_schema schema;
};

/* Empty data of the given shape with zeroed dense values (nonzero < 0) or CSR arrays for nonzero values. */
mercer_status mc_data_new(mercer_ctx *ctx, int64_t n, int64_t d, mercer_dtype dtype, int64_t nonzero, mercer_data **out);

/* Element (i, j) of dense data, and the d values of any row, as doubles. */
double mc_data_value(const mercer_data *data, int64_t i, int64_t j);

/* Read path under the schema of earlier data: same columns by name (by place without a header), same levels; the target may be
   absent. set may change missing and weights only. d: columns of the model, for LIBSVM text. labels: known classes, so that a class
   keeps its number; an unseen class is an error when the target is wanted. */
mercer_status mc_data_read_like(mercer_ctx *ctx, const char *path, const mercer_read *set, const mc_schema *schema, int64_t d,
                                int64_t classes, char *const *labels, mercer_data **out);

mercer_status mc_schema_copy(mercer_ctx *ctx, const mc_schema *schema, mc_schema *out);
void mc_schema_free(mc_schema *schema);

#endif
