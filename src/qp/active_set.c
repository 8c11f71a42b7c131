/* active_set.c: see active_set.h.

       repeat   choose an active set A                         smo_select.c: free variables, the worst violators
                store K_AA, solve the quadratic program on A   active_subproblem.c
                f <- f + K_A' (change of beta on A)            a product, nothing is kept
       until the violation over all variables is at most the tolerance

   The quadratic program on A is solved to a tenth of the violation at the start: the others are about to move it; from
   a start that is close to the solution they are few, and it is solved further. A product in single precision leaves an
   error of about 1e-7 |c| for random signs, or 1e-7 sqrt(max |c| sum |c_k| K_ki), which is less where most entries are
   small. It does not matter while it is far below the violation that a round is to reach; a product that would leave
   more is made in double, and once the sum of those left stands in the way, f is made anew in double: at the rows that
   are in question or so near to it that the error could bring them there. */
#include "qp/active_set_run.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "qp/active_set_newton.h"
#include "qp/interior.h"
#include <math.h>
#include <string.h>

enum { SETS_PER_CHECKPOINT = 8 }; /* sets from one checkpoint to the next */
enum { SHARE = 8, FEW = 1024, MANY = 3000 };
static const double INNER = 0.1;  /* of the violation at the start of a round */
static const double CLOSE = 0.03; /* likewise, where the start is close to the solution */
static const double HEARD = 0.25; /* of the violation to reach: an error in f above this disturbs */
static const double WORST = 4;    /* times its likely size is the largest error among many rows */
/* times the error, or the violation to reach: rows nearer to being in question are made anew */
static const double NEAR = 64;

static int64_t set_size(int64_t m, int64_t most) {
    return m < most ? m : most;
}

/* Of n rows and sets of q of m variables. */
static void lay_out_active_workspace(mc_work *work, int64_t n, int64_t m, int64_t q, mc_active_run *r) {
    mc_selection_open(work, m, q, &r->selection);
    int64_t **wholes[] = {&r->variable, &r->row, &r->row_id};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        *wholes[i] = mc_work_take(work, q, sizeof(int64_t));
    r->place = mc_work_take(work, n, sizeof(int64_t));
    double **reals[] = {&r->q, &r->low, &r->high, &r->own, &r->own_f, &r->diagonal};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        *reals[i] = mc_work_take(work, q, sizeof(double));
    r->group = mc_work_take(work, q, 1);
}

static size_t own_bytes(int64_t n, int64_t m, int64_t most) {
    mc_work counted = {0};
    lay_out_active_workspace(&counted, n, m, set_size(m, most), &(mc_active_run){0});
    return counted.used;
}

size_t mc_active_bytes(int64_t n, int64_t m, int64_t most, mercer_dtype dtype) {
    const int64_t q = set_size(m, most), rows = q < n ? q : n;
    return own_bytes(n, m, most) + mc_work_need(rows * rows, mc_dtype_size(dtype)) + mc_smo_bytes(rows, q, dtype);
}

size_t mc_active_spare_bytes(int64_t n, int64_t m, int64_t most, mercer_dtype dtype) {
    const int64_t q = set_size(m, most), rows = q < n ? q : n;
    const size_t newton = mc_active_set_newton_bytes(rows, q),
                 inside = mc_interior_bytes(rows, q, dtype) + 4 * mc_work_need(rows, sizeof(double));
    return newton > inside ? newton : inside;
}

/* The first set is the one the caller has named. */
static bool is_first(const mc_active_run *r) {
    return r->p->first && !r->selection.round;
}

static void choose_first(mc_active_run *r) {
    mc_selection_renew(&r->selection);
    for (int64_t t = 0; t < r->p->dual.m; t++)
        if (r->p->first[t])
            mc_selection_take(&r->selection, t);
}

static void choose_active_set(mc_active_run *r, const mc_extremes *e) {
    const mc_dual *whole = &r->p->dual;
    const bool all = r->selection.q == whole->m;
    if (!all && is_first(r))
        choose_first(r);
    else if (!all)
        mc_selection_next(&r->selection, whole, r->beta, r->f, e);
    r->count = 0;
    for (int64_t t = 0; t < whole->m; t++)
        if (all || r->selection.chosen[t])
            r->variable[r->count++] = t;
    r->rows = mc_number_rows(whole, r->variable, r->count, r->p->matrix.n, r->place, r->row_id, r->row);
}

