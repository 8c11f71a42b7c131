/* stored_smo.c: see stored_smo.h. */
#include "qp/stored_smo.h"
#include "backend/dispatch_qp.h"
#include "qp/smo_select.h"
#include "qp/stored_newton.h"
#include <math.h>
#include <string.h>

enum { FIRST = 30 }; /* steps on pairs at a time, and half of one for each variable */

static int64_t padded_run(int64_t count) {
    return (count + MC_LANES - 1) / MC_LANES * MC_LANES;
}

static void lay_out_block(mc_work *work, int64_t places, mc_smo_block *b) {
    double **own[] = {&b->v, &b->beta, &b->up, &b->down};
    const double **given[] = {&b->low, &b->high, &b->diagonal};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        *own[i] = mc_work_take(work, places, sizeof(double));
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        *given[i] = mc_work_take(work, places, sizeof(double));
    for (int r = 0; r < MC_SMO_RUNS; r++)
        b->row[r] = mc_work_take(work, places, sizeof(void *));
}

size_t mc_stored_smo_bytes(int64_t m) {
    mc_work counted = {0};
    lay_out_block(&counted, padded_run(m) + MC_LANES * (MC_SMO_RUNS - 1), &(mc_smo_block){0});
    return counted.used + mc_stored_newton_bytes(m);
}

static void fill_place(const mc_dual *dual, const mc_kernel_runs *K, int64_t row, int64_t t, int64_t at,
                       const double *beta, const double *f, mc_smo_block *b) {
    double *low = (double *)b->low, *high = (double *)b->high, *diagonal = (double *)b->diagonal;
    b->v[at] = mc_dual_slope(dual, f, t);
    b->beta[at] = beta[t];
    low[at] = dual->low[t];
    high[at] = dual->high[t];
    diagonal[at] = K->diagonal[row];
    b->up[at] = beta[t] < high[at] ? 0 : -INFINITY;
    b->down[at] = beta[t] > low[at] ? 0 : INFINITY;
}

static void close_place(int64_t at, mc_smo_block *b) {
    b->v[at] = b->beta[at] = ((double *)b->low)[at] = ((double *)b->high)[at] = ((double *)b->diagonal)[at] = 0;
    b->up[at] = -INFINITY;
    b->down[at] = INFINITY;
}

/* Every run from a whole lane on. */
static void fill_block(const mc_dual *dual, const mc_kernel_runs *K, const double *beta, const double *f,
                       mc_smo_block *b) {
    int64_t at = 0, t = 0;
    for (int r = 0; r < K->runs; r++) {
        b->begin[r] = at;
        for (int64_t k = 0; k < K->count[r]; k++)
            fill_place(dual, K, K->first[r] + k, t++, at++, beta, f, b);
        while (at % MC_LANES)
            close_place(at++, b);
        b->begin[r + 1] = at;
    }
}

static void take_block(const mc_dual *dual, const mc_kernel_runs *K, const mc_smo_block *b, double *beta, double *f) {
    int64_t t = 0;
    for (int r = 0; r < K->runs; r++)
        for (int64_t k = 0; k < K->count[r]; k++, t++) {
            beta[t] = b->beta[b->begin[r] + k];
            f[mc_dual_row(dual, t)] = -(b->v[b->begin[r] + k] + dual->q[t]);
        }
}

/* Where the rows of K are now. */
static void place_rows(const mc_kernel_runs *K, mc_smo_block *b) {
    for (int r = 0; r < K->runs; r++) {
        b->width[r] = K->within[r] ? K->within_ld[r] : K->ld - K->first[r];
        for (int own = 0; own < K->runs; own++)
            for (int64_t at = b->begin[own], row = K->first[own]; at < b->begin[own + 1]; at++, row++)
                b->row[r][at] = row < K->first[own] + K->count[own] ? mc_kernel_runs_row(K, row, r) : NULL;
    }
}

/* ---- Rows made when they are needed ---- */

/* Two runs of the same rows have one f. */
static int runs_of_f(const mc_kernel_runs *K) {
    return K->runs > 1 && K->first[1] != K->first[0] ? 2 : 1;
}

/* The row of K that a place has. */
static int64_t row_of_place(const mc_kernel_runs *K, const mc_smo_block *b, int64_t at) {
    const int r = b->runs > 1 && at >= b->begin[1];
    return K->first[r] + at - b->begin[r];
}

/* Places that a step may come to next: the worst on one side. */
typedef struct worst_places {
    int64_t count, most, row[MC_ROWS_TOGETHER];
    double size[MC_ROWS_TOGETHER];
} worst_places;

/* Kept in order, the worst first; of equals the first. */
static void note_place(worst_places *w, double size, int64_t row) {
    if (w->count == w->most && !(size > w->size[w->most - 1]))
        return;
    int64_t at = w->count < w->most ? w->count++ : w->most - 1;
    for (; at > 0 && size > w->size[at - 1]; at--) {
        w->size[at] = w->size[at - 1];
        w->row[at] = w->row[at - 1];
    }
    w->size[at] = size;
    w->row[at] = row;
}

