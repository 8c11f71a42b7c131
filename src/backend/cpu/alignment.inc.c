/* alignment.inc.c: texts compared place by place, 64 places at a time: one bit says whether the bytes of a place are
   the same, and l bits in a row that l bytes are from there on. Counts are whole numbers, exact on every processor. */

enum { F(PLACES) = 64, F(LONGEST) = 8 };

#if defined(__AVX512BW__)
INLINE uint64_t F(equal_places)(const unsigned char *x, const unsigned char *z) {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(x), _mm512_loadu_si512(z));
}
#elif defined(__AVX2__)
INLINE uint64_t F(equal_half)(const unsigned char *x, const unsigned char *z) {
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)x),
                  b = _mm256_loadu_si256((const __m256i *)(const void *)z);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));
}

INLINE uint64_t F(equal_places)(const unsigned char *x, const unsigned char *z) {
    return F(equal_half)(x, z) | F(equal_half)(x + 32, z + 32) << 32;
}
#else
/* Eight bytes in a word: the top bit of each byte of `different` says that it is not 0; they are then gathered. */
INLINE uint64_t F(equal_places)(const unsigned char *x, const unsigned char *z) {
    const uint64_t low = 0x7F7F7F7F7F7F7F7Fu;
    uint64_t bits = 0;
    for (int k = 0; k < F(PLACES); k += 8) {
        uint64_t a, b;
        memcpy(&a, x + k, sizeof a);
        memcpy(&b, z + k, sizeof b);
        const uint64_t change = a ^ b, different = ((change & low) + low) | change | low;
        bits |= ((~different >> 7) * 0x0102040810204080u >> 56) << k;
    }
    return bits;
}
#endif

/* count[l - 1]: the places up to n from which on l bytes are the same, n being the length of the shorter text. */
INLINE void F(count_runs)(int p, const unsigned char *x, const unsigned char *z, int64_t n, int64_t *count) {
    uint64_t here = 0;
    for (int64_t at = 0; at < n + F(PLACES); at += F(PLACES)) {
        uint64_t next = at < n ? F(equal_places)(x + at, z + at) : 0;
        if (n - at < F(PLACES))
            next &= at < n ? ((uint64_t)1 << (n - at)) - 1 : 0;
        uint64_t run = here;
        count[0] += __builtin_popcountll(run);
        UNROLL for (int l = 1; l < p; l++) {
            run &= here >> l | next << (F(PLACES) - l);
            count[l] += __builtin_popcountll(run);
        }
        here = next;
    }
}

INLINE double F(weigh_runs)(int p, const mc_alignment *o, int r, int j) {
    int64_t count[F(LONGEST)] = {0};
    const int64_t n = o->row_length[r] < o->column_length[j] ? o->row_length[r] : o->column_length[j];
    F(count_runs)(p, o->row[r], o->column[j], n, count);
    double sum = 0;
    for (int l = 0; l < p; l++)
        sum += o->weight[l] * (double)count[l];
    return sum;
}

INLINE void F(align_tile)(int p, const mc_alignment *o, REAL *out) {
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < COLUMNS; j++)
            out[r * COLUMNS + j] = (REAL)F(weigh_runs)(p, o, r, j);
}

static void F(align_texts)(const mc_alignment *o, void *out) {
    switch (o->p) {
    case 1: F(align_tile)(1, o, out); break;
    case 2: F(align_tile)(2, o, out); break;
    case 3: F(align_tile)(3, o, out); break;
    case 4: F(align_tile)(4, o, out); break;
    case 5: F(align_tile)(5, o, out); break;
    case 6: F(align_tile)(6, o, out); break;
    case 7: F(align_tile)(7, o, out); break;
    default: F(align_tile)(8, o, out); break;
    }
}
