/* prove_atoms.c: derivations of single functions of the language and of the distances that they are made of. */
#include "kernel/evaluate/row_sets.h"
#include "kernel/proof/prover.h"
#include "kernel/language/atoms.h"
#include "kernel/language/user_function.h"
#include "kernel/proof/exact.h"

/* ---- conditionally negative functions ---- */

static int prove_cnd_special(mc_prover *p, const mc_term *term, int64_t d) {
    const mc_node *owner = term->node;
    switch (term->special) {
    case MC_COLUMN_SQUARE:
    case MC_DISTANCE_SQUARE:
    case MC_SCALED_SQUARE:
    case MC_CIRCLE_SQUARE: return mc_claim_outright(p, MC_IS_CND, term, d, MC_RULE_SQUARE);
    case MC_COLUMN_DISTANCE:
        return mc_claim_from(p, MC_IS_CND, term, d, MC_RULE_ROOT,
                             mc_claim_cnd(p, mc_term_special(p->pool, MC_COLUMN_SQUARE, NULL), d));
    case MC_SCALED_DISTANCE:
        return mc_claim_from(p, MC_IS_CND, term, d, MC_RULE_ROOT,
                             mc_claim_cnd(p, mc_term_special(p->pool, MC_SCALED_SQUARE, owner), d));
    case MC_SUM_DISTANCE:
        return mc_claim_from(p, MC_IS_CND, term, d, MC_RULE_COLUMN_SUM,
                             mc_claim_cnd(p, mc_term_special(p->pool, MC_COLUMN_DISTANCE, NULL), d));
    case MC_CHI2_DISTANCE:
        return mc_claim_from(p, MC_IS_CND, term, d, MC_RULE_CHI2,
                             mc_claim_kernel(p, mc_term_special(p->pool, MC_HARMONIC, NULL), d));
    case MC_DISTANCE_PSI:
        return mc_claim_from(p, MC_IS_CND, term, d, MC_RULE_BERNSTEIN,
                             mc_claim_cnd(p, mc_term_special(p->pool, MC_DISTANCE_SQUARE, NULL), d));
    case MC_RQ_LOG:
    case MC_MATERN_LOG:
        return mc_claim_from(p, MC_IS_CND, term, d, MC_RULE_LOG,
                             mc_claim_cnd(p, mc_term_special(p->pool, MC_SCALED_SQUARE, owner), d));
    default: return MC_NO_LINE;
    }
}

int mc_claim_cnd(mc_prover *p, const mc_term *term, int64_t d) {
    if (!term)
        return MC_NO_LINE;
    const int known = mc_find_proof_line(p, MC_IS_CND, term, d);
    return known != MC_NO_LINE ? known : prove_cnd_special(p, term, d);
}

/* ---- kernels ---- */

static int prove_schoenberg(mc_prover *p, const mc_term *term, int64_t d) {
    return mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_SCHOENBERG,
                         mc_claim_cnd(p, mc_minus_log(p->pool, term->node), d));
}

static int prove_monotone(mc_prover *p, const mc_term *term, int64_t d) {
    return mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_MONOTONE,
                         mc_claim_cnd(p, mc_term_special(p->pool, MC_SCALED_SQUARE, term->node), d));
}

int mc_claim_by_psi(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule) {
    return mc_claim_from(p, judgement, term, d, rule,
                         mc_claim_cnd(p, mc_term_special(p->pool, MC_DISTANCE_PSI, term->node), d));
}

static int prove_tanh(mc_prover *p, const mc_term *term, int64_t d) {
    const mc_value *v = term->node->parameter;
    const bool constant = mc_value_is_zero(&v[0]) && mc_value_range(&v[1]).lo >= 0;
    return constant ? mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_TANH) : MC_NO_LINE;
}

static int prove_form(mc_prover *p, const mc_term *term, int64_t d, mc_rule rule) {
    const mc_value *A = &term->node->parameter[0];
    mc_psd psd = MC_PSD_UNSURE;
    if (A->kind == MC_VALUE_MATRIX)
        p->status = mc_psd_test(p->ctx, A->numbers, A->rows, &psd);
    return psd == MC_PSD_YES ? mc_claim_outright(p, MC_IS_KERNEL, term, d, rule) : MC_NO_LINE;
}