/* A row may be on both sides, and have a variable in either run. */
static bool list_once(int64_t *row, int64_t count, int64_t also) {
    for (int64_t k = 0; k < count; k++)
        if (row[k] == also)
            return false;
    row[count] = also;
    return true;
}

/* The row that is wanted and those that violate most, half of them on either side: a few cost hardly more than one. */
static int64_t list_wanted(const mc_kernel_runs *K, const mc_smo_block *b, int64_t *row) {
    const mc_rows_on_demand *d = K->demand;
    const int64_t wanted = row_of_place(K, b, b->wanted);
    worst_places up = {.most = d->together / 2}, down = {.most = (d->together - 1) / 2};
    for (int r = 0; r < b->runs; r++)
        for (int64_t at = b->begin[r]; at < b->begin[r + 1]; at++) {
            const int64_t k = K->first[r] + at - b->begin[r];
            if ((b->up[at] < 0 && b->down[at] > 0) || d->line[k] >= 0 || k == wanted)
                continue;
            if (b->up[at] == 0)
                note_place(&up, b->v[at], k);
            if (b->down[at] == 0)
                note_place(&down, -b->v[at], k);
        }
    int64_t count = 0;
    row[count++] = wanted;
    for (int64_t k = 0; k < up.count; k++)
        count += list_once(row, count, up.row[k]);
    for (int64_t k = 0; k < down.count; k++)
        count += list_once(row, count, down.row[k]);
    return count;
}

bool mc_kernel_runs_complete(const mc_kernel_runs *K) {
    mc_rows_on_demand *d = K->demand;
    if (!d)
        return true;
    d->over = !d->all;
    if (!d->all)
        return false;
    d->make(d, NULL, 0, 0);
    for (int r = 0; r < K->runs; r++)
        for (int64_t k = K->first[r]; k < K->first[r] + K->count[r]; k++)
            d->line[k] = (int32_t)k;
    return true;
}

static bool is_wanted(const mc_kernel_runs *K, double c, int64_t row) {
    return c != 0 && K->demand->line[row] < 0;
}

static int64_t count_wanted(const mc_kernel_runs *K, const double *c) {
    int64_t count = 0;
    for (int r = 0; r < runs_of_f(K); c += K->count[r++])
        for (int64_t k = 0; k < K->count[r]; k++)
            count += is_wanted(K, c[k], K->first[r] + k);
    return count;
}

static void make_batch(mc_rows_on_demand *d, const int64_t *row, int64_t count) {
    d->make(d, row, count, d->count);
    for (int64_t k = 0; k < count; k++)
        d->line[row[k]] = (int32_t)d->count++;
}

void mc_kernel_runs_ask(const mc_kernel_runs *K, const double *c) {
    mc_rows_on_demand *d = K->demand;
    int64_t row[MC_ROWS_TOGETHER], count = 0;
    const int64_t wanted = d ? count_wanted(K, c) : 0;
    if (wanted > 0 && d->count + wanted > d->most / 2) {
        mc_kernel_runs_complete(K);
        return;
    }
    for (int r = 0; wanted && r < runs_of_f(K); c += K->count[r++])
        for (int64_t k = 0; k < K->count[r]; k++) {
            if (is_wanted(K, c[k], K->first[r] + k))
                row[count++] = K->first[r] + k;
            if (count == d->together) {
                make_batch(d, row, count);
                count = 0;
            }
        }
    if (count)
        make_batch(d, row, count);
}

/* On runs that keep a sum: variables that have left zero, and those that will want to as things stand, on the wrong
   side of the middle of the worst two. */
static int64_t count_in_question(const mc_smo_block *b, int from, int to) {
    double top = -INFINITY, bottom = INFINITY;
    int64_t count = 0;
    for (int64_t at = b->begin[from]; at < b->begin[to]; at++) {
        top = fmax(top, b->v[at] + b->up[at]);
        bottom = fmin(bottom, b->v[at] + b->down[at]);
    }
    for (int64_t at = b->begin[from]; at < b->begin[to]; at++)
        count += b->beta[at] != 0 || b->v[at] + b->up[at] > (top + bottom) / 2
                 || b->v[at] + b->down[at] < (top + bottom) / 2;
    return count;
}

/* The slopes of two sums have nothing to do with each other. */
static int64_t count_of_sums(const mc_smo_block *b) {
    const int each = b->sums > 1 ? 1 : b->runs;
    int64_t count = 0;
    for (int g = 0; g < b->sums; g++)
        count += count_in_question(b, g * each, (g + 1) * each);
    return count;
}

static bool wants_all(const mc_rows_on_demand *d, const mc_smo_block *b) {
    return d->count + d->together > d->most || (d->count >= d->look && count_of_sums(b) > d->many);
}

static void make_listed(const mc_kernel_runs *K, const mc_smo_block *b) {
    mc_rows_on_demand *d = K->demand;
    int64_t row[MC_ROWS_TOGETHER];
    make_batch(d, row, list_wanted(K, b, row));
}

