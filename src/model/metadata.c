/* metadata.c: what the header of a model file says in words: the report, the settings, names, labels, the schema and
   the kernel. Every value of the metadata is a text; lists and the schema are JSON inside it. */
#include "base/memory.h"
#include "base/number.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/data.h"
#include "data/strings.h"
#include "kernel/features.h"
#include "kernel/kernel.h"
#include "kernel/parse.h"
#include "model/load.h"
#include <math.h>
#include <string.h>

static mercer_status text_of(mercer_ctx *ctx, const mc_loading *l, const char *key, const char **out) {
    *out = json_string_value(json_object_get(l->metadata, key));
    return *out ? MERCER_OK : mc_damaged(ctx, l, "its metadata have no text '%s'", key);
}

static bool parse_count(const char *text, int64_t *out) {
    int64_t value = 0;
    for (const char *p = text; *p; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(value, 10, &value)
            || __builtin_add_overflow(value, *p - '0', &value))
            return false;
    *out = value;
    return *text != '\0';
}

static bool parse_real(const char *text, double *out) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i].word) == 0) {
            *out = words[i].value;
            return true;
        }
    const char *end = text + strlen(text);
    return mc_number_read(text, end, out) == end;
}

static mercer_status count_of(mercer_ctx *ctx, const mc_loading *l, const char *key, int64_t *out) {
    const char *text;
    MC_TRY(text_of(ctx, l, key, &text));
    return parse_count(text, out) ? MERCER_OK : mc_damaged(ctx, l, "'%s' is '%.40s', not a count", key, text);
}

/* ---- The report and the shape ---- */

/* Words are collected first: the report points into one block. */
static mercer_status read_fields(mercer_ctx *ctx, mc_loading *l) {
    const char *word[MC_FIELDS];
    int words = 0;
    for (int i = 0; i < MC_FIELDS; i++) {
        const mc_field *field = &mc_report_fields[i];
        void *at = (char *)&l->model->f.report + field->offset;
        const char *text = field->absent;
        if (!text || json_object_get(l->metadata, field->name))
            MC_TRY(text_of(ctx, l, field->name, &text));
        if (field->kind == MC_FIELD_WORD)
            word[words++] = text;
        else if (!(field->kind == MC_FIELD_COUNT ? parse_count(text, at) : parse_real(text, at)))
            return mc_damaged(ctx, l, "'%s' is '%.40s', not a number", field->name, text);
    }
    l->model->words = mc_strings_copy(ctx, word, words);
    if (!l->model->words)
        return MERCER_MEMORY;
    for (int i = 0, k = 0; i < MC_FIELDS; i++)
        if (mc_report_fields[i].kind == MC_FIELD_WORD)
            *(const char **)(void *)((char *)&l->model->f.report + mc_report_fields[i].offset) = l->model->words[k++];
    return MERCER_OK;
}

/* outputs squared must not overflow: pairs have that many decisions. */
static mercer_status read_form(mercer_ctx *ctx, mc_loading *l) {
    const char *form = "values"; /* what files older than the forms mean */
    if (json_object_get(l->metadata, "form"))
        MC_TRY(text_of(ctx, l, "form", &form));
    const int place = mc_choice("values|pairs|region|neighbours", form);
    const int64_t outputs = l->shape.outputs;
    const bool few = place == MC_NEIGHBOURS && (l->model->f.report.neighbors < 1 || l->model->f.report.neighbors > l->shape.n);
    if (place < 0 || few || outputs == INT64_MAX
        || (place == MC_PAIRS && (outputs < 2 || outputs > INT32_MAX))
        || (place == MC_REGION && outputs != 2))
        return mc_damaged(ctx, l, "its form is '%.40s' with %lld outputs", form, (long long)outputs);
    l->shape.form = l->model->f.form = (mc_form)place;
    l->shape.row = json_object_get(l->metadata, "row") != NULL;
    l->model->f.by_distance = json_object_get(l->metadata, "weighting") != NULL;
    l->shape.boxed = json_object_get(l->metadata, "box") != NULL;
    l->shape.primal = json_object_get(l->metadata, "primal") != NULL;
    l->shape.features = l->shape.d; /* what files older than the count mean */
    return json_object_get(l->metadata, "features") ? count_of(ctx, l, "features", &l->shape.features) : MERCER_OK;
}

