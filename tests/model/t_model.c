/* A model through a file and back, and what the loader must refuse. */
#include "../learn/machines_of_test.h"
#include "base/memory.h"
#include "data/table/data.h"
#include "model/file/crc64.h"
#include "model/file/format.h"
#include "model/file/load.h"
#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/mercer-model-XXXXXX";

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void *take(size_t size) {
    void *block = calloc(1, size);
    if (!block)
        abort();
    return block;
}

typedef struct bytes {
    unsigned char *at;
    size_t size;
} bytes;

static bytes read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes b = {.at = take(1 << 20)};
    b.size = fread(b.at, 1, 1 << 20, file);
    fclose(file);
    return b;
}

static mercer_status load_bytes(mercer_ctx *ctx, const void *at, size_t size, mercer_model **out) {
    FILE *file = fmemopen((void *)at, size, "rb");
    assert_non_null(file);
    const mercer_status status = mc_model_load(ctx, file, "memory", (mc_users){0}, out);
    fclose(file);
    return status;
}

/* ---- Three models that between them use every part of the format ---- */

static mercer_data *dense_numbers(mercer_ctx *ctx) {
    static const char *const names[] = {"age", "income, yearly \"net\"", "\xc3\xa9t\xc3\xa9\t"};
    const sheet s = random_sheet(7, 2, 30);
    mercer_table table = {.size = sizeof table,
                          .n = s.n,
                          .d = s.d,
                          .dtype = MERCER_F64,
                          .values = s.x,
                          .target = s.y,
                          .outputs = 2,
                          .names = names};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_data *sparse_classes(mercer_ctx *ctx) {
    static const float values[] = {1, 2, 3, 4, 5, 6};
    static const int64_t row_start[] = {0, 2, 2, 4, 5, 6};
    static const int32_t column[] = {0, 3, 1, 4, 2, 4};
    static const char *const labels[] = {"no", "yes", "no", "perhaps", "yes"};
    mercer_table table = {.size = sizeof table,
                          .n = 5,
                          .d = 5,
                          .dtype = MERCER_F32,
                          .values = values,
                          .row_start = row_start,
                          .column = column,
                          .labels = labels};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_data *dense_floats(mercer_ctx *ctx) {
    float values[9];
    const double target[] = {1, 2, 4};
    for (int i = 0; i < 9; i++)
        values[i] = (float)(i * i) / 8;
    mercer_table table = {
        .size = sizeof table, .n = 3, .d = 3, .dtype = MERCER_F32, .values = values, .target = target, .outputs = 1};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static const struct {
    mercer_data *(*data)(mercer_ctx *ctx);
    const char *kernel, *scale;
    double lambda;
    bool intercept;
} cases[] = {
    {dense_numbers, "0.5*rbf(gamma=0.3)[1:2] + linear", "standard", 0.1, true},
    {sparse_classes, "poly(degree=2, c=1)", "none", 0.5, false},
    {dense_floats, "linear", "minmax", 0, true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static mercer_model *fit_case(mercer_ctx *ctx, int k, const mercer_data *data) {
    mercer_ridge set = plain(cases[k].lambda);
    set.scale = cases[k].scale;
    set.intercept = cases[k].intercept;
    set.loo = cases[k].lambda > 0;
    mercer_kernel *kernel = kernel_of(ctx, cases[k].kernel);
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
    mercer_kernel_free(kernel);
    return model;
}

/* The bytes in memory are those of the file, and no room less will do. */
static void assert_memory_is_the_file(mercer_ctx *ctx, const mercer_model *model, const char *path) {
    bytes b = read_file(path);
    size_t size = 0, seen = 0;
    unsigned char *room = take(b.size);
    mercer_model *again = NULL;
    assert_ok(ctx, mercer_model_to_memory(ctx, model, NULL, 0, &size));
    assert_int_equal(size, b.size);
    assert_fails(ctx, mercer_model_to_memory(ctx, model, room, size - 1, &seen), MERCER_INVALID, "room for");
    assert_ok(ctx, mercer_model_to_memory(ctx, model, room, size, &seen));
    assert_memory_equal(room, b.at, size);
    assert_ok(ctx, mercer_model_from_memory(ctx, room, size, &again));
    mercer_model_free(again);
    assert_fails(ctx, mercer_model_from_memory(ctx, room, size - 1, &again), MERCER_FORMAT, "memory");
    assert_fails(ctx, mercer_model_from_memory(ctx, room, 0, &again), MERCER_FORMAT, "a model has no bytes");
    free(room), free(b.at);
}

static bytes file_of_case(mercer_ctx *ctx, int k) {
    mercer_data *data = cases[k].data(ctx);
    mercer_model *model = fit_case(ctx, k, data);
    assert_ok(ctx, mercer_model_save(ctx, model, path_of("case.mercer")));
    assert_memory_is_the_file(ctx, model, path_of("case.mercer"));
    mercer_model_free(model);
    mercer_data_free(data);
    return read_file(path_of("case.mercer"));
}

static void same_double(double a, double b) {
    assert_memory_equal(&a, &b, sizeof a);
}

static void test_a_loaded_model_is_the_saved_one(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < CASES; k++) {
        mercer_data *data = cases[k].data(ctx);
        mercer_model *saved = fit_case(ctx, k, data), *loaded = NULL;
        assert_ok(ctx, mercer_model_save(ctx, saved, path_of("a.mercer")));
        assert_ok(ctx, mercer_model_load(ctx, path_of("a.mercer"), &loaded));
        double before[32], after[32];
        assert_ok(ctx, mercer_predict(ctx, saved, data, before));
        assert_ok(ctx, mercer_predict(ctx, loaded, data, after));
        assert_memory_equal(before, after, (size_t)(mercer_data_rows(data) * mercer_model_outputs(saved)) * 8);
        const mercer_report *a = mercer_model_report(saved), *b = mercer_model_report(loaded);
        assert_string_equal(a->machine, b->machine);
        assert_string_equal(a->solver, b->solver);
        assert_string_equal(a->scale, b->scale);
        assert_string_equal(a->certificate.kind, b->certificate.kind);
        assert_int_equal(a->n, b->n);
        assert_int_equal(a->rank, b->rank);
        same_double(a->norm, b->norm);
        same_double(a->objective, b->objective);
        assert_true(a->loo_rmse == b->loo_rmse || (isnan(a->loo_rmse) && isnan(b->loo_rmse)));
        same_double(a->certificate.prediction_error_bound, b->certificate.prediction_error_bound);
        same_double(a->certificate.objective_gap, b->certificate.objective_gap);
        assert_true(b->seconds == 0);
        assert_string_equal(mercer_model_settings(saved), mercer_model_settings(loaded));
        assert_string_equal(mercer_kernel_text(mercer_model_kernel(saved)),
                            mercer_kernel_text(mercer_model_kernel(loaded)));
        for (int64_t j = 0; j < mercer_model_columns(saved); j++)
            assert_string_equal(mercer_model_column_name(saved, j), mercer_model_column_name(loaded, j));
        for (int64_t c = 0; c < mercer_model_classes(saved); c++)
            assert_string_equal(mercer_model_label(saved, c), mercer_model_label(loaded, c));
        assert_string_equal(mercer_model_target_name(saved, 0), mercer_model_target_name(loaded, 0));
        const bytes first = read_file(path_of("a.mercer"));
        assert_ok(ctx, mercer_model_save(ctx, loaded, path_of("b.mercer")));
        const bytes again = read_file(path_of("b.mercer"));
        assert_int_equal(first.size, again.size);
        assert_memory_equal(first.at, again.at, first.size);
        free(first.at);
        free(again.at);
        mercer_model_free(saved);
        mercer_model_free(loaded);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_the_file_does_not_depend_on_the_threads(void **state) {
    (void)state;
    for (int k = 0; k < CASES; k++) {
        bytes first = {0};
        for (int threads = 1; threads <= 4; threads++) {
            mercer_ctx *ctx = open_ctx(threads);
            const bytes b = file_of_case(ctx, k);
            close_clean(ctx);
            if (threads == 1) {
                first = b;
                continue;
            }
            assert_int_equal(first.size, b.size);
            assert_memory_equal(first.at, b.at, b.size);
            free(b.at);
        }
        free(first.at);
    }
}

/* ---- What must be refused ---- */

static void assert_refused(mercer_ctx *ctx, const unsigned char *at, size_t size) {
    mercer_model *model = NULL;
    const mercer_status status = load_bytes(ctx, at, size, &model);
    if (status != MERCER_FORMAT)
        fail_msg("%s: %s", mercer_status_name(status), mercer_message(ctx));
    assert_null(model);
}

static void test_every_truncation_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < CASES; k++) {
        const bytes b = file_of_case(ctx, k);
        for (size_t size = 1; size < b.size; size++)
            assert_refused(ctx, b.at, size);
        unsigned char *longer = take(b.size + 8);
        memcpy(longer, b.at, b.size);
        for (size_t extra = 1; extra <= 8; extra++)
            assert_refused(ctx, longer, b.size + extra);
        free(longer);
        free(b.at);
    }
    close_clean(ctx);
}

static void test_every_changed_byte_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < CASES; k++) {
        const bytes b = file_of_case(ctx, k);
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 31);
        for (size_t i = 0; i < b.size; i++)
            for (int more = 0; more < 2; more++) { /* one bit, then any */
                const int change = more ? (int)(1 + mc_rng_below(&rng, 255)) : 1 << i % 8;
                b.at[i] = (unsigned char)(b.at[i] ^ change);
                assert_refused(ctx, b.at, b.size);
                b.at[i] = (unsigned char)(b.at[i] ^ change);
            }
        mercer_model *model = NULL;
        assert_ok(ctx, load_bytes(ctx, b.at, b.size, &model));
        mercer_model_free(model);
        free(b.at);
    }
    close_clean(ctx);
}

/* A file with a header of our own choosing and a checksum that is right: what someone with bad intent would write. */
static bytes forge(const char *header, const void *arrays, size_t arrays_size) {
    const size_t length = strlen(header);
    bytes b = {.at = take(8 + length + arrays_size), .size = 8 + length + arrays_size};
    for (int i = 0; i < 8; i++)
        b.at[i] = (unsigned char)(length >> 8 * i);
    memcpy(b.at + 8, header, length);
    if (arrays_size)
        memcpy(b.at + 8 + length, arrays, arrays_size);
    mc_crc64 crc;
    mc_crc64_open(&crc);
    mc_crc64_add(&crc, b.at, b.size);
    char digits[17];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)mc_crc64_value(&crc));
    if (length > MC_CHECKSUM_PLACE + 16)
        memcpy(b.at + 8 + MC_CHECKSUM_PLACE, digits, 16);
    return b;
}

