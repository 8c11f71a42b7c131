/* fit_verb.c: mercer fit DATA: fit a machine, save the model, say what came out. */
#include "cli/reports/trace.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const option options[] = {
    {"output", 'o', "MODEL", "the model file (default: the data file's name with .mercer, in this folder)"},
    {"start", 0, "MODEL",
     "support vector machines: begin at the multipliers of this model of the same rows, of another kernel or C"},
    {"trace", 0, "FILE",
     "write every step of an iterative solver there, as CSV: what it watches and when; 'mercer plot FILE' draws it"},
    {0},
};

typedef struct fit {
    job job;
    mercer_model *model, *start; /* start: NULL unless asked for */
    trace *trace;                /* NULL unless asked for */
    mercer_search *search;       /* for parameters that nobody gave; NULL: there was nothing to search */
    double search_seconds;
    mercer_verdict verdict; /* on the kernel as fitted */
    char path[4096];        /* of the model */
    double seconds;
    bool scored; /* on its own training rows, where nothing better is known */
    mercer_scores training;
} fit;

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

/* Without consent only a proved kernel passes, so the question is open only with it. */
static int find_verdict(session *s, fit *f) {
    f->verdict = MERCER_PROVED;
    if (!job_flag(&f->job, "allow-indefinite"))
        return EXIT_DONE;
    mercer_proof *proof = NULL;
    TRY_CTX(s, mercer_prove(s->ctx, f->job.kernel, mercer_data_columns(f->job.data), &proof));
    f->verdict = mercer_proof_verdict(proof);
    mercer_proof_free(proof);
    mercer_read set = mercer_read_defaults();
    mercer_kernel_reading(f->job.kernel, &set);
    if (set.gram) /* with consent its matrix may be any */
        f->verdict = MERCER_UNKNOWN;
    return EXIT_DONE;
}

/* A machine that was stopped hands over its best answer so far: that is saved, and the exit status tells. */
static bool was_stopped(const fit *f) {
    const char *stopped = mercer_model_report(f->model)->stopped;
    return stopped && (strcmp(stopped, "time") == 0 || strcmp(stopped, "caller") == 0);
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
    session_share(s, 0.1);
    const mercer_status status =
        mercer_tune_default(s->ctx, f->job.machine->name, f->job.settings, f->job.data, &f->search);
    f->search_seconds = clock_now() - began;
    if (status == MERCER_OK)
        return take_settings(s, f, mercer_search_candidate(f->search, mercer_search_result(f->search)->best).settings);
    if (status == MERCER_TIME || status == MERCER_CANCELLED)
        return session_fail(s, status);
    if (status == MERCER_MEMORY)
        print_note(s, "no parameter was searched for: %s", mercer_message(s->ctx));
    return job_put_intercept(s, &f->job, false);
}

static int fit_and_save(session *s, fit *f) {
    TRY(find_verdict(s, f));
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
    if (!was_stopped(f))
        TRY(session_alive(s));
    session_finish(s);
    TRY_CTX(s, mercer_model_save(s->ctx, f->model, f->path));
    return trace_write(s, f->trace, mercer_model_report(f->model)->solver);
}

/* ---- For people ---- */

/* What predicting the mean would cost: the yardstick for an error in the target's own unit. */
static double target_std(const mercer_data *data) {
    const int64_t n = mercer_data_rows(data);
    double mean = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        mean += mercer_data_target(data, i, 0) / (double)n;
    for (int64_t i = 0; i < n; i++)
        sum += pow(mercer_data_target(data, i, 0) - mean, 2);
    return sqrt(sum / (double)n);
}

static json_t *json_fit(const fit *f) {
    json_t *object = json_report(f->model);
    if (!mercer_model_classes(f->model) && mercer_data_outputs(f->job.data) == 1)
        json_put(object, "mean_rmse", json_value(target_std(f->job.data)));
    return object;
}

