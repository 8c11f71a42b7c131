/* checkpoint.h: the state of a long fit in a file, so that it can be killed at any moment and resumed to the
   same bits.

   A checkpoint belongs to one fit, named by a key: a hash of everything that decides its bits. It is replaced as a
   whole, by renaming, so that a reader finds the last complete one. Layout: magic, version, key, the number of parts
   and their sizes, the parts, a hash of all of it; in the byte order and the types of the machine, which the key
   includes. */
#ifndef MC_LEARN_COMMON_CHECKPOINT_H
#define MC_LEARN_COMMON_CHECKPOINT_H

#include "problem/problem.h"

enum { MC_CHECKPOINT_PARTS = 4 };

typedef struct mc_checkpoint_part {
    void *bytes;
    size_t size;
} mc_checkpoint_part;

/* A hash of the rows, targets, weights and kernel of a problem, of the seed and of what computes: version, instruction
   set, BLAS. words: who asks, and in which version of its own state. */
uint64_t mc_checkpoint_key(const mercer_ctx *ctx, const mc_problem *p, const char *words);
/* *found: whether there is a file. An error when it is not a checkpoint, is damaged, or is of another fit; or when no
   file could be written there. */
mercer_status mc_checkpoint_check(mercer_ctx *ctx, const char *path, uint64_t key, bool *found);
/* The first count parts, of exactly these sizes; bytes NULL: skip. */
mercer_status mc_checkpoint_load(mercer_ctx *ctx, const char *path, const mc_checkpoint_part *parts, int count);
/* MERCER_FORMAT: what was loaded can be no state of this fit. Whoever loads looks: the hash is no more than a check for
   damage. */
mercer_status mc_checkpoint_refuse(mercer_ctx *ctx, const char *path);
mercer_status mc_checkpoint_save(mercer_ctx *ctx, const char *path, uint64_t key, const mc_checkpoint_part *parts,
                                 int count);

#endif
