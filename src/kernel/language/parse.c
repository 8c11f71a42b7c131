/* parse.c: tokens to a tree, by recursive descent.

     sum      = product (('+' | '-') product)*               a - b is a + (-1)*b
     product  = factor ('*' factor | '/' number)*            k/3 is k*3^-1, without rounding
     factor   = ('-' | '+')* power                           -k^2 is -(k^2)
     power    = view ('^' signed number)?
     view     = primary ('[' columns ']')?
     primary  = number | '(' sum ')' | atom ('(' arguments ')')? | constant ('(' number ')')?
              | 'user' '(' string ')' | 'series' '(' (sum ',')? quotient (',' quotient)* ')'
              | 'series' '(' string ',' (sum ',')? 'terms' '=' number ')'
              | 'geometric' '(' sum ')' | 'binomial' '(' sum ',' number ')'
              | series '(' sum ')'                          a row of power_series.h
              | 'exp' '(' sum ')' | 'normalize' '(' sum ')' | 'weigh' '(' function ',' sum ')' | 'form' '(' matrix ')'
              | ('anova' | 'additive') '(' sum (',' 'order' '=' number)? ')' '[' columns ']' | 'blended' arguments

   Nesting is limited, so that no text can exhaust the stack here or in anything that walks the tree afterwards. */
#include "kernel/language/parse.h"
#include "kernel/evaluate/power_series.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/evaluate/word_weights.h"
#include "base/status.h"
#include "kernel/language/atoms.h"
#include "kernel/language/node.h"
#include <math.h>
#include <string.h>

mercer_status mc_parse_deeper(mc_parser *p) {
    const int64_t offset = p->lexer.token.offset;
    if (p->depth == MC_DEPTH_MAX)
        return mc_lex_fail(&p->lexer, offset, "nested more than %d deep", MC_DEPTH_MAX);
    p->depth++;
    return MERCER_OK;
}

mercer_status mc_parse_number(mc_parser *p, double *out) {
    const bool minus = mc_lex_take(&p->lexer, '-');
    if (!minus)
        mc_lex_take(&p->lexer, '+');
    *out = minus ? -p->lexer.token.number : p->lexer.token.number;
    return mc_lex_expect(&p->lexer, MC_TOKEN_NUMBER, "a number");
}

static mercer_status in_parentheses(mc_parser *p, mc_node **out) {
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'('"));
    MC_TRY(mc_parse_sum(p, out));
    return mc_lex_expect(&p->lexer, ')', "an operator or ')'");
}

