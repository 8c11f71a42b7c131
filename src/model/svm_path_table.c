/* svm_path_table.c: the path of learn/svm/svm_path.c as rows of a table, each function measured on test rows while it
   is there. */
#include "base/ctx.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/svm/svm.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

typedef struct table {
    const double *C;
    const mercer_data *test;
    mercer_svm_path_row *out;
} table;

static mercer_status write_row(mercer_ctx *ctx, void *arg, int64_t k, const mc_fitted *f) {
    const table *t = arg;
    const mercer_report *r = &f->report;
    t->out[k] = (mercer_svm_path_row){.C = t->C[k],
                                      .primal = r->certificate.primal,
                                      .dual = r->certificate.dual,
                                      .gap_relative = r->certificate.gap_relative,
                                      .kkt_violation = r->certificate.kkt_violation,
                                      .support_vectors = r->support_vectors,
                                      .free_vectors = r->free_vectors,
                                      .bounded_vectors = r->bounded_vectors,
                                      .steps = r->iterations,
                                      .norm = r->norm,
                                      .test = NAN,
                                      .seconds = r->seconds};
    if (!t->test)
        return MERCER_OK;
    mercer_model model = {.f = *f}; /* borrows all */
    model.f.open = t->test->row_start != NULL;
    mercer_scores scores;
    MC_TRY(mc_model_score(ctx, &model, t->test, &scores));
    t->out[k].test = f->centres->classes ? scores.accuracy : scores.rmse;
    return MERCER_OK;
}

mercer_status mercer_svm_path(mercer_ctx *ctx, const char *machine, const mercer_kernel *kernel,
                              const mercer_data *data, const mercer_svm *set, const double *C, int64_t count,
                              const mercer_data *test, mercer_svm_path_row *out) {
    MC_NEED(ctx, machine, kernel, data, C, out);
    mc_begin(ctx);
    const mc_svm_kind kind = strcmp(machine, "svr") == 0 ? MC_SVR : MC_SVC;
    if (kind == MC_SVC && strcmp(machine, "svc") != 0)
        return mc_fail(ctx, MERCER_INVALID, "path: svc and svr have a path along C, '%s' has none", machine);
    const mercer_machine *row = mercer_machine_find(machine);
    mercer_svm settings = set ? *set : mercer_svm_defaults(machine);
    settings.C = 1;
    if (*settings.checkpoint || settings.start)
        return mc_fail(ctx, MERCER_INVALID, "path: a path along C has its own starts and writes no checkpoint");
    MC_TRY(mc_settings_check(ctx, machine, row->settings, row->count, &settings));
    table t = {.C = C, .test = test, .out = out};
    return mc_svm_path(ctx, kind, &settings, kernel, data, C, count, write_row, &t);
}