/* The model is saved already: when this is stopped, the report goes without it. */
static void score_training(session *s, fit *f) {
    if (f->job.machine->target == MERCER_TARGET_NONE)
        return; /* learned from the rows alone: there is nothing to be right about */
    if (mercer_model_report(f->model)->held_out || *mercer_model_stages(f->model))
        return; /* the held-out rows say it better */
    if (mercer_model_report(f->model)->neighbors)
        return; /* a row is its own nearest neighbour */
    f->training.size = sizeof f->training;
    if (isnan(mercer_model_report(f->model)->loo_rmse) || mercer_model_classes(f->model))
        f->scored = mercer_score(s->ctx, f->model, f->job.data, &f->training) == MERCER_OK;
}

static const report_row quality_rows[] = {
    {"training", "classes", "accuracy {training.accuracy:%.4g} on the rows it was fitted to"},
    {"training", "!classes", "RMSE {training.rmse:.4g}[, R2 {training.r2:.4g}] on the rows it was fitted to"},
    {"LOO error", "!loo_rmse loo_wanted",
     "not known: {solver} has no leave-one-out error; with more memory or time cholesky does"},
    {"LOO error", "classes", "leave-one-out RMSE {loo_rmse:.4g}, on class indicators +1 and -1"},
    {"LOO error", "!classes", "leave-one-out RMSE {loo_rmse:.4g}[ (predicting the mean: {mean_rmse:.4g})]"},
    {0},
};

/* The object that programs get, with what is found for people alone: the error on the rows of the fit, which would
   take programs a prediction of all rows. */
static json_t *quality_of(session *s, const fit *f) {
    json_t *object = json_fit(f);
    const char *wish = args_text(&s->args, "loo");
    json_put(object, "loo_wanted", json_boolean(wish && strcmp(wish, "yes") == 0));
    if (f->scored)
        json_put(object, "training",
                 json_pack("{s:o, s:o, s:o}", "accuracy", json_value(f->training.accuracy), "rmse",
                           json_value(f->training.rmse), "r2", json_value(f->training.r2)));
    return object;
}

static const char *verdict_remark(mercer_verdict verdict) {
    static const char *const texts[] = {
        [MERCER_PROVED] = " (proved)",
        [MERCER_REFUTED] = " (refuted: not positive definite; fitted by consent)",
        [MERCER_UNKNOWN] = " (neither proved nor refuted; fitted by consent)",
    };
    return texts[verdict];
}

/* "C 1, epsilon 0.1": the numbers that shape a machine without a lambda. */
static void shape_text(const job *j, char *bytes, size_t size) {
    const char *const names[] = {"C", "nu", "epsilon", "neighbors", "components"};
    bytes[0] = '\0';
    for (int i = 0; i < 5; i++) {
        const mercer_setting *row = setting_find(j->machine, names[i]);
        const void *field = row ? (const char *)j->settings + row->offset : NULL;
        if (row)
            snprintf(bytes + strlen(bytes), size - strlen(bytes), "%s%s %g", *bytes ? ", " : "", names[i],
                     row->type == MERCER_INTEGER ? (double)*(const int64_t *)field : *(const double *)field);
    }
}

/* The norm has a meaning where the kernel is one; what lambda is to a fit by steps, the step, says nothing of it. */
static void penalty_text(const fit *f, char *bytes, size_t size) {
    const mercer_report *r = mercer_model_report(f->model);
    char norm[48] = "";
    if (f->verdict == MERCER_PROVED && setting_find(f->job.machine, "lambda") && isfinite(r->norm))
        snprintf(norm, sizeof norm, "norm %.4g, ", r->norm);
    const bool always = !setting_find(f->job.machine, "intercept");
    const char *intercept = always || job_flag(&f->job, "intercept") ? "with intercept" : "no intercept";
    snprintf(bytes, size, "%s, %s%s", text_penalty(r).bytes, norm, intercept);
}

static void say_machine(session *s, const fit *f) {
    const mercer_report *r = mercer_model_report(f->model);
    const char *chosen = f->job.chosen;
    char shape[128];
    if (isnan(r->lambda))
        shape_text(&f->job, shape, sizeof shape);
    else
        penalty_text(f, shape, sizeof shape);
    say_fact(s, "machine", "%s, %s%s%s%s", r->machine, shape, chosen ? " (" : "", chosen ? chosen : "",
             chosen ? ")" : "");
}

