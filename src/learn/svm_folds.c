/* svm_folds.c: see svm_folds.h.

       open    rows made ready as for one fit of all of them (svm.c), K stored
       walk    costs of the rows learned from, 0 for the others; for every programme a rising C, each solution from the last: multipliers
               and f times C'/C (svm_path.c); K of a pair of classes is two runs of rows and columns of the whole
       values  of programmes over all rows they stand in f; of pairs among more classes they are products of the rows left out with the
               coefficients of all C at once, class by class (decide.c)

   The solver's own values end the walk: nothing is certified here, and the one model that is kept is fitted anew. */
#include "learn/svm_folds.h"
#include "backend/blas.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/work.h"
#include "data/data.h"
#include "solve/rows.h"
#include <math.h>
#include <string.h>

struct mc_svm_folds {
    mc_svm s;
    void *K;         /* n x n of s.dtype, rows in the order of s.p */
    const mercer_data *data;
    int64_t *place;  /* of each row of the data among those of s.p */
    int64_t *same;   /* the first row of s.p equal to each of them; NULL: nobody has looked */
    mc_fitted shape; /* form and outputs alone */
};

static size_t entry_bytes(const mc_svm_folds *m) {
    return m->s.dtype == MERCER_F64 ? sizeof(double) : sizeof(float);
}

static bool many_pairs(const mc_svm_folds *m) {
    return m->shape.form == MC_PAIRS && m->s.classes > 2;
}

/* ---- Opening ---- */

static bool fits(const mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_data *data) {
    const double n = (double)data->n, entry = mc_svm_dtype(set, data->n) == MERCER_F64 ? 8 : 4;
    for (int64_t i = 0; data->weight && i < data->n; i++)
        if (data->weight[i] == 0)
            return false;
    const bool plain = (kind == MC_SVC && data->class_of) || (kind == MC_SVR && !data->class_of);
    return plain && !*set->checkpoint && !set->start && 1.6 * n * n * entry < 0.9 * (double)mc_memory_left(ctx);
}

static mercer_status store_all(mercer_ctx *ctx, mc_svm_folds *m) {
    const int64_t n = m->s.p.n;
    mc_gram *gram = NULL;
    if (!(m->K = mc_alloc_unset(ctx, n * n, entry_bytes(m))))
        return MERCER_MEMORY;
    MC_TRY(mc_gram_open(ctx, m->s.p.kernel, m->s.p.x, NULL, m->s.dtype, &gram));
    const mercer_status status = mc_gram_block(ctx, gram, 0, n, 0, n, m->s.dtype, m->K, n);
    mc_gram_close(gram);
    return status;
}

static void note_shape(mc_svm_folds *m) {
    const bool pairs = m->s.row->classes && m->s.task[0].b >= 0;
    m->shape.form = pairs ? MC_PAIRS : MC_VALUES;
    m->shape.outputs = m->s.row->classes ? m->s.classes : m->s.tasks;
}

/* Where the rows of the data are, once equal ones of a class are one. */
static mercer_status note_rows(mercer_ctx *ctx, mc_svm_folds *m) {
    const int64_t n = m->s.p.n;
    int64_t *to = NULL;
    MC_TRY(MC_ALLOC(ctx, m->place, n));
    MC_TRY(MC_ALLOC(ctx, to, n));
    for (int64_t i = 0; i < n; i++)
        to[i] = i;
    mercer_status status = m->s.row->classes ? MC_ALLOC(ctx, m->same, n) : MERCER_OK;
    if (!status && m->same)
        status = mc_svm_merge(ctx, &m->s, to, m->same);
    for (int64_t i = 0; i < n && !status; i++)
        m->place[m->s.order[i]] = to[i];
    mc_free(to);
    return status;
}

static mercer_status open(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                          const mercer_data *data, mc_svm_folds *m) {
    m->data = data;
    MC_TRY(mc_svm_open(ctx, kind, set, kernel, data, &m->s));
    mc_store_close(m->s.store);
    m->s.store = NULL;
    MC_TRY(note_rows(ctx, m));
    note_shape(m);
    return store_all(ctx, m);
}

mercer_status mc_svm_folds_open(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                                const mercer_data *data, mc_svm_folds **out) {
    *out = NULL;
    if (!fits(ctx, kind, set, data))
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, *out, 1));
    const mercer_status status = open(ctx, kind, set, kernel, data, *out);
    if (status) {
        mc_svm_folds_close(ctx, *out);
        *out = NULL;
    }
    return status;
}

void mc_svm_folds_close(mercer_ctx *ctx, mc_svm_folds *m) {
    if (!m)
        return;
    mc_svm_close(ctx, &m->s);
    mc_free(m->K);
    mc_free(m->place);
    mc_free(m->same);
    mc_free(m);
}

