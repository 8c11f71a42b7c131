/* gram_verb.c: mercer gram KERNEL DATA [DATA2]: the matrix of kernel values, written, printed or checked. */
#include "cli/verbs/gram_verb.h"
#include "data/helpers.h"
#include <stdlib.h>
#include <string.h>

static const option options[] = {
    {"output", 'o', "FILE", "write the matrix: NumPy format, or CSV when the name ends in .csv"},
    {"features", 0, NULL, "the features of the rows, whose inner products are the matrix, instead of it"},
    {"check", 0, NULL,
     "symmetry, eigenvalues, Cauchy-Schwarz and rank; exit status 1 when it is not positive semidefinite"},
    {"prove", 0, NULL,
     "is the matrix positive semidefinite? With all rounding errors bounded; exit status 0 proved, 1 refuted, 3 "
     "undecided"},
    {"repair", 0, "FILE", "write the nearest positive semidefinite matrix, which is proved to be one"},
    {"keep-diagonal", 0, NULL, "--repair changes no diagonal entry: for correlations"},
    {"factor", 0, "FILE", "write P with K = P'P, a row for each pivot of Cholesky's factorisation"},
    {"tolerance", 0, "T",
     "of --factor: the largest diagonal entry that may be left, by the largest of K (default: rounding)"},
    {0},
};

/* Text columns become one column per level: two files agree only when their levels do. */
static int check_columns(const session *s, const gram *g) {
    const int64_t d = mercer_data_columns(g->data);
    if (d != mercer_data_columns(g->other))
        return print_error("'%s' has %lld columns, '%s' has %lld", s->args.operand[1], (long long)d, s->args.operand[2],
                           (long long)mercer_data_columns(g->other));
    for (int64_t j = 0; j < d && !mercer_data_is_sparse(g->data); j++) { /* sparse columns go by number */
        const char *a = mercer_data_column_name(g->data, j), *b = mercer_data_column_name(g->other, j);
        if (strcmp(a, b) != 0)
            return print_error("column %lld is '%s' in '%s' but '%s' in '%s'", (long long)j + 1, a, s->args.operand[1],
                               b, s->args.operand[2]);
    }
    return EXIT_DONE;
}

/* The first option that needs a square matrix. */
static const char *judge_of(const args *a) {
    return args_flag(a, "check")    ? "--check"
           : args_flag(a, "prove")  ? "--prove"
           : args_text(a, "repair") ? "--repair"
           : args_text(a, "factor") ? "--factor"
                                    : NULL;
}

