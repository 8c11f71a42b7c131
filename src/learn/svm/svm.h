/* svm.h: support vector machines (problem/svm_problem.h), between the files that solve for them.

       svm_settings.c  the settings rows of the five machines
       svm.c           the order of work: rows made ready, quadratic programs solved, vectors kept, everything certified
       svm_stored.c    a K of a few thousand rows that all quadratic programs share
       kept_matrix.c   that K, made as far as it is asked for where one program has it
       svm_pairs.c     pairs of classes side by side
       svm_device.c    all quadratic programs at once on a device that holds K
       pair_matrix.c   K of a pair in the memory of a thread, and of each class for all its pairs
       svm_matrix.c      K of a quadratic program (kernel_matrix.h), within the memory limit
       svm_margin.c      the margin of nu-svc, or the nearest nu that has one
       svm_support_vectors.c   what stays: support vectors, coefficients, intercepts, weight vectors
       svm_hard_margin.c      the hard margin, and a very large C, by a rising one
       svm_initial.c     multipliers to start from: none, or those of a model
       svm_checkpoint.c  the state of the quadratic programs in a file
       svm_predictor.c    the next C of a path, first among the rows next to the margin
       svm_path.c      one solution after the other along C, each from the last
       svm_folds.c     many splits and values of C over one K
       svm_fold_path.c   their quadratic programs along C
       fold_matrix.c   that K, as each of their quadratic programs sees it
       svm_duplicates.c     equal rows */
#ifndef MC_LEARN_SVM_SVM_H
#define MC_LEARN_SVM_SVM_H

#include "learn/common/driver.h"
#include "learn/common/machines.h"
#include "problem/svm_problem.h"
#include "qp/active_set.h"
#include "qp/row_store.h"

typedef struct mc_svm_checkpoint mc_svm_checkpoint;

enum {
    MC_SVM_DOUBLE_ROWS = 3000, /* up to so many rows K is kept in double: that costs nothing worth saving */
    MC_SVM_SHARED_ROWS = 4000, /* likewise, where several programs share it */
    MC_SVM_LONG = 64           /* values to a row from which entries of K are worth keeping */
};
#define MC_SVM_SAFETY 0.5 /* of the tolerance, so that the exact values pass too */

/* How the quadratic programs of a machine are being solved. */
typedef struct mc_svm_solver {
    mercer_dtype dtype;  /* of stored blocks of K */
    int64_t most;        /* variables solved for at a time */
    int64_t whole;       /* or all of a quadratic program, where it has no more and most of them are free; 0: never */
    mc_row_store *store; /* of rows of K, where it is worth it; those of the quadratic program `stored` */
    const mc_svm_program *stored;
    /* along a path K is kept where there is room, and what was opened to compute it, of one task; NULL: nothing is */
    struct mc_svm_rows_open *open;
    mc_active_buffer buffer;
    bool warm;                     /* beta and f of the tasks are a start worth keeping */
    int64_t rows;                  /* of the training data, those of weight zero counted */
    mc_svm_checkpoint *checkpoint; /* the checkpoint; NULL: none is written */
    int64_t next; /* the task being solved; resumed: from its beta and f, with noise2 as in qp/active_set.h */
    bool resumed, checkpointing;
    double noise2;
} mc_svm_solver;

/* svm.c: the order of work, in pieces. s is empty after a failure to open, and closed in any case. */
mercer_status mc_svm_open(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                          const mercer_data *data, mc_svm *s);
void mc_svm_close(mc_svm *s);
/* That solves for s->C, certifies and reports; s is opened by it, from its kind and settings, or is open. */
mc_driver mc_svm_driver(mc_svm *s);

/* svm_matrix.c */
mercer_status mc_svm_rows_open(mercer_ctx *ctx, mc_svm *s);
void mc_svm_rows_close(mc_svm *s);
mercer_dtype mc_svm_dtype(const mercer_svm *set, int64_t n);
/* That of one fit, which knows its C: double where the multipliers are too large for floats. rows_refine, after
   rows_open, takes it. */
