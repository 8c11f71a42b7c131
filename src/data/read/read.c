/* read.c: which reader a file belongs to. gzip and .npy say so in their first bytes; LIBSVM text by its first lines, or
   by the name
   (.libsvm, .svm, .svmlight) when they do not tell; everything else is CSV. */
#include "data/read/read.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/ranks.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/csv/csv.h"
#include "data/libsvm/libsvm_text.h"
#include "data/npy/npy.h"
#include "data/read/gram_rows.h"

void mercer_read_init(mercer_read *set, size_t size) {
    const mercer_read defaults = {.dtype = MERCER_F64};
    mc_sized_init(&defaults, sizeof defaults, set, size);
}

static bool has_ending(const char *name, const char *ending) {
    size_t n = strlen(name);
    const size_t k = strlen(ending);
    n -= n > 3 && strcmp(name + n - 3, ".gz") == 0 ? 3 : 0;
    return n > k && memcmp(name + n - k, ending, k) == 0;
}

static bool is_npy(const mc_input *input) {
    return mc_npy_looks(input->bytes, input->size) || has_ending(input->name, ".npy");
}

static bool is_libsvm(const mc_input *input) {
    return mc_libsvm_looks(input) || has_ending(input->name, ".libsvm") || has_ending(input->name, ".svm")
           || has_ending(input->name, ".svmlight");
}

/* CSV is what nothing else recognises. */
static bool is_text(const mc_input *input) {
    (void)input;
    return true;
}

/* The first that recognises the input reads it. */
static const struct format {
    bool (*is)(const mc_input *input);
    mercer_status (*read)(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out);
} formats[] = {{is_npy, mc_npy_read}, {is_libsvm, mc_libsvm_read}, {is_text, mc_csv_read}};

static const struct format *format_of(const mc_input *input) {
    const struct format *f = formats;
    while (!f->is(input))
        f++;
    return f;
}

bool mc_is_csv(const mc_input *input) {
    return !mc_is_gzip(input->bytes, input->size) && format_of(input)->read == mc_csv_read;
}

static mercer_status read_by_format(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading,
                                    mercer_data **out) {
    if (input->size == 0)
        return mc_fail(ctx, MERCER_DATA, "%s is empty", input->name);
    return format_of(input)->read(ctx, input, reading, out);
}

static mercer_status check_settings(mercer_ctx *ctx, const mercer_read *set) {
    if ((unsigned)set->kind > MERCER_TARGET_CLASS || (unsigned)set->missing > MERCER_MISSING_DROP
        || (unsigned)set->dtype > MERCER_F64)
        return mc_fail(ctx, MERCER_INVALID, "read: kind %d, missing %d or dtype %d is out of range", (int)set->kind,
                       (int)set->missing, (int)set->dtype);
    if ((unsigned)set->header > MERCER_HEADER_NO)
        return mc_fail(ctx, MERCER_INVALID, "read: header %d is out of range", (int)set->header);
    return MERCER_OK;
}

static bool is_plain_npy(const mc_input *input) {
    char magic[8];
    return input->plain_file && input->total >= (int64_t)sizeof magic && !mc_input_piece(input, 0, magic, sizeof magic)
           && mc_npy_looks(magic, sizeof magic);
}

enum { HEAD = 1 << 16, LEAST_SHARED = 1 << 22 }; /* bytes */

/* LIBSVM text that is worth it, by parts on all ranks. */
static mercer_status share_libsvm(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, bool *done,
                                  mercer_data **out) {
    mc_input head = {.fd = -1};
    const int64_t least = reading->piece ? 16 * reading->piece : LEAST_SHARED;
    if (!mc_ranks_share(ctx) || !input->plain_file || input->total < least)
        return MERCER_OK;
    mercer_status status = mc_input_head(ctx, input, HEAD, &head);
    if (!status && !mc_is_gzip(head.bytes, head.size) && is_libsvm(&head))
        status = mc_libsvm_share(ctx, input, reading, done, out);
    mc_input_close(&head);
    return status;
}

