/* check_proof.c: reads a derivation line by line and believes nothing but the rules below.

   Each rule is a function that looks at the conclusion of its line and at the conclusions of the lines it names, and
   says whether the first follows from the others. Numbers are compared in interval arithmetic, matrices by exact
   elimination, sums with negative terms by multiplying them out here again. A premise must be an earlier line, so no
   line can support itself. */
#include "base/status.h"
#include "kernel/proof/check_conditional.h"
#include "kernel/proof/check_taylor.h"
#include "kernel/proof/exact.h"
#include "kernel/proof/expand.h"
#include "kernel/language/user_function.h"
#include <math.h>

/* One premise for each child that is not a number, in order; numbers must not be negative. */
static bool premise_per_child(const checker *c, const mc_proof_line *line, mc_judgement judgement, bool numbers_apart) {
    int next = 0;
    for (int i = 0; i < line->term->children; i++) {
        const mc_term *child = line->term->child[i];
        if (numbers_apart && child->kind == MC_T_NUMBER) {
            if (!(mc_amount_range(child->amount).lo >= 0))
                return false;
        } else if (next == line->premises || !states_claim(nth_premise(c, line, next++), judgement, child, line->d))
            return false;
    }
    return next == line->premises;
}

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

static bool verify_constant(checker *c, const mc_proof_line *line) {
    (void)c;
    return line->term->kind == MC_T_NUMBER && no_premise(line) && mc_amount_range(line->term->amount).lo >= 0;
}

static bool verify_white(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_WHITE) && no_premise(line);
}

static bool verify_linear(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_LINEAR) && no_premise(line);
}

static bool verify_dot(checker *c, const mc_proof_line *line) {
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

static bool verify_form(checker *c, const mc_proof_line *line) {
    return verify_matrix(c, line, MC_FORM);
}

static bool verify_rbf_form(checker *c, const mc_proof_line *line) {
    return verify_matrix(c, line, MC_RBF_FORM);
}

static bool verify_intersection(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_INTERSECTION) && no_premise(line);
}

static bool is_order(double v) {
    return v == 0 || v == 1 || v == 2;
}

static bool verify_arccos(checker *c, const mc_proof_line *line) {
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

static bool verify_harmonic(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_special(line, MC_HARMONIC) && no_premise(line);
}

static bool verify_rest(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_special(line, MC_REST_DOT) && no_premise(line);
}

static bool verify_sign_mean(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_special(line, MC_SIGN_MEAN) && no_premise(line) && line->term->node->atom == MC_ARCCOS
           && line->term->node->parameter[0].kind == MC_VALUE_NUMBER && is_order(line->term->node->parameter[0].number);
}

static bool verify_tanh_constant(checker *c, const mc_proof_line *line) {
    (void)c;
    if (!is_atom(line, MC_TANH) || !no_premise(line))
        return false;
    const mc_value *v = line->term->node->parameter;
    return mc_value_is_zero(&v[0]) && mc_value_range(&v[1]).lo >= 0;
}

static bool verify_precomputed(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_PRECOMPUTED) && no_premise(line);
}

static bool verify_user(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_USER) && no_premise(line) && mc_user_positive(line->term->node->parameter[0].user);
}

/* For every length p that it may have. */
static bool verify_spectrum(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_SPECTRUM) && no_premise(line) && mc_value_range(&line->term->node->parameter[0]).lo >= 1
           && mc_value_range(&line->term->node->parameter[1]).hi == 0;
}

/* Whatever their parameters are: features are real numbers. */
static bool verify_text_features(checker *c, const mc_proof_line *line) {
    (void)c;
    return line->term->kind == MC_T_ATOM && mc_atoms[line->term->node->atom].text && no_premise(line);
}

