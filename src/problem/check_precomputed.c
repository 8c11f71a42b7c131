/* check_precomputed.c: is the matrix behind precomputed one that a kernel could have given? The rows of the fit are
   looked at: their numbers and, for the whole kernel of which precomputed may be a part, that K is positive
   semidefinite: K + n 2^-52 |K| I is factored, and only where that fails the eigenvalues are found, to name the least.
   That it is symmetric the operator itself has seen to (gram/operator/symmetry.c). */
#include "problem/check_precomputed.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/language/node.h"
#include "kernel/evaluate/view.h"
#include "linalg/check_gram.h"
#include "linalg/cholesky.h"
#include <math.h>

/* Where a precomputed atom finds its numbers and its matrix. */
typedef struct matrix {
    const mc_view *view;
    const mercer_data *x;
} matrix;

static double serial_of(const matrix *m, int64_t i) {
    return mc_data_value(m->x, i, mc_view_place(m->view, 0));
}

static mercer_status check_numbers(mercer_ctx *ctx, const matrix *m) {
    const double most = (double)m->view->d - 1;
    for (int64_t i = 0; i < m->x->n; i++) {
        const double serial = serial_of(m, i);
        if (!(serial >= 1 && serial <= most && serial == floor(serial)))
            return mc_fail(ctx, MERCER_DATA,
                           "precomputed: row %lld has the serial number %.10g; the matrix has columns 1 to %.0f",
                           (long long)i + 1, serial, most);
    }
    return MERCER_OK;
}

static mercer_status check_atoms(mercer_ctx *ctx, const mc_node *node, const mc_view *view, const mercer_data *x) {
    const mc_view inner = node->kind == MC_COLUMNS ? mc_view_columns(view, node) : *view;
    const matrix m = {.view = view, .x = x};
    if (node->kind == MC_ATOM && node->atom == MC_PRECOMPUTED)
        MC_TRY(check_numbers(ctx, &m));
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

/* What makes the matrix positive semidefinite when it is added to the diagonal, rounding included, in four digits. */
static double white_noise_needed(const mercer_gram_facts *facts, int64_t n) {
    const double size = fmax(-facts->eigenvalue_min, facts->eigenvalue_max);
    const double least = -facts->eigenvalue_min + (double)n * 0x1p-50 * size, digit = pow(10, floor(log10(least)) - 3);
    return ceil(least / digit) * digit;
}

static mercer_status refuse_indefinite(mercer_ctx *ctx, const mc_gram *gram, const mercer_kernel *kernel, int64_t n,
                                       bool offered) {
    double *K = NULL;
    mercer_gram_facts facts;
    MC_TRY(MC_ALLOC(ctx, K, n * n));
    mercer_status status = mc_gram_block(ctx, gram, 0, n, 0, n, MERCER_F64, K, n);
    MC_THEN(status, mc_gram_facts(ctx, K, n, &facts));
    mc_free(K);
    if (status || facts.positive)
        return status;
    return mc_fail(ctx, MERCER_NOT_A_KERNEL,
                   "the matrix of %.200s is not positive semidefinite: its smallest eigenvalue is %.6g (the largest "
                   "%.6g); add %.4g*white to the kernel%s",
                   kernel->text, facts.eigenvalue_min, facts.eigenvalue_max, white_noise_needed(&facts, n),
                   offered ? ", or use it as it is with --allow-indefinite (allow_indefinite in C and Python)" : "");
}

static mercer_status check_positive(mercer_ctx *ctx, const mc_gram *gram, const mercer_kernel *kernel, int64_t n,
                                    double *A, bool offered) {
    int64_t bad = 0;
    MC_TRY(mc_gram_packed(ctx, gram, NULL, A));
    MC_TRY(mc_packed_scale(ctx, n, A, NULL, (double)n * 0x1p-52 * size_of(A, n)));
    MC_TRY(mc_potrf(ctx, mc_packed(n, A), &bad));
    return bad ? refuse_indefinite(ctx, gram, kernel, n, offered) : MERCER_OK;
}

static bool is_user(const mc_node *node) {
    return node->kind == MC_ATOM && node->atom == MC_USER;
}

/* A function is symmetric on a few rows: a machine that evaluates nothing while it is fitted would find out too late.
   */
static mercer_status check_function(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x) {
    enum { FEW = 16 };
    const int64_t count = x->n < FEW ? x->n : FEW;
    int64_t row[FEW];
    mercer_data *few = NULL;
    mc_gram *gram = NULL;
    for (int64_t k = 0; k < count; k++)
        row[k] = k * x->n / count;
    MC_TRY(mc_data_take(ctx, x, row, count, &few));
    const mercer_status status = mc_gram_open(ctx, kernel, few, NULL, MERCER_F64, &gram);
    mc_gram_close(gram);
    mercer_data_free(few);
    return status;
}

mercer_status mc_precomputed_check(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, bool offered) {
    if (!mc_kernel_precomputed(kernel))
        return mc_node_any(kernel->root, is_user) ? check_function(ctx, kernel, x) : MERCER_OK;
    const mc_view all = {.d = x->d};
    MC_TRY(check_atoms(ctx, kernel->root, &all, x));
    double *A = NULL;
    mc_gram *gram = NULL;
    MC_TRY(MC_ALLOC(ctx, A, mc_packed_count(x->n)));
    mercer_status status = mc_gram_open(ctx, kernel, x, NULL, MERCER_F64, &gram);
    MC_THEN(status, check_positive(ctx, gram, kernel, x->n, A, offered));
    mc_gram_close(gram);
    mc_free(A);
    return status;
}
