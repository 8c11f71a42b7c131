/* rules.c: what each rule says, in words for a blackboard. check_proof.c holds what each rule demands.

   Ids: S rules make kernels from kernels, C rules go through conditionally negative functions, B through Fourier
   transforms, D through Taylor series, V is the definition of an atom. */
#include "kernel/proof/rules.h"
#include "kernel/proof/expand.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/atoms.h"
#include "kernel/language/function.h"
#include <math.h>

static const struct {
    const char *id, *words;
} rules[MC_RULE_COUNT] = {
    [MC_RULE_CONSTANT] = {"S10", "a constant that is not negative"},
    [MC_RULE_WHITE] = {"S10", "1 on equal points and 0 on others, so its matrices are blocks of ones"},
    [MC_RULE_LINEAR] = {"S5", "the inner product of the points themselves"},
    [MC_RULE_DOT] = {"S5", "the inner product of the points with column j scaled by the square root of its factor"},
    [MC_RULE_FORM] =
        {"S5",
         "x'Az with A positive semidefinite, by exact elimination; A = B'B makes it the inner product of Bx and Bz"},
    [MC_RULE_INTERSECTION] =
        {"S8", "in each column min(x, z) is the integral over t > 0 of f(x) f(z) with f(x) = 1 where x > t, else 0"},
    [MC_RULE_ARCCOS] = {"S8", "a mean over random vectors w of f(x) f(z)"},
    [MC_RULE_HARMONIC] = {"S8",
                          "in each column x z/(x + z) is the integral over t > 0 of f(x) f(z) with f(x) = x exp(-t x)"},
    [MC_RULE_TANH] = {"S10", "with a = 0 it is the constant tanh(c), which is not negative"},
    [MC_RULE_PRECOMPUTED] =
        {"G1", "a matrix that is given; each fit looks at it: symmetric, no eigenvalue below 0 beyond rounding"},
    [MC_RULE_USER] = {"G2", "the program that gives the function vouches for it"},
    [MC_RULE_SPECTRUM] = {"S5", "the inner product of how often each string of p bytes occurs"},
    [MC_RULE_MEAN_MAP] = {"S9", "the inner product of the means of the features of the rows of each set"},
    [MC_RULE_TEXT_FEATURES] = {"S5", "the inner product of features of the texts, each summed up over where it occurs"},
    [MC_RULE_TANIMOTO] =
        {"C6",
         "1/sum_j max(x_j, z_j) is a mean of exp(-t sum_j max(x_j, z_j)), t > 0, and max(x, z) = (x + z + |x - z|)/2 "
         "is conditionally negative; times the kernel sum_j min(x_j, z_j). A row of zeros is 1 with itself, 0 with "
         "others"},
    [MC_RULE_ADDITIVE_CHI2] =
        {"S8", "in each column 2 x z/(x + z) is the integral over t > 0 of f(x) f(z) with f(x) = sqrt(2) x exp(-t x)"},
    [MC_RULE_WENDLAND] = {"B6", "its Fourier transform is positive on R^d (Wendland 1995)"},
    [MC_RULE_SINC] = {"B5", "in each column it is the mean of cos(w (x - z)) over |w| <= pi/length_scale"},
    [MC_RULE_BROWNIAN] = {"C8",
                          "(psi(x, 0) + psi(z, 0) - psi(x, z))/2 is a kernel where psi is conditionally negative, "
                          "here psi(x, z) = |x - z|^(2 hurst) with hurst <= 1"},
    [MC_RULE_SPLINE] = {"S8",
                        "a product over columns of 1 + x z + the integral over t > 0 of f(x) f(z) with f(x) = max(0, "
                        "x - t)"},
    [MC_RULE_GIBBS] = {"S8", "the integral over t of f(x) f(z), f(x) the Gaussian in t around x of width f, of norm 1"},
    [MC_RULE_RBF_FORM] = {"C4",
                          "it is exp(-|Bx - Bz|^2) with B'B = A, which is positive semidefinite by exact elimination"},
    [MC_RULE_SUM] = {"S1", "a sum of kernels is one"},
    [MC_RULE_PRODUCT] = {"S2", "a product of kernels is one"},
    [MC_RULE_POWER] = {"S2", "a product of a kernel with itself is one"},
    [MC_RULE_EXP] = {"S6", "exp of a kernel is one, its power series has no negative coefficient"},
    [MC_RULE_POWER_SERIES] = {"S6",
                              "its power series has no negative coefficient, and converges where k(x, x) allows it, "
                              "since |k(x, z)| is at most the larger of k(x, x) and k(z, z)"},
    [MC_RULE_NORMALIZE] = {"S7", "f(x) k(x,z) f(z) with f(x) = 1/sqrt(k(x,x)), or f(x) = 0 where k(x,x) = 0"},
    [MC_RULE_WEIGH] = {"S3", "f(x) k(x,z) f(z) is one for any function f"},
    [MC_RULE_COLUMNS] = {"S4", "a kernel of some of the columns is one of the whole row"},
    [MC_RULE_POLY] = {"S2", "a whole power of a kernel is one"},
    [MC_RULE_RBF] = {"V1", "the same kernel, since |x - z|^2 = |x|^2 - 2<x, z> + |z|^2"},
    [MC_RULE_COSINE] = {"S7", "f(x) <x, z> f(z) with f(x) = 1/|x|, or f(0) = 0"},
    [MC_RULE_SCHOENBERG] = {"C4", "it is exp(-psi) with psi conditionally negative (Schoenberg)"},
    [MC_RULE_MONOTONE] = {"C5",
                          "it is phi(psi) with phi completely monotone, so a mean of the kernels exp(-t psi), t > 0"},
    [MC_RULE_SQUARE] = {"C2",
                        "a squared distance, with sum w_i w_j |x_i - x_j|^2 = -2 |sum w_i x_i|^2 when sum w_i = 0"},
    [MC_RULE_ROOT] = {"C3",
                      "the root of a conditionally negative function >= 0 is one, like any Bernstein function of it"},
    [MC_RULE_COLUMN_SUM] = {"C1", "a sum of such functions, one per column, with factors that are not negative"},
    [MC_RULE_CHI2] = {"C1",
                      "(x - z)^2/(x + z) = x + z - 4 x z/(x + z): a function of x, plus one of z, minus a kernel"},
    [MC_RULE_LOG] = {"C3", "a Bernstein function of a conditionally negative function >= 0 is one"},
    [MC_RULE_POWERS_ATOM] = {"C7", "its p-th power is exp(-p psi) with psi conditionally negative"},
    [MC_RULE_POWERS_CONSTANT] = {"C7", "a constant that is not negative"},
    [MC_RULE_POWERS_WHITE] = {"C7", "its values are 0 and 1, which powers do not change"},
    [MC_RULE_POWERS_PRODUCT] = {"C7", "the power of a product is the product of the powers"},
    [MC_RULE_POWERS_POWER] = {"C7", "a power of a power is a power"},
    [MC_RULE_POWERS_EXP] = {"C7", "exp(k)^p = exp(p k), and a constant in the exponent is a positive factor"},
    [MC_RULE_POWERS_WEIGH] = {"C7", "(f(x) k f(z))^p = f(x)^p k^p f(z)^p, and f is not negative"},
    [MC_RULE_POWERS_COLUMNS] = {"C7", "the same seen from the whole row"},
    [MC_RULE_POWERS_NORMALIZE] = {"C7", "the power of the normalised kernel is the normalised power"},
    [MC_RULE_REAL_POWER] = {"C7", "one of those powers"},
    [MC_RULE_COLLECT] = {"S1", "multiplied out it is"},
    [MC_RULE_SERIES] = {"D1", "as a power series in"},
    [MC_RULE_GAUSSIANS] = {"B3", "its Fourier transform is nowhere negative"},
    [MC_RULE_EXP_SHIFT] = {"S6", "a constant in the exponent is a positive factor, and exp of a kernel is one"},
    [MC_RULE_REST] = {"S5", "the inner product of the other columns"},
    [MC_RULE_SIGN_MEAN] = {"S8", "a mean over random vectors w of f(x) f(z)"},
    [MC_RULE_UNFOLD] = {"V2", "with |x - z|^2 = |x|^2 - 2<x, z> + |z|^2 and weights f(x) f(z) apart it is"},
    [MC_RULE_UNFOLD_SERIES] =
        {"D2", "with |x - z|^2 = |x|^2 - 2<x, z> + |z|^2 and weights f(x) f(z) apart, as a power series in"},
    [MC_RULE_COLUMN_FORMS] = {"P1", "column by column it is"},
    [MC_RULE_SPECTRA] = {"B4",
                         "each subtracted term is outweighed by added ones, at every frequency or as a mixture of "
                         "Gaussians"},
    [MC_RULE_SPHERE] = {"B7",
                        "apart from its constant it is 0 where a row is 0, and elsewhere a sum of Gegenbauer "
                        "polynomials of the cosine without a negative factor, which are kernels (Schoenberg 1942)"},
    [MC_RULE_POWERS_MINIMUM] =
        {"C7", "on one column its p-th power is what it is of x^p and z^p, since min(x, z)^p = min(x^p, z^p)"},
    [MC_RULE_CONDITIONED] =
        {"S11", "k(x, z) - k(x, 0) k(0, z)/k(0, 0) is one, what is left of a kernel once its value at 0 is "
                "known, and so is k less a smaller multiple"},
    [MC_RULE_TAYLOR] = {"D3",
                        "with functions of kernels by the first terms of their power series and what is left it is"},
    [MC_RULE_REMAINDER] = {"D3", "what is left of a power series has no negative coefficient"},
    [MC_RULE_OUTWEIGHED] = {"D4",
                            "it is a sum of power series in a kernel, and what is subtracted from a coefficient is "
                            "outweighed by what is added to it"},
    [MC_RULE_COMMON_VIEW] = {"S4", "all its parts see the same columns, and as an expression in these it is one"},
    [MC_RULE_WHITE_DIAGONAL] = {"S10",
                                "its matrices are blocks, one for equal points, with k(x, x) >= 0 in every entry"},
    [MC_RULE_BERNSTEIN] = {"C3", "a Bernstein function of a conditionally negative function >= 0 is one"},
    [MC_RULE_CENTRED] = {"C8",
                         "psi(x, 0) + psi(z, 0) - psi(x, z) - psi(0, 0) is one where psi is conditionally negative"},
    [MC_RULE_CONDITIONAL_ATOM] = {"C9", "it is -psi with psi conditionally negative"},
    [MC_RULE_CONDITIONAL_SUM] = {"C9", "a sum of kernels and of such functions is one, and a number adds 0 where the "
                                       "weights sum to 0"},
    [MC_RULE_CONDITIONAL_MULTIPLE] = {"C9", "such a function times a number that is not negative"},
    [MC_RULE_CONDITIONAL_COLUMNS] = {"C9", "such a function of some of the columns is one of the whole row"},
    [MC_RULE_CONDITIONAL_BERNSTEIN] =
        {"C11",
         "-a b^p with b >= 0 conditionally negative, 0 < p <= 1 and a >= 0, since b^p is a Bernstein function of b"},
    [MC_RULE_INVERSE_CONDITIONAL] =
        {"C5", "b^-a is a mean of the kernels exp(-t b), t > 0, where b > 0 is conditionally negative"},
    [MC_RULE_POWERS_INVERSE] = {"C7", "its p-th power is b^-(a p), where b > 0 is conditionally negative"},
    [MC_RULE_THIN_PLATE] =
        {"C10", "up to functions that these weights do not see, s log s, s = |x - z|^2, is the integral over t > 0 of "
                "exp(-t s)/t^2 (Micchelli 1986)"},
    [MC_RULE_CONDITIONAL_2_SUM] = {"C9", "a sum of kernels and of such functions is one, and a number adds 0 where the "
                                         "weights sum to 0"},
    [MC_RULE_CONDITIONAL_2_MULTIPLE] = {"C9", "such a function times a number that is not negative"},
    [MC_RULE_CONDITIONAL_2_COLUMNS] = {"C9", "such a function of some of the columns is one of the whole row"},
    [MC_RULE_EXP_CONDITIONAL] = {"C4", "exp of a conditionally positive function is a kernel (Schoenberg)"},
    [MC_RULE_POWERS_EXP_CONDITIONAL] = {"C7", "its p-th power is exp(p k) with p k conditionally positive"},
    [MC_RULE_INVERSE] = {"C5", "b^-a is a mean of exp(-t b), t > 0, and with b = c - k > 0 that is exp(-t c) exp(t k)"},
};

