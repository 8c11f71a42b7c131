/* product.inc.c: products with tiles: of a stored strip with one or many right-hand sides, and the fused bodies, where
   the strip is never stored. */

/* y_rows and y_columns of one micro-tile that stands in memory. */
INLINE void F(multiply_tile)(bool symmetric, const REAL *K, const REAL *w_columns, const REAL *w_rows, V *y_rows,
                             REAL *y_columns) {
    V w[GROUPS], y[GROUPS];
    UNROLL for (int g = 0; g < GROUPS; g++) {
        w[g] = F(load_vector)(w_columns + g * LANES);
        if (symmetric)
            y[g] = F(load_vector)(y_columns + g * LANES);
    }
    UNROLL for (int r = 0; r < ROWS; r++) {
        V sum = y_rows[r];
        UNROLL for (int g = 0; g < GROUPS; g++) {
            const V k = F(load_vector)(K + r * COLUMNS + g * LANES);
            sum += k * w[g];
            if (symmetric)
                y[g] += k * w_rows[r];
        }
        y_rows[r] = sum;
    }
    if (symmetric)
        UNROLL for (int g = 0; g < GROUPS; g++) F(store_vector)(y_columns + g * LANES, y[g]);
}

INLINE void F(load_sums)(const mc_rhs *right, V *sums) {
    UNROLL for (int r = 0; r < ROWS; r++) sums[r] = F(load_vector)((const REAL *)right->y_rows + r * LANES);
}

INLINE void F(store_sums)(const V *sums, const mc_rhs *right) {
    UNROLL for (int r = 0; r < ROWS; r++) F(store_vector)((REAL *)right->y_rows + r * LANES, sums[r]);
}

INLINE void F(product_loop)(bool symmetric, int64_t panels, const REAL *K, const mc_rhs *right) {
    V sums[ROWS];
    F(load_sums)(right, sums);
    const REAL *w = right->w_columns;
    REAL *y = right->y_columns;
    for (int64_t p = 0; p < panels; p++, K += ROWS * COLUMNS)
        F(multiply_tile)(symmetric, K, w + p * COLUMNS, right->w_rows, sums, symmetric ? y + p * COLUMNS : NULL);
    F(store_sums)(sums, right);
}

static void F(sum_rows)(int64_t n, double factor, void *y_rows, double *out) {
    REAL *lanes = y_rows;
    for (int64_t i = 0; i < n; i++, lanes += LANES) {
        out[i] += factor * F(sum_lanes)(lanes);
        F(store_vector)(lanes, (V){0});
    }
}

static void F(multiply_strip_vector)(int64_t panels, const void *values, const mc_rhs *right) {
    if (right->w_rows)
        F(product_loop)(true, panels, values, right);
    else
        F(product_loop)(false, panels, values, right);
}

/* Y_rows[r][c..] += sum_j K[r][j] V[j][c..] for `groups` vectors of right-hand sides. */
INLINE void F(products_rows)(int groups, int64_t panels, const REAL *K, const REAL *v, int64_t t, REAL *y) {
    V s[ROWS][3];
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < groups; g++) s[r][g] =
        F(load_vector)(y + r * t + g * LANES);
    for (int64_t p = 0; p < panels; p++, K += ROWS * COLUMNS)
        for (int64_t j = 0; j < COLUMNS; j++, v += t) {
            V x[3];
            UNROLL for (int g = 0; g < groups; g++) x[g] = F(load_vector)(v + g * LANES);
            UNROLL for (int r = 0; r < ROWS; r++) {
                const V k = F(broadcast_scalar)(K[r * COLUMNS + j]);
                UNROLL for (int g = 0; g < groups; g++) s[r][g] += k * x[g];
            }
        }
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < groups; g++)
        F(store_vector)(y + r * t + g * LANES, s[r][g]);
}

