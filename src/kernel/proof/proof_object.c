/* proof_object.c: the whole proof as JSON, for programs that want to check it without Mercer: every line with the tree
   of its term, its rule and its premises; of a refutation the points and weights. docs/proofs.md describes the format,
   tools/check_proof.py reads it. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/evaluate/power_series.h"
#include "kernel/language/atoms.h"
#include "kernel/language/function.h"
#include "kernel/language/user_function.h"
#include "kernel/proof/proof.h"
#include "kernel/proof/rules.h"

typedef struct object_writer {
    mc_text *out;
    const mc_node *root; /* whose ranges are numbered */
} object_writer;

/* One name each: several share the id that people read. */
static const char *const rule_names[MC_RULE_COUNT] = {
    [MC_RULE_CONSTANT] = "constant",
    [MC_RULE_WHITE] = "white",
    [MC_RULE_LINEAR] = "linear",
    [MC_RULE_DOT] = "dot",
    [MC_RULE_FORM] = "form",
    [MC_RULE_INTERSECTION] = "intersection",
    [MC_RULE_ARCCOS] = "arccos",
    [MC_RULE_HARMONIC] = "harmonic",
    [MC_RULE_TANH] = "tanh",
    [MC_RULE_PRECOMPUTED] = "precomputed",
    [MC_RULE_USER] = "user",
    [MC_RULE_SPECTRUM] = "spectrum",
    [MC_RULE_TANIMOTO] = "tanimoto",
    [MC_RULE_ADDITIVE_CHI2] = "additive_chi2",
    [MC_RULE_WENDLAND] = "wendland",
    [MC_RULE_SINC] = "sinc",
    [MC_RULE_BROWNIAN] = "brownian",
    [MC_RULE_SPLINE] = "spline",
    [MC_RULE_GIBBS] = "gibbs",
    [MC_RULE_RBF_FORM] = "rbf_form",
    [MC_RULE_SUM] = "sum",
    [MC_RULE_PRODUCT] = "product",
    [MC_RULE_POWER] = "power",
    [MC_RULE_EXP] = "exp",
    [MC_RULE_POWER_SERIES] = "power_series",
    [MC_RULE_NORMALIZE] = "normalize",
    [MC_RULE_WEIGH] = "weigh",
    [MC_RULE_COLUMNS] = "columns",
    [MC_RULE_POLY] = "poly",
    [MC_RULE_RBF] = "rbf",
    [MC_RULE_COSINE] = "cosine",
    [MC_RULE_SCHOENBERG] = "schoenberg",
    [MC_RULE_MONOTONE] = "monotone",
    [MC_RULE_SQUARE] = "square",
    [MC_RULE_ROOT] = "root",
    [MC_RULE_COLUMN_SUM] = "column_sum",
    [MC_RULE_CHI2] = "chi2",
    [MC_RULE_LOG] = "log",
    [MC_RULE_POWERS_ATOM] = "powers_atom",
    [MC_RULE_POWERS_CONSTANT] = "powers_constant",
    [MC_RULE_POWERS_WHITE] = "powers_white",
    [MC_RULE_POWERS_MINIMUM] = "powers_minimum",
    [MC_RULE_POWERS_PRODUCT] = "powers_product",
    [MC_RULE_POWERS_POWER] = "powers_power",
    [MC_RULE_POWERS_EXP] = "powers_exp",
    [MC_RULE_POWERS_WEIGH] = "powers_weigh",
    [MC_RULE_POWERS_COLUMNS] = "powers_columns",
    [MC_RULE_POWERS_NORMALIZE] = "powers_normalize",
    [MC_RULE_REAL_POWER] = "real_power",
    [MC_RULE_COLLECT] = "collect",
    [MC_RULE_SERIES] = "series",
    [MC_RULE_GAUSSIANS] = "gaussians",
    [MC_RULE_EXP_SHIFT] = "exp_shift",
    [MC_RULE_INVERSE] = "inverse",
    [MC_RULE_REST] = "rest",
    [MC_RULE_SIGN_MEAN] = "sign_mean",
    [MC_RULE_UNFOLD] = "unfold",
    [MC_RULE_UNFOLD_SERIES] = "unfold_series",
    [MC_RULE_COLUMN_FORMS] = "column_forms",
    [MC_RULE_SPECTRA] = "spectra",
    [MC_RULE_SPHERE] = "sphere",
    [MC_RULE_WHITE_DIAGONAL] = "white_diagonal",
    [MC_RULE_TAYLOR] = "taylor",
    [MC_RULE_REMAINDER] = "remainder",
    [MC_RULE_OUTWEIGHED] = "outweighed",
    [MC_RULE_COMMON_VIEW] = "common_view",
    [MC_RULE_TEXT_FEATURES] = "text_features",
    [MC_RULE_MEAN_MAP] = "mean_map",
    [MC_RULE_BERNSTEIN] = "bernstein",
    [MC_RULE_CENTRED] = "centred",
    [MC_RULE_CONDITIONAL_ATOM] = "conditional_atom",
    [MC_RULE_CONDITIONAL_SUM] = "conditional_sum",
    [MC_RULE_CONDITIONAL_MULTIPLE] = "conditional_multiple",
    [MC_RULE_CONDITIONAL_COLUMNS] = "conditional_columns",
    [MC_RULE_CONDITIONAL_BERNSTEIN] = "conditional_bernstein",
    [MC_RULE_INVERSE_CONDITIONAL] = "inverse_conditional",
    [MC_RULE_POWERS_INVERSE] = "powers_inverse",
    [MC_RULE_CONDITIONED] = "conditioned",
    [MC_RULE_THIN_PLATE] = "thin_plate",
    [MC_RULE_CONDITIONAL_2_SUM] = "conditional_2_sum",
    [MC_RULE_CONDITIONAL_2_MULTIPLE] = "conditional_2_multiple",
    [MC_RULE_CONDITIONAL_2_COLUMNS] = "conditional_2_columns",
    [MC_RULE_EXP_CONDITIONAL] = "exp_conditional",
    [MC_RULE_POWERS_EXP_CONDITIONAL] = "powers_exp_conditional",
};

