/* growing_smo.c: see growing_smo.h.

       repeat   the worst violators outside of the set join it, as many on either side         until none violates
                rows of K that they want are made, many at once
                their entries come to those of the set, in single precision
                minimise over the set                                       backend/cpu/batch_smo_body.c
                f <- f + K' (change of beta)                                                   in double

   A set that is full drops those that rest on a bound. */
#include "qp/growing_smo.h"
#include "backend/dispatch_qp.h"
#include "qp/batch_smo_member.h"
#include "qp/smo_select.h"
#include <math.h>
#include <string.h>

enum {
    LEAST = 700, /* variables below which K of all of them stays near enough */
    MOST = 512,  /* in the set */
    FIRST = 128, /* that join it at first, */
    NEXT = 64,   /* and later at least; otherwise half as many as there are */
    FEW = 16,    /* who join in the end */
    ROUNDS = 40,
    STEPS = 8,     /* for each variable of the set in a round */
    TOGETHER = 64, /* rows of K added up at once */
    WIDTH = MOST + MC_WIDE,
    SQUARE = 16 /* entries turned over at once */
};
static const double FAR = 0.3;    /* of the worst violation */
static const double SHARE = 0.4;  /* of the violation: what is left of it in the set after a round */
static const double QUICK = 1e-4; /* the least violation of which slopes in single precision know */

typedef struct growing_set {
    const mc_dual *dual;
    const mc_kernel_runs *K;
    double *beta, *f;
    mc_selection selection;
    double *score; /* of each variable: how far it violates; 0: not at all */
    int64_t known; /* members whose entries are there, */
    int64_t place[MC_SMO_RUNS][MOST], column[MC_SMO_RUNS][MOST], count[MC_SMO_RUNS]; /* and where, of each run */
    float *part;    /* K of the set, WIDTH floats from row to row */
    double *before; /* beta of the members when the round began */
    mc_smo_block_f32 block;
    double top, bottom; /* of all variables */
} growing_set;

/* ---- Room ---- */

static void lay_out_growing_set(mc_work *work, int64_t m, growing_set *g) {
    mc_smo_block_f32 *b = &g->block;
    double **doubles[] = {&b->beta, &b->low, &b->high, &g->before};
    float **floats[] = {&b->v, &b->up, &b->down, &b->diagonal};
    mc_selection_open(work, m, MOST, &g->selection);
    g->score = mc_work_take(work, m, sizeof(double));
    g->part = mc_work_take(work, (int64_t)MOST * WIDTH, sizeof(float));
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        *doubles[i] = mc_work_take(work, MOST, sizeof(double));
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        *floats[i] = mc_work_take(work, MOST, sizeof(float));
}

size_t mc_growing_smo_bytes(int64_t m) {
    mc_work counted = {0};
    growing_set g = {0};
    lay_out_growing_set(&counted, m, &g);
    return counted.used;
}

bool mc_growing_smo_pays(int64_t m) {
    return m >= LEAST;
}

/* ---- Who joins ---- */

static void find_extremes(growing_set *g) {
    const mc_extremes e = mc_extremes_of(g->dual, g->beta, g->f);
    g->top = e.top[0];
    g->bottom = e.bottom[0];
}

/* Where the intercept is as far as the set knows: between the slopes of its members. */
static double middle_of_set(const growing_set *g) {
    double top = -INFINITY, bottom = INFINITY;
    for (int64_t k = 0; k < g->selection.count; k++) {
        const int64_t t = g->selection.set[k];
        const double v = mc_dual_slope(g->dual, g->f, t);
        if (g->beta[t] < g->dual->high[t])
            top = fmax(top, v);
        if (g->beta[t] > g->dual->low[t])
            bottom = fmin(bottom, v);
    }
    const double middle = (top + bottom) / 2;
    return isfinite(middle) ? fmin(fmax(middle, g->bottom), g->top) : (g->top + g->bottom) / 2;
}

/* How far the slopes are on the wrong side of the middle, as a share of the farthest. */
static void score_side(growing_set *g, double middle, bool up) {
    const double worst = up ? g->top - middle : middle - g->bottom;
    for (int64_t t = 0; t < g->dual->m; t++) {
        const double v = mc_dual_slope(g->dual, g->f, t), far = up ? v - middle : middle - v;
        const bool may = up ? g->beta[t] < g->dual->high[t] : g->beta[t] > g->dual->low[t];
        g->score[t] = may && far > 0 && worst > 0 ? far / worst : 0;
    }
}

static int64_t places_to_join(const growing_set *g) {
    const int64_t share = g->selection.count / 2, least = g->known ? NEXT : FIRST;
    return share < least ? least : share;
}

enum { NEW = 1, KNOWN }; /* marks of the selection; it asks no more than whether there is one */

