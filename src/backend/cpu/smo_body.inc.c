/* smo_body.inc.c: the steps on a working set. Included once per precision of K and of the slopes, with REAL and SLOPE,
   LANES of these to a vector, PLACE: whole numbers as wide, STATE(p): what has the slopes and masks, LONE_BEST, and
   F(name). See smo_body.h. */

typedef SLOPE F(lanes) __attribute__((vector_size(LANES * sizeof(SLOPE))));
typedef PLACE F(masks) __attribute__((vector_size(LANES * sizeof(PLACE))));

static inline F(lanes) F(pick)(F(masks) mask, F(lanes) yes, F(lanes) no) {
    return (F(lanes))(((F(masks))yes & mask) | ((F(masks))no & ~mask));
}

static inline F(lanes) F(at)(const SLOPE *place) {
    return *(const F(lanes) *)(const void *)place;
}

/* The best lane; the lowest place among equals, so that the answer does not depend on how the lanes are laid out. Every
   lane takes the better of itself and of the one so far away; then that is half as far. */
static best F(best_lane)(F(lanes) value, F(masks) at) {
    const int lone = LONE_BEST(&value);
    F(masks) from = {0};
    if (lone >= 0)
        return (best){value[lone], at[lone] + lone};
    for (int l = 0; l < LANES; l++)
        from[l] = (PLACE)l;
    at += from;
    for (PLACE away = LANES / 2; away; away /= 2) {
        const F(lanes) other = TAKE_LANES(value, from ^ away);
        const F(masks) its = TAKE_LANES(at, from ^ away);
        const F(masks) better = (other > value) | ((other == value) & (its < at));
        value = F(pick)(better, other, value);
        at = (its & better) | (at & ~better);
    }
    return (best){value[0], value[0] > -(SLOPE)INFINITY ? at[0] : -1};
}

/* The last lanes of a row of K, of which there are fewer; apart, so that they keep nothing in memory that is in
   registers. */
static __attribute__((noinline)) F(lanes) F(wide_end)(const REAL *K, int64_t count) {
    F(lanes) part = {0};
    for (int64_t l = 0; l < count; l++)
        part[l] = K[l];
    return part;
}

/* Lanes of a row of K; zeros beyond its end. */
static inline F(lanes) F(load_row_lanes)(const REAL *K, int64_t place, int64_t width) {
    return place + LANES <= width ? F(widened)(K + place) : F(wide_end)(K + place, width - place);
}

/* The row of K of place i, from where run r has its columns: of place begin[r] is the first entry. */
static inline const REAL *F(row_of_run)(const mc_smo_block *p, int64_t i, int r) {
    return (const REAL *)p->row[r][i] - p->begin[r];
}

/* v <- v - step (K_i - K_j) on the runs from..to-1; the largest v that may grow and the smallest that may shrink. */
static void F(update_slopes)(const mc_smo_block *p, int from, int to, int64_t i, int64_t j, SLOPE step, best *top,
                             best *bottom) {
    F(lanes) high = (F(lanes)){0} - (SLOPE)INFINITY, low = high;
    F(masks) high_at = {0}, low_at = {0};
    for (int r = from; r < to; r++) {
        const REAL *Ki = F(row_of_run)(p, i, r), *Kj = F(row_of_run)(p, j, r);
        const int64_t end = p->width[r] + p->begin[r];
        for (int64_t t = p->begin[r]; t < p->begin[r + 1]; t += LANES) {
            const F(lanes) v =
                F(at)(STATE(p).v + t) - step * (F(load_row_lanes)(Ki, t, end) - F(load_row_lanes)(Kj, t, end));
            *(F(lanes) *)(void *)(STATE(p).v + t) = v;
            const F(lanes) may_grow = v + F(at)(STATE(p).up + t), may_shrink = -(v + F(at)(STATE(p).down + t));
            const F(masks) above = may_grow > high, below = may_shrink > low, here = (F(masks)){0} + (PLACE)t;
            high = F(pick)(above, may_grow, high);
            high_at = (here & above) | (high_at & ~above);
            low = F(pick)(below, may_shrink, low);
            low_at = (here & below) | (low_at & ~below);
        }
    }
    *top = F(best_lane)(high, high_at);
    *bottom = F(best_lane)(low, low_at);
    bottom->value = -bottom->value;
}

/* The partner of place i that lowers the objective most when both bounds are far: the largest gap^2 / curvature.
   Fractions are compared by cross multiplication: a division costs more than all the rest. */
static int64_t F(select_partner)(const mc_smo_block *p, int from, int to, int64_t i, SLOPE vi) {
    const F(lanes) tiny = (F(lanes)){0} + (SLOPE)1e-12, none = {0};
    F(lanes) gain = {0}, cost = (F(lanes)){0} + 1;
    F(masks) at = {0};
    for (int r = from; r < to; r++) {
        const REAL *Ki = F(row_of_run)(p, i, r);
        const int64_t end = p->width[r] + p->begin[r];
        for (int64_t t = p->begin[r]; t < p->begin[r + 1]; t += LANES) {
            const F(lanes) gap = vi - (F(at)(STATE(p).v + t) + F(at)(STATE(p).down + t));
            const F(lanes) curvature =
                STATE(p).diagonal[i] + F(at)(STATE(p).diagonal + t) - 2 * F(load_row_lanes)(Ki, t, end);
            const F(lanes) safe = F(pick)(curvature > tiny, curvature, tiny);
            const F(lanes) positive = F(pick)(gap > none, gap, none), square = positive * positive;
            const F(masks) better = square * cost > gain * safe, here = (F(masks)){0} + (PLACE)t;
            gain = F(pick)(better, square, gain);
            cost = F(pick)(better, safe, cost);
            at = (here & better) | (at & ~better);
        }
    }
    const F(lanes) share = gain / cost;
    return F(best_lane)(share, at).at;
}

static double F(step_pair)(mc_smo_block *p, int64_t i, int64_t j) {
    const double between = (double)F(row_of_run)(p, i, p->runs > 1 && j >= p->begin[1])[j],
                 curvature = p->diagonal[i] + p->diagonal[j] - 2 * between;
    const double step =
        mc_pair_step((double)STATE(p).v[i] - (double)STATE(p).v[j], curvature, p->low, p->high, i, j, p->beta);
    STATE(p).up[i] = p->beta[i] < p->high[i] ? 0 : -(SLOPE)INFINITY;
    STATE(p).up[j] = 0;
    STATE(p).down[i] = 0;
    STATE(p).down[j] = p->beta[j] > p->low[j] ? 0 : (SLOPE)INFINITY;
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
            F(update_slopes)(p, g * each, (g + 1) * each, i, j, (SLOPE)step, &top[g], &bottom[g]);
        const int g = top[1].value - bottom[1].value > top[0].value - bottom[0].value;
        if (!(top[g].value - bottom[g].value > p->tolerance) || p->steps == p->steps_max)
            return;
        i = top[g].at;
        if (F(lacks_row)(p, i))
            return;
        j = F(select_partner)(p, g * each, (g + 1) * each, i, (SLOPE)top[g].value);
        if (F(lacks_row)(p, j))
            return;
        step = F(step_pair)(p, i, j);
    }
}
