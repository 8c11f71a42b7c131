/* text.h: a text that grows. Failures are kept until mc_text_take, so a writer of many pieces checks once. */
#ifndef MC_BASE_TEXT_H
#define MC_BASE_TEXT_H

#include <mercer.h>

typedef struct mc_text {
    mercer_ctx *ctx;
    char *bytes; /* always closed by a zero once something was added */
    int64_t length, capacity;
    mercer_status status;
} mc_text;

mc_text mc_text_open(mercer_ctx *ctx);
void mc_text_add(mc_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mc_text_bytes(mc_text *text, const char *bytes, int64_t length);
void mc_text_string(mc_text *text, const char *string);
void mc_text_quoted(mc_text *text, const char *bytes); /* as a string of JSON; the bytes must be UTF-8 */
void mc_text_number(mc_text *text, double value);      /* shortest form that reads back */
/* ,"key":value of an object of JSON, which knows numbers that are finite, and null. */
void mc_text_field(mc_text *text, const char *key, double value);
/* Hand the bytes over (freed with mc_free by the caller) or report what failed on the way, freeing them. */
mercer_status mc_text_take(mc_text *text, char **out);
/* The same into a file. */
mercer_status mc_text_write(mc_text *text, const char *path);
void mc_text_close(mc_text *text);

#endif
