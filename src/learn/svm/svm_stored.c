/* svm_stored.c: quadratic programs of a few thousand rows, all of them over one K of all rows that is made in double
   (kept_matrix.c) and stays: pairs of classes read their runs of it where they lie (qp/stored_smo.h), as many at a time
   as there are threads, and the certificate takes its products from it (certify/svm_kept.c).

   Programs are solved in rounds of so many steps each, so that the clock and whoever watches are heard between them.
   Those that steps on pairs do not settle are few; they go on one after the other with Newton steps and interior points
   (qp/active_set.c) from where they stand. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "learn/svm/svm.h"
#include "qp/growing_smo.h"
#include <math.h>
#include <string.h>

enum {
    STEPS = 1 << 12, /* of a program in one round; these are made in any case */
    ALONE = 400,     /* rows from which pairs of classes do better alone */
    CRAWL = 20       /* more to a variable, after which something else is worth trying */
};
static const double CLOSE = 0.95; /* of the tolerance: nothing but the last digits of double precision is in between */

typedef struct stored {
    mc_svm *s;
    mc_isa isa;
    char *space; /* of each thread */
    size_t share;
    mc_stored_progress *of; /* each task */
    int64_t *open, count;   /* tasks neither done nor left */
} stored;

/* ---- Which ---- */

bool mc_svm_by_pairs(const mc_svm_variant *variant, const mercer_svm *set, const mc_problem *p) {
    return variant->classes && p->x->classes > 2 && set->multiclass && set->multiclass[2] == 'o';
}

/* Up to which number of rows. Pairs of some hundred rows and more do better with what each makes for itself
   (svm_pairs.c). */
static int64_t most_rows(const mc_svm_variant *variant, const mercer_svm *set, const mc_problem *p) {
    const bool several = variant->classes ? p->x->classes > 2 : p->outputs > 2;
    if (mc_svm_by_pairs(variant, set, p))
        return ALONE;
    return several ? MC_SVM_SHARED_ROWS : MC_SVM_DOUBLE_ROWS;
}

size_t mc_svm_shared_bytes(mercer_ctx *ctx, const mc_svm_variant *variant, const mercer_svm *set, const mc_problem *p) {
    const size_t bytes = mc_svm_kept_bytes(p->n);
    if (p->n <= most_rows(variant, set, p) && bytes < mc_memory_left(ctx) / 2)
        return p->n > MC_SVM_DOUBLE_ROWS ? bytes : 0;
    return mc_svm_by_pairs(variant, set, p) ? mc_svm_pairs_bytes(ctx, p) : 0;
}

static bool can_keep(mercer_ctx *ctx, const mc_svm *s) {
    const bool nu_against_rest = s->variant->grouped && s->variant->classes && s->task[0].b < 0; /* three runs */
    const bool plain = !s->path && !*s->set->checkpoint && isfinite(s->C) && !nu_against_rest;
    if (!plain || s->set->precision[0] == 's' || s->p.n > most_rows(s->variant, s->set, &s->p))
        return false;
    for (int64_t k = 0; k < s->tasks; k++)
        if (mc_svm_program_C_is_large(s, &s->task[k]))
            return false;
    return mc_svm_kept_bytes(s->p.n) < mc_memory_left(ctx) / 2;
}

/* ---- One program ---- */

/* The nearest nu is solved for as svc, from the multipliers at hand. */
static void turn_to_nearest(const mc_svm *s, mc_svm_program *t) {
    const mc_svm svc = mc_svm_nearest_begin(s, t);
    mc_svm_program_scale(&svc, t, svc.C);
    t->rise = 0;
    t->tolerance = CLOSE * s->set->tolerance;
}

