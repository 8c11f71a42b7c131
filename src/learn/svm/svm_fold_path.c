/* svm_fold_path.c: see svm_fold_path.h. Of every quadratic program each solution starts from that of the last C
   (svm_path.c); all splits go together (qp/batch_smo.h) and each to its end alone (qp/active_set.h), over the K of
   fold_matrix.c. */
#include "learn/svm/svm_fold_path.h"
#include "base/jobs.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/workspace.h"
#include "learn/svm/fold_matrix.h"
#include "qp/newton_free.h"
#include <string.h>

static const double QUICK = 1e-4; /* the least tolerance of which slopes in single precision know */

/* Of all quadratic programs, once so many more are solved. */
static double share_of(const mc_fold_path *w, int64_t more) {
    return (double)(w->solved + more) / (double)(w->tasks * w->count * w->parts);
}

/* Of each variable of a pair of classes the one of the other class on an equal row; *duplicate stays NULL where there
   is none. at: scratch. */
static void list_duplicate_variables(const mc_svm_folds *m, const mc_svm_program *t, int64_t *at, int64_t *duplicate) {
    for (int64_t i = 0; i < m->s.p.n; i++)
        at[i] = -1;
    for (int64_t i = 0; i < t->split; i++)
        at[m->same[mc_svm_program_row(&m->s, t, i)]] = i;
    for (int64_t i = 0; i < t->n; i++)
        duplicate[i] = -1;
    for (int64_t i = t->split; i < t->n; i++) {
        const int64_t other = at[m->same[mc_svm_program_row(&m->s, t, i)]];
        duplicate[i] = other;
        if (other >= 0)
            duplicate[other] = i;
    }
}

static mercer_status find_duplicate_variables(mercer_ctx *ctx, const mc_svm_folds *m, const mc_svm_program *t,
                                              int64_t **duplicate) {
    int64_t *at = NULL;
    bool any = false;
    *duplicate = NULL;
    if (!m->same || t->b < 0)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, at, m->s.p.n));
    const mercer_status status = MC_ALLOC(ctx, *duplicate, t->n);
    if (!status)
        list_duplicate_variables(m, t, at, *duplicate);
    for (int64_t i = 0; i < t->n && !status; i++)
        any = any || (*duplicate)[i] >= 0;
    mc_free(at);
    if (!any) {
        mc_free(*duplicate);
        *duplicate = NULL;
    }
    return status;
}

/* The quadratic program of a split, and where to start it. */
static mercer_status begin_split_program(mercer_ctx *ctx, mc_svm *s, mc_fold_part *p, const mc_matrix *matrix,
                                         const int64_t *duplicate, double rise) {
    double *const cost = s->cost;
    s->cost = p->cost;
    mercer_status status = mc_quadratic_program_open(ctx, s, &p->task, &p->program);
    if (!status && rise > 1)
        status = mc_svm_program_warm_start(ctx, s, &p->task, &p->program.dual, matrix, duplicate, rise);
    s->cost = cost;
    return status;
}

/* To the end from wherever it stands. */
static mercer_status finish_split_program(mercer_ctx *ctx, const mc_svm *s, mc_fold_part *p, const mc_matrix *matrix,
                                          int64_t steps) {
    mc_svm_program *t = &p->task;
    const mc_active_problem problem = {.dual = p->program.dual,
                                       .matrix = *matrix,
                                       .tolerance = s->set->tolerance,
                                       .steps_max = s->set->iterations - steps,
                                       .most = s->solver->most,
                                       .without_newton = true};
    MC_TRY(mc_active_solve(ctx, &problem, t->beta, t->f, &t->result));
    mc_svm_program_finish(s, t, t->result.intercept);
    mc_log_message(ctx, "%s: C %g in %lld steps", s->variant->name, s->C, (long long)(steps + t->result.steps));
    return MERCER_OK;
}

