/* svm_grid_rate.c: the rate of a point of the grid. For C-SVC with a kernel of its own every gamma is one search of
   Mercer over all values of C: K is made once for all folds and values. Other machines are
   cross-validated point by point, and a program named by -svmtrain is run for every point, as grid.py does. */
#include "libsvm/command/svm_grid.h"
#include "libsvm/class_groups.h"
#include "libsvm/solve_problem.h"
#include "base/memory.h"
#include "base/status.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double *svm_grid_rate(svm_grid *s, int c, int g) {
    return &s->rate[c * s->g.count + g];
}

/* Every C at once, by a search; percent in six digits, as svm-train prints them. */
static mercer_status search_values(svm_grid *s, int g, const mercer_data *data, const char *weights) {
    mercer_svm set = mercer_svm_defaults("svc");
    mercer_tune tune = mercer_tune_defaults();
    struct svm_parameter p = s->training.param;
    mercer_kernel *kernel = NULL;
    mercer_search *search = NULL;
    char *range = NULL;
    mc_text text = mc_text_open(s->ctx);
    mc_text_add(&text, "C={");
    for (int c = 0; c < s->c.count; c++)
        mc_text_add(&text, "%s%.17g", c ? "," : "", s->c.none ? p.C : exp2(s->c.point[c]));
    mc_text_add(&text, "}");
    p.gamma = s->g.none ? p.gamma : exp2(s->g.point[g]);
    set.tolerance = fmin(fmax(p.eps, 1e-12), 1);
    set.scale = "none";
    set.allow_indefinite = true;
    set.class_weight = weights;
    mercer_status status = mc_text_take(&text, &range);
    MC_THEN(status, mc_svm_task_kernel(s->ctx, &p, &kernel));
    tune.kernels = (const mercer_kernel *const *)&kernel;
    tune.kernel_count = 1;
    tune.ranges = (const char *const[]){range, NULL};
    tune.folds = s->folds;
    tune.score = "accuracy";
    MC_THEN(status, mercer_tune_run(s->ctx, "svc", &set, &tune, data, &search));
    for (int64_t k = 0; k < mercer_search_count(search) && !status; k++) {
        const mercer_candidate one = mercer_search_candidate(search, k);
        const char *is = strstr(one.settings, "C=");
        for (int c = 0; is && c < s->c.count; c++)
            if (strtod(is + 2, NULL) == (s->c.none ? p.C : exp2(s->c.point[c])))
                *svm_grid_rate(s, c, g) = isnan(*svm_grid_rate(s, c, g)) ? 100 * one.score : *svm_grid_rate(s, c, g);
    }
    mercer_search_free(search);
    mercer_kernel_free(kernel);
    mc_free(range);
    return status;
}

/* "place=weight,...": factors of C by class. */
static mercer_status weights_text(svm_grid *s, const mc_class_groups *groups, char **out) {
    double *weight = NULL;
    mc_text text = mc_text_open(s->ctx);
    mc_text_add(&text, "%s", "");
    MC_TRY(mc_group_weights(s->ctx, &s->training.param, groups, s->text.problem.l, &weight));
    for (int c = 0; c < groups->classes && weight; c++)
        mc_text_add(&text, "%s%d=%.17g", c ? "," : "", c, weight[groups->row[groups->start[c]]]);
    mc_free(weight);
    return mc_text_take(&text, out);
}

static void search_gamma(svm_grid *s, int g) {
    mc_class_groups groups = {0};
    const mc_node_shape shape = mc_node_shape_of(&s->text.problem, false);
    mercer_data *data = NULL;
    char *weights = NULL;
    mercer_status status = mc_class_groups_open(s->ctx, &s->text.problem, &groups);
    const mc_node_target target = {.place = groups.place};
    MC_THEN(status, weights_text(s, &groups, &weights));
    MC_THEN(status, mc_node_data(s->ctx, &shape, &s->text.problem, &target, &data));
    MC_THEN(status, search_values(s, g, data, weights));
    if (status)
        svm_command_fail("mercer-svm-grid: %s", mercer_message(s->ctx));
    mercer_data_free(data);
    mc_free(weights);
    mc_class_groups_close(&groups);
}

/* With the folds that every run of svm-train would draw. */
static void validate_point(svm_grid *s, int c, int g) {
    struct svm_parameter p = s->training.param;
    double *target = calloc((size_t)s->text.problem.l + 1, sizeof *target);
    if (!target)
        svm_command_fail("can't allocate enough memory");
    p.C = s->c.none ? p.C : exp2(s->c.point[c]);
    p.gamma = s->g.none ? p.gamma : exp2(s->g.point[g]);
    srand(1);
    svm_cross_validation(&s->text.problem, &p, s->folds, target);
    int right = 0;
    for (int i = 0; i < s->text.problem.l; i++)
        right += target[i] == s->text.problem.y[i];
    *svm_grid_rate(s, c, g) = 100.0 * right / s->text.problem.l;
    free(target);
}

/* The last number of the line of its output that speaks of cross-validation. */
static double rate_printed(FILE *output) {
    char line[4096];
    double rate = NAN;
    while (fgets(line, sizeof line, output)) {
        const char *last = strrchr(line, ' ');
        if (isnan(rate) && strstr(line, "Cross") && last)
            rate = strtod(last, NULL);
    }
    return rate;
}

static void run_program(svm_grid *s, int c, int g) {
    char command[8192], value[40];
    int at = snprintf(command, sizeof command, "\"%s\"", s->svmtrain);
    if (!s->c.none)
        at += snprintf(command + at, sizeof command - (size_t)at, " -c %s",
                       svm_python_number(exp2(s->c.point[c]), false, value));
    if (!s->g.none)
        at += snprintf(command + at, sizeof command - (size_t)at, " -g %s",
                       svm_python_number(exp2(s->g.point[g]), false, value));
    at += snprintf(command + at, sizeof command - (size_t)at, " -v %d %s%s", s->folds,
                   s->passed.length > 0 ? s->passed.bytes : "", s->data);
    FILE *output = at < (int)sizeof command ? popen(command, "r") : NULL;
    if (!output)
        svm_command_fail("%s cannot be run", s->svmtrain);
    *svm_grid_rate(s, c, g) = rate_printed(output);
    if (pclose(output) != 0 || isnan(*svm_grid_rate(s, c, g)))
        svm_command_fail("%s has given no rate", s->svmtrain);
}

static bool is_searched(const struct svm_parameter *p) {
    return p->svm_type == SVM_C_SVC && p->kernel_type != SVM_PRECOMPUTED && !p->probability;
}

void svm_grid_find_rate(svm_grid *s, int c, int g) {
    if (s->svmtrain)
        run_program(s, c, g);
    else if (is_searched(&s->training.param))
        search_gamma(s, g);
    else
        validate_point(s, c, g);
    if (isnan(*svm_grid_rate(s, c, g)))
        svm_command_fail("mercer-svm-grid: no rate for c=%g g=%g", exp2(s->c.point[c]), exp2(s->g.point[g]));
}
