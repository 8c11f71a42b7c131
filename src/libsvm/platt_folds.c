/* platt_folds.c: the decisions of rows left out, pair by pair (probability.h). Each pair of classes and each of its
   five folds is a fit of its own, side by side on the processors. */
#include "libsvm/probability.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "base/status.h"
#include <stdlib.h>
#include <string.h>

/* rand() and no generator of Mercer's: the folds are those that LIBSVM draws, and a program that calls srand() decides
   here what it decides there. */
void mc_shuffle_by_rand(int n, int *out) {
    for (int i = 0; i < n; i++)
        out[i] = i;
    for (int i = 0; i < n; i++) {
        const int j = i + rand() % (n - i), other = out[i];
        out[i] = out[j];
        out[j] = other;
    }
}

mercer_status mc_svm_run_parts(mercer_ctx *ctx, const mc_svm_task *task, int64_t rows, int64_t count, void *arg,
                               mercer_status (*job)(mercer_ctx *ctx, void *arg, int64_t k)) {
    enum { MOST_ROWS = 4000 }; /* beyond, a fit keeps all processors busy by itself */
    const size_t square = (size_t)rows * (size_t)rows * sizeof(double);
    const size_t bytes = ((size_t)64 << 20) + 5 * square + 64 * (size_t)task->shape.stored;
    if (rows <= MOST_ROWS && mc_jobs_at_once(ctx, count, bytes) > 1)
        return mc_run_jobs(ctx, count, bytes, job, arg);
    for (int64_t k = 0; k < count; k++)
        MC_TRY(job(ctx, arg, k));
    return MERCER_OK;
}

typedef struct pair_folds {
    int first, second; /* classes */
    int n;
    int *row;         /* of the problem, in random order */
    double *decision; /* of each of them, while it was left out */
} pair_folds;

typedef struct platt_work {
    const mc_svm_task *task;
    pair_folds *pair;
} platt_work;

static int fold_begin(const pair_folds *f, int fold) {
    return (int)((int64_t)fold * f->n / MC_PLATT_FOLDS);
}

/* Rows outside [begin, end): their number, how many are of the first class, rows and places. */
static int rows_outside(const mc_svm_task *task, const pair_folds *f, int begin, int end, int *row, int *place,
                        double *weight, int *firsts) {
    int count = 0;
    *firsts = 0;
    for (int k = 0; k < f->n; k++) {
        if (k >= begin && k < end)
            continue;
        row[count] = f->row[k];
        place[count] = task->place[f->row[k]] == f->first ? 0 : 1;
        *firsts += place[count] == 0;
        if (task->weight)
            weight[count] = task->weight[f->row[k]];
        count++;
    }
    return count;
}

static mercer_status decide_fold(mercer_ctx *ctx, const mc_svm_task *whole, const pair_folds *f, int begin, int end,
                                 const mc_svm_task *learned) {
    struct svm_problem asked;
    mercer_model *model = NULL;
    MC_TRY(mc_node_part(ctx, whole->problem, f->row + begin, end - begin, &asked));
    mercer_status status = mc_svm_task_fit(ctx, learned, &model);
    MC_THEN(status, mc_svm_task_decide(ctx, learned, model, &asked, f->decision + begin));
    mercer_model_free(model);
    mc_node_part_free(&asked);
    return status;
}

/* Where a class is missing among the rows learned from, the other one is the decision. */
static mercer_status solve_fold(mercer_ctx *ctx, const mc_svm_task *task, const pair_folds *f, int begin, int end,
                                int *row, int *place, double *weight) {
    int firsts;
    const int count = rows_outside(task, f, begin, end, row, place, weight, &firsts);
    if (firsts == 0 || firsts == count) {
        for (int k = begin; k < end; k++)
            f->decision[k] = count == 0 ? 0 : firsts > 0 ? 1 : -1;
        return MERCER_OK;
    }
    struct svm_problem part;
    MC_TRY(mc_node_part(ctx, task->problem, row, count, &part));
    mc_svm_task learned = *task;
    learned.problem = &part;
    learned.place = place;
    learned.weight = task->weight ? weight : NULL;
    const mercer_status status = decide_fold(ctx, task, f, begin, end, &learned);
    mc_node_part_free(&part);
    return status;
}

