/* svm_matrix.c: K as the quadratic programs see it (kernel_matrix.h), and what that takes. A pair of classes has its
   rows copied together first, so that all it asks for is of its own size.

   Rows of K that a product needs are kept in memory only where their entries are long sums: on mnist, 150 values to a
   row, one is used four times and an entry read costs a tenth of one computed; on ijcnn1, 22 values, computing is as
   fast as reading, and writing slower. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/common/kernel_matrix.h"
#include "learn/svm/svm.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST = 8192,   /* variables in an active set */
    EASY = 1536,   /* variables that one set has at least, where it could have all */
    WHOLE = 20480, /* and in one of all, where most are free */
    LEAST = 128,
    PROBES = 1000 /* rows that tell how large the diagonal is */
};

/* ---- A matrix ---- */

typedef struct mc_svm_rows_open {
    mercer_data *taken; /* where the quadratic program has a part of the rows only */
    double *diagonal;   /* likewise */
    mc_kernel_matrix matrix;
} rows_of_task;

static mercer_status take_rows(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t, rows_of_task *r) {
    int64_t *rows = NULL;
    if (MC_ALLOC(ctx, rows, t->n) || MC_ALLOC(ctx, r->diagonal, t->n)) {
        mc_free(rows);
        return MERCER_MEMORY;
    }
    for (int64_t i = 0; i < t->n; i++) {
        rows[i] = mc_svm_program_row(s, t, i);
        r->diagonal[i] = s->diagonal[rows[i]];
    }
    const mercer_status status = mc_data_take(ctx, s->p.x, rows, t->n, &r->taken);
    mc_free(rows);
    return status;
}

static void close_rows(rows_of_task *r) {
    mc_kernel_matrix_close(&r->matrix);
    mercer_data_free(r->taken);
    mc_free(r->diagonal);
    *r = (rows_of_task){0};
}

/* The store serves one quadratic program after the other: rows stay while it is the same one. */
static mc_row_store *store_for(mc_svm *s, const mc_svm_program *t) {
    if (s->solver->store && s->solver->stored != t)
        mc_row_store_clear(s->solver->store);
    s->solver->stored = t;
    return s->solver->store;
}

static mercer_status open_rows(mercer_ctx *ctx, mc_svm *s, const mc_svm_program *t, rows_of_task *r) {
    const bool products = s->solver->most < t->m && s->solver->dtype == MERCER_F32;
    *r = (rows_of_task){0};
    mercer_status status = t->n < s->p.n ? take_rows(ctx, s, t, r) : MERCER_OK;
    MC_THEN(status, mc_kernel_matrix_open(ctx, s->p.kernel, r->taken ? r->taken : s->p.x, store_for(s, t), products,
                                          &r->matrix));
    if (status)
        close_rows(r);
    return status;
}

/* ---- Bytes ---- */

/* Beside the active set: arrays, the points packed in double and, of what is multiplied at once, rows and packing. A
   pair of classes has its rows copied. Later the active set is gone and vectors are kept, which may be all rows. */
static size_t bytes_beside_active(mercer_ctx *ctx, const mc_problem *p, int64_t m, size_t *later) {
    const size_t rows = (size_t)mercer_data_stored(p->x) * 12 + (size_t)p->n * 40;
    const size_t packed = mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, 1);
    const double share = p->n > MC_KERNEL_BATCH ? (double)MC_KERNEL_BATCH / (double)p->n : 1;
    const size_t lasting = m > MOST ? packed : 0; /* in single precision, for products */
    const size_t both =
        packed + lasting + (size_t)(share * (double)(packed + 2 * rows)) + (size_t)m * 7 * sizeof(double) + (2 << 20);
    *later = both + rows;
    return both + (p->x->classes > 2 ? rows : 0);
}

int64_t mc_svm_active(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype) {
    size_t later;
    const size_t left = mc_memory_left(ctx), need = bytes_beside_active(ctx, p, m, &later);
    int64_t most = m < MOST ? m : MOST;
    while (most > LEAST && need + mc_active_bytes(p->n, m, most, dtype) > left)
        most = most / 4 * 3;
    return most < LEAST ? LEAST : most;
}

bool mc_svm_may_take(const mc_svm *s, int64_t most) {
    const int64_t m = s->variant->doubled ? 2 * s->p.n : s->p.n, top = m < MOST ? m : MOST;
    return most >= LEAST && most <= (top > LEAST ? top : LEAST);
}

size_t mc_svm_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype) {
    size_t later;
    const size_t solving =
        bytes_beside_active(ctx, p, m, &later) + mc_active_bytes(p->n, m, mc_svm_active(ctx, p, m, dtype), dtype);
    return solving > later ? solving : later;
}

