/* quadrature.c: stochastic Lanczos quadrature out of conjugate gradients (Golub and Meurant 1994; Ubaru, Chen and Saad
   2017).

   The step lengths a_k and the ratios b_k of conjugate gradients are the tridiagonal matrix of Lanczos' method for
   P^-1/2 A P^-1/2 from q: T_kk = 1/a_k + b_k-1 / a_k-1, T_k,k+1 = sqrt(b_k) / a_k. With T = V diag(t) V' the quadrature
   of Gauss is q' log(.) q = sum_j V_1j^2 log t_j. The columns are recurrences of their own that share every product;
   one that is done is given steps of zero. */
#include "iterative/quadrature.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/block_vectors.h"
#include "linalg/eigen.h"
#include <math.h>
#include <string.h>

typedef struct steps {
    const mc_quadrature *p;
    double *X, *R, *Z, *P, *AP;        /* n x t each */
    double *rz, *first, *step, *ratio; /* t each: z'r now and at the start */
    double *part;                      /* of the sums */
    double *lengths, *ratios;          /* steps_max x t */
    int64_t *taken;                    /* t */
    double *T, *values;                /* one column's matrix */
} steps;

static void lay_out(mc_work *work, int64_t n, int64_t t, int64_t most, steps *s) {
    double **blocks[] = {&s->R, &s->Z, &s->P, &s->AP}, **numbers[] = {&s->rz, &s->first, &s->step, &s->ratio};
    for (int i = 0; i < 4; i++) {
        *blocks[i] = mc_work_take(work, n * t, sizeof(double));
        *numbers[i] = mc_work_take(work, t, sizeof(double));
    }
    s->part = mc_work_take(work, mc_dot_columns_scratch(n, t), sizeof(double));
    s->lengths = mc_work_take(work, most * t, sizeof(double));
    s->ratios = mc_work_take(work, most * t, sizeof(double));
    s->taken = mc_work_take(work, t, sizeof(int64_t));
    s->T = mc_work_take(work, most * most, sizeof(double));
    s->values = mc_work_take(work, most, sizeof(double));
}

static size_t own_bytes(int64_t n, int64_t t, int64_t most) {
    mc_work counted = {0};
    lay_out(&counted, n, t, most, &(steps){0});
    return counted.used;
}

size_t mc_quadrature_bytes(int64_t n, int64_t t, int64_t most) {
    return own_bytes(n, t, most) + mc_eigen_bytes(most) + 4 * MC_ALIGN;
}

static mercer_status begin_lanczos(mercer_ctx *ctx, steps *s) {
    const mc_quadrature *p = s->p;
    memset(s->X, 0, (size_t)(p->n * p->t) * sizeof *s->X);
    memcpy(s->R, p->B, (size_t)(p->n * p->t) * sizeof *s->R);
    memset(s->taken, 0, (size_t)p->t * sizeof *s->taken);
    MC_TRY(p->preconditioner.apply(ctx, p->preconditioner.self, p->t, s->R, s->Z));
    memcpy(s->P, s->Z, (size_t)(p->n * p->t) * sizeof *s->P);
    MC_TRY(mc_dot_columns(ctx, p->n, p->t, s->Z, s->R, s->part, s->rz));
    memcpy(s->first, s->rz, (size_t)p->t * sizeof *s->first);
    return MERCER_OK;
}

static bool is_done(const steps *s, int64_t k) {
    return !(s->rz[k] > s->p->tolerance * s->p->tolerance * s->first[k]);
}

static mercer_status multiply_directions(mercer_ctx *ctx, steps *s) {
    const mc_quadrature *p = s->p;
    MC_TRY(p->K.apply(ctx, p->K.self, p->t, s->P, s->AP));
    for (int64_t i = 0; i < p->n * p->t; i++)
        s->AP[i] += p->lambda * s->P[i];
    return mc_dot_columns(ctx, p->n, p->t, s->P, s->AP, s->part, s->step);
}

/* step <- the lengths a_k, 0 where a column is done; *positive false: p'Ap was not. */
static void choose_lengths(steps *s, bool *positive) {
    for (int64_t k = 0; k < s->p->t; k++) {
        const bool done = is_done(s, k);
        *positive = *positive && (done || s->step[k] > 0);
        s->step[k] = done || !*positive ? 0 : s->rz[k] / s->step[k];
    }
}

