/* problem.h: data, kernel and scaling made ready for a machine: what every learner starts from.

   Rows of weight zero are gone, the columns are scaled, the kernel is bound to what is left, and proved or refused. Y
   holds numbers, or +1 in the column of the row's class and -1 in the others: one column per class, two classes
   included. */
#ifndef MC_PROBLEM_PROBLEM_H
#define MC_PROBLEM_PROBLEM_H

#include <mercer.h>
#include "data/table/scale.h"
#include "gram/operator/gram.h"

typedef struct mc_problem {
    mercer_kernel *kernel;
    bool proved;    /* false: not proved to be a kernel, taken by consent; then no bound holds */
    mercer_data *x; /* no targets, weights or texts; names, labels and schema as they came */
    mc_scale scale;
    int64_t n, outputs;
    double *Y;         /* n x outputs */
    double *given;     /* Y before mc_problem_centre; NULL: it is not centred */
    double *root;      /* square roots of the weights; NULL: all 1 */
    int32_t *class_of; /* n; NULL: numbers, or no target */
    mc_gram **gram;    /* one place, for the operator of few rows; NULL in it: nobody has asked yet */
} mc_problem;

/* Whether a kernel that is not proved is taken: the machine never does, or its setting says so. */
typedef enum mc_consent { MC_CONSENT_NEVER, MC_CONSENT_REFUSED, MC_CONSENT_GIVEN } mc_consent;

/* What a machine takes in place of a proved kernel. balanced: its coefficients sum to zero, so that a conditionally
   positive function is as good as the kernel that centring makes of it (kernel/language/centre.h). */
typedef struct mc_admission {
    mc_consent consent;
    bool balanced;
} mc_admission;

static inline mc_admission mc_admission_of(bool allow_indefinite, bool balanced) {
    return (mc_admission){allow_indefinite ? MC_CONSENT_GIVEN : MC_CONSENT_REFUSED, balanced};
}

static const mc_admission mc_admit_proved = {MC_CONSENT_NEVER, false};

/* scale: a name of mc_scaling_names. */
mercer_status mc_problem_open(mercer_ctx *ctx, const char *scale, mc_admission admission, const mercer_kernel *kernel,
                              const mercer_data *data, mc_problem *out);
/* The same for a machine that knows classes by their numbers: Y is NULL where the targets are classes. */
mercer_status mc_problem_open_classes(mercer_ctx *ctx, const char *scale, mc_admission admission,
                                      const mercer_kernel *kernel, const mercer_data *data, mc_problem *out);
/* The same for a machine that learns from the rows alone: a target is not needed and not looked at; outputs is 1 and Y
   NULL. */
mercer_status mc_problem_open_rows(mercer_ctx *ctx, const char *scale, mc_admission admission,
                                   const mercer_kernel *kernel, const mercer_data *data, mc_problem *out);
/* No row is needed any more: an empty table keeps the names and the schema. */
mercer_status mc_problem_drop_rows(mercer_ctx *ctx, mc_problem *problem);
void mc_problem_close(mc_problem *problem);
/* The operator of the rows in double. That of few rows is opened once, for solver and certificate alike, since making
   it takes as long as using it; closing it is left to mc_problem_close. */
mercer_status mc_problem_gram_open(mercer_ctx *ctx, const mc_problem *problem, mc_gram **out);
void mc_problem_gram_close(const mc_problem *problem, mc_gram *gram);
/* Where the rows of a problem, those of positive weight, stand in the data, in order; returns how many they are. */
int64_t mc_problem_places(const mercer_data *data, int64_t *place);

static inline double mc_problem_root(const mc_problem *p, int64_t i) {
    return p->root ? p->root[i] : 1;
}
static inline double mc_problem_weight(const mc_problem *p, int64_t i) {
    return p->root ? p->root[i] * p->root[i] : 1;
}

/* How many explicit features the kernel has; -1: none, or more than limit. Features that mercer_features would number
   otherwise, since it counts columns that are not kept, are none: but those of a linear kernel are the columns. */
int64_t mc_problem_features(const mc_problem *p, int64_t limit);

/* The weighted mean of each output; Y <- Y - mean; and Y as it was, which adding the mean would miss by a rounding that
   a check can see. */
void mc_problem_means(const mc_problem *problem, double *mean);
mercer_status mc_problem_centre(mercer_ctx *ctx, mc_problem *problem, const double *mean);
void mc_problem_restore(mc_problem *problem);

/* MERCER_DATA where the largest of these targets leaves no room for sums of squares in a double. who: fit, update. */
mercer_status mc_check_target_size(mercer_ctx *ctx, const char *who, const double *Y, int64_t count);

/* out: one weight per class of labels; class_of: n. machine names the owner in messages. */
mercer_status mc_class_weights(mercer_ctx *ctx, const char *machine, const char *text, const mercer_data *labels,
                               const int32_t *class_of, int64_t n, double *out);

#endif
