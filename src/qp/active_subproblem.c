/* active_subproblem.c: the quadratic program on one active set (active_set.c) by SMO, Newton steps and interior points,
   whichever gets on. */
#include "qp/active_set_run.h"
#include "base/status.h"
#include "base/workspace.h"
#include "qp/active_set_newton.h"
#include "qp/interior.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { CRAWL = 20, NEWTON_ROUNDS = 8 };
/* operations of a factor that take as long as bringing one slope up to date, or one entry of K */
static const double OPERATIONS = 40;

double mc_active_run_top(const mc_active_run *r) {
    double top = 0;
    for (int64_t i = 0; i < r->rows; i++)
        top = fmax(top, r->diagonal[i]);
    return top;
}

/* What sums of so large multipliers cannot tell from zero. */
static double rounding_of(const mc_active_run *r) {
    double mass = 0;
    for (int64_t k = 0; k < r->count; k++)
        mass += fabs(r->own[k]);
    return DBL_EPSILON * mass * mc_active_run_top(r);
}

/* f of the set from that at the start of the round and what has changed since, by these rows of K. c: scratch for a
   number per row. */
static mercer_status update_set_gradient(mercer_ctx *ctx, mc_active_run *r, const mc_matrix *rows, double *c,
                                         const void **scratch, int64_t *ids) {
    for (int64_t i = 0; i < r->rows; i++) {
        r->own_f[i] = r->f[r->row_id[i]];
        ids[i] = i;
        c[i] = 0;
    }
    for (int64_t k = 0; k < r->count; k++)
        c[r->row[k]] += r->own[k] - r->beta[r->variable[k]];
    return mc_matrix_add_rows(ctx, rows, ids, c, r->rows, scratch, r->own_f);
}

/* worth: as much as the time of so many slopes brought up to date. */
static mercer_status newton_on_set(mercer_ctx *ctx, mc_active_run *r, const mc_matrix *rows, double worth,
                                   bool *moved) {
    return mc_active_set_newton(ctx, &r->dual, rows, 0.01 * r->p->tolerance, OPERATIONS * worth, r->own, r->own_f,
                                moved);
}

static int64_t count_free(const mc_dual *dual, const double *beta) {
    int64_t free = 0;
    for (int64_t t = 0; t < dual->m; t++)
        free += beta[t] > dual->low[t] && beta[t] < dual->high[t];
    return free;
}

/* Where most of the set is free, and the set has nearly all that are, which those are is about settled, and the optimum
   a few factors away, which all threads share and steps on pairs do not: they come first, at the price of all rounds so
   far at most. A set that has a part of those free is not worth its optimum: the others are about to move it. */
static mercer_status newton_before_smo(mercer_ctx *ctx, mc_active_run *r, const mc_matrix *rows, bool *moved) {
    const int64_t free = count_free(&r->dual, r->own), all = count_free(&r->p->dual, r->beta);
    const bool settled = 2 * free >= r->count && 10 * free >= 9 * all;
    *moved = false;
    return !settled || r->p->without_newton ? MERCER_OK : newton_on_set(ctx, r, rows, r->work, moved);
}

/* The optimum by an interior-point method, then Newton steps from there. */
static mercer_status interior_then_newton(mercer_ctx *ctx, mc_active_run *r, const mc_matrix *rows, bool *moved) {
    bool more;
    MC_TRY(mc_interior_solve(ctx, &r->dual, rows, NULL, r->own, r->own_f, moved));
    return *moved ? newton_on_set(ctx, r, rows, INFINITY, &more) : MERCER_OK;
}

/* Where K is stored in single precision its rounding, times a large C, is all that such a quadratic program would find:
   it is made in double. */
