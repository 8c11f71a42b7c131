/* check_taylor.c: see check_taylor.h. */
#include "kernel/proof/check_taylor.h"
#include "kernel/proof/expand.h"
#include "kernel/proof/outweigh.h"

/* By the first terms of power series and remainders. */
bool mc_verify_taylor(checker *c, const mc_proof_line *line) {
    bool holds = false;
    for (int i = 0; i < MC_TAYLOR_FORMS && !holds && !c->status; i++) {
        mc_expansion e;
        const mc_taylor_form form = mc_taylor_forms[i];
        c->status = mc_expand_taylor_term(&c->pool, line->term, form.mode, form.order, line->d, &c->work, &e);
        holds = !c->status && mc_taylor_settles(&e, form.mode, line->d);
        for (int g = 0; holds && g < e.generators; g++)
            holds = !mc_expansion_uses(&e, g) || is_premise(c, line, e.generator[g]);
        mc_expansion_close(&e);
    }
    return holds;
}

bool mc_verify_remainder(checker *c, const mc_proof_line *line) {
    if (line->term->kind != MC_T_REMAINDER)
        return false;
    return mc_remainder_is_plain(line->term)
               ? no_premise(line)
               : only_premise(c, line, MC_IS_KERNEL, mc_remainder_kernel(&c->pool, line->term));
}

bool mc_verify_outweighed(checker *c, const mc_proof_line *line) {
    const mc_term *kernel = NULL;
    bool holds = false;
    c->status = mc_term_outweighed(&c->pool, line->term, line->d, &c->work, &holds, &kernel);
    return !c->status && holds && only_premise(c, line, MC_IS_KERNEL, kernel);
}