/* Y_columns[j][c..] += sum_r K[r][j] V[r][c..]; the rows of V stay in registers. */
INLINE void F(products_columns)(int64_t panels, const REAL *K, const REAL *v, int64_t t, REAL *y) {
    V x[ROWS];
    UNROLL for (int r = 0; r < ROWS; r++) x[r] = F(load_vector)(v + r * t);
    for (int64_t p = 0; p < panels; p++, K += ROWS * COLUMNS)
        for (int64_t j = 0; j < COLUMNS; j++, y += t) {
            V s = F(load_vector)(y);
            UNROLL for (int r = 0; r < ROWS; r++) s += K[r * COLUMNS + j] * x[r];
            F(store_vector)(y, s);
        }
}

static void F(multiply_strip_matrix)(int64_t panels, const void *values, const mc_rhs_block *rhs) {
    const int64_t t = rhs->t;
    for (int64_t c = 0; c < t;) {
        const REAL *v = (const REAL *)rhs->v_columns + c;
        REAL *y = (REAL *)rhs->y_rows + c;
        if (t - c >= 3 * LANES && ROWS * 3 <= 24)
            F(products_rows)(3, panels, values, v, t, y), c += 3 * LANES;
        else if (t - c >= 2 * LANES)
            F(products_rows)(2, panels, values, v, t, y), c += 2 * LANES;
        else
            F(products_rows)(1, panels, values, v, t, y), c += LANES;
    }
    if (rhs->v_rows)
        for (int64_t c = 0; c < t; c += LANES)
            F(products_columns)(panels, values, (const REAL *)rhs->v_rows + c, t, (REAL *)rhs->y_columns + c);
}

/* The Gaussian, all in registers: 2^row_i sum_j 2^(<x_i, z_j> + column_j) w_j. The accumulators start at the column's
   term, so that the dot product ends as the exponent; the row's factor waits outside. The empty assembly keeps the
   compiler from holding sums and coefficients in registers that the accumulators need. */
INLINE void F(gauss_tile)(bool symmetric, const mc_operands *o, const REAL *b, const REAL *column,
                          const REAL *w_columns, const REAL *w_rows, V *sums, REAL *y_columns) {
    F(tile) s;
    V w[GROUPS], y[GROUPS];
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++) s[r][g] =
        F(load_vector)(column + g * LANES);
    F(accumulate_tile)(MC_DOT, s, o->d, o->a, b);
    const REAL *c = F(exp2_c);
    __asm__ volatile("" : "+r"(c) : "r"(sums) : "memory");
    UNROLL for (int g = 0; g < GROUPS; g++) {
        w[g] = F(load_vector)(w_columns + g * LANES);
        if (symmetric)
            y[g] = F(load_vector)(y_columns + g * LANES);
    }
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int g = 0; g < GROUPS; g++) {
        const V k = F(vexp2_by)(c, s[r][g]);
        sums[r] += k * w[g];
        if (symmetric)
            y[g] += k * w_rows[r];
    }
    if (symmetric)
        UNROLL for (int g = 0; g < GROUPS; g++) F(store_vector)(y_columns + g * LANES, y[g]);
}

INLINE void F(gauss_loop)(bool symmetric, const mc_operands *o, const REAL *row, const REAL *column,
                          const mc_rhs *right) {
    V sums[ROWS] = {{0}};
    REAL factor[ROWS + LANES] = {0}, w_rows[ROWS] = {0};
    memcpy(factor, row, ROWS * sizeof(REAL));
    for (int r = 0; r < ROWS; r += LANES)
        F(store_vector)(factor + r, F(vexp2_any)(F(load_vector)(factor + r)));
    for (int r = 0; r < ROWS && symmetric; r++)
        w_rows[r] = factor[r] * ((const REAL *)right->w_rows)[r];
    for (int64_t p = 0; p < o->panels; p++)
        F(gauss_tile)
    (symmetric, o, (const REAL *)o->b + p * o->stride, column + p * COLUMNS,
     (const REAL *)right->w_columns + p * COLUMNS, w_rows, sums,
     symmetric ? (REAL *)right->y_columns + p * COLUMNS : NULL);
    for (int r = 0; r < ROWS; r++) {
        REAL *y = (REAL *)right->y_rows + r * LANES;
        F(store_vector)(y, F(load_vector)(y) + factor[r] * sums[r]);
    }
}

