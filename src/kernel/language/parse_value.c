/* parse_value.c: what stands in the parentheses of an atom.

     arguments  = '(' (value? (',' name '=' value)*)? ')'      only the first may come without its name
     value      = number | number '..' number | '[' number, ... ']' | '{' number, ... '}'

   Values are checked against the row of their parameter as they are read, so that the message can point at them. */
#include "base/settings.h"
#include "base/status.h"
#include "base/print.h"
#include "kernel/language/atoms.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include <math.h>
#include <string.h>

static const mc_parameter_row *row_of(const mc_measure *m) {
    return &mc_atoms[m->atom].parameter[m->parameter];
}

static mercer_status fail_range(mc_parser *p, const mc_measure *m, int64_t offset, double seen) {
    char range[96], text[32];
    mc_parameter_range(row_of(m), seen, range, sizeof range);
    const char *atom = mc_atoms[m->atom].name;
    if (m->other && seen > 0)
        return mc_lex_fail(&p->lexer, offset, "%s's %s of %g makes its %s %g, beyond the doubles", atom, m->name, seen,
                           row_of(m)->name, m->convert(seen));
    return mc_lex_fail(&p->lexer, offset, "%s's %s must be %s, got %s", atom, m->name, range,
                       mc_seen_text(seen, row_of(m)->low, row_of(m)->high, text));
}

static mercer_status checked_number(mc_parser *p, const mc_measure *m, double *out) {
    const int64_t offset = p->lexer.token.offset;
    double seen;
    MC_TRY(mc_parse_number(p, &seen));
    *out = m->convert(seen);
    return mc_parameter_allows(row_of(m), *out) ? MERCER_OK : fail_range(p, m, offset, seen);
}

static mercer_status parse_number_list(mc_parser *p, const mc_measure *m, mc_value *value, int close,
                                       const char *expected) {
    mc_lex_next(&p->lexer);
    do {
        double number;
        MC_TRY(checked_number(p, m, &number));
        MC_TRY(mc_value_add(p->lexer.ctx, value, number));
    } while (mc_lex_take(&p->lexer, ','));
    return mc_lex_expect(&p->lexer, close, expected);
}

static mercer_status parse_vector(mc_parser *p, const mc_measure *m, mc_value *value) {
    if (!row_of(m)->vector)
        return mc_lex_fail(&p->lexer, value->offset, "%s's %s takes one number, not one per column",
                           mc_atoms[m->atom].name, m->name);
    value->kind = MC_VALUE_VECTOR;
    return parse_number_list(p, m, value, ']', "',' or ']'");
}

/* The second end; a range of another measure runs the other way once converted. */
static mercer_status parse_range_end(mc_parser *p, const mc_measure *m, mc_value *value) {
    const int64_t offset = p->lexer.token.offset;
    const double begin = value->number;
    double end;
    MC_TRY(checked_number(p, m, &end));
    *value = (mc_value){.kind = MC_VALUE_RANGE, .number = NAN, .offset = value->offset};
    value->low = m->other ? end : begin;
    value->high = m->other ? begin : end;
    if (value->low >= value->high)
        return mc_lex_fail(&p->lexer, offset,
                           begin == end ? "the range is empty; write one number"
                                        : "the range is reversed; write its smaller number first");
    return MERCER_OK;
}

static mercer_status number_or_range(mc_parser *p, const mc_measure *m, mc_value *value) {
    value->kind = MC_VALUE_NUMBER;
    MC_TRY(checked_number(p, m, &value->number));
    return mc_lex_take(&p->lexer, MC_TOKEN_RANGE) ? parse_range_end(p, m, value) : MERCER_OK;
}

static mercer_status parse_value(mc_parser *p, const mc_measure *m, mc_value *value) {
    const int kind = p->lexer.token.kind;
    *value = (mc_value){.number = NAN, .offset = p->lexer.token.offset};
    if (kind == '[')
        return parse_vector(p, m, value);
    if (kind == '{') {
        value->kind = MC_VALUE_SET;
        return parse_number_list(p, m, value, '}', "',' or '}'");
    }
    if (kind != MC_TOKEN_NUMBER && kind != '-' && kind != '+')
        return mc_lex_unexpected(&p->lexer,
                                 row_of(m)->vector ? "a number, a range, '[' or '{'" : "a number, a range or '{'");
    return number_or_range(p, m, value);
}

static mercer_status unknown_parameter(mc_parser *p, mc_atom atom) {
    const mc_atom_row *row = &mc_atoms[atom];
    const char *known[2 * MC_PARAMETERS_MAX];
    char what[80], others[120] = "; it takes";
    int count = 0;
    for (int i = 0; i < row->parameters; i++) {
        known[count++] = row->parameter[i].name;
        if (row->parameter[i].alias)
            known[count++] = row->parameter[i].alias;
        strcat(strcat(others, i ? ", " : " "), row->parameter[i].name);
    }
    mc_print(what, sizeof what, "%s has no parameter", row->name);
    return mc_lex_unknown(&p->lexer, what, known, count, count ? others : "; it takes none");
}

static mercer_status parse_value_once(mc_parser *p, mc_node *node, const mc_measure *m, bool *given) {
    const int64_t offset = p->lexer.token.offset;
    if (given[m->parameter])
        return mc_lex_fail(&p->lexer, offset, "%s's %s is given twice", mc_atoms[m->atom].name, row_of(m)->name);
    given[m->parameter] = true;
    return parse_value(p, m, &node->parameter[m->parameter]);
}

static mercer_status parse_named_argument(mc_parser *p, mc_node *node, bool *given) {
    const mc_token t = p->lexer.token;
    if (t.kind != MC_TOKEN_NAME)
        return mc_lex_unexpected(&p->lexer, "the name of a parameter");
    const mc_measure m = mc_parameter_find(node->atom, p->lexer.text + t.offset, (size_t)t.length);
    if (m.parameter < 0)
        return unknown_parameter(p, node->atom);
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '=', "'='"));
    return parse_value_once(p, node, &m, given);
}

static mercer_status parse_first_argument(mc_parser *p, mc_node *node, bool *given) {
    if (p->lexer.token.kind == MC_TOKEN_NAME)
        return parse_named_argument(p, node, given);
    if (mc_atoms[node->atom].parameters == 0)
        return mc_lex_unexpected(&p->lexer, "')'");
    const mc_measure m = mc_parameter_itself(node->atom, 0);
    return parse_value_once(p, node, &m, given);
}

/* rbf(form=[[..],[..]]): another atom of the same name, with a matrix. */
static mercer_status parse_rbf_form(mc_parser *p, mc_node *node) {
    node->atom = MC_RBF_FORM;
    mc_lex_next(&p->lexer);
    MC_TRY(mc_lex_expect(&p->lexer, '=', "'='"));
    MC_TRY(mc_parse_matrix(p, node));
    return mc_lex_expect(&p->lexer, ')', "')': form stands alone");
}

mercer_status mc_parse_arguments(mc_parser *p, mc_node *node, bool *given) {
    if (!mc_lex_take(&p->lexer, '(') || mc_lex_take(&p->lexer, ')'))
        return MERCER_OK;
    if (node->atom == MC_RBF && mc_lex_name_is(&p->lexer, "form"))
        return parse_rbf_form(p, node);
    MC_TRY(parse_first_argument(p, node, given));
    while (mc_lex_take(&p->lexer, ','))
        MC_TRY(parse_named_argument(p, node, given));
    return mc_lex_expect(&p->lexer, ')', "',' or ')'");
}
