/* proof.h: the answer of mercer_prove as an object, and how it is put together. */
#ifndef MC_KERNEL_PROOF_PROOF_H
#define MC_KERNEL_PROOF_PROOF_H

#include "kernel/proof/prove.h"
#include "kernel/proof/refute.h"

struct mercer_proof {
    mercer_verdict verdict;
    int order; /* not proved, but conditionally positive of this order: the steps derive that; 0: not known */
    int steps;
    mercer_step *step;
    mercer_witness witness;     /* its count is 0 unless refuted by points */
    mercer_frequency frequency; /* its frequency is NULL unless refuted by it */
    char *text, *domain, *object;
    mc_pool pool; /* holds all of the above */
};

/* What is known when the text is written. */
typedef struct mc_proof_findings {
    const mercer_kernel *kernel;
    int64_t d;                 /* 0: every d */
    mc_derivation derivation;  /* proved: complete and checked */
    const mc_term *stuck;      /* not proved: the part no rule proves */
    mc_derivation conditional; /* not proved, order > 0: that it is conditionally positive, complete and checked */
    int order;
    mc_refutation refutation;
    int64_t proved_up_to; /* not proved for every d, but a kernel for this many columns; 0: not known */
} mc_proof_findings;

/* The same as mercer_prove, inside a public call. */
mercer_status mc_prove(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, mercer_proof **out);

/* proof_print.c: steps, and the argument as on a blackboard. */
mercer_status mc_proof_write(mercer_ctx *ctx, mercer_proof *proof, mc_proof_findings *f);
/* proof_domain.c: the points for which root has a value, "with x[1] > 0 and without negative entries"; nothing where it
   has one everywhere. */
/* The most columns that atoms seeing all of them allow; 0: any number. */
int64_t mc_domain_columns(const mc_node *root);
/* An error where a condition on the points holds at none: everything could be proved of them. */
mercer_status mc_check_domain(mercer_ctx *ctx, const mc_node *root, const char *kernel);
mercer_status mc_describe_domain(mercer_ctx *ctx, const mc_node *root, mc_text *out);
/* proof_object.c: the whole proof as JSON. */
mercer_status mc_proof_object(mercer_ctx *ctx, mercer_verdict verdict, const mc_proof_findings *f, mc_text *out);
/* witness_print.c: the points, the values and their sum. */
void mc_witness_print(const mc_proof_findings *f, const mercer_witness *w, mc_text *out);
extern const char *const mc_series_names[MC_SERIES_KINDS];
void mc_frequency_print(const mercer_frequency *w, mc_text *out);
/* "k(x, x) = -1 at x = (0, 0)": the witness in a few words. */
void mc_witness_short(const mercer_witness *w, mc_text *out);
void mc_frequency_short(const mercer_frequency *w, mc_text *out);

#endif
