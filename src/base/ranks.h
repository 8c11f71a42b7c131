/* ranks.h: the processes that do one piece of work together, and what they tell each other.

   Every rank runs the same program on the same data and comes by itself to the same decisions; nobody is told what to
   do. What they share is work that costs more than to hand its results around: products with K
   (gram/operator/share_product.c). Results are put together in an order that does not depend on the number of ranks, so
   that all ranks have the same bits, on any number of them.

   Before results are handed around all ranks agree (mc_ranks_agree) that they are at the same place and that none has
   failed. So a rank that fails makes all the others fail there, with its message, and none waits for another that does
   not come. */
#ifndef MC_BASE_RANKS_H
#define MC_BASE_RANKS_H

#include <mercer.h>

enum { MC_RANKS_ABI = 1, MC_RANKS_TEXT = 256 };

/* What a library of ranks exports, by the name mercer_ranks_calls. Calls are made by all ranks in the same order; those
   that give false say why in message. counts: of numbers, by rank; parts lie one after the other. In gather_parts mine
   may be where it goes in all. */
typedef struct mc_ranks_calls {
    int abi;
    /* communicator: the caller's, in the library's own type; NULL: all processes that were started together. NULL with
       the reason, MC_RANKS_TEXT bytes. */
    void *(*join)(const void *communicator, int *rank, int *count, char *why);
    /* together: all others leave too, as all have agreed. */
    void (*leave)(void *self, bool together);
    /* all[r] <- what rank r gives: as many bytes from each. */
    bool (*gather)(void *self, const void *mine, size_t bytes, void *all);
    bool (*gather_parts)(void *self, const double *mine, const int64_t *counts, double *all);
    /* Part r of out goes to rank r, and part r of in comes from there. */
    bool (*exchange)(void *self, const double *out, const int64_t *out_counts, double *in, const int64_t *in_counts);
    const char *(*message)(void *self);
} mc_ranks_calls;
typedef const mc_ranks_calls *mc_ranks_entry(void);

typedef enum mc_ranks_place {
    MC_RANKS_OPEN,
    MC_RANKS_ROWS,
    MC_RANKS_PRODUCT,
    MC_RANKS_SEGMENTS,
    MC_RANKS_PIECES,
    MC_RANKS_CHECKPOINT,
    MC_RANKS_END
} mc_ranks_place;

typedef struct mc_rank_note mc_rank_note;

/* Of a context. */
typedef struct mc_ranks {
    const mc_ranks_calls *calls;
    void *self;
    int rank, count;
    int64_t step;        /* agreements so far */
    mercer_status asked; /* by the caller: to be agreed upon */
    double since, busy;  /* clock when all last agreed; seconds of this rank between agreements */
    int own;             /* depth of work that is this rank's own, of which others hear at its end */
    bool parted;         /* others are elsewhere, as all know: nothing is said or heard any more */
    bool lost;           /* the same, but others may still wait */
    mc_rank_note *note;  /* of each rank, as last gathered */
    char *words;         /* the messages of all, for when one has failed */
    int64_t *counts;     /* two for each rank, for whoever hands something around */
} mc_ranks;

/* Joins the others as options.ranks and options.communicator have it, and agrees with them on what must not differ. */
mercer_status mc_ranks_open(mercer_ctx *ctx);
/* The same over a table that is at hand. */
mercer_status mc_ranks_join(mercer_ctx *ctx, const mc_ranks_calls *calls, const void *communicator);
/* The others are told that this rank has ended. */
void mc_ranks_close(mercer_ctx *ctx);
/* Why there is no time limit with several ranks. */
mercer_status mc_ranks_refuse_clock(mercer_ctx *ctx);

/* Whether what this context does now can be shared with others: there are some, and it is not one of several pieces of
   work at once. */
bool mc_ranks_share(const mercer_ctx *ctx);
/* Until the end of it this rank does a piece of work that others do not do: nothing in it is shared. */
void mc_ranks_begin_own(mercer_ctx *ctx);
void mc_ranks_end_own(mercer_ctx *ctx);
/* Whether this rank is one of several, but not the first, which alone writes. */
bool mc_ranks_is_silent(const mercer_ctx *ctx);
/* All ranks are at this place of the work `what` and all have fared well, status being this rank's. Otherwise the
   failure is that of the first rank which has one, everywhere. A stop that the caller of any rank has asked for is one
   too. */
mercer_status mc_ranks_agree(mercer_ctx *ctx, mc_ranks_place place, uint64_t what, mercer_status status);

/* See mc_ranks_calls. */
mercer_status mc_ranks_gather(mercer_ctx *ctx, const void *mine, size_t bytes, void *all);
mercer_status mc_ranks_gather_parts(mercer_ctx *ctx, const double *mine, const int64_t *counts, double *all);
mercer_status mc_ranks_exchange(mercer_ctx *ctx, const double *out, const int64_t *out_counts, double *in,
                                const int64_t *in_counts);

#endif
