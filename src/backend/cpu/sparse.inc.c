/* sparse.inc.c: statistics of compressed rows against one unpacked panel. Each stored value of a row meets GROUPS vectors of the
   panel; a coordinate that no row of the panel has costs one look at its place. */

INLINE V F(sparse_term)(mc_statistic kind, V s, V x, V z) {
    switch (kind) {
    case MC_DOT: return s + x * z;
    case MC_CHI: return s + x * z / (x + z);
    case MC_MINIMUM: return s + F(vmin)(x, z);
    case MC_ABSOLUTE: return s + F(select)(x * z, F(vmin)(F(vabs)(x), F(vabs)(z)), (V){0});
    default: return s;
    }
}

INLINE void F(sparse_rows)(mc_statistic kind, const mc_sparse_operands *o, REAL *out) {
    const REAL *value = o->value, *b = o->b;
    for (int r = 0; r < ROWS; r++, out += COLUMNS) {
        V s[GROUPS] = {{0}};
        for (int64_t e = o->start[r][0]; e < o->start[r][1]; e++) {
            const int32_t place = o->place[o->coordinate[e]];
            if (place < 0)
                continue;
            const REAL *z = b + (int64_t)place * COLUMNS;
            UNROLL for (int g = 0; g < GROUPS; g++)
                s[g] = F(sparse_term)(kind, s[g], F(all)(value[e]), F(load)(z + g * LANES));
        }
        UNROLL for (int g = 0; g < GROUPS; g++)
            F(store)(out + g * LANES, s[g]);
    }
}

static void F(sparse)(mc_statistic kind, const mc_sparse_operands *o, void *out) {
    switch (kind) {
    case MC_DOT: F(sparse_rows)(MC_DOT, o, out); break;
    case MC_ABSOLUTE: F(sparse_rows)(MC_ABSOLUTE, o, out); break;
    case MC_CHI: F(sparse_rows)(MC_CHI, o, out); break;
    case MC_MINIMUM: F(sparse_rows)(MC_MINIMUM, o, out); break;
    default: break;
    }
}
