/* batch_smo.c: see batch_smo.h.

       repeat   choose a working set W for all quadratic programs              the worst pair of each, then what
       violates most in any of them
                gather K_WW in single precision, once                  not where W is all variables
                minimise over W, each quadratic program by itself, over        batch_smo_member.c, in parallel
                those of W that are in question for it
                f <- f + K_W' (change of beta on W) for all of them    a row of K is read once; sums in double
                a step of Newton's for who has taken all the steps     newton_free.c
                allowed and is not there
       until the violation of each is at most the tolerance

   Every sum is in the order of the set, so the answer has the same bits on any number of threads. */
#include "qp/batch_smo.h"
#include "backend/dispatch_qp.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "qp/batch_smo_member.h"
#include <math.h>
#include <string.h>

enum { SET = 512, SET_SURE = 1024, SET_MOST = 16384, EPOCHS = 2, COLUMNS = 1024, ROUNDS = 64, STRIP = 2048 };
_Static_assert(MC_BATCH_SMO_PADDING >= (int)MC_STRIDE, "rows of K are read so far beyond");
_Static_assert(MC_BATCH_SMO_MOST <= (int)MC_BATCH, "a pass over K serves all");

typedef struct batch_run {
    const mc_batch_smo *p;
    const mc_batch_smo_body *body, *quick; /* by the precision of K; of the sets */
    mc_batch_member *member;
    int64_t open; /* how many are still at work, and which */
    int64_t who[MC_BATCH];
    mc_selection selection; /* the set, and marks */
    mc_set_matrix set;
    double *score[2]; /* n: how far a variable violates upwards, downwards; 0: not at all */
    int64_t *column;  /* of the places of the set; pads repeat the first */
    float *K;
    float *part;       /* of each quadratic program: K of those that are in question for it */
    int64_t part_most; /* how many there is room for */
    const void **row;
    double *change; /* n x MC_BATCH */
    double *f[MC_BATCH];
    int64_t kept; /* rows that change */
    int64_t seen; /* places filled since the set last grew */
    int64_t most; /* places that there is memory for */
    double first; /* the largest violation of all seen */
} batch_run;

/* ---- Room ---- */

static void lay_out_batch_workspace(mc_work *work, int64_t n, int64_t count, batch_run *r) {
    const int64_t places = mc_padded_size(n);
    mc_selection_open(work, n, n, &r->selection);
    for (int side = 0; side < 2; side++)
        r->score[side] = mc_work_take(work, n, sizeof(double));
    r->column = mc_work_take(work, places, sizeof(int64_t));
    r->row = mc_work_take(work, places, sizeof(void *));
    r->change = mc_work_take(work, places * MC_BATCH, sizeof(double));
    r->member = mc_work_take(work, count, sizeof(mc_batch_member));
    for (int64_t k = 0; k < count; k++)
        mc_member_lay_out(work, places, r->member ? &r->member[k] : &(mc_batch_member){0});
}

static size_t own_bytes(int64_t n, int64_t count) {
    mc_work counted = {0};
    lay_out_batch_workspace(&counted, n, count, &(batch_run){0});
    return counted.used;
}

static size_t square_bytes(int64_t q) {
    return mc_work_need(mc_padded_size(q) * mc_padded_size(q), sizeof(float));
}

size_t mc_batch_smo_bytes(int64_t n, int64_t count) {
    return own_bytes(n, count) + (size_t)(1 + count) * square_bytes(n < SET_SURE ? n : SET_SURE);
}

size_t mc_batch_smo_spare_bytes(int64_t n, int64_t count) {
    return (size_t)(1 + count)
           * (square_bytes(n < SET_MOST ? n : SET_MOST) - square_bytes(n < SET_SURE ? n : SET_SURE));
}

/* By what there is whatever the number of threads, so that it decides nothing. */
static int64_t largest_set_size(const mercer_ctx *ctx, const mc_batch_smo *p) {
    const size_t left = (mc_memory_left(ctx) + p->buffers[0].size + p->buffers[1].size) / 2;
    int64_t q = p->K.n < SET_MOST ? p->K.n : SET_MOST;
    while (q > SET_SURE && (size_t)(1 + p->count) * square_bytes(q) > left)
        q = q / 2 > SET_SURE ? q / 2 : SET_SURE;
    return q;
}