/* Of nu-svc the margin is to be known, and the violation small beside it: otherwise on with a lower tolerance. */
static void look_at_margin(const mc_svm *s, mc_svm_program *t, mc_stored_progress *p) {
    const mc_margin margin = mc_svm_program_find_margin(s, t);
    const double r = (t->result.intercept[1] - t->result.intercept[0]) / 2, least = CLOSE * s->set->tolerance * r;
    p->left = p->refused = margin == MC_MARGIN_NONE;
    p->nearest = margin == MC_MARGIN_NEAREST;
    p->done = margin == MC_MARGIN_FOUND && t->result.violation <= least;
    if (p->nearest)
        turn_to_nearest(s, t);
    else if (margin == MC_MARGIN_FOUND)
        t->tolerance = CLOSE * least;
}

/* A program that has met its tolerance. */
static void conclude_program(const mc_svm *s, mc_svm_program *t, mc_stored_progress *p) {
    if (s->kind == MC_NU_SVC && !p->nearest) {
        look_at_margin(s, t, p);
    } else if (p->nearest) {
        const mc_svm svc = mc_svm_nearest_begin(s, t);
        mc_svm_nearest_end(s, &svc, t);
        p->done = true;
    } else {
        p->done = true;
    }
    if (p->done)
        mc_svm_program_finish(s, t, t->result.intercept);
}

/* Of the working set that a program of so many rows may begin with. */
static size_t begin_bytes(int64_t n) {
    return mc_growing_smo_pays(n) ? mc_growing_smo_bytes(n) : 0;
}

size_t mc_stored_program_bytes(int64_t n, int64_t m) {
    const size_t first = begin_bytes(n), then = mc_stored_smo_bytes(m);
    return mc_quadratic_program_bytes(m) + (first > then ? first : then);
}

void mc_stored_program_step(const mc_svm *s, mc_svm_program *t, const mc_kernel_runs *K, mc_work work,
                            mc_stored_progress *p) {
    const mc_svm svc = p->nearest ? mc_svm_nearest_begin(s, t) : *s;
    const int64_t left = s->set->iterations - t->result.steps;
    mc_quadratic_program program;
    mc_quadratic_program_lay_out(&work, t->m, &program);
    mc_quadratic_program_write(&svc, t, &program);
    mc_stored_smo_solve(&program.dual, K, t->tolerance, left < STEPS ? left : STEPS, &work, t->beta, t->f, &t->result);
    if (t->result.converged)
        conclude_program(s, t, p);
    p->left = p->left || t->result.steps >= s->set->iterations || t->result.steps > STEPS + CRAWL * t->m
              || (!p->done && K->demand && K->demand->over);
}

void mc_stored_program_begin(const mc_svm *s, mc_svm_program *t, const mc_kernel_runs *K, mc_work work) {
    mc_work scratch = work; /* given back by being forgotten */
    double *c = mc_work_take(&scratch, t->n, sizeof *c);
    mc_quadratic_program program;
    mc_svm_program_choose_start(s, t, K, work);
    for (int64_t i = 0; i < t->n; i++)
        c[i] = mc_svm_program_multiplier(t, i);
    t->tolerance = CLOSE * s->set->tolerance;
    mc_kernel_runs_ask(K, c);
    if (K->demand && K->demand->over)
        return;
    mc_kernel_runs_multiply(K, c, 0, t->n, t->f);
    if (!K->demand || !mc_growing_smo_pays(t->n) || s->variant->grouped || s->variant->doubled)
        return;
    mc_quadratic_program_lay_out(&work, t->m, &program);
    mc_quadratic_program_write(s, t, &program);
    mc_growing_smo_solve(&program.dual, K, t->tolerance, s->set->iterations, work, t->beta, t->f, &t->result);
}

static void run_round(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const stored *w = arg;
    mc_svm_program *t = &w->s->task[w->open[chunk]];
    const mc_work work = {.block = w->space + (size_t)thread * w->share, .size = w->share};
    const mc_kernel_runs K = mc_svm_program_runs(w->s, t, w->isa);
    if (t->result.rounds == 0)
        mc_stored_program_begin(w->s, t, &K, work);
    mc_stored_program_step(w->s, t, &K, work, &w->of[w->open[chunk]]);
}

