/* input.h: the bytes of a file, of standard input ("-") or of memory, inflated when gzipped, and how places in them are
 * named. */
#ifndef MC_DATA_READ_INPUT_H
#define MC_DATA_READ_INPUT_H

#include <mercer.h>

enum { MC_INPUT_PAD = 64 }; /* zero bytes after the last: readers may look a little past the end */

typedef struct mc_input {
    char *name;
    char *bytes;
    int64_t size;
    int fd;          /* -1: the bytes came from memory */
    bool plain_file; /* of total bytes from place from on; otherwise a pipe, or not a file at all */
    int64_t from, total;
} mc_input;

/* Open only; then load all of it, or read pieces of a plain file. */
mercer_status mc_input_open(mercer_ctx *ctx, const char *path, mc_input *out);
mercer_status mc_input_load(mercer_ctx *ctx, mc_input *input);
/* size bytes from place at on, of what is loaded or else of the plain file: 0, or errno, or -1 when the file ends
   before. May be called from any thread. */
int mc_input_piece(const mc_input *input, int64_t at, char *out, int64_t size);
/* The first so many bytes of a plain file that is not loaded, or fewer, up to their last newline; to be closed. */
mercer_status mc_input_head(mercer_ctx *ctx, const mc_input *input, int64_t bytes, mc_input *out);
/* Bytes from .. to - 1 of it, padded; to be closed. */
mercer_status mc_input_part(mercer_ctx *ctx, const mc_input *input, int64_t from, int64_t to, mc_input *out);
/* The first byte at or after this place where a line begins, or the end. */
mercer_status mc_input_line(mercer_ctx *ctx, const mc_input *input, int64_t place, int64_t *out);
/* MERCER_IO: that in words. */
mercer_status mc_input_fail(mercer_ctx *ctx, const mc_input *input, int error);
mercer_status mc_input_copy(mercer_ctx *ctx, const char *name, const void *bytes, int64_t size, mc_input *out);
void mc_input_close(mc_input *input);

/* Replace gzipped bytes by what they hold. */
bool mc_is_gzip(const char *bytes, int64_t size);
mercer_status mc_gunzip_input(mercer_ctx *ctx, mc_input *input);

/* MERCER_DATA: "name, line 3: " and the sentence, the line found from the place in the bytes. */
mercer_status mc_fail_line(mercer_ctx *ctx, const mc_input *input, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int64_t mc_line_of(const mc_input *input, const char *place); /* from 1 */
/* Up to 40 bytes of a piece of the file as it can be shown: control and foreign bytes as dots, "..." when longer. */
typedef struct mc_quote {
    char text[48];
} mc_quote;
mc_quote mc_quote_of(const char *bytes, int64_t length);

#endif
