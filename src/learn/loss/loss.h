/* loss.h: machines that are a convex loss and a penalty,

       min over f in H and b of  sum_i c_i l(y_i, f(x_i) + b) + lambda/2 |f|^2,

   attained at f = sum_i alpha_i k(x_i, .). One solver and one certificate serve them all:

       loss.c               the losses, one table row each
       loss_user.c           a loss of the caller's own, its conjugate by search where he has none
       loss_settings.c      the settings rows of the machines
       loss_machine.c       the order of work: rows made ready, functions solved for, certified, kept
       loss_path.c          one lambda after the other, each from its neighbour
       loss_terms.c         what a loss is on many rows: slopes, curvatures, and the dual side
       loss_newton.c        smooth losses: Newton's method with a line search
       loss_surrogate.c       smooth losses on a low-rank stand-in for K, corrected by products with K
       loss_start.c         where that begins: on a part of the rows
       loss_workspace.c         what the steps share: K, its factor, room
       loss_newton_step.c          one Newton step: a linear system, by Cholesky or by conjugate gradients
       loss_precondition.c  the preconditioner of those
       loss_piecewise.c     piecewise linear losses: the quadratic program of the dual, by SMO
       loss_certificate.c       the duality gap from the rows and the coefficients alone */
#ifndef MC_LEARN_LOSS_LOSS_H
#define MC_LEARN_LOSS_LOSS_H

#include "learn/common/machines.h"

/* loss_path.c: each is shown the function of every lambda, from the largest down, with kernel and scale lent for the
   call. */
typedef struct mc_loss mc_loss;
mercer_status mc_loss_path(mercer_ctx *ctx, const mc_loss *loss, const mercer_loss *set, const mercer_kernel *kernel,
                           const mercer_data *data, const double *lambda, int64_t count, mc_fitted_each *each,
                           void *arg);

/* ---- Losses ---- */

typedef enum mc_loss_kind {
    MC_LOGISTIC,
    MC_SQUARED_HINGE,
    MC_HUBER,
    MC_QUANTILE,
    MC_ABSOLUTE,
    MC_LOSS_KINDS
} mc_loss_kind;

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
    const mercer_own_loss *own; /* the caller's functions, where the loss is his */
    const int64_t *place;       /* n: the rows in the data as they came */
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

/* sum_i c_i l(y_i, f_i + b), shifts included. */
double mc_loss_sum(const mc_loss_task *t, const double *f, const double *b);
/* g (n x k): c times the slope at f + b. root (n x k): with W_i = c_i times the second derivative (a k x k matrix), W_i
   = L_i L_i' where L_i = root_i for one column, and diag(root_i) (I - q_i q_i'), q_i = root_i / |root_i|, for softmax.
   chord: by chords instead. */
void mc_loss_look(const mc_loss_task *t, bool chord, double *g, double *root);
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
   intercept, columns that sum to zero. root weighs where the sums are mended; m and scratch (n x k) are room. False: it
   could not be reached. */
bool mc_loss_feasible(const mc_loss_task *t, const double *root, mc_loss_mean *m, double *scratch, double *alpha);
/* Whether it is, up to the last digits. */
bool mc_loss_is_feasible(const mc_loss_task *t, const double *alpha);
/* sum_i c_i l*(y_i, -lambda alpha_i / c_i) of a feasible alpha. */
double mc_loss_conjugate(const mc_loss_task *t, const double *alpha);

/* loss_user.c: that the caller's functions gave numbers: a slope, a curvature >= 0 (t->f + t->b), a value (f + b). */
mercer_status mc_loss_check_slopes(mercer_ctx *ctx, const mc_loss_task *t, const double *g, const double *root);
mercer_status mc_loss_check_sum(mercer_ctx *ctx, const mc_loss_task *t, const double *f, const double *b, double sum);

/* ---- Solving ---- */

/* Up to this many rows everything is computed in double precision and to rounding: it takes no time, and weights are
   then repeated rows. */
enum { MC_LOSS_FEW = 200 };

