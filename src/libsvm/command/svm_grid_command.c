/* svm_grid_command.c: mercer-svm-grid: the options, the lines and the file of LIBSVM's grid.py. For C-SVC with a
   kernel of its own every gamma is one search of Mercer over all values of C: K is made once for all folds and
   values. Other machines are cross-validated point by point, and a program named by -svmtrain is run for every
   point, as grid.py does. */
#include "libsvm/command/svm_command.h"
#include "libsvm/class_groups.h"
#include "libsvm/solve_problem.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_POINTS = 1000 };

typedef struct search_axis {
    double begin, end, step;
    bool whole, none; /* written as whole numbers; not searched */
    int count;
    double point[MOST_POINTS];
} search_axis;

typedef struct grid {
    search_axis c, g;
    int folds;
    const char *data, *svmtrain, *gnuplot, *out, *png, *resume;
    char own_out[4096], own_png[4096]; /* the names where none are given */
    bool no_out, no_gnuplot;
    mc_text passed; /* options for -svmtrain */
    svm_training training;
    svm_text text;
    mercer_ctx *ctx;
    double *rate; /* c.count x g.count, NaN: not known */
    FILE *result;
    double best_c, best_g, best_rate;
} grid;

static _Noreturn void print_usage(void) {
    fputs("Usage: mercer-svm-grid [grid_options] [svm_options] dataset\n\n"
          "grid_options :\n"
          "-log2c {begin,end,step | \"null\"} : values of c, 2^begin, 2^(begin+step), ... (default -5,15,2); null: not "
          "searched\n"
          "-log2g {begin,end,step | \"null\"} : values of g likewise (default 3,-15,-2)\n"
          "-v n : n-fold cross-validation (default 5)\n"
          "-svmtrain pathname : run this program for every point instead of searching\n"
          "-gnuplot {pathname | \"null\"} : the program that draws the contours; null: no picture\n"
          "-out {pathname | \"null\"} : the file of results (default dataset.out)\n"
          "-png pathname : the picture (default dataset.png)\n"
          "-resume [pathname] : go on from a file of results (default dataset.out)\n\n"
          "svm_options : those of mercer-svm-train\n",
          stdout);
    exit(EXIT_FAILURE);
}

/* ---- Numbers as Python writes them ---- */

/* The shortest digits that read back: 32.0, 0.0078125, 1e-05. */
static const char *python_number(double value, bool whole, char text[40]) {
    int digits = 1;
    if (whole && value == floor(value)) {
        snprintf(text, 40, "%.0f", value);
        return text;
    }
    do
        snprintf(text, 40, "%.*e", digits - 1, value);
    while (strtod(text, NULL) != value && ++digits <= 17);
    const int exponent = atoi(strchr(text, 'e') + 1);
    if (exponent >= -4 && exponent < 16)
        snprintf(text, 40, "%.*f", digits - 1 - exponent > 1 ? digits - 1 - exponent : 1, value);
    return text;
}

/* ---- Options ---- */

static void read_axis(const char *word, search_axis *axis) {
    char rest;
    axis->none = strcmp(word, "null") == 0;
    axis->whole = false;
    if (!axis->none && sscanf(word, "%lf,%lf,%lf%c", &axis->begin, &axis->end, &axis->step, &rest) != 3)
        svm_command_fail("'%s' is not begin,end,step", word);
}

static void pass_on(grid *s, int taken, char **argv) {
    for (int k = 0; k < taken; k++)
        mc_text_add(&s->passed, "%s ", argv[k]);
}

static const char *word_after(int argc, char **argv) {
    if (argc < 2)
        print_usage();
    return argv[1];
}

/* The words an option takes up. */
static int read_option(grid *s, int argc, char **argv) {
    const char *name = argv[0];
    if (strcmp(name, "-resume") == 0) {
        s->resume = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
        return *s->resume ? 2 : 1;
    }
    if (strcmp(name, "-c") == 0 || strcmp(name, "-g") == 0)
        svm_command_fail("Use -log2c and -log2g.\nTry \"mercer-svm-grid\" for more information.");
    static const char *const names[] = {"-log2c", "-log2g", "-v", "-svmtrain", "-gnuplot", "-out", "-png"};
    size_t k = 0;
    while (k < sizeof names / sizeof *names && strcmp(name, names[k]) != 0)
        k++;
    const char *word = k < sizeof names / sizeof *names ? word_after(argc, argv) : NULL;
    switch (k) {
    case 0: read_axis(word, &s->c); return 2;
    case 1: read_axis(word, &s->g); return 2;
    case 2: s->folds = svm_command_whole(word); return 2;
    case 3: s->svmtrain = word; return 2;
    case 4: s->gnuplot = word; return 2;
    case 5: s->out = word; return 2;
    case 6: s->png = word; return 2;
    default: break;
    }
    const int taken = name[0] == '-' ? svm_training_option(&s->training, argc, argv) : 0;
    if (taken == 0)
        print_usage();
    pass_on(s, taken, argv);
    return taken;
}

