/* report_verb.c: rows and JSON that several verbs print. */
#include "cli/cli.h"
#include <math.h>
#include <string.h>

static void target_text(const mercer_data *data, char *bytes, size_t size) {
    const int64_t outputs = mercer_data_outputs(data), classes = mercer_data_classes(data);
    if (classes)
        snprintf(bytes, size, "target '%s' with %lld classes", mercer_data_target_name(data, 0), (long long)classes);
    else if (outputs == 1)
        snprintf(bytes, size, "target '%s'", mercer_data_target_name(data, 0));
    else if (outputs)
        snprintf(bytes, size, "%lld targets", (long long)outputs);
    else
        snprintf(bytes, size, "no target");
}

void say_data(session *s, const char *path, const mercer_data *data) {
    const int64_t n = mercer_data_rows(data), d = mercer_data_columns(data);
    char target[300], kind[64] = "";
    target_text(data, target, sizeof target);
    if (mercer_data_is_sparse(data))
        snprintf(kind, sizeof kind, ", sparse (%.3g%% stored)",
                 100 * (double)mercer_data_stored(data) / ((double)n * (double)d));
    say_fact(s, "data", "%s: %s, %s%s, %s", strcmp(path, "-") ? path : "standard input", text_count(n, "row").bytes,
             text_count(d, "column").bytes, kind, target);
    if (mercer_data_missing(data))
        say_fact(s, "", "%s", text_count(mercer_data_missing(data), "missing value").bytes);
}

/* A convex loss, ours or the caller's own. */
static bool is_gap(const char *kind) {
    return strcmp(kind, "gap") == 0 || strcmp(kind, "numerical gap") == 0;
}

/* The words of tfidf are as many as the texts have: the first of them. */
static char *kernel_in_short(const char *kernel) {
    enum { SHOWN = 40 };
    static const char words[] = "words=\"";
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    for (const char *at; out && (at = strstr(kernel, words)); kernel = at + strcspn(at, "\"")) {
        at += sizeof words - 1;
        const size_t length = strcspn(at, "\"");
        fprintf(out, "%.*s%.*s%s", (int)(at - kernel), kernel, (int)(length < SHOWN ? length : SHOWN), at,
                length > SHOWN ? "..." : "");
    }
    if (out)
        fprintf(out, "%s", kernel);
    if (!out || fclose(out))
        return NULL;
    return bytes;
}

/* The bandwidth of a lone Gaussian in its other dress: gamma = 1/(2 sigma^2). */
void say_kernel(session *s, const mercer_kernel *kernel, const char *remark_text) {
    const char *t = mercer_kernel_text(kernel);
    char sigma[64] = "";
    if (strncmp(t, "rbf(gamma=", 10) == 0 && mercer_kernel_parameters(kernel) == 1
        && strchr(t, ')') == t + strlen(t) - 1)
        snprintf(sigma, sizeof sigma, ", sigma %.4g", 1 / sqrt(2 * mercer_kernel_parameter(kernel, 0)));
    char *in_short = kernel_in_short(t);
    say_fact(s, "kernel", "%s%s%s", in_short ? in_short : t, sigma, remark_text);
    free(in_short);
}

text text_penalty(const mercer_report *r) {
    const mercer_machine *found = mercer_machine_find(r->machine);
    text t;
    if (r->step > 0)
        snprintf(t.bytes, sizeof t.bytes, "step %.4g", r->step);
    else
        snprintf(t.bytes, sizeof t.bytes, "%s %g", found && setting_find(found, "noise") ? "noise variance" : "lambda",
                 r->lambda);
    return t;
}

/* Why nothing bounds how far the optimum, or a prediction, is; NULL where something does. */
static const char *why_unbounded(const mercer_report *r) {
    const mercer_certificate *c = &r->certificate;
    if (is_gap(c->kind))
        return !isinf(c->objective_gap) ? NULL
               : isinf(c->dual)         ? "the coefficients are not feasible in double precision"
               : isinf(c->rounding)     ? "the rounding of its values has no bound"
                                        : "the kernel is not proved";
    const bool residual = strcmp(c->kind, "residual") == 0, gradient = strcmp(c->kind, "gradient") == 0;
    if ((!residual && !gradient) || isfinite(c->prediction_error_bound))
        return NULL;
    return r->lambda > 0 ? (gradient ? "lambda is too small beside it" : "the kernel is not proved")
           : r->step > 0 ? "there is no penalty"
                         : "lambda is 0";
}

