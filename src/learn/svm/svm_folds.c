/* svm_folds.c: see svm_folds.h.

       open    rows made ready as for one fit of all of them (svm.c), equal ones made one (svm_duplicates.c), K stored
       solve   costs of the rows learned from, 0 for the others; for every quadratic program a rising C, each solution
               from the last (svm_path.c), all splits together (qp/batch_smo.h) and each to its end alone
               (qp/active_set.h), over the K of fold_matrix.c; pairs of several classes side by side (base/jobs.h)
       values  of quadratic programs over all rows they stand in f; of pairs among more classes they are products of the
               rows left out with the coefficients of all C at once, class by class (predict/decision.c)

   The solver's own values end it: nothing is certified here, and the one model that is kept is fitted anew. */
#include "learn/svm/svm_folds.h"
#include "base/ctx.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "problem/problem.h"
#include "gram/operator/gram.h"
#include "learn/svm/fold_matrix.h"
#include "qp/newton_free.h"
#include "qp/batch_smo.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

static const double QUICK = 1e-4; /* the least tolerance of which slopes in single precision know */

struct mc_svm_folds {
    mc_svm s;
    void *K; /* n x n of s.solver->dtype, rows in the order of s.p; in the buffers */
    mc_svm_buffers *buffers;
    const mercer_data *data;
    int64_t *place;  /* of each row of the data among those of s.p */
    int64_t *same;   /* the first row of s.p equal to each of them; NULL: nobody has looked */
    mc_fitted shape; /* form and outputs alone */
};

static size_t entry_bytes(const mc_svm_folds *m) {
    return mc_dtype_size(m->s.solver->dtype);
}

static bool many_pairs(const mc_svm_folds *m) {
    return m->shape.form == MC_PAIRS && m->s.classes > 2;
}

/* ---- Opening ---- */

void mc_svm_buffers_close(mc_svm_buffers *buffers) {
    mc_buffer *const all[] = {&buffers->K, &buffers->pair, &buffers->sets[0], &buffers->sets[1], &buffers->sets[2]};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        mc_buffer_close(all[k]);
}

static size_t smaller_size(size_t a, size_t b) {
    return a < b ? a : b;
}

static int64_t at_once(int64_t splits) {
    return splits < MC_BATCH_SMO_MOST ? splits : MC_BATCH_SMO_MOST;
}

/* Of a split: its costs, multipliers, f, and a quadratic program written out; a start is made from as much again. */
size_t mc_svm_folds_bytes(const mercer_svm *set, int64_t n, int64_t pair, int64_t splits) {
    const size_t entry = mc_dtype_size(mc_svm_dtype(set, n));
    return mc_fold_square_bytes(n, entry) + mc_fold_square_bytes(pair, entry)
           + mc_batch_smo_bytes(pair ? pair : n, at_once(splits))
           + (size_t)splits * 16 * mc_work_need(n, sizeof(double));
}

size_t mc_svm_folds_spare(const mercer_ctx *ctx, const mercer_svm *set, int64_t n, int64_t pair, int64_t splits) {
    const size_t need = mc_svm_folds_bytes(set, n, pair, splits), all = mc_memory_left(ctx),
                 left = all > need ? all - need : 0;
    const size_t sets = smaller_size(mc_batch_smo_spare_bytes(pair ? pair : n, at_once(splits)), left / 2);
    return sets + smaller_size(mc_newton_free_bytes(pair ? pair : n), (left - sets) / 2);
}

/* Whether they can share a K at all. */
static bool can_share_kernel(mc_svm_kind kind, const mercer_svm *set, const mercer_data *data) {
    for (int64_t i = 0; data->weight && i < data->n; i++)
        if (data->weight[i] == 0)
            return false;
    const bool plain = (kind == MC_SVC && data->class_of) || (kind == MC_SVR && !data->class_of);
    return plain && !*set->checkpoint && !set->start;
}

