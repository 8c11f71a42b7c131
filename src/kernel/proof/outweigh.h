/* outweigh.h: sums of power series in one kernel of which no coefficient is negative (D4). */
#ifndef MC_KERNEL_PROOF_OUTWEIGH_H
#define MC_KERNEL_PROOF_OUTWEIGH_H

#include "kernel/proof/term.h"

typedef enum mc_sequence_kind {
    MC_SEQUENCE_ONE, /* 1 */
    MC_SEQUENCE_EXP,
    MC_SEQUENCE_BINOMIAL, /* (1 - u)^-a */
    MC_SEQUENCE_LOGARITHMIC,
    MC_SEQUENCE_ARCSIN,
    MC_SEQUENCE_BESSEL_I0
} mc_sequence_kind;

/* c t^p f(r t^q), f one of the above, as the sequence of its coefficients. */
typedef struct mc_sequence {
    mc_sequence_kind kind;
    mc_interval c, r; /* r: surely not 0 */
    double a;
    int p, q;
    bool inside; /* it converges wherever it has a value: see series_converges in outweigh_read.c */
} mc_sequence;

enum { MC_SEQUENCES_MAX = 16 };

/* No coefficient of the sum is negative. Never says yes wrongly. */
bool mc_sequences_nonnegative(const mc_sequence *s, int count);

/* The term is such a sum in *kernel, and it converges at all points that the claim is about. *work: as in expand.h. */
mercer_status mc_term_outweighed(mc_pool *pool, const mc_term *term, int64_t d, int64_t *work, bool *holds,
                                 const mc_term **kernel);

#endif
