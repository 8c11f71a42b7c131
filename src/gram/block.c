/* block.c: pieces of K written out: rectangles, listed rows, the diagonal, the packed triangle; and K V. */
#include "base/parallel.h"
#include "base/status.h"
#include "gram/operator_state.h"

typedef struct rectangle {
    const mc_gram *gram;
    const int64_t *rows; /* NULL: i0, i0 + 1, ... */
    int64_t i0, j0, j1, ld;
    mercer_dtype dtype;
    void *out;
} rectangle;

static void put(const rectangle *r, int64_t at, double value) {
    if (r->dtype == MERCER_F64)
        ((double *)r->out)[at] = value;
    else
        ((float *)r->out)[at] = (float)value;
}

static void fill_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const rectangle *r = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = r->j0; j < r->j1; j++)
            put(r, i * r->ld + j - r->j0, mc_gram_value(r->gram, r->rows ? r->rows[i] : r->i0 + i, j));
}

mercer_status mc_gram_block(mercer_ctx *ctx, const mc_gram *gram, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                            mercer_dtype dtype, void *out, int64_t ld) {
    rectangle r = {.gram = gram, .i0 = i0, .j0 = j0, .j1 = j1, .dtype = dtype, .out = out, .ld = ld};
    return mc_for(ctx, i1 - i0, 1, fill_rows, &r);
}

mercer_status mc_gram_take(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, mercer_dtype dtype,
                           void *out, int64_t ld) {
    rectangle r = {.gram = gram, .rows = rows, .j1 = gram->z->n, .dtype = dtype, .out = out, .ld = ld};
    return mc_for(ctx, count, 1, fill_rows, &r);
}

mercer_status mc_gram_diagonal(mercer_ctx *ctx, const mc_gram *gram, double *out) {
    if (!gram->symmetric)
        return mc_fail(ctx, MERCER_INTERNAL, "the diagonal of a Gram operator that is not symmetric was asked for");
    for (int64_t i = 0; i < gram->x->n; i++)
        out[i] = mc_gram_value(gram, i, i);
    return MERCER_OK;
}

typedef struct triangle {
    const mc_gram *gram;
    const double *shift;
    double *out;
} triangle;

/* Column c of the packed rectangle, h = ceil(n/2) columns in all: K(i, h..i) of a row i of the second half, then K(c, c..n-1). */
static void fill_packed(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const triangle *t = arg;
    const int64_t n = t->gram->x->n, h = (n + 1) / 2, even = n % 2 == 0, ld = n + even;
    for (int64_t c = begin; c < end; c++) {
        double *column = t->out + c * ld;
        const int64_t i = c + h - 1 + even;
        for (int64_t j = h; j <= i; j++)
            column[j - h] = mc_gram_value(t->gram, i, j) + (i == j && t->shift ? t->shift[i] : 0);
        for (int64_t j = c; j < n; j++)
            column[j + even] = mc_gram_value(t->gram, j, c) + (c == j && t->shift ? t->shift[c] : 0);
    }
}

mercer_status mc_gram_packed(mercer_ctx *ctx, const mc_gram *gram, const double *shift, double *out) {
    triangle t = {.gram = gram, .shift = shift, .out = out};
    return mc_for(ctx, (gram->x->n + 1) / 2, 1, fill_packed, &t);
}

typedef struct product {
    const mc_gram *gram;
    int64_t t;
    const double *V;
    double *Y;
} product;

static void apply_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const product *p = arg;
    for (int64_t i = begin; i < end; i++) {
        double *y = p->Y + i * p->t;
        for (int64_t c = 0; c < p->t; c++)
            y[c] = 0;
        for (int64_t j = 0; j < p->gram->z->n; j++) {
            const double k = mc_gram_value(p->gram, i, j);
            for (int64_t c = 0; c < p->t; c++)
                y[c] += k * p->V[j * p->t + c];
        }
    }
}

mercer_status mc_gram_apply(mercer_ctx *ctx, const mc_gram *gram, int64_t t, const double *V, double *Y) {
    product p = {.gram = gram, .t = t, .V = V, .Y = Y};
    return mc_for(ctx, gram->x->n, 1, apply_rows, &p);
}
