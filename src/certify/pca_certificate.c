/* pca_certificate.c: what unit vectors v_c say about the principal components, from the rows alone. K is evaluated
   anew, in double.

       theta_c = v_c' M v_c,   r_c = |M v_c - theta_c v_c|,   M = P S K S P (problem/pca_matrix.c):

   an eigenvalue of M lies within r_c of theta_c, whatever v_c came from (M is symmetric; Krylov and Weinstein). The
   component is u_c = sum_i a_ic phi(x_i), a_c = S v_c / sqrt(theta_c), of length 1; since v_c is orthogonal to q the
   coefficients add up to 0, and the score of x is

       <u_c, phi(x) - mu> = sum_i a_ic k(x_i, x) - sum_ij a_ic k(x_i, x_j) w_j / W.

   One product K [S v_1 ... S v_k, S q] serves all of it. The variance is tr M = sum w_i k_ii - q'S K S q.

   Sign: the entry of v_c of the largest size, the first of those within 1e-8 of it, is positive.

   Rounding: |computed (K b)_i - (K b)_i| <= entry |b|_1 + gamma_n sum_j |k_ij| |b_j|, where of a kernel |k_ij| <=
   sqrt(k_ii k_jj), as in ridge_certificate.c; where k is not proved to be one, that sum is made from the entries. */
#include "certify/pca_certificate.h"
#include "base/status.h"
#include "base/workspace.h"
#include "certify/certificate.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include <float.h>
#include <math.h>

static const double slack = 1.01, SAME = 1e-8, NEGATIVE = 1e-5;

typedef struct pca_check {
    const mc_problem *p;
    const mc_pca_matrix *m;
    int64_t n, k, t; /* t: columns of the product */
    double entry;
    double *V;        /* n x k */
    double *B, *KB;   /* n x t: S V, S q */
    double *diagonal; /* K_ii */
    double *reach;    /* n x t: sum_j |K_ij| |B_jk|; NULL where the kernel is proved */
    double *row;      /* n: of K, on the way there */
    mc_fitted *f;
} pca_check;

/* Unit length; a column that was mostly q, which has the eigenvalue 0, is emptied. The sign is settled: entries that
   rounding alone tells from the largest count as equal to it. */
static void normalise_eigenvector(const pca_check *c, int64_t k) {
    long double square = 0;
    double largest = 0;
    int64_t first = 0;
    for (int64_t i = 0; i < c->n; i++) {
        const double v = c->V[i * c->k + k];
        square += (long double)v * v;
        largest = fmax(largest, fabs(v));
    }
    while (fabs(c->V[first * c->k + k]) < (1 - SAME) * largest)
        first++;
    const double factor = square > 0.25 ? (c->V[first * c->k + k] < 0 ? -1 : 1) / (double)sqrtl(square) : 0;
    for (int64_t i = 0; i < c->n; i++)
        c->V[i * c->k + k] *= factor;
}

static void write_columns(const pca_check *c) {
    mc_pca_project(c->m, c->k, c->V);
    for (int64_t k = 0; k < c->k; k++)
        normalise_eigenvector(c, k);
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t k = 0; k < c->k; k++)
            c->B[i * c->t + k] = mc_problem_root(c->p, i) * c->V[i * c->k + k];
        if (c->m->q)
            c->B[i * c->t + c->k] = mc_problem_root(c->p, i) * c->m->q[i];
    }
}

/* sum_i B_ia (K B)_ib. */
static double bilinear_form(const pca_check *c, int64_t a, int64_t b) {
    long double sum = 0;
    for (int64_t i = 0; i < c->n; i++)
        sum += (long double)c->B[i * c->t + a] * c->KB[i * c->t + b];
    return (double)sum;
}

/* |K| |B|, a row of K at a time. */
static mercer_status write_reach(mercer_ctx *ctx, const pca_check *c, const mc_gram *gram, double *row) {
    for (int64_t i = 0; i < c->n; i++) {
        MC_TRY(mc_gram_block(ctx, gram, i, i + 1, 0, c->n, MERCER_F64, row, c->n));
        for (int64_t k = 0; k < c->t; k++) {
            long double sum = 0;
            for (int64_t j = 0; j < c->n; j++)
                sum += (long double)fabs(row[j]) * fabs(c->B[j * c->t + k]);
            c->reach[i * c->t + k] = (double)sum;
        }
    }
    return MERCER_OK;
}