static mercer_status parse_constant(mc_parser *p, mc_node **out) {
    MC_TRY(mc_node_make_number(p->lexer.ctx, 1, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    if (!mc_lex_take(&p->lexer, '('))
        return MERCER_OK;
    if (mc_lex_name_is(&p->lexer, "c")) {
        mc_lex_next(&p->lexer);
        MC_TRY(mc_lex_expect(&p->lexer, '=', "'='"));
    }
    MC_TRY(mc_parse_number(p, &(*out)->number));
    return mc_lex_expect(&p->lexer, ')', "')'");
}

static mercer_status parse_inside(mc_parser *p, mc_kind kind, mc_node **out) {
    MC_TRY(mc_node_make(p->lexer.ctx, kind, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    MC_TRY(mc_node_add(p->lexer.ctx, *out, NULL));
    return in_parentheses(p, &(*out)->child[0]);
}

static mercer_status parse_exp(mc_parser *p, mc_node **out) {
    return parse_inside(p, MC_EXP, out);
}

static mercer_status parse_normalize(mc_parser *p, mc_node **out) {
    return parse_inside(p, MC_NORMALIZE, out);
}

static mercer_status parse_function_of(mc_parser *p, mc_series series, mc_node **out) {
    MC_TRY(parse_inside(p, MC_SERIES, out));
    (*out)->series = series;
    return MERCER_OK;
}

static mercer_status parse_weigh(mc_parser *p, mc_node **out) {
    MC_TRY(mc_node_make(p->lexer.ctx, MC_WEIGH, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    MC_TRY(mc_node_add(p->lexer.ctx, *out, NULL));
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'('"));
    MC_TRY(mc_parse_function(p, &(*out)->function));
    MC_TRY(mc_lex_expect(&p->lexer, ',', "an operator or ','"));
    MC_TRY(mc_parse_sum(p, &(*out)->child[0]));
    return mc_lex_expect(&p->lexer, ')', "an operator or ')'");
}

static mercer_status parse_form(mc_parser *p, mc_node **out) {
    MC_TRY(mc_node_make_atom(p->lexer.ctx, MC_FORM, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'('"));
    MC_TRY(mc_parse_matrix(p, *out));
    return mc_lex_expect(&p->lexer, ')', "')'");
}

static mercer_status parse_gibbs(mc_parser *p, mc_node **out) {
    MC_TRY(mc_node_make_atom(p->lexer.ctx, MC_GIBBS, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'(' and the length scale, a function of the row as in weigh"));
    MC_TRY(mc_parse_function(p, &(*out)->function));
    return mc_lex_expect(&p->lexer, ')', "an operator or ')'");
}

static const mercer_user_kernel *find_user(const mc_parser *p, const char *name) {
    for (int i = 0; i < p->users.count; i++)
        if (strcmp(mc_users_at(p->users, i)->name, name) == 0)
            return mc_users_at(p->users, i);
    return NULL;
}

static mercer_status parse_user(mc_parser *p, mc_node **out) {
    MC_TRY(mc_node_make_atom(p->lexer.ctx, MC_USER, p->lexer.token.offset, out));
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '(', "'('"));
    const int64_t offset = p->lexer.token.offset;
    mc_value *value = &(*out)->parameter[0];
    value->kind = MC_VALUE_USER;
    if (p->lexer.token.kind != MC_TOKEN_STRING)
        return mc_lex_unexpected(&p->lexer, "the name of a function in quotes");
    MC_TRY(mc_lex_string(&p->lexer, &value->file));
    const mercer_user_kernel *user = find_user(p, value->file);
    if (!user)
        return mc_lex_fail(&p->lexer, offset, "there is no function '%.80s' here: a program gives it with %s",
                           value->file, "mercer_kernel_parse_with, or mercer_model_load_with for a model");
    MC_TRY(mc_user_make(p->lexer.ctx, user, &p->made, &value->user));
    return mc_lex_expect(&p->lexer, ')', "')'");
}

static mercer_status parse_atom(mc_parser *p, mc_atom atom, mc_node **out) {
    const mc_token name = p->lexer.token;
    bool given[MC_PARAMETERS_MAX] = {false};
    MC_TRY(mc_node_make_atom(p->lexer.ctx, atom, name.offset, out));
    mc_atom_preset(*out, p->lexer.text + name.offset, (size_t)name.length, given);
    mc_lex_next(&p->lexer);
    MC_TRY(mc_parse_arguments(p, *out, given));
    const char *fault = mc_text_parameters_fault(*out);
    return fault ? mc_lex_fail(&p->lexer, name.offset, "%s: %s", mc_atoms[atom].name, fault) : MERCER_OK;
}

static const struct {
    const char *name;
    mercer_status (*parse)(mc_parser *, mc_node **);
} words[] = {{"exp", parse_exp},
             {"normalize", parse_normalize},
             {"weigh", parse_weigh},
             {"form", parse_form},
             {"gibbs", parse_gibbs},
             {"user", parse_user},
             {"constant", parse_constant},
             {"anova", mc_parse_anova},
             {"additive", mc_parse_additive},
             {"blended", mc_parse_blended},
             {"tfidf", mc_parse_tfidf},
             {"mean_map", mc_parse_mean_map},
             {"series", mc_parse_series},
             {"geometric", mc_parse_geometric},
             {"binomial", mc_parse_binomial}};
enum { WORDS = sizeof words / sizeof words[0] };

static mercer_status unknown_name(mc_parser *p) {
    const char *known[WORDS + 2 * MC_ATOM_COUNT + 2 * MC_SERIES_COUNT];
    int count = 0;
    for (int i = 0; i < WORDS; i++)
        known[count++] = words[i].name;
    for (int i = 0; i < MC_ATOM_COUNT; i++) {
        known[count++] = mc_atoms[i].name;
        if (mc_atoms[i].alias)
            known[count++] = mc_atoms[i].alias;
    }
    for (int i = 0; i < MC_SERIES_COUNT; i++) {
        known[count++] = mc_series_rows[i].name;
        if (mc_series_rows[i].alias)
            known[count++] = mc_series_rows[i].alias;
    }
    return mc_lex_unknown(&p->lexer, "there is no kernel", known, count, "");
}

static mercer_status parse_name(mc_parser *p, mc_node **out) {
    for (int i = 0; i < WORDS; i++)
        if (mc_lex_name_is(&p->lexer, words[i].name))
            return words[i].parse(p, out);
    for (int i = 0; i < MC_SERIES_COUNT; i++)
        if (mc_lex_name_is(&p->lexer, mc_series_rows[i].name)
            || (mc_series_rows[i].alias && mc_lex_name_is(&p->lexer, mc_series_rows[i].alias)))
            return parse_function_of(p, (mc_series)i, out);
    const int atom = mc_atom_find(p->lexer.text + p->lexer.token.offset, (size_t)p->lexer.token.length);
    return atom < 0 ? unknown_name(p) : parse_atom(p, (mc_atom)atom, out);
}

static mercer_status parse_primary(mc_parser *p, mc_node **out) {
    const mc_token t = p->lexer.token;
    if (t.kind == MC_TOKEN_NAME)
        return parse_name(p, out);
    if (t.kind == '(')
        return in_parentheses(p, out);
    if (t.kind != MC_TOKEN_NUMBER)
        return mc_lex_unexpected(&p->lexer, "a kernel, a number or '('");
    mc_lex_next(&p->lexer);
    return mc_node_make_number(p->lexer.ctx, t.number, t.offset, out);
}

static mercer_status parse_view(mc_parser *p, mc_node **out) {
    MC_TRY(parse_primary(p, out));
    const int64_t offset = p->lexer.token.offset;
    if (!mc_lex_take(&p->lexer, '['))
        return MERCER_OK;
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_COLUMNS, offset, out));
    MC_TRY(mc_parse_columns(p, *out));
    return mc_parse_text(p, out);
}

static mercer_status parse_power(mc_parser *p, mc_node **out) {
    MC_TRY(parse_view(p, out));
    const int64_t offset = p->lexer.token.offset;
    if (!mc_lex_take(&p->lexer, '^'))
        return MERCER_OK;
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_POWER, offset, out));
    return mc_parse_number(p, &(*out)->number);
}

/* -3 is the number -3; any other -k is the product (-1)*k. */
static mercer_status negate_node(mercer_ctx *ctx, int64_t offset, mc_node **io) {
    if ((*io)->kind == MC_NUMBER) {
        (*io)->number = -(*io)->number;
        return MERCER_OK;
    }
    MC_TRY(mc_node_wrap(ctx, MC_PRODUCT, offset, io));
    mc_node *negated = (*io)->child[0];
    (*io)->child[0] = NULL;
    MC_TRY(mc_node_add(ctx, *io, negated));
    return mc_node_make_number(ctx, -1, offset, &(*io)->child[0]);
}

static mercer_status parse_factor(mc_parser *p, mc_node **out) {
    const int64_t offset = p->lexer.token.offset;
    bool minus = false;
    for (int kind = p->lexer.token.kind; kind == '-' || kind == '+'; kind = p->lexer.token.kind) {
        minus ^= kind == '-';
        mc_lex_next(&p->lexer);
    }
    MC_TRY(parse_power(p, out));
    return minus ? negate_node(p->lexer.ctx, offset, out) : MERCER_OK;
}

static mercer_status too_many(mc_parser *p, const char *what) {
    const int64_t offset = p->lexer.token.offset;
    return mc_lex_fail(&p->lexer, offset, "more than %d %s in a row", MC_CHILDREN_MAX, what);
}

static mercer_status parse_product(mc_parser *p, mc_node **out) {
    MC_TRY(parse_factor(p, out));
    int kind = p->lexer.token.kind;
    if (kind != '*' && kind != '/')
        return MERCER_OK;
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_PRODUCT, p->lexer.token.offset, out));
    for (; kind == '*' || kind == '/'; kind = p->lexer.token.kind) {
        mc_node *node = *out;
        if (node->children == MC_CHILDREN_MAX)
            return too_many(p, "factors");
        mc_lex_next(&p->lexer);
        MC_TRY(mc_node_add(p->lexer.ctx, node, NULL));
        MC_TRY((kind == '*' ? parse_factor : mc_parse_divisor)(p, &node->child[node->children - 1]));
    }
    return MERCER_OK;
}

static mercer_status parse_terms(mc_parser *p, mc_node **out) {
    MC_TRY(parse_product(p, out));
    mc_token t = p->lexer.token;
    if (t.kind != '+' && t.kind != '-')
        return MERCER_OK;
    MC_TRY(mc_node_wrap(p->lexer.ctx, MC_SUM, t.offset, out));
    for (; t.kind == '+' || t.kind == '-'; t = p->lexer.token) {
        mc_node *node = *out;
        if (node->children == MC_CHILDREN_MAX)
            return too_many(p, "terms");
        mc_lex_next(&p->lexer);
        MC_TRY(mc_node_add(p->lexer.ctx, node, NULL));
        mc_node **last = &node->child[node->children - 1];
        MC_TRY(parse_product(p, last));
        if (t.kind == '-')
            MC_TRY(negate_node(p->lexer.ctx, t.offset, last));
    }
    return MERCER_OK;
}

mercer_status mc_parse_sum(mc_parser *p, mc_node **out) {
    MC_TRY(mc_parse_deeper(p));
    MC_TRY(parse_terms(p, out));
    p->depth--;
    return MERCER_OK;
}

mercer_status mc_parse_expression(mercer_ctx *ctx, const char *text, mc_users users, mc_node **out) {
    *out = NULL;
    mc_parser p = {.users = users};
    mc_lex_open(&p.lexer, ctx, text);
    mercer_status status = mc_parse_sum(&p, out);
    MC_THEN(status, mc_lex_expect(&p.lexer, MC_TOKEN_END, "an operator or the end"));
    if (status) {
        mc_node_free(*out);
        *out = NULL;
    }
    return status;
}