static void fill_axis(search_axis *axis) {
    if (axis->none) {
        axis->count = 1;
        axis->point[0] = NAN;
        return;
    }
    if (axis->step == 0)
        svm_command_fail("a step of 0 does not lead from %g to %g", axis->begin, axis->end);
    for (double at = axis->begin; axis->step > 0 ? at <= axis->end : at >= axis->end; at += axis->step) {
        if (axis->count == MOST_POINTS)
            svm_command_fail("more than %d values from %g to %g", MOST_POINTS, axis->begin, axis->end);
        axis->point[axis->count++] = at;
    }
    if (axis->count == 0)
        svm_command_fail("no value from %g to %g by %g", axis->begin, axis->end, axis->step);
}

/* The middle first, then by turns from the halves, each in such an order: few points already tell. */
static void spread_out(double *point, int count) {
    double *left = point, right[MOST_POINTS], out[MOST_POINTS];
    const int mid = count / 2;
    if (count <= 1)
        return;
    memcpy(right, point + mid + 1, (size_t)(count - mid - 1) * sizeof *right);
    out[0] = point[mid];
    spread_out(left, mid);
    spread_out(right, count - mid - 1);
    for (int k = 1, a = 0, b = 0; k < count;) {
        if (a < mid)
            out[k++] = left[a++];
        if (b < count - mid - 1)
            out[k++] = right[b++];
    }
    memcpy(point, out, (size_t)count * sizeof *out);
}

/* ---- The rate of a point ---- */

static double *rate_of(grid *s, int c, int g) {
    return &s->rate[c * s->g.count + g];
}

/* Every C at once, by a search; percent in six digits, as svm-train prints them. */
static mercer_status search_values(grid *s, int g, const mercer_data *data, const char *weights) {
    mercer_svm set = mercer_svm_defaults("svc");
    mercer_tune tune = mercer_tune_defaults();
    struct svm_parameter p = s->training.param;
    mercer_kernel *kernel = NULL;
    mercer_search *search = NULL;
    char *range = NULL;
    mc_text text = mc_text_open(s->ctx);
    mc_text_add(&text, "C={");
    for (int c = 0; c < s->c.count; c++)
        mc_text_add(&text, "%s%.17g", c ? "," : "", s->c.none ? p.C : exp2(s->c.point[c]));
    mc_text_add(&text, "}");
    p.gamma = s->g.none ? p.gamma : exp2(s->g.point[g]);
    set.tolerance = fmin(fmax(p.eps, 1e-12), 1);
    set.scale = "none";
    set.allow_indefinite = true;
    set.class_weight = weights;
    mercer_status status = mc_text_take(&text, &range);
    MC_THEN(status, mc_svm_task_kernel(s->ctx, &p, &kernel));
    tune.kernels = (const mercer_kernel *const *)&kernel;
    tune.kernel_count = 1;
    tune.ranges = (const char *const[]){range, NULL};
    tune.folds = s->folds;
    tune.score = "accuracy";
    MC_THEN(status, mercer_tune_run(s->ctx, "svc", &set, &tune, data, &search));
    for (int64_t k = 0; k < mercer_search_count(search) && !status; k++) {
        const mercer_candidate one = mercer_search_candidate(search, k);
        const char *is = strstr(one.settings, "C=");
        for (int c = 0; is && c < s->c.count; c++)
            if (strtod(is + 2, NULL) == (s->c.none ? p.C : exp2(s->c.point[c])))
                *rate_of(s, c, g) = isnan(*rate_of(s, c, g)) ? 100 * one.score : *rate_of(s, c, g);
    }
    mercer_search_free(search);
    mercer_kernel_free(kernel);
    mc_free(range);
    return status;
}

