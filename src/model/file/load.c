/* load.c: a model from a file that nobody vouches for.

   In this order: the header's length against the file's size; the fixed first bytes (format, version, checksum); the
   JSON; the shapes, which must tile the rest of the file exactly, so that a file that lies about sizes is refused
   before memory is taken for them; the arrays; the checksum; the values; then names, schema and kernel. What goes
   together is said in check_shape.c. The file is read once. */
#include "model/file/load.h"
#include "backend/device.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/data.h"
#include "model/file/check_shape.h"
#include "model/libsvm/libsvm_model.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

mercer_status mc_fail_damaged(mercer_ctx *ctx, const mc_loading *l, const char *format, ...) {
    char why[400];
    va_list args;
    va_start(args, format);
    mc_vprint(why, sizeof why, format, args);
    va_end(args);
    return mc_fail(ctx, MERCER_FORMAT, "%s: the model file is damaged: %s", l->path, why);
}

/* ---- The header ---- */

static mercer_status read_bytes(mercer_ctx *ctx, mc_loading *l, void *to, size_t size) {
    if (size == 0 || fread(to, 1, size, l->file) == size)
        return MERCER_OK;
    if (ferror(l->file))
        return mc_fail(ctx, MERCER_IO, "%s: cannot be read: %s", l->path, strerror(errno));
    return mc_fail_damaged(ctx, l, "it ended early");
}

static mercer_status not_a_model(mercer_ctx *ctx, const mc_loading *l) {
    return mc_fail(ctx, MERCER_FORMAT, "%s: not a model file of Mercer; mercer fit writes them", l->path);
}

/* The fixed first bytes: {"__metadata__":{"format":"mercer/1","checksum":"... */
static mercer_status check_beginning(mercer_ctx *ctx, mc_loading *l, char *header, size_t length) {
    const size_t begin = strlen(MC_FORMAT_BEGIN), middle = strlen(MC_FORMAT_MIDDLE);
    if (length < MC_CHECKSUM_PLACE + MC_CHECKSUM_DIGITS || memcmp(header, MC_FORMAT_BEGIN, begin) != 0)
        return not_a_model(ctx, l);
    const char *version = header + begin;
    const char *end = memchr(version, '"', 12);
    if (!end)
        return not_a_model(ctx, l);
    if (end - version != 1 || (*version != *MC_FORMAT_VERSION && *version != *MC_FORMAT_COLUMNS))
        return mc_fail(ctx, MERCER_FORMAT,
                       "%s: its format is mercer/%.*s and Mercer %s reads mercer/" MC_FORMAT_VERSION
                       " and mercer/" MC_FORMAT_COLUMNS,
                       l->path, (int)(end - version), version, mercer_version());
    if (memcmp(end, MC_FORMAT_MIDDLE, middle) != 0)
        return mc_fail_damaged(ctx, l, "there is no checksum where it should be");
    char *digits = header + MC_CHECKSUM_PLACE;
    l->listed = *version == *MC_FORMAT_COLUMNS;
    memcpy(l->checksum, digits, sizeof l->checksum);
    memset(digits, '0', sizeof l->checksum);
    return MERCER_OK;
}

static mercer_status parse_header(mercer_ctx *ctx, mc_loading *l, const char *header, size_t length) {
    json_error_t error;
    l->root = json_loadb(header, length, JSON_REJECT_DUPLICATES, &error);
    if (!l->root && json_error_code(&error) == json_error_out_of_memory)
        return mc_fail(ctx, MERCER_MEMORY, "%s: no memory for the header", l->path);
    if (!l->root)
        return mc_fail_damaged(ctx, l, "byte %d of the header: %s", error.position, error.text);
    l->metadata = json_object_get(l->root, "__metadata__");
    const char *key;
    json_t *value;
    json_object_foreach(l->metadata, key, value) if (!json_is_string(value)) return mc_fail_damaged(
        ctx, l, "'%.40s' of its metadata is not a text", key);
    return json_is_object(l->metadata) ? MERCER_OK : mc_fail_damaged(ctx, l, "it has no metadata");
}

static uint64_t length_of(const unsigned char bytes[8]) {
    uint64_t length = 0;
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)bytes[i] << 8 * i;
    return length;
}

/* A parsed header takes some thirty times its length: objects of a few bytes each. */
static mercer_status read_header(mercer_ctx *ctx, mc_loading *l) {
    unsigned char size[8];
    if (l->size < 8)
        return not_a_model(ctx, l);
    MC_TRY(read_bytes(ctx, l, size, 8));
    const uint64_t length = length_of(size);
    if (length > MC_HEADER_LARGEST || length > l->size - 8)
        return length >> 32 ? not_a_model(ctx, l) : mc_fail_damaged(ctx, l, "it ends inside its header");
    l->arrays = l->size - 8 - (size_t)length;
    MC_TRY(mc_memory_check(ctx, 32 * (size_t)length, "the header of the model"));
    char *header = NULL;
    MC_TRY(MC_ALLOC(ctx, header, (int64_t)length));
    mercer_status status = read_bytes(ctx, l, header, (size_t)length);
    if (!status)
        status = check_beginning(ctx, l, header, (size_t)length);
    mc_crc64_add(&l->crc, size, 8);
    mc_crc64_add(&l->crc, header, (size_t)length);
    if (!status)
        status = parse_header(ctx, l, header, (size_t)length);
    mc_free(header);
    return status;
}