static mercer_status fold_job(mercer_ctx *ctx, void *arg, int64_t k) {
    const platt_work *w = arg;
    const pair_folds *f = &w->pair[k / MC_PLATT_FOLDS];
    const int fold = (int)(k % MC_PLATT_FOLDS), begin = fold_begin(f, fold), end = fold_begin(f, fold + 1);
    int *row = NULL, *place = NULL;
    double *weight = NULL;
    if (begin == end)
        return MERCER_OK;
    mercer_status status = MC_ALLOC(ctx, row, f->n);
    MC_THEN(status, MC_ALLOC(ctx, place, f->n));
    MC_THEN(status, MC_ALLOC(ctx, weight, f->n));
    MC_THEN(status, solve_fold(ctx, w->task, f, begin, end, row, place, weight));
    mc_free(row);
    mc_free(place);
    mc_free(weight);
    return status;
}

/* The rows of a pair, those of the first class before the others, in the order that is drawn. */
static mercer_status draw_folds(mercer_ctx *ctx, const mc_class_groups *g, int a, int b, pair_folds *out) {
    *out = (pair_folds){.first = a, .second = b, .n = g->count[a] + g->count[b]};
    MC_TRY(MC_ALLOC(ctx, out->row, out->n));
    MC_TRY(MC_ALLOC(ctx, out->decision, out->n));
    mc_shuffle_by_rand(out->n, out->row);
    for (int k = 0; k < out->n; k++) {
        const int at = out->row[k];
        out->row[k] = at < g->count[a] ? g->row[g->start[a] + at] : g->row[g->start[b] + at - g->count[a]];
    }
    return MERCER_OK;
}

static mercer_status fit_line(mercer_ctx *ctx, const mc_svm_task *task, const pair_folds *f, double *A, double *B) {
    bool *first = NULL;
    MC_TRY(MC_ALLOC(ctx, first, f->n));
    for (int k = 0; k < f->n; k++)
        first[k] = task->place[f->row[k]] == f->first;
    const mc_logistic_line line = mc_platt_fit(f->n, f->decision, first);
    *A = line.A;
    *B = line.B;
    mc_free(first);
    return MERCER_OK;
}

static mercer_status solve_pairs(mercer_ctx *ctx, const platt_work *w, const mc_class_groups *g, double *A, double *B) {
    int64_t pairs = 0, most = 0;
    for (int a = 0; a < g->classes; a++)
        for (int b = a + 1; b < g->classes; b++, pairs++) {
            MC_TRY(draw_folds(ctx, g, a, b, &w->pair[pairs]));
            most = w->pair[pairs].n > most ? w->pair[pairs].n : most;
        }
    MC_TRY(mc_svm_run_parts(ctx, w->task, most, pairs * MC_PLATT_FOLDS, (void *)w, fold_job));
    for (int64_t k = 0; k < pairs; k++)
        MC_TRY(fit_line(ctx, w->task, &w->pair[k], &A[k], &B[k]));
    return MERCER_OK;
}

mercer_status mc_platt_pairs(mercer_ctx *ctx, const mc_svm_task *task, const mc_class_groups *groups, double *A,
                             double *B) {
    const int64_t pairs = (int64_t)groups->classes * (groups->classes - 1) / 2;
    platt_work w = {.task = task};
    MC_TRY(MC_ALLOC(ctx, w.pair, pairs));
    const mercer_status status = solve_pairs(ctx, &w, groups, A, B);
    for (int64_t k = 0; k < pairs; k++) {
        mc_free(w.pair[k].row);
        mc_free(w.pair[k].decision);
    }
    mc_free(w.pair);
    return status;
}
