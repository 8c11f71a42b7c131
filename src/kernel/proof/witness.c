/* witness.c: from points where a matrix looks indefinite to a witness that a person can check: few points, short
   numbers, a certified sum.

   No eigenvalue needs to be certain: w' K w < 0 for one w is enough, and that one sum is computed in interval
   arithmetic. */
#include "kernel/proof/witness.h"
#include "kernel/proof/enclose.h"
#include "base/number.h"
#include "base/print.h"
#include <math.h>
#include <string.h>

typedef double value_of_pair(const mc_node *node, const double *x, const double *z, int64_t d);

static bool fill_witness_gram(value_of_pair *value, const mc_node *node, int64_t m, int64_t d, int64_t texts,
                              const double *points, double *K) {
    const int64_t width = d + texts;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double k = value(node, points + i * width, points + j * width, d);
            if (!isfinite(k))
                return false;
            K[i * m + j] = K[j * m + i] = k;
        }
    return true;
}

/* The evaluator's where the enclosure tells nothing, 0 where it does not tell the sign. */
static double enclosed_value(const mc_node *node, const double *x, const double *z, int64_t d) {
    const mc_interval k = mc_enclose_kernel(node, x, z, d);
    if (!isfinite(k.lo) || !isfinite(k.hi))
        return mc_eval_kernel(node, x, z, d);
    return k.lo <= 0 && k.hi >= 0 ? 0 : k.lo + (k.hi - k.lo) / 2;
}

bool mc_witness_gram(const mc_node *node, int64_t m, int64_t d, int64_t texts, const double *points, double *K) {
    return fill_witness_gram(mc_eval_kernel, node, m, d, texts, points, K);
}

bool mc_witness_gram_enclosed(const mc_node *node, int64_t m, int64_t d, int64_t texts, const double *points,
                              double *K) {
    return fill_witness_gram(enclosed_value, node, m, d, texts, points, K);
}

/* ---- eigenvalues ---- */

/* One Jacobi rotation that clears K(p, q); V collects them. */
static void rotate_jacobi(double *K, double *V, int64_t m, int64_t p, int64_t q) {
    const double theta = (K[q * m + q] - K[p * m + p]) / (2 * K[p * m + q]);
    const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int64_t i = 0; i < m; i++) {
        const double a = K[i * m + p], b = K[i * m + q];
        K[i * m + p] = c * a - s * b;
        K[i * m + q] = s * a + c * b;
    }
    for (int64_t i = 0; i < m; i++) {
        const double a = K[p * m + i], b = K[q * m + i], u = V[i * m + p], v = V[i * m + q];
        K[p * m + i] = c * a - s * b;
        K[q * m + i] = s * a + c * b;
        V[i * m + p] = c * u - s * v;
        V[i * m + q] = s * u + c * v;
    }
}

static double largest_entry(const double *K, int64_t m) {
    double most = 0;
    for (int64_t i = 0; i < m * m; i++)
        most = fmax(most, fabs(K[i]));
    return most;
}

static bool sweep_jacobi(double *K, double *V, int64_t m, double negligible) {
    bool moved = false;
    for (int64_t p = 0; p < m; p++)
        for (int64_t q = p + 1; q < m; q++)
            if (fabs(K[p * m + q]) > negligible) {
                rotate_jacobi(K, V, m, p, q);
                moved = true;
            }
    return moved;
}

bool mc_surely_definite(const double *K, int64_t m) {
    double L[MC_WITNESS_POINTS * MC_WITNESS_POINTS];
    const double enough = 1e-12 * largest_entry(K, m);
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = j; i < m; i++) {
            double sum = K[i * m + j];
            for (int64_t k = 0; k < j; k++)
                sum -= L[i * m + k] * L[j * m + k];
            if (i == j && !(sum > enough))
                return false;
            L[i * m + j] = i == j ? sqrt(sum) : sum / L[j * m + j];
        }
    return true;
}

double mc_smallest_eigenvalue(double *K, int64_t m, double *vector) {
    double V[MC_WITNESS_POINTS * MC_WITNESS_POINTS] = {0};
    for (int64_t i = 0; i < m; i++)
        V[i * m + i] = 1;
    const double scale = largest_entry(K, m);
    for (int round = 0; round < 30 && sweep_jacobi(K, V, m, 1e-17 * scale); round++)
        ;
    int64_t least = 0;
    double most = 0;
    for (int64_t i = 0; i < m; i++) {
        least = K[i * m + i] < K[least * m + least] ? i : least;
        most = fmax(most, fabs(K[i * m + i]));
    }
    for (int64_t i = 0; i < m; i++)
        vector[i] = V[i * m + least];
    return most > 0 ? K[least * m + least] / most : 0;
}

/* ---- certifying ---- */

static int64_t width_of(const mc_witness *w) {
    return w->d + w->texts;
}

static mc_interval value_at(const mc_node *node, const mc_witness *w, int64_t i, int64_t j) {
    return mc_enclose_kernel(node, w->points + i * width_of(w), w->points + j * width_of(w), w->d);
}

static mc_interval quadratic_form(const mc_node *node, const mc_witness *w) {
    mc_interval sum = mc_iv(0);
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t j = 0; j <= i; j++) {
            const mc_interval ww = mc_iv_mul(mc_iv(w->weights[i]), mc_iv(w->weights[j]));
            const mc_interval term = mc_iv_mul(ww, value_at(node, w, i, j));
            sum = mc_iv_add(sum, i == j ? term : mc_iv_mul(mc_iv(2), term));
        }
    return sum;
}

