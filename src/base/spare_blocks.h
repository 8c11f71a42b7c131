/* spare_blocks.h: blocks that were freed, kept for the next that is about as large. Memory touched for the first time
   costs more than what is written there, and a program that fits again and again asks for the same sizes each time.

   Threads may take and put at once. A block is the spare's from put to take, and says in its first bytes how large it
   is. */
#ifndef MC_BASE_SPARE_BLOCKS_H
#define MC_BASE_SPARE_BLOCKS_H

#include <stdatomic.h>
#include <stddef.h>

enum { MC_SPARE_PLACES = 32 };
#define MC_SPARE_LEAST ((size_t)64 << 10) /* bytes: below, malloc keeps them itself */
#define MC_SPARE_LARGEST ((size_t)8 << 20)
#define MC_SPARE_MOST ((size_t)32 << 20) /* of all together */

typedef struct mc_spare_blocks {
    struct {
        _Atomic(void *) block;
        atomic_size_t size; /* a hint: the block itself says */
    } place[MC_SPARE_PLACES];
    atomic_size_t bytes, next;
} mc_spare_blocks;

/* A block of at least size bytes and hardly more; NULL: there is none. */
void *mc_spare_take(mc_spare_blocks *spare, size_t size, size_t *got);
/* Kept, or freed; the oldest give way. */
void mc_spare_put(mc_spare_blocks *spare, void *block, size_t size);
void mc_spare_clear(mc_spare_blocks *spare);

#endif
