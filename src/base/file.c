/* file.c: atomic output. The temporary file lies in the same folder, so that the rename cannot cross a file system.
   Where the system can (O_TMPFILE) it has no name until it is whole, so that a run that is killed leaves nothing
   behind; a name is given for the moment between link and rename. After the rename the folder is synced: until then a
   power failure may bring the old name back.

   Of several ranks the first alone writes: what others write goes nowhere.

   A link is followed first: the file it names is replaced, not the link. A device or a pipe (/dev/null, a named pipe)
   is written in place: renaming over it would put a plain file where the system has a device. */
#include "base/file.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/ranks.h"
#include "base/status.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What goes to standard output, a device or a pipe goes a page at a time, each when there is room for it: a write that
   blocks hears of no time limit. */
struct mc_output {
    int fd;
    char *path;      /* NULL for standard output */
    char *temporary; /* NULL for standard output, a device or a pipe */
    char *folder;    /* of both */
    bool nameless;   /* it has that name only once it is whole */
};

static void free_output(mc_output *output) {
    mc_free(output->path);
    mc_free(output->temporary);
    mc_free(output->folder);
    mc_free(output);
}

static mercer_status fail_io(mercer_ctx *ctx, const char *verb, const char *path, int error) {
    if (!path)
        return mc_fail(ctx, MERCER_IO, "cannot %s standard output: %s", verb, strerror(error));
    return mc_fail(ctx, MERCER_IO, "cannot %s '%s': %s", verb, path, strerror(error));
}

static mercer_status open_device(mercer_ctx *ctx, mc_output *output) {
    MC_TRY(mc_wait_open(ctx, output->path, O_WRONLY, &output->fd));
    return output->fd >= 0 ? MERCER_OK : fail_io(ctx, "write", output->path, errno);
}

static mercer_status folder_of(mercer_ctx *ctx, const char *path, char **out) {
    const char *slash = strrchr(path, '/');
    const char *folder = !slash ? "." : slash == path ? "/" : path;
    *out = mc_copy_text(ctx, folder, folder == path ? (size_t)(slash - path) : 1);
    return *out ? MERCER_OK : MERCER_MEMORY;
}

/* -1 where the system has no files without a name, or no way to name one later. */
static int open_nameless(const char *folder, mode_t mode) {
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0)
        return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
#endif
    (void)folder, (void)mode;
    return -1;
}

/* Names unique to this process: two runs that write one file do not meet; the last rename wins whole. */
static int try_names(mc_output *output, size_t size, int make(const mc_output *, mode_t), mode_t mode) {
    int made = -1;
    for (int attempt = 0; attempt < 100; attempt++) {
        mc_print(output->temporary, size, "%s.%ld.%d.tmp", output->path, (long)getpid(), attempt);
        made = make(output, mode);
        if (made >= 0 || errno != EEXIST)
            break;
    }
    return made;
}

