/* device_smo.cu: a round of working sets for many quadratic programs over one K in double that lies on the device
   (device_smo.c): the worst of every bin of variables, the set, its part of K, steps on pairs inside it, and the slopes
   of all. Program p is blockIdx.y. The source is C with the few words that CUDA adds, so that a test can run it on the
   processor. */
#ifdef __CUDACC__
#define FUNCTION static __device__ __forceinline__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define SHARED __shared__
#define SYNC() __syncthreads()
#define UNROLL _Pragma("unroll")
#define AHEAD _Pragma("unroll 8")
#define ALIGNED __align__(16)
#define QUOTIENT __fdividef
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#else
#define ALIGNED
#define QUOTIENT(a, b) ((a) / (b))
#endif
enum { THREADS = 256, EACH = SET / THREADS, WARPS = THREADS / 32, TILE = 32 };
enum { VIOLATION, STEPS, ROUNDS, DONE, TOP, BOTTOM, STATE = 8 };
typedef unsigned long long address;
typedef long long whole;
typedef struct argument {
    address K, row, q, low, high, beta, f, mark, first, count;
    address state, bin_value, bin_at, set, set_size, part, change, change_row, changes;
    whole ld, turn, n;
    double share, steps_most;
    address tolerance, steps_max;
} argument;

/* The lower half of K, by columns, onto the upper one. */
KERNEL(256) mirror(const argument a) {
    SHARED double tile[TILE][TILE + 1];
    double *K = (double *)a.K;
    if (blockIdx.y > blockIdx.x)
        return;
    const whole i0 = (whole)blockIdx.x * TILE, j0 = (whole)blockIdx.y * TILE;
    const int lane = threadIdx.x % TILE, line = threadIdx.x / TILE;
    for (int c = line; c < TILE; c += WARPS)
        if (i0 + lane < a.n && j0 + c < a.n)
            tile[c][lane] = K[i0 + lane + (j0 + c) * a.ld];
    SYNC();
    for (int c = line; c < TILE; c += WARPS)
        if (j0 + lane < a.n && i0 + c < a.n && j0 + lane < i0 + c)
            K[j0 + lane + (i0 + c) * a.ld] = tile[lane][c];
}

/* ---- The worst of every bin: variables t with the same t mod BINS ---- */

typedef struct extreme {
    double v;
    whole at;
} extreme;

FUNCTION void take_larger(extreme *best, double v, whole at) {
    if (at >= 0 && (v > best->v || (v == best->v && (best->at < 0 || at < best->at)))) {
        best->v = v;
        best->at = at;
    }
}

/* bin_value and bin_at: up, then down, which is -v. */
KERNEL(256) choose(const argument a) {
    SHARED extreme worst[2][THREADS];
    const whole p = blockIdx.y, first = ((const whole *)a.first)[p], m = ((const whole *)a.count)[p];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const whole bin = (whole)blockIdx.x * 32 + lane;
    const double *q = (const double *)a.q + first, *low = (const double *)a.low + first,
                 *high = (const double *)a.high + first, *beta = (const double *)a.beta + first,
                 *f = (const double *)a.f + first;
    if (((const double *)a.state)[p * STATE + DONE] != 0)
        return;
    extreme up = {-INFINITY, -1}, down = {-INFINITY, -1};
    AHEAD for (whole t = bin + warp * BINS; t < m; t += WARPS * BINS) {
        const double v = -(f[t] + q[t]);
        if (beta[t] < high[t])
            take_larger(&up, v, t);
        if (beta[t] > low[t])
            take_larger(&down, -v, t);
    }
    worst[0][threadIdx.x] = up;
    worst[1][threadIdx.x] = down;
    SYNC();
    if (warp > 1)
        return;
    extreme best = worst[warp][lane];
    for (int w = 1; w < WARPS; w++)
        take_larger(&best, worst[warp][w * 32 + lane].v, worst[warp][w * 32 + lane].at);
    ((double *)a.bin_value)[(2 * p + warp) * BINS + bin] = best.v;
    ((whole *)a.bin_at)[(2 * p + warp) * BINS + bin] = best.at;
}

/* ---- The set ---- */