/* ---- The arrays ---- */

static bool is_integer(const json_t *value, size_t expected) {
    return json_is_integer(value) && json_integer_value(value) >= 0 && (uint64_t)json_integer_value(value) == expected;
}

static bool entry_matches_array(const json_t *entry, const mc_array *a, size_t offset) {
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape"), *offsets = json_object_get(entry, "data_offsets");
    bool same = json_object_size(entry) == 3 && dtype && strcmp(dtype, a->dtype) == 0;
    same = same && json_array_size(shape) == (size_t)a->dims && json_array_size(offsets) == 2;
    for (int k = 0; same && k < a->dims; k++)
        same = is_integer(json_array_get(shape, (size_t)k), (size_t)a->shape[k]);
    return same && is_integer(json_array_get(offsets, 0), offset)
           && is_integer(json_array_get(offsets, 1), offset + mc_array_bytes(a));
}

/* What the header lists must be what the shape demands, and fill the file to its last byte. */
static mercer_status check_arrays(mercer_ctx *ctx, const mc_loading *l, mc_array arrays[MC_ARRAYS]) {
    size_t bytes, offset = 0, count = 1;
    if (!mc_model_arrays(&l->shape, arrays, &bytes))
        return mc_fail_damaged(ctx, l, "its sizes overflow");
    for (int k = 0; k < MC_ARRAYS; k++) {
        if (!arrays[k].dtype)
            continue;
        if (!entry_matches_array(json_object_get(l->root, arrays[k].name), &arrays[k], offset))
            return mc_fail_damaged(ctx, l, "array '%s' is missing or not of the size the model needs", arrays[k].name);
        offset += mc_array_bytes(&arrays[k]);
        count++;
    }
    if (json_object_size(l->root) != count)
        return mc_fail_damaged(ctx, l, "it has arrays that no model has");
    if (bytes != l->arrays)
        return mc_fail_damaged(ctx, l, "%zu bytes of arrays are announced and %zu are there", bytes, l->arrays);
    return MERCER_OK;
}

static mercer_status allocate_arrays(mercer_ctx *ctx, mc_loading *l) {
    const mc_model_shape *s = &l->shape;
    mc_fitted *f = &l->model->f;
    f->outputs = s->outputs;
    MC_TRY(mc_data_new(ctx, s->n, s->d, s->dtype, s->stored, &f->centres));
    if (s->listed)
        MC_TRY(MC_ALLOC(ctx, f->centres->used, s->d));
    const int64_t decisions = mc_form_decisions(s->form, s->outputs);
    MC_TRY(MC_ALLOC(ctx, f->alpha, s->n * mc_form_width(s->form, s->outputs)));
    MC_TRY(MC_ALLOC(ctx, f->intercept, decisions));
    if (s->form == MC_PAIRS)
        MC_TRY(MC_ALLOC(ctx, f->class_start, s->outputs + 1));
    if (s->row)
        MC_TRY(MC_ALLOC(ctx, f->row, s->n));
    if (s->boxed && (MC_ALLOC(ctx, f->cost, s->n) || MC_ALLOC(ctx, f->box, 2 * decisions)))
        return MERCER_MEMORY;
    if (s->primal)
        MC_TRY(MC_ALLOC(ctx, f->primal, decisions * s->features));
    f->features = s->features;
    if (s->spectral)
        MC_TRY(MC_ALLOC(ctx, f->spectrum, 2 * s->outputs));
    if (s->noisy)
        MC_TRY(MC_ALLOC(ctx, f->noise, s->n));
    f->scale.d = s->d;
    if (!s->scaled)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, f->scale.shift, s->d));
    return MC_ALLOC(ctx, f->scale.factor, s->d);
}

static mercer_status check_sum(mercer_ctx *ctx, const mc_loading *l) {
    char digits[MC_CHECKSUM_DIGITS + 1];
    mc_print(digits, sizeof digits, "%016llx", (unsigned long long)mc_crc64_value(&l->crc));
    if (memcmp(digits, l->checksum, MC_CHECKSUM_DIGITS) == 0)
        return MERCER_OK;
    return mc_fail_damaged(ctx, l, "its checksum is %.16s and its bytes give %s", l->checksum, digits);
}

static mercer_status read_arrays(mercer_ctx *ctx, mc_loading *l, const mc_array *arrays) {
    for (int k = 0; k < MC_ARRAYS; k++) {
        if (!arrays[k].dtype)
            continue;
        void *place = mc_array_place(l->model, k);
        MC_TRY(read_bytes(ctx, l, place, mc_array_bytes(&arrays[k])));
        mc_crc64_add(&l->crc, place, mc_array_bytes(&arrays[k]));
    }
    return check_sum(ctx, l);
}

