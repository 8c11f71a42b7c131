/* loss_body.c: the bodies of loss_body.h for one instruction set; compiled once per set with ISA_TABLE naming the
   table. Rows of many classes are turned so that a vector holds one class of LANES rows. */
#include "backend/loss_body.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline, unused))
#define BITS 64
#define F(name) name##_f64
#include ISA_HEADER
#include "backend/cpu/math.inc.c"

static const double LOG2_E = 1.44269504088896340736, LN_2 = 0.693147180559945309417;

/* ---- Vectors of rows ---- */

INLINE double sum_of(V v) {
    double lanes[LANES];
    F(store_vector)(lanes, v);
    return F(sum_lanes)(lanes);
}

/* p[i], ..., as many as there are, and then this. */
INLINE V load_some(const double *p, int64_t count, double beyond) {
    if (count >= LANES)
        return F(load_vector)(p);
    double lanes[LANES];
    for (int64_t q = 0; q < LANES; q++)
        lanes[q] = q < count ? p[q] : beyond;
    return F(load_vector)(lanes);
}

INLINE void store_some(double *p, int64_t count, V v) {
    if (count >= LANES) {
        F(store_vector)(p, v);
        return;
    }
    double lanes[LANES];
    F(store_vector)(lanes, v);
    for (int64_t q = 0; q < count; q++)
        p[q] = lanes[q];
}

/* e^x of x <= 0. */
INLINE V exp_below_0(V x) {
    return F(vexp2)(x * LOG2_E);
}

/* ln(1 + q) of q >= 0. */
INLINE V log_from_1(V q) {
    return F(vlog2_from_1)(q) * LN_2;
}

/* q ln q, and (1 - q) ln(1 - q), of q in [0, 1]. */
INLINE V entropy_of(V q) {
    return q * F(vlog2)(F(vmax)(F(broadcast_scalar)(DBL_MIN), q)) * LN_2;
}

INLINE V entropy_of_rest(V q) {
    const V rest = 1 - q, term = rest * (F(vlog2_from_1)(-q) * LN_2);
    return F(select_if_positive)(rest, term, (V){0});
}

/* ---- Two classes ---- */

INLINE V argument_at(const mc_loss_rows *r, int64_t i, int64_t count) {
    const V f = load_some(r->f + i, count, 0) + r->b[0];
    return r->shift ? f + load_some(r->shift + i, count, 0) : f;
}

static double logistic_sum(const mc_loss_rows *r) {
    long double all = 0;
    for (int64_t from = 0; from < r->n; from += MC_LOSS_BLOCK) {
        const int64_t end = from + MC_LOSS_BLOCK < r->n ? from + MC_LOSS_BLOCK : r->n;
        V sum = {0};
        for (int64_t i = from; i < end; i += LANES) {
            const V z = load_some(r->y + i, end - i, 1) * argument_at(r, i, end - i);
            const V loss = log_from_1(exp_below_0(-F(vabs)(z))) + F(vmax)((V){0}, -z);
            sum += load_some(r->cost + i, end - i, 0) * loss;
        }
        all += sum_of(sum);
    }
    return (double)all;
}

static void logistic_slopes(const mc_loss_rows *r, double *g, double *root) {
    for (int64_t i = 0; i < r->n; i += LANES) {
        const int64_t count = r->n - i;
        const V y = load_some(r->y + i, count, 1), cost = load_some(r->cost + i, count, 0);
        const V f = argument_at(r, i, count), e = exp_below_0(-F(vabs)(f)), more = F(vreciprocal)(1 + e);
        const V less = e * more;
        store_some(g + i, count, -cost * y * F(select_if_positive)(y * f, less, more));
        if (root)
            store_some(root + i, count, F(vsqrt)(cost * (less * more)));
    }
}

static double logistic_conjugate(const mc_loss_dual *d) {
    long double all = 0;
    for (int64_t from = 0; from < d->n; from += MC_LOSS_BLOCK) {
        const int64_t end = from + MC_LOSS_BLOCK < d->n ? from + MC_LOSS_BLOCK : d->n;
        V sum = {0};
        for (int64_t i = from; i < end; i += LANES) {
            const V cost = load_some(d->cost + i, end - i, 1), y = load_some(d->y + i, end - i, 1);
            const V q = y * (d->lambda * load_some(d->alpha + i, end - i, 0) / cost);
            sum += cost * (entropy_of(q) + entropy_of_rest(q));
        }
        all += sum_of(sum);
    }
    return (double)all;
}

/* ---- Many classes ---- */

/* Some rows from i on, side by side: entry j * LANES + q is column j of row i + q. */
INLINE int64_t turn_rows(int64_t n, int64_t k, const double *rows, int64_t i, double *turned) {
    const int64_t count = n - i < LANES ? n - i : LANES;
    for (int64_t q = 0; q < LANES; q++)
        for (int64_t j = 0; j < k; j++)
            turned[j * LANES + q] = q < count ? rows[(i + q) * k + j] : 0;
    return count;
}

INLINE void turn_back(int64_t k, int64_t count, const double *turned, double *rows) {
    for (int64_t q = 0; q < count; q++)
        for (int64_t j = 0; j < k; j++)
            rows[q * k + j] = turned[j * LANES + q];
}

