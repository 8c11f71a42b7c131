/* ridge_nystrom.c: ridge regression in the span of k(z_j, .) at m landmarks.

   K_zz = T T' (landmarks that depend on others in rounded arithmetic are dropped), features phi(x) = T^-1 k_z(x), Phi =
   K_xz T^-T: then |f|^2 = |theta|^2 for f = <theta, phi>, and

       (Phi'W Phi + lambda I) theta = Phi'W (y - b),   f = sum_j beta_j k(z_j, .),  beta = T^-T theta,

   is solved by conjugate gradients that evaluate K_xz anew in every product: n m entries twice, m^2 numbers in memory.
   Phi'W Phi from a sample of rows, or all of them where that is cheap, is the preconditioner. The method of FALKON
   (Rudi, Carratino and Rosasco, 2017), with the preconditioner from rows rather than landmarks, so that any landmarks
   will do.

   Landmarks: random pivots (gram/lowrank/lowrank.c) among all rows or a sample of them, rows drawn uniformly, or those
   listed. */
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include "learn/ridge/approximate.h"
#include "learn/common/landmark_space.h"
#include "learn/common/landmarks.h"
#include "learn/common/normal_equations.h"
#include "iterative/preconditioner_rank.h"
#include "certify/sampled_residual.h"
#include "iterative/pcg.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum {
    ROWS = 1024,    /* of Phi made at a time */
    STRIP = 64,     /* rows that one triangular solve takes */
    OVERSAMPLE = 8, /* rows of the preconditioner for each landmark */
    CHEAP = 2500,   /* up to so many landmarks all rows are taken: their products cost no more than the steps saved */
    STEPS_MOST = 1000
};

typedef struct nystrom {
    mc_approximate *a;
    int64_t n, m, t;
    mc_landmark_space space;
    /* in double: T^-1 would turn the rounding of floats into noise where landmarks nearly depend on each other */
    mc_gram *xz, *zx;
    double *on_rows, *on_marks, *theta, *C, *diagonal; /* n x t, m x t, m x t, m x t, m */
    mc_normal_equations normal;
    mc_work work; /* of the vectors */
} nystrom;

static void lay_out_nystrom(mc_work *work, void *self) {
    nystrom *s = self;
    s->on_rows = mc_work_take(work, s->n * s->t, sizeof *s->on_rows);
    double **const vectors[] = {&s->on_marks, &s->theta, &s->C};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = mc_work_take(work, s->m * s->t, sizeof(double));
    s->diagonal = mc_work_take(work, s->m, sizeof *s->diagonal);
}

int64_t mc_nystrom_count(int64_t n, int64_t asked) {
    return asked ? (asked < n ? asked : n) : mc_rank_cap(n);
}

static int64_t sample_of(int64_t n, int64_t m) {
    return m <= CHEAP || n <= OVERSAMPLE * m ? n : OVERSAMPLE * m;
}

/* A sample of rows in place of all, with its operator. */
static size_t sample_bytes(mercer_ctx *ctx, const mc_problem *p, const mercer_data *z) {
    mercer_data few = *p->x;
    few.n = sample_of(p->n, z->n);
    return few.n == p->n ? 0
                         : mc_work_need(p->n, 8) + (size_t)(few.n * p->x->d) * 16
                               + mc_gram_bytes(ctx, p->kernel, &few, z, MERCER_F64, 0);
}

/* Between the choice of the landmarks and the check: K_zz, the operators, the normal equations and what is iterated on.
   */
static size_t solving_bytes(mercer_ctx *ctx, const mc_problem *p, const mercer_data *z, int64_t t) {
    const int64_t n = p->n, m = z->n;
    const size_t grams =
        mc_gram_bytes(ctx, p->kernel, p->x, z, MERCER_F64, t) + mc_gram_bytes(ctx, p->kernel, z, p->x, MERCER_F64, t);
    const size_t vectors = mc_slices_bytes(lay_out_nystrom, &(nystrom){.n = n, .m = m, .t = t});
    const size_t rows = mc_work_need(ROWS * m, 8) + sample_bytes(ctx, p, z);
    return mc_work_need(m * m, 8) + mc_normal_bytes(m, 0) + grams + vectors + mc_max_size(rows, mc_pcg_bytes(m, t));
}

size_t mc_nystrom_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t asked, int64_t t) {
    const int64_t n = p->n, m = mc_nystrom_count(n, asked);
    mercer_data z = *p->x;
    z.n = m;
    const size_t kept = mc_work_need(m * p->outputs, 8) + mc_work_need(n * p->outputs, 8);
    const size_t before = mc_landmark_space_bytes(ctx, p, m), after = mc_sampled_residual_bytes(ctx, p);
    const size_t own = mc_work_need(n, 8) + 2 * (size_t)(m * p->x->d) * 8 + (size_t)(p->x->d * 64);
    return kept + mc_max_size(before, own + mc_max_size(solving_bytes(ctx, p, &z, t), after)) + 64 * MC_ALIGN;
}

