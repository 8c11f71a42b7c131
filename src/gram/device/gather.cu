/* gather.cu: sums over ranges of columns, in order, after what earlier windows gave. */
KERNEL(256) gather(const argument a) {
    const whole i = (whole)blockIdx.x * 256 + threadIdx.x;
    if (i >= a.n * T)
        return;
    double sum = a.added ? ((const double *)a.y)[i] : 0;
    for (whole r = 0; r < a.ranges; r++)
        sum += ((const double *)a.partial)[r * T * a.n + i];
    ((double *)a.y)[i] = sum;
}
