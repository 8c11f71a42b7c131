/* repair_gram.c: the nearest positive semidefinite matrix, and a proof that it is one.

   Nearest in the Frobenius norm: the symmetric part with its negative eigenvalues at 0 (Higham 1988), or with the
   diagonal kept (repair_diagonal.c). What rounding could hide is added: eigenvalues are raised to a floor, or the
   entries off the diagonal shrunk, twice as far each time until mc_prove_gram proves the matrix that is given back. */
#include "linalg/repair_gram.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/check_gram.h"
#include "linalg/eigen.h"
#include "linalg/gram_rounding.h"
#include <math.h>
#include <string.h>

enum { MOST_TRIALS = 30 };

static void lay_out(mc_work *work, void *self) {
    mc_repair *r = self;
    r->U = mc_work_take(work, r->n * r->n, sizeof *r->U);
    r->B = mc_work_take(work, r->n * r->n, sizeof *r->B);
    r->T = mc_work_take(work, r->n * r->n, sizeof *r->T);
    r->w = mc_work_take(work, r->n, sizeof *r->w);
    r->y = mc_work_take(work, r->n, sizeof *r->y);
    r->kept = mc_work_take(work, r->n, sizeof *r->kept);
    r->diagonal = mc_work_take(work, r->n, sizeof *r->diagonal);
    r->vectors = mc_work_take(work, r->keeps ? 7 * r->n : 0, sizeof *r->vectors);
}

mercer_status mc_repair_spectrum(mercer_ctx *ctx, mc_repair *r) {
    const int64_t n = r->n;
    memcpy(r->U, r->S, (size_t)(n * n) * sizeof *r->U);
    for (int64_t i = 0; i < n; i++)
        r->U[i * n + i] += r->y[i];
    return mc_syevd(ctx, mc_column_major(r->U, n, n, n), r->w);
}

void mc_repair_moved_diagonal(const mc_repair *r, double floor, double *out) {
    for (int64_t i = 0; i < r->n; i++)
        out[i] = 0;
    for (int64_t a = 0; a < r->n && r->w[a] < floor; a++)
        for (int64_t i = 0; i < r->n; i++)
            out[i] += (floor - r->w[a]) * (r->U[a * r->n + i] * r->U[a * r->n + i]);
}

/* ---- Where to ---- */

/* S <- M + what is moved, symmetric to the last bit. */
static mercer_status add_moved(mercer_ctx *ctx, mc_repair *r, double floor) {
    const int64_t n = r->n;
    int64_t p = 0;
    for (; p < n && r->w[p] < floor; p++)
        for (int64_t i = 0; i < n; i++)
            r->B[p * n + i] = sqrt(floor - r->w[p]) * r->U[p * n + i];
    const mc_dense B = mc_column_major(r->B, n, p, n);
    if (p)
        MC_TRY(mc_parallel_gemm(ctx, B, mc_transposed(B), mc_row_major(r->T, n, n, n)));
    for (int64_t i = 0; i < n; i++) {
        r->S[i * n + i] += r->y[i];
        for (int64_t j = 0; j <= i && p; j++)
            r->S[j * n + i] = r->S[i * n + j] += r->T[i * n + j];
    }
    return MERCER_OK;
}

/* The diagonal of X to what it was, by a congruence; entries beside it by 1 - shrink. */
static void restore_diagonal(mc_repair *r, double shrink) {
    const int64_t n = r->n;
    for (int64_t i = 0; i < n; i++) {
        const double now = r->S[i * n + i];
        r->y[i] = now > 0 ? sqrt(r->diagonal[i] / now) : 0;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            r->S[j * n + i] = r->S[i * n + j] *= r->y[i] * r->y[j] * (1 - shrink);
        r->S[i * n + i] = r->diagonal[i];
    }
}

static void clear_row(mc_repair *r, int64_t i) {
    for (int64_t j = 0; j < r->n; j++)
        r->S[i * r->n + j] = r->S[j * r->n + i] = 0;
}

/* S from K. Where a diagonal entry that is kept is 0, so is its row in every positive semidefinite matrix. */
static void restore_symmetric_part(mc_repair *r) {
    mc_gram_symmetric(r->K, r->n, r->exponent, r->S);
    for (int64_t i = 0; i < r->n; i++) {
        r->diagonal[i] = r->S[i * r->n + i];
        if (r->keeps && r->K[i * r->n + i] == 0)
            clear_row(r, i);
    }
}

