/* svm_pairs.c: pairs of several classes. Each is a small quadratic program; a thread makes the K of its rows in memory
   that stays in its caches from pair to pair (pair_matrix.h), solves it and takes the product for the certificate
   (certify/svm_kept.c) while K is there, and turns to the next: the largest first, so that none is left alone at the
   end.

   Rows of K are made when a step first needs them: classes that are well apart want few. Once a pair wants a share of
   them all are made; or, where they would not stay in the caches, it is for active sets (svm_matrix.c), as is one that
   steps do not settle; these go side by side too (base/jobs.h).

   Nothing that a pair is given depends on who solves it or when, so that the answer has the same bits on any number of
   threads. There are as many threads as have room for a K each.

   Ranks deal the pairs out (base/deal.h); of a pair that another has solved a rank hears the program as it stands
   then. */
#include "base/ctx.h"
#include "base/deal.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/workspace.h"
#include "certify/svm_certificate.h"
#include "data/table/data.h"
#include "learn/svm/pair_matrix.h"
#include <math.h>
#include <string.h>

typedef struct queue {
    mc_svm *s;
    mc_isa isa;
    int64_t *task, count;   /* pairs, the largest first */
    size_t bytes;           /* that each takes at most */
    mc_stored_progress *of; /* each task */
    mc_class_matrices classes;
    int threads;
    char *block; /* bytes of each thread */
    mc_deal deal;
} queue;

/* ---- Memory ---- */

/* Of a pair of classes of so many rows, without the writer. */
static size_t pair_bytes(bool shared, int64_t rows_a, int64_t rows_b) {
    const int64_t n = rows_a + rows_b;
    return mc_pair_matrix_bytes(shared, rows_a, rows_b) + mc_stored_program_bytes(n, n);
}

/* Threads that have room, with so many bytes for each: half of what is left may be taken. */
static int threads_with_room(const mercer_ctx *ctx, int64_t pairs, size_t each) {
    const size_t room = mc_memory_left(ctx) / 2 / each;
    const int threads = mc_for_threads(ctx, pairs);
    return room < (size_t)threads ? (int)room : threads;
}

/* The most that a pair of classes of so many rows takes, and how many pairs there are. */
static size_t largest_pair_bytes(bool shared, const int64_t *rows, int64_t classes, int64_t *pairs) {
    size_t most = 0;
    *pairs = classes * (classes - 1) / 2;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++) {
            const size_t bytes = pair_bytes(shared, rows[a], rows[b]);
            most = bytes > most ? bytes : most;
        }
    return most;
}

size_t mc_svm_pairs_bytes(mercer_ctx *ctx, const mc_problem *p) {
    int64_t *rows = NULL, pairs;
    if (MC_ALLOC(ctx, rows, p->x->classes))
        return 0;
    for (int64_t i = 0; i < p->n; i++)
        rows[p->class_of[i]]++;
    const size_t classes = mc_class_matrices_bytes(ctx, p->x, rows, p->x->classes),
                 each = largest_pair_bytes(classes > 0, rows, p->x->classes, &pairs);
    mc_free(rows);
    return pairs ? classes + (size_t)threads_with_room(ctx, pairs, each) * each : 0;
}

/* ---- Which pairs ---- */

static bool takes_pairs(const mc_svm *s) {
    return mc_svm_by_pairs(s->variant, s->set, &s->p) && !s->path && !*s->set->checkpoint && isfinite(s->C)
           && s->set->precision[0] != 's';
}

int mc_svm_by_rows(const void *arg, int64_t a, int64_t b) {
    const mc_svm *s = arg;
    return (s->task[a].n < s->task[b].n) - (s->task[a].n > s->task[b].n);
}

static bool starts_at_zero(const mc_svm_program *t) {
    for (int64_t v = 0; v < t->m; v++)
        if (t->beta[v] != 0)
            return false;
    return true;
}

/* There must be room for it. */
static bool may_queue(const mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t, size_t bytes) {
    return !mc_svm_program_C_is_large(s, t) && mc_pair_matrix_worth(t->n, starts_at_zero(t))
           && bytes <= mc_memory_left(ctx) / 2;
}

static mercer_status list_pairs(mercer_ctx *ctx, queue *q) {
    const mc_svm *s = q->s;
    int64_t *scratch = NULL;
    MC_TRY(MC_ALLOC(ctx, q->of, s->tasks));
    MC_TRY(MC_ALLOC(ctx, q->task, s->tasks));
    MC_TRY(MC_ALLOC(ctx, scratch, s->tasks));
    for (int64_t k = 0; k < s->tasks; k++) {
        const mc_svm_program *t = &s->task[k];
        const size_t bytes =
            pair_bytes(q->classes.shared, t->split, t->n - t->split) + mc_gram_writer_bytes(s->kept.gram);
        if (!may_queue(ctx, s, t, bytes))
            continue;
        q->task[q->count++] = k;
        q->bytes = bytes > q->bytes ? bytes : q->bytes;
    }
    mc_sort(q->task, scratch, q->count, mc_svm_by_rows, s);
    mc_free(scratch);
    return MERCER_OK;
}

