/* plot.c: mercer plot: pictures of models, data and kernels as svg, png or pdf. Each picture is a row of a table; its
   drawing stands in plot_*.c. */
#include "cli/verbs/plot.h"
#include "cli/reports/trace.h"
#include "data/helpers.h"
#include <math.h>
#include <string.h>

static const option options[] = {
    {"output", 'o', "FILE", "the picture: .svg, .png or .pdf"},
    {"kind", 0, "NAME", "which picture (default: what suits the operands; see below)"},
    {"kernel", 'k', "KERNEL", "of gram, spectrum and profile without a model (default rbf)"},
    {"columns", 0, "A,B",
     "regions: the two columns of the plane; curve: the column along it; scatter: two components, pc1,pc3"},
    {"against", 0, "seconds|steps", "convergence: what runs along the axis (default seconds)"},
    {"size", 0, "WxH", "in points, 72 to an inch (default 560x420, less wide for matrices)"},
    {0},
};

enum { MODEL = 1, DATA = 2, COLUMNS = 4, TRACE = 8 };
typedef struct kind {
    const char *name, *help;
    int needs;    /* and whether it takes --columns; a trace stands alone */
    double width; /* in points, unless --size says otherwise */
    int (*draw)(session *s, picture *p);
} kind;

static const kind kinds[] = {
    {"regions", "classes over two columns, or two principal components", MODEL | DATA | COLUMNS, 560, draw_regions},
    {"curve", "the function along one column, with its uncertainty", MODEL | DATA | COLUMNS, 560, draw_curve},
    {"residuals", "true value less prediction, against the prediction", MODEL | DATA, 560, draw_residuals},
    {"confusion", "true classes against predicted ones", MODEL | DATA, 440, draw_confusion},
    {"calibration", "predicted probabilities against observed frequencies (calibration)", MODEL | DATA, 440,
     draw_calibration},
    {"scatter", "scores on two principal components", MODEL | DATA | COLUMNS, 560, draw_scatter},
    {"surface", "the scores of the search that chose the model", MODEL, 560, draw_surface},
    {"learning-curve", "the error against the number of training rows", MODEL | DATA, 560, draw_learning_curve},
    {"gram", "the Gram matrix as a heat map, its rows ordered by class or target", DATA, 520, draw_gram},
    {"spectrum", "eigenvalues of the Gram matrix", DATA, 560, draw_spectrum},
    {"profile", "the kernel as a function of the distance", 0, 560, draw_profile},
    {"convergence", "objective or residual of the solver step by step, from a file of fit --trace", TRACE, 560,
     draw_convergence},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* What one would want to see first. */
static const char *default_kind(const picture *p) {
    if (p->trace_path)
        return "convergence";
    if (!p->model)
        return p->data ? "gram" : "profile";
    if (mercer_model_report(p->model)->variance > 0)
        return "scatter";
    if (mercer_model_classes(p->model) > 1)
        return p->d > 1 ? "regions" : "confusion";
    return p->d == 1 ? "curve" : "residuals";
}

static const kind *kind_named(const char *name) {
    mc_suggestion best = {.text = name};
    char list[200] = "";
    for (int k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
        mc_suggestion_try(&best, kinds[k].name);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "", kinds[k].name);
    }
    if (best.name)
        print_error("--kind: there is no picture '%s'; did you mean '%s'?", name, best.name);
    else
        print_error("--kind: there is no picture '%s'; there is: %s", name, list);
    return NULL;
}

/* A model knows its target; and pca, whose rows may have classes to be shown, looks for them. */
static int check_options(const session *s, const kind *k, const picture *p) {
    static const char *const of_target[] = {"target", "no-target", "target-kind"};
    const bool known = p->model && !p->labelled;
    for (int i = 0; known && i < 3; i++)
        if (args_text(&s->args, of_target[i]))
            return print_error("--%s has no meaning beside a model, which knows its target", of_target[i]);
    if (args_text(&s->args, "columns") && !(k->needs & COLUMNS))
        return print_error("--columns has no meaning for %s; regions, curve and scatter take it", k->name);
    if (args_text(&s->args, "against") && !(k->needs & TRACE))
        return print_error("--against has no meaning for %s; convergence takes it", k->name);
    return EXIT_DONE;
}

