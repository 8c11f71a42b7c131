/* strings.h: a list of strings is one block, the pointers and then the bytes, so mc_free(list) frees it whole. All
   lists of strings inside data and schemas are made this way. */
#ifndef MC_DATA_TABLE_STRINGS_H
#define MC_DATA_TABLE_STRINGS_H

#include <mercer.h>

/* A copy of count strings; NULL with a message when memory is short. */
char **mc_strings_copy(mercer_ctx *ctx, const char *const *list, int64_t count);
/* The strings list[rows[i] * width + j], i < count, j < width, in that order; rows NULL: 0, 1, 2, ... */
char **mc_strings_take(mercer_ctx *ctx, char *const *list, int64_t width, const int64_t *rows, int64_t count);
/* Room for count strings of bytes bytes in all, their closing zeros included; *first is where the bytes begin. */
char **mc_strings_new(mercer_ctx *ctx, int64_t count, int64_t bytes, char **first);
/* "x1", "x2", ... "xd". */
char **mc_strings_numbered(mercer_ctx *ctx, const char *stem, int64_t count);

#endif
