/* input_part.c: parts of a plain file that is not loaded: its head, which tells the format, and runs of whole lines. */
#include "base/memory.h"
#include "base/status.h"
#include "data/read/input.h"
#include <string.h>

enum { LOOK = 1 << 12 }; /* bytes looked through at a time for the end of a line */

mercer_status mc_input_part(mercer_ctx *ctx, const mc_input *input, int64_t from, int64_t to, mc_input *out) {
    *out = (mc_input){.fd = -1, .size = to - from};
    out->name = mc_copy_text(ctx, input->name, strlen(input->name));
    out->bytes = mc_alloc_unset(ctx, out->size + MC_INPUT_PAD, 1);
    MC_TRY(out->name && out->bytes ? MERCER_OK : MERCER_MEMORY);
    const int error = mc_input_piece(input, from, out->bytes, out->size);
    memset(out->bytes + out->size, 0, MC_INPUT_PAD);
    return error ? mc_input_fail(ctx, input, error) : MERCER_OK;
}

mercer_status mc_input_head(mercer_ctx *ctx, const mc_input *input, int64_t bytes, mc_input *out) {
    MC_TRY(mc_input_part(ctx, input, 0, bytes < input->total ? bytes : input->total, out));
    while (out->size > 0 && out->bytes[out->size - 1] != '\n')
        out->size--;
    return MERCER_OK;
}

mercer_status mc_input_line(mercer_ctx *ctx, const mc_input *input, int64_t place, int64_t *out) {
    char bytes[LOOK];
    *out = place < input->total ? place : input->total;
    for (int64_t at = place - 1; at >= 0 && at < input->total; at += LOOK) { /* a line begins behind a newline */
        const int64_t left = input->total - at, size = left < LOOK ? left : LOOK;
        const int error = mc_input_piece(input, at, bytes, size);
        if (error)
            return mc_input_fail(ctx, input, error);
        const char *newline = memchr(bytes, '\n', (size_t)size);
        *out = newline ? at + (newline - bytes) + 1 : input->total;
        if (newline)
            return MERCER_OK;
    }
    return MERCER_OK;
}