typedef struct mc_loss_space mc_loss_space;
/* What a space is for: the least lambda, fits to come, and a bound on c times the curvature. */
typedef struct mc_loss_ahead {
    double lambda, fits, curvature;
} mc_loss_ahead;
/* Everything the steps share: operators, factors, room. columns: the most that a task has. */
mercer_status mc_loss_space_open(mercer_ctx *ctx, const mc_problem *p, const mc_loss_ahead *ahead, int64_t columns,
                                 bool cholesky, mc_loss_space **out);
void mc_loss_space_close(mc_loss_space *space);
/* The lambda of the tasks to come. */
void mc_loss_space_face(mc_loss_space *space, double lambda);
/* Bytes it cannot do without. */
size_t mc_loss_space_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns, bool cholesky);
/* What steps by conjugate gradients take at most within the limit: they hold a factor, and K, where there is room. */
size_t mc_loss_space_most(mercer_ctx *ctx, const mc_problem *p, int64_t columns);
int64_t mc_loss_space_rank(const mc_loss_space *space);
/* Whether mc_loss_correct is worth its first product. */
bool mc_loss_space_is_near(const mc_loss_space *space);
/* Many products are to come: K into memory, if it fits. */
mercer_status mc_loss_space_store(mercer_ctx *ctx, mc_loss_space *space);
/* The next Newton step of t. rho = -(lambda alpha + g); D is the step in alpha, KD = K D, db that in b. anew false:
   where that is much cheaper, curvatures of an earlier step of t will do. accuracy: of the linear system, relative.
   exact: KD in double precision. */
mercer_status mc_loss_step(mercer_ctx *ctx, mc_loss_space *space, mc_loss_task *t, const double *root, bool anew,
                           const double *rho, double accuracy, bool exact, double *D, double *KD, double *db);

/* KV <- K V, n x k; exact: in double precision. */
mercer_status mc_loss_product(mercer_ctx *ctx, const mc_loss_space *space, int64_t k, bool exact, const double *V,
                              double *KV);

/* From t->alpha, t->f, t->b to a relative gap of aim, as far as f = K alpha holds. */
mercer_status mc_loss_newton(mercer_ctx *ctx, mc_loss_space *space, mc_loss_task *t, double aim, bool exact);
size_t mc_loss_newton_bytes(int64_t n, int64_t k);
/* The duality gap at t->alpha, feasible, and f = K alpha. */
double mc_loss_gap(const mc_loss_task *t, const double *alpha, const double *f);

/* loss_surrogate.c: the same with few products. *arrived: it got there, or so it seems; otherwise t holds the point it
   got to. */
mercer_status mc_loss_correct(mercer_ctx *ctx, mc_loss_space *space, mc_loss_task *t, double aim, bool *arrived);
size_t mc_loss_correct_bytes(int64_t n, int64_t k);

/* loss_user_check.c: an error where value, slope and conjugate of the caller's own loss do not fit each other around y
   and F of the task. */
mercer_status mc_loss_try_own(mercer_ctx *ctx, const mc_loss_task *t);

/* loss_piecewise.c: all tasks, one column each, with intercepts. keep: K is stored from one solution to the next, where
   it fits. */
typedef struct mc_loss_programme mc_loss_programme;
mercer_status mc_loss_programme_open(mercer_ctx *ctx, const mc_problem *p, bool keep, mc_loss_programme **out);
void mc_loss_programme_close(mc_loss_programme *s);
mercer_status mc_loss_programme_solve(mercer_ctx *ctx, mc_loss_programme *s, mc_loss_task *tasks, int64_t count,
                                      double aim);
size_t mc_loss_piecewise_bytes(mercer_ctx *ctx, const mc_problem *p);
/* beside the products, in operations of a factorisation */
double mc_loss_piecewise_work(mercer_ctx *ctx, const mc_problem *p);

/* ---- The certificate ---- */

typedef struct mc_loss_findings {
    double primal, dual, rounding, square_norm;
    double zero;      /* the objective of f = 0 */
    double reach;     /* largest k(x, x) */
    double each;      /* what a computed f can be wrong by */
    double distance;  /* |f - f*| in H is no more */
    double intercept; /* nor is |b - b*| */
} mc_loss_findings;
/* t->f <- K alpha in double precision from the rows, for all columns of the tasks, and what follows from it. */
mercer_status mc_loss_certify(mercer_ctx *ctx, const mc_problem *p, mc_loss_task *tasks, int64_t count,
                              mc_loss_findings *out);

#endif
