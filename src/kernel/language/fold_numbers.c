/* fold_numbers.c: exact products, powers and sums of doubles. See fold_numbers.h. */
#include "kernel/language/fold_numbers.h"

/* From here on up the error of a product, a multiple of 2^-106 times it, is itself a double, so that fma finds it. */
static const double TINY = 0x1p-900;

bool mc_fold_product(double a, double b, double *out) {
    *out = a * b;
    if (a == 0 || b == 0)
        return true;
    return isfinite(*out) && fabs(*out) >= TINY && fma(a, b, -*out) == 0;
}

/* c^n by products; of a double other than 0, 1 and -1 no power beyond 1100 is a double. */
static bool whole_power(double c, double n, double *out) {
    enum { MOST = 1100 };
    if (c == 0 || fabs(c) == 1) {
        *out = fmod(n, 2) == 1 ? c : fabs(c);
        return true;
    }
    bool exact = n <= MOST;
    *out = 1;
    for (int i = 0; exact && i < (int)n; i++)
        exact = mc_fold_product(*out, c, out);
    return exact;
}

static bool exact_inverse(double c, double *out) {
    double one;
    *out = 1 / c;
    return isfinite(*out) && mc_fold_product(*out, c, &one) && one == 1;
}

bool mc_fold_power(double c, double p, double *out) {
    if (mc_is_whole(p))
        return whole_power(c, p, out);
    return mc_is_whole(-p) && c != 0 && whole_power(c, -p, out) && exact_inverse(*out, out);
}

void mc_exact_add(mc_exact_sum *sum, double b) {
    int kept = 0;
    for (int i = 0; i < sum->count; i++) {
        const double a = sum->part[i], s = a + b, t = s - a, error = (a - (s - t)) + (b - t); /* a + b = s + error */
        if (error != 0)
            sum->part[kept++] = error;
        b = s;
    }
    if (b != 0 || kept == 0)
        sum->part[kept++] = b;
    sum->count = kept;
}

/* The double next to the sum is the sum when nothing is left after taking it away. */
bool mc_fold_sum(const mc_exact_sum *sum, double *out) {
    mc_exact_sum rest = *sum;
    *out = 0;
    for (int i = 0; i < sum->count; i++)
        *out += sum->part[i];
    if (!isfinite(*out))
        return false;
    mc_exact_add(&rest, -*out);
    return rest.count == 1 && rest.part[0] == 0;
}