static bool same_kind(const char *a, const char *b) {
    const size_t length = strcspn(a, "(");
    return length == strcspn(b, "(") && strncmp(a, b, length) == 0;
}

/* The best candidate with a kernel of another kind; -1: there is none. */
static int64_t best_other(const mercer_search *search, const mercer_candidate *chosen, bool larger) {
    int64_t best = -1;
    double most = 0;
    for (int64_t i = 0; i < mercer_search_count(search); i++) {
        const mercer_candidate c = mercer_search_candidate(search, i);
        const double score = larger ? c.score : -c.score;
        if (same_kind(c.kernel, chosen->kernel) || !isfinite(score) || (best >= 0 && score <= most))
            continue;
        best = i;
        most = score;
    }
    return best;
}

static void say_chosen(session *s, const fit *f) {
    if (!f->search)
        return;
    const mercer_search_report *r = mercer_search_result(f->search);
    const mercer_candidate c = mercer_search_candidate(f->search, r->best);
    const int64_t all = mercer_data_rows(f->job.data);
    char part[64] = "", beside[64] = "";
    if (c.rows < all)
        snprintf(part, sizeof part, " of %lld of the rows", (long long)c.rows);
    const int64_t other = best_other(f->search, &c, r->larger_is_better);
    const mercer_candidate next = mercer_search_candidate(f->search, other);
    if (other >= 0)
        snprintf(beside, sizeof beside, " (the best %.*s: %.4g)", (int)strcspn(next.kernel, "("), next.kernel,
                 next.score);
    say_fact(s, "chose", "%s, %s among %lld candidates: %s %.4g%s, %s%s; to search more: %s", c.kernel, c.settings,
             (long long)mercer_search_count(f->search), r->score, c.score, beside, r->splits, part,
             advise_command(s, &verb_tune, f->job.chosen ? NULL : f->job.machine, NULL).bytes);
}

/* ---- Stages ---- */

/* The command for the machine itself on all rows, with what was chosen. */
static advice advise_exact(session *s, const fit *f) {
    static const char *const except[] = {"time-limit", "kernel", "lambda", "C", "intercept", "output", NULL};
    static const char *const limit[] = {"time-limit", NULL};
    if (!f->search) {
        advice same = advise_command(s, &verb_fit, f->job.machine, limit);
        if (setting_find(f->job.machine, "exact") && !job_flag(&f->job, "exact"))
            advice_add(&same, "--exact");
        return same;
    }
    const mercer_report *r = mercer_model_report(f->model);
    advice a = advise_command(s, &verb_fit, f->job.machine, except);
    const mercer_candidate c = mercer_search_candidate(f->search, mercer_search_result(f->search)->best);
    const char *equals = strchr(c.settings, '=');
    char name[64], value[32];
    snprintf(name, sizeof name, "--%.*s", (int)(equals ? equals - c.settings : 0), c.settings);
    snprintf(value, sizeof value, "%.10g", isnan(r->lambda) && equals ? strtod(equals + 1, NULL) : r->lambda);
    advice_add(&a, "-k");
    advice_add(&a, c.kernel);
    advice_add(&a, name);
    advice_add(&a, value);
    if (job_flag(&f->job, "intercept") && setting_find(f->job.machine, "intercept"))
        advice_add(&a, "--intercept");
    return a;
}

static json_t *json_stages_of(session *s, const fit *f) {
    return json_stages(f->model, advise_exact(s, f).bytes);
}

static void say_scale(session *s, const fit *f) {
    const char *scale = mercer_model_report(f->model)->scale;
    const char *asked = args_text(&s->args, "scale");
    if (scale && strcmp(scale, "none") != 0)
        say_fact(s, "scaling", "%s%s", scale,
                 asked && strcmp(asked, "auto") != 0 ? "" : " (chosen: the columns differ in spread by more than 10x)");
}