/* "place=weight,...": factors of C by class. */
static mercer_status weights_text(grid *s, const mc_class_groups *groups, char **out) {
    double *weight = NULL;
    mc_text text = mc_text_open(s->ctx);
    mc_text_add(&text, "%s", "");
    MC_TRY(mc_group_weights(s->ctx, &s->training.param, groups, s->text.problem.l, &weight));
    for (int c = 0; c < groups->classes && weight; c++)
        mc_text_add(&text, "%s%d=%.17g", c ? "," : "", c, weight[groups->row[groups->start[c]]]);
    mc_free(weight);
    return mc_text_take(&text, out);
}

static void search_gamma(grid *s, int g) {
    mc_class_groups groups = {0};
    const mc_node_shape shape = mc_node_shape_of(&s->text.problem, false);
    mercer_data *data = NULL;
    char *weights = NULL;
    mercer_status status = mc_class_groups_open(s->ctx, &s->text.problem, &groups);
    const mc_node_target target = {.place = groups.place};
    MC_THEN(status, weights_text(s, &groups, &weights));
    MC_THEN(status, mc_node_data(s->ctx, &shape, &s->text.problem, &target, &data));
    MC_THEN(status, search_values(s, g, data, weights));
    if (status)
        svm_command_fail("mercer-svm-grid: %s", mercer_message(s->ctx));
    mercer_data_free(data);
    mc_free(weights);
    mc_class_groups_close(&groups);
}

/* With the folds that every run of svm-train would draw. */
static void validate_point(grid *s, int c, int g) {
    struct svm_parameter p = s->training.param;
    double *target = calloc((size_t)s->text.problem.l + 1, sizeof *target);
    if (!target)
        svm_command_fail("can't allocate enough memory");
    p.C = s->c.none ? p.C : exp2(s->c.point[c]);
    p.gamma = s->g.none ? p.gamma : exp2(s->g.point[g]);
    srand(1);
    svm_cross_validation(&s->text.problem, &p, s->folds, target);
    int right = 0;
    for (int i = 0; i < s->text.problem.l; i++)
        right += target[i] == s->text.problem.y[i];
    *rate_of(s, c, g) = 100.0 * right / s->text.problem.l;
    free(target);
}

/* The last number of the line of its output that speaks of cross-validation. */
static double rate_printed(FILE *output) {
    char line[4096];
    double rate = NAN;
    while (fgets(line, sizeof line, output)) {
        const char *last = strrchr(line, ' ');
        if (isnan(rate) && strstr(line, "Cross") && last)
            rate = strtod(last, NULL);
    }
    return rate;
}

static void run_program(grid *s, int c, int g) {
    char command[8192], value[40];
    int at = snprintf(command, sizeof command, "\"%s\"", s->svmtrain);
    if (!s->c.none)
        at += snprintf(command + at, sizeof command - (size_t)at, " -c %s",
                       python_number(exp2(s->c.point[c]), false, value));
    if (!s->g.none)
        at += snprintf(command + at, sizeof command - (size_t)at, " -g %s",
                       python_number(exp2(s->g.point[g]), false, value));
    at += snprintf(command + at, sizeof command - (size_t)at, " -v %d %s%s", s->folds,
                   s->passed.length > 0 ? s->passed.bytes : "", s->data);
    FILE *output = at < (int)sizeof command ? popen(command, "r") : NULL;
    if (!output)
        svm_command_fail("%s cannot be run", s->svmtrain);
    *rate_of(s, c, g) = rate_printed(output);
    if (pclose(output) != 0 || isnan(*rate_of(s, c, g)))
        svm_command_fail("%s has given no rate", s->svmtrain);
}

static bool is_searched(const struct svm_parameter *p) {
    return p->svm_type == SVM_C_SVC && p->kernel_type != SVM_PRECOMPUTED && !p->probability;
}

static void find_rate(grid *s, int c, int g) {
    if (s->svmtrain)
        run_program(s, c, g);
    else if (is_searched(&s->training.param))
        search_gamma(s, g);
    else
        validate_point(s, c, g);
    if (isnan(*rate_of(s, c, g)))
        svm_command_fail("mercer-svm-grid: no rate for c=%g g=%g", exp2(s->c.point[c]), exp2(s->g.point[g]));
}

/* ---- What is said ---- */

