/* given.c: is the matrix behind precomputed one that a kernel could have given? The rows of the fit are looked at: their numbers, that
   k(x_i, x_j) = k(x_j, x_i) as the data have them, and, for the whole kernel of which precomputed may be a part, that K is positive
   semidefinite: K + n 2^-52 |K| I is factored, and only where that fails the eigenvalues are found, to name the least. */
#include "learn/given.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/data.h"
#include "gram/gram.h"
#include "kernel/view.h"
#include "solve/check.h"
#include "solve/cholesky.h"
#include <math.h>

/* Where a precomputed atom finds its numbers and its matrix. */
typedef struct matrix {
    const mc_view *view;
    const mercer_data *x;
} matrix;

static double serial_of(const matrix *m, int64_t i) {
    return mc_data_value(m->x, i, mc_view_place(m->view, 0));
}

static double value_of(const matrix *m, int64_t i, int64_t j) {
    return mc_data_value(m->x, i, mc_view_place(m->view, (int64_t)serial_of(m, j)));
}

static mercer_status check_numbers(mercer_ctx *ctx, const matrix *m) {
    const double most = (double)m->view->d - 1;
    for (int64_t i = 0; i < m->x->n; i++) {
        const double serial = serial_of(m, i);
        if (!(serial >= 1 && serial <= most && serial == floor(serial)))
            return mc_fail(ctx, MERCER_DATA, "precomputed: row %lld has the serial number %.10g; the matrix has columns 1 to %.0f",
                           (long long)i + 1, serial, most);
    }
    return MERCER_OK;
}

static mercer_status check_symmetry(mercer_ctx *ctx, const matrix *m) {
    double largest = 0;
    for (int64_t i = 0; i < m->x->n; i++)
        largest = fmax(largest, fabs(value_of(m, i, i)));
    for (int64_t i = 0; i < m->x->n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double a = value_of(m, i, j), b = value_of(m, j, i);
            if (fabs(a - b) > 1e-8 * fmax(largest, fmax(fabs(a), fabs(b))))
                return mc_fail(ctx, MERCER_DATA,
                               "precomputed: the matrix is not symmetric: K(%lld, %lld) is %.10g and K(%lld, %lld) is %.10g",
                               (long long)i + 1, (long long)j + 1, a, (long long)j + 1, (long long)i + 1, b);
        }
    return MERCER_OK;
}

static mercer_status check_atoms(mercer_ctx *ctx, const mc_node *node, const mc_view *view, const mercer_data *x) {
    const mc_view inner = node->kind == MC_COLUMNS ? mc_view_columns(view, node) : *view;
    const matrix m = {.view = view, .x = x};
    if (node->kind == MC_ATOM && node->atom == MC_PRECOMPUTED) {
        MC_TRY(check_numbers(ctx, &m));
        MC_TRY(check_symmetry(ctx, &m));
    }
    for (int i = 0; i < node->children; i++)
        MC_TRY(check_atoms(ctx, node->child[i], &inner, x));
    return MERCER_OK;
}

/* The largest sum of |K_ij| over a row is at least the largest eigenvalue. A: packed. */
static double size_of(const double *A, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += fabs(A[mc_packed_place(n, i > j ? i : j, i > j ? j : i)]);
        largest = fmax(largest, sum);
    }
    return largest;
}

static mercer_status refuse(mercer_ctx *ctx, const mc_gram *gram, const mercer_kernel *kernel, int64_t n, bool offered) {
    double *K = NULL;
    mercer_gram_facts facts;
    MC_TRY(MC_ALLOC(ctx, K, n * n));
    mercer_status status = mc_gram_block(ctx, gram, 0, n, 0, n, MERCER_F64, K, n);
    if (!status)
        status = mc_gram_facts(ctx, K, n, &facts);
    mc_free(K);
    if (status || facts.positive)
        return status;
    const char *cure = offered ? "; to use it all the same, pass --allow-indefinite (allow_indefinite in C and Python), or add as much "
                                 "times white"
                               : "; add as much times white to make it so";
    return mc_fail(ctx, MERCER_NOT_A_KERNEL,
                   "the matrix of %.200s is not positive semidefinite: its smallest eigenvalue is %.6g (the largest %.6g)%s", kernel->text,
                   facts.eigenvalue_min, facts.eigenvalue_max, cure);
}

static mercer_status check_positive(mercer_ctx *ctx, const mc_gram *gram, const mercer_kernel *kernel, int64_t n, double *A, bool offered) {
    int64_t bad = 0;
    MC_TRY(mc_gram_packed(ctx, gram, NULL, A));
    MC_TRY(mc_packed_scale(ctx, n, A, NULL, (double)n * 0x1p-52 * size_of(A, n)));
    MC_TRY(mc_cholesky_factor(ctx, n, A, &bad));
    return bad ? refuse(ctx, gram, kernel, n, offered) : MERCER_OK;
}

mercer_status mc_given_check(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, bool offered) {
    if (!mc_kernel_precomputed(kernel))
        return MERCER_OK;
    const mc_view all = {.d = x->d};
    MC_TRY(check_atoms(ctx, kernel->root, &all, x));
    double *A = NULL;
    mc_gram *gram = NULL;
    MC_TRY(MC_ALLOC(ctx, A, mc_packed_count(x->n)));
    mercer_status status = mc_gram_open(ctx, kernel, x, NULL, MERCER_F64, &gram);
    if (!status)
        status = check_positive(ctx, gram, kernel, x->n, A, offered);
    mc_gram_close(gram);
    mc_free(A);
    return status;
}