static int make_named(const mc_output *output, mode_t mode) {
    return open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

static int give_name(const mc_output *output, mode_t mode) {
    char self[64];
    (void)mode;
    mc_print(self, sizeof self, "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW);
}

static size_t name_bytes(const mc_output *output) {
    return strlen(output->path) + 32;
}

static mercer_status open_temporary(mercer_ctx *ctx, mc_output *output, mode_t mode) {
    MC_TRY(folder_of(ctx, output->path, &output->folder));
    MC_TRY(MC_ALLOC(ctx, output->temporary, (int64_t)name_bytes(output)));
    output->fd = open_nameless(output->folder, mode);
    output->nameless = output->fd >= 0;
    if (!output->nameless)
        output->fd = try_names(output, name_bytes(output), make_named, mode);
    return output->fd >= 0 ? MERCER_OK : fail_io(ctx, "write", output->path, errno);
}

static mercer_status open_path(mercer_ctx *ctx, mc_output *output, const char *path) {
    char real[PATH_MAX];
    /* not there yet, or out of reach, which the opening will tell */
    const char *target = realpath(path, real) ? real : path;
    MC_TRY((output->path = mc_copy_text(ctx, target, strlen(target))) ? MERCER_OK : MERCER_MEMORY);
    struct stat info;
    if (stat(output->path, &info) != 0)
        return open_temporary(ctx, output, 0666);
    if (S_ISDIR(info.st_mode))
        return fail_io(ctx, "write", path, EISDIR);
    return S_ISREG(info.st_mode) ? open_temporary(ctx, output, info.st_mode & 0777) : open_device(ctx, output);
}

mercer_status mc_output_open(mercer_ctx *ctx, const char *path, mc_output **out) {
    *out = NULL;
    mc_output *output = NULL;
    MC_TRY(MC_ALLOC(ctx, output, 1));
    output->fd = STDOUT_FILENO;
    if (strcmp(path, "-") != 0 || mc_ranks_is_silent(ctx)) {
        const mercer_status status = open_path(ctx, output, mc_ranks_is_silent(ctx) ? "/dev/null" : path);
        if (status) {
            free_output(output);
            return status;
        }
    }
    *out = output;
    return MERCER_OK;
}

mercer_status mc_output_write(mercer_ctx *ctx, mc_output *output, const void *bytes, size_t size) {
    const char *p = bytes;
    while (size) {
        if (!output->temporary)
            MC_TRY(mc_wait_write(ctx, output->fd));
        const ssize_t wrote = write(output->fd, p, output->temporary || size < PIPE_BUF ? size : PIPE_BUF);
        if (wrote < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (wrote <= 0)
            return fail_io(ctx, "write", output->path, wrote ? errno : ENOSPC);
        p += wrote;
        size -= (size_t)wrote;
    }
    return MERCER_OK;
}

/* That the name is on the disk too. A file system that cannot sync folders says so, and has done all it can. */
static int sync_folder(const char *folder) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int error = fd >= 0 && fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error;
}

/* 0 or the errno of the first thing that failed. */
static int commit_output(mc_output *output) {
    int error = output->temporary && fsync(output->fd) ? errno : 0;
    if (output->nameless && !error) {
        output->nameless = try_names(output, name_bytes(output), give_name, 0) != 0;
        error = output->nameless ? errno : 0;
    }
    if (close(output->fd) && !error)
        error = errno;
    if (output->temporary && !error && rename(output->temporary, output->path))
        error = errno;
    if (output->temporary && error && !output->nameless)
        unlink(output->temporary);
    return output->temporary && !error ? sync_folder(output->folder) : error;
}

mercer_status mc_output_commit(mercer_ctx *ctx, mc_output *output) {
    const int error = output->path ? commit_output(output) : 0;
    const mercer_status status = error ? fail_io(ctx, "write", output->path, error) : MERCER_OK;
    free_output(output);
    return status;
}

void mc_output_abandon(mc_output *output) {
    if (!output)
        return;
    if (output->path)
        close(output->fd);
    if (output->temporary && !output->nameless)
        unlink(output->temporary);
    free_output(output);
}

mercer_status mc_file_plain(mercer_ctx *ctx, const char *what, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
        return MERCER_OK;
    return mc_fail(ctx, MERCER_INVALID, "the %s '%s' is no plain file, which can be read again; name another", what,
                   path);
}

mercer_status mc_file_write(mercer_ctx *ctx, const char *path, const void *bytes, size_t size) {
    MC_NEED(ctx, path);
    mc_begin_call(ctx);
    mc_output *output = NULL;
    MC_TRY(mc_output_open(ctx, path, &output));
    const mercer_status status = mc_output_write(ctx, output, bytes, size);
    if (status) {
        mc_output_abandon(output);
        return status;
    }
    return mc_output_commit(ctx, output);
}

/* ---- Waiting ---- */

/* Poll(2) in short turns, with a look at the clock and at the caller between them. A named pipe is opened
   without waiting: for reading that always succeeds, and poll tells of neither data nor end before somebody has opened
   it for writing; for writing it fails as long as nobody reads, and is tried again. */

enum {
    TURN = 50,      /* ms */
    PATIENCE = 1000 /* ms: a reader that takes nothing for so long is one that does not read */
};

static mercer_status wait_for(mercer_ctx *ctx, int fd, short events, int turn) {
    struct pollfd one = {.fd = fd, .events = events};
    while (poll(&one, 1, turn) <= 0)
        MC_TRY(mc_report_progress(ctx, -1));
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
        MC_TRY(mc_report_progress(ctx, -1));
    }
    return MERCER_OK;
}