int64_t mc_svm_folds_outputs(const mc_svm_folds *m) {
    return m->shape.outputs;
}

/* ---- A split ---- */

/* The weights of classes are those of the rows learned from. */
static mercer_status write_costs(mercer_ctx *ctx, mc_svm_folds *m, const int64_t *rows, int64_t learned) {
    mc_svm *s = &m->s;
    int32_t *class_of = NULL;
    double *weights = NULL;
    mercer_status status = MC_ALLOC(ctx, class_of, learned);
    if (!status)
        status = MC_ALLOC(ctx, weights, s->classes + 1);
    for (int64_t k = 0; k < learned && s->row->classes && !status; k++)
        class_of[k] = m->data->class_of[rows[k]];
    if (!status && s->row->classes)
        status = mc_class_weights(ctx, s->row->name, s->set->class_weight, s->p.x, class_of, learned, weights);
    if (!status)
        memset(s->cost, 0, (size_t)s->p.n * sizeof *s->cost);
    for (int64_t k = 0; k < learned && !status; k++)
        s->cost[m->place[rows[k]]] += (m->data->weight ? m->data->weight[rows[k]] : 1) * (s->row->classes ? weights[class_of[k]] : 1);
    mc_free(class_of);
    mc_free(weights);
    return status;
}

/* ---- K of a programme ---- */

typedef struct view {
    const mc_svm_folds *m;
    const mc_task *t;
    void *copy;       /* of a pair among more classes */
    double *diagonal; /* likewise */
} view;

static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const view *v = arg;
    const mc_svm *s = &v->m->s;
    const size_t entry = entry_bytes(v->m), first = (size_t)v->t->split, rest = (size_t)v->t->n - first,
                 n = (size_t)s->p.n;
    for (int64_t i = begin; i < end; i++) {
        const char *from = (const char *)v->m->K + (size_t)mc_task_row(s, v->t, i) * n * entry;
        char *to = (char *)v->copy + (size_t)(i * v->t->n) * entry;
        memcpy(to, from + (size_t)s->start[v->t->a] * entry, first * entry);
        memcpy(to + first * entry, from + (size_t)s->start[v->t->b] * entry, rest * entry);
    }
}

static void close_view(view *v) {
    mc_free(v->copy);
    mc_free(v->diagonal);
}

static mercer_status open_view(mercer_ctx *ctx, const mc_svm_folds *m, const mc_task *t, view *v) {
    *v = (view){.m = m, .t = t};
    if (t->n == m->s.p.n)
        return MERCER_OK;
    mercer_status status = MC_ALLOC(ctx, v->diagonal, t->n);
    if (!status && !(v->copy = mc_alloc_unset(ctx, t->n * t->n, entry_bytes(m))))
        status = MERCER_MEMORY;
    for (int64_t i = 0; i < t->n && !status; i++)
        v->diagonal[i] = m->s.diagonal[mc_task_row(&m->s, t, i)];
    return status ? status : mc_for(ctx, t->n, 64, copy_rows, v);
}

typedef struct picked {
    const view *v;
    const int64_t *ids;
    int64_t count;
    void *out;
} picked;

static const void *matrix_of(const view *v) {
    return v->copy ? v->copy : v->m->K;
}

static void pick_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const picked *p = arg;
    const int64_t n = p->v->t->n;
    for (int64_t a = begin; a < end; a++)
        if (p->v->m->s.dtype == MERCER_F64) {
            const double *row = (const double *)matrix_of(p->v) + p->ids[a] * n;
            for (int64_t b = 0; b < p->count; b++)
                ((double *)p->out)[a * p->count + b] = row[p->ids[b]];
        } else {
            const float *row = (const float *)matrix_of(p->v) + p->ids[a] * n;
            for (int64_t b = 0; b < p->count; b++)
                ((float *)p->out)[a * p->count + b] = row[p->ids[b]];
        }
}

static mercer_status block(mercer_ctx *ctx, const mc_matrix *matrix, const int64_t *ids, int64_t count, void *out) {
    picked p = {matrix->self, ids, count, out};
    return mc_for(ctx, count, 16, pick_rows, &p);
}

/* Entries are what they are, in whatever precision they are asked for. */
static mercer_status add(mercer_ctx *ctx, const mc_matrix *matrix, mercer_dtype precision, const int64_t *ids,
                         const double *c, int64_t count, double *f, mc_doubt *doubt) {
    (void)precision, (void)doubt;
    const mc_rows rows = mc_rows_stored(matrix->n, matrix->dtype, matrix_of(matrix->self), matrix->n, matrix->diagonal);
    const void **scratch = NULL;
    MC_TRY(MC_ALLOC(ctx, scratch, count));
    const mercer_status status = mc_rows_add(ctx, &rows, ids, c, count, scratch, f);
    mc_free(scratch);
    return status;
}

