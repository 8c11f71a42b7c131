/* check_values.c: the values of a model against its shape: finite where a sum needs them, indices inside what they
   point into, counts that add up, labels apart, and a kernel that has the features which are weighed. Nothing is
   changed. */
#include "base/memory.h"
#include "base/print.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/encode/dict.h"
#include "kernel/evaluate/feature_map.h"
#include "kernel/language/kernel.h"
#include "model/file/check_shape.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct agreeing {
    mercer_ctx *ctx;
    const mc_fitted *f;
    const mercer_data *x; /* the centres */
    mc_model_shape shape;
    const mc_model_kind *kind;
    mercer_status status; /* of memory */
    mc_flaw *why;
} agreeing;

static bool report_flaw(const agreeing *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool report_flaw(const agreeing *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    mc_vprint(a->why->text, sizeof a->why->text, format, args);
    va_end(args);
    return false;
}

/* ---- Numbers ---- */

static bool all_finite(agreeing *a, const mercer_model *model) {
    mc_array arrays[MC_ARRAYS];
    size_t bytes;
    mc_model_arrays(&a->shape, arrays, &bytes);
    for (int k = 0; k < MC_ARRAYS; k++) {
        if (!arrays[k].dtype || arrays[k].dtype[0] != 'F')
            continue;
        const mercer_dtype dtype = arrays[k].size == 8 ? MERCER_F64 : MERCER_F32;
        if (mc_first_not_finite(dtype, mc_array_place(model, k), arrays[k].shape[0] * arrays[k].shape[1]) >= 0)
            return report_flaw(a, "array '%s' has a value that is not a finite number", arrays[k].name);
    }
    return true;
}

static int64_t first_below(const double *values, int64_t count, int64_t step, double least, bool strictly) {
    for (int64_t i = 0; values && i < count; i++)
        if (strictly ? !(values[i * step] > least) : !(values[i * step] >= least))
            return i;
    return -1;
}

/* Variances, weights, bounds and factors of scales have a sign. */
static bool signs_agree(agreeing *a) {
    const mc_fitted *f = a->f;
    const int64_t n = a->x->n, decisions = mc_form_decisions(f->form, f->outputs), width = f->outputs + 1;
    const struct {
        const char *what;
        const double *values;
        int64_t count, step;
        bool strictly;
    } rules[] = {{"noise", f->noise, n, 1, false},
                 {"weight", f->form == MC_NEIGHBOURS ? f->alpha + f->outputs : NULL, n, width, true},
                 {"cost", f->cost, n, 1, true},
                 {"box", f->box, 2 * decisions, 1, false},
                 {"factor of scale", f->scale.factor, a->x->d, 1, false}};
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        const int64_t i = first_below(rules[k].values, rules[k].count, rules[k].step, 0, rules[k].strictly);
        if (i >= 0)
            return report_flaw(a, "the %s of number %lld is %g", rules[k].what, (long long)i + 1,
                               rules[k].values[i * rules[k].step]);
    }
    return true;
}

/* ---- Indices ---- */

/* Rows in order and inside the stored values; columns rising and below d. */
static bool rows_agree(agreeing *a) {
    const mercer_data *x = a->x;
    const int64_t *start = x->row_start;
    if (!start)
        return true;
    bool good = start[0] == 0 && start[x->n] == a->shape.stored;
    for (int64_t i = 0; good && i < x->n; i++)
        good = start[i] <= start[i + 1] && start[i + 1] <= a->shape.stored;
    for (int64_t i = 0; good && i < x->n; i++)
        for (int64_t k = start[i]; good && k < start[i + 1]; k++)
            good = x->column[k] >= 0 && x->column[k] < x->d && (k == start[i] || x->column[k - 1] < x->column[k]);
    return good ? true : report_flaw(a, "the rows of its centres are not in order");
}

/* Columns that are kept rise, and the blank one that ends them has the number of all. */
static bool columns_agree(agreeing *a) {
    const mercer_data *x = a->x;
    bool good = !x->used || (x->used[0] >= 0 && x->used[x->d - 1] == a->shape.width);
    for (int64_t j = 1; good && x->used && j < x->d; j++)
        good = x->used[j - 1] < x->used[j];
    return good ? true : report_flaw(a, "the columns that it keeps are not in order");
}

/* The centres of the classes follow each other and are all of them. */
static bool classes_agree(agreeing *a) {
    const int64_t *start = a->f->class_start, classes = a->f->outputs;
    if (!start)
        return a->f->form == MC_PAIRS ? report_flaw(a, "it does not say where its classes begin") : true;
    bool good = start[0] == 0 && start[classes] == a->x->n;
    for (int64_t c = 0; good && c < classes; c++)
        good = start[c] <= start[c + 1];
    return good ? true : report_flaw(a, "the classes of its centres are not in order");
}

static int by_place(const void *arg, int64_t i, int64_t j) {
    const int64_t *row = arg;
    return (row[i] > row[j]) - (row[i] < row[j]);
}

