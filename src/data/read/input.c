/* input.c: reading bytes. A plain file is read in parallel pieces into one block of its size; a pipe in growing pieces.
   read(2) and not a mapping: a file that shrinks under a mapping kills the process, here it is an error. */
#include "data/read/input.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/print.h"
#include "base/ranks.h"
#include "base/status.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 4 << 20, FIRST_CAPACITY = 1 << 16 };

static mercer_status fail_io(mercer_ctx *ctx, const mc_input *input, int error) {
    return mc_fail(ctx, MERCER_IO, "cannot read '%s': %s", input->name, strerror(error));
}

mercer_status mc_input_fail(mercer_ctx *ctx, const mc_input *input, int error) {
    if (error > 0)
        return fail_io(ctx, input, error);
    return mc_fail(ctx, MERCER_IO, "'%s' became shorter while it was read", input->name);
}

static int read_file(const mc_input *input, int64_t at, char *out, int64_t size) {
    while (size > 0) {
        const ssize_t got = pread(input->fd, out, (size_t)size, (off_t)(input->from + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got ? errno : -1;
        out += got;
        at += got;
        size -= got;
    }
    return 0;
}

int mc_input_piece(const mc_input *input, int64_t at, char *out, int64_t size) {
    if (!input->bytes)
        return read_file(input, at, out, size);
    if (at + size > input->size)
        return -1;
    memcpy(out, input->bytes + at, (size_t)size);
    return 0;
}

typedef struct pieces {
    const mc_input *input;
    int *error; /* per piece: of read_file */
} pieces;

static void read_piece(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const pieces *p = arg;
    p->error[chunk] = read_file(p->input, begin, p->input->bytes + begin, end - begin);
}

static mercer_status read_sized(mercer_ctx *ctx, mc_input *input) {
    input->bytes = mc_alloc_unset(ctx, input->total + MC_INPUT_PAD, 1);
    MC_TRY(input->bytes ? MERCER_OK : MERCER_MEMORY);
    input->size = input->total;
    const int64_t count = mc_chunk_count(input->size, PIECE);
    pieces p = {.input = input};
    MC_TRY(MC_ALLOC(ctx, p.error, count));
    mercer_status status = mc_for(ctx, input->size, PIECE, read_piece, &p);
    for (int64_t k = 0; k < count && !status; k++)
        if (p.error[k])
            status = mc_input_fail(ctx, input, p.error[k]);
    mc_free(p.error);
    return status;
}

static mercer_status read_stream(mercer_ctx *ctx, mc_input *input) {
    for (int64_t capacity = 0;;) {
        if (input->size == capacity) {
            capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
            char *bytes = mc_grow_block(ctx, input->bytes, capacity + MC_INPUT_PAD, 1);
            if (!bytes)
                return MERCER_MEMORY;
            input->bytes = bytes;
        }
        MC_TRY(mc_wait_read(ctx, input->fd));
        const ssize_t got = read(input->fd, input->bytes + input->size, (size_t)(capacity - input->size));
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return fail_io(ctx, input, errno);
        if (got == 0)
            return MERCER_OK;
        input->size += got;
    }
}

/* Inflate what is gzipped, and pad. */
static mercer_status inflate_and_pad(mercer_ctx *ctx, mc_input *input) {
    if (mc_is_gzip(input->bytes, input->size))
        MC_TRY(mc_gunzip_input(ctx, input));
    memset(input->bytes + input->size, 0, MC_INPUT_PAD);
    return MERCER_OK;
}

mercer_status mc_input_load(mercer_ctx *ctx, mc_input *input) {
    if (input->fd < 0)
        return MERCER_OK;
    MC_TRY(input->plain_file ? read_sized(ctx, input) : read_stream(ctx, input));
    return inflate_and_pad(ctx, input);
}

static mercer_status set_name(mercer_ctx *ctx, const char *name, mc_input *out) {
    *out = (mc_input){.name = mc_copy_text(ctx, name, strlen(name)), .fd = -1};
    return out->name ? MERCER_OK : MERCER_MEMORY;
}

/* A file that says it is empty (as those of /proc do) is read like a pipe. */
static mercer_status look_at_file(mercer_ctx *ctx, mc_input *input) {
    struct stat info;
    if (fstat(input->fd, &info))
        return fail_io(ctx, input, errno);
    if (S_ISDIR(info.st_mode))
        return fail_io(ctx, input, EISDIR);
    input->from = S_ISREG(info.st_mode) ? lseek(input->fd, 0, SEEK_CUR) : -1;
    input->total = info.st_size - input->from;
    input->plain_file = input->from >= 0 && input->total > 0;
    return MERCER_OK;
}

mercer_status mc_input_open(mercer_ctx *ctx, const char *path, mc_input *out) {
    const bool standard = strcmp(path, "-") == 0;
    if (standard && mc_ranks_share(ctx))
        return mc_fail(ctx, MERCER_INVALID,
                       "standard input is read by one process, and %d share this work; name a file", mercer_ranks(ctx));
    MC_TRY(set_name(ctx, standard ? "standard input" : path, out));
    out->fd = STDIN_FILENO;
    mercer_status status = standard ? MERCER_OK : mc_wait_open(ctx, path, O_RDONLY, &out->fd);
    MC_THEN(status, out->fd < 0 ? fail_io(ctx, out, errno) : look_at_file(ctx, out));
    if (status)
        mc_input_close(out);
    return status;
}

mercer_status mc_input_copy(mercer_ctx *ctx, const char *name, const void *bytes, int64_t size, mc_input *out) {
    MC_TRY(set_name(ctx, name, out));
    out->bytes = mc_alloc_unset(ctx, size + MC_INPUT_PAD, 1);
    out->size = size;
    if (out->bytes && size)
        memcpy(out->bytes, bytes, (size_t)size);
    const mercer_status status = out->bytes ? inflate_and_pad(ctx, out) : MERCER_MEMORY;
    if (status)
        mc_input_close(out);
    return status;
}

void mc_input_close(mc_input *input) {
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    mc_free(input->name);
    mc_free(input->bytes);
    *input = (mc_input){.fd = -1};
}

int64_t mc_line_of(const mc_input *input, const char *place) {
    int64_t line = 1;
    for (const char *p = input->bytes; p < place && (p = memchr(p, '\n', (size_t)(place - p))); p++)
        line++;
    return line;
}

mercer_status mc_fail_line(mercer_ctx *ctx, const mc_input *input, const char *place, const char *format, ...) {
    char sentence[MC_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    mc_vprint(sentence, sizeof sentence, format, args);
    va_end(args);
    const int64_t line = mc_line_of(input, place);
    return mc_fail_at(ctx, MERCER_DATA, line, "%s, line %lld: %s", input->name, (long long)line, sentence);
}

mc_quote mc_quote_of(const char *bytes, int64_t length) {
    enum { SHOWN = 40 };
    mc_quote q = {{0}};
    const int64_t shown = length < SHOWN ? length : SHOWN;
    for (int64_t i = 0; i < shown; i++)
        q.text[i] = (unsigned char)bytes[i] < ' ' || bytes[i] == 127 ? '.' : bytes[i];
    if (length > SHOWN)
        memcpy(q.text + SHOWN, "...", 4);
    return q;
}
