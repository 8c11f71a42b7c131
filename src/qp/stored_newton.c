/* stored_newton.c: see stored_newton.h. With F the free variables, v their slopes and E the columns of ones of the
   groups,

       K_FF d + E nu = v,   E'd = 0

   by one factor U'U of K_FF. The step is cut at the first bound it meets. The variable that meets it leaves: what is
   then left of v is its share of before, but for multiples of E, which nu takes, so that K need not be read again; and
   the factor without row p of U is that of what lies below with u_p'u_p added, one rotation a row (Gill, Golub, Murray
   and Saunders 1974). */
#include "qp/stored_newton.h"
#include "backend/dispatch_qp.h"
#include "qp/smo_select.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    FEW = 32,   /* free variables for which a step costs nothing worth counting */
    MOST = 512, /* and for which there is room */
    PARTS = 8   /* of a sum */
};
static const double SINGULAR = 1e-12; /* of the diagonal: what is left of it in the factor */

typedef struct free_set {
    const mc_dual *dual;
    const mc_kernel_runs *K;
    int64_t count, *variable, *row;
    int *run, *group;
    bool *still;                    /* left, or its row a sum of earlier ones: as it is */
    const void **U;                 /* U[i][j], j >= i */
    double *slope, *change;         /* v; what is done to beta */
    double *rest, *d, *x, *c, *top; /* what is left of v; the step; scratch; bounds beyond are closed */
    double *ones[MC_SMO_RUNS];      /* K_FF^-1 E */
} free_set;

/* ---- Room ---- */

static int64_t most_free(int64_t m) {
    return m < MOST ? m : MOST;
}

static void lay_out_free_set(mc_work *work, int64_t m, free_set *s, double **factor, double **next) {
    const int64_t most = most_free(m);
    double **reals[] = {&s->slope, &s->change, &s->rest, &s->d, &s->x, &s->c, &s->ones[0], &s->ones[1]};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        *reals[i] = mc_work_take(work, most, sizeof(double));
    s->variable = mc_work_take(work, most, sizeof *s->variable);
    s->row = mc_work_take(work, most, sizeof *s->row);
    s->run = mc_work_take(work, most, sizeof *s->run);
    s->group = mc_work_take(work, most, sizeof *s->group);
    s->still = mc_work_take(work, most, sizeof *s->still);
    s->U = mc_work_take(work, most, sizeof *s->U);
    *factor = mc_work_take(work, most * (most + 1) / 2, sizeof(double));
    *next = mc_work_take(work, m, sizeof(double));
}

size_t mc_stored_newton_bytes(int64_t m) {
    mc_work counted = {0};
    double *factor, *next;
    lay_out_free_set(&counted, m, &(free_set){0}, &factor, &next);
    return counted.used;
}

/* ---- Who ---- */

static bool is_free(const mc_dual *dual, const double *beta, int64_t t) {
    return beta[t] > dual->low[t] && beta[t] < dual->high[t];
}

int64_t mc_count_free(const mc_dual *dual, const double *beta) {
    int64_t count = 0;
    for (int64_t t = 0; t < dual->m; t++)
        count += is_free(dual, beta, t);
    return count;
}

/* In nanoseconds or so: a step on a pair passes over m variables twice; the factor, and a few passes over it for each
   variable that leaves. */
bool mc_stored_newton_pays(int64_t free, int64_t m, int64_t steps) {
    const double n = (double)free, pair = 100 + 2 * (double)m;
    const double newton = n * n * n / 12 + 10 * n * n + n * (double)m / 2;
    return free > 1 && free <= most_free(m) && (free <= FEW || newton < (double)steps * pair);
}

static void list_free(const double *beta, const double *f, free_set *s) {
    int64_t t = 0;
    for (int r = 0; r < s->K->runs; r++)
        for (int64_t k = 0; k < s->K->count[r]; k++, t++)
            if (is_free(s->dual, beta, t)) {
                const int64_t a = s->count++;
                s->variable[a] = t;
                s->run[a] = r;
                s->group[a] = mc_dual_group(s->dual, t);
                s->row[a] = s->K->first[r] + k;
                s->still[a] = false;
                s->slope[a] = s->rest[a] = mc_dual_slope(s->dual, f, t);
                s->change[a] = 0;
            }
}

/* ---- The factor ---- */

static double *row_of_factor(const free_set *s, int64_t i) {
    return (double *)s->U[i];
}

static void place_rows_of_factor(double *factor, free_set *s) {
    for (int64_t i = 0; i < s->count; i++, factor += s->count - i + 1)
        s->U[i] = factor - i;
}

