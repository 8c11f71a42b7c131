/* lex.c: bytes to tokens. The text is ASCII outside of quotes; any other byte is named in the message by its value, so
   that a no-break space pasted from a web page can be found.

   A token that cannot be read becomes MC_TOKEN_ERROR with its message recorded; the parser then meets a token it did
   not expect and mc_lex_unexpected hands the recorded failure on. */
#include "kernel/language/lex.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/print.h"
#include "base/status.h"
#include "base/suggest.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

mercer_status mc_lex_fail(const mc_lexer *lexer, int64_t offset, const char *format, ...) {
    char sentence[MC_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    mc_vprint(sentence, sizeof sentence, format, args);
    va_end(args);
    return mc_fail_at(lexer->ctx, MERCER_SYNTAX, offset, "column %lld: %s", (long long)offset + 1, sentence);
}

/* Record the failure and stop: the sentence ends with the byte when there is one. */
static void fail_token(mc_lexer *lexer, int64_t offset, const char *what, int byte) {
    char name[16] = "";
    if (byte >= 0)
        mc_print(name, sizeof name, " 0x%02X", (unsigned)byte);
    lexer->status = mc_lex_fail(lexer, offset, "%s%s", what, name);
    lexer->token = (mc_token){.kind = MC_TOKEN_ERROR, .offset = offset};
}

static void finish_token(mc_lexer *lexer, int kind, const char *begin, const char *end) {
    lexer->token.kind = kind;
    lexer->token.offset = begin - lexer->text;
    lexer->token.length = end - begin;
}

static void read_name(mc_lexer *lexer, const char *p) {
    const char *q = p;
    while (q < lexer->end && (is_letter(*q) || is_digit(*q)))
        q++;
    finish_token(lexer, MC_TOKEN_NAME, p, q);
}

/* In "1..10" the number is "1", not "1.". */
static const char *range_begin(const mc_lexer *lexer, const char *p) {
    while (p < lexer->end && is_digit(*p))
        p++;
    return lexer->end - p >= 2 && p[0] == '.' && p[1] == '.' ? p : lexer->end;
}

/* Digits that say something else than 0, before the exponent. */
static bool is_written_zero(const char *p, const char *end) {
    while (p < end && (*p == '0' || *p == '.'))
        p++;
    return p == end || !is_digit(*p);
}

static void read_number(mc_lexer *lexer, const char *p) {
    double number;
    const char *q = mc_number_read(p, range_begin(lexer, p), &number);
    if (!q)
        fail_token(lexer, p - lexer->text, "this is not a number", -1);
    else if (isinf(number))
        fail_token(lexer, p - lexer->text, "this number is too large for a double", -1);
    else if (number == 0 && !is_written_zero(p, q))
        fail_token(lexer, p - lexer->text, "this number is too small for a double; write 0 if that is meant", -1);
    else if (q < lexer->end && is_letter(*q))
        fail_token(lexer, q - lexer->text, "a number runs into a letter; write '*' between a factor and a kernel", -1);
    else {
        finish_token(lexer, MC_TOKEN_NUMBER, p, q);
        lexer->token.number = number;
    }
}

static void read_string(mc_lexer *lexer, const char *p) {
    for (const char *q = p + 1; q < lexer->end; q++) {
        if (*q == '\\')
            q++;
        else if (*q == '"') {
            finish_token(lexer, MC_TOKEN_STRING, p, q + 1);
            return;
        }
    }
    fail_token(lexer, p - lexer->text, "this quote is never closed", -1);
}

static void read_mark(mc_lexer *lexer, const char *p) {
    if (lexer->end - p >= 2 && p[0] == '.' && p[1] == '.')
        finish_token(lexer, MC_TOKEN_RANGE, p, p + 2);
    else if (strchr("+-*/^()[]{},:=", *p))
        finish_token(lexer, *p, p, p + 1);
    else if (*p > ' ' && *p < 0x7f)
        fail_token(lexer, p - lexer->text, "no expression has this character, byte", (unsigned char)*p);
    else
        fail_token(lexer, p - lexer->text, "only plain ASCII may stand outside of quotes, got byte", (unsigned char)*p);
}

void mc_lex_next(mc_lexer *lexer) {
    if (lexer->token.kind == MC_TOKEN_ERROR)
        return;
    const char *p = lexer->text + lexer->token.offset + lexer->token.length;
    while (p < lexer->end && is_space(*p))
        p++;
    if (p == lexer->end)
        finish_token(lexer, MC_TOKEN_END, p, p);
    else if (is_letter(*p))
        read_name(lexer, p);
    else if (is_digit(*p) || (*p == '.' && lexer->end - p >= 2 && is_digit(p[1])))
        read_number(lexer, p);
    else if (*p == '"')
        read_string(lexer, p);
    else
        read_mark(lexer, p);
}

void mc_lex_open(mc_lexer *lexer, mercer_ctx *ctx, const char *text) {
    *lexer = (mc_lexer){.ctx = ctx, .text = text, .end = text + strlen(text), .token = {.kind = MC_TOKEN_NAME}};
    mc_lex_next(lexer);
}

bool mc_lex_take(mc_lexer *lexer, int kind) {
    if (lexer->token.kind != kind)
        return false;
    mc_lex_next(lexer);
    return true;
}

bool mc_lex_name_is(const mc_lexer *lexer, const char *name) {
    const mc_token *t = &lexer->token;
    return t->kind == MC_TOKEN_NAME && strlen(name) == (size_t)t->length
           && memcmp(lexer->text + t->offset, name, (size_t)t->length) == 0;
}

enum { SHOWN = 40 }; /* letters of a token in a message */

static int shown_of(const mc_token *t) {
    return (int)(t->length < SHOWN ? t->length : SHOWN);
}

mercer_status mc_lex_unexpected(mc_lexer *lexer, const char *expected) {
    const mc_token *t = &lexer->token;
    if (t->kind == MC_TOKEN_ERROR)
        return lexer->status;
    if (t->kind == MC_TOKEN_END)
        return mc_lex_fail(lexer, t->offset, "expected %s, got the end of the expression", expected);
    return mc_lex_fail(lexer, t->offset, "expected %s, got '%.*s%s'", expected, shown_of(t), lexer->text + t->offset,
                       t->length > SHOWN ? "..." : "");
}

mercer_status mc_lex_unknown(mc_lexer *lexer, const char *what, const char *const *known, int count,
                             const char *otherwise) {
    const mc_token *t = &lexer->token;
    const char *word = lexer->text + t->offset, *near = mc_suggest_name(word, (size_t)t->length, known, count);
    if (!near)
        return mc_lex_fail(lexer, t->offset, "%s '%.*s'%s", what, shown_of(t), word, otherwise);
    return mc_lex_fail(lexer, t->offset, "%s '%.*s'; did you mean '%s'?", what, shown_of(t), word, near);
}

mercer_status mc_lex_expect(mc_lexer *lexer, int kind, const char *expected) {
    return mc_lex_take(lexer, kind) ? MERCER_OK : mc_lex_unexpected(lexer, expected);
}

mercer_status mc_lex_string(mc_lexer *lexer, char **out) {
    const mc_token *t = &lexer->token;
    const char *p = lexer->text + t->offset + 1, *end = p + t->length - 2;
    char *q = *out = mc_alloc(lexer->ctx, t->length, 1);
    if (!q)
        return MERCER_MEMORY;
    for (; p < end; p++) {
        if (*p == '\\')
            p++;
        *q++ = *p;
    }
    mc_lex_next(lexer);
    return MERCER_OK;
}