/* How many threads before this one want a place, and how many do at all. */
FUNCTION int count_before(int wanted, int *all, int *room) {
    room[threadIdx.x] = wanted;
    SYNC();
    for (int step = 1; step < THREADS; step *= 2) {
        const int more = (int)threadIdx.x >= step ? room[threadIdx.x - step] : 0;
        SYNC();
        room[threadIdx.x] += more;
        SYNC();
    }
    const int before = room[threadIdx.x] - wanted;
    *all = room[THREADS - 1];
    SYNC();
    return before;
}

FUNCTION extreme largest_of_block(extreme own, extreme *room) {
    room[threadIdx.x] = own;
    SYNC();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if ((int)threadIdx.x < step)
            take_larger(&room[threadIdx.x], room[threadIdx.x + step].v, room[threadIdx.x + step].at);
        SYNC();
    }
    const extreme found = room[0];
    SYNC();
    return found;
}

/* Of up and down: that of every bin this thread looks at. */
FUNCTION extreme worst_of_bins(const argument *a, whole side) {
    extreme best = {-INFINITY, -1};
    for (int b = threadIdx.x; b < BINS; b += THREADS)
        take_larger(&best, ((const double *)a->bin_value)[side * BINS + b], ((const whole *)a->bin_at)[side * BINS + b]);
    return best;
}

/* Into the set where it is wanted, until `most` places are taken; returns how many are. */
FUNCTION int take_places(const int *wanted, const whole *at, int count, int taken, int most, whole *set, whole *mark,
                         whole turn, int *room) {
    int own = 0, all;
    for (int k = 0; k < count; k++)
        own += wanted[k];
    int place = taken + count_before(own, &all, room);
    for (int k = 0; k < count; k++)
        if (wanted[k]) {
            if (place < most) {
                set[place] = at[k];
                mark[at[k]] = turn;
            }
            place++;
        }
    SYNC();
    return taken + all < most ? taken + all : most;
}

/* The worst pair; variables of the last set that are free, at most half of the places; the worst of the bins, those
   before that violate by half as much as the worst. */
KERNEL(256) pick(const argument a) {
    SHARED int room[THREADS];
    SHARED extreme extremes[THREADS];
    const whole p = blockIdx.y, first = ((const whole *)a.first)[p];
    double *state = (double *)a.state + p * STATE;
    const double *low = (const double *)a.low + first, *high = (const double *)a.high + first,
                 *beta = (const double *)a.beta + first;
    whole *mark = (whole *)a.mark + first, *set = (whole *)a.set + p * SET, *size = (whole *)a.set_size + p;
    const int own = threadIdx.x;
    if (state[DONE] != 0)
        return;
    const extreme top = largest_of_block(worst_of_bins(&a, 2 * p), extremes),
                  bottom = largest_of_block(worst_of_bins(&a, 2 * p + 1), extremes);
    const double violation = top.v + bottom.v;
    const int ended = !(violation > ((const double *)a.tolerance)[p])
                      || state[STEPS] >= ((const double *)a.steps_max)[p];
    const whole last = *size;
    SYNC();
    if (own == 0) {
        state[VIOLATION] = violation;
        state[TOP] = top.v;
        state[BOTTOM] = -bottom.v;
        state[DONE] = ended;
        state[ROUNDS] += !ended;
    }
    if (ended)
        return;
    whole at[EACH];
    int wanted[EACH];
    UNROLL for (int k = 0; k < EACH; k++) {
        const whole place = own * EACH + k, t = place < last ? set[place] : -1;
        at[k] = t;
        wanted[k] = t >= 0 && t != top.at && t != bottom.at && beta[t] > low[t] && beta[t] < high[t];
    }
    SYNC();
    if (own == 0) {
        set[0] = top.at;
        set[1] = bottom.at;
        mark[top.at] = mark[bottom.at] = a.turn;
    }
    int taken = take_places(wanted, at, EACH, 2, SET / 2, set, mark, a.turn, room);
    for (int far = 1; far >= 0; far--) {
        UNROLL for (int k = 0; k < EACH; k++) {
            const whole side = k % 2, bin = (own * (EACH / 2) + k / 2 + a.turn * 97) % BINS, from = (2 * p + side) * BINS + bin;
            const double v = ((const double *)a.bin_value)[from], beyond = v + (side ? top.v : bottom.v);
            at[k] = ((const whole *)a.bin_at)[from];
            wanted[k] = at[k] >= 0 && beyond > (far ? 0.5 * violation : 0) && mark[at[k]] != a.turn
                        && !(side && at[k] == at[k - 1] && wanted[k - 1]);
        }
        SYNC();
        taken = take_places(wanted, at, EACH, taken, SET, set, mark, a.turn, room);
    }
    if (own == 0)
        *size = taken;
}

