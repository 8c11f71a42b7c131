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

#define TERMS_EACH 32 /* summed up in the precision of the tiles */

/* Rows i0 .. i1 - 1 against columns j0 .. j1 - 1, added to what earlier columns gave. */
KERNEL(256) product_of_dots(const argument a) {
    SHARED double sums[8 * 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const whole own = a.i0 + (whole)blockIdx.x * 8 + warp, i = own < a.i1 ? own : a.i1 - 1, columns = a.j1 - a.j0;
    const real *dots = (const real *)a.dots + (i - a.i0) * columns;
    real row[LINES], half_x[PARTS];
#define TAKE_ROW(l) row[l] = ((const real *)a.row[l])[i];
    EACH_VECTOR(TAKE_ROW)
#define TAKE_HALF_ROW(p) half_x[p] = ((const real *)a.half_x[p])[i];
    EACH_HALF(TAKE_HALF_ROW)
    real part[T];
    double sum[T];
    UNROLL for (int v = 0; v < T; v++) sum[v] = 0;
    for (int c0 = lane; c0 < (int)columns; c0 += 32 * TERMS_EACH) {
        UNROLL for (int v = 0; v < T; v++) part[v] = 0;
        AHEAD for (int c = c0; c < (int)columns && c < c0 + 32 * TERMS_EACH; c += 32) {
            const whole j = a.j0 + c;
            real s[3], column[LINES], half_z[PARTS];
            s[0] = UNSCALED(dots[c]), s[1] = -1, s[2] = 0;
#define TAKE_COLUMN(l) column[l] = ((const real *)a.column[l])[j];
            EACH_VECTOR(TAKE_COLUMN)
#define TAKE_HALF_COLUMN(p) half_z[p] = ((const real *)a.half_z[p])[j];
            EACH_HALF(TAKE_HALF_COLUMN)
            GEMM_DOUBTS
            real k = value(&a, s, half_x, half_z, row, column);
            if (a.diagonal && i == j) k = (real)((const double *)a.diagonal)[i];
            UNROLL for (int v = 0; v < T; v++) part[v] = FMA(k, ((const real *)a.w)[v * a.m + j], part[v]);
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
            *y = a.j0 ? *y + all : all;
        }
    }
}
