/* prove_gram.c: is a matrix of numbers positive semidefinite? Decided with every rounding error bounded.

   Yes: K - c I is factored, L L' is formed again, and |K - c I - L L'|_F with its rounding errors is at most b < c:
   then K >= (c - b) I. How L was found does not matter, so nothing is believed about BLAS or a device.
   No: v'Kv < 0 for an approximate eigenvector v, in long double with the bound of its error.
   All of it for K by a power of two (gram_rounding.h); where that decides nothing and the diagonal spans many powers of
   two, for D K D with D of powers of two by which the diagonal is near 1: rounding errors are exchanged for smaller
   ones, and K is positive semidefinite where D K D is. */
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/check_gram.h"
#include "linalg/eigen.h"
#include "linalg/gram_rounding.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { ROWS = 16 };            /* of a chunk */
static const double SHIFT = 4; /* c, in units of the rounding errors that are expected */

typedef struct question {
    const double *K;
    int64_t n;
    int exponent;             /* of the largest |K_ij| */
    bool exact;               /* S: the halves of K are equal */
    double shift;             /* c */
    double *S;                /* n x n: the symmetric part of K by 2^-exponent */
    double *A;                /* n x n: L by rows, then the eigenvectors by columns */
    double *w;                /* n: eigenvalues */
    int *own;                 /* n: half the exponent of K_ii */
    mc_gram_difference d;     /* K - c I - L L' */
    bool hollow;              /* some rows of K are zero */
    int *by;                  /* n: S is K_ij by 2^-(by_i + by_j); NULL: by 2^-exponent */
    long double *form, *size; /* n: the part of each row in v'Kv, and in |v|'|K||v| */
    const double *v;
} question;

static void lay_out(mc_work *work, void *self) {
    question *q = self;
    q->S = mc_work_take(work, q->n * q->n, sizeof *q->S);
    q->A = mc_work_take(work, q->n * q->n, sizeof *q->A);
    q->w = mc_work_take(work, q->n, sizeof *q->w);
    q->own = mc_work_take(work, q->n, sizeof *q->own);
    mc_gram_difference_lay_out(work, q->n, &q->d);
    q->form = mc_work_take(work, q->n, sizeof *q->form);
    q->size = mc_work_take(work, q->n, sizeof *q->size);
}

static bool is_hollow(const question *q, int64_t i) {
    for (int64_t j = 0; j < q->n; j++)
        if (q->K[i * q->n + j] != 0 || q->K[j * q->n + i] != 0)
            return false;
    return true;
}

/* A row and column of zeros is given 1 on the diagonal: K is positive semidefinite without it or not at all, and v'Kv
   is no larger than what is then found. */
static void fill_hollow_rows(question *q) {
    for (int64_t i = 0; i < q->n; i++)
        if (is_hollow(q, i)) {
            q->S[i * q->n + i] = 1;
            q->hollow = true;
        }
}

static double shifted_entry(const question *q, int64_t i, int64_t j) {
    return q->S[i * q->n + j] - (i == j ? q->shift : 0);
}

/* K is at least D K D by 2 to this, where that is positive. */
static int smallest_exponent(const question *q) {
    int least = q->by ? 2 * q->by[0] : q->exponent;
    for (int64_t i = 1; q->by && i < q->n; i++)
        least = 2 * q->by[i] < least ? 2 * q->by[i] : least;
    return least;
}

/* ---- Yes ---- */

static mercer_status try_to_prove(mercer_ctx *ctx, question *q, mercer_gram_proof *out) {
    const int64_t n = q->n;
    double trace = 0;
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++)
        trace += fabs(q->S[i * n + i]);
    q->shift = SHIFT * mc_gram_unit_error(n) * trace + 2 * MC_GRAM_TINY;
    if (!q->by)
        out->rounding = ldexp(q->shift, q->exponent);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            q->A[i * n + j] = shifted_entry(q, i, j);
    MC_TRY(mc_potrf(ctx, mc_row_major(q->A, n, n, n), &bad));
    if (bad)
        return MERCER_OK;
    q->d = (mc_gram_difference){n, n, q->S, q->A, NULL, q->shift, q->d.left, q->d.given, q->d.length2};
    MC_TRY(mc_gram_difference_form(ctx, &q->d));
    const double least = q->shift - mc_gram_difference_norm(&q->d);
    if (least > 0) {
        out->verdict = MERCER_PROVED;
        out->bound = q->hollow ? 0 : fmax(nextafter(ldexp(least, smallest_exponent(q)), -INFINITY), 0);
    }
    return MERCER_OK;
}

/* ---- No ---- */

static void evaluate_form(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const question *q = arg;
    for (int64_t i = begin; i < end; i++) {
        long double sum = 0, size = 0;
        for (int64_t j = 0; j < q->n; j++) {
            const long double term = (long double)q->S[i * q->n + j] * q->v[j];
            sum += term;
            size += fabsl(term);
        }
        q->form[i] = sum * q->v[i];
        q->size[i] = size * fabsl((long double)q->v[i]);
    }
}

/* At least v'Kv / v'v, where that is negative. */
static long double bound_on_quotient(const question *q) {
    const long double unit = LDBL_EPSILON * (long double)(2 * q->n + 16) + (q->exact ? 0 : DBL_EPSILON);
    long double form = 0, size = 0, length2 = 0;
    for (int64_t i = 0; i < q->n; i++) {
        form += q->form[i];
        size += q->size[i];
        const long double v = q->by ? ldexpl(q->v[i], -q->by[i]) : q->v[i];
        length2 += v * v;
    }
    const long double most = form + unit * size + MC_GRAM_TINY;
    const long double quotient = most / (length2 * (1 + unit)) * (1 - 2 * DBL_EPSILON);
    return q->by ? quotient : ldexpl(quotient, q->exponent);
}

