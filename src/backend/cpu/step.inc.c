/* step.inc.c: the element-wise functions of a tile program, each a loop over one strip; see mc_tile_step in tile.h. */

/* The polynomial of the piece that b = sqrt(max(0, s)) lies in; a NaN stays one. */
INLINE V F(look_up)(const mc_tile_step *step, V s) {
    enum { TERMS = BITS == 32 ? MC_TABLE_TERMS_F32 : MC_TABLE_TERMS_F64 };
    const REAL *table = step->table;
    const V limit = F(broadcast_scalar)(BITS == 32 ? (REAL)1e30 : (REAL)1e300);
    const V b = F(vsqrt)(F(vmin)(limit, F(vmax)((V){0}, s)));
    const VU bits = (VU)b & ~(VU){0} >> 1, /* of equal rows b may be -0 */
        one = (VU)F(broadcast_scalar)(1), mantissa = ~(VU){0} >> (BITS - MANTISSA);
    const VI last = (VI){0} + (INTEGER)(step->pieces - 1), zero = {0};
    VI piece = (VI)(bits >> (MANTISSA - MC_TABLE_BITS)) - (INTEGER)step->first;
    piece = (piece > zero) & piece;
    piece = ((piece < last) & piece) | ((piece >= last) & last);
    const V r = (V)(((bits << MC_TABLE_BITS) & mantissa) | one) - (REAL)1.5;
    const VI at = piece * TERMS;
    V p = F(gather_reals)(table + TERMS - 1, at);
    UNROLL for (int k = TERMS - 2; k >= 0; k--) p = p * r + F(gather_reals)(table + k, at);
    return p + (b - b);
}

/* f(s). The function is known where this is inlined, so the switch costs nothing. */
INLINE V F(tile_function_value)(mc_function_of_tile function, const mc_tile_step *step, V s) {
    const REAL ln2 = (REAL)0.693147180559945309417, pi = (REAL)3.14159265358979323846;
    const V zero = {0};
    switch (function) {
    case MC_SAME: return s;
    case MC_WHOLE_POWER: return F(vwhole_power)(s, step->degree);
    case MC_REAL_POWER: return F(vreal_power)(s, (REAL)step->p, step->degree);
    case MC_EXP2: return F(vexp2_any)(s);
    case MC_ROOT: return F(vexp2)(-F(vsqrt)(F(vmax)(zero, s)));
    case MC_MATERN3: {
        const V minus_b = -F(vsqrt)(F(vmax)(zero, s));
        return (1 - minus_b * ln2) * F(vexp2)(minus_b);
    }
    case MC_MATERN5: {
        const V square = F(vmax)(zero, s), minus_b = -F(vsqrt)(square);
        return (1 - minus_b * ln2 + square * (ln2 * ln2 / 3)) * F(vexp2)(minus_b);
    }
    case MC_RATIONAL: {
        const V q = F(vmax)(zero, s);
        if (step->degree) { /* up to 8: the power does not overflow */
            const V base = 1 + F(vmin)(F(broadcast_scalar)(BITS == 32 ? (REAL)0x1p15 : (REAL)0x1p120), q);
            return F(vreciprocal)(F(vpower_by_squaring)(base, (uint64_t)-step->degree));
        }
        return F(vexp2)(F(vlog2_from_1)(q) * (REAL)-step->p);
    }
    case MC_COMPACT: {
        const V b = F(vsqrt)(F(vmax)(zero, s)), t = F(vmax)(zero, 1 - b);
        const REAL l = (REAL)step->degree, k = (REAL)step->p;
        const REAL c1 = k == 0 ? 0 : k == 1 ? l + 1 : l + 2, c2 = k == 2 ? ((l + 4) * l + 3) / 3 : 0;
        return F(vpower_by_squaring)(t, (uint64_t)(step->degree + (int64_t)step->p)) * (1 + b * (c1 + c2 * b));
    }
    case MC_DISTANCE_POWER: {
        const V square = F(vmax)(zero, s);
        return step->p == 0.5 ? F(vsqrt)(square) : F(vreal_power)(square, (REAL)step->p, 0);
    }
    case MC_LOOKED_UP: return F(look_up)(step, s);
    case MC_HYPERBOLIC: return F(vtanh)(s);
    case MC_ARC0:
    case MC_ARC1:
    case MC_ARC2: {
        const V a = F(vabs)(s), t = F(vangle_from_distance)(a), angle = F(select_if_positive)(-s, pi - t, t);
        const V near = 1 - a * (REAL)0.5, cosine = F(select_if_positive)(-s, -near, near);
        const V sine = F(vsqrt)(a * (4 - a)) * (REAL)0.5;
        if (function == MC_ARC0)
            return (pi - angle) / pi;
        if (function == MC_ARC1)
            return (sine + (pi - angle) * cosine) / pi;
        return (3 * sine * cosine + (pi - angle) * (1 + 2 * cosine * cosine)) / pi;
    }
    case MC_LOG_SERIES: return F(vlog_series)(s);
    case MC_ARC_SINE: return F(varc_sine)(s);
    case MC_BESSEL: return F(vbessel_i0)(s);
    case MC_CONSTANT: return F(broadcast_scalar)(1);
    default: return s;
    }
}

