/* svm_problem.h: support vector machines as quadratic programs (qp/smo.h), and back (svm_dual.c). learn/svm solves
   them, certify/svm_certificate.c checks what came out; both see the problem here and neither the other. */
#ifndef MC_PROBLEM_SVM_PROBLEM_H
#define MC_PROBLEM_SVM_PROBLEM_H

#include "problem/problem.h"
#include "qp/stored_smo.h"

typedef enum mc_svm_kind { MC_SVC, MC_NU_SVC, MC_SVR, MC_NU_SVR, MC_ONE_CLASS, MC_SVM_KINDS } mc_svm_kind;

typedef struct mc_svm_variant {
    const char *name;
    bool classes; /* a target of classes; otherwise numbers, or none */
    bool doubled; /* two variables per row: above and below the tube */
    bool grouped; /* the multipliers of each sign keep their own sum */
    bool has_C;   /* the bounds carry C */
} mc_svm_variant;
extern const mc_svm_variant mc_svm_variants[MC_SVM_KINDS];

/* What the last certificate of a path has computed of a quadratic program: the next one computes what has changed
   since. */
typedef struct mc_certified_product {
    double *c;    /* n: the multipliers of the rows; NULL: nothing is remembered */
    double *f;    /* n: K c in double, NAN where that was not computed */
    double error; /* of f, at most */
} mc_certified_product;

/* One quadratic program: a pair of classes, a class against the rest, one target column, or all rows. Its rows are
   numbered from 0: first those of class a, then those of class b; otherwise all in order. */
typedef struct mc_svm_program {
    int64_t a, b;   /* +1 on class a, -1 on class b (-1: on all the others); a -1: no classes */
    int64_t output; /* column of Y; 0 with classes */
    int64_t n, m, split;
    double *beta; /* m multipliers */
    double *f;    /* n: K beta */
    /* n: how wrong f is at most, beside own; infinite where that is not known; NULL: nobody keeps account */
    double *error;
    double certified_error; /* how wrong values are at most that the certificate has computed */
    bool error_is_known;    /* error is that of the solution */
    mc_certified_product certified;
    /* K of its rows, kept along a path where all of it is stored; NULL: made anew for every solution */
    void *whole_K;
    double *previous_decision; /* n: f + b of the last C but one of a path; NULL: there is none */
    double previous_rise;      /* C of the last over that of the last but one */
    double rise;      /* what C has been multiplied by since f and the intercept were a solution; 0: they are none */
    bool solved;      /* with other pairs of classes at once */
    bool decided;     /* f is K beta as it is certified: beta has not changed since */
    double tolerance; /* for the next solution */
    double nu;        /* of nu-svc that was raised or lowered to where there is an answer; 0: that of the settings */
    double unit;      /* a row's coefficient is unit times its multiplier: 1/r of nu-svc */
    double intercept, epsilon;
    mc_smo_result result;
    double primal, dual, norm2, violation, rounding; /* by the certificate */
    double primal_rounding, norm2_rounding;          /* the part of rounding that is of primal; that of norm2 */
    double zero;                                     /* the objective of f = 0 */
    /* of the decision: |f - f*| in H and |b - b*| are no more; infinite where nothing is known */
    double distance, intercept_error;
    int64_t free, bounded;
} mc_svm_program;

/* K of all rows as the operator made it from them in double, kept while programs over it are solved and certified; or
   that operator alone, where every pair of classes had its K for as long as it was solved. */
typedef struct mc_kept_kernel {
    struct mc_gram *gram; /* NULL: nothing is kept */
    double *K;            /* NULL: it is not kept */
    int64_t ld;
    struct mc_rows_on_demand *demand; /* rows of it that are there; NULL: all are, each in its own place */
} mc_kept_kernel;

typedef struct mc_svm {
    mc_svm_kind kind;
    const mc_svm_variant *variant;
    const mercer_svm *set;
    double C;                /* set->C; on the way to a hard margin the C of the moment */
    mc_problem p;            /* rows sorted by class; p.Y in that order */
    int64_t *order;          /* place in the training data of each row */
    int64_t classes, *start; /* the first row of each class, and the end; {0, n} without classes */
    double *cost;            /* n: row weight x class weight */
    int64_t tasks;
    mc_svm_program *task;
    double *diagonal; /* of K */
    mc_kept_kernel kept;
    bool path;                    /* solved for one C after the other */
    struct mc_svm_solver *solver; /* how it is being solved (learn/svm/svm.h): no certificate looks at it */
} mc_svm;

