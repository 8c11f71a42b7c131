/* labels.c: distinct labels, sorted, and the class of each row. */
#include "data/labels.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/data.h"
#include "data/dict.h"
#include <math.h>
#include <string.h>

enum { CLASSES_LIKELY = 20, ROWS_PER_CLASS = 5 };

/* Number the strings as they come, sort, renumber. */
static mercer_status sort_classes(mercer_ctx *ctx, const mc_dict *dict, mercer_data *data) {
    int64_t *rank = NULL;
    MC_TRY(MC_ALLOC(ctx, rank, dict->count));
    const mercer_status status = mc_dict_sorted(dict, &data->label, rank);
    if (!status) {
        data->classes = dict->count;
        for (int64_t i = 0; i < data->n; i++)
            data->class_of[i] = (int32_t)rank[data->class_of[i]];
    }
    mc_free(rank);
    return status;
}

static mercer_status number_strings(mercer_ctx *ctx, const char *const *labels, mc_dict *dict, mercer_data *data) {
    for (int64_t i = 0; i < data->n; i++) {
        int64_t id = 0;
        if (!labels[i])
            return mc_fail(ctx, MERCER_INVALID, "the label of row %lld is NULL; give every row a label", (long long)i + 1);
        MC_TRY(mc_dict_add(dict, labels[i], (int64_t)strlen(labels[i]), &id));
        if (id >= INT32_MAX)
            return mc_fail(ctx, MERCER_DATA, "there are more than %d distinct labels", INT32_MAX);
        data->class_of[i] = (int32_t)id;
    }
    return MERCER_OK;
}

mercer_status mc_classes_of_strings(mercer_ctx *ctx, const char *const *labels, mercer_data *data) {
    MC_TRY(MC_ALLOC(ctx, data->class_of, data->n));
    mc_dict dict = mc_dict_open(ctx);
    mercer_status status = number_strings(ctx, labels, &dict, data);
    if (!status)
        status = sort_classes(ctx, &dict, data);
    mc_dict_close(&dict);
    return status;
}

mercer_status mc_classes_of_numbers(mercer_ctx *ctx, const double *values, mercer_data *data) {
    MC_TRY(MC_ALLOC(ctx, data->class_of, data->n));
    mc_dict dict = mc_dict_open(ctx);
    mercer_status status = MERCER_OK;
    for (int64_t i = 0; i < data->n && !status; i++) {
        char text[32];
        int64_t id = 0;
        mercer_number_text(values[i] == 0 ? 0.0 : values[i], text); /* -0 is 0 */
        status = mc_dict_add(&dict, text, (int64_t)strlen(text), &id);
        data->class_of[i] = (int32_t)id;
    }
    if (!status)
        status = sort_classes(ctx, &dict, data);
    mc_dict_close(&dict);
    return status;
}

bool mc_numbers_look_like_classes(const double *values, int64_t n) {
    double seen[CLASSES_LIKELY];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (values[i] != floor(values[i]))
            return false;
        int64_t k = 0;
        while (k < count && seen[k] != values[i])
            k++;
        if (k == count && count == CLASSES_LIKELY)
            return false;
        if (k == count)
            seen[count++] = values[i];
    }
    return count > 0 && count <= n / ROWS_PER_CLASS;
}
