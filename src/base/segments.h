/* segments.h: rows in segments that depend on their number alone, which ranks may share out, and sums over them.

   A sum over segments is that of a fixed tree: a node of some segments has to its left as many as the greatest power of
   two below their number. So it has the same bits on any number of ranks: each has a run of segments, makes the sums of
   the nodes that lie in its run with their parent outside, and what is above these is added by whoever has heard them
   all. */
#ifndef MC_BASE_SEGMENTS_H
#define MC_BASE_SEGMENTS_H

#include "base/ranks.h"
#include "base/workspace.h"

enum {
    MC_SEGMENT_UNIT = 512, /* segments begin at multiples of it */
    MC_SEGMENTS = 64,      /* at most */
    MC_SEGMENT_NODES = 12, /* of a rank, at most */
    MC_SEGMENT_LEVELS = 7  /* of the tree */
};

typedef struct mc_segments {
    int64_t n, each, count; /* rows; of a segment; segments */
    int rank, ranks;        /* 0 and 1 where nothing is shared */
    int64_t first, end;     /* own segments */
    int64_t begin, rows;    /* own rows */
} mc_segments;

typedef struct mc_segment_node {
    int64_t from, to; /* segments */
} mc_segment_node;

/* One rank has all. */
mc_segments mc_segments_whole(int64_t n);
/* Every rank has a run of them, where there are ranks to share with and rows enough. */
mc_segments mc_segments_shared(const mercer_ctx *ctx, int64_t n);
/* The rows of a segment. */
int64_t mc_segment_begin(const mc_segments *s, int64_t segment);
int mc_segments_owner(const mc_segments *s, int64_t row);

/* The segments of the left half of a node. */
mc_segment_node mc_segment_left(mc_segment_node node);
/* The nodes of a rank, MC_SEGMENT_NODES of them at most, from left to right. */
int mc_segments_nodes(const mc_segments *s, int rank, mc_segment_node *out);
/* sums: those of own segments, so many numbers each, one after the other. They become those of own nodes, from the
   front on. */
void mc_segments_fold(const mc_segments *s, int64_t numbers, double *sums);

/* Numbers of work that mc_segments_sum takes. */
int64_t mc_segments_work(const mc_segments *s, int64_t numbers);
/* sum <- that of all segments, from the sums of own nodes, on every rank; status: of what made them. Every rank calls
   it, in the same order; what tells the call from others, as in mc_ranks_agree. */
mercer_status mc_segments_sum(mercer_ctx *ctx, const mc_segments *s, uint64_t what, mercer_status status,
                              const double *mine, int64_t numbers, double *work, double *sum);
/* all <- the rows of every rank, width numbers each. mine may not lie in all. */
mercer_status mc_segments_gather(mercer_ctx *ctx, const mc_segments *s, uint64_t what, mercer_status status,
                                 const double *mine, int64_t width, double *all);

#endif