/* c*k, one number and one kernel: a multiple rather than a product. */
static bool is_multiple(const mc_term *term) {
    return term->kind == MC_T_PRODUCT && term->children == 2
           && (term->child[0]->kind == MC_T_NUMBER) != (term->child[1]->kind == MC_T_NUMBER);
}

const char *mc_rule_id(const mc_proof_line *line) {
    return line->rule == MC_RULE_PRODUCT && is_multiple(line->term) ? "S1" : rules[line->rule].id;
}

static const char *judgement_words(mc_judgement judgement) {
    static const char *const words[] = {[MC_IS_KERNEL] = " is a kernel",
                                        [MC_ALL_POWERS] = " is a kernel",
                                        [MC_IS_CND] = " is conditionally negative",
                                        [MC_IS_CONDITIONAL] = " is conditionally positive",
                                        [MC_IS_CONDITIONAL_2] = " is conditionally positive of order 2"};
    return words[judgement];
}

void mc_line_claim(const mc_proof_line *line, mc_text *out) {
    if (line->judgement == MC_ALL_POWERS)
        mc_text_add(out, "every power p > 0 of ");
    mc_term_print(line->term, out);
    mc_text_add(out, "%s", judgement_words(line->judgement));
    if (line->rule == MC_RULE_WENDLAND)
        mc_text_add(out, " of at most %lld column%s", (long long)mc_wendland_columns(line->term->node),
                    mc_wendland_columns(line->term->node) == 1 ? "" : "s");
    if ((line->rule == MC_RULE_GAUSSIANS || line->rule == MC_RULE_COLUMN_FORMS || line->rule == MC_RULE_SPECTRA
         || line->rule == MC_RULE_SPHERE || line->rule == MC_RULE_CONDITIONED)
        && line->d > 0)
        mc_text_add(out, " on R^%lld", (long long)line->d);
}

