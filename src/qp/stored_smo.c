/* stored_smo.c: see stored_smo.h. */
#include "qp/stored_smo.h"
#include "backend/dispatch_qp.h"
#include "qp/smo_select.h"
#include <math.h>
#include <string.h>

static int64_t padded_run(int64_t count) {
    return (count + MC_LANES - 1) / MC_LANES * MC_LANES;
}

static void lay_out_block(mc_work *work, int64_t places, mc_smo_block *b) {
    double **own[] = {&b->v, &b->beta, &b->up, &b->down};
    const double **given[] = {&b->low, &b->high, &b->diagonal};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        *own[i] = mc_work_take(work, places, sizeof(double));
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        *given[i] = mc_work_take(work, places, sizeof(double));
}

size_t mc_stored_smo_bytes(int64_t m) {
    mc_work counted = {0};
    lay_out_block(&counted, padded_run(m) + MC_LANES * (MC_SMO_RUNS - 1), &(mc_smo_block){0});
    return counted.used;
}

static void fill_place(const mc_dual *dual, const mc_kernel_runs *K, int64_t row, int64_t t, int64_t at,
                       const double *beta, const double *f, mc_smo_block *b) {
    double *low = (double *)b->low, *high = (double *)b->high, *diagonal = (double *)b->diagonal;
    b->v[at] = mc_dual_slope(dual, f, t);
    b->beta[at] = beta[t];
    low[at] = dual->low[t];
    high[at] = dual->high[t];
    diagonal[at] = K->diagonal[row];
    b->up[at] = beta[t] < high[at] ? 0 : -INFINITY;
    b->down[at] = beta[t] > low[at] ? 0 : INFINITY;
}

static void close_place(int64_t at, mc_smo_block *b) {
    b->v[at] = b->beta[at] = ((double *)b->low)[at] = ((double *)b->high)[at] = ((double *)b->diagonal)[at] = 0;
    b->up[at] = -INFINITY;
    b->down[at] = INFINITY;
}

/* Every run from a whole lane on. */
static void fill_block(const mc_dual *dual, const mc_kernel_runs *K, const double *beta, const double *f,
                       mc_smo_block *b) {
    int64_t at = 0, t = 0;
    for (int r = 0; r < K->runs; r++) {
        b->begin[r] = at;
        b->first[r] = K->first[r];
        for (int64_t k = 0; k < K->count[r]; k++)
            fill_place(dual, K, K->first[r] + k, t++, at++, beta, f, b);
        while (at % MC_LANES)
            close_place(at++, b);
        b->begin[r + 1] = at;
    }
}

static void take_block(const mc_dual *dual, const mc_kernel_runs *K, const mc_smo_block *b, double *beta, double *f) {
    int64_t t = 0;
    for (int r = 0; r < K->runs; r++)
        for (int64_t k = 0; k < K->count[r]; k++, t++) {
            beta[t] = b->beta[b->begin[r] + k];
            f[mc_dual_row(dual, t)] = -(b->v[b->begin[r] + k] + dual->q[t]);
        }
}

void mc_stored_smo_solve(const mc_dual *dual, const mc_kernel_runs *K, double tolerance, int64_t steps_max,
                         mc_work *work, double *beta, double *f, mc_smo_result *result) {
    mc_work scratch = *work; /* given back by being forgotten */
    mc_smo_block b = {.runs = K->runs,
                      .sums = dual->group ? K->runs : 1,
                      .K = K->K,
                      .ld = K->ld,
                      .width = K->ld,
                      .tolerance = tolerance,
                      .steps_max = steps_max};
    lay_out_block(&scratch, padded_run(dual->m) + MC_LANES * (MC_SMO_RUNS - 1), &b);
    fill_block(dual, K, beta, f, &b);
    mc_qp_bodies_of(K->isa)->smo[MERCER_F64].block(&b);
    take_block(dual, K, &b, beta, f);
    result->steps += b.steps;
    result->updates += b.steps * dual->m;
    result->rounds++;
    if (b.steps < steps_max)
        mc_small_newton(dual, K, tolerance, work, beta, f);
    mc_dual_optimality(dual, beta, f, result);
    result->converged = result->violation <= tolerance;
}

/* ---- Products ---- */

enum { TOGETHER = 64 }; /* rows of K added up at once */

/* Two runs of the same rows have one f. */
static int runs_of_f(const mc_kernel_runs *K) {
    return K->runs > 1 && K->first[1] != K->first[0] ? 2 : 1;
}

/* f of places begin .. end - 1 + the rows of K that are listed. */
static void add_rows(const mc_kernel_runs *K, const int64_t *row, const double *c, int64_t count, int64_t begin,
                     int64_t end, double *f) {
    const void *place[TOGETHER];
    int64_t start = 0;
    for (int r = 0; r < runs_of_f(K); start += K->count[r++]) {
        const int64_t from = begin > start ? begin - start : 0,
                      to = end - start < K->count[r] ? end - start : K->count[r];
        for (int64_t k = 0; k < count; k++)
            place[k] = K->K + row[k] * K->ld + K->first[r];
        if (from < to)
            mc_qp_bodies_of(K->isa)->smo[MERCER_F64].accumulate(place, c, count, from, to, f + start);
    }
}

void mc_kernel_runs_multiply(const mc_kernel_runs *K, const double *c, int64_t begin, int64_t end, double *f) {
    int64_t row[TOGETHER], count = 0, i = 0;
    double part[TOGETHER];
    memset(f + begin, 0, (size_t)(end - begin) * sizeof *f);
    for (int r = 0; r < runs_of_f(K); r++)
        for (int64_t k = 0; k < K->count[r]; k++, i++) {
            row[count] = K->first[r] + k;
            part[count] = c[i];
            count += c[i] != 0;
            if (count == TOGETHER) {
                add_rows(K, row, part, count, begin, end, f);
                count = 0;
            }
        }
    add_rows(K, row, part, count, begin, end, f);
}
