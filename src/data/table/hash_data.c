/* hash_data.c: what tells one table from another. */
#include "base/hash.h"
#include "data/table/data.h"

uint64_t mc_data_hash(uint64_t hash, const mercer_data *x) {
    const int64_t stored = mercer_data_stored(x), shape[] = {x->n, x->d, x->dtype, stored, x->texts};
    hash = mc_hash(hash, shape, sizeof shape);
    hash = mc_hash(hash, x->values, (size_t)stored * mc_dtype_size(x->dtype));
    if (x->row_start) {
        hash = mc_hash(hash, x->row_start, (size_t)(x->n + 1) * sizeof *x->row_start);
        hash = mc_hash(hash, x->column, (size_t)stored * sizeof *x->column);
    }
    if (x->used)
        hash = mc_hash(hash, x->used, (size_t)x->d * sizeof *x->used);
    for (int64_t k = 0; k < x->n * x->texts; k++)
        hash = mc_hash_text(hash, x->text[k]);
    return hash;
}