/* What the active part of K takes more if it is all of K. */
static size_t extra_bytes_of_whole(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype) {
    return mc_active_bytes(p->n, m, m, dtype) - mc_active_bytes(p->n, m, mc_svm_active(ctx, p, m, dtype), dtype);
}

static size_t left_beside(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype) {
    const size_t bytes = mc_svm_bytes(ctx, p, m, dtype), left = mc_memory_left(ctx);
    return left > bytes ? left - bytes : 0;
}

/* Steps over all variables want one for every row, and one sum. */
int64_t mc_svm_whole(mercer_ctx *ctx, const mc_svm_variant *variant, const mc_problem *p, mercer_dtype dtype) {
    const int64_t m = p->n;
    const bool able = !variant->doubled && !variant->grouped && m > MOST && m <= WHOLE;
    return able && extra_bytes_of_whole(ctx, p, m, dtype) <= left_beside(ctx, p, m, dtype) / 2 ? m : 0;
}

size_t mc_svm_spare_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m, int64_t whole, mercer_dtype dtype) {
    const size_t left = left_beside(ctx, p, m, dtype), more = whole ? extra_bytes_of_whole(ctx, p, whole, dtype) : 0,
                 half = (left - more) / 2;
    const size_t spare = mc_active_spare_bytes(p->n, m, whole ? whole : mc_svm_active(ctx, p, m, dtype), dtype);
    return more + (spare < half ? spare : half);
}

/* 5 for every byte: memory is touched for the first time, and steps go over it; measured on 1000 to 12000 rows. */
double mc_svm_storing_work(mercer_ctx *ctx, const mc_problem *p, int64_t m, mercer_dtype dtype) {
    const double rows = (double)mc_svm_active(ctx, p, m, dtype);
    return 5 * rows * rows * (double)mc_dtype_size(dtype);
}

/* A store for the rows of the largest quadratic program in half of what is left, where they are worth it. */
static mercer_status open_store(mercer_ctx *ctx, mc_svm *s) {
    int64_t width = 0;
    for (int64_t k = 0; k < s->tasks; k++)
        width = s->task[k].n > width ? s->task[k].n : width;
    const int64_t m = s->variant->doubled ? 2 * s->p.n : s->p.n;
    const size_t need = mc_svm_bytes(ctx, &s->p, m, s->solver->dtype), left = mc_memory_left(ctx),
                 row = (size_t)(width + 16) * sizeof(float);
    const int64_t most = left > need ? (int64_t)((left - need) / 2 / row) : 0;
    const bool reproducible = *s->set->checkpoint; /* nothing may depend on what was computed before */
    const bool worth = !reproducible && s->solver->dtype == MERCER_F32 && s->solver->most < m
                       && mercer_data_stored(s->p.x) >= MC_SVM_LONG * s->p.n && most >= s->solver->most;
    return worth ? mc_row_store_open(ctx, width, most, &s->solver->store) : MERCER_OK;
}

mercer_dtype mc_svm_dtype(const mercer_svm *set, int64_t n) {
    return set->precision[0] == 'd' || (set->precision[0] == 'a' && n <= MC_SVM_DOUBLE_ROWS) ? MERCER_F64 : MERCER_F32;
}

/* Of some rows; those of a table, since texts know their own k(x, x). */
static mercer_status largest_of_diagonal(mercer_ctx *ctx, const mc_problem *p, double *top) {
    const int64_t step = p->n / PROBES + 1, count = mc_chunk_count(p->n, step);
    mercer_data *some = NULL;
    double *diagonal = NULL;
    int64_t *rows = NULL;
    mercer_status status = MC_ALLOC(ctx, diagonal, count);
    MC_THEN(status, MC_ALLOC(ctx, rows, count));
    for (int64_t k = 0; k < count && !status; k++)
        rows[k] = k * step;
    MC_THEN(status, mc_data_take(ctx, p->x, rows, count, &some));
    MC_THEN(status, mc_kernel_diagonal(ctx, p->kernel, some, diagonal));
    *top = 0;
    for (int64_t k = 0; k < count && !status; k++)
        *top = fmax(*top, diagonal[k]);
    mercer_data_free(some);
    mc_free(diagonal);
    mc_free(rows);
    return status;
}

/* Entries rounded to floats, times multipliers of the order of C, leave some C sqrt(n) max K 2^-25 in f. Where that is
   above the tolerance, quadratic programs with such a K end far from where the certificate wants them. */
mercer_status mc_svm_fit_dtype(mercer_ctx *ctx, const mc_svm_variant *variant, const mercer_svm *set,
                               const mc_problem *p, mercer_dtype *out) {
    double top;
    *out = mc_svm_dtype(set, p->n);
    if (*out == MERCER_F64 || set->precision[0] != 'a' || !variant->has_C)
        return MERCER_OK;
    MC_TRY(largest_of_diagonal(ctx, p, &top));
    const double noise = set->C * sqrt((double)p->n) * top * FLT_EPSILON / 4;
    *out = noise > set->tolerance ? MERCER_F64 : MERCER_F32;
    return MERCER_OK;
}

