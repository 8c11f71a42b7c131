/* node_rows.c: see node_rows.h. LIBSVM asks for indices that rise; rows whose indices do not are sorted, and of equal
   ones the first counts, as it does there where the other row has the index once. A negative index ends a row. */
#include "libsvm/node_rows.h"
#include "base/memory.h"
#include "base/status.h"
#include <string.h>

int64_t mc_node_count(const struct svm_node *row) {
    int64_t count = 0;
    while (row[count].index >= 0)
        count++;
    return count;
}

mc_node_shape mc_node_shape_of(const struct svm_problem *problem, bool precomputed) {
    mc_node_shape shape = {.precomputed = precomputed, .first = 1, .d = 1};
    int64_t largest = 0;
    for (int i = 0; i < problem->l; i++)
        for (const struct svm_node *node = problem->x[i]; node->index >= 0; node++) {
            shape.stored++;
            shape.first = node->index < shape.first ? node->index : shape.first;
            largest = node->index > largest ? node->index : largest;
        }
    if (largest >= shape.first)
        shape.d = largest - shape.first + 1;
    return shape;
}

/* ---- Features ---- */

static bool indices_rise(const struct svm_node *row, int64_t count) {
    for (int64_t k = 1; k < count; k++)
        if (row[k].index <= row[k - 1].index)
            return false;
    return true;
}

/* By insertion, which keeps equal indices in their order: rows of the kind are rare and mostly sorted. */
static int64_t sort_row(const struct svm_node *row, int64_t count, struct svm_node *out) {
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t at = kept;
        while (at > 0 && out[at - 1].index > row[k].index)
            at--;
        if (at > 0 && out[at - 1].index == row[k].index)
            continue;
        memmove(out + at + 1, out + at, (size_t)(kept - at) * sizeof *out);
        out[at] = row[k];
        kept++;
    }
    return kept;
}

mercer_status mc_node_rising(mercer_ctx *ctx, const struct svm_node *row, struct svm_node **own,
                             const struct svm_node **out, int64_t *count) {
    *count = mc_node_count(row);
    *out = row;
    if (indices_rise(row, *count))
        return MERCER_OK;
    mc_free(*own);
    MC_TRY(MC_ALLOC(ctx, *own, *count + 1));
    *count = sort_row(row, *count, *own);
    *out = *own;
    return MERCER_OK;
}

typedef struct feature_rows {
    double *value;
    int64_t *start;
    int32_t *column; /* NULL: dense */
    struct svm_node *sorted;
} feature_rows;

static mercer_status fill_features(mercer_ctx *ctx, const mc_node_shape *shape, const struct svm_problem *problem,
                                   feature_rows *r) {
    int64_t at = 0;
    for (int i = 0; i < problem->l; i++) {
        const struct svm_node *row;
        int64_t count;
        MC_TRY(mc_node_rising(ctx, problem->x[i], &r->sorted, &row, &count));
        for (int64_t k = 0; k < count; k++) {
            const int64_t column = row[k].index - shape->first;
            if (!r->column)
                r->value[i * shape->d + column] = row[k].value;
            else if (row[k].value != 0) {
                r->value[at] = row[k].value;
                r->column[at++] = (int32_t)column;
            }
        }
        if (r->column)
            r->start[i + 1] = at;
    }
    return MERCER_OK;
}

static mercer_status make_features(mercer_ctx *ctx, const mc_node_shape *shape, const struct svm_problem *problem,
                                   feature_rows *r) {
    int64_t stored = 0;
    for (int i = 0; i < problem->l; i++)
        stored += mc_node_count(problem->x[i]);
    const bool dense = (double)stored >= 0.25 * (double)problem->l * (double)shape->d; /* as the reader of files */
    MC_TRY(MC_ALLOC(ctx, r->value, dense ? problem->l * shape->d : stored + 1));
    if (!dense) {
        MC_TRY(MC_ALLOC(ctx, r->start, problem->l + 1));
        MC_TRY(MC_ALLOC(ctx, r->column, stored + 1));
    }
    return fill_features(ctx, shape, problem, r);
}

/* ---- Values of a kernel ---- */

/* K(row, the row with that serial number): the value at that place of the row. */
static mercer_status kernel_value(mercer_ctx *ctx, const struct svm_node *row, int64_t count, double serial, int i,
                                  double *out) {
    if (!(serial >= 1 && serial < (double)count))
        return mc_fail(
            ctx, MERCER_DATA,
            "precomputed: row %d has %lld values, and a row of the training data has the serial number %.10g", i + 1,
            (long long)count - 1, serial);
    *out = row[(int64_t)serial].value;
    return MERCER_OK;
}

