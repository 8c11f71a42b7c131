/* loss_landmarks.h: a convex loss in the span of k(z_j, .) at some landmarks: as many rows as there may be, in
   proportion to their number. */
#ifndef MC_LEARN_LOSS_LOSS_LANDMARKS_H
#define MC_LEARN_LOSS_LOSS_LANDMARKS_H

#include "learn/common/landmark_space.h"
#include "learn/loss/loss_machine.h"

enum { MC_LOSS_LANDMARKS_MOST = 1000 };

struct mc_loss_landmarks {
    mc_landmark_space space;
    mc_problem p; /* the rows' features in that space, and the linear kernel; everything else is borrowed */
};

/* How many, of n rows: as asked; 0: by the rule. */
int64_t mc_loss_landmarks_count(int64_t n, int64_t asked);
/* who: for messages. */
mercer_status mc_loss_landmarks_open(mercer_ctx *ctx, const char *who, const mc_problem *p, int64_t asked,
                                     mc_loss_landmarks **out);
void mc_loss_landmarks_close(mc_loss_landmarks *s);
/* Everything that a fit with them takes, for tasks of so many columns and as many columns in all. */
size_t mc_loss_landmarks_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t asked, int64_t columns, int64_t width);
/* The model: coefficients of the landmarks, and its certificate in the report. */
mercer_status mc_loss_landmarks_finish(mercer_ctx *ctx, const mc_loss_machine *m, mercer_status stopped, mc_fitted *f);

#endif
