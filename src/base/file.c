/* file.c: atomic output. The temporary file lies in the same folder, so that the rename cannot cross a file system. */
#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mc_output {
    int fd;
    char *path, *temporary; /* both NULL for standard output */
};

static void forget(mc_output *output) {
    mc_free(output->path);
    mc_free(output->temporary);
    mc_free(output);
}

static mercer_status fail_io(mercer_ctx *ctx, const char *verb, const char *path, int error) {
    return mc_fail(ctx, MERCER_IO, "cannot %s '%s': %s", verb, path ? path : "standard output", strerror(error));
}

/* Names unique to this process: two runs that write one file do not meet; the last rename wins whole. */
static mercer_status open_temporary(mercer_ctx *ctx, mc_output *output, const char *path) {
    const size_t length = strlen(path);
    MC_TRY((output->path = mc_copy_text(ctx, path, length)) ? MERCER_OK : MERCER_MEMORY);
    MC_TRY(MC_ALLOC(ctx, output->temporary, (int64_t)length + 32));
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return fail_io(ctx, "write", path, EISDIR);
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(output->temporary, length + 32, "%s.%ld.%d.tmp", path, (long)getpid(), attempt);
        output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->fd >= 0 || errno != EEXIST)
            break;
    }
    return output->fd >= 0 ? MERCER_OK : fail_io(ctx, "write", path, errno);
}

mercer_status mc_output_open(mercer_ctx *ctx, const char *path, mc_output **out) {
    *out = NULL;
    mc_output *output = NULL;
    MC_TRY(MC_ALLOC(ctx, output, 1));
    output->fd = STDOUT_FILENO;
    if (strcmp(path, "-") != 0) {
        const mercer_status status = open_temporary(ctx, output, path);
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

mercer_status mc_output_commit(mercer_ctx *ctx, mc_output *output) {
    mercer_status status = MERCER_OK;
    if (output->path) {
        int error = fsync(output->fd) ? errno : 0;
        if (close(output->fd) && !error)
            error = errno;
        if (!error && rename(output->temporary, output->path))
            error = errno;
        if (error) {
            status = fail_io(ctx, "write", output->path, error);
            unlink(output->temporary);
        }
    }
    forget(output);
    return status;
}

void mc_output_abandon(mc_output *output) {
    if (!output)
        return;
    if (output->path) {
        close(output->fd);
        unlink(output->temporary);
    }
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
