/* contract_kernel.cu: a thread has a row, a block of threads a range of columns, some of them in shared memory at a time.
   M = factor A + left right'; A lies by columns, of which half 1 means the lower half, -1 the upper one, and stands for
   both. Sums of a block of threads are written apart: whoever adds them up does it in order. */
#define TILE 32
#define ROWS 128
#define OUTSIDE(r, c) (a.half * ((r) - (c)) < 0)

KERNEL(128) contract(const argument a) {
    SHARED double zs[TILE * D], part[ROWS];
    const whole own = a.i0 + (whole)blockIdx.x * ROWS + threadIdx.x, i = own < a.i1 ? own : a.i1 - 1;
    const whole begin = a.j0 + (whole)blockIdx.y * a.range, end = begin + a.range < a.j1 ? begin + a.range : a.j1;
    const whole row = (whole)blockIdx.x * ROWS;
    const double *points = (const double *)a.x, *left = (const double *)a.left, *right = (const double *)a.right;
    double x[D], g[SLOTS];
    UNROLL for (int k = 0; k < D; k++) x[k] = points[k * a.n + i];
    UNROLL for (int k = 0; k < SLOTS; k++) g[k] = 0;
    for (whole j0 = begin; j0 < end; j0 += TILE) {
        const whole column = j0 - a.j0;
        if (OUTSIDE(row, column + TILE) && OUTSIDE(row + ROWS, column))
            continue;
        SYNC();
        for (int e = threadIdx.x; e < TILE * D; e += ROWS) {
            const whole j = j0 + e % TILE < end ? j0 + e % TILE : end - 1;
            zs[e % TILE * D + e / TILE] = points[e / TILE * a.n + j];
        }
        SYNC();
        for (int c = 0; c < TILE; c++) {
            const whole j = j0 + c;
            if (own >= a.i1 || j >= end || OUTSIDE(own - a.i0, j - a.j0))
                continue;
            double m = a.A ? a.factor * ((const double *)a.A)[own - a.i0 + (j - a.j0) * a.ld] : 0;
            for (whole k = 0; k < a.terms; k++)
                m += left[k * a.n + i] * right[k * a.n + j];
            add_pair((const double *)a.numbers, (const double *)a.weights, a.n, i, j, x, zs + c * D, i == j ? m : 2 * m,
                     g);
        }
    }
    for (int k = 0; k < SLOTS; k++) {
        SYNC();
        part[threadIdx.x] = g[k];
        for (int half = ROWS / 2; half > 0; half /= 2) {
            SYNC();
            if (threadIdx.x < half)
                part[threadIdx.x] += part[threadIdx.x + half];
        }
        if (threadIdx.x == 0) {
            const whole blocks = (a.i1 - a.i0 + ROWS - 1) / ROWS;
            ((double *)a.partial)[(a.first + blockIdx.y * blocks + blockIdx.x) * SLOTS + k] = part[0];
        }
    }
}
