/* deal.h: pieces of work that do not depend on each other, dealt out to ranks: piece k is that of rank k modulo their
   number. Each does its own, then all hear what has come of them. */
#ifndef MC_BASE_DEAL_H
#define MC_BASE_DEAL_H

#include "base/ranks.h"

typedef struct mc_deal {
    int64_t count;
    int rank, ranks; /* 0 and 1 where nothing is shared */
} mc_deal;

mc_deal mc_deal_out(const mercer_ctx *ctx, int64_t count);
/* Own pieces, and which they are. */
int64_t mc_deal_own(const mc_deal *deal, int rank);
int64_t mc_deal_piece(const mc_deal *deal, int64_t own);

/* What is told of a piece: so many numbers, the same on every rank; give writes them, take reads them where another has
   done the piece. */
typedef struct mc_deal_news {
    int64_t (*numbers)(const void *arg, int64_t piece);
    void (*give)(const void *arg, int64_t piece, double *out);
    void (*take)(void *arg, int64_t piece, const double *in);
    void *arg;
} mc_deal_news;

/* Every rank calls it, status being that of its own pieces; what as in mc_ranks_agree. Nothing is done, but for the
   status, where nothing is shared. */
mercer_status mc_deal_tell(mercer_ctx *ctx, const mc_deal *deal, uint64_t what, mercer_status status,
                           const mc_deal_news *news);

#endif