/* Splits from first on, as many as can go together. */
static mercer_status solve_splits_in_batch(mercer_ctx *ctx, const mc_fold_path *w, int64_t first, int64_t count,
                                           const mc_matrix *matrix, int64_t *steps) {
    mc_dual dual[MC_BATCH_SMO_MOST];
    double *beta[MC_BATCH_SMO_MOST], *f[MC_BATCH_SMO_MOST];
    for (int64_t k = 0; k < count; k++) {
        dual[k] = w->part[first + k].program.dual;
        beta[k] = w->part[first + k].task.beta;
        f[k] = w->part[first + k].task.f;
        steps[k] = 0;
    }
    const mc_batch_smo problem = {.K = *matrix,
                                  .tolerance = w->m->s.set->tolerance,
                                  .steps_max = w->m->s.set->iterations,
                                  .count = count,
                                  .dual = dual,
                                  .beta = beta,
                                  .f = f,
                                  .steps = steps,
                                  .begin = share_of(w, 0),
                                  .end = share_of(w, count),
                                  .buffers = w->m->buffers->sets};
    return w->m->s.variant->doubled || problem.tolerance < QUICK ? MERCER_OK : mc_batch_smo_solve(ctx, &problem);
}

static mercer_status solve_all_splits(mercer_ctx *ctx, mc_fold_path *w, const mc_matrix *matrix,
                                      const int64_t *duplicate, double rise) {
    mc_svm *s = &w->m->s;
    for (int64_t k = 0; k < w->parts; k++)
        MC_TRY(begin_split_program(ctx, s, &w->part[k], matrix, duplicate, rise));
    for (int64_t first = 0; first < w->parts; first += MC_BATCH_SMO_MOST) {
        int64_t steps[MC_BATCH_SMO_MOST] = {0};
        const int64_t count = w->parts - first < MC_BATCH_SMO_MOST ? w->parts - first : MC_BATCH_SMO_MOST;
        MC_TRY(solve_splits_in_batch(ctx, w, first, count, matrix, steps));
        for (int64_t k = 0; k < count; k++) {
            MC_TRY(finish_split_program(ctx, s, &w->part[first + k], matrix, steps[k]));
            w->solved++;
            mc_progress_held(ctx, share_of(w, 0));
        }
    }
    return MERCER_OK;
}

/* The values of the rows left out, or the coefficients they will be made from. */
static void take_held_out_values(const mc_fold_path *w, const mc_fold_part *p, int64_t task, int64_t k) {
    const mc_svm *s = &w->m->s;
    const mc_svm_program *t = &p->task;
    const int64_t width = (s->classes - 1) * w->count;
    for (int64_t h = 0; h < p->few; h++) {
        double *out = &p->decision[(k * p->few + h) * s->tasks + task];
        *out = t->intercept + (p->alpha ? 0 : t->unit * t->f[w->m->place[p->held[h]]]);
    }
    for (int64_t i = 0; p->alpha && i < t->n; i++) {
        const int64_t column = i < t->split ? t->b - 1 : t->a;
        p->alpha[mc_svm_program_row(s, t, i) * width + k * (s->classes - 1) + column] =
            mc_svm_program_coefficient(t, i);
    }
}

/* Every split begins with no multipliers. */
static mercer_status open_parts(mercer_ctx *ctx, const mc_fold_path *w, const mc_svm_program *t) {
    for (int64_t k = 0; k < w->parts; k++) {
        mc_svm_program *own = &w->part[k].task;
        *own = *t;
        own->beta = own->f = NULL;
        MC_TRY(MC_ALLOC(ctx, own->beta, t->m));
        MC_TRY(MC_ALLOC(ctx, own->f, t->n));
    }
    return MERCER_OK;
}

static void close_programs(const mc_fold_path *w) {
    for (int64_t k = 0; k < w->parts; k++) {
        mc_quadratic_program_close(&w->part[k].program);
        w->part[k].program = (mc_quadratic_program){0};
    }
}

static void close_parts(const mc_fold_path *w) {
    for (int64_t k = 0; k < w->parts; k++) {
        mc_free(w->part[k].task.beta);
        mc_free(w->part[k].task.f);
        w->part[k].task = (mc_svm_program){0};
    }
}