static void note_coefficients(steps *s) {
    for (int64_t k = 0; k < s->p->t; k++)
        if (s->step[k] > 0) {
            s->lengths[s->taken[k] * s->p->t + k] = s->step[k];
            s->ratios[s->taken[k] * s->p->t + k] = s->ratio[k];
            s->taken[k]++;
        }
}

static mercer_status take_step(mercer_ctx *ctx, steps *s, bool *positive) {
    const int64_t n = s->p->n, t = s->p->t;
    MC_TRY(multiply_directions(ctx, s));
    choose_lengths(s, positive);
    if (!*positive)
        return MERCER_OK;
    MC_TRY(mc_axpy_columns(ctx, n, t, s->step, s->P, s->X));
    for (int64_t k = 0; k < t; k++)
        s->ratio[k] = -s->step[k];
    MC_TRY(mc_axpy_columns(ctx, n, t, s->ratio, s->AP, s->R));
    MC_TRY(s->p->preconditioner.apply(ctx, s->p->preconditioner.self, t, s->R, s->Z));
    MC_TRY(mc_dot_columns(ctx, n, t, s->Z, s->R, s->part, s->ratio));
    for (int64_t k = 0; k < t; k++) {
        const double now = fmax(0, s->ratio[k]);
        s->ratio[k] = s->step[k] > 0 ? now / s->rz[k] : 0;
        s->rz[k] = s->step[k] > 0 ? now : s->rz[k];
    }
    note_coefficients(s);
    return mc_xpay_columns(ctx, n, t, s->ratio, s->Z, s->P);
}

static bool all_done(const steps *s) {
    for (int64_t k = 0; k < s->p->t; k++)
        if (!is_done(s, k))
            return false;
    return true;
}

/* The quadrature of column k. */
static mercer_status add_up_logs(mercer_ctx *ctx, steps *s, int64_t k, double *out) {
    const int64_t m = s->taken[k], t = s->p->t;
    const double *a = s->lengths + k, *b = s->ratios + k;
    *out = 0;
    if (m == 0)
        return MERCER_OK;
    memset(s->T, 0, (size_t)(m * m) * sizeof *s->T);
    for (int64_t j = 0; j < m; j++) {
        s->T[j * m + j] = 1 / a[j * t] + (j ? b[(j - 1) * t] / a[(j - 1) * t] : 0);
        if (j + 1 < m)
            s->T[j * m + j + 1] = sqrt(b[j * t]) / a[j * t]; /* by columns: the lower half */
    }
    MC_TRY(mc_syevd(ctx, mc_column_major(s->T, m, m, m), s->values));
    for (int64_t j = 0; j < m; j++)
        *out += s->T[j * m] * s->T[j * m] * log(fmax(s->values[j], 0x1p-1000));
    return MERCER_OK;
}

static mercer_status iterate_lanczos(mercer_ctx *ctx, steps *s, mc_quadrature_result *out) {
    bool positive = true;
    MC_TRY(begin_lanczos(ctx, s));
    memcpy(out->squares, s->first, (size_t)s->p->t * sizeof *out->squares);
    for (out->steps = 0; out->steps < s->p->steps_max && positive && !all_done(s); out->steps++) {
        MC_TRY(take_step(ctx, s, &positive));
        MC_TRY(mc_report_progress(ctx, -1));
    }
    out->converged = positive && all_done(s);
    for (int64_t k = 0; k < s->p->t; k++)
        MC_TRY(add_up_logs(ctx, s, k, &out->logs[k]));
    return MERCER_OK;
}

mercer_status mc_quadrature_solve(mercer_ctx *ctx, const mc_quadrature *p, double *X, mc_quadrature_result *out) {
    steps s = {.p = p, .X = X};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, own_bytes(p->n, p->t, p->steps_max)));
    lay_out(&work, p->n, p->t, p->steps_max, &s);
    const mercer_status status = iterate_lanczos(ctx, &s, out);
    mc_work_close(&work);
    return status;
}
