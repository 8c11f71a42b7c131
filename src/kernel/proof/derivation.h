/* derivation.h: a proof as data: numbered lines, each a judgement about a term, the rule it follows by and the earlier
   lines it uses.

   prove.c searches for one and may be as clever as it likes; check_proof.c reads one line after the other and believes
   nothing else. What the rules say in words is in rules.c. */
#ifndef MC_KERNEL_PROOF_DERIVATION_H
#define MC_KERNEL_PROOF_DERIVATION_H

#include "kernel/proof/term.h"

typedef enum mc_judgement {
    MC_IS_KERNEL, /* positive definite: sum_ij w_i w_j k(x_i, x_j) >= 0 for all points and weights */
    /* conditionally negative definite: the same sum is <= 0 whenever the weights add up to 0; and >= 0 in value */
    MC_IS_CND,
    MC_ALL_POWERS, /* not negative, and a kernel when raised to any power p > 0 (infinitely divisible) */
    /* conditionally positive definite: the sum is >= 0 whenever the weights add up to 0; of order 2: whenever they are
       orthogonal to every linear function as well */
    MC_IS_CONDITIONAL,
    MC_IS_CONDITIONAL_2
} mc_judgement;

/* The public id and the words of each are in rules.c; what it needs is checked in check_proof.c. */
typedef enum mc_rule {
    /* where kernels come from */
    MC_RULE_CONSTANT,
    MC_RULE_WHITE,
    MC_RULE_LINEAR,
    MC_RULE_DOT,
    MC_RULE_FORM,
    MC_RULE_INTERSECTION,
    MC_RULE_ARCCOS,
    MC_RULE_HARMONIC,
    MC_RULE_TANH,
    MC_RULE_PRECOMPUTED,
    MC_RULE_USER,
    MC_RULE_SPECTRUM,
    MC_RULE_TEXT_FEATURES,
    MC_RULE_MEAN_MAP,
    MC_RULE_TANIMOTO,
    MC_RULE_ADDITIVE_CHI2,
    MC_RULE_WENDLAND,
    MC_RULE_SINC,
    MC_RULE_BROWNIAN,
    MC_RULE_SPLINE,
    MC_RULE_GIBBS,
    MC_RULE_RBF_FORM,
    /* new kernels from old ones */
    MC_RULE_SUM,
    MC_RULE_PRODUCT,
    MC_RULE_POWER,
    MC_RULE_EXP,
    MC_RULE_POWER_SERIES,
    MC_RULE_NORMALIZE,
    MC_RULE_WEIGH,
    MC_RULE_COLUMNS,
    /* atoms by their definition */
    MC_RULE_POLY,
    MC_RULE_RBF,
    MC_RULE_COSINE,
    MC_RULE_SCHOENBERG,
    MC_RULE_MONOTONE,
    /* conditionally negative functions */
    MC_RULE_SQUARE,
    MC_RULE_ROOT,
    MC_RULE_COLUMN_SUM,
    MC_RULE_CHI2,
    MC_RULE_LOG,
    /* infinitely divisible kernels */
    MC_RULE_POWERS_ATOM,
    MC_RULE_POWERS_CONSTANT,
    MC_RULE_POWERS_WHITE,
    MC_RULE_POWERS_MINIMUM,
    MC_RULE_POWERS_PRODUCT,
    MC_RULE_POWERS_POWER,
    MC_RULE_POWERS_EXP,
    MC_RULE_POWERS_WEIGH,
    MC_RULE_POWERS_COLUMNS,
    MC_RULE_POWERS_NORMALIZE,
    MC_RULE_REAL_POWER,
    /* multiplied out */
    MC_RULE_COLLECT,
    MC_RULE_SERIES,
    MC_RULE_GAUSSIANS,
    MC_RULE_EXP_SHIFT,
    MC_RULE_INVERSE,
    MC_RULE_REST,
    MC_RULE_SIGN_MEAN,
    MC_RULE_UNFOLD,
    MC_RULE_UNFOLD_SERIES,
    MC_RULE_COLUMN_FORMS,
    MC_RULE_CONDITIONED,
    MC_RULE_TAYLOR,
    MC_RULE_OUTWEIGHED,
    MC_RULE_SPECTRA,
    MC_RULE_SPHERE,
    MC_RULE_REMAINDER,
    MC_RULE_WHITE_DIAGONAL,
    MC_RULE_COMMON_VIEW,
    /* functions of the distance, and what is conditionally positive */
    MC_RULE_BERNSTEIN,
    MC_RULE_CENTRED,
    MC_RULE_CONDITIONAL_ATOM,
    MC_RULE_CONDITIONAL_SUM,
    MC_RULE_CONDITIONAL_MULTIPLE,
    MC_RULE_CONDITIONAL_COLUMNS,
    MC_RULE_CONDITIONAL_BERNSTEIN,
    MC_RULE_INVERSE_CONDITIONAL,
    MC_RULE_POWERS_INVERSE,
    MC_RULE_THIN_PLATE,
    MC_RULE_CONDITIONAL_2_SUM,
    MC_RULE_CONDITIONAL_2_MULTIPLE,
    MC_RULE_CONDITIONAL_2_COLUMNS,
    MC_RULE_EXP_CONDITIONAL,
    MC_RULE_POWERS_EXP_CONDITIONAL,
    MC_RULE_COUNT
} mc_rule;

typedef struct mc_proof_line {
    mc_judgement judgement;
    const mc_term *term;
    int64_t d; /* for points with d columns in view; 0: for any number of columns the term allows */
    mc_rule rule;
    int premises;
    int *premise; /* earlier lines, from 0 */
} mc_proof_line;

typedef struct mc_derivation {
    mc_pool pool;
    mc_proof_line *line;
    int count, capacity;
} mc_derivation;

/* What stands in the exponent: atom = exp(-this). NULL where the argument takes another way. For MC_ALL_POWERS every
   such atom has one. */
const mc_term *mc_minus_log(mc_pool *pool, const mc_node *atom);

/* check_proof.c: true when every line follows from earlier ones by its rule and the last one states the goal of root on
   R^d (0: every d). The first line that does not is *bad; -1 when all do but the last says something else. */
mercer_status mc_check_derivation(mercer_ctx *ctx, const mc_derivation *derivation, mc_judgement goal,
                                  const mc_node *root, int64_t d, bool *valid, int *bad);

#endif
