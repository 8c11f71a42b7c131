/* vector.inc.h: the vector type of one precision, and what the compiler's vector types do on any processor. */
#undef REAL
#undef INTEGER
#undef UNSIGNED
#undef LANES
#undef COLUMNS
#undef SQRT
#undef MANTISSA
#if BITS == 32
#define REAL float
#define INTEGER int32_t
#define UNSIGNED uint32_t
#define SQRT sqrtf
#define MANTISSA 23
#else
#define REAL double
#define INTEGER int64_t
#define UNSIGNED uint64_t
#define SQRT sqrt
#define MANTISSA 52
#endif
#define LANES (VECTOR_BYTES * 8 / BITS)
#define COLUMNS (GROUPS * LANES)

typedef REAL F(vec) __attribute__((vector_size(VECTOR_BYTES)));
typedef INTEGER F(ivec) __attribute__((vector_size(VECTOR_BYTES)));
typedef UNSIGNED F(uvec) __attribute__((vector_size(VECTOR_BYTES)));
#define V F(vec)
#define VI F(ivec)
#define VU F(uvec)

INLINE V F(load_vector)(const REAL *p) {
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void F(store_vector)(REAL *p, V v) {
    memcpy(p, &v, sizeof v);
}

/* x in every lane; x - 0 is x, bit for bit, where 0 + x is not. */
INLINE V F(broadcast_scalar)(REAL x) {
    return x - (V){0};
}

INLINE V F(vabs)(V a) {
    return (V)((VU)a & ((VU){0} + (UNSIGNED)(~(UNSIGNED)0 >> 1)));
}

/* The sum of the lanes in double: always the same order. */
INLINE double F(sum_lanes)(const REAL *lanes) {
    double part[4] = {0};
    for (int i = 0; i < LANES; i++)
        part[i % 4] += (double)lanes[i];
    return (part[0] + part[1]) + (part[2] + part[3]);
}
