/* dot_uint8.inc.c: dot products of whole numbers 0 .. 255 in 32-bit integers, four coordinates at a time: an
   instruction multiplies unsigned bytes of x by signed ones of z and adds four products into each lane. Exact, whatever
   the order. Other instruction sets have none of it: 16-bit products gain too little there. */

#if defined(__AVX512F__)
typedef int32_t F(words) __attribute__((vector_size(4 * LANES)));
#if BITS == 32
#define ADD_PRODUCTS(s, x, z) ((F(words))_mm512_dpbusd_epi32((__m512i)(s), (__m512i)(x), (__m512i)(z)))
#else
#define ADD_PRODUCTS(s, x, z) ((F(words))_mm256_dpbusd_epi32((__m256i)(s), (__m256i)(x), (__m256i)(z)))
#endif

static __attribute__((target("avx512vnni"))) void F(dot_uint8_panels)(const mc_operands *o, void *out) {
    const int32_t *b = o->b;
    REAL *to = out;
    for (int64_t p = 0; p < o->panels; p++, b += o->stride, to += ROWS * COLUMNS) {
        const int32_t *a = o->a;
        F(words) s[ROWS][GROUPS];
        UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++) s[r][g] = a[r] + (F(words)){0};
        a += ROWS;
        for (int64_t k = 0; k < o->d; k++, a += ROWS) {
            F(words) z[GROUPS];
            UNROLL for (int g = 0; g < GROUPS; g++) memcpy(&z[g], b + k * COLUMNS + g * LANES, sizeof z[g]);
            UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++) s[r][g] =
                ADD_PRODUCTS(s[r][g], a[r] + (F(words)){0}, z[g]);
        }
        UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++)
            F(store_vector)(to + r * COLUMNS + g * LANES, __builtin_convertvector(s[r][g], V));
    }
}
#undef ADD_PRODUCTS
#else
#define dot_uint8_panels_f32 NULL
#define dot_uint8_panels_f64 NULL
#endif
