/* mpi_ranks.c: the ranks of an MPI communicator: libmercer_mpi.so, a library of its own that is opened where it is
   asked for. An error of MPI's own ends all ranks, by MPI and with its words. */
#include "base/ranks.h"
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mpi_ranks {
    MPI_Comm comm;
    int rank, count;
    int *counts, *starts; /* two of each by rank: what goes out, what comes in */
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
    m->rank = *rank;
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

/* MPI counts in int: what is more than so many numbers goes in pieces. MERCER_MPI_MOST: fewer, for tests. */
static int64_t most_at_once(void) {
    const char *said = getenv("MERCER_MPI_MOST");
    const long long most = said ? atoll(said) : 0;
    return most > 0 ? most : INT_MAX;
}

static int piece_of(int64_t count, int64_t done, int64_t most) {
    const int64_t left = count > done ? count - done : 0;
    return (int)(left < most ? left : most);
}

static int64_t place_of(const int64_t *counts, int rank) {
    int64_t at = 0;
    for (int k = 0; k < rank; k++)
        at += counts[k];
    return at;
}

/* For MPI's own calls over all parts; false: they are too many numbers. */
static bool lay_out(const mpi_ranks *m, const int64_t *counts, int *narrow, int *starts) {
    const int64_t most = most_at_once();
    int64_t at = 0;
    for (int k = 0; k < m->count; k++) {
        starts[k] = (int)at;
        narrow[k] = (int)counts[k];
        at += counts[k];
        if (at > most)
            return false;
    }
    return true;
}

static void send_parts(const mpi_ranks *m, const int64_t *counts, double *all) {
    const int64_t most = most_at_once();
    for (int k = 0; k < m->count; all += counts[k], k++)
        for (int64_t done = 0; done < counts[k]; done += most)
            MPI_Bcast(all + done, piece_of(counts[k], done, most), MPI_DOUBLE, k, m->comm);
}

static bool mpi_gather_parts(void *self, const double *mine, const int64_t *counts, double *all) {
    mpi_ranks *m = self;
    double *part = all + place_of(counts, m->rank);
    if (part != mine && counts[m->rank])
        memcpy(part, mine, (size_t)counts[m->rank] * sizeof *mine);
    if (lay_out(m, counts, m->counts, m->starts))
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, m->counts, m->starts, MPI_DOUBLE, m->comm);
    else
        send_parts(m, counts, all);
    return true;
}

/* What goes to one rank, while as much as there is comes from another. */
static void exchange_two(const mpi_ranks *m, int to, const double *out, int64_t out_count, int from, double *in,
                         int64_t in_count) {
    const int64_t most = most_at_once();
    for (int64_t done = 0; done < out_count || done < in_count; done += most)
        MPI_Sendrecv(out + done, piece_of(out_count, done, most), MPI_DOUBLE, done < out_count ? to : MPI_PROC_NULL, 0,
                     in + done, piece_of(in_count, done, most), MPI_DOUBLE, done < in_count ? from : MPI_PROC_NULL, 0,
                     m->comm, MPI_STATUS_IGNORE);
}

static void exchange_in_turns(const mpi_ranks *m, const double *out, const int64_t *out_counts, double *in,
                              const int64_t *in_counts) {
    for (int step = 0; step < m->count; step++) {
        const int to = (m->rank + step) % m->count, from = (m->rank - step + m->count) % m->count;
        exchange_two(m, to, out + place_of(out_counts, to), out_counts[to], from, in + place_of(in_counts, from),
                     in_counts[from]);
    }
}

static bool mpi_exchange(void *self, const double *out, const int64_t *out_counts, double *in,
                         const int64_t *in_counts) {
    mpi_ranks *m = self;
    int *counts_in = m->counts + m->count, *starts_in = m->starts + m->count;
    int small = lay_out(m, out_counts, m->counts, m->starts) && lay_out(m, in_counts, counts_in, starts_in);
    MPI_Allreduce(MPI_IN_PLACE, &small, 1, MPI_INT, MPI_MIN, m->comm); /* all go the same way */
    if (small)
        MPI_Alltoallv(out, m->counts, m->starts, MPI_DOUBLE, in, counts_in, starts_in, MPI_DOUBLE, m->comm);
    else
        exchange_in_turns(m, out, out_counts, in, in_counts);
    return true;
}

/* No call above gives false: MPI ends the process where it cannot go on. */
static const char *mpi_message(void *self) {
    (void)self;
    return "MPI has failed";
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
