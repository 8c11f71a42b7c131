/* form.c: the matrix of form([[2, 1], [1, 2]]) or form("A.npy"): read, checked, its rank found.

   The rank comes from a Cholesky factorisation that always takes the largest diagonal entry left: A is positive
   semidefinite of rank r when after r steps what is left is 0 to rounding. It serves the feature dimension only; proofs
   look at A themselves. */
#include "kernel/language/form.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/proof/exact.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include <float.h>
#include <math.h>
#include <string.h>

static double largest_entry(const double *A, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n * n; i++)
        most = fmax(most, fabs(A[i]));
    return most;
}

/* Of the rows from k on, whose upper triangle is what is left to factor. */
static int64_t largest_diagonal(const double *S, int64_t n, int64_t k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
        if (S[i * n + i] > S[best * n + best])
            best = i;
    return best;
}

static bool rest_is_below(const double *S, int64_t n, int64_t k, double tolerance) {
    for (int64_t i = k; i < n; i++)
        for (int64_t j = i; j < n; j++)
            if (fabs(S[i * n + j]) > tolerance)
                return false;
    return true;
}

static void swap_numbers(double *a, double *b) {
    const double t = *a;
    *a = *b;
    *b = t;
}

/* Rows and columns k and p > k change places, in the upper triangle alone. */
static void swap_rows_and_columns(double *S, int64_t n, int64_t k, int64_t p) {
    swap_numbers(&S[k * n + k], &S[p * n + p]);
    for (int64_t i = k + 1; i < p; i++)
        swap_numbers(&S[k * n + i], &S[i * n + p]);
    for (int64_t j = p + 1; j < n; j++)
        swap_numbers(&S[k * n + j], &S[p * n + j]);
}

/* S_ij <- S_ij - S_ki S_kj / S_kk for k < i <= j. */
static void eliminate_form_pivot(double *S, int64_t n, int64_t k) {
    for (int64_t i = k + 1; i < n; i++) {
        const double factor = S[k * n + i] / S[k * n + k];
        for (int64_t j = i; j < n; j++)
            S[i * n + j] -= factor * S[k * n + j];
    }
}

static int64_t rank_of(double *S, int64_t n) {
    const double tolerance = (double)n * DBL_EPSILON * largest_entry(S, n);
    for (int64_t k = 0; k < n; k++) {
        const int64_t p = largest_diagonal(S, n, k);
        if (S[p * n + p] <= tolerance)
            return rest_is_below(S, n, k, tolerance) ? k : -1;
        if (p > k)
            swap_rows_and_columns(S, n, k, p);
        eliminate_form_pivot(S, n, k);
    }
    return n;
}

/* The rank is found in double; that no x'Ax is negative is said only of small matrices, for which it is certain. */
static mercer_status find_rank(mercer_ctx *ctx, mc_value *A) {
    enum { CERTAIN_ROWS = 32 };
    const int64_t n = A->rows;
    mc_psd psd = MC_PSD_UNSURE;
    double *S = mc_alloc(ctx, n * n, sizeof *S);
    if (!S)
        return MERCER_MEMORY;
    memcpy(S, A->numbers, (size_t)(n * n) * sizeof *S);
    A->number = (double)rank_of(S, n);
    mc_free(S);
    if (n <= CERTAIN_ROWS)
        MC_TRY(mc_psd_test(ctx, A->numbers, n, &psd));
    A->low = psd == MC_PSD_YES ? 0 : -INFINITY;
    return MERCER_OK;
}

static mercer_status fail_pair(mercer_ctx *ctx, mercer_status status, const char *where, const mc_value *A, int64_t i,
                               int64_t j) {
    const long long row = (long long)i + 1, column = (long long)j + 1;
    return mc_fail_at(
        ctx, status, A->offset,
        "%s: form's matrix must be finite and symmetric, but A(%lld,%lld) = %.17g and A(%lld,%lld) = %.17g", where, row,
        column, A->numbers[i * A->columns + j], column, row, A->numbers[j * A->columns + i]);
}