/* As if its row and column of K were those of the unit matrix; its step is then 0, as what is asked of it. */
static void leave_alone(int64_t p, free_set *s) {
    double *u = row_of_factor(s, p);
    s->still[p] = true;
    s->rest[p] = 0;
    for (int64_t k = 0; k < p; k++)
        row_of_factor(s, k)[p] = 0;
    memset(u + p, 0, (size_t)(s->count - p) * sizeof *u);
    u[p] = 1;
}

static void gather_row(int64_t i, const free_set *s) {
    const double *K[MC_SMO_RUNS] = {NULL};
    double *u = row_of_factor(s, i);
    for (int r = 0; r < s->K->runs; r++)
        K[r] = mc_kernel_runs_row(s->K, s->row[i], r);
    for (int64_t j = i; j < s->count; j++)
        u[j] = K[s->run[j]][s->row[j] - s->K->first[s->run[j]]];
}

static void factor_free(free_set *s) {
    const mc_smo_body *body = &mc_qp_bodies_of(s->K->isa)->smo[MERCER_F64];
    for (int64_t i = 0; i < s->count; i++) {
        double *u = row_of_factor(s, i);
        gather_row(i, s);
        for (int64_t k = 0; k < i; k++)
            s->c[k] = -row_of_factor(s, k)[i];
        const double whole = u[i];
        body->accumulate(s->U, s->c, i, i, s->count, u);
        if (!(u[i] > SINGULAR * whole)) {
            leave_alone(i, s);
            continue;
        }
        const double scale = 1 / sqrt(u[i]);
        for (int64_t j = i; j < s->count; j++)
            u[j] *= scale;
    }
}

/* The factor of K_FF without p. */
static void drop_from_factor(int64_t p, free_set *s) {
    const int64_t n = s->count;
    double *x = s->x;
    memcpy(x + p, row_of_factor(s, p) + p, (size_t)(n - p) * sizeof *x);
    for (int64_t k = p + 1; k < n; k++) {
        if (x[k] == 0)
            continue;
        double *u = row_of_factor(s, k);
        const double length = hypot(u[k], x[k]), cosine = u[k] / length, sine = x[k] / length;
        for (int64_t j = k; j < n; j++) {
            const double a = u[j], b = x[j];
            u[j] = cosine * a + sine * b;
            x[j] = cosine * b - sine * a;
        }
    }
    leave_alone(p, s);
}

static double dot_product(const double *a, const double *b, int64_t begin, int64_t end) {
    double part[PARTS] = {0}, sum = 0;
    int64_t j = begin;
    for (; j + PARTS <= end; j += PARTS)
        for (int l = 0; l < PARTS; l++)
            part[l] += a[j + l] * b[j + l];
    for (; j < end; j++)
        sum += a[j] * b[j];
    for (int l = 0; l < PARTS; l++)
        sum += part[l];
    return sum;
}

static void solve_with_factor(const free_set *s, double *x) {
    const int64_t n = s->count;
    for (int64_t i = 0; i < n; i++) {
        const double *u = row_of_factor(s, i), xi = x[i] /= u[i];
        for (int64_t j = i + 1; j < n && xi != 0; j++)
            x[j] -= xi * u[j];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        const double *u = row_of_factor(s, i);
        x[i] = (x[i] - dot_product(u, x, i + 1, n)) / u[i];
    }
}

/* ---- The step ---- */

static double sum_of_group(const free_set *s, int g, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < s->count; i++)
        sum += s->group[i] == g ? x[i] : 0;
    return sum;
}

/* d <- d - sum over groups of nu_g K^-1 1_g, so that it keeps the sums. */
static bool keep_sums(int groups, free_set *s) {
    double M[MC_SMO_RUNS][MC_SMO_RUNS] = {{1, 0}, {0, 1}}, b[MC_SMO_RUNS] = {0};
    for (int g = 0; g < groups; g++) {
        b[g] = sum_of_group(s, g, s->d);
        for (int h = 0; h < groups; h++)
            M[g][h] = sum_of_group(s, g, s->ones[h]);
        if (!(M[g][g] > 0)) /* no free variable has this sum */
            M[g][g] = 1;
    }
    const double det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    const double nu[] = {(b[0] * M[1][1] - b[1] * M[0][1]) / det, (b[1] * M[0][0] - b[0] * M[1][0]) / det};
    for (int64_t i = 0; i < s->count; i++)
        for (int g = 0; g < groups; g++)
            s->d[i] -= nu[g] * s->ones[g][i];
    return isfinite(nu[0]) && isfinite(nu[1]);
}

static bool find_direction(free_set *s) {
    const int groups = s->dual->group ? s->K->runs : 1;
    for (int64_t i = 0; i < s->count; i++) {
        s->d[i] = s->rest[i];
        for (int g = 0; g < groups; g++)
            s->ones[g][i] = !s->still[i] && s->group[i] == g;
    }
    solve_with_factor(s, s->d);
    for (int g = 0; g < groups; g++)
        solve_with_factor(s, s->ones[g]);
    return keep_sums(groups, s);
}

