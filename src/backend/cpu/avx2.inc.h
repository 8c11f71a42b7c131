/* avx2.inc.h: vectors of 256 bits and the few operations the compiler's vector types lack. Included once per precision.
   */
#include <immintrin.h>

#define ROWS 4
#define GROUPS 3
#define VECTOR_BYTES 32
#define HAS_SCALEF 0
#if BITS == 32
#define RAW __m256
#define OP(name) _mm256_##name##_ps
#else
#define RAW __m256d
#define OP(name) _mm256_##name##_pd
#endif
#include "vector.inc.h"

INLINE V F(vmax)(V a, V b) {
    return (V)OP(max)((RAW)a, (RAW)b);
}

INLINE V F(vmin)(V a, V b) {
    return (V)OP(min)((RAW)a, (RAW)b);
}

INLINE V F(vsqrt)(V a) {
    return (V)OP(sqrt)((RAW)a);
}

INLINE V F(vreciprocal)(V a) {
    return 1 / a;
}

INLINE bool F(any_positive)(V a) {
    return OP(movemask)(OP(cmp)((RAW)a, OP(setzero)(), _CMP_GT_OQ)) != 0;
}

INLINE V F(select_if_positive)(V m, V a, V b) {
    return (V)OP(blendv)((RAW)b, (RAW)a, OP(cmp)((RAW)m, OP(setzero)(), _CMP_GT_OQ));
}

INLINE V F(gather_reals)(const REAL *table, VI at) {
#if BITS == 32
    return (V)_mm256_i32gather_ps(table, (__m256i)at, 4);
#else
    return (V)_mm256_i64gather_pd(table, (__m256i)at, 8);
#endif
}

#undef RAW
#undef OP
