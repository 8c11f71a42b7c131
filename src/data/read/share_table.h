/* share_table.h: a table of which every rank has read some rows: the first rank the first of them, and so on. */
#ifndef MC_DATA_READ_SHARE_TABLE_H
#define MC_DATA_READ_SHARE_TABLE_H

#include "data/read/raw.h"

/* Bytes, or rows, from .. to - 1 of this many are those of this rank. */
void mc_share_run(const mercer_ctx *ctx, int64_t count, int64_t *from, int64_t *to);

/* raw has the own rows, all of them numbers when *good. Where that is so of all ranks, it gets the rows of all;
   otherwise *good is false on every rank. status: of the own reading; what: as in mc_ranks_agree. */
mercer_status mc_raw_share(mercer_ctx *ctx, mc_raw *raw, uint64_t what, mercer_status status, bool *good);
/* raw has room for the rows of all, of which the own, as mc_share_run has them, are read; now all are there, and what
   columns have seen that is no number. */
mercer_status mc_raw_share_in_place(mercer_ctx *ctx, mc_raw *raw, uint64_t what, mercer_status status);

#endif
