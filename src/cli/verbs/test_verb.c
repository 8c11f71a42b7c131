/* test_verb.c: mercer test mmd A B, mercer test hsic DATA: two-sample and independence tests by permutation. */
#include "cli/cli.h"
#include <string.h>

static const option options[] = {
    {"kernel", 'k', "KERNEL", "an expression of the kernel language (default rbf, its bandwidth from all rows)"},
    {"x", 0, "COLUMNS", "hsic: the first set of columns, as in [1:3] or [age, income]"},
    {"y", 0, "COLUMNS", "hsic: the second set of columns"},
    {"permutations", 0, "B", "number of permutations (default 999)"},
    {0},
};

typedef struct testing {
    bool independence;
    int64_t permutations, seed;
    mercer_kernel *kernel, *other;
    mercer_data *x, *z;
    mercer_test result;
} testing;

static const char *kernel_text(const args *a) {
    return args_text(a, "kernel") ? args_text(a, "kernel") : "rbf";
}

static int kernel_on_columns(session *s, const char *name, mercer_kernel **out) {
    char expression[8192];
    const char *columns = args_text(&s->args, name);
    if (!columns)
        return print_error("test hsic needs --x COLUMNS and --y COLUMNS: which columns are to be independent of which");
    snprintf(expression, sizeof expression, "(%s)[%s]", kernel_text(&s->args), columns);
    return input_kernel(s, expression, out);
}

static int run_kernel_test(session *s, testing *t) {
    const args *a = &s->args;
    t->independence = strcmp(a->operand[0], "hsic") == 0;
    if (!t->independence && strcmp(a->operand[0], "mmd") != 0)
        return print_error("there is no test '%s'; there is: mmd (two samples), hsic (independence of columns)",
                           a->operand[0]);
    if (a->operands != (t->independence ? 2 : 3))
        return print_error(t->independence ? "test hsic takes one data file" : "test mmd takes two data files");
    TRY(args_whole(a, "permutations", 1, 10000000, &t->permutations));
    TRY(args_whole(a, "seed", 0, (int64_t)1 << 53, &t->seed));
    if (t->independence) {
        TRY(kernel_on_columns(s, "x", &t->kernel));
        TRY(kernel_on_columns(s, "y", &t->other));
        TRY(input_data(s, NULL, a->operand[1], NULL, MERCER_TARGET_AUTO, &t->x));
        TRY_CTX(s, mercer_test_hsic(s->ctx, t->kernel, t->other, t->x, t->permutations, (uint64_t)t->seed, &t->result));
        return EXIT_DONE;
    }
    TRY(input_kernel(s, kernel_text(a), &t->kernel));
    TRY(input_data(s, t->kernel, a->operand[1], NULL, MERCER_TARGET_AUTO, &t->x));
    TRY(input_data(s, t->kernel, a->operand[2], NULL, MERCER_TARGET_AUTO, &t->z));
    TRY_CTX(s, mercer_test_mmd(s->ctx, t->kernel, t->x, t->z, t->permutations, (uint64_t)t->seed, &t->result));
    return EXIT_DONE;
}

static const report_row test_rows[] = {
    {"kernel", NULL, "{kernel}[ and {other_kernel}]"},
    {"data", "test=hsic", "{n} rows"},
    {"data", "test=mmd", "{n} and {m} rows"},
    {"HSIC", "test=hsic", "{statistic:.6g}; under permutation mean {null_mean:.6g}, standard deviation {null_std:.2g}"},
    {"MMD^2", "test=mmd", "{statistic:.6g}; under permutation mean {null_mean:.6g}, standard deviation {null_std:.2g}"},
    {"p-value", NULL, "{p_value:.4g}, from {permutations} permutations"},
    {0},
};

static int report_test(session *s, const testing *t) {
    const mercer_test *r = &t->result;
    json_t *object = json_object();
    json_put(object, "test", json_text(t->independence ? "hsic" : "mmd"));
    json_put(object, "kernel", json_text(mercer_kernel_text(t->kernel)));
    if (t->other)
        json_put(object, "other_kernel", json_text(mercer_kernel_text(t->other)));
    json_put(object, "statistic", json_value(r->statistic));
    json_put(object, "p_value", json_value(r->p_value));
    json_put(object, "permutations", json_integer(r->permutations));
    json_put(object, "null_mean", json_value(r->null_mean));
    json_put(object, "null_std", json_value(r->null_std));
    json_put(object, "n", json_integer(r->n));
    json_put(object, "m", json_integer(r->m));
    return report_fields(s, object, test_rows);
}

static int run_test(session *s) {
    testing t = {.permutations = 999, .result.size = sizeof(mercer_test)};
    int code = run_kernel_test(s, &t);
    THEN(code, report_test(s, &t));
    mercer_data_free(t.x);
    mercer_data_free(t.z);
    mercer_kernel_free(t.kernel);
    mercer_kernel_free(t.other);
    return code;
}

const verb verb_test = {
    .name = "test",
    .summary = "kernel two-sample test (MMD) and independence test (HSIC)",
    .usage = "mmd A B | hsic DATA --x COLUMNS --y COLUMNS [-k KERNEL] [options]",
    .notes = "mmd compares the means of two samples in feature space, hsic looks for any dependence between two sets "
             "of columns.\n"
             "The p-value is that of a permutation test, valid for every number of rows; the same seed gives the same "
             "one on any\n"
             "number of threads. The target column is left out; --no-target keeps it.\n\n"
             "  mercer test mmd houses.csv new.csv --no-target\n"
             "  mercer test hsic houses.csv --x 2:3 --y price --no-target\n"
             "  mercer test mmd houses.csv new.csv --no-target --permutations 99 --json",
    .least = 2,
    .most = 3,
    .tables = {options, data_options, seed_options, common_options},
    .computes = true,
    .run = run_test,
};