static void find_pair(const mc_node *node, mc_witness *w) {
    w->pair[0] = w->pair[1] = -1;
    for (int64_t i = 0; i < w->count && w->pair[0] < 0; i++)
        for (int64_t j = 0; j < i; j++) {
            const mc_interval square = mc_iv_square(value_at(node, w, i, j));
            const mc_interval product = mc_iv_mul(value_at(node, w, i, i), value_at(node, w, j, j));
            if (square.lo > product.hi) {
                w->pair[0] = j;
                w->pair[1] = i;
                break;
            }
        }
}

bool mc_witness_certify(const mc_node *node, mc_witness *w) {
    const mc_interval sum = quadratic_form(node, w);
    if (!(sum.hi < 0) || !isfinite(sum.lo))
        return false;
    w->value = sum.lo + (sum.hi - sum.lo) / 2;
    w->bound = mc_iv_is_point(sum) ? 0 : nextafter(fmax(sum.hi - w->value, w->value - sum.lo), INFINITY);
    find_pair(node, w);
    return w->value + w->bound < 0;
}

/* ---- short numbers ---- */

static double round_to_decimals(double v, int decimals) {
    const double unit = pow(10, decimals);
    return decimals > 15 ? v : nearbyint(v * unit) / unit;
}

/* By way of text, so that the result is the double that its digits read as. */
double mc_round_to_digits(double v, int digits) {
    char text[40];
    double rounded = v;
    if (v == 0 || digits > 15)
        return v;
    const int length = mc_print(text, sizeof text, "%.*e", digits - 1, v);
    return mc_number_read(text, text + length, &rounded) ? rounded : v;
}

/* The weight that is largest in size becomes 1. */
static void scale_weights(double *weights, int64_t m) {
    double most = 0;
    for (int64_t i = 0; i < m; i++)
        most = fabs(weights[i]) > fabs(most) ? weights[i] : most;
    for (int64_t i = 0; i < m; i++)
        weights[i] /= most;
}

bool mc_witness_from_points(const mc_node *node, mc_witness *w) {
    static const int decimals[] = {0, 1, 2, 3, 4, 6, 9, 12, 16};
    double K[MC_WITNESS_POINTS * MC_WITNESS_POINTS], vector[MC_WITNESS_POINTS];
    const int64_t m = w->count;
    if (!mc_witness_gram_enclosed(node, m, w->d, w->texts, w->points, K) || !(mc_smallest_eigenvalue(K, m, vector) < 0))
        return false;
    scale_weights(vector, m);
    for (size_t k = 0; k < sizeof decimals / sizeof decimals[0]; k++) {
        mc_witness attempt = *w;
        bool all = true;
        for (int64_t i = 0; i < m; i++) {
            attempt.weights[i] = round_to_decimals(vector[i], decimals[k]);
            all = all && attempt.weights[i] != 0;
        }
        if (!all)
            continue; /* fewer points are the business of mc_witness_simplify */
        if (mc_witness_certify(node, &attempt)) {
            *w = attempt;
            return true;
        }
    }
    return false;
}

/* How negative the matrix of w's points is when point skip (-1: none) is left out; 0: not at all. */
static double negativity_without_point(const mc_node *node, const mc_witness *w, int64_t skip, double *scratch) {
    double K[MC_WITNESS_POINTS * MC_WITNESS_POINTS], vector[MC_WITNESS_POINTS];
    const int64_t width = width_of(w);
    int64_t m = 0;
    for (int64_t i = 0; i < w->count; i++)
        if (i != skip)
            memcpy(scratch + m++ * width, w->points + i * width, (size_t)width * sizeof(double));
    return m > 0 && mc_witness_gram_enclosed(node, m, w->d, w->texts, scratch, K)
               ? fmin(mc_smallest_eigenvalue(K, m, vector), 0)
               : 0;
}

static void drop_point(mc_witness *w, int64_t i) {
    const int64_t width = width_of(w);
    const size_t rest = (size_t)(w->count - i - 1);
    memmove(w->points + i * width, w->points + (i + 1) * width, rest * (size_t)width * sizeof(double));
    memmove(w->weights + i, w->weights + i + 1, rest * sizeof(double));
    w->count--;
}

static void drop_needless(const mc_node *node, mc_witness *w, double *scratch) {
    for (int64_t i = w->count - 1; i >= 0 && w->count > 1; i--)
        if (negativity_without_point(node, w, i, scratch)
            < fmax(-1e-4, 0.01 * negativity_without_point(node, w, -1, scratch)))
            drop_point(w, i);
}

bool mc_witness_simplify(const mc_node *node, mc_witness *w, double *scratch) {
    static const int digits[] = {1, 2, 3, 4, 6, 16};
    if (!(negativity_without_point(node, w, -1, scratch) < 0))
        return false; /* it was rounding that looked so */
    drop_needless(node, w, scratch);
    if (w->texts > 0)
        return mc_witness_from_points(node, w);
    const size_t values = (size_t)(w->count * w->d);
    memcpy(scratch, w->points, values * sizeof(double));
    for (size_t k = 0; k < sizeof digits / sizeof digits[0]; k++) {
        for (size_t i = 0; i < values; i++)
            w->points[i] = mc_round_to_digits(scratch[i], digits[k]);
        if (mc_witness_from_points(node, w))
            return true;
    }
    return false;
}
