/* generate_verb.c: mercer generate NAME: made-up data, the same for the same seed everywhere. */
#include "cli/cli.h"
#include "data/helpers.h"
#include <string.h>

static const option options[] = {
    {"rows", 'n', "N", "how many rows (default 200)"},
    {"noise", 0, "SD", "standard deviation of the noise (default 0.1)"},
    {"output", 'o', "FILE", "the CSV file (default: standard output)"},
    {0},
};

static int list_names(session *s) {
    int count = 0;
    const char *const *names = mercer_generators(&count);
    json_t *array = json_array(), *object = json_object();
    for (int i = 0; i < count; i++) {
        json_array_append_new(array, json_text(names[i]));
        if (!s->json)
            fprintf(s->out, "%s\n", names[i]);
    }
    json_put(object, "generators", array);
    return json_finish(s, object);
}

static int check_name(const char *name) {
    mc_suggestion best = {.text = name};
    int count = 0;
    const char *const *names = mercer_generators(&count);
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return EXIT_DONE;
        mc_suggestion_try(&best, names[i]);
    }
    if (best.name)
        return print_error("there is no generator '%s'; did you mean '%s'?", name, best.name);
    return print_error("there is no generator '%s'; 'mercer generate' lists them", name);
}

static int report_generated(session *s, const mercer_data *data, const char *path) {
    if (!s->json)
        say_data(s, path, data);
    json_t *object = json_object();
    json_put(object, "name", json_text(s->args.operand[0]));
    json_put(object, "n", json_integer(mercer_data_rows(data)));
    json_put(object, "d", json_integer(mercer_data_columns(data)));
    json_put(object, "output", json_text(path));
    return json_finish(s, object);
}

static int write_data(session *s, const mercer_data *data) {
    const char *path = args_text(&s->args, "output");
    const bool file = path && strcmp(path, "-") != 0;
    TRY_CTX(s, mercer_data_write(s->ctx, data, file ? path : NULL));
    return file ? report_generated(s, data, path) : EXIT_DONE;
}

static int run_generate(session *s) {
    const args *a = &s->args;
    if (!a->operands)
        return list_names(s);
    int64_t n = 200, seed = 0;
    double noise = 0.1;
    TRY(check_name(a->operand[0]));
    TRY(args_whole(a, "rows", 1, 1000000000, &n));
    TRY(args_whole(a, "seed", 0, (int64_t)1 << 53, &seed));
    TRY(args_real(a, "noise", 0, 1e9, &noise));
    if (s->json && !args_text(a, "output"))
        return print_error("--json and CSV cannot share standard output: name a file with -o");
    mercer_data *data = NULL;
    TRY_CTX(s, mercer_data_generate(s->ctx, a->operand[0], n, noise, (uint64_t)seed, &data));
    const int code = write_data(s, data);
    mercer_data_free(data);
    return code;
}

const verb verb_generate = {
    .name = "generate",
    .summary = "generate a synthetic data set (without a name: list them)",
    .usage = "[NAME] [-n N] [--noise SD] [--seed S] [-o FILE]",
    .notes = "Writes CSV with a header, the target last. The same name, size, noise and seed give the same numbers on "
             "every machine.\n\n"
             "  mercer generate\n"
             "  mercer generate moons -n 500 --noise 0.2 -o moons.csv\n"
             "  mercer generate friedman1 -n 100 --seed 7 | mercer fit - -o friedman.mercer",
    .least = 0,
    .most = 1,
    .tables = {options, seed_options, common_options},
    .run = run_generate,
};