/* The same for K as it is, whose smallest entries are 0 by 2^-exponent. */
static void restore_unscaled(mc_repair *r) {
    mc_gram_symmetric(r->K, r->n, 0, r->S);
    for (int64_t i = 0; i < r->n; i++)
        if (r->keeps && r->K[i * r->n + i] == 0)
            clear_row(r, i);
}

static void scale_back(mc_repair *r) {
    for (int64_t i = 0; i < r->n * r->n; i++)
        r->S[i] = ldexp(r->S[i], r->exponent);
}

/* ---- How far ---- */

/* |K_i - X_i|, with X scaled. */
static double gap_at(const mc_repair *r, int64_t i) {
    return fabs(ldexp(r->K[i], -r->exponent) - r->S[i]);
}

/* |K - X|_F, of gaps whose squares may be too small for numbers, and its largest entry. */
static void measure_distance(const mc_repair *r, mercer_gram_repaired *out) {
    double sum = 0, all = 0;
    for (int64_t i = 0; i < r->n * r->n; i++)
        if (gap_at(r, i) > out->largest) {
            out->largest = gap_at(r, i);
            out->moved[0] = i / r->n;
            out->moved[1] = i % r->n;
        }
    for (int64_t i = 0; i < r->n * r->n; i++) {
        const double k = ldexp(r->K[i], -r->exponent), gap = out->largest > 0 ? gap_at(r, i) / out->largest : 0;
        sum += gap * gap;
        all += k * k;
    }
    const double distance = out->largest * sqrt(sum);
    out->largest = ldexp(out->largest, r->exponent);
    out->distance = ldexp(distance, r->exponent);
    out->relative = all > 0 ? distance / sqrt(all) : 0;
}

/* The square of what symmetry and rows that must be zero cost, S being as restore_symmetric_part left it. */
static double forced_square(const mc_repair *r) {
    double sum = 0;
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < r->n; j++) {
            const double gap = ldexp(r->K[i * r->n + j], -r->exponent) - r->S[i * r->n + j];
            sum += gap * gap;
        }
    return sum;
}

/* What is below every distance: the forced part and twice the dual value, each eigenvalue being wrong by error. */
static double least_distance(const mc_repair *r, double forced) {
    const double n = (double)r->n, error = mc_eigen_cutoff(r->n, r->w);
    double sum = 0, kept = 0;
    for (int64_t a = 0; a < r->n && r->w[a] < 0; a++)
        sum += r->w[a] * r->w[a];
    for (int64_t i = 0; i < r->n; i++)
        kept += r->y[i] * r->y[i];
    const double below = fmax(sqrt(sum) - sqrt(n) * error, 0), square = fmax(below * below - kept, 0);
    return ldexp(sqrt(forced + square) * (1 - n * 0x1p-52), r->exponent);
}

static int64_t count_negative(const mc_repair *r) {
    int64_t count = 0;
    while (count < r->n && r->w[count] < -mc_eigen_cutoff(r->n, r->w))
        count++;
    return count;
}

/* ---- The search for a provable one ---- */

static mercer_status is_proved(mercer_ctx *ctx, const mc_repair *r, mercer_gram_proof *proof) {
    *proof = (mercer_gram_proof){.verdict = MERCER_UNKNOWN, .asymmetric = {-1, -1}};
    return mc_prove_gram(ctx, r->S, r->n, NULL, proof);
}

/* X by a margin above rounding, in units of what rounding could hide. */
static mercer_status move_by(mercer_ctx *ctx, mc_repair *r, const double *y, double margin) {
    double trace = fmax(-r->w[0], 0), least = INFINITY; /* what is added rounds in proportion to -w[0] */
    restore_symmetric_part(r);
    for (int64_t i = 0; i < r->n; i++) {
        r->y[i] = y[i];
        trace += fmax(r->w[i], 0);
        least = r->diagonal[i] > 0 ? fmin(least, r->diagonal[i]) : least;
    }
    const double hidden = margin * (mc_gram_unit_error(r->n) * trace + MC_GRAM_TINY);
    MC_TRY(add_moved(ctx, r, r->keeps ? 0 : hidden));
    if (r->keeps)
        restore_diagonal(r, fmin(hidden / least, 1));
    return MERCER_OK;
}

