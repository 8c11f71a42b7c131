/* path.c: one machine for many values of its penalty, and rows left out without refitting: the public calls over the
   learners that can do it. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "learn/common/machines.h"
#include "learn/loss/loss_solver.h"
#include "learn/ridge/ridge_path.h"
#include "model/model.h"
#include <string.h>

void mercer_path_init(mercer_path *set, size_t size, size_t row_size) {
    const mercer_path defaults = {.row_size = row_size};
    mc_sized_init(&defaults, sizeof defaults, set, size);
}

static bool is_machine_named(const mercer_machine *machine, const char *name) {
    return strcmp(machine->name, name) == 0;
}

static mercer_status run_ridge(mercer_ctx *ctx, const mercer_ridge *set, const mercer_kernel *kernel,
                               const mercer_data *data, const mercer_path *path, mercer_path_row *out) {
    if (path->test)
        return mc_fail(ctx, MERCER_INVALID, "path: ridge is measured on rows left out, not on test rows");
    return mc_ridge_path(ctx, kernel, data, set, path->fold, path->values, path->count, NULL, NULL, out);
}

static mercer_status fit_path_of_machine(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                         const mercer_kernel *kernel, const mercer_data *data, const mercer_path *path,
                                         mercer_path_row *out) {
    if (is_machine_named(machine, "ridge"))
        return run_ridge(ctx, settings, kernel, data, path, out);
    if (is_machine_named(machine, "svc") || is_machine_named(machine, "svr") || mc_loss_named(machine->name))
        return mc_path_table(ctx, machine, settings, kernel, data, path, out);
    return mc_fail(ctx, MERCER_INVALID,
                   "path: ridge, logistic, squared-hinge, huber, quantile and absolute have a path along lambda, svc "
                   "and svr along C; %s has none",
                   machine->name);
}

/* The caller's rows may be shorter or longer than ours. */
static void write_rows(const mercer_path_row *rows, const mercer_path *path, mercer_path_row *out) {
    const size_t known = path->row_size < sizeof *rows ? path->row_size : sizeof *rows;
    for (int64_t k = 0; k < path->count; k++) {
        char *row = (char *)out + (size_t)k * path->row_size;
        memset(row, 0, path->row_size);
        memcpy(row, &rows[k], known);
    }
}

static mercer_status read_path(mercer_ctx *ctx, const mercer_path *given, mercer_path *path) {
    *path = (mercer_path){0};
    MC_TRY(mc_sized_read(ctx, "mercer_path", given, path, sizeof *path));
    if (path->row_size < sizeof(double) || path->row_size > 4096)
        return mc_fail(ctx, MERCER_INVALID, "mercer_path.row_size is %zu: begin with mercer_path_defaults()",
                       path->row_size);
    if (!path->values || path->count < 1)
        return mc_fail(ctx, MERCER_INVALID, "path: there must be at least one value, got %lld",
                       path->values ? (long long)path->count : 0);
    return MERCER_OK;
}

mercer_status mercer_fit_path(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_kernel *kernel,
                              const mercer_data *data, const mercer_path *path, mercer_path_row *out) {
    MC_NEED(ctx, machine, kernel, data, path, out);
    mc_begin_call(ctx);
    mercer_path set;
    mercer_path_row *rows = NULL;
    mc_settings chosen;
    MC_TRY(read_path(ctx, path, &set));
    MC_TRY(mc_settings_read(ctx, machine, settings, &chosen));
    mercer_status status = MC_ALLOC(ctx, rows, set.count);
    MC_THEN(status, fit_path_of_machine(ctx, chosen.machine, chosen.values, kernel, data, &set, rows));
    if (!status)
        write_rows(rows, &set, out);
    mc_free(rows);
    return status;
}

mercer_status mercer_fit_folds(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_kernel *kernel,
                               const mercer_data *data, const int64_t *fold, double *residuals, double *variances,
                               double *rmse) {
    MC_NEED(ctx, machine, kernel, data, fold, residuals);
    mc_begin_call(ctx);
    mc_settings set;
    MC_TRY(mc_settings_read(ctx, machine, settings, &set));
    if (is_machine_named(set.machine, "ridge"))
        return mc_ridge_folds(ctx, kernel, data, (const void *)set.values, fold, residuals, variances, rmse);
    return mc_fail(ctx, MERCER_INVALID,
                   "folds: ridge alone has residuals of folds without refitting; mercer_tune_run measures %s", machine);
}