static mc_matrix matrix_view(const view *v) {
    return (mc_matrix){.n = v->t->n,
                       .dtype = v->m->s.dtype,
                       .diagonal = v->diagonal ? v->diagonal : v->m->s.diagonal,
                       .block = block,
                       .add = add,
                       .self = v,
                       .whole = matrix_of(v),
                       .settled = true};
}

/* ---- Along C ---- */

typedef struct walk {
    mc_svm_folds *m;
    const int64_t *held; /* rows of the data */
    int64_t few, count;
    const double *C;
    double *decision; /* count x few x tasks */
    double *alpha;    /* many pairs: of each row of s.p, (classes - 1) x count: its coefficients, C by C */
} walk;

/* Of each variable of a pair of classes the one of the other class on an equal row; *twin stays NULL where there is none. at: scratch. */
static void list_twins(const mc_svm_folds *m, const mc_task *t, int64_t *at, int64_t *twin) {
    for (int64_t i = 0; i < m->s.p.n; i++)
        at[i] = -1;
    for (int64_t i = 0; i < t->split; i++)
        at[m->same[mc_task_row(&m->s, t, i)]] = i;
    for (int64_t i = 0; i < t->n; i++)
        twin[i] = -1;
    for (int64_t i = t->split; i < t->n; i++) {
        const int64_t other = at[m->same[mc_task_row(&m->s, t, i)]];
        twin[i] = other;
        if (other >= 0)
            twin[other] = i;
    }
}

static mercer_status find_twins(mercer_ctx *ctx, const mc_svm_folds *m, const mc_task *t, int64_t **twin) {
    int64_t *at = NULL;
    bool any = false;
    *twin = NULL;
    if (!m->same || t->b < 0)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, at, m->s.p.n));
    const mercer_status status = MC_ALLOC(ctx, *twin, t->n);
    if (!status)
        list_twins(m, t, at, *twin);
    for (int64_t i = 0; i < t->n && !status; i++)
        any = any || (*twin)[i] >= 0;
    mc_free(at);
    if (!any) {
        mc_free(*twin);
        *twin = NULL;
    }
    return status;
}

static mercer_status solve(mercer_ctx *ctx, mc_svm *s, mc_task *t, const mc_matrix *matrix, const int64_t *twin, double rise) {
    mc_programme programme;
    MC_TRY(mc_programme_open(ctx, s, t, &programme));
    const mc_active_problem problem = {.dual = programme.dual,
                                       .matrix = *matrix,
                                       .tolerance = s->set->tolerance,
                                       .steps_max = s->set->iterations,
                                       .most = s->most,
                                       .rough = true};
    mercer_status status = rise > 1 ? mc_task_restart(ctx, s, t, &programme.dual, matrix, twin, rise) : MERCER_OK;
    if (!status)
        status = mc_active_solve(ctx, &problem, t->beta, t->f, &t->result);
    mc_programme_close(&programme);
    mc_task_finish(s, t, t->result.intercept);
    mc_log(ctx, "%s: C %g in %lld steps of %lld sets", s->row->name, s->C, (long long)t->result.steps,
           (long long)t->result.rounds);
    return status;
}

/* The values of the rows left out, or the coefficients they will be made from. */
static void take(const walk *w, const mc_task *t, int64_t k) {
    const mc_svm *s = &w->m->s;
    const int64_t task = t - s->task, width = (s->classes - 1) * w->count;
    for (int64_t h = 0; h < w->few; h++) {
        double *out = &w->decision[(k * w->few + h) * s->tasks + task];
        *out = t->intercept + (w->alpha ? 0 : t->unit * t->f[w->m->place[w->held[h]]]);
    }
    for (int64_t i = 0; w->alpha && i < t->n; i++) {
        const int64_t column = i < t->split ? t->b - 1 : t->a;
        w->alpha[mc_task_row(s, t, i) * width + k * (s->classes - 1) + column] = mc_task_coefficient(t, i);
    }
}

static mercer_status walk_task(mercer_ctx *ctx, const walk *w, mc_task *t) {
    mc_svm *s = &w->m->s;
    view v;
    int64_t *twin = NULL;
    mercer_status status = open_view(ctx, w->m, t, &v);
    if (!status)
        status = find_twins(ctx, w->m, t, &twin);
    const mc_matrix matrix = matrix_view(&v);
    memset(t->beta, 0, (size_t)t->m * sizeof *t->beta);
    memset(t->f, 0, (size_t)t->n * sizeof *t->f);
    for (int64_t k = 0; k < w->count && !status; k++) {
        s->C = w->C[k];
        status = solve(ctx, s, t, &matrix, twin, k ? w->C[k] / w->C[k - 1] : 1);
        take(w, t, k);
    }
    mc_free(twin);
    close_view(&v);
    return status;
}

