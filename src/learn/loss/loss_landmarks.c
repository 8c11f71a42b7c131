/* loss_landmarks.c: a convex loss among the functions sum_j beta_j k(z_j, .).

   In an orthonormal basis of these (learn/common/landmark_space.h) the problem is that of the linear kernel on the
   features phi(x_i), which the solver in weights takes as it takes any kernel of few features (loss_primal.h). Its
   answer is alpha, feasible for the dual problem of all functions too; beta = T'^-1 Phi'alpha. How far that is from
   the exact problem certify/sampled_gap.c says, from the rows. */
#include "learn/loss/loss_landmarks.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "certify/sampled_gap.h"
#include "data/table/columns.h"
#include "data/table/data.h"
#include "gram/features/feature_products.h"
#include "iterative/preconditioner_rank.h"
#include "kernel/language/parse.h"
#include "learn/loss/loss_primal.h"
#include <string.h>

enum { STRIP = 64 }; /* rows that one triangular solve takes */

int64_t mc_loss_landmarks_count(int64_t n, int64_t asked) {
    const int64_t wanted = asked ? asked : mc_min_count(mc_rank_cap(n), MC_LOSS_LANDMARKS_MOST);
    return mc_min_count(wanted, n);
}

size_t mc_loss_landmarks_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t asked, int64_t columns, int64_t width) {
    const int64_t m = mc_loss_landmarks_count(p->n, asked);
    mercer_data z = *p->x;
    z.n = m;
    const size_t features = mc_work_need(p->n * m, 8) + mc_work_need(m * m, 8) + mc_work_need(p->n, 8);
    const size_t making = mc_gram_bytes(ctx, p->kernel, p->x, &z, MERCER_F64, 0);
    const size_t solving = mc_loss_primal_system_bytes(ctx, p->n, m, columns) + mc_work_need(2 * p->n * width, 8);
    const size_t after = mc_sampled_gap_bytes(ctx, p, m, width) + 3 * mc_work_need(m * width, 8);
    return mc_landmark_space_bytes(ctx, p, m) + features + mc_max_size(making, mc_max_size(solving, after))
           + 64 * MC_ALIGN;
}

/* ---- The features ---- */

typedef struct mapped_rows {
    const mc_landmark_space *space;
    double *Z;
} mapped_rows;

static void turn_into_features(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mapped_rows *r = arg;
    mc_landmark_space_features(r->space, end - begin, r->Z + begin * r->space->m);
}

static mercer_status make_features(mercer_ctx *ctx, const mc_problem *p, const mc_landmark_space *space,
                                   mercer_data *out) {
    mc_gram *gram = NULL;
    mapped_rows r = {space, out->values};
    mc_begin_phase(ctx, "features");
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, space->z, MERCER_F64, &gram));
    mercer_status status = mc_gram_block(ctx, gram, 0, p->n, 0, space->m, MERCER_F64, r.Z, space->m);
    mc_gram_close(gram);
    MC_THEN(status, mc_for(ctx, p->n, STRIP, turn_into_features, &r));
    return status;
}

/* The problem with the features for its rows. */
static mercer_status put_features(mercer_ctx *ctx, const mc_problem *p, mc_loss_landmarks *s) {
    mercer_kernel *linear = NULL;
    s->p = *p;
    s->p.x = NULL;
    s->p.kernel = NULL;
    s->p.gram = NULL;
    MC_TRY(mc_data_new_unset(ctx, p->n, s->space.m, MERCER_F64, -1, &s->p.x));
    MC_TRY(make_features(ctx, p, &s->space, s->p.x));
    MC_TRY(mc_kernel_parse(ctx, "linear", (mc_users){0}, &linear));
    const mercer_status status = mc_kernel_bind(ctx, linear, s->p.x, &s->p.kernel);
    mercer_kernel_free(linear);
    return status;
}

mercer_status mc_loss_landmarks_open(mercer_ctx *ctx, const char *who, const mc_problem *p, int64_t asked,
                                     mc_loss_landmarks **out) {
    mc_loss_landmarks *s = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    mercer_status status =
        mc_landmark_space_open(ctx, who, p, "pivots", mc_loss_landmarks_count(p->n, asked), &s->space);
    MC_THEN(status, put_features(ctx, p, s));
    if (status)
        mc_loss_landmarks_close(s);
    else
        *out = s;
    return status;
}

