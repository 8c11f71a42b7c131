/* string_features.c: the coordinates of the spectrum kernel. The strings of p bytes that occur in either side are
   numbered by a dictionary, exactly, whatever p is; a row is then a sparse vector of counts, and the kernel the inner
   product that the tiles know. Counts are whole numbers, so that no order of summation changes a bit. */
#include "gram/pack/string_features.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/encode/dict.h"
#include <string.h>

static const char *text_of(const mc_node *node, const mercer_data *data, int64_t i) {
    return data->text[i * data->texts + (int64_t)node->parameter[1].number];
}

static int64_t length_of(const mc_node *node) {
    return (int64_t)node->parameter[0].number;
}

/* Parts of row i: at least one, since the texts were checked. */
static int64_t parts_of(const mc_node *node, const mercer_data *data, int64_t i) {
    return (int64_t)strlen(text_of(node, data, i)) - length_of(node) + 1;
}

static mercer_status add_rows(mc_dict *dict, const mc_node *node, const mercer_data *data, int64_t *longest) {
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t parts = parts_of(node, data, i);
        *longest = parts > *longest ? parts : *longest;
        for (int64_t k = 0; k < parts; k++) {
            int64_t id;
            MC_TRY(mc_dict_add(dict, text_of(node, data, i) + k, length_of(node), &id));
        }
    }
    return MERCER_OK;
}

mercer_status mc_string_features_open(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *x, const mercer_data *z) {
    MC_TRY(MC_ALLOC(ctx, p->substrings, 1));
    *p->substrings = mc_dict_open(ctx);
    MC_TRY(add_rows(p->substrings, p->strings, x, &p->longest));
    if (z != x)
        MC_TRY(add_rows(p->substrings, p->strings, z, &p->longest));
    p->d = p->substrings->count;
    p->longest = p->longest < p->d ? p->longest : p->d;
    return p->d <= INT32_MAX ? MERCER_OK
                             : mc_fail(ctx, MERCER_MEMORY, "spectrum: more than %d different strings", INT32_MAX);
}

void mc_string_features_close(mc_tile_part *p) {
    if (p->substrings)
        mc_dict_close(p->substrings);
    mc_free(p->substrings);
    p->substrings = NULL;
}

int64_t mc_string_features_row(const mc_tile_part *p, const mercer_data *data, int64_t i, double *seen,
                               int32_t *coordinate, double *count) {
    const char *text = text_of(p->strings, data, i);
    const int64_t parts = parts_of(p->strings, data, i);
    int64_t found = 0;
    for (int64_t k = 0; k < parts; k++) {
        const int64_t id = mc_dict_find(p->substrings, text + k, length_of(p->strings));
        if (seen[id] == 0) {
            coordinate[found] = (int32_t)id;
            count[found++] = 0;
            seen[id] = (double)found;
        }
        count[(int64_t)seen[id] - 1]++;
    }
    for (int64_t k = 0; k < found; k++)
        seen[coordinate[k]] = 0;
    return found;
}

int64_t mc_string_features_total(const mc_node *node, const mercer_data *data) {
    int64_t total = 0;
    for (int64_t i = 0; i < data->n && (int64_t)node->parameter[1].number < data->texts; i++)
        total += (int64_t)strlen(text_of(node, data, i));
    return total;
}