/* ---- words that depend on the line ---- */

static void say_weight(const mc_proof_line *line, mc_text *out) {
    if (!line->term->node)
        return;
    mc_text_add(out, "; here f(x) = ");
    mc_function_print(out, line->term->node->function);
}

static void say_square(const mc_proof_line *line, mc_text *out) {
    if (line->term->special == MC_CIRCLE_SQUARE)
        mc_text_add(out, "; here between points on circles, cos(2 pi x_j/period) and sin(2 pi x_j/period)");
}

/* The function of the squared distance. */
static void say_monotone(const mc_proof_line *line, mc_text *out) {
    const double nu = mc_value_range(&line->term->node->parameter[0]).lo;
    if (line->term->node->atom == MC_RQ)
        mc_text_add(out, "; phi(s) = (1 + s/(2 alpha))^-alpha");
    else if (line->term->node->parameter[0].kind != MC_VALUE_NUMBER || !mc_matern_is_elementary(nu))
        mc_text_add(out, "; phi(s) is the Matern function of sqrt(s)");
    else
        mc_text_add(out, "; phi(s) = %s",
                    nu < 2 ? "(1 + r) exp(-r), r = sqrt(3 s)" : "(1 + r + r^2/3) exp(-r), r = sqrt(5 s)");
}

static void say_log(const mc_proof_line *line, mc_text *out) {
    mc_text_add(out, line->term->special == MC_RQ_LOG
                         ? "; here alpha log(1 + s/(2 alpha))"
                         : "; here with a derivative that is completely monotone (Grosswald 1976)");
}

