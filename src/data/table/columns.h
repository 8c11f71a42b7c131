/* columns.h: which columns a table keeps.

   LIBSVM text and hashed features number their columns up to 2^31 and have values in few of them. A sparse table of
   that kind keeps the columns that occur, numbered from 0, and beside them one that is 0 in every row and stands for
   all the others: what is laid out per column then costs by the values there are. `used` lists the numbers that the
   kept columns have outside, increasing; the blank one comes last, with the number of columns as its own. A table
   without `used` keeps all.

   Inside the library d and column numbers are those of kept columns; kernels as users write them, messages, exports
   and counts of columns are in the numbers of outside. */
#ifndef MC_DATA_TABLE_COLUMNS_H
#define MC_DATA_TABLE_COLUMNS_H

#include "data/table/data.h"

/* Columns as the user counts them. */
static inline int64_t mc_data_width(const mercer_data *data) {
    return data->used ? data->used[data->d - 1] : data->d;
}

/* The number outside, from 0, of a kept column. */
static inline int64_t mc_data_column(const mercer_data *data, int64_t place) {
    return data->used ? data->used[place] : place;
}

/* The place of a column among increasing ones; -1: it is not there. */
int64_t mc_find_column(const int32_t *columns, int64_t count, int64_t column);
/* The kept column that has this number outside: the blank one where none has. */
int64_t mc_data_place(const mercer_data *data, int64_t column);

/* Sparse data without names that nobody else has seen yet keep the columns that occur, where that are few of many. */
mercer_status mc_data_compact(mercer_ctx *ctx, mercer_data *data);

/* A list of kept columns: as `used` of a table; used NULL: all of d. */
typedef struct mc_kept {
    int64_t d;
    int32_t *used;
} mc_kept;

/* The columns that a or b keeps; used is new. */
mercer_status mc_kept_union(mercer_ctx *ctx, const mercer_data *a, const mercer_data *b, mc_kept *out);
bool mc_kept_same(const mercer_data *a, const mercer_data *b);
/* Place in `kept` of every column that data keeps, into at (data->d numbers). A column that kept has not goes to its
   blank one, or to -1 where it has none or blank is false. */
void mc_kept_places(const mercer_data *data, const mc_kept *kept, bool blank, int32_t *at);

/* Whether some value that is not 0 stands in a column of data whose place is -1. */
bool mc_data_any(const mercer_data *data, const int32_t *at);

/* The rows of data, sparse, with the columns of kept; values in columns that kept has not are left out. */
mercer_status mc_data_onto(mercer_ctx *ctx, const mercer_data *data, const mc_kept *kept, mercer_data **out);
/* The same rows with every column kept. */
mercer_status mc_data_spread(mercer_ctx *ctx, const mercer_data *data, mercer_data **out);

/* Whether row i of a and row j of b have the same values, to the bit. */
bool mc_rows_equal(const mercer_data *a, int64_t i, const mercer_data *b, int64_t j);

#endif