static mercer_status read_input(mercer_ctx *ctx, mc_input *input, const mc_reading *reading, mercer_data **out) {
    if (is_plain_npy(input))
        return mc_npy_read(ctx, input, reading, out);
    bool done = false;
    MC_TRY(mc_csv_stream(ctx, input, reading, &done, out));
    if (!done)
        MC_TRY(share_libsvm(ctx, input, reading, &done, out));
    if (done)
        return MERCER_OK;
    mc_set_phase_span(ctx, 0, 0.3);
    MC_TRY(mc_input_load(ctx, input));
    mc_set_phase_span(ctx, 0.3, 1);
    return read_by_format(ctx, input, reading, out);
}

/* What was read, its rows numbered where they are those of a Gram matrix. */
static mercer_status number_gram_rows(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading,
                                      mercer_status status, mercer_data **out) {
    MC_THEN(status, mc_data_serial(ctx, reading, input->name, *out));
    if (status) {
        mercer_data_free(*out);
        *out = NULL;
    }
    return status;
}

mercer_status mc_data_read_as(mercer_ctx *ctx, const char *path, const mc_reading *reading, mercer_data **out) {
    *out = NULL;
    MC_TRY(check_settings(ctx, reading->set));
    mc_begin_phase(ctx, "read");
    mc_input input;
    MC_TRY(mc_input_open(ctx, path, &input));
    const mercer_status status = number_gram_rows(ctx, &input, reading, read_input(ctx, &input, reading, out), out);
    mc_input_close(&input);
    return status;
}

mercer_status mercer_data_read(mercer_ctx *ctx, const char *path, const mercer_read *set, mercer_data **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, path, out);
    mc_begin_call(ctx);
    mercer_read chosen = mercer_read_defaults();
    MC_TRY(mc_sized_read(ctx, "mercer_read", set, &chosen, sizeof chosen));
    return mc_data_read_as(ctx, path, &(mc_reading){.set = &chosen}, out);
}

mercer_status mc_data_read_like(mercer_ctx *ctx, const char *path, const mercer_read *set, const mc_schema *schema,
                                int64_t d, int64_t classes, char *const *labels, mercer_data **out) {
    const mercer_read defaults = mercer_read_defaults();
    const mc_reading reading = {
        .set = set ? set : &defaults, .schema = schema, .d = d, .classes = classes, .labels = labels};
    return mc_data_read_as(ctx, path, &reading, out);
}

mercer_status mc_data_parse_as(mercer_ctx *ctx, const void *bytes, int64_t size, const char *name,
                               const mc_reading *reading, mercer_data **out) {
    *out = NULL;
    MC_TRY(check_settings(ctx, reading->set));
    mc_input input;
    MC_TRY(mc_input_copy(ctx, name, bytes, size, &input));
    const mercer_status status = number_gram_rows(ctx, &input, reading, read_by_format(ctx, &input, reading, out), out);
    mc_input_close(&input);
    return status;
}

mercer_status mc_data_parse_like(mercer_ctx *ctx, const void *bytes, int64_t size, const char *name,
                                 const mercer_read *set, const mc_schema *schema, int64_t d, int64_t classes,
                                 char *const *labels, mercer_data **out) {
    const mercer_read defaults = mercer_read_defaults();
    const mc_reading reading = {
        .set = set ? set : &defaults, .schema = schema, .d = d, .classes = classes, .labels = labels};
    return mc_data_parse_as(ctx, bytes, size, name, &reading, out);
}

mercer_status mc_data_parse(mercer_ctx *ctx, const void *bytes, int64_t size, const char *name, const mercer_read *set,
                            mercer_data **out) {
    return mc_data_parse_like(ctx, bytes, size, name, set, NULL, 0, 0, NULL, out);
}
