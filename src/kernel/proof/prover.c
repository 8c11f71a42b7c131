/* prover.c: the claims of a search for a derivation: those proved, which are lines and are found again, and those that
   failed, or are being tried further up. */
#include "kernel/proof/prover.h"
#include "base/memory.h"

bool mc_grow_prover_array(mc_prover *p, void **block, int count, int *capacity, size_t size) {
    if (count < *capacity)
        return true;
    void *grown = mc_grow_block(p->ctx, *block, *capacity ? 2 * *capacity : 16, size);
    if (!grown) {
        p->status = MERCER_MEMORY;
        return false;
    }
    *capacity = *capacity ? 2 * *capacity : 16;
    *block = grown;
    return true;
}

int mc_add_proof_line(mc_prover *p, mc_proof_line line, int premises, const int *premise) {
    for (int i = 0; i < premises; i++)
        if (premise[i] == MC_NO_LINE)
            return MC_NO_LINE;
    int *copy = mc_pool_take(p->pool, premises, sizeof *copy);
    if (!copy
        || !mc_grow_prover_array(p, (void **)&p->out->line, p->out->count, &p->out->capacity, sizeof *p->out->line))
        return MC_NO_LINE;
    for (int i = 0; i < premises; i++)
        copy[i] = premise[i];
    line.premises = premises;
    line.premise = copy;
    p->out->line[p->out->count] = line;
    return p->out->count++;
}

int mc_claim_outright(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule) {
    return mc_add_proof_line(p, (mc_proof_line){.judgement = judgement, .term = term, .d = d, .rule = rule}, 0, NULL);
}

int mc_claim_from(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule, int premise) {
    return mc_add_proof_line(p, (mc_proof_line){.judgement = judgement, .term = term, .d = d, .rule = rule}, 1,
                             &premise);
}

int mc_find_proof_line(const mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d) {
    for (int i = 0; i < p->out->count; i++) {
        const mc_proof_line *line = &p->out->line[i];
        if (line->judgement == judgement && line->d == d && mc_term_equal(line->term, term))
            return i;
    }
    return MC_NO_LINE;
}

bool mc_claim_has_failed(const mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d) {
    for (int i = 0; i < p->failures; i++)
        if (p->failed[i].judgement == judgement && p->failed[i].d == d && mc_term_equal(p->failed[i].term, term))
            return true;
    return false;
}