/* A machine with margins: its multipliers are free or at a bound. */
static bool has_margins(const mercer_report *r) {
    const mercer_machine *machine = mercer_machine_find(r->machine);
    return machine && strcmp(machine->type, "mercer_svm") == 0;
}

/* Of a gap: how far above the optimum, which is at least the dual, the objective can be, in per cent where that says
   something. The objective is the primal one, raised by what rounding can have done, so that the three add up. */
#define ABOVE(bound)                                                                                                   \
    "objective {certificate.primal:.8g}, at most " bound " above the optimum (dual {certificate.dual:.8g})"            \
    "[; largest violation {certificate.kkt_violation:.2g}]"

/* Whether k(x,x) is the same for all rows. */
static bool is_level(const mercer_model *model) {
    mercer_shape shape = {.size = sizeof shape};
    mercer_kernel_shape(mercer_model_kernel(model), mercer_model_columns(model), &shape);
    return shape.stationary || shape.normalised;
}

/* Why there is no bound on predictions, as the end of a sentence. */
static const char *why_no_bound(const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    const struct reason {
        bool holds;
        const char *words;
    } reasons[] = {
        {strcmp(r->solver, "libsvm") == 0, "a model of LIBSVM carries no certificate"},
        {strcmp(c->kind, "exact") == 0,
         "nothing is optimised: neighbours are counted, and an exact tie may fall either way"},
        {strcmp(c->kind, "eigenvalues") == 0, "the certificate of pca bounds eigenvalues, not scores"},
        {strcmp(c->kind, "none") == 0, "an updated model solves no stated problem"},
        {strcmp(c->kind, "sampled residual") == 0, "an approximation is certified on the rows of the fit, as a whole"},
        {strcmp(c->kind, "sampled gap") == 0, "an approximation is certified by its objective alone"},
        {isnan(c->prediction_error_slope), "the model file is older than such bounds; fit again"},
        {is_gap(c->kind) && isinf(c->objective_gap), "nothing bounds how far the optimum is"},
        {strncmp(r->machine, "nu-", 3) == 0, "nothing holds what nu finds together with f to one place"},
        {is_gap(c->kind) && isinf(c->prediction_error_constant), "nothing holds the optimal intercept to one place"},
        {r->lambda == 0, r->step > 0 ? "there is no penalty" : "lambda is 0"},
        {strcmp(c->kind, "gradient") == 0, "lambda is too small beside the gradient"},
        {true, "the kernel is not proved, or its k(x,x) is not known at these rows"},
    };
    int i = 0;
    while (!reasons[i].holds)
        i++;
    return reasons[i].words;
}

text_line text_prediction_bound(const mercer_model *model, double bound) {
    const char *what = mercer_model_classes(model) ? "decision value" : "prediction";
    text_line t;
    if (isfinite(bound))
        snprintf(t.bytes, sizeof t.bytes, "every %s is within %.2g of the exact optimum at these rows", what, bound);
    else
        snprintf(t.bytes, sizeof t.bytes, "no bound holds for these rows: %s", why_no_bound(model));
    return t;
}

#define WITHIN                                                                                                         \
    "every prediction is within {certificate.prediction_error_bound:.2g} of the exact optimum (relative "              \
    "{certificate.kind} {certificate.residual_relative:.2g})"

