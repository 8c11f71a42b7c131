/* metadata.c: what the header of a model file says in words: the report, the settings, names, labels, the schema and
   the kernel. Every value of the metadata is a text; lists and the schema are JSON inside it. */
#include "base/memory.h"
#include "base/number.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/strings.h"
#include "kernel/language/kernel.h"
#include "kernel/language/parse.h"
#include "model/file/check_shape.h"
#include "model/file/load.h"
#include <math.h>
#include <string.h>

static mercer_status text_of(mercer_ctx *ctx, const mc_loading *l, const char *key, const char **out) {
    *out = json_string_value(json_object_get(l->metadata, key));
    return *out ? MERCER_OK : mc_fail_damaged(ctx, l, "its metadata have no text '%s'", key);
}

/* Up to 2^53: sums and products by small numbers do not overflow, and no count of anything real is larger. */
static bool parse_count(const char *text, int64_t *out) {
    int64_t value = 0;
    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9' || value > ((int64_t)1 << 53) / 10)
            return false;
        value = 10 * value + (*p - '0');
    }
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
    return parse_count(text, out) ? MERCER_OK : mc_fail_damaged(ctx, l, "'%s' is '%.40s', not a count", key, text);
}

/* ---- The report and the shape ---- */

/* The words a field may say; machine and solver are checked together (check_shape.h). */
static const char *words_of(const char *name) {
    static const char *const rows[][2] = {
        {"scale", "none|standard|minmax"},
        {"stopped", "no|time|caller|precision|steps|held-out"},
        {"certificate.kind",
         "residual|gradient|sampled residual|gap|numerical gap|sampled gap|eigenvalues|exact|none"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], name) == 0)
            return rows[i][1];
    return NULL;
}

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
        if (words_of(field->name) && mc_choice_index(words_of(field->name), text) < 0)
            return mc_fail_damaged(ctx, l, "'%s' is '%.40s', which has no meaning", field->name, text);
        if (field->kind == MC_FIELD_WORD)
            word[words++] = text;
        else if (!(field->kind == MC_FIELD_COUNT ? parse_count(text, at) : parse_real(text, at)))
            return mc_fail_damaged(ctx, l, "'%s' is '%.40s', not a number", field->name, text);
    }
    l->model->report_texts = mc_strings_copy(ctx, word, words);
    if (!l->model->report_texts)
        return MERCER_MEMORY;
    for (int i = 0, k = 0; i < MC_FIELDS; i++)
        if (mc_report_fields[i].kind == MC_FIELD_WORD)
            *(const char **)(void *)((char *)&l->model->f.report + mc_report_fields[i].offset) =
                l->model->report_texts[k++];
    return MERCER_OK;
}

/* A text that is there with this value or not at all. */
static mercer_status flag_of(mercer_ctx *ctx, const mc_loading *l, const char *key, const char *value, bool *out) {
    const char *text = value;
    *out = json_object_get(l->metadata, key) != NULL;
    if (*out)
        MC_TRY(text_of(ctx, l, key, &text));
    return strcmp(text, value) == 0 ? MERCER_OK
                                    : mc_fail_damaged(ctx, l, "'%s' is '%.40s', not '%s'", key, text, value);
}

static mercer_status read_form(mercer_ctx *ctx, mc_loading *l) {
    const char *form = "values"; /* what files older than the forms mean */
    if (json_object_get(l->metadata, "form"))
        MC_TRY(text_of(ctx, l, "form", &form));
    const int place = mc_choice_index("values|pairs|region|neighbours", form);
    if (place < 0)
        return mc_fail_damaged(ctx, l, "its form is '%.40s'", form);
    l->shape.form = l->model->f.form = (mc_form)place;
    MC_TRY(flag_of(ctx, l, "row", "kept", &l->shape.row));
    MC_TRY(flag_of(ctx, l, "weighting", "distance", &l->shape.by_distance));
    MC_TRY(flag_of(ctx, l, "box", "kept", &l->shape.boxed));
    MC_TRY(flag_of(ctx, l, "primal", "kept", &l->shape.primal));
    l->model->f.by_distance = l->shape.by_distance;
    l->shape.labelled = json_object_get(l->metadata, "labels") != NULL;
    l->shape.worded = json_object_get(l->metadata, "strings") != NULL;
    l->shape.features = l->shape.d; /* what files older than the count mean */
    return json_object_get(l->metadata, "features") ? count_of(ctx, l, "features", &l->shape.features) : MERCER_OK;
}