/* Its part of K; a warp has a row. */
KERNEL(256) gather(const argument a) {
    const whole p = blockIdx.y, first = ((const whole *)a.first)[p], size = ((const whole *)a.set_size)[p];
    const whole *row = (const whole *)a.row + first, *set = (const whole *)a.set + p * SET;
    const whole k = (whole)blockIdx.x * WARPS + threadIdx.x / 32;
    if (k >= size || ((const double *)a.state)[p * STATE + DONE] != 0)
        return;
    const double *from = (const double *)a.K + row[set[k]] * a.ld;
    float *to = (float *)a.part + (p * SET + k) * SET;
    AHEAD for (int l = threadIdx.x % 32; l < SET; l += 32)
        to[l] = l < size ? (float)from[row[set[l]]] : 0;
}

/* ---- Steps, with slopes in floats, that the next round has in double again ---- */

/* Whether this is the first lane of its warp that has the largest key; what that is. */
#ifdef __CUDACC__
FUNCTION float largest_of_warp(float key) {
#if __CUDA_ARCH__ >= 800
    const int bits = __float_as_int(key);
    const unsigned most = __reduce_max_sync(0xffffffffu, bits < 0 ? ~(unsigned)bits : (unsigned)bits | 0x80000000u);
    return __int_as_float(most & 0x80000000u ? (int)(most & 0x7fffffffu) : (int)~most);
#else
    for (int step = 16; step > 0; step /= 2)
        key = fmaxf(key, __shfl_xor_sync(0xffffffffu, key, step));
    return key;
#endif
}
FUNCTION int leads_warp(float key, float most) {
    return threadIdx.x % 32 == __ffs(__ballot_sync(0xffffffffu, key == most)) - 1;
}
#else
static float lane_key[THREADS];
FUNCTION float largest_of_warp(float key) {
    const int warp = threadIdx.x / 32 * 32;
    lane_key[threadIdx.x] = key;
    SYNC();
    float most = lane_key[warp];
    for (int l = 1; l < 32; l++)
        most = fmaxf(most, lane_key[warp + l]);
    SYNC();
    return most;
}
FUNCTION int leads_warp(float key, float most) {
    const int warp = threadIdx.x / 32 * 32;
    int before = 0;
    lane_key[threadIdx.x] = key;
    SYNC();
    for (int l = warp; l < (int)threadIdx.x; l++)
        before += lane_key[l] == most;
    SYNC();
    return key == most && !before;
}
#endif

/* What the best of a warp has: `extra` is the diagonal of K at i, or the curvature from i to j; and the lowest slope
   that may fall. */
typedef struct candidate {
    double room;
    float v, extra;
    int at;
} candidate;

/* Of every warp, in two halves: one is written while the other may still be read. */
typedef struct ALIGNED candidates {
    float key[2][WARPS], bottom[2][WARPS];
    candidate one[2][WARPS];
} candidates;

/* The first warp that has the largest key; that, and the lowest bottom. */
FUNCTION int best_warp(const candidates *c, int half, float *key, float *bottom) {
    int best = 0;
    *key = c->key[half][0];
    *bottom = c->bottom[half][0];
    UNROLL for (int w = 1; w < WARPS; w++) {
        best = c->key[half][w] > *key ? w : best;
        *key = fmaxf(*key, c->key[half][w]);
        *bottom = fminf(*bottom, c->bottom[half][w]);
    }
    return best;
}

typedef struct ALIGNED several {
    float v[EACH];
} several;

/* What a thread keeps of its places: slopes from the middle, whether they may rise or fall, multipliers. */
typedef struct places {
    float v[EACH], diagonal[EACH];
    double beta[EACH], low[EACH], high[EACH];
    unsigned up, down;
} places;

FUNCTION void mark_bounds(places *s, int e) {
    const unsigned bit = 1u << e;
    s->up = s->beta[e] < s->high[e] ? s->up | bit : s->up & ~bit;
    s->down = s->beta[e] > s->low[e] ? s->down | bit : s->down & ~bit;
}

