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
    say(s, "data", "%s: %s, %s%s, %s", strcmp(path, "-") ? path : "standard input", text_count(n, "row").bytes,
        text_count(d, "column").bytes, kind, target);
    if (mercer_data_missing(data))
        say(s, "", "%s", text_count(mercer_data_missing(data), "missing value").bytes);
}

/* A convex loss, ours or the caller's own. */
static bool is_gap(const char *kind) {
    return strcmp(kind, "gap") == 0 || strcmp(kind, "numerical gap") == 0;
}

/* The bandwidth of a lone Gaussian in its other dress: gamma = 1/(2 sigma^2). */
void say_kernel(session *s, const mercer_kernel *kernel, const char *remark_text) {
    const char *t = mercer_kernel_text(kernel);
    char sigma[64] = "";
    if (strncmp(t, "rbf(gamma=", 10) == 0 && mercer_kernel_parameters(kernel) == 1
        && strchr(t, ')') == t + strlen(t) - 1)
        snprintf(sigma, sizeof sigma, ", sigma %.4g", 1 / sqrt(2 * mercer_kernel_parameter(kernel, 0)));
    say(s, "kernel", "%s%s%s", t, sigma, remark_text);
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

void say_steps(session *s, const mercer_report *r) {
    if (r->step <= 0 || strcmp(r->certificate.kind, "none") == 0)
        return;
    say(s, "passes", "%lld%s", (long long)r->iterations,
        strcmp(r->stopped, "held-out") ? "" : "; later ones did worse on the held-out rows");
    if (r->held_out)
        say(s, "held out", "RMSE %.4g on %s kept aside", r->held_out_rmse, text_count(r->held_out, "row").bytes);
}

void say_freedom(session *s, const mercer_report *r) {
    if (!isnan(r->dof))
        say(s, "freedom", "%.4g effective degrees of freedom of %lld rows; GCV %.4g", r->dof, (long long)r->n, r->gcv);
}

void say_evidence(session *s, const mercer_report *report) {
    if (!isnan(report->log_evidence))
        say(s, "evidence", "log marginal likelihood %.6g after %s; log density of rows left out %.4g a row",
            report->log_evidence, text_count(report->iterations, "iteration").bytes, report->loo_log_density);
}

void say_approximate(session *s, const mercer_report *r) {
    if (r->approximate)
        say(s, "approximate", "%s, not the exact problem: the certificate says how far off",
            strcmp(r->solver, "fourier") ? text_count(r->rank, "landmark").bytes
                                         : text_count(r->rank, "random wave").bytes);
}

/* |f - f*| <= |r| over the training rows. */
static void say_sampled(session *s, const mercer_report *report) {
    const mercer_certificate *c = &report->certificate;
    char how[96] = "";
    if (c->sampled_rows < report->n)
        snprintf(how, sizeof how, " by estimate, from %lld of %lld rows", (long long)c->sampled_rows,
                 (long long)report->n);
    say(s, "certificate", "relative residual of the exact problem at most %.2g%s;", c->residual_relative, how);
    say(s, "", "over the training rows |f - exact f| is no more than %s times |target|",
        *how ? "its true value" : "that");
}

typedef struct phrase {
    char bytes[40];
} phrase;

/* How far above the optimum, which is at least the dual, the objective can be: in per cent where that says something.
   */
static phrase text_above(const mercer_certificate *c) {
    phrase out;
    const double share = c->gap == 0 ? 0 : c->dual > 0 ? c->gap / c->dual : INFINITY;
    snprintf(out.bytes, sizeof out.bytes, share <= 1 ? "%.2g%%" : "%.2g", share <= 1 ? 100 * share : c->gap);
    return out;
}

/* Why nothing bounds how far the optimum is. */
static const char *why_unbounded(const mercer_certificate *c) {
    return isinf(c->dual)       ? "the coefficients are not feasible in double precision"
           : isinf(c->rounding) ? "the rounding of its values has no bound"
                                : "the kernel is not proved";
}

/* A machine with margins: its multipliers are free or at a bound. */
static bool has_margins(const mercer_report *r) {
    return mercer_svm_defaults(r->machine).tolerance > 0;
}

static void say_gap(session *s, const mercer_report *r) {
    const mercer_certificate *c = &r->certificate;
    if (isinf(c->objective_gap)) {
        char found[80] = "a point";
        if (has_margins(r))
            snprintf(found, sizeof found, "a stationary point (largest violation %.2g)", c->kkt_violation);
        say(s, "certificate", "%s with objective %.8g: nothing bounds how far", found, c->primal);
        say(s, "", "the least one is, because %s", why_unbounded(c));
        return;
    }
    char violation[40] = ";";
    if (has_margins(r))
        snprintf(violation, sizeof violation, "; largest violation %.2g", c->kkt_violation);
    say(s, "certificate", "objective %.8g, at most %s above the optimum (dual %.8g)%s", c->primal, text_above(c).bytes,
        c->dual, violation);
    if (c->distance > 0)
        say(s, "", "the norm of f - optimal f is at most %.2g", c->distance);
}

static void say_predictions(session *s, const mercer_certificate *c) {
    say(s, "certificate", "every prediction is within %.2g of the exact optimum (relative %s %.2g),",
        c->prediction_error_bound, c->kind, c->residual_relative);
    say(s, "", "wherever k(x,x) is no larger than on the rows of the fit");
}

void say_certificate(session *s, const mercer_report *report) {
    const mercer_certificate *c = &report->certificate;
    if (strcmp(report->solver, "libsvm") == 0)
        say(s, "certificate", "none: a model of LIBSVM carries none");
    else if (is_gap(c->kind))
        say_gap(s, report);
    else if (strcmp(c->kind, "eigenvalues") == 0)
        say(s, "certificate", "each eigenvalue is within %.2g of a true one (%.2g of the largest), by its residual",
            c->residual, c->residual_relative);
    else if (strcmp(c->kind, "exact") == 0)
        say(s, "certificate", "none is needed: nothing is optimised, a prediction looks at all rows");
    else if (strcmp(c->kind, "sampled residual") == 0)
        say_sampled(s, report);
    else if (strcmp(c->kind, "none") == 0)
        say(s, "certificate",
            "none, since an updated model solves no stated problem; relative residual on the new rows %.2g",
            c->residual_relative);
    else if (isfinite(c->prediction_error_bound))
        say_predictions(s, c);
    else
        say(s, "certificate", "relative %s %.2g; it bounds no prediction, because %s", c->kind, c->residual_relative,
            report->lambda > 0
                ? (strcmp(c->kind, "gradient") ? "the kernel is not proved" : "lambda is too small beside it")
            : report->step > 0 ? "there is no penalty"
                               : "lambda is 0");
}

/* The first few; --json lists all. */
void say_components(session *s, const mercer_model *model) {
    enum { SHOWN = 10 };
    const int64_t count = mercer_model_outputs(model);
    double sum = 0;
    if (mercer_model_report(model)->variance <= 0)
        return;
    for (int64_t k = 0; k < count; k++) {
        const mercer_component c = mercer_model_component(model, k);
        char name[32];
        sum += c.share;
        snprintf(name, sizeof name, "pc%lld", (long long)k + 1);
        if (k < SHOWN)
            say(s, name, "eigenvalue %.6g, %.3g%% of the variance", c.eigenvalue, 100 * c.share);
    }
    say(s, "explained", "%.4g%% of the variance by %s", 100 * sum, text_count(count, "component").bytes);
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

void say_vectors(session *s, const mercer_report *r) {
    if (!is_gap(r->certificate.kind))
        return;
    if (!has_margins(r) && r->support_vectors < r->n)
        say(s, "vectors", "%lld of %s have a coefficient", (long long)r->support_vectors,
            text_count(r->n, "row").bytes);
    else if (has_margins(r))
        say(s, "vectors", "%lld of %s support it; multipliers: %lld free (on the margin), %lld at the bound",
            (long long)r->support_vectors, text_count(r->n, "row").bytes, (long long)r->free_vectors,
            (long long)r->bounded_vectors);
}

void say_rows_held(session *s, const mercer_report *r) {
    if (r->stored > 0 && r->stored < 1)
        say(s, "rows", "held sparse: %.3g%% of the values are stored", 100 * r->stored);
    else if (r->stored > 0)
        say(s, "rows", "held dense");
}

static void json_gap(json_t *object, const mercer_report *r) {
    const mercer_certificate *c = &r->certificate;
    json_put(object, "primal", json_value(c->primal));
    json_put(object, "dual", json_value(c->dual));
    json_put(object, "gap", json_value(c->gap));
    json_put(object, "gap_relative", json_value(c->gap_relative));
    if (has_margins(r))
        json_put(object, "kkt_violation", json_value(c->kkt_violation));
    json_put(object, "objective_gap", json_value(c->objective_gap));
    json_put(object, "distance", json_value(c->distance));
    if (!has_margins(r))
        json_put(object, "prediction_error_bound", json_value(c->prediction_error_bound));
    json_put(object, "rounding", json_value(c->rounding));
}

static json_t *json_certificate(const mercer_report *r) {
    const mercer_certificate *c = &r->certificate;
    json_t *object = json_object();
    json_put(object, "kind", json_text(c->kind));
    if (is_gap(c->kind)) {
        json_gap(object, r);
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
    json_put(object, "prediction_error_bound", json_value(c->prediction_error_bound));
    json_put(object, "objective_gap", json_value(c->objective_gap));
    return object;
}

json_t *json_report(const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    json_t *object = json_object(), *classes = json_array();
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
    json_put(object, "loo_rmse", json_value(r->loo_rmse));
    if (!isnan(r->dof)) {
        json_put(object, "dof", json_value(r->dof));
        json_put(object, "gcv", json_value(r->gcv));
    }
    if (!isnan(r->log_evidence)) {
        json_put(object, "log_evidence", json_value(r->log_evidence));
        json_put(object, "loo_log_density", json_value(r->loo_log_density));
    }
    if (r->step > 0)
        json_put(object, "step", json_value(r->step));
    if (r->variance > 0) {
        json_put(object, "variance", json_value(r->variance));
        json_put(object, "components", json_components(model));
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
    if (r->stored > 0)
        json_put(object, "rows_held", json_text(r->stored < 1 ? "sparse" : "dense"));
    json_put(object, "certificate", json_certificate(r));
    return object;
}

void csv_field(FILE *out, const char *prefix, const char *field) {
    const bool quoted = strpbrk(field, ",\"\r\n") != NULL;
    fprintf(out, "%s%s", quoted ? "\"" : "", prefix);
    for (const char *p = field; *p; p++)
        fprintf(out, *p == '"' ? "\"\"" : "%c", *p);
    fputs(quoted ? "\"" : "", out);
}
