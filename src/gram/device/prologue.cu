/* prologue.cu: the argument of every kernel, and the functions of steps as backend/tile.h has them. What a program has
   of its own comes after it: device_program.c. The source is C with the few words that CUDA adds, so that a test can
   run it on the processor. Floats below the normal ones are 0. */
#ifdef __CUDACC__
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define FUNCTION static __device__ __forceinline__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define SHARED __shared__ __align__(16)
#define SYNC() __syncthreads()
#define UNROLL _Pragma("unroll")
#define AHEAD _Pragma("unroll 4")
#define AS_WRITTEN _Pragma("unroll 1")
/* Copies to shared memory that go on beside the work; COPY4 and COPY8 write 0 where there is nothing. */
#define IN_SHARED(p) "r"((unsigned)__cvta_generic_to_shared(p))
#define COPY16(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::IN_SHARED(to), "l"(from) : "memory")
#define COPY4(to, from, there) \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::IN_SHARED(to), "l"(from), "r"((there) ? 4 : 0) : "memory")
#define COPY8(to, from, there) \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::IN_SHARED(to), "l"(from), "r"((there) ? 8 : 0) : "memory")
#define COPIES_SENT() asm volatile("cp.async.commit_group;" ::: "memory")
#define COPIES_HERE(but_one) \
    if (but_one) asm volatile("cp.async.wait_group 1;" ::: "memory"); else asm volatile("cp.async.wait_group 0;" ::: "memory")
#define ADD_FOUR_LANES(v) add_four_lanes(v)
static __device__ __forceinline__ double add_four_lanes(double v) {
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}
#ifdef DOUBLE
#define LOAD(to, from) *(double2 *)(to) = *(const double2 *)(from)
#define LOAD8(to, from) *(double *)(to) = *(const double *)(from)
/* 16 rows by 8 columns, four coordinates: c <- a b, c <- c + a b. */
#define MULTIPLY_DOUBLES "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
#define MULTIPLY_DOUBLES_FIRST(c, a, b) \
    asm(MULTIPLY_DOUBLES "{%7,%7,%7,%7};" : "=d"((c)[0]), "=d"((c)[1]), "=d"((c)[2]), "=d"((c)[3]) \
        : "d"((a)[0]), "d"((a)[1]), "d"((b)[0]), "d"(0.0))
#define MULTIPLY_DOUBLES_ADD(c, a, b) \
    asm(MULTIPLY_DOUBLES "{%0,%1,%2,%3};" : "+d"((c)[0]), "+d"((c)[1]), "+d"((c)[2]), "+d"((c)[3]) \
        : "d"((a)[0]), "d"((a)[1]), "d"((b)[0]))
#else
/* The card's own root and reciprocal, right to a unit in the last place. */
static __device__ __forceinline__ float card_root(float v) {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
    return root;
}
static __device__ __forceinline__ float card_reciprocal(float v) {
    float one_over;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(one_over) : "f"(v));
    return one_over;
}
#define RECIPROCAL(v) card_reciprocal(v)
#define SQRT card_root
#define LOAD(to, from) *(float4 *)(to) = *(const float4 *)(from)
#define LOAD8(to, from) *(float2 *)(to) = *(const float2 *)(from)
/* 16 rows by 8 columns, 16 coordinates in halves: c <- a b, c <- c + a b. */
#define MULTIPLY_HALVES "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
#define MULTIPLY_FIRST(c, a, b) \
    asm(MULTIPLY_HALVES "{%10,%10,%10,%10};" : "=f"((c)[0]), "=f"((c)[1]), "=f"((c)[2]), "=f"((c)[3]) \
        : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "f"(0.0f))
#define MULTIPLY_ADD(c, a, b) \
    asm(MULTIPLY_HALVES "{%0,%1,%2,%3};" : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3]) \
        : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#endif
#endif
typedef unsigned long long address;
typedef long long whole;
typedef struct argument {
    address x[6], z[6], half_x[6], half_z[6], row[24], column[24];
    double alpha[24], coefficient[24], p[24];
    address w, y, partial, diagonal, rows_left, rows_right, dots;
    double half_scale, half_unscale;
    whole n, m, range, ranges, i0, i1, j0, j1, right;
    address out, scale, shift;
    whole ld, half;
    whole ahead, added;
} argument;
#ifdef DOUBLE
typedef double real;
typedef whole bits;
#define EXP2 exp2
#define SQRT sqrt
#define POW pow
#define TANH tanh
#define LOG1P log1p
#define ASIN asin
#define FMA fma
#define ABS fabs
#define MIN fmin
#define MAX fmax
#define LEAST 0x1p-1000
#define TINY 0x1p-1022
#define BITS __double_as_longlong
#define FROM_BITS __longlong_as_double
#else
typedef float real;
#define EXP2 exp2f
#ifndef SQRT
#define SQRT sqrtf
#endif
#define POW powf
#define TANH tanhf
#define LOG1P log1pf
#define ASIN asinf
#define FMA fmaf
#define ABS fabsf
#define MIN fminf
#define MAX fmaxf
#define LEAST 0x1p-100f
#define TINY 0x1p-126f
#define BITS __float_as_int
#define FROM_BITS __int_as_float
#endif
#define R(v) ((real)(v))
#ifndef RECIPROCAL
#define RECIPROCAL(v) (1 / (v))
#endif
#define AT(points, i, k, d) (points)[(i) / WIDTH * (WIDTH * (d)) + (k) * WIDTH + (i) % WIDTH]