/* Atoms that are kernels wherever they are defined. */
static bool verify_whole_atom(checker *c, const mc_proof_line *line) {
    static const mc_atom atom[MC_RULE_COUNT] = {[MC_RULE_TANIMOTO] = MC_TANIMOTO,
                                                [MC_RULE_ADDITIVE_CHI2] = MC_ADDITIVE_CHI2,
                                                [MC_RULE_SINC] = MC_SINC,
                                                [MC_RULE_SPLINE] = MC_SPLINE,
                                                [MC_RULE_GIBBS] = MC_GIBBS};
    (void)c;
    return is_atom(line, atom[line->rule]) && no_premise(line) && all_positive(line->term->node);
}

static bool verify_brownian(checker *c, const mc_proof_line *line) {
    (void)c;
    if (!is_atom(line, MC_BROWNIAN) || !no_premise(line))
        return false;
    const mc_interval hurst = mc_value_range(&line->term->node->parameter[0]);
    return hurst.lo > 0 && hurst.hi <= 1;
}

/* On at most as many columns as its dimension says. */
static bool verify_wendland(checker *c, const mc_proof_line *line) {
    (void)c;
    if (!is_atom(line, MC_WENDLAND) || !no_premise(line))
        return false;
    const mc_value *v = line->term->node->parameter;
    const mc_interval k = mc_value_range(&v[0]);
    return k.lo >= 0 && k.hi <= 2 && line->d > 0 && (double)line->d <= mc_value_range(&v[1]).lo
           && mc_value_range(&v[2]).lo > 0;
}

/* ---- new kernels from old ones ---- */

static bool verify_sum(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_SUM && premise_per_child(c, line, MC_IS_KERNEL, false);
}

static bool verify_product(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_PRODUCT && premise_per_child(c, line, MC_IS_KERNEL, true);
}

static bool is_whole(double p) {
    return p >= 0 && p == floor(p) && isfinite(p);
}

static bool verify_power(checker *c, const mc_proof_line *line) {
    const mc_term *t = line->term;
    return t->kind == MC_T_POWER && is_whole(t->amount.factor) && only_premise(c, line, MC_IS_KERNEL, t->child[0]);
}

static bool of_child(checker *c, const mc_proof_line *line, mc_term_kind kind, mc_judgement judgement) {
    return line->term->kind == kind && only_premise(c, line, judgement, line->term->child[0]);
}

static bool verify_exp(checker *c, const mc_proof_line *line) {
    return of_child(c, line, MC_T_EXP, MC_IS_KERNEL);
}

static bool verify_normalize(checker *c, const mc_proof_line *line) {
    return of_child(c, line, MC_T_NORMALIZE, MC_IS_KERNEL);
}

static bool verify_weigh(checker *c, const mc_proof_line *line) {
    return of_child(c, line, MC_T_WEIGH, MC_IS_KERNEL);
}

/* The child sees as many columns as are listed. */
static bool seen_through_columns(const checker *c, const mc_proof_line *line, mc_judgement judgement) {
    const mc_term *t = line->term;
    return t->kind == MC_T_COLUMNS && line->premises == 1
           && states_claim(nth_premise(c, line, 0), judgement, t->child[0], t->node->columns);
}

static bool verify_columns(checker *c, const mc_proof_line *line) {
    return seen_through_columns(c, line, MC_IS_KERNEL);
}

/* All parts see the same columns: a function of these. */
static bool verify_common_view(checker *c, const mc_proof_line *line) {
    const mc_node *view = NULL;
    const mc_term *inner = mc_term_without_view(&c->pool, line->term, &view);
    return inner && view && line->term->kind != MC_T_COLUMNS && line->premises == 1
           && states_claim(nth_premise(c, line, 0), MC_IS_KERNEL, inner, view->columns);
}

/* ---- atoms by their definition ---- */

static bool is_whole_value(const mc_value *v) {
    if (v->kind == MC_VALUE_RANGE)
        return is_whole(v->low) && is_whole(v->high); /* a whole parameter takes whole values only */
    if (v->kind == MC_VALUE_NUMBER)
        return is_whole(v->number);
    for (int64_t i = 0; i < v->columns; i++)
        if (!is_whole(v->numbers[i]))
            return false;
    return v->kind == MC_VALUE_SET;
}