static mercer_status interior_in_double(mercer_ctx *ctx, mc_active_run *r, bool *moved) {
    const int64_t n = r->rows;
    mc_work work;
    double *c = NULL;
    const void **scratch = NULL;
    int64_t *ids = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(c, n), MC_SLICE(scratch, n), MC_SLICE(ids, n)));
    double *K = mc_alloc_unset(ctx, n * n, sizeof *K);
    const mc_matrix rows = mc_matrix_square(n, MERCER_F64, K, n, r->diagonal);
    mercer_status status = K ? MERCER_OK : MERCER_MEMORY;
    MC_THEN(status, mc_matrix_block(ctx, &r->p->matrix, MERCER_F64, r->row_id, n, K));
    MC_THEN(status, update_set_gradient(ctx, r, &rows, c, scratch, ids));
    MC_THEN(status, interior_then_newton(ctx, r, &rows, moved));
    mc_free(K);
    mc_work_close(&work);
    return status;
}

static mercer_status interior_on_set(mercer_ctx *ctx, mc_active_run *r, const mc_matrix *rows, bool *moved) {
    return rows->dtype == MERCER_F64 ? interior_then_newton(ctx, r, rows, moved) : interior_in_double(ctx, r, moved);
}

/* ---- The same where K of the set has a low rank ---- */

typedef struct subproblem_columns {
    const mc_active_run *r;
    const mc_matrix *rows;
    double *all; /* a column of K over all rows, of which those of the set are taken */
} subproblem_columns;

static mercer_status read_column(mercer_ctx *ctx, const subproblem_columns *c, int64_t i, double *out) {
    const void *row;
    MC_TRY(mc_matrix_view(ctx, c->rows, &i, 1, &row));
    for (int64_t j = 0; j < c->r->rows; j++)
        out[j] = c->rows->dtype == MERCER_F64 ? ((const double *)row)[j] : (double)((const float *)row)[j];
    return MERCER_OK;
}

/* In double: made anew where floats are stored and are not what K is. */
static mercer_status take_column(mercer_ctx *ctx, const void *arg, int64_t i, double *out) {
    const subproblem_columns *c = arg;
    const mc_matrix *matrix = &c->r->p->matrix;
    const double one = 1;
    mc_sum_error sum_error = {NULL, INFINITY};
    if (c->rows->dtype == MERCER_F64 || matrix->exact_entries)
        return read_column(ctx, c, i, out);
    MC_TRY(matrix->add_at(ctx, matrix->self, c->r->row_id + i, &one, 1, c->r->row_id, c->r->rows, c->all, &sum_error));
    for (int64_t j = 0; j < c->r->rows; j++)
        out[j] = c->all[c->r->row_id[j]];
    return MERCER_OK;
}

/* f of the set by F from that at the start of the round: what SMO did with floats is not to be seen in it. */
static mercer_status update_gradient_low_rank(mercer_ctx *ctx, mc_active_run *r, const mc_pivoted_cholesky *low_rank) {
    const int64_t n = r->rows, wide = low_rank->panels * MC_PIVOTED_PANEL;
    mc_work work;
    double *inner = NULL, *c = NULL, *product = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(inner, wide), MC_SLICE(c, n), MC_SLICE(product, n)));
    memset(c, 0, (size_t)n * sizeof *c);
    for (int64_t k = 0; k < r->count; k++)
        c[r->row[k]] += r->own[k] - r->beta[r->variable[k]];
    const mercer_status status = mc_pivoted_cholesky_multiply(ctx, low_rank, c, inner, product);
    for (int64_t i = 0; i < n && !status; i++)
        r->own_f[i] = r->f[r->row_id[i]] + product[i];
    mc_work_close(&work);
    return status;
}

/* *moved: false also where the rank is above most. */
static mercer_status interior_low_rank(mercer_ctx *ctx, mc_active_run *r, const mc_matrix *rows, int64_t most,
                                       bool *moved) {
    subproblem_columns c = {r, rows, NULL};
    mc_pivoted_cholesky low_rank;
    *moved = false;
    MC_TRY(MC_ALLOC(ctx, c.all, r->p->matrix.n));
    mercer_status status = mc_pivoted_cholesky_open(ctx, r->rows, r->diagonal, take_column, &c, most, &low_rank);
    mc_free(c.all);
    MC_TRY(status);
    if (low_rank.rank >= 0)
        status = update_gradient_low_rank(ctx, r, &low_rank);
    if (low_rank.rank >= 0 && !status)
        status = mc_interior_solve(ctx, &r->dual, rows, &low_rank, r->own, r->own_f, moved);
    mc_pivoted_cholesky_close(&low_rank);
    return status;
}