static const report_row certificate_rows[] = {
    {"certificate", "solver=libsvm", "none: a model of LIBSVM carries none"},
    {"certificate", "certificate.kkt_violation certificate.unbounded",
     "a stationary point (largest violation {certificate.kkt_violation:.2g}) with objective {objective:.8g}: "
     "nothing bounds how far"},
    {"certificate", "!certificate.kkt_violation certificate.unbounded certificate.primal",
     "a point with objective {objective:.8g}: nothing bounds how far"},
    {"", "certificate.primal", "the least one is, because {certificate.unbounded}"},
    {"certificate", "certificate.kind=sampled_gap certificate.estimated",
     "by estimate, from {certificate.sampled_rows} of {n} rows:"},
    {"certificate", "!certificate.unbounded certificate.kind!=none", ABOVE("{certificate.gap_share:%.2g}")},
    {"certificate", "!certificate.unbounded !certificate.gap_share certificate.kind!=none certificate.gap",
     ABOVE("{certificate.gap:.2g}")},
    {"", "0<certificate.distance !certificate.unbounded",
     "the norm of f - optimal f is at most {certificate.distance:.2g}"},
    {"certificate", "certificate.kind=eigenvalues",
     "each eigenvalue is within {certificate.residual:.2g} of a true one ({certificate.residual_relative:.2g} of the "
     "largest), by its residual"},
    {"certificate", "certificate.kind=exact", "none is needed: nothing is optimised, a prediction looks at all rows"},
    {"certificate", "certificate.estimated certificate.kind!=sampled_gap",
     "relative residual of the exact problem at most {certificate.residual_relative:.2g} by estimate, from "
     "{certificate.sampled_rows} of {n} rows;"},
    {"", "certificate.estimated certificate.kind!=sampled_gap",
     "over the training rows |f - exact f| is no more than its true value times |target|"},
    {"certificate", "certificate.kind=sampled_residual !certificate.estimated",
     "relative residual of the exact problem at most {certificate.residual_relative:.2g};"},
    {"", "certificate.kind=sampled_residual !certificate.estimated",
     "over the training rows |f - exact f| is no more than that times |target|"},
    {"certificate", "certificate.kind=none solver!=libsvm",
     "none, since an updated model solves no stated problem; relative residual on the new rows "
     "{certificate.residual_relative:.2g}"},
    {"certificate", "!certificate.primal certificate.kind!=sampled_residual certificate.everywhere", WITHIN},
    {"certificate", "!certificate.primal certificate.kind!=sampled_residual !certificate.everywhere", WITHIN ","},
    {"",
     "!certificate.primal certificate.prediction_error_bound certificate.kind!=sampled_residual "
     "!certificate.everywhere",
     "wherever k(x,x) is no larger than on the rows of the fit"},
    {"certificate", "!certificate.primal",
     "relative {certificate.kind} {certificate.residual_relative:.2g}; it bounds no prediction, because "
     "{certificate.unbounded}"},
    {0},
};

static const report_row fit_rows[] = {
    {"dof", NULL, "{dof:.4g} effective degrees of freedom of {n} rows; GCV {gcv:.4g}"},
    {"evidence", "log_evidence_error",
     "log marginal likelihood {log_evidence:.6g} +- {log_evidence_error:.2g}, an estimate; twice this error holds in "
     "95% of them; after "
     "{iterations:iteration}"},
    {"evidence", "!log_evidence_error",
     "log marginal likelihood {log_evidence:.6g} after {iterations:iteration}[; leave-one-out log density "
     "{loo_log_density:.4g} a row]"},
    {"passes", "step certificate.kind!=none stopped!=held-out", "{iterations}"},
    {"passes", "step certificate.kind!=none stopped=held-out",
     "{iterations}; later ones had larger errors on the held-out rows"},
    {"held out", "certificate.kind!=none", "RMSE {held_out_rmse:.4g} on {held_out:row} held out"},
    {0},
};

static const report_row shape_rows[] = {
    {"nearest nu", "nearest_nu",
     "where nu left no margin the answer is that of the nearest nu that has one: {nearest_nu} of {programs:program}"},
    {"vectors", "certificate.kkt_violation",
     "{support_vectors} support vectors of {n:row}: {free_vectors} free (on the margin), {bounded_vectors} at the "
     "bound"},
    {"vectors", "!certificate.kkt_violation support_vectors<n",
     "{support_vectors} of {n:row} have a nonzero coefficient"},
    {"rows", "rows_held=sparse", "stored sparse: {stored:%.3g} of the values"},
    {"rows", "rows_held=dense", "stored dense"},
    {"approximate", "approximate solver!=fourier",
     "{rank:landmark}, not the exact problem: the certificate says how far off"},
    {"approximate", "approximate solver=fourier",
     "{rank:random Fourier feature}, not the exact problem: the certificate says how far off"},
    {0},
};

