/* svm_folds.c: see svm_folds.h.

       open    rows made ready as for one fit of all of them (svm.c), equal ones made one (svm_duplicates.c), K stored
       solve   costs of the rows learned from, 0 for the others; every quadratic program along C (svm_fold_path.c)
       values  of quadratic programs over all rows they stand in f; of pairs among more classes they are products of the
               rows left out with the coefficients of all C at once, class by class (predict/decision.c)

   The solver's own values end it: nothing is certified here, and the one model that is kept is fitted anew. */
#include "learn/svm/svm_fold_path.h"
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
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

/* ---- Opening ---- */

void mc_svm_buffers_close(mc_svm_buffers *buffers) {
    mc_buffer *const all[] = {&buffers->K, &buffers->pair, &buffers->sets[0], &buffers->sets[1], &buffers->sets[2]};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        mc_buffer_close(all[k]);
}

int64_t mc_svm_folds_at_once(int64_t splits) {
    return splits < MC_BATCH_SMO_MOST ? splits : MC_BATCH_SMO_MOST;
}

/* Of a split: its costs, multipliers, f, and a quadratic program written out; a start is made from as much again. */
size_t mc_svm_folds_bytes(const mercer_svm *set, int64_t n, int64_t pair, int64_t splits) {
    const size_t entry = mc_dtype_size(mc_svm_dtype(set, n));
    return mc_fold_square_bytes(n, entry) + mc_fold_square_bytes(pair, entry)
           + mc_batch_smo_bytes(pair ? pair : n, mc_svm_folds_at_once(splits))
           + (size_t)splits * 16 * mc_work_need(n, sizeof(double));
}

size_t mc_svm_folds_spare(const mercer_ctx *ctx, const mercer_svm *set, int64_t n, int64_t pair, int64_t splits) {
    const size_t need = mc_svm_folds_bytes(set, n, pair, splits), all = mc_memory_left(ctx),
                 left = all > need ? all - need : 0;
    const size_t sets = mc_min_size(mc_batch_smo_spare_bytes(pair ? pair : n, mc_svm_folds_at_once(splits)), left / 2);
    return sets + mc_min_size(mc_newton_free_bytes(pair ? pair : n), (left - sets) / 2);
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
int64_t mc_svm_folds_largest_pair(const mc_svm_folds *m) {
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
    const size_t need = mc_svm_folds_bytes(m->s.set, m->s.p.n, mc_svm_folds_largest_pair(m), splits);
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
    if (!(m->K = mc_fold_square_take(ctx, &m->buffers->K, n, mc_svm_folds_entry(m))))
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

/* ---- Values of many pairs ---- */

enum { HELD = 64 }; /* rows left out that are decided at once */

/* Of the rows of a split, blocks of which threads take. */
typedef struct deciding {
    const mc_fold_path *w;
    const mc_fold_part *p;
    int64_t most;  /* rows of a class */
    int64_t share; /* numbers of a thread */
    double *space; /* of each thread: K of a block with a class, and the sums */
} deciding;

static int64_t sums_width(const mc_fold_path *w) {
    return (w->m->s.classes - 1) * w->count;
}

/* The rows of K of those left out, one below the other, in double. */
static void take_held(const mc_fold_path *w, const int64_t *held, int64_t few, int64_t begin, int64_t end,
                      double *out) {
    const int64_t n = w->m->s.p.n, width = end - begin;
    for (int64_t h = 0; h < few; h++) {
        const int64_t from = w->m->place[held[h]] * n + begin;
        for (int64_t j = 0; j < width; j++)
            out[h * width + j] = w->m->s.solver->dtype == MERCER_F64 ? ((const double *)w->m->K)[from + j]
                                                                     : (double)((const float *)w->m->K)[from + j];
    }
}

/* To the decisions of rows from first on, on all pairs with class c. sums: few x count x (classes - 1). */
static void add_class(const mc_fold_path *w, const mc_fold_part *p, int64_t first, int64_t few, int64_t c,
                      const double *sums) {
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
    const mc_fold_path *w = d->w;
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

static mercer_status decide_pairs(mercer_ctx *ctx, const mc_fold_path *w, const mc_fold_part *p) {
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
    const mc_fold_part *p = d->p;
    double *out = p->split->out;
    for (int64_t i = begin; i < end; i++)
        if (shape->form == MC_VALUES)
            memcpy(out + i * tasks, p->decision + i * tasks, (size_t)tasks * sizeof *out);
        else
            mc_fitted_conclude(shape, p->decision + i * tasks, out + i * shape->outputs);
}

static mercer_status open_part(mercer_ctx *ctx, const mc_fold_path *w, const mc_svm_split *split, mc_fold_part *p) {
    const mc_svm *s = &w->m->s;
    *p = (mc_fold_part){.split = split, .held = split->rows + split->learned, .few = split->all - split->learned};
    MC_TRY(MC_ALLOC(ctx, p->cost, s->p.n));
    MC_TRY(write_costs(ctx, w->m, split, p->cost));
    MC_TRY(MC_ALLOC(ctx, p->decision, w->count * p->few * s->tasks));
    return mc_svm_folds_many_pairs(w->m) ? MC_ALLOC(ctx, p->alpha, s->p.n * (s->classes - 1) * w->count) : MERCER_OK;
}

static mercer_status solve_and_predict(mercer_ctx *ctx, mc_fold_path *w, const mc_svm_split *split) {
    for (int64_t k = 0; k < w->parts; k++)
        MC_TRY(open_part(ctx, w, &split[k], &w->part[k]));
    MC_TRY(mc_fold_path_solve(ctx, w));
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
    mc_fold_path w = {.m = m, .parts = splits, .count = count, .C = C, .tasks = m->s.tasks};
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
