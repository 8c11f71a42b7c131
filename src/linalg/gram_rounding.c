#include "linalg/gram_rounding.h"
#include <float.h>
#include <math.h>

enum { LANES = 8 };

int mc_gram_exponent(const double *K, int64_t n) {
    double largest = 0;
    int exponent = 0;
    for (int64_t i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(K[i]));
    frexp(largest, &exponent);
    return exponent;
}

void mc_gram_symmetric(const double *K, int64_t n, int exponent, double *S) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            S[i * n + j] = 0.5 * ldexp(K[i * n + j], -exponent) + 0.5 * ldexp(K[j * n + i], -exponent);
}

double mc_gram_sum(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double mc_gram_unit_error(int64_t n) {
    return ((double)n / LANES + 24) * DBL_EPSILON / 2 * 1.01;
}

double mc_gram_dot(const double *a, const double *b, int64_t k) {
    double sum[LANES] = {0}, all = 0;
    int64_t p = 0;
    for (; p + LANES <= k; p += LANES)
        for (int c = 0; c < LANES; c++)
            sum[c] += a[p + c] * b[p + c];
    for (int c = 0; p < k; p++, c++)
        sum[c] += a[p] * b[p];
    for (int c = 0; c < LANES; c++)
        all += sum[c];
    return all;
}

double mc_gram_difference_norm(const mc_gram_difference *d, int64_t n) {
    const double error = mc_gram_unit_error(n), upward = 1 + 8 * (double)(n + 8) * DBL_EPSILON;
    const double left = sqrt(mc_gram_sum(d->left, n)), given = sqrt(mc_gram_sum(d->given, n));
    return upward * (left + error * (given + mc_gram_sum(d->length2, n)) + MC_GRAM_TINY);
}
