/* sample_mean.c: the mean of few random numbers and how far it may be off.

   A deviation that is estimated from few numbers is often too small: twice the standard error of a dozen normal numbers
   holds their expectation in 93% of samples, of three in 82%. The error that is told is the standard error times
   t / 2, where t is what a number of Student's law with count - 1 degrees of freedom is within as often as a normal
   one is within two deviations. Of many numbers it is the standard error. */
#include "iterative/sample_mean.h"
#include <math.h>

enum { BISECTIONS = 60 };
static const double PI = 3.14159265358979323846;
static const double DEVIATIONS = 2;

/* With theta = atan(t / sqrt(k)) the finite series of Abramowitz and Stegun (1972), 26.7.3 and 26.7.4: from one term of
   the sum over powers of cos^2 theta to the next there is a factor of (j - 1) / j. */
double mc_student_probability(int64_t k, double t) {
    const double theta = atan(t / sqrt((double)k)), c = cos(theta);
    const int64_t first = k % 2 ? 1 : 0;
    double term = first ? c : 1, sum = 0;
    for (int64_t power = first; power <= k - 2; power += 2) {
        sum += term;
        term *= c * c * (double)(power + 1) / (double)(power + 2);
    }
    return first ? 2 / PI * (theta + sin(theta) * sum) : sin(theta) * sum;
}

/* What is exceeded as seldom as a normal number exceeds two deviations: between 2 and what one degree of freedom asks
   for, which is below 14. */
static double student_quantile(int64_t k) {
    const double share = erf(DEVIATIONS / sqrt(2));
    double low = DEVIATIONS, high = 7 * DEVIATIONS;
    for (int step = 0; step < BISECTIONS; step++) {
        const double middle = 0.5 * (low + high);
        *(mc_student_probability(k, middle) < share ? &low : &high) = middle;
    }
    return high;
}

mc_sample_mean mc_find_sample_mean(int64_t count, const double *x) {
    const double n = (double)count;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        mean += x[i] / n;
    for (int64_t i = 0; i < count; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return (mc_sample_mean){.mean = mean,
                            .error = student_quantile(count - 1) / DEVIATIONS * sqrt(squares / (n - 1) / n)};
}