static mercer_status read_layout(mercer_ctx *ctx, mc_loading *l, int64_t *stored) {
    const char *layout, *precision;
    MC_TRY(text_of(ctx, l, "layout", &layout));
    MC_TRY(text_of(ctx, l, "precision", &precision));
    MC_TRY(count_of(ctx, l, "centres", &l->shape.n));
    MC_TRY(count_of(ctx, l, "stored", stored));
    const int real = mc_choice_index("F32|F64", precision), sparse = mc_choice_index("dense|sparse", layout);
    if (real < 0 || sparse < 0)
        return mc_fail_damaged(ctx, l, "its layout or precision has no meaning");
    l->shape.stored = sparse ? *stored : -1;
    l->shape.dtype = (mercer_dtype)real;
    return MERCER_OK;
}

static mercer_status read_shape(mercer_ctx *ctx, mc_loading *l) {
    const mercer_report *report = &l->model->f.report;
    const mc_model_kind *kind = mc_model_kind_of(report->machine, report->solver);
    const int scale = mc_choice_index("none|standard|minmax", report->scale);
    int64_t stored = 0, all = 0;
    mc_flaw why;
    l->shape = (mc_model_shape){.machine = report->machine,
                                .solver = report->solver,
                                .d = report->d,
                                .width = report->d,
                                .listed = l->listed,
                                .rows = report->n,
                                .outputs = report->outputs,
                                .neighbors = report->neighbors,
                                .scaled = scale > 0,
                                .noisy = kind && kind->noise,
                                .spectral = kind && kind->spectrum};
    if (l->listed)
        MC_TRY(count_of(ctx, l, "kept", &l->shape.d));
    MC_TRY(read_layout(ctx, l, &stored));
    MC_TRY(read_form(ctx, l));
    l->model->f.scale.kind = (mc_scaling)(MC_SCALE_NONE + scale);
    l->model->f.fourier = kind && kind->centres == MC_CENTRES_FREQUENCIES;
    if (!mc_shape_agrees(&l->shape, &why))
        return mc_fail_damaged(ctx, l, "%s", why.text);
    return l->shape.stored >= 0 || (!__builtin_mul_overflow(l->shape.n, l->shape.d, &all) && all == stored)
               ? MERCER_OK
               : mc_fail_damaged(ctx, l, "it does not store as many values as it has rows and columns");
}

mercer_status mc_metadata_read(mercer_ctx *ctx, mc_loading *l) {
    const char *settings;
    MC_TRY(read_fields(ctx, l));
    MC_TRY(read_shape(ctx, l));
    mercer_report *report = &l->model->f.report;
    report->approximate = l->model->f.fourier || strcmp(report->solver, "nystrom") == 0;
    MC_TRY(text_of(ctx, l, "settings", &settings));
    l->model->settings = mc_copy_text(ctx, settings, strlen(settings));
    const char *search = json_string_value(json_object_get(l->metadata, "search"));
    if (search && !(l->model->search = mc_copy_text(ctx, search, strlen(search))))
        return MERCER_MEMORY;
    const char *stages = json_string_value(json_object_get(l->metadata, "stages"));
    if (stages && !(l->model->stages = mc_copy_text(ctx, stages, strlen(stages))))
        return MERCER_MEMORY;
    return l->model->settings ? MERCER_OK : MERCER_MEMORY;
}

/* ---- Lists ---- */

static mercer_status list_of(mercer_ctx *ctx, const mc_loading *l, const char *key, const json_t *array, char ***out) {
    const size_t count = json_array_size(array);
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!json_is_string(json_array_get(array, i)))
            return mc_fail_damaged(ctx, l, "item %zu of '%s' is not a text", i + 1, key);
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
        return mc_fail_damaged(ctx, l, "'%s', byte %d: %s", key, error.position, error.text);
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
        status = mc_fail_damaged(ctx, l, "'%s' does not list %lld texts", key, (long long)count);
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
        return mc_fail_damaged(ctx, l, "a column of its schema has no meaning");
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
        return mc_fail_damaged(ctx, l, "its schema has no columns");
    out->header = json_is_true(header);
    out->serial = json_is_true(json_object_get(root, "serial"));
    const int64_t count = (int64_t)json_array_size(columns);
    if (!count)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, out->column, count));
    for (; out->count < count; out->count++)
        MC_TRY(read_column(ctx, l, json_array_get(columns, (size_t)out->count), &out->column[out->count]));
    if (mc_schema_columns(out) != l->shape.width)
        return mc_fail_damaged(ctx, l, "its schema makes %lld columns of %lld", (long long)mc_schema_columns(out),
                               (long long)l->shape.width);
    return MERCER_OK;
}

