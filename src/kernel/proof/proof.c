/* proof.c: is an expression a kernel? Derive and check; failing that, refute; failing that, say so.

   A derivation that the checker refuses counts for nothing. It would be a defect of the prover, so it goes to the log.
   */
#include "kernel/proof/proof.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "kernel/language/centre.h"
#include "kernel/language/fits.h"
#include <math.h>
#include <string.h>

/* ---- deciding ---- */

/* A checked derivation of the goal for d columns, or *proved = false. */
static mercer_status derive_goal(mercer_ctx *ctx, const mercer_kernel *kernel, mc_judgement goal, int64_t d,
                                 mc_derivation *derivation, const mc_term **stuck, bool *proved) {
    bool found = false, valid = false;
    int bad = -1;
    *proved = false;
    MC_TRY(mc_find_derivation(ctx, goal, mc_kernel_shown(kernel), d, derivation, &found, stuck));
    if (!found)
        return MERCER_OK;
    MC_TRY(mc_check_derivation(ctx, derivation, goal, mc_kernel_shown(kernel), d, &valid, &bad));
    if (!valid)
        mc_log_message(ctx, "prove: the checker refused line %d of the derivation for %s", bad + 1, kernel->text);
    *proved = valid;
    return MERCER_OK;
}

static mercer_status derive_and_check(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, mc_proof_findings *f,
                                      bool *proved) {
    return derive_goal(ctx, kernel, MC_IS_KERNEL, d, &f->derivation, &f->stuck, proved);
}

/* Not proved to be a kernel: is it conditionally positive, and of which order? */
static mercer_status find_order(mercer_ctx *ctx, const mercer_kernel *kernel, mc_proof_findings *f) {
    static const mc_judgement goal[] = {MC_IS_CONDITIONAL, MC_IS_CONDITIONAL_2};
    bool proved = false;
    for (int order = 1; order <= 2 && !proved; order++) {
        const mc_term *stuck = NULL;
        mc_derivation_close(&f->conditional);
        MC_TRY(derive_goal(ctx, kernel, goal[order - 1], f->d, &f->conditional, &stuck, &proved));
        f->order = proved ? order : 0;
    }
    return MERCER_OK;
}

/* Refuted in some dimension when every dimension was asked for: up to which is it a kernel? */
static mercer_status find_lower(mercer_ctx *ctx, const mercer_kernel *kernel, mc_proof_findings *f) {
    const int64_t below = f->refutation.witness.d - 1;
    mc_proof_findings lower = {.kernel = kernel};
    bool proved = false;
    if (f->d > 0 || below < 1)
        return MERCER_OK;
    const mercer_status status = derive_and_check(ctx, kernel, below, &lower, &proved);
    mc_derivation_close(&lower.derivation);
    f->proved_up_to = proved ? below : 0;
    return status;
}

/* Neither proved nor refuted for every number of columns: is it proved for few? */
enum { FEW_COLUMNS = 8 };

static mercer_status find_few(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t least, mc_proof_findings *f) {
    bool proved = true;
    for (int64_t d = least > 1 ? least : 1; d <= FEW_COLUMNS && proved; d++) {
        mc_proof_findings few = {.kernel = kernel};
        const mercer_status status = derive_and_check(ctx, kernel, d, &few, &proved);
        mc_derivation_close(&few.derivation);
        MC_TRY(status);
        f->proved_up_to = proved ? d : f->proved_up_to;
    }
    return MERCER_OK;
}

static mercer_status decide_verdict(mercer_ctx *ctx, const mercer_kernel *kernel, mc_proof_findings *f,
                                    mercer_verdict *verdict) {
    bool proved;
    int64_t exact, least;
    mc_needed_columns(mc_kernel_shown(kernel), &exact, &least);
    MC_TRY(derive_and_check(ctx, kernel, f->d, f, &proved));
    *verdict = MERCER_PROVED;
    if (proved)
        return MERCER_OK;
    MC_TRY(find_order(ctx, kernel, f));
    MC_TRY(mc_refute_kernel(ctx, mc_kernel_shown(kernel), f->d, least, exact > 0, &f->refutation));
    *verdict = f->refutation.found ? MERCER_REFUTED : MERCER_UNKNOWN;
    if (f->refutation.found)
        return find_lower(ctx, kernel, f);
    return f->d == 0 && exact == 0 ? find_few(ctx, kernel, least, f) : MERCER_OK;
}

/* How many columns the claim is about: those asked for, those the kernel is bound to, those its vectors fix; else 0. */
static mercer_status settle_columns(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, mc_proof_findings *f) {
    int64_t exact, least;
    mc_needed_columns(mc_kernel_shown(kernel), &exact, &least);
    if (d < 0)
        return mc_fail(ctx, MERCER_INVALID, "prove: the number of columns must be 0 (any) or more, got %lld",
                       (long long)d);
    if (d > 0 && kernel->d > 0 && kernel->d != d)
        return mc_fail(ctx, MERCER_DATA, "the kernel is bound to %lld columns, but %lld were asked for",
                       (long long)kernel->d, (long long)d);
    f->d = d > 0 ? d : kernel->d > 0 ? kernel->d : exact;
    if (f->d == 0 && mc_domain_columns(mc_kernel_shown(kernel)) >= least)
        f->d = mc_domain_columns(mc_kernel_shown(kernel)); /* rows of fewer columns are such rows with zeros */
    MC_TRY(mc_node_fits(ctx, mc_kernel_shown(kernel), f->d > 0 ? f->d : least));
    return mc_check_domain(ctx, mc_kernel_shown(kernel), kernel->text);
}