/* Square, finite, symmetric; then its rank. where begins the message: "column 6" of the text, or the name of a file. */
static mercer_status check_form_matrix(mercer_ctx *ctx, mc_value *A, mercer_status status, const char *where) {
    if (A->rows != A->columns)
        return mc_fail_at(ctx, status, A->offset, "%s: form's matrix must be square, got %lld x %lld", where,
                          (long long)A->rows, (long long)A->columns);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double a = A->numbers[i * A->columns + j];
            if (!isfinite(a) || a != A->numbers[j * A->columns + i])
                return fail_pair(ctx, status, where, A, i, j);
        }
    return find_rank(ctx, A);
}

/* ---- From a file ---- */

/* What a program wrote may be symmetric up to its own rounding: such pairs take their mean. */
static void even_out(mc_value *A) {
    const int64_t n = A->rows;
    const double tolerance = 1e-12 * largest_entry(A->numbers, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double *a = &A->numbers[i * n + j], *b = &A->numbers[j * n + i];
            if (fabs(*a - *b) <= tolerance)
                *a = *b = *a / 2 + *b / 2;
        }
}

static mercer_status take_rows(mercer_ctx *ctx, const mercer_data *data, mc_value *A) {
    MC_TRY(MC_ALLOC(ctx, A->numbers, data->n * data->d));
    A->rows = data->n;
    A->columns = data->d;
    for (int64_t i = 0; i < data->n; i++)
        mc_data_values(data, i, A->numbers + i * data->d);
    if (A->rows == A->columns)
        even_out(A);
    return check_form_matrix(ctx, A, MERCER_DATA, A->file);
}

mercer_status mc_form_read(mercer_ctx *ctx, mc_value *A) {
    mercer_data *data = NULL;
    mercer_read set = mercer_read_defaults();
    set.target = "";
    MC_TRY(mc_data_read_like(ctx, A->file, &set, NULL, 0, 0, NULL, &data));
    const mercer_status status = take_rows(ctx, data, A);
    mercer_data_free(data);
    MC_TRY(status);
    A->kind = MC_VALUE_MATRIX;
    mc_free(A->file);
    A->file = NULL;
    return MERCER_OK;
}

/* ---- From the text ---- */

static mercer_status parse_row(mc_parser *p, mc_value *A, int64_t width) {
    const int64_t offset = p->lexer.token.offset, before = A->columns;
    MC_TRY(mc_lex_expect(&p->lexer, '[', "'['"));
    do {
        double number;
        MC_TRY(mc_parse_number(p, &number));
        MC_TRY(mc_value_add(p->lexer.ctx, A, number));
    } while (mc_lex_take(&p->lexer, ','));
    MC_TRY(mc_lex_expect(&p->lexer, ']', "',' or ']'"));
    if (width > 0 && A->columns - before != width)
        return mc_lex_fail(&p->lexer, offset, "this row has %lld numbers, the first has %lld",
                           (long long)(A->columns - before), (long long)width);
    return MERCER_OK;
}

/* The numbers are collected as one long row and given their shape at the end. */
static mercer_status parse_rows(mc_parser *p, mc_value *A) {
    int64_t rows = 0, width = 0;
    A->kind = MC_VALUE_MATRIX;
    MC_TRY(mc_lex_expect(&p->lexer, '[', "'[' or a file name in quotes"));
    do {
        MC_TRY(parse_row(p, A, width));
        width = rows == 0 ? A->columns : width;
        rows++;
    } while (mc_lex_take(&p->lexer, ','));
    MC_TRY(mc_lex_expect(&p->lexer, ']', "',' or ']'"));
    A->rows = rows;
    A->columns = width;
    char where[40];
    mc_print(where, sizeof where, "column %lld", (long long)A->offset + 1);
    return check_form_matrix(p->lexer.ctx, A, MERCER_SYNTAX, where);
}

mercer_status mc_parse_matrix(mc_parser *p, mc_node *form) {
    mc_value *A = &form->parameter[0];
    A->offset = p->lexer.token.offset;
    if (p->lexer.token.kind == MC_TOKEN_STRING) {
        A->kind = MC_VALUE_FILE;
        MC_TRY(mc_lex_string(&p->lexer, &A->file));
        return MERCER_OK;
    }
    return parse_rows(p, A);
}
