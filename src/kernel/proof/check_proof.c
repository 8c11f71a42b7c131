/* check_proof.c: reads a derivation line by line and believes nothing but the rules below.

   Each rule is a function that looks at the conclusion of its line and at the conclusions of the lines it names, and
   says whether the first follows from the others. Numbers are compared in interval arithmetic, matrices by exact
   elimination, sums with negative terms by multiplying them out here again. A premise must be an earlier line, so no
   line can support itself. */
#include "base/status.h"
#include "kernel/proof/conditioned.h"
#include "kernel/proof/check_atoms.h"
#include "kernel/proof/check_conditional.h"
#include "kernel/proof/check_taylor.h"
#include "kernel/proof/expand.h"

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

/* ---- new kernels from old ones ---- */

static bool verify_sum(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_SUM && premise_per_child(c, line, MC_IS_KERNEL, false);
}

static bool verify_product(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_PRODUCT && premise_per_child(c, line, MC_IS_KERNEL, true);
}

static bool verify_power(checker *c, const mc_proof_line *line) {
    const mc_term *t = line->term;
    return t->kind == MC_T_POWER && is_natural_number(t->amount.factor)
           && only_premise(c, line, MC_IS_KERNEL, t->child[0]);
}

static bool of_child(checker *c, const mc_proof_line *line, mc_term_kind kind, mc_judgement judgement) {
    return line->term->kind == kind && only_premise(c, line, judgement, line->term->child[0]);
}

static bool verify_exp(checker *c, const mc_proof_line *line) {
    return of_child(c, line, MC_T_EXP, MC_IS_KERNEL);
}

