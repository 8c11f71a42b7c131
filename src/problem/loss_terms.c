/* loss_terms.c: a loss on many rows: sums, slopes and roots of curvatures at F = f + b.

   Softmax: with p_i = exp(F_i) / sum exp(F_i), slope p_i - e_y, second derivative diag(p) - p p' = L L' / c, where L =
   sqrt(c) diag(sqrt p) (I - sqrt p sqrt p'), since |sqrt p| = 1; the conjugate is sum_k q_k log q_k for q = v + e_y in
   the simplex. */
#include "problem/loss.h"
#include "backend/loss_body.h"
#include <math.h>
#include <string.h>

/* ---- In vectors ---- */

const mc_loss_body *mc_loss_body_of(const mc_loss_task *t) {
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
    const mc_loss_body *body = mc_loss_body_of(t);
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
    const mc_loss_body *body = mc_loss_body_of(t);
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