/* Those who have joined in the order of the variables, in which K lies. */
static void order_new_members(growing_set *g) {
    mc_selection *s = &g->selection;
    int64_t at = g->known;
    for (int64_t t = 0; t < g->dual->m; t++)
        if (s->chosen[t] == NEW) {
            s->chosen[t] = KNOWN;
            s->set[at++] = t;
        }
}

static void let_violators_join(growing_set *g) {
    mc_selection *s = &g->selection;
    const double middle = middle_of_set(g);
    const int64_t left = s->q - s->count, wanted = places_to_join(g), places = wanted < left ? wanted : left;
    s->round++;
    score_side(g, middle, true);
    mc_selection_worst(s, g->score, g->dual->m, places / 2);
    score_side(g, middle, false);
    mc_selection_worst(s, g->score, g->dual->m, places / 2);
}

/* Members that rest on a bound leave. */
static void drop_resting(growing_set *g) {
    mc_selection *s = &g->selection;
    const int64_t last = mc_selection_renew(s);
    for (int64_t k = 0; k < last; k++) {
        const int64_t t = s->candidate[k].id;
        if (g->beta[t] > g->dual->low[t] && g->beta[t] < g->dual->high[t])
            mc_selection_take(s, t);
    }
    g->known = g->count[0] = g->count[1] = 0;
}

/* ---- Their part of K ---- */

/* How many rows are likely to be wanted in the end: those of variables that have left zero, and of the others that
   violate far as many as of the rows made so far were of use. Whoever violates by less is mostly settled by the steps
   of those that violate by more. */
static double count_likely(const growing_set *g) {
    const double middle = (g->top + g->bottom) / 2, far = FAR * (g->top - g->bottom) / 2;
    const double made = (double)g->K->demand->count;
    int64_t moved = 0, others = 0;
    for (int64_t t = 0; t < g->dual->m; t++) {
        const double v = mc_dual_slope(g->dual, g->f, t);
        const bool wants = (v > middle + far && g->dual->high[t] > 0) || (v < middle - far && g->dual->low[t] < 0);
        moved += g->beta[t] != 0;
        others += g->beta[t] == 0 && wants;
    }
    return (double)moved + ((double)moved < made ? (double)moved / made : 1) * (double)others;
}

/* Rows of K of the new members that are not there yet; all, where many more will be wanted as things stand. */
static bool make_rows(growing_set *g) {
    mc_rows_on_demand *d = g->K->demand;
    int64_t row[MC_ROWS_TOGETHER], count = 0;
    const bool many = d && d->all && d->count >= d->look && count_likely(g) - (double)d->count > (double)d->many;
    for (int64_t k = g->known; d && k <= g->selection.count; k++) {
        const bool wanted = k < g->selection.count && d->line[g->selection.set[k]] < 0;
        if (wanted)
            row[count++] = g->selection.set[k];
        if (count < d->together && (k < g->selection.count || !count))
            continue;
        if (many || d->count + count > d->most)
            return mc_kernel_runs_complete(g->K);
        d->make(d, row, count, d->count);
        for (int64_t i = 0; i < count; i++)
            d->line[row[i]] = (int32_t)d->count++;
        count = 0;
    }
    return true;
}

static void place_member(growing_set *g, int64_t k) {
    const int64_t t = g->selection.set[k];
    const int run = g->K->runs > 1 && t >= g->K->first[1];
    g->place[run][g->count[run]] = k;
    g->column[run][g->count[run]++] = t - g->K->first[run];
    g->block.low[k] = g->dual->low[t];
    g->block.high[k] = g->dual->high[t];
    g->block.diagonal[k] = (float)g->K->diagonal[t];
}

/* A row of K comes from a cache far away: the next one is called for meanwhile. */
static void copy_row(growing_set *g, int64_t k) {
    float *to = g->part + k * WIDTH;
    for (int r = 0; r < g->K->runs; r++) {
        const double *row = mc_kernel_runs_row(g->K, g->selection.set[k], r),
                     *next = mc_kernel_runs_row(g->K, g->selection.set[k + 1 < g->selection.count ? k + 1 : k], r);
        for (int64_t i = 0; i < g->count[r]; i++) {
            __builtin_prefetch(next + g->column[r][i]);
            to[g->place[r][i]] = (float)row[g->column[r][i]];
        }
    }
}

/* What rows from `first` on have in columns below it, into the rows below. */
static void copy_columns(growing_set *g, int64_t first, int64_t end) {
    for (int64_t k = first; k < end; k += SQUARE)
        for (int64_t l = 0; l < first; l++)
            for (int64_t i = k; i < end && i < k + SQUARE; i++)
                g->part[l * WIDTH + i] = g->part[i * WIDTH + l];
}