static const char *const special_names[] = {
    [MC_COLUMN_SQUARE] = "column_square",
    [MC_COLUMN_DISTANCE] = "column_distance",
    [MC_SCALED_SQUARE] = "scaled_square",
    [MC_SCALED_DISTANCE] = "scaled_distance",
    [MC_SUM_DISTANCE] = "sum_distance",
    [MC_CIRCLE_SQUARE] = "circle_square",
    [MC_HARMONIC] = "harmonic",
    [MC_CHI2_DISTANCE] = "chi2_distance",
    [MC_RQ_LOG] = "rq_log",
    [MC_MATERN_LOG] = "matern_log",
    [MC_REST_DOT] = "rest_dot",
    [MC_MINUS_NORMS] = "minus_norms",
    [MC_DISTANCE_SQUARE] = "distance_square",
    [MC_DISTANCE_PSI] = "distance_psi",
    [MC_SIGN_MEAN] = "sign_mean",
};
enum { SPECIAL_NAMES = sizeof special_names / sizeof special_names[0] };

static const char *const operation_names[] = {
    [MC_T_SUM] = "sum",         [MC_T_PRODUCT] = "product",     [MC_T_POWER] = "power",
    [MC_T_EXP] = "exp",         [MC_T_NORMALIZE] = "normalize", [MC_T_WEIGH] = "weigh",
    [MC_T_COLUMNS] = "columns",
};

static const char *const judgement_names[] = {[MC_IS_KERNEL] = "kernel",
                                              [MC_IS_CND] = "negative",
                                              [MC_ALL_POWERS] = "powers",
                                              [MC_IS_CONDITIONAL] = "conditional",
                                              [MC_IS_CONDITIONAL_2] = "conditional 2"};

/* ---- values ---- */

static bool is_for_tune(const mc_value *value) {
    return value->kind == MC_VALUE_RANGE || value->kind == MC_VALUE_SET;
}

/* The place of a range among those of the tree, from 1: two ranges with the same ends are two parameters. *seen counts
   those before. */
static bool find_range(const mc_node *node, const mc_value *value, int *seen) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++) {
        *seen += is_for_tune(&node->parameter[i]);
        if (&node->parameter[i] == value)
            return true;
    }
    for (int i = 0; i < node->children; i++)
        if (find_range(node->child[i], value, seen))
            return true;
    return false;
}

static void write_numbers(object_writer *w, const double *numbers, int64_t count) {
    mc_text_add(w->out, "[");
    for (int64_t i = 0; i < count; i++) {
        mc_text_add(w->out, "%s", i ? "," : "");
        mc_text_number(w->out, numbers[i]);
    }
    mc_text_add(w->out, "]");
}

static void write_rows(object_writer *w, const double *numbers, int64_t rows, int64_t columns) {
    mc_text_add(w->out, "[");
    for (int64_t i = 0; i < rows; i++) {
        mc_text_add(w->out, "%s", i ? "," : "");
        write_numbers(w, numbers + i * columns, columns);
    }
    mc_text_add(w->out, "]");
}