static int prove_unfolded(mc_prover *p, const mc_term *term, int64_t d, mc_rule rule) {
    const mc_term *inside = mc_term_unfold(p->pool, term->node);
    return inside ? mc_claim_from(p, MC_IS_KERNEL, term, d, rule, mc_claim_kernel(p, inside, d)) : MC_NO_LINE;
}

/* Its rows have columns of their own; where these are not known yet, any number. */
static int prove_mean_map(mc_prover *p, const mc_term *term, int64_t d) {
    const mc_value *columns = &term->node->parameter[MC_SET_COLUMNS];
    const int64_t inside = columns->kind == MC_VALUE_NUMBER ? (int64_t)columns->number : 0;
    return mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_MEAN_MAP, mc_claim_kernel(p, term->child[0], inside));
}

int mc_prove_atom(mc_prover *p, const mc_term *term, int64_t d) {
    const mc_node *node = term->node;
    const double nu = mc_value_range(&node->parameter[0]).hi;
    switch (node->atom) {
    case MC_LINEAR: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_LINEAR);
    case MC_POLY: return prove_unfolded(p, term, d, MC_RULE_POLY);
    case MC_RBF: {
        const int line = prove_unfolded(p, term, d, MC_RULE_RBF);
        return line == MC_NO_LINE ? prove_schoenberg(p, term, d) : line;
    }
    case MC_LAPLACIAN:
    case MC_EXPONENTIAL:
    case MC_PERIODIC:
    case MC_CHI2: return prove_schoenberg(p, term, d);
    case MC_MATERN: return nu == 0.5 ? prove_schoenberg(p, term, d) : prove_monotone(p, term, d);
    case MC_RQ: return prove_monotone(p, term, d);
    case MC_COSINE:
        return mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_COSINE, mc_claim_kernel(p, mc_term_linear(p->pool), d));
    case MC_INTERSECTION: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_INTERSECTION);
    case MC_ARCCOS: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_ARCCOS);
    case MC_TANH: return prove_tanh(p, term, d);
    case MC_WHITE: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_WHITE);
    case MC_FORM: return prove_form(p, term, d, MC_RULE_FORM);
    case MC_SPECTRUM:
        return mc_claim_outright(p, MC_IS_KERNEL, term, d,
                                 mc_value_range(&node->parameter[1]).hi == 0 ? MC_RULE_SPECTRUM
                                                                             : MC_RULE_TEXT_FEATURES);
    case MC_SUBSEQUENCE:
    case MC_WEIGHTED_DEGREE:
    case MC_WORDS:
    case MC_TFIDF: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_TEXT_FEATURES);
    case MC_MEAN_MAP: return prove_mean_map(p, term, d);
    case MC_TANIMOTO: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_TANIMOTO);
    case MC_ADDITIVE_CHI2: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_ADDITIVE_CHI2);
    case MC_WENDLAND:
        return d > 0 && d <= mc_wendland_columns(node) ? mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_WENDLAND)
                                                       : MC_NO_LINE;
    case MC_SINC: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_SINC);
    case MC_BROWNIAN: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_BROWNIAN);
    case MC_SPLINE: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_SPLINE);
    case MC_GIBBS: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_GIBBS);
    case MC_RBF_FORM: return prove_form(p, term, d, MC_RULE_RBF_FORM);
    case MC_POWER_DISTANCE:
    case MC_LOG:
    case MC_MULTIQUADRIC:
        return mc_atom_is_centred(node) ? mc_claim_by_psi(p, MC_IS_KERNEL, term, d, MC_RULE_CENTRED) : MC_NO_LINE;
    case MC_USER:
        return mc_user_positive(node->parameter[0].user) ? mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_USER)
                                                         : MC_NO_LINE;
    case MC_PRECOMPUTED: return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_PRECOMPUTED);
    default: return MC_NO_LINE;
    }
}