/* ---- The features ---- */

typedef struct strip {
    const nystrom *s;
    double *Z;
    int64_t first;       /* row of the problem, or of the sample */
    const int64_t *rows; /* NULL: the problem's own */
    double scale;
} strip;

/* Rows of K_xz -> rows of S Phi: T^-1 from the left of their transpose. */
static void nystrom_features(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const strip *w = arg;
    const nystrom *s = w->s;
    const int64_t m = s->m;
    const double *root = s->a->p->root;
    double *Z = w->Z + begin * m;
    mc_landmark_space_features(&s->space, end - begin, Z);
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = w->rows ? w->rows[w->first + i] : w->first + i;
        const double factor = w->scale * (root ? root[row] : 1);
        for (int64_t j = 0; j < m; j++)
            Z[(i - begin) * m + j] *= factor;
    }
}

/* The normal equations of the rows of gram, scaled so that a sample stands for all. */
static mercer_status take_in(mercer_ctx *ctx, nystrom *s, const mc_gram *gram, const int64_t *rows, int64_t count) {
    double *Z = NULL;
    MC_TRY(MC_ALLOC(ctx, Z, ROWS * s->m));
    mercer_status status = MERCER_OK;
    mc_begin_phase(ctx, "factor");
    for (int64_t begin = 0; !status && begin < count; begin += ROWS) {
        const int64_t end = begin + ROWS < count ? begin + ROWS : count;
        strip w = {.s = s, .Z = Z, .first = begin, .rows = rows, .scale = sqrt((double)s->n / (double)count)};
        mc_set_phase_span(ctx, (double)begin / (double)count, (double)end / (double)count);
        status = mc_gram_block(ctx, gram, begin, end, 0, s->m, MERCER_F64, Z, s->m);
        MC_THEN(status, mc_for(ctx, end - begin, STRIP, nystrom_features, &w));
        MC_THEN(status, mc_normal_add(ctx, &s->normal, end - begin, Z, NULL));
    }
    mc_free(Z);
    return status;
}

/* A sample of rows in place of all. */
static mercer_status take_in_sample(mercer_ctx *ctx, nystrom *s, int64_t q) {
    const mc_problem *p = s->a->p;
    int64_t *rows = NULL;
    mercer_data *few = NULL;
    mc_gram *gram = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, s->n));
    mc_landmarks_uniform(ctx->options.seed, 1, s->n, q, rows);
    mercer_status status = mc_data_take(ctx, p->x, rows, q, &few);
    MC_THEN(status, mc_gram_open(ctx, p->kernel, few, s->space.z, MERCER_F64, &gram));
    MC_THEN(status, take_in(ctx, s, gram, rows, q));
    mc_gram_close(gram);
    mercer_data_free(few);
    mc_free(rows);
    return status;
}

static mercer_status factor_preconditioner(mercer_ctx *ctx, nystrom *s) {
    const int64_t q = sample_of(s->n, s->m);
    MC_TRY(mc_normal_open(ctx, s->m, 0, &s->normal));
    MC_TRY(q == s->n ? take_in(ctx, s, s->xz, NULL, s->n) : take_in_sample(ctx, s, q));
    return mc_normal_factor(ctx, &s->normal, s->a->lambda);
}

/* ---- The system ---- */

/* Y <- Phi'W Phi V. */
static mercer_status apply_normal_matrix(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const nystrom *s = self;
    const double *root = s->a->p->root;
    memcpy(s->on_marks, V, (size_t)(s->m * t) * sizeof *V);
    MC_TRY(mc_landmark_space_solve(ctx, &s->space, true, t, s->on_marks));
    MC_TRY(mc_gram_apply(ctx, s->xz, t, s->on_marks, s->on_rows));
    for (int64_t i = 0; root && i < s->n * t; i++)
        s->on_rows[i] *= root[i / t] * root[i / t];
    MC_TRY(mc_gram_apply(ctx, s->zx, t, s->on_rows, Y));
    return mc_landmark_space_solve(ctx, &s->space, false, t, Y);
}

static mercer_status apply_inverse(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const nystrom *s = self;
    memcpy(Y, V, (size_t)(s->m * t) * sizeof *V);
    return mc_normal_solve(ctx, &s->normal, t, Y);
}

