/* fitted.h: what a machine hands over: kernel expansions, what they decide, and how good they are. */
#ifndef MC_PREDICT_FITTED_H
#define MC_PREDICT_FITTED_H

#include "data/table/scale.h"
#include "gram/operator/gram.h"

/* What the decisions d(x) = sum_i coefficient_i k(x_i, x) + intercept mean.

       values   one per output; for classes the largest wins
       pairs    one for every pair of classes (0,1), (0,2), ..., (1,2), ..., positive for the first of the two; votes
       are counted.
                A centre of class c meets the other classes only, so alpha has classes - 1 columns: column j of it
                belongs to the pair with class j below c, with class j + 1 from c on. Centres of one class stand
                together
       region   one, positive inside: classes "-1" and "1"
       neighbours  one per output: sum of alpha_ik / sum of the weights over the nearest centres; alpha has one column
       more, the weight
                of the row, which multiplies the other columns too */
typedef enum mc_form { MC_VALUES, MC_PAIRS, MC_REGION, MC_NEIGHBOURS, MC_FORMS } mc_form;
extern const char *const mc_form_names[MC_FORMS];

typedef struct mc_fitted {
    mercer_kernel *kernel; /* bound */
    mercer_data
        *centres; /* the rows x_i, scaled, with the names, labels and schema of the training data but no targets */
    mc_scale scale;
    mc_form form;
    int64_t outputs;      /* columns of a prediction */
    double *alpha;        /* centres x width, row-major */
    double *noise;        /* centres: variance of the noise of each; NULL: the machine has none */
    double *intercept;    /* one per decision */
    int64_t *class_start; /* pairs: the first centre of each class, and the end; NULL otherwise */
    int64_t *row;         /* the place of each centre in the training data; NULL: all of them in order */
    bool open;            /* rows may have more columns than the centres, which are 0 there */
    /* centres are frequencies, the same twice: the first half of alpha goes with cosines, the second with sines */
    bool fourier;
    double *spectrum; /* principal components: eigenvalue and bound of each, outputs x 2; NULL otherwise */
    bool by_distance; /* neighbours: weighted by 1 / distance; how many: report.neighbors */
    /* support vector machines: weight of each centre, that of its class included; NULL otherwise */
    double *cost;
    /* and decisions x 2: C, so that the multiplier of a centre is at most C cost (0: without end), and epsilon */
    double *box;
    double *solved; /* and decisions x 2: the dual objective of its quadratic program, and steps; not saved; or NULL */
    double *
        /* weights of the explicit features of the kernel, decisions x features: ridge by primal, which has no centres,
           and support vector machines with a linear kernel, beside their centres; NULL otherwise */
        primal;
    int64_t features;
    /* packed centres, one place for every class of pairs or one for all (packed_cache.h); NULL: packed anew each time
       */
    struct mc_packed_cache *packed_cache;
    mercer_report report;
} mc_fitted;

struct mc_problem;
/* Places for packed centres; the last thing done to a model that is going to be predicted with. */
mercer_status mc_fitted_open_cache(mercer_ctx *ctx, mc_fitted *fitted);
/* The kernel, the rows and the scaling of a solved problem change hands. */
void mc_fitted_take(mc_fitted *fitted, struct mc_problem *problem, double seconds);
void mc_fitted_free(mc_fitted *fitted);
/* The option of fit with which a machine whose model is weights of features keeps rows instead. */
const char *mc_rows_solver(const mc_fitted *f);
/* One of several functions, shown with kernel and scale borrowed for the call. */
typedef mercer_status mc_fitted_each(mercer_ctx *ctx, void *arg, int64_t k, const mc_fitted *f);
mercer_status mc_fitted_show(mercer_ctx *ctx, mc_fitted *f, mercer_kernel *kernel, mc_scale scale, int64_t k,
                             mc_fitted_each *each, void *arg);
/* Columns of alpha, and number of decisions, of a form with so many outputs. */
int64_t mc_form_width(mc_form form, int64_t outputs);
int64_t mc_form_decisions(mc_form form, int64_t outputs);
/* The coefficient of a centre in a decision. */
double mc_fitted_coefficient(const mc_fitted *f, int64_t centre, int64_t decision);
/* The classes of a pair in that order, and back. */
void mc_pair_classes(int64_t classes, int64_t pair, int64_t *first, int64_t *second);
int64_t mc_pair_of(int64_t classes, int64_t first, int64_t second);
/* Of every pair the first class has the vote where the decision is above 0, else the second. The class with the most
   votes wins, the first of equals. */
int64_t mc_pair_votes(int64_t classes, const double *decision, int64_t c);
int64_t mc_pair_winner(int64_t classes, const double *decision);
/* The decision between a class and another, and the column of alpha in which centres of the first of these two have
   their part of it. */
typedef struct mc_pair_part {
    int64_t decision, column;
} mc_pair_part;
mc_pair_part mc_pair_part_of(int64_t classes, int64_t own, int64_t other);
/* decisions (n x pairs) += the parts (n x classes - 1) of the centres of class c. */
void mc_pairs_add_class(int64_t classes, int64_t c, int64_t n, const double *part, double *decisions);

/* Decisions for rows scaled as the centres are: n x decisions. *error, where asked for, is raised to that of
   the products. */
mercer_status mc_fitted_decide(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out,
                               mc_product_error *error);
/* The worst of the products that mc_fitted_decide would make for these rows. For decisions through centres. */
mercer_status mc_decision_error(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, mc_product_error *error);
/* Outputs from the decisions of one row: the values themselves, votes, or the two sides of a region. */
void mc_fitted_conclude(const mc_fitted *f, const double *decision, double *out);
/* The place of the first of the largest values: the class that wins. */
int64_t mc_largest_index(const double *values, int64_t count);
/* The class with the largest of these. */
int64_t mc_fitted_winner(const mc_fitted *f, const double *decision);
/* The class that wins each of these rows. *floats: whether to screen in float32 first (classify_float32.c); false
   afterwards where that did not pay. */
mercer_status mc_fitted_classify(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, bool *floats,
                                 int64_t *out);

/* What a machine hands out is made of numbers; where it is not, the error names the row, the value and what helps:
   coefficients, intercepts, weights and the objective of a function that was just fitted. */
mercer_status mc_finite_fitted(mercer_ctx *ctx, const mc_fitted *f);
/* Values of rows, n x width. */
mercer_status mc_finite_values(mercer_ctx *ctx, const mercer_data *rows, int64_t width, const double *values);

#endif