static void say_point(grid *s, const char *worker, double c, double g, double rate) {
    char text[4][40], six[40];
    snprintf(six, sizeof six, "%g", rate);
    rate = strtod(six, NULL);
    if (rate > s->best_rate || (rate == s->best_rate && (g == s->best_g || s->g.none) && c < s->best_c)) {
        s->best_rate = rate;
        s->best_c = c;
        s->best_g = g;
    }
    printf("[%s]", worker);
    if (!s->c.none)
        printf(" %s", python_number(c, s->c.whole, text[0]));
    if (!s->g.none)
        printf(" %s", python_number(g, s->g.whole, text[1]));
    printf(" %s (best ", python_number(rate, false, text[2]));
    if (!s->c.none)
        printf("c=%s, ", python_number(exp2(s->best_c), false, text[0]));
    if (!s->g.none)
        printf("g=%s, ", python_number(exp2(s->best_g), false, text[1]));
    printf("rate=%s)\n", python_number(s->best_rate, false, text[2]));
    fflush(stdout);
}

static void keep_point(grid *s, double c, double g, double rate) {
    char text[40], six[40];
    if (!s->result)
        return;
    snprintf(six, sizeof six, "%g", rate);
    if (!s->c.none)
        fprintf(s->result, "log2c=%s ", python_number(c, s->c.whole, text));
    if (!s->g.none)
        fprintf(s->result, "log2g=%s ", python_number(g, s->g.whole, text));
    fprintf(s->result, "rate=%s\n", python_number(strtod(six, NULL), false, text));
    fflush(s->result);
}

/* ---- Runs before this one ---- */

