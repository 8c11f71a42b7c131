/* columns.c: tables that keep the columns that occur. Time and memory go by the stored values: where the numbers of
   columns are within a small multiple of them a flag for each is cheapest, otherwise the numbers are sorted. */
#include "data/table/columns.h"
#include "base/memory.h"
#include "base/status.h"
#include <string.h>

enum {
    WIDE = 1 << 16, /* fewer columns are all kept: laying them out costs less than a page of anything else */
    SPREAD = 8      /* columns per stored value up to which a flag per column costs less than sorting */
};

/* ---- Places ---- */

int64_t mc_find_column(const int32_t *columns, int64_t count, int64_t column) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && columns[low] == column ? low : -1;
}

int64_t mc_data_place(const mercer_data *data, int64_t column) {
    const int64_t place = data->used ? mc_find_column(data->used, data->d, column) : column;
    return place < 0 ? data->d - 1 : place;
}

/* ---- The columns that occur ---- */

/* By flags: flag[column + 1] becomes 1, and then the number of columns before it that occur. */
static mercer_status number_by_flags(mercer_ctx *ctx, const mercer_data *data, int32_t **before) {
    MC_TRY(MC_ALLOC(ctx, *before, data->d + 1));
    for (int64_t k = 0; k < data->row_start[data->n]; k++)
        (*before)[data->column[k] + 1] = 1;
    for (int64_t j = 0; j < data->d; j++)
        (*before)[j + 1] += (*before)[j];
    return MERCER_OK;
}

static mercer_status list_flags(mercer_ctx *ctx, const int32_t *before, int64_t width, mc_kept *out) {
    out->d = before[width] + 1;
    MC_TRY(MC_ALLOC(ctx, out->used, out->d));
    for (int64_t j = 0; j < width; j++)
        if (before[j + 1] > before[j])
            out->used[before[j]] = (int32_t)j;
    out->used[out->d - 1] = (int32_t)width;
    return MERCER_OK;
}

/* One pass of a radix sort, by the digit of 11 bits at this place. */
static void sort_digit(const int32_t *from, int32_t *to, int64_t n, int shift) {
    int64_t start[2049] = {0};
    for (int64_t k = 0; k < n; k++)
        start[(from[k] >> shift & 2047) + 1]++;
    for (int b = 0; b < 2048; b++)
        start[b + 1] += start[b];
    for (int64_t k = 0; k < n; k++)
        to[start[from[k] >> shift & 2047]++] = from[k];
}

/* By sorting: the numbers in order, each once. */
static mercer_status list_sorted(mercer_ctx *ctx, const mercer_data *data, mc_kept *out) {
    const int64_t n = data->row_start[data->n];
    int32_t *scratch = NULL;
    MC_TRY(MC_ALLOC(ctx, out->used, n + 1));
    MC_TRY(MC_ALLOC(ctx, scratch, n));
    sort_digit(data->column, out->used, n, 0);
    sort_digit(out->used, scratch, n, 11);
    sort_digit(scratch, out->used, n, 22);
    mc_free(scratch);
    int64_t kept = 0;
    for (int64_t k = 0; k < n; k++)
        if (k == 0 || out->used[k] != out->used[k - 1])
            out->used[kept++] = out->used[k];
    out->used[kept] = (int32_t)data->d;
    out->d = kept + 1;
    return MERCER_OK;
}

/* A list that holds fewer than half of the columns is worth having. */
static mercer_status take_over(mercer_ctx *ctx, mercer_data *data, const int32_t *before, mc_kept *kept) {
    const int64_t width = data->d;
    if (before && before[width] + 1 < width / 2)
        MC_TRY(list_flags(ctx, before, width, kept));
    if (!kept->used || kept->d >= width / 2)
        return MERCER_OK;
    data->used = kept->used;
    data->d = kept->d;
    kept->used = NULL;
    for (int64_t k = 0; k < data->row_start[data->n]; k++)
        data->column[k] =
            before ? before[data->column[k]] : (int32_t)mc_find_column(data->used, data->d, data->column[k]);
    return MERCER_OK;
}

mercer_status mc_data_compact(mercer_ctx *ctx, mercer_data *data) {
    if (!data->row_start || data->used || data->name || data->schema.count || data->d <= WIDE || data->d > INT32_MAX)
        return MERCER_OK;
    mc_kept kept = {0};
    int32_t *before = NULL;
    mercer_status status = data->d / SPREAD <= data->row_start[data->n] ? number_by_flags(ctx, data, &before)
                                                                        : list_sorted(ctx, data, &kept);
    if (!status)
        status = take_over(ctx, data, before, &kept);
    mc_free(before);
    mc_free(kept.used);
    return status;
}

/* ---- Two tables ---- */

bool mc_kept_same(const mercer_data *a, const mercer_data *b) {
    if (a->d != b->d || !a->used != !b->used)
        return false;
    return !a->used || memcmp(a->used, b->used, (size_t)a->d * sizeof *a->used) == 0;
}

/* Columns that data keeps, the blank one left out. */
static int64_t count_kept(const mercer_data *data) {
    return data->used ? data->d - 1 : data->d;
}

mercer_status mc_kept_union(mercer_ctx *ctx, const mercer_data *a, const mercer_data *b, mc_kept *out) {
    const int64_t width = mc_data_width(a) > mc_data_width(b) ? mc_data_width(a) : mc_data_width(b);
    const int64_t na = count_kept(a), nb = count_kept(b);
    MC_TRY(MC_ALLOC(ctx, out->used, na + nb + 1));
    int64_t d = 0;
    for (int64_t i = 0, j = 0; i < na || j < nb;) {
        const int64_t x = i < na ? mc_data_column(a, i) : INT64_MAX, y = j < nb ? mc_data_column(b, j) : INT64_MAX;
        out->used[d++] = (int32_t)(x < y ? x : y);
        i += x <= y;
        j += y <= x;
    }
    out->used[d++] = (int32_t)width;
    out->d = d;
    return MERCER_OK;
}

