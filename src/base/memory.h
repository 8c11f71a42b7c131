/* memory.h: one way to get memory. Every block goes through the caller's hook, is counted, and is held under a hard
   limit.

   A block knows its heap, so mc_free needs only the pointer and an object may outlive the context that made it: the
   heap itself goes when the context is closed and its last block is freed. Blocks are zero-filled and 64-byte aligned.
   */
#ifndef MC_BASE_MEMORY_H
#define MC_BASE_MEMORY_H

#include <stddef.h>
#include <mercer.h>

typedef struct mc_heap mc_heap;

enum { MC_ALIGN = 64 };

/* NULL with a message on ctx when the product overflows, the limit would be passed, or the hook says no. count 0 gives
   a block. */
void *mc_alloc(mercer_ctx *ctx, int64_t count, size_t size);
/* The same without the zeros, for a block about to be filled whole. */
void *mc_alloc_unset(mercer_ctx *ctx, int64_t count, size_t size);
/* Change the count of a block (NULL: make one); new bytes are zero. On failure the old block stays valid. */
void *mc_grow_block(mercer_ctx *ctx, void *block, int64_t count, size_t size);
void mc_free(void *block);

/* A buffer kept from one use to the next, since memory that is touched for the first time costs as much as what is
   written there. */
typedef struct mc_buffer {
    void *block;
    size_t size;
} mc_buffer;
/* A block of so many bytes at least; what was in it is lost where it has to grow. NULL as mc_alloc, and then the buffer
   is empty. */
void *mc_buffer_reserve(mercer_ctx *ctx, mc_buffer *buffer, size_t bytes);
void mc_buffer_close(mc_buffer *buffer);
char *mc_copy_text(mercer_ctx *ctx, const char *text, size_t length); /* with a closing zero */

/* status = MC_ALLOC(ctx, pointer, count): typed by the pointer itself. */
#define MC_ALLOC(ctx, pointer, count)                                                                                  \
    (((pointer) = mc_alloc((ctx), (count), sizeof *(pointer))) ? MERCER_OK : MERCER_MEMORY)

/* Bytes that may still be taken. */
size_t mc_memory_left(const mercer_ctx *ctx);
/* MERCER_MEMORY with a sentence that names what was wanted, when bytes cannot be had; asked before the work starts. */
mercer_status mc_memory_check(mercer_ctx *ctx, size_t bytes, const char *what);

/* "1.5 GiB". */
const char *mc_bytes_text(double bytes, char text[32]);

/* For the context alone. */
mc_heap *mc_heap_open(const mercer_options *options);
void mc_heap_release(mc_heap *heap);
/* The context is closed: blocks that live on are freed one by one, and nothing is kept for the next. */
void mc_heap_retire(mc_heap *heap);
size_t mc_heap_used(const mc_heap *heap);
size_t mc_heap_spare(const mc_heap *heap); /* bytes that were freed and are kept */
size_t mc_heap_peak(const mc_heap *heap);
size_t mc_heap_limit(const mc_heap *heap);
void mc_heap_lower(mc_heap *heap, size_t limit); /* never raises it */
/* A heap whose blocks are those of another and count there too, up to a limit of its own; NULL: there is no memory for
   it. Only a heap without a hook of the caller's, who need not expect several threads, may be used by several. */
mc_heap *mc_heap_share(mc_heap *of, size_t limit);
bool mc_heap_has_hook(const mc_heap *heap);

/* Bytes that can still be mapped; SIZE_MAX where nothing limits them. */
size_t mc_address_left(void);

/* What a thread that computes takes beside the memory that is counted: a buffer of OpenBLAS, 128 MiB, a stack, and what
   malloc sets aside. OpenBLAS asks for its buffer again and again, for ever, when there is none: it must not come to
   that. */
#define MC_ADDRESS_BUFFER ((size_t)128 << 20)
#define MC_ADDRESS_THREAD (MC_ADDRESS_BUFFER + ((size_t)24 << 20))

#endif
