/* tune_verb.c: mercer tune DATA: search the parameters of kernels and machines, fit the best to all rows, save the
   model. */
#include "cli/verbs/tune_verb.h"
#include <stdlib.h>
#include <string.h>

const option tune_options[] = {
    {"repeats", 0, "N", "repeat the folds with other seeds (default 1)"},
    {"ordered", 0, NULL,
     "rows are in order of time: each fold is predicted from the rows before it (time series split)"},
    {"test", 0, "FILE", "measure on the rows of this file instead of folds"},
    {"score", 0, "NAME",
     "accuracy|balanced-accuracy|log-loss|auc|f1|rmse|mae|r2|pinball|gcv|evidence (default: what suits the machine)"},
    {"points", 0, "N", "points of every range on the grid (default 8; 50 for the lambda of ridge)"},
    {"search", 0, "HOW",
     "grid|random|gradient: random is quasi-random (Sobol); gradient (ridge, gp) is L-BFGS from several starts "
     "(default grid)"},
    {"candidates", 0, "N", "random: how many (default 50); gradient: how many starts (default 4)"},
    {"one-standard-error", 0, NULL,
     "one-standard-error rule: of the candidates within one standard error of the best take the most regularized"},
    {"halving", 0, NULL,
     "successive halving: all candidates on few rows, the best sixteenth on four times as many, and so on"},
    {"journal", 0, "FILE", "file that keeps what was measured; a search resumes from it where it exists"},
    {0},
};

static const option output_options[] = {
    {"output", 'o', "MODEL", "the model file (default: the data file's name with .mercer, in this folder)"},
    {"top", 0, "N", "candidates listed (default 10; --json lists all)"},
    {0},
};

/* ---- From the options ---- */

static int read_kernels(session *s, tuning *t) {
    int from = 0, count = 0;
    t->kernel = session_take(s, s->args.count, 1, sizeof *t->kernel);
    if (!t->kernel)
        return EXIT_MEMORY;
    for (const char *one = args_next(&s->args, "kernel", &from); one; one = args_next(&s->args, "kernel", &from))
        TRY(input_kernel(s, one, &t->kernel[count++]));
    t->set.kernels = count ? (const mercer_kernel *const *)t->kernel : NULL;
    t->set.kernel_count = count;
    return EXIT_DONE;
}

static int read_numbers(session *s, tuning *t) {
    static const char *const methods[] = {"grid", "random", "gradient"};
    int method = 0;
    int64_t seed = 0;
    TRY(args_whole(&s->args, "repeats", 1, 1000, &t->set.repeats));
    TRY(args_whole(&s->args, "points", 2, 100000, &t->set.points));
    TRY(args_whole(&s->args, "candidates", 1, 1000000, &t->set.candidates));
    TRY(args_whole(&s->args, "seed", 0, (int64_t)1 << 53, &seed));
    TRY(args_choice(&s->args, "search", "grid|random|gradient", &method));
    if (args_text(&s->args, "candidates") && method == 0)
        return print_error(
            "--candidates is the number of random ones, or of starts; --search random or gradient asks for "
            "them, --points sets the grid");
    t->set.search = methods[method];
    t->set.seed = (uint64_t)seed;
    return EXIT_DONE;
}

/* The range that suits the machine is searched unless the user has said something about that setting. */
static void choose_ranges(const session *s, tuning *t) {
    static const char *const none[] = {NULL};
    const char *suits = mercer_tune_range(t->job.machine->name), *equals = suits ? strchr(suits, '=') : NULL;
    bool said = !suits;
    for (int i = 0; i < s->args.count && suits; i++)
        said = said
               || (s->args.given[i].setting && strlen(s->args.given[i].name) == (size_t)(equals - suits)
                   && strncmp(s->args.given[i].name, suits, (size_t)(equals - suits)) == 0);
    if (t->job.ranges)
        t->set.ranges = (const char *const *)t->job.range;
    else if (said)
        t->set.ranges = none;
}

static int read_groups(session *s, tuning *t) {
    const int64_t n = mercer_data_rows(t->job.data);
    t->group = session_take(s, n, 1, sizeof *t->group);
    for (int64_t i = 0; t->group && i < n; i++)
        t->group[i] = mercer_data_text(t->job.data, i, 0);
    t->set.groups = t->group;
    return t->group ? EXIT_DONE : EXIT_MEMORY;
}

static int read_splits(session *s, tuning *t) {
    const char *file = args_text(&s->args, "test");
    t->set.folds = t->by.k;
    t->set.ordered = args_flag(&s->args, "ordered");
    if (t->by.groups)
        TRY(read_groups(s, t));
    if (file)
        TRY(input_data(s, t->kernel[0], file, NULL,
                       mercer_data_classes(t->job.data) ? MERCER_TARGET_CLASS : MERCER_TARGET_NUMBER, &t->test));
    t->set.hold_out = t->test;
    return EXIT_DONE;
}

int tuning_open(session *s, tuning *t) {
    t->set = mercer_tune_defaults();
    t->job.searches = true;
    TRY(read_numbers(s, t));
    TRY(read_kernels(s, t));
    TRY(folding_read(s, &t->by));
    t->job.reads = t->kernel[0];
    TRY(job_open(s, &t->job));
    TRY(job_put_intercept(s, &t->job, true));
    TRY(read_splits(s, t));
    choose_ranges(s, t);
    t->set.one_error = args_flag(&s->args, "one-standard-error");
    t->set.halving = args_flag(&s->args, "halving");
    t->set.journal = args_text(&s->args, "journal");
    if (args_text(&s->args, "score"))
        t->set.score = args_text(&s->args, "score");
    return EXIT_DONE;
}

