/* smo_select.c: the working set. Half of it may be variables of the last set that are free: they are coupled and not
   yet in balance. The rest are the worst violators, a quarter from either side. The worst pair of each group is taken
   first, whatever else is kept: with it in every set the method converges (Lin, 2001); a set that fills up with old
   variables may circle for ever. */
#include "qp/smo_select.h"
#include <math.h>
#include <string.h>

int64_t mc_number_rows(const mc_dual *dual, const int64_t *variable, int64_t count, int64_t n, int64_t *place,
                       int64_t *id, int64_t *row) {
    int64_t rows = 0;
    for (int64_t i = 0; i < n; i++)
        place[i] = -1;
    for (int64_t k = 0; k < count; k++)
        place[mc_dual_row(dual, variable[k])] = 0;
    for (int64_t i = 0; i < n; i++)
        if (place[i] == 0) {
            id[rows] = i;
            place[i] = rows++;
        }
    for (int64_t k = 0; k < count; k++)
        row[k] = place[mc_dual_row(dual, variable[k])];
    return rows;
}

mc_extremes mc_extremes_of(const mc_dual *dual, const double *beta, const double *f) {
    mc_extremes e = {{-INFINITY, -INFINITY}, {INFINITY, INFINITY}, {-1, -1}, {-1, -1}, -INFINITY};
    for (int64_t t = 0; t < dual->m; t++) {
        const double v = mc_dual_slope(dual, f, t);
        const int g = mc_dual_group(dual, t);
        if (v > e.top[g] && beta[t] < dual->high[t]) {
            e.top[g] = v;
            e.top_at[g] = t;
        }
        if (v < e.bottom[g] && beta[t] > dual->low[t]) {
            e.bottom[g] = v;
            e.bottom_at[g] = t;
        }
    }
    for (int g = 0; g < 2; g++)
        e.violation = fmax(e.violation, e.top[g] - e.bottom[g]);
    return e;
}

void mc_selection_open(mc_work *work, int64_t m, int64_t q, mc_selection *out) {
    *out = (mc_selection){.q = q};
    out->set = mc_work_take(work, q, sizeof *out->set);
    out->chosen = mc_work_take(work, m, 1);
    out->candidate = mc_work_take(work, m, sizeof *out->candidate);
}

void mc_selection_reset(mc_selection *s) {
    for (int64_t k = 0; k < s->count; k++)
        s->chosen[s->set[k]] = 0;
    s->count = s->round = 0;
}

void mc_selection_take(mc_selection *s, int64_t id) {
    if (id >= 0 && !s->chosen[id] && s->count < s->q) {
        s->chosen[id] = 1;
        s->set[s->count++] = id;
    }
}

static bool ranks_before(mc_violator a, mc_violator b) {
    return a.score > b.score || (a.score == b.score && a.id < b.id);
}

static void swap_candidates(mc_violator *a, mc_violator *b) {
    const mc_violator c = *a;
    *a = *b;
    *b = c;
}

/* Reorder so that the k first come first; Hoare's selection with the median of three. All keys differ, so it always
   splits. */
static void select_first(mc_violator *c, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    while (low < high && k > low && k <= high) {
        const int64_t middle = low + (high - low) / 2;
        if (ranks_before(c[middle], c[low]))
            swap_candidates(&c[middle], &c[low]);
        if (ranks_before(c[high], c[low]))
            swap_candidates(&c[high], &c[low]);
        if (ranks_before(c[high], c[middle]))
            swap_candidates(&c[high], &c[middle]);
        const mc_violator pivot = c[middle];
        int64_t i = low, j = high;
        while (i <= j) {
            while (ranks_before(c[i], pivot))
                i++;
            while (ranks_before(pivot, c[j]))
                j--;
            if (i <= j)
                swap_candidates(&c[i++], &c[j--]);
        }
        if (k <= j + 1)
            high = j;
        else
            low = i;
    }
}

/* A number in [0, 1) that differs from variable to variable and from round to round. */
static double hashed_uniform(int64_t t, int64_t round) {
    uint64_t x = (uint64_t)t + 0x9e3779b97f4a7c15u * (uint64_t)(round + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)(x >> 11) * 0x1p-53;
}

/* Variables that violate by more than half of the worst are equally good: a random choice of them covers the data,
   while the very worst are often neighbours that one step would put right together. */
static mc_violator make_candidate(const mc_selection *s, int64_t t, double share) {
    return (mc_violator){share > 0.5 ? 1 + hashed_uniform(t, s->round) : share, t};
}

/* The variables on one side that violate and are not yet chosen. */
static int64_t gather_violators(mc_selection *s, const mc_dual *dual, const double *beta, const double *f,
                                const mc_extremes *e, bool up) {
    int64_t count = 0;
    for (int64_t t = 0; t < dual->m; t++) {
        if (s->chosen[t] || (up ? beta[t] >= dual->high[t] : beta[t] <= dual->low[t]))
            continue;
        const int g = mc_dual_group(dual, t);
        const double v = mc_dual_slope(dual, f, t), score = up ? v - e->bottom[g] : e->top[g] - v;
        const double worst = e->top[g] - e->bottom[g];
        if (score > 0)
            s->candidate[count++] = make_candidate(s, t, score / worst);
    }
    return count;
}

/* The first of so many candidates. */
static void take_first(mc_selection *s, int64_t found, int64_t places) {
    const int64_t count = found < places ? found : places;
    select_first(s->candidate, found, count);
    for (int64_t k = 0; k < count; k++)
        mc_selection_take(s, s->candidate[k].id);
}

/* Variables of the last set (the first last places of candidate) free, up to a set of size places. */
static void keep_free(mc_selection *s, const mc_dual *dual, const double *beta, int64_t last, int64_t places) {
    for (int64_t k = 0; k < last && s->count < places; k++) {
        const int64_t t = s->candidate[k].id;
        if (beta[t] > dual->low[t] && beta[t] < dual->high[t])
            mc_selection_take(s, t);
    }
}

int64_t mc_selection_renew(mc_selection *s) {
    const int64_t last = s->count;
    s->round++;
    for (int64_t k = 0; k < last; k++) {
        s->candidate[k].id = s->set[k];
        s->chosen[s->set[k]] = 0;
    }
    s->count = 0;
    return last;
}

void mc_selection_worst(mc_selection *s, const double *share, int64_t m, int64_t places) {
    int64_t found = 0;
    for (int64_t t = 0; t < m; t++)
        if (share[t] > 0 && !s->chosen[t])
            s->candidate[found++] = make_candidate(s, t, share[t]);
    take_first(s, found, places);
}

void mc_selection_next(mc_selection *s, const mc_dual *dual, const double *beta, const double *f,
                       const mc_extremes *e) {
    const int64_t last = mc_selection_renew(s);
    for (int g = 0; g < 2; g++)
        if (e->top[g] > e->bottom[g]) {
            mc_selection_take(s, e->top_at[g]);
            mc_selection_take(s, e->bottom_at[g]);
        }
    keep_free(s, dual, beta, last, s->q / 2);
    take_first(s, gather_violators(s, dual, beta, f, e, true), (s->q - s->count) / 2);
    take_first(s, gather_violators(s, dual, beta, f, e, false), s->q - s->count);
}