void say_certificate(session *s, const json_t *report) {
    say_fields(s, report, certificate_rows);
}

/* The first few; --json lists all. */
static void say_components(session *s, const json_t *report) {
    enum { SHOWN = 10 };
    const json_t *list = json_object_get(report, "components");
    static const report_row explained[] = {
        {"explained", NULL, "{explained:%.4g} of the variance by {outputs:component}"}, {0}};
    for (size_t k = 0; k < json_array_size(list) && k < SHOWN; k++) {
        char name[32];
        snprintf(name, sizeof name, "pc%zu", k + 1);
        say_fields(
            s, json_array_get(list, k),
            (const report_row[]){{name, NULL, "eigenvalue {eigenvalue:.6g}, {share:%.3g} of the variance"}, {0}});
    }
    say_fields(s, report, explained);
}

void say_report(session *s, const json_t *report) {
    say_fields(s, report, fit_rows);
    say_components(s, report);
    say_fields(s, report, shape_rows);
    say_certificate(s, report);
}

static json_t *json_components(const mercer_model *model) {
    json_t *array = json_array();
    for (int64_t k = 0; k < mercer_model_outputs(model); k++) {
        const mercer_component c = mercer_model_component(model, k);
        json_t *one = json_object();
        json_put(one, "eigenvalue", json_value(c.eigenvalue));
        json_put(one, "share", json_value(c.share));
        json_put(one, "bound", json_value(c.bound));
        json_array_append_new(array, one);
    }
    return array;
}

/* Of predictions: on rows like those of the fit (everywhere, where k(x,x) is level), and constant + slope sqrt(k(x,x))
   anywhere. */
static void json_bounds(json_t *object, const mercer_model *model) {
    const mercer_certificate *c = &mercer_model_report(model)->certificate;
    json_put(object, "prediction_error_bound", json_value(c->prediction_error_bound));
    json_put(object, "prediction_error_constant", json_value(c->prediction_error_constant));
    json_put(object, "prediction_error_slope", json_value(c->prediction_error_slope));
    json_put(object, "everywhere", json_boolean(is_level(model)));
}

static void json_gap(json_t *object, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    json_put(object, "primal", json_value(c->primal));
    json_put(object, "dual", json_value(c->dual));
    json_put(object, "gap", json_value(c->gap));
    json_put(object, "gap_relative", json_value(c->gap_relative));
    if (c->gap == 0 || (c->dual > 0 && c->gap <= c->dual))
        json_put(object, "gap_share", json_value(c->gap == 0 ? 0 : c->gap / c->dual));
    if (has_margins(r))
        json_put(object, "kkt_violation", json_value(c->kkt_violation));
    json_put(object, "objective_gap", json_value(c->objective_gap));
    json_put(object, "distance", json_value(c->distance));
    json_bounds(object, model);
    json_put(object, "rounding", json_value(c->rounding));
}

static double explained_by(const mercer_model *model) {
    double sum = 0;
    for (int64_t k = 0; k < mercer_model_outputs(model); k++)
        sum += mercer_model_component(model, k).share;
    return sum;
}

static json_t *json_certificate(const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    json_t *object = json_object();
    json_put(object, "kind", json_text(c->kind));
    if (why_unbounded(r))
        json_put(object, "unbounded", json_text(why_unbounded(r)));
    if (is_gap(c->kind)) {
        json_gap(object, model);
        return object;
    }
    if (strcmp(c->kind, "sampled gap") == 0) {
        json_gap(object, model);
        json_put(object, "sampled_rows", json_integer(c->sampled_rows));
        json_put(object, "estimated", json_boolean(c->sampled_rows < r->n));
        return object;
    }
    if (strcmp(c->kind, "exact") == 0)
        return object;
    json_put(object, "residual_relative", json_value(c->residual_relative));
    json_put(object, "residual", json_value(c->residual));
    if (c->sampled_rows) {
        json_put(object, "residual_estimate", json_value(c->residual_estimate));
        json_put(object, "sampled_rows", json_integer(c->sampled_rows));
        json_put(object, "estimated", json_boolean(c->sampled_rows < r->n));
    }
    json_put(object, "rounding", json_value(c->rounding));
    json_bounds(object, model);
    json_put(object, "objective_gap", json_value(c->objective_gap));
    return object;
}