void mc_kept_places(const mercer_data *data, const mc_kept *kept, bool blank, int32_t *at) {
    const int64_t none = blank && kept->used ? kept->d - 1 : -1, count = count_kept(data);
    int64_t k = 0;
    for (int64_t j = 0; j < count; j++) {
        const int64_t column = mc_data_column(data, j);
        while (kept->used && k < kept->d - 1 && kept->used[k] < column)
            k++;
        const bool there = kept->used ? k < kept->d - 1 && kept->used[k] == column : column < kept->d;
        at[j] = (int32_t)(there ? kept->used ? k : column : none);
    }
    if (data->used)
        at[count] = (int32_t)none;
}

/* ---- Rows with other columns ---- */

typedef struct column_cursor {
    int64_t k, begin, end;
} column_cursor;

static column_cursor row_of(const mercer_data *data, int64_t i) {
    const int64_t begin = data->row_start ? data->row_start[i] : i * data->d;
    return (column_cursor){begin, begin, data->row_start ? data->row_start[i + 1] : begin + data->d};
}

static int64_t place_at(const mercer_data *data, column_cursor c) {
    return data->row_start ? data->column[c.k] : c.k - c.begin;
}

/* Whether the value at k goes over to the other columns: a zero of dense rows need not. */
static bool goes_over(const mercer_data *data, column_cursor c, const int32_t *at) {
    return at[place_at(data, c)] >= 0 && (data->row_start || mc_stored_value(data, c.k) != 0);
}

bool mc_data_any(const mercer_data *data, const int32_t *at) {
    for (int64_t i = 0; i < data->n; i++)
        for (column_cursor c = row_of(data, i); c.k < c.end; c.k++)
            if (at[place_at(data, c)] < 0 && mc_stored_value(data, c.k) != 0)
                return true;
    return false;
}

static int64_t count_over(const mercer_data *data, const int32_t *at) {
    int64_t count = 0;
    for (int64_t i = 0; i < data->n; i++)
        for (column_cursor c = row_of(data, i); c.k < c.end; c.k++)
            count += goes_over(data, c, at);
    return count;
}

static void move_over(const mercer_data *data, const int32_t *at, mercer_data *to) {
    const size_t size = mc_dtype_size(data->dtype);
    int64_t stored = 0;
    to->row_start[0] = 0;
    for (int64_t i = 0; i < data->n; i++) {
        for (column_cursor c = row_of(data, i); c.k < c.end; c.k++) {
            if (!goes_over(data, c, at))
                continue;
            memcpy((char *)to->values + (size_t)stored * size, (const char *)data->values + (size_t)c.k * size, size);
            to->column[stored++] = at[place_at(data, c)];
        }
        to->row_start[i + 1] = stored;
    }
}

/* Everything but the values is that of a copy of data. */
static mercer_status exchange_values(mercer_ctx *ctx, const mercer_data *data, const mc_kept *kept, const int32_t *at,
                                     mercer_data *out) {
    mercer_data *fresh = NULL;
    int32_t *used = NULL;
    if (kept->used) {
        MC_TRY(MC_ALLOC(ctx, used, kept->d));
        memcpy(used, kept->used, (size_t)kept->d * sizeof *used);
    }
    const mercer_status status = mc_data_new_unset(ctx, data->n, kept->d, data->dtype, count_over(data, at), &fresh);
    if (status) {
        mc_free(used);
        return status;
    }
    move_over(data, at, fresh);
    mc_data_move_values(fresh, out);
    mc_free(out->used);
    out->used = used;
    out->d = kept->d;
    mercer_data_free(fresh);
    return MERCER_OK;
}

mercer_status mc_data_onto(mercer_ctx *ctx, const mercer_data *data, const mc_kept *kept, mercer_data **out) {
    int32_t *at = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, at, data->d));
    mc_kept_places(data, kept, false, at);
    mercer_data head = *data;
    head.name = head.numbered = NULL; /* the columns are others */
    mercer_status status = mc_data_take(ctx, &head, NULL, data->n, out);
    if (!status)
        status = exchange_values(ctx, data, kept, at, *out);
    mc_free(at);
    if (status) {
        mercer_data_free(*out);
        *out = NULL;
    }
    return status;
}

mercer_status mc_data_spread(mercer_ctx *ctx, const mercer_data *data, mercer_data **out) {
    return mc_data_onto(ctx, data, &(mc_kept){.d = mc_data_width(data)}, out);
}

/* The next value of the row that is not 0. */
static void skip_zeros(const mercer_data *data, column_cursor *c) {
    while (c->k < c->end && mc_stored_value(data, c->k) == 0)
        c->k++;
}

bool mc_rows_equal(const mercer_data *a, int64_t i, const mercer_data *b, int64_t j) {
    column_cursor x = row_of(a, i), z = row_of(b, j);
    for (;; x.k++, z.k++) {
        skip_zeros(a, &x);
        skip_zeros(b, &z);
        if (x.k == x.end || z.k == z.end)
            return x.k == x.end && z.k == z.end;
        if (mc_data_column(a, place_at(a, x)) != mc_data_column(b, place_at(b, z))
            || mc_stored_value(a, x.k) != mc_stored_value(b, z.k))
            return false;
    }
}
