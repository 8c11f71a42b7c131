/* product_matrix.cu: distances of one dot product on the matrix units, values made where the products lie: a warp keeps
   MT times 16 rows in registers and walks along the columns, eight at a time, which a block has in shared memory. Both
   sides lie in the order in which the units take them: 16 bytes of a lane are a step of a row, or two of a column.

   Doubles are multiplied as they are, four coordinates to a step. Floats are halves, sixteen numbers to a step: a
   coordinate, brought near 2^13 by a power of two that all share, is the sum of two of them, x = high + low, and <x, z>
   = <high, high> + <high, low> + <low, high>, one product of rows three times as long. What is left out and what the
   units cut off as they add up is below the (c + 4) u N that the bound of distances by norms (operator/bound.c) has for
   the tiles' own sums. */
#ifdef DOUBLE
typedef double word;
#define STEPS ((D0 + 3) / 4)
#define EACH_STEP 4
#define UNSCALE(sum) (sum)
#define LOAD_TWO LOAD
#define COPY_ONE COPY8
#define FIRST_STEP MULTIPLY_DOUBLES_FIRST
#define NEXT_STEP MULTIPLY_DOUBLES_ADD
#else
typedef unsigned word;
#define STEPS ((3 * D0 + 15) / 16)
#define EACH_STEP 16
#define UNSCALE(sum) ((sum) * unscale)
#define LOAD_TWO LOAD8
#define COPY_ONE COPY4
#define FIRST_STEP MULTIPLY_FIRST
#define NEXT_STEP MULTIPLY_ADD
#endif
#define EACH_LOAD (16 / (int)sizeof(word)) /* words of a lane that are loaded at once */
#define OF_COLUMN (EACH_LOAD / 2)          /* those of a step of a column */
#define WORDS (STEPS * 32 * OF_COLUMN)     /* of eight columns */
#define SIDES (WEIGHT + T - D0)
#define SIDE(f) ((f) - D0)
#define TILES_EACH 4 /* tiles of columns summed up in the tiles' precision: a lane adds a quarter of them */

#ifdef DOUBLE
FUNCTION word word_of(const real *points, whole i, int k, double scale, int right) {
    (void)scale, (void)right;
    return k < D0 ? AT(points, i, k, D0) : 0;
}
#else
/* Element k of a row as it is multiplied: (high, high, low) on the left, (high, low, high) on the right. */
FUNCTION unsigned half_of(const real *points, whole i, int k, double scale, int right) {
    if (k >= 3 * D0)
        return 0;
    const float v = AT(points, i, k % D0, D0) * (float)scale;
    const unsigned high = half_bits(v);
    return k / D0 == (right ? 1 : 2) ? half_bits(v - half_value(high)) : high;
}
FUNCTION word word_of(const real *points, whole i, int k, double scale, int right) {
    return half_of(points, i, k, scale, right) | half_of(points, i, k + 1, scale, right) << 16;
}
#endif
#define IN_STEP (EACH_STEP / 4 / OF_COLUMN) /* neighbours in a word */

/* Left: 16 rows, step, lane, the words of rows r and r + 8 by turns. Right: eight columns, two steps, lane, the words of
   each; a last step alone. */
KERNEL(256) lay(const argument a) {
    const whole e = (whole)blockIdx.x * 256 + threadIdx.x, n = a.right ? a.m : a.n;
    const whole each = a.right ? WORDS : STEPS * 32 * EACH_LOAD;
    const whole tiles = a.right ? (n + TILE - 1) / TILE * (TILE / 8) : (n + 15) / 16;
    if (e >= tiles * each)
        return;
    const int at = (int)(e % each), pairs = STEPS / 2 * (32 * EACH_LOAD), alone = at >= pairs;
    int lane, step, row, k;
    if (a.right) {
        const int r = alone ? at - pairs : at % (32 * EACH_LOAD);
        lane = alone ? r / OF_COLUMN : r / EACH_LOAD;
        step = alone ? STEPS - 1 : at / (32 * EACH_LOAD) * 2 + r % EACH_LOAD / OF_COLUMN;
        row = lane / 4;
        k = r % OF_COLUMN * 8;
    } else {
        lane = at / EACH_LOAD % 32;
        step = at / (32 * EACH_LOAD);
        row = lane / 4 + at % 2 * 8;
        k = at % EACH_LOAD / 2 * 8;
    }
    const whole own = e / each * (a.right ? 8 : 16) + row, i = own < n ? own : n - 1;
    ((word *)(a.right ? a.rows_right : a.rows_left))[e] =
        word_of((const real *)(a.right ? a.z[0] : a.x[0]), i, step * EACH_STEP + lane % 4 * IN_STEP + k, a.half_scale,
                a.right != 0);
}

