/* neighbour_search.h: the k centres nearest to each row in feature space, strip of rows by strip. */
#ifndef MC_PREDICT_NEIGHBOUR_SEARCH_H
#define MC_PREDICT_NEIGHBOUR_SEARCH_H

#include "base/workspace.h"
#include "gram/operator/gram.h"
#include "predict/euclidean.h"
#include "predict/fitted.h"

enum { MC_NEIGHBOUR_STRIP = 1024 };

typedef struct mc_neighbour_search {
    const mc_fitted *f;
    const mc_gram *gram, *fast;              /* fast: in floats; NULL: there is no first look */
    int64_t n, m;                            /* rows, centres */
    int64_t k, capacity;                     /* capacity: candidates of a row, at most */
    double noise;                            /* error of a computed square beside that of its sum */
    double slack;                            /* 2 d + c */
    double *own, *diagonal;                  /* k(x,x) of all rows, k(z,z) of all centres */
    void *block;                             /* strip x block, doubles or floats */
    void **place;                            /* strip: its rows */
    mc_neighbour *heap;                      /* strip x k */
    int64_t row, rows;                       /* the strip */
    int64_t column, columns;                 /* the block */
    int64_t *list, listed;                   /* rows of the strip to be done in full */
    mc_neighbour *candidate;                 /* strip x capacity */
    int64_t *held;                           /* of them, per row; above capacity: too many */
    int64_t *pair_row, *pair_column, *order; /* strip x capacity, order twice that */
    double *value;
    double *out;
} mc_neighbour_search;

/* What there is to know before memory is taken. */
mc_neighbour_search mc_neighbour_search_of(const mercer_kernel *kernel, const mercer_data *rows,
                                           const mercer_data *centres, int64_t k);
mc_slices mc_neighbour_search_slices;
/* Of these and the operators. */
size_t mc_neighbour_search_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *rows,
                                 const mercer_data *centres, int64_t k);
/* With k(x,x) and k(z,z) in s->own and s->diagonal: the operators, which the caller closes. */
mercer_status mc_neighbour_search_open(mercer_ctx *ctx, mc_neighbour_search *s, const mercer_data *rows, mc_gram **gram,
                                       mc_gram **fast);
/* The rows from s->row, s->rows of them: their nearest in s->heap, each of which mc_neighbour_sort brings in order. */
mercer_status mc_neighbour_search_strip(mercer_ctx *ctx, mc_neighbour_search *s);
void mc_neighbour_sort(mc_neighbour *nearest, int64_t count);
/* What a computed square can be wrong by, beside its sum. */
double mc_neighbour_noise(const mc_gram *gram);

#endif
