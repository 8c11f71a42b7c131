/* export.c: mercer export MODEL --to FORMAT: a model for other programs. */
#include "cli.h"
#include <string.h>

static const option options[] = {
    {"to", 0, "FORMAT", "libsvm: a model file of LIBSVM; c: one file of C99, c-float: with smaller tables"},
    {"output", 'o', "FILE", "the file to write (default: standard output)"},
    {0},
};

static int export(session *s, const mercer_model *model, const char *format, const char *path) {
    TRY_CTX(s, mercer_model_export(s->ctx, model, format, path));
    if (s->json) {
        json_t *object = json_object();
        json_put(object, "format", json_text(format));
        json_put(object, "output", json_text(path));
        return json_finish(s, object);
    }
    if (strcmp(path, "-") != 0)
        say(s, "exported", "%s as %s", path, format);
    return EXIT_DONE;
}

static int run_export(session *s) {
    const char *format = args_text(&s->args, "to"), *path = args_text(&s->args, "output");
    if (!format)
        return complain("export needs --to libsvm, --to c or --to c-float");
    if (s->json && (!path || strcmp(path, "-") == 0))
        return complain("--json and the exported model cannot share standard output; name a file with -o");
    mercer_model *model = NULL;
    TRY(input_model(s, s->args.operand[0], &model));
    const int code = export(s, model, format, path ? path : "-");
    mercer_model_free(model);
    return code;
}

const verb verb_export = {
    .name = "export",
    .summary = "write a model for other programs",
    .usage = "MODEL --to {libsvm,c,c-float} [-o FILE] [options]",
    .notes = "libsvm: the text file that svm-predict and every other reader of LIBSVM's models takes, with 17 digits. The "
             "kernel must be one LIBSVM has\n"
             "(linear, poly, rbf, tanh), the columns unscaled (fit with --scale none) and the classes whole numbers.\n"
             "c: one file of C99 that needs nothing but the C library: double NAME_predict(const double *x) and more, NAME that of the\n"
             "file; c-float keeps the rows as float. Every kernel that follows from the columns; machines that are sums over rows.\n"
             "Model files of LIBSVM can be given to predict, score and show in place of Mercer's own.\n\n"
             "  mercer fit moons.csv -m svc --scale none -o moons.mercer && mercer export moons.mercer --to libsvm -o moons.model\n"
             "  mercer export houses.mercer --to c -o houses.c && cc -std=c99 -O2 -c houses.c\n"
             "  mercer export houses.mercer --to c-float -o small.c",
    .least = 1,
    .most = 1,
    .tables = {options, common_options},
    .run = run_export,
};
