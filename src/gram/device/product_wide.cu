/* product_wide.cu: wide rows go through shared memory a few coordinates at a time, 64 rows against 64 columns to a
   block, sixteen pairs to a thread. */
KERNEL(256) product(const argument a) {
    SHARED real xs[CHUNK * 64], zs[CHUNK * 64], ws[64 * T];
    SHARED double sums[64 * 16];
    const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    const whole i0 = (whole)blockIdx.x * 64, last = a.n - 1;
    const whole begin = (whole)blockIdx.y * a.range, end = begin + a.range < a.m ? begin + a.range : a.m;
    double sum[4][T];
    UNROLL for (int r = 0; r < 4; r++) UNROLL for (int c = 0; c < T; c++) sum[r][c] = 0;
    for (whole j0 = begin; j0 < end; j0 += 64) {
        real s[4][4][3 * PARTS];
#define START(p) UNROLL for (int r = 0; r < 4; r++) UNROLL for (int c = 0; c < 4; c++) \
    s[r][c][3 * p] = 0, s[r][c][3 * p + 1] = HAS_SQUARE##p ? 0 : -1, s[r][c][3 * p + 2] = 0;
        EACH_PART(START)
        SYNC();
        for (int e = threadIdx.x; e < 64 * T; e += 256)
            ws[e] = j0 + e % 64 < end ? ((const real *)a.w)[e / 64 * a.m + j0 + e % 64] : R(0);
#define ACCUMULATE(p) \
    for (int k0 = 0; k0 < D##p; k0 += RUN) { \
        real run[4][4], square[4][4]; \
        UNROLL for (int r = 0; r < 4; r++) UNROLL for (int c = 0; c < 4; c++) run[r][c] = square[r][c] = 0; \
        for (int k1 = k0; k1 < D##p && k1 < k0 + RUN; k1 += CHUNK) { \
            SYNC(); \
            for (int e = threadIdx.x; e < CHUNK * 64; e += 256) { \
                const int k = k1 + e / 64; \
                const whole i = i0 + e % 64 < last ? i0 + e % 64 : last; \
                const whole j = j0 + e % 64 < a.m ? j0 + e % 64 : a.m - 1; \
                xs[e] = k < D##p ? AT((const real *)a.x[p], i, k, D##p) : R(0); \
                zs[e] = k < D##p ? AT((const real *)a.z[p], j, k, D##p) : R(0); \
            } \
            SYNC(); \
            UNROLL for (int k = 0; k < CHUNK; k++) { \
                real x[4], z[4]; \
                UNROLL for (int r = 0; r < 4; r++) x[r] = xs[k * 64 + ty * 4 + r], z[r] = zs[k * 64 + tx * 4 + r]; \
                UNROLL for (int r = 0; r < 4; r++) UNROLL for (int c = 0; c < 4; c++) { \
                    if (HAS_SUM##p) run[r][c] = sum##p(run[r][c], x[r], z[c]); \
                    if (HAS_SQUARE##p) square[r][c] = FMA(x[r] - z[c], x[r] - z[c], square[r][c]); \
                } \
            } \
        } \
        UNROLL for (int r = 0; r < 4; r++) UNROLL for (int c = 0; c < 4; c++) { \
            if (HAS_SUM##p) s[r][c][3 * p] = k0 ? run[r][c] + s[r][c][3 * p] : run[r][c]; \
            if (HAS_SQUARE##p) s[r][c][3 * p + 1] = k0 ? square[r][c] + s[r][c][3 * p + 1] : square[r][c]; \
        } \
    }
        EACH_PART(ACCUMULATE)
        real part[4][T];
        UNROLL for (int r = 0; r < 4; r++) UNROLL for (int v = 0; v < T; v++) part[r][v] = 0;
        UNROLL for (int c = 0; c < 4; c++) {
            const whole at = j0 + tx * 4 + c, j = at < a.m ? at : a.m - 1;
            real column[LINES], half_z[PARTS];
#define TAKE_VECTOR(l) column[l] = ((const real *)a.column[l])[j];
            EACH_VECTOR(TAKE_VECTOR)
#define TAKE_HALF(p) half_z[p] = ((const real *)a.half_z[p])[j];
            EACH_HALF(TAKE_HALF)
            UNROLL for (int r = 0; r < 4; r++) {
                const whole i = i0 + ty * 4 + r < last ? i0 + ty * 4 + r : last;
                real row[LINES], half_x[PARTS];
#define LOAD_VECTOR(l) row[l] = ((const real *)a.row[l])[i];
                EACH_VECTOR(LOAD_VECTOR)
#define LOAD_HALF(p) half_x[p] = ((const real *)a.half_x[p])[i];
                EACH_HALF(LOAD_HALF)
                WIDE_DOUBTS
                real k = value(&a, s[r][c], half_x, half_z, row, column);
                if (a.diagonal && i == j + a.ahead) k = (real)((const double *)a.diagonal)[i];
                UNROLL for (int v = 0; v < T; v++) part[r][v] = FMA(k, ws[v * 64 + tx * 4 + c], part[r][v]);
            }
        }
        UNROLL for (int r = 0; r < 4; r++) UNROLL for (int v = 0; v < T; v++) sum[r][v] += (double)part[r][v];
    }
    for (int v = 0; v < T; v++) {
        SYNC();
        UNROLL for (int r = 0; r < 4; r++) sums[(ty * 4 + r) * 16 + tx] = sum[r][v];
        SYNC();
        if (threadIdx.x < 64 && i0 + threadIdx.x < a.n) {
            double all = 0;
            for (int e = 0; e < 16; e++)
                all += sums[threadIdx.x * 16 + e];
            ((double *)a.partial)[((whole)blockIdx.y * T + v) * a.n + i0 + threadIdx.x] = all;
        }
    }
}
