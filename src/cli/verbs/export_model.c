/* export_model.c: mercer export MODEL --to FORMAT: a model for other programs. */
#include "cli/cli.h"
#include <string.h>

static const option options[] = {
    {"to", 0, "FORMAT", "libsvm|c|c-float|onnx|onnx-double: what to write"},
    {"output", 'o', "FILE", "the file to write (default: standard output)"},
    {0},
};

static int write_exported_model(session *s, const mercer_model *model, const char *format, const char *path) {
    TRY_CTX(s, mercer_model_export(s->ctx, model, format, path));
    if (s->json) {
        json_t *object = json_object();
        json_put(object, "format", json_text(format));
        json_put(object, "output", json_text(path));
        return json_finish(s, object);
    }
    if (strcmp(path, "-") != 0)
        say_fact(s, "exported", "%s as %s", path, format);
    return EXIT_DONE;
}

static int run_export(session *s) {
    const char *format = args_text(&s->args, "to"), *path = args_text(&s->args, "output");
    if (!format)
        return print_error("export needs --to libsvm, c, c-float, onnx or onnx-double");
    if (!path && strncmp(format, "onnx", 4) == 0)
        return print_error("an ONNX graph is no text; name a file with -o FILE");
    if (s->json && (!path || strcmp(path, "-") == 0))
        return print_error("--json and the exported model cannot share standard output; name a file with -o");
    mercer_model *model = NULL;
    TRY(input_model(s, s->args.operand[0], &model));
    const int code = write_exported_model(s, model, format, path ? path : "-");
    mercer_model_free(model);
    return code;
}

const verb verb_export = {
    .name = "export",
    .summary = "export a model to LIBSVM, C or ONNX",
    .usage = "MODEL --to {libsvm,c,c-float,onnx,onnx-double} [-o FILE] [options]",
    .notes =
        "libsvm: the text file that svm-predict and every other reader of LIBSVM's models takes, with 17 digits. The "
        "kernel must be one LIBSVM has\n"
        "(linear, poly, rbf, tanh), the columns unscaled (fit with --scale none) and the classes whole numbers.\n"
        "c: one file of C99 that needs nothing but the C library: double NAME_predict(const double *x) and more, NAME "
        "that of the\n"
        "file; c-float keeps the rows as float. Every machine, and every kernel that follows from the columns.\n"
        "onnx: a graph for onnxruntime and others; raw rows go in as double (X), label, scores and probabilities or "
        "prediction come\n"
        "out. Support vector machines with LIBSVM's kernels use the operators of ai.onnx.ml, which hold floats; "
        "everything else,\n"
        "and with onnx-double they too, standard operators in double. Every kernel that follows from the columns.\n"
        "Model files of LIBSVM can be given to predict, score and show in place of Mercer's own.\n\n"
        "  mercer fit moons.csv -m svc --scale none -o moons.mercer && mercer export moons.mercer --to libsvm -o "
        "moons.model\n"
        "  mercer export houses.mercer --to c -o houses.c && cc -std=c99 -O2 -c houses.c\n"
        "  mercer export houses.mercer --to onnx -o houses.onnx",
    .least = 1,
    .most = 1,
    .tables = {options, common_options},
    .run = run_export,
};