static mercer_status check_agreement(mercer_ctx *ctx, const mc_loading *l,
                                     mercer_status agree(mercer_ctx *, const mercer_model *, const mc_model_shape *,
                                                         bool *, mc_flaw *)) {
    mc_flaw why;
    bool good = false;
    MC_TRY(agree(ctx, l->model, &l->shape, &good, &why));
    return good ? MERCER_OK : mc_fail_damaged(ctx, l, "%s", why.text);
}

/* ---- The whole ---- */

static mercer_status load_from_file(mercer_ctx *ctx, mc_loading *l) {
    mc_array arrays[MC_ARRAYS];
    MC_TRY(read_header(ctx, l));
    MC_TRY(mc_metadata_read(ctx, l));
    MC_TRY(check_arrays(ctx, l, arrays));
    MC_TRY(allocate_arrays(ctx, l));
    MC_TRY(read_arrays(ctx, l, arrays));
    MC_TRY(check_agreement(ctx, l, mc_arrays_agree));
    MC_TRY(mc_metadata_attach(ctx, l));
    return check_agreement(ctx, l, mc_texts_agree);
}

static mercer_status find_file_size(mercer_ctx *ctx, FILE *file, const char *path, size_t *size) {
    off_t end = -1;
    if (fseeko(file, 0, SEEK_END) == 0)
        end = ftello(file);
    if (end < 0 || fseeko(file, 0, SEEK_SET) != 0)
        return mc_fail(ctx, MERCER_IO, "%s: a model is loaded from a plain file, not from a pipe", path);
    *size = (size_t)end;
    return MERCER_OK;
}

mercer_status mc_model_load(mercer_ctx *ctx, FILE *file, const char *path, mc_users users, mercer_model **out) {
    *out = NULL;
    mc_loading *l = NULL;
    MC_TRY(MC_ALLOC(ctx, l, 1));
    *l = (mc_loading){.path = path, .file = file, .users = users};
    mc_crc64_open(&l->crc);
    mercer_status status = find_file_size(ctx, file, path, &l->size);
    if (!status)
        status = MC_ALLOC(ctx, l->model, 1);
    if (!status)
        status = load_from_file(ctx, l);
    if (!status)
        status = mc_fitted_open_cache(ctx, &l->model->f);
    json_decref(l->root);
    if (status)
        mercer_model_free(l->model);
    else
        *out = l->model;
    mc_free(l);
    return status;
}

static mercer_status load_bytes(mercer_ctx *ctx, const void *bytes, size_t size, const char *path, mc_users users,
                                mercer_model **out) {
    if (!size)
        return mc_fail(ctx, MERCER_FORMAT, "%s: a model has no bytes", path);
    FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "rb"); /* it is only read */
    if (!file)
        return mc_fail(ctx, MERCER_MEMORY, "%s: no stream could be opened", path);
    const mercer_status status = mc_model_load(ctx, file, path, users, out);
    fclose(file);
    return status;
}

/* Text that LIBSVM wrote, and whatever comes through a pipe, is read whole. */
static mercer_status load_whole(mercer_ctx *ctx, const char *path, mc_users users, mercer_model **out) {
    mc_input input;
    MC_TRY(mc_input_open(ctx, path, &input));
    mercer_status status = mc_input_load(ctx, &input);
    if (!status)
        status = mc_libsvm_is_model(input.bytes, (size_t)input.size)
                     ? mc_libsvm_model_read(ctx, &input, out)
                     : load_bytes(ctx, input.bytes, (size_t)input.size, input.name, users, out);
    mc_input_close(&input);
    return status;
}

static bool is_plain(const char *path) {
    struct stat info;
    return strcmp(path, "-") != 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

static mercer_status load_file(mercer_ctx *ctx, const char *path, mc_users users, mercer_model **out) {
    *out = NULL;
    if (!is_plain(path))
        return load_whole(ctx, path, users, out);
    FILE *file = fopen(path, "rb");
    if (!file)
        return mc_fail(ctx, MERCER_IO, "%s: cannot be opened: %s", path, strerror(errno));
    char head[32];
    const size_t seen = fread(head, 1, sizeof head, file);
    rewind(file);
    const mercer_status status =
        mc_libsvm_is_model(head, seen) ? load_whole(ctx, path, users, out) : mc_model_load(ctx, file, path, users, out);
    fclose(file);
    if (!status) /* new rows are read next */
        mc_device_begin(ctx, (double)(*out)->f.centres->n * (double)(*out)->f.centres->n);
    return status;
}

mercer_status mercer_model_load(mercer_ctx *ctx, const char *path, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, path, out);
    mc_begin_call(ctx);
    return load_file(ctx, path, (mc_users){0}, out);
}

mercer_status mercer_model_load_with(mercer_ctx *ctx, const char *path, const mercer_user_kernel *users, int count,
                                     mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, path, out);
    mc_begin_call(ctx);
    MC_TRY(mc_users_check(ctx, (mc_users){users, count}));
    return load_file(ctx, path, (mc_users){users, count}, out);
}

mercer_status mercer_model_from_memory(mercer_ctx *ctx, const void *bytes, size_t size, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, bytes, out);
    mc_begin_call(ctx);
    return load_bytes(ctx, bytes, size, "memory", (mc_users){0}, out);
}
