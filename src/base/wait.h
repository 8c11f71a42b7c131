/* wait.h: pipes, devices and standard input, at whose other end somebody may be late or never come: waiting for them
   ends when the time limit does, or the caller's patience. */
#ifndef MC_BASE_WAIT_H
#define MC_BASE_WAIT_H

#include <mercer.h>

/* open(2) that does not wait in the system for the other end of a named pipe. *fd < 0 with MERCER_OK: errno says why it
   cannot be opened. */
mercer_status mc_wait_open(mercer_ctx *ctx, const char *path, int flags, int *fd);
/* Until there is something to read, or its end; until a page can be written. */
mercer_status mc_wait_read(mercer_ctx *ctx, int fd);
mercer_status mc_wait_write(mercer_ctx *ctx, int fd);

#endif
