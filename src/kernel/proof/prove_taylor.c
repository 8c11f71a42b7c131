/* prove_taylor.c: the search for a derivation by power series with remainders (D3). */
#include "kernel/proof/prover.h"
#include "kernel/language/atoms.h"
#include "kernel/proof/outweigh.h"
#include <math.h>

static int claim_by_first_terms(mc_prover *p, const mc_term *term, int64_t d, mc_taylor_form form) {
    mc_expansion e;
    int line = MC_NO_LINE;
    const mercer_status status = mc_expand_taylor_term(p->pool, term, form.mode, form.order, d, &p->work, &e);
    if (status)
        p->status = status;
    else if (mc_taylor_settles(&e, form.mode, d))
        line = mc_claim_from_generators(p, MC_IS_KERNEL, term, d, MC_RULE_TAYLOR, &e);
    mc_expansion_close(&e);
    return line;
}

int mc_claim_by_taylor(mc_prover *p, const mc_term *term, int64_t d) {
    int line = MC_NO_LINE;
    for (int i = 0; i < MC_TAYLOR_FORMS && line == MC_NO_LINE && !p->status; i++)
        line = claim_by_first_terms(p, term, d, mc_taylor_forms[i]);
    return line;
}

int mc_claim_remainder(mc_prover *p, const mc_term *term, int64_t d) {
    const mc_term *kernel = mc_remainder_kernel(p->pool, term);
    if (mc_remainder_is_plain(term))
        return mc_claim_outright(p, MC_IS_KERNEL, term, d, MC_RULE_REMAINDER);
    return kernel ? mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_REMAINDER, mc_claim_kernel(p, kernel, d))
                  : MC_NO_LINE;
}

int mc_claim_outweighed(mc_prover *p, const mc_term *term, int64_t d) {
    const mc_term *kernel = NULL;
    bool holds = false;
    if (!p->status)
        p->status = mc_term_outweighed(p->pool, term, d, &p->work, &holds, &kernel);
    return !p->status && holds
               ? mc_claim_from(p, MC_IS_KERNEL, term, d, MC_RULE_OUTWEIGHED, mc_claim_kernel(p, kernel, d))
               : MC_NO_LINE;
}
