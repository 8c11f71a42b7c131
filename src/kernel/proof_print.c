/* proof_print.c: the argument as on a blackboard: numbered lines with reasons, or points and weights with the sum they give. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/node.h"
#include "kernel/proof.h"
#include "kernel/rules.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 100, INDENT = 6, SHOWN_POINTS = 9, SHOWN_COLUMNS = 8 };

/* ---- text ----------------------------------------------------------------------------------------------------------------------- */

/* Hand the text over to the proof's pool. */
static mercer_status keep(mc_pool *pool, mc_text *text, char **out) {
    char *made = NULL;
    MC_TRY(mc_text_take(text, &made));
    *out = mc_pool_take(pool, (int64_t)strlen(made) + 1, 1);
    if (*out)
        strcpy(*out, made);
    mc_free(made);
    return *out ? MERCER_OK : MERCER_MEMORY;
}

/* A space at which a line is never broken. */
#define FIXED "\x1f"

/* Words after a line number, broken at spaces; lines after the first are indented. */
static void wrapped(mc_text *out, const char *words) {
    int at = INDENT;
    while (*words) {
        const int length = (int)strcspn(words, " ");
        const bool breaks = at > INDENT && at + 1 + length > WIDTH;
        if (breaks)
            mc_text_add(out, "\n%*s", INDENT, "");
        else if (at > INDENT)
            mc_text_add(out, " ");
        at = breaks ? INDENT + length : at + (at > INDENT) + length;
        for (const char *byte = words; byte < words + length; byte++)
            mc_text_bytes(out, *byte == *FIXED ? " " : byte, 1);
        words += length + (words[length] == ' ');
    }
    mc_text_add(out, "\n");
}

/* ---- proved --------------------------------------------------------------------------------------------------------------------- */

static mercer_status write_step(mercer_ctx *ctx, mercer_proof *proof, mc_derivation *derivation, int i) {
    const mc_line *line = &derivation->line[i];
    mc_text claim = mc_text_open(ctx), because = mc_text_open(ctx);
    char *claim_text = NULL, *because_text = NULL;
    int *premises = mc_pool_take(&proof->pool, line->premises, sizeof *premises);
    mc_line_claim(line, &claim);
    mercer_status status = mc_line_because(derivation, line, &because);
    if (!status)
        status = keep(&proof->pool, &claim, &claim_text);
    if (!status)
        status = keep(&proof->pool, &because, &because_text);
    mc_text_close(&claim);
    mc_text_close(&because);
    if (status || !premises)
        return status ? status : MERCER_MEMORY;
    memcpy(premises, line->premise, (size_t)line->premises * sizeof *premises);
    proof->step[i] = (mercer_step){.claim = claim_text, .rule = mc_rule_id(line), .because = because_text, .premises = premises,
                                   .premise_count = line->premises};
    return MERCER_OK;
}

static mercer_status write_steps(mercer_ctx *ctx, mercer_proof *proof, mc_derivation *derivation) {
    proof->step = mc_pool_take(&proof->pool, derivation->count, sizeof *proof->step);
    if (!proof->step)
        return MERCER_MEMORY;
    for (int i = 0; i < derivation->count; i++)
        MC_TRY(write_step(ctx, proof, derivation, i));
    proof->steps = derivation->count;
    return MERCER_OK;
}

static mercer_status say_step(mercer_ctx *ctx, const mercer_proof *proof, int i, mc_text *out) {
    const mercer_step *step = &proof->step[i];
    mc_text words = mc_text_open(ctx);
    char *made = NULL;
    mc_text_add(&words, "%s: %s", step->claim, step->because);
    for (int k = 0; k < step->premise_count; k++)
        mc_text_add(&words, "%s%d", k == 0 ? FIXED "(" : "," FIXED, step->premises[k] + 1);
    mc_text_add(&words, "%s" FIXED "[%s]", step->premise_count ? ")" : "", step->rule);
    MC_TRY(mc_text_take(&words, &made));
    mc_text_add(out, "%4d. ", i + 1);
    wrapped(out, made);
    mc_free(made);
    return MERCER_OK;
}

