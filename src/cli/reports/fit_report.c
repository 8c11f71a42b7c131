/* fit_report.c: what came out of a fit. One object, printed as it is for programs; for people its sentences, with what
   is found for them alone. */
#include "cli/verbs/fit_verb.h"
#include <math.h>
#include <string.h>

bool fit_was_stopped(const fit *f) {
    const char *stopped = mercer_model_report(f->model)->stopped;
    return stopped && (strcmp(stopped, "time") == 0 || strcmp(stopped, "caller") == 0);
}

/* ---- The object ---- */

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

static json_t *json_chosen(const fit *f) {
    const mercer_tune_report *r = mercer_search_report(f->search);
    const mercer_candidate c = mercer_search_candidate(f->search, r->best);
    const int64_t other = best_other(f->search, &c, r->larger_is_better);
    const mercer_candidate next = mercer_search_candidate(f->search, other);
    json_t *chosen = json_object();
    json_put(chosen, "kernel", json_text(c.kernel));
    json_put(chosen, "settings", json_text(c.settings));
    json_put(chosen, "score", json_value(c.score));
    json_put(chosen, "score_name", json_text(r->score));
    json_put(chosen, "splits", json_text(r->splits));
    json_put(chosen, "rows", json_integer((json_int_t)c.rows));
    json_put(chosen, "candidates", json_integer((json_int_t)mercer_search_count(f->search)));
    if (other >= 0)
        json_put(chosen, "other",
                 json_pack("{s:o, s:o}", "kernel", json_text(next.kernel), "score", json_value(next.score)));
    return chosen;
}

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
    const mercer_candidate c = mercer_search_candidate(f->search, mercer_search_report(f->search)->best);
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

static json_t *json_seconds(const session *s, const fit *f) {
    json_t *seconds = json_object();
    json_put(seconds, "read", json_value(f->job.read_seconds));
    if (f->search)
        json_put(seconds, "choice", json_value(f->search_seconds));
    json_put(seconds, "fit", json_value(f->seconds));
    json_put(seconds, "total", json_value(clock_now() - s->began));
    return seconds;
}

/* Of several processes. */
static void put_ranks(const session *s, json_t *object) {
    double waited;
    const int slowest = mercer_slowest_rank(s->ctx, &waited);
    if (mercer_ranks(s->ctx) == 1)
        return;
    json_put(object, "ranks", json_integer(mercer_ranks(s->ctx)));
    json_put(object, "slowest_rank", json_integer(slowest));
    json_put(object, "waited_seconds", json_value(waited));
}

static json_t *json_fit(session *s, const fit *f) {
    static const char *const verdicts[] = {"proved", "refuted", "unknown"};
    json_t *object = json_report(f->model);
    if (!mercer_model_classes(f->model) && mercer_data_outputs(f->job.data) == 1)
        json_put(object, "mean_rmse", json_value(target_std(f->job.data)));
    if (s->expired && fit_was_stopped(f)) /* the caller that stopped it was this command, watching the clock */
        json_put(object, "stopped", json_text("time"));
    json_put(object, "machine_reason", json_text(f->job.chosen));
    json_put(object, "kernel_verdict", json_text(verdicts[f->verdict]));
    json_put(object, "seconds", json_seconds(s, f));
    put_ranks(s, object);
    json_put(object, "memory_peak_bytes", json_integer((json_int_t)mercer_memory_peak(s->ctx)));
    json_put(object, "model", json_text(f->path));
    if (f->trace)
        json_put(object, "trace", trace_json(f->trace));
    if (f->search)
        json_put(object, "chosen", json_chosen(f));
    if (*mercer_model_stages(f->model))
        json_put(object, "stages", json_stages(f->model, advise_exact(s, f).bytes));
    return object;
}

/* ---- For people alone ---- */

/* Whether the rows of the fit can say anything that is not said better. */
static bool tells_training(const fit *f) {
    const mercer_report *r = mercer_model_report(f->model);
    if (f->job.machine->target == MERCER_TARGET_NONE)
        return false; /* learned from the rows alone: there is nothing to be right about */
    if (r->held_out || *mercer_model_stages(f->model))
        return false;    /* the held-out rows say it better */
    return !r->neighbors /* a row is its own nearest neighbour */
           && (isnan(r->loo_rmse) || mercer_model_classes(f->model));
}

/* A prediction of all rows, which programs are spared. The model is saved already: when this is stopped, the report
   goes without it. */
static void put_training(session *s, const fit *f, json_t *object) {
    mercer_scores found = {.size = sizeof found};
    if (tells_training(f) && mercer_score(s->ctx, f->model, f->job.data, &found) == MERCER_OK)
        json_put(object, "training",
                 json_pack("{s:o, s:o, s:o}", "accuracy", json_value(found.accuracy), "rmse", json_value(found.rmse),
                           "r2", json_value(found.r2)));
}

