/* svm_grid_command.c: mercer-svm-grid: the options, the lines and the file of LIBSVM's grid.py. Here are the options
   and the walk over the points. */
#include "libsvm/command/svm_grid.h"
#include "libsvm/solve_problem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- Options ---- */

static void read_axis(const char *word, svm_grid_axis *axis) {
    char rest;
    axis->none = strcmp(word, "null") == 0;
    axis->whole = false;
    if (!axis->none && sscanf(word, "%lf,%lf,%lf%c", &axis->begin, &axis->end, &axis->step, &rest) != 3)
        svm_command_fail("'%s' is not begin,end,step", word);
}

static void pass_on(svm_grid *s, int taken, char **argv) {
    for (int k = 0; k < taken; k++)
        mc_text_add(&s->passed, "%s ", argv[k]);
}

static const char *word_after(int argc, char **argv) {
    if (argc < 2)
        print_usage();
    return argv[1];
}

/* The words an option takes up. */
static int read_option(svm_grid *s, int argc, char **argv) {
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

static void fill_axis(svm_grid_axis *axis) {
    if (axis->none) {
        axis->count = 1;
        axis->point[0] = NAN;
        return;
    }
    if (axis->step == 0)
        svm_command_fail("a step of 0 does not lead from %g to %g", axis->begin, axis->end);
    for (double at = axis->begin; axis->step > 0 ? at <= axis->end : at >= axis->end; at += axis->step) {
        if (axis->count == SVM_GRID_MOST)
            svm_command_fail("more than %d values from %g to %g", SVM_GRID_MOST, axis->begin, axis->end);
        axis->point[axis->count++] = at;
    }
    if (axis->count == 0)
        svm_command_fail("no value from %g to %g by %g", axis->begin, axis->end, axis->step);
}

/* The middle first, then by turns from the halves, each in such an order: few points already tell. */
static void spread_out(double *point, int count) {
    double *left = point, right[SVM_GRID_MOST], out[SVM_GRID_MOST];
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

/* ---- The walk ---- */

static void take_point(svm_grid *s, int c, int g, bool *known) {
    if (known[c * s->g.count + g])
        return;
    known[c * s->g.count + g] = true;
    if (isnan(*svm_grid_rate(s, c, g)))
        svm_grid_find_rate(s, c, g);
    svm_grid_say_point(s, "local", s->c.point[c], s->g.point[g], *svm_grid_rate(s, c, g));
    svm_grid_keep_point(s, s->c.point[c], s->g.point[g], *svm_grid_rate(s, c, g));
}

/* Both axes grow finer by turns, as grid.py walks: equal rates are then decided by the same point. */
static void take_all_points(svm_grid *s) {
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

/* ---- The whole ---- */

/* The name of the data without its folder, and the ending, in room of the grid. */
static const char *name_after(const char *data, const char *ending, char room[4096]) {
    const char *slash = strrchr(data, '/'), *name = slash ? slash + 1 : data;
    if (strlen(name) + strlen(ending) >= 4096)
        svm_command_fail("the name of %s is too long", data);
    return strcat(strcpy(room, name), ending);
}

static void check_files(svm_grid *s) {
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

static void open_grid(svm_grid *s) {
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
        svm_grid_resume(s, s->resume);
    if (!s->no_out && !(s->result = fopen(s->out, s->resume ? "a" : "w")))
        svm_command_fail("can't write %s", s->out);
}

int main(int argc, char **argv) {
    static svm_grid s = {.c = {.begin = -5, .end = 15, .step = 2, .whole = true},
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
        svm_grid_draw(&s);
    char text[3][40];
    if (!s.c.none)
        printf("%s ", svm_python_number(exp2(s.best_c), false, text[0]));
    if (!s.g.none)
        printf("%s ", svm_python_number(exp2(s.best_g), false, text[1]));
    printf("%s\n", svm_python_number(s.best_rate, false, text[2]));
    if (s.result && fclose(s.result) != 0)
        svm_command_fail("can't write %s", s.out);
    mc_text_close(&s.passed);
    svm_text_free(&s.text);
    svm_training_free(&s.training);
    free(s.rate);
    mercer_close(s.ctx);
    return EXIT_SUCCESS;
}
