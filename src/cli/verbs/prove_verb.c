/* prove_verb.c: mercer prove KERNEL: is the expression a kernel? The argument as on a blackboard, or as data. */
#include "cli/cli.h"
#include <math.h>
#include <string.h>

static const option options[] = {
    {"dimension", 'd', "D", "decide on R^D only (default: for every number of columns the expression allows)"},
    {"output", 'o', "FILE", "write the proof as a proof object: JSON with every step, which others can check"},
    {0},
};

static const char *const verdict_names[] = {
    [MERCER_PROVED] = "proved", [MERCER_REFUTED] = "refuted", [MERCER_UNKNOWN] = "unknown"};
static const int verdict_status[] = {
    [MERCER_PROVED] = EXIT_DONE, [MERCER_REFUTED] = EXIT_NEGATIVE, [MERCER_UNKNOWN] = EXIT_OPEN};

static mercer_shape shape_of(const mercer_kernel *kernel, int64_t d) {
    mercer_shape shape = {.size = sizeof shape};
    mercer_kernel_shape(kernel, d, &shape);
    return shape;
}

/* ---- JSON ---- */

static json_t *json_shape(mercer_shape shape) {
    json_t *object = json_object();
    json_put(object, "stationary", json_boolean(shape.stationary));
    json_put(object, "isotropic", json_boolean(shape.isotropic));
    json_put(object, "dot_product", json_boolean(shape.dot_product));
    json_put(object, "normalised", json_boolean(shape.normalised));
    json_put(object, "bounded", json_boolean(shape.bounded));
    json_put(object, "bound", json_value(shape.bounded ? shape.bound : NAN));
    json_put(object, "dimension", shape.dimension < 0 ? json_null() : json_integer(shape.dimension));
    return object;
}

static json_t *json_step(const mercer_step *step) {
    json_t *object = json_object(), *premises = json_array();
    for (int i = 0; i < step->premise_count; i++)
        json_array_append_new(premises, json_integer(step->premises[i]));
    json_put(object, "claim", json_text(step->claim));
    json_put(object, "rule", json_text(step->rule));
    json_put(object, "because", json_text(step->because));
    json_put(object, "premises", premises);
    return object;
}

static json_t *json_derivation(const mercer_proof *proof) {
    json_t *steps = json_array();
    for (int i = 0; i < mercer_proof_steps(proof); i++)
        json_array_append_new(steps, json_step(mercer_proof_step(proof, i)));
    return steps;
}

/* By the names of their columns. */
static json_t *json_texts(const mercer_witness *w) {
    json_t *object = json_object();
    for (int64_t t = 0; t < w->texts; t++) {
        json_t *column = json_array();
        for (int64_t i = 0; i < w->count; i++)
            json_array_append_new(column, json_text(w->text[i * w->texts + t]));
        json_put(object, w->text_column[t], column);
    }
    return object;
}

static json_t *json_witness(const mercer_witness *w) {
    if (!w)
        return json_null();
    json_t *object = json_object(), *points = json_array();
    for (int64_t i = 0; i < w->count; i++)
        json_array_append_new(points, json_values(w->points + i * w->d, w->d));
    json_put(object, "kernel", json_text(w->kernel));
    json_put(object, "points", points);
    if (w->texts > 0)
        json_put(object, "texts", json_texts(w));
    json_put(object, "weights", json_values(w->weights, w->count));
    json_put(object, "value", json_value(w->value));
    json_put(object, "bound", json_value(w->bound));
    if (w->pair[0] >= 0)
        json_put(object, "cauchy_schwarz", json_pack("[I, I]", (json_int_t)w->pair[0], (json_int_t)w->pair[1]));
    return object;
}

static json_t *json_frequency(const mercer_frequency *w) {
    if (!w)
        return json_null();
    json_t *object = json_object();
    json_put(object, "kernel", json_text(w->kernel));
    json_put(object, "columns", json_integer(w->d));
    json_put(object, "mean", json_boolean(w->mean));
    if (w->series) {
        json_put(object, "series", json_text(w->series));
        json_put(object, "order", json_integer(w->order));
    } else
        json_put(object, "at", json_values(w->frequency, w->d));
    json_put(object, "value", json_value(w->value));
    json_put(object, "bound", json_value(w->bound));
    return object;
}