#ifdef DOUBLE
/* 2^x for x < 1000 as backend/cpu/math.inc.c has it: 2^f on [-1/2, 1/2], then the nearest whole number is added to the
   exponent. Below 2^-1000 it is 0. */
FUNCTION real near_exp2(real x) {
    const real up = x + 0x1.8p52, f = x - (up - 0x1.8p52);
    real p = 4.435286058743639332e-10;
    p = FMA(p, f, 7.074105862366030874e-09), p = FMA(p, f, 1.017819799551621105e-07);
    p = FMA(p, f, 1.321543308812515027e-06), p = FMA(p, f, 1.525273349006378902e-05);
    p = FMA(p, f, 1.540353046251782842e-04), p = FMA(p, f, 1.333355814678982738e-03);
    p = FMA(p, f, 9.618129107588331908e-03), p = FMA(p, f, 5.550410866481992472e-02);
    p = FMA(p, f, 2.402265069591015545e-01), p = FMA(p, f, 6.931471805599452862e-01);
    p = FMA(p, f, R(1));
    const whole all = (whole)((unsigned long long)BITS(p) + ((unsigned long long)BITS(up) << 52));
    return FROM_BITS((unsigned)((unsigned long long)BITS(x) >> 32) > 0xc08f4000u ? 0 : all);
}
#define LIFTED_EXP2 near_exp2
#else
#define LIFTED_EXP2 EXP2
#endif

FUNCTION real power(real x, whole n) {
    unsigned long long left = (unsigned long long)(n < 0 ? -n : n);
    real y = left & 1 ? x : R(1);
    while (left >>= 1) {
        x = x * x;
        if (left & 1)
            y = y * x;
    }
    return n < 0 ? RECIPROCAL(y) : y;
}
FUNCTION real matern3(real s) {
    const real b = SQRT(MAX(R(0), s));
    return (1 + b * R(0.693147180559945309417)) * EXP2(-b);
}
FUNCTION real matern5(real s) {
    const real q = MAX(R(0), s), b = SQRT(q), ln2 = R(0.693147180559945309417);
    return (1 + b * ln2 + q * (ln2 * ln2 / 3)) * EXP2(-b);
}
FUNCTION real rational(real s, real p) {
    return EXP2(-p * (LOG1P(MAX(R(0), s)) * R(1.44269504088896340736)));
}
FUNCTION real rational_whole(real s, whole degree) {
    return RECIPROCAL(power(1 + MIN(sizeof(real) == 4 ? R(0x1p15) : R(0x1p120), MAX(R(0), s)), degree));
}
FUNCTION real compact(real s, int l, int k) {
    const real b = SQRT(MAX(R(0), s)), t = MAX(R(0), 1 - b);
    const real c1 = R(k == 0 ? 0 : k == 1 ? l + 1 : l + 2), c2 = k == 2 ? R((l + 4) * l + 3) / 3 : R(0);
    return power(t, l + k) * (1 + b * (c1 + c2 * b));
}
FUNCTION real log_series(real s) {
    return s < 1 ? -LOG1P(-s) : R(NAN);
}
FUNCTION real arc_sine(real s) {
    return ABS(s) <= 1 + R(sizeof(real) == 4 ? 0x1p-12 : 0x1p-40) ? ASIN(MAX(R(-1), MIN(R(1), s))) : R(NAN);
}
FUNCTION real bessel_i0(real s) {
    const real q = s * R(0.5) * (s * R(0.5));
    const int terms = (sizeof(real) == 4 ? 14 : 29) + (int)MIN(ABS(s), R(1600));
    real sum = 1, term = 1;
    for (int n = 1; n < terms; n++) {
        term *= q / (R(n) * R(n));
        sum += term;
    }
    return sum;
}
FUNCTION real ratio(real s, real both) {
    return both - s > 0 ? s / (both - s) : R(1);
}
FUNCTION real arc(real s, int order) {
    const real pi = R(3.14159265358979323846), a = ABS(s), near = 1 - a * R(0.5);
    const real t = 2 * ASIN(MIN(R(1), SQRT(a) * R(0.5))), rest = s < 0 ? t : pi - t;
    const real cosine = s < 0 ? -near : near, sine = SQRT(a * (4 - a)) * R(0.5);
    if (order == 0)
        return rest / pi;
    return order == 1 ? (sine + rest * cosine) / pi : (3 * sine * cosine + rest * (1 + 2 * cosine * cosine)) / pi;
}
/* The angle, coded: |x - z|^2 where <x, z> >= 0, else -|x + z|^2. minus < 0: from the dot product. */
FUNCTION real angle(real dot, real minus, real plus) {
    if (minus < 0)
        return dot < 0 ? -MAX(LEAST, 2 + 2 * dot) : MAX(R(0), 2 - 2 * dot);
    return minus + plus < 3 ? R(2) : minus > plus ? -MAX(plus, LEAST) : minus;
}
FUNCTION real difference2(const real *x, whole i, const real *z, whole j, whole d, real sign) {
    real total = 0;
    for (whole k0 = 0; k0 < d; k0 += RUN) {
        real sum = 0;
        for (whole k = k0; k < d && k < k0 + RUN; k++) {
            const real u = AT(x, i, k, d) - sign * AT(z, j, k, d);
            sum = FMA(u, u, sum);
        }
        total = k0 ? sum + total : sum;
    }
    return total;
}
