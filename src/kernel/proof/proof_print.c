/* proof_print.c: the argument as on a blackboard: numbered lines with reasons; witness_print.c writes refutations. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/node.h"
#include "kernel/proof/proof.h"
#include "kernel/proof/rules.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 100, INDENT = 6 };

/* ---- text ---- */

/* Hand the text over to the proof's pool. */
static mercer_status move_text_to_pool(mc_pool *pool, mc_text *text, char **out) {
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
static void print_wrapped(mc_text *out, const char *words) {
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

/* ---- proved ---- */

static mercer_status write_step(mercer_ctx *ctx, mercer_proof *proof, mc_derivation *derivation, int i) {
    const mc_proof_line *line = &derivation->line[i];
    mc_text claim = mc_text_open(ctx), because = mc_text_open(ctx);
    char *claim_text = NULL, *because_text = NULL;
    int *premises = mc_pool_take(&proof->pool, line->premises, sizeof *premises);
    mc_line_claim(line, &claim);
    mercer_status status = mc_line_because(derivation, line, &because);
    if (!status)
        status = move_text_to_pool(&proof->pool, &claim, &claim_text);
    if (!status)
        status = move_text_to_pool(&proof->pool, &because, &because_text);
    mc_text_close(&claim);
    mc_text_close(&because);
    if (status || !premises)
        return status ? status : MERCER_MEMORY;
    memcpy(premises, line->premise, (size_t)line->premises * sizeof *premises);
    proof->step[i] = (mercer_step){.claim = claim_text,
                                   .rule = mc_rule_id(line),
                                   .because = because_text,
                                   .premises = premises,
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
    print_wrapped(out, made);
    mc_free(made);
    return MERCER_OK;
}

/* What atoms of texts leave to the data are no bandwidths. */
static bool is_automatic(const mc_node *node) {
    for (int i = 0; node->kind == MC_ATOM && !mc_atoms[node->atom].text && i < mc_atoms[node->atom].parameters; i++)
        if (node->parameter[i].kind == MC_VALUE_AUTO)
            return true;
    return false;
}

static bool has_judgement(const mc_derivation *derivation, mc_judgement judgement) {
    for (int i = 0; i < derivation->count; i++)
        if (derivation->line[i].judgement == judgement)
            return true;
    return false;
}

/* What the lines take for granted is said once, below them. */
static void say_terms(const mc_derivation *derivation, mc_text *out) {
    static const struct {
        mc_judgement judgement;
        const char *words;
    } term[] = {{MC_IS_CND,
                 "Conditionally negative: sum w_i w_j psi(x_i, x_j) <= 0 for all points and all weights with sum w_i = "
                 "0."},
                {MC_IS_CONDITIONAL,
                 "Conditionally positive: sum w_i w_j k(x_i, x_j) >= 0 for all points and all weights with sum w_i = "
                 "0."},
                {MC_IS_CONDITIONAL_2, "Conditionally positive of order 2: sum w_i w_j k(x_i, x_j) >= 0 for all points "
                                      "and all weights with sum w_i = 0 and sum w_i x_i = 0."}};
    const char *before = "\n";
    for (size_t i = 0; i < sizeof term / sizeof *term; i++)
        if (has_judgement(derivation, term[i].judgement)) {
            mc_text_add(out, "%s%s\n", before, term[i].words);
            before = "";
        }
}

/* ---- conditionally positive ---- */

/* What it is good for although it is no kernel, and why. */
static mercer_status say_conditional(mercer_ctx *ctx, const mercer_proof *proof, const mc_proof_findings *f,
                                     mc_text *out) {
    if (f->order == 0)
        return MERCER_OK;
    mc_text_add(out, "\nConditionally positive definite of order %d:\n\n", f->order);
    for (int i = 0; i < proof->steps; i++)
        MC_TRY(say_step(ctx, proof, i, out));
    say_terms(&f->conditional, out);
    if (f->order == 1)
        mc_text_add(out,
                    "\nMachines whose coefficients sum to 0 take it: svc, svr, and with an intercept ridge and the "
                    "losses. For the others\nk(x, z) - k(x, 0) - k(0, z) + k(0, 0) is a kernel, which centred=1 "
                    "makes of power, log and multiquadric.\n");
    return MERCER_OK;
}

static mercer_status say_proof(mercer_ctx *ctx, const mercer_proof *proof, const mc_proof_findings *f, mc_text *out) {
    mc_text_add(out, "%s is a kernel", f->kernel->text);
    if (f->d > 0)
        mc_text_add(out, " on R^%lld", (long long)f->d);
    if (*proof->domain)
        mc_text_add(out, ", for points %s", proof->domain);
    mc_text_add(out, "%s", f->kernel->ranges ? ", whatever values of their ranges the parameters take" : "");
    mc_text_add(out, "%s",
                mc_node_any(mc_kernel_shown(f->kernel), is_automatic) ? ", whatever bandwidths the data give" : "");
    mc_text_add(out, ".\n\n");
    for (int i = 0; i < proof->steps; i++)
        MC_TRY(say_step(ctx, proof, i, out));
    say_terms(&f->derivation, out);
    return MERCER_OK;
}

/* ---- refuted ---- */

static void say_head(const mc_proof_findings *f, int64_t d, const char *instance, mc_text *out) {
    mc_text_add(out, "%s is not a kernel", f->kernel->text);
    if (f->d > 0 || d > 1)
        mc_text_add(out, " on R^%lld", (long long)d);
    if (f->order > 0)
        mc_text_add(out, ", but conditionally positive definite of order %d", f->order);
    if (f->refutation.instantiated && strcmp(instance, f->kernel->text) != 0)
        mc_text_add(out, ": among the values left open it may become %s", instance);
    mc_text_add(out, ".\n\n");
}

static void say_few_columns(const mc_proof_findings *f, mc_text *out) {
    if (f->proved_up_to > 0)
        mc_text_add(out, "\nWith at most %lld column%s it is a kernel.\n", (long long)f->proved_up_to,
                    f->proved_up_to == 1 ? "" : "s");
}

static void say_refutation(const mc_proof_findings *f, const mercer_proof *proof, mc_text *out) {
    const bool points = proof->witness.count > 0;
    say_head(f, points ? proof->witness.d : proof->frequency.d,
             points ? proof->witness.kernel : proof->frequency.kernel, out);
    if (points)
        mc_witness_print(f, &proof->witness, out);
    else
        mc_frequency_print(&proof->frequency, out);
    say_few_columns(f, out);
}

/* The expression that the refutation is about. */
static mercer_status copy_instance(mercer_ctx *ctx, mercer_proof *proof, const mc_node *node, char **out) {
    char *instance = NULL;
    MC_TRY(mc_node_print(ctx, node, &instance));
    *out = mc_pool_take(&proof->pool, (int64_t)strlen(instance) + 1, 1);
    if (*out)
        strcpy(*out, instance);
    mc_free(instance);
    return *out ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status copy_frequency(mercer_ctx *ctx, mercer_proof *proof, const mc_refutation *refutation) {
    const mc_negative_frequency *from = &refutation->frequency;
    char *kernel = NULL;
    MC_TRY(copy_instance(ctx, proof, refutation->instance, &kernel));
    double *frequency = mc_pool_take(&proof->pool, from->d, sizeof *frequency);
    if (!frequency)
        return MERCER_MEMORY;
    for (int64_t j = 0; j < (from->in_all ? from->d : 1); j++)
        frequency[j] = from->size;
    proof->frequency = (mercer_frequency){.d = from->d,
                                          .frequency = frequency,
                                          .mean = from->mean,
                                          .value = from->value,
                                          .bound = from->bound,
                                          .kernel = kernel,
                                          .series = mc_series_names[from->series],
                                          .order = from->order};
    return MERCER_OK;
}

/* The numbers of the points apart from their texts, and these with the names of their columns. */
static mercer_status copy_points(mercer_proof *proof, const mc_refutation *refutation, mercer_witness *out) {
    const mc_witness *from = &refutation->witness;
    double *points = mc_pool_take(&proof->pool, from->count * from->d, sizeof *points);
    const char **text = mc_pool_take(&proof->pool, from->count * from->texts + 1, sizeof *text);
    const char **name = mc_pool_take(&proof->pool, from->texts + 1, sizeof *name);
    if (!points || !text || !name)
        return MERCER_MEMORY;
    for (int64_t i = 0; i < from->count; i++) {
        const double *row = from->points + i * (from->d + from->texts);
        memcpy(points + i * from->d, row, (size_t)from->d * sizeof *points);
        for (int64_t t = 0; t < from->texts; t++)
            text[i * from->texts + t] = mc_row_text(row, from->d + t);
    }
    for (int64_t t = 0; t < from->texts; t++) {
        char *copy = mc_pool_take(&proof->pool, (int64_t)strlen(refutation->text_column[t]) + 1, 1);
        if (!copy)
            return MERCER_MEMORY;
        name[t] = strcpy(copy, refutation->text_column[t]);
    }
    out->points = points;
    out->texts = from->texts;
    out->text = text;
    out->text_column = name;
    return MERCER_OK;
}

static mercer_status copy_refutation(mercer_ctx *ctx, mercer_proof *proof, const mc_refutation *refutation) {
    const mc_witness *from = &refutation->witness;
    char *kernel = NULL;
    if (refutation->frequency.found)
        return copy_frequency(ctx, proof, refutation);
    MC_TRY(copy_instance(ctx, proof, refutation->instance, &kernel));
    double *weights = mc_pool_take(&proof->pool, from->count, sizeof *weights);
    if (!weights)
        return MERCER_MEMORY;
    memcpy(weights, from->weights, (size_t)from->count * sizeof *weights);
    proof->witness = (mercer_witness){.count = from->count,
                                      .d = from->d,
                                      .weights = weights,
                                      .value = from->value,
                                      .bound = from->bound,
                                      .kernel = kernel,
                                      .pair = {from->pair[0], from->pair[1]}};
    return copy_points(proof, refutation, &proof->witness);
}

/* ---- unknown ---- */

static bool has_file(const mc_node *node) {
    if (node->kind == MC_ATOM && node->atom == MC_FORM && node->parameter[0].kind == MC_VALUE_FILE)
        return true;
    for (int i = 0; i < node->children; i++)
        if (has_file(node->child[i]))
            return true;
    return false;
}

static void say_unknown(const mc_proof_findings *f, mc_text *out) {
    mc_text_add(out, "%s is neither proved nor refuted to be a kernel.\n\n", f->kernel->text);
    if (f->stuck) {
        mc_text_add(out, "No rule proves that ");
        mc_term_print(f->stuck, out);
        mc_text_add(out, " is one");
    } else
        mc_text_add(out, "No rule applies");
    if (has_file(mc_kernel_shown(f->kernel)))
        mc_text_add(out, ", and its matrix is still in a file: bind the kernel to data first.\n");
    else if (f->refutation.sets == 0)
        mc_text_add(out, ", and its values come from elsewhere: no points can be tried.\n");
    else
        mc_text_add(out, ", and none of the %lld sets of points tried shows that it is not.\n",
                    (long long)f->refutation.sets);
    mc_text_add(out, "It may be one all the same.\n");
    say_few_columns(f, out);
}

/* ---- the whole ---- */

static mercer_status write_domain(mercer_ctx *ctx, mercer_proof *proof, const mc_proof_findings *f) {
    mc_text text = mc_text_open(ctx);
    mercer_status status = mc_describe_domain(ctx, mc_kernel_shown(f->kernel), &text);
    mc_text_add(&text, "%s", "");
    if (!status)
        status = move_text_to_pool(&proof->pool, &text, &proof->domain);
    mc_text_close(&text);
    return status;
}

static mercer_status write_object(mercer_ctx *ctx, mercer_proof *proof, const mc_proof_findings *f) {
    mc_text text = mc_text_open(ctx);
    mercer_status status = mc_proof_object(ctx, proof->verdict, f, &text);
    if (!status)
        status = move_text_to_pool(&proof->pool, &text, &proof->object);
    mc_text_close(&text);
    return status;
}

static mercer_status write_parts(mercer_ctx *ctx, mercer_proof *proof, mc_proof_findings *f) {
    MC_TRY(write_domain(ctx, proof, f));
    MC_TRY(write_object(ctx, proof, f));
    if (proof->verdict == MERCER_PROVED)
        return write_steps(ctx, proof, &f->derivation);
    if (f->order > 0)
        MC_TRY(write_steps(ctx, proof, &f->conditional));
    return proof->verdict == MERCER_REFUTED ? copy_refutation(ctx, proof, &f->refutation) : MERCER_OK;
}

static mercer_status write_verdict(mercer_ctx *ctx, const mercer_proof *proof, const mc_proof_findings *f,
                                   mc_text *out) {
    if (proof->verdict == MERCER_PROVED)
        return say_proof(ctx, proof, f, out);
    if (proof->verdict == MERCER_REFUTED)
        say_refutation(f, proof, out);
    else
        say_unknown(f, out);
    return say_conditional(ctx, proof, f, out);
}

mercer_status mc_proof_write(mercer_ctx *ctx, mercer_proof *proof, mc_proof_findings *f) {
    proof->order = f->order;
    MC_TRY(write_parts(ctx, proof, f));
    mc_text text = mc_text_open(ctx);
    mercer_status status = write_verdict(ctx, proof, f, &text);
    if (!status)
        status = move_text_to_pool(&proof->pool, &text, &proof->text);
    mc_text_close(&text);
    return status;
}
