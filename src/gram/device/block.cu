/* block.cu: a block of K in double, by columns: rows i0 .. i1 - 1 along a column, columns j0 .. j1 - 1. A thread has a row
   and a few columns at a time; half 1: the entries on and below the diagonal of the block alone, -1: on and above it. */
#define COLUMNS_EACH 4
#define COLUMNS_OF_BLOCK 32
#define OUTSIDE(r, c) (a.half * ((r) - (c)) < 0)

#define START_STATISTICS(p) UNROLL for (int c = 0; c < COLUMNS_EACH; c++) \
    s[c][3 * p] = 0, s[c][3 * p + 1] = HAS_SQUARE##p ? 0 : -1, s[c][3 * p + 2] = 0;
#define ADD_RUN(p) \
    for (int k0 = 0; k0 < D##p; k0 += RUN) { \
        real run[COLUMNS_EACH], square[COLUMNS_EACH]; \
        UNROLL for (int c = 0; c < COLUMNS_EACH; c++) run[c] = square[c] = 0; \
        for (int k = k0; k < D##p && k < k0 + RUN; k++) { \
            const real x = AT((const real *)a.x[p], i, k, D##p); \
            UNROLL for (int c = 0; c < COLUMNS_EACH; c++) { \
                const whole j = j0 + c < a.j1 ? j0 + c : a.j1 - 1; \
                const real z = AT((const real *)a.z[p], j, k, D##p); \
                if (HAS_SUM##p) run[c] = sum##p(run[c], x, z); \
                if (HAS_SQUARE##p) square[c] = FMA(x - z, x - z, square[c]); \
            } \
        } \
        UNROLL for (int c = 0; c < COLUMNS_EACH; c++) { \
            if (HAS_SUM##p) s[c][3 * p] = k0 ? run[c] + s[c][3 * p] : run[c]; \
            if (HAS_SQUARE##p) s[c][3 * p + 1] = k0 ? square[c] + s[c][3 * p + 1] : square[c]; \
        } \
    }

KERNEL(128) block(const argument a) {
    const whole own = a.i0 + (whole)blockIdx.x * 128 + threadIdx.x, i = own < a.i1 ? own : a.i1 - 1;
    const whole begin = a.j0 + (whole)blockIdx.y * COLUMNS_OF_BLOCK;
    const whole end = begin + COLUMNS_OF_BLOCK < a.j1 ? begin + COLUMNS_OF_BLOCK : a.j1;
    const whole first = (whole)blockIdx.x * 128, left = begin - a.j0;
    if (OUTSIDE(first, left + COLUMNS_OF_BLOCK) && OUTSIDE(first + 128, left))
        return;
    real row[LINES], half_x[PARTS];
#define BLOCK_ROW(l) row[l] = ((const real *)a.row[l])[i];
    EACH_VECTOR(BLOCK_ROW)
#define BLOCK_HALF_ROW(p) half_x[p] = ((const real *)a.half_x[p])[i];
    EACH_HALF(BLOCK_HALF_ROW)
    const double by = a.scale ? ((const double *)a.scale)[i] : 1;
    for (whole j0 = begin; j0 < end; j0 += COLUMNS_EACH) {
        real s[COLUMNS_EACH][3 * PARTS];
        EACH_PART(START_STATISTICS)
        EACH_PART(ADD_RUN)
        UNROLL for (int c = 0; c < COLUMNS_EACH; c++) {
            const whole at = j0 + c, j = at < a.j1 ? at : a.j1 - 1;
            real column[LINES], half_z[PARTS];
#define BLOCK_COLUMN(l) column[l] = ((const real *)a.column[l])[j];
            EACH_VECTOR(BLOCK_COLUMN)
#define BLOCK_HALF_COLUMN(p) half_z[p] = ((const real *)a.half_z[p])[j];
            EACH_HALF(BLOCK_HALF_COLUMN)
            BLOCK_DOUBTS
            double k = (double)value(&a, s[c], half_x, half_z, row, column);
            if (a.diagonal && i == j) k = ((const double *)a.diagonal)[i];
            if (a.scale) k *= by * ((const double *)a.scale)[j];
            if (a.shift && i == j) k += ((const double *)a.shift)[i];
            if (own < a.i1 && at < end && !OUTSIDE(own - a.i0, at - a.j0))
                ((double *)a.out)[own - a.i0 + (at - a.j0) * a.ld] = k;
        }
    }
}
