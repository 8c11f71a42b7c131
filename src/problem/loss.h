/* loss.h: a convex loss and a penalty: what the machines of learn/loss minimise,

       min over f in H and b of  sum_i c_i l(y_i, f(x_i) + b) + lambda/2 |f|^2,

   attained at f = sum_i alpha_i k(x_i, .).

       loss.c             the losses, one table row each
       loss_user.c        a loss of the caller's own, its conjugate by search where he has none, and
                          whether its functions fit each other
       loss_terms.c       what a loss is on many rows: slopes, curvatures
       loss_dual.c        feasible coefficients and their conjugates

   learn/loss solves, certify/loss_certificate.c checks what came out; both see the problem here and neither the
   other. */
#ifndef MC_PROBLEM_LOSS_H
#define MC_PROBLEM_LOSS_H

#include <mercer.h>
#include <stdbool.h>
#include <stdint.h>

struct mc_loss_body;

typedef enum mc_loss_kind {
    MC_LOGISTIC,
    MC_SQUARED_HINGE,
    MC_HUBER,
    MC_QUANTILE,
    MC_ABSOLUTE,
    MC_LOSS_KINDS
} mc_loss_kind;

typedef struct mc_loss mc_loss;
typedef struct mc_loss_task mc_loss_task;

/* A loss as a function of F = f(x) + b for one target y, convex in F. t: where its parameter (tau, delta) stands, if it
   has one. */
struct mc_loss {
    const char *name;
    bool classes; /* y is +1 or -1; otherwise a number */
    bool smooth;  /* has a slope everywhere, and a curvature almost everywhere */
    bool probabilities;
    double (*value)(const mc_loss_task *t, double y, double F);
    double (*slope)(const mc_loss_task *t, double y, double F);
    double (*curvature)(const mc_loss_task *t, double y, double F);
    /* Curvature of a parabola that touches the loss at F and lies nowhere below it. */
    double (*chord)(const mc_loss_task *t, double y, double F);
    /* sup over F of v F - l(y, F), for v in the domain */
    double (*conjugate)(const mc_loss_task *t, double y, double v);
    void (*domain)(const mc_loss_task *t, double y, double *low, double *high); /* the v where that is finite */
};
extern const mc_loss mc_losses[MC_LOSS_KINDS];
extern const mc_loss mc_loss_of_numbers, mc_loss_of_classes; /* loss_user.c: the caller's */
/* The row of a machine by its name; NULL: it is none of these. */
const mc_loss *mc_loss_named(const char *machine);

/* ---- One function to find ---- */

/* Scalar losses have one column; softmax, the logistic loss of many classes, one per class:
   l(y, F) = log sum_k exp(F_k) - F_y. */
struct mc_loss_task {
    const mc_loss *loss;
    double parameter;
    const mercer_own_loss *own;      /* the caller's functions, where the loss is his */
    const int64_t *place;            /* n: the rows in the data as they came */
    const struct mc_loss_body *body; /* the logistic loss in vectors (backend/loss_body.h); NULL: one by one */
    int64_t n, k;
    const double *y;          /* n: +1 or -1, a number, or the number of the class (softmax) */
    const double *cost;       /* n, > 0: row weight times class weight */
    double lambda, tolerance; /* of the relative gap */
    bool intercept;
    int64_t iterations_max;
    bool warm;           /* alpha, f and b are the answer for another lambda, f = K alpha */
    const double *shift; /* n x k, added to f wherever the loss is taken; NULL: none */
    /* The state: a start, then the answer. */
    double *alpha, *f, *b; /* n x k; n x k, K alpha; k */
    int64_t iterations;
    const char *stopped; /* as in mercer_report */
};

/* ---- loss_terms.c ---- */

/* t->body where it serves; NULL: row by row. */
const struct mc_loss_body *mc_loss_body_of(const mc_loss_task *t);
/* sum_i c_i l(y_i, f_i + b), shifts included. */
double mc_loss_sum(const mc_loss_task *t, const double *f, const double *b);
/* g (n x k): c times the slope at f + b. root (n x k): with W_i = c_i times the second derivative (a k x k matrix), W_i
   = L_i L_i' where L_i = root_i for one column, and diag(root_i) (I - q_i q_i'), q_i = root_i / |root_i|, for softmax.
   chord: by chords instead. */
void mc_loss_derivatives(const mc_loss_task *t, bool chord, double *g, double *root);
/* V <- L'V, V <- L V, row by row. */
void mc_loss_lower(const mc_loss_task *t, const double *root, double *V);
void mc_loss_raise(const mc_loss_task *t, const double *root, double *V);
/* V <- what of it L does not send to zero. */
void mc_loss_deflate(const mc_loss_task *t, const double *root, double *V);
/* ---- Sums over rows, projected out ---- */

/* With B = L'(1, ..., 1) (nk x k), C = B'B = sum_i W_i: what the intercepts see. */
typedef struct mc_loss_mean {
    int64_t n, k;
    const double *root;
    double *C;       /* k x k: a Cholesky factor of C, its null space filled */
    double *scratch; /* 2 k */
    bool flat;       /* C is zero: the intercepts see nothing */
} mc_loss_mean;
void mc_loss_mean_set(const mc_loss_task *t, const double *root, mc_loss_mean *m);
/* x <- C^+ x. */
void mc_loss_mean_solve(const mc_loss_mean *m, double *x);
/* V <- V - B C^+ B'V. */
void mc_loss_mean_project(const mc_loss_mean *m, double *V);

/* ---- The dual side ---- */

/* alpha <- a point near it that is feasible for the dual: -lambda alpha / c in the domain of the conjugate and, with an
   intercept, columns that sum to zero. root weighs where the sums are mended; m and scratch (n x k) are workspace.
   False: it could not be reached. */
bool mc_loss_feasible(const mc_loss_task *t, const double *root, mc_loss_mean *m, double *scratch, double *alpha);
/* Whether it is, up to the last digits. */
bool mc_loss_is_feasible(const mc_loss_task *t, const double *alpha);
/* sum_i c_i l*(y_i, -lambda alpha_i / c_i) of a feasible alpha. */
double mc_loss_conjugate(const mc_loss_task *t, const double *alpha);

/* loss_user.c: that the caller's functions gave numbers: a slope, a curvature >= 0 (t->f + t->b), a value (f + b). */
mercer_status mc_loss_check_slopes(mercer_ctx *ctx, const mc_loss_task *t, const double *g, const double *root);
mercer_status mc_loss_check_sum(mercer_ctx *ctx, const mc_loss_task *t, const double *f, const double *b, double sum);

/* loss_user.c: an error where value, slope and conjugate of the caller's own loss do not fit each other around y
   and F of the task. */
mercer_status mc_loss_check_own(mercer_ctx *ctx, const mc_loss_task *t);

#endif