/* With a factor of low rank where SMO has cost as much as that would, by twice the rank that was tried before; with all
   of K where *inside says that SMO has cost as much as that. *inside: one of the two was made. */
static mercer_status try_interior_point(mercer_ctx *ctx, mc_active_run *r, const mc_matrix *rows, int64_t updates,
                                        int64_t *tried, bool *inside, bool *moved) {
    const int64_t rank = mc_interior_rank(ctx, r->rows, r->count, updates);
    bool low_rank = false;
    if (rank >= 2 * *tried + 4) {
        *tried = rank;
        MC_TRY(interior_low_rank(ctx, r, rows, rank, &low_rank));
    }
    if (*inside && !low_rank)
        MC_TRY(interior_on_set(ctx, r, rows, moved));
    *inside = *inside || low_rank;
    *moved = *moved || low_rank;
    return MERCER_OK;
}

/* SMO goes on longer, but not past the number of steps at which something else is worth trying. */
static int64_t longer_patience(int64_t patience, int64_t until) {
    return 4 * patience < until || until <= 0 ? 4 * patience : until;
}

/* The quadratic program on the set: SMO for CRAWL steps per variable, then Newton steps, in turn; after Newton steps
   that led nowhere, or NEWTON_ROUNDS of them, SMO goes on four times as long. Once that has cost as much as an
   interior-point method would, which is soon where the rank of K is low, it is tried, and what SMO then still wants is
   the end: what is left is rounding.
   Where the round may be the last it ends with Newton steps: the tolerance leaves the slopes of free variables apart by
   as much, and of many such, or a large C, the gap feels it. Either kind costs at most what has been done
   before; for a set of all variables that is also what earlier calls have done, to a larger tolerance. */
mercer_status mc_active_subproblem_solve(mercer_ctx *ctx, mc_active_run *r, const mc_smo_problem *small,
                                         mc_smo_result *found) {
    const bool last = !r->p->without_newton && small->tolerance <= r->p->tolerance;
    const int64_t worth = mc_interior_equal_updates(ctx, r->rows, r->count, small->rows.dtype);
    int64_t patience = CRAWL * r->count, tried = 0;
    bool inside = false, begun;
    MC_TRY(newton_before_smo(ctx, r, &small->rows, &begun));
    for (int newton_rounds = begun;; newton_rounds++) {
        mc_smo_problem part = *small;
        mc_smo_result one = {0};
        bool moved = false;
        part.steps_max = small->steps_max - found->steps;
        part.tolerance = fmax(small->tolerance, rounding_of(r));
        if (part.steps_max > patience)
            part.steps_max = patience;
        const mercer_status status = mc_smo_solve(ctx, &part, r->own, r->own_f, &one);
        found->steps += one.steps;
        found->updates += one.updates;
        found->rounds += one.rounds;
        const bool newton_settled = newton_rounds > 0 && one.steps == 0;
        const bool ended = one.converged || one.steps < part.steps_max; /* also where no step gains anything */
        if (status || found->steps >= small->steps_max || (ended && newton_rounds >= NEWTON_ROUNDS)
            || (one.converged && (!last || newton_settled)))
            return status;
        const double so_far = (double)found->updates + (one.converged || r->count == r->p->dual.m ? r->work : 0);
        MC_TRY(newton_on_set(ctx, r, &small->rows, so_far, &moved));
        if (inside
            || (one.converged && (!moved || mc_extremes_of(&r->dual, r->own, r->own_f).violation <= part.tolerance)))
            return MERCER_OK;
        inside = !one.converged && found->updates >= worth;
        if (!one.converged) /* also after Newton steps that moved: they may do so for ever without settling */
            MC_TRY(try_interior_point(ctx, r, &small->rows, found->updates, &tried, &inside, &moved));
        if (!moved || newton_rounds >= NEWTON_ROUNDS)
            patience = longer_patience(patience, (worth - found->updates) / r->count);
    }
}
