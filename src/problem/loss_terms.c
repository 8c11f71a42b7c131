/* loss_terms.c: a loss on many rows. The primal side: sums, slopes and roots of curvatures at F = f + b. The dual side:
   feasible coefficients and the sum of conjugates.

   Softmax: with p_i = exp(F_i) / sum exp(F_i), slope p_i - e_y, second derivative diag(p) - p p' = L L' / c, where L =
   sqrt(c) diag(sqrt p) (I - sqrt p sqrt p'), since |sqrt p| = 1; the conjugate is sum_k q_k log q_k for q = v + e_y in
   the simplex. */
#include "problem/loss.h"
#include "backend/loss_body.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MENDS = 30, STRIP = 32, LANES = 8 }; /* rounds of mending the sums of coefficients; columns at once */

/* ---- In vectors ---- */

/* NULL: row by row, below. */
static const mc_loss_body *body_of(const mc_loss_task *t) {
    return t->loss == &mc_losses[MC_LOGISTIC] && t->k <= MC_LOSS_CLASSES ? t->body : NULL;
}

static mc_loss_rows rows_of(const mc_loss_task *t, const double *f, const double *b) {
    return (mc_loss_rows){t->n, t->k, f, b, t->shift, t->y, t->cost};
}

/* ---- The primal side ---- */

/* What the loss of row i is taken at: f + b, shifted. */
static double loss_argument(const mc_loss_task *t, int64_t i, int64_t j, const double *f, const double *b) {
    const int64_t place = i * t->k + j;
    return f[place] + b[j] + (t->shift ? t->shift[place] : 0);
}

/* The largest of row i, and log sum exp less that: by log1p of the others, since the loss of a row that is well told
   apart is far below the rounding of 1. */
static double log_sum(const mc_loss_task *t, int64_t i, const double *f, const double *b, double *most) {
    int64_t top = 0;
    double others = 0;
    *most = loss_argument(t, i, 0, f, b);
    for (int64_t j = 1; j < t->k; j++)
        if (loss_argument(t, i, j, f, b) > *most)
            *most = loss_argument(t, i, top = j, f, b);
    for (int64_t j = 0; j < t->k; j++)
        others += j == top ? 0 : exp(loss_argument(t, i, j, f, b) - *most);
    return log1p(others);
}

static double softmax_value(const mc_loss_task *t, int64_t i, const double *f, const double *b) {
    double most;
    const double rest = log_sum(t, i, f, b, &most);
    return rest + (most - loss_argument(t, i, (int64_t)t->y[i], f, b));
}

double mc_loss_sum(const mc_loss_task *t, const double *f, const double *b) {
    const mc_loss_body *body = body_of(t);
    const mc_loss_rows rows = rows_of(t, f, b);
    long double sum = 0;
    if (body)
        return (t->k > 1 ? body->softmax_sum : body->logistic_sum)(&rows);
    for (int64_t i = 0; i < t->n; i++)
        sum += (long double)t->cost[i]
               * (t->k > 1 ? softmax_value(t, i, f, b) : t->loss->value(t, t->y[i], loss_argument(t, i, 0, f, b)));
    return (double)sum;
}

/* chord: roots of c/2 in every class, W = c/2 (I - 1 1'/k), which no second derivative exceeds (Boehning, 1992). */
static void look_softmax(const mc_loss_task *t, int64_t i, bool chord, double *g, double *root) {
    double most;
    const double rest = log_sum(t, i, t->f, t->b, &most);
    const int64_t own = (int64_t)t->y[i];
    g[own] = 0;
    for (int64_t j = 0; j < t->k; j++) {
        const double mass = t->cost[i] * exp(loss_argument(t, i, j, t->f, t->b) - most - rest);
        root[j] = sqrt(chord ? t->cost[i] / 2 : mass);
        g[j] = j == own ? g[j] : mass;
        g[own] -= j == own ? 0 : mass; /* rather than p - 1, which loses digits where p is close to 1 */
    }
}

void mc_loss_derivatives(const mc_loss_task *t, bool chord, double *g, double *root) {
    const mc_loss_body *body = body_of(t);
    const mc_loss_rows rows = rows_of(t, t->f, t->b);
    if (body && !chord) {
        (t->k > 1 ? body->softmax_slopes : body->logistic_slopes)(&rows, g, root);
        return;
    }
    for (int64_t i = 0; i < t->n; i++) {
        if (t->k > 1) {
            look_softmax(t, i, chord, g + i * t->k, root + i * t->k);
            continue;
        }
        const double F = loss_argument(t, i, 0, t->f, t->b);
        g[i] = t->cost[i] * t->loss->slope(t, t->y[i], F);
        root[i] = sqrt(t->cost[i] * (chord ? t->loss->chord(t, t->y[i], F) : t->loss->curvature(t, t->y[i], F)));
    }
}

/* v <- (I - q q') v, q = root / |root|. */
static void deflate_row(int64_t k, const double *root, double *v) {
    double square = 0, along = 0;
    for (int64_t j = 0; j < k; j++) {
        square += root[j] * root[j];
        along += root[j] * v[j];
    }
    for (int64_t j = 0; j < k && square > 0; j++)
        v[j] -= root[j] * (along / square);
}

