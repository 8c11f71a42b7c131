/* mutate.h: a model file taken apart into its fields and arrays, changed, and put together again with sizes, offsets
   and checksum right: what someone with bad intent would write. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "base/rng.h"
#include "zoo.h"

enum { FIELDS_MOST = 80, ARRAYS_MOST = 20, TEXT_MOST = 2048, BYTES_MOST = 4096, FILE_MOST = 1 << 16 };

typedef struct field {
    char key[48];
    char value[TEXT_MOST]; /* JSON, quotes included */
} field;

typedef struct array {
    char name[32], dtype[8];
    int dims;
    int64_t shape[2];
    unsigned char bytes[BYTES_MOST];
} array;

typedef struct parts {
    int fields, arrays;
    field field[FIELDS_MOST];
    array array[ARRAYS_MOST];
} parts;

/* False where the file is too large to be taken apart here. */
bool parts_of(const unsigned char *bytes, size_t size, parts *out);
/* What is in use of them: most of the room is not. */
void parts_copy(const parts *from, parts *to);
size_t parts_join(const parts *p, unsigned char *out); /* FILE_MOST bytes at most; 0: it does not fit */

/* One to four changes, with pieces of the others. */
void mutate(mc_rng *rng, parts *p, const parts *others, int count);

#endif
