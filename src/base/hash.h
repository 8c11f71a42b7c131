/* hash.h: 64 bits that tell whether two things are the same. Not for secrets: anyone can make two things of one hash.
   */
#ifndef MC_BASE_HASH_H
#define MC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Start with 0; each call takes in more bytes. The same bytes cut differently give another hash: cut them the same way.
   */
uint64_t mc_hash(uint64_t hash, const void *bytes, size_t size);
uint64_t mc_hash_text(uint64_t hash, const char *text); /* NULL and "" differ */

#endif
