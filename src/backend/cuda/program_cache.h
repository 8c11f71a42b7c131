/* program_cache.h: compiled programs on disk, in $MERCER_CACHE, else $XDG_CACHE_HOME/mercer, else ~/.cache/mercer. An
   entry that is damaged counts as none; where nothing can be written nothing is kept. */
#ifndef MC_BACKEND_CUDA_PROGRAM_CACHE_H
#define MC_BACKEND_CUDA_PROGRAM_CACHE_H

#include <stddef.h>
#include <stdint.h>

void cache_key(const char *head, const char *source, uint64_t key[2]);
/* To be freed; NULL: there is none. */
char *cache_read(const uint64_t key[2], size_t *size);
void cache_write(const uint64_t key[2], const char *image, size_t size);

#endif