/* ---- Where they stand ---- */

static void look_at(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    batch_run *r = arg;
    for (int64_t k = begin; k < end; k++) {
        mc_batch_member *m = &r->member[k];
        m->e = mc_extremes_of(&r->p->dual[k], r->p->beta[k], r->p->f[k]);
        m->open = m->e.violation > r->p->tolerance && !m->stuck && r->p->steps[k] < r->p->steps_max;
    }
}

/* By those that are done, and by how far the worst of the others is on its way to the violation allowed, on a
   logarithmic scale. */
static mercer_status report_progress(mercer_ctx *ctx, batch_run *r) {
    double worst = r->p->tolerance;
    for (int64_t a = 0; a < r->open; a++)
        worst = fmax(worst, r->member[r->who[a]].e.violation);
    r->first = fmax(r->first, worst);
    const double way = r->first > r->p->tolerance ? log(r->first / worst) / log(r->first / r->p->tolerance) : 1;
    const double share = 1 - (1 - way) * (double)r->open / (double)r->p->count;
    mc_progress_held(ctx, r->p->begin + (r->p->end - r->p->begin) * share);
    return mc_progress_step(ctx, -1, (mc_watch){"violation", worst, r->p->tolerance});
}

static mercer_status check_members(mercer_ctx *ctx, batch_run *r) {
    MC_TRY(mc_for(ctx, r->p->count, 1, look_at, r));
    r->open = 0;
    for (int64_t k = 0; k < r->p->count; k++)
        if (r->member[k].open) {
            r->f[r->open] = r->p->f[k];
            r->who[r->open++] = k;
        }
    return report_progress(ctx, r);
}

/* ---- The set ---- */

/* In units of the worst violation of each quadratic program, the largest over them. */
static void score_variables(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    batch_run *r = arg;
    double *up = r->score[0], *down = r->score[1];
    for (int64_t t = begin; t < end; t++)
        up[t] = down[t] = 0;
    for (int64_t a = 0; a < r->open; a++) {
        const int64_t k = r->who[a];
        const mc_dual *dual = &r->p->dual[k];
        const double *beta = r->p->beta[k], *f = r->p->f[k], top = r->member[k].e.top[0],
                     bottom = r->member[k].e.bottom[0];
        const double unit = 1 / (top - bottom);
        for (int64_t t = begin; t < end; t++) {
            const double v = -(f[t] + dual->q[t]), grow = beta[t] < dual->high[t] ? (v - bottom) * unit : 0;
            const double shrink = beta[t] > dual->low[t] ? (top - v) * unit : 0;
            up[t] = grow > up[t] ? grow : up[t];
            down[t] = shrink > down[t] ? shrink : down[t];
        }
    }
}

/* Off its bounds in one of them. */
static bool is_free(const batch_run *r, int64_t t) {
    for (int64_t a = 0; a < r->open; a++) {
        const int64_t k = r->who[a];
        if (r->p->beta[k][t] > r->p->dual[k].low[t] && r->p->beta[k][t] < r->p->dual[k].high[t])
            return true;
    }
    return false;
}

static void keep_free(batch_run *r, int64_t last, int64_t places) {
    for (int64_t k = 0; k < last && r->selection.count < places; k++)
        if (is_free(r, r->selection.candidate[k].id))
            mc_selection_take(&r->selection, r->selection.candidate[k].id);
}

static mercer_status choose_working_set(mercer_ctx *ctx, batch_run *r) {
    mc_selection *s = &r->selection;
    MC_TRY(mc_for(ctx, r->p->K.n, STRIP, score_variables, r));
    const int64_t last = mc_selection_renew(s);
    for (int64_t a = 0; a < r->open; a++) {
        mc_selection_take(s, r->member[r->who[a]].e.top_at[0]);
        mc_selection_take(s, r->member[r->who[a]].e.bottom_at[0]);
    }
    keep_free(r, last, s->q / 2);
    mc_selection_worst(s, r->score[0], r->p->K.n, (s->q - s->count) / 2);
    mc_selection_worst(s, r->score[1], r->p->K.n, s->q - s->count);
    return MERCER_OK;
}

