/* checking_ranks.h: ranks that are threads of one test, each with a context of its own. They meet at every call; a call
   of one can be made to fail, and a rank that leaves while others wait makes them fail, as the end of a process does
   under mpirun. Counts that do not fit each other end the test, and so does a rank that waits for ever, by the alarm.
   */
#ifndef MC_TESTS_BASE_CHECKING_RANKS_H
#define MC_TESTS_BASE_CHECKING_RANKS_H

#include "base/ranks.h"

enum { CHECKING_RANKS = 8 };

typedef struct checking_run checking_run;
/* What a rank does, in a thread: no assertions here. The status is kept, and the message. */
typedef mercer_status checking_body(mercer_ctx *ctx, int rank, void *arg);

struct checking_run {
    int count;
    checking_body *body;
    void *arg;
    int fail_rank, fail_after; /* its call after so many fails; fail_after negative: none */
    int memory_rank;           /* its allocation number memory_after fails, from 1; 0: none */
    long memory_after;
    int stop_rank; /* its caller asks for a stop; negative: none */
    mercer_status status[CHECKING_RANKS];
    char message[CHECKING_RANKS][512];
    int calls;          /* of rank 0 */
    long left;          /* blocks of all ranks at the end */
    bool failed_memory; /* whether an allocation was made to fail */
};

/* With fail_after, memory_after and stop_rank set to nothing. */
checking_run checking_run_of(int count, checking_body *body, void *arg);
void checking_run_all(checking_run *run);
/* The first, second, third, ... call of the rank `odd` fails, at most so many: it ends with that, and nothing is left
   anywhere. */
void checking_run_failing_calls(int count, int odd, checking_body *body, void *arg, int most);
/* The same of its allocations; the other ranks end with that too, or are told of it. */
void checking_run_failing_memory(int count, int odd, checking_body *body, void *arg);

#endif