/* A row: its number among those learned from (0: none of them), then its kernel values with all of those. */
static mercer_status fill_kernel_row(mercer_ctx *ctx, const struct svm_problem *learned, const struct svm_node *row,
                                     int i, int number, double *out) {
    const int64_t count = mc_node_count(row);
    out[0] = number;
    for (int j = 0; j < learned->l; j++)
        MC_TRY(kernel_value(ctx, row, count, learned->x[j][0].value, i, &out[1 + j]));
    return MERCER_OK;
}

/* A matrix in text is rounded on either side of its diagonal, which a solver that reads one of them does not notice. */
static void make_symmetric(int n, double *value) {
    const int64_t width = n + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double *a = &value[i * width + 1 + j], *b = &value[j * width + 1 + i];
            *a = *b = *a == *b ? *a : *a / 2 + *b / 2;
        }
}

static mercer_status make_kernel_rows(mercer_ctx *ctx, const struct svm_problem *learned,
                                      const struct svm_problem *asked, double **out) {
    const int64_t width = learned->l + 1;
    MC_TRY(MC_ALLOC(ctx, *out, asked->l * width));
    for (int i = 0; i < asked->l; i++)
        MC_TRY(fill_kernel_row(ctx, learned, asked->x[i], i, learned == asked ? i + 1 : 0, *out + i * width));
    if (learned == asked)
        make_symmetric(learned->l, *out);
    return MERCER_OK;
}

/* ---- Data ---- */

/* "0", "1", ...: Mercer sorts classes by their numbers, so that they have the order of their places. */
static mercer_status name_places(mercer_ctx *ctx, const int *place, int n, char (**text)[12], const char ***label) {
    int most = 0;
    for (int i = 0; i < n; i++)
        most = place[i] > most ? place[i] : most;
    MC_TRY(MC_ALLOC(ctx, *text, most + 1));
    MC_TRY(MC_ALLOC(ctx, *label, n));
    for (int k = 0; k <= most; k++) {
        char *digit = (*text)[k] + sizeof(*text)[k] - 1;
        *digit = '\0';
        for (int rest = k; digit == (*text)[k] + sizeof(*text)[k] - 1 || rest > 0; rest /= 10)
            *--digit = (char)('0' + rest % 10);
        memmove((*text)[k], digit, strlen(digit) + 1);
    }
    for (int i = 0; i < n; i++)
        (*label)[i] = (*text)[place[i]];
    return MERCER_OK;
}

static mercer_status make_data(mercer_ctx *ctx, const mc_node_shape *shape, const struct svm_problem *learned,
                               const struct svm_problem *asked, const mc_node_target *target, mercer_data **out) {
    feature_rows r = {0};
    char(*text)[12] = NULL;
    const char **label = NULL;
    mercer_status status =
        shape->precomputed ? make_kernel_rows(ctx, learned, asked, &r.value) : make_features(ctx, shape, asked, &r);
    if (target->place)
        MC_THEN(status, name_places(ctx, target->place, asked->l, &text, &label));
    const mercer_table table = {.size = sizeof table,
                                .n = asked->l,
                                .d = shape->precomputed ? learned->l + 1 : shape->d,
                                .dtype = MERCER_F64,
                                .values = r.value,
                                .row_start = r.start,
                                .column = r.column,
                                .target = target->number,
                                .outputs = target->number != NULL,
                                .labels = label,
                                .weights = target->weight};
    MC_THEN(status, mercer_data_make(ctx, &table, out));
    void *const blocks[] = {r.value, r.start, r.column, r.sorted, text, label};
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        mc_free(blocks[k]);
    return status;
}

mercer_status mc_node_data(mercer_ctx *ctx, const mc_node_shape *shape, const struct svm_problem *problem,
                           const mc_node_target *target, mercer_data **out) {
    return make_data(ctx, shape, problem, problem, target, out);
}

mercer_status mc_node_questions(mercer_ctx *ctx, const mc_node_shape *shape, const struct svm_problem *learned,
                                const struct svm_problem *asked, mercer_data **out) {
    return make_data(ctx, shape, learned, asked, &(mc_node_target){0}, out);
}

mercer_status mc_node_part(mercer_ctx *ctx, const struct svm_problem *problem, const int *rows, int count,
                           struct svm_problem *out) {
    *out = (struct svm_problem){.l = count};
    mercer_status status = MC_ALLOC(ctx, out->x, count);
    MC_THEN(status, MC_ALLOC(ctx, out->y, count));
    for (int k = 0; k < count && !status; k++) {
        out->x[k] = problem->x[rows[k]];
        out->y[k] = problem->y[rows[k]];
    }
    if (status)
        mc_node_part_free(out);
    return status;
}

void mc_node_part_free(struct svm_problem *part) {
    mc_free(part->x);
    mc_free(part->y);
    *part = (struct svm_problem){0};
}
