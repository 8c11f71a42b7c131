/* symmetry.c: is what was given from elsewhere symmetric? Operators evaluate one side of the diagonal and take it for
   both, which would hide it: a matrix [2 1.5; 1 2] would be used, and reported, as one that nobody gave.

   Values may differ by 1e-8 of the largest on the diagonal: what rounding leaves in a matrix that was computed, or
   written as text. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/print.h"
#include "base/status.h"
#include "gram/operator/entry_fault.h"
#include "gram/operator/precomputed.h"
#include "kernel/language/user_function.h"
#include "base/number.h"
#include <math.h>
#include <string.h>

enum { SQUARE = 64 }; /* rows and columns looked at together: both sides stay near */
#define SLACK 1e-8

typedef struct comparison {
    const mercer_data *x;
    const int32_t *column; /* of the data, that the serial number of each row names; -1: it has none */
    double largest;
    struct mc_entry_fault first;
} comparison;

static double precomputed_value(const comparison *c, int64_t i, int64_t j) {
    return c->column[j] >= 0 ? mc_data_value(c->x, i, c->column[j]) : NAN;
}

/* False for a NaN: that a value is not known is told where it is needed. */
static bool values_differ(double a, double b, double largest) {
    return fabs(a - b) > SLACK * fmax(largest, fmax(fabs(a), fabs(b)));
}

static void note_asymmetric_pair(comparison *c, int64_t i, int64_t j) {
    const int64_t pair = i * c->x->n + j;
    int64_t seen = atomic_load(&c->first.pair);
    while (pair < seen && !atomic_compare_exchange_weak(&c->first.pair, &seen, pair))
        ;
}

static void compare_row(comparison *c, int64_t i, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++)
        if (values_differ(precomputed_value(c, i, j), precomputed_value(c, j, i), c->largest))
            note_asymmetric_pair(c, i, j);
}

static void compare_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    comparison *c = arg;
    for (int64_t j0 = 0; j0 < end; j0 += SQUARE)
        for (int64_t i = begin; i < end; i++)
            compare_row(c, i, j0, i < j0 + SQUARE ? i : j0 + SQUARE);
}

static mercer_status fail_pair(mercer_ctx *ctx, const mc_gram *g, const char *what, int64_t i, int64_t j, double a,
                               double b, const char *cure) {
    const long long r = mc_data_row_number(g->x, i), c = mc_data_row_number(g->x, j);
    char one[32], other[32];
    return mc_fail(ctx, MERCER_DATA, "%.100s is not symmetric: K(%lld, %lld) is %s and K(%lld, %lld) is %s; %s", what,
                   r, c, mc_number_text(a, one), c, r, mc_number_text(b, other), cure);
}

static mercer_status check_matrix(mercer_ctx *ctx, const mc_gram *g, const mc_tile_part *p) {
    const int64_t n = g->x->n;
    comparison c = {.x = g->x, .column = p->left.coordinate};
    atomic_init(&c.first.pair, INT64_MAX);
    for (int64_t i = 0; i < n; i++)
        c.largest = fmax(c.largest, fabs(precomputed_value(&c, i, i)));
    MC_TRY(mc_for(ctx, n, SQUARE, compare_rows, &c));
    const int64_t pair = atomic_load(&c.first.pair), i = pair / n, j = pair % n;
    return pair == INT64_MAX ? MERCER_OK
                             : fail_pair(ctx, g, "precomputed: the matrix", i, j, precomputed_value(&c, i, j),
                                         precomputed_value(&c, j, i), "give (K + K')/2 where that is what you mean");
}

/* values: rows x rows, then the rows themselves. */
static mercer_status compare_few(mercer_ctx *ctx, const mc_gram *g, const mc_tile_part *p, int64_t rows,
                                 double *values) {
    const int64_t d = p->columns, n = g->x->n;
    double *x = values + rows * rows, largest = 0;
    char what[128];
    for (int64_t r = 0; r < rows; r++)
        memcpy(x + r * d, (const double *)p->left.values + r * n / rows * d, (size_t)d * sizeof *x);
    if (!mc_user_fill(p->precomputed->parameter[0].user, d, rows, x, rows, x, values))
        return MERCER_OK; /* the pass that needs a value names the pair */
    for (int64_t i = 0; i < rows; i++)
        largest = fmax(largest, fabs(values[i * rows + i]));
    mc_print(what, sizeof what, "user(\"%.80s\"): the function", p->precomputed->parameter[0].file);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < i; j++)
            if (values_differ(values[i * rows + j], values[j * rows + i], largest))
                return fail_pair(ctx, g, what, i * n / rows, j * n / rows, values[i * rows + j], values[j * rows + i],
                                 "a kernel has k(x, z) = k(z, x)");
    return MERCER_OK;
}

static mercer_status check_function(mercer_ctx *ctx, const mc_gram *g, const mc_tile_part *p) {
    const int64_t rows = g->x->n < MC_SYMMETRY_ROWS ? g->x->n : MC_SYMMETRY_ROWS;
    double *values = mc_alloc(ctx, rows * (rows + p->columns), sizeof *values);
    MC_TRY(values ? MERCER_OK : MERCER_MEMORY);
    const mercer_status status = compare_few(ctx, g, p, rows, values);
    mc_free(values);
    return status;
}

mercer_status mc_precomputed_symmetry(mercer_ctx *ctx, const mc_gram *g) {
    for (int i = 0; i < g->plan.parts; i++) {
        const mc_tile_part *p = &g->plan.part[i];
        if (p->precomputed && !p->by_reference && !mc_part_is_pairwise(p))
            MC_TRY(p->precomputed->atom == MC_USER ? check_function(ctx, g, p) : check_matrix(ctx, g, p));
    }
    return MERCER_OK;
}
