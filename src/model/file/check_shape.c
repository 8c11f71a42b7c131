/* check_shape.c: the table of what models keep, and the shape of a model against it. check_values.c compares the
   values. */
#include "model/file/check_shape.h"
#include "base/print.h"
#include "base/settings.h"
#include <stdarg.h>
#include <string.h>

enum { V = 1 << MC_VALUES, P = 1 << MC_PAIRS, R = 1 << MC_REGION, N = 1 << MC_NEIGHBOURS };

/* Files older than the weights of ridge and lms hold rows for the same solvers, those older than the bounds of
   multipliers no box. Machines that keep every row have its place only where rows of weight zero were left out. */
static const mc_model_kind kinds[] = {
    {.machines = "ridge", .solvers = "cholesky|eigen|mixed|pcg", .forms = V, .labels = MC_MAY, .row = MC_MAY},
    {.machines = "ridge",
     .solvers = "primal",
     .forms = V,
     .labels = MC_MAY,
     .row = MC_MAY,
     .primal = MC_MAY,
     .centres = MC_CENTRES_OR_WEIGHTS},
    {.machines = "ridge", .solvers = "nystrom", .forms = V, .labels = MC_MAY, .row = MC_MAY},
    {.machines = "ridge",
     .solvers = "fourier",
     .forms = V,
     .labels = MC_MAY,
     .row = MC_MAY,
     .centres = MC_CENTRES_FREQUENCIES},
    {.machines = "gp", .solvers = "cholesky|pcg", .forms = V, .row = MC_MAY, .noise = true},
    {.machines = "svc|nu-svc",
     .solvers = "smo",
     .forms = V | P,
     .labels = MC_MUST,
     .row = MC_MUST,
     .box = MC_MAY,
     .primal = MC_MAY,
     .centres = MC_CENTRES_ANY},
    {.machines = "svc|nu-svc", .solvers = "libsvm", .forms = V | P, .labels = MC_MUST, .centres = MC_CENTRES_ANY},
    {.machines = "svr|nu-svr",
     .solvers = "smo",
     .forms = V,
     .row = MC_MUST,
     .box = MC_MAY,
     .primal = MC_MAY,
     .centres = MC_CENTRES_ANY},
    {.machines = "svr|nu-svr", .solvers = "libsvm", .forms = V, .centres = MC_CENTRES_ANY},
    {.machines = "one-class",
     .solvers = "smo",
     .forms = R,
     .labels = MC_MUST,
     .row = MC_MUST,
     .box = MC_MAY,
     .primal = MC_MAY,
     .centres = MC_CENTRES_ANY},
    {.machines = "one-class", .solvers = "libsvm", .forms = R, .labels = MC_MUST, .centres = MC_CENTRES_ANY},
    {.machines = "lms",
     .solvers = "batch features|sample features",
     .forms = V,
     .labels = MC_MAY,
     .row = MC_MAY,
     .primal = MC_MAY,
     .centres = MC_CENTRES_OR_WEIGHTS},
    {.machines = "lms",
     .solvers = "batch stored|batch streamed|sample stored|sample streamed",
     .forms = V,
     .labels = MC_MAY,
     .row = MC_MAY},
    {.machines = "lms",
     .solvers = "update",
     .forms = V,
     .labels = MC_MAY,
     .row = MC_MUST,
     .primal = MC_MAY,
     .centres = MC_CENTRES_OR_WEIGHTS},
    {.machines = "pca", .solvers = "dense|krylov", .forms = V, .row = MC_MAY, .spectrum = true},
    {.machines = "knn", .solvers = "rows", .forms = N, .labels = MC_MAY, .row = MC_MAY},
    {.machines = "logistic|squared-hinge",
     .solvers = "cholesky|pcg|primal|nystrom",
     .forms = V | P,
     .labels = MC_MUST,
     .row = MC_MUST,
     .centres = MC_CENTRES_ANY,
     .pair = true},
    {.machines = "huber",
     .solvers = "cholesky|pcg|primal|nystrom",
     .forms = V,
     .row = MC_MUST,
     .centres = MC_CENTRES_ANY},
    {.machines = "quantile|absolute", .solvers = "smo", .forms = V, .row = MC_MUST, .centres = MC_CENTRES_ANY},
    {.machines = "own-loss",
     .solvers = "cholesky|pcg|primal|nystrom",
     .forms = V | P,
     .labels = MC_MAY,
     .row = MC_MUST,
     .centres = MC_CENTRES_ANY,
     .pair = true},
};

const mc_model_kind *mc_model_kind_of(const char *machine, const char *solver) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (mc_choice_index(kinds[k].machines, machine) >= 0 && mc_choice_index(kinds[k].solvers, solver) >= 0)
            return &kinds[k];
    return NULL;
}