static bool verify_poly(checker *c, const mc_proof_line *line) {
    return is_atom(line, MC_POLY) && is_whole_value(&line->term->node->parameter[0])
           && only_premise(c, line, MC_IS_KERNEL, mc_term_unfold(&c->pool, line->term->node));
}

static bool verify_rbf(checker *c, const mc_proof_line *line) {
    return is_atom(line, MC_RBF) && only_premise(c, line, MC_IS_KERNEL, mc_term_unfold(&c->pool, line->term->node));
}

static bool verify_cosine(checker *c, const mc_proof_line *line) {
    return is_atom(line, MC_COSINE) && only_premise(c, line, MC_IS_KERNEL, mc_term_linear(&c->pool));
}

/* exp(-psi) for psi conditionally negative definite. */
static bool verify_schoenberg(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_ATOM && only_premise(c, line, MC_IS_CND, mc_minus_log(&c->pool, line->term->node));
}

/* matern and rq are completely monotone functions of the squared distance: Matern of any order, and (1 + t/(2
   alpha))^-alpha. */
static bool verify_monotone(checker *c, const mc_proof_line *line) {
    return (is_atom(line, MC_MATERN) || is_atom(line, MC_RQ)) && all_positive(line->term->node)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_SCALED_SQUARE, line->term->node));
}

/* ---- conditionally negative functions ---- */

static bool has_square(mc_atom atom) {
    return atom == MC_RBF || atom == MC_EXPONENTIAL || atom == MC_MATERN || atom == MC_RQ;
}

static bool verify_square(checker *c, const mc_proof_line *line) {
    (void)c;
    const mc_node *owner = line->term->node;
    if (!no_premise(line))
        return false;
    return is_special(line, MC_COLUMN_SQUARE) || is_special(line, MC_DISTANCE_SQUARE)
           || (is_special(line, MC_SCALED_SQUARE) && has_square(owner->atom) && all_positive(owner))
           || (is_special(line, MC_CIRCLE_SQUARE) && owner->atom == MC_PERIODIC && all_positive(owner));
}

static bool verify_root(checker *c, const mc_proof_line *line) {
    if (is_special(line, MC_COLUMN_DISTANCE))
        return only_premise(c, line, MC_IS_CND, special_of(c, MC_COLUMN_SQUARE, NULL));
    return is_special(line, MC_SCALED_DISTANCE)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_SCALED_SQUARE, line->term->node));
}

static bool verify_column_sum(checker *c, const mc_proof_line *line) {
    return is_special(line, MC_SUM_DISTANCE) && line->term->node->atom == MC_LAPLACIAN && all_positive(line->term->node)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_COLUMN_DISTANCE, NULL));
}

/* (x - z)^2 / (x + z) = x + z - 4 x z / (x + z) */
static bool verify_chi2(checker *c, const mc_proof_line *line) {
    return is_special(line, MC_CHI2_DISTANCE) && line->term->node->atom == MC_CHI2 && all_positive(line->term->node)
           && only_premise(c, line, MC_IS_KERNEL, special_of(c, MC_HARMONIC, NULL));
}

/* -log of an rq, and of a matern of any order, are Bernstein functions of the squared distance. */
static bool verify_log(checker *c, const mc_proof_line *line) {
    if (!is_special(line, MC_RQ_LOG) && !is_special(line, MC_MATERN_LOG))
        return false;
    const mc_node *owner = line->term->node;
    return owner->atom == (line->term->special == MC_RQ_LOG ? MC_RQ : MC_MATERN) && all_positive(owner)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_SCALED_SQUARE, owner));
}

/* ---- infinitely divisible kernels ---- */

static bool verify_powers_product(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_PRODUCT && premise_per_child(c, line, MC_ALL_POWERS, false);
}

static bool verify_powers_power(checker *c, const mc_proof_line *line) {
    return line->term->amount.factor > 0 && of_child(c, line, MC_T_POWER, MC_ALL_POWERS);
}

static bool verify_powers_weigh(checker *c, const mc_proof_line *line) {
    const mc_term *t = line->term;
    return of_child(c, line, MC_T_WEIGH, MC_ALL_POWERS) && (!t->node || mc_function_nonnegative(t->node->function));
}

