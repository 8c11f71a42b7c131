/* statistic.inc.c: sums over coordinates for one micro-tile, ROWS x COLUMNS pairs held in registers. Each step of the
   loop loads GROUPS vectors of z, broadcasts ROWS values of x and makes ROWS x GROUPS updates. */

typedef V F(tile)[ROWS][GROUPS];

INLINE void F(load_tile)(F(tile) s, const REAL *p) {
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++) s[r][g] =
        F(load_vector)(p + r * COLUMNS + g * LANES);
}

INLINE void F(add_tile)(F(tile) s, const REAL *p) {
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++) s[r][g] +=
        F(load_vector)(p + r * COLUMNS + g * LANES);
}

INLINE void F(store_tile)(F(tile) s, REAL *p) {
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++)
        F(store_vector)(p + r * COLUMNS + g * LANES, s[r][g]);
}

/* What a sum or a product starts from. */
INLINE void F(start_tile)(mc_statistic kind, F(tile) s) {
    const V start = F(broadcast_scalar)(mc_statistic_is_product(kind) ? 1 : 0);
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++) s[r][g] = start;
}

/* The term of one coordinate. */
INLINE V F(add_coordinate_term)(mc_statistic kind, V s, V x, V z) {
    const V u = x - z;
    switch (kind) {
    case MC_DOT: return s + x * z;
    case MC_SQUARE: return s + u * u;
    case MC_ABSOLUTE: return s + F(vabs)(u);
    case MC_CHI: return s + u * u / (x + z + (BITS == 32 ? (REAL)0x1p-126 : (REAL)0x1p-1022));
    case MC_MINIMUM: return s + F(vmin)(x, z);
    case MC_HARMONIC: { /* the same bits for (z, x) */
        const V sum = x + z + (BITS == 32 ? (REAL)0x1p-126 : (REAL)0x1p-1022);
        return s + F(vmin)(x, z) * (F(vmax)(x, z) / sum);
    }
    case MC_SINC_PRODUCT: return s * F(vsinc)(u);
    case MC_SPLINE_PRODUCT: {
        const V least = F(vmin)(x, z), most = F(vmax)(x, z);
        return s * (1 + x * z + least * least * (3 * most - least) * (REAL)(1.0 / 6));
    }
    case MC_STATISTICS: break;
    }
    return s;
}

INLINE void F(accumulate_tile)(mc_statistic kind, F(tile) s, int64_t d, const REAL *a, const REAL *b) {
    for (int64_t k = 0; k < d; k++, a += ROWS, b += COLUMNS) {
        V z[GROUPS];
        UNROLL for (int g = 0; g < GROUPS; g++) z[g] = F(load_vector)(b + g * LANES);
        UNROLL for (int r = 0; r < ROWS; r++) {
            const V x = F(broadcast_scalar)(a[r]);
            UNROLL for (int g = 0; g < GROUPS; g++) s[r][g] = F(add_coordinate_term)(kind, s[r][g], x, z[g]);
        }
    }
}

/* The sums of floats are made in parts of MC_TILE_RUN coordinates, added up: their rounding grows with the root of the
   number of terms and the size of the sum so far, and parts are small. Products are taken on as they are. */
enum { F(run) = BITS == 32 ? MC_TILE_RUN : MC_TILE_COORDINATES };

INLINE void F(one_statistic)(mc_statistic kind, const mc_operands *o, bool add, REAL *out) {
    const REAL *b = o->b;
    const bool in_parts = BITS == 32 && !mc_statistic_is_product(kind);
    for (int64_t p = 0; p < o->panels; p++, b += o->stride, out += ROWS * COLUMNS)
        for (int64_t k = 0; k < o->d || k == 0; k += F(run)) {
            F(tile) s;
            if (!in_parts && (add || k))
                F(load_tile)(s, out);
            else
                F(start_tile)(kind, s);
            F(accumulate_tile)
            (kind, s, o->d - k < F(run) ? o->d - k : F(run), (const REAL *)o->a + k * ROWS, b + k * COLUMNS);
            if (in_parts && (add || k))
                F(add_tile)(s, out);
            F(store_tile)(s, out);
        }
}

static void F(accumulate_statistic)(mc_statistic kind, const mc_operands *o, bool add, void *out) {
    switch (kind) {
    case MC_DOT: F(one_statistic)(MC_DOT, o, add, out); break;
    case MC_SQUARE: F(one_statistic)(MC_SQUARE, o, add, out); break;
    case MC_ABSOLUTE: F(one_statistic)(MC_ABSOLUTE, o, add, out); break;
    case MC_CHI: F(one_statistic)(MC_CHI, o, add, out); break;
    case MC_MINIMUM: F(one_statistic)(MC_MINIMUM, o, add, out); break;
    case MC_HARMONIC: F(one_statistic)(MC_HARMONIC, o, add, out); break;
    case MC_SINC_PRODUCT: F(one_statistic)(MC_SINC_PRODUCT, o, add, out); break;
    case MC_SPLINE_PRODUCT: F(one_statistic)(MC_SPLINE_PRODUCT, o, add, out); break;
    case MC_STATISTICS: break;
    }
}