static void put_wishes(session *s, const fit *f, json_t *object) {
    const char *loo = args_text(&s->args, "loo"), *scale = args_text(&s->args, "scale");
    json_t *other = json_object_get(json_object_get(object, "chosen"), "other");
    const char *kernel = json_string_value(json_object_get(other, "kernel"));
    json_put(object, "loo_wanted", json_boolean(loo && strcmp(loo, "yes") == 0));
    json_put(object, "scale_given", json_boolean(scale && strcmp(scale, "auto") != 0));
    json_put(object, "tune_command",
             json_text(advise_command(s, &verb_tune, f->job.chosen ? NULL : f->job.machine, NULL).bytes));
    if (kernel)
        json_put(other, "kind", json_stringn(kernel, strcspn(kernel, "(")));
}

static const report_row quality_rows[] = {
    {"training", "classes", "accuracy {training.accuracy:%.4g} on the training rows"},
    {"training", "!classes", "RMSE {training.rmse:.4g}[, R2 {training.r2:.4g}] on the training rows"},
    {"LOO error", "!loo_rmse loo_wanted",
     "not known: {solver} has no leave-one-out error; with more memory or time cholesky does"},
    {"LOO error", "classes", "leave-one-out RMSE {loo_rmse:.4g}, on class indicators +1 and -1"},
    {"LOO error", "!classes", "leave-one-out RMSE {loo_rmse:.4g}[ (predicting the mean: {mean_rmse:.4g})]"},
    {0},
};

static const char *verdict_remark(mercer_verdict verdict) {
    static const char *const texts[] = {
        [MERCER_PROVED] = " (proved)",
        [MERCER_REFUTED] = " (refuted: not positive definite; fitted with --allow-indefinite)",
        [MERCER_UNKNOWN] = " (neither proved nor refuted; fitted with --allow-indefinite)",
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

/* Why it ended short of its aim, where it did by itself. */
static void say_end(session *s, const fit *f) {
    const char *why = mercer_model_report(f->model)->stopped;
    if (fit_was_stopped(f))
        return;
    if (strcmp(why, "no") != 0 && mercer_model_report(f->model)->certificate.kkt_violation >= 0)
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

static const report_row choice_rows[] = {
    {"scaling", "scale scale!=none scale_given", "{scale}"},
    {"scaling", "scale scale!=none !scale_given", "{scale} (chosen: the columns differ in spread by more than 10x)"},
    {"chose", "!chosen.rows<n",
     "{chosen.kernel}, {chosen.settings} among {chosen.candidates} candidates: {chosen.score_name} {chosen.score:.4g}[ "
     "(the best {chosen.other.kind}: {chosen.other.score:.4g})], {chosen.splits}; to search more: {tune_command}"},
    {"chose", "chosen.rows<n",
     "{chosen.kernel}, {chosen.settings} among {chosen.candidates} candidates: {chosen.score_name} {chosen.score:.4g}[ "
     "(the best {chosen.other.kind}: {chosen.other.score:.4g})], {chosen.splits} of {chosen.rows} of the rows; to "
     "search more: {tune_command}"},
    {0},
};

static const report_row end_rows[] = {
    {"time", "seconds.choice",
     "{seconds.choice:time} for the search, {seconds.fit:time} for the fit by {solver}, {seconds.read:time} to read; "
     "{memory_peak_bytes:size} of memory"},
    {"time", "!seconds.choice",
     "{seconds.fit:time} for the fit by {solver}, {seconds.read:time} to read; {memory_peak_bytes:size} of memory"},
    {"ranks", "ranks",
     "{ranks} processes; rank {slowest_rank} took longest over its part, the others waited {waited_seconds:time} for "
     "it"},
    {"stopped", "stopped=time", "early by the time limit: this is the best model so far"},
    {"stopped", "stopped=caller", "early by the user: this is the best model so far"},
    {0},
};

static void say_fit(session *s, const fit *f, json_t *object) {
    put_training(s, f, object);
    put_wishes(s, f, object);
    say_machine(s, f);
    say_kernel(s, mercer_model_kernel(f->model), verdict_remark(f->verdict));
    say_data(s, f->job.path, f->job.data);
    say_fields(s, object, choice_rows);
    say_fields(s, object, quality_rows);
    say_report(s, object);
    say_stages(s, json_object_get(object, "stages"));
    say_fields(s, object, end_rows);
    say_end(s, f);
    if (strcmp(f->path, "-") == 0)
        return;
    say_fact(s, "model", "%s", f->path);
    trace_say(s, f->trace);
    say_next(s, f);
}

int report_fit(session *s, const fit *f) {
    json_t *object = json_fit(s, f);
    if (prints_report(s))
        say_fit(s, f, object);
    return json_finish(s, object);
}
