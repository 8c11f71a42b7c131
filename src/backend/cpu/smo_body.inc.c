/* smo_body.inc.c: included once per precision with REAL and F(name). See smo_body.h. */

/* The last lanes of a row of K, of which there are fewer; apart, so that they keep nothing in memory that is in
   registers. */
static __attribute__((noinline)) lanes F(wide_end)(const REAL *K, int64_t count) {
    lanes part = {0};
    for (int64_t l = 0; l < count; l++)
        part[l] = (double)K[l];
    return part;
}

/* Lanes of a row of K; zeros beyond its end. */
static inline lanes F(load_row_lanes)(const REAL *K, int64_t place, int64_t width) {
    return place + MC_LANES <= width ? F(widened)(K + place) : F(wide_end)(K + place, width - place);
}

static void F(update_gradient)(const void *const *rows, const double *c, int64_t count, int64_t begin, int64_t end,
                               double *f) {
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
        const REAL *r0 = rows[k], *r1 = rows[k + 1], *r2 = rows[k + 2], *r3 = rows[k + 3];
        const double c0 = c[k], c1 = c[k + 1], c2 = c[k + 2], c3 = c[k + 3];
        for (int64_t j = begin; j < end; j++)
            f[j] += (c0 * (double)r0[j] + c1 * (double)r1[j]) + (c2 * (double)r2[j] + c3 * (double)r3[j]);
    }
    for (; k < count; k++) {
        const REAL *r = rows[k];
        for (int64_t j = begin; j < end; j++)
            f[j] += c[k] * (double)r[j];
    }
}

static void F(gather_row_entries)(const void *row, const int64_t *column, int64_t count, void *out) {
    for (int64_t b = 0; b < count; b++)
        ((REAL *)out)[b] = column[b] < 0 ? 0 : ((const REAL *)row)[column[b] < 0 ? 0 : column[b]];
}

/* The row of K of place i, from where run r has its columns: of place begin[r] is the first entry. */
static inline const REAL *F(row_of_run)(const mc_smo_block *p, int64_t i, int r) {
    return (const REAL *)p->row[r][i] - p->begin[r];
}

/* v <- v - step (K_i - K_j) on the runs from..to-1; the largest v that may grow and the smallest that may shrink. */
static void F(update_slopes)(const mc_smo_block *p, int from, int to, int64_t i, int64_t j, double step, best *top,
                             best *bottom) {
    lanes high = (lanes){0} - INFINITY, low = high;
    masks high_at = {0}, low_at = {0};
    for (int r = from; r < to; r++) {
        const REAL *Ki = F(row_of_run)(p, i, r), *Kj = F(row_of_run)(p, j, r);
        const int64_t end = p->width[r] + p->begin[r];
        for (int64_t t = p->begin[r]; t < p->begin[r + 1]; t += MC_LANES) {
            const lanes v = AT(p->v, t) - step * (F(load_row_lanes)(Ki, t, end) - F(load_row_lanes)(Kj, t, end));
            *(lanes *)(void *)(p->v + t) = v;
            const lanes may_grow = v + AT(p->up, t), may_shrink = -(v + AT(p->down, t));
            const masks above = may_grow > high, below = may_shrink > low, here = (masks){0} + t;
            high = PICK(above, may_grow, high);
            high_at = (here & above) | (high_at & ~above);
            low = PICK(below, may_shrink, low);
            low_at = (here & below) | (low_at & ~below);
        }
    }
    *top = best_lane(&high, &high_at);
    *bottom = best_lane(&low, &low_at);
    bottom->value = -bottom->value;
}

/* The partner of place i that lowers the objective most when both bounds are far: the largest gap^2 / curvature.
   Fractions are compared by cross multiplication: a division costs more than all the rest. */
static int64_t F(select_partner)(const mc_smo_block *p, int from, int to, int64_t i, double vi) {
    const lanes tiny = (lanes){0} + 1e-12, none = {0};
    lanes gain = {0}, cost = (lanes){0} + 1;
    masks at = {0};
    for (int r = from; r < to; r++) {
        const REAL *Ki = F(row_of_run)(p, i, r);
        const int64_t end = p->width[r] + p->begin[r];
        for (int64_t t = p->begin[r]; t < p->begin[r + 1]; t += MC_LANES) {
            const lanes gap = vi - (AT(p->v, t) + AT(p->down, t));
            const lanes curvature = p->diagonal[i] + AT(p->diagonal, t) - 2 * F(load_row_lanes)(Ki, t, end);
            const lanes safe = PICK(curvature > tiny, curvature, tiny);
            const lanes positive = PICK(gap > none, gap, none), square = positive * positive;
            const masks better = square * cost > gain * safe, here = (masks){0} + t;
            gain = PICK(better, square, gain);
            cost = PICK(better, safe, cost);
            at = (here & better) | (at & ~better);
        }
    }
    const lanes share = gain / cost;
    return best_lane(&share, &at).at;
}

static double F(step_pair)(mc_smo_block *p, int64_t i, int64_t j) {
    const double between = (double)F(row_of_run)(p, i, p->runs > 1 && j >= p->begin[1])[j],
                 curvature = p->diagonal[i] + p->diagonal[j] - 2 * between;
    const double step = mc_pair_step(p->v[i] - p->v[j], curvature, p->low, p->high, i, j, p->beta);
    p->up[i] = p->beta[i] < p->high[i] ? 0 : -INFINITY;
    p->up[j] = 0;
    p->down[i] = 0;
    p->down[j] = p->beta[j] > p->low[j] ? 0 : INFINITY;
    return step;
}

/* Whether a step would read what is not there. */
static inline bool F(lacks_row)(mc_smo_block *p, int64_t i) {
    const bool lacks = !p->row[0][i] || !p->row[p->runs - 1][i];
    p->wanted = lacks ? i : -1;
    return lacks;
}

static void F(solve_working_set)(mc_smo_block *p) {
    best top[MC_SMO_RUNS] = {{-INFINITY, -1}, {-INFINITY, -1}}, bottom[MC_SMO_RUNS] = {{INFINITY, -1}, {INFINITY, -1}};
    const int each = p->sums > 1 ? 1 : p->runs; /* runs to a sum */
    int64_t i = 0, j = 0;
    double step = 0;
    p->wanted = -1;
    for (p->steps = 0;; p->steps++) {
        for (int g = 0; g < p->sums; g++)
            F(update_slopes)(p, g * each, (g + 1) * each, i, j, step, &top[g], &bottom[g]);
        const int g = top[1].value - bottom[1].value > top[0].value - bottom[0].value;
        if (!(top[g].value - bottom[g].value > p->tolerance) || p->steps == p->steps_max)
            return;
        i = top[g].at;
        if (F(lacks_row)(p, i))
            return;
        j = F(select_partner)(p, g * each, (g + 1) * each, i, top[g].value);
        if (F(lacks_row)(p, j))
            return;
        step = F(step_pair)(p, i, j);
    }
}
