/* text.c: a text that grows, doubling its capacity. */
#include "base/text.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/number.h"
#include "base/status.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { SHORT = 128 }; /* bytes */

mc_text mc_text_open(mercer_ctx *ctx) {
    return (mc_text){.ctx = ctx};
}

static bool grow_text(mc_text *text, int64_t extra) {
    if (text->status)
        return false;
    const int64_t want = text->length + extra + 1;
    if (want <= text->capacity)
        return true;
    const int64_t twice = text->capacity ? 2 * text->capacity : SHORT, capacity = want > twice ? want : twice;
    char *bytes = mc_grow_block(text->ctx, text->bytes, capacity, 1);
    if (!bytes) {
        text->status = MERCER_MEMORY;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void mc_text_bytes(mc_text *text, const char *bytes, int64_t length) {
    if (!grow_text(text, length))
        return;
    if (length)
        memcpy(text->bytes + text->length, bytes, (size_t)length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

/* Printed once where it is short, as most are. */
void mc_text_add(mc_text *text, const char *format, ...) {
    char some[SHORT];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = mc_vprint(some, sizeof some, format, args);
    if (length >= 0 && length < SHORT) {
        mc_text_bytes(text, some, length);
    } else if (length >= 0 && grow_text(text, length)) {
        mc_vprint(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += length;
    }
    va_end(again);
    va_end(args);
}

void mc_text_string(mc_text *text, const char *string) {
    mc_text_bytes(text, string, (int64_t)strlen(string));
}

void mc_text_quoted(mc_text *text, const char *bytes) {
    mc_text_bytes(text, "\"", 1);
    for (const char *p = bytes; *p; p++)
        if (*p == '"' || *p == '\\')
            mc_text_add(text, "\\%c", *p);
        else if ((unsigned char)*p < 0x20)
            mc_text_add(text, "\\u%04x", (unsigned)*p);
        else
            mc_text_bytes(text, p, 1);
    mc_text_bytes(text, "\"", 1);
}

void mc_text_number(mc_text *text, double value) {
    char digits[32];
    mc_text_string(text, mc_number_text(value, digits));
}

void mc_text_field(mc_text *text, const char *key, double value) {
    mc_text_add(text, ",\"%s\":", key);
    if (isfinite(value))
        mc_text_number(text, value);
    else
        mc_text_add(text, "null");
}

mercer_status mc_text_take(mc_text *text, char **out) {
    grow_text(text, 0);
    *out = text->status ? NULL : text->bytes;
    const mercer_status status = text->status;
    if (status)
        mc_free(text->bytes);
    *text = (mc_text){0};
    return status;
}

mercer_status mc_text_write(mc_text *text, const char *path) {
    mercer_ctx *const ctx = text->ctx;
    const size_t size = (size_t)text->length;
    char *bytes = NULL;
    MC_TRY(mc_text_take(text, &bytes));
    const mercer_status status = mc_file_write(ctx, path, bytes, size);
    mc_free(bytes);
    return status;
}

void mc_text_close(mc_text *text) {
    mc_free(text->bytes);
    *text = (mc_text){0};
}
