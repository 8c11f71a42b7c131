/* product_gemm.cu: wide rows of one dot product: a library multiplies blocks of points, and what it leaves, <x, z> of
   some rows and columns, is made values and multiplied here, a warp to a row.

   Floats are multiplied in the reduced precision of the card's matrix units, each as the sum of two numbers that it
   holds: x = high + low, <x, z> = <high, high> + <high, low> + <low, high>, one product of rows three times as long. */
#ifdef DOUBLE
#define COPIES 1
FUNCTION real copy_of(real v, int which) {
    (void)which;
    return v;
}
#else
#define COPIES 3
/* The 11 leading bits, rounded to nearest; or what they leave. */
FUNCTION real copy_of(real v, int low) {
    const real high = FROM_BITS((BITS(v) + 0x1000) & ~0x1fff);
    return low ? v - high : high;
}
#endif

/* Rows of the points one after the other: left ones as (high, high, low), right ones as (high, low, high). */
KERNEL(256) spread(const argument a) {
    const whole e = (whole)blockIdx.x * 256 + threadIdx.x, d = D0, n = a.right ? a.m : a.n;
    if (e >= n * d)
        return;
    const whole i = e / d, k = e % d;
    const real v = a.right ? AT((const real *)a.z[0], i, k, d) : AT((const real *)a.x[0], i, k, d);
    real *out = (real *)(a.right ? a.rows_right : a.rows_left) + i * COPIES * d + k;
    for (int c = 0; c < COPIES; c++)
        out[c * d] = copy_of(v, c == (a.right ? 1 : 2));
}

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
    double sum[T];
    UNROLL for (int v = 0; v < T; v++) sum[v] = 0;
    AHEAD for (int c = lane; c < (int)columns; c += 32) {
        const whole j = a.j0 + c;
        real s[3], column[LINES], half_z[PARTS];
        s[0] = dots[c], s[1] = -1, s[2] = 0;
#define TAKE_COLUMN(l) column[l] = ((const real *)a.column[l])[j];
        EACH_VECTOR(TAKE_COLUMN)
#define TAKE_HALF_COLUMN(p) half_z[p] = ((const real *)a.half_z[p])[j];
        EACH_HALF(TAKE_HALF_COLUMN)
        GEMM_DOUBTS
        real k = value(&a, s, half_x, half_z, row, column);
        if (a.diagonal && i == j) k = (real)((const double *)a.diagonal)[i];
        UNROLL for (int v = 0; v < T; v++) sum[v] = fma((double)k, (double)((const real *)a.w)[v * a.m + j], sum[v]);
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
