/* data.h: what a table is inside the library. Made by the readers, mercer_data_make and the generators; never changed
 * after. */
#ifndef MC_DATA_TABLE_DATA_H
#define MC_DATA_TABLE_DATA_H

#include <mercer.h>

/* A list of strings (label, name, target_name, text, level) is one block, pointers and then bytes: see strings.h. */

/* How the columns of a file became the columns of the data: kept in models, so that a new file is read the same way. */
typedef enum mc_column_kind {
    MC_COLUMN_NUMBER, /* one data column */
    MC_COLUMN_LEVELS, /* text, one-hot: one data column per level */
    MC_COLUMN_TEXT,   /* kept as strings, no data column */
    MC_COLUMN_TARGET,
    MC_COLUMN_WEIGHT,
    MC_COLUMN_UNUSED /* of a file: not read; no column of a schema is */
} mc_column_kind;

typedef struct mc_column {
    char *name; /* NULL when the file has no header */
    mc_column_kind kind;
    int64_t levels;
    char **level; /* sorted, one block */
    double mean;  /* what stands in for a missing number under MERCER_MISSING_MEAN; NaN: not known yet (means.h) */
} mc_column;

typedef struct mc_schema {
    int64_t count; /* columns of the file, in file order; 0 for LIBSVM text, where only d matters */
    mc_column *column;
    bool header;
    /* the first data column numbers the rows of a Gram matrix and is no column of the file (index 0 of LIBSVM text) */
    bool serial;
} mc_schema;

struct mercer_data {
    int64_t n, d;  /* d: columns that are kept; mc_data_width is their number outside */
    int32_t *used; /* sparse: the numbers of kept columns outside, d of them (columns.h); NULL: all are kept */
    mercer_dtype dtype;
    void *values;       /* dense: n x d row-major; CSR: the stored values */
    int64_t *row_start; /* CSR: n + 1; NULL: dense */
    int32_t *column;    /* CSR: from 0, increasing within a row */
    int64_t outputs;
    double *target; /* n x outputs; NULL: none or classes */
    int64_t classes;
    char **label;       /* classes strings, sorted: numbers by value, then text by bytes */
    int32_t *class_of;  /* n; NULL: no classes */
    double *weight;     /* n; NULL: all 1 */
    char **name;        /* d data column names; NULL: none */
    char **target_name; /* outputs names (1 for classes); NULL: none */
    int64_t missing;    /* cells of the file that were missing */
    int64_t texts;
    char **text;      /* n x texts strings, row-major */
    bool reads_texts; /* they were found while reading, for a kernel to read; elsewhere somebody asked for them */
    char **numbered;  /* "x1", "x2", ... when there is no name; NULL: too many columns for that */
    mc_schema schema;
    int64_t first;                /* place of the first row in the table these are a part of, for messages */
    int64_t *place;               /* of every row, where they do not follow each other; NULL: they do */
    bool open;                    /* LIBSVM text: columns beyond the last are 0 too */
    bool borrowed;                /* values are the caller's */
    struct mc_attached *attached; /* what is known of the rows of the table that these come from; NULL: nothing */
    int64_t *attached_row;        /* which of its rows each is; NULL: in its order */
    char *unused;                 /* names of columns of the file that were not read, with commas between; NULL: none */
};

/* Empty data of the given shape with zeroed dense values (nonzero < 0) or CSR arrays for nonzero values. */
mercer_status mc_data_new(mercer_ctx *ctx, int64_t n, int64_t d, mercer_dtype dtype, int64_t nonzero,
                          mercer_data **out);
/* The same where every value will be written. */
mercer_status mc_data_new_unset(mercer_ctx *ctx, int64_t n, int64_t d, mercer_dtype dtype, int64_t nonzero,
                                mercer_data **out);

/* To be called when everything else is in place. */
mercer_status mc_data_finish(mercer_ctx *ctx, mercer_data *data);
size_t mc_dtype_size(mercer_dtype dtype);
/* The k-th number that is stored: of dense rows number i d + j, of sparse ones that of column[k]. */
static inline double mc_stored_value(const mercer_data *data, int64_t k) {
    return data->dtype == MERCER_F32 ? (double)((const float *)data->values)[k] : ((const double *)data->values)[k];
}
static inline void mc_store_value(mercer_data *data, int64_t k, double value) {
    if (data->dtype == MERCER_F32)
        ((float *)data->values)[k] = (float)value;
    else
        ((double *)data->values)[k] = value;
}
/* The first of count values that is NaN or infinite; -1: none. */
int64_t mc_first_not_finite(mercer_dtype dtype, const void *values, int64_t count);
/* Finite, not negative, not all zero. */
mercer_status mc_weights_check(mercer_ctx *ctx, const double *weights, int64_t n);