/* Rows of the largest pair of several classes. */
static int64_t largest_pair(const mc_svm_folds *m) {
    int64_t most = 0;
    for (int64_t k = 0; k < m->s.tasks; k++)
        most = m->s.task[k].n > most ? m->s.task[k].n : most;
    return most < m->s.p.n ? most : 0;
}

/* What the buffers hold already may be used again. */
static bool folds_fit_memory(const mercer_ctx *ctx, const mc_svm_folds *m, int64_t splits) {
    const mc_svm_buffers *buffers = m->buffers;
    const size_t held =
        buffers->K.size + buffers->pair.size + buffers->sets[0].size + buffers->sets[1].size + buffers->sets[2].size;
    const size_t need = mc_svm_folds_bytes(m->s.set, m->s.p.n, largest_pair(m), splits);
    return (double)need < 0.9 * (double)(mc_memory_left(ctx) + held);
}

bool mc_svm_folds_fit(const mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_data *data,
                      int64_t splits) {
    const int64_t pair = data->classes > 2 ? data->n : 0;
    return can_share_kernel(kind, set, data)
           && (double)mc_svm_folds_bytes(set, data->n, pair, splits) < 0.9 * (double)mc_memory_left(ctx);
}

static mercer_status store_all(mercer_ctx *ctx, mc_svm_folds *m) {
    const int64_t n = m->s.p.n;
    mc_gram *gram = NULL;
    if (!(m->K = mc_fold_square_take(ctx, &m->buffers->K, n, entry_bytes(m))))
        return MERCER_MEMORY;
    MC_TRY(mc_gram_open(ctx, m->s.p.kernel, m->s.p.x, NULL, m->s.solver->dtype, &gram));
    const mercer_status status = mc_gram_block(ctx, gram, 0, n, 0, n, m->s.solver->dtype, m->K, n);
    mc_gram_close(gram);
    return status;
}

static void note_shape(mc_svm_folds *m) {
    const bool pairs = m->s.variant->classes && m->s.task[0].b >= 0;
    m->shape.form = pairs ? MC_PAIRS : MC_VALUES;
    m->shape.outputs = m->s.variant->classes ? m->s.classes : m->s.tasks;
}

/* Where the rows of the data are, once equal ones of a class are one. */
static mercer_status note_rows(mercer_ctx *ctx, mc_svm_folds *m) {
    const int64_t n = m->s.p.n;
    int64_t *to = NULL;
    MC_TRY(MC_ALLOC(ctx, m->place, n));
    MC_TRY(MC_ALLOC(ctx, to, n));
    for (int64_t i = 0; i < n; i++)
        to[i] = i;
    mercer_status status = m->s.variant->classes ? MC_ALLOC(ctx, m->same, n) : MERCER_OK;
    if (!status && m->same)
        status = mc_svm_merge_duplicates(ctx, &m->s, to, m->same);
    for (int64_t i = 0; i < n && !status; i++)
        m->place[m->s.order[i]] = to[i];
    mc_free(to);
    return status;
}

/* *shared: whether there is memory for it. */
static mercer_status open_shared_folds(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set,
                                       const mercer_kernel *kernel, const mercer_data *data, int64_t splits,
                                       mc_svm_folds *m, bool *shared) {
    m->data = data;
    MC_TRY(mc_svm_open(ctx, kind, set, kernel, data, &m->s));
    mc_row_store_close(m->s.solver->store);
    m->s.solver->store = NULL;
    MC_TRY(note_rows(ctx, m));
    note_shape(m);
    *shared = folds_fit_memory(ctx, m, splits);
    return *shared ? store_all(ctx, m) : MERCER_OK;
}

mercer_status mc_svm_folds_open(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                                const mercer_data *data, int64_t splits, mc_svm_buffers *buffers, mc_svm_folds **out) {
    bool shared = false;
    *out = NULL;
    if (!can_share_kernel(kind, set, data))
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, *out, 1));
    (*out)->buffers = buffers;
    const mercer_status status = open_shared_folds(ctx, kind, set, kernel, data, splits, *out, &shared);
    if (status || !shared) {
        mc_svm_folds_close(*out);
        *out = NULL;
    }
    return status;
}

