/* proof_domain.c: for which points an expression has a value. Atoms of counts and histograms take no negative entries;
   the functions of weigh may ask for more: a logarithm of something above 0, a quotient by something other than 0. What
   holds at every point is left out. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/evaluate/power_series.h"
#include "kernel/language/atoms.h"
#include "kernel/language/function.h"
#include "kernel/language/node.h"
#include "kernel/language/canonical_text.h"
#include "kernel/proof/proof.h"
#include <math.h>
#include <string.h>

typedef struct domain_writer {
    mercer_ctx *ctx;
    mc_text *out;
    const char *kernel; /* its text, where conditions that hold at no point are an error; NULL: they are not */
    mercer_status status;
} domain_writer;

/* Surely false, wherever f is defined. */
static bool holds_nowhere(const mc_function *f, const char *holds) {
    const mc_interval range = mc_function_range(f);
    if (strcmp(holds, "> 0") == 0)
        return range.hi <= 0;
    return strcmp(holds, ">= 0") == 0 ? range.hi < 0 : mc_iv_is_zero(&range);
}

static mercer_status fail_nowhere(domain_writer *w, const char *condition) {
    return mc_fail(w->ctx, MERCER_INVALID,
                   "%.300s has a value at no point: it needs %.200s, which never holds; change that function",
                   w->kernel, condition);
}

/* Once each, the first after "with", the others after "and". */
static void add_words(domain_writer *w, bool nowhere, mc_text *words) {
    char *condition = NULL;
    if ((w->status = mc_text_take(words, &condition)))
        return;
    if (w->kernel && nowhere)
        w->status = fail_nowhere(w, condition);
    if (!w->out->length || !strstr(w->out->bytes, condition))
        mc_text_add(w->out, "%s%s", w->out->length ? " and " : "with ", condition);
    mc_free(condition);
}

static void add_condition(domain_writer *w, const mc_function *f, const char *holds, const mc_node *view) {
    mc_text words = mc_text_open(w->ctx);
    mc_function_print(&words, f);
    mc_text_add(&words, " %s", holds);
    if (view) {
        mc_text_add(&words, " among their columns ");
        mc_columns_print(&words, view);
    }
    add_words(w, holds_nowhere(f, holds), &words);
}

/* ---- where power series converge ---- */

static bool lies_within(mc_interval range, const char *holds) {
    return strcmp(holds, "< 1") == 0 ? range.hi < 1 : range.hi <= 1;
}

/* Of a kernel the diagonal is asked alone: |k(x, z)| is at most the larger of k(x, x) and k(z, z). */
static void visit_series(domain_writer *w, const mc_node *node) {
    const char *holds = mc_series_rows[node->series].holds;
    mc_pool pool = mc_pool_open(w->ctx);
    const mc_term *term = holds && !w->status ? mc_term_from(&pool, node->child[0]) : NULL;
    const mc_interval range = term ? mc_term_diagonal_range(term) : mc_iv_everything();
    char *text = NULL;
    if (term && !lies_within(range, holds))
        w->status = mc_node_print(w->ctx, node->child[0], &text);
    if (text) {
        mc_text words = mc_text_open(w->ctx);
        mc_text_add(&words, "k(x, x) %s of k = %s", holds, text);
        add_words(w, holds[1] == '=' ? range.lo > 1 : range.lo >= 1, &words);
    }
    mc_free(text);
    w->status = w->status ? w->status : pool.status;
    mc_pool_close(&pool);
}

static bool holds_zero(mc_interval a) {
    return a.lo <= 0 && a.hi >= 0;
}

/* What base^exponent asks of the base; NULL: nothing. */
static const char *power_needs(const mc_function *base, const mc_function *exponent) {
    const mc_interval range = mc_function_range(base);
    const bool number = exponent->kind == MC_F_NUMBER, whole = number && exponent->number == floor(exponent->number);
    if (whole)
        return exponent->number < 0 && holds_zero(range) ? "not 0" : NULL;
    if (number && exponent->number > 0)
        return range.lo < 0 ? ">= 0" : NULL;
    return range.lo > 0 ? NULL : "> 0";
}

/* What f asks of one of its parts; NULL: nothing. */
static const char *condition_on_part(const mc_function *f, const mc_function **part) {
    *part = f->child[0];
    switch (f->kind) {
    case MC_F_LOG: return mc_function_range(f->child[0]).lo > 0 ? NULL : "> 0";
    case MC_F_SQRT: return mc_function_range(f->child[0]).lo >= 0 ? NULL : ">= 0";
    case MC_F_POWER: return power_needs(f->child[0], f->child[1]);
    case MC_F_DIVIDE: *part = f->child[1]; return holds_zero(mc_function_range(f->child[1])) ? "not 0" : NULL;
    default: return NULL;
    }
}

static void visit_function(domain_writer *w, const mc_function *f, const mc_node *view) {
    const mc_function *part;
    if (!f || w->status)
        return;
    visit_function(w, f->child[0], view);
    visit_function(w, f->child[1], view);
    const char *holds = condition_on_part(f, &part);
    if (holds && !w->status)
        add_condition(w, part, holds, view);
}

static void collect_domain_conditions(domain_writer *w, const mc_node *node, const mc_node *view) {
    visit_function(w, node->function, view);
    if (node->kind == MC_ATOM && node->atom == MC_GIBBS && !w->status && !(mc_function_range(node->function).lo > 0))
        add_condition(w, node->function, "> 0", view);
    if (node->kind == MC_SERIES)
        visit_series(w, node);
    for (int i = 0; i < node->children; i++)
        collect_domain_conditions(w, node->child[i], node->kind == MC_COLUMNS ? node : view);
}

int64_t mc_domain_columns(const mc_node *node) {
    if (node->kind == MC_ATOM && node->atom == MC_WENDLAND)
        return mc_wendland_columns(node);
    int64_t most = 0;
    for (int i = 0; i < node->children && node->kind != MC_COLUMNS; i++) {
        const int64_t of_child = mc_domain_columns(node->child[i]);
        most = most == 0 || (of_child > 0 && of_child < most) ? of_child : most;
    }
    return most;
}

static bool wants_nonnegative(const mc_node *node) {
    return node->kind == MC_ATOM && mc_atoms[node->atom].nonnegative;
}

mercer_status mc_check_domain(mercer_ctx *ctx, const mc_node *root, const char *kernel) {
    mc_text conditions = mc_text_open(ctx);
    char *said = NULL;
    domain_writer w = {.ctx = ctx, .out = &conditions, .kernel = kernel};
    collect_domain_conditions(&w, root, NULL);
    mc_text_add(&conditions, "%s", "");
    MC_THEN(w.status, mc_text_take(&conditions, &said));
    mc_text_close(&conditions);
    mc_free(said);
    return w.status;
}

mercer_status mc_describe_domain(mercer_ctx *ctx, const mc_node *root, mc_text *out) {
    domain_writer w = {.ctx = ctx, .out = out};
    collect_domain_conditions(&w, root, NULL);
    const int64_t most = mc_domain_columns(root);
    if (most > 0)
        mc_text_add(out, "%sat most %lld column%s", out->length ? " and " : "with ", (long long)most,
                    most == 1 ? "" : "s");
    if (mc_node_any(root, wants_nonnegative))
        mc_text_add(out, "%swithout negative entries", out->length ? " and " : "");
    return w.status;
}