/* The header of a real model with one text replaced by another, and the arrays as they were; the sum is made right
 * again. */
static bytes forge_from(bytes original, const char *old, const char *new) {
    size_t length = 0;
    for (int i = 0; i < 8; i++)
        length |= (size_t)original.at[i] << 8 * i;
    char *header = take(length + strlen(new) + 1);
    memcpy(header, original.at + 8, length);
    memset(header + MC_CHECKSUM_PLACE, '0', 16);
    char *at = strstr(header, old);
    if (!at) {
        print_error("'%s' is not in the header\n", old);
        abort();
    }
    memmove(at + strlen(new), at + strlen(old), strlen(at + strlen(old)) + 1);
    memcpy(at, new, strlen(new));
    const bytes b = forge(header, original.at + 8 + length, original.size - 8 - length);
    free(header);
    return b;
}

static void test_lies_with_a_right_checksum_are_refused(void **state) {
    (void)state;
    static const struct {
        int k;
        const char *old, *new, *why;
    } lies[] = {
        {0, "\"kernel\":\"", "\"kernel\":\"?", "kernel"},
        {0, "0.5*rbf(gamma=0.3)[1:2]", "0.5*rbf(gamma=0.3)[1:9]", "suit"},
        {0, "0.5*rbf(gamma=0.3)[1:2]", "form(\\\"/etc/passwd\\\")", "fixed"},
        {0, "0.5*rbf(gamma=0.3)[1:2]", "rbf(gamma=1..2)", "fixed"},
        {0, "0.5*rbf(gamma=0.3)[1:2]", "rbf", "fixed"},
        {0, "\"outputs\":\"2\"", "\"outputs\":\"0\"", "outputs"},
        {0, "\"outputs\":\"2\"", "\"outputs\":\"-2\"", "not a number"},
        {0, "\"outputs\":\"2\"", "\"outputs\":\"99999999999999999999\"", "not a number"},
        {0, "\"outputs\":\"2\"", "\"outputs\":2", "not a text"},
        {0, "\"outputs\":\"2\"", "\"outputs\":\"3\"", "alpha"},
        {0, "\"columns\":\"3\"", "\"columns\":\"9223372036854775807\"", "columns"},
        {0, "\"centres\":\"7\"", "\"centres\":\"4611686018427387904\"", "not a count"},
        {0, "\"centres\":\"7\"", "\"centres\":\"0\"", "0 centres"},
        {0, "\"stored\":\"21\"", "\"stored\":\"22\"", "store"},
        {0, "\"layout\":\"dense\"", "\"layout\":\"sparse\"", "row_start"},
        {0, "\"layout\":\"dense\"", "\"layout\":\"round\"", "layout"},
        {0, "\"precision\":\"F64\"", "\"precision\":\"F32\"", "centres"},
        {0, "\"scale\":\"standard\"", "\"scale\":\"none\"", "array"},
        {0, "\"scale\":\"standard\"", "\"scale\":\"auto\"", "scale"},
        {0, "\"shape\":[7,2]", "\"shape\":[2,7]", "alpha"},
        {0, "\"data_offsets\":[0,112]", "\"data_offsets\":[8,120]", "alpha"},
        {0, "\"data_offsets\":[0,112]", "\"data_offsets\":[0,-112]", "alpha"},
        {0, "\"lambda\":\"0.1\"", "\"lambda\":\"0.1x\"", "lambda"},
        {0, "\"lambda\":", "\"lambdo\":", "lambda"},
        {0, "\"names\":\"[\\\"age\\\",", "\"names\":\"[", "names"},
        {0, "\"names\":\"[\\\"age\\\"", "\"names\":\"[17", "names"},
        {0, "\"names\":\"[", "\"names\":\"(", "names"},
        {0, "{\\\"kind\\\":\\\"number\\\"", "{\\\"kind\\\":\\\"levels\\\"", "schema"},
        {0, "{\\\"kind\\\":\\\"number\\\"", "{\\\"kind\\\":\\\"target\\\"", "schema"},
        {0, "{\\\"kind\\\":\\\"number\\\"", "{\\\"kind\\\":\\\"colour\\\"", "schema"},
        {0, "\"schema\":", "\"schemo\":", "schema"},
        {0, "\"format\":\"mercer/1\"", "\"format\":\"mercer/3\"", "mercer/3"},
        {0, "\"format\":\"mercer/1\"", "\"format\":\"mercer/1.5.7-beta\"", "1.5.7-beta"},
        {0, "\"__metadata__\"", "\"__metadat__\"", "not a model"},
        {0, "\"intercept\":{", "\"extra\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},\"intercept\":{",
         "no model has"},
        {0, "\"intercept\":{", "\"alpha\":{", "duplicate"},
        {1, "\"labels\":\"[\\\"no\\\",", "\"labels\":\"[", "labels"},
        {1, "\"labels\":\"[\\\"no\\\"", "\"labels\":\"[\\\"n\\u0000\\\"", "byte"},
        {1, "\"stored\":\"6\"", "\"stored\":\"7\"", "centres"},
        {1, "\"columns\":\"5\"", "\"columns\":\"4\"", "centres"},
    };
    mercer_ctx *ctx = open_ctx(1);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        const bytes honest = file_of_case(ctx, lies[i].k), forged = forge_from(honest, lies[i].old, lies[i].new);
        mercer_model *model = NULL;
        const mercer_status status = load_bytes(ctx, forged.at, forged.size, &model);
        if (status != MERCER_FORMAT || !strstr(mercer_message(ctx), lies[i].why))
            fail_msg("'%s' -> '%s': wanted '%s', got %s: %s", lies[i].old, lies[i].new, lies[i].why,
                     mercer_status_name(status), mercer_message(ctx));
        free(honest.at);
        free(forged.at);
    }
    close_clean(ctx);
}

