/* together.c: see together.h.

       repeat   choose a working set W for all programmes              the worst pair of each, then what violates most in any of them
                gather K_WW in single precision, once
                minimise over W, each programme by itself, over        together_isa.c, in parallel
                those of W that are in question for it
                f <- f + K_W' (change of beta on W) for all of them    a row of K is read once; sums in double
       until the violation of each is at most the tolerance

   Every sum is in the order of the set, so the answer has the same bits on any number of threads. */
#include "solve/together.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/work.h"
#include "solve/smo_select.h"
#include "solve/together_body.h"
#include <math.h>
#include <string.h>

enum { SET = 512, SET_SURE = 2048, SET_MOST = 8192, EPOCHS = 2, COLUMNS = 1024, STEPS_PER_VARIABLE = 20, ROUNDS = 64, STRIP = 2048 };
_Static_assert(MC_TOGETHER_MOST <= (int)MC_VOICES, "a pass over K serves all");
static const double SLACK = 0.25; /* of the violation: nearer to being in question than this counts as in question */
static const double INNER = 0.1; /* of the violation at the start of the round */

typedef struct member {
    mc_extremes e;
    bool open, stuck; /* still at work; no variable could move */
    mc_quick block;
    int64_t count;    /* variables of the set that are in question for it */
    int64_t *place;   /* where they stand in the set; pads repeat the first */
    double *before;   /* their beta at the start */
} member;

typedef struct run {
    const mc_together *p;
    const mc_together_body *body;
    void (*gather)(const void *row, const int64_t *column, int64_t count, float *out); /* from K_WW */
    member *member;
    int64_t open;           /* how many are still at work, and which */
    int64_t who[MC_VOICES];
    mc_selection selection; /* the set, and marks */
    double *score[2];       /* n: how far a variable violates upwards, downwards; 0: not at all */
    int64_t *column;        /* of the places of the set; pads repeat the first */
    float *K;
    float *part;            /* of each thread: K of those that are in question for a programme */
    const void **row;
    double *change;         /* SET x MC_VOICES */
    double *f[MC_VOICES];
    int64_t kept;           /* rows that change */
    int64_t seen;           /* places filled since the set last grew */
    int64_t most;           /* places that there is memory for */
} run;

/* ---- Room ---- */

static int64_t set_size(int64_t n) {
    return n < SET_MOST ? n : SET_MOST;
}

static int64_t padded(int64_t q) {
    return (q + MC_WIDE - 1) / MC_WIDE * MC_WIDE;
}

static size_t member_need(int64_t room) {
    return 4 * mc_work_need(room, sizeof(double)) + 4 * mc_work_need(room, sizeof(float)) + mc_work_need(room, sizeof(int64_t));
}

/* Programmes that are solved at the same time. */
static int64_t at_once(const mercer_ctx *ctx, int64_t count) {
    return count < ctx->threads ? count : ctx->threads;
}

static size_t own_bytes(int64_t n, int64_t count) {
    const int64_t q = set_size(n), room = padded(q);
    return mc_selection_need(n, q) + 2 * mc_work_need(n, sizeof(double)) + mc_work_need(room, sizeof(int64_t))
           + mc_work_need(room, sizeof(void *))
           + mc_work_need(room * MC_VOICES, sizeof(double)) + mc_work_need(count, sizeof(member))
           + (size_t)count * member_need(room);
}

static size_t square(int64_t q) {
    return mc_work_need(padded(q) * padded(q), sizeof(float));
}

size_t mc_together_bytes(const mercer_ctx *ctx, int64_t n, int64_t count) {
    return own_bytes(n, count) + (size_t)(1 + at_once(ctx, count)) * square(n < SET_SURE ? n : SET_SURE);
}

/* By what there is whatever the number of threads, so that it decides nothing. */
static int64_t widest(const mercer_ctx *ctx, const mc_together *p) {
    const size_t left = (mc_memory_left(ctx) + p->room[0].size + p->room[1].size) / 2;
    int64_t q = set_size(p->n);
    while (q > SET_SURE && (size_t)(1 + p->count) * square(q) > left)
        q = q / 2 > SET_SURE ? q / 2 : SET_SURE;
    return q;
}

