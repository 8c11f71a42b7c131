/* labels.c: distinct labels, sorted, and the class of each row. */
#include "data/encode/labels.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/encode/dict.h"
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

static mercer_status fail_many(mercer_ctx *ctx) {
    return mc_fail(ctx, MERCER_DATA, "there are more than %d distinct labels", INT32_MAX);
}

/* Rows of a class often share the text itself: some answers are kept by its address, each at one of a few neighbouring
   places, so that two classes whose addresses fall together do not drive each other out. */
enum { RECENT = 64, TRIES = 4 };

typedef struct seen_texts {
    const char *text[RECENT + TRIES];
    int64_t number[RECENT + TRIES];
} seen_texts;

static int64_t place_of_address(const seen_texts *seen, const char *text) {
    const int64_t first = (int64_t)((uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u >> 58);
    for (int64_t at = first; at < first + TRIES; at++)
        if (!seen->text[at] || seen->text[at] == text)
            return at;
    return first;
}

static mercer_status number_strings(mercer_ctx *ctx, const char *const *labels, mc_dict *dict, mercer_data *data) {
    seen_texts seen = {.text = {NULL}};
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t at = place_of_address(&seen, labels[i]);
        if (!labels[i])
            return mc_fail(ctx, MERCER_INVALID, "the label of row %lld is NULL; give every row a label",
                           (long long)i + 1);
        if (seen.text[at] != labels[i])
            MC_TRY(mc_dict_add(dict, labels[i], (int64_t)strlen(labels[i]), &seen.number[at]));
        seen.text[at] = labels[i];
        if (seen.number[at] >= INT32_MAX)
            return fail_many(ctx);
        data->class_of[i] = (int32_t)seen.number[at];
    }
    return MERCER_OK;
}

mercer_status mc_classes_of_strings(mercer_ctx *ctx, const char *const *labels, mercer_data *data) {
    MC_TRY(MC_ALLOC(ctx, data->class_of, data->n));
    mc_dict dict = mc_dict_open(ctx);
    mercer_status status = number_strings(ctx, labels, &dict, data);
    MC_THEN(status, sort_classes(ctx, &dict, data));
    mc_dict_close(&dict);
    return status;
}

/* The number of a value in a dictionary of number texts; -1: not there and not to be added. Neighbouring rows often
   share a class, so the last few answers are kept by the bits of the value. */
typedef struct finder {
    mc_dict dict;
    double value[RECENT];
    int64_t id[RECENT]; /* + 1; 0: nothing kept here */
} finder;

static mercer_status find_value(finder *f, double value, bool add, int64_t *id) {
    uint64_t bits;
    value = value == 0 ? 0.0 : value; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    const size_t slot = (bits * 0x9E3779B97F4A7C15u) >> 58;
    if (f->id[slot] && f->value[slot] == value) {
        *id = f->id[slot] - 1;
        return MERCER_OK;
    }
    char text[32];
    const int64_t length = (int64_t)strlen(mc_number_text(value, text));
    if (add)
        MC_TRY(mc_dict_add(&f->dict, text, length, id));
    else
        *id = mc_dict_find(&f->dict, text, length);
    f->value[slot] = value;
    f->id[slot] = *id + 1;
    return MERCER_OK;
}

static mercer_status classes_of_numbers(mercer_ctx *ctx, const double *values, mercer_data *data) {
    MC_TRY(MC_ALLOC(ctx, data->class_of, data->n));
    finder f = {.dict = mc_dict_open(ctx)};
    mercer_status status = MERCER_OK;
    for (int64_t i = 0; i < data->n && !status; i++) {
        int64_t id = 0;
        status = find_value(&f, values[i], true, &id);
        if (!status && id >= INT32_MAX)
            status = fail_many(ctx);
        data->class_of[i] = (int32_t)id;
    }
    MC_THEN(status, sort_classes(ctx, &f.dict, data));
    mc_dict_close(&f.dict);
    return status;
}

mercer_status mc_target_of_numbers(mercer_ctx *ctx, mercer_target kind, double *values, int64_t outputs,
                                   mercer_data *data) {
    const bool look = kind == MERCER_TARGET_AUTO && outputs == 1 && mc_numbers_look_like_classes(values, data->n);
    if (kind == MERCER_TARGET_CLASS || look) {
        const mercer_status status = classes_of_numbers(ctx, values, data);
        mc_free(values);
        return status;
    }
    data->target = values;
    data->outputs = outputs;
    return MERCER_OK;
}

/* A label by the text of its value where it is a number; of two that are one number, the first is meant. */
static mercer_status add_label(mc_dict *dict, const char *label, int64_t place, int64_t *place_of) {
    const char *end = label + strlen(label);
    char text[32];
    double value;
    int64_t id = 0;
    const int64_t before = dict->count;
    if (mc_number_read(label, end, &value) == end && isfinite(value) && mc_number_survives(label, end))
        label = mc_number_text(value == 0 ? 0.0 : value, text);
    MC_TRY(mc_dict_add(dict, label, (int64_t)strlen(label), &id));
    if (id == before)
        place_of[id] = place;
    return MERCER_OK;
}

mercer_status mc_classes_known(mercer_ctx *ctx, char *const *labels, int64_t classes, double *values, int64_t n,
                               int64_t stride, int64_t *bad) {
    finder f = {.dict = mc_dict_open(ctx)};
    int64_t *place_of = NULL;
    mercer_status status = MC_ALLOC(ctx, place_of, classes);
    if (bad)
        *bad = -1;
    for (int64_t k = 0; k < classes && !status; k++)
        status = add_label(&f.dict, labels[k], k, place_of);
    for (int64_t i = 0; i < n && !status && !(bad && *bad >= 0); i++) {
        int64_t id = 0;
        if (isnan(values[i * stride]))
            continue;
        status = find_value(&f, values[i * stride], false, &id);
        if (status)
            break;
        if (id < 0 && bad)
            *bad = i;
        else
            values[i * stride] = (double)(id < 0 ? classes : place_of[id]);
    }
    mc_free(place_of);
    mc_dict_close(&f.dict);
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