static mercer_status read_shape(mercer_ctx *ctx, mc_loading *l) {
    const mercer_report *report = &l->model->f.report;
    const char *layout, *precision;
    int64_t stored, dense;
    MC_TRY(text_of(ctx, l, "layout", &layout));
    MC_TRY(text_of(ctx, l, "precision", &precision));
    MC_TRY(count_of(ctx, l, "centres", &l->shape.n));
    MC_TRY(count_of(ctx, l, "stored", &stored));
    const int scale = mc_choice("none|standard|minmax", report->scale), real = mc_choice("F32|F64", precision);
    const bool sparse = strcmp(layout, "sparse") == 0;
    l->shape.d = report->d;
    l->shape.outputs = report->outputs;
    if (scale < 0 || real < 0 || (!sparse && strcmp(layout, "dense") != 0))
        return mc_damaged(ctx, l, "its scale, layout or precision has no meaning");
    MC_TRY(read_form(ctx, l));
    const bool bare = l->shape.row || l->shape.primal; /* may have no centres */
    const bool wordless = json_object_get(l->metadata, "strings") == NULL; /* then there are columns */
    if (l->shape.n < !bare || l->shape.n == INT64_MAX || l->shape.d < wordless || l->shape.d > INT32_MAX || l->shape.outputs < 1)
        return mc_damaged(ctx, l, "it has %lld centres, %lld columns and %lld outputs", (long long)l->shape.n,
                          (long long)l->shape.d, (long long)l->shape.outputs);
    if (!sparse && (__builtin_mul_overflow(l->shape.n, l->shape.d, &dense) || dense != stored))
        return mc_damaged(ctx, l, "it does not store as many values as it has rows and columns");
    l->shape.stored = sparse ? stored : -1;
    l->shape.dtype = (mercer_dtype)real;
    l->shape.scaled = scale > 0;
    l->shape.noisy = strcmp(report->machine, "gp") == 0;
    l->shape.spectral = strcmp(report->machine, "pca") == 0;
    l->model->f.scale.kind = (mc_scaling)(MC_SCALE_NONE + scale);
    return MERCER_OK;
}

mercer_status mc_metadata_read(mercer_ctx *ctx, mc_loading *l) {
    const char *settings;
    MC_TRY(read_fields(ctx, l));
    mercer_report *report = &l->model->f.report;
    l->model->f.waves = strcmp(report->solver, "fourier") == 0;
    report->approximate = l->model->f.waves || strcmp(report->solver, "nystrom") == 0;
    MC_TRY(read_shape(ctx, l));
    MC_TRY(text_of(ctx, l, "settings", &settings));
    l->model->settings = mc_copy_text(ctx, settings, strlen(settings));
    const char *search = json_string_value(json_object_get(l->metadata, "search"));
    if (search && !(l->model->search = mc_copy_text(ctx, search, strlen(search))))
        return MERCER_MEMORY;
    return l->model->settings ? MERCER_OK : MERCER_MEMORY;
}

/* ---- Lists ---- */

static mercer_status list_of(mercer_ctx *ctx, const mc_loading *l, const char *key, const json_t *array, char ***out) {
    const size_t count = json_array_size(array);
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!json_is_string(json_array_get(array, i)))
            return mc_damaged(ctx, l, "item %zu of '%s' is not a text", i + 1, key);
        bytes += (int64_t)json_string_length(json_array_get(array, i)) + 1;
    }
    char *next = NULL;
    *out = mc_strings_new(ctx, (int64_t)count, bytes, &next);
    for (size_t i = 0; *out && i < count; i++) {
        const json_t *item = json_array_get(array, i);
        memcpy(next, json_string_value(item), json_string_length(item) + 1);
        (*out)[i] = next;
        next += json_string_length(item) + 1;
    }
    return *out ? MERCER_OK : MERCER_MEMORY;
}

/* The JSON inside a text of the metadata; *out NULL when there is no such text. */
static mercer_status inner_of(mercer_ctx *ctx, const mc_loading *l, const char *key, json_t **out) {
    const char *text = json_string_value(json_object_get(l->metadata, key));
    json_error_t error;
    *out = text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (text && !*out && json_error_code(&error) == json_error_out_of_memory)
        return mc_fail(ctx, MERCER_MEMORY, "%s: no memory for '%s'", l->path, key);
    if (text && !*out)
        return mc_damaged(ctx, l, "'%s', byte %d: %s", key, error.position, error.text);
    return MERCER_OK;
}

/* A list of exactly count texts, or none at all. */
static mercer_status optional_list(mercer_ctx *ctx, const mc_loading *l, const char *key, int64_t count, char ***out) {
    json_t *array = NULL;
    MC_TRY(inner_of(ctx, l, key, &array));
    if (!array)
        return MERCER_OK;
    mercer_status status = MERCER_OK;
    if (!json_is_array(array) || json_array_size(array) != (size_t)count)
        status = mc_damaged(ctx, l, "'%s' does not list %lld texts", key, (long long)count);
    else
        status = list_of(ctx, l, key, array, out);
    json_decref(array);
    return status;
}

/* ---- The schema ---- */

static int kind_named(const char *name) {
    for (int k = 0; name && k < MC_COLUMN_KINDS; k++)
        if (strcmp(name, mc_column_kind_names[k]) == 0)
            return k;
    return -1;
}

static mercer_status read_column(mercer_ctx *ctx, const mc_loading *l, const json_t *entry, mc_column *out) {
    const json_t *levels = json_object_get(entry, "levels");
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *mean = json_string_value(json_object_get(entry, "mean"));
    const int kind = kind_named(json_string_value(json_object_get(entry, "kind")));
    if (kind < 0 || !mean || !parse_real(mean, &out->mean) || (kind == MC_COLUMN_LEVELS) != json_is_array(levels))
        return mc_damaged(ctx, l, "a column of its schema has no meaning");
    out->kind = (mc_column_kind)kind;
    if (name && !(out->name = mc_copy_text(ctx, name, strlen(name))))
        return MERCER_MEMORY;
    if (levels)
        MC_TRY(list_of(ctx, l, "levels", levels, &out->level));
    out->levels = (int64_t)json_array_size(levels);
    return MERCER_OK;
}

