/* fuzz_csv.c: any bytes as a file named .csv, in memory and as a file that is read in small pieces, which must come to
   the same. */
#include "fuzz_data.h"
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 8 }; /* a batch is 64 of them */

/* A file in memory with these bytes: its path, for as long as *fd is open. */
static void make_file(const uint8_t *bytes, size_t size, int *fd, char path[64]) {
    *fd = memfd_create("input.csv", MFD_CLOEXEC);
    must(*fd >= 0 && write(*fd, bytes, size) == (ssize_t)size, "a file in memory");
    snprintf(path, 64, "/proc/self/fd/%d", *fd);
}

static void compare(const uint8_t *bytes, size_t size, const char *path) {
    mercer_ctx *ctx = open_small();
    const mercer_read set = settings_for(size);
    mercer_data *memory = NULL, *file = NULL;
    const mercer_status expected =
        mc_data_parse_as(ctx, bytes, (int64_t)size, path, &(mc_reading){.set = &set}, &memory);
    char message[512];
    snprintf(message, sizeof message, "%s", mercer_message(ctx));
    const mercer_status status = mc_data_read_as(ctx, path, &(mc_reading){.set = &set, .piece = PIECE}, &file);
    must(status == expected, "the file reads as the memory does");
    if (status)
        must(strcmp(message, mercer_message(ctx)) == 0, "the same words for what is wrong");
    else
        check_same(memory, file, "a file in pieces reads the same");
    mercer_data_free(memory);
    mercer_data_free(file);
    mercer_close(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd;
    make_file(data, size, &fd, path);
    compare(data, size, path);
    close(fd);
    return fuzz_data(data, size, "input.csv");
}
