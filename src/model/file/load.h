/* load.h: the loader's two halves: load.c (bytes, sizes, checksum, arrays) and metadata.c (what the header says in
 * words). */
#ifndef MC_MODEL_FILE_LOAD_H
#define MC_MODEL_FILE_LOAD_H

#include "kernel/language/user_function.h"
#include "model/file/crc64.h"
#include "model/file/format.h"
#include <jansson.h>
#include <stdio.h>

typedef struct mc_loading {
    const char *path;
    FILE *file;
    size_t size;   /* of the file */
    size_t arrays; /* bytes after the header */
    json_t *root, *metadata;
    bool listed; /* the format says which columns are kept */
    mc_model_shape shape;
    mercer_model *model;
    mc_users users; /* functions that the kernel may call */
    mc_crc64 crc;
    char checksum[MC_CHECKSUM_DIGITS]; /* what the file says */
} mc_loading;

/* MERCER_FORMAT: "PATH: the model file is damaged: ...". */
mercer_status mc_fail_damaged(mercer_ctx *ctx, const mc_loading *l, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The report, the settings and the shape; allocates no more than the header is long. */
mercer_status mc_metadata_read(mercer_ctx *ctx, mc_loading *l);
/* Labels, names, schema and kernel, once the centres are there. */
mercer_status mc_metadata_attach(mercer_ctx *ctx, mc_loading *l);

/* A model from an open file that can seek; path is for messages. The file stays the caller's. */
mercer_status mc_model_load(mercer_ctx *ctx, FILE *file, const char *path, mc_users users, mercer_model **out);

#endif
