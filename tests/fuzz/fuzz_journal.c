/* fuzz_journal.c: any bytes as the journal of a search. What is no journal is refused with a sentence; of a journal the
   whole lines stay, and opened again it is as it was left. */
#include "must.h"
#include "select/tune.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void open_twice(mercer_ctx *ctx, const char *path) {
    mc_journal first, second;
    const mercer_status status = mc_journal_open(ctx, path, 7, &first);
    must(!status || status == MERCER_FORMAT || status == MERCER_INVALID || status == MERCER_MEMORY,
         mercer_status_name(status));
    must(!status || strlen(mercer_message(ctx)) > 10, "a failure says why");
    if (!status) {
        must(mc_journal_open(ctx, path, 7, &second) == MERCER_OK, "what was left is a journal");
        must(second.count == first.count, "and the same one");
        mc_journal_close(&second);
    }
    mc_journal_close(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    char path[64];
    const int fd = memfd_create("journal", MFD_CLOEXEC);
    options.threads = 1;
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size && !mercer_open(&options, &ctx), "a file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    open_twice(ctx, path);
    mercer_close(ctx);
    close(fd);
    return 0;
}