static void cut_member(mc_work *work, int64_t room, member *m) {
    mc_quick *b = &m->block;
    double *low = mc_work_take(work, room, sizeof(double)), *high = mc_work_take(work, room, sizeof(double));
    b->beta = mc_work_take(work, room, sizeof(double));
    m->before = mc_work_take(work, room, sizeof(double));
    m->place = mc_work_take(work, room, sizeof(int64_t));
    float **floats[] = {&b->v, &b->up, &b->down, &b->diagonal};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        *floats[i] = mc_work_take(work, room, sizeof(float));
    b->low = low;
    b->high = high;
}

static void cut(mc_work *work, run *r) {
    const int64_t n = r->p->n, q = set_size(n), room = padded(q);
    mc_selection_open(work, n, q, &r->selection);
    for (int side = 0; side < 2; side++)
        r->score[side] = mc_work_take(work, n, sizeof(double));
    r->column = mc_work_take(work, room, sizeof(int64_t));
    r->row = mc_work_take(work, room, sizeof(void *));
    r->change = mc_work_take(work, room * MC_VOICES, sizeof(double));
    r->member = mc_work_take(work, r->p->count, sizeof(member));
    for (int64_t k = 0; k < r->p->count; k++) {
        r->member[k] = (member){0};
        cut_member(work, room, &r->member[k]);
    }
}

/* ---- Where they stand ---- */

static void look_at(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    run *r = arg;
    for (int64_t k = begin; k < end; k++) {
        member *m = &r->member[k];
        m->e = mc_extremes_of(&r->p->dual[k], r->p->beta[k], r->p->f[k]);
        m->open = m->e.violation > r->p->tolerance && !m->stuck && r->p->steps[k] < r->p->steps_max;
    }
}

static mercer_status look(mercer_ctx *ctx, run *r) {
    MC_TRY(mc_for(ctx, r->p->count, 1, look_at, r));
    r->open = 0;
    for (int64_t k = 0; k < r->p->count; k++)
        if (r->member[k].open) {
            r->f[r->open] = r->p->f[k];
            r->who[r->open++] = k;
        }
    return mc_progress(ctx, -1);
}

/* ---- The set ---- */