/* Of the slopes that may rise the largest, and of those that may fall the lowest. */
FUNCTION void find_pair_ends(const places *s, candidates *c) {
    float key = -INFINITY, bottom = INFINITY;
    int at = 0;
    UNROLL for (int e = 0; e < EACH; e++) {
        at = s->up >> e & 1 && s->v[e] > key ? e : at;
        key = s->up >> e & 1 ? fmaxf(key, s->v[e]) : key;
        bottom = s->down >> e & 1 ? fminf(bottom, s->v[e]) : bottom;
    }
    const float most = largest_of_warp(key), lowest = -largest_of_warp(-bottom);
    if (leads_warp(key, most)) {
        const int w = threadIdx.x / 32;
        c->key[0][w] = most;
        c->bottom[0][w] = lowest;
        UNROLL for (int e = 0; e < EACH; e++)
            if (e == at) {
                const candidate own = {s->high[e] - s->beta[e], s->v[e], s->diagonal[e], (int)threadIdx.x * EACH + e};
                c->one[0][w] = own;
            }
    }
}

/* The one with which i gains most. */
FUNCTION void find_partner(const places *s, const candidate *i, const several *row, candidates *c) {
    float key = 0, curve = 0;
    int at = 0;
    UNROLL for (int e = 0; e < EACH; e++) {
        const float down = i->v - s->v[e], bend = fmaxf(i->extra + s->diagonal[e] - 2 * row->v[e], 1e-12f);
        const float gain = down > 0 && s->down >> e & 1 ? QUOTIENT(down * down, bend) : 0;
        at = gain > key ? e : at;
        curve = gain > key ? bend : curve;
        key = fmaxf(key, gain);
    }
    const float most = largest_of_warp(key);
    if (leads_warp(key, most)) {
        const int w = threadIdx.x / 32;
        c->key[1][w] = most;
        c->bottom[1][w] = 0;
        UNROLL for (int e = 0; e < EACH; e++)
            if (e == at) {
                const candidate own = {s->beta[e] - s->low[e], s->v[e], curve, (int)threadIdx.x * EACH + e};
                c->one[1][w] = own;
            }
    }
}

/* One of the pair, where this thread has it. */
FUNCTION void move_one(places *s, int at, double step) {
    const int first = threadIdx.x * EACH;
    if (at < first || at >= first + EACH)
        return;
    UNROLL for (int e = 0; e < EACH; e++)
        if (first + e == at) {
            const double above = s->high[e] - s->beta[e], below = s->beta[e] - s->low[e];
            s->beta[e] = step >= above ? s->high[e] : -step >= below ? s->low[e] : s->beta[e] + step;
            mark_bounds(s, e);
        }
}

/* Steps on the pair that gains most, as LIBSVM chooses it, until what is left is the goal; returns how many. */
FUNCTION whole take_steps(places *s, const float *part, float goal, whole most) {
    SHARED candidates c;
    whole steps = 0;
    for (; steps < most; steps++) {
        float key, bottom;
        find_pair_ends(s, &c);
        SYNC();
        const candidate i = c.one[0][best_warp(&c, 0, &key, &bottom)];
        if (!(key - bottom > goal))
            break;
        const several row_i = ((const several *)(part + i.at * SET))[threadIdx.x];
        find_partner(s, &i, &row_i, &c);
        SYNC();
        const candidate j = c.one[1][best_warp(&c, 1, &key, &bottom)];
        if (!(key > 0))
            break;
        const several row_j = ((const several *)(part + j.at * SET))[threadIdx.x];
        const double full = QUOTIENT(i.v - j.v, j.extra), room = i.room < j.room ? i.room : j.room;
        const double step = full < room ? full : room;
        const float less = (float)step;
        UNROLL for (int e = 0; e < EACH; e++)
            s->v[e] -= less * (row_i.v[e] - row_j.v[e]);
        move_one(s, i.at, step);
        move_one(s, j.at, -step);
    }
    return steps;
}

