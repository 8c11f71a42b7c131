/* gunzip.c: gzipped bytes in memory to plain bytes in memory. The size written at the end of the file is not believed:
   room doubles as bytes appear, under the memory limit, so a file that inflates without end stops there. */
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/read/input.h"
#include <string.h>
#include <zlib.h>

enum { PIECE = 1 << 20, GZIP_WINDOW = 15 + 16 }; /* 16: a gzip header, not a zlib one */

bool mc_is_gzip(const char *bytes, int64_t size) {
    return size >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b;
}

static void *zlib_alloc(void *ctx, uInt count, uInt size) {
    return mc_alloc(ctx, (int64_t)count, size);
}

static void zlib_free(void *ctx, void *block) {
    (void)ctx;
    mc_free(block);
}

typedef struct inflation {
    z_stream z;
    char *bytes;
    int64_t size, capacity;
    int64_t taken; /* of the compressed bytes */
} inflation;

/* Twice the room, or what the limit still allows. */
static mercer_status grow_output(mercer_ctx *ctx, const mc_input *input, inflation *f) {
    const size_t left = mc_memory_left(ctx), spare = 2 * MC_ALIGN + MC_INPUT_PAD;
    int64_t capacity = 2 * f->capacity + PIECE;
    if ((size_t)capacity + spare > left && left > (size_t)(f->capacity + PIECE) + spare)
        capacity = (int64_t)(left - spare);
    char *bytes = mc_alloc_unset(ctx, capacity + MC_INPUT_PAD, 1);
    if (!bytes)
        return mc_fail(ctx, MERCER_MEMORY,
                       "'%s' holds more than %lld bytes once inflated, past the memory limit; raise it", input->name,
                       (long long)f->size);
    if (f->size)
        memcpy(bytes, f->bytes, (size_t)f->size);
    mc_free(f->bytes);
    f->bytes = bytes;
    f->capacity = capacity;
    return MERCER_OK;
}

/* One step of zlib over a piece of input and a piece of room; both lengths fit its 32-bit counters. */
static int inflate_piece(const mc_input *input, inflation *f) {
    const int64_t in = input->size - f->taken < PIECE ? input->size - f->taken : PIECE;
    const int64_t out = f->capacity - f->size < PIECE ? f->capacity - f->size : PIECE;
    f->z.next_in = (Bytef *)input->bytes + f->taken;
    f->z.avail_in = (uInt)in;
    f->z.next_out = (Bytef *)f->bytes + f->size;
    f->z.avail_out = (uInt)out;
    const int code = inflate(&f->z, Z_NO_FLUSH);
    f->taken += in - f->z.avail_in;
    f->size += out - f->z.avail_out;
    return code;
}

static bool only_zeros(const char *p, const char *end) {
    while (p < end && *p == 0)
        p++;
    return p == end;
}

/* After a member: another one may follow, or padding. */
static mercer_status next_member(mercer_ctx *ctx, const mc_input *input, inflation *f, bool *done) {
    const char *rest = input->bytes + f->taken, *end = input->bytes + input->size;
    *done = only_zeros(rest, end);
    if (*done)
        return MERCER_OK;
    if (!mc_is_gzip(rest, end - rest))
        return mc_fail(ctx, MERCER_DATA, "'%s': after its gzipped data, at byte %lld, comes something else",
                       input->name, (long long)f->taken + 1);
    return inflateReset(&f->z) == Z_OK ? MERCER_OK : mc_fail(ctx, MERCER_INTERNAL, "zlib could not start again");
}

static mercer_status fail_code(mercer_ctx *ctx, const mc_input *input, const inflation *f, int code) {
    if (code == Z_MEM_ERROR)
        return MERCER_MEMORY; /* mc_alloc has said why */
    if (code == Z_BUF_ERROR)
        return mc_fail(ctx, MERCER_DATA, "'%s': the gzipped data end too early, after %lld bytes; the file is cut off",
                       input->name, (long long)f->taken);
    return mc_fail(ctx, MERCER_DATA, "'%s': the gzipped data are damaged near byte %lld (%s)", input->name,
                   (long long)f->taken, f->z.msg ? f->z.msg : "zlib gives no reason");
}

static mercer_status inflate_all(mercer_ctx *ctx, const mc_input *input, inflation *f) {
    for (bool done = false; !done;) {
        if (f->size == f->capacity)
            MC_TRY(grow_output(ctx, input, f));
        const int code = inflate_piece(input, f);
        if (code == Z_STREAM_END)
            MC_TRY(next_member(ctx, input, f, &done));
        else if (code != Z_OK && !(code == Z_BUF_ERROR && f->z.avail_out == 0))
            return fail_code(ctx, input, f, code);
        MC_TRY(mc_report_progress(ctx, (double)f->taken / (double)input->size));
    }
    return MERCER_OK;
}

mercer_status mc_gunzip_input(mercer_ctx *ctx, mc_input *input) {
    inflation f = {.z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = ctx}};
    if (inflateInit2(&f.z, GZIP_WINDOW) != Z_OK)
        return MERCER_MEMORY; /* the only failure with a matching library; mc_alloc has said why */
    const mercer_status status = inflate_all(ctx, input, &f);
    inflateEnd(&f.z);
    if (status) {
        mc_free(f.bytes);
        return status;
    }
    mc_free(input->bytes);
    input->bytes = f.bytes;
    input->size = f.size;
    return MERCER_OK;
}