static void say_arccos(const mc_proof_line *line, mc_text *out) {
    const mc_value *order = &line->term->node->parameter[0];
    if (order->kind == MC_VALUE_NUMBER && order->number == 0)
        mc_text_add(out, ", f(x) the sign of <w, x>, halved, plus the constant 1/2");
    else
        mc_text_add(out, ", f(x) = max(<w, x>, 0)^order");
}

static void say_poly(mc_derivation *derivation, const mc_proof_line *line, mc_text *out) {
    const mc_amount degree = mc_amount_of(1, line->term->node, 0);
    const mc_term *base = mc_term_unfold(&derivation->pool, line->term->node);
    if (!base)
        return;
    mc_text_add(out, "; it is (");
    mc_term_print(base, out);
    mc_text_add(out, ")^");
    mc_amount_print(degree, out);
}

static mercer_status expand_line(mc_derivation *derivation, const mc_proof_line *line, mc_expand_mode mode,
                                 mc_expansion *e) {
    int64_t work = 2 * (int64_t)MC_EXPAND_WORK;
    return mc_expand_term(&derivation->pool, line->term, mode, line->d, &work, e);
}

static mercer_status say_collected(mc_derivation *derivation, const mc_proof_line *line, mc_text *out) {
    mc_expansion e;
    mercer_status status =
        expand_line(derivation, line, line->rule == MC_RULE_UNFOLD ? MC_UNFOLDED : MC_GENERATORS, &e);
    if (!status && line->rule == MC_RULE_COLLECT && !mc_expansion_nonnegative(&e, 1, false)) {
        mc_expansion_close(&e);
        status = expand_line(derivation, line, MC_GAUSSIANS, &e);
    }
    mc_text_add(out, " ");
    mc_expansion_print(&e, out);
    mc_text_add(out, e.count ? ", without a negative factor" : "");
    mc_expansion_close(&e);
    return status;
}

