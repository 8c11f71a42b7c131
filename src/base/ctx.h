/* ctx.h: the context that every fallible call takes: memory, threads, seed, progress, the last message. */
#ifndef MC_BASE_CTX_H
#define MC_BASE_CTX_H

#include "base/memory.h"
#include "base/cpu.h"
#include <mercer.h>
#include <stdatomic.h>

enum { MC_MESSAGE_SIZE = 1024 };

/* Of a context that does one of several pieces of work at once (base/jobs.h). */
typedef struct mc_job_link {
    mercer_ctx *whole;      /* that they are pieces of; NULL: there are no pieces */
    atomic_int *stop;       /* the status by which all of them are to end */
    double done, share;     /* of the whole: what is done when the piece begins, and what the piece is */
    bool on_calling_thread; /* which alone reports */
} mc_job_link;

struct mercer_ctx {
    mc_heap *heap;
    mercer_options options;
    int threads;
    int processors; /* that it may run on, however many threads were asked for: what decides between a card and them */
    const char *threads_decided; /* by what: a text that stays */
    mc_isa isa;
    mc_job_link job;
    double call_began;    /* clock at the start of the public call now running */
    double next_progress; /* when the callback may be called again */
    mercer_status stop;   /* CANCELLED or TIME once a call has been told to stop */
    mercer_status told;   /* the same, kept when the stop is taken: this call was told to stop */
    int shield;           /* while positive nothing is stopped */
    const char *phase;
    double span_low, span_high; /* the part of the phase that loops now report on */
    bool held;                  /* the phase belongs to whoever holds it: see mc_hold_phase */
    double held_low, held_high; /* the piece of it that is under way; negative: unknown */
    double held_done;
    double measure, goal, gap; /* what the phase watches, as last reported */
    const char *watches;       /* its name */
    int64_t steps, vectors;
    /* while kept, the first measured speed of a problem that is large enough stands for all (plan/speed.c) */
    struct {
        bool kept, known;
        double seconds[5];
    } speed;
    bool nominal; /* forecasts are in seconds of a nominal machine, so that choices depend on the problem alone */
    /* What computes beside the processor (backend/device.h), opened when it is first asked for. */
    struct {
        struct mc_device *open;
        void (*close)(struct mc_device *device);
        struct mc_device_opening *opening; /* which has begun and may not have ended; NULL: none */
        void (*end)(struct mc_device_opening *opening);
        char wanted[32]; /* options.device, whose text is the caller's */
        bool tried;
        bool failed;    /* it is done without from now on */
        char note[256]; /* why, as one sentence */
        double pairs;   /* of rows, that the fit under way foresees; 0: nothing is known */
        double spent;   /* seconds, by count, of products in this call that could have been made there */
    } device;
    struct mc_ranks *ranks; /* processes that share its work (base/ranks.h); NULL: it works alone */
    int64_t offset;         /* place of the last failure, -1: none */
    char message[MC_MESSAGE_SIZE];
};

/* Start of a public call: clears the message, restarts the time limit. */
void mc_begin_call(mercer_ctx *ctx);

#endif