void mc_svm_folds_close(mc_svm_folds *m) {
    if (!m)
        return;
    mc_svm_close(&m->s);
    mc_free(m->place);
    mc_free(m->same);
    mc_free(m);
}

int64_t mc_svm_folds_outputs(const mc_svm_folds *m) {
    return m->shape.outputs;
}

/* ---- A split ---- */

/* The weights of classes are those of the rows learned from. */
static mercer_status write_costs(mercer_ctx *ctx, const mc_svm_folds *m, const mc_svm_split *split, double *cost) {
    const mc_svm *s = &m->s;
    const bool classes = s->variant->classes;
    int32_t *class_of = NULL;
    double *weights = NULL;
    mercer_status status = MC_ALLOC(ctx, class_of, split->learned);
    MC_THEN(status, MC_ALLOC(ctx, weights, s->classes + 1));
    for (int64_t k = 0; k < split->learned && classes && !status; k++)
        class_of[k] = m->data->class_of[split->rows[k]];
    if (!status && classes)
        status =
            mc_class_weights(ctx, s->variant->name, s->set->class_weight, s->p.x, class_of, split->learned, weights);
    for (int64_t k = 0; k < split->learned && !status; k++) {
        const int64_t row = split->rows[k];
        cost[m->place[row]] += (m->data->weight ? m->data->weight[row] : 1) * (classes ? weights[class_of[k]] : 1);
    }
    mc_free(class_of);
    mc_free(weights);
    return status;
}

/* ---- Along C ---- */

/* What belongs to one split. */
typedef struct part {
    const mc_svm_split *split;
    const int64_t *held; /* rows of the data */
    int64_t few;
    double *cost;        /* of each row of s.p; 0: not learned from */
    double *decision;    /* count x few x tasks */
    double *alpha;       /* many pairs: of each row of s.p, (classes - 1) x count: its coefficients, C by C */
    mc_svm_program task; /* its own multipliers of the quadratic program at hand */
    mc_quadratic_program program;
} part;

typedef struct fold_path {
    mc_svm_folds *m;
    part *part;
    int64_t parts, count;
    const double *C;
    int64_t tasks, solved; /* to be solved, and quadratic programs solved: for the progress */
} fold_path;

