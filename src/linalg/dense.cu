/* dense.cu: diagonals and lengths of columns, where no library has a call. The source is C with the few words that CUDA
   adds, so that a test can run it on the processor. */
#ifdef __CUDACC__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define SHARED __shared__ __align__(16)
#define SYNC() __syncthreads()
#endif
typedef unsigned long long address;
typedef long long whole;
typedef struct argument {
    address a, out;
    whole rows, columns, ld, triangle, add;
} argument;

KERNEL(256) diagonal(const argument a) {
    const whole i = (whole)blockIdx.x * 256 + threadIdx.x;
    if (i < a.rows)
        ((double *)a.out)[i] = ((const double *)a.a)[i * (a.ld + 1)];
}

/* A column to a block: its numbers lie together. */
KERNEL(256) squares_along(const argument a) {
    SHARED double part[256];
    const whole j = blockIdx.x;
    const double *column = (const double *)a.a + j * a.ld;
    double sum = 0;
    for (whole i = (a.triangle ? j : 0) + threadIdx.x; i < a.rows; i += 256)
        sum += column[i] * column[i];
    part[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        SYNC();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        double *out = (double *)a.out + j;
        *out = a.add ? *out + part[0] : part[0];
    }
}

/* A column to a thread: rows lie together. */
KERNEL(256) squares_across(const argument a) {
    const whole j = (whole)blockIdx.x * 256 + threadIdx.x;
    double sum = 0;
    if (j >= a.columns)
        return;
    for (whole i = a.triangle ? j : 0; i < a.rows; i++) {
        const double v = ((const double *)a.a)[j + i * a.ld];
        sum += v * v;
    }
    ((double *)a.out)[j] = a.add ? ((double *)a.out)[j] + sum : sum;
}
