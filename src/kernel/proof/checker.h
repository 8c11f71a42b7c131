/* checker.h: what the rules of check_proof.c and its neighbours ask of a line and of the lines it names. */
#ifndef MC_KERNEL_PROOF_CHECKER_H
#define MC_KERNEL_PROOF_CHECKER_H

#include "kernel/proof/derivation.h"
#include <math.h>

typedef struct checker {
    mercer_ctx *ctx;
    const mc_derivation *derivation;
    mc_pool pool; /* for terms made on the way */
    int64_t work; /* left for multiplying out */
    mercer_status status;
} checker;

typedef bool rule_holds(checker *c, const mc_proof_line *line);

static inline const mc_proof_line *nth_premise(const checker *c, const mc_proof_line *line, int i) {
    return &c->derivation->line[line->premise[i]];
}

/* What holds for every number of columns holds for d. */
static inline bool states_claim(const mc_proof_line *premise, mc_judgement judgement, const mc_term *term, int64_t d) {
    return premise->judgement == judgement && (premise->d == 0 || premise->d == d)
           && mc_term_equal(premise->term, term);
}

/* The line has this one premise, about this term. */
static inline bool only_premise(const checker *c, const mc_proof_line *line, mc_judgement judgement,
                                const mc_term *term) {
    return line->premises == 1 && term && states_claim(nth_premise(c, line, 0), judgement, term, line->d);
}

/* Some premise says that the term is a kernel. */
static inline bool is_premise(const checker *c, const mc_proof_line *line, const mc_term *term) {
    for (int i = 0; i < line->premises; i++)
        if (states_claim(nth_premise(c, line, i), MC_IS_KERNEL, term, line->d))
            return true;
    return false;
}

static inline bool no_premise(const mc_proof_line *line) {
    return line->premises == 0;
}

static inline bool is_atom(const mc_proof_line *line, mc_atom atom) {
    return line->term->kind == MC_T_ATOM && line->term->node->atom == atom;
}

static inline bool is_special(const mc_proof_line *line, mc_special special) {
    return line->term->kind == MC_T_SPECIAL && line->term->special == special;
}

/* 0, 1, 2, ... */
static inline bool is_natural_number(double p) {
    return p >= 0 && p == floor(p) && isfinite(p);
}

static inline const mc_term *special_of(checker *c, mc_special special, const mc_node *owner) {
    return mc_term_special(&c->pool, special, owner);
}

#endif