/* What the function is applied to, or the whole of it for those that read the vectors in their own way. */
INLINE V F(function_argument)(mc_function_of_tile function, const mc_tile_step *step, REAL row, V column, V source) {
    switch (function) {
    case MC_SCALE: return source * (row * column) + 0; /* a zero has no sign */
    case MC_SCALE_SIGN: return source * F(vmax)((V){0}, row * column);
    case MC_RATIO: {
        const V rest = row + column - source;
        return F(select_if_positive)(
            rest, source / F(vmax)(rest, F(broadcast_scalar)(BITS == 32 ? (REAL)0x1p-126 : (REAL)0x1p-1022)),
            F(broadcast_scalar)(1));
    }
    case MC_MEAN_LENGTH: {
        const V total = row + column, even = 4 * row * column / (total * total);
        return F(vexp2_any)(source / total) * F(vexp2_any)(F(vlog2)(even) * (REAL)step->p);
    }
    case MC_EQUAL: {
        const VI same = (VI)((VI)F(broadcast_scalar)(row) == (VI)column);
        return (V)((VI)F(broadcast_scalar)(1) & same);
    }
    default: return source + (row + column);
    }
}

/* f of one row of a micro-tile, without the coefficient. row is NULL where nothing is added. */
INLINE void F(row_values)(mc_function_of_tile function, const mc_tile_step *step, REAL alpha, int r, const REAL *row,
                          const REAL *column, const REAL *source, V *v) {
    const bool raw = function == MC_SCALE || function == MC_SCALE_SIGN;
    UNROLL for (int g = 0; g < GROUPS; g++) v[g] =
        raw ? F(load_vector)(source + g * LANES) : F(load_vector)(source + g * LANES) * alpha;
    if (row)
        UNROLL for (int g = 0; g < GROUPS; g++) v[g] =
            F(function_argument)(function, step, row[r], F(load_vector)(column + g * LANES), v[g]);
    UNROLL for (int g = 0; g < GROUPS; g++) v[g] = F(tile_function_value)(function, step, v[g]);
}

INLINE void F(combine_row)(mc_combine combine, REAL factor, const V *v, REAL *target) {
    UNROLL for (int g = 0; g < GROUPS; g++) {
        REAL *t = target + g * LANES;
        const V fresh = factor * v[g];
        F(store_vector)
        (t, combine == MC_SET ? fresh : combine == MC_ADD ? F(load_vector)(t) + fresh : F(load_vector)(t) * fresh);
    }
}

/* How results are combined and whether vectors are added is asked once a row, which costs less than a loop for every
   mixture. */
INLINE void F(step_loop)(mc_function_of_tile function, const mc_tile_step *step, int64_t panels, const REAL *row,
                         const REAL *column, const REAL *source, REAL *target) {
    const REAL alpha = (REAL)step->alpha, factor = (REAL)step->coefficient;
    const mc_combine combine = step->combine;
    for (int64_t p = 0; p < panels; p++, column = row ? column + COLUMNS : column)
        for (int r = 0; r < ROWS; r++, source += COLUMNS, target += COLUMNS) {
            V v[GROUPS];
            F(row_values)(function, step, alpha, r, row, column, source, v);
            if (combine == MC_SET)
                F(combine_row)(MC_SET, factor, v, target);
            else if (combine == MC_ADD)
                F(combine_row)(MC_ADD, factor, v, target);
            else
                F(combine_row)(MC_MULTIPLY, factor, v, target);
        }
}

#define STEP_CASE(name)                                                                                                \
    case name: F(step_loop)(name, step, panels, row, column, source, target); break

static void F(apply_elementwise_step)(const mc_tile_step *step, int64_t panels, const void *row, const void *column,
                                      const void *source, void *target) {
    switch (step->function) {
        STEP_CASE(MC_SAME);
        STEP_CASE(MC_WHOLE_POWER);
        STEP_CASE(MC_REAL_POWER);
        STEP_CASE(MC_EXP2);
        STEP_CASE(MC_ROOT);
        STEP_CASE(MC_MATERN3);
        STEP_CASE(MC_MATERN5);
        STEP_CASE(MC_RATIONAL);
        STEP_CASE(MC_HYPERBOLIC);
        STEP_CASE(MC_ARC0);
        STEP_CASE(MC_ARC1);
        STEP_CASE(MC_ARC2);
        STEP_CASE(MC_COMPACT);
        STEP_CASE(MC_LOG_SERIES);
        STEP_CASE(MC_ARC_SINE);
        STEP_CASE(MC_BESSEL);
        STEP_CASE(MC_DISTANCE_POWER);
        STEP_CASE(MC_MEAN_LENGTH);
        STEP_CASE(MC_LOOKED_UP);
        STEP_CASE(MC_RATIO);
        STEP_CASE(MC_SCALE);
        STEP_CASE(MC_SCALE_SIGN);
        STEP_CASE(MC_EQUAL);
        STEP_CASE(MC_CONSTANT);
    case MC_TILE_FUNCTIONS: break;
    }
}
#undef STEP_CASE
