/* rq_share.c: how much of a Gaussian an rq outweighs on R^d, though it mixes no single one.

   exp(-g r^2) has the transform (pi/g)^(d/2) exp(-s/(4g)), and rq is the mean of exp(-u r^2) with the density
   p(u) = b^alpha/Gamma(alpha) u^(alpha-1) exp(-b u). So the quotient of transforms at s = 4 sigma is

       the integral over u > 0 of p(u) (g/u)^(d/2) exp(sigma (1/g - 1/u)).

   On a cell u_i <= u <= u_(i+1) it is at least w_i exp(sigma (1/g - 1/u_i)), and for sigma in [t, t + step] each of
   these at least its value at one of the two ends. From the last step on those with u_i > g grow and the others are
   left out. */
#include "kernel/proof/spectrum.h"
#include <math.h>

enum { CELLS = 60, STEPS = 64, DIGITS = 5 };

typedef struct cell {
    mc_interval weight, value, factor; /* w_i exp(sigma rate), and what one step multiplies it by */
    bool grows;
} cell;

/* The least of u^m exp(-b u) on the cell, times its width. */
static mc_interval weight_of_cell(double from, double to, mc_interval m, mc_interval b) {
    const mc_interval first = mc_iv_exp(mc_iv_mul(m, mc_iv_log(mc_iv(from)))),
                      last = mc_iv_exp(mc_iv_mul(m, mc_iv_log(mc_iv(to))));
    const mc_interval width = mc_iv_sub(mc_iv(to), mc_iv(from));
    return mc_iv_mul(mc_iv_mul(mc_iv_min(first, last), mc_iv_exp(mc_iv_neg(mc_iv_mul(b, mc_iv(to))))), width);
}

static void lay_cells(const mc_stationary *p, mc_interval g, int64_t d, double step, cell *cells) {
    const mc_interval half = mc_iv(0.5 * (double)d), alpha = mc_iv(p->order);
    const mc_interval m = mc_iv_sub(mc_iv_sub(alpha, mc_iv(1)), half);
    const mc_interval front = mc_iv_exp(mc_iv_add(
        mc_iv_sub(mc_iv_mul(alpha, mc_iv_log(p->scale)), mc_iv_log_gamma(alpha)), mc_iv_mul(half, mc_iv_log(g))));
    for (int i = 0; i < CELLS; i++) {
        const double from = g.lo * exp2((i - CELLS / 2) / 6.0), to = g.lo * exp2((i + 1 - CELLS / 2) / 6.0);
        const mc_interval rate = mc_iv_sub(mc_iv_div(mc_iv(1), g), mc_iv_div(mc_iv(1), mc_iv(from)));
        const mc_interval weight = mc_iv_mul(front, weight_of_cell(from, to, m, p->scale)),
                          factor = mc_iv_exp(mc_iv_mul(rate, mc_iv(step)));
        cells[i] = (cell){.weight = mc_iv_round(&weight, DIGITS), .factor = mc_iv_round(&factor, DIGITS)};
        cells[i].value = cells[i].weight;
        cells[i].grows = rate.lo > 0;
    }
}

/* At least the quotient from here to the next step; last: from here on. */
static double least_in_step(cell *cells, bool last) {
    mc_interval sum = mc_iv(0);
    for (int i = 0; i < CELLS; i++) {
        const mc_interval product = mc_iv_mul(cells[i].value, cells[i].factor), next = mc_iv_round(&product, DIGITS);
        if (cells[i].grows || !last)
            sum = mc_iv_add(sum, cells[i].grows ? cells[i].value : next);
        cells[i].value = next;
    }
    return sum.lo;
}

mc_interval mc_rq_over_gaussian(const mc_stationary *p, const mc_stationary *q, int64_t d) {
    cell cells[CELLS];
    const double step = q->scale.lo / 8;
    double least = INFINITY;
    if (!(p->scale.lo > 0 && step > 0 && isfinite(q->scale.hi) && p->order > 0))
        return mc_iv(0);
    lay_cells(p, q->scale, d, step, cells);
    for (int k = 0; k <= STEPS; k++)
        least = fmin(least, least_in_step(cells, k == STEPS));
    return least > 0 && isfinite(least) ? mc_iv(least) : mc_iv(0);
}
