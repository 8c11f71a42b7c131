/* smo_body.inc.c: the steps on a working set. Included once per precision of K and of the slopes, with REAL and SLOPE,
   LANES of these to a vector, PLACE: whole numbers as wide, STATE(p): what has the slopes and masks, instructions of
   512 bits, and F(name). See smo_body.h.

   A comparison waits for the one before it, so each loop follows several at once, CHAINS, as many on every processor:
   the choice among lanes depends on it where two are equal but for rounding. */

typedef SLOPE F(lanes) __attribute__((vector_size(LANES * sizeof(SLOPE))));
typedef PLACE F(masks) __attribute__((vector_size(LANES * sizeof(PLACE))));

static inline F(lanes) F(select_lanes)(F(masks) mask, F(lanes) yes, F(lanes) no) {
    return (F(lanes))(((F(masks))yes & mask) | ((F(masks))no & ~mask));
}

static inline F(lanes) F(load_lanes)(const SLOPE *place) {
    return *(const F(lanes) *)(const void *)place;
}

static inline F(lanes) F(larger_lanes)(F(lanes) a, F(lanes) b) {
#ifdef __AVX512F__
    return (F(lanes))LARGER_OF((ALL_LANES)a, (ALL_LANES)b);
#else
    return F(select_lanes)(a > b, a, b);
#endif
}

static inline F(lanes) F(smaller_lanes)(F(lanes) a, F(lanes) b) {
#ifdef __AVX512F__
    return (F(lanes))SMALLER_OF((ALL_LANES)a, (ALL_LANES)b);
#else
    return F(select_lanes)(a < b, a, b);
#endif
}

static inline SLOPE F(largest_lane)(const F(lanes) * x) {
#ifdef __AVX512F__
    return LARGEST_OF((ALL_LANES)*x);
#else
    SLOPE top = (*x)[0];
    for (int l = 1; l < LANES; l++)
        top = (*x)[l] > top ? (*x)[l] : top;
    return top;
#endif
}

/* The first lane that is equal to x, or LANES. */
static inline int F(first_equal)(const F(lanes) * a, SLOPE x) {
#ifdef __AVX512F__
    const uint32_t here = EQUAL_LANES((ALL_LANES)*a, x);
    return here ? __builtin_ctz(here) : LANES;
#else
    int l = 0;
    while (l < LANES && (*a)[l] != x)
        l++;
    return l;
#endif
}

/* Where square / curvature is above gain / cost, the former. */
static inline void F(take_better)(F(lanes) square, F(lanes) curvature, PLACE place, F(lanes) * gain, F(lanes) * cost,
                                  F(masks) * at) {
    const F(lanes) theirs = square * *cost, own = *gain * curvature;
#ifdef __AVX512F__
    const LANE_MASK better = GREATER_LANES((ALL_LANES)theirs, (ALL_LANES)own);
    *gain = (F(lanes))TAKE_WHERE((ALL_LANES)*gain, better, (ALL_LANES)square);
    *cost = (F(lanes))TAKE_WHERE((ALL_LANES)*cost, better, (ALL_LANES)curvature);
    *at = (F(masks))TAKE_PLACE_WHERE((__m512i)*at, better, place);
#else
    const F(masks) better = theirs > own, here = (F(masks)){0} + place;
    *gain = F(select_lanes)(better, square, *gain);
    *cost = F(select_lanes)(better, curvature, *cost);
    *at = (here & better) | (*at & ~better);
#endif
}

/* The last lanes of a row of K, of which there are fewer; apart, so that they keep nothing in memory that is in
   registers. */
static __attribute__((noinline)) F(lanes) F(wide_end)(const REAL *K, int64_t count) {
    F(lanes) part = {0};
    for (int64_t l = 0; l < count; l++)
        part[l] = K[l];
    return part;
}

/* The row of K of place i, from where run r has its columns: of place begin[r] is the first entry. */
static inline const REAL *F(row_of_run)(const mc_smo_block *p, int64_t i, int r) {
    return (const REAL *)p->row[r][i] - p->begin[r];
}

