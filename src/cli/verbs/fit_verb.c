/* fit_verb.c: mercer fit DATA: fit a machine, save the model, say what came out. */
#include "cli/verbs/fit_verb.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const option options[] = {
    {"output", 'o', "MODEL", "the model file (default: the data file's name with .mercer, in this folder)"},
    {"start", 0, "MODEL",
     "support vector machines: warm start from this model of the same rows, with another kernel or C"},
    {"trace", 0, "FILE",
     "write every step of an iterative solver to this CSV file, with its objective or residual and the time; 'mercer "
     "plot FILE' draws it"},
    {0},
};

/* table.csv.gz -> table.mercer, in the current folder. */
static void default_path(const char *data, char *path, size_t size) {
    const char *slash = strrchr(data, '/'), *base = slash ? slash + 1 : data;
    if (strcmp(data, "-") == 0)
        base = "model";
    size_t length = strlen(base);
    if (length > 3 && strcmp(base + length - 3, ".gz") == 0)
        length -= 3;
    for (size_t i = length; i-- > 1;)
        if (base[i] == '.') {
            length = i;
            break;
        }
    snprintf(path, size, "%.*s.mercer", (int)length, base);
}

int choose_model_path(session *s, char *path, size_t size) {
    const char *named = args_text(&s->args, "output");
    if (named)
        snprintf(path, size, "%s", named);
    else
        default_path(s->args.operand[0], path, size);
    if (strcmp(path, "-") != 0)
        return check_model_path(path);
    if (s->json)
        return print_error("--json and a model on standard output (-o -) cannot share it; name a file");
    if (isatty(STDOUT_FILENO))
        return print_error("a model is binary and standard output is a terminal; name a file with -o");
    s->out = stderr;
    return EXIT_DONE;
}

/* Without consent only a proved kernel passes, so the question is open only with it. The model has the kernel that was
   fitted: a conditionally positive function may have been centred. */
static int find_verdict(session *s, fit *f) {
    f->verdict = MERCER_PROVED;
    if (!job_flag(&f->job, "allow-indefinite"))
        return EXIT_DONE;
    mercer_proof *proof = NULL;
    TRY_CTX(s, mercer_prove(s->ctx, mercer_model_kernel(f->model), mercer_data_columns(f->job.data), &proof));
    f->verdict = mercer_proof_verdict(proof);
    mercer_proof_free(proof);
    mercer_read set = mercer_read_defaults();
    mercer_kernel_reading(f->job.kernel, &set);
    if (set.gram) /* with consent its matrix may be any */
        f->verdict = MERCER_UNKNOWN;
    return EXIT_DONE;
}

static int read_start(session *s, fit *f) {
    const char *path = args_text(&s->args, "start"), *machine = f->job.machine->name;
    if (!path)
        return EXIT_DONE;
    if (strcmp(f->job.machine->type, "mercer_svm") != 0)
        return print_error("--start is for support vector machines; %s begins from nothing", machine);
    TRY(input_model(s, path, &f->start));
    ((mercer_svm *)f->job.settings)->start = f->start;
    return EXIT_DONE;
}

/* ---- Parameters that nobody gave ---- */

/* The settings a search has chosen, "C=10", among those of the fit. */
static int take_settings(session *s, fit *f, const char *words) {
    char name[64], value[64];
    if (sscanf(words, "%63[^=]=%63s", name, value) == 2)
        TRY_CTX(s, mercer_settings_put(s->ctx, f->job.settings, name, value));
    return EXIT_DONE;
}

/* Where nothing can be measured, for want of a rule for the machine, of rows, of memory or of a target that suits, the
   fit itself has the last word. */
