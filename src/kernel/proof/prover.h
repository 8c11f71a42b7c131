/* prover.h: what the files that search for a derivation share. Claims return the number of the line that states them,
   or MC_NO_LINE. */
#ifndef MC_KERNEL_PROOF_PROVER_H
#define MC_KERNEL_PROOF_PROVER_H

#include "kernel/proof/expand.h"
#include "kernel/proof/prove.h"

enum { MC_NO_LINE = -1 };

typedef struct mc_proof_failure {
    mc_judgement judgement;
    const mc_term *term;
    int64_t d;
} mc_proof_failure;

typedef struct mc_prover {
    mercer_ctx *ctx;
    mc_derivation *out;
    mc_pool *pool;
    mc_proof_failure *failed;
    int failures, capacity;
    const mc_term *stuck;
    int64_t work; /* left for multiplying out */
    mercer_status status;
} mc_prover;

int mc_add_proof_line(mc_prover *p, mc_proof_line line, int premises, const int *premise);
int mc_claim_outright(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule);
int mc_claim_from(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule, int premise);
/* MC_NO_LINE: it is not proved yet. */
int mc_find_proof_line(const mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d);
bool mc_claim_has_failed(const mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d);
/* Room for one element more; false: p->status says why not. */
bool mc_grow_prover_array(mc_prover *p, void **block, int count, int *capacity, size_t size);

/* prove_atoms.c */
int mc_prove_atom(mc_prover *p, const mc_term *term, int64_t d);
int mc_claim_by_psi(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule);

/* For every number of columns if possible, else for d. */
int mc_claim_kernel(mc_prover *p, const mc_term *term, int64_t d);
int mc_claim_all_powers(mc_prover *p, const mc_term *term, int64_t d);
int mc_claim_cnd(mc_prover *p, const mc_term *term, int64_t d);
int mc_claim_conditional(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d);

/* prove_conditional.c */
int mc_conditional_by_top(mc_prover *p, mc_judgement order, const mc_term *term, int64_t d);
/* prove_taylor.c: functions of kernels by their first terms and what is left; and that this is a kernel. */
int mc_claim_by_taylor(mc_prover *p, const mc_term *term, int64_t d);
/* a sum of power series in one kernel, coefficient by coefficient */
int mc_claim_outweighed(mc_prover *p, const mc_term *term, int64_t d);
int mc_claim_remainder(mc_prover *p, const mc_term *term, int64_t d);
/* Prove the generators that are left and conclude the line. */
int mc_claim_from_generators(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule,
                             const mc_expansion *e);

/* b^-a, or every power of it, with b > 0 and -b conditionally positive. */
int mc_inverse_conditional(mc_prover *p, mc_judgement judgement, const mc_term *term, int64_t d, mc_rule rule);

#endif
