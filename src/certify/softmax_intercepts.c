/* softmax_intercepts.c: bounds on the intercepts of softmax from a bound on the functions.

   The loss does not change where all intercepts move together: b* is that of the optimal intercepts whose sum is the
   sum of b. Let D = b* - b, k the class where it is largest, l the one where it is least, and w what these are apart.
   With F the values with b and f, and no f*(x_i) further than doubt from f(x_i), the optimal share of class k at row i
   is

       1 / sum_j exp(F*_j - F*_k) >= a_k / (a_k + E sum_(j not k, l) a_j + E exp(-w) a_l),

   a = exp(F), E = exp(2 doubt), for D_j - D_k <= 0 and D_l - D_k = -w. Shares of class k, times the costs, add up to
   the cost of its rows at b*, where the slope in b_k vanishes. So a w at which the right side adds up to more is too
   large. The largest w that is not, over all pairs, bounds every D_k, which sum to 0. */
#include "certify/intercept.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { DOUBLINGS = 64, HALVINGS = 6 };
static const double slack = 1e-14; /* of sums, exponentials and quotients, each of a few roundings */

typedef struct pair {
    const mc_softmax *p;
    int64_t k, l;
    double growth; /* E */
    double total;  /* the cost of the rows of class k */
} pair;

/* a and their sum in place of F. */
static void fill_shares(const mc_softmax *p) {
    for (int64_t i = 0; i < p->n; i++) {
        double *a = p->shares + i * p->classes, most = -INFINITY;
        for (int64_t j = 0; j < p->classes; j++)
            most = fmax(most, p->f[i * p->classes + j] + p->b[j]);
        for (int64_t j = 0; j < p->classes; j++)
            a[j] = exp(p->f[i * p->classes + j] + p->b[j] - most);
    }
}

static bool is_too_large(const pair *q, double w) {
    const mc_softmax *p = q->p;
    const double fade = exp(-w);
    long double sum = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double *a = p->shares + i * p->classes;
        double others = 0;
        for (int64_t j = 0; j < p->classes; j++)
            others += j == q->k || j == q->l ? 0 : a[j];
        sum += p->cost[i] * a[q->k] / (a[q->k] + q->growth * (others + fade * a[q->l]) + DBL_MIN);
    }
    return sum * (1 - slack) > q->total;
}

static double largest_distance(const pair *q, double first) {
    double w = first, less = 0;
    int k = 0;
    if (!is_too_large(q, INFINITY))
        return INFINITY;
    for (; k < DOUBLINGS && !is_too_large(q, w); k++) {
        less = w;
        w *= 2;
    }
    for (int h = 0; h < HALVINGS; h++) {
        const double middle = less + (w - less) / 2;
        *(is_too_large(q, middle) ? &w : &less) = middle;
    }
    return k < DOUBLINGS ? w : INFINITY;
}

double mc_softmax_intercepts_bound(const mc_softmax *p) {
    const double growth = exp(2 * p->doubt) * (1 + slack), first = fmax(p->doubt, DBL_EPSILON);
    double worst = 0;
    if (!isfinite(growth))
        return INFINITY;
    fill_shares(p);
    for (int64_t k = 0; k < p->classes; k++) {
        long double total = 0;
        for (int64_t i = 0; i < p->n; i++)
            total += p->y[i] == (double)k ? p->cost[i] : 0;
        for (int64_t l = 0; l < p->classes && isfinite(worst); l++)
            if (l != k)
                worst = fmax(worst, largest_distance(&(pair){p, k, l, growth, (double)total}, first));
    }
    return worst;
}