/* Tile j0 of the right side to shared memory: words, then vectors, halves of norms and right-hand sides. */
FUNCTION void fetch_tile(const argument *a, whole j0, whole end, word *words, real *side) {
    const word *from = (const word *)a->rows_right + j0 / 8 * WORDS;
    for (int e = threadIdx.x * EACH_LOAD; e < TILE / 8 * WORDS; e += THREADS * EACH_LOAD)
        COPY16(words + e, from + e);
    for (int c = threadIdx.x; c < TILE; c += THREADS) {
        const whole j = j0 + c < a->m ? j0 + c : a->m - 1;
        (void)j;
#define FETCH_VECTOR(l) COPY_ONE(side + SIDE(VECTOR##l) * TILE + c, (const real *)a->column[l] + j, 1);
        EACH_VECTOR(FETCH_VECTOR)
#define FETCH_HALF(p) COPY_ONE(side + SIDE(HALF##p) * TILE + c, (const real *)a->half_z[p] + j, 1);
        EACH_HALF(FETCH_HALF)
        UNROLL for (int v = 0; v < T; v++)
            COPY_ONE(side + SIDE(WEIGHT + v) * TILE + c, (const real *)a->w + v * a->m + j, j0 + c < end);
    }
    COPIES_SENT();
}

/* K_ii as it is summed up; rows past the last one are nobody's. */
FUNCTION real exact_value(const argument *a, whole own) {
    const whole i = own < a->n ? own : a->n - 1;
#ifdef LIFTED
    return (real)(((const double *)a->diagonal)[i] / (exp2((double)((const real *)a->row[0])[i]) * a->coefficient[0]));
#else
    return (real)((const double *)a->diagonal)[i];
#endif
}

/* Value of accumulator e of row tile r: row half e / 2, column e % 2. */
#ifdef LIFTED
#define MATRIX_VALUE k = LIFTED_EXP2(UNSCALE(sum[r][e]) + side[SIDE(VECTOR0)][e % 2]);
#else
#define MATRIX_COLUMN(l) column[l] = side[SIDE(VECTOR##l)][e % 2];
#define MATRIX_HALF(p) half_z[p] = side[SIDE(HALF##p)][e % 2];
#define MATRIX_VALUE \
    real s[3], column[LINES], half_z[PARTS]; \
    s[0] = UNSCALE(sum[r][e]), s[1] = -1, s[2] = 0; \
    EACH_VECTOR(MATRIX_COLUMN) \
    EACH_HALF(MATRIX_HALF) \
    k = value(&a, s, half_x[r][e / 2], half_z, row[r][e / 2], column);
#endif
#define EIGHT_COLUMNS(crosses) { \
    word z[STEPS * OF_COLUMN]; \
    real sum[MT][4]; \
    real side[SIDES][2]; \
    UNROLL for (int s = 0; s + 1 < STEPS; s += 2) LOAD(z + OF_COLUMN * s, at + c * WORDS + s * (32 * OF_COLUMN) + lane * EACH_LOAD); \
    if (STEPS % 2) LOAD8(z + OF_COLUMN * (STEPS - 1), at + c * WORDS + STEPS / 2 * (32 * EACH_LOAD) + lane * OF_COLUMN); \
    UNROLL for (int f = 0; f < SIDES; f++) LOAD_TWO(side[f], sides + f * TILE + c * 8 + lane % 4 * 2); \
    UNROLL for (int r = 0; r < MT; r++) FIRST_STEP(sum[r], x[r][0], z); \
    UNROLL for (int s = 1; s < STEPS; s++) \
        UNROLL for (int r = 0; r < MT; r++) NEXT_STEP(sum[r], x[r][s], z + OF_COLUMN * s); \
    UNROLL for (int r = 0; r < MT; r++) UNROLL for (int e = 0; e < 4; e++) { \
        real k; \
        MATRIX_VALUE \
        if (crosses && i0 + r * 16 + e / 2 * 8 == j0 + a.ahead + c * 8 + lane % 4 * 2 + e % 2) k = exact_value(&a, i0 + r * 16 + e / 2 * 8); \
        UNROLL for (int v = 0; v < T; v++) \
            part[r][e / 2][v] = FMA(k, side[SIDE(WEIGHT) + v][e % 2], part[r][e / 2][v]); \
    } \
}

