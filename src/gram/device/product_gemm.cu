/* product_gemm.cu: wide rows of one dot product: a library multiplies blocks of points, and what it leaves, <x, z> of
   some rows and columns, is made values and multiplied here, a warp to a row.

   Floats are multiplied on the card's matrix units, which hold 11 bits of each, as the sum of two such numbers: x = high
   + low, <x, z> = <high, high> + <high, low> + <low, high>, one product of rows three times as long. Under HALVES, at
   twice the speed, the two are halves of coordinates brought near 2^13, as in product_matrix.cu; the others keep the
   exponents of floats. */
#if defined DOUBLE
typedef real factor;
#define COPIES 1
#define UNSCALED(v) (v)
FUNCTION factor copy_of(const argument *a, real v, int which) {
    (void)a, (void)which;
    return v;
}
#elif defined HALVES
typedef unsigned short factor;
#define COPIES 3
#define UNSCALED(v) ((v) * (real)a.half_unscale)
FUNCTION factor copy_of(const argument *a, real v, int low) {
    const real scaled = v * (real)a->half_scale;
    const unsigned high = half_bits(scaled);
    return (factor)(low ? half_bits(scaled - half_value(high)) : high);
}
#else
typedef real factor;
#define COPIES 3
#define UNSCALED(v) (v)
/* The 11 leading bits, rounded to nearest; or what they leave. */
FUNCTION factor copy_of(const argument *a, real v, int low) {
    const real high = FROM_BITS((BITS(v) + 0x1000) & ~0x1fff);
    (void)a;
    return low ? v - high : high;
}
#endif

/* Rows of the points one after the other: left ones as (high, high, low), right ones as (high, low, high), then zeros up
   to a length that the library likes. */
KERNEL(256) spread(const argument a) {
    const whole e = (whole)blockIdx.x * 256 + threadIdx.x, n = a.right ? a.m : a.n;
    if (e >= n * ROW_LENGTH)
        return;
    const whole i = e / ROW_LENGTH, at = e % ROW_LENGTH, k = at % D0;
    const real *points = (const real *)(a.right ? a.z[0] : a.x[0]);
    const int low = at / D0 == (a.right ? 1 : 2);
    ((factor *)(a.right ? a.rows_right : a.rows_left))[e] =
        at < COPIES * D0 ? copy_of(&a, AT(points, i, k, (whole)D0), low) : (factor)0;
}

/* Columns that a lane asks for at once: whole 16 bytes of them, several times where there are registers for it, so that
   the way to memory is gone once for all of them and not for each. */
#define EACH (16 / (int)sizeof(real))
#define GROUPS (LINES + PARTS + T > 6 ? 1 : 4)
#define STRIDE (32 * EACH)

/* Rows i0 .. i1 - 1 against columns j0 .. j1 - 1, added to what earlier columns gave. Rows of dots are ld apart, a whole
   number of 16 bytes, as vectors of the columns are. */
KERNEL(256) product_of_dots(const argument a) {
    SHARED double sums[8 * 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, columns = (int)(a.j1 - a.j0);
    const whole own = a.i0 + (whole)blockIdx.x * 8 + warp, i = own < a.i1 ? own : a.i1 - 1;
    const real *dots = (const real *)a.dots + (i - a.i0) * a.ld;
    real row[LINES], half_x[PARTS];
#define TAKE_ROW(l) row[l] = ((const real *)a.row[l])[i];
    EACH_VECTOR(TAKE_ROW)
#define TAKE_HALF_ROW(p) half_x[p] = ((const real *)a.half_x[p])[i];
    EACH_HALF(TAKE_HALF_ROW)
    double sum[T];
    UNROLL for (int v = 0; v < T; v++) sum[v] = 0;
    for (int c0 = lane * EACH; c0 < columns; c0 += STRIDE * GROUPS) {
        real dot[GROUPS][EACH], vector[GROUPS][LINES][EACH], half[GROUPS][PARTS][EACH], weight[GROUPS][T][EACH], part[T];
        UNROLL for (int g = 0; g < GROUPS; g++) {
            const int at = c0 + g * STRIDE < columns ? c0 + g * STRIDE : 0;
            LOAD(dot[g], dots + at);
#define TAKE_COLUMN(l) LOAD(vector[g][l], (const real *)a.column[l] + a.j0 + at);
            EACH_VECTOR(TAKE_COLUMN)
#define TAKE_HALF_COLUMN(p) LOAD(half[g][p], (const real *)a.half_z[p] + a.j0 + at);
            EACH_HALF(TAKE_HALF_COLUMN)
            UNROLL for (int v = 0; v < T; v++) UNROLL for (int e = 0; e < EACH; e++)
                weight[g][v][e] = ((const real *)a.w)[v * a.m + a.j0 + (at + e < columns ? at + e : 0)];
        }
        UNROLL for (int v = 0; v < T; v++) part[v] = 0;
        UNROLL for (int g = 0; g < GROUPS; g++) UNROLL for (int e = 0; e < EACH; e++) {
            const int c = c0 + g * STRIDE + e;
            const whole j = a.j0 + (c < columns ? c : columns - 1);
            real s[3], column[LINES], half_z[PARTS];
            s[0] = UNSCALED(dot[g][e]), s[1] = -1, s[2] = 0;
#define PICK_COLUMN(l) column[l] = vector[g][l][e];
            EACH_VECTOR(PICK_COLUMN)
#define PICK_HALF_COLUMN(p) half_z[p] = half[g][p][e];
            EACH_HALF(PICK_HALF_COLUMN)
            GEMM_DOUBTS
            real k = value(&a, s, half_x, half_z, row, column);
            if (a.diagonal && i == j + a.ahead) k = (real)((const double *)a.diagonal)[i];
            UNROLL for (int v = 0; v < T; v++) part[v] = c < columns ? FMA(k, weight[g][v][e], part[v]) : part[v];
        }
        UNROLL for (int v = 0; v < T; v++) sum[v] += (double)part[v];
    }
    for (int v = 0; v < T; v++) {
        SYNC();
        sums[threadIdx.x] = sum[v];
        SYNC();
        if (lane == 0 && own < a.i1) {
            double all = 0;
            for (int e = 0; e < 32; e++)
                all += sums[warp * 32 + e];
            double *y = (double *)a.y + v * a.n + i;
            *y = a.j0 || a.added ? *y + all : all;
        }
    }
}
