/* fuzz_libsvm_model.c: any bytes as a model file of LIBSVM. A model that is read is used and written back. */
#include "model/libsvm/libsvm_model.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One row of zeros through the model, and the model to a file that keeps nothing. */
static void use(mercer_ctx *ctx, const mercer_model *model) {
    const int64_t d = mercer_model_columns(model), decisions = mercer_model_decisions(model);
    if (d > 100000 || decisions > 100000)
        return;
    double *x = calloc((size_t)d, sizeof *x), *out = calloc((size_t)decisions + 1, sizeof *out);
    const mercer_table table = {.size = sizeof table, .n = 1, .d = d, .dtype = MERCER_F64, .values = x};
    mercer_data *row = NULL;
    if (x && out && !mercer_data_make(ctx, &table, &row))
        (void)mercer_decide(ctx, model, row, out);
    (void)mercer_model_export(ctx, model, "libsvm", "/dev/null");
    mercer_data_free(row);
    free(x);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 64 << 20;
    options.threads = 1;
    mercer_ctx *ctx = NULL;
    mercer_model *model = NULL;
    mc_input input;
    if (mercer_open(&options, &ctx))
        abort();
    if (!mc_input_copy(ctx, "input", data, (int64_t)size, &input)) {
        if (!mc_libsvm_model_read(ctx, &input, &model))
            use(ctx, model);
        mc_input_close(&input);
    }
    mercer_model_free(model);
    mercer_close(ctx);
    return 0;
}
