/* landmarks.h: which rows stand for all. */
#ifndef MC_LEARN_COMMON_LANDMARKS_H
#define MC_LEARN_COMMON_LANDMARKS_H

#include "problem/problem.h"

size_t mc_landmarks_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m);
/* How many of them: by how where it says so, else rank; never more than n. */
int64_t mc_landmarks_count(const char *how, int64_t n, int64_t rank);
/* how: "pivots", "uniform", a number of pivots, or row numbers from 1 separated by commas. *rows is the caller's to
   free; *count may be below m. */
mercer_status mc_landmarks_choose(mercer_ctx *ctx, const mc_problem *p, const char *how, int64_t m, int64_t **rows,
                                  int64_t *count);
/* count of 0 .. n-1 drawn without replacement, first in rows, which holds n. */
void mc_landmarks_uniform(uint64_t seed, uint64_t item, int64_t n, int64_t count, int64_t *rows);

#endif
