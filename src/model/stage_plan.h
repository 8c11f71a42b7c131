/* stage_plan.h: how large the stages of a fit are. */
#ifndef MC_MODEL_STAGE_PLAN_H
#define MC_MODEL_STAGE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MC_STAGE_STEP = 4,       /* times as many rows or landmarks from stage to stage */
    MC_ROWS_TO_FACTOR = 4096 /* ridge: beyond them landmarks */
};

/* landmarks 0: the machine itself. rows 0: there is no stage. */
typedef struct mc_stage_plan {
    int64_t rows, landmarks;
} mc_stage_plan;

/* n: rows to learn from. landmarks: as many as the machine takes at most; 0: it has none. */
mc_stage_plan mc_stage_after(mc_stage_plan last, int64_t n, int64_t landmarks);
/* One that would not be done, nearly as large as a share of its work allows; rows 0: that is not worth it. */
mc_stage_plan mc_stage_shrunk(mc_stage_plan last, mc_stage_plan next, double share);

#endif
