/* gp_learn.c: learning from samples of the rows, each four times the last, then from all of them.

   An evaluation of the evidence takes n^3 operations, so one on a quarter of the rows takes a 64th. The searches from
   random starts are made on the smallest sample; the best place goes on to the next, where it is nearly the optimum
   already, and so on. Samples are nested, drawn by the seed. */
#include "learn/gp/gp_learn.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/common/landmarks.h"
#include <math.h>
#include <string.h>

enum {
    SMALLEST = 512,
    STEP = 4,
    EVALUATIONS = 30,     /* of a search, most often */
    ESTIMATED_MOST = 2048 /* rows of a sample where the evidence of all rows is estimated */
};
/* evidence of a row: a search ends where steps gain less, all rows together; on a sample, where the next takes over */
static const double GAIN = 5e-6, GAIN_ROUGHLY = 1e-4;

/* The sample after one of so many rows; n: all rows, where the last had about half of them or as many as samples may
   have. */
static int64_t next_count(int64_t n, int64_t most, int64_t count) {
    const int64_t next = count ? STEP * count : SMALLEST;
    return 2 * next <= n && next <= most ? next : n;
}

static int64_t most_of(int64_t n, bool estimated) {
    return estimated ? ESTIMATED_MOST : n;
}

typedef struct learning_sample {
    int64_t n, outputs;
    bool weighted;
    mercer_data *x;
    mc_work work; /* of Y and root */
    double *Y, *root;
    mc_evidence *evidence;
} learning_sample;

static void lay_out_sample(mc_work *work, void *self) {
    learning_sample *s = self;
    s->Y = mc_work_take(work, s->n * s->outputs, sizeof *s->Y);
    if (s->weighted)
        s->root = mc_work_take(work, s->n, sizeof *s->root);
}

static void close_sample(learning_sample *s) {
    mc_evidence_close(s->evidence);
    mercer_data_free(s->x);
    mc_work_close(&s->work);
}

static mercer_status open_sample(mercer_ctx *ctx, const mc_problem *p, const int64_t *rows, int64_t count,
                                 learning_sample *s) {
    const int64_t t = p->outputs;
    MC_TRY(mc_data_take(ctx, p->x, rows, count, &s->x));
    s->n = count;
    s->outputs = t;
    s->weighted = p->root;
    MC_TRY(mc_work_lay(ctx, &s->work, lay_out_sample, s));
    for (int64_t i = 0; i < count; i++) {
        memcpy(s->Y + i * t, p->Y + rows[i] * t, (size_t)t * sizeof *s->Y);
        if (p->root)
            s->root[i] = p->root[rows[i]];
    }
    return mc_evidence_open(ctx, s->x, t, s->Y, s->root, &s->evidence);
}

/* From where *out stands, if it stands anywhere; what was found takes its place. */
static mercer_status go_on(mercer_ctx *ctx, const mc_problem *p, mc_evidence *evidence, double noise,
                           const mc_gp_search *set, mc_gp_found *out) {
    mc_gp_found found;
    const mercer_status status = mc_gp_maximise(ctx, evidence, out->kernel ? out->kernel : p->kernel,
                                                out->kernel ? out->noise : noise, set, &found);
    const int64_t evaluations = out->evaluations + found.evaluations, iterations = out->iterations + found.iterations;
    if (found.kernel && (isfinite(found.value) || !out->kernel)) {
        mercer_kernel_free(out->kernel);
        *out = found;
    } else
        mercer_kernel_free(found.kernel);
    out->evaluations = evaluations;
    out->iterations = iterations;
    return status;
}

static mercer_status learn_from_sample(mercer_ctx *ctx, const mc_problem *p, const int64_t *rows, int64_t count,
                                       double noise, const mc_gp_search *set, mc_gp_found *out) {
    learning_sample s = {0};
    mercer_status status = open_sample(ctx, p, rows, count, &s);
    MC_THEN(status, go_on(ctx, p, s.evidence, noise, set, out));
    close_sample(&s);
    return status;
}

static mercer_status learn_from_samples(mercer_ctx *ctx, const mc_problem *p, double noise, mc_gp_search *set,
                                        mc_gp_found *out) {
    int64_t *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, p->n));
    mc_landmarks_uniform(set->seed, 5, p->n, p->n - 1, rows);
    mercer_status status = MERCER_OK;
    const int64_t most = most_of(p->n, set->estimated);
    for (int64_t count = next_count(p->n, most, 0); count < p->n && !status; count = next_count(p->n, most, count)) {
        set->gain = GAIN_ROUGHLY * (double)count;
        status = learn_from_sample(ctx, p, rows, count, noise, set, out);
        set->restarts = isfinite(out->value) ? 0 : set->restarts;
        set->from_sample = true;
    }
    mc_free(rows);
    return status;
}

size_t mc_gp_learn_bytes(const mc_problem *p, bool estimated) {
    const int64_t half = p->n / 2, most = most_of(p->n, estimated), count = half < most ? half : most;
    learning_sample s = {.n = count, .outputs = p->outputs, .weighted = true};
    return mc_evidence_bytes(count, p->outputs) + mc_slices_bytes(lay_out_sample, &s)
           + (size_t)(count * p->x->d + p->n) * sizeof(double) + 8 * MC_ALIGN;
}

double mc_gp_learn_evaluations(int64_t n, int64_t restarts) {
    double all = 0;
    for (int64_t count = next_count(n, n, 0), searches = restarts + 1;; count = next_count(n, n, count), searches = 1) {
        all += EVALUATIONS * (double)searches * pow((double)count / (double)n, 3);
        if (count == n)
            return all;
    }
}

mercer_status mc_gp_learn(mercer_ctx *ctx, const mc_problem *p, mc_evidence *all, double noise, const mc_gp_search *set,
                          mc_gp_found *out) {
    mc_gp_search next = *set;
    *out = (mc_gp_found){.noise = noise, .value = -INFINITY};
    MC_TRY(learn_from_samples(ctx, p, noise, &next, out));
    next.gain = GAIN * (double)p->n;
    return go_on(ctx, p, all, noise, &next, out);
}