void mc_loss_deflate(const mc_loss_task *t, const double *root, double *V) {
    for (int64_t i = 0; i < t->n && t->k > 1; i++)
        deflate_row(t->k, root + i * t->k, V + i * t->k);
}

void mc_loss_lower(const mc_loss_task *t, const double *root, double *V) {
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t j = i * t->k; j < (i + 1) * t->k; j++)
            V[j] *= root[j];
        if (t->k > 1)
            deflate_row(t->k, root + i * t->k, V + i * t->k);
    }
}

void mc_loss_raise(const mc_loss_task *t, const double *root, double *V) {
    for (int64_t i = 0; i < t->n; i++) {
        if (t->k > 1)
            deflate_row(t->k, root + i * t->k, V + i * t->k);
        for (int64_t j = i * t->k; j < (i + 1) * t->k; j++)
            V[j] *= root[j];
    }
}

/* ---- What the intercepts see ---- */

/* C -> its Cholesky factor, lower, row-major; pivots that vanish become infinite, so that nothing moves along them. */
static void factor_small(int64_t k, double *C) {
    double trace = 0;
    for (int64_t j = 0; j < k; j++)
        trace += C[j * k + j];
    for (int64_t j = 0; j < k; j++) {
        for (int64_t i = j; i < k; i++)
            for (int64_t l = 0; l < j; l++)
                C[i * k + j] -= C[i * k + l] * C[j * k + l];
        const double pivot = C[j * k + j] > 1e-14 * trace ? sqrt(C[j * k + j]) : INFINITY;
        for (int64_t i = j; i < k; i++)
            C[i * k + j] = i == j ? pivot : C[i * k + j] / pivot;
    }
}

void mc_loss_mean_solve(const mc_loss_mean *m, double *x) {
    const int64_t k = m->k;
    for (int64_t i = 0; i < k; i++) {
        for (int64_t l = 0; l < i; l++)
            x[i] -= m->C[i * k + l] * x[l];
        x[i] /= m->C[i * k + i];
    }
    for (int64_t i = k - 1; i >= 0; i--) {
        for (int64_t l = i + 1; l < k; l++)
            x[i] -= m->C[l * k + i] * x[l];
        x[i] /= m->C[i * k + i];
    }
}

/* C += what a row adds: the sum over pairs of (e_j - e_l)(e_j - e_l)' p_j p_l, so that nothing is subtracted; below the
   diagonal alone. share: scratch. */
static void add_pairs(int64_t k, const double *root, double *restrict share, double *restrict C) {
    double mass = 0;
    for (int64_t j = 0; j < k; j++)
        mass += share[j] = root[j] * root[j];
    const double scale = mass > 0 ? 1 / mass : 0;
    for (int64_t j = 1; j < k; j++) {
        const double own = share[j] * scale;
        for (int64_t l = 0; l < j; l++)
            C[j * k + l] -= own * share[l];
    }
    if (k == 1)
        C[0] += mass;
}

/* The null space of softmax, (1, ..., 1), is filled in; a right-hand side has nothing along it. */
void mc_loss_mean_set(const mc_loss_task *t, const double *root, mc_loss_mean *m) {
    const int64_t k = m->k = t->k;
    double trace = 0;
    m->n = t->n;
    m->root = root;
    memset(m->C, 0, (size_t)(k * k) * sizeof *m->C);
    for (int64_t i = 0; i < t->n; i++)
        add_pairs(k, root + i * k, m->scratch, m->C);
    for (int64_t j = 0; j < k; j++)
        for (int64_t l = 0; l < j; l++) {
            m->C[j * k + j] -= m->C[j * k + l];
            m->C[l * k + l] -= m->C[j * k + l];
        }
    for (int64_t j = 0; j < k; j++)
        trace += m->C[j * k + j];
    for (int64_t j = 0; k > 1 && j < k; j++)
        for (int64_t l = 0; l <= j; l++)
            m->C[j * k + l] += trace / (double)(k * k);
    m->flat = !(trace > 0);
    factor_small(k, m->C);
}

void mc_loss_mean_project(const mc_loss_mean *m, double *V) {
    const int64_t k = m->k;
    double *x = m->scratch, *v = x + k;
    for (int64_t j = 0; j < k; j++)
        x[j] = 0;
    for (int64_t i = 0; i < m->n; i++) {
        for (int64_t j = 0; j < k; j++)
            v[j] = V[i * k + j];
        if (k > 1)
            deflate_row(k, m->root + i * k, v);
        for (int64_t j = 0; j < k; j++)
            x[j] += m->root[i * k + j] * v[j];
    }
    mc_loss_mean_solve(m, x);
    for (int64_t i = 0; i < m->n && !m->flat; i++) {
        for (int64_t j = 0; j < k; j++)
            v[j] = m->root[i * k + j] * x[j];
        if (k > 1)
            deflate_row(k, m->root + i * k, v);
        for (int64_t j = 0; j < k; j++)
            V[i * k + j] -= v[j];
    }
}

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
    const mc_loss_body *body = body_of(t);
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