/* ---- Values of many pairs ---- */

/* The rows of K of those left out, one below the other, in double. */
static mercer_status take_held(mercer_ctx *ctx, const walk *w, int64_t begin, int64_t end, double **out) {
    const int64_t n = w->m->s.p.n, width = end - begin;
    if (!(*out = mc_alloc_unset(ctx, w->few * width, sizeof **out)))
        return MERCER_MEMORY;
    for (int64_t h = 0; h < w->few; h++) {
        const int64_t from = w->m->place[w->held[h]] * n + begin;
        for (int64_t j = 0; j < width; j++)
            (*out)[h * width + j] = w->m->s.dtype == MERCER_F64 ? ((const double *)w->m->K)[from + j]
                                                                : (double)((const float *)w->m->K)[from + j];
    }
    return MERCER_OK;
}

/* To the decisions on all pairs with class c. part: few x count x (classes - 1). */
static void add_class(const walk *w, int64_t c, const double *part) {
    const int64_t classes = w->m->s.classes, columns = classes - 1, tasks = w->m->s.tasks;
    for (int64_t h = 0; h < w->few; h++)
        for (int64_t k = 0; k < w->count; k++)
            for (int64_t other = 0; other < classes; other++) {
                if (other == c)
                    continue;
                const int64_t pair = other < c ? mc_pair_of(classes, other, c) : mc_pair_of(classes, c, other);
                const int64_t column = other < c ? other : other - 1;
                w->decision[(k * w->few + h) * tasks + pair] += part[(h * w->count + k) * columns + column];
            }
}

static mercer_status decide_class(mercer_ctx *ctx, const walk *w, int64_t c, double *part) {
    const mc_svm *s = &w->m->s;
    const int64_t begin = s->start[c], end = s->start[c + 1], width = (s->classes - 1) * w->count;
    double *K = NULL;
    if (end == begin)
        return MERCER_OK;
    MC_TRY(take_held(ctx, w, begin, end, &K));
    const int wide = (int)width, rows = (int)w->few, inner = (int)(end - begin);
    const double one = 1, zero = 0;
    const mc_region region = mc_blas_begin();
    dgemm_("N", "N", &wide, &rows, &inner, &one, w->alpha + begin * width, &wide, K, &inner, &zero, part, &wide, 1, 1);
    mc_blas_end(region);
    mc_free(K);
    add_class(w, c, part);
    return MERCER_OK;
}

static mercer_status decide_pairs(mercer_ctx *ctx, const walk *w) {
    double *part = NULL;
    MC_TRY(MC_ALLOC(ctx, part, w->few * w->count * (w->m->s.classes - 1)));
    mercer_status status = MERCER_OK;
    for (int64_t c = 0; c < w->m->s.classes && !status; c++)
        status = decide_class(ctx, w, c, part);
    mc_free(part);
    return status;
}

/* ---- The whole ---- */

static mercer_status walk_tasks(mercer_ctx *ctx, const walk *w) {
    for (int64_t t = 0; t < w->m->s.tasks; t++)
        MC_TRY(walk_task(ctx, w, &w->m->s.task[t]));
    return w->alpha && w->few ? decide_pairs(ctx, w) : MERCER_OK;
}

static void conclude(const walk *w, double *out) {
    const mc_fitted *shape = &w->m->shape;
    const int64_t tasks = w->m->s.tasks;
    for (int64_t i = 0; i < w->count * w->few; i++)
        if (shape->form == MC_VALUES)
            memcpy(out + i * tasks, w->decision + i * tasks, (size_t)tasks * sizeof *out);
        else
            mc_fitted_conclude(shape, w->decision + i * tasks, out + i * shape->outputs);
}

mercer_status mc_svm_folds_walk(mercer_ctx *ctx, mc_svm_folds *m, const int64_t *rows, int64_t learned, int64_t all,
                                const double *C, int64_t count, double *out) {
    walk w = {.m = m, .held = rows + learned, .few = all - learned, .count = count, .C = C};
    mercer_status status = write_costs(ctx, m, rows, learned);
    if (!status)
        status = MC_ALLOC(ctx, w.decision, count * w.few * m->s.tasks);
    if (!status && many_pairs(m))
        status = MC_ALLOC(ctx, w.alpha, m->s.p.n * (m->s.classes - 1) * count);
    if (!status)
        status = walk_tasks(ctx, &w);
    if (!status)
        conclude(&w, out);
    mc_free(w.decision);
    mc_free(w.alpha);
    return status;
}