/* In units of the worst violation of each programme, the largest over them. */
static void rate(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    run *r = arg;
    double *up = r->score[0], *down = r->score[1];
    for (int64_t t = begin; t < end; t++)
        up[t] = down[t] = 0;
    for (int64_t a = 0; a < r->open; a++) {
        const int64_t k = r->who[a];
        const mc_dual *dual = &r->p->dual[k];
        const double *beta = r->p->beta[k], *f = r->p->f[k], top = r->member[k].e.top[0], bottom = r->member[k].e.bottom[0];
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
static bool is_free(const run *r, int64_t t) {
    for (int64_t a = 0; a < r->open; a++) {
        const int64_t k = r->who[a];
        if (r->p->beta[k][t] > r->p->dual[k].low[t] && r->p->beta[k][t] < r->p->dual[k].high[t])
            return true;
    }
    return false;
}

static void keep_free(run *r, int64_t last, int64_t room) {
    for (int64_t k = 0; k < last && r->selection.count < room; k++)
        if (is_free(r, r->selection.candidate[k].id))
            mc_selection_take(&r->selection, r->selection.candidate[k].id);
}

static mercer_status choose(mercer_ctx *ctx, run *r) {
    mc_selection *s = &r->selection;
    MC_TRY(mc_for(ctx, r->p->n, STRIP, rate, r));
    const int64_t last = mc_selection_renew(s);
    for (int64_t a = 0; a < r->open; a++) {
        mc_selection_take(s, r->member[r->who[a]].e.top_at[0]);
        mc_selection_take(s, r->member[r->who[a]].e.bottom_at[0]);
    }
    keep_free(r, last, s->q / 2);
    mc_selection_worst(s, r->score[0], r->p->n, (s->q - s->count) / 2);
    mc_selection_worst(s, r->score[1], r->p->n, s->q - s->count);
    return MERCER_OK;
}

/* Once all that is in question has been in the set EPOCHS times the set is too small for how they hang together. */
static void grow(run *r) {
    mc_selection *s = &r->selection;
    int64_t in_question = 0;
    for (int64_t t = 0; t < r->p->n; t++)
        in_question += r->score[0][t] > 0 || r->score[1][t] > 0;
    r->seen += s->count;
    if (r->seen < EPOCHS * in_question || s->count >= in_question)
        return;
    r->seen = 0;
    s->q = 2 * s->q < r->most ? 2 * s->q : r->most;
}

/* From the start there is room for all that are off their bounds: they hang together. */
static void open_wide(run *r) {
    mc_selection *s = &r->selection;
    int64_t free = 0;
    for (int64_t t = 0; t < r->p->n; t++)
        free += is_free(r, t);
    s->q = SET < r->most ? SET : r->most;
    while (s->q < free && s->q < r->most)
        s->q = 2 * s->q < r->most ? 2 * s->q : r->most;
}

/* ---- One round ---- */

static void gather(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const run *r = arg;
    const int64_t ld = padded(r->selection.count);
    for (int64_t a = begin; a < end; a++)
        r->body->gather(r->row[a], r->column, ld, r->K + a * ld);
}

/* The places of the set, rising: rows of K are then read from front to back. */
static mercer_status load(mercer_ctx *ctx, run *r) {
    const int64_t n = r->p->n, ld = padded(r->selection.count), entry = r->p->dtype == MERCER_F64 ? 8 : 4;
    int64_t at = 0;
    r->K = mc_room_take(ctx, &r->p->room[0], square(r->selection.q));
    r->part = mc_room_take(ctx, &r->p->room[1], (size_t)at_once(ctx, r->p->count) * square(r->selection.q));
    if (!r->K || !r->part)
        return MERCER_MEMORY;
    for (int64_t t = 0; t < n; t++)
        if (r->selection.chosen[t])
            r->column[at++] = t;
    for (; at < ld; at++)
        r->column[at] = r->column[0];
    for (int64_t a = 0; a < ld; a++)
        r->row[a] = (const char *)r->p->K + r->column[a] * n * entry;
    return mc_for(ctx, ld, 32, gather, r);
}

/* Of the set those off their bounds and those at a bound that a step could move off it. The others would wait: their slopes come with f. */
static void pick(const run *r, int64_t k) {
    member *m = &r->member[k];
    const mc_dual *dual = &r->p->dual[k];
    const double *beta = r->p->beta[k], slack = SLACK * m->e.violation;
    const double top = m->e.top[0] + slack, bottom = m->e.bottom[0] - slack;
    m->count = 0;
    for (int64_t b = 0; b < r->selection.count; b++) {
        const int64_t t = r->column[b];
        const double v = -(r->p->f[k][t] + dual->q[t]);
        const bool up = beta[t] < dual->high[t], down = beta[t] > dual->low[t];
        if ((up && (down || v > bottom)) || (down && v < top))
            m->place[m->count++] = b;
    }
    m->block.ld = padded(m->count);
    for (int64_t a = m->count; a < m->block.ld; a++)
        m->place[a] = m->place[0];
}

/* K of those picked: copied where it pays to leave the others out. */
static const float *part_of(const run *r, member *m, int thread) {
    const int64_t room = padded(r->selection.q), ld = padded(r->selection.count);
    float *part = r->part + thread * room * room;
    if (m->block.ld == ld)
        return r->K;
    for (int64_t a = 0; a < m->count; a++)
        r->gather(r->K + m->place[a] * ld, m->place, m->block.ld, part + a * m->block.ld);
    return part;
}

static void fill(const run *r, int64_t k, int thread) {
    member *m = &r->member[k];
    mc_quick *b = &m->block;
    const mc_dual *dual = &r->p->dual[k];
    double *low = (double *)(uintptr_t)b->low, *high = (double *)(uintptr_t)b->high;
    pick(r, k);
    b->K = part_of(r, m, thread);
    for (int64_t a = 0; a < b->ld; a++) {
        const int64_t t = r->column[m->place[a]];
        const bool real = a < m->count;
        b->v[a] = (float)-(r->p->f[k][t] + dual->q[t]);
        b->diagonal[a] = (float)r->p->diagonal[t];
        m->before[a] = b->beta[a] = r->p->beta[k][t];
        low[a] = dual->low[t];
        high[a] = dual->high[t];
        b->up[a] = real && b->beta[a] < high[a] ? 0 : -INFINITY;
        b->down[a] = real && b->beta[a] > low[a] ? 0 : INFINITY;
    }
}

/* What has changed, in the places of the set. */
static void put_back(const run *r, int64_t a) {
    const int64_t k = r->who[a];
    member *m = &r->member[k];
    for (int64_t b = 0; b < r->selection.count; b++)
        r->change[b * MC_VOICES + a] = 0;
    m->stuck = true;
    for (int64_t b = 0; b < m->count; b++) {
        const double change = m->block.beta[b] - m->before[b];
        m->stuck = m->stuck && change == 0;
        r->change[m->place[b] * MC_VOICES + a] = change;
        r->p->beta[k][r->column[m->place[b]]] = m->block.beta[b];
    }
}

static void solve_members(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    run *r = arg;
    for (int64_t a = begin; a < end; a++) {
        const int64_t k = r->who[a], left = r->p->steps_max - r->p->steps[k];
        member *m = &r->member[k];
        fill(r, k, thread);
        const int64_t enough = STEPS_PER_VARIABLE * m->count;
        m->block.steps_max = left < enough ? left : enough;
        m->block.tolerance = fmax(0.3 * r->p->tolerance, INNER * m->e.violation);
        r->body->solve(&m->block);
        r->p->steps[k] += m->block.steps;
        put_back(r, a);
    }
}

static void drop_idle(run *r) {
    r->kept = 0;
    for (int64_t b = 0; b < r->selection.count; b++) {
        bool moved = false;
        for (int64_t a = 0; a < r->open; a++)
            moved = moved || r->change[b * MC_VOICES + a] != 0;
        if (!moved)
            continue;
        r->row[r->kept] = r->row[b];
        memmove(r->change + r->kept++ * MC_VOICES, r->change + b * MC_VOICES, MC_VOICES * sizeof(double));
    }
}

static void add_columns(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const run *r = arg;
    r->body->accumulate(r->row, r->change, r->kept, r->open, begin, end, r->f);
}

static mercer_status turn(mercer_ctx *ctx, run *r) {
    MC_TRY(choose(ctx, r));
    MC_TRY(load(ctx, r));
    MC_TRY(mc_for(ctx, r->open, 1, solve_members, r));
    drop_idle(r);
    grow(r);
    return mc_for(ctx, r->p->n, COLUMNS, add_columns, r);
}

/* What so many rounds do not settle is for other methods. */
static mercer_status descend(mercer_ctx *ctx, run *r) {
    const int64_t most = ROUNDS * (r->p->n / SET + 1);
    MC_TRY(look(ctx, r));
    open_wide(r);
    for (int64_t k = 0; k < most && r->open; k++) {
        MC_TRY(turn(ctx, r));
        MC_TRY(look(ctx, r));
    }
    return MERCER_OK;
}

mercer_status mc_together_solve(mercer_ctx *ctx, const mc_together *problem) {
    run r = {.p = problem, .body = mc_together_body_of(ctx->isa, problem->dtype),
             .gather = mc_together_body_of(ctx->isa, MERCER_F32)->gather};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, own_bytes(problem->n, problem->count)));
    cut(&work, &r);
    r.most = widest(ctx, problem);
    const mercer_status status = descend(ctx, &r);
    mc_work_close(&work);
    return status;
}