static mercer_status read_schema(mercer_ctx *ctx, const mc_loading *l, mc_schema *out) {
    json_t *root = NULL;
    MC_TRY(inner_of(ctx, l, "schema", &root));
    const mercer_status status = root ? read_columns(ctx, l, root, out) : mc_fail_damaged(ctx, l, "it has no schema");
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
        return mc_fail(ctx, MERCER_INVALID,
                       "%s: its kernel %.200s calls a function of the program that fitted it; load it with %s", l->path,
                       text, "mercer_model_load_with and that function");
    if (status == MERCER_SYNTAX)
        status = mc_fail_damaged(ctx, l, "its kernel does not parse");
    if (!status && (kernel->open || kernel->ranges))
        status = mc_fail_damaged(ctx, l, "its kernel is not fixed");
    if (!status)
        status = mc_kernel_bind(ctx, kernel, l->model->f.centres, &l->model->f.kernel);
    if (!status)
        status = mc_kernel_check_data(ctx, l->model->f.kernel, l->model->f.centres);
    mercer_kernel_free(kernel);
    return status && status != MERCER_MEMORY && status != MERCER_FORMAT
               ? mc_fail_damaged(ctx, l, "its kernel does not suit its centres")
               : status;
}

/* The texts of the centres: as many for each. Without centres the number of them is a field of its own. */
static mercer_status read_strings(mercer_ctx *ctx, const mc_loading *l, mercer_data *x) {
    json_t *array = NULL;
    int64_t each = 0;
    if (!l->shape.worded)
        return MERCER_OK;
    if (x->n == 0)
        MC_TRY(count_of(ctx, l, "texts", &each));
    MC_TRY(inner_of(ctx, l, "strings", &array));
    const int64_t count = (int64_t)json_array_size(array);
    each = x->n ? count / x->n : each;
    mercer_status status = MERCER_OK;
    if (!json_is_array(array) || each < 1 || each > INT32_MAX || count != each * x->n)
        status =
            mc_fail_damaged(ctx, l, "'strings' does not list as many texts for each of %lld centres", (long long)x->n);
    else
        status = list_of(ctx, l, "strings", array, &x->text);
    x->texts = x->text ? each : 0;
    json_decref(array);
    return status;
}

/* How it was chosen is shown to people and drawn: JSON, where it is there at all. */
static mercer_status check_object(mercer_ctx *ctx, const mc_loading *l, const char *key) {
    json_t *object = NULL;
    MC_TRY(inner_of(ctx, l, key, &object));
    const bool good = !object || json_is_object(object);
    json_decref(object);
    return good ? MERCER_OK : mc_fail_damaged(ctx, l, "'%s' is no object of JSON", key);
}

mercer_status mc_metadata_attach(mercer_ctx *ctx, mc_loading *l) {
    mercer_data *x = l->model->f.centres;
    const bool classes = l->shape.labelled;
    x->classes = classes ? l->shape.outputs : 0;
    x->outputs = classes || l->shape.spectral ? 0 : l->shape.outputs;
    MC_TRY(optional_list(ctx, l, "labels", l->shape.outputs, &x->label));
    MC_TRY(optional_list(ctx, l, "names", l->shape.d, &x->name));
    MC_TRY(optional_list(ctx, l, "targets", classes ? 1 : x->outputs, &x->target_name));
    MC_TRY(read_schema(ctx, l, &x->schema));
    MC_TRY(read_strings(ctx, l, x));
    if (l->listed && (x->name || x->schema.count))
        return mc_fail_damaged(ctx, l, "it has names for columns that it does not keep");
    MC_TRY(check_object(ctx, l, "search"));
    MC_TRY(check_object(ctx, l, "stages"));
    MC_TRY(mc_data_finish(ctx, x));
    return read_kernel(ctx, l);
}