static int choose_parameters(session *s, fit *f) {
    if (!job_is_open(s))
        return EXIT_DONE;
    if (!job_has_memory(s, &f->job)) {
        print_note(s, "no parameter was searched for: memory holds no fit of all rows with kernel %s",
                   mercer_kernel_text(f->job.kernel));
        return EXIT_DONE;
    }
    TRY(job_put_intercept(s, &f->job, true));
    const double began = clock_now();
    session_share(s, 1);
    const mercer_status status =
        mercer_tune_default(s->ctx, f->job.machine->name, f->job.settings, f->job.data, &f->search);
    f->search_seconds = clock_now() - began;
    if (status == MERCER_OK)
        return take_settings(s, f, mercer_search_candidate(f->search, mercer_search_report(f->search)->best).settings);
    if (status == MERCER_TIME || status == MERCER_CANCELLED)
        return session_fail(s, status);
    if (status != MERCER_INVALID) /* that there is no rule for the machine, or that its rows are few */
        print_note(s, "no parameter was searched for: %s", mercer_message(s->ctx));
    return job_put_intercept(s, &f->job, false);
}

static int fit_and_save(session *s, fit *f) {
    TRY(read_start(s, f));
    TRY(choose_parameters(s, f));
    const double began = clock_now();
    session_share(s, 1);
    trace_listen(f->trace, true);
    const mercer_status status =
        f->search ? mercer_search_fit(s->ctx, f->search, f->job.data, &f->model)
                  : mercer_fit(s->ctx, f->job.machine->name, f->job.settings, f->job.kernel, f->job.data, &f->model);
    f->seconds = clock_now() - began;
    trace_listen(f->trace, false);
    if (status)
        return session_fail_at(s, status, f->job.expression);
    if (!fit_was_stopped(f))
        TRY(session_alive(s));
    TRY(find_verdict(s, f));
    session_finish(s);
    TRY_CTX(s, mercer_model_save(s->ctx, f->model, f->path));
    return trace_write(s, f->trace, mercer_model_report(f->model)->solver);
}

static int run_fit(session *s) {
    fit *f = calloc(1, sizeof *f);
    int code = f ? choose_model_path(s, f->path, sizeof f->path) : session_fail(s, MERCER_MEMORY);
    if (code == EXIT_DONE)
        code = trace_open(s, &f->trace);
    if (code == EXIT_DONE)
        code = job_open(s, &f->job);
    if (code == EXIT_DONE)
        code = fit_and_save(s, f);
    if (code == EXIT_DONE)
        code = report_fit(s, f);
    if (code == EXIT_DONE && fit_was_stopped(f))
        code = EXIT_STOPPED;
    if (f) {
        mercer_model_free(f->model);
        mercer_model_free(f->start);
        mercer_search_free(f->search);
        trace_close(s, f->trace);
        job_close(&f->job);
    }
    free(f);
    return code;
}

const verb verb_fit = {
    .name = "fit",
    .summary = "fit a machine to data and save the model",
    .usage = "DATA [-m MACHINE] [-k KERNEL] [-o MODEL] [options]",
    .notes =
        "Fits a machine to a data file (CSV, TSV, LIBSVM text or .npy, plain or gzipped; - is standard input), saves "
        "the model and\n"
        "says how good the fit is and how far it can be from the exact optimum. A kernel that is not proved to be "
        "positive definite is\n"
        "refused unless --allow-indefinite is given. A file that is not a model is never replaced.\n"
        "With no kernel and no lambda or C a short search chooses the gamma of rbf and them, and the report says what "
        "it chose\n"
        "(ridge, which then has an intercept, svc, svr and logistic, from 20 rows on). With no kernel a column of free "
        "text,\n"
        "one of many values, is compared by spectrum, of which the search chooses p.\n\n"
        "  mercer fit houses.csv                        the last column is the target; machine and parameters are "
        "chosen\n"
        "  mercer fit houses.csv -k '0.5*rbf(sigma=2) + linear' --lambda 0.1 -o houses.mercer\n"
        "  mercer fit - --target price --json < houses.csv",
    .least = 1,
    .most = 1,
    .tables = {options, job_options, data_options, seed_options, common_options},
    .machine = true,
    .computes = true,
    .run = run_fit,
};
