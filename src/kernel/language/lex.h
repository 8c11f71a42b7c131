/* lex.h: the text of an expression as tokens, one ahead of the parser. */
#ifndef MC_KERNEL_LANGUAGE_LEX_H
#define MC_KERNEL_LANGUAGE_LEX_H

#include <mercer.h>

/* A punctuation mark is its own kind: '+', '(' and so on. */
enum { MC_TOKEN_END = 0, MC_TOKEN_ERROR = 1, MC_TOKEN_NUMBER = 256, MC_TOKEN_NAME, MC_TOKEN_STRING, MC_TOKEN_RANGE };

typedef struct mc_token {
    int kind;
    int64_t offset, length; /* bytes of the text; a string with its quotes */
    double number;
} mc_token;

typedef struct mc_lexer {
    mercer_ctx *ctx;
    const char *text, *end;
    mc_token token;       /* the one in hand */
    mercer_status status; /* set with its message when the kind is MC_TOKEN_ERROR */
} mc_lexer;

/* The first token is in hand after opening. A byte that starts no token makes MC_TOKEN_ERROR, for good. */
void mc_lex_open(mc_lexer *lexer, mercer_ctx *ctx, const char *text);
void mc_lex_next(mc_lexer *lexer);
/* Step over the token in hand if it is of this kind. */
bool mc_lex_take(mc_lexer *lexer, int kind);
bool mc_lex_name_is(const mc_lexer *lexer, const char *name);

/* "column 5: " and the sentence, at that byte of the text. */
mercer_status mc_lex_fail(const mc_lexer *lexer, int64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What does not exist: "there is no kernel 'rbg'; did you mean 'rbf'?" for the name in hand; otherwise closes the
   sentence when no known name is near. */
mercer_status mc_lex_unknown(mc_lexer *lexer, const char *what, const char *const *known, int count,
                             const char *otherwise);
/* "column 5: expected ')', got '}'" at the token in hand, or what already went wrong. */
mercer_status mc_lex_unexpected(mc_lexer *lexer, const char *expected);
/* Step over a token of this kind or fail as above. */
mercer_status mc_lex_expect(mc_lexer *lexer, int kind, const char *expected);
/* The bytes of a string token without quotes and escapes. */
mercer_status mc_lex_string(mc_lexer *lexer, char **out);

#endif