/* Three blocks to a multiprocessor. */
#define THREADS_AND_BLOCKS THREADS, 3
KERNEL(THREADS_AND_BLOCKS) product(const argument a) {
    SHARED word words[2][TILE / 8 * WORDS];
    SHARED real all_sides[2][SIDES * TILE];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const whole block = (whole)blockIdx.x * (THREADS / 2 * MT), first = block + warp * (MT * 16), last = a.n - 1;
    const whole i0 = first + lane / 4, begin = (whole)blockIdx.y * a.range;
    const whole end = begin + a.range < a.m ? begin + a.range : a.m;
    const real unscale = (real)a.half_unscale;
    (void)unscale;
    word x[MT][STEPS][EACH_LOAD];
    real row[MT][2][LINES], half_x[MT][2][PARTS], part[MT][2][T];
    double total[MT][2][T];
    fetch_tile(&a, begin, end, words[0], all_sides[0]);
    UNROLL for (int r = 0; r < MT; r++) {
        const whole tile = first / 16 + r <= last / 16 ? first / 16 + r : last / 16;
        UNROLL for (int s = 0; s < STEPS; s++)
            LOAD(x[r][s], (const word *)a.rows_left + ((tile * STEPS + s) * 32 + lane) * EACH_LOAD);
        UNROLL for (int h = 0; h < 2; h++) {
            const whole i = i0 + r * 16 + h * 8 < last ? i0 + r * 16 + h * 8 : last;
#define MATRIX_ROW(l) row[r][h][l] = ((const real *)a.row[l])[i];
            EACH_VECTOR(MATRIX_ROW)
#define MATRIX_HALF_ROW(p) half_x[r][h][p] = ((const real *)a.half_x[p])[i];
            EACH_HALF(MATRIX_HALF_ROW)
            UNROLL for (int v = 0; v < T; v++) total[r][h][v] = part[r][h][v] = 0;
        }
    }
    int turn = 0;
    for (whole j0 = begin; j0 < end; j0 += TILE, turn++) {
        if (j0 + TILE < end) fetch_tile(&a, j0 + TILE, end, words[(turn + 1) % 2], all_sides[(turn + 1) % 2]);
        COPIES_HERE(j0 + TILE < end);
        SYNC();
        const word *at = words[turn % 2];
        const real *sides = all_sides[turn % 2];
        const whole own = j0 + a.ahead; /* as a row */
        const int touches = a.diagonal && own < block + THREADS / 2 * MT && own + TILE > block;
        if (touches)
            AS_WRITTEN for (int c = 0; c < TILE / 8; c++)
                EIGHT_COLUMNS(1)
        else
            AS_WRITTEN for (int c = 0; c < TILE / 8; c++)
                EIGHT_COLUMNS(0)
        if (turn % TILES_EACH == TILES_EACH - 1 || j0 + TILE >= end)
            UNROLL for (int r = 0; r < MT; r++) UNROLL for (int h = 0; h < 2; h++) UNROLL for (int v = 0; v < T; v++) {
                total[r][h][v] += (double)part[r][h][v];
                part[r][h][v] = 0;
            }
        SYNC();
    }
    UNROLL for (int r = 0; r < MT; r++) UNROLL for (int h = 0; h < 2; h++) UNROLL for (int v = 0; v < T; v++) {
        const whole i = i0 + r * 16 + h * 8;
        const double sum = ADD_FOUR_LANES(total[r][h][v]);
#ifdef LIFTED
        const double by = exp2((double)((const real *)a.row[0])[i < last ? i : last]) * a.coefficient[0];
#else
        const double by = 1;
#endif
        if (i < a.n && lane % 4 == 0) ((double *)a.partial)[((whole)blockIdx.y * T + v) * a.n + i] = by * sum;
    }
}