static mercer_status solve_program_path(mercer_ctx *ctx, mc_fold_path *w, const mc_svm_program *t) {
    mc_fold_matrix v;
    int64_t *duplicate = NULL;
    mercer_status status = mc_fold_matrix_open(ctx, &w->m->s, t, w->m->K, &w->m->buffers->pair, &v);
    MC_THEN(status, find_duplicate_variables(ctx, w->m, t, &duplicate));
    MC_THEN(status, open_parts(ctx, w, t));
    const mc_matrix matrix = mc_fold_matrix_view(&v);
    for (int64_t k = 0; k < w->count && !status; k++) {
        w->m->s.C = w->C[k];
        status = solve_all_splits(ctx, w, &matrix, duplicate, k ? w->C[k] / w->C[k - 1] : 1);
        for (int64_t a = 0; a < w->parts && !status; a++)
            take_held_out_values(w, &w->part[a], t - w->m->s.task, k);
        close_programs(w);
    }
    close_parts(w);
    mc_free(duplicate);
    mc_fold_matrix_close(&v);
    return status;
}

/* ---- Pairs of several classes side by side ---- */

typedef struct pair_jobs {
    const mc_fold_path *w;
    int64_t *order; /* tasks, the largest first */
} pair_jobs;

/* All that the largest pair can make use of: so none does otherwise than it would with all memory to itself. */
static size_t pair_job_bytes(const mc_svm_folds *m, int64_t splits) {
    const int64_t pair = mc_svm_folds_largest_pair(m), together = mc_svm_folds_at_once(splits);
    const mercer_dtype dtype = m->s.solver->dtype;
    const size_t beside = mc_fold_square_bytes(pair, mc_svm_folds_entry(m)) + mc_batch_smo_bytes(pair, together)
                          + mc_active_bytes(pair, pair, m->s.solver->most, dtype)
                          + (size_t)splits * 16 * mc_work_need(pair, sizeof(double));
    const size_t spare = mc_batch_smo_spare_bytes(pair, together) + mc_newton_free_bytes(pair)
                         + mc_active_spare_bytes(pair, pair, m->s.solver->most, dtype);
    return beside + 2 * spare + ((size_t)4 << 20);
}

/* What changes while a pair is solved is its own: C and the costs of the moment, buffers, programs. */
static mercer_status solve_pair_path(mercer_ctx *ctx, void *arg, int64_t k) {
    const pair_jobs *j = arg;
    mc_svm_buffers buffers = {0};
    mc_svm_folds own = *j->w->m;
    mc_fold_path w = *j->w;
    own.buffers = &buffers;
    w.m = &own;
    w.tasks = 1;
    MC_TRY(MC_ALLOC(ctx, w.part, w.parts));
    memcpy(w.part, j->w->part, (size_t)w.parts * sizeof *w.part);
    const mercer_status status = solve_program_path(ctx, &w, &own.s.task[j->order[k]]);
    mc_free(w.part);
    mc_svm_buffers_close(&buffers);
    return status;
}

static mercer_status solve_pairs_in_parallel(mercer_ctx *ctx, const mc_fold_path *w, size_t bytes) {
    const mc_svm *s = &w->m->s;
    pair_jobs j = {.w = w};
    int64_t *scratch = NULL;
    mercer_status status = MC_ALLOC(ctx, j.order, s->tasks);
    MC_THEN(status, MC_ALLOC(ctx, scratch, s->tasks));
    for (int64_t t = 0; t < s->tasks && !status; t++)
        j.order[t] = t;
    if (!status)
        mc_sort(j.order, scratch, s->tasks, mc_svm_by_rows, s);
    MC_THEN(status, mc_run_jobs(ctx, s->tasks, bytes, solve_pair_path, &j));
    mc_free(scratch);
    mc_free(j.order);
    return status;
}

/* One after the other where memory has no room for what they would take side by side. */
mercer_status mc_fold_path_solve(mercer_ctx *ctx, mc_fold_path *w) {
    const mc_svm *s = &w->m->s;
    const size_t bytes = mc_svm_folds_many_pairs(w->m) ? pair_job_bytes(w->m, w->parts) : 0;
    if (bytes && mc_jobs_at_once(ctx, s->tasks, bytes))
        return solve_pairs_in_parallel(ctx, w, bytes);
    for (int64_t t = 0; t < s->tasks; t++)
        MC_TRY(solve_program_path(ctx, w, &s->task[t]));
    return MERCER_OK;
}