static bool verify_power_series(checker *c, const mc_proof_line *line) {
    return of_child(c, line, MC_T_SERIES, MC_IS_KERNEL);
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

/* A kernel less what its value at 0 says of it. */
static bool verify_conditioned(checker *c, const mc_proof_line *line) {
    const mc_term *k = NULL, *others = NULL;
    return mc_conditioned_parts(&c->pool, line->term, line->d, &k, &others) && line->premises == (others ? 2 : 1)
           && states_claim(nth_premise(c, line, 0), MC_IS_KERNEL, k, line->d)
           && (!others || states_claim(nth_premise(c, line, 1), MC_IS_KERNEL, others, line->d));
}

/* exp(constant + kernel) */
static bool verify_exp_shift(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_EXP
           && multiplied_out(c, line, line->term->child[0], MC_GENERATORS, no_negative_but_constant);
}

/* (constant - kernel)^-a where the base is positive on equal points, and so everywhere, since |k(x,z)|^2 <=
   k(x,x) k(z,z): an integral over t > 0 of exp(-t base) t^(a-1) / Gamma(a). */
static bool verify_inverse_power(checker *c, const mc_proof_line *line) {
    const mc_term *t = line->term;
    return t->kind == MC_T_POWER && t->amount.factor < 0 && mc_term_diagonal_range(t->child[0]).lo > 0
           && multiplied_out(c, line, t->child[0], MC_GENERATORS, no_positive_but_constant);
}

/* ---- the table ---- */

static const struct {
    mc_judgement concludes;
    rule_holds *holds;
} rules[MC_RULE_COUNT] = {
    [MC_RULE_CONSTANT] = {MC_IS_KERNEL, mc_verify_constant},
    [MC_RULE_WHITE] = {MC_IS_KERNEL, mc_verify_white},
    [MC_RULE_LINEAR] = {MC_IS_KERNEL, mc_verify_linear},
    [MC_RULE_DOT] = {MC_IS_KERNEL, mc_verify_dot},
    [MC_RULE_FORM] = {MC_IS_KERNEL, mc_verify_form},
    [MC_RULE_INTERSECTION] = {MC_IS_KERNEL, mc_verify_intersection},
    [MC_RULE_ARCCOS] = {MC_IS_KERNEL, mc_verify_arccos},
    [MC_RULE_HARMONIC] = {MC_IS_KERNEL, mc_verify_harmonic},
    [MC_RULE_TANH] = {MC_IS_KERNEL, mc_verify_tanh_constant},
    [MC_RULE_PRECOMPUTED] = {MC_IS_KERNEL, mc_verify_precomputed},
    [MC_RULE_USER] = {MC_IS_KERNEL, mc_verify_user},
    [MC_RULE_SPECTRUM] = {MC_IS_KERNEL, mc_verify_spectrum},
    [MC_RULE_MEAN_MAP] = {MC_IS_KERNEL, mc_verify_mean_map},
    [MC_RULE_TEXT_FEATURES] = {MC_IS_KERNEL, mc_verify_text_features},
    [MC_RULE_TANIMOTO] = {MC_IS_KERNEL, mc_verify_whole_atom},
    [MC_RULE_ADDITIVE_CHI2] = {MC_IS_KERNEL, mc_verify_whole_atom},
    [MC_RULE_WENDLAND] = {MC_IS_KERNEL, mc_verify_wendland},
    [MC_RULE_SINC] = {MC_IS_KERNEL, mc_verify_whole_atom},
    [MC_RULE_BROWNIAN] = {MC_IS_KERNEL, mc_verify_brownian},
    [MC_RULE_SPLINE] = {MC_IS_KERNEL, mc_verify_whole_atom},
    [MC_RULE_GIBBS] = {MC_IS_KERNEL, mc_verify_whole_atom},
    [MC_RULE_RBF_FORM] = {MC_IS_KERNEL, mc_verify_rbf_form},
    [MC_RULE_SUM] = {MC_IS_KERNEL, verify_sum},
    [MC_RULE_PRODUCT] = {MC_IS_KERNEL, verify_product},
    [MC_RULE_POWER] = {MC_IS_KERNEL, verify_power},
    [MC_RULE_EXP] = {MC_IS_KERNEL, verify_exp},
    [MC_RULE_POWER_SERIES] = {MC_IS_KERNEL, verify_power_series},
    [MC_RULE_NORMALIZE] = {MC_IS_KERNEL, verify_normalize},
    [MC_RULE_WEIGH] = {MC_IS_KERNEL, verify_weigh},
    [MC_RULE_COLUMNS] = {MC_IS_KERNEL, verify_columns},
    [MC_RULE_POLY] = {MC_IS_KERNEL, mc_verify_poly},
    [MC_RULE_RBF] = {MC_IS_KERNEL, mc_verify_rbf},
    [MC_RULE_COSINE] = {MC_IS_KERNEL, mc_verify_cosine},
    [MC_RULE_SCHOENBERG] = {MC_IS_KERNEL, mc_verify_schoenberg},
    [MC_RULE_MONOTONE] = {MC_IS_KERNEL, mc_verify_monotone},
    [MC_RULE_SQUARE] = {MC_IS_CND, mc_verify_square},
    [MC_RULE_ROOT] = {MC_IS_CND, mc_verify_root},
    [MC_RULE_COLUMN_SUM] = {MC_IS_CND, mc_verify_column_sum},
    [MC_RULE_CHI2] = {MC_IS_CND, mc_verify_chi2},
    [MC_RULE_LOG] = {MC_IS_CND, mc_verify_log},
    [MC_RULE_POWERS_ATOM] = {MC_ALL_POWERS, mc_verify_schoenberg},
    [MC_RULE_POWERS_CONSTANT] = {MC_ALL_POWERS, mc_verify_constant},
    [MC_RULE_POWERS_WHITE] = {MC_ALL_POWERS, mc_verify_white},
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
    [MC_RULE_REST] = {MC_IS_KERNEL, mc_verify_rest},
    [MC_RULE_SIGN_MEAN] = {MC_IS_KERNEL, mc_verify_sign_mean},
    [MC_RULE_UNFOLD] = {MC_IS_KERNEL, verify_unfold},
    [MC_RULE_UNFOLD_SERIES] = {MC_IS_KERNEL, verify_unfold_series},
    [MC_RULE_SPECTRA] = {MC_IS_KERNEL, verify_spectra},
    [MC_RULE_SPHERE] = {MC_IS_KERNEL, verify_sphere},
    [MC_RULE_POWERS_MINIMUM] = {MC_ALL_POWERS, mc_verify_powers_minimum},
    [MC_RULE_CONDITIONED] = {MC_IS_KERNEL, verify_conditioned},
    [MC_RULE_TAYLOR] = {MC_IS_KERNEL, mc_verify_taylor},
    [MC_RULE_REMAINDER] = {MC_IS_KERNEL, mc_verify_remainder},
    [MC_RULE_OUTWEIGHED] = {MC_IS_KERNEL, mc_verify_outweighed},
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
