/* sized.h: structs of the public interface that grow. Their first field is the size that the caller's header gives
   them; the library copies what both sides know. What the caller does not know is at its default; what the library does
   not know must be zero, which means the default in every version, or the caller is told to take a newer library. */
#ifndef MC_BASE_SIZED_H
#define MC_BASE_SIZED_H

#include <mercer.h>

/* copy holds the defaults, `ours` bytes of them; what the caller gives (NULL: nothing) goes over them. */
mercer_status mc_sized_read(mercer_ctx *ctx, const char *type, const void *given, void *copy, size_t ours);
/* Before the work: whether out says how large it is. */
mercer_status mc_sized_check(mercer_ctx *ctx, const char *type, const void *out);
/* After it: `ours` bytes of result as the caller's header has them, the rest zero; out->size stays. */
void mc_sized_write(const void *result, size_t ours, void *out);
/* The defaults in a struct of the caller's, whose size is then written into it. */
void mc_sized_init(const void *defaults, size_t ours, void *out, size_t size);

#endif