static void write_named(object_writer *w, const char *key, const char *text) {
    mc_text_add(w->out, "{\"%s\":", key);
    mc_text_quoted(w->out, text);
    mc_text_add(w->out, "}");
}

static void write_range(object_writer *w, const mc_value *value) {
    int place = 0;
    find_range(w->root, value, &place);
    mc_text_add(w->out, "{\"parameter\":%d,\"%s\":", place, value->kind == MC_VALUE_SET ? "set" : "range");
    if (value->kind == MC_VALUE_SET)
        write_numbers(w, value->numbers, value->columns);
    else
        write_numbers(w, (const double[]){value->low, value->high}, 2);
    mc_text_add(w->out, "}");
}

static void write_value(object_writer *w, const mc_value *value, const char *name) {
    switch (value->kind) {
    case MC_VALUE_AUTO: write_named(w, "auto", name); break;
    case MC_VALUE_NUMBER: mc_text_number(w->out, value->number); break;
    case MC_VALUE_VECTOR: write_numbers(w, value->numbers, value->columns); break;
    case MC_VALUE_MATRIX: write_rows(w, value->numbers, value->rows, value->columns); break;
    case MC_VALUE_FILE: write_named(w, "file", value->file); break;
    case MC_VALUE_USER: write_named(w, "user", value->file); break;
    case MC_VALUE_WORDS: write_named(w, "words", value->file); break;
    case MC_VALUE_TEXT: write_named(w, "text", value->file); break;
    case MC_VALUE_RANGE:
    case MC_VALUE_SET: write_range(w, value); break;
    }
}

static void write_amount(object_writer *w, mc_amount amount) {
    if (!amount.value) {
        mc_text_number(w->out, amount.factor);
        return;
    }
    mc_text_add(w->out, "{\"factor\":");
    mc_text_number(w->out, amount.factor);
    mc_text_add(w->out, ",\"times\":");
    write_value(w, amount.value, amount.name);
    mc_text_add(w->out, "}");
}

/* ---- terms ---- */

static void write_function(object_writer *w, const mc_function *f) {
    static const char *const operators[MC_F_KINDS] = {
        [MC_F_NEGATE] = "negate",     [MC_F_ADD] = "add",       [MC_F_SUBTRACT] = "subtract",
        [MC_F_MULTIPLY] = "multiply", [MC_F_DIVIDE] = "divide", [MC_F_POWER] = "power"};
    if (f->kind == MC_F_NUMBER) {
        mc_text_number(w->out, f->number);
        return;
    }
    if (f->kind == MC_F_COLUMN) {
        mc_text_add(w->out, "{\"column\":%lld}", (long long)f->column + 1);
        return;
    }
    mc_text_add(w->out, "{\"function\":\"%s\"", operators[f->kind] ? operators[f->kind] : mc_function_names[f->kind]);
    for (int i = 0; i < 2 && f->child[i]; i++) {
        mc_text_add(w->out, i ? "," : ",\"of\":[");
        write_function(w, f->child[i]);
    }
    mc_text_add(w->out, "%s}", f->child[0] ? "]" : "");
}

static void write_term(object_writer *w, const mc_term *term);

/* mean_map's kernel. */
static void write_inside(object_writer *w, const mc_node *node) {
    mc_pool pool = mc_pool_open(w->out->ctx);
    const mc_term *term = mc_term_from(&pool, node);
    mc_text_add(w->out, ",\"of\":[");
    if (term)
        write_term(w, term);
    mc_text_add(w->out, "]");
    mc_pool_close(&pool);
}

static void write_atom(object_writer *w, const mc_node *atom) {
    const mc_atom_row *row = &mc_atoms[atom->atom];
    mc_text_add(w->out, "{\"atom\":\"%s\"", row->name);
    for (int i = 0; i < MC_PARAMETERS_MAX; i++) {
        const bool text = atom->parameter[i].kind == MC_VALUE_TEXT;
        if (i >= row->parameters && !text)
            continue;
        mc_text_add(w->out, ",\"%s\":", text ? "text" : row->parameter[i].name);
        write_value(w, &atom->parameter[i], row->parameter[i].name);
    }
    if (atom->function) {
        mc_text_add(w->out, ",\"function\":");
        write_function(w, atom->function);
    }
    if (atom->children)
        write_inside(w, atom->child[0]);
    mc_text_add(w->out, "}");
}