/* Arrays that lie, under a right checksum: not finite, rows out of order, columns out of range. */
static void test_hostile_arrays_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < 2; k++) {
        const bytes b = file_of_case(ctx, k);
        size_t length = 0;
        for (int i = 0; i < 8; i++)
            length |= (size_t)b.at[i] << 8 * i;
        for (size_t at = 8 + length; at + 4 <= b.size; at += 4) {
            bytes wrong = {.at = take(b.size), .size = b.size};
            memcpy(wrong.at, b.at, b.size);
            memset(wrong.at + at, 0xff, 4); /* a NaN, or -1, in most places */
            char *header = take(length + 1);
            memcpy(header, b.at + 8, length);
            memset(header + MC_CHECKSUM_PLACE, '0', 16);
            const bytes forged = forge(header, wrong.at + 8 + length, b.size - 8 - length);
            mercer_model *model = NULL;
            const mercer_status status = load_bytes(ctx, forged.at, forged.size, &model);
            assert_true(status == MERCER_OK || status == MERCER_FORMAT);
            const bool high_half = k == 0 && at % 8 == 4; /* of a double: the exponent */
            if (high_half)
                assert_int_equal(status, MERCER_FORMAT);
            mercer_model_free(model);
            free(wrong.at);
            free(header);
            free(forged.at);
        }
        free(b.at);
    }
    close_clean(ctx);
}

