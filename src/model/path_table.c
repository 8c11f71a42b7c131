/* path_table.c: a path along C or lambda (learn/svm/svm_path.c, learn/loss/loss_path.c) as rows of a table, each
   function measured while it is there: on test rows, and once more on each fold by a path over the rows outside it. */
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/common/path_row.h"
#include "learn/loss/loss_solver.h"
#include "learn/svm/svm.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

typedef struct table {
    const mercer_machine *machine;
    const mc_loss *loss; /* NULL: a support vector machine */
    const void *set;     /* mercer_loss, mercer_svm */
    const double *value;
    int64_t count;
    const mercer_data *test;
    double share; /* of the folds, while folds are measured; 0: the path itself */
    mercer_path_row *out;
} table;

mercer_status mc_fit_each(mercer_ctx *ctx, const mercer_machine *machine, const void *set, const mercer_kernel *kernel,
                          const mercer_data *data, const double *value, int64_t count, mc_fitted_each *each,
                          void *arg) {
    const mc_loss *loss = mc_loss_named(machine->name);
    const mc_svm_kind kind = strcmp(machine->name, "svr") == 0 ? MC_SVR : MC_SVC;
    return loss ? mc_loss_path(ctx, loss, set, kernel, data, value, count, each, arg)
                : mc_svm_path(ctx, kind, set, kernel, data, value, count, each, arg);
}

/* By the loss itself, but for classes, and Huber's, which stands for a square. */
static double score_of(const table *t, const mc_fitted *f, const mercer_scores *s) {
    return f->centres->classes                             ? s->accuracy
           : t->loss && t->loss == &mc_losses[MC_QUANTILE] ? s->pinball
           : t->loss && t->loss == &mc_losses[MC_ABSOLUTE] ? s->mae
                                                           : s->rmse;
}

static mercer_status score_on_test(mercer_ctx *ctx, const table *t, const mc_fitted *f, mercer_scores *out) {
    char tau[40] = "";
    if (t->loss)
        mc_print(tau, sizeof tau, "tau=%.17g", ((const mercer_loss *)t->set)->tau);
    mercer_model model = {.f = *f, .settings = tau}; /* borrows all */
    model.f.open = t->test->row_start != NULL;
    return mc_model_score(ctx, &model, t->test, out);
}

static mercer_status write_row(mercer_ctx *ctx, void *arg, int64_t k, const mc_fitted *f) {
    const table *t = arg;
    const mercer_report *r = &f->report;
    mercer_scores scores;
    mercer_path_row row = mc_path_row(t->value[k]);
    mc_path_row_certify(&row, r);
    if (t->loss) {
        row.distance = r->certificate.distance;
    } else {
        row.kkt_violation = r->certificate.kkt_violation;
        row.free_vectors = r->free_vectors;
        row.bounded_vectors = r->bounded_vectors;
    }
    if (t->test) {
        MC_TRY(score_on_test(ctx, t, f, &scores));
        row.test = score_of(t, f, &scores);
        row.test_log_loss = scores.log_loss;
    }
    t->out[k] = row;
    return MERCER_OK;
}

/* ---- Folds ---- */

static mercer_status add_fold(mercer_ctx *ctx, void *arg, int64_t k, const mc_fitted *f) {
    const table *t = arg;
    mercer_scores scores;
    MC_TRY(score_on_test(ctx, t, f, &scores));
    t->out[k].fold += t->share * score_of(t, f, &scores);
    t->out[k].fold_log_loss += t->share * scores.log_loss;
    return MERCER_OK;
}

/* The rows of a fold, then those outside it. */
static int64_t partition_fold_rows(int64_t n, const int64_t *fold, int64_t g, int64_t *rows) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += fold[i] == g;
    for (int64_t i = 0, inside = 0, outside = count; i < n; i++)
        rows[fold[i] == g ? inside++ : outside++] = i;
    return n - count;
}

static mercer_status fit_without_fold(mercer_ctx *ctx, table *t, const mercer_kernel *kernel, const mercer_data *data,
                                      const int64_t *fold, int64_t g, int64_t *rows) {
    const int64_t kept = partition_fold_rows(data->n, fold, g, rows), left = data->n - kept;
    mercer_data *train = NULL, *test = NULL;
    if (!left || !kept)
        return mc_fail(ctx, MERCER_INVALID, "path: fold %lld has %s row", (long long)g, left ? "every" : "no");
    mercer_status status = mc_data_take(ctx, data, rows, left, &test);
    MC_THEN(status, mc_data_take(ctx, data, rows + left, kept, &train));
    t->test = test;
    MC_THEN(status, mc_fit_each(ctx, t->machine, t->set, kernel, train, t->value, t->count, add_fold, t));
    mercer_data_free(train);
    mercer_data_free(test);
    return status;
}

static mercer_status measure_folds(mercer_ctx *ctx, table *t, const mercer_kernel *kernel, const mercer_data *data,
                                   const int64_t *fold) {
    int64_t folds = 0, *rows = NULL;
    for (int64_t i = 0; i < data->n; i++) {
        if (fold[i] < 0 || fold[i] >= data->n)
            return mc_fail(ctx, MERCER_INVALID, "path: row %lld has fold %lld; folds are numbered from 0",
                           (long long)i + 1, (long long)fold[i]);
        folds = fold[i] >= folds ? fold[i] + 1 : folds;
    }
    for (int64_t k = 0; k < t->count; k++)
        t->out[k].fold = t->out[k].fold_log_loss = 0;
    t->share = 1 / (double)folds;
    mercer_status status = MC_ALLOC(ctx, rows, data->n);
    for (int64_t g = 0; g < folds && !status; g++)
        status = fit_without_fold(ctx, t, kernel, data, fold, g, rows);
    mc_free(rows);
    return status;
}

/* A path has its own starts. */
static mercer_status check_svm(mercer_ctx *ctx, const mercer_machine *machine, const mercer_svm *set,
                               const mercer_path *path) {
    if (*set->checkpoint || set->start)
        return mc_fail(ctx, MERCER_INVALID, "path: a path along C has its own starts and writes no checkpoint");
    if (path->fold)
        return mc_fail(ctx, MERCER_INVALID,
                       "path: %s is measured on test rows, not on folds; mercer_tune_run has these", machine->name);
    return MERCER_OK;
}

mercer_status mc_path_table(mercer_ctx *ctx, const mercer_machine *machine, const void *set,
                            const mercer_kernel *kernel, const mercer_data *data, const mercer_path *path,
                            mercer_path_row *out) {
    table t = {.machine = machine,
               .loss = mc_loss_named(machine->name),
               .value = path->values,
               .count = path->count,
               .test = path->test,
               .out = out};
    mercer_loss loss;
    mercer_svm svm;
    if (t.loss) {
        loss = *(const mercer_loss *)set;
        loss.lambda = 1;
        t.set = &loss;
    } else {
        svm = *(const mercer_svm *)set;
        svm.C = 1;
        t.set = &svm;
        MC_TRY(check_svm(ctx, machine, &svm, path));
    }
    MC_TRY(mc_fit_each(ctx, machine, t.set, kernel, data, path->values, path->count, write_row, &t));
    return path->fold ? measure_folds(ctx, &t, kernel, data, path->fold) : MERCER_OK;
}
