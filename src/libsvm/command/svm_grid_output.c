/* svm_grid_output.c: what the grid says: lines, the file of results, which a later run goes on from, the picture. */
#include "libsvm/command/svm_grid.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers as Python writes them ---- */

const char *svm_python_number(double value, bool whole, char text[40]) {
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

/* ---- What is said ---- */

void svm_grid_say_point(svm_grid *s, const char *worker, double c, double g, double rate) {
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
        printf(" %s", svm_python_number(c, s->c.whole, text[0]));
    if (!s->g.none)
        printf(" %s", svm_python_number(g, s->g.whole, text[1]));
    printf(" %s (best ", svm_python_number(rate, false, text[2]));
    if (!s->c.none)
        printf("c=%s, ", svm_python_number(exp2(s->best_c), false, text[0]));
    if (!s->g.none)
        printf("g=%s, ", svm_python_number(exp2(s->best_g), false, text[1]));
    printf("rate=%s)\n", svm_python_number(s->best_rate, false, text[2]));
    fflush(stdout);
}

void svm_grid_keep_point(svm_grid *s, double c, double g, double rate) {
    char text[40], six[40];
    if (!s->result)
        return;
    snprintf(six, sizeof six, "%g", rate);
    if (!s->c.none)
        fprintf(s->result, "log2c=%s ", svm_python_number(c, s->c.whole, text));
    if (!s->g.none)
        fprintf(s->result, "log2g=%s ", svm_python_number(g, s->g.whole, text));
    fprintf(s->result, "rate=%s\n", svm_python_number(strtod(six, NULL), false, text));
    fflush(s->result);
}

/* ---- Runs before this one ---- */

static double field_of(const char *line, const char *key) {
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

static int place_on(const svm_grid_axis *axis, double value) {
    for (int k = 0; k < axis->count; k++)
        if (axis->none ? isnan(value) : axis->point[k] == value)
            return k;
    return -1;
}

void svm_grid_resume(svm_grid *s, const char *path) {
    char line[512];
    FILE *file = fopen(path, "r");
    if (!file)
        svm_command_fail("file for resumption not found");
    while (fgets(line, sizeof line, file)) {
        const double rate = field_of(line, "rate=");
        const int c = place_on(&s->c, field_of(line, "log2c=")), g = place_on(&s->g, field_of(line, "log2g="));
        if (isnan(rate) || c < 0 || g < 0)
            continue;
        *svm_grid_rate(s, c, g) = rate;
        svm_grid_say_point(s, "resumed", s->c.point[c], s->g.point[g], rate);
    }
    fclose(file);
}

/* ---- The picture ---- */

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void write_surface(svm_grid *s, FILE *to) {
    double c[SVM_GRID_MOST], g[SVM_GRID_MOST];
    memcpy(c, s->c.point, sizeof c);
    memcpy(g, s->g.point, sizeof g);
    qsort(c, (size_t)s->c.count, sizeof *c, by_value);
    qsort(g, (size_t)s->g.count, sizeof *g, by_value);
    for (int i = 0; i < s->c.count; i++, fprintf(to, "\n"))
        for (int j = s->g.count - 1; j >= 0; j--)
            fprintf(to, "%g %g %g\n", c[i], g[j], *svm_grid_rate(s, place_on(&s->c, c[i]), place_on(&s->g, g[j])));
}

void svm_grid_draw(svm_grid *s) {
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