static bool same_name(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static int check_outputs(const char *output, const char *repair, const char *factor) {
    const char *twice = same_name(output, repair) || same_name(repair, factor) ? repair
                        : same_name(output, factor)                            ? factor
                                                                               : NULL;
    return twice ? print_error("'%s' is named for two outputs; name another file for one of them", twice) : EXIT_DONE;
}

static int check_options(const args *a) {
    if (args_flag(a, "keep-diagonal") && !args_text(a, "repair"))
        return print_error("--keep-diagonal belongs to --repair FILE");
    if (args_text(a, "tolerance") && !args_text(a, "factor"))
        return print_error("--tolerance belongs to --factor FILE");
    return check_outputs(args_text(a, "output"), args_text(a, "repair"), args_text(a, "factor"));
}

static int read_input(session *s, gram *g) {
    const args *a = &s->args;
    const char *judge = judge_of(a);
    TRY(check_options(a));
    if (a->operands == 3 && judge)
        return print_error("%s needs a square matrix: give one data file", judge);
    if (args_flag(a, "features") && (a->operands == 3 || judge))
        return print_error("--features belongs to the rows of one data file, and there is nothing to %s in it",
                           judge ? judge : "--check");
    TRY(input_kernel(s, a->operand[0], &g->kernel));
    TRY(input_data(s, g->kernel, a->operand[1], NULL, MERCER_TARGET_AUTO, &g->data));
    if (a->operands == 3) {
        TRY(input_data(s, g->kernel, a->operand[2], NULL, MERCER_TARGET_AUTO, &g->other));
        TRY(check_columns(s, g));
    }
    if (mercer_data_target_name(g->data, 0))
        print_note(s, "the target column '%s' is left out; --no-target keeps it", mercer_data_target_name(g->data, 0));
    const mercer_status status = mercer_kernel_bind(s->ctx, g->kernel, g->data, &g->bound);
    return status ? session_fail_at(s, status, a->operand[0]) : EXIT_DONE;
}

static int compute_features(session *s, gram *g) {
    g->n = mercer_data_rows(g->data);
    mercer_shape shape = {.size = sizeof shape};
    mercer_kernel_shape(g->bound, mercer_data_columns(g->data), &shape);
    g->m = shape.dimension;
    if (g->m < 0)
        return print_error(
            "%s has no feature map of finite, moderate dimension; linear, poly, form, cosine and what is "
            "made of them have one",
            mercer_kernel_text(g->bound));
    g->K = session_take(s, g->n, g->m, sizeof *g->K);
    if (!g->K)
        return EXIT_MEMORY;
    TRY_CTX(s, mercer_features(s->ctx, g->bound, g->data, g->K));
    return session_alive(s);
}

static int prove_gram(session *s, gram *g) {
    g->proved = true;
    g->weights = session_take(s, g->n, 1, sizeof *g->weights);
    if (!g->weights)
        return EXIT_MEMORY;
    TRY_CTX(s, mercer_gram_prove(s->ctx, g->K, g->n, g->weights, &g->proof));
    return EXIT_DONE;
}

static int repair_gram(session *s, gram *g) {
    g->repaired = session_take(s, g->n, g->n, sizeof *g->repaired);
    if (!g->repaired)
        return EXIT_MEMORY;
    const bool keep = args_flag(&s->args, "keep-diagonal");
    TRY_CTX(s, mercer_gram_repair(s->ctx, g->K, g->n, keep, g->repaired, &g->repair));
    return EXIT_DONE;
}

static int factor_gram(session *s, gram *g) {
    double tolerance = 0;
    TRY(args_real(&s->args, "tolerance", 0, 1, &tolerance));
    g->factor = session_take(s, g->n, g->n, sizeof *g->factor);
    if (!g->factor)
        return EXIT_MEMORY;
    TRY_CTX(s, mercer_gram_factor(s->ctx, g->K, g->n, tolerance, g->factor, &g->rank));
    return EXIT_DONE;
}

static int compute_gram(session *s, gram *g) {
    if (args_flag(&s->args, "features"))
        return compute_features(s, g);
    g->n = mercer_data_rows(g->data);
    g->m = g->other ? mercer_data_rows(g->other) : g->n;
    g->K = session_take(s, g->n, g->m, sizeof *g->K);
    if (!g->K)
        return EXIT_MEMORY;
    TRY_CTX(s, mercer_gram(s->ctx, g->bound, g->data, g->other, g->K));
    g->checked = args_flag(&s->args, "check");
    if (g->checked)
        TRY_CTX(s, mercer_gram_check(s->ctx, g->K, g->n, &g->facts));
    if (args_flag(&s->args, "prove"))
        TRY(prove_gram(s, g));
    if (args_text(&s->args, "repair"))
        TRY(repair_gram(s, g));
    if (args_text(&s->args, "factor"))
        TRY(factor_gram(s, g));
    return session_alive(s);
}

/* ---- Output ---- */

typedef struct written_matrix {
    const double *values; /* n x m */
    int64_t n, m;
} written_matrix;

static int write_csv(session *s, written_matrix a, const char *path) {
    char *bytes = NULL, number[32];
    size_t size = 0;
    int code = EXIT_DONE;
    FILE *out = open_memstream(&bytes, &size);
    for (int64_t i = 0; out && i < a.n && code == EXIT_DONE; i++, code = session_alive(s))
        for (int64_t j = 0; j < a.m; j++)
            fprintf(out, "%s%s", mc_number_text(a.values[i * a.m + j], number), j + 1 < a.m ? "," : "\n");
    const bool failed = !out || ferror(out) || fclose(out);
    const mercer_status status = code ? MERCER_OK : failed ? MERCER_MEMORY : mc_file_write(s->ctx, path, bytes, size);
    free(bytes);
    return status ? session_fail(s, status) : code;
}

static int write_matrix(session *s, written_matrix a, const char *path) {
    const size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".csv") == 0)
        return write_csv(s, a, path);
    TRY_CTX(s, mc_npy_write(s->ctx, path, a.values, a.n, a.m));
    return EXIT_DONE;
}

