/* class_weight.c: "balanced", or "label=weight,label=weight"; classes not named weigh 1. */
#include "problem/class_weight.h"
#include "base/number.h"
#include "base/status.h"
#include "data/table/data.h"
#include <string.h>

static void balance(int64_t classes, const int32_t *class_of, int64_t n, double *out) {
    for (int64_t k = 0; k < classes; k++)
        out[k] = 0;
    for (int64_t i = 0; i < n; i++)
        out[class_of[i]]++;
    int64_t present = 0;
    for (int64_t k = 0; k < classes; k++)
        present += out[k] > 0;
    for (int64_t k = 0; k < classes; k++)
        out[k] = out[k] > 0 ? (double)n / ((double)present * out[k]) : 1;
}

/* The longest label that stands before a '=' at text; -1: none. A label may itself contain ',' and '='. */
static int64_t label_at(const mercer_data *labels, const char *text, size_t *length) {
    int64_t found = -1;
    *length = 0;
    for (int64_t k = 0; k < labels->classes; k++) {
        const size_t size = strlen(labels->label[k]);
        if (size >= *length && strncmp(text, labels->label[k], size) == 0 && text[size] == '=') {
            *length = size;
            found = k;
        }
    }
    return found;
}

mercer_status mc_class_weights(mercer_ctx *ctx, const char *machine, const char *text, const mercer_data *labels,
                               const int32_t *class_of, int64_t n, double *out) {
    for (int64_t k = 0; k < labels->classes; k++)
        out[k] = 1;
    if (strcmp(text, "balanced") == 0) {
        balance(labels->classes, class_of, n, out);
        return MERCER_OK;
    }
    const char *end = text + strlen(text);
    for (const char *p = text; p < end; p += *p == ',') {
        size_t length;
        const int64_t k = label_at(labels, p, &length);
        if (k < 0)
            return mc_fail(ctx, MERCER_INVALID,
                           "%s: class-weight must be 'balanced' or label=weight,label=weight with labels of the data "
                           "('%s', ...), got '%s'",
                           machine, labels->label[0], p);
        const char *after = mc_number_read(p + length + 1, end, &out[k]);
        if (!after || (*after && *after != ',') || !(out[k] > 0 && out[k] <= 1e100))
            return mc_fail(ctx, MERCER_INVALID, "%s: the weight of class '%s' must be a positive number, got '%s'",
                           machine, labels->label[k], p + length + 1);
        p = after;
    }
    return MERCER_OK;
}
