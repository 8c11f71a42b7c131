/* predict_alone MODEL FILE: load, read, predict and print. alone.py looks at what the linker took into it. */
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

static mercer_status predict(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data) {
    const int64_t cells = mercer_data_rows(data) * mercer_model_outputs(model);
    double *out = calloc((size_t)cells, sizeof *out);
    const mercer_status status = out ? mercer_predict(ctx, model, data, out) : MERCER_MEMORY;
    for (int64_t i = 0; i < cells && !status; i++)
        printf("%.17g\n", out[i]);
    free(out);
    return status;
}

int main(int count, char **arguments) {
    mercer_ctx *ctx = NULL;
    mercer_model *model = NULL;
    mercer_data *data = NULL;
    if (count != 3)
        return 2;
    mercer_status status = mercer_open(NULL, &ctx);
    if (!status)
        status = mercer_model_load(ctx, arguments[1], &model);
    if (!status)
        status = mercer_model_read(ctx, model, arguments[2], NULL, &data);
    if (!status)
        status = predict(ctx, model, data);
    if (status)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    mercer_data_free(data);
    mercer_model_free(model);
    mercer_close(ctx);
    return status != MERCER_OK;
}