/* The quadratic program on the active set, the others held where they are. */
static void write_subproblem(mc_active_run *r) {
    const mc_dual *whole = &r->p->dual;
    for (int64_t k = 0; k < r->count; k++) {
        const int64_t t = r->variable[k];
        r->own[k] = r->beta[t];
        r->q[k] = whole->q[t];
        r->low[k] = whole->low[t];
        r->high[k] = whole->high[t];
        r->group[k] = (uint8_t)mc_dual_group(whole, t);
    }
    for (int64_t i = 0; i < r->rows; i++) {
        r->own_f[i] = r->f[r->row_id[i]];
        r->diagonal[i] = r->p->matrix.diag[r->row_id[i]];
    }
    r->dual = (mc_dual){.m = r->count,
                        .row = r->row,
                        .q = r->q,
                        .low = r->low,
                        .high = r->high,
                        .group = whole->group ? r->group : NULL};
}

mercer_status mc_active_add(mercer_ctx *ctx, const mc_active_problem *p, double aim, double top, const int64_t *ids,
                            const double *c, int64_t count, double *f, double *noise2) {
    const mc_matrix *matrix = &p->matrix;
    double square = 0, largest = 0;
    if (matrix->exact_entries)
        return mc_matrix_add(ctx, matrix, matrix->dtype, ids, c, count, f, NULL);
    for (int64_t k = 0; k < count; k++) {
        square += c[k] * c[k];
        largest = fmax(largest, fabs(c[k]));
    }
    const bool single = matrix->dtype == MERCER_F32 && 1e-14 * square * top * top <= pow(HEARD * aim, 2);
    mc_sum_error sum_error = {p->bound, INFINITY};
    MC_TRY(mc_matrix_add(ctx, matrix, single ? MERCER_F32 : MERCER_F64, ids, c, count, f, &sum_error));
    if (single)
        *noise2 += 1e-14 * top * fmin(square * top, WORST * WORST * largest * sum_error.reach);
    return MERCER_OK;
}

/* After steps that moved f by stored entries nothing bounds its error. */
static void forget_bound(const mc_active_run *r) {
    for (int64_t i = 0; r->p->bound && i < r->p->matrix.n; i++)
        r->p->bound[i] = INFINITY;
}

/* What steps over stored entries have left in f. */
static double noise_of(const mc_active_run *r, const double *c, int64_t count) {
    double square = 0;
    for (int64_t k = 0; k < count; k++)
        square += c[k] * c[k];
    return r->p->matrix.dtype == MERCER_F32 && !r->p->matrix.exact_entries
               ? 1e-14 * square * pow(mc_active_run_top(r), 2)
               : 0;
}

/* Write the set's beta back and bring f up to date. *moved: whether anything changed. */
static mercer_status put_back(mercer_ctx *ctx, mc_active_run *r, bool *moved) {
    const bool all = r->rows == r->p->matrix.n; /* then its f is that of all */
    if (all) {
        memcpy(r->f, r->own_f, (size_t)r->rows * sizeof *r->f);
        forget_bound(r);
    }
    double *c = r->own_f; /* which has served */
    memset(c, 0, (size_t)r->rows * sizeof *c);
    for (int64_t k = 0; k < r->count; k++) {
        c[r->row[k]] += r->own[k] - r->beta[r->variable[k]];
        r->beta[r->variable[k]] = r->own[k];
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < r->rows; i++)
        if (c[i] != 0) {
            r->row_id[kept] = r->row_id[i];
            c[kept++] = c[i];
        }
    *moved = kept > 0;
    r->work += all ? 0 : (double)kept * (double)r->p->matrix.n;
    if (all)
        r->noise2 += noise_of(r, c, kept);
    return kept && !all ? mc_active_add(ctx, r->p, r->aim, mc_active_run_top(r), r->row_id, c, kept, r->f, &r->noise2)
                        : MERCER_OK;
}

static int64_t count_free(const mc_active_run *r) {
    const mc_dual *dual = &r->p->dual;
    int64_t free = 0;
    for (int64_t t = 0; t < dual->m; t++)
        free += r->beta[t] > dual->low[t] && r->beta[t] < dual->high[t];
    return free;
}

/* Variables in a set that is not of all. */
static int64_t part_most(const mc_active_problem *p) {
    return p->part && p->part < p->most ? p->part : p->most;
}

/* Variables in the next set: a share of all, and room for those free and as many again on either side. Where products
   are with a part of the rows, smaller sets are better, with room for a few beside those free: what they save is K of
   the set, which then stays in the cache. All of them where there are few; and, if there is memory for that, where
   those free are half of all and leave no room in a set for others. */
static int64_t size_now(const mc_active_run *r) {
    const int64_t m = r->p->dual.m, part = part_most(r->p), free = count_free(r);
    if (m <= part || (m <= r->p->most && 2 * free >= m && 4 * free >= 3 * part))
        return m;
    const int64_t many = r->p->f_of_other_rows ? MANY / 2 : MANY;
    int64_t size = m / SHARE;
    size = size < FEW ? FEW : size < many ? size : many;
    const int64_t places = r->p->f_of_other_rows ? free + MANY / 6 : 3 * free;
    size = size < places ? places : size;
    return is_first(r) || size > part ? part : size;
}

