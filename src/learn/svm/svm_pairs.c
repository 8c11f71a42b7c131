/* svm_pairs.c: pairs of several classes. Each is a small quadratic program; a thread makes the K of its rows in memory
   that stays in its caches from pair to pair, solves it and takes the product for the certificate (certify/svm_kept.c)
   while K is there, and turns to the next: the largest first, so that none is left alone at the end. All these K
   together have twice the entries of the one of all rows (svm_stored.c), which would have to be written to memory and
   read from there.

   Nothing that a pair is given depends on who solves it or when, so that the answer has the same bits on any number of
   threads. There are as many threads as have room for a K each. A pair that is too large for that, or that steps do not
   settle, is solved by all threads together (svm_matrix.c). */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/workspace.h"
#include "certify/svm_certificate.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "learn/svm/svm.h"
#include <math.h>
#include <string.h>

enum { MOST = 4000 }; /* rows of a pair that one thread solves */

/* What a thread has for a pair. */
typedef struct place {
    double *K, *diagonal;
    mc_gram_writer writer;
    mc_work scratch;
} place;

typedef struct queue {
    mc_svm *s;
    mc_isa isa;
    int64_t *task, count, most; /* pairs, the largest first; rows of that */
    mc_stored_progress *of;     /* each task */
    int threads;
    char *block;
    place *place; /* of each thread */
} queue;

/* ---- Memory ---- */

/* Of pairs of up to so many rows, without the writer. */
static size_t pair_bytes(int64_t n) {
    return mc_work_need(n * mc_kernel_runs_ld(n), sizeof(double)) + mc_work_need(n, sizeof(double))
           + mc_stored_program_bytes(n);
}

/* Threads that have room, with so many bytes for each: half of what is left may be taken. */
static int threads_with_room(const mercer_ctx *ctx, int64_t pairs, size_t each) {
    const size_t room = mc_memory_left(ctx) / 2 / each;
    const int threads = mc_for_threads(ctx, pairs);
    return room < (size_t)threads ? (int)room : threads;
}

/* Rows of the largest pair that one thread solves, and how many such pairs there are, of classes of so many rows. */
static int64_t largest_pair(const int64_t *rows, int64_t classes, int64_t *pairs) {
    int64_t most = 0;
    *pairs = 0;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++) {
            const int64_t n = rows[a] + rows[b];
            *pairs += n <= MOST;
            most = n <= MOST && n > most ? n : most;
        }
    return most;
}

size_t mc_svm_pairs_bytes(mercer_ctx *ctx, const mc_problem *p) {
    int64_t *rows = NULL, pairs;
    if (MC_ALLOC(ctx, rows, p->x->classes))
        return 0;
    for (int64_t i = 0; i < p->n; i++)
        rows[p->class_of[i]]++;
    const size_t each = pair_bytes(largest_pair(rows, p->x->classes, &pairs));
    mc_free(rows);
    return pairs ? (size_t)threads_with_room(ctx, pairs, each) * each : 0;
}

/* ---- Which pairs ---- */

static bool takes_pairs(const mc_svm *s) {
    return mc_svm_by_pairs(s->row, s->set, &s->p) && !s->path && !*s->set->checkpoint && isfinite(s->C)
           && s->set->precision[0] != 's';
}

static int by_rows(const void *arg, int64_t a, int64_t b) {
    const mc_svm *s = arg;
    return (s->task[a].n < s->task[b].n) - (s->task[a].n > s->task[b].n);
}

static mercer_status list_pairs(mercer_ctx *ctx, queue *q) {
    const mc_svm *s = q->s;
    int64_t *scratch = NULL;
    MC_TRY(MC_ALLOC(ctx, q->of, s->tasks));
    MC_TRY(MC_ALLOC(ctx, q->task, s->tasks));
    MC_TRY(MC_ALLOC(ctx, scratch, s->tasks));
    for (int64_t k = 0; k < s->tasks; k++)
        if (s->task[k].n <= MOST && !mc_svm_program_C_is_large(s, &s->task[k]))
            q->task[q->count++] = k;
    mc_sort(q->task, scratch, q->count, by_rows, s);
    q->most = q->count ? s->task[q->task[0]].n : 0;
    mc_free(scratch);
    return MERCER_OK;
}

/* ---- A thread ---- */

