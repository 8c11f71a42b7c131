/* svm_path_table.c: the path of learn/svm/svm_path.c as rows of a table, each function measured on test rows while it
   is there. */
#include "base/status.h"
#include "data/table/data.h"
#include "learn/common/path_row.h"
#include "learn/svm/svm.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

typedef struct table {
    const double *C;
    const mercer_data *test;
    mercer_path_row *out;
} table;

static mercer_status write_row(mercer_ctx *ctx, void *arg, int64_t k, const mc_fitted *f) {
    const table *t = arg;
    const mercer_report *r = &f->report;
    mercer_path_row row = mc_path_row(t->C[k]);
    mc_path_row_certify(&row, r);
    row.kkt_violation = r->certificate.kkt_violation;
    row.free_vectors = r->free_vectors;
    row.bounded_vectors = r->bounded_vectors;
    t->out[k] = row;
    if (!t->test)
        return MERCER_OK;
    mercer_model model = {.f = *f}; /* borrows all */
    model.f.open = t->test->row_start != NULL;
    mercer_scores scores;
    MC_TRY(mc_model_score(ctx, &model, t->test, &scores));
    t->out[k].test = f->centres->classes ? scores.accuracy : scores.rmse;
    return MERCER_OK;
}

mercer_status mc_svm_path_table(mercer_ctx *ctx, const mercer_machine *machine, const mercer_svm *set,
                                const mercer_kernel *kernel, const mercer_data *data, const mercer_path *path,
                                mercer_path_row *out) {
    const mc_svm_kind kind = strcmp(machine->name, "svr") == 0 ? MC_SVR : MC_SVC;
    mercer_svm settings = *set;
    settings.C = 1;
    if (*settings.checkpoint || settings.start)
        return mc_fail(ctx, MERCER_INVALID, "path: a path along C has its own starts and writes no checkpoint");
    if (path->fold)
        return mc_fail(ctx, MERCER_INVALID,
                       "path: %s is measured on test rows, not on folds; mercer_tune_run has these", machine->name);
    table t = {.C = path->values, .test = path->test, .out = out};
    return mc_svm_path(ctx, kind, &settings, kernel, data, path->values, path->count, write_row, &t);
}
