/* precondition.cu: what (F F' + shift I)^-1 takes of F, n x r floats by columns: panels of rows as doubles, F'V, and (V -
   F C) / shift, all products in double. V and Y are n x t by rows, as the caller has them; C is r x t by rows. The
   source is C with the few words that CUDA adds, so that a test can run it on the processor. */
#ifdef __CUDACC__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define SHARED __shared__ __align__(16)
#define SYNC() __syncthreads()
#define UNROLL _Pragma("unroll")
#endif
typedef unsigned long long address;
typedef long long whole;
typedef struct argument {
    address f, v, y, wide, part;
    whole n, rank, t, from, to, segment, segments;
    double shift;
} argument;
#define ACROSS 8  /* columns of F that a block takes at a time: what it reads of V serves them all */
#define RIGHT 2   /* right-hand sides at a time */
#define DEEP 256  /* rows of C that lie in shared memory */

/* wide (m x rank, by columns) <- rows from .. to - 1 of F, m = to - from. */
KERNEL(256) widen(const argument a) {
    const whole i = (whole)blockIdx.x * 256 + threadIdx.x, m = a.to - a.from, k = blockIdx.y;
    if (i < m)
        ((double *)a.wide)[k * m + i] = (double)((const float *)a.f)[k * a.n + a.from + i];
}

/* The diagonal of wide, rank x rank, grows by shift. */
KERNEL(256) lift(const argument a) {
    const whole k = (whole)blockIdx.x * 256 + threadIdx.x;
    if (k < a.rank)
        ((double *)a.wide)[k * (a.rank + 1)] += a.shift;
}

/* part(segment, k, c) <- the sum over the rows of a segment of F_ik V_ic, for right-hand sides from .. to - 1, at most
   RIGHT of them. A thread has every 256th row; what the threads have is added up by halves. */
KERNEL(256) project(const argument a) {
    SHARED double sums[ACROSS * RIGHT][256];
    const whole k0 = (whole)blockIdx.x * ACROSS, begin = (whole)blockIdx.y * a.segment;
    const whole end = begin + a.segment < a.n ? begin + a.segment : a.n;
    const int given = (int)(a.to - a.from);
    double own[ACROSS][RIGHT];
    UNROLL for (int k = 0; k < ACROSS; k++) UNROLL for (int c = 0; c < RIGHT; c++) own[k][c] = 0;
    for (whole i = begin + threadIdx.x; i < end; i += 256) {
        double v[RIGHT];
        UNROLL for (int c = 0; c < RIGHT; c++) v[c] = c < given ? ((const double *)a.v)[i * a.t + a.from + c] : 0;
        UNROLL for (int k = 0; k < ACROSS; k++) {
            const whole at = k0 + k < a.rank ? k0 + k : a.rank - 1;
            const double f = (double)((const float *)a.f)[at * a.n + i];
            UNROLL for (int c = 0; c < RIGHT; c++) own[k][c] += f * v[c];
        }
    }
    UNROLL for (int k = 0; k < ACROSS; k++) UNROLL for (int c = 0; c < RIGHT; c++) sums[k * RIGHT + c][threadIdx.x] = own[k][c];
    for (int half = 128; half > 0; half /= 2) {
        SYNC();
        for (int e = threadIdx.x; e < ACROSS * RIGHT * half; e += 256)
            sums[e / half][e % half] += sums[e / half][e % half + half];
    }
    SYNC();
    if (threadIdx.x < ACROSS * RIGHT) {
        const int k = threadIdx.x / RIGHT, c = threadIdx.x % RIGHT;
        if (k0 + k < a.rank && c < given)
            ((double *)a.part)[((whole)blockIdx.y * a.rank + k0 + k) * a.t + a.from + c] = sums[threadIdx.x][0];
    }
}

/* y (rank x t) <- the sums over segments, in order. */
KERNEL(256) gather(const argument a) {
    const whole e = (whole)blockIdx.x * 256 + threadIdx.x;
    double sum = 0;
    if (e >= a.rank * a.t)
        return;
    for (whole s = 0; s < a.segments; s++)
        sum += ((const double *)a.part)[s * a.rank * a.t + e];
    ((double *)a.y)[e] = sum;
}

/* y <- (v - F C) / shift for right-hand sides from .. to - 1; C lies in wide. A thread has a row. */
KERNEL(256) subtract(const argument a) {
    SHARED double few[DEEP][RIGHT];
    const whole own = (whole)blockIdx.x * 256 + threadIdx.x, i = own < a.n ? own : a.n - 1;
    const int given = (int)(a.to - a.from);
    double sum[RIGHT];
    UNROLL for (int c = 0; c < RIGHT; c++) sum[c] = 0;
    for (whole k0 = 0; k0 < a.rank; k0 += DEEP) {
        const int deep = (int)(a.rank - k0 < DEEP ? a.rank - k0 : DEEP);
        SYNC();
        for (int e = threadIdx.x; e < DEEP * RIGHT; e += 256) {
            const int k = e / RIGHT, c = e % RIGHT;
            few[k][c] = k < deep && c < given ? ((const double *)a.wide)[(k0 + k) * a.t + a.from + c] : 0;
        }
        SYNC();
        const float *at = (const float *)a.f + k0 * a.n + i;
        int k = 0;
        for (; k + 8 <= deep; k += 8) {
            float f[8];
            UNROLL for (int e = 0; e < 8; e++) f[e] = at[(k + e) * a.n];
            UNROLL for (int e = 0; e < 8; e++) UNROLL for (int c = 0; c < RIGHT; c++) sum[c] += (double)f[e] * few[k + e][c];
        }
        for (; k < deep; k++)
            UNROLL for (int c = 0; c < RIGHT; c++) sum[c] += (double)at[k * a.n] * few[k][c];
    }
    UNROLL for (int c = 0; c < RIGHT; c++)
        if (own < a.n && c < given) {
            const whole e = i * a.t + a.from + c;
            ((double *)a.y)[e] = (((const double *)a.v)[e] - sum[c]) / a.shift;
        }
}
