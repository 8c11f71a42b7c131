/* stage_plan.c: each stage has four times the rows of the last; where all are there, four times the landmarks. */
#include "model/stage_plan.h"
#include "base/extremes.h"
#include "iterative/preconditioner_rank.h"
#include <math.h>

static const double WORTH = 1.5;  /* a stage that is not so much larger than the last is not begun */
static const double NEARLY = 0.9; /* of the work there is time for, so that few forecasts are made */

mc_stage_plan mc_stage_after(mc_stage_plan last, int64_t n, int64_t landmarks) {
    const int64_t cap = mc_min_count(mc_rank_cap(n), landmarks);
    mc_stage_plan next = {last.rows * MC_STAGE_STEP, last.landmarks};
    if (last.rows >= n && (!last.landmarks || last.landmarks >= cap))
        return (mc_stage_plan){0};
    if (last.rows >= n)
        next.landmarks = mc_min_count(last.landmarks * MC_STAGE_STEP, cap);
    else if (landmarks && next.rows > MC_ROWS_TO_FACTOR)
        next.landmarks = mc_min_count(cap, (int64_t)sqrt((double)mc_min_count(next.rows, n)));
    next.rows = next.rows > n / 2 ? n : next.rows;
    return next;
}

/* Work grows with the square of the landmarks, with the rows, where there are landmarks, and otherwise with the square
   of the rows at least. */
mc_stage_plan mc_stage_shrunk(mc_stage_plan last, mc_stage_plan next, double share) {
    mc_stage_plan less = next;
    if (next.rows > last.rows)
        less.rows = (int64_t)((double)next.rows * pow(NEARLY * share, next.landmarks ? 1 : 0.5));
    else
        less.landmarks = (int64_t)((double)next.landmarks * sqrt(NEARLY * share));
    const bool worth = (double)less.rows >= WORTH * (double)last.rows
                       || (less.rows == last.rows && (double)less.landmarks >= WORTH * (double)last.landmarks);
    return worth ? less : (mc_stage_plan){0};
}