/* Where the places of run r end whose lanes of K are all there. */
static inline int64_t F(end_of_whole_lanes)(const mc_smo_block *p, int r) {
    const int64_t there = p->begin[r] + p->width[r] / LANES * LANES;
    return there < p->begin[r + 1] ? there : p->begin[r + 1];
}

/* Slopes of places t .. t + LANES - 1, and the largest v that may grow and the smallest that may shrink. */
static inline void F(update_lanes)(const mc_smo_block *p, int64_t t, F(lanes) difference, SLOPE step, F(lanes) * high,
                                   F(lanes) * low) {
    const F(lanes) v = F(load_lanes)(STATE(p).v + t) - step * difference;
    *(F(lanes) *)(void *)(STATE(p).v + t) = v;
    *high = F(larger_lanes)(v + F(load_lanes)(STATE(p).up + t), *high);
    *low = F(smaller_lanes)(v + F(load_lanes)(STATE(p).down + t), *low);
}

/* The first place on these runs whose slope may grow and is this. */
static int64_t F(place_of)(const mc_smo_block *p, int from, int to, SLOPE top) {
    for (int64_t t = p->begin[from]; t < p->begin[to]; t += LANES) {
        const F(lanes) may_grow = F(load_lanes)(STATE(p).v + t) + F(load_lanes)(STATE(p).up + t);
        const int lane = F(first_equal)(&may_grow, top);
        if (lane < LANES)
            return t + lane;
    }
    return -1;
}

/* v <- v - step (K_i - K_j) on the runs from..to-1; the largest v that may grow and the smallest that may shrink. */
static void F(update_slopes)(const mc_smo_block *p, int from, int to, int64_t i, int64_t j, SLOPE step, SLOPE *top,
                             SLOPE *bottom) {
    F(lanes) high[CHAINS], low[CHAINS];
    for (int u = 0; u < CHAINS; u++) {
        high[u] = (F(lanes)){0} - (SLOPE)INFINITY;
        low[u] = (F(lanes)){0} + (SLOPE)INFINITY;
    }
    for (int r = from; r < to; r++) {
        const REAL *Ki = F(row_of_run)(p, i, r), *Kj = F(row_of_run)(p, j, r);
        const int64_t whole = F(end_of_whole_lanes)(p, r), end = p->width[r] + p->begin[r];
        int64_t t = p->begin[r];
        for (; t + CHAINS * LANES <= whole; t += CHAINS * LANES)
            for (int u = 0; u < CHAINS; u++) {
                const int64_t a = t + u * LANES;
                F(update_lanes)(p, a, F(widened)(Ki + a) - F(widened)(Kj + a), step, &high[u], &low[u]);
            }
        for (; t < whole; t += LANES)
            F(update_lanes)(p, t, F(widened)(Ki + t) - F(widened)(Kj + t), step, &high[0], &low[0]);
        for (; t < p->begin[r + 1]; t += LANES)
            F(update_lanes)(p, t, F(wide_end)(Ki + t, end - t) - F(wide_end)(Kj + t, end - t), step, &high[0], &low[0]);
    }
    for (int u = 1; u < CHAINS; u++) {
        high[0] = F(larger_lanes)(high[u], high[0]);
        low[0] = F(smaller_lanes)(low[u], low[0]);
    }
    low[0] = -low[0];
    *top = F(largest_lane)(&high[0]);
    *bottom = -F(largest_lane)(&low[0]);
}

/* The best partners so far, one in each lane: gap^2 and curvature, and where. */
typedef struct F(partners) {
    F(lanes) gain, cost;
    F(masks) at;
} F(partners);