/* A bound on the rounding of column k of S K B. */
static double rounding_of(const pca_check *c, int64_t k, double theta) {
    const double t = (double)(c->n + 2) * DBL_EPSILON / 2, gamma = t / (1 - t), u = DBL_EPSILON / 2;
    long double absolute = 0, reach = 0, square = 0;
    for (int64_t i = 0; i < c->n; i++) {
        absolute += fabs(c->B[i * c->t + k]);
        reach += sqrt(fmax(c->diagonal[i], 0)) * fabs(c->B[i * c->t + k]);
    }
    for (int64_t i = 0; i < c->n; i++) {
        const double along = c->reach ? c->reach[i * c->t + k] : sqrt(fmax(c->diagonal[i], 0)) * (double)reach;
        const double product = c->entry * (double)absolute + gamma * along;
        const double e = mc_problem_root(c->p, i) * (product + 8 * u * fabs(c->KB[i * c->t + k]))
                         + 8 * u * fabs(theta * c->V[i * c->k + k]);
        square += (long double)e * e;
    }
    return slack * (double)sqrtl(square);
}

/* |P S K B_k - theta v_k|. */
static double residual_of(const pca_check *c, int64_t k, double theta) {
    const double along = c->m->q ? bilinear_form(c, c->k, k) : 0; /* q' S K S v */
    long double square = 0;
    for (int64_t i = 0; i < c->n; i++) {
        const double q = c->m->q ? c->m->q[i] : 0;
        const double r = mc_problem_root(c->p, i) * c->KB[i * c->t + k] - along * q - theta * c->V[i * c->k + k];
        square += (long double)r * r;
    }
    return (double)sqrtl(square);
}

static double variance_of(const pca_check *c) {
    long double sum = 0;
    for (int64_t i = 0; i < c->n; i++)
        sum += (long double)mc_problem_root(c->p, i) * mc_problem_root(c->p, i) * c->diagonal[i];
    return (double)sum - (c->m->q ? bilinear_form(c, c->k, c->k) : 0);
}

static double weight_sum(const pca_check *c) {
    long double W = 0;
    for (int64_t i = 0; i < c->n; i++)
        W += (long double)mc_problem_root(c->p, i) * mc_problem_root(c->p, i);
    return (double)W;
}

static void keep_component(const pca_check *c, int64_t k, double theta) {
    mc_fitted *f = c->f;
    for (int64_t i = 0; i < c->n; i++)
        f->alpha[i * c->k + k] = c->B[i * c->t + k] / sqrt(theta);
    f->intercept[k] = c->m->q ? -bilinear_form(c, c->k, k) / sqrt(theta * weight_sum(c)) : 0;
}

/* The last of the eigenvalues that were asked for lies further below zero than rounding reaches: the matrix is not that
   of a kernel. */
static mercer_status check_positive(mercer_ctx *ctx, const pca_check *c, const double *spectrum, int64_t rank) {
    const double last = spectrum[2 * (c->k - 1)];
    long double size = 0;
    for (int64_t i = 0; i < c->n; i++)
        size += (long double)mc_problem_root(c->p, i) * mc_problem_root(c->p, i) * fabs(c->diagonal[i]);
    if (-last <= NEGATIVE * spectrum[0] || -last <= (double)c->n * DBL_EPSILON * (double)size)
        return MERCER_OK;
    return mc_fail(
        ctx, MERCER_NOT_A_KERNEL,
        "pca: eigenvalue %lld of the matrix of %.200s is %.6g (the largest %.6g): it is not positive semidefinite and "
        "has %lld directions of positive variance; ask for at most as many, or add white to the kernel",
        (long long)c->k, mercer_kernel_text(c->p->kernel), last, spectrum[0], (long long)rank);
}

/* How many of the k can be told from zero, and from what taking the mean off leaves of it; all of them, or an error
   that says so. */
