/* mpi_ranks.c: the ranks of an MPI communicator: libmercer_mpi.so, a library of its own that is opened where it is
   asked for. An error of MPI's own ends all ranks, by MPI and with its words. */
#include "base/ranks.h"
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct mpi_ranks {
    MPI_Comm comm;
    int count;
    int *counts, *starts; /* two of each by rank: what goes out, what comes in */
    char message[MC_RANKS_TEXT];
} mpi_ranks;

static int joined; /* communicators that have not been left together */

/* A process that ends while others may wait for it ends all: mpirun sees that it has not finalized. */
static void finalize_mpi(void) {
    int done = 0;
    MPI_Finalized(&done);
    if (!done && !joined)
        MPI_Finalize();
}

static bool start_mpi(char *why) {
    int begun = 0, ended = 0, provided = 0;
    MPI_Finalized(&ended);
    MPI_Initialized(&begun);
    if (ended) {
        snprintf(why, MC_RANKS_TEXT, "MPI has been finalized");
        return false;
    }
    if (begun)
        return true;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    atexit(finalize_mpi);
    return true;
}

static void mpi_leave(void *self, bool together) {
    mpi_ranks *m = self;
    int done = 0;
    MPI_Finalized(&done);
    if (!done && together)
        MPI_Comm_free(&m->comm);
    joined -= together;
    free(m->counts);
    free(m->starts);
    free(m);
}

static void *mpi_join(const void *communicator, int *rank, int *count, char *why) {
    if (!start_mpi(why))
        return NULL;
    mpi_ranks *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    MPI_Comm_dup(communicator ? *(const MPI_Comm *)communicator : MPI_COMM_WORLD, &m->comm);
    MPI_Comm_rank(m->comm, rank);
    MPI_Comm_size(m->comm, count);
    joined++;
    m->count = *count;
    m->counts = calloc(2 * (size_t)*count, sizeof *m->counts);
    m->starts = calloc(2 * (size_t)*count, sizeof *m->starts);
    if (m->counts && m->starts)
        return m;
    mpi_leave(m, false);
    snprintf(why, MC_RANKS_TEXT, "there is no memory for %d ranks", *count);
    return NULL;
}

static bool mpi_gather(void *self, const void *mine, size_t bytes, void *all) {
    const mpi_ranks *m = self;
    MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, m->comm);
    return true;
}

/* MPI counts in int. */
static bool lay_out(mpi_ranks *m, const int64_t *counts, int *narrow, int *starts) {
    int64_t at = 0;
    for (int k = 0; k < m->count; k++) {
        starts[k] = (int)at;
        narrow[k] = (int)counts[k];
        at += counts[k];
        if (at > INT_MAX) {
            snprintf(m->message, sizeof m->message, "MPI cannot send more than %d numbers at once", INT_MAX);
            return false;
        }
    }
    return true;
}

static bool mpi_gather_parts(void *self, const double *mine, const int64_t *counts, double *all) {
    mpi_ranks *m = self;
    int rank = 0;
    MPI_Comm_rank(m->comm, &rank);
    if (!lay_out(m, counts, m->counts, m->starts))
        return false;
    MPI_Allgatherv(mine, m->counts[rank], MPI_DOUBLE, all, m->counts, m->starts, MPI_DOUBLE, m->comm);
    return true;
}

static bool mpi_exchange(void *self, const double *out, const int64_t *out_counts, double *in,
                         const int64_t *in_counts) {
    mpi_ranks *m = self;
    int *counts_in = m->counts + m->count, *starts_in = m->starts + m->count;
    if (!lay_out(m, out_counts, m->counts, m->starts) || !lay_out(m, in_counts, counts_in, starts_in))
        return false;
    MPI_Alltoallv(out, m->counts, m->starts, MPI_DOUBLE, in, counts_in, starts_in, MPI_DOUBLE, m->comm);
    return true;
}

static const char *mpi_message(void *self) {
    return ((const mpi_ranks *)self)->message;
}

static const mc_ranks_calls calls = {.abi = MC_RANKS_ABI,
                                     .join = mpi_join,
                                     .leave = mpi_leave,
                                     .gather = mpi_gather,
                                     .gather_parts = mpi_gather_parts,
                                     .exchange = mpi_exchange,
                                     .message = mpi_message};

__attribute__((visibility("default"))) const mc_ranks_calls *mercer_ranks_calls(void);

const mc_ranks_calls *mercer_ranks_calls(void) {
    return &calls;
}
