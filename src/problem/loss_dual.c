/* loss_dual.c: the dual side of a loss on many rows: coefficients that are feasible, and their conjugates. */
#include "problem/loss.h"
#include "backend/loss_body.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MENDS = 30, STRIP = 32, LANES = 8 }; /* rounds of mending the sums of coefficients; columns at once */

/* ---- Sums of coefficients ---- */

/* sum <- the sums of some columns, as good as in twice the digits: what an addition rounds off is kept beside it. */
static void sum_columns(int64_t n, int64_t k, int64_t width, const double *alpha, double *restrict sum) {
    double lost[STRIP] = {0};
    memset(sum, 0, (size_t)width * sizeof *sum);
    for (int64_t i = 0; i < n; i++, alpha += k)
        for (int64_t j = 0; j < width; j++) {
            const double s = sum[j] + alpha[j], part = s - sum[j];
            lost[j] += (sum[j] - (s - part)) + (alpha[j] - part);
            sum[j] = s;
        }
    for (int64_t j = 0; j < width; j++)
        sum[j] += lost[j];
}

static int64_t strip_at(int64_t k, int64_t j) {
    return k - j < STRIP ? k - j : STRIP;
}

static double size_of(int64_t count, const double *v) {
    double lane[LANES] = {0}, size = DBL_MIN;
    for (int64_t i = 0; i < count / LANES * LANES; i += LANES)
        for (int q = 0; q < LANES; q++)
            lane[q] += fabs(v[i + q]);
    for (int64_t i = count / LANES * LANES; i < count; i++)
        size += fabs(v[i]);
    for (int q = 0; q < LANES; q++)
        size += lane[q];
    return size;
}

/* ---- The dual side: one column ---- */

static double clip_to_domain(const mc_loss_task *t, int64_t i, double alpha) {
    double low, high;
    const double unit = t->lambda / t->cost[i];
    t->loss->domain(t, t->y[i], &low, &high);
    return alpha * unit < -high ? -high / unit : alpha * unit > -low ? -low / unit : alpha;
}

static double sum_of(const mc_loss_task *t, const double *alpha) {
    double sum;
    sum_columns(t->n, 1, 1, alpha, &sum);
    return sum;
}

/* How far alpha_i can go in a direction; where there is no end, no further than is reasonable. */
static double distance_to_domain_end(const mc_loss_task *t, int64_t i, double alpha, double direction, double typical) {
    double low, high;
    const double unit = t->cost[i] / t->lambda;
    t->loss->domain(t, t->y[i], &low, &high);
    return fmin(direction > 0 ? -low * unit - alpha : alpha + high * unit, fabs(alpha) + typical);
}

/* The sum is taken off in proportion to the curvatures, which costs the dual least, then to the room there is, which
   always ends. */
static bool mend_sum(const mc_loss_task *t, const double *root, double *alpha) {
    double size = 0;
    for (int64_t i = 0; i < t->n; i++)
        size += fabs(alpha[i]);
    for (int round = 0; round < MENDS; round++) {
        const double off = sum_of(t, alpha), typical = size / (double)t->n;
        if (fabs(off) <= 4 * DBL_EPSILON * size)
            return true;
        const bool curved = root && round < MENDS / 2;
        double total = 0;
        for (int64_t i = 0; i < t->n; i++)
            total += curved ? root[i] * root[i] : distance_to_domain_end(t, i, alpha[i], -off, typical);
        for (int64_t i = 0; i < t->n && total > 0; i++) {
            const double share =
                (curved ? root[i] * root[i] : distance_to_domain_end(t, i, alpha[i], -off, typical)) / total;
            alpha[i] = clip_to_domain(t, i, alpha[i] - off * share);
        }
    }
    return fabs(sum_of(t, alpha)) <= 1e-13 * size;
}

/* ---- The dual side: softmax ---- */

static double implied_probability(const mc_loss_task *t, int64_t i, int64_t j, double alpha) {
    return ((int64_t)t->y[i] == j) - t->lambda * alpha / t->cost[i];
}

/* q_i = e_y - lambda alpha_i / c_i, held in the simplex: alpha_ij <= 0 for the other classes, and what they have below
   zero, at most c/lambda, is what the own class has above. */
static void hold_shares(const mc_loss_task *t, double *alpha) {
    for (int64_t i = 0; i < t->n; i++) {
        const int64_t own = (int64_t)t->y[i];
        const double most = t->cost[i] / t->lambda;
        double *row = alpha + i * t->k, sum = 0;
        for (int64_t j = 0; j < t->k; j++)
            sum -= j == own ? 0 : (row[j] = fmin(0, row[j]));
        const double factor = sum > most ? most / sum : 1;
        row[own] = 0;
        for (int64_t j = 0; j < t->k; j++)
            if (j != own)
                row[own] -= row[j] *= factor;
    }
}