static double field_of(const char *line, const char *key) {
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

static int place_on(const search_axis *axis, double value) {
    for (int k = 0; k < axis->count; k++)
        if (axis->none ? isnan(value) : axis->point[k] == value)
            return k;
    return -1;
}

static void resume_rates(grid *s, const char *path) {
    char line[512];
    FILE *file = fopen(path, "r");
    if (!file)
        svm_command_fail("file for resumption not found");
    while (fgets(line, sizeof line, file)) {
        const double rate = field_of(line, "rate=");
        const int c = place_on(&s->c, field_of(line, "log2c=")), g = place_on(&s->g, field_of(line, "log2g="));
        if (isnan(rate) || c < 0 || g < 0)
            continue;
        *rate_of(s, c, g) = rate;
        say_point(s, "resumed", s->c.point[c], s->g.point[g], rate);
    }
    fclose(file);
}

/* ---- The walk ---- */

static void take_point(grid *s, int c, int g, bool *known) {
    if (known[c * s->g.count + g])
        return;
    known[c * s->g.count + g] = true;
    if (isnan(*rate_of(s, c, g)))
        find_rate(s, c, g);
    say_point(s, "local", s->c.point[c], s->g.point[g], *rate_of(s, c, g));
    keep_point(s, s->c.point[c], s->g.point[g], *rate_of(s, c, g));
}

/* Both axes grow finer by turns, as grid.py walks: equal rates are then decided by the same point. */
static void take_all_points(grid *s) {
    bool *known = calloc((size_t)(s->c.count * s->g.count), sizeof *known);
    if (!known)
        svm_command_fail("can't allocate enough memory");
    for (int k = 0; k < s->c.count * s->g.count; k++)
        known[k] = !isnan(s->rate[k]);
    for (int i = 0, j = 0; i < s->c.count || j < s->g.count;)
        if ((double)i / s->c.count < (double)j / s->g.count) {
            for (int k = 0; k < j; k++)
                take_point(s, i, k, known);
            i++;
        } else {
            for (int k = 0; k < i; k++)
                take_point(s, k, j, known);
            j++;
        }
    free(known);
}

/* ---- The picture ---- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void write_surface(grid *s, FILE *to) {
    double c[MOST_POINTS], g[MOST_POINTS];
    memcpy(c, s->c.point, sizeof c);
    memcpy(g, s->g.point, sizeof g);
    qsort(c, (size_t)s->c.count, sizeof *c, by_value);
    qsort(g, (size_t)s->g.count, sizeof *g, by_value);
    for (int i = 0; i < s->c.count; i++, fprintf(to, "\n"))
        for (int j = s->g.count - 1; j >= 0; j--)
            fprintf(to, "%g %g %g\n", c[i], g[j], *rate_of(s, place_on(&s->c, c[i]), place_on(&s->g, g[j])));
}

/* Lines of equal rate over log2(C) and log2(gamma), drawn by gnuplot. */
static void draw_contours(grid *s) {
    FILE *to = popen(s->gnuplot, "w");
    if (!to)
        return;
    fprintf(to, "set term png\nset output '%s'\nset xlabel 'log2(C)'\nset ylabel 'log2(gamma)'\n", s->png);
    fprintf(to, "set contour\nset cntrparam levels incremental %g,0.5,100\n", round(s->best_rate) - 3);
    fprintf(to, "unset surface\nunset ztics\nset view 0,0\nset title '%s: C = %g, gamma = %g, %g%%'\n", s->data,
            exp2(s->best_c), exp2(s->best_g), s->best_rate);
    fprintf(to, "splot '-' with lines\n");
    write_surface(s, to);
    fprintf(to, "e\n");
    if (pclose(to) != 0)
        fprintf(stderr, "%s has drawn nothing\n", s->gnuplot);
}

/* ---- The whole ---- */

/* The name of the data without its folder, and the ending, in room of the grid. */
static const char *name_after(const char *data, const char *ending, char room[4096]) {
    const char *slash = strrchr(data, '/'), *name = slash ? slash + 1 : data;
    if (strlen(name) + strlen(ending) >= 4096)
        svm_command_fail("the name of %s is too long", data);
    return strcat(strcpy(room, name), ending);
}

static void check_files(grid *s) {
    const char *out = name_after(s->data, ".out", s->own_out);
    s->no_out = s->out && strcmp(s->out, "null") == 0;
    s->out = s->out ? s->out : out;
    s->png = s->png ? s->png : name_after(s->data, ".png", s->own_png);
    s->resume = s->resume && !*s->resume ? out : s->resume;
    s->no_gnuplot = s->c.none || s->g.none || (s->gnuplot && strcmp(s->gnuplot, "null") == 0);
    s->gnuplot = s->gnuplot ? s->gnuplot : "/usr/bin/gnuplot";
    FILE *program = s->no_gnuplot ? NULL : fopen(s->gnuplot, "r");
    if (!s->no_gnuplot && !program) {
        fprintf(stderr, "gnuplot executable not found\n");
        s->no_gnuplot = true;
    }
    if (program)
        fclose(program);
    if (s->c.none && s->g.none)
        svm_command_fail("-log2c and -log2g should not be null simultaneously");
}

static void open_grid(grid *s) {
    fill_axis(&s->c);
    fill_axis(&s->g);
    spread_out(s->c.point, s->c.count);
    spread_out(s->g.point, s->g.count);
    check_files(s);
    s->text = svm_text_read(s->data, "dataset not found: %s", "Wrong input format at line %d");
    svm_training_check(&s->training, &s->text);
    if (s->folds < 2)
        svm_command_fail("n-fold cross validation: n must >= 2");
    s->rate = malloc((size_t)(s->c.count * s->g.count) * sizeof *s->rate);
    if (!s->rate)
        svm_command_fail("can't allocate enough memory");
    for (int k = 0; k < s->c.count * s->g.count; k++)
        s->rate[k] = NAN;
    if (s->resume)
        resume_rates(s, s->resume);
    if (!s->no_out && !(s->result = fopen(s->out, s->resume ? "a" : "w")))
        svm_command_fail("can't write %s", s->out);
}

int main(int argc, char **argv) {
    static grid s = {.c = {.begin = -5, .end = 15, .step = 2, .whole = true},
                     .g = {.begin = 3, .end = -15, .step = -2, .whole = true},
                     .folds = 5,
                     .best_rate = -1};
    if (argc < 2)
        print_usage();
    svm_command_start(argv);
    if (mc_svm_open_context(&s.ctx))
        return EXIT_FAILURE;
    s.passed = mc_text_open(s.ctx);
    s.training = svm_training_defaults();
    s.data = argv[argc - 1];
    for (int i = 1; i < argc - 1;)
        i += read_option(&s, argc - 1 - i, argv + i);
    svm_set_print_string_function(svm_say_nothing);
    open_grid(&s);
    take_all_points(&s);
    if (!s.no_gnuplot)
        draw_contours(&s);
    char text[3][40];
    if (!s.c.none)
        printf("%s ", python_number(exp2(s.best_c), false, text[0]));
    if (!s.g.none)
        printf("%s ", python_number(exp2(s.best_g), false, text[1]));
    printf("%s\n", python_number(s.best_rate, false, text[2]));
    if (s.result && fclose(s.result) != 0)
        svm_command_fail("can't write %s", s.out);
    mc_text_close(&s.passed);
    svm_text_free(&s.text);
    svm_training_free(&s.training);
    free(s.rate);
    mercer_close(s.ctx);
    return EXIT_SUCCESS;
}