/* Room for K_AA, and for a set that is a little larger: memory that is new costs as much as the entries. It is written
   before it is read, and only as far as the set reaches. */
static mercer_status reserve_block(mercer_ctx *ctx, mc_active_run *r) {
    mc_active_buffer *buffer = r->buffer;
    const bool whole = r->count == r->p->dual.m;
    const int64_t all = set_size(r->p->matrix.n, whole ? r->p->most : part_most(r->p)), more = r->rows + r->rows / 4;
    if (buffer->rows >= r->rows)
        return MERCER_OK;
    mc_free(buffer->K);
    buffer->rows = more < all ? more : all;
    buffer->K = mc_alloc_unset(ctx, buffer->rows * buffer->rows, mc_dtype_size(r->p->matrix.dtype));
    buffer->rows = buffer->K ? buffer->rows : 0;
    return buffer->K ? MERCER_OK : MERCER_MEMORY;
}

/* K of the set: at hand, or stored now. */
static mercer_status store_block(mercer_ctx *ctx, mc_active_run *r, const void **K, int64_t *ld) {
    const mc_matrix *matrix = &r->p->matrix;
    const bool all = r->rows == matrix->n;
    *K = matrix->whole.a;
    *ld = matrix->whole.ld;
    if (all && *K)
        return MERCER_OK;
    *ld = r->rows;
    if (!all || !r->holds_all) {
        r->holds_all = false;
        r->work += (double)r->rows * (double)r->rows;
        MC_TRY(reserve_block(ctx, r));
        MC_TRY(mc_matrix_block(ctx, matrix, matrix->dtype, r->row_id, r->rows, r->buffer->K));
        r->holds_all = all;
    }
    *K = r->buffer->K;
    return MERCER_OK;
}

/* One active set. Where it is the only one there will be it is solved to the end. *stuck: nothing in it could move
   although the violation is above the tolerance: the precision is used up. */
static mercer_status solve_one_round(mercer_ctx *ctx, mc_active_run *r, const mc_extremes *e, bool *stuck) {
    const mc_active_problem *p = r->p;
    const void *K;
    int64_t ld;
    r->selection.q = size_now(r);
    choose_active_set(r, e);
    write_subproblem(r);
    MC_TRY(store_block(ctx, r, &K, &ld));
    const bool only = p->dual.m <= part_most(p);
    const mc_smo_problem small = {r->dual, mc_matrix_square(r->rows, p->matrix.dtype, K, ld, r->diagonal),
                                  only ? p->tolerance : fmax(0.5 * p->tolerance, r->aim),
                                  p->steps_max - r->result->steps, only};
    mc_smo_result found = {0};
    const mercer_status status = mc_active_subproblem_solve(ctx, r, &small, &found);
    r->result->steps += found.steps;
    r->result->rounds += found.rounds;
    r->work += (double)found.updates;
    bool moved = false;
    const mercer_status back = put_back(ctx, r, &moved);
    *stuck = !moved || only;
    return status ? status : back;
}

/* Rows of free variables, and of those whose slope is within `near` of one that violates; into row, rising. */
static int64_t list_near(const mc_active_run *r, const mc_extremes *e, double near, int64_t *row) {
    const mc_dual *dual = &r->p->dual;
    int64_t count = 0;
    for (int64_t i = 0; i < r->p->matrix.n; i++)
        r->place[i] = 0;
    for (int64_t t = 0; t < dual->m; t++) {
        const bool up = r->beta[t]<dual->high[t], down = r->beta[t]> dual->low[t];
        const double v = mc_dual_slope(dual, r->f, t);
        const int g = mc_dual_group(dual, t);
        if ((up && down) || (up && v >= e->bottom[g] - near) || (down && v <= e->top[g] + near))
            r->place[mc_dual_row(dual, t)] = 1;
    }
    for (int64_t i = 0; i < r->p->matrix.n; i++)
        if (r->place[i])
            row[count++] = i;
    return count;
}

/* The rows that have a coefficient and their coefficients, side by side; returns how many. */
static int64_t list_coefficients(const mc_dual *dual, const double *beta, int64_t n, double *c, int64_t *ids) {
    int64_t count = 0;
    for (int64_t t = 0; t < dual->m; t++)
        c[mc_dual_row(dual, t)] += beta[t];
    for (int64_t i = 0; i < n; i++)
        if (c[i] != 0) {
            ids[count] = i;
            c[count++] = c[i];
        }
    return count;
}