/* All variables, where K can be used as it lies: then a larger set costs no memory. */
static bool takes_all_variables(const batch_run *r) {
    return r->p->K.dtype == MERCER_F32 && r->selection.q == r->p->K.n;
}

static int64_t doubled_set_size(const batch_run *r, int64_t q) {
    if (r->p->K.dtype == MERCER_F32 && (4 * q >= r->p->K.n || 2 * q > r->most))
        return r->p->K.n;
    return 2 * q < r->most ? 2 * q : r->most;
}

/* Once all that is in question has been in the set EPOCHS times the set is too small for how they hang together. */
static void grow_working_set(batch_run *r) {
    mc_selection *s = &r->selection;
    int64_t in_question = 0;
    for (int64_t t = 0; t < r->p->K.n; t++)
        in_question += r->score[0][t] > 0 || r->score[1][t] > 0;
    r->seen += s->count;
    if (r->seen < EPOCHS * in_question || s->count >= in_question)
        return;
    r->seen = 0;
    s->q = doubled_set_size(r, s->q);
}

/* From the start there is room for all that are free: they hang together. */
static void open_wide(batch_run *r) {
    mc_selection *s = &r->selection;
    int64_t free = 0;
    for (int64_t t = 0; t < r->p->K.n; t++)
        free += is_free(r, t);
    s->q = SET < r->most ? SET : r->most;
    while (s->q < free && s->q < r->most)
        s->q = doubled_set_size(r, s->q);
}

/* ---- One round ---- */

static void gather_set_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const batch_run *r = arg;
    for (int64_t a = begin; a < end; a++)
        r->body->gather(r->row[a], r->column, r->set.ld, r->K + a * r->set.ld);
}

static const void *row_of(const mc_batch_smo *p, int64_t t) {
    return mc_submatrix(p->K.whole, t, 0, 1, p->K.n).a;
}

/* The places of the set, rising: rows of K are then read from front to back. */
static void list_set_columns(batch_run *r) {
    int64_t at = 0;
    for (int64_t t = 0; t < r->p->K.n; t++)
        if (takes_all_variables(r) || r->selection.chosen[t])
            r->column[at++] = t;
    r->set = (mc_set_matrix){.count = at, .column = r->column};
    for (; at < mc_padded_size(r->set.count); at++)
        r->column[at] = r->column[0];
    for (int64_t a = 0; a < at; a++)
        r->row[a] = row_of(r->p, r->column[a]);
}

static mercer_status load_working_set(mercer_ctx *ctx, batch_run *r) {
    list_set_columns(r);
    r->set.K = r->p->K.whole.a;
    r->set.ld = r->p->K.n;
    if (takes_all_variables(r))
        return MERCER_OK;
    r->set.ld = mc_padded_size(r->set.count);
    r->set.K = r->K = mc_buffer_reserve(ctx, &r->p->buffers[0], square_bytes(r->selection.q));
    return r->K ? mc_for(ctx, r->set.ld, 32, gather_set_rows, r) : MERCER_MEMORY;
}

static void pick_member_variables(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    batch_run *r = arg;
    for (int64_t a = begin; a < end; a++)
        mc_member_pick(r->p, r->who[a], &r->set, &r->member[r->who[a]]);
}

/* Room for K of the most that are in question for one of them, for each. Who has more than there is memory for does
   without. */
static mercer_status reserve_parts(mercer_ctx *ctx, batch_run *r) {
    int64_t most = 0;
    MC_TRY(mc_for(ctx, r->open, 1, pick_member_variables, r));
    for (int64_t a = 0; a < r->open; a++) {
        const int64_t count = r->member[r->who[a]].count;
        most = count > most && count <= r->most ? count : most;
    }
    if (most <= r->part_most)
        return MERCER_OK;
    for (int64_t k = 0; k < r->p->count; k++)
        r->member[k].copy.count = 0;
    /* what grows often is touched for the first time often */
    r->part_most = most + most / 2 < r->most ? most + most / 2 : r->most;
    r->part = mc_buffer_reserve(ctx, &r->p->buffers[1], (size_t)r->p->count * square_bytes(r->part_most));
    return r->part ? MERCER_OK : MERCER_MEMORY;
}

