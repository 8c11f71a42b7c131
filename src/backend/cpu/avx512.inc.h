/* avx512.inc.h: vectors of 512 bits and the few operations the compiler's vector types lack. Included once per
   precision. */
#include <immintrin.h>

#define ROWS 8
#define GROUPS 3
#define VECTOR_BYTES 64
#define HAS_SCALEF 1
#if BITS == 32
#define RAW __m512
#define OP(name) _mm512_##name##_ps
#define POSITIVE(m) _mm512_cmp_ps_mask((RAW)(m), OP(setzero)(), _CMP_GT_OQ)
#else
#define RAW __m512d
#define OP(name) _mm512_##name##_pd
#define POSITIVE(m) _mm512_cmp_pd_mask((RAW)(m), OP(setzero)(), _CMP_GT_OQ)
#endif
#include "vector.inc.h"

INLINE V F(vmax)(V a, V b) {
    return (V)OP(max)((RAW)a, (RAW)b);
}

INLINE V F(vmin)(V a, V b) {
    return (V)OP(min)((RAW)a, (RAW)b);
}

/* Square root and reciprocal by Newton's steps from 14 bits: within 2 units in the last place, at a third of the time
   of the instructions. The root is exactly 0 at 0; neither takes infinities. */
INLINE V F(vsqrt)(V a) {
    const REAL tiny = BITS == 32 ? (REAL)0x1p-100 : (REAL)0x1p-1000;
    V y = (V)OP(rsqrt14)(OP(max)((RAW)a, OP(set1)(tiny)));
#if BITS == 64
    y = y * ((REAL)1.5 - (REAL)0.5 * (a + tiny) * y * y);
#endif
    const V h = a * y;
    return h + (h * (REAL)0.5) * (1 - h * y);
}

INLINE V F(vreciprocal)(V a) {
    V y = (V)OP(rcp14)((RAW)a);
    for (int i = 0; i < (BITS == 32 ? 1 : 2); i++)
        y = y * (2 - a * y);
    return y;
}

INLINE bool F(any_positive)(V a) {
    return POSITIVE(a) != 0;
}

INLINE V F(select_if_positive)(V m, V a, V b) {
    return (V)OP(mask_blend)(POSITIVE(m), (RAW)b, (RAW)a);
}

/* x - floor(x), and p 2^floor(x). */
INLINE V F(fractional_part)(V x) {
    return (V)OP(reduce)((RAW)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

INLINE V F(scale_by_exponent)(V p, V x) {
    return (V)OP(scalef)((RAW)p, (RAW)x);
}

INLINE V F(gather_reals)(const REAL *table, VI at) {
#if BITS == 32
    return (V)_mm512_i32gather_ps((__m512i)at, table, 4);
#else
    return (V)_mm512_i64gather_pd((__m512i)at, table, 8);
#endif
}

#undef RAW
#undef OP
#undef POSITIVE