static mercer_status check_rank(mercer_ctx *ctx, const pca_check *c, const double *spectrum) {
    const double mean = c->m->q ? 8 * DBL_EPSILON * bilinear_form(c, c->k, c->k) : 0,
                 least = fmax((double)c->n * DBL_EPSILON * spectrum[0], mean);
    int64_t rank = 0;
    while (rank < c->k && spectrum[2 * rank] > least)
        rank++;
    if (rank == c->k)
        return MERCER_OK;
    if (!c->p->proved)
        MC_TRY(check_positive(ctx, c, spectrum, rank));
    if (rank == 0)
        return mc_fail(ctx, MERCER_DATA,
                       "pca: the rows are all the same in feature space: there is no variance to explain");
    return mc_fail(ctx, MERCER_INVALID,
                   "pca: components = %lld and the data vary in %lld directions of feature space only (eigenvalues "
                   "above n 2^-52 of the largest); ask for at most as many",
                   (long long)c->k, (long long)rank);
}

static void write_report(const pca_check *c, double rounding, mercer_report *out) {
    const double *spectrum = c->f->spectrum;
    double worst = 0, explained = 0;
    for (int64_t k = 0; k < c->k; k++) {
        worst = fmax(worst, spectrum[2 * k + 1]);
        explained += spectrum[2 * k];
    }
    out->variance = fmax(variance_of(c), explained);
    out->objective = out->variance - explained;
    out->certificate = mc_certificate_blank("eigenvalues");
    out->certificate.residual_relative = worst / spectrum[0];
    out->certificate.residual = worst;
    out->certificate.rounding = rounding;
}

/* row: scratch for one of K. */
static mercer_status bound_eigenvalues(mercer_ctx *ctx, const pca_check *c, const mc_gram *gram) {
    double rounding = 0;
    write_columns(c);
    MC_TRY(mc_gram_diagonal(ctx, gram, c->diagonal));
    MC_TRY(mc_gram_apply(ctx, gram, c->t, c->B, c->KB));
    if (c->reach)
        MC_TRY(write_reach(ctx, c, gram, c->row));
    for (int64_t k = 0; k < c->k; k++) {
        const double theta = bilinear_form(c, k, k), error = rounding_of(c, k, theta);
        rounding = fmax(rounding, error);
        c->f->spectrum[2 * k] = theta;
        c->f->spectrum[2 * k + 1] = residual_of(c, k, theta) + error;
    }
    MC_TRY(check_rank(ctx, c, c->f->spectrum));
    for (int64_t k = 0; k < c->k; k++)
        keep_component(c, k, c->f->spectrum[2 * k]);
    write_report(c, rounding, &c->f->report);
    return MERCER_OK;
}

static void lay_out_workspace(mc_work *work, void *self) {
    pca_check *c = self;
    c->B = mc_work_take(work, c->n * c->t, 8);
    c->KB = mc_work_take(work, c->n * c->t, 8);
    c->diagonal = mc_work_take(work, c->n, 8);
    c->reach = c->p->proved ? NULL : mc_work_take(work, c->n * c->t, 8);
    c->row = mc_work_take(work, c->n, 8);
}

size_t mc_pca_finish_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t k) {
    return mc_slices_bytes(lay_out_workspace, &(pca_check){.p = p, .n = p->n, .k = k, .t = k + 1})
           + mc_pca_matrix_bytes(p->n, 1) + mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, k + 1);
}

static mercer_status certify_rows(mercer_ctx *ctx, pca_check *c) {
    mc_gram *gram = NULL;
    mc_work work = {0};
    MC_TRY(mc_problem_gram_open(ctx, c->p, &gram));
    c->entry = mc_gram_entry_error(gram);
    mercer_status status = mc_work_lay(ctx, &work, lay_out_workspace, c);
    MC_THEN(status, bound_eigenvalues(ctx, c, gram));
    mc_work_close(&work);
    mc_problem_gram_close(c->p, gram);
    return status;
}

mercer_status mc_pca_finish(mercer_ctx *ctx, const mc_problem *p, bool center, int64_t k, double *V, mc_fitted *out) {
    mc_pca_matrix m;
    MC_TRY(mc_pca_matrix_open(ctx, p, center, 1, &m));
    pca_check c = {.p = p, .m = &m, .n = p->n, .k = k, .t = k + center, .V = V, .f = out};
    const mercer_status status = certify_rows(ctx, &c);
    mc_pca_matrix_close(&m);
    return status;
}
