/* landmark_space.c: landmarks chosen, and their Gram matrix factored. */
#include "learn/common/landmark_space.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "learn/common/landmarks.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-12; /* a landmark whose remainder is below this share of the largest is dropped */

size_t mc_landmark_space_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m) {
    mercer_data z = *p->x;
    z.n = m;
    const size_t square =
        mc_work_need(m * m, 8) + 3 * mc_work_need(m, 8) + mc_gram_bytes(ctx, p->kernel, &z, NULL, MERCER_F64, 0);
    return mc_work_need(p->n, 8) + 2 * (size_t)(m * p->x->d) * 8 + (size_t)(p->x->d * 64)
           + mc_max_size(mc_landmarks_bytes(ctx, p, m), square);
}

mercer_status mc_landmark_space_solve(mercer_ctx *ctx, const mc_landmark_space *s, bool transposed, int64_t columns,
                                      double *X) {
    return mc_trtrs(ctx, mc_column_major(s->T, s->m, s->m, s->m), transposed, mc_row_major(X, s->m, columns, columns));
}

void mc_landmark_space_features(const mc_landmark_space *s, int64_t count, double *Z) {
    mc_trsm(1, mc_column_major(s->T, s->m, s->m, s->m), false, mc_column_major(Z, s->m, count, s->m));
}

/* T, and the landmarks that are left: pivoted, so that those that depend on others come last. */
static mercer_status factor_landmarks(mercer_ctx *ctx, mc_landmark_space *s) {
    const int64_t m = s->m;
    double tolerance = 0;
    int64_t *pivots = NULL, rank = 0;
    MC_TRY(MC_ALLOC(ctx, pivots, m));
    for (int64_t j = 0; j < m; j++)
        tolerance = fmax(tolerance, DEPENDENT * s->T[j * (m + 1)]);
    const mercer_status status = mc_pstrf(ctx, mc_column_major(s->T, m, m, m), tolerance, pivots, &rank);
    for (int64_t j = 0; j < rank; j++) { /* the leading rank x rank block moves together, the landmarks with it */
        memmove(s->T + j * rank, s->T + j * m, (size_t)rank * sizeof *s->T);
        pivots[j] = s->rows[pivots[j]];
    }
    for (int64_t j = 0; j < rank; j++)
        s->rows[j] = pivots[j];
    s->m = status ? m : rank;
    mc_free(pivots);
    return status;
}

static mercer_status multiply_out(mercer_ctx *ctx, const mc_problem *p, mc_landmark_space *s) {
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, p->kernel, s->z, NULL, MERCER_F64, &gram));
    mercer_status status = MC_ALLOC(ctx, s->T, s->m * s->m);
    MC_THEN(status, mc_gram_block(ctx, gram, 0, s->m, 0, s->m, MERCER_F64, s->T, s->m));
    mc_gram_close(gram);
    return status;
}

static mercer_status choose_landmarks(mercer_ctx *ctx, const char *who, const mc_problem *p, const char *how,
                                      int64_t wanted, mc_landmark_space *s) {
    mc_begin_phase(ctx, "landmarks");
    MC_TRY(mc_landmarks_choose(ctx, p, how, wanted, &s->rows, &s->m));
    MC_TRY(mc_data_take(ctx, p->x, s->rows, s->m, &s->z));
    MC_TRY(multiply_out(ctx, p, s));
    const int64_t before = s->m;
    MC_TRY(factor_landmarks(ctx, s));
    if (s->m == 0)
        return mc_fail(ctx, MERCER_NUMERIC, "%s: the kernel is zero at every landmark", who);
    mercer_data_free(s->z);
    s->z = NULL;
    MC_TRY(mc_data_take(ctx, p->x, s->rows, s->m, &s->z)); /* in the order of the pivots, without those dropped */
    if (s->m < before)
        mc_log_message(ctx, "nystrom: %lld of %lld landmarks depend on the others", (long long)(before - s->m),
                       (long long)before);
    return MERCER_OK;
}

mercer_status mc_landmark_space_open(mercer_ctx *ctx, const char *who, const mc_problem *p, const char *how,
                                     int64_t wanted, mc_landmark_space *out) {
    *out = (mc_landmark_space){0};
    const mercer_status status = choose_landmarks(ctx, who, p, how, wanted, out);
    if (status)
        mc_landmark_space_close(out);
    return status;
}

void mc_landmark_space_close(mc_landmark_space *s) {
    mercer_data_free(s->z);
    mc_free(s->rows);
    mc_free(s->T);
    *s = (mc_landmark_space){0};
}
