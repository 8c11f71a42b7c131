/* loss_terms.c: a loss on many rows. The primal side: sums, slopes and roots of curvatures at F = f + b. The dual side:
   feasible coefficients and the sum of conjugates.

   Softmax: with p_i = exp(F_i) / sum exp(F_i), slope p_i - e_y, second derivative diag(p) - p p' = L L' / c, where L =
   sqrt(c) diag(sqrt p) (I - sqrt p sqrt p'), since |sqrt p| = 1; the conjugate is sum_k q_k log q_k for q = v + e_y in
   the simplex. */
#include "problem/loss.h"
#include <float.h>
#include <math.h>

enum { MENDS = 30 }; /* rounds of mending the sums of coefficients */

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
    long double sum = 0;
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

/* Slope and curvature of the logistic loss have their exponential in common; the bits are those of the two. */
static void look_logistic(const mc_loss_task *t, double *g, double *root) {
    for (int64_t i = 0; i < t->n; i++) {
        const double F = loss_argument(t, i, 0, t->f, t->b), z = t->y[i] * F, e = exp(-fabs(F));
        const double less = e / (1 + e), more = 1 / (1 + e);
        g[i] = t->cost[i] * (-t->y[i] * (z > 0 ? less : more));
        root[i] = sqrt(t->cost[i] * (less * more));
    }
}

void mc_loss_derivatives(const mc_loss_task *t, bool chord, double *g, double *root) {
    if (t->loss == &mc_losses[MC_LOGISTIC] && t->k == 1 && !chord) {
        look_logistic(t, g, root);
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

/* The null space of softmax, (1, ..., 1), is filled in; a right-hand side has nothing along it. */
void mc_loss_mean_set(const mc_loss_task *t, const double *root, mc_loss_mean *m) {
    const int64_t k = m->k = t->k;
    double trace = 0;
    m->n = t->n;
    m->root = root;
    for (int64_t j = 0; j < k * k; j++)
        m->C[j] = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const double *r = root + i * k;
        double square = 0;
        for (int64_t j = 0; j < k; j++)
            square += r[j] * r[j];
        for (int64_t j = 0; j < k && square > 0; j++)
            for (int64_t l = 0; l < j; l++) { /* sum over pairs of (e_j - e_l)(e_j - e_l)' p_j p_l: no subtraction */
                const double pair = r[j] * r[j] * (r[l] * r[l] / square);
                m->C[j * k + j] += pair;
                m->C[l * k + l] += pair;
                m->C[j * k + l] -= pair;
            }
        if (k == 1)
            m->C[0] += square;
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

/* ---- The dual side: one column ---- */

static double clip_to_domain(const mc_loss_task *t, int64_t i, double alpha) {
    double low, high;
    const double unit = t->lambda / t->cost[i];
    t->loss->domain(t, t->y[i], &low, &high);
    return alpha * unit < -high ? -high / unit : alpha * unit > -low ? -low / unit : alpha;
}

static double sum_of(const mc_loss_task *t, const double *alpha) {
    long double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += alpha[i];
    return (double)sum;
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
    double most = 0, size = DBL_MIN;
    for (int64_t j = 0; j < t->k; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < t->n; i++) {
            sum += alpha[i * t->k + j];
            size += fabs(alpha[i * t->k + j]);
        }
        most = fmax(most, fabs((double)sum));
    }
    return most / size;
}

/* The sums are taken off along W(q): q_j <- q_j (1 + u_j - q'u) with C(q) u = lambda times the sums, which leaves rows
   in their simplex and mends all columns at once, where no share turns negative. */
static void mend_columns_once(const mc_loss_task *t, mc_loss_mean *m, double *root, double *alpha) {
    double *u = m->scratch;
    const int64_t k = t->k;
    for (int64_t i = 0; i < t->n * k; i++)
        root[i] = sqrt(t->cost[i / k] * fmax(0, implied_probability(t, i / k, i % k, alpha[i])));
    mc_loss_mean_set(t, root, m);
    for (int64_t j = 0; j < k; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < t->n; i++)
            sum += alpha[i * k + j];
        u[j] = (double)(t->lambda * sum);
    }
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

bool mc_loss_is_feasible(const mc_loss_task *t, const double *alpha) {
    double worst = 0, size = DBL_MIN;
    for (int64_t i = 0; i < t->n * t->k; i++) {
        const double c =
            t->k > 1 ? fmax(0, -implied_probability(t, i / t->k, i % t->k, alpha[i])) * t->cost[i / t->k] / t->lambda
                     : fabs(clip_to_domain(t, i, alpha[i]) - alpha[i]);
        worst = fmax(worst, c);
        size = fmax(size, fabs(alpha[i]));
    }
    return worst <= 1e-12 * size && (!t->intercept || columns_off(t, alpha) <= 1e-12);
}

double mc_loss_conjugate(const mc_loss_task *t, const double *alpha) {
    long double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += (long double)t->cost[i]
               * (t->k > 1 ? negative_entropy(t, i, alpha + i * t->k)
                           : t->loss->conjugate(t, t->y[i], -t->lambda * alpha[i] / t->cost[i]));
    return (double)sum;
}