/* Columns whose sums are off, largest share of the whole. */
static double columns_off(const mc_loss_task *t, const double *alpha) {
    double most = 0, sum[STRIP];
    for (int64_t from = 0; from < t->k; from += STRIP) {
        sum_columns(t->n, t->k, strip_at(t->k, from), alpha + from, sum);
        for (int64_t j = 0; j < strip_at(t->k, from); j++)
            most = fmax(most, fabs(sum[j]));
    }
    return most / size_of(t->n * t->k, alpha);
}

/* The sums are taken off along W(q): q_j <- q_j (1 + u_j - q'u) with C(q) u = lambda times the sums, which leaves rows
   in their simplex and mends all columns at once, where no share turns negative. */
static void mend_columns_once(const mc_loss_task *t, mc_loss_mean *m, double *root, double *alpha) {
    double *u = m->scratch;
    const int64_t k = t->k;
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < k; j++)
            root[i * k + j] = sqrt(t->cost[i] * fmax(0, implied_probability(t, i, j, alpha[i * k + j])));
    mc_loss_mean_set(t, root, m);
    for (int64_t from = 0; from < k; from += STRIP)
        sum_columns(t->n, k, strip_at(k, from), alpha + from, u + from);
    for (int64_t j = 0; j < k; j++)
        u[j] *= t->lambda;
    mc_loss_mean_solve(m, u);
    for (int64_t i = 0; i < t->n; i++) {
        double mean = 0;
        for (int64_t j = 0; j < k; j++)
            mean += root[i * k + j] * root[i * k + j] / t->cost[i] * u[j];
        for (int64_t j = 0; j < k; j++)
            alpha[i * k + j] -= root[i * k + j] * root[i * k + j] / t->lambda * fmax(-1, u[j] - mean);
    }
}

static bool mend_columns(const mc_loss_task *t, mc_loss_mean *m, double *root, double *alpha) {
    for (int round = 0; round < MENDS; round++) {
        if (columns_off(t, alpha) <= 4 * DBL_EPSILON)
            return true;
        mend_columns_once(t, m, root, alpha);
        hold_shares(t, alpha);
    }
    return columns_off(t, alpha) <= 1e-13;
}

/* ---- Both ---- */

bool mc_loss_feasible(const mc_loss_task *t, const double *root, mc_loss_mean *m, double *scratch, double *alpha) {
    if (t->k > 1) {
        hold_shares(t, alpha);
        return !t->intercept || mend_columns(t, m, scratch, alpha);
    }
    for (int64_t i = 0; i < t->n; i++)
        alpha[i] = clip_to_domain(t, i, alpha[i]);
    return !t->intercept || mend_sum(t, root, alpha);
}

static double negative_entropy(const mc_loss_task *t, int64_t i, const double *alpha) {
    double sum = 0;
    for (int64_t j = 0; j < t->k; j++) {
        const double less = t->lambda * alpha[j] / t->cost[i];
        if ((int64_t)t->y[i] == j)
            sum += less < 1 ? (1 - less) * log1p(-less) : 0;
        else
            sum += less < 0 ? -less * log(-less) : 0;
    }
    return sum;
}

/* By how much a coefficient of row i lies outside of what its loss has room for. */
static double excess_of_row(const mc_loss_task *t, int64_t i, const double *alpha) {
    const int64_t own = t->k > 1 ? (int64_t)t->y[i] : 0;
    double worst = 0;
    if (t->k == 1)
        return fabs(clip_to_domain(t, i, alpha[0]) - alpha[0]);
    for (int64_t j = 0; j < t->k; j++)
        worst = fmax(worst, j == own ? alpha[j] - t->cost[i] / t->lambda : alpha[j]);
    return worst;
}

bool mc_loss_is_feasible(const mc_loss_task *t, const double *alpha) {
    double worst = 0, size = DBL_MIN;
    for (int64_t i = 0; i < t->n; i++)
        worst = fmax(worst, excess_of_row(t, i, alpha + i * t->k));
    for (int64_t i = 0; i < t->n * t->k; i++)
        size = fmax(size, fabs(alpha[i]));
    return worst <= 1e-12 * size && (!t->intercept || columns_off(t, alpha) <= 1e-12);
}

double mc_loss_conjugate(const mc_loss_task *t, const double *alpha) {
    const mc_loss_body *body = mc_loss_body_of(t);
    const mc_loss_dual dual = {t->n, t->k, alpha, t->y, t->cost, t->lambda};
    long double sum = 0;
    if (body)
        return (t->k > 1 ? body->softmax_conjugate : body->logistic_conjugate)(&dual);
    for (int64_t i = 0; i < t->n; i++)
        sum += (long double)t->cost[i]
               * (t->k > 1 ? negative_entropy(t, i, alpha + i * t->k)
                           : t->loss->conjugate(t, t->y[i], -t->lambda * alpha[i] / t->cost[i]));
    return (double)sum;
}