static bool is_automatic(const mc_node *node) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++)
        if (node->parameter[i].kind == MC_VALUE_AUTO)
            return true;
    return false;
}

/* What the lines take for granted is said once, below them. */
static void say_terms(const mc_derivation *derivation, mc_text *out) {
    for (int i = 0; i < derivation->count; i++)
        if (derivation->line[i].judgement == MC_IS_CND) {
            mc_text_add(out, "\nConditionally negative: sum w_i w_j psi(x_i, x_j) <= 0 for all points and all weights with sum w_i = 0.\n");
            return;
        }
}

static bool nonnegative(const mc_findings *f) {
    const mc_derivation *p = &f->derivation;
    return mc_term_needs_nonnegative(p->line[p->count - 1].term);
}

static mercer_status say_proof(mercer_ctx *ctx, const mercer_proof *proof, const mc_findings *f, mc_text *out) {
    mc_text_add(out, "%s is a kernel", f->kernel->text);
    if (f->d > 0)
        mc_text_add(out, " on R^%lld", (long long)f->d);
    mc_text_add(out, "%s", nonnegative(f) ? ", for points without negative entries" : "");
    mc_text_add(out, "%s", f->kernel->ranges ? ", whatever values of their ranges the parameters take" : "");
    mc_text_add(out, "%s", mc_node_any(f->kernel->root, is_automatic) ? ", whatever bandwidths the data give" : "");
    mc_text_add(out, ".\n\n");
    for (int i = 0; i < proof->steps; i++)
        MC_TRY(say_step(ctx, proof, i, out));
    say_terms(&f->derivation, out);
    return MERCER_OK;
}

/* ---- refuted -------------------------------------------------------------------------------------------------------------------- */

/* To seven digits: for people, next to numbers that are given in full. */
static void say_about(double v, mc_text *out) {
    mc_text_number(out, mc_round_to_digits(v, 7));
}

/* A long row of zeros at the end is cut short. */
static int64_t shown_columns(const double *x, int64_t d) {
    int64_t last = d;
    while (d > SHOWN_COLUMNS && last > 1 && x[last - 1] == 0)
        last--;
    return last;
}

static void say_point(const double *x, int64_t d, mc_text *out) {
    const int64_t last = shown_columns(x, d);
    mc_text_add(out, "%s", d > 1 ? "(" : "");
    for (int64_t j = 0; j < last; j++) {
        mc_text_add(out, "%s", j ? ", " : "");
        mc_text_number(out, x[j]);
    }
    mc_text_add(out, "%s%s", last < d ? ", 0, ..., 0" : "", d > 1 ? ")" : "");
}

/* Of what say_point writes, up to what is the same for all points. */
static int point_width(const double *x, int64_t d) {
    char digits[32];
    const int64_t last = shown_columns(x, d);
    size_t width = (last < d ? strlen(", 0, ..., 0") : 0) + 2 * (size_t)last;
    for (int64_t j = 0; j < last; j++)
        width += strlen(mercer_number_text(x[j], digits));
    return (int)width;
}

static double value_at(const mc_findings *f, const mercer_witness *w, int64_t i, int64_t j) {
    return mc_eval(f->refutation.instance, w->points + i * w->d, w->points + j * w->d, w->d);
}

/* Points and weights in two columns. */
static void say_points(const mercer_witness *w, mc_text *out) {
    int widest = 0;
    for (int64_t i = 0; i < w->count; i++) {
        const int width = point_width(w->points + i * w->d, w->d);
        widest = width > widest ? width : widest;
    }
    for (int64_t i = 0; i < w->count; i++) {
        const double *x = w->points + i * w->d;
        mc_text_add(out, w->count < 10 ? "    x%lld = " : "    x%-2lld = ", (long long)i + 1);
        say_point(x, w->d, out);
        mc_text_add(out, "%*s   with weight ", widest - point_width(x, w->d), "");
        mc_text_number(out, w->weights[i]);
        mc_text_add(out, "\n");
    }
}