static void lay_out_place(mc_work *work, const mc_gram *gram, int64_t n, place *p) {
    p->K = mc_work_take(work, n * mc_kernel_runs_ld(n), sizeof *p->K);
    p->diagonal = mc_work_take(work, n, sizeof *p->diagonal);
    p->scratch = (mc_work){.block = mc_work_take(work, (int64_t)mc_stored_program_bytes(n), 1),
                           .size = mc_stored_program_bytes(n)};
    p->writer = mc_gram_writer_open(gram, work);
}

static size_t place_bytes(const queue *q) {
    return pair_bytes(q->most) + mc_gram_writer_bytes(q->s->kept.gram);
}

static mercer_status open_places(mercer_ctx *ctx, queue *q) {
    const size_t each = place_bytes(q);
    MC_TRY(MC_ALLOC(ctx, q->place, q->threads));
    if (!(q->block = mc_alloc_unset(ctx, q->threads, each)))
        return MERCER_MEMORY;
    for (int k = 0; k < q->threads; k++) {
        mc_work work = {.block = q->block + (size_t)k * each, .size = each};
        lay_out_place(&work, q->s->kept.gram, q->most, &q->place[k]);
    }
    return MERCER_OK;
}

/* K of the pair, its rows numbered as the program numbers them. */
static mc_kernel_runs make_kernel(const queue *q, const mc_svm_program *t, const place *p) {
    const mc_svm *s = q->s;
    const int64_t ld = mc_kernel_runs_ld(t->n), from[] = {s->start[t->a], s->start[t->b]};
    mc_kernel_runs K = {.runs = 2, .first = {0, t->split}, .count = {t->split, t->n - t->split}, .K = p->K, .ld = ld};
    K.diagonal = p->diagonal;
    K.isa = q->isa;
    mc_gram_write_square(&p->writer, 2, from, K.count, p->K, ld);
    for (int64_t i = 0; i < t->n; i++) {
        memset(p->K + i * ld + t->n, 0, (size_t)(ld - t->n) * sizeof *p->K);
        p->diagonal[i] = s->diagonal[mc_svm_program_row(s, t, i)];
    }
    return K;
}

static void solve_pair(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const queue *q = arg;
    const place *p = &q->place[thread];
    mc_svm_program *t = &q->s->task[q->task[chunk]];
    mc_stored_progress *of = &q->of[q->task[chunk]];
    const mc_kernel_runs K = make_kernel(q, t, p);
    mc_stored_program_begin(q->s, t, &K, p->scratch);
    while (!of->done && !of->left)
        mc_stored_program_step(q->s, t, &K, p->scratch, of);
    t->solved = of->done;
    if (of->done)
        mc_svm_program_decide(t, &K, p->scratch);
}

/* ---- All of them ---- */

static mercer_status finish_pairs(mercer_ctx *ctx, queue *q) {
    for (int64_t k = 0; k < q->count; k++) {
        mc_svm_program *t = &q->s->task[q->task[k]];
        if (!t->solved)
            MC_TRY(mc_stored_program_finish(ctx, q->s, t, &q->of[q->task[k]]));
        t->solved = true;
    }
    return MERCER_OK;
}

static mercer_status run_queue(mercer_ctx *ctx, queue *q) {
    MC_TRY(open_places(ctx, q));
    mc_set_phase_span(ctx, 0, (double)q->count / (double)q->s->tasks);
    MC_TRY(mc_for_few(ctx, q->threads, q->count, 1, solve_pair, q));
    MC_TRY(mc_gram_writers_report(ctx, q->s->kept.gram));
    mc_free(q->block);
    q->block = NULL;
    return finish_pairs(ctx, q);
}

static mercer_status queue_pairs(mercer_ctx *ctx, queue *q) {
    MC_TRY(list_pairs(ctx, q));
    if (!q->count)
        return MERCER_OK;
    MC_TRY(mc_gram_open(ctx, q->s->p.kernel, q->s->p.x, NULL, MERCER_F64, &q->s->kept.gram));
    q->threads = threads_with_room(ctx, q->count, place_bytes(q));
    if (q->threads)
        return run_queue(ctx, q);
    mc_svm_kept_close(q->s);
    return MERCER_OK;
}

mercer_status mc_svm_solve_pairs(mercer_ctx *ctx, mc_svm *s) {
    queue q = {.s = s, .isa = ctx->isa};
    const mercer_status status = takes_pairs(s) ? queue_pairs(ctx, &q) : MERCER_OK;
    mc_free(q.of);
    mc_free(q.task);
    mc_free(q.block);
    mc_free(q.place);
    return status;
}