static json_t *json_proof(const mercer_kernel *kernel, int64_t d, const mercer_proof *proof) {
    json_t *object = json_object();
    json_put(object, "verdict", json_text(verdict_names[mercer_proof_verdict(proof)]));
    json_put(object, "conditional_order", json_integer(mercer_proof_order(proof)));
    json_put(object, "canonical", json_text(mercer_kernel_text(kernel)));
    json_put(object, "domain", json_text(mercer_proof_domain(proof)));
    json_put(object, "shape", json_shape(shape_of(kernel, d)));
    json_put(object, "derivation", json_derivation(proof));
    json_put(object, "witness", json_witness(mercer_proof_witness(proof)));
    json_put(object, "frequency", json_frequency(mercer_proof_frequency(proof)));
    return object;
}

/* ---- People ---- */

static const report_row shape_words[] = {
    {NULL, "isotropic", "isotropic"},
    {NULL, "stationary !isotropic", "stationary"},
    {NULL, "dot_product", "a function of <x,z>"},
    {NULL, "normalised", "normalised"},
    {NULL, "bounded !normalised", "k(x,x) <= {bound:.4g}"},
    {NULL, NULL, "{dimension} features"},
    {0},
};

/* The argument as on a blackboard, and of a kernel its shape. */
static int report_proof(session *s, const mercer_proof *proof, json_t *object) {
    const char *argument = mercer_proof_text(proof);
    const size_t length = strlen(argument);
    say_lines(s, argument);
    if (length && argument[length - 1] != '\n')
        say_text(s, "\n");
    if (mercer_proof_verdict(proof) == MERCER_PROVED)
        say_list(s, "shape", json_object_get(object, "shape"), shape_words);
    return json_finish(s, object);
}

static int write_object(session *s, const mercer_proof *proof) {
    const char *path = args_text(&s->args, "output"), *object = mercer_proof_object(proof);
    if (path && strcmp(path, "-") == 0)
        s->out = stderr;
    return path ? write_text(s, path, object, strlen(object)) : EXIT_DONE;
}

static int prove_and_report(session *s, const mercer_kernel *kernel) {
    int64_t d = 0;
    TRY(args_whole(&s->args, "dimension", 1, 1000000, &d));
    mercer_proof *proof = NULL;
    const mercer_status status = mercer_prove(s->ctx, kernel, d, &proof);
    if (status)
        return session_fail_at(s, status, s->args.operand[0]);
    const mercer_verdict verdict = mercer_proof_verdict(proof);
    int code = write_object(s, proof);
    THEN(code, report_proof(s, proof, json_proof(kernel, d, proof)));
    mercer_proof_free(proof);
    return code ? code : verdict_status[verdict];
}

static int run_prove(session *s) {
    mercer_kernel *kernel = NULL;
    int code = input_kernel(s, s->args.operand[0], &kernel);
    THEN(code, prove_and_report(s, kernel));
    mercer_kernel_free(kernel);
    return code;
}

const verb verb_prove = {
    .name = "prove",
    .summary = "prove that an expression is a kernel, or refute it",
    .usage = "KERNEL [-d D] [-o proof.json] [options]",
    .notes = "Prints a derivation, or points and weights that show the expression is not positive definite, or that "
             "neither was found.\n"
             "Exit status: 0 proved, 1 refuted, 3 unknown, 2 error. Put -- before an expression that starts with a "
             "minus.\n\n"
             "  mercer prove 'rbf(sigma=1) + linear^2'\n"
             "  mercer prove 'tanh(a=1, c=0)'\n"
             "  mercer prove -- '-linear'\n"
             "  mercer prove 'rbf(gamma=1) + linear^2' -o proof.json",
    .least = 1,
    .most = 1,
    .tables = {options, seed_options, common_options},
    .run = run_prove,
};
