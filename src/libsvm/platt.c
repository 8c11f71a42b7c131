/* platt.c: the two fits behind probabilities (probability.h), which know nothing of support vector machines. */
#include "libsvm/probability.h"
#include <math.h>

/* ---- A logistic function of decisions ---- */

/* log(1 + exp(-z)) - (1 - t) (-z) for z = A f + B written so that no exp overflows: the loss of target t. */
static double logistic_loss(double z, double t) {
    return z >= 0 ? t * z + log1p(exp(-z)) : (t - 1) * z + log1p(exp(z));
}

double mc_platt_value(mc_logistic_line line, double decision) {
    const double z = line.A * decision + line.B;
    return z >= 0 ? exp(-z) / (1 + exp(-z)) : 1 / (1 + exp(z));
}

typedef struct platt_sample {
    int64_t n;
    const double *f;
    const bool *first;
    double high, low; /* the targets: (N+ + 1) / (N+ + 2) and 1 / (N- + 2) */
} platt_sample;

static double target_of(const platt_sample *s, int64_t i) {
    return s->first[i] ? s->high : s->low;
}

static double platt_loss(const platt_sample *s, mc_logistic_line line) {
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++)
        sum += logistic_loss(line.A * s->f[i] + line.B, target_of(s, i));
    return sum;
}

typedef struct platt_slope {
    double gA, gB, hAA, hAB, hBB;
} platt_slope;

static platt_slope slope_at(const platt_sample *s, mc_logistic_line line) {
    platt_slope d = {.hAA = 1e-12, .hBB = 1e-12};
    for (int64_t i = 0; i < s->n; i++) {
        const double f = s->f[i], p = mc_platt_value(line, f), curvature = p * (1 - p), g = target_of(s, i) - p;
        d.hAA += f * f * curvature;
        d.hAB += f * curvature;
        d.hBB += curvature;
        d.gA += f * g;
        d.gB += g;
    }
    return d;
}

/* Along Newton's direction, halved until the loss falls by enough; false where it does not. */
static bool step_down(const platt_sample *s, const platt_slope *d, mc_logistic_line *line, double *loss) {
    const double det = d->hAA * d->hBB - d->hAB * d->hAB, dA = -(d->hBB * d->gA - d->hAB * d->gB) / det,
                 dB = -(d->hAA * d->gB - d->hAB * d->gA) / det, slope = d->gA * dA + d->gB * dB;
    for (double step = 1; step >= 1e-10; step /= 2) {
        const mc_logistic_line next = {line->A + step * dA, line->B + step * dB};
        const double there = platt_loss(s, next);
        if (there < *loss + 1e-4 * step * slope) {
            *line = next;
            *loss = there;
            return true;
        }
    }
    return false;
}

mc_logistic_line mc_platt_fit(int64_t n, const double *decision, const bool *first) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += first[i];
    const double plus = (double)count, minus = (double)(n - count);
    const platt_sample s = {n, decision, first, (plus + 1) / (plus + 2), 1 / (minus + 2)};
    mc_logistic_line line = {0, log((minus + 1) / (plus + 1))};
    double loss = platt_loss(&s, line);
    for (int step = 0; step < 100; step++) {
        const platt_slope d = slope_at(&s, line);
        if ((fabs(d.gA) < 1e-5 && fabs(d.gB) < 1e-5) || !step_down(&s, &d, &line, &loss))
            break;
    }
    return line;
}

/* ---- Probabilities of classes from those of pairs ---- */

/* Q p, and p' Q p. */
static double apply_coupling(int k, const double *Q, const double *p, double *Qp) {
    double pQp = 0;
    for (int t = 0; t < k; t++) {
        Qp[t] = 0;
        for (int j = 0; j < k; j++)
            Qp[t] += Q[t * k + j] * p[j];
        pQp += p[t] * Qp[t];
    }
    return pQp;
}

static void make_coupling(int k, const double *r, double *Q) {
    for (int t = 0; t < k; t++) {
        Q[t * k + t] = 0;
        for (int j = 0; j < k; j++)
            if (j != t) {
                Q[t * k + t] += r[j * k + t] * r[j * k + t];
                Q[t * k + j] = -r[j * k + t] * r[t * k + j];
            }
    }
}

/* One pass of coordinates, each set to its optimum and p scaled to sum 1 again, Qp kept up to date. */
static void pass_over_classes(int k, const double *Q, double pQp, double *p, double *Qp) {
    for (int t = 0; t < k; t++) {
        const double diff = (pQp - Qp[t]) / Q[t * k + t], scale = 1 / (1 + diff);
        p[t] += diff;
        pQp = (pQp + diff * (diff * Q[t * k + t] + 2 * Qp[t])) * scale * scale;
        for (int j = 0; j < k; j++) {
            Qp[j] = (Qp[j] + diff * Q[t * k + j]) * scale;
            p[j] *= scale;
        }
    }
}

void mc_pairwise_coupling(int k, const double *r, double *Q, double *Qp, double *p) {
    make_coupling(k, r, Q);
    for (int t = 0; t < k; t++)
        p[t] = 1.0 / k;
    for (int pass = 0; pass < (k > 100 ? k : 100); pass++) {
        const double pQp = apply_coupling(k, Q, p, Qp);
        double worst = 0;
        for (int t = 0; t < k; t++)
            worst = fmax(worst, fabs(Qp[t] - pQp));
        if (worst < 0.005 / k)
            break;
        pass_over_classes(k, Q, pQp, p, Qp);
    }
}

/* ---- Residuals of a regression ---- */

double mc_laplace_scale(int64_t n, const double *residual) {
    double sum = 0, kept = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs(residual[i]);
    const double deviation = sqrt(2.0) * sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(residual[i]) > 5 * deviation)) {
            kept += fabs(residual[i]);
            count++;
        }
    return count > 0 ? kept / (double)count : 0;
}