void tuning_close(tuning *t) {
    mercer_search_free(t->search);
    mercer_search_free(t->first);
    mercer_model_free(t->model);
    for (int64_t i = 0; t->kernel && i < t->set.kernel_count; i++)
        mercer_kernel_free(t->kernel[i]);
    free(t->kernel);
    free(t->group);
    mercer_data_free(t->test);
    folding_close(&t->by);
    job_close(&t->job);
}

/* ---- The verb ---- */

/* Where nothing is said of what `mercer fit` would choose by itself, its choice is a candidate too: then nothing is
   lost by searching more. Where it would not search, or cannot, there is none. */
static int search_as_fit(session *s, tuning *t) {
    if (!job_is_open(s) || strcmp(t->set.search, "gradient") == 0)
        return EXIT_DONE;
    const bool planned = s->plans;
    session_share(s, 0.3);
    const mercer_status status =
        mercer_tune_default(s->ctx, t->job.machine->name, t->job.settings, t->job.data, &t->first);
    session_share(s, 1);
    s->plans = planned;
    if (status == MERCER_TIME || status == MERCER_CANCELLED)
        return session_fail(s, status);
    t->set.start = t->first;
    return EXIT_DONE;
}

/* The time for a fit is up as well: what was found is said, and how to fit it. */
static int say_unfitted(session *s, const tuning *t) {
    static const char *const except[] = {"kernel", "lambda", "C", "nu", "neighbors", "epsilon", NULL};
    const mercer_candidate c = mercer_search_candidate(t->search, mercer_search_report(t->search)->best);
    char words[256], *rest = NULL;
    advice a = advise_command(s, &verb_fit, t->job.machine, except);
    advice_add(&a, "-k");
    advice_add(&a, c.kernel);
    snprintf(words, sizeof words, "%s", c.settings);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        char name[64];
        snprintf(name, sizeof name, "--%.*s", (int)(equals - word), word);
        advice_add(&a, name);
        advice_add(&a, equals + 1);
    }
    session_wipe(s);
    print_error(
        "the search was stopped, and a fit of its best takes more than %d s; no file was written; to fit it: %s",
        SESSION_GRACE, a.bytes);
    return EXIT_STOPPED;
}

static int search_and_fit_best(session *s, tuning *t) {
    const double began = clock_now();
    if (!t->set.kernels && !job_has_memory(s, &t->job)) {
        print_error("tune: whatever is found, a fit to all rows needs more memory than the limit of %s leaves; to see "
                    "what takes it: %s",
                    text_size(mercer_memory_limit(s->ctx)).bytes,
                    advise_command(s, &verb_plan, t->job.machine, NULL).bytes);
        return EXIT_MEMORY;
    }
    TRY(search_as_fit(s, t));
    TRY_CTX(s, mercer_tune_run(s->ctx, t->job.machine->name, t->job.settings, &t->set, t->job.data, &t->search));
    t->seconds = clock_now() - began;
    const bool stopped = strcmp(mercer_search_report(t->search)->stopped, "no") != 0;
    if (stopped)
        session_resume(s);
    const mercer_status status = mercer_search_fit(s->ctx, t->search, t->job.data, &t->model);
    if (stopped && (status == MERCER_TIME || status == MERCER_CANCELLED))
        return say_unfitted(s, t);
    if (status)
        return session_fail(s, status);
    if (!stopped)
        TRY(session_alive(s));
    session_wipe(s);
    TRY_CTX(s, mercer_model_save(s->ctx, t->model, t->path));
    TRY(report_tuning(s, t));
    return stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int run_tune(session *s) {
    tuning t = {0};
    int code = choose_model_path(s, t.path, sizeof t.path);
    THEN(code, tuning_open(s, &t));
    THEN(code, search_and_fit_best(s, &t));
    tuning_close(&t);
    return code;
}

const verb verb_tune = {
    .name = "tune",
    .summary = "search kernels, their parameters and settings by cross-validation; fit and save the best",
    .usage = "DATA [-m MACHINE] [-k KERNEL ...] [--SETTING RANGE] [-o MODEL] [options]",
    .notes = "A range low..high or a set {a, b} may stand for a number in a kernel and for a number of a setting; "
             "ranges of positive numbers are\n"
             "cut on a logarithmic scale. Without -k the gamma of rbf is searched around its default (not for knn: "
             "every gamma has the same\n"
             "neighbours), and a setting that decides much (C, lambda, nu, neighbors) is searched unless it is given. "
             "Ridge is measured on every\n"
             "row left out, exactly and without refitting; svc and svr along paths of C; the others by a fit on every "
             "fold. The best candidate is\n"
             "fitted to all rows and saved.\n"
             "Stopped by --time-limit or Ctrl-C, the best so far is fitted and saved, for which it has five seconds "
             "more, and the exit status is 4.\n\n"
             "  mercer tune houses.csv -k 'rbf(gamma=1e-3..10)' -k 'matern(nu={0.5, 1.5, 2.5}, length_scale=0.1..10)'\n"
             "  mercer tune moons.csv -m svc -k 'rbf(gamma=1e-3..10)' --C 0.1..1000 --folds 10 -o moons.mercer\n"
             "  mercer tune moons.csv -m logistic --search random --candidates 100 --halving --journal search.log\n"
             "  mercer tune houses.csv -k 'rbf(gamma=1e-3..10)[rooms] * rbf(gamma=1e-3..10)[area]' --search gradient",
    .least = 1,
    .most = 1,
    .tables = {output_options, tune_options, fold_options, job_options, data_options, seed_options, common_options},
    .machine = true,
    .computes = true,
    .run = run_tune,
};
