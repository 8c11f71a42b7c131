/* search_key.c: a number that tells whether a journal belongs to a search. */
#include "select/tune.h"
#include "base/hash.h"
#include "data/table/data.h"

static uint64_t hash_data(uint64_t hash, const mercer_data *data) {
    if (!data)
        return mc_hash(hash, "none", 4);
    const size_t n = (size_t)data->n;
    const int64_t shape[] = {data->outputs, data->classes};
    hash = mc_hash(mc_data_hash(hash, data), shape, sizeof shape);
    if (data->target)
        hash = mc_hash(hash, data->target, n * (size_t)data->outputs * sizeof(double));
    if (data->class_of)
        hash = mc_hash(hash, data->class_of, n * sizeof *data->class_of);
    for (int64_t k = 0; k < data->classes; k++)
        hash = mc_hash_text(hash, data->label[k]);
    return data->weight ? mc_hash(hash, data->weight, n * sizeof(double)) : hash;
}

static uint64_t hash_settings(uint64_t hash, const mercer_search *s) {
    for (int i = 0; i < s->machine->count; i++) {
        const mercer_setting *row = &s->machine->settings[i];
        const char *field = (const char *)s->settings + row->offset;
        if (row->type == MERCER_TEXT)
            hash = mc_hash_text(hash, *(const char *const *)(const void *)field);
        else
            hash = mc_hash(hash, field, row->type == MERCER_FLAG ? sizeof(bool) : 8);
    }
    return hash;
}

/* Whatever decides a measurement. */
uint64_t mc_search_key(const mercer_search *s, const mercer_tune *set, const mercer_data *data) {
    const int64_t numbers[] = {s->space.count, s->folds, set->repeats, set->ordered, set->halving, (int64_t)set->seed};
    uint64_t hash = hash_data(hash_data(0, data), set->hold_out);
    hash = hash_settings(mc_hash_text(hash, s->machine->name), s);
    hash = mc_hash_text(mc_hash(hash, numbers, sizeof numbers), s->measure->name);
    for (int64_t i = 0; i < s->space.count; i++)
        hash = mc_hash_text(mc_hash_text(hash, s->kernel[i]), s->text[i]);
    for (int64_t i = 0; set->groups && i < data->n; i++)
        hash = mc_hash_text(hash, set->groups[i]);
    for (int64_t i = 0; s->engine->steps && i < s->space.dimensions; i++) { /* how far the steps from a start may go */
        const double ends[] = {s->space.dimension[i].low, s->space.dimension[i].high};
        hash = mc_hash(hash, ends, sizeof ends);
    }
    return hash;
}