/* Fractions are compared by cross multiplication: a division costs more than all the rest. */
static inline void F(look_at_lanes)(const mc_smo_block *p, int64_t t, F(lanes) Ki, SLOPE vi, SLOPE diagonal,
                                    F(partners) * best) {
    const F(lanes) tiny = (F(lanes)){0} + (SLOPE)1e-12, none = {0};
    const F(lanes) gap = F(larger_lanes)(vi - (F(load_lanes)(STATE(p).v + t) + F(load_lanes)(STATE(p).down + t)), none);
    const F(lanes) curvature = F(larger_lanes)(diagonal + F(load_lanes)(STATE(p).diagonal + t) - 2 * Ki, tiny),
                   square = gap * gap;
    F(take_better)(square, curvature, (PLACE)t, &best->gain, &best->cost, &best->at);
}

/* The place of the largest share, the lowest among equals, so that the answer does not depend on how the lanes are laid
   out. */
static int64_t F(best_partner)(const F(partners) best[CHAINS]) {
    F(lanes) share[CHAINS];
    SLOPE top = 0;
    int64_t at = INT64_MAX;
    for (int u = 0; u < CHAINS; u++) {
        share[u] = best[u].gain / best[u].cost;
        const SLOPE own = F(largest_lane)(&share[u]);
        top = own > top ? own : top;
    }
    for (int u = 0; u < CHAINS; u++)
        for (int l = F(first_equal)(&share[u], top); l < LANES; l++)
            if (share[u][l] == top && best[u].at[l] + l < at)
                at = best[u].at[l] + l;
    return at;
}

/* The partner of place i that lowers the objective most when both bounds are far: the largest gap^2 / curvature. */
static int64_t F(select_partner)(const mc_smo_block *p, int from, int to, int64_t i, SLOPE vi) {
    const SLOPE diagonal = (SLOPE)STATE(p).diagonal[i];
    F(partners) best[CHAINS];
    for (int u = 0; u < CHAINS; u++)
        best[u] = (F(partners)){.cost = (F(lanes)){0} + 1};
    for (int r = from; r < to; r++) {
        const REAL *Ki = F(row_of_run)(p, i, r);
        const int64_t whole = F(end_of_whole_lanes)(p, r), end = p->width[r] + p->begin[r];
        int64_t t = p->begin[r];
        for (; t + CHAINS * LANES <= whole; t += CHAINS * LANES)
            for (int u = 0; u < CHAINS; u++)
                F(look_at_lanes)(p, t + u * LANES, F(widened)(Ki + t + u * LANES), vi, diagonal, &best[u]);
        for (; t < whole; t += LANES)
            F(look_at_lanes)(p, t, F(widened)(Ki + t), vi, diagonal, &best[0]);
        for (; t < p->begin[r + 1]; t += LANES)
            F(look_at_lanes)(p, t, F(wide_end)(Ki + t, end - t), vi, diagonal, &best[0]);
    }
    return F(best_partner)(best);
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
    SLOPE top[MC_SMO_RUNS] = {-(SLOPE)INFINITY, -(SLOPE)INFINITY},
          bottom[MC_SMO_RUNS] = {(SLOPE)INFINITY, (SLOPE)INFINITY};
    const int each = p->sums > 1 ? 1 : p->runs; /* runs to a sum */
    int64_t i = 0, j = 0;
    double step = 0;
    p->wanted = -1;
    for (p->steps = 0;; p->steps++) {
        for (int g = 0; g < p->sums; g++)
            F(update_slopes)(p, g * each, (g + 1) * each, i, j, (SLOPE)step, &top[g], &bottom[g]);
        const double violation[] = {(double)top[0] - (double)bottom[0], (double)top[1] - (double)bottom[1]};
        const int g = violation[1] > violation[0];
        if (!(violation[g] > p->tolerance) || p->steps == p->steps_max)
            return;
        i = F(place_of)(p, g * each, (g + 1) * each, top[g]);
        if (F(lacks_row)(p, i))
            return;
        j = F(select_partner)(p, g * each, (g + 1) * each, i, top[g]);
        if (F(lacks_row)(p, j))
            return;
        step = F(step_pair)(p, i, j);
    }
}