static void say_times(session *s, const fit *f) {
    const mercer_report *r = mercer_model_report(f->model);
    char search[64] = "";
    if (f->search)
        snprintf(search, sizeof search, "%s for the choice, ", text_seconds(f->search_seconds).bytes);
    say_fact(s, "time", "%s%s for the fit by %s, %s to read; %s of memory", search, text_seconds(f->seconds).bytes,
             r->solver, text_seconds(f->job.read_seconds).bytes, text_size(mercer_memory_peak(s->ctx)).bytes);
}

/* Columns that are not scaled, and may be: values from elsewhere may not. */
static bool may_scale(const fit *f) {
    mercer_read set = mercer_read_defaults();
    mercer_kernel_reading(f->job.kernel, &set);
    return strcmp(mercer_model_report(f->model)->scale, "none") == 0 && !set.gram
           && setting_find(f->job.machine, "scale") && mercer_data_columns(f->job.data) > 0;
}

/* Whether all of it fits in one matrix that can be factored, which a system of several classes does not. */
static bool may_factor(const fit *f) {
    return !(mercer_model_classes(f->model) > 2 && strcmp(f->job.machine->name, "logistic") == 0)
           && strcmp(mercer_model_report(f->model)->solver, "cholesky") != 0;
}

/* A fit that has hardly any freedom is held back too much, one that has as much as there are rows too little. */
static const char *other_lambda(const fit *f) {
    const mercer_report *r = mercer_model_report(f->model);
    return isnan(r->dof)                 ? "another --lambda"
           : r->dof < 0.5 * (double)r->n ? "a smaller --lambda"
                                         : "a larger --lambda";
}

static void say_next(session *s, const fit *f) {
    const double loo = mercer_model_report(f->model)->loo_rmse;
    const bool plain = mercer_data_outputs(f->job.data) == 1 && !isnan(loo);
    const bool direct = mercer_model_report(f->model)->iterations == 0 && !mercer_model_report(f->model)->approximate;
    if (isnan(loo) && direct && mercer_model_report(f->model)->lambda > 0 && setting_find(f->job.machine, "loo"))
        say_fact(s, "next", "--loo gives the leave-one-out error; %s",
                 advise_file("predict", f->path, "NEW_DATA").bytes);
    else if (plain && loo > 0.95 * target_std(f->job.data) && !setting_find(f->job.machine, "lambda"))
        say_fact(s, "next", "no better than the mean: try another -k");
    else if (plain && loo > 0.95 * target_std(f->job.data))
        say_fact(s, "next", "no better than the mean: try %s%s or another -k",
                 args_text(&s->args, "norm-bound") || args_text(&s->args, "dof") ? "another bound" : other_lambda(f),
                 may_scale(f) ? ", --scale standard" : "");
    else
        say_fact(s, "next", "%s", advise_file("predict", f->path, "NEW_DATA").bytes);
}

/* A support vector machine that is short of its tolerance: what there is to change for this one. */
static void say_short(session *s, const fit *f) {
    const mercer_report *r = mercer_model_report(f->model);
    const char *precision = args_text(&s->args, "precision");
    const bool single = precision ? strcmp(precision, "single") == 0 : r->n > 3000;
    char shape[128];
    shape_text(&f->job, shape, sizeof shape);
    if (strcmp(r->stopped, "steps") == 0)
        say_fact(s, "stopped",
                 "short of the tolerance after %lld steps; the certificate says where; try more --iterations",
                 (long long)r->iterations);
    else
        say_fact(s, "stopped",
                 "short of the tolerance: at %s rounding hides what is left, the certificate says where; try %s%s%s",
                 shape, setting_find(f->job.machine, "C") ? "a smaller --C" : "a larger --tolerance",
                 may_scale(f) ? ", or --scale standard" : "", single ? ", or --precision double" : "");
}