static mercer_status move_until_proved(mercer_ctx *ctx, mc_repair *r, const double *y, mercer_gram_repaired *out) {
    mercer_gram_proof proof = {.verdict = MERCER_UNKNOWN};
    for (int k = 0; k < MOST_TRIALS && proof.verdict != MERCER_PROVED; k++) {
        MC_TRY(move_by(ctx, r, y, ldexp(8, k)));
        measure_distance(r, out);
        scale_back(r);
        MC_TRY(is_proved(ctx, r, &proof));
    }
    out->bound = proof.bound;
    return proof.verdict == MERCER_PROVED
               ? MERCER_OK
               : mc_fail(ctx, MERCER_NUMERIC,
                         "no matrix near K is proved positive semidefinite: its diagonal spans too many powers of ten");
}

/* S is symmetric already and may need nothing else. */
static mercer_status keep_if_proved(mercer_ctx *ctx, mc_repair *r, mercer_gram_repaired *out, bool *done) {
    mercer_gram_proof proof;
    restore_symmetric_part(r);
    measure_distance(r, out);
    out->least = ldexp(sqrt(forced_square(r)) * (1 - (double)r->n * 0x1p-52), r->exponent);
    restore_unscaled(r);
    MC_TRY(is_proved(ctx, r, &proof));
    *done = proof.verdict == MERCER_PROVED;
    out->bound = proof.bound;
    return MERCER_OK;
}

static mercer_status find_nearest(mercer_ctx *ctx, mc_repair *r, double *y, mercer_gram_repaired *out) {
    restore_symmetric_part(r);
    const double forced = forced_square(r);
    MC_TRY(mc_repair_spectrum(ctx, r));
    out->negative = count_negative(r);
    out->eigenvalue_min = ldexp(r->w[0], r->exponent);
    if (r->keeps)
        MC_TRY(mc_repair_find_diagonal(ctx, r));
    out->iterations = r->steps;
    out->least = least_distance(r, forced);
    memcpy(y, r->y, (size_t)r->n * sizeof *y);
    out->largest = 0;
    return move_until_proved(ctx, r, y, out);
}

static mercer_status repair_matrix(mercer_ctx *ctx, mc_repair *r, mercer_gram_repaired *out) {
    mc_work work;
    bool done = false;
    MC_TRY(mc_work_lay(ctx, &work, lay_out, r));
    mercer_status status = keep_if_proved(ctx, r, out, &done);
    if (!status && !done)
        status = find_nearest(ctx, r, r->kept, out);
    mc_work_close(&work);
    return status;
}

/* ---- The call ---- */

static mercer_status check_diagonal(mercer_ctx *ctx, const double *K, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (K[i * n + i] < 0)
            return mc_fail(ctx, MERCER_DATA,
                           "K(%lld, %lld) is %g: no positive semidefinite matrix has a diagonal entry below 0, so it "
                           "cannot be kept",
                           (long long)(i + 1), (long long)(i + 1), K[i * n + i]);
    return MERCER_OK;
}

static mercer_status start_repair(mercer_ctx *ctx, const double *K, int64_t n, bool keep_diagonal, double *out,
                                  mercer_gram_repaired *facts) {
    if (n < 0 || n > MC_EIGEN_LARGEST)
        return mc_fail(ctx, MERCER_INVALID, "n must be in [0, %d] for a repair by eigenvalues, got %lld",
                       (int)MC_EIGEN_LARGEST, (long long)n);
    MC_TRY(mc_gram_finite(ctx, K, n));
    if (keep_diagonal)
        MC_TRY(check_diagonal(ctx, K, n));
    mc_begin_phase(ctx, "repair");
    mc_repair r = {.K = K, .n = n, .exponent = mc_gram_exponent(K, n), .keeps = keep_diagonal, .S = out};
    return n ? repair_matrix(ctx, &r, facts) : MERCER_OK;
}

mercer_status mercer_gram_repair(mercer_ctx *ctx, const double *K, int64_t n, bool keep_diagonal, double *out,
                                 mercer_gram_repaired *facts) {
    MC_NEED(ctx, K, out, facts);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_gram_repaired", facts));
    mercer_gram_repaired found = {.moved = {-1, -1}};
    const mercer_status status = start_repair(ctx, K, n, keep_diagonal, out, &found);
    mc_sized_write(&found, sizeof found, facts);
    return status;
}
