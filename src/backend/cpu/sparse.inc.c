/* sparse.inc.c: statistics of compressed rows against one unpacked panel. Each stored value of a row meets GROUPS
   vectors of the panel. Where only some coordinates occur in the panel, those are listed first, without a branch on
   each: they come and go at random. */

INLINE V F(sparse_term)(mc_statistic kind, V s, V x, V z) {
    switch (kind) {
    case MC_DOT: return s + x * z;
    case MC_CHI: return s + x * z / (x + z);
    case MC_HARMONIC: return s + F(vmin)(x, z) * (F(vmax)(x, z) / (x + z));
    case MC_MINIMUM: return s + F(vmin)(x, z);
    case MC_ABSOLUTE: return s + F(select_if_positive)(x * z, F(vmin)(F(vabs)(x), F(vabs)(z)), (V){0});
    default: return s;
    }
}

#if defined(__AVX512F__) && BITS == 32
INLINE V F(load_bytes)(const uint8_t *p) {
    return (V)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}
#elif defined(__AVX512F__)
INLINE V F(load_bytes)(const uint8_t *p) {
    return (V)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}
#elif defined(__AVX2__) && BITS == 32
INLINE V F(load_bytes)(const uint8_t *p) {
    return (V)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}
#elif defined(__AVX2__)
INLINE V F(load_bytes)(const uint8_t *p) {
    return (V)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_loadu_si32(p)));
}
#else
INLINE V F(load_bytes)(const uint8_t *p) {
    V v;
    UNROLL for (int i = 0; i < LANES; i++) v[i] = (REAL)p[i];
    return v;
}
#endif

/* Of bytes a panel is an eighth or a fourth as large, and to read it takes most of the time. */
INLINE V F(load_panel)(bool narrow, const void *b, int64_t at) {
    return narrow ? F(load_bytes)((const uint8_t *)b + at) : F(load_vector)((const REAL *)b + at);
}

INLINE void F(sparse_add)(mc_statistic kind, bool narrow, V *s, REAL x, const void *b, int64_t place) {
    UNROLL for (int g = 0; g < GROUPS; g++) s[g] =
        F(sparse_term)(kind, s[g], F(broadcast_scalar)(x), F(load_panel)(narrow, b, place * COLUMNS + g * LANES));
}

enum { F(LISTED) = 128 }; /* values of a row looked up at a time */

INLINE void F(sparse_listed)(mc_statistic kind, bool narrow, const mc_sparse_operands *o, int64_t begin, int64_t end,
                             V *s) {
    const REAL *value = o->value;
    int32_t place[F(LISTED)];
    REAL x[F(LISTED)];
    for (int64_t first = begin; first < end; first += F(LISTED)) {
        const int64_t last = first + F(LISTED) < end ? first + F(LISTED) : end;
        int64_t count = 0;
        for (int64_t e = first; e < last; e++) {
            place[count] = o->place[o->coordinate[e]];
            x[count] = value[e];
            count += place[count] >= 0;
        }
        for (int64_t k = 0; k < count; k++)
            F(sparse_add)(kind, narrow, s, x[k], o->b, place[k]);
    }
}

INLINE void F(sparse_rows)(mc_statistic kind, bool narrow, const mc_sparse_operands *o, REAL *out) {
    const REAL *value = o->value;
    for (int r = 0; r < ROWS; r++, out += COLUMNS) {
        V s[GROUPS] = {{0}};
        if (o->place)
            F(sparse_listed)(kind, narrow, o, o->start[r][0], o->start[r][1], s);
        else
            for (int64_t e = o->start[r][0]; e < o->start[r][1]; e++)
                F(sparse_add)(kind, narrow, s, value[e], o->b, o->coordinate[e]);
        UNROLL for (int g = 0; g < GROUPS; g++) F(store_vector)(out + g * LANES, s[g]);
    }
}

static void F(sparse_statistic)(mc_statistic kind, const mc_sparse_operands *o, void *out) {
    switch (kind) {
    case MC_DOT:
        if (o->narrow)
            F(sparse_rows)(MC_DOT, true, o, out);
        else
            F(sparse_rows)(MC_DOT, false, o, out);
        break;
    case MC_ABSOLUTE: F(sparse_rows)(MC_ABSOLUTE, false, o, out); break;
    case MC_CHI: F(sparse_rows)(MC_CHI, false, o, out); break;
    case MC_MINIMUM: F(sparse_rows)(MC_MINIMUM, false, o, out); break;
    case MC_HARMONIC: F(sparse_rows)(MC_HARMONIC, false, o, out); break;
    default: break;
    }
}