/* A program of some thousand variables that could have all of K stored, as floats, begins with sets of them: most
   problems want the rows of their support vectors and few others. It takes all where most turn out to be free, as far
   as each has a row of its own and there is one sum. */
static void begin_with_sets(mc_svm *s) {
    const int64_t m = s->variant->doubled ? 2 * s->p.n : s->p.n, half = m / 2 > EASY ? m / 2 : EASY;
    if (s->solver->dtype == MERCER_F64 || s->solver->most < m || m <= EASY || s->variant->grouped
        || *s->set->checkpoint)
        return;
    s->solver->most = half;
    s->solver->whole = s->variant->doubled ? 0 : m;
}

mercer_status mc_svm_rows_refine(mercer_ctx *ctx, mc_svm *s) {
    mercer_dtype dtype;
    MC_TRY(mc_svm_fit_dtype(ctx, s->variant, s->set, &s->p, &dtype));
    if (dtype == s->solver->dtype) {
        begin_with_sets(s);
        return MERCER_OK;
    }
    mc_row_store_close(s->solver->store);
    s->solver->store = NULL;
    s->solver->dtype = dtype;
    s->solver->most = mc_svm_active(ctx, &s->p, s->variant->doubled ? 2 * s->p.n : s->p.n, dtype);
    s->solver->whole = *s->set->checkpoint ? 0 : mc_svm_whole(ctx, s->variant, &s->p, dtype);
    mc_log_message(ctx, "%s: C is large: up to %lld variables at a time, their part of K in double precision",
                   s->variant->name, (long long)s->solver->most);
    return MERCER_OK;
}

mercer_status mc_svm_rows_open(mercer_ctx *ctx, mc_svm *s) {
    s->solver->dtype = mc_svm_dtype(s->set, s->p.n);
    s->solver->most = mc_svm_active(ctx, &s->p, s->variant->doubled ? 2 * s->p.n : s->p.n, s->solver->dtype);
    /* it may not depend on the memory of the moment */
    s->solver->whole = *s->set->checkpoint ? 0 : mc_svm_whole(ctx, s->variant, &s->p, s->solver->dtype);
    MC_TRY(MC_ALLOC(ctx, s->diagonal, s->p.n));
    MC_TRY(mc_kernel_diagonal(ctx, s->p.kernel, s->p.x, s->diagonal));
    MC_TRY(open_store(ctx, s));
    mc_log_message(ctx, "%s: %lld rows, %s; up to %lld variables at a time, their part of K in %s precision",
                   s->variant->name, (long long)s->p.n, s->p.x->row_start ? "sparse" : "dense",
                   (long long)s->solver->most, s->solver->dtype == MERCER_F64 ? "double" : "single");
    return MERCER_OK;
}

/* ---- Solving ---- */

/* f from the rows kept, once more from nothing, with a bound on its error for each row: what the certificate need not
   look at again. */
static mercer_status know_product_error(mercer_ctx *ctx, mc_svm_program *t, const mc_kernel_matrix *matrix) {
    mc_work work;
    double *c = NULL;
    int64_t *ids = NULL, count = 0;
    MC_TRY(MC_WORK_SLICES(ctx, &work, MC_SLICE(c, t->n), MC_SLICE(ids, t->n)));
    for (int64_t i = 0; i < t->n; i++) {
        c[count] = mc_svm_program_multiplier(t, i);
        ids[count] = i;
        count += c[count] != 0;
    }
    mercer_status status = t->error ? MERCER_OK : MC_ALLOC(ctx, t->error, t->n);
    MC_THEN(status, mc_kernel_matrix_product_error(ctx, matrix, ids, c, count, t->f, t->error, &t->error_is_known));
    mc_work_close(&work);
    return status;
}

/* An account of the error of f, where products keep one: so the certificate need not compute all of f again. A
   checkpoint has none. */
static mercer_status keep_account(mercer_ctx *ctx, const mc_svm *s, mc_svm_program *t, const mc_kernel_matrix *rows) {
    if (s->solver->most >= t->m || rows->store || *s->set->checkpoint)
        return MERCER_OK;
    if (!t->error)
        MC_TRY(MC_ALLOC(ctx, t->error, t->n));
    for (int64_t i = 0; i < t->n; i++)
        t->error[i] += t->certified_error;
    t->certified_error = 0;
    return MERCER_OK;
}

