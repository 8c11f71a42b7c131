/* together_isa.c: the bodies of together_body.h for one instruction set; compiled once per set with MC_TOGETHER_BODIES naming the table. */
#include "solve/pair.h"
#include "solve/together_body.h"
#include <math.h>
#include <stdbool.h>

/* Sixteen lanes of floats; the compiler splits them where registers are shorter. */
typedef float lanes __attribute__((vector_size(64)));
typedef int32_t masks __attribute__((vector_size(64)));

#define PICK(mask, yes, no) ((lanes)(((masks)(yes) & (mask)) | ((masks)(no) & ~(mask))))
#define AT(array, place) (*(const lanes *)(const void *)((array) + (place)))

static float largest(const lanes *x) {
    float top = (*x)[0];
    for (int l = 1; l < MC_WIDE; l++)
        top = (*x)[l] > top ? (*x)[l] : top;
    return top;
}

/* v <- v - step (K_i - K_j); the largest v that may grow, and minus the smallest that may shrink. */
static void move(const mc_quick *p, const float *Ki, const float *Kj, float step, float *top, float *bottom) {
    lanes high = (lanes){0} - INFINITY, low = high;
    for (int64_t t = 0; t < p->ld; t += MC_WIDE) {
        const lanes v = AT(p->v, t) - step * (AT(Ki, t) - AT(Kj, t));
        *(lanes *)(void *)(p->v + t) = v;
        const lanes may_grow = v + AT(p->up, t), may_shrink = -(v + AT(p->down, t));
        high = PICK(may_grow > high, may_grow, high);
        low = PICK(may_shrink > low, may_shrink, low);
    }
    *top = largest(&high);
    *bottom = -largest(&low);
}

/* Where the largest is: the first of equals. */
static int64_t place_of(const mc_quick *p, float top) {
    masks first = (masks){0} + INT32_MAX;
    for (int64_t t = p->ld - MC_WIDE; t >= 0; t -= MC_WIDE) {
        const masks here = AT(p->v, t) + AT(p->up, t) == top, place = (masks){0} + (int32_t)t;
        first = (place & here) | (first & ~here);
    }
    int32_t least = INT32_MAX;
    for (int l = 0; l < MC_WIDE; l++)
        if (first[l] < INT32_MAX && first[l] + l < least)
            least = first[l] + l;
    return least;
}

/* The partner of i that lowers the objective most when both bounds are far: the largest gap^2 / curvature. Fractions are compared by
   cross multiplication. */
static int64_t partner(const mc_quick *p, int64_t i, float vi) {
    const float *Ki = p->K + i * p->ld, dii = p->diagonal[i];
    const lanes tiny = (lanes){0} + 1e-7f, none = {0};
    lanes gain = {0}, cost = (lanes){0} + 1;
    masks at = {0};
    for (int64_t t = 0; t < p->ld; t += MC_WIDE) {
        const lanes gap = vi - (AT(p->v, t) + AT(p->down, t));
        const lanes curvature = dii + AT(p->diagonal, t) - 2 * AT(Ki, t);
        const lanes safe = PICK(curvature > tiny, curvature, tiny), positive = PICK(gap > none, gap, none);
        const lanes square = positive * positive;
        const masks better = square * cost > gain * safe, here = (masks){0} + (int32_t)t;
        gain = PICK(better, square, gain);
        cost = PICK(better, safe, cost);
        at = (here & better) | (at & ~better);
    }
    const lanes share = gain / cost;
    int64_t best = at[0];
    float most = share[0];
    for (int l = 1; l < MC_WIDE; l++)
        if (share[l] > most) {
            most = share[l];
            best = at[l] + l;
        }
    return best;
}

static double step_pair(mc_quick *p, int64_t i, int64_t j) {
    const double curvature = (double)p->diagonal[i] + (double)p->diagonal[j] - 2 * (double)p->K[i * p->ld + j];
    const double step = mc_pair_step((double)p->v[i] - (double)p->v[j], curvature, p->low, p->high, i, j, p->beta);
    p->up[i] = p->beta[i] < p->high[i] ? 0 : -INFINITY;
    p->up[j] = 0;
    p->down[i] = 0;
    p->down[j] = p->beta[j] > p->low[j] ? 0 : INFINITY;
    return step;
}

static void solve(mc_quick *p) {
    const float *Ki = p->K, *Kj = p->K;
    double step = 0;
    for (p->steps = 0;; p->steps++) {
        float top, bottom;
        move(p, Ki, Kj, (float)step, &top, &bottom);
        if (!((double)top - (double)bottom > p->tolerance) || p->steps == p->steps_max)
            return;
        const int64_t i = place_of(p, top), j = partner(p, i, top);
        step = step_pair(p, i, j);
        Ki = p->K + i * p->ld;
        Kj = p->K + j * p->ld;
    }
}

#define REAL float
#define F(name) name##_f32
#include "solve/together_body.inc.c"
#undef REAL
#undef F
#define REAL double
#define F(name) name##_f64
#include "solve/together_body.inc.c"

const mc_together_body MC_TOGETHER_BODIES[2] = {[MERCER_F32] = {solve, gather_f32, accumulate_f32},
                                                [MERCER_F64] = {solve, gather_f64, accumulate_f64}};
