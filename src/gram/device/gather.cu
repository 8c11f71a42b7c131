/* gather.cu: sums over ranges of columns, in order. */
KERNEL(256) gather(const argument a) {
    const whole i = (whole)blockIdx.x * 256 + threadIdx.x;
    double sum = 0;
    if (i >= a.n * T)
        return;
    for (whole r = 0; r < a.ranges; r++)
        sum += ((const double *)a.partial)[r * T * a.n + i];
    ((double *)a.y)[i] = sum;
}