/* ---- A thread ---- */

/* Active sets begin anew: from where so few rows were looked at they would not be there sooner. */
static void leave_pair(mc_svm_program *t) {
    memset(t->beta, 0, (size_t)t->m * sizeof *t->beta);
    memset(t->f, 0, (size_t)t->n * sizeof *t->f);
    t->result = (mc_smo_result){0};
}

static void solve_pair(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const queue *q = arg;
    const int64_t task = q->task[mc_deal_piece(&q->deal, chunk)];
    mc_svm_program *t = &q->s->task[task];
    mc_stored_progress *of = &q->of[task];
    mc_work work = {.block = q->block + (size_t)thread * q->bytes, .size = q->bytes};
    mc_pair_matrix matrix;
    const mc_kernel_runs K = mc_pair_matrix_open(&q->classes, t, q->isa, &work, &matrix);
    mc_stored_program_begin(q->s, t, &K, work);
    while (!of->done && !of->left)
        mc_stored_program_step(q->s, t, &K, work, of);
    t->solved = of->done;
    if (of->done)
        mc_svm_program_decide(t, &K, work);
    else if (matrix.demand.over)
        leave_pair(t);
}

/* ---- What ranks tell each other of a pair ---- */

/* As it stands, with how far it has come: a place in memory is each rank's own. */
typedef struct pair_news {
    mc_svm_program program;
    mc_stored_progress progress;
} pair_news;

enum { NEWS = (sizeof(pair_news) + sizeof(double) - 1) / sizeof(double) }; /* numbers it takes */

static int64_t numbers_of_pair(const void *arg, int64_t piece) {
    const queue *q = arg;
    const mc_svm_program *t = &q->s->task[q->task[piece]];
    return NEWS + t->m + t->n;
}

static void give_pair(const void *arg, int64_t piece, double *out) {
    const queue *q = arg;
    const mc_svm_program *t = &q->s->task[q->task[piece]];
    pair_news news;
    memset(&news, 0, sizeof news);
    news.program = *t;
    news.progress = q->of[q->task[piece]];
    memcpy(out, &news, sizeof news);
    memcpy(out + NEWS, t->beta, (size_t)t->m * sizeof *out);
    memcpy(out + NEWS + t->m, t->f, (size_t)t->n * sizeof *out);
}

static void take_pair(void *arg, int64_t piece, const double *in) {
    const queue *q = arg;
    mc_svm_program *t = &q->s->task[q->task[piece]];
    const mc_svm_program own = *t;
    pair_news news;
    memcpy(&news, in, sizeof news);
    *t = news.program;
    t->beta = own.beta;
    t->f = own.f;
    t->error = own.error;
    t->certified = own.certified;
    t->whole_K = own.whole_K;
    t->previous_decision = own.previous_decision;
    q->of[q->task[piece]] = news.progress;
    memcpy(t->beta, in + NEWS, (size_t)t->m * sizeof *in);
    memcpy(t->f, in + NEWS + t->m, (size_t)t->n * sizeof *in);
}

static mercer_status tell_pairs(mercer_ctx *ctx, queue *q, mercer_status status) {
    const mc_deal_news news = {numbers_of_pair, give_pair, take_pair, q};
    return mc_deal_tell(ctx, &q->deal, (uint64_t)q->count, status, &news);
}

/* ---- Those that are left, each by itself where there are enough of them ---- */

/* Rows of K that are worth keeping between the sets of a large one. */
static int64_t stored_rows(const mc_svm *s, int64_t n) {
    return s->solver->store && s->solver->most < n ? n / 2 : 0;
}

/* All that one of so many rows can make use of: so it does no otherwise than with all memory to itself. */
static size_t left_bytes(mercer_ctx *ctx, const mc_svm *s, int64_t n) {
    const mc_svm_solver *solver = s->solver;
    const int64_t most = solver->whole > solver->most ? solver->whole : solver->most;
    const double share = (double)n / (double)s->p.n;
    const size_t packed = mc_gram_bytes(ctx, s->p.kernel, s->p.x, NULL, MERCER_F64, 1),
                 rows = (size_t)mercer_data_stored(s->p.x) * 12 + (size_t)s->p.n * 40;
    return (size_t)(3 * share * (double)(packed + rows)) + mc_active_bytes(n, n, most, solver->dtype)
           + 2 * mc_active_spare_bytes(n, n, most, solver->dtype) + 64 * (size_t)n * sizeof(double)
           + 2 * (size_t)stored_rows(s, n) * (size_t)(n + 16) * sizeof(float) + ((size_t)32 << 20);
}

