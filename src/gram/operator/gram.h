/* gram.h: the Gram matrix K_ij = k(x_i, z_j) as an operator: products, blocks, rows, diagonal, without storing K.

       mc_gram *gram = NULL;
       MC_TRY(mc_gram_open(ctx, kernel, x, NULL, MERCER_F64, &gram));   x against itself: symmetric
       s = mc_gram_apply(ctx, gram, t, V, Y);                           Y <- K V
       mc_gram_close(gram);

   The rows are packed once for the tile engine (columns in view, scaled, centred, in the tile's precision) and every
   later call streams tiles. All results are the same bits on any number of threads. */
#ifndef MC_GRAM_OPERATOR_GRAM_H
#define MC_GRAM_OPERATOR_GRAM_H

#include "base/workspace.h"
#include "linalg/dense.h"

typedef struct mc_gram mc_gram;

/* z NULL: symmetric, each pair is evaluated once. kernel must be bound to the columns of x, and z keep the same ones
   (mc_align_tables), or it fails. precision is that of the tiles; sums over tiles are kept in double. Borrows kernel, x
   and z: they must outlive the operator. */
mercer_status mc_gram_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                           mercer_dtype precision, mc_gram **out);
/* x against itself for mc_gram_block alone, in double: values from elsewhere, a matrix or a function, are written as
   they are on both sides of the diagonal. mc_gram_open reads one side of them and refuses those that are not symmetric.
   */
mercer_status mc_gram_open_both_triangles(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                          mc_gram **out);
/* K of all rows against the columns listed, which rise: the packed points of the whole serve again, so that opening
   costs no more than copying the listed ones. whole must outlive it. */
mercer_status mc_gram_open_columns(mercer_ctx *ctx, const mc_gram *whole, const int64_t *ids, int64_t count,
                                   mc_gram **out);
void mc_gram_close(mc_gram *gram);
/* Operators of double precision, of other rows with the same columns (points z): mc_gram_keep_packed leaves of an
   operator its right side and says so, or that it is of a kind that cannot be kept and is as it was.
   mc_gram_open_reusing is then mc_gram_open for rows x, the same to the bit, without a look at z; *out stays NULL where
   these rows would have z laid out otherwise. packed must outlive it. */
bool mc_gram_keep_packed(mc_gram *gram);
size_t mc_gram_keep_packed_bytes(const mc_gram *gram); /* that it then holds on to, nearly */
mercer_status mc_gram_open_reusing(mercer_ctx *ctx, const mc_gram *packed, const mercer_data *x, mc_gram **out);

/* Bytes mc_gram_open will take, and the most that blocks, rows and products of so many right-hand sides take beside,
   for the planner: an upper bound; 0: none but blocks and rows. Where floats are asked for it holds for doubles too,
   which the operator may fall back to. */
size_t mc_gram_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                     mercer_dtype precision, int64_t right_hand_sides);

/* The part of these that is taken while a block, rows or the packed triangle are written. */
size_t mc_gram_block_bytes(mercer_ctx *ctx, const mc_gram *gram);

int64_t mc_gram_rows(const mc_gram *gram);
int64_t mc_gram_columns(const mc_gram *gram);
mercer_dtype mc_gram_precision(const mc_gram *gram); /* of the tiles: double where floats would not do */

/* Y <- K V: V is columns x t row-major, Y rows x t row-major. */
mercer_status mc_gram_apply(mercer_ctx *ctx, const mc_gram *gram, int64_t t, const double *V, double *Y);
/* out[(i - i0) * ld + (j - j0)] <- K_ij for i0 <= i < i1, j0 <= j < j1, as doubles (or floats). */
mercer_status mc_gram_block(mercer_ctx *ctx, const mc_gram *gram, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                            mercer_dtype dtype, void *out, int64_t ld);
/* A thread that writes blocks all by itself, beside others that do so: its workspace, of these bytes, is cut from work.
   out[i * ld + j] <- K over the rows of the runs first[r] .. first[r] + count[r] - 1, one below the other, of a
   symmetric operator. Values that are no numbers are an error, which mc_gram_writers_report tells once all have
   written. */
typedef struct mc_gram_writer {
    const mc_gram *gram;
    struct mc_tile_workspace *space;
} mc_gram_writer;
size_t mc_gram_writer_bytes(const mc_gram *gram);
mc_gram_writer mc_gram_writer_open(const mc_gram *gram, mc_work *work);
void mc_gram_write_square(const mc_gram_writer *writer, int runs, const int64_t *first, const int64_t *count,
                          double *out, int64_t ld);
/* out[i * ld + j] <- K between rows of the first run and columns of the second, and turned over,
   turned[j * turned_ld + i]. */
void mc_gram_write_between(const mc_gram_writer *writer, const int64_t first[2], const int64_t count[2], double *out,
                           int64_t ld, double *turned, int64_t turned_ld);
/* Listed rows of the operator against the columns of the runs, one run behind the other, each to a place of its own. It
   does best with mc_gram_writer_rows at a time, and takes MC_GRAM_WRITER_ROWS at most. */
enum { MC_GRAM_WRITER_ROWS = 32 };
int64_t mc_gram_writer_rows(const mc_gram *gram);
void mc_gram_write_rows(const mc_gram_writer *writer, const int64_t *rows, int64_t listed, int runs,
                        const int64_t *first, const int64_t *count, double *const *out);