static bool report_flaw(mc_flaw *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool report_flaw(mc_flaw *why, const char *format, ...) {
    va_list args;
    va_start(args, format);
    mc_vprint(why->text, sizeof why->text, format, args);
    va_end(args);
    return false;
}

/* ---- Fields of a shape ---- */

static bool is_present(mc_presence rule, bool there, const mc_model_shape *s, const char *what, mc_flaw *why) {
    if (there ? rule != MC_NEVER : rule != MC_MUST)
        return true;
    return report_flaw(why, "%s by %s %s %s", s->machine, s->solver, there ? "has no" : "has", what);
}

static bool arrays_agree(const mc_model_kind *kind, const mc_model_shape *s, mc_flaw *why) {
    return is_present(kind->labels, s->labelled, s, "classes", why)
           && is_present(kind->row, s->row, s, "places of its centres", why)
           && is_present(kind->box, s->boxed, s, "bounds of multipliers", why)
           && is_present(kind->primal, s->primal, s, "weights of features", why);
}

/* Outputs and classes of a form. Two classes are a pair; a file of LIBSVM may hold one class, which no row argues with.
   */
static bool form_agrees(const mc_model_kind *kind, const mc_model_shape *s, mc_flaw *why) {
    const bool lone = s->labelled && s->outputs == 1 && s->n == 0 && strcmp(s->solver, "libsvm") == 0;
    const bool several = !s->labelled || s->outputs >= 2 || lone, paired = kind->forms & P && s->labelled;
    const int64_t most = kind->pair ? 2 : INT32_MAX;
    bool good = kind->forms & 1u << s->form && several && s->outputs >= 1;
    if (s->form == MC_PAIRS)
        good =
            good && s->labelled && s->outputs <= most; /* outputs squared, the number of decisions, does not overflow */
    if (s->form == MC_VALUES)
        good = good && !(paired && s->outputs == 2);
    if (s->form == MC_REGION)
        good = good && s->outputs == 2;
    return good ? true
                : report_flaw(why, "%s by %s with %lld %s does not have the form '%s'", s->machine, s->solver,
                              (long long)s->outputs, s->labelled ? "classes" : "outputs", mc_form_names[s->form]);
}

static bool neighbours_agree(const mc_model_shape *s, mc_flaw *why) {
    const bool nearest = s->form == MC_NEIGHBOURS;
    if (nearest ? s->neighbors >= 1 && s->neighbors <= s->n : s->neighbors == 0 && !s->by_distance)
        return true;
    return report_flaw(why, "%s asks %lld neighbours among %lld rows", s->machine, (long long)s->neighbors,
                       (long long)s->n);
}

static bool count_agrees(const mc_model_kind *kind, const mc_model_shape *s) {
    switch (kind->centres) {
    case MC_CENTRES_ROWS: return s->n >= 1;
    case MC_CENTRES_OR_WEIGHTS: return s->primal ? s->n == 0 : s->n >= 1;
    case MC_CENTRES_FREQUENCIES: return s->n >= 2 && s->n % 2 == 0 && s->stored < 0 && !s->worded;
    case MC_CENTRES_ANY: return true;
    }
    return false;
}

static bool centres_agree(const mc_model_kind *kind, const mc_model_shape *s, mc_flaw *why) {
    const bool frequencies = kind->centres == MC_CENTRES_FREQUENCIES, empty = s->d < 1 && !s->worded;
    if (s->n < 0 || s->n == INT64_MAX || s->d < 0 || s->d > INT32_MAX || empty || (s->d == 0 && s->scaled)
        || !count_agrees(kind, s))
        return report_flaw(why, "%s by %s does not have %lld centres of %lld columns", s->machine, s->solver,
                           (long long)s->n, (long long)s->d);
    if (s->listed && (s->d < 1 || s->width > INT32_MAX || s->d > s->width || (s->stored < 0 && !frequencies)))
        return report_flaw(why, "it keeps %lld of %lld columns", (long long)s->d, (long long)s->width);
    if (!frequencies && s->n > s->rows)
        return report_flaw(why, "it was fitted to %lld rows and keeps %lld", (long long)s->rows, (long long)s->n);
    return true;
}

static bool weights_agree(const mc_model_shape *s, mc_flaw *why) {
    const bool beside = s->primal && s->n > 0; /* of a linear kernel */
    return s->primal && (s->features < 1 || (beside && s->features != s->d))
               ? report_flaw(why, "%lld features of %lld columns are weighed", (long long)s->features, (long long)s->d)
               : true;
}

bool mc_shape_agrees(const mc_model_shape *s, mc_flaw *why) {
    const mc_model_kind *kind = mc_model_kind_of(s->machine, s->solver);
    if (!kind)
        return report_flaw(why, "it is of the machine '%.40s' by '%.40s', which Mercer does not have", s->machine,
                           s->solver);
    if (s->noisy != kind->noise || s->spectral != kind->spectrum)
        return report_flaw(why, "%s by %s does not say how uncertain it is, or %s", s->machine, s->solver,
                           "what its components explain");
    return arrays_agree(kind, s, why) && form_agrees(kind, s, why) && neighbours_agree(s, why)
           && centres_agree(kind, s, why) && weights_agree(s, why);
}
