/* measure_round.h: one round of a search, measured. */
#ifndef MC_SELECT_MEASURE_ROUND_H
#define MC_SELECT_MEASURE_ROUND_H

#include "select/tune.h"

typedef struct mc_round_state {
    mercer_search *s;
    const mercer_tune *set;
    mc_journal *journal;
    mc_round round;
    mc_shared_kernel shared;
    bool *active;   /* count: candidates of this round; NULL: all */
    int64_t *start; /* the first candidate of every run */
    int64_t runs;
    bool trial;        /* the first run decides whether the search is to be halved */
    bool late;         /* it is */
    double begin, end; /* of the whole search, this round: for the progress */
    /* seconds of the longest measurement of one candidate on one split: about what the last fit will take */
    double longest;
} mc_round_state;

/* The active candidates on these rows; number: of the round, in the journal. */
mercer_status mc_round_measure(mercer_ctx *ctx, mc_round_state *w, const mercer_data *data, const char *const *groups,
                               int number);
/* The run that begins with a candidate, the place-th of its round; tail: the slopes of the one candidate, where there
   are any. */
mercer_status mc_round_measure_run(mercer_ctx *ctx, mc_round_state *w, int64_t begin, int64_t place, double *tail);
/* MERCER_TIME where there is no more than the chosen candidate takes to be fitted. */
mercer_status mc_round_check_time(mercer_ctx *ctx, const mc_round_state *w);

#endif
