/* svm_device.c: classifiers and regressions whose K, in double, a device can hold whole: every pair of classes has its
   rows and columns there, and all are solved at once (qp/device_smo.h).

   Under auto a device is asked for from as many rows on as have been seen to gain (docs/gpu.md): below them the
   processor has solved most problems before a device is open. */
#include "backend/device.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "learn/svm/svm.h"
#include "qp/device_smo.h"
#include <math.h>
#include <string.h>

enum { LEAST_AUTOMATIC = 50000 };         /* rows */
static const double ROUNDS_SECONDS = 0.3; /* on a device, beside the making of K */

/* ---- Whether ---- */

static bool starts_at_zero(const mc_svm_program *t) {
    for (int64_t v = 0; v < t->m; v++)
        if (t->beta[v] != 0)
            return false;
    return true;
}

static bool suits_device(const mercer_ctx *ctx, const mc_svm *s) {
    bool suits = (s->kind == MC_SVC || s->kind == MC_SVR) && !s->path && !*s->set->checkpoint && isfinite(s->C)
                 && s->set->precision[0] != 's' && !ctx->ranks && !ctx->job.whole;
    for (int64_t k = 0; k < s->tasks && suits; k++)
        suits = !mc_svm_program_C_is_large(s, &s->task[k]) && starts_at_zero(&s->task[k]);
    return suits && (s->p.n >= LEAST_AUTOMATIC || !mc_device_is_automatic(ctx));
}

static size_t bytes_there(const mc_svm *s) {
    const size_t n = (size_t)s->p.n;
    int64_t variables = 0;
    for (int64_t k = 0; k < s->tasks; k++)
        variables += s->task[k].m;
    return n * n * sizeof(double) + mc_device_smo_bytes(s->tasks, variables);
}

/* The processor goes over about all pairs of rows once, in single precision: as many operations as
   backend/device_price.c counts for that. */
static mercer_status find_device(mercer_ctx *ctx, const mc_svm *s, mc_device **out) {
    const double n = (double)s->p.n, width = (double)mercer_data_stored(s->p.x) / n;
    *out = NULL;
    if (mc_device_is_refused(ctx) || !suits_device(ctx, s))
        return MERCER_OK;
    MC_TRY(mc_device_for_operations(ctx, n * n * (width + 20) / 2, ROUNDS_SECONDS * 8e9, out));
    if (*out && bytes_there(s) > (*out)->limit - (*out)->used)
        *out = NULL;
    return MERCER_OK;
}

/* ---- All of them ---- */

typedef struct programs_there {
    mc_device_smo_program *program;
    mc_quadratic_program *written;
    int64_t count; /* written so far */
} programs_there;

static mercer_status write_program(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, programs_there *of) {
    mc_quadratic_program *q = &of->written[of->count];
    const bool pair = t->b >= 0;
    t->tolerance = MC_SVM_SAFETY * s->set->tolerance;
    MC_TRY(mc_quadratic_program_open(ctx, s, t, q));
    of->program[of->count++] = (mc_device_smo_program){.dual = q->dual,
                                                       .first = {pair ? s->start[t->a] : 0, pair ? s->start[t->b] : 0},
                                                       .split = pair ? t->split : t->n,
                                                       .tolerance = t->tolerance,
                                                       .steps_max = s->set->iterations,
                                                       .beta = t->beta,
                                                       .f = t->f,
                                                       .result = &t->result};
    return MERCER_OK;
}

static mercer_status solve_over(mercer_ctx *ctx, mc_svm *s, mc_dense K) {
    programs_there of = {0};
    mercer_status status = MC_ALLOC(ctx, of.program, s->tasks);
    MC_THEN(status, MC_ALLOC(ctx, of.written, s->tasks));
    for (int64_t k = 0; k < s->tasks && !status; k++)
        status = write_program(ctx, s, &s->task[k], &of);
    MC_THEN(status, mc_device_smo_solve(ctx, K, of.program, s->tasks));
    for (int64_t k = 0; k < s->tasks && !status; k++) {
        mc_svm_program_finish(s, &s->task[k], s->task[k].result.intercept);
        s->task[k].solved = s->task[k].decided = true;
    }
    for (int64_t k = 0; k < of.count; k++)
        mc_quadratic_program_close(&of.written[k]);
    mc_free(of.program);
    mc_free(of.written);
    return status;
}

static mercer_status make_and_solve(mercer_ctx *ctx, mc_svm *s, mc_gram *gram, mc_device *device, bool *solved) {
    mc_dense K = {0};
    MC_TRY(mc_gram_place_square(ctx, gram, device, solved));
    if (!*solved)
        return MERCER_OK;
    mercer_status status = mc_dense_allocate(ctx, device, MC_COLUMN_MAJOR, MERCER_F64, s->p.n, s->p.n, &K);
    MC_THEN(status, mc_gram_write_lower(ctx, gram, K));
    MC_THEN(status, solve_over(ctx, s, K));
    mc_dense_free(&K);
    return status;
}

static void begin_anew(mc_svm *s) {
    for (int64_t k = 0; k < s->tasks; k++) {
        mc_svm_program *t = &s->task[k];
        memset(t->beta, 0, (size_t)t->m * sizeof *t->beta);
        memset(t->f, 0, (size_t)t->n * sizeof *t->f);
        t->result = (mc_smo_result){0};
        t->solved = t->decided = false;
    }
}

/* The operator stays: the certificate asks it for some rows of K, and what its entries are worth. */
mercer_status mc_svm_solve_on_device(mercer_ctx *ctx, mc_svm *s, bool *solved) {
    mc_device *device = NULL;
    *solved = false;
    MC_TRY(find_device(ctx, s, &device));
    if (!device)
        return MERCER_OK;
    mercer_status status = mc_gram_open(ctx, s->p.kernel, s->p.x, NULL, MERCER_F64, &s->kept.gram);
    MC_THEN(status, make_and_solve(ctx, s, s->kept.gram, device, solved));
    if (!status && *solved)
        return MERCER_OK;
    mc_svm_kept_close(s);
    *solved = false;
    if (!status || !mc_device_leaves_it(ctx, device, status))
        return status;
    begin_anew(s);
    return MERCER_OK;
}
