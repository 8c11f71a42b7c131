/* zoo.h: small models of every kind that the library can make, as files in memory: every machine, form and solver,
   dense and sparse rows, floats, texts, rows of a Gram matrix, classes and several outputs, schemas, updates, and what
   LIBSVM's files become. */
#ifndef FUZZ_ZOO_H
#define FUZZ_ZOO_H

#include <mercer.h>

enum { ZOO_MOST = 120 };

typedef struct specimen {
    char name[160];
    char machine[24], kernel[64], settings[64];
    int set;              /* which of the data sets */
    unsigned char *bytes; /* of the model file */
    size_t size;
} specimen;

typedef struct zoo {
    int count;
    specimen one[ZOO_MOST];
} zoo;

/* A context as the targets use it: one thread, little memory. */
mercer_ctx *zoo_context(void);
/* The rows a specimen was fitted to. */
mercer_data *zoo_data(mercer_ctx *ctx, int set);
/* A file that some sets are read from; any other set: the one with numbers. */
const char *zoo_file(int set);
void zoo_open(mercer_ctx *ctx, zoo *out);
void zoo_close(zoo *z);

#endif