static void test_nonsense_is_refused_without_taking_memory(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 1 << 16; /* the loader itself needs about 20 KB for its sum */
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    static const char *const headers[] = {
        "{}",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        MC_FORMAT_BEGIN "1" MC_FORMAT_MIDDLE "0000000000000000\"}",
        MC_FORMAT_BEGIN "1" MC_FORMAT_MIDDLE "0000000000000000\"}}",
        MC_FORMAT_BEGIN "1\",\"checksums\":\"0000000000000000\"}}        ",
        MC_FORMAT_BEGIN "12345678901234567890\"}}        ",
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        const bytes b = forge(headers[i], NULL, 0);
        assert_refused(ctx, b.at, b.size);
        free(b.at);
    }
    unsigned char large[16] = {0xff, 0xff, 0xff, 0x04, 0, 0, 0, 0, '{'};
    assert_refused(ctx, large, sizeof large);
    assert_refused(ctx, (const unsigned char *)"hello, world: this is a text file", 33);
    mercer_model *model = NULL;
    assert_fails(ctx, mercer_model_load(ctx, "/nonexistent/model", &model), MERCER_IO, "No such file");
    assert_fails(ctx, mercer_model_load(ctx, "/", &model), MERCER_IO, "/");
    close_clean(ctx);
}