/* F of some rows, and the largest of each. */
INLINE V turn_arguments(const mc_loss_rows *r, int64_t i, double *at, int64_t *count) {
    double shift[MC_LOSS_CLASSES * LANES];
    V most = F(broadcast_scalar)(-INFINITY);
    *count = turn_rows(r->n, r->k, r->f, i, at);
    if (r->shift)
        turn_rows(r->n, r->k, r->shift, i, shift);
    for (int64_t j = 0; j < r->k; j++) {
        V v = F(load_vector)(at + j * LANES) + r->b[j];
        v = r->shift ? v + F(load_vector)(shift + j * LANES) : v;
        F(store_vector)(at + j * LANES, v);
        most = F(vmax)(v, most);
    }
    return most;
}

/* The exponentials of what the others are below the largest, summed up, those equal to it as 1 but for one: ln(1 +
   that) has all digits of a row that is well told apart. share, where asked for: all of them. */
INLINE V sum_of_others(int64_t k, const double *at, V most, double *share) {
    V sum = {0}, equal = {0};
    for (int64_t j = 0; j < k; j++) {
        const V below = F(load_vector)(at + j * LANES) - most, e = exp_below_0(below);
        sum += F(select_if_positive)(-below, e, (V){0});
        equal += F(select_if_positive)(-below, (V){0}, F(broadcast_scalar)(1) + below); /* NaN stays */
        if (share)
            F(store_vector)(share + j * LANES, e);
    }
    return sum + (equal - 1);
}

static double softmax_sum(const mc_loss_rows *r) {
    double at[MC_LOSS_CLASSES * LANES], own[LANES];
    long double all = 0;
    for (int64_t from = 0; from < r->n; from += MC_LOSS_BLOCK) {
        const int64_t end = from + MC_LOSS_BLOCK < r->n ? from + MC_LOSS_BLOCK : r->n;
        V sum = {0};
        for (int64_t i = from, count; i < end; i += LANES) {
            const V most = turn_arguments(r, i, at, &count);
            for (int64_t q = 0; q < LANES; q++)
                own[q] = q < count ? at[(int64_t)r->y[i + q] * LANES + q] : 0;
            const V loss = log_from_1(sum_of_others(r->k, at, most, NULL)) + (most - F(load_vector)(own));
            sum += load_some(r->cost + i, end - i, 0) * loss;
        }
        all += sum_of(sum);
    }
    return (double)all;
}

/* g of the own class is what the others have, rather than p - 1, which loses digits where p is close to 1. */
static void softmax_slopes(const mc_loss_rows *r, double *g, double *root) {
    double at[MC_LOSS_CLASSES * LANES], mass[MC_LOSS_CLASSES * LANES];
    for (int64_t i = 0, count; i < r->n; i += LANES) {
        const V most = turn_arguments(r, i, at, &count), y = load_some(r->y + i, r->n - i, 0);
        const V scale = load_some(r->cost + i, r->n - i, 0) * F(vreciprocal)(1 + sum_of_others(r->k, at, most, mass));
        V others = {0};
        for (int64_t j = 0; j < r->k; j++) {
            const V m = scale * F(load_vector)(mass + j * LANES), away = F(vabs)(y - (double)j);
            others += F(select_if_positive)(away, m, (V){0});
            F(store_vector)(mass + j * LANES, m);
        }
        for (int64_t j = 0; j < r->k && root; j++)
            F(store_vector)(at + j * LANES, F(vsqrt)(F(load_vector)(mass + j * LANES)));
        turn_back(r->k, count, mass, g + i * r->k);
        if (root)
            turn_back(r->k, count, at, root + i * r->k);
        double sums[LANES];
        F(store_vector)(sums, others);
        for (int64_t q = 0; q < count; q++)
            g[(i + q) * r->k + (int64_t)r->y[i + q]] = -sums[q];
    }
}

static double softmax_conjugate(const mc_loss_dual *d) {
    double at[MC_LOSS_CLASSES * LANES], own[LANES];
    long double all = 0;
    for (int64_t from = 0; from < d->n; from += MC_LOSS_BLOCK) {
        const int64_t end = from + MC_LOSS_BLOCK < d->n ? from + MC_LOSS_BLOCK : d->n;
        V sum = {0};
        for (int64_t i = from; i < end; i += LANES) {
            const V cost = load_some(d->cost + i, end - i, 1), unit = d->lambda / cost;
            const int64_t count = turn_rows(d->n, d->k, d->alpha, i, at);
            for (int64_t q = 0; q < LANES; q++)
                own[q] = q < count ? at[(int64_t)d->y[i + q] * LANES + q] : 0;
            V entropy = entropy_of_rest(F(load_vector)(own) * unit);
            for (int64_t j = 0; j < d->k; j++) /* of the own class, whose coefficient is positive, nothing */
                entropy += entropy_of(F(vmax)((V){0}, -F(load_vector)(at + j * LANES) * unit));
            sum += cost * entropy;
        }
        all += sum_of(sum);
    }
    return (double)all;
}

const mc_loss_body ISA_TABLE = {logistic_sum, logistic_slopes, logistic_conjugate,
                                softmax_sum,  softmax_slopes,  softmax_conjugate};
