/* check_atoms.c: see check_atoms.h. */
#include "kernel/evaluate/row_sets.h"
#include "kernel/proof/check_atoms.h"
#include "kernel/language/user_function.h"
#include "kernel/proof/exact.h"

static bool is_positive_parameter(const mc_node *atom, int parameter) {
    return mc_value_range(&atom->parameter[parameter]).lo > 0;
}

static bool all_positive(const mc_node *atom) {
    for (int i = 0; i < mc_atoms[atom->atom].parameters; i++)
        if (!is_positive_parameter(atom, i))
            return false;
    return true;
}

/* ---- where kernels come from ---- */

bool mc_verify_constant(checker *c, const mc_proof_line *line) {
    (void)c;
    return line->term->kind == MC_T_NUMBER && no_premise(line) && mc_amount_range(line->term->amount).lo >= 0;
}

bool mc_verify_white(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_WHITE) && no_premise(line);
}

bool mc_verify_linear(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_LINEAR) && no_premise(line);
}

bool mc_verify_dot(checker *c, const mc_proof_line *line) {
    (void)c;
    return line->term->kind == MC_T_DOT && no_premise(line) && mc_amount_range(line->term->amount).lo >= 0;
}

static bool verify_matrix(checker *c, const mc_proof_line *line, mc_atom atom) {
    if (!is_atom(line, atom) || !no_premise(line))
        return false;
    const mc_value *A = &line->term->node->parameter[0];
    mc_psd psd = MC_PSD_UNSURE;
    if (A->kind != MC_VALUE_MATRIX || A->rows != A->columns || (line->d && line->d != A->rows))
        return false;
    c->status = mc_psd_test(c->ctx, A->numbers, A->rows, &psd);
    return psd == MC_PSD_YES;
}

bool mc_verify_form(checker *c, const mc_proof_line *line) {
    return verify_matrix(c, line, MC_FORM);
}

bool mc_verify_rbf_form(checker *c, const mc_proof_line *line) {
    return verify_matrix(c, line, MC_RBF_FORM);
}

bool mc_verify_intersection(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_INTERSECTION) && no_premise(line);
}

static bool is_order(double v) {
    return v == 0 || v == 1 || v == 2;
}

bool mc_verify_arccos(checker *c, const mc_proof_line *line) {
    (void)c;
    if (!is_atom(line, MC_ARCCOS) || !no_premise(line))
        return false;
    const mc_value *order = &line->term->node->parameter[0];
    if (order->kind != MC_VALUE_SET)
        return order->kind == MC_VALUE_NUMBER && is_order(order->number);
    for (int64_t i = 0; i < order->columns; i++)
        if (!is_order(order->numbers[i]))
            return false;
    return true;
}

bool mc_verify_harmonic(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_special(line, MC_HARMONIC) && no_premise(line);
}

bool mc_verify_rest(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_special(line, MC_REST_DOT) && no_premise(line);
}

bool mc_verify_sign_mean(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_special(line, MC_SIGN_MEAN) && no_premise(line) && line->term->node->atom == MC_ARCCOS
           && line->term->node->parameter[0].kind == MC_VALUE_NUMBER && is_order(line->term->node->parameter[0].number);
}

bool mc_verify_tanh_constant(checker *c, const mc_proof_line *line) {
    (void)c;
    if (!is_atom(line, MC_TANH) || !no_premise(line))
        return false;
    const mc_value *v = line->term->node->parameter;
    return mc_value_is_zero(&v[0]) && mc_value_range(&v[1]).lo >= 0;
}

bool mc_verify_precomputed(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_PRECOMPUTED) && no_premise(line);
}

bool mc_verify_user(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_USER) && no_premise(line) && mc_user_positive(line->term->node->parameter[0].user);
}

/* For every length p that it may have. */
bool mc_verify_spectrum(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_SPECTRUM) && no_premise(line) && mc_value_range(&line->term->node->parameter[0]).lo >= 1
           && mc_value_range(&line->term->node->parameter[1]).hi == 0;
}

/* Whatever their parameters are: features are real numbers. */
bool mc_verify_text_features(checker *c, const mc_proof_line *line) {
    (void)c;
    return line->term->kind == MC_T_ATOM && mc_atoms[line->term->node->atom].text && no_premise(line)
           && !mc_node_reads_sets(line->term->node);
}

bool mc_verify_mean_map(checker *c, const mc_proof_line *line) {
    const mc_value *columns = is_atom(line, MC_MEAN_MAP) ? &line->term->node->parameter[MC_SET_COLUMNS] : NULL;
    const bool known = columns && columns->kind == MC_VALUE_NUMBER;
    return columns && line->premises == 1 && line->term->children == 1
           && states_claim(nth_premise(c, line, 0), MC_IS_KERNEL, line->term->child[0],
                           known ? (int64_t)columns->number : 0);
}

/* Atoms that are kernels wherever they are defined. */
bool mc_verify_whole_atom(checker *c, const mc_proof_line *line) {
    static const mc_atom atom[MC_RULE_COUNT] = {[MC_RULE_TANIMOTO] = MC_TANIMOTO,
                                                [MC_RULE_ADDITIVE_CHI2] = MC_ADDITIVE_CHI2,
                                                [MC_RULE_SINC] = MC_SINC,
                                                [MC_RULE_SPLINE] = MC_SPLINE,
                                                [MC_RULE_GIBBS] = MC_GIBBS};
    (void)c;
    return is_atom(line, atom[line->rule]) && no_premise(line) && all_positive(line->term->node);
}

