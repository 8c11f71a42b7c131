/* view.h: the columns that a part of an expression sees, without copying a row. k[1:3] evaluates k in a view of three
   columns; a view within a view asks its parent. */
#ifndef MC_KERNEL_EVALUATE_VIEW_H
#define MC_KERNEL_EVALUATE_VIEW_H

#include "kernel/language/kernel.h"

typedef struct mc_view {
    int64_t d;             /* columns in view */
    const int64_t *column; /* their places in the parent; NULL: all of them, in order */
    const struct mc_view *parent;
    /* of the whole row, where rows meet themselves: values that are known (self_values.h), and which row it is */
    const struct mc_self_values *self;
    int64_t row;
} mc_view;

static inline mc_view mc_view_columns(const mc_view *parent, const mc_node *columns) {
    return (mc_view){.d = columns->columns, .column = columns->column, .parent = parent};
}

/* Where in the whole row the j-th column in view stands, and its value in the row x. */
static inline int64_t mc_view_place(const mc_view *view, int64_t j) {
    for (; view; view = view->parent)
        j = view->column ? view->column[j] : j;
    return j;
}

static inline double mc_view_at(const mc_view *view, const double *x, int64_t j) {
    return x[mc_view_place(view, j)];
}

/* Two rows in a view, so that an atom reads like its formula. */
typedef struct mc_row_pair {
    const mc_view *view;
    const double *x, *z;
} mc_row_pair;

static inline double mc_pair_difference(const mc_row_pair *p, int64_t j) {
    return mc_view_at(p->view, p->x, j) - mc_view_at(p->view, p->z, j);
}

static inline double mc_pair_dot(const mc_row_pair *p) {
    double sum = 0;
    for (int64_t j = 0; j < p->view->d; j++)
        sum += mc_view_at(p->view, p->x, j) * mc_view_at(p->view, p->z, j);
    return sum;
}

double mc_function_in_view(const mc_function *f, const mc_view *view, const double *x);
double mc_eval_in_view(const mc_node *node, const mc_view *view, const double *x, const double *z);

#endif
