/* export.c: a model for other programs: the table of formats. */
#include "base/ctx.h"
#include "base/status.h"
#include "model/export/c_source.h"
#include "model/libsvm/libsvm_model.h"
#include "model/export/onnx.h"
#include "model/widen.h"
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

static mercer_status check_onnx(mercer_ctx *ctx, const mercer_model *model) {
    return mc_onnx_check_size(ctx, model, false);
}

static mercer_status check_onnx_double(mercer_ctx *ctx, const mercer_model *model) {
    return mc_onnx_check_size(ctx, model, true);
}

typedef mercer_status checker(mercer_ctx *ctx, const mercer_model *model);
typedef mercer_status writer(mercer_ctx *ctx, const mercer_model *model, const char *path);

static const struct {
    const char *name;
    writer *write;
    bool rows;      /* rows are written whole, with every column */
    checker *check; /* what is refused before they are made so; NULL: nothing */
} formats[] = {{"libsvm", mc_libsvm_model_write, false, NULL},
               {"c", write_c, true, NULL},
               {"c-float", write_c_float, true, NULL},
               {"onnx", write_onnx, true, check_onnx},
               {"onnx-double", write_onnx_double, true, check_onnx_double}};

static mercer_status write_rows(mercer_ctx *ctx, const mercer_model *model, writer *write, const char *path) {
    mc_matched all;
    MC_TRY(mc_model_spread(ctx, model, &all));
    const mercer_status status = write(ctx, all.model, path);
    mc_matched_free(&all);
    return status;
}

mercer_status mercer_model_export(mercer_ctx *ctx, const mercer_model *model, const char *format, const char *path) {
    MC_NEED(ctx, model, format, path);
    mc_begin_call(ctx);
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (strcmp(format, formats[k].name) == 0) {
            MC_TRY(formats[k].check ? formats[k].check(ctx, model) : MERCER_OK);
            return formats[k].rows ? write_rows(ctx, model, formats[k].write, path)
                                   : formats[k].write(ctx, model, path);
        }
    return mc_fail(ctx, MERCER_INVALID, "export: the format must be libsvm, c, c-float, onnx or onnx-double, got '%s'",
                   format);
}
