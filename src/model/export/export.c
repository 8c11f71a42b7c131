/* export.c: a model for other programs: the table of formats. */
#include "base/ctx.h"
#include "base/status.h"
#include "model/export/c_source.h"
#include "model/libsvm/libsvm_model.h"
#include "model/export/onnx.h"
#include <string.h>

static mercer_status write_c(mercer_ctx *ctx, const mercer_model *model, const char *path) {
    return mc_c_source_write(ctx, model, false, path);
}

static mercer_status write_c_float(mercer_ctx *ctx, const mercer_model *model, const char *path) {
    return mc_c_source_write(ctx, model, true, path);
}

static mercer_status write_onnx(mercer_ctx *ctx, const mercer_model *model, const char *path) {
    return mc_onnx_write(ctx, model, false, path);
}

static mercer_status write_onnx_double(mercer_ctx *ctx, const mercer_model *model, const char *path) {
    return mc_onnx_write(ctx, model, true, path);
}

static const struct {
    const char *name;
    mercer_status (*write)(mercer_ctx *ctx, const mercer_model *model, const char *path);
} formats[] = {{"libsvm", mc_libsvm_model_write},
               {"c", write_c},
               {"c-float", write_c_float},
               {"onnx", write_onnx},
               {"onnx-double", write_onnx_double}};

mercer_status mercer_model_export(mercer_ctx *ctx, const mercer_model *model, const char *format, const char *path) {
    MC_NEED(ctx, model, format, path);
    mc_begin(ctx);
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (strcmp(format, formats[k].name) == 0)
            return formats[k].write(ctx, model, path);
    return mc_fail(ctx, MERCER_INVALID, "export: the format must be libsvm, c, c-float, onnx or onnx-double, got '%s'",
                   format);
}