static void solve_members(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    batch_run *r = arg;
    for (int64_t a = begin; a < end; a++) {
        const int64_t k = r->who[a];
        float *part = r->part + (size_t)k * square_bytes(r->part_most) / sizeof(float);
        mc_member_solve(r->p, k, &r->set, r->quick, r->member[k].count <= r->part_most ? part : NULL, &r->member[k]);
        mc_member_put_back(r->p, k, &r->set, &r->member[k], r->change + a);
    }
}

static void drop_idle(batch_run *r) {
    r->kept = 0;
    for (int64_t b = 0; b < r->set.count; b++) {
        bool moved = false;
        for (int64_t a = 0; a < r->open; a++)
            moved = moved || r->change[b * MC_BATCH + a] != 0;
        if (!moved)
            continue;
        r->row[r->kept] = r->row[b];
        memmove(r->change + r->kept++ * MC_BATCH, r->change + b * MC_BATCH, MC_BATCH * sizeof(double));
    }
}

static void add_columns(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const batch_run *r = arg;
    r->body->accumulate(r->row, r->change, r->kept, r->open, begin, end, r->f);
}

static bool any_slow(const batch_run *r) {
    bool any = false;
    for (int64_t a = 0; a < r->open; a++)
        any = any || r->member[r->who[a]].out_of_steps;
    return any;
}

/* Who took all the steps allowed takes one of Newton's; the others wait. */
static mercer_status take_newton_steps(mercer_ctx *ctx, batch_run *r) {
    const int64_t n = r->p->K.n;
    memset(r->change, 0, (size_t)(n * MC_BATCH) * sizeof *r->change);
    for (int64_t a = 0; a < r->open; a++)
        if (r->member[r->who[a]].out_of_steps)
            MC_TRY(mc_member_newton_step(ctx, r->p, r->who[a], &r->member[r->who[a]], r->change + a));
    r->set.count = n;
    for (int64_t t = 0; t < n; t++)
        r->row[t] = row_of(r->p, t);
    drop_idle(r);
    MC_TRY(mc_for(ctx, n, COLUMNS, add_columns, r));
    for (int64_t a = 0; a < r->open; a++)
        if (r->member[r->who[a]].out_of_steps)
            mc_member_scale_step(r->p, r->who[a], &r->member[r->who[a]]);
    return MERCER_OK;
}

static mercer_status solve_batch_round(mercer_ctx *ctx, batch_run *r) {
    if (!takes_all_variables(r))
        MC_TRY(choose_working_set(ctx, r));
    MC_TRY(load_working_set(ctx, r));
    MC_TRY(reserve_parts(ctx, r));
    MC_TRY(mc_for(ctx, r->open, 1, solve_members, r));
    drop_idle(r);
    if (!takes_all_variables(r))
        grow_working_set(r);
    return mc_for(ctx, r->p->K.n, COLUMNS, add_columns, r);
}

/* What so many rounds do not settle is for other methods. */
static mercer_status iterate_batch(mercer_ctx *ctx, batch_run *r) {
    const int64_t most = ROUNDS * (r->p->K.n / SET + 1);
    MC_TRY(check_members(ctx, r));
    open_wide(r);
    for (int64_t k = 0; k < most && r->open; k++) {
        MC_TRY(any_slow(r) ? take_newton_steps(ctx, r) : solve_batch_round(ctx, r));
        MC_TRY(check_members(ctx, r));
    }
    return MERCER_OK;
}

mercer_status mc_batch_smo_solve(mercer_ctx *ctx, const mc_batch_smo *problem) {
    batch_run r = {.p = problem,
                   .body = &mc_qp_bodies_of(ctx->isa)->batch_smo[problem->K.dtype],
                   .quick = &mc_qp_bodies_of(ctx->isa)->batch_smo[MERCER_F32]};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, own_bytes(problem->K.n, problem->count)));
    lay_out_batch_workspace(&work, problem->K.n, problem->count, &r);
    r.most = largest_set_size(ctx, problem);
    const mercer_status status = iterate_batch(ctx, &r);
    mc_work_close(&work);
    return status;
}
