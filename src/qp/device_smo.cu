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
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#else
#define ALIGNED
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
    number *to = (number *)a.part + (p * SET + k) * SET;
    AHEAD for (int l = threadIdx.x % 32; l < SET; l += 32)
        to[l] = l < size ? (number)from[row[set[l]]] : 0;
}

/* ---- Steps ---- */

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

/* What the best of a warp has, and the lowest slope that may fall. */
typedef struct candidate {
    double v, room, diagonal;
    int at;
    float key, bottom;
} candidate;

/* The best of the block, for all of its threads: the first that has the largest key. one: scratch that nobody has read
   since the last barrier but one. */
FUNCTION candidate best_of_block(candidate own, candidate *one) {
    const float most = largest_of_warp(own.key), lowest = -largest_of_warp(-own.bottom);
    own.bottom = lowest;
    if (leads_warp(own.key, most))
        one[threadIdx.x / 32] = own;
    SYNC();
    int best = 0;
    float bottom = one[0].bottom, key = one[0].key;
    UNROLL for (int w = 1; w < WARPS; w++) {
        best = one[w].key > key ? w : best;
        key = fmaxf(key, one[w].key);
        bottom = fminf(bottom, one[w].bottom);
    }
    candidate found = one[best];
    found.bottom = bottom;
    return found;
}

typedef struct ALIGNED four {
    number v[EACH];
} four;

/* What a thread keeps of its places. */
typedef struct places {
    double v[EACH], beta[EACH], low[EACH], high[EACH], diagonal[EACH];
} places;

FUNCTION candidate worst_up(const places *s, int own) {
    candidate c = {0, 0, 0, -1, -INFINITY, INFINITY};
    UNROLL for (int e = 0; e < EACH; e++) {
        const float v = (float)s->v[e];
        if (s->beta[e] < s->high[e] && v > c.key) {
            c.key = v;
            c.at = own * EACH + e;
            c.v = s->v[e];
            c.room = s->high[e] - s->beta[e];
            c.diagonal = s->diagonal[e];
        }
        if (s->beta[e] > s->low[e])
            c.bottom = fminf(c.bottom, v);
    }
    return c;
}

/* The one with which i gains most. */
FUNCTION candidate best_partner(const places *s, int own, const candidate *i, const four *row) {
    candidate c = {0, 0, 0, -1, 0, 0};
    UNROLL for (int e = 0; e < EACH; e++) {
        const float down = (float)(i->v - s->v[e]);
        const float curve = (float)(i->diagonal + s->diagonal[e] - 2 * (double)row->v[e]);
        const float gain = down * down / fmaxf(curve, 1e-12f);
        if (s->beta[e] > s->low[e] && down > 0 && gain > c.key) {
            c.key = gain;
            c.at = own * EACH + e;
            c.v = s->v[e];
            c.room = s->beta[e] - s->low[e];
            c.diagonal = s->diagonal[e];
        }
    }
    return c;
}

FUNCTION void move_pair(places *s, int own, int i, int j, double step, const four *row_i, const four *row_j) {
    UNROLL for (int e = 0; e < EACH; e++) {
        const int place = own * EACH + e;
        s->v[e] -= step * ((double)row_i->v[e] - (double)row_j->v[e]);
        if (place == i)
            s->beta[e] = step >= s->high[e] - s->beta[e] ? s->high[e] : s->beta[e] + step;
        if (place == j)
            s->beta[e] = step >= s->beta[e] - s->low[e] ? s->low[e] : s->beta[e] - step;
    }
}

/* Steps on the pair that gains most, as LIBSVM chooses it, until what is left is the goal. */
FUNCTION whole take_steps(places *s, const number *part, double goal, whole most) {
    SHARED candidate ups[WARPS], downs[WARPS];
    const int own = threadIdx.x;
    whole steps = 0;
    for (; steps < most; steps++) {
        const candidate i = best_of_block(worst_up(s, own), ups);
        if (i.at < 0 || !(i.key - i.bottom > goal))
            break;
        const four row_i = ((const four *)(part + (whole)i.at * SET))[own];
        const candidate j = best_of_block(best_partner(s, own, &i, &row_i), downs);
        if (j.at < 0)
            break;
        const four row_j = ((const four *)(part + (whole)j.at * SET))[own];
        const double curve = i.diagonal + j.diagonal - 2 * (double)part[(whole)i.at * SET + j.at];
        double step = (i.v - j.v) / (curve > 1e-12 ? curve : 1e-12);
        step = step < i.room ? step : i.room;
        step = step < j.room ? step : j.room;
        move_pair(s, own, i.at, j.at, step, &row_i, &row_j);
    }
    return steps;
}

KERNEL(256) smo(const argument a) {
    SHARED int room[THREADS];
    const whole p = blockIdx.y, first = ((const whole *)a.first)[p], size = ((const whole *)a.set_size)[p];
    const whole *row = (const whole *)a.row + first, *set = (const whole *)a.set + p * SET;
    const double *q = (const double *)a.q + first, *low = (const double *)a.low + first,
                 *high = (const double *)a.high + first, *f = (const double *)a.f + first;
    double *beta = (double *)a.beta + first, *state = (double *)a.state + p * STATE;
    const number *part = (const number *)a.part + p * SET * SET;
    const int own = threadIdx.x;
    if (state[DONE] != 0)
        return;
    const double middle = 0.5 * (state[TOP] + state[BOTTOM]), tolerance = ((const double *)a.tolerance)[p];
    const double share = a.share * state[VIOLATION], goal = share > 0.5 * tolerance ? share : 0.5 * tolerance;
    places s;
    double before[EACH];
    UNROLL for (int e = 0; e < EACH; e++) {
        const whole k = own * EACH + e, t = k < size ? set[k] : set[0];
        s.v[e] = -(f[t] + q[t]) - middle;
        s.beta[e] = before[e] = k < size ? beta[t] : 0;
        s.low[e] = k < size ? low[t] : 0;
        s.high[e] = k < size ? high[t] : 0;
        s.diagonal[e] = ((const double *)a.K)[row[t] * (a.ld + 1)];
    }
    const double left = ((const double *)a.steps_max)[p] - state[STEPS];
    const whole most = (whole)(left < a.steps_most * (double)size ? left : a.steps_most * (double)size);
    SYNC();
    const whole steps = take_steps(&s, part, goal, most);
    int changed = 0, all;
    UNROLL for (int e = 0; e < EACH; e++)
        changed += s.beta[e] != before[e];
    int place = count_before(changed, &all, room);
    UNROLL for (int e = 0; e < EACH; e++) {
        if (s.beta[e] == before[e])
            continue;
        const whole t = set[own * EACH + e];
        beta[t] = s.beta[e];
        ((double *)a.change)[p * SET + place] = s.beta[e] - before[e];
        ((whole *)a.change_row)[p * SET + place++] = row[t];
    }
    if (own == 0) {
        ((whole *)a.changes)[p] = all;
        state[STEPS] += (double)steps;
        if (all == 0)
            state[DONE] = 1;
    }
}

/* ---- The slopes of all ---- */

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
