/* strings.c: lists of strings in one block. */
#include "data/table/strings.h"
#include "base/memory.h"
#include <string.h>

char **mc_strings_new(mercer_ctx *ctx, int64_t count, int64_t bytes, char **first) {
    const int64_t pointer = (int64_t)sizeof(char *);
    if (count > (INT64_MAX - bytes) / pointer)
        count = INT64_MAX / pointer; /* no limit allows it: mc_alloc says so */
    char **list = mc_alloc(ctx, count * pointer + bytes, 1);
    if (list)
        *first = (char *)(list + count);
    return list;
}

static int64_t source_item(const int64_t *rows, int64_t width, int64_t k) {
    return rows ? rows[k / width] * width + k % width : k;
}

static char **copy_items(mercer_ctx *ctx, const char *const *list, int64_t width, const int64_t *rows, int64_t total) {
    int64_t bytes = 0;
    for (int64_t k = 0; k < total; k++)
        bytes += (int64_t)strlen(list[source_item(rows, width, k)]) + 1;
    char *next = NULL, **copy = mc_strings_new(ctx, total, bytes, &next);
    for (int64_t k = 0; copy && k < total; k++) {
        const char *text = list[source_item(rows, width, k)];
        const size_t size = strlen(text) + 1;
        copy[k] = memcpy(next, text, size);
        next += size;
    }
    return copy;
}

char **mc_strings_copy(mercer_ctx *ctx, const char *const *list, int64_t count) {
    return copy_items(ctx, list, 1, NULL, count);
}

char **mc_strings_take(mercer_ctx *ctx, char *const *list, int64_t width, const int64_t *rows, int64_t count) {
    return copy_items(ctx, (const char *const *)list, width, rows, count * width);
}

static int digits_of(int64_t k) {
    int digits = 1;
    for (; k >= 10; k /= 10)
        digits++;
    return digits;
}

/* stem and number, without printf: every table made in memory is named so, and one of one row should cost no time. */
static char *write_numbered(char *at, const char *stem, size_t length, int64_t k) {
    const int digits = digits_of(k);
    memcpy(at, stem, length);
    at[length + (size_t)digits] = '\0';
    for (int i = digits - 1; i >= 0; i--, k /= 10)
        at[length + (size_t)i] = (char)('0' + k % 10);
    return at + length + digits + 1;
}

char **mc_strings_numbered(mercer_ctx *ctx, const char *stem, int64_t count) {
    const size_t length = strlen(stem);
    int64_t bytes = 0;
    for (int64_t k = 1; k <= count; k++)
        bytes += (int64_t)length + digits_of(k) + 1;
    char *next = NULL, **list = mc_strings_new(ctx, count, bytes, &next);
    for (int64_t k = 0; list && k < count; k++) {
        list[k] = next;
        next = write_numbered(next, stem, length, k + 1);
    }
    return list;
}