/* No row of the training data stands twice among the centres. */
static bool places_differ(agreeing *a) {
    const int64_t n = a->x->n, *row = a->f->row;
    int64_t *order = NULL, same = 0;
    if ((a->status = MC_ALLOC(a->ctx, order, 2 * n)))
        return false;
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    mc_sort(order, order + n, n, by_place, row);
    for (int64_t i = 1; i < n && !same; i++)
        same = row[order[i]] == row[order[i - 1]] ? order[i] + 1 : 0;
    const int64_t twice = same ? row[same - 1] : 0;
    mc_free(order);
    return same ? report_flaw(a, "row %lld of the training data stands twice among its centres", (long long)twice + 1)
                : true;
}

/* Beyond it a number of rows is no count that a file can hold (format.h). */
#define PLACES_MAX (INT64_C(1) << 53)

/* The centres of an update come from several files, so that none has a place. */
static bool places_agree(agreeing *a) {
    const int64_t n = a->x->n, *row = a->f->row;
    const bool unknown = strcmp(a->shape.solver, "update") == 0;
    for (int64_t i = 0; row && i < n; i++)
        if (unknown ? row[i] != -1 : row[i] < 0 || row[i] >= PLACES_MAX)
            return report_flaw(a, "centre %lld is said to be row %lld of the training data", (long long)i + 1,
                               (long long)row[i]);
    return row && a->kind->centres != MC_CENTRES_FREQUENCIES && !unknown ? places_differ(a) : true;
}

/* Frequencies stand first for the cosines, then for the sines. */
static bool frequencies_agree(agreeing *a) {
    const mercer_data *x = a->x;
    if (a->kind->centres != MC_CENTRES_FREQUENCIES)
        return true;
    const size_t half = (size_t)(x->n / 2 * x->d) * mc_dtype_size(x->dtype);
    return memcmp(x->values, (const char *)x->values + half, half) == 0
               ? true
               : report_flaw(a, "its frequencies do not stand twice");
}

/* ---- Words ---- */

static bool labels_differ(agreeing *a) {
    const mercer_data *x = a->x;
    mc_dict seen = mc_dict_open(a->ctx);
    int64_t id, k = 0;
    for (bool fresh = true; k < x->classes && !a->status && fresh; k += fresh && !a->status) {
        a->status = mc_dict_add(&seen, x->label[k], (int64_t)strlen(x->label[k]), &id);
        fresh = a->status || id == k;
    }
    mc_dict_close(&seen);
    if (a->status)
        return false;
    return k == x->classes ? true : report_flaw(a, "two of its classes are '%.80s'", x->label[k]);
}

static bool labels_agree(agreeing *a) {
    const mercer_data *x = a->x;
    if (!a->shape.labelled)
        return x->classes ? report_flaw(a, "it has classes without labels") : true;
    if (x->classes != a->f->outputs)
        return report_flaw(a, "it has %lld classes and %lld outputs", (long long)x->classes, (long long)a->f->outputs);
    if (a->f->form == MC_REGION && (strcmp(x->label[0], "-1") != 0 || strcmp(x->label[1], "1") != 0))
        return report_flaw(a, "the sides of its region are called '%.40s' and '%.40s', not -1 and 1", x->label[0],
                           x->label[1]);
    return labels_differ(a);
}

/* ---- The kernel ---- */

/* Weights beside rows are those of a linear kernel; the others are of the features that the kernel has on these
   columns. */
static bool features_agree(agreeing *a) {
    const mc_fitted *f = a->f;
    mc_features *map = NULL;
    if (!f->primal)
        return true;
    if (a->x->n > 0 && !mc_kernel_linear(f->kernel))
        return report_flaw(a, "it weighs columns, which its kernel does not");
    a->status = mc_features_open(a->ctx, f->kernel->root, a->x->d, &map);
    if (a->status && a->status != MERCER_MEMORY)
        a->status = MERCER_OK;
    const int64_t dimension = map ? mc_features_dimension(map) : -1;
    mc_features_close(map);
    return !a->status && dimension == f->features
               ? true
               : report_flaw(a, "its kernel has not the %lld features that it weighs", (long long)f->features);
}

static agreeing begin_value_check(mercer_ctx *ctx, const mercer_model *model, const mc_model_shape *shape,
                                  mc_flaw *why) {
    return (agreeing){.ctx = ctx,
                      .f = &model->f,
                      .x = model->f.centres,
                      .shape = *shape,
                      .kind = mc_model_kind_of(shape->machine, shape->solver),
                      .why = why};
}

mercer_status mc_arrays_agree(mercer_ctx *ctx, const mercer_model *model, const mc_model_shape *shape, bool *agree,
                              mc_flaw *why) {
    agreeing a = begin_value_check(ctx, model, shape, why);
    *agree = rows_agree(&a) && columns_agree(&a) && all_finite(&a, model) && signs_agree(&a) && classes_agree(&a)
             && places_agree(&a) && frequencies_agree(&a);
    return a.status;
}

mercer_status mc_texts_agree(mercer_ctx *ctx, const mercer_model *model, const mc_model_shape *shape, bool *agree,
                             mc_flaw *why) {
    agreeing a = begin_value_check(ctx, model, shape, why);
    *agree = labels_agree(&a) && features_agree(&a);
    return a.status;
}
