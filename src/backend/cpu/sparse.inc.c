/* sparse.inc.c: statistics of compressed rows against one unpacked panel. Each stored value of a row meets GROUPS
   vectors of the panel. Where only some coordinates occur in the panel, those are listed first, without a branch on
   each: they come and go at random. */

INLINE V F(sparse_term)(mc_statistic kind, V s, V x, V z) {
    switch (kind) {
    case MC_DOT: return s + x * z;
    case MC_CHI: return s + x * z / (x + z);
    case MC_HARMONIC: return s + x * (z / (x + z));
    case MC_MINIMUM: return s + F(vmin)(x, z);
    case MC_ABSOLUTE: return s + F(select_if_positive)(x * z, F(vmin)(F(vabs)(x), F(vabs)(z)), (V){0});
    default: return s;
    }
}

INLINE void F(sparse_add)(mc_statistic kind, V *s, REAL x, const REAL *z) {
    UNROLL for (int g = 0; g < GROUPS; g++) s[g] =
        F(sparse_term)(kind, s[g], F(broadcast_scalar)(x), F(load_vector)(z + g * LANES));
}

enum { F(LISTED) = 128 }; /* values of a row looked up at a time */

INLINE void F(sparse_listed)(mc_statistic kind, const mc_sparse_operands *o, int64_t begin, int64_t end, V *s) {
    const REAL *value = o->value, *b = o->b;
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
            F(sparse_add)(kind, s, x[k], b + (int64_t)place[k] * COLUMNS);
    }
}

INLINE void F(sparse_rows)(mc_statistic kind, const mc_sparse_operands *o, REAL *out) {
    const REAL *value = o->value, *b = o->b;
    for (int r = 0; r < ROWS; r++, out += COLUMNS) {
        V s[GROUPS] = {{0}};
        if (o->place)
            F(sparse_listed)(kind, o, o->start[r][0], o->start[r][1], s);
        else
            for (int64_t e = o->start[r][0]; e < o->start[r][1]; e++)
                F(sparse_add)(kind, s, value[e], b + (int64_t)o->coordinate[e] * COLUMNS);
        UNROLL for (int g = 0; g < GROUPS; g++) F(store_vector)(out + g * LANES, s[g]);
    }
}

static void F(sparse_statistic)(mc_statistic kind, const mc_sparse_operands *o, void *out) {
    switch (kind) {
    case MC_DOT: F(sparse_rows)(MC_DOT, o, out); break;
    case MC_ABSOLUTE: F(sparse_rows)(MC_ABSOLUTE, o, out); break;
    case MC_CHI: F(sparse_rows)(MC_CHI, o, out); break;
    case MC_MINIMUM: F(sparse_rows)(MC_MINIMUM, o, out); break;
    case MC_HARMONIC: F(sparse_rows)(MC_HARMONIC, o, out); break;
    default: break;
    }
}