static void say_matrix(const mc_findings *f, const mercer_witness *w, mc_text *out) {
    mc_text_add(out, "\nthe values k(x_i, x_j) are\n\n");
    for (int64_t i = 0; i < w->count; i++) {
        mc_text_add(out, "   ");
        for (int64_t j = 0; j < w->count; j++) {
            char digits[32];
            mc_text_add(out, " %12s", mercer_number_text(mc_round_to_digits(value_at(f, w, i, j), 7), digits));
        }
        mc_text_add(out, "\n");
    }
}

static void say_pair(const mc_findings *f, const mercer_witness *w, mc_text *out) {
    const int64_t i = w->pair[0], j = w->pair[1];
    if (i < 0)
        return;
    const long long p = (long long)i + 1, q = (long long)j + 1;
    const double k = value_at(f, w, i, j);
    mc_text_add(out, "Cauchy-Schwarz fails: k(x%lld, x%lld)^2 = ", p, q);
    say_about(k * k, out);
    mc_text_add(out, " is more than k(x%lld, x%lld) k(x%lld, x%lld) = ", p, p, q, q);
    say_about(value_at(f, w, i, i) * value_at(f, w, j, j), out);
    mc_text_add(out, ".\n");
}

static mercer_status say_head(mercer_ctx *ctx, const mc_findings *f, const mercer_witness *w, mc_text *out) {
    mc_text_add(out, "%s is not a kernel", f->kernel->text);
    if (f->d > 0 || w->d > 1)
        mc_text_add(out, " on R^%lld", (long long)w->d);
    if (f->refutation.instantiated) {
        char *instance = NULL;
        MC_TRY(mc_node_print(ctx, f->refutation.instance, &instance));
        mc_text_add(out, ": among the values left open it may become %s", instance);
        mc_free(instance);
    }
    mc_text_add(out, ".\n\n");
    return MERCER_OK;
}

static void say_rounding(const mercer_witness *w, mc_text *out) {
    if (w->bound == 0) {
        mc_text_add(out, ", exactly");
        return;
    }
    mc_text_add(out, ", give or take ");
    mc_text_number(out, mc_round_to_digits(1.1 * w->bound, 2)); /* rounded up */
}

/* k(x, x) < 0 says it all. */
static void say_one(const mc_findings *f, const mercer_witness *w, mc_text *out) {
    mc_text_add(out, "At the point x = ");
    say_point(w->points, w->d, out);
    mc_text_add(out, " it gives k(x, x) = ");
    say_about(value_at(f, w, 0, 0), out);
    say_rounding(w, out);
    mc_text_add(out, ". For a kernel k(x, x) is never negative.\n");
}

static void say_sum(const mc_findings *f, const mercer_witness *w, mc_text *out) {
    mc_text_add(out, "For the points\n\n");
    say_points(w, out);
    if (w->count <= SHOWN_POINTS)
        say_matrix(f, w, out);
    mc_text_add(out, "\n%sthe sum of w_i w_j k(x_i, x_j) is ", w->count <= SHOWN_POINTS ? "and " : "");
    say_about(w->value, out);
    say_rounding(w, out);
    mc_text_add(out, ". For a kernel that sum is never negative.\n");
    say_pair(f, w, out);
}

static mercer_status say_refutation(mercer_ctx *ctx, const mc_findings *f, const mercer_witness *w, mc_text *out) {
    MC_TRY(say_head(ctx, f, w, out));
    if (w->count == 1)
        say_one(f, w, out);
    else
        say_sum(f, w, out);
    if (f->proved_up_to > 0)
        mc_text_add(out, "\nWith at most %lld column%s it is a kernel.\n", (long long)f->proved_up_to,
                    f->proved_up_to == 1 ? "" : "s");
    return MERCER_OK;
}

