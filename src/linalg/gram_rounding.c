#include "linalg/gram_rounding.h"
#include "base/parallel.h"
#include <float.h>
#include <math.h>

enum { LANES = 8, ROWS = 16 }; /* of a sum, of a chunk */

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

/* a'b of k numbers, in eight lanes. */
static double dot_in_lanes(const double *a, const double *b, int64_t k) {
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

void mc_gram_difference_lay_out(mc_work *work, int64_t n, mc_gram_difference *d) {
    d->left = mc_work_take(work, n, sizeof *d->left);
    d->given = mc_work_take(work, n, sizeof *d->given);
    d->length2 = mc_work_take(work, n, sizeof *d->length2);
}

static int64_t row_at(const mc_gram_difference *d, int64_t i) {
    return d->pivots ? d->pivots[i] : i;
}

static int64_t entries_of_row(const mc_gram_difference *d, int64_t i) {
    return i + 1 < d->rank ? i + 1 : d->rank;
}

static void compare_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_gram_difference *d = arg;
    for (int64_t i = begin; i < end; i++) {
        double left = 0, given = 0;
        const double *s = d->S + row_at(d, i) * d->n, *l = d->L + i * d->n;
        for (int64_t j = 0; j <= i; j++) {
            const double a = s[row_at(d, j)] - (i == j ? d->shift : 0), times = i == j ? 1 : 2;
            const double r = a - dot_in_lanes(l, d->L + j * d->n, entries_of_row(d, j));
            left += times * (r * r);
            given += times * (a * a);
        }
        d->left[i] = left;
        d->given[i] = given;
        d->length2[i] = dot_in_lanes(l, l, entries_of_row(d, i));
    }
}

mercer_status mc_gram_difference_form(mercer_ctx *ctx, mc_gram_difference *d) {
    return mc_for(ctx, d->n, ROWS, compare_rows, d);
}

double mc_gram_difference_norm(const mc_gram_difference *d) {
    const int64_t n = d->n;
    const double error = mc_gram_unit_error(n), upward = 1 + 8 * (double)(n + 8) * DBL_EPSILON;
    const double left = sqrt(mc_gram_sum(d->left, n)), given = sqrt(mc_gram_sum(d->given, n));
    return upward * (left + error * (given + mc_gram_sum(d->length2, n)) + MC_GRAM_TINY);
}
