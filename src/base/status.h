/* status.h: how a failure is said. Every failure passes through mc_fail or mc_fail_at, once. */
#ifndef MC_BASE_STATUS_H
#define MC_BASE_STATUS_H

#include <mercer.h>

/* Record one sentence (what, where, the value seen, the cure) and return status. */
mercer_status mc_fail(mercer_ctx *ctx, mercer_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a place: a byte of an expression or a line of a file. */
mercer_status mc_fail_at(mercer_ctx *ctx, mercer_status status, int64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Take the last failure back: it was expected and has been dealt with. */
void mc_unfail(mercer_ctx *ctx);

/* A fact about the work, for the log callback. */
void mc_log(mercer_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Early return where there is nothing to undo yet. */
#define MC_TRY(call)                                                                                                   \
    do {                                                                                                               \
        const mercer_status mc_try_ = (call);                                                                          \
        if (mc_try_ != MERCER_OK)                                                                                      \
            return mc_try_;                                                                                            \
    } while (0)

#endif