static mercer_status copy_witness(mercer_proof *proof, const mc_witness *from) {
    double *points = mc_pool_take(&proof->pool, from->count * from->d, sizeof *points);
    double *weights = mc_pool_take(&proof->pool, from->count, sizeof *weights);
    if (!points || !weights)
        return MERCER_MEMORY;
    memcpy(points, from->points, (size_t)(from->count * from->d) * sizeof *points);
    memcpy(weights, from->weights, (size_t)from->count * sizeof *weights);
    proof->witness = (mercer_witness){.count = from->count, .d = from->d, .points = points, .weights = weights,
                                      .value = from->value, .bound = from->bound, .pair = {from->pair[0], from->pair[1]}};
    return MERCER_OK;
}

void mc_witness_short(const mercer_witness *w, mc_text *out) {
    const bool few = w->count <= 4 && w->d <= 4;
    const bool one = w->count == 1;
    mc_text_add(out, one ? "k(x, x) = " : "the sum of w_i w_j k(x_i, x_j) is ");
    say_about(one ? w->value / (w->weights[0] * w->weights[0]) : w->value, out);
    if (!few) {
        mc_text_add(out, " for %lld points that mercer prove lists", (long long)w->count);
        return;
    }
    mc_text_add(out, one ? " at x = " : " for x = ");
    for (int64_t i = 0; i < w->count; i++) {
        mc_text_add(out, "%s", i ? ", " : "");
        say_point(w->points + i * w->d, w->d, out);
    }
    for (int64_t i = 0; !one && i < w->count; i++) {
        mc_text_add(out, "%s", i ? ", " : " and w = ");
        mc_text_number(out, w->weights[i]);
    }
}

/* ---- unknown -------------------------------------------------------------------------------------------------------------------- */

static bool has_file(const mc_node *node) {
    if (node->kind == MC_ATOM && node->atom == MC_FORM && node->parameter[0].kind == MC_VALUE_FILE)
        return true;
    for (int i = 0; i < node->children; i++)
        if (has_file(node->child[i]))
            return true;
    return false;
}

static void say_unknown(const mc_findings *f, mc_text *out) {
    mc_text_add(out, "%s is neither proved nor refuted to be a kernel.\n\n", f->kernel->text);
    if (f->stuck) {
        mc_text_add(out, "No rule proves that ");
        mc_term_print(f->stuck, out);
        mc_text_add(out, " is one");
    } else
        mc_text_add(out, "No rule applies");
    if (has_file(f->kernel->root))
        mc_text_add(out, ", and its matrix is still in a file: bind the kernel to data first.\n");
    else if (f->refutation.sets == 0)
        mc_text_add(out, ", and its values come from elsewhere: no points can be tried.\n");
    else
        mc_text_add(out, ", and none of the %lld sets of points tried shows that it is not.\n", (long long)f->refutation.sets);
    mc_text_add(out, "It may be one all the same.\n");
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------------- */

static mercer_status write_parts(mercer_ctx *ctx, mercer_proof *proof, mc_findings *f) {
    if (proof->verdict == MERCER_PROVED)
        return write_steps(ctx, proof, &f->derivation);
    return proof->verdict == MERCER_REFUTED ? copy_witness(proof, &f->refutation.witness) : MERCER_OK;
}

static mercer_status say(mercer_ctx *ctx, const mercer_proof *proof, const mc_findings *f, mc_text *out) {
    if (proof->verdict == MERCER_PROVED)
        return say_proof(ctx, proof, f, out);
    if (proof->verdict == MERCER_REFUTED)
        return say_refutation(ctx, f, &proof->witness, out);
    say_unknown(f, out);
    return MERCER_OK;
}

mercer_status mc_proof_write(mercer_ctx *ctx, mercer_proof *proof, mc_findings *f) {
    MC_TRY(write_parts(ctx, proof, f));
    mc_text text = mc_text_open(ctx);
    mercer_status status = say(ctx, proof, f, &text);
    if (!status)
        status = keep(&proof->pool, &text, &proof->text);
    mc_text_close(&text);
    return status;
}
