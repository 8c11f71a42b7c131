/* file.c: atomic output. The temporary file lies in the same folder, so that the rename cannot cross a file system.

   A link is followed first: the file it names is replaced, not the link. A device or a pipe (/dev/null, a named pipe) is written in place:
   renaming over it would put a plain file where the system has a device. */
#include "base/file.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mc_output {
    int fd;
    char *path;      /* NULL for standard output */
    char *temporary; /* NULL for standard output, a device or a pipe */
};

static void forget(mc_output *output) {
    mc_free(output->path);
    mc_free(output->temporary);
    mc_free(output);
}

static mercer_status fail_io(mercer_ctx *ctx, const char *verb, const char *path, int error) {
    if (!path)
        return mc_fail(ctx, MERCER_IO, "cannot %s standard output: %s", verb, strerror(error));
    return mc_fail(ctx, MERCER_IO, "cannot %s '%s': %s", verb, path, strerror(error));
}

static mercer_status open_device(mercer_ctx *ctx, mc_output *output) {
    output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
    return output->fd >= 0 ? MERCER_OK : fail_io(ctx, "write", output->path, errno);
}

/* Names unique to this process: two runs that write one file do not meet; the last rename wins whole. */
static mercer_status open_temporary(mercer_ctx *ctx, mc_output *output, mode_t mode) {
    const size_t room = strlen(output->path) + 32;
    MC_TRY(MC_ALLOC(ctx, output->temporary, (int64_t)room));
    for (int attempt = 0; attempt < 100; attempt++) {
        mc_print(output->temporary, room, "%s.%ld.%d.tmp", output->path, (long)getpid(), attempt);
        output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (output->fd >= 0 || errno != EEXIST)
            break;
    }
    return output->fd >= 0 ? MERCER_OK : fail_io(ctx, "write", output->path, errno);
}

static mercer_status open_path(mercer_ctx *ctx, mc_output *output, const char *path) {
    char real[PATH_MAX];
    const char *target = realpath(path, real) ? real : path; /* not there yet, or out of reach, which the opening will tell */
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
    if (strcmp(path, "-") != 0) {
        const mercer_status status = open_path(ctx, output, path);
        if (status) {
            forget(output);
            return status;
        }
    }
    *out = output;
    return MERCER_OK;
}

mercer_status mc_output_write(mercer_ctx *ctx, mc_output *output, const void *bytes, size_t size) {
    const char *p = bytes;
    while (size) {
        const ssize_t wrote = write(output->fd, p, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return fail_io(ctx, "write", output->path, wrote ? errno : ENOSPC);
        p += wrote;
        size -= (size_t)wrote;
    }
    return MERCER_OK;
}

/* 0 or the errno of the first thing that failed. */
static int finish(const mc_output *output) {
    int error = output->temporary && fsync(output->fd) ? errno : 0;
    if (close(output->fd) && !error)
        error = errno;
    if (output->temporary && !error && rename(output->temporary, output->path))
        error = errno;
    if (output->temporary && error)
        unlink(output->temporary);
    return error;
}

mercer_status mc_output_commit(mercer_ctx *ctx, mc_output *output) {
    const int error = output->path ? finish(output) : 0;
    const mercer_status status = error ? fail_io(ctx, "write", output->path, error) : MERCER_OK;
    forget(output);
    return status;
}

void mc_output_abandon(mc_output *output) {
    if (!output)
        return;
    if (output->path)
        close(output->fd);
    if (output->temporary)
        unlink(output->temporary);
    forget(output);
}

mercer_status mercer_file_write(mercer_ctx *ctx, const char *path, const void *bytes, size_t size) {
    mc_output *output = NULL;
    MC_TRY(mc_output_open(ctx, path, &output));
    const mercer_status status = mc_output_write(ctx, output, bytes, size);
    if (status) {
        mc_output_abandon(output);
        return status;
    }
    return mc_output_commit(ctx, output);
}
