/* status.c: the status table, the message on the context, the log. */
#include "base/status.h"
#include "base/ctx.h"
#include "base/print.h"
#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name, *text;
} table[] = {
#define X(name, number, text) [number] = {#name, text},
    MERCER_STATUS_MAP(X)
#undef X
};
enum { STATUS_COUNT = sizeof table / sizeof table[0] };

const char *mercer_version(void) {
    return MERCER_VERSION;
}

int mercer_version_number(void) {
    return MERCER_VERSION_NUMBER;
}

const char *mercer_status_name(mercer_status status) {
    return (unsigned)status < STATUS_COUNT ? table[status].name : "?";
}

const char *mercer_status_text(mercer_status status) {
    return (unsigned)status < STATUS_COUNT ? table[status].text : "unknown status";
}

const char *mercer_message(const mercer_ctx *ctx) {
    return ctx ? ctx->message : "there is no context: mercer_open failed for want of memory";
}

int64_t mercer_message_offset(const mercer_ctx *ctx) {
    return ctx ? ctx->offset : -1;
}

static mercer_status record_message(mercer_ctx *ctx, mercer_status status, int64_t offset, const char *format,
                                    va_list args) {
    if (ctx) {
        ctx->offset = offset;
        mc_vprint(ctx->message, sizeof ctx->message, format, args);
    }
    return status;
}

mercer_status mc_fail(mercer_ctx *ctx, mercer_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    record_message(ctx, status, -1, format, args);
    va_end(args);
    return status;
}

mercer_status mc_fail_at(mercer_ctx *ctx, mercer_status status, int64_t offset, const char *format, ...) {
    va_list args;
    va_start(args, format);
    record_message(ctx, status, offset, format, args);
    va_end(args);
    return status;
}

/* names: as the call wrote them, "kernel, data, out". */
mercer_status mc_need_pointers(mercer_ctx *ctx, const char *function, const char *names, const void *const *pointers,
                               size_t count) {
    size_t at = 0;
    while (at < count && pointers[at])
        at++;
    if (ctx && at == count)
        return MERCER_OK;
    for (size_t k = 0; k < at && ctx; k++)
        names += strcspn(names, " ") + 1;
    return mc_fail(ctx, MERCER_INVALID, "%s: %.*s is NULL", function, (int)strcspn(names, ","), names);
}

void mc_clear_failure(mercer_ctx *ctx) {
    ctx->message[0] = '\0';
    ctx->offset = -1;
}

void mc_log_message(mercer_ctx *ctx, const char *format, ...) {
    if (!ctx->options.log)
        return;
    char line[512];
    va_list args;
    va_start(args, format);
    mc_vprint(line, sizeof line, format, args);
    va_end(args);
    ctx->options.log(ctx->options.log_user, line);
}