static int check_needs(const kind *k, const picture *p) {
    if ((k->needs & TRACE) && !p->trace_path)
        return print_error("%s is drawn from a trace: mercer fit DATA --trace steps.csv, then mercer plot steps.csv",
                           k->name);
    if (p->trace_path && !(k->needs & TRACE))
        return print_error("'%s' is the trace of a fit, which has one picture: convergence", p->trace_path);
    if (p->trace_path && (p->model || p->data))
        return print_error("'%s' is the trace of a fit: its picture needs nothing else", p->trace_path);
    if ((k->needs & MODEL) && !p->model)
        return print_error("%s is a picture of a model: mercer plot MODEL DATA --kind %s", k->name, k->name);
    const char *scale = p->model ? mercer_model_report(p->model)->scale : "none";
    if (!(k->needs & MODEL) && p->model && scale && strcmp(scale, "none") != 0)
        return print_error(
            "the model's kernel belongs to columns scaled by '%s'; %s takes them as they stand: fit with "
            "--scale none, or give -k",
            scale, k->name);
    if ((k->needs & DATA) && !p->data)
        return print_error("%s needs rows: mercer plot %sDATA --kind %s", k->name, p->model ? "MODEL " : "", k->name);
    return EXIT_DONE;
}

/* ---- Operands ---- */

int picture_open(session *s, picture *p) {
    for (int i = 0; i < s->args.operands; i++) {
        TRY(files_keep(s, i));
        const char *path = s->args.operand[i];
        if (is_model(path) && p->model_path)
            return print_error("'%s' and '%s' are both models; one picture shows one", p->model_path, path);
        if (is_model(path))
            p->model_path = path;
        else if (is_trace(path))
            p->trace_path = path;
        else if (p->data_path)
            return print_error("'%s' and '%s' are both data; give a model and its rows", p->data_path, path);
        else
            p->data_path = path;
    }
    if (p->model_path)
        TRY(input_model(s, p->model_path, &p->model));
    if (p->data_path)
        TRY(p->model ? input_data_for(s, p->model, p->data_path, MERCER_TARGET_AUTO, &p->data)
                     : input_data(s, NULL, p->data_path, NULL, MERCER_TARGET_AUTO, &p->data));
    if (p->model && p->data && mercer_model_report(p->model)->variance > 0) /* pca looks at no target; a picture does */
        TRY(input_data(s, NULL, p->data_path, NULL, MERCER_TARGET_AUTO, &p->labelled));
    p->n = p->data ? mercer_data_rows(p->data) : 0;
    p->d = p->data ? mercer_data_columns(p->data) : 0;
    return EXIT_DONE;
}

static int read_kernel(session *s, picture *p) {
    if (p->trace_path)
        return EXIT_DONE;
    p->expression = args_text(&s->args, "kernel");
    if (p->model && p->expression)
        return print_error("-k %s: the kernel is the model's, %s", p->expression,
                           mercer_kernel_text(mercer_model_kernel(p->model)));
    if (p->model) {
        TRY_CTX(s, mercer_kernel_parse(s->ctx, mercer_kernel_text(mercer_model_kernel(p->model)), &p->own));
        p->kernel = p->own;
        return EXIT_DONE;
    }
    mercer_kernel *open = NULL;
    TRY(input_kernel(s, p->expression ? p->expression : "rbf", &open));
    if (!p->data) {
        p->kernel = p->own = open;
        return EXIT_DONE;
    }
    const mercer_status status = mercer_kernel_bind(s->ctx, open, p->data, &p->own);
    mercer_kernel_free(open);
    p->kernel = p->own;
    return status ? session_fail(s, status) : EXIT_DONE;
}

/* ---- The file ---- */

static const char *format_of(const char *path) {
    static const char *const formats[] = {"svg", "png", "pdf"};
    const char *dot = strrchr(path, '.');
    for (int k = 0; dot && k < 3; k++)
        if (strcmp(dot + 1, formats[k]) == 0)
            return formats[k];
    return NULL;
}

static int read_size(session *s, double *width, double *height) {
    const char *wish = args_text(&s->args, "size");
    char rest;
    if (wish
        && (sscanf(wish, "%lfx%lf%c", width, height, &rest) != 2
            || !(*width >= 120 && *width <= 4000 && *height >= 120 && *height <= 4000)))
        return print_error("--size %s: give width and height in points from 120 to 4000, as in 560x420", wish);
    return EXIT_DONE;
}

