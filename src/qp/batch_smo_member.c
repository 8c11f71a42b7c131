/* batch_smo_member.c: see batch_smo_member.h. */
#include "qp/batch_smo_member.h"
#include "base/extremes.h"
#include "base/status.h"
#include "qp/newton_free.h"
#include <math.h>
#include <string.h>

enum { STEPS_PER_VARIABLE = 20 };
static const double SLACK = 0.25; /* of the violation: nearer to being in question than this counts as in question */
static const double INNER = 0.1;  /* of the violation at the start of the round */

void mc_member_lay_out(mc_work *work, int64_t places, mc_batch_member *m) {
    mc_smo_block_f32 *b = &m->block;
    *m = (mc_batch_member){.place = mc_work_take(work, places, sizeof(int64_t)),
                           .at = mc_work_take(work, places, sizeof(int64_t)),
                           .column = mc_work_take(work, places, sizeof(int64_t))};
    double **doubles[] = {&b->beta, &b->low, &b->high, &m->step, &m->f};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        *doubles[i] = mc_work_take(work, places, sizeof(double));
    float **floats[] = {&b->v, &b->up, &b->down, &b->diagonal};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        *floats[i] = mc_work_take(work, places, sizeof(float));
}

/* Of the set those free and those at a bound that a step could move off it. The others would wait: their slopes come
   with f. */
void mc_member_pick(const mc_batch_smo *p, int64_t k, const mc_set_matrix *set, mc_batch_member *m) {
    const mc_dual *dual = &p->dual[k];
    const double *beta = p->beta[k], slack = SLACK * m->e.violation;
    const double top = m->e.top[0] + slack, bottom = m->e.bottom[0] - slack;
    m->count = 0;
    for (int64_t b = 0; b < set->count; b++) {
        const int64_t t = set->column[b];
        const double v = -(p->f[k][t] + dual->q[t]);
        const bool up = beta[t]<dual->high[t], down = beta[t]> dual->low[t];
        if ((up && (down || v > bottom)) || (down && v < top))
            m->place[m->count++] = b;
    }
}

/* Where those in question stand in the copy; false: one does not. Both rise. */
static bool find_in_copy(const mc_set_matrix *set, mc_batch_member *m) {
    int64_t b = 0;
    for (int64_t i = 0; i < m->count; i++, b++) {
        const int64_t t = set->column[m->place[i]];
        while (b < m->copy.count && m->copy.column[b] < t)
            b++;
        if (b == m->copy.count || m->copy.column[b] != t)
            return false;
        m->at[i] = b;
    }
    return true;
}

static const mc_set_matrix *narrowest_copy(const mc_set_matrix *set, mc_batch_member *m) {
    if (m->copy.count && m->copy.count < set->count && find_in_copy(set, m))
        return &m->copy;
    memcpy(m->at, m->place, (size_t)m->count * sizeof *m->at);
    return set;
}

static void close_from(mc_smo_block_f32 *b, int64_t first) {
    for (int64_t a = first; a < b->width; a++) {
        b->v[a] = 0;
        b->diagonal[a] = 1;
        b->up[a] = -INFINITY;
        b->down[a] = INFINITY;
    }
}

/* Over all places of the set or of the copy, those closed that are not in question. */
static void fill_block(const mc_batch_smo *p, int64_t k, const mc_set_matrix *set, mc_batch_member *m) {
    mc_smo_block_f32 *b = &m->block;
    const mc_dual *dual = &p->dual[k];
    const mc_set_matrix *from = narrowest_copy(set, m);
    b->K = from->K;
    b->ld = from->ld;
    b->width = mc_padded_size(from->count);
    close_from(b, 0);
    for (int64_t i = 0; i < m->count; i++) {
        const int64_t a = m->at[i], t = from->column[a];
        b->v[a] = (float)-(p->f[k][t] + dual->q[t]);
        b->diagonal[a] = (float)p->K.diag[t];
        b->beta[a] = p->beta[k][t];
        b->low[a] = dual->low[t];
        b->high[a] = dual->high[t];
        b->up[a] = b->beta[a] < b->high[a] ? 0 : -INFINITY;
        b->down[a] = b->beta[a] > b->low[a] ? 0 : INFINITY;
    }
}

/* K of those in question alone. From a copy in the same place: places rise, so what is moved forward is read before it
   is overwritten. */
static void copy_submatrix(const mc_batch_smo_body *body, const mc_set_matrix *set, float *part, mc_batch_member *m) {
    const mc_smo_block_f32 *b = &m->block;
    const int64_t ld = mc_padded_size(m->count);
    for (int64_t a = m->count; a < ld; a++)
        m->at[a] = m->at[0];
    for (int64_t a = 0; a < m->count; a++) {
        body->gather(b->K + m->at[a] * b->ld, m->at, ld, part + a * ld);
        m->column[a] = set->column[m->place[a]];
    }
    m->copy = (mc_set_matrix){part, ld, m->count, m->column};
}