static void test_a_sum_is_that_of_the_xz_format(void **state) {
    (void)state;
    mc_crc64 crc;
    mc_crc64_open(&crc);
    mc_crc64_add(&crc, "123456789", 9);
    assert_true(mc_crc64_value(&crc) == 0x995DC9BBDF1939FAu);
    mc_crc64_open(&crc);
    for (int i = 0; i < 9; i++)
        mc_crc64_add(&crc, &"123456789"[i], 1);
    assert_true(mc_crc64_value(&crc) == 0x995DC9BBDF1939FAu);
}

/* ---- Memory ---- */

static mercer_status save_load_predict_score(mercer_ctx *ctx, void *arg) {
    const bytes *b = arg;
    mercer_model *model = NULL;
    mercer_data *data = NULL;
    mercer_scores scores = {.size = sizeof scores};
    static const float values[10] = {1, 0, 0, 2, 0, 0, 0, 3, 0, 1};
    static const char *const labels[] = {"yes", "no"};
    const mercer_table table = {
        .size = sizeof table, .n = 2, .d = 5, .dtype = MERCER_F32, .values = values, .labels = labels};
    double out[6];
    FILE *file = fmemopen(b->at, b->size, "rb");
    mercer_status status = mc_model_load(ctx, file, "memory", (mc_users){0}, &model);
    fclose(file);
    if (!status)
        status = mercer_data_make(ctx, &table, &data);
    for (int k = 0; k < 2 && !status; k++) /* the second time with what the first has packed, where it packs */
        status = mercer_predict(ctx, model, data, out);
    if (!status)
        status = mercer_score(ctx, model, data, &scores);
    if (!status)
        status = mercer_model_save(ctx, model, path_of("again.mercer"));
    mercer_model_free(model);
    mercer_data_free(data);
    return status;
}

static void test_everything_survives_failing_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    bytes b = file_of_case(ctx, 1);
    close_clean(ctx);
    assert_survives_failing_memory(save_load_predict_score, &b);
    free(b.at);
}

