/* product.inc.c: products with tiles: of a stored strip with one or many right-hand sides, and the fused bodies, where the strip is
   never stored. */

/* y_rows and y_columns of one micro-tile that stands in memory. */
INLINE void F(multiply_tile)(bool symmetric, const REAL *K, const REAL *w_columns, const REAL *w_rows, V *y_rows, REAL *y_columns) {
    V w[GROUPS], y[GROUPS];
    UNROLL for (int g = 0; g < GROUPS; g++) {
        w[g] = F(load)(w_columns + g * LANES);
        if (symmetric)
            y[g] = F(load)(y_columns + g * LANES);
    }
    UNROLL for (int r = 0; r < ROWS; r++) {
        V sum = y_rows[r];
        UNROLL for (int g = 0; g < GROUPS; g++) {
            const V k = F(load)(K + r * COLUMNS + g * LANES);
            sum += k * w[g];
            if (symmetric)
                y[g] += k * w_rows[r];
        }
        y_rows[r] = sum;
    }
    if (symmetric)
        UNROLL for (int g = 0; g < GROUPS; g++)
            F(store)(y_columns + g * LANES, y[g]);
}

INLINE void F(product_loop)(bool symmetric, int64_t panels, const REAL *K, const mc_right *right) {
    V sums[ROWS] = {{0}};
    const REAL *w = right->w_columns;
    REAL *y = right->y_columns;
    for (int64_t p = 0; p < panels; p++, K += ROWS * COLUMNS)
        F(multiply_tile)(symmetric, K, w + p * COLUMNS, right->w_rows, sums, symmetric ? y + p * COLUMNS : NULL);
    for (int r = 0; r < ROWS; r++)
        right->y_rows[r] += F(sum)(sums[r]);
}

static void F(product)(int64_t panels, const void *values, const mc_right *right) {
    if (right->w_rows)
        F(product_loop)(true, panels, values, right);
    else
        F(product_loop)(false, panels, values, right);
}

/* Y_rows[r][c..] += sum_j K[r][j] V[j][c..] for `groups` vectors of right-hand sides. */
INLINE void F(products_rows)(int groups, int64_t panels, const REAL *K, const REAL *v, int64_t t, REAL *y) {
    V s[ROWS][3];
    UNROLL for (int r = 0; r < ROWS; r++)
        UNROLL for (int g = 0; g < groups; g++)
            s[r][g] = F(load)(y + r * t + g * LANES);
    for (int64_t p = 0; p < panels; p++, K += ROWS * COLUMNS)
        for (int64_t j = 0; j < COLUMNS; j++, v += t) {
            V x[3];
            UNROLL for (int g = 0; g < groups; g++)
                x[g] = F(load)(v + g * LANES);
            UNROLL for (int r = 0; r < ROWS; r++) {
                const V k = F(all)(K[r * COLUMNS + j]);
                UNROLL for (int g = 0; g < groups; g++)
                    s[r][g] += k * x[g];
            }
        }
    UNROLL for (int r = 0; r < ROWS; r++)
        UNROLL for (int g = 0; g < groups; g++)
            F(store)(y + r * t + g * LANES, s[r][g]);
}

/* Y_columns[j][c..] += sum_r K[r][j] V[r][c..]; the rows of V stay in registers. */
INLINE void F(products_columns)(int64_t panels, const REAL *K, const REAL *v, int64_t t, REAL *y) {
    V x[ROWS];
    UNROLL for (int r = 0; r < ROWS; r++)
        x[r] = F(load)(v + r * t);
    for (int64_t p = 0; p < panels; p++, K += ROWS * COLUMNS)
        for (int64_t j = 0; j < COLUMNS; j++, y += t) {
            V s = F(load)(y);
            UNROLL for (int r = 0; r < ROWS; r++)
                s += K[r * COLUMNS + j] * x[r];
            F(store)(y, s);
        }
}

static void F(products)(int64_t panels, const void *values, const mc_rights *rights) {
    const int64_t t = rights->t;
    for (int64_t c = 0; c < t;) {
        const REAL *v = (const REAL *)rights->v_columns + c;
        REAL *y = (REAL *)rights->y_rows + c;
        if (t - c >= 3 * LANES && ROWS * 3 <= 24)
            F(products_rows)(3, panels, values, v, t, y), c += 3 * LANES;
        else if (t - c >= 2 * LANES)
            F(products_rows)(2, panels, values, v, t, y), c += 2 * LANES;
        else
            F(products_rows)(1, panels, values, v, t, y), c += LANES;
    }
    if (rights->v_rows)
        for (int64_t c = 0; c < t; c += LANES)
            F(products_columns)(panels, values, (const REAL *)rights->v_rows + c, t, (REAL *)rights->y_columns + c);
}