static bool verify_powers_columns(checker *c, const mc_proof_line *line) {
    return seen_through_columns(c, line, MC_ALL_POWERS);
}

static bool verify_powers_normalize(checker *c, const mc_proof_line *line) {
    return of_child(c, line, MC_T_NORMALIZE, MC_ALL_POWERS);
}

static bool verify_real_power(checker *c, const mc_proof_line *line) {
    return line->term->amount.factor > 0 && of_child(c, line, MC_T_POWER, MC_ALL_POWERS);
}

/* ---- multiplied out ---- */

typedef bool expansion_test(const mc_expansion *e, const mc_proof_line *line);

/* The term multiplied out passes the test, and every generator left in it is a kernel by some premise. */
static bool multiplied_out(checker *c, const mc_proof_line *line, const mc_term *term, mc_expand_mode mode,
                           expansion_test *test) {
    mc_expansion e;
    if (c->status)
        return false;
    c->status = mc_expand_term(&c->pool, term, mode, line->d, &c->work, &e);
    bool holds = !c->status && test(&e, line);
    for (int g = 0; holds && g < e.generators; g++)
        holds = !mc_expansion_uses(&e, g) || is_premise(c, line, e.generator[g]);
    mc_expansion_close(&e);
    return holds;
}

static bool no_negative(const mc_expansion *e, const mc_proof_line *line) {
    (void)line;
    return mc_expansion_nonnegative(e, 1, false);
}

static bool no_negative_but_constant(const mc_expansion *e, const mc_proof_line *line) {
    (void)line;
    return mc_expansion_nonnegative(e, 1, true);
}

static bool no_positive_but_constant(const mc_expansion *e, const mc_proof_line *line) {
    (void)line;
    return mc_expansion_nonnegative(e, -1, true);
}

static bool no_negative_coefficient(const mc_expansion *e, const mc_proof_line *line) {
    (void)line;
    int generator;
    return mc_expansion_series(e, &generator);
}

static bool no_negative_frequency(const mc_expansion *e, const mc_proof_line *line) {
    return mc_expansion_gaussians(e, line->d);
}

static bool every_spectrum_outweighed(const mc_expansion *e, const mc_proof_line *line) {
    return mc_expansion_spectra(e, line->d);
}

static bool verify_spectra(checker *c, const mc_proof_line *line) {
    return multiplied_out(c, line, line->term, MC_GAUSSIANS, every_spectrum_outweighed);
}

static bool verify_powers_minimum(checker *c, const mc_proof_line *line) {
    (void)c;
    return (is_atom(line, MC_INTERSECTION) || is_atom(line, MC_TANIMOTO)) && no_premise(line) && line->d == 1;
}

static bool verify_collect(checker *c, const mc_proof_line *line) {
    return multiplied_out(c, line, line->term, MC_GENERATORS, no_negative)
           || multiplied_out(c, line, line->term, MC_GAUSSIANS, no_negative);
}

static bool verify_series(checker *c, const mc_proof_line *line) {
    return multiplied_out(c, line, line->term, MC_GENERATORS, no_negative_coefficient);
}

static bool verify_gaussians(checker *c, const mc_proof_line *line) {
    return multiplied_out(c, line, line->term, MC_GAUSSIANS, no_negative_frequency);
}

/* Gaussians through inner products, and weights apart. */
static bool verify_unfold(checker *c, const mc_proof_line *line) {
    return multiplied_out(c, line, line->term, MC_UNFOLDED, no_negative);
}

static bool verify_unfold_series(checker *c, const mc_proof_line *line) {
    return multiplied_out(c, line, line->term, MC_UNFOLDED, no_negative_coefficient);
}

static bool no_negative_on_sphere(const mc_expansion *e, const mc_proof_line *line) {
    return mc_expansion_sphere(e, line->d);
}

static bool verify_sphere(checker *c, const mc_proof_line *line) {
    return multiplied_out(c, line, line->term, MC_UNFOLDED, no_negative_on_sphere);
}

