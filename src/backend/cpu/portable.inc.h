/* portable.inc.h: vectors of 128 bits in the compiler's own vector types, for any processor. Included once per
   precision. */
#define ROWS 4
#define GROUPS 2
#define VECTOR_BYTES 16
#define HAS_SCALEF 0
#include "vector.inc.h"

/* a where m > 0, else b. */
INLINE V F(select_if_positive)(V m, V a, V b) {
    const VI mask = (VI)(m > (V){0});
    return (V)(((VI)a & mask) | ((VI)b & ~mask));
}

/* Of a number and NaN the second, as the processor's own instructions have it: constants come first. */
INLINE V F(vmax)(V a, V b) {
    const VI mask = (VI)(a > b);
    return (V)(((VI)a & mask) | ((VI)b & ~mask));
}

INLINE V F(vmin)(V a, V b) {
    const VI mask = (VI)(a < b);
    return (V)(((VI)a & mask) | ((VI)b & ~mask));
}

INLINE V F(vsqrt)(V a) {
    V root;
    for (int i = 0; i < LANES; i++)
        root[i] = SQRT(a[i]);
    return root;
}

INLINE V F(vreciprocal)(V a) {
    return 1 / a;
}

INLINE bool F(any_positive)(V a) {
    bool any = false;
    for (int i = 0; i < LANES; i++)
        any |= a[i] > 0;
    return any;
}

INLINE V F(gather_reals)(const REAL *table, VI at) {
    V v;
    for (int i = 0; i < LANES; i++)
        v[i] = table[at[i]];
    return v;
}