/* A program that is the only one is solved by the thread that called, for the rows it asks for are made by all. */
static mercer_status run_open(mercer_ctx *ctx, stored *w) {
    if (w->s->tasks > 1)
        return mc_for(ctx, w->count, 1, run_round, w);
    run_round(w, 0, 0, 1, 0);
    return mc_svm_kept_status(w->s);
}

/* ---- All of them ---- */

static void list_open(stored *w) {
    w->count = 0;
    for (int64_t k = 0; k < w->s->tasks; k++)
        if (!w->of[k].done && !w->of[k].left)
            w->open[w->count++] = k;
}

/* What is shown after a round is the first program of it. */
static mercer_status report_round(mercer_ctx *ctx, const stored *w) {
    const mc_svm_program *t = &w->s->task[w->open[0]];
    const mc_watch seen = {"violation", t->result.violation, t->tolerance};
    mc_quadratic_program program;
    if (!mc_progress_watched(ctx))
        return mc_progress_step(ctx, -1, seen);
    MC_TRY(mc_quadratic_program_open(ctx, w->s, t, &program));
    const mercer_status status = mc_dual_report_progress(ctx, &program.dual, t->beta, t->f, seen);
    mc_quadratic_program_close(&program);
    return status;
}

static mercer_status run_rounds(mercer_ctx *ctx, stored *w) {
    mc_progress_start(ctx);
    for (list_open(w); w->count > 0;) {
        MC_TRY(run_open(ctx, w));
        MC_TRY(report_round(ctx, w));
        list_open(w);
    }
    return MERCER_OK;
}

mercer_status mc_stored_program_finish(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t, const mc_stored_progress *p) {
    if (p->refused)
        return mc_svm_program_settle_margin(ctx, s, t);
    t->tolerance = MC_SVM_SAFETY * fmin(t->tolerance, s->set->tolerance);
    if (!p->nearest)
        return mc_svm_program_improve(ctx, s, t);
    MC_TRY(mc_svm_kept_complete(ctx, s)); /* before there is a copy that would do it */
    mc_svm svc = mc_svm_nearest_begin(s, t);
    MC_TRY(mc_svm_program_solve(ctx, &svc, t));
    mc_svm_nearest_end(s, &svc, t);
    mc_svm_program_finish(s, t, t->result.intercept);
    return MERCER_OK;
}

static mercer_status open_stored(mercer_ctx *ctx, stored *w) {
    int64_t m = 0;
    for (int64_t k = 0; k < w->s->tasks; k++)
        m = w->s->task[k].m > m ? w->s->task[k].m : m;
    w->share = mc_stored_program_bytes(w->s->p.n, m);
    MC_TRY(MC_ALLOC(ctx, w->of, w->s->tasks));
    MC_TRY(MC_ALLOC(ctx, w->open, w->s->tasks));
    w->space = mc_alloc_unset(ctx, mc_for_threads(ctx, w->s->tasks), w->share);
    return w->space ? mc_svm_kept_open(ctx, w->s) : MERCER_MEMORY;
}

mercer_status mc_svm_solve_stored(mercer_ctx *ctx, mc_svm *s, bool *solved) {
    stored w = {.s = s, .isa = ctx->isa};
    *solved = can_keep(ctx, s);
    if (!*solved)
        return MERCER_OK;
    mercer_status status = open_stored(ctx, &w);
    MC_THEN(status, run_rounds(ctx, &w));
    for (int64_t k = 0; k < s->tasks && !status; k++)
        if (w.of[k].left && !w.of[k].done)
            status = mc_stored_program_finish(ctx, s, &s->task[k], &w.of[k]);
    mc_free(w.of);
    mc_free(w.open);
    mc_free(w.space);
    return status;
}