mercer_status mc_svm_fit_dtype(mercer_ctx *ctx, const mc_svm_variant *variant, const mercer_svm *set,
                               const mc_problem *p, mercer_dtype *out);
mercer_status mc_svm_rows_refine(mercer_ctx *ctx, mc_svm *s);
/* Variables of m that fit in the memory left, and the bytes a fit takes with them. */
int64_t mc_svm_active(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype);
size_t mc_svm_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype);
/* Whether that could have been the number of variables, with more memory or less. */
bool mc_svm_may_take(const mc_svm *s, int64_t most);
/* Variables of a quadratic program of this kind that may be solved for at once, although they are more: that many, or
   none. */
int64_t mc_svm_whole(mercer_ctx *ctx, const mc_svm_variant *variant, const mc_problem *p, mercer_dtype dtype);
/* What it takes beside, of what is then left, with so many at once, and where steps on pairs are too slow. */
size_t mc_svm_spare_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m, int64_t whole, mercer_dtype dtype);
/* What storing the active part of K and the steps over it take, in operations of a factorisation: for the seconds of a
   plan. */
double mc_svm_storing_work(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype);
mercer_status mc_svm_program_solve(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t);
/* f <- K beta; nothing to do where beta is zero and f too. */
mercer_status mc_svm_program_product(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t);

/* svm.c: solve from where the task stands, and take unit and intercept from the solution. */
mercer_status mc_svm_program_improve(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t);
/* svm_hard_margin.c: the same without a bound on the multipliers; data that no margin separates are an error. */
mercer_status mc_svm_program_hard_margin(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t);
/* The same for a finite C that is too large to begin with, and whether it is. */
bool mc_svm_program_C_is_large(const mc_svm *s, const mc_svm_program *t);
mercer_status mc_svm_program_raise_C(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t);

/* svm_stored.c: every program over one K that is kept, where that is how it is best done; *solved: it was. */
mercer_status mc_svm_solve_stored(mercer_ctx *ctx, mc_svm *s, bool *solved);
/* What that takes, or the queue of pairs, where mc_svm_bytes does not have it. */
size_t mc_svm_shared_bytes(mercer_ctx *ctx, const mc_svm_variant *variant, const mercer_svm *set, const mc_problem *p);
bool mc_svm_by_pairs(const mc_svm_variant *variant, const mercer_svm *set,
                     const mc_problem *p); /* of several classes */
/* One program over a K in memory, on the thread that calls, with scratch of these bytes: f = K beta of the start; then
   steps, for a round or until its tolerance is met; and what steps have not settled, on all threads. */
typedef struct mc_stored_progress {
    bool nearest, done, left; /* it is that of the nearest nu that has a margin; steps do not settle it */
    bool refused;             /* left, for there is no margin */
} mc_stored_progress;
size_t mc_stored_program_bytes(int64_t n, int64_t m);
void mc_stored_program_begin(const mc_svm *s, mc_svm_program *t, const mc_kernel_runs *K, mc_work work);
void mc_stored_program_step(const mc_svm *s, mc_svm_program *t, const mc_kernel_runs *K, mc_work work,
                            mc_stored_progress *p);
mercer_status mc_stored_program_finish(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t, const mc_stored_progress *p);

/* svm_device.c: every program at once on a device that holds all of K, where that pays; *solved: it was. */
mercer_status mc_svm_solve_on_device(mercer_ctx *ctx, mc_svm *s, bool *solved);

/* kept_matrix.c: that K, of one program as far as it asks for rows; whether making them failed; all of it, which those
   want who do not ask. */
size_t mc_svm_kept_bytes(int64_t n);
mercer_status mc_svm_kept_open(mercer_ctx *ctx, mc_svm *s);
mercer_status mc_svm_kept_status(const mc_svm *s);
mercer_status mc_svm_kept_complete(mercer_ctx *ctx, mc_svm *s);
void mc_svm_kept_close(mc_svm *s);

