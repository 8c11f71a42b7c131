/* file.h: writing a file so that a reader sees the old one or the new one, never a half. */
#ifndef MC_BASE_FILE_H
#define MC_BASE_FILE_H

#include <mercer.h>

typedef struct mc_output mc_output;

/* Open a temporary file beside path ("-": standard output), write pieces, then commit (sync, rename) or abandon
   (remove). */
mercer_status mc_output_open(mercer_ctx *ctx, const char *path, mc_output **out);
mercer_status mc_output_write(mercer_ctx *ctx, mc_output *output, const void *bytes, size_t size);
/* Frees output on success and on failure; on failure nothing is left behind. */
mercer_status mc_output_commit(mercer_ctx *ctx, mc_output *output);
void mc_output_abandon(mc_output *output);

/* MERCER_INVALID where there is a pipe, a device or a folder of this name: what: what it is to hold. */
mercer_status mc_file_plain(mercer_ctx *ctx, const char *what, const char *path);
/* Write a whole file or nothing: to a temporary name beside it, synced, renamed. "-" is standard output; a device or a
   pipe is written in place. */
mercer_status mc_file_write(mercer_ctx *ctx, const char *path, const void *bytes, size_t size);

/* open(2) that does not wait in the system for the other end of a named pipe. *fd < 0 with MERCER_OK: errno says why it
   cannot be opened. */
mercer_status mc_wait_open(mercer_ctx *ctx, const char *path, int flags, int *fd);
/* Until there is something to read, or its end; until a page can be written. */
mercer_status mc_wait_read(mercer_ctx *ctx, int fd);
mercer_status mc_wait_write(mercer_ctx *ctx, int fd);

#endif
