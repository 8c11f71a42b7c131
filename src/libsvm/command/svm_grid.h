/* svm_grid.h: the grid of mercer-svm-grid. */
#ifndef MC_LIBSVM_SVM_GRID_H
#define MC_LIBSVM_SVM_GRID_H

#include "libsvm/command/svm_command.h"
#include "base/text.h"

enum { SVM_GRID_MOST = 1000 };

typedef struct svm_grid_axis {
    double begin, end, step;
    bool whole, none; /* written as whole numbers; not searched */
    int count;
    double point[SVM_GRID_MOST];
} svm_grid_axis;

typedef struct svm_grid {
    svm_grid_axis c, g;
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
} svm_grid;

/* The rate of a point, percent; NaN: not known yet. */
double *svm_grid_rate(svm_grid *s, int c, int g);
/* svm_grid_rate.c: by a search of all C of that gamma, by cross-validation, or by -svmtrain. */
void svm_grid_find_rate(svm_grid *s, int c, int g);

/* svm_grid_output.c. The shortest digits that read back, as Python writes them: 32.0, 0.0078125, 1e-05. */
const char *svm_python_number(double value, bool whole, char text[40]);
void svm_grid_say_point(svm_grid *s, const char *worker, double c, double g, double rate);
void svm_grid_keep_point(svm_grid *s, double c, double g, double rate);
/* The rates in a file of results. */
void svm_grid_resume(svm_grid *s, const char *path);
/* Lines of equal rate over log2(C) and log2(gamma), drawn by gnuplot. */
void svm_grid_draw(svm_grid *s);

#endif
