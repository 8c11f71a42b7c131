/* softmax_intercepts.c: bounds on the intercepts of softmax from a bound on the functions.

   The loss does not change where all intercepts move together: b* is that of the optimal intercepts whose sum is the
   sum of b. Let D = b* - b, k the class where it is largest, l the one where it is least, and w what these are apart.
   With F the values with b and f, and no f*(x_i) further than doubt from f(x_i), the optimal share of class k at row i
   is

       1 / sum_j exp(F*_j - F*_k) >= a_k / (a_k + E sum_(j not k, l) a_j + E exp(-w) a_l),

   a = exp(F), E = exp(2 doubt), for D_j - D_k <= 0 and D_l - D_k = -w. Shares of class k, times the costs, add up to
   the cost of its rows at b*, where the slope in b_k vanishes. So a w at which the right side adds up to more is too
   large. The largest w that is not, over all pairs, bounds every D_k, which sum to 0.

   A quotient a / (t - s) is at least a / t + a s / t^2: with t = a_k + E sum_(j not k) a_j and s = (1 - exp(-w)) E a_l
   one pass over the rows bounds all pairs; those where that does not tell are searched, of few rows. */
#include "certify/intercept.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { DOUBLINGS = 64, HALVINGS = 6, FEW = 1 << 18 }; /* FEW: entries of all pairs, for each to be searched */
static const double slack = 1e-14;                    /* of sums, exponentials and quotients, each of a few roundings */

typedef struct class_pair {
    const mc_softmax *p;
    int64_t k, l;
    double growth; /* E */
    double total;  /* the cost of the rows of class k */
} class_pair;

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

static bool is_too_large(const class_pair *q, double w) {
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

static double largest_distance(const class_pair *q, double first) {
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

/* ---- All pairs at once ---- */

/* base[k] and gain[k * classes + l], of what adds up to at least base + (1 - exp(-w)) gain. */
static void add_row(const mc_softmax *p, int64_t i, double growth, double *base, double *gain) {
    const double *a = p->shares + i * p->classes;
    double all = 0;
    for (int64_t j = 0; j < p->classes; j++)
        all += a[j];
    for (int64_t k = 0; k < p->classes; k++) {
        const double whole = a[k] + growth * ((all - a[k]) + (double)p->classes * slack * all) + DBL_MIN;
        const double share = p->cost[i] * a[k] / whole, steep = share * growth / whole;
        double *const to = gain + k * p->classes;
        base[k] += share;
        for (int64_t l = 0; l < p->classes; l++)
            to[l] += steep * a[l];
    }
}

/* The bound of pair (k, l) from these: infinite where they do not tell. */
static double quick_distance(double total, double base, double gain, double doubt) {
    const double need = (total * (1 + doubt) - base * (1 - doubt)) / (gain * (1 - doubt));
    return need <= 0 ? 0 : need < 1 ? -log1p(-need) * (1 + slack) : INFINITY;
}

/* room: classes x (classes + 2). */
double mc_softmax_intercepts_bound(const mc_softmax *p, double *room) {
    const double growth = exp(2 * p->doubt) * (1 + slack), first = fmax(p->doubt, DBL_EPSILON);
    const int64_t classes = p->classes;
    const double rounding = slack + (double)p->n * DBL_EPSILON;
    const bool few = p->n * classes * classes <= FEW;
    double worst = 0, *const base = room, *const total = room + classes, *const gain = room + 2 * classes;
    if (!isfinite(growth))
        return INFINITY;
    fill_shares(p);
    memset(room, 0, (size_t)(classes * (classes + 2)) * sizeof *room);
    for (int64_t i = 0; i < p->n; i++) {
        total[(int64_t)p->y[i]] += p->cost[i];
        add_row(p, i, growth, base, gain);
    }
    for (int64_t k = 0; k < classes; k++)
        for (int64_t l = 0; l < classes && isfinite(worst); l++) {
            if (l == k)
                continue;
            const double quick = quick_distance(total[k], base[k], gain[k * classes + l], rounding);
            worst = fmax(worst, isfinite(quick) || !few
                                    ? quick
                                    : largest_distance(&(class_pair){p, k, l, growth, total[k]}, first));
        }
    return worst;
}