mercer_status mc_svm_programs_open(mercer_ctx *ctx, mc_svm *s);
/* What the quadratic programs of more than two classes take, by themselves and in the model. */
size_t mc_svm_programs_bytes(const mercer_svm *set, const mc_problem *p);
void mc_svm_programs_close(mc_svm *s);
const char *mc_svm_program_second(const mc_svm *s, const mc_svm_program *t); /* what class a is told from, in words */
/* ---- Of one row, asked for in every loop over rows ---- */

/* The row of p.x behind row i of the task. */
static inline int64_t mc_svm_program_row(const mc_svm *s, const mc_svm_program *t, int64_t i) {
    return t->b < 0 ? i : i < t->split ? s->start[t->a] + i : s->start[t->b] + i - t->split;
}

/* The row of the task that row r of p.x is; negative: none. */
static inline int64_t mc_svm_program_place(const mc_svm *s, const mc_svm_program *t, int64_t r) {
    if (t->b < 0)
        return r;
    const int64_t a = r - s->start[t->a], b = r - s->start[t->b];
    return a >= 0 && a < t->split ? a : b >= 0 && b < t->n - t->split ? t->split + b : -1;
}

static inline double mc_svm_program_sign(const mc_svm *s, const mc_svm_program *t, int64_t variable) {
    if (s->variant->doubled)
        return variable < t->n ? 1 : -1;
    if (!s->variant->classes)
        return 1;
    if (t->b >= 0)
        return variable < t->split ? 1 : -1;
    return variable >= s->start[t->a] && variable < s->start[t->a + 1] ? 1 : -1;
}

static inline double mc_svm_program_bound(const mc_svm *s, const mc_svm_program *t, int64_t i) {
    return (s->variant->has_C ? s->C : 1) * s->cost[mc_svm_program_row(s, t, i)];
}

/* Of row i: of both its variables. */
static inline double mc_svm_program_multiplier(const mc_svm_program *t, int64_t i) {
    return t->beta[i] + (t->m > t->n ? t->beta[t->n + i] : 0);
}

/* The same times the unit. */
static inline double mc_svm_program_coefficient(const mc_svm_program *t, int64_t i) {
    return t->unit * mc_svm_program_multiplier(t, i);
}

/* ---- The program of a task ---- */

/* The quadratic program written out. */
typedef struct mc_quadratic_program {
    mc_dual dual;
    double *q, *low, *high;
    int64_t *row;
    uint8_t *group;
    mc_work work; /* that it lies in, where it was opened */
} mc_quadratic_program;
mercer_status mc_quadratic_program_open(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t,
                                        mc_quadratic_program *out);
void mc_quadratic_program_close(mc_quadratic_program *p);
/* The same in pieces, for whoever has memory for many: slices for m variables, their bytes, and what stands in them. */
void mc_quadratic_program_lay_out(mc_work *work, int64_t m, mc_quadratic_program *out);
size_t mc_quadratic_program_bytes(int64_t m);
void mc_quadratic_program_write(const mc_svm *s, const mc_svm_program *t, mc_quadratic_program *out);
/* Where its rows stand in the K that is kept. A grouped machine has classes, or two variables to a row. */
mc_kernel_runs mc_svm_program_runs(const mc_svm *s, const mc_svm_program *t, mc_isa isa);
double mc_svm_program_nu(const mc_svm *s, const mc_svm_program *t);
void mc_svm_program_measure_nu(const mc_svm *s, mc_svm_program *t);         /* of nu-svc: nu from the multipliers */
double mc_svm_program_highest_nu(const mc_svm *s, const mc_svm_program *t); /* that nu-svc can have */
/* A feasible start, with MERCER_INVALID when nu leaves none. */
mercer_status mc_svm_program_start(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t);
/* unit, intercept and epsilon from the multipliers of the sums. */
void mc_svm_program_finish(const mc_svm *s, mc_svm_program *t, const double intercept[2]);
/* After C has been multiplied by the factor: multipliers and f times it, which is feasible; those at their bound stay
   there. */
void mc_svm_program_scale(const mc_svm *s, mc_svm_program *t, double factor);
/* the largest |K_ii| of its rows, which no other entry exceeds */
double mc_svm_program_top(const mc_svm *s, const mc_svm_program *t);
double mc_svm_program_mean_diagonal(const mc_svm *s, const mc_svm_program *t); /* of K on its rows; 1 when that is 0 */

#endif