static mercer_status read_columns(mercer_ctx *ctx, const mc_loading *l, const json_t *root, mc_schema *out) {
    const json_t *columns = json_object_get(root, "columns"), *header = json_object_get(root, "header");
    if (!json_is_array(columns) || !json_is_boolean(header))
        return mc_damaged(ctx, l, "its schema has no columns");
    out->header = json_is_true(header);
    out->serial = json_is_true(json_object_get(root, "serial"));
    const int64_t count = (int64_t)json_array_size(columns);
    if (!count)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, out->column, count));
    for (; out->count < count; out->count++)
        MC_TRY(read_column(ctx, l, json_array_get(columns, (size_t)out->count), &out->column[out->count]));
    if (mc_schema_columns(out) != l->shape.d)
        return mc_damaged(ctx, l, "its schema makes %lld columns of %lld", (long long)mc_schema_columns(out),
                          (long long)l->shape.d);
    return MERCER_OK;
}

static mercer_status read_schema(mercer_ctx *ctx, const mc_loading *l, mc_schema *out) {
    json_t *root = NULL;
    MC_TRY(inner_of(ctx, l, "schema", &root));
    const mercer_status status = root ? read_columns(ctx, l, root, out) : mc_damaged(ctx, l, "it has no schema");
    json_decref(root);
    return status;
}

/* ---- The kernel ---- */

/* A kernel with something open would make the loader read files that the model names. */
static mercer_status read_kernel(mercer_ctx *ctx, const mc_loading *l) {
    const char *text;
    mercer_kernel *kernel = NULL;
    MC_TRY(text_of(ctx, l, "kernel", &text));
    mercer_status status = mc_kernel_parse(ctx, text, l->users, &kernel);
    if (status == MERCER_SYNTAX && strstr(text, "user("))
        return mc_fail(ctx, MERCER_INVALID, "%s: its kernel %.200s calls a function of the program that fitted it; load it with %s",
                       l->path, text, "mercer_model_load_with and that function");
    if (status == MERCER_SYNTAX)
        status = mc_damaged(ctx, l, "its kernel does not parse");
    if (!status && (kernel->open || kernel->ranges))
        status = mc_damaged(ctx, l, "its kernel is not fixed");
    if (!status)
        status = mc_kernel_bind(ctx, kernel, l->model->f.centres, &l->model->f.kernel);
    if (!status)
        status = mc_kernel_check_data(ctx, l->model->f.kernel, l->model->f.centres);
    mercer_kernel_free(kernel);
    return status && status != MERCER_MEMORY && status != MERCER_FORMAT
               ? mc_damaged(ctx, l, "its kernel does not suit its centres")
               : status;
}

/* The texts of the centres: as many for each. */
static mercer_status read_strings(mercer_ctx *ctx, const mc_loading *l, mercer_data *x) {
    json_t *array = NULL;
    MC_TRY(inner_of(ctx, l, "strings", &array));
    if (!array)
        return MERCER_OK;
    const int64_t count = (int64_t)json_array_size(array);
    mercer_status status = MERCER_OK;
    if (!json_is_array(array) || x->n < 1 || count == 0 || count % x->n != 0)
        status = mc_damaged(ctx, l, "'strings' does not list as many texts for each of %lld centres", (long long)x->n);
    else
        status = list_of(ctx, l, "strings", array, &x->text);
    x->texts = x->text ? count / x->n : 0;
    json_decref(array);
    return status;
}

mercer_status mc_metadata_attach(mercer_ctx *ctx, mc_loading *l) {
    mercer_data *x = l->model->f.centres;
    const bool classes = json_object_get(l->metadata, "labels") != NULL;
    if (classes && (l->shape.outputs < 2 || l->shape.spectral))
        return mc_damaged(ctx, l, "it has classes but one output");
    x->classes = classes ? l->shape.outputs : 0;
    x->outputs = classes || l->shape.spectral ? 0 : l->shape.outputs;
    MC_TRY(optional_list(ctx, l, "labels", l->shape.outputs, &x->label));
    MC_TRY(optional_list(ctx, l, "names", l->shape.d, &x->name));
    MC_TRY(optional_list(ctx, l, "targets", classes ? 1 : x->outputs, &x->target_name));
    MC_TRY(read_schema(ctx, l, &x->schema));
    MC_TRY(read_strings(ctx, l, x));
    MC_TRY(mc_data_finish(ctx, x));
    MC_TRY(read_kernel(ctx, l));
    const int64_t features = l->shape.primal ? mc_features_count(l->model->f.kernel->root, l->shape.d, l->shape.features) : 0;
    return l->shape.primal && features != l->shape.features
               ? mc_damaged(ctx, l, "its kernel has not the %lld features that it weighs", (long long)l->shape.features)
               : MERCER_OK;
}