/* The way that free variable i has to the bound it goes towards. */
static double distance_to_bound(const free_set *s, const double *beta, int64_t i) {
    const int64_t t = s->variable[i];
    return (s->d[i] > 0 ? s->dual->high[t] : s->dual->low[t]) - (beta[t] + s->change[i]);
}

/* As far along d as the first bound. Returns who meets it; -1: none. */
static int64_t take_direction(const double *beta, free_set *s) {
    double share = 1;
    int64_t first = -1;
    for (int64_t i = 0; i < s->count; i++) {
        const double way = distance_to_bound(s, beta, i);
        if (s->d[i] != 0 && way / s->d[i] < share) {
            share = fmax(way / s->d[i], 0);
            first = i;
        }
    }
    for (int64_t i = 0; i < s->count; i++) {
        s->change[i] += i == first ? distance_to_bound(s, beta, i) : share * s->d[i];
        s->rest[i] *= 1 - share;
    }
    return first;
}

/* Many that meet their bounds are found sooner by steps on pairs. */
static bool go_on_among_free(const double *beta, free_set *s) {
    for (int64_t drops = 8 + s->count / 8; drops >= 0; drops--) {
        if (!find_direction(s))
            return false;
        const int64_t first = take_direction(beta, s);
        if (first < 0)
            break;
        drop_from_factor(first, s);
    }
    return true;
}

/* Of a group, the free variable with the most room takes what rounding has left of the sum. False: more is left than it
   can take, as where K_FF has hardly a rank and the multipliers of the sums come from rounding. */
static bool round_sums(const double *beta, free_set *s) {
    for (int g = 0; g < (s->dual->group ? s->K->runs : 1); g++) {
        int64_t widest = -1;
        double room = 0, moved = 0;
        for (int64_t i = 0; i < s->count; i++) {
            const int64_t t = s->variable[i];
            moved += s->group[i] == g ? fabs(s->change[i]) : 0;
            const double to = beta[t] + s->change[i], own = fmin(s->dual->high[t] - to, to - s->dual->low[t]);
            if (s->group[i] == g && own > room) {
                widest = i;
                room = own;
            }
        }
        const double left = sum_of_group(s, g, s->change);
        if (widest >= 0 && fabs(left) < room)
            s->change[widest] -= left;
        else if (fabs(left) > 1e-12 * moved)
            return false;
    }
    return true;
}

/* ---- There, if it is worth being there ---- */

/* To where change leads, bounds met to the bit; change becomes what was done, and c what was there. */
static void move_variables(free_set *s, double *beta) {
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t t = s->variable[i];
        const double low = s->dual->low[t], high = s->dual->high[t], to = beta[t] + s->change[i];
        const double span = high - low, close = isfinite(span) ? 2 * DBL_EPSILON * span : 0;
        s->c[i] = beta[t];
        beta[t] = to <= low + close ? low : to >= high - close ? high : to;
        s->change[i] = beta[t] - s->c[i];
    }
}

static double change_of_objective(const free_set *s, const double *next) {
    double change = 0;
    for (int64_t i = 0; i < s->count; i++)
        change -= s->change[i] * (s->slope[i] + mc_dual_slope(s->dual, next, s->variable[i])) / 2;
    return change;
}

static bool keep_if_better(const free_set *s, double most, double *beta, double *f, double *next) {
    const int64_t rows = s->dual->row ? s->K->count[0] : s->dual->m;
    memcpy(next, f, (size_t)rows * sizeof *f);
    mc_kernel_runs_add(s->K, s->row, s->change, s->count, next);
    if (change_of_objective(s, next) <= 0 && mc_extremes_of(s->dual, beta, next).violation <= most) {
        memcpy(f, next, (size_t)rows * sizeof *f);
        return true;
    }
    for (int64_t i = 0; i < s->count; i++)
        beta[s->variable[i]] = s->c[i];
    return false;
}

bool mc_stored_newton_step(const mc_dual *dual, const mc_kernel_runs *K, double most, mc_work work, double *beta,
                           double *f) {
    free_set s = {.dual = dual, .K = K};
    double *factor, *next;
    lay_out_free_set(&work, dual->m, &s, &factor, &next);
    list_free(beta, f, &s);
    place_rows_of_factor(factor, &s);
    factor_free(&s);
    if (!go_on_among_free(beta, &s) || !round_sums(beta, &s))
        return false;
    move_variables(&s, beta);
    return keep_if_better(&s, most, beta, f, next);
}