/* Column by column; the matrices over powers of columns are eliminated exactly. */
static bool verify_column_forms(checker *c, const mc_proof_line *line) {
    mc_expansion e;
    bool holds = false;
    c->status = mc_expand_term(&c->pool, line->term, MC_COLUMN_POWERS, line->d, &c->work, &e);
    if (!c->status)
        c->status = mc_expansion_forms(c->ctx, &e, &holds);
    for (int g = 0; holds && g < e.generators; g++)
        holds = !mc_expansion_uses(&e, g) || is_premise(c, line, e.generator[g]);
    mc_expansion_close(&e);
    return holds && !c->status;
}

/* white times k: blocks of equal points carry k(x, x) in every entry, and all else is 0. */
static bool verify_white_diagonal(checker *c, const mc_proof_line *line) {
    (void)c;
    bool white = false;
    for (int i = 0; line->term->kind == MC_T_PRODUCT && i < line->term->children; i++)
        white = white || (line->term->child[i]->kind == MC_T_ATOM && line->term->child[i]->node->atom == MC_WHITE);
    return white && no_premise(line) && mc_term_diagonal_range(line->term).lo >= 0;
}

/* exp(constant + kernel) */
static bool verify_exp_shift(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_EXP
           && multiplied_out(c, line, line->term->child[0], MC_GENERATORS, no_negative_but_constant);
}

/* (constant - kernel)^-a where the base stays positive: an integral over t > 0 of exp(-t base) t^(a-1) / Gamma(a). */
static bool verify_inverse_power(checker *c, const mc_proof_line *line) {
    const mc_term *t = line->term;
    return t->kind == MC_T_POWER && t->amount.factor < 0 && mc_term_range(t->child[0]).lo > 0
           && multiplied_out(c, line, t->child[0], MC_GENERATORS, no_positive_but_constant);
}

/* ---- the table ---- */