/* Of all quadratic programs, once so many more are solved. */
static double share_of(const fold_path *w, int64_t more) {
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
static mercer_status begin_split_program(mercer_ctx *ctx, mc_svm *s, part *p, const mc_matrix *matrix,
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
static mercer_status finish_split_program(mercer_ctx *ctx, const mc_svm *s, part *p, const mc_matrix *matrix,
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
static mercer_status solve_splits_in_batch(mercer_ctx *ctx, const fold_path *w, int64_t first, int64_t count,
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

static mercer_status solve_all_splits(mercer_ctx *ctx, fold_path *w, const mc_matrix *matrix, const int64_t *duplicate,
                                      double rise) {
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
static void take_held_out_values(const fold_path *w, const part *p, int64_t task, int64_t k) {
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
static mercer_status open_parts(mercer_ctx *ctx, const fold_path *w, const mc_svm_program *t) {
    for (int64_t k = 0; k < w->parts; k++) {
        mc_svm_program *own = &w->part[k].task;
        *own = *t;
        own->beta = own->f = NULL;
        MC_TRY(MC_ALLOC(ctx, own->beta, t->m));
        MC_TRY(MC_ALLOC(ctx, own->f, t->n));
    }
    return MERCER_OK;
}

static void close_programs(const fold_path *w) {
    for (int64_t k = 0; k < w->parts; k++) {
        mc_quadratic_program_close(&w->part[k].program);
        w->part[k].program = (mc_quadratic_program){0};
    }
}

static void close_parts(const fold_path *w) {
    for (int64_t k = 0; k < w->parts; k++) {
        mc_free(w->part[k].task.beta);
        mc_free(w->part[k].task.f);
        w->part[k].task = (mc_svm_program){0};
    }
}

static mercer_status solve_program_path(mercer_ctx *ctx, fold_path *w, const mc_svm_program *t) {
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
    const fold_path *w;
    int64_t *order; /* tasks, the largest first */
} pair_jobs;

/* All that the largest pair can make use of: so none does otherwise than it would with all memory to itself. */
static size_t pair_job_bytes(const mc_svm_folds *m, int64_t splits) {
    const int64_t pair = largest_pair(m), together = at_once(splits);
    const mercer_dtype dtype = m->s.solver->dtype;
    const size_t beside = mc_fold_square_bytes(pair, entry_bytes(m)) + mc_batch_smo_bytes(pair, together)
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
    fold_path w = *j->w;
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

static mercer_status solve_pairs_in_parallel(mercer_ctx *ctx, const fold_path *w, size_t bytes) {
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
static mercer_status solve_all_programs(mercer_ctx *ctx, fold_path *w) {
    const mc_svm *s = &w->m->s;
    const size_t bytes = many_pairs(w->m) ? pair_job_bytes(w->m, w->parts) : 0;
    if (bytes && mc_jobs_at_once(ctx, s->tasks, bytes))
        return solve_pairs_in_parallel(ctx, w, bytes);
    for (int64_t t = 0; t < s->tasks; t++)
        MC_TRY(solve_program_path(ctx, w, &s->task[t]));
    return MERCER_OK;
}

/* ---- Values of many pairs ---- */

enum { HELD = 64 }; /* rows left out that are decided at once */

/* Of the rows of a split, blocks of which threads take. */
typedef struct deciding {
    const fold_path *w;
    const part *p;
    int64_t most;  /* rows of a class */
    int64_t share; /* numbers of a thread */
    double *space; /* of each thread: K of a block with a class, and the sums */
} deciding;

static int64_t sums_width(const fold_path *w) {
    return (w->m->s.classes - 1) * w->count;
}

/* The rows of K of those left out, one below the other, in double. */
static void take_held(const fold_path *w, const int64_t *held, int64_t few, int64_t begin, int64_t end, double *out) {
    const int64_t n = w->m->s.p.n, width = end - begin;
    for (int64_t h = 0; h < few; h++) {
        const int64_t from = w->m->place[held[h]] * n + begin;
        for (int64_t j = 0; j < width; j++)
            out[h * width + j] = w->m->s.solver->dtype == MERCER_F64 ? ((const double *)w->m->K)[from + j]
                                                                     : (double)((const float *)w->m->K)[from + j];
    }
}

/* To the decisions of rows from first on, on all pairs with class c. sums: few x count x (classes - 1). */
static void add_class(const fold_path *w, const part *p, int64_t first, int64_t few, int64_t c, const double *sums) {
    const int64_t classes = w->m->s.classes, columns = classes - 1, tasks = w->m->s.tasks;
    for (int64_t h = 0; h < few; h++)
        for (int64_t k = 0; k < w->count; k++)
            for (int64_t other = 0; other < classes; other++) {
                if (other == c)
                    continue;
                const int64_t pair = other < c ? mc_pair_of(classes, other, c) : mc_pair_of(classes, c, other);
                const int64_t column = other < c ? other : other - 1;
                p->decision[(k * p->few + first + h) * tasks + pair] += sums[(h * w->count + k) * columns + column];
            }
}

static void decide_held(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const deciding *d = arg;
    const fold_path *w = d->w;
    const mc_svm *s = &w->m->s;
    const int64_t few = end - begin, width = sums_width(w);
    double *K = d->space + thread * d->share, *sums = K + HELD * d->most;
    for (int64_t c = 0; c < s->classes; c++) {
        const int64_t from = s->start[c], rows = s->start[c + 1] - from;
        if (!rows)
            continue;
        take_held(w, d->p->held + begin, few, from, from + rows, K);
        mc_gemm(1, mc_row_major(K, few, rows, rows), mc_row_major(d->p->alpha + from * width, rows, width, width), 0,
                mc_row_major(sums, few, width, width));
        add_class(w, d->p, begin, few, c, sums);
    }
}

static mercer_status decide_pairs(mercer_ctx *ctx, const fold_path *w, const part *p) {
    const mc_svm *s = &w->m->s;
    deciding d = {.w = w, .p = p};
    for (int64_t c = 0; c < s->classes; c++)
        d.most = s->start[c + 1] - s->start[c] > d.most ? s->start[c + 1] - s->start[c] : d.most;
    d.share = HELD * (d.most + sums_width(w));
    d.space = mc_alloc_unset(ctx, mc_for_threads(ctx, mc_chunk_count(p->few, HELD)) * d.share, sizeof *d.space);
    const mercer_status status = d.space ? mc_for(ctx, p->few, HELD, decide_held, &d) : MERCER_MEMORY;
    mc_free(d.space);
    return status;
}

/* ---- The whole ---- */

static void write_held_out_outputs(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const deciding *d = arg;
    const mc_fitted *shape = &d->w->m->shape;
    const int64_t tasks = d->w->m->s.tasks;
    const part *p = d->p;
    double *out = p->split->out;
    for (int64_t i = begin; i < end; i++)
        if (shape->form == MC_VALUES)
            memcpy(out + i * tasks, p->decision + i * tasks, (size_t)tasks * sizeof *out);
        else
            mc_fitted_conclude(shape, p->decision + i * tasks, out + i * shape->outputs);
}

static mercer_status open_part(mercer_ctx *ctx, const fold_path *w, const mc_svm_split *split, part *p) {
    const mc_svm *s = &w->m->s;
    *p = (part){.split = split, .held = split->rows + split->learned, .few = split->all - split->learned};
    MC_TRY(MC_ALLOC(ctx, p->cost, s->p.n));
    MC_TRY(write_costs(ctx, w->m, split, p->cost));
    MC_TRY(MC_ALLOC(ctx, p->decision, w->count * p->few * s->tasks));
    return many_pairs(w->m) ? MC_ALLOC(ctx, p->alpha, s->p.n * (s->classes - 1) * w->count) : MERCER_OK;
}

static mercer_status solve_and_predict(mercer_ctx *ctx, fold_path *w, const mc_svm_split *split) {
    for (int64_t k = 0; k < w->parts; k++)
        MC_TRY(open_part(ctx, w, &split[k], &w->part[k]));
    MC_TRY(solve_all_programs(ctx, w));
    for (int64_t k = 0; k < w->parts; k++) {
        if (w->part[k].alpha && w->part[k].few)
            MC_TRY(decide_pairs(ctx, w, &w->part[k]));
        deciding d = {.w = w, .p = &w->part[k]};
        MC_TRY(mc_for(ctx, w->count * d.p->few, HELD, write_held_out_outputs, &d));
    }
    return MERCER_OK;
}

mercer_status mc_svm_folds_solve_path(mercer_ctx *ctx, mc_svm_folds *m, const mc_svm_split *split, int64_t splits,
                                      const double *C, int64_t count) {
    fold_path w = {.m = m, .parts = splits, .count = count, .C = C, .tasks = m->s.tasks};
    MC_TRY(MC_ALLOC(ctx, w.part, splits));
    const mercer_status status = solve_and_predict(ctx, &w, split);
    for (int64_t k = 0; k < splits; k++) {
        mc_free(w.part[k].cost);
        mc_free(w.part[k].decision);
        mc_free(w.part[k].alpha);
    }
    mc_free(w.part);
    return status;
}