mercer_status mc_gram_writers_report(mercer_ctx *ctx, const mc_gram *gram);
/* A block as floats and, beside each, what it rounds off in units of `unit`: K_ij = high + unit low, wrong by less
   than a unit. gram is one of doubles, and 2^-24 |K_ij| < 2^15 units. */
mercer_status mc_gram_split(mercer_ctx *ctx, const mc_gram *gram, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                            double unit, float *high, int16_t *low, int64_t ld);
/* Listed rows of K, each of all columns: out[r * ld + j] <- K(rows[r], j). */
mercer_status mc_gram_take(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, mercer_dtype dtype,
                           void *out, int64_t ld);
/* The same of columns j0 .. j1-1 alone: out[r * ld + j - j0]. */
mercer_status mc_gram_take_columns(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, int64_t j0,
                                   int64_t j1, mercer_dtype dtype, void *out, int64_t ld);
/* Columns j0 .. j1-1 of listed rows, each to a place of its own: out[r][j - j0] <- K(rows[r], j). */
mercer_status mc_gram_scatter(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, int64_t j0,
                              int64_t j1, mercer_dtype dtype, void *const *out);
/* out[k] <- K(row[k], column[k]), the same bits as in a block; columns rise, so that entries of a panel are made
   together. */
mercer_status mc_gram_pairs(mercer_ctx *ctx, const mc_gram *gram, const int64_t *row, const int64_t *column,
                            int64_t count, double *out);
/* k(x_i, x_i) of rows that the kernel fits, by the reference evaluator; NaN where precomputed does not tell it. */
mercer_status mc_kernel_diagonal(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, double *out);
/* K_ii of a symmetric operator, by the reference evaluator's formula. */
mercer_status mc_gram_diagonal(mercer_ctx *ctx, const mc_gram *gram, double *out);
/* The lower triangle of a symmetric K with lambda_i added on the diagonal (shift NULL: none), in LAPACK's rectangular
   full packed format (transr 'N', uplo 'L'), n(n+1)/2 doubles: half the memory of a square, all of the speed. */
mercer_status mc_gram_packed(mercer_ctx *ctx, const mc_gram *gram, const double *shift, double *out);
/* The device on which dense algebra of so many operations over so many bytes is done with this K, which is then made
   there; NULL: it is done here. */
mercer_status mc_gram_place_algebra(mercer_ctx *ctx, mc_gram *gram, double operations, double bytes,
                                    struct mc_device **out);
/* Whether that device would make the K of these rows: what a forecast asks before there is an operator. */
mercer_status mc_gram_forecast_algebra(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                       double operations, double bytes, bool *there);
/* A <- S K S + diag(shift) in double, where A lies; here packed, on the device of mc_gram_place_algebra packed or,
   where rows and columns differ, by columns. root: the diagonal of S, NULL: 1. */
mercer_status mc_gram_write(mercer_ctx *ctx, const mc_gram *gram, const double *root, const double *shift, mc_dense A);
/* Whether K of this symmetric operator can be made whole on that device; then the lower half of it in that of A, a
   square by columns there. */
mercer_status mc_gram_place_square(mercer_ctx *ctx, mc_gram *gram, struct mc_device *device, bool *there);
mercer_status mc_gram_write_lower(mercer_ctx *ctx, const mc_gram *gram, mc_dense A);
/* A bound on |computed K_ij - K_ij| over all pairs that holds whatever the roundings are: of the coordinates, the sums
   (whose order is known), the cancellation in |x - z|^2, the elementary functions and the lines; bound.c says what it
   covers. */
double mc_gram_entry_error(const mc_gram *gram);
/* The same in two terms: |computed K_ij - K_ij| <= relative |K_ij| + rest. A Gaussian is wrong by a share of itself. */
void mc_gram_entry_terms(const mc_gram *gram, double *relative, double *rest);
/* The same for a product with t right-hand sides, each c of them: |computed (K c)_i - (K c)_i| <= relative S_i + rest
   sum |c|, where S_i is the product with |c| as it is computed, and 0 is taken for relative where entries may be
   negative: nothing is then known of S_i. */
void mc_gram_product_terms(const mc_gram *gram, int64_t t, double *relative, double *rest);
/* The part of it that summing up makes: |computed (K c)_i - (K c)_i| <= (1 + this) entry sum |c| + this sum_j |K_ij
   c_j| with entry that of mc_gram_entry_error. It counts the additions that are made one after the other, not n. */
double mc_gram_sum_error(const mc_gram *gram, int64_t t);
/* These two, and what they make of a product with c: mass = sum |c|, no |K_ij| above size. */
typedef struct mc_product_error {
    double entry, sum;
} mc_product_error;
/* The worse of *error and of products of gram, t of them at once. */
void mc_gram_raise_error(const mc_gram *gram, int64_t t, mc_product_error *error);
/* Any of the roundings that make up a share `sum` may flush a subnormal to 0 instead: 2^-1022, not 2^-53 of a value. */
static inline double mc_flushed_share(double sum) {
    return 0x1p-968 * sum;
}
static inline double mc_product_doubt(mc_product_error error, double mass, double size) {
    return mass * ((1 + error.sum) * error.entry + error.sum * size) + mc_flushed_share(error.sum);
}
/* A bound on |K_ij| over all pairs; infinite where none is known. */
double mc_gram_entry_size(const mc_gram *gram);

#endif