bool mc_verify_brownian(checker *c, const mc_proof_line *line) {
    (void)c;
    if (!is_atom(line, MC_BROWNIAN) || !no_premise(line))
        return false;
    const mc_interval hurst = mc_value_range(&line->term->node->parameter[0]);
    return hurst.lo > 0 && hurst.hi <= 1;
}

/* On at most as many columns as its dimension says. */
bool mc_verify_wendland(checker *c, const mc_proof_line *line) {
    (void)c;
    if (!is_atom(line, MC_WENDLAND) || !no_premise(line))
        return false;
    const mc_value *v = line->term->node->parameter;
    const mc_interval k = mc_value_range(&v[0]);
    return k.lo >= 0 && k.hi <= 2 && line->d > 0 && (double)line->d <= mc_value_range(&v[1]).lo
           && mc_value_range(&v[2]).lo > 0;
}

/* ---- atoms by their definition ---- */

static bool is_whole_value(const mc_value *v) {
    if (v->kind == MC_VALUE_RANGE)
        return is_natural_number(v->low) && is_natural_number(v->high); /* a whole parameter takes whole values only */
    if (v->kind == MC_VALUE_NUMBER)
        return is_natural_number(v->number);
    for (int64_t i = 0; i < v->columns; i++)
        if (!is_natural_number(v->numbers[i]))
            return false;
    return v->kind == MC_VALUE_SET;
}

bool mc_verify_poly(checker *c, const mc_proof_line *line) {
    return is_atom(line, MC_POLY) && is_whole_value(&line->term->node->parameter[0])
           && only_premise(c, line, MC_IS_KERNEL, mc_term_unfold(&c->pool, line->term->node));
}

bool mc_verify_rbf(checker *c, const mc_proof_line *line) {
    return is_atom(line, MC_RBF) && only_premise(c, line, MC_IS_KERNEL, mc_term_unfold(&c->pool, line->term->node));
}

bool mc_verify_cosine(checker *c, const mc_proof_line *line) {
    return is_atom(line, MC_COSINE) && only_premise(c, line, MC_IS_KERNEL, mc_term_linear(&c->pool));
}

/* exp(-psi) for psi conditionally negative definite. */
bool mc_verify_schoenberg(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_ATOM && only_premise(c, line, MC_IS_CND, mc_minus_log(&c->pool, line->term->node));
}

/* matern and rq are completely monotone functions of the squared distance: Matern of any order, and (1 + t/(2
   alpha))^-alpha. */
bool mc_verify_monotone(checker *c, const mc_proof_line *line) {
    return (is_atom(line, MC_MATERN) || is_atom(line, MC_RQ)) && all_positive(line->term->node)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_SCALED_SQUARE, line->term->node));
}

/* ---- conditionally negative functions ---- */

static bool has_square(mc_atom atom) {
    return atom == MC_RBF || atom == MC_EXPONENTIAL || atom == MC_MATERN || atom == MC_RQ;
}

bool mc_verify_square(checker *c, const mc_proof_line *line) {
    (void)c;
    const mc_node *owner = line->term->node;
    if (!no_premise(line))
        return false;
    return is_special(line, MC_COLUMN_SQUARE) || is_special(line, MC_DISTANCE_SQUARE)
           || (is_special(line, MC_SCALED_SQUARE) && has_square(owner->atom) && all_positive(owner))
           || (is_special(line, MC_CIRCLE_SQUARE) && owner->atom == MC_PERIODIC && all_positive(owner));
}

bool mc_verify_root(checker *c, const mc_proof_line *line) {
    if (is_special(line, MC_COLUMN_DISTANCE))
        return only_premise(c, line, MC_IS_CND, special_of(c, MC_COLUMN_SQUARE, NULL));
    return is_special(line, MC_SCALED_DISTANCE)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_SCALED_SQUARE, line->term->node));
}

bool mc_verify_column_sum(checker *c, const mc_proof_line *line) {
    return is_special(line, MC_SUM_DISTANCE) && line->term->node->atom == MC_LAPLACIAN && all_positive(line->term->node)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_COLUMN_DISTANCE, NULL));
}

/* (x - z)^2 / (x + z) = x + z - 4 x z / (x + z) */
bool mc_verify_chi2(checker *c, const mc_proof_line *line) {
    return is_special(line, MC_CHI2_DISTANCE) && line->term->node->atom == MC_CHI2 && all_positive(line->term->node)
           && only_premise(c, line, MC_IS_KERNEL, special_of(c, MC_HARMONIC, NULL));
}

/* -log of an rq, and of a matern of any order, are Bernstein functions of the squared distance. */
bool mc_verify_log(checker *c, const mc_proof_line *line) {
    if (!is_special(line, MC_RQ_LOG) && !is_special(line, MC_MATERN_LOG))
        return false;
    const mc_node *owner = line->term->node;
    return owner->atom == (line->term->special == MC_RQ_LOG ? MC_RQ : MC_MATERN) && all_positive(owner)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_SCALED_SQUARE, owner));
}

bool mc_verify_powers_minimum(checker *c, const mc_proof_line *line) {
    (void)c;
    return (is_atom(line, MC_INTERSECTION) || is_atom(line, MC_TANIMOTO)) && no_premise(line) && line->d == 1;
}