void mc_loss_landmarks_close(mc_loss_landmarks *s) {
    if (!s)
        return;
    mc_landmark_space_close(&s->space);
    mercer_data_free(s->p.x);
    mercer_kernel_free(s->p.kernel);
    mc_free(s);
}

/* ---- The model ---- */

/* beta: m x width. */
static mercer_status find_coefficients(mercer_ctx *ctx, const mc_loss_machine *m, int64_t width, double *beta) {
    const mc_loss_landmarks *s = m->landmarks;
    const int64_t count = s->space.m;
    mc_feature_products z;
    double *theta = NULL;
    MC_TRY(MC_ALLOC(ctx, theta, width * count));
    mercer_status status = mc_feature_products_open(ctx, s->p.kernel, s->p.x, false, &z);
    for (int64_t j = 0, column = 0; j < m->count && !status; column += m->task[j++].k)
        status = mc_feature_project(ctx, &z, m->task[j].k, m->task[j].alpha, theta + column * count);
    for (int64_t i = 0; i < count * width; i++)
        beta[i] = theta[i % width * count + i / width];
    mc_feature_products_close(&z);
    mc_free(theta);
    MC_THEN(status, mc_landmark_space_solve(ctx, &s->space, true, width, beta));
    return status;
}

/* Numbers of the landmarks, of two classes those of the first before those of the second; how many the first has. */
static int64_t order_landmarks(const mc_loss_machine *m, int64_t *order) {
    const mc_landmark_space *space = &m->landmarks->space;
    int64_t count = 0, first = 0;
    for (int64_t pass = 0; pass < (m->classes == 2 ? 2 : 1); pass++) {
        for (int64_t j = 0; j < space->m; j++)
            if (m->classes != 2 || m->p.class_of[space->rows[j]] == pass)
                order[count++] = j;
        first = pass ? first : count;
    }
    return first;
}

static mercer_status keep_landmarks(mercer_ctx *ctx, const mc_loss_machine *m, const int64_t *order, int64_t first,
                                    const double *beta, mc_fitted *f) {
    const mc_landmark_space *space = &m->landmarks->space;
    const int64_t width = mc_form_width(f->form, f->outputs);
    MC_TRY(mc_data_take(ctx, space->z, order, space->m, &f->centres));
    MC_TRY(MC_ALLOC(ctx, f->row, space->m));
    MC_TRY(MC_ALLOC(ctx, f->alpha, space->m * width));
    for (int64_t j = 0; j < space->m; j++) {
        f->row[j] = m->place[space->rows[order[j]]];
        memcpy(f->alpha + j * width, beta + order[j] * width, (size_t)width * sizeof *beta);
    }
    if (f->form != MC_PAIRS)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, f->class_start, 3));
    f->class_start[1] = first;
    f->class_start[2] = space->m;
    return MERCER_OK;
}

static mercer_status keep_intercepts(mercer_ctx *ctx, const mc_loss_machine *m, int64_t width, mc_fitted *f) {
    MC_TRY(MC_ALLOC(ctx, f->intercept, width));
    for (int64_t j = 0, column = 0; j < m->count; column += m->task[j++].k)
        memcpy(f->intercept + column, m->task[j].b, (size_t)m->task[j].k * sizeof(double));
    return MERCER_OK;
}

mercer_status mc_loss_landmarks_finish(mercer_ctx *ctx, const mc_loss_machine *m, mercer_status stopped, mc_fitted *f) {
    const mc_landmark_space *space = &m->landmarks->space;
    f->form = m->classes == 2 ? MC_PAIRS : MC_VALUES;
    f->outputs = m->p.outputs;
    const int64_t width = mc_form_width(f->form, f->outputs);
    double *beta = NULL;
    int64_t *order = NULL;
    mc_work work;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(beta, space->m * width), MC_SLICE(order, space->m)));
    mercer_status status = find_coefficients(ctx, m, width, beta);
    const int64_t first = order_landmarks(m, order);
    MC_THEN(status, keep_landmarks(ctx, m, order, first, beta, f));
    MC_THEN(status, keep_intercepts(ctx, m, width, f));
    mc_begin_phase(ctx, "check");
    if (!status) {
        mc_loss_write_report(m, stopped, f, &f->report);
        f->report.approximate = true;
        f->report.rank = space->m;
    }
    MC_THEN(status, mc_sampled_gap_check(ctx, &m->p, space->z, beta, m->task, m->count, &f->report));
    mc_work_close(&work);
    return status;
}
