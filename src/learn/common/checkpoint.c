/* checkpoint.c: see checkpoint.h for the layout. mc_checkpoint_check reads the whole file through its hash first, which
   finds damage; whether the parts make sense is for those to judge who load them. */
#include "learn/common/checkpoint.h"
#include "base/ctx.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/ranks.h"
#include "base/status.h"
#include "data/table/data.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 1, PIECE = 1 << 16 };
static const char MAGIC[8] = {'M', 'E', 'R', 'C', 'E', 'R', 'C', 'K'};

typedef struct checkpoint_head {
    char magic[8];
    uint32_t version, parts;
    uint64_t key, size[MC_CHECKPOINT_PARTS];
} checkpoint_head;

static mercer_status fail_damaged(mercer_ctx *ctx, const char *path, const char *how) {
    return mc_fail(ctx, MERCER_FORMAT, "the checkpoint '%s' %s; remove it to start anew", path, how);
}

/* The hash of a file up to its last eight bytes, which say what it should be. Pieces end where the writer's ended. */
static bool hash_of(FILE *file, uint64_t bytes, uint64_t *hash) {
    unsigned char piece[PIECE];
    while (bytes) {
        const size_t size = bytes < PIECE ? (size_t)bytes : PIECE;
        if (fread(piece, 1, size, file) != size)
            return false;
        *hash = mc_hash(*hash, piece, size);
        bytes -= size;
    }
    return true;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    for (size_t at = 0; at < size; at += PIECE)
        hash = mc_hash(hash, (const char *)bytes + at, size - at < PIECE ? size - at : PIECE);
    return hash;
}

static bool hash_matches(FILE *file, const checkpoint_head *h) {
    uint64_t hash = hash_bytes(0, h, sizeof *h), written;
    for (uint32_t p = 0; p < h->parts; p++)
        if (!hash_of(file, h->size[p], &hash))
            return false;
    return fread(&written, sizeof written, 1, file) == 1 && written == hash && fgetc(file) == EOF;
}

static mercer_status check_checkpoint_head(mercer_ctx *ctx, FILE *file, const char *path, uint64_t key) {
    checkpoint_head h;
    if (fread(&h, sizeof h, 1, file) != 1 || memcmp(h.magic, MAGIC, sizeof MAGIC) != 0)
        return mc_fail(ctx, MERCER_FORMAT, "'%s' is not a checkpoint of Mercer; name another file", path);
    if (h.version != VERSION || h.parts > MC_CHECKPOINT_PARTS || !hash_matches(file, &h))
        return fail_damaged(ctx, path, "is damaged");
    if (h.key != key)
        return mc_fail(ctx, MERCER_INVALID,
                       "the checkpoint '%s' is of another fit: its data, kernel, settings, seed or version of Mercer "
                       "differ; remove it "
                       "or name another file",
                       path);
    return MERCER_OK;
}

static mercer_status find_checkpoint(mercer_ctx *ctx, const char *path, uint64_t key, bool *found) {
    *found = false;
    MC_TRY(mc_file_plain(ctx, "checkpoint", path));
    FILE *file = fopen(path, "rb");
    if (!file && errno != ENOENT)
        return mc_fail(ctx, MERCER_IO, "cannot read the checkpoint '%s': %s", path, strerror(errno));
    if (file) {
        const mercer_status status = check_checkpoint_head(ctx, file, path, key);
        fclose(file);
        *found = status == MERCER_OK;
        return status;
    }
    mc_output *output = NULL; /* better to learn now than after the first hour that there is no place to write */
    MC_TRY(mc_output_open(ctx, path, &output));
    mc_output_abandon(output);
    return MERCER_OK;
}

/* The first of several ranks writes none before all have looked. */
static mercer_status agree_on(mercer_ctx *ctx, const char *path, uint64_t what, mercer_status status) {
    const uint64_t key = mc_hash_text(what, path);
    return mc_ranks_share(ctx) ? mc_ranks_agree(ctx, MC_RANKS_CHECKPOINT, key, status) : status;
}

mercer_status mc_checkpoint_check(mercer_ctx *ctx, const char *path, uint64_t key, bool *found) {
    const mercer_status status = find_checkpoint(ctx, path, key, found);
    return agree_on(ctx, path, *found, status);
}

static mercer_status read_checkpoint(mercer_ctx *ctx, const char *path, const mc_checkpoint_part *parts, int count) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return mc_fail(ctx, MERCER_IO, "cannot read the checkpoint '%s': %s", path, strerror(errno));
    checkpoint_head h;
    bool right = fread(&h, sizeof h, 1, file) == 1 && h.parts >= (uint32_t)count;
    for (int p = 0; right && p < count; p++) {
        right = h.size[p] == parts[p].size;
        if (right && parts[p].bytes)
            right = fread(parts[p].bytes, 1, parts[p].size, file) == parts[p].size;
        else if (right)
            right = fseek(file, (long)parts[p].size, SEEK_CUR) == 0;
    }
    fclose(file);
    return right ? MERCER_OK : fail_damaged(ctx, path, "does not hold what this fit needs");
}

mercer_status mc_checkpoint_load(mercer_ctx *ctx, const char *path, const mc_checkpoint_part *parts, int count) {
    return agree_on(ctx, path, (uint64_t)count, read_checkpoint(ctx, path, parts, count));
}

static mercer_status write_all(mercer_ctx *ctx, mc_output *output, const checkpoint_head *h,
                               const mc_checkpoint_part *parts) {
    uint64_t hash = hash_bytes(0, h, sizeof *h);
    MC_TRY(mc_output_write(ctx, output, h, sizeof *h));
    for (uint32_t p = 0; p < h->parts; p++) {
        hash = hash_bytes(hash, parts[p].bytes, parts[p].size);
        MC_TRY(mc_output_write(ctx, output, parts[p].bytes, parts[p].size));
    }
    return mc_output_write(ctx, output, &hash, sizeof hash);
}

mercer_status mc_checkpoint_refuse(mercer_ctx *ctx, const char *path) {
    return fail_damaged(ctx, path, "holds numbers that this fit cannot have reached");
}

mercer_status mc_checkpoint_save(mercer_ctx *ctx, const char *path, uint64_t key, const mc_checkpoint_part *parts,
                                 int count) {
    checkpoint_head h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    h.version = VERSION;
    h.parts = (uint32_t)count;
    h.key = key;
    for (int p = 0; p < count; p++)
        h.size[p] = parts[p].size;
    mc_output *output = NULL;
    MC_TRY(mc_output_open(ctx, path, &output));
    const mercer_status status = write_all(ctx, output, &h, parts);
    if (status) {
        mc_output_abandon(output);
        return status;
    }
    return mc_output_commit(ctx, output);
}

uint64_t mc_checkpoint_key(const mercer_ctx *ctx, const mc_problem *p, const char *words) {
    uint64_t key = mc_hash(ctx->options.seed, &p->outputs, sizeof p->outputs);
    key = mc_data_hash(key, p->x);
    if (p->Y)
        key = mc_hash(key, p->Y, (size_t)(p->n * p->outputs) * sizeof(double));
    if (p->root)
        key = mc_hash(key, p->root, (size_t)p->n * sizeof(double));
    const char *const texts[] = {mercer_kernel_text(p->kernel), mercer_version(), mercer_isa(ctx), mercer_blas(),
                                 words};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        key = mc_hash_text(key, texts[i]);
    return key;
}