/* mercer_data_make for callers inside the library. */
mercer_status mc_data_make(mercer_ctx *ctx, const mercer_table *table, mercer_data **out);
/* The listed rows (NULL: 0 .. count-1) as new data; rows are taken on trust. */
mercer_status mc_data_take(mercer_ctx *ctx, const mercer_data *data, const int64_t *rows, int64_t count,
                           mercer_data **out);
/* The rows begin .. end-1. */
mercer_status mc_data_range(mercer_ctx *ctx, const mercer_data *data, int64_t begin, int64_t end, mercer_data **out);

/* The rows of a, then those of b, without targets and weights; names, labels and schema are those of a. The columns
   must agree. */
mercer_status mc_data_join(mercer_ctx *ctx, const mercer_data *a, const mercer_data *b, mercer_data **out);

/* Values change hands, with the number of rows; what is left in from is freed with it. */
void mc_data_move_values(mercer_data *from, mercer_data *to);

/* Forget the targets and weights of the rows; names, labels and schema stay. For data not yet handed out. */
void mc_data_strip(mercer_data *data);

/* CSR to dense, for data that nobody else has seen yet. */
mercer_status mc_data_densify(mercer_ctx *ctx, mercer_data *data);

/* The d values of a row, in the order of kept columns. */
void mc_data_values(const mercer_data *data, int64_t row, double *out);
/* A row as the reference evaluator reads it: d numbers, then the address of each text in the place of a number.
   mc_data_row_width of them. */
int64_t mc_data_row_width(const mercer_data *data);
void mc_data_row(const mercer_data *data, int64_t row, double *out);
/* The text in that place of such a row. */
const char *mc_row_text(const double *row, int64_t at);
/* The text column of this name, or at this place of the file (of the texts, where there was no file); -1: none. */
int64_t mc_data_text_find(const mercer_data *data, const char *name);
const char *mc_data_text_name(const mercer_data *data, int64_t k); /* NULL where it has none */
int64_t mc_data_text_place(const mercer_data *data, int64_t k);    /* in the file, of the texts without one */
/* Forget what is attached. */
void mc_data_drop_attached(mercer_data *data);
/* Of the rows, numbers and texts; targets, classes and weights are not looked at. */
uint64_t mc_data_hash(uint64_t hash, const mercer_data *x);
/* Forget the texts of the rows. For data not yet handed out. */
void mc_data_drop_texts(mercer_data *data);

/* The number of a row for a message: from 1, in the table that the caller knows. */
int64_t mc_data_row_number(const mercer_data *data, int64_t i);

/* Element (i, j), j a kept column, a zero of sparse data included, as a double. */
double mc_data_value(const mercer_data *data, int64_t i, int64_t j);

/* Read path under the schema of earlier data: same columns by name (by place without a header), same levels; the target
   may be absent. set may change missing and weights only. d: columns of the model, for LIBSVM text, which may have more
   where the schema lists none; -d: of a model of LIBSVM's, which has no use for index 0. labels: known
   classes, so that a class keeps its number; an unseen class is an error when the target is wanted. */
mercer_status mc_data_read_like(mercer_ctx *ctx, const char *path, const mercer_read *set, const mc_schema *schema,
                                int64_t d, int64_t classes, char *const *labels, mercer_data **out);

mercer_status mc_schema_copy(mercer_ctx *ctx, const mc_schema *schema, mc_schema *out);
void mc_schema_free(mc_schema *schema);
/* The schema of data that came with names instead of a file; texts: the names of its text columns, NULL: they have
   none. */
mercer_status mc_schema_of_names(mercer_ctx *ctx, mercer_data *data, const char *const *texts);
/* Data columns the file's columns make: one per number, one per level. */
int64_t mc_schema_columns(const mc_schema *schema);

#endif