/* Numbers from 1, names where that is all that is known. */
static void write_columns(object_writer *w, const mc_node *view) {
    mc_text_add(w->out, ",\"columns\":[");
    for (int64_t i = 0; i < view->columns; i++) {
        mc_text_add(w->out, "%s", i ? "," : "");
        if (view->column[i] >= 0)
            mc_text_add(w->out, "%lld", (long long)view->column[i] + 1);
        else
            mc_text_quoted(w->out, view->column_name[i]);
    }
    mc_text_add(w->out, "]");
}

static void write_special(object_writer *w, const mc_term *term) {
    if ((int)term->special < SPECIAL_NAMES)
        mc_text_add(w->out, "{\"special\":\"%s\"", special_names[term->special]);
    else
        mc_text_add(w->out, "{\"special\":\"%d\"", (int)term->special);
    if (term->node) {
        mc_text_add(w->out, ",\"of\":");
        write_atom(w, term->node);
    }
    if (term->special == MC_REST_DOT || term->special == MC_MINUS_NORMS) {
        mc_text_add(w->out, ",\"amount\":");
        write_amount(w, term->amount);
    }
    mc_text_add(w->out, "}");
}

/* What an operation has beside its children. */
static void write_details(object_writer *w, const mc_term *term) {
    if (term->kind == MC_T_POWER) {
        mc_text_add(w->out, ",\"exponent\":");
        mc_text_number(w->out, term->amount.factor);
    } else if (term->kind == MC_T_COLUMNS)
        write_columns(w, term->node);
    else if (term->kind == MC_T_WEIGH && term->node) {
        mc_text_add(w->out, ",\"function\":");
        write_function(w, term->node->function);
    } else if (term->kind == MC_T_WEIGH) {
        mc_text_add(w->out, ",\"gaussian\":");
        write_amount(w, term->amount);
    }
}

static void write_operation(object_writer *w, const mc_term *term) {
    mc_text_add(w->out, "{\"op\":\"%s\"",
                term->kind == MC_T_SERIES ? mc_series_rows[term->node->series].name : operation_names[term->kind]);
    write_details(w, term);
    mc_text_add(w->out, ",\"of\":[");
    for (int i = 0; i < term->children; i++) {
        mc_text_add(w->out, "%s", i ? "," : "");
        write_term(w, term->child[i]);
    }
    mc_text_add(w->out, "]}");
}

static void write_term(object_writer *w, const mc_term *term) {
    switch (term->kind) {
    case MC_T_NUMBER: write_amount(w, term->amount); break;
    case MC_T_ATOM: write_atom(w, term->node); break;
    case MC_T_DOT:
        mc_text_add(w->out, "{\"dot\":");
        write_amount(w, term->amount);
        mc_text_add(w->out, "}");
        break;
    case MC_T_SPECIAL: write_special(w, term); break;
    case MC_T_REMAINDER:
        mc_text_add(w->out, "{\"remainder\":");
        write_term(w, term->child[0]);
        mc_text_add(w->out, ",\"order\":%d,\"at\":", term->order);
        write_amount(w, term->amount);
        mc_text_add(w->out, "}");
        break;
    default: write_operation(w, term);
    }
}

static mercer_status write_tree(mercer_ctx *ctx, object_writer *w, const mc_node *root) {
    mc_pool pool = mc_pool_open(ctx);
    const mc_term *term = mc_term_from(&pool, root);
    w->root = root;
    if (term)
        write_term(w, term);
    mc_pool_close(&pool);
    return term ? MERCER_OK : MERCER_MEMORY;
}

/* ---- the parts of a proof ---- */

static void write_step(object_writer *w, const mc_proof_line *line) {
    const char *name = rule_names[line->rule];
    mc_text_add(w->out, "{\"states\":\"%s\",\"columns\":%lld,\"rule\":\"%s\",\"id\":\"%s\",\"premises\":[",
                judgement_names[line->judgement], (long long)line->d, name ? name : mc_rule_id(line), mc_rule_id(line));
    for (int i = 0; i < line->premises; i++)
        mc_text_add(w->out, "%s%d", i ? "," : "", line->premise[i] + 1);
    mc_text_add(w->out, "],\"term\":");
    write_term(w, line->term);
    mc_text_add(w->out, "}");
}

static void write_steps(object_writer *w, const mc_derivation *derivation) {
    mc_text_add(w->out, ",\n\"steps\":[");
    for (int i = 0; i < derivation->count; i++) {
        mc_text_add(w->out, "%s\n", i ? "," : "");
        write_step(w, &derivation->line[i]);
    }
    mc_text_add(w->out, "]");
}

static void write_points(object_writer *w, const mc_witness *of) {
    mc_text_add(w->out, "[");
    for (int64_t i = 0; i < of->count; i++) {
        mc_text_add(w->out, "%s", i ? "," : "");
        write_numbers(w, of->points + i * (of->d + of->texts), of->d);
    }
    mc_text_add(w->out, "]");
}

