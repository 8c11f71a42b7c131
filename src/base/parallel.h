/* parallel.h: the one parallel loop. Chunks depend on n and grain alone, never on the number of threads, so a body that
   writes only to its own chunk (partial sums to part[chunk], added in order afterwards) gives the same bits on any
   number of threads.

   Subnormal results are flushed to zero inside bodies: an underflowing Gaussian tail would slow every product below it.
   Values that are to come out as they went in are computed between mc_keep_subnormals and mc_restore_subnormals. */
#ifndef MC_BASE_PARALLEL_H
#define MC_BASE_PARALLEL_H

#include <mercer.h>

/* thread is below mercer_threads(ctx): an index for per-thread scratch, never for anything that reaches a result. */
typedef void mc_body(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread);

/* Run body over [0, n) in chunks of grain. The calling thread reports progress between its chunks when the phase is
   named with mc_begin_phase. Returns MERCER_CANCELLED or MERCER_TIME when told to stop; the remaining chunks are then
   skipped. */
mercer_status mc_for(mercer_ctx *ctx, int64_t n, int64_t grain, mc_body *body, void *arg);
/* The same on at most so many threads: for chunks that take much memory each. */
mercer_status mc_for_few(mercer_ctx *ctx, int most, int64_t n, int64_t grain, mc_body *body, void *arg);
int64_t mc_chunk_count(int64_t n, int64_t grain);
/* Threads that mc_for takes for so many chunks: scratch for more is never touched. */
int mc_for_threads(const mercer_ctx *ctx, int64_t chunks);

/* Until what mc_keep_subnormals returned is given back, nothing is flushed on this thread. */
unsigned mc_keep_subnormals(void);
void mc_restore_subnormals(unsigned before);

/* Bracket calls of BLAS and LAPACK; regions may nest, and be open in several threads at once. The library computes on
   the one thread that calls it: its own threads split sums by their number, so that not even a matrix product would
   keep its bits. Parallel work is mc_for over blocks of a fixed size, one call of the library in each. What the calling
   program had set is put back when the last region closes; until then BLAS has one thread for the program too, where
   it has one setting for the whole process. Subnormals are flushed (they slow the factorisation of a Gaussian Gram
   matrix some twentyfold). */
typedef struct mc_region {
    unsigned csr; /* the floating-point control word to put back */
    int omp_threads;
    bool process_wide; /* BLAS has threads of its own, one setting for all */
} mc_region;
mc_region mc_blas_begin(void);
void mc_blas_end(mc_region region);

#endif