FUNCTION void load_places(const argument *a, whole p, places *s) {
    const whole first = ((const whole *)a->first)[p], size = ((const whole *)a->set_size)[p];
    const whole *row = (const whole *)a->row + first, *set = (const whole *)a->set + p * SET;
    const double *q = (const double *)a->q + first, *low = (const double *)a->low + first,
                 *high = (const double *)a->high + first, *f = (const double *)a->f + first,
                 *beta = (const double *)a->beta + first, *state = (const double *)a->state + p * STATE;
    const double middle = 0.5 * (state[TOP] + state[BOTTOM]);
    s->up = s->down = 0;
    UNROLL for (int e = 0; e < EACH; e++) {
        const whole k = (whole)threadIdx.x * EACH + e, t = k < size ? set[k] : set[0];
        s->v[e] = (float)(-(f[t] + q[t]) - middle);
        s->beta[e] = k < size ? beta[t] : 0;
        s->low[e] = k < size ? low[t] : 0;
        s->high[e] = k < size ? high[t] : 0;
        s->diagonal[e] = (float)((const double *)a->K)[row[t] * (a->ld + 1)];
        mark_bounds(s, e);
    }
}

/* Multipliers go back, and what has changed of them is listed with the rows of K. */
FUNCTION int store_places(const argument *a, whole p, const places *s, int *room) {
    const whole first = ((const whole *)a->first)[p], *set = (const whole *)a->set + p * SET;
    double *beta = (double *)a->beta + first;
    const int own = threadIdx.x * EACH;
    int changed = 0, all;
    UNROLL for (int e = 0; e < EACH; e++)
        changed += (s->up | s->down) >> e & 1 && s->beta[e] != beta[set[own + e]];
    int place = count_before(changed, &all, room);
    UNROLL for (int e = 0; e < EACH; e++) {
        if (!((s->up | s->down) >> e & 1) || s->beta[e] == beta[set[own + e]])
            continue;
        const whole t = set[own + e];
        ((double *)a->change)[p * SET + place] = s->beta[e] - beta[t];
        ((whole *)a->change_row)[p * SET + place++] = ((const whole *)a->row)[first + t];
        beta[t] = s->beta[e];
    }
    return all;
}

KERNEL(256) smo(const argument a) {
    SHARED int room[THREADS];
    const whole p = blockIdx.y, size = ((const whole *)a.set_size)[p];
    double *state = (double *)a.state + p * STATE;
    if (state[DONE] != 0)
        return;
    const double tolerance = ((const double *)a.tolerance)[p], share = a.share * state[VIOLATION];
    const double left = ((const double *)a.steps_max)[p] - state[STEPS], many = a.steps_most * (double)size;
    places s;
    load_places(&a, p, &s);
    SYNC();
    const whole steps = take_steps(&s, (const float *)a.part + p * SET * SET,
                                   (float)(share > 0.5 * tolerance ? share : 0.5 * tolerance),
                                   (whole)(left < many ? left : many));
    const int all = store_places(&a, p, &s, room);
    if (threadIdx.x == 0) {
        ((whole *)a.changes)[p] = all;
        state[STEPS] += (double)steps;
        if (all == 0)
            state[DONE] = 1;
    }
}

/* ---- The slopes of all ---- */

/* From nothing: low holds coefficients now, high the rows of K they belong to. */
KERNEL(256) decide(const argument a) {
    const whole p = blockIdx.y, first = ((const whole *)a.first)[p], m = ((const whole *)a.count)[p];
    const whole t = (whole)blockIdx.x * THREADS + threadIdx.x, all = ((const whole *)a.changes)[p];
    if (t >= m)
        return;
    const double *K = (const double *)a.K + ((const whole *)a.row)[first + t], *c = (const double *)a.low + first;
    const whole *row = (const whole *)a.high + first;
    double sum = 0;
    AHEAD for (whole k = 0; k < all; k++)
        sum += c[k] * K[row[k] * a.ld];
    ((double *)a.f)[first + t] = sum;
}

KERNEL(256) move(const argument a) {
    const whole p = blockIdx.y, first = ((const whole *)a.first)[p], m = ((const whole *)a.count)[p];
    const whole t = (whole)blockIdx.x * THREADS + threadIdx.x, all = ((const whole *)a.changes)[p];
    if (t >= m || ((const double *)a.state)[p * STATE + DONE] != 0)
        return;
    const double *K = (const double *)a.K + ((const whole *)a.row)[first + t], *c = (const double *)a.change + p * SET;
    const whole *row = (const whole *)a.change_row + p * SET;
    double sum = 0;
    AHEAD for (whole k = 0; k < all; k++)
        sum += c[k] * K[row[k] * a.ld];
    ((double *)a.f)[first + t] += sum;
}