/* A proof that nobody will read needs no words. */
static mercer_status prove_kernel(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, bool in_words,
                                  mercer_proof **out) {
    mc_proof_findings f = {.kernel = kernel};
    mercer_proof *proof = NULL;
    *out = NULL;
    MC_TRY(settle_columns(ctx, kernel, d, &f));
    MC_TRY(MC_ALLOC(ctx, proof, 1));
    proof->pool = mc_pool_open(ctx);
    mc_begin_phase(ctx, "prove");
    mercer_status status = decide_verdict(ctx, kernel, &f, &proof->verdict);
    if (!status && (in_words || proof->verdict != MERCER_PROVED))
        status = mc_proof_write(ctx, proof, &f);
    mc_derivation_close(&f.derivation);
    mc_derivation_close(&f.conditional);
    mc_refutation_close(&f.refutation);
    if (status)
        mercer_proof_free(proof);
    else
        *out = proof;
    return status;
}

mercer_status mc_prove(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, mercer_proof **out) {
    return prove_kernel(ctx, kernel, d, true, out);
}

/* ---- the public face ---- */

mercer_status mercer_prove(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, mercer_proof **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, out);
    mc_begin_call(ctx);
    return mc_prove(ctx, kernel, d, out);
}

void mercer_proof_free(mercer_proof *proof) {
    if (!proof)
        return;
    mc_pool_close(&proof->pool);
    mc_free(proof);
}

mercer_verdict mercer_proof_verdict(const mercer_proof *proof) {
    if (!proof)
        return MERCER_UNKNOWN;
    return proof->verdict;
}

int mercer_proof_order(const mercer_proof *proof) {
    if (!proof)
        return 0;
    return proof->order;
}

int mercer_proof_steps(const mercer_proof *proof) {
    if (!proof)
        return 0;
    return proof->steps;
}

const mercer_step *mercer_proof_step(const mercer_proof *proof, int i) {
    return proof && i >= 0 && i < proof->steps ? &proof->step[i] : NULL;
}

const mercer_witness *mercer_proof_witness(const mercer_proof *proof) {
    if (!proof)
        return NULL;
    return proof->witness.count > 0 ? &proof->witness : NULL;
}

const mercer_frequency *mercer_proof_frequency(const mercer_proof *proof) {
    if (!proof)
        return NULL;
    return proof->frequency.frequency ? &proof->frequency : NULL;
}

const char *mercer_proof_domain(const mercer_proof *proof) {
    if (!proof)
        return NULL;
    return proof->domain;
}

const char *mercer_proof_object(const mercer_proof *proof) {
    if (!proof)
        return NULL;
    return proof->object;
}

const char *mercer_proof_text(const mercer_proof *proof) {
    if (!proof)
        return NULL;
    return proof->text;
}

/* ---- the gate before every fit ---- */

/* What cures a kernel of few columns that sees more. */
static void advise_dimension(const mercer_kernel *kernel, int64_t d, mc_text *out) {
    const int64_t most = mc_domain_columns(mc_kernel_shown(kernel));
    const int64_t highest = (int64_t)mc_atoms[MC_WENDLAND].parameter[1].high;
    if (most == 0 || d <= most)
        return;
    mc_text_add(out, "; wendland sees %lld columns: ", (long long)d);
    if (d <= highest)
        mc_text_add(out, "raise its dimension from %lld to %lld", (long long)most, (long long)d);
    else
        mc_text_add(out, "choose %lld of them, and that as its dimension", (long long)highest);
}

/* What cures one that is conditionally positive, where the coefficients do not sum to zero. */
static mercer_status advise_centring(mercer_ctx *ctx, const mercer_kernel *kernel, int order, mc_text *out) {
    mercer_kernel *centred = NULL;
    mc_text_add(out, ", but conditionally positive definite of order %d", order);
    if (order > 1) {
        mc_text_add(out, ", which no machine takes: use power, log or multiquadric with centred=1");
        return MERCER_OK;
    }
    MC_TRY(mc_kernel_centre(ctx, kernel, &centred));
    mc_text_add(out, ", which serves where the coefficients sum to zero, as in svc and svr, and with an intercept in "
                     "ridge and the losses");
    if (centred)
        mc_text_add(out, "; use %.200s instead", centred->text);
    mercer_kernel_free(centred);
    return MERCER_OK;
}

static mercer_status fail_not_a_kernel(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d,
                                       const mercer_proof *proof, bool offered) {
    const char *cure = offered ? "; to use it all the same, pass --allow-indefinite (allow_indefinite in C and Python)"
                               : "; this machine takes proved kernels only";
    char *reason = NULL;
    mc_text text = mc_text_open(ctx);
    mc_text_add(&text, proof->verdict == MERCER_UNKNOWN ? "neither proved nor refuted to be a kernel" : "not a kernel");
    mercer_status status = proof->order > 0 ? advise_centring(ctx, kernel, proof->order, &text) : MERCER_OK;
    if (proof->verdict == MERCER_REFUTED && proof->order == 0) {
        mc_text_add(&text, ": ");
        if (proof->witness.count > 0)
            mc_witness_short(&proof->witness, &text);
        else
            mc_frequency_short(&proof->frequency, &text);
    }
    advise_dimension(kernel, d, &text);
    if (!status)
        status = mc_text_take(&text, &reason);
    mc_text_close(&text);
    MC_TRY(status);
    status = mc_fail(ctx, MERCER_NOT_A_KERNEL, "%.300s is %.500s%s", kernel->text, reason, cure);
    mc_free(reason);
    return status;
}

mercer_status mc_kernel_require(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, bool offered) {
    mercer_proof *proof = NULL;
    MC_TRY(prove_kernel(ctx, kernel, d, false, &proof));
    const mercer_status status =
        proof->verdict == MERCER_PROVED ? MERCER_OK : fail_not_a_kernel(ctx, kernel, d, proof, offered);
    mercer_proof_free(proof);
    return status;
}
