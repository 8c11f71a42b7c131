/* plot.h: what the pictures share. One row of the table in plot.c per picture; one file per family of them. */
#ifndef MC_CLI_VERBS_PLOT_H
#define MC_CLI_VERBS_PLOT_H

#include "cli/cli.h"
#include "draw/chart.h"

typedef struct picture {
    const char *model_path, *data_path, *trace_path, *expression;
    mercer_model *model;
    mercer_data *data;
    mercer_data
        *labelled; /* the same rows with their classes, where data came without; NULL: data itself has what there is */
    mercer_kernel *kernel; /* of the model, or of -k, bound to the data where there are any */
    mercer_kernel *own;    /* to be freed */
    int64_t n, d;
    canvas *on;
} picture;

/* The operands of the command, a model and rows as they come; closed after a failure too. */
int picture_open(session *s, picture *p);
void picture_close(picture *p);
/* One picture of them by its name, as the bytes of an svg file that live until the next one, and what it shows in
   words. */
int picture_svg(session *s, picture *p, const char *name, const char **caption, const void **bytes, size_t *size);

int draw_regions(session *s, picture *p);
int draw_curve(session *s, picture *p);
int draw_gram(session *s, picture *p);
int draw_confusion(session *s, picture *p);
int draw_residuals(session *s, picture *p);
int draw_scatter(session *s, picture *p);
int draw_calibration(session *s, picture *p);
int draw_spectrum(session *s, picture *p);
int draw_profile(session *s, picture *p);
int draw_surface(session *s, picture *p);
int draw_learning_curve(session *s, picture *p);
int draw_convergence(session *s, picture *p);

/* ---- What they need in common (plot_rows.c) ---- */

/* The class of every row by the model's numbers; -1 where the model does not know the label. NULL with a message. */
int64_t *classes_of_rows(session *s, const picture *p);
/* Predictions for rows made up on the way, n x d in row order, out n x outputs: NULL with a message. */
double *predict_rows(session *s, const picture *p, const double *rows, int64_t n);
/* The columns named by --columns, wanted of them at most: places from 0. The number found, or -1 with a message. */
int columns_asked(const session *s, const picture *p, int wanted, int64_t *out);
/* Rows drawn, one mark a class, with their legend where there is more than one class; grey where it is not known (-1).
   */
void draw_classes(chart *g, const picture *p, const double *x, const double *y, const int64_t *which, double size);
/* "rbf(gamma=0.5)", shortened to what a title holds */
typedef struct title_text {
    char bytes[72];
} title_text;
title_text short_kernel(const mercer_kernel *kernel);
/* plot_matrix.c: the colours beside a heat map, from the value of the coldest to that of the hottest. */
void draw_scale(chart *g, double low, double high);

#endif
