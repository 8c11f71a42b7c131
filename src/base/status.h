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
void mc_clear_failure(mercer_ctx *ctx);

/* A fact about the work, for the log callback. */
void mc_log_message(mercer_ctx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Early return where there is nothing to undo yet. */
#define MC_TRY(call)                                                                                                   \
    do {                                                                                                               \
        const mercer_status mc_try_ = (call);                                                                          \
        if (mc_try_ != MERCER_OK)                                                                                      \
            return mc_try_;                                                                                            \
    } while (0)

/* The next step, where there is something to undo: taken unless one before it has failed. */
#define MC_THEN(status, call)                                                                                          \
    do {                                                                                                               \
        if (!(status))                                                                                                 \
            (status) = (call);                                                                                         \
    } while (0)

/* At the top of a public call: MERCER_INVALID with the name of the first of these pointers that is NULL, the context
   before all. */
#define MC_NEED(ctx, ...)                                                                                              \
    MC_TRY(mc_need_pointers(ctx, __func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__},                           \
                            sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)))
mercer_status mc_need_pointers(mercer_ctx *ctx, const char *function, const char *names, const void *const *pointers,
                               size_t count);
/* Before that: what a call makes is NULL until it is made. */
#define MC_CLEAR(out)                                                                                                  \
    do {                                                                                                               \
        if (out)                                                                                                       \
            *(out) = NULL;                                                                                             \
    } while (0)

#endif
