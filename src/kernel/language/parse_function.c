/* parse_function.c: the function of weigh(f, k).

     sum      = product (('+' | '-') product)*
     product  = factor (('*' | '/') factor)*
     factor   = '-' factor | '+' factor | power
     power    = primary ('^' factor)?                        2^-3, and 2^3^4 is 2^(3^4)
     primary  = number | 'norm2' | 'norm' | 'x' '[' number ']' | name '(' sum ')' | '(' sum ')' */
#include "base/status.h"
#include "kernel/language/function.h"
#include "kernel/language/parse.h"
#include <math.h>

static mercer_status parse_function_sum(mc_parser *p, mc_function **out);
static mercer_status parse_function_factor(mc_parser *p, mc_function **out);

/* A long sum is a tree as deep as it is long, so the parts are counted: that bounds the recursion of whoever walks the
   tree. */
static mercer_status make_counted_function(mc_parser *p, mc_function_kind kind, mc_function **out) {
    const int64_t offset = p->lexer.token.offset;
    if (++p->parts > MC_PARTS_MAX)
        return mc_lex_fail(&p->lexer, offset, "a function of more than %d parts", MC_PARTS_MAX);
    return mc_function_make(p->lexer.ctx, kind, out);
}

/* A function of this kind above *io. */
static mercer_status wrap_function(mc_parser *p, mc_function_kind kind, mc_function **io) {
    mc_function *f = NULL;
    MC_TRY(make_counted_function(p, kind, &f));
    f->child[0] = *io;
    *io = f;
    return MERCER_OK;
}

static mercer_status unknown_name(mc_parser *p) {
    const char *known[MC_F_KINDS];
    int count = 0;
    for (int i = 0; i < MC_F_KINDS; i++)
        if (mc_function_names[i])
            known[count++] = mc_function_names[i];
    return mc_lex_unknown(&p->lexer, "a function is made of norm2, norm, x[i] and numbers, not", known, count, "");
}

static mercer_status parse_function_column(mc_parser *p, mc_function *f) {
    MC_TRY(mc_lex_expect(&p->lexer, '[', "'['"));
    const mc_token t = p->lexer.token;
    MC_TRY(mc_lex_expect(&p->lexer, MC_TOKEN_NUMBER, "a column number"));
    if (!(t.number >= 1 && t.number <= INT32_MAX && t.number == floor(t.number)))
        return mc_lex_fail(&p->lexer, t.offset, "columns are numbered 1, 2, 3, ... to 2147483647");
    f->column = (int64_t)t.number - 1;
    return mc_lex_expect(&p->lexer, ']', "']'");
}

static mercer_status in_parentheses(mc_parser *p, mc_function **out) {
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'('"));
    MC_TRY(parse_function_sum(p, out));
    return mc_lex_expect(&p->lexer, ')', "an operator or ')'");
}

static mercer_status parse_function_name(mc_parser *p, mc_function **out) {
    int kind = 0;
    while (kind < MC_F_KINDS && !(mc_function_names[kind] && mc_lex_name_is(&p->lexer, mc_function_names[kind])))
        kind++;
    if (kind == MC_F_KINDS)
        return unknown_name(p);
    MC_TRY(make_counted_function(p, (mc_function_kind)kind, out));
    mc_lex_next(&p->lexer);
    if (kind == MC_F_NORM2 || kind == MC_F_NORM)
        return MERCER_OK;
    return kind == MC_F_COLUMN ? parse_function_column(p, *out) : in_parentheses(p, &(*out)->child[0]);
}

static mercer_status parse_function_primary(mc_parser *p, mc_function **out) {
    const mc_token t = p->lexer.token;
    if (t.kind == MC_TOKEN_NAME)
        return parse_function_name(p, out);
    if (t.kind == '(')
        return in_parentheses(p, out);
    if (t.kind != MC_TOKEN_NUMBER)
        return mc_lex_unexpected(&p->lexer, "norm2, norm, x[i], a function, a number or '('");
    mc_lex_next(&p->lexer);
    MC_TRY(make_counted_function(p, MC_F_NUMBER, out));
    (*out)->number = t.number;
    return MERCER_OK;
}

static mercer_status parse_function_power(mc_parser *p, mc_function **out) {
    MC_TRY(parse_function_primary(p, out));
    if (!mc_lex_take(&p->lexer, '^'))
        return MERCER_OK;
    MC_TRY(wrap_function(p, MC_F_POWER, out));
    return parse_function_factor(p, &(*out)->child[1]);
}

/* -3 is the number -3, so that it prints and reads back as one. */
static mercer_status negate_function(mc_parser *p, mc_function **io) {
    if ((*io)->kind != MC_F_NUMBER)
        return wrap_function(p, MC_F_NEGATE, io);
    (*io)->number = -(*io)->number;
    return MERCER_OK;
}

/* Every level of signs, powers and parentheses passes here: the one place that counts the parser's own recursion. */
static mercer_status parse_function_factor(mc_parser *p, mc_function **out) {
    const int kind = p->lexer.token.kind;
    MC_TRY(mc_parse_deeper(p));
    if (kind == '-' || kind == '+') {
        mc_lex_next(&p->lexer);
        MC_TRY(parse_function_factor(p, out));
    } else
        MC_TRY(parse_function_power(p, out));
    p->depth--;
    return kind == '-' ? negate_function(p, out) : MERCER_OK;
}

static mercer_status parse_function_product(mc_parser *p, mc_function **out) {
    MC_TRY(parse_function_factor(p, out));
    for (int kind = p->lexer.token.kind; kind == '*' || kind == '/'; kind = p->lexer.token.kind) {
        mc_lex_next(&p->lexer);
        MC_TRY(wrap_function(p, kind == '*' ? MC_F_MULTIPLY : MC_F_DIVIDE, out));
        MC_TRY(parse_function_factor(p, &(*out)->child[1]));
    }
    return MERCER_OK;
}

static mercer_status parse_function_sum(mc_parser *p, mc_function **out) {
    MC_TRY(parse_function_product(p, out));
    for (int kind = p->lexer.token.kind; kind == '+' || kind == '-'; kind = p->lexer.token.kind) {
        mc_lex_next(&p->lexer);
        MC_TRY(wrap_function(p, kind == '+' ? MC_F_ADD : MC_F_SUBTRACT, out));
        MC_TRY(parse_function_product(p, &(*out)->child[1]));
    }
    return MERCER_OK;
}

mercer_status mc_parse_function(mc_parser *p, mc_function **out) {
    p->parts = 0;
    return parse_function_sum(p, out);
}