/* What was fitted, by what, and what its optimum is. */
static void json_fit(json_t *object, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    json_t *classes = json_array();
    for (int64_t k = 0; k < mercer_model_classes(model); k++)
        json_array_append_new(classes, json_text(mercer_model_label(model, k)));
    json_put(object, "machine", json_text(r->machine));
    json_put(object, "kernel", json_text(mercer_kernel_text(mercer_model_kernel(model))));
    json_put(object, "solver", json_text(r->solver));
    json_put(object, "approximate", json_boolean(r->approximate));
    json_put(object, "n", json_integer(r->n));
    json_put(object, "d", json_integer(r->d));
    json_put(object, "outputs", json_integer(r->outputs));
    json_put(object, "classes", classes);
    json_put(object, "scale", json_text(r->scale));
    json_put(object, "lambda", json_value(r->lambda));
    json_put(object, "objective", json_value(r->objective));
    json_put(object, "norm", json_value(r->norm));
    json_put(object, "rank", json_integer(r->rank));
    json_put(object, "iterations", json_integer(r->iterations));
    if (r->iteration_bound)
        json_put(object, "iteration_bound", json_integer(r->iteration_bound));
    json_put(object, "stopped", json_text(r->stopped));
}

/* How well it does on rows left out, by closed forms. */
static void json_left_out(json_t *object, const mercer_report *r) {
    json_put(object, "loo_rmse", json_value(r->loo_rmse));
    if (!isnan(r->dof)) {
        json_put(object, "dof", json_value(r->dof));
        json_put(object, "gcv", json_value(r->gcv));
    }
    if (!isnan(r->log_evidence)) {
        json_put(object, "log_evidence", json_value(r->log_evidence));
        if (r->log_evidence_error > 0)
            json_put(object, "log_evidence_error", json_value(r->log_evidence_error));
        json_put(object, "loo_log_density", json_value(r->loo_log_density));
    }
}

/* What some machines alone have to say. */
static void json_of_machine(json_t *object, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    if (r->step > 0)
        json_put(object, "step", json_value(r->step));
    if (r->variance > 0) {
        json_put(object, "variance", json_value(r->variance));
        json_put(object, "components", json_components(model));
        json_put(object, "explained", json_value(explained_by(model)));
    }
    if (r->neighbors)
        json_put(object, "neighbors", json_integer(r->neighbors));
    if (r->held_out) {
        json_put(object, "held_out", json_integer(r->held_out));
        json_put(object, "held_out_rmse", json_value(r->held_out_rmse));
    }
    if (is_gap(r->certificate.kind)) {
        json_put(object, "support_vectors", json_integer(r->support_vectors));
        json_put(object, "free_vectors", json_integer(r->free_vectors));
        json_put(object, "bounded_vectors", json_integer(r->bounded_vectors));
    }
    if (r->nearest_nu) {
        json_put(object, "nearest_nu", json_integer(r->nearest_nu));
        json_put(object, "programs", json_integer(mercer_model_decisions(model)));
    }
    if (r->stored > 0) {
        json_put(object, "rows_held", json_text(r->stored < 1 ? "sparse" : "dense"));
        json_put(object, "stored", json_value(r->stored));
    }
}

json_t *json_report(const mercer_model *model) {
    json_t *object = json_object();
    json_fit(object, model);
    json_left_out(object, mercer_model_report(model));
    json_of_machine(object, model);
    json_put(object, "certificate", json_certificate(model));
    return object;
}

void csv_field(FILE *out, const char *prefix, const char *field) {
    const bool quoted = strpbrk(field, ",\"\r\n") != NULL;
    fprintf(out, "%s%s", quoted ? "\"" : "", prefix);
    for (const char *p = field; *p; p++)
        fprintf(out, *p == '"' ? "\"\"" : "%c", *p);
    fputs(quoted ? "\"" : "", out);
}