/* ---- Packed centres that stay with the model ---- */

static mercer_model *three_classes(mercer_ctx *ctx, const sheet *s) {
    static const char *const names[] = {"red", "green", "blue"};
    const char *labels[64];
    for (int64_t i = 0; i < s->n; i++)
        labels[i] = names[s->x[i * s->d] > 0.4 ? 0 : s->x[i * s->d + 1] > 0 ? 1 : 2];
    const mercer_table table = {
        .size = sizeof table, .n = s->n, .d = s->d, .dtype = MERCER_F64, .values = s->x, .labels = labels};
    mercer_data *data = NULL;
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=0.4)");
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_fit(ctx, "svc", NULL, kernel, data, &model));
    mercer_data_free(data);
    mercer_kernel_free(kernel);
    return model;
}

static void decide_row(mercer_ctx *ctx, const mercer_model *model, const sheet *s, int64_t row, double *out) {
    const mercer_table table = {
        .size = sizeof table, .n = 1, .d = s->d, .dtype = MERCER_F64, .values = s->x + row * s->d};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_decide(ctx, model, data, out));
    mercer_data_free(data);
}

static void test_rows_one_by_one_have_the_bits_of_a_fresh_model(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2), *other = open_isa("portable", 1);
    const sheet s = random_sheet(60, 1, 35);
    mercer_model *model = three_classes(ctx, &s);
    assert_ok(ctx, mercer_model_save(ctx, model, path_of("a.mercer")));
    size_t used = 0;
    for (int64_t i = 0; i < 8; i++) {
        mercer_ctx *mine = i == 5 ? other : ctx; /* tiles of another instruction set cannot use what is packed */
        mercer_model *fresh = NULL;
        double kept[3], anew[3];
        decide_row(mine, model, &s, i, kept);
        if (i == 1)
            used = mercer_memory_used(ctx);
        assert_true(i < 1 || mercer_memory_used(ctx) == used); /* packed once */
        assert_ok(mine, mercer_model_load(mine, path_of("a.mercer"), &fresh));
        decide_row(mine, fresh, &s, i, anew);
        assert_memory_equal(kept, anew, sizeof kept);
        mercer_model_free(fresh);
    }
    mercer_model_free(model);
    close_clean(other);
    close_clean(ctx);
}

/* The rows of a sheet over and over: more than are decided at once. */
static void test_many_rows_are_decided_as_few(void **state) {
    (void)state;
    enum { MANY = 17000 };
    mercer_ctx *ctx = open_ctx(2);
    const sheet s = random_sheet(60, 1, 36);
    mercer_model *model = three_classes(ctx, &s);
    double *x = take(MANY * (size_t)s.d * sizeof *x), *out = take(MANY * 3 * sizeof *out), one[3];
    for (int64_t i = 0; i < MANY * s.d; i++)
        x[i] = s.x[i % (60 * s.d)];
    const mercer_table table = {.size = sizeof table, .n = MANY, .d = s.d, .dtype = MERCER_F64, .values = x};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_decide(ctx, model, data, out));
    for (int64_t i = 0; i < MANY; i += 61) {
        decide_row(ctx, model, &s, i % 60, one);
        for (int k = 0; k < 3; k++)
            assert_close(out[3 * i + k], one[k], 1e-12);
    }
    mercer_data_free(data);
    free(x);
    free(out);
    mercer_model_free(model);
    close_clean(ctx);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"a.mercer", "b.mercer", "case.mercer", "again.mercer"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_loaded_model_is_the_saved_one),
        cmocka_unit_test(test_the_file_does_not_depend_on_the_threads),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_every_changed_byte_is_refused),
        cmocka_unit_test(test_lies_with_a_right_checksum_are_refused),
        cmocka_unit_test(test_hostile_arrays_are_refused),
        cmocka_unit_test(test_nonsense_is_refused_without_taking_memory),
        cmocka_unit_test(test_a_sum_is_that_of_the_xz_format),
        cmocka_unit_test(test_everything_survives_failing_memory),
        cmocka_unit_test(test_rows_one_by_one_have_the_bits_of_a_fresh_model),
        cmocka_unit_test(test_many_rows_are_decided_as_few),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