static void make_wanted(const mc_kernel_runs *K, mc_smo_block *b) {
    if (wants_all(K->demand, b))
        mc_kernel_runs_complete(K);
    else
        make_listed(K, b);
    place_rows(K, b);
}

/* The first pass reads the row of place 0. */
static void solve_block(const mc_kernel_runs *K, mc_smo_block *b) {
    const int64_t most = b->steps_max;
    int64_t steps = 0;
    b->wanted = 0;
    place_rows(K, b);
    if (K->demand && b->begin[b->runs] && K->demand->line[K->first[0]] < 0)
        make_wanted(K, b);
    for (b->wanted = 0; b->wanted >= 0 && !(K->demand && K->demand->over);) {
        b->steps_max = most - steps;
        mc_qp_bodies_of(K->isa)->smo[MERCER_F64].block(b);
        steps += b->steps;
        if (b->wanted >= 0)
            make_wanted(K, b);
    }
    b->steps = steps;
}

/* Steps on pairs, at most so many; whether that was too few. */
static bool step_on_pairs(const mc_dual *dual, const mc_kernel_runs *K, mc_smo_block *b, double *beta, double *f,
                          mc_smo_result *result) {
    const int64_t most = b->steps_max;
    fill_block(dual, K, beta, f, b);
    solve_block(K, b);
    take_block(dual, K, b, beta, f);
    result->steps += b->steps;
    result->updates += b->steps * dual->m;
    return b->steps == most;
}

/* Newton's steps among the free variables once those on pairs have cost as much. The last of them, from an answer that
   will do, brings it to all digits. */
static void solve_by_turns(const mc_dual *dual, const mc_kernel_runs *K, int64_t steps_max, mc_work work,
                           mc_smo_block *b, double *beta, double *f, mc_smo_result *result) {
    const int64_t first = result->steps, most = first + steps_max;
    bool open = true;
    for (int64_t before = first; open && result->steps < most;) {
        b->steps_max = dual->m / 2 + FIRST;
        b->steps_max = most - result->steps < b->steps_max ? most - result->steps : b->steps_max;
        open = step_on_pairs(dual, K, b, beta, f, result);
        const int64_t free = mc_count_free(dual, beta);
        if (!mc_stored_newton_pays(free, dual->m, result->steps - before) || (K->demand && K->demand->over))
            continue;
        mc_stored_newton_step(dual, K, open ? INFINITY : b->tolerance, work, beta, f);
        before = result->steps;
    }
}

void mc_stored_smo_solve(const mc_dual *dual, const mc_kernel_runs *K, double tolerance, int64_t steps_max,
                         mc_work *work, double *beta, double *f, mc_smo_result *result) {
    mc_work scratch = *work; /* given back by being forgotten */
    mc_smo_block b = {.runs = K->runs, .sums = dual->group ? K->runs : 1, .tolerance = tolerance};
    lay_out_block(&scratch, padded_run(dual->m) + MC_LANES * (MC_SMO_RUNS - 1), &b);
    solve_by_turns(dual, K, steps_max, scratch, &b, beta, f, result);
    result->rounds++;
    mc_dual_optimality(dual, beta, f, result);
    result->converged = result->violation <= tolerance;
}

/* ---- Products ---- */

enum { TOGETHER = 64 }; /* rows of K added up at once */

/* f of places begin .. end - 1 + the rows of K that are listed. */
static void add_rows(const mc_kernel_runs *K, const int64_t *row, const double *c, int64_t count, int64_t begin,
                     int64_t end, double *f) {
    const void *place[TOGETHER];
    int64_t start = 0;
    for (int r = 0; r < runs_of_f(K); start += K->count[r++]) {
        const int64_t from = begin > start ? begin - start : 0,
                      to = end - start < K->count[r] ? end - start : K->count[r];
        for (int64_t k = 0; k < count; k++)
            place[k] = mc_kernel_runs_row(K, row[k], r);
        if (from < to)
            mc_qp_bodies_of(K->isa)->smo[MERCER_F64].accumulate(place, c, count, from, to, f + start);
    }
}

void mc_kernel_runs_multiply(const mc_kernel_runs *K, const double *c, int64_t begin, int64_t end, double *f) {
    int64_t row[TOGETHER], count = 0, i = 0;
    double part[TOGETHER];
    memset(f + begin, 0, (size_t)(end - begin) * sizeof *f);
    for (int r = 0; r < runs_of_f(K); r++)
        for (int64_t k = 0; k < K->count[r]; k++, i++) {
            row[count] = K->first[r] + k;
            part[count] = c[i];
            count += c[i] != 0;
            if (count == TOGETHER) {
                add_rows(K, row, part, count, begin, end, f);
                count = 0;
            }
        }
    add_rows(K, row, part, count, begin, end, f);
}

void mc_kernel_runs_add(const mc_kernel_runs *K, const int64_t *row, const double *c, int64_t count, double *f) {
    const int64_t end = K->count[0] + (runs_of_f(K) > 1 ? K->count[1] : 0);
    for (int64_t k = 0; k < count; k += TOGETHER)
        add_rows(K, row + k, c + k, count - k < TOGETHER ? count - k : TOGETHER, 0, end, f);
}
