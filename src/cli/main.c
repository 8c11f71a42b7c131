/* main.c: the command. The first word names a verb; its row says what follows. */
#include "cli.h"
#include "data/helpers.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const verb *const verbs[] = {&verb_fit,  &verb_predict, &verb_score,  &verb_update, &verb_prove,
                                    &verb_gram, &verb_path,    &verb_folds,  &verb_tune,   &verb_plan,
                                    &verb_plot, &verb_report,  &verb_show,   &verb_export, &verb_generate,
                                    &verb_info, &verb_test,    &verb_cluster};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static const verb *find_verb(const char *name) {
    for (int i = 0; i < VERBS; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

static int unknown_verb(const char *name) {
    mc_suggestion best = {.text = name};
    char list[160] = "";
    for (int i = 0; i < VERBS; i++) {
        mc_suggestion_try(&best, verbs[i]->name);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", verbs[i]->name);
    }
    if (best.name)
        return print_error("there is no verb '%s'; did you mean '%s'? The verbs are %s", name, best.name, list);
    return print_error("there is no verb '%s'; the verbs are %s", name, list);
}

/* OpenBLAS falls back to its oldest kernels on a processor newer than itself (measured, a fifth of the speed) unless
   OPENBLAS_CORETYPE says otherwise as it is loaded, before main. So the command starts itself again with that set: 2 to
   3 ms, once, and only verbs that compute pay it. A value set by the user is left alone, and its presence is also what
   ends the recursion. When the start fails the run simply goes on. */
static void set_environment(char **argv) {
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : mc_blas_better_core();
    if (core && setenv("OPENBLAS_CORETYPE", core, 0) == 0)
        execv("/proc/self/exe", argv);
}

static int run_verb(const verb *v, int argc, char **argv) {
    session s = {0};
    int code = args_parse(v, argc - 2, argv + 2, &s.args);
    if (code == EXIT_DONE && s.args.help) {
        help_verb(stdout, v);
        args_close(&s.args);
        return EXIT_DONE;
    }
    THEN(code, files_check(&s.args));
    if (code == EXIT_DONE && v->computes)
        set_environment(argv);
    THEN(code, session_open(&s));
    THEN(code, v->run(&s));
    if (s.undelivered)
        code = s.undelivered;
    code = ranks_finish(&s, code);
    session_close(&s);
    return code;
}

static int print_help(int argc, char **argv) {
    if (argc > 2 && (strcmp(argv[2], "--man") == 0 || strcmp(argv[2], "--completion") == 0))
        return help_for_programs(stdout, argv[2], argc > 3 ? argv[3] : NULL, verbs, VERBS);
    const verb *v = argc > 2 ? find_verb(argv[2]) : NULL;
    if (v)
        help_verb(stdout, v);
    else if (argc > 2)
        return unknown_verb(argv[2]);
    else
        help_overview(stdout, verbs, VERBS);
    return EXIT_DONE;
}

static int dispatch_verb(int argc, char **argv) {
    if (argc < 2) {
        help_overview(stderr, verbs, VERBS);
        return EXIT_BAD;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("mercer %s\n", mercer_version());
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(argc, argv);
    const verb *v = find_verb(argv[1]);
    return v ? run_verb(v, argc, argv) : unknown_verb(argv[1]);
}

/* A result that could not be printed was not delivered. A reader that has gone away (mercer ... | head) wanted no more:
 * no words then. */
int main(int argc, char **argv) {
    ranks_hush(argc, argv);
    const int code = dispatch_verb(argc, argv);
    ranks_depart(code);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (errno != EPIPE)
        print_error("cannot write standard output: %s", strerror(errno));
    return EXIT_BAD;
}
