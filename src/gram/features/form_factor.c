/* form_factor.c: see form_factor.h. A = L L' by Cholesky's algorithm, the largest diagonal entry first, so that a
   matrix of rank r has r columns. In floating point L L' is A + E with |E| <= (r + 1) u |L| |L'| + left, left being
   as large as the largest entry that was not eliminated (Higham, Accuracy and Stability of Numerical Algorithms,
   theorem 10.3). With u = x - z and M the largest norm of |L'| |x - centre|, S that of the sums of |x - centre|, the
   distance is wrong by at most 4 (r + 1) u M^2 + 4 left S^2. */
#include "gram/features/form_factor.h"
#include "base/memory.h"
#include "base/status.h"
#include <math.h>
#include <string.h>

static const double UNIT = 0x1p-53;

static double largest_of(const double *S, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(S[i]));
    return most;
}

static int64_t largest_pivot(const double *S, int64_t d) {
    int64_t best = 0;
    for (int64_t i = 1; i < d; i++)
        if (S[i * d + i] > S[best * d + best])
            best = i;
    return best;
}

/* The column of pivot p, taken off what is left. */
static void take_off_pivot(double *S, int64_t d, int64_t p, double *column) {
    const double root = sqrt(S[p * d + p]);
    for (int64_t i = 0; i < d; i++)
        column[i] = i == p ? root : S[i * d + p] / root;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            S[i * d + j] = i == p || j == p ? 0 : S[i * d + j] - column[i] * column[j];
}

/* The columns of L, one after the other; how many. S: A, whose lower triangle counts, and what is left of it. */
static int64_t factor_matrix(double *S, int64_t d, double tolerance, double *columns) {
    for (int64_t rank = 0; rank < d; rank++) {
        const int64_t p = largest_pivot(S, d);
        if (!(S[p * d + p] > tolerance))
            return rank;
        take_off_pivot(S, d, p, columns + rank * d);
    }
    return d;
}

static void copy_lower(const mc_value *A, double *S) {
    const int64_t d = A->columns;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++)
            S[i * d + j] = S[j * d + i] = A->numbers[i * d + j];
}

mercer_status mc_form_factor(mercer_ctx *ctx, const mc_value *A, mc_factor *out) {
    const int64_t d = A->columns;
    double *S = NULL;
    *out = (mc_factor){.columns = d};
    MC_TRY(MC_ALLOC(ctx, S, d * d));
    copy_lower(A, S);
    const double most = largest_of(S, d * d), tolerance = 16 * (double)d * UNIT * most;
    const mercer_status status = MC_ALLOC(ctx, out->L, d * d);
    if (!status && most > 0 && isfinite(most))
        out->rank = factor_matrix(S, d, tolerance, out->L);
    out->left = largest_of(S, d * d);
    if (status || out->rank == 0 || !(out->left <= tolerance))
        mc_factor_free(out);
    mc_free(S);
    return status;
}

void mc_factor_free(mc_factor *f) {
    mc_free(f->L);
    *f = (mc_factor){0};
}

static void centre_row(const mc_tile_part *p, const double *row, double *out) {
    for (int64_t j = 0; j < p->columns; j++)
        out[j] = row[p->column[j]] - (p->centre ? p->centre[j] : 0);
}

void mc_factor_row(const mc_tile_part *p, const double *row, double *centred, double *out) {
    const mc_factor *f = &p->factor;
    centre_row(p, row, centred);
    for (int64_t k = 0; k < f->rank; k++) {
        double sum = 0;
        for (int64_t j = 0; j < f->columns; j++)
            sum += f->L[k * f->columns + j] * centred[j];
        out[k] = p->weight[0] * sum;
    }
}

/* The squares of M and of S for one row. */
static void measure_row(const mc_tile_part *p, const double *row, double *centred, double *M2, double *S2) {
    const mc_factor *f = &p->factor;
    double total = 0;
    *M2 = 0;
    centre_row(p, row, centred);
    for (int64_t k = 0; k < f->rank; k++) {
        double sum = 0;
        for (int64_t j = 0; j < f->columns; j++)
            sum += fabs(f->L[k * f->columns + j]) * fabs(centred[j]);
        *M2 += sum * sum;
    }
    for (int64_t j = 0; j < f->columns; j++)
        total += fabs(centred[j]);
    *S2 = total * total;
}

mercer_status mc_part_factor_phase(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *data) {
    const double w2 = p->weight[0] * p->weight[0], terms = (double)p->factor.columns + 4;
    double *row = NULL, M2, S2;
    MC_TRY(MC_ALLOC(ctx, row, data->d + p->columns));
    for (int64_t i = 0; i < data->n; i++) {
        mc_data_values(data, i, row);
        measure_row(p, row, row + data->d, &M2, &S2);
        p->phase = fmax(p->phase, terms * UNIT * sqrt(w2 * M2));
        p->form_error = fmax(p->form_error, 4 * w2 * (terms * UNIT * M2 + p->factor.left * S2));
    }
    mc_free(row);
    return MERCER_OK;
}