static mercer_status say_series(mc_derivation *derivation, const mc_proof_line *line, mc_text *out) {
    mc_expansion e;
    int g = 0;
    const mercer_status status =
        expand_line(derivation, line, line->rule == MC_RULE_SERIES ? MC_GENERATORS : MC_UNFOLDED, &e);
    if (!status && mc_expansion_series(&e, &g)) {
        mc_text_add(out, " ");
        mc_term_print(e.generator[g], out);
        mc_text_add(out, " it has no negative coefficient");
    }
    mc_expansion_close(&e);
    return status;
}

static mercer_status say_column_forms(mc_derivation *derivation, const mc_proof_line *line, mc_text *out) {
    mc_expansion e;
    const mercer_status status = expand_line(derivation, line, MC_COLUMN_POWERS, &e);
    mc_text_add(out, " ");
    mc_expansion_print(&e, out);
    mc_text_add(out, "; the matrix of these coefficients is positive semidefinite, by exact elimination: B'B makes it "
                     "an inner product of B times the monomials of x and of z");
    mc_expansion_close(&e);
    return status;
}

static void say_sign_mean(const mc_proof_line *line, mc_text *out) {
    static const char *const f[] = {"the sign of <w, x>", "|<w, x>|", "<w, x> |<w, x>|"};
    mc_text_add(out, ", f(x) = %s", f[(int)line->term->node->parameter[0].number]);
}

/* Two Gaussians a exp(-w r^2) - b exp(-v r^2) on R^d: the two ends of the frequency axis decide. */
static void say_two_gaussians(const mc_monomial *plus, const mc_monomial *minus, int64_t d, mc_text *out) {
    mc_text_add(out, ": at 0 because ");
    mc_text_number(out, plus->factor.lo);
    mc_text_add(out, "*(");
    mc_text_number(out, minus->width.lo);
    mc_text_add(out, "/");
    mc_text_number(out, plus->width.lo);
    mc_text_add(out, ")^(%lld/2) >= ", (long long)d);
    mc_text_number(out, -minus->factor.lo);
    mc_text_add(out, ", elsewhere because rbf(gamma=");
    mc_text_number(out, plus->width.lo);
    mc_text_add(out, ") has the wider one");
}

static bool is_whole_gaussian(const mc_monomial *m) {
    mc_monomial rest = *m;
    rest.width = mc_iv(0);
    return mc_monomial_is_constant(&rest) && mc_iv_is_point(m->width) && mc_iv_is_point(m->factor);
}

static mercer_status say_gaussians(mc_derivation *derivation, const mc_proof_line *line, mc_text *out) {
    mc_expansion e;
    const mercer_status status = expand_line(derivation, line, MC_GAUSSIANS, &e);
    if (!status && e.count == 2 && line->d > 0 && is_whole_gaussian(&e.monomial[0])
        && is_whole_gaussian(&e.monomial[1])) {
        const int minus = e.monomial[0].factor.lo < 0 ? 0 : 1;
        say_two_gaussians(&e.monomial[1 - minus], &e.monomial[minus], line->d, out);
    }
    mc_expansion_close(&e);
    return status;
}

mercer_status mc_line_because(mc_derivation *derivation, const mc_proof_line *line, mc_text *out) {
    if (line->rule == MC_RULE_PRODUCT && is_multiple(line->term)) {
        mc_text_add(out, "a kernel times a number that is not negative is one");
        return MERCER_OK;
    }
    mc_text_add(out, "%s", rules[line->rule].words);
    switch (line->rule) {
    case MC_RULE_WEIGH: say_weight(line, out); break;
    case MC_RULE_SQUARE: say_square(line, out); break;
    case MC_RULE_MONOTONE: say_monotone(line, out); break;
    case MC_RULE_LOG: say_log(line, out); break;
    case MC_RULE_ARCCOS: say_arccos(line, out); break;
    case MC_RULE_GAUSSIANS: return say_gaussians(derivation, line, out);
    case MC_RULE_POLY: say_poly(derivation, line, out); break;
    case MC_RULE_SIGN_MEAN: say_sign_mean(line, out); break;
    case MC_RULE_COLLECT:
    case MC_RULE_UNFOLD: return say_collected(derivation, line, out);
    case MC_RULE_SERIES:
    case MC_RULE_UNFOLD_SERIES: return say_series(derivation, line, out);
    case MC_RULE_COLUMN_FORMS: return say_column_forms(derivation, line, out);
    default: break;
    }
    return MERCER_OK;
}