/* svm_pairs.c: pairs of classes as a queue over the threads; those solved are marked so. */
mercer_status mc_svm_solve_pairs(mercer_ctx *ctx, mc_svm *s);
size_t mc_svm_pairs_bytes(mercer_ctx *ctx, const mc_problem *p); /* that this takes */
/* For mc_sort, of tasks of an mc_svm: those of the most rows first. */
int mc_svm_by_rows(const void *svm, int64_t a, int64_t b);

/* svm_margin.c: what a solution says of the margin of nu-svc; where it is not known the tolerance is lowered. */
typedef enum mc_margin { MC_MARGIN_FOUND, MC_MARGIN_UNKNOWN, MC_MARGIN_NEAREST, MC_MARGIN_NONE } mc_margin;
mc_margin mc_svm_program_find_margin(const mc_svm *s, mc_svm_program *t);
mercer_status mc_svm_program_settle_margin(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t);
/* The machine whose program has the answer of the nearest nu, its multipliers C times those of nu-svc; and back, from
   its solution. */
mc_svm mc_svm_nearest_begin(const mc_svm *s, mc_svm_program *t);
void mc_svm_nearest_end(const mc_svm *s, const mc_svm *svc, mc_svm_program *t);

/* svm_initial.c: a feasible start of every task; and of one whose sums want many multipliers that are not zero, over
   rows that are made when they are asked for, one of the rows that are likely to keep them. */
mercer_status mc_svm_start_programs(mercer_ctx *ctx, mc_svm *s);
void mc_svm_program_choose_start(const mc_svm *s, mc_svm_program *t, const mc_kernel_runs *K, mc_work work);

/* svm_checkpoint.c: the state of an earlier run, where there is one; the state now; at a checkpoint of the solver; the
   end. */
typedef struct mc_svm_checkpoint_task {
    mc_svm *s;
    mc_smo_result before; /* of the task, without the solution under way */
} mc_svm_checkpoint_task;
mercer_status mc_svm_checkpoint_resume(mercer_ctx *ctx, mc_svm *s);
mercer_status mc_svm_checkpoint_save(mercer_ctx *ctx, mc_svm *s, bool now);
mercer_status mc_svm_checkpoint_callback(mercer_ctx *ctx, void *arg, const mc_smo_result *so_far, double noise2);
void mc_svm_checkpoint_close(mc_svm *s);

/* svm_predictor.c: a start for the quadratic program on all rows, where it is worth it; what is left in f goes to
   noise2. */
struct mc_kernel_matrix;
mercer_status mc_svm_program_predict(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t,
                                     const struct mc_kernel_matrix *rows, mc_active_problem *whole,
                                     mc_smo_result *result);

/* svm_support_vectors.c: kernel and scale stay with the problem; out gets the rest. */
mercer_status mc_svm_keep_vectors(mercer_ctx *ctx, const mc_svm *s, mc_fitted *out);
mercer_status mc_svm_primal(mercer_ctx *ctx, mc_fitted *f);

/* svm_path.c: after C has been multiplied by rise, a feasible start with its f from the solution for the last C.
   duplicate: of each variable the one of the other sign on an equal row, -1: none; NULL: there are none. */
mercer_status mc_svm_program_warm_start(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, const mc_dual *dual,
                                        const mc_matrix *matrix, const int64_t *duplicate, double rise);

/* svm_duplicates.c: same[i] <- the first row equal to row i in every value; rows with texts are equal to themselves
   alone. */
mercer_status mc_rows_same(mercer_ctx *ctx, const mercer_data *x, int64_t *same);
/* Equal rows of one class of a classifier become one. to[i] <- the place of row i now; same[k], for the rows there are
   now, as above. costs are no longer those of the rows. */
mercer_status mc_svm_merge_duplicates(mercer_ctx *ctx, mc_svm *s, int64_t *to, int64_t *same);

/* svm_path.c: the solution for a larger C is to start from the last one. */
void mc_svm_raise_C(mc_svm *s, double C);
/* each is shown the function of every C in turn, with kernel and scale borrowed for the call. */
mercer_status mc_svm_path(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                          const mercer_data *data, const double *C, int64_t count, mc_fitted_each *each, void *arg);

#endif