/* The eigenvector of the least eigenvalue, in A. */
static mercer_status find_direction(mercer_ctx *ctx, question *q) {
    const int64_t n = q->n;
    memcpy(q->A, q->S, (size_t)(n * n) * sizeof *q->A);
    MC_TRY(mc_syevd(ctx, mc_column_major(q->A, n, n, n), q->w));
    q->v = q->A;
    return MERCER_OK;
}

/* v, or D v by a power of two that has its largest entry near 1. */
static void give_weights(const question *q, double *weights) {
    int most = INT_MIN, e = 0;
    for (int64_t i = 0; q->by && i < q->n; i++)
        if (q->v[i] != 0) {
            frexp(q->v[i], &e);
            most = e - q->by[i] > most ? e - q->by[i] : most;
        }
    for (int64_t i = 0; i < q->n; i++)
        weights[i] = q->by ? ldexp(q->v[i], -q->by[i] - most) : q->v[i];
}

static mercer_status try_to_refute(mercer_ctx *ctx, question *q, double *weights, mercer_gram_proof *out) {
    MC_TRY(find_direction(ctx, q));
    MC_TRY(mc_for(ctx, q->n, ROWS, evaluate_form, q));
    const long double bound = bound_on_quotient(q);
    if (!(bound < 0))
        return MERCER_OK;
    out->verdict = MERCER_REFUTED;
    out->bound = fmax((double)bound, -DBL_MAX); /* what is lower still has no number */
    if (weights)
        give_weights(q, weights);
    return MERCER_OK;
}

/* K_ii < 0: e_i'K e_i. */
static bool refuted_by_diagonal(const question *q, double *weights, mercer_gram_proof *out) {
    int64_t least = 0;
    for (int64_t i = 1; i < q->n; i++)
        least = q->K[i * q->n + i] < q->K[least * q->n + least] ? i : least;
    if (!(q->K[least * q->n + least] < 0))
        return false;
    out->verdict = MERCER_REFUTED;
    out->bound = q->K[least * q->n + least];
    for (int64_t i = 0; weights && i < q->n; i++)
        weights[i] = i == least;
    return true;
}

/* ---- By its diagonal ---- */

/* S <- D (K + K')/2 D. False: nothing is gained, or numbers leave their range. */
static bool scale_by_diagonal(question *q) {
    const int64_t n = q->n;
    bool differs = false, fits = true;
    for (int64_t i = 0; i < n; i++) {
        int e = q->exponent;
        if (q->K[i * n + i] > 0)
            frexp(q->K[i * n + i], &e);
        q->own[i] = (e - (e & 1)) / 2;
        differs |= q->own[i] != q->own[0];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int by = -q->own[i] - q->own[j];
            q->S[i * n + j] = 0.5 * ldexp(q->K[i * n + j], by) + 0.5 * ldexp(q->K[j * n + i], by);
            fits &= fabs(q->S[i * n + j]) < 0x1p200;
        }
    q->by = q->own;
    fill_hollow_rows(q);
    return differs && fits;
}

/* ---- The call ---- */

static mercer_status decide_definiteness(mercer_ctx *ctx, const double *K, int64_t n, double *weights,
                                         mercer_gram_proof *out) {
    question q = {.K = K, .n = n, .exponent = mc_gram_exponent(K, n), .exact = out->asymmetry == 0};
    mc_work work;
    MC_TRY(mc_work_lay(ctx, &work, lay_out, &q));
    mc_gram_symmetric(K, n, q.exponent, q.S);
    fill_hollow_rows(&q);
    mercer_status status = try_to_prove(ctx, &q, out);
    if (!status && out->verdict == MERCER_UNKNOWN)
        status = try_to_refute(ctx, &q, weights, out);
    if (!status && out->verdict == MERCER_UNKNOWN && !refuted_by_diagonal(&q, weights, out) && scale_by_diagonal(&q)) {
        status = try_to_prove(ctx, &q, out);
        if (!status && out->verdict == MERCER_UNKNOWN)
            status = try_to_refute(ctx, &q, weights, out);
    }
    mc_work_close(&work);
    return status;
}

mercer_status mc_prove_gram(mercer_ctx *ctx, const double *K, int64_t n, double *weights, mercer_gram_proof *out) {
    if (n < 0 || n > MC_EIGEN_LARGEST)
        return mc_fail(ctx, MERCER_INVALID, "n must be in [0, %d] for a proof by factors, got %lld",
                       (int)MC_EIGEN_LARGEST, (long long)n);
    for (int64_t i = 0; weights && i < n; i++)
        weights[i] = 0;
    MC_TRY(mc_gram_finite(ctx, K, n));
    mc_begin_phase(ctx, "prove");
    MC_TRY(mc_gram_asymmetry(ctx, K, n, &out->asymmetry, out->asymmetric));
    if (out->asymmetry > ldexp(1e-12, mc_gram_exponent(K, n)))
        out->verdict = MERCER_REFUTED;
    else if (n == 0)
        out->verdict = MERCER_PROVED;
    return out->verdict == MERCER_UNKNOWN ? decide_definiteness(ctx, K, n, weights, out) : MERCER_OK;
}

mercer_status mercer_gram_prove(mercer_ctx *ctx, const double *K, int64_t n, double *weights, mercer_gram_proof *out) {
    MC_NEED(ctx, K, out);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_gram_proof", out));
    mercer_gram_proof proof = {.verdict = MERCER_UNKNOWN, .asymmetric = {-1, -1}};
    const mercer_status status = mc_prove_gram(ctx, K, n, weights, &proof);
    mc_sized_write(&proof, sizeof proof, out);
    return status;
}