/* Where products with all rows are what a solution costs, and the last one is at hand. */
static bool predictor_pays(const mc_svm *s, const mc_svm_program *t, const mc_kernel_matrix *rows) {
    return t->rise > 1 && s->solver->most < t->m && !rows->store;
}

static mercer_status solve_with(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t, const mc_kernel_matrix *rows,
                                const mc_matrix *matrix) {
    mc_quadratic_program program;
    MC_TRY(mc_svm_kept_complete(ctx, s));
    if (s->path && s->solver->most >= t->m && !t->whole_K)
        MC_TRY(mc_kernel_matrix_store(ctx, matrix, &t->whole_K));
    MC_TRY(keep_account(ctx, s, t, rows));
    MC_TRY(mc_quadratic_program_open(ctx, s, t, &program));
    const mc_smo_result before = t->result;
    mc_svm_checkpoint_task task = {s, before};
    mc_active_problem problem = {.dual = program.dual,
                                 .matrix = *matrix,
                                 .tolerance = t->tolerance,
                                 .steps_max = s->set->iterations - before.steps,
                                 .spent = s->solver->checkpointing || t->rise > 0 ? 0 : (double)before.updates,
                                 .most = s->solver->whole > s->solver->most ? s->solver->whole : s->solver->most,
                                 .part = s->solver->most,
                                 .checkpoint = {s->solver->checkpointing ? mc_svm_checkpoint_callback : NULL, &task},
                                 .noise2 = s->solver->noise2,
                                 .buffer = &s->solver->buffer,
                                 .bound = rows->store ? NULL : t->error};
    const bool kept = s->kept.K && t->n == s->p.n;
    problem.matrix.whole = kept ? mc_matrix_whole(t->n, MERCER_F64, s->kept.K, s->kept.ld)
                                : mc_matrix_whole(t->n, s->solver->dtype, t->whole_K, t->n);
    s->solver->noise2 = 0;
    t->error_is_known = t->decided = false;
    mc_smo_result first = {0};
    const bool predicted = predictor_pays(s, t, rows);
    mercer_status status = predicted ? mc_svm_program_predict(ctx, s, t, rows, &problem, &first) : MERCER_OK;
    problem.steps_max -= first.steps;
    problem.close_start = predicted;
    t->rise = 0;
    MC_THEN(status, mc_active_solve(ctx, &problem, t->beta, t->f, &t->result));
    t->result.steps += before.steps + first.steps;
    t->result.rounds += before.rounds + first.rounds;
    mc_quadratic_program_close(&program);
    t->error_is_known = !status && problem.bound;
    return status || !rows->store ? status : know_product_error(ctx, t, rows);
}

static mercer_status product_with(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t, const mc_kernel_matrix *rows,
                                  const mc_matrix *matrix) {
    mc_quadratic_program program;
    MC_TRY(keep_account(ctx, s, t, rows));
    MC_TRY(mc_quadratic_program_open(ctx, s, t, &program));
    const mercer_status status =
        mc_active_product(ctx, matrix, &program.dual, t->beta, t->f, rows->store ? NULL : t->error);
    mc_quadratic_program_close(&program);
    return status;
}

/* Along a path what was opened for a quadratic program that is the only one stays open. */
static bool matrix_stays_open(const mc_svm *s) {
    return s->path && s->tasks == 1;
}

void mc_svm_rows_close(mc_svm *s) {
    if (s->solver->open)
        close_rows(s->solver->open);
    mc_free(s->solver->open);
    s->solver->open = NULL;
    mc_free(s->solver->buffer.K);
    s->solver->buffer = (mc_active_buffer){0};
}

static mercer_status with_rows(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t,
                               mercer_status (*work)(mercer_ctx *, mc_svm *, mc_svm_program *, const mc_kernel_matrix *,
                                                     const mc_matrix *)) {
    mercer_status status = MERCER_OK;
    if (!s->solver->open) {
        MC_TRY(MC_ALLOC(ctx, s->solver->open, 1));
        status = open_rows(ctx, s, t, s->solver->open);
    }
    if (!status) {
        const mc_kernel_matrix *rows = &s->solver->open->matrix;
        const mc_matrix matrix = mc_kernel_matrix_view(
            rows, s->solver->dtype, s->solver->open->diagonal ? s->solver->open->diagonal : s->diagonal);
        status = work(ctx, s, t, rows, &matrix);
    }
    if (status || !matrix_stays_open(s))
        mc_svm_rows_close(s);
    return status;
}

mercer_status mc_svm_program_solve(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t) {
    return with_rows(ctx, s, t, solve_with);
}

mercer_status mc_svm_program_product(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t) {
    for (int64_t v = 0; v < t->m; v++)
        if (t->beta[v] != 0)
            return with_rows(ctx, s, t, product_with);
    return MERCER_OK;
}