/* f of the micro-tile K and its products, row by row. */
INLINE void F(finish_tile)(mc_function_of_tile function, const mc_tile_step *step, const REAL *row, const REAL *column,
                           const REAL *K, const REAL *w_columns, const REAL *w_rows, V *sums, REAL *y_columns) {
    V w[GROUPS], y[GROUPS] = {{0}};
    UNROLL for (int g = 0; g < GROUPS; g++) {
        w[g] = F(load_vector)(w_columns + g * LANES);
        if (y_columns)
            y[g] = F(load_vector)(y_columns + g * LANES);
    }
    const REAL alpha = (REAL)step->alpha;
    for (int r = 0; r < ROWS; r++) {
        V v[GROUPS];
        F(row_values)(function, step, alpha, r, row, column, K + r * COLUMNS, v);
        UNROLL for (int g = 0; g < GROUPS; g++) sums[r] += v[g] * w[g];
        if (y_columns)
            UNROLL for (int g = 0; g < GROUPS; g++) y[g] += v[g] * w_rows[r];
    }
    if (y_columns)
        UNROLL for (int g = 0; g < GROUPS; g++) F(store_vector)(y_columns + g * LANES, y[g]);
}

/* Any other function: the statistic of a micro-tile passes through the first cache, its values stay in registers. */
INLINE void F(fused_loop)(mc_function_of_tile function, mc_statistic kind, const mc_operands *o, const mc_guard *guard,
                          const mc_tile_step *step, const REAL *row, const REAL *column, const mc_rhs *right) {
    V sums[ROWS];
    F(load_sums)(right, sums);
    REAL K[ROWS * COLUMNS];
    const REAL *w = right->w_columns;
    REAL *y = right->y_columns;
    for (int64_t p = 0; p < o->panels;
         p++, w += COLUMNS, y = y ? y + COLUMNS : y, column = row ? column + COLUMNS : column) {
        const mc_operands one = F(panel_operands)(o, p);
        F(accumulate_statistic)(kind, &one, false, K);
        if (guard && F(radial_tile)(true, (REAL)guard->share, row, column, K, K))
            F(direct_tile)(&guard->direct, p, K);
        F(finish_tile)(function, step, guard ? NULL : row, column, K, w, right->w_rows, sums, y);
    }
    F(store_sums)(sums, right);
}

static void F(fused_kernel_product)(mc_statistic kind, const mc_operands *o, const mc_guard *guard,
                                    const mc_tile_step *step, const void *row, const void *column,
                                    const mc_rhs *right) {
    if (step->function == MC_EXP2 && kind == MC_DOT && !guard && step->alpha == 1 && step->degree) {
        if (right->w_rows)
            F(gauss_loop)(true, o, row, column, right);
        else
            F(gauss_loop)(false, o, row, column, right);
        return;
    }
    switch (step->function) {
    case MC_SAME: F(fused_loop)(MC_SAME, kind, o, guard, step, row, column, right); break;
    case MC_WHOLE_POWER: F(fused_loop)(MC_WHOLE_POWER, kind, o, guard, step, row, column, right); break;
    case MC_EXP2: F(fused_loop)(MC_EXP2, kind, o, guard, step, row, column, right); break;
    case MC_ROOT: F(fused_loop)(MC_ROOT, kind, o, guard, step, row, column, right); break;
    case MC_MATERN3: F(fused_loop)(MC_MATERN3, kind, o, guard, step, row, column, right); break;
    case MC_MATERN5: F(fused_loop)(MC_MATERN5, kind, o, guard, step, row, column, right); break;
    case MC_RATIONAL: F(fused_loop)(MC_RATIONAL, kind, o, guard, step, row, column, right); break;
    case MC_COMPACT: F(fused_loop)(MC_COMPACT, kind, o, guard, step, row, column, right); break;
    case MC_RATIO: F(fused_loop)(MC_RATIO, kind, o, guard, step, row, column, right); break;
    default: break;
    }
}

static void F(exp2_array)(int64_t n, const void *x, void *out) {
    for (int64_t i = 0; i < n; i += LANES)
        F(store_vector)((REAL *)out + i, F(vexp2)(F(load_vector)((const REAL *)x + i)));
}
