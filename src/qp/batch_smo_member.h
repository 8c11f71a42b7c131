/* batch_smo_member.h: one of several quadratic programs (batch_smo.h) on the working set of all of them: over the
   variables of the set that are in question for it.

   The set's K is used where it lies, the other places closed. Where that took as many steps as the copying of its own
   rows and columns costs, they are copied, and the steps go on over them alone: at most twice what the better of the
   two would have taken. In later rounds the copy serves as the set does, as long as all that is in question has a place
   in it. */
#ifndef MC_QP_BATCH_SMO_MEMBER_H
#define MC_QP_BATCH_SMO_MEMBER_H

#include "base/workspace.h"
#include "qp/smo_select.h"
#include "qp/batch_smo.h"
#include "backend/batch_smo_body.h"

/* K of the working set: that of places a and b is K[a ld + b], and MC_STRIDE numbers at most are read beyond a row. */
typedef struct mc_set_matrix {
    const float *K;
    int64_t ld, count;
    const int64_t *column; /* the variable of each place, rising */
} mc_set_matrix;

typedef struct mc_batch_member {
    mc_extremes e;                    /* where it stands */
    bool open, stuck;                 /* still at work; no variable could move */
    bool out_of_steps, newton_failed; /* the steps allowed were not enough; one of Newton's was no help */
    double newton_violation;          /* the violation before the last of those; 0: none yet */
    int64_t count;                    /* variables of the set that are in question for it */
    int64_t *place;                   /* where they stand in the set, rising */
    int64_t *at;                      /* where in the block; pads repeat the first */
    mc_smo_block_f32 block;
    mc_set_matrix copy; /* those that were in question when they were last copied; count 0: none */
    int64_t *column;    /* its places */
    double *step;       /* n: of Newton's on the free variables, and f before it */
    double *f;
} mc_batch_member;

void mc_member_lay_out(mc_work *work, int64_t places, mc_batch_member *m);

/* In this order; k: which of the quadratic programs. part: for K of those in question, the same each time, NULL where
   there is no memory for it. */
void mc_member_pick(const mc_batch_smo *p, int64_t k, const mc_set_matrix *set, mc_batch_member *m);
void mc_member_solve(const mc_batch_smo *p, int64_t k, const mc_set_matrix *set, const mc_batch_smo_body *body,
                     float *part, mc_batch_member *m);
/* beta; and what has changed of it in each place of the set, MC_BATCH numbers apart. */
void mc_member_put_back(const mc_batch_smo *p, int64_t k, const mc_set_matrix *set, mc_batch_member *m, double *change);

/* Newton's step on the free variables of a slow one, for all variables as mc_member_put_back; and after f has been
   brought up to date as much of it as lowers the objective most. */
mercer_status mc_member_newton_step(mercer_ctx *ctx, const mc_batch_smo *p, int64_t k, mc_batch_member *m,
                                    double *change);
void mc_member_scale_step(const mc_batch_smo *p, int64_t k, mc_batch_member *m);

static inline int64_t mc_padded_size(int64_t q) {
    return (q + MC_STRIDE - 1) / MC_STRIDE * MC_STRIDE;
}

#endif