/* Why it ended before its aim, where it did. */
static void say_stopped(session *s, const fit *f) {
    const char *why = mercer_model_report(f->model)->stopped;
    if (was_stopped(f))
        say_fact(s, "stopped", "early by the %s: this is the best model so far",
                 s->expired || strcmp(why, "time") == 0 ? "time limit" : "user");
    else if (strcmp(why, "no") != 0 && mercer_model_report(f->model)->certificate.kkt_violation >= 0)
        say_short(s, f);
    else if (strcmp(why, "no") != 0 && strcmp(mercer_model_report(f->model)->machine, "pca") == 0)
        say_fact(s, "stopped",
                 "short of the tolerance; the certificate says where; try a larger --tolerance, or --solver dense");
    else if (strcmp(why, "precision") == 0)
        say_fact(s, "stopped",
                 "short of the tolerance: at this lambda double precision reaches no further; try a larger one%s",
                 may_factor(f) ? ", or --solver cholesky" : "");
    else if (strcmp(why, "steps") == 0)
        say_fact(s, "stopped", "short of the tolerance after %lld steps; try a larger lambda%s",
                 (long long)mercer_model_report(f->model)->iterations, may_factor(f) ? ", or --solver cholesky" : "");
}

static int report_people(session *s, fit *f) {
    if (!prints_report(s))
        return EXIT_DONE;
    score_training(s, f);
    say_machine(s, f);
    say_kernel(s, mercer_model_kernel(f->model), verdict_remark(f->verdict));
    say_data(s, f->job.path, f->job.data);
    say_scale(s, f);
    say_chosen(s, f);
    json_t *object = quality_of(s, f);
    say_fields(s, object, quality_rows);
    say_report(s, object);
    json_decref(object);
    json_t *stages = json_stages_of(s, f);
    say_stages(s, stages);
    json_decref(stages);
    say_times(s, f);
    say_stopped(s, f);
    if (strcmp(f->path, "-") == 0)
        return EXIT_DONE;
    say_fact(s, "model", "%s", f->path);
    trace_say(s, f->trace);
    say_next(s, f);
    return EXIT_DONE;
}

/* ---- For programs ---- */

static void put_chosen(const fit *f, json_t *object) {
    const mercer_search_report *r = mercer_search_result(f->search);
    const mercer_candidate c = mercer_search_candidate(f->search, r->best);
    json_t *chosen = json_object();
    json_put(chosen, "kernel", json_text(c.kernel));
    json_put(chosen, "settings", json_text(c.settings));
    json_put(chosen, "score", json_value(c.score));
    json_put(chosen, "score_name", json_text(r->score));
    json_put(chosen, "splits", json_text(r->splits));
    json_put(chosen, "rows", json_integer((json_int_t)c.rows));
    json_put(chosen, "candidates", json_integer((json_int_t)mercer_search_count(f->search)));
    json_put(object, "chosen", chosen);
}

static int report_json(session *s, const fit *f) {
    static const char *const verdicts[] = {"proved", "refuted", "unknown"};
    json_t *object = json_fit(f), *seconds = json_object();
    if (s->expired && was_stopped(f))
        /* the caller that stopped it was this command, watching the clock */
        json_put(object, "stopped", json_text("time"));
    json_put(seconds, "read", json_value(f->job.read_seconds));
    if (f->search)
        json_put(seconds, "choice", json_value(f->search_seconds));
    json_put(seconds, "fit", json_value(f->seconds));
    json_put(seconds, "total", json_value(clock_now() - s->began));
    json_put(object, "kernel_verdict", json_text(verdicts[f->verdict]));
    json_put(object, "seconds", seconds);
    json_put(object, "memory_peak_bytes", json_integer((json_int_t)mercer_memory_peak(s->ctx)));
    json_put(object, "model", json_text(f->path));
    if (f->trace)
        json_put(object, "trace", trace_json(f->trace));
    if (f->search)
        put_chosen(f, object);
    if (*mercer_model_stages(f->model))
        json_put(object, "stages", json_stages_of(s, f));
    return json_finish(s, object);
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
        code = s->json ? report_json(s, f) : report_people(s, f);
    if (code == EXIT_DONE && was_stopped(f))
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