/* "texts": {"name": ["of the first point", ...]} */
static void write_texts(object_writer *w, const mc_refutation *refutation) {
    const mc_witness *of = &refutation->witness;
    mc_text_add(w->out, ",\n\"texts\":{");
    for (int64_t t = 0; t < of->texts; t++) {
        mc_text_add(w->out, "%s", t ? "," : "");
        mc_text_quoted(w->out, refutation->text_column[t]);
        for (int64_t i = 0; i < of->count; i++) {
            mc_text_add(w->out, i ? "," : ":[");
            mc_text_quoted(w->out, mc_row_text(of->points + i * (of->d + of->texts), of->d + t));
        }
        mc_text_add(w->out, "]");
    }
    mc_text_add(w->out, "}");
}

static mercer_status write_witness(mercer_ctx *ctx, object_writer *w, const mc_refutation *refutation) {
    const mc_witness *of = &refutation->witness;
    mc_text_add(w->out, ",\n\"witness\":{\"expression\":");
    MC_TRY(write_tree(ctx, w, refutation->instance));
    mc_text_add(w->out, ",\n\"points\":");
    write_points(w, of);
    if (of->texts > 0)
        write_texts(w, refutation);
    mc_text_add(w->out, ",\n\"weights\":");
    write_numbers(w, of->weights, of->count);
    mc_text_field(w->out, "value", of->value);
    mc_text_field(w->out, "bound", of->bound);
    mc_text_add(w->out, "}");
    return MERCER_OK;
}

static mercer_status write_frequency(mercer_ctx *ctx, object_writer *w, const mc_refutation *refutation) {
    const mc_negative_frequency *of = &refutation->frequency;
    mc_text_add(w->out, ",\n\"frequency\":{\"expression\":");
    MC_TRY(write_tree(ctx, w, refutation->instance));
    mc_text_add(w->out, ",\n\"columns\":%lld,\"mean\":%s,\"at\":[", (long long)of->d, of->mean ? "true" : "false");
    for (int64_t j = 0; j < of->d; j++) {
        mc_text_add(w->out, "%s", j ? "," : "");
        mc_text_number(w->out, j == 0 || of->in_all ? of->size : 0);
    }
    mc_text_add(w->out, "]");
    mc_text_field(w->out, "value", of->value);
    mc_text_field(w->out, "bound", of->bound);
    mc_text_add(w->out, "}");
    return MERCER_OK;
}

static mercer_status write_coefficient(mercer_ctx *ctx, object_writer *w, const mc_refutation *refutation) {
    const mc_negative_frequency *of = &refutation->frequency;
    mc_text_add(w->out, ",\n\"coefficient\":{\"expression\":");
    MC_TRY(write_tree(ctx, w, refutation->instance));
    mc_text_add(w->out, ",\n\"columns\":%lld,\"series\":\"%s\",\"order\":%d", (long long)of->d,
                mc_series_names[of->series], of->order);
    mc_text_field(w->out, "value", of->value);
    mc_text_field(w->out, "bound", of->bound);
    mc_text_add(w->out, "}");
    return MERCER_OK;
}

static mercer_status write_refutation(mercer_ctx *ctx, object_writer *w, const mc_refutation *refutation) {
    if (!refutation->frequency.found)
        return write_witness(ctx, w, refutation);
    return (refutation->frequency.series ? write_coefficient : write_frequency)(ctx, w, refutation);
}

mercer_status mc_proof_object(mercer_ctx *ctx, mercer_verdict verdict, const mc_proof_findings *f, mc_text *out) {
    static const char *const names[] = {
        [MERCER_PROVED] = "proved", [MERCER_REFUTED] = "refuted", [MERCER_UNKNOWN] = "unknown"};
    const mc_node *root = mc_kernel_shown(f->kernel);
    object_writer w = {.out = out};
    mc_text_add(out,
                "{\"format\":\"mercer-proof 1\",\n\"verdict\":\"%s\",\n\"columns\":%lld,\n\"text\":", names[verdict],
                (long long)f->d);
    mc_text_quoted(out, f->kernel->text);
    mc_text_add(out, ",\n\"expression\":");
    MC_TRY(write_tree(ctx, &w, root));
    if (verdict == MERCER_PROVED)
        write_steps(&w, &f->derivation);
    if (verdict == MERCER_REFUTED)
        MC_TRY(write_refutation(ctx, &w, &f->refutation));
    mc_text_add(out, "}\n");
    return MERCER_OK;
}