/* Panel p of the operands alone. */
INLINE mc_operands F(panel_operands)(const mc_operands *o, int64_t p) {
    mc_operands one = *o;
    one.panels = 1;
    one.b = (const REAL *)o->b + p * o->stride;
    return one;
}

/* -|x - z|^2 / 2 from the dot products of one micro-tile; whether some pair is nearer than the guard trusts. */
INLINE bool F(radial_tile)(bool guarded, REAL share, const REAL *row, const REAL *column, const REAL *dot, REAL *out) {
    V worst[GROUPS], z[GROUPS];
    UNROLL for (int g = 0; g < GROUPS; g++) {
        worst[g] = F(broadcast_scalar)(-1);
        z[g] = F(load_vector)(column + g * LANES);
    }
    for (int r = 0; r < ROWS; r++)
        UNROLL for (int g = 0; g < GROUPS; g++) {
            const int64_t at = r * COLUMNS + g * LANES;
            const V norms = row[r] + z[g], s = F(load_vector)(dot + at) + norms;
            if (guarded)
                worst[g] = F(vmax)(worst[g], s - share * norms);
            F(store_vector)(out + at, F(vmin)((V){0}, s));
        }
    UNROLL for (int g = 1; g < GROUPS; g++) worst[0] = F(vmax)(worst[0], worst[g]);
    return guarded && F(any_positive)(worst[0]);
}

/* out <- -|x - z|^2 / 2 by direct differences. */
static __attribute__((noinline)) void F(direct_tile)(const mc_operands *o, int64_t p, REAL *out) {
    const mc_operands one = F(panel_operands)(o, p);
    F(one_statistic)(MC_SQUARE, &one, false, out);
    for (int64_t i = 0; i < ROWS * COLUMNS; i += LANES)
        F(store_vector)(out + i, F(load_vector)(out + i) * (REAL)-0.5);
}

static void F(distances_from_dots)(const mc_guard *guard, int64_t panels, const void *row, const void *column,
                                   const void *dot, void *out) {
    for (int64_t p = 0; p < panels; p++) {
        REAL *q = (REAL *)out + p * ROWS * COLUMNS;
        const REAL *in = (const REAL *)dot + p * ROWS * COLUMNS;
        const REAL *z = (const REAL *)column + p * COLUMNS;
        if (!guard)
            F(radial_tile)(false, 0, row, z, in, q);
        else if (F(radial_tile)(true, (REAL)guard->share, row, z, in, q))
            F(direct_tile)(&guard->direct, p, q);
    }
}

/* |x - z|^2 = 2 - 2c where c = <x, z> >= 0, else -|x + z|^2 = -2 - 2c, kept below 0 so that its sign tells the two
   apart. */
INLINE bool F(angle_tile)(REAL share, const REAL *dot, REAL *out) {
    const REAL least = BITS == 32 ? (REAL)0x1p-100 : (REAL)0x1p-1000;
    V worst = F(broadcast_scalar)(-1);
    for (int64_t i = 0; i < ROWS * COLUMNS; i += LANES) {
        const V c = F(load_vector)(dot + i), near = F(vmax)(F(broadcast_scalar)(0), 2 - 2 * c),
                far = F(vmax)(F(broadcast_scalar)(least), 2 + 2 * c);
        worst = F(vmax)(worst, share - F(vmin)(near, far));
        F(store_vector)(out + i, F(select_if_positive)(-c, -far, near));
    }
    return F(any_positive)(worst);
}

/* The same from direct sums: minus = |x - z|^2 is in out, plus = |x + z|^2 is summed here pair by pair of vectors.
   Together they are 4 for unit vectors, 2 or 0 where one or both are zero, which stand at a right angle to everything.
   */
static __attribute__((noinline)) void F(direct_angle)(const mc_operands *o, int64_t p, REAL *out) {
    const REAL least = BITS == 32 ? (REAL)0x1p-100 : (REAL)0x1p-1000;
    const mc_operands one = F(panel_operands)(o, p);
    F(one_statistic)(MC_SQUARE, &one, false, out);
    const REAL *a = one.a;
    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < GROUPS; g++) {
            const REAL *b = (const REAL *)one.b + g * LANES;
            V plus = {0};
            for (int64_t k = 0; k < one.d; k++) {
                const V u = a[k * ROWS + r] + F(load_vector)(b + k * COLUMNS);
                plus += u * u;
            }
            REAL *q = out + r * COLUMNS + g * LANES;
            const V minus = F(load_vector)(q);
            const V angle = F(select_if_positive)(minus - plus, -F(vmax)(plus, F(broadcast_scalar)(least)), minus);
            F(store_vector)(q, F(select_if_positive)(3 - minus - plus, F(broadcast_scalar)(2), angle));
        }
}

static void F(angles_from_dots)(const mc_guard *guard, int64_t panels, const void *dot, void *out) {
    for (int64_t p = 0; p < panels; p++) {
        REAL *q = (REAL *)out + p * ROWS * COLUMNS;
        const REAL share = guard ? (REAL)guard->share : 0;
        if (F(angle_tile)(share, (const REAL *)dot + p * ROWS * COLUMNS, q) && guard)
            F(direct_angle)(&guard->direct, p, q);
    }
}