static const struct {
    mc_judgement concludes;
    rule_holds *holds;
} rules[MC_RULE_COUNT] = {
    [MC_RULE_CONSTANT] = {MC_IS_KERNEL, verify_constant},
    [MC_RULE_WHITE] = {MC_IS_KERNEL, verify_white},
    [MC_RULE_LINEAR] = {MC_IS_KERNEL, verify_linear},
    [MC_RULE_DOT] = {MC_IS_KERNEL, verify_dot},
    [MC_RULE_FORM] = {MC_IS_KERNEL, verify_form},
    [MC_RULE_INTERSECTION] = {MC_IS_KERNEL, verify_intersection},
    [MC_RULE_ARCCOS] = {MC_IS_KERNEL, verify_arccos},
    [MC_RULE_HARMONIC] = {MC_IS_KERNEL, verify_harmonic},
    [MC_RULE_TANH] = {MC_IS_KERNEL, verify_tanh_constant},
    [MC_RULE_PRECOMPUTED] = {MC_IS_KERNEL, verify_precomputed},
    [MC_RULE_USER] = {MC_IS_KERNEL, verify_user},
    [MC_RULE_SPECTRUM] = {MC_IS_KERNEL, verify_spectrum},
    [MC_RULE_TEXT_FEATURES] = {MC_IS_KERNEL, verify_text_features},
    [MC_RULE_TANIMOTO] = {MC_IS_KERNEL, verify_whole_atom},
    [MC_RULE_ADDITIVE_CHI2] = {MC_IS_KERNEL, verify_whole_atom},
    [MC_RULE_WENDLAND] = {MC_IS_KERNEL, verify_wendland},
    [MC_RULE_SINC] = {MC_IS_KERNEL, verify_whole_atom},
    [MC_RULE_BROWNIAN] = {MC_IS_KERNEL, verify_brownian},
    [MC_RULE_SPLINE] = {MC_IS_KERNEL, verify_whole_atom},
    [MC_RULE_GIBBS] = {MC_IS_KERNEL, verify_whole_atom},
    [MC_RULE_RBF_FORM] = {MC_IS_KERNEL, verify_rbf_form},
    [MC_RULE_SUM] = {MC_IS_KERNEL, verify_sum},
    [MC_RULE_PRODUCT] = {MC_IS_KERNEL, verify_product},
    [MC_RULE_POWER] = {MC_IS_KERNEL, verify_power},
    [MC_RULE_EXP] = {MC_IS_KERNEL, verify_exp},
    [MC_RULE_NORMALIZE] = {MC_IS_KERNEL, verify_normalize},
    [MC_RULE_WEIGH] = {MC_IS_KERNEL, verify_weigh},
    [MC_RULE_COLUMNS] = {MC_IS_KERNEL, verify_columns},
    [MC_RULE_POLY] = {MC_IS_KERNEL, verify_poly},
    [MC_RULE_RBF] = {MC_IS_KERNEL, verify_rbf},
    [MC_RULE_COSINE] = {MC_IS_KERNEL, verify_cosine},
    [MC_RULE_SCHOENBERG] = {MC_IS_KERNEL, verify_schoenberg},
    [MC_RULE_MONOTONE] = {MC_IS_KERNEL, verify_monotone},
    [MC_RULE_SQUARE] = {MC_IS_CND, verify_square},
    [MC_RULE_ROOT] = {MC_IS_CND, verify_root},
    [MC_RULE_COLUMN_SUM] = {MC_IS_CND, verify_column_sum},
    [MC_RULE_CHI2] = {MC_IS_CND, verify_chi2},
    [MC_RULE_LOG] = {MC_IS_CND, verify_log},
    [MC_RULE_POWERS_ATOM] = {MC_ALL_POWERS, verify_schoenberg},
    [MC_RULE_POWERS_CONSTANT] = {MC_ALL_POWERS, verify_constant},
    [MC_RULE_POWERS_WHITE] = {MC_ALL_POWERS, verify_white},
    [MC_RULE_POWERS_PRODUCT] = {MC_ALL_POWERS, verify_powers_product},
    [MC_RULE_POWERS_POWER] = {MC_ALL_POWERS, verify_powers_power},
    [MC_RULE_POWERS_EXP] = {MC_ALL_POWERS, verify_exp_shift},
    [MC_RULE_POWERS_WEIGH] = {MC_ALL_POWERS, verify_powers_weigh},
    [MC_RULE_POWERS_COLUMNS] = {MC_ALL_POWERS, verify_powers_columns},
    [MC_RULE_POWERS_NORMALIZE] = {MC_ALL_POWERS, verify_powers_normalize},
    [MC_RULE_REAL_POWER] = {MC_IS_KERNEL, verify_real_power},
    [MC_RULE_COLLECT] = {MC_IS_KERNEL, verify_collect},
    [MC_RULE_SERIES] = {MC_IS_KERNEL, verify_series},
    [MC_RULE_GAUSSIANS] = {MC_IS_KERNEL, verify_gaussians},
    [MC_RULE_EXP_SHIFT] = {MC_IS_KERNEL, verify_exp_shift},
    [MC_RULE_INVERSE] = {MC_IS_KERNEL, verify_inverse_power},
    [MC_RULE_REST] = {MC_IS_KERNEL, verify_rest},
    [MC_RULE_SIGN_MEAN] = {MC_IS_KERNEL, verify_sign_mean},
    [MC_RULE_UNFOLD] = {MC_IS_KERNEL, verify_unfold},
    [MC_RULE_UNFOLD_SERIES] = {MC_IS_KERNEL, verify_unfold_series},
    [MC_RULE_SPECTRA] = {MC_IS_KERNEL, verify_spectra},
    [MC_RULE_SPHERE] = {MC_IS_KERNEL, verify_sphere},
    [MC_RULE_POWERS_MINIMUM] = {MC_ALL_POWERS, verify_powers_minimum},
    [MC_RULE_TAYLOR] = {MC_IS_KERNEL, mc_verify_taylor},
    [MC_RULE_REMAINDER] = {MC_IS_KERNEL, mc_verify_remainder},
    [MC_RULE_COLUMN_FORMS] = {MC_IS_KERNEL, verify_column_forms},
    [MC_RULE_COMMON_VIEW] = {MC_IS_KERNEL, verify_common_view},
    [MC_RULE_WHITE_DIAGONAL] = {MC_IS_KERNEL, verify_white_diagonal},
    [MC_RULE_BERNSTEIN] = {MC_IS_CND, mc_verify_bernstein},
    [MC_RULE_CENTRED] = {MC_IS_KERNEL, mc_verify_centred},
    [MC_RULE_CONDITIONAL_ATOM] = {MC_IS_CONDITIONAL, mc_verify_conditional_atom},
    [MC_RULE_CONDITIONAL_SUM] = {MC_IS_CONDITIONAL, mc_verify_conditional_sum},
    [MC_RULE_CONDITIONAL_MULTIPLE] = {MC_IS_CONDITIONAL, mc_verify_conditional_multiple},
    [MC_RULE_CONDITIONAL_COLUMNS] = {MC_IS_CONDITIONAL, mc_verify_conditional_columns},
    [MC_RULE_CONDITIONAL_BERNSTEIN] = {MC_IS_CONDITIONAL, mc_verify_conditional_bernstein},
    [MC_RULE_INVERSE_CONDITIONAL] = {MC_IS_KERNEL, mc_verify_inverse_conditional},
    [MC_RULE_POWERS_INVERSE] = {MC_ALL_POWERS, mc_verify_inverse_conditional},
    [MC_RULE_THIN_PLATE] = {MC_IS_CONDITIONAL_2, mc_verify_thin_plate},
    [MC_RULE_CONDITIONAL_2_SUM] = {MC_IS_CONDITIONAL_2, mc_verify_conditional_sum},
    [MC_RULE_CONDITIONAL_2_MULTIPLE] = {MC_IS_CONDITIONAL_2, mc_verify_conditional_multiple},
    [MC_RULE_CONDITIONAL_2_COLUMNS] = {MC_IS_CONDITIONAL_2, mc_verify_conditional_columns},
    [MC_RULE_EXP_CONDITIONAL] = {MC_IS_KERNEL, mc_verify_exp_conditional},
    [MC_RULE_POWERS_EXP_CONDITIONAL] = {MC_ALL_POWERS, mc_verify_exp_conditional},
};

