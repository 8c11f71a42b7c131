/* check_conditional.c: see check_conditional.h. A kernel is conditionally positive, and what is so of order 1 is so of
   order 2: its sum is not negative for more weights than are asked about. */
#include "kernel/proof/check_conditional.h"
#include "kernel/language/atoms.h"

/* ---- functions of the distance ---- */

static bool in_range(const mc_value *v, double above, double most) {
    const mc_interval range = mc_value_range(v);
    return range.lo > above && range.hi <= most;
}

/* |x - z|^2 goes into s^(p/2), log(1 + (s/l^2)^(p/2)) or sqrt(c^2 + s), which are Bernstein functions of s. */
static bool is_bernstein(const mc_node *atom) {
    const mc_value *v = atom->parameter;
    switch (atom->atom) {
    case MC_POWER_DISTANCE: return in_range(&v[0], 0, 2);
    case MC_LOG: return in_range(&v[0], 0, 2) && mc_value_range(&v[1]).lo > 0;
    case MC_MULTIQUADRIC: return mc_value_range(&v[0]).lo > 0;
    default: return false;
    }
}

bool mc_verify_bernstein(checker *c, const mc_proof_line *line) {
    return is_special(line, MC_DISTANCE_PSI) && is_bernstein(line->term->node)
           && only_premise(c, line, MC_IS_CND, special_of(c, MC_DISTANCE_SQUARE, NULL));
}

static bool from_psi(checker *c, const mc_proof_line *line) {
    return only_premise(c, line, MC_IS_CND, special_of(c, MC_DISTANCE_PSI, line->term->node));
}

static bool is_distance_atom(const mc_proof_line *line) {
    return is_atom(line, MC_POWER_DISTANCE) || is_atom(line, MC_LOG) || is_atom(line, MC_MULTIQUADRIC);
}

/* -psi */
bool mc_verify_conditional_atom(checker *c, const mc_proof_line *line) {
    return is_distance_atom(line) && mc_atom_is_conditional(line->term->node) && from_psi(c, line);
}

/* psi(x, 0) + psi(z, 0) - psi(x, z) - psi(0, 0) */
bool mc_verify_centred(checker *c, const mc_proof_line *line) {
    return is_distance_atom(line) && mc_atom_is_centred(line->term->node) && from_psi(c, line);
}

bool mc_verify_thin_plate(checker *c, const mc_proof_line *line) {
    (void)c;
    return is_atom(line, MC_THIN_PLATE) && no_premise(line);
}

/* ---- expressions of them ---- */

static bool is_enough(mc_judgement stated, mc_judgement needed) {
    return stated == MC_IS_KERNEL || stated == MC_IS_CONDITIONAL || stated == needed;
}

static bool premise_supports(const mc_proof_line *premise, const mc_proof_line *line, const mc_term *term, int64_t d) {
    return is_enough(premise->judgement, line->judgement) && states_claim(premise, premise->judgement, term, d);
}

/* Numbers drop out where the weights sum to zero. */
bool mc_verify_conditional_sum(checker *c, const mc_proof_line *line) {
    int next = 0;
    if (line->term->kind != MC_T_SUM && line->term->kind != MC_T_NUMBER)
        return false;
    for (int i = 0; i < line->term->children; i++) {
        const mc_term *child = line->term->child[i];
        if (child->kind != MC_T_NUMBER
            && (next == line->premises || !premise_supports(nth_premise(c, line, next++), line, child, line->d)))
            return false;
    }
    return next == line->premises;
}

/* Numbers that are not negative, and one factor that is none. */
bool mc_verify_conditional_multiple(checker *c, const mc_proof_line *line) {
    const mc_term *t = line->term, *other = NULL;
    for (int i = 0; t->kind == MC_T_PRODUCT && i < t->children; i++) {
        const bool number = t->child[i]->kind == MC_T_NUMBER;
        if (number ? !(mc_amount_range(t->child[i]->amount).lo >= 0) : other != NULL)
            return false;
        other = number ? other : t->child[i];
    }
    return other && line->premises == 1 && premise_supports(nth_premise(c, line, 0), line, other, line->d);
}

bool mc_verify_conditional_columns(checker *c, const mc_proof_line *line) {
    const mc_term *t = line->term;
    return t->kind == MC_T_COLUMNS && line->premises == 1
           && premise_supports(nth_premise(c, line, 0), line, t->child[0], t->node->columns);
}

/* -a b^p, a >= 0, 0 < p <= 1; b: *base. With p < 1, b must not be negative, which is a question about equal points:
   with -b conditionally positive, weights 1 and -1 give b(x,z) >= (b(x,x) + b(z,z))/2. */
static bool is_minus_bernstein(const mc_term *t, const mc_term **base) {
    if (t->kind != MC_T_PRODUCT || t->children != 2 || t->child[0]->kind != MC_T_NUMBER
        || !(mc_amount_range(t->child[0]->amount).hi <= 0))
        return false;
    const bool power = t->child[1]->kind == MC_T_POWER && t->child[1]->amount.factor < 1;
    *base = power ? t->child[1]->child[0] : t->child[1];
    return !power || (t->child[1]->amount.factor > 0 && mc_term_diagonal_range(*base).lo >= 0);
}

bool mc_verify_conditional_bernstein(checker *c, const mc_proof_line *line) {
    const mc_term *base;
    return is_minus_bernstein(line->term, &base)
           && only_premise(c, line, MC_IS_CONDITIONAL, mc_term_negated(&c->pool, base));
}

/* b^-a with b > 0, as b is on equal points. */
bool mc_verify_inverse_conditional(checker *c, const mc_proof_line *line) {
    const mc_term *t = line->term;
    return t->kind == MC_T_POWER && t->amount.factor < 0 && mc_term_diagonal_range(t->child[0]).lo > 0
           && only_premise(c, line, MC_IS_CONDITIONAL, mc_term_negated(&c->pool, t->child[0]));
}

bool mc_verify_exp_conditional(checker *c, const mc_proof_line *line) {
    return line->term->kind == MC_T_EXP && only_premise(c, line, MC_IS_CONDITIONAL, line->term->child[0]);
}