/* Places beyond the last member are read. */
static void close_places(growing_set *g) {
    mc_smo_block_f32 *b = &g->block;
    for (int64_t k = 0; k < g->known; k++)
        memset(g->part + k * WIDTH + g->known, 0, (size_t)(b->width - g->known) * sizeof *g->part);
    for (int64_t k = g->known; k < b->width; k++) {
        b->v[k] = 0;
        b->diagonal[k] = 1;
        b->up[k] = -INFINITY;
        b->down[k] = INFINITY;
    }
}

static void take_in(growing_set *g) {
    const int64_t first = g->known, end = g->selection.count;
    for (int64_t k = first; k < end; k++)
        place_member(g, k);
    for (int64_t k = first; k < end; k++)
        copy_row(g, k);
    copy_columns(g, first, end);
    g->known = end;
    g->block.width = mc_padded_size(end);
    close_places(g);
}

/* ---- A round ---- */

static void load_members(growing_set *g) {
    mc_smo_block_f32 *b = &g->block;
    for (int64_t k = 0; k < g->known; k++) {
        const int64_t t = g->selection.set[k];
        b->v[k] = (float)mc_dual_slope(g->dual, g->f, t);
        b->beta[k] = g->before[k] = g->beta[t];
        b->up[k] = g->beta[t] < b->high[k] ? 0 : -INFINITY;
        b->down[k] = g->beta[t] > b->low[k] ? 0 : INFINITY;
    }
}

static void add_columns(const growing_set *g, const int64_t *row, const double *c, int64_t count) {
    const void *place[TOGETHER];
    for (int r = 0; r < g->K->runs; r++) {
        for (int64_t k = 0; k < count; k++)
            place[k] = mc_kernel_runs_row(g->K, row[k], r);
        mc_qp_bodies_of(g->K->isa)->smo[MERCER_F64].accumulate(place, c, count, 0, g->K->count[r],
                                                               g->f + g->K->first[r]);
    }
}

static void put_back(growing_set *g) {
    int64_t row[TOGETHER], count = 0;
    double c[TOGETHER];
    for (int64_t k = 0; k < g->known; k++) {
        const int64_t t = g->selection.set[k];
        g->beta[t] = g->block.beta[k];
        row[count] = t;
        c[count] = g->block.beta[k] - g->before[k];
        count += c[count] != 0;
        if (count == TOGETHER || (count && k + 1 == g->known)) {
            add_columns(g, row, c, count);
            count = 0;
        }
    }
}

/* All the way where few have joined, of whom few others can follow. */
static void solve_set(growing_set *g, double tolerance, int64_t joined, int64_t steps_max, mc_smo_result *result) {
    mc_smo_block_f32 *b = &g->block;
    const double least = tolerance / 2;
    load_members(g);
    b->tolerance = joined < FEW ? least : fmax(least, SHARE * (g->top - g->bottom));
    b->steps = 0;
    b->steps_max = steps_max < STEPS * g->known ? steps_max : STEPS * g->known;
    mc_qp_bodies_of(g->K->isa)->batch_smo[MERCER_F32].solve(b);
    result->steps += b->steps;
    result->updates += b->steps * g->known;
    put_back(g);
}

static bool is_full(const mc_selection *s) {
    return s->count + 2 > s->q;
}

/* Whether the set could take in who violates. */
static bool grow_set(growing_set *g) {
    let_violators_join(g);
    if (is_full(&g->selection)) {
        drop_resting(g);
        let_violators_join(g);
    }
    order_new_members(g);
    return !is_full(&g->selection);
}

static void open_growing_set(growing_set *g, mc_work *work) {
    lay_out_growing_set(work, g->dual->m, g);
    memset(g->selection.chosen, 0, (size_t)g->dual->m);
    mc_selection_take(&g->selection, 0); /* whose row is asked for in any case */
    g->block.K = g->part;
    g->block.ld = WIDTH;
    find_extremes(g);
}

void mc_growing_smo_solve(const mc_dual *dual, const mc_kernel_runs *K, double tolerance, int64_t steps_max,
                          mc_work work, double *beta, double *f, mc_smo_result *result) {
    growing_set g = {.dual = dual, .K = K, .beta = beta, .f = f};
    const double least = fmax(tolerance, QUICK);
    open_growing_set(&g, &work);
    for (int round = 0; round < ROUNDS && g.top - g.bottom > least; round++) {
        if (!grow_set(&g) || !make_rows(&g))
            return;
        const int64_t joined = g.selection.count - g.known;
        take_in(&g);
        solve_set(&g, least, joined, steps_max - result->steps, result);
        find_extremes(&g);
        if (!g.block.steps)
            return;
    }
}