/* What changes on the way is its own. */
static mercer_status finish_pair(mercer_ctx *ctx, queue *q, int64_t task) {
    mc_svm own = *q->s;
    mc_svm_solver solver = *own.solver;
    mc_svm_program *t = &own.task[task];
    own.solver = &solver;
    solver.store = NULL;
    solver.stored = NULL;
    solver.open = NULL;
    solver.buffer = (mc_active_buffer){0};
    const int64_t rows = stored_rows(q->s, t->n);
    mercer_status status = rows ? mc_row_store_open(ctx, t->n, rows, &solver.store) : MERCER_OK;
    MC_THEN(status, mc_stored_program_finish(ctx, &own, t, &q->of[task]));
    mc_svm_rows_close(&own);
    mc_row_store_close(solver.store);
    t->solved = !status;
    return status;
}

static mercer_status finish_pair_beside_others(mercer_ctx *ctx, void *arg, int64_t k) {
    queue *q = arg;
    const int64_t task = q->task[mc_deal_piece(&q->deal, k)];
    const mercer_status status = finish_pair(ctx, q, task);
    if (status != MERCER_MEMORY || q->s->kind != MC_SVC)
        return status;
    mc_clear_failure(ctx); /* it is solved later, from the start, with the memory of all */
    leave_pair(&q->s->task[task]);
    return MERCER_OK;
}

/* Those from the first on. */
static mercer_status finish_side_by_side(mercer_ctx *ctx, queue *q, int64_t first, int64_t count) {
    if (first == count)
        return MERCER_OK;
    const int64_t all = q->count;
    q->task += first;
    q->count = count - first;
    q->deal = mc_deal_out(ctx, q->count);
    const int64_t own = mc_deal_own(&q->deal, q->deal.rank);
    mercer_status status =
        own ? mc_run_jobs(ctx, own, left_bytes(ctx, q->s, q->s->task[q->task[0]].n), finish_pair_beside_others, q)
            : MERCER_OK;
    status = tell_pairs(ctx, q, status);
    q->task -= first;
    q->count = all;
    return status;
}

/* The largest first, which have all threads, or all ranks, while they are more than the share of one of what is left to
   do. */
static mercer_status finish_pairs(mercer_ctx *ctx, queue *q) {
    const double workers = mc_ranks_share(ctx) ? mercer_ranks(ctx) : mercer_threads(ctx);
    double work = 0;
    int64_t count = 0, first = 0;
    for (int64_t k = 0; k < q->count; k++)
        if (!q->s->task[q->task[k]].solved) {
            work += pow((double)q->s->task[q->task[k]].n, 2);
            q->task[count++] = q->task[k];
        }
    for (; first < count; first++) {
        const mc_svm_program *t = &q->s->task[q->task[first]];
        const double own = pow((double)t->n, 2);
        if (own * workers <= work && mc_jobs_at_once(ctx, count - first, left_bytes(ctx, q->s, t->n)))
            break;
        MC_TRY(finish_pair(ctx, q, q->task[first]));
        work -= own;
    }
    return finish_side_by_side(ctx, q, first, count);
}

static mercer_status run_queue(mercer_ctx *ctx, queue *q) {
    if (!(q->block = mc_alloc_unset(ctx, q->threads, q->bytes)))
        return MERCER_MEMORY;
    mc_set_phase_span(ctx, 0, (double)q->count / (double)q->s->tasks);
    q->deal = mc_deal_out(ctx, q->count);
    mercer_status status = mc_for_few(ctx, q->threads, mc_deal_own(&q->deal, q->deal.rank), 1, solve_pair, q);
    MC_THEN(status, mc_gram_writers_report(ctx, q->s->kept.gram));
    MC_TRY(tell_pairs(ctx, q, status));
    mc_free(q->block);
    q->block = NULL;
    mc_class_matrices_close(&q->classes);
    q->classes = (mc_class_matrices){0};
    return finish_pairs(ctx, q);
}

static mercer_status queue_pairs(mercer_ctx *ctx, queue *q) {
    MC_TRY(mc_gram_open(ctx, q->s->p.kernel, q->s->p.x, NULL, MERCER_F64, &q->s->kept.gram));
    MC_TRY(mc_class_matrices_open(ctx, q->s, &q->classes));
    MC_TRY(list_pairs(ctx, q));
    q->threads = q->count ? threads_with_room(ctx, q->count, q->bytes) : 0;
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
    mc_class_matrices_close(&q.classes);
    return status;
}
