/* fuzz_model.c: any bytes as a model file. The sum is put right first, or the fuzzer would never get behind it; a model
   that loads is used. */
#include "model/file/crc64.h"
#include "model/file/load.h"
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_sum_right(unsigned char *bytes, size_t size) {
    if (size < 8 + MC_CHECKSUM_PLACE + MC_CHECKSUM_DIGITS)
        return;
    char digits[MC_CHECKSUM_DIGITS + 1];
    mc_crc64 crc;
    memset(bytes + 8 + MC_CHECKSUM_PLACE, '0', MC_CHECKSUM_DIGITS);
    mc_crc64_open(&crc);
    mc_crc64_add(&crc, bytes, size);
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)mc_crc64_value(&crc));
    memcpy(bytes + 8 + MC_CHECKSUM_PLACE, digits, MC_CHECKSUM_DIGITS);
}

/* One row of zeros through the model, and the model to a file that keeps nothing. */
static void use(mercer_ctx *ctx, const mercer_model *model) {
    const int64_t d = mercer_model_columns(model), outputs = mercer_model_outputs(model);
    if (d > 100000 || outputs > 100000)
        return;
    double *x = calloc((size_t)d, sizeof *x), *out = calloc((size_t)outputs, sizeof *out);
    const mercer_table table = {.size = sizeof table, .n = 1, .d = d, .dtype = MERCER_F64, .values = x};
    mercer_data *row = NULL;
    if (x && out && !mercer_data_make(ctx, &table, &row))
        (void)mercer_predict(ctx, model, row, out);
    (void)mercer_model_save(ctx, model, "/dev/null");
    mercer_data_free(row);
    free(x);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *bytes = malloc(size + 1);
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 64 << 20;
    options.threads = 1;
    mercer_ctx *ctx = NULL;
    mercer_model *model = NULL;
    if (!bytes || mercer_open(&options, &ctx))
        abort();
    memcpy(bytes, data, size);
    put_sum_right(bytes, size);
    FILE *file = size ? fmemopen(bytes, size, "rb") : NULL;
    if (file) {
        if (!mc_model_load(ctx, file, "input", (mc_users){0}, &model))
            use(ctx, model);
        fclose(file);
    }
    mercer_model_free(model);
    mercer_close(ctx);
    free(bytes);
    return 0;
}