static int write_made(session *s, const gram *g) {
    if (g->repaired)
        TRY(write_matrix(s, (written_matrix){g->repaired, g->n, g->n}, args_text(&s->args, "repair")));
    if (g->factor)
        TRY(write_matrix(s, (written_matrix){g->factor, g->rank.rank, g->n}, args_text(&s->args, "factor")));
    return EXIT_DONE;
}

static const int proof_status[] = {
    [MERCER_PROVED] = EXIT_DONE, [MERCER_REFUTED] = EXIT_NEGATIVE, [MERCER_UNKNOWN] = EXIT_OPEN};

static int write_or_report_gram(session *s, const gram *g) {
    const char *path = args_text(&s->args, "output");
    if (path && strcmp(path, "-") == 0)
        s->out = stderr;
    if (path)
        TRY(write_matrix(s, (written_matrix){g->K, g->n, g->m}, path));
    TRY(write_made(s, g));
    if (!s->json && !path && !gram_is_judged(g) && gram_is_small(g))
        TRY(write_csv(s, (written_matrix){g->K, g->n, g->m}, "-"));
    else
        TRY(report_gram(s, g, path));
    if (g->proved)
        return proof_status[g->proof.verdict];
    return g->checked && !g->facts.positive ? EXIT_NEGATIVE : EXIT_DONE;
}

static int run_gram(session *s) {
    gram g = {.facts.size = sizeof(mercer_gram_facts),
              .proof.size = sizeof(mercer_gram_proof),
              .repair.size = sizeof(mercer_gram_repaired),
              .rank.size = sizeof(mercer_gram_factored)};
    int code = read_input(s, &g);
    if (code == EXIT_DONE)
        code = compute_gram(s, &g);
    if (code == EXIT_DONE)
        code = write_or_report_gram(s, &g);
    free(g.factor);
    free(g.repaired);
    free(g.weights);
    free(g.K);
    mercer_data_free(g.other);
    mercer_data_free(g.data);
    mercer_kernel_free(g.bound);
    mercer_kernel_free(g.kernel);
    return code;
}

const verb verb_gram = {
    .name = "gram",
    .summary = "compute, write or check a Gram matrix",
    .usage =
        "KERNEL DATA [DATA2] [-o K.npy] [--check] [--prove] [--repair FILE] [--factor FILE] [--features] [options]",
    .notes = "K_ij = k(x_i, z_j) over the rows of DATA and of DATA2 (DATA again when it is not given). The target "
             "column is left out, as in fit;\n"
             "--no-target keeps every column. Without -o and --check a matrix of at most 50 x 50 is printed as CSV. "
             "The kernel need not be\n"
             "proved: --check is how to look at one that is not.\n\n"
             "  mercer gram rbf flowers.csv -o K.npy\n"
             "  mercer gram 'poly(degree=2)' flowers.csv --features -o Z.npy\n"
             "  mercer gram 'rbf(gamma=1) + white' flowers.csv --prove\n"
             "  mercer gram 'tanh(a=1, c=0)' flowers.csv --repair near.npy\n"
             "  mercer gram 'poly(degree=2)' flowers.csv --factor P.npy\n"
             "  mercer gram 'tanh(a=1, c=0)' flowers.csv --check",
    .least = 2,
    .most = 3,
    .tables = {options, data_options, common_options},
    .computes = true,
    .run = run_gram,
};
