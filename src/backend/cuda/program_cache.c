/* program_cache.c: a file per program: its key, the length and a checksum, then the image. Written under another name
   and moved, so that nobody reads half of one. */
#include "backend/cuda/program_cache.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MOST = 1024, MOST_BYTES = 64 << 20 };

typedef struct cache_head {
    uint64_t key[2], size, sum;
} cache_head;

/* FNV-1a, begun at another number for each half of a key. */
static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}

void cache_key(const char *first, const char *source, uint64_t key[2]) {
    static const uint64_t start[2] = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
    for (int i = 0; i < 2; i++)
        key[i] = hash_bytes(hash_bytes(start[i], first, strlen(first)), source, strlen(source));
}

static int make_folder(char *out) {
    const char *own = getenv("MERCER_CACHE"), *shared = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = own && *own         ? snprintf(out, PATH_MOST, "%s", own)
                 : shared && *shared ? snprintf(out, PATH_MOST, "%s/mercer", shared)
                 : home && *home     ? snprintf(out, PATH_MOST, "%s/.cache/mercer", home)
                                     : 0;
    if (length < 1 || length >= PATH_MOST - 64)
        return 0;
    for (char *slash = strchr(out + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(out, 0700);
        *slash = '/';
    }
    mkdir(out, 0700);
    return length;
}

static int name_entry(const uint64_t key[2], char *path) {
    const int length = make_folder(path);
    if (length)
        snprintf(path + length, (size_t)(PATH_MOST - length), "/%016" PRIx64 "%016" PRIx64, key[0], key[1]);
    return length;
}

char *cache_read(const uint64_t key[2], size_t *size) {
    char path[PATH_MOST];
    cache_head h;
    FILE *file = name_entry(key, path) ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    char *image = NULL;
    const int good = fread(&h, sizeof h, 1, file) == 1 && memcmp(h.key, key, sizeof h.key) == 0 && h.size < MOST_BYTES
                     && (image = malloc(h.size + 1)) && fread(image, 1, h.size + 1, file) == h.size
                     && hash_bytes(h.key[0], image, h.size) == h.sum;
    fclose(file);
    if (good) {
        *size = h.size;
        return image;
    }
    free(image);
    return NULL;
}

void cache_write(const uint64_t key[2], const char *image, size_t size) {
    char path[PATH_MOST], draft[PATH_MOST + 32];
    if (!name_entry(key, path))
        return;
    snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid());
    const cache_head h = {{key[0], key[1]}, size, hash_bytes(key[0], image, size)};
    FILE *file = fopen(draft, "wb");
    if (!file)
        return;
    const int written = fwrite(&h, sizeof h, 1, file) == 1 && fwrite(image, 1, size, file) == size;
    if (fclose(file) || !written || rename(draft, path))
        unlink(draft);
}