static void set_apart(const mc_batch_smo_body *body, const mc_set_matrix *set, float *part, mc_batch_member *m) {
    mc_smo_block_f32 *b = &m->block;
    copy_submatrix(body, set, part, m);
    double *doubles[] = {b->beta, b->low, b->high};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        for (int64_t a = 0; a < m->count; a++)
            doubles[i][a] = doubles[i][m->at[a]];
    float *floats[] = {b->v, b->up, b->down, b->diagonal};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        for (int64_t a = 0; a < m->count; a++)
            floats[i][a] = floats[i][m->at[a]];
    for (int64_t a = 0; a < m->count; a++)
        m->at[a] = a;
    b->K = part;
    b->ld = b->width = m->copy.ld;
    close_from(b, m->count);
}

/* Steps over the whole set after which the copy would have paid: it costs the square of those in question, a step what
   is beside them. */
static int64_t steps_in_place(const mc_batch_member *m, int64_t all) {
    return m->count < all ? m->count * m->count / (all - m->count) : INT64_MAX;
}

void mc_member_solve(const mc_batch_smo *p, int64_t k, const mc_set_matrix *set, const mc_batch_smo_body *body,
                     float *part, mc_batch_member *m) {
    mc_smo_block_f32 *b = &m->block;
    const int64_t most = mc_min_count(p->steps_max - p->steps[k], STEPS_PER_VARIABLE * m->count);
    fill_block(p, k, set, m);
    b->tolerance = fmax(0.3 * p->tolerance, INNER * m->e.violation);
    b->steps = 0;
    b->steps_max = part ? mc_min_count(most, steps_in_place(m, b->width)) : most;
    body->solve(b);
    if (b->steps == b->steps_max && b->steps < most) {
        set_apart(body, set, part, m);
        b->steps_max = most;
        body->solve(b);
    }
    p->steps[k] += b->steps;
    m->out_of_steps = b->steps == most && !m->newton_failed;
}

void mc_member_put_back(const mc_batch_smo *p, int64_t k, const mc_set_matrix *set, mc_batch_member *m,
                        double *change) {
    for (int64_t b = 0; b < set->count; b++)
        change[b * MC_BATCH] = 0;
    m->stuck = true;
    for (int64_t i = 0; i < m->count; i++) {
        const int64_t a = m->place[i], t = set->column[a];
        const double beta = m->block.beta[m->at[i]];
        change[a * MC_BATCH] = beta - p->beta[k][t];
        m->stuck = m->stuck && change[a * MC_BATCH] == 0;
        p->beta[k][t] = beta;
    }
}

/* ---- Newton's step on the free variables ---- */

/* Whoever a step has not brought half way to the optimum takes no other. */
mercer_status mc_member_newton_step(mercer_ctx *ctx, const mc_batch_smo *p, int64_t k, mc_batch_member *m,
                                    double *change) {
    const mc_newton_free newton = {
        .dual = &p->dual[k], .K = &p->K, .beta = p->beta[k], .f = p->f[k], .buffer = &p->buffers[2]};
    bool found = false;
    m->newton_failed = m->newton_violation > 0 && m->e.violation > m->newton_violation / 2;
    m->newton_violation = m->e.violation;
    if (!m->newton_failed)
        MC_TRY(mc_newton_free_step(ctx, &newton, m->step, &found));
    m->out_of_steps = found;
    m->newton_failed = !found;
    for (int64_t t = 0; t < p->K.n && found; t++)
        change[t * MC_BATCH] = m->step[t];
    memcpy(m->f, p->f[k], (size_t)p->K.n * sizeof *m->f);
    return MERCER_OK;
}

/* The objective along the step is s^2 curvature / 2 - s slope. */
void mc_member_scale_step(const mc_batch_smo *p, int64_t k, mc_batch_member *m) {
    const mc_dual *dual = &p->dual[k];
    double *beta = p->beta[k], *f = p->f[k], slope = 0, curvature = 0;
    for (int64_t t = 0; t < p->K.n; t++) {
        slope -= (m->f[t] + dual->q[t]) * m->step[t];
        curvature += (f[t] - m->f[t]) * m->step[t];
    }
    const double share = slope <= 0 ? 0 : curvature > slope ? slope / curvature : 1;
    for (int64_t t = 0; t < p->K.n; t++) {
        beta[t] = fmin(fmax(beta[t] + share * m->step[t], dual->low[t]), dual->high[t]);
        f[t] = m->f[t] + share * (f[t] - m->f[t]);
    }
    m->newton_failed = share == 0;
    m->out_of_steps = false;
}