static int report_picture(session *s, const picture *p, const kind *k, const char *path) {
    if (!s->json) {
        say_fact(s, "picture", "%s: %s", path, k->help);
        return EXIT_DONE;
    }
    json_t *object = json_object(), *words = json_array();
    for (int64_t i = 0; i < canvas_texts(p->on); i++)
        json_array_append_new(words, json_text(canvas_text(p->on, i)));
    json_put(object, "kind", json_text(k->name));
    json_put(object, "picture", json_text(path));
    json_put(object, "marks", json_integer(canvas_marks(p->on)));
    json_put(object, "words", words);
    return json_finish(s, object);
}

static int write_picture(session *s, picture *p, const kind *k, const char *path) {
    size_t size = 0;
    const void *bytes = canvas_finish(p->on, &size);
    if (!bytes)
        return session_fail(s, MERCER_MEMORY);
    TRY_CTX(s, mc_file_write(s->ctx, path, bytes, size));
    return report_picture(s, p, k, path);
}

static int draw_picture(session *s, picture *p, const char *path) {
    double height = 420;
    const char *name = args_text(&s->args, "kind");
    const kind *k = kind_named(name ? name : default_kind(p));
    if (!k)
        return EXIT_BAD;
    double width = k->width;
    TRY(check_options(s, k, p));
    TRY(check_needs(k, p));
    TRY(read_kernel(s, p));
    TRY(read_size(s, &width, &height));
    p->on = canvas_open(format_of(path), width, height);
    if (!p->on)
        return session_fail(s, MERCER_MEMORY);
    TRY(k->draw(s, p));
    return write_picture(s, p, k, path);
}

void picture_close(picture *p) {
    canvas_close(p->on);
    mercer_kernel_free(p->own);
    mercer_data_free(p->data);
    mercer_data_free(p->labelled);
    mercer_model_free(p->model);
}

int picture_svg(session *s, picture *p, const char *name, const char **caption, const void **bytes, size_t *size) {
    const kind *k = kind_named(name);
    if (!k)
        return EXIT_BAD;
    canvas_close(p->on);
    p->on = NULL;
    if (!p->own)
        TRY(read_kernel(s, p));
    p->on = canvas_open("svg", k->width, 420);
    if (!p->on)
        return session_fail(s, MERCER_MEMORY);
    TRY(k->draw(s, p));
    *caption = k->help;
    *bytes = canvas_finish(p->on, size);
    return *bytes ? EXIT_DONE : session_fail(s, MERCER_MEMORY);
}

static int run_plot(session *s) {
    picture p = {0};
    const char *path = args_text(&s->args, "output");
    if (!path)
        return print_error("plot needs a file to write: -o picture.svg (or .png, .pdf)");
    if (!format_of(path))
        return print_error("-o %s: the name must end in .svg, .png or .pdf", path);
    int code = picture_open(s, &p);
    THEN(code, draw_picture(s, &p, path));
    picture_close(&p);
    return code;
}

const verb verb_plot = {
    .name = "plot",
    .summary = "a picture of a model, of data or of a kernel",
    .usage = "[MODEL] [DATA] -o FILE.{svg,png,pdf} [--kind NAME]",
    .notes = "Of a model and rows: regions (classes over two columns, or over two principal components; the margin "
             "dashed, support vectors\n"
             "ringed), curve (the function along one column; the band of a Gaussian process), residuals, confusion, "
             "calibration, scatter\n"
             "(scores of pca), learning-curve (the error as more rows are learned from). Of a model alone: surface\n"
             "(the scores of the search that chose it). Of a file of 'mercer fit --trace': convergence. Of rows and\n"
             "a kernel: gram (a heat map, ordered by class), spectrum (eigenvalues). Of a kernel alone: profile.\n\n"
             "  mercer plot flowers.mercer flowers.csv -o regions.svg\n"
             "  mercer plot flowers.csv -k 'rbf(gamma=0.5)' --kind gram -o gram.png\n"
             "  mercer plot -k 'matern(nu=1.5, length_scale=1) + 0.2' -o profile.pdf",
    .least = 0,
    .most = 2,
    .tables = {options, data_options, common_options},
    .computes = true,
    .run = run_plot,
};
