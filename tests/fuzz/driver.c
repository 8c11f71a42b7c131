/* driver.c: runs a fuzz target without a fuzzer, so that every build does. The same seed makes the same inputs
   everywhere.

     fuzz_NAME [-n RUNS] [-s SEED] [-l FILE]... [FILE]...

   A FILE is one example, a file after -l one example a line. Every example is tried as it is, then RUNS inputs are made
   from them by cutting, doubling, changing and joining pieces. Under clang's fuzzer this file is left out
   (-Dfuzz=true). */
#include "base/rng.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 1 << 16 };

typedef struct example {
    uint8_t *bytes;
    int64_t size;
} example;

static example *examples;
static int64_t count;
static example now; /* what is being tried: written to a file when the target falls over it */

static void keep(const void *bytes, size_t size) {
    examples = realloc(examples, (size_t)(count + 1) * sizeof *examples);
    examples[count].bytes = malloc(size + 1);
    memcpy(examples[count].bytes, bytes, size);
    examples[count++].size = (int64_t)size;
}

static int read_examples(const char *path, bool by_line) {
    static char buffer[LONGEST];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 2;
    }
    while (by_line && fgets(buffer, sizeof buffer, file))
        keep(buffer, strcspn(buffer, "\n"));
    if (!by_line)
        keep(buffer, fread(buffer, 1, sizeof buffer, file));
    fclose(file);
    return 0;
}

static void save_and_die(int signal_number) {
    static const char path[] = "fuzz-failure.bin";
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(now.bytes, 1, (size_t)now.size, file);
        fclose(file);
    }
    static const char note[] = "the target fell over the input in fuzz-failure.bin\n";
    if (write(STDERR_FILENO, note, sizeof note - 1) < 0)
        _exit(3);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void try(const uint8_t *bytes, int64_t size) {
    now = (example){(uint8_t *)bytes, size};
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
}

/* Replace out[at, at + removed) by a piece; what no longer fits is cut off. */
static void replace(uint8_t *out, int64_t *size, int64_t at, int64_t removed, const uint8_t *piece, int64_t added) {
    static uint8_t rest[LONGEST];
    const int64_t after = *size - at - removed;
    added = added < LONGEST - at ? added : LONGEST - at;
    memcpy(rest, out + at + removed, (size_t)after);
    memmove(out + at, piece, (size_t)added);
    const int64_t kept = after < LONGEST - at - added ? after : LONGEST - at - added;
    memcpy(out + at + added, rest, (size_t)kept);
    *size = at + added + kept;
}

/* A length that is short more often than not. */
static int64_t piece(mc_rng *rng, int64_t most) {
    const int64_t limit = mc_rng_below(rng, 4) ? 8 : most;
    return mc_rng_below(rng, (limit < most ? limit : most) + 1);
}

static void change(mc_rng *rng, uint8_t *out, int64_t *size) {
    const int64_t at = mc_rng_below(rng, *size + 1), removed = piece(rng, *size - at);
    const example *other = &examples[mc_rng_below(rng, count)];
    const int64_t from = mc_rng_below(rng, other->size + 1);
    uint8_t byte = (uint8_t)mc_rng_below(rng, 256);
    switch (mc_rng_below(rng, 5)) {
    case 0: replace(out, size, at, removed, &byte, 0); break;
    case 1: replace(out, size, at, 0, other->bytes + from, piece(rng, other->size - from)); break;
    case 2: replace(out, size, at, removed, other->bytes + from, piece(rng, other->size - from)); break;
    case 3: replace(out, size, at, at < *size, &byte, 1); break;
    default:
        if (at < *size)
            out[at] ^= (uint8_t)(1 << mc_rng_below(rng, 8));
    }
}

static void run(int64_t runs, uint64_t seed) {
    static uint8_t input[LONGEST];
    for (int64_t i = 0; i < count; i++)
        try(examples[i].bytes, examples[i].size);
    for (int64_t i = 0; i < runs && count > 0; i++) {
        mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, (uint64_t)i);
        const example *start = &examples[mc_rng_below(&rng, count)];
        int64_t size = start->size;
        memcpy(input, start->bytes, (size_t)size);
        for (int64_t changes = 1 + mc_rng_below(&rng, 4); changes > 0; changes--)
            change(&rng, input, &size);
        try(input, size);
    }
    printf("%lld examples, %lld inputs made of them, seed %llu\n", (long long)count, (long long)runs,
           (unsigned long long)seed);
}

int main(int argc, char **argv) {
    int64_t runs = 0;
    uint64_t seed = 1;
    int bad = 0;
    for (int i = 1; i < argc && !bad; i++) {
        const bool option = argv[i][0] == '-' && i + 1 < argc;
        if (option && argv[i][1] == 'n')
            runs = atoll(argv[++i]);
        else if (option && argv[i][1] == 's')
            seed = strtoull(argv[++i], NULL, 10);
        else if (option && argv[i][1] == 'l')
            bad = read_examples(argv[++i], true);
        else
            bad = read_examples(argv[i], false);
    }
    const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (int i = 0; i < 5; i++)
        signal(fatal[i], save_and_die);
    if (!bad)
        run(runs, seed);
    for (int64_t i = 0; i < count; i++)
        free(examples[i].bytes);
    free(examples);
    return bad;
}