/* C <- Phi'S [S (Y - mean), s]. */
static mercer_status form_right_hand_sides(mercer_ctx *ctx, const nystrom *s) {
    const double *root = s->a->p->root;
    mc_approximate_right_hand_sides(s->a, 0, s->n, s->on_rows);
    for (int64_t i = 0; root && i < s->n * s->t; i++)
        s->on_rows[i] *= root[i / s->t];
    MC_TRY(mc_gram_apply(ctx, s->zx, s->t, s->on_rows, s->C));
    return mc_landmark_space_solve(ctx, &s->space, false, s->t, s->C);
}

static mercer_status iterate_nystrom_pcg(mercer_ctx *ctx, nystrom *s) {
    const mc_pcg_problem problem = {.n = s->m,
                                    .t = s->t,
                                    .fast = {.n = s->m, .self = s, .apply = apply_normal_matrix},
                                    .exact = {.n = s->m, .self = s, .apply = apply_normal_matrix},
                                    .preconditioner = {.n = s->m, .self = s, .apply = apply_inverse},
                                    .diagonal = s->diagonal,
                                    .B = s->C,
                                    .tolerance = s->a->tolerance,
                                    .iterations_max = STEPS_MOST};
    mc_pcg_result result;
    mc_begin_phase(ctx, "solve");
    for (int64_t j = 0; j < s->m; j++)
        s->diagonal[j] = s->a->lambda;
    mercer_status status = mc_pcg_solve(ctx, &problem, s->theta, &result);
    const mercer_status stop = mc_stop_taken(ctx);
    s->a->iterations = result.iterations;
    s->a->stopped = stop == MERCER_TIME ? "time" : stop ? "caller" : result.converged ? "no" : "precision";
    mc_log_message(ctx, "nystrom: %lld landmarks, %lld steps, residual %.2g", (long long)s->m,
                   (long long)result.iterations, result.residual_relative);
    return stop ? MERCER_OK : status;
}

/* ---- From landmarks to coefficients ---- */

static mercer_status choose_landmarks(mercer_ctx *ctx, nystrom *s) {
    const mc_approximate *a = s->a;
    const int64_t wanted = mc_nystrom_count(s->n, mc_landmarks_count(a->landmarks, s->n, a->rank));
    MC_TRY(mc_landmark_space_open(ctx, "ridge", a->p, a->landmarks, wanted, &s->space));
    s->m = s->space.m;
    return MERCER_OK;
}

static mercer_status open_operators(mercer_ctx *ctx, nystrom *s) {
    const mc_problem *p = s->a->p;
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, s->space.z, MERCER_F64, &s->xz));
    MC_TRY(mc_gram_open(ctx, p->kernel, s->space.z, p->x, MERCER_F64, &s->zx));
    return mc_work_lay(ctx, &s->work, lay_out_nystrom, s);
}

static mercer_status landmark_coefficients(mercer_ctx *ctx, nystrom *s) {
    mc_approximate *a = s->a;
    const int64_t outputs = a->p->outputs;
    mc_approximate_intercept(a, s->m, s->C, s->theta);
    MC_TRY(MC_ALLOC(ctx, a->alpha, s->m * outputs));
    MC_TRY(MC_ALLOC(ctx, a->F, s->n * outputs));
    for (int64_t j = 0; j < s->m * outputs; j++) {
        a->alpha[j] = s->theta[j / outputs * s->t + j % outputs];
        a->square_norm += a->alpha[j] * a->alpha[j];
    }
    MC_TRY(mc_landmark_space_solve(ctx, &s->space, true, outputs, a->alpha));
    mc_begin_phase(ctx, "values");
    MC_TRY(mc_gram_apply(ctx, s->xz, outputs, a->alpha, a->F));
    a->centres = s->space.z;
    a->rows = s->space.rows;
    s->space.z = NULL;
    s->space.rows = NULL;
    return MERCER_OK;
}

static mercer_status solve_nystrom(mercer_ctx *ctx, nystrom *s) {
    MC_TRY(choose_landmarks(ctx, s));
    MC_TRY(open_operators(ctx, s));
    MC_TRY(factor_preconditioner(ctx, s));
    MC_TRY(form_right_hand_sides(ctx, s));
    MC_TRY(iterate_nystrom_pcg(ctx, s));
    mc_shield_from_stop(ctx, true); /* a stop has been answered already; what is left is short */
    const mercer_status status = landmark_coefficients(ctx, s);
    mc_shield_from_stop(ctx, false);
    return status;
}

mercer_status mc_approximate_nystrom(mercer_ctx *ctx, mc_approximate *a) {
    nystrom s = {.a = a, .n = a->p->n, .t = a->t};
    const mercer_status status = solve_nystrom(ctx, &s);
    mc_gram_close(s.xz);
    mc_gram_close(s.zx);
    mc_work_close(&s.work);
    mc_normal_close(&s.normal);
    mc_landmark_space_close(&s.space);
    return status;
}