/* The Gaussian, all in registers: accumulators start at the norms, so that the dot product ends as the exponent. */
INLINE void F(gauss_loop)(bool symmetric, REAL coefficient, const mc_operands *o, const REAL *row, const REAL *column,
                          const mc_right *right) {
    V sums[ROWS] = {{0}};
    REAL w_rows[ROWS];
    for (int r = 0; r < ROWS; r++)
        w_rows[r] = symmetric ? coefficient * ((const REAL *)right->w_rows)[r] : 0;
    const REAL *b = o->b, *w_columns = right->w_columns;
    REAL *y_columns = right->y_columns;
    for (int64_t p = 0; p < o->panels; p++, b += o->stride, column += COLUMNS, w_columns += COLUMNS) {
        F(tile) s;
        UNROLL for (int r = 0; r < ROWS; r++)
            UNROLL for (int g = 0; g < GROUPS; g++)
                s[r][g] = row[r] + F(load)(column + g * LANES);
        F(accumulate)(MC_DOT, s, o->d, o->a, b);
        const REAL *c = F(exp2_c);
        __asm__ volatile("" : "+r"(c) : "r"(sums) : "memory");
        V w[GROUPS], y[GROUPS];
        UNROLL for (int g = 0; g < GROUPS; g++) {
            w[g] = F(load)(w_columns + g * LANES);
            if (symmetric)
                y[g] = F(load)(y_columns + g * LANES);
        }
        UNROLL for (int r = 0; r < ROWS; r++)
            UNROLL for (int g = 0; g < GROUPS; g++) {
                const V k = F(vexp2_by)(c, s[r][g]);
                sums[r] += k * w[g];
                if (symmetric)
                    y[g] += k * w_rows[r];
            }
        if (symmetric) {
            UNROLL for (int g = 0; g < GROUPS; g++)
                F(store)(y_columns + g * LANES, y[g]);
            y_columns += COLUMNS;
        }
    }
    for (int r = 0; r < ROWS; r++)
        right->y_rows[r] += (double)coefficient * F(sum)(sums[r]);
}

/* Any other function: the micro-tile goes through the first cache once. */
INLINE void F(fused_loop)(mc_function_of_tile function, mc_statistic kind, const mc_operands *o, const mc_guard *guard,
                          const mc_step *step, const REAL *row, const REAL *column, const mc_right *right) {
    V sums[ROWS] = {{0}};
    REAL K[ROWS * COLUMNS];
    const REAL *w = right->w_columns, zero[COLUMNS] = {0};
    REAL *y = right->y_columns;
    for (int64_t p = 0; p < o->panels; p++) {
        const mc_operands one = F(panel)(o, p);
        F(statistic)(kind, &one, false, K);
        if (guard && F(radial_tile)((REAL)guard->share, row, column + p * COLUMNS, K, K))
            F(direct_tile)(&guard->direct, p, K);
        F(step_loop)(function, MC_SET, step, 1, guard ? zero : row, guard ? zero : column + p * COLUMNS, K, K);
        if (y)
            F(multiply_tile)(true, K, w + p * COLUMNS, right->w_rows, sums, y + p * COLUMNS);
        else
            F(multiply_tile)(false, K, w + p * COLUMNS, NULL, sums, NULL);
    }
    for (int r = 0; r < ROWS; r++)
        right->y_rows[r] += F(sum)(sums[r]);
}

static void F(fused)(mc_statistic kind, const mc_operands *o, const mc_guard *guard, const mc_step *step, const void *row,
                     const void *column, const mc_right *right) {
    if (step->function == MC_EXP2 && kind == MC_DOT && !guard && step->alpha == 1) {
        if (right->w_rows)
            F(gauss_loop)(true, (REAL)step->coefficient, o, row, column, right);
        else
            F(gauss_loop)(false, (REAL)step->coefficient, o, row, column, right);
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
    default: break;
    }
}

static void F(exp2_array)(int64_t n, const void *x, void *out) {
    for (int64_t i = 0; i < n; i += LANES)
        F(store)((REAL *)out + i, F(vexp2)(F(load)((const REAL *)x + i)));
}
