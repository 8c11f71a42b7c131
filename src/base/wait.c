/* wait.c: poll(2) in short turns, with a look at the clock and at the caller between them. A named pipe is opened
   without waiting: for reading that always succeeds, and poll tells of neither data nor end before somebody has opened
   it for writing; for writing it fails as long as nobody reads, and is tried again. */
#include "base/wait.h"
#include "base/progress.h"
#include "base/status.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

enum {
    TURN = 50,      /* ms */
    PATIENCE = 1000 /* ms: a reader that takes nothing for so long is one that does not read */
};

static mercer_status wait_for(mercer_ctx *ctx, int fd, short events, int turn) {
    struct pollfd one = {.fd = fd, .events = events};
    while (poll(&one, 1, turn) <= 0)
        MC_TRY(mc_progress(ctx, -1));
    return MERCER_OK;
}

mercer_status mc_wait_read(mercer_ctx *ctx, int fd) {
    return wait_for(ctx, fd, POLLIN, TURN);
}

mercer_status mc_wait_write(mercer_ctx *ctx, int fd) {
    return wait_for(ctx, fd, POLLOUT, PATIENCE);
}

mercer_status mc_wait_open(mercer_ctx *ctx, const char *path, int flags, int *fd) {
    while ((*fd = open(path, flags | O_NONBLOCK | O_CLOEXEC)) < 0 && (errno == ENXIO || errno == EINTR)) {
        if ((flags & O_ACCMODE) == O_RDONLY && errno == ENXIO)
            return MERCER_OK;
        poll(NULL, 0, TURN);
        MC_TRY(mc_progress(ctx, -1));
    }
    return MERCER_OK;
}