/* f in double where it matters. */
static mercer_status recompute_gradient(mercer_ctx *ctx, mc_active_run *r, const mc_extremes *e) {
    const int64_t n = r->p->matrix.n;
    const mc_matrix *matrix = &r->p->matrix;
    mc_work work;
    double *c = NULL;
    int64_t *ids = NULL, *row = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(c, n), MC_SLICE(ids, n), MC_SLICE(row, n)));
    const int64_t count = list_coefficients(&r->p->dual, r->beta, n, c, ids);
    const int64_t near = list_near(r, e, NEAR * fmax(r->aim, sqrt(r->noise2)), row);
    mc_sum_error sum_error = {r->p->bound, INFINITY};
    const mercer_status status = count && near < n / 2
                                     ? matrix->add_at(ctx, matrix->self, ids, c, count, row, near, r->f, &sum_error)
                                     : mc_active_product(ctx, matrix, &r->p->dual, r->beta, r->f, r->p->bound);
    mc_work_close(&work);
    r->noise2 = 0;
    return status;
}

/* The state of optimality; f is made anew first where what products have left in it would disturb the next round.
   *heard: it would, and cannot be. */
static mercer_status check_optimality(mercer_ctx *ctx, mc_active_run *r, mc_extremes *e, bool *heard) {
    *e = mc_extremes_of(&r->p->dual, r->beta, r->f);
    r->aim = fmax(r->p->tolerance, (r->p->close_start ? CLOSE : INNER) * e->violation);
    *heard = r->noise2 > pow(HEARD * r->aim, 2);
    if (!*heard || r->p->f_of_other_rows)
        return MERCER_OK;
    MC_TRY(recompute_gradient(ctx, r, e));
    return check_optimality(ctx, r, e, heard);
}

/* Nothing of the sets so far is remembered: what comes next is decided by beta and f. */
static mercer_status offer_checkpoint(mercer_ctx *ctx, mc_active_run *r) {
    mc_selection_reset(&r->selection);
    r->work = 0;
    return r->p->checkpoint.call(ctx, r->p->checkpoint.arg, r->result, r->noise2);
}

static mercer_status iterate_active_sets(mercer_ctx *ctx, mc_active_run *r) {
    int64_t turns = 0;
    for (bool stuck = false;;) {
        mc_extremes e;
        bool heard;
        MC_TRY(check_optimality(ctx, r, &e, &heard));
        const mc_watch seen = {"violation", e.violation, r->p->tolerance};
        const mercer_status told = mc_dual_report_progress(ctx, &r->p->dual, r->beta, r->f, seen);
        if (!(e.violation > r->p->tolerance) || stuck || heard || r->result->steps >= r->p->steps_max)
            return MERCER_OK;
        MC_TRY(told);
        MC_TRY(solve_one_round(ctx, r, &e, &stuck));
        if (r->p->checkpoint.call && ++turns % SETS_PER_CHECKPOINT == 0 && !stuck)
            MC_TRY(offer_checkpoint(ctx, r));
    }
}

mercer_status mc_active_solve(mercer_ctx *ctx, const mc_active_problem *problem, double *beta, double *f,
                              mc_smo_result *result) {
    *result = (mc_smo_result){0};
    mc_active_buffer own = {0};
    mc_active_run r = {.p = problem,
                       .beta = beta,
                       .f = f,
                       .result = result,
                       .noise2 = problem->noise2,
                       .work = problem->spent,
                       .buffer = problem->buffer ? problem->buffer : &own};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, own_bytes(problem->matrix.n, problem->dual.m, problem->most)));
    lay_out_active_workspace(&work, problem->matrix.n, problem->dual.m, set_size(problem->dual.m, problem->most), &r);
    mc_progress_start(ctx);
    const mercer_status status = iterate_active_sets(ctx, &r);
    mc_free(own.K);
    mc_work_close(&work);
    result->updates = (int64_t)r.work;
    mc_dual_optimality(&problem->dual, beta, f, result);
    result->converged = status == MERCER_OK && result->violation <= problem->tolerance;
    return status;
}

mercer_status mc_active_product(mercer_ctx *ctx, const mc_matrix *matrix, const mc_dual *dual, const double *beta,
                                double *f, double *bound) {
    mc_work work;
    double *c = NULL;
    int64_t *ids = NULL;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(c, matrix->n), MC_SLICE(ids, matrix->n)));
    const int64_t count = list_coefficients(dual, beta, matrix->n, c, ids);
    mc_sum_error sum_error = {bound, INFINITY};
    memset(f, 0, (size_t)matrix->n * sizeof *f);
    if (bound)
        memset(bound, 0, (size_t)matrix->n * sizeof *bound);
    const mercer_status status =
        count ? mc_matrix_add(ctx, matrix, MERCER_F64, ids, c, count, f, &sum_error) : MERCER_OK;
    mc_work_close(&work);
    return status;
}