static bool premises_are_earlier(const mc_proof_line *line, int index) {
    for (int i = 0; i < line->premises; i++)
        if (line->premise[i] < 0 || line->premise[i] >= index)
            return false;
    return true;
}

static bool line_holds(checker *c, int index) {
    const mc_proof_line *line = &c->derivation->line[index];
    return line->term && (unsigned)line->rule < MC_RULE_COUNT && line->d >= 0 && premises_are_earlier(line, index)
           && line->judgement == rules[line->rule].concludes && rules[line->rule].holds(c, line);
}

static bool states_goal(checker *c, mc_judgement judgement, const mc_node *root, int64_t d) {
    const mc_derivation *p = c->derivation;
    const mc_term *goal = mc_term_from(&c->pool, root);
    return goal && p->count > 0 && states_claim(&p->line[p->count - 1], judgement, goal, d);
}

mercer_status mc_check_derivation(mercer_ctx *ctx, const mc_derivation *derivation, mc_judgement goal,
                                  const mc_node *root, int64_t d, bool *valid, int *bad) {
    checker c = {.ctx = ctx, .derivation = derivation, .pool = mc_pool_open(ctx), .work = 2 * (int64_t)MC_EXPAND_WORK};
    *valid = true;
    *bad = -1;
    for (int i = 0; i < derivation->count && *valid && !c.status && !c.pool.status; i++)
        if (!line_holds(&c, i)) {
            *valid = false;
            *bad = i;
        }
    *valid = *valid && states_goal(&c, goal, root, d);
    const mercer_status status = c.status ? c.status : c.pool.status;
    mc_pool_close(&c.pool);
    *valid = *valid && !status;
    return status;
}
